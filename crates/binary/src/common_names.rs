//! Demangles the forms that names of kernels mostly have, in one pass over the name: text that a substitution stands for
//! is copied from where it was written first. Some ten times as fast as `cpp_demangle`, which reads a tree and then walks
//! it. Gives the same text as that or none at all: what is left out here (expressions, function types, arrays, lambdas,
//! operators, members with qualifiers) is for `cpp_demangle`.

/// The most that the text may take; what is longer is for `cpp_demangle` to refuse.
const LONGEST: usize = 128 << 10;
/// `cpp_demangle` reads trees to a depth of 96 and writes them to a depth of 128. Depths are counted here as it counts them,
/// or more, and what could come near its bounds is left to it.
const DEEPEST_READ: usize = 80;
const DEEPEST_WRITTEN: usize = 110;

/// The text of an encoding (`_Z` and what follows), where it is of a common form.
pub(crate) fn demangle(mangled: &str) -> Option<String> {
    let name = mangled.strip_prefix("_Z")?.as_bytes();
    let mut reader = Reader { rest: name, text: Vec::with_capacity(512), known: Vec::new(), arguments: None };
    let text = reader.encoding()?;
    String::from_utf8(text).ok()
}

/// A part of the text that was written.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    end: usize,
    form: Form,
}

/// What is known of a part beside its text.
#[derive(Clone, Copy)]
struct Form {
    /// Levels that `cpp_demangle` goes down to write it.
    height: usize,
    /// A type, and no prefix of a name.
    is_type: bool,
    /// A pack of template arguments.
    is_pack: bool,
    /// `cpp_demangle` writes `*`, `&` and `const` of this in its middle: no such thing is put behind it here.
    is_fragile: bool,
}

impl Form {
    const fn new(height: usize) -> Self {
        Self { height, is_type: false, is_pack: false, is_fragile: false }
    }
}

struct Reader<'n> {
    rest: &'n [u8],
    text: Vec<u8>,
    /// What substitutions stand for.
    known: Vec<Part>,
    /// The template arguments at the end of the function's name, once it is read.
    arguments: Option<Vec<Part>>,
}

