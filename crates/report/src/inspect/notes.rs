//! What stands below the table: its marks, why kernels have no answer, and the totals.

use occupant_core::report::{Basis, BlockFrom, GpuKernels, InspectReport, KernelRecord, SharedFrom};
use occupant_core::shorten;

use super::{spills, spills_anything};
use crate::with_image::{none_runs, noun, whose};
use crate::words::{count, grouped, printable};

/// What the marks in the table mean, and which flag settles them.
pub(super) fn legend(kernels: &[KernelRecord]) -> Vec<String> {
    let launchable = || kernels.iter().filter(|kernel| kernel.launchable == Some(true));
    let basis = |wanted| launchable().any(|kernel| kernel.occupancy.as_ref().is_some_and(|f| f.basis == wanted));
    let unknown_shared = kernels.iter().any(|kernel| kernel.launch.shared_dynamic_from == Some(SharedFrom::Unknown));
    let assumed = kernels.iter().any(|kernel| kernel.launch.block_from == Some(BlockFrom::Assumed));
    let mut lines = Vec::new();
    if basis(Basis::UpperBound) {
        lines.push("<= the most that any launch which the binary allows can have, at the block size shown".to_owned());
    }
    if assumed {
        lines.push("~ at an assumed block of 256 threads: give --block or --launches".to_owned());
    }
    lines.extend(spill_legend(kernels));
    if unknown_shared {
        lines.push(
            "+? dynamic shared memory is not known and taken as 0: give --shared-dynamic or --launches".to_owned(),
        );
    }
    if limited_by(kernels, "virtual_resources") {
        lines.push(
            "virtual: virtual resources, of which an SM from 10.0 on has 128; a kernel takes its share at launch and can \
             give it back while it runs"
                .to_owned(),
        );
    }
    lines
}

fn limited_by(kernels: &[KernelRecord], limiter: &str) -> bool {
    let limiters = kernels.iter().filter(|kernel| kernel.launchable == Some(true)).filter_map(|k| k.occupancy.as_ref());
    limiters.flat_map(|found| &found.limiters).any(|name| *name == limiter)
}

fn spill_legend(kernels: &[KernelRecord]) -> Option<String> {
    let cells: Vec<String> = kernels.iter().filter(|kernel| spills_anything(kernel)).map(spills).collect();
    let any = |mark: char| cells.iter().any(|cell| cell.contains(mark));
    let mut parts = vec!["spills: bytes stored+loaded by a thread".to_owned()];
    let marks = [
        ('*', "* some in loops"),
        ('~', "~ from stack accesses, where small local arrays can be among them"),
        ('(', "(n) saved by called functions, not listed by the compiler"),
        ('?', "? not known, or not whether in loops"),
    ];
    parts.extend(marks.iter().filter(|(mark, _)| any(*mark)).map(|(_, text)| (*text).to_owned()));
    (!cells.is_empty()).then(|| parts.join(", "))
}

/// Reasons that are shown; further ones are counted.
const REASONS: usize = 6;

/// Why kernels can't launch or have no occupancy, each reason once.
pub(super) fn reasons(report: &InspectReport) -> Vec<String> {
    let mut lines = refusals(&report.kernels);
    lines.extend(missing(report));
    let hidden = lines.len().saturating_sub(REASONS);
    lines.truncate(REASONS);
    if hidden > 0 {
        lines.push(format!("{hidden} more {}: see --format json", if hidden == 1 { "reason" } else { "reasons" }));
    }
    lines
}

/// Why kernels have no image for a GPU.
pub(super) fn missing(report: &InspectReport) -> impl Iterator<Item = String> + '_ {
    let missing = report.gpus.iter().flat_map(|gpu| &gpu.without_image);
    missing.map(|missing| format!("{}: {}", count(missing.kernels, noun(&report.gpus)), missing.reason))
}

/// Kernels with one first reason.
struct Refused<'r> {
    reason: &'r str,
    can_not_launch: bool,
    kernels: u64,
    /// Those of them that have further reasons.
    with_more: u64,
    /// The first of them, and all its reasons.
    first: (&'r str, &'r str),
}

/// A shape that is refused for several reasons counts under the first: kernels differ in the others by their registers.
fn refusals(kernels: &[KernelRecord]) -> Vec<String> {
    let mut found: Vec<Refused<'_>> = Vec::new();
    for kernel in kernels.iter().filter(|kernel| kernel.is_kernel && kernel.entry.is_some()) {
        let Some(whole) = kernel.reason.as_deref() else { continue };
        let can_not_launch = kernel.launchable == Some(false);
        let reason = if can_not_launch { whole.split("; ").next().unwrap_or(whole) } else { whole };
        let with_more = u64::from(reason.len() < whole.len());
        match found.iter_mut().find(|known| known.reason == reason) {
            Some(known) => {
                known.kernels += 1;
                known.with_more += with_more;
            }
            None => {
                let first = (&*kernel.demangled, whole);
                found.push(Refused { reason, can_not_launch, kernels: 1, with_more, first });
            }
        }
    }
    found.iter().map(sentence).collect()
}

fn sentence(refused: &Refused<'_>) -> String {
    let Refused { reason, can_not_launch, kernels, with_more, first: (name, whole) } = refused;
    let cannot = if *can_not_launch { " can't launch" } else { "" };
    if *kernels == 1 {
        return format!("{}{cannot}: {whole}", printable(&shorten(name, 60)));
    }
    let more = match with_more {
        0 => String::new(),
        number => format!("; {} of them for further reasons too (--format json)", grouped(*number)),
    };
    format!("{}{cannot}: {reason}{more}", count(*kernels, "kernel"))
}

