//! The report: what every command answers, as data. Renderers print it, scripts read it as JSON.
//!
//! Names are a contract (docs/json.md): fields are added, never renamed. Unknown is `null`, never 0.

mod calc;
mod gpus;
mod inspect;
mod machine;
mod occupancy;
mod summary;

pub use calc::{ByHandRecord, ByHandStep, CalcInput, CalcReport, MatrixReport, SmRecord};
pub use gpus::{GpuLine, GpuRow, GpusReport, LatencyRow, LimitsRow, Origin};
pub use inspect::{
    BlockFrom, ClusterRecord, Diagnostic, InspectReport, KernelLine, KernelRecord, LaunchRecord, NameRecord, Severity,
    SharedFrom, SpillRecord, StackRecord, Totals,
};
pub use machine::{
    BlockRecord, FunctionRecord, HotLoop, InstructionRecord, LoopFor, LoopRecord, MachineCode, WorkRecord,
};
pub(crate) use occupancy::two_decimals;
pub use occupancy::{AllocatedRecord, Basis, CeilingsRecord, GpuName, OccupancyRecord, RequirementRecord};
pub use summary::{Extreme, GroupRecord, Histogram, HistogramBin, LimiterShare, OccupancyCensus, SummaryReport};
