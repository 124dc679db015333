//! Compact JSON, byte for byte as `serde_json` writes it (but for the controls that [`crate::json`] escapes too), but faster for long texts: those of a kernel's names are most of
//! a line, and `serde_json` looks at each byte of them. Not for: JSON that people read; that is [`crate::json`].

use std::fmt::Display;

use serde::Serialize;
use serde::ser::{self, Error as _, Serializer};
use serde_json::{Error, Result};

use crate::json::without_controls;

/// Appends a value as compact JSON.
pub(crate) fn append(to: &mut Vec<u8>, value: &impl Serialize) -> Result<()> {
    value.serialize(&mut Writer { to })
}

struct Writer<'v> {
    to: &'v mut Vec<u8>,
}

impl Writer<'_> {
    fn raw(&mut self, text: &[u8]) -> Result<()> {
        self.to.extend_from_slice(text);
        Ok(())
    }

    fn integer(&mut self, number: impl itoa::Integer) -> Result<()> {
        self.raw(itoa::Buffer::new().format(number).as_bytes())
    }
}

/// Whether nothing in a text has to be escaped. Every byte is looked at, without an early end: the compiler makes that
/// sixteen bytes at a time.
fn is_plain(text: &str) -> bool {
    !text.bytes().fold(false, |found, byte| found | !(0x20..0x7f).contains(&byte) | (byte == b'"') | (byte == b'\\'))
}

