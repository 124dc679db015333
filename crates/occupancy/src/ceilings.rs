//! A ceiling is what one resource allows, in blocks per SM. Not for: computing them; that is [`crate::rules`].

/// A resource that bounds how many blocks an SM holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// Warp slots.
    Warps,
    /// Block slots.
    Blocks,
    /// The register file.
    Registers,
    /// Shared memory.
    SharedMemory,
    /// Named barriers (9.0 and later).
    Barriers,
    /// Virtual resources, a launch-time limit (10.0 and later).
    VirtualResources,
    /// Tensor-memory columns (10.x and 11.0). Shown; it does not lower the blocks per SM.
    TensorMemory,
}

impl Resource {
    /// All, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::Warps,
        Self::Blocks,
        Self::Registers,
        Self::SharedMemory,
        Self::Barriers,
        Self::VirtualResources,
        Self::TensorMemory,
    ];

    /// The name in JSON, CSV and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warps => "warps",
            Self::Blocks => "blocks",
            Self::Registers => "registers",
            Self::SharedMemory => "shared_memory",
            Self::Barriers => "barriers",
            Self::VirtualResources => "virtual_resources",
            Self::TensorMemory => "tensor_memory",
        }
    }
}

/// Blocks per SM that each resource allows; `None` where it does not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceilings {
    /// By warp slots.
    pub warps: u32,
    /// By block slots.
    pub blocks: u32,
    /// By registers; `None` for 0 registers.
    pub registers: Option<u32>,
    /// By shared memory; `None` where the block takes none.
    pub shared_memory: Option<u32>,
    /// By named barriers; `None` before 9.0 and for 0 barriers.
    pub barriers: Option<u32>,
    /// By virtual resources; `None` before 10.0 and for 0.
    pub virtual_resources: Option<u32>,
    /// By tensor-memory columns; `None` where there are none or 0 are asked for.
    pub tensor_memory: Option<u32>,
}

impl Ceilings {
    /// The ceiling of one resource.
    #[must_use]
    pub const fn get(&self, resource: Resource) -> Option<u32> {
        match resource {
            Resource::Warps => Some(self.warps),
            Resource::Blocks => Some(self.blocks),
            Resource::Registers => self.registers,
            Resource::SharedMemory => self.shared_memory,
            Resource::Barriers => self.barriers,
            Resource::VirtualResources => self.virtual_resources,
            Resource::TensorMemory => self.tensor_memory,
        }
    }

    /// The blocks an SM holds: the smallest ceiling, without tensor memory, for whose columns a resident block waits.
    #[must_use]
    pub fn minimum(&self) -> u32 {
        let apply = |ceiling: Option<u32>| ceiling.unwrap_or(u32::MAX);
        self.warps
            .min(self.blocks)
            .min(apply(self.registers))
            .min(apply(self.shared_memory))
            .min(apply(self.barriers))
            .min(apply(self.virtual_resources))
    }

    /// The resources whose ceiling is the minimum.
    ///
    /// NVIDIA's header computes its factor bits before it looks at barriers, so it leaves stale bits where barriers
    /// lower the minimum. Here a limiter is always a ceiling equal to the final minimum.
    #[must_use]
    pub fn limiters(&self) -> Limiters {
        let minimum = Some(self.minimum());
        let mut bits = 0;
        for (bit, resource) in Resource::ALL.into_iter().enumerate() {
            if resource != Resource::TensorMemory && self.get(resource) == minimum {
                bits |= 1 << bit;
            }
        }
        Limiters(bits)
    }
}

/// A set of resources, in the order of [`Resource::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limiters(u8);

impl Limiters {
    /// The members, in order.
    pub fn iter(self) -> impl Iterator<Item = Resource> {
        Resource::ALL.into_iter().enumerate().filter(move |(bit, _)| self.0 & (1 << bit) != 0).map(|(_, r)| r)
    }

    /// Whether a resource is a limiter.
    #[must_use]
    pub fn contains(self, resource: Resource) -> bool {
        self.iter().any(|member| member == resource)
    }
}
