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

/// Room in which entries are read and unpacked, one after the other: to make it anew for each would cost as much as small
/// entries take to unpack.
#[derive(Default)]
pub struct Workspace {
    /// An entry as it is packed.
    pub(crate) packed: Vec<u8>,
    pub(crate) unpacking: Unpacking,
}

/// Room for what is unpacked, and what unpacks it.
#[derive(Default)]
pub(crate) struct Unpacking {
    /// Never made shorter: what was used once need not be cleared again.
    room: Vec<u8>,
    #[cfg(feature = "zstd-c")]
    zstd: Option<zstd::bulk::Decompressor<'static>>,
}

impl Unpacking {
    /// Unpacks `packed`, which must come to exactly `size` bytes; `offset` is its place in the file, for messages.
    pub(crate) fn unpack(&mut self, codec: Codec, packed: &[u8], size: u64, offset: u64) -> Result<&[u8], BinaryError> {
        if size > LARGEST_ENTRY {
            let what = "unpacked entry";
            return Err(BinaryError::TooLarge { what, offset, claimed: size, limit: LARGEST_ENTRY });
        }
        let failed = |reason: String| BinaryError::Unpack { codec: codec.name(), offset, reason };
        let written = match codec {
            Codec::Raw => {
                self.room(packed.len() as u64).copy_from_slice(packed);
                packed.len()
            }
            Codec::Lz4 => {
                believe(packed, size, LZ4_LARGEST_RATIO).map_err(failed)?;
                let room = self.room(size);
                lz4_flex::block::decompress_into(packed, room).map_err(|error| failed(error.to_string()))?
            }
            Codec::Zstd => {
                believe(packed, size, ZSTD_LARGEST_RATIO).map_err(failed)?;
                self.zstd(packed, size).map_err(failed)?
            }
        };
        if written as u64 != size {
            return Err(failed(format!("{written} bytes came out, {size} were claimed")));
        }
        Ok(self.room.get(..written).unwrap_or(&[]))
    }

    /// Room for `size` bytes.
    fn room(&mut self, size: u64) -> &mut [u8] {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if self.room.len() < size {
            self.room.resize(size, 0);
        }
        self.room.get_mut(..size).unwrap_or(&mut [])
    }

    /// Decodes straight into the room.
    #[cfg(feature = "zstd-c")]
    fn zstd(&mut self, packed: &[u8], size: u64) -> Result<usize, String> {
        let mut decoder = match self.zstd.take() {
            Some(decoder) => decoder,
            None => zstd::bulk::Decompressor::new().map_err(|error| error.to_string())?,
        };
        let written = decoder.decompress_to_buffer(packed, self.room(size)).map_err(|error| error.to_string());
        self.zstd = Some(decoder);
        written
    }

    #[cfg(not(feature = "zstd-c"))]
    fn zstd(&mut self, packed: &[u8], size: u64) -> Result<usize, String> {
        self.room.clear();
        let mut decoder = zstd_reader(packed, 0).map_err(|error| error.to_string())?.take(size.saturating_add(1));
        decoder.read_to_end(&mut self.room).map_err(|error| error.to_string())
    }
}

/// Refuses a claim before anything is allocated for it.
fn believe(packed: &[u8], size: u64, ratio: u64) -> Result<(), String> {
    if size > (packed.len() as u64).saturating_mul(ratio) {
        return Err(format!("{} bytes can't hold the {size} that are claimed", packed.len()));
    }
    Ok(())
}

/// A stream that unpacks zstd: by the C library, or in pure Rust where there is no C compiler. It may look back over two to
/// the power of `window` bytes, which are kept in memory; the decoder in Rust has a bound of its own.
#[cfg(feature = "zstd-c")]
pub(crate) fn zstd_reader<'r>(packed: impl Read + 'r, window: u32) -> std::io::Result<impl Read + 'r> {
    let mut decoder = zstd::stream::read::Decoder::new(packed)?;
    decoder.window_log_max(window)?;
    Ok(decoder)
}

/// A stream that unpacks zstd: by the C library, or in pure Rust where there is no C compiler.
#[cfg(not(feature = "zstd-c"))]
pub(crate) fn zstd_reader<'r>(packed: impl Read + 'r, _window: u32) -> std::io::Result<impl Read + 'r> {
    Ok(crate::zstd_frames::Frames::new(packed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lz4_comes_back_and_lies_are_refused() {
        let original: Vec<u8> = (0..10_000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        let packed = lz4_flex::block::compress(&original);
        let size = original.len() as u64;
        let mut workspace = Unpacking::default();
        workspace.unpack(Codec::Raw, &[7; 3], 3, 0).unwrap();
        assert_eq!(workspace.unpack(Codec::Lz4, &packed, size, 0).unwrap(), original);
        for claimed in [size + 1, size - 1, 1 << 31, u64::MAX] {
            assert!(workspace.unpack(Codec::Lz4, &packed, claimed, 0).is_err(), "{claimed}");
        }
    }

    #[test]
    fn a_claim_of_terabytes_is_refused_before_allocation() {
        for codec in [Codec::Lz4, Codec::Zstd] {
            let error = Unpacking::default().unpack(codec, &[0; 64], 5 << 40, 0x40).unwrap_err();
            assert_eq!(error.code(), "too_large");
        }
    }
}
