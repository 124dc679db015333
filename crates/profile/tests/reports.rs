//! Reports that the writer made: everything comes back, packed or not, and what is stripped is gone.

use std::collections::BTreeSet;

use occupant_profile::ncu::{
    Device, Instance, Launch, Message, Metric, Module, Private, Report, ReportWriter, Rule, Session, SourceFile,
    Speedup, SpeedupKind, Value, Workload, strip, unpack,
};
use occupant_profile::{ProfileError, read};
use proptest::prelude::*;

const PRIVATE: Private<'_> = Private {
    host: "secret-host",
    program: "/home/alice/secret-folder/a.out",
    environment: &[("SECRET_TOKEN", "secret-value")],
    command_line: "ncu -o secret-output ./a.out",
    range: "secret-range",
    caller: "secret_function",
};

fn metric<'a>(name: &'a str, value: Value<'a>) -> Metric<'a> {
    Metric { name, value, instances: Vec::new() }
}

/// A report with one of everything.
fn example() -> Report<'static> {
    let instances = vec![
        Instance { correlation: Value::Unsigned64(0x7f00), value: Value::Unsigned64(3) },
        Instance { correlation: Value::Text("warp"), value: Value::Float(0.5) },
    ];
    let rule = Rule {
        identifier: "TheoreticalOccupancy",
        name: "Theoretical Occupancy",
        section: "Occupancy",
        messages: vec![
            Message { title: Some("Limited"), text: "at /home/alice/x.cu:3 see https://docs.nvidia.com/a/b", kind: 3 },
            Message { title: None, text: "and more", kind: 1 },
        ],
        speedup: Some(Speedup { kind: SpeedupKind::Local, percent: 12.5 }),
    };
    let kernel = Launch {
        workload: Workload::Kernel,
        mangled: "_Z5saxpyPf",
        function: "saxpy",
        demangled: "saxpy(float *)",
        grid: [108, 2, 1],
        block: [256, 1, 1],
        module: Some(7),
        metrics: vec![
            metric("launch__registers_per_thread", Value::Unsigned32(40)),
            metric("gpu__time_duration.sum", Value::Double(1234.5)),
            metric("launch__kernel_name", Value::Text("saxpy")),
            metric("never__measured", Value::None),
            Metric { instances, ..metric("inst_executed", Value::Unsigned64(u64::MAX)) },
        ],
        rules: vec![rule, Rule { identifier: "Silent", ..Rule::default() }],
    };
    let range = Launch {
        workload: Workload::Range,
        grid: [0; 3],
        block: [0; 3],
        metrics: vec![metric("gpu__time_duration.sum", Value::Float(1.0))],
        ..Launch::default()
    };
    let module = Module {
        reference: 7,
        cubin: Some(b"\x7fELF and so on"),
        ptx: Some(".file 1 \"/home/alice/x.cu\""),
        capability: Some((9, 0)),
        files: vec![
            SourceFile { path: "/home/alice/x.cu", text: Some("secret source") },
            SourceFile { path: "y.cu", text: None },
        ],
    };
    let session = Session {
        devices: vec![Device {
            number: 0,
            name: "NVIDIA H100 PCIe",
            attributes: vec![("device__attribute_multiprocessor_count", Value::Unsigned32(114))],
        }],
        versions: vec![("Nsight Compute Target", "2025.1.0.0"), ("CUDA Version", "12.8")],
    };
    Report { session, modules: vec![module], launches: vec![kernel.clone(), range, kernel], faults: Vec::new() }
}

#[test]
fn what_is_written_is_read() {
    let report = example();
    let bytes = ReportWriter::new(&report).private(PRIVATE).bytes();
    assert_eq!(Report::read(&bytes), Ok(report));
}

