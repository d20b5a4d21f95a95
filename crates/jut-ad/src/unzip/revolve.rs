//! Checkpoints in binomial order: `@revolve(c)` and `@online(c)`.
//!
//! The loop is one segment ([`super::schedule`]), a part of its own with halves `f.part1.values` and `f.part1.again.lin`. In place of the
//! second, which runs all iterations and keeps the tape of all, comes one that divides them (Griewank and Walther, Algorithm 799):
//!
//! ```text
//! core def f.part1.revolve.lin(lo, len, a, left, t, b; a') -> (; a') = {      b = C(left + t, left) >= len
//!   case len <= 1 || left <= 0 {
//!     true -> f.part1.again.lin(lo, len, a; a')                               with the tape of one iteration
//!     false -> {
//!       k = ..                                                                where the checkpoint is
//!       a1' = f.part1.revolve.lin(lo, k, a, left, t - 1, ..; a')
//!       f.part1.ahead.lin(lo, len, a, k, left, t, ..; a1')
//!     }
//!   }
//! }
//! core def f.part1.ahead.lin(lo, len, a, k, left, t, b; a') -> (; a') = {
//!   a1 = f.part1.values(lo, k, a)                                             the checkpoint
//!   f.part1.revolve.lin(lo + k, len - k, a1, left - 1, t, b; a')
//! }
//! ```
//!
//! T turns the two calls round: so the later iterations come first, from the checkpoint, which is forgotten before the
//! earlier ones begin. (The state is that of the second function alone for that.) At most c states are kept beside the one
//! at the start, and no iteration runs more than t times before it is run with its tape, where t is the least with
//! C(c + t, c) >= n, found when it runs. What is right does not depend on this arithmetic, only what it costs.
//!
//! The first half runs the loop for its values, and counts the iterations of one that may end early. Where that was a run of its own
//! (`again` in [`super::along`]), what stands here in its place gives the start, which nobody reads: so each loop runs once before it
//! is gone through backwards.
//!
//! *Requires*: a loop that collects nothing and slices nothing. *Ensures*: the same results, bit for bit. *Cost*: constant.

use super::replay::Prepare;
use crate::Unzipped;
use jut_ir::build::FunctionBuilder;
use jut_ir::prim::Prim;
use jut_ir::*;
use std::collections::HashMap;

/// Where things stand among the parameters of the part that is a loop.
pub(super) struct Places {
    pub low: usize,
    pub len: usize,
    /// The state at the start: by the order of the carries.
    pub carry: Vec<usize>,
    /// Its tangents, among the linear parameters.
    pub lin_carry: Vec<usize>,
    /// Whether iterations go down.
    pub down: bool,
}

/// A loop with checkpoints in binomial order, for reports.
#[derive(Clone, Debug)]
pub(crate) struct Revolved {
    pub checkpoints: u32,
    pub len: usize,
    pub carry: Vec<usize>,
}

/// A function with the parameters of the linear half of the part, and integers behind them.
struct Head {
    b: FunctionBuilder,
    params: Vec<NVar>,
    extra: Vec<NVar>,
}

impl Head {
    fn new(of: &Function, extra: &[&str]) -> Head {
        let mut b = FunctionBuilder::default();
        let mut renamed = HashMap::new();
        let mut params = Vec::with_capacity(of.params.len());
        for p in &of.params {
            let VarData { name, ty, span, .. } = &of.nvars[*p];
            let new = b.nvar(name, rename(ty, &renamed), *span);
            renamed.insert(*p, new);
            params.push(new);
        }
        let extra: Vec<NVar> = extra.iter().map(|name| b.nvar(name, Type::I64, of.span)).collect();
        b.func.params = params.iter().chain(&extra).copied().collect();
        for x in &of.lin_params {
            let LinVarData { name, ty, span } = &of.lvars[*x];
            let new = b.lvar(name, rename(ty, &renamed), *span);
            b.func.lin_params.push(new);
        }
        for c in &of.cap_params {
            let CapData { name, mode, lanes, ty, span } = &of.caps[*c];
            let new = b.cap(name, *mode, *lanes, rename(ty, &renamed), *span);
            b.func.cap_params.push(new);
        }
        for decl in &of.lin_results {
            let ty = rename(&decl.ty, &renamed);
            b.func.lin_results.push(LinResultDecl { name: None, ty });
        }
        b.func.span = of.span;
        Head { b, params, extra }
    }

