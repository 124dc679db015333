//! The parts of a 64-bit little-endian ELF file that the readers above need: header, sections, symbols.
//!
//! Layouts come from the `object` crate; every read goes through a [`Source`]. Not for: segments, relocations.

use std::borrow::Cow;

use object::LittleEndian as Le;
use object::elf;
use object::pod;

use crate::BinaryError;
use crate::source::{Source, read};

/// A file header and its section headers. Names stay where they are and are looked up when asked for: a large cubin
/// has a hundred thousand of them.
pub(crate) struct Elf<'s> {
    pub(crate) machine: elf::Machine,
    pub(crate) kind: elf::FileType,
    pub(crate) flags: u32,
    pub(crate) os_abi: u8,
    pub(crate) sections: Vec<Section>,
    names: Cow<'s, [u8]>,
}

/// One section header.
pub(crate) struct Section {
    name_at: u32,
    pub(crate) kind: elf::SectionType,
    pub(crate) flags: u64,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) link: u32,
    pub(crate) info: u32,
}

impl Section {
    /// The section takes no room in the file.
    pub(crate) fn is_empty_in_file(&self) -> bool {
        self.kind == elf::SHT_NOBITS || self.kind == elf::SHT_NULL || self.size == 0
    }

    /// The bytes of the section.
    pub(crate) fn bytes<'s>(&self, source: &'s dyn Source, what: &'static str) -> Result<Cow<'s, [u8]>, BinaryError> {
        if self.is_empty_in_file() {
            return Ok(Cow::Borrowed(&[]));
        }
        read(source, self.offset, self.size, what)
    }
}

/// The symbols of a file, by their index.
pub(crate) struct Symbols<'s> {
    pub(crate) all: Vec<Symbol>,
    names: Cow<'s, [u8]>,
}

/// One symbol.
pub(crate) struct Symbol {
    name_at: u32,
    pub(crate) kind: elf::SymbolType,
    pub(crate) other: u8,
    pub(crate) section: usize,
    /// Offset in its section.
    pub(crate) value: u64,
    pub(crate) local: bool,
}

impl Symbols<'_> {
    /// The name of a symbol; bytes that are no UTF-8 are replaced.
    pub(crate) fn name(&self, symbol: &Symbol) -> Cow<'_, str> {
        let bytes = bytes_at(&self.names, symbol.name_at);
        // The check is several times faster than the replacement, and names are long.
        std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
    }

    /// The first byte of a symbol's name.
    pub(crate) fn first_byte(&self, symbol: &Symbol) -> Option<u8> {
        self.names.get(symbol.name_at as usize).copied()
    }
}

const SYMBOL_SIZE: u64 = 24;
const HEADER_SIZE: u64 = 64;
const SECTION_HEADER_SIZE: u64 = 64;

/// The machine number of an ELF file, `None` where it is not a 64-bit little-endian one.
pub(crate) fn machine(start: &[u8]) -> Option<elf::Machine> {
    let (header, _) = pod::from_bytes::<elf::FileHeader64<Le>>(start).ok()?;
    let ident = &header.e_ident;
    let ours = ident.magic == elf::ELFMAG && ident.class == elf::ELFCLASS64 && ident.data == elf::ELFDATA2LSB;
    ours.then(|| header.e_machine.get(Le))
}

impl<'s> Elf<'s> {
    /// Reads the header and the section table.
    pub(crate) fn parse(source: &'s dyn Source) -> Result<Self, BinaryError> {
        let start = read(source, 0, HEADER_SIZE, "ELF header")?;
        let not_elf = || {
            let found = start.get(..8).map_or_else(String::new, |bytes| format!("{bytes:02x?}"));
            BinaryError::malformed("ELF header", 0, "a 64-bit little-endian ELF", found)
        };
        machine(&start).ok_or_else(not_elf)?;
        let (header, _) = pod::from_bytes::<elf::FileHeader64<Le>>(&start).map_err(|()| not_elf())?;
        let mut parsed = Self {
            machine: header.e_machine.get(Le),
            kind: header.e_type.get(Le),
            flags: header.e_flags.get(Le).0,
            os_abi: header.e_ident.os_abi.0,
            sections: Vec::new(),
            names: Cow::Borrowed(&[]),
        };
        let table_offset = header.e_shoff.get(Le);
        if table_offset == 0 {
            return Ok(parsed);
        }
        if u64::from(header.e_shentsize.get(Le)) != SECTION_HEADER_SIZE {
            let found = header.e_shentsize.get(Le).to_string();
            return Err(BinaryError::malformed(
                "ELF section header size",
                0x3a,
                SECTION_HEADER_SIZE.to_string(),
                found,
            ));
        }
        // Beyond 65,279 sections the header's own fields overflow into the first section header.
        let first = read(source, table_offset, SECTION_HEADER_SIZE, "first ELF section header")?;
        let first = section_headers(&first, table_offset)?.first();
        let overflow = |small: u16, escape: u16, large: Option<u64>| {
            if small == escape { large.unwrap_or(0) } else { u64::from(small) }
        };
        let count = overflow(header.e_shnum.get(Le), 0, first.map(|s| s.sh_size.get(Le)));
        let names_index =
            overflow(header.e_shstrndx.get(Le).0, elf::SHN_XINDEX.0, first.map(|s| u64::from(s.sh_link.get(Le))));
        let table = read(source, table_offset, count.saturating_mul(SECTION_HEADER_SIZE), "ELF section headers")?;
        parsed.sections = section_headers(&table, table_offset)?.iter().map(Section::from_header).collect();
        if let Some(names) = usize::try_from(names_index).ok().and_then(|index| parsed.sections.get(index)) {
            parsed.names = names.bytes(source, "section names")?;
        }
        Ok(parsed)
    }

