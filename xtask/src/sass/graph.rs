//! The ways between instructions that nvdisasm draws, against ours: what a branch leads to, and whether it falls through.
//! Not for: calls, which it draws as going on behind them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use occupant_sass::{Class, Code, Flow};

/// For each function the instructions at the ends of its blocks, and the offsets that each leads to.
pub(super) type Graphs = BTreeMap<String, BTreeMap<u32, BTreeSet<u32>>>;

/// The graphs of a cubin; functions that nvdisasm draws none of are left out. `None` where it draws no such file.
pub(super) fn of(program: &Path, cubin: &Path) -> anyhow::Result<Option<Graphs>> {
    let output = Command::new(program).args(["-bbcfg", "-poff"]).arg(cubin).output()?;
    if !output.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    text.split("subgraph \"cluster_").skip(1).map(function).collect::<anyhow::Result<Graphs>>().map(Some)
}

/// One function: blocks as `"label"` with the text of their instructions on the next line, and ways as
/// `"label":port -> "label":port`.
fn function(text: &str) -> anyhow::Result<(String, BTreeMap<u32, BTreeSet<u32>>)> {
    let (name, rest) = text.split_once('"').context("a function without a name")?;
    let mut blocks: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    let mut ways: Vec<(&str, &str)> = Vec::new();
    let mut label = "";
    for line in rest.lines() {
        if let Some(instructions) = line.strip_prefix("[label=\"") {
            let offsets: Vec<u32> = offsets(instructions).collect();
            if let (Some(first), Some(last)) = (offsets.first(), offsets.last()) {
                blocks.insert(label, (*first, *last));
            }
        } else if let Some((from, to)) = line.split_once(" -> ") {
            ways.push((quoted(from)?, quoted(to)?));
        } else if line.starts_with('"') {
            label = quoted(line)?;
        }
    }
    let mut graph: BTreeMap<u32, BTreeSet<u32>> = blocks.values().map(|(_, last)| (*last, BTreeSet::new())).collect();
    for (from, to) in ways {
        if let (Some((_, last)), Some((first, _))) = (blocks.get(from), blocks.get(to)) {
            graph.entry(*last).or_default().insert(*first);
        }
    }
    Ok((name.to_owned(), graph))
}

fn quoted(text: &str) -> anyhow::Result<&str> {
    text.split('"').nth(1).with_context(|| format!("no name in `{text}`"))
}

/// The offsets of the instructions in a block's text, such as `\l0010:\ \ \ EXIT\ ;\l`.
fn offsets(text: &str) -> impl Iterator<Item = u32> {
    text.split("\\l").filter_map(|line| {
        let (before, _) = line.split_once(":\\ ")?;
        u32::from_str_radix(before.rsplit('>').next()?, 16).ok()
    })
}

/// Compares the ways from each block's last instruction; the number of those that are equal, and what differs.
pub(super) fn compare(code: &Code<'_>, flow: &Flow, theirs: &BTreeMap<u32, BTreeSet<u32>>) -> (usize, Vec<String>) {
    let mut equal = 0;
    let mut faults = Vec::new();
    for (offset, theirs) in theirs {
        let number = *offset as usize / 16;
        let Some(instruction) = code.get(number) else { continue };
        let left_out = match instruction.class() {
            Some(Class::Call) => true,
            // Lanes that take no part in a collective are not drawn.
            _ => instruction.mnemonic() == "WARPSYNC",
        };
        if left_out {
            continue;
        }
        let ours = successors(flow, number);
        if ours == *theirs {
            equal += 1;
        } else {
            faults.push(format!(
                "ways from {} at {offset:#x}: {ours:x?} here, nvdisasm has {theirs:x?}",
                instruction.mnemonic()
            ));
        }
    }
    (equal, faults)
}

fn successors(flow: &Flow, number: usize) -> BTreeSet<u32> {
    let block = flow.block_of(number);
    let ends = flow.blocks.get(block).is_some_and(|block| block.end == number + 1);
    let starts = |block: &usize| flow.blocks.get(*block).map(|block| block.start);
    let numbers: Vec<usize> =
        if ends { flow.successors(block).iter().filter_map(starts).collect() } else { vec![number + 1] };
    numbers.into_iter().filter_map(|number| u32::try_from(number * 16).ok()).collect()
}
