//! Names that are read once: a library holds each kernel for several architectures under the same name.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::RandomState;
use occupant_binary::{NameShape, demangle, name_shape};

/// What a mangled name stands for.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) mangled: Arc<str>,
    pub(super) demangled: Arc<str>,
    pub(super) shape: Option<NameShape>,
}

impl Named {
    fn new(name: &str) -> Self {
        let mangled: Arc<str> = name.into();
        let demangled = match demangle(name) {
            Cow::Borrowed(same) if same.len() == name.len() => Arc::clone(&mangled),
            other => other.into(),
        };
        let shape = name_shape(name, &demangled);
        Self { mangled, demangled, shape }
    }
}

/// Bytes of names that a cache holds; further names are read each time.
const LARGEST: usize = 32 << 20;
/// Shards, so that threads seldom wait for each other.
const SHARDS: usize = 16;

/// The names of a file, shared by the threads that read it.
#[derive(Debug)]
pub(super) struct Names {
    hasher: RandomState,
    shards: [Mutex<Shard>; SHARDS],
}

#[derive(Debug, Default)]
struct Shard {
    bytes: usize,
    by_name: HashMap<Arc<str>, Arc<Named>, RandomState>,
}

impl Names {
    pub(super) fn new() -> Self {
        Self { hasher: RandomState::default(), shards: std::array::from_fn(|_| Mutex::default()) }
    }

    /// What a name stands for.
    pub(super) fn get(&self, name: &str) -> Arc<Named> {
        let shard = &self.shards[self.hasher.hash_one(name) as usize % SHARDS];
        let lock = || shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().by_name.get(name) {
            return Arc::clone(known);
        }
        // Not under the lock: the other thread goes on, and at worst both read the same name.
        let named = Arc::new(Named::new(name));
        let mut held = lock();
        if held.bytes < LARGEST / SHARDS {
            held.bytes += name.len() + named.demangled.len();
            held.by_name.insert(Arc::clone(&named.mangled), Arc::clone(&named));
        }
        named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_once_and_the_same_for_all() {
        let names = Names::new();
        let first = names.get("_Z6kernelPf");
        assert_eq!(&*first.demangled, "kernel(float*)");
        assert!(Arc::ptr_eq(&first, &names.get("_Z6kernelPf")));
        assert!(!Arc::ptr_eq(&first, &names.get("_Z6kernelPi")));
    }
}
