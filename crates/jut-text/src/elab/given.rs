//! Functions that are given to definitions, and derivatives of functions that are no definitions.

use super::scope::Names;
use crate::ast::{self, Ast, Def, ExprId};
use jut_ad::language::{Deriver, Linear};
use jut_ir::{Atom, Diagnostic, FuncId, Function, Span, Type};

/// A definition that takes functions.
#[derive(Clone, Copy)]
pub(crate) struct Template<'a, 's> {
    pub(super) ast: &'a Ast<'s>,
    pub(super) def: &'a Def<'s>,
    /// The number of its file.
    pub(super) file: usize,
}

impl<'a, 's> Template<'a, 's> {
    pub fn new(ast: &'a Ast<'s>, def: &'a Def<'s>, file: usize) -> Self {
        Template { ast, def, file }
    }
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

/// The derivative of a function that was given, or has no name. It is made when the text has been read up to the
/// call, and the definition is read again.
pub(super) struct Wanted {
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

/// Derivatives of functions that are no definitions, in the order of their calls.
#[derive(Default)]
pub(super) struct Taken {
    /// Those that have been made.
    pub made: Vec<Answer>,
    /// How many have been met.
    pub met: usize,
    /// The first that is missing.
    pub wanted: Option<Wanted>,
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
