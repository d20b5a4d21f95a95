//! L, linearity erasure (section 4.5 of the paper): the same program with everything non-linear.
//!
//! Linear types order what may be done with tangents; they never change what is computed. L forgets
//! them, so that a derivative can be differentiated again and the back end sees one kind of code.
//!
//! | linear | erased |
//! |---|---|
//! | `a' + b'`, `-a'`, `c * a'` of floats | the primitives `+`, `-`, `*` |
//! | the same of arrays and tuples | calls of functions generated once per type (`add.a_f64`), so code size stays linear |
//! | `zero t` | `0.0`, or `acc z: t { }`, which starts from zero |
//! | `select(b, a', b')` | the primitive, or a `case` |
//! | `(; a', b') = dup x'`, `y' = x'` | other names for x; no code |
//! | `drop x'` | nothing |
//! | `y' = x' with [i] = v'`; `(; y', v') = take x'[i]` | `y = x with [i] = v`; `v = x[i]; y = x with [i] = 0.0` |
//! | `rd r = x' { .. }` | the statements of the body; `rd r[i]` becomes `x[i]`, a view |
//! | `wr r: t { .. }`, `wr` parameters | `acc r: t { .. }`, `acc` parameters |
//! | `scan` with linear carries and slices | one list of carries, one of slices |
//! | `f(v; x'; dx)` | `f.erased(v, x, dx)` |
//!
//! ```text
//! f.lin(tape: f.tape; u': f64) -> (; f64)       = { f.tape(c) = tape; v' = c * u'; t' = -v'; (; t') }
//! f.lin.erased(tape: f.tape, u_t: f64) -> f64   = { f.tape(c) = tape; v_t = c * u_t; t_t = -v_t; t_t }
//! ```
//!
//! A signature `(A; A'; rd C°, wr W°) -> (B; B')` becomes `(A, A', C°; ; acc W°) -> (B, B')`. The name
//! `x'` becomes `x_t`, `x''` becomes `x_c`.
//!
//! *Requires*: a checked definition of the language, linear or not. *Ensures*: a checked, purely
//! non-linear definition of the same meaning, in the domain of J; accesses stay covered; the work
//! grows by no more than the scalars that `rd` reads and `dup`ed or selected arrays that are
//! returned. A definition that is non-linear through and through is its own erasure. *Cost*:
//! linear in the program.

mod operations;
mod scan;
mod tangents;
mod totals;

use crate::Derivatives;
use crate::relocate::{Relocator, Substitution};
use jut_ir::build::Namer;
use jut_ir::calls::{components, for_each_call};
use jut_ir::cover::Facts;
use jut_ir::cover::shown::show_sizes;
use jut_ir::entity::SecondaryMap;
use jut_ir::*;
use operations::Operation;
use scan::interleave;
use std::collections::HashMap;
pub(crate) use tangents::has_data;

/// L: the erasure of a function; the function itself if nothing in it is linear.
///
/// # Errors
/// `J901` for a form that is not linear code of this version.
pub fn erase(derivatives: &mut Derivatives, func: FuncId) -> Result<FuncId, Diagnostic> {
    let known = |f: FuncId| derivatives.erased.contains_key(&f);
    for component in components(&derivatives.program, (!known(func)).then_some(func), &known) {
        let members = component.members;
        // Functions that call each other are pure together, or have erasures that do.
        derivatives.erased.extend(members.iter().map(|f| (*f, *f)));
        if members.iter().all(|f| is_erased(derivatives, *f)) {
            continue;
        }
        if component.is_recursive {
            for f in &members {
                let name = names::erased(&derivatives.program.funcs[*f].name);
                let made = derivatives.reserve(&name);
                derivatives.erased.insert(*f, made);
                derivatives.erased.insert(made, made);
            }
        }
        for f in &members {
            let mut made = erase_one(derivatives, *f).inspect_err(|_| {
                derivatives.erased.retain(|f, _| !members.contains(f));
            })?;
            show_sizes(&mut made, None, &|func| derivatives.program.funcs[func].is_foreign());
            let made = match component.is_recursive {
                true => derivatives.fill(derivatives.erased[f], made),
                false => derivatives.add_func(made),
            };
            derivatives.erased.insert(*f, made);
            derivatives.erased.insert(made, made);
            if derivatives.by_cotangents.contains(f) {
                without_tape(derivatives, made);
            }
        }
        if component.is_recursive {
            // They stand together, behind the operations that any of them needs.
            let made = members.iter().map(|f| Decl::Func(derivatives.erased[f]));
            derivatives.program.order.extend(made);
        }
    }
    Ok(derivatives.erased.get(&func).copied().unwrap_or(func))
}

