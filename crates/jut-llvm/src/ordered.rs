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
//!
//! Two, three or four sums are lanes of one vector, to which the terms of an iteration are added at once: in place of an addition and about as much to take a term out
//! of its vector, for each term, there is one addition for an iteration, and three or four shuffles for two of them.
//!
//! ```text
//!   %low = shufflevector %p, %q          p0 q0 p2 q2 p4 q4 p6 q6
//!   %high = shufflevector %p, %q         p1 q1 p3 q3 p5 q5 p7 q7
//!   %st1 = fadd %st, p0 q0               %st2 = fadd %st1, p1 q1    ..
//! ```

use crate::function::{Result, Translator};
use crate::text::{EIGHT, FLOAT, LANE, Operand, Type};
use crate::vector::EightPlan;
use jut_loop::analysis::{Sum, sums_in_order};
use jut_loop::form::{For, LANES, Order, Stmt};

/// Sums that are lanes of one vector, at most.
const TOGETHER: usize = 4;

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
        let firsts: Vec<(Type, Operand)> =
            started.chunks(TOGETHER).map(|started| self.side_by_side(started)).collect();
        let eights = self.body.int("icmp ne", whole, 0);
        let entered = self.body.current();
        self.body.branch(eights, main, after);

        let looping = self.body.begin_loop(main, (first, entered), firsts);
        let index = looping.index;
        self.bind(source.index, index);
        let mut plan = EightPlan::of_loop(source);
        let carried = self.eight_and_sums(&mut plan, source, &sums, &looping.carried())?;
        let mut next = Vec::with_capacity(sums.len());
        for (together, all) in sums.chunks(TOGETHER).zip(&carried) {
            match together {
                [_] => next.push(*all),
                _ => next.extend((0..).zip(together).map(|(k, _)| self.body.lane(*all, LANE, k))),
            }
        }
        let following = self.body.int(if down { "sub" } else { "add" }, index, EIGHT);
        let more = self.body.int("icmp ne", index, last);
        let latch = self.body.current();
        self.body.branch(more, main, after);
        self.body.end_loop(looping, (following, latch), &carried);

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

    /// Some sums as they are carried.
    fn side_by_side(&mut self, sums: &[Operand]) -> (Type, Operand) {
        if let [sum] = sums {
            return (FLOAT, *sum);
        }
        let mut all = None;
        for (k, sum) in (0..).zip(sums) {
            all = Some(self.body.with_lane(all, LANE, k, *sum));
        }
        (LANE, all.unwrap_or(Operand::ZERO))
    }

    /// Some sums as they are carried, and to each its term of eight iterations.
    fn add_in_order(&mut self, sums: Operand, terms: &[Operand], down: bool) -> Operand {
        if let [terms] = terms {
            let mut terms = terms.of(LANE).to_string();
            if down {
                let line = format_args!("shufflevector {LANE} {terms}, {LANE} poison, {REVERSED}");
                terms = self.body.value(line).to_string();
            }
            return self.body.value(format_args!(
                "call double @llvm.vector.reduce.fadd.v8f64(double {sums}, {LANE} {terms})"
            ));
        }
        let mut iterations = self.by_iterations(terms);
        if down {
            iterations.reverse();
        }
        iterations.into_iter().fold(sums, |sums, terms| self.body.two("fadd", LANE, sums, terms))
    }

    /// The terms of each of eight iterations in the first lanes of a vector, of two to four sums.
    fn by_iterations(&mut self, terms: &[Operand]) -> Vec<Operand> {
        let last = terms[terms.len() - 1];
        let pairs = terms.chunks(2).map(|pair| [pair[0], *pair.last().unwrap_or(&last)]);
        let pairs: Vec<[Operand; 2]> = pairs.collect();
        let mut all = Vec::new();
        // Those of the even iterations, and those of the odd ones.
        for lanes in [[0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15]] {
            let mixed: Vec<Operand> =
                pairs.iter().map(|[a, b]| self.shuffle(*a, *b, &lanes)).collect();
            all.push(match mixed[..] {
                [first, second] => {
                    let low = self.shuffle(first, second, &[0, 1, 8, 9, 2, 3, 10, 11]);
                    let high = self.shuffle(first, second, &[4, 5, 12, 13, 6, 7, 14, 15]);
                    let mut four = |of: Operand| [of, self.shuffle(of, of, &[4, 5, 6, 7])];
                    [four(low), four(high)].concat()
                }
                _ => {
                    let of = mixed[0];
                    (0..4).map(|k| self.shuffle(of, of, &[2 * k, 2 * k + 1])).collect()
                }
            });
        }
        let [even, odd] = [&all[0], &all[1]];
        even.iter().zip(odd).flat_map(|(even, odd)| [*even, *odd]).collect()
    }

    /// Numbers out of two vectors, of which the second begins with number 8; more than are listed may be any.
    fn shuffle(&mut self, a: Operand, b: Operand, lanes: &[i32]) -> Operand {
        let number = |k: usize| match lanes.get(k) {
            Some(lane) => format!("i32 {lane}"),
            None => "i32 poison".to_owned(),
        };
        let lanes = (0..LANES).map(number).collect::<Vec<_>>().join(", ");
        let (a, b) = (a.of(LANE), b.of(LANE));
        self.body.value(format_args!("shufflevector {LANE} {a}, {LANE} {b}, <8 x i32> <{lanes}>"))
    }

    /// The body for eight iterations; gives what is carried after them.
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
        let mut terms = Vec::with_capacity(sums.len());
        for sum in sums {
            terms.push(self.spread(plan, sum.term)?);
        }
        let down = source.order == Order::Down;
        let together = carried.iter().zip(terms.chunks(TOGETHER));
        let next = together.map(|(sums, terms)| self.add_in_order(*sums, terms, down)).collect();
        self.stores_that_wait(plan, &mut leave)?;
        Ok(next)
    }
}
