//! The expressions inside names: of arguments that are values, of array bounds, of `decltype`.

use super::{BINARY, Check, MOST_NEW, UNARY, is_among};

impl Check<'_> {
    pub(super) fn expression(&mut self) -> Option<()> {
        self.deeper(|check| match check.peek()? {
            b'L' => check.literal(),
            b'T' => check.parameter(),
            b'0'..=b'9' => check.base_name(),
            b'f' if matches!(check.second(), Some(b'p')) => check.function_parameter(),
            b'f' if check.rest.get(2).is_some_and(u8::is_ascii_digit) => check.function_parameter(),
            _ => check.operation(),
        })
    }

    fn expressions(&mut self, count: usize) -> Option<()> {
        (0..count).try_for_each(|_| self.expression())
    }

    fn function_parameter(&mut self) -> Option<()> {
        self.skip(1)?;
        if self.take(b"L") {
            self.digits();
        }
        self.must(b"p")?;
        self.qualifiers();
        if self.take(b"T") {
            return Some(());
        }
        self.digits();
        self.must(b"_")
    }

    fn operation(&mut self) -> Option<()> {
        let code = *self.rest.first_chunk::<2>()?;
        if matches!(&code, b"on" | b"dn") {
            return self.base_name();
        }
        self.skip(2)?;
        match &code {
            b"cl" => {
                self.expression()?;
                self.until_end(Self::expression)
            }
            b"cv" => {
                self.any_type()?;
                if self.take(b"_") { self.until_end(Self::expression) } else { self.expression() }
            }
            b"tl" => {
                self.any_type()?;
                self.until_end(Self::expression)
            }
            b"il" => self.until_end(Self::expression),
            b"dc" | b"sc" | b"cc" | b"rc" => {
                self.any_type()?;
                self.expression()
            }
            b"ti" | b"st" | b"at" => self.any_type(),
            b"dt" | b"pt" => {
                self.expression()?;
                self.unqualified()?;
                self.maybe_arguments()
            }
            b"sZ" if self.peek() == Some(b'T') => self.parameter(),
            b"sZ" => self.function_parameter(),
            b"sP" => self.until_end(Self::argument),
            b"fl" | b"fr" => {
                self.operator()?;
                self.expression()
            }
            b"fL" | b"fR" => {
                self.operator()?;
                self.expressions(2)
            }
            b"gs" => self.global(),
            b"sr" => self.of_scope(),
            b"nw" | b"na" | b"dl" | b"da" => self.new_or_delete(&code),
            b"tr" => Some(()),
            b"pp" | b"mm" => {
                let _ = self.take(b"_");
                self.expression()
            }
            b"qu" => self.expressions(3),
            _ if is_among(UNARY, code) => self.expression(),
            _ if is_among(BINARY, code) => self.expressions(2),
            _ => None,
        }
    }

    /// What can come after `gs`, the global scope.
    fn global(&mut self) -> Option<()> {
        match self.rest.first_chunk::<2>()? {
            code @ (b"nw" | b"na" | b"dl" | b"da") => {
                let code = *code;
                self.skip(2)?;
                self.new_or_delete(&code)
            }
            b"sr" => {
                self.skip(2)?;
                self.levels()
            }
            _ => self.base_name(),
        }
    }

    fn new_or_delete(&mut self, code: &[u8; 2]) -> Option<()> {
        self.new = self.new.saturating_add(1);
        if self.new > MOST_NEW {
            return None;
        }
        if matches!(code, b"dl" | b"da") {
            return self.expression();
        }
        while !self.take(b"_") {
            self.expression()?;
        }
        self.any_type()?;
        if self.take(b"E") {
            return Some(());
        }
        self.must(b"pi")?;
        self.until_end(Self::expression)
    }

    /// A name in a scope, after `sr`.
    fn of_scope(&mut self) -> Option<()> {
        if self.take(b"N") {
            self.scope_type()?;
            return self.levels();
        }
        if self.peek()?.is_ascii_digit() {
            return self.levels();
        }
        self.scope_type()?;
        self.base_name()
    }

    /// Scopes up to `E`, then the name.
    fn levels(&mut self) -> Option<()> {
        self.simple_name()?;
        self.until_end(Self::simple_name)?;
        self.base_name()
    }

    fn scope_type(&mut self) -> Option<()> {
        match self.peek()? {
            b'S' => return self.substitution(),
            b'D' if matches!(self.second(), Some(b't' | b'T')) => self.decltype()?,
            _ => {
                self.parameter()?;
                if self.peek() == Some(b'I') {
                    self.arguments()?;
                }
            }
        }
        self.know();
        Some(())
    }

    fn simple_name(&mut self) -> Option<()> {
        self.identifier()?;
        self.maybe_arguments()
    }

    fn base_name(&mut self) -> Option<()> {
        if self.take(b"on") {
            self.operator()?;
            return self.maybe_arguments();
        }
        if self.take(b"dn") && !self.peek()?.is_ascii_digit() {
            return self.scope_type();
        }
        self.simple_name()
    }
}
