//! Loops for the largest or smallest number of many and where it stands, eight iterations at once.
//!
//! `max (i < n) e` is a loop that carries the largest number so far and its index. An iteration takes
//! the new number if it is larger, or if it is the first that is not a number:
//!
//! ```text
//! (v_1, k_1) = for up (i in 0 .. n) carry (v = v0, k = k0) {
//!   larger = t > v
//!   q1 = t != t
//!   q2 = v == v
//!   q = q1 && q2
//!   take = larger || q
//!   v2 = select(take, t, v)
//!   k2 = select(take, i, k)
//!   (v2, k2)
//! }
//! ```
//!
//! So the result is the first NaN, or else the first of the largest numbers, or else what the loop
//! began with: it does not depend on the order in which numbers are compared, if of equal ones the
//! lower index wins. Each of eight lanes looks at every eighth number as above; then halves of the
//! lanes are compared until one is left.

use crate::function::{Result, Translator, phi, scalar};
use crate::text::{Label, Operand, Scalar, Type};
use jut_ir::prim::{Lowering, Machine};
use jut_loop::form::{Atom, For, Kind, LANES, Lanes, Order, Stmt};

const INT: Type = Type { scalar: Scalar::I64, wide: false };
const FLOATS: Type = Type { scalar: Scalar::F64, wide: true };
const INTS: Type = Type { scalar: Scalar::I64, wide: true };

