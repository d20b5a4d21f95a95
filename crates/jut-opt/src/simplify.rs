//! Scalar clean-up in one forward walk: copies, constants, algebra, known sizes, tuples, records and array
//! literals, known branches, checks that hold, common subexpressions.
//!
//! Every rule keeps the bits of every result, NaN and signed zeros included; so no `x * 0 = 0` and
//! no reassociation. For example
//!
//! ```text
//! tape = f.tape(c); f.tape(d) = tape; a = 1.0 * d; b = -a; e = cos(u); g = cos(u)
//! ```
//! becomes `b = -c; e = cos(u)` with g replaced by e (what is left unused goes in [`crate::dead`]).
//!
//! Requires: a purely non-linear function. Ensures: same results, same errors, no more work.
//! Cost: linear; one list with a hash table, so that nested blocks see what is known outside.

mod arms;
mod elements;

use crate::rewrite::{self, Rewriter};
use arms::{Entered, Read};
use jut_ir::build::Namer;
use jut_ir::entity::{NVar, SecondaryMap};
use jut_ir::hash::{HashMap, HashSet};
use jut_ir::in_place::InPlace;
use jut_ir::ir::*;
use jut_ir::prim::{self, Prim};
use jut_ir::size::Size;
use jut_ir::span::Loc;
use jut_ir::structured::Structured;
use jut_ir::types::Type;
use std::collections::hash_map::Entry;
use std::hash::BuildHasher;
use std::rc::Rc;

/// Largest literal exponent that is written out as multiplications.
const MAX_POWER: u64 = 32;

/// Simplifies a function in place. `final_order` says that no derivative will be taken of the
/// result, so that `stop(x)` is just x.
pub fn simplify(func: &mut Function, final_order: bool) {
    let body = std::mem::take(&mut func.body);
    let whole = elements::needed_whole(&body);
    let mut pass = Simplify {
        func,
        whole,
        namer: None,
        final_order,
        replaced: SecondaryMap::with_default(None),
        sizes: SecondaryMap::new(),
        any_size: false,
        known: SecondaryMap::new(),
        reads: HashMap::default(),
        entered: Vec::new(),
        seen: Seen::default(),
    };
    let body = pass.block(body);
    if pass.any_size {
        let sizes = std::mem::take(&mut pass.sizes);
        replace_sizes(func, &sizes);
    }
    func.body = body;
}

/// Replaces size names in the types of all variables.
fn replace_sizes(func: &mut Function, sizes: &SecondaryMap<NVar, Option<Size>>) {
    let mut map = |name: NVar| sizes[name].clone();
    for data in func.nvars.values_mut() {
        data.ty = data.ty.subst(&mut map);
        data.def = data.def.as_ref().map(|d| d.subst(&mut map));
    }
    for data in func.caps.values_mut() {
        data.ty = data.ty.subst(&mut map);
    }
}

/// What common subexpressions are found by.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    /// With at most three operands, as all primitives have.
    Prim(Prim, [Option<Atom>; 3]),
    Structured(Structured, Vec<Atom>, Vec<Size>),
    Tuple(Vec<Atom>),
    Proj(NVar, u32),
    Size(NVar, u32),
    Index(NVar, Vec<Step>),
}

struct Simplify<'a> {
    func: &'a mut Function,
    /// Made when the first new name is needed: it takes a look at all names.
    namer: Option<Namer>,
    final_order: bool,
    /// Names that are copies of an operand.
    replaced: SecondaryMap<NVar, Option<Atom>>,
    /// Opaque size names that turned out to be something known.
    sizes: SecondaryMap<NVar, Option<Size>>,
    any_size: bool,
    /// The leaf that binds a name, where later statements may look through it.
    known: SecondaryMap<NVar, Option<Rc<Rhs>>>,
    /// Names that are a field of a value, or something else that its constructor decides, by the value.
    reads: HashMap<NVar, Vec<Read>>,
    /// For each arm that the pass is in, what was known outside.
    entered: Vec<Entered>,
    seen: Seen,
    /// How often an array is needed whole.
    whole: SecondaryMap<NVar, u32>,
}

/// Operations that have a name: a list in the order of the text, and in it the last one of each hash.
/// A long function has many, each of which is looked for once: with the operations themselves in the
/// hash table, most of the time would go by waiting for memory.
#[derive(Default)]
struct Seen {
    by_hash: HashMap<u64, u32>,
    list: Vec<Named>,
}

