//! Generated kernels that need more registers than they may have: our spill bytes against what ptxas says of each.

use std::convert::identity;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context, ensure};
use occupant_binary::Cubin;
use occupant_core::{Event, File, InspectOptions, Memory, inspect};

use super::fallback::Agreement;
use crate::{fixtures, paths, process};

const KERNELS: usize = 50;
const TARGETS: [&str; 4] = ["sm_80", "sm_90", "sm_100", "sm_120"];
const COMPILERS: [&str; 2] = ["ptxas-13.5.37", "ptxas-12.9.86"];

/// One kernel: values that are alive at once, of which width, under which cap, in how many loops, and called or not.
struct Recipe {
    values: usize,
    wide: bool,
    registers: usize,
    loops: usize,
    in_callee: bool,
}

/// Every combination in a fixed order, the same everywhere.
fn recipe(number: usize) -> Recipe {
    Recipe {
        values: 34 + (number * 13) % 60,
        wide: number.is_multiple_of(3),
        registers: 24 + 4 * (number % 4),
        loops: number % 4 % 3,
        in_callee: number % 5 == 1,
    }
}

pub(super) fn run(small: bool) -> anyhow::Result<()> {
    let kernels = if small { KERNELS / 5 } else { KERNELS };
    let folder = paths::cache("pressure");
    fs::create_dir_all(&folder)?;
    let (mut compared, mut spilling, mut bytes) = (0, 0, 0);
    let mut without_list = Agreement::default();
    for compiler in COMPILERS {
        let ptxas = fixtures::tool(compiler)?;
        for number in 0..kernels {
            for target in TARGETS {
                let ptx = folder.join("kernel.ptx");
                fs::write(&ptx, source(&recipe(number), target)?)?;
                let cubin = folder.join("kernel.cubin");
                let mut command = Command::new(&ptxas);
                command.args(["-v", "-arch", target, "-o"]).arg(&cubin).arg(&ptx);
                let said = process::output(&mut command).with_context(|| format!("kernel {number} for {target}"))?;
                let said = String::from_utf8_lossy(&said.stderr).into_owned() + &String::from_utf8_lossy(&said.stdout);
                let theirs = (sum(&said, "bytes spill stores"), sum(&said, "bytes spill loads"));
                let cubin = fs::read(&cubin)?;
                without_list.add(&Cubin::parse(&cubin)?, &cubin)?;
                let ours = ours(&cubin)?;
                ensure!(
                    ours == theirs,
                    "kernel {number} by {compiler} for {target}: {ours:?} bytes stored and loaded here, ptxas says {theirs:?}"
                );
                compared += 1;
                spilling += usize::from(theirs != (0, 0));
                bytes += theirs.0 + theirs.1;
            }
        }
    }
    println!(
        "register pressure: {compared} kernels, {spilling} of them spill {bytes} bytes in all, equal to ptxas's to the byte; \
         stack accesses alone give the same for {} of {}",
        without_list.equal, without_list.spilling
    );
    ensure!(spilling * 2 > compared, "too few of the kernels spill to prove anything");
    Ok(())
}

/// Bytes stored and loaded by the kernel and the function it calls.
fn ours(cubin: &[u8]) -> anyhow::Result<(u32, u32)> {
    let file = File { name: "kernel.cubin", source: &cubin, companion: None };
    let mut kernels = Vec::new();
    let outcome = inspect(&file, &Memory, &InspectOptions::default(), &identity, &mut |event| {
        if let Event::Kernels(records) = event {
            kernels.extend(records);
        }
    });
    ensure!(outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
    let [kernel] = kernels.as_slice() else { anyhow::bail!("{} kernels", kernels.len()) };
    let spills = &kernel.spills;
    let annotated = spills.source == Some("annotations") && spills.unlisted_bytes == Some(0);
    ensure!(annotated, "not all spills are annotated: {spills:?}");
    spills.store_bytes.zip(spills.load_bytes).context("spill bytes")
}

/// The sum of `8 bytes spill stores` over all functions.
fn sum(said: &str, what: &str) -> u32 {
    let before = said.split(what).collect::<Vec<_>>();
    let count = |text: &&str| text.trim_end().rsplit(' ').next().and_then(|number| number.parse::<u32>().ok());
    before[..before.len().saturating_sub(1)].iter().filter_map(count).sum()
}

/// A kernel that loads its values, mixes each with others in nested loops, and stores them all.
fn source(recipe: &Recipe, target: &str) -> anyhow::Result<String> {
    let Recipe { values, wide, registers, loops, in_callee } = recipe;
    let (kind, bytes, register) = if *wide { ("f64", 8, "fd") } else { ("f32", 4, "f") };
    let mut body = String::new();
    for value in 0..*values {
        writeln!(body, "ld.global.{kind} %{register}{value}, [%rd1+{}];", value * bytes)?;
    }
    for level in 0..*loops {
        writeln!(body, "mov.u32 %r{level}, 0;\nLOOP{level}:")?;
    }
    for value in 0..*values {
        let (other, third) = ((value * 7 + 3) % values, (value * 11 + 5) % values);
        writeln!(
            body,
            "fma.rn.{kind} %{register}{value}, %{register}{other}, %{register}{third}, %{register}{value};"
        )?;
    }
    for level in (0..*loops).rev() {
        writeln!(
            body,
            "add.u32 %r{level}, %r{level}, 1;\nsetp.lt.u32 %p{level}, %r{level}, %r9;\n@%p{level} bra LOOP{level};"
        )?;
    }
    for value in 0..*values {
        writeln!(body, "st.global.{kind} [%rd1+{}], %{register}{value};", value * bytes)?;
    }
    let declared = ".reg .f32 %f<100>; .reg .f64 %fd<100>; .reg .b32 %r<10>; .reg .b64 %rd<4>; .reg .pred %p<4>;";
    let head = format!(".version 8.8\n.target {target}\n.address_size 64\n");
    let entry = format!(".visible .entry kernel(.param .u64 data, .param .u32 rounds)\n.maxnreg {registers}\n");
    let load = "ld.param.u64 %rd1, [data];\nld.param.u32 %r9, [rounds];\n";
    if !in_callee {
        return Ok(format!("{head}{entry}{{\n{declared}\n{load}{body}ret;\n}}\n"));
    }
    let load_in_callee = "ld.param.u64 %rd1, [pointer];\nld.param.u32 %r9, [count];\n";
    let callee =
        format!(".func work(.param .u64 pointer, .param .u32 count)\n{{\n{declared}\n{load_in_callee}{body}ret;\n}}\n");
    let call =
        "{ .param .u64 a; .param .u32 b; st.param.u64 [a], %rd1; st.param.u32 [b], %r9; call.uni work, (a, b); }\n";
    // Called twice, so that it is not put in line.
    Ok(format!("{head}{callee}{entry}{{\n{declared}\n{load}{call}add.u64 %rd1, %rd1, 4096;\n{call}ret;\n}}\n"))
}
