//! One GPU as the model sees it: latencies in cycles, throughputs of an SM per cycle, all from `occupant-hardware`.

use occupant_hardware::{
    Basis, Ceiling, ComputeCapability, Gpu, Level, MemoryLatency, StreamKind, Unit, ceiling, gpus, latency, limits,
    pipe,
};
use thiserror::Error;

/// Memory that global accesses are served from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Device memory.
    Dram,
    /// The L2 cache.
    L2,
}

impl Memory {
    /// Its name for reading and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dram => "dram",
            Self::L2 => "l2",
        }
    }
}

/// A fact about a GPU that the model needs and nobody has published.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MissingFact {
    /// The machine code of such parts is not decoded, nor their units known.
    #[error("units of compute capability {0} are not known: the model starts at 7.0")]
    Units(ComputeCapability),
    /// No latency of memory.
    #[error("no memory latency of {0} is known: `occupant gpus {0}` lists its facts")]
    Latency(String),
    /// No SM count, clock or bandwidth.
    #[error("{what} of {gpu} is not known")]
    Model {
        /// The GPU.
        gpu: String,
        /// What is missing.
        what: &'static str,
    },
}

impl MissingFact {
    /// Stable identifier.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Units(_) => "units_unknown",
            Self::Latency(_) => "latency_unknown",
            Self::Model { .. } => "model_unknown",
        }
    }
}

/// One GPU. Latencies are in cycles of its SM clock, unloaded.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// Model, as in [`Gpu::id`].
    pub gpu: String,
    /// Compute capability.
    pub capability: ComputeCapability,
    /// Multiprocessors.
    pub sms: f64,
    /// SM clock that cycles are counted at, MHz: that of the latency measurement, else the boost clock.
    pub clock_mhz: f64,
    /// Warp slots of an SM.
    pub warp_slots: u32,
    /// L1 hit.
    pub l1_latency: f64,
    /// L2 hit, mean of near and far partition.
    pub l2_latency: f64,
    /// DRAM.
    pub dram_latency: f64,
    /// DRAM bandwidth by specification, GB/s.
    pub dram_gb_per_s: f64,
    /// FP16 multiply-adds of the tensor cores per cycle and SM, dense.
    pub tensor_fma: Option<f64>,
    /// What of this was measured on other parts or assumed, in words.
    pub doubts: Vec<String>,
}

impl Machine {
    /// The machine of a GPU model.
    ///
    /// # Errors
    /// [`MissingFact`] where a fact that the model needs is not known.
    pub fn of(gpu: &Gpu) -> Result<Self, MissingFact> {
        let measured = latency(&gpu.id).ok_or_else(|| MissingFact::Latency(gpu.id.clone()))?;
        Self::with_latency(gpu, measured)
    }

    /// The machine of a GPU model whose latencies may be those of another of its compute capability, which is a doubt. For
    /// launches that were profiled: there the rest is measured.
    ///
    /// # Errors
    /// As [`Machine::of`], where no GPU of its compute capability has known latencies.
    pub fn of_kin(gpu: &Gpu) -> Result<Self, MissingFact> {
        let kin = gpus().iter().filter(|other| other.capability == gpu.capability);
        let known = kin.filter_map(|other| Some((other, latency(&other.id)?)));
        // A measured row before one that was itself taken over, and only such as have DRAM's.
        let usable = known.filter(|(_, row)| row.dram_ns.is_some() && row.l2_near_cycles.is_some());
        let nearest = usable.min_by_key(|(_, row)| row.provenance.basis != Basis::Measured);
        match (Self::of(gpu), nearest) {
            (Ok(machine), _) => Ok(machine),
            (Err(error), None) => Err(error),
            (Err(_), Some((other, row))) => {
                let mut machine = Self::with_latency(gpu, row)?;
                let doubt = format!("latencies of {} are not known: taken from {}", gpu.id, other.id);
                machine.doubts = vec![doubt];
                Ok(machine)
            }
        }
    }

    /// The same GPU at another SM clock, MHz: what lies beyond L2 takes the same time, so other cycles.
    #[must_use]
    pub fn at_clock(mut self, clock_mhz: f64) -> Self {
        let beyond = self.dram_latency - self.l2_latency;
        self.dram_latency = self.l2_latency + beyond * clock_mhz / self.clock_mhz;
        self.clock_mhz = clock_mhz;
        self
    }

