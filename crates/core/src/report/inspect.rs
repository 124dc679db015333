//! What `occupant inspect` answers.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::{GpuName, MachineCode, NeedRecord, OccupancyRecord, RequirementRecord};

/// Every kernel of the files that were named.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct InspectReport {
    /// `occupant.inspect.v1`.
    pub schema: &'static str,
    /// One record a kernel, image and GPU.
    pub kernels: Vec<KernelRecord>,
    /// What could not be read, and what a reader should know.
    pub diagnostics: Vec<Diagnostic>,
    /// For each GPU asked for, how many kernels have an image that it runs, listed or not; empty without `--gpu`.
    pub gpus: Vec<GpuKernels>,
    /// Counts over everything that was found, listed or not.
    pub totals: Totals,
}

/// How many kernels a GPU has an image of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GpuKernels {
    /// The GPU asked for.
    pub gpu: GpuName,
    /// Records of kernels with an image that it runs, listed or left out by `--top`.
    pub kernels: u64,
    /// Different names among them, in each binary for itself: comparable with kernels without an image, which are counted
    /// so.
    pub names: u64,
    /// Kernels without one, by the reason, each name of a binary once. `--top` does not count them and leaves them out of the list.
    pub without_image: Vec<NoImage>,
}

/// Kernels that no image runs of, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NoImage {
    /// Why.
    pub reason: String,
    /// Kernels.
    pub kernels: u64,
}

impl GpuKernels {
    /// Kernels without an image, for whatever reason.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.without_image.iter().map(|missing| missing.kernels).sum()
    }
}

/// One kernel as a line of jsonl.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct KernelLine<'a> {
    /// `occupant.kernel.v1`.
    pub schema: &'static str,
    /// The kernel.
    #[serde(flatten)]
    pub kernel: &'a KernelRecord,
}

/// One kernel. Sizes in bytes; `null` means that the file does not say.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct KernelRecord {
    /// The file as named.
    pub file: Arc<str>,
    /// Place in the file: section, number, image. `null` where no image runs on the GPU asked for.
    pub entry: Option<Arc<str>>,
    /// Path of the binary in the archives that `file` is, the start of `entry`. `null` where `file` is the binary itself.
    pub member: Option<Arc<str>>,
    /// Target of the image, e.g. `sm_90a`. `null` where no image runs on the GPU asked for.
    pub arch: Option<String>,
    /// The GPU asked for; `null` where the image's own architecture answers.
    pub gpu: Option<GpuName>,
    /// Mangled name.
    pub name: Arc<str>,
    /// Name for reading.
    pub demangled: Arc<str>,
    /// What the name says about the shape; `null` where nothing certain.
    pub from_name: Option<NameRecord>,
    /// `false` for a device function, which can't be launched.
    pub is_kernel: bool,
    /// Registers per thread.
    pub registers: Option<u32>,
    /// Static shared memory per block, without the system's reserve.
    pub shared_static: Option<u32>,
    /// Stack per thread with callees; `null` where not bounded (recursion).
    pub stack: Option<u32>,
    /// Local memory per thread, old toolkits only.
    pub local: Option<u32>,
    /// Named barriers.
    pub barriers: Option<u32>,
    /// Register spills.
    pub spills: SpillRecord,
    /// Whether the stacks of all resident threads stay in L1; `null` without spills or without a known L1.
    pub stack_in_l1: Option<StackRecord>,
    /// Threads of the largest block (`__launch_bounds__`).
    pub max_threads: Option<u32>,
    /// Threads of the one block it can be launched with.
    pub required_block: Option<u32>,
    /// Register cap that the launch bounds made; 255 for none.
    pub max_registers: Option<u32>,
    /// Thread block clusters, where compiled for them.
    pub cluster: Option<ClusterRecord>,
    /// Registers are moved between warps at run time.
    pub setmaxnreg: bool,
    /// Registers per thread that its warps ask for at run time: the distinct requests in its code, ascending. Empty where
    /// there are none, or where a register holds the number.
    pub register_requests: Vec<u32>,
    /// Tensor memory is used.
    pub tensor_memory: bool,
    /// Columns of it that the code takes, traced to constants; `null` where it uses none or that can't be traced.
    pub tensor_columns: Option<u32>,
    /// Virtual resources taken at launch.
    pub virtual_resources: Option<u32>,
    /// Functions outside the file that it calls.
    pub externals: Vec<String>,
    /// Toolkit that compiled it.
    pub toolkit: Option<String>,
    /// Bytes of its code section: its own code, that of functions put beside it, and padding. `null` without an image.
    pub code_bytes: Option<u64>,
    /// It returns at once: its code does nothing but end the thread, which is what compilers leave of a kernel that is made
    /// for another architecture. `null` for a device function and where its code is not read (before sm_70).
    pub returns_at_once: Option<bool>,
    /// It only reports: its code, of at most 4 KiB, does nothing but print, fail an assertion or trap, which is what libraries
    /// leave of a kernel that is not made for this architecture. `null` for a device function, where its code is not read
    /// (before sm_70), and where it calls what is not certain.
    pub only_reports: Option<bool>,
    /// The launch that the occupancy is for.
    pub launch: LaunchRecord,
    /// The launch works: a block fits within the launch bounds; `null` where that can't be known.
    pub launchable: Option<bool>,
    /// Why not, or why unknown.
    pub reason: Option<String>,
    /// What the host must set.
    pub requires: Vec<RequirementRecord>,
    /// The answer; `null` where there is none.
    pub occupancy: Option<OccupancyRecord>,
    /// The machine code, where asked for (`--sass`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_code: Option<Box<MachineCode>>,
    /// The warps that it needs, where asked for (`need`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub need: Option<Box<NeedRecord>>,
    /// What a reader should know about this record.
    pub notes: Vec<String>,
}

