//! Packed reports (`.ncu-repz`): frames of zstd, one after the other (RFC 8878, 3.1).
//!
//! Not for: what the unpacked bytes mean.

use std::borrow::Cow;
use std::io::Read;

use ruzstd::decoding::StreamingDecoder;

use crate::error::ProfileError;

/// What a frame of zstd starts with.
const FRAME: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// What follows a skippable frame's first byte, which is 0x50 to 0x5f (RFC 8878, 3.1.2): packers of several threads write
/// sizes in them.
const SKIPPABLE: &[u8] = &[0x2a, 0x4d, 0x18];
/// Bytes that a packed report may unpack to.
const UNPACKED: u64 = 4 << 30;
/// The same as a multiple of its packed size, beyond what any small one may unpack to: reports pack ten to fifty times.
const GROWTH: u64 = 1000;
const SMALL: u64 = 16 << 20;

/// Whether a file starts like packed data.
pub(crate) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(FRAME) || is_skippable(bytes)
}

fn is_skippable(bytes: &[u8]) -> bool {
    matches!(bytes, [0x50..=0x5f, rest @ ..] if rest.starts_with(SKIPPABLE))
}

/// The bytes of a report, unpacked where it is packed: all of its frames.
///
/// # Errors
/// [`ProfileError::Unpack`] where it is packed and damaged, [`ProfileError::TooLarge`] beyond 4 GiB or a thousand
/// times its size.
pub fn unpack(bytes: &[u8]) -> Result<Cow<'_, [u8]>, ProfileError> {
    if !is_packed(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    let most = UNPACKED.min((bytes.len() as u64).saturating_mul(GROWTH).saturating_add(SMALL));
    let unpacked = frames(bytes, most.saturating_add(1))?;
    if unpacked.len() as u64 > most {
        return Err(ProfileError::TooLarge { what: "bytes of an unpacked report", limit: most });
    }
    Ok(Cow::Owned(unpacked))
}

/// The first bytes that packed data unpacks to, at most `most`; none where it is damaged or too little of it is there.
pub(crate) fn unpacked_start(packed: &[u8], most: u64) -> Vec<u8> {
    frames(packed, most).unwrap_or_default()
}

/// What all frames unpack to, until there are `most` bytes.
fn frames(packed: &[u8], most: u64) -> Result<Vec<u8>, ProfileError> {
    let failed = |error: String| ProfileError::Unpack(error);
    let mut rest = packed;
    let mut unpacked = Vec::new();
    while !rest.is_empty() && (unpacked.len() as u64) < most {
        if let Some(skipped) = is_skippable(rest).then(|| behind_skippable(rest)) {
            rest = skipped.ok_or_else(|| failed("a skippable frame is cut off".to_owned()))?;
            continue;
        }
        let decoder = StreamingDecoder::new(&mut rest).map_err(|error| failed(error.to_string()))?;
        let left = most.saturating_sub(unpacked.len() as u64);
        decoder.take(left).read_to_end(&mut unpacked).map_err(|error| failed(error.to_string()))?;
    }
    Ok(unpacked)
}

/// What follows a skippable frame: its magic, its length in four bytes, its data.
fn behind_skippable(frame: &[u8]) -> Option<&[u8]> {
    let length = frame.get(4..8)?.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes))?;
    frame.get(8..)?.get(usize::try_from(length).ok()?..)
}
