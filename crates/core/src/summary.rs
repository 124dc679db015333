//! The census of many kernels: per architecture and, where names tell, per tile or schedule.
//!
//! For: what a library really does, without keeping its kernels. Not for: single kernels, beyond the extremes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use foldhash::fast::RandomState;
use occupant_hardware::GpuSelector;

use crate::no_image::Gpus;
use crate::report::{
    Basis, Copied, Diagnostic, Extreme, GroupRecord, Histogram, HistogramBin, KernelRecord, LimiterShare,
    OccupancyCensus, SummaryReport, Totals, architecture_order,
};

/// Upper ends of the register bins; the allocation is in units of 8, and these are the counts at which blocks of 256
/// threads step on most architectures.
const REGISTER_BINS: [u32; 8] = [32, 40, 48, 64, 80, 128, 168, 255];
/// Extremes that are named.
const EXTREMES: usize = 10;

/// By what kernels are grouped, beside their architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GroupBy {
    /// Architecture alone.
    #[default]
    Arch,
    /// The tile that the name states.
    Tile,
    /// The schedule that the name states.
    Schedule,
    /// The naming scheme.
    Family,
}

/// Collects kernels as they come.
#[derive(Debug, Default)]
pub struct Summary {
    by: GroupBy,
    /// Names of the GPUs that were asked for.
    asked: Vec<String>,
    groups: BTreeMap<GroupKey, Group>,
    gpus: Gpus,
    most_registers: Vec<Extreme>,
    lowest_occupancy: Vec<Extreme>,
    most_spills: Vec<Extreme>,
    places: BTreeSet<(Arc<str>, Option<Arc<str>>)>,
}

/// What a group holds kernels of, in the order of the report: GPUs as they were asked for, `sm_90` before `sm_100`, 16x32
/// before 128x128, what the names do not tell last.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct GroupKey {
    /// The GPU's number among those asked for.
    asked: usize,
    gpu: String,
    arch_order: (u32, String),
    arch: String,
    label: Label,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    /// Grouped by architecture alone.
    None,
    Sizes(Vec<u32>),
    Word(String),
    NotNamed,
}

/// What makes two kernels of an architecture the same.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Identity {
    name: Arc<str>,
    registers: Option<u32>,
    shared_static: Option<u32>,
    stack: Option<u32>,
    max_threads: Option<u32>,
    code_bytes: Option<u64>,
    /// Several launches of one kernel are no copies of it.
    launch: (Option<u32>, Option<u32>),
}

#[derive(Debug, Default)]
struct Group {
    kernels: u64,
    returns_at_once: u64,
    only_reports: u64,
    copies: HashMap<Identity, u64, RandomState>,
    most_copied: Option<Copied>,
    registers: BTreeMap<u32, u64>,
    /// Kernels by hundredths of a percent, for each basis.
    occupancy: [BTreeMap<u32, u64>; 3],
    cannot_launch: u64,
    unknown: u64,
    limiters: BTreeMap<&'static str, u64>,
}

impl Summary {
    /// An empty census, for the GPUs that kernels are read for.
    #[must_use]
    pub fn new(by: GroupBy, gpus: &[GpuSelector]) -> Self {
        let asked = gpus.iter().map(GpuSelector::name).collect();
        Self { by, asked, gpus: Gpus::asked(gpus), ..Self::default() }
    }

    /// Adds a kernel; device functions do not count.
    pub fn add(&mut self, kernel: &KernelRecord) {
        if !kernel.is_kernel {
            return;
        }
        self.gpus.add(kernel);
        self.places.insert((Arc::clone(&kernel.file), kernel.member.clone()));
        let arch = kernel.arch.clone().unwrap_or_else(|| "none".to_owned());
        let (number, variant) = architecture_order(&arch);
        let arch_order = (number, variant.to_owned());
        let gpu = kernel.gpu.as_ref().map_or_else(String::new, |gpu| gpu.name.clone());
        let asked = self.asked.iter().position(|name| *name == gpu).unwrap_or(self.asked.len());
        let key = GroupKey { asked, gpu, arch_order, arch, label: self.label(kernel) };
        self.groups.entry(key).or_default().add(kernel);
        if kernel.is_stub() {
            return;
        }
        let spills = kernel.spills.store_bytes.unwrap_or(0).saturating_add(kernel.spills.load_bytes.unwrap_or(0));
        keep(&mut self.most_registers, kernel, kernel.registers.map(f64::from), |a, b| a > b);
        keep(&mut self.most_spills, kernel, Some(f64::from(spills)).filter(|count| *count > 0.0), |a, b| a > b);
        let sure = kernel.occupancy.as_ref().filter(|found| found.basis != Basis::Hypothetical);
        let percent = sure.filter(|_| kernel.launchable == Some(true)).map(|found| found.percent);
        keep(&mut self.lowest_occupancy, kernel, percent, |a, b| a < b);
    }

