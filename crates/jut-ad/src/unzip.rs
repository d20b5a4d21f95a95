//! U: unzipping (Fig. 8 of the paper, extended to loops, branches, regions and data). It parts a
//! function that mixes values and tangents into `f.nonlin`, which computes the values and fills a
//! *tape*, and `f.lin`, which computes the tangents from tape and tangents alone. U decides what
//! goes on the tape; nothing else does.
//!
//! # The two halves
//!
//! A block becomes a list E of non-linear statements, its non-linear results, and a residual: the
//! linear statements in their old order. Regions that open a linear capability only remain in the
//! residual; what they contained of E moves out. Loops, branches and accumulators remain in both
//! halves (if anything is left for them to do). Checks stay in `f.nonlin`; an access of the
//! residual that was covered only by what `f.nonlin` knows is marked as proved, `x[!i]`.
//!
//! # What is stored
//!
//! The *levels* of a function are its body and the bodies of its loops, arms and accumulators
//! (not of `rd` and `wr` regions). What the residual reads is a *need* of the level that binds
//! it, however deep inside the use stands: to the levels between, it is simply a name from
//! outside. A need is *available* if the residual has it anyway:
//!
//! * the loop index, and the slice of an array: the residual slices again;
//! * parameters of the function: they are passed to `f.lin` again (they are *forwarded*);
//! * unless everything is to be stored, what a cheap statement (an index, a size, a projection, a copy,
//!   arithmetic without division) makes of available operands: the residual computes it again.
//!   A total operation whose operands are all from outside a loop leaves the loop, so that what
//!   does not depend on the iteration is computed and stored once.
//!
//! All other needs are stored under [`Policy::Default`]; under [`Policy::Minimal`] a minimum cut
//! finds the cheapest set of values from which the residual can compute them ([`cut`]), and E
//! computes no expression twice ([`common`]). Transparent i64 names, and maxima of i64, are never stored, under
//! any policy: the residual computes them again, from stored operands if need be, because types
//! and covered accesses rest on their definitions.
//!
//! # How it is stored
//!
//! | level | tape |
//! |---|---|
//! | body | a record `f.tape(sizes.., values..)`, returned by `f.nonlin`, opened first by `f.lin` |
//! | loop | each value stacked: `[n]t`; values whose size depends on the iteration: a record per iteration |
//! | arms | a sum `f.tapeN` with one constructor per arm; if no arm stores anything, nothing |
//! | accumulator | more results of the region |
//! | call | the tape of the callee |
//!
//! A carried array that only some arms of a branch read is stored by those arms ([`arms`]).
//!
//! Data types are closed, so every size in the type of a field is a field before it. When a record
//! is opened, a size that the residual knows is stated to be equal (`=n`), so that what comes off
//! the tape has literally the type it had when it went on. A size that the residual computes only
//! after the opening is bound under another name, and casts join the two. For the same reason
//! sizes among the results of `f` are parameters of `f.lin`: a caller then sees one name for the
//! size of a value and of its tangent.
//!
//! A loop may run over a negative bound, but an array has no negative size: where nothing else
//! says that the bound n is not negative, the stacking loop runs to `max(n, 0)` (or, if it takes
//! slices, stands behind a `check n >= 0`, which then holds); and where only
//! what happens inside the loop says that an element's size s is not negative, the element is
//! stacked with the size `max(s, 0)`.
//!
//! # Example
//!
//! ```text
//! core def f.jvp(u: f64; u': f64) -> (f64; f64) = { v = sin(u); c = cos(u); v' = c * u'; t = -v; t' = -v'; (t; t') }
//! ```
//! becomes
//! ```text
//! data f.tape = f.tape(c: f64)
//! core def f.nonlin(u: f64) -> (f64, f.tape) = { v = sin(u); c = cos(u); t = -v; tape = f.tape(c); (t, tape) }
//! core def f.lin(tape: f.tape; u': f64) -> (; f64) = { f.tape(c) = tape; v' = c * u'; t' = -v'; (; t') }
//! ```
//!
//! Long lists are no trouble, deep nests are: a value that is stored d loops deep is a result of
//! each of them, so a nest of depth d has residuals of size d² (nesting is limited).
//!
//! *Requires*: a checked function. *Ensures*: `f.nonlin` is non-linear, `f.lin` has linear results
//! only (Linear B); together they compute bit for bit what the function computes, under
//! [`Policy::StoreAll`] with the same work but for integer arithmetic (Theorem 6.2). *Cost*:
//! linear in the text: each use of a name is recorded once, at the level that binds the name, and
//! each level is planned once from that record.

