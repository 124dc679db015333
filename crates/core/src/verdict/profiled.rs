//! A measured launch joined with the code that its report carries. Not for: judging either.

use occupant_binary::{Cubin, Function, LineOf, lines};
use occupant_hardware::Gpu;
use occupant_profile::Measurement;
use occupant_profile::ncu::{Launch, Report};
use occupant_sass::{Analysis, Code, Decoder, INSTRUCTION_BYTES};

use crate::taken_apart::{Landmarks, taken_apart};

/// A launch with what is known of its code.
#[derive(Debug, Clone)]
pub struct Profiled {
    /// What was measured.
    pub measured: Measurement,
    /// The GPU model, where its name and size say which.
    pub gpu: Option<&'static Gpu>,
    /// What the binary fixes; `None` where the report carries none of it.
    pub function: Option<Function>,
    /// Its machine code, taken apart, or why there is none.
    pub code: Result<Analysis, String>,
    /// Its source lines, by offset; empty where it was compiled without `-lineinfo` and `-G`.
    pub lines: Vec<LineOf>,
}

impl Profiled {
    /// A launch without code, as from CSV.
    #[must_use]
    pub fn without_code(measured: Measurement) -> Self {
        let gpu = measured.model();
        Self {
            measured,
            gpu,
            function: None,
            code: Err("the file carries no machine code".to_owned()),
            lines: Vec::new(),
        }
    }

    /// A launch of a report, with the code of its module.
    #[must_use]
    pub fn of(report: &Report<'_>, launch: &Launch<'_>) -> Self {
        let measured = report.measurement(launch);
        let bytes = report.module(launch).and_then(|module| module.cubin);
        let found = match bytes {
            None => Err("the report carries no machine code: it was stripped, or profiled without sources".to_owned()),
            Some(bytes) => function(bytes, launch.mangled),
        };
        let gpu = measured.model();
        match found {
            Ok((function, code)) => {
                // A damaged line table takes nothing from the rest.
                let lines = bytes.and_then(|bytes| lines(&bytes, &function).ok()).unwrap_or_default();
                Self { measured, gpu, function: Some(function), code, lines }
            }
            Err(reason) => Self { measured, gpu, function: None, code: Err(reason), lines: Vec::new() },
        }
    }

    /// Values of a metric for each instruction, in the order of the code; 0 where it lists none.
    #[must_use]
    pub fn by_number(&self, metric: &str) -> Option<Vec<f64>> {
        let analysis = self.code.as_ref().ok()?;
        let listed = self.measured.by_instruction(metric);
        if listed.is_empty() {
            return None;
        }
        let mut values = vec![0.0; analysis.instructions.len()];
        for (offset, value) in listed {
            let number = usize::try_from(*offset).ok().map(|offset| offset / INSTRUCTION_BYTES);
            if let Some(place) = number.and_then(|number| values.get_mut(number)) {
                *place += value;
            }
        }
        Some(values)
    }
}

/// A kernel of a cubin by its mangled name, with its code.
fn function(bytes: &[u8], name: &str) -> Result<(Function, Result<Analysis, String>), String> {
    let cubin = Cubin::parse(&bytes).map_err(|error| format!("the machine code in the report: {error}"))?;
    let found = cubin.functions.into_iter().find(|function| function.name == name);
    let function = found.ok_or_else(|| format!("the machine code in the report has no kernel `{name}`"))?;
    let analysis = analysis(&function, bytes, cubin.architecture.capability);
    Ok((function, analysis))
}

fn analysis(
    function: &Function,
    bytes: &[u8],
    capability: occupant_hardware::ComputeCapability,
) -> Result<Analysis, String> {
    let decoder = Decoder::new(capability).map_err(|reason| reason.to_string())?;
    let code = function.read_code(&bytes).map_err(|error| error.to_string())?;
    taken_apart(&Code::new(decoder, &code), &Landmarks::of(function).known())
}
