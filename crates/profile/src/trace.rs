//! PyTorch (Kineto) traces: what CUPTI says of each launch, and how long it took.
//!
//! For: registers, shared memory, grid and time of every kernel of a training step. Not for: occupancy as measured; a trace
//! has none. "est. achieved occupancy %" in it is computed from the launch alone: the theoretical one, or less where the grid
//! has fewer blocks than fit.
//! Traces are large: each event is looked at where it stands in the text, and only kernels are kept.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use occupant_hardware::ComputeCapability;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::any::Read;
use crate::error::ProfileError;
use crate::measurement::{Flavour, Measurement};

/// Reads a trace: one measurement a kernel, grid, block, registers and shared memory, with the mean of its times.
///
/// # Errors
/// [`ProfileError::Text`] where it is no JSON from its start on. A trace that is cut off gives what stands before the cut,
/// and a fault.
pub fn read_trace(text: &str) -> Result<Read, ProfileError> {
    let mut found = Found { start: text.as_ptr() as usize, ..Found::default() };
    let mut json = serde_json::Deserializer::from_str(text);
    let read = json.deserialize_any(Document(&mut found));
    let mut faults = in_lines(text, &found.faults);
    if let Err(error) = read.and_then(|()| json.end()) {
        let fault =
            ProfileError::Text { line: error.line() as u64, found: format!("a trace that does not parse: {error}") };
        if found.launches.is_empty() {
            return Err(fault);
        }
        faults.push(fault);
    }
    let mut launches: Vec<(Key<'_>, Times)> = found.launches.into_iter().collect();
    launches.sort_by_key(|(_, times)| times.first);
    let measurements = launches.into_iter().map(|(key, times)| measurement(&key, &times, &found.devices)).collect();
    Ok(Read { measurements, faults })
}

/// What tells launches of a trace apart.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    name: Cow<'a, str>,
    device: Option<u64>,
    grid: Option<[u64; 3]>,
    block: Option<[u64; 3]>,
    registers: Option<u64>,
    shared: Option<u64>,
}

/// The launches of one kind.
struct Times {
    /// Where the first one stands among kernels.
    first: u64,
    launches: u64,
    timed: u64,
    microseconds: f64,
    /// What Kineto computes of the launch, the same for all of a kind.
    estimates: Vec<(&'static str, f64)>,
}

/// Limits of blocks by resource in the calculator's answer, and the names under which they are kept: it assumes how memory is
/// divided between cache and shared memory, where Nsight Compute's own limits go by what the driver set up.
const LIMITS: [(&str, &str); 5] = [
    ("blockLimitRegs", "kineto__block_limit_registers"),
    ("blockLimitSharedMem", "kineto__block_limit_shared_mem"),
    ("blockLimitWarps", "kineto__block_limit_warps"),
    ("blockLimitBlocks", "kineto__block_limit_blocks"),
    ("blockLimitBarriers", "kineto__block_limit_barriers"),
];

/// Bytes of shared memory that a block may have without asking for more. Kineto calculates as if no kernel had asked, so
/// beyond it says that none fits.
const WITHOUT_ASKING: u64 = 48 << 10;

impl Arguments {
    fn estimates(&self) -> Vec<(&'static str, f64)> {
        let own = [("kineto__blocks_per_sm", &self.blocks), ("kineto__warps_per_sm", &self.warps)];
        let limits = LIMITS.iter().filter_map(|(field, name)| Some((*name, self.limits.get(field)?)));
        let calculated = [("kineto__estimated_occupancy", &self.occupancy)].into_iter().chain(limits);
        let holds = self.shared.as_u64().is_none_or(|shared| shared <= WITHOUT_ASKING);
        let calculated = calculated.filter(|_| holds);
        // Versions with faults wrote negative ones.
        let numbers = own.into_iter().chain(calculated).filter_map(|(name, value)| Some((name, value.as_f64()?)));
        numbers.filter(|(_, value)| *value >= 0.0).collect()
    }
}

#[derive(Default)]
struct Found<'a> {
    launches: BTreeMap<Key<'a>, Times>,
    kernels: u64,
    devices: Vec<Device>,
    /// Where the text begins in memory: events are parts of it, so that their place is known without counting.
    start: usize,
    /// What is wrong with kernels, by their offsets.
    faults: Vec<(usize, String)>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default)]
    cat: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(default)]
    dur: Value,
    #[serde(default)]
    args: Option<Arguments>,
}

