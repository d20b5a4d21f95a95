//! Derivatives of functions that are no definitions: of `fn (x) -> e`, and of functions that were given.
//!
//! ```text
//! def newton(f: fn(f64) -> f64, x: f64) -> f64 = x - f(x) / grad(f)(x)
//! def root(a: f64) -> f64 = newton(fn (y) -> y * y - a, 1.0)        f.fn(a, y) = .., and f.fn{y}.grad
//! ```
//!
//! The function is written out as a block, and the block becomes a definition ([`jut_ad::outline`]), whose first
//! parameters are what it captures. Passes need it in the program, to which elaboration of a definition does not
//! add: so the definition is given up there ([`Taken::wanted`]), the derivative is made, and the definition is read
//! again, once for each.

use super::body::{Body, FUNCTION};
use super::given::{Asked, Asking, Callable, Differentiated, Found, Of, Source, Wanted};
use super::made::Made;
use super::{Res, Stop};
use jut_ad::compose::Request;
use jut_ad::language::Deriver;
use jut_ad::outline::outline;
use jut_ir::{Atom, Block, NVar, Span, Type};

/// How many of them one definition may have: it is read once for each.
pub(super) const MOST_TAKEN: usize = 200;

/// How many batches a parameter is mapped over.
fn mapped(chain: &[(&str, Vec<&str>)], name: &str) -> usize {
    let over = |(word, names): &&(&str, Vec<&str>)| {
        Deriver::request(word) == Some(Request::Batched)
            && (names.is_empty() || names.contains(&name))
    };
    chain.iter().filter(over).count()
}

/// The type of an element of a batch of batches.
fn of_element(mut ty: Type, dimensions: usize) -> Type {
    for _ in 0..dimensions {
        if let Type::Array(_, element) = ty {
            ty = *element;
        }
    }
    ty
}

/// A function as a definition, what it captures, and its parameters by their names.
pub(super) type Outlined<'s> = (Of, Vec<NVar>, Vec<(&'s str, NVar)>);

impl<'a, 's> Body<'a, 's> {
    /// `grad(fn (x) -> e)(x)`, `grad(f)(x)`.
    pub fn call_taken(&mut self, asked: &Asked<'a, 's>, source: Source, span: Span) -> Res<Made> {
        let (found, given) = self.take_derivative(asked, source, span)?;
        self.call_values(found.called(), given, Vec::new(), (&[], &[]), span)
    }

    /// A derivative of a function that is no definition, and what it is called with: what the function captures, and
    /// the arguments.
    pub fn take_derivative(
        &mut self,
        asked: &Asked<'a, 's>,
        source: Source,
        span: Span,
    ) -> Res<(Found, Vec<(Atom, Span)>)> {
        let mut texts = asked.call.args.clone();
        let of = match source {
            Source::Template(number) => {
                let (callable, names, rest) = self.partial(number, &asked.call.args)?;
                texts = rest;
                let (name, chain) = (asked.name.text, asked.chain.clone());
                Differentiated { name, callable, names, takes: None, chain }
            }
            source => self.differentiated(asked.name.text, asked.chain.clone(), source)?,
        };
        let mut args = Vec::new();
        for e in texts {
            args.push((self.atom(e, "t")?, self.span(e)));
        }
        self.derivative_at(&of, args, span)
    }

