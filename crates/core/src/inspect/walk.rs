//! The way through a file: its archives, the binaries in them, their modules, and back in order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use occupant_binary::{Artifact, BinaryError, Leaf, Module, Source, Store, in_short, visit};
use occupant_hardware::GpuSelector;

use super::names::Names;
use super::plan::{Job, elf_images, no_image_reason, plan};
use super::work::{Found, Room, Shared, work};
use super::{Event, File, InspectOptions, Outcome, record};
use crate::diagnostic::{from_binary, from_fault};
use crate::ordered;
use crate::report::{Diagnostic, GpuName, KernelRecord, Severity};
use crate::triton::Metadata;

pub(super) struct Walk<'a, T> {
    file: Arc<str>,
    options: &'a InspectOptions,
    make: &'a (dyn Fn(Vec<KernelRecord>) -> T + Sync),
    tell: &'a mut dyn FnMut(Event<T>),
    outcome: Outcome,
    /// Diagnostics that are only counted, and whether any of them is an error.
    more: usize,
    more_errors: bool,
    /// Files inside, whether or not with device code.
    leaves: usize,
    names: Arc<Names>,
    /// Modules without a cubin.
    uncompiled_modules: usize,
    /// For each GPU asked for: kernels that have an image for it, and others with the reason why not.
    answered: Vec<BTreeSet<String>>,
    missing: Vec<Vec<(String, Arc<str>)>>,
}

/// Diagnostics of one file that are told; a file can be made of nothing but faults.
const MOST_TOLD: usize = 1000;
/// Bytes of a place or a message: names in a file can be made as long as one likes.
const LONGEST_TOLD: usize = 2000;

/// Why GPUs have no image of a module, each told once: a module can have thousands of images, all without one.
#[derive(Default)]
struct Reasons<'m> {
    module: Option<&'m Module>,
    by_gpu: BTreeMap<usize, Arc<str>>,
}

impl<'m> Reasons<'m> {
    fn of(&mut self, module: &'m Module, gpu: usize, gpus: &[GpuSelector]) -> Arc<str> {
        if !self.module.is_some_and(|known| std::ptr::eq(known, module)) {
            *self = Self { module: Some(module), ..Self::default() };
        }
        Arc::clone(self.by_gpu.entry(gpu).or_insert_with(|| no_image_reason(module, &gpus[gpu]).into()))
    }
}

const A_REPORT: &str = "a profiler's report: `occupant verdict FILE` reads it";

/// Whether a file without device code is a report of Nsight Compute, which people hand over by mistake.
fn is_report(source: &dyn Source) -> bool {
    let length = usize::try_from(source.size()).unwrap_or(usize::MAX).min(occupant_profile::START);
    source.fetch(0, length).is_ok_and(|start| occupant_profile::is_report_start(&start))
}

impl<'a, T: Send> Walk<'a, T> {
    pub(super) fn new(
        file: &'a str,
        options: &'a InspectOptions,
        make: &'a (dyn Fn(Vec<KernelRecord>) -> T + Sync),
        tell: &'a mut dyn FnMut(Event<T>),
    ) -> Self {
        let gpus = options.gpus.len();
        Self {
            file: file.into(),
            options,
            make,
            tell,
            outcome: Outcome::default(),
            more: 0,
            more_errors: false,
            leaves: 0,
            names: Arc::new(Names::new()),
            uncompiled_modules: 0,
            answered: vec![BTreeSet::new(); gpus],
            missing: vec![Vec::new(); gpus],
        }
    }

    pub(super) fn run(mut self, file: &File<'_>, store: &dyn Store) -> Outcome {
        self.outcome.totals.files = 1;
        let faults = visit(file.source, store, &mut |leaf| self.leaf(&leaf, file.companion));
        for fault in &faults {
            let diagnostic = from_fault(&self.file, fault);
            self.say(diagnostic);
        }
        if self.outcome.totals.images == 0 && self.outcome.diagnostics.is_empty() {
            let looks_like = match self.leaves {
                0 if is_report(file.source) => A_REPORT.to_owned(),
                0 => "an archive without binaries".to_owned(),
                1 => "an archive of one binary, which has no device code".to_owned(),
                leaves => format!("an archive of {leaves} binaries, none with device code"),
            };
            let diagnostic = from_binary(&self.file, None, &BinaryError::NoDeviceCode { looks_like });
            self.say(diagnostic);
        }
        self.note_what_has_no_kernels();
        self.tell_how_many_more();
        self.outcome
    }

    /// The device code of a leaf; what is wrong with it is told.
    fn open(&mut self, leaf: &Leaf<'_>) -> Option<Artifact> {
        let mut error = match Artifact::open(leaf.source) {
            Ok(artifact) => return Some(artifact),
            // A wheel is full of binaries without device code; only the file that was named has to have some.
            Err(BinaryError::NoDeviceCode { .. }) if !leaf.path.is_empty() => return None,
            Err(error) => error,
        };
        if let BinaryError::NoDeviceCode { looks_like } = &mut error
            && is_report(leaf.source)
        {
            *looks_like = A_REPORT.to_owned();
        }
        let diagnostic = from_binary(&self.file, Some(leaf.path.to_owned()), &error);
        self.say(diagnostic);
        None
    }

    fn say(&mut self, mut diagnostic: Diagnostic) {
        if self.outcome.diagnostics.len() >= MOST_TOLD {
            self.more += 1;
            self.more_errors |= diagnostic.severity == Severity::Error;
            return;
        }
        let shorten = |text: &mut String| {
            if text.len() > LONGEST_TOLD {
                *text = in_short(text, LONGEST_TOLD).into_owned();
            }
        };
        shorten(&mut diagnostic.message);
        if let Some(place) = &mut diagnostic.place {
            shorten(place);
        }
        self.outcome.diagnostics.push(diagnostic);
    }

