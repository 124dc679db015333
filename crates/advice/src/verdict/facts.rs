//! What a launch's measurement says that the rules look at: each fact under all the names that profilers gave it.

use occupant_hardware::{ComputeCapability, Gpu, Level, StreamKind, ceiling};
use occupant_profile::Measurement;

use super::stalls::Mix;

/// A fact with the metric that it was read from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fact {
    /// The metric.
    pub metric: &'static str,
    /// Its value.
    pub value: f64,
}

/// How busy a unit of the GPU is.
#[derive(Debug, Clone, PartialEq)]
pub struct Use {
    /// The unit, in words.
    pub unit: &'static str,
    /// The metric.
    pub metric: &'static str,
    /// Percent of its peak over the whole time of the launch; of units of an SM where only that is known, over the time
    /// that the SM had warps.
    pub percent: f64,
    /// Of the time that the SM had warps.
    pub of_active: bool,
    /// Percent of what can be had of it, where that is less than the peak.
    pub of_ceiling: Option<f64>,
    /// Only a part of its work was measured.
    pub at_least: bool,
}

/// What is known of a launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts<'a> {
    /// All of it.
    pub measured: &'a Measurement,
    /// The GPU model, where its name says which.
    pub gpu: Option<&'static Gpu>,
    /// Its compute capability.
    pub capability: Option<ComputeCapability>,
    /// Multiprocessors.
    pub sms: Option<f64>,
    /// Waves of blocks.
    pub waves: Option<Fact>,
    /// Theoretical occupancy, percent.
    pub theoretical: Option<Fact>,
    /// Achieved occupancy, percent.
    pub achieved: Option<Fact>,
    /// Share of cycles in which a scheduler issues, 0 to 1.
    pub issue: Option<Fact>,
    /// Warps of a scheduler that are ready in a cycle.
    pub eligible: Option<Fact>,
    /// Units, the busiest first.
    pub units: Vec<Use>,
    /// Why warps wait.
    pub mix: Mix,
}

/// A part of memory's throughput alone.
const REQUESTS: &str = "memory requests";

/// Names of throughput of units over the whole launch; the first name of a unit that was measured counts.
const ELAPSED: [(&str, &[&str]); 8] = [
    (
        "issue slots",
        &["sm__issue_active.avg.pct_of_peak_sustained_elapsed", "sm__inst_executed.avg.pct_of_peak_sustained_elapsed"],
    ),
    ("L2", &["lts__throughput.avg.pct_of_peak_sustained_elapsed"]),
    (
        "DRAM",
        &[
            "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
            "dram__throughput.avg.pct_of_peak_sustained_elapsed",
            "dram__bytes.sum.pct_of_peak_sustained_elapsed",
        ],
    ),
    ("L1", &["l1tex__throughput.avg.pct_of_peak_sustained_elapsed"]),
    ("tensor cores", &["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"]),
    ("the busiest unit of the SM", &["sm__throughput.avg.pct_of_peak_sustained_elapsed"]),
    (REQUESTS, &["gpu__compute_memory_request_throughput.avg.pct_of_peak_sustained_elapsed"]),
    (
        "the busiest part of memory",
        &[
            "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
            "gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed",
        ],
    ),
];

/// The same over the time in which an SM had warps.
const ACTIVE: [(&str, &[&str]); 9] = [
    (
        "issue slots",
        &[
            "sm__inst_issued.avg.pct_of_peak_sustained_active",
            "smsp__issue_active.avg.pct_of_peak_sustained_active",
            "sm__instruction_throughput.avg.pct_of_peak_sustained_active",
        ],
    ),
    ("L1", &["l1tex__throughput.avg.pct_of_peak_sustained_active"]),
    (
        "FMA pipe",
        &[
            "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
            "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
        ],
    ),
    (
        "ALU pipe",
        &[
            "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active",
            "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
        ],
    ),
    (
        "FP64 pipe",
        &[
            "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active",
            "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",
        ],
    ),
    ("XU pipe (special functions, conversions)", &["sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"]),
    ("LSU pipe (load and store)", &["sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active"]),
    ("texture pipe", &["sm__inst_executed_pipe_tex.avg.pct_of_peak_sustained_active"]),
    (
        "tensor cores",
        &[
            "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
            "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
        ],
    ),
];

