//! The attribute stream of `.nv.info` sections: one byte of format, one of code, two of value or length, payload.
//!
//! Codes by name from NVIDIA's own tools' output (docs/accuracy.md). Not for: what an attribute means for a kernel.

use crate::fields::u16_at;

/// One attribute: its code and its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attribute<'a> {
    pub(super) code: u8,
    /// The two bytes of the value, or the payload where the format has one.
    pub(super) value: &'a [u8],
}

/// Codes of the attributes that are read.
pub(super) mod code {
    pub(crate) const MAX_THREADS: u8 = 0x05;
    pub(crate) const EXTERNS: u8 = 0x0f;
    pub(crate) const REQUIRED_THREADS: u8 = 0x10;
    pub(crate) const FRAME_SIZE: u8 = 0x11;
    pub(crate) const MIN_STACK_SIZE: u8 = 0x12;
    pub(crate) const MAX_REGISTERS: u8 = 0x1b;
    pub(crate) const REGISTER_COUNT: u8 = 0x2f;
    pub(crate) const INDIRECT_BRANCH_TARGETS: u8 = 0x34;
    pub(crate) const CUDA_API_VERSION: u8 = 0x37;
    pub(crate) const CTA_PER_CLUSTER: u8 = 0x3d;
    pub(crate) const EXPLICIT_CLUSTER: u8 = 0x3e;
    pub(crate) const MAX_CLUSTER_RANK: u8 = 0x3f;
    pub(crate) const VIRTUAL_RESOURCES: u8 = 0x4a;
    pub(crate) const BARRIERS: u8 = 0x4c;
    pub(crate) const TENSOR_MEMORY_ONE_BLOCK: u8 = 0x51;
    pub(crate) const TENSOR_MEMORY_TWO_BLOCKS: u8 = 0x52;
    pub(crate) const REGISTER_RECONFIGURATION: u8 = 0x54;
    pub(crate) const ANNOTATIONS: u8 = 0x55;
    pub(crate) const BLOCKS_ARE_CLUSTERS: u8 = 0x5b;
}

const FORMAT_PAYLOAD: u8 = 4;

/// Iterates over a stream. `Err` with the offset where it breaks off, and nothing after that.
pub(super) struct Attributes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Attributes<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn one(&mut self) -> Option<Attribute<'a>> {
        let [format, code] = *self.bytes.get(self.at..)?.first_chunk::<2>()?;
        let value_at = self.at.checked_add(2)?;
        let payload_at = self.at.checked_add(4)?;
        let (value, next) = match format {
            1..=3 => (self.bytes.get(value_at..payload_at)?, payload_at),
            FORMAT_PAYLOAD => {
                let end = payload_at.checked_add(usize::from(u16_at(self.bytes, value_at)?))?;
                (self.bytes.get(payload_at..end)?, end)
            }
            _ => return None,
        };
        self.at = next;
        Some(Attribute { code, value })
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Result<Attribute<'a>, u64>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let broken_at = self.at as u64;
        let one = self.one();
        if one.is_none() {
            self.at = self.bytes.len();
        }
        Some(one.ok_or(broken_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_values_and_payloads_and_stops_at_the_first_fault() {
        let stream =
            [0x03, 0x1b, 0xff, 0x00, 0x04, 0x12, 0x08, 0x00, 1, 0, 0, 0, 2, 0, 0, 0, 0x04, 0x55, 0xff, 0xff, 9];
        let read: Vec<_> = Attributes::new(&stream).collect();
        assert_eq!(read[0], Ok(Attribute { code: 0x1b, value: &[0xff, 0] }));
        assert_eq!(read[1], Ok(Attribute { code: 0x12, value: &[1, 0, 0, 0, 2, 0, 0, 0] }));
        assert_eq!(read[2], Err(16));
        assert_eq!(read.len(), 3);
    }
}
