//! How many kernels each GPU asked for has an image of, in words. Not for: counting them; that is `core`'s.
//!
//! A kernel with an image is a record for each of its images and launches; one without is there once, by its name. Where a
//! report has both and the numbers differ, both are told by name.

use occupant_core::report::GpuKernels;

use crate::words::{count, for_gpu, grouped, on_gpu};

/// What stands for a kernel that has no image.
pub(crate) fn noun(gpus: &[GpuKernels]) -> &'static str {
    if told_by_name(gpus) { "kernel name" } else { "kernel" }
}

fn told_by_name(gpus: &[GpuKernels]) -> bool {
    gpus.iter().any(|gpu| gpu.names < gpu.kernels) && gpus.iter().any(|gpu| gpu.missing() > 0)
}

/// ` (338 names) for t4 (7.5)`: what stands behind a number of kernels with an image.
pub(crate) fn whose(gpu: &GpuKernels, gpus: &[GpuKernels]) -> String {
    let names = if told_by_name(gpus) { format!(" ({})", count(gpu.names, "name")) } else { String::new() };
    names + &for_gpu(&gpu.gpu)
}

/// That a GPU has no image of any of some kernels.
pub(crate) fn none_runs(gpu: &GpuKernels, gpus: &[GpuKernels]) -> String {
    match gpu.missing() {
        1 => format!("the one kernel has no image that runs {}", on_gpu(&gpu.gpu)),
        missing => format!("none of {} {}s has an image that runs {}", grouped(missing), noun(gpus), on_gpu(&gpu.gpu)),
    }
}

#[cfg(test)]
mod tests {
    use occupant_core::report::{GpuName, NoImage};

    use super::*;

    fn gpu(name: &str, kernels: u64, names: u64, missing: u64) -> GpuKernels {
        let without_image = vec![NoImage { reason: "why".to_owned(), kernels: missing }];
        let gpu = GpuName { name: name.to_owned(), compute_capability: "9.0".to_owned() };
        GpuKernels { gpu, kernels, names, without_image }
    }

    #[test]
    fn kernels_with_and_without_images_are_compared_by_name() {
        let both = [gpu("t4", 489, 338, 0), gpu("h100", 0, 0, 338)];
        assert_eq!(whose(&both[0], &both), " (338 names) for t4 (9.0)");
        assert_eq!(none_runs(&both[1], &both), "none of 338 kernel names has an image that runs on h100 (9.0)");
        // Nothing is copied, or nothing is missing: one number is enough.
        let alone = [gpu("t4", 338, 338, 0), gpu("h100", 0, 0, 338)];
        assert_eq!(whose(&alone[0], &alone), " for t4 (9.0)");
        assert_eq!(none_runs(&alone[1], &alone), "none of 338 kernels has an image that runs on h100 (9.0)");
        let copied = [gpu("t4", 489, 338, 0)];
        assert_eq!(whose(&copied[0], &copied), " for t4 (9.0)");
    }
}
