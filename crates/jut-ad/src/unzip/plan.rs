//! The tape plan: what U does with every value of a function, and why. It is made before anything is
//! written, it is plain data, and it is the only place where it is decided what is stored.
//!
//! [`plan`] is a function of a program, a function and a policy. [`super::split`] writes the two halves by
//! it, [`super::layout`] says in which types the stored values lie, [`super::explain`] prints it.
//!
//! # Levels and needs
//!
//! The *levels* of a function are its body and the bodies of its loops, arms and accumulators
//! (not of `rd` and `wr` regions). What the residual reads is a *need* of the level that binds
//! it, however deep inside the use stands: to the levels between, it is simply a name from
//! outside. The walk ([`walk`]) says for each level what E computes there and what the residual needs of it.
//!
//! # Fates
//!
//! When a level is complete, each of its needs gets a [`Fate`], in the order in which the residual's text
//! reads them ([`fates`]); what the decisions read from further out becomes a need there. A need is
//! *available* if the residual has it anyway:
//!
//! * the loop index, and the slice of an array: the residual slices again;
//! * parameters of the function: they are passed to `f.lin` again (they are *forwarded*);
//! * unless everything is to be stored, what a cheap statement (an index, a size, a projection, a copy,
//!   arithmetic without division) makes of available operands: the residual computes it again.
//!   A total operation whose operands are all from outside a loop leaves the loop, so that what
//!   does not depend on the iteration is computed and stored once.
//!
//! Of all other needs a minimum cut finds the cheapest set of values from which the residual can compute
//! them ([`cut`]), by prices that are those of time under [`Policy::Default`] and make divisions cheaper
//! than the bytes under [`Policy::Minimal`]; and E computes no expression twice ([`common`]). Under
//! [`Policy::StoreAll`] all of them are stored. Transparent i64 names, and maxima of i64, are never stored, under
//! any policy: the residual computes them again, from stored operands if need be, because types
//! and covered accesses rest on their definitions. A carried array that only some arms of a branch read is
//! stored by those arms ([`arms`]); of an array that a loop changes, what was read of it is stored ([`changing`]), unless
//! the array that the loop ends with has it ([`settled`]).
//!
//! A word of the user's ([`TapePolicy`]) comes before prices: what stands behind `@store` is not computed again where it is
//! needed, and behind `@recompute` it is not stored if it is a total operation; under [`Policy::StoreAll`] neither is heard.
//!
//! What a level stores leaves it as values of the level round it ([`Carried`]): as stacks of a loop, as the
//! sum of the records of the arms, as results of an accumulator, as the tape of a callee. So plans are made from
//! the inside out, and a stack is to its level a value like any other, which nothing but storing can keep.
//!
//! *Requires*: a checked function, whose callees have been unzipped. *Ensures*: every value that the residual
//! reads has a fate, and what it is computed from has one too. *Cost*: linear in the text: each use of a
//! name is recorded once, at the level that binds the name, and each level is decided once from that record.

mod arms;
mod changing;
mod common;
mod cut;
mod fates;
mod levels;
mod settled;
mod walk;

use super::record::{Opening, Record};
use crate::linearity::{self, BlockInfo};
use crate::relocate::Substitution;
use crate::{Derivatives, Policy, Unzipped};
use fates::Need;
pub(super) use fates::size_names;
use jut_ir::build::Namer;
use jut_ir::cover::Facts;
use jut_ir::entity::{EntityRef, SecondaryMap};
use jut_ir::*;
use levels::OpenLevel;
pub(super) use levels::{How, Site};
use settled::Settled;
use std::collections::{HashMap, HashSet};

/// What U does with a function.
#[derive(Default)]
pub(super) struct Plan {
    pub policy: Policy,
    /// What derived names start with.
    pub base: String,
    /// The names of the function and of the plan.
    pub namer: Namer,
    /// Which statements are linear.
    pub linear: BlockInfo,
    /// Names that are others: results of regions, what E has computed before.
    pub same: Substitution,
    /// In the residual: names bound in an accumulator, by the name they have outside.
    pub escaped: SecondaryMap<NVar, Option<Atom>>,
    /// Where the statement of E that binds a name stands, if not where the function has it.
    pub homes: SecondaryMap<NVar, Home>,
    /// The levels, in the order in which they open.
    pub levels: Vec<Level>,
    /// The statements that both halves have, in order.
    pub joints: Vec<Joint>,
    /// The types of the tape; as numbers they have those that follow the program's.
    pub datas: Vec<Data>,
    /// Positions of the function's parameters that `f.lin` takes.
    pub forwarded: Vec<usize>,
    /// The results of the function that `f.lin` takes.
    pub sizes: ResultSizes,
    /// What becomes of each value.
    pub fates: SecondaryMap<NVar, Fate>,
    /// What reads a value first.
    pub readers: SecondaryMap<NVar, Option<Reader>>,
    /// Where each name is bound.
    pub sites: SecondaryMap<NVar, Site>,
    /// What the names that the plan has added carry.
    pub carried: HashMap<NVar, Carried>,
    /// What has been made of a function that calls itself before it is planned, and what its tape holds.
    pub own: Option<(Unzipped, Constructor)>,
}

