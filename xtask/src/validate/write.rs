//! Writes the fitted constants and ceilings into the data files of the crates that use them.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};
use occupant_need::{Constants, Memory};

use super::ceilings::Row;
use crate::paths;

const SOURCE: &str = "RRZE-HPC/gpu-benches commit 1038c5d";

/// Writes the tables of means into docs/need.md, between its marks.
pub(crate) fn document(dram: &str, l2: &str) -> Result<()> {
    let path = paths::root().join("docs/need.md");
    let text = fs::read_to_string(&path)?;
    let (before, rest) = text.split_once("<!-- validate -->").context("docs/need.md has no mark <!-- validate -->")?;
    let (_, after) = rest.split_once("<!-- end -->").context("docs/need.md has no mark <!-- end -->")?;
    fs::write(&path, format!("{before}<!-- validate -->\nDRAM:\n\n{dram}\nL2:\n\n{l2}<!-- end -->{after}"))?;
    Ok(())
}

pub(crate) fn write(constants: &Constants, ceilings: &[Row]) -> Result<()> {
    let fitted = "cargo xtask validate --fit on xtask/data/curves/dram.csv";
    let mut text = "name,value,unit,fitted_to\n".to_owned();
    for (name, value, unit) in [
        ("turnover", constants.turnover, "ns"),
        ("extra_load", constants.extra_load, "cycles"),
        ("mixed", constants.mixed, "ns"),
        ("sharpness", constants.sharpness, ""),
        ("store_sharpness", constants.store_sharpness, ""),
        ("band", constants.band, ""),
    ] {
        writeln!(text, "{name},{value},{unit},{fitted}")?;
    }
    fs::write(paths::root().join("crates/need/data/constants.csv"), text)?;
    let mut text = "scope,level,stream,value,basis,source,note\n".to_owned();
    for row in ceilings {
        let single = row.from.len() == 1 && row.from.first() == Some(&row.scope);
        let (basis, from) =
            if single { ("measured", String::new()) } else { ("inferred", format!("mean of {}", row.from.join(", "))) };
        let (level, benchmark) = match row.memory {
            Memory::Dram => ("dram", "gpu-stream"),
            Memory::L2 => ("l2", "gpu-l2-stream"),
        };
        writeln!(
            text,
            "{},{level},{},{:.3},{basis},\"{SOURCE}, {benchmark}, asymptote by cargo xtask validate --fit\",\"{from}\"",
            row.scope,
            row.stream.name(),
            row.value
        )?;
    }
    fs::write(paths::root().join("crates/hardware/data/ceilings.csv"), text)?;
    println!("\nwritten: crates/need/data/constants.csv, crates/hardware/data/ceilings.csv");
    Ok(())
}
