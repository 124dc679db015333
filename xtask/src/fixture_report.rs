//! `fixtures/reports/streams.ncu-rep`: a profiler report that no profiler made, for examples and tests.
//!
//! Two launches of a fixture's kernels on an H100 PCIe. Its numbers are the model's own: what the guided model says of the
//! machine code is written down as if it had been measured, so that they fit together. Not for: comparing the model with
//! anything; that takes reports of real GPUs.

use std::fs;

use anyhow::Context;
use occupant_binary::Cubin;
use occupant_hardware::{Gpu, gpus, limits};
use occupant_need::{Guide, Guided, Machine, Resource, guided};
use occupant_occupancy::{Occupancy, Shape, occupancy};
use occupant_profile::ncu::{
    Device, Instance, Launch, Message, Metric, Module, Report, ReportWriter, Rule, Session, Speedup, SpeedupKind,
    Value, Workload,
};
use occupant_sass::{Analysis, Class, Code, Decoder, Instruction, Known};

use crate::paths;

/// Where the report goes, under `fixtures`.
const OUTPUT: &str = "reports/streams.ncu-rep";
const CUBIN: &str = "bin/streams.sm_90.cubin";
/// Address that the kernels were loaded at.
const LOADED: u64 = 0x7f00_0000_0000;
/// Cycles that all warps together live between two samples.
const SAMPLED_EACH: f64 = 262_144.0;
const BLOCKS: u64 = 65_536;
const THREADS: u32 = 256;

/// The launches: kernel, dynamic shared memory of a block, bytes that a warp moves.
const LAUNCHES: [(&str, u32, [f64; 2]); 2] = [("triad", 0, [768.0, 256.0]), ("read", 98_304, [256.0, 0.0])];

/// The report's bytes.
pub(crate) fn bytes() -> anyhow::Result<Vec<u8>> {
    let cubin = fs::read(paths::root().join("fixtures").join(CUBIN))?;
    let gpu = gpus().iter().find(|gpu| gpu.id == "h100-pcie").context("the GPU")?;
    let made: Vec<Made> = LAUNCHES
        .iter()
        .map(|(kernel, shared, moved)| Made::new(&cubin, gpu, kernel, *shared, *moved))
        .collect::<anyhow::Result<_>>()?;
    let report = Report {
        session: Session {
            devices: vec![Device { number: 0, name: "NVIDIA H100 PCIe", attributes: Vec::new() }],
            versions: vec![("Nsight Compute Target", "2025.1.0.0 (made up by `cargo xtask fixtures`)")],
        },
        modules: vec![Module { reference: 1, cubin: Some(&cubin), capability: Some((9, 0)), ..Module::default() }],
        launches: made.iter().map(Made::launch).collect(),
        faults: Vec::new(),
    };
    Ok(ReportWriter::new(&report).bytes())
}

/// Writes the report, or says whether the committed one is the same.
pub(crate) fn write(check: bool) -> anyhow::Result<bool> {
    let path = paths::root().join("fixtures").join(OUTPUT);
    let made = bytes()?;
    let same = fs::read(&path).is_ok_and(|committed| committed == made);
    if !same && !check {
        fs::create_dir_all(path.parent().context("a folder")?)?;
        fs::write(&path, made)?;
    }
    Ok(same)
}

/// One launch: what ran, and what the model says of it.
struct Made {
    kernel: &'static str,
    machine: Machine,
    shape: Shape,
    resident: Occupancy,
    analysis: Analysis,
    guide: Guide,
    model: Guided,
    /// Bytes that a warp reads and writes.
    moved: [f64; 2],
    /// Metric values.
    values: Vec<(String, f64)>,
}

