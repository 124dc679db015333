//! Flags of `occupant strip`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  occupant strip report.ncu-rep -o public.ncu-rep\n  \
                  occupant strip report.ncu-rep -o public.ncu-rep --no-code\n\nKept are metrics, kernels' names, what \
                  NVIDIA's rules said, GPUs and versions; and machine code, unless told. Look at kernels' names \
                  yourself.")]
pub(crate) struct StripFlags {
    /// An Nsight Compute report (.ncu-rep, .ncu-repz); `-` is standard input
    #[arg(value_name = "REPORT")]
    pub(crate) report: PathBuf,
    /// Where to write it, unpacked; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Leave machine code, PTX and names of source files out, too
    #[arg(long)]
    pub(crate) no_code: bool,
}
