//! The loops of the surface: `sum`, `build`, `map`, `for`, `fold`, `max`, `min`.
//!
//! | surface | core |
//! |---|---|
//! | `sum (i < n) e` | `acc [lanes] s: t { scan par (i < n) { ..; s += e } }`; `lanes` when t is a scalar |
//! | `build (i < n) e` | `check n >= 0` unless plain, then `scan par` with one stacked result |
//! | `map (x <- xs) e` | the same, with slices |
//! | `for (i < n) carry (a = x) e` | `scan up`; further results of `e` are stacked (and n checked) |
//! | `fold (i < n) carry (a = x) e` | the same, where `e` gives the next carries and nothing else |
//! | `while carry (a = x) c { e }` | `scan while`, see [`super::early`] |
//! | `max (i < n) e` | the index first: `(v, k) = scan up ..` over `stop(e)`; `check k < n`; then `e` at `k` |
//! | `(a <= i < b)` | bound `b - a`, and `i = a + i0` first in the body |
//! | `(b > i >= a)` | the same, with `scan down`; what is collected stands in the order of the indices |
//! | `i <= n`, `n >= i` | `i < n + 1`, `n + 1 > i` |
//! | `(x <- xs, y <- ys)` | slices; the lengths are equal sizes |
//! | `(i < n, j < m)` | a loop over j in the loop over i, by the parser; not for `for` |
//!
//! **`max` and `min` over a range.** The loop only finds the index, behind `stop`, so nothing of it
//! is on a tape, and the derivative is that of `e` at the index. Of equal values the lowest index is
//! taken. A NaN is larger (for `min`: smaller) than everything else, and the first one stays: NaN
//! spreads, as in the binary `max`. The maximum over no iterations is the error R01.

use super::body::Body;
use super::fit::is_number;
use super::head::{self, Head, Starts, Sum};
use super::made::{Made, Out, Value, Values};
use super::opaque_sizes::Outside;
use super::scope::Entity;
use super::{Res, Stop};
use crate::ast::{self, ExprId, LoopKind, Name, Range};
use jut_ir::prim::Syntax;
use jut_ir::{
    Atom, Block, Cap, Check, Diagnostic, Dir, LVar, Literal, Loc, Mode, Operand, Place, Region,
    Rhs, Scan, Size, Span, Step, Stmt, Type,
};

impl<'a, 's> Body<'a, 's> {
    /// A loop of the surface.
    pub fn range_loop(&mut self, l: &'a ast::Loop<'s>, span: Span) -> Res<Made> {
        let (what, help) = match l.kind {
            LoopKind::Sum => ("`sum`", "write `acc s: f64 { scan par .. }`"),
            LoopKind::Build => ("`build`", "write `scan par`"),
            LoopKind::Map => ("`map`", "write `scan par`"),
            LoopKind::For => ("`for`", "write `scan up`"),
            LoopKind::Fold => ("`fold`", "write `scan up`"),
            LoopKind::Max | LoopKind::Min => ("`max` or `min` over a range", "write `scan up`"),
            LoopKind::While => ("`while`", "write `scan while`"),
        };
        self.surface_only(span, what, help)?;
        let head = self.head(&l.head, span)?;
        match l.kind {
            LoopKind::While => self.ending_early(head, l, span),
            LoopKind::Sum => self.sum(head, l.body, span),
            LoopKind::Build | LoopKind::Map | LoopKind::For | LoopKind::Fold => {
                self.build(head, l, span)
            }
            LoopKind::Max | LoopKind::Min => self.extremum(head, l, span),
        }
    }

