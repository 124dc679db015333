//! Folders made of links, as build and package tools leave them: each file behind them is read once, and no link leads
//! round in a circle.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "tests write folders and start the program")]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{fixtures, json, occupant};

/// An empty folder.
fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("links").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn copy(fixture: &str, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(fixtures().join(fixture), to).unwrap();
}

/// The files that kernels come from, below the folder, and how many were opened.
fn files(folder: &Path) -> (Vec<String>, u64) {
    let report = json(&format!("inspect {}", folder.display()));
    let below = |kernel: &Value| {
        let file = PathBuf::from(kernel["file"].as_str().unwrap());
        file.strip_prefix(folder).unwrap().display().to_string()
    };
    let files: BTreeSet<String> = report["kernels"].as_array().unwrap().iter().map(below).collect();
    (files.into_iter().collect(), report["totals"]["files"].as_u64().unwrap())
}

fn found(files: &[&str]) -> (Vec<String>, u64) {
    (files.iter().map(|file| (*file).to_owned()).collect(), files.len() as u64)
}

#[test]
fn a_file_behind_links_is_read_once_under_its_own_name() {
    let folder = scratch("versions");
    copy("libkernels.so", &folder.join("lib/libx.so.1.2.3"));
    symlink("libx.so.1.2.3", folder.join("lib/libx.so.1")).unwrap();
    symlink("libx.so.1", folder.join("lib/libx.so")).unwrap();
    symlink("lib", folder.join("a_lib64")).unwrap();
    assert_eq!(files(&folder), found(&["lib/libx.so.1.2.3"]));
    // One file by two names that are both its own stays two, as without links.
    fs::hard_link(folder.join("lib/libx.so.1.2.3"), folder.join("lib/liby.so")).unwrap();
    assert_eq!(files(&folder), found(&["lib/libx.so.1.2.3", "lib/liby.so"]));
}

#[test]
fn what_lies_elsewhere_is_read_under_the_first_link_to_it() {
    let elsewhere = scratch("elsewhere");
    copy("plain.sm_90.cubin", &elsewhere.join("store/plain"));
    copy("../triton/sm_90/matmul.cubin", &elsewhere.join("store/cache/matmul.cubin"));
    copy("../triton/sm_90/matmul.json", &elsewhere.join("store/cache/matmul.json"));
    let folder = scratch("runfiles");
    symlink(elsewhere.join("store/plain"), folder.join("b.cubin")).unwrap();
    symlink(folder.join("b.cubin"), folder.join("a.cubin")).unwrap();
    symlink(elsewhere.join("store/cache"), folder.join("c")).unwrap();
    symlink(elsewhere.join("store"), folder.join("d")).unwrap();
    assert_eq!(files(&folder), found(&["a.cubin", "c/matmul.cubin"]));
    let report = json(&format!("inspect {} --kernel matmul", folder.display()));
    assert_eq!(report["kernels"][0]["launch"]["shared_dynamic_from"], "metadata", "its .json is behind the link too");
}

#[test]
fn a_name_that_tells_what_a_file_is_can_be_a_links() {
    let folder = scratch("names");
    fs::create_dir_all(folder.join("blobs")).unwrap();
    fs::copy(fixtures().join("../src/required_block.ptx"), folder.join("blobs/5f3a")).unwrap();
    symlink("blobs/5f3a", folder.join("k.ptx")).unwrap();
    let run = occupant(&format!("inspect {}", folder.display()));
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("k.ptx is PTX or LTO-IR without a cubin"), "{}", run.stderr);
}

#[test]
fn circles_end_and_links_to_nothing_are_told() {
    let folder = scratch("circles");
    copy("plain.sm_90.cubin", &folder.join("in/a/plain.cubin"));
    copy("plain.sm_86.cubin", &folder.join("beside/plain.cubin"));
    let root = folder.join("in");
    symlink("..", root.join("a/up")).unwrap();
    symlink("../..", root.join("a/out")).unwrap();
    symlink("/", root.join("slash")).unwrap();
    symlink(".", root.join("here")).unwrap();
    symlink("a", root.join("again")).unwrap();
    assert_eq!(files(&root), found(&["a/plain.cubin"]), "what is beside the folder is not in it");
    symlink("itself", root.join("itself")).unwrap();
    symlink("nowhere", root.join("gone.so")).unwrap();
    let run = occupant(&format!("inspect {}", root.display()));
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.contains("plain_shared"), "{}", run.stdout);
    let told = "2 links lead to nothing that can be read, the first is gone.so\n";
    assert!(run.stderr.starts_with("note: ") && run.stderr.ends_with(told), "{}", run.stderr);
}
