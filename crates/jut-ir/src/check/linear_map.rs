//! The proof that a definition without linear parts is linear in some of its parameters.
//!
//! Every value has a class:
//!
//! ```text
//!          mixed            anything else
//!         /     \
//!      free     linear      does not depend on the parameters · sums of products of one of them and free values
//!         \     /
//!          zero             both
//! ```
//!
//! | operation | class of the result |
//! |---|---|
//! | `a + b`, `a - b`, `-a`, `select(c, a, b)` with c free, records, arrays, branches, loops, sums | the join |
//! | `a * b`, and operations linear in each operand | free · free is free, linear · free is linear, zero · any is zero |
//! | `a / b` with b free; `f32(a)`, `f64(a)` of floats | that of a |
//! | anything else, of free operands | free |
//! | `case t { none -> z; K(a') -> e }` of a linear value of a declared tangent type | that of e, if z is zero and no e is free |
//!
//! So a definition whose results are linear is additive and homogeneous in the parameters, over the reals; what
//! decides (conditions, indices, trip counts) does not depend on them. Only the `case` of a tangent does: tangents of one value have
//! the constructor of that value or are zero ([`crate::tangent`]), and zero has to give zero.
//!
//! Classes only rise, so walking the body until nothing changes ends; a call is analysed for the classes of its arguments. Functions
//! that call each other begin with nothing, and all that was met is looked at until nothing changes.
//!
//! *Requires*: a well-typed definition. *Cost*: the text, times the depth of its loops, per classes of arguments; times the rounds,
//! in each of which the class of a result rises, at most twice for each, if functions call each other.

use crate::diagnostic::Diagnostic;
use crate::entity::{Cap, FuncId, NVar, SecondaryMap};
use crate::hash::{HashMap, HashSet};
use crate::ir::*;
use crate::prim::{self, Prim};
use crate::span::Span;
use crate::types::Type;

const HELP: &str =
    "a rule gives sums of products, each of one tangent and of values that depend on no tangent";

const SHAPE: &str =
    "this depends on a tangent being zero: where it is, nothing but zero may be given here";

const SUM: &str = "a tangent and a value that is none are put together here";

/// What a value is as a function of the parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Class {
    #[default]
    Zero,
    Free,
    Linear,
    Mixed,
}

impl Class {
    fn join(self, other: Class) -> Class {
        match (self, other) {
            (Class::Zero, class) | (class, Class::Zero) => class,
            (a, b) if a == b => a,
            _ => Class::Mixed,
        }
    }

    fn product(self, other: Class) -> Class {
        match (self, other) {
            (Class::Mixed, _) | (_, Class::Mixed) | (Class::Linear, Class::Linear) => Class::Mixed,
            (Class::Zero, _) | (_, Class::Zero) => Class::Zero,
            (Class::Linear, _) | (_, Class::Linear) => Class::Linear,
            (Class::Free, Class::Free) => Class::Free,
        }
    }

    fn depends(self) -> bool {
        matches!(self, Class::Linear | Class::Mixed)
    }
}

/// What a function gives for classes of its arguments.
#[derive(Clone, PartialEq, Default)]
struct Given {
    results: Vec<Class>,
    /// What is added into its accumulators.
    accs: Vec<Class>,
}

impl Given {
    /// Takes in what was found; whether that is more than was known.
    fn rise(&mut self, found: &Given) -> bool {
        let before = self.clone();
        self.results.resize(found.results.len(), Class::Zero);
        self.accs.resize(found.accs.len(), Class::Zero);
        let pairs = self.results.iter_mut().zip(&found.results);
        for (known, found) in pairs.chain(self.accs.iter_mut().zip(&found.accs)) {
            *known = known.join(*found);
        }
        *self != before
    }
}

