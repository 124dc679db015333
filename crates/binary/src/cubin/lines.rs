//! Source lines of machine code, from the line table that `nvcc -lineinfo` and `-G` leave in a cubin (`.debug_line`).
//! Not for: the table of PTX lines (`.nv_debug_line_sass`), other debug information, nor which calls were inlined where.
//!
//! Every code section of a cubin starts at address 0, so an address alone says nothing: a relocation at the start of each
//! sequence names the function. They are applied here to addresses of this file's own making, which hold the section.

use std::collections::BTreeMap;
use std::sync::Arc;

use gimli::{DebugLine, DebugLineOffset, DebugLineStr, DebugStr, EndianSlice, LittleEndian};
use object::elf::SHF_EXECINSTR;

use super::Function;
use crate::BinaryError;
use crate::elf::{Elf, Section};
use crate::fields::{u32_at, u64_at};
use crate::source::Source;

/// The source line of code from an offset on, up to the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineOf {
    /// Bytes from the start of the code section.
    pub offset: u32,
    /// The file as in the table: its folder and name.
    pub file: Arc<str>,
    /// The line, from 1; 0 for code that belongs to none.
    pub line: u32,
}

/// The line that an instruction belongs to, where the table says.
#[must_use]
pub fn line_at(lines: &[LineOf], offset: u32) -> Option<&LineOf> {
    let after = lines.partition_point(|line| line.offset <= offset);
    lines.get(after.checked_sub(1)?).filter(|line| line.line > 0)
}

/// A relocation that puts an address of 8 bytes, as in CUDA's ELF (`R_CUDA_64`).
const ADDRESS: u32 = 2;
/// Bits of an address here that are the offset in a section; the section's number and 1 stands above them.
const OFFSET_BITS: u32 = 40;
/// Rows of one function, at most: the largest kernels have some 100,000 instructions.
const MOST_ROWS: usize = 1 << 20;
/// Files of one table that are named, at most, and bytes of a name: tables can share a name between many files.
const MOST_FILES: usize = 4096;
/// The longest name that is read.
const LONGEST_NAME: usize = 4096;
/// Bytes of an address.
const ADDRESS_SIZE: u8 = 8;

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// The lines of a function of a cubin, by offset; none where the cubin has no line table.
///
/// # Errors
/// [`BinaryError`] where tables reach beyond the file, or where the line table is damaged before it gets to the function.
pub fn lines(source: &dyn Source, function: &Function) -> Result<Vec<LineOf>, BinaryError> {
    let elf = Elf::parse(source)?;
    let is_code = |section: &Section| section.flags & SHF_EXECINSTR.0 != 0 && !section.is_empty_in_file();
    let own = |section: &Section| is_code(section) && section.offset == function.code.start;
    let (Some(table), Some(code)) = (elf.named(".debug_line"), elf.sections.iter().position(own)) else {
        return Ok(Vec::new());
    };
    let mut bytes = table.bytes(source, "line table")?.into_owned();
    let related = relocate(&elf, source, table, &mut bytes)?;
    let code_sections = elf.sections.iter().filter(|section| is_code(section)).count();
    let section = match related {
        true => (code as u64).saturating_add(1),
        // Without relocations addresses tell nothing, but for a single piece of code.
        false if code_sections == 1 => 0,
        false => return Ok(Vec::new()),
    };
    let strings = |name: &str| elf.named(name).map_or(Ok(Vec::new()), |s| Ok(s.bytes(source, "strings")?.into_owned()));
    let (text, line_text) = (strings(".debug_str")?, strings(".debug_line_str")?);
    let strings =
        Strings { text: DebugStr::new(&text, LittleEndian), line_text: DebugLineStr::new(&line_text, LittleEndian) };
    let size = function.code.end.saturating_sub(function.code.start);
    read_table(&bytes, &strings, section, size)
        .map_err(|error| BinaryError::malformed("line table", table.offset, "DWARF 2 to 5", error.to_string()))?
        .ok_or(BinaryError::OverLimit { what: "rows of a function's line table", limit: MOST_ROWS as u64 })
}

