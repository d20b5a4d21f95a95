//! Derivatives that a program takes of its own definitions: `grad(f)(x)`, `value_and_grad(f)(x)`, `jvp(f)(x, v)`.
//!
//! ```text
//! def f(x: f64, a: f64) -> f64 = a * sin(x)
//! def slope(x: f64) -> f64 = grad(f, x)(x, 2.0)      calls `f{x}.grad`, which J, U, T and L have made
//! ```
//!
//! What a request makes ([`crate::compose`]) is a definition like any other, without linear parts. So it can be
//! called, and whoever differentiates the caller differentiates it too: nesting to any depth needs no rule of its
//! own, and no two derivatives can be confused, for each has names of its own.
//!
//! What was composed is optimised at once: halves and record of the tape become one definition where they are called
//! once, so the next J meets no tape of this one (the derivative of a record with its own sizes is not built).
//!
//! *Requires*: definitions that the checker accepts. *Ensures*: definitions that it accepts, behind all others.
//! *Cost*: that of the passes; what two requests share is made once.

use crate::compose::{self, Asked, Composition, Outcome, Parameter, Request, Saved, compose};
use crate::forward::tangents::declare_for;
use crate::{Derivatives, Mask, Policy, batch};
use jut_ir::calls::reached_by_calls;
use jut_ir::{Block, DataId, Diagnostic, FuncId, Function, NVar, Program, Rhs, Size, Type};
use std::collections::{HashMap, HashSet};

/// The word for a derivative at a point that is kept.
pub const LINEARIZE: &str = "linearize";

/// The derivative of a definition at a point, as three definitions.
#[derive(Clone, Debug)]
pub struct Linear {
    /// Gives the results, then the tape if there is one.
    pub primal: FuncId,
    /// How many results the definition has.
    pub results: usize,
    /// What the other two take first, of the arguments and results of `primal`.
    pub saved: Vec<Saved>,
    /// Takes tangents, and gives tangents.
    pub apply: FuncId,
    /// Takes cotangents, and gives cotangents.
    pub transposed: FuncId,
}

/// Makes derivatives of the definitions of a program that grows meanwhile.
#[derive(Debug, Default)]
pub struct Deriver {
    derivatives: Derivatives,
    /// What compositions have become.
    settled: HashMap<FuncId, FuncId>,
    /// What the results of derivatives are the derivatives of, or by.
    sources: HashMap<FuncId, Vec<Option<Type>>>,
    /// Compositions with sizes between their parameters, and the same with all sizes before them.
    sized: HashMap<FuncId, FuncId>,
}

impl Deriver {
    /// What a word in the text asks for: the suffix of a request, or `value_and_grad`.
    ///
    /// ```
    /// use jut_ad::compose::Request;
    /// use jut_ad::language::Deriver;
    /// assert_eq!(Deriver::request("grad"), Some(Request::Gradient));
    /// assert_eq!(Deriver::request("value_and_grad"), Some(Request::ValueAndGradient));
    /// assert_eq!(Deriver::request("value"), None);
    /// ```
    pub fn request(word: &str) -> Option<Request> {
        match word {
            "value_and_grad" => return Some(Request::ValueAndGradient),
            "transpose" => return Some(Request::Transposed),
            "vmap" => return Some(Request::Batched),
            _ => {}
        }
        Request::named(word).filter(|found| !found.is_no_derivative())
    }

    /// Whether a word asks for something to be made of a function: a request, or [`LINEARIZE`].
    ///
    /// ```
    /// use jut_ad::language::Deriver;
    /// assert!(Deriver::is_word("linearize") && Deriver::is_word("grad") && !Deriver::is_word("sum"));
    /// ```
    pub fn is_word(word: &str) -> bool {
        word == LINEARIZE || Deriver::request(word).is_some()
    }

    /// Adds a definition, under a name that is not taken.
    pub fn add(&mut self, program: &mut Program, func: Function) -> FuncId {
        self.derivatives.resume(std::mem::take(program));
        let id = self.derivatives.add_func(func);
        *program = std::mem::take(&mut self.derivatives.program);
        id
    }

    /// Declares the tangent type of a data type, and those of the data types in it, where they need one.
    pub fn declare_tangent(&mut self, program: &mut Program, data: DataId) {
        self.derivatives.resume(std::mem::take(program));
        declare_for(&mut self.derivatives, std::iter::once(&Type::Data(data)));
        *program = std::mem::take(&mut self.derivatives.program);
    }

