//! The syntax tree, just as written; names are slices of the source.
//!
//! Expressions live in one vector and refer to each other by number, so that dropping a tree
//! never recurses. Operators are kept in **postfix order** ([`ExprKind::Ops`]): `a + b * c` is the
//! list `a b c * +`. A chain of any length is then a flat list, which elaboration runs like a stack
//! machine, left operand before right; only brackets nest, and the parser limits those.

use jut_ad::language::Deriver;
use jut_ir::{Mode, Span, TapePolicy};
use std::collections::BTreeMap;

/// A name as written: a variable, or a path such as `f{w,b}.jvp`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'s> {
    pub text: &'s str,
    pub span: Span,
}

impl<'s> Name<'s> {
    /// Whether it is a linear name: it ends in `'`.
    pub fn is_linear(&self) -> bool {
        self.text.ends_with('\'')
    }

    /// What it is called in the core: an element that a range takes apart has the text of the pattern, which is no name, and
    /// names that the parser makes are several words.
    pub fn hint(&self) -> &'s str {
        match self.text.ends_with(')') {
            true => "element",
            false => self.text.rsplit(' ').next().unwrap_or(self.text),
        }
    }
}

/// A function, its text if it has no name, and what is made of it, one of the other: the word, and the parameters
/// that it is with respect to.
pub(crate) type Chain<'s> = (Name<'s>, Option<ExprId>, Vec<(&'s str, Vec<Name<'s>>)>);

/// The full names of modules, by what a file calls them.
pub(crate) type Aliases = BTreeMap<String, String>;

/// The number of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ExprId(pub u32);

/// A whole file.
#[derive(Debug, Default)]
pub(crate) struct Ast<'s> {
    /// The text that it is made of.
    pub source: &'s str,
    pub decls: Vec<Decl<'s>>,
    pub exprs: Vec<Expr<'s>>,
}

impl<'s> Def<'s> {
    /// Whether it takes functions.
    pub fn is_template(&self) -> bool {
        self.params.iter().any(|(_, ty)| matches!(ty.kind, TypeKind::Function(..)))
    }
}

impl<'s> Ast<'s> {
    /// The modules that the file names.
    pub fn uses(&self) -> impl Iterator<Item = &Use<'s>> {
        self.decls.iter().filter_map(|decl| match decl {
            Decl::Use(module) => Some(module),
            _ => None,
        })
    }

    /// The text of an expression.
    pub fn text(&self, id: ExprId) -> &'s str {
        let span = self.expr(id).span;
        self.text_between(span.start, span.end)
    }

    /// The text from one byte to another.
    pub fn text_between(&self, start: u32, end: u32) -> &'s str {
        self.source.get(start as usize..end as usize).unwrap_or_default()
    }

    pub fn expr(&self, id: ExprId) -> &Expr<'s> {
        &self.exprs[id.0 as usize]
    }

    /// The function in `grad(f)`, `grad(m.f, x)`, `jvp(grad(f))`, and what is made of it.
    pub fn derived(&self, request: &Call<'s>) -> Option<Chain<'s>> {
        if !Deriver::is_word(request.func.text) {
            return None;
        }
        let (first, rest) = request.args.split_first()?;
        let name = |e: &ExprId| match &self.expr(*e).kind {
            ExprKind::Name(name) => Some(*name),
            _ => None,
        };
        let (func, lambda, mut chain) = match &self.expr(*first).kind {
            ExprKind::Name(name) => (*name, None, Vec::new()),
            ExprKind::Lambda(_) => {
                let span = self.expr(*first).span;
                (Name { text: "fn", span }, Some(*first), Vec::new())
            }
            ExprKind::Post(_, steps) if steps.iter().all(|s| matches!(s, Post::Field(_))) => {
                let span = self.expr(*first).span;
                (Name { text: self.text(*first), span }, None, Vec::new())
            }
            ExprKind::Call(inner) => self.derived(inner)?,
            _ => return None,
        };
        let wrt: Option<Vec<Name<'s>>> = rest.iter().map(name).collect();
        chain.push((request.func.text, wrt?));
        Some((func, lambda, chain))
    }
}

