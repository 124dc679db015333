//! What makes a launch do more than it needs: idle lanes, half-used sectors, bank conflicts, spills. Findings, no labels.

use super::facts::Facts;
use super::thresholds::{CONFLICTS, FULL_WARP, USED_OF_SECTOR};

pub(super) fn findings(facts: &Facts<'_>) -> Vec<String> {
    [spills(facts), idle_lanes(facts), scattered(facts), conflicts(facts)].into_iter().flatten().collect()
}

fn idle_lanes(facts: &Facts<'_>) -> Option<String> {
    // A block that is no whole warp needs no measurement.
    if let Some(block) = facts.measured.threads().filter(|block| (1..32).contains(block)) {
        let threads = if block == 1 { "thread" } else { "threads" };
        return Some(format!(
            "a block of {block} {threads} leaves {} of 32 lanes of its warp idle: use whole warps",
            32 - block
        ));
    }
    let threads = facts.measured.get("smsp__thread_inst_executed_per_inst_executed.ratio")?;
    let says = format!("{threads:.1} of 32 threads take part in an instruction on average: branches split the warps");
    (threads < FULL_WARP && threads > 0.0).then_some(says)
}

fn scattered(facts: &Facts<'_>) -> Option<String> {
    let used = |kind: &str| {
        let metric = format!("smsp__sass_average_data_bytes_per_sector_mem_global_op_{kind}.ratio");
        facts.measured.get(&metric).filter(|bytes| *bytes > 0.0 && *bytes < USED_OF_SECTOR)
    };
    let (loads, stores) = (used("ld"), used("st"));
    let says = |what: &str, bytes: f64| {
        format!("{what} use {bytes:.1} of the 32 bytes of each sector they move: coalesce them")
    };
    match (loads, stores) {
        (Some(bytes), _) => Some(says("global loads", bytes)),
        (None, Some(bytes)) => Some(says("global stores", bytes)),
        (None, None) => None,
    }
}

fn conflicts(facts: &Facts<'_>) -> Option<String> {
    let conflicts = facts.measured.get("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum")?;
    let all = facts.measured.get("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum").filter(|all| *all > 0.0)?;
    let share = conflicts / all;
    let says = format!("{:.0} % of the passes over shared memory are for bank conflicts", share * 100.0);
    (share >= CONFLICTS).then_some(says)
}

fn spills(facts: &Facts<'_>) -> Option<String> {
    let loads =
        facts.measured.first(&["smsp__sass_inst_executed_op_local_ld.sum", "smsp__inst_executed_op_local_ld.sum"]);
    let stores =
        facts.measured.first(&["smsp__sass_inst_executed_op_local_st.sum", "smsp__inst_executed_op_local_st.sum"]);
    let executed = facts.measured.get("smsp__inst_executed.sum").filter(|all| *all > 0.0)?;
    let local = loads.map_or(0.0, |(_, value)| value) + stores.map_or(0.0, |(_, value)| value);
    let share = local / executed * 100.0;
    let says = format!(
        "{share:.1} % of its instructions access the stack: spilled registers or local arrays; more registers a thread would \
         save them, where occupancy is not the limit"
    );
    (share >= 1.0).then_some(says)
}
