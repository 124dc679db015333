//! Where a launch waits: measured cycles of each visit of an instruction beside what it would take alone, and the likely
//! cause of the difference. The measured half is exact arithmetic on samples and counts; the expected half is the code's
//! own timeline.

use occupant_advice::verdict::REASONS;
use occupant_advice::verdict::thresholds::FEW_SAMPLES;
use occupant_binary::line_at;
use occupant_sass::{AccessKind, Analysis, Class, Instruction, Space};

use super::guide::prepare;
use super::{Observed, Profiled};
use crate::report::{Producer, WaitRecord, two_decimals};

/// Share of the samples from which an instruction is told.
const WORTH_TELLING: f64 = 0.02;
/// Instructions that are told, at most.
const MOST: usize = 8;
/// A visit this many times as long as expected, and by so many cycles, has a cause.
const LONGER: (f64, f64) = (1.5, 20.0);

/// Cycles of each visit of each instruction, by number: its share of the samples, times the cycles that all warps lived,
/// over how often it was executed. `None` without samples and counts.
pub(super) fn visit_cycles(profiled: &Profiled, observed: &Observed) -> Option<Vec<f64>> {
    let counts = profiled.by_number("inst_executed")?;
    let samples = samples_by_instruction(profiled)?;
    let all: f64 = samples.iter().sum();
    let lived = observed.lifetime * observed.launched;
    let visit = |(samples, count): (&f64, &f64)| if *count > 0.0 { samples / all * lived / count } else { 0.0 };
    (all > 0.0).then(|| samples.iter().zip(&counts).map(visit).collect())
}

/// Samples of program counters by number of the instruction; `None` where none were taken.
#[must_use]
pub fn samples_by_instruction(profiled: &Profiled) -> Option<Vec<f64>> {
    if let Some(samples) = profiled.by_number("smsp__pcsamp_sample_count") {
        return Some(samples);
    }
    // Older reports list samples by reason only.
    let mut sum: Option<Vec<f64>> = None;
    for (_, metric) in reasons() {
        let Some(listed) = profiled.by_number(&metric) else { continue };
        match &mut sum {
            None => sum = Some(listed),
            Some(sum) => sum.iter_mut().zip(listed).for_each(|(sum, listed)| *sum += listed),
        }
    }
    sum
}

/// Stall reasons with the metric that samples them.
fn reasons() -> impl Iterator<Item = (&'static str, String)> {
    REASONS.iter().map(|reason| {
        let plural = if reason.name == "no_instruction" { "no_instructions" } else { reason.name };
        (reason.name, format!("smsp__pcsamp_warps_issue_stalled_{plural}"))
    })
}

/// The instructions that most samples were taken at, the first first.
pub(super) fn waits(profiled: &Profiled) -> Vec<WaitRecord> {
    let (Ok(analysis), Some(observed)) = (&profiled.code, Observed::of(&profiled.measured)) else { return Vec::new() };
    let (Some(visits), Some(samples)) = (visit_cycles(profiled, &observed), samples_by_instruction(profiled)) else {
        return Vec::new();
    };
    let all: f64 = samples.iter().sum();
    if all < FEW_SAMPLES {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..samples.len()).filter(|number| samples[*number] / all >= WORTH_TELLING).collect();
    order.sort_by(|a, b| samples[*b].total_cmp(&samples[*a]).then(a.cmp(b)));
    order.truncate(MOST);
    let context = Context::new(profiled, analysis, observed);
    order.into_iter().map(|number| context.record(number, samples[number] / all, visits[number])).collect()
}

/// What the records of one launch share.
struct Context<'a> {
    profiled: &'a Profiled,
    analysis: &'a Analysis,
    observed: Observed,
    /// Cycles of a visit alone, by number.
    expected: Option<Vec<f64>>,
    counts: Option<Vec<f64>>,
    by_reason: Vec<(&'static str, Vec<f64>)>,
}

