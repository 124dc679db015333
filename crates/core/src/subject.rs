//! What a question is about: a launch shape on a GPU, given by numbers or read from a kernel of a file.

use occupant_hardware::{Architecture, GpuSelector, UnknownCapability};
use occupant_occupancy::Shape;

use crate::calc::CalcRequest;
use crate::report::{Basis, GpuName, KernelRecord};
use crate::target::Target;

/// A shape on a GPU.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The GPU, or the architecture of the kernel's image.
    pub gpu: GpuSelector,
    /// The shape and how to look at it.
    pub request: CalcRequest,
    /// What an occupancy of it rests on.
    pub basis: Basis,
    /// The kernel that it was read from.
    pub kernel: Option<Box<KernelRecord>>,
}

/// A kernel of which there is no shape for a GPU.
#[derive(Debug, Clone)]
pub struct WithoutShape {
    /// The GPU, or the image's architecture.
    pub gpu: GpuName,
    /// The kernel.
    pub kernel: Box<KernelRecord>,
    /// Why.
    pub reason: String,
}

impl Subject {
    /// A shape given by numbers.
    #[must_use]
    pub const fn by_numbers(gpu: GpuSelector, request: CalcRequest) -> Self {
        Self { gpu, request, basis: Basis::Exact, kernel: None }
    }

    /// The shape of a kernel as `inspect` found it; carve-out, caching, rules and grid come from `request`.
    ///
    /// # Errors
    /// [`WithoutShape`] where the GPU runs no image of the kernel, or where the file does not say enough.
    pub fn of_kernel(kernel: KernelRecord, request: &CalcRequest) -> Result<Self, WithoutShape> {
        let named = kernel.gpu.as_ref().and_then(|gpu| gpu.name.parse::<GpuSelector>().ok());
        let own = || kernel.arch.as_deref()?.parse::<Architecture>().ok();
        let gpu = named.or_else(|| Some(GpuSelector::Capability(own()?.capability)));
        let shape = shape(&kernel, &request.shape);
        let (Some(gpu), Some(shape), Some(found)) = (gpu, shape, &kernel.occupancy) else {
            let reason = kernel.reason.clone().unwrap_or_else(|| "the file does not say what it takes".to_owned());
            let unnamed =
                || GpuName { name: kernel.arch.clone().unwrap_or_default(), compute_capability: String::new() };
            return Err(WithoutShape {
                gpu: kernel.gpu.clone().unwrap_or_else(unnamed),
                reason,
                kernel: Box::new(kernel),
            });
        };
        let cluster = kernel.cluster.as_ref().and_then(|cluster| cluster.blocks).filter(|blocks| *blocks > 1);
        let request = CalcRequest { shape, cluster, cluster_sizes: None, ..*request };
        Ok(Self { gpu, request, basis: found.basis, kernel: Some(Box::new(kernel)) })
    }

    /// The GPU with its limits.
    ///
    /// # Errors
    /// [`UnknownCapability`] where the rules do not know it.
    pub fn target(&self) -> Result<Target<'_>, UnknownCapability> {
        Target::named(&self.gpu, self.request.rules)
    }
}

/// The shape of a kernel's record; `base` says how the SM is set up.
pub(crate) fn shape(kernel: &KernelRecord, base: &Shape) -> Option<Shape> {
    Some(Shape {
        registers_per_thread: kernel.registers?,
        threads_per_block: kernel.launch.block?,
        shared_static: kernel.shared_static?,
        shared_dynamic: kernel.launch.shared_dynamic.unwrap_or(0),
        barriers: kernel.barriers?,
        virtual_resources: kernel.virtual_resources.unwrap_or(0),
        tensor_columns: kernel.tensor_columns.unwrap_or(0),
        ..*base
    })
}
