//! Our own ladders: the same work with more of it independent must need fewer warps, on every architecture. Not for:
//! measured values; there are none for these kernels.

use anyhow::{Result, anyhow, ensure};
use occupant_hardware::gpus;
use occupant_need::{Constants, Execution, Guarded, Machine, Memory, Scenario, Sources, model};

use super::kernels::Kernels;

/// Rungs, from the one that needs most warps to the one that needs fewest.
const LADDERS: [(&str, &[&str]); 4] = [
    ("loads in flight", &["copy1", "copy2", "copy4", "copy8"]),
    ("wider loads", &["copy1", "copy1x4", "copy4x4"]),
    ("both", &["copy4", "copy4x4"]),
    ("chains of FFMA", &["chain1", "chain4"]),
];

/// One GPU of each architecture that has published latencies and a compiler here.
const GPUS: [&str; 9] =
    ["v100-sxm2-16gb", "t4", "a100-sxm4-80gb", "a10", "l40", "h100-sxm", "h200-sxm", "b200-sxm", "rtx-5090"];

/// Prints what each rung needs for 90 % and fails where a rung needs as many as the one before.
pub(crate) fn check(kernels: &mut Kernels, constants: &Constants) -> Result<()> {
    println!("Warps for 90 % of the ceiling; each rung needs fewer than the one before it");
    for id in GPUS {
        let gpu = gpus().iter().find(|gpu| gpu.id == id).ok_or_else(|| anyhow!("no {id}"))?;
        let machine = Machine::of(gpu)?;
        let mut told = Vec::new();
        for (name, rungs) in LADDERS {
            let mut before = f64::INFINITY;
            let mut needs = Vec::new();
            for rung in rungs {
                let analysis = kernels.get("ladder", gpu.capability, rung)?;
                let execution = Execution::default();
                let sources = Sources { analysis: &analysis, machine: &machine, constants, execution: &execution };
                let scenario = Scenario { memory: Memory::Dram, guarded: Guarded::Executed };
                let found = model(sources, scenario).map_err(|why| anyhow!("{id} {rung}: {why}"))?;
                let needed = found.knee.needed(0.9);
                ensure!(
                    needed < before,
                    "{id}, {name}: {rung} needs {needed:.1} warps, the rung before it {before:.1}"
                );
                needs.push(format!("{needed:.1}"));
                before = needed;
            }
            told.push(format!("{name} {}", needs.join(" > ")));
        }
        println!("  {id:<15} {}", told.join("; "));
    }
    Ok(())
}