impl<'a> Context<'a> {
    fn new(profiled: &'a Profiled, analysis: &'a Analysis, observed: Observed) -> Self {
        let prepared = prepare(profiled).ok().filter(|prepared| prepared.counted);
        let alone = |prepared: super::guide::Prepared| {
            occupant_need::visit_cycles(analysis, &prepared.machine, &prepared.guide)
        };
        let listed = reasons().filter_map(|(reason, metric)| Some((reason, profiled.by_number(&metric)?)));
        Self {
            profiled,
            analysis,
            observed,
            expected: prepared.map(alone),
            counts: profiled.by_number("inst_executed"),
            by_reason: listed.collect(),
        }
    }

    fn record(&self, number: usize, share: f64, visit: f64) -> WaitRecord {
        let instruction = self.analysis.instructions.get(number);
        let producer = producer(self.analysis, number);
        let expected = self.expected.as_ref().and_then(|expected| expected.get(number)).copied();
        let reason = self.reason(number);
        let longer = expected.is_none_or(|expected| visit > expected * LONGER.0 && visit > expected + LONGER.1);
        let count = self.counts.as_ref().and_then(|counts| counts.get(number)).copied().unwrap_or(0.0);
        WaitRecord {
            offset: instruction.map_or(0, |instruction| instruction.offset),
            instruction: instruction.map_or_else(String::new, |instruction| instruction.mnemonic().to_owned()),
            waits_for: producer
                .map(|producer| Producer { offset: producer.offset, instruction: producer.mnemonic().to_owned() }),
            source: instruction.and_then(|instruction| self.source(instruction.offset)),
            samples_percent: two_decimals(share * 100.0),
            reason,
            executions_per_warp: two_decimals(count / self.observed.launched),
            cycles_per_visit: Some(visit).filter(|_| count > 0.0).map(two_decimals),
            expected_cycles: expected.filter(|_| count > 0.0).map(two_decimals),
            cause: (longer || reason == Some("drain")).then(|| self.cause(number, reason, producer, visit)).flatten(),
        }
    }

    /// `file:line`, without the folder.
    fn source(&self, offset: u32) -> Option<String> {
        let line = line_at(&self.profiled.lines, offset)?;
        let name = line.file.rsplit(['/', '\\']).next().filter(|name| !name.is_empty())?;
        Some(format!("{name}:{}", line.line))
    }

    /// The reason of most samples at an instruction.
    fn reason(&self, number: usize) -> Option<&'static str> {
        let of = |(reason, samples): &(&'static str, Vec<f64>)| Some((*reason, *samples.get(number)?));
        let most = self.by_reason.iter().filter_map(of).max_by(|a, b| a.1.total_cmp(&b.1));
        most.filter(|(_, samples)| *samples > 0.0).map(|(reason, _)| reason)
    }

    /// Why a visit takes longer than alone.
    fn cause(
        &self,
        number: usize,
        reason: Option<&'static str>,
        producer: Option<&Instruction>,
        visit: f64,
    ) -> Option<String> {
        let instruction = self.analysis.instructions.get(number)?;
        let at = |offset: u32| format!("{offset:#06x}");
        Some(match reason? {
            "long_scoreboard" => match producer {
                Some(of) if is_atomic(of) => {
                    format!("the atomic at {} is contended: many warps meet at its addresses", at(of.offset))
                }
                Some(of) if of.space() == Some(Space::Local) => {
                    format!("the stack access at {} misses L1: spilled registers", at(of.offset))
                }
                _ => self.memory_queue(visit),
            },
            "short_scoreboard" => self
                .conflicts(producer)
                .unwrap_or_else(|| "shared memory or the special-function unit is busy with other warps".to_owned()),
            "lg_throttle" => {
                let sectors = self.sectors_per_request(number);
                let each = sectors.map_or_else(String::new, |sectors| {
                    format!(", {sectors:.0} {} a request", if sectors < 1.5 { "sector" } else { "sectors" })
                });
                format!("the queue to global memory is full{each}")
            }
            "mio_throttle" => "the queue to shared memory and special functions is full".to_owned(),
            "tex_throttle" => "the queue to the texture unit is full".to_owned(),
            "barrier" => "other warps of the block arrive later".to_owned(),
            "imc_miss" => "constants that are not cached yet".to_owned(),
            "no_instruction" => "instructions that are not cached".to_owned(),
            "math_pipe_throttle" => {
                let unit = instruction.class().map_or("its", class_words);
                format!("{unit} pipe is busy with other warps")
            }
            "not_selected" => "other warps were picked: there are enough".to_owned(),
            "drain" => self.draining(),
            "membar" => "a fence waits for earlier writes".to_owned(),
            "branch_resolving" => "branch targets".to_owned(),
            _ => return None,
        })
    }

