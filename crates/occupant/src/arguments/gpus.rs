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

/// The same with each family that `differs` as its models, and a note for each: a person who names `h100` gets an answer for
/// all that it can be.
pub(crate) fn models(
    gpus: Vec<GpuSelector>,
    differs: impl Fn(&GpuSelector) -> bool,
    what: &str,
) -> (Vec<GpuSelector>, Vec<String>) {
    let (mut found, mut notes): (Vec<GpuSelector>, Vec<String>) = (Vec::new(), Vec::new());
    for gpu in gpus {
        let each = if differs(&gpu) { gpu.each_model() } else { vec![gpu.clone()] };
        if each.len() > 1 {
            let names = each.iter().map(GpuSelector::name).collect::<Vec<_>>().join(", ");
            notes.push(format!(
                "{} stands for {} models that differ in {what}, and each is answered for: {names}",
                gpu.name(),
                each.len()
            ));
        }
        for model in each {
            if !found.contains(&model) {
                found.push(model);
            }
        }
    }
    (found, notes)
}
