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
    if same_file(&flags.report, &flags.output) {
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

/// Whether input and output are one file, by whatever names; `-` is the file that the shell opened.
fn same_file(input: &Path, output: &Path) -> bool {
    let stream = Path::new("-");
    if input != stream && output != stream {
        let (found, written) = (input.canonicalize(), output.canonicalize());
        if found.is_ok_and(|found| written.is_ok_and(|written| found == written)) {
            return true;
        }
    }
    same_inode(input, output)
}

#[cfg(unix)]
fn same_inode(input: &Path, output: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let stream = Path::new("-");
    let read = if input == stream { opened(std::io::stdin()) } else { std::fs::metadata(input).ok() };
    let written = if output == stream { opened(std::io::stdout()) } else { std::fs::metadata(output).ok() };
    // A terminal or /dev/null is read and written without harm.
    let of = |found: Option<std::fs::Metadata>| {
        found.filter(|found| found.is_file()).map(|found| (found.dev(), found.ino()))
    };
    let (read, written) = (of(read), of(written));
    read.is_some() && read == written
}

/// What a standard stream is.
#[cfg(unix)]
fn opened(stream: impl std::os::fd::AsFd) -> Option<std::fs::Metadata> {
    std::fs::File::from(stream.as_fd().try_clone_to_owned().ok()?).metadata().ok()
}

#[cfg(not(unix))]
fn same_inode(_: &Path, _: &Path) -> bool {
    false
}
