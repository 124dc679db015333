//! Register budgets of warp-specialised kernels: what `setmaxnreg` requests add up to against what a block has.
//!
//! A block gets registers for all its warps at launch, and no more later. A warpgroup that asks for more waits until
//! others have given theirs back. Source: PTX ISA, `setmaxnreg`; when the compiler drops the requests: `ptxas` 13.5
//! (`cargo xtask oracle`). Not for: which warps run which request; the program decides that at run time.

use thiserror::Error;

/// Threads of a warpgroup, the unit that `setmaxnreg` acts on.
pub const WARPGROUP_THREADS: u32 = 128;
/// Smallest request. Source: PTX ISA, `setmaxnreg`.
pub const SMALLEST_REQUEST: u32 = 24;
/// Largest request.
pub const LARGEST_REQUEST: u32 = 256;
/// Requests are multiples of this.
pub const REQUEST_STEP: u32 = 8;

/// A request that the compiler refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum InvalidBudget {
    /// Outside 24 to 256, or no multiple of 8.
    #[error("setmaxnreg takes 24 to 256 registers in steps of 8, found {found}: the nearest is {nearest}")]
    Request {
        /// As given.
        found: u32,
        /// The nearest that it takes.
        nearest: u32,
    },
    /// No warpgroup.
    #[error("a budget has at least 1 warpgroup")]
    NoWarpgroups,
}

/// The registers that a block's warpgroups ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requests(Vec<Option<u32>>);

impl Requests {
    /// Requests by warpgroup, registers per thread; `None` for a warpgroup that keeps what it got at launch.
    ///
    /// # Errors
    /// [`InvalidBudget`] for a request that the compiler refuses, and for no warpgroup at all.
    pub fn new(requests: Vec<Option<u32>>) -> Result<Self, InvalidBudget> {
        if requests.is_empty() {
            return Err(InvalidBudget::NoWarpgroups);
        }
        for found in requests.iter().copied().flatten() {
            let rounded = found.saturating_add(REQUEST_STEP / 2) / REQUEST_STEP * REQUEST_STEP;
            let nearest = rounded.clamp(SMALLEST_REQUEST, LARGEST_REQUEST);
            if nearest != found {
                return Err(InvalidBudget::Request { found, nearest });
            }
        }
        Ok(Self(requests))
    }

    /// The requests in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Option<u32>] {
        &self.0
    }

    /// Warpgroups of the block.
    #[must_use]
    pub fn warpgroups(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }
}

/// What becomes of the requests, given registers per thread at launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Registers per thread that every warp gets at launch, as allocated.
    pub launch_registers: u32,
    /// Registers of a block: all its threads at that count.
    pub pool: u64,
    /// Registers of a block once every request is met.
    pub requested: u64,
    /// A warpgroup asks for more than it got at launch.
    pub raises: bool,
}

impl Budget {
    /// Whether all requests can be met together. Where not, the last raise waits for ever.
    #[must_use]
    pub const fn holds(&self) -> bool {
        !self.raises || self.requested <= self.pool
    }
}

/// The budget of `requests` where a thread gets `launch_registers` at launch.
#[must_use]
pub fn budget(requests: &Requests, launch_registers: u32) -> Budget {
    let launch_registers = launch_registers.next_multiple_of(REQUEST_STEP);
    let of = |registers: u32| u64::from(registers) * u64::from(WARPGROUP_THREADS);
    let requested = requests.0.iter().map(|request| of(request.unwrap_or(launch_registers))).sum();
    Budget {
        launch_registers,
        pool: of(launch_registers) * u64::from(requests.warpgroups()),
        requested,
        raises: requests.0.iter().flatten().any(|request| *request > launch_registers),
    }
}

/// A split between warpgroups that give registers away and warpgroups that take them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// Registers per thread of each that gives.
    pub gives: u32,
    /// Registers per thread of each that takes: the most that the pool then holds.
    pub takes: u32,
}

