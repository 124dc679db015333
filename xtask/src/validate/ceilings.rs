//! What streams reach of a memory's bandwidth, from the measured curves: the ceiling that the model approaches, which a
//! curve that is still rising at full occupancy has not met. Not for: constants of the model.

use std::collections::BTreeMap;

use anyhow::Result;
use occupant_hardware::{Level, StreamKind, TECHNOLOGIES};
use occupant_need::{Constants, Memory};

use super::evaluate::Case;

/// A row of `ceilings.csv`.
pub(crate) struct Row {
    pub(crate) scope: String,
    pub(crate) memory: Memory,
    pub(crate) stream: StreamKind,
    /// Share of the rated bandwidth (DRAM), bytes per cycle and SM (L2).
    pub(crate) value: f64,
    /// GPUs that it rests on.
    pub(crate) from: Vec<String>,
}

/// Order of the scope, scope, memory and stream.
type Key = (usize, String, &'static str, &'static str);

/// The rows that some curves give: a GPU's own, its memory kind's or generation's, its technology's, and all others'.
pub(crate) fn rows(cases: &[&Case], constants: &Constants) -> Result<Vec<Row>> {
    let mut found: BTreeMap<Key, Vec<(f64, String)>> = BTreeMap::new();
    for case in cases {
        let (stream, memory) = (case.stream(constants)?, case.curve.memory);
        let value = asymptote(case, constants)?;
        let gpu = case.curve.gpu;
        let mut scopes = vec![(0, gpu.id.clone()), (3, "*".to_owned())];
        match memory {
            Memory::Dram => {
                scopes.push((1, gpu.memory_type.clone()));
                let technology = TECHNOLOGIES.iter().find(|technology| gpu.memory_type.starts_with(**technology));
                scopes.extend(technology.map(|technology| (2, (*technology).to_owned())));
            }
            Memory::L2 => scopes.push((1, gpu.generation.clone())),
        }
        for (order, scope) in scopes {
            found.entry((order, scope, memory.name(), stream.name())).or_default().push((value, gpu.id.clone()));
        }
    }
    // L2 serves any mix that one was measured to reach: where reads alone never filled it, they can have as much.
    let of_l2 = |scope: &str, gpu: &str| {
        let same = |(key, _): &(&Key, &Vec<(f64, String)>)| key.1 == scope && key.2 == "l2" && key.3 != "write";
        let values = found.iter().filter(same).flat_map(|(_, values)| values);
        values.filter(|(_, of)| of == gpu).map(|(value, _)| *value).fold(0.0, f64::max)
    };
    let most: BTreeMap<Key, Vec<(f64, String)>> = found
        .iter()
        .map(|(key, values)| {
            let raised = values.iter().map(|(value, gpu)| match (key.2, key.3) {
                ("l2", "read" | "mixed") => (of_l2(&key.1, gpu), gpu.clone()),
                _ => (*value, gpu.clone()),
            });
            (key.clone(), raised.collect())
        })
        .collect();
    let row = |((_, scope, memory, stream), values): (Key, Vec<(f64, String)>)| {
        let value = values.iter().map(|(value, _)| value).sum::<f64>() / values.len() as f64;
        let mut from: Vec<String> = values.into_iter().map(|(_, gpu)| gpu).collect();
        from.sort();
        from.dedup();
        Row {
            scope,
            memory: if memory == "l2" { Memory::L2 } else { Memory::Dram },
            stream: StreamKind::ALL.into_iter().find(|kind| kind.name() == stream).unwrap_or(StreamKind::Mixed),
            value,
            from,
        }
    };
    Ok(most.into_iter().map(row).collect())
}

/// Whether the committed file has these rows, to 2 %.
pub(crate) fn same(rows: &[Row]) -> bool {
    let committed = occupant_hardware::ceilings();
    let level = |memory: Memory| if memory == Memory::L2 { Level::L2 } else { Level::Dram };
    let is = |row: &Row| {
        let found = committed
            .iter()
            .find(|found| found.scope == row.scope && found.level == level(row.memory) && found.stream == row.stream);
        found.is_some_and(|found| (found.value / row.value - 1.0).abs() < 0.02)
    };
    committed.len() == rows.len() && rows.iter().all(is)
}

/// The row that a case uses, its own GPU's and family's left out of the rows beforehand or not.
pub(crate) fn gb_per_s(rows: &[Row], case: &Case, stream: StreamKind) -> Option<f64> {
    let gpu = case.curve.gpu;
    let technology = TECHNOLOGIES.iter().find(|technology| gpu.memory_type.starts_with(**technology));
    let scopes = match case.curve.memory {
        Memory::Dram => [gpu.id.as_str(), &gpu.memory_type, technology.copied().unwrap_or("*"), "*"],
        Memory::L2 => [gpu.id.as_str(), &gpu.generation, "*", "*"],
    };
    let row = scopes.iter().find_map(|scope| {
        rows.iter().find(|row| row.scope == *scope && row.memory == case.curve.memory && row.stream == stream)
    })?;
    Some(match case.curve.memory {
        Memory::Dram => row.value * case.machine.dram_gb_per_s,
        Memory::L2 => row.value * case.machine.sms * case.machine.clock_mhz / 1000.0,
    })
}

/// The ceiling under which the model describes a curve best, between its peak and (of DRAM) the rated bandwidth; as a
/// value of a row.
fn asymptote(case: &Case, constants: &Constants) -> Result<f64> {
    let unit = match case.curve.memory {
        Memory::Dram => case.machine.dram_gb_per_s,
        Memory::L2 => case.machine.sms * case.machine.clock_mhz / 1000.0,
    };
    let peak = case.curve.peak();
    let most = if case.curve.memory == Memory::Dram { unit } else { peak * 1.5 };
    let mut best = (f64::INFINITY, peak);
    const STEPS: u32 = 60;
    for step in 0..=STEPS {
        let ceiling = peak + (most.max(peak) - peak) * f64::from(step) / f64::from(STEPS);
        let error = case.errors(constants, ceiling)?.bandwidth;
        if error < best.0 {
            best = (error, ceiling);
        }
    }
    Ok(best.1 / unit)
}