    fn atoms(&self) -> Vec<Atom> {
        self.params.iter().copied().map(Atom::Var).collect()
    }

    fn prim(&mut self, hint: &str, prim: Prim, args: Vec<Atom>, out: &mut Vec<Stmt>) -> Atom {
        let loc = Loc::source(self.b.func.span).by(Origin::Unzip);
        let var = sizes::prim_var(&mut self.b, hint, prim, &args, loc.span);
        let (nl, rhs) = (vec![var], Rhs::Prim(prim, args));
        out.push(Stmt { nl, lin: Vec::new(), rhs, annotated: false, loc });
        Atom::Var(var)
    }

    /// A call of a linear function with the results of this one.
    fn call(
        &mut self,
        func: FuncId,
        args: Vec<Atom>,
        lin_args: Vec<LVar>,
        out: &mut Vec<Stmt>,
    ) -> Vec<LVar> {
        let loc = Loc::source(self.b.func.span).by(Origin::Unzip);
        let types: Vec<Type> = self.b.func.lin_results.iter().map(|r| r.ty.clone()).collect();
        let lin: Vec<LVar> = types.into_iter().map(|ty| self.b.lvar("t'", ty, loc.span)).collect();
        let places = self.b.func.cap_params.iter().map(|c| Some(Place::root(*c))).collect();
        let rhs = Rhs::Call(Box::new(Call { func, args, lin_args, places }));
        out.push(Stmt { nl: Vec::new(), lin: lin.clone(), rhs, annotated: false, loc });
        lin
    }

    fn finish(mut self, name: String, stmts: Vec<Stmt>, lin: Vec<LVar>) -> Function {
        self.b.func.name = name;
        self.b.func.body = Block { stmts, nl: Vec::new(), lin };
        self.b.func
    }
}

fn rename(ty: &Type, names: &HashMap<NVar, NVar>) -> Type {
    ty.subst(&mut |v| names.get(&v).map(|new| Size::var(*new)))
}

fn int(k: i64) -> Atom {
    Atom::Lit(Literal::I64(k))
}

impl Prepare<'_> {
    /// Gives a part that is a loop, and has halves, a linear half with checkpoints. If it has run for its values before (`known`), the
    /// other half does nothing.
    pub fn revolve(&mut self, part: FuncId, places: &Places, checkpoints: u32, known: bool) {
        let key = (part, self.policy);
        let Some(halves) = self.derivatives.unzipped.get(&key).cloned() else { return };
        let program = &self.derivatives.program;
        let (values, lin) = (&program.funcs[halves.nonlin], program.funcs[halves.lin].signature());
        let values = values.signature();
        let fits = values.params.len() == lin.params.len()
            && values.results.len() == places.carry.len()
            && lin.lin_results.len() == places.lin_carry.len()
            && lin.lin_params.len() == places.lin_carry.len();
        if !fits {
            return;
        }
        let ran = super::silent::silent(self.derivatives, halves.nonlin);
        let base = lin.name.strip_suffix(".again.lin").unwrap_or(&lin.name).to_string();
        let name = |kind: &str| names::lin(&format!("{base}.{kind}"));
        let revolve = self.derivatives.reserve(&name("revolve"));
        let ahead = self.derivatives.reserve(&name("ahead"));

        let body = dividing(&lin, places, [halves.lin, revolve, ahead]);
        self.derivatives.complete(revolve, body);
        let body = going_ahead(&values, &lin, places, [ran, revolve]);
        self.derivatives.complete(ahead, body);
        let body = starting(&lin, places, revolve, checkpoints, name("checkpoints"));
        let lin = self.derivatives.add_func(body);
        let nonlin = match has_run(values, places, &base).filter(|_| known) {
            Some(start) => self.derivatives.add_func(start),
            None => halves.nonlin,
        };
        self.derivatives.unzipped.insert(key, Unzipped { nonlin, lin, ..halves });
        let (len, carry) = (places.len, places.carry.clone());
        self.derivatives.revolved.insert(part, Revolved { checkpoints, len, carry });
    }
}

