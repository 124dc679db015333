//! The wire format of protocol buffers, read and written: a message is a run of numbered fields. Not for: what the fields
//! mean.

use crate::error::ProfileError;

/// A stretch of the file that remembers where it starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slice<'a> {
    pub(crate) bytes: &'a [u8],
    /// Offset of its first byte in the file.
    pub(crate) offset: usize,
}

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Payload<'a> {
    Varint(u64),
    Fixed64([u8; 8]),
    Fixed32([u8; 4]),
    Bytes(Slice<'a>),
}

/// One field of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'a> {
    pub(crate) number: u64,
    pub(crate) payload: Payload<'a>,
}

impl<'a> Slice<'a> {
    /// The fields of a message. After an error there are no more.
    pub(crate) const fn fields(self) -> Fields<'a> {
        Fields { rest: self }
    }

    /// The first `length` bytes and what follows them.
    #[inline]
    pub(crate) fn split(self, length: u64, what: &'static str) -> Result<(Self, Self), ProfileError> {
        let cut = usize::try_from(length).ok().and_then(|length| self.bytes.split_at_checked(length));
        let Some((head, tail)) = cut else {
            let available = self.bytes.len();
            return Err(ProfileError::Truncated { what, offset: self.offset, needed: length, available });
        };
        let after = self.offset.saturating_add(head.len());
        Ok((Self { bytes: head, offset: self.offset }, Self { bytes: tail, offset: after }))
    }

    /// Four bytes, little endian, and what follows them.
    pub(crate) fn word(self, what: &'static str) -> Result<(u32, Self), ProfileError> {
        let (head, tail) = self.split(4, what)?;
        Ok((head.bytes.try_into().map_or(0, u32::from_le_bytes), tail))
    }

    /// Its text.
    pub(crate) fn text(self, what: &'static str) -> Result<&'a str, ProfileError> {
        let found = |_| ProfileError::Malformed { what, offset: self.offset, found: "no UTF-8".to_owned() };
        std::str::from_utf8(self.bytes).map_err(found)
    }

    #[inline]
    fn varint(self) -> Result<(u64, Self), ProfileError> {
        // Most numbers are below 128: keys, lengths of values.
        if let Some((first, rest)) = self.bytes.split_first()
            && *first < 0x80
        {
            return Ok((u64::from(*first), Self { bytes: rest, offset: self.offset.saturating_add(1) }));
        }
        self.long_varint()
    }

    fn long_varint(self) -> Result<(u64, Self), ProfileError> {
        let mut value = 0_u64;
        for (at, byte) in self.bytes.iter().enumerate().take(10) {
            let shift = at.saturating_mul(7) as u32;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                let (_, rest) = self.split((at as u64).saturating_add(1), "a number")?;
                return Ok((value, rest));
            }
        }
        let (offset, available) = (self.offset, self.bytes.len());
        Err(match available {
            0..10 => ProfileError::Truncated {
                what: "a number",
                offset,
                needed: (available as u64).saturating_add(1),
                available,
            },
            _ => ProfileError::Malformed { what: "a number", offset, found: "more than ten bytes".to_owned() },
        })
    }
}

/// Iterates over the fields of a message.
#[derive(Debug, Clone)]
pub(crate) struct Fields<'a> {
    rest: Slice<'a>,
}

impl<'a> Fields<'a> {
    #[inline]
    fn step(&mut self) -> Result<Field<'a>, ProfileError> {
        let start = self.rest.offset;
        let (key, rest) = self.rest.varint()?;
        let (payload, rest) = match key & 7 {
            0 => rest.varint().map(|(value, rest)| (Payload::Varint(value), rest))?,
            1 => {
                let (head, rest) = rest.split(8, "a field of 8 bytes")?;
                (Payload::Fixed64(head.bytes.try_into().unwrap_or_default()), rest)
            }
            2 => {
                let (length, rest) = rest.varint()?;
                let (head, rest) = rest.split(length, "a field")?;
                (Payload::Bytes(head), rest)
            }
            5 => {
                let (head, rest) = rest.split(4, "a field of 4 bytes")?;
                (Payload::Fixed32(head.bytes.try_into().unwrap_or_default()), rest)
            }
            kind => {
                let found = format!("field {} has wire type {kind}, which reports don't use", key >> 3);
                return Err(ProfileError::Malformed { what: "a field", offset: start, found });
            }
        };
        self.rest = rest;
        Ok(Field { number: key >> 3, payload })
    }
}

impl<'a> Fields<'a> {
    /// The next field with the bytes that it is written in, so that it can be kept as it is.
    pub(crate) fn written(&mut self) -> Option<Result<(Field<'a>, &'a [u8]), ProfileError>> {
        let before = self.rest.bytes;
        let field = self.next()?;
        let taken = before.len().saturating_sub(self.rest.bytes.len());
        Some(field.map(|field| (field, before.get(..taken).unwrap_or_default())))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, ProfileError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.bytes.is_empty() {
            return None;
        }
        let step = self.step();
        if step.is_err() {
            self.rest.bytes = &[];
        }
        Some(step)
    }
}

impl<'a> Field<'a> {
    /// Its bytes; `None` where it is no message, text or bytes.
    pub(crate) const fn slice(self) -> Option<Slice<'a>> {
        match self.payload {
            Payload::Bytes(slice) => Some(slice),
            _ => None,
        }
    }

    /// Its number; `None` where it is none.
    pub(crate) const fn varint(self) -> Option<u64> {
        match self.payload {
            Payload::Varint(value) => Some(value),
            _ => None,
        }
    }

    /// A double.
    pub(crate) const fn double(self) -> Option<f64> {
        match self.payload {
            Payload::Fixed64(bytes) => Some(f64::from_le_bytes(bytes)),
            _ => None,
        }
    }
}

/// A message that is being written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    bytes: Vec<u8>,
}

impl Draft {
    pub(crate) fn varint(&mut self, number: u64, value: u64) {
        self.key(number, 0);
        self.number(value);
    }

    pub(crate) fn double(&mut self, number: u64, value: f64) {
        self.key(number, 1);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(crate) fn float(&mut self, number: u64, value: f32) {
        self.key(number, 5);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, number: u64, bytes: &[u8]) {
        self.key(number, 2);
        self.number(bytes.len() as u64);
        self.bytes.extend(bytes);
    }

    pub(crate) fn message(&mut self, number: u64, message: &Self) {
        self.bytes(number, &message.bytes);
    }

    /// A field as another message has it.
    pub(crate) fn as_written(&mut self, field: &[u8]) {
        self.bytes.extend(field);
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn key(&mut self, number: u64, kind: u64) {
        self.number(number << 3 | kind);
    }

    fn number(&mut self, mut value: u64) {
        while value > 0x7f {
            self.bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}
