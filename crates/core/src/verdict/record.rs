//! Everything that is known of a launch, as one record.

use occupant_advice::verdict::{Position, Verdict, Warps, verdict};
use occupant_profile::{Measurement, unit};

use super::{Profiled, VerdictOptions, needs, reconcile, waits};
use crate::report::{
    Basis, EvidenceRecord, GpuName, OccupancyRecord, ProfiledLaunch, RooflinePosition, StallRecord, StepToNext,
    UnitRecord, VerdictRecord, two_decimals,
};

pub(super) fn record(file: &str, index: usize, profiled: &Profiled, options: VerdictOptions) -> VerdictRecord {
    let measured = &profiled.measured;
    let found = verdict(measured);
    let need = needs::need(profiled, options.target);
    // Whether one step is enough, where a model says how many are.
    let warps =
        |blocks: u32| blocks.saturating_mul(measured.threads().map_or(1, |threads| threads.div_ceil(32) as u32));
    let after = found.step.as_ref().and_then(|step| step.then).map(warps);
    let asked = after.zip(need.needed).map(|(after, needed)| {
        format!("that is {after} warps; the model asks for {:.0} for {} %", needed.exact_warps, need.target)
    });
    let percent = |metric: &str| measured.get(metric).map(two_decimals);
    VerdictRecord {
        file: file.to_owned(),
        index,
        kernel: measured.name.clone(),
        name: measured.mangled.clone(),
        flavour: measured.flavour.name(),
        profiler: measured.profiler.clone(),
        gpu: gpu(measured),
        launch: launch(measured),
        verdict: found.label.name(),
        occupancy_would_help: found.help.name(),
        says: found.says.clone(),
        evidence: evidence(&found),
        missing: found.missing.clone(),
        have: reconcile::engine(measured).map(|(ours, _)| OccupancyRecord::new(Basis::Exact, &ours)),
        need: Some(need),
        theoretical_percent: percent("sm__maximum_warps_per_active_cycle_pct"),
        achieved_percent: percent("sm__warps_active.avg.pct_of_peak_sustained_active"),
        units: units(&found),
        stalls: stalls(&found),
        waits: waits::waits(profiled),
        roofline: found.roofline.map(roofline),
        step: found.step.map(|step| StepToNext {
            limiters: step.limiters,
            blocks_per_sm: step.blocks,
            then_blocks_per_sm: step.then,
            says: step.says,
        }),
        findings: found.findings.into_iter().chain(asked).collect(),
        reconcile: reconcile::reconcile(profiled),
    }
}

/// The GPU of a measurement: its model where that is known, else as the profiler calls it.
pub(crate) fn gpu(measured: &Measurement) -> Option<GpuName> {
    let name = measured.model().map(|gpu| gpu.id.clone()).or_else(|| measured.gpu.clone());
    let capability = measured.capability.map(|capability| capability.to_string()).unwrap_or_default();
    let name =
        name.or_else(|| measured.capability.map(|capability| format!("sm_{}{}", capability.major, capability.minor)))?;
    Some(GpuName { name, compute_capability: capability })
}

fn launch(measured: &Measurement) -> ProfiledLaunch {
    let whole = |metric: &str| measured.get(metric).filter(|value| *value >= 0.0).map(|value| value as u64);
    ProfiledLaunch {
        grid: measured.grid,
        block: measured.block,
        blocks: measured.blocks(),
        threads: measured.threads(),
        registers: whole("launch__registers_per_thread"),
        shared_static: whole("launch__shared_mem_per_block_static"),
        shared_dynamic: whole("launch__shared_mem_per_block_dynamic"),
        cluster: whole("launch__cluster_size"),
        waves: measured.get("launch__waves_per_multiprocessor").map(two_decimals),
        duration_ns: measured.get("gpu__time_duration.sum").map(two_decimals),
        launches: measured.launches,
    }
}

fn evidence(found: &Verdict) -> Vec<EvidenceRecord> {
    let record = |evidence: &occupant_advice::verdict::Evidence| EvidenceRecord {
        // Shares of a cycle can be a few thousandths.
        value: (evidence.value * 1e4).round() / 1e4,
        unit: unit(&evidence.metric),
        metric: evidence.metric.clone(),
        says: evidence.says.clone(),
    };
    found.evidence.iter().map(record).collect()
}

fn units(found: &Verdict) -> Vec<UnitRecord> {
    let record = |used: &occupant_advice::verdict::Use| UnitRecord {
        unit: used.unit,
        percent: two_decimals(used.percent),
        of_active: used.of_active,
        at_least: used.at_least,
        metric: used.metric,
    };
    found.units.iter().map(record).collect()
}

fn stalls(found: &Verdict) -> Vec<StallRecord> {
    let record = |stall: &occupant_advice::verdict::Stall| StallRecord {
        reason: stall.reason.name,
        percent: two_decimals(stall.share * 100.0),
        waits_for: stall.reason.waits_for,
        changes: stall.reason.changes,
        warps_hide: match stall.reason.warps {
            Warps::Hide => Some(true),
            Warps::DontHide => Some(false),
            Warps::Ready => None,
        },
    };
    found.mix.stalls.iter().map(record).collect()
}

fn roofline(found: occupant_advice::verdict::Roofline) -> RooflinePosition {
    RooflinePosition {
        precision: found.precision,
        bound: match found.position {
            Position::Memory => "memory",
            Position::Compute => "compute",
        },
        gflop_per_s: two_decimals(found.flop_per_s / 1e9),
        peak_gflop_per_s: two_decimals(found.peak_flop_per_s / 1e9),
        gb_per_s: two_decimals(found.bytes_per_s / 1e9),
        peak_gb_per_s: two_decimals(found.peak_bytes_per_s / 1e9),
        flop_per_byte: two_decimals(found.intensity()),
        ridge_flop_per_byte: two_decimals(found.ridge()),
        percent: two_decimals(found.percent()),
    }
}
