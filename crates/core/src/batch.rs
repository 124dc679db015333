//! Occupancy of many shapes: CSV in, the same CSV with answers out, a line at a time.

use std::io::{Read, Write};

use csv::ByteRecord;
use occupant_hardware::{GpuSelector, Rules, SmLimits};
use occupant_occupancy::{BARRIERS_OF_A_BLOCK, Occupancy, Shape, occupancy};
use thiserror::Error;

use crate::printable::printable_bytes;
use crate::report::two_decimals;
use crate::shape::parse_carveout;
use crate::size::{parse_block, parse_size};
use crate::target::Target;

/// A batch that can't be worked at all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BatchError {
    /// Reading or writing CSV failed.
    #[error("not readable as CSV")]
    Csv(#[from] csv::Error),
    /// The output failed.
    #[error("reading or writing failed")]
    Io(#[from] std::io::Error),
    /// A column that means nothing.
    #[error("unknown column `{found}`: known are {KNOWN}")]
    UnknownColumn {
        /// The column as written.
        found: String,
    },
    /// Two columns for one value.
    #[error("column `{found}` and another stand for the same value")]
    ColumnTwice {
        /// The column as written.
        found: String,
    },
    /// An empty file.
    #[error("no header line: known columns are {KNOWN}")]
    NoHeader,
    /// No GPU anywhere.
    #[error("no column gpu or cc, and no --gpu")]
    NoGpu,
}

const KNOWN: &str = "gpu, cc, registers, block, shared_static, shared_dynamic, barriers, virtual_resources, carveout, \
                     and kernel or label to carry along";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Gpu,
    Registers,
    Block,
    SharedStatic,
    SharedDynamic,
    Barriers,
    VirtualResources,
    Carveout,
    CarriedAlong,
}

impl Column {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "gpu" | "cc" => Self::Gpu,
            "registers" | "regs" => Self::Registers,
            "block" => Self::Block,
            "shared_static" | "smem_static" => Self::SharedStatic,
            "shared_dynamic" | "smem_dynamic" => Self::SharedDynamic,
            "barriers" => Self::Barriers,
            "virtual_resources" => Self::VirtualResources,
            "carveout" => Self::Carveout,
            "kernel" | "label" => Self::CarriedAlong,
            _ => return None,
        })
    }
}

/// The columns of a batch, from its header.
#[derive(Debug, Clone)]
pub struct BatchColumns(Vec<Column>);

impl BatchColumns {
    /// Reads the header line.
    ///
    /// # Errors
    /// [`BatchError::UnknownColumn`]: a misspelt column must not pass for a value of 0.
    pub fn from_header(header: &ByteRecord) -> Result<Self, BatchError> {
        let column = |field: &[u8]| {
            let name = String::from_utf8_lossy(field).trim_start_matches('\u{feff}').trim().to_ascii_lowercase();
            Column::from_name(&name).ok_or(BatchError::UnknownColumn { found: name })
        };
        let columns: Vec<Column> = header.iter().map(column).collect::<Result<_, _>>()?;
        let twice =
            |column: &Column| *column != Column::CarriedAlong && columns.iter().filter(|c| *c == column).count() > 1;
        match columns.iter().position(twice) {
            Some(at) => {
                let found = String::from_utf8_lossy(header.get(at).unwrap_or(b"")).into_owned();
                Err(BatchError::ColumnTwice { found })
            }
            None if columns.is_empty() => Err(BatchError::NoHeader),
            None => Ok(Self(columns)),
        }
    }
}

/// How many lines were worked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BatchSummary {
    /// Lines answered.
    pub answered: u64,
    /// Lines that could not be read; their results are empty.
    pub failed: u64,
}

/// Names of the result columns.
const RESULTS: [&str; 5] = ["launchable", "blocks_per_sm", "warps_per_sm", "percent", "limiters"];

impl BatchColumns {
    /// Works a batch from `input` to `output`. Opt-in shared memory is taken as set. `complain` is told each line that
    /// can't be read, with what is wrong.
    ///
    /// # Errors
    /// [`BatchError`] where the header is unusable or the streams fail.
    pub fn work(
        input: impl Read,
        output: impl Write,
        gpu: Option<&GpuSelector>,
        base: Shape,
        rules: Rules,
        complain: &mut dyn FnMut(u64, &str),
    ) -> Result<BatchSummary, BatchError> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(input);
        let mut writer = csv::Writer::from_writer(output);
        let header = reader.byte_headers()?.clone();
        let columns = Self::from_header(&header)?;
        let default = gpu.and_then(|gpu| Target::named(gpu, rules).ok()).map(|target| target.limits);
        if default.is_none() && !columns.0.contains(&Column::Gpu) {
            return Err(BatchError::NoGpu);
        }
        let width = header.len();
        let mut out: ByteRecord = header.iter().map(printable_bytes).collect();
        RESULTS.iter().for_each(|name| out.push_field(name.as_bytes()));
        writer.write_byte_record(&out)?;

