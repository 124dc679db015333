//! One job: an entry is unpacked, its wanted cubins are read, its kernels answered. Runs on any thread.

use std::sync::Arc;

use occupant_binary::{BinaryError, Cubin, Function, Image, Source, Unpacked, Window, Workspace};

use super::InspectOptions;
use super::code::{Coded, FromCode, from_code, not_decoded};
use super::launch::{Answer, Known, answer};
use super::names::{Named, Names};
use super::plan::{Job, Wanted, covers, place};
use super::record::{self, Place};
use super::stub::stub;
use crate::diagnostic::from_binary;
use crate::report::{Diagnostic, KernelRecord, NeedRecord, Severity, Totals};
use crate::target::Target;
use crate::triton::Metadata;

/// What all jobs of a file share.
pub(super) struct Shared<'a> {
    pub(super) file: &'a Arc<str>,
    /// Path of the file inside the archive that was named; empty outside of archives.
    pub(super) prefix: &'a str,
    pub(super) source: &'a dyn Source,
    pub(super) metadata: Option<Metadata>,
    pub(super) options: &'a InspectOptions,
    pub(super) names: &'a Names,
}

/// What a job found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) records: Vec<KernelRecord>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) totals: Totals,
    /// Kernels that have an image for a GPU asked for, by the GPU's number.
    pub(super) answered: Vec<(usize, String)>,
    /// Kernels of a module that has none for it.
    pub(super) missing: Vec<(usize, String)>,
}

/// Room that serves one job after the other.
#[derive(Default)]
pub(super) struct Room {
    workspace: Workspace,
    code: Vec<u8>,
}

/// Works a job.
pub(super) fn work(shared: &Shared<'_>, job: &Job<'_>, room: &mut Room) -> Found {
    let mut found = Found::default();
    let unpacked = match job.entry.unpack(shared.source, &mut room.workspace) {
        Ok(unpacked) => unpacked,
        Err(error) => {
            for (image, for_whom) in &job.images {
                let place = place(shared.prefix, job.module, image);
                failed(&mut found, for_whom, from_binary(shared.file, Some(place), &error));
            }
            return found;
        }
    };
    for (image, for_whom) in &job.images {
        let place: Arc<str> = place(shared.prefix, job.module, image).into();
        match open(&unpacked, image, &mut room.code) {
            Ok(mut opened) => read(shared, job, image, &place, &mut opened, for_whom, &mut found),
            Err(error) => failed(&mut found, for_whom, from_binary(shared.file, Some(place.to_string()), &error)),
        }
    }
    found
}

/// A cubin, the bytes it was read from, and room for the code of its functions.
struct Opened<'u> {
    cubin: Cubin,
    bytes: Window<'u>,
    code: &'u mut Vec<u8>,
}

fn open<'u>(unpacked: &'u Unpacked<'_>, image: &Image, code: &'u mut Vec<u8>) -> Result<Opened<'u>, BinaryError> {
    let bytes = unpacked.image(image)?;
    Ok(Opened { cubin: Cubin::parse(&bytes)?, bytes, code })
}

fn is_read(for_whom: &[Wanted]) -> bool {
    for_whom.iter().any(|who| !matches!(who, Wanted::Missing(_)))
}

/// An image that is only looked into for names is counted as not selected already.
fn failed(found: &mut Found, for_whom: &[Wanted], diagnostic: Diagnostic) {
    found.totals.failed += u32::from(is_read(for_whom));
    found.diagnostics.push(diagnostic);
}

fn read(
    shared: &Shared<'_>,
    job: &Job<'_>,
    image: &Image,
    entry: &Arc<str>,
    opened: &mut Opened<'_>,
    for_whom: &[Wanted],
    found: &mut Found,
) {
    let Opened { cubin, bytes, code } = opened;
    let say = |severity, code: &str, message| Diagnostic {
        severity,
        code: code.to_owned(),
        file: shared.file.to_string(),
        place: Some(entry.to_string()),
        message,
    };
    if is_read(for_whom) {
        found.totals.read += 1;
        found.diagnostics.extend(cubin.faults.iter().map(|fault| say(Severity::Error, "attributes", fault.clone())));
    }
    if image.architecture.capability != cubin.architecture.capability {
        let message = format!("the container says {}, the cubin {}", image.architecture, cubin.architecture);
        found.diagnostics.push(say(Severity::Warning, "target_mismatch", message));
    }
    // The container can know more of the target than the cubin: old toolkits mark `a` there alone.
    let architecture =
        if covers(cubin.architecture, image.architecture) { image.architecture } else { cubin.architecture };
    let relocatable = job.module.relocatable || cubin.relocatable;
    let place = Place { file: shared.file, entry, member: shared.prefix, architecture, relocatable };
    let alone = cubin.functions.iter().filter(|function| function.is_kernel).count() == 1;
    let listed: Vec<&Function> =
        cubin.functions.iter().filter(|function| count(shared, function, for_whom, found)).collect();
    let names = shared.names.all(listed.iter().map(|function| function.name.as_str()));
    let mut coded = Coded { image: bytes, room: code };
    let told_before = found.records.len();
    for (function, name) in listed.into_iter().zip(&names) {
        let of_kernel = |metadata: &&Metadata| match &metadata.name {
            Some(name) => *name == function.name,
            None => alone,
        };
        let metadata = shared.metadata.as_ref().filter(of_kernel);
        let listed = Listed { function, named: name.get(), metadata };
        self::function(shared, &place, &listed, &mut coded, for_whom, found);
    }
    // Of an image without a kernel that was asked for, nobody asked for the code.
    if found.records.len() > told_before {
        let not_decoded = not_decoded(cubin.architecture.capability, shared.options.code);
        found.diagnostics.extend(not_decoded.map(|reason| say(Severity::Error, "machine_code", reason)));
    }
}

