//! Complex numbers: operators and functions of numbers where an operand is a `c64`.
//!
//! `c64` is a record of the standard library, `data c64 = complex(re: f64, im: f64)` of `std.complex`, and what is done with
//! complex numbers are definitions of that module. This file says which: `z * w` is a call of `std.complex.mul`, `z * 2.0` of
//! `std.complex.mul_real`, `exp(z)` of `std.complex.exp`. So the core has no complex numbers, and no pass knows of them.
//!
//! The module is part of a program that mentions `c64`, or calls `complex(..)`, without declaring them
//! ([`crate::standard::mentions_complex`]). Names that the program declares go before those of the module, as before those of
//! primitives.
//!
//! | written | definition |
//! |---|---|
//! | `z + w`, `z - w`, `z * w`, `z / w`, `-z` | `add`, `sub`, `mul`, `div`, `neg` |
//! | `z + x`, `x + z`, `z - x`, `x - z` with a float x | `add_real`, `add_real`, `sub_real`, `real_sub` |
//! | `z * x`, `x * z`, `z / x`, `x / z` | `mul_real`, `mul_real`, `div_real`, `real_div` |
//! | `z ^ n` of a literal n, `z ^ n`, `z ^ x`, `z ^ w` | products, `powi`, `pow_real`, `pow` |
//! | `z == w`, `z != w` | `equal`, `unequal` |
//! | `f(z, ..)` | `f` |
//!
//! Where a definition takes a complex number and a float is given, it is `complex(x, 0.0)`.

use super::body::Body;
use super::made::{Function, Lazy, Out, Value};
use super::sugar::total;
use super::{Global, Res, Stop};
use crate::ast;
use crate::standard::COMPLEX;
use jut_ir::{
    Atom, Block, Call, Cap, ConRef, DataId, FuncId, Literal, Loc, Mode, NVar, Operand, Place,
    Region, Rhs, Scan, Span, Stmt, Type,
};

/// A definition of the module, and the operands that it takes, by their numbers.
struct Operation {
    func: FuncId,
    order: Vec<usize>,
}

impl<'a, 's> Body<'a, 's> {
    /// The type of complex numbers, if the program has them.
    fn complex_type(&self) -> Option<DataId> {
        let data = self.globals.module_data(COMPLEX, "c64")?;
        let record = self.program.datas.get(data)?.constructors.first()?;
        let fields: Vec<&Type> = record.fields.iter().map(|field| &field.ty).collect();
        (fields == [&Type::F64; 2]).then_some(data)
    }

    pub(super) fn is_complex(&self, ty: &Type) -> bool {
        matches!(ty, Type::Data(data) if !self.strict && self.complex_type() == Some(*data))
    }

    /// The definition that an operation on values of these types is, if it is one on complex numbers.
    fn complex_operation(&self, function: Function<'_>, types: &[Type]) -> Option<Operation> {
        if self.strict || !types.iter().any(|ty| self.is_complex(ty)) {
            return None;
        }
        let real = |k: usize| types.get(k).is_some_and(|ty| *ty == Type::F64);
        let (first, second) = (real(0), real(1));
        let (name, swapped) = match function {
            Function::Prefix("-") => ("neg", false),
            Function::Infix("+") if first || second => ("add_real", first),
            Function::Infix("*") if first || second => ("mul_real", first),
            Function::Infix("-") if first => ("real_sub", false),
            Function::Infix("-") if second => ("sub_real", false),
            Function::Infix("/") if first => ("real_div", false),
            Function::Infix("/") if second => ("div_real", false),
            Function::Infix("^") if second => ("pow_real", false),
            Function::Infix("^") if types.get(1) == Some(&Type::I64) => ("powi", false),
            Function::Infix("+") => ("add", false),
            Function::Infix("-") => ("sub", false),
            Function::Infix("*") => ("mul", false),
            Function::Infix("/") => ("div", false),
            Function::Infix("^") => ("pow", false),
            Function::Infix("==") => ("equal", false),
            Function::Infix("!=") => ("unequal", false),
            Function::Prefix(_) | Function::Infix(_) => return None,
            Function::Call(name) => (name, false),
        };
        let Some(Global::Func(func)) = self.globals.module_name(COMPLEX, name) else { return None };
        let order: Vec<usize> = if swapped { vec![1, 0] } else { (0..types.len()).collect() };
        let callee = &self.program.funcs[func];
        let takes = |(param, given): (&NVar, &Type)| {
            let wanted = &callee.nvars[*param].ty;
            wanted == given || self.is_complex(wanted) && *given == Type::F64
        };
        let given = order.iter().map(|k| &types[*k]);
        let fits = callee.params.len() == types.len()
            && callee.params.iter().zip(given).all(takes)
            && callee.results.len() == 1;
        fits.then_some(Operation { func, order })
    }

