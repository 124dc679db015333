//! Tells in one pass whether a mangled name keeps to the grammar. `cpp_demangle` tries one rule after the other at each
//! place, so a name that breaks off deep inside costs it time that doubles with every level; only names that are sound are
//! given to it.
//!
//! Grammar: Itanium C++ ABI, "External Names (a.k.a. Mangling)". Stricter than `cpp_demangle` where a rule is ambiguous and
//! no kernel's name is known to need it. Not for: the text; that is [`super::names`].

mod expressions;

/// Levels of rules within rules; `cpp_demangle` itself gives up at 96 of its own, which are more to a level.
const DEEPEST: usize = 96;
/// `new` and `delete` are read twice by `cpp_demangle` where something behind them is not to its liking.
const MOST_NEW: usize = 4;

/// Operators, two letters each, by the number of what they work on.
const UNARY: &[u8] = b"psngaddecoppmmnttesznxaznxsptw";
const BINARY: &[u8] = b"plmimldvrmanoreoaSpLmImLdVrMaNoReOlsrslSrSeqneltgtlegessaaoocmpmixds";
/// Those that are names of functions beside them.
const CALLS: &[u8] = b"clquptnwnadldaaw";

fn is_among(operators: &[u8], code: [u8; 2]) -> bool {
    operators.chunks_exact(2).any(|known| known == code)
}

/// Whether a name, with its `_Z`, keeps to the grammar.
pub(crate) fn is_sound(mangled: &str) -> bool {
    let Some(name) = mangled.strip_prefix("_Z") else { return false };
    let mut check = Check { rest: name.as_bytes(), known: 0, depth: 0, new: 0 };
    check.encoding().is_some() && (check.rest.is_empty() || check.rest.first() == Some(&b'.'))
}

struct Check<'n> {
    rest: &'n [u8],
    /// Substitutions that can be named from here on: as many as `cpp_demangle` knows, or fewer.
    known: usize,
    depth: usize,
    new: usize,
}

