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

use crate::function::{Result, Translator};
use crate::text::{EIGHT, FLOAT, LANE, Operand};
use crate::vector::EightPlan;
use jut_loop::analysis::{Sum, sums_in_order};
use jut_loop::form::{For, Order, Stmt};

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
        let outside = self.group.take();
        for ((value, _), first) in source.carry.iter().zip(initial) {
            self.bind(*value, *first);
        }
        let started: Vec<Operand> = sums.iter().map(|sum| initial[sum.number]).collect();
        let [start, main, after, rest, done] = self.body.labels();
        let any = self.body.int("icmp slt", low, high);
        let before = self.body.current();
        self.body.branch(any, start, done);

        self.body.begin(start);
        // The distance from low to high as an unsigned number is always right.
        let count = self.body.int("sub", high, low);
        let whole = self.body.int("and", count, -EIGHT);
        let [first, last] = match down {
            // The first iteration of each eight: those of the first and of the last.
            true => {
                let first = self.body.int("sub", high, EIGHT);
                [first, self.body.int("sub", high, whole)]
            }
            false => {
                let end = self.body.int("add", low, whole);
                [low, self.body.int("sub", end, EIGHT)]
            }
        };
        let eights = self.body.int("icmp ne", whole, 0);
        let entered = self.body.current();
        self.body.branch(eights, main, after);

        let firsts = started.iter().map(|started| (FLOAT, *started));
        let looping = self.body.begin_loop(main, (first, entered), firsts);
        let index = looping.index;
        self.bind(source.index, index);
        let mut plan = EightPlan::of_loop(source);
        let next = self.eight_and_sums(&mut plan, source, &sums, &looping.carried())?;
        let following = self.body.int(if down { "sub" } else { "add" }, index, EIGHT);
        let more = self.body.int("icmp ne", index, last);
        let latch = self.body.current();
        self.body.branch(more, main, after);
        self.body.end_loop(looping, (following, latch), &next);

        self.body.begin(after);
        let so_far = self.either(&vec![FLOAT; sums.len()], (&started, entered), (&next, latch));
        let left = self.body.int("and", count, EIGHT - 1);
        let some = self.body.int("icmp ne", left, 0);
        self.body.branch(some, rest, done);

        self.body.begin(rest);
        let [from, to] = match down {
            true => [low, self.body.int("add", low, left)],
            false => [self.body.int("sub", high, left), high],
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
            results[sum.number] = self.body.join(FLOAT, &incoming);
        }
        Ok(results)
    }

    /// The body for eight iterations; gives the sums after them.
    fn eight_and_sums(
        &mut self,
        plan: &mut EightPlan,
        source: &For,
        sums: &[Sum],
        carried: &[Operand],
    ) -> Result<Vec<Operand>> {
        let number = |stmt: &Stmt| match stmt {
            Stmt::Prim { dst, .. } => sums.iter().position(|sum| sum.next == *dst),
            _ => None,
        };
        let mut leave = |_: &mut Self, _: Operand| {};
        for stmt in source.body.stmts.iter().filter(|stmt| number(stmt).is_none()) {
            self.eight_stmt(plan, stmt, &mut leave)?;
        }
        self.look(plan)?;
        // Nothing in the body reads a sum, so all are added up at its end.
        let mut next = carried.to_vec();
        for k in source.body.stmts.iter().filter_map(number) {
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
                next[k],
                terms.of(LANE)
            ));
        }
        self.stores_that_wait(plan, &mut leave)?;
        Ok(next)
    }
}
