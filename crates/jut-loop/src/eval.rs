//! An evaluator of the loop form: what a backend must do, said once in plain Rust.
//!
//! It is the third engine beside the interpreter of Linear A and compiled code, and the strictest:
//! every access is tested against the buffer it goes to, memory that was released is gone, and
//! cells that nobody wrote have no value. Accesses that a correct lowering cannot make are reported
//! as a [`Fault::Broken`] with what went wrong, never as a wrong number.
//!
//! Loops that are marked as vectors run as machines run them: statement by statement, for all lanes.
//!
//! Ensures: the same bits as every backend, sums in [`Lanes`] included. Cost: some ten nanoseconds
//! per statement; it is for tests and for `show`.

use cranelift_entity::{EntityRef, SecondaryMap};
use jut_ir::prim::Prim;
use jut_ir::{Literal, RuntimeError, Scalar};
use jut_runtime::lanes::fold;

use crate::form::{
    Arena, Atom, BLOCK, Block, Cell, Check, For, Kind, LANES, Lanes, LoopFuncId, LoopFunction,
    LoopProgram, Order, Role, Site, Stmt, Value,
};
use crate::kernel::Kernel;
use crate::signature::{Cells, Flat};

mod vector;

/// Why a run ended without a result.
#[derive(Clone, PartialEq, Debug)]
pub enum Fault {
    /// An error of the user's program.
    Runtime(RuntimeError),
    /// The loop program did what no loop program may do.
    Broken(String),
}

impl From<RuntimeError> for Fault {
    fn from(error: RuntimeError) -> Fault {
        Fault::Runtime(error)
    }
}

/// What a run has left.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// Every parameter after the run: `inout` and `out` buffers have changed.
    pub params: Vec<Flat>,
    /// The returned scalars and buffers. A returned buffer extends to the end of its allocation.
    pub results: Vec<Flat>,
}

/// Runs a function. There is one argument per parameter; those for `out` parameters are ignored.
///
/// # Errors
/// The error of the user's program, or what is wrong with the loop program or the arguments.
pub fn run(program: &LoopProgram, func: LoopFuncId, args: &[Flat]) -> Result<Outcome, Fault> {
    counted(program, func, args).map(|(outcome, _)| outcome)
}

/// Runs a function as [`run`] does, and gives how many statements were executed; one that fills, copies or
/// computes many cells counts once more for each.
///
/// # Errors
/// As [`run`].
pub fn counted(
    program: &LoopProgram,
    func: LoopFuncId,
    args: &[Flat],
) -> Result<(Outcome, u64), Fault> {
    start(program, func, args, None)
}

/// Brings the indices of the iterations of a loop into the order in which they run.
pub type Permute<'a> = &'a dyn Fn(&mut [i64]);

/// Runs a function as [`run`] does, but the iterations of every `for par` in the order into which
/// `permute` brings their indices. A right program has the same outcome whatever that order is.
///
/// # Errors
/// As [`run`]; where several iterations of a `for par` fail, the error is that of the lowest.
pub fn run_permuted(
    program: &LoopProgram,
    func: LoopFuncId,
    args: &[Flat],
    permute: Permute<'_>,
) -> Result<Outcome, Fault> {
    start(program, func, args, Some(permute)).map(|(outcome, _)| outcome)
}

fn start(
    program: &LoopProgram,
    func: LoopFuncId,
    args: &[Flat],
    permute: Option<Permute<'_>>,
) -> Result<(Outcome, u64), Fault> {
    let Some(callee) = program.funcs.get(func) else {
        return Err(Fault::Broken("no such function".into()));
    };
    if args.len() != callee.params.len() {
        return Err(Fault::Broken("wrong number of arguments".into()));
    }
    let (blocks, arenas) = Default::default();
    let mut execution = Execution { program, permute, blocks, arenas, cells: 0, work: 0 };
    let integer = |k: usize| match args.get(k) {
        Some(Flat::Scalar(Literal::I64(x))) => *x,
        _ => 0,
    };
    let mut values = Vec::new();
    for (param, arg) in callee.params.iter().zip(args) {
        let cells = match (param.role, arg) {
            (_, Flat::Scalar(l)) => {
                values.push(Val::from(*l));
                continue;
            }
            (Role::Out, Flat::Buffer(_)) => {
                let len = param.len.as_ref().map_or(0, |s| s.eval(&mut |v| integer(v.index())));
                vec![Val::Nothing; usize::try_from(len).unwrap_or(0)]
            }
            (_, Flat::Buffer(cells)) => execution.load_cells(cells),
        };
        values.push(execution.new_block(cells));
    }
    let results = execution.call(callee, &values)?;
    let outcome = Outcome {
        params: values.iter().map(|v| execution.flat(*v)).collect(),
        results: results.iter().map(|v| execution.flat(*v)).collect(),
    };
    Ok((outcome, execution.work))
}

