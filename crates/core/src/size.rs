//! Sizes as people write them: `49152`, `48K`, `48KiB`, all powers of 1024.

use thiserror::Error;

/// A text that is no size.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{found}` is no size: write bytes such as 49152, or 48K for 48 KiB")]
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
    fn what_is_no_size_is_refused() {
        for text in ["", "K", "-1", "1.5K", "48KK", "5000000000", "4096M", "12G"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
