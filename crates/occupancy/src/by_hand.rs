//! The textbook formula beside the exact answer, and which rounding makes them differ.
//!
//! Hand arithmetic: warps = min(floor(registers of the SM / R) / 32, floor(shared memory / S) x warps per block, max
//! warps, max blocks x warps per block). Not for: anything but teaching; no other answer is built on it.

use occupant_hardware::SmLimits;

use crate::rules::{Occupancy, occupancy, registers_per_warp};
use crate::shape::{InvalidShape, Shape};

/// A rule that hand arithmetic leaves out, in the order in which they are added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// Registers are handed out in units, 8 per thread.
    RegisterUnit,
    /// A warp's registers come from one sub-partition's share of the file.
    SubPartitions,
    /// The system takes shared memory from every block (8.0 and later).
    SharedReserve,
    /// Shared memory is handed out in units.
    SharedUnit,
    /// Only whole blocks become resident.
    WholeBlocks,
    /// Limits of a single block, the carve-out, barriers, virtual resources and partitioned caching.
    OtherLimits,
}

impl Rounding {
    /// The name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RegisterUnit => "register_unit",
            Self::SubPartitions => "sub_partitions",
            Self::SharedReserve => "shared_reserve",
            Self::SharedUnit => "shared_unit",
            Self::WholeBlocks => "whole_blocks",
            Self::OtherLimits => "other_limits",
        }
    }
}

/// One rule that changed the number of warps.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundingStep {
    /// The rule.
    pub rounding: Rounding,
    /// Warps before it.
    pub from_warps: f64,
    /// Warps after it.
    pub to_warps: f64,
    /// The rule in the shape's own numbers.
    pub says: String,
}

/// The textbook answer, term by term, in warps per SM, and the way from it to the exact one.
#[derive(Debug, Clone, PartialEq)]
pub struct ByHand {
    /// By registers; `None` for 0 registers.
    pub registers: Option<f64>,
    /// By shared memory; `None` where the block asks for none.
    pub shared_memory: Option<f64>,
    /// By warp slots.
    pub warps: f64,
    /// By block slots.
    pub blocks: f64,
    /// The smallest of them.
    pub answer: f64,
    /// The rules that change it, in order; the last one ends at the exact answer. Empty where hand arithmetic is right.
    pub steps: Vec<RoundingStep>,
}

/// Hand arithmetic for `shape` and what separates it from [`occupancy`].
///
/// # Errors
/// [`InvalidShape`], as [`occupancy`].
pub fn by_hand(limits: &SmLimits, shape: &Shape) -> Result<ByHand, InvalidShape> {
    let exact = occupancy(limits, shape)?;
    let mut estimate = Estimate::new(limits, shape, &exact);
    let (registers, shared_memory) = (estimate.registers(), estimate.shared_memory());
    let answer = estimate.warps();
    let mut steps = Steps { from_warps: answer, taken: Vec::new() };
    steps.of_registers(&mut estimate, limits, shape, &exact);
    steps.of_shared_memory(&mut estimate, limits, &exact);
    let whole_blocks = (estimate.warps() / f64::from(exact.warps_per_block)).floor() * f64::from(exact.warps_per_block);
    steps.to(
        Rounding::WholeBlocks,
        whole_blocks,
        format!("only whole blocks of {} warps become resident", exact.warps_per_block),
    );
    steps.to(
        Rounding::OtherLimits,
        f64::from(exact.warps_per_sm()),
        "limits of one block, carve-out, barriers, virtual resources or partitioned caching bind".to_owned(),
    );
    Ok(ByHand {
        registers,
        shared_memory,
        warps: f64::from(exact.max_warps_per_sm),
        blocks: estimate.blocks(),
        answer,
        steps: steps.taken,
    })
}

/// The way from hand arithmetic to the exact answer, as far as it was gone.
struct Steps {
    from_warps: f64,
    taken: Vec<RoundingStep>,
}