#[derive(Debug)]
pub(crate) enum Decl<'s> {
    /// `use stats`.
    Use(Use<'s>),
    Data(Data<'s>),
    Alias(Alias<'s>),
    Def(Def<'s>),
    Rule(Rule<'s>),
    Extern(Extern<'s>),
}

/// `extern def p(n: i64; x': [n]f64) -> (; [n]f64) transpose q derivative r`.
#[derive(Debug)]
pub(crate) struct Extern<'s> {
    /// All but a body, in the place of which there is no expression.
    pub def: Def<'s>,
    pub transpose: Name<'s>,
    pub derivative: Option<Name<'s>>,
}

/// `rule jvp f = g`.
#[derive(Debug)]
pub(crate) struct Rule<'s> {
    /// Whether `g` gives cotangents.
    pub vjp: bool,
    pub func: Name<'s>,
    pub by: Name<'s>,
}

#[derive(Debug)]
pub(crate) struct Use<'s> {
    pub module: Name<'s>,
    /// What the file calls it: `b` in `use a as b`, else the name of the module.
    pub alias: Name<'s>,
}

#[derive(Debug)]
pub(crate) struct Data<'s> {
    pub name: Name<'s>,
    /// `data D[n] = ..`: the sizes that its type has.
    pub sizes: Vec<Name<'s>>,
    /// `data D.tan of D = ..`: the type of its tangents.
    pub of: Option<Name<'s>>,
    pub constructors: Vec<(Name<'s>, Vec<(Name<'s>, Type<'s>)>)>,
    pub doc: String,
}

/// `type Matrix[m, n] = [m, n]f64`.
#[derive(Debug)]
pub(crate) struct Alias<'s> {
    pub name: Name<'s>,
    pub sizes: Vec<Name<'s>>,
    pub ty: Type<'s>,
}

#[derive(Debug)]
pub(crate) struct Def<'s> {
    pub core: bool,
    /// `const x: t = ..`: without parameters, and used by its name alone.
    pub constant: bool,
    pub name: Name<'s>,
    /// `[n, d]`.
    pub sizes: Vec<Name<'s>>,
    pub params: Vec<(Name<'s>, Type<'s>)>,
    pub lin_params: Vec<(Name<'s>, Type<'s>)>,
    pub cap_params: Vec<CapParam<'s>>,
    pub results: Vec<ResultDecl<'s>>,
    pub lin_results: Vec<ResultDecl<'s>>,
    pub body: ExprId,
    pub doc: String,
    /// From `def` to the results.
    pub head: Span,
}

#[derive(Debug)]
pub(crate) struct CapParam<'s> {
    pub mode: Mode,
    pub lanes: bool,
    pub name: Name<'s>,
    pub ty: Type<'s>,
}

#[derive(Debug)]
pub(crate) struct ResultDecl<'s> {
    pub name: Option<Name<'s>>,
    pub ty: Type<'s>,
}

#[derive(Debug)]
pub(crate) struct Type<'s> {
    pub kind: TypeKind<'s>,
    pub span: Span,
}

