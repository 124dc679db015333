//! The facts that messages state. Sizes in bytes.

/// A fact and where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Line of the first message, from 1.
    pub line: u32,
    /// Line of the last one.
    pub last: u32,
    /// Lines that say the same.
    pub times: u32,
    /// What they say.
    pub fact: Fact,
}

/// A kernel as `ptxas -v` lists it. What it does not print is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compiled {
    /// Line of its registers, from 1.
    pub line: u32,
    /// Mangled name; empty where the text does not say.
    pub name: String,
    /// Target such as `sm_90a`.
    pub arch: Option<String>,
    /// Registers per thread.
    pub registers: u32,
    /// Named barriers; not printed before CUDA 12 or so.
    pub barriers: Option<u32>,
    /// Stack frame of the function itself.
    pub stack: Option<u32>,
    /// Stack with callees.
    pub cumulative_stack: Option<u32>,
    /// Bytes of spill stores.
    pub spill_stores: Option<u32>,
    /// Bytes of spill loads.
    pub spill_loads: Option<u32>,
    /// Static shared memory; 0 is not printed.
    pub shared: u32,
    /// Constant memory over all banks.
    pub constant: u32,
    /// Local memory (old compilers).
    pub local: Option<u32>,
}

/// What a launch asked too much of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Shared memory of a block, bytes.
    SharedMemory,
    /// Tensor-memory columns.
    TensorMemory,
    /// Threads of a block.
    Threads,
    /// Named otherwise.
    Other(String),
}

/// What a function has too much of at compile time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TooMuch {
    /// Static shared memory.
    Shared,
    /// Constant memory.
    Constant,
    /// Parameters.
    Parameters,
    /// Local memory.
    Local,
}

/// Errors that a launch returns without a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LaunchError {
    /// 701.
    OutOfResources,
    /// 1.
    InvalidValue,
    /// "invalid argument" of a program that may have nothing to do with CUDA.
    PerhapsInvalidValue,
    /// 9.
    InvalidConfiguration,
    /// 720.
    CooperativeTooLarge,
    /// 912.
    ClusterSize,
    /// The status of CUTLASS for a launch or attribute that failed.
    Cutlass,
}

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Fact {
    /// A launch or a compilation asked for more than a block may have, by the message's own numbers.
    OverLimit {
        /// Of what.
        resource: Resource,
        /// Asked for.
        required: u64,
        /// Allowed; `None` where the message does not say.
        limit: Option<u64>,
        /// Kernel that the message names.
        kernel: Option<String>,
        /// Pipeline stages that the same line states.
        stages: Option<u32>,
        /// The kernel is a compiler's, with tiles and stages to choose.
        tiled: bool,
    },
    /// A block's registers exceed the limit, by the message's own numbers.
    BlockRegisters {
        /// Per thread.
        registers: u32,
        /// Threads of the block.
        threads: u32,
        /// Registers of a block, at most.
        limit: u32,
    },
    /// Threads exceed what the compiled kernel can be launched with.
    KernelThreads {
        /// Asked for.
        threads: u32,
        /// Allowed.
        limit: u32,
    },
    /// A dimension of grid or block exceeds the device's.
    Dimension {
        /// As printed, such as `blocks in y-dimension`.
        what: String,
        /// Asked for.
        asked: u64,
        /// Allowed.
        limit: u64,
    },
    /// The compiler or linker refuses a function or file.
    TooMuch {
        /// Of what.
        what: TooMuch,
        /// The function; `None` for a whole file.
        kernel: Option<String>,
        /// Bytes.
        bytes: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// The minimum of blocks was ignored.
    MinBlocksIgnored {
        /// The kernel.
        kernel: String,
        /// The compiler took it as an error.
        refused: bool,
    },
    /// `setmaxnreg` was dropped.
    RequestsIgnored {
        /// Number such as 7508.
        code: Option<u32>,
        /// The compiler's reason.
        reason: String,
    },
    /// `setmaxnreg` asks for a number that is not allowed.
    RequestRefused {
        /// The compiler's words.
        says: String,
    },
    /// Asynchronous multiplies are done one after another.
    WgmmaSerialized {
        /// Number such as 7511.
        code: Option<u32>,
        /// The compiler's reason.
        reason: String,
        /// The function.
        kernel: Option<String>,
    },
    /// Compilation needs more registers than it may use.
    RegistersTooFew {
        /// The cap.
        cap: u32,
        /// What an instruction needs, where it says.
        needed: Option<u32>,
        /// The function.
        kernel: Option<String>,
    },
    /// A callee uses more registers than its caller may.
    CalleeRegisters {
        /// The kernel.
        kernel: String,
        /// Its cap.
        cap: u32,
        /// The callee.
        callee: String,
        /// Registers of the callee.
        registers: u32,
    },
    /// A register cap was raised to the least that the compiler takes.
    CapRaised {
        /// Asked for.
        from: u32,
        /// Used.
        to: u32,
    },
    /// `--maxrregcount` took the place of the kernel's own cap.
    CapOverridden {
        /// The kernel.
        kernel: String,
        /// The cap in force.
        cap: u32,
    },
    /// A function spills.
    Spills {
        /// The function.
        kernel: String,
        /// Bytes stored and loaded, where it says.
        bytes: Option<(u32, u32)>,
    },
    /// A function has a stack.
    LocalMemory {
        /// The function.
        kernel: String,
        /// Bytes.
        frame: u32,
    },
    /// A launch failed.
    Launch(LaunchError),
    /// Threads of the block that a message states.
    Block(u32),
}
