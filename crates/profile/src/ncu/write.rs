//! Writes reports in the documented layout (file header version 7, blocks, string table, messages).
//!
//! For: tests of several crates, which make their reports with it, since reports of others can't be given on. It is public
//! for that alone. What the reader takes from a report is what is written, so a report that is read back is equal. Not for:
//! changing a report, where what is not known has to survive (that is `strip.rs`).

use std::collections::BTreeMap;

use super::{Launch, MAGIC, Metric, Module, Report, Rule, Session, SpeedupKind, VERSION, Value, Workload};
use crate::wire::Draft;

/// What a report says of the machine and the user that made it; the reader passes over it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Private<'a> {
    /// The machine's name.
    pub host: &'a str,
    /// Path of the profiled program.
    pub program: &'a str,
    /// Environment variables.
    pub environment: &'a [(&'a str, &'a str)],
    /// How the profiler was called.
    pub command_line: &'a str,
    /// An NVTX range that each launch of a kernel was in.
    pub range: &'a str,
    /// A host function that each launch of a kernel came from.
    pub caller: &'a str,
}

/// Writes a [`Report`] as bytes.
#[derive(Debug, Clone)]
pub struct ReportWriter<'a> {
    report: &'a Report<'a>,
    private: Private<'a>,
    version: u64,
}

impl<'a> ReportWriter<'a> {
    /// A writer of this report; its faults are not written.
    #[must_use]
    pub fn new(report: &'a Report<'a>) -> Self {
        Self { report, private: Private::default(), version: VERSION }
    }

    /// Adds what a real report says of machine and user.
    #[must_use]
    pub const fn private(mut self, private: Private<'a>) -> Self {
        self.private = private;
        self
    }

    /// Claims another version of the layout, which no reader knows.
    #[must_use]
    pub const fn version(mut self, version: u64) -> Self {
        self.version = version;
        self
    }

    /// The report's bytes, not packed.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        let mut header = Draft::default();
        header.varint(1, self.version);
        prefixed(&mut file, &header.finish());
        self.block(&mut file, Counts::default(), Some(self.session()), None, &[]);
        for module in &self.report.modules {
            self.block(&mut file, Counts { modules: 1, of: None }, None, None, &module_message(module).finish());
        }
        let (names, numbers) = self.names();
        for (index, launch) in self.report.launches.iter().enumerate() {
            // Only the first table is filled, as the profiler does it.
            let names = if index == 0 { names.clone() } else { Draft::default() };
            let counts = Counts { modules: 0, of: Some(launch.workload) };
            self.block(&mut file, counts, None, Some(names), &self.launch(launch, &numbers).finish());
        }
        file
    }

    /// The table of metric names, and the place of each in it.
    fn names(&self) -> (Draft, BTreeMap<&'a str, u64>) {
        let mut table = Draft::default();
        let mut numbers = BTreeMap::new();
        for metric in self.report.launches.iter().flat_map(|launch| &launch.metrics) {
            let next = numbers.len() as u64;
            numbers.entry(metric.name).or_insert_with(|| {
                table.bytes(1, metric.name.as_bytes());
                next
            });
        }
        (table, numbers)
    }

    fn block(&self, file: &mut Vec<u8>, counts: Counts, session: Option<Draft>, names: Option<Draft>, message: &[u8]) {
        let mut payload = Vec::new();
        if counts.modules > 0 || counts.of.is_some() {
            prefixed(&mut payload, message);
        }
        let of = |workload| u64::from(counts.of == Some(workload));
        let mut header = Draft::default();
        header.varint(1, counts.modules);
        header.varint(2, of(Workload::Kernel));
        if let Some(session) = session {
            header.message(3, &session);
        }
        header.message(4, &names.unwrap_or_default());
        header.varint(5, payload.len() as u64);
        let mut process = Draft::default();
        process.varint(1, 4321);
        process.bytes(2, b"127.0.0.1");
        process.bytes(3, self.private.program.as_bytes());
        header.message(6, &process);
        header.varint(7, of(Workload::Range));
        header.varint(8, of(Workload::CommandList));
        header.varint(9, of(Workload::Graph));
        prefixed(file, &header.finish());
        file.extend(payload);
    }

    fn session(&self) -> Draft {
        let Session { devices, versions } = &self.report.session;
        let mut session = Draft::default();
        let mut system = Draft::default();
        system.bytes(1, b"Linux");
        system.bytes(5, self.private.host.as_bytes());
        session.message(4, &system);
        for device in devices {
            let mut message = Draft::default();
            message.varint(1, device.number);
            message.bytes(2, device.name.as_bytes());
            for (name, value) in &device.attributes {
                let mut attribute = Draft::default();
                attribute.bytes(1, name.as_bytes());
                attribute.message(2, &value_message(*value));
                message.message(3, &attribute);
            }
            session.message(6, &message);
        }
        for (name, version) in versions {
            session.message(8, &pair(name, version));
        }
        let mut program = Draft::default();
        program.bytes(1, self.private.program.as_bytes());
        for (name, value) in self.private.environment {
            program.message(4, &pair(name, value));
        }
        session.message(9, &program);
        session.bytes(11, self.private.command_line.as_bytes());
        session
    }

    fn launch(&self, launch: &Launch<'_>, numbers: &BTreeMap<&str, u64>) -> Draft {
        let mut message = Draft::default();
        let metrics = launch.metrics.iter().map(|metric| metric_message(metric, numbers));
        if launch.workload != Workload::Kernel {
            metrics.for_each(|metric| message.message(4, &metric));
            return message;
        }
        message.bytes(5, launch.mangled.as_bytes());
        message.bytes(6, launch.function.as_bytes());
        message.bytes(7, launch.demangled.as_bytes());
        message.message(10, &dimensions(launch.grid));
        message.message(11, &dimensions(launch.block));
        metrics.for_each(|metric| message.message(13, &metric));
        if let Some(module) = launch.module {
            let mut reference = Draft::default();
            reference.varint(1, module);
            message.message(15, &reference);
        }
        launch.rules.iter().for_each(|rule| message.message(19, &rule_message(rule)));
        if !self.private.range.is_empty() {
            message.bytes(21, self.private.range.as_bytes());
        }
        if !self.private.caller.is_empty() {
            message.bytes(28, self.private.caller.as_bytes());
        }
        message
    }
}

