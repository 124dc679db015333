//! Every step that is named is real: applied through the engine it does what was said, and its opposite edge does not.

use occupant_hardware::{ComputeCapability, Rules, SmLimits, limit_rows, limits};
use occupant_occupancy::{
    Axis, BARRIERS_OF_A_BLOCK, Carveout, Effect, PartitionedCaching, Shape, best_blocks, fit, largest, launch_bounds,
    occupancy, register_cap, slack, sweep, waves,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The same shapes in every run: one that lands must not fail by chance. Other seeds were tried by hand.
const SEED: RngSeed = RngSeed::Fixed(20_261_130);

fn any_limits() -> impl Strategy<Value = &'static SmLimits> {
    (0..limit_rows(Rules::Cuda13_5).len()).prop_map(|index| &limit_rows(Rules::Cuda13_5)[index])
}

/// Shapes as people have them, and some that can't launch.
fn any_shape() -> impl Strategy<Value = Shape> {
    let carveout = prop_oneof![
        4 => Just(Carveout::Default),
        1 => (0..=100u32).prop_map(Carveout::Percent)
    ];
    let caching = prop_oneof![4 => Just(PartitionedCaching::Off), 1 => Just(PartitionedCaching::Strict)];
    let shared = prop_oneof![Just(0u32), 0..=50_000u32, 0..=240_000u32];
    (0..=256u32, 1..=1056u32, 0..=49_152u32, shared, 0..=18u32, carveout, caching).prop_map(
        |(registers, threads, fixed, dynamic, barriers, carveout, caching)| Shape {
            registers_per_thread: registers,
            threads_per_block: threads,
            shared_static: fixed,
            shared_dynamic: dynamic,
            barriers,
            carveout,
            partitioned_caching: caching,
            ..Shape::default()
        },
    )
}

fn blocks(limits: &SmLimits, shape: &Shape) -> u32 {
    occupancy(limits, shape).unwrap().blocks_per_sm
}

