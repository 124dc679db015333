//! Containers that no Linux wheel has: a Windows library, and archives made here with `nvcc -lib`.

use std::convert::identity;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use object::{Object, ObjectSection};
use occupant_core::{Event, File, InspectOptions, Memory, inspect};

use super::{cuobjdump, differences, ours, read};
use crate::{fixtures, paths, process, wheels};

/// Linux cuobjdump reads no Windows file, so its section is cut out and given to it as a fatbin.
pub(super) fn windows() -> anyhow::Result<()> {
    let wheel = wheels::unpacked("bitsandbytes==0.50.2@win_amd64")?;
    let path = wheel.join("bitsandbytes/libbitsandbytes_cuda130.dll");
    let bytes = read(&path)?;
    let library = object::File::parse(bytes.as_slice())?;
    let section = library.sections().find(|section| section.name() == Ok(".nv_fatb")).context("a section .nv_fatb")?;
    let cut = paths::cache("windows.fatbin");
    fs::write(&cut, section.data()?)?;
    let theirs = cuobjdump::functions(&super::cuobjdump()?, &cut)?;
    let ours = ours::functions(&path)?;
    let differences = differences(&ours.functions, &theirs);
    differences.iter().take(5).for_each(|line| println!("  {line}"));
    println!(
        "bitsandbytes==0.50.2 for Windows, {}: {} kernels, {} differences",
        path.file_name().unwrap_or_default().display(),
        ours.kernels,
        differences.len()
    );
    ensure!(differences.is_empty() && ours.kernels > 1000, "the Windows library differs from cuobjdump");
    Ok(())
}

/// A whole-program archive and a relocatable one, of the fixtures' sources.
pub(super) fn archives() -> anyhow::Result<()> {
    let nvcc = fixtures::tool("nvcc-13.5.37")?;
    let folder = paths::cache("archives");
    fs::create_dir_all(&folder)?;
    let sources = paths::root().join("fixtures/src");
    let run = |arguments: &[&str], inputs: &[&Path], output: &Path| {
        process::output(Command::new(&nvcc).args(arguments).arg("-o").arg(output).args(inputs)).map(|_| ())
    };
    let whole = folder.join("whole.a");
    let targets = ["-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90"];
    let lib = |first: &'static str| -> Vec<&str> { std::iter::once(first).chain(targets).collect() };
    run(&lib("-lib"), &[&sources.join("plain.cu"), &sources.join("kernels.cu")], &whole)?;
    compare(&whole, 2 * 28)?;
    let objects = [folder.join("relocatable.o"), folder.join("relocatable_far.o")];
    run(&lib("-dc"), &[&sources.join("relocatable.cu")], &objects[0])?;
    run(&lib("-dc"), &[&sources.join("relocatable_far.cu")], &objects[1])?;
    let relocatable = folder.join("relocatable.a");
    run(&["-lib"], &[&objects[0], &objects[1]], &relocatable)?;
    compare(&relocatable, 2 * 3)
}

fn compare(path: &Path, expected: usize) -> anyhow::Result<()> {
    let theirs = cuobjdump::functions(&super::cuobjdump()?, path)?;
    let bytes = read(path)?;
    let file = File { name: "archive", source: &bytes, companion: None };
    let mut kernels = Vec::new();
    let outcome = inspect(&file, &Memory, &InspectOptions::default(), &identity, &mut |event| {
        if let Event::Kernels(records) = event {
            kernels.extend(records);
        }
    });
    ensure!(outcome.diagnostics.is_empty(), "{}: {:?}", path.display(), outcome.diagnostics);
    let mut differing = 0;
    for kernel in &kernels {
        let number: u32 = kernel.arch.as_deref().unwrap_or("").trim_start_matches("sm_").parse()?;
        let same = theirs.get(&(number, kernel.name.to_string())).is_some_and(|all| {
            all.iter()
                .any(|other| other.registers == kernel.registers && other.stack.or(Some(0)) == kernel.stack.or(Some(0)))
        });
        differing += usize::from(!same);
    }
    let name = path.file_name().unwrap_or_default().display();
    println!("nvcc -lib {name}: {} kernels, {differing} differences", kernels.len());
    ensure!(differing == 0 && kernels.len() == expected, "{name}: {} kernels, expected {expected}", kernels.len());
    Ok(())
}