/// Ranges that are longer are not cut.
const LONG: i64 = 1 << 20;

/// Bytes of stack with which a function begins.
const STACK: usize = 256 << 10;

/// The most cells of one run.
const MAX_CELLS: usize = 1 << 30;

/// A value or a cell.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Val {
    /// Not written yet.
    Nothing,
    F64(f64),
    F32(f32),
    I64(i64),
    I32(i32),
    Bool(bool),
    /// Block and cell.
    Buffer(usize, i64),
}

impl From<Literal> for Val {
    fn from(l: Literal) -> Val {
        match l {
            Literal::F64(x) => Val::F64(x),
            Literal::F32(x) => Val::F32(x),
            Literal::I32(x) => Val::I32(x),
            Literal::I64(x) => Val::I64(x),
            Literal::Bool(x) => Val::Bool(x),
        }
    }
}

struct Execution<'a> {
    program: &'a LoopProgram,
    /// Brings the indices of a `for par` into the order in which they run.
    permute: Option<Permute<'a>>,
    /// Cells; `None` once released.
    blocks: Vec<Option<Vec<Val>>>,
    /// The blocks on the temp and on the tape arena, bottom first.
    arenas: [Vec<usize>; 2],
    cells: usize,
    work: u64,
}

/// The result of a primitive.
fn operation(
    prim: Prim,
    args: &[Atom],
    value: &dyn Fn(Atom) -> Result<Val, Fault>,
) -> Result<Val, Fault> {
    let mut operands = Vec::with_capacity(args.len());
    for (a, want) in args.iter().zip(prim.row().params) {
        operands.push(match (value(*a)?, *want) {
            (Val::F64(x), Scalar::F64) => Literal::F64(x),
            (Val::F32(x), Scalar::F32) => Literal::F32(x),
            (Val::I32(x), Scalar::I32) => Literal::I32(x),
            (Val::I64(x), Scalar::I64) => Literal::I64(x),
            (Val::Bool(x), Scalar::Bool) => Literal::Bool(x),
            (got, _) => return broken(&format!("operand {got:?} of {prim:?}")),
        });
    }
    if prim.can_fail() && operands.last() == Some(&Literal::I64(0)) {
        return broken("a division by zero without a check");
    }
    Ok((prim.row().eval)(&operands).into())
}

/// The operands of a check, if it does not hold.
fn failing(
    check: Check,
    value: &dyn Fn(Atom) -> Result<Val, Fault>,
) -> Result<Option<Vec<i64>>, Fault> {
    let atoms = check.atoms();
    let mut operands = Vec::with_capacity(atoms.len());
    for a in &atoms {
        operands.push(value(*a)?.int()?);
    }
    let value = |a: Atom| {
        let k = atoms.iter().position(|b| *b == a).unwrap_or_default();
        operands.get(k).copied().unwrap_or_default()
    };
    Ok(if check.holds(value) { None } else { Some(operands) })
}

struct Frame<'a> {
    func: &'a LoopFunction,
    values: SecondaryMap<Value, Option<Val>>,
    /// What values of the bodies of loops of sums were in the iteration before, by the names that they have then.
    before: SecondaryMap<Value, Option<Val>>,
}

fn broken<T>(what: &str) -> Result<T, Fault> {
    Err(Fault::Broken(what.to_string()))
}

impl Val {
    fn int(self) -> Result<i64, Fault> {
        match self {
            Val::I64(x) => Ok(x),
            _ => broken("an i64 is expected"),
        }
    }
}

