//! Finds paths in text and in tables of strings and masks their folders in place, so that sizes and offsets stay as they
//! are. The same path gets the same mask wherever it stands: its folder in one table, both together in another.
//!
//! For: reports that are given on (`ncu::strip`) and the debug information of the code in them. Not for: paths without a
//! folder, and names of folders that are no part of a path.

/// What a folder's characters become.
const MASK: u8 = b'_';
/// Ends of the names of source files; the name before such an end is kept.
const SOURCES: [&[u8]; 25] = [
    b"c", b"cc", b"cpp", b"cxx", b"cu", b"cuh", b"h", b"hh", b"hpp", b"hxx", b"inl", b"ipp", b"ptx", b"py", b"pyx",
    b"rs", b"f", b"f90", b"jl", b"ll", b"mlir", b"ii", b"gpu", b"cubin", b"tpp",
];
/// Characters that a path in text may have.
const LONGEST: usize = 512;

/// Masks the folders of absolute paths in text: after white space, a quote, a bracket or `=`, or the start. Gives how many.
pub(crate) fn mask_text(text: &mut [u8]) -> usize {
    let (mut at, mut masked) = (0, 0_usize);
    while at < text.len() {
        if !starts(text, at) {
            at = at.saturating_add(1);
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| text.get(before)).copied();
        let rest = text.get_mut(at..).unwrap_or_default();
        let length = length(rest, before);
        masked = masked.saturating_add(usize::from(mask(rest.get_mut(..length).unwrap_or_default(), 2)));
        at = at.saturating_add(length.max(1));
    }
    masked
}

/// Masks the folders of absolute paths in PTX, lines of which may end with a zero. Debug information in it holds paths as
/// numbers and is blanked. Gives how many of both.
pub fn mask_ptx(text: &mut [u8]) -> usize {
    let (mut at, mut blanked) = (0, 0_usize);
    while let Some(found) = text.get(at..).and_then(|rest| rest.windows(SECTION.len()).position(|word| word == SECTION))
    {
        let start = at.saturating_add(found);
        let rest = text.get_mut(start..).unwrap_or_default();
        let name = rest.get(SECTION.len()..).unwrap_or_default().trim_ascii_start();
        let debug = name.starts_with(b".debug_");
        let end = rest.iter().position(|byte| *byte == b'}').map_or(rest.len(), |end| end.saturating_add(1));
        let length = if debug { end } else { SECTION.len() };
        if debug {
            let section = rest.get_mut(..length).unwrap_or_default();
            section.iter_mut().filter(|byte| **byte >= b' ').for_each(|byte| *byte = b' ');
            blanked = blanked.saturating_add(1);
        }
        at = start.saturating_add(length);
    }
    blanked.saturating_add(mask_text(text))
}

/// Start of a section in PTX.
const SECTION: &[u8] = b".section";

/// Masks the folders of paths, relative ones too, in a table of strings that end with a zero or a line break. Of those with
/// fewer separators than `least` none is masked: what is no table but holds strings has bytes that look like a short path.
pub fn mask_strings(table: &mut [u8], least: usize) -> usize {
    let strings = table.split_mut(|byte| *byte < b' ' || *byte == 0x7f);
    strings.map(|string| usize::from(mask(string, least))).sum()
}

/// Masks a string from its first separator to its file name, or to its end where that names no source file.
fn mask(path: &mut [u8], least: usize) -> bool {
    let followed = |at: usize| path.get(at.saturating_add(1)).is_some_and(|byte| is_name(*byte));
    let Some(first) = (0..path.len()).find(|at| is_separator(path.get(*at)) && followed(*at)) else { return false };
    let from = path.get(first..).unwrap_or_default();
    let separators = from.iter().filter(|byte| is_separator(Some(byte))).count();
    if separators < least || std::str::from_utf8(from).is_err() {
        return false;
    }
    let last = path.iter().rposition(|byte| is_separator(Some(byte))).unwrap_or(first);
    let named = path.get(last.saturating_add(1)..).is_some_and(is_source);
    let end = if named { last } else { path.len() };
    let folder = path.get_mut(first.saturating_add(1)..end.max(first.saturating_add(1)).min(path.len()));
    let folder = folder.unwrap_or_default();
    let changes = folder.iter().any(|byte| *byte != MASK);
    folder.fill(MASK);
    changes
}

/// Whether an absolute path starts here.
fn starts(text: &[u8], at: usize) -> bool {
    let byte = |ahead: usize| at.checked_add(ahead).and_then(|at| text.get(at));
    let name = |ahead: usize| byte(ahead).is_some_and(|byte| is_name(*byte));
    let unix = byte(0) == Some(&b'/') && name(1);
    let drive = byte(0).is_some_and(u8::is_ascii_alphabetic)
        && byte(1) == Some(&b':')
        && is_separator(byte(2))
        && byte(3).is_some_and(|byte| is_name(*byte) || *byte == b'\\');
    let share = byte(0) == Some(&b'\\') && byte(1) == Some(&b'\\') && name(2);
    if !(unix || drive || share) {
        return false;
    }
    let before = text.get(..at).unwrap_or_default();
    before
        .last()
        .is_none_or(|last| last.is_ascii_whitespace() || !last.is_ascii_graphic() || b"\"'`(<[{=,;:@".contains(last))
        || before.ends_with(b"file://")
}

