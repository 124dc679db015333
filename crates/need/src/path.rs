//! The instructions that one warp executes: a flat kernel from its start to its end, or one pass of a loop.
//!
//! Where the code branches, the way with the most work is taken, and a comparison of loaded data for equality is taken to
//! fail (the heuristics of Ball and Larus, 1993). Not for: how long that takes; that is [`crate::timeline`].

use std::collections::BTreeMap;

use occupant_sass::{AccessKind, Address, Analysis, Class, Instruction, LaneTracker, Lanes, RZ, Space, Under};

use crate::reuse::{Cluster, clusters, fresh, is_scattered};

/// What becomes of accesses to global memory under a guard that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Guarded {
    /// They are executed.
    #[default]
    Executed,
    /// They are not.
    Skipped,
}

/// One instruction of the path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) instruction: Instruction,
    /// Address of the access, where it is one.
    pub(crate) address: Option<Address>,
    /// Executions of a warp on this path: 1, 0 where its guard is taken to fail, or as measured.
    pub(crate) times: f64,
    /// The next instruction is elsewhere.
    pub(crate) jumps: bool,
    /// Which accesses touch the same data; `None` where it is no global access.
    pub(crate) cluster: Option<Cluster>,
    /// The guard of a global access or of an end.
    pub(crate) guard: Option<Under>,
    /// Bytes that it reads from global memory beyond the accesses before it, whole sectors.
    pub(crate) reads: f64,
    /// The same of what it writes.
    pub(crate) writes: f64,
}

impl Step {
    /// How often it is issued: an instruction whose guard fails for all lanes is issued all the same.
    pub(crate) fn issues(&self) -> f64 {
        if self.times == 0.0 { 1.0 } else { self.times }
    }
}

/// The way of one warp.
#[derive(Debug, Clone, Default)]
pub(crate) struct Path {
    pub(crate) steps: Vec<Step>,
    /// Accesses to global memory whose guard is not known.
    pub(crate) guarded: u32,
    /// Threads differ along y or z, too.
    pub(crate) beyond_x: bool,
}

impl Path {
    /// The whole kernel, each loop once.
    pub(crate) fn flat(analysis: &Analysis, guarded: Guarded) -> Self {
        let of_kernel = |block: usize| analysis.structure.function_of_block.get(block) == Some(&0);
        let choices = Choices::new(analysis, 0, None, &of_kernel);
        let mut walker = Walker::new(analysis, guarded);
        walker.walk(0, &choices);
        walker.finish()
    }

    /// One pass of a loop. What its addresses are made of comes from the code before it.
    pub(crate) fn of_loop(analysis: &Analysis, number: usize, guarded: Guarded) -> Self {
        let Some(found) = analysis.structure.loops.all.get(number) else { return Self::default() };
        let inside = |block: usize| found.blocks.binary_search(&block).is_ok();
        let choices = Choices::new(analysis, found.header, Some(found.header), &inside);
        let mut walker = Walker::new(analysis, guarded);
        walker.prepare(found.header);
        // The second pass starts with what the first one left.
        walker.walk(found.header, &choices);
        walker.path = Self::default();
        walker.walk(found.header, &choices);
        walker.finish()
    }

    /// Every block that was executed, in the order of the code, with measured executions of a warp for each instruction.
    pub(crate) fn counted(analysis: &Analysis, counts: &[f64]) -> Self {
        let mut walker = Walker::new(analysis, Guarded::Executed);
        walker.path.steps = Self::in_order(&mut walker, counts);
        walker.path.steps.retain(|step| step.times > 0.0);
        walker.finish()
    }

    /// Every instruction of the code in its order, executed or not, with measured executions of a warp.
    pub(crate) fn every(analysis: &Analysis, counts: &[f64]) -> Vec<Step> {
        let mut walker = Walker::new(analysis, Guarded::Executed);
        walker.path.steps = Self::in_order(&mut walker, counts);
        walker.finish().steps
    }

