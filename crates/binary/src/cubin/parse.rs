//! Puts together what sections, symbols and attributes say about each function of a cubin.

use std::collections::HashMap;

use object::elf::{ET_REL, SHF_EXECINSTR, SHT_PROGBITS, STT_FUNC};
use occupant_hardware::Architecture;

use super::attributes::{Attribute, Attributes, code};
use super::function::{Cluster, DynamicShared, Function, IndirectJump, Inner, RegisterSource, Spills, Toolkit};
use super::target::is_linked;
use crate::BinaryError;
use crate::elf::{Elf, Section, Symbol, Symbols};
use crate::fields::{u16_at, u32_at};
use crate::source::Source;

/// Flag in a symbol's `st_other`: the function can be launched.
const KERNEL: u8 = 0x10;
/// Bytes of shared memory that belong to the system, from 9.0 on, in every shared section that is not empty.
const SHARED_PREFIX: u32 = 1024;
/// Stack size that stands for "not bounded".
const STACK_UNKNOWN: u32 = u32::MAX;
/// A symbol each for its own attributes is one pass over them; a few aliases are fine, a bomb is not. The same for code.
const PASSES: u64 = 16;
/// Functions outside the file that one kernel is said to call, at most.
const MOST_EXTERNALS: usize = 64;
/// Attribute streams of one cubin that are told to break off, at most; the others are counted.
const MOST_FAULTS: usize = 100;
/// Bytes of a section's name in a message.
const LONGEST_TOLD: usize = 120;
/// First toolkit whose ptxas lists spill instructions.
const FIRST_ANNOTATED: Toolkit = Toolkit { major: 12, minor: 6 };

/// What is wrong with a cubin.
#[derive(Default)]
struct Faults {
    told: Vec<String>,
    more: usize,
}

impl Faults {
    fn tell(&mut self, fault: impl FnOnce() -> String) {
        if self.told.len() < MOST_FAULTS {
            self.told.push(fault());
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    fn all(mut self) -> Vec<String> {
        if self.more > 0 {
            self.told.push(format!("and {} more attribute streams that break off", self.more));
        }
        self.told
    }
}

/// What symbols may still share: sections can lie over each other, and symbols can have one section, or one name.
struct Budgets {
    allowed: u64,
    code: u64,
    attributes: u64,
    names: u64,
}

impl Budgets {
    fn of(source: &dyn Source) -> Self {
        let allowed = source.size().saturating_mul(PASSES);
        Self { allowed, code: allowed, attributes: allowed, names: allowed }
    }

    fn take(left: &mut u64, bytes: u64, what: &'static str, allowed: u64) -> Result<(), BinaryError> {
        *left = left.checked_sub(bytes).ok_or(BinaryError::OverLimit { what, limit: allowed })?;
        Ok(())
    }

    fn code(&mut self, bytes: u64) -> Result<(), BinaryError> {
        Self::take(&mut self.code, bytes, "size of code that symbols share", self.allowed)
    }

    fn attributes(&mut self, bytes: u64) -> Result<(), BinaryError> {
        Self::take(&mut self.attributes, bytes, "size of attributes that symbols share", self.allowed)
    }

    fn names(&mut self, bytes: usize) -> Result<(), BinaryError> {
        Self::take(&mut self.names, bytes as u64, "size of names that symbols share", self.allowed)
    }
}

/// What belongs to one code section.
#[derive(Default, Clone)]
struct Belongings<'e> {
    info: Vec<&'e Section>,
    shared: Option<&'e Section>,
    local: Option<&'e Section>,
}

/// What the module-wide attributes say of one symbol.
#[derive(Default, Clone, Copy)]
struct SymbolFacts {
    registers: Option<u32>,
    min_stack: Option<u32>,
    frame: Option<u32>,
}

/// What the module-wide attributes say.
struct ModuleFacts {
    /// By symbol index.
    symbols: Vec<SymbolFacts>,
    toolkit: Option<Toolkit>,
}

/// A function with a code section of its own, and what belongs to that.
struct Owner<'e> {
    index: usize,
    symbol: &'e Symbol,
    code: &'e Section,
    owned: &'e Belongings<'e>,
}