/// Every split that holds, for `giving` and `taking` warpgroups at `launch_registers`, by what is given. Those that a
/// smaller sacrifice reaches as well are left out.
#[must_use]
pub fn legal_splits(giving: u32, taking: u32, launch_registers: u32) -> Vec<Split> {
    let launch = launch_registers.next_multiple_of(REQUEST_STEP);
    let Some(pool) = launch.checked_mul(giving.saturating_add(taking)) else { return Vec::new() };
    let mut splits: Vec<Split> = Vec::new();
    for gives in (SMALLEST_REQUEST..launch).step_by(REQUEST_STEP as usize) {
        let left = pool.saturating_sub(gives.saturating_mul(giving));
        let takes = (left.checked_div(taking).unwrap_or(0) / REQUEST_STEP * REQUEST_STEP).min(LARGEST_REQUEST);
        if takes <= launch {
            continue;
        }
        splits.retain(|split| split.takes > takes);
        splits.push(Split { gives, takes });
    }
    splits
}

/// How consumer warpgroups of a GEMM share an output tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// Each warpgroup has a tile of its own.
    Pingpong,
    /// Two warpgroups share one tile.
    Cooperative,
}

/// Registers per thread that 32-bit accumulators of an `m` x `n` tile take. Source: NVIDIA/cutlass#3372.
#[must_use]
pub fn accumulator_registers(m: u32, n: u32, schedule: Schedule) -> u64 {
    let warpgroups = match schedule {
        Schedule::Pingpong => 1,
        Schedule::Cooperative => 2,
    };
    (u64::from(m) * u64::from(n)).div_ceil(u64::from(WARPGROUP_THREADS) * warpgroups)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(values: &[u32]) -> Requests {
        Requests::new(values.iter().copied().map(Some).collect()).unwrap()
    }

    #[test]
    fn budgets_of_known_kernels() {
        // (requests, launch count, pool, requested, holds). Source: CUTLASS defaults; tilelang#2406; helion#3620.
        let known: [(&[u32], u32, u64, u64, bool); 7] = [
            (&[40, 232, 232], 168, 64512, 64512, true),
            (&[24, 240, 240], 168, 64512, 64512, true),
            (&[24, 232, 232], 168, 64512, 62464, true),
            (&[24, 24, 224, 224], 128, 65536, 63488, true),
            (&[24, 160, 160, 160], 128, 65536, 64512, true),
            (&[24, 240, 240, 240], 128, 65536, 95232, false),
            (&[80, 168, 168, 88], 128, 65536, 64512, true),
        ];
        for (values, launch, pool, requested, holds) in known {
            let found = budget(&requests(values), launch);
            assert_eq!((found.pool, found.requested, found.holds()), (pool, requested, holds), "{values:?}");
        }
    }

    #[test]
    fn a_raise_without_a_release_never_succeeds() {
        let one = Requests::new(vec![None, Some(168), None, None]).unwrap();
        assert!(!budget(&one, 128).holds());
        let nothing = Requests::new(vec![None, Some(128), None, None]).unwrap();
        assert!(budget(&nothing, 128).holds());
    }

    #[test]
    fn requests_outside_the_range_name_the_nearest() {
        for (found, nearest) in [(16, 24), (0, 24), (300, 256), (236, 240), (u32::MAX, 256)] {
            let error = Requests::new(vec![Some(found)]).unwrap_err();
            assert_eq!(error, InvalidBudget::Request { found, nearest });
        }
        assert_eq!(Requests::new(Vec::new()), Err(InvalidBudget::NoWarpgroups));
    }

    #[test]
    fn splits_use_what_is_given() {
        let splits = legal_splits(1, 2, 168);
        assert_eq!(splits.first(), Some(&Split { gives: 24, takes: 240 }));
        assert!(splits.contains(&Split { gives: 40, takes: 232 }));
        assert!(!splits.iter().any(|split| split.gives == 32), "32 gives up more than 40 does for the same 232");
        for split in splits {
            assert!(split.gives + 2 * split.takes <= 3 * 168 && split.takes % 8 == 0);
        }
        assert!(legal_splits(2, 0, 128).is_empty());
    }

    #[test]
    fn accumulators() {
        let at = |m, n| {
            (accumulator_registers(m, n, Schedule::Pingpong), accumulator_registers(m, n, Schedule::Cooperative))
        };
        assert_eq!(at(128, 256), (256, 128));
        assert_eq!(at(64, 256), (128, 64));
    }
}
