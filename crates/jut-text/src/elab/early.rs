//! `while`: a loop that ends when its condition does not hold any more.
//!
//! ```text
//! y = while carry (a = x) a > 1.0 do { a / 2.0 }
//!
//! go = x > 1.0
//! (trips, y) = scan while (i < 9223372036854775807) carry (go_1 = go, a = x) {
//!   a_1 = a / 2.0
//!   go_2 = a_1 > 1.0
//!   (go_2, a_1)
//! }
//! ```
//!
//! The condition stands twice: before the loop, of what the carries are at first, and at the end of the body,
//! of what they are next. So the core needs no second block for it, and what it computes is differentiated,
//! stored and compiled by the rules of any loop. `for (i < n) while ..` ends after n iterations in any case.
//! The number of iterations stays in the core; a carry can count.

use super::body::{Body, Made};
use super::scope::Entity;
use super::sugar::{Head, Starts};
use super::{Res, Stop};
use crate::ast::{self, ExprId, Name};
use jut_ir::{Atom, Diagnostic, Dir, LVar, Span, Type};

impl<'a, 's> Body<'a, 's> {
    /// A loop with a condition.
    pub fn ending_early(
        &mut self,
        head: Head<'s>,
        l: &'a ast::Loop<'s>,
        span: Span,
    ) -> Res<Made> {
        if !head.slices.is_empty() || !head.lin_slices.is_empty() {
            let message = "a loop that may end early slices nothing";
            let help = "count, and reach the elements by their index: `for (i < n) while ..`, `x[i]`";
            return self.error("J406", span, message, help);
        }
        let Some(condition) = l.condition else { return Err(Stop) };
        let (carry, lin_carry) = self.carries(l)?;
        let copies = self.copies;
        let names: Vec<Name<'s>> = carry.iter().map(|(name, _)| *name).collect();
        let starts: Vec<Atom> = carry.iter().map(|(_, start)| *start).collect();
        let made = self.copy_text(2, span).and_then(|()| {
            let go = self.holds(condition, &names, &starts)?;
            self.with_condition((head, l), (carry, lin_carry), condition, go, span)
        });
        self.copies = copies;
        made
    }

    fn with_condition(
        &mut self,
        (head, l): (Head<'s>, &'a ast::Loop<'s>),
        (carry, lin_carry): (Starts<'s, Atom>, Starts<'s, LVar>),
        condition: ExprId,
        go: Atom,
        span: Span,
    ) -> Res<Made> {
        let names: Vec<Name<'s>> = carry.iter().map(|(name, _)| *name).collect();
        let lin_names: Vec<Name<'s>> = lin_carry.iter().map(|(name, _)| *name).collect();
        let open = self.enter_loop();
        let locals = open.locals;
        let result = self.begin(Dir::While, &head, span).and_then(|mut scan| {
            scan.carry.push((self.b.nvar("go", Type::Bool, span), go));
            self.bind_carries(&mut scan, carry, lin_carry);
            let ordered = self.ordered.replace(self.nesting);
            let body = self.body(l.body, None);
            self.ordered = ordered;
            let (mut values, at) = body?;
            // Too few values are reported with the loop.
            let next = match values.nl.len() >= names.len() {
                true => self.holds(condition, &names, &values.nl)?,
                false => go,
            };
            values.nl.insert(0, next);
            Ok((scan, values, at))
        });
        let stmts = self.leave(open);
        let (scan, values, at) = result?;
        let out = self.looped(scan, stmts, values, locals, at, span)?;
        let names: Vec<Name<'s>> =
            [Name { text: "trips", span }].into_iter().chain(names).collect();
        let mut values = self.bind(out, &names, &lin_names)?;
        values.nl.remove(0);
        Ok(Made::Values(values, span))
    }

    /// The condition, where the carries are the given values.
    fn holds(&mut self, condition: ExprId, names: &[Name<'s>], values: &[Atom]) -> Res<Atom> {
        let mark = self.scope.mark();
        for (name, value) in names.iter().zip(values) {
            self.scope.bind(name.text, Entity::N(*value));
        }
        let made = self.one_of(condition, "the condition of `while`");
        self.scope.restore(mark);
        let (value, at) = made?;
        let ty = self.type_of(value);
        if ty != Type::Bool {
            let message = format!("the condition of `while` is a bool, not {}", self.show(&ty));
            let help = "compare: `a > 0.0`";
            return self.fail(Diagnostic::error("J406", at, message).help(help));
        }
        Ok(value)
    }
}