        let mut gpus = GpuCache { rules, known: Vec::new() };
        let mut record = ByteRecord::new();
        let mut done = BatchSummary::default();
        let mut text = Vec::with_capacity(64);
        while reader.read_byte_record(&mut record)? {
            let answer = columns.answer(&record, base, default, &mut gpus);
            out.clear();
            (0..width).for_each(|column| out.push_field(&printable_bytes(record.get(column).unwrap_or(b""))));
            match answer {
                Ok(answer) => {
                    done.answered += 1;
                    push_answer(&mut out, &answer, &mut text);
                }
                Err(wrong) => {
                    done.failed += 1;
                    complain(record.position().map_or(0, csv::Position::line), &wrong);
                    RESULTS.iter().for_each(|_| out.push_field(b""));
                }
            }
            writer.write_byte_record(&out)?;
        }
        writer.flush()?;
        Ok(done)
    }

    /// The answer to one line.
    fn answer(
        &self,
        record: &ByteRecord,
        base: Shape,
        default: Option<&'static SmLimits>,
        gpus: &mut GpuCache,
    ) -> Result<Occupancy, String> {
        if record.len() != self.0.len() {
            return Err(format!("{} fields, the header has {}", record.len(), self.0.len()));
        }
        let mut limits = default;
        let mut shape = base;
        for (column, field) in self.0.iter().zip(record) {
            let field = field.trim_ascii();
            if field.is_empty() || *column == Column::CarriedAlong {
                continue;
            }
            match column {
                Column::Gpu => limits = Some(gpus.get(field)?),
                Column::Registers => shape.registers_per_thread = number(field)?,
                Column::Block => shape.threads_per_block = block(field)?,
                Column::SharedStatic => shape.shared_static = size(field)?,
                Column::SharedDynamic => shape.shared_dynamic = size(field)?,
                Column::Barriers => shape.barriers = number(field)?,
                Column::VirtualResources => shape.virtual_resources = number(field)?,
                Column::Carveout => {
                    shape.carveout = parse_carveout(&text(field)).map_err(|error| error.to_string())?;
                }
                Column::CarriedAlong => {}
            }
        }
        let limits = limits.ok_or_else(|| "no GPU on this line, and no --gpu".to_owned())?;
        let answer = occupancy(limits, &shape).map_err(|error| error.to_string())?;
        // The one refusal of such a shape that is no ceiling.
        let blocks_per_sm = if shape.barriers > BARRIERS_OF_A_BLOCK { 0 } else { answer.blocks_per_sm };
        Ok(Occupancy { blocks_per_sm, ..answer })
    }
}

/// GPUs by the names that the batch gives them; a batch has few.
struct GpuCache {
    rules: Rules,
    known: Vec<(Vec<u8>, &'static SmLimits)>,
}

impl GpuCache {
    fn get(&mut self, field: &[u8]) -> Result<&'static SmLimits, String> {
        if let Some((_, limits)) = self.known.iter().find(|(name, _)| name == field) {
            return Ok(limits);
        }
        let selector: GpuSelector = text(field).parse().map_err(|error: crate::UnknownGpu| error.to_string())?;
        let limits = Target::named(&selector, self.rules).map_err(|error| error.to_string())?.limits;
        self.known.push((field.to_vec(), limits));
        Ok(limits)
    }
}

fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(field).into_owned()
}

fn number(field: &[u8]) -> Result<u32, String> {
    let parsed = std::str::from_utf8(field).ok().and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| format!("`{}` is no whole number", text(field)))
}

fn block(field: &[u8]) -> Result<u32, String> {
    number(field).or_else(|_| parse_block(&text(field)).map_err(|error| error.to_string()))
}

fn size(field: &[u8]) -> Result<u32, String> {
    number(field).or_else(|_| parse_size(&text(field)).map_err(|error| error.to_string()))
}