/// Puts addresses that hold the section where relocations say which function is meant; whether there were any.
fn relocate(elf: &Elf<'_>, source: &dyn Source, table: &Section, bytes: &mut [u8]) -> Result<bool, BinaryError> {
    let found = elf.named(".rela.debug_line").map(|section| (section, 24_usize));
    let found = found.or_else(|| elf.named(".rel.debug_line").map(|section| (section, 16)));
    let Some((section, entry)) = found.filter(|_| !table.is_empty_in_file()) else { return Ok(false) };
    let symbols = elf.symbols(source)?;
    let entries = section.bytes(source, "relocations of the line table")?;
    let mut any = false;
    for relocation in entries.chunks_exact(entry) {
        let (Some(at), Some(kind), Some(symbol)) =
            (u64_at(relocation, 0), u32_at(relocation, 8), u32_at(relocation, 12))
        else {
            continue;
        };
        let Some(symbol) = symbols.all.get(symbol as usize).filter(|_| kind == ADDRESS) else { continue };
        let Some(place) = usize::try_from(at).ok().and_then(|at| bytes.get_mut(at..at.checked_add(8)?)) else {
            continue;
        };
        let addend = u64_at(if entry == 24 { relocation.get(16..).unwrap_or(&[]) } else { place }, 0).unwrap_or(0);
        let offset = symbol.value.wrapping_add(addend) & ((1 << OFFSET_BITS) - 1);
        let address = ((symbol.section as u64).saturating_add(1) << OFFSET_BITS) | offset;
        place.copy_from_slice(&address.to_le_bytes());
        any = true;
    }
    Ok(any)
}

/// Where names of files can stand since DWARF 5.
struct Strings<'a> {
    text: DebugStr<Slice<'a>>,
    line_text: DebugLineStr<Slice<'a>>,
}

/// The rows of one section; `None` where there are too many. Damage ends the reading: what came before is used.
fn read_table(
    bytes: &[u8],
    strings: &Strings<'_>,
    section: u64,
    size: u64,
) -> Result<Option<Vec<LineOf>>, gimli::Error> {
    let table = DebugLine::new(bytes, LittleEndian);
    let mut found: BTreeMap<u32, (Arc<str>, u32)> = BTreeMap::new();
    let mut at = 0_usize;
    while at < bytes.len() {
        let program = match table.program(DebugLineOffset(at), ADDRESS_SIZE, None, None) {
            Ok(program) => program,
            Err(error) if found.is_empty() => return Err(error),
            Err(_) => break,
        };
        let header = program.header();
        let own_size = usize::from(header.format().initial_length_size());
        let length = header.unit_length().saturating_add(own_size);
        let mut files: BTreeMap<u64, Arc<str>> = BTreeMap::new();
        let mut rows = program.rows();
        // A damaged program says nothing of the next one, whose place is known.
        while let Ok(Some((header, row))) = rows.next_row() {
            let offset = row.address() & ((1 << OFFSET_BITS) - 1);
            let Some(offset) = u32::try_from(offset).ok().filter(|_| row.address() >> OFFSET_BITS == section) else {
                continue;
            };
            if row.end_sequence() || u64::from(offset) >= size {
                continue;
            }
            let named = files.len() < MOST_FILES || files.contains_key(&row.file_index());
            let name = || if named { file_name(header, row.file_index(), strings) } else { Arc::from("") };
            let file = Arc::clone(files.entry(row.file_index()).or_insert_with(name));
            let line = row.line().and_then(|line| u32::try_from(line.get()).ok()).unwrap_or(0);
            found.insert(offset, (file, line));
            if found.len() > MOST_ROWS {
                return Ok(None);
            }
        }
        at = at.saturating_add(length.max(1));
    }
    let line = |(offset, (file, line)): (u32, (Arc<str>, u32))| LineOf { offset, file, line };
    Ok(Some(found.into_iter().map(line).collect()))
}

