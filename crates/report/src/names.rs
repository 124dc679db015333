//! Kernel names for a column: short, and still different where the kernels are.
//!
//! A name that fits stays as it is. A longer one loses what tells least: namespaces, wrappers that every kernel of a
//! library has, casts of template arguments; `true` and `false` become 1 and 0. One that is still too long keeps its start
//! and the places where it differs from others of the table: `FlashAttnFwdSm90<…128,80,256)…half_t…1…`. Not for:
//! identity; that is the mangled name.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use occupant_core::shorten;

/// A name cut to `width`.
pub(crate) fn cut(name: &str, width: usize) -> String {
    shorten(name, width).into_owned()
}

/// A name without return type and parameters, however long.
pub(crate) fn plain(name: &str) -> Cow<'_, str> {
    shorten(name, usize::MAX)
}

/// Each name cut to `width`, so that the places where it differs from the others are in sight.
pub(crate) fn distinct(names: &[&str], width: usize) -> Vec<String> {
    let plain: Vec<Cow<'_, str>> = names.iter().map(|name| self::plain(name)).collect();
    let (short, long): (BTreeSet<&str>, BTreeSet<&str>) =
        plain.iter().map(AsRef::as_ref).partition(|name| length(name) <= width);
    let compact = compact_each(&long, &short);
    let mut cut: BTreeMap<&str, String> = BTreeMap::new();
    // What is still too long, in the order of its characters: there, neighbours have the longest starts in common.
    let mut too_long: Vec<(&str, &str)> = Vec::new();
    for (name, compact) in &compact {
        if length(compact) <= width {
            cut.insert(name, compact.clone());
        } else {
            too_long.push((compact, name));
        }
    }
    too_long.sort_unstable();
    let texts: Vec<&str> = too_long.iter().map(|(compact, _)| *compact).collect();
    for ((_, name), text) in too_long.iter().zip(cut_apart(&texts, width)) {
        cut.insert(name, text);
    }
    plain.iter().map(|name| cut.get(name.as_ref()).map_or_else(|| name.clone().into_owned(), Clone::clone)).collect()
}

/// Each of some sorted texts cut to `width`. Where all differences have no room, those to the most alike are shown; texts that
/// then look alike are cut again, with what tells them from each other first.
fn cut_apart(texts: &[&str], width: usize) -> Vec<String> {
    /// Cutting again can make others alike; each time they are fewer.
    const AGAIN: usize = 4;
    let differences: Vec<BTreeSet<usize>> = self::differences(texts);
    let mut first: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); texts.len()];
    let cut_one = |number: usize, first: &BTreeSet<usize>| around(texts[number], &differences[number], first, width);
    let mut cut: Vec<String> = first.iter().enumerate().map(|(number, none)| cut_one(number, none)).collect();
    for _ in 0..AGAIN {
        let mut alike: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        cut.iter().enumerate().for_each(|(number, text)| alike.entry(text).or_default().push(number));
        let alike: Vec<Vec<usize>> = alike.into_values().filter(|numbers| numbers.len() > 1).collect();
        for numbers in alike {
            let texts: Vec<&str> = numbers.iter().map(|number| texts[*number]).collect();
            for (number, differences) in numbers.into_iter().zip(self::differences(&texts)) {
                first[number].extend(differences);
                cut[number] = cut_one(number, &first[number]);
            }
        }
    }
    cut
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// The compact form of each name; the name itself where two would be alike.
fn compact_each<'n>(long: &BTreeSet<&'n str>, short: &BTreeSet<&str>) -> BTreeMap<&'n str, String> {
    let forms: BTreeMap<&str, String> = long.iter().map(|name| (*name, compact(name))).collect();
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for form in forms.values() {
        *uses.entry(form).or_default() += 1;
    }
    let alone = |form: &str| uses.get(form) == Some(&1) && !short.contains(form);
    let chosen =
        |(name, form): (&&'n str, &String)| (*name, if alone(form) { form.clone() } else { (*name).to_owned() });
    forms.iter().map(chosen).collect()
}

/// Templates of CUTLASS around a kernel that say nothing of it.
const WRAPPERS: [&str; 5] = ["device_kernel<", "Kernel2<", "Kernel<", "enable_sm90_or_later<", "enable_sm80_to_sm89<"];

