//! Register budgets of warp-specialised kernels, by numbers. Not for: a kernel's own requests; that is [`kernel`].

mod kernel;

pub use kernel::budget_of_kernel;

pub use occupant_advice::LaunchBounds;
use occupant_hardware::SmLimits;
use occupant_occupancy::{
    Budget, InvalidBudget, REQUEST_STEP, Requests, Schedule, Shape, WARPGROUP_THREADS, accumulator_registers,
    budget as add_up, legal_splits, most_min_blocks, occupancy, register_cap,
};
use thiserror::Error;

use crate::report::{AccumulatorRecord, BudgetReport, BudgetVerdict, SplitRecord, SplitRoles};
use crate::target::Target;

/// A GEMM's output tile and how warpgroups share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accumulators {
    /// Rows.
    pub m: u32,
    /// Columns.
    pub n: u32,
    /// Who holds it.
    pub schedule: Schedule,
}

/// Requests by numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BudgetRequest {
    /// Registers per thread by warpgroup; `None` for one that makes no request.
    pub warpgroups: Vec<Option<u32>>,
    /// The launch bounds; without them the block's threads and [`Self::blocks`] are taken.
    pub bounds: Option<LaunchBounds>,
    /// Blocks per SM that shall be resident.
    pub blocks: Option<u32>,
    /// Registers per thread as compiled; from the launch bounds where `None`.
    pub registers: Option<u32>,
    /// The cap of `__maxnreg__`, which fixes the launch-time count as a minimum of blocks does.
    pub maxnreg: Option<u32>,
    /// Accumulators to hold beside.
    pub tile: Option<Accumulators>,
}

/// A request that means nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// A request that the compiler refuses.
    #[error(transparent)]
    Invalid(#[from] InvalidBudget),
    /// No `setmaxnreg` on this architecture.
    #[error("setmaxnreg needs compute capability 9.0 or later, this is {found}")]
    TooOld {
        /// As asked.
        found: String,
    },
    /// The block is larger than its bounds.
    #[error(
        "{warpgroups} warpgroups are {threads} threads, the launch bounds allow {allowed}: set them with --launch-bounds"
    )]
    OverBounds {
        /// Warpgroups given.
        warpgroups: u32,
        /// Their threads.
        threads: u32,
        /// Threads allowed.
        allowed: u32,
    },
    /// More registers than a block may have.
    #[error("a block of {threads} threads with {registers} registers each can't launch: a block has 65536 at most")]
    CannotLaunch {
        /// Threads of the block.
        threads: u32,
        /// Registers per thread.
        registers: u32,
    },
    /// A number out of range.
    #[error("{what} takes 1 to {most}, found {found}")]
    OutOfRange {
        /// What was given.
        what: &'static str,
        /// The number.
        found: u32,
        /// The largest.
        most: u32,
    },
}

/// Where the launch-time register count comes from.
enum Entry {
    /// So many registers per thread, and why.
    Known(u32, String),
    /// The compiler does not fix it, and drops the requests.
    Unknown(String),
}

/// The verdict on requests given by numbers.
///
/// # Errors
/// [`BudgetError`] for requests that mean nothing.
pub fn budget(target: Target<'_>, request: &BudgetRequest) -> Result<BudgetReport, BudgetError> {
    let limits = target.limits;
    supported(limits)?;
    let requests = Requests::new(request.warpgroups.clone())?;
    let threads = threads_of(limits, request, &requests)?;
    let base = BudgetReport {
        schema: "occupant.budget.v1",
        gpu: target.name_or_architecture(),
        kernel: None,
        verdict: BudgetVerdict::Ignored,
        launch_registers: None,
        threads,
        requests: request.warpgroups.clone(),
        pool: None,
        requested: None,
        requested_least: None,
        blocks_per_sm: None,
        split_roles: None,
        legal_splits: Vec::new(),
        accumulators: request.tile.map(|tile| accumulators(tile, &requests)),
        reason: String::new(),
        notes: Vec::new(),
    };
    match entry(limits, request, threads) {
        Entry::Unknown(why) => Ok(BudgetReport {
            reason: format!("the compiler drops the requests (ptxas note C7508): {why}"),
            notes: vec![
                "a kernel whose requests are dropped runs with one register count for all its warps: it can work, slowly"
                    .to_owned(),
            ],
            ..base
        }),
        Entry::Known(registers, from) => added_up(limits, request, &requests, (registers, &from), base),
    }
}

