//! Cubins put together here, with what no compiler writes: shared code, annotations twice, between instructions, in parts.
#![allow(clippy::disallowed_methods, reason = "tests")]

use std::convert::identity;

use occupant_core::report::{KernelRecord, NameRecord, Totals};
use occupant_core::{Event, File, GroupBy, InspectOptions, Memory, Outcome, ReadCode, Summary, inspect};

/// `EXIT`, `NOP` and `STL [R1], R0` of sm_90.
const EXIT: (u64, u64) = (0x0000_0000_0000_794d, 0x000f_ea00_0380_0000);
const NOP: (u64, u64) = (0x0000_0000_0000_7918, 0x000f_c000_0000_0000);
const STL: (u64, u64) = (0x0000_0000_0100_7387, 0x000f_e200_0010_0800);

fn code(instructions: &[(u64, u64)]) -> Vec<u8> {
    instructions.iter().flat_map(|(low, high)| [low.to_le_bytes(), high.to_le_bytes()]).flatten().collect()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// An attribute with a value of its own size.
fn attribute(code: u8, value: &[u8]) -> Vec<u8> {
    let size = u16::try_from(value.len()).unwrap();
    [&[4, code][..], &size.to_le_bytes(), value].concat()
}

struct Section {
    name: &'static str,
    kind: u32,
    flags: u64,
    link: u32,
    info: u32,
    data: Vec<u8>,
}

/// A cubin for sm_90 by CUDA 13.0: one code section, `kernels` symbols on it, and attributes of the kernel.
fn cubin(code: Vec<u8>, kernels: u32, attributes: &[u8]) -> Vec<u8> {
    cubin_with(code, kernels, &[], attributes)
}

/// The same with one kernel, and `vprintf` and `other` outside the file as symbols 2 and 3.
fn with_outside(code: Vec<u8>, attributes: &[u8]) -> Vec<u8> {
    cubin_with(code, 1, &["vprintf", "other"], attributes)
}

fn cubin_with(code: Vec<u8>, kernels: u32, outside: &[&str], attributes: &[u8]) -> Vec<u8> {
    const CODE: u32 = 4;
    let (mut names, mut symbols, mut module) = (vec![0_u8], vec![0_u8; 24], Vec::new());
    for number in 1..=kernels {
        symbols.extend(u32::try_from(names.len()).unwrap().to_le_bytes());
        symbols.extend([0x12, 0x10, u8::try_from(CODE).unwrap(), 0]);
        symbols.extend([0_u64, code.len() as u64].iter().flat_map(|value| value.to_le_bytes()));
        names.extend(format!("k{number}\0").bytes());
        for (attribute_code, value) in [(0x2f, 32), (0x11, 16), (0x12, 16)] {
            module.extend(attribute(attribute_code, &words(&[number, value])));
        }
    }
    for name in outside {
        symbols.extend(u32::try_from(names.len()).unwrap().to_le_bytes());
        symbols.extend([0x12, 0, 0, 0].iter().chain(&[0; 16]));
        names.extend(name.bytes().chain([0]));
    }
    let own = [&attribute(0x37, &words(&[130])), attributes].concat();
    let section = |name, kind, flags, link, info, data| Section { name, kind, flags, link, info, data };
    elf(vec![
        section(".strtab", 3, 0, 0, 0, names),
        section(".symtab", 2, 0, 1, 1, symbols),
        section(".nv.info", 0x7000_0000, 0, 2, 0, module),
        section(".text.k1", 1, 6, 2, 7, code),
        section(".nv.info.k1", 0x7000_0000, 0, 2, CODE, own),
    ])
}

fn elf(mut sections: Vec<Section>) -> Vec<u8> {
    let mut names = vec![0_u8];
    let mut places: Vec<u32> = Vec::new();
    for name in sections.iter().map(|section| section.name).chain([".shstrtab"]) {
        places.push(u32::try_from(names.len()).unwrap());
        names.extend(name.bytes().chain([0]));
    }
    sections.push(Section { name: ".shstrtab", kind: 3, flags: 0, link: 0, info: 0, data: names });
    let (mut file, mut headers) = (vec![0_u8; 64], vec![0_u8; 64]);
    for (section, name) in sections.iter().zip(&places) {
        file.resize(file.len().next_multiple_of(16), 0);
        headers.extend(words(&[*name, section.kind]));
        let long = [section.flags, 0, file.len() as u64, section.data.len() as u64];
        headers.extend(long.iter().flat_map(|value| value.to_le_bytes()));
        headers.extend(words(&[section.link, section.info]));
        headers.extend([4_u64, if section.kind == 2 { 24 } else { 0 }].iter().flat_map(|value| value.to_le_bytes()));
        file.extend(&section.data);
    }
    file.resize(file.len().next_multiple_of(16), 0);
    let at = file.len() as u64;
    file.extend(headers);
    let count = u16::try_from(sections.len() + 1).unwrap();
    let mut header = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0x41, 8, 0, 0, 0, 0, 0, 0, 0];
    header.extend([2_u16, 190].iter().flat_map(|value| value.to_le_bytes()));
    header.extend(1_u32.to_le_bytes());
    header.extend([0_u64, 0, at].iter().flat_map(|value| value.to_le_bytes()));
    header.extend(0x0600_5a04_u32.to_le_bytes());
    header.extend([64_u16, 56, 0, 64, count, count - 1].iter().flat_map(|value| value.to_le_bytes()));
    file[..64].copy_from_slice(&header);
    file
}

