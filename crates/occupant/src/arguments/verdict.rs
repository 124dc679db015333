//! Flags of `occupant verdict`.

use std::path::PathBuf;

use clap::Args;
use occupant_core::Regex;
use occupant_core::verdict::VerdictOptions;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ncu --set full -o report ./app && occupant verdict report.ncu-rep\n  \
                  occupant verdict report.ncu-rep --launch 3\n  ncu --csv --page raw ./app | occupant verdict -\n  \
                  occupant verdict trace.json --format csv")]
pub(crate) struct VerdictFlags {
    /// Nsight Compute reports (.ncu-rep, .ncu-repz), CSV that ncu printed, PyTorch traces; `-` is standard input
    #[arg(required = true, value_name = "REPORT")]
    pub(crate) reports: Vec<PathBuf>,
    /// Only kernels whose name this matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) kernel: Option<Regex>,
    /// Only this launch of each report, counted from 0; may be repeated
    #[arg(long, value_name = "N")]
    pub(crate) launch: Vec<usize>,
    /// Every launch in full instead of a table
    #[arg(long)]
    pub(crate) full: bool,
    /// Percent of the reachable throughput that needed warps are for
    #[arg(long, value_name = "PERCENT", default_value_t = 90.0, value_parser = percent)]
    target: f64,
}

impl VerdictFlags {
    pub(crate) fn options(&self) -> VerdictOptions {
        VerdictOptions { target: self.target }
    }
}

fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent < 100.0 => Ok(percent),
        _ => Err("a percentage above 0 and below 100".to_owned()),
    }
}