    pub fn head(&mut self, ranges: &'a [Range<'s>], span: Span) -> Res<Head<'s>> {
        let mut index = None;
        let mut bound = None;
        let mut down = false;
        let mut each = Vec::new();
        for range in ranges {
            let (name, low, n) = match range {
                Range::Each(name, e) => {
                    each.push((*name, self.operand(*e, "t")?, self.span(*e)));
                    continue;
                }
                Range::Below(name, n) => (*name, None, self.integer(*n, "a bound")?),
                Range::Between(low, name, high) | Range::Down(high, name, low) => {
                    down |= matches!(range, Range::Down(..));
                    let low = self.integer(*low, "a bound")?;
                    let high = self.integer(*high, "a bound")?;
                    let n = self.difference(high, low, span)?;
                    (*name, Some(low).filter(|a| *a != Atom::Lit(Literal::I64(0))), n)
                }
            };
            if index.is_some() {
                let message = "a loop has one index";
                let help = "put a loop into the loop";
                return self.fail(Diagnostic::error("J002", name.span, message).help(help));
            }
            index = Some((name, low));
            bound = Some(n);
        }
        let mut size = bound.map(|n| self.nf(n));
        if ranges.is_empty() {
            size = Some(Size::constant(i64::MAX));
        }
        let (mut slices, mut lin_slices) = (Vec::new(), Vec::new());
        for (name, value, at) in each {
            let ty = match value {
                Value::N(a) => self.type_of(a),
                Value::L(x) => self.lin_type(x),
            };
            let Type::Array(length, element) = ty else {
                let message = format!("a value of type {} has no elements", self.show(&ty));
                return self.error("J205", at, message, super::fit::no_elements(&ty));
            };
            let wanted = size.get_or_insert_with(|| length.clone()).clone();
            self.same_length(&length, &element, &wanted, at)?;
            match value {
                Value::N(Atom::Var(v)) if !name.is_linear() => slices.push((name, v, *element)),
                Value::L(x) if name.is_linear() => lin_slices.push((name, x, *element)),
                Value::L(_) => {
                    let message = "the elements are linear, and the name is not";
                    return self.other_name("J101", &name, message);
                }
                Value::N(_) => {
                    let message = "the name is linear, and the elements are not";
                    return self.other_name("J102", &name, message);
                }
            }
        }
        let size = size.unwrap_or_default();
        let bound = match bound {
            Some(bound) => bound,
            // A `while` without a head has no limit.
            None if ranges.is_empty() => Atom::Lit(Literal::I64(i64::MAX)),
            None => self.materialize(&size, span)?,
        };
        let order = if down { Dir::Down } else { Dir::Up };
        Ok(Head { index, order, bound, size, slices, lin_slices })
    }

    /// Binds index and slices in the loop that was just entered.
    pub fn begin(&mut self, dir: Dir, head: &Head<'s>, span: Span) -> Res<Scan> {
        let name = head.index.map_or(Name { text: "i", span }, |(name, _)| name);
        let index = self.b.nvar(name.hint(), Type::I64, name.span);
        self.facts.add_range(index, head.size.clone());
        let mut scan = Scan::new(dir, index, head.bound, Block::default());
        for (name, array, element) in &head.slices {
            let part = self.nvar(name, element.clone());
            self.label_element(*array, part);
            scan.slices.push((part, *array));
        }
        for (name, array, element) in &head.lin_slices {
            scan.lin_slices.push((self.lvar(name, element.clone()), *array));
        }
        self.name_index(head, Atom::Var(index))?;
        Ok(scan)
    }

    /// The user's index at the loop's index `at`.
    fn name_index(&mut self, head: &Head<'s>, at: Atom) -> Res<()> {
        let Some((name, low)) = head.index else { return Ok(()) };
        let atom = match low {
            None => at,
            Some(low) => self.bound_primitive("+", vec![low, at], name.text, name.span)?,
        };
        self.scope.bind(name.text, Entity::N(atom));
        Ok(())
    }

    /// Puts statements before the loop whose body they come from.
    pub fn put_outside(&mut self, outside: &mut Outside) {
        for stmt in std::mem::take(&mut outside.stmts) {
            self.opaque.remember(&stmt.rhs, &stmt.nl, &self.b.func);
            self.stmts.push(stmt);
        }
    }

    // ---- sum

    fn sum(&mut self, head: Head<'s>, body: ExprId, span: Span) -> Res<Made> {
        let open = self.enter_loop(Some("sum"), span);
        let locals = open.locals;
        // Numbers of 32 bits are added in 64 bits, and their sum is converted.
        let mut narrow = None;
        let mut outside = Outside::default();
        let result = self.begin(Dir::Par, &head, span).and_then(|scan| {
            let (mut value, at) = self.one_of(body, "`sum`")?;
            narrow = Some(self.type_of(value)).filter(|ty| super::narrow::wider(ty).is_some());
            value = self.in_64_bits(value, at)?;
            let ty = self.type_of(value);
            if self.is_complex(&ty) {
                return Ok((scan, Sum::Complex(self.add_complex(value, at)?), ty));
            }
            if !is_number(&ty) {
                let message = format!("values of type {} cannot be added", self.show(&ty));
                let help = match &ty {
                    Type::Bool => "count them: `sum (..) { select(b, 1, 0) }`",
                    Type::Data(_) => "add one field at a time: `sum (..) { p.x }`",
                    _ => "add one component at a time: `sum (..) { t.0 }`",
                };
                return self.error("J202", at, message, help);
            }
            outside.take(&mut self.stmts, &ty, locals);
            if outside.missing(&ty, locals).is_some() {
                let message = "the size of the summed array is another one in every iteration";
                let help =
                    "add arrays of one size: bind the size before the loop, and fill up with 0.0";
                return self.error("J405", at, message, help);
            }
            let cap = self.b.cap("s", Mode::Acc, ty.is_scalar(), ty.clone(), span);
            self.emit(Rhs::Inc(Place::root(cap), Operand::N(value)), at)?;
            Ok((scan, Sum::One(cap), ty))
        });
        let stmts = self.leave(open);
        let (scan, sum, ty) = result?;
        self.put_outside(&mut outside);
        let sum = self.summed_up(scan, stmts, sum, ty, span)?;
        let Some(narrow) = narrow else { return Ok(sum.into()) };
        let sum = self.bind(sum, &[], &[])?.nl.first().copied().ok_or(Stop)?;
        Ok(self.converted_to(sum, &narrow, span).into())
    }

    /// What a loop has added up.
    pub(super) fn summed_up(
        &mut self,
        scan: Scan,
        stmts: Vec<Stmt>,
        sum: Sum,
        ty: Type,
        span: Span,
    ) -> Res<Out> {
        match sum {
            Sum::One(cap) => Ok(total(scan, stmts, cap, ty, span)),
            Sum::Complex(caps) => self.complex_total(scan, stmts, caps, &ty, span),
        }
    }

    /// The one non-linear value of a body.
    pub fn one_of(&mut self, body: ExprId, what: &str) -> Res<(Atom, Span)> {
        let (values, at) = self.body(body, None)?;
        match (values.nl.as_slice(), values.lin.as_slice()) {
            ([a], []) => Ok((*a, at)),
            ([], [_]) => {
                let message = format!("{what} is over non-linear values, and this one is linear");
                let help = "add linear values with `wr r: f64 { scan par .. { r += x' } }`";
                self.fail(Diagnostic::error("J101", at, message).help(help))
            }
            (nl, lin) => {
                let message = format!(
                    "the body of {what} gives one value, and this one gives {}",
                    nl.len() + lin.len()
                );
                let help = match nl.len() + lin.len() {
                    0 => format!("end the body with the value that {what} takes"),
                    _ => "write one loop for each value, or carry them through a `for`".to_string(),
                };
                self.error("J213", at, message, help)
            }
        }
    }

    // ---- build and for

    fn build(&mut self, head: Head<'s>, l: &'a ast::Loop<'s>, span: Span) -> Res<Made> {
        let carries = self.carries(l)?;
        self.loop_with(head, l, carries, None, span)
    }

    /// A loop that carries an array which it writes: its name, what it is at first, and the type of its elements.
    pub fn written_once(
        &mut self,
        head: Head<'s>,
        l: &'a ast::Loop<'s>,
        (name, start, element): (Name<'s>, Atom, Type),
        span: Span,
    ) -> Res<Made> {
        self.loop_with(head, l, (vec![(name, start)], Vec::new()), Some(element), span)
    }

    /// A loop over a range that carries something; if `element` is said, an array of such that it writes.
    fn loop_with(
        &mut self,
        head: Head<'s>,
        l: &'a ast::Loop<'s>,
        (carry, lin_carry): (Starts<'s, Atom>, Starts<'s, LVar>),
        element: Option<Type>,
        span: Span,
    ) -> Res<Made> {
        let carries = carry.len() + lin_carry.len();
        let parallel = matches!(l.kind, LoopKind::Build | LoopKind::Map);
        let dir = if parallel { Dir::Par } else { head.order };
        let variables =
            if parallel { Vec::new() } else { self.assigned(|walk| walk.range_loop(l)) };
        let before = self.present(&variables);
        let open = self.enter_loop(head::parallel(l.kind), span);
        let locals = open.locals;
        let result = self.begin(dir, &head, span).and_then(|mut scan| {
            self.bind_carries(&mut scan, carry, lin_carry);
            self.carry_variables(&mut scan, &variables, span);
            let ordered = self.ordered;
            if !parallel {
                self.ordered = Some(self.nesting);
            }
            let writing = match (&element, scan.carry.first()) {
                (Some(_), Some((array, _))) => Some(self.begin_writing(*array, scan.index)),
                _ => None,
            };
            let body = self.body(l.body, None);
            self.ordered = ordered;
            let (values, at) = match (writing, &element) {
                (Some(writing), Some(element)) => {
                    self.written.pop();
                    self.put_element(writing, element, body?)?
                }
                _ => body?,
            };
            Ok((scan, values, at))
        });
        let stmts = self.leave(open);
        let (mut scan, values, at) = match result {
            Ok(made) => made,
            Err(Stop) => {
                self.set_all(&variables, &before);
                return Err(Stop);
            }
        };
        let count = values.nl.len() + values.lin.len();
        if dir == Dir::Par && count == 0 {
            let message = "the body of `build` or `map` gives no value";
            return self.error("J213", at, message, "end the body with the element of the array");
        }
        if l.kind == LoopKind::Fold && count > carries {
            let message = format!(
                "the body of `fold` gives the next value of each carry, which is {carries}, and this \
                 one gives {count}"
            );
            let help = "a `for` collects what its body gives besides";
            return self.fail(Diagnostic::error("J213", at, message).help(help));
        }
        let stacked = count > carries;
        // Iterations that hand on nothing know nothing of each other, whatever the loop is called.
        if stacked && scan.carry.is_empty() && scan.lin_carry.is_empty() {
            scan.dir = Dir::Par;
        }
        if stacked && !self.facts.is_plainly_non_negative(&head.size) {
            self.emit(Rhs::Check(Check::NonNegative(head.bound)), span)?;
        }
        self.looped_with(scan, stmts, Ok((values, at)), locals, (&variables, &before), span)
    }

    /// What a loop carries, and what that is at first.
    pub fn carries(&mut self, l: &'a ast::Loop<'s>) -> Res<(Starts<'s, Atom>, Starts<'s, LVar>)> {
        let (mut carry, mut lin_carry) = (Vec::new(), Vec::new());
        for (name, e) in &l.carry {
            carry.push((*name, self.atom(*e, "t")?));
        }
        for (name, e) in &l.lin_carry {
            lin_carry.push((*name, self.linear(*e, "t")?));
        }
        Ok((carry, lin_carry))
    }

    /// Binds the carries in the loop that was just entered.
    pub fn bind_carries(
        &mut self,
        scan: &mut Scan,
        carry: Starts<'s, Atom>,
        lin_carry: Starts<'s, LVar>,
    ) {
        for (name, init) in carry {
            let ty = self.type_of(init);
            let carried = self.nvar(&name, ty);
            self.label(&Rhs::Atom(init), &[carried]);
            scan.carry.push((carried, init));
        }
        for (name, init) in lin_carry {
            let ty = self.lin_type(init);
            scan.lin_carry.push((self.lvar(&name, ty), init));
        }
    }

    // ---- max and min

    fn extremum(&mut self, head: Head<'s>, l: &'a ast::Loop<'s>, span: Span) -> Res<Made> {
        let copies = self.copies;
        self.copy_text(2, span)?;
        let k =
            self.best_index(&head, l.kind, span, |body, _| body.one_of(l.body, "`max` or `min`"))?;
        self.emit(Rhs::Check(Check::Below(k, head.bound)), span)?;
        let mark = self.scope.mark();
        let at_index = self.at_index(&head, l.body, k, span);
        self.scope.restore(mark);
        self.copies = copies;
        let (value, at) = at_index?;
        Ok(Made::Values(Value::N(value).into(), at))
    }

    /// The loop that finds the index, given what makes the values.
    pub fn best_index(
        &mut self,
        head: &Head<'s>,
        kind: LoopKind,
        span: Span,
        value: impl Fn(&mut Self, &Scan) -> Res<(Atom, Span)>,
    ) -> Res<Atom> {
        let locals = self.b.func.nvars.len();
        let open = self.enter_loop(head::parallel(kind), span);
        let result = self.begin(Dir::Up, head, span).and_then(|scan| {
            let (value, at) = value(self, &scan)?;
            let value = self.in_64_bits(value, span)?;
            let ty = self.type_of(value);
            if !matches!(ty, Type::Float(_) | Type::I64) {
                let message = format!("values of type {} have no order", self.show(&ty));
                let help = match &ty {
                    Type::Bool => "compare numbers: `select(b, 1, 0)`",
                    Type::Array(..) => "compare numbers: a norm, or an element `x[i]`",
                    _ => "compare numbers: a field or a component",
                };
                return self.error("J202", at, message, help);
            }
            let best = self.b.nvar("v", ty.clone(), span);
            let index = self.b.nvar("k", Type::I64, span);
            let float = ty.is_float();
            let value =
                if float { self.apply("stop", Syntax::Call, vec![value], span)? } else { value };
            let (old, now) = (Atom::Var(best), Atom::Var(scan.index));
            let order = if kind == LoopKind::Max { ">" } else { "<" };
            let mut better = self.apply(order, Syntax::Infix, vec![value, old], span)?;
            if float {
                let nan = self.apply("!=", Syntax::Infix, vec![value, value], span)?;
                let none = self.apply("==", Syntax::Infix, vec![old, old], span)?;
                let first = self.apply("&&", Syntax::Infix, vec![nan, none], span)?;
                better = self.apply("||", Syntax::Infix, vec![better, first], span)?;
            }
            let next = self.apply("select", Syntax::Call, vec![better, value, old], span)?;
            let choice = vec![better, now, Atom::Var(index)];
            let next_index = self.apply("select", Syntax::Call, choice, span)?;
            Ok((scan, best, index, vec![next, next_index], at, float))
        });
        let stmts = self.leave(open);
        let (mut scan, best, index, nl, at, float) = result?;
        // Smaller (larger) than everything but itself; index 0 stands if nothing else comes.
        let start = match (float, kind) {
            (true, LoopKind::Max) => {
                let infinity = self.apply("inf", Syntax::Call, Vec::new(), span)?;
                self.apply("-", Syntax::Prefix, vec![infinity], span)?
            }
            (true, _) => self.apply("inf", Syntax::Call, Vec::new(), span)?,
            (false, LoopKind::Max) => Atom::Lit(Literal::I64(i64::MIN)),
            (false, _) => Atom::Lit(Literal::I64(i64::MAX)),
        };
        scan.carry = vec![(best, start), (index, Atom::Lit(Literal::I64(0)))];
        let values = Values { nl, lin: Vec::new() };
        let out = self.looped(scan, stmts, values, locals, at, span)?;
        let names = [Name { text: "v", span }, Name { text: "k", span }];
        self.bind(out, &names, &[])?.nl.get(1).copied().ok_or(Stop)
    }

    /// The body at the index that was found.
    fn at_index(
        &mut self,
        head: &Head<'s>,
        body: ExprId,
        k: Atom,
        span: Span,
    ) -> Res<(Atom, Span)> {
        for (name, array, element) in &head.slices {
            let step = Step::Index { index: k, proved: false };
            let out = Out::one(Rhs::Index(*array, vec![step]), element.clone(), span);
            let hint = Name { text: name.hint(), ..*name };
            let values = self.bind(out, &[hint], &[])?;
            let Some(atom) = values.nl.first() else { return Err(Stop) };
            self.scope.bind(name.text, Entity::N(*atom));
        }
        self.name_index(head, k)?;
        self.one_of(body, "`max` or `min`")
    }

    /// A primitive, bound to a temporary.
    fn apply(&mut self, text: &str, syntax: Syntax, args: Vec<Atom>, span: Span) -> Res<Atom> {
        let out = self.primitive(text, syntax, args, span)?;
        self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)
    }
}

/// The sum of what the body of a loop adds.
pub(super) fn total(mut scan: Scan, stmts: Vec<Stmt>, cap: Cap, ty: Type, span: Span) -> Out {
    scan.body = Block { stmts, ..Block::default() };
    let inner = Stmt {
        nl: Vec::new(),
        lin: Vec::new(),
        rhs: Rhs::Scan(Box::new(scan)),
        annotated: false,
        loc: Loc::source(span),
    };
    let body = Block { stmts: vec![inner], ..Block::default() };
    Out::one(Region::sum(Mode::Acc, cap, body), ty, span)
}