/// Numbers are taken as any value: Kineto writes `"inf"` where it divides by a count that it does not know.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Arguments {
    device: Value,
    grid: Option<[u64; 3]>,
    block: Option<[u64; 3]>,
    #[serde(rename = "registers per thread")]
    registers: Value,
    #[serde(rename = "shared memory")]
    shared: Value,
    #[serde(rename = "est. achieved occupancy %")]
    occupancy: Value,
    #[serde(rename = "blocks per SM")]
    blocks: Value,
    #[serde(rename = "warps per SM")]
    warps: Value,
    /// What the calculator says, in traces since 2025.
    #[serde(rename = "occupancy")]
    limits: Value,
}

/// A GPU, as `deviceProperties` lists it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Device {
    #[serde(default)]
    id: Option<u64>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    compute_major: Option<u8>,
    #[serde(default)]
    compute_minor: Option<u8>,
    #[serde(default)]
    num_sms: Option<u64>,
    #[serde(default)]
    regs_per_multiprocessor: Option<u64>,
    #[serde(default)]
    max_threads_per_multiprocessor: Option<u64>,
    #[serde(default)]
    shared_mem_per_multiprocessor: Option<u64>,
}

impl<'a> Found<'a> {
    fn event(&mut self, raw: &'a str) {
        // Most events are no kernels; those are not taken apart.
        if !raw.contains("kernel") && !raw.contains("Kernel") {
            return;
        }
        // Only the category says whether an event must be well-formed.
        let category = |event: &Event<'_>| event.cat.as_deref().is_some_and(|cat| cat.eq_ignore_ascii_case("kernel"));
        match serde_json::from_str::<Event<'a>>(raw) {
            Ok(event) if category(&event) => self.kernel(event),
            Ok(_) => {}
            Err(error) if is_kernel(raw) => {
                let found = format!("a kernel in the trace that does not parse: {error}");
                self.faults.push(((raw.as_ptr() as usize).saturating_sub(self.start), found));
            }
            Err(_) => {}
        }
    }

    fn kernel(&mut self, event: Event<'a>) {
        let arguments = event.args.unwrap_or_default();
        let key = Key {
            name: event.name.unwrap_or(Cow::Borrowed("a kernel without a name")),
            device: arguments.device.as_u64(),
            grid: arguments.grid,
            block: arguments.block,
            registers: arguments.registers.as_u64(),
            shared: arguments.shared.as_u64(),
        };
        let first = self.kernels;
        self.kernels = first.saturating_add(1);
        let new = || Times { first, launches: 0, timed: 0, microseconds: 0.0, estimates: arguments.estimates() };
        let times = self.launches.entry(key).or_insert_with(new);
        times.launches = times.launches.saturating_add(1);
        if let Some(microseconds) = event.dur.as_f64() {
            times.timed = times.timed.saturating_add(1);
            times.microseconds += microseconds;
        }
    }
}

/// Faults by line instead of by offset; offsets rise, so that the text is gone through once.
fn in_lines(text: &str, faults: &[(usize, String)]) -> Vec<ProfileError> {
    let (mut line, mut counted) = (1_u64, 0_usize);
    let mut numbered = |(offset, found): &(usize, String)| {
        let between = text.as_bytes().get(counted..*offset).unwrap_or_default();
        let ends = between.iter().filter(|byte| **byte == b'\n').count() as u64;
        line = line.saturating_add(ends);
        counted = *offset;
        ProfileError::Text { line, found: found.clone() }
    };
    faults.iter().map(&mut numbered).collect()
}

