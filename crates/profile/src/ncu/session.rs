//! Who made a report, on which GPUs. Host names, paths and the environment are there, too, and are not read.

use crate::error::ProfileError;
use crate::ncu::metric::Value;
use crate::wire::Slice;

/// A GPU of the profiled machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Device<'a> {
    /// Its number.
    pub number: u64,
    /// Its marketing name.
    pub name: &'a str,
    /// Attributes, such as `device__attribute_multiprocessor_count`.
    pub attributes: Vec<(&'a str, Value<'a>)>,
}

impl Device<'_> {
    /// An attribute as a number.
    #[must_use]
    pub fn number_of(&self, attribute: &str) -> Option<f64> {
        self.attributes.iter().find(|(name, _)| *name == attribute).and_then(|(_, value)| value.number())
    }
}

/// What a report says of the session that made it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Session<'a> {
    /// GPUs.
    pub devices: Vec<Device<'a>>,
    /// Versions by what they are of, such as `Nsight Compute Target`.
    pub versions: Vec<(&'a str, &'a str)>,
}

impl<'a> Session<'a> {
    /// Version of the profiler that measured, such as `2025.1.0.0`.
    #[must_use]
    pub fn profiler(&self) -> Option<&'a str> {
        let named = |wanted: &str| self.versions.iter().find(|(name, _)| *name == wanted);
        let (_, version) = named("Nsight Compute Target").or_else(|| named("Nsight Compute"))?;
        version.split_whitespace().next()
    }

    /// Adds what one block of the report says.
    pub(super) fn read(&mut self, message: Slice<'a>) -> Result<(), ProfileError> {
        for field in message.fields() {
            let field = field?;
            let Some(slice) = field.slice() else { continue };
            match field.number {
                6 => self.devices.push(device(slice)?),
                8 => self.versions.extend(pair(slice)?),
                _ => {}
            }
        }
        Ok(())
    }
}

fn device(message: Slice<'_>) -> Result<Device<'_>, ProfileError> {
    let mut device = Device::default();
    for field in message.fields() {
        let field = field?;
        match (field.number, field.slice()) {
            (1, None) => device.number = field.varint().unwrap_or(0),
            (2, Some(slice)) => device.name = slice.text("the name of a GPU")?,
            (3, Some(slice)) => device.attributes.extend(attribute(slice)?),
            _ => {}
        }
    }
    Ok(device)
}

fn attribute(message: Slice<'_>) -> Result<Option<(&str, Value<'_>)>, ProfileError> {
    let (mut name, mut value) = (None, Value::None);
    for field in message.fields() {
        let field = field?;
        match (field.number, field.slice()) {
            (1, Some(slice)) => name = Some(slice.text("a device attribute")?),
            (2, Some(slice)) => value = Value::read(slice)?,
            _ => {}
        }
    }
    Ok(name.map(|name| (name, value)))
}

fn pair(message: Slice<'_>) -> Result<Option<(&str, &str)>, ProfileError> {
    let (mut name, mut version) = (None, None);
    for field in message.fields() {
        let field = field?;
        match (field.number, field.slice()) {
            (1, Some(slice)) => name = Some(slice.text("a version")?),
            (2, Some(slice)) => version = Some(slice.text("a version")?),
            _ => {}
        }
    }
    Ok(name.zip(version))
}