/// Bytes of the path that `rest` starts with, after the byte `before`.
fn length(rest: &[u8], before: Option<u8>) -> usize {
    let rest = rest.get(..LONGEST.min(rest.len())).unwrap_or_default();
    let line = rest.iter().position(|byte| *byte < b' ' || b"\"'`<>|*?".contains(byte)).unwrap_or(rest.len());
    let line = rest.get(..line).unwrap_or_default();
    if let Some(b'"' | b'\'' | b'`') = before
        && rest.get(line.len()).copied() == before
    {
        return line.len();
    }
    let word = line.iter().position(|byte| b" ,;)]}".contains(byte)).unwrap_or(line.len());
    let first = line.get(..word).unwrap_or_default();
    let name = first.rsplit(|byte| is_separator(Some(byte))).next().unwrap_or_default();
    if is_source(name) {
        return word;
    }
    // Folders of Windows have spaces in their names: up to the first source file on the line.
    let end = source_end(line, word).unwrap_or(word);
    let another = line.get(..end).is_some_and(|path| path.windows(2).any(|pair| pair == b" /"));
    if another { word } else { end }
}

/// Where the first name of a source file at or after `from` ends.
fn source_end(line: &[u8], from: usize) -> Option<usize> {
    let dots = line.iter().enumerate().skip(from).filter(|(_, byte)| **byte == b'.');
    dots.map(|(at, _)| at.saturating_add(1)).find_map(|at| {
        let rest = line.get(at..)?;
        let length = rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let known = SOURCES.iter().any(|source| rest.get(..length) == Some(*source));
        known.then(|| at.saturating_add(length))
    })
}

/// Whether a name is that of a source file; a line number may follow.
fn is_source(name: &[u8]) -> bool {
    let name = name.split(|byte| b":()".contains(byte)).next().unwrap_or_default();
    let Some(dot) = name.iter().rposition(|byte| *byte == b'.') else { return false };
    let end = name.get(dot.saturating_add(1)..).unwrap_or_default();
    dot > 0 && SOURCES.iter().any(|source| end.eq_ignore_ascii_case(source))
}

fn is_separator(byte: Option<&u8>) -> bool {
    matches!(byte, Some(b'/' | b'\\'))
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'~' | b'+' | b'@') || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(before: &str) -> String {
        let mut bytes = before.as_bytes().to_vec();
        mask_text(&mut bytes);
        String::from_utf8(bytes).expect("masked text is text")
    }

    fn strings(before: &str) -> String {
        let mut bytes = before.as_bytes().to_vec();
        mask_strings(&mut bytes, 1);
        String::from_utf8(bytes).expect("a masked table is text")
    }

    #[test]
    fn text_keeps_file_names() {
        for (before, after) in [
            ("/home/alice/src/x.cu", "/______________/x.cu"),
            ("at /home/alice/x.cu:540 twice", "at /__________/x.cu:540 twice"),
            (
                "at C:/Program Files/NVIDIA GPU/curand_kernel.h:540",
                "at C:/________________________/curand_kernel.h:540",
            ),
            ("\t.file\t1 \"/root/a b/x.py\", 3", "\t.file\t1 \"/________/x.py\", 3"),
            ("\"C:\\Users\\J D\\x.cu\"", "\"C:\\_________\\x.cu\""),
            ("in /home/alice and /home/bob/y.h", "in /__________ and /________/y.h"),
            ("file:///home/alice/x.cu", "file:///__________/x.cu"),
            ("\\\\server\\share\\x.cu", "\\\\____________\\x.cu"),
        ] {
            assert_eq!(text(before), after);
            assert_eq!(text(after), after, "twice is the same");
        }
    }

    #[test]
    fn text_without_paths_stays() {
        for same in [
            "see https://docs.nvidia.com/cuda/guide/index.html",
            "12 bytes/sector/request, 3 / 4",
            "// Generated by NVIDIA NVVM Compiler",
            "/* a comment */ add.s32 %r1, %r2, %r3;",
            "/x.cu",
            "a ratio of 3:/4",
        ] {
            assert_eq!(text(same), same);
        }
    }

    #[test]
    fn ptx_keeps_its_code() {
        let ptx = ".file\t1 \"/home/alice/x.cu\"\nret;\n.section\t.debug_info\n{\n.b8 47\n}\n.section .text\n";
        let mut bytes = ptx.as_bytes().to_vec();
        assert_eq!(mask_ptx(&mut bytes), 2);
        let after = ".file\t1 \"/__________/x.cu\"\nret;\n                    \n \n      \n \n.section .text\n";
        let spaces = |text: &str| text.replace([' ', '\t'], "");
        assert_eq!(spaces(&String::from_utf8(bytes).expect("text")), spaces(after));
    }

    #[test]
    fn tables_mask_folders_as_text_does() {
        assert_eq!(strings("/home/alice/src\0x.cu\0/csrc\0"), "/______________\0x.cu\0/____\0");
        assert_eq!(strings("\u{1}a/home/alice/x.cu\0"), "\u{1}a/__________/x.cu\0");
        assert_eq!(strings("../../include/x.h\0operator/\0operator/=\0"), "../__________/x.h\0operator/\0operator/=\0");
        assert_eq!(strings("C:\\Users\\j\0"), "C:\\_______\0");
    }

    proptest! {
        #[test]
        fn any_bytes_keep_their_length(bytes in prop::collection::vec(any::<u8>(), 0..200), least in 0_usize..4) {
            let (mut text, mut table) = (bytes.clone(), bytes.clone());
            mask_text(&mut text);
            mask_strings(&mut table, least);
            prop_assert_eq!((text.len(), table.len()), (bytes.len(), bytes.len()));
        }

        #[test]
        fn folders_do_not_survive(folder in "(/[a-z]{3,9}){1,5}", name in "[a-z]{1,8}\\.(cu|py|hpp)", before in "[a-z ]{0,9} ") {
            let after = text(&format!("{before}{folder}/{name}"));
            prop_assert!(after.ends_with(&format!("/{name}")) && !after.contains(&folder), "{}", after);
        }
    }
}
