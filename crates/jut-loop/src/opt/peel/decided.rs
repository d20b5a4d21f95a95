//! What is decided by where the index of a loop is.
//!
//! Of a loop that keeps away from the ends of its range some questions are answered (`i == 0`), and some neighbours are known: the
//! least or the largest of two integers, a selection, or what is left of a division is the index itself plus a constant.
//!
//! | for 0 < i < n - 1 | is |
//! |---|---|
//! | `i == 0` | `false` |
//! | `max(i - 1, 0)`, `select(i == 0, n - 1, i - 1)`, `(i + n - 1) % n` | `i - 1` |
//! | `min(i + 1, n - 1)`, `select(i == n - 1, 0, i + 1)`, `(i + 1) % n` | `i + 1` |
//!
//! *Requires*: a range whose ends are known up to the same value, and indices that do not wrap, which is asked where the loop runs.

use std::collections::{HashMap, HashSet};

use jut_ir::Literal;
use jut_ir::entity::EntityRef;
use jut_ir::prim::{Lowering, Opcode, Prim};

use super::{FAR, Peel};
use crate::form::{Atom, Block, Check, Kind, LoopFunction, Stmt, Value};

/// Constants beyond this are not followed.
const SMALL: i64 = 1 << 32;

/// A value, or zero, plus a constant.
pub(super) type Shifted = (Option<Value>, i64);

/// Where the index of a loop is known to be.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) index: Value,
    /// Not below this.
    pub(super) first: Shifted,
    /// Not above this.
    pub(super) last: Shifted,
}

/// What is known of the values of a body, for a range of the index.
#[derive(Default)]
pub(super) struct Known {
    truths: HashMap<Value, bool>,
    /// Integers that were chosen from others.
    integers: HashMap<Value, Shifted>,
}

impl Known {
    pub(super) fn truth(&self, atom: Atom) -> Option<bool> {
        match atom {
            Atom::Lit(Literal::Bool(truth)) => Some(truth),
            Atom::Lit(_) => None,
            Atom::Value(v) => self.truths.get(&v).copied(),
        }
    }
}

/// What an integer is.
#[derive(Clone, Copy)]
pub(super) enum Chosen {
    /// Another one of the body.
    Other(Atom),
    /// The index plus a constant.
    Index(i64),
}

/// The integers that are small: as many elements an array has that is given, or it is asked before the first loop.
pub(super) fn small(func: &LoopFunction) -> HashSet<Value> {
    let lengths = func.params.iter().filter_map(|param| {
        let length = param.len.as_ref()?.as_var()?;
        func.params.get(length.index()).map(|length| length.value)
    });
    let asked = func.body.stmts.iter().take_while(|stmt| stmt.blocks().is_empty());
    let asked = asked.filter_map(|stmt| match stmt {
        Stmt::Check {
            check: Check::Below(Atom::Value(v), Atom::Lit(Literal::I64(most))), ..
        } => (*most <= FAR).then_some(*v),
        _ => None,
    });
    lengths.chain(asked).collect()
}

