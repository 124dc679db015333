//! The columns that say which launch a row is of. For: kernel, grid, block, chip. Not for: metrics.

use occupant_hardware::ComputeCapability;

use super::record::Record;
use super::table::Header;
use crate::measurement::{Flavour, Measurement};

/// The columns before the metrics, of all versions.
const COLUMNS: [&str; 17] = [
    "ID",
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Name",
    "Kernel Time",
    "Context",
    "Stream",
    "Block Size",
    "Grid Size",
    "Device",
    "CC",
    "Invocations",
    "Thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
    "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
    "NVTX",
    "Device Name",
];

/// Whether a column says of which launch a row is.
pub(super) fn is_launch_column(name: &str) -> bool {
    COLUMNS.iter().any(|column| column.eq_ignore_ascii_case(name))
        || name.contains("Push/Pop_Range")
        || name.contains("Start/Stop_Range")
}

/// What tells the rows of one launch from those of others.
pub(super) fn key(header: &Header<'_>, record: &Record<'_>) -> String {
    let mut key = String::new();
    for column in COLUMNS {
        key.push_str(record.cell(header.column(column)));
        key.push('\u{1f}');
    }
    key
}

/// A measurement with what the columns say of its launch.
pub(super) fn start(flavour: Flavour, header: &Header<'_>, record: &Record<'_>) -> Measurement {
    let cell = |name: &str| record.cell(header.column(name));
    let name = cell("Kernel Name");
    let name = if name.is_empty() { "a kernel without a name" } else { name };
    let mut measured = Measurement::new(flavour, name.to_owned());
    measured.mangled = name.starts_with("_Z").then(|| name.to_owned());
    measured.block = dimensions(cell("Block Size"));
    measured.grid = dimensions(cell("Grid Size"));
    measured.capability = capability(cell("CC"));
    // The column is the device's index; tools that join files write its name there.
    let device = cell("Device");
    measured.gpu = device.contains(|c: char| c.is_alphabetic()).then(|| device.to_owned());
    measured
}

/// Fills in from metrics what older versions have no columns for.
pub(super) fn complete(measured: &mut Measurement) {
    let whole = |value: f64| (value >= 0.0 && value.fract() == 0.0).then_some(value as u64);
    let axes = |measured: &Measurement, of: &str| {
        let axis = |axis: &str| measured.get(&format!("launch__{of}_dim_{axis}")).and_then(whole);
        Some([axis("x")?, axis("y")?, axis("z")?])
    };
    measured.grid = measured.grid.or_else(|| axes(measured, "grid"));
    measured.block = measured.block.or_else(|| axes(measured, "block"));
    let part = |name: &str| {
        let value = measured.get(&format!("device__attribute_compute_capability_{name}")).and_then(whole)?;
        u8::try_from(value).ok()
    };
    let stated = || Some(ComputeCapability::new(part("major")?, part("minor")?));
    measured.capability = measured.capability.or_else(stated);
}

/// `(4096, 1, 1)`. Digits may be grouped, then only a comma with a space separates axes.
fn dimensions(text: &str) -> Option<[u64; 3]> {
    let inner = text.trim().trim_start_matches('(').trim_end_matches(')');
    let by_space: Vec<&str> = inner.split(", ").collect();
    let parts: Vec<&str> = if by_space.len() == 3 { by_space } else { inner.split([',', 'x']).collect() };
    let axis = |part: &str| {
        let digits: String = part.chars().filter(char::is_ascii_digit).collect();
        digits.parse::<u64>().ok()
    };
    match parts.as_slice() {
        [x, y, z] => Some([axis(x)?, axis(y)?, axis(z)?]),
        _ => None,
    }
}

/// `8.9`; `8` where a spreadsheet took the zero of `8.0`.
fn capability(text: &str) -> Option<ComputeCapability> {
    let (major, minor) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    Some(ComputeCapability::new(major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_and_capabilities() {
        assert_eq!(dimensions("(4096, 1, 1)"), Some([4096, 1, 1]));
        assert_eq!(dimensions("(256,2,1)"), Some([256, 2, 1]));
        assert_eq!(dimensions("(1,048,576, 1, 1)"), Some([1_048_576, 1, 1]));
        assert_eq!(dimensions("256x1x1"), Some([256, 1, 1]));
        assert_eq!(dimensions("256"), None);
        assert_eq!(dimensions(""), None);
        assert_eq!(capability("12.0"), Some(ComputeCapability::new(12, 0)));
        assert_eq!(capability("9"), Some(ComputeCapability::new(9, 0)));
        assert_eq!(capability(""), None);
    }

    #[test]
    fn older_versions_say_the_grid_in_metrics() {
        let mut measured = Measurement::new(Flavour::CsvRaw, String::new());
        for (name, value) in [("grid_dim_x", 32.0), ("grid_dim_y", 2.0), ("grid_dim_z", 1.0)] {
            measured.metrics.insert(format!("launch__{name}"), value);
        }
        measured.metrics.insert("device__attribute_compute_capability_major".to_owned(), 7.0);
        measured.metrics.insert("device__attribute_compute_capability_minor".to_owned(), 5.0);
        complete(&mut measured);
        assert_eq!(measured.grid, Some([32, 2, 1]));
        assert_eq!(measured.block, None);
        assert_eq!(measured.capability, Some(ComputeCapability::new(7, 5)));
    }
}
