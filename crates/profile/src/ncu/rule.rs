//! What NVIDIA's own rules said of a launch.

use crate::error::ProfileError;
use crate::wire::Slice;

/// What kind of time a rule's speedup is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpeedupKind {
    /// Not said.
    Unknown,
    /// Of the part of the GPU that the rule looks at.
    Local,
    /// Of the whole kernel.
    Global,
}

/// A speedup that a rule estimates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speedup {
    /// Of what.
    pub kind: SpeedupKind,
    /// In percent.
    pub percent: f64,
}

/// One message of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// Its heading, where it has one.
    pub title: Option<&'a str>,
    /// The text.
    pub text: &'a str,
    /// 1 fine, 2 optimisation, 3 warning, 4 error, as in the reports.
    pub kind: u64,
}

/// The result of one rule.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rule<'a> {
    /// Identifier, such as `TheoreticalOccupancy`.
    pub identifier: &'a str,
    /// Name for people.
    pub name: &'a str,
    /// Identifier of the section it belongs to.
    pub section: &'a str,
    /// What it says; empty where it had nothing to say.
    pub messages: Vec<Message<'a>>,
    /// The speedup it estimates.
    pub speedup: Option<Speedup>,
}

impl<'a> Rule<'a> {
    pub(super) fn read(message: Slice<'a>) -> Result<Self, ProfileError> {
        let mut rule = Self::default();
        for field in message.fields() {
            let field = field?;
            let Some(slice) = field.slice() else { continue };
            match field.number {
                1 => rule.identifier = slice.text("the identifier of a rule")?,
                2 => rule.name = slice.text("the name of a rule")?,
                3 => rule.body(slice)?,
                4 => rule.section = slice.text("the section of a rule")?,
                _ => {}
            }
        }
        Ok(rule)
    }

    fn body(&mut self, body: Slice<'a>) -> Result<(), ProfileError> {
        for item in body.fields() {
            let Some(item) = of(item?, 1) else { continue };
            for field in item.fields() {
                let field = field?;
                match (field.number, field.slice()) {
                    (1, Some(slice)) => self.messages.push(read_message(slice)?),
                    (10, Some(slice)) => self.speedup = Some(read_speedup(slice)?),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

fn of(field: crate::wire::Field<'_>, number: u64) -> Option<Slice<'_>> {
    field.slice().filter(|_| field.number == number)
}

fn read_message(message: Slice<'_>) -> Result<Message<'_>, ProfileError> {
    let mut read = Message { title: None, text: "", kind: 0 };
    for field in message.fields() {
        let field = field?;
        match (field.number, field.slice()) {
            (1, Some(text)) => read.text = text.text("the text of a rule")?,
            (4, Some(title)) => read.title = Some(title.text("the title of a rule")?),
            (2, None) => read.kind = field.varint().unwrap_or(0),
            _ => {}
        }
    }
    Ok(read)
}

fn read_speedup(message: Slice<'_>) -> Result<Speedup, ProfileError> {
    let mut speedup = Speedup { kind: SpeedupKind::Unknown, percent: 0.0 };
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => {
                speedup.kind = match field.varint() {
                    Some(1) => SpeedupKind::Local,
                    Some(2) => SpeedupKind::Global,
                    _ => SpeedupKind::Unknown,
                };
            }
            2 => speedup.percent = field.double().unwrap_or(0.0),
            _ => {}
        }
    }
    Ok(speedup)
}
