//! The sublanguages between the passes: Linear B, the domain of J, the domain of T.
//!
//! A statement is *purely non-linear* if nothing linear occurs in it, and *linear* if it has no
//! non-linear result and adds nothing to an accumulator outside of it. In Linear B (figure 7 of
//! the paper, which U produces and T needs) every statement is one or the other, at every depth,
//! and so is the definition itself.
//!
//! *Requires*: a well-typed definition. *Cost*: linear.

use crate::diagnostic::Diagnostic;
use crate::entity::{Cap, FuncId, SecondaryMap};
use crate::ir::*;
use crate::span::Span;

/// Checks that a definition and every statement in it is purely non-linear or linear.
///
/// # Errors
/// The statements that mix both.
pub fn check_linear_b(program: &Program, func: FuncId) -> Result<(), Vec<Diagnostic>> {
    let func = &program.funcs[func];
    let mut walk = Walk::new(program, func);
    walk.block(&func.body, 0);
    let mut errors = walk.errors;
    if !func.is_nonlinear() && !func.is_linear() {
        let message = format!("`{}` has linear parts and non-linear results", func.name);
        let help =
            "make its linear results the only ones: compute the others in a function of their own";
        errors.insert(0, Diagnostic::error("J801", func.span, message).help(help));
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Checks that J accepts a definition: nothing linear, in its signature or in its body.
///
/// # Errors
/// The first linear part.
pub fn check_forward_domain(program: &Program, func: FuncId) -> Result<(), Vec<Diagnostic>> {
    let func = &program.funcs[func];
    let error = |span, message: String| {
        let help = "erase linearity first";
        Err(vec![Diagnostic::error("J801", span, message).help(help)])
    };
    if !func.is_nonlinear() {
        let message = format!("`{}` has linear parameters or results", func.name);
        return error(func.span, message);
    }
    let mut walk = Walk::new(program, func);
    walk.block(&func.body, 0);
    match walk.first_linear {
        Some(span) => error(span, format!("`{}` computes with linear values", func.name)),
        None => Ok(()),
    }
}

/// Checks that T accepts a definition: linear, and in Linear B.
///
/// # Errors
/// Why it does not.
pub fn check_transpose_domain(program: &Program, func: FuncId) -> Result<(), Vec<Diagnostic>> {
    check_linear_b(program, func)?;
    let func = &program.funcs[func];
    if func.is_linear() {
        return Ok(());
    }
    let message = format!("`{}` is not linear: it has nothing to transpose", func.name);
    let help = "give it linear parameters: `def f(x: f64; x': f64) -> (; f64)`";
    Err(vec![Diagnostic::error("J801", func.span, message).help(help)])
}

/// What a statement does.
#[derive(Clone, Copy)]
struct Effect {
    /// Something linear occurs in it.
    linear: bool,
    /// The outermost level of an accumulator that it adds to; `usize::MAX` for none.
    accumulates: usize,
}

const PURE: Effect = Effect { linear: false, accumulates: usize::MAX };

impl Effect {
    fn and(self, other: Effect) -> Effect {
        Effect {
            linear: self.linear || other.linear,
            accumulates: self.accumulates.min(other.accumulates),
        }
    }
}

struct Walk<'a> {
    program: &'a Program,
    func: &'a Function,
    /// The block depth at which an accumulator is bound: 0 for parameters.
    level: SecondaryMap<Cap, usize>,
    first_linear: Option<Span>,
    errors: Vec<Diagnostic>,
}

impl<'a> Walk<'a> {
    fn new(program: &'a Program, func: &'a Function) -> Walk<'a> {
        let level = SecondaryMap::new();
        Walk { program, func, level, first_linear: None, errors: Vec::new() }
    }

    fn block(&mut self, block: &Block, depth: usize) -> Effect {
        let mut effect = PURE;
        for stmt in &block.stmts {
            let found = self.stmt(stmt, depth);
            let outer = found.accumulates <= depth;
            if found.linear && (!stmt.nl.is_empty() || outer) {
                let message = "a statement mixes non-linear results with linear operations";
                let help = "compute the non-linear results in a statement of their own, before";
                self.errors.push(Diagnostic::error("J801", stmt.loc.span, message).help(help));
            }
            if found.linear && self.first_linear.is_none() {
                self.first_linear = Some(stmt.loc.span);
            }
            effect = effect.and(found);
        }
        effect.and(Effect { linear: !block.lin.is_empty(), ..PURE })
    }

    /// Reading from, adding to, or passing on a place.
    fn place(&self, place: &Place) -> Effect {
        match self.func.caps[place.root].mode {
            Mode::Acc => Effect { accumulates: self.level[place.root], ..PURE },
            Mode::Rd | Mode::Wr => Effect { linear: true, ..PURE },
        }
    }

    fn stmt(&mut self, stmt: &Stmt, depth: usize) -> Effect {
        let linear = Effect { linear: true, ..PURE };
        let own = if stmt.lin.is_empty() { PURE } else { linear };
        own.and(match &stmt.rhs {
            Rhs::Atom(_)
            | Rhs::Prim(..)
            | Rhs::Structured(..)
            | Rhs::Tuple(_)
            | Rhs::Untuple(_)
            | Rhs::Proj(..)
            | Rhs::Con(..)
            | Rhs::Open { .. }
            | Rhs::ArrayLit(_)
            | Rhs::Size(..)
            | Rhs::Index(..)
            | Rhs::Update { .. }
            | Rhs::Cast { .. }
            | Rhs::Check(_) => PURE,
            crate::linear_operation!() => linear,
            Rhs::Inc(place, _) => self.place(place),
            Rhs::Region(region) if region.is_linear() => {
                linear.and(self.block(&region.body, depth + 1))
            }
            Rhs::Region(region) => {
                self.level[region.cap] = depth + 1;
                self.block(&region.body, depth + 1)
            }
            Rhs::Scan(scan) => {
                let mut effect = PURE;
                for (cap, place) in &scan.cap_slices {
                    if self.func.caps[place.root].mode == Mode::Acc {
                        self.level[*cap] = self.level[place.root];
                    } else {
                        effect = linear;
                    }
                }
                if !scan.lin_carry.is_empty() || !scan.lin_slices.is_empty() {
                    effect = linear;
                }
                effect.and(self.block(&scan.body, depth + 1))
            }
            Rhs::Case(case) => {
                case.arms.iter().fold(PURE, |e, arm| e.and(self.block(&arm.body, depth + 1)))
            }
            Rhs::Call(call) => {
                let callee = &self.program.funcs[call.func];
                let any = !call.lin_args.is_empty() || !callee.lin_results.is_empty();
                let own = if any { linear } else { PURE };
                call.places.iter().flatten().fold(own, |e, place| e.and(self.place(place)))
            }
        })
    }
}
