//! Reads the embedded data files. A fault in them is a fault of this crate, found by its tests, so it panics.

use serde::de::DeserializeOwned;

/// Every row of an embedded CSV file, in file order.
pub(crate) fn rows<T: DeserializeOwned>(name: &str, text: &str) -> Vec<T> {
    csv::Reader::from_reader(text.as_bytes())
        .deserialize()
        .map(|row| row.unwrap_or_else(|error| panic!("data file {name}: {error}")))
        .collect()
}

/// Serde helper: `yes` and `no`.
pub(crate) fn yes_no<'de, D: serde::Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    match <&str as serde::Deserialize>::deserialize(from)? {
        "yes" => Ok(true),
        "no" => Ok(false),
        other => Err(serde::de::Error::custom(format!("expected yes or no, found {other}"))),
    }
}

/// Serde helper: words separated by spaces.
pub(crate) fn words<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    <&str as serde::Deserialize>::deserialize(from)?
        .split_whitespace()
        .map(|word| word.parse().map_err(serde::de::Error::custom))
        .collect()
}
