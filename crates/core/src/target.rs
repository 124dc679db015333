//! The GPU that an answer is for: its name, its SM's limits, and its number of SMs where that is one number.

use occupant_hardware::{ComputeCapability, GpuSelector, Rules, SmLimits, UnknownCapability, limits_under};

use crate::report::GpuName;

/// A GPU with the limits of its SM.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// What the person named; `None` for an image's own architecture.
    pub selector: Option<&'a GpuSelector>,
    /// The limits of its SM.
    pub limits: &'static SmLimits,
}

impl<'a> Target<'a> {
    /// The GPU that a person named.
    ///
    /// # Errors
    /// [`UnknownCapability`] where the rules do not know its capability.
    pub fn named(selector: &'a GpuSelector, rules: Rules) -> Result<Self, UnknownCapability> {
        Ok(Self { selector: Some(selector), limits: limits_under(selector.capability(), rules)? })
    }

    /// The architecture that an image was compiled for.
    ///
    /// # Errors
    /// [`UnknownCapability`] where the rules do not know it.
    pub fn own(capability: ComputeCapability, rules: Rules) -> Result<Self, UnknownCapability> {
        Ok(Self { selector: None, limits: limits_under(capability, rules)? })
    }

    /// The name for the report: as a person named it, else the architecture's.
    #[must_use]
    pub fn name_or_architecture(&self) -> GpuName {
        let capability = self.limits.capability;
        self.name().unwrap_or_else(|| GpuName {
            name: format!("sm_{}{}", capability.major, capability.minor),
            compute_capability: capability.to_string(),
        })
    }

    /// The name for the report; `None` where nobody named a GPU.
    #[must_use]
    pub fn name(&self) -> Option<GpuName> {
        let selector = self.selector?;
        Some(GpuName { name: selector.name(), compute_capability: selector.capability().to_string() })
    }
}
