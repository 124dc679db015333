//! Every name, value, instance and unit of reports, as this project reads them and as NVIDIA's reader does.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use occupant_profile::ncu::{Launch, Report, Value, unpack};
use occupant_profile::unit;
use serde::Deserialize;

use crate::{paths, wheels};

/// NVIDIA's reader.
const READER: &str = "ncu_report==2026.3.1";

/// A value, its unit, its instances with their correlation.
type Read = (String, String, Vec<(String, String)>);

/// A launch as NVIDIA's reader gives it.
#[derive(Deserialize)]
struct Theirs {
    path: PathBuf,
    names: [String; 3],
    metrics: BTreeMap<String, Read>,
}

#[derive(Default)]
struct Tally {
    launches: usize,
    values: usize,
    instances: usize,
    differences: Vec<String>,
    units: BTreeMap<String, (String, usize)>,
}

/// Compares and prints what was found.
pub(super) fn compare(reports: &[PathBuf]) -> anyhow::Result<()> {
    let wheel = wheels::unpacked(READER)?.join("ncu_report-2026.3.1.data/purelib");
    let script = paths::cache("reports").join("values.py");
    fs::create_dir_all(paths::cache("reports"))?;
    fs::write(&script, include_str!("values.py"))?;
    let mut python = Command::new("python3");
    python.arg(&script).arg(&wheel).args(reports).stdout(Stdio::piped());
    let mut child = python.spawn().context("starting python3")?;
    let output = child.stdout.take().context("python3 has no output")?;
    let mut theirs: BTreeMap<PathBuf, Vec<Theirs>> = BTreeMap::new();
    let mut tally = Tally::default();
    for line in BufReader::new(output).lines() {
        let launch: Theirs = serde_json::from_str(&line?)?;
        // One report at a time is kept.
        if !theirs.contains_key(&launch.path) {
            finish(&mut theirs, &mut tally)?;
        }
        theirs.entry(launch.path.clone()).or_default().push(launch);
    }
    finish(&mut theirs, &mut tally)?;
    ensure!(child.wait()?.success(), "NVIDIA's reader failed");
    print(reports.len(), &tally)
}

fn finish(theirs: &mut BTreeMap<PathBuf, Vec<Theirs>>, tally: &mut Tally) -> anyhow::Result<()> {
    for (path, launches) in std::mem::take(theirs) {
        report(&path, &launches, tally).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn report(path: &Path, theirs: &[Theirs], tally: &mut Tally) -> anyhow::Result<()> {
    let packed = fs::read(path)?;
    let bytes = unpack(&packed)?;
    let ours = Report::read(&bytes)?;
    ensure!(ours.faults.is_empty(), "faults: {:?}", ours.faults);
    ensure!(ours.launches.len() == theirs.len(), "{} launches, NVIDIA reads {}", ours.launches.len(), theirs.len());
    for (number, (ours, theirs)) in ours.launches.iter().zip(theirs).enumerate() {
        tally.launches += 1;
        let place = format!("{} launch {number}", path.file_name().unwrap_or_default().to_string_lossy());
        launch(&place, ours, theirs, tally);
    }
    Ok(())
}

fn launch(place: &str, ours: &Launch<'_>, theirs: &Theirs, tally: &mut Tally) {
    let names = [ours.mangled, ours.function, ours.demangled];
    if theirs.names.iter().zip(names).any(|(theirs, ours)| theirs != ours) {
        tally.differences.push(format!("{place}: names {names:?}, NVIDIA {:?}", theirs.names));
    }
    for (name, (value, unit_of, instances)) in &theirs.metrics {
        let found = ours.metric(name);
        let mine = found.map_or(Value::None, |metric| metric.value);
        tally.values += 1;
        if !same(mine, value) {
            tally.differences.push(format!("{place}: {name} is {mine:?}, NVIDIA {value}"));
        }
        let mine = found.map(|metric| metric.instances.as_slice()).unwrap_or_default();
        tally.instances += instances.len();
        let equal = mine.len() == instances.len()
            && mine.iter().zip(instances).all(|(mine, (correlation, value))| {
                same(mine.value, value) && (correlation == "-" || same(mine.correlation, correlation))
            });
        if !equal {
            let (ours, theirs) = (mine.len(), instances.len());
            tally
                .differences
                .push(format!("{place}: instances of {name}: {ours} here, {theirs} of NVIDIA, or their values differ"));
        }
        let ours = unit(name);
        if ours != *unit_of {
            tally.units.entry(format!("{name}: `{ours}`, NVIDIA `{unit_of}`")).or_default().1 += 1;
        }
    }
}

/// Whether a value is the same to the last bit.
fn same(ours: Value<'_>, theirs: &str) -> bool {
    let (kind, rest) = theirs.split_at(theirs.len().min(1));
    match (kind, ours) {
        ("s", Value::Text(text)) => text == rest,
        ("u", Value::Unsigned32(_) | Value::Unsigned64(_)) => {
            ours.whole().map(|value| value.to_string()).as_deref() == Some(rest)
        }
        ("d", Value::Float(_) | Value::Double(_)) => {
            let bits = u64::from_str_radix(rest, 16).map(f64::from_bits);
            let number = ours.number().unwrap_or_default();
            bits.is_ok_and(|theirs| theirs.to_bits() == number.to_bits() || (theirs.is_nan() && number.is_nan()))
        }
        ("-", Value::None) => true,
        _ => false,
    }
}

fn print(reports: usize, tally: &Tally) -> anyhow::Result<()> {
    let Tally { launches, values, instances, differences, units } = tally;
    println!(
        "{reports} reports, {launches} launches, {values} values and {instances} instances compared with {READER}"
    );
    for difference in differences.iter().take(40) {
        println!("{difference}");
    }
    println!("units: {} metrics differ", units.len());
    for (unit, (_, times)) in units.iter().take(60) {
        println!("  {unit} ({times} launches)");
    }
    if !differences.is_empty() {
        bail!("{} differences", differences.len());
    }
    println!("0 differences");
    Ok(())
}
