//! The prepared form of a function: what the interpreter walks.
//!
//! Preparing happens once per function, in time linear in its text. It
//! - gives every variable a slot: non-linear variable k has slot k, linear ones follow;
//! - merges the linear operations with their non-linear twins where they do the same to values
//!   (tuples, copies, casts), because a linear value is an ordinary value at run time;
//! - decides which `scan par` is a *lane loop* of which region (see [`crate::execution`]);
//! - decides which results of loop bodies, arms and functions are *copies* (see
//!   [`crate::Counters`]).

use crate::declaration::ForeignCode;
use crate::frame::{Capability, Frame};
use crate::value::Value;
use jut_ir::calls::Recursion;
use jut_ir::entity::{Cap, FuncId, LVar, NVar, SecondaryMap};
use jut_ir::ir::*;
use jut_ir::prim::{Prim, Row};
use jut_ir::reuse::Reuse;
use jut_ir::span::Span;
use jut_ir::types::Type;
use jut_ir::visit::Use;
use jut_ir::{Size, Structured};
use jut_runtime::print::Piece;
use std::collections::HashSet;

pub(crate) type Slot = u32;

/// A prepared function.
#[derive(Debug)]
pub(crate) struct Code {
    pub name: String,
    pub slots: usize,
    pub caps: usize,
    pub size_params: usize,
    /// Names of all parameters, section after section, for messages.
    pub names: Vec<String>,
    pub params: Vec<(Slot, Type)>,
    pub lin_params: Vec<(Slot, Type)>,
    pub cap_params: Vec<CapCode>,
    /// What of another language it is, in place of the body.
    pub foreign: Option<ForeignCode>,
    pub body: Body,
}

#[derive(Clone, Debug)]
pub(crate) struct CapCode {
    pub slot: Slot,
    pub mode: Mode,
    pub ty: Type,
}

/// A block: operations, then results.
#[derive(Debug)]
pub(crate) struct Body {
    pub ops: Vec<(Op, Span)>,
    /// Non-linear results, then linear ones.
    pub results: Vec<Arg>,
    /// For each non-linear result, whether delivering it is a copy.
    pub copies: Vec<bool>,
    /// For each linear result, whether it is an array that the block did not make: it moves.
    pub moves: Vec<bool>,
}

/// An operand.
#[derive(Clone, Debug)]
pub(crate) enum Arg {
    /// A non-linear variable: stays where it is.
    Get(Slot),
    /// A linear variable: its slot gives it up.
    Take(Slot),
    Const(Value),
}

#[derive(Debug)]
pub(crate) enum PathStep {
    Index(Arg),
    Slice(Arg, Arg),
    Field(u32),
}

#[derive(Debug)]
pub(crate) struct PlaceCode {
    pub root: Slot,
    pub path: Vec<PathStep>,
}

/// Of an operation on a linear array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear {
    /// Whether a caller, branch or call gave the array, or has been lent it.
    pub given: bool,
}