impl Frame<'_> {
    fn atom(&self, a: Atom) -> Result<Val, Fault> {
        match a {
            Atom::Lit(l) => Ok(l.into()),
            Atom::Value(v) => match self.values.get(v).copied().flatten() {
                Some(value) => Ok(value),
                None => broken(&format!("`{}` is used before it is set", self.func.values[v].name)),
            },
        }
    }

    fn int(&self, a: Atom) -> Result<i64, Fault> {
        self.atom(a)?.int()
    }

    fn buffer(&self, v: Value) -> Result<(usize, i64), Fault> {
        match self.atom(v.into())? {
            Val::Buffer(block, at) => Ok((block, at)),
            _ => broken(&format!("`{}` is no buffer", self.func.values[v].name)),
        }
    }

    fn set_all(&mut self, dst: &[Value], values: Vec<Val>) {
        for (v, value) in dst.iter().zip(values) {
            self.values[*v] = Some(value);
        }
    }
}

impl<'a> Execution<'a> {
    fn arena(&mut self, arena: Arena) -> &mut Vec<usize> {
        &mut self.arenas[arena as usize]
    }

    fn new_block(&mut self, cells: Vec<Val>) -> Val {
        self.cells += cells.len();
        self.blocks.push(Some(cells));
        Val::Buffer(self.blocks.len() - 1, 0)
    }

    fn load_cells(&mut self, cells: &Cells) -> Vec<Val> {
        match cells {
            Cells::F64(c) => c.iter().map(|x| Val::F64(*x)).collect(),
            Cells::F32(c) => c.iter().map(|x| Val::F32(*x)).collect(),
            Cells::I32(c) => c.iter().map(|x| Val::I32(*x)).collect(),
            Cells::I64(c) => c.iter().map(|x| Val::I64(*x)).collect(),
            Cells::Bool(c) => c.iter().map(|x| Val::Bool(*x != 0)).collect(),
            Cells::Buffers(c) => {
                let mut all = Vec::with_capacity(c.len());
                for inner in c {
                    let inner = self.load_cells(inner);
                    all.push(self.new_block(inner));
                }
                all
            }
        }
    }

    /// A value as data; cells that were never written are zero.
    fn flat(&self, value: Val) -> Flat {
        let (block, at) = match value {
            Val::F64(x) => return Flat::Scalar(Literal::F64(x)),
            Val::F32(x) => return Flat::Scalar(Literal::F32(x)),
            Val::I32(x) => return Flat::Scalar(Literal::I32(x)),
            Val::I64(x) => return Flat::Scalar(Literal::I64(x)),
            Val::Bool(x) => return Flat::Scalar(Literal::Bool(x)),
            Val::Nothing => return Flat::Buffer(Cells::Buffers(Vec::new())),
            Val::Buffer(block, at) => (block, at),
        };
        let cells = self.blocks.get(block).and_then(|b| b.as_ref());
        let cells = cells.and_then(|c| c.get(usize::try_from(at).ok()?..)).unwrap_or_default();
        let float = |v: &Val| if let Val::F64(x) = v { *x } else { 0.0 };
        let single = |v: &Val| if let Val::F32(x) = v { *x } else { 0.0 };
        let int = |v: &Val| if let Val::I64(x) = v { *x } else { 0 };
        let narrow = |v: &Val| if let Val::I32(x) = v { *x } else { 0 };
        let bit = |v: &Val| matches!(v, Val::Bool(true)) as u8;
        Flat::Buffer(match cells.iter().find(|v| **v != Val::Nothing) {
            Some(Val::F32(_)) => Cells::F32(cells.iter().map(single).collect()),
            Some(Val::I32(_)) => Cells::I32(cells.iter().map(narrow).collect()),
            Some(Val::I64(_)) => Cells::I64(cells.iter().map(int).collect()),
            Some(Val::Bool(_)) => Cells::Bool(cells.iter().map(bit).collect()),
            Some(Val::Buffer(..)) => Cells::Buffers(
                cells
                    .iter()
                    .map(|v| match self.flat(*v) {
                        Flat::Buffer(inner) => inner,
                        Flat::Scalar(_) => Cells::Buffers(Vec::new()),
                    })
                    .collect(),
            ),
            _ => Cells::F64(cells.iter().map(float).collect()),
        })
    }

    fn cells(&mut self, (block, at): (usize, i64), n: i64) -> Result<&mut [Val], Fault> {
        if n <= 0 {
            return Ok(&mut []);
        }
        let Some(Some(cells)) = self.blocks.get_mut(block) else {
            return broken("memory is used after its release");
        };
        let len = cells.len();
        let range = usize::try_from(at).ok().zip(usize::try_from(n).ok());
        match range.and_then(|(at, n)| cells.get_mut(at..at.checked_add(n)?)) {
            Some(cells) => Ok(cells),
            None => broken(&format!("cells {at} ..+ {n} of a buffer of {len}")),
        }
    }

