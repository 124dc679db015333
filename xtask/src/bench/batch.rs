//! `occupant calc --batch` with a million lines.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};

use anyhow::ensure;
use occupant_hardware::{Rules, limit_rows};
use occupant_occupancy::Carveout;

use super::{median, seconds};
use crate::oracle::points::{Random, mixed};
use crate::{paths, process};

const LINES: usize = 1_000_000;

pub(super) fn run(rounds: usize) -> anyhow::Result<()> {
    let file = paths::cache("batch.csv");
    fs::create_dir_all(paths::cache(""))?;
    fs::write(&file, input())?;
    let program = paths::program()?;
    let mut times = Vec::new();
    for _ in 0..rounds {
        let mut command = Command::new(&program);
        command.args(["calc", "--batch"]).arg(&file).stdout(Stdio::piped());
        let (spent, output) = seconds(|| process::output(&mut command))?;
        let lines = output.stdout.iter().filter(|byte| **byte == b'\n').count();
        ensure!(lines == LINES + 1, "{lines} lines came back");
        times.push(spent);
    }
    println!("calc --batch: {LINES} lines in {:.2} s", median(times));
    Ok(())
}

fn input() -> String {
    let rows = limit_rows(Rules::Cuda13_5);
    let mut random = Random::new(11);
    let mut text = "cc,registers,block,shared_static,shared_dynamic,barriers,virtual_resources,carveout\n".to_owned();
    for line in 0..LINES {
        let limits = &rows[line % rows.len()];
        let shape = mixed(limits, &mut random);
        let carveout = match shape.carveout {
            Carveout::Percent(percent) => format!("{percent}%"),
            Carveout::Default | Carveout::Bytes(_) => "default".to_owned(),
        };
        // A string takes everything that is written to it.
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{carveout}",
            limits.capability,
            shape.registers_per_thread,
            shape.threads_per_block,
            shape.shared_static,
            shape.shared_dynamic,
            shape.barriers,
            shape.virtual_resources,
        );
    }
    text
}
