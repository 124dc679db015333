//! `occupant inspect`.

use std::cmp::Reverse;
use std::io::{self, IsTerminal, Write, stderr};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use occupant_core::report::{
    Basis, Diagnostic, InspectReport, KernelLine, KernelRecord, Severity, SummaryReport, Totals,
};
use occupant_core::{Event, File as CoreFile, InspectOptions, Launches, Summary, Target, inspect};
use occupant_report::{
    Detail, inspect_markdown, inspect_sheet, inspect_text, json, json_line, sass_sheet, sass_text, summary_markdown,
    summary_sheet, summary_text, write_json_line,
};

use super::Status;
use crate::arguments::{InspectFlags, Sort};
use crate::file::{Found, Input, Spool, companion, files, lines};
use crate::output::{self, Format, Output};

/// A scan that takes longer than this shows its progress.
const PATIENCE: Duration = Duration::from_millis(700);

pub(crate) fn run(flags: &InspectFlags, output: &mut Output) -> anyhow::Result<Status> {
    for gpu in &flags.gpu {
        Target::named(gpu, flags.set_up.rules())?;
    }
    let launches = match &flags.launches {
        None => Launches::default(),
        Some(path) => {
            let read = lines(path).map_err(anyhow::Error::from).and_then(|file| Ok(Launches::read(file)?));
            read.with_context(|| path.display().to_string())?
        }
    };
    let options = flags.options(launches);
    let keep = match output.format() {
        _ if flags.summary => Keep::Census(Box::new(Summary::new(flags.by.map(Into::into).unwrap_or_default()))),
        Format::Jsonl if flags.sort.is_none() && flags.top.is_none() => Keep::Nothing,
        _ => Keep::All(Vec::new()),
    };
    let mut scan = Scan { options: &options, keep, diagnostics: Vec::new(), totals: Totals::default() };
    for path in &flags.paths {
        scan.path(path, output)?;
    }
    scan.note_what_matched_nothing(flags);
    scan.print(flags, output)
}

/// What a scan's threads make of kernels.
enum Made {
    /// Lines of jsonl, where nothing has to be kept.
    Lines(io::Result<Vec<u8>>),
    /// The records themselves.
    Records(Vec<KernelRecord>),
}

/// What becomes of a kernel once it is known.
enum Keep {
    /// Printed at once.
    Nothing,
    /// Counted.
    Census(Box<Summary>),
    /// Kept to be sorted and laid out.
    All(Vec<KernelRecord>),
}

struct Scan<'a> {
    options: &'a InspectOptions,
    keep: Keep,
    diagnostics: Vec<Diagnostic>,
    totals: Totals,
}