mod arms;
mod common;
mod cut;
pub mod explain;
mod loops;
mod marks;
mod plan;
mod record;
mod walk;

use crate::linearity;
use crate::relocate::{Relocator, Substitution};
use crate::{Derivatives, Policy, Unzipped, callees_first};
pub use explain::{TapeReport, explain};
use jut_ir::build::Namer;
use jut_ir::cover::Facts;
use jut_ir::entity::SecondaryMap;
use jut_ir::*;
use plan::{Fate, How, Level, LevelKind, Need, Site};
use record::Opening;
use std::collections::HashMap;

/// Unzips a function and all functions with linear parts that it calls.
///
/// # Errors
/// `J801` if the program is not what the checker accepts.
pub fn unzip(
    derivatives: &mut Derivatives,
    func: FuncId,
    policy: Policy,
) -> Result<Unzipped, Diagnostic> {
    if let Some(known) = derivatives.unzipped.get(&(func, policy)) {
        return Ok(known.clone());
    }
    derivatives.keep_only(func);
    let program = &derivatives.program;
    let known = |f: FuncId| derivatives.unzipped.contains_key(&(f, policy));
    let order = callees_first(program, func, &|f| known(f) || program.funcs[f].is_nonlinear());
    let mut last = None;
    for callee in order {
        let func = derivatives.take(callee)?;
        let unzipped = Unzipper::new(derivatives, func, policy).run()?;
        derivatives.unzipped.insert((callee, policy), unzipped.clone());
        last = Some(unzipped);
    }
    last.ok_or_else(|| Diagnostic::error("J801", Span::NONE, "nothing to unzip"))
}

/// The state of U for one function. Both halves are built over the variables of the function
/// itself, and get their own when they are finished.
struct Unzipper<'a> {
    derivatives: &'a mut Derivatives,
    policy: Policy,
    /// What derived names start with.
    base: String,
    /// The function, its variables growing.
    func: Function,
    namer: Namer,
    /// Results of regions: the same as what the region's body returns.
    same: Substitution,
    /// In the residual: names bound in an accumulator, by the name they have outside; linear
    /// results of an accumulator, by what its body returns.
    escaped: Substitution,
    /// Where each name is bound.
    sites: SecondaryMap<NVar, Site>,
    /// Where a need is first read in the residual.
    needs: SecondaryMap<NVar, Option<Need>>,
    /// What has been decided about each need.
    fates: SecondaryMap<NVar, Fate>,
    /// The open levels, outermost first. The zeroth is that of the parameters.
    levels: Vec<Level>,
    /// What E knows about sizes and indices.
    facts: Facts,
    /// Names that are a maximum with zero, and of what.
    maxima: Vec<(NVar, Size)>,
    /// Under [`Policy::Minimal`]: the names of what E has computed and open levels can see.
    computed: HashMap<common::Key, NVar>,
    /// The position in the residual's text.
    clock: u32,
    /// How many needs have been recorded.
    needs_recorded: u32,
    /// How many tape types inside the function have been named.
    tapes: usize,
}