    /// A function without a name, or one that was given, whose derivative is taken.
    pub(super) fn differentiated(
        &mut self,
        name: &'s str,
        mut chain: Vec<(&'s str, Vec<&'s str>)>,
        source: Source,
    ) -> Res<Differentiated<'a, 's>> {
        let (callable, stated) = match source {
            Source::Text(e) => (self.callable(e)?, None),
            Source::Given(k) => {
                let stated = self.given[k].stated.as_ref().map(|stated| stated.takes.clone());
                (self.what_was_given(k), stated)
            }
            Source::Template(_) => return Err(Stop),
        };
        // A derivative of a derivative is made of the function itself.
        if let Callable::Derivative(of) = callable {
            let mut of = (*of).clone();
            of.chain.append(&mut chain);
            return Ok(of);
        }
        let names: Vec<&'s str> = match (&stated, &callable) {
            (_, Callable::Lambda(lambda)) => lambda.lambda.params.iter().map(|n| n.text).collect(),
            (Some(takes), _) => vec!["x"; takes.len()],
            // Where nothing is said of what is given, a primitive has as many as it takes.
            (None, Callable::Primitive(text)) => vec!["x"; super::operation::operands_of(text)],
            _ => Vec::new(),
        };
        Ok(Differentiated { name, callable, names, takes: stated, chain })
    }

    /// The derivative that is called with these arguments, which tangents and cotangents may follow.
    pub(super) fn derivative_at(
        &mut self,
        of: &Differentiated<'a, 's>,
        args: Vec<(Atom, Span)>,
        span: Span,
    ) -> Res<(Found, Vec<(Atom, Span)>)> {
        let Differentiated { name, callable, names, takes, chain } = of;
        let count = takes.as_ref().map_or(names.len(), Vec::len);
        let found = args.iter().take(count).enumerate();
        let found = found.map(|(k, (a, _))| {
            let dimensions = mapped(chain, names.get(k).copied().unwrap_or("x"));
            of_element(self.type_of(*a), dimensions)
        });
        let found: Vec<Type> = found.collect();
        if found.len() < count || takes.as_ref().is_some_and(|takes| *takes != found) {
            let found: Vec<String> = found.iter().map(|ty| self.show(ty)).collect();
            let message = format!(
                "the function takes {count} argument(s) of the types that it is declared with, and is given ({})",
                found.join(", ")
            );
            let help = "give what it takes, and then tangents or cotangents if there are any";
            return self.error("J208", span, message, help);
        }
        let (of, captured, params) = match callable {
            Callable::Func(func) => (Of::Definition(*func), Vec::new(), Vec::new()),
            callable => self.outlined((name, names.clone()), callable, found, span)?,
        };
        let number = self.taken.met;
        self.taken.met += 1;
        if let Some(made) = self.taken.made.get(number) {
            let found = match made.clone() {
                Ok(found) => found,
                Err(failed) => return self.not_made(&failed, span),
            };
            let called = &self.program.funcs[found.called()];
            let takes = called.params.len() - called.size_params - captured.len();
            if matches!(of, Of::Block(_)) && args.len() != takes {
                let message =
                    format!("this takes {takes} argument(s), and {} are given", args.len());
                let help = "give the arguments of the function, and then tangents or cotangents if there are any";
                return self.error("J208", span, message, help);
            }
            let captured = captured.into_iter().map(|v| (Atom::Var(v), span));
            return Ok((found, captured.chain(args).collect()));
        }
        if number >= MOST_TAKEN {
            let message = "too many derivatives of functions without a name in one definition";
            let help = "make definitions of some of them";
            return self.error("J003", span, message, help);
        }
        // Parameters have other names where theirs are taken.
        let inner = |name: &str| {
            let own = params.iter().find(|(text, _)| *text == name);
            own.map_or(name.to_string(), |(_, p)| self.b.func.nvars[*p].name.to_string())
        };
        let chain = chain
            .iter()
            .map(|(word, wrt)| (word.to_string(), wrt.iter().map(|name| inner(name)).collect()));
        let asking = Asking { of, captured: captured.len(), chain: chain.collect() };
        self.taken.wanted.get_or_insert(Wanted::Derivative(asking));
        Err(Stop)
    }

    /// A function that is no definition as one, what it captures, and its parameters.
    pub(super) fn outlined(
        &mut self,
        (name, names): (&str, Vec<&'s str>),
        callable: &Callable<'a, 's>,
        types: Vec<Type>,
        span: Span,
    ) -> Res<Outlined<'s>> {
        let mut params = Vec::new();
        // What is known outside is not known in a definition of its own.
        let facts = std::mem::take(&mut self.facts);
        self.specials.enter();
        let open = self.enter_loop(Some(FUNCTION), span);
        for (name, ty) in names.into_iter().zip(types) {
            self.facts.add_type(&ty);
            params.push((name, self.b.nvar(name, ty, span)));
        }
        let own: Vec<NVar> = params.iter().map(|(_, p)| *p).collect();
        let args = own.iter().map(|p| Atom::Var(*p)).collect();
        let values = self.applied(name, callable, args, span);
        let stmts = self.leave(open);
        self.specials.leave();
        self.facts = facts;
        let values = values?;
        if !values.lin.is_empty() {
            return self.error("J202", span, "the function gives a linear value", "give numbers");
        }
        let block = Block { stmts, nl: values.nl, lin: Vec::new() };
        let name = format!("{}.fn", self.b.func.name);
        match outline(&mut self.b, block, &own, name, span) {
            Ok((func, captured)) => Ok((Of::Block(Box::new(func)), captured, params)),
            Err(error) => self.fail(error),
        }
    }
}