fn read(cubin: &[u8], code: ReadCode) -> (Vec<KernelRecord>, Outcome) {
    let file = File { name: "crafted.cubin", source: &cubin, companion: None };
    let options = InspectOptions { code, threads: Some(1), ..InspectOptions::default() };
    let mut kernels = Vec::new();
    let outcome = inspect(&file, &Memory, &options, &identity, &mut |event| {
        if let Event::Kernels(records) = event {
            kernels.extend(records);
        }
    });
    (kernels, outcome)
}

/// One kernel's instructions, stored bytes, and the messages about it.
fn spills(code: &[(u64, u64)], attributes: &[u8]) -> (Option<u32>, Option<u32>, Vec<String>) {
    let (kernels, outcome) = read(&cubin(self::code(code), 1, attributes), ReadCode::default());
    let messages = outcome.diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect();
    (kernels[0].spills.instructions, kernels[0].spills.store_bytes, messages)
}

#[test]
fn lists_of_spills_go_on_in_another_attribute() {
    let both = [attribute(0x55, &words(&[1, 0])), attribute(0x55, &words(&[1, 32]))].concat();
    assert_eq!(spills(&[STL, NOP, STL, EXIT], &both), (Some(2), Some(8), Vec::new()));
}

#[test]
fn a_spill_that_is_listed_twice_is_one() {
    let twice = attribute(0x55, &words(&[1, 0, 1, 0, 1, 0]));
    assert_eq!(spills(&[STL, NOP, EXIT], &twice), (Some(1), Some(4), Vec::new()));
}

#[test]
fn offsets_that_name_no_instruction_are_told() {
    for offset in [8, 0x10_0000] {
        let (_, bytes, messages) = spills(&[STL, NOP, EXIT], &attribute(0x55, &words(&[1, 0, 1, offset])));
        assert_eq!(bytes, None);
        assert_eq!(messages, ["k1: spill annotations that name no instruction of its code: 1"]);
    }
}

#[test]
fn code_that_many_symbols_share_is_a_bomb() {
    let long = [NOP; 512];
    let (few, outcome) = read(&cubin(code(&long), 8, &[]), ReadCode::All);
    assert_eq!((few.len(), outcome.diagnostics.len()), (8, 0));
    let (many, outcome) = read(&cubin(code(&long), 100, &[]), ReadCode::All);
    assert_eq!((many.len(), outcome.diagnostics[0].code.as_str()), (0, "over_limit"));
    assert!(outcome.diagnostics[0].message.contains("size of code that symbols share"), "{:?}", outcome.diagnostics);
}