    /// The definition that answers a request for a definition of the program, added to it unless it is there.
    ///
    /// # Errors
    /// `J801` for a definition with linear parts, and what [`compose`] reports.
    pub fn derive(
        &mut self,
        program: &mut Program,
        func: FuncId,
        request: Request,
        wrt: Mask,
    ) -> Result<FuncId, Diagnostic> {
        if request != Request::Transposed {
            forward_domain(program, func)?;
        }
        let before = program.funcs.len();
        self.derivatives.resume(std::mem::take(program));
        let asked = Asked { request, func, wrt, of: None, policy: Policy::Default };
        let made = compose(&mut self.derivatives, &asked, &mut |_, _, _| ()).map(|made| {
            let settled = self.settled(made.func);
            Composition { func: self.sizes_first(settled, &made.parameters), ..made }
        });
        *program = std::mem::take(&mut self.derivatives.program);
        for (_, made) in program.funcs.iter_mut().skip(before) {
            made.derived = true;
        }
        let Composition { func: made, results, .. } = made?;
        let sources = results.iter().map(|what| self.source(&program.funcs[func], func, what));
        // Of a batch they are arrays; how long these are nobody asks.
        let of_batch = |of: Type| match request {
            Request::Batched => Type::array(Size::default(), of),
            _ => of,
        };
        let sources = sources.map(|of| of.map(of_batch)).collect();
        self.sources.insert(made, sources);
        Ok(made)
    }

    /// For each derivative that was made: the types that its results are derivatives of, or by.
    pub fn sources(&self) -> &HashMap<FuncId, Vec<Option<Type>>> {
        &self.sources
    }

    /// The type that a result is the tangent or cotangent of. Of a tangent it is the one before.
    fn source(&self, func: &Function, id: FuncId, what: &Outcome) -> Option<Type> {
        let before = |k: usize| self.sources.get(&id)?.get(k)?.clone();
        match *what {
            Outcome::Gradient(k) => func.params.get(k).map(|p| func.nvars[*p].ty.clone()),
            Outcome::Tangent(k) => before(k).or_else(|| func.results.get(k).map(|r| r.ty.clone())),
            Outcome::Value(k) => before(k),
            _ => None,
        }
    }

    /// The derivative of a definition at a point, as definitions of the program.
    ///
    /// # Errors
    /// `J801` for a definition with linear parts, `J804` if no parameter has floats, and what the passes report.
    pub fn linear(
        &mut self,
        program: &mut Program,
        func: FuncId,
        wrt: &Mask,
    ) -> Result<Linear, Diagnostic> {
        forward_domain(program, func)?;
        let results = program.funcs[func].results.len();
        let before = program.funcs.len();
        self.derivatives.resume(std::mem::take(program));
        let made = compose::linearize(&mut self.derivatives, func, wrt, Policy::Default);
        *program = std::mem::take(&mut self.derivatives.program);
        for (_, made) in program.funcs.iter_mut().skip(before) {
            made.derived = true;
        }
        let made = made?;
        let (apply, transposed) = (made.apply.func, made.apply_transposed.func);
        Ok(Linear { primal: made.primal.func, results, saved: made.saved, apply, transposed })
    }
}

/// Definitions without linear parts have derivatives.
fn forward_domain(program: &Program, func: FuncId) -> Result<(), Diagnostic> {
    jut_ir::check::check_forward_domain(program, func).map_err(|errors| {
        let message = format!("`{}` has linear parts", program.funcs[func].name);
        errors
            .into_iter()
            .next()
            .unwrap_or_else(|| Diagnostic::error("J801", program.funcs[func].span, message))
    })
}

