//! From the units that Nsight Compute scales to, to the base units in which reports store. For: the power of ten between
//! them. Not for: which unit a metric has; that is [`crate::unit`].

/// A unit as a power of ten of its base unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scale {
    /// The power.
    pub(super) power: i32,
    /// The base unit, as in [`crate::unit`].
    pub(super) base: String,
}

/// What may be counted in thousands.
const COUNTED: [&str; 16] = [
    "byte",
    "hz",
    "inst",
    "warp",
    "thread",
    "sector",
    "cycle",
    "request",
    "block",
    "bit",
    "register",
    "sample",
    "op",
    "flop",
    "wavefront",
    "conflict",
];
/// Prefixes: K is 1000, of bytes too.
const PREFIXES: [(char, i32); 6] = [('K', 3), ('k', 3), ('M', 6), ('G', 9), ('T', 12), ('P', 15)];

impl Scale {
    /// Of a unit as printed, such as `Gbyte/s`, `usecond`, `cycle/nsecond` or `Kbyte/block`. One that is not known is taken
    /// as its own base.
    pub(super) fn of(unit: &str) -> Self {
        let unit = unit.trim();
        let (top, bottom) = match unit.split_once('/') {
            Some((top, bottom)) => (top.trim(), Some(bottom.trim())),
            None => (unit, None),
        };
        let (power, base) = counted(top);
        let Some(bottom) = bottom else { return Self { power, base } };
        match seconds(bottom) {
            // Per nanosecond is a thousand million per second.
            Some(seconds) if base == "cycle" => Self { power: power.saturating_sub(seconds), base: "hz".to_owned() },
            Some(seconds) => Self { power: power.saturating_sub(seconds), base: format!("{base}/s") },
            None => Self { power, base: format!("{base}/{bottom}") },
        }
    }

    /// Whether two units can be of one metric: a share, something per second, or neither. Between versions the rest varies
    /// (`warp` and `warp/cycle`).
    pub(super) fn alike(&self, base: &str) -> bool {
        kind(&self.base) == kind(base)
    }
}

fn kind(base: &str) -> (bool, bool) {
    (base == "%", base == "hz" || base.ends_with("/s"))
}

fn counted(unit: &str) -> (i32, String) {
    if let Some(seconds) = seconds(unit) {
        return (seconds.saturating_add(9), "ns".to_owned());
    }
    for (prefix, power) in PREFIXES {
        let Some(rest) = unit.strip_prefix(prefix) else { continue };
        let lower = rest.to_ascii_lowercase();
        let one = lower.strip_suffix('s').unwrap_or(&lower);
        if COUNTED.contains(&one) {
            return (power, one.to_owned());
        }
    }
    let known = COUNTED.iter().find(|counted| unit.eq_ignore_ascii_case(counted));
    (0, known.map_or_else(|| unit.to_owned(), |counted| (*counted).to_owned()))
}

/// The power of ten of a unit of time in seconds. Case matters: `M` would be a million.
fn seconds(unit: &str) -> Option<i32> {
    match unit {
        "s" | "sec" | "second" | "seconds" => Some(0),
        "ms" | "msec" | "msecond" | "millisecond" => Some(-3),
        "us" | "usec" | "usecond" | "microsecond" | "\u{b5}s" | "\u{3bc}s" => Some(-6),
        "ns" | "nsec" | "nsecond" | "nanosecond" => Some(-9),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_all_versions_in_base_units() {
        let known = [
            ("%", 0, "%"),
            ("", 0, ""),
            ("byte", 0, "byte"),
            ("Kbyte", 3, "byte"),
            ("Mbyte", 6, "byte"),
            ("Kbyte/block", 3, "byte/block"),
            ("Gbyte/s", 9, "byte/s"),
            ("Gbyte/second", 9, "byte/s"),
            ("Tbyte/s", 12, "byte/s"),
            ("byte/nsecond", 9, "byte/s"),
            ("Ghz", 9, "hz"),
            ("MHz", 6, "hz"),
            ("cycle/second", 0, "hz"),
            ("cycle/usecond", 6, "hz"),
            ("cycle/nsecond", 9, "hz"),
            ("nsecond", 0, "ns"),
            ("ns", 0, "ns"),
            ("us", 3, "ns"),
            ("usecond", 3, "ns"),
            ("msecond", 6, "ns"),
            ("second", 9, "ns"),
            ("Kinst", 3, "inst"),
            ("Minst/s", 6, "inst/s"),
            ("inst/cycle", 0, "inst/cycle"),
            ("register/thread", 0, "register/thread"),
            ("SM", 0, "SM"),
            ("Thread", 0, "thread"),
        ];
        for (unit, power, base) in known {
            assert_eq!(Scale::of(unit), Scale { power, base: base.to_owned() }, "{unit}");
        }
    }

    #[test]
    fn shares_are_never_taken_for_rates() {
        assert!(!Scale::of("%").alike("byte/s"));
        assert!(Scale::of("Gbyte/second").alike("byte/s"));
        assert!(Scale::of("cycle/nsecond").alike("hz"));
        assert!(Scale::of("warp/cycle").alike("warp"));
    }
}