/// A name without namespaces, wrappers and casts; `cute`'s tuples and constants as they are spoken.
fn compact(name: &str) -> String {
    let mut text = String::new();
    // Whether each open bracket was written as a parenthesis; `None` where it was not written.
    let mut open: Vec<Option<bool>> = Vec::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            ':' if rest.starts_with(':') && ends_with_namespace(&mut text) => rest = &rest[1..],
            '<' => open.push(opened(&mut text, rest)),
            '>' if !text.ends_with('-') => {
                let opened = open.pop().unwrap_or(Some(false));
                // `> >` is what the demangler writes for `>>`.
                if opened.is_some() && text.ends_with(' ') {
                    text.pop();
                }
                text.push_str(opened.map_or("", |parenthesis| if parenthesis { ")" } else { ">" }));
            }
            ' ' if text.ends_with(',') => {}
            _ => text.push(c),
        }
        if !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_') {
            as_number(&mut text);
        }
        if c == ')' && rest.starts_with(|next: char| next == '-' || next.is_ascii_digit()) {
            drop_cast(&mut text);
        }
    }
    let mut inside = text.as_str();
    while let Some(wrapped) = WRAPPERS.iter().find_map(|wrapper| inside.strip_prefix(wrapper)) {
        if !name.starts_with("cutlass::") {
            break;
        }
        inside = wrapped.strip_suffix('>').unwrap_or(wrapped);
    }
    if inside.len() < text.len() { inside.to_owned() } else { namespace_of_short(name) + &text }
}

/// The last namespace of a function with a short name: `gemv::kernel` is more than `kernel`.
fn namespace_of_short(name: &str) -> String {
    const SHORT: usize = 6;
    let path = &name[..name.find(['<', '(']).unwrap_or(name.len())];
    match path.rsplit("::").take(2).collect::<Vec<_>>().as_slice() {
        [function, namespace] if (1..=SHORT).contains(&function.len()) && !namespace.is_empty() => {
            format!("{namespace}::")
        }
        _ => String::new(),
    }
}

/// Removes the namespace that a text ends with; whether there was one.
fn ends_with_namespace(text: &mut String) -> bool {
    const ANONYMOUS: &str = "(anonymous namespace)";
    let start = match text.strip_suffix(ANONYMOUS) {
        Some(before) => before.len(),
        None => text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len(),
    };
    let found = start < text.len();
    text.truncate(start);
    found
}

/// Writes an opening bracket: nothing for a constant `C<128>`, a parenthesis for a tuple.
fn opened(text: &mut String, rest: &str) -> Option<bool> {
    let word = text.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    let number = rest.split('>').next().unwrap_or("").trim();
    match &text[word..] {
        "C" if word > 0 && !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '-') => {
            text.truncate(word);
            None
        }
        "tuple" if word > 0 => {
            text.truncate(word);
            text.push('(');
            Some(true)
        }
        _ => {
            text.push('<');
            Some(false)
        }
    }
}

/// Writes the word that a text ends with as a number, where it is a truth value.
fn as_number(text: &mut String) {
    for (word, number) in [("true", '1'), ("false", '0')] {
        let before = text.strip_suffix(word).filter(|before| before.ends_with(['<', ',', '(']));
        if let Some(before) = before.map(str::len) {
            text.truncate(before);
            text.push(number);
        }
    }
}

/// Removes the cast that a text ends with, `(unsigned int)` before a number.
fn drop_cast(text: &mut String) {
    let Some(start) = text.rfind('(') else { return };
    let is_type = |c: char| c.is_alphanumeric() || c == '_' || c == ' ';
    // Only of a template argument: a function's parameters are no cast.
    let of_argument = text[..start].ends_with(['<', ' ', ',']);
    if of_argument && text[start + 1..text.len() - 1].chars().all(is_type) {
        text.truncate(start);
    }
}

/// For each of some sorted texts, the bytes at which it differs from others that are alike up to there.
fn differences(sorted: &[&str]) -> Vec<BTreeSet<usize>> {
    let common: Vec<usize> = sorted.windows(2).map(|pair| common_start(pair[0], pair[1])).collect();
    let mut found: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); sorted.len()];
    // What a text has in common with one further away is the least that lies between: a stack of such minima.
    let mut note = |order: &mut dyn Iterator<Item = (usize, usize)>| {
        let mut minima: Vec<usize> = Vec::new();
        for (text, common) in order {
            while minima.last().is_some_and(|last| *last > common) {
                minima.pop();
            }
            if minima.last() != Some(&common) {
                minima.push(common);
            }
            found[text].extend(&minima);
        }
    };
    note(&mut common.iter().enumerate().map(|(before, common)| (before + 1, *common)));
    note(&mut common.iter().enumerate().rev().map(|(text, common)| (text, *common)));
    found
}