    /// What lengthens a load: a busy memory, or the far side of the cache.
    fn memory_queue(&self, visit: f64) -> String {
        let busy = |names: &[&'static str]| self.profiled.measured.first(names).map_or(0.0, |(_, percent)| percent);
        let dram = busy(&[
            "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
            "dram__throughput.avg.pct_of_peak_sustained_elapsed",
        ]);
        let l2 = busy(&["lts__throughput.avg.pct_of_peak_sustained_elapsed"]);
        let l1 = busy(&["l1tex__throughput.avg.pct_of_peak_sustained_active"]);
        match () {
            () if dram >= 60.0 => format!("loads queue for DRAM, which is {dram:.0} % busy"),
            () if l1 >= 60.0 && l1 >= l2 => format!("loads queue for L1, which is {l1:.0} % busy"),
            () if l2 >= 60.0 => format!("loads queue for L2, which is {l2:.0} % busy"),
            () if visit < 2000.0 => {
                "misses that go further than the mean hit rates say, or the far side of L2".to_owned()
            }
            () => "loads wait behind others: uneven or repeated misses".to_owned(),
        }
    }

    /// What is still on its way when a warp ends.
    fn draining(&self) -> String {
        let executed = |number: usize| {
            self.counts.as_ref().and_then(|counts| counts.get(number)).is_some_and(|count| *count > 0.0)
        };
        let mut instructions = self.analysis.instructions.iter().enumerate();
        let atomic = instructions.find(|(number, instruction)| is_atomic(instruction) && executed(*number));
        match atomic {
            Some((_, atomic)) => {
                format!("the atomics at {:#06x} queue at their addresses when the warp ends", atomic.offset)
            }
            None => "stores are still on their way when the warp ends".to_owned(),
        }
    }

    fn sectors_per_request(&self, number: usize) -> Option<f64> {
        let sectors = self.profiled.by_number("memory_l2_theoretical_sectors_global")?;
        let count = *self.counts.as_ref()?.get(number)?;
        let sectors = *sectors.get(number)?;
        (count > 0.0 && sectors > 0.0).then(|| sectors / count)
    }

    /// Bank conflicts of the shared access that is waited for.
    fn conflicts(&self, producer: Option<&Instruction>) -> Option<String> {
        let number = producer?.offset as usize / occupant_sass::INSTRUCTION_BYTES;
        let of = |metric: &str| self.profiled.by_number(metric)?.get(number).copied();
        let (passes, ideal) = (of("memory_l1_wavefronts_shared")?, of("memory_l1_wavefronts_shared_ideal")?);
        (ideal > 0.0 && passes > ideal * 1.1)
            .then(|| format!("bank conflicts: {:.1} times the passes that the access needs", passes / ideal))
    }
}

/// The last instruction before `number`, in its block or before it, that a scoreboard it waits for belongs to.
fn producer(analysis: &Analysis, number: usize) -> Option<&Instruction> {
    let waits: Vec<u8> = analysis.instructions.get(number)?.control().waits().collect();
    let before = analysis.instructions.get(..number)?;
    let of =
        |instruction: &&Instruction| instruction.control().write.is_some_and(|scoreboard| waits.contains(&scoreboard));
    before.iter().rev().find(of)
}

fn is_atomic(instruction: &Instruction) -> bool {
    matches!(instruction.access().map(|access| access.kind), Some(AccessKind::Atomic))
        || matches!(instruction.class(), Some(Class::Atomic | Class::Reduction))
}

const fn class_words(class: Class) -> &'static str {
    match class {
        Class::Fma => "the FMA",
        Class::Alu => "the ALU",
        Class::Fp64 => "the FP64",
        Class::Half => "the FP16",
        Class::Xu => "the special-function",
        Class::Tensor | Class::Wgmma => "the tensor",
        _ => "its",
    }
}