impl Check<'_> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn second(&self) -> Option<u8> {
        self.rest.get(1).copied()
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.rest = self.rest.get(bytes..)?;
        Some(())
    }

    fn take(&mut self, text: &[u8]) -> bool {
        let after = self.rest.strip_prefix(text);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn must(&mut self, text: &[u8]) -> Option<()> {
        self.take(text).then_some(())
    }

    fn know(&mut self) {
        self.known = self.known.saturating_add(1);
    }

    /// One level further down.
    fn deeper(&mut self, rule: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth = self.depth.saturating_add(1);
        let outcome = rule(self);
        self.depth = self.depth.saturating_sub(1);
        outcome
    }

    /// A rule again and again up to an `E`.
    fn until_end(&mut self, mut rule: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        while !self.take(b"E") {
            rule(self)?;
        }
        Some(())
    }

    fn digits(&mut self) -> usize {
        let length = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.rest = self.rest.get(length..).unwrap_or(&[]);
        length
    }

    fn encoding(&mut self) -> Option<()> {
        self.deeper(|check| {
            match (check.peek()?, check.second()) {
                (b'T', Some(b'V' | b'T' | b'I' | b'S')) => {
                    check.skip(2)?;
                    return check.any_type();
                }
                (b'G', Some(b'V')) => check.skip(2)?,
                _ => {}
            }
            check.name()?;
            while !matches!(check.peek(), None | Some(b'E' | b'.')) {
                check.any_type()?;
            }
            Some(())
        })
    }

    fn name(&mut self) -> Option<()> {
        match (self.peek()?, self.second()) {
            (b'N', _) => self.nested(),
            (b'Z', _) => self.local(),
            (b'S', Some(b't')) => {
                self.skip(2)?;
                self.unscoped()
            }
            (b'S', _) => {
                self.substitution()?;
                self.arguments()
            }
            _ => self.unscoped(),
        }
    }

    /// A name outside of any other, with its template arguments.
    fn unscoped(&mut self) -> Option<()> {
        self.unqualified()?;
        if self.peek() == Some(b'I') {
            self.know();
            self.arguments()?;
        }
        Some(())
    }

    /// `N` to `E`. Every part but the whole is a substitution.
    fn nested(&mut self) -> Option<()> {
        self.must(b"N")?;
        if !self.take(b"H") {
            self.qualifiers();
            let _ = self.take(b"R") || self.take(b"O");
        }
        // Whether what is there so far can be a whole name, and whether arguments can follow it.
        let (mut whole, mut template) = (false, false);
        while !self.take(b"E") {
            let mut substituted = false;
            (whole, template) = match (self.peek()?, self.second()) {
                (b'S', Some(b't')) if !whole => {
                    self.skip(2)?;
                    substituted = true;
                    (false, false)
                }
                (b'S', _) => {
                    self.substitution()?;
                    substituted = true;
                    (false, true)
                }
                (b'T', _) => {
                    self.parameter()?;
                    (false, true)
                }
                (b'D', Some(b't' | b'T')) => {
                    self.decltype()?;
                    (false, false)
                }
                (b'I', _) if template => {
                    self.arguments()?;
                    (true, false)
                }
                _ => {
                    self.unqualified()?;
                    (!self.take(b"M"), true)
                }
            };
            if !substituted && self.peek() != Some(b'E') {
                self.know();
            }
        }
        whole.then_some(())
    }

    /// A name inside a function.
    fn local(&mut self) -> Option<()> {
        self.must(b"Z")?;
        self.encoding()?;
        self.must(b"E")?;
        if self.take(b"s") {
            return self.discriminator();
        }
        if self.peek() == Some(b'd') && matches!(self.second(), Some(b'0'..=b'9' | b'_')) {
            self.skip(1)?;
            self.digits();
            self.must(b"_")?;
            return self.deeper(Self::name);
        }
        self.deeper(Self::name)?;
        self.discriminator()
    }

    fn discriminator(&mut self) -> Option<()> {
        if self.take(b"__") {
            self.digits();
            return self.must(b"_");
        }
        if self.take(b"_") && self.digits() == 0 {
            return None;
        }
        Some(())
    }

    fn unqualified(&mut self) -> Option<()> {
        match (self.peek()?, self.second()?) {
            (b'L', b'0'..=b'9') => {
                self.skip(1)?;
                self.identifier()?;
            }
            (b'0'..=b'9', _) => self.identifier()?,
            (b'C', b'1'..=b'5') | (b'D', b'0'..=b'5') => self.skip(2)?,
            (b'U', b't') => {
                self.skip(2)?;
                self.digits();
                self.must(b"_")?;
            }
            (b'U', b'l') => {
                self.skip(2)?;
                self.any_type()?;
                self.until_end(Self::any_type)?;
                self.digits();
                self.must(b"_")?;
            }
            _ => self.operator()?,
        }
        while self.take(b"B") {
            self.identifier()?;
        }
        Some(())
    }

    fn identifier(&mut self) -> Option<()> {
        let length = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number: usize = std::str::from_utf8(self.rest.get(..length)?).ok()?.parse().ok()?;
        self.skip(length)?;
        let name = self.rest.get(..number).filter(|name| !name.is_empty())?;
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
        if !name.iter().all(is_plain) {
            return None;
        }
        self.skip(number)
    }

    /// The name of an operator's function.
    fn operator(&mut self) -> Option<()> {
        if self.take(b"cv") {
            // `operator T<…>` and `operator T` of a template look alike.
            let of_parameter = self.peek() == Some(b'T');
            self.any_type()?;
            return (!of_parameter || self.peek() != Some(b'I')).then_some(());
        }
        if self.take(b"li") {
            return self.identifier();
        }
        let code = *self.rest.first_chunk::<2>()?;
        let operator = [UNARY, BINARY, CALLS].iter().any(|known| is_among(known, code));
        self.skip(2).filter(|()| operator)
    }

    /// `S_`, `S1A_` of those that are known by now, `Sa` and the like.
    fn substitution(&mut self) -> Option<()> {
        self.must(b"S")?;
        if let b'a' | b'b' | b's' | b'i' | b'o' | b'd' = self.peek()? {
            return self.skip(1);
        }
        let mut number = 0_usize;
        let mut first = true;
        loop {
            let byte = self.peek()?;
            self.skip(1)?;
            let digit = match byte {
                b'_' => break,
                b'0'..=b'9' => byte.checked_sub(b'0')?,
                b'A'..=b'Z' => byte.checked_sub(b'A')?.checked_add(10)?,
                _ => return None,
            };
            number = if first { 0 } else { number }.checked_mul(36)?.checked_add(usize::from(digit))?;
            first = false;
        }
        let index = if first { 0 } else { number.checked_add(1)? };
        (index < self.known).then_some(())
    }

    fn parameter(&mut self) -> Option<()> {
        self.must(b"T")?;
        self.digits();
        self.must(b"_")
    }

    fn decltype(&mut self) -> Option<()> {
        self.skip(2)?;
        self.expression()?;
        self.must(b"E")
    }

    fn qualifiers(&mut self) -> bool {
        let any = [self.take(b"r"), self.take(b"V"), self.take(b"K")];
        any.contains(&true)
    }

    fn arguments(&mut self) -> Option<()> {
        self.must(b"I")?;
        self.argument()?;
        self.until_end(Self::argument)
    }

    fn maybe_arguments(&mut self) -> Option<()> {
        if self.peek() == Some(b'I') { self.arguments() } else { Some(()) }
    }

    fn argument(&mut self) -> Option<()> {
        self.deeper(|check| match check.peek()? {
            b'X' => {
                check.skip(1)?;
                check.expression()?;
                check.must(b"E")
            }
            b'L' => check.literal(),
            b'J' => {
                check.skip(1)?;
                check.until_end(Self::argument)
            }
            _ => check.any_type(),
        })
    }

    /// A constant, or the name of something outside.
    fn literal(&mut self) -> Option<()> {
        self.must(b"L")?;
        if self.take(b"_Z") {
            self.encoding()?;
            return self.must(b"E");
        }
        self.any_type()?;
        let length = self.rest.iter().position(|byte| *byte == b'E')?;
        self.skip(length)?;
        self.must(b"E")
    }

    fn any_type(&mut self) -> Option<()> {
        self.deeper(Self::one_type)
    }

    fn one_type(&mut self) -> Option<()> {
        if self.qualifiers() {
            if self.peek() == Some(b'F') {
                return self.function();
            }
            self.any_type()?;
            self.know();
            return Some(());
        }
        if let Some(bytes) = self.builtin() {
            return self.skip(bytes);
        }
        match (self.peek()?, self.second()) {
            (b'u', _) => {
                self.skip(1)?;
                return self.identifier();
            }
            (b'P' | b'R' | b'O' | b'C' | b'G', _) => {
                self.skip(1)?;
                self.any_type()?;
            }
            (b'U', Some(b'0'..=b'9')) => {
                self.skip(1)?;
                self.identifier()?;
                if self.peek() == Some(b'I') {
                    self.arguments()?;
                }
                self.any_type()?;
            }
            (b'F', _) => return self.function(),
            (b'A', _) => self.array()?,
            (b'M', _) => {
                self.skip(1)?;
                self.any_type()?;
                self.any_type()?;
            }
            (b'T', Some(b's' | b'u' | b'e')) => {
                self.skip(2)?;
                self.name()?;
            }
            (b'T', _) => {
                self.parameter()?;
                if self.peek() == Some(b'I') {
                    self.know();
                    self.arguments()?;
                }
            }
            (b'D', Some(second)) => return self.of_d(second),
            (b'S', second) if second != Some(b't') => {
                self.substitution()?;
                if self.peek() != Some(b'I') {
                    return Some(());
                }
                self.arguments()?;
            }
            _ => self.name()?,
        }
        self.know();
        Some(())
    }

    /// The letters of a type that is built in.
    fn builtin(&self) -> Option<usize> {
        match (self.peek()?, self.second()) {
            (b'D', Some(b'n' | b'a' | b'c' | b'e' | b'f' | b'h' | b'i' | b'u' | b's')) => Some(2),
            (letter, _) if b"vwbcahstijlmxynofdegz".contains(&letter) => Some(1),
            _ => None,
        }
    }

    fn function(&mut self) -> Option<()> {
        self.must(b"F")?;
        let _ = self.take(b"Y");
        self.any_type()?;
        loop {
            let reference = matches!((self.peek()?, self.second()), (b'R' | b'O', Some(b'E')));
            if reference {
                self.skip(1)?;
            }
            if self.take(b"E") {
                break;
            }
            self.any_type()?;
        }
        self.know();
        Some(())
    }

    fn array(&mut self) -> Option<()> {
        self.must(b"A")?;
        if self.digits() == 0 && self.peek() != Some(b'_') {
            self.expression()?;
        }
        self.must(b"_")?;
        self.any_type()
    }

    /// Types that begin with `D`.
    fn of_d(&mut self, second: u8) -> Option<()> {
        match second {
            b'F' => {
                self.skip(2)?;
                return if self.digits() > 0 { self.must(b"_").or_else(|| self.must(b"b")) } else { None };
            }
            b'p' => {
                self.skip(2)?;
                self.any_type()?;
            }
            b't' | b'T' => self.decltype()?,
            b'v' => {
                self.skip(2)?;
                if self.digits() == 0 {
                    self.must(b"_")?;
                    self.expression()?;
                }
                self.must(b"_")?;
                self.any_type()?;
            }
            b'o' => {
                self.skip(2)?;
                return self.function();
            }
            _ => return None,
        }
        self.know();
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_names_of_uncommon_forms_are_sound() {
        for name in [
            "_Z1fIXadL_Z1gvEEEvv",
            "_ZN1a1bclIJiEEEDTcl1fspfp_EEDpT_",
            "_ZZ1fvENKUlT_T0_E_clIifEEDaS_S0_",
            "_Z1fIPFvPKciEEvT_",
            "_Z1fILi3EEvRAT__i",
            "_Z1fIiEvNSt9enable_ifIXsr3std7is_sameIT_iEE5valueEiE4typeE",
            "_Z1fM1aKFvvE",
            "_ZNK1aplERKS_",
            "_ZN1aC1EOS_",
            "_Z1kDv4_fDF16_Dn",
        ] {
            assert!(is_sound(name), "{name}");
        }
    }

    #[test]
    fn no_name_takes_more_than_a_small_stack() {
        let names = || {
            let around = |open: &str, middle: &str, close: &str| {
                (1..100).map(|depth| open.repeat(depth) + middle + &close.repeat(depth)).collect::<Vec<_>>()
            };
            let nested =
                [("J", "i", "E"), ("1aI", "i", "E"), ("N1a1bI", "i", "EE"), ("PF", "v", "vE"), ("M1a", "i", "")];
            let nested = nested.into_iter().flat_map(|(open, middle, close)| around(open, middle, close));
            let of_types = nested.chain(["J".repeat(16_000)]).map(|inside| format!("_Z1fI{inside}Evv"));
            let values = [("ps", "Li1E", ""), ("plLi1E", "Li1E", ""), ("cl", "1x", "E"), ("sr1aI", "i", "EE1b")];
            let values = values.into_iter().flat_map(|(open, middle, close)| around(open, middle, close));
            let of_values = values.map(|inside| format!("_Z1fIX{inside}EEvv"));
            of_types.chain(of_values).chain(around("_ZZ1fv", "", "E1gv")).collect::<Vec<String>>()
        };
        // The main thread of Windows has 1 MiB, and the caller needs some of it.
        let small = std::thread::Builder::new().stack_size(900 << 10);
        small.spawn(move || names().iter().for_each(|name| drop(crate::demangle(name)))).unwrap().join().unwrap();
    }

    #[test]
    fn what_would_be_tried_in_vain_again_and_again_is_not_sound() {
        for open in ["nw", "na", "dl", "da", "gsnw", "LA", "LSaI", "LS_I", "cl", "cvU1a", "SaI", "qu"] {
            for start in ["_Z1fDT", "_Z1fIX"] {
                for end in ["", "v", "!", "S99_"] {
                    let name = format!("{start}{}{end}", open.repeat(60));
                    assert!(!is_sound(&name), "{name}");
                }
            }
        }
        assert!(!is_sound("_Z1fS5_") && is_sound("_Z1f1aS_"));
        assert!(
            is_sound(&format!("_Z1fDT{}1xE", "dl".repeat(4))) && !is_sound(&format!("_Z1fDT{}1xE", "dl".repeat(5)))
        );
    }
}