impl<'a> Unzipper<'a> {
    fn new(derivatives: &'a mut Derivatives, mut func: Function, policy: Policy) -> Unzipper<'a> {
        let mut namer = Namer::of(&func);
        arms::name_in_arms(&mut func, &mut namer);
        Unzipper {
            derivatives,
            policy,
            base: names::unzip_base(&func.name).to_string(),
            namer,
            func,
            same: Substitution::default(),
            escaped: Substitution::default(),
            sites: SecondaryMap::new(),
            needs: SecondaryMap::new(),
            fates: SecondaryMap::new(),
            levels: vec![Level::new(LevelKind::Parameters)],
            facts: Facts::default(),
            maxima: Vec::new(),
            computed: HashMap::new(),
            clock: 0,
            needs_recorded: 0,
            tapes: 0,
        }
    }

    fn run(mut self) -> Result<Unzipped, Diagnostic> {
        let info = linearity::of_body(&self.derivatives.program, &self.func);
        let body = std::mem::take(&mut self.func.body);
        let loc = Loc { span: self.func.span, origin: Origin::Unzip };
        self.regions_are_transparent(&body);
        for p in self.func.params.clone() {
            self.learn_dimensions(p);
        }
        let sizes = self.result_sizes(&body);

        self.enter(LevelKind::Body);
        let head = self.tick();
        let mut halves = self.block(body, info)?;
        for (k, decl) in self.func.lin_results.clone().into_iter().enumerate() {
            // A result says its size by the parameters of `f.lin`.
            let ty = self.same.ty(&self.func, &decl.ty).subst(&mut |name| sizes.renamed(name));
            self.cast_result(&mut halves.residual, k, &ty, loc);
            self.func.lin_results[k].ty = ty;
        }
        self.need_signature();

        let plan = self.plan(head);
        let mut tape = None;
        let mut values = halves.values;
        let mut residual = plan.before.clone();
        if plan.stored.is_empty() {
            residual.extend(plan.after);
        } else {
            let record = self.record(&plan, &plan.stored, head, Opening::AfterHead);
            let name = names::tape(&self.base);
            let constructor = Constructor { name: name.clone(), fields: record.fields };
            let data = self.declare(name, vec![constructor]);
            let con = ConRef { data, index: 0 };
            let var = self.fresh("tape", Type::Data(data), loc.span);
            self.push(value_stmt(var, Rhs::Con(con, record.values), loc));
            values.push(Atom::Var(var));
            residual.push(record::open_stmt(con, var, &record.pattern, loc));
            residual.extend(record::merge(plan.after, record.casts));
            tape = Some((var, data));
        }
        residual.extend(halves.residual.stmts);
        let residual = Block { stmts: residual, nl: Vec::new(), lin: halves.residual.lin };
        let values = Block { stmts: self.leave().stmts, nl: values, lin: Vec::new() };
        Ok(self.finish(values, residual, tape, sizes))
    }

    /// Makes the two functions.
    fn finish(
        self,
        values: Block,
        residual: Block,
        tape: Option<(NVar, DataId)>,
        sizes: ResultSizes,
    ) -> Unzipped {
        let func = &self.func;
        let forwarded = self.forwarded();
        let (acc, linear): (Vec<Cap>, Vec<Cap>) =
            func.cap_params.iter().copied().partition(|c| func.caps[*c].mode == Mode::Acc);

        let name = names::nonlin(&self.base);
        let mut nonlin = Relocator::new(func, &self.same, &self.namer, name);
        nonlin.params(&func.params, &[], &acc);
        nonlin.to.size_params = func.size_params;
        nonlin.body(values);
        for decl in &func.results {
            let ty = nonlin.ty(&decl.ty);
            let name = decl.name.map(|name| nonlin.result_name(name));
            nonlin.to.results.push(ResultDecl { name, ty });
        }
        nonlin.to.results.extend(tape.map(|(_, d)| ResultDecl { name: None, ty: Type::Data(d) }));

        let mut subst = self.same.clone();
        for (v, out) in self.escaped.values.iter().filter(|(_, out)| out.is_some()) {
            subst.values[v] = *out;
        }
        subst.tangents = self.escaped.tangents.clone();
        let params: Vec<NVar> = forwarded
            .iter()
            .map(|k| func.params[*k])
            .chain(sizes.params.iter().copied())
            .chain(tape.map(|(var, _)| var))
            .collect();
        let mut lin = Relocator::new(func, &subst, &self.namer, names::lin(&self.base));
        lin.params(&params, &func.lin_params, &linear);
        lin.body(residual);
        for decl in &func.lin_results {
            let ty = lin.ty(&decl.ty);
            lin.to.lin_results.push(LinResultDecl { name: None, ty });
        }

        let nonlin = nonlin.to;
        let mut lin = lin.to;
        marks::prove_accesses(&mut lin);
        Unzipped {
            nonlin: self.derivatives.add_func(nonlin),
            lin: self.derivatives.add_func(lin),
            tape: tape.map(|(_, data)| data),
            forwarded,
            result_sizes: sizes.positions,
        }
    }

    /// Positions of the parameters that the residual reads, with the sizes in their types.
    fn forwarded(&self) -> Vec<usize> {
        let mut wanted: Vec<bool> =
            self.func.params.iter().map(|p| self.needs[*p].is_some()).collect();
        let mut positions = SecondaryMap::new();
        for (k, p) in self.func.params.iter().enumerate() {
            positions[*p] = Some(k);
        }
        for (k, p) in self.func.params.iter().enumerate() {
            if wanted[k] {
                for name in self.func.nvars[*p].ty.size_names() {
                    if let Some(size) = positions[name] {
                        wanted[size] = true;
                    }
                }
            }
        }
        wanted.iter().enumerate().filter(|(_, wanted)| **wanted).map(|(k, _)| k).collect()
    }

    /// Sizes in the types of tangents and capabilities are parameters of the residual.
    fn need_signature(&mut self) {
        let key = self.tick();
        let func = &self.func;
        let tangents = func.lin_params.iter().map(|x| &func.lvars[*x].ty);
        let caps = func.cap_params.iter().map(|c| &func.caps[*c]);
        let caps = caps.filter(|c| c.mode != Mode::Acc).map(|c| &c.ty);
        let results = func.lin_results.iter().map(|r| &r.ty);
        let types: Vec<Type> = tangents.chain(caps).chain(results).cloned().collect();
        for ty in types {
            self.need_sizes(&ty, key);
        }
    }

    /// Every i64 result that a linear result's type names is a parameter of `f.lin`. Where the
    /// function returns an opaque name of its own, the parameter *is* that name.
    fn result_sizes(&mut self, body: &Block) -> ResultSizes {
        let mut sizes = ResultSizes::default();
        let mentioned = |func: &Function, name: NVar| {
            let mentions = |ty: &Type| {
                let mut found = false;
                ty.for_each_size(&mut |s| found |= s.mentions(name));
                found
            };
            func.lin_results.iter().any(|r| mentions(&r.ty))
        };
        for (k, value) in body.nl.iter().enumerate() {
            let Some(name) = self.func.results.get(k).and_then(|decl| decl.name) else { continue };
            if !mentioned(&self.func, name) {
                continue;
            }
            let own = self.same.atom(*value).var().filter(|v| {
                self.func.nvars[*v].def.is_none()
                    && !self.func.params.contains(v)
                    && !sizes.params.contains(v)
            });
            let hint = self.func.nvars[name].name.clone();
            let param = own.unwrap_or_else(|| self.fresh(&hint, Type::I64, self.func.span));
            self.sites[param] = Site { level: 0, how: How::Result };
            sizes.params.push(param);
            sizes.positions.push(k);
            sizes.names.push((name, param));
        }
        sizes
    }

    /// Declares a tape type.
    fn declare(&mut self, name: String, constructors: Vec<Constructor>) -> DataId {
        let span = self.func.span;
        self.derivatives.add_data(Data { name, constructors, doc: String::new(), span })
    }

    /// A new non-linear variable.
    fn fresh(&mut self, hint: &str, ty: Type, span: Span) -> NVar {
        let name = self.namer.fresh(hint);
        self.func.nvars.push(VarData { name, ty, def: None, span })
    }
}

/// The result sizes Z of a function.
#[derive(Default)]
struct ResultSizes {
    /// The parameters of `f.lin`.
    params: Vec<NVar>,
    /// Which results of the function they are.
    positions: Vec<usize>,
    /// The name of the result, and the parameter.
    names: Vec<(NVar, NVar)>,
}

impl ResultSizes {
    fn renamed(&self, name: NVar) -> Option<Size> {
        self.names.iter().find(|(result, _)| *result == name).map(|(_, z)| Size::var(*z))
    }
}

/// `var = rhs`.
fn value_stmt(var: NVar, rhs: Rhs, loc: Loc) -> Stmt {
    Stmt { nl: vec![var], lin: Vec::new(), rhs, annotated: false, loc: loc.by(Origin::Unzip) }
}
