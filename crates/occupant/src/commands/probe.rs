//! `occupant probe`.

use std::path::Path;

use anyhow::{Context, bail};
use occupant_core::probe::{plan, plan_of_launch, read_reports, read_timings};
use occupant_core::report::{ProbePlan, ProbeReading, ProbeReport, Severity};
use occupant_core::verdict::{is_profile, measurements};
use occupant_core::{Measurement, Subject};
use occupant_report::{json, json_line, probe_plan_sheet, probe_plan_text, probe_reading_sheet, probe_reading_text};

use super::Status;
use crate::arguments::ProbeFlags;
use crate::file::{Input, lines, whole};
use crate::output::{self, Format, Output};
use crate::subjects::subjects_opened;

/// Bytes of a report that are read, at most.
const MOST: u64 = 4 << 30;
/// Names of kernels that an error lists.
const LISTED: usize = 5;

/// What PATH holds, told by its content.
enum Given {
    /// A profiler's file.
    Profile(Vec<u8>),
    /// Something with kernels; none for a folder, or where there is no PATH.
    Kernels(Option<Input>),
}

impl Given {
    /// Opens PATH once: a pipe can't be opened again.
    fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path.filter(|path| *path == Path::new("-") || !path.is_dir()) else {
            return Ok(Self::Kernels(None));
        };
        let input = Input::open(path)?;
        let name = || path.display().to_string();
        if is_profile(&input).with_context(name)? {
            return Ok(Self::Profile(input.into_bytes(MOST).with_context(name)?));
        }
        Ok(Self::Kernels(Some(input)))
    }
}

pub(crate) fn run(flags: &ProbeFlags, output: &mut Output) -> anyhow::Result<Status> {
    if let Some(file) = &flags.timings {
        return timings(flags, file, output);
    }
    if !flags.reports.is_empty() {
        no_shape(flags)?;
        let (mut found, mut failed) = (Vec::new(), false);
        for path in &flags.reports {
            let bytes = whole(path, MOST).with_context(|| path.display().to_string())?;
            failed |= launches(flags, path, &bytes, &mut found)?;
        }
        let status = read(read_reports(&found), None, output)?;
        return Ok(if failed { Status::CouldNot } else { status });
    }
    let plan = match (Given::open(flags.path.as_deref())?, &flags.path) {
        (Given::Profile(bytes), Some(path)) => plan_of_report(flags, path, &bytes)?,
        (Given::Kernels(_), _) if !flags.launch.is_empty() => {
            bail!("--launch counts the launches of a report: name one, or use --kernel")
        }
        (Given::Kernels(opened), _) => plan(&subject(flags, opened)?)?,
        (Given::Profile(_), None) => bail!("no file was named"),
    };
    print_plan(plan, output)?;
    Ok(Status::Done)
}

/// Reads the times of an experiment; PATH and flags say what was launched.
fn timings(flags: &ProbeFlags, file: &Path, output: &mut Output) -> anyhow::Result<Status> {
    let stdin = Path::new("-");
    if file == stdin && flags.path.as_deref() == Some(stdin) {
        bail!("PATH and --timings can't both be standard input: save one of them to a file");
    }
    let Given::Kernels(opened) = Given::open(flags.path.as_deref())? else {
        bail!("--timings takes the launch from a file with the kernel or from flags, not from a report");
    };
    let name = file.display().to_string();
    let known = flags.path.is_some() || !flags.gpus().is_empty();
    let subject = if known { Some(subject(flags, opened)?) } else { None };
    let input = lines(file).with_context(|| name.clone())?;
    let reading = read_timings(input, subject.as_ref()).with_context(|| name.clone())?;
    read(reading, Some(&name), output)
}

/// Flags that a report answers.
fn no_shape(flags: &ProbeFlags) -> anyhow::Result<()> {
    if flags.has_shape() {
        bail!("the launch shape comes from the report: leave its flags away");
    }
    Ok(())
}

/// The one shape that the flags or a kernel of a file give.
fn subject(flags: &ProbeFlags, opened: Option<Input>) -> anyhow::Result<Subject> {
    let gpus = flags.gpus();
    let [_] = gpus.as_slice() else {
        if gpus.is_empty() {
            bail!("which GPU? name it with --gpu, such as --gpu h100-sxm or --gpu sm_90; `occupant gpus` lists them");
        }
        bail!("an experiment runs on one GPU, and this --gpu stands for {}", gpus.len());
    };
    if flags.path.is_none() {
        if flags.kernel.is_some() {
            bail!("--kernel chooses among the kernels of a file: name the file, or leave --kernel away");
        }
        if !flags.has_shape() {
            bail!("which launch? give its shape, such as --registers 64 --block 256, or name a file and --kernel");
        }
    }
    let asked = subjects_opened(&flags.of(), opened, &flags.shape, &gpus)?;
    let mut known: Vec<Subject> = Vec::new();
    let mut why = String::new();
    for subject in asked.all {
        match subject {
            // The same kernel can be in a file several times.
            Ok(subject) if known.iter().any(|other| alike(other, &subject)) => {}
            Ok(subject) => known.push(subject),
            Err(without) => why = format!("{}: {}", without.kernel.demangled, without.reason),
        }
    }
    match known.len() {
        0 if why.is_empty() => bail!("no kernel could be read"),
        0 => bail!("{why}"),
        1 => Ok(known.remove(0)),
        number => {
            let name = |subject: &Subject| Some(subject.kernel.as_ref()?.demangled.to_string());
            let names: Vec<String> = known.iter().filter_map(name).collect();
            bail!(several(number, names, "--kernel"))
        }
    }
}