/// `functions`: device functions are listed, too.
pub(super) fn totals(report: &InspectReport, functions: bool) -> String {
    let totals = &report.totals;
    let launchable = |wanted| report.kernels.iter().filter(move |kernel| kernel.launchable == Some(wanted));
    let basis = |wanted| {
        launchable(true).filter(|kernel| kernel.occupancy.as_ref().is_some_and(|found| found.basis == wanted)).count()
    };
    let mut images = vec![format!("{} read", count(totals.read.into(), "cubin"))];
    let also = [
        (totals.not_selected, "not selected"),
        (totals.relocatable, "relocatable"),
        (totals.ptx, "PTX"),
        (totals.lto_ir, "LTO-IR"),
        (totals.unknown, "of unknown kind"),
        (totals.failed, "failed"),
    ];
    let also = also.into_iter().filter(|(number, _)| *number > 0);
    images.extend(also.map(|(number, what)| format!("{} {what}", grouped(number.into()))));
    let mut occupancies = vec![
        (basis(Basis::Exact), "exact"),
        (basis(Basis::UpperBound), "upper bound"),
        (basis(Basis::Hypothetical), "hypothetical"),
        (launchable(false).count(), "can't launch"),
    ];
    occupancies.retain(|(number, _)| *number > 0);
    let occupancies: Vec<String> =
        occupancies.iter().map(|(number, what)| format!("{} {what}", grouped(*number as u64))).collect();
    let occupancy =
        if occupancies.is_empty() { String::new() } else { format!("; occupancy: {}", occupancies.join(", ")) };
    format!(
        "{} in {} ({}){occupancy}{}{}",
        if functions { kernels_and_functions(report) } else { kernels(report) },
        count(totals.files.into(), "file"),
        images.join(", "),
        no_spills(report),
        stubs(report)
    )
}

/// How many kernels are listed, and of how many; for each GPU where several were asked for.
fn kernels(report: &InspectReport) -> String {
    let listed = |gpu: Option<&GpuKernels>| {
        let of_gpu = |kernel: &&KernelRecord| gpu.is_none() || kernel.gpu.as_ref() == gpu.map(|gpu| &gpu.gpu);
        let kernels = report.kernels.iter().filter(|kernel| kernel.is_kernel && kernel.entry.is_some());
        kernels.filter(of_gpu).count() as u64
    };
    if report.gpus.is_empty() {
        return part_of(listed(None), listed(None) + u64::from(report.totals.not_shown), "");
    }
    let part = |gpu: &GpuKernels| {
        let with_image = || part_of(listed(Some(gpu)), gpu.kernels, &whose(gpu, &report.gpus));
        match (gpu.kernels, gpu.missing()) {
            (0, _) => none_runs(gpu, &report.gpus),
            (_, 0) => with_image(),
            (_, missing) => {
                let more = if noun(&report.gpus) == "kernel" { "more" } else { "more names" };
                format!("{} ({} {more} without an image)", with_image(), grouped(missing))
            }
        }
    };
    report.gpus.iter().map(part).collect::<Vec<_>>().join(", ")
}

/// `5 kernels for h100-sxm (9.0)`, `5 of 20 kernels for h100-sxm (9.0)`.
fn part_of(listed: u64, all: u64, whose: &str) -> String {
    if listed == all {
        count(all, "kernel") + whose
    } else {
        format!("{} of {}{whose}", grouped(listed), count(all, "kernel"))
    }
}

/// Kernels, and the device functions that are listed with them. How many of each `--top` leaves out is not known.
fn kernels_and_functions(report: &InspectReport) -> String {
    let cut = u64::from(report.totals.not_shown);
    if cut > 0 && report.gpus.is_empty() {
        let listed = report.kernels.len() as u64;
        return format!("{} of {} kernels and device functions", grouped(listed), grouped(listed + cut));
    }
    let functions = report.kernels.iter().filter(|kernel| !kernel.is_kernel).count() as u64;
    format!("{} and {}", kernels(report), count(functions, "device function"))
}

/// The column is left out where it would be empty: that is told, where it is known of all.
fn no_spills(report: &InspectReport) -> &'static str {
    let known_none = |kernel: &KernelRecord| {
        let spills = &kernel.spills;
        spills.store_bytes == Some(0) && spills.load_bytes == Some(0) && spills.unlisted_bytes == Some(0)
    };
    let all = report.totals.not_shown == 0 && !report.kernels.is_empty();
    if all && report.kernels.iter().all(known_none) { "; no spills" } else { "" }
}

/// Kernels that do nothing of what they were written for look like the best of all.
fn stubs(report: &InspectReport) -> String {
    let number = |is: fn(&KernelRecord) -> bool| report.kernels.iter().filter(|kernel| is(kernel)).count() as u64;
    let kinds = [
        (number(|kernel| kernel.returns_at_once == Some(true)), "returns at once", "return at once"),
        (number(|kernel| kernel.only_reports == Some(true)), "only prints or traps", "only print or trap"),
    ];
    let part = |(number, one, several): (u64, &str, &str)| {
        format!("; {} {}", grouped(number), if number == 1 { one } else { several })
    };
    let told: String = kinds.into_iter().filter(|(number, ..)| *number > 0).map(part).collect();
    if told.is_empty() { told } else { told + ": `stub`" }
}
