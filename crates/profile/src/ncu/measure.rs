//! From a report's launches to measurements.

use std::collections::BTreeMap;

use occupant_hardware::ComputeCapability;

use super::{Launch, Report, SpeedupKind, Value, Workload};
use crate::measurement::{Flavour, Measurement, Said};

/// Bytes of code that instances by address may lie apart from the kernel's start: other correlations are no addresses.
const MOST_CODE: u64 = 1 << 30;

impl Report<'_> {
    /// The measurements of its launches, in their order.
    #[must_use]
    pub fn measurements(&self) -> Vec<Measurement> {
        self.launches.iter().map(|launch| self.measurement(launch)).collect()
    }

    /// The measurement of one launch.
    #[must_use]
    pub fn measurement(&self, launch: &Launch<'_>) -> Measurement {
        let name = if launch.demangled.is_empty() { several(launch.workload) } else { launch.demangled };
        let mut measured = Measurement::new(Flavour::Report, name.to_owned());
        measured.profiler = self.session.profiler().map(str::to_owned);
        measured.mangled = Some(launch.mangled.to_owned()).filter(|name| !name.is_empty());
        let device = self.device(launch);
        let named = launch.text("device__attribute_display_name");
        measured.gpu = named.or_else(|| device.map(|device| device.name)).map(str::to_owned);
        measured.capability = capability(launch);
        if launch.workload == Workload::Kernel {
            measured.grid = Some(in_blocks(launch));
            measured.block = Some(launch.block);
        }
        for metric in &launch.metrics {
            if let Some(value) = metric.value.number() {
                measured.metrics.insert(metric.name.to_owned(), value);
            }
        }
        measured.instructions = by_instruction(launch);
        for rule in &launch.rules {
            let mut speedup = rule.speedup.map(|speedup| (speedup.kind, speedup.percent));
            for message in &rule.messages {
                let said = Said {
                    rule: rule.identifier.to_owned(),
                    text: message.text.to_owned(),
                    speedup: speedup
                        .take()
                        .filter(|(kind, percent)| *kind != SpeedupKind::Unknown && (0.0..=1e4).contains(percent)),
                };
                measured.said.push(said);
            }
        }
        measured
    }
}

/// Blocks along each axis: reports of 2020 have threads there.
fn in_blocks(launch: &Launch<'_>) -> [u64; 3] {
    let threads = launch.grid.iter().fold(1, |all: u64, one| all.saturating_mul(*one));
    let are_threads = launch.whole("launch__thread_count") == Some(threads)
        && launch.whole("launch__grid_size").is_some_and(|blocks| blocks != threads);
    let blocks = |axis: usize| {
        let (threads, block) = (launch.grid.get(axis)?, launch.block.get(axis)?);
        threads.checked_div(*block)
    };
    if are_threads { [0, 1, 2].map(|axis| blocks(axis).unwrap_or(0)) } else { launch.grid }
}

const fn several(workload: Workload) -> &'static str {
    match workload {
        Workload::Kernel => "a kernel without a name",
        Workload::Range => "a range of launches",
        Workload::CommandList => "a command list",
        Workload::Graph => "a CUDA graph",
    }
}

fn capability(launch: &Launch<'_>) -> Option<ComputeCapability> {
    let part = |name: &str| launch.whole(name).and_then(|value| u8::try_from(value).ok());
    let major = part("device__attribute_compute_capability_major")?;
    Some(ComputeCapability::new(major, part("device__attribute_compute_capability_minor")?))
}

/// Instances whose correlation is an address within the kernel, by their offset from its start.
fn by_instruction(launch: &Launch<'_>) -> BTreeMap<String, Vec<(u64, f64)>> {
    let mut found = BTreeMap::new();
    let Some(start) = start(launch) else { return found };
    for metric in &launch.metrics {
        let at = |value: Value<'_>| value.whole()?.checked_sub(start).filter(|offset| *offset < MOST_CODE);
        let place = |instance: &super::Instance<'_>| Some((at(instance.correlation)?, instance.value.number()?));
        let mut values: Vec<(u64, f64)> = metric.instances.iter().filter_map(place).collect();
        if !values.is_empty() {
            values.sort_by_key(|(offset, _)| *offset);
            found.insert(metric.name.to_owned(), values);
        }
    }
    found
}

/// The address of the kernel's first instruction.
fn start(launch: &Launch<'_>) -> Option<u64> {
    let entries = launch.metric("launch__function_pcs")?;
    let first = entries.instances.first().map_or(entries.value, |entry| entry.value);
    first.whole().filter(|start| *start > 0)
}