/// Proves it. `forbidden` is the definition whose derivative this is: it may be called here with arguments that
/// depend on the parameters, if its own body is linear in them, and nowhere further in.
///
/// # Errors
/// `J807` at the first statement that is not linear, or for a result that does not vanish with the parameters.
pub(super) fn prove(
    program: &Program,
    func: FuncId,
    linear: &[NVar],
    forbidden: FuncId,
) -> Result<(), Diagnostic> {
    let f = &program.funcs[func];
    let mut proof = Proof {
        program,
        forbidden,
        known: HashMap::default(),
        seen: HashSet::default(),
        open: Vec::new(),
        changed: true,
        fault: None,
    };
    let classes: Vec<Class> = f
        .params
        .iter()
        .map(|p| if linear.contains(p) { Class::Linear } else { Class::Free })
        .collect();
    let mut given = Given::default();
    while std::mem::take(&mut proof.changed) {
        proof.seen.clear();
        given = proof.analysed(func, classes.clone());
    }
    if let Some((span, message)) = proof.fault {
        return Err(Diagnostic::error("J807", span, message).help(HELP));
    }
    if let Some(k) = given.results.iter().position(|c| matches!(c, Class::Free | Class::Mixed)) {
        let message =
            format!("result {} of `{}` is not zero where its tangents are", k + 1, f.name);
        return Err(Diagnostic::error("J807", f.span, message).help(HELP));
    }
    Ok(())
}

struct Proof<'p> {
    program: &'p Program,
    forbidden: FuncId,
    /// What functions give at least, by the classes of their arguments.
    known: HashMap<(FuncId, Vec<Class>), Given>,
    /// What has been analysed in this round.
    seen: HashSet<(FuncId, Vec<Class>)>,
    /// The functions that are being analysed.
    open: Vec<FuncId>,
    /// Something that is known has risen in this round.
    changed: bool,
    /// The first statement whose result is mixed though its operands are not. Classes only rise, so it stays one.
    fault: Option<(Span, String)>,
}

impl Proof<'_> {
    fn function(&mut self, func: FuncId, params: &[Class]) -> Given {
        let f = &self.program.funcs[func];
        let mut walk = Walk {
            proof: self,
            func: f,
            values: SecondaryMap::new(),
            caps: SecondaryMap::new(),
            arms: Vec::new(),
            homes: SecondaryMap::new(),
            changed: true,
            last: false,
        };
        for (p, class) in f.params.iter().zip(params) {
            walk.values[*p] = walk.of_type(&f.nvars[*p].ty, *class);
        }
        while std::mem::take(&mut walk.changed) {
            walk.block(&f.body);
        }
        walk.last = true;
        walk.block(&f.body);
        Given {
            results: f.body.nl.iter().map(|a| walk.atom(*a)).collect(),
            accs: f.cap_params.iter().map(|c| walk.caps[*c]).collect(),
        }
    }

    /// What a function gives, as far as it is known: analysed once in each round.
    fn analysed(&mut self, func: FuncId, classes: Vec<Class>) -> Given {
        let key = (func, classes);
        if self.seen.insert(key.clone()) {
            self.open.push(func);
            let found = self.function(func, &key.1);
            self.open.pop();
            let known = self.known.entry(key.clone()).or_default();
            self.changed |= known.rise(&found);
        }
        self.known.get(&key).cloned().unwrap_or_default()
    }

    fn call(&mut self, call: &Call, args: Vec<Class>, span: Span) -> Given {
        let f = &self.program.funcs[call.func];
        let depends = args.iter().any(|c| c.depends());
        if call.func == self.forbidden && self.open.len() > 1 {
            if depends {
                let message = format!("the derivative of `{}` is made of itself here", f.name);
                self.fault.get_or_insert((span, message));
            }
            let class = if depends { Class::Mixed } else { Class::Free };
            return Given {
                results: vec![class; f.results.len()],
                accs: vec![class; f.cap_params.len()],
            };
        }
        if f.is_foreign() {
            return self.foreign(call.func, &args, span);
        }
        let given = self.analysed(call.func, args);
        // J takes its rule, which must not come back here either.
        if let Some(rule) = f.rule.filter(|_| depends && call.func != self.forbidden) {
            let by = &self.program.funcs[rule.func()];
            let own = f.params.len();
            let classes = (0..by.params.len())
                .map(|k| if k < own { Class::Free } else { Class::Linear })
                .collect();
            self.open.push(call.func);
            self.analysed(rule.func(), classes);
            self.open.pop();
        }
        given
    }
}