    fn tell_how_many_more(&mut self) {
        if self.more > 0 {
            self.outcome.diagnostics.push(Diagnostic {
                severity: if self.more_errors { Severity::Error } else { Severity::Warning },
                code: "more".to_owned(),
                file: self.file.to_string(),
                place: None,
                message: format!("and {} more, which are only counted", self.more),
            });
        }
    }

    fn leaf(&mut self, leaf: &Leaf<'_>, companion: Option<&[u8]>) {
        self.leaves += 1;
        let Some(artifact) = self.open(leaf) else { return };
        self.say_faults(&artifact, leaf.path);
        let compiled = |module: &&Module| elf_images(module).next().is_some();
        self.uncompiled_modules += artifact.modules.iter().filter(|module| !compiled(module)).count();
        let names = Arc::clone(&self.names);
        let (jobs, totals) = plan(&artifact, self.options);
        self.outcome.totals.add(&totals);
        let companion = leaf.companion.as_deref().or(companion);
        let metadata = companion.map_or(Ok(None), Metadata::parse).unwrap_or_else(|wrong| {
            self.say(Diagnostic {
                severity: Severity::Warning,
                code: "metadata".to_owned(),
                file: self.file.to_string(),
                place: Some(leaf.path.to_owned()).filter(|place| !place.is_empty()),
                message: format!("the .json beside it is not used: {wrong}"),
            });
            None
        });
        let file = Arc::clone(&self.file);
        let shared = Shared {
            file: &file,
            prefix: leaf.path,
            source: leaf.source,
            metadata,
            options: self.options,
            names: &names,
        };
        let total = jobs.len();
        let mut done = 0;
        let make = self.make;
        let mut reasons = Reasons::default();
        let work = |job: &Job<'_>, room: &mut Room| {
            let mut found = work(&shared, job, room);
            let kernels = std::mem::take(&mut found.records);
            let made = (!kernels.is_empty()).then(|| make(kernels));
            (found, made)
        };
        ordered::for_each(&jobs, self.options.threads(), work, |job, (found, made)| {
            done += 1;
            self.deliver(found, job.module, &mut reasons);
            if let Some(made) = made {
                (self.tell)(Event::Kernels(made));
            }
            (self.tell)(Event::Progress { done, total });
        });
        self.tell_missing(leaf.path);
    }

    /// What of a file could not be read, with the images that are lost with it.
    fn say_faults(&mut self, artifact: &Artifact, path: &str) {
        for fault in &artifact.faults {
            let place = [path, &fault.place].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
            let diagnostic = from_binary(&self.file, Some(place.join("/")), &fault.error);
            self.say(diagnostic);
            self.outcome.totals.images += fault.images;
            self.outcome.totals.failed += fault.images;
        }
    }

    fn deliver<'m>(&mut self, found: Found, module: &'m Module, reasons: &mut Reasons<'m>) {
        self.outcome.totals.add(&found.totals);
        found.diagnostics.into_iter().for_each(|diagnostic| self.say(diagnostic));
        for (gpu, name) in found.answered {
            self.answered[gpu].insert(name);
        }
        for (gpu, name) in found.missing {
            let reason = reasons.of(module, gpu, &self.options.gpus);
            self.missing[gpu].push((name, reason));
        }
    }

    /// Kernels of a binary that none of its modules has an image of for a GPU. Another binary in the same archive can have a
    /// kernel of that name, and it is another kernel, as it is where both lie in a directory.
    fn tell_missing(&mut self, member: &str) {
        for (number, gpu) in self.options.gpus.iter().enumerate() {
            let mut answered = std::mem::take(&mut self.answered[number]);
            for (name, reason) in std::mem::take(&mut self.missing[number]) {
                let known = self.names.get(&name);
                let named = known.get();
                if !self.options.matches(&name, named) || !answered.insert(name) {
                    continue;
                }
                let gpu = GpuName { name: gpu.name(), compute_capability: gpu.capability().to_string() };
                let record = record::without_image(&self.file, member, named, gpu, reason.to_string());
                (self.tell)(Event::Kernels((self.make)(vec![record])));
            }
        }
    }

    /// Kernels that are there as PTX or LTO-IR alone are no error; that they have no resources yet has to be said.
    fn note_what_has_no_kernels(&mut self) {
        let totals = &self.outcome.totals;
        let cubins = totals.images - totals.ptx - totals.lto_ir - totals.unknown;
        let kinds = [(totals.ptx, "PTX"), (totals.lto_ir, "LTO-IR"), (totals.unknown, "of unknown kind")];
        let kinds: Vec<String> =
            kinds.iter().filter(|(number, _)| *number > 0).map(|(number, kind)| format!("{number} {kind}")).collect();
        let message = match (cubins, self.uncompiled_modules) {
            (0, 1..) => format!(
                "no compiled kernels, only {}: registers and shared memory are known once it is compiled to a cubin",
                kinds.join(", ")
            ),
            (_, 1..) => format!(
                "{} without a cubin, only PTX or LTO-IR: the kernels there are not listed",
                if self.uncompiled_modules == 1 {
                    "1 module".to_owned()
                } else {
                    format!("{} modules", self.uncompiled_modules)
                }
            ),
            (_, 0) => return,
        };
        self.say(Diagnostic {
            severity: Severity::Note,
            code: "not_compiled".to_owned(),
            file: self.file.to_string(),
            place: None,
            message,
        });
    }
}
