//! Lowering: from a purely non-linear definition of Linear A to the loop form.
//!
//! Input is what L leaves: no linear names, no capabilities but `acc` references. Lowering decides
//! where every value lives and in which order memory is touched; it changes no arithmetic. What is
//! computed, and in which order floats are added, is what the interpreter does, bit for bit.
//!
//! - **Values** are lists of scalars and buffers ([`crate::flatten`]). Rows and slices are views
//!   (`offset`); a copy of a name, a projection, a cast are no code at all.
//! - **Destinations.** A block is lowered with a place for each component of its results: a buffer
//!   that somebody else owns (an `out` parameter, the next value of a carry, row i of a stacked
//!   result), or "on the tape arena". One backward walk over the block's statements hands these
//!   destinations to the defining statements, which then write in place; whatever arrives elsewhere
//!   is copied at the end of the block.
//! - **Lifetimes.** Allocations end with the function or loop iteration that makes them, on both
//!   arenas; but those on the tape arena stay where a pointer leaves: by a returned buffer, a cell
//!   of a buffer of buffers, a carried one. Only buffers on the tape may leave by pointer, which is
//!   what every buffer carries a mark for.
//! - **Boxes.** A value of a large data type is a pointer to a box of words on the tape arena; its
//!   fields are loaded where it is opened ([`boxes`]).
//! - **Accumulators.** A scalar `acc` region is a register threaded through loops and branches; it
//!   is stored in a cell only where a call needs one. `acc lanes` becomes [`crate::form::Lanes`]
//!   around the loop that adds to it. Array regions are buffers, filled with zero or with a copy of what
//!   they start from; or they are the buffer that they start from, if nobody reads it afterwards
//!   ([`jut_ir::reuse`]) and the result may be there.
//! - **Structured primitives** are kernels or loops ([`structured`]).
//!
//! Example: `t = acc lanes s: f64 { scan par (i < n) { a = x[i]; s += a } }` becomes
//! `(s_1) = lanes (i in 0 .. n) carry (s) { a = x[i]; s_2 = s + a; (s_2) }`.
//!
//! Requires: a checked program. Ensures: callees before callers, the entry last; every access that
//! the checker did not find covered stands behind a `check` with its span. Cost: linear in the
//! program text times the nesting depth, for types of bounded size.

mod access;
mod blocks;
mod boxes;
mod calls;
mod emit;
mod foreign;
mod growing;
mod leaves;
mod literals;
mod loops;
mod regions;
mod structured;
mod update;

use cranelift_entity::{PrimaryMap, SecondaryMap};
use jut_ir::build::Namer;
use jut_ir::calls::components;
use jut_ir::entity::DataId;
use jut_ir::hash::{HashMap, HashSet};
use jut_ir::reuse::Reuse;
use jut_ir::{
    Cap, Data, Diagnostic, FuncId, Function, NVar, Program, RuntimeErrorKind, Size, Span,
};
use std::rc::Rc;

use crate::flatten::{Component, Layouts, Seen};
use crate::form::{self, Atom, LoopFuncId, LoopFunction, LoopProgram, Site, Stmt, Value};
use crate::need::{self, Unbounded};
use crate::signature::Signature;
use crate::split;

/// A lowered program.
#[derive(Debug)]
pub struct Lowered {
    /// The entry function, last, and what it calls.
    pub program: LoopProgram,
    /// How the entry is called.
    pub signature: Signature,
    /// The layouts of the program's types, to convert arguments and results.
    pub layouts: Layouts,
}

/// What products of arrays and convolutions become.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kernels {
    /// Calls of kernels of the runtime, with the bits of the interpreter.
    #[default]
    Calls,
    /// Loops, for code that has no runtime: products are rounded before they are added, and sums are
    /// in an order that suits the loops, so results differ from the interpreter's within the error
    /// bound of a sum.
    Loops,
}

/// Lowers a function and everything it calls, tidies it up ([`crate::opt`]), and cuts what is long into
/// pieces ([`crate::split`]).
///
/// # Errors
/// J901 where the program is outside what is built: linear parts left over, values of recursive data types from
/// outside.
pub fn lower(program: &Program, entry: FuncId) -> Result<Lowered, Diagnostic> {
    Ok(lower_plainly(program, entry)?.finish())
}

