//! B, batching: a function of one element becomes one of a whole batch.
//!
//! ```text
//! f : (A; A'; C) -> (B; B')      ⟶      f.vmap : (b, [b]A; [b]A'; [b]C) -> ([b]B; [b]B')
//! ```
//!
//! Element i of every result is what `f` gives for element i of every argument, bit for bit. Parameters may be held:
//! they have no dimension for the batch (`f{x}.vmap` maps `x` alone). What is linear is always mapped.
//!
//! | in `f` | in `f.vmap` |
//! |---|---|
//! | what no mapped parameter reaches | stays as it is: computed once |
//! | `dot(a, x)`, `matvec(x, a)`, `matmul(x, y)`, .. of mapped x, y | one structured primitive of the batch, if there is one with the same bits ([`jut_ir::structured::Batched`]) |
//! | a loop whose trip count is not mapped, with such a primitive in it | the same loop, which carries and stacks batches |
//! | a branch on what is not mapped, with such a primitive in it | the same branch |
//! | a call of a function with such a primitive in it | a call of `g.vmap` |
//! | everything else: scalars, other loops, branches, `while`, recursion, regions, linear code | by element: a run of such statements is one `par` loop over the batch |
//!
//! ```text
//! def f[n](w: [n]f64, x: [n]f64) -> f64 = { s = dot(w, x); y = exp(s); y }        over x:
//!
//! core def f{x}.vmap(b: i64, n: i64, w: [n]f64, x: [b, n]f64) -> [b]f64 = {
//!   s = matvec(x, w)
//!   y = scan par (k < b) (s_1 <- s) { y = exp(s_1); y }
//!   y
//! }
//! ```
//!
//! **Errors.** A loop over the batch fails with the first error of the first element that fails. So statements that can
//! fail all stay in one loop: where two of them would come to stand in different ones, what lies between goes by element. A
//! check of held sizes before everything else that can fail is made once, also for an empty batch.
//!
//! **Rules that programs state** stay: a function that has one is called, by element, and not opened.
//!
//! *Requires*: a checked definition, and a mask that leaves out what is a size of something else ([`mappable`]). *Ensures*: a checked
//! definition in the same fragment (without linear parts if `f` has none), so J, U, T and L take it; the bits and errors
//! of the loop `for (i < b) { f(x[i]) }`. (Derivatives of `f.vmap` are those of that loop within rounding: several uses of a value
//! may stand in another order, in which their cotangents are added.) *Cost*: linear in the text, times the depth of its loops. *Work*: with at least one element, no
//! more than that of `f` on every element and one for each scalar that a loop with the batch inside slices or stacks, and for each cell of an array whose first two
//! dimensions become one, or two again (to compiled code that is the same array); with none, no more than
//! that of `f`.

mod block;
mod held;
mod inside;
mod whole;

use crate::relocate::Relocator;
use crate::unzip::prove_accesses;
use crate::{Derivatives, Mask};
use block::Batcher;
use held::know_sizes;
use jut_ir::calls::{Recursion, callees_first};
use jut_ir::cover::shown::show_sizes;
use jut_ir::entity::SecondaryMap;
use jut_ir::*;

/// What is known of the functions that a batched one calls.
struct Known {
    /// Whether a call can fail.
    fallible: SecondaryMap<FuncId, bool>,
    recursion: Recursion,
}

impl Known {
    fn of(program: &Program, func: FuncId) -> Known {
        let recursion = Recursion::of(program);
        let mut known = Known { fallible: SecondaryMap::new(), recursion };
        for id in callees_first(program, [func]) {
            let fails = known.recursion.is_recursive(id)
                || program.funcs[id].is_foreign()
                || program.funcs[id].body.stmts.iter().any(|stmt| known.fails(stmt));
            known.fallible[id] = fails;
        }
        known
    }

    /// Whether a statement can fail, or prints.
    fn fails(&self, stmt: &Stmt) -> bool {
        stmt.rhs.can_fail(&|callee| self.fallible[callee])
            || stmt.rhs.blocks().into_iter().any(|b| b.stmts.iter().any(|s| self.fails(s)))
    }
}

/// The parameters of a function over which a batch can go: all but those that are sizes of others, or of results.
pub fn mappable(program: &Program, func: FuncId) -> Mask {
    let f = &program.funcs[func];
    let types = (f.params.iter().map(|v| &f.nvars[*v].ty))
        .chain(f.results.iter().map(|r| &r.ty))
        .chain(f.lin_params.iter().map(|x| &f.lvars[*x].ty))
        .chain(f.lin_results.iter().map(|r| &r.ty))
        .chain(f.cap_params.iter().map(|c| &f.caps[*c].ty));
    let sizes: Vec<NVar> = types.flat_map(Type::size_names).collect();
    let declared = f.size_params;
    Mask(f.params.iter().enumerate().map(|(k, v)| k >= declared && !sizes.contains(v)).collect())
}

/// The name of what B makes: `f.vmap`, or `f{x}.vmap` if something is held that could be mapped.
fn name(program: &Program, func: FuncId, mapped: &Mask) -> String {
    let f = &program.funcs[func];
    let name = |k: usize| f.nvars[f.params[k]].name.as_str();
    let base = match *mapped == mappable(program, func) {
        true => f.name.clone(),
        false => names::masked(&f.name, &mapped.positions().map(name).collect::<Vec<_>>()),
    };
    names::composition(&base, "vmap")
}

