//! The launch shapes on which the engine and NVIDIA's header are compared: dense around every step of the rules.

use occupant_hardware::SmLimits;
use occupant_occupancy::{Carveout, PartitionedCaching, Shape};

/// A shape on an architecture.
#[derive(Clone, Copy)]
pub(crate) struct Point {
    pub(crate) limits: &'static SmLimits,
    pub(crate) shape: Shape,
}

/// A small generator with a fixed start, so that every run compares the same points (xorshift64*).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// A number from 0 to `end` without it.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let mixed = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d);
        (((mixed >> 32) * u64::from(end)) >> 32) as u32
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u32) as usize]
    }
}

const CACHING: [PartitionedCaching; 3] = [PartitionedCaching::Off, PartitionedCaching::On, PartitionedCaching::Strict];

/// Every point for one architecture.
pub(crate) fn points(limits: &'static SmLimits, random_points: usize, seed: u64) -> Vec<Point> {
    let mut shapes = Vec::new();
    register_grid(&mut shapes);
    block_sizes(limits, &mut shapes);
    shared_edges(limits, &mut shapes);
    pools(&mut shapes);
    let mut random = Random::new(seed);
    shapes.extend((0..random_points).map(|_| mixed(limits, &mut random)));
    shapes.into_iter().map(|shape| Point { limits, shape }).collect()
}

/// Every register count with every number of warps, at both edges of a warp.
fn register_grid(shapes: &mut Vec<Shape>) {
    for registers_per_thread in 0..=258 {
        for warps in 1..=32 {
            for threads_per_block in [warps * 32 - 31, warps * 32 - 1, warps * 32] {
                shapes.push(Shape { registers_per_thread, threads_per_block, ..Shape::default() });
            }
        }
    }
}

/// Every block size, and beyond the largest; with partitioned caching where it exists.
fn block_sizes(limits: &SmLimits, shapes: &mut Vec<Shape>) {
    let modes = if limits.partitioned_caching { &CACHING[..] } else { &CACHING[..2] };
    for threads_per_block in 1..=1100 {
        for registers_per_thread in [0, 24, 40, 64, 85, 168] {
            for &partitioned_caching in modes {
                shapes.push(Shape { registers_per_thread, threads_per_block, partitioned_caching, ..Shape::default() });
            }
        }
    }
}

/// Both sides of every allocation unit of shared memory, static and dynamic, with and without opt-in and carve-outs.
fn shared_edges(limits: &SmLimits, shapes: &mut Vec<Shape>) {
    let unit = limits.shared_allocation_unit;
    let last = limits.shared_per_sm + 4 * unit;
    let carveouts = [None, Some(0), Some(30), Some(50), Some(75), Some(100)];
    for edge in (0..=last).step_by(unit as usize) {
        for (index, total) in [edge.saturating_sub(1), edge, edge + 1].into_iter().enumerate() {
            let carveout = carveouts[(edge / unit) as usize % carveouts.len()];
            for (shared_static, shared_opt_in) in
                [(0, true), (total.min(1000 * index as u32), false), (total.min(49152), true)]
            {
                shapes.push(Shape {
                    threads_per_block: 128,
                    shared_static,
                    shared_dynamic: total - shared_static,
                    carveout: carveout.map_or(Carveout::Default, Carveout::Percent),
                    shared_opt_in,
                    ..Shape::default()
                });
            }
        }
    }
}

/// Every count of barriers and virtual resources, past the end of each pool.
fn pools(shapes: &mut Vec<Shape>) {
    for barriers in 0..=70 {
        for virtual_resources in 0..=130 {
            shapes.push(Shape { threads_per_block: 64, barriers, virtual_resources, ..Shape::default() });
        }
    }
}

/// Everything at once, biased to sizes that people use.
pub(crate) fn mixed(limits: &SmLimits, random: &mut Random) -> Shape {
    let carveout = match random.below(3) {
        0 => Carveout::Percent(random.below(101)),
        _ => Carveout::Default,
    };
    let threads_per_block = match random.below(3) {
        0 => 1 + random.below(1040),
        _ => 32 * (1 + random.below(32)),
    };
    let shared = match random.below(3) {
        0 => 0,
        1 => random.below(50_000),
        _ => random.below(limits.shared_per_sm + 2048),
    };
    let shared_static = if shared == 0 { 0 } else { random.below(shared.min(49_152) + 1) };
    Shape {
        registers_per_thread: random.below(257),
        threads_per_block,
        shared_static,
        shared_dynamic: shared - shared_static,
        barriers: random.one_of(&[0, 1, 1, 1, 2, 3, 5, 8, 16, 17]),
        virtual_resources: random.one_of(&[0, 0, 0, 1, 7, 64, 128, 129]),
        tensor_columns: 0,
        carveout,
        partitioned_caching: random.one_of(&CACHING),
        shared_opt_in: random.below(4) != 0,
    }
}