impl Plan {
    /// A type outside of accumulators, where names that leave them have others.
    pub fn outside_ty(&self, ty: &Type) -> Type {
        ty.subst(&mut |mut name| {
            let outside = |v: NVar| self.escaped[v].and_then(Atom::var);
            outside(name)?;
            while let Some(next) = outside(name) {
                name = next;
            }
            Some(Size::var(name))
        })
    }
}

/// What becomes of a value of E in the residual.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Fate {
    /// Nothing there needs it (or it is a parameter, which has no fate but to be passed again).
    #[default]
    NotNeeded,
    /// The residual has it: a loop index.
    Index,
    /// It takes the slice again.
    Sliced,
    /// It computes it again, from what it has without the tape.
    Before,
    /// It computes it again, from what is stored.
    After,
    /// It takes it off the tape.
    Stored { reason: Reason, span: Span },
}

/// Why a value is stored and not computed again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reason {
    /// The type of another stored value mentions it.
    Size,
    /// Only the iteration before has it.
    Carry,
    /// It came out of a value that an arm or a pattern took apart.
    Field,
    /// A primitive that costs more than a store.
    Expensive(&'static str),
    /// A loop made it.
    Loop,
    /// It is a sum over a loop.
    Sum,
    /// A branch made it.
    Branch,
    /// A function made it.
    Call(FuncId),
    /// An array, tuple or record is built from parts.
    Built,
    /// The text says so: `@store`.
    Policy,
    /// It is cheap, but what it is computed from would have to be stored instead, and is not
    /// cheaper; or the policy stores everything.
    NoGain,
}

/// A linear statement that reads a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reader {
    /// The tangent that it binds, if any.
    pub tangent: Option<LVar>,
    pub span: Span,
}

/// What a name that the plan has added stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Carried {
    /// The values of an element in each iteration.
    Stack { level: usize, element: NVar },
    /// The same value, outside of an accumulator or with wider sizes.
    Value(NVar),
    /// The record of a level.
    Record { level: usize },
    /// The record of the arm that is taken.
    Arms { levels: Vec<usize> },
    /// What a callee stores.
    Tape { callee: FuncId, args: Vec<Atom> },
}

/// Where a statement of E stands.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Home {
    /// Where the function has it.
    #[default]
    Here,
    /// At the end of what an enclosing level has so far.
    Outside(usize),
    /// Nowhere: E has computed the same before.
    Nowhere,
}

/// What a level is the body of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LevelKind {
    /// Nothing: the parameters.
    Parameters,
    /// The function.
    Body,
    /// A `scan`.
    Loop,
    /// An arm of a `case`.
    Arm,
    /// An `acc` region.
    Accumulator,
}

/// What a level stores, and how the residual begins there.
#[derive(Debug, Default)]
pub(super) struct Level {
    /// How many levels are round it.
    pub depth: usize,
    /// Of a loop: its index, and how often it runs.
    pub times: Option<(NVar, Size)>,
    /// Stored, in order of first need. In an accumulator, sizes of stored values come first.
    pub stored: Vec<NVar>,
    /// Slices that the residual takes again: element, array.
    pub slices: Vec<(NVar, NVar)>,
    /// Computed again from what is known.
    pub before: Vec<Stmt>,
    /// Computed again from what is stored.
    pub after: Vec<Stmt>,
    /// For sizes computed again after the opening: how many statements of `after` give them.
    pub after_positions: HashMap<NVar, usize>,
    /// What E does at its end, so that elements of stacks have sizes known outside, and what the residual
    /// does at its beginning to have the old ones again.
    pub widened: (Vec<Stmt>, Vec<Stmt>),
    /// The record that holds what is stored, if it is not results or stacks.
    pub record: Option<Record>,
}

/// What a statement that both halves have adds to E.
#[derive(Debug, Default)]
pub(super) struct Joint {
    /// What stands before it.
    pub prelude: Vec<Stmt>,
    /// Of a loop: its bound, not negative if there are stacks.
    pub bound: Option<Atom>,
    /// What its body returns besides, and what that is outside.
    pub results: Vec<(NVar, NVar)>,
    /// The tape that a call or a branch returns.
    pub tape: Option<NVar>,
}