impl KernelRecord {
    /// It does nothing that it was written for: it returns at once or only reports. A census tells such kernels apart.
    #[must_use]
    pub fn is_stub(&self) -> bool {
        self.returns_at_once == Some(true) || self.only_reports == Some(true)
    }
}

/// The shape that a kernel's name states, by the naming scheme of a library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NameRecord {
    /// `xmma`, `cutlass3x`, `cublas`, `nvjet`, `cutlass`, `flash_attention`, `mem_eff_attention`, `marlin`, `fused_moe`,
    /// `cumm`, `bitsandbytes` or `triton` (from its metadata).
    pub family: &'static str,
    /// Tile of a block, or of two that multiply as one (`2sm`): M, N and, where named, K. Empty where not named.
    pub tile: Vec<u32>,
    /// Pipeline stages.
    pub stages: Option<u32>,
    /// Blocks of a cluster. Empty where not named.
    pub cluster: Vec<u32>,
    /// `pingpong`, `cooperative`, `warp_specialized`, `stream_k`, `split_k`, `1sm`, `2sm`.
    pub schedule: Vec<&'static str>,
}

/// Register spills, in bytes of a thread. `null` where the file does not tell and the machine code can't be read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct SpillRecord {
    /// Spilling and refilling instructions.
    pub instructions: Option<u32>,
    /// Bytes stored.
    pub store_bytes: Option<u32>,
    /// Bytes loaded.
    pub load_bytes: Option<u32>,
    /// Bytes of both inside loops.
    pub in_loops_bytes: Option<u32>,
    /// Bytes of both inside loops that have no other inside.
    pub innermost_bytes: Option<u32>,
    /// Bytes of both that called functions save on the stack and no annotation lists (recursion, calls by pointer).
    pub unlisted_bytes: Option<u32>,
    /// Where the counts come from: `annotations` of the compiler, exact; `stack_accesses` of the machine code, where the
    /// compiler writes none: small local arrays can be among them.
    pub source: Option<&'static str>,
}

/// The stacks of all resident threads beside the L1 cache. A proposal: it assumes that shared memory is given no more
/// than the resident blocks need, and that nothing else uses L1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StackRecord {
    /// Bytes of stack of all resident threads of an SM.
    pub bytes_per_sm: u32,
    /// Bytes of L1 left beside shared memory.
    pub l1_bytes: u32,
    /// The stacks are not larger than that.
    pub fits: bool,
}