impl Scan<'_> {
    fn say(&mut self, severity: Severity, code: &str, file: String, message: String) {
        self.diagnostics.push(Diagnostic { severity, code: code.to_owned(), file, place: None, message });
    }

    fn failed(&mut self, file: String, message: &str) {
        self.say(Severity::Error, "file", file, message.to_owned());
    }

    /// A file, or all in a directory.
    fn path(&mut self, path: &Path, output: &mut Output) -> anyhow::Result<()> {
        let before = (self.totals.images, self.diagnostics.len());
        let (found, unlisted) = files(path);
        for (folder, error) in unlisted {
            self.failed(folder.display().to_string(), &error.to_string());
        }
        let in_directory = found.iter().all(|file| !file.named);
        for file in found {
            self.file(&file, output)?;
        }
        if in_directory && (self.totals.images, self.diagnostics.len()) == before {
            self.failed(path.display().to_string(), "nothing in this directory has CUDA device code");
        }
        Ok(())
    }

    /// A filter or a launch that nothing matches is mostly a slip.
    fn note_what_matched_nothing(&mut self, flags: &InspectFlags) {
        let file = flags.paths.first().map_or_else(String::new, |path| path.display().to_string());
        let Totals { read, not_selected, kernels, filtered, .. } = self.totals;
        if kernels > 0 && filtered == kernels {
            let message = format!(
                "{} none of {kernels} kernels",
                if flags.has_tile() { "the filters match" } else { "--kernel matches" }
            );
            self.say(Severity::Warning, "no_match", file.clone(), message);
        }
        if read == 0 && not_selected > 0 && flags.gpu.is_empty() {
            let message = format!("--arch matches none of {not_selected} cubins");
            self.say(Severity::Warning, "no_match", file, message);
        } else if read == 0 && not_selected > 0 && flags.has_arch() {
            let message = format!("--gpu and --arch together match none of {not_selected} cubins");
            self.say(Severity::Warning, "no_match", file, message);
        }
        let unmatched: Vec<String> = self.options.launches.unmatched().into_iter().map(str::to_owned).collect();
        if let (Some(first), Some(launches)) = (unmatched.first(), &flags.launches) {
            let message = match unmatched.len() {
                1 => format!("no kernel is named `{first}`"),
                number => format!("{number} names are no kernel's, the first is `{first}`"),
            };
            self.say(Severity::Warning, "no_match", launches.display().to_string(), message);
        }
    }

    fn file(&mut self, found: &Found, output: &mut Output) -> anyhow::Result<()> {
        let name = found.path.display().to_string();
        let input = match Input::open(&found.path) {
            Ok(input) => input,
            Err(error) => {
                // The chain starts with the file's name, which the diagnostic has already.
                let cause = error.chain().skip(1).map(ToString::to_string).collect::<Vec<_>>().join(": ");
                self.failed(name, &cause);
                return Ok(());
            }
        };
        let mut progress = Progress::new(&name);
        let mut written: io::Result<()> = Ok(());
        let at_once = matches!(self.keep, Keep::Nothing);
        let make = |kernels: Vec<KernelRecord>| {
            if at_once { Made::Lines(json_lines(&kernels)) } else { Made::Records(kernels) }
        };
        let keep = &mut self.keep;
        let companion = companion(&found.path);
        let file = CoreFile { name: &name, source: &input, companion: companion.as_deref() };
        let outcome = inspect(&file, &Spool, self.options, &make, &mut |event| match event {
            Event::Progress { done, total } => progress.show(done, total),
            Event::Kernels(Made::Lines(lines)) if written.is_ok() => {
                written = lines.and_then(|lines| output.writer().write_all(&lines));
            }
            Event::Kernels(Made::Lines(_)) => {}
            Event::Kernels(Made::Records(records)) => match keep {
                Keep::All(kernels) => kernels.extend(records),
                Keep::Census(summary) => records.iter().for_each(|kernel| summary.add(kernel)),
                Keep::Nothing => {}
            },
        });
        written?;
        // Of a directory, binaries without device code and PTX beside its cubin are usual; the totals count the latter.
        let worth_saying = |diagnostic: &Diagnostic| {
            found.named || (diagnostic.severity != Severity::Note && diagnostic.code != "no_device_code")
        };
        let without_code = !found.named && outcome.totals.images == 0;
        self.diagnostics.extend(outcome.diagnostics.into_iter().filter(worth_saying));
        if without_code {
            return Ok(());
        }
        self.totals.add(&outcome.totals);
        Ok(())
    }

    fn print(mut self, flags: &InspectFlags, output: &mut Output) -> anyhow::Result<Status> {
        let failed = self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        let (printed, diagnostics) = match self.keep {
            Keep::Census(summary) => {
                let report = summary.report(self.totals, self.diagnostics);
                (print_summary(&report, output), report.diagnostics)
            }
            Keep::All(mut kernels) => {
                if let Some(key) = flags.sort {
                    sort(&mut kernels, key);
                }
                if let Some(top) = flags.top {
                    self.totals.not_shown = keep_top(&mut kernels, top);
                }
                let report = InspectReport {
                    schema: "occupant.inspect.v1",
                    kernels,
                    diagnostics: self.diagnostics,
                    totals: self.totals,
                };
                let printed = match flags.sass {
                    Some(sass) => print_sass(&report, sass.into(), output),
                    None => print(&report, flags.names, output),
                };
                (printed, report.diagnostics)
            }
            Keep::Nothing => (output.finish().map_err(anyhow::Error::from), self.diagnostics),
        };
        // Whatever becomes of standard output, what went wrong is told.
        diagnostics.iter().for_each(output::diagnostic);
        match printed {
            Err(error) if failed && output::is_broken_pipe(&error) => Ok(Status::CouldNot),
            Err(error) => Err(error),
            Ok(()) if failed => Ok(Status::CouldNot),
            Ok(()) => Ok(Status::Done),
        }
    }
}

fn print(report: &InspectReport, names: bool, output: &mut Output) -> anyhow::Result<()> {
    match output.format() {
        Format::Table if report.totals.images == 0 => {}
        Format::Table => output.write(&inspect_text(report, names, output.width()))?,
        Format::Json => output.write(&json(report)?)?,
        Format::Jsonl => output.writer().write_all(&json_lines(&report.kernels)?)?,
        Format::Csv => output.write(&inspect_sheet(&report.kernels).csv())?,
        Format::Markdown => output.write(&inspect_markdown(report))?,
    }
    Ok(output.finish()?)
}

