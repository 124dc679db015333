//! `occupant explain`.

use std::io::{IsTerminal, Read, stdin};
use std::path::Path;

use anyhow::{Context, bail};
use occupant_core::{Target, explain};
use occupant_report::{explain_sheet, explain_text, json, json_line};

use super::Status;
use crate::arguments::ExplainOptions;
use crate::output::{Format, Output};

/// Bytes of a text that are read, at most.
const MOST: u64 = 256 << 20;

pub(crate) fn run(options: &ExplainOptions, output: &mut Output) -> anyhow::Result<Status> {
    let request = options.request();
    if let Some(gpu) = &request.gpu {
        Target::named(gpu, request.rules)?;
    }
    let text = text(&options.text)?;
    if text.bytes().take(8192).any(|byte| byte == 0) {
        bail!("that is no text: `occupant inspect FILE` reads binaries");
    }
    let report = explain(&text, &request);
    if report.findings.is_empty() && report.kernels.is_empty() {
        bail!(unknown(&text, report.lines));
    }
    let shown = match output.format() {
        Format::Table => explain_text(&report, output.width()),
        Format::Json => json(&report)?,
        Format::Jsonl => json_line(&report)?,
        Format::Csv => explain_sheet(&report).csv(),
        Format::Markdown => explain_sheet(&report).markdown(),
    };
    output.write(&shown)?;
    Ok(Status::Done)
}

/// The text of the arguments, of the one file they name, or of standard input.
fn text(arguments: &[String]) -> anyhow::Result<String> {
    match arguments {
        [] if stdin().is_terminal() => {
            bail!("what shall be explained? give the message, a file that holds it, or pipe it in")
        }
        [] => read(stdin().lock(), "standard input"),
        [dash] if dash == "-" => read(stdin().lock(), "standard input"),
        [one] if Path::new(one).is_file() => {
            let file = std::fs::File::open(one).with_context(|| one.clone())?;
            read(file, one)
        }
        [one] if Path::new(one).is_dir() => bail!("{one}: a directory, not a text"),
        // A name without a space that ends like a file's is a file that is not there.
        [one] if !one.contains(' ') && Path::new(one).extension().is_some() => bail!("{one}: no such file"),
        words => Ok(words.join(" ")),
    }
}

fn read(source: impl Read, name: &str) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    source.take(MOST + 1).read_to_end(&mut bytes).with_context(|| name.to_owned())?;
    if bytes.len() as u64 > MOST {
        bail!("{name}: more than 256 MiB of text: cut it to the part with the messages");
    }
    // PowerShell writes UTF-16.
    let wide = |bytes: &[u8], number: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| number([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    Ok(match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        bytes => String::from_utf8_lossy(bytes).into_owned(),
    })
}

fn unknown(text: &str, lines: u32) -> String {
    if text.trim().is_empty() {
        return "the text is empty: paste the message, such as `too many resources requested for launch`".to_owned();
    }
    let read = if lines > 1 { format!("{lines} lines read, and none of them holds") } else { "this is not".to_owned() };
    format!(
        "{read} a message that is known: paste the line with the error, in English or with its name such as \
         CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES or its number such as `CUDA error 701`; or ask with numbers: `occupant fit --gpu G \
         --registers N --block N`. Errors while a kernel runs, such as an illegal address, are for compute-sanitizer"
    )
}