impl Made {
    fn new(
        cubin: &[u8],
        gpu: &'static Gpu,
        kernel: &'static str,
        shared: u32,
        moved: [f64; 2],
    ) -> anyhow::Result<Self> {
        let parsed = Cubin::parse(&cubin)?;
        let function = parsed.functions.iter().find(|found| found.name == kernel).context("the kernel")?;
        let code = function.read_code(&cubin)?;
        let decoder = Decoder::new(parsed.architecture.capability)?;
        let analysis = Analysis::new(&Code::new(decoder, &code), &Known::default());
        let machine = Machine::of(gpu)?;
        let shape = Shape {
            registers_per_thread: function.registers.context("registers")?.max(16),
            threads_per_block: THREADS,
            shared_dynamic: shared,
            barriers: 0,
            ..Shape::default()
        };
        // Straight code: everything up to the last end is executed once.
        let is_end = |instruction: &Instruction| instruction.class() == Some(Class::Exit);
        let end = analysis.instructions.iter().rposition(is_end).context("an end")?;
        let executed = (end + 1) as f64;
        let bytes: f64 = moved.iter().sum();
        let peak = machine.bytes_per_cycle(gpu.memory_gb_per_s.context("a bandwidth")?);
        let guide = Guide {
            counts: (0..analysis.instructions.len()).map(|number| if number <= end { 1.0 } else { 0.0 }).collect(),
            sectors: None,
            l1_hits: 0.0,
            from_dram: 1.0,
            warps_per_block: THREADS / 32,
            demand: vec![
                (Resource::Issue, executed / 4.0),
                (Resource::L1, bytes / 128.0),
                (Resource::L2, bytes / 40.0),
                (Resource::Dram, bytes / peak),
            ],
        };
        let model = guided(&analysis, &machine, &guide)?;
        let resident = occupancy(limits(gpu.capability)?, &shape)?;
        let values = Vec::new();
        let mut made = Self { kernel, machine, shape, resident, analysis, guide, model, moved, values };
        made.values = made.shape_values().into_iter().chain(made.measured_values()).collect();
        made.values.iter_mut().for_each(|(_, value)| *value = (*value * 1e6).round() / 1e6);
        Ok(made)
    }

    /// Resident warps on average: a few slots are empty between blocks.
    fn warps(&self) -> f64 {
        f64::from(self.resident.warps_per_sm()) * 0.96
    }

    fn executed(&self) -> f64 {
        self.guide.counts.iter().sum()
    }

    /// The launch's shape, the GPU and what limits the blocks of an SM.
    fn shape_values(&self) -> Vec<(String, f64)> {
        let ceilings = &self.resident.ceilings;
        let limit = |ceiling: Option<u32>| f64::from(ceiling.unwrap_or(ceilings.blocks).min(ceilings.blocks));
        let waves = BLOCKS as f64 / (f64::from(self.resident.blocks_per_sm) * self.machine.sms);
        let values = [
            ("launch__grid_size", BLOCKS as f64),
            ("launch__block_size", f64::from(THREADS)),
            ("launch__thread_count", BLOCKS as f64 * f64::from(THREADS)),
            ("launch__registers_per_thread", f64::from(self.shape.registers_per_thread)),
            ("launch__shared_mem_per_block_static", 0.0),
            ("launch__shared_mem_per_block_dynamic", f64::from(self.shape.shared_dynamic)),
            ("launch__shared_mem_per_block_driver", 1024.0),
            ("launch__barrier_count", 0.0),
            ("launch__sm_count", self.machine.sms),
            ("launch__waves_per_multiprocessor", waves),
            ("launch__occupancy_limit_warps", f64::from(ceilings.warps)),
            ("launch__occupancy_limit_blocks", f64::from(ceilings.blocks)),
            ("launch__occupancy_limit_registers", limit(ceilings.registers)),
            ("launch__occupancy_limit_shared_mem", limit(ceilings.shared_memory)),
            ("device__attribute_compute_capability_major", 9.0),
            ("device__attribute_compute_capability_minor", 0.0),
            ("device__attribute_multiprocessor_count", self.machine.sms),
            ("device__attribute_max_warps_per_multiprocessor", 64.0),
            ("device__attribute_memory_clock_rate", 1_593_000.0),
            ("device__attribute_global_memory_bus_width", 5120.0),
            ("sm__maximum_warps_per_active_cycle_pct", self.resident.percent()),
        ];
        values.map(|(name, value)| (name.to_owned(), value)).into()
    }

