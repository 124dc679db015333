//! The budget of a kernel's own requests, as its machine code has them. Which warpgroup makes which request the code does
//! not say, so that some budgets stay undecided.

use occupant_occupancy::{REQUEST_STEP, WARPGROUP_THREADS};

use super::{BudgetError, EVERY_WARP, resident, supported};
use crate::report::{BlockFrom, BudgetReport, BudgetVerdict, KernelName, KernelRecord};
use crate::target::Target;

/// The verdict on a kernel's own requests. Which warpgroup makes which is decided at run time: it is certain where the
/// costliest assignment in which each request is made fits, or the cheapest does not.
///
/// # Errors
/// [`BudgetError`] where the architecture has no `setmaxnreg`.
pub fn budget_of_kernel(target: Target<'_>, kernel: &KernelRecord) -> Result<BudgetReport, BudgetError> {
    supported(target.limits)?;
    let (threads, assumed) = block_of(kernel);
    let launch = kernel.registers.unwrap_or(0).next_multiple_of(REQUEST_STEP);
    let base = BudgetReport {
        schema: "occupant.budget.v1",
        gpu: target.name_or_architecture(),
        kernel: Some(KernelName::from(kernel)),
        verdict: BudgetVerdict::Ignored,
        launch_registers: Some(launch),
        threads,
        requests: kernel.register_requests.iter().copied().map(Some).collect(),
        pool: None,
        requested: None,
        requested_least: None,
        blocks_per_sm: Some(resident(target.limits, launch, threads)),
        split_roles: None,
        legal_splits: Vec::new(),
        accumulators: None,
        reason: String::new(),
        notes: assumed.into_iter().collect(),
    };
    if kernel.register_requests.is_empty() {
        let reason = if kernel.setmaxnreg {
            "its requests are held in registers: which they are its code does not say"
        } else {
            "its machine code has no setmaxnreg: where the source asks for it, the compiler dropped it (ptxas note C7508: no \
             minimum of blocks in the launch bounds)"
        };
        return Ok(BudgetReport { reason: reason.to_owned(), ..base });
    }
    let assigned = Assignments::new(&kernel.register_requests, (threads / WARPGROUP_THREADS).max(1));
    let pool = u64::from(launch) * u64::from(assigned.groups);
    let verdict = match (assigned.most <= pool || assigned.largest <= launch, assigned.least > pool) {
        (true, _) => BudgetVerdict::Legal,
        (false, true) => BudgetVerdict::HangRisk,
        (false, false) => BudgetVerdict::Undecided,
    };
    let registers = |per_thread: u64| per_thread * u64::from(WARPGROUP_THREADS);
    let mut notes = base.notes;
    notes.push("occupancy follows the count at launch; requests change nothing about it".to_owned());
    if verdict == BudgetVerdict::Legal && assigned.largest > launch {
        notes.push(EVERY_WARP.to_owned());
    }
    Ok(BudgetReport {
        verdict,
        pool: Some(registers(pool)),
        requested: Some(registers(assigned.most)),
        requested_least: Some(registers(assigned.least)),
        reason: assigned.reason(launch, pool, verdict),
        notes,
        ..base
    })
}

/// The threads of a block that is launched as whole warpgroups, and what had to be assumed for it.
fn block_of(kernel: &KernelRecord) -> (u32, Option<String>) {
    let known = kernel
        .launch
        .block
        .filter(|_| !matches!(kernel.launch.block_from, None | Some(BlockFrom::LaunchBounds | BlockFrom::Assumed)));
    if let Some(block) = known {
        return (block, None);
    }
    let whole = |threads: u32| (threads / WARPGROUP_THREADS).max(1) * WARPGROUP_THREADS;
    match kernel.max_threads {
        Some(most) => {
            let threads = whole(most);
            (
                threads,
                Some(format!(
                    "a block of {threads} threads is assumed, the whole warpgroups of its launch bounds ({most})"
                )),
            )
        }
        None => {
            let threads = whole(kernel.launch.block.unwrap_or(256));
            (threads, Some(format!("a block of {threads} threads is assumed: give it with --launches")))
        }
    }
}

/// What the requests in a kernel's code can add up to over its warpgroups, registers per thread of one each.
struct Assignments {
    groups: u32,
    /// Ascending, each once.
    requests: Vec<u32>,
    smallest: u32,
    largest: u32,
    least: u64,
    most: u64,
}

impl Assignments {
    fn new(requests: &[u32], groups: u32) -> Self {
        let mut sorted = requests.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let (smallest, largest) = (sorted.first().copied().unwrap_or(0), sorted.last().copied().unwrap_or(0));
        // Warps of one warpgroup can make different requests, so that all but the largest may share one warpgroup.
        let second = sorted.iter().rev().nth(1).copied().unwrap_or(largest);
        let others = u64::from(groups.saturating_sub(1));
        let sum = |one: u32, rest: u32| u64::from(one) + others * u64::from(rest);
        let (least, most) =
            (sum(largest, smallest), if groups > 1 { sum(second, largest) } else { u64::from(largest) });
        Self { groups, smallest, largest, least, most, requests: sorted }
    }

    fn reason(&self, launch: u32, pool: u64, verdict: BudgetVerdict) -> String {
        let list: Vec<String> = self.requests.iter().map(ToString::to_string).collect();
        let base = format!(
            "{} of {launch} registers per thread at launch as compiled have {pool}; its code asks for {}",
            if self.groups == 1 { "1 warpgroup".to_owned() } else { format!("{} warpgroups", self.groups) },
            list.join(", ")
        );
        match verdict {
            BudgetVerdict::Legal if self.largest <= launch => format!("{base}: none asks for more than it got"),
            BudgetVerdict::Legal => format!("{base}, which is {} at most, whoever asks for what", self.most),
            BudgetVerdict::HangRisk => {
                format!(
                    "{base}, which is {} at least, {} too many: the last raise waits for ever",
                    self.least,
                    self.least - pool
                )
            }
            _ => format!(
                "{base}, which is {} to {}: the code does not say how many of its warpgroups ask for {}; {} can, with the others \
                 at {}",
                self.least,
                self.most,
                self.largest,
                self.takers(pool),
                self.smallest
            ),
        }
    }

    /// How many warpgroups can ask for the largest where the others ask for the smallest.
    fn takers(&self, pool: u64) -> u64 {
        let (groups, small) = (u64::from(self.groups), u64::from(self.smallest));
        let left = pool.saturating_sub(groups * small);
        left.checked_div(u64::from(self.largest) - small).unwrap_or(groups).min(groups)
    }
}
