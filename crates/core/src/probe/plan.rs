//! The plan of an experiment: for each reachable occupancy the least dynamic shared memory that brings it about. Each step
//! is found by asking the engine, so it can't disagree with it.

use occupant_binary::shorten;
use occupant_hardware::{GpuSelector, SmLimits};
use occupant_occupancy::{Axis, Carveout, InvalidShape, Occupancy, Requirement, Shape, occupancy, requirements};
use occupant_profile::Measurement;
use thiserror::Error;

use crate::calc::{CalcError, CalcRequest, calc};
use crate::report::{
    Basis, CalcReport, OccupancyRecord, ProbeGap, ProbeKernel, ProbePlan, ProbeStep, SharedFrom, two_decimals,
};
use crate::subject::Subject;
use crate::verdict::launch_shape;

/// The longest kernel name that is written into code.
const LONGEST_IN_CODE: usize = 40;

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// A shape that means nothing.
    #[error(transparent)]
    Calc(#[from] CalcError),
    /// Nothing to lower.
    #[error(
        "it can't launch as it is, so there is no occupancy to lower: {reason}; `occupant fit` says what makes it fit"
    )]
    NoLaunch {
        /// Why.
        reason: String,
    },
    /// A profile without a shape.
    #[error("{what} is not in the profile: measure it with `ncu --section LaunchStats`, or give the shape with flags")]
    NotMeasured {
        /// What is missing.
        what: &'static str,
    },
}

impl From<InvalidShape> for ProbeError {
    fn from(error: InvalidShape) -> Self {
        Self::Calc(error.into())
    }
}

/// The plan for a shape given by numbers or read from a kernel.
///
/// # Errors
/// [`ProbeError`] for a shape that means nothing or can't launch.
pub fn plan(subject: &Subject) -> Result<ProbePlan, ProbeError> {
    let target = subject.target().map_err(CalcError::from)?;
    let now = calc(target, &subject.request)?;
    if let Some(reason) = now.reason {
        return Err(ProbeError::NoLaunch { reason });
    }
    let (limits, shape) = (target.limits, &subject.request.shape);
    let steps = steps(limits, shape)?;
    let carveout_percent = carveout_percent(limits, shape.carveout);
    let kernel = subject.kernel.as_deref().map(|kernel| ProbeKernel {
        file: kernel.file.to_string(),
        name: Some(kernel.name.to_string()),
        demangled: kernel.demangled.to_string(),
    });
    let cluster = subject.request.cluster.filter(|cluster| *cluster > 1);
    let pool = now.sm.shared_memory;
    let plan = ProbePlan {
        unreachable: unreachable(limits, shape, &steps),
        carveout_percent,
        l1_bytes: limits.unified_l1.filter(|_| carveout_percent.is_some()).and_then(|l1| l1.checked_sub(pool)),
        code: code(kernel.as_ref(), &steps, carveout_percent, cluster, shape),
        commands: commands(kernel.as_ref()),
        notes: notes(subject, &now, steps.len()),
        gpu: now.gpu,
        input: now.input,
        occupancy: OccupancyRecord { basis: subject.basis, ..now.occupancy },
        kernel,
        steps,
    };
    Ok(plan)
}

/// The shape of a profiled launch, on the GPU that it ran on.
///
/// # Errors
/// [`ProbeError::NotMeasured`] where the profile does not say enough.
pub fn launched(measured: &Measurement, base: &CalcRequest) -> Result<Subject, ProbeError> {
    let model = measured.model().and_then(|gpu| gpu.id.parse::<GpuSelector>().ok());
    let gpu = model.or_else(|| measured.capability.map(GpuSelector::Capability));
    let gpu = gpu.ok_or(ProbeError::NotMeasured { what: "the GPU's compute capability" })?;
    let shape = launch_shape(measured).ok_or(ProbeError::NotMeasured { what: "registers or threads of the launch" })?;
    let (carveout, partitioned_caching) = (base.shape.carveout, base.shape.partitioned_caching);
    let cluster = measured.get("launch__cluster_size").filter(|blocks| *blocks > 1.0).map(|blocks| blocks as u32);
    let request = CalcRequest { shape: Shape { carveout, partitioned_caching, ..shape }, cluster, ..*base };
    Ok(Subject::by_numbers(gpu, request))
}

