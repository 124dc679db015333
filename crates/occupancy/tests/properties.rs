//! Properties of the rules that hold for every shape on every architecture.

use occupant_hardware::{Rules, SmLimits, limit_rows};
use occupant_occupancy::{
    BARRIERS_OF_A_BLOCK, Carveout, PartitionedCaching, Shape, best_block, by_hand, occupancy, refusals, requirements,
};
use proptest::prelude::*;

fn any_limits() -> impl Strategy<Value = &'static SmLimits> {
    (0..limit_rows(Rules::Cuda13_5).len()).prop_map(|index| &limit_rows(Rules::Cuda13_5)[index])
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let carveout = prop_oneof![
        Just(Carveout::Default),
        (0..=100u32).prop_map(Carveout::Percent),
        (0..=65536u32).prop_map(Carveout::Bytes)
    ];
    let caching =
        prop_oneof![Just(PartitionedCaching::Off), Just(PartitionedCaching::On), Just(PartitionedCaching::Strict)];
    (0..=260u32, 1..=1100u32, 0..=50_000u32, 0..=240_000u32, 0..=20u32, 0..=140u32, carveout, caching, any::<bool>())
        .prop_map(|(registers, threads, fixed, dynamic, barriers, virtuals, carveout, caching, opt_in)| Shape {
            registers_per_thread: registers,
            threads_per_block: threads,
            shared_static: fixed,
            shared_dynamic: dynamic,
            barriers,
            virtual_resources: virtuals,
            tensor_columns: 0,
            carveout,
            partitioned_caching: caching,
            shared_opt_in: opt_in,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_sm_never_holds_more_than_it_has(limits in any_limits(), shape in any_shape()) {
        let Ok(answer) = occupancy(limits, &shape) else { return Ok(()) };
        prop_assert!(answer.warps_per_sm() <= limits.max_warps_per_sm());
        prop_assert!(answer.blocks_per_sm <= limits.max_blocks_per_sm);
        prop_assert!(answer.blocks_per_sm * answer.allocated.registers_per_block <= limits.registers_per_sm);
        let taken = u64::from(answer.blocks_per_sm) * u64::from(answer.allocated.shared_per_block);
        prop_assert!(taken <= u64::from(answer.allocated.shared_pool));
        prop_assert!(answer.limiters().iter().all(|r| answer.ceilings.get(r) == Some(answer.blocks_per_sm)));
        prop_assert!(answer.limiters().iter().count() > 0);
    }

    #[test]
    fn asking_for_more_never_makes_more_blocks_fit(limits in any_limits(), shape in any_shape()) {
        let shape = Shape { carveout: Carveout::Default, partitioned_caching: PartitionedCaching::Off, ..shape };
        let Ok(answer) = occupancy(limits, &shape) else { return Ok(()) };
        let more = [
            Shape { registers_per_thread: shape.registers_per_thread + 1, ..shape },
            Shape { shared_dynamic: shape.shared_dynamic + 1, ..shape },
            Shape { barriers: shape.barriers + 1, ..shape },
            Shape { virtual_resources: shape.virtual_resources + 1, ..shape },
            Shape { threads_per_block: shape.threads_per_block + 32, ..shape },
        ];
        for bigger in more {
            prop_assert!(occupancy(limits, &bigger).unwrap().blocks_per_sm <= answer.blocks_per_sm, "{bigger:?}");
        }
    }

    #[test]
    fn a_shape_is_refused_exactly_when_no_block_fits(limits in any_limits(), shape in any_shape()) {
        let Ok(answer) = occupancy(limits, &shape) else { return Ok(()) };
        // The only check here that is no ceiling: NVIDIA's rules give blocks to a shape with barriers that no block can name.
        let unnameable = shape.barriers > BARRIERS_OF_A_BLOCK;
        prop_assert_eq!(answer.blocks_per_sm == 0 || unnameable, !refusals(limits, &shape).is_empty());
    }

    #[test]
    fn opting_in_is_required_exactly_when_it_changes_the_answer(limits in any_limits(), shape in any_shape()) {
        let with = occupancy(limits, &Shape { shared_opt_in: true, ..shape });
        let without = occupancy(limits, &Shape { shared_opt_in: false, ..shape });
        let (Ok(with), Ok(without)) = (with, without) else { return Ok(()) };
        let named = !requirements(limits, &shape, 1).is_empty();
        prop_assert!(named || shape.shared_dynamic == 0 || with.blocks_per_sm == without.blocks_per_sm);
        if with.blocks_per_sm != without.blocks_per_sm && shape.shared_dynamic > 0 {
            prop_assert!(named);
        }
    }

    #[test]
    fn hand_arithmetic_walks_to_the_exact_answer(limits in any_limits(), shape in any_shape()) {
        let Ok(exact) = occupancy(limits, &shape) else { return Ok(()) };
        let hand = by_hand(limits, &shape).unwrap();
        let last = hand.steps.last().map_or(hand.answer, |step| step.to_warps);
        prop_assert!((last - f64::from(exact.warps_per_sm())).abs() < 1e-9, "{hand:?}");
        let mut warps = hand.answer;
        for step in &hand.steps {
            prop_assert_eq!(step.from_warps, warps);
            warps = step.to_warps;
        }
    }

    #[test]
    fn the_best_block_is_best(limits in any_limits(), shape in any_shape(), max in 1..=1024u32) {
        let shape = Shape { carveout: Carveout::Default, ..shape };
        let best = best_block(limits, &shape, max).unwrap();
        prop_assert!(best.threads_per_block <= max);
        for threads_per_block in 1..=max {
            let other = occupancy(limits, &Shape { threads_per_block, ..shape }).unwrap();
            prop_assert!(other.warps_per_sm() <= best.occupancy.warps_per_sm(), "{threads_per_block} is better");
            let larger_tie = other.warps_per_sm() == best.occupancy.warps_per_sm()
                && threads_per_block > best.threads_per_block;
            prop_assert!(!larger_tie, "{threads_per_block} is as good and larger");
        }
    }
}
