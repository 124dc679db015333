//! Puts together what sections, symbols and attributes say about each function of a cubin.

use std::collections::BTreeMap;

use object::elf::{ET_REL, SHF_EXECINSTR, STT_FUNC};
use occupant_hardware::Architecture;

use super::attributes::{Attribute, Attributes, code};
use super::function::{Cluster, DynamicShared, Function, RegisterSource, Spills, Toolkit};
use super::target::is_linked;
use crate::BinaryError;
use crate::elf::{Elf, Section, Symbol};
use crate::fields::{u16_at, u32_at};
use crate::source::Source;

/// Flag in a symbol's `st_other`: the function can be launched.
const KERNEL: u8 = 0x10;
/// Bytes of shared memory that belong to the system, from 9.0 on, in every shared section that is not empty.
const SHARED_PREFIX: u32 = 1024;
/// Stack size that stands for "not bounded".
const STACK_UNKNOWN: u32 = u32::MAX;
/// First toolkit whose ptxas lists spill instructions.
const FIRST_ANNOTATED: Toolkit = Toolkit { major: 12, minor: 6 };

/// What belongs to one code section.
#[derive(Default)]
struct Belongings<'e> {
    info: Vec<&'e Section>,
    shared: Option<&'e Section>,
    local: Option<&'e Section>,
}

/// What the module-wide attributes say, by symbol index.
#[derive(Default)]
struct ModuleFacts {
    registers: BTreeMap<u32, u32>,
    min_stack: BTreeMap<u32, u32>,
    frame: BTreeMap<u32, u32>,
    toolkit: Option<Toolkit>,
}

/// Every function with a code section of its own, and the attribute streams that broke off.
pub(super) fn functions(
    elf: &Elf,
    source: &dyn Source,
    architecture: Architecture,
) -> Result<(Vec<Function>, Vec<String>), BinaryError> {
    let symbols = elf.symbols(source)?;
    let mut faults = Vec::new();
    let facts = module_facts(elf, source, &mut faults)?;
    let belongings = belongings(elf);
    let mut functions = Vec::new();
    for (index, symbol) in symbols.iter().enumerate() {
        let Some(code) = code_section(elf, symbol) else { continue };
        let owned = belongings.get(&symbol.section);
        let mut function = start(symbol, index, code, owned, &facts, architecture);
        for section in owned.map_or(&[][..], |owned| &owned.info) {
            let bytes = section.bytes(source, "kernel attributes")?;
            for attribute in Attributes::new(&bytes) {
                match attribute {
                    Ok(attribute) => apply(&mut function, attribute, &symbols),
                    Err(at) => faults.push(broken(&section.name, at)),
                }
            }
        }
        settle_spills(&mut function, elf.kind == ET_REL);
        functions.push(function);
    }
    settle_dynamic_shared(&mut functions, &symbols, &belongings, elf, source);
    Ok((functions, faults))
}

fn broken(section: &str, at: u64) -> String {
    format!("{section}: attributes break off at offset {at:#x} of the section")
}

/// The code section of a function that owns one. Functions inside a kernel's section (`$kernel$callee`) own none.
fn code_section<'e>(elf: &'e Elf, symbol: &Symbol) -> Option<&'e Section> {
    let section = elf.sections.get(symbol.section)?;
    let is_code = section.flags & SHF_EXECINSTR.0 != 0 && section.name.starts_with(".text.");
    (symbol.kind == STT_FUNC && is_code && !symbol.name.starts_with('$')).then_some(section)
}

/// Sections that belong to a code section name it in `sh_info`.
fn belongings(elf: &Elf) -> BTreeMap<usize, Belongings<'_>> {
    let mut map: BTreeMap<usize, Belongings<'_>> = BTreeMap::new();
    for section in &elf.sections {
        let owned = || section.info as usize;
        if section.name.starts_with(".nv.info.") {
            map.entry(owned()).or_default().info.push(section);
        } else if section.name.starts_with(".nv.shared.") && !section.name.starts_with(".nv.shared.reserved") {
            map.entry(owned()).or_default().shared = Some(section);
        } else if section.name.starts_with(".nv.local.") {
            map.entry(owned()).or_default().local = Some(section);
        }
    }
    map
}

fn module_facts(elf: &Elf, source: &dyn Source, faults: &mut Vec<String>) -> Result<ModuleFacts, BinaryError> {
    let mut facts = ModuleFacts::default();
    for section in elf.sections.iter().filter(|section| section.name == ".nv.info") {
        let bytes = section.bytes(source, "module attributes")?;
        for attribute in Attributes::new(&bytes) {
            let Attribute { code, value } = match attribute {
                Ok(attribute) => attribute,
                Err(at) => {
                    faults.push(broken(&section.name, at));
                    continue;
                }
            };
            let pair = u32_at(value, 0).zip(u32_at(value, 4));
            match (code, pair) {
                (code::REGISTER_COUNT, Some((symbol, value))) => drop(facts.registers.insert(symbol, value)),
                (code::MIN_STACK_SIZE, Some((symbol, value))) => drop(facts.min_stack.insert(symbol, value)),
                (code::FRAME_SIZE, Some((symbol, value))) => drop(facts.frame.insert(symbol, value)),
                (code::CUDA_API_VERSION, _) => facts.toolkit = toolkit(value),
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
fn start(
    symbol: &Symbol,
    index: usize,
    code: &Section,
    owned: Option<&Belongings<'_>>,
    facts: &ModuleFacts,
    architecture: Architecture,
) -> Function {
    let index = u32::try_from(index).unwrap_or(u32::MAX);
    let (registers, register_source) = match (facts.registers.get(&index), code.info >> 24) {
        (Some(registers), _) => (Some(*registers), RegisterSource::Attribute),
        (None, 0) => (None, RegisterSource::Absent),
        (None, registers) => (Some(registers), RegisterSource::SectionHeader),
    };
    let size = |section: Option<&Section>| section.map_or(0, |section| u32::try_from(section.size).unwrap_or(u32::MAX));
    let shared_section = size(owned.and_then(|owned| owned.shared));
    let prefix = if architecture.capability.major >= 9 && shared_section >= SHARED_PREFIX { SHARED_PREFIX } else { 0 };
    Function {
        name: symbol.name.clone(),
        is_kernel: symbol.other & KERNEL != 0,
        is_local: symbol.local,
        registers,
        register_source,
        stack: Some(facts.min_stack.get(&index).copied().unwrap_or(0)).filter(|stack| *stack != STACK_UNKNOWN),
        frame: facts.frame.get(&index).copied().unwrap_or(0),
        local: size(owned.and_then(|owned| owned.local)),
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
    }
}

fn apply(function: &mut Function, Attribute { code, value }: Attribute<'_>, symbols: &[Symbol]) {
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
        code::ANNOTATIONS => function.spills = Spills::Annotated(spill_offsets(value)),
        code::EXTERNS => {
            let named = value.chunks_exact(4).filter_map(|word| symbols.get(u32_at(word, 0)? as usize));
            function.externals.extend(named.map(|symbol| symbol.name.clone()).filter(|name| !name.is_empty()));
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
fn settle_dynamic_shared(
    functions: &mut [Function],
    symbols: &[Symbol],
    belongings: &BTreeMap<usize, Belongings<'_>>,
    elf: &Elf,
    source: &dyn Source,
) {
    if elf.kind == ET_REL {
        return;
    }
    let owners = symbols.iter().filter(|symbol| code_section(elf, symbol).is_some());
    let has_section: Vec<bool> =
        owners.map(|symbol| belongings.get(&symbol.section).is_some_and(|owned| owned.shared.is_some())).collect();
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