/// `start`: in the place of a run for values that nobody reads, because another one has given them. It gives what the loop
/// carries at its start.
fn has_run(mut values: Function, places: &Places, base: &str) -> Option<Function> {
    let start: Vec<NVar> =
        places.carry.iter().map(|k| values.params.get(*k).copied()).collect::<Option<_>>()?;
    let same = |(result, v): (&ResultDecl, &NVar)| {
        result.name.is_none() && result.ty == values.nvars[*v].ty
    };
    let fits = values.results.iter().zip(&start).all(same);
    values.body.nl = start.into_iter().map(Atom::Var).collect();
    values.name = format!("{base}.start");
    fits.then_some(values)
}

/// Tangents that a call has given, as arguments of the next one.
fn handed_on(places: &Places, results: &[LVar]) -> Vec<LVar> {
    let mut args = results.to_vec();
    for (result, at) in results.iter().zip(&places.lin_carry) {
        args[*at] = *result;
    }
    args
}

/// The arguments for the k iterations that run first, or for those behind them.
fn range(
    head: &mut Head,
    places: &Places,
    k: Atom,
    behind: bool,
    out: &mut Vec<Stmt>,
) -> Vec<Atom> {
    let mut args = head.atoms();
    let (low, len) = (args[places.low], args[places.len]);
    let rest = head.prim("t", prim::ISUB, vec![len, k], out);
    let rest = head.prim("rest", prim::IMAX, vec![rest, int(0)], out);
    args[places.len] = if behind { rest } else { k };
    if behind != places.down {
        let step = if places.down { rest } else { k };
        let low = head.prim("t", prim::IADD, vec![low, step], out);
        args[places.low] = head.prim("lo", prim::IMAX, vec![low, int(0)], out);
    }
    args
}

/// `revolve.lin`.
fn dividing(lin: &Function, places: &Places, [again, revolve, ahead]: [FuncId; 3]) -> Function {
    let mut head = Head::new(lin, &["left", "t", "b"]);
    let [left, t, b] = [0, 1, 2].map(|k| Atom::Var(head.extra[k]));
    let len = Atom::Var(head.params[places.len]);
    let mut stmts = Vec::new();
    let short = head.prim("c", prim::ILE, vec![len, int(1)], &mut stmts);
    let none = head.prim("c", prim::ILE, vec![left, int(0)], &mut stmts);
    let whole = head.prim("c", prim::OR, vec![short, none], &mut stmts);
    let tangents = head.b.func.lin_params.clone();

    let mut at_once = Vec::new();
    let args = head.atoms();
    let lin_results = head.call(again, args, tangents.clone(), &mut at_once);
    let at_once = Block { stmts: at_once, nl: Vec::new(), lin: lin_results };

    // From b = C(left + t, left): how many iterations the parts can have, by one repetition or one checkpoint less.
    let mut out = Vec::new();
    let both = head.prim("t", prim::IADD, vec![left, t], &mut out);
    let both = head.prim("m", prim::IMAX, vec![both, int(1)], &mut out);
    let mut share = |head: &mut Head, b: Atom, factor: Atom, all: Atom, name: &str| {
        let product = head.prim("t", prim::IMUL, vec![b, factor], &mut out);
        head.prim(name, prim::IDIV, vec![product, all], &mut out)
    };
    let before = share(&mut head, b, t, both, "before");
    let behind = share(&mut head, b, left, both, "behind");
    let mut fewer = Vec::new();
    let t1 = head.prim("t", prim::ISUB, vec![t, int(1)], &mut fewer);
    let t1 = head.prim("t", prim::IMAX, vec![t1, int(0)], &mut fewer);
    let m1 = head.prim("t", prim::ISUB, vec![both, int(1)], &mut fewer);
    let m1 = head.prim("m", prim::IMAX, vec![m1, int(1)], &mut fewer);
    out.append(&mut fewer);
    let product = head.prim("t", prim::IMUL, vec![before, t1], &mut out);
    let least = head.prim("least", prim::IDIV, vec![product, m1], &mut out);
    let rest = head.prim("t", prim::ISUB, vec![len, behind], &mut out);
    let k = head.prim("t", prim::IMAX, vec![least, rest], &mut out);
    let most = head.prim("t", prim::ISUB, vec![len, int(1)], &mut out);
    let k = head.prim("t", prim::IMIN, vec![k, most], &mut out);
    let k = head.prim("k", prim::IMAX, vec![k, int(1)], &mut out);
    let mut args = range(&mut head, places, k, false, &mut out);
    args.extend([left, t1, before]);
    let first = head.call(revolve, args, tangents, &mut out);
    let mut args = head.atoms();
    args.extend([k, left, t, behind]);
    let last = head.call(ahead, args, handed_on(places, &first), &mut out);
    let divided = Block { stmts: out, nl: Vec::new(), lin: last };

    let types: Vec<Type> = head.b.func.lin_results.iter().map(|r| r.ty.clone()).collect();
    let span = lin.span;
    let results: Vec<LVar> = types.into_iter().map(|ty| head.b.lvar("t'", ty, span)).collect();
    let arms = vec![Arm::of_bool(true, at_once), Arm::of_bool(false, divided)];
    let rhs = Rhs::Case(Box::new(Case { scrutinee: whole, arms }));
    let loc = Loc::source(span).by(Origin::Unzip);
    stmts.push(Stmt { nl: Vec::new(), lin: results.clone(), rhs, annotated: false, loc });
    head.finish(String::new(), stmts, results)
}

