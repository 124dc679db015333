//! What a person adds to a message: the launch as far as they know it, and the GPU.

use occupant_hardware::SmLimits;
use occupant_occupancy::Shape;

/// A GPU with its limits.
#[derive(Debug, Clone)]
pub struct Gpu {
    /// Its name.
    pub name: String,
    /// The limits of its SM.
    pub limits: &'static SmLimits,
    /// Its SMs, where that is one number.
    pub sms: Option<u32>,
}

/// `__launch_bounds__`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchBounds {
    /// Threads of the largest block.
    pub threads: u32,
    /// Minimum blocks per SM.
    pub min_blocks: Option<u32>,
}

/// What is known beside the text. `None` where it was not said.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// The GPU it happened on.
    pub gpu: Option<Gpu>,
    /// Present parts, to say where it fits.
    pub candidates: Vec<Gpu>,
    /// Registers per thread.
    pub registers: Option<u32>,
    /// Threads per block.
    pub block: Option<u32>,
    /// Static shared memory, bytes.
    pub shared_static: Option<u32>,
    /// Dynamic shared memory, bytes.
    pub shared_dynamic: Option<u32>,
    /// Named barriers.
    pub barriers: Option<u32>,
    /// Tensor-memory columns.
    pub tensor_columns: Option<u32>,
    /// Blocks per cluster.
    pub cluster: Option<u32>,
    /// Blocks of the grid along x, y, z.
    pub grid: Option<[u64; 3]>,
    /// The launch bounds.
    pub bounds: Option<LaunchBounds>,
}

impl Question {
    /// Blocks of the grid in all.
    #[must_use]
    pub fn grid_blocks(&self) -> Option<u64> {
        self.grid.map(|[x, y, z]| x.saturating_mul(y).saturating_mul(z))
    }

    /// The launch shape as far as it is known; what is not bounds nothing.
    #[must_use]
    pub fn shape(&self) -> Shape {
        Shape {
            registers_per_thread: self.registers.unwrap_or(0),
            threads_per_block: self.block.unwrap_or(1),
            shared_static: self.shared_static.unwrap_or(0),
            shared_dynamic: self.shared_dynamic.unwrap_or(0),
            barriers: self.barriers.unwrap_or(0),
            tensor_columns: self.tensor_columns.unwrap_or(0),
            ..Shape::default()
        }
    }

    /// Whether anything about the launch was said.
    #[must_use]
    pub const fn has_shape(&self) -> bool {
        self.registers.is_some()
            || self.block.is_some()
            || self.shared_static.is_some()
            || self.shared_dynamic.is_some()
            || self.cluster.is_some()
            || self.grid.is_some()
    }

    /// Static and dynamic shared memory, where either is known.
    #[must_use]
    pub fn shared(&self) -> Option<u32> {
        let known = self.shared_static.is_some() || self.shared_dynamic.is_some();
        known.then(|| self.shared_static.unwrap_or(0).saturating_add(self.shared_dynamic.unwrap_or(0)))
    }
}