impl Lowered {
    /// The rest of [`lower`], for which the program that was lowered is not needed any more.
    pub fn finish(mut self) -> Lowered {
        self.program.funcs.values_mut().for_each(crate::opt::optimise);
        split::run(&mut self.program);
        self
    }

    /// The same, and the program that says how much memory a call needs.
    pub fn finish_with_need(mut self) -> (Lowered, Result<LoopProgram, Unbounded>) {
        self.program.funcs.values_mut().for_each(crate::opt::optimise);
        if !split::is_long(&self.program) {
            let need = need::query(&self.program);
            return (self, need);
        }
        let whole = self.program.clone();
        let frames = split::run(&mut self.program);
        let need = need::query_with_frames(&whole, &frames);
        (self, need)
    }
}

/// Lowers a function and everything it calls, statement by statement.
///
/// # Errors
/// As [`lower`].
pub fn lower_plainly(program: &Program, entry: FuncId) -> Result<Lowered, Diagnostic> {
    lower_with(program, entry, Kernels::Calls)
}

/// As [`lower_plainly`], with kernels or without.
///
/// # Errors
/// As [`lower`].
pub fn lower_with(
    program: &Program,
    entry: FuncId,
    kernels: Kernels,
) -> Result<Lowered, Diagnostic> {
    let layouts = match program.funcs.get(entry) {
        Some(func) => Layouts::of_entry(program, func)?,
        None => Layouts::new(program)?,
    };
    statements(program, entry, layouts, kernels)
}

/// The same, for callers who say which data types they look into.
///
/// # Errors
/// As [`lower`].
pub fn lower_seen(program: &Program, entry: FuncId, seen: &Seen) -> Result<Lowered, Diagnostic> {
    statements(program, entry, Layouts::of_seen(program, seen)?, Kernels::Calls)
}

fn statements(
    program: &Program,
    entry: FuncId,
    layouts: Layouts,
    kernels: Kernels,
) -> Result<Lowered, Diagnostic> {
    let mut cx = Context {
        kernels,
        datas: program.datas.clone(),
        layouts,
        lowered: HashMap::default(),
        printing: HashSet::default(),
        foreign: HashMap::default(),
        out: LoopProgram::default(),
        sites: HashMap::default(),
    };
    let mut signature = Signature::default();
    for (number, component) in (1..).zip(components(program, [entry], &|_| false)) {
        // Callees come first, so that those of other components are known.
        let outside = |id: &FuncId| {
            let func = &program.funcs[*id];
            func.is_foreign() || cx.prints(&func.body)
        };
        if component.members.iter().any(outside) {
            cx.printing.extend(&component.members);
        }
        for id in &component.members {
            let src = &program.funcs[*id];
            if !src.is_nonlinear() {
                return Err(Diagnostic::error(
                    "J901",
                    src.span,
                    format!("`{}` has linear parts and cannot be lowered", src.name),
                )
                .help("erase linearity first"));
            }
            if let (Some(foreign), true) = (src.foreign, *id != entry) {
                cx.foreign.insert(*id, (foreign.number, src.span));
                continue;
            }
            if component.is_recursive {
                let signature = calls::signature(src, &mut cx)?;
                cx.declare(*id, LoopFunction::default(), signature, number);
            }
        }
        for id in component.members {
            // A call of another language is written where it stands.
            if cx.foreign.contains_key(&id) {
                continue;
            }
            let src = &program.funcs[id];
            let circle = if component.is_recursive { number } else { 0 };
            let is_entry = id == entry && circle == 0;
            let (mut func, made) = calls::function(src, is_entry, circle, &mut cx)?;
            if id == entry && !is_entry {
                func.name = format!("{}.levels", func.name);
            }
            match cx.lowered.get(&id) {
                Some(known) => cx.out.funcs[known.id] = func,
                None if is_entry => {
                    cx.out.funcs.push(func);
                    signature = made;
                }
                None => cx.declare(id, func, made, 0),
            }
        }
    }
    if cx.lowered.contains_key(&entry) {
        // Callers from outside call one that does not call itself.
        let outside = calls::from_outside(program, entry);
        let (func, made) = calls::function(&outside, true, 0, &mut cx)?;
        cx.out.funcs.push(func);
        signature = made;
    }
    Ok(Lowered { program: cx.out, signature, layouts: cx.layouts })
}

