//! What NVIDIA's `cuobjdump --dump-resource-usage` tells of a file's functions.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use super::{Functions, Resources};
use crate::process;

/// Runs cuobjdump on a file and reads what it prints.
pub(super) fn functions(program: &Path, file: &Path) -> anyhow::Result<Functions> {
    let output = process::output(Command::new(program).arg("--dump-resource-usage").arg(file))?;
    parse(&String::from_utf8_lossy(&output.stdout))
}

fn parse(text: &str) -> anyhow::Result<Functions> {
    let mut functions = Functions::new();
    let mut number = 0;
    let mut name: Option<&str> = None;
    for line in text.lines().map(str::trim) {
        if let Some(arch) = line.strip_prefix("arch = sm_") {
            number = arch.trim_end_matches(char::is_alphabetic).parse().with_context(|| line.to_owned())?;
        } else if let Some(function) = line.strip_prefix("Function ") {
            name = Some(function.trim_end_matches(':'));
        } else if line.starts_with("REG:") {
            let function = name.take().context("resources without a function")?;
            let field = |key: &str| -> anyhow::Result<Option<u32>> {
                let value = line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix(':'));
                match value {
                    Some("UNKNOWN") => Ok(None),
                    Some(value) => value.parse().map(Some).with_context(|| line.to_owned()),
                    None => bail!("no {key} in: {line}"),
                }
            };
            let registers = field("REG")?;
            let resources = Resources {
                // From 9.0 on it prints 0 for device functions; a kernel has at least one register.
                registers: registers.filter(|registers| *registers > 0),
                stack: field("STACK")?,
                shared: field("SHARED")?.unwrap_or(0),
                local: field("LOCAL")?.unwrap_or(0),
            };
            functions.entry((number, function.to_owned())).or_default().push(resources);
        }
    }
    functions.values_mut().for_each(|all| all.sort());
    Ok(functions)
}