/// Every function with a code section of its own, and the attribute streams that broke off.
pub(super) fn functions(
    elf: &Elf<'_>,
    source: &dyn Source,
    architecture: Architecture,
) -> Result<(Vec<Function>, Vec<String>), BinaryError> {
    let symbols = elf.symbols(source)?;
    let mut faults = Faults::default();
    let mut budgets = Budgets::of(source);
    let facts = module_facts(elf, source, symbols.all.len(), &mut faults, &mut budgets)?;
    let belongings = belongings(elf);
    let owners: Vec<Owner<'_>> = owners(elf, &symbols, &belongings);
    code_without_function(elf, &owners).into_iter().for_each(|fault| faults.tell(|| fault));
    let mut inner = inner_functions(elf, &symbols, &facts, &mut budgets)?;
    let mut functions = Vec::with_capacity(owners.len());
    for owner in &owners {
        let mut function = start(owner, &symbols, &facts, architecture);
        budgets.code(function.code.end.saturating_sub(function.code.start))?;
        function.inner = inner.remove(&owner.symbol.section).unwrap_or_default();
        for section in &owner.owned.info {
            budgets.attributes(section.size)?;
            let bytes = section.bytes(source, "kernel attributes")?;
            for attribute in Attributes::new(&bytes) {
                match attribute {
                    Ok(attribute) => apply(&mut function, attribute, &symbols),
                    Err(at) => faults.tell(|| broken(elf.name(section), at)),
                }
            }
        }
        let externals = function.externals.iter().map(String::len);
        budgets.names(externals.fold(function.name.len(), usize::saturating_add))?;
        settle_spills(&mut function, elf.kind == ET_REL);
        functions.push(function);
    }
    settle_dynamic_shared(&mut functions, &owners, elf, source);
    Ok((functions, faults.all()))
}

fn broken(section: &[u8], at: u64) -> String {
    let section = String::from_utf8_lossy(section);
    let section = crate::names::in_short(&section, LONGEST_TOLD);
    format!("{section}: attributes break off at offset {at:#x} of the section")
}

/// Code that no function owns: symbols or names are damaged, and kernels would be missing without a word.
fn code_without_function(elf: &Elf<'_>, owners: &[Owner<'_>]) -> Option<String> {
    if elf.sections.is_empty() {
        return Some("no sections: the file is cut or damaged".to_owned());
    }
    let mut owned = vec![false; elf.sections.len()];
    for owner in owners {
        if let Some(owned) = owned.get_mut(owner.symbol.section) {
            *owned = true;
        }
    }
    let code = |section: &Section| section.kind == SHT_PROGBITS && section.flags & SHF_EXECINSTR.0 != 0;
    let orphans = elf.sections.iter().zip(owned).filter(|(section, owned)| code(section) && !owned).count();
    (orphans > 0).then(|| format!("{orphans} code sections belong to no function: symbols or names are damaged"))
}