/// The result sizes of a function.
#[derive(Debug, Default)]
pub(super) struct ResultSizes {
    /// The parameters of `f.lin`.
    pub params: Vec<NVar>,
    /// Which results of the function they are.
    pub positions: Vec<usize>,
    /// The name of the result, and the parameter.
    names: Vec<(NVar, NVar)>,
}

/// Positions of the results of a function that the types of its linear results name.
pub(super) fn result_sizes(func: &Function) -> Vec<usize> {
    let mentioned = |name: NVar| func.lin_results.iter().any(|r| mentions(&r.ty, name));
    let named = func.results.iter().enumerate().filter_map(|(k, decl)| Some((k, decl.name?)));
    named.filter(|(_, name)| mentioned(*name)).map(|(k, _)| k).collect()
}

fn mentions(ty: &Type, name: NVar) -> bool {
    let mut found = false;
    ty.for_each_size(&mut |s| found |= s.mentions(name));
    found
}

/// Plans the tape of a function; `own` is what has been made of one that calls itself. The function gets the names that carry the tape as further variables,
/// and its linear results state their sizes as `f.lin` does.
///
/// # Errors
/// `J999` if a callee has not been unzipped.
pub(super) fn plan(
    derivatives: &Derivatives,
    func: &mut Function,
    policy: Policy,
    own: Option<&Unzipped>,
) -> Result<Plan, Diagnostic> {
    let mut namer = Namer::of(func);
    arms::name_in_arms(func, &mut namer);
    let info = linearity::of_body(&derivatives.program, func);
    let (changing, settled) = (changing::changing(func), settled::settled(func));
    let body = std::mem::take(&mut func.body);
    let mut planner =
        Planner { changing, settled, ..Planner::new(derivatives, func, namer, policy) };
    planner.plan.own = own.and_then(|own| {
        let tape = derivatives.program.datas[own.tape?].constructors.first()?;
        Some((own.clone(), tape.clone()))
    });
    let plan = planner.function(&body, &info);
    func.body = body;
    Ok(Plan { linear: info, ..plan? })
}

/// The planner at work on one function, whose variables grow.
pub(super) struct Planner<'a, 'f> {
    pub derivatives: &'a Derivatives,
    pub func: &'f mut Function,
    /// The plan so far.
    pub plan: Plan,
    /// Where a need is first read in the residual.
    needs: SecondaryMap<NVar, Option<Need>>,
    /// The open levels, outermost first. The zeroth is that of the parameters.
    open: Vec<OpenLevel<'a>>,
    /// Arrays that loops change in place.
    changing: SecondaryMap<NVar, bool>,
    /// Cells that have their last values.
    settled: Settled,
    /// Where the residual can read a value instead: an array that has it in the end, and the indices.
    cells: HashMap<NVar, (NVar, Vec<Step>)>,
    /// The first name of a level, by its number, for a sum of integers, where cells are settled.
    sums: HashMap<(usize, Size), NVar>,
    /// What E knows about sizes and indices.
    pub facts: Facts,
    /// Names that are a maximum with zero, and of what.
    maxima: Vec<(NVar, Size)>,
    /// The names of what E has computed and open levels can see, unless everything is to be stored.
    computed: HashMap<common::Key, NVar>,
    /// The position in the residual's text.
    clock: u32,
    /// How many needs have been recorded.
    needs_recorded: u32,
    /// What reads the needs that are being recorded.
    reader: Option<Reader>,
    /// How many tape types inside the function have been named.
    tapes: usize,
}

impl<'a, 'f> Planner<'a, 'f> {
    fn new(
        derivatives: &'a Derivatives,
        func: &'f mut Function,
        namer: Namer,
        policy: Policy,
    ) -> Planner<'a, 'f> {
        let plan = Plan {
            policy,
            base: names::unzip_base(&func.name).to_string(),
            namer,
            ..Plan::default()
        };
        Planner {
            derivatives,
            func,
            plan,
            needs: SecondaryMap::new(),
            open: Vec::new(),
            changing: SecondaryMap::new(),
            settled: Settled::default(),
            cells: HashMap::new(),
            sums: HashMap::new(),
            facts: Facts::default(),
            maxima: Vec::new(),
            computed: HashMap::new(),
            clock: 0,
            needs_recorded: 0,
            reader: None,
            tapes: 0,
        }
    }