    fn with_latency(gpu: &Gpu, measured: &MemoryLatency) -> Result<Self, MissingFact> {
        let missing = |what| MissingFact::Model { gpu: gpu.id.clone(), what };
        let capability = gpu.capability;
        let slots = limits(capability).map_err(|_| MissingFact::Units(capability))?.max_threads_per_sm / 32;
        pipe(Unit::Fma, capability).ok_or(MissingFact::Units(capability))?;
        let boost = gpu.boost_mhz.map(f64::from);
        let clock_mhz = measured.clock_mhz.or(boost).ok_or_else(|| missing("the SM clock"))?;
        let near = measured.l2_near_cycles;
        let l2_latency = near.zip(measured.l2_far_cycles.or(near)).map(|(near, far)| f64::midpoint(near, far));
        let from_ns = measured.dram_ns.map(|ns| ns * clock_mhz / 1000.0);
        let dram_latency = from_ns.or(measured.dram_cycles).ok_or_else(|| MissingFact::Latency(gpu.id.clone()))?;
        let dram_gb_per_s = gpu.memory_gb_per_s.ok_or_else(|| missing("the memory bandwidth"))?;
        let sms = f64::from(gpu.sm_count.ok_or_else(|| missing("the number of SMs"))?);
        let rated = gpu.tensor_fp16_dense_tflops.filter(|rate| *rate > 0.0).zip(boost);
        let mut doubts = Vec::new();
        if measured.provenance.basis != Basis::Measured {
            let note = measured.provenance.note.as_deref().unwrap_or("not measured on this model");
            doubts.push(format!("latencies of {}: {note}", gpu.id));
        }
        // Where L2 was not measured it is taken as the share of DRAM's latency that it is elsewhere.
        let assumed_l2 = dram_latency * 0.55;
        if l2_latency.is_none() {
            doubts.push("L2 latency assumed to be 0.55 of DRAM's, as on the measured parts".to_owned());
        }
        Ok(Self {
            gpu: gpu.id.clone(),
            capability,
            sms,
            clock_mhz,
            warp_slots: slots,
            l1_latency: measured.l1_cycles.unwrap_or(34.0),
            l2_latency: l2_latency.unwrap_or(assumed_l2),
            dram_latency,
            dram_gb_per_s,
            // Rated at a boost clock that tables round differently: the hardware's number is a power of two.
            tensor_fma: rated.map(|(tflops, mhz)| (tflops * 1e6 / 2.0 / sms / mhz).log2().round().exp2()),
            doubts,
        })
    }

    /// The measured share of a level's bandwidth that a stream reaches.
    #[must_use]
    pub fn ceiling(&self, memory: Memory, stream: StreamKind) -> &'static Ceiling {
        let level = match memory {
            Memory::Dram => Level::Dram,
            Memory::L2 => Level::L2,
        };
        ceiling(&self.gpu, level, stream)
    }

    /// What a stream can have of a level of memory, GB/s over all SMs.
    #[must_use]
    pub fn gb_per_s(&self, memory: Memory, stream: StreamKind) -> f64 {
        let ceiling = self.ceiling(memory, stream);
        match memory {
            Memory::Dram => self.dram_gb_per_s * ceiling.value,
            Memory::L2 => ceiling.value * self.sms * self.clock_mhz / 1000.0,
        }
    }

    /// Bytes per cycle and SM of a rate in GB/s over all SMs.
    #[must_use]
    pub fn bytes_per_cycle(&self, gb_per_s: f64) -> f64 {
        gb_per_s * 1000.0 / (self.clock_mhz * self.sms)
    }

    /// Latency of a global load.
    #[must_use]
    pub const fn latency(&self, memory: Memory) -> f64 {
        match memory {
            Memory::Dram => self.dram_latency,
            Memory::L2 => self.l2_latency,
        }
    }

    /// Cycles between instructions of one sub-partition on a unit.
    #[must_use]
    pub fn interval(&self, unit: Unit) -> f64 {
        pipe(unit, self.capability).map_or(1.0, |pipe| pipe.interval)
    }

    /// Cycles to a unit's result.
    #[must_use]
    pub fn unit_latency(&self, unit: Unit) -> f64 {
        pipe(unit, self.capability).map_or(1.0, |pipe| pipe.latency)
    }
}
