//! Random encodings: nvdisasm takes a bare file of instructions and names those that it refuses.
//!
//! This finds opcodes that no library at hand uses, and fields that real code leaves at one value.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::bail;
use occupant_hardware::ComputeCapability;
use occupant_sass::Decoder;

use super::compare::{self, Tally};
use super::nvdisasm;
use crate::paths;

/// Encodings of each opcode number and form.
const ENCODINGS: u32 = 24;
/// Opcode numbers with their form.
const NUMBERS: u32 = 4096;
/// A control code that waits for nothing.
const CONTROL: u64 = 0x000f_c000_0000_0000;
/// Bits of the upper half below the control code.
const BELOW_CONTROL: u64 = (1 << 41) - 1;

/// Capabilities that are asked about.
pub(super) fn capabilities(small: bool) -> Vec<ComputeCapability> {
    let all = [(7, 0), (7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (10, 3), (10, 7), (11, 0), (12, 0), (12, 1)];
    let few = [(8, 0), (9, 0), (12, 0)];
    let chosen: &[(u8, u8)] = if small { &few } else { &all };
    chosen.iter().map(|(major, minor)| ComputeCapability::new(*major, *minor)).collect()
}

/// What nvdisasm calls a raw binary of a capability.
fn name(capability: ComputeCapability) -> String {
    let specific = if capability.major >= 9 { "a" } else { "" };
    format!("SM{}{}{specific}", capability.major, capability.minor)
}

/// Compares what both make of encodings that nvdisasm takes.
pub(super) fn random(capability: ComputeCapability) -> anyhow::Result<Tally> {
    let program = nvdisasm(capability)?;
    let decoder = Decoder::new(capability)?;
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ u64::from(capability.major) << 8 ^ u64::from(capability.minor));
    let words: Vec<[u64; 2]> =
        (0..NUMBERS * ENCODINGS).map(|number| encoding(number / ENCODINGS, number, &mut random)).collect();
    let mut tally = Tally::default();
    for chunk in words.chunks(1 << 16) {
        let legal = legal(&program, capability, chunk)?;
        for (at, words, text) in &legal {
            let bytes = ((u128::from(words[1]) << 64) | u128::from(words[0])).to_le_bytes();
            // Wide loads with an immediate beside the address are no compiler's; their offset is split up there.
            if text.contains(".256") && decoder.instruction(bytes, 0).mnemonic() == "LDG" {
                continue;
            }
            compare::one(&decoder.instruction(bytes, at * 16), text, &|_| None, &mut tally);
        }
    }
    Ok(tally)
}

/// Bits of an encoding: few set, many set, or registers at their neutral value.
fn encoding(number: u32, kind: u32, random: &mut Random) -> [u64; 2] {
    let (low, high) = match kind % 4 {
        0 => (0x0000_ffff_ffff_0000, 0xff),
        1 => (random.next() & random.next() & random.next(), random.next() & random.next() & random.next()),
        2 => (random.next(), random.next() & random.next() & random.next()),
        _ => (random.next(), random.next()),
    };
    let always = 7 << 12;
    [(low & !0xffff) | u64::from(number) | always, (high & BELOW_CONTROL) | CONTROL]
}

/// The encodings that nvdisasm takes, with their place in the file and its text. Those that it refuses are taken out until none is left.
fn legal(
    program: &Path,
    capability: ComputeCapability,
    words: &[[u64; 2]],
) -> anyhow::Result<Vec<(u32, [u64; 2], String)>> {
    let folder = paths::cache("sass");
    fs::create_dir_all(&folder)?;
    let file = folder.join("random.bin");
    let mut left = words.to_vec();
    loop {
        fs::write(&file, left.iter().flatten().flat_map(|half| half.to_le_bytes()).collect::<Vec<u8>>())?;
        let mut command = Command::new(program);
        let output = command.args(["-ndf", "-b", &name(capability)]).arg(&file).output()?;
        if output.status.success() {
            let text = String::from_utf8_lossy(&output.stdout);
            // It passes over a few that it takes, without a word.
            let lines = text.lines().filter_map(line);
            // Names with underscores are no instructions of any documented program.
            let named = lines.filter(|(_, text)| !text.contains("__HIR"));
            return Ok(named.filter_map(|(at, text)| Some((at, *left.get(at as usize)?, text))).collect());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let refused: BTreeSet<usize> = said.split("address 0x").skip(1).filter_map(address).collect();
        let first = said.lines().next().unwrap_or("").to_owned();
        if refused.is_empty() {
            bail!("nvdisasm refuses random encodings without naming them: {first}");
        }
        left = left.into_iter().enumerate().filter(|(at, _)| !refused.contains(at)).map(|(_, word)| word).collect();
    }
}

fn address(text: &str) -> Option<usize> {
    let digits: String = text.chars().take_while(char::is_ascii_hexdigit).collect();
    usize::from_str_radix(&digits, 16).ok().map(|address| address / 16)
}

/// `        /*0010*/                   BRA 0x40;`, as the instruction's number and text.
fn line(line: &str) -> Option<(u32, String)> {
    let (offset, text) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
    let number = u32::from_str_radix(offset, 16).ok()? / 16;
    Some((number, text.trim().trim_end_matches(';').trim().to_owned()))
}

/// xorshift64*: the same numbers everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}
