//! Why warps wait: each stall reason in plain words, what it waits for, what changes it, whether more warps do.

use occupant_profile::Measurement;

/// Whether further resident warps hide a kind of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warps {
    /// Yes, as long as what is waited for is not full.
    Hide,
    /// No, or they add to it.
    DontHide,
    /// It is no waiting: the warp issued, or it was ready and another one was picked.
    Ready,
}

/// A stall reason. The words and what helps are this project's reading of NVIDIA's definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason {
    /// Its name in metrics.
    pub name: &'static str,
    /// What the warp waits for.
    pub waits_for: &'static str,
    /// What changes it.
    pub changes: &'static str,
    /// Whether more warps do.
    pub warps: Warps,
}

const fn reason(name: &'static str, warps: Warps, waits_for: &'static str, changes: &'static str) -> Reason {
    Reason { name, waits_for, changes, warps }
}

/// Every reason. `no_instruction` is `no_instructions` where it is sampled.
pub const REASONS: [Reason; 20] = [
    reason(
        "long_scoreboard",
        Warps::Hide,
        "data from global, local, surface or texture memory",
        "more loads in flight per thread (unroll, wider or asynchronous loads), data kept in shared memory",
    ),
    reason(
        "wait",
        Warps::Hide,
        "the fixed latency of the instruction before",
        "independent instructions between (more work per thread), optimised code",
    ),
    reason(
        "short_scoreboard",
        Warps::Hide,
        "shared memory, special functions or dynamic branches",
        "fewer bank conflicts, wider shared accesses, fewer special functions",
    ),
    reason(
        "math_pipe_throttle",
        Warps::DontHide,
        "an arithmetic pipe that is busy",
        "fewer or cheaper operations on that pipe; more warps only queue",
    ),
    reason(
        "mio_throttle",
        Warps::DontHide,
        "a place in the queue to shared memory and special functions",
        "fewer and wider shared accesses; more warps lengthen the queue",
    ),
    reason(
        "lg_throttle",
        Warps::DontHide,
        "a place in the queue to global and local memory",
        "fewer and wider accesses, coalesced; no spills; more warps lengthen the queue",
    ),
    reason(
        "tex_throttle",
        Warps::DontHide,
        "a place in the queue to the texture unit",
        "fewer texture or surface accesses, or loads instead",
    ),
    reason(
        "barrier",
        Warps::DontHide,
        "other warps of the block at a barrier",
        "evener work before the barrier, fewer barriers, smaller blocks so that another block runs meanwhile",
    ),
    reason("membar", Warps::DontHide, "a memory fence", "fewer fences, or a narrower scope"),
    reason(
        "branch_resolving",
        Warps::DontHide,
        "the target of a branch",
        "fewer branches: unrolled loops, predication",
    ),
    reason(
        "no_instruction",
        Warps::DontHide,
        "instructions from the cache",
        "a smaller loop, less unrolling, a longer kernel than a few microseconds",
    ),
    reason(
        "imc_miss",
        Warps::DontHide,
        "a constant that is not in the cache",
        "fewer distinct constants or kernel arguments at the start; it fades in longer kernels",
    ),
    reason(
        "dispatch_stall",
        Warps::DontHide,
        "the dispatcher, which holds ready warps back",
        "it is the hardware's own: look at the pipes that are busiest",
    ),
    reason(
        "drain",
        Warps::DontHide,
        "the last stores, after the end of the warp",
        "coalesced stores, fewer bytes written at the end, longer-lived warps",
    ),
    reason("sleeping", Warps::DontHide, "a sleep that the code asks for", "the code"),
    reason(
        "gmma",
        Warps::DontHide,
        "asynchronous tensor-core work (wgmma)",
        "deeper pipelining of tiles, a second consumer warpgroup",
    ),
    reason(
        "warpgroup_arrive",
        Warps::DontHide,
        "the other warps of the warpgroup",
        "deeper pipelining of tiles, a second consumer warpgroup",
    ),
    reason("misc", Warps::DontHide, "something else in the hardware", "nothing is known of it"),
    reason("not_selected", Warps::Ready, "nothing: it was ready, another warp was picked", "there are enough warps"),
    reason("selected", Warps::Ready, "nothing: it issued", ""),
];

/// A reason with what was measured of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stall {
    /// The reason.
    pub reason: &'static Reason,
    /// Share of the resident warps' time, 0 to 1.
    pub share: f64,
    /// Warps that wait for it at each issue, or samples.
    pub value: f64,
}

/// The mix of reasons of a launch, the largest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mix {
    /// Reasons that were measured.
    pub stalls: Vec<Stall>,
    /// Measured by counters (true) or by samples of program counters.
    pub counted: bool,
}

impl Mix {
    /// The mix of a launch; empty where none was measured.
    #[must_use]
    pub fn of(measured: &Measurement) -> Self {
        let counted = |reason: &Reason| {
            let name = format!("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", reason.name);
            let older = format!("smsp__average_warp_latency_issue_stalled_{}.ratio", reason.name);
            measured.get(&name).or_else(|| measured.get(&older))
        };
        let sampled = |reason: &Reason| {
            let plural = if reason.name == "no_instruction" { "no_instructions" } else { reason.name };
            measured.get(&format!("smsp__pcsamp_warps_issue_stalled_{plural}"))
        };
        let by_counters = Self::from(&counted, true);
        if by_counters.stalls.is_empty() { Self::from(&sampled, false) } else { by_counters }
    }

    fn from(value: &dyn Fn(&Reason) -> Option<f64>, counted: bool) -> Self {
        let measured = |reason: &'static Reason| Some((reason, value(reason).filter(|value| *value >= 0.0)?));
        let found: Vec<(&'static Reason, f64)> = REASONS.iter().filter_map(measured).collect();
        let all: f64 = found.iter().map(|(_, value)| value).sum();
        // A reason alone, asked for by name, is no mix; nor are a few samples.
        let enough = if counted { 0.0 } else { super::thresholds::FEW_SAMPLES };
        if all <= enough || found.len() < 4 {
            return Self::default();
        }
        let mut stalls: Vec<Stall> =
            found.into_iter().map(|(reason, value)| Stall { reason, share: value / all, value }).collect();
        stalls.sort_by(|a, b| b.share.total_cmp(&a.share));
        Self { stalls, counted }
    }

    /// Whether there is one.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        !self.stalls.is_empty()
    }

    /// Share of the waiting, issue and readiness left out, that some kind has.
    #[must_use]
    pub fn of_waiting(&self, warps: Warps) -> f64 {
        let share =
            |kind: Warps| self.stalls.iter().filter(move |stall| stall.reason.warps == kind).map(|stall| stall.share);
        let waiting: f64 = share(Warps::Hide).chain(share(Warps::DontHide)).sum();
        if waiting > 0.0 { share(warps).sum::<f64>() / waiting } else { 0.0 }
    }

    /// A reason's share, 0 where it was not measured.
    #[must_use]
    pub fn share(&self, name: &str) -> f64 {
        self.stalls.iter().find(|stall| stall.reason.name == name).map_or(0.0, |stall| stall.share)
    }

    /// The reason that is waited for most.
    #[must_use]
    pub fn top(&self) -> Option<&Stall> {
        self.stalls.iter().find(|stall| stall.reason.warps != Warps::Ready)
    }
}
