//! `occupant need`.

use std::io;
use std::path::Path;

use anyhow::{Context, bail};
use occupant_core::report::{KernelRecord, NeedNumbersMatrix, NeedNumbersReport, NeedReport, Severity, SharedFrom};
use occupant_core::{GpuSelector, InspectOptions, machine, need_by_numbers};
use occupant_report::{json, json_line, need_numbers_sheet, need_numbers_text, need_sheet, need_svg, need_text};

use super::Status;
use crate::arguments::{NeedFlags, models};
use crate::file::launches;
use crate::output::{self, Format, Output};
use crate::scan::{Keep, Line, Scan, json_lines};

pub(crate) fn run(flags: &NeedFlags, output: &mut Output) -> anyhow::Result<Status> {
    let gpus = flags.of.gpus();
    if gpus.is_empty() {
        bail!("which GPU? name a model with --gpu, such as --gpu h100-sxm; `occupant gpus` lists them");
    }
    let (gpus, notes) =
        models(gpus, |gpu| matches!(gpu, GpuSelector::Family { .. }), "SMs, clocks, latencies or bandwidth");
    let answerable = answerable(gpus)?;
    notes.iter().for_each(|note| output::complain(&format!("note: {note}")));
    if flags.of.paths.is_empty() { by_numbers(flags, &answerable, output) } else { of_files(flags, answerable, output) }
}

/// The GPUs that the model can be asked about; of a set, the others are left out and told.
fn answerable(gpus: Vec<GpuSelector>) -> anyhow::Result<Vec<GpuSelector>> {
    if let [gpu] = gpus.as_slice() {
        machine(gpu)?;
        return Ok(gpus);
    }
    let all = gpus.len();
    let (known, unknown): (Vec<GpuSelector>, Vec<GpuSelector>) = gpus.into_iter().partition(|gpu| machine(gpu).is_ok());
    if let Some(error) = unknown.first().and_then(|gpu| machine(gpu).err()) {
        if known.is_empty() {
            bail!(error);
        }
        let rest = if unknown.len() > 1 { format!(" (and {} more)", unknown.len() - 1) } else { String::new() };
        output::complain(&format!("note: {} of {all} GPUs can be answered for: {error}{rest}", known.len()));
    }
    Ok(known)
}

fn by_numbers(flags: &NeedFlags, gpus: &[GpuSelector], output: &mut Output) -> anyhow::Result<Status> {
    let request = flags.numbers()?;
    if request.bytes_per_thread.is_none() && request.memory.is_some() {
        output::complain("note: --memory is left out: it is about loads (--bytes-per-thread)");
    }
    let reports: Vec<NeedNumbersReport> =
        gpus.iter().map(|gpu| need_by_numbers(gpu, &request)).collect::<Result<_, _>>()?;
    let text = match (output.format(), reports.as_slice()) {
        (Format::Table, several) => {
            several.iter().map(|report| need_numbers_text(report, output.width())).collect::<Vec<_>>().join("\n")
        }
        (Format::Json, [one]) => json(one)?,
        (Format::Jsonl, several) => several.iter().map(json_line).collect::<Result<_, _>>()?,
        (Format::Csv, several) => need_numbers_sheet(several).csv(),
        (Format::Markdown, several) => need_numbers_sheet(several).markdown(),
        (Format::Json, _) => json(&NeedNumbersMatrix { schema: "occupant.need_numbers_matrix.v1", results: reports })?,
    };
    output.write(&text)?;
    Ok(Status::Done)
}

fn of_files(flags: &NeedFlags, gpus: Vec<GpuSelector>, output: &mut Output) -> anyhow::Result<Status> {
    let options = InspectOptions { gpus, ..flags.inspect(launches(flags.of.launches.as_deref())?) };
    let at_once = output.format() == Format::Jsonl && flags.svg.is_none();
    let mut scan = Scan::new(&options, if at_once { Keep::Nothing(Line::Json) } else { Keep::All(Vec::new()) });
    for path in &flags.of.paths {
        if at_once {
            scan.path(path, output.writer())?;
        } else {
            scan.path(path, &mut io::sink())?;
        }
    }
    // What a filter leaves is told as `inspect` tells it; without a cubin there is a note already.
    if scan.totals.kernels > 0 && scan.totals.kernels == scan.totals.filtered {
        let message = "--kernel leaves none of its kernels: `occupant inspect` lists them".to_owned();
        scan.say(Severity::Warning, "filter", "all files".to_owned(), message);
    }
    let failed = scan.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    scan.diagnostics.iter().for_each(output::diagnostic);
    let status = if failed { Status::CouldNot } else { Status::Done };
    let Keep::All(mut kernels) = scan.keep else { return Ok(status) };
    kernels.retain(|kernel| kernel.is_kernel);
    notes(flags, &kernels, output.format()).iter().for_each(|note| output::complain(&format!("note: {note}")));
    if let Some(file) = flags.svg.as_deref() {
        let picture = picture(&kernels)?;
        if file == Path::new("-") {
            output.write(&picture)?;
            return Ok(status);
        }
        std::fs::write(file, picture).with_context(|| file.display().to_string())?;
    }
    let text = match output.format() {
        Format::Table if kernels.is_empty() => String::new(),
        Format::Table => need_text(&kernels, output.width()),
        Format::Json => json(&NeedReport {
            schema: "occupant.need.v1",
            kernels,
            diagnostics: scan.diagnostics,
            totals: scan.totals,
        })?,
        Format::Jsonl => String::from_utf8_lossy(&json_lines(&kernels)?).into_owned(),
        Format::Csv => need_sheet(&kernels).csv(),
        Format::Markdown => need_sheet(&kernels).markdown(),
    };
    output.write(&text)?;
    Ok(status)
}

/// Flags that change nothing here.
fn notes(flags: &NeedFlags, kernels: &[KernelRecord], format: Format) -> Vec<String> {
    let mut notes = Vec::new();
    let takes_dynamic = |kernel: &KernelRecord| kernel.launch.shared_dynamic_from != Some(SharedFrom::None);
    if flags.shared_dynamic.is_some() && !kernels.iter().any(takes_dynamic) {
        notes.push(
            "no kernel takes dynamic shared memory, so --shared-dynamic is left out; a launch that gives some all the \
                    same is told with --launches"
                .to_owned(),
        );
    }
    if flags.wants_curve() && format == Format::Table && kernels.len() > 1 {
        notes.push("a curve is drawn for one kernel on one GPU: narrow it with --kernel or --gpu".to_owned());
    }
    notes
}

/// The curve of the only kernel that has one.
fn picture(kernels: &[KernelRecord]) -> anyhow::Result<String> {
    let drawn: Vec<String> = kernels.iter().filter_map(need_svg).collect();
    match drawn.len() {
        1 => Ok(drawn.into_iter().next().unwrap_or_default()),
        0 => bail!("nothing to draw: no kernel is modelled"),
        several => bail!("{several} curves do not fit on one plot: narrow it with --kernel or --gpu"),
    }
}
