//! Functions that are given to definitions, and derivatives of functions that are no definitions.

use super::scope::Names;
use crate::ast::{self, Ast, Def, ExprId};
use jut_ad::language::{Deriver, Linear};
use jut_ir::{Atom, Block, Diagnostic, FuncId, Function, NVar, ResultDecl, Size, Span, Type};

/// A definition that takes functions.
#[derive(Clone, Copy)]
pub(crate) struct Template<'a, 's> {
    pub(super) ast: &'a Ast<'s>,
    pub(super) def: &'a Def<'s>,
    /// The number of its file.
    pub(super) file: usize,
    /// Whether it calls itself, perhaps by way of others.
    pub(super) is_recursive: bool,
}

impl<'a, 's> Template<'a, 's> {
    pub fn new(ast: &'a Ast<'s>, def: &'a Def<'s>, file: usize, is_recursive: bool) -> Self {
        Template { ast, def, file, is_recursive }
    }
}

/// What is given for a parameter of one.
pub(super) enum Argument<'a, 's> {
    Value(Atom),
    Function(Callable<'a, 's>),
}

/// A function that was given, or that has a name in a block.
pub(crate) struct Given<'a, 's> {
    pub(super) callable: Callable<'a, 's>,
    /// What the parameter says that it takes and gives; nothing is said of what a block names.
    pub(super) stated: Option<Stated>,
}

/// The types of a parameter that is a function.
#[derive(Clone)]
pub(super) struct Stated {
    pub(super) takes: Vec<Type>,
    pub(super) gives: Vec<Type>,
}