fn common_start(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

/// Words and signs of a text, as ranges of its bytes; `FlashAttn` is two words.
fn tokens(text: &str) -> Vec<Range<usize>> {
    /// Longer words, hashes for the most part, are taken in pieces.
    const LONGEST: usize = 32;
    let mut tokens: Vec<Range<usize>> = Vec::new();
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let goes_on = c.is_alphanumeric() && before.is_alphanumeric() && !(before.is_lowercase() && c.is_uppercase());
        match tokens.last_mut() {
            Some(last) if goes_on && end - last.start <= LONGEST => last.end = end,
            Some(last) if c == ' ' => last.end = end,
            _ => tokens.push(at..end),
        }
        before = c;
    }
    tokens
}

/// The start of a text and what is around its differences, grown to the width. Of those that have no room `first` are the
/// last to go.
fn around(text: &str, differences: &BTreeSet<usize>, first: &BTreeSet<usize>, width: usize) -> String {
    let tokens = tokens(text);
    let token_of = |byte: usize| tokens.partition_point(|token| token.end <= byte);
    let is_sign = |token: usize| !text[tokens[token].clone()].starts_with(char::is_alphanumeric);
    let mark = |byte: &usize| {
        let token = token_of(*byte);
        // A sign alone tells nothing: what follows it does.
        let end = if token < tokens.len() && is_sign(token) { token + 2 } else { token + 1 };
        (token < tokens.len()).then(|| token..end.min(tokens.len()))
    };
    let mut marks: Vec<Range<usize>> = differences.union(first).filter_map(mark).collect();
    marks.dedup();
    let first: Vec<Range<usize>> = first.iter().filter_map(mark).collect();
    // The first differences tell it from the least similar names.
    let less: Vec<Range<usize>> = marks.iter().filter(|mark| !first.contains(mark)).cloned().collect();
    if marks.is_empty() {
        return cut_plain(text, width);
    }
    let mut pieces = Pieces { text, tokens: &tokens, shown: vec![head(text, &tokens, width)] };
    marks.iter().for_each(|mark| pieces.add(mark.clone()));
    let first_word = 1 + (0..tokens.len()).take_while(|token| is_sign(*token)).count();
    // Too much: most of the start goes, then one difference after the other.
    let mut leaving = less.into_iter().chain(first);
    while pieces.length() > width {
        pieces.shown.clear();
        pieces.add(0..first_word.min(tokens.len()));
        marks.iter().for_each(|mark| pieces.add(mark.clone()));
        if pieces.length() > width {
            let Some(gone) = leaving.next() else { break };
            marks.retain(|mark| *mark != gone);
        }
    }
    pieces.grow(width);
    let shown = pieces.to_string();
    if length(&shown) <= width { shown } else { cut_plain(text, width) }
}

/// Text without parameters to be taken away, cut to the width.
fn cut_plain(text: &str, width: usize) -> String {
    let kept = width.saturating_sub(1);
    let tail = kept / 3;
    let head: String = text.chars().take(kept - tail).collect();
    let end: String = text.chars().skip(length(text).saturating_sub(tail)).collect();
    format!("{head}…{end}")
}

/// The tokens that name the kernel: up to its arguments, a third of the width at most.
fn head(text: &str, tokens: &[Range<usize>], width: usize) -> Range<usize> {
    let arguments = tokens.iter().position(|token| text[token.clone()].starts_with(['<', '('])).unwrap_or(tokens.len());
    let fitting = tokens.iter().take_while(|token| length(&text[..token.end]) <= width / 3).count();
    0..arguments.min(fitting).max(1).min(tokens.len())
}

/// Pieces of a text, by the numbers of its tokens; ascending and apart from each other.
struct Pieces<'t> {
    text: &'t str,
    tokens: &'t [Range<usize>],
    shown: Vec<Range<usize>>,
}