fn print_sass(report: &InspectReport, detail: Detail, output: &mut Output) -> anyhow::Result<()> {
    match output.format() {
        Format::Table => output.write(&sass_text(&report.kernels, detail, output.width()))?,
        Format::Markdown => {
            output.write(&format!("```\n{}```\n", sass_text(&report.kernels, detail, output.width())))?
        }
        Format::Csv => output.write(&sass_sheet(&report.kernels).csv())?,
        Format::Json | Format::Jsonl => return print(report, false, output),
    }
    Ok(output.finish()?)
}

fn print_summary(report: &SummaryReport, output: &mut Output) -> anyhow::Result<()> {
    match output.format() {
        Format::Table if report.totals.images == 0 => {}
        Format::Table => output.write(&summary_text(report, output.width()))?,
        Format::Json => output.write(&json(report)?)?,
        Format::Jsonl => output.write(&json_line(report)?)?,
        Format::Csv => output.write(&summary_sheet(report).csv())?,
        Format::Markdown => output.write(&summary_markdown(report))?,
    }
    Ok(output.finish()?)
}

/// Keeps the first `top` records of each GPU; returns how many went.
fn keep_top(kernels: &mut Vec<KernelRecord>, top: usize) -> u32 {
    let before = kernels.len();
    let mut kept: Vec<(Option<String>, usize)> = Vec::new();
    kernels.retain(|kernel| {
        let gpu = kernel.gpu.as_ref().map(|gpu| gpu.name.clone());
        let at = kept.iter().position(|(name, _)| *name == gpu).unwrap_or_else(|| {
            kept.push((gpu, 0));
            kept.len() - 1
        });
        kept[at].1 += 1;
        kept[at].1 <= top
    });
    u32::try_from(before - kernels.len()).unwrap_or(u32::MAX)
}

fn json_lines(kernels: &[KernelRecord]) -> io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for kernel in kernels {
        write_json_line(&mut lines, &KernelLine { schema: "occupant.kernel.v1", kernel })?;
    }
    Ok(lines)
}

/// Sorts so that kernels without the value come last; equal ones stay in file order.
fn sort(kernels: &mut [KernelRecord], key: Sort) {
    match key {
        Sort::Name => kernels.sort_by(|a, b| a.demangled.cmp(&b.demangled)),
        Sort::Arch => kernels.sort_by(|a, b| (arch_key(a), &a.demangled).cmp(&(arch_key(b), &b.demangled))),
        Sort::Registers => kernels.sort_by_key(|kernel| Reverse(kernel.registers)),
        Sort::Shared => kernels.sort_by_key(|kernel| {
            Reverse(
                kernel
                    .shared_static
                    .map(|fixed| u64::from(fixed) + u64::from(kernel.launch.shared_dynamic.unwrap_or(0))),
            )
        }),
        Sort::Stack => kernels.sort_by_key(|kernel| Reverse(kernel.stack)),
        Sort::Spills => kernels.sort_by_key(|kernel| {
            let spills = &kernel.spills;
            let listed = spills.store_bytes.zip(spills.load_bytes).map(|(store, load)| store.saturating_add(load));
            let bytes = listed.map(|listed| listed.saturating_add(spills.unlisted_bytes.unwrap_or(0)));
            Reverse((bytes, spills.instructions))
        }),
        Sort::Occupancy => kernels.sort_by_key(|kernel| match &kernel.occupancy {
            None => (2, 0),
            Some(found) => {
                let share = u64::from(found.warps_per_sm) * 1_000_000 / u64::from(found.max_warps_per_sm);
                (u8::from(found.basis == Basis::Hypothetical), share)
            }
        }),
    }
}

/// `sm_90` before `sm_100`.
fn arch_key(kernel: &KernelRecord) -> (usize, &str) {
    let arch = kernel.arch.as_deref().unwrap_or("");
    (arch.bytes().filter(u8::is_ascii_digit).count(), arch)
}

/// A bar on standard error for long scans in a terminal.
struct Progress {
    name: String,
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), started: Instant::now(), bar: None }
    }

    fn show(&mut self, done: usize, total: usize) {
        if self.bar.is_none() && self.started.elapsed() > PATIENCE && stderr().is_terminal() {
            let bar = ProgressBar::new(total as u64).with_message(self.name.clone());
            if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} images") {
                bar.set_style(style);
            }
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done as u64);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