impl<'a> Facts<'a> {
    /// What a measurement says.
    #[must_use]
    pub fn of(measured: &'a Measurement) -> Self {
        let fact = |names: &[&'static str]| measured.first(names).map(|(metric, value)| Fact { metric, value });
        let gpu = measured.model();
        let per_cycle = fact(&["smsp__issue_active.avg.per_cycle_active"]);
        let percent = fact(&[
            "smsp__issue_active.avg.pct_of_peak_sustained_active",
            "sm__inst_issued.avg.pct_of_peak_sustained_active",
            "sm__issue_active.avg.pct_of_peak_sustained_elapsed",
        ]);
        let issue = per_cycle.or_else(|| percent.map(|fact| Fact { value: fact.value / 100.0, ..fact }));
        let slots = measured.get("device__attribute_max_warps_per_multiprocessor");
        let warps = fact(&["sm__warps_active.avg.per_cycle_active"]);
        let from_warps = warps.zip(slots).map(|(warps, slots)| Fact { value: warps.value / slots * 100.0, ..warps });
        Self {
            measured,
            gpu,
            capability: measured.capability,
            sms: fact(&["launch__sm_count", "device__attribute_multiprocessor_count"])
                .map(|fact| fact.value)
                .or_else(|| gpu?.sm_count.map(f64::from)),
            waves: fact(&["launch__waves_per_multiprocessor"]).filter(|waves| waves.value > 0.0),
            theoretical: fact(&["sm__maximum_warps_per_active_cycle_pct"]),
            achieved: fact(&["sm__warps_active.avg.pct_of_peak_sustained_active"]).or(from_warps),
            issue,
            eligible: fact(&["smsp__warps_eligible.avg.per_cycle_active"]),
            units: units(measured, gpu),
            mix: Mix::of(measured),
        }
    }

    /// Whether anything says how busy the GPU's units were as a whole.
    #[must_use]
    pub fn has_throughput(&self) -> bool {
        let whole = ["sm__throughput", "gpu__compute_memory"];
        whole.iter().all(|start| self.units.iter().any(|used| used.metric.starts_with(start) && used.unit != REQUESTS))
    }

    /// The busiest unit.
    #[must_use]
    pub fn busiest(&self) -> Option<&Use> {
        self.units.first()
    }

    /// The busiest unit with a name of its own, where one is as busy as whatever is busiest.
    #[must_use]
    pub fn busiest_named(&self) -> Option<&Use> {
        let most = self.busiest()?;
        let named = |used: &&Use| !used.unit.starts_with("the busiest") && used.unit != REQUESTS;
        self.units.iter().find(named).filter(|used| used.percent >= most.percent - 1.0).or(Some(most))
    }

    /// Percent of a unit, by its name.
    #[must_use]
    pub fn unit(&self, name: &str) -> Option<&Use> {
        self.units.iter().find(|used| used.unit == name)
    }

    /// Whether all warp slots can be taken by the launch.
    #[must_use]
    pub fn slots_can_be_full(&self) -> bool {
        self.theoretical.is_some_and(|theoretical| theoretical.value >= super::thresholds::FULL)
    }
}

fn units(measured: &Measurement, gpu: Option<&Gpu>) -> Vec<Use> {
    let mut found: Vec<Use> = Vec::new();
    for (names, of_active) in [(&ELAPSED[..], false), (&ACTIVE[..], true)] {
        for (unit, metrics) in names {
            if let Some((metric, percent)) = measured.first(metrics) {
                found.push(Use { unit, metric, percent, of_active, of_ceiling: None, at_least: false });
            }
        }
    }
    if !found.iter().any(|used| used.unit == "DRAM") {
        found.extend(dram_from_parts(measured));
    }
    for used in &mut found {
        if used.unit == "DRAM" {
            let share = gpu.map(|gpu| ceiling(&gpu.id, Level::Dram, StreamKind::Mixed).value);
            used.of_ceiling = share.map(|share| used.percent / share);
        }
    }
    for used in &mut found {
        if used.unit.starts_with("the busiest") {
            used.unit = part(measured, used).unwrap_or(used.unit);
        }
    }
    found.sort_by(|a, b| b.percent.total_cmp(&a.percent).then(a.metric.cmp(b.metric)));
    found
}

/// What the busiest part is: the metric with the same value names it.
fn part(measured: &Measurement, used: &Use) -> Option<&'static str> {
    let same = |value: f64| (value - used.percent).abs() < 1e-6 && value > 0.0;
    let parts = measured.metrics.iter().filter(|(name, _)| {
        name.ends_with(".avg.pct_of_peak_sustained_elapsed")
            && !name.contains("throughput")
            && !name.contains("breakdown")
    });
    let mut names = parts.filter(|(_, value)| same(**value)).map(|(name, _)| name.as_str());
    names.find_map(|name| PARTS.iter().find(|(start, _)| name.starts_with(start)).map(|(_, words)| *words))
}