struct Named {
    key: Key,
    name: NVar,
    hash: u64,
    /// What the table said of the hash before.
    hidden: Option<u32>,
}

impl Seen {
    /// The name that the operation has already; else it is the new one.
    fn name(&mut self, key: Key, new: NVar) -> Option<NVar> {
        let hash = self.by_hash.hasher().hash_one(&key);
        let number = self.list.len() as u32;
        match self.by_hash.entry(hash) {
            Entry::Occupied(mut entry) => {
                let known = &self.list[*entry.get() as usize];
                if known.key == key {
                    return Some(known.name);
                }
                let hidden = Some(entry.insert(number));
                self.list.push(Named { key, name: new, hash, hidden });
            }
            Entry::Vacant(entry) => {
                entry.insert(number);
                self.list.push(Named { key, name: new, hash, hidden: None });
            }
        }
        None
    }

    /// Forgets all but the first `count` operations.
    fn truncate(&mut self, count: usize) {
        if count == 0 && self.list.len() > self.by_hash.capacity() / 8 {
            self.by_hash.clear();
            self.list.clear();
        }
        while self.list.len() > count
            && let Some(last) = self.list.pop()
        {
            match last.hidden {
                Some(number) => self.by_hash.insert(last.hash, number),
                None => self.by_hash.remove(&last.hash),
            };
        }
    }
}

impl Rewriter for Simplify<'_> {
    fn atom(&mut self, atom: Atom) -> Atom {
        atom.var().and_then(|v| self.replaced[v]).unwrap_or(atom)
    }

    fn ty(&mut self, ty: &Type) -> Type {
        if self.any_size { ty.subst(&mut |name| self.sizes[name].clone()) } else { ty.clone() }
    }

    fn enter_arm(&mut self, scrutinee: Atom, pattern: ArmPattern, fields: &[FieldPattern]) {
        self.enter(scrutinee, pattern, fields);
    }

    fn leave_arm(&mut self) {
        self.leave();
    }

    fn block(&mut self, block: Block) -> Block {
        let known = self.seen.list.len();
        let mut out = rewrite::in_place(block.stmts);
        while let Some(stmt) = out.take_next() {
            self.stmt(stmt, &mut out);
        }
        let nl = block.nl.into_iter().map(|a| self.atom(a)).collect();
        self.seen.truncate(known);
        Block { stmts: out.finish(), nl, lin: block.lin }
    }
}

