//! A stream of zstd frames in pure Rust, for where there is no C compiler: the decoder reads one frame, files hold several.
//!
//! Not for: how much may come out; callers bound that.

use std::io::{self, BufRead, BufReader, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// What all frames of a stream unpack to; skippable frames are passed over.
pub(crate) struct Frames<R: Read> {
    packed: BufReader<R>,
    decoder: FrameDecoder,
    /// A frame is begun and not read to its end.
    inside: bool,
}

impl<R: Read> Frames<R> {
    pub(crate) fn new(packed: R) -> Self {
        Self { packed: BufReader::new(packed), decoder: FrameDecoder::new(), inside: false }
    }

    /// Begins the next frame; `false` at the end of the stream.
    fn next(&mut self) -> io::Result<bool> {
        while !self.packed.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.packed) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let skipped = io::copy(&mut (&mut self.packed).take(length.into()), &mut io::sink())?;
                    if skipped < u64::from(length) {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(io::Error::other(error.to_string())),
            }
        }
        Ok(false)
    }

    /// Whether the frame that was read came to what its checksum says, if it has one; the decoder leaves that to its caller.
    fn check(&self) -> io::Result<()> {
        match self.decoder.get_checksum_from_data() {
            stated @ Some(_) if stated != self.decoder.get_calculated_checksum() => {
                Err(io::Error::other("what came out is not what the checksum says"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if self.inside && !self.decoder.is_finished() {
                let strategy = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder
                    .decode_blocks(&mut self.packed, strategy)
                    .map_err(|error| io::Error::other(error.to_string()))?;
                continue;
            }
            if self.inside {
                self.check()?;
            }
            self.inside = self.next()?;
            if !self.inside {
                return Ok(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_frames_are_read_and_skippable_ones_passed_over() {
        let packed =
            |bytes: &[u8]| ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest);
        let long = vec![7; 300_000];
        let skippable = [&[0x53, 0x2a, 0x4d, 0x18, 5, 0, 0, 0][..], b"sizes"].concat();
        let stream = [skippable.clone(), packed(b"one "), packed(&long), skippable.clone(), packed(b" two")].concat();
        let mut unpacked = Vec::new();
        Frames::new(&stream[..]).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, [&b"one "[..], &long, b" two"].concat());
        for cut in [3, 10, stream.len() - 2] {
            assert!(Frames::new(&stream[..cut]).read_to_end(&mut Vec::new()).is_err(), "cut at {cut}");
        }
        let mut damaged = packed(b"one ");
        let at = damaged.windows(4).position(|bytes| bytes == b"one ").unwrap();
        damaged[at] ^= 1;
        assert!(Frames::new(&damaged[..]).read_to_end(&mut Vec::new()).is_err(), "the checksum is of other bytes");
        assert_eq!(Frames::new(&[][..]).read(&mut [0; 4]).unwrap(), 0);
    }
}