    fn in_order(walker: &mut Walker<'_>, counts: &[f64]) -> Vec<Step> {
        (0..walker.analysis.structure.flow.blocks.len()).for_each(|block| walker.block(block));
        let mut steps = std::mem::take(&mut walker.path.steps);
        // Blocks follow each other without gaps, so that a step's place is the number of its instruction.
        for (step, count) in steps.iter_mut().zip(counts.iter().copied().chain(std::iter::repeat(0.0))) {
            step.times = count;
        }
        steps
    }

    /// Accesses of global memory that are executed.
    fn global(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.cluster.is_some() && step.times > 0.0)
    }

    /// Global accesses that touch far more sectors than their data fill.
    pub(crate) fn scattered(&self) -> u32 {
        let scattered =
            |step: &&Step| step.instruction.access().is_some_and(|access| is_scattered(&access, step.address));
        self.global().filter(scattered).count() as u32
    }

    /// Accesses whose memory their address decides.
    pub(crate) fn generic(&self) -> u32 {
        self.global().filter(|step| step.instruction.space() == Some(Space::Generic)).count() as u32
    }

    /// Global accesses whose lanes are not known to be any distance apart.
    pub(crate) fn untraced(&self) -> u32 {
        let untraced = |step: &&Step| step.address.is_some_and(|address| address.lanes == Lanes::Unknown);
        self.global().filter(untraced).count() as u32
    }
}

/// Of accesses under a predicate and others under its opposite a lane executes one side: the larger is kept. What stands
/// under the guard of an end that is not taken is not executed.
fn choose_one_side(steps: &mut [Step]) {
    let is_end = |step: &Step| step.instruction.class() == Some(Class::Exit);
    let passed = steps.len().saturating_sub(1);
    let ends: Vec<Under> =
        steps.iter().take(passed).filter(|step| is_end(step)).filter_map(|step| step.guard).collect();
    let mut sides: BTreeMap<(u8, u32), [u32; 2]> = BTreeMap::new();
    for guard in steps.iter().filter(|step| !is_end(step)).filter_map(|step| step.guard) {
        sides.entry((guard.predicate, guard.written)).or_default()[usize::from(guard.negated)] += 1;
    }
    for step in steps.iter_mut().filter(|step| !is_end(step)) {
        let Some(guard) = step.guard else { continue };
        let [one, other] = sides.get(&(guard.predicate, guard.written)).copied().unwrap_or_default();
        let smaller = one > 0 && other > 0 && guard.negated == (one >= other);
        if smaller || ends.contains(&guard) {
            step.times = 0.0;
        }
    }
}

/// For each block the successor with the most work after it.
struct Choices {
    next: Vec<Option<usize>>,
    /// The loop's header: a way that comes back to it ends the pass.
    header: Option<usize>,
}

impl Choices {
    fn new(analysis: &Analysis, start: usize, header: Option<usize>, inside: &dyn Fn(usize) -> bool) -> Self {
        let flow = &analysis.structure.flow;
        let count = flow.blocks.len();
        let mut best: Vec<Option<i64>> = vec![None; count];
        let mut next = vec![None; count];
        let mut seen = vec![false; count];
        // Children first, on a stack of its own: code can be deep.
        let mut stack = if start < count { vec![(start, 0_usize)] } else { Vec::new() };
        while let Some((block, child)) = stack.pop() {
            if child == 0 && std::mem::replace(&mut seen[block], true) {
                continue;
            }
            if let Some(to) = flow.successors(block).get(child).copied() {
                stack.push((block, child + 1));
                if inside(to) && !seen[to] {
                    stack.push((to, 0));
                }
                continue;
            }
            let ways = flow.successors(block).iter().filter_map(|to| match header {
                Some(header) if *to == header => Some((0, None)),
                _ => best.get(*to).copied().flatten().map(|work| (work, Some(*to))),
            });
            let chosen = ways.max_by_key(|(work, to)| (*work, std::cmp::Reverse(*to)));
            let ends = header.is_none() && !flow.successors(block).iter().any(|to| inside(*to));
            let after = chosen.map(|(work, _)| work).or(ends.then_some(0));
            best[block] = after.map(|after| after.saturating_add(work(analysis.block(block))));
            next[block] = chosen.and_then(|(_, to)| to);
        }
        Self { next, header }
    }
}