#[test]
fn a_packed_report_is_read() {
    let report = example();
    let bytes = ReportWriter::new(&report).bytes();
    // A zstd frame of raw blocks, without a checksum: its size in four bytes, then at most 128 KiB a block.
    let mut packed = vec![0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000];
    packed.extend((bytes.len() as u32).to_le_bytes());
    let blocks: Vec<&[u8]> = bytes.chunks(100).collect();
    for (number, block) in blocks.iter().enumerate() {
        let last = u32::from(number + 1 == blocks.len());
        packed.extend(&((block.len() as u32) << 3 | last).to_le_bytes()[..3]);
        packed.extend(*block);
    }
    assert_eq!(unpack(&packed).expect("unpacked"), bytes);
    // In two frames, one of them after a frame to skip.
    let frame = |part: &[u8]| {
        let header = (part.len() as u32) << 3 | 1;
        let size = (part.len() as u32).to_le_bytes();
        [&[0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000], &size[..], &header.to_le_bytes()[..3], part].concat()
    };
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let framed = [&frame(first)[..], b"\x5a\x2a\x4d\x18\x03\0\0\0abc", &frame(second)].concat();
    assert_eq!(unpack(&framed).expect("unpacked"), bytes);
    assert_eq!(read(&framed).expect("a report").measurements, report.measurements());
    assert!(matches!(read(&[&framed[..], b"\x28\xb5"].concat()), Err(ProfileError::Unpack(_))), "a third is cut off");
    assert!(matches!(read(&framed[..framed.len() - second.len() - 14]), Err(ProfileError::Unpack(_))));
    assert_eq!(read(&packed).expect("a report").measurements, report.measurements());
    assert!(matches!(read(&packed[..packed.len() - 1]), Err(ProfileError::Unpack(_))));
}

#[test]
fn a_bomb_is_refused() {
    // Blocks that repeat one byte 128 Ki times: 4 bytes each.
    let mut packed = vec![0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000];
    packed.extend((1_000_u32 << 17).to_le_bytes());
    for number in 0..1_000_u32 {
        packed.extend(&((1_u32 << 17) << 3 | 1 << 1 | u32::from(number == 999)).to_le_bytes()[..3]);
        packed.push(0);
    }
    let refused = read(&packed).expect_err("a bomb");
    assert_eq!(
        refused,
        ProfileError::TooLarge { what: "bytes of an unpacked report", limit: 1000 * 4009 + (16 << 20) }
    );
}

#[test]
fn other_versions_are_refused() {
    let report = example();
    let bytes = ReportWriter::new(&report).version(8).bytes();
    let refused = Report::read(&bytes).expect_err("version 8");
    assert_eq!(refused.code(), "report_version");
    assert!(refused.to_string().contains("--page raw --csv"), "{refused}");
}

#[test]
fn damage_leaves_what_stands_before_it() {
    let report = example();
    let bytes = ReportWriter::new(&report).bytes();
    let mut seen = BTreeSet::new();
    for length in 0..bytes.len() {
        let Ok(cut) = Report::read(&bytes[..length]) else { continue };
        assert!(cut.launches.len() < 3 || length == bytes.len(), "cut to {length}");
        assert_eq!(cut.launches, report.launches[..cut.launches.len()], "cut to {length}");
        seen.insert(cut.launches.len());
    }
    assert_eq!(seen, BTreeSet::from([0, 1, 2]));
}

#[test]
fn stripped_of_machine_and_user() {
    let report = example();
    let bytes = ReportWriter::new(&report).private(PRIVATE).bytes();
    let stripped = strip(&bytes, Some(&mut |cubin| Ok(cubin.len()))).expect("stripped");
    let text = String::from_utf8_lossy(&stripped.bytes);
    assert!(!text.contains("secret") && !text.contains("SECRET") && !text.contains("alice"), "{text}");
    let after = Report::read(&stripped.bytes).expect("a report");
    assert_eq!((&after.session, &after.faults), (&report.session, &Vec::new()));
    for (before, after) in report.launches.iter().zip(&after.launches) {
        let mut expected = before.clone();
        for rule in &mut expected.rules {
            if let Some(first) = rule.messages.first_mut() {
                first.text = "at /__________/x.cu:3 see https://docs.nvidia.com/a/b";
            }
        }
        assert_eq!(*after, expected);
    }
    let [module] = after.modules.as_slice() else { panic!("{:?}", after.modules) };
    let paths: Vec<_> = module.files.iter().map(|file| (file.path, file.text)).collect();
    assert_eq!(paths, [("/__________/x.cu", None), ("y.cu", None)]);
    assert_eq!(module.ptx, Some(".file 1 \"/__________/x.cu\""));
    let removed = stripped.removed;
    assert_eq!((removed.session, removed.processes, removed.ranges, removed.callers), (3, 5, 2, 2));
    assert_eq!((removed.sources, removed.code, removed.unknown), (1, 0, 0));
    assert_eq!(removed.paths, module.cubin.expect("a cubin").len() + 4);
    let twice = strip(&stripped.bytes, Some(&mut |_| Ok(0))).expect("stripped");
    assert_eq!(twice.bytes, stripped.bytes);
    assert_eq!(twice.removed, occupant_profile::ncu::Removed::default());
}