impl Peel<'_> {
    pub(super) fn learn(&mut self, stmt: &Stmt) {
        let (dst, shifted) = match stmt {
            Stmt::Prim { dst, prim, args } => match (prim.row().lowering, args.as_slice()) {
                (Lowering::Opcode(Opcode::IAdd), [a, Atom::Lit(Literal::I64(k))])
                | (Lowering::Opcode(Opcode::IAdd), [Atom::Lit(Literal::I64(k)), a]) => {
                    (*dst, self.shifted(*a).and_then(|a| plus(a, *k)))
                }
                (Lowering::Opcode(Opcode::ISub), [a, Atom::Lit(Literal::I64(k))]) => {
                    (*dst, self.shifted(*a).and_then(|a| plus(a, k.checked_neg()?)))
                }
                (Lowering::Opcode(Opcode::IAdd), [Atom::Value(_), Atom::Value(_)]) => {
                    self.learn_sum(*dst, args);
                    return;
                }
                _ => return,
            },
            Stmt::Copy { dst, src } if self.values.kind(*dst) == Kind::I64 => {
                (*dst, self.shifted(*src))
            }
            _ => return,
        };
        self.shifted[dst] = shifted;
    }

    /// Remembers of which two values and a constant an integer is the sum.
    fn learn_sum(&mut self, dst: Value, args: &[Atom]) {
        let [Some((Some(a), j)), Some((Some(b), k))] = [args[0], args[1]].map(|a| self.shifted(a))
        else {
            return;
        };
        self.sums[dst] = plus((None, 0), j).and_then(|j| plus(j, k)).map(|(_, k)| ([a, b], k));
    }

    pub(super) fn shifted(&self, atom: Atom) -> Option<Shifted> {
        match atom {
            Atom::Value(v) => Some(self.shifted.get(v).copied().flatten().unwrap_or((Some(v), 0))),
            Atom::Lit(Literal::I64(k)) => plus((None, 0), k),
            Atom::Lit(_) => None,
        }
    }

    /// Where the index of a loop is without so many iterations at its ends.
    pub(super) fn range(
        &self,
        index: Value,
        [low, high]: [Atom; 2],
        [from, to]: [i64; 2],
    ) -> Option<Range> {
        let (low, high) = (self.shifted(low)?, self.shifted(high)?);
        if !matches!(low, (None, 0..)) {
            return None;
        }
        Some(Range { index, first: plus(low, from)?, last: plus(high, -1 - to)? })
    }

    /// How many branches and integers of a body are decided by where the index is.
    pub(super) fn decided(&self, body: &Block, range: &Range) -> usize {
        self.count(body, range, &mut Known::default())
    }

    /// Whether integers of a body are chosen where the index is.
    pub(super) fn chooses(&self, body: &Block, range: &Range) -> bool {
        let mut known = Known::default();
        self.count(body, range, &mut known);
        !known.integers.is_empty()
    }

    fn count(&self, body: &Block, range: &Range, known: &mut Known) -> usize {
        let mut sum = 0;
        for stmt in &body.stmts {
            match stmt {
                Stmt::Prim { dst, prim, args } => {
                    sum += usize::from(self.decide(*dst, *prim, args, range, known).is_some());
                }
                Stmt::If { cond, then, other, .. } => match known.truth(*cond) {
                    Some(truth) => {
                        sum += 1 + self.count(if truth { then } else { other }, range, known);
                    }
                    None => {
                        sum += self.count(then, range, known) + self.count(other, range, known);
                    }
                },
                _ => {}
            }
        }
        sum
    }

    /// Remembers what is known of the result of an operation; what it is, if that is an integer that is chosen.
    pub(super) fn decide(
        &self,
        dst: Value,
        prim: Prim,
        args: &[Atom],
        range: &Range,
        known: &mut Known,
    ) -> Option<Chosen> {
        if let Some(truth) = self.truth(prim, args, range, known) {
            known.truths.insert(dst, truth);
        }
        if self.values.kind(dst) != Kind::I64 {
            return None;
        }
        let chosen = self.chosen(prim, args, range, known)?;
        let place = match chosen {
            Chosen::Other(atom) => self.place(atom, known),
            Chosen::Index(k) => plus((Some(range.index), 0), k),
        };
        known.integers.extend(place.map(|place| (dst, place)));
        Some(chosen)
    }

    /// The integer that is chosen, if that is decided.
    fn chosen(&self, prim: Prim, args: &[Atom], range: &Range, known: &Known) -> Option<Chosen> {
        let Lowering::Opcode(op) = prim.row().lowering else { return None };
        match (op, args) {
            (Opcode::Select, [cond, then, other]) => {
                known.truth(*cond).map(|truth| Chosen::Other(if truth { *then } else { *other }))
            }
            (Opcode::IMax, [a, b]) => {
                let least = self.least(*a, *b, range, known)?;
                Some(Chosen::Other(if least { *b } else { *a }))
            }
            (Opcode::IMin, [a, b]) => {
                let least = self.least(*a, *b, range, known)?;
                Some(Chosen::Other(if least { *a } else { *b }))
            }
            (Opcode::IRem, [a, n]) => self.left(*a, *n, range, known),
            _ => None,
        }
    }

    /// Whether the first of two integers is the least of them, or the second.
    fn least(&self, a: Atom, b: Atom, range: &Range, known: &Known) -> Option<bool> {
        let is = |a, b| self.less(a, b, 1, range, known) == Some(true);
        if is(a, b) { Some(true) } else { is(b, a).then_some(false) }
    }

    /// What a division leaves of the index plus a constant, or of that and the divisor, if it goes into neither.
    fn left(&self, a: Atom, n: Atom, range: &Range, known: &Known) -> Option<Chosen> {
        let (index, divisor) = (Some(range.index), self.place(n, known)?);
        let within = |k: i64| {
            let index = plus((index, 0), k)?;
            let positive =
                self.is_less((None, -1), index, range)? && self.is_less(index, divisor, range)?;
            positive.then_some(())
        };
        let place = self.place(a, known)?;
        let candidates = match (place, divisor) {
            ((base, k), (None, n)) if base == index => [Some(k), k.checked_sub(n)],
            ((base, k), _) if base == index => [Some(k), None],
            ((Some(v), k), (Some(n), 0)) => match self.sums.get(v).copied().flatten() {
                Some((of, more)) if of == [range.index, n] || of == [n, range.index] => {
                    [k.checked_add(more), None]
                }
                _ => [None, None],
            },
            _ => [None, None],
        };
        let k = candidates.into_iter().flatten().find(|k| within(*k).is_some())?;
        Some(if place == (index, k) { Chosen::Other(a) } else { Chosen::Index(k) })
    }

    /// Whether an operation on truth values is decided.
    fn truth(&self, prim: Prim, args: &[Atom], range: &Range, known: &Known) -> Option<bool> {
        let Lowering::Opcode(op) = prim.row().lowering else { return None };
        match (op, args) {
            (Opcode::Not, [a]) => Some(!known.truth(*a)?),
            (Opcode::And, [a, b]) => match (known.truth(*a), known.truth(*b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            (Opcode::Or, [a, b]) => match (known.truth(*a), known.truth(*b)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            (Opcode::ILt, [a, b]) => self.less(*a, *b, 0, range, known),
            (Opcode::ILe, [a, b]) => self.less(*a, *b, 1, range, known),
            (Opcode::IGt, [a, b]) => self.less(*b, *a, 0, range, known),
            (Opcode::IGe, [a, b]) => self.less(*b, *a, 1, range, known),
            (Opcode::IEq | Opcode::INe, [a, b]) => {
                let not_above =
                    [self.less(*a, *b, 1, range, known), self.less(*b, *a, 1, range, known)];
                match not_above {
                    [Some(true), Some(true)] => Some(op == Opcode::IEq),
                    [Some(false), _] | [_, Some(false)] => Some(op == Opcode::INe),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether a < b + k, if that is known.
    fn less(&self, a: Atom, b: Atom, k: i64, range: &Range, known: &Known) -> Option<bool> {
        self.is_less(self.place(a, known)?, plus(self.place(b, known)?, k)?, range)
    }

    /// Which value, or zero, plus a constant an integer is here.
    fn place(&self, atom: Atom, known: &Known) -> Option<Shifted> {
        let (base, k) = self.shifted(atom)?;
        match base.and_then(|v| known.integers.get(&v)) {
            Some(place) => plus(*place, k),
            None => Some((base, k)),
        }
    }

    /// Whether a < b, if that is known.
    fn is_less(&self, a: Shifted, b: Shifted, range: &Range) -> Option<bool> {
        let index = Some(range.index);
        let followed = |s: Shifted| s.0.is_none() || s.0 == index || s.0 == range.last.0;
        if !followed(a) || !followed(b) {
            return None;
        }
        let bounds = |s: Shifted| match s {
            (Some(v), k) if v == range.index => Some((plus(range.first, k)?, plus(range.last, k)?)),
            fixed => Some((fixed, fixed)),
        };
        let ((least_a, most_a), (least_b, most_b)) = (bounds(a)?, bounds(b)?);
        if most_a.0 == least_b.0 && most_a.1 < least_b.1 {
            return Some(true);
        }
        if least_a.0 == most_b.0 && least_a.1 >= most_b.1 {
            return Some(false);
        }
        None
    }

    /// Whether a check holds wherever the index is. The middle only runs where its ends do not wrap.
    pub(super) fn holds(&self, check: Check, range: &Range, known: &Known) -> bool {
        match check {
            Check::Below(i, n) => {
                let not_negative = match (self.place(i, known), range.first) {
                    (Some((Some(v), k)), (None, first)) => v == range.index && first + k >= 0,
                    _ => false,
                };
                not_negative && self.less(i, n, 0, range, known) == Some(true)
            }
            _ => false,
        }
    }
}

pub(super) fn plus((base, offset): Shifted, k: i64) -> Option<Shifted> {
    let offset = offset.checked_add(k)?;
    (-SMALL..SMALL).contains(&offset).then_some((base, offset))
}
