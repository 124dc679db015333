//! Small pieces of text that several renderers use: numbers with separators, plurals, wrapped lines.

pub use occupant_core::printable;
use occupant_core::report::{Basis, GpuName};
use unicode_width::UnicodeWidthStr;

/// `1234567` as `1,234,567`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 kernel`, `2 kernels`.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// ` for h100-sxm (9.0)`, ` for 9.0`.
pub(crate) fn for_gpu(gpu: &GpuName) -> String {
    on_gpu(gpu).replacen("on", " for", 1)
}

/// What stands before an occupancy that is not exact.
pub(crate) const fn mark(basis: Basis) -> &'static str {
    match basis {
        Basis::Exact => "",
        Basis::UpperBound => "<=",
        Basis::Hypothetical => "~",
    }
}

/// `on h100-sxm (9.0)`, `on 9.0`.
pub(crate) fn on_gpu(gpu: &GpuName) -> String {
    match gpu.name.as_str() {
        name if name.starts_with("sm_") => format!("on {}", gpu.compute_capability),
        name if gpu.compute_capability.is_empty() => format!("on {name}"),
        name => format!("on {name} ({})", gpu.compute_capability),
    }
}

/// A percentage without needless zeros: `25`, `62.5`, `2.08`.
pub(crate) fn percent(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Limiters as people call them.
pub(crate) fn resource(name: &str) -> &str {
    match name {
        "shared_memory" => "shared memory",
        "virtual_resources" => "virtual resources",
        "tensor_memory" => "tensor memory",
        other => other,
    }
}

/// Breaks `text` at spaces to lines of at most `width`; lines after the first start with `indent` spaces.
pub(crate) fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if !line.trim().is_empty() && line.width() + 1 + word.width() > width {
            lines.push(format!("{}{word}", " ".repeat(indent)));
        } else {
            if !line.trim().is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}

/// A name and, from column `at` on, a text that is broken to the width.
pub(crate) fn wrapped_beside(name: &str, text: &str, at: usize, width: usize) -> String {
    let indent = " ".repeat(at);
    let lines = wrapped(text, width.saturating_sub(at).max(20), 0);
    let lines: Vec<&str> = lines.lines().collect();
    format!("{name:<at$}{}\n", lines.join(&format!("\n{indent}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_lines() {
        assert_eq!((grouped(0), grouped(1234), grouped(1_234_567)), ("0".into(), "1,234".into(), "1,234,567".into()));
        assert_eq!((count(1, "kernel"), count(2, "kernel")), ("1 kernel".into(), "2 kernels".into()));
        assert_eq!(
            (percent(25.0), percent(62.5), percent(2.08), percent(0.0)),
            ("25".into(), "62.5".into(), "2.08".into(), "0".into())
        );
        assert_eq!(wrapped("one two three", 8, 2), "one two\n  three\n");
        assert_eq!(wrapped("unbreakable", 4, 2), "unbreakable\n");
    }
}