/// Functions inside a kernel's section (`$kernel$callee`) own none.
fn owners<'e>(elf: &'e Elf<'_>, symbols: &'e Symbols<'_>, belongings: &'e [Belongings<'e>]) -> Vec<Owner<'e>> {
    let owner = |(index, symbol): (usize, &'e Symbol)| {
        let code = elf.sections.get(symbol.section)?;
        let is_code = symbol.kind == STT_FUNC
            && code.flags & SHF_EXECINSTR.0 != 0
            && elf.name_starts(code, b".text.")
            && symbols.first_byte(symbol) != Some(b'$');
        is_code.then_some(Owner { index, symbol, code, owned: belongings.get(symbol.section)? })
    };
    symbols.all.iter().enumerate().filter_map(owner).collect()
}

/// By section index: functions inside a kernel's section.
fn inner_functions(
    elf: &Elf<'_>,
    symbols: &Symbols<'_>,
    facts: &ModuleFacts,
    budgets: &mut Budgets,
) -> Result<HashMap<usize, Vec<Inner>>, BinaryError> {
    let mut inner: HashMap<usize, Vec<Inner>> = HashMap::new();
    for (symbol, facts) in symbols.all.iter().zip(&facts.symbols).filter(|(symbol, _)| symbol.kind == STT_FUNC) {
        let code = elf.sections.get(symbol.section).is_some_and(|code| code.flags & SHF_EXECINSTR.0 != 0);
        if code && symbols.first_byte(symbol) == Some(b'$') {
            let name = symbols.name(symbol).into_owned();
            budgets.names(name.len())?;
            inner.entry(symbol.section).or_default().push(Inner {
                name,
                offset: symbol.value,
                frame: facts.frame.unwrap_or(0),
            });
        }
    }
    Ok(inner)
}

/// By section index: sections that belong to a code section name it in `sh_info`.
fn belongings<'e>(elf: &'e Elf<'_>) -> Vec<Belongings<'e>> {
    let mut all = vec![Belongings::default(); elf.sections.len()];
    for section in &elf.sections {
        let Some(owner) = all.get_mut(section.info as usize) else { continue };
        if elf.name_starts(section, b".nv.info.") {
            owner.info.push(section);
        } else if elf.name_starts(section, b".nv.shared.") && !elf.name_starts(section, b".nv.shared.reserved") {
            owner.shared = Some(section);
        } else if elf.name_starts(section, b".nv.local.") {
            owner.local = Some(section);
        }
    }
    all
}

fn module_facts(
    elf: &Elf<'_>,
    source: &dyn Source,
    symbols: usize,
    faults: &mut Faults,
    budgets: &mut Budgets,
) -> Result<ModuleFacts, BinaryError> {
    let mut facts = ModuleFacts { symbols: vec![SymbolFacts::default(); symbols], toolkit: None };
    for section in elf.sections.iter().filter(|section| elf.is_named(section, ".nv.info")) {
        budgets.attributes(section.size)?;
        let bytes = section.bytes(source, "module attributes")?;
        for attribute in Attributes::new(&bytes) {
            let Attribute { code, value } = match attribute {
                Ok(attribute) => attribute,
                Err(at) => {
                    faults.tell(|| broken(elf.name(section), at));
                    continue;
                }
            };
            if code == code::CUDA_API_VERSION {
                facts.toolkit = toolkit(value);
            }
            let Some((symbol, value)) = u32_at(value, 0).zip(u32_at(value, 4)) else { continue };
            let Some(symbol) = facts.symbols.get_mut(symbol as usize) else { continue };
            match code {
                code::REGISTER_COUNT => symbol.registers = Some(value),
                code::MIN_STACK_SIZE => symbol.min_stack = Some(value),
                code::FRAME_SIZE => symbol.frame = Some(value),
                _ => {}
            }
        }
    }
    Ok(facts)
}

fn toolkit(value: &[u8]) -> Option<Toolkit> {
    let number = u32_at(value, 0).or_else(|| u16_at(value, 0).map(u32::from))?;
    Some(Toolkit { major: number.checked_div(10)?, minor: number.checked_rem(10)? })
}

/// The record before the function's own attributes are applied.
fn start(owner: &Owner<'_>, symbols: &Symbols<'_>, facts: &ModuleFacts, architecture: Architecture) -> Function {
    let Owner { symbol, code, owned, .. } = owner;
    let is_kernel = symbol.other & KERNEL != 0;
    let of_symbol = facts.symbols.get(owner.index).copied().unwrap_or_default();
    let (registers, register_source) = match (of_symbol.registers, code.info >> 24) {
        (Some(registers), _) => (Some(registers), RegisterSource::Attribute),
        (None, 0) => (None, RegisterSource::Absent),
        (None, registers) => (Some(registers), RegisterSource::SectionHeader),
    };
    let size = |section: Option<&Section>| section.map_or(0, |section| u32::try_from(section.size).unwrap_or(u32::MAX));
    let shared_section = size(owned.shared);
    let prefix = if architecture.capability.major >= 9 && shared_section >= SHARED_PREFIX { SHARED_PREFIX } else { 0 };
    Function {
        name: symbols.name(symbol).into_owned(),
        is_kernel,
        is_local: symbol.local,
        registers,
        register_source,
        // Device functions have no entry, and NVIDIA's tools print 0 for them. A kernel without one is unknown.
        stack: of_symbol.min_stack.or((!is_kernel).then_some(0)).filter(|stack| *stack != STACK_UNKNOWN),
        frame: of_symbol.frame.unwrap_or(0),
        local: size(owned.local),
        shared_static: shared_section.saturating_sub(prefix),
        shared_section,
        shared_dynamic: DynamicShared::Unknown,
        // The old header's place; the new one has an attribute and leaves these bits 0.
        barriers: u32::try_from((code.flags >> 20) & 0x7f).unwrap_or(0),
        max_threads: None,
        required_threads: None,
        max_registers: None,
        cluster: None,
        setmaxnreg: false,
        tensor_memory: false,
        virtual_resources: 0,
        spills: Spills::Unknown,
        toolkit: facts.toolkit,
        externals: Vec::new(),
        code: code.offset..code.offset.saturating_add(if code.is_empty_in_file() { 0 } else { code.size }),
        inner: Vec::new(),
        jumps: Vec::new(),
    }
}

fn apply(function: &mut Function, Attribute { code, value }: Attribute<'_>, symbols: &Symbols<'_>) {
    let short = || u16_at(value, 0).map(u32::from);
    let byte = || value.first().copied().map(u32::from);
    match code {
        code::MAX_THREADS => function.max_threads = triple(value),
        code::REQUIRED_THREADS => function.required_threads = triple(value),
        code::MAX_REGISTERS => function.max_registers = short(),
        code::CUDA_API_VERSION => function.toolkit = toolkit(value).or(function.toolkit),
        code::CTA_PER_CLUSTER => cluster(function).blocks = triple(value),
        code::MAX_CLUSTER_RANK => cluster(function).max_blocks = u32_at(value, 0),
        code::EXPLICIT_CLUSTER | code::BLOCKS_ARE_CLUSTERS => drop(cluster(function)),
        code::VIRTUAL_RESOURCES => function.virtual_resources = byte().unwrap_or(0),
        code::BARRIERS => function.barriers = byte().unwrap_or(0),
        code::TENSOR_MEMORY_ONE_BLOCK | code::TENSOR_MEMORY_TWO_BLOCKS => function.tensor_memory = true,
        code::REGISTER_RECONFIGURATION => function.setmaxnreg = true,
        code::INDIRECT_BRANCH_TARGETS => function.jumps.extend(jumps(value)),
        // One attribute holds 8,191 of them: longer lists go on in another.
        code::ANNOTATIONS => match &mut function.spills {
            Spills::Annotated(offsets) => offsets.extend(spill_offsets(value)),
            Spills::Unknown => function.spills = Spills::Annotated(spill_offsets(value)),
        },
        code::EXTERNS => {
            let named = value.chunks_exact(4).filter_map(|word| symbols.all.get(u32_at(word, 0)? as usize));
            let room = MOST_EXTERNALS.saturating_sub(function.externals.len());
            let names = named.take(room).map(|symbol| symbols.name(symbol).into_owned());
            function.externals.extend(names.filter(|name| !name.is_empty()));
        }
        _ => {}
    }
}

fn cluster(function: &mut Function) -> &mut Cluster {
    function.cluster.get_or_insert_default()
}

fn triple(value: &[u8]) -> Option<[u32; 3]> {
    Some([u32_at(value, 0)?, u32_at(value, 4)?, u32_at(value, 8)?])
}

/// Jumps one after the other: the offset, a word that is 0, the number of targets, and those.
fn jumps(value: &[u8]) -> Vec<IndirectJump> {
    let mut words = value.chunks_exact(4).filter_map(|word| u32_at(word, 0));
    let mut jumps = Vec::new();
    while let (Some(from), Some(_), Some(count)) = (words.next(), words.next(), words.next()) {
        let to = words.by_ref().take(count as usize).collect();
        jumps.push(IndirectJump { from, to });
    }
    jumps
}

/// Annotations are pairs of kind and instruction offset; kind 1 marks a spill or refill.
fn spill_offsets(value: &[u8]) -> Vec<u32> {
    const SPILL_REFILL: u32 = 1;
    let pairs = value.chunks_exact(8).filter_map(|pair| u32_at(pair, 0).zip(u32_at(pair, 4)));
    pairs.filter(|(kind, _)| *kind == SPILL_REFILL).map(|(_, offset)| offset).collect()
}

/// A toolkit that annotates spills and lists none for a function found none. Before linking that is not settled.
fn settle_spills(function: &mut Function, relocatable: bool) {
    let annotates = function.toolkit.is_some_and(|toolkit| toolkit >= FIRST_ANNOTATED);
    if function.spills == Spills::Unknown && annotates && !relocatable {
        function.spills = Spills::Annotated(Vec::new());
    }
}

/// Tells which kernels take no dynamic shared memory.
///
/// One `extern __shared__` in a module that ptxas compiled whole gives a shared section to each of its kernels, so
/// a kernel without one proves that no kernel of the module has any. A linker gives it to the user alone: there, only
/// a kernel without a section takes none. Before linking nothing is certain.
fn settle_dynamic_shared(functions: &mut [Function], owners: &[Owner<'_>], elf: &Elf<'_>, source: &dyn Source) {
    if elf.kind == ET_REL {
        return;
    }
    let has_section: Vec<bool> = owners.iter().map(|owner| owner.owned.shared.is_some()).collect();
    let kernels = || functions.iter().zip(&has_section).filter(|(function, _)| function.is_kernel);
    let one_without = kernels().any(|(_, has)| !has);
    let empty_section = kernels().any(|(function, has)| *has && function.shared_static == 0);
    let device_functions = functions.iter().any(|function| !function.is_kernel);
    let linked = device_functions || (one_without && empty_section) || is_linked(elf, source);
    let none_anywhere = one_without && !linked;
    for (function, has) in functions.iter_mut().zip(has_section) {
        if !has || none_anywhere {
            function.shared_dynamic = DynamicShared::None;
        }
    }
}