impl Proof<'_> {
    /// A function of another language is linear in what stands behind the `;`, all of it together.
    fn foreign(&mut self, func: FuncId, args: &[Class], span: Span) -> Given {
        let f = &self.program.funcs[func];
        let before =
            self.program.declared(func).map_or(0, |d| self.program.funcs[d.linear].params.len());
        let (given, linear) = args.split_at(before.min(args.len()));
        let class = linear.iter().fold(Class::Zero, |class, c| class.join(*c));
        let known = args.iter().all(|c| *c != Class::Mixed);
        let class = if given.iter().any(|c| c.depends()) { Class::Mixed } else { class };
        if class == Class::Mixed && known {
            let declared = self.program.declared(func).map_or(func, |d| d.linear);
            let name = &self.program.funcs[declared].name;
            let message =
                format!("`{name}` is linear in what its declaration has behind the `;` alone");
            self.fault.get_or_insert((span, message));
        }
        Given { results: vec![class; f.results.len()], accs: Vec::new() }
    }
}

struct Walk<'w, 'p> {
    proof: &'w mut Proof<'p>,
    func: &'p Function,
    values: SecondaryMap<NVar, Class>,
    caps: SecondaryMap<Cap, Class>,
    /// The arms of cases of tangents round what is looked at: whether the tangent is zero there.
    arms: Vec<bool>,
    /// In how many of them a sum stands itself.
    homes: SecondaryMap<Cap, usize>,
    changed: bool,
    /// Nothing changes any more: faults are noted.
    last: bool,
}

impl Walk<'_, '_> {
    /// Truth values and integers stand beside tangents in records: they are neither.
    fn of_type(&self, ty: &Type, class: Class) -> Class {
        if class == Class::Free && !ty.has_float(self.proof.program) { Class::Zero } else { class }
    }

    fn atom(&self, atom: Atom) -> Class {
        match atom {
            Atom::Var(v) => self.values[v],
            Atom::Lit(Literal::F64(x)) if x != 0.0 => Class::Free,
            Atom::Lit(Literal::F32(x)) if x != 0.0 => Class::Free,
            Atom::Lit(_) => Class::Zero,
        }
    }

    fn join(&self, atoms: &[Atom]) -> Class {
        atoms.iter().fold(Class::Zero, |class, a| class.join(self.atom(*a)))
    }

    fn raise(&mut self, v: NVar, class: Class) {
        let class = self.of_type(&self.func.nvars[v].ty, class);
        let joined = self.values[v].join(class);
        self.changed |= joined != self.values[v];
        self.values[v] = joined;
    }

    fn raise_all(&mut self, names: &[NVar], from: &[Atom]) {
        for (v, a) in names.iter().zip(from) {
            self.raise(*v, self.atom(*a));
        }
    }

    fn raise_cap(&mut self, cap: Cap, class: Class) {
        let joined = self.caps[cap].join(class);
        self.changed |= joined != self.caps[cap];
        self.caps[cap] = joined;
    }

    /// Something is added to a sum: in an arm of a case of a tangent what that decides about.
    fn added(&mut self, cap: Cap, class: Class, span: Span) {
        let around = self.arms.get(self.homes[cap]..).unwrap_or_default();
        let decides = match class {
            Class::Zero | Class::Mixed => false,
            Class::Linear => around.contains(&true),
            Class::Free => !around.is_empty(),
        };
        if decides {
            self.fault(span, SHAPE);
        }
        self.raise_cap(cap, if decides { Class::Mixed } else { class });
    }

    /// Notes a fault: a value that is mixed, of operands that are not.
    fn fault(&mut self, span: Span, why: &str) {
        if self.last && self.proof.fault.is_none() {
            self.proof.fault = Some((span, why.to_string()));
        }
    }

