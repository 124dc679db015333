//! Reads files and directories into kernels, for every command that takes paths. Not for: what is made of them.

use std::io::{self, IsTerminal, Write, stderr};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use occupant_core::report::{Diagnostic, KernelLine, KernelRecord, Severity, Totals};
use occupant_core::{Event, File as CoreFile, InspectOptions, Outcome, Summary, inspect};
use occupant_report::{append_json_line, inspect_sheet, printable};

use crate::file::{Input, Spool, companion};
use crate::folder::{Found, Listed, files};

/// A scan that takes longer than this shows its progress.
const PATIENCE: Duration = Duration::from_millis(700);

/// What a scan's threads make of kernels.
enum Made {
    /// Lines to print, where nothing has to be kept.
    Lines(io::Result<Vec<u8>>),
    /// The records themselves.
    Records(Vec<KernelRecord>),
}

/// How kernels are printed, a line each.
#[derive(Clone, Copy)]
pub(crate) enum Line {
    Json,
    /// A row of CSV; the line above them all is the caller's.
    Csv,
}

impl Line {
    fn append(self, lines: &mut Vec<u8>, kernels: &[KernelRecord]) -> io::Result<()> {
        match self {
            Self::Json => append_lines(lines, kernels),
            Self::Csv => {
                lines.extend_from_slice(inspect_sheet(kernels).csv_rows().as_bytes());
                Ok(())
            }
        }
    }
}

/// What becomes of a kernel once it is known.
pub(crate) enum Keep {
    /// Printed at once.
    Nothing(Line),
    /// Counted.
    Census(Box<Summary>),
    /// Kept to be sorted and laid out.
    All(Vec<KernelRecord>),
}

impl Keep {
    /// Keeps or counts records; the code of the first `keep_code` is kept, that of others is dropped and counted.
    fn records(&mut self, records: Vec<KernelRecord>, keep_code: &mut usize, code_dropped: &mut usize) {
        match self {
            Self::All(kernels) => kernels.extend(records.into_iter().map(|mut kernel| {
                if kernel.machine_code.is_some() && *keep_code == 0 {
                    kernel.machine_code = None;
                    *code_dropped += 1;
                } else if kernel.machine_code.is_some() {
                    *keep_code -= 1;
                }
                kernel
            })),
            Self::Census(summary) => records.iter().for_each(|kernel| summary.add(kernel)),
            Self::Nothing(_) => {}
        }
    }
}

pub(crate) struct Scan<'a> {
    pub(crate) options: &'a InspectOptions,
    pub(crate) keep: Keep,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) totals: Totals,
    /// Kernels whose machine code is kept; that of others is counted and forgotten.
    pub(crate) keep_code: usize,
    /// Those others.
    pub(crate) code_dropped: usize,
    /// Whether any record came: of a kernel or, where they are asked for, a device function.
    pub(crate) listed: bool,
    /// The first file, where it was opened already: a pipe can't be opened a second time.
    opened: Option<Input>,
    /// Files of the directory that is gone through which have only PTX or LTO-IR, and no cubin beside them.
    uncompiled: Vec<PathBuf>,
}

impl<'a> Scan<'a> {
    /// A scan that has read nothing yet.
    pub(crate) fn new(options: &'a InspectOptions, keep: Keep) -> Self {
        Self {
            options,
            keep,
            diagnostics: Vec::new(),
            totals: Totals::default(),
            keep_code: usize::MAX,
            code_dropped: 0,
            listed: false,
            opened: None,
            uncompiled: Vec::new(),
        }
    }

    pub(crate) fn say(&mut self, severity: Severity, code: &str, file: String, message: String) {
        self.diagnostics.push(Diagnostic { severity, code: code.to_owned(), file, place: None, message });
    }

    fn failed(&mut self, file: String, message: &str) {
        self.say(Severity::Error, "file", file, message.to_owned());
    }

    /// A file, or all in a directory.
    pub(crate) fn path(&mut self, path: &Path, output: &mut dyn Write) -> anyhow::Result<()> {
        let before = (self.totals.images, self.diagnostics.len());
        let Listed { found, failed, packed, dangling } = files(path);
        for (folder, error) in failed {
            self.failed(folder.display().to_string(), &error.to_string());
        }
        let in_directory = found.iter().all(|file| !file.named);
        for file in found {
            self.file(&file, output)?;
        }
        if in_directory && (self.totals.images, self.diagnostics.len()) == before {
            self.failed(path.display().to_string(), "nothing in this directory has CUDA device code");
        }
        self.note_uncompiled(path);
        self.note_packed(path, &packed);
        self.note_dangling(path, &dangling);
        Ok(())
    }

    /// One note for a directory with files that would be read if they were unpacked.
    fn note_packed(&mut self, directory: &Path, packed: &[PathBuf]) {
        let Some(first) = packed.first() else { return };
        let first = first.strip_prefix(directory).unwrap_or(first).display();
        let message = match packed.len() {
            1 => format!("{first} is left out: neither bzip2 nor xz is read; unpack it first"),
            several => format!(
                "{several} files are left out, the first is {first}: neither bzip2 nor xz is read; unpack them first"
            ),
        };
        self.say(Severity::Note, "packed", directory.display().to_string(), message);
    }

    /// One note for a directory with links that lead to nothing: what is missing behind them is not known.
    fn note_dangling(&mut self, directory: &Path, links: &[PathBuf]) {
        let Some(first) = links.first() else { return };
        let first = first.strip_prefix(directory).unwrap_or(first).display();
        let message = match links.len() {
            1 => format!("the link {first} leads to nothing that can be read"),
            several => format!("{several} links lead to nothing that can be read, the first is {first}"),
        };
        self.say(Severity::Note, "dangling", directory.display().to_string(), message);
    }

