//! What elaboration makes of expressions: values that exist already, operations that are not bound yet, and operations for each
//! element of arrays.

use jut_ir::{Atom, LVar, NVar, Rhs, Size, Span, TapePolicy, Type};

/// One value.
#[derive(Clone, Copy)]
pub(crate) enum Value {
    N(Atom),
    L(LVar),
}

/// Several values, by section.
#[derive(Clone, Default)]
pub(crate) struct Values {
    pub nl: Vec<Atom>,
    pub lin: Vec<LVar>,
}

impl From<Value> for Values {
    fn from(value: Value) -> Values {
        match value {
            Value::N(a) => Values { nl: vec![a], lin: Vec::new() },
            Value::L(x) => Values { nl: Vec::new(), lin: vec![x] },
        }
    }
}

/// An operation that is not bound yet.
pub(crate) struct Out {
    pub rhs: Rhs,
    /// Types of the non-linear results, earlier ones as placeholders.
    pub nl: Vec<Type>,
    pub lin: Vec<Type>,
    /// The definition, if the result is a transparent i64.
    pub def: Option<Size>,
    /// An annotation decided the types.
    pub annotated: bool,
    pub span: Span,
    /// What the text says of its tape.
    pub tape: TapePolicy,
}

impl Out {
    /// One non-linear result.
    pub fn one(rhs: Rhs, ty: Type, span: Span) -> Out {
        Out { nl: vec![ty], ..Out::none(rhs, span) }
    }

    /// One linear result.
    pub fn linear(rhs: Rhs, ty: Type, span: Span) -> Out {
        Out { lin: vec![ty], ..Out::none(rhs, span) }
    }

    /// No result.
    pub fn none(rhs: Rhs, span: Span) -> Out {
        let (nl, lin, tape) = (Vec::new(), Vec::new(), TapePolicy::Free);
        Out { rhs, nl, lin, def: None, annotated: false, span, tape }
    }
}

/// What an expression gives.
pub(crate) enum Made {
    Values(Values, Span),
    Op(Box<Out>),
}

impl Made {
    /// How many values there are.
    pub fn count(&self) -> usize {
        match self {
            Made::Values(v, _) => v.nl.len() + v.lin.len(),
            Made::Op(out) => out.nl.len() + out.lin.len(),
        }
    }
}

impl From<Out> for Made {
    fn from(out: Out) -> Made {
        Made::Op(Box::new(out))
    }
}

/// The types that a pattern or a result list states, names of the pattern as placeholders.
#[derive(Clone, Default)]
pub(crate) struct Annotation {
    pub nl: Vec<Type>,
    pub lin: Vec<Type>,
}

/// A function of numbers.
#[derive(Clone, Copy)]
pub(super) enum Function<'t> {
    Prefix(&'static str),
    Infix(&'static str),
    Call(&'t str),
}

impl<'t> Function<'t> {
    pub fn text(self) -> &'t str {
        match self {
            Function::Prefix(text) | Function::Infix(text) => text,
            Function::Call(text) => text,
        }
    }
}

/// An array whose elements are not computed yet.
#[derive(Clone)]
pub(super) struct Each<'t> {
    pub(super) code: Vec<Item<'t>>,
    /// Empty for a number.
    pub dims: Vec<Size>,
    pub element: Type,
    pub span: Span,
}

/// An operand of an operation that works on numbers and on arrays.
pub(super) enum Operand<'t> {
    Value(Value),
    Each(Each<'t>),
}

/// What an expression gives that may be for each element.
pub(super) enum Lazy<'t> {
    Made(Made),
    Each(Each<'t>),
}

impl From<Out> for Lazy<'_> {
    fn from(out: Out) -> Self {
        Lazy::Made(out.into())
    }
}

/// Arrays, and what stands for them in the body of a loop.
pub(super) type Elements = Vec<(NVar, NVar)>;

/// One step of the program for an element: a stack machine, like [`crate::ast::Op`].
#[derive(Clone)]
pub(super) enum Item<'t> {
    /// The element of an array.
    Array(NVar),
    Scalar(Atom),
    /// A function of so many values.
    Apply(Function<'t>, usize, Span),
}
