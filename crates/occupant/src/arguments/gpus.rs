//! `--gpu`: one GPU, or a set of them by name.

use std::str::FromStr;

use occupant_core::{GpuSelector, UnknownGpu, gpu_set};

/// What one `--gpu` stands for.
#[derive(Debug, Clone)]
pub(crate) struct Gpus(Vec<GpuSelector>);

impl FromStr for Gpus {
    type Err = UnknownGpu;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(match gpu_set(text) {
            Some(set) => set,
            None => vec![text.parse()?],
        }))
    }
}

/// The GPUs of all flags, each once, in order.
pub(crate) fn gpus(flags: &[Gpus]) -> Vec<GpuSelector> {
    let mut gpus: Vec<GpuSelector> = Vec::new();
    for gpu in flags.iter().flat_map(|set| &set.0) {
        if !gpus.contains(gpu) {
            gpus.push(gpu.clone());
        }
    }
    gpus
}
