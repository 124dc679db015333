//! Measured curves: bandwidth against resident warps, by GPU and kernel. Not for: what is predicted.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail};
use occupant_hardware::{Gpu, GpuSelector, gpus, limits};
use occupant_need::Memory;
use serde::Deserialize;

/// Bandwidth against resident warps of one kernel on one GPU.
pub(crate) struct Curve {
    /// The name in the file.
    pub(crate) gpu_name: String,
    pub(crate) gpu: &'static Gpu,
    pub(crate) kernel: String,
    pub(crate) memory: Memory,
    /// Resident warps of an SM and GB/s, ascending.
    pub(crate) points: Vec<(f64, f64)>,
}

impl Curve {
    /// The highest bandwidth that was measured, GB/s.
    pub(crate) fn peak(&self) -> f64 {
        self.points.iter().map(|(_, rate)| *rate).fold(0.0, f64::max)
    }

    /// Warps at which a share of the peak is first reached, between points by a straight line.
    pub(crate) fn needed(&self, share: f64) -> Option<f64> {
        let target = self.peak() * share;
        let mut before = (0.0, 0.0);
        for point in &self.points {
            if point.1 >= target {
                return Some(before.0 + (point.0 - before.0) * (target - before.1) / (point.1 - before.1));
            }
            before = *point;
        }
        None
    }

    /// GPUs that are twins count as one family when one is left out.
    pub(crate) fn family(&self) -> &str {
        self.gpu_name.split('_').next().unwrap_or(&self.gpu_name)
    }

    /// The kernel of `streams.cu` that moves the same bytes. The triad of some measurements has two loads instead of three.
    pub(crate) fn stream(&self) -> &str {
        const TWO_LOADS: [&str; 3] = ["a100_40", "h100_pcie", "h200"];
        match self.kernel.as_str() {
            "write" => "init",
            "triad" if self.memory == Memory::Dram && TWO_LOADS.contains(&self.gpu_name.as_str()) => "triad3",
            other => other,
        }
    }

    /// Arrays that the kernel touches.
    fn arrays(kernel: &str) -> f64 {
        match kernel {
            "triad" => 4.0,
            "triad3" => 3.0,
            "scale" | "stencil3" | "stencil5" => 2.0,
            _ => 1.0,
        }
    }
}

#[derive(Deserialize)]
struct DramRow {
    gpu: String,
    kernel: String,
    threads_total: f64,
    occupancy_pct: f64,
    gb_per_s: f64,
}

#[derive(Deserialize)]
struct L2Row {
    gpu: String,
    kernel: String,
    warps_per_sm: f64,
    data_kb: f64,
    gb_per_s_median: f64,
}

/// The curves of a file, DRAM's or L2's by its columns.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Curve>> {
    let shown = path.display();
    let mut reader = csv::Reader::from_path(path).with_context(|| shown.to_string())?;
    let columns: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
    let has = |name: &str| columns.iter().any(|column| column == name);
    let mut points: BTreeMap<(String, String), Vec<(f64, f64)>> = BTreeMap::new();
    let memory = if has("threads_total") && has("gb_per_s") {
        for row in reader.deserialize() {
            let row: DramRow = row.with_context(|| shown.to_string())?;
            let warps = resident(&row)?;
            points.entry((row.gpu, row.kernel)).or_default().push((warps, row.gb_per_s));
        }
        Memory::Dram
    } else if has("data_kb") && has("warps_per_sm") {
        let mut sizes: BTreeMap<(String, String, u64), Vec<f64>> = BTreeMap::new();
        for row in reader.deserialize() {
            let row: L2Row = row.with_context(|| shown.to_string())?;
            if stays_in_l2(&row)? {
                let key = (row.gpu, row.kernel, (row.warps_per_sm * 10.0) as u64);
                sizes.entry(key).or_default().push(row.gb_per_s_median);
            }
        }
        for ((gpu, kernel, warps), mut rates) in sizes {
            rates.sort_by(f64::total_cmp);
            points.entry((gpu, kernel)).or_default().push((warps as f64 / 10.0, rates[rates.len() / 2]));
        }
        Memory::L2
    } else {
        bail!("{shown}: neither the columns of dram.csv nor those of l2.csv");
    };
    let curve = |((gpu_name, kernel), mut points): ((String, String), Vec<(f64, f64)>)| {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(Curve { gpu: model(&gpu_name)?, gpu_name, kernel, memory, points })
    };
    points.into_iter().map(curve).collect()
}

/// Sizes that leave L1 alone and fit L2 well: all arrays of the kernel together between 1 MiB and 0.4 of it. The benchmark
/// counts two arrays, whatever the kernel touches.
fn stays_in_l2(row: &L2Row) -> anyhow::Result<bool> {
    let l2 = model(&row.gpu)?.l2_mb.with_context(|| format!("{}: L2 size unknown", row.gpu))? * 1024.0;
    let footprint = row.data_kb / 2.0 * Curve::arrays(&row.kernel);
    Ok(row.data_kb >= 1024.0 && footprint >= 1024.0 && footprint <= 0.4 * l2)
}

/// Resident warps of an SM. One file counts the threads of one of two blocks an SM; its occupancy, rounded to a tenth of a
/// percent, tells.
fn resident(row: &DramRow) -> anyhow::Result<f64> {
    let slots = f64::from(limits(model(&row.gpu)?.capability)?.max_threads_per_sm) / 32.0;
    let counted = row.threads_total / 32.0 / sms(&row.gpu)?;
    Ok(counted * (row.occupancy_pct / 100.0 * slots / counted).round().max(1.0))
}

fn sms(name: &str) -> anyhow::Result<f64> {
    Ok(f64::from(model(name)?.sm_count.with_context(|| format!("{name}: SM count unknown"))?))
}

/// The model of a name in the files; of a family its first member.
pub(crate) fn model(name: &str) -> anyhow::Result<&'static Gpu> {
    let id = match name {
        "v100" => "v100-pcie-16gb",
        "a100_40" => "a100-sxm4-40gb",
        "a100_80" => "a100-sxm4-80gb",
        "gh200" => "gh200-96gb",
        "h200" => "h200-sxm",
        other => &other.replace('_', "-"),
    };
    if let Some(gpu) = gpus().iter().find(|gpu| gpu.id == id) {
        return Ok(gpu);
    }
    match id.parse::<GpuSelector>() {
        Ok(GpuSelector::Model(gpu)) => Ok(gpu),
        Ok(GpuSelector::Family { models, .. }) => models.first().copied().with_context(|| format!("{name}: no model")),
        _ => bail!("{name}: no GPU model of this name; `occupant gpus` lists them"),
    }
}