    fn call(&mut self, func: &'a LoopFunction, args: &[Val]) -> Result<Vec<Val>, Fault> {
        if !jut_runtime::stack::fits(STACK) {
            return Err(Fault::Broken(
                "the evaluator's stack is too small for this recursion".into(),
            ));
        }
        let values = SecondaryMap::with_capacity(func.values.len());
        let mut frame = Frame { func, values, before: SecondaryMap::new() };
        for (param, arg) in func.params.iter().zip(args) {
            frame.values[param.value] = Some(*arg);
        }
        self.block(&mut frame, &func.body)
    }

    /// Calls a function for three parts of the range that its last arguments are, the middle one last: what fails in an
    /// earlier part counts.
    fn shares(
        &mut self,
        func: &'a LoopFunction,
        args: &mut [Val],
        least: u32,
    ) -> Result<Vec<Val>, Fault> {
        let [.., Val::I64(low), Val::I64(high)] = *args else {
            return broken("a call in shares has no range");
        };
        let length = high.saturating_sub(low);
        // Of a very long one the first iteration may be the one that fails.
        if length < i64::from(least) || length > LONG {
            return self.call(func, args);
        }
        let (first, second) = (low + length / 3, high - length / 4);
        let mut outcome = Ok(Vec::new());
        for (from, to) in [(low, first), (second, high), (first, second)] {
            if let [.., a, b] = args {
                (*a, *b) = (Val::I64(from), Val::I64(to));
            }
            if let Err(fault) = self.call(func, args) {
                outcome = Err(fault);
                // Nothing earlier is left.
                if from == low {
                    break;
                }
            }
        }
        outcome
    }

    fn block(&mut self, frame: &mut Frame<'a>, block: &'a Block) -> Result<Vec<Val>, Fault> {
        for stmt in &block.stmts {
            self.stmt(frame, stmt)?;
        }
        block.results.iter().map(|a| frame.atom(*a)).collect()
    }

    fn error(&self, site: Site, operands: Vec<i64>) -> Fault {
        match self.program.sites.get(site) {
            Some((kind, span)) => RuntimeError { kind: *kind, span: *span, operands }.into(),
            None => Fault::Broken("a site is missing".into()),
        }
    }

