//! Kernel names for a column: short, and still different where the kernels are.

use std::borrow::Cow;
use std::collections::BTreeMap;

use occupant_core::shorten;

/// A name cut to `width`.
pub(crate) fn cut(name: &str, width: usize) -> String {
    shorten(name, width).into_owned()
}

/// Each name cut to `width`. Where cutting makes different names alike, those are cut so that the first place where they
/// differ is in sight: `cutlass::Kernel<…Shape<128, 64>…`.
pub(crate) fn distinct(names: &[&str], width: usize) -> Vec<String> {
    let mut cut: Vec<String> = names.iter().map(|name| shorten(name, width).into_owned()).collect();
    let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, short) in cut.iter().enumerate() {
        alike.entry(short.clone()).or_default().push(index);
    }
    for group in alike.into_values().filter(|group| group.len() > 1) {
        let plain: Vec<Cow<'_, str>> = group.iter().map(|index| shorten(names[*index], usize::MAX)).collect();
        let common = common_start(&plain);
        if plain.iter().all(|name| name.len() == common) {
            continue;
        }
        for (index, name) in group.into_iter().zip(&plain) {
            cut[index] = from_difference(name, common, width);
        }
    }
    cut
}

/// Bytes that all names have in common at their start, at a character's edge.
fn common_start(names: &[Cow<'_, str>]) -> usize {
    let Some((first, others)) = names.split_first() else { return 0 };
    let shared = |other: &Cow<'_, str>| first.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let mut length = others.iter().map(shared).min().unwrap_or(first.len());
    while !first.is_char_boundary(length) {
        length -= 1;
    }
    length
}

/// The start of a name, then from a little before the place where it differs.
fn from_difference(name: &str, difference: usize, width: usize) -> String {
    let head_room = width / 3;
    let head: String = name.chars().take(head_room.saturating_sub(1)).collect();
    // Back to where the differing word begins.
    let word = name[..difference].rfind(['<', ',', ' ', ':', '_', '(']).map_or(difference, |at| at + 1);
    let rest: Vec<char> = name[word..].chars().collect();
    let room = width.saturating_sub(head.chars().count() + 1);
    if rest.len() <= room {
        format!("{head}…{}", rest.into_iter().collect::<String>())
    } else {
        format!("{head}…{}…", rest.into_iter().take(room.saturating_sub(1)).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_names_show_where_they_differ() {
        let long = "cutlass::Kernel<cutlass::gemm::kernel::Gemm<cutlass::Shape";
        let names = [format!("{long}<128, 64>, true> >"), format!("{long}<256, 64>, true> >"), "saxpy".to_owned()];
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let cut = distinct(&names, 30);
        assert_eq!(cut, ["cutlass::…128, 64>, true> >", "cutlass::…256, 64>, true> >", "saxpy"]);
        assert!(cut.iter().all(|name| name.chars().count() <= 30));
        assert_eq!(distinct(&["same", "same"], 30), ["same", "same"]);
    }
}
