//! Runs the program as a person would and gives back what it printed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The fixtures' binaries.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/bin")
}

/// What a run printed and how it ended.
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) status: i32,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            stdout: String::from_utf8(output.stdout).expect("output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("errors are UTF-8"),
            status: output.status.code().expect("the program ends by itself"),
        }
    }
}

#[allow(dead_code, reason = "not every test binary uses all")]
/// The program with `arguments` (split at spaces), in the fixtures' folder and at a width of its own.
pub(crate) fn occupant(arguments: &str) -> Run {
    program(arguments).output().expect("the program starts").into()
}

/// The same with bytes on standard input.
#[allow(dead_code, reason = "not every test binary feeds standard input")]
pub(crate) fn occupant_fed(arguments: &str, input: &[u8]) -> Run {
    use std::io::Write;
    let mut child = program(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // The program may refuse its input before reading all of it.
    let _ = child.stdin.take().expect("standard input").write_all(input);
    child.wait_with_output().expect("the program ends").into()
}

/// The program, yet to be started.
pub(crate) fn program(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_occupant"));
    command.args(arguments.split_whitespace()).current_dir(fixtures()).env_remove("COLUMNS");
    command
}

#[allow(dead_code, reason = "not every test binary asks")]
/// Words with single spaces, so that line breaks do not matter.
pub(crate) fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[allow(dead_code, reason = "not every test binary asks")]
#[track_caller]
pub(crate) fn says(run: &Run, status: i32, parts: &[&str]) {
    let text = words(&format!("{} {}", run.stdout, run.stderr));
    assert_eq!(run.status, status, "{text}");
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}

#[allow(dead_code, reason = "not every test binary asks")]
#[track_caller]
pub(crate) fn asks(arguments: &str, status: i32, parts: &[&str]) {
    says(&occupant(arguments), status, parts);
}

/// One answer as JSON.
#[allow(dead_code, reason = "not every test binary asks")]
#[track_caller]
pub(crate) fn json(arguments: &str) -> serde_json::Value {
    let run = occupant(&format!("{arguments} --json"));
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stderr))
}
