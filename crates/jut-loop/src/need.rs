//! How much memory a call needs, as a program of its own.
//!
//! For callers who bring the memory: [`query`] turns a loop program into one whose last function
//! takes the i64 parameters of the entry and returns bytes, `(temp, tape)`, that are enough for any
//! call with those integers, whatever the arrays and floats hold. It is made by running the program
//! on intervals instead of integers, without its data and without its loops:
//!
//! | statement | of the query |
//! |---|---|
//! | integer operation | the same if its operands are known exactly, else on both ends of intervals |
//! | load, result of floats | unknown, until a check bounds it |
//! | `alloc f64[n]` | the level of the arena rises by the upper end of n, in bytes, rounded up to 64 |
//! | `mark`, `release` | the level then, and back |
//! | `for (i in a .. b)` | once, with i in `[a, b - 1]`; what the level rises by, times the trips |
//! | `if` | both branches; the higher level, or the right one if the condition is known |
//! | `call` | a call of the callee's query; there is no bound for functions that call themselves and allocate |
//!
//! ```text
//! loop def f(n: i64, x: in f64[n]) -> (f64)     loop def f(n: i64) -> (f64, f64)
//!   for up (i in 0 .. n) {                        a = max(n - 1, 0)
//!     t = alloc f64[i]                            b = (8 * a + 63) & -64
//!     ..                                          (f64(b) * f64(max(n, 0)), 0.0)
//! ```
//!
//! A function that is long enough to be cut into pieces ([`crate::split`]) is asked before it is cut, and its
//! frame is added: integers and marks that go through the frame would be unknown.
//!
//! Bytes are floats: exact below 2^53, and no product of sizes wraps around. Where every length is a
//! polynomial in the parameters and no branch allocates, the answer is exact, else it is an upper
//! bound. Where a length depends on data there is none, and [`Unbounded`] says where.
//!
//! *Requires*: a well-formed program. *Ensures*: the query has no loops, no branches and no checks,
//! cannot fail, and is linear in the text of the program, in size and in time.

use crate::form::{
    Arena, Atom, Block, Check, Kind, LoopFuncId, LoopFunction, LoopProgram, Param, Role, Site,
    Stmt, Value, ValueData,
};
use crate::opt;
use crate::recursion;
use crate::split::Frames;
use cranelift_entity::SecondaryMap;
use jut_ir::build::Namer;
use jut_ir::ir::Literal;
use jut_ir::prim::{self, Lowering, Opcode, Prim};

/// There is no bound: the length of an allocation depends on data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unbounded {
    /// The allocation.
    pub site: Site,
}

/// Alignment of allocations: what their bytes are rounded up to.
const ALIGN: i64 = jut_runtime::arena::ALIGN as i64;

/// No allocation has more cells: it fails. So nothing wraps around.
const MAX_CELLS: i64 = jut_ir::cover::MAX_CELLS;

/// The program that answers how much memory a call of the given one needs.
///
/// ```
/// use jut_loop::{eval, form::Atom, need, read, signature::Flat};
/// use jut_ir::Literal;
/// let text = "loop def f(n: i64) -> () = {
///   for up (i in 0 .. n) {
///     t = alloc tape f64[n] @0:0..1
///   }
/// }";
/// let program = read::read_program(0, text).unwrap();
/// let query = need::query(&program).unwrap();
/// let (entry, _) = query.funcs.last().unwrap();
/// let three = [Flat::Scalar(Literal::I64(3))];
/// let bytes = eval::run(&query, entry, &three).unwrap().results;
/// assert_eq!(bytes, [0.0, 3.0 * 64.0].map(|b| Flat::Scalar(Literal::F64(b))));
/// ```
///
/// # Errors
/// [`Unbounded`] if the data decide.
pub fn query(program: &LoopProgram) -> Result<LoopProgram, Unbounded> {
    query_with_frames(program, &Frames::new())
}

