//! VERDICT: was occupancy the limit of a measured launch? One rule a file; the first that holds gives the label, in the
//! order of `RULES`, and every other thing worth knowing is a finding.
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
pub use step::{Step, measured_shape};

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
    /// How busy units are, the busiest first.
    pub units: Vec<Use>,
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
    findings.extend(step.as_ref().and_then(|_| warps_help::room(&facts)));
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
        units: facts.units,
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

#[cfg(test)]
mod tests {
    use occupant_profile::Flavour;

    use super::*;

    /// A launch on 100 SMs, well filled, with nothing near its ceiling; `changes` are set on top.
    fn launch(changes: &[(&str, f64)]) -> Measurement {
        let mut measured = Measurement::new(Flavour::Report, "kernel".to_owned());
        let usual = [
            ("launch__grid_size", 4000.0),
            ("launch__block_size", 256.0),
            ("launch__registers_per_thread", 96.0),
            ("launch__waves_per_multiprocessor", 20.0),
            ("device__attribute_multiprocessor_count", 100.0),
            ("sm__maximum_warps_per_active_cycle_pct", 25.0),
            ("sm__warps_active.avg.pct_of_peak_sustained_active", 24.0),
            ("sm__throughput.avg.pct_of_peak_sustained_elapsed", 30.0),
            ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 40.0),
            ("smsp__issue_active.avg.per_cycle_active", 0.3),
            ("smsp__warps_eligible.avg.per_cycle_active", 0.4),
            ("smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 10.0),
            ("smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", 2.0),
            ("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 1.0),
            ("smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", 1.0),
        ];
        for (metric, value) in usual.iter().chain(changes) {
            measured.metrics.insert((*metric).to_owned(), *value);
        }
        measured
    }

    fn label(changes: &[(&str, f64)]) -> (Label, WouldHelp) {
        let found = verdict(&launch(changes));
        (found.label, found.help)
    }

    #[test]
    fn each_rule_and_its_edge() {
        assert_eq!(label(&[]), (Label::LatencyBoundWarpsHelp, WouldHelp::Yes));
        let memory = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
        assert_eq!(label(&[(memory, 80.0)]), (Label::ThroughputBound, WouldHelp::No));
        assert_eq!(label(&[(memory, 79.9)]).0, Label::LatencyBoundWarpsHelp);
        let waves = "launch__waves_per_multiprocessor";
        assert_eq!(label(&[(waves, 0.89)]), (Label::GridTooSmall, WouldHelp::No));
        assert_eq!(label(&[(waves, 0.9)]).0, Label::LatencyBoundWarpsHelp);
        assert_eq!(label(&[("launch__grid_size", 99.0)]).0, Label::GridTooSmall);
        let issue = ("smsp__issue_active.avg.per_cycle_active", 0.6);
        assert_eq!(
            label(&[issue, ("smsp__warps_eligible.avg.per_cycle_active", 1.0)]),
            (Label::EnoughWarps, WouldHelp::No)
        );
        assert_eq!(label(&[issue, ("smsp__warps_eligible.avg.per_cycle_active", 0.9)]).0, Label::LatencyBoundWarpsHelp);
        let achieved = "sm__warps_active.avg.pct_of_peak_sustained_active";
        assert_eq!(label(&[(achieved, 14.9)]), (Label::Imbalance, WouldHelp::No));
        assert_eq!(label(&[(achieved, 15.1)]).0, Label::LatencyBoundWarpsHelp);
        let barrier = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio";
        assert_eq!(label(&[(barrier, 12.1)]), (Label::LatencyBoundOther, WouldHelp::No));
        assert_eq!(label(&[(barrier, 11.9)]).0, Label::LatencyBoundWarpsHelp);
        let full = [("sm__maximum_warps_per_active_cycle_pct", 100.0), (achieved, 95.0)];
        assert_eq!(label(&full), (Label::LatencyBoundOther, WouldHelp::No));
    }

    #[test]
    fn what_was_not_measured_is_asked_for() {
        let mut measured = launch(&[]);
        measured.metrics.retain(|metric, _| !metric.contains("stalled"));
        let found = verdict(&measured);
        assert_eq!((found.label, found.help), (Label::CannotTell, WouldHelp::Unknown));
        assert_eq!(found.missing, ["--section WarpStateStats"]);
        measured.metrics.insert("sm__maximum_warps_per_active_cycle_pct".to_owned(), 100.0);
        measured.metrics.remove("sm__warps_active.avg.pct_of_peak_sustained_active");
        let found = verdict(&measured);
        assert_eq!((found.label, found.help), (Label::CannotTell, WouldHelp::No));
        assert_eq!(verdict(&Measurement::new(Flavour::Report, String::new())).missing.len(), 5);
    }

    #[test]
    fn a_rule_of_nvidia_that_the_evidence_denies_is_told() {
        let mut measured = launch(&[("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 91.0)]);
        measured.said.push(occupant_profile::Said {
            rule: "TheoreticalOccupancy".to_owned(),
            text: String::new(),
            speedup: Some((occupant_profile::ncu::SpeedupKind::Local, 75.0)),
        });
        let told = |found: &Verdict| found.findings.iter().any(|finding| finding.contains("TheoreticalOccupancy"));
        assert!(told(&verdict(&measured)));
        measured.metrics.insert("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed".to_owned(), 40.0);
        assert!(!told(&verdict(&measured)), "there the rule is right");
    }

    #[test]
    fn what_can_not_be_true_is_not_measured() {
        let waves = "launch__waves_per_multiprocessor";
        for impossible in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
            assert_eq!(label(&[(waves, impossible)]).0, Label::LatencyBoundWarpsHelp, "{impossible} waves");
        }
        assert_eq!(label(&[("sm__throughput.avg.pct_of_peak_sustained_elapsed", 1e23)]).0, Label::CannotTell);
        assert_eq!(label(&[("launch__grid_size", 0.0)]).0, Label::LatencyBoundWarpsHelp);
    }

    #[test]
    fn idle_lanes_need_no_measurement() {
        let mut measured = Measurement::new(Flavour::Report, "kernel".to_owned());
        measured.metrics.insert("launch__block_size".to_owned(), 1.0);
        let found = verdict(&measured).findings;
        assert!(found.iter().any(|finding| finding.contains("31 of 32 lanes")), "{found:?}");
    }

    #[test]
    fn a_tail_is_told_by_its_size() {
        let achieved = "sm__warps_active.avg.pct_of_peak_sustained_active";
        let waves = "launch__waves_per_multiprocessor";
        let theory = ("sm__maximum_warps_per_active_cycle_pct", 60.0);
        let says = |changes: &[(&str, f64)]| verdict(&launch(changes)).says;
        // 1.5 waves take the time of 2: three quarters of 60 %.
        assert!(says(&[theory, (waves, 1.5), (achieved, 45.0)]).contains("a last wave that fills 50 % of its places"));
        let early = says(&[theory, (waves, 1.5), (achieved, 15.0)]);
        assert!(early.contains("the last wave alone would leave 45 %"), "{early}");
    }

    #[test]
    fn reasons_are_known_once() {
        let mut names: Vec<&str> = REASONS.iter().map(|reason| reason.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), REASONS.len());
    }
}