impl Pieces<'_> {
    /// Adds a piece that does not start before those that are there.
    fn add(&mut self, piece: Range<usize>) {
        match self.shown.last_mut() {
            Some(last) if piece.start <= last.end => last.end = last.end.max(piece.end),
            _ => self.shown.push(piece),
        }
    }

    /// What is written of a piece: before a gap without what separates it from the next.
    fn part(&self, piece: &Range<usize>) -> &str {
        let start = self.tokens.get(piece.start).map_or(0, |token| token.start);
        let end = piece.end.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(start, |token| token.end);
        let part = &self.text[start..end];
        if piece.end < self.tokens.len() { part.trim_end_matches([' ', ',']) } else { part }
    }

    /// Characters of the text that it becomes.
    fn length(&self) -> usize {
        let mut end = 0;
        let mut sum = 0;
        for piece in &self.shown {
            sum += usize::from(piece.start > end) + length(self.part(piece));
            end = piece.end;
        }
        sum + usize::from(end < self.tokens.len())
    }

    /// Shows more on the right of each piece in turn, as long as it fits.
    fn grow(&mut self, width: usize) {
        let mut grown = true;
        while grown {
            grown = false;
            let mut number = 0;
            while number < self.shown.len() {
                grown |= self.grow_one(number, width);
                number += 1;
            }
        }
    }

    fn grow_one(&mut self, number: usize, width: usize) -> bool {
        if self.shown[number].end >= self.tokens.len() {
            return false;
        }
        let before = self.shown.clone();
        self.shown[number].end += 1;
        if self.shown.get(number + 1).is_some_and(|next| next.start <= self.shown[number].end) {
            let next = self.shown.remove(number + 1);
            self.shown[number].end = next.end;
        }
        if self.length() <= width {
            return true;
        }
        self.shown = before;
        false
    }
}

impl std::fmt::Display for Pieces<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut end = 0;
        for piece in &self.shown {
            if piece.start > end {
                f.write_str("…")?;
            }
            f.write_str(self.part(piece))?;
            end = piece.end;
        }
        if end < self.tokens.len() { f.write_str("…") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_in_sight() {
        let long = "cutlass::device_kernel<flash::enable_sm90<flash::FwdSm90<flash::Mainloop<2, cute::tuple<cute::C<128>, \
                    cute::C<";
        let name = |size: u32, kind: &str, flag: bool| {
            format!(
                "void {long}{size}> >, cutlass::{kind}, float, cutlass::arch::Sm90, false, {flag}, false> > > >(int)"
            )
        };
        let names = [name(80, "half_t", true), name(80, "half_t", false), name(64, "bfloat16_t", true)];
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.push("saxpy(float*)");
        assert_eq!(
            distinct(&names, 44),
            [
                "enable_sm90<FwdSm90<…80),half_t,float…1,0>>>",
                "enable_sm90<FwdSm90<…80),half_t,float…0,0>>>",
                "enable_sm90<FwdSm90<Mainloop…64),bfloat16_t…",
                "saxpy"
            ]
        );
    }

    #[test]
    fn what_would_be_cut_alike_is_cut_where_it_differs() {
        let mut names: Vec<String> = Vec::new();
        for kind in ["AxisSat", "Sat", "AxisStd", "Std"] {
            for from in ["Float8E4M3FN", "Float8E5M2"] {
                let name = |to| format!("ort::cuda::DequantizeLinearKernel{kind}<ort::{from}, {to}, 256, 4>");
                names.extend(["__half", "float"].map(name));
            }
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let cut = distinct(&names, 34);
        assert_eq!(cut.iter().collect::<BTreeSet<_>>().len(), names.len(), "{cut:#?}");
        assert!(cut.iter().all(|text| length(text) <= 34), "{cut:#?}");
        assert_eq!(cut[4..6], ["Dequantize…Sat<Float8E4M3FN,__…", "Dequantize…Sat<Float8E4M3FN,float…"]);
    }

    #[test]
    fn names_that_fit_stay_and_copies_are_alike() {
        assert_eq!(distinct(&["same", "same"], 30), ["same", "same"]);
        assert_eq!(distinct(&["void a::b<int>(int)"], 30), ["a::b<int>"]);
        // Without their namespaces these would be one.
        assert_eq!(distinct(&["one::kernel<float>", "two::kernel<float>"], 14), ["one::kernel<…", "two::kernel<…"]);
    }

    #[test]
    fn compact_names_lose_what_tells_least() {
        let tuple = "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::Fwd<cute::tuple<cute::C<1>, cute::C<64> >, \
                     true, x::truest> > >";
        assert_eq!(compact(&plain(tuple)), "Fwd<(1,64),1,truest>");
        assert_eq!(compact("gemv::kernel<int, (unsigned int)64, (Kind)2>"), "gemv::kernel<int,64,2>");
        assert_eq!(compact("a::(anonymous namespace)::col2im_kernel<c10::Half>"), "col2im_kernel<Half>");
        assert_eq!(compact("a::Biased<int>::run(int)::{lambda(int)#1}"), "a::Biased<int>::run(int)::{lambda(int)#1}");
    }
}
