//! The constants of the model, fitted to published measurements by `cargo xtask validate --fit`, which writes
//! `data/constants.csv`. None is set by hand.

use std::sync::LazyLock;

use serde::Deserialize;

/// What the measurements decide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    /// Nanoseconds from the end of a warp to the first instruction of the one that takes its place, cold start included.
    pub turnover: f64,
    /// Cycles that waiting for one of two independent DRAM loads takes longer than for one; twice that for one of four.
    pub extra_load: f64,
    /// Nanoseconds that a DRAM load takes longer where the same kernel writes, too.
    pub mixed: f64,
    /// Exponent of the knee: higher is sharper.
    pub sharpness: f64,
    /// The same for code that only stores.
    pub store_sharpness: f64,
    /// Factor between predicted and measured needed warps that 9 of 10 left-out curves stay within.
    pub band: f64,
}

impl Constants {
    /// The constants that the program uses.
    #[must_use]
    pub fn fitted() -> Self {
        static FITTED: LazyLock<Constants> = LazyLock::new(|| Constants::read(include_str!("../data/constants.csv")));
        *FITTED
    }

    /// Reads the data file; a fault in it is a fault of this crate and is found by its tests.
    fn read(text: &str) -> Self {
        #[derive(Deserialize)]
        struct Row {
            name: String,
            value: f64,
        }
        let rows: Vec<Row> = csv::Reader::from_reader(text.as_bytes()).deserialize().filter_map(Result::ok).collect();
        let value = |name: &str| rows.iter().find(|row| row.name == name).map_or(f64::NAN, |row| row.value);
        Self {
            turnover: value("turnover"),
            extra_load: value("extra_load"),
            mixed: value("mixed"),
            sharpness: value("sharpness"),
            store_sharpness: value("store_sharpness"),
            band: value("band"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_is_in_the_data_file_and_plausible() {
        let Constants { turnover, extra_load, mixed, sharpness, store_sharpness, band } = Constants::fitted();
        assert!((50.0..1000.0).contains(&turnover), "{turnover}");
        assert!((0.0..400.0).contains(&extra_load), "{extra_load}");
        assert!((0.0..300.0).contains(&mixed), "{mixed}");
        assert!((1.0..10.0).contains(&sharpness), "{sharpness}");
        assert!((1.0..20.0).contains(&store_sharpness), "{store_sharpness}");
        assert!((1.0..3.0).contains(&band), "{band}");
    }
}