#[derive(Debug)]
pub(crate) enum Op {
    Copy(Slot, Arg),
    Prim {
        dst: Slot,
        row: &'static Row,
        fallible: bool,
        args: Vec<Arg>,
    },
    Structured(Slot, Structured, Vec<Arg>, Vec<Size>),
    Tuple(Slot, Vec<Arg>),
    Untuple(Vec<Slot>, Arg),
    Proj(Slot, Slot, u32),
    Con(Slot, ConRef, Vec<Arg>),
    /// A tangent: what is not linear in it, its sizes, is left out.
    Tangent(Slot, ConRef, Vec<Arg>),
    /// The fields of a tangent, with their types.
    Parts {
        con: ConRef,
        value: Arg,
        parts: Vec<(Slot, Type)>,
    },
    Fields {
        value: Arg,
        fields: Vec<FieldCode>,
    },
    ArrayLit(Slot, Type, Vec<Arg>),
    /// Result, its definition in normal form, array, dimension.
    Size(Slot, Option<Size>, Slot, u32),
    Index(Slot, Slot, Vec<PathStep>),
    /// The same, with cells of its own.
    Copied(Slot, Slot, Vec<PathStep>),
    Update {
        dst: Slot,
        array: Arg,
        /// Names that nobody reads any more and that may hold on to the array.
        dead: Vec<Slot>,
        path: Vec<PathStep>,
        value: Arg,
        linear: Option<Linear>,
    },
    /// The rest and the part; array, where the part is.
    TakeOut([Slot; 2], Arg, Vec<PathStep>, Linear),
    Cast {
        dst: Slot,
        value: Arg,
        ty: Type,
        proved: bool,
    },
    Below(Arg, Arg),
    /// A piece that is printed; one with an operand is [`Piece::Before`], or the operand itself.
    Show(Piece, Option<Arg>),
    Within(Arg, Arg, Arg),
    NonNegative(Arg),
    Exact(Prim, Arg, Arg),
    Add(Slot, Arg, Arg),
    Neg(Slot, Arg),
    Scale(Slot, Arg, Arg),
    Select(Slot, Arg, Arg, Arg),
    Zero(Slot, Type),
    Dup(Slot, Slot, Arg),
    Drop(Arg),
    /// What is read, or the literal where there is nothing to read.
    Rd(Slot, Literal, PlaceCode),
    Inc(PlaceCode, Arg),
    /// `rd`, and `lend` if there is a place for what is given back.
    RdRegion {
        cap: Slot,
        start: Arg,
        body: Body,
        dst: Vec<Slot>,
        end: Option<Slot>,
    },
    /// `wr` and `acc`; the last destination of the section gets the total.
    SumRegion {
        cap: CapCode,
        /// What it starts from, and the names that nobody reads any more and that may hold on to it.
        start: Option<(Arg, Vec<Slot>)>,
        body: Body,
        dst: Vec<Slot>,
        total: Slot,
    },
    Scan(Box<ScanCode>),
    Case {
        scrutinee: Arg,
        arms: Vec<ArmCode>,
        dst: Vec<Slot>,
    },
    Call {
        func: FuncId,
        /// Whether it is one of a function by itself.
        inside: bool,
        args: Vec<Arg>,
        places: Vec<Option<PlaceCode>>,
        dst: Vec<Slot>,
    },
}

#[derive(Debug)]
pub(crate) enum FieldCode {
    Bind(Slot),
    /// What the field is stated to be, and whether a pass has proved it.
    Eq(Arg, bool),
}

#[derive(Debug)]
pub(crate) struct ScanCode {
    pub dir: Dir,
    pub index: Slot,
    pub bound: Arg,
    /// Slot in the body, initial value; non-linear, then linear.
    pub carry: Vec<(Slot, Arg)>,
    /// Names that may hold on to initial values that nobody reads any more.
    pub dead: Vec<Slot>,
    /// Names that may hold on to next values when the iteration is done.
    pub left: Vec<Slot>,
    pub slices: Vec<(Slot, Arg)>,
    pub cap_slices: Vec<(Slot, PlaceCode)>,
    /// Capabilities of the lanes regions whose body this loop stands directly in.
    pub lanes: Vec<Slot>,
    pub body: Body,
    /// Number of non-linear carries and of non-linear results of the body.
    pub nl_carries: usize,
    pub nl_results: usize,
    /// Where the final carries go, in the order of `carry`.
    pub carry_dst: Vec<Slot>,
    /// For each stacked result: its position among the body's results, where the array goes, and
    /// its type.
    pub stacks: Vec<(usize, Slot, Type)>,
}

#[derive(Debug)]
pub(crate) struct ArmCode {
    pub pattern: ArmPattern,
    pub fields: Vec<FieldCode>,
    pub body: Body,
}

impl Code {
    /// A frame in which the parameters are bound.
    pub(crate) fn given(&self, args: &[Value]) -> Frame {
        let mut frame = self.frame();
        let slots = self.params.iter().chain(&self.lin_params).map(|(slot, _)| *slot);
        slots.zip(args).for_each(|(slot, arg)| frame.set(slot, arg.clone()));
        frame
    }

    /// A frame in which nothing is bound.
    pub(crate) fn frame(&self) -> Frame {
        Frame {
            slots: vec![Value::Bool(false); self.slots],
            caps: vec![Capability::Null; self.caps],
        }
    }
}