/// The plan for a profiled launch; `base` says how the SM shall be set up.
///
/// # Errors
/// [`ProbeError`], as [`plan`] and [`launched`].
pub fn plan_of_launch(file: &str, measured: &Measurement, base: &CalcRequest) -> Result<ProbePlan, ProbeError> {
    let subject = launched(measured, base)?;
    let plan = plan(&subject)?;
    let kernel =
        ProbeKernel { file: file.to_owned(), name: measured.mangled.clone(), demangled: measured.name.clone() };
    let target = subject.target().map_err(CalcError::from)?;
    let cluster = subject.request.cluster;
    let mut notes = plan.notes;
    notes.extend(grid_note(measured, &plan.steps));
    notes.extend(driver_note(measured, target.limits, &subject.request.shape, plan.occupancy.blocks_per_sm));
    Ok(ProbePlan {
        code: code(Some(&kernel), &plan.steps, plan.carveout_percent, cluster, &subject.request.shape),
        commands: commands(Some(&kernel)),
        kernel: Some(kernel),
        notes,
        ..plan
    })
}

/// Steps whose blocks the grid never brings together measure nothing.
fn grid_note(measured: &Measurement, steps: &[ProbeStep]) -> Option<String> {
    let blocks = measured.blocks()?;
    let sms = measured.first(&["launch__sm_count", "device__attribute_multiprocessor_count"])?.1 as u64;
    let each = blocks.div_ceil(sms.max(1));
    steps.first().filter(|first| u64::from(first.blocks_per_sm) > each).map(|_| {
        format!(
            "the grid of {blocks} blocks brings at most {each} to each of {sms} SMs: steps with more than {each} change \
             nothing"
        )
    })
}

/// A carve-out that the driver chose, where it holds fewer blocks than the one of the plan.
fn driver_note(measured: &Measurement, limits: &SmLimits, shape: &Shape, planned: u32) -> Option<String> {
    let config = measured.get("launch__shared_mem_config_size").filter(|bytes| *bytes > 0.0)? as u32;
    let found = occupancy(limits, &Shape { carveout: Carveout::Bytes(config), ..*shape }).ok()?;
    (found.blocks_per_sm != planned).then(|| {
        format!(
            "the driver chose a carve-out of {} KiB for this launch, which holds {} blocks; the plan sets one in every \
             run, so measure its first step too",
            config / 1024,
            found.blocks_per_sm
        )
    })
}

/// Every occupancy from now downwards, with the least amount that brings it about.
pub(super) fn steps(limits: &SmLimits, shape: &Shape) -> Result<Vec<ProbeStep>, InvalidShape> {
    let now = Axis::Shared.value(shape);
    let mut steps = vec![step(limits, shape, shape.shared_dynamic)?];
    for end in Axis::Shared.unit_ends(limits).into_iter().filter(|end| *end > now) {
        let next = step(limits, &Axis::Shared.with(shape, end), shape.shared_dynamic)?;
        let lowest = steps.last().map_or(0, |step| step.blocks_per_sm);
        if next.blocks_per_sm > 0 && next.blocks_per_sm < lowest {
            steps.push(next);
        }
    }
    Ok(steps)
}

