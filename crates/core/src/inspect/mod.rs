//! Every kernel of a file, with its resources and its occupancy.
//!
//! For: walking modules, choosing images, and handing each kernel to the caller as soon as it is known. Not for: what a
//! launch is assumed to be ([`launch`]) or how a record is put together ([`record`]).

mod code;
mod launch;
mod machine;
mod names;
mod only_reports;
mod other_kernel;
mod plan;
mod record;
mod stack;
mod stub;
mod walk;
mod work;

use names::Named;
use occupant_binary::{Source, Store};
use occupant_hardware::{Architecture, GpuSelector, Rules};
use occupant_occupancy::{Carveout, PartitionedCaching};
use other_kernel::NamedKernel;
use regex::Regex;

use crate::launches::Launches;
use crate::need::NeedOptions;
use crate::report::{Diagnostic, KernelRecord, Totals};

/// How much of the machine code is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReadCode {
    /// None of it: spills are instructions, without bytes.
    Nothing,
    /// Where there are spills or tensor memory.
    #[default]
    WhereItTells,
    /// All of it, and it is told.
    All,
}

/// What to list and what to assume.
#[derive(Debug, Default)]
pub struct InspectOptions {
    /// GPUs to answer for, each with the image it runs; none for every image on its own architecture.
    pub gpus: Vec<GpuSelector>,
    /// Only images of these targets; `sm_90` stands for `sm_90a` too.
    pub architectures: Vec<Architecture>,
    /// Only kernels whose mangled or demangled name matches.
    pub kernel: Option<Regex>,
    /// Only kernels whose name states a tile that begins so.
    pub tile: Option<Vec<u32>>,
    /// Threads per block where neither binary nor launches say.
    pub block: Option<u32>,
    /// Dynamic shared memory in bytes where neither binary nor launches say.
    pub shared_dynamic: Option<u32>,
    /// Real launches.
    pub launches: Launches,
    /// Preferred carve-out.
    pub carveout: Carveout,
    /// Partitioned caching.
    pub partitioned_caching: PartitionedCaching,
    /// Release of NVIDIA's rules.
    pub rules: Rules,
    /// List device functions that are no kernels too.
    pub functions: bool,
    /// List relocatable copies even where executable ones are there.
    pub relocatable: bool,
    /// How much of the machine code to read.
    pub code: ReadCode,
    /// The warps that kernels need, for each GPU asked for.
    pub need: Option<NeedOptions>,
    /// Threads to work on; as many as the machine has where `None`.
    pub threads: Option<usize>,
}

impl InspectOptions {
    fn matches(&self, name: &str, named: &Named) -> bool {
        let by_tile = |tile: &Vec<u32>| named.shape.as_ref().is_some_and(|shape| shape.tile.starts_with(tile));
        self.kernel.as_ref().is_none_or(|wanted| wanted.is_match(&named.demangled) || wanted.is_match(name))
            && self.tile.as_ref().is_none_or(by_tile)
    }

    fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
    }
}

/// A file to inspect.
pub struct File<'a> {
    /// Its name, for records and diagnostics.
    pub name: &'a str,
    /// Its bytes.
    pub source: &'a dyn Source,
    /// The `.json` that a compiler wrote beside it, where there is one.
    pub companion: Option<&'a [u8]>,
}

/// What [`inspect`] tells its caller while it works.
#[derive(Debug)]
pub enum Event<T> {
    /// What the caller made of the kernels of some images.
    Kernels(T),
    /// So many of so many images are done.
    Progress {
        /// Images done.
        done: usize,
        /// Images in all.
        total: usize,
    },
}

/// What remains to be said about a file after its kernels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What could not be read, and what a reader should know.
    pub diagnostics: Vec<Diagnostic>,
    /// Counts of everything that was found.
    pub totals: Totals,
}

/// Hands every kernel of a file to `tell`, in the file's order, those in archives included; `store` keeps what has to be
/// unpacked for that. A fault in one place is a diagnostic and never ends the rest.
///
/// `make` turns the kernels of a few images into what the caller wants of them, on the threads that read them; where it
/// wants the records themselves, it is [`std::convert::identity`].
pub fn inspect<T: Send>(
    file: &File<'_>,
    store: &dyn Store,
    options: &InspectOptions,
    make: &(dyn Fn(Vec<KernelRecord>) -> T + Sync),
    tell: &mut dyn FnMut(Event<T>),
) -> Outcome {
    let beside = NamedKernel::beside(file);
    let make = |kernels: Vec<KernelRecord>| {
        if let Some(named) = &beside {
            named.see(&kernels);
        }
        make(kernels)
    };
    let mut outcome = walk::Walk::new(file.name, options, &make, tell).run(file, store);
    outcome.diagnostics.extend(beside.and_then(|named| named.missing(file, &outcome)));
    outcome
}
