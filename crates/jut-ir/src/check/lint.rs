//! Warnings: what is allowed, and often not meant. Only statements that the user wrote are looked
//! at, never what a pass made of them.
//!
//! - `J702`: a float that depends on a parameter becomes an integer: the derivative is cut there.
//!   `i64(stop(x))` says that this is meant.
//! - `J705`: a schedule stands before a loop that calls its own function again; it is not heard there.

use crate::calls::{Recursion, for_each_call};
use crate::diagnostic::Diagnostic;
use crate::entity::{FuncId, NVar, SecondaryMap};
use crate::ir::*;
use crate::prim;
use crate::span::{Origin, Span};

/// The warnings of all definitions, in order.
pub fn lint_program(program: &Program) -> Vec<Diagnostic> {
    let functions = program.order.iter().filter_map(|decl| match decl {
        // What passes made is no text of the user's.
        Decl::Func(func) => Some(*func).filter(|func| !program.funcs[*func].derived),
        Decl::Data(_) => None,
    });
    let recursion = Recursion::of(program);
    functions.flat_map(|func| lint_function(program, &recursion, func)).collect()
}

/// The warnings of one definition.
fn lint_function(program: &Program, recursion: &Recursion, id: FuncId) -> Vec<Diagnostic> {
    let func = &program.funcs[id];
    let active = SecondaryMap::new();
    let mut lint = Lint { program, recursion, id, func, active, warnings: Vec::new() };
    for v in &func.params {
        lint.active[*v] = func.nvars[*v].ty.has_float(program);
    }
    lint.block(&func.body);
    lint.warnings
}

struct Lint<'a> {
    program: &'a Program,
    recursion: &'a Recursion,
    id: FuncId,
    func: &'a Function,
    /// Names that depend on a float parameter through something differentiable.
    active: SecondaryMap<NVar, bool>,
    warnings: Vec<Diagnostic>,
}

impl Lint<'_> {
    fn warn(&mut self, code: &'static str, span: Span, message: String, help: &str) {
        self.warnings.push(Diagnostic::warning(code, span, message).help(help));
    }

    fn is_active(&self, atom: Atom) -> bool {
        atom.var().is_some_and(|v| self.active[v])
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            let is_written = stmt.loc.origin == Origin::Source;
            if is_written {
                self.written(stmt);
            }
            let inputs_active = self.inputs_active(&stmt.rhs);
            self.inside(&stmt.rhs);
            let active = inputs_active || self.results_active(&stmt.rhs);
            for v in &stmt.nl {
                self.active[*v] = active && self.func.nvars[*v].ty.has_float(self.program);
            }
        }
    }

    /// Warnings about a statement itself.
    fn written(&mut self, stmt: &Stmt) {
        let span = stmt.loc.span;
        match &stmt.rhs {
            Rhs::Prim(prim::INT, args) if args.iter().any(|a| self.is_active(*a)) => {
                let message =
                    "an integer of a float that depends on a parameter: the derivative is cut here";
                let help = "write `i64(stop(x))`, or `i32(stop(x))`, if this is meant";
                self.warn("J702", span, message.to_string(), help);
            }
            Rhs::Scan(scan) if stmt.loc.tape.is_schedule() && self.calls_back(&scan.body) => {
                let (tape, name) = (stmt.loc.tape, &self.func.name);
                let message = format!(
                    "`{tape}` is not heard here: the loop calls `{name}` again, which it is part of"
                );
                let help = "`@recompute` before the call leaves the tapes of the calls below to the gradient";
                self.warn("J705", span, message, help);
            }
            _ => {}
        }
    }

    /// Whether the definition is called again in a block.
    fn calls_back(&self, block: &Block) -> bool {
        let mut found = false;
        for_each_call(block, &mut |call| found |= self.recursion.is_inside(self.id, call.func));
        found
    }

    /// Nested blocks, whose binders take their activity from what they are bound to.
    fn inside(&mut self, rhs: &Rhs) {
        match rhs {
            Rhs::Region(region) => self.block(&region.body),
            Rhs::Scan(scan) => {
                for (v, array) in &scan.slices {
                    self.active[*v] = self.active[*array];
                }
                // A carry may become active in a later iteration.
                for (v, _) in &scan.carry {
                    self.active[*v] = self.func.nvars[*v].ty.has_float(self.program);
                }
                self.block(&scan.body);
            }
            Rhs::Case(case) => {
                let active = self.is_active(case.scrutinee);
                for arm in &case.arms {
                    for field in &arm.fields {
                        if let FieldPattern::Bind(v) = field {
                            self.active[*v] = active;
                        }
                    }
                    self.block(&arm.body);
                }
            }
            _ => {}
        }
    }

    /// Whether an operation passes on a derivative from one of its operands.
    fn inputs_active(&self, rhs: &Rhs) -> bool {
        match rhs {
            Rhs::Prim(prim, args) => {
                let partials = prim.row().partials;
                args.iter().zip(partials).any(|(a, partial)| {
                    !matches!(partial, prim::Partial::Zero) && self.is_active(*a)
                })
            }
            Rhs::Atom(a) => self.is_active(*a),
            Rhs::Structured(_, items, _)
            | Rhs::Tuple(items)
            | Rhs::Con(_, items)
            | Rhs::ArrayLit(items) => items.iter().any(|a| self.is_active(*a)),
            Rhs::Untuple(v)
            | Rhs::Proj(v, _)
            | Rhs::Open { value: v, .. }
            | Rhs::Index(v, _)
            | Rhs::Cast { value: v, .. } => self.active[*v],
            Rhs::Update { array, value, .. } => self.active[*array] || self.is_active(*value),
            Rhs::Scan(scan) => scan.carry.iter().any(|(_, a)| self.is_active(*a)),
            Rhs::Call(call) => call.args.iter().any(|a| self.is_active(*a)),
            _ => false,
        }
    }

    /// Whether a block statement's value depends on something active inside.
    fn results_active(&self, rhs: &Rhs) -> bool {
        match rhs {
            // What is added up is not followed: a sum counts as active.
            Rhs::Region(region) if region.mode == Mode::Acc => true,
            Rhs::Scan(scan) => scan.body.nl.iter().any(|a| self.is_active(*a)),
            Rhs::Case(case) => {
                case.arms.iter().any(|arm| arm.body.nl.iter().any(|a| self.is_active(*a)))
            }
            Rhs::Region(region) => region.body.nl.iter().any(|a| self.is_active(*a)),
            _ => false,
        }
    }
}
