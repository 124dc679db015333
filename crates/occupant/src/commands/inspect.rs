//! `occupant inspect`.

use std::cmp::Reverse;
use std::fs::File;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use occupant_core::report::{Basis, Diagnostic, InspectReport, KernelLine, KernelRecord, Severity, Totals};
use occupant_core::{Event, File as CoreFile, InspectOptions, Launches, Target, inspect};
use occupant_report::{inspect_markdown, inspect_sheet, inspect_text, json, json_line};

use super::Status;
use crate::arguments::{InspectFlags, Sort};
use crate::file::{Found, Input, Spool, companion, files};
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
            let file = File::open(path).with_context(|| path.display().to_string())?;
            Launches::read(file).with_context(|| path.display().to_string())?
        }
    };
    let options = flags.options(launches);
    let streamed = output.format() == Format::Jsonl && flags.sort.is_none() && flags.top.is_none();
    let mut scan =
        Scan { options: &options, streamed, kernels: Vec::new(), diagnostics: Vec::new(), totals: Totals::default() };
    for path in &flags.paths {
        match files(path) {
            Err(error) => scan.failed(path.display().to_string(), &format!("{error:#}")),
            Ok(found) if found.is_empty() => {
                scan.failed(
                    path.display().to_string(),
                    "no binary in this directory starts like an ELF file or a fatbin",
                );
            }
            Ok(found) => {
                let before = (scan.totals.images, scan.diagnostics.len());
                let in_directory = found.iter().any(|file| !file.named);
                for file in found {
                    scan.file(&file, output)?;
                }
                if in_directory && (scan.totals.images, scan.diagnostics.len()) == before {
                    scan.failed(path.display().to_string(), "no binary in this directory has CUDA device code");
                }
            }
        }
    }
    scan.print(flags, output)
}

struct Scan<'a> {
    options: &'a InspectOptions,
    streamed: bool,
    kernels: Vec<KernelRecord>,
    diagnostics: Vec<Diagnostic>,
    totals: Totals,
}

impl Scan<'_> {
    fn failed(&mut self, file: String, message: &str) {
        self.diagnostics.push(Diagnostic {
            severity: Severity::Error,
            code: "file".to_owned(),
            file,
            place: None,
            message: message.to_owned(),
        });
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
        let mut written: anyhow::Result<()> = Ok(());
        let streamed = self.streamed;
        let kernels = &mut self.kernels;
        let companion = companion(&found.path);
        let file = CoreFile { name: &name, source: &input, companion: companion.as_deref() };
        let outcome = inspect(&file, &Spool, self.options, &mut |event| match event {
            Event::Progress { done, total } => progress.show(done, total),
            Event::Kernel(kernel) if streamed => {
                if written.is_ok() {
                    written = line(&kernel).and_then(|line| Ok(output.write(&line)?));
                }
            }
            Event::Kernel(kernel) => kernels.push(*kernel),
        });
        written?;
        let nothing_here = |diagnostic: &Diagnostic| !found.named && diagnostic.code == "no_device_code";
        if outcome.diagnostics.iter().any(nothing_here) {
            return Ok(());
        }
        // In a directory, PTX beside its cubin is usual; the totals count it.
        let worth_saying = |diagnostic: &Diagnostic| found.named || diagnostic.severity != Severity::Note;
        self.diagnostics.extend(outcome.diagnostics.into_iter().filter(worth_saying));
        self.totals.add(&outcome.totals);
        Ok(())
    }

    fn print(mut self, flags: &InspectFlags, output: &mut Output) -> anyhow::Result<Status> {
        if let Some(key) = flags.sort {
            sort(&mut self.kernels, key);
        }
        self.kernels.truncate(flags.top.unwrap_or(usize::MAX));
        let failed = self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        let report = InspectReport {
            schema: "occupant.inspect.v1",
            kernels: self.kernels,
            diagnostics: self.diagnostics,
            totals: self.totals,
        };
        match output.format() {
            Format::Table if report.totals.images == 0 => {}
            Format::Table => output.write(&inspect_text(&report, output.width()))?,
            Format::Json => output.write(&json(&report)?)?,
            Format::Jsonl => report.kernels.iter().try_for_each(|kernel| anyhow::Ok(output.write(&line(kernel)?)?))?,
            Format::Csv => output.write(&inspect_sheet(&report.kernels).csv())?,
            Format::Markdown => output.write(&inspect_markdown(&report))?,
        }
        output.finish()?;
        report.diagnostics.iter().for_each(output::diagnostic);
        Ok(if failed { Status::CouldNot } else { Status::Done })
    }
}

fn line(kernel: &KernelRecord) -> anyhow::Result<String> {
    Ok(json_line(&KernelLine { schema: "occupant.kernel.v1", kernel })?)
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
        Sort::Spills => kernels.sort_by_key(|kernel| Reverse(kernel.spills.instructions)),
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