/// The blocks of a launch: none where it has more barriers than a block can name, which is no ceiling.
fn launched(limits: &SmLimits, shape: &Shape) -> u32 {
    if shape.barriers > BARRIERS_OF_A_BLOCK { 0 } else { blocks(limits, shape) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100_000, failure_persistence: None, rng_seed: SEED, ..ProptestConfig::default() })]

    #[test]
    fn every_edge_of_every_axis_is_where_it_is_said_to_be(limits in any_limits(), shape in any_shape()) {
        let now = blocks(limits, &shape);
        for axis in slack(limits, &shape).unwrap() {
            let at = |value| blocks(limits, &axis.axis.with(&shape, value));
            if let Some(gain) = axis.gain {
                prop_assert!(gain.value < axis.value);
                prop_assert!(at(gain.value) > now && at(gain.value) == gain.occupancy.blocks_per_sm);
                prop_assert!(at(gain.value + 1) <= now, "{axis:?}: one more than the edge must not gain");
            }
            if let Some(loss) = axis.loss {
                prop_assert!(loss.value > axis.value);
                prop_assert!(at(loss.value) < now && at(loss.value) == loss.occupancy.blocks_per_sm);
                prop_assert!(at(loss.value - 1) >= now, "{axis:?}: one less than the edge must not lose");
                prop_assert_eq!(axis.free_to, loss.value - 1);
            }
            let own = |value| {
                let answer = occupancy(limits, &axis.axis.with(&shape, value)).unwrap();
                answer.ceilings.get(axis.axis.resource())
            };
            if let Some(up) = axis.ceiling_up {
                prop_assert!(own(up.value).is_none_or(|ceiling| Some(ceiling) > axis.ceiling));
                prop_assert!(own(up.value + 1).is_some_and(|ceiling| Some(ceiling) <= axis.ceiling));
            }
            if let Some(down) = axis.ceiling_down {
                prop_assert!(own(down.value) < axis.ceiling || axis.ceiling.is_none());
                prop_assert!(own(down.value - 1) >= axis.ceiling || own(down.value - 1).is_none());
            }
        }
    }

    #[test]
    fn every_solution_reaches_the_blocks_and_no_smaller_change_does(
        limits in any_limits(), shape in any_shape(), wanted in 1..=32u32
    ) {
        let now = launched(limits, &shape);
        let solutions = fit(limits, &shape, wanted).unwrap();
        if now >= wanted {
            prop_assert_eq!(solutions.len(), 1);
            prop_assert!(solutions[0].changes.is_empty() && solutions[0].settings.is_empty());
        }
        for solution in &solutions {
            let mut changed = Shape {
                carveout: solution.shape.carveout,
                partitioned_caching: solution.shape.partitioned_caching,
                ..shape
            };
            for change in &solution.changes {
                prop_assert!(change.to < change.from);
                changed = change.axis.with(&changed, change.to);
            }
            prop_assert_eq!(changed, solution.shape);
            prop_assert!(launched(limits, &changed) >= wanted, "{solution:?}");
            for change in &solution.changes {
                // A block of one thread more is a block of one warp more.
                let less = change.axis.with(&changed, change.to + 1);
                prop_assert!(launched(limits, &less) < wanted, "{change:?} could be smaller");
            }
        }
    }

    #[test]
    fn the_most_of_an_axis_is_the_most(limits in any_limits(), shape in any_shape(), wanted in 1..=32u32) {
        for axis in Axis::ALL {
            let ceiling = |value| {
                let answer = occupancy(limits, &axis.with(&shape, value)).unwrap();
                answer.ceilings.get(axis.resource()).unwrap_or(u32::MAX)
            };
            match largest(limits, &shape, axis, wanted).unwrap() {
                Some(value) => {
                    prop_assert!(ceiling(value) >= wanted);
                    let last = *axis.unit_ends(limits).last().unwrap();
                    prop_assert!(value == last || ceiling(value + 1) < wanted);
                }
                None => prop_assert!(ceiling(axis.least()) < wanted),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, rng_seed: SEED, ..ProptestConfig::default() })]

    #[test]
    fn a_sweep_is_the_engine_at_every_value(limits in any_limits(), shape in any_shape()) {
        for axis in Axis::ALL {
            let stairs = sweep(limits, &shape, axis).unwrap();
            prop_assert_eq!(stairs[0].from, axis.least());
            prop_assert!(stairs.windows(2).all(|pair| pair[0].to + 1 == pair[1].from));
            let own = |value: &u32| {
                let answer = occupancy(limits, &axis.with(&shape, *value)).unwrap();
                answer.ceilings.get(axis.resource()).unwrap_or(u32::MAX)
            };
            prop_assert!(axis.unit_ends(limits).iter().map(own).is_sorted_by(|before, after| before >= after));
            for stair in stairs {
                for value in [stair.from, u32::midpoint(stair.from, stair.to), stair.to] {
                    let answer = occupancy(limits, &axis.with(&shape, value)).unwrap();
                    prop_assert_eq!(answer.blocks_per_sm, stair.occupancy.blocks_per_sm);
                    prop_assert_eq!(answer.warps_per_sm(), stair.occupancy.warps_per_sm());
                    prop_assert_eq!(answer.limiters(), stair.occupancy.limiters());
                }
            }
        }
    }

    #[test]
    fn no_block_size_beats_the_best_ones(limits in any_limits(), shape in any_shape()) {
        let best = best_blocks(limits, &shape, 1024).unwrap();
        let warps = best.first().map_or(0, |best| best.occupancy.warps_per_sm());
        for threads in 1..=1024 {
            let found = occupancy(limits, &Axis::Block.with(&shape, threads)).unwrap().warps_per_sm();
            prop_assert!(found <= warps);
            if found == warps && warps > 0 && threads % 32 == 0 {
                prop_assert!(best.iter().any(|size| size.threads == threads));
            }
        }
    }

    #[test]
    fn minimum_blocks_mean_what_is_said(limits in any_limits(), shape in any_shape()) {
        let shape = Shape { carveout: Carveout::Default, partitioned_caching: PartitionedCaching::Off, ..shape };
        for row in launch_bounds(limits, &shape).unwrap() {
            let capped = Shape { registers_per_thread: shape.registers_per_thread.min(row.register_cap), ..shape };
            let reached = blocks(limits, &capped) >= row.blocks;
            match row.effect {
                Effect::Free => prop_assert!(reached && blocks(limits, &shape) >= row.blocks),
                Effect::Lowers => prop_assert!(reached && blocks(limits, &shape) < row.blocks),
                Effect::Unreachable => prop_assert!(!reached && row.others_allow < row.blocks),
            }
        }
    }

    #[test]
    fn waves_add_up(grid in 1..1_000_000u64, sms in 1..200u32, per_sm in 1..32u32) {
        let at_once = u64::from(sms) * u64::from(per_sm);
        let found = waves(grid, sms, at_once).unwrap();
        prop_assert_eq!((grid - found.last_wave_blocks) % at_once, 0);
        prop_assert!((1..=at_once).contains(&found.last_wave_blocks));
        let whole = (grid - found.last_wave_blocks) / at_once + 1;
        prop_assert!((found.efficiency * (whole * at_once) as f64 - grid as f64).abs() < 1e-6 * grid as f64);
        let idle = u64::from(sms) - found.last_wave_blocks.min(u64::from(sms));
        prop_assert_eq!(u64::from(found.idle_sms_last_wave), idle);
    }
}

#[test]
fn the_compiler_s_own_caps() {
    // (threads, minimum blocks) -> MAXREG_COUNT of ptxas 13.5 for sm_90.
    let h100 = limits(ComputeCapability::new(9, 0)).unwrap();
    let known = [((1024, 1), 64), ((256, 3), 80), ((256, 5), 48), ((128, 7), 72), ((96, 5), 128), ((768, 1), 80)];
    for ((threads, min_blocks), cap) in known {
        assert_eq!(register_cap(h100, threads, min_blocks), Some(cap), "{threads}, {min_blocks}");
    }
    assert_eq!(register_cap(h100, 512, 5), None, "2,560 threads are more than an SM holds");
    assert_eq!(register_cap(h100, 32, 33), None, "33 blocks are more than an SM holds");
}
