//! Names that are read once: a library holds each kernel for several architectures under the same name.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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
    fn new(mangled: &Arc<str>) -> Self {
        let demangled = match demangle(mangled) {
            Cow::Borrowed(same) if same.len() == mangled.len() => Arc::clone(mangled),
            other => other.into(),
        };
        let shape = name_shape(mangled, &demangled);
        Self { mangled: Arc::clone(mangled), demangled, shape }
    }
}

/// A mangled name, and what it stands for once some thread has read it.
#[derive(Debug)]
pub(super) struct Name {
    mangled: Arc<str>,
    /// A thread reads it, or has read it.
    taken: AtomicBool,
    named: OnceLock<Named>,
}

impl Name {
    /// What it stands for; where another thread is reading it, that is waited for.
    pub(super) fn get(&self) -> &Named {
        self.named.get_or_init(|| Named::new(&self.mangled))
    }
}

/// Bytes of names that a cache holds; further names are read each time.
const LARGEST: usize = 32 << 20;
/// Shards, so that threads seldom wait for each other.
const SHARDS: usize = 16;

type Shard = HashMap<Arc<str>, Arc<Name>, RandomState>;

/// The names of a file, shared by the threads that read it.
#[derive(Debug)]
pub(super) struct Names {
    hasher: RandomState,
    shards: [Mutex<Shard>; SHARDS],
    /// Bytes of the names that are held.
    bytes: AtomicUsize,
}

impl Names {
    pub(super) fn new() -> Self {
        let shards = std::array::from_fn(|_| Mutex::default());
        Self { hasher: RandomState::default(), shards, bytes: AtomicUsize::new(0) }
    }

    /// Names that are wanted together. Threads often want the same ones at the same time, those of a module for two
    /// architectures: each reads names that the other does not, instead of both reading all.
    pub(super) fn all<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<Arc<Name>> {
        let names: Vec<Arc<Name>> = names.map(|name| self.get(name)).collect();
        for name in &names {
            if !name.taken.swap(true, Ordering::Relaxed) {
                self.bytes.fetch_add(name.get().demangled.len(), Ordering::Relaxed);
            }
        }
        names
    }

    /// A name, perhaps not yet read.
    pub(super) fn get(&self, name: &str) -> Arc<Name> {
        let shard = &self.shards[self.hasher.hash_one(name) as usize % SHARDS];
        let mut held = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = held.get(name) {
            return Arc::clone(known);
        }
        let mangled: Arc<str> = name.into();
        let new = Name { mangled: Arc::clone(&mangled), taken: AtomicBool::new(false), named: OnceLock::new() };
        let new = Arc::new(new);
        if self.bytes.load(Ordering::Relaxed) < LARGEST {
            self.bytes.fetch_add(name.len(), Ordering::Relaxed);
            held.insert(mangled, Arc::clone(&new));
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_once_and_the_same_for_all() {
        let names = Names::new();
        let first = names.get("_Z6kernelPf");
        assert_eq!(&*first.get().demangled, "kernel(float*)");
        assert!(Arc::ptr_eq(&first, &names.get("_Z6kernelPf")));
        assert!(!Arc::ptr_eq(&first, &names.get("_Z6kernelPi")));
    }

    #[test]
    fn threads_that_want_the_same_names_get_the_same() {
        let names = Names::new();
        let wanted: Vec<String> = (0..200).map(|number| format!("_Z6kernelILi{number}EEvPf")).collect();
        let all = || names.all(wanted.iter().map(String::as_str));
        let (here, there) = std::thread::scope(|scope| {
            let there = scope.spawn(all);
            (all(), there.join().unwrap())
        });
        assert_eq!(&*here[7].get().demangled, "void kernel<7>(float*)");
        assert!(here.iter().zip(&there).all(|(one, other)| Arc::ptr_eq(one, other)));
    }
}