/// `ahead.lin`.
fn going_ahead(
    values: &Function,
    lin: &Function,
    places: &Places,
    [run, revolve]: [FuncId; 2],
) -> Function {
    let mut head = Head::new(lin, &["k", "left", "t", "b"]);
    let [k, left, t, b] = [0, 1, 2, 3].map(|k| Atom::Var(head.extra[k]));
    let mut stmts = Vec::new();
    let args = range(&mut head, places, k, false, &mut stmts);
    let names: HashMap<NVar, NVar> =
        values.params.iter().copied().zip(head.params.iter().copied()).collect();
    let state = super::replay::run(&mut head.b, values, run, args, &names, &mut stmts);
    let mut args = range(&mut head, places, k, true, &mut stmts);
    for (at, value) in places.carry.iter().zip(state) {
        args[*at] = Atom::Var(value);
    }
    let left = head.prim("left", prim::ISUB, vec![left, int(1)], &mut stmts);
    args.extend([left, t, b]);
    let tangents = head.b.func.lin_params.clone();
    let results = head.call(revolve, args, tangents, &mut stmts);
    head.finish(String::new(), stmts, results)
}

/// The linear half: finds the number of repetitions.
fn starting(
    lin: &Function,
    places: &Places,
    revolve: FuncId,
    checkpoints: u32,
    name: String,
) -> Function {
    let mut head = Head::new(lin, &[]);
    let (c, span) = (int(i64::from(checkpoints)), lin.span);
    let len = Atom::Var(head.params[places.len]);
    let mut stmts = Vec::new();
    let go = head.prim("go", prim::ILT, vec![int(1), len], &mut stmts);
    let mut own = |name: &str, ty: Type| head.b.nvar(name, ty, span);
    let (index, more) = (own("i", Type::I64), own("more", Type::Bool));
    let (t, b) = (own("t", Type::I64), own("b", Type::I64));
    let bound = [own("trips", Type::I64), own("t", Type::I64), own("b", Type::I64)];
    let mut body = Vec::new();
    let t1 = head.prim("t", prim::IADD, vec![Atom::Var(t), int(1)], &mut body);
    let both = head.prim("t", prim::IADD, vec![c, t1], &mut body);
    let product = head.prim("t", prim::IMUL, vec![Atom::Var(b), both], &mut body);
    let b1 = head.prim("b", prim::IDIV, vec![product, t1], &mut body);
    let on = head.prim("go", prim::ILT, vec![b1, len], &mut body);
    let body = Block { stmts: body, nl: vec![on, t1, b1], lin: Vec::new() };
    let carry = vec![(more, go), (t, int(0)), (b, int(1))];
    let scan = Scan { carry, ..Scan::new(Dir::While, index, len, body) };
    let loc = Loc::source(span).by(Origin::Unzip);
    let rhs = Rhs::Scan(Box::new(scan));
    stmts.push(Stmt { nl: bound.to_vec(), lin: Vec::new(), rhs, annotated: false, loc });
    let mut args = head.atoms();
    args.extend([c, Atom::Var(bound[1]), Atom::Var(bound[2])]);
    let tangents = head.b.func.lin_params.clone();
    let results = head.call(revolve, args, tangents, &mut stmts);
    head.finish(name, stmts, results)
}