fn step(limits: &SmLimits, shape: &Shape, before: u32) -> Result<ProbeStep, InvalidShape> {
    let found = occupancy(limits, shape)?;
    // What is preferred is raised to what takes one block.
    let with = |size: &u32| occupancy(limits, &Shape { carveout: Carveout::Bytes(*size), ..*shape }).ok();
    let suffices = |at: &Occupancy| at.blocks_per_sm == found.blocks_per_sm;
    let opts_in = |needed: &Requirement| matches!(needed, Requirement::DynamicSharedMemory { .. });
    Ok(ProbeStep {
        blocks_per_sm: found.blocks_per_sm,
        warps_per_sm: found.warps_per_sm(),
        percent: two_decimals(found.percent()),
        shared_added: shape.shared_dynamic.saturating_sub(before),
        shared_dynamic: shape.shared_dynamic,
        opt_in: requirements(limits, shape, 1).iter().any(opts_in),
        carveout: limits.carveouts.iter().filter_map(with).find(suffices).map(|at| at.allocated.shared_pool),
    })
}

/// Numbers of blocks that no step has.
fn unreachable(limits: &SmLimits, shape: &Shape, steps: &[ProbeStep]) -> Vec<ProbeGap> {
    let first = steps.first().map_or(0, |step| step.blocks_per_sm);
    let last = steps.last().map_or(0, |step| step.blocks_per_sm);
    let missing = (1..first).rev().filter(|blocks| steps.iter().all(|step| step.blocks_per_sm != *blocks));
    let gap = |blocks: u32| {
        if blocks < last {
            let most = limits.shared_per_block_optin;
            let fixed = match shape.shared_static {
                0 => String::new(),
                bytes => format!(", {bytes} bytes of which are static"),
            };
            let reason =
                format!("a block would have to take more than the {} KiB that it may have{fixed}", most / 1024);
            return ProbeGap { blocks_per_sm: blocks, code: "above_limit", reason };
        }
        let unit = limits.shared_allocation_unit;
        let reason = format!("shared memory is given in units of {unit} bytes, and none of them holds just {blocks}");
        ProbeGap { blocks_per_sm: blocks, code: "granularity", reason }
    };
    missing.map(gap).collect()
}

/// Percent of the SM's shared memory that every run prefers.
fn carveout_percent(limits: &SmLimits, carveout: Carveout) -> Option<u32> {
    let largest = limits.carveouts.last()?;
    Some(match carveout {
        Carveout::Default => 100,
        Carveout::Percent(percent) => percent,
        Carveout::Bytes(bytes) => bytes.saturating_mul(100).div_ceil((*largest).max(1)).min(100),
    })
}

/// Lines of CUDA that launch a step.
fn code(
    kernel: Option<&ProbeKernel>,
    steps: &[ProbeStep],
    carveout: Option<u32>,
    cluster: Option<u32>,
    shape: &Shape,
) -> Vec<String> {
    let short = kernel.map(|kernel| shorten(&kernel.demangled, usize::MAX).into_owned());
    let writable = |name: &String| name.len() <= LONGEST_IN_CODE && !name.contains(['(', '$', ' ', '{']);
    let name = short.filter(writable).unwrap_or_else(|| "kernel".to_owned());
    let set =
        |attribute: &str, value: &str| format!("cudaFuncSetAttribute({name}, cudaFuncAttribute{attribute}, {value});");
    let mut lines = Vec::new();
    if let Some(percent) = carveout {
        lines.push(set("PreferredSharedMemoryCarveout", &percent.to_string()));
    }
    if steps.iter().any(|step| step.opt_in) {
        lines.push(set("MaxDynamicSharedMemorySize", "bytes"));
    }
    lines.push(match cluster.filter(|cluster| *cluster > 1) {
        Some(_) => format!("config.dynamicSmemBytes = bytes;  cudaLaunchKernelEx(&config, {name}, ...);"),
        None => format!("{name}<<<grid, {}, bytes>>>(...);", shape.threads_per_block),
    });
    lines
}

/// Commands that measure a step and read the results.
fn commands(kernel: Option<&ProbeKernel>) -> Vec<String> {
    let base = kernel.and_then(|kernel| base_name(&kernel.demangled));
    let only = base.as_ref().map_or_else(String::new, |name| format!(" -k {name}"));
    let matching = base.map_or_else(String::new, |name| format!(" --kernel {name}"));
    vec![format!("ncu{only} -c 5 -o probe-$bytes ./app"), format!("occupant probe{matching} --reports probe-*.ncu-rep")]
}

