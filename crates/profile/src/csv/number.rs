//! Numbers as Nsight Compute prints them under any locale. For: telling decimals from thousands. Not for: units.

/// What stands before the decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `1,048,576.5`
    Dot,
    /// `1.048.576,5`
    Comma,
}

/// Between thousands in any locale: a space in four widths, an apostrophe in two.
const GROUPS: [char; 7] = [' ', '\u{a0}', '\u{202f}', '\u{2009}', '\u{2007}', '\'', '\u{2019}'];
/// How an absent value is printed.
const ABSENT: [&str; 9] = ["", "-", "n/a", "nan", "-nan", "inf", "-inf", "(!) n/a", "none"];

impl Style {
    /// The style of a table by the values that can be read in one way only: `62,50` tells, `1,234` does not. A majority,
    /// because cells of text may look like numbers. Nsight Compute itself follows the locale of who runs it.
    pub(super) fn of<'a>(values: impl Iterator<Item = &'a str>) -> Self {
        let (mut dots, mut commas) = (0_u64, 0_u64);
        for value in values {
            match (Decimal::read(value, Self::Dot), Decimal::read(value, Self::Comma)) {
                (Some(_), None) => dots = dots.saturating_add(1),
                (None, Some(_)) => commas = commas.saturating_add(1),
                _ => {}
            }
        }
        if commas > dots { Self::Comma } else { Self::Dot }
    }
}

/// What a cell holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    Number(Decimal),
    /// Not measured.
    Absent,
    /// Text.
    Words,
}

impl Cell {
    pub(super) fn read(text: &str, style: Style) -> Self {
        // `--print-metric-instances` adds the instances in parentheses.
        let text = text.split_once(" (").map_or(text, |(value, _)| if value.is_empty() { text } else { value }).trim();
        if ABSENT.iter().any(|absent| text.eq_ignore_ascii_case(absent)) {
            return Self::Absent;
        }
        Decimal::read(text, style).map_or(Self::Words, Self::Number)
    }
}

/// A number as its digits, so that a change of unit by powers of ten rounds once only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    /// Digits with a point.
    digits: String,
    /// Digits behind the point.
    decimals: i32,
    exponent: i32,
}

impl Decimal {
    fn read(text: &str, style: Style) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i16>().ok()?),
            None => (text, 0),
        };
        let (sign, unsigned) = match mantissa.strip_prefix('-') {
            Some(unsigned) => ("-", unsigned),
            None => ("", mantissa.strip_prefix('+').unwrap_or(mantissa)),
        };
        let (point, group) = match style {
            Style::Dot => ('.', ','),
            Style::Comma => (',', '.'),
        };
        let (whole, fraction) = unsigned.split_once(point).unwrap_or((unsigned, ""));
        let whole = without_groups(whole, group)?;
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
            return None;
        }
        let decimals = i32::try_from(fraction.len()).ok()?;
        Some(Self { digits: format!("{sign}0{whole}.{fraction}0"), decimals, exponent: i32::from(exponent) })
    }

    /// The number times ten to a power.
    pub(super) fn scaled(&self, power: i32) -> Option<f64> {
        let exponent = self.exponent.saturating_add(power);
        format!("{}e{exponent}", self.digits).parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// Half of the last digit's place, times ten to a power: how far the number may be from what was measured.
    pub(super) fn rounding(&self, power: i32) -> f64 {
        let place = self.exponent.saturating_add(power).saturating_sub(self.decimals);
        10_f64.powi(place) / 2.0
    }
}

/// The digits of a whole number; `None` where what stands between them is no grouping by thousands (or, as in India, by
/// hundreds above the first thousand).
fn without_groups(whole: &str, group: char) -> Option<String> {
    let Some(between) = whole.chars().find(|c| *c == group || GROUPS.contains(c)) else {
        return whole.bytes().all(|byte| byte.is_ascii_digit()).then(|| whole.to_owned());
    };
    let parts: Vec<&str> = whole.split(between).collect();
    let (first, rest) = parts.split_first()?;
    let (last, inner) = rest.split_last()?;
    let digits = parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let lengths =
        matches!(first.len(), 1..=3) && inner.iter().all(|part| matches!(part.len(), 2 | 3)) && last.len() == 3;
    (digits && lengths).then(|| parts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, style: Style) -> Option<f64> {
        match Cell::read(text, style) {
            Cell::Number(number) => number.scaled(0),
            _ => None,
        }
    }

    #[test]
    fn thousands_of_every_locale() {
        assert_eq!(value("1,048,576", Style::Dot), Some(1_048_576.0));
        assert_eq!(value("1,215,000,000.25", Style::Dot), Some(1_215_000_000.25));
        assert_eq!(value("1.048.576,5", Style::Comma), Some(1_048_576.5));
        for text in
            ["1 048 576", "1\u{a0}048\u{a0}576", "1\u{202f}048\u{202f}576", "1'048'576", "1\u{2019}048\u{2019}576"]
        {
            assert_eq!(value(text, Style::Dot), Some(1_048_576.0), "{text}");
            assert_eq!(value(text, Style::Comma), Some(1_048_576.0), "{text}");
        }
        assert_eq!(value("10,48,576", Style::Dot), Some(1_048_576.0));
        assert_eq!(value("1,04,8", Style::Dot), None);
        assert_eq!(value("1.2.3", Style::Dot), None);
    }

    #[test]
    fn absent_is_not_zero_and_text_is_no_number() {
        for text in ["", "n/a", "N/A", "nan", "-nan", "inf", "(!) n/a"] {
            assert_eq!(Cell::read(text, Style::Dot), Cell::Absent, "{text}");
        }
        for text in ["PolicySpread", "0-15", "0x1f", ".", "e5", "NaNs", "(1; 2)"] {
            assert_eq!(Cell::read(text, Style::Dot), Cell::Words, "{text}");
        }
        assert_eq!(value("24 (8; 16)", Style::Dot), Some(24.0));
        assert_eq!(value("-1.5e+06", Style::Dot), Some(-1.5e6));
    }

    #[test]
    fn the_table_tells_decimals_from_thousands() {
        assert_eq!(Style::of(["1,234", "12"].into_iter()), Style::Dot);
        assert_eq!(Style::of(["1.234", "62,50", "7,5"].into_iter()), Style::Comma);
        assert_eq!(Style::of(["1,234", "62.50", "0,5"].into_iter()), Style::Dot);
        assert_eq!(value("1.234", Style::Comma), Some(1234.0));
    }

    #[test]
    fn a_change_of_unit_rounds_once() {
        let Cell::Number(number) = Cell::read("2.62", Style::Dot) else { panic!("a number") };
        assert_eq!(number.scaled(9), Some(2_620_000_000.0));
        let Cell::Number(number) = Cell::read("73.73", Style::Dot) else { panic!("a number") };
        assert_eq!(number.scaled(3), Some(73_730.0));
        assert!((number.rounding(3) - 5.0).abs() < 1e-9);
    }
}