    fn block(&mut self, block: &Block) {
        block.stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn one(&mut self, stmt: &Stmt, class: Class, operands: &[Atom], why: &str) {
        if class == Class::Mixed && operands.iter().all(|a| self.atom(*a) != Class::Mixed) {
            self.fault(stmt.loc.span, why);
        }
        stmt.nl.iter().for_each(|v| self.raise(*v, class));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        const OTHER: &str = "this is not linear in the tangents";
        match &stmt.rhs {
            Rhs::Atom(a) => self.raise_all(&stmt.nl, &[*a]),
            Rhs::Prim(p, args) => {
                let class = self.primitive(*p, args);
                let sum = matches!(*p, prim::ADD | prim::SUB | prim::SELECT);
                self.one(stmt, class, args, if sum { SUM } else { OTHER });
            }
            Rhs::Structured(op, args, _) => {
                let classes = op.arrays().zip(args).map(|(k, a)| {
                    let class = self.atom(*a);
                    match op.transpose(k) {
                        Some(_) => class,
                        // Not linear in this one, and no zero where it is zero.
                        None if class.depends() => Class::Mixed,
                        None => Class::Free,
                    }
                });
                let class = classes.reduce(Class::product);
                self.one(stmt, class.unwrap_or_default(), args, OTHER);
            }
            Rhs::Tuple(args) | Rhs::Con(_, args) | Rhs::ArrayLit(args) => {
                self.one(stmt, self.join(args), args, SUM);
            }
            Rhs::Untuple(v)
            | Rhs::Proj(v, _)
            | Rhs::Open { value: v, .. }
            | Rhs::Index(v, _)
            | Rhs::Cast { value: v, .. } => {
                let class = self.values[*v];
                stmt.nl.iter().for_each(|y| self.raise(*y, class));
            }
            Rhs::Update { array, value, .. } => {
                let operands = [Atom::Var(*array), *value];
                self.one(stmt, self.join(&operands), &operands, SUM);
            }
            Rhs::Size(..) | Rhs::Check(_) => {}
            Rhs::Inc(place, Operand::N(a)) => {
                let class = self.atom(*a);
                let before = self.caps[place.root];
                self.added(place.root, class, stmt.loc.span);
                if before.join(class) == Class::Mixed && class != Class::Mixed {
                    self.fault(stmt.loc.span, SUM);
                }
            }
            Rhs::Region(region) => {
                self.homes[region.cap] = self.arms.len();
                if let Some(Operand::N(start)) = region.start {
                    self.raise_cap(region.cap, self.atom(start));
                }
                self.block(&region.body);
                self.raise_all(&stmt.nl, &region.body.nl);
                if region.end
                    && let Some(total) = stmt.nl.last()
                {
                    self.raise(*total, self.caps[region.cap]);
                }
            }
            Rhs::Scan(scan) => self.scan(scan, stmt),
            Rhs::Case(case) => self.case(case, stmt),
            Rhs::Call(call) => {
                let args: Vec<Class> = call.args.iter().map(|a| self.atom(*a)).collect();
                let fault = self.proof.fault.is_some();
                let given = self.proof.call(call, args, stmt.loc.span);
                // A fault in what is called is one of the call, once classes are final.
                if let Some((span, _)) = &mut self.proof.fault
                    && !fault
                {
                    *span = stmt.loc.span;
                }
                for (v, class) in stmt.nl.iter().zip(given.results) {
                    self.raise(*v, class);
                }
                for (place, class) in call.places.iter().zip(given.accs) {
                    if let Some(place) = place {
                        self.added(place.root, class, stmt.loc.span);
                    }
                }
            }
            _ => {
                self.fault(stmt.loc.span, OTHER);
                stmt.nl.iter().for_each(|v| self.raise(*v, Class::Mixed));
            }
        }
    }

    fn case(&mut self, case: &Case, stmt: &Stmt) {
        let is_zero = |arm: &Arm| matches!(arm.pattern, ArmPattern::Con(con) if con.index == 0);
        let class = self.atom(case.scrutinee);
        let of = case.scrutinee.var().map(|v| &self.func.nvars[v].ty);
        let is_tangent =
            matches!(of, Some(Type::Data(data)) if self.proof.program.is_tangent(*data));
        for arm in &case.arms {
            for field in &arm.fields {
                if let FieldPattern::Bind(v) = field {
                    // A tangent has the sizes of its value.
                    let size = is_tangent && !self.func.nvars[*v].ty.has_float(self.proof.program);
                    self.raise(*v, if size { Class::Zero } else { class });
                }
            }
            let decided = is_tangent && class.depends();
            self.arms.extend(decided.then(|| is_zero(arm)));
            self.block(&arm.body);
            self.arms.truncate(self.arms.len() - usize::from(decided));
        }
        let discrete = of.is_none_or(|ty| *ty == Type::Bool);
        for (k, v) in stmt.nl.iter().enumerate() {
            let ways = || case.arms.iter().filter_map(|arm| Some((arm, *arm.body.nl.get(k)?)));
            let all: Vec<Atom> = ways().map(|(_, a)| a).collect();
            let before = self.join(&all);
            if class.depends() && is_tangent {
                let decides = !self.func.nvars[*v].ty.has_float(self.proof.program)
                    || ways().any(|(arm, a)| match self.atom(a) {
                        Class::Zero | Class::Mixed => false,
                        Class::Linear => is_zero(arm),
                        Class::Free => true,
                    });
                if decides {
                    self.fault(stmt.loc.span, SHAPE);
                    self.raise(*v, Class::Mixed);
                }
            }
            if before == Class::Mixed && all.iter().all(|a| self.atom(*a) != Class::Mixed) {
                self.fault(stmt.loc.span, SUM);
            }
            self.raise(*v, before);
            if discrete && class.depends() {
                self.raise(*v, Class::Mixed);
            }
        }
    }

    fn scan(&mut self, scan: &Scan, stmt: &Stmt) {
        for (carry, init) in &scan.carry {
            self.raise(*carry, self.atom(*init));
        }
        for (element, array) in &scan.slices {
            self.raise(*element, self.values[*array]);
        }
        for (element, place) in &scan.cap_slices {
            self.homes[*element] = self.homes[place.root];
            self.raise_cap(*element, self.caps[place.root]);
        }
        self.block(&scan.body);
        for (element, place) in &scan.cap_slices {
            self.raise_cap(place.root, self.caps[*element]);
        }
        for (k, (next, v)) in scan.body.nl.iter().zip(&stmt.nl).enumerate() {
            let class = self.atom(*next);
            if let Some((carry, _)) = scan.carry.get(k) {
                if class.join(self.values[*carry]) == Class::Mixed
                    && class != Class::Mixed
                    && self.values[*carry] != Class::Mixed
                {
                    self.fault(stmt.loc.span, "a carried value is once a tangent and once none");
                }
                self.raise(*carry, class);
                self.raise(*v, self.values[*carry]);
            } else {
                self.raise(*v, class);
            }
        }
    }

    fn primitive(&self, p: Prim, args: &[Atom]) -> Class {
        let classes: Vec<Class> = args.iter().map(|a| self.atom(*a)).collect();
        match (p, classes.as_slice()) {
            (prim::ADD | prim::SUB | prim::NEG, all) => {
                all.iter().fold(Class::Zero, |class, c| class.join(*c))
            }
            (prim::SINGLE | prim::DOUBLE, [a]) => *a,
            (prim::MUL | prim::TIMES, [a, b]) => a.product(*b),
            (prim::DIV, [a, b]) if !b.depends() => *a,
            (prim::SELECT, [c, a, b]) if !c.depends() => a.join(*b),
            (_, all) if all.iter().any(|c| c.depends()) => Class::Mixed,
            _ => Class::Free,
        }
    }
}