/// The name by which the profiler filters: without namespaces, template arguments and parameters.
fn base_name(demangled: &str) -> Option<String> {
    let named = demangled.replace("(anonymous namespace)::", "").replace("<unnamed>::", "");
    let name = named.strip_prefix("void ").unwrap_or(&named);
    let name = name.split(['<', '(']).next().unwrap_or(name);
    let name = name.rsplit([':', ' ']).next().unwrap_or(name);
    (!name.is_empty()).then(|| name.to_owned())
}

fn notes(subject: &Subject, now: &CalcReport, steps: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if steps == 1 {
        notes.push("there is no lower occupancy to go to, so this kernel can't be probed this way".to_owned());
    }
    if let Some(kernel) = subject.kernel.as_deref() {
        if subject.basis == Basis::Hypothetical {
            let block = now.input.block;
            notes.push(format!("{block} threads per block are assumed: give the launch's with --block"));
        }
        if kernel.launch.shared_dynamic_from == Some(SharedFrom::Unknown) {
            notes.push(
                "dynamic shared memory that the host passes already is taken as 0: give it with --shared-dynamic"
                    .to_owned(),
            );
        }
    }
    notes.extend(now.notes.iter().cloned());
    notes
}

#[cfg(test)]
mod tests {
    use occupant_hardware::{Rules, limit_rows};
    use proptest::prelude::*;

    use super::*;

    fn of(gpu: &str, shape: Shape) -> Subject {
        Subject::by_numbers(gpu.parse().unwrap(), CalcRequest { shape, ..CalcRequest::default() })
    }

    fn shape(registers: u32, block: u32, fixed: u32, dynamic: u32) -> Shape {
        Shape {
            registers_per_thread: registers,
            threads_per_block: block,
            shared_static: fixed,
            shared_dynamic: dynamic,
            ..Shape::default()
        }
    }

    fn rows(plan: &ProbePlan) -> Vec<(u32, u32, u32, bool)> {
        plan.steps
            .iter()
            .map(|step| (step.blocks_per_sm, step.warps_per_sm, step.shared_dynamic, step.opt_in))
            .collect()
    }

    #[test]
    fn an_h100_at_64_registers() {
        let plan = plan(&of("h100-sxm", shape(64, 256, 0, 0))).unwrap();
        // 228 KiB over 4 blocks are 57 KiB each, 1 KiB of them the system's: one unit more leaves 3.
        assert_eq!(
            rows(&plan),
            [(4, 32, 0, false), (3, 24, 57_472, true), (2, 16, 76_928, true), (1, 8, 115_840, true)]
        );
        assert_eq!((57_472 - 128 + 1024) * 4, 228 << 10);
        let carveouts: Vec<Option<u32>> =
            plan.steps.iter().map(|step| step.carveout.map(|bytes| bytes >> 10)).collect();
        assert_eq!(carveouts, [Some(8), Some(196), Some(164), Some(132)]);
        assert_eq!((plan.carveout_percent, plan.l1_bytes), (Some(100), Some(28 << 10)));
        assert!(plan.unreachable.is_empty());
        assert_eq!(plan.code.len(), 3, "{:?}", plan.code);
        assert!(plan.code[1].contains("MaxDynamicSharedMemorySize, bytes"), "{:?}", plan.code);
    }