    /// The name of a section.
    pub(crate) fn name(&self, section: &Section) -> &[u8] {
        bytes_at(&self.names, section.name_at)
    }

    /// Whether a section's name starts so.
    pub(crate) fn name_starts(&self, section: &Section, start: &[u8]) -> bool {
        self.names.get(section.name_at as usize..).is_some_and(|rest| rest.starts_with(start))
    }

    /// Whether a section has this name.
    pub(crate) fn is_named(&self, section: &Section, name: &str) -> bool {
        let end = || self.names.get((section.name_at as usize).saturating_add(name.len()));
        self.name_starts(section, name.as_bytes()) && end().is_none_or(|end| *end == 0)
    }

    /// The first section of a name.
    pub(crate) fn named(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| self.is_named(section, name))
    }

    /// The symbols of the first symbol table; none where there is no table.
    pub(crate) fn symbols(&self, source: &'s dyn Source) -> Result<Symbols<'s>, BinaryError> {
        let Some(table) = self.sections.iter().find(|section| section.kind == elf::SHT_SYMTAB) else {
            return Ok(Symbols { all: Vec::new(), names: Cow::Borrowed(&[]) });
        };
        let bytes = table.bytes(source, "symbol table")?;
        if !table.size.is_multiple_of(SYMBOL_SIZE) {
            let found = table.size.to_string();
            return Err(BinaryError::malformed("symbol table size", table.offset, "a multiple of 24", found));
        }
        let names = self.sections.get(table.link as usize).ok_or_else(|| {
            let found = table.link.to_string();
            BinaryError::malformed("section of symbol names", table.offset, "a section's number", found)
        })?;
        let names = names.bytes(source, "symbol names")?;
        let extended = self.extended_indexes(source)?;
        let whole = bytes.len().checked_div(size_of::<elf::Sym64<Le>>()).unwrap_or(0);
        let (symbols, _) = pod::slice_from_bytes::<elf::Sym64<Le>>(&bytes, whole)
            .map_err(|()| BinaryError::malformed("symbol table", table.offset, "whole symbols", "less"))?;
        let all = symbols.iter().enumerate().map(|(index, symbol)| Symbol {
            name_at: symbol.st_name.get(Le),
            kind: symbol.st_type(),
            other: symbol.st_other.0,
            section: match symbol.st_shndx.get(Le) {
                elf::SHN_XINDEX => extended.get(index).copied().unwrap_or(0) as usize,
                small => usize::from(small.0),
            },
            value: symbol.st_value.get(Le),
            local: symbol.st_bind() == elf::STB_LOCAL,
        });
        Ok(Symbols { all: all.collect(), names })
    }

    fn extended_indexes(&self, source: &'s dyn Source) -> Result<Vec<u32>, BinaryError> {
        let Some(section) = self.sections.iter().find(|section| section.kind == elf::SHT_SYMTAB_SHNDX) else {
            return Ok(Vec::new());
        };
        let bytes = section.bytes(source, "extended symbol sections")?;
        Ok(bytes.chunks_exact(4).filter_map(|word| crate::fields::u32_at(word, 0)).collect())
    }
}

fn section_headers(bytes: &[u8], offset: u64) -> Result<&[elf::SectionHeader64<Le>], BinaryError> {
    let whole = bytes.len().checked_div(size_of::<elf::SectionHeader64<Le>>()).unwrap_or(0);
    pod::slice_from_bytes(bytes, whole)
        .map(|(headers, _)| headers)
        .map_err(|()| BinaryError::malformed("ELF section headers", offset, "whole headers", "less"))
}

impl Section {
    fn from_header(header: &elf::SectionHeader64<Le>) -> Self {
        Self {
            name_at: header.sh_name.get(Le),
            kind: header.sh_type.get(Le),
            flags: header.sh_flags.get(Le).0,
            offset: header.sh_offset.get(Le),
            size: header.sh_size.get(Le),
            link: header.sh_link.get(Le),
            info: header.sh_info.get(Le),
        }
    }
}

/// The longest name that is read; the longest seen has some 20,000 bytes.
const LONGEST_NAME: usize = 64 << 10;

/// The bytes at `at` up to a zero; empty beyond the end.
fn bytes_at(names: &[u8], at: u32) -> &[u8] {
    let rest = names.get(at as usize..).unwrap_or(&[]);
    let rest = rest.get(..LONGEST_NAME).unwrap_or(rest);
    memchr::memchr(0, rest).and_then(|end| rest.get(..end)).unwrap_or(rest)
}