/// `LDC R1, c[0x0][0x28]` and `@P0 EXIT` of sm_90.
const STACK_POINTER: (u64, u64) = (0x0000_0a00_ff01_7b82, 0x000f_e200_0000_0800);
const EXIT_OF_SOME: (u64, u64) = (0x0000_0000_0000_094d, 0x000f_ea00_0380_0000);

#[test]
fn kernels_that_return_at_once() {
    let told = |instructions: &[(u64, u64)], read_code| {
        let (kernels, _) = read(&cubin(code(instructions), 1, &[]), read_code);
        (kernels[0].returns_at_once, kernels[0].code_bytes)
    };
    assert_eq!(told(&[STACK_POINTER, EXIT, NOP, NOP], ReadCode::default()), (Some(true), Some(64)));
    assert_eq!(told(&[NOP, EXIT], ReadCode::default()), (Some(true), Some(32)));
    assert_eq!(told(&[STACK_POINTER, EXIT_OF_SOME, STL, EXIT], ReadCode::default()), (Some(false), Some(64)));
    assert_eq!(told(&[STL, EXIT], ReadCode::default()), (Some(false), Some(32)));
    // Without an end, and where code is not to be read, it is not known; long code does something.
    assert_eq!(told(&[STACK_POINTER, NOP], ReadCode::default()), (None, Some(32)));
    assert_eq!(told(&[STACK_POINTER, EXIT], ReadCode::Nothing), (None, Some(32)));
    assert_eq!(told(&[NOP; 40], ReadCode::Nothing), (Some(false), Some(640)));
}

/// What CUDA 13.0 makes of `printf("hello\\n")` for sm_90: `MOV R0, 0x0`, `ULDC.64 UR4, c[0x4][0x38]`, `CS2R R6, SRZ`,
/// `IMAD.U32 R4, RZ, RZ, UR4`, `LDC.64 R2, c[0x4][R0]`, `IMAD.U32 R5, RZ, RZ, UR5`, `LEPC R20, 0x90`, `CALL.ABS.NOINC R2`.
const PRINT: [(u64, u64); 8] = [
    (0x0000_0000_0000_7802, 0x000f_e200_0000_0f00),
    (0x0100_0e00_0004_7ab9, 0x000f_e200_0000_0a00),
    (0x0000_0000_0006_7805, 0x000f_e200_0001_ff00),
    (0x0000_0004_ff04_7e24, 0x000f_c800_0f8e_00ff),
    (0x0100_0000_0002_7b82, 0x0002_a200_0000_0a00),
    (0x0000_0005_ff05_7e24, 0x000f_ce00_0f8e_00ff),
    (0x0000_0000_1014_794e, 0x000f_ce00_0000_0000),
    (0x0000_0000_0200_7343, 0x007f_ea00_03c0_0000),
];
/// `BPT.TRAP 0x1`, `BRA` to itself, `LDG.E R0, [R2.64]`, and `LDC.64 R2, c[0x0][0x210]`, the first parameter.
const TRAP: (u64, u64) = (0x0000_0004_0000_795c, 0x000f_e200_0030_0000);
const BRA_SELF: (u64, u64) = (0xffff_fffc_00fc_7947, 0x000f_c000_0383_ffff);
const LDG: (u64, u64) = (0x0000_0004_0202_7981, 0x000e_a400_0c1e_1900);
const PARAMETER: (u64, u64) = (0x0000_8400_ff02_7b82, 0x000e_a200_0000_0a00);

