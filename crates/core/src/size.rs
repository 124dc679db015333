//! Sizes as people write them: `49152`, `48K`, `48KiB`, all powers of 1024.

use occupant_binary::in_short;
use thiserror::Error;

/// Bytes of a given text that an error shows.
pub(crate) const LONGEST: usize = 100;

/// A text that is no size.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{}` is no size: write bytes such as 49152, or 48K for 48 KiB", in_short(found, LONGEST))]
pub struct ParseSizeError {
    /// The text as given.
    pub found: String,
}

/// Reads a size in bytes, at most 4 GiB.
///
/// # Errors
/// [`ParseSizeError`] where the text is no number with an optional unit `B`, `K`, `KiB`, `M` or `MiB`.
pub fn parse_size(text: &str) -> Result<u32, ParseSizeError> {
    let error = || ParseSizeError { found: text.to_owned() };
    let trimmed = text.trim();
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = trimmed.split_at(digits);
    let factor: u32 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        _ => return Err(error()),
    };
    number.parse::<u32>().ok().and_then(|number| number.checked_mul(factor)).ok_or_else(error)
}

/// Reads threads per block: `256`, or dimensions such as `16x16` or `8x8x4`, whose product counts.
///
/// # Errors
/// [`ParseBlockError`] where the text is neither.
pub fn parse_block(text: &str) -> Result<u32, ParseBlockError> {
    let error = || ParseBlockError { found: text.to_owned() };
    let mut dimensions = text.trim().split(['x', 'X']);
    let product = dimensions.try_fold(1_u32, |product, dimension| product.checked_mul(dimension.trim().parse().ok()?));
    product.filter(|_| text.split(['x', 'X']).count() <= 3).ok_or_else(error)
}

/// A text that is no block size.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{}` is no block size: write threads such as 256, or dimensions such as 16x16", in_short(found, LONGEST))]
pub struct ParseBlockError {
    /// The text as given.
    pub found: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_1024() {
        for (text, bytes) in [("0", 0), ("49152", 49152), ("48K", 49152), ("48 KiB", 49152), ("1m", 1 << 20), ("7B", 7)]
        {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn blocks_have_up_to_three_dimensions() {
        for (text, threads) in [("256", 256), ("16x16", 256), ("8 x 8 X 4", 256), ("0", 0)] {
            assert_eq!(parse_block(text), Ok(threads), "{text}");
        }
        for text in ["", "x", "16x", "2x2x2x2", "-1", "70000x70000", "1.5"] {
            assert!(parse_block(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "K", "-1", "1.5K", "48KK", "5000000000", "4096M", "12G"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
