//! Histograms: `hist (k < m) by op from e { (places, values) }`.
//!
//! What they are made of was written down by the parser ([`crate::parser::histogram`]), in terms of names that get their
//! meaning here: the places and values that the block gives, how many there are, and what each bin is at first.

use super::body::Body;
use super::fit::is_number;
use super::made::{Made, Value, Values};
use super::recurrence::counting;
use super::scope::Entity;
use super::{Res, Stop};
use crate::ast::{Hist, Operator};
use crate::parser::histogram::{BOUND, COUNT, FIRST, PLACES, VALUES};
use jut_ir::prim::Syntax;
use jut_ir::{Atom, Check, Dir, Literal, Size, Span, Type};

impl<'a, 's> Body<'a, 's> {
    /// `hist (k < m) by op from e { (places, values) }`.
    pub fn histogram(&mut self, hist: &'a Hist<'s>, span: Span) -> Res<Made> {
        self.surface_only(span, "`hist`", "write `scan up` with an array that it carries")?;
        let bound = self.integer(hist.bound, "a bound")?;
        let mark = self.scope.mark();
        let made = self.histogram_of(hist, bound, span);
        self.scope.restore(mark);
        Ok(Made::Values(made?, span))
    }

    fn histogram_of(&mut self, hist: &'a Hist<'s>, bound: Atom, span: Span) -> Res<Values> {
        self.scope.bind(BOUND, Entity::N(bound));
        let stated = match hist.first {
            Some(e) => Some(self.atom(e, "first")?),
            None => None,
        };
        let (values, at) = self.body(hist.body, None)?;
        let given = values.nl.len() + values.lin.len();
        let ([places, values], []) = (values.nl.as_slice(), values.lin.as_slice()) else {
            let message = format!(
                "the block of `hist` gives two arrays, of places and of values, and this one gives {given} value(s)"
            );
            let help = "end it with both, `(places, values)`, or with a loop that collects both, `for (i < n) { (place, value) }`";
            return self.error("J213", at, message, help);
        };
        let (places, values) = (*places, *values);
        let types = (self.type_of(places), self.type_of(values));
        let (Type::Array(count, place), Type::Array(length, element)) = &types else {
            let shown = (self.show(&types.0), self.show(&types.1));
            let message = format!(
                "the block of `hist` gives two arrays, of places and of values, and this one gives {} and {}",
                shown.0, shown.1
            );
            let help = "collect one of each from every element: `for (i < n) { (place, value) }`";
            return self.error("J205", at, message, help);
        };
        if **place != Type::I64 {
            let message = format!("a place is an i64, and these are of type {}", self.show(place));
            let help = "the places stand before the values: `(places, values)`";
            return self.error("J201", at, message, help);
        }
        if count != length {
            let message = format!(
                "there are {} places and {} values",
                self.show_size(count),
                self.show_size(length)
            );
            let wanted = self.show(&Type::array(count.clone(), (**element).clone()));
            return self.error("J209", at, message, super::fit::equal_sizes(&wanted));
        }
        self.is_joined(hist, element, at)?;
        let first = match stated {
            Some(first) => self.begins_alike(hist, first, element)?,
            None => self.neutral_bins(hist, bound, element, span)?,
        };
        let number = self.materialize(count, span)?;
        let entities = [(COUNT, number), (FIRST, first), (PLACES, places), (VALUES, values)];
        for (name, atom) in entities {
            self.scope.bind(name, Entity::N(atom));
        }
        let steps = if is_number(element) { hist.summed } else { hist.general };
        let made = self.rhs(steps, None)?;
        match self.one_value(made, "bins")? {
            value @ Value::N(_) => Ok(value.into()),
            Value::L(_) => Err(Stop),
        }
    }

    /// J202 unless the operator is one of such values.
    fn is_joined(&mut self, hist: &Hist<'s>, element: &Type, at: Span) -> Res<()> {
        let is_scalar = matches!(element, Type::Float(_) | Type::I64 | Type::I32);
        let (fits, sign) = match hist.operator {
            Operator::Extremum(">") => (is_scalar, "max"),
            Operator::Extremum(_) => (is_scalar, "min"),
            Operator::Sign(sign @ ("&&" | "||")) => (*element == Type::Bool, sign),
            Operator::Sign(sign) => (is_number(element) || self.is_complex(element), sign),
            Operator::Function(_) => (true, ""),
        };
        if fits {
            return Ok(());
        }
        let message = format!("`{sign}` does not join values of type {}", self.show(element));
        let help = "give a function of two of them: `by (fn (a, b) -> ..) from ..`";
        self.error("J202", at, message, help)
    }

