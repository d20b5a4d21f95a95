//! `while`: a loop that ends when its condition does not hold any more.
//!
//! ```text
//! y = while carry (a = x) a > 1.0 { a / 2.0 }          var a = x; while a > 1.0 { a = a / 2.0 }
//!
//! go = x > 1.0
//! (trips, y) = scan while (i < 9223372036854775807) carry (go_1 = go, a = x) {
//!   a_1 = a / 2.0
//!   go_2 = a_1 > 1.0
//!   (go_2, a_1)
//! }
//! ```
//!
//! The condition stands twice: before the loop, of what carries and variables are at first, and at the end of
//! the body, of what they are next. So the core needs no second block for it, and what it computes is
//! differentiated, stored and compiled by the rules of any loop. `for (i < n) while ..` ends after n iterations
//! in any case. The number of iterations stays in the core; a carry can count.

use super::body::{Body, LOOP_CONDITION};
use super::head::Head;
use super::made::Made;
use super::scope::Entity;
use super::{Res, Stop};
use crate::ast::{self, ExprId, Name};
use jut_ir::{Atom, Diagnostic, Dir, Span, Type};

impl<'a, 's> Body<'a, 's> {
    /// A loop with a condition.
    pub fn ending_early(&mut self, head: Head<'s>, l: &'a ast::Loop<'s>, span: Span) -> Res<Made> {
        if !head.slices.is_empty() || !head.lin_slices.is_empty() {
            let message = "a loop that may end early slices nothing";
            let help =
                "count, and reach the elements by their index: `for (i < n) while ..`, `x[i]`";
            return self.error("J406", span, message, help);
        }
        if head.order == Dir::Down {
            let message = "a loop that may end early counts upwards";
            let help = "count upwards, and begin at the other end in the body: `x[n - 1 - i]`";
            return self.error("J406", span, message, help);
        }
        self.with_condition(head, l, span)
    }

    fn with_condition(&mut self, head: Head<'s>, l: &'a ast::Loop<'s>, span: Span) -> Res<Made> {
        let Some(condition) = l.condition else { return Err(Stop) };
        let (carry, lin_carry) = self.carries(l)?;
        let names: Vec<Name<'s>> = carry.iter().map(|(name, _)| *name).collect();
        let lin_names: Vec<Name<'s>> = lin_carry.iter().map(|(name, _)| *name).collect();
        let starts: Vec<Atom> = carry.iter().map(|(_, start)| *start).collect();
        let go = self.holds(condition, &names, &starts)?;
        let variables = self.assigned(|walk| walk.range_loop(l));
        let before = self.present(&variables);
        let open = self.enter_loop(None, span);
        let locals = open.locals;
        let result = self.begin(Dir::While, &head, span).and_then(|mut scan| {
            scan.carry.push((self.b.nvar("go", Type::Bool, span), go));
            self.bind_carries(&mut scan, carry, lin_carry);
            self.carry_variables(&mut scan, &variables, span);
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
        let (scan, values, at) = match result {
            Ok(made) => made,
            Err(Stop) => {
                self.set_all(&variables, &before);
                return Err(Stop);
            }
        };
        let body = Ok((values, at));
        let made = self.looped_with(scan, stmts, body, locals, (&variables, &before), span)?;
        let mut values = match made {
            Made::Values(values, _) => values,
            Made::Op(out) => {
                let trips = Name { text: "trips", span };
                let names: Vec<Name<'s>> = [trips].into_iter().chain(names).collect();
                self.bind(*out, &names, &lin_names)?
            }
        };
        values.nl.remove(0);
        Ok(Made::Values(values, span))
    }

    /// The condition, where the carries are the given values.
    fn holds(&mut self, condition: ExprId, names: &[Name<'s>], values: &[Atom]) -> Res<Atom> {
        let (mark, sealed, copies) = (self.scope.mark(), self.sealed, self.copies);
        // It stands twice.
        self.copy_text(2, self.span(condition))?;
        for (name, value) in names.iter().zip(values) {
            self.scope.bind(name.text, Entity::N(*value));
        }
        self.seal(LOOP_CONDITION, self.span(condition));
        let made = self.one_of(condition, "the condition of `while`");
        (self.sealed, self.copies) = (sealed, copies);
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