    fn label(&self, kernel: &KernelRecord) -> Label {
        let Some(named) = kernel.from_name.as_ref().filter(|_| self.by != GroupBy::Arch) else {
            return if self.by == GroupBy::Arch { Label::None } else { Label::NotNamed };
        };
        match self.by {
            GroupBy::Tile if !named.tile.is_empty() => Label::Sizes(named.tile.clone()),
            GroupBy::Schedule if !named.schedule.is_empty() => Label::Word(named.schedule.join("+")),
            GroupBy::Family => Label::Word(named.family.to_owned()),
            GroupBy::Arch | GroupBy::Tile | GroupBy::Schedule => Label::NotNamed,
        }
    }

    /// The census so far.
    #[must_use]
    pub fn report(self, totals: Totals, diagnostics: Vec<Diagnostic>) -> SummaryReport {
        let groups = self.groups.into_iter().map(|(key, group)| group.record(key));
        SummaryReport {
            schema: "occupant.summary.v1",
            groups: groups.collect(),
            most_registers: self.most_registers,
            lowest_occupancy: self.lowest_occupancy,
            most_spills: self.most_spills,
            places: self.places.into_iter().collect(),
            gpus: self.gpus.counts(),
            diagnostics,
            totals,
        }
    }
}

/// Keeps the kernel among the extremes, each name once an architecture.
fn keep(extremes: &mut Vec<Extreme>, kernel: &KernelRecord, value: Option<f64>, beats: fn(f64, f64) -> bool) {
    let Some(value) = value else { return };
    let at = extremes.iter().position(|other| beats(value, other.value)).unwrap_or(extremes.len());
    let same = |other: &Extreme| other.name == kernel.name && Some(&other.arch) == kernel.arch.as_ref();
    if at >= EXTREMES || extremes.iter().any(same) {
        return;
    }
    let extreme = Extreme {
        name: kernel.name.clone(),
        demangled: kernel.demangled.clone(),
        arch: kernel.arch.clone().unwrap_or_default(),
        file: Arc::clone(&kernel.file),
        member: kernel.member.clone(),
        value,
    };
    extremes.insert(at, extreme);
    extremes.truncate(EXTREMES);
}

impl Label {
    fn text(self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Sizes(sizes) => Some(sizes.iter().map(u32::to_string).collect::<Vec<_>>().join("x")),
            Self::Word(word) => Some(word),
            Self::NotNamed => Some("not named".to_owned()),
        }
    }
}

impl Identity {
    fn of(kernel: &KernelRecord) -> Self {
        Self {
            name: Arc::clone(&kernel.name),
            registers: kernel.registers,
            shared_static: kernel.shared_static,
            stack: kernel.stack,
            max_threads: kernel.max_threads,
            code_bytes: kernel.code_bytes,
            launch: (kernel.launch.block, kernel.launch.shared_dynamic),
        }
    }
}

impl Group {
    fn add(&mut self, kernel: &KernelRecord) {
        self.kernels += 1;
        self.returns_at_once += u64::from(kernel.returns_at_once == Some(true));
        self.only_reports += u64::from(kernel.only_reports == Some(true));
        if kernel.is_stub() {
            return;
        }
        self.count_copy(kernel);
        if let Some(registers) = kernel.registers {
            *self.registers.entry(registers).or_default() += 1;
        }
        let Some(found) = &kernel.occupancy else {
            self.unknown += 1;
            return;
        };
        if kernel.launchable != Some(true) {
            self.cannot_launch += 1;
            return;
        }
        let hundredths = (found.percent * 100.0).round() as u32;
        *self.occupancy[found.basis as usize].entry(hundredths).or_default() += 1;
        for limiter in &found.limiters {
            *self.limiters.entry(limiter).or_default() += 1;
        }
    }

