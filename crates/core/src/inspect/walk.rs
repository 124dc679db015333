//! The way through a file: modules, the images that are wanted of each, the kernels of each image.

use std::collections::BTreeSet;

use occupant_binary::{
    Artifact, BinaryError, Choice, Cubin, Entry, Function, Image, ImageKind, Module, Source, Unpacked, choose, demangle,
};
use occupant_hardware::{Architecture, GpuSelector, Variant};

use super::launch::{Answer, answer};
use super::record::{self, Place};
use super::{Event, InspectOptions, Outcome};
use crate::diagnostic::{from_binary, from_fault};
use crate::report::{Diagnostic, GpuName, Severity};
use crate::target::Target;

pub(super) struct Walk<'a> {
    file: &'a str,
    source: &'a dyn Source,
    options: &'a InspectOptions,
    tell: &'a mut dyn FnMut(Event),
    outcome: Outcome,
    /// For each GPU asked for: kernels that have an image for it, and others with the reason why not.
    answered: Vec<BTreeSet<String>>,
    unanswered: Vec<Vec<(String, String)>>,
}

/// Who wants an image.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    /// Its own architecture.
    Own,
    /// A GPU asked for, by its number.
    Gpu(usize, &'a GpuSelector),
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        file: &'a str,
        source: &'a dyn Source,
        options: &'a InspectOptions,
        tell: &'a mut dyn FnMut(Event),
    ) -> Self {
        let gpus = options.gpus.len();
        Self {
            file,
            source,
            options,
            tell,
            outcome: Outcome::default(),
            answered: vec![BTreeSet::new(); gpus],
            unanswered: vec![Vec::new(); gpus],
        }
    }

    pub(super) fn run(mut self) -> Outcome {
        self.outcome.totals.files = 1;
        let artifact = match Artifact::open(self.source) {
            Ok(artifact) => artifact,
            Err(error) => {
                self.complain(None, &error);
                return self.outcome;
            }
        };
        for fault in &artifact.faults {
            self.outcome.diagnostics.push(from_fault(self.file, fault));
        }
        let total = artifact.modules.iter().flat_map(|module| &module.entries).map(|entry| entry.images.len()).sum();
        let executable =
            artifact.modules.iter().any(|module| !module.relocatable && elf_images(module).next().is_some());
        let mut done = 0;
        for module in &artifact.modules {
            let listed = !module.relocatable || !executable || self.options.relocatable;
            self.module(module, listed);
            done += module.entries.iter().map(|entry| entry.images.len()).sum::<usize>();
            (self.tell)(Event::Progress { done, total });
        }
        self.tell_unanswered();
        self.note_what_has_no_kernels();
        self.outcome
    }

    fn module(&mut self, module: &Module, listed: bool) {
        let wanted = if listed { self.wanted(module) } else { Vec::new() };
        let mut index = 0;
        for entry in &module.entries {
            let first = index;
            index += entry.images.len();
            let of_entry = |image: usize| wanted.iter().filter(move |(number, _)| *number == first + image);
            let mut unpacked: Option<Result<Unpacked<'_>, BinaryError>> = None;
            for (number, image) in entry.images.iter().enumerate() {
                self.outcome.totals.images += 1;
                let for_whom: Vec<Wanted<'_>> = of_entry(number).map(|(_, wanted)| *wanted).collect();
                match image.kind {
                    ImageKind::Ptx => self.outcome.totals.ptx += 1,
                    ImageKind::LtoIr => self.outcome.totals.lto_ir += 1,
                    ImageKind::Unknown(_) => self.outcome.totals.unknown += 1,
                    ImageKind::Elf if !listed => self.outcome.totals.relocatable += 1,
                    ImageKind::Elf if for_whom.is_empty() => self.outcome.totals.not_selected += 1,
                    ImageKind::Elf => {
                        let unpacked = unpacked.get_or_insert_with(|| entry.unpack(self.source));
                        self.image(module, image, unpacked, &for_whom);
                    }
                }
            }
        }
        if listed {
            self.names_without_image(module);
        }
    }

    /// The images of a module that are wanted, by their number in the module, each with who wants it.
    fn wanted(&self, module: &Module) -> Vec<(usize, Wanted<'a>)> {
        let options = self.options;
        let images: Vec<&Image> = module.entries.iter().flat_map(|entry| &entry.images).collect();
        let by_arch = |architecture| {
            options.architectures.is_empty() || options.architectures.iter().any(|asked| covers(*asked, architecture))
        };
        if options.gpus.is_empty() {
            let elf = images.iter().enumerate().filter(|(_, image)| image.kind == ImageKind::Elf);
            return elf.filter(|(_, image)| by_arch(image.architecture)).map(|(n, _)| (n, Wanted::Own)).collect();
        }
        let mut wanted = Vec::new();
        for (number, gpu) in options.gpus.iter().enumerate() {
            let targets = images.iter().map(|image| (image.kind, image.architecture));
            if let Choice::Image(chosen) = choose(targets, gpu.capability())
                && by_arch(images[chosen].architecture)
            {
                wanted.push((chosen, Wanted::Gpu(number, gpu)));
            }
        }
        wanted
    }

    fn image(
        &mut self,
        module: &Module,
        image: &Image,
        unpacked: &Result<Unpacked<'_>, BinaryError>,
        for_whom: &[Wanted<'_>],
    ) {
        let entry = place(module, image);
        let parsed = match unpacked {
            Err(error) => Err(from_binary(self.file, Some(entry.clone()), error)),
            Ok(unpacked) => unpacked
                .image(image)
                .and_then(|window| Cubin::parse(&window))
                .map_err(|error| from_binary(self.file, Some(entry.clone()), &error)),
        };
        let cubin = match parsed {
            Ok(cubin) => cubin,
            Err(diagnostic) => {
                self.outcome.totals.failed += 1;
                self.outcome.diagnostics.push(diagnostic);
                return;
            }
        };
        self.outcome.totals.read += 1;
        for fault in &cubin.faults {
            self.outcome.diagnostics.push(Diagnostic {
                severity: Severity::Error,
                code: "attributes".to_owned(),
                file: self.file.to_owned(),
                place: Some(entry.clone()),
                message: fault.clone(),
            });
        }
        // The container can know more of the target than the cubin: old toolkits mark `a` there alone.
        let architecture =
            if covers(cubin.architecture, image.architecture) { image.architecture } else { cubin.architecture };
        let relocatable = module.relocatable || cubin.relocatable;
        let place = Place { file: self.file, entry: &entry, architecture, relocatable };
        for function in &cubin.functions {
            self.function(&place, function, for_whom);
        }
    }

    fn function(&mut self, place: &Place<'_>, function: &Function, for_whom: &[Wanted<'_>]) {
        if function.is_kernel {
            self.outcome.totals.kernels += 1;
            for wanted in for_whom {
                if let Wanted::Gpu(number, _) = wanted {
                    self.answered[*number].insert(function.name.clone());
                }
            }
        } else {
            self.outcome.totals.device_functions += 1;
            if !self.options.functions {
                return;
            }
        }
        let demangled = demangle(&function.name);
        if !self.matches(&function.name, &demangled) {
            self.outcome.totals.filtered += u32::from(function.is_kernel);
            return;
        }
        let launches = self.options.launches.of(&function.name, &demangled);
        for wanted in for_whom {
            let target = match wanted {
                Wanted::Own => Target::own(place.architecture.capability, self.options.rules),
                Wanted::Gpu(_, gpu) => Target::named(gpu, self.options.rules),
            };
            let mut tell = |gpu, limits, answer| {
                let record = record::of_function(place, function, gpu, limits, answer);
                (self.tell)(Event::Kernel(Box::new(record)));
            };
            match target {
                Err(unknown) => tell(None, None, Answer::unknown(unknown.to_string())),
                Ok(target) if !function.is_kernel => {
                    let reason = "a device function is not launched: it counts in the kernels that call it";
                    tell(target.name(), Some(target.limits), Answer::unknown(reason.to_owned()));
                }
                Ok(target) if launches.is_empty() => {
                    let found = answer(function, target.limits, self.options, None);
                    tell(target.name(), Some(target.limits), found);
                }
                Ok(target) => {
                    for launch in launches {
                        let found = answer(function, target.limits, self.options, Some(launch));
                        tell(target.name(), Some(target.limits), found);
                    }
                }
            }
        }
    }

    fn matches(&self, name: &str, demangled: &str) -> bool {
        self.options.kernel.as_ref().is_none_or(|wanted| wanted.is_match(demangled) || wanted.is_match(name))
    }

    /// Remembers the kernels of a module that has no image for a GPU; another module may yet have one.
    fn names_without_image(&mut self, module: &Module) {
        let targets: Vec<(ImageKind, Architecture)> = module
            .entries
            .iter()
            .flat_map(|entry| &entry.images)
            .map(|image| (image.kind, image.architecture))
            .collect();
        let mut names: Option<Vec<String>> = None;
        for (number, gpu) in self.options.gpus.iter().enumerate() {
            let choice = choose(targets.iter().copied(), gpu.capability());
            if matches!(choice, Choice::Image(_)) {
                continue;
            }
            let reason = no_image_reason(&targets, choice, gpu);
            let names = names.get_or_insert_with(|| self::kernel_names(module, self.source));
            self.unanswered[number].extend(names.iter().map(|name| (name.clone(), reason.clone())));
        }
    }

    fn tell_unanswered(&mut self) {
        for (number, gpu) in self.options.gpus.iter().enumerate() {
            for (name, reason) in std::mem::take(&mut self.unanswered[number]) {
                if !self.answered[number].insert(name.clone()) || !self.matches(&name, &demangle(&name)) {
                    continue;
                }
                let gpu = GpuName { name: gpu.name(), compute_capability: gpu.capability().to_string() };
                let record = record::without_image(self.file, &name, gpu, reason);
                (self.tell)(Event::Kernel(Box::new(record)));
            }
        }
    }

    /// A file without cubins is not an error; that its kernels have no resources yet has to be said.
    fn note_what_has_no_kernels(&mut self) {
        let totals = &self.outcome.totals;
        let cubins = totals.images - totals.ptx - totals.lto_ir - totals.unknown;
        if cubins > 0 || totals.images == 0 {
            return;
        }
        let kinds = [(totals.ptx, "PTX"), (totals.lto_ir, "LTO-IR"), (totals.unknown, "of unknown kind")];
        let kinds: Vec<String> =
            kinds.iter().filter(|(number, _)| *number > 0).map(|(number, kind)| format!("{number} {kind}")).collect();
        let message = format!(
            "no compiled kernels, only {}: registers and shared memory are known once it is compiled to a cubin",
            kinds.join(", ")
        );
        self.outcome.diagnostics.push(Diagnostic {
            severity: Severity::Note,
            code: "not_compiled".to_owned(),
            file: self.file.to_owned(),
            place: None,
            message,
        });
    }

    fn complain(&mut self, place: Option<String>, error: &BinaryError) {
        self.outcome.diagnostics.push(from_binary(self.file, place, error));
    }
}

