//! Standard output and standard error: formats, width, problems one to a line.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use clap::{Args, ValueEnum};
use occupant_core::report::{Diagnostic, Severity};
use occupant_report::printable;

/// Columns where neither a terminal nor the person says.
const DEFAULT_WIDTH: usize = 120;

/// How answers are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For reading
    Table,
    /// One document
    Json,
    /// One object a line
    Jsonl,
    /// For spreadsheets
    Csv,
    /// For pull requests and reports
    Markdown,
}

/// Flags of every command that prints.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Look {
    /// How to print the answer
    #[arg(long, value_enum, default_value_t = Format::Table, global = true, help_heading = "Output")]
    format: Format,
    /// The same as --format json
    #[arg(long, global = true, help_heading = "Output", conflicts_with = "format")]
    json: bool,
    /// Columns of tables; the terminal's where not given
    #[arg(long, value_name = "N", global = true, help_heading = "Output", value_parser = clap::value_parser!(u16).range(20..))]
    width: Option<u16>,
}

/// Standard output with the chosen look.
pub(crate) struct Output {
    writer: BufWriter<Stdout>,
    look: Look,
}

impl Output {
    pub(crate) fn new(look: Look) -> Self {
        Self { writer: BufWriter::with_capacity(1 << 16, io::stdout()), look }
    }

    pub(crate) fn format(&self) -> Format {
        if self.look.json { Format::Json } else { self.look.format }
    }

    pub(crate) fn width(&self) -> usize {
        let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let columns = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        self.look
            .width
            .map(usize::from)
            .or_else(|| if io::stdout().is_terminal() { terminal() } else { None })
            .or_else(columns)
            .unwrap_or(DEFAULT_WIDTH)
    }

    pub(crate) fn write(&mut self, text: &str) -> io::Result<()> {
        self.writer.write_all(text.as_bytes())
    }

    pub(crate) fn writer(&mut self) -> &mut impl Write {
        &mut self.writer
    }

    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// One line on standard error: names from files and arguments can hold line breaks and worse. Nothing can be done where
/// even that fails.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(line));
}

/// A diagnostic on standard error.
pub(crate) fn diagnostic(diagnostic: &Diagnostic) {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let place = diagnostic.place.as_ref().map_or_else(String::new, |place| format!(" {place}:"));
    complain(&format!("{severity}: {}:{place} {}", diagnostic.file, diagnostic.message));
}

/// Whether an error comes from writing to a pipe whose reader is gone.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe))
}
