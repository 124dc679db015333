//! What a person names with `--gpu`: a model, a family of models, an architecture or a compute capability.
//!
//! Not for: the facts behind the name.

use std::str::FromStr;

use thiserror::Error;

use crate::capability::{LONGEST, start_of};
use crate::{Architecture, ComputeCapability, Gpu, gpus};

/// A GPU as named by a person.
#[derive(Debug, Clone, PartialEq)]
pub enum GpuSelector {
    /// Exactly one model.
    Model(&'static Gpu),
    /// A family whose models differ in SM count or bandwidth and agree on the limits of an SM.
    Family {
        /// The name as listed, e.g. `h100`.
        name: String,
        /// Its models.
        models: Vec<&'static Gpu>,
    },
    /// A compute capability only.
    Capability(ComputeCapability),
}

impl GpuSelector {
    /// The compute capability, known in every case.
    #[must_use]
    pub fn capability(&self) -> ComputeCapability {
        match self {
            Self::Model(gpu) => gpu.capability,
            Self::Family { models, .. } => models[0].capability,
            Self::Capability(capability) => *capability,
        }
    }

    /// The canonical name: a model's id, a family's name, `sm_90` for a capability.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Model(gpu) => gpu.id.clone(),
            Self::Family { name, .. } => name.clone(),
            Self::Capability(capability) => Architecture::base(*capability).to_string(),
        }
    }

    /// The number of SMs where it is one number: a model, or a family whose models agree.
    #[must_use]
    pub fn sm_count(&self) -> Option<u32> {
        match self {
            Self::Model(gpu) => gpu.sm_count,
            Self::Family { models, .. } => {
                models[0].sm_count.filter(|_| models.iter().all(|gpu| gpu.sm_count == models[0].sm_count))
            }
            Self::Capability(_) => None,
        }
    }
}

impl GpuSelector {
    /// Each model of a family; itself for all others.
    #[must_use]
    pub fn each_model(&self) -> Vec<Self> {
        match self {
            Self::Family { models, .. } => models.iter().map(|model| Self::Model(model)).collect(),
            Self::Model(_) | Self::Capability(_) => vec![self.clone()],
        }
    }

    /// A generation such as Hopper stands for its models where all have one capability.
    fn generation(text: &str, name: &str, models: Vec<&'static Gpu>) -> Result<Self, UnknownGpu> {
        let mut capabilities: Vec<ComputeCapability> = models.iter().map(|gpu| gpu.capability).collect();
        capabilities.sort();
        capabilities.dedup();
        if capabilities.len() > 1 {
            let nearest = capabilities.into_iter().map(|capability| Architecture::base(capability).to_string());
            return Err(UnknownGpu { asked: text.to_owned(), nearest: nearest.collect() });
        }
        Ok(Self::Family { name: name.to_ascii_lowercase(), models })
    }
}

/// A name that is no NVIDIA GPU. The message lists the nearest names.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", refusal(asked, nearest))]
pub struct UnknownGpu {
    /// The name as given.
    pub asked: String,
    /// Up to three names that are close to it, or the capabilities of a generation that has several.
    pub nearest: Vec<String>,
}

fn refusal(asked: &str, nearest: &[String]) -> String {
    let shown = start_of(asked);
    if let Some(vendor) = other_vendor(asked) {
        return format!(
            "`{shown}` is a GPU of {vendor}: its registers and shared memory are handed out by other rules, and occupant knows \
             those of NVIDIA only"
        );
    }
    let suggestion = if nearest.is_empty() { String::new() } else { format!(": did you mean {}?", nearest.join(", ")) };
    format!("`{shown}` names no one GPU{suggestion}; `occupant gpus` lists all")
}

/// Whose GPU a name is, where it is plainly another vendor's.
fn other_vendor(asked: &str) -> Option<&'static str> {
    let name = normalise(asked);
    let numbered =
        |prefix: &str| name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let amd = ["amd", "radeon", "instinct", "cdna", "rdna"].iter().any(|prefix| name.starts_with(prefix));
    if amd || numbered("mi") || numbered("gfx") || numbered("rx") {
        return Some("AMD");
    }
    let intel = ["intel", "pontevecchio"].iter().any(|prefix| name.starts_with(prefix));
    if intel || numbered("arca") || numbered("arcb") || numbered("xehp") {
        return Some("Intel");
    }
    None
}

impl FromStr for GpuSelector {
    type Err = UnknownGpu;

    /// Case, spaces and underscores are forgiven: `H100 SXM`, `rtx_4090`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(architecture) = text.parse::<Architecture>() {
            return Ok(Self::Capability(architecture.capability));
        }
        // Most often a canonical name: nothing to forgive.
        if let Some(gpu) = gpus().iter().find(|gpu| gpu.id == text) {
            return Ok(Self::Model(gpu));
        }
        let wanted = normalise(text);
        if let Some(gpu) = gpus().iter().find(|gpu| names(gpu).any(|name| normalise(name) == wanted)) {
            return Ok(Self::Model(gpu));
        }
        let generation: Vec<&'static Gpu> = gpus().iter().filter(|gpu| normalise(&gpu.generation) == wanted).collect();
        if let Some(first) = generation.first() {
            return Self::generation(text, &first.generation, generation.clone());
        }
        let in_family = |gpu: &&Gpu| gpu.variant_of.iter().any(|name| normalise(name) == wanted);
        let models: Vec<&'static Gpu> = gpus().iter().filter(in_family).collect();
        match models.first() {
            None => Err(UnknownGpu { asked: text.to_owned(), nearest: nearest(&wanted) }),
            Some(first) => {
                let name = first.variant_of.iter().find(|name| normalise(name) == wanted).cloned();
                Ok(Self::Family { name: name.unwrap_or(wanted), models })
            }
        }
    }
}

