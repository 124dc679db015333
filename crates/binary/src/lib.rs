//! From bytes to kernel records: containers hold fatbins, fatbins hold images, cubins hold kernels.
//!
//! For: every resource that a CUDA binary fixes (registers, shared memory, barriers, launch bounds), read without
//! NVIDIA's tools. Input is untrusted: nothing here panics, and nothing is allocated because a file claims a size.
//! Not for: machine code (the instructions themselves), occupancy, or opening files; a caller brings a [`Source`].
//!
//! ```no_run
//! # fn demo(bytes: &[u8]) -> Result<(), occupant_binary::BinaryError> {
//! let artifact = occupant_binary::Artifact::open(&bytes)?;
//! for module in &artifact.modules {
//!     for entry in &module.entries {
//!         let mut workspace = occupant_binary::Workspace::default();
//!         let unpacked = entry.unpack(&bytes, &mut workspace)?;
//!         for image in entry.images.iter().filter(|image| image.kind == occupant_binary::ImageKind::Elf) {
//!             let cubin = occupant_binary::Cubin::parse(&unpacked.image(image)?)?;
//!             println!("{}: {} kernels", cubin.architecture, cubin.functions.len());
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod artifact;
mod common_names;
mod compression;
mod container;
mod cubin;
mod elf;
mod error;
mod fatbin;
mod faults;
mod fields;
mod host;
mod kernel_name;
mod loader;
mod names;
mod ptx;
mod reader;
mod sections;
mod sound_names;
mod source;
#[cfg(not(feature = "zstd-c"))]
mod zstd_frames;

pub use artifact::{Artifact, Module};
pub use compression::{Codec, Workspace};
pub use container::{LARGEST_COMPANION, Leaf, Memory, Store, ends_like_zip, visit};
pub use cubin::{
    Cluster, Cubin, DynamicShared, Function, HeaderGeneration, IndirectJump, Inner, LineOf, RegisterSource, Spills,
    Toolkit, line_at, lines,
};
pub use error::BinaryError;
pub use fatbin::{Entry, Image, ImageKind, Payload, Unpacked};
pub use faults::Fault;
pub use kernel_name::{NameShape, name_shape};
pub use loader::{Choice, choose};
pub use names::{demangle, in_short, shorten};
pub use sections::{PlainSection, plain_sections};
pub use source::{Source, Window};
