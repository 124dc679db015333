//! A store that keeps little: a bomb is no fault of the reader, but would be one of the fuzzer's memory.

use std::io::{Error, Read, Result};

use occupant_binary::{Source, Store};

const MOST_KEPT: u64 = 16 << 20;

pub struct Little;

impl Store for Little {
    fn keep(&self, unpacked: &mut dyn Read) -> Result<Box<dyn Source>> {
        let mut bytes = Vec::new();
        if unpacked.take(MOST_KEPT).read_to_end(&mut bytes)? as u64 == MOST_KEPT {
            return Err(Error::other("more than is kept"));
        }
        Ok(Box::new(bytes))
    }
}
