//! What the name of a library's kernel says about its shape: tile, stages, cluster, schedule.
//!
//! Only forms whose fields are certain are decoded, each with an example and, where the project is public, its source; any
//! other name says nothing. Not for: shapes that a launch or a binary states; those win.

mod plain;
mod template;
#[cfg(test)]
mod tests;

/// The shape that a name states. `None` and empty where it does not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NameShape {
    /// Naming scheme: `xmma`, `cutlass3x`, `cublas`, `nvjet`, `cutlass`, `flash_attention`, `mem_eff_attention`, `marlin`,
    /// `fused_moe`, `cumm`, `bitsandbytes`.
    pub family: &'static str,
    /// Tile of a block, or of two that multiply as one (`2sm`): M, N and, where named, K.
    pub tile: Vec<u32>,
    /// Stages of the pipeline through shared memory.
    pub stages: Option<u32>,
    /// Blocks of a cluster along x, y and z.
    pub cluster: Vec<u32>,
    /// Schedules: `pingpong`, `cooperative`, `warp_specialized`, `stream_k`, `split_k`, `1sm`, `2sm`.
    pub schedule: Vec<&'static str>,
}

/// Decodes a name; the demangled form is needed for C++ names only. Every name of a file comes through here, so what costs
/// time is done only where a cheap test says that it can tell something.
#[must_use]
pub fn name_shape(name: &str, demangled: &str) -> Option<NameShape> {
    let (shape, text) = match name.starts_with("_Z") {
        true => (template::template(demangled), demangled),
        false => (plain::plain(name), name),
    };
    shape.map(|mut shape| {
        shape.schedule.extend(schedules(text));
        shape.schedule.sort_unstable();
        shape.schedule.dedup();
        shape
    })
}

/// Words of a name that state a schedule.
fn schedules(name: &str) -> impl Iterator<Item = &'static str> {
    const WORDS: [(&str, &str); 13] = [
        ("Pingpong", "pingpong"),
        ("pingpong", "pingpong"),
        ("Cooperative", "cooperative"),
        ("cooperative", "cooperative"),
        ("WarpSpecialized", "warp_specialized"),
        ("Warpspecialized", "warp_specialized"),
        ("warpspecialized", "warp_specialized"),
        ("stream_k", "stream_k"),
        ("StreamK", "stream_k"),
        ("split_k", "split_k"),
        ("_coop", "cooperative"),
        ("_1sm", "1sm"),
        ("_2sm", "2sm"),
    ];
    WORDS.into_iter().filter(|(word, _)| name.contains(word)).map(|(_, schedule)| schedule)
}

/// `128x128x32` as numbers; `None` where it is anything else.
fn sizes<const N: usize>(text: &str) -> Option<[u32; N]> {
    let mut parts = text.split('x');
    let mut found = [0; N];
    for size in &mut found {
        *size = digits(parts.next()?)?;
    }
    parts.next().is_none().then_some(found)
}

/// A number without a sign.
fn digits(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