/// What a block holds: a module, or a result.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    modules: u64,
    of: Option<Workload>,
}

fn prefixed(file: &mut Vec<u8>, bytes: &[u8]) {
    file.extend((bytes.len() as u32).to_le_bytes());
    file.extend(bytes);
}

fn pair(name: &str, value: &str) -> Draft {
    let mut pair = Draft::default();
    pair.bytes(1, name.as_bytes());
    pair.bytes(2, value.as_bytes());
    pair
}

fn dimensions(of: [u64; 3]) -> Draft {
    let mut message = Draft::default();
    for (number, value) in (1..).zip(of) {
        message.varint(number, value);
    }
    message
}

fn value_message(value: Value<'_>) -> Draft {
    let mut message = Draft::default();
    match value {
        Value::None => {}
        Value::Text(text) => message.bytes(1, text.as_bytes()),
        Value::Float(value) => message.float(2, value),
        Value::Double(value) => message.double(3, value),
        Value::Unsigned32(value) => message.varint(4, u64::from(value)),
        Value::Unsigned64(value) => message.varint(5, value),
    }
    message
}

fn metric_message(metric: &Metric<'_>, numbers: &BTreeMap<&str, u64>) -> Draft {
    let mut message = Draft::default();
    message.varint(1, numbers.get(metric.name).copied().unwrap_or_default());
    message.message(2, &value_message(metric.value));
    for instance in &metric.instances {
        let mut element = Draft::default();
        element.message(1, &value_message(instance.correlation));
        element.message(2, &value_message(instance.value));
        message.message(3, &element);
    }
    message
}

fn rule_message(rule: &Rule<'_>) -> Draft {
    let mut body = Draft::default();
    for said in &rule.messages {
        let mut text = Draft::default();
        text.bytes(1, said.text.as_bytes());
        text.varint(2, said.kind);
        if let Some(title) = said.title {
            text.bytes(4, title.as_bytes());
        }
        let mut item = Draft::default();
        item.message(1, &text);
        body.message(1, &item);
    }
    if let Some(speedup) = rule.speedup {
        let kind = match speedup.kind {
            SpeedupKind::Unknown => 0,
            SpeedupKind::Local => 1,
            SpeedupKind::Global => 2,
        };
        let mut estimate = Draft::default();
        estimate.varint(1, kind);
        estimate.double(2, speedup.percent);
        let mut item = Draft::default();
        item.message(10, &estimate);
        body.message(1, &item);
    }
    let mut message = Draft::default();
    message.bytes(1, rule.identifier.as_bytes());
    message.bytes(2, rule.name.as_bytes());
    message.message(3, &body);
    message.bytes(4, rule.section.as_bytes());
    message
}

fn module_message(module: &Module<'_>) -> Draft {
    let mut message = Draft::default();
    message.varint(1, module.reference);
    if let Some(ptx) = module.ptx {
        message.bytes(3, ptx.as_bytes());
    }
    if let Some(cubin) = module.cubin {
        message.bytes(4, cubin);
    }
    if let Some((major, minor)) = module.capability {
        message.varint(6, u64::from(major) << 16 | u64::from(minor));
    }
    if !module.files.is_empty() {
        let mut files = Draft::default();
        for file in &module.files {
            files.message(1, &pair(file.path, file.text.unwrap_or_default()));
        }
        message.message(8, &files);
    }
    message
}