    fn function(mut self, body: &'a Block, info: &BlockInfo) -> Result<Plan, Diagnostic> {
        self.regions_are_transparent(body);
        self.enter(LevelKind::Parameters);
        for p in self.func.params.clone() {
            self.learn_dimensions(p);
        }
        self.result_sizes(body);

        self.enter(LevelKind::Body);
        let head = self.tick();
        self.block(body, info)?;
        for k in 0..self.func.lin_results.len() {
            // A result says its size by the parameters of `f.lin`.
            let sizes = &self.plan.sizes;
            let ty = self.plan.same.ty(self.func, &self.func.lin_results[k].ty);
            let ty = ty.subst(&mut |name| sizes.renamed(name));
            self.cast_result(body, k, &ty);
            self.func.lin_results[k].ty = ty;
        }
        self.need_signature();
        let level = self.decide_all(head);
        if !self.plan.levels[level].stored.is_empty() || self.plan.own.is_some() {
            let stored = self.plan.levels[level].stored.clone();
            let record = self.record(level, &stored, head, Opening::AfterHead);
            let data = match &mut self.plan.own {
                Some((Unzipped { tape: Some(tape), .. }, constructor)) => {
                    *constructor = record.constructor(constructor.name.clone());
                    *tape
                }
                _ => {
                    let name = names::tape(&self.plan.base);
                    self.declare(name.clone(), vec![record.constructor(name)])
                }
            };
            let var = self.fresh("tape", Type::Data(data), self.func.span);
            let held = Some((ConRef { data, index: 0 }, var));
            self.plan.levels[level].record = Some(Record { held, ..record });
        }
        self.leave();
        self.plan.forwarded = self.forwarded();
        Ok(self.plan)
    }

    /// Positions of the parameters that the residual reads, with the sizes in their types.
    fn forwarded(&self) -> Vec<usize> {
        let params = &self.func.params;
        let read = |p: &NVar| self.needs[*p].is_some();
        let mut wanted: HashSet<NVar> = params.iter().copied().filter(read).collect();
        for p in params.iter().filter(|p| read(p)) {
            wanted.extend(self.func.nvars[*p].ty.size_names());
        }
        (0..params.len()).filter(|k| wanted.contains(&params[*k])).collect()
    }

    /// Sizes in the types of tangents and capabilities are parameters of the residual.
    fn need_signature(&mut self) {
        let key = self.tick();
        let func = &*self.func;
        let tangents = func.lin_params.iter().map(|x| &func.lvars[*x].ty);
        let caps = func.cap_params.iter().map(|c| &func.caps[*c]);
        let caps = caps.filter(|c| c.mode != Mode::Acc).map(|c| &c.ty);
        let results = func.lin_results.iter().map(|r| &r.ty);
        let types: Vec<Type> = tangents.chain(caps).chain(results).cloned().collect();
        self.reader = None;
        for ty in types {
            self.need_sizes(&ty, key);
        }
    }

    /// Every i64 result that a linear result's type names is a parameter of `f.lin`. Where the
    /// function returns an opaque name of its own, the parameter *is* that name.
    fn result_sizes(&mut self, body: &Block) {
        for k in result_sizes(self.func) {
            let name = self.func.results.get(k).and_then(|decl| decl.name);
            let (Some(name), Some(value)) = (name, body.nl.get(k)) else { continue };
            let own = self.plan.same.atom(*value).var().filter(|v| {
                self.func.nvars[*v].def.is_none()
                    && !self.func.params.contains(v)
                    && !self.plan.sizes.params.contains(v)
            });
            let hint = self.func.nvars[name].name.clone();
            let param = own.unwrap_or_else(|| self.fresh(&hint, Type::I64, self.func.span));
            self.plan.sites[param] = Site { level: 0, how: How::Result };
            let sizes = &mut self.plan.sizes;
            sizes.params.push(param);
            sizes.positions.push(k);
            sizes.names.push((name, param));
        }
    }

    /// Names the type of a part of the tape.
    pub fn declare(&mut self, name: String, constructors: Vec<Constructor>) -> DataId {
        let id = DataId::new(self.derivatives.program.datas.len() + self.plan.datas.len());
        let span = self.func.span;
        self.plan.datas.push(Data { name, constructors, span, ..Data::default() });
        id
    }

    /// A new non-linear variable.
    pub fn fresh(&mut self, hint: &str, ty: Type, span: Span) -> NVar {
        let name = self.plan.namer.fresh(hint);
        self.func.nvars.push(VarData { name, ty, def: None, span })
    }
}

impl ResultSizes {
    fn renamed(&self, name: NVar) -> Option<Size> {
        self.names.iter().find(|(result, _)| *result == name).map(|(_, z)| Size::var(*z))
    }
}