/// Completes `base` where the launch-time count is known, with where that comes from.
fn added_up(
    limits: &SmLimits,
    request: &BudgetRequest,
    requests: &Requests,
    (registers, from): (u32, &str),
    base: BudgetReport,
) -> Result<BudgetReport, BudgetError> {
    let found = add_up(requests, registers);
    let blocks_per_sm = resident(limits, found.launch_registers, base.threads);
    if blocks_per_sm == 0 {
        return Err(BudgetError::CannotLaunch { threads: base.threads, registers: found.launch_registers });
    }
    let roles = roles(requests, found.launch_registers);
    Ok(BudgetReport {
        verdict: if found.holds() { BudgetVerdict::Legal } else { BudgetVerdict::HangRisk },
        launch_registers: Some(found.launch_registers),
        pool: Some(found.pool),
        requested: Some(found.requested),
        blocks_per_sm: Some(blocks_per_sm),
        split_roles: roles,
        legal_splits: splits(requests, &found, roles),
        reason: reason(requests, &found, from),
        notes: std::iter::once(occupancy_note(found.launch_registers, blocks_per_sm, request.blocks))
            .chain(conditions(requests, &found))
            .collect(),
        ..base
    })
}

/// Threads of the block, once every number of the request is in range and the block within its bounds.
fn threads_of(limits: &SmLimits, request: &BudgetRequest, requests: &Requests) -> Result<u32, BudgetError> {
    let warpgroups = requests.warpgroups();
    let threads = warpgroups.saturating_mul(WARPGROUP_THREADS);
    in_range("a block's threads", threads, limits.max_threads_per_block)?;
    for cap in [request.registers, request.maxnreg].into_iter().flatten() {
        in_range("a register count", cap, limits.max_registers_per_thread)?;
    }
    if let Some(bounds) = request.bounds {
        in_range("launch bounds' threads", bounds.threads, limits.max_threads_per_block)?;
        if bounds.threads < threads {
            return Err(BudgetError::OverBounds { warpgroups, threads, allowed: bounds.threads });
        }
    }
    Ok(threads)
}

fn supported(limits: &SmLimits) -> Result<(), BudgetError> {
    if limits.capability.major < 9 {
        return Err(BudgetError::TooOld { found: limits.capability.to_string() });
    }
    Ok(())
}

fn in_range(what: &'static str, found: u32, most: u32) -> Result<(), BudgetError> {
    if (1..=most).contains(&found) { Ok(()) } else { Err(BudgetError::OutOfRange { what, found, most }) }
}

fn entry(limits: &SmLimits, request: &BudgetRequest, threads: u32) -> Entry {
    let known = |registers, from: &str| Entry::Known(registers, from.to_owned());
    if let Some(cap) = request.maxnreg {
        let registers =
            request.registers.or(largest_raise(&request.warpgroups)).map_or(cap, |registers| registers.min(cap));
        return known(registers, "as __maxnreg__ fixes it");
    }
    let (bound_threads, min_blocks, from) = match request.bounds {
        Some(LaunchBounds { threads, min_blocks: None }) => {
            return Entry::Unknown(format!(
                "launch bounds without a minimum of blocks leave the register count at launch open; write \
                 __launch_bounds__({threads}, 1)"
            ));
        }
        Some(LaunchBounds { threads, min_blocks: Some(min_blocks) }) => (threads, min_blocks, "by its launch bounds"),
        None => (threads, request.blocks.unwrap_or(1), "assuming launch bounds"),
    };
    match register_cap(limits, bound_threads, min_blocks) {
        None => Entry::Unknown(format!(
            "a minimum of {min_blocks} blocks of {bound_threads} threads is out of range on {}, at most {} fit, so that it is \
             ignored as well",
            limits.capability,
            most_min_blocks(limits, bound_threads)
        )),
        Some(cap) => {
            let from = format!("{from} ({bound_threads}, {min_blocks})");
            match (request.registers, largest_raise(&request.warpgroups).filter(|raise| *raise < cap)) {
                (Some(registers), _) => known(registers, "as compiled"),
                (None, Some(raise)) => {
                    Entry::Known(raise, format!("{from}, which allow {cap}, but no raise asks for more"))
                }
                (None, None) => Entry::Known(cap, from),
            }
        }
    }
}

/// The request that is a raise where there is one: the largest, where another warpgroup asks for less. The compiler gives no
/// thread more at launch than its largest raise.
fn largest_raise(requests: &[Option<u32>]) -> Option<u32> {
    let asked = || requests.iter().copied().flatten();
    let most = asked().max()?;
    asked().any(|request| request < most).then_some(most)
}

fn resident(limits: &SmLimits, registers: u32, threads: u32) -> u32 {
    let shape = Shape { registers_per_thread: registers, threads_per_block: threads, ..Shape::default() };
    occupancy(limits, &shape).map_or(0, |found| found.blocks_per_sm)
}

/// Warpgroups that ask for fewer and for more registers than they got.
fn sides(requests: &Requests, launch: u32) -> (u32, u32) {
    let count = |wanted: &dyn Fn(u32) -> bool| {
        let matching = requests.as_slice().iter().flatten().filter(|request| wanted(**request)).count();
        u32::try_from(matching).unwrap_or(u32::MAX)
    };
    (count(&|request| request < launch), count(&|request| request > launch))
}

/// Who gives and who takes in splits that are proposed: as asked; where nobody gives, all that do not take. `None` where
/// nobody takes.
fn roles(requests: &Requests, launch: u32) -> Option<SplitRoles> {
    let (giving, taking) = sides(requests, launch);
    let giving = if giving == 0 { requests.warpgroups().saturating_sub(taking) } else { giving };
    (giving > 0 && taking > 0).then_some(SplitRoles { giving, taking })
}