/// Units by the start of their metrics' names, the longer first.
const PARTS: [(&str, &str); 16] = [
    ("sm__inst_executed_pipe_lsu", "LSU pipe (load and store)"),
    ("sm__inst_executed_pipe_xu", "XU pipe (special functions, conversions)"),
    ("sm__inst_executed_pipe_tex", "texture pipe"),
    ("sm__inst_executed_pipe_adu", "ADU pipe (addresses, barriers)"),
    ("sm__inst_executed_pipe_cbu", "CBU pipe (branches)"),
    ("sm__inst_executed_pipe_uniform", "uniform pipe"),
    ("sm__pipe_fma", "FMA pipe"),
    ("sm__pipe_alu", "ALU pipe"),
    ("sm__pipe_fp64", "FP64 pipe"),
    ("sm__pipe_tensor", "tensor cores"),
    ("sm__mio", "queue to shared memory and special functions"),
    ("sm__inst_executed", "issue slots"),
    ("sm__issue_active", "issue slots"),
    ("l1tex__", "L1"),
    ("lts__", "L2"),
    ("dram__", "DRAM"),
];

/// DRAM's share of its peak from its rate, or from what was read and written; a part alone is a lower bound.
fn dram_from_parts(measured: &Measurement) -> Option<Use> {
    let used =
        |metric, percent, at_least| Use { unit: "DRAM", metric, percent, of_active: false, of_ceiling: None, at_least };
    let of_peak = |rate: f64| measured.dram_peak().map(|peak| rate / peak * 100.0);
    if let Some(percent) = measured.get("dram__bytes.sum.per_second").and_then(of_peak) {
        return Some(used("dram__bytes.sum.per_second", percent, false));
    }
    let seconds = measured.get("gpu__time_duration.sum").filter(|ns| *ns > 0.0).map(|ns| ns / 1e9);
    let part = |percent: &'static str, bytes: &'static str| {
        let derived = || Some((bytes, of_peak(measured.get(bytes)? / seconds?)?));
        measured.get(percent).map(|value| (percent, value)).or_else(derived)
    };
    let read = part("dram__bytes_read.sum.pct_of_peak_sustained_elapsed", "dram__bytes_read.sum");
    let written = part("dram__bytes_write.sum.pct_of_peak_sustained_elapsed", "dram__bytes_write.sum");
    match (read, written) {
        (Some((metric, read)), Some((_, written))) => Some(used(metric, read + written, false)),
        (Some((metric, part)), None) | (None, Some((metric, part))) => Some(used(metric, part, true)),
        (None, None) => None,
    }
}