impl<'n> Reader<'n> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.rest = self.rest.get(bytes..)?;
        Some(())
    }

    /// Whether the next byte is this one, which is then taken.
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.rest = self.rest.get(1..).unwrap_or(&[]);
        }
        found
    }

    fn write(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
    }

    fn write_again(&mut self, part: Part) -> Option<()> {
        if self.text.len().saturating_add(part.end.saturating_sub(part.start)) > LONGEST {
            return None;
        }
        self.text.extend_from_within(part.start..part.end);
        Some(())
    }

    /// What was written from `start` on is what the next substitution stands for.
    fn know(&mut self, start: usize, form: Form) {
        self.known.push(Part { start, end: self.text.len(), form });
    }

    /// `<encoding>`: a name, the type that a template returns, parameters.
    fn encoding(&mut self) -> Option<Vec<u8>> {
        let arguments = self.function_name()?;
        if self.rest.is_empty() {
            return Some(std::mem::take(&mut self.text));
        }
        let returns = self.text.len();
        self.arguments = arguments;
        if self.arguments.is_some() {
            self.shallow_type()?;
        }
        let parameters = self.text.len();
        self.write(b"(");
        if self.rest == b"v" {
            self.skip(1)?;
        } else {
            self.shallow_type()?;
            while !self.rest.is_empty() {
                self.write(b", ");
                self.shallow_type()?;
            }
        }
        self.write(b")");
        if self.arguments.is_none() {
            return Some(std::mem::take(&mut self.text));
        }
        // The type that is returned was read after the name and stands before it.
        let mut text = Vec::with_capacity(self.text.len().saturating_add(1));
        text.extend_from_slice(self.text.get(returns..parameters)?);
        text.push(b' ');
        text.extend_from_slice(self.text.get(..returns)?);
        text.extend_from_slice(self.text.get(parameters..)?);
        Some(text)
    }

    fn shallow_type(&mut self) -> Option<()> {
        let form = self.any_type(8)?;
        (form.height < DEEPEST_WRITTEN).then_some(())
    }

    /// The name of the function, and the template arguments at its end, where there are some.
    fn function_name(&mut self) -> Option<Option<Vec<Part>>> {
        let mut arguments = None;
        let form = match self.peek()? {
            b'N' => self.nested(4, &mut arguments)?,
            b'S' if !self.rest.starts_with(b"St") => return None,
            _ => self.unscoped(4, &mut arguments)?,
        };
        (form.height < DEEPEST_WRITTEN).then_some(arguments)
    }

    /// `<unscoped-name>`, with its template arguments.
    fn unscoped(&mut self, depth: usize, arguments: &mut Option<Vec<Part>>) -> Option<Form> {
        let start = self.text.len();
        if self.rest.starts_with(b"St") {
            self.skip(2)?;
            self.write(b"std::");
        }
        self.source_name()?;
        let mut form = Form::new(6);
        if self.peek() == Some(b'I') {
            self.know(start, form);
            form.height = self.template_arguments(depth, arguments)?.max(form.height);
        }
        Some(form)
    }

    /// `<nested-name>` without qualifiers.
    fn nested(&mut self, depth: usize, arguments: &mut Option<Vec<Part>>) -> Option<Form> {
        /// What was read last.
        #[derive(PartialEq)]
        enum Last {
            Nothing,
            Std,
            Known { is_type: bool },
            Name,
            Arguments,
        }
        self.skip(1)?;
        let start = self.text.len();
        let mut form = Form::new(0);
        let mut last = Last::Nothing;
        loop {
            match (self.peek()?, &last) {
                (b'E', Last::Name | Last::Arguments) => break,
                (b'S', Last::Nothing) if self.rest.starts_with(b"St") => {
                    self.skip(2)?;
                    self.write(b"std");
                    (form, last) = (Form::new(1), Last::Std);
                    continue;
                }
                (b'S', Last::Nothing) => {
                    let known = self.substitution()?;
                    let is_type = known.form.is_type;
                    // A type that is the start of a name takes in what should stand behind the whole name.
                    form = Form { is_type: false, is_fragile: is_type || known.form.is_fragile, ..known.form };
                    last = Last::Known { is_type };
                    continue;
                }
                (b'T', Last::Nothing) => {
                    form = Form { is_fragile: true, ..self.parameter(false)? };
                    form = Form { is_type: false, height: form.height.saturating_add(1), ..form };
                    last = Last::Known { is_type: true };
                }
                (b'I', Last::Name | Last::Known { is_type: false }) => {
                    let height = self.template_arguments(depth, arguments)?;
                    form.height = form.height.max(height).saturating_add(1);
                    last = Last::Arguments;
                }
                (b'0'..=b'9' | b'L', _) => {
                    if last != Last::Nothing {
                        self.write(b"::");
                    }
                    self.source_name()?;
                    *arguments = None;
                    form.height = form.height.max(4).saturating_add(1);
                    last = Last::Name;
                }
                _ => return None,
            }
            // The whole name is known as a type, if at all.
            if self.peek() != Some(b'E') {
                self.know(start, form);
            }
        }
        self.skip(1)?;
        Some(Form { height: form.height.saturating_add(4), ..form })
    }

    /// `<source-name>`, of the file alone (`L`) or not.
    fn source_name(&mut self) -> Option<()> {
        let is_local = self.take(b'L');
        if self.peek() == Some(b'0') {
            return None;
        }
        let length = self.number()?;
        let name = self.rest.get(..length).filter(|name| !name.is_empty())?;
        let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'$' | b'_' | b'.');
        if !name.iter().all(allowed) {
            return None;
        }
        self.skip(length)?;
        match name.strip_prefix(b"_GLOBAL_") {
            Some([b'.' | b'_' | b'$', b'N', ..]) => self.write(b"(anonymous namespace)"),
            _ => self.write(name),
        }
        // Tags, and numbers of local names.
        let goes_on = self.peek() == Some(b'B') || (is_local && self.peek() == Some(b'_'));
        (!goes_on).then_some(())
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            if number == Some(0) {
                return None;
            }
            number =
                Some(number.unwrap_or(0_usize).checked_mul(10)?.checked_add(usize::from(digit.wrapping_sub(b'0')))?);
            self.skip(1)?;
        }
        number
    }

    /// `S_`, `S0_`, …: the text that it stands for is written.
    fn substitution(&mut self) -> Option<Part> {
        self.skip(1)?;
        let mut number = None;
        while let Some(byte) = self.peek().filter(|byte| *byte != b'_') {
            let digit = match byte {
                b'0'..=b'9' => byte.wrapping_sub(b'0'),
                b'A'..=b'Z' => byte.wrapping_sub(b'A').wrapping_add(10),
                _ => return None,
            };
            // No number starts with 0 but 0 itself.
            if number == Some(0) {
                return None;
            }
            number = Some(number.unwrap_or(0_usize).checked_mul(36)?.checked_add(usize::from(digit))?);
            self.skip(1)?;
        }
        self.skip(1)?;
        let known = *self.known.get(number.map_or(Some(0), |number| number.checked_add(1))?)?;
        self.write_again(known)?;
        Some(known)
    }

    /// `<template-args>`; those of the function's name are kept in `kept`. Returns their height.
    fn template_arguments(&mut self, depth: usize, kept: &mut Option<Vec<Part>>) -> Option<usize> {
        self.skip(1)?;
        self.write(b"<");
        let mut parts = Vec::new();
        while parts.is_empty() || self.peek()? != b'E' {
            if !parts.is_empty() {
                self.write(b", ");
            }
            let start = self.text.len();
            let form = self.template_argument(depth.saturating_add(5))?;
            parts.push(Part { start, end: self.text.len(), form });
        }
        self.skip(1)?;
        self.write(if self.text.last() == Some(&b'>') { b" >" } else { b">" });
        let height = parts.iter().map(|part| part.form.height).max().unwrap_or(0);
        *kept = Some(parts);
        height.checked_add(2)
    }

    fn template_argument(&mut self, depth: usize) -> Option<Form> {
        // Packs in packs come here without any type between them.
        if depth > DEEPEST_READ {
            return None;
        }
        match self.peek()? {
            b'L' => self.literal(depth),
            b'J' => {
                self.skip(1)?;
                let mut form = Form { is_pack: true, is_fragile: true, ..Form::new(1) };
                let mut first = true;
                while self.peek()? != b'E' {
                    if !std::mem::replace(&mut first, false) {
                        self.write(b", ");
                    }
                    let height = self.template_argument(depth.saturating_add(1))?.height;
                    form.height = form.height.max(height.saturating_add(1));
                }
                self.skip(1)?;
                Some(form)
            }
            _ => self.any_type(depth),
        }
    }

    /// `<expr-primary>`: a whole number of a type.
    fn literal(&mut self, depth: usize) -> Option<Form> {
        self.skip(1)?;
        let mut height = 0;
        match self.peek()? {
            b'b' => {
                let text: &[u8] = if self.rest.starts_with(b"b0E") { b"false" } else { b"true" };
                if !matches!(self.rest.get(1..3)?, b"0E" | b"1E") {
                    return None;
                }
                self.write(text);
                self.skip(3)?;
                return Some(Form { is_fragile: true, ..Form::new(2) });
            }
            b'f' | b'd' | b'D' | b'_' => return None,
            b'i' => self.skip(1)?,
            _ => {
                self.write(b"(");
                height = self.any_type(depth.saturating_add(1))?.height;
                self.write(b")");
            }
        }
        if self.take(b'n') {
            self.write(b"-");
        }
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = self.rest.get(..digits).filter(|number| !number.is_empty())?;
        self.write(number);
        self.skip(digits)?;
        self.take(b'E').then(|| Form { is_fragile: true, ..Form::new(height.saturating_add(2)) })
    }

    /// `<type>`.
    fn any_type(&mut self, depth: usize) -> Option<Form> {
        if depth > DEEPEST_READ || self.text.len() > LONGEST {
            return None;
        }
        let start = self.text.len();
        let form = match self.peek()? {
            b'P' => self.behind(depth, b"*")?,
            b'R' => self.behind(depth, b"&")?,
            b'O' => self.behind(depth, b"&&")?,
            b'r' | b'V' | b'K' => self.qualified(depth)?,
            b'N' => self.nested(depth.saturating_add(3), &mut None)?,
            b'S' if !self.rest.starts_with(b"St") => {
                let known = self.substitution()?;
                if self.peek() != Some(b'I') {
                    return Some(known.form);
                }
                if known.form.is_type {
                    return None;
                }
                let height = self.template_arguments(depth.saturating_add(3), &mut None)?;
                Form { height: known.form.height.max(height).saturating_add(3), ..known.form }
            }
            b'S' | b'0'..=b'9' => self.unscoped(depth.saturating_add(3), &mut None)?,
            b'T' => self.parameter(false)?,
            b'D' if self.rest.starts_with(b"DpT") => {
                self.skip(2)?;
                let form = self.parameter(true)?;
                let form = Form { is_type: true, height: form.height.saturating_add(1), ..form };
                self.know(start, form);
                form
            }
            builtin => {
                self.write(builtin_name(builtin)?);
                self.skip(1)?;
                return Some(Form::new(3));
            }
        };
        let form = Form { is_type: true, height: form.height.saturating_add(2), ..form };
        self.know(start, form);
        Some(form)
    }

    /// A type with something behind it.
    fn behind(&mut self, depth: usize, mark: &[u8]) -> Option<Form> {
        self.skip(1)?;
        let form = self.any_type(depth.saturating_add(1))?;
        // References to references collapse.
        let collapses = mark.first() == Some(&b'&') && self.text.last() == Some(&b'&');
        if form.is_fragile || collapses {
            return None;
        }
        self.write(mark);
        Some(form)
    }

    /// A type with `const` and the like.
    fn qualified(&mut self, depth: usize) -> Option<Form> {
        let (is_restrict, is_volatile, is_const) = (self.take(b'r'), self.take(b'V'), self.take(b'K'));
        if matches!(self.peek()?, b'F' | b'D') {
            return None;
        }
        let form = self.any_type(depth.saturating_add(1))?;
        if form.is_fragile {
            return None;
        }
        for (is_so, word) in [(is_const, " const"), (is_volatile, " volatile"), (is_restrict, " restrict")] {
            if is_so {
                self.write(word.as_bytes());
            }
        }
        Some(form)
    }

    /// `<template-param>` in the function's own parameters: an argument of its name.
    fn parameter(&mut self, pack: bool) -> Option<Form> {
        self.skip(1)?;
        let number = if self.peek()? == b'_' { 0 } else { self.number()?.checked_add(1)? };
        if !self.take(b'_') || self.peek() == Some(b'I') {
            return None;
        }
        let argument = *self.arguments.as_ref()?.get(number)?;
        if argument.form.is_pack != pack {
            return None;
        }
        self.write_again(argument)?;
        Some(Form { height: argument.form.height.saturating_add(2), ..argument.form })
    }
}

