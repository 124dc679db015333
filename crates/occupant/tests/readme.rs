//! The README's sessions: each command is run from the repository's root and must print what the README shows.
#![allow(clippy::disallowed_methods, reason = "tests start the program and read the README")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// Splits a command line at spaces, keeping what stands in double quotes together.
fn words(line: &str) -> Vec<String> {
    let quoted = line.split('"').enumerate();
    quoted
        .flat_map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

#[test]
fn every_session_prints_what_the_readme_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let mut sessions = 0;
    for block in readme.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let (command, shown) = block.strip_prefix("$ occupant ").unwrap().split_once('\n').unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_occupant"))
            .args(words(command))
            .current_dir(&root)
            .env("COLUMNS", "100")
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert_eq!(printed, shown, "occupant {command}");
        sessions += 1;
    }
    assert!(sessions >= 6, "{sessions} sessions");
}