/// The same for what [`crate::split::run`] makes of a program, from the program before it was cut and the
/// frames of its functions.
///
/// # Errors
/// As [`query`].
pub fn query_with_frames(program: &LoopProgram, frames: &Frames) -> Result<LoopProgram, Unbounded> {
    let mut out = LoopProgram::default();
    let mut done: SecondaryMap<LoopFuncId, Option<Summary>> = SecondaryMap::new();
    let last = program.funcs.keys().next_back();
    let recursive = recursion::recursive(program);
    for (id, function) in program.funcs.iter() {
        let entry = Some(id) == last;
        if recursive[id] != 0 && done[id].is_none() {
            // How deep it goes is up to the data, and so is what all levels allocate.
            let members =
                || program.funcs.iter().filter(|(other, _)| recursive[*other] == recursive[id]);
            let site = members().find_map(|(_, member)| allocates(member, &done));
            for (member, _) in members().filter(|_| site.is_some()) {
                done[member] = Some(Summary { unbounded: site, site, ..Summary::default() });
            }
        }
        if done[id].is_some() {
            continue;
        }
        let mut walk = Walk::new(function, &done);
        walk.parameters(entry);
        let words = frames.get(id).copied().unwrap_or_default();
        if words > 0 {
            // The frame is the first allocation, and goes with the function.
            let bytes = (8 * i64::from(words) + ALIGN - 1) & -ALIGN;
            walk.rise(index(Arena::Temp), Atom::Lit(Literal::F64(bytes as f64)));
        }
        walk.block(&function.body);
        if words > 0 && !entry {
            walk.levels[index(Arena::Temp)].now = ZERO;
        }
        let (made, summary) = walk.finish(entry);
        if let (true, Some(site)) = (entry, summary.unbounded) {
            return Err(Unbounded { site });
        }
        // A query of a function without a bound is never called.
        let func = match summary.unbounded {
            None => Some(out.funcs.push(made)),
            Some(_) => None,
        };
        done[id] = Some(Summary { func, ..summary });
    }
    Ok(out)
}

/// An allocation of a function, or of one that it calls.
fn allocates(
    function: &LoopFunction,
    done: &SecondaryMap<LoopFuncId, Option<Summary>>,
) -> Option<Site> {
    let mut found = None;
    function.body.for_each(&mut |stmt| match stmt {
        Stmt::Alloc { site, .. } => found = found.or(Some(*site)),
        Stmt::Call { func, .. } => found = found.or(done[*func].as_ref().and_then(|s| s.site)),
        _ => {}
    });
    found
}

/// Which parameters of a function something depends on: one bit each, the last one for all that have
/// none of their own.
type Parameters = u128;

fn bit(k: usize) -> Parameters {
    1 << k.min(127)
}

/// What the callers of a function's query must know.
#[derive(Clone, Debug, Default)]
struct Summary {
    /// The query; none if there is no bound.
    func: Option<LoopFuncId>,
    unbounded: Option<Site>,
    /// An allocation, where there is one: the place to name if the arguments are unknown.
    site: Option<Site>,
    /// What the bytes depend on.
    bytes: Parameters,
    /// For each result what it depends on; `None` if it is unknown.
    results: Vec<Option<Parameters>>,
    /// Which of the four levels are not always zero.
    nonzero: [bool; 4],
}

/// What is known of a value: both ends, or exactly what it is if they are the same.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Range {
    low: Atom,
    high: Atom,
    needs: Parameters,
}

impl Range {
    fn exact(atom: Atom, needs: Parameters) -> Range {
        Range { low: atom, high: atom, needs }
    }

    fn is_exact(&self) -> bool {
        self.low == self.high
    }
}

/// An arena at a point of the program: bytes in use, and the most that there were.
#[derive(Clone, Copy, Debug)]
struct Level {
    now: Atom,
    peak: Atom,
}

const NOTHING: Level = Level { now: ZERO, peak: ZERO };
const ZERO: Atom = Atom::Lit(Literal::F64(0.0));

fn int(k: i64) -> Atom {
    Atom::Lit(Literal::I64(k))
}

fn index(arena: Arena) -> usize {
    match arena {
        Arena::Temp => 0,
        Arena::Tape => 1,
    }
}

struct Walk<'a> {
    from: &'a LoopFunction,
    done: &'a SecondaryMap<LoopFuncId, Option<Summary>>,
    out: LoopFunction,
    namer: Namer,
    known: SecondaryMap<Value, Option<Range>>,
    /// Values that a check has bounded in the blocks around this point.
    bounded: Vec<Value>,
    marks: SecondaryMap<Value, Option<(usize, Atom)>>,
    /// How many loops are around this point, and around each mark.
    loops: usize,
    levels: [Level; 2],
    needs: Parameters,
    site: Option<Site>,
    unbounded: Option<Site>,
}

