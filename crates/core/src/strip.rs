//! A profiler's report without what it says of machine and user. Joins the report's messages (`occupant-profile`) with the
//! code in them (`occupant-binary`), whose debug information names folders, too.

use occupant_binary::{PlainSection, plain_sections};
use occupant_profile::ncu::{self, Removed};
use occupant_profile::{ProfileError, mask_ptx, mask_strings};

/// A report that can be given on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrippedReport {
    /// The report, not packed.
    pub bytes: Vec<u8>,
    /// What was removed, in words, each with how many; without those that were not there.
    pub removed: Vec<(usize, &'static str)>,
}

/// Strips an Nsight Compute report, packed or not, of what names machine and user, and of code unless it is kept.
///
/// # Errors
/// [`ProfileError`] where it is no report or is damaged: what can't be read can't be said to hold nothing private.
pub fn strip(bytes: &[u8], keep_code: bool) -> Result<StrippedReport, ProfileError> {
    if !ncu::is_report(bytes) {
        // It says what it is instead.
        occupant_profile::read(bytes)?;
        let found = "CSV or a trace".to_owned();
        return Err(ProfileError::NotAReport { expected: "a Nsight Compute report (.ncu-rep, .ncu-repz)", found });
    }
    let unpacked = ncu::unpack(bytes)?;
    // What the reader can't read is not known to hold nothing private.
    if let Some(fault) = ncu::Report::read(&unpacked)?.faults.into_iter().next() {
        return Err(fault);
    }
    let mut mask = mask_cubin;
    let stripped = ncu::strip(&unpacked, if keep_code { Some(&mut mask) } else { None })?;
    let Removed { session, processes, ranges, callers, sources, paths, code, unknown } = stripped.removed;
    let mut removed = vec![
        (session, "facts about host and session (name, addresses, program, environment, settings, command line, time)"),
        (processes, "mentions of the profiled process"),
        (ranges, "NVTX ranges"),
        (callers, "call stacks of the host"),
        (sources, "texts of source files"),
        (paths, "folders of paths, masked"),
        (code, "images of code (cubins, PTX)"),
        (unknown, "fields of unknown meaning"),
    ];
    removed.retain(|(count, _)| *count > 0);
    Ok(StrippedReport { bytes: stripped.bytes, removed })
}

/// Masks the folders of paths in a cubin's debug information and in file names that its data holds; code stays as it is.
/// Gives how many.
fn mask_cubin(cubin: &mut [u8]) -> Result<usize, String> {
    let sections = plain_sections(&&*cubin).map_err(|error| error.to_string())?;
    Ok(sections.iter().map(|section| mask_section(section, cubin)).sum())
}

fn mask_section(section: &PlainSection, cubin: &mut [u8]) -> usize {
    let range = usize::try_from(section.range.start).unwrap_or(0)..usize::try_from(section.range.end).unwrap_or(0);
    let Some(bytes) = cubin.get_mut(range) else { return 0 };
    let is = |start: &str| section.name.starts_with(start);
    if !is(".debug_") && !is(".nv_debug_") && !is(".note") && !is(".comment") {
        return if section.loaded { mask_data(bytes) } else { 0 };
    }
    if section.compressed {
        // What can't be looked into is blanked; the code does not need it.
        bytes.fill(0);
        return 1;
    }
    match section.name.as_str() {
        ".debug_line" | ".nv_debug_line_sass" => mask_line_tables(bytes),
        ".debug_str" | ".debug_line_str" => mask_strings(bytes, 1),
        name if name.starts_with(".nv_debug_ptx_txt") => mask_ptx(bytes),
        // Numbers stand between the strings here.
        _ => mask_strings(bytes, 2),
    }
}

/// Of line tables only the header holds paths; what follows are numbers.
fn mask_line_tables(mut bytes: &mut [u8]) -> usize {
    let word = |bytes: &[u8], at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    let mut masked = 0;
    while let Some(length) = word(bytes, 0) {
        // Of a size that can't be everything is taken for a header.
        let (whole, length) = (length.saturating_add(4) <= bytes.len(), length.saturating_add(4).min(bytes.len()));
        let (unit, rest) = bytes.split_at_mut(length);
        // Version 5 has two more bytes before the header's size.
        let at = if unit.get(4).is_some_and(|version| *version >= 5) { 8 } else { 6 };
        let header = word(unit, at).filter(|_| whole).map_or(unit.len(), |length| length.saturating_add(at + 4));
        let header = header.min(unit.len());
        masked += mask_strings(&mut unit[..header], 1);
        bytes = rest;
    }
    masked
}

/// Of data only strings are masked that are nothing but the absolute path of a source file, as `assert` leaves them.
fn mask_data(bytes: &mut [u8]) -> usize {
    let strings = bytes.split_mut(|byte| *byte == 0);
    let mask = |string: &mut [u8]| {
        let unix = string.first() == Some(&b'/');
        let drive = matches!(string, [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
        let text = string.len() > 8 && string.iter().all(|byte| *byte >= b' ' && *byte != 0x7f);
        let named = string.iter().rev().take(6).any(|byte| *byte == b'.');
        if text && named && (unix || drive) { mask_strings(string, 2) } else { 0 }
    };
    strings.map(mask).sum()
}
