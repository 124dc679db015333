//! Archives of every kind that is read, small, each around one cubin of the fixtures and its metadata.
//! Not for: damage; that is the fuzzer's part.

use std::fs;
use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use crate::paths;

/// Name and bytes of a seed.
type Seed = (&'static str, Vec<u8>);

/// Archives with `json` beside a cubin.
pub(super) fn archives(json: &[u8]) -> anyhow::Result<Vec<Seed>> {
    let fixture = |name: &str| fs::read(paths::root().join("fixtures/bin").join(name));
    let cubin = fixture("plain.sm_86.cubin")?;
    let members = [("a/x.json", json), ("a/x.cubin", cubin.as_slice())];
    let deflated = zipped(CompressionMethod::Deflated, &members)?;
    let stored = zipped(CompressionMethod::Stored, &members)?;
    // The writer refuses a name that comes twice; renaming one of the same length makes it so.
    let pairs = [("x.cubin", cubin.as_slice()), ("x.json", json), ("y.cubin", &cubin), ("y.json", b"{}")];
    let twice = zipped(CompressionMethod::Deflated, &pairs)?;
    let twice = replaced(&replaced(&twice, b"y.cubin", b"x.cubin"), b"y.json", b"x.json");
    let long = format!("./{}x.cubin", "folder/".repeat(20));
    let tarred = tarred(&[("./x.json", json), ("x.cubin", &cubin), (&long, &cubin)])?;
    let nested = zipped(CompressionMethod::Deflated, &[("in.zip", &deflated), ("in.tar.gz", &gzipped(&tarred)?)])?;
    Ok(vec![
        ("tar.gz", gzipped(&tarred)?),
        ("tar.zst", zstd::encode_all(tarred.as_slice(), 1)?),
        ("cubin.gz", gzipped(&cubin)?),
        ("lib.a", fixture("librelocatable.a")?),
        ("deflated.zip", deflated),
        ("stored.zip", stored),
        ("twice.zip", twice),
        ("nested.zip", nested),
        ("tar", tarred),
    ])
}

/// Streams of zstd frames: several, skippable ones, of bytes that pack well and not at all.
pub(super) fn frames() -> anyhow::Result<Vec<Seed>> {
    let cubin = fs::read(paths::root().join("fixtures/bin/plain.sm_86.cubin"))?;
    let packed = zstd::encode_all(cubin.as_slice(), 19)?;
    let same = zstd::encode_all([7; 300_000].as_slice(), 1)?;
    let skippable = [&[0x53, 0x2a, 0x4d, 0x18, 5, 0, 0, 0][..], b"sizes"].concat();
    let several = [skippable.as_slice(), &packed, &same, &skippable, &zstd::encode_all(b"abc".as_slice(), 1)?].concat();
    Ok(vec![("cubin", packed), ("same", same), ("several", several)])
}

fn zipped(method: CompressionMethod, members: &[(&str, &[u8])]) -> anyhow::Result<Vec<u8>> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method))?;
        writer.write_all(bytes)?;
    }
    Ok(writer.finish()?.into_inner())
}

fn tarred(members: &[(&str, &[u8])]) -> anyhow::Result<Vec<u8>> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *bytes)?;
    }
    Ok(builder.into_inner()?)
}

fn gzipped(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// Every `from` in `bytes` as `to`, which is as long.
fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for at in 0..bytes.len().saturating_sub(from.len()) {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }
    bytes
}
