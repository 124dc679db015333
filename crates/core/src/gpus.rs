//! The fact tables as a report.

use occupant_hardware::{
    Basis, ComputeCapability, Confidence, Gpu, GpuSelector, Provenance, Rules, SmLimits, gpus, latency, limit_rows,
};

use crate::report::{GpuRow, GpusReport, LatencyRow, LimitsRow, Origin};

/// The GPUs that a name stands for, and the limits of their SMs: a model, a family, an architecture, or every model in
/// whose names and properties all words occur; several names where they are none together. All where `wanted` is empty.
#[must_use]
pub fn gpu_rows(wanted: &[String]) -> GpusReport {
    let together = wanted.join(" ");
    let (mut models, mut capabilities) = named(&together);
    if models.is_empty() && capabilities.is_empty() {
        for name in wanted {
            let (more, of) = named(name);
            models.extend(more);
            capabilities.extend(of);
        }
    }
    let shown = |row: &&SmLimits| {
        together.trim().is_empty()
            || capabilities.contains(&row.capability)
            || models.iter().any(|gpu| gpu.capability == row.capability)
    };
    GpusReport {
        schema: "occupant.gpus.v1",
        compute_capabilities: limit_rows(Rules::default()).iter().filter(shown).map(limits_row).collect(),
        gpus: models.into_iter().map(gpu_row).collect(),
    }
}

fn named(name: &str) -> (Vec<&'static Gpu>, Vec<ComputeCapability>) {
    match name.parse::<GpuSelector>() {
        Ok(GpuSelector::Model(gpu)) => (vec![gpu], Vec::new()),
        Ok(GpuSelector::Family { models, .. }) => (models, Vec::new()),
        Ok(GpuSelector::Capability(capability)) => {
            (gpus().iter().filter(|gpu| gpu.capability == capability).collect(), vec![capability])
        }
        Err(_) => (search(name), Vec::new()),
    }
}

fn search(wanted: &str) -> Vec<&'static Gpu> {
    let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_'], " ");
    let words = plain(wanted);
    let matches = |gpu: &&Gpu| {
        let names = [&gpu.id, &gpu.name, &gpu.generation, &gpu.die, &gpu.memory_type, &gpu.form_factor];
        let all = names.into_iter().chain(&gpu.aliases).chain(&gpu.variant_of).map(|name| plain(name));
        let all = all.collect::<Vec<_>>().join(" ");
        words.split_whitespace().all(|word| all.contains(word))
    };
    gpus().iter().filter(matches).collect()
}

fn gpu_row(gpu: &Gpu) -> GpuRow {
    GpuRow {
        id: gpu.id.clone(),
        name: gpu.name.clone(),
        aliases: gpu.aliases.clone(),
        variant_of: gpu.variant_of.clone(),
        generation: gpu.generation.clone(),
        die: gpu.die.clone(),
        compute_capability: gpu.capability.to_string(),
        sm_count: gpu.sm_count,
        boost_mhz: gpu.boost_mhz,
        base_mhz: gpu.base_mhz,
        memory_type: gpu.memory_type.clone(),
        memory_gb: gpu.memory_gb,
        memory_gb_per_s: gpu.memory_gb_per_s,
        l2_mb: gpu.l2_mb,
        fp32_lanes_per_sm: gpu.fp32_lanes_per_sm,
        fp64_lanes_per_sm: gpu.fp64_lanes_per_sm,
        tensor_fp16_dense_tflops: gpu.tensor_fp16_dense_tflops,
        form_factor: gpu.form_factor.clone(),
        latency: latency(&gpu.id).map(|row| LatencyRow {
            clock_mhz: row.clock_mhz,
            l1_cycles: row.l1_cycles,
            l2_near_cycles: row.l2_near_cycles,
            l2_far_cycles: row.l2_far_cycles,
            dram_cycles: row.dram_cycles,
            dram_ns: row.dram_ns,
            origin: origin(&row.provenance),
        }),
        confidence: match gpu.confidence {
            Confidence::Documented => "documented",
            Confidence::Secondary => "secondary",
            Confidence::Uncertain => "uncertain",
        }
        .to_owned(),
        source: gpu.source.clone(),
        note: gpu.note.clone(),
    }
}

fn limits_row(limits: &SmLimits) -> LimitsRow {
    LimitsRow {
        compute_capability: limits.capability.to_string(),
        max_threads_per_block: limits.max_threads_per_block,
        max_threads_per_sm: limits.max_threads_per_sm,
        max_warps_per_sm: limits.max_warps_per_sm(),
        max_blocks_per_sm: limits.max_blocks_per_sm,
        registers_per_block: limits.registers_per_block,
        registers_per_sm: limits.registers_per_sm,
        max_registers_per_thread: limits.max_registers_per_thread,
        register_allocation_unit: limits.register_allocation_unit,
        sub_partitions: limits.sub_partitions,
        shared_per_block: limits.shared_per_block,
        shared_per_block_optin: limits.shared_per_block_optin,
        shared_per_sm: limits.shared_per_sm,
        shared_reserved_per_block: limits.shared_reserved_per_block,
        shared_allocation_unit: limits.shared_allocation_unit,
        carveouts: limits.carveouts.clone(),
        barriers_per_sm: limits.barriers_per_sm,
        virtual_resources_per_sm: limits.virtual_resources_per_sm,
        tensor_memory_columns: limits.tensor_memory_columns,
        clusters: limits.clusters,
        limits_from: origin(&limits.limits_from),
        allocation_from: origin(&limits.allocation_from),
    }
}

fn origin(provenance: &Provenance) -> Origin {
    Origin {
        basis: match provenance.basis {
            Basis::Measured => "measured",
            Basis::Documented => "documented",
            Basis::Inferred => "inferred",
        }
        .to_owned(),
        source: provenance.source.clone(),
        note: provenance.note.clone(),
    }
}