fn push_answer(out: &mut ByteRecord, answer: &Occupancy, text: &mut Vec<u8>) {
    // A batch has no tensor memory and no clusters, so a shape can launch exactly where a block fits.
    out.push_field(if answer.blocks_per_sm > 0 { b"true" } else { b"false" });
    let mut push = |arguments: std::fmt::Arguments<'_>| {
        text.clear();
        // A vector takes everything that is written to it.
        let _ = text.write_fmt(arguments);
        out.push_field(text);
    };
    push(format_args!("{}", answer.blocks_per_sm));
    push(format_args!("{}", answer.warps_per_sm()));
    push(format_args!("{:?}", two_decimals(answer.percent())));
    text.clear();
    // A launch that is refused by no ceiling has no limiter.
    let by_ceiling = answer.blocks_per_sm == answer.ceilings.minimum();
    for resource in answer.limiters().iter().filter(|_| by_ceiling) {
        if !text.is_empty() {
            text.push(b'+');
        }
        text.extend_from_slice(resource.name().as_bytes());
    }
    out.push_field(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(input: &str, gpu: Option<&str>) -> (String, Vec<(u64, String)>) {
        let gpu: Option<GpuSelector> = gpu.map(|gpu| gpu.parse().unwrap());
        let mut output = Vec::new();
        let mut wrong = Vec::new();
        let complain = &mut |line, what: &str| wrong.push((line, what.to_owned()));
        let base = Shape::default();
        BatchColumns::work(input.as_bytes(), &mut output, gpu.as_ref(), base, Rules::default(), complain).unwrap();
        (String::from_utf8(output).unwrap(), wrong)
    }

    #[test]
    fn answers_line_by_line() {
        let (output, wrong) =
            work("cc,registers,block,shared_dynamic\n9.0,128,256,48K\nh100-sxm,32,1024,0\n12.0,134,512,0\n", None);
        assert_eq!(
            output,
            "cc,registers,block,shared_dynamic,launchable,blocks_per_sm,warps_per_sm,percent,limiters\n\
             9.0,128,256,48K,true,2,16,25.0,registers\n\
             h100-sxm,32,1024,0,true,2,64,100.0,warps+registers\n\
             12.0,134,512,0,false,0,0,0.0,registers\n"
        );
        assert!(wrong.is_empty());
        let (output, _) = work("cc,block,barriers\n9.0,64,16\n9.0,64,17\n8.0,64,17\n", None);
        assert!(output.contains("9.0,64,16,true,4,") && output.contains("9.0,64,17,false,0,0,0.0,\n"), "{output}");
        assert!(output.contains("8.0,64,17,false,0,0,0.0,\n"), "{output}");
    }

    #[test]
    fn what_is_carried_along_moves_no_cursor() {
        let (output, wrong) =
            work("label,kernel,block\n\u{1b}[31mred,\"a\0b\nc\",128\n\u{1b}[2J,größer,\u{1b}c\n", Some("h100"));
        let lines: Vec<&str> = output.lines().collect();
        assert!(lines[1].starts_with("\\u{1b}[31mred,a\\u{0}b\\nc,128,true,16,"), "{output}");
        assert_eq!(lines[2], "\\u{1b}[2J,größer,\\u{1b}c,,,,,");
        assert_eq!((lines.len(), wrong.len()), (3, 1));
    }

    #[test]
    fn a_bad_line_gets_empty_results_and_the_rest_is_done() {
        let (output, wrong) = work("kernel,block\na,128\nb,many\nc,0\nd,1,2\ne,64\n", Some("h100"));
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(lines[2], "b,many,,,,,");
        assert!(lines[1].starts_with("a,128,true,16,64,100.0,") && lines[5].starts_with("e,64,true,32,"));
        assert_eq!(wrong.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3, 4, 5]);
    }

    #[test]
    fn a_misspelt_column_is_refused() {
        let run = |header: &str| {
            BatchColumns::work(header.as_bytes(), Vec::new(), None, Shape::default(), Rules::default(), &mut |_, _| {})
        };
        assert!(run("cc,registres\n").unwrap_err().to_string().contains("unknown column `registres`"));
        assert!(matches!(run("registers,block\n"), Err(BatchError::NoGpu)));
        assert!(matches!(run(""), Err(BatchError::NoHeader)));
        assert!(matches!(run("cc,gpu\n"), Err(BatchError::ColumnTwice { .. })));
    }
}
