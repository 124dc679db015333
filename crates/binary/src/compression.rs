//! Unpacks the entries of a fatbin: raw LZ4 blocks and zstd frames. Bounded by what can be true, not by what is claimed.

use std::io::Read;

use crate::BinaryError;

/// The most that one entry may unpack to. The largest seen has some 200 MB.
const LARGEST_ENTRY: u64 = 2 << 30;

/// An LZ4 block can't grow beyond this factor: a length byte of 255 stands for 255 bytes.
const LZ4_LARGEST_RATIO: u64 = 255;

/// How an entry is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// Not packed.
    Raw,
    /// One LZ4 block.
    Lz4,
    /// A zstd frame.
    Zstd,
}

impl Codec {
    /// Its name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }
}

/// Unpacks `packed`, which must come to exactly `size` bytes; `offset` is its place in the file, for messages.
pub(crate) fn unpack(codec: Codec, packed: &[u8], size: u64, offset: u64) -> Result<Vec<u8>, BinaryError> {
    if size > LARGEST_ENTRY {
        let what = "unpacked entry";
        return Err(BinaryError::TooLarge { what, offset, claimed: size, limit: LARGEST_ENTRY });
    }
    let failed = |reason: String| BinaryError::Unpack { codec: codec.name(), offset, reason };
    let unpacked = match codec {
        Codec::Raw => packed.to_vec(),
        Codec::Lz4 => {
            let possible = (packed.len() as u64).saturating_mul(LZ4_LARGEST_RATIO);
            if size > possible {
                return Err(failed(format!("{} bytes can't hold the {size} that are claimed", packed.len())));
            }
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            lz4_flex::block::decompress(packed, size).map_err(|error| failed(error.to_string()))?
        }
        Codec::Zstd => unzstd(packed, size).map_err(failed)?,
    };
    if unpacked.len() as u64 != size {
        return Err(failed(format!("{} bytes came out, {size} were claimed", unpacked.len())));
    }
    Ok(unpacked)
}

/// Grows with what really comes out, and stops one byte after the claimed size.
fn unzstd(packed: &[u8], size: u64) -> Result<Vec<u8>, String> {
    let decoder = ruzstd::decoding::StreamingDecoder::new(packed).map_err(|error| error.to_string())?;
    let mut unpacked = Vec::new();
    decoder.take(size.saturating_add(1)).read_to_end(&mut unpacked).map_err(|error| error.to_string())?;
    Ok(unpacked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lz4_comes_back_and_lies_are_refused() {
        let original: Vec<u8> = (0..10_000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        let packed = lz4_flex::block::compress(&original);
        let size = original.len() as u64;
        assert_eq!(unpack(Codec::Lz4, &packed, size, 0).unwrap(), original);
        for claimed in [size + 1, size - 1, 1 << 31, u64::MAX] {
            assert!(unpack(Codec::Lz4, &packed, claimed, 0).is_err(), "{claimed}");
        }
    }

    #[test]
    fn a_claim_of_terabytes_is_refused_before_allocation() {
        for codec in [Codec::Lz4, Codec::Zstd] {
            let error = unpack(codec, &[0; 64], 5 << 40, 0x40).unwrap_err();
            assert_eq!(error.code(), "too_large");
        }
    }
}
