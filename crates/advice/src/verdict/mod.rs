//! VERDICT: was occupancy the limit of a measured launch? One rule a file; the first that holds gives the label, in the
//! order of [`RULES`], and every other thing worth knowing is a finding.
//!
//! For: turning a profiler's numbers into a label, findings and the evidence for them. Not for: reading reports
//! (`occupant-profile`), or predicting: nothing here is modelled.

mod cannot_tell;
mod enough;
mod facts;
mod grid;
mod imbalance;
mod lanes;
mod latency;
mod nvidia;
mod roofline;
mod stalls;
mod step;
pub mod thresholds;
mod throughput;
mod warps_help;

use occupant_profile::Measurement;

pub use facts::{Fact, Facts, Use};
pub use roofline::{Position, Roofline};
pub use stalls::{Mix, REASONS, Reason, Stall, Warps};
pub use step::Step;

/// What limited a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label {
    /// A unit is close to its ceiling.
    ThroughputBound,
    /// Too few blocks to fill the GPU.
    GridTooSmall,
    /// Achieved occupancy is far under the theoretical one.
    Imbalance,
    /// Warps wait for latencies that more of them would hide, and more are to be had.
    LatencyBoundWarpsHelp,
    /// Warps wait for something that more of them would not change, or no more are to be had.
    LatencyBoundOther,
    /// The schedulers have warps to choose from.
    EnoughWarps,
    /// What would decide was not measured.
    CannotTell,
}

impl Label {
    /// Every label, in the order of the documentation.
    pub const ALL: [Self; 7] = [
        Self::ThroughputBound,
        Self::GridTooSmall,
        Self::Imbalance,
        Self::LatencyBoundWarpsHelp,
        Self::LatencyBoundOther,
        Self::EnoughWarps,
        Self::CannotTell,
    ];

    /// Its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ThroughputBound => "throughput_bound",
            Self::GridTooSmall => "grid_too_small",
            Self::Imbalance => "imbalance",
            Self::LatencyBoundWarpsHelp => "latency_bound_warps_help",
            Self::LatencyBoundOther => "latency_bound_other",
            Self::EnoughWarps => "enough_warps",
            Self::CannotTell => "cannot_tell",
        }
    }
}

/// Whether a higher theoretical occupancy would make the launch faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WouldHelp {
    /// Yes.
    Yes,
    /// No.
    No,
    /// The measurement does not tell.
    Unknown,
}

impl WouldHelp {
    /// Its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

/// One number that a verdict rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The metric.
    pub metric: String,
    /// Its value.
    pub value: f64,
    /// What it says here.
    pub says: String,
}

/// What a rule found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judged {
    label: Label,
    help: WouldHelp,
    /// The finding, in one sentence.
    says: String,
    evidence: Vec<Evidence>,
}

/// The verdict on a launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// What limited it.
    pub label: Label,
    /// Whether more occupancy would help.
    pub help: WouldHelp,
    /// The sentence to read first.
    pub says: String,
    /// Everything else worth knowing, the most important first.
    pub findings: Vec<String>,
    /// The numbers.
    pub evidence: Vec<Evidence>,
    /// Flags of the profiler that would have measured what is missing.
    pub missing: Vec<&'static str>,
    /// Why warps wait.
    pub mix: Mix,
    /// Where the launch stands under the roofline.
    pub roofline: Option<Roofline>,
    /// The step to the next block, where more warps help.
    pub step: Option<Step>,
}

type Rule = fn(&Facts<'_>) -> Option<Judged>;

/// The rules in their order. What is full comes first: nothing else can make it faster. Then what the launch itself lacks,
/// then whether the schedulers have warps to choose from, then what the warps wait for.
const RULES: [Rule; 7] = [
    throughput::judge,
    grid::judge,
    enough::judge,
    latency::judge_dominant,
    imbalance::judge,
    warps_help::judge,
    latency::judge,
];

/// The verdict on a measurement.
#[must_use]
pub fn verdict(measured: &Measurement) -> Verdict {
    let facts = Facts::of(measured);
    let judged = RULES.iter().find_map(|rule| rule(&facts)).unwrap_or_else(|| cannot_tell::judge(&facts));
    let step = step::of(&facts).filter(|_| judged.label == Label::LatencyBoundWarpsHelp);
    let mut findings = Vec::new();
    findings.extend(step.as_ref().map(|step| step.says.clone()));
    findings.extend(roofline::finding(&facts));
    findings.extend(lanes::findings(&facts));
    findings.extend(nvidia::contradictions(&facts, &judged));
    Verdict {
        label: judged.label,
        help: judged.help,
        says: judged.says,
        findings,
        evidence: judged.evidence,
        missing: cannot_tell::missing(&facts),
        roofline: roofline::of(&facts),
        step,
        mix: facts.mix,
    }
}

/// Evidence of a fact.
fn shown(fact: Fact, says: impl Into<String>) -> Evidence {
    Evidence { metric: fact.metric.to_owned(), value: fact.value, says: says.into() }
}

/// Evidence of a unit.
fn unit_shown(used: &Use) -> Evidence {
    let of = if used.of_active { "while its SM has warps" } else { "of the launch" };
    Evidence {
        metric: used.metric.to_owned(),
        value: used.percent,
        says: format!("{} busy, percent of its peak {of}", used.unit),
    }
}

/// The stalls worth telling, as evidence.
fn stalls_shown(mix: &Mix) -> Vec<Evidence> {
    let worth = mix.stalls.iter().filter(|stall| stall.reason.warps != Warps::Ready);
    let told = worth.take_while(|stall| stall.share >= thresholds::WORTH_TELLING).take(3);
    let name = |stall: &Stall| match mix.counted {
        true => format!("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", stall.reason.name),
        false => format!("smsp__pcsamp_warps_issue_stalled_{}", stall.reason.name),
    };
    let evidence = |stall: &Stall| Evidence {
        metric: name(stall),
        value: stall.value,
        says: format!("{:.0} % of the warps' time: waits for {}", stall.share * 100.0, stall.reason.waits_for),
    };
    told.map(evidence).collect()
}

/// The part of the words about stalls that a finding ends with.
fn mostly(mix: &Mix) -> String {
    mix.top().map_or_else(String::new, |top| {
        format!("warps wait mostly for {} ({:.0} % of their time)", top.reason.waits_for, top.share * 100.0)
    })
}