/// Prepares a function.
pub(crate) fn prepare(program: &Program, id: FuncId, recursion: &Recursion) -> Code {
    let func = &program.funcs[id];
    let (home, next_of) = (SecondaryMap::new(), SecondaryMap::new());
    let reuse = Reuse::of(&program.datas, func);
    let (lin_home, cap_home) = (SecondaryMap::new(), SecondaryMap::new());
    let lin_given = SecondaryMap::new();
    let mut p = Preparer {
        id,
        func,
        recursion,
        home,
        lin_home,
        lin_given,
        cap_home,
        lin_like: SecondaryMap::new(),
        cap_like: SecondaryMap::new(),
        next_of,
        blocks: 0,
        joins: 0,
        reuse,
    };
    func.lin_params.iter().for_each(|x| p.lin_given[*x] = true);
    let lanes: Vec<Slot> = func
        .cap_params
        .iter()
        .filter(|c| func.caps[**c].lanes && func.caps[**c].mode != Mode::Rd)
        .map(|c| c.as_u32())
        .collect();
    let body = p.own_block(&func.body, &lanes, &[]);
    Code {
        name: func.name.clone(),
        slots: func.nvars.len() + func.lvars.len(),
        caps: func.caps.len(),
        size_params: func.size_params,
        names: parameter_names(func),
        params: func.params.iter().map(|v| (p.n(*v), func.nvars[*v].ty.clone())).collect(),
        lin_params: func.lin_params.iter().map(|x| (p.l(*x), func.lvars[*x].ty.clone())).collect(),
        cap_params: func.cap_params.iter().map(|c| p.cap(*c)).collect(),
        foreign: ForeignCode::of(program, id),
        body,
    }
}

fn parameter_names(func: &Function) -> Vec<String> {
    let non_linear = func.params.iter().map(|v| &func.nvars[*v].name);
    let linear = func.lin_params.iter().map(|x| &func.lvars[*x].name);
    let caps = func.cap_params.iter().map(|c| &func.caps[*c].name);
    non_linear.chain(linear).chain(caps).map(|name| name.to_string()).collect()
}

struct Preparer<'f> {
    id: FuncId,
    func: &'f Function,
    recursion: &'f Recursion,
    /// The number of the block whose storage a variable owns or views; 0 for none of the blocks
    /// being prepared (parameters, carries, elements). Region bodies belong to the block around.
    home: SecondaryMap<NVar, u32>,
    /// The same of linear variables.
    lin_home: SecondaryMap<LVar, u32>,
    /// How many branches and calls there were.
    joins: u32,
    /// Whether a caller, branch or call gave a linear variable.
    lin_given: SecondaryMap<LVar, bool>,
    /// The same of what capabilities read.
    cap_home: SecondaryMap<Cap, u32>,
    /// The linear variable whose value another one has, or a capability reads.
    lin_like: SecondaryMap<LVar, Option<LVar>>,
    cap_like: SecondaryMap<Cap, Option<LVar>>,
    /// The carry whose next value a variable is.
    next_of: SecondaryMap<NVar, Option<NVar>>,
    blocks: u32,
    /// What may be done in place.
    reuse: Reuse,
}

