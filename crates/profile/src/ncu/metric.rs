//! Metrics of a launch: a value, and its instances by correlation, such as one an instruction.

use crate::error::ProfileError;
use crate::wire::{Field, Payload, Slice};

/// What a metric or one of its instances holds, as the report stores it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Value<'a> {
    /// Nothing: the metric was asked for and has no value.
    #[default]
    None,
    /// Text.
    Text(&'a str),
    /// A float of 32 bits.
    Float(f32),
    /// A float of 64 bits.
    Double(f64),
    /// An unsigned number of 32 bits.
    Unsigned32(u32),
    /// An unsigned number of 64 bits.
    Unsigned64(u64),
}

impl<'a> Value<'a> {
    /// As a number, whatever its width; `None` of text.
    #[must_use]
    pub fn number(self) -> Option<f64> {
        match self {
            Self::None | Self::Text(_) => None,
            Self::Float(value) => Some(f64::from(value)),
            Self::Double(value) => Some(value),
            Self::Unsigned32(value) => Some(f64::from(value)),
            Self::Unsigned64(value) => Some(value as f64),
        }
    }

    /// As a whole number; `None` of text and of what has a fraction.
    #[must_use]
    pub fn whole(self) -> Option<u64> {
        match self {
            Self::Unsigned32(value) => Some(u64::from(value)),
            Self::Unsigned64(value) => Some(value),
            other => other.number().filter(|value| *value >= 0.0 && value.fract() == 0.0).map(|value| value as u64),
        }
    }

    /// Its text.
    #[must_use]
    pub const fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn read(message: Slice<'a>) -> Result<Self, ProfileError> {
        let mut value = Self::None;
        for field in message.fields() {
            let Field { number, payload } = field?;
            value = match (number, payload) {
                (1, Payload::Bytes(text)) => Self::Text(text.text("the text of a metric")?),
                (2, Payload::Fixed32(bytes)) => Self::Float(f32::from_le_bytes(bytes)),
                (3, Payload::Fixed64(bytes)) => Self::Double(f64::from_le_bytes(bytes)),
                (4, Payload::Varint(number)) => Self::Unsigned32(number as u32),
                (5, Payload::Varint(number)) => Self::Unsigned64(number),
                _ => value,
            };
        }
        Ok(value)
    }
}

/// One of a metric's instances.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Instance<'a> {
    /// What it belongs to: an address, a register count, a name.
    pub correlation: Value<'a>,
    /// Its value.
    pub value: Value<'a>,
}

/// A metric of a launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric<'a> {
    /// Its name, such as `sm__warps_active.avg.pct_of_peak_sustained_active`.
    pub name: &'a str,
    /// The value of the whole launch.
    pub value: Value<'a>,
    /// Its instances, in the order of the report.
    pub instances: Vec<Instance<'a>>,
}

impl<'a> Metric<'a> {
    /// Reads the record of a metric; `names` is the report's table.
    pub(super) fn read(message: Slice<'a>, names: &[&'a str]) -> Result<Self, ProfileError> {
        let mut metric = Self { name: "", value: Value::None, instances: Vec::new() };
        for field in message.fields() {
            let field = field?;
            match (field.number, field.payload) {
                (1, Payload::Varint(number)) => {
                    let name = usize::try_from(number).ok().and_then(|at| names.get(at));
                    let Some(name) = name else {
                        let found = format!("metric name {number} of a table of {}", names.len());
                        return Err(ProfileError::Malformed { what: "a metric", offset: message.offset, found });
                    };
                    metric.name = name;
                }
                (2, Payload::Bytes(value)) => metric.value = Value::read(value)?,
                (3, Payload::Bytes(element)) => metric.instances.push(Self::instance(element)?),
                _ => {}
            }
        }
        Ok(metric)
    }

    fn instance(message: Slice<'a>) -> Result<Instance<'a>, ProfileError> {
        let mut instance = Instance::default();
        for field in message.fields() {
            let field = field?;
            match (field.number, field.payload) {
                (1, Payload::Bytes(value)) => instance.correlation = Value::read(value)?,
                (2, Payload::Bytes(value)) => instance.value = Value::read(value)?,
                _ => {}
            }
        }
        Ok(instance)
    }
}