    /// One note for a directory: a compiler's dump can have thousands of PTX files.
    fn note_uncompiled(&mut self, directory: &Path) {
        let files = std::mem::take(&mut self.uncompiled);
        let Some(first) = files.first() else { return };
        let first = first.strip_prefix(directory).unwrap_or(first).display();
        let message = match files.len() {
            1 => format!("{first} is PTX or LTO-IR without a cubin: its kernels are not listed until it is compiled"),
            several => format!(
                "{several} files are PTX or LTO-IR without a cubin, the first is {first}: their kernels are not listed until \
                 they are compiled"
            ),
        };
        self.say(Severity::Note, "not_compiled", directory.display().to_string(), message);
    }

    fn file(&mut self, found: &Found, output: &mut dyn Write) -> anyhow::Result<()> {
        let name = found.path.display().to_string();
        let input = match self.opened.take().map_or_else(|| Input::open(&found.path), Ok) {
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
        let at_once = if let Keep::Nothing(line) = self.keep { Some(line) } else { None };
        let buffers = Buffers::default();
        let make = |kernels: Vec<KernelRecord>| {
            let Some(line) = at_once else { return Made::Records(kernels) };
            let mut lines = buffers.take();
            Made::Lines(line.append(&mut lines, &kernels).map(|()| lines))
        };
        let (keep, keep_code, code_dropped) = (&mut self.keep, &mut self.keep_code, &mut self.code_dropped);
        let listed = &mut self.listed;
        let (companion, unread) = companion(&found.path).map_or_else(|why| (None, Some(why)), |read| (read, None));
        let file = CoreFile { name: &name, source: &input, companion: companion.as_deref() };
        let outcome = inspect(&file, &Spool, self.options, &make, &mut |event| match event {
            Event::Progress { done, total } => progress.show(done, total),
            Event::Kernels(made) => {
                *listed = true;
                match made {
                    Made::Lines(lines) if written.is_ok() => {
                        written = lines.and_then(|lines| {
                            output.write_all(&lines)?;
                            buffers.give_back(lines);
                            Ok(())
                        });
                    }
                    Made::Lines(_) => {}
                    Made::Records(records) => keep.records(records, keep_code, code_dropped),
                }
            }
        });
        if let Some(why) = unread.filter(|_| outcome.totals.images > 0) {
            self.say(Severity::Warning, "metadata", name.clone(), format!("the .json beside it is not used: {why}"));
        }
        self.done(found, outcome);
        written?;
        Ok(())
    }

    /// What is left to be said of a file, and its counts.
    fn done(&mut self, found: &Found, outcome: Outcome) {
        // Of a directory, binaries without device code are usual, and PTX that is not compiled is told once for all of it.
        let worth_saying = |diagnostic: &Diagnostic| {
            found.named || (diagnostic.severity != Severity::Note && diagnostic.code != "no_device_code")
        };
        self.diagnostics.extend(outcome.diagnostics.into_iter().filter(worth_saying));
        let Totals { images, ptx, lto_ir, unknown, .. } = outcome.totals;
        if !found.named && images == 0 {
            return;
        }
        let beside = || found.path.with_extension("cubin").is_file();
        if !found.named && images == ptx + lto_ir + unknown && !beside() {
            self.uncompiled.push(found.path.clone());
        }
        self.totals.add(&outcome.totals);
    }
}

/// Every kernel of some files, and what could not be read; `opened` is the first of them where it is open already.
pub(crate) fn kernels(
    paths: &[PathBuf],
    opened: Option<Input>,
    options: &InspectOptions,
) -> anyhow::Result<(Vec<KernelRecord>, Vec<Diagnostic>)> {
    let mut scan = Scan::new(options, Keep::All(Vec::new()));
    scan.opened = opened;
    for path in paths {
        scan.path(path, &mut io::sink())?;
    }
    let Keep::All(kernels) = scan.keep else { return Ok((Vec::new(), scan.diagnostics)) };
    Ok((kernels, scan.diagnostics))
}

pub(crate) fn json_lines(kernels: &[KernelRecord]) -> io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    append_lines(&mut lines, kernels)?;
    Ok(lines)
}

fn append_lines(lines: &mut Vec<u8>, kernels: &[KernelRecord]) -> io::Result<()> {
    /// What a line takes beside its names, about.
    const REST: usize = 1500;
    lines.reserve(kernels.iter().map(|kernel| kernel.name.len() + kernel.demangled.len() + REST).sum());
    for kernel in kernels {
        append_json_line(lines, &KernelLine { schema: "occupant.kernel.v1", kernel })?;
    }
    Ok(())
}

/// Buffers that threads fill with lines, used again and again: fresh memory has to be cleared by the system each time.
#[derive(Default)]
struct Buffers(Mutex<Vec<Vec<u8>>>);

impl Buffers {
    /// Larger buffers are not kept, so that a few large images do not fill the memory.
    const LARGEST: usize = 4 << 20;

    fn held(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Vec<u8> {
        self.held().pop().unwrap_or_default()
    }

    fn give_back(&self, mut buffer: Vec<u8>) {
        if buffer.capacity() <= Self::LARGEST {
            buffer.clear();
            self.held().push(buffer);
        }
    }
}

/// A bar on standard error for long scans in a terminal.
struct Progress {
    name: String,
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    fn new(name: &str) -> Self {
        Self { name: printable(name).into_owned(), started: Instant::now(), bar: None }
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