impl Simplify<'_> {
    fn replace(&mut self, var: NVar, by: Atom) {
        self.replaced[var] = Some(by);
        if let Atom::Var(by) = by {
            self.whole[by] = (self.whole[by] + self.whole[var]).saturating_sub(1);
        }
        if self.func.nvars[var].ty == Type::I64 && self.func.nvars[var].def.is_none() {
            let size = self.func.size_of(by);
            self.sizes[var] = Some(if self.any_size {
                size.subst(&mut |name| self.sizes[name].clone())
            } else {
                size
            });
            self.any_size = true;
        }
    }

    fn stmt(&mut self, mut stmt: Stmt, out: &mut InPlace<Stmt>) {
        if let Rhs::Case(case) = stmt.rhs {
            match self.known_arm(*case) {
                Ok((stmts, results)) => {
                    for stmt in stmts {
                        self.stmt(stmt, out);
                    }
                    for (var, atom) in stmt.nl.iter().zip(results) {
                        let atom = self.atom(atom);
                        self.replace(*var, atom);
                    }
                    return;
                }
                Err(case) => stmt.rhs = Rhs::Case(Box::new(case)),
            }
        }
        stmt.rhs = rewrite::rhs(self, stmt.rhs);
        self.select(&mut stmt, out);
        let mut rhs = stmt.rhs;
        if matches!(rhs, Rhs::Check(check) if holds(check)) {
            return;
        }
        if let Rhs::Region(region) = &mut rhs {
            self.known_results(region, &mut stmt.nl);
        }
        let rhs = match self.unpacked(&rhs, &stmt.nl, stmt.loc, out) {
            true => return,
            false => rhs,
        };
        if let [var] = stmt.nl[..] {
            let rhs = self.power(rhs, stmt.loc, out);
            let rhs = self.update(rhs, stmt.loc, out);
            let rhs = match self.reduce(rhs, var) {
                Ok(atom) => return self.replace(var, atom),
                Err(rhs) => rhs,
            };
            if let Some(earlier) = self.key(&rhs).and_then(|key| self.seen.name(key, var)) {
                return self.replace(var, Atom::Var(earlier));
            }
            // Of primitives only a negation is ever looked through.
            let looked_through = match &rhs {
                Rhs::Prim(p, _) => *p == prim::NEG,
                Rhs::Tuple(_) | Rhs::Con(..) | Rhs::ArrayLit(_) => true,
                _ => false,
            };
            if looked_through {
                self.known[var] = Some(Rc::new(rhs.clone()));
            }
            self.read(var, &rhs);
            stmt.rhs = rhs;
        } else {
            stmt.rhs = rhs;
        }
        out.push(stmt);
    }

    /// Whether two integers are plainly equal.
    fn same_size(&self, a: Atom, b: Atom) -> bool {
        let resolve = |a: Atom| self.func.size_of(a).subst(&mut |name| self.sizes[name].clone());
        resolve(a) == resolve(b)
    }

    /// Whether a bound field has literally the type of the value that it stands for, once the
    /// size fields bound beside it are replaced by their values.
    fn same_type(
        &self,
        field: NVar,
        value: Atom,
        fields: &[FieldPattern],
        values: &[Atom],
    ) -> bool {
        let ty = self.func.nvars[field].ty.subst(&mut |name| {
            fields
                .iter()
                .position(|f| matches!(f, FieldPattern::Bind(v) if *v == name))
                .map(|k| self.func.size_of(values[k]))
        });
        let resolve = |ty: &Type| ty.subst(&mut |name| self.sizes[name].clone());
        resolve(&ty) == resolve(&self.func.type_of(value))
    }

    /// A result of a region that the body does not make is what it is outside.
    fn known_results(&mut self, region: &mut Region, pattern: &mut Vec<NVar>) {
        let Block { stmts, nl, .. } = &mut region.body;
        if nl.is_empty() {
            return;
        }
        let own: HashSet<NVar> = stmts.iter().flat_map(|stmt| &stmt.nl).copied().collect();
        for k in (0..nl.len()).rev() {
            if nl[k].var().is_none_or(|v| !own.contains(&v)) {
                self.replace(pattern[k], nl[k]);
                nl.remove(k);
                pattern.remove(k);
            }
        }
    }

    /// Opening something that is known: the pattern's names become copies.
    fn unpacked(&mut self, rhs: &Rhs, pattern: &[NVar], loc: Loc, out: &mut InPlace<Stmt>) -> bool {
        match rhs {
            Rhs::Untuple(v) => {
                let Some(Rhs::Tuple(items)) = self.known[*v].as_deref() else { return false };
                let items = items.clone();
                for (var, item) in pattern.iter().zip(items) {
                    self.replace(*var, item);
                }
                true
            }
            Rhs::Open { value, eqs, proved, .. } => {
                let Some(Rhs::Con(_, fields)) = self.known[*value].as_deref() else { return false };
                let fields = fields.clone();
                let holds = |(eq, field): (&Option<Atom>, &Atom)| {
                    eq.is_none_or(|stated| self.same_size(stated, *field))
                };
                if !proved && !eqs.iter().zip(&fields).all(holds) {
                    return false;
                }
                let bound = eqs.iter().zip(&fields).filter(|(eq, _)| eq.is_none()).map(|(_, f)| *f);
                // Sizes first, so that the types of the other names are resolved.
                for (var, field) in pattern.iter().zip(bound) {
                    let resolve = |ty: &Type| ty.subst(&mut |name| self.sizes[name].clone());
                    let wanted = resolve(&self.func.nvars[*var].ty);
                    if wanted == resolve(&self.func.type_of(field)) {
                        self.replace(*var, field);
                    } else if let Atom::Var(value) = field {
                        // An `=n` joined two names of one size: the same array under its other type.
                        let rhs = Rhs::Cast { value, ty: wanted, proved: true };
                        out.push(Stmt {
                            nl: vec![*var],
                            lin: Vec::new(),
                            rhs,
                            annotated: false,
                            loc,
                        });
                    }
                }
                true
            }
            _ => false,
        }
    }

    /// Rules that turn an operation into an operand, or into a simpler operation.
    fn reduce(&mut self, rhs: Rhs, var: NVar) -> Result<Atom, Rhs> {
        match rhs {
            Rhs::Atom(a) => Ok(a),
            Rhs::Proj(v, k) => match self.known[v].as_deref() {
                Some(Rhs::Tuple(items) | Rhs::Con(_, items)) => {
                    let item = items[k as usize];
                    if self.func.type_of(item) == self.func.nvars[var].ty {
                        Ok(item)
                    } else {
                        Err(rhs)
                    }
                }
                _ => Err(rhs),
            },
            Rhs::Index(v, steps) => self.element(v, steps),
            Rhs::Cast { value, ref ty, proved: true } => {
                let resolve = |ty: &Type| ty.subst(&mut |name| self.sizes[name].clone());
                if resolve(&self.func.nvars[value].ty) == resolve(ty) {
                    Ok(Atom::Var(value))
                } else {
                    Err(rhs)
                }
            }
            Rhs::Prim(p, args) => self.reduce_prim(p, args),
            Rhs::Size(v, k) => self.size_name(v, k).ok_or(rhs),
            rhs => Err(rhs),
        }
    }

    /// The size of an array that is a name or a number. As a size it would hold on to the array, also for the tape.
    fn size_name(&self, array: NVar, dimension: u32) -> Option<Atom> {
        let mut ty = &self.func.nvars[array].ty;
        for _ in 0..dimension {
            ty = ty.element()?;
        }
        let size = ty.size()?.subst(&mut |name| self.sizes[name].clone());
        let literal = || size.as_constant().map(|n| Atom::Lit(Literal::I64(n)));
        size.as_var().map(Atom::Var).or_else(literal)
    }

    /// A power with a small literal exponent as multiplications, in exactly the order in which the
    /// runtime's `powi` multiplies; all but the last become statements of their own.
    fn power(&mut self, rhs: Rhs, loc: Loc, out: &mut InPlace<Stmt>) -> Rhs {
        let (x, n) = match &rhs {
            Rhs::Prim(p, args) if *p == prim::POWI => match args[..] {
                [x @ Atom::Var(_), Atom::Lit(Literal::I64(n))] if n.unsigned_abs() <= MAX_POWER => {
                    (x, n)
                }
                _ => return rhs,
            },
            _ => return rhs,
        };
        let one = Atom::Lit(Literal::F64(1.0));
        let mut k = n.unsigned_abs();
        let (mut base, mut product) = (x, one);
        while k > 0 {
            if k & 1 == 1 {
                product = self.apply(prim::MUL, vec![product, base], loc, out);
            }
            k >>= 1;
            if k > 0 {
                base = self.apply(prim::MUL, vec![base, base], loc, out);
            }
        }
        if n < 0 { Rhs::Prim(prim::DIV, vec![one, product]) } else { Rhs::Atom(product) }
    }

    /// Binds a primitive applied to operands to a new name, or finds it simplified away.
    fn apply(&mut self, p: Prim, args: Vec<Atom>, loc: Loc, out: &mut InPlace<Stmt>) -> Atom {
        self.bind(Rhs::Prim(p, args), p.row().result.ty(), loc, out)
    }

    /// Binds what an operation gives to a new name, or finds it simplified away.
    fn bind(&mut self, rhs: Rhs, ty: Type, loc: Loc, out: &mut InPlace<Stmt>) -> Atom {
        let namer = self.namer.get_or_insert_with(|| Namer::of(self.func));
        let name = namer.fresh("p");
        let var = self.func.nvars.push(VarData { name, ty, def: None, span: loc.span });
        self.stmt(Stmt { nl: vec![var], lin: Vec::new(), rhs, annotated: false, loc }, out);
        self.atom(Atom::Var(var))
    }

    fn reduce_prim(&mut self, p: Prim, args: Vec<Atom>) -> Result<Atom, Rhs> {
        use Literal::{Bool, F64};
        let lits: Vec<Literal> = args
            .iter()
            .filter_map(|a| if let Atom::Lit(l) = a { Some(*l) } else { None })
            .collect();
        if lits.len() == args.len() && !args.is_empty() && !divides_by_zero(p, &lits) {
            let value = (p.row().eval)(&lits);
            if value.is_finite() {
                return Ok(Atom::Lit(value));
            }
        }
        let is = |a: Atom, x: f64| a == Atom::Lit(F64(x));
        // A factor with which a product of a derivative is like any other.
        let is_usual = |a: Atom| matches!(a, Atom::Lit(F64(x)) if x.is_finite() && x != 0.0);
        let negated =
            |this: &Self, a: Atom| match a.var().and_then(|v| this.known[v].clone()).as_deref() {
                Some(Rhs::Prim(q, inner)) if *q == prim::NEG => Some(inner[0]),
                _ => None,
            };
        let apply = |p: Prim, args: Vec<Atom>| Err(Rhs::Prim(p, args));
        match (p, &args[..]) {
            (p, &[a, b]) if p == prim::MUL && is(a, 1.0) => Ok(b),
            (p, &[a, b]) if p == prim::MUL && is(b, 1.0) => Ok(a),
            (p, &[a, b]) if p == prim::MUL && is(a, -1.0) => apply(prim::NEG, vec![b]),
            (p, &[a, b]) if p == prim::MUL && is(b, -1.0) => apply(prim::NEG, vec![a]),
            // A square is NaN of what is NaN alone, so it is like any other as well.
            (p, &[a, b]) if p == prim::TIMES && (a == b || is_usual(a) || is_usual(b)) => {
                self.reduce_prim(prim::MUL, vec![a, b])
            }
            (p, &[a, b]) if p == prim::DIV && is(b, 1.0) => Ok(a),
            (p, &[a, b]) if p == prim::SUB && is(b, 0.0) => Ok(a),
            (p, &[a, b]) if p == prim::ADD => match (negated(self, a), negated(self, b)) {
                (_, Some(b)) => apply(prim::SUB, vec![a, b]),
                (Some(a), _) => apply(prim::SUB, vec![b, a]),
                _ => apply(p, args),
            },
            (p, &[a, b]) if p == prim::SUB => match negated(self, b) {
                Some(b) => apply(prim::ADD, vec![a, b]),
                None => apply(p, args),
            },
            (p, &[a]) if p == prim::NEG => match negated(self, a) {
                Some(a) => Ok(a),
                None => apply(p, args),
            },
            (p, &[a]) if p == prim::STOP && self.final_order => Ok(a),
            (p, &[Atom::Lit(Bool(b)), x, y])
                if p == prim::SELECT || p == prim::ISELECT || p == prim::BSELECT =>
            {
                Ok(if b { x } else { y })
            }
            (p, &[_, x, y])
                if (p == prim::SELECT || p == prim::ISELECT || p == prim::BSELECT) && x == y =>
            {
                Ok(x)
            }
            _ => apply(p, args),
        }
    }

    /// The key of an operation whose value depends on nothing but its operands.
    fn key(&self, rhs: &Rhs) -> Option<Key> {
        match rhs {
            Rhs::Prim(p, args) if rhs.is_total_prim() && args.len() <= 3 => {
                Some(Key::Prim(*p, [0, 1, 2].map(|k| args.get(k).copied())))
            }
            Rhs::Structured(op, args, sizes) => {
                Some(Key::Structured(*op, args.clone(), sizes.clone()))
            }
            Rhs::Tuple(items) => Some(Key::Tuple(items.clone())),
            Rhs::Proj(v, k) => Some(Key::Proj(*v, *k)),
            Rhs::Size(v, k) => Some(Key::Size(*v, *k)),
            Rhs::Index(v, steps) => {
                // Whether an access is marked proved does not change what it reads.
                let steps = steps
                    .iter()
                    .map(|step| match *step {
                        Step::Index { index, .. } => Step::Index { index, proved: true },
                        Step::Slice { lo, len, .. } => Step::Slice { lo, len, proved: true },
                        Step::Field(k) => Step::Field(k),
                    })
                    .collect();
                Some(Key::Index(*v, steps))
            }
            _ => None,
        }
    }
}

/// Whether a check is of literals only, for which it holds.
fn holds(check: Check) -> bool {
    let literal = |a: Atom| if let Atom::Lit(Literal::I64(n)) = a { Some(n) } else { None };
    let certain = match check {
        Check::Below(i, n) => literal(i).zip(literal(n)).map(|(i, n)| 0 <= i && i < n),
        Check::NonNegative(n) => literal(n).map(|n| n >= 0),
        Check::Exact(p, a, b) => literal(a).zip(literal(b)).map(|(a, b)| match p {
            prim::IADD => a.checked_add(b).is_some(),
            prim::ISUB => a.checked_sub(b).is_some(),
            prim::IMUL => a.checked_mul(b).is_some(),
            _ => false,
        }),
        Check::Within { .. } | Check::Show(_) => None,
    };
    certain.unwrap_or(false)
}

/// Whether a literal application is the run-time error R05.
fn divides_by_zero(p: Prim, args: &[Literal]) -> bool {
    p.can_fail() && args.get(1) == Some(&Literal::I64(0))
}
