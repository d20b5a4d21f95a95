//! Inlining with a budget.
//!
//! A call is replaced by the body of its function when the function is small, or when it is the
//! only call of it. Functions come before their callers, so a callee has been inlined into itself
//! already when its size is looked at; a chain of functions that each call the one before twice
//! stops growing at the budget and the program stays linear in its text (Theorem 8.1).
//!
//! Requires: purely non-linear functions. Ensures: same results, same errors in the same order,
//! same work. The accesses of an inlined body are marked proved: the callee was checked. Results
//! are bound by copies `y = a`; where y was an opaque size name, types still mention it until
//! [`crate::simplify`] replaces it, which therefore always runs next.

use crate::copy::Copy;
use crate::rewrite::Rewriter;
use jut_ir::build::FunctionBuilder;
use jut_ir::entity::{FuncId, NVar, SecondaryMap};
use jut_ir::ir::*;
use jut_ir::span::Loc;

/// Statements of a function that is always inlined.
const SMALL: usize = 64;
/// Statements that a function may have after inlining functions that are called elsewhere, too.
const LARGE: usize = 20_000;

/// Inlines calls in the given functions, which stand in order (callees first).
pub fn inline_calls(program: &mut Program, functions: &[FuncId]) {
    let mut calls: SecondaryMap<FuncId, usize> = SecondaryMap::new();
    for id in functions {
        for_each_call(&program.funcs[*id].body, &mut |call| calls[call.func] += 1);
    }
    let mut sizes: SecondaryMap<FuncId, usize> = SecondaryMap::new();
    for &id in functions {
        let mut any = false;
        for_each_call(&program.funcs[id].body, &mut |_| any = true);
        if !any {
            sizes[id] = program.funcs[id].body.statement_count();
            continue;
        }
        let mut func = std::mem::take(&mut program.funcs[id]);
        let body = std::mem::take(&mut func.body);
        let mut inliner = Inliner {
            program,
            calls: &calls,
            sizes: &sizes,
            total: body.statement_count(),
            builder: FunctionBuilder::from_function(func),
        };
        let body = inliner.walk(body);
        let mut func = inliner.builder.func;
        sizes[id] = body.statement_count();
        func.body = body;
        program.funcs[id] = func;
    }
}

/// Calls `visit` with every call of a block, nested blocks included.
pub fn for_each_call(block: &Block, visit: &mut dyn FnMut(&Call)) {
    for stmt in &block.stmts {
        if let Rhs::Call(call) = &stmt.rhs {
            visit(call);
        }
        stmt.rhs.blocks().into_iter().for_each(|b| for_each_call(b, visit));
    }
}

/// Number of statements, nested ones included.
pub(crate) trait StatementCount {
    /// The number.
    fn statement_count(&self) -> usize;
}

impl StatementCount for Block {
    fn statement_count(&self) -> usize {
        self.stmts
            .iter()
            .map(|s| 1 + s.rhs.blocks().into_iter().map(|b| b.statement_count()).sum::<usize>())
            .sum()
    }
}

struct Inliner<'a> {
    program: &'a Program,
    calls: &'a SecondaryMap<FuncId, usize>,
    sizes: &'a SecondaryMap<FuncId, usize>,
    total: usize,
    builder: FunctionBuilder,
}

impl Inliner<'_> {
    fn walk(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in block.stmts {
            match stmt.rhs {
                Rhs::Call(call) if self.wants(&call) => {
                    self.expand(&call, &stmt.nl, stmt.loc, &mut stmts)
                }
                mut rhs => {
                    for nested in rhs.blocks_mut() {
                        *nested = self.walk(std::mem::take(nested));
                    }
                    stmt.rhs = rhs;
                    stmts.push(stmt);
                }
            }
        }
        Block { stmts, nl: block.nl, lin: block.lin }
    }

    fn wants(&mut self, call: &Call) -> bool {
        let callee = &self.program.funcs[call.func];
        let size = self.sizes[call.func];
        // The only call of a function can go without making the program any larger.
        let only = self.calls[call.func] == 1;
        let fits = only || size <= SMALL && self.total + size <= LARGE;
        // A stacked loop needs a bound that is plainly non-negative, which a compound size hides.
        let plain = call.args.iter().all(|a| {
            let size = self.builder.func.size_of(*a);
            size.as_constant().is_some() || size.as_var().is_some()
        });
        let wanted = fits
            && call.lin_args.is_empty()
            && call.places.iter().all(Option::is_some)
            && (plain || !stacks(&callee.body));
        if wanted {
            self.total += size;
        }
        wanted
    }

    fn expand(&mut self, call: &Call, pattern: &[NVar], loc: Loc, out: &mut Vec<Stmt>) {
        let callee = &self.program.funcs[call.func];
        let mut copy = Copy::new(Some(callee), &mut self.builder);
        for (param, arg) in callee.params.iter().zip(&call.args) {
            copy.name_is(*param, *arg);
        }
        for (param, place) in callee.cap_params.iter().zip(&call.places) {
            if let Some(place) = place {
                copy.cap_is(*param, place.clone());
            }
        }
        let body = copy.block(callee.body.clone());
        out.extend(body.stmts);
        for (var, atom) in pattern.iter().zip(body.nl) {
            out.push(Stmt {
                nl: vec![*var],
                lin: Vec::new(),
                rhs: Rhs::Atom(atom),
                annotated: false,
                loc,
            });
        }
    }
}

/// Whether a loop with stacked results stands in a block.
fn stacks(block: &Block) -> bool {
    block.stmts.iter().any(|s| match &s.rhs {
        Rhs::Scan(scan) => scan.body.nl.len() > scan.carry.len() || stacks(&scan.body),
        rhs => rhs.blocks().into_iter().any(stacks),
    })
}