impl<'w, 'v> Serializer for &'w mut Writer<'v> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'w, 'v>;
    type SerializeTuple = Items<'w, 'v>;
    type SerializeTupleStruct = Items<'w, 'v>;
    type SerializeTupleVariant = Items<'w, 'v>;
    type SerializeMap = Items<'w, 'v>;
    type SerializeStruct = Items<'w, 'v>;
    type SerializeStructVariant = Items<'w, 'v>;

    fn serialize_bool(self, value: bool) -> Result<()> {
        self.raw(if value { b"true" } else { b"false" })
    }

    fn serialize_i8(self, value: i8) -> Result<()> {
        self.integer(value)
    }

    fn serialize_i16(self, value: i16) -> Result<()> {
        self.integer(value)
    }

    fn serialize_i32(self, value: i32) -> Result<()> {
        self.integer(value)
    }

    fn serialize_i64(self, value: i64) -> Result<()> {
        self.integer(value)
    }

    fn serialize_u8(self, value: u8) -> Result<()> {
        self.integer(value)
    }

    fn serialize_u16(self, value: u16) -> Result<()> {
        self.integer(value)
    }

    fn serialize_u32(self, value: u32) -> Result<()> {
        self.integer(value)
    }

    fn serialize_u64(self, value: u64) -> Result<()> {
        self.integer(value)
    }

    fn serialize_f32(self, value: f32) -> Result<()> {
        serde_json::to_writer(&mut *self.to, &value)
    }

    fn serialize_f64(self, value: f64) -> Result<()> {
        serde_json::to_writer(&mut *self.to, &value)
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<()> {
        if !is_plain(value) {
            return self.raw(without_controls(serde_json::to_string(value)?).as_bytes());
        }
        self.to.reserve(value.len() + 2);
        self.to.push(b'"');
        self.to.extend_from_slice(value.as_bytes());
        self.to.push(b'"');
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_none(self) -> Result<()> {
        self.raw(b"null")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        self.raw(b"null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.raw(b"null")
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<()> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        self.raw(b"{")?;
        variant.serialize(&mut *self)?;
        self.raw(b":")?;
        value.serialize(&mut *self)?;
        self.raw(b"}")
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'w, 'v>> {
        Items::new(self, b"[", b"]")
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'w, 'v>> {
        Items::new(self, b"[", b"]")
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'w, 'v>> {
        Items::new(self, b"[", b"]")
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'w, 'v>> {
        self.raw(b"{")?;
        variant.serialize(&mut *self)?;
        Items::new(self, b":[", b"]}")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Items<'w, 'v>> {
        Items::new(self, b"{", b"}")
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Items<'w, 'v>> {
        Items::new(self, b"{", b"}")
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'w, 'v>> {
        self.raw(b"{")?;
        variant.serialize(&mut *self)?;
        Items::new(self, b":{", b"}}")
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<()> {
        self.serialize_str(&value.to_string())
    }
}

/// What stands between brackets.
struct Items<'w, 'v> {
    writer: &'w mut Writer<'v>,
    first: bool,
    end: &'static [u8],
}

impl<'w, 'v> Items<'w, 'v> {
    fn new(writer: &'w mut Writer<'v>, start: &[u8], end: &'static [u8]) -> Result<Self> {
        writer.raw(start)?;
        Ok(Self { writer, first: true, end })
    }

    fn item(&mut self, value: &(impl Serialize + ?Sized)) -> Result<()> {
        if !std::mem::replace(&mut self.first, false) {
            self.writer.raw(b",")?;
        }
        value.serialize(&mut *self.writer)
    }

    /// The name of a field, which has nothing to escape, and what stands around it.
    fn key(&mut self, key: &'static str) -> Result<()> {
        let to = &mut *self.writer.to;
        to.reserve(key.len() + 4);
        if !std::mem::replace(&mut self.first, false) {
            to.push(b',');
        }
        to.push(b'"');
        to.extend_from_slice(key.as_bytes());
        to.extend_from_slice(b"\":");
        Ok(())
    }

    fn value(&mut self, value: &(impl Serialize + ?Sized)) -> Result<()> {
        self.writer.raw(b":")?;
        value.serialize(&mut *self.writer)
    }

    fn finish(self) -> Result<()> {
        self.writer.raw(self.end)
    }
}

/// The traits of lists differ in names alone.
macro_rules! list {
    ($name:ident, $item:ident) => {
        impl ser::$name for Items<'_, '_> {
            type Ok = ();
            type Error = Error;

            fn $item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.item(value)
            }

            fn end(self) -> Result<()> {
                self.finish()
            }
        }
    };
}

list!(SerializeSeq, serialize_element);
list!(SerializeTuple, serialize_element);
list!(SerializeTupleStruct, serialize_field);
list!(SerializeTupleVariant, serialize_field);

/// The traits of structures differ in names alone.
macro_rules! structure {
    ($name:ident) => {
        impl ser::$name for Items<'_, '_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
                self.key(key)?;
                value.serialize(&mut *self.writer)
            }

            fn end(self) -> Result<()> {
                self.finish()
            }
        }
    };
}

structure!(SerializeStruct);
structure!(SerializeStructVariant);

impl ser::SerializeMap for Items<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        let start = self.writer.to.len() + usize::from(!self.first);
        self.item(key)?;
        // The reports' maps have names for keys; `serde_json` would put numbers in quotes.
        match self.writer.to.get(start) {
            Some(b'"') => Ok(()),
            _ => Err(Error::custom("a key that is no text")),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.value(value)
    }

    fn end(self) -> Result<()> {
        self.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Serialize)]
    enum Variant {
        Unit,
        One(u8),
        Two(i64, char),
        Named { a: bool },
    }

    #[derive(Serialize)]
    struct Inner {
        text: &'static str,
        none: Option<u32>,
        float: f64,
    }

    #[derive(Serialize)]
    struct Outer {
        schema: &'static str,
        #[serde(flatten)]
        inner: Inner,
        variants: Vec<Variant>,
        map: BTreeMap<String, (i8, u64, f32)>,
        nothing: (),
        empty: [u8; 0],
    }

    #[test]
    fn the_same_bytes_as_of_serde_json() {
        for text in ["", "plain", "a \"quoted\" \\ text", "line\nbreak", "nul\0", "wide …", "\u{7f}\u{9b}", "\u{1f}"]
        {
            let map = [("k".to_owned(), (i8::MIN, u64::MAX, 0.1)), (text.to_owned(), (0, 0, f32::MAX))];
            let outer = Outer {
                schema: text,
                inner: Inner { text, none: None, float: 12.34 },
                variants: vec![Variant::Unit, Variant::One(7), Variant::Two(-5, '"'), Variant::Named { a: true }],
                map: map.into(),
                nothing: (),
                empty: [],
            };
            let mut line = Vec::new();
            append(&mut line, &outer).unwrap();
            assert_eq!(String::from_utf8(line).unwrap(), without_controls(serde_json::to_string(&outer).unwrap()));
        }
        let mut line = Vec::new();
        append(&mut line, &[f64::NAN, 1e300, -0.0, 100.0]).unwrap();
        assert_eq!(line, serde_json::to_vec(&[f64::NAN, 1e300, -0.0, 100.0]).unwrap());
    }

    #[test]
    fn keys_are_texts() {
        assert!(append(&mut Vec::new(), &BTreeMap::from([(1, 2)])).is_err());
    }
}
