//! CPU time of modelling a whole library, each of its architectures on a GPU of it. CPU time is that of one core, however
//! many the program uses.

use anyhow::{Context, ensure};

use super::questions::cpu_ms;
use crate::{paths, wheels};

/// One GPU with published latencies for each architecture of the library.
const GPUS: [&str; 7] = ["t4", "a100-sxm4-80gb", "a10", "l40", "h100-sxm", "b200-sxm", "rtx-5090"];
/// CPU milliseconds allowed for all of them together.
const LIMIT: f64 = 1000.0;

pub(super) fn run(rounds: usize) -> anyhow::Result<()> {
    let program = paths::program()?;
    let wheel = wheels::unpacked("bitsandbytes==0.50.2")?;
    let library = wheel.join("bitsandbytes/libbitsandbytes_cuda130.so");
    let library = library.to_string_lossy();
    let mut arguments = vec!["need", &library, "--format", "csv"];
    GPUS.iter().for_each(|gpu| arguments.extend(["--gpu", gpu]));
    let spent = cpu_ms(&program, &arguments, "1", rounds).context("need of bitsandbytes")?;
    println!(
        "need of bitsandbytes cuda130, 788,072 instructions of 7 architectures: {spent:.0} ms of CPU, {LIMIT} allowed"
    );
    ensure!(spent < LIMIT, "the model takes {spent:.0} ms of CPU");
    Ok(())
}