    /// What stands behind `from`, as an operator of the language needs it.
    fn begins_alike(&mut self, hist: &Hist<'s>, first: Atom, element: &Type) -> Res<Atom> {
        let (Operator::Sign(_) | Operator::Extremum(_), Type::Array(_, found)) =
            (&hist.operator, self.type_of(first))
        else {
            return Ok(first);
        };
        if *found == *element {
            return Ok(first);
        }
        let at = hist.from.unwrap_or(hist.head);
        let (found, wanted) = (self.show(&found), self.show(element));
        let message = format!(
            "a bin begins with a value of type {found}, and its values are of type {wanted}"
        );
        let help = match (found.as_str(), wanted.as_str()) {
            ("i64", "f64") => "write `from 0.0`: numbers with a point are floats".to_string(),
            _ => format!("begin with a value of type {wanted}"),
        };
        self.error("J202", at, message, help)
    }

    /// The bins that change no value which is joined with them.
    fn neutral_bins(
        &mut self,
        hist: &Hist<'s>,
        bound: Atom,
        element: &Type,
        span: Span,
    ) -> Res<Atom> {
        let mut scalar = element;
        while let Type::Array(_, inner) = scalar {
            scalar = inner;
        }
        let number = |x: f64| match scalar {
            Type::I64 => Some(Literal::I64(x as i64)),
            Type::I32 => Some(Literal::I32(x as i32)),
            Type::Float(_) => Some(scalar.number(x)),
            ty if self.is_complex(ty) => Some(Literal::F64(x)),
            _ => None,
        };
        let neutral = match hist.operator {
            Operator::Sign("+") => number(0.0),
            Operator::Sign("*") => number(1.0),
            Operator::Sign("&&") => Some(Literal::Bool(true)),
            Operator::Sign(_) => Some(Literal::Bool(false)),
            // Conversions to integers saturate.
            Operator::Extremum(">") => number(f64::NEG_INFINITY),
            Operator::Extremum(_) => number(f64::INFINITY),
            Operator::Function(_) => None,
        };
        let Some(neutral) = neutral else {
            let shown = self.show(element);
            let message =
                format!("what a bin has to begin with is not known for values of type {shown}");
            let help = "say it behind the operator: `by + from e { .. }`";
            return self.error("J202", hist.head, message, help);
        };
        let size = self.nf(bound);
        if !self.facts.is_plainly_non_negative(&size) {
            self.emit(jut_ir::Rhs::Check(Check::NonNegative(bound)), span)?;
        }
        let neutral = match neutral {
            Literal::F64(x) if x.is_infinite() => self.infinity(x > 0.0, span)?,
            Literal::F32(x) if x.is_infinite() => {
                let wide = self.infinity(x > 0.0, span)?;
                let out = self.primitive("f32", Syntax::Call, vec![wide], span)?;
                self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)?
            }
            neutral if self.is_complex(scalar) => {
                let zero = Atom::Lit(Literal::F64(0.0));
                let out = self.complex_of(Atom::Lit(neutral), zero, scalar, span)?;
                self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)?
            }
            neutral => Atom::Lit(neutral),
        };
        let bin = self.filled_with(element, neutral, span)?;
        self.filled(bound, size, bin, span)
    }

    /// An infinity, which no literal is.
    fn infinity(&mut self, positive: bool, span: Span) -> Res<Atom> {
        let out = self.primitive("inf", Syntax::Call, Vec::new(), span)?;
        let infinity = self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)?;
        if positive {
            return Ok(infinity);
        }
        let out = self.primitive("-", Syntax::Prefix, vec![infinity], span)?;
        self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)
    }

    /// A value of a type all of whose cells are one.
    fn filled_with(&mut self, ty: &Type, cell: Atom, span: Span) -> Res<Atom> {
        let Type::Array(size, inner) = ty else { return Ok(cell) };
        let bound = self.materialize(size, span)?;
        let row = self.filled_with(inner, cell, span)?;
        self.filled(bound, size.clone(), row, span)
    }

    /// An array of one value.
    fn filled(&mut self, bound: Atom, size: Size, value: Atom, span: Span) -> Res<Atom> {
        let head = counting(bound, size);
        let open = self.enter_loop(None, span);
        let locals = open.locals;
        let made = self.begin(Dir::Par, &head, span);
        let stmts = self.leave(open);
        let values = Values { nl: vec![value], lin: Vec::new() };
        let made = self.looped_with(made?, stmts, Ok((values, span)), locals, (&[], &[]), span)?;
        match self.one_value(made, "first")? {
            Value::N(atom) => Ok(atom),
            Value::L(_) => Err(Stop),
        }
    }
}
