//! Reads one tuning space: every configuration with its measured time and the occupancy that the project's engine gives
//! it. Not for: what the numbers say; that is [`super::statistics`].

use anyhow::{Context, ensure};
use occupant_hardware::{ComputeCapability, SmLimits, limits};
use occupant_occupancy::{Shape, occupancy};
use serde::Deserialize;

/// Registers per thread that are assumed, since the source does not record any. 32 never bind on compute capability 8.0
/// and 8.6: their register files hold 32 for every thread of full warp slots. So the occupancy is an upper bound.
const REGISTERS: u32 = 32;
/// Shared memory has this many banks, each 4 bytes wide; the kernel pads its rows to them.
const BANKS: u32 = 32;
const FLOAT_BYTES: u32 = 4;

/// A part of a data file that is looked at on its own.
pub(super) struct Part {
    pub(super) kernel: &'static str,
    pub(super) gpu: &'static str,
    /// Which rows these are, in Markdown.
    pub(super) rows: &'static str,
    /// In `xtask/data/tuning`.
    pub(super) file: &'static str,
    /// The GPU's compute capability, major and minor.
    pub(super) capability: (u8, u8),
    /// Only the rows whose blocks keep their input in shared memory.
    pub(super) only_shared: bool,
    /// It is a panel of the picture.
    pub(super) pictured: bool,
}

/// A configuration that ran.
pub(super) struct Configuration {
    /// Theoretical occupancy, 0 to 100.
    pub(super) occupancy: f64,
    /// Milliseconds.
    pub(super) time: f64,
}

/// A part as read, in the order of the file.
pub(super) struct Space {
    pub(super) configurations: Vec<Configuration>,
    /// Configurations that did not compile or did not run.
    pub(super) invalid: usize,
}

/// A row of a data file. What a kernel does not have is missing there.
#[derive(Deserialize)]
struct Row {
    block_size_x: u32,
    block_size_y: u32,
    block_size_z: Option<u32>,
    tile_size_x: u32,
    tile_size_y: u32,
    use_shmem: Option<u32>,
    use_padding: Option<u32>,
    filter_width: Option<u32>,
    filter_height: Option<u32>,
    time_ms: Option<f64>,
    invalid: String,
}

impl Row {
    fn uses_shared(&self) -> bool {
        self.use_shmem == Some(1)
    }

    fn threads_per_block(&self) -> u32 {
        self.block_size_x * self.block_size_y * self.block_size_z.unwrap_or(1)
    }

    /// Static shared memory of a block in bytes: the part of the image that its threads read, in floats.
    ///
    /// The rule is that of `kernels/convolution_milo.cu` in `AutoTuningAssociation/benchmark_hub` at commit 8eeb99e7
    /// (`sh_input`, `shared_mem_width` and `padding_columns`): where padding is on and `block_size_x` is no multiple of
    /// 32, a row is made longer until what it has beyond `block_size_x` is one.
    fn shared_bytes(&self) -> u32 {
        if !self.uses_shared() {
            return 0;
        }
        let border = |filter: Option<u32>| filter.unwrap_or(1) / 2 * 2;
        let mut width = self.block_size_x * self.tile_size_x + border(self.filter_width);
        let height = self.block_size_y * self.tile_size_y + border(self.filter_height);
        if self.use_padding == Some(1) && !self.block_size_x.is_multiple_of(BANKS) {
            width = self.block_size_x + (width - self.block_size_x).next_multiple_of(BANKS);
        }
        width * height * FLOAT_BYTES
    }

    /// Theoretical occupancy, 0 to 100. A configuration that ran must have one.
    fn occupancy(&self, limits: &SmLimits) -> anyhow::Result<f64> {
        let shape = Shape {
            registers_per_thread: REGISTERS,
            threads_per_block: self.threads_per_block(),
            shared_static: self.shared_bytes(),
            ..Shape::default()
        };
        let answer = occupancy(limits, &shape)?;
        ensure!(
            answer.blocks_per_sm > 0,
            "it ran, but {} threads with {} bytes do not fit",
            shape.threads_per_block,
            shape.shared_static
        );
        Ok(answer.percent())
    }
}