#[test]
fn stripped_of_code() {
    let report = example();
    let bytes = ReportWriter::new(&report).private(PRIVATE).bytes();
    let stripped = strip(&bytes, None).expect("stripped");
    let after = Report::read(&stripped.bytes).expect("a report");
    let without = Module { reference: 7, capability: Some((9, 0)), ..Module::default() };
    assert_eq!(after.modules, [without]);
    assert_eq!((stripped.removed.code, stripped.removed.sources), (2, 2));
    assert_eq!(after.launches.len(), 3);
}

#[test]
fn damaged_reports_are_not_stripped() {
    let report = example();
    let bytes = ReportWriter::new(&report).private(PRIVATE).bytes();
    let starts: Vec<usize> = (0..bytes.len()).filter(|length| strip(&bytes[..*length], None).is_ok()).collect();
    // Between blocks a file may end.
    assert_eq!(starts.len(), 5, "{starts:?}");
    let unreadable = strip(&bytes, Some(&mut |_| Err("no cubin".to_owned()))).expect_err("no cubin");
    assert!(unreadable.to_string().contains("no cubin: leave code out with --no-code"), "{unreadable}");
}

fn values() -> impl Strategy<Value = Value<'static>> {
    prop_oneof![
        Just(Value::None),
        Just(Value::Text("\u{b5}s")),
        (-1e30_f32..1e30).prop_map(Value::Float),
        (-1e300_f64..1e300).prop_map(Value::Double),
        any::<u32>().prop_map(Value::Unsigned32),
        any::<u64>().prop_map(Value::Unsigned64),
    ]
}

fn launches() -> impl Strategy<Value = Launch<'static>> {
    let names = ["a__b.sum", "a__b.avg", "c", "launch__function_pcs"];
    let instance = (values(), values()).prop_map(|(correlation, value)| Instance { correlation, value });
    let metric = (0..names.len(), values(), prop::collection::vec(instance, 0..5));
    let metric = metric.prop_map(move |(name, value, instances)| Metric { name: names[name], value, instances });
    let kinds = [Workload::Kernel, Workload::Range, Workload::CommandList, Workload::Graph];
    (0..kinds.len(), prop::collection::vec(metric, 0..6), any::<[u64; 6]>(), any::<Option<u64>>()).prop_map(
        move |(kind, metrics, numbers, module)| match kinds[kind] {
            Workload::Kernel => Launch {
                mangled: "k",
                demangled: "k()",
                grid: [numbers[0], numbers[1], numbers[2]],
                block: [numbers[3], numbers[4], numbers[5]],
                module,
                metrics,
                ..Launch::default()
            },
            workload => Launch { workload, metrics, ..Launch::default() },
        },
    )
}

proptest! {
    #[test]
    fn any_values_come_back(launches in prop::collection::vec(launches(), 0..5)) {
        let report = Report { launches, ..Report::default() };
        let bytes = ReportWriter::new(&report).private(PRIVATE).bytes();
        let read = Report::read(&bytes).expect("a report");
        prop_assert_eq!(&read, &report);
        let stripped = strip(&bytes, None).expect("stripped");
        prop_assert_eq!(Report::read(&stripped.bytes).expect("a report"), read);
    }

    #[test]
    fn damage_never_panics(at in 0_usize..4000, bit in 0_u8..8, cut in 0_usize..4000) {
        let report = example();
        let mut bytes = ReportWriter::new(&report).private(PRIVATE).bytes();
        let (at, cut) = (at % bytes.len(), cut % bytes.len());
        bytes[at] ^= 1 << bit;
        for bytes in [&bytes[..], &bytes[cut..], &bytes[..cut]] {
            let _ = read(bytes);
            let _ = strip(bytes, Some(&mut |cubin| Ok(cubin.len())));
        }
    }
}
