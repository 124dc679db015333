//! From a printed value to what reports store. For: base units, and digits that the page dropped where the hardware says
//! them. Not for: names.

use super::number::{Cell, Decimal, Style};
use super::scale::Scale;

/// Steps in which sizes of shared memory come, by the beginning of the metric's name. Configurations and allocations are
/// multiples of 128 bytes on every chip; a block's own memory is declared in arrays whose size is a multiple of 16 bytes
/// nearly always.
const STEPS: [(&str, f64); 3] = [
    ("launch__shared_mem_config_size", 128.0),
    ("launch__shared_mem_per_block_allocated", 128.0),
    ("launch__shared_mem_per_block", 16.0),
];

/// A metric's value in base units; `None` where it was not measured or is text.
///
/// # Errors
/// What is wrong with a value that has a unit and is no number.
pub(super) fn read(metric: &str, text: &str, unit: &str, style: Style) -> Result<Option<f64>, String> {
    let unit = if unit.trim() == "-" { "" } else { unit.trim() };
    match Cell::read(text, style) {
        Cell::Absent => Ok(None),
        // Policies, lists of identifiers, names: none has a unit.
        Cell::Words if unit.is_empty() => Ok(None),
        Cell::Words => Err(format!("the value of {metric} in {unit} is no number: `{}`", start(text))),
        Cell::Number(number) => {
            let scale = Scale::of(unit);
            let value = number.scaled(scale.power);
            Ok(value.map(|value| restored(metric, value, &number, scale.power)))
        }
    }
}

/// The details page keeps two decimals, so 73,728 bytes are printed as 73.73 Kbyte, which is 73,725 to 73,735. Only one
/// multiple of the step lies there, and that is taken; where none does, the printed value stands.
fn restored(metric: &str, value: f64, number: &Decimal, power: i32) -> f64 {
    let Some((_, step)) = STEPS.iter().find(|(name, _)| metric.starts_with(name)) else { return value };
    let rounding = number.rounding(power);
    let nearest = (value / step).round() * step;
    // A hair more than half of the last place: decimals are not exact in binary.
    let within = (nearest - value).abs() <= rounding * 1.000_001;
    if within && rounding * 2.0 < *step { nearest } else { value }
}

fn start(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(metric: &str, text: &str, unit: &str) -> Option<f64> {
        read(metric, text, unit, Style::Dot).expect("a value")
    }

    #[test]
    fn shared_memory_gets_its_lost_digits_back() {
        let config = "launch__shared_mem_config_size";
        for (text, bytes) in
            [("8.19", 8192.0), ("32.77", 32768.0), ("102.40", 102_400.0), ("135.17", 135_168.0), ("233.47", 233_472.0)]
        {
            assert_eq!(value(config, text, "Kbyte"), Some(bytes), "{text}");
        }
        let dynamic = "launch__shared_mem_per_block_dynamic";
        assert_eq!(value(dynamic, "73.73", "Kbyte/block"), Some(73_728.0));
        assert_eq!(value(dynamic, "1.02", "Kbyte/block"), Some(1024.0));
        assert_eq!(value(dynamic, "205,696", "byte/block"), Some(205_696.0));
        assert_eq!(value(dynamic, "73.728000", "Kbyte/block"), Some(73_728.0));
        // 1028 bytes: no multiple of 16 is printed so, and none is made up.
        assert_eq!(value(dynamic, "1.03", "Kbyte/block"), Some(1030.0));
        // Odd sizes in bytes lost nothing.
        assert_eq!(value(dynamic, "20", "byte/block"), Some(20.0));
    }

    #[test]
    fn time_is_in_nanoseconds_and_rates_are_per_second() {
        assert_eq!(value("gpu__time_duration.sum", "777.95", "us"), Some(777_950.0));
        assert_eq!(value("gpu__time_duration.sum", "17.61", "msecond"), Some(17_610_000.0));
        assert_eq!(value("dram__bytes.sum.per_second", "1.94", "Tbyte/s"), Some(1.94e12));
        assert_eq!(value("gpc__cycles_elapsed.avg.per_second", "1.52", "cycle/nsecond"), Some(1.52e9));
    }

    #[test]
    fn a_unit_without_a_number_is_a_fault_and_text_is_none() {
        assert_eq!(value("launch__func_cache_config", "CachePreferNone", ""), None);
        assert_eq!(value("x", "n/a", "%"), None);
        assert!(read("x", "12.3.4", "%", Style::Dot).is_err());
    }
}