/// Work of a block: an order of magnitude, to compare ways with. Calls are of slow paths as a rule: of a division, say.
fn work(block: &[Instruction]) -> i64 {
    let of = |instruction: &Instruction| match (instruction.class(), instruction.space()) {
        (Some(Class::Call | Class::Return), _) => -10_000,
        // Stacks are for slow paths, too: the reduction of large arguments of a sine.
        (Some(Class::Load | Class::Store), Some(Space::Local)) => -100,
        (Some(Class::Tensor | Class::Wgmma | Class::Tcgen05Mma), _) => 64,
        (Some(Class::Load | Class::Store | Class::AsyncCopy), Some(Space::Global | Space::Generic)) => 32,
        _ => 1,
    };
    block.iter().map(of).sum()
}

/// Walks blocks and keeps what is known of registers and predicates.
struct Walker<'a> {
    analysis: &'a Analysis,
    guarded: Guarded,
    lanes: LaneTracker,
    /// For each predicate, whether it is likely to hold, as long as it was written so often; only known of comparisons of
    /// loaded data for equality.
    likely: [Option<(bool, u32)>; 8],
    path: Path,
}

impl<'a> Walker<'a> {
    fn new(analysis: &'a Analysis, guarded: Guarded) -> Self {
        Self { analysis, guarded, lanes: LaneTracker::default(), likely: [None; 8], path: Path::default() }
    }

    /// Takes in the code before a block, in its order.
    fn prepare(&mut self, header: usize) {
        let end = self.analysis.structure.flow.blocks.get(header).map_or(0, |block| block.start);
        self.analysis.instructions.iter().take(end).for_each(|instruction| self.lanes.follow(instruction));
    }

    fn walk(&mut self, start: usize, choices: &Choices) {
        let mut at = Some(start);
        // A way visits a block once; damaged code could make it longer.
        for _ in 0..=self.analysis.structure.flow.blocks.len() {
            let Some(block) = at else { break };
            self.block(block);
            at = self.after(block, choices);
            let following = self.analysis.structure.flow.blocks.get(block).map(|block| block.end);
            let start = at.and_then(|to| self.analysis.structure.flow.blocks.get(to)).map(|block| block.start);
            if let Some(last) = self.path.steps.last_mut() {
                last.jumps = start.is_some() && start != following || (at.is_none() && choices.header.is_some());
            }
        }
    }

    fn block(&mut self, block: usize) {
        let analysis = self.analysis;
        for instruction in analysis.block(block) {
            let address = self.lanes.address(instruction);
            let times = self.times(instruction);
            let guard = self.guard(instruction);
            let likely = self.equality(instruction);
            self.lanes.follow(instruction);
            self.expect(likely);
            self.path.steps.push(Step {
                instruction: *instruction,
                address,
                times,
                jumps: false,
                cluster: None,
                guard,
                reads: 0.0,
                writes: 0.0,
            });
        }
    }

    /// The path with the bytes of its accesses.
    fn finish(self) -> Path {
        let mut path = self.path;
        path.beyond_x = self.lanes.beyond_x();
        choose_one_side(&mut path.steps);
        let clusters = clusters(&path.steps);
        path.steps.iter_mut().zip(clusters).for_each(|(step, cluster)| step.cluster = cluster);
        let reads = fresh(&path.steps, |kind| matches!(kind, AccessKind::Load | AccessKind::AsyncCopy));
        let writes = fresh(&path.steps, |kind| matches!(kind, AccessKind::Store | AccessKind::Atomic));
        for (step, (reads, writes)) in path.steps.iter_mut().zip(reads.into_iter().zip(writes)) {
            (step.reads, step.writes) = (reads, writes);
        }
        path
    }