    /// What a profiler would measure if the model were right.
    fn measured_values(&self) -> Vec<(String, f64)> {
        let (warps, executed, sms) = (self.warps(), self.executed(), self.machine.sms);
        let lifetime = self.model.lifetime.cycles(warps);
        let active = lifetime * launched() / (warps * sms);
        let elapsed = active * 1.01;
        let seconds = elapsed / (self.machine.clock_mhz * 1e6);
        let issue = executed * launched() / (sms * active) / 4.0;
        let busy = |wanted: Resource| {
            let demand = self.guide.demand.iter().find(|(of, _)| *of == wanted).map_or(0.0, |(_, cycles)| *cycles);
            demand * launched() / (sms * elapsed) * 100.0
        };
        let stalls = self.analysis.instructions.iter().zip(&self.guide.counts);
        let fixed = stalls.map(|(of, count)| count * f64::from(of.control().stall.max(1) - 1)).sum::<f64>() / executed;
        let [read, written] = self.moved;
        let stall = |reason: &str| format!("smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio");
        let share = |unit: &str| format!("{unit}.avg.pct_of_peak_sustained_elapsed");
        let plain = |name: &str| name.to_owned();
        vec![
            (plain("sm__warps_active.avg.pct_of_peak_sustained_active"), warps / 64.0 * 100.0),
            (plain("sm__warps_active.avg.per_cycle_active"), warps),
            (plain("sm__cycles_active.avg"), active),
            (plain("sm__cycles_elapsed.avg"), elapsed),
            (plain("sm__cycles_elapsed.avg.per_second"), self.machine.clock_mhz * 1e6),
            (plain("gpu__time_duration.sum"), seconds * 1e9),
            (plain("dram__bytes_read.sum"), read * launched()),
            (plain("dram__bytes.sum.per_second"), (read + written) * launched() / seconds),
            (plain("smsp__inst_executed.sum"), executed * launched()),
            (plain("smsp__issue_active.avg.per_cycle_active"), issue),
            (plain("smsp__warps_eligible.avg.per_cycle_active"), issue * 1.2),
            (share("sm__inst_executed"), busy(Resource::Issue)),
            (share("sm__throughput"), busy(Resource::Issue).max(busy(Resource::L1))),
            (share("l1tex__data_pipe_lsu_wavefronts"), busy(Resource::L1)),
            (share("lts__t_sectors"), busy(Resource::L2)),
            (share("lts__throughput"), busy(Resource::L2)),
            (share("gpu__dram_throughput"), busy(Resource::Dram)),
            (share("gpu__compute_memory_throughput"), busy(Resource::Dram)),
            (plain("l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct"), 0.0),
            (plain("lts__t_sector_op_read_hit_rate.pct"), 0.0),
            (stall("selected"), 1.0),
            (stall("not_selected"), 0.2),
            (stall("wait"), fixed),
            (stall("barrier"), 0.0),
            (stall("long_scoreboard"), lifetime / executed - fixed - 1.2),
        ]
    }

    fn launch(&self) -> Launch<'_> {
        let metric = |name, value| Metric { name, value, instances: Vec::new() };
        let mut metrics: Vec<Metric<'_>> =
            self.values.iter().map(|(name, value)| metric(name.as_str(), Value::Double(*value))).collect();
        metrics.push(metric("device__attribute_display_name", Value::Text("NVIDIA H100 PCIe")));
        metrics.push(metric("launch__function_pcs", Value::Unsigned64(LOADED)));
        metrics.extend(self.by_instruction());
        Launch {
            workload: Workload::Kernel,
            mangled: self.kernel,
            function: self.kernel,
            demangled: self.kernel,
            grid: [BLOCKS, 1, 1],
            block: [u64::from(THREADS), 1, 1],
            module: Some(1),
            metrics,
            rules: self.rules(),
        }
    }

    /// Executions and samples of each instruction.
    fn by_instruction(&self) -> Vec<Metric<'static>> {
        let waits = self.model.waits(&self.analysis, &self.guide, &self.machine, self.warps());
        let samples = |number: usize| (waits[number] * launched() / SAMPLED_EACH).round() as u64;
        let of_memory = |number: usize| self.model.visit_cycles[number] > self.machine.l1_latency;
        let metric = |name: &'static str, value: &dyn Fn(usize) -> u64| {
            let instance = |number: usize| Instance {
                correlation: Value::Unsigned64(LOADED + number as u64 * 16),
                value: Value::Unsigned64(value(number)),
            };
            let numbers = 0..self.analysis.instructions.len();
            let sum = numbers.clone().map(value).sum();
            Metric { name, value: Value::Unsigned64(sum), instances: numbers.map(instance).collect() }
        };
        vec![
            metric("inst_executed", &|number| (self.guide.counts[number] * launched()) as u64),
            metric("smsp__pcsamp_sample_count", &samples),
            metric("smsp__pcsamp_warps_issue_stalled_long_scoreboard", &|number| {
                if of_memory(number) { samples(number) } else { 0 }
            }),
            metric("smsp__pcsamp_warps_issue_stalled_wait", &|number| {
                if of_memory(number) { 0 } else { samples(number) }
            }),
        ]
    }

    /// What NVIDIA's rule would say of a theoretical occupancy under 80 %.
    fn rules(&self) -> Vec<Rule<'static>> {
        let percent = self.resident.percent();
        if percent >= 80.0 {
            return Vec::new();
        }
        vec![Rule {
            identifier: "TheoreticalOccupancy",
            name: "Theoretical Occupancy",
            section: "Occupancy",
            messages: vec![Message { title: None, text: "made up: theoretical occupancy is limited", kind: 2 }],
            speedup: Some(Speedup { kind: SpeedupKind::Local, percent: 100.0 - percent }),
        }]
    }
}

/// Warps of a launch.
fn launched() -> f64 {
    BLOCKS as f64 * f64::from(THREADS / 32)
}