/// Moves what a forward derivative by a rule in cotangents calls into it: the tape between the two calls is no value
/// any more, whose tangent the next J would need.
fn without_tape(derivatives: &mut Derivatives, made: FuncId) {
    // Bodies that are gone cannot be moved; then no other J follows.
    if derivatives.once {
        return;
    }
    let mut optimised = jut_opt::optimise(&derivatives.program, made, false);
    let func = std::mem::take(&mut optimised.funcs[made]);
    let mut complete = true;
    for_each_call(&func.body, &mut |call| {
        // Of those that are left these alone are what they were.
        let callee = &derivatives.program.funcs[call.func];
        complete &= callee.rule.is_some() || callee.is_foreign();
    });
    if complete {
        derivatives.program.funcs[made] = func;
    }
}

/// Whether there is nothing linear in a function and what it calls. The callees have been erased.
fn is_erased(derivatives: &Derivatives, func: FuncId) -> bool {
    let f = &derivatives.program.funcs[func];
    let mut pure = f.lvars.is_empty() && f.caps.values().all(|c| c.mode == Mode::Acc);
    for_each_call(&f.body, &mut |call| {
        pure &= derivatives.erased.get(&call.func) == Some(&call.func);
    });
    pure
}

fn erase_one(derivatives: &mut Derivatives, id: FuncId) -> Result<Function, Diagnostic> {
    let mut func = derivatives.take(id)?;
    let body = std::mem::take(&mut func.body);
    let namer = Namer::of(&func);
    let mut eraser = Eraser {
        derivatives,
        func,
        namer,
        subst: Substitution::default(),
        values: SecondaryMap::new(),
        places: SecondaryMap::new(),
        totals: SecondaryMap::new(),
        parts: SecondaryMap::new(),
        facts: Facts::default(),
        named: HashMap::new(),
        named_log: Vec::new(),
        named_scopes: Vec::new(),
    };
    let (params, caps, sums) = eraser.signature();
    let mut out = Vec::new();
    let mut results = eraser.block(body, &mut out)?;
    results.extend(eraser.values_of(&sums));
    let results = Block { stmts: out, nl: results, lin: Vec::new() };

    let Eraser { func, namer, subst, .. } = eraser;
    let mut new = Relocator::new(&func, &subst, &namer, names::erased(&func.name));
    new.params(&params, &[], &caps);
    new.to.size_params = func.size_params;
    new.body(results);
    for result in &func.results {
        let ty = new.ty(&result.ty);
        let name = result.name.map(|v| new.result_name(v));
        new.to.results.push(ResultDecl { name, ty });
    }
    let sums = sums.iter().map(|cap| &func.caps[*cap].ty);
    for ty in func.lin_results.iter().map(|result| &result.ty).chain(sums) {
        let ty = new.ty(ty);
        new.to.results.push(ResultDecl { name: None, ty });
    }
    Ok(new.to)
}