fn wants_need(function: &Function, options: &InspectOptions) -> bool {
    function.is_kernel && options.need.is_some()
}

/// The need of a kernel on the GPU that its record answers for.
fn need(record: &KernelRecord, code: &FromCode, who: &Wanted, options: &InspectOptions) -> Option<Box<NeedRecord>> {
    let Wanted::Gpu(number) = who else { return None };
    let (asked, code) = (options.need.as_ref()?, code.analysis.as_ref()?);
    Some(Box::new(crate::need::of_kernel(record, code, &options.gpus[*number], asked)))
}

/// Counts a function; whether it is listed.
fn count(shared: &Shared<'_>, function: &Function, for_whom: &[Wanted], found: &mut Found) -> bool {
    if function.is_kernel {
        found.totals.kernels += u32::from(is_read(for_whom));
        for who in for_whom {
            match who {
                Wanted::Gpu(number) => found.answered.push((*number, function.name.clone())),
                Wanted::Missing(number) => found.missing.push((*number, function.name.clone())),
                Wanted::Own => {}
            }
        }
    } else {
        found.totals.device_functions += u32::from(is_read(for_whom));
    }
    is_read(for_whom) && (function.is_kernel || shared.options.functions)
}

/// A function to list, with what is known beside its image.
struct Listed<'a> {
    function: &'a Function,
    named: &'a Named,
    metadata: Option<&'a Metadata>,
}

fn function(
    shared: &Shared<'_>,
    place: &Place<'_>,
    listed: &Listed<'_>,
    coded: &mut Coded<'_>,
    for_whom: &[Wanted],
    found: &mut Found,
) {
    let options = shared.options;
    let Listed { function, named, metadata } = *listed;
    if !options.matches(&function.name, named) {
        found.totals.filtered += u32::from(function.is_kernel);
        return;
    }
    let mut code =
        from_code(function, place.architecture.capability, coded, options.code, wants_need(function, options));
    found.diagnostics.extend(code.fault.take().map(|message| Diagnostic {
        severity: Severity::Error,
        code: "machine_code".to_owned(),
        file: shared.file.to_string(),
        place: Some(place.entry.to_string()),
        message: format!("{}: {message}", function.name),
    }));
    let stub = stub(function, place.architecture.capability, coded, options.code);
    let launches = options.launches.of(&function.name, &named.demangled);
    for who in for_whom {
        let target = match who {
            Wanted::Missing(_) => continue,
            Wanted::Own => Target::own(place.architecture.capability, options.rules),
            Wanted::Gpu(number) => Target::named(&options.gpus[*number], options.rules),
        };
        let mut tell = |gpu, limits, answer| {
            let mut record = record::of_function(place, function, named, gpu, limits, answer, &code);
            if record.from_name.is_none() {
                record.from_name = metadata.map(record::from_metadata);
            }
            record.returns_at_once = stub.returns_at_once;
            record.only_reports = stub.only_reports;
            record.need = need(&record, &code, who, options);
            found.records.push(record);
        };
        match target {
            Err(unknown) => tell(None, None, Answer::unknown(unknown.to_string())),
            Ok(target) if !function.is_kernel => {
                let reason = "a device function is not launched: it counts in the kernels that call it";
                tell(target.name(), Some(target.limits), Answer::unknown(reason.to_owned()));
            }
            Ok(target) => {
                let one = [None];
                let several: Vec<_> = launches.iter().map(Some).collect();
                for launch in if several.is_empty() { &one[..] } else { &several } {
                    let tensor_columns = code.tensor_columns;
                    let relocatable = place.relocatable;
                    let known = Known { launch: *launch, metadata, relocatable, tensor_columns };
                    tell(target.name(), Some(target.limits), answer(function, target.limits, options, known));
                }
            }
        }
    }
}