/// What is shared by the functions of one lowering.
struct Context {
    kernels: Kernels,
    datas: PrimaryMap<DataId, Data>,
    layouts: Layouts,
    lowered: HashMap<FuncId, Callee>,
    /// The functions of which a call may print, or call a function of another language.
    printing: HashSet<FuncId>,
    /// Functions of other languages: their numbers, and their declarations, where their errors are in every derivative.
    foreign: HashMap<FuncId, (u32, Span)>,
    out: LoopProgram,
    sites: HashMap<(RuntimeErrorKind, Span), Site>,
}

impl Context {
    /// Whether a block may print, or call a function of another language: its iterations keep their order, and their thread.
    fn prints(&self, block: &jut_ir::Block) -> bool {
        block.stmts.iter().any(|stmt| match &stmt.rhs {
            jut_ir::Rhs::Check(jut_ir::Check::Show(_)) => true,
            jut_ir::Rhs::Call(call) => self.printing.contains(&call.func),
            rhs => rhs.blocks().into_iter().any(|inner| self.prints(inner)),
        })
    }
}

/// A function that has been lowered.
#[derive(Clone)]
struct Callee {
    id: LoopFuncId,
    signature: Rc<Signature>,
    /// Whether it may leave allocations on the tape arena.
    keeps_tape: bool,
    /// The number of the functions that call each other of which it is one, if it calls itself; else 0.
    circle: usize,
}

/// One component of a bound value.
#[derive(Clone, Copy, Debug)]
struct Slot {
    atom: Atom,
    /// For a buffer: whether it stays as it is until the entry function returns, so that pointers
    /// to it may be stored or returned.
    on_tape: bool,
}

impl Context {
    /// A function that may be called from now on.
    fn declare(&mut self, id: FuncId, func: LoopFunction, signature: Signature, circle: usize) {
        let keeps_tape = calls::keeps_tape(&signature);
        let id_there = self.out.funcs.push(func);
        let signature = Rc::new(signature);
        let callee = Callee { id: id_there, signature, keeps_tape, circle };
        self.lowered.insert(id, callee);
    }
}

impl Slot {
    fn scalar(atom: impl Into<Atom>) -> Slot {
        Slot { atom: atom.into(), on_tape: false }
    }

    /// A component that comes from somebody else: a box is always on the tape arena.
    fn given(atom: impl Into<Atom>, c: &Component) -> Slot {
        Slot { atom: atom.into(), on_tape: c.is_box() }
    }
}

/// Where a component of a block's result shall be.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Dest {
    /// Anywhere that the surrounding block may refer to.
    Any,
    /// In this buffer.
    Into(Value),
    /// The next value of a carry: in the second buffer, unless it is the first one as it was.
    Next { now: Value, next: Value },
    /// On the tape arena.
    Tape,
}

impl Dest {
    /// The buffer to write to, if it is given.
    fn buffer(self) -> Option<Value> {
        match self {
            Dest::Into(buffer) | Dest::Next { next: buffer, .. } => Some(buffer),
            Dest::Any | Dest::Tape => None,
        }
    }
}

/// One of the two buffers of a carry.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// The carry, by its buffer at the start of the iteration.
    carry: Value,
    /// The other buffer.
    other: Value,
}

/// Where a component of an accumulator is.
#[derive(Clone, Copy, Debug)]
enum Storage {
    /// A scalar in a register.
    Register(usize),
    /// A scalar in memory.
    Cell(Value, Atom),
    /// A block of cells.
    Block(Value),
}

/// An accumulator in scope: one storage per component of its type.
#[derive(Clone, Debug)]
struct CapView {
    ty: jut_ir::Type,
    storage: Vec<Storage>,
}