fn is_kernel(raw: &str) -> bool {
    #[derive(Deserialize)]
    struct Category<'a> {
        #[serde(borrow)]
        cat: Cow<'a, str>,
    }
    serde_json::from_str::<Category<'_>>(raw).is_ok_and(|event| event.cat.eq_ignore_ascii_case("kernel"))
}

fn measurement(key: &Key<'_>, times: &Times, devices: &[Device]) -> Measurement {
    let mut measured = Measurement::new(Flavour::Trace, key.name.as_ref().to_owned());
    measured.mangled = key.name.starts_with("_Z").then(|| key.name.as_ref().to_owned());
    measured.grid = key.grid;
    measured.block = key.block;
    measured.launches = times.launches;
    let mut insert = |name: &str, value: Option<f64>| {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            measured.metrics.insert(name.to_owned(), value);
        }
    };
    let number = |value: Option<u64>| value.map(|value| value as f64);
    insert("launch__registers_per_thread", number(key.registers));
    // Static and dynamic are not told apart.
    insert("launch__shared_mem_per_block", number(key.shared));
    // Microseconds in the trace; nanoseconds as everywhere. Older traces have whole ones, and 0 is no time.
    let timed = times.timed > 0 && times.microseconds > 0.0;
    insert("gpu__time_duration.sum", timed.then(|| times.microseconds * 1e3 / times.timed as f64));
    for (name, estimate) in &times.estimates {
        insert(name, Some(*estimate));
    }
    let alone = || devices.first().filter(|_| devices.len() == 1);
    let by_number = devices.iter().find(|device| device.id.is_some() && device.id == key.device);
    let Some(device) = by_number.or_else(alone) else { return measured };
    insert("device__attribute_multiprocessor_count", number(device.num_sms));
    insert("device__attribute_max_registers_per_multiprocessor", number(device.regs_per_multiprocessor));
    insert("device__attribute_max_threads_per_multiprocessor", number(device.max_threads_per_multiprocessor));
    insert("device__attribute_max_shared_memory_per_multiprocessor", number(device.shared_mem_per_multiprocessor));
    measured.gpu.clone_from(&device.name);
    measured.capability = capability(device);
    measured
}

/// AMD's GPUs have numbers of the same form and another meaning.
fn capability(device: &Device) -> Option<ComputeCapability> {
    let name = device.name.as_deref().unwrap_or_default();
    if ["AMD", "Radeon", "Instinct"].iter().any(|vendor| name.contains(vendor)) {
        return None;
    }
    Some(ComputeCapability::new(device.compute_major?, device.compute_minor?))
}

/// The whole: an object with `traceEvents`, or the array of events alone.
struct Document<'f, 'a>(&'f mut Found<'a>);

impl<'a> Visitor<'a> for Document<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a trace: an object with `traceEvents`, or an array of events")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            match key.as_ref() {
                "traceEvents" => map.next_value_seed(Events(self.0))?,
                "deviceProperties" => {
                    let raw = map.next_value::<&'a RawValue>()?;
                    // Of another form nothing is lost but the GPU's name.
                    self.0.devices = serde_json::from_str(raw.get()).unwrap_or_default();
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'a>>(self, seq: S) -> Result<(), S::Error> {
        Events(self.0).visit_seq(seq)
    }
}

/// The events.
struct Events<'f, 'a>(&'f mut Found<'a>);

impl<'a> DeserializeSeed<'a> for Events<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for Events<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of events")
    }

    fn visit_seq<S: SeqAccess<'a>>(self, mut seq: S) -> Result<(), S::Error> {
        while let Some(event) = seq.next_element::<&'a RawValue>()? {
            self.0.event(event.get());
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
