//! Clusters that the hardware refuses.

use occupant_occupancy::{LARGEST_CLUSTER, PORTABLE_CLUSTER};

use crate::explanation::{Explanation, Fix, Inequality};
use crate::question::Question;

/// "cluster misconfiguration".
pub(crate) fn size(question: &Question) -> Explanation {
    let mut notes = vec![
        "every GPU with clusters (9.0 and later) takes 8 blocks; more need the attribute, and a GPC with that many free SMs where \
         a block fills an SM: cudaOccupancyMaxPotentialClusterSize and cudaOccupancyMaxActiveClusters tell for the kernel"
            .to_owned(),
    ];
    let mut fixes = Vec::new();
    let mut inequality = None;
    match question.cluster {
        Some(cluster) if cluster > PORTABLE_CLUSTER => {
            let allowed = if cluster > LARGEST_CLUSTER { LARGEST_CLUSTER } else { PORTABLE_CLUSTER };
            let what = if cluster > LARGEST_CLUSTER { "blocks of a cluster" } else { "blocks of a portable cluster" };
            inequality = Some(Inequality {
                what: what.to_owned(),
                needed: u64::from(cluster),
                allowed: u64::from(allowed),
                unit: "",
            });
            if cluster <= LARGEST_CLUSTER {
                fixes.push(Fix::new(
                    "cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1)",
                    "before the launch; some chips then still hold none",
                ));
            }
            fixes.push(Fix::new(format!("clusters of {PORTABLE_CLUSTER} blocks"), "portable"));
        }
        Some(cluster) => {
            if let Some(grid) = question.grid_blocks().filter(|grid| !grid.is_multiple_of(u64::from(cluster.max(1)))) {
                let up = grid.next_multiple_of(u64::from(cluster.max(1)));
                fixes.push(Fix::new(
                    format!("a grid of {up} blocks"),
                    format!("{grid} is no multiple of the cluster's {cluster}, along each dimension it has to be"),
                ));
            }
        }
        None => {}
    }
    if let Some(gpu) = question.gpu.as_ref().filter(|gpu| !gpu.limits.clusters) {
        notes.push(format!("{} ({}) has no clusters", gpu.name, gpu.limits.capability));
    }
    let missing = [
        (question.cluster.is_none(), "--cluster N: blocks of the cluster"),
        (question.grid.is_none(), "--grid N: blocks of the grid, which has to be a multiple"),
    ];
    Explanation {
        code: "cluster_size",
        says: "the cluster is larger than the GPU allows for this kernel, or the grid is no multiple of it".to_owned(),
        inequality,
        fixes,
        notes,
        missing: missing.into_iter().filter(|(absent, _)| *absent).map(|(_, flag)| flag.to_owned()).collect(),
        ..Explanation::default()
    }
}