fn names(gpu: &Gpu) -> impl Iterator<Item = &String> {
    std::iter::once(&gpu.id).chain(std::iter::once(&gpu.name)).chain(&gpu.aliases)
}

fn normalise(text: &str) -> String {
    let lower = text.trim().to_ascii_lowercase();
    let plain = lower.strip_prefix("nvidia").unwrap_or(&lower);
    // `nvidia-smi` prints "NVIDIA GeForce RTX 3070 Laptop GPU".
    let plain = plain.trim_end().strip_suffix(" gpu").unwrap_or(plain);
    plain.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// The three known names nearest to `wanted`, within half its length of edits.
fn nearest(wanted: &str) -> Vec<String> {
    // No name is half as long, so none is near.
    if wanted.len() > LONGEST {
        return Vec::new();
    }
    let mut scored: Vec<(usize, &String)> = gpus()
        .iter()
        .flat_map(|gpu| std::iter::once(&gpu.id).chain(&gpu.variant_of))
        .map(|name| (distance(wanted, &normalise(name)), name))
        .collect();
    scored.sort();
    scored.dedup();
    let close = scored.into_iter().filter(|(edits, _)| *edits <= wanted.len() / 2);
    close.take(3).map(|(_, name)| name.clone()).collect()
}

/// Levenshtein distance over bytes; names are short ASCII.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn models_families_and_architectures() {
        let named = |text: &str| text.parse::<GpuSelector>().unwrap();
        for text in ["h100-sxm", "H100 SXM", "h100_sxm5_80gb"] {
            assert_eq!(named(text).name(), "h100-sxm", "{text}");
        }
        assert_eq!(named("RTX 4090").name(), "rtx-4090");
        assert_eq!(named("NVIDIA GeForce RTX 4090").name(), "rtx-4090");
        assert!(matches!(named("h100"), GpuSelector::Family { ref models, .. } if models.len() >= 3));
        assert_eq!((named("h100").sm_count(), named("h100-sxm").sm_count()), (None, Some(132)));
        let each = |text: &str| named(text).each_model().iter().map(GpuSelector::name).collect::<Vec<_>>();
        assert_eq!(each("h100"), ["h100-sxm", "h100-pcie", "h100-nvl"]);
        assert_eq!((each("b200"), each("9.0")), (vec!["b200-sxm".to_owned()], vec!["sm_90".to_owned()]));
        assert_eq!(named("NVIDIA GeForce RTX 3070 Laptop GPU").name(), "rtx-3070-laptop");
        assert_eq!(named("NVIDIA H100 80GB HBM3").name(), "h100-sxm");
        assert_eq!((named("Hopper").name(), named("hopper").capability().to_string()), ("hopper".into(), "9.0".into()));
        assert_eq!(named("sm_90a").name(), "sm_90");
        assert_eq!(named("9.0").capability(), ComputeCapability::new(9, 0));
    }

    #[test]
    fn an_unknown_name_is_answered_with_near_ones() {
        let error = "h1000-smx".parse::<GpuSelector>().unwrap_err();
        assert!(error.nearest.contains(&"h100-sxm".to_owned()), "{error}");
        let several = "blackwell".parse::<GpuSelector>().unwrap_err();
        assert!(several.to_string().contains("sm_100") && several.to_string().contains("sm_120"), "{several}");
        let long = "h100-".repeat(20_000).parse::<GpuSelector>().unwrap_err();
        let shown = "h100-".repeat(20);
        assert_eq!(long.to_string(), format!("`{shown}…` names no one GPU; `occupant gpus` lists all"));
        assert!("entirely-something-else-altogether".parse::<GpuSelector>().unwrap_err().nearest.is_empty());
    }

    #[test]
    fn every_name_means_one_thing() {
        assert!(gpus().iter().flat_map(names).all(|name| name.len() * 2 <= LONGEST));
        let mut owner: BTreeMap<String, &str> = BTreeMap::new();
        for gpu in gpus() {
            for name in names(gpu) {
                let earlier = owner.insert(normalise(name), &gpu.id);
                assert!(earlier.is_none_or(|id| id == gpu.id), "{name} names {} and {earlier:?}", gpu.id);
            }
        }
        for gpu in gpus() {
            for family in &gpu.variant_of {
                assert!(!owner.contains_key(&normalise(family)), "family {family} is also a model");
                let selector: GpuSelector = family.parse().unwrap();
                let GpuSelector::Family { models, .. } = selector else { panic!("{family}") };
                assert!(models.len() > 1, "{family} has one model");
                assert!(models.iter().all(|m| m.capability == models[0].capability), "{family} mixes capabilities");
            }
        }
    }
}
