//! `cargo xtask fixtures`: builds every binary of `fixtures/recipes.csv` again, as `fixtures/README.md` describes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use clap::Args;
use serde::Deserialize;

use crate::{paths, process, wheels};

/// Options of `cargo xtask fixtures`.
#[derive(Args)]
pub(crate) struct Options {
    /// Only compare with what is committed; write nothing
    #[arg(long)]
    check: bool,
}

/// Some outputs hold a hash of the folder that they were built in, so that is always the same.
const BUILD: &str = "/tmp/occupant-fixtures";

#[derive(Deserialize)]
struct Recipe {
    output: String,
    input: String,
    tool: String,
    arguments: String,
    ptx_version: String,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let fixtures = paths::root().join("fixtures");
    let build = Path::new(BUILD);
    let _ = fs::remove_dir_all(build);
    for folder in ["bin", "build", "src"] {
        fs::create_dir_all(build.join(folder))?;
    }
    for entry in fs::read_dir(fixtures.join("src"))? {
        let path = entry?.path();
        fs::copy(&path, build.join("src").join(path.file_name().context("a name")?))?;
    }
    let mut recipes = csv::Reader::from_path(fixtures.join("recipes.csv"))?;
    let (mut same, mut changed) = (0, Vec::new());
    for recipe in recipes.deserialize() {
        let recipe: Recipe = recipe?;
        cook(&recipe, build).with_context(|| recipe.output.clone())?;
        if !recipe.output.starts_with("bin/") {
            continue;
        }
        let made = fs::read(build.join(&recipe.output))?;
        let committed = fixtures.join(&recipe.output);
        if fs::read(&committed).is_ok_and(|bytes| bytes == made) {
            same += 1;
        } else {
            changed.push(recipe.output.clone());
            if !options.check {
                fs::write(&committed, &made)?;
            }
        }
    }
    println!("{same} binaries are as committed, {} differ: {}", changed.len(), changed.join(" "));
    if options.check && !changed.is_empty() {
        bail!("host objects depend on the system's compiler; the rest should be equal (fixtures/README.md)");
    }
    Ok(())
}

fn cook(recipe: &Recipe, build: &Path) -> anyhow::Result<()> {
    let program = tool(&recipe.tool)?;
    let mut command = Command::new(&program);
    for argument in recipe.arguments.split_whitespace() {
        if argument == "{in}" {
            command.args(recipe.input.split_whitespace());
        } else {
            command.arg(argument.replace("{out}", &recipe.output));
        }
    }
    process::output(command.current_dir(build))?;
    if !recipe.ptx_version.is_empty() {
        let path = build.join(&recipe.output);
        let text = fs::read_to_string(&path)?;
        let lowered = text.lines().map(|line| match line.strip_prefix(".version ") {
            Some(_) => format!(".version {}\n", recipe.ptx_version),
            None => format!("{line}\n"),
        });
        fs::write(&path, lowered.collect::<String>())?;
    }
    Ok(())
}

/// The program that a recipe names, such as `ptxas-12.4.131`.
pub(crate) fn tool(name: &str) -> anyhow::Result<PathBuf> {
    let (program, version) = name.split_once('-').with_context(|| format!("{name}: a tool and its version"))?;
    let folder = match version {
        "13.5.37" => {
            let wheels = ["nvidia-cuda-nvcc", "nvidia-cuda-runtime", "nvidia-cuda-crt", "nvidia-nvvm"];
            let wheels = wheels.map(|wheel| format!("{wheel}=={version}"));
            wheels::tree("cuda-13.5.37", &wheels.each_ref().map(String::as_str))?.join("nvidia/cu13")
        }
        older => wheels::unpacked(&format!("nvidia-cuda-nvcc-cu12=={older}"))?.join("nvidia/cuda_nvcc"),
    };
    // Python's zipfile loses the right to execute.
    for programs in ["bin", "nvvm/bin"].map(|bin| folder.join(bin)).iter().filter(|bin| bin.is_dir()) {
        process::output(Command::new("chmod").args(["-R", "+x"]).arg(programs))?;
    }
    Ok(folder.join("bin").join(program))
}