    /// The first to reach a number is the most copied.
    fn count_copy(&mut self, kernel: &KernelRecord) {
        let copies = self.copies.entry(Identity::of(kernel)).or_default();
        *copies += 1;
        if *copies > self.most_copied.as_ref().map_or(1, |most| most.kernels) {
            let (name, demangled) = (Arc::clone(&kernel.name), Arc::clone(&kernel.demangled));
            self.most_copied = Some(Copied { name, demangled, kernels: *copies });
        }
    }

    fn record(self, key: GroupKey) -> GroupRecord {
        let [exact, upper_bound, hypothetical] = &self.occupancy;
        let launchable: u64 = self.occupancy.iter().flat_map(BTreeMap::values).sum();
        let share = |(name, kernels): (&&'static str, &u64)| LimiterShare {
            name,
            kernels: *kernels,
            percent: crate::report::two_decimals(*kernels as f64 * 100.0 / launchable.max(1) as f64),
        };
        let mut limiters: Vec<LimiterShare> = self.limiters.iter().map(share).collect();
        limiters.sort_by_key(|share| std::cmp::Reverse(share.kernels));
        GroupRecord {
            gpu: Some(key.gpu).filter(|gpu| !gpu.is_empty()),
            arch: key.arch,
            group: key.label.text(),
            kernels: self.kernels,
            returns_at_once: self.returns_at_once,
            only_reports: self.only_reports,
            distinct: self.copies.len() as u64,
            most_copied: self.most_copied,
            registers: Histogram {
                median: quantile(&self.registers, 0.5).map(f64::from),
                bins: register_bins(&self.registers),
            },
            exact: census(exact),
            upper_bound: census(upper_bound),
            hypothetical: census(hypothetical),
            cannot_launch: self.cannot_launch,
            unknown: self.unknown,
            limiters,
        }
    }
}

fn register_bins(registers: &BTreeMap<u32, u64>) -> Vec<HistogramBin> {
    let mut from = 0;
    let mut bins = Vec::new();
    for to in REGISTER_BINS {
        let kernels = registers.range(from..=to).map(|(_, kernels)| kernels).sum();
        bins.push(HistogramBin { from: f64::from(from), to: f64::from(to), kernels });
        from = to + 1;
    }
    bins
}

/// Ten bins of 10 %, each with its upper end: 50 % counts to 40-50.
fn census(occupancy: &BTreeMap<u32, u64>) -> OccupancyCensus {
    let within = |from: u32, to: u32| -> u64 { occupancy.range(from..=to).map(|(_, kernels)| kernels).sum() };
    let bin = |tenth: u32| HistogramBin {
        from: f64::from(tenth * 10),
        to: f64::from(tenth * 10 + 10),
        kernels: within(if tenth == 0 { 0 } else { tenth * 1000 + 1 }, tenth * 1000 + 1000),
    };
    OccupancyCensus {
        kernels: occupancy.values().sum(),
        median: quantile(occupancy, 0.5).map(|hundredths| f64::from(hundredths) / 100.0),
        from_30_to_60: within(3000, 6000),
        bins: (0..10).map(bin).collect(),
    }
}

/// The smallest value that at least this share of the kernels does not exceed.
fn quantile(counts: &BTreeMap<u32, u64>, share: f64) -> Option<u32> {
    let total: u64 = counts.values().sum();
    let mut seen = 0;
    counts.iter().find_map(|(value, kernels)| {
        seen += kernels;
        (seen as f64 >= total as f64 * share).then_some(*value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_add_up_and_have_their_upper_end() {
        let occupancy = BTreeMap::from([(0, 1), (1000, 2), (1001, 3), (3000, 4), (5000, 5), (6000, 6), (10_000, 7)]);
        let census = census(&occupancy);
        assert_eq!(census.bins.iter().map(|bin| bin.kernels).sum::<u64>(), census.kernels);
        assert_eq!(census.bins.iter().map(|bin| bin.kernels).collect::<Vec<_>>(), [3, 3, 4, 0, 5, 6, 0, 0, 0, 7]);
        assert_eq!((census.kernels, census.from_30_to_60, census.median), (28, 15, Some(50.0)));
        let registers = BTreeMap::from([(0, 1), (32, 1), (33, 1), (255, 4)]);
        assert_eq!(
            register_bins(&registers).iter().map(|bin| bin.kernels).collect::<Vec<_>>(),
            [2, 1, 0, 0, 0, 0, 0, 4]
        );
        assert_eq!(quantile(&BTreeMap::new(), 0.5), None);
    }
}
