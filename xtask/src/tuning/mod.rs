//! `cargo xtask tuning`: what exhaustively measured tuning spaces say of occupancy and speed. Prints the table, and
//! writes it and the picture of `docs/occupancy-is-not-speed.md` again.
//!
//! For: the figures of that page. Not for: predicting times, or saying how many warps a kernel needs.

mod plot;
mod space;
mod statistics;
mod table;

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use clap::Args;

use crate::paths;
use space::Part;
use statistics::Summary;

const DOCUMENT: &str = "docs/occupancy-is-not-speed.md";
const PICTURE: &str = "docs/images/occupancy-is-not-speed.svg";
/// The text between these is replaced.
const MARK: &str = "<!-- tuning -->";
const END: &str = "<!-- end -->";

/// What is looked at, in the order of the table.
///
/// Convolutions with `use_shmem = 0` are only in the parts that are not pictured: their source is not published, so
/// nothing says how many registers they take, and those that failed to run suggest that some take many.
const PARTS: [Part; 5] = [
    Part { rows: "`use_shmem = 1`", only_shared: true, ..CONVOLUTION_A100 },
    Part { rows: "`use_shmem = 1`", only_shared: true, ..CONVOLUTION_A4000 },
    Part {
        kernel: "dedispersion",
        gpu: "A100",
        rows: "all rows",
        file: "dedispersion_milo_A100.csv",
        capability: (8, 0),
        only_shared: false,
        pictured: true,
    },
    Part { pictured: false, ..CONVOLUTION_A100 },
    Part { pictured: false, ..CONVOLUTION_A4000 },
];

const CONVOLUTION_A100: Part = Part {
    kernel: "convolution",
    gpu: "A100",
    rows: "all rows",
    file: "convolution_milo_A100.csv",
    capability: (8, 0),
    only_shared: false,
    pictured: true,
};

const CONVOLUTION_A4000: Part =
    Part { gpu: "RTX A4000", file: "convolution_milo_A4000.csv", capability: (8, 6), ..CONVOLUTION_A100 };

/// Options of `cargo xtask tuning`.
#[derive(Args)]
pub(crate) struct Options {
    /// Fail where the page or the picture is not up to date instead of writing it
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let data = paths::root().join("xtask/data/tuning");
    let mut spaces = Vec::new();
    for part in &PARTS {
        let text = fs::read_to_string(data.join(part.file)).with_context(|| format!("no {}", part.file))?;
        let space = space::read(&text, part)?;
        let summary = Summary::of(&space.configurations);
        spaces.push((part, space, summary));
    }
    let table = table::markdown(&spaces);
    print!("{table}");
    let document = fs::read_to_string(paths::root().join(DOCUMENT)).with_context(|| format!("no {DOCUMENT}"))?;
    let wanted = [(DOCUMENT, with_table(&document, &table)?), (PICTURE, plot::svg(&spaces))];
    let mut stale = Vec::new();
    for (name, text) in wanted {
        let path = paths::root().join(name);
        if fs::read_to_string(&path).is_ok_and(|present| present == text) {
            continue;
        }
        stale.push(name);
        if !options.check {
            fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
            fs::write(&path, text)?;
        }
    }
    if options.check && !stale.is_empty() {
        bail!("not up to date: {}; run `cargo xtask tuning`", stale.join(", "));
    }
    println!("\ntuning: {} written{}", stale.len(), stale.iter().map(|name| format!(" {name}")).collect::<String>());
    Ok(())
}

/// The document with `table` between its marks.
fn with_table(document: &str, table: &str) -> anyhow::Result<String> {
    let (before, after) = document.split_once(MARK).with_context(|| format!("{DOCUMENT} has no {MARK}"))?;
    let (_, after) = after.split_once(END).with_context(|| format!("{DOCUMENT} has no {END} after {MARK}"))?;
    Ok(format!("{before}{MARK}\n{table}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_marked_part_is_replaced() {
        let document = format!("a\n{MARK}\nold\n{END}\nb\n");
        let written = with_table(&document, "| new |\n").expect("has marks");
        assert_eq!(written, format!("a\n{MARK}\n| new |\n{END}\nb\n"));
        assert_eq!(with_table(&written, "| new |\n").expect("has marks"), written);
        assert!(with_table("a\nb\n", "").is_err());
    }
}
