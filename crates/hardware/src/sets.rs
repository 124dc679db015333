//! Sets of GPUs with a name, for questions such as "where does this fit". Not for: facts about them.

use crate::{GpuSelector, gpus};

/// Parts in wide use, one or more of every generation that current toolkits compile for, data centre, workstation, desk
/// and edge.
const CURRENT: [&str; 16] = [
    "t4",
    "a100-sxm4-80gb",
    "a10g",
    "rtx-3090",
    "l4",
    "l40s",
    "rtx-4090",
    "h100-sxm",
    "h200-sxm",
    "b200-sxm",
    "b300-sxm",
    "jetson-agx-orin-64gb",
    "jetson-thor-t5000",
    "rtx-5090",
    "rtx-pro-6000-blackwell-server",
    "dgx-spark-gb10",
];

/// Parts in wide use of every generation that toolkits compile for, oldest first.
#[must_use]
pub fn current_gpus() -> Vec<GpuSelector> {
    gpus().iter().filter(|gpu| CURRENT.contains(&gpu.id.as_str())).map(GpuSelector::Model).collect()
}

/// The GPUs that a set's name stands for: `current` or `all`. `None` where the text is no such name.
#[must_use]
pub fn gpu_set(text: &str) -> Option<Vec<GpuSelector>> {
    match text.trim().to_ascii_lowercase().as_str() {
        "current" => Some(current_gpus()),
        "all" => Some(gpus().iter().map(GpuSelector::Model).collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_the_set_is_a_model() {
        assert_eq!(current_gpus().len(), CURRENT.len());
        assert!(gpu_set("All").is_some_and(|all| all.len() > 100) && gpu_set("h100").is_none());
    }
}
