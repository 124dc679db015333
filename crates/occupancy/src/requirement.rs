//! What the host must set for a launch to work. Not for: launches that cannot work; those are [`crate::refusals`].

use occupant_hardware::SmLimits;

use crate::shape::Shape;

/// Blocks of a cluster that every GPU with clusters takes. Source: CUDA Programming Guide, "Thread Block Clusters".
pub const PORTABLE_CLUSTER: u32 = 8;
/// Blocks of a cluster, at most, with the non-portable attribute. Source: CUDA Programming Guide, "Thread Block Clusters".
pub const LARGEST_CLUSTER: u32 = 16;

/// A function attribute to set before the launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// Shared memory over the default limit.
    DynamicSharedMemory {
        /// Dynamic bytes to allow.
        dynamic: u32,
        /// Static and dynamic bytes together.
        total: u32,
        /// Bytes allowed without opt-in.
        default: u32,
    },
    /// A cluster larger than the portable size.
    NonPortableCluster {
        /// Blocks of the cluster.
        size: u32,
    },
}

impl Requirement {
    /// The runtime API's name of the attribute.
    #[must_use]
    pub const fn attribute(&self) -> &'static str {
        match self {
            Self::DynamicSharedMemory { .. } => "cudaFuncAttributeMaxDynamicSharedMemorySize",
            Self::NonPortableCluster { .. } => "cudaFuncAttributeNonPortableClusterSizeAllowed",
        }
    }

    /// The value to set.
    #[must_use]
    pub const fn value(&self) -> u32 {
        match self {
            Self::DynamicSharedMemory { dynamic, .. } => *dynamic,
            Self::NonPortableCluster { .. } => 1,
        }
    }

    /// Why, in one line.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::DynamicSharedMemory { total, default, .. } => {
                format!(
                    "static and dynamic shared memory are {total} B together, over the default {default} B per block"
                )
            }
            Self::NonPortableCluster { size } => {
                format!("a cluster of {size} blocks is over the portable {PORTABLE_CLUSTER}")
            }
        }
    }
}

/// What the host must set for `shape` in clusters of `cluster` blocks (1 for none).
#[must_use]
pub fn requirements(limits: &SmLimits, shape: &Shape, cluster: u32) -> Vec<Requirement> {
    let total = shape.shared_static.saturating_add(shape.shared_dynamic);
    let opt_in = total > limits.shared_per_block && limits.shared_per_block_optin > limits.shared_per_block;
    let mut needed = Vec::new();
    if opt_in && shape.shared_dynamic > 0 {
        let (dynamic, default) = (shape.shared_dynamic, limits.shared_per_block);
        needed.push(Requirement::DynamicSharedMemory { dynamic, total, default });
    }
    if cluster > PORTABLE_CLUSTER {
        needed.push(Requirement::NonPortableCluster { size: cluster });
    }
    needed
}
