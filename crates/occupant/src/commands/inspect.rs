//! `occupant inspect`.

use std::cmp::Reverse;
use std::io::Write;

use occupant_core::report::{Basis, InspectReport, KernelRecord, Severity, SummaryReport, Totals};
use occupant_core::{Gpus, Summary, Target};
use occupant_report::{
    Detail, Listing, SASS_KERNELS, count, grouped, inspect_markdown, inspect_sheet, inspect_text, json, json_line,
    sass_sheet, sass_text, summary_markdown, summary_sheet, summary_text,
};

use super::Status;
use crate::arguments::{InspectFlags, Sort};
use crate::file::launches;
use crate::output::{self, Format, Output};
use crate::scan::{Keep, Line, Scan, json_lines};

pub(crate) fn run(flags: &InspectFlags, output: &mut Output) -> anyhow::Result<Status> {
    for gpu in flags.gpus() {
        Target::named(&gpu, flags.set_up.rules())?;
    }
    let launches = launches(flags.launches.as_deref())?;
    let options = flags.options(launches);
    // Nothing has to be known of the last kernel to print the first.
    let in_order = flags.sort.is_none() && flags.top.is_none();
    let keep = match output.format() {
        _ if flags.summary => {
            Keep::Census(Box::new(Summary::new(flags.by.map(Into::into).unwrap_or_default(), &options.gpus)))
        }
        Format::Jsonl if in_order => Keep::Nothing(Line::Json),
        Format::Csv if in_order && flags.sass.is_none() => Keep::Nothing(Line::Csv),
        _ => Keep::All(Vec::new()),
    };
    if let Keep::Nothing(Line::Csv) = keep {
        output.writer().write_all(inspect_sheet(&[]).csv().as_bytes())?;
    }
    let mut scan = Scan::new(&options, keep);
    // In the file's order it is known which will be shown.
    if matches!(output.format(), Format::Table | Format::Markdown) && flags.sort.is_none() {
        scan.keep_code = SASS_KERNELS;
    }
    for path in &flags.paths {
        if let Err(error) = scan.path(path, output.writer()) {
            return stopped(&scan, error);
        }
    }
    note_what_matched_nothing(&mut scan, flags);
    finish(scan, flags, output)
}

/// Standard output takes no more, such as a pipe whose reader is gone. What went wrong until then is told all the same.
fn stopped(scan: &Scan<'_>, error: anyhow::Error) -> anyhow::Result<Status> {
    scan.diagnostics.iter().for_each(output::diagnostic);
    let failed = scan.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    if failed && output::is_broken_pipe(&error) { Ok(Status::CouldNot) } else { Err(error) }
}

/// A filter or a launch that nothing matches is mostly a slip.
fn note_what_matched_nothing(scan: &mut Scan<'_>, flags: &InspectFlags) {
    let file = flags.paths.first().map_or_else(String::new, |path| path.display().to_string());
    let Totals { read, not_selected, kernels, filtered, device_functions, .. } = scan.totals;
    let (cubins, architectures) = (count(not_selected.into(), "cubin"), scan.totals.architectures.join(", "));
    // With --functions, what matches may be a device function alone.
    if kernels > 0 && filtered == kernels && !scan.listed {
        let functions = if flags.functions && device_functions > 0 {
            format!(" and {}", count(device_functions.into(), "device function"))
        } else {
            String::new()
        };
        let message = format!(
            "{} none of {} kernels{functions}",
            if flags.has_tile() { "the filters match" } else { "--kernel matches" },
            grouped(kernels.into())
        );
        scan.say(Severity::Warning, "no_match", file.clone(), message);
    }
    if read == 0 && not_selected > 0 && flags.gpus().is_empty() {
        let message = format!("--arch matches none of {cubins}, for {architectures}");
        scan.say(Severity::Warning, "no_match", file, message);
    } else if read == 0 && not_selected > 0 && flags.has_arch() {
        let message = format!("--gpu and --arch together match none of {cubins}, for {architectures}");
        scan.say(Severity::Warning, "no_match", file, message);
    }
    let unmatched: Vec<String> = scan.options.launches.unmatched().into_iter().map(str::to_owned).collect();
    if let (Some(first), Some(launches)) = (unmatched.first(), &flags.launches) {
        let message = match unmatched.len() {
            1 => format!("no kernel is named `{first}`"),
            number => format!("{number} names are no kernel's, the first is `{first}`"),
        };
        scan.say(Severity::Warning, "no_match", launches.display().to_string(), message);
    }
}

