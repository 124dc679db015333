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

/// Packed device code comes to some 20 times its size; an entry beyond this factor is a bomb and is not unpacked.
const ZSTD_LARGEST_RATIO: u64 = 1000;

/// Unpacks `packed` into `unpacked`, which must come to exactly `size` bytes; `offset` is its place in the file, for
/// messages. The buffer is the caller's so that it can serve many entries.
pub(crate) fn unpack(
    codec: Codec,
    packed: &[u8],
    size: u64,
    offset: u64,
    unpacked: &mut Vec<u8>,
) -> Result<(), BinaryError> {
    if size > LARGEST_ENTRY {
        let what = "unpacked entry";
        return Err(BinaryError::TooLarge { what, offset, claimed: size, limit: LARGEST_ENTRY });
    }
    let failed = |reason: String| BinaryError::Unpack { codec: codec.name(), offset, reason };
    match codec {
        Codec::Raw => {
            unpacked.clear();
            unpacked.extend_from_slice(packed);
        }
        Codec::Lz4 => {
            believe(packed, size, LZ4_LARGEST_RATIO).map_err(failed)?;
            unpacked.resize(usize::try_from(size).unwrap_or(usize::MAX), 0);
            let written =
                lz4_flex::block::decompress_into(packed, unpacked).map_err(|error| failed(error.to_string()))?;
            unpacked.truncate(written);
        }
        Codec::Zstd => {
            believe(packed, size, ZSTD_LARGEST_RATIO).map_err(failed)?;
            zstd_into(packed, size, unpacked).map_err(failed)?;
        }
    }
    if unpacked.len() as u64 != size {
        return Err(failed(format!("{} bytes came out, {size} were claimed", unpacked.len())));
    }
    Ok(())
}

/// Refuses a claim before anything is allocated for it.
fn believe(packed: &[u8], size: u64, ratio: u64) -> Result<(), String> {
    if size > (packed.len() as u64).saturating_mul(ratio) {
        return Err(format!("{} bytes can't hold the {size} that are claimed", packed.len()));
    }
    Ok(())
}

/// Decodes straight into the buffer.
#[cfg(feature = "zstd-c")]
fn zstd_into(packed: &[u8], size: u64, unpacked: &mut Vec<u8>) -> Result<(), String> {
    unpacked.resize(usize::try_from(size).unwrap_or(usize::MAX), 0);
    let written =
        zstd::bulk::decompress_to_buffer(packed, unpacked.as_mut_slice()).map_err(|error| error.to_string())?;
    unpacked.truncate(written);
    Ok(())
}

#[cfg(not(feature = "zstd-c"))]
fn zstd_into(packed: &[u8], size: u64, unpacked: &mut Vec<u8>) -> Result<(), String> {
    unpacked.clear();
    let mut decoder = zstd_reader(packed).map_err(|error| error.to_string())?.take(size.saturating_add(1));
    decoder.read_to_end(unpacked).map(|_| ()).map_err(|error| error.to_string())
}

/// A stream that unpacks zstd: by the C library, or in pure Rust where there is no C compiler.
#[cfg(feature = "zstd-c")]
pub(crate) fn zstd_reader<'r>(packed: impl Read + 'r) -> std::io::Result<impl Read + 'r> {
    zstd::stream::read::Decoder::new(packed)
}

/// A stream that unpacks zstd: by the C library, or in pure Rust where there is no C compiler.
#[cfg(not(feature = "zstd-c"))]
pub(crate) fn zstd_reader<'r>(packed: impl Read + 'r) -> std::io::Result<impl Read + 'r> {
    ruzstd::decoding::StreamingDecoder::new(packed).map_err(|error| std::io::Error::other(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lz4_comes_back_and_lies_are_refused() {
        let original: Vec<u8> = (0..10_000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        let packed = lz4_flex::block::compress(&original);
        let size = original.len() as u64;
        let mut buffer = vec![7; 3];
        unpack(Codec::Lz4, &packed, size, 0, &mut buffer).unwrap();
        assert_eq!(buffer, original);
        for claimed in [size + 1, size - 1, 1 << 31, u64::MAX] {
            assert!(unpack(Codec::Lz4, &packed, claimed, 0, &mut buffer).is_err(), "{claimed}");
        }
    }

    #[test]
    fn a_claim_of_terabytes_is_refused_before_allocation() {
        for codec in [Codec::Lz4, Codec::Zstd] {
            let error = unpack(codec, &[0; 64], 5 << 40, 0x40, &mut Vec::new()).unwrap_err();
            assert_eq!(error.code(), "too_large");
        }
    }
}