impl Preparer<'_> {
    fn n(&self, v: NVar) -> Slot {
        v.as_u32()
    }

    fn l(&self, x: LVar) -> Slot {
        self.func.nvars.len() as u32 + x.as_u32()
    }

    fn arg(&self, atom: Atom) -> Arg {
        match atom {
            Atom::Var(v) => Arg::Get(self.n(v)),
            Atom::Lit(literal) => Arg::Const(literal.into()),
        }
    }

    fn args(&self, atoms: &[Atom]) -> Vec<Arg> {
        atoms.iter().map(|a| self.arg(*a)).collect()
    }

    fn take(&self, x: LVar) -> Arg {
        Arg::Take(self.l(x))
    }

    fn takes(&self, xs: &[LVar]) -> Vec<Arg> {
        xs.iter().map(|x| self.take(*x)).collect()
    }

    fn cap(&self, cap: Cap) -> CapCode {
        let data = &self.func.caps[cap];
        CapCode { slot: cap.as_u32(), mode: data.mode, ty: data.ty.clone() }
    }

    fn path(&self, path: &[Step]) -> Vec<PathStep> {
        path.iter()
            .map(|step| match step {
                Step::Index { index, .. } => PathStep::Index(self.arg(*index)),
                Step::Slice { lo, len, .. } => PathStep::Slice(self.arg(*lo), self.arg(*len)),
                Step::Field(k) => PathStep::Field(*k),
            })
            .collect()
    }

    fn place(&self, place: &Place) -> PlaceCode {
        PlaceCode { root: place.root.as_u32(), path: self.path(&place.path) }
    }

    /// The body of a function, loop or arm: results are storage of its own, so returning an array
    /// from elsewhere, or one array twice, is a copy; handing back an unchanged carry is not, also from the
    /// arm of a branch that gives its next value. `carries` says which results those of carries are.
    fn own_block(&mut self, block: &Block, lanes: &[Slot], carries: &[Option<NVar>]) -> Body {
        for (atom, carry) in block.nl.iter().zip(carries) {
            if let (Atom::Var(v), Some(carry)) = (*atom, *carry) {
                self.next_of[v] = Some(carry);
            }
        }
        self.trace_back(block);
        self.blocks += 1;
        let home = self.blocks;
        let mut body = self.block(block, home, lanes);
        let mut returned = HashSet::new();
        for (k, atom) in block.nl.iter().enumerate() {
            let Atom::Var(v) = *atom else { continue };
            if !matches!(self.func.nvars[v].ty, Type::Array(..)) {
                continue;
            }
            let origin = self.reuse.origin(v);
            let unchanged = carries.get(k).is_some_and(|own| *own == Some(origin));
            let fresh = returned.insert(v) && (unchanged || self.home[v] == home);
            body.copies[k] = !fresh;
        }
        let mut returned = HashSet::new();
        for (k, x) in block.lin.iter().enumerate() {
            let array = matches!(self.func.lvars[*x].ty, Type::Array(..));
            let fresh = returned.insert(self.like(*x)) && self.lin_home[*x] == home;
            body.moves[k] = array && !fresh;
        }
        body
    }

    /// Says of what makes next values of carries in place, and of what regions and branches give as next values,
    /// that it is one.
    fn trace_back(&mut self, block: &Block) {
        for stmt in block.stmts.iter().rev() {
            if stmt.nl.iter().all(|v| self.next_of[*v].is_none()) {
                continue;
            }
            for nested in stmt.rhs.blocks() {
                if matches!(stmt.rhs, Rhs::Scan(_)) {
                    continue;
                }
                for (outside, inside) in stmt.nl.iter().zip(&nested.nl) {
                    self.is_next_like(*inside, *outside);
                }
                self.trace_back(nested);
            }
            let from: Vec<(NVar, Atom)> = match &stmt.rhs {
                Rhs::Update { array, .. } => {
                    stmt.nl.iter().map(|v| (*v, Atom::Var(*array))).collect()
                }
                Rhs::Region(region) => match (stmt.nl.last(), region.start) {
                    (Some(total), Some(Operand::N(start))) => vec![(*total, start)],
                    _ => Vec::new(),
                },
                Rhs::Scan(scan) => {
                    let kept = |(_, (v, _)): &(&NVar, &(NVar, Atom))| self.reuse.stays(*v);
                    let carries = stmt.nl.iter().zip(&scan.carry).filter(kept);
                    carries.map(|(result, (_, init))| (*result, *init)).collect()
                }
                _ => Vec::new(),
            };
            for (made, from) in from {
                if from.var().is_some_and(|v| self.reuse.origin(made) == self.reuse.origin(v)) {
                    self.is_next_like(from, made);
                }
            }
        }
    }

    fn is_next_like(&mut self, v: Atom, other: NVar) {
        if let (Some(carry), Atom::Var(v)) = (self.next_of[other], v) {
            self.next_of[v] = Some(carry);
        }
    }

    /// A block, or a region body in the block with number `home`. `lanes` are the lanes regions
    /// whose body this is directly part of.
    fn block(&mut self, block: &Block, home: u32, lanes: &[Slot]) -> Body {
        let mut ops = Vec::with_capacity(block.stmts.len());
        for stmt in &block.stmts {
            let op = self.op(stmt, home, lanes);
            ops.push((op, stmt.loc.span));
        }
        let mut results = self.args(&block.nl);
        results.extend(self.takes(&block.lin));
        let (copies, moves) = (vec![false; block.nl.len()], vec![false; block.lin.len()]);
        Body { ops, results, copies, moves }
    }

    /// The linear variable whose value a linear variable has: once L has been applied they are one.
    fn like(&self, x: LVar) -> Option<LVar> {
        self.lin_like[x].or(Some(x))
    }

    /// Says where the storage of the bound variables comes from. `joins` says whether there are branches or calls in the
    /// statement.
    fn settle(&mut self, stmt: &Stmt, home: u32, joins: bool) {
        for (k, x) in stmt.lin.iter().enumerate() {
            self.lin_home[*x] = match &stmt.rhs {
                Rhs::LCopy(y)
                | Rhs::Dup(y)
                | Rhs::LUntuple(y)
                | Rhs::LOpen { value: y, .. }
                | Rhs::LCast { value: y, .. } => self.lin_home[*y],
                Rhs::Rd(place) => self.cap_home[place.root],
                Rhs::Region(region) => match (region.body.lin.get(k).copied(), region.start) {
                    (Some(y), _) | (None, Some(Operand::L(y))) => self.lin_home[y],
                    (None, _) => home,
                },
                _ => home,
            };
            self.lin_given[*x] = match &stmt.rhs {
                Rhs::LCopy(y)
                | Rhs::Dup(y)
                | Rhs::LUntuple(y)
                | Rhs::LOpen { value: y, .. }
                | Rhs::LCast { value: y, .. } => self.lin_given[*y],
                // What was lent may be what a branch or call in the region gave.
                Rhs::Region(region) => region.body.lin.get(k).map_or(joins, |y| self.lin_given[*y]),
                rhs => matches!(rhs, Rhs::Case(_) | Rhs::Call(_)),
            };
            self.lin_like[*x] = match &stmt.rhs {
                Rhs::LCopy(y) | Rhs::Dup(y) | Rhs::LCast { value: y, .. } => self.like(*y),
                Rhs::Rd(place) if place.path.is_empty() => self.cap_like[place.root],
                Rhs::Region(region) => match (region.body.lin.get(k).copied(), region.start) {
                    (Some(y), _) | (None, Some(Operand::L(y))) => self.like(y),
                    (None, _) => None,
                },
                _ => None,
            };
        }
        match &stmt.rhs {
            Rhs::Atom(Atom::Var(v))
            | Rhs::Untuple(v)
            | Rhs::Proj(v, _)
            | Rhs::Open { value: v, .. }
            | Rhs::Index(v, _)
            | Rhs::Cast { value: v, .. } => {
                let of = self.home[*v];
                stmt.nl.iter().for_each(|v| self.home[*v] = of);
            }
            Rhs::Region(region) => {
                for (k, v) in stmt.nl.iter().enumerate() {
                    self.home[*v] = match region.body.nl.get(k) {
                        Some(Atom::Var(u)) => self.home[*u],
                        _ => home,
                    };
                }
            }
            _ => stmt.nl.iter().for_each(|v| self.home[*v] = home),
        }
    }

    fn op(&mut self, stmt: &Stmt, home: u32, lanes: &[Slot]) -> Op {
        let before = self.joins;
        let op = self.op_inner(stmt, home, lanes);
        self.joins += u32::from(matches!(stmt.rhs, Rhs::Case(_) | Rhs::Call(_)));
        self.settle(stmt, home, self.joins > before);
        op
    }

    fn op_inner(&mut self, stmt: &Stmt, home: u32, lanes: &[Slot]) -> Op {
        // Destinations: non-linear, then linear.
        let dst: Vec<Slot> =
            stmt.nl.iter().map(|v| self.n(*v)).chain(stmt.lin.iter().map(|x| self.l(*x))).collect();
        // Patterns that do not fit their operation are refused by the checker; a slot that
        // nothing reads stands for what is missing here.
        let one = dst.first().copied().unwrap_or(Slot::MAX);
        let copied = stmt.nl.first().is_some_and(|v| self.reuse.is_copied(*v));
        match &stmt.rhs {
            Rhs::Atom(a) => Op::Copy(one, self.arg(*a)),
            Rhs::LCopy(x) => Op::Copy(one, self.take(*x)),
            Rhs::Prim(prim, args) => Op::Prim {
                dst: one,
                row: prim.row(),
                fallible: prim.can_fail(),
                args: self.args(args),
            },
            Rhs::Structured(op, args, sizes) => {
                Op::Structured(one, *op, self.args(args), sizes.clone())
            }
            Rhs::LApply { op, operand, args, sizes, x } => {
                let args = op.with_linear(*operand, self.take(*x), self.args(args));
                Op::Structured(one, *op, args, sizes.clone())
            }
            Rhs::Tuple(items) => Op::Tuple(one, self.args(items)),
            Rhs::LTuple(items) => Op::Tuple(one, self.takes(items)),
            Rhs::Untuple(v) => Op::Untuple(dst, Arg::Get(self.n(*v))),
            Rhs::LUntuple(x) => Op::Untuple(dst, self.take(*x)),
            Rhs::Proj(v, k) if copied => Op::Copied(one, self.n(*v), vec![PathStep::Field(*k)]),
            Rhs::Proj(v, k) => Op::Proj(one, self.n(*v), *k),
            Rhs::Con(con, args) => Op::Con(one, *con, self.args(args)),
            Rhs::LCon { con, fields, .. } => Op::Tangent(one, *con, self.takes(fields)),
            Rhs::LOpen { con, value, .. } => {
                let types = stmt.lin.iter().map(|x| self.func.lvars[*x].ty.clone());
                let parts = dst.iter().copied().zip(types).collect();
                Op::Parts { con: *con, value: self.take(*value), parts }
            }
            Rhs::Open { value, eqs, proved, .. } => {
                let mut names = dst.iter();
                let fields = eqs
                    .iter()
                    .map(|eq| match eq {
                        None => FieldCode::Bind(names.next().copied().unwrap_or(Slot::MAX)),
                        Some(a) => FieldCode::Eq(self.arg(*a), *proved),
                    })
                    .collect();
                Op::Fields { value: Arg::Get(self.n(*value)), fields }
            }
            Rhs::ArrayLit(items) => {
                let ty = stmt.nl.first().map_or(Type::F64, |v| self.func.nvars[*v].ty.clone());
                Op::ArrayLit(one, ty, self.args(items))
            }
            Rhs::Size(v, k) => {
                let def = stmt.nl.first().and_then(|v| self.func.nvars[*v].def.clone());
                Op::Size(one, def, self.n(*v), *k)
            }
            Rhs::Index(v, path) => {
                let (from, path) = (self.n(*v), self.path(path));
                if copied { Op::Copied(one, from, path) } else { Op::Index(one, from, path) }
            }
            Rhs::Update { array, path, value } => {
                let (array, dead) = self.start(Atom::Var(*array), stmt.nl.first());
                let (path, value) = (self.path(path), self.arg(*value));
                Op::Update { dst: one, array, dead, path, value, linear: None }
            }
            Rhs::LUpdate { x, path, value } => {
                let (array, path, value) = (self.take(*x), self.path(path), self.take(*value));
                let linear = Some(Linear { given: self.lin_given[*x] });
                Op::Update { dst: one, array, dead: Vec::new(), path, value, linear }
            }
            Rhs::LTake { x, path } => {
                let part = dst.get(1).copied().unwrap_or(Slot::MAX);
                let linear = Linear { given: self.lin_given[*x] };
                Op::TakeOut([one, part], self.take(*x), self.path(path), linear)
            }
            Rhs::Cast { value, ty, proved } => {
                let value = Arg::Get(self.n(*value));
                Op::Cast { dst: one, value, ty: ty.clone(), proved: *proved }
            }
            Rhs::LCast { value, ty, proved } => {
                Op::Cast { dst: one, value: self.take(*value), ty: ty.clone(), proved: *proved }
            }
            Rhs::Check(Check::Below(i, n)) => Op::Below(self.arg(*i), self.arg(*n)),
            Rhs::Check(Check::Within { lo, len, size }) => {
                Op::Within(self.arg(*lo), self.arg(*len), self.arg(*size))
            }
            Rhs::Check(Check::NonNegative(n)) => Op::NonNegative(self.arg(*n)),
            Rhs::Check(Check::Exact(p, a, b)) => Op::Exact(*p, self.arg(*a), self.arg(*b)),
            Rhs::Check(Check::Show(shown)) => match shown {
                Shown::Text(bytes) => Op::Show(Piece::Text(*bytes), None),
                Shown::End => Op::Show(Piece::End, None),
                Shown::Before(i) => Op::Show(Piece::Before(0), Some(self.arg(*i))),
                Shown::Value(a) => Op::Show(Piece::I64(0), Some(self.arg(*a))),
            },
            Rhs::LAdd(x, y) => Op::Add(one, self.take(*x), self.take(*y)),
            Rhs::LNeg(x) => Op::Neg(one, self.take(*x)),
            Rhs::LScale(c, x) => Op::Scale(one, self.arg(*c), self.take(*x)),
            Rhs::LSelect(b, x, y) => Op::Select(one, self.arg(*b), self.take(*x), self.take(*y)),
            Rhs::LZero(ty) => Op::Zero(one, ty.clone()),
            Rhs::Dup(x) => Op::Dup(one, dst.get(1).copied().unwrap_or(Slot::MAX), self.take(*x)),
            Rhs::Drop(x) => Op::Drop(self.take(*x)),
            Rhs::Rd(place) => {
                let read = stmt.lin.first().map(|x| &self.func.lvars[*x].ty);
                let zero = read.map_or(Literal::F64(0.0), |ty| ty.number(0.0));
                Op::Rd(one, zero, self.place(place))
            }
            Rhs::Inc(place, Operand::N(a)) => Op::Inc(self.place(place), self.arg(*a)),
            Rhs::Inc(place, Operand::L(x)) => Op::Inc(self.place(place), self.take(*x)),
            Rhs::Region(region) if region.mode == Mode::Rd => {
                let mut dst = dst;
                let end = if region.end { dst.pop() } else { None };
                let start = match region.start {
                    Some(Operand::L(x)) => {
                        self.cap_home[region.cap] = self.lin_home[x];
                        self.cap_like[region.cap] = self.like(x);
                        self.take(x)
                    }
                    _ => Arg::Get(Slot::MAX),
                };
                let body = self.block(&region.body, home, lanes);
                Op::RdRegion { cap: region.cap.as_u32(), start, body, dst, end }
            }
            Rhs::Region(region) => {
                // The total is the last of its kind.
                let kind = if region.is_linear() { dst.len() } else { stmt.nl.len() };
                let at = kind.wrapping_sub(1);
                let start = region.start.map(|start| match start {
                    Operand::L(x) => (self.take(x), Vec::new()),
                    Operand::N(a) => self.start(a, stmt.nl.get(at)),
                });
                self.sum_region(region, start, at, home, lanes, dst)
            }
            Rhs::Scan(scan) => self.scan(scan, stmt, lanes),
            Rhs::Case(case) => {
                let carries: Vec<_> = stmt.nl.iter().map(|v| self.next_of[*v]).collect();
                let arms = case
                    .arms
                    .iter()
                    .map(|arm| ArmCode {
                        pattern: arm.pattern,
                        fields: arm
                            .fields
                            .iter()
                            .map(|field| match field {
                                FieldPattern::Bind(v) => FieldCode::Bind(self.n(*v)),
                                FieldPattern::Eq(a) => FieldCode::Eq(self.arg(*a), arm.proved),
                            })
                            .collect(),
                        body: self.own_block(&arm.body, lanes, &carries),
                    })
                    .collect();
                Op::Case { scrutinee: self.arg(case.scrutinee), arms, dst }
            }
            Rhs::Call(call) => {
                let mut args = self.args(&call.args);
                args.extend(self.takes(&call.lin_args));
                let places =
                    call.places.iter().map(|p| p.as_ref().map(|p| self.place(p))).collect();
                let inside = self.recursion.is_inside(self.id, call.func);
                Op::Call { func: call.func, inside, args, places, dst }
            }
        }
    }

    /// A `wr` or `acc` region, whose total goes to the destination number `at`.
    fn sum_region(
        &mut self,
        region: &Region,
        start: Option<(Arg, Vec<Slot>)>,
        at: usize,
        home: u32,
        lanes: &[Slot],
        mut dst: Vec<Slot>,
    ) -> Op {
        let cap = region.cap;
        let total = if at < dst.len() { dst.remove(at) } else { Slot::MAX };
        let mut inside = lanes.to_vec();
        if self.func.caps[cap].lanes {
            inside.push(cap.as_u32());
        }
        let body = self.block(&region.body, home, &inside);
        Op::SumRegion { cap: self.cap(cap), start, body, dst, total }
    }

    /// What something is made from in place, if it may be, and the names that may hold on to it and are not read
    /// any more.
    fn start(&self, from: Atom, made: Option<&NVar>) -> (Arg, Vec<Slot>) {
        match (from, made.and_then(|made| self.reuse.taken(*made))) {
            (Atom::Var(v), Some(names)) => {
                (Arg::Take(self.n(v)), names.iter().map(|v| self.n(*v)).collect())
            }
            _ => (self.arg(from), Vec::new()),
        }
    }

    /// The lanes regions directly around a loop that it is a lane loop of.
    fn lane_loop(&self, scan: &Scan, lanes: &[Slot]) -> Vec<Slot> {
        if scan.dir != Dir::Par || lanes.is_empty() {
            return Vec::new();
        }
        let mut used = HashSet::new();
        scan.body.for_each_use(self.func, &mut |name| {
            if let Use::C(cap) = name {
                used.insert(cap.as_u32());
            }
        });
        lanes.iter().copied().filter(|slot| used.contains(slot)).collect()
    }

    fn scan(&mut self, scan: &Scan, stmt: &Stmt, lanes: &[Slot]) -> Op {
        let func = self.func;
        let mut carry = Vec::with_capacity(scan.carry.len() + scan.lin_carry.len());
        let mut dead = Vec::new();
        for (v, init) in &scan.carry {
            let (arg, names) = self.start(*init, Some(v));
            carry.push((self.n(*v), arg));
            dead.extend(names);
        }
        let left = scan.carry.iter().flat_map(|(v, _)| self.reuse.left(*v));
        let left = left.map(|v| self.n(*v)).collect();
        carry.extend(scan.lin_carry.iter().map(|(x, a)| (self.l(*x), self.take(*a))));
        let mut slices: Vec<(Slot, Arg)> =
            scan.slices.iter().map(|(v, a)| (self.n(*v), Arg::Get(self.n(*a)))).collect();
        slices.extend(scan.lin_slices.iter().map(|(x, a)| (self.l(*x), self.take(*a))));
        let cap_slices = scan.cap_slices.iter().map(|(c, p)| (c.as_u32(), self.place(p))).collect();

        let carries: Vec<_> = scan.carry.iter().map(|(v, _)| Some(*v)).collect();

        // The pattern is: final carries, stacked results, in each section.
        let (nl_carries, lin_carries) = (scan.carry.len(), scan.lin_carry.len());
        let mut carry_dst: Vec<Slot> =
            stmt.nl.iter().take(nl_carries).map(|v| self.n(*v)).collect();
        carry_dst.extend(stmt.lin.iter().take(lin_carries).map(|x| self.l(*x)));
        let nl_results = scan.body.nl.len();
        let mut stacks = Vec::new();
        for (k, v) in stmt.nl.iter().enumerate().skip(nl_carries) {
            stacks.push((k, self.n(*v), func.nvars[*v].ty.clone()));
        }
        for (k, x) in stmt.lin.iter().enumerate().skip(lin_carries) {
            stacks.push((nl_results + k, self.l(*x), func.lvars[*x].ty.clone()));
        }
        Op::Scan(Box::new(ScanCode {
            dir: scan.dir,
            index: self.n(scan.index),
            bound: self.arg(scan.bound),
            carry,
            dead,
            left,
            slices,
            cap_slices,
            lanes: self.lane_loop(scan, lanes),
            body: self.own_block(&scan.body, &[], &carries),
            nl_carries,
            nl_results,
            carry_dst,
            stacks,
        }))
    }
}
