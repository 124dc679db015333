//! Words for parts of a launch shape that NVIDIA's rules know as numbers.

use occupant_binary::in_short;
use occupant_occupancy::Carveout;
use thiserror::Error;

use crate::size::{LONGEST, parse_size};

/// A text that is no carve-out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{}` is no carve-out: write default, max, a percentage up to 100% or a size such as 64K",
    in_short(found, LONGEST)
)]
pub struct ParseCarveoutError {
    /// The text as given.
    pub found: String,
}

/// Reads `default`, `max`, `50%` or `64K`. Whether the SM has that much is checked with the shape.
///
/// # Errors
/// [`ParseCarveoutError`] for anything else.
pub fn parse_carveout(text: &str) -> Result<Carveout, ParseCarveoutError> {
    let error = || ParseCarveoutError { found: text.to_owned() };
    match text.trim().to_ascii_lowercase().as_str() {
        "default" => Ok(Carveout::Default),
        "max" => Ok(Carveout::Percent(100)),
        other => match other.strip_suffix('%') {
            Some(percent) => match percent.trim().parse() {
                Ok(percent @ 0..=100) => Ok(Carveout::Percent(percent)),
                _ => Err(error()),
            },
            None => parse_size(other).map(Carveout::Bytes).map_err(|_| error()),
        },
    }
}

/// The carve-out as [`parse_carveout`] reads it.
#[must_use]
pub fn carveout_name(carveout: Carveout) -> String {
    match carveout {
        Carveout::Default => "default".to_owned(),
        Carveout::Percent(100) => "max".to_owned(),
        Carveout::Percent(percent) => format!("{percent}%"),
        Carveout::Bytes(bytes) => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for text in ["default", "max", "50%", "0%", "65536"] {
            assert_eq!(carveout_name(parse_carveout(text).unwrap()), text);
        }
        assert_eq!(parse_carveout("64K"), Ok(Carveout::Bytes(65536)));
        for text in ["", "half", "-1%", "50 percent", "%", "101%"] {
            assert!(parse_carveout(text).is_err(), "{text}");
        }
    }
}
