//! What nvdisasm prints of a cubin, section by section.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

/// One instruction as the oracle sees it.
pub(super) struct Line {
    pub(super) offset: u32,
    /// e.g. `@!P0 BRA `(.L_x_3)`, without the semicolon.
    pub(super) text: String,
    pub(super) halves: [u64; 2],
}

/// One code section.
#[derive(Default)]
pub(super) struct Section {
    /// Name of the function whose section it is.
    pub(super) name: String,
    pub(super) lines: Vec<Line>,
    /// Offsets of the labels in it.
    pub(super) labels: BTreeMap<String, u32>,
}

impl Section {
    /// Whether these are the bytes that were disassembled.
    pub(super) fn is_of(&self, code: &[u8]) -> bool {
        let printed = self.lines.iter().flat_map(|line| line.halves).flat_map(u64::to_le_bytes);
        code.len() == self.lines.len() * 16 && code.iter().copied().eq(printed)
    }
}

/// Runs the oracle on a cubin and hands out its code sections as they come.
pub(super) fn sections(
    program: &Path,
    file: &Path,
    each: &mut dyn FnMut(&Section) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut command = Command::new(program);
    command.args(["-c", "-hex", "-ndf"]).arg(file).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().with_context(|| format!("can't start {command:?}"))?;
    let output = child.stdout.take().context("standard output of nvdisasm")?;
    let mut section = Section::default();
    let mut labels: Vec<String> = Vec::new();
    for line in BufReader::new(output).lines() {
        let line = line?;
        if let Some(name) = line.strip_prefix("\t.section\t.text.") {
            finish(&mut section, each)?;
            section.name = name.split(",\"").next().unwrap_or(name).trim_matches('"').to_owned();
            labels.clear();
        } else if let Some((offset, text, low)) = instruction(&line) {
            for label in labels.drain(..) {
                section.labels.insert(label, offset);
            }
            section.lines.push(Line { offset, text: text.to_owned(), halves: [low, 0] });
        } else if let Some(high) = hexadecimal(line.trim()) {
            if let Some(last) = section.lines.last_mut() {
                last.halves[1] = high;
            }
        } else if let Some(label) = line.strip_suffix(':') {
            labels.push(label.to_owned());
        }
    }
    finish(&mut section, each)?;
    let status = child.wait()?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}

fn finish(section: &mut Section, each: &mut dyn FnMut(&Section) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let done = std::mem::take(section);
    if done.lines.is_empty() { Ok(()) } else { each(&done) }
}

/// `        /*0010*/    @P0 EXIT ;    /* 0x000000000000794d */`
pub(super) fn instruction(line: &str) -> Option<(u32, &str, u64)> {
    let rest = line.trim_start().strip_prefix("/*")?;
    let (offset, rest) = rest.split_once("*/")?;
    let offset = u32::from_str_radix(offset, 16).ok()?;
    let (text, low) = rest.rsplit_once("/*")?;
    let low = hexadecimal(&format!("/*{low}"))?;
    Some((offset, text.trim().trim_end_matches(';').trim(), low))
}

/// `/* 0x000fea0003800000 */`
fn hexadecimal(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("/* 0x")?.trim_end().strip_suffix(" */")?;
    u64::from_str_radix(digits, 16).ok()
}
