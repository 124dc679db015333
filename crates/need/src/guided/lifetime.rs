//! How long a warp lives among `n` others: its own time, and its turns on what all of them share.

use crate::demand::Resource;

/// The constants of the formula.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Formula {
    /// How sharply the resources of an SM meet a warp's own time.
    pub on_sm: f64,
    /// The same of L2 and DRAM.
    pub beyond: f64,
    /// Share of its peak that L1 reaches.
    pub l1: f64,
    /// Share of its peak that DRAM reaches.
    pub dram: f64,
}

impl Formula {
    /// As fitted to public reports by `cargo xtask validate --reports`.
    pub const FITTED: Self = Self { on_sm: 2.5, beyond: 4.0, l1: 0.9, dram: 0.96 };
}

/// A warp's own cycles and its demand on an SM and on memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Lifetime {
    /// Cycles of a warp alone.
    pub alone: f64,
    /// Cycles of an SM that a warp takes of each resource, at what the resource reaches.
    pub demand: Vec<(Resource, f64)>,
    formula: Formula,
}

impl Lifetime {
    /// The lifetime of a warp of `alone` cycles; `demand` at the resources' peaks.
    #[must_use]
    pub fn new(alone: f64, demand: &[(Resource, f64)], formula: Formula) -> Self {
        let reached = |resource: Resource| match resource {
            Resource::L1 => formula.l1,
            Resource::Dram => formula.dram,
            _ => 1.0,
        };
        let demand = demand.iter().map(|(resource, cycles)| (*resource, cycles / reached(*resource))).collect();
        Self { alone, demand, formula }
    }

    /// Cycles of a warp among `warps` of its SM.
    #[must_use]
    pub fn cycles(&self, warps: f64) -> f64 {
        let (on_sm, beyond) = self.shared();
        let Formula { on_sm: p, beyond: q, .. } = self.formula;
        let with_sm = (self.alone.powf(p) + (warps * on_sm).powf(p)).powf(1.0 / p);
        (with_sm.powf(q) + (warps * beyond).powf(q)).powf(1.0 / q)
    }

    /// Demand of the resources of an SM together, and of those beyond it.
    fn shared(&self) -> (f64, f64) {
        let together = |wanted: &dyn Fn(Resource) -> bool, exponent: f64| {
            let demands = self.demand.iter().filter(|(resource, _)| wanted(*resource));
            demands.map(|(_, cycles)| cycles.powf(exponent)).sum::<f64>().powf(1.0 / exponent)
        };
        let memory = |resource: Resource| matches!(resource, Resource::L2 | Resource::Dram);
        (together(&|resource| !memory(resource), self.formula.on_sm), together(&memory, self.formula.beyond))
    }

    /// Share of what resources reach that each is busy among `warps`, the busiest first.
    #[must_use]
    pub fn busy(&self, warps: f64) -> Vec<(Resource, f64)> {
        let cycles = self.cycles(warps);
        let mut busy: Vec<(Resource, f64)> =
            self.demand.iter().map(|(resource, demand)| (*resource, warps * demand / cycles)).collect();
        busy.sort_by(|a, b| b.1.total_cmp(&a.1));
        busy
    }

    /// Cycles that a warp among `warps` waits in turn for each resource: what its lifetime has beyond its own cycles, shared
    /// among the resources as they enter the lifetime.
    #[must_use]
    pub fn queues(&self, warps: f64) -> Vec<(Resource, f64)> {
        let beyond = (self.cycles(warps) - self.alone).max(0.0);
        let weight = |cycles: f64| (warps * cycles).powf(self.formula.on_sm);
        let all: f64 = self.demand.iter().map(|(_, cycles)| weight(*cycles)).sum();
        let part =
            |(resource, cycles): &(Resource, f64)| (*resource, beyond * weight(*cycles) / all.max(f64::MIN_POSITIVE));
        self.demand.iter().map(part).collect()
    }

    /// Throughput among `warps` as a share of what any number of warps would reach.
    #[must_use]
    pub fn share(&self, warps: f64) -> f64 {
        let (on_sm, beyond) = self.shared();
        let q = self.formula.beyond;
        let full = (on_sm.powf(q) + beyond.powf(q)).powf(1.0 / q);
        warps * full / self.cycles(warps)
    }

    /// Warps that reach a share of it, found by halving; `share` above 0 and below 1.
    #[must_use]
    pub fn needed(&self, share: f64) -> f64 {
        let (mut low, mut high) = (0.0_f64, 1.0_f64);
        while self.share(high) < share && high < 1e7 {
            high *= 2.0;
        }
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if self.share(middle) < share { low = middle } else { high = middle }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_warps_live_alone_and_many_wait_in_turn() {
        let lifetime = Lifetime::new(1000.0, &[(Resource::Issue, 10.0), (Resource::Dram, 48.0)], Formula::FITTED);
        assert!((lifetime.cycles(1.0) / 1000.0 - 1.0).abs() < 0.01);
        // DRAM reaches 0.96 of its peak: 50 cycles a warp.
        assert!((lifetime.cycles(1000.0) / 50_000.0 - 1.0).abs() < 0.01);
        assert_eq!(lifetime.busy(1000.0)[0].0, Resource::Dram);
    }

    proptest! {
        #[test]
        fn needed_inverts_share(alone in 10.0..1e5_f64, issue in 0.1..100.0_f64, dram in 0.1..100.0_f64, share in 0.05..0.95_f64) {
            let lifetime = Lifetime::new(alone, &[(Resource::Issue, issue), (Resource::Dram, dram)], Formula::FITTED);
            let needed = lifetime.needed(share);
            prop_assert!((lifetime.share(needed) - share).abs() < 1e-6);
            prop_assert!(lifetime.share(needed * 1.5) > share);
        }
    }
}
