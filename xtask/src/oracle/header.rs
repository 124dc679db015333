//! NVIDIA's `cuda_occupancy.h`, fetched as a wheel, compiled with our harness and asked. It is never committed.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use occupant_hardware::{Rules, SmLimits};
use occupant_occupancy::{Carveout, PartitionedCaching};

use super::points::Point;
use crate::{paths, process, wheels};

/// What the header answers; `i32::MAX` is its word for "no limit".
pub(crate) struct Answer {
    pub(crate) status: i32,
    pub(crate) blocks: i32,
    pub(crate) registers: i32,
    pub(crate) shared: i32,
    pub(crate) warps: i32,
    pub(crate) block_slots: i32,
    pub(crate) barriers: i32,
    pub(crate) virtuals: i32,
    pub(crate) allocated_registers: i32,
    pub(crate) allocated_shared: i32,
    pub(crate) partitioned: i32,
    pub(crate) factors: i32,
}

/// The compiled harness for the header of one toolkit.
pub(crate) struct Header(PathBuf);

impl Header {
    /// Fetches the wheel and compiles the harness with `-O2`.
    pub(crate) fn build(rules: Rules) -> anyhow::Result<Self> {
        let (requirement, include, define) = match rules {
            Rules::Cuda13_5 => ("nvidia-cuda-runtime==13.5.37", "nvidia/cu13/include", Some("-DHAS_VIRTUAL")),
            Rules::Cuda12_9 => ("nvidia-cuda-runtime-cu12==12.9.79", "nvidia/cuda_runtime/include", None),
        };
        let wheel = wheels::unpacked(requirement)?;
        let program = paths::cache("harness").join(requirement);
        fs::create_dir_all(paths::cache("harness"))?;
        let mut compiler = Command::new("c++");
        compiler.args(["-O2", "-std=c++17"]).args(define).arg("-I").arg(wheel.join(include));
        compiler.arg("-o").arg(&program).arg(paths::root().join("xtask/harness/occupancy.cpp"));
        process::output(&mut compiler).context("compiling the harness with the system's C++ compiler")?;
        Ok(Self(program))
    }

    /// One answer a point, in order.
    pub(crate) fn ask(&self, points: &[Point]) -> anyhow::Result<Vec<Answer>> {
        let (stdout, _) = self.feed(&[], points)?;
        ensure!(stdout.len() == points.len() * 48, "the harness answered {} bytes", stdout.len());
        Ok(stdout.chunks_exact(48).map(decode).collect())
    }

    /// Nanoseconds a point over `repeats` passes, and the sum of all blocks as proof of work.
    pub(crate) fn bench(&self, points: &[Point], repeats: u32) -> anyhow::Result<(f64, i64)> {
        let (_, stderr) = self.feed(&["bench", &repeats.to_string()], points)?;
        let text = String::from_utf8(stderr)?;
        let (time, sum) = text.trim().split_once(' ').context("the harness prints time and sum")?;
        Ok((time.parse()?, sum.parse()?))
    }

    fn feed(&self, arguments: &[&str], points: &[Point]) -> anyhow::Result<(Vec<u8>, Vec<u8>)> {
        let mut harness = Command::new(&self.0)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let bytes: Vec<u8> = points.iter().flat_map(|point| encode(point).map(i32::to_le_bytes)).flatten().collect();
        // The harness reads all of its input before it writes, so writing everything first cannot deadlock.
        harness.stdin.take().context("standard input of the harness")?.write_all(&bytes)?;
        let output = harness.wait_with_output()?;
        ensure!(output.status.success(), "the harness ended with {}", output.status);
        Ok((output.stdout, output.stderr))
    }
}

fn encode(point: &Point) -> [i32; 24] {
    let SmLimits { capability, .. } = point.limits;
    let (limits, shape) = (point.limits, &point.shape);
    let signed = |value: u32| i32::try_from(value).expect("every input fits the header's int");
    let carveout = match shape.carveout {
        Carveout::Default => -1,
        Carveout::Percent(percent) => signed(percent),
        Carveout::Bytes(_) => unreachable!("the header takes no sizes; points have none"),
    };
    [
        i32::from(capability.major),
        i32::from(capability.minor),
        signed(limits.max_threads_per_block),
        signed(limits.max_threads_per_sm),
        signed(limits.registers_per_block),
        signed(limits.registers_per_sm),
        signed(SmLimits::WARP_SIZE),
        signed(limits.shared_per_block),
        signed(limits.shared_per_sm),
        1,
        signed(limits.shared_per_block_optin),
        signed(limits.shared_reserved_per_block),
        1024,
        signed(shape.registers_per_thread),
        signed(shape.shared_static),
        match shape.partitioned_caching {
            PartitionedCaching::Off => 0,
            PartitionedCaching::On => 1,
            PartitionedCaching::Strict => 2,
        },
        i32::from(shape.shared_opt_in),
        signed(shape.shared_dynamic),
        signed(shape.barriers),
        signed(shape.virtual_resources),
        0,
        carveout,
        signed(shape.threads_per_block),
        signed(shape.shared_dynamic),
    ]
}

fn decode(record: &[u8]) -> Answer {
    let field = |index: usize| {
        i32::from_le_bytes(record[index * 4..index * 4 + 4].try_into().expect("a record holds 12 numbers"))
    };
    Answer {
        status: field(0),
        blocks: field(1),
        registers: field(2),
        shared: field(3),
        warps: field(4),
        block_slots: field(5),
        barriers: field(6),
        virtuals: field(7),
        allocated_registers: field(8),
        allocated_shared: field(9),
        partitioned: field(10),
        factors: field(11),
    }
}
