//! The report's occupancy limits against this project's engine: each disagreement explained, or flagged as unexplained.

use occupant_advice::verdict::measured_shape;
use occupant_hardware::limits;
use occupant_occupancy::{Carveout, Occupancy, Shape, occupancy};
use occupant_profile::Measurement;

use super::Profiled;
use crate::report::ReconcileRecord;

/// The least registers of a thread that a driver reports: 198 of 199 public launches are `max(16, the binary's)`.
const LEAST_REGISTERS: u32 = 16;
/// How far percentages may be apart and be the same number, rounded.
const SAME_PERCENT: f64 = 0.01;

/// Occupancy by the engine, with the SM's largest carve-out and with the one of the launch.
pub(crate) fn engine(measured: &Measurement) -> Option<(Occupancy, Option<Occupancy>)> {
    let limits = limits(measured.capability?).ok()?;
    let shape = measured_shape(measured)?;
    let with = |carveout| occupancy(limits, &Shape { carveout, ..shape }).ok();
    let config = measured.get("launch__shared_mem_config_size").filter(|bytes| *bytes > 0.0).map(|bytes| bytes as u32);
    Some((with(Carveout::Default)?, config.and_then(|config| with(Carveout::Bytes(config)))))
}

/// Everything that differs.
pub(super) fn reconcile(profiled: &Profiled) -> Vec<ReconcileRecord> {
    let measured = &profiled.measured;
    let mut found = binary(profiled);
    let Some((ours, chosen)) = engine(measured) else { return found };
    let ceilings = |occupancy: &Occupancy| {
        let all = &occupancy.ceilings;
        [
            ("warps", Some(all.warps)),
            ("blocks", Some(all.blocks)),
            ("registers", all.registers),
            ("shared_memory", all.shared_memory),
            ("barriers", all.barriers),
        ]
    };
    let most = ours.ceilings.blocks;
    for (number, (what, ceiling)) in ceilings(&ours).into_iter().enumerate() {
        let metric = if what == "shared_memory" { "shared_mem" } else { what };
        let Some(report) = measured.get(&format!("launch__occupancy_limit_{metric}")) else { continue };
        // What bounds nothing is the number of block slots in reports.
        let mine = ceiling.unwrap_or(most);
        // Reports cap every limit at the block slots.
        if report == f64::from(mine) || report == f64::from(mine.min(most)) {
            continue;
        }
        let with_chosen = chosen.as_ref().and_then(|chosen| ceilings(chosen).get(number).and_then(|(_, found)| *found));
        let explained = match what {
            "shared_memory" if with_chosen.map(f64::from) == Some(report) => {
                let config = measured.get("launch__shared_mem_config_size").unwrap_or(0.0);
                Some(format!(
                    "the driver chose a carve-out of {:.0} KiB for this launch; `occupant` takes the largest unless told",
                    config / 1024.0
                ))
            }
            _ => None,
        };
        found.push(ReconcileRecord { what, report, ours: f64::from(mine), explained });
    }
    if let Some(report) = measured.get("sm__maximum_warps_per_active_cycle_pct")
        && (report - ours.percent()).abs() > SAME_PERCENT
    {
        let with_chosen = chosen.filter(|chosen| (report - chosen.percent()).abs() <= SAME_PERCENT);
        let explained = with_chosen.map(|_| "the carve-out that the driver chose for this launch".to_owned());
        found.push(ReconcileRecord { what: "theoretical_percent", report, ours: ours.percent(), explained });
    }
    found
}

/// What the binary fixes against what was launched.
fn binary(profiled: &Profiled) -> Vec<ReconcileRecord> {
    let Some(function) = &profiled.function else { return Vec::new() };
    let mut found = Vec::new();
    let measured = |metric: &str| profiled.measured.get(metric);
    if let (Some(report), Some(ours)) = (measured("launch__registers_per_thread"), function.registers)
        && report != f64::from(ours)
    {
        let explained = if report == f64::from(ours.max(LEAST_REGISTERS)) {
            Some(format!("drivers report at least {LEAST_REGISTERS}"))
        } else if function.externals.is_empty() {
            None
        } else {
            Some(format!(
                "it calls code outside its file ({}), whose needs the loader adds",
                function.externals.join(", ")
            ))
        };
        found.push(ReconcileRecord { what: "binary_registers", report, ours: f64::from(ours), explained });
    }
    if let Some(report) = measured("launch__shared_mem_per_block_static")
        && report != f64::from(function.shared_static)
    {
        let ours = f64::from(function.shared_static);
        found.push(ReconcileRecord { what: "binary_shared", report, ours, explained: None });
    }
    found
}