/// The rows of `text` (CSV) that belong to `part`.
pub(super) fn read(text: &str, part: &Part) -> anyhow::Result<Space> {
    let limits = limits(ComputeCapability::new(part.capability.0, part.capability.1))?;
    let mut space = Space { configurations: Vec::new(), invalid: 0 };
    for (number, row) in csv::Reader::from_reader(text.as_bytes()).deserialize().enumerate() {
        let place = || format!("{}, line {}", part.file, number + 2);
        let row: Row = row.with_context(place)?;
        if part.only_shared && !row.uses_shared() {
            continue;
        }
        match row.time_ms {
            Some(time) => {
                ensure!(time > 0.0 && row.invalid.is_empty(), "{}: a time, and yet invalid", place());
                let occupancy = row.occupancy(limits).with_context(place)?;
                space.configurations.push(Configuration { occupancy, time });
            }
            None => {
                ensure!(!row.invalid.is_empty(), "{}: no time, and no reason for that", place());
                space.invalid += 1;
            }
        }
    }
    ensure!(!space.configurations.is_empty(), "{} has no configuration that ran", part.file);
    Ok(space)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(block: (u32, u32), tile: (u32, u32), use_padding: u32) -> Row {
        Row {
            block_size_x: block.0,
            block_size_y: block.1,
            block_size_z: None,
            tile_size_x: tile.0,
            tile_size_y: tile.1,
            use_shmem: Some(1),
            use_padding: Some(use_padding),
            filter_width: Some(15),
            filter_height: Some(15),
            time_ms: None,
            invalid: String::new(),
        }
    }

    /// What ptxas 13.5 says of the kernel, compiled with these parameters.
    #[test]
    fn shared_memory_of_a_block() {
        assert_eq!(row((48, 4), (4, 4), 1).shared_bytes(), 24_960);
        assert_eq!(row((112, 4), (1, 4), 1).shared_bytes(), 17_280);
        assert_eq!(row((208, 4), (1, 3), 1).shared_bytes(), 24_960);
        assert_eq!(row((16, 2), (4, 2), 1).shared_bytes(), 5_760);
        assert_eq!(row((144, 2), (2, 2), 0).shared_bytes(), 21_744);
    }

    #[test]
    fn padding_where_it_helps() {
        assert_eq!(row((16, 1), (1, 1), 0).shared_bytes(), (16 + 14) * 15 * 4);
        assert_eq!(row((16, 1), (1, 1), 1).shared_bytes(), (16 + 32) * 15 * 4);
        // A multiple of 32 needs no padding, and neither does a row whose rest is one already.
        assert_eq!(row((32, 2), (1, 1), 1).shared_bytes(), row((32, 2), (1, 1), 0).shared_bytes());
        assert_eq!(row((18, 1), (2, 1), 1).shared_bytes(), row((18, 1), (2, 1), 0).shared_bytes());
        assert_eq!(Row { use_shmem: Some(0), ..row((48, 4), (4, 4), 0) }.shared_bytes(), 0);
        assert_eq!(Row { use_shmem: None, ..row((48, 4), (4, 4), 0) }.shared_bytes(), 0);
    }

    const PART: Part = Part {
        kernel: "",
        gpu: "",
        rows: "",
        file: "made.csv",
        capability: (8, 0),
        only_shared: false,
        pictured: true,
    };
    const HEAD: &str = "block_size_x,block_size_y,tile_size_x,tile_size_y,use_padding,use_shmem,filter_height,filter_width,time_ms,invalid\n";

    #[test]
    fn a_space_is_read() {
        let text = format!("{HEAD}256,4,1,1,0,0,15,15,2.5,\n256,4,4,4,0,1,15,15,,runtime\n16,2,1,1,0,1,15,15,4,\n");
        let space = read(&text, &PART).expect("reads");
        assert_eq!((space.configurations.len(), space.invalid), (2, 1));
        assert_eq!(space.configurations.iter().map(|it| it.time).collect::<Vec<_>>(), [2.5, 4.0]);
        // 1024 threads twice fill the SM; a block of one warp is held to 32 of 64 warps by the block slots.
        assert_eq!(space.configurations.iter().map(|it| it.occupancy).collect::<Vec<_>>(), [100.0, 50.0]);
        let shared = read(&text, &Part { only_shared: true, ..PART }).expect("reads");
        assert_eq!((shared.configurations.len(), shared.invalid), (1, 1));
    }

    #[test]
    fn a_space_without_shared_memory_is_read() {
        let text = "block_size_x,block_size_y,block_size_z,tile_size_x,tile_size_y,time_ms,invalid\n32,8,4,1,1,1,\n";
        let space = read(text, &PART).expect("reads");
        assert_eq!(space.configurations[0].occupancy, 100.0);
    }

    #[test]
    fn rows_that_contradict_themselves_are_refused() {
        for row in
            ["16,2,1,1,0,0,15,15,,", "16,2,1,1,0,0,15,15,1,runtime", "1024,2,1,1,0,0,15,15,1,", "16,2,x,1,0,0,15,15,1,"]
        {
            let error = read(&format!("{HEAD}{row}\n"), &PART).err().expect("refused");
            assert!(error.to_string().starts_with("made.csv, line 2"), "{error}");
        }
        assert!(read(HEAD, &PART).is_err());
    }
}