/// Thread block clusters of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClusterRecord {
    /// Blocks of a cluster; `null` where the launch says.
    pub blocks: Option<u32>,
    /// Blocks along x, y, z.
    pub dimensions: Option<[u32; 3]>,
    /// The largest cluster in blocks; `null` where not bounded.
    pub max_blocks: Option<u32>,
}

/// Where a block size comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockFrom {
    /// The kernel can only be launched with it.
    Required,
    /// The best size up to the launch bounds' maximum.
    LaunchBounds,
    /// The compiler's metadata beside the binary.
    Metadata,
    /// The launches given.
    Launches,
    /// The command line.
    Given,
    /// Nothing; 256 is assumed.
    Assumed,
}

/// Where a size of dynamic shared memory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SharedFrom {
    /// The kernel takes none.
    None,
    /// The compiler's metadata beside the binary.
    Metadata,
    /// The launches given.
    Launches,
    /// The command line.
    Given,
    /// Not known; the occupancy assumes 0.
    Unknown,
}

/// The launch that an occupancy is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LaunchRecord {
    /// Threads per block; `null` for a device function.
    pub block: Option<u32>,
    /// Where it comes from.
    pub block_from: Option<BlockFrom>,
    /// Dynamic shared memory per block; `null` where unknown.
    pub shared_dynamic: Option<u32>,
    /// Where it comes from.
    pub shared_dynamic_from: Option<SharedFrom>,
}

/// How much a diagnostic matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Something could not be read; the exit status says so.
    Error,
    /// Something may not be what it seems.
    Warning,
    /// Something worth knowing.
    Note,
}

/// Something about a file that is no kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// Stable identifier.
    pub code: String,
    /// The file as named.
    pub file: String,
    /// Place in the file.
    pub place: Option<String>,
    /// One line.
    pub message: String,
}

/// Counts of everything found. `images` is the sum of the fields below it up to `failed`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Totals {
    /// Files named.
    pub files: u32,
    /// Images of all kinds.
    pub images: u32,
    /// Cubins that were read.
    pub read: u32,
    /// Cubins left out by `--gpu` or `--arch`.
    pub not_selected: u32,
    /// Relocatable cubins left out because executable ones are there.
    pub relocatable: u32,
    /// PTX: no resources until compiled.
    pub ptx: u32,
    /// LTO-IR: no resources until linked.
    pub lto_ir: u32,
    /// Images of a kind that is not known.
    pub unknown: u32,
    /// Images that could not be read.
    pub failed: u32,
    /// Kernels in the cubins that were read.
    pub kernels: u32,
    /// Device functions in them that are no kernels.
    pub device_functions: u32,
    /// Kernels left out by `--kernel` and `--tile`.
    pub filtered: u32,
    /// Records left out by `--top`.
    pub not_shown: u32,
    /// Targets of all cubins that were found, read or not, such as `sm_90a`; sorted.
    pub architectures: Vec<String>,
}

/// What targets are sorted by: `sm_90`, `sm_90a`, `sm_100`.
pub(crate) fn architecture_order(name: &str) -> (u32, &str) {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (number, variant) = digits.split_at(end);
    (number.parse().unwrap_or(u32::MAX), variant)
}

impl Totals {
    /// Adds the counts of another file.
    pub fn add(&mut self, other: &Self) {
        let Self { files, images, read, not_selected, relocatable, ptx, lto_ir, unknown, failed, .. } = other;
        self.files += files;
        self.images += images;
        self.read += read;
        self.not_selected += not_selected;
        self.relocatable += relocatable;
        self.ptx += ptx;
        self.lto_ir += lto_ir;
        self.unknown += unknown;
        self.failed += failed;
        self.kernels += other.kernels;
        self.device_functions += other.device_functions;
        self.filtered += other.filtered;
        self.not_shown += other.not_shown;
        self.architectures.extend(other.architectures.iter().cloned());
        self.architectures.sort_by(|a, b| architecture_order(a).cmp(&architecture_order(b)));
        self.architectures.dedup();
    }
}
