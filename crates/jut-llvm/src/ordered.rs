//! Sums in the order of a loop, whose terms are computed eight at a time.
//!
//! A [marked](jut_loop::form::Vector) loop that carries nothing but [sums](jut_loop::analysis::sums_in_order)
//! is taken eight iterations at a time; what they add is a vector, of which one element after the other is
//! added, in the order of the loop. If it runs down, the eights begin at its end, and the last element comes
//! first. What is left are single iterations.
//!
//! ```text
//! main:
//!   %i = phi i64 [ %low, .. ], [ %next, .. ]
//!   %s = phi double [ %s0, .. ], [ %s2, .. ]
//!   %p = ..                                    eight terms
//!   %s2 = call double @llvm.vector.reduce.fadd.v8f64(double %s, <8 x double> %p)
//! ```

use crate::function::{Result, Translator, phi};
use crate::loops::{FLOAT, INT, LANE};
use crate::text::{Operand, Scalar};
use crate::vector::Plan;
use jut_loop::analysis::{Sum, sums_in_order};
use jut_loop::form::{For, LANES, Order, Stmt};

/// Lanes from the last to the first.
const REVERSED: &str = "<8 x i32> <i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>";

impl Translator<'_> {
    /// Writes a marked loop of sums for the iterations from `low` to `high`; gives what it carries at the
    /// end.
    pub(crate) fn sums_of_eights(
        &mut self,
        source: &For,
        [low, high]: [Operand; 2],
        initial: &[Operand],
    ) -> Result<Vec<Operand>> {
        let sums = sums_in_order(source).ok_or("a loop in vectors carries more than sums")?;
        let down = source.order == Order::Down;
        let bool = Scalar::Bool.one();
        let (low_shown, high_shown) = (low.of(INT).to_string(), high.of(INT).to_string());
        let outside = self.group.take();
        for ((value, _), first) in source.carry.iter().zip(initial) {
            self.bind(*value, *first);
        }
        let started: Vec<Operand> = sums.iter().map(|sum| initial[sum.number]).collect();
        let [start, main, after] = [self.body.label(), self.body.label(), self.body.label()];
        let [rest, done] = [self.body.label(), self.body.label()];
        let any = self.body.value(format_args!("icmp slt i64 {low_shown}, {high_shown}"));
        let before = self.body.current();
        self.body.line(format_args!("br i1 {}, label %{start}, label %{done}", any.of(bool)));

        self.body.begin(start);
        // The distance from low to high as an unsigned number is always right.
        let count = self.body.value(format_args!("sub i64 {high_shown}, {low_shown}")).of(INT);
        let count = count.to_string();
        let whole = self.body.value(format_args!("and i64 {count}, -{LANES}")).of(INT).to_string();
        let [first, last] = match down {
            // The first iteration of each eight: those of the first and of the last.
            true => {
                let first = self.body.value(format_args!("sub i64 {high_shown}, {LANES}"));
                [first, self.body.value(format_args!("sub i64 {high_shown}, {whole}"))]
            }
            false => {
                let end = self.body.value(format_args!("add i64 {low_shown}, {whole}"));
                [low, self.body.value(format_args!("sub i64 {}, {LANES}", end.of(INT)))]
            }
        };
        let eights = self.body.value(format_args!("icmp ne i64 {whole}, 0"));
        let entered = self.body.current();
        self.body.line(format_args!("br i1 {}, label %{main}, label %{after}", eights.of(bool)));

        self.body.begin(main);
        let hole = self.body.hole();
        let index = self.body.temp();
        self.bind(source.index, index);
        let carried: Vec<Operand> = sums.iter().map(|_| self.body.temp()).collect();
        let mut plan = Plan::of_loop(source.index, &source.body);
        let next = self.eight_and_sums(&mut plan, source, &sums, &carried)?;
        let shown = index.of(INT).to_string();
        let step = if down { "sub" } else { "add" };
        let following = self.body.value(format_args!("{step} i64 {shown}, {LANES}"));
        let more = self.body.value(format_args!("icmp ne i64 {shown}, {}", last.of(INT)));
        let latch = self.body.current();
        self.body.line(format_args!("br i1 {}, label %{main}, label %{after}", more.of(bool)));
        let line = phi(INT, &[(first, entered), (following, latch)]);
        self.body.fill(&hole, format_args!("{shown} = {line}"));
        for (k, sum) in carried.iter().enumerate() {
            let line = phi(FLOAT, &[(started[k], entered), (next[k], latch)]);
            self.body.fill(&hole, format_args!("{} = {line}", sum.of(FLOAT)));
        }

        self.body.begin(after);
        let mut so_far = Vec::with_capacity(sums.len());
        for (started, next) in started.iter().zip(&next) {
            so_far.push(self.body.value(phi(FLOAT, &[(*started, entered), (*next, latch)])));
        }
        let left = self.body.value(format_args!("and i64 {count}, {}", LANES - 1));
        let some = self.body.value(format_args!("icmp ne i64 {}, 0", left.of(INT)));
        self.body.line(format_args!("br i1 {}, label %{rest}, label %{done}", some.of(bool)));

        self.body.begin(rest);
        let [from, to] = match down {
            true => {
                let to = self.body.value(format_args!("add i64 {low_shown}, {}", left.of(INT)));
                [low, to]
            }
            false => {
                let line = format_args!("sub i64 {high_shown}, {}", left.of(INT));
                [self.body.value(line), high]
            }
        };
        let (dst, carry, body) = (source.dst.clone(), source.carry.clone(), source.body.clone());
        let single = For { dst, carry, body, vector: None, ..*source };
        let mut values = initial.to_vec();
        for (sum, value) in sums.iter().zip(&so_far) {
            values[sum.number] = *value;
        }
        let complete = self.iterations(&single, [from, to], &values)?;
        let ended = self.body.current();
        self.body.jump(done);

        self.body.begin(done);
        self.group = outside;
        // What is no sum stays what it was.
        let mut results = initial.to_vec();
        for (k, sum) in sums.iter().enumerate() {
            let incoming =
                [(started[k], before), (so_far[k], after), (complete[sum.number], ended)];
            results[sum.number] = self.body.value(phi(FLOAT, &incoming));
        }
        Ok(results)
    }

    /// The body for eight iterations; gives the sums after them.
    fn eight_and_sums(
        &mut self,
        plan: &mut Plan,
        source: &For,
        sums: &[Sum],
        carried: &[Operand],
    ) -> Result<Vec<Operand>> {
        let mut next = carried.to_vec();
        for stmt in &source.body.stmts {
            let sum = match stmt {
                Stmt::Prim { dst, .. } => sums.iter().position(|sum| sum.next == *dst),
                _ => None,
            };
            let Some(k) = sum else {
                let mut leave = |_: &mut Self, _: Operand| {};
                self.eight_stmt(plan, stmt, &mut leave)?;
                continue;
            };
            let mut terms = self.spread(plan, sums[k].term)?;
            if source.order == Order::Down {
                let line = format_args!(
                    "shufflevector {LANE} {}, {LANE} poison, {REVERSED}",
                    terms.of(LANE)
                );
                terms = self.body.value(line);
            }
            next[k] = self.body.value(format_args!(
                "call double @llvm.vector.reduce.fadd.v8f64(double {}, {LANE} {})",
                next[k].of(FLOAT),
                terms.of(LANE)
            ));
        }
        Ok(next)
    }
}
