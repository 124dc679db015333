//! Joins what a text states, what a person adds and the rules to explanations.

use std::collections::HashMap;

use occupant_advice::{Explanation, Gpu, Question, explain as explanations, kernel_notes, kernel_shape};
use occupant_binary::demangle;
use occupant_hardware::{Architecture, GpuSelector, Rules, SmLimits, current_gpus, limits_under};
use occupant_logs::{Compiled, read};
use occupant_occupancy::{occupancy, refusals};

use crate::budget::LaunchBounds;
use crate::report::{Basis, CompiledRecord, ExplainReport, Finding, FixRecord, InequalityRecord, OccupancyRecord};

/// Threads per block where nothing says otherwise.
const ASSUMED_BLOCK: u32 = 256;

/// What is known beside the text.
#[derive(Debug, Clone, Default)]
pub struct ExplainRequest {
    /// The GPU it happened on.
    pub gpu: Option<GpuSelector>,
    /// Registers per thread.
    pub registers: Option<u32>,
    /// Threads per block.
    pub block: Option<u32>,
    /// Static shared memory, bytes.
    pub shared_static: Option<u32>,
    /// Dynamic shared memory, bytes.
    pub shared_dynamic: Option<u32>,
    /// Named barriers.
    pub barriers: Option<u32>,
    /// Tensor-memory columns.
    pub tensor_columns: Option<u32>,
    /// Blocks per cluster.
    pub cluster: Option<u32>,
    /// Blocks of the grid along x, y, z.
    pub grid: Option<[u64; 3]>,
    /// The launch bounds.
    pub bounds: Option<LaunchBounds>,
    /// Release of NVIDIA's rules.
    pub rules: Rules,
}

/// What the messages of a text mean. A text without any that is known gives a report without findings and kernels.
#[must_use]
pub fn explain(text: &str, request: &ExplainRequest) -> ExplainReport {
    let question = question(request);
    let log = read(text);
    ExplainReport {
        schema: "occupant.explain.v1",
        findings: grouped(explanations(&log.facts, &question)),
        kernels: log.kernels.iter().map(|kernel| compiled(kernel, &question, request.rules)).collect(),
        lines: log.lines,
    }
}

fn gpu(selector: &GpuSelector, rules: Rules) -> Option<Gpu> {
    let limits = limits_under(selector.capability(), rules).ok()?;
    Some(Gpu { name: selector.name(), limits, sms: selector.sm_count() })
}

fn question(request: &ExplainRequest) -> Question {
    Question {
        gpu: request.gpu.as_ref().and_then(|selector| gpu(selector, request.rules)),
        candidates: current_gpus().iter().filter_map(|selector| gpu(selector, request.rules)).collect(),
        registers: request.registers,
        block: request.block,
        shared_static: request.shared_static,
        shared_dynamic: request.shared_dynamic,
        barriers: request.barriers,
        tensor_columns: request.tensor_columns,
        cluster: request.cluster,
        grid: request.grid,
        bounds: request.bounds,
    }
}

/// What two findings have to share to be one: code, words, and both sides of the inequality.
type Same = (&'static str, String, Option<(u64, u64)>);

/// Findings that differ in their kernel alone are one: builds print the same warning hundreds of times.
fn grouped(explained: Vec<(u32, u32, Explanation)>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut known: HashMap<Same, usize> = HashMap::new();
    for explained in explained {
        let found = &explained.2;
        let sides = found.inequality.as_ref().map(|sides| (sides.needed, sides.allowed));
        let key = (found.code, found.says.clone(), sides);
        match known.get(&key).and_then(|at| findings.get_mut(*at)) {
            Some(first) => {
                first.times += explained.1;
                first.other_kernels += u32::from(found.kernel.is_some());
            }
            None => {
                known.insert(key, findings.len());
                findings.push(finding(explained));
            }
        }
    }
    findings
}

fn finding((line, times, explanation): (u32, u32, Explanation)) -> Finding {
    let inequality = explanation.inequality.map(|found| InequalityRecord {
        text: found.to_string(),
        over: found.over(),
        what: found.what,
        needed: found.needed,
        allowed: found.allowed,
        unit: found.unit,
    });
    Finding {
        line,
        times,
        code: explanation.code,
        other_kernels: 0,
        kernel: explanation.kernel.map(|name| demangle(&name).into_owned()),
        says: explanation.says,
        inequality,
        fixes: explanation.fixes.into_iter().map(|fix| FixRecord { change: fix.change, then: fix.then }).collect(),
        fits_on: explanation.fits_on,
        fails_on: explanation.fails_on,
        notes: explanation.notes,
        missing: explanation.missing,
    }
}

fn compiled(kernel: &Compiled, question: &Question, rules: Rules) -> CompiledRecord {
    let own = || {
        let architecture: Architecture = kernel.arch.as_deref()?.parse().ok()?;
        limits_under(architecture.capability, rules).ok()
    };
    let limits: Option<&'static SmLimits> = question.gpu.as_ref().map(|gpu| gpu.limits).or_else(own);
    let known = question.block.or(question.bounds.map(|bounds| bounds.threads));
    let block = known.unwrap_or(ASSUMED_BLOCK);
    let shape = kernel_shape(kernel, question, block);
    let basis = match (question.block, question.bounds, question.shared_dynamic) {
        (None, None, _) => Basis::Hypothetical,
        (Some(_), _, Some(_)) => Basis::Exact,
        _ => Basis::UpperBound,
    };
    let found = limits.and_then(|limits| occupancy(limits, &shape).ok());
    let refused: Vec<String> =
        limits.map_or_else(Vec::new, |limits| refusals(limits, &shape).iter().map(ToString::to_string).collect());
    let reason = match limits {
        None => Some("the text does not say the architecture: name the GPU with --gpu".to_owned()),
        Some(_) if refused.is_empty() => None,
        Some(_) => Some(refused.join("; ")),
    };
    CompiledRecord {
        line: kernel.line,
        name: kernel.name.clone(),
        demangled: demangle(&kernel.name).into_owned().into(),
        arch: kernel.arch.clone(),
        registers: kernel.registers,
        barriers: kernel.barriers,
        stack: kernel.stack,
        spill_store_bytes: kernel.spill_stores,
        spill_load_bytes: kernel.spill_loads,
        shared_static: kernel.shared,
        constant: kernel.constant,
        block,
        launchable: limits.map(|_| reason.is_none()),
        reason,
        occupancy: found.map(|found| OccupancyRecord::new(basis, &found)),
        notes: kernel_notes(kernel, question, limits),
    }
}