/// `<builtin-type>` of one letter.
fn builtin_name(letter: u8) -> Option<&'static [u8]> {
    let name = match letter {
        b'v' => "void",
        b'w' => "wchar_t",
        b'b' => "bool",
        b'c' => "char",
        b'a' => "signed char",
        b'h' => "unsigned char",
        b's' => "short",
        b't' => "unsigned short",
        b'i' => "int",
        b'j' => "unsigned int",
        b'l' => "long",
        b'm' => "unsigned long",
        b'x' => "long long",
        b'y' => "unsigned long long",
        b'n' => "__int128",
        b'o' => "unsigned __int128",
        b'f' => "float",
        b'd' => "double",
        b'e' => "long double",
        b'g' => "__float128",
        b'z' => "...",
        _ => return None,
    };
    Some(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::names::by_tree;

    /// Names of real kernels, and names on which the tree does something of its own.
    const NAMES: &[&str] = &[
        "_Z6kernelPf",
        "_ZL6staticv",
        "_ZN12_GLOBAL__N_16kernelEPKfRiOd",
        "_Z4dataIiE",
        "_ZN3cub11EmptyKernelIvEEvv",
        "_ZN11onnxruntime4cuda17_UnaryElementWiseINS_8BFloat16ES2_NS0_12OP_HardSwishIS2_EELi256ELi4EEEvPKT_PT0_T1_l",
        "_ZN7cutlass6KernelIN4cute5tupleIJNS1_1CILi128EEENS3_ILin64EEEEEEEEvNT_6ParamsE",
        "_Z5applyIfJidPKcEEvT_DpT0_",
        "_Z5emptyIJEEvDpT_i",
        "_Z4enumIL4Kind3ELb1ELb0ELm5ELj7ELx8EEvSt6vectorIT_SaIiEE",
        "_Z4pairSt4pairIiSt5tupleIJfS0_EEEPS3_",
        "_ZN1a1bIiE1cEPNS0_1dE",
        "_Z3outIN1a1bIiEEEvPNT_1cENS3_1dE",
        "_Z4foldIRiEvRT_OS1_PS1_",
        "_Z3cvrPVKrPiVS_KS0_",
    ];

    /// Pieces of the language, those that are left to the tree included.
    const PIECES: &[&str] = &[
        "S_",
        "S0_",
        "S1_",
        "S2_",
        "St",
        "Sa",
        "T_",
        "T0_",
        "P",
        "R",
        "O",
        "K",
        "VK",
        "N",
        "E",
        "E",
        "E",
        "I",
        "J",
        "Li5E",
        "Lb1E",
        "Lb2E",
        "L1kn7E",
        "3foo",
        "1b",
        "L1c",
        "12_GLOBAL__N_1",
        "Dp",
        "DpT_",
        "v",
        "i",
        "f",
        "z",
        "Dn",
        "XLi1EE",
        "FvvE",
        "A3_i",
        "M1ai",
        "NK",
        "B3tag",
        ".1",
        "_",
        "cv",
        "C1",
    ];

    fn same(name: &str) -> bool {
        demangle(name).is_none_or(|text| by_tree(name) == Some(text))
    }

    #[test]
    fn common_names_are_read_as_the_tree_reads_them() {
        for name in NAMES {
            assert!(same(name), "{name}: {:?}, by its tree {:?}", demangle(name), by_tree(name));
        }
        let read = NAMES.iter().filter(|name| demangle(name).is_some()).count();
        assert!(read + 5 > NAMES.len(), "only {read} are of common forms");
        assert_eq!(
            demangle("_Z5applyIfJidPKcEEvT_DpT0_").unwrap(),
            "void apply<float, int, double, char const*>(float, int, double, char const*)"
        );
    }

    #[test]
    fn deep_names_are_left_to_the_tree_before_it_refuses_them() {
        for depth in 1..150 {
            let around = |open: &str, middle: &str, close: &str| open.repeat(depth) + middle + &close.repeat(depth);
            let names = [
                format!("_Z1k{}", around("P", "i", "")),
                format!("_Z1k{}", around("1aI", "i", "E")),
                format!("_Z1k{}", around("N1b1aI", "i", "EE")),
                format!("_Z1kI{}Evv", around("J", "i", "E")),
                format!("_Z1kI{}EvT_PT_", around("1aI", "i", "E")),
                format!("_ZN{}Ev", around("1a", "", "")),
                // Each argument stands for the one before, with a level more.
                format!("_Z1k1aIiE{}", (0..depth).map(|at| format!("S_I{}E", substitution(at))).collect::<String>()),
            ];
            for name in names {
                assert!(same(&name), "{name}");
            }
        }
    }

    /// The substitution of the type that argument `at` of the chain above is.
    fn substitution(at: usize) -> String {
        match at {
            0..=9 => format!("S{at}_"),
            10..=35 => format!("S{}_", char::from(b'A' + (at - 10) as u8)),
            _ => "i".to_owned(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn no_name_is_read_otherwise_than_by_its_tree(
            seed in proptest::sample::select(NAMES),
            changes in proptest::collection::vec((any::<proptest::sample::Index>(), proptest::sample::select(PIECES), 0..4_usize), 0..6),
        ) {
            let mut name = seed.to_owned();
            for (place, piece, cut) in changes {
                let at = 2 + place.index(name.len() - 1);
                let end = (at + cut).min(name.len());
                name.replace_range(at.min(end)..end, piece);
            }
            prop_assert!(same(&name), "{}: {:?}, by its tree {:?}", name, demangle(&name), by_tree(&name));
        }
    }
}
