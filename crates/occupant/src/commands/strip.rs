//! `occupant strip`.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};

use super::Status;
use crate::arguments::StripFlags;
use crate::file::whole;
use crate::output::{self, Output};

/// Bytes of a report that are read, at most.
const MOST: u64 = 4 << 30;

pub(crate) fn run(flags: &StripFlags, output: &mut Output) -> anyhow::Result<Status> {
    let name = || flags.report.display().to_string();
    let to_stdout = flags.output == Path::new("-");
    if !to_stdout && same_file(&flags.report, &flags.output) {
        bail!("{}: the report itself is not written over; name another file with -o", name());
    }
    let bytes = whole(&flags.report, MOST).with_context(name)?;
    let stripped = occupant_core::strip(&bytes, !flags.no_code).with_context(name)?;
    drop(bytes);
    if to_stdout {
        output.writer().write_all(&stripped.bytes)?;
        output.finish()?;
    } else {
        std::fs::write(&flags.output, &stripped.bytes).with_context(|| flags.output.display().to_string())?;
    }
    let file = flags.output.display();
    output::complain(&format!(
        "wrote {} bytes to {}",
        stripped.bytes.len(),
        if to_stdout { "standard output".to_owned() } else { file.to_string() }
    ));
    for (count, what) in &stripped.removed {
        output::complain(&format!("removed: {count} {what}"));
    }
    Ok(Status::Done)
}

/// Whether two paths are one file, by whatever names.
fn same_file(input: &Path, output: &Path) -> bool {
    match (input.canonicalize(), output.canonicalize()) {
        (Ok(input), Ok(output)) => input == output || same_inode(&input, &output),
        _ => false,
    }
}

#[cfg(unix)]
fn same_inode(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let of = |path: &Path| std::fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
    of(a).is_some() && of(a) == of(b)
}

#[cfg(not(unix))]
fn same_inode(_: &Path, _: &Path) -> bool {
    false
}
