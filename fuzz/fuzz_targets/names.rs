//! Mangled names: any text is demangled or kept as it is, in bounded time and to a bounded length, and shortened to a width.
//! Not for: shapes in names; those are read from any text by `shapes`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use occupant_binary::{demangle, in_short, name_shape, shorten};

/// A short name can stand for much by substitutions, so what bounds the text is no multiple of the name.
const LONGEST_DEMANGLED: usize = 256 << 10;

fuzz_target!(|text: &str| {
    // Few mutations keep the two letters without which nothing is read.
    for name in [text.to_owned(), format!("_Z{text}")] {
        let demangled = demangle(&name);
        assert!(demangled.len() <= LONGEST_DEMANGLED.max(name.len()));
        let _ = name_shape(&name, &demangled);
        for width in [0, 1, 7, 40, usize::MAX] {
            let short = shorten(&demangled, width);
            assert!(width == 0 || short.chars().count() <= width, "{width}: {short}");
            let bytes = in_short(&demangled, width);
            assert!(bytes.len() <= width.max("…".len()), "{width}: {bytes}");
        }
    }
});