    #[test]
    fn what_shared_memory_cannot_bring_about() {
        // 96 KiB an SM and 48 KiB a block: two always fit.
        let plan = plan(&of("gtx-1080", shape(32, 256, 1024, 0))).unwrap();
        let last = plan.steps.last().unwrap();
        assert_eq!((last.blocks_per_sm, last.opt_in, last.carveout), (2, false, None));
        assert_eq!((plan.unreachable[0].blocks_per_sm, plan.unreachable[0].code), (1, "above_limit"));
        assert!(plan.unreachable[0].reason.contains("48 KiB") && plan.unreachable[0].reason.contains("1024 bytes"));
        assert_eq!(plan.code, ["kernel<<<grid, 256, bytes>>>(...);"]);
        // Small blocks: between 32 and 29 blocks there is no amount.
        let plan = super::plan(&of("gtx-1080", shape(32, 64, 1024, 0))).unwrap();
        let between: Vec<u32> =
            plan.unreachable.iter().filter(|gap| gap.code == "granularity").map(|gap| gap.blocks_per_sm).collect();
        assert_eq!(between, [31, 30, 28, 26, 23]);
    }

    #[test]
    fn no_launch_is_no_experiment() {
        let error = plan(&of("sm_120", shape(134, 512, 0, 0))).unwrap_err().to_string();
        assert!(error.starts_with("it can't launch as it is"), "{error}");
        let one = plan(&of("h100-sxm", shape(255, 256, 0, 0))).unwrap();
        assert_eq!(one.steps.len(), 1);
        assert!(one.notes[0].contains("no lower occupancy"), "{:?}", one.notes);
    }

    #[test]
    fn a_profilers_filter_takes_the_bare_name() {
        for (name, base) in [
            ("saxpy(int, float*)", "saxpy"),
            ("void at::native::(anonymous namespace)::kernel<float, 4>(float*)", "kernel"),
            ("void gemm<(int)128, (int)8>(float *)", "gemm"),
            ("fixture::convert(int (*)(float))", "convert"),
            ("void at::<unnamed>::fill<int, (int)4>(at::<unnamed>::Fill<int>)", "fill"),
        ] {
            assert_eq!(base_name(name).as_deref(), Some(base), "{name}");
        }
        assert_eq!(base_name(""), None);
    }

    #[test]
    fn a_profile_without_a_shape() {
        let measured = Measurement::new(occupant_profile::Flavour::CsvRaw, "k".to_owned());
        let error = plan_of_launch("a.csv", &measured, &CalcRequest::default()).unwrap_err().to_string();
        assert!(error.contains("compute capability is not in the profile"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn each_step_is_the_least_that_brings_it_about(
            row in 0..limit_rows(Rules::Cuda13_5).len(),
            registers in 0..=255u32,
            threads in 1..=1024u32,
            fixed in 0..=49_152u32,
            dynamic in 0..=100_000u32,
            percent in proptest::option::of(0..=100u32),
        ) {
            let limits = &limit_rows(Rules::Cuda13_5)[row];
            let carveout = percent.map_or(Carveout::Default, Carveout::Percent);
            let shape = Shape { carveout, ..shape(registers, threads, fixed, dynamic) };
            let blocks = |dynamic: u32| occupancy(limits, &Shape { shared_dynamic: dynamic, ..shape }).unwrap().blocks_per_sm;
            if blocks(dynamic) == 0 {
                return Ok(());
            }
            let steps = steps(limits, &shape).unwrap();
            prop_assert_eq!((steps[0].shared_added, steps[0].blocks_per_sm), (0, blocks(dynamic)));
            let gaps = unreachable(limits, &shape, &steps).len();
            prop_assert_eq!(steps.len() + gaps, steps[0].blocks_per_sm as usize);
            for step in &steps {
                prop_assert_eq!(blocks(step.shared_dynamic), step.blocks_per_sm);
                prop_assert_eq!(step.shared_added, step.shared_dynamic - dynamic);
                if let Some(bytes) = step.carveout {
                    let set = Shape { shared_dynamic: step.shared_dynamic, carveout: Carveout::Bytes(bytes), ..shape };
                    prop_assert_eq!(occupancy(limits, &set).unwrap().blocks_per_sm, step.blocks_per_sm);
                }
            }
            for step in &steps[1..] {
                let less = step.shared_dynamic.saturating_sub(limits.shared_allocation_unit).max(dynamic);
                prop_assert!(blocks(less) > step.blocks_per_sm);
            }
        }
    }
}
