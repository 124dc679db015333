//! `cargo xtask census`: writes the tables of `docs/census.md` again, each under the command that made it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::{paths, process, wheels};

/// The text between a command's mark and the end of its tables is replaced.
const END: &str = "<!-- end -->";

pub(crate) fn run() -> anyhow::Result<()> {
    let path = paths::root().join("docs/census.md");
    let document = fs::read_to_string(&path)?;
    let program = paths::program()?;
    let mut written = String::new();
    let mut rest = document.as_str();
    let mut sections = 0;
    while let Some((before, after)) = rest.split_once("<!-- occupant ") {
        let (arguments, after) = after.split_once(" -->").context("a mark ends with -->")?;
        let (_, after) = after.split_once(END).with_context(|| format!("{END} after {arguments}"))?;
        let mut command = Command::new(&program);
        for argument in arguments.split_whitespace() {
            command.arg(library(argument)?.map_or_else(|| argument.trim_matches('\'').into(), PathBuf::into_os_string));
        }
        let output = process::output(command.args(["--format", "markdown"]))?;
        let tables = String::from_utf8(output.stdout)?;
        written += &format!("{before}<!-- occupant {arguments} -->\n```sh\noccupant {arguments}\n```\n\n{tables}{END}");
        rest = after;
        sections += 1;
    }
    ensure!(sections > 0, "docs/census.md has no mark <!-- occupant … -->");
    fs::write(&path, written + rest)?;
    println!("{sections} sections of docs/census.md written");
    Ok(())
}

/// The libraries by the names that the document uses.
fn library(name: &str) -> anyhow::Result<Option<PathBuf>> {
    Ok(match name {
        "libcublasLt.so.12" => {
            Some(wheels::unpacked("nvidia-cublas-cu12==12.9.1.4")?.join("nvidia/cublas/lib/libcublasLt.so.12"))
        }
        "flash_ops.abi3.so" => Some(wheels::unpacked("sgl-kernel==0.3.21")?.join("sgl_kernel/flash_ops.abi3.so")),
        _ => None,
    })
}
