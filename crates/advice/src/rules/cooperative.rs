//! Cooperative launches whose blocks can't be resident together.

use occupant_occupancy::occupancy;

use crate::explanation::{Explanation, Fix, Inequality};
use crate::question::Question;

/// All blocks of the grid have to be resident at once.
pub(crate) fn too_large(question: &Question) -> Explanation {
    let base = Explanation {
        code: "cooperative_too_large",
        says: "a cooperative launch needs all its blocks resident at once, and the GPU does not hold that many".to_owned(),
        notes: vec![
            "the limit is in blocks, also where the grid is given in clusters; it is blocks per SM x SMs of the device in use, so \
             ask cudaOccupancyMaxActiveBlocksPerMultiprocessor and multiProcessorCount, never a constant"
                .to_owned(),
        ],
        ..Explanation::default()
    };
    let mut missing = Vec::new();
    for (absent, flag) in [
        (question.grid.is_none(), "--grid N: blocks of the grid"),
        (question.registers.is_none(), "--registers N: as ptxas -v prints them"),
        (question.block.is_none(), "--block N: threads of the block"),
        (question.gpu.as_ref().and_then(|gpu| gpu.sms).is_none(), "--gpu G: a model, whose number of SMs is known"),
    ] {
        if absent {
            missing.push(flag.to_owned());
        }
    }
    let gpu = question.gpu.as_ref().and_then(|gpu| Some((gpu, gpu.sms?)));
    let (Some((gpu, sms)), Some(grid), true) = (gpu, question.grid_blocks(), question.block.is_some()) else {
        return Explanation { missing, ..base };
    };
    let blocks = occupancy(gpu.limits, &question.shape()).map_or(0, |found| found.blocks_per_sm);
    let most = u64::from(blocks) * u64::from(sms);
    if (1..=most).contains(&grid) {
        return Explanation {
            says: format!(
                "by these numbers {} holds {most} such blocks, and {grid} are fewer: something else was launched",
                gpu.name
            ),
            missing,
            ..base
        };
    }
    let fixes = if most > 0 {
        vec![Fix::new(format!("a grid of {most} blocks or fewer"), format!("{blocks} on each of {sms} SMs"))]
    } else {
        Vec::new()
    };
    Explanation {
        inequality: Some(Inequality {
            what: format!("blocks resident at once on {}", gpu.name),
            needed: grid,
            allowed: most,
            unit: "",
        }),
        fixes,
        missing,
        ..base
    }
}
