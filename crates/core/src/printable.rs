//! Text from files and arguments as it can be shown. Not for: JSON, which has escapes of its own.

use std::borrow::Cow;

/// A name from a file, which may hold anything, without what would move the cursor, break a line or turn the direction of
/// writing.
#[must_use]
pub fn printable(name: &str) -> Cow<'_, str> {
    if name.bytes().all(|byte| (b' '..=b'~').contains(&byte)) || !name.chars().any(is_unprintable) {
        return Cow::Borrowed(name);
    }
    let escaped = |c: char| if is_unprintable(c) { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(name.chars().map(escaped).collect())
}

/// Control characters, separators of lines and paragraphs, and marks that turn the direction of writing.
fn is_unprintable(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}')
}

/// The same of a field that need not be UTF-8: what is none stays, but for bytes that are control characters in other
/// encodings.
pub(crate) fn printable_bytes(field: &[u8]) -> Cow<'_, [u8]> {
    if field.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        return Cow::Borrowed(field);
    }
    let mut escaped = Vec::with_capacity(field.len());
    for chunk in field.utf8_chunks() {
        escaped.extend_from_slice(printable(chunk.valid()).as_bytes());
        for byte in chunk.invalid() {
            match byte {
                0x80..=0x9f => escaped.extend(byte.escape_ascii()),
                _ => escaped.push(*byte),
            }
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(printable("a\n\u{1b}[31mb"), "a\\n\\u{1b}[31mb");
        assert_eq!(printable("größer"), "größer");
        let shown = |field: &'static [u8]| printable_bytes(field).into_owned();
        assert_eq!(shown(b"\x1b[31mred\0"), b"\\u{1b}[31mred\\u{0}");
        assert_eq!(shown("größer".as_bytes()), "größer".as_bytes());
        assert_eq!(shown(b"gr\xf6\xdfer\x9b2J"), b"gr\xf6\xdfer\\x9b2J", "Latin-1 stays what it is");
    }
}