fn splits(requests: &Requests, found: &Budget, roles: Option<SplitRoles>) -> Vec<SplitRecord> {
    let Some(SplitRoles { giving, taking }) = roles else { return Vec::new() };
    let keeping = u64::from(requests.warpgroups().saturating_sub(giving).saturating_sub(taking));
    let kept = keeping * u64::from(found.launch_registers);
    let splits = legal_splits(giving, taking, found.launch_registers);
    let record = |split: occupant_occupancy::Split| {
        let per_thread = u64::from(split.gives) * u64::from(giving) + u64::from(split.takes) * u64::from(taking) + kept;
        SplitRecord { gives: split.gives, takes: split.takes, requested: per_thread * u64::from(WARPGROUP_THREADS) }
    };
    splits.into_iter().map(record).collect()
}

fn reason(requests: &Requests, found: &Budget, from: &str) -> String {
    let launch = found.launch_registers;
    let all = u64::from(requests.warpgroups()) * u64::from(launch);
    let asked = found.requested / u64::from(WARPGROUP_THREADS);
    let groups = requests.warpgroups();
    let who = if groups == 1 { "1 warpgroup gets".to_owned() } else { format!("{groups} warpgroups get") };
    let base = format!(
        "{who} {launch} registers per thread at launch {from}: {groups} x {launch} = {all}; the requests add \
         up to {asked}"
    );
    match (found.holds(), found.raises) {
        (true, true) => format!("{base}, which the block has"),
        (true, false) => format!("{base}, and none asks for more than it got"),
        (false, _) if sides(requests, launch).0 == 0 => {
            format!("{base}: no warpgroup gives any back, so that a raise waits for ever")
        }
        (false, _) => format!("{base}, {} too many: the last raise waits for ever", asked - all),
    }
}

const EVERY_WARP: &str = "it holds only where every warp of a warpgroup executes its request: one that leaves early or skips a \
                          decrease gives nothing back, and the others hang";

fn occupancy_note(launch: u32, blocks_per_sm: u32, wanted: Option<u32>) -> String {
    let follows = format!(
        "occupancy follows the count at launch, {launch} registers: {} per SM by registers, warps and block slots; \
         requests change nothing about it",
        if blocks_per_sm == 1 { "1 block".to_owned() } else { format!("{blocks_per_sm} blocks") }
    );
    match wanted.filter(|wanted| *wanted > blocks_per_sm) {
        Some(wanted) => format!("{follows}. {wanted} were asked for"),
        None => follows,
    }
}

/// What has to be true beside the sum.
fn conditions(requests: &Requests, found: &Budget) -> Vec<String> {
    if !(found.holds() && found.raises) {
        return Vec::new();
    }
    let mut notes = vec![EVERY_WARP.to_owned()];
    let left = found.pool.saturating_sub(found.requested) / u64::from(WARPGROUP_THREADS);
    if left > 0 {
        notes.push(second_reading(requests, found, left));
    }
    notes
}

/// CUTLASS' maintainers read the rule as an equality (NVIDIA/cutlass#2007); both readings are told.
fn second_reading(requests: &Requests, found: &Budget, left: u64) -> String {
    let all = found.pool / u64::from(WARPGROUP_THREADS);
    let lowest = requests.as_slice().iter().copied().flatten().min().unwrap_or(0);
    let (giving, _) = sides(requests, found.launch_registers);
    let raised = left.checked_div(u64::from(giving)).filter(|extra| extra.is_multiple_of(u64::from(REQUEST_STEP)));
    let how = raised.map_or_else(String::new, |extra| {
        format!(": {} instead of {lowest} for those that give does", u64::from(lowest) + extra)
    });
    format!(
        "another reading (NVIDIA/cutlass#2007): the requests should add up to exactly {all}, they leave {left} unused{how}; by \
         the sum alone fewer can't hang"
    )
}

fn accumulators(tile: Accumulators, requests: &Requests) -> AccumulatorRecord {
    let registers = accumulator_registers(tile.m, tile.n, tile.schedule);
    let most = requests.as_slice().iter().copied().flatten().max();
    let says = match most {
        _ if registers > 255 => format!("{registers} accumulators are more than a thread can have: they spill"),
        Some(most) if registers >= u64::from(most) => {
            format!("{registers} accumulators leave nothing of the {most} registers asked for: they spill")
        }
        Some(most) => format!(
            "{registers} of the {most} registers asked for hold accumulators, {} are left",
            u64::from(most) - registers
        ),
        None => format!("{registers} registers per thread hold accumulators"),
    };
    let schedule = match tile.schedule {
        Schedule::Pingpong => "pingpong",
        Schedule::Cooperative => "cooperative",
    };
    AccumulatorRecord { tile: [tile.m, tile.n], schedule, registers, says }
}
