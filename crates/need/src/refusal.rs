//! Kernels that the model refuses, and why: there one warp's timeline does not tell how fast the kernel is.

use std::fmt;

use occupant_sass::{AccessKind, Analysis, Class, Lanes, Sign, Space, irregular, specialised};

use crate::kernel::Scope;
use crate::path::Path;

/// Why a kernel has no number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotModelled {
    /// Warps do different work.
    WarpSpecialised(Vec<Sign>),
    /// Data moves by bulk copies that no scoreboard of the warp waits for; the offset of the first.
    BulkCopies(u32),
    /// The way or the addresses follow the data.
    Irregular(Sign),
    /// An address is loaded, each lane its own: the offsets of the access and of that load.
    Gather {
        /// Offset of the access.
        at: u32,
        /// Offset of the load that its address comes from.
        from: u32,
    },
    /// Atomics to global memory: how long they take depends on how many meet at one address. The offset of the first.
    Atomics(u32),
    /// Texture or surface accesses; the offset of the first.
    Textures(u32),
    /// A call whose code is elsewhere or is not on the path; its offset.
    Call(u32),
    /// Opcodes that are not known.
    UnknownOpcode(u32),
    /// Compiled without optimisation: nearly every instruction waits the longest stall there is, or loads have no scoreboard
    /// and the hardware has to keep them in order.
    DebugBuild,
    /// So many accesses of spilled registers that their cache footprint decides.
    Spills(u32),
    /// No instruction takes any resource.
    Nothing,
}

impl NotModelled {
    /// Stable identifier, as counted in coverage reports.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::WarpSpecialised(_) => "warp_specialised",
            Self::BulkCopies(_) => "bulk_copies",
            Self::Irregular(_) => "irregular",
            Self::Gather { .. } => "gather",
            Self::Atomics(_) => "atomics",
            Self::Textures(_) => "textures",
            Self::Call(_) => "call",
            Self::UnknownOpcode(_) => "unknown_opcode",
            Self::DebugBuild => "debug_build",
            Self::Spills(_) => "spills",
            Self::Nothing => "nothing",
        }
    }
}

impl std::error::Error for NotModelled {}

impl fmt::Display for NotModelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WarpSpecialised(signs) => {
                write!(f, "its warps do different work")?;
                signs.first().map_or(Ok(()), |sign| write!(f, ": {sign}"))
            }
            Self::BulkCopies(at) => {
                write!(f, "bulk copies and barriers in shared memory time it, not scoreboards: the first at {at:#06x}")
            }
            Self::Irregular(sign) => sign.fmt(f),
            Self::Gather { at, from } => {
                write!(f, "each lane of the access at {at:#06x} takes its address from the load at {from:#06x}")
            }
            Self::Atomics(at) => {
                write!(f, "atomics on global memory, at {at:#06x}: their speed depends on how many meet at an address")
            }
            Self::Textures(at) => {
                write!(f, "texture or surface accesses, the first at {at:#06x}: their cache is not modelled")
            }
            Self::Call(at) => write!(f, "a call at {at:#06x} to code that is not on the path"),
            Self::UnknownOpcode(at) => write!(f, "an opcode that is not known, at {at:#06x}"),
            Self::DebugBuild => f.write_str(
                "compiled without optimisation (-G, -O0), so that its waits are not in its code: compile with -lineinfo instead",
            ),
            Self::Spills(number) => write!(
                f,
                "{number} accesses of the stack in one pass: how fast they are depends on their footprint in L1 and L2"
            ),
            Self::Nothing => f.write_str("it does nothing that a resource limits"),
        }
    }
}

/// Accesses of the stack on a path beyond which nothing is predicted.
const MANY_SPILLS: u32 = 100;

/// What the structure of the code rules out.
pub(crate) fn refuse(analysis: &Analysis, scope: Scope) -> Result<(), NotModelled> {
    let signs = specialised(analysis);
    if !signs.is_empty() {
        return Err(NotModelled::WarpSpecialised(signs));
    }
    if scope == Scope::Counted {
        return Ok(());
    }
    // A bulk copy feeds the whole kernel, wherever it stands.
    let of_kernel = |block: usize| analysis.structure.function_of_block.get(block) == Some(&0);
    let blocks = (0..analysis.structure.flow.blocks.len()).filter(|block| of_kernel(*block));
    let bulk =
        blocks.flat_map(|block| analysis.block(block)).find(|instruction| instruction.class() == Some(Class::Tma));
    if let Some(bulk) = bulk {
        return Err(NotModelled::BulkCopies(bulk.offset));
    }
    let within = |at: u32| match scope {
        Scope::Loop(number) => analysis.of_loop(number).any(|instruction| instruction.offset == at),
        _ => true,
    };
    let place = |sign: &Sign| match *sign {
        Sign::Gather { at, .. } | Sign::DataDependentExit { at, .. } | Sign::IndirectBranch { at } => at,
        Sign::Registers { at, .. } | Sign::Producer { at, .. } | Sign::Consumer { at, .. } => at,
    };
    // Gathers are told by lanes, on the path.
    let decides = |sign: &Sign| !matches!(sign, Sign::Gather { .. }) && within(place(sign));
    irregular(analysis).into_iter().find(decides).map_or(Ok(()), |sign| Err(NotModelled::Irregular(sign)))
}

/// What the instructions of the path rule out.
pub(crate) fn refuse_path(path: &Path) -> Result<(), NotModelled> {
    let executed = || path.steps.iter().filter(|step| step.times > 0.0);
    for step in executed() {
        let (instruction, at) = (&step.instruction, step.instruction.offset);
        match instruction.class() {
            None => return Err(NotModelled::UnknownOpcode(at)),
            Some(Class::Tma | Class::Tcgen05Mma | Class::Tcgen05) => return Err(NotModelled::BulkCopies(at)),
            Some(Class::Mbarrier) if instruction.is_mbarrier_wait() => return Err(NotModelled::BulkCopies(at)),
            Some(Class::Texture | Class::Surface) => return Err(NotModelled::Textures(at)),
            Some(Class::Call | Class::Return) => return Err(NotModelled::Call(at)),
            Some(Class::Atomic | Class::Reduction) if instruction.space() != Some(Space::Shared) => {
                return Err(NotModelled::Atomics(at));
            }
            _ => {}
        }
        let reads = instruction.access().is_some_and(|access| {
            matches!(access.kind, AccessKind::Load | AccessKind::AsyncCopy | AccessKind::Store)
                && matches!(access.space, Space::Global | Space::Generic)
        });
        if let Some(Lanes::Loaded(from)) = step.address.map(|address| address.lanes).filter(|_| reads) {
            return Err(NotModelled::Gather { at, from });
        }
    }
    let local = executed().filter(|step| step.instruction.space() == Some(Space::Local)).count() as u32;
    if local > MANY_SPILLS {
        return Err(NotModelled::Spills(local));
    }
    let stalls = |of: u8| executed().filter(|step| step.instruction.control().stall == of).count();
    let (count, longest, unset) = (executed().count(), stalls(15), stalls(0));
    // Optimised code leaves no load from memory without a scoreboard: its own or that of a later one.
    let untimed = executed().any(|step| {
        let control = step.instruction.control();
        let global = matches!(step.instruction.space(), Some(Space::Global | Space::Generic));
        step.instruction.class() == Some(Class::Load) && global && control.write.is_none() && control.stall == 0
    });
    let by_stalls = count >= 8 && (longest * 10 > count * 8 || unset * 2 > count);
    if untimed || by_stalls { Err(NotModelled::DebugBuild) } else { Ok(()) }
}