    /// The type of what an operation on complex numbers gives.
    pub(super) fn complex_result(&self, function: Function<'_>, types: &[Type]) -> Option<Type> {
        let operation = self.complex_operation(function, types)?;
        self.program.funcs[operation.func].results.first().map(|result| result.ty.clone())
    }

    /// An operation, if it is one on complex numbers.
    pub(super) fn complex(
        &mut self,
        function: Function<'_>,
        args: &[Atom],
        span: Span,
    ) -> Res<Option<Out>> {
        let types: Vec<Type> = args.iter().map(|a| self.type_of(*a)).collect();
        if let (Function::Infix("^"), [z, Atom::Lit(Literal::I64(n))]) = (function, args)
            && self.is_complex(&types[0])
        {
            return self.complex_power(*z, *n, span).map(Some);
        }
        let Some(Operation { func, order }) = self.complex_operation(function, &types) else {
            return Ok(None);
        };
        let mut given = Vec::with_capacity(order.len());
        let program = self.program;
        for (k, param) in order.into_iter().zip(&program.funcs[func].params) {
            let ty = &program.funcs[func].nvars[*param].ty;
            given.push(match *ty == types[k] {
                true => args[k],
                false => self.widened(args[k], ty, span)?,
            });
        }
        let ty = program.funcs[func].results.first().map(|result| result.ty.clone());
        let (lin_args, places) = (Vec::new(), Vec::new());
        let rhs = Rhs::Call(Box::new(Call { func, args: given, lin_args, places }));
        Ok(Some(Out::one(rhs, ty.ok_or(Stop)?, span)))
    }

