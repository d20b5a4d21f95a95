//! Arrays one after another: `concat(x, y, ..)`, and between zeros: `pad(x, before, after)`.
//!
//! Both are sums over parts of one array, so that derivatives copy nothing but the parts:
//!
//! ```text
//! z = concat(x, y)         z = acc s: [n + m]f64 { s[0 ..+ n] += x; s[n ..+ m] += y }
//! z' = concat(x', y')      the same with wr; its transpose reads the slices in place:
//!                          x'', y'' = rd s = z'' { x'' = rd s[0 ..+ n]; y'' = rd s[n ..+ m] }
//! ```
//!
//! The arrays may have any number of dimensions; they are joined along the first.

use super::Res;
use super::body::Body;
use super::fit::is_number;
use super::made::{Made, Out, Value};
use crate::ast::{self, ExprId};
use jut_ir::{
    Atom, Block, Check, Diagnostic, Literal, Mode, Operand, Place, Region, Rhs, Size, Span, Step,
    Type,
};

/// The functions of this file.
pub(super) const JOINS: [&str; 2] = ["concat", "pad"];

/// A part of the result: what it is, where it begins and how long it is.
struct Part {
    value: Value,
    low: Atom,
    length: Atom,
}

impl<'a, 's> Body<'a, 's> {
    /// `concat(x, y, ..)`.
    pub fn concat(&mut self, call: &'a ast::Call<'s>, span: Span) -> Res<Made> {
        self.surface_only(span, "`concat`", "add the parts in `acc s: t { s[a ..+ n] += x }`")?;
        let mut parts = Vec::new();
        let mut total = Size::default();
        let mut first: Option<(Type, Span)> = None;
        for e in &call.args {
            let (value, length, element) = self.part(*e, "concat")?;
            match &first {
                None => first = Some((element, self.span(*e))),
                Some((ty, at)) if *ty != element => {
                    let message = format!(
                        "`concat` of elements of type {} and {}",
                        self.show(ty),
                        self.show(&element)
                    );
                    let here = self.span(*e);
                    let error =
                        Diagnostic::error("J202", here, message).label(*at, "the first one").help(
                            "arrays are joined along their first dimension; the others are equal",
                        );
                    return self.fail(error);
                }
                Some(_) => {}
            }
            let low = self.materialize(&total, span)?;
            total = self.longer(&total, &length, span)?;
            let length = self.materialize(&length, span)?;
            parts.push(Part { value, low, length });
        }
        let Some((element, _)) = first else {
            let message = "`concat` takes at least one array";
            return self.error("J208", span, message, "write `concat(x, y)`");
        };
        self.join(parts, total, element, span)
    }

    /// `pad(x, before, after)`.
    pub fn pad(&mut self, call: &'a ast::Call<'s>, span: Span) -> Res<Made> {
        self.surface_only(span, "`pad`", "add the array in `acc s: t { s[a ..+ n] += x }`")?;
        let [x, before, after] = call.args.as_slice() else {
            let message = "`pad` takes an array, and how many zeros come before and after it";
            return self.error("J208", span, message, "write `pad(x, 1, 1)`");
        };
        let (value, length, element) = self.part(*x, "pad")?;
        let low = self.integer(*before, "a number of zeros")?;
        let after = self.integer(*after, "a number of zeros")?;
        let total = self.longer(&self.nf(low), &length, span)?;
        let total = self.longer(&total, &self.nf(after), span)?;
        let length = self.materialize(&length, span)?;
        self.join(vec![Part { value, low, length }], total, element, span)
    }

    /// An operand that is an array: its length and its elements.
    fn part(&mut self, e: ExprId, name: &str) -> Res<(Value, Size, Type)> {
        let value = self.operand(e, "t")?;
        let ty = match &value {
            Value::N(a) => self.type_of(*a),
            Value::L(x) => self.lin_type(*x),
        };
        match ty {
            Type::Array(length, element) if is_number(&element) => Ok((value, length, *element)),
            ty => {
                let message = format!("`{name}` takes arrays of numbers, not {}", self.show(&ty));
                let at = self.span(e);
                self.fail(Diagnostic::error("J202", at, message).help("one element is `[x]`"))
            }
        }
    }

    fn longer(&mut self, a: &Size, b: &Size, span: Span) -> Res<Size> {
        match a.checked_add(b) {
            Some(sum) => Ok(sum),
            None => {
                let message = "the size of the result is too long a polynomial";
                self.error("J215", span, message, "bind a part of it to a name of its own")
            }
        }
    }

    /// The sum of all parts at their places.
    fn join(&mut self, parts: Vec<Part>, total: Size, element: Type, span: Span) -> Res<Made> {
        let linear = parts.iter().filter(|p| matches!(p.value, Value::L(_))).count();
        if linear != 0 && linear != parts.len() {
            let message = "some of the arrays are linear, and some are not";
            return self.not_linear(message.to_owned(), span);
        }
        // It gets a name, also for loops over the result that passes make.
        let size = self.materialize(&total, span)?;
        for Part { low: lo, length: len, .. } in &parts {
            // Said even where other arrays of this size prove it: passes may part the two.
            self.emit(Rhs::Check(Check::Within { lo: *lo, len: *len, size }), span)?;
        }
        let ty = Type::array(total, element);
        let mode = if linear == 0 { Mode::Acc } else { Mode::Wr };
        let open = self.enter();
        let cap = self.b.cap("s", mode, false, ty.clone(), span);
        let mut result = Ok(());
        for Part { value, low, length } in parts {
            let whole = low == Atom::Lit(Literal::I64(0)) && Some(&self.nf(length)) == ty.size();
            let step = Step::Slice { lo: low, len: length, proved: false };
            let path = if whole { Vec::new() } else { vec![step] };
            let operand = match value {
                Value::N(a) => Operand::N(a),
                Value::L(x) => Operand::L(x),
            };
            let rhs = Rhs::Inc(Place { root: cap, path }, operand);
            result = result.and_then(|()| self.emit(rhs, span));
        }
        let stmts = self.leave(open);
        result?;
        let rhs = Region::sum(mode, cap, Block { stmts, ..Block::default() });
        Ok(match mode {
            Mode::Acc => Out::one(rhs, ty, span).into(),
            _ => Out::linear(rhs, ty, span).into(),
        })
    }
}
