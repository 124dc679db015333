//! `occupant verdict`.

use std::path::Path;

use occupant_core::report::{Diagnostic, Severity, VerdictLine, VerdictRecord, VerdictReport};
use occupant_core::verdict::verdicts;
use occupant_report::{json, json_line, verdict_markdown, verdict_sheet, verdict_text};

use super::Status;
use crate::arguments::VerdictFlags;
use crate::file::whole;
use crate::output::{self, Format, Output};

/// Bytes of a report that are read, at most.
const MOST: u64 = 4 << 30;

pub(crate) fn run(flags: &VerdictFlags, output: &mut Output) -> anyhow::Result<Status> {
    let (mut launches, mut diagnostics) = (Vec::new(), Vec::new());
    for path in &flags.reports {
        match read(path, flags) {
            Ok((found, faults)) => {
                launches.extend(found);
                diagnostics.extend(faults);
            }
            Err(error) => diagnostics.push(Diagnostic {
                severity: Severity::Error,
                code: "unreadable".to_owned(),
                file: path.display().to_string(),
                place: None,
                message: format!("{error:#}"),
            }),
        }
    }
    let failed = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    diagnostics.iter().for_each(output::diagnostic);
    print(flags, launches, diagnostics, output)?;
    Ok(if failed { Status::CouldNot } else { Status::Done })
}

fn read(path: &Path, flags: &VerdictFlags) -> anyhow::Result<(Vec<VerdictRecord>, Vec<Diagnostic>)> {
    let name = path.display().to_string();
    let bytes = whole(path, MOST)?;
    let wanted = |index: usize, measured: &occupant_core::Measurement| {
        let named = |name: &str| flags.kernel.as_ref().is_none_or(|kernel| kernel.is_match(name));
        (flags.launch.is_empty() || flags.launch.contains(&index))
            && (named(&measured.name) || measured.mangled.as_deref().is_some_and(named))
    };
    let (launches, mut faults) = verdicts(&name, &bytes, flags.options(), &wanted)?;
    let narrowed = flags.kernel.is_some() || !flags.launch.is_empty();
    if launches.is_empty() {
        let message = match narrowed {
            true => "--kernel and --launch leave none of its launches".to_owned(),
            false => "it holds no launches".to_owned(),
        };
        let severity = if narrowed || !faults.is_empty() { Severity::Warning } else { Severity::Error };
        faults.push(Diagnostic { severity, code: "no_launches".to_owned(), file: name, place: None, message });
    }
    Ok((launches, faults))
}

fn print(
    flags: &VerdictFlags,
    launches: Vec<VerdictRecord>,
    diagnostics: Vec<Diagnostic>,
    output: &mut Output,
) -> anyhow::Result<()> {
    let text = match output.format() {
        Format::Table if launches.is_empty() => String::new(),
        Format::Table => verdict_text(&launches, output.width(), flags.full),
        Format::Json => json(&VerdictReport { schema: "occupant.verdict.v1", launches, diagnostics })?,
        Format::Jsonl => {
            let line = |launch| json_line(&VerdictLine { schema: "occupant.verdict_launch.v1", launch });
            launches.iter().map(line).collect::<Result<String, _>>()?
        }
        Format::Csv => verdict_sheet(&launches).csv(),
        Format::Markdown => verdict_markdown(&launches),
    };
    output.write(&text)?;
    Ok(())
}
