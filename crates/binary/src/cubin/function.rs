//! The record of one kernel or device function: what its binary fixes. Not for: reading it; that is [`super::parse`].

use std::ops::Range;

use crate::BinaryError;
use crate::source::{Source, read, read_in};

/// A kernel, or a device function that is none. `None` means the file does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Mangled name, as in the symbol table.
    pub name: String,
    /// It can be launched.
    pub is_kernel: bool,
    /// Visible in its own file only (`static`).
    pub is_local: bool,
    /// Registers per thread.
    pub registers: Option<u32>,
    /// Where the register count stands.
    pub register_source: RegisterSource,
    /// Stack per thread in bytes, callees included; `None` where the compiler could not bound it (recursion).
    pub stack: Option<u32>,
    /// Stack frame of the function alone, bytes.
    pub frame: u32,
    /// Local memory per thread in bytes (old toolkits only; the stack elsewhere).
    pub local: u32,
    /// Static shared memory per block in bytes, without the system's prefix.
    pub shared_static: u32,
    /// The size of the shared section as stored, with the prefix.
    pub shared_section: u32,
    /// Whether it takes dynamic shared memory.
    pub shared_dynamic: DynamicShared,
    /// Named barriers.
    pub barriers: u32,
    /// Largest block, x, y, z (`__launch_bounds__`).
    pub max_threads: Option<[u32; 3]>,
    /// The one block it can be launched with, x, y, z (`.reqntid`).
    pub required_threads: Option<[u32; 3]>,
    /// The register cap that the launch bounds made, 255 for none.
    pub max_registers: Option<u32>,
    /// Clusters, where the kernel was compiled for them.
    pub cluster: Option<Cluster>,
    /// Registers are moved between warps at run time (`setmaxnreg`).
    pub setmaxnreg: bool,
    /// Tensor memory is used (`tcgen05`).
    pub tensor_memory: bool,
    /// Virtual resources taken at launch.
    pub virtual_resources: u32,
    /// Instructions that spill or refill registers.
    pub spills: Spills,
    /// The toolkit that compiled it.
    pub toolkit: Option<Toolkit>,
    /// Functions outside the file that it calls; the loader adds their needs.
    pub externals: Vec<String>,
    /// Bytes of its code section in the image: its own code, and that of functions that were put beside it.
    pub code: Range<u64>,
    /// Functions that stand in the same section.
    pub inner: Vec<Inner>,
    /// Jumps through tables, with the places that they can lead to.
    pub jumps: Vec<IndirectJump>,
}

/// A jump through a table. Offsets are bytes from the start of the code section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndirectJump {
    /// The jump.
    pub from: u32,
    /// Where it can lead.
    pub to: Vec<u32>,
}

/// A function in the code section of another one (`$kernel$callee`), or an alias of that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inner {
    /// Mangled name, as in the symbol table.
    pub name: String,
    /// Bytes from the start of the section.
    pub offset: u64,
    /// Its own stack frame, bytes.
    pub frame: u32,
}

/// The longest code that is read of one function; the longest seen has some 5 MB.
const LONGEST_CODE: u64 = 1 << 30;

impl Function {
    /// The bytes of its code section; `source` is the image that it was read from.
    ///
    /// # Errors
    /// [`BinaryError`] where they are not all there.
    pub fn read_code<'s>(&self, source: &'s dyn Source) -> Result<std::borrow::Cow<'s, [u8]>, BinaryError> {
        let Range { start, end } = self.believed_code()?;
        read(source, start, end.saturating_sub(start), CODE)
    }

    /// The same in `room` where it has to be copied.
    ///
    /// # Errors
    /// [`BinaryError`] where they are not all there.
    pub fn read_code_in<'s>(&self, source: &'s dyn Source, room: &'s mut Vec<u8>) -> Result<&'s [u8], BinaryError> {
        let Range { start, end } = self.believed_code()?;
        read_in(source, start, end.saturating_sub(start), CODE, room)
    }

    fn believed_code(&self) -> Result<Range<u64>, BinaryError> {
        let Range { start, end } = self.code;
        let size = end.saturating_sub(start);
        if size > LONGEST_CODE {
            return Err(BinaryError::TooLarge { what: CODE, offset: start, claimed: size, limit: LONGEST_CODE });
        }
        Ok(start..end)
    }
}

/// What errors call it.
const CODE: &str = "code of a function";

/// Where a register count stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterSource {
    /// The attribute that NVIDIA's tools and driver use.
    Attribute,
    /// The code section's header (CUDA 9 and earlier).
    SectionHeader,
    /// Nowhere.
    Absent,
}

/// What the file tells about dynamic shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DynamicShared {
    /// The kernel takes none.
    None,
    /// It may take some; the launch says how much.
    Unknown,
}

/// Thread block clusters that a kernel was compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cluster {
    /// Blocks along x, y, z; `None` where the launch says.
    pub blocks: Option<[u32; 3]>,
    /// The largest cluster, in blocks; `None` where not bounded.
    pub max_blocks: Option<u32>,
}

/// Spill instructions as the compiler annotates them (ptxas 12.6 and later).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spills {
    /// The toolkit writes no annotations.
    Unknown,
    /// Byte offsets of the spilling and refilling instructions in the function's code.
    Annotated(Vec<u32>),
}

impl Spills {
    /// Number of instructions, where known.
    #[must_use]
    pub fn count(&self) -> Option<usize> {
        match self {
            Self::Unknown => None,
            Self::Annotated(offsets) => Some(offsets.len()),
        }
    }
}

/// A CUDA toolkit version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Toolkit {
    /// e.g. 12 of 12.4.
    pub major: u32,
    /// e.g. 4 of 12.4.
    pub minor: u32,
}

impl std::fmt::Display for Toolkit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
