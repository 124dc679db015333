//! Names for reading: demangled, and shortened for a table. A kernel's identity stays its mangled name.

use std::borrow::Cow;

use cpp_demangle::{DemangleNodeType, DemangleOptions, DemangleWrite, ParseOptions, Symbol};

use crate::common_names;
use crate::sound_names::is_sound;

/// The longest mangled name that is demangled; longer ones could take the demangler too long.
const LONGEST: usize = 32 << 10;
/// The longest demangled name that is shown; the longest seen has some 20,000 characters.
const LONGEST_DEMANGLED: usize = 256 << 10;
/// Steps in which it is put together.
const MOST_STEPS: usize = 1 << 20;
/// Rules within rules that the demangler reads: its own bound.
const DEEPEST_TREE: u32 = 96;

/// The C++ name, or the name itself where it is none. Names of callees inside a kernel (`$kernel$callee`) and of
/// statics in separately compiled code (`__nv_static_…__Z…`) are demangled from their C++ part.
#[must_use]
pub fn demangle(name: &str) -> Cow<'_, str> {
    let mangled = cpp_part(name);
    if !mangled.starts_with("_Z") || mangled.len() > LONGEST {
        return Cow::Borrowed(name);
    }
    match common_names::demangle(mangled).or_else(|| by_tree(mangled)) {
        Some(text) => Cow::Owned(text),
        None => Cow::Borrowed(name),
    }
}

/// Any sound name, by way of its tree.
pub(crate) fn by_tree(mangled: &str) -> Option<String> {
    if !is_sound(mangled) {
        return None;
    }
    let options = ParseOptions::default().recursion_limit(DEEPEST_TREE);
    let symbol = Symbol::new_with_options(mangled, &options).ok()?;
    let mut text = Bounded { text: String::new(), steps: 0 };
    symbol.structured_demangle(&mut text, &DemangleOptions::new()).ok()?;
    Some(text.text)
}

/// Text up to a length, in so many steps: a short name can stand for gigabytes, by substitutions of substitutions, or for
/// nothing in as many steps.
struct Bounded {
    text: String,
    steps: usize,
}

impl DemangleWrite for Bounded {
    fn push_demangle_node(&mut self, _: DemangleNodeType) {
        self.steps = self.steps.saturating_add(1);
    }

    fn write_string(&mut self, text: &str) -> std::fmt::Result {
        self.steps = self.steps.saturating_add(1);
        if self.text.len().saturating_add(text.len()) > LONGEST_DEMANGLED || self.steps > MOST_STEPS {
            return Err(std::fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }

    fn pop_demangle_node(&mut self) {}
}

fn cpp_part(name: &str) -> &str {
    if name.starts_with("__nv_static_") {
        return name.find("__Z").and_then(|at| name.get(at.saturating_add(1)..)).unwrap_or(name);
    }
    match name.strip_prefix('$').and_then(|rest| rest.split_once('$')) {
        Some((_, callee)) => callee,
        None => name,
    }
}

/// A demangled name for a table: without return type and parameters, and without the middle where it is still longer
/// than `width` characters.
#[must_use]
pub fn shorten(demangled: &str, width: usize) -> Cow<'_, str> {
    let plain = without_return_type(without_parameters(demangled));
    let length = plain.chars().count();
    if length <= width {
        return Cow::Borrowed(plain);
    }
    // Two thirds of the room for the start, which names the kernel; the rest for the end, which tells instances apart.
    let kept = width.saturating_sub(1);
    let tail = kept.checked_div(3).unwrap_or(0);
    let head: String = plain.chars().take(kept.saturating_sub(tail)).collect();
    let end: String = plain.chars().skip(length.saturating_sub(tail)).collect();
    Cow::Owned(format!("{head}…{end}"))
}

/// Text without its middle where it is longer than `most` bytes: names in a file can be made as long as one likes.
#[must_use]
pub fn in_short(text: &str, most: usize) -> Cow<'_, str> {
    const LEFT_OUT: char = '…';
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let kept = most.saturating_sub(LEFT_OUT.len_utf8());
    let tail = kept.checked_div(3).unwrap_or(0);
    let mut head = kept.saturating_sub(tail);
    let mut end = text.len().saturating_sub(tail);
    while !text.is_char_boundary(head) {
        head = head.saturating_sub(1);
    }
    while !text.is_char_boundary(end) {
        end = end.saturating_add(1);
    }
    let (head, end) = (text.get(..head).unwrap_or(""), text.get(end..).unwrap_or(""));
    Cow::Owned(format!("{head}{LEFT_OUT}{end}"))
}

/// Cuts the last parenthesis at the outer level and what follows it.
fn without_parameters(name: &str) -> &str {
    let mut depth = 0_i32;
    let mut cut = None;
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'(' if depth == 0 && !name.get(at..).unwrap_or("").starts_with("(anonymous") => {
                cut = Some(at);
                depth = depth.saturating_add(1);
            }
            b'(' | b'<' | b'[' | b'{' => depth = depth.saturating_add(1),
            b'>' if at.checked_sub(1).and_then(|before| name.as_bytes().get(before)) == Some(&b'-') => {}
            b')' | b'>' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    cut.filter(|at| *at > 0).and_then(|at| name.get(..at)).unwrap_or(name)
}

/// Cuts everything up to the last space at the outer level.
fn without_return_type(name: &str) -> &str {
    let mut depth = 0_i32;
    let mut start = 0;
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'(' | b'<' | b'[' | b'{' => depth = depth.saturating_add(1),
            b')' | b'>' | b']' | b'}' => depth = depth.saturating_sub(1),
            b' ' if depth == 0 => start = at.saturating_add(1),
            _ => {}
        }
    }
    name.get(start..).filter(|rest| !rest.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpp_names_and_others() {
        assert_eq!(demangle("_Z6kernelPf"), "kernel(float*)");
        assert_eq!(demangle("saxpy"), "saxpy");
        assert_eq!(demangle("$recursion$_Z9ackermannii"), "ackermann(int, int)");
        assert_eq!(demangle("__nv_static_34__aabd6a4f_14_x_cu_linked__Z12linked_localPf"), "linked_local(float*)");
        assert_eq!(demangle("_Znot a name"), "_Znot a name");
    }

    #[test]
    fn shortened_names_keep_what_tells_them_apart() {
        let name = "void fixture::convert<int, float>(int const*, float*, int)";
        assert_eq!(shorten(name, 40), "fixture::convert<int, float>");
        assert_eq!(shorten(name, 16), "fixture::c…loat>");
        assert_eq!(shorten("kernel(float*)", 40), "kernel");
        assert_eq!(
            shorten("void (anonymous namespace)::k<(Kind)3>(int (*)(float))", 60),
            "(anonymous namespace)::k<(Kind)3>"
        );
        assert_eq!(shorten("", 10), "");
        assert_eq!(shorten("ab", 0), "…");
    }
}