    /// Whether the guard of an instruction is likely to hold.
    fn holds(&self, instruction: &Instruction) -> Option<bool> {
        let guard = instruction.guard();
        if guard.is_always() {
            return Some(true);
        }
        let (likely, written) = self.likely.get(usize::from(guard.predicate)).copied().flatten()?;
        (written == self.lanes.written(guard.predicate)).then_some(likely != guard.negated)
    }

    /// The guard of a global access or of an end.
    fn guard(&self, instruction: &Instruction) -> Option<Under> {
        let counts = matches!(instruction.space(), Some(Space::Global | Space::Generic))
            || instruction.class() == Some(Class::Exit);
        self.lanes.under(instruction.word).filter(|_| counts)
    }

    fn times(&mut self, instruction: &Instruction) -> f64 {
        let is_global = matches!(instruction.space(), Some(Space::Global | Space::Generic));
        match self.holds(instruction) {
            Some(true) => 1.0,
            Some(false) => 0.0,
            None if is_global => {
                self.path.guarded = self.path.guarded.saturating_add(1);
                if self.guarded == Guarded::Executed { 1.0 } else { 0.0 }
            }
            None => 1.0,
        }
    }

    /// The two predicates that a comparison of loaded data for equality writes, and whether each is likely to hold.
    fn equality(&self, instruction: &Instruction) -> Option<[(u8, bool); 2]> {
        let word = instruction.word;
        let equal = match (instruction.mnemonic(), word.bits(76, 3), word.bits(76, 4)) {
            ("ISETP", 2, _) | ("FSETP" | "DSETP" | "HSETP2", _, 2 | 10) => true,
            ("ISETP", 5, _) | ("FSETP" | "DSETP" | "HSETP2", _, 5 | 13) => false,
            _ => return None,
        };
        let loaded = |register: u8| register != RZ && matches!(self.lanes.lanes(register), Lanes::Loaded(_));
        let of_data = loaded(word.register(24)) || (word.form() == 1 && loaded(word.register(32)));
        of_data.then_some([(word.bits(81, 3) as u8, !equal), (word.bits(84, 3) as u8, equal)])
    }

    /// Remembers what is likely until the predicates are written again.
    fn expect(&mut self, likely: Option<[(u8, bool); 2]>) {
        for (predicate, likely) in likely.into_iter().flatten() {
            let written = self.lanes.written(predicate);
            if let Some(place) = self.likely.get_mut(usize::from(predicate)).filter(|_| predicate != 7) {
                *place = Some((likely, written));
            }
        }
    }

    fn after(&self, block: usize, choices: &Choices) -> Option<usize> {
        let chosen = choices.next.get(block).copied().flatten();
        let last = self.analysis.block(block).last()?;
        if last.guard().is_always() {
            return chosen;
        }
        let following = block.checked_add(1);
        match (last.class(), self.holds(last)) {
            // The end, for the whole warp.
            (Some(Class::Exit), Some(true)) if choices.header.is_none() => None,
            (Some(Class::Branch), Some(taken)) => {
                let ways = self.analysis.structure.flow.successors(block);
                let other = ways.iter().copied().find(|to| (Some(*to) != following) == taken);
                let leads_on = |to: &usize| choices.next.get(*to).is_some_and(Option::is_some);
                match (other, choices.header) {
                    (Some(to), Some(header)) if to == header => None,
                    (Some(to), Some(_)) => Some(to).filter(leads_on).or(chosen),
                    (Some(to), None) => Some(to),
                    (None, _) => chosen,
                }
            }
            _ => chosen,
        }
    }
}
