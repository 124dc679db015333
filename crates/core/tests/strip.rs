//! Paths in the code of reports: what debug information holds is masked, and code and numbers stay.

use occupant_core::strip;
use occupant_profile::ncu::{Module, Report, ReportWriter};

/// Flags of sections: loaded, packed.
const LOADED: u64 = 2;
const PACKED: u64 = 0x800;

/// A CUDA ELF file of nothing but sections.
fn cubin(sections: &[(&str, u64, Vec<u8>)]) -> Vec<u8> {
    let mut names = vec![0_u8];
    let mut data: Vec<u8> = Vec::new();
    let mut table = vec![0_u8; 64];
    let mut header = |names: &mut Vec<u8>, name: &str, kind: u32, flags: u64, bytes: &[u8]| {
        let place = names.len() as u32;
        names.extend(name.as_bytes());
        names.push(0);
        let offset = 64 + data.len() as u64;
        data.extend(bytes);
        table.extend([place.to_le_bytes(), kind.to_le_bytes()].concat());
        table.extend([flags, 0, offset, bytes.len() as u64, 0, 1, 0].map(u64::to_le_bytes).concat());
    };
    for (name, flags, bytes) in sections {
        header(&mut names, name, 1, *flags, bytes);
    }
    let all = names.len() + ".shstrtab\0".len();
    let mut last = names.clone();
    last.extend(b".shstrtab\0");
    assert_eq!(last.len(), all);
    header(&mut names, ".shstrtab", 3, 0, &last);
    let count = sections.len() as u16 + 2;
    let mut file = b"\x7fELF\x02\x01\x01\x41\x08".to_vec();
    file.resize(16, 0);
    // Executable, for CUDA, version 1, sections after the data, sm_90.
    file.extend([2_u16.to_le_bytes(), 190_u16.to_le_bytes()].concat());
    file.extend(1_u32.to_le_bytes());
    file.extend([0, 0, 64 + data.len() as u64].map(u64::to_le_bytes).concat());
    file.extend(0x0600_5a04_u32.to_le_bytes());
    file.extend([64_u16, 0, 0, 64, count, count - 1].map(u16::to_le_bytes).concat());
    file.extend(data);
    file.extend(table);
    file
}

/// A line table of one unit: header of `strings`, then a program that looks like a path.
fn line_table(strings: &[u8], program: &[u8]) -> Vec<u8> {
    let header = strings.len() as u32;
    let length = 2 + 4 + header + program.len() as u32;
    let head = [&length.to_le_bytes()[..], &2_u16.to_le_bytes(), &header.to_le_bytes()].concat();
    [&head[..], strings, program].concat()
}

fn stripped(cubin: &[u8]) -> Vec<u8> {
    let modules = vec![Module { reference: 1, cubin: Some(cubin), ..Module::default() }];
    let bytes = ReportWriter::new(&Report { modules, ..Report::default() }).bytes();
    let stripped = strip(&bytes, true).expect("stripped");
    let report = Report::read(&stripped.bytes).expect("a report");
    let after = report.modules[0].cubin.expect("code is kept").to_vec();
    assert_eq!(after.len(), cubin.len());
    after
}

fn has(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

#[test]
fn folders_of_debug_information_are_masked() {
    let program = b"\x05/ab/cd/ef\0\x01";
    let before = cubin(&[
        (".debug_str", 0, b"/home/alice/src\0int\0operator/\0k.cu\0".to_vec()),
        (".debug_info", 0, b"\x01\x04/home/alice/src/k.cu\0\x02\x2f\x61\0".to_vec()),
        (".debug_line", 0, line_table(b"\x01\x00/home/alice/src\0\0k.cu\0\x01\0\0\0", program)),
        (".nv_debug_ptx_txt", 0, b".file 1 \"/home/alice/src/k.cu\"\0mov.u32 %r1, %r2;\0".to_vec()),
        (".debug_loc", PACKED, b"alice, packed".to_vec()),
        (".nv.global.init", LOADED, b"\0\0/home/alice/src/k.cu\0/ab/cd\0".to_vec()),
        (".nv.constant0.k", LOADED, b"/ab/c.d".to_vec()),
    ]);
    let after = stripped(&before);
    assert!(!has(&after, b"alice"), "{}", after.escape_ascii());
    for kept in
        [&b"k.cu\0"[..], b"int\0operator/\0", program, b"mov.u32 %r1, %r2;", b"\x02\x2f\x61\0", b"/ab/cd\0", b"/ab/c.d"]
    {
        assert!(has(&after, kept), "{} in {}", kept.escape_ascii(), after.escape_ascii());
    }
    for masked in [&b"/______________\0int"[..], b"/______________/k.cu\"", b"\0\0/______________/k.cu\0"] {
        assert!(has(&after, masked), "{} in {}", masked.escape_ascii(), after.escape_ascii());
    }
    assert_eq!(stripped(&after), after, "twice is the same");
}

#[test]
fn code_that_cannot_be_read_is_not_kept() {
    let modules = vec![Module { reference: 1, cubin: Some(b"\x7fELF and not"), ..Module::default() }];
    let bytes = ReportWriter::new(&Report { modules, ..Report::default() }).bytes();
    let refused = strip(&bytes, true).expect_err("no cubin").to_string();
    assert!(
        refused.contains("the machine code of a module at offset 0x") && refused.contains("--no-code"),
        "{refused}"
    );
    assert!(strip(&bytes, false).is_ok());
}

#[test]
fn a_cubin_without_debug_information_stays() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bin/kernels.sm_90a.cubin");
    #[allow(clippy::disallowed_methods, reason = "a test reads a fixture")]
    let bytes = std::fs::read(path).expect("a fixture");
    assert_eq!(stripped(&bytes), bytes);
}

#[test]
fn what_is_no_report_is_named() {
    let refused = |bytes: &[u8]| strip(bytes, true).expect_err("no report").to_string();
    assert!(refused(b"\x7fELF\x02").contains("found an ELF binary"));
    assert!(refused(b"").contains("an empty file"));
    let csv = "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\"0\",\"k\",\"a__b.sum\",\"\",\"1\"\n";
    assert!(refused(csv.as_bytes()).contains("found CSV or a trace"), "{}", refused(csv.as_bytes()));
}
