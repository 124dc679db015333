//! Which image of a module a GPU runs. Source: CUDA Programming Guide, "Binary Compatibility" and "PTX Compatibility".

use occupant_hardware::{Architecture, ComputeCapability, Variant, limits};

use crate::fatbin::ImageKind;

/// The loader's choice among the images of one module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The image at this index runs as it is.
    Image(usize),
    /// The PTX at this index is compiled at load: registers are known only then.
    Ptx(usize),
    /// Nothing in the module runs on this GPU.
    Nothing,
}

/// Chooses as the loader does: a cubin of the same generation with the highest revision not above the GPU's, among
/// equals the most specific; else the newest PTX that it can compile.
pub fn choose(images: impl IntoIterator<Item = (ImageKind, Architecture)>, gpu: ComputeCapability) -> Choice {
    let mut best_image: Option<(Architecture, usize)> = None;
    let mut best_ptx: Option<(Architecture, usize)> = None;
    for (index, (kind, architecture)) in images.into_iter().enumerate() {
        let best = match kind {
            ImageKind::Elf if runs(architecture, gpu) => &mut best_image,
            ImageKind::Ptx if compiles(architecture, gpu) => &mut best_ptx,
            _ => continue,
        };
        if best.is_none_or(|(chosen, _)| architecture > chosen) {
            *best = Some((architecture, index));
        }
    }
    match (best_image, best_ptx) {
        (Some((_, index)), _) => Choice::Image(index),
        (None, Some((_, index))) => Choice::Ptx(index),
        (None, None) => Choice::Nothing,
    }
}

fn runs(image: Architecture, gpu: ComputeCapability) -> bool {
    let same_generation = image.capability.major == gpu.major && image.capability.minor <= gpu.minor;
    match image.variant {
        Variant::Base => same_generation,
        // 10.1 (integrated) is of another family than 10.0 and 10.3.
        Variant::Family => same_generation && is_integrated(image.capability) == is_integrated(gpu),
        Variant::Specific => image.capability == gpu,
    }
}

fn is_integrated(capability: ComputeCapability) -> bool {
    limits(capability).is_ok_and(|limits| limits.integrated_only)
}

fn compiles(ptx: Architecture, gpu: ComputeCapability) -> bool {
    match ptx.variant {
        Variant::Base => ptx.capability <= gpu,
        Variant::Family | Variant::Specific => runs(ptx, gpu),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(images: &[(ImageKind, &str)], gpu: &str) -> Choice {
        let gpu = gpu.parse::<Architecture>().unwrap().capability;
        choose(images.iter().map(|(kind, name)| (*kind, name.parse().unwrap())), gpu)
    }

    #[test]
    fn follows_the_loaders_rules() {
        use ImageKind::{Elf, Ptx};
        let library =
            [(Elf, "sm_80"), (Elf, "sm_86"), (Elf, "sm_90"), (Elf, "sm_90a"), (Elf, "sm_100f"), (Ptx, "sm_90")];
        assert_eq!(choice(&library, "8.0"), Choice::Image(0));
        assert_eq!(choice(&library, "8.9"), Choice::Image(1), "the highest revision not above");
        assert_eq!(choice(&library, "9.0"), Choice::Image(3), "the most specific of equals");
        assert_eq!(choice(&library, "10.3"), Choice::Image(4), "a family target runs on later revisions");
        assert_eq!(choice(&library, "10.1"), Choice::Ptx(5), "another family of the generation");
        assert_eq!(choice(&library, "12.0"), Choice::Ptx(5), "no cubin of the generation: PTX");
        assert_eq!(choice(&library, "7.5"), Choice::Nothing, "neither older cubins nor newer PTX");
        assert_eq!(choice(&[(Elf, "sm_100a")], "10.3"), Choice::Nothing, "an `a` target runs on its own only");
        assert_eq!(choice(&[(Ptx, "compute_90a"), (Ptx, "compute_80")], "10.0"), Choice::Ptx(1));
        assert_eq!(choice(&[(ImageKind::LtoIr, "sm_90")], "9.0"), Choice::Nothing);
    }
}