    fn stmt(&mut self, frame: &mut Frame<'a>, stmt: &'a Stmt) -> Result<(), Fault> {
        self.work += 1;
        match stmt {
            Stmt::Prim { dst, prim, args } => {
                let result = operation(*prim, args, &|a| frame.atom(a))?;
                frame.values[*dst] = Some(result);
            }
            Stmt::Copy { dst, src } => frame.values[*dst] = Some(frame.atom(*src)?),
            Stmt::Previous { dst, src, first } => {
                let now = frame.atom(*src)?;
                let before = frame.before[*dst].replace(now);
                frame.values[*dst] = Some(match before {
                    Some(before) => before,
                    None => frame.atom(Atom::Lit(*first))?,
                });
            }
            Stmt::Load { dst, buffer, index } => {
                let (block, at) = frame.buffer(*buffer)?;
                let at = at.wrapping_add(frame.int(*index)?);
                frame.values[*dst] = self.cells((block, at), 1)?.first().copied();
            }
            Stmt::Store { buffer, index, value } => {
                let (block, at) = frame.buffer(*buffer)?;
                let at = at.wrapping_add(frame.int(*index)?);
                self.cells((block, at), 1)?.fill(frame.atom(*value)?);
            }
            Stmt::Offset { dst, buffer, index } => {
                let (block, at) = frame.buffer(*buffer)?;
                let at = at.wrapping_add(frame.int(*index)?);
                frame.values[*dst] = Some(Val::Buffer(block, at));
            }
            Stmt::Alloc { dst, len, arena, site, .. } => {
                let len = usize::try_from(frame.int(*len)?).unwrap_or(0);
                if self.cells.saturating_add(len) > MAX_CELLS {
                    return Err(self.error(*site, Vec::new()));
                }
                let block = self.blocks.len();
                self.arena(*arena).push(block);
                frame.values[*dst] = Some(self.new_block(vec![Val::Nothing; len]));
            }
            Stmt::Mark { dst, arena } => {
                frame.values[*dst] = Some(Val::I64(self.arena(*arena).len() as i64));
            }
            Stmt::Release { mark, arena } => {
                let mark = usize::try_from(frame.int((*mark).into())?).unwrap_or(0);
                let live = self.arena(*arena);
                let released = live.split_off(mark.min(live.len()));
                for block in released {
                    if let Some(cells) = self.blocks[block].take() {
                        self.cells -= cells.len();
                    }
                }
            }
            Stmt::Fill { buffer, len, value } => {
                let (buffer, len) = (frame.buffer(*buffer)?, frame.int(*len)?);
                self.work += len.max(0) as u64;
                self.cells(buffer, len)?.fill(frame.atom(*value)?);
            }
            Stmt::CopyCells { dst, src, len, .. } => {
                let (to, from) = (frame.buffer(*dst)?, frame.buffer(*src)?);
                let len = frame.int(*len)?;
                self.work += len.max(0) as u64;
                let cells = self.cells(from, len)?.to_vec();
                self.cells(to, len)?.copy_from_slice(&cells);
            }
            Stmt::For(f) => self.for_loop(frame, f)?,
            Stmt::Lanes(l) => self.lanes(frame, l)?,
            Stmt::If { dst, cond, then, other } => {
                let block = match frame.atom(*cond)? {
                    Val::Bool(true) => then,
                    Val::Bool(false) => other,
                    _ => return broken("a condition is no bool"),
                };
                let results = self.block(frame, block)?;
                frame.set_all(dst, results);
            }
            Stmt::Call { dst, func, args, shares } => {
                let mut args: Vec<Val> =
                    args.iter().map(|a| frame.atom(*a)).collect::<Result<_, _>>()?;
                let func = &self.program.funcs[*func];
                let results = match shares {
                    Some(least) => self.shares(func, &mut args, *least)?,
                    None => self.call(func, &args)?,
                };
                frame.set_all(dst, results);
            }
            Stmt::Kernel { kernel, args } => self.kernel(frame, *kernel, args)?,
            // Nobody cancels it.
            Stmt::Poll { .. } => {}
            Stmt::Check { check, site } => {
                if let Some(operands) = failing(*check, &|a| frame.atom(a))? {
                    return Err(self.failure(*site, operands));
                }
            }
        }
        Ok(())
    }

    fn kernel(&mut self, frame: &Frame, kernel: Kernel, args: &[Atom]) -> Result<(), Fault> {
        let row = kernel.row();
        let is_buffer = |kind| matches!(kind, Kind::Buffer(_));
        let (buffers, integers): (Vec<_>, Vec<_>) =
            args.iter().zip(row.params).partition(|(_, p)| is_buffer(p.kind));
        let integers: Vec<i64> =
            integers.iter().map(|(a, _)| frame.int(**a)).collect::<Result<_, _>>()?;
        let lengths = (row.lengths)(&integers);
        let mut places = Vec::new();
        let mut cells = Vec::new();
        for ((atom, param), len) in buffers.iter().zip(&lengths) {
            self.work += (*len).max(0) as u64;
            let Val::Buffer(block, at) = frame.atom(**atom)? else {
                return broken("a kernel is given a scalar for a buffer");
            };
            // Cells that were never written may be written: what is read of them is no number.
            let read = self.cells((block, at), *len)?.iter().map(|cell| match (cell, param.role) {
                (Val::F64(x), _) => Ok(*x),
                (Val::I64(k), Role::In) if param.kind == Kind::Buffer(Cell::I64) => {
                    Ok(f64::from_bits(*k as u64))
                }
                (Val::Nothing, Role::InOut | Role::Out) => Ok(f64::NAN),
                _ => broken("a kernel reads a cell that is no f64"),
            });
            cells.push(read.collect::<Result<Vec<f64>, Fault>>()?);
            places.push(((block, at), param.role));
        }
        (row.run)(&mut cells, &integers);
        for ((place, role), new) in places.into_iter().zip(cells) {
            if role != Role::In {
                let old = self.cells(place, new.len() as i64)?;
                old.iter_mut().zip(new).for_each(|(old, new)| *old = Val::F64(new));
            }
        }
        Ok(())
    }

