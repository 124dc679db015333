//! Which model a GPU is, from what a driver says of it: its marketing name, its SMs, its memory. Not for: what a person
//! types; that is [`crate::selector`].

use std::sync::LazyLock;

use crate::capability::ComputeCapability;
use crate::gpus::{Gpu, gpus};

/// What is known of a GPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Described<'a> {
    /// Marketing name, such as `NVIDIA H100 PCIe` or `NVIDIA GeForce RTX 3080`.
    pub name: &'a str,
    /// Compute capability.
    pub capability: Option<ComputeCapability>,
    /// Multiprocessors.
    pub sms: Option<u32>,
    /// Memory bandwidth by clock and bus width, GB/s.
    pub gb_per_s: Option<f64>,
}

/// Words that make another model of a name; others, such as a form factor, only say more.
const DISTINGUISH: [&str; 7] = ["laptop", "mobile", "super", "ti", "d", "max", "q"];
/// Words of makers and series that one list has and another leaves out.
const LEFT_OUT: [&str; 6] = ["nvidia", "geforce", "tesla", "gpu", "with", "design"];
/// How far a bandwidth may be from a model's.
const NEAR: f64 = 0.06;

/// The words of every model, in the order of [`gpus`]: a trace has tens of thousands of launches, and each is identified.
static KNOWN: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let of = |gpu: &Gpu| words(&gpu.name).into_iter().chain(words(&gpu.id)).collect();
    gpus().iter().map(of).collect()
});

/// The one model that fits; `None` where none or several do.
#[must_use]
pub fn identify(described: Described<'_>) -> Option<&'static Gpu> {
    let wanted = words(described.name);
    let fits = |gpu: &Gpu, has: &[String]| {
        // Numbers first: names take longer to compare.
        described.capability.is_none_or(|capability| capability == gpu.capability)
            && described.sms.is_none_or(|sms| gpu.sm_count.is_none_or(|count| count == sms))
            && wanted.iter().all(|word| has.contains(word))
            && !has.iter().any(|word| DISTINGUISH.contains(&word.as_str()) && !wanted.contains(word))
    };
    let each = gpus().iter().zip(KNOWN.iter());
    let mut found: Vec<&'static Gpu> = each.filter(|(gpu, has)| fits(gpu, has)).map(|(gpu, _)| gpu).collect();
    if found.len() > 1
        && let Some(rate) = described.gb_per_s
    {
        let apart = |gpu: &Gpu| gpu.memory_gb_per_s.map_or(f64::INFINITY, |known| (known / rate - 1.0).abs());
        found.retain(|gpu| apart(gpu) < NEAR);
        found.sort_by(|a, b| apart(a).total_cmp(&apart(b)));
        found.dedup_by(|a, b| a.memory_gb_per_s != b.memory_gb_per_s);
    }
    match found.as_slice() {
        [one] => Some(one),
        _ => None,
    }
}

/// The words of a name, without makers, memory sizes and kinds of memory.
fn words(name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    let split = lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let size = |word: &str| word.strip_suffix("gb").is_some_and(|number| number.parse::<u32>().is_ok());
    let kept = split.filter(|word| !LEFT_OUT.contains(word) && !size(word) && !word.starts_with("hbm"));
    kept.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_drivers_print() {
        let known = [
            ("NVIDIA H100 PCIe", 114, 2039.0, Some("h100-pcie")),
            ("NVIDIA H100 80GB HBM3", 132, 3352.0, Some("h100-sxm")),
            ("NVIDIA A100-SXM4-40GB", 108, 1555.0, Some("a100-sxm4-40gb")),
            ("NVIDIA GH200 480GB", 132, 4023.0, Some("gh200-96gb")),
            ("NVIDIA GeForce RTX 3080", 68, 760.0, Some("rtx-3080-10gb")),
            ("GeForce RTX 2070", 36, 448.0, Some("rtx-2070")),
            ("NVIDIA GeForce RTX 2060 SUPER", 34, 448.0, Some("rtx-2060-super")),
            ("NVIDIA GeForce RTX 4070 Ti SUPER", 66, 672.0, Some("rtx-4070-ti-super")),
            ("NVIDIA GeForce RTX 4090", 128, 1008.0, Some("rtx-4090")),
            ("NVIDIA GeForce RTX 4090 Laptop GPU", 76, 576.0, Some("rtx-4090-laptop")),
            ("Tesla T4", 40, 320.0, Some("t4")),
            ("NVIDIA GeForce RTX 3080", 12, 1.0, None),
            ("Some other GPU", 10, 100.0, None),
        ];
        for (name, sms, rate, expected) in known {
            let described = Described { name, capability: None, sms: Some(sms), gb_per_s: Some(rate) };
            assert_eq!(identify(described).map(|gpu| gpu.id.as_str()), expected, "{name}");
        }
    }
}