/// The folder and name of a file of a table.
fn file_name(header: &gimli::LineProgramHeader<Slice<'_>>, index: u64, strings: &Strings<'_>) -> Arc<str> {
    let Some(file) = header.file(index) else { return Arc::from("") };
    let name = strings.get(file.path_name()).unwrap_or_default();
    if name.starts_with('/') {
        return Arc::from(name);
    }
    match file.directory(header).and_then(|folder| strings.get(folder)).filter(|folder| !folder.is_empty()) {
        Some(folder) => Arc::from(format!("{}/{name}", folder.trim_end_matches('/'))),
        None => Arc::from(name),
    }
}

impl Strings<'_> {
    /// A name, as far as it is read.
    fn get(&self, value: gimli::AttributeValue<Slice<'_>>) -> Option<String> {
        let text = match value {
            gimli::AttributeValue::String(text) => text,
            gimli::AttributeValue::DebugStrRef(at) => self.text.get_str(at).ok()?,
            gimli::AttributeValue::DebugLineStrRef(at) => self.line_text.get_str(at).ok()?,
            _ => return None,
        };
        let bytes = text.slice();
        Some(String::from_utf8_lossy(bytes.get(..LONGEST_NAME).unwrap_or(bytes)).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line table of version 2 with two files, whose one sequence starts at an address of `section`.
    fn table(section: u64) -> Vec<u8> {
        let mut header = vec![1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1];
        header.extend(b"/src\0\0a.cu\0\x01\0\0/inc/b.h\0\0\0\0\0");
        let mut program = vec![0, 9, 2];
        program.extend(((section << OFFSET_BITS) | 0x10).to_le_bytes());
        // Line 8 (advance 7, copy); file 2 and line 9 after 32 bytes; line 0 after 16; its end after 16.
        program.extend([3, 7, 1, 4, 2, 3, 1, 2, 32, 1, 3, 0x77, 2, 16, 1, 2, 16, 0, 1, 1]);
        let mut bytes = ((2 + 4 + header.len() + program.len()) as u32).to_le_bytes().to_vec();
        bytes.extend(2_u16.to_le_bytes());
        bytes.extend((header.len() as u32).to_le_bytes());
        [bytes, header, program].concat()
    }

    fn read(bytes: &[u8], section: u64) -> Vec<LineOf> {
        let none = Strings { text: DebugStr::new(&[], LittleEndian), line_text: DebugLineStr::new(&[], LittleEndian) };
        read_table(bytes, &none, section, 0x1000).unwrap().unwrap()
    }

    #[test]
    fn rows_of_the_section_that_is_asked_for() {
        let found = read(&table(5), 5);
        let all: Vec<(u32, &str, u32)> = found.iter().map(|line| (line.offset, &*line.file, line.line)).collect();
        assert_eq!(all, [(0x10, "/src/a.cu", 8), (0x30, "/inc/b.h", 9), (0x40, "/inc/b.h", 0)]);
        assert!(read(&table(5), 4).is_empty());
        let at = |offset: u32| line_at(&found, offset).map(|line| line.line);
        assert_eq!((at(0), at(0x10), at(0x2f), at(0x30), at(0x40)), (None, Some(8), Some(8), Some(9), None));
    }

    #[test]
    fn tables_follow_each_other() {
        let two = [table(1), table(2)].concat();
        assert_eq!((read(&two, 1).len(), read(&two, 2).len()), (3, 3));
        // Where the second one is damaged, the first one is still there.
        let cut = &two[..two.len() - 30];
        assert_eq!(read(cut, 1).len(), 3);
        let strings =
            Strings { text: DebugStr::new(&[], LittleEndian), line_text: DebugLineStr::new(&[], LittleEndian) };
        assert!(read_table(&two[..20], &strings, 1, 64).is_err());
    }
}
