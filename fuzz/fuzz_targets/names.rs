//! Names: demangled, shortened, and read for shapes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|name: &str| {
    let demangled = occupant_binary::demangle(name);
    let _ = occupant_binary::name_shape(name, &demangled);
    for width in [0, 1, 7, 40, usize::MAX] {
        let short = occupant_binary::shorten(&demangled, width);
        assert!(width == 0 || short.chars().count() <= width, "{width}: {short}");
    }
});
