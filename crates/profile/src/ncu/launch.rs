//! One profiled launch: names, shape, metrics, rule results.

use crate::error::ProfileError;
use crate::ncu::metric::{Metric, Value};
use crate::ncu::rule::Rule;
use crate::wire::{Payload, Slice};

/// What a result is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Workload {
    /// One kernel launch.
    #[default]
    Kernel,
    /// A range of several launches.
    Range,
    /// A command list.
    CommandList,
    /// A CUDA graph.
    Graph,
}

/// A result of a report.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Launch<'a> {
    /// A kernel, or several together.
    pub workload: Workload,
    /// Name as the binary has it; empty of a range.
    pub mangled: &'a str,
    /// Name of the function without arguments.
    pub function: &'a str,
    /// Name with types.
    pub demangled: &'a str,
    /// Blocks along x, y, z; in reports before 2020.2, threads.
    pub grid: [u64; 3],
    /// Threads of a block along x, y, z.
    pub block: [u64; 3],
    /// Number of the [`super::Module`] that was loaded.
    pub module: Option<u64>,
    /// Metrics in the order of the report; a name can come twice.
    pub metrics: Vec<Metric<'a>>,
    /// What NVIDIA's rules said.
    pub rules: Vec<Rule<'a>>,
}

impl<'a> Launch<'a> {
    /// A metric by its name. Of several with one name, from several passes, the last counts, as for NVIDIA's reader.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<&Metric<'a>> {
        self.metrics.iter().rfind(|metric| metric.name == name)
    }

    /// A metric's value as a number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        self.metric(name).and_then(|metric| metric.value.number())
    }

    /// A metric's value as text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.metric(name).and_then(|metric| metric.value.text())
    }

    /// A metric's value as a whole number.
    #[must_use]
    pub fn whole(&self, name: &str) -> Option<u64> {
        self.metric(name).map_or(Value::None, |metric| metric.value).whole()
    }

    /// Reads the result of a kernel.
    pub(super) fn of_kernel(message: Slice<'a>, names: &[&'a str]) -> Result<Self, ProfileError> {
        let mut launch = Self::default();
        for field in message.fields() {
            let field = field?;
            let Payload::Bytes(slice) = field.payload else { continue };
            match field.number {
                5 => launch.mangled = slice.text("the name of a kernel")?,
                6 => launch.function = slice.text("the name of a kernel")?,
                7 => launch.demangled = slice.text("the name of a kernel")?,
                10 => launch.grid = dimensions(slice)?,
                11 => launch.block = dimensions(slice)?,
                13 => launch.metrics.push(Metric::read(slice, names)?),
                15 => launch.module = reference(slice)?,
                19 => launch.rules.push(Rule::read(slice)?),
                31 => launch.demangled = renamed(launch.demangled, slice)?,
                _ => {}
            }
        }
        // A kernel without C++ types has no other name.
        if launch.demangled.is_empty() {
            launch.demangled = launch.function;
        }
        Ok(launch)
    }

    /// Reads the result of a range, a command list or a graph.
    pub(super) fn of_several(message: Slice<'a>, names: &[&'a str], workload: Workload) -> Result<Self, ProfileError> {
        let mut launch = Self { workload, ..Self::default() };
        for field in message.fields() {
            let field = field?;
            if let (4, Payload::Bytes(slice)) = (field.number, field.payload) {
                launch.metrics.push(Metric::read(slice, names)?);
            }
        }
        Ok(launch)
    }
}

/// The name that the user gave a kernel, where there is one.
fn renamed<'a>(before: &'a str, slice: Slice<'a>) -> Result<&'a str, ProfileError> {
    let name = slice.text("the name of a kernel")?;
    Ok(if name.is_empty() { before } else { name })
}

fn dimensions(message: Slice<'_>) -> Result<[u64; 3], ProfileError> {
    let mut found = [1; 3];
    for field in message.fields() {
        let field = field?;
        let place = usize::try_from(field.number).ok().and_then(|number| number.checked_sub(1));
        if let (Some(place), Some(value)) = (place.and_then(|place| found.get_mut(place)), field.varint()) {
            *place = value;
        }
    }
    Ok(found)
}

fn reference(message: Slice<'_>) -> Result<Option<u64>, ProfileError> {
    for field in message.fields() {
        let field = field?;
        if field.number == 1 {
            return Ok(field.varint());
        }
    }
    Ok(None)
}