    /// The error of a check that does not hold for these operands.
    fn failure(&self, site: Site, mut operands: Vec<i64>) -> Fault {
        operands.resize(3, 0);
        let left = operands.try_into().unwrap_or_default();
        let operands = self.program.sites.get(site).map(|(kind, _)| kind.operands(left));
        self.error(site, operands.unwrap_or_default())
    }

    fn for_loop(&mut self, frame: &mut Frame<'a>, f: &'a For) -> Result<(), Fault> {
        let (low, high) = (frame.int(f.low)?, frame.int(f.high)?);
        if let (Order::Par, Some(permute)) = (f.order, self.permute) {
            return self.permuted(frame, f, (low..high).collect(), permute);
        }
        if let Some(vector) = f.vector {
            if f.order == Order::Down || !f.carry.is_empty() {
                return self.sums_in_vectors(frame, f, vector, (low, high));
            }
            let body = vector::Iterations { index: f.index, carry: &[], body: &f.body };
            return self.in_vectors(frame, body, vector, (low, high), &mut []);
        }
        let mut carry: Vec<Val> =
            f.carry.iter().map(|(_, a)| frame.atom(*a)).collect::<Result<_, _>>()?;
        let names: Vec<Value> = f.carry.iter().map(|(v, _)| *v).collect();
        let mut step = |i: i64| {
            frame.values[f.index] = Some(Val::I64(i));
            frame.set_all(&names, std::mem::take(&mut carry));
            carry = self.block(frame, &f.body)?;
            Ok::<(), Fault>(())
        };
        match f.order {
            Order::Up | Order::Par => (low..high).try_for_each(&mut step)?,
            Order::Down => (low..high).rev().try_for_each(&mut step)?,
            Order::While => return self.while_loop(frame, f, (low, high), (names, carry)),
        }
        frame.set_all(&f.dst, carry);
        Ok(())
    }

    fn while_loop(
        &mut self,
        frame: &mut Frame<'a>,
        f: &'a For,
        (low, high): (i64, i64),
        (names, mut carry): (Vec<Value>, Vec<Val>),
    ) -> Result<(), Fault> {
        for i in low..high {
            match carry.first() {
                Some(Val::Bool(true)) => {}
                Some(Val::Bool(false)) => break,
                _ => return broken("a `for while` whose first carry is no truth value"),
            }
            frame.values[f.index] = Some(Val::I64(i));
            frame.set_all(&names, carry);
            carry = self.block(frame, &f.body)?;
        }
        frame.set_all(&f.dst, carry);
        Ok(())
    }

    /// Runs all iterations, also those after one that failed: the lowest that fails is the error.
    fn permuted(
        &mut self,
        frame: &mut Frame<'a>,
        f: &'a For,
        mut indices: Vec<i64>,
        permute: Permute<'_>,
    ) -> Result<(), Fault> {
        if !f.carry.is_empty() {
            return broken("a `for par` carries values");
        }
        permute(&mut indices);
        let mut lowest: Option<(i64, Fault)> = None;
        for i in indices {
            frame.values[f.index] = Some(Val::I64(i));
            match self.block(frame, &f.body) {
                Err(fault @ Fault::Broken(_)) => return Err(fault),
                Err(fault) if lowest.as_ref().is_none_or(|(first, _)| i < *first) => {
                    lowest = Some((i, fault));
                }
                _ => {}
            }
        }
        lowest.map_or(Ok(()), |(_, fault)| Err(fault))
    }

    fn lanes(&mut self, frame: &mut Frame<'a>, l: &'a Lanes) -> Result<(), Fault> {
        let (low, high) = (frame.int(l.low)?, frame.int(l.high)?);
        let mut sums = vec![0.0; l.carry.len()];
        l.body.previous().for_each(|(name, _)| frame.before[name] = None);
        let body = vector::Iterations { index: l.index, carry: &l.carry, body: &l.body };
        let mut start = low;
        while start < high {
            let end = high.min(start.saturating_add(BLOCK));
            let mut lanes = vec![[0.0; LANES]; sums.len()];
            match l.vector {
                Some(vector) => {
                    self.in_vectors(frame, body, vector, (start, end), &mut lanes)?;
                }
                None => self.one_by_one(frame, body, (start, end), &mut lanes)?,
            }
            for (sum, lane) in sums.iter_mut().zip(&lanes) {
                *sum += fold(*lane);
            }
            start = end;
        }
        frame.set_all(&l.dst, sums.into_iter().map(Val::F64).collect());
        Ok(())
    }
}