impl Translator<'_> {
    /// Writes a loop for an extremum eight iterations at a time, if it is one.
    /// Gives its results then.
    pub(crate) fn extremum(
        &mut self,
        source: &For,
        [low, high]: [Operand; 2],
        initial: &[Operand],
    ) -> Result<Option<Vec<Operand>>> {
        let (Some(compare), true) = (self.compares(source), self.imports.masks()) else {
            return Ok(None);
        };
        let eights = Lanes {
            dst: source.dst.clone(),
            index: source.index,
            low: source.low,
            high: source.high,
            carry: source.carry.iter().map(|(value, _)| *value).collect(),
            body: source.body.clone(),
        };
        let Some(mut plan) = self.plan(&eights, false) else { return Ok(None) };
        let outside = self.group.take();
        let (low_shown, high_shown) = (low.of(INT).to_string(), high.of(INT).to_string());
        let before = self.body.current();
        let [start, main, after] = [self.body.label(), self.body.label(), self.body.label()];
        let [tail, combine, done] = [self.body.label(), self.body.label(), self.body.label()];
        let any = self.body.value(format_args!("icmp slt i64 {low_shown}, {high_shown}"));
        self.fork(any, start, done);

        self.body.begin(start);
        let count = self.body.value(format_args!("sub i64 {high_shown}, {low_shown}")).of(INT);
        let whole = self.body.value(format_args!("and i64 {count}, -{LANES}")).of(INT).to_string();
        let until = self.body.value(format_args!("add nsw i64 {low_shown}, {whole}"));
        let types = [FLOATS, INTS];
        let mut first = Vec::with_capacity(2);
        for (operand, ty) in initial.iter().zip(types) {
            first.push(self.body.splat(*operand, ty));
        }
        let any = self.body.value(format_args!("icmp ne i64 {whole}, 0"));
        self.fork(any, main, tail);

        self.body.begin(main);
        let hole = self.body.hole();
        let index = self.body.temp();
        let lanes = [self.body.temp(), self.body.temp()];
        self.bind(source.index, index);
        let results = self.eight(&mut plan, &eights, &lanes, &mut |_, _| {})?;
        let next = self.body.value(format_args!("add nsw i64 {}, {LANES}", index.of(INT)));
        let more =
            self.body.value(format_args!("icmp slt i64 {}, {}", next.of(INT), until.of(INT)));
        let latch = self.body.current();
        self.fork(more, main, after);
        let mut fill = |value: Operand, ty: Type, first: Operand, next: Operand| {
            let line = phi(ty, &[(first, start), (next, latch)]);
            self.body.fill(&hole, format_args!("{} = {line}", value.of(ty)));
        };
        fill(index, INT, low, next);
        for k in 0..2 {
            fill(lanes[k], types[k], first[k], results[k]);
        }

        self.body.begin(after);
        let exact = self.body.value(format_args!("icmp eq i64 {}, {high_shown}", until.of(INT)));
        self.fork(exact, combine, tail);

        self.body.begin(tail);
        let index = self.body.value(phi(INT, &[(low, start), (until, after)]));
        let mut lanes = Vec::with_capacity(2);
        for k in 0..2 {
            let line = phi(types[k], &[(first[k], start), (results[k], after)]);
            lanes.push(self.body.value(line));
        }
        let left = self.body.value(format_args!("sub i64 {high_shown}, {}", index.of(INT)));
        plan.count_first(&mut self.body, left);
        self.bind(source.index, index);
        let last = self.eight(&mut plan, &eights, &lanes, &mut |_, _| {})?;
        let mut counted = Vec::with_capacity(2);
        for k in 0..2 {
            let (ty, old) = (types[k], lanes[k].of(types[k]));
            counted.push(plan.counted(&mut self.body, ty, last[k].of(ty), old));
        }
        let end = self.body.current();
        self.body.jump(combine);

        self.body.begin(combine);
        let mut lanes = Vec::with_capacity(2);
        for k in 0..2 {
            let line = phi(types[k], &[(results[k], after), (counted[k], end)]);
            lanes.push(self.body.value(line));
        }
        let best = self.best(compare, lanes[0], lanes[1]);
        self.body.jump(done);

        self.body.begin(done);
        let mut results = Vec::with_capacity(2);
        for (k, value) in source.dst.iter().enumerate() {
            let ty = scalar(self.kind(*value)).one();
            results.push(self.body.value(phi(ty, &[(initial[k], before), (best[k], combine)])));
        }
        self.group = outside;
        Ok(Some(results))
    }

    fn fork(&mut self, condition: Operand, yes: Label, no: Label) {
        let condition = condition.of(Scalar::Bool.one());
        self.body.line(format_args!("br i1 {condition}, label %{yes}, label %{no}"));
    }

    /// The best number of eight lanes and its index.
    fn best(&mut self, compare: &str, numbers: Operand, indices: Operand) -> [Operand; 2] {
        let mut both = [numbers, indices];
        let mut width = LANES;
        while let half @ 1.. = width / 2 {
            let list = |from: usize| -> String {
                let list: Vec<String> = (from..from + half).map(|k| format!("i32 {k}")).collect();
                format!("<{half} x i32> <{}>", list.join(", "))
            };
            let mut halves = Vec::with_capacity(2);
            for (all, scalar) in both.iter().zip(["double", "i64"]) {
                let all = all.of(FLOATS);
                let ty = format!("<{width} x {scalar}>");
                let part = |mask: String| format!("shufflevector {ty} {all}, {ty} poison, {mask}");
                let low = self.body.value(part(list(0))).of(FLOATS).to_string();
                let high = self.body.value(part(list(half))).of(FLOATS).to_string();
                halves.push([low, high]);
            }
            let [[a, b], [i, j]] = [&halves[0], &halves[1]];
            let (floats, ints) = (format!("<{half} x double>"), format!("<{half} x i64>"));
            let bools = format!("<{half} x i1>");
            let mut value = |line: String| self.body.value(line).of(FLOATS).to_string();
            let better = value(format!("fcmp {compare} {floats} {b}, {a}"));
            let nan_a = value(format!("fcmp uno {floats} {a}, {a}"));
            let nan_b = value(format!("fcmp uno {floats} {b}, {b}"));
            let equal = value(format!("fcmp oeq {floats} {a}, {b}"));
            let both_nan = value(format!("and {bools} {nan_a}, {nan_b}"));
            let only_b = value(format!("xor {bools} {nan_b}, {both_nan}"));
            let tie = value(format!("or {bools} {equal}, {both_nan}"));
            let lower = value(format!("icmp slt {ints} {j}, {i}"));
            let tie = value(format!("and {bools} {tie}, {lower}"));
            let take = value(format!("or {bools} {better}, {only_b}"));
            let take = value(format!("or {bools} {take}, {tie}"));
            let pick =
                |ty: &str, a: &str, b: &str| format!("select {bools} {take}, {ty} {b}, {ty} {a}");
            both = [self.body.value(pick(&floats, a, b)), self.body.value(pick(&ints, i, j))];
            width = half;
        }
        let [number, index] = both.map(|one| one.of(FLOATS).to_string());
        [
            self.body.value(format_args!("extractelement <1 x double> {number}, i64 0")),
            self.body.value(format_args!("extractelement <1 x i64> {index}, i64 0")),
        ]
    }

    /// The comparison by which a loop takes a new number, if it is a loop for an extremum.
    fn compares(&self, source: &For) -> Option<&'static str> {
        let ([(v, _), (k, _)], [taken, place]) = (&source.carry[..], &source.body.results[..])
        else {
            return None;
        };
        let plain = |stmt: &Stmt| {
            matches!(stmt, Stmt::Prim { .. } | Stmt::Load { .. } | Stmt::Offset { .. })
        };
        let kinds = (self.kind(*v), self.kind(*k)) == (Kind::F64, Kind::I64);
        if source.order != Order::Up || !kinds || !source.body.stmts.iter().all(plain) {
            return None;
        }
        let define = |atom: Atom| -> Option<(Machine, &[Atom])> {
            let Atom::Value(wanted) = atom else { return None };
            source.body.stmts.iter().find_map(|stmt| match stmt {
                Stmt::Prim { dst, prim, args } if *dst == wanted => match prim.row().lowering {
                    Lowering::Machine(op) => Some((op, &args[..])),
                    Lowering::Runtime(_) => None,
                },
                _ => None,
            })
        };
        let (v, k, index) = (Atom::Value(*v), Atom::Value(*k), Atom::Value(source.index));
        let (Machine::Select, [take, t, old]) = define(*taken)? else { return None };
        let (Machine::Select, [same, i, before]) = define(*place)? else { return None };
        if *old != v || take != same || *i != index || *before != k {
            return None;
        }
        let (Machine::Or, [a, b]) = define(*take)? else { return None };
        let either = |a: Atom, b: Atom| -> Option<&'static str> {
            let compare = match define(a)? {
                (Machine::FGt, [x, y]) if x == t && *y == v => "ogt",
                (Machine::FLt, [x, y]) if x == t && *y == v => "olt",
                _ => return None,
            };
            let (Machine::And, [p, q]) = define(b)? else { return None };
            let is = |atom: Atom, op: Machine, x: Atom| define(atom) == Some((op, &[x, x]));
            let (nan, number) = (Machine::FNe, Machine::FEq);
            let first = is(*p, nan, *t) && is(*q, number, v);
            (first || is(*q, nan, *t) && is(*p, number, v)).then_some(compare)
        };
        let compare = either(*a, *b).or_else(|| either(*b, *a))?;
        // The carries are used in the comparison only.
        let carried = |atom: &Atom| *atom == v || *atom == k;
        let uses = |stmt: &Stmt| match stmt {
            Stmt::Prim { args, .. } => args.iter().filter(|a| carried(a)).count(),
            Stmt::Load { index, .. } | Stmt::Offset { index, .. } => usize::from(carried(index)),
            _ => 0,
        };
        // Twice in the test for a number, once in the comparison, once in each selection.
        let total: usize = source.body.stmts.iter().map(uses).sum();
        (total == 5).then_some(compare)
    }
}
