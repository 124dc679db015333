//! Instructions in their order, and what is certain of each one's operands. Not for: the flow between them; that is
//! [`crate::flow`].

use occupant_hardware::ComputeCapability;

use crate::branch::{self, Target};
use crate::control::Control;
use crate::family::{Family, NotDecoded};
use crate::memory::{self, Access};
use crate::opcodes::{Class, Opcode, Space, Table};
use crate::word::{Guard, INSTRUCTION_BYTES, RZ, Word};

/// One instruction.
#[derive(Debug, Clone, Copy)]
pub struct Instruction {
    /// Bytes from the start of the code section.
    pub offset: u32,
    /// Its bits.
    pub word: Word,
    /// What it is; `None` where the family's table has no such opcode.
    pub opcode: Option<&'static Opcode>,
    family: Family,
}

impl Instruction {
    /// The name before the first dot; `?` where unknown.
    #[must_use]
    pub fn mnemonic(&self) -> &'static str {
        self.opcode.map_or("?", |opcode| opcode.mnemonic)
    }

    /// The kind of work.
    #[must_use]
    pub fn class(&self) -> Option<Class> {
        self.opcode.map(|opcode| opcode.class)
    }

    /// The memory it touches.
    #[must_use]
    pub fn space(&self) -> Option<Space> {
        self.opcode.and_then(|opcode| opcode.space)
    }

    /// Who takes part.
    #[must_use]
    pub const fn guard(&self) -> Guard {
        self.word.guard()
    }

    /// What the scheduler is told.
    #[must_use]
    pub const fn control(&self) -> Control {
        Control::of(self.word)
    }

    /// The memory access, where it is one.
    #[must_use]
    pub fn access(&self) -> Option<Access> {
        memory::access(self.opcode?, self.word, self.family)
    }

    /// Where it can go or what it names as a target.
    #[must_use]
    pub fn target(&self) -> Option<Target> {
        branch::target(self.opcode?, self.word, self.offset, self.family)
    }

    /// A branch that some threads or warps may not take.
    #[must_use]
    pub fn is_conditional(&self) -> bool {
        branch::is_conditional(self.word)
    }

    /// What a jump asks of the warp, as written behind its name: `DIV` whether it has diverged, `CONV` whether it has not,
    /// `COLLECTIVE` which lanes take part.
    #[must_use]
    pub fn asks_of_the_warp(&self) -> Option<&'static str> {
        match self.mnemonic() {
            "BRA" => branch::divergence(self.word),
            "WARPSYNC" => self.target().map(|_| "COLLECTIVE"),
            _ => None,
        }
    }

    /// Waits for a phase of a barrier in shared memory.
    #[must_use]
    pub fn is_mbarrier_wait(&self) -> bool {
        self.mnemonic().starts_with("SYNCS") && self.word.form() == 2
    }

    /// The general register that arithmetic, a shuffle or a read of a special register writes; `None` for what writes
    /// predicates or uniform registers alone, and for RZ.
    #[must_use]
    pub fn result(&self) -> Option<u8> {
        /// Uniform registers have numbers of their own.
        const UNIFORM: [&str; 5] = ["S2UR", "CS2UR", "R2UR", "REDUX", "CREDUX"];
        const PREDICATES: [&str; 4] = ["PLOP3", "R2P", "FCHK", "CSMTEST"];
        let writes = matches!(
            self.class()?,
            Class::Alu | Class::Fma | Class::Half | Class::Fp64 | Class::Xu | Class::Shuffle | Class::Special
        );
        let name = self.mnemonic();
        let elsewhere = UNIFORM.contains(&name) || PREDICATES.contains(&name) || name.contains("SETP");
        (writes && !elsewhere).then(|| self.word.register(16)).filter(|register| *register != RZ)
    }

    /// Offset of the next instruction.
    #[must_use]
    pub const fn next(&self) -> u32 {
        self.offset.saturating_add(INSTRUCTION_BYTES as u32)
    }
}

/// Decodes the machine code of one family.
#[derive(Clone, Copy)]
pub struct Decoder {
    family: Family,
    table: &'static Table,
}

impl Decoder {
    /// The decoder for code of a compute capability.
    ///
    /// # Errors
    /// [`NotDecoded`] before 7.0 and where the opcodes are not known.
    pub fn new(capability: ComputeCapability) -> Result<Self, NotDecoded> {
        let family = Family::of(capability)?;
        Ok(Self { family, table: Table::of(family) })
    }

    /// One instruction at `offset` of its section.
    #[must_use]
    pub fn instruction(&self, bytes: [u8; INSTRUCTION_BYTES], offset: u32) -> Instruction {
        let word = Word::from_bytes(bytes);
        Instruction { offset, word, opcode: self.table.find(word), family: self.family }
    }

    /// The kinds that an instruction can be of, as bits of [`crate::opcodes::Kind`].
    pub(crate) fn kinds(&self, word: &[u8; INSTRUCTION_BYTES]) -> u8 {
        self.table.kinds([word[0], word[1]])
    }

    /// The instruction at `offset` of a section; `None` where the section ends before its last byte.
    #[must_use]
    pub fn at(&self, code: &[u8], offset: u32) -> Option<Instruction> {
        let bytes = code.get(offset as usize..)?.first_chunk()?;
        Some(self.instruction(*bytes, offset))
    }

    /// Every whole instruction of a section, in order. Code beyond 4 GiB is left out.
    pub fn instructions<'c>(self, code: &'c [u8]) -> impl Iterator<Item = Instruction> + 'c {
        let (words, _) = code.as_chunks::<INSTRUCTION_BYTES>();
        let offsets = (0..=u32::MAX).step_by(INSTRUCTION_BYTES);
        words.iter().zip(offsets).map(move |(bytes, offset)| self.instruction(*bytes, offset))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_of_any_length_decode(code in proptest::collection::vec(any::<u8>(), 0..600), family in 0..10_usize) {
            let family = Family::ALL[family];
            let decoder = Decoder { family, table: Table::of(family) };
            let instructions: Vec<_> = decoder.instructions(&code).collect();
            prop_assert_eq!(instructions.len(), code.len() / 16);
            for instruction in &instructions {
                let _ = (instruction.access(), instruction.target(), instruction.is_conditional());
                prop_assert_eq!(decoder.at(&code, instruction.offset).unwrap().word, instruction.word);
            }
        }
    }
}
