//! Register caps of launch bounds, and when `setmaxnreg` counts, against `ptxas`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context, ensure};
use occupant_binary::Cubin;
use occupant_core::report::BudgetVerdict;
use occupant_core::{BudgetRequest, GpuSelector, LaunchBounds, Rules, Target, budget};
use occupant_hardware::{Architecture, SmLimits, limits};
use occupant_occupancy::register_cap;

use crate::{fixtures, paths, process};

const TARGETS: [&str; 4] = ["sm_80", "sm_90", "sm_100", "sm_120"];
/// Pairs of threads and minimum blocks, a target.
const PAIRS: usize = 200;
const COMPILER: &str = "ptxas-13.5.37";

/// Pairs in a fixed order: every size of whole warps and some between, minimums from 1 to over the limit.
fn pair(number: usize) -> (u32, u32) {
    let number = u32::try_from(number).unwrap_or(0);
    let warps = 1 + (number * 7) % 32;
    let threads = warps * 32 - if number.is_multiple_of(5) { 13 } else { 0 };
    let most = 2048 / threads;
    (threads, 1 + (number * 3 + number / 32) % (most + most / 4 + 1))
}

/// Compares the caps of [`PAIRS`] pairs on each target.
pub(super) fn caps() -> anyhow::Result<()> {
    for target in TARGETS {
        let architecture: Architecture = target.parse().map_err(|_| anyhow::anyhow!("{target}"))?;
        let limits = limits(architecture.capability)?;
        let (compared, ignored) = target_caps(target, limits)?;
        println!(
            "{COMPILER}, {target}: {compared} pairs of launch bounds, 0 caps differ; {ignored} of them are ignored, by both"
        );
    }
    Ok(())
}

fn target_caps(target: &str, limits: &SmLimits) -> anyhow::Result<(usize, usize)> {
    let pairs: BTreeSet<(u32, u32)> = (0..PAIRS * 2).map(pair).take(PAIRS * 2).collect();
    let pairs: Vec<(u32, u32)> = pairs.into_iter().take(PAIRS).collect();
    ensure!(pairs.len() == PAIRS, "{} different pairs", pairs.len());
    let mut ptx = format!(".version 8.8\n.target {target}\n.address_size 64\n");
    for (number, (threads, min_blocks)) in pairs.iter().enumerate() {
        writeln!(ptx, ".visible .entry k{number}()\n.maxntid {threads}, 1, 1\n.minnctapersm {min_blocks}\n{{ ret; }}")?;
    }
    let (cubin, said) = compiled(&ptx, target)?;
    let cubin = Cubin::parse(&cubin)?;
    let mut ignored = 0;
    for (number, (threads, min_blocks)) in pairs.iter().enumerate() {
        let name = format!("k{number}");
        let function = cubin.functions.iter().find(|function| function.name == name).context(name.clone())?;
        let ours = register_cap(limits, *threads, *min_blocks);
        let dropped = said.contains(&format!("for entry {name} is out of range"));
        ensure!(
            dropped == ours.is_none(),
            "{target}, ({threads}, {min_blocks}): ptxas {} the minimum, not so here",
            if dropped { "drops" } else { "obeys" }
        );
        ignored += usize::from(dropped);
        // A dropped minimum leaves the cap of the block alone.
        let expected = ours.or_else(|| register_cap(limits, *threads, 1));
        ensure!(
            function.max_registers == expected,
            "{target}, ({threads}, {min_blocks}): cap {expected:?} here, {:?} by ptxas",
            function.max_registers
        );
    }
    Ok((pairs.len(), ignored))
}

fn compiled(ptx: &str, target: &str) -> anyhow::Result<(Vec<u8>, String)> {
    let folder = paths::cache("caps");
    fs::create_dir_all(&folder)?;
    let (source, output) = (folder.join("kernels.ptx"), folder.join("kernels.cubin"));
    fs::write(&source, ptx)?;
    let mut command = Command::new(fixtures::tool(COMPILER)?);
    command.args(["-v", "-arch", target, "-o"]).arg(&output).arg(&source);
    let said = process::output(&mut command)?;
    let said = String::from_utf8_lossy(&said.stderr).into_owned() + &String::from_utf8_lossy(&said.stdout);
    Ok((fs::read(&output)?, said))
}

/// Compares when requests count, and the registers at launch, for kernels with requests under many bounds.
pub(super) fn requests() -> anyhow::Result<()> {
    let gpu: GpuSelector = "sm_90a".parse()?;
    let target = Target::named(&gpu, Rules::default())?;
    let (mut compared, mut ignored) = (0, 0);
    for warpgroups in 2..=8_u32 {
        let threads = warpgroups * 128;
        for min_blocks in [None, Some(1), Some(2), Some(3), Some(20)] {
            let bounds = Some(LaunchBounds { threads, min_blocks });
            let mut asked = vec![Some(232); warpgroups as usize];
            asked[0] = Some(24);
            let request = BudgetRequest { warpgroups: asked, bounds, ..BudgetRequest::default() };
            let ours = budget(target, &request)?;
            let min = min_blocks.map_or_else(String::new, |blocks| format!(".minnctapersm {blocks}\n"));
            let (cubin, said) = compiled(&kernel(&format!(".maxntid {threads}, 1, 1\n{min}")), "sm_90a")?;
            let cubin = Cubin::parse(&cubin)?;
            let function = cubin.functions.first().context("a kernel")?;
            let dropped = said.contains("C7508");
            let what = format!("bounds ({threads}, {min_blocks:?})");
            ensure!(
                (ours.verdict == BudgetVerdict::Ignored) == dropped,
                "{what}: {:?} here, C7508 {dropped}",
                ours.verdict
            );
            ensure!(function.setmaxnreg != dropped, "{what}: requests in the code although dropped, or the reverse");
            if !dropped {
                ensure!(
                    function.registers == ours.launch_registers,
                    "{what}: {:?} registers at launch here, {:?} by ptxas",
                    ours.launch_registers,
                    function.registers
                );
            }
            compared += 1;
            ignored += usize::from(dropped);
        }
    }
    println!(
        "{COMPILER}, sm_90a: {compared} kernels with setmaxnreg, {ignored} whose requests it drops, the same here; registers at \
         launch equal on the others"
    );
    Ok(())
}

/// One warpgroup gives, the others take.
fn kernel(bounds: &str) -> String {
    format!(
        ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{bounds}{{\n\
         .reg .u32 %r<4>; .reg .pred %q; .reg .u64 %rd<3>;\nmov.u32 %r1, %tid.x;\nsetp.lt.u32 %q, %r1, 128;\n@%q bra A;\n\
         setmaxnreg.inc.sync.aligned.u32 232;\nbra B;\nA: setmaxnreg.dec.sync.aligned.u32 24;\n\
         B: ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\nst.global.u32 [%rd2], %r1;\nret;\n}}\n"
    )
}