#[test]
fn kernels_that_only_report() {
    let told = |instructions: &[(u64, u64)], externals: &[u32], read_code| {
        // Symbols 1 and 2 of the file: the kernel, and a function outside.
        let attributes = attribute(0x0f, &words(externals));
        let (kernels, _) = read(&with_outside(code(instructions), &attributes), read_code);
        (kernels[0].only_reports, kernels[0].returns_at_once)
    };
    let default = ReadCode::default();
    let (print, printer) = (PRINT, [2]);
    let then = |after: &[(u64, u64)]| [&print[..], after].concat();
    assert_eq!(told(&then(&[EXIT, NOP]), &printer, default), (Some(true), Some(false)));
    assert_eq!(
        told(&[&[STACK_POINTER, EXIT_OF_SOME], &then(&[TRAP, EXIT])[..]].concat(), &printer, default).0,
        Some(true)
    );
    // A trap is enough, and nothing follows it.
    assert_eq!(told(&[STACK_POINTER, TRAP, BRA_SELF], &[], default).0, Some(true));
    // It does more: loops, global memory before or after, nothing at all.
    assert_eq!(told(&then(&[BRA_SELF, EXIT]), &printer, default).0, Some(false));
    assert_eq!(told(&then(&[LDG, EXIT]), &printer, default).0, Some(false));
    assert_eq!(told(&[&[LDG], &then(&[EXIT])[..]].concat(), &printer, default).0, Some(false));
    assert_eq!(told(&[STACK_POINTER, EXIT], &[], default), (Some(false), Some(true)));
    // What no way leads to does not count.
    assert_eq!(told(&then(&[EXIT, LDG, BRA_SELF]), &printer, default).0, Some(true));
    // What it calls is not certain: an address that a parameter gives, or one that was overwritten.
    let mut by_parameter = then(&[EXIT]);
    by_parameter[4] = PARAMETER;
    assert_eq!(told(&by_parameter, &printer, default).0, None);
    assert_eq!(told(&[&print[..7], &[PARAMETER, PRINT[7], EXIT]].concat(), &printer, default).0, None);
    by_parameter[8] = LDG;
    assert_eq!(told(&[&by_parameter[..], &[EXIT]].concat(), &printer, default).0, Some(false));
    // A function outside that does not report, and one that the file does not name.
    assert_eq!(told(&then(&[EXIT]), &[3], default).0, Some(false));
    assert_eq!(told(&then(&[EXIT]), &[], default).0, Some(false));
    // Damaged, not to be read, long.
    assert_eq!(told(&print, &printer, default).0, None);
    assert_eq!(told(&then(&[EXIT]), &printer, ReadCode::Nothing).0, None);
    assert_eq!(told(&[NOP; 257], &[], ReadCode::Nothing).0, Some(false));
}

/// A kernel of the census, with a tile that its name states.
fn tiled(code: &[(u64, u64)], tile: &[u32]) -> KernelRecord {
    let (mut kernels, _) = read(&cubin(self::code(code), 1, &[]), ReadCode::default());
    let mut kernel = kernels.remove(0);
    kernel.from_name = (!tile.is_empty()).then(|| NameRecord {
        family: "cutlass",
        tile: tile.to_vec(),
        stages: None,
        cluster: Vec::new(),
        schedule: Vec::new(),
    });
    kernel
}

#[test]
fn a_census_tells_stubs_and_copies_and_sorts_sizes() {
    let mut summary = Summary::new(GroupBy::Tile, &[]);
    for tile in [&[128, 128][..], &[], &[16, 32], &[128, 16]] {
        (0..3).for_each(|_| summary.add(&tiled(&[STL, EXIT], tile)));
        summary.add(&tiled(&[STL, STL, EXIT], tile));
        summary.add(&tiled(&[EXIT, NOP], tile));
    }
    let report = summary.report(Totals::default(), Vec::new());
    let groups: Vec<&str> = report.groups.iter().filter_map(|group| group.group.as_deref()).collect();
    assert_eq!(groups, ["16x32", "128x16", "128x128", "not named"]);
    let first = &report.groups[0];
    assert_eq!((first.kernels, first.returns_at_once, first.distinct), (5, 1, 2));
    assert_eq!(first.most_copied.as_ref().map(|copied| (&*copied.name, copied.kernels)), Some(("k1", 3)));
    assert_eq!(first.registers.bins.iter().map(|bin| bin.kernels).sum::<u64>(), 4);
    assert_eq!((&*report.most_registers[0].file, &report.most_registers[0].member), ("crafted.cubin", &None));
}