/// `sm_90` stands for `sm_90a` and `sm_90f` too.
fn covers(asked: Architecture, found: Architecture) -> bool {
    asked == found || (asked.variant == Variant::Base && asked.capability == found.capability)
}

fn elf_images(module: &Module) -> impl Iterator<Item = (&Entry, &Image)> {
    let images = module.entries.iter().flat_map(|entry| entry.images.iter().map(move |image| (entry, image)));
    images.filter(|(_, image)| image.kind == ImageKind::Elf)
}

/// The kernels of a module by name, from its first cubin that can be read.
fn kernel_names(module: &Module, source: &dyn Source) -> Vec<String> {
    let cubin = elf_images(module).find_map(|(entry, image)| {
        let unpacked = entry.unpack(source).ok()?;
        Cubin::parse(&unpacked.image(image).ok()?).ok()
    });
    let functions = cubin.map_or_else(Vec::new, |cubin| cubin.functions);
    functions.into_iter().filter(|function| function.is_kernel).map(|function| function.name).collect()
}

fn no_image_reason(targets: &[(ImageKind, Architecture)], choice: Choice, gpu: &GpuSelector) -> String {
    let cubins: BTreeSet<Architecture> =
        targets.iter().filter(|(kind, _)| *kind == ImageKind::Elf).map(|(_, architecture)| *architecture).collect();
    let cubins: Vec<String> = cubins.iter().map(ToString::to_string).collect();
    let has = format!("no image runs on {}: compiled for {}", gpu.capability(), cubins.join(", "));
    match choice {
        Choice::Ptx(index) => {
            let ptx =
                targets.get(index).map_or_else(String::new, |(_, ptx)| ptx.to_string().replace("sm_", "compute_"));
            format!("{has}; its {ptx} PTX is compiled at load, and registers are known only then")
        }
        Choice::Image(_) | Choice::Nothing => has,
    }
}

fn place(module: &Module, image: &Image) -> String {
    let image_name = format!("{}.cubin", image.architecture);
    match module.place.as_str() {
        "" if module.entries.len() == 1 && module.entries[0].images.len() == 1 => image_name,
        "" => format!("{}/{image_name}", image.number),
        section => format!("{section}/{}/{image_name}", image.number),
    }
}