impl Callable<'_, '_> {
    /// Whether both are one function, which captures one thing.
    pub(super) fn is(&self, other: &Self) -> bool {
        use std::rc::Rc;
        match (self, other) {
            (Callable::Func(a), Callable::Func(b)) => a == b,
            (Callable::Primitive(a), Callable::Primitive(b)) => a == b,
            (Callable::Given(a), Callable::Given(b)) => a == b,
            (Callable::Lambda(a), Callable::Lambda(b)) => {
                std::ptr::eq(a.lambda, b.lambda) && Rc::ptr_eq(&a.names, &b.names)
            }
            (Callable::Partial(a, own), Callable::Partial(b, others)) => {
                let same = |(own, other): (&Option<Self>, &Option<Self>)| match (own, other) {
                    (Some(own), Some(other)) => own.is(other),
                    (own, other) => own.is_none() && other.is_none(),
                };
                a == b && own.len() == others.len() && own.iter().zip(others).all(same)
            }
            (Callable::Kept(a), Callable::Kept(b)) => Rc::ptr_eq(a, b),
            (Callable::Derivative(a), Callable::Derivative(b)) => Rc::ptr_eq(a, b),
            (Callable::Tangent(a), Callable::Tangent(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl Given<'_, '_> {
    /// A derivative at a point, whose own definition says what it takes and gives.
    pub(super) fn kept(kept: std::rc::Rc<Kept>) -> Self {
        Given { callable: Callable::Kept(kept), stated: None }
    }
}

#[derive(Clone)]
pub(super) enum Callable<'a, 's> {
    /// A definition.
    Func(FuncId),
    /// A primitive, or a function of the library.
    Primitive(&'s str),
    /// Another one that was given, handed on.
    Given(usize),
    /// `fn (x) -> e`.
    Lambda(Lambda<'a, 's>),
    /// A definition that takes functions, by its number, and the functions that it takes, in their places.
    Partial(usize, Vec<Option<Callable<'a, 's>>>),
    /// A derivative at a point.
    Kept(std::rc::Rc<Kept>),
    /// A derivative of a function that is no definition.
    Derivative(std::rc::Rc<Differentiated<'a, 's>>),
    /// The tangent of a function, in what states a derivative.
    Tangent(std::rc::Rc<Tangent>),
}

/// The tangent of a function: see [`super::ruled`].
pub(super) struct Tangent {
    /// The derivative along what it captures: none if that has no floats.
    pub(super) along: Option<FuncId>,
    pub(super) captured: Vec<NVar>,
    /// The tangents of what it captures.
    pub(super) tangents: Vec<NVar>,
    /// The types of what it gives.
    pub(super) gives: Vec<Type>,
}

/// A definition with a rule, for the functions that it is given, while one of the two definitions is read.
pub(crate) struct Ruling<'a, 's> {
    pub(super) template: usize,
    pub(super) functions: Vec<Callable<'a, 's>>,
    /// The first of the two, and what it captures; none while its body is read.
    pub(super) made: Option<(FuncId, Vec<NVar>)>,
}

/// A function without a name, and where its text stands.
#[derive(Clone)]
pub(super) struct Lambda<'a, 's> {
    pub(super) lambda: &'a ast::Lambda<'s>,
    pub(super) ast: &'a Ast<'s>,
    pub(super) file: usize,
    /// What it sees.
    pub(super) names: std::rc::Rc<Names<'s>>,
    pub(super) span: Span,
}

/// A derivative at a point.
#[derive(Debug)]
pub(super) struct Kept {
    /// It, and its transpose: definitions.
    pub(super) apply: FuncId,
    pub(super) transposed: FuncId,
    /// What both take first.
    pub(super) saved: Vec<Atom>,
}

/// What a derivative has become.
pub(super) type Answer = Result<Found, Diagnostic>;

/// What was made.
#[derive(Clone)]
pub(super) enum Found {
    /// A definition.
    Func(FuncId),
    /// The derivative at a point, that is kept.
    Linear(Linear),
}

impl Found {
    /// What takes the arguments.
    pub(super) fn called(&self) -> FuncId {
        match self {
            Found::Func(func) => *func,
            Found::Linear(linear) => linear.primal,
        }
    }
}

/// A call of a derivative.
pub(super) struct Asked<'a, 's> {
    /// Whose.
    pub name: ast::Name<'s>,
    /// What is made of it, one of the other: words, and the names of parameters.
    pub chain: Vec<(&'s str, Vec<&'s str>)>,
    /// The arguments.
    pub call: &'a ast::Call<'s>,
}

impl<'a, 's> Asked<'a, 's> {
    /// `grad(f)(x)`.
    pub fn of(derived: &'a ast::Derived<'s>) -> Asked<'a, 's> {
        let names = |wrt: &[ast::Name<'s>]| wrt.iter().map(|name| name.text).collect();
        let chain = derived.chain.iter().map(|(word, wrt)| (*word, names(wrt))).collect();
        Asked { name: derived.call.func, chain, call: &derived.call }
    }
}

/// What is missing where the text has been read up to a call. It is made, and the definition is read again.
pub(super) enum Wanted {
    /// The derivative of a function that was given, or has no name.
    Derivative(Asking),
    /// Definitions that take functions and call themselves, for the functions that they are given, and
    /// which of them is called.
    Definitions(Vec<Function>, usize),
    /// The rule of a definition that was made: what states its derivative, for a call.
    Rule(FuncId, Box<Function>, Span),
    /// Nothing but to read on: of what was made, this much stays.
    Again(usize),
}

/// A derivative that is missing.
pub(super) struct Asking {
    pub of: Of,
    /// How many of its first parameters are captured.
    pub captured: usize,
    /// What is made of it: words, and the names of parameters.
    pub chain: Vec<(String, Vec<String>)>,
}

/// Whose derivative.
pub(super) enum Of {
    Definition(FuncId),
    Block(Box<Function>),
}

/// Derivatives of functions that are no definitions, and definitions for the functions that they are given, in the order of their calls.
#[derive(Default)]
pub(super) struct Taken {
    /// Those that have been made.
    pub made: Vec<Answer>,
    /// How many have been met.
    pub met: usize,
    /// The first that is missing.
    pub wanted: Option<Wanted>,
    /// Sizes that change from call to call of definitions for the functions that they are given: the number of the definition, and
    /// the name of the size.
    pub changing: Vec<(usize, String)>,
}

/// A function that is no definition, of which derivatives are taken, and which.
#[derive(Clone)]
pub(super) struct Differentiated<'a, 's> {
    /// What it is called.
    pub(super) name: &'s str,
    pub(super) callable: Callable<'a, 's>,
    /// Its parameters, where they have names.
    pub(super) names: Vec<&'s str>,
    /// The types of its parameters, where they are stated.
    pub(super) takes: Option<Vec<Type>>,
    /// What is made of it, one of the other: words, and the names of parameters.
    pub(super) chain: Vec<(&'s str, Vec<&'s str>)>,
}

/// A function whose derivative is taken.
pub(super) enum Source {
    /// `fn (x) -> e`.
    Text(ExprId),
    /// One that was given, by its number.
    Given(usize),
    /// A definition that takes functions, by its number.
    Template(usize),
}

/// What is made, one of the other: the word, and the parameters that it is with respect to.
pub(super) type Chain<'c> = Vec<(&'c str, Vec<&'c str>)>;

/// `f{x,y}.grad.jvp`: the definition, and what is made of it.
pub(super) fn methods(path: &str) -> Option<(&str, Chain<'_>)> {
    let mut base = path;
    let mut chain = Vec::new();
    while let Some((rest, word)) = base.rsplit_once('.')
        && Deriver::request(word).is_some()
    {
        let masked = rest.strip_suffix('}').and_then(|rest| rest.rsplit_once('{'));
        let (rest, wrt) = match masked {
            Some((rest, names)) => (rest, names.split(',').map(str::trim).collect()),
            None => (rest, Vec::new()),
        };
        chain.push((word, wrt));
        base = rest;
    }
    chain.reverse();
    (!chain.is_empty()).then_some((base, chain))
}

/// A definition that takes functions and calls itself, for the functions that it is given: see [`super::specialised`].
pub(super) struct Special<'a, 's> {
    /// The definition, and the functions in their order.
    pub template: usize,
    pub functions: Vec<Callable<'a, 's>>,
    /// The values of variables where it was met first.
    pub variables: Vec<Atom>,
    /// Its number among all of the definition that is read, and how many derivatives had been met before it.
    pub number: usize,
    pub met: usize,
    /// The sizes of the definition; those that are parameters have none.
    pub sizes: Vec<(&'s str, Option<Size>)>,
    /// Its parameters: those sizes, and then values.
    pub params: Vec<NVar>,
    pub results: Vec<ResultDecl>,
    /// The types of results, earlier ones as placeholders.
    pub gives: Vec<Type>,
    /// Its body; none while it is read.
    pub block: Option<Block>,
}

/// Those that call each other.
#[derive(Default)]
pub(super) struct Specials<'a, 's> {
    pub own: Vec<Special<'a, 's>>,
    /// Those around a function that becomes a definition of its own.
    pub around: Vec<Vec<Special<'a, 's>>>,
    /// How many have been met.
    pub met: usize,
}

impl Specials<'_, '_> {
    /// Begins a function that becomes a definition of its own.
    pub(super) fn enter(&mut self) {
        self.around.push(std::mem::take(&mut self.own));
    }

    /// Ends it.
    pub(super) fn leave(&mut self) {
        self.own = self.around.pop().unwrap_or_default();
    }
}