impl Deriver {
    /// A composition, optimised: itself, if it calls nothing any more, and else a definition behind those that it
    /// calls.
    fn settled(&mut self, made: FuncId) -> FuncId {
        if let Some(settled) = self.settled.get(&made) {
            return *settled;
        }
        let mut optimised = jut_opt::optimise(&self.derivatives.program, made, false);
        let reached = jut_opt::reached_from(&optimised, made);
        let needed = reached_by_calls(&optimised, made).into_iter().collect::<HashSet<_>>();
        // What a declaration of another language names is there.
        let (foreign, own): (Vec<FuncId>, Vec<FuncId>) =
            reached.into_iter().partition(|id| optimised.funcs[*id].is_foreign());
        let mut moved: HashMap<FuncId, FuncId> = foreign.iter().map(|id| (*id, *id)).collect();
        let own: Vec<FuncId> = own.into_iter().filter(|id| needed.contains(id)).collect();
        if own == [made] {
            self.derivatives.program.funcs[made] = std::mem::take(&mut optimised.funcs[made]);
            moved.insert(made, made);
        } else {
            // Functions that call each other, or themselves, call what these become.
            for id in &own {
                let new = self.derivatives.reserve(&optimised.funcs[*id].name);
                moved.insert(*id, new);
            }
            for id in own {
                let mut func = std::mem::take(&mut optimised.funcs[id]);
                relink(&mut func.body, &moved);
                self.derivatives.complete(moved[&id], func);
            }
        }
        for func in moved.values() {
            let func = &mut self.derivatives.program.funcs[*func];
            func.rule = func.rule.map(|rule| rule.with(moved[&rule.func()]));
        }
        let settled = moved.get(&made).copied().unwrap_or(made);
        self.settled.insert(made, settled);
        settled
    }

    /// A composition whose cotangents have sizes that the function computes takes these before them. Here they are the
    /// first parameters, beside other sizes that callers leave out because arguments have them; the function tests that it
    /// computes the same.
    fn sizes_first(&mut self, made: FuncId, parameters: &[Parameter]) -> FuncId {
        if !parameters.contains(&Parameter::Size) {
            return made;
        }
        if let Some(sized) = self.sized.get(&made) {
            return *sized;
        }
        let mut func = self.derivatives.program.funcs[made].clone();
        let (own, rest) = func.params.split_at(func.size_params);
        let all = rest.iter().zip(parameters.iter().skip(own.len()));
        let (computed, others): (Vec<_>, Vec<_>) = all.partition(|(_, p)| **p == Parameter::Size);
        let sizes = own.iter().chain(computed.into_iter().map(|(v, _)| v)).copied();
        let sizes: Vec<NVar> = sizes.collect();
        func.size_params = sizes.len();
        func.params = sizes.into_iter().chain(others.into_iter().map(|(v, _)| *v)).collect();
        let sized = self.derivatives.add_func(func);
        self.sized.insert(made, sized);
        sized
    }
}

/// Calls what the called functions have become.
fn relink(block: &mut Block, moved: &HashMap<FuncId, FuncId>) {
    for stmt in &mut block.stmts {
        if let Rhs::Call(call) = &mut stmt.rhs
            && let Some(func) = moved.get(&call.func)
        {
            call.func = *func;
        }
        stmt.rhs.blocks_mut().into_iter().for_each(|inner| relink(inner, moved));
    }
}

/// What a word is about: the parameters with these names; without any, all from the number `first` on. Of a batch, these
/// are mapped, with floats or without.
///
/// # Errors
/// `J010` for a name that is no parameter.
pub fn mask(
    program: &Program,
    func: FuncId,
    word: &str,
    wrt: &[&str],
    first: usize,
) -> Result<Mask, Diagnostic> {
    let batched = Deriver::request(word) == Some(Request::Batched);
    if wrt.is_empty() && batched {
        let possible = batch::mappable(program, func);
        let count = program.funcs[func].params.len();
        return Ok(Mask::of(count, |k| k >= first && possible.is_active(k)));
    }
    if wrt.is_empty() {
        return Ok(Mask::new(program, func, |k| k >= first));
    }
    let source = &program.funcs[func];
    let named = |name: &str| source.params.iter().position(|v| source.nvars[*v].name == name);
    let mut positions = Vec::with_capacity(wrt.len());
    for name in wrt {
        let Some(position) = named(name) else {
            let message = format!("`{}` has no parameter `{name}`", source.name);
            let all: Vec<String> = source.params[source.size_params..]
                .iter()
                .map(|v| format!("`{}`", source.nvars[*v].name))
                .collect();
            let help = format!("its parameters are {}", all.join(", "));
            return Err(Diagnostic::error("J010", source.span, message).help(help));
        };
        positions.push(position);
    }
    match batched {
        true => Ok(Mask::of(source.params.len(), |k| positions.contains(&k))),
        false => Ok(Mask::only(program, func, &positions)),
    }
}