/// L at work on one function.
struct Eraser<'a> {
    derivatives: &'a mut Derivatives,
    /// The function; variables for tangents are added to its table of non-linear variables.
    func: Function,
    namer: Namer,
    /// What the results of erased regions stand for.
    subst: Substitution,
    /// The non-linear value of each linear name.
    values: SecondaryMap<LVar, Option<Atom>>,
    /// The value, and the path into it, behind each `rd` capability.
    places: SecondaryMap<Cap, Option<(NVar, Vec<Step>)>>,
    /// The values of sums that are values now, and the places in these of which a loop has made capabilities.
    totals: SecondaryMap<Cap, Option<NVar>>,
    parts: SecondaryMap<Cap, Option<Place>>,
    /// What is known of sizes.
    facts: Facts,
    /// Names in scope whose value is a size that is no single name, and the order in which they came.
    named: HashMap<Size, NVar>,
    named_log: Vec<Size>,
    named_scopes: Vec<usize>,
}

impl Eraser<'_> {
    /// Parameters and references of the erased function.
    fn signature(&mut self) -> (Vec<NVar>, Vec<Cap>, Vec<Cap>) {
        let mut params = self.func.params.clone();
        for x in self.func.lin_params.clone() {
            params.push(self.variable(x));
        }
        let (mut caps, mut sums) = (Vec::new(), Vec::new());
        for cap in self.func.cap_params.clone() {
            let CapData { name, mode, ty, span, .. } = self.func.caps[cap].clone();
            if self.is_sum(cap) {
                sums.push(cap);
            } else if mode == Mode::Rd {
                let v = self.func.nvars.push(VarData { name, ty, def: None, span });
                self.places[cap] = Some((v, Vec::new()));
                params.push(v);
            } else {
                self.func.caps[cap].mode = Mode::Acc;
                caps.push(cap);
            }
        }
        let totals = self.sum_variables(&sums);
        self.sums_are(&sums, &totals);
        params.extend(totals);
        params.iter().for_each(|v| self.learn(*v));
        (params, caps, sums)
    }

    /// The non-linear variable for a linear one.
    fn variable(&mut self, x: LVar) -> NVar {
        let LinVarData { name, ty, span } = self.func.lvars[x].clone();
        let stem = name.trim_end_matches('\'');
        let suffix = match name.len() - stem.len() {
            1 => "_t".to_string(),
            2 => "_c".to_string(),
            primes => format!("_t{primes}"),
        };
        let name = self.namer.fresh(&format!("{stem}{suffix}"));
        let v = self.func.nvars.push(VarData { name, ty, def: None, span });
        self.values[x] = Some(Atom::Var(v));
        v
    }

    fn variables(&mut self, names: &[LVar]) -> Vec<NVar> {
        names.iter().map(|x| self.variable(*x)).collect()
    }

    /// The value of a linear name.
    fn value(&self, x: LVar) -> Result<Atom, Diagnostic> {
        self.values[x].ok_or_else(|| {
            let data = &self.func.lvars[x];
            Diagnostic::error("J103", data.span, format!("`{}` is not available", data.name))
                .help(format!("use `{}` once, in the block that binds it", data.name))
        })
    }

    fn all(&self, names: &[LVar]) -> Result<Vec<Atom>, Diagnostic> {
        names.iter().map(|x| self.value(*x)).collect()
    }

    /// The value of a linear name that is not a float, hence never a literal.
    fn compound(&self, x: LVar) -> Result<NVar, Diagnostic> {
        self.value(x)?.var().ok_or_else(|| unsupported(self.func.lvars[x].span))
    }

    /// Takes in what the type and definition of a variable say about sizes.
    fn learn(&mut self, v: NVar) {
        let ty = self.subst.ty(&self.func, &self.func.nvars[v].ty);
        self.facts.add_type(&ty);
    }

    fn size_of(&self, atom: Atom) -> Size {
        self.subst.size(&self.func, &self.func.size_of(atom))
    }

    /// Opens a scope.
    fn enter(&mut self) {
        self.facts.enter();
        self.named_scopes.push(self.named_log.len());
    }

    fn leave(&mut self) {
        self.facts.leave();
        let start = self.named_scopes.pop().unwrap_or_default();
        for size in self.named_log.drain(start..) {
            self.named.remove(&size);
        }
    }

    /// A variable is the value of a size.
    fn name_size(&mut self, size: Size, v: NVar) {
        let simple = size.as_constant().is_some() || size.as_var().is_some();
        if !simple && !self.named.contains_key(&size) {
            self.named_log.push(size.clone());
            self.named.insert(size, v);
        }
    }

    /// The value of a size: a literal, a name that has it, or computed here.
    fn size_atom(&mut self, size: &Size, loc: Loc, out: &mut Vec<Stmt>) -> Atom {
        let size = self.subst.size(&self.func, size);
        match (size.as_constant(), size.as_var(), self.named.get(&size)) {
            (Some(n), _, _) => Atom::Lit(Literal::I64(n)),
            (_, Some(v), _) | (_, _, Some(&v)) => Atom::Var(v),
            _ => {
                let n = jut_ir::sizes::compute(&mut self.func, &mut self.namer, &size, loc, out);
                self.name_size(size, n);
                Atom::Var(n)
            }
        }
    }

    /// A check that a size is not negative, where nothing shows it: what is linear needs no proof of that, what is not
    /// linear does.
    fn show_size(&mut self, size: Size, loc: Loc, out: &mut Vec<Stmt>) {
        if !self.facts.is_plainly_non_negative(&size) {
            let rhs = Rhs::Check(Check::NonNegative(self.size_atom(&size, loc, out)));
            out.push(Stmt { nl: Vec::new(), lin: Vec::new(), rhs, annotated: false, loc });
            self.facts.add_non_negative(size);
        }
    }

    /// The same for all sizes of a type.
    fn show_sizes(&mut self, ty: &Type, loc: Loc, out: &mut Vec<Stmt>) {
        let mut sizes = Vec::new();
        self.subst.ty(&self.func, ty).for_each_size(&mut |size| sizes.push(size.clone()));
        for size in sizes {
            self.show_size(size, loc, out);
        }
    }

    /// The statements of a block, in a scope of their own.
    fn nested(&mut self, block: Block) -> Result<Block, Diagnostic> {
        let mut stmts = Vec::new();
        self.enter();
        let nl = self.block(block, &mut stmts);
        self.leave();
        Ok(Block { stmts, nl: nl?, lin: Vec::new() })
    }

    /// Appends the statements of a block; gives its results, non-linear then linear.
    fn block(&mut self, block: Block, out: &mut Vec<Stmt>) -> Result<Vec<Atom>, Diagnostic> {
        out.reserve(block.stmts.len());
        for stmt in block.stmts {
            self.stmt(stmt, out)?;
        }
        let mut results = block.nl;
        results.extend(self.all(&block.lin)?);
        Ok(results)
    }

    fn stmt(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) -> Result<(), Diagnostic> {
        let Stmt { nl, lin, rhs, annotated, loc } = stmt;
        let linear = !lin.is_empty() || matches!(&rhs, Rhs::Region(region) if region.is_linear());
        let loc = if linear { loc.by(Origin::Erase) } else { loc };
        // Operations with one linear result that stays an operation.
        let result = lin.first().copied();
        let push = |nl: Vec<NVar>, rhs: Rhs, out: &mut Vec<Stmt>| {
            out.push(Stmt { nl, lin: Vec::new(), rhs, annotated, loc });
        };
        let (nl, rhs) = match rhs {
            Rhs::LCopy(x) => return self.alias(&lin, self.value(x)?),
            Rhs::Dup(x) => return self.alias(&lin, self.value(x)?),
            Rhs::Drop(_) => return Ok(()),
            Rhs::LZero(Type::Float(width)) => {
                return self.alias(&lin, Atom::Lit(width.number(0.0)));
            }
            Rhs::LZero(ty) if has_data(&ty) => {
                let zero = self.zero(&ty, loc, out);
                return self.alias(&lin, Atom::Var(zero));
            }
            Rhs::LZero(ty) => {
                self.show_sizes(&ty, loc, out);
                let name = self.namer.fresh("r");
                let data = CapData { name, mode: Mode::Acc, lanes: false, ty, span: loc.span };
                let cap = self.func.caps.push(data);
                (self.variables(&lin), Region::sum(Mode::Acc, cap, Block::default()))
            }
            Rhs::LAdd(x, y) => {
                let args = vec![self.value(x)?, self.value(y)?];
                (self.variables(&lin), self.operate(Operation::Add, x, args, loc, out))
            }
            Rhs::LNeg(x) => {
                let args = vec![self.value(x)?];
                (self.variables(&lin), self.operate(Operation::Neg, x, args, loc, out))
            }
            Rhs::LScale(c, x) => {
                let args = vec![c, self.value(x)?];
                (self.variables(&lin), self.operate(Operation::Scale, x, args, loc, out))
            }
            Rhs::LApply { op, operand, args, sizes, x } => {
                let mut dims = Vec::new();
                for x in &lin {
                    let ty = &self.func.lvars[*x].ty;
                    ty.for_each_size(&mut |size| dims.push(self.subst.size(&self.func, size)));
                }
                let open = op.open_results().filter_map(|k| dims.get(k).cloned());
                for size in sizes.iter().cloned().chain(open) {
                    self.show_size(size, loc, out);
                }
                let args = op.with_linear(operand, self.value(x)?, args);
                if let Some(prim) = op.primitive() {
                    push(self.variables(&lin), Rhs::Prim(prim, args), out);
                    return Ok(());
                }
                (self.variables(&lin), Rhs::Structured(op, args, sizes))
            }
            Rhs::LSelect(b, x, y) => {
                let (x1, y1) = (self.value(x)?, self.value(y)?);
                let rhs = if self.func.lvars[x].ty == Type::F64 {
                    Rhs::Prim(prim::SELECT, vec![b, x1, y1])
                } else {
                    let arm = |truth: bool, value: Atom| {
                        Arm::of_bool(truth, Block { nl: vec![value], ..Block::default() })
                    };
                    let arms = vec![arm(true, x1), arm(false, y1)];
                    Rhs::Case(Box::new(Case { scrutinee: b, arms }))
                };
                (self.variables(&lin), rhs)
            }
            Rhs::LTuple(items) => {
                let items = self.all(&items)?;
                (self.variables(&lin), Rhs::Tuple(items))
            }
            Rhs::LUntuple(x) => {
                let x = self.compound(x)?;
                (self.variables(&lin), Rhs::Untuple(x))
            }
            Rhs::LCon { con, sizes, fields } => {
                let fields = self.all(&fields)?;
                let (mut sizes, mut fields) = (sizes.into_iter(), fields.into_iter());
                let declared = &self.derivatives.program.constructor(con).fields;
                let args = declared.iter().filter_map(|field| match field.ty {
                    Type::I64 => sizes.next(),
                    _ => fields.next(),
                });
                let args = args.collect();
                (self.variables(&lin), Rhs::Con(con, args))
            }
            Rhs::LOpen { con, sizes, value } => {
                let value = self.compound(value)?;
                let case = self.open(con, &sizes, value, &lin, loc);
                (self.variables(&lin), case)
            }
            Rhs::LCast { value, ty, proved } => match self.value(value)? {
                Atom::Var(value) => (self.variables(&lin), Rhs::Cast { value, ty, proved }),
                literal => return self.alias(&lin, literal),
            },
            Rhs::LUpdate { x, path, value } => {
                let (array, value) = (self.compound(x)?, self.value(value)?);
                (self.variables(&lin), Rhs::Update { array, path, value })
            }
            Rhs::LTake { x, path } => {
                let [rest, part] = lin[..] else { return Err(unsupported(loc.span)) };
                let ty = self.func.lvars[part].ty.clone();
                let array = self.compound(x)?;
                let is_float = ty.is_float();
                let old = self.read(array, &path, &ty, loc, out);
                // A view would hold on to the cells that are about to change.
                self.values[part] = Some(Atom::Var(old));
                let value = if is_float {
                    Atom::Lit(ty.number(0.0))
                } else if has_data(&ty) {
                    let copy = self.copied(old, &ty, loc, out);
                    self.values[part] = Some(Atom::Var(copy));
                    Atom::Var(self.zero(&ty, loc, out))
                } else {
                    let copy = self.total(ty.clone(), Some(old), loc, out);
                    self.values[part] = Some(Atom::Var(copy));
                    Atom::Var(self.total(ty, None, loc, out))
                };
                (self.variables(&[rest]), Rhs::Update { array, path, value })
            }
            Rhs::Rd(place) => {
                let (base, path) = self.resolve(&place)?;
                let Some(result) = result else { return Ok(()) };
                let ty = self.func.lvars[result].ty.clone();
                let value = self.read(base, &path, &ty, loc, out);
                return self.alias(&lin, Atom::Var(value));
            }
            Rhs::Inc(place, Operand::L(x)) => {
                let x = self.value(x)?;
                if self.add_to_sum(&place, x, loc, out) {
                    return Ok(());
                }
                (nl, Rhs::Inc(place, Operand::N(x)))
            }
            Rhs::Region(region) if region.mode == Mode::Rd => {
                let Some(Operand::L(init)) = region.start else {
                    return Err(crate::internal(loc.span, "a region reads nothing"));
                };
                let read = match self.value(init)? {
                    Atom::Var(v) => v,
                    // A float that is zero: a name for it, so that it can be read.
                    literal => {
                        let v = self.variable(init);
                        push(vec![v], Rhs::Atom(literal), out);
                        v
                    }
                };
                self.places[region.cap] = Some((read, Vec::new()));
                let mut results = self.block(region.body, out)?;
                // What is lent is as it was.
                results.extend(region.end.then_some(Atom::Var(read)));
                let (values, tangents) = results.split_at(nl.len().min(results.len()));
                for (v, a) in nl.iter().zip(values) {
                    self.subst.values[*v] = Some(*a);
                }
                for (x, a) in lin.iter().zip(tangents) {
                    self.values[*x] = Some(*a);
                }
                return Ok(());
            }
            Rhs::Region(region) if self.is_sum(region.cap) => {
                let start = match region.start {
                    Some(Operand::L(x)) => self.compound(x)?,
                    _ => {
                        let ty = self.func.caps[region.cap].ty.clone();
                        self.zero(&ty, loc, out)
                    }
                };
                self.totals[region.cap] = Some(start);
                let mut results = self.block(region.body, out)?;
                results.extend(self.totals[region.cap].take().map(Atom::Var));
                let (values, tangents) = results.split_at(nl.len().min(results.len()));
                for (v, a) in nl.iter().zip(values) {
                    self.subst.values[*v] = Some(*a);
                }
                for (x, a) in lin.iter().zip(tangents) {
                    self.values[*x] = Some(*a);
                }
                return Ok(());
            }
            Rhs::Region(mut region) => {
                if let Some(Operand::L(x)) = region.start {
                    region.start = Some(Operand::N(self.value(x)?));
                }
                self.func.caps[region.cap].mode = Mode::Acc;
                if region.start.is_none() {
                    let ty = self.func.caps[region.cap].ty.clone();
                    self.show_sizes(&ty, loc, out);
                }
                let sums = self.sums_in(std::iter::once(&region.body));
                region.body = self.nested(region.body)?;
                region.body.nl.extend(self.values_of(&sums));
                let (mut nl, mut tangents) = (nl, self.variables(&lin));
                let own = if region.is_linear() { &mut tangents } else { &mut nl };
                let total = if region.end { own.pop() } else { None };
                let results = self.sum_variables(&sums);
                self.sums_are(&sums, &results);
                nl.extend(tangents);
                nl.extend(results);
                nl.extend(total);
                region.mode = Mode::Acc;
                (nl, Rhs::Region(region))
            }
            Rhs::Scan(scan) => {
                let carries = scan.carry.len();
                let mut lin_carries = scan.lin_carry.len();
                let mut tangents = self.variables(&lin);
                let sums = self.sums_in(std::iter::once(&scan.body));
                let scan = self.scan(*scan, &tangents, &sums, loc, out)?;
                let results = self.sum_variables(&sums);
                self.sums_are(&sums, &results);
                tangents.splice(lin_carries..lin_carries, results);
                lin_carries += sums.len();
                let nl = interleave(&nl, carries, &tangents, lin_carries);
                (nl, Rhs::Scan(Box::new(scan)))
            }
            Rhs::Case(case) => {
                let mut arms = Vec::new();
                let sums = self.sums_in(case.arms.iter().map(|arm| &arm.body));
                let before: Vec<NVar> = sums.iter().filter_map(|cap| self.totals[*cap]).collect();
                for arm in case.arms {
                    self.enter();
                    for field in &arm.fields {
                        if let FieldPattern::Bind(v) = field {
                            self.learn(*v);
                        }
                    }
                    let body = self.nested(arm.body);
                    self.leave();
                    let mut body = body?;
                    body.nl.extend(self.values_of(&sums));
                    self.sums_are(&sums, &before);
                    arms.push(Arm { body, ..arm });
                }
                let mut nl = nl;
                nl.extend(self.variables(&lin));
                let results = self.sum_variables(&sums);
                self.sums_are(&sums, &results);
                nl.extend(results);
                (nl, Rhs::Case(Box::new(Case { scrutinee: case.scrutinee, arms })))
            }
            Rhs::Call(call) => {
                let (rhs, lent) = self.call(*call, loc, out)?;
                let mut nl = nl;
                nl.extend(self.variables(&lin));
                let parts: Vec<NVar> =
                    lent.iter().map(|(ty, _)| self.named_var("part", ty.clone(), loc)).collect();
                nl.extend(&parts);
                nl.iter().for_each(|v| self.learn(*v));
                push(nl, rhs, out);
                for ((_, lent), part) in lent.into_iter().zip(parts) {
                    if let Some(lent) = lent {
                        self.given_back(lent, part, loc, out);
                    }
                }
                return Ok(());
            }
            rhs => {
                self.learn_stmt(&nl, &rhs);
                (nl, rhs)
            }
        };
        nl.iter().for_each(|v| self.learn(*v));
        push(nl, rhs, out);
        Ok(())
    }

    /// Facts that a non-linear statement establishes.
    fn learn_stmt(&mut self, nl: &[NVar], rhs: &Rhs) {
        if let [v] = nl
            && self.func.nvars[*v].def.is_some()
        {
            let size = self.size_of(Atom::Var(*v));
            self.name_size(size, *v);
        }
        if let Some(trips) = rhs.trips(nl) {
            self.facts.add_non_negative(Size::var(trips));
        }
        match (rhs, nl) {
            (Rhs::Check(Check::NonNegative(n)), _) => {
                let n = self.size_of(*n);
                self.facts.add_non_negative(n);
            }
            (Rhs::Check(Check::Exact(p, a, b)), _) => {
                let (a, b) = (self.size_of(*a), self.size_of(*b));
                self.facts.add_exact(*p, &a, &b);
            }
            (Rhs::Prim(prim::IMAX, args), [y]) => {
                let of = match args.as_slice() {
                    [a, Atom::Lit(Literal::I64(0))] | [Atom::Lit(Literal::I64(0)), a] => *a,
                    _ => return,
                };
                let of = self.size_of(of);
                self.facts.add_max_zero(*y, of);
            }
            _ => {}
        }
    }

    /// Linear names that stand for a value that exists already.
    fn alias(&mut self, lin: &[LVar], value: Atom) -> Result<(), Diagnostic> {
        for x in lin {
            self.values[*x] = Some(value);
        }
        Ok(())
    }

    /// An operation at the type of `x`: a primitive, or a call of the function for that type.
    fn operate(
        &mut self,
        operation: Operation,
        x: LVar,
        args: Vec<Atom>,
        loc: Loc,
        out: &mut Vec<Stmt>,
    ) -> Rhs {
        let ty = self.func.lvars[x].ty.clone();
        if ty == Type::F64 {
            return Rhs::Prim(operation.primitive(), args);
        }
        let func = operations::function(self.derivatives, operation, &ty);
        let mut all = Vec::new();
        ty.for_each_size(&mut |size| {
            all.push(self.size_atom(size, loc, out));
        });
        all.extend(args);
        Rhs::Call(Box::new(Call { func, args: all, lin_args: Vec::new(), places: Vec::new() }))
    }

    /// `v = acc r: t { }`, zero, or `v = acc r: t = x { }`, a copy.
    fn total(&mut self, ty: Type, start: Option<NVar>, loc: Loc, out: &mut Vec<Stmt>) -> NVar {
        if start.is_none() {
            self.show_sizes(&ty, loc, out);
        }
        let name = self.namer.fresh("r");
        let data = CapData { name, mode: Mode::Acc, lanes: false, ty, span: loc.span };
        let var = VarData {
            name: self.namer.fresh("part"),
            ty: data.ty.clone(),
            def: None,
            span: loc.span,
        };
        let (cap, v) = (self.func.caps.push(data), self.func.nvars.push(var));
        let region = Region {
            mode: Mode::Acc,
            cap,
            start: start.map(|v| Operand::N(Atom::Var(v))),
            end: true,
            body: Block::default(),
        };
        let rhs = Rhs::Region(Box::new(region));
        out.push(Stmt { nl: vec![v], lin: Vec::new(), rhs, annotated: false, loc });
        v
    }

    /// The value and path behind a place of mode `rd`.
    fn resolve(&self, place: &Place) -> Result<(NVar, Vec<Step>), Diagnostic> {
        let base = self.places[place.root].clone();
        let (v, mut path) = base.ok_or_else(|| unsupported(self.func.caps[place.root].span))?;
        path.extend(&place.path);
        Ok((v, path))
    }

    /// The value at a path: statements that index and project.
    fn read(
        &mut self,
        base: NVar,
        path: &[Step],
        ty: &Type,
        loc: Loc,
        out: &mut Vec<Stmt>,
    ) -> NVar {
        let mut value = base;
        let mut rest = path;
        while let Some(step) = rest.first() {
            let current = self.func.nvars[value].ty.clone();
            let (rhs, taken) = match step {
                Step::Field(k) => (Rhs::Proj(value, *k), 1),
                _ => {
                    let run = rest.iter().take_while(|s| !matches!(s, Step::Field(_))).count();
                    (Rhs::Index(value, rest[..run].to_vec()), run)
                }
            };
            let next = if taken == rest.len() {
                ty.clone()
            } else {
                type_at(&self.func, &current, &rest[..taken])
            };
            let hint = self.func.nvars[base].name.clone();
            let name = self.namer.fresh(&hint);
            let v = self.func.nvars.push(VarData { name, ty: next, def: None, span: loc.span });
            out.push(Stmt { nl: vec![v], lin: Vec::new(), rhs, annotated: false, loc });
            (value, rest) = (v, &rest[taken..]);
        }
        value
    }
}

/// The type at the end of a path.
fn type_at(func: &Function, ty: &Type, path: &[Step]) -> Type {
    path.iter().fold(ty.clone(), |ty, step| match (step, ty) {
        (Step::Index { .. }, Type::Array(_, element)) => *element,
        (Step::Slice { len, .. }, Type::Array(_, element)) => {
            Type::Array(func.size_of(*len), element)
        }
        (Step::Field(k), Type::Tuple(mut items)) if (*k as usize) < items.len() => {
            items.swap_remove(*k as usize)
        }
        (_, ty) => ty,
    })
}

fn unsupported(span: Span) -> Diagnostic {
    Diagnostic::error("J901", span, "not built yet: this form of linear code")
        .help("write it with `rd`, `wr` and `scan`, as `jut show --stage lin` prints linear code")
}