fn alike(a: &Subject, b: &Subject) -> bool {
    let name = |subject: &Subject| subject.kernel.as_ref().map(|kernel| kernel.name.clone());
    a.request == b.request && name(a) == name(b)
}

fn several(number: usize, mut names: Vec<String>, flag: &str) -> String {
    names.dedup();
    let more = if names.len() > LISTED { ", ..." } else { "" };
    names.truncate(LISTED);
    format!("an experiment is of one kernel, and {number} match: narrow it with {flag} ({}{more})", names.join("; "))
}

/// Adds the launches of a report that the flags ask for, each with its file; gives whether something could not be read.
fn launches(
    flags: &ProbeFlags,
    path: &Path,
    bytes: &[u8],
    found: &mut Vec<(String, Measurement)>,
) -> anyhow::Result<bool> {
    let name = path.display().to_string();
    let (all, faults) = measurements(&name, bytes).with_context(|| name.clone())?;
    faults.iter().for_each(output::diagnostic);
    for (index, measured) in all.into_iter().enumerate() {
        let named = |name: &str| flags.kernel.as_ref().is_none_or(|kernel| kernel.is_match(name));
        let by_name = named(&measured.name) || measured.mangled.as_deref().is_some_and(named);
        if by_name && (flags.launch.is_empty() || flags.launch.contains(&index)) {
            found.push((name.clone(), measured));
        }
    }
    Ok(faults.iter().any(|fault| fault.severity == Severity::Error))
}

/// The plan for the one kernel of a report that the flags leave.
fn plan_of_report(flags: &ProbeFlags, path: &Path, bytes: &[u8]) -> anyhow::Result<ProbePlan> {
    no_shape(flags)?;
    if !flags.gpus().is_empty() {
        bail!("the GPU comes from the report: leave --gpu away");
    }
    let mut found = Vec::new();
    launches(flags, path, bytes, &mut found)?;
    let Some((name, measured)) = found.first() else {
        bail!("{}: it holds no launches, or --kernel and --launch leave none of them", path.display());
    };
    let same = |other: &Measurement| {
        let metrics = ["launch__registers_per_thread", "launch__shared_mem_per_block_dynamic"];
        other.name == measured.name
            && other.grid == measured.grid
            && other.block == measured.block
            && metrics.iter().all(|metric| other.get(metric) == measured.get(metric))
    };
    if !found.iter().all(|(_, other)| same(other)) {
        let names = found.iter().map(|(_, measured)| measured.name.clone()).collect();
        bail!(several(found.len(), names, "--kernel or --launch"));
    }
    Ok(plan_of_launch(name, measured, &flags.shape.request())?)
}

/// Prints what measurements say; `file` is where they come from, where that is one file.
fn read(reading: ProbeReading, file: Option<&str>, output: &mut Output) -> anyhow::Result<Status> {
    let status = if reading.answer.is_some() { Status::Done } else { Status::CouldNot };
    if reading.answer.is_none() {
        let file = file.map_or_else(String::new, |file| format!(" {file}:"));
        output::complain(&format!("error:{file} can't tell: {}", reading.says));
    }
    let text = match output.format() {
        Format::Table => probe_reading_text(&reading, output.width()),
        Format::Csv => probe_reading_sheet(&reading).csv(),
        Format::Markdown => probe_reading_sheet(&reading).markdown(),
        format => document(format, ProbeReport { schema: SCHEMA, plan: None, reading: Some(reading) })?,
    };
    output.write(&text)?;
    Ok(status)
}

const SCHEMA: &str = "occupant.probe.v1";

fn print_plan(plan: ProbePlan, output: &mut Output) -> anyhow::Result<()> {
    let text = match output.format() {
        Format::Table => probe_plan_text(&plan, output.width()),
        Format::Csv => probe_plan_sheet(&plan).csv(),
        Format::Markdown => probe_plan_sheet(&plan).markdown(),
        format => document(format, ProbeReport { schema: SCHEMA, plan: Some(plan), reading: None })?,
    };
    Ok(output.write(&text)?)
}

fn document(format: Format, report: ProbeReport) -> anyhow::Result<String> {
    Ok(if format == Format::Jsonl { json_line(&report)? } else { json(&report)? })
}
