//! Shapes in names: what a name, plain or demangled, states is whole and plausible, or nothing is said.
#![no_main]

use libfuzzer_sys::fuzz_target;
use occupant_binary::name_shape;

fuzz_target!(|text: &str| {
    for (name, demangled) in [(text, ""), ("_Z", text)] {
        let Some(shape) = name_shape(name, demangled) else { continue };
        assert!(!shape.family.is_empty());
        assert!(matches!(shape.tile.len(), 2 | 3), "a tile has two or three sides: {shape:?}");
        assert!(matches!(shape.cluster.len(), 0 | 2 | 3), "{shape:?}");
        assert!(shape.schedule.is_sorted_by(|one, next| one < next), "each schedule once: {shape:?}");
        // Numbers are the name's own; tiles can be multiples of them.
        for number in shape.stages.iter().chain(&shape.cluster) {
            assert!(text.contains(&number.to_string()), "{number} is not in the name: {shape:?}");
        }
    }
});
