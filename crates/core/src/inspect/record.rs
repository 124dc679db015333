//! Puts the record of one kernel together: its resources, its answer, and what a reader should know about both.

use std::sync::Arc;

use occupant_binary::{Cluster, Function, NameShape};
use occupant_hardware::{Architecture, SmLimits};

use super::code::FromCode;
use super::launch::{Answer, believable_columns, threads};
use super::names::Named;
use super::stack;
use crate::report::{ClusterRecord, GpuName, KernelRecord, NameRecord, SpillRecord, StackRecord};
use crate::triton::Metadata;

/// Where a kernel was found.
pub(super) struct Place<'a> {
    pub(super) file: &'a Arc<str>,
    pub(super) entry: &'a Arc<str>,
    /// Path of the binary in the archive that was named; empty outside of archives.
    pub(super) member: &'a str,
    pub(super) architecture: Architecture,
    pub(super) relocatable: bool,
}

/// The record of a kernel in an image. `limits` is `None` where there are no rules for the architecture.
pub(super) fn of_function(
    place: &Place<'_>,
    function: &Function,
    named: &Named,
    gpu: Option<GpuName>,
    limits: Option<&SmLimits>,
    answer: Answer,
    code: &FromCode,
) -> KernelRecord {
    let spills = code.spills.clone();
    let stack_in_l1 = stack::in_l1(function, &spills, limits, answer.occupancy.as_ref());
    let tensor_columns = match limits {
        Some(limits) => believable_columns(code.tensor_columns, limits),
        None => code.tensor_columns,
    };
    let notes = notes(place, function, limits, &answer, tensor_columns, stack_in_l1.as_ref());
    KernelRecord {
        entry: Some(Arc::clone(place.entry)),
        member: of_archive(place.member),
        arch: Some(place.architecture.to_string()),
        is_kernel: function.is_kernel,
        registers: function.registers,
        shared_static: Some(function.shared_static),
        stack: function.stack,
        local: Some(function.local),
        barriers: Some(function.barriers),
        spills,
        stack_in_l1,
        max_threads: function.max_threads.and_then(threads),
        required_block: function.required_threads.and_then(threads),
        max_registers: function.max_registers,
        cluster: function.cluster.map(cluster),
        setmaxnreg: function.setmaxnreg,
        register_requests: code.register_requests.clone(),
        tensor_memory: function.tensor_memory,
        tensor_columns,
        machine_code: code.machine_code.clone(),
        virtual_resources: Some(function.virtual_resources),
        externals: function.externals.clone(),
        toolkit: function.toolkit.map(|toolkit| toolkit.to_string()),
        code_bytes: Some(function.code.end.saturating_sub(function.code.start)),
        notes,
        ..empty(place.file, named, gpu, answer)
    }
}

/// The record of a kernel of which only the name is known for this GPU.
pub(super) fn without_image(
    file: &Arc<str>,
    member: &str,
    named: &Named,
    gpu: GpuName,
    reason: String,
) -> KernelRecord {
    KernelRecord { member: of_archive(member), ..empty(file, named, Some(gpu), Answer::unknown(reason)) }
}

/// The path of a binary in an archive, where it is in one.
fn of_archive(member: &str) -> Option<Arc<str>> {
    Some(member).filter(|member| !member.is_empty()).map(Arc::from)
}

fn empty(file: &Arc<str>, named: &Named, gpu: Option<GpuName>, answer: Answer) -> KernelRecord {
    KernelRecord {
        file: Arc::clone(file),
        entry: None,
        member: None,
        arch: None,
        gpu,
        name: Arc::clone(&named.mangled),
        demangled: Arc::clone(&named.demangled),
        from_name: named.shape.as_ref().map(from_name),
        is_kernel: true,
        registers: None,
        shared_static: None,
        stack: None,
        local: None,
        barriers: None,
        spills: SpillRecord::default(),
        stack_in_l1: None,
        max_threads: None,
        required_block: None,
        max_registers: None,
        cluster: None,
        setmaxnreg: false,
        register_requests: Vec::new(),
        tensor_memory: false,
        tensor_columns: None,
        virtual_resources: None,
        externals: Vec::new(),
        toolkit: None,
        code_bytes: None,
        returns_at_once: None,
        only_reports: None,
        launch: answer.launch,
        launchable: answer.launchable,
        reason: answer.reason,
        requires: answer.requires,
        occupancy: answer.occupancy,
        machine_code: None,
        need: None,
        notes: Vec::new(),
    }
}

/// Triton kernels have free names; their metadata says as much.
pub(super) fn from_metadata(metadata: &Metadata) -> NameRecord {
    NameRecord {
        family: "triton",
        tile: Vec::new(),
        stages: metadata.stages,
        cluster: metadata.cluster.filter(|blocks| *blocks > 1).into_iter().collect(),
        schedule: Vec::new(),
    }
}

fn from_name(shape: &NameShape) -> NameRecord {
    NameRecord {
        family: shape.family,
        tile: shape.tile.clone(),
        stages: shape.stages,
        cluster: shape.cluster.clone(),
        schedule: shape.schedule.clone(),
    }
}

fn cluster(cluster: Cluster) -> ClusterRecord {
    ClusterRecord {
        blocks: cluster.blocks.and_then(threads),
        dimensions: cluster.blocks,
        max_blocks: cluster.max_blocks,
    }
}

fn notes(
    place: &Place<'_>,
    function: &Function,
    limits: Option<&SmLimits>,
    answer: &Answer,
    tensor_columns: Option<u32>,
    stack_in_l1: Option<&StackRecord>,
) -> Vec<String> {
    let mut notes = Vec::new();
    if place.relocatable {
        notes.push("relocatable code: linking can still raise its registers and stack".to_owned());
    }
    if !function.externals.is_empty() {
        let callees = function.externals.join(", ");
        notes.push(format!("calls {callees} outside the file: the loader may raise its registers to theirs"));
    }
    if function.setmaxnreg {
        notes.push("moves registers between its warps; occupancy follows the count at launch".to_owned());
    }
    match tensor_columns {
        Some(columns) => notes.push(format!("takes {columns} columns of tensor memory, by its machine code")),
        None if function.tensor_memory => {
            notes.push("uses tensor memory, how many columns its code does not say".to_owned());
        }
        None => {}
    }
    if answer.occupancy.as_ref().is_some_and(|found| found.ceilings.virtual_resources.is_some()) {
        notes.push("virtual resources are a launch-time limit: a running block can give them back".to_owned());
    }
    notes.extend(stack_in_l1.map(stack::sentence));
    if let Some(limits) = limits {
        let (image, gpu) = (place.architecture.capability, limits.capability);
        let integrated = |capability| occupant_hardware::limits(capability).is_ok_and(|row| row.integrated_only);
        if image != gpu && (integrated(image) || integrated(gpu)) {
            notes.push(format!(
                "NVIDIA promises no binary compatibility between {image} and {gpu}: one is integrated only"
            ));
        }
    }
    notes
}
