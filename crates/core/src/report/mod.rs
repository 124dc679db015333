//! The report: what every command answers, as data. Renderers print it, scripts read it as JSON.
//!
//! Names are a contract (docs/json.md): fields are added, never renamed. Unknown is `null`, never 0.

mod budget;
mod calc;
mod explain;
mod fit;
mod gpus;
mod inspect;
mod launch;
mod machine;
mod need;
mod occupancy;
mod probe;
mod summary;
mod sweep;
mod verdict;

pub use budget::{AccumulatorRecord, BudgetMatrix, BudgetReport, BudgetVerdict, SplitRecord, SplitRoles};
pub use calc::{ByHandRecord, ByHandStep, CalcInput, CalcReport, MatrixReport, SmRecord};
pub use explain::{CompiledRecord, ExplainReport, Finding, FixRecord, InequalityRecord};
pub use fit::{
    BestBlocks, BlockSizeRecord, BoundEffect, ChangeRecord, EdgeRecord, FitMatrix, FitReport, FromTo, KernelName,
    RoomRecord, SolutionRecord, StepRecord, Wanted,
};
pub use gpus::{GpuLine, GpuRow, GpusReport, LatencyRow, LimitsRow, Origin};
pub(crate) use inspect::architecture_order;
pub use inspect::{
    BlockFrom, ClusterRecord, Diagnostic, GpuKernels, InspectReport, KernelLine, KernelRecord, LaunchRecord,
    NameRecord, NoImage, Severity, SharedFrom, SpillRecord, StackRecord, Totals,
};
pub use launch::{ClusterLaunch, LaunchMatrix, LaunchReport, TileRecord};
pub use machine::{
    BlockRecord, FunctionRecord, HotLoop, InstructionRecord, LoopFor, LoopRecord, MachineCode, WorkRecord,
};
pub use need::{
    BandRecord, CeilingOrigin, CurvePoint, DemandRecord, EarlyWait, IlpRow, LittlesLaw, MovedRecord, NeedAnswer,
    NeedLoop, NeedNumbersMatrix, NeedNumbersReport, NeedRecord, NeedReport, NeedScope, NeededRecord, OperationNumbers,
    PartialRecord, RoofRow, RooflineNumbers, ScenarioRecord, StreamNumbers, Validation, WayRecord, resource_words,
};
pub(crate) use occupancy::two_decimals;
pub use occupancy::{AllocatedRecord, Basis, CeilingsRecord, GpuName, OccupancyRecord, RequirementRecord};
pub use probe::{ProbeGap, ProbeKernel, ProbePlan, ProbePoint, ProbeReading, ProbeReport, ProbeStep};
pub use summary::{
    Copied, Extreme, GroupRecord, Histogram, HistogramBin, LimiterShare, OccupancyCensus, SummaryReport,
};
pub use sweep::{PointRecord, StairRecord, SweepRecord, SweepReport};
pub use verdict::{
    EvidenceRecord, GuidedNeed, LifetimeRecord, Producer, ProfiledLaunch, ReconcileRecord, ResourceRecord,
    RooflinePosition, StallRecord, StepToNext, UnitRecord, VerdictLine, VerdictRecord, VerdictReport, WaitRecord,
};