impl<'a> Walk<'a> {
    fn new(
        from: &'a LoopFunction,
        done: &'a SecondaryMap<LoopFuncId, Option<Summary>>,
    ) -> Walk<'a> {
        Walk {
            from,
            done,
            out: LoopFunction { name: format!("{}.need", from.name), ..LoopFunction::default() },
            namer: Namer::default(),
            known: SecondaryMap::new(),
            bounded: Vec::new(),
            marks: SecondaryMap::new(),
            loops: 0,
            levels: [NOTHING; 2],
            needs: 0,
            site: None,
            unbounded: None,
        }
    }

    /// The entry takes its integers, other functions both ends of each.
    fn parameters(&mut self, entry: bool) {
        for (k, param) in self.from.params.iter().enumerate() {
            let data = &self.from.values[param.value];
            if data.kind != Kind::I64 {
                continue;
            }
            let mut end = |name: &str| {
                let value = self.fresh(name, Kind::I64);
                self.out.params.push(Param { value, role: Role::In, len: None });
                Atom::Value(value)
            };
            let low = end(&data.name);
            let high = if entry { low } else { end(&data.name) };
            self.known[param.value] = Some(Range { low, high, needs: bit(k) });
        }
    }

    fn finish(mut self, entry: bool) -> (LoopFunction, Summary) {
        let [temp, tape] = self.levels;
        let mut results = vec![temp.peak, tape.peak];
        let mut summary = Summary {
            func: None,
            unbounded: self.unbounded,
            site: self.site,
            bytes: self.needs,
            results: Vec::new(),
            nonzero: [temp.peak, tape.peak, temp.now, tape.now].map(|a| a != ZERO),
        };
        if !entry {
            results.extend([temp.now, tape.now]);
            for atom in &self.from.body.results {
                let range = match self.from.kind_of(*atom) {
                    Kind::I64 => self.range(*atom),
                    _ => None,
                };
                summary.results.push(range.map(|r| r.needs));
                if let Some(range) = range {
                    results.extend([range.low, range.high]);
                }
            }
        }
        self.out.body.results = results;
        opt::optimise(&mut self.out);
        (self.out, summary)
    }

    fn fresh(&mut self, hint: &str, kind: Kind) -> Value {
        let name = self.namer.fresh(hint);
        self.out.values.push(ValueData { name, kind })
    }

    /// What is known of an operand.
    fn range(&self, atom: Atom) -> Option<Range> {
        match atom {
            Atom::Lit(_) => Some(Range::exact(atom, 0)),
            Atom::Value(value) => self.known[value],
        }
    }

    /// An operation of the query; on literals it is done now.
    fn emit(&mut self, prim: Prim, args: &[Atom]) -> Atom {
        let literals: Option<Vec<Literal>> = args
            .iter()
            .map(|a| match a {
                Atom::Lit(literal) => Some(*literal),
                Atom::Value(_) => None,
            })
            .collect();
        if let Some(literals) = literals {
            return Atom::Lit((prim.row().eval)(&literals));
        }
        let kind = Kind::Scalar(prim.row().result);
        let dst = self.fresh("t", kind);
        self.out.body.stmts.push(Stmt::Prim { dst, prim, args: args.to_vec() });
        dst.into()
    }

    fn add(&mut self, a: Atom, b: Atom) -> Atom {
        match (a == ZERO, b == ZERO) {
            (true, _) => b,
            (_, true) => a,
            _ => self.emit(prim::ADD, &[a, b]),
        }
    }

    fn times(&mut self, a: Atom, b: Atom) -> Atom {
        if a == ZERO || b == ZERO { ZERO } else { self.emit(prim::MUL, &[a, b]) }
    }

    /// The larger one of two levels, which are never negative.
    fn higher(&mut self, a: Atom, b: Atom) -> Atom {
        match (a == ZERO, b == ZERO) {
            (true, _) => b,
            (_, true) => a,
            _ if a == b => a,
            _ => self.emit(prim::MAX, &[a, b]),
        }
    }

    fn least(&mut self, ends: &[Atom]) -> Atom {
        self.extreme(prim::IMIN, ends)
    }

    fn most(&mut self, ends: &[Atom]) -> Atom {
        self.extreme(prim::IMAX, ends)
    }

    fn extreme(&mut self, prim: Prim, ends: &[Atom]) -> Atom {
        let mut ends = ends.iter().copied();
        let first = ends.next().unwrap_or(int(0));
        ends.fold(first, |a, b| if a == b { a } else { self.emit(prim, &[a, b]) })
    }

    fn bind(&mut self, dst: Value, range: Option<Range>) {
        self.known[dst] = range;
    }

    fn rise(&mut self, arena: usize, bytes: Atom) {
        let now = self.add(self.levels[arena].now, bytes);
        let peak = self.higher(self.levels[arena].peak, now);
        self.levels[arena] = Level { now, peak };
    }

    fn give_up(&mut self, site: Option<Site>) {
        self.unbounded = self.unbounded.or(site);
    }

    fn block(&mut self, block: &Block) {
        let before = self.bounded.len();
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
        // What a check has shown holds behind it in its block only.
        for value in self.bounded.drain(before..) {
            self.known[value] = None;
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Prim { dst, prim, args } => {
                let range = self.prim(*prim, args);
                self.bind(*dst, range);
            }
            Stmt::Copy { dst, src } => self.bind(*dst, self.range(*src)),
            Stmt::Alloc { len, cell, arena, site, .. } => {
                self.site = self.site.or(Some(*site));
                let Some(range) = self.range(*len) else { return self.give_up(Some(*site)) };
                self.needs |= range.needs;
                let cells = self.most(&[range.high, int(0)]);
                let cells = self.least(&[cells, int(MAX_CELLS)]);
                let bytes = self.emit(prim::IMUL, &[cells, int(cell.bytes())]);
                let bytes = self.emit(prim::IADD, &[bytes, int(ALIGN - 1)]);
                let bytes = self.emit(prim::BITAND, &[bytes, int(-ALIGN)]);
                let bytes = self.emit(prim::FLOAT, &[bytes]);
                self.rise(index(*arena), bytes);
            }
            Stmt::Mark { dst, arena } => {
                self.marks[*dst] = Some((self.loops, self.levels[index(*arena)].now));
            }
            Stmt::Release { mark, arena } => {
                // A mark from before the loop says nothing of an iteration: the level stays.
                if let Some((loops, level)) = self.marks[*mark]
                    && loops == self.loops
                {
                    self.levels[index(*arena)].now = level;
                }
            }
            Stmt::For(inner) => self.repeat(inner),
            Stmt::Lanes(inner) => {
                let bounds = (self.range(inner.low), self.range(inner.high));
                self.repeated(inner.index, bounds, &inner.body);
            }
            Stmt::If { dst, cond, then, other } => self.branch(dst, *cond, then, other),
            Stmt::Call { dst, func, args, .. } => self.call(dst, *func, args),
            Stmt::Check { check, .. } => self.check(*check),
            Stmt::Load { .. }
            | Stmt::Previous { .. }
            | Stmt::Store { .. }
            | Stmt::Offset { .. }
            | Stmt::Fill { .. }
            | Stmt::CopyCells { .. }
            | Stmt::Poll { .. }
            | Stmt::Kernel { .. } => {}
        }
    }

    fn prim(&mut self, prim: Prim, args: &[Atom]) -> Option<Range> {
        let operands: Vec<Option<Range>> = args.iter().map(|a| self.range(*a)).collect();
        let Lowering::Opcode(op) = prim.row().lowering else {
            return self.exactly(prim, &operands);
        };
        match op {
            // The check before a division may fail, and does so in the program, not here.
            Opcode::IDiv | Opcode::IRem => match *operands.as_slice() {
                [Some(a), Some(b)] => Some(self.divide(op, a, b)),
                [_, Some(b)] if op == Opcode::IRem => {
                    let all = Range { low: int(i64::MIN), high: int(i64::MAX), needs: 0 };
                    Some(self.divide(op, all, b))
                }
                _ => None,
            },
            // Of floats and truth values nothing is known but what they are.
            Opcode::Select if prim != prim::ISELECT => self.exactly(prim, &operands),
            _ => self.exactly(prim, &operands).or_else(|| self.roughly(op, &operands)),
        }
    }

    /// The operation itself, if all operands are known exactly.
    fn exactly(&mut self, prim: Prim, operands: &[Option<Range>]) -> Option<Range> {
        let ranges: Option<Vec<Range>> = operands.iter().copied().collect();
        let ranges = ranges.filter(|ranges| ranges.iter().all(Range::is_exact))?;
        let args: Vec<Atom> = ranges.iter().map(|r| r.low).collect();
        let needs = ranges.iter().fold(0, |all, r| all | r.needs);
        Some(Range::exact(self.emit(prim, &args), needs))
    }

    /// An integer operation on intervals.
    fn roughly(&mut self, op: Opcode, operands: &[Option<Range>]) -> Option<Range> {
        let needs = operands.iter().flatten().fold(0, |all, r| all | r.needs);
        let made = |low, high| Some(Range { low, high, needs });
        match (op, operands) {
            (Opcode::BToI, _) => made(int(0), int(1)),
            (Opcode::ISign, _) => made(int(-1), int(1)),
            (Opcode::Copy, [Some(a)]) => Some(*a),
            (Opcode::INeg, [Some(a)]) => {
                let low = self.emit(prim::INEG, &[a.high]);
                let high = self.emit(prim::INEG, &[a.low]);
                made(low, high)
            }
            (Opcode::IAdd, [Some(a), Some(b)]) => {
                let low = self.emit(prim::IADD, &[a.low, b.low]);
                let high = self.emit(prim::IADD, &[a.high, b.high]);
                made(low, high)
            }
            (Opcode::ISub, [Some(a), Some(b)]) => {
                let low = self.emit(prim::ISUB, &[a.low, b.high]);
                let high = self.emit(prim::ISUB, &[a.high, b.low]);
                made(low, high)
            }
            (Opcode::IMul, [Some(a), Some(b)]) => {
                let ends = [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)];
                let mut products: Vec<Atom> = Vec::new();
                for (x, y) in ends {
                    let product = self.emit(prim::IMUL, &[x, y]);
                    products.push(product);
                }
                let (low, high) = (self.least(&products), self.most(&products));
                made(low, high)
            }
            (Opcode::IMin | Opcode::IMax, [Some(a), Some(b)]) => {
                let prim = if op == Opcode::IMin { prim::IMIN } else { prim::IMAX };
                let low = self.extreme(prim, &[a.low, b.low]);
                let high = self.extreme(prim, &[a.high, b.high]);
                made(low, high)
            }
            (Opcode::Select, [cond, Some(a), Some(b)]) => match cond {
                Some(c) if c.is_exact() => {
                    let low = self.emit(prim::ISELECT, &[c.low, a.low, b.low]);
                    let high = self.emit(prim::ISELECT, &[c.low, a.high, b.high]);
                    made(low, high)
                }
                _ => {
                    let (low, high) = (self.least(&[a.low, b.low]), self.most(&[a.high, b.high]));
                    made(low, high)
                }
            },
            _ => None,
        }
    }

    /// Quotient and remainder, where the divisor may be anything.
    fn divide(&mut self, op: Opcode, a: Range, b: Range) -> Range {
        let needs = a.needs | b.needs;
        let prim = if op == Opcode::IDiv { prim::IDIV } else { prim::IREM };
        if b.is_exact() && (a.is_exact() || op == Opcode::IDiv) {
            let divisor = match b.low {
                Atom::Lit(Literal::I64(k)) if k != 0 => b.low,
                _ => {
                    let zero = self.emit(prim::IEQ, &[b.low, int(0)]);
                    self.emit(prim::ISELECT, &[zero, int(1), b.low])
                }
            };
            let ends = [a.low, a.high].map(|end| self.emit(prim, &[end, divisor]));
            return Range { low: self.least(&ends), high: self.most(&ends), needs };
        }
        // Towards zero: between the dividend and zero. A remainder is smaller than the divisor, too.
        let (mut low, mut high) = (self.least(&[a.low, int(0)]), self.most(&[a.high, int(0)]));
        if op == Opcode::IDiv {
            // Unless the divisor is negative.
            let (minus_high, minus_low) =
                (self.emit(prim::INEG, &[high]), self.emit(prim::INEG, &[low]));
            (low, high) = (self.least(&[low, minus_high]), self.most(&[high, minus_low]));
        } else {
            let minus = self.emit(prim::INEG, &[b.low]);
            let most = self.most(&[b.high, minus, int(1)]);
            let most = self.emit(prim::ISUB, &[most, int(1)]);
            let minus = self.emit(prim::INEG, &[most]);
            (low, high) = (self.most(&[low, minus]), self.least(&[high, most]));
        }
        Range { low, high, needs }
    }

    fn repeat(&mut self, inner: &crate::form::For) {
        let bounds = (self.range(inner.low), self.range(inner.high));
        // What every iteration hands on unchanged is what it was.
        let kept = inner.carry.iter().zip(&inner.body.results);
        let kept: Vec<Option<Range>> = kept
            .map(|((value, start), next)| {
                (*next == Atom::Value(*value)).then(|| self.range(*start)).flatten()
            })
            .collect();
        for ((value, _), range) in inner.carry.iter().zip(&kept) {
            self.known[*value] = *range;
        }
        self.repeated(inner.index, bounds, &inner.body);
        for (dst, range) in inner.dst.iter().zip(kept) {
            self.known[*dst] = range;
        }
    }

    /// A loop: the body once, for all iterations.
    fn repeated(
        &mut self,
        index: Value,
        (low, high): (Option<Range>, Option<Range>),
        body: &Block,
    ) {
        self.known[index] = match (low, high) {
            (Some(low), Some(high)) => {
                let last = self.emit(prim::ISUB, &[high.high, int(1)]);
                Some(Range { low: low.low, high: last, needs: low.needs | high.needs })
            }
            _ => None,
        };
        let before = std::mem::replace(&mut self.levels, [NOTHING; 2]);
        let site = self.site.take();
        self.loops += 1;
        self.block(body);
        self.loops -= 1;
        let inner = self.site.take();
        self.site = site.or(inner);
        let of_body = std::mem::replace(&mut self.levels, before);
        if of_body.iter().all(|level| level.peak == ZERO) {
            return;
        }
        // In the last iteration all others have left what they leave.
        let trips = match (low, high) {
            (Some(low), Some(high)) => {
                self.needs |= low.needs | high.needs;
                let trips = self.emit(prim::ISUB, &[high.high, low.low]);
                let trips = self.most(&[trips, int(0)]);
                Some(self.emit(prim::FLOAT, &[trips]))
            }
            _ => None,
        };
        for (arena, level) in of_body.into_iter().enumerate() {
            let Some(trips) = trips else {
                if level.now != ZERO {
                    self.give_up(inner);
                }
                let most = self.add(before[arena].now, level.peak);
                self.levels[arena].peak = self.higher(before[arena].peak, most);
                continue;
            };
            let one = Atom::Lit(Literal::F64(1.0));
            let ran = self.emit(prim::MIN, &[trips, one]);
            let peak = self.times(level.peak, ran);
            let others = self.emit(prim::SUB, &[trips, ran]);
            let left = self.times(level.now, others);
            let most = self.add(before[arena].now, left);
            let most = self.add(most, peak);
            let all = self.times(level.now, trips);
            let now = self.add(before[arena].now, all);
            let peak = self.higher(before[arena].peak, most);
            self.levels[arena] = Level { now, peak };
        }
    }

    fn branch(&mut self, dst: &[Value], cond: Atom, then: &Block, other: &Block) {
        let cond = self.range(cond);
        let before = self.levels;
        let run = |walk: &mut Self, block: &Block| {
            walk.levels = before;
            walk.block(block);
            let results: Vec<Option<Range>> =
                block.results.iter().map(|a| walk.range(*a)).collect();
            (walk.levels, results)
        };
        let (one, first) = run(self, then);
        let (two, second) = run(self, other);
        for arena in 0..2 {
            let join = |walk: &mut Self, a: Atom, b: Atom| match cond {
                _ if a == b => a,
                Some(c) if c.is_exact() => {
                    walk.needs |= c.needs;
                    walk.emit(prim::SELECT, &[c.low, a, b])
                }
                _ => walk.higher(a, b),
            };
            let now = join(self, one[arena].now, two[arena].now);
            let peak = join(self, one[arena].peak, two[arena].peak);
            self.levels[arena] = Level { now, peak };
        }
        for ((dst, a), b) in dst.iter().zip(first).zip(second) {
            let range = match self.from.values[*dst].kind {
                Kind::I64 => self.roughly(Opcode::Select, &[cond, a, b]),
                _ => None,
            };
            self.bind(*dst, range);
        }
    }

    fn call(&mut self, dst: &[Value], func: LoopFuncId, args: &[Atom]) {
        for value in dst {
            self.known[*value] = None;
        }
        let Some(summary) = self.done[func].as_ref() else { return };
        let ranges: Vec<Option<Range>> = args.iter().map(|a| self.range(*a)).collect();
        let unknown = |k: usize| matches!(ranges.get(k), Some(None));
        let unknown = (0..args.len()).filter(|k| unknown(*k)).fold(0, |all, k| all | bit(k));
        let needs = |of: Parameters| {
            let used = ranges.iter().enumerate().filter(|(k, _)| of & bit(*k) != 0);
            used.filter_map(|(_, r)| *r).fold(0, |all, r| all | r.needs)
        };
        self.site = self.site.or(summary.site);
        let Some(callee) = summary.func else { return self.give_up(summary.unbounded) };
        if summary.bytes & unknown != 0 {
            return self.give_up(summary.site);
        }
        let wanted = summary.results.iter().any(|r| r.is_some_and(|of| of & unknown == 0));
        if !wanted && summary.nonzero == [false; 4] {
            return;
        }
        self.needs |= needs(summary.bytes);
        let mut both = Vec::new();
        for (arg, range) in args.iter().zip(&ranges) {
            if self.from.kind_of(*arg) == Kind::I64 {
                // Nothing that is used depends on unknown ones.
                both.extend(range.map_or([int(0); 2], |r| [r.low, r.high]));
            }
        }
        let levels: [Value; 4] = std::array::from_fn(|_| self.fresh("bytes", Kind::F64));
        let mut results = levels.to_vec();
        for (value, of) in dst.iter().zip(&summary.results) {
            let Some(of) = of else { continue };
            let [low, high] = [(); 2].map(|()| self.fresh("t", Kind::I64));
            results.extend([low, high]);
            if of & unknown == 0 {
                let range = Range { low: low.into(), high: high.into(), needs: needs(*of) };
                self.known[*value] = Some(range);
            }
        }
        let call = Stmt::Call { dst: results, func: callee, args: both, shares: None };
        self.out.body.stmts.push(call);
        let level = |k: usize| if summary.nonzero[k] { levels[k].into() } else { ZERO };
        let [peaks, nows] = [[level(0), level(1)], [level(2), level(3)]];
        for arena in 0..2 {
            let before = self.levels[arena];
            let most = self.add(before.now, peaks[arena]);
            let peak = self.higher(before.peak, most);
            let now = self.add(before.now, nows[arena]);
            self.levels[arena] = Level { now, peak };
        }
    }

    /// What a check that holds says of unknown integers.
    fn check(&mut self, check: Check) {
        match check {
            // That memory is not without a bound says nothing of how much is needed.
            Check::Below(_, Atom::Lit(Literal::I64(MAX_CELLS))) => {}
            Check::Below(i, n) => {
                if let Some(n) = self.range(n) {
                    let last = self.emit(prim::ISUB, &[n.high, int(1)]);
                    self.bound(i, Range { low: int(0), high: last, needs: n.needs });
                }
            }
            Check::Within(low, len, n) => {
                if let Some(n) = self.range(n) {
                    for part in [low, len] {
                        self.bound(part, Range { low: int(0), high: n.high, needs: n.needs });
                    }
                }
            }
            Check::Equal(a, b) => {
                for (a, b) in [(a, b), (b, a)] {
                    if let Some(range) = self.range(b) {
                        self.bound(a, range);
                    }
                }
            }
            Check::NonNegative(_) | Check::NonZero(_) => {}
        }
    }

    fn bound(&mut self, atom: Atom, range: Range) {
        if let Atom::Value(value) = atom
            && self.known[value].is_none()
        {
            self.known[value] = Some(range);
            self.bounded.push(value);
        }
    }
}