/// A scalar accumulator held in a register.
#[derive(Clone, Copy, Debug)]
struct Register {
    /// Its current value.
    now: Atom,
    /// The cell that calls are given.
    cell: Option<Value>,
}

/// The state of lowering one function.
struct Lowering<'a> {
    src: &'a Function,
    cx: &'a mut Context,
    out: LoopFunction,
    namer: Namer,
    /// The block under construction.
    stmts: Vec<Stmt>,
    /// Statements that go before the body.
    prologue: Vec<Stmt>,
    /// Whether the innermost function or loop body allocates on the temp and on the tape arena.
    allocated: [bool; 2],
    values: SecondaryMap<NVar, Option<Rc<[Slot]>>>,
    caps: SecondaryMap<Cap, Option<CapView>>,
    registers: Vec<Register>,
    /// The `acc lanes` accumulators whose region is directly around the current statement.
    lane_caps: Vec<Cap>,
    /// Destinations that the end of a block has asked for.
    wanted: SecondaryMap<NVar, Option<Box<[Dest]>>>,
    /// How often each variable is used, which ones are only added to an accumulator, and those of
    /// them that have not been computed yet.
    uses: SecondaryMap<NVar, u32>,
    added: SecondaryMap<NVar, structured::Added>,
    waiting: HashMap<NVar, structured::Waiting>,
    /// Arrays that are only rows of array literals, and their elements if they are literals themselves.
    rows: HashMap<NVar, Option<Rc<[jut_ir::Atom]>>>,
    /// Sizes computed so far in the blocks around, and in which order, to forget them.
    sizes: HashMap<Size, Atom>,
    size_log: Vec<Size>,
    /// Dimensions whose product is known not to wrap, with their log.
    bounded: HashSet<Vec<Size>>,
    bounded_log: Vec<Vec<Size>>,
    /// The buffers of carries, under every name that they have by now.
    spare: HashMap<Value, Pair>,
    /// What may be done in place.
    reuse: Reuse,
    /// An empty buffer per kind of cell.
    empty: HashMap<form::Cell, Value>,
    /// The functions that call each other of which this is one (see [`Callee`]), and the parameter that says how
    /// many levels these may still go down.
    circle: usize,
    levels: Option<Value>,
}

type Res<T> = Result<T, Diagnostic>;

impl<'a> Lowering<'a> {
    fn new(src: &'a Function, cx: &'a mut Context) -> Lowering<'a> {
        let mut namer = Namer::default();
        for word in form::KEYWORDS.iter().copied().chain([split::FRAME, split::FRAME_TOP]) {
            namer.reserve(word);
        }
        let mut uses = SecondaryMap::with_capacity(src.nvars.len());
        src.body.for_each_use(src, &mut |name| {
            if let jut_ir::visit::Use::N(v) = name {
                uses[v] += 1;
            }
        });
        let reuse = Reuse::of(&cx.datas, src);
        Lowering {
            src,
            cx,
            out: LoopFunction { name: src.name.clone(), ..LoopFunction::default() },
            namer,
            stmts: Vec::new(),
            prologue: Vec::new(),
            allocated: [false; 2],
            values: SecondaryMap::with_capacity(src.nvars.len()),
            caps: SecondaryMap::with_capacity(src.caps.len()),
            registers: Vec::new(),
            lane_caps: Vec::new(),
            wanted: SecondaryMap::new(),
            uses,
            added: SecondaryMap::new(),
            waiting: HashMap::default(),
            rows: HashMap::default(),
            sizes: HashMap::default(),
            size_log: Vec::new(),
            bounded: HashSet::default(),
            bounded_log: Vec::new(),
            spare: HashMap::default(),
            reuse,
            empty: HashMap::default(),
            circle: 0,
            levels: None,
        }
    }

    /// What cannot happen in a checked program; reported rather than a panic.
    fn bug(&self, span: Span, what: &str) -> Diagnostic {
        Diagnostic::error(
            "J999",
            span,
            format!("internal error while lowering `{}`: {what}", self.src.name),
        )
        .help("please report this program")
    }
}