#[derive(Debug)]
pub(crate) enum TypeKind<'s> {
    Name(&'s str),
    /// `Net[n, m]`: a record, or another name of a type, with sizes.
    Sized(&'s str, Vec<ExprId>),
    /// `[a, b]t`.
    Array(Vec<ExprId>, Box<Type<'s>>),
    Tuple(Vec<Type<'s>>),
    /// `fn(f64, [n]f64) -> (m: i64, y: [m]f64)`, of parameters: what it takes and gives, results by their names if they have any.
    /// Nothing is given where nothing is said, `fn`.
    Function(Vec<Type<'s>>, Vec<(Option<Name<'s>>, Type<'s>)>),
}

#[derive(Debug)]
pub(crate) struct Block<'s> {
    /// The last one may be an expression, whose values are the results.
    pub stmts: Vec<Stmt<'s>>,
    pub span: Span,
}

#[derive(Debug)]
pub(crate) struct Stmt<'s> {
    pub kind: StmtKind<'s>,
    pub span: Span,
}

#[derive(Debug)]
pub(crate) enum StmtKind<'s> {
    /// A name that is a variable is assigned, any other is bound.
    Let(Pattern<'s>, ExprId),
    /// `var s = e`: the names are variables.
    Var(Pattern<'s>, ExprId),
    /// What a range takes its element apart with, `K(x, y) <- ks`: the names are new, whatever they were outside.
    Part(Pattern<'s>, ExprId),
    Expr(ExprId),
    /// `x[i] = e`, and with an operator `s -= e`, `x[i] *= e`.
    Set(ExprId, Option<&'static str>, ExprId),
    /// `(x[i], y) = e`.
    SetAll(Vec<ExprId>, ExprId),
    /// `place += value`.
    Inc(ExprId, ExprId),
    /// `check a < b`.
    Below(ExprId, ExprId),
    /// `check lo ..+ len <= size`.
    Within(ExprId, ExprId, ExprId),
    /// `check n >= 0`.
    NonNegative(ExprId),
    /// `check a * b`.
    Exact(ExprId),
    /// `assert c`, `assert c, "message"`.
    Assert(ExprId),
    /// `print "text", e`.
    Print(Vec<Printed<'s>>),
    /// `show "text"`, `show "" e`, `show "," e`.
    Show(&'s str, Option<ExprId>),
}

/// What `print` prints.
#[derive(Debug)]
pub(crate) enum Printed<'s> {
    /// A text, without the signs round it.
    Text(&'s str),
    Value(ExprId),
}

#[derive(Debug)]
pub(crate) enum Pattern<'s> {
    /// `x`, `x'`, `(x, y; z')`, with types or without.
    Names { nl: Vec<Item<'s>>, lin: Vec<Item<'s>>, span: Span },
    /// `K(x, =n)`.
    Con(Name<'s>, Vec<FieldPattern<'s>>),
    /// `#(x, y)`.
    Tuple(Vec<Name<'s>>, Span),
}

impl<'s> Pattern<'s> {
    /// The names that it binds.
    pub fn names(&self) -> Vec<Name<'s>> {
        match self {
            Pattern::Names { nl, lin, .. } => nl.iter().chain(lin).map(|i| i.name).collect(),
            Pattern::Tuple(names, _) => names.clone(),
            Pattern::Con(_, fields) => fields
                .iter()
                .filter_map(|field| match field {
                    FieldPattern::Bind(name) => Some(*name),
                    FieldPattern::Eq(_) => None,
                })
                .collect(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Item<'s> {
    pub name: Name<'s>,
    pub ty: Option<Type<'s>>,
}

#[derive(Debug)]
pub(crate) enum FieldPattern<'s> {
    Bind(Name<'s>),
    /// `=n`.
    Eq(ExprId),
}

#[derive(Debug)]
pub(crate) struct Expr<'s> {
    pub kind: ExprKind<'s>,
    pub span: Span,
    /// `@store e`, `@segment(k) e`.
    pub tape: TapePolicy,
}

#[derive(Debug)]
pub(crate) enum ExprKind<'s> {
    Name(Name<'s>),
    /// The magnitude; 2^63 only directly behind a `-`.
    Int(u64),
    Float(f64),
    /// `2.5f32`.
    Single(f32),
    /// `3i32`, the magnitude; 2^31 only directly behind a `-`.
    Narrow(u32),
    Bool(bool),
    /// Operators in postfix order, at least one.
    Ops(Vec<Op>),
    /// `x[i, j].r`: steps from left to right, at least one.
    Post(ExprId, Vec<Post<'s>>),
    Call(Box<Call<'s>>),
    /// `fn (x, y) -> e`, as an argument.
    Lambda(Box<Lambda<'s>>),
    /// `grad(f)(x)`, `grad(f, w)(x, w)`.
    Derived(Box<Derived<'s>>),
    /// `(a, b; c')`: several values, or none.
    List(Vec<ExprId>, Vec<ExprId>),
    Block(Block<'s>),
    /// `#(a, b)`.
    Tuple(Vec<ExprId>),
    /// `[a, b]`.
    Array(Vec<ExprId>),
    If(Box<If>),
    Case(ExprId, Vec<Arm<'s>>),
    /// `sum`, `build`, `map`, `for`, `fold`, `max`, `min` over a range.
    Loop(Box<Loop<'s>>),
    Scan(Box<Scan<'s>>),
    /// `hist (k < m) by max { .. }`.
    Hist(Box<Hist<'s>>),
    /// `rd r = x' { .. }`, `lend r = x' { .. }`.
    Read(Box<Read<'s>>),
    /// `wr r: t { .. }`, `acc r: t { .. }`, with `= x` behind the type or without.
    Total(Box<Total<'s>>),
    /// `rd place`.
    Rd(ExprId),
    Dup(ExprId),
    Drop(ExprId),
    Zero(Type<'s>),
    /// `x with [i] = v`.
    With(Box<With<'s>>),
    /// `p with x = v`.
    WithField(ExprId, Name<'s>, ExprId),
    /// `take x'[i]`.
    Take(ExprId, Vec<Post<'s>>),
    Cast {
        proved: bool,
        value: ExprId,
        ty: Type<'s>,
    },
}

/// `x with [i] = v`.
#[derive(Debug)]
pub(crate) struct With<'s> {
    pub array: ExprId,
    /// Indices first.
    pub path: Vec<Post<'s>>,
    pub value: ExprId,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Operand(ExprId),
    Unary(&'static str, Span),
    Binary(&'static str, Span),
}

#[derive(Debug)]
pub(crate) enum Post<'s> {
    /// `[i, a..b]`.
    Index(Vec<Index>, Span),
    /// `.r`.
    Field(Name<'s>),
    /// `.0`.
    Component(u32, Span),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Index {
    At {
        index: ExprId,
        proved: bool,
    },
    /// `lo ..+ len`.
    Slice {
        lo: ExprId,
        len: ExprId,
        proved: bool,
    },
    /// `a..b`.
    Range(ExprId, ExprId),
}

impl Index {
    /// The number in `Shape[n]`, as it stands.
    pub fn as_size(&self) -> Option<ExprId> {
        match self {
            Index::At { index, proved: false } => Some(*index),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Call<'s> {
    pub func: Name<'s>,
    /// `Scale[n](x)`: sizes that do not follow from the arguments.
    pub sizes: Vec<ExprId>,
    pub args: Vec<ExprId>,
    pub lin: Vec<ExprId>,
    /// `None` is `null`.
    pub places: Vec<Option<ExprId>>,
}

/// `if c { .. } else if d { .. } else { .. }`: a flat list, however long.
#[derive(Debug)]
pub(crate) struct If {
    /// Of a `case` on an integer: what the conditions, which are integers, are compared with.
    pub subject: Option<ExprId>,
    /// At least one.
    pub links: Vec<Link>,
    /// The `else`.
    pub other: Option<ExprId>,
}

/// One `if c { .. }` of a chain.
#[derive(Debug)]
pub(crate) struct Link {
    pub condition: ExprId,
    pub then: ExprId,
    /// To the end of the chain.
    pub span: Span,
}

#[derive(Debug)]
pub(crate) struct Arm<'s> {
    /// A constructor path, `true`, `false` or `_`.
    pub name: Name<'s>,
    pub fields: Vec<FieldPattern<'s>>,
    pub body: ExprId,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LoopKind {
    Sum,
    Build,
    /// `build` over the elements of arrays.
    Map,
    For,
    /// `for` that collects nothing.
    Fold,
    Max,
    Min,
    /// As long as its condition holds; with a head, at most that often.
    While,
}

/// A function without a name.
#[derive(Debug)]
pub(crate) struct Lambda<'s> {
    pub params: Vec<Name<'s>>,
    pub body: ExprId,
}

/// A call of a derivative.
#[derive(Debug)]
pub(crate) struct Derived<'s> {
    /// What is made of the function, one of the other: the word, and the parameters that it is with respect to.
    pub chain: Vec<(&'s str, Vec<Name<'s>>)>,
    /// The function where it has no name, `fn (x) -> e`.
    pub lambda: Option<ExprId>,
    /// The function, and the arguments of what is made of it.
    pub call: Call<'s>,
}

#[derive(Debug)]
pub(crate) struct Loop<'s> {
    pub kind: LoopKind,
    pub head: Vec<Range<'s>>,
    pub carry: Vec<(Name<'s>, ExprId)>,
    pub lin_carry: Vec<(Name<'s>, ExprId)>,
    /// Whether there is another iteration, in terms of the carries.
    pub condition: Option<ExprId>,
    pub body: ExprId,
}

#[derive(Debug)]
pub(crate) enum Range<'s> {
    /// `i < n`.
    Below(Name<'s>, ExprId),
    /// `a <= i < b`.
    Between(ExprId, Name<'s>, ExprId),
    /// `b > i >= a`: b, i, a.
    Down(ExprId, Name<'s>, ExprId),
    /// `x <- xs`. Of `K(x, y) <- ks` the name is the text of the pattern, and the body begins with a [`StmtKind::Part`].
    Each(Name<'s>, ExprId),
}

#[derive(Debug)]
pub(crate) struct Scan<'s> {
    pub dir: jut_ir::Dir,
    pub index: Name<'s>,
    pub bound: ExprId,
    pub carry: Vec<(Name<'s>, ExprId)>,
    pub lin_carry: Vec<(Name<'s>, ExprId)>,
    pub slices: Vec<(Name<'s>, ExprId)>,
    pub lin_slices: Vec<(Name<'s>, ExprId)>,
    pub cap_slices: Vec<(Name<'s>, ExprId)>,
    pub body: ExprId,
}

/// `hist (k < m) by op from e { (places, values) }`, and what it is made of: see [`crate::parser`].
#[derive(Debug)]
pub(crate) struct Hist<'s> {
    /// How many bins there are.
    pub bound: ExprId,
    pub operator: Operator<'s>,
    /// What stands behind `from`, for each bin.
    pub first: Option<ExprId>,
    /// Where that stands.
    pub from: Option<Span>,
    /// Gives the places and the values.
    pub body: ExprId,
    /// What is made of them, and the same for numbers.
    pub general: ExprId,
    pub summed: ExprId,
    /// Up to the operator.
    pub head: Span,
}

/// What joins the values of a bin.
#[derive(Debug)]
pub(crate) enum Operator<'s> {
    /// `+ * && ||`.
    Sign(&'static str),
    /// `>` for `max`, `<` for `min`.
    Extremum(&'static str),
    Function(Name<'s>),
}

#[derive(Debug)]
pub(crate) struct Total<'s> {
    pub mode: Mode,
    pub lanes: bool,
    pub name: Name<'s>,
    /// That of the start where it is not written down.
    pub ty: Option<Type<'s>>,
    pub start: Option<ExprId>,
    pub body: ExprId,
}

#[derive(Debug)]
pub(crate) struct Read<'s> {
    /// Whether the value is given back: `lend`.
    pub lent: bool,
    pub name: Name<'s>,
    pub value: ExprId,
    pub body: ExprId,
}