fn finish(mut scan: Scan<'_>, flags: &InspectFlags, output: &mut Output) -> anyhow::Result<Status> {
    let failed = scan.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let (printed, diagnostics) = match scan.keep {
        Keep::Census(summary) => {
            let report = summary.report(scan.totals, scan.diagnostics);
            (print_summary(&report, flags.names_files(), output), report.diagnostics)
        }
        Keep::All(mut kernels) => {
            if let Some(key) = flags.sort {
                sort(&mut kernels, key);
            }
            let gpus = Gpus::of(&kernels, &scan.options.gpus);
            if let Some(top) = flags.top {
                scan.totals.not_shown = keep_top(&mut kernels, top);
            }
            let report = InspectReport {
                schema: "occupant.inspect.v1",
                kernels,
                gpus,
                diagnostics: scan.diagnostics,
                totals: scan.totals,
            };
            let printed = match flags.sass {
                Some(sass) => print_sass(&report, scan.code_dropped, sass.into(), output),
                None => print(&report, flags.listing(), output),
            };
            (printed, report.diagnostics)
        }
        Keep::Nothing(_) => (output.finish().map_err(anyhow::Error::from), scan.diagnostics),
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

fn print(report: &InspectReport, listing: Listing, output: &mut Output) -> anyhow::Result<()> {
    match output.format() {
        Format::Table if report.totals.images == 0 => {}
        Format::Table => output.write(&inspect_text(report, listing, output.width()))?,
        Format::Json => output.write(&json(report)?)?,
        Format::Jsonl => output.writer().write_all(&json_lines(&report.kernels)?)?,
        Format::Csv => output.write(&inspect_sheet(&report.kernels).csv())?,
        Format::Markdown => output.write(&inspect_markdown(report, listing))?,
    }
    Ok(output.finish()?)
}

fn print_sass(report: &InspectReport, dropped: usize, detail: Detail, output: &mut Output) -> anyhow::Result<()> {
    match output.format() {
        Format::Table => output.write(&sass_text(&report.kernels, dropped, detail, output.width()))?,
        Format::Markdown => {
            output.write(&format!("```\n{}```\n", sass_text(&report.kernels, dropped, detail, output.width())))?
        }
        Format::Csv => output.write(&sass_sheet(&report.kernels).csv())?,
        Format::Json | Format::Jsonl => return print(report, Listing::default(), output),
    }
    Ok(output.finish()?)
}

fn print_summary(report: &SummaryReport, files: bool, output: &mut Output) -> anyhow::Result<()> {
    match output.format() {
        Format::Table if report.totals.images == 0 => {}
        Format::Table => output.write(&summary_text(report, files, output.width()))?,
        Format::Json => output.write(&json(report)?)?,
        Format::Jsonl => output.write(&json_line(report)?)?,
        Format::Csv => output.write(&summary_sheet(report).csv())?,
        Format::Markdown => output.write(&summary_markdown(report))?,
    }
    Ok(output.finish()?)
}

/// Keeps the first `top` records of each GPU that have an image for it; returns how many went.
fn keep_top(kernels: &mut Vec<KernelRecord>, top: usize) -> u32 {
    let before = kernels.len();
    let mut kept: Vec<(Option<String>, usize)> = Vec::new();
    kernels.retain(|kernel| {
        if kernel.entry.is_none() {
            return false;
        }
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