impl Steps {
    /// A rule of its own, where it changes anything.
    fn to(&mut self, rounding: Rounding, to_warps: f64, says: String) {
        if (self.from_warps - to_warps).abs() > 1e-9 {
            self.taken.push(RoundingStep { rounding, from_warps: self.from_warps, to_warps, says });
            self.from_warps = to_warps;
        }
    }

    fn of_registers(&mut self, estimate: &mut Estimate, limits: &SmLimits, shape: &Shape, exact: &Occupancy) {
        estimate.registers_per_thread = exact.allocated.registers_per_thread;
        self.to(
            Rounding::RegisterUnit,
            estimate.warps(),
            format!(
                "registers come {} per thread at a time: {} becomes {}",
                limits.register_allocation_unit / SmLimits::WARP_SIZE,
                shape.registers_per_thread,
                exact.allocated.registers_per_thread
            ),
        );
        estimate.sub_partitions = limits.sub_partitions;
        self.to(Rounding::SubPartitions, estimate.warps(), sub_partitions_say(limits, shape));
    }

    fn of_shared_memory(&mut self, estimate: &mut Estimate, limits: &SmLimits, exact: &Occupancy) {
        estimate.shared_per_block += u64::from(limits.shared_reserved_per_block);
        self.to(
            Rounding::SharedReserve,
            estimate.warps(),
            format!("the system takes {} B of shared memory from every block", limits.shared_reserved_per_block),
        );
        estimate.shared_per_block = u64::from(exact.allocated.shared_per_block);
        self.to(
            Rounding::SharedUnit,
            estimate.warps(),
            format!(
                "shared memory comes {} B at a time: a block takes {} B",
                limits.shared_allocation_unit, exact.allocated.shared_per_block
            ),
        );
    }
}

fn sub_partitions_say(limits: &SmLimits, shape: &Shape) -> String {
    let per_warp = registers_per_warp(limits, shape.registers_per_thread);
    let share = limits.registers_per_sm / limits.sub_partitions;
    format!(
        "each of the {} sub-partitions has {share} registers, whole warps of {per_warp}: {} warps each",
        limits.sub_partitions,
        share.checked_div(per_warp).unwrap_or(0)
    )
}

/// The formula with as many of the rules as have been added so far.
struct Estimate<'a> {
    limits: &'a SmLimits,
    warps_per_block: f64,
    registers_per_thread: u32,
    /// 1 until the rule of sub-partitions is added.
    sub_partitions: u32,
    shared_per_block: u64,
}

impl<'a> Estimate<'a> {
    fn new(limits: &'a SmLimits, shape: &Shape, exact: &Occupancy) -> Self {
        Self {
            limits,
            warps_per_block: f64::from(exact.warps_per_block),
            registers_per_thread: shape.registers_per_thread,
            sub_partitions: 1,
            shared_per_block: u64::from(shape.shared_static) + u64::from(shape.shared_dynamic),
        }
    }

    fn registers(&self) -> Option<f64> {
        let share = self.limits.registers_per_sm / self.sub_partitions;
        let threads = share.checked_div(self.registers_per_thread)?;
        let warps = f64::from(threads) / f64::from(SmLimits::WARP_SIZE);
        Some(if self.sub_partitions == 1 { warps } else { warps.floor() * f64::from(self.sub_partitions) })
    }

    fn shared_memory(&self) -> Option<f64> {
        let blocks = u64::from(self.limits.shared_per_sm).checked_div(self.shared_per_block)?;
        // At most 233,472, exact in a float.
        Some(blocks as f64 * self.warps_per_block)
    }

    fn blocks(&self) -> f64 {
        f64::from(self.limits.max_blocks_per_sm) * self.warps_per_block
    }

    fn warps(&self) -> f64 {
        f64::from(self.limits.max_warps_per_sm())
            .min(self.blocks())
            .min(self.registers().unwrap_or(f64::INFINITY))
            .min(self.shared_memory().unwrap_or(f64::INFINITY))
    }
}