/// B: the function over a batch, with the dimension of the batch as a first size.
///
/// # Errors
/// `J809` if nothing is mapped, or what is the size of something else, and for results whose sizes the function computes.
pub fn batch(
    derivatives: &mut Derivatives,
    func: FuncId,
    mapped: &Mask,
) -> Result<FuncId, Diagnostic> {
    let key = (func, mapped.clone());
    if let Some(known) = derivatives.batched.get(&key) {
        return Ok(*known);
    }
    refuse(&derivatives.program, func, mapped)?;
    let known = Known::of(&derivatives.program, func);
    // What is more than one loop over the batch, unless some size is only known to be one where an element is checked.
    let made = [true, false].into_iter().find_map(|apart| {
        let (made, _) = make(derivatives, &known, func, mapped, apart);
        made
    });
    let Some(made) = made else {
        return Err(sizes_computed(&derivatives.program.funcs[func]));
    };
    let made = derivatives.add_func(made);
    derivatives.batched.insert(key, made);
    Ok(made)
}

/// The same for a function that is called, if it has something in it that is better done for the whole batch.
fn batch_of_called(
    derivatives: &mut Derivatives,
    known: &Known,
    func: FuncId,
    mapped: &Mask,
) -> Option<FuncId> {
    let key = (func, mapped.clone());
    if let Some(found) = derivatives.batched.get(&key) {
        return Some(*found);
    }
    let f = &derivatives.program.funcs[func];
    let plain = f.is_nonlinear() && f.cap_params.is_empty() && f.rule.is_none();
    if !plain
        || known.fallible[func]
        || known.recursion.is_recursive(func)
        || derivatives.by_element.contains(&key)
        || refuse(&derivatives.program, func, mapped).is_err()
    {
        return None;
    }
    let (Some(made), true) = make(derivatives, known, func, mapped, true) else {
        derivatives.by_element.insert(key);
        return None;
    };
    let made = derivatives.add_func(made);
    derivatives.batched.insert(key, made);
    Some(made)
}

/// Refuses what has no batch.
fn refuse(program: &Program, func: FuncId, mapped: &Mask) -> Result<(), Diagnostic> {
    let f = &program.funcs[func];
    let possible = mappable(program, func);
    let name = |k: usize| format!("`{}`", f.nvars[f.params[k]].name);
    let list: Vec<String> = possible.positions().map(name).collect();
    let help = match list.is_empty() {
        false => format!("map {}", list.join(", ")),
        true => format!("make a parameter of what differs: `def {}(x: f64) -> ..`", f.name),
    };
    if let Some(k) = mapped.positions().find(|k| !possible.is_active(*k)) {
        let message = format!(
            "{} of `{}` is the same for all elements: it is a size of something",
            name(k),
            f.name
        );
        return Err(Diagnostic::error("J809", f.span, message).help(help));
    }
    if mapped.is_empty() && f.lin_params.is_empty() && f.cap_params.is_empty() {
        let message = format!("`{}` is mapped over nothing", f.name);
        return Err(Diagnostic::error("J809", f.span, message).help(help));
    }
    let named: Vec<NVar> = f.results.iter().filter_map(|r| r.name).collect();
    let types = f.results.iter().map(|r| &r.ty).chain(f.lin_results.iter().map(|r| &r.ty));
    match types.flat_map(Type::size_names).any(|size| named.contains(&size)) {
        true => Err(sizes_computed(f)),
        false => Ok(()),
    }
}

fn sizes_computed(f: &Function) -> Diagnostic {
    let message = format!(
        "the results of a batch of `{}` would have no type: their sizes are computed for each element",
        f.name
    );
    Diagnostic::error("J809", f.span, message)
        .help("the elements of a batch have one size: make it a parameter, or write a loop over the elements")
}

/// The function over a batch, and whether anything in it is done for the batch as a whole; none if what is stacked has a size
/// that is not known not to be negative.
fn make(
    derivatives: &mut Derivatives,
    known: &Known,
    id: FuncId,
    mapped: &Mask,
    apart: bool,
) -> (Option<Function>, bool) {
    let name = name(&derivatives.program, id, mapped);
    let f = &derivatives.program.funcs[id];
    let doc = format!("`{}` of every element of a batch.", f.name);
    let called = f.rule.is_some() || f.is_foreign();
    let loc = Loc::made(f.span, Origin::Derived);
    let mut batcher = Batcher::new(derivatives, known, id, loc, apart);
    let body = match called {
        true => batcher.call_of(id),
        false => std::mem::take(&mut batcher.b.func.body),
    };
    batcher.signature(mapped);
    let body = batcher.block(body, &|_| true);
    let gains = batcher.gains > 0;
    let mut func = batcher.b.func;
    func.body = body;
    let foreign = |func| derivatives.program.funcs[func].is_foreign();
    if !know_sizes(&mut func, loc, &foreign) {
        return (None, gains);
    }
    let body = std::mem::take(&mut func.body);
    let mut made = Relocator::whole(&func, body);
    prove_accesses(&mut made);
    show_sizes(&mut made, None, &foreign);
    (Some(Function { name, doc, span: loc.span, derived: true, ..made }), gains)
}