    /// A float as a complex number.
    fn widened(&mut self, x: Atom, ty: &Type, span: Span) -> Res<Atom> {
        let zero = Atom::Lit(Literal::F64(0.0));
        let out = self.complex_of(x, zero, ty, span)?;
        self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)
    }

    pub(super) fn complex_of(&self, re: Atom, im: Atom, ty: &Type, span: Span) -> Res<Out> {
        let Type::Data(data) = ty else { return Err(Stop) };
        let con = ConRef { data: *data, index: 0 };
        Ok(Out::one(Rhs::Con(con, vec![re, im]), ty.clone(), span))
    }

    /// `z^n` of a literal: products, by squaring; of a negative one what they divide 1 by.
    fn complex_power(&mut self, z: Atom, n: i64, span: Span) -> Res<Out> {
        let (ty, size) = (self.type_of(z), n.unsigned_abs());
        if size == 0 {
            let [one, zero] = [1.0, 0.0].map(|x| Atom::Lit(Literal::F64(x)));
            return self.complex_of(one, zero, &ty, span);
        }
        // From the second bit on: a square, and for a 1 the number once more.
        let mut factors = Vec::new();
        for bit in (0..size.ilog2()).rev() {
            factors.push(None);
            factors.extend((size >> bit & 1 == 1).then_some(Some(z)));
        }
        let last = factors.pop();
        let mut power = z;
        for factor in factors {
            let out =
                self.complex(Function::Infix("*"), &[power, factor.unwrap_or(power)], span)?;
            power = self.one_of_out(out.ok_or(Stop)?)?;
        }
        let out = match last {
            Some(factor) => {
                let factors = [power, factor.unwrap_or(power)];
                self.complex(Function::Infix("*"), &factors, span)?.ok_or(Stop)?
            }
            None => Out::one(Rhs::Atom(power), ty, span),
        };
        if n > 0 {
            return Ok(out);
        }
        let divisor = self.one_of_out(out)?;
        let one = Atom::Lit(Literal::F64(1.0));
        self.complex(Function::Infix("/"), &[one, divisor], span)?.ok_or(Stop)
    }

    fn one_of_out(&mut self, out: Out) -> Res<Atom> {
        self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)
    }

    /// A call by a plain name of what the module has: `complex(re, im)`, `conj(z)`, `polar(r, angle)`; `None` if it has no
    /// such name.
    pub(super) fn call_complex(
        &mut self,
        call: &'a ast::Call<'s>,
        span: Span,
    ) -> Res<Option<Lazy<'s>>> {
        if self.strict {
            return Ok(None);
        }
        let name = call.func.text;
        let func = match self.globals.module_name(COMPLEX, name) {
            Some(Global::Con(con)) => {
                return self.construct(con, call, span).map(|made| Some(Lazy::Made(made)));
            }
            Some(Global::Func(func)) => func,
            _ => return Ok(None),
        };
        self.only_first_section(call, "a function of complex numbers")?;
        let mut operands = Vec::new();
        for e in &call.args {
            operands.push((self.each_operand(*e)?, self.span(*e)));
        }
        if self.program.funcs[func].params.len() == operands.len() && self.is_for_each(&operands) {
            return Ok(Some(Lazy::Each(self.for_each(Function::Call(name), operands, span)?)));
        }
        let (mut given, mut atoms) = (Vec::new(), Vec::new());
        for (operand, at) in operands {
            match self.forced(operand)? {
                Value::N(a) => {
                    given.push((a, at));
                    atoms.push(a);
                }
                Value::L(_) => {
                    let message = format!("`{name}` is not a linear function");
                    return self.not_linear(message, at);
                }
            }
        }
        match self.complex(Function::Call(name), &atoms, span)? {
            Some(out) => Ok(Some(out.into())),
            // With messages about numbers and types of arguments.
            None => {
                let made =
                    self.call_values(func, given, Vec::new(), (&call.lin, &call.places), span)?;
                Ok(Some(Lazy::Made(made)))
            }
        }
    }

    // ---- sums

    /// Adds a complex number to two sums, one for each part.
    pub(super) fn add_complex(&mut self, value: Atom, span: Span) -> Res<[Cap; 2]> {
        let Atom::Var(z) = value else { return Err(Stop) };
        let mut caps = Vec::with_capacity(2);
        for (k, name) in [(0, "re"), (1, "im")] {
            let part = self.one_of_out(Out::one(Rhs::Proj(z, k), Type::F64, span))?;
            let cap = self.b.cap(name, Mode::Acc, true, Type::F64, span);
            self.emit(Rhs::Inc(Place::root(cap), Operand::N(part)), span)?;
            caps.push(cap);
        }
        caps.try_into().map_err(|_| Stop)
    }

    /// The complex number of two sums over one loop.
    pub(super) fn complex_total(
        &mut self,
        scan: Scan,
        stmts: Vec<Stmt>,
        [re, im]: [Cap; 2],
        ty: &Type,
        span: Span,
    ) -> Res<Out> {
        let Out { rhs, .. } = total(scan, stmts, im, Type::F64, span);
        let sum = self.b.nvar("im", Type::F64, span);
        let (nl, lin) = (vec![sum], Vec::new());
        let inner = Stmt { nl, lin, rhs, annotated: false, loc: Loc::source(span) };
        let body = Block { stmts: vec![inner], nl: vec![Atom::Var(sum)], lin: Vec::new() };
        let both =
            Out { nl: vec![Type::F64; 2], ..Out::none(Region::sum(Mode::Acc, re, body), span) };
        let parts = self.bind(both, &[], &[])?.nl;
        let [im, re] = parts.as_slice() else { return Err(Stop) };
        self.complex_of(*re, *im, ty, span)
    }
}
