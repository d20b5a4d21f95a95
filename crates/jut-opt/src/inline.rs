//! Inlining with a budget.
//!
//! A call is replaced by the body of its function when the function is small, or when it is the
//! only call of it, in two walks:
//!
//! 1. Small functions, callees first: what is small has its own small callees in it when its callers
//!    are looked at. A chain of functions that each call the one before twice stops growing at the
//!    budget, and the program stays linear in its text (Theorem 8.1).
//! 2. Functions that are called once, callers first: a body moves to its only call, and then the calls
//!    in it are looked at there. So a chain of functions that each call the one before once becomes one
//!    function, and each of its statements moves once.
//!
//! Functions that call themselves, directly or not, stay functions: an inlined level would only be one more.
//!
//! Requires: purely non-linear functions. Ensures: same results, same errors in the same order,
//! same work; blocks nest at most [`DEEP`] levels deep, unless they did before. The accesses of an
//! inlined body are marked proved: the callee was checked. Results are bound by copies `y = a`; where y
//! was an opaque size name, types still mention it until [`crate::simplify`] replaces it, which
//! therefore always runs next. Cost: linear.

use crate::copy::Copy;
use crate::reached_from;
use crate::rewrite::Rewriter;
use jut_ir::build::FunctionBuilder;
use jut_ir::calls::{Recursion, for_each_call};
use jut_ir::entity::{FuncId, NVar, SecondaryMap};
use jut_ir::ir::*;
use jut_ir::span::Loc;
use jut_ir::tape::TapePolicy;

/// Statements of a function that is always inlined.
const SMALL: usize = 64;
/// Statements that a function may have after inlining functions that are called elsewhere, too.
const LARGE: usize = 20_000;
/// Levels of blocks in blocks that inlining may make. A chain of functions that call each other inside
/// branches may be as long as the text, later passes recurse into blocks, and what is printed must be
/// within what the parser takes.
const DEEP: usize = 48;

/// Inlines calls in `root` and what it calls. What is not called any more stays in the program.
pub fn inline_calls(program: &mut Program, root: FuncId) {
    let functions = reached_from(program, root);
    let calls = count_calls(program, &functions);
    let recursion = Recursion::of(program);
    let mut sizes = SecondaryMap::new();
    for &id in &functions {
        inline_into(program, id, Which::Small { sizes: &sizes }, &calls, &recursion);
        // With what will move into it.
        let body = &program.funcs[id].body;
        let mut size = body.statement_count();
        for_each_call(body, &mut |call| {
            if calls[call.func] == 1 {
                size += sizes[call.func];
            }
        });
        sizes[id] = size;
    }
    // Calls have been copied, and functions that nobody calls any more do not count.
    let functions = reached_from(program, root);
    let calls = count_calls(program, &functions);
    for &id in functions.iter().rev() {
        inline_into(program, id, Which::CalledOnce, &calls, &recursion);
    }
}

/// How many calls of each function there are in some functions.
fn count_calls(program: &Program, functions: &[FuncId]) -> SecondaryMap<FuncId, usize> {
    let mut calls = SecondaryMap::new();
    for id in functions {
        for_each_call(&program.funcs[*id].body, &mut |call| calls[call.func] += 1);
        // What states a derivative is called by J, later.
        let rule = program.funcs[*id].rule.map(Rule::func);
        for stated in rule.into_iter().chain(program.foreign_derivative(*id)) {
            calls[stated] += 2;
        }
    }
    calls
}

/// What a walk inlines.
#[derive(Clone, Copy)]
enum Which<'a> {
    /// Functions of at most [`SMALL`] statements.
    Small {
        /// The statements of all functions that stand before.
        sizes: &'a SecondaryMap<FuncId, usize>,
    },
    /// Functions with one call.
    CalledOnce,
}

impl Which<'_> {
    fn includes(
        self,
        id: FuncId,
        calls: &SecondaryMap<FuncId, usize>,
        recursion: &Recursion,
    ) -> bool {
        match self {
            _ if recursion.is_recursive(id) => false,
            Which::Small { sizes } => sizes[id] <= SMALL,
            Which::CalledOnce => calls[id] == 1,
        }
    }
}

/// Inlines calls in one function.
fn inline_into(
    program: &mut Program,
    id: FuncId,
    which: Which<'_>,
    calls: &SecondaryMap<FuncId, usize>,
    recursion: &Recursion,
) {
    let mut any = false;
    for_each_call(&program.funcs[id].body, &mut |call| {
        any |= which.includes(call.func, calls, recursion);
    });
    if !any {
        return;
    }
    let mut func = std::mem::take(&mut program.funcs[id]);
    let body = std::mem::take(&mut func.body);
    let mut inliner = Inliner {
        program,
        calls,
        recursion,
        which,
        total: body.statement_count(),
        builder: FunctionBuilder::from_function(func),
    };
    let body = inliner.walk(body, 0);
    let mut func = inliner.builder.func;
    func.body = body;
    program.funcs[id] = func;
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
    program: &'a mut Program,
    calls: &'a SecondaryMap<FuncId, usize>,
    recursion: &'a Recursion,
    which: Which<'a>,
    total: usize,
    builder: FunctionBuilder,
}

impl Inliner<'_> {
    /// A block with so many around it.
    fn walk(&mut self, block: Block, depth: usize) -> Block {
        let mut out = Vec::with_capacity(block.stmts.len());
        // What is left of the block, of a body that stands in it, of one in that, and so on.
        let mut work = vec![block.stmts.into_iter()];
        while let Some(stmts) = work.last_mut() {
            let Some(mut stmt) = stmts.next() else {
                work.pop();
                continue;
            };
            match stmt.rhs {
                // What is to be computed again as a whole stays one.
                Rhs::Call(call)
                    if stmt.loc.tape != TapePolicy::Recompute && self.wants(&call, depth) =>
                {
                    let body = self.expand(&call, &stmt.nl, stmt.loc);
                    match self.which {
                        // It has been through this walk.
                        Which::Small { .. } => out.extend(body),
                        Which::CalledOnce => work.push(body.into_iter()),
                    }
                }
                mut rhs => {
                    for nested in rhs.blocks_mut() {
                        *nested = self.walk(std::mem::take(nested), depth + 1);
                    }
                    stmt.rhs = rhs;
                    out.push(stmt);
                }
            }
        }
        Block { stmts: out, nl: block.nl, lin: block.lin }
    }

    fn wants(&mut self, call: &Call, depth: usize) -> bool {
        let only = self.calls[call.func] == 1;
        let size = match self.which {
            _ if !self.which.includes(call.func, self.calls, self.recursion) => return false,
            // J is to find it, and its rule.
            _ if self.program.funcs[call.func].rule.is_some() => return false,
            _ if self.program.funcs[call.func].is_foreign() => return false,
            Which::Small { sizes } => sizes[call.func],
            Which::CalledOnce => 0,
        };
        if !only && self.total + size > LARGE {
            return false;
        }
        let callee = &self.program.funcs[call.func].body;
        // A stacked loop needs a bound that is plainly non-negative, which a compound size hides.
        let plain = call.args.iter().all(|a| {
            let size = self.builder.func.size_of(*a);
            size.as_constant().is_some() || size.as_var().is_some()
        });
        let wanted = call.lin_args.is_empty()
            && call.places.iter().all(Option::is_some)
            && (plain || !stacks(callee))
            && depth + levels(callee) <= DEEP;
        if wanted {
            self.total += size;
        }
        wanted
    }

    /// The body of a function in the place of a call.
    fn expand(&mut self, call: &Call, pattern: &[NVar], loc: Loc) -> Vec<Stmt> {
        let mut moved;
        let (callee, body) = match self.which {
            Which::Small { .. } => {
                let callee = &self.program.funcs[call.func];
                (callee, callee.body.clone())
            }
            Which::CalledOnce => {
                moved = std::mem::take(&mut self.program.funcs[call.func]);
                let body = std::mem::take(&mut moved.body);
                (&moved, body)
            }
        };
        let mut copy = match self.which {
            Which::Small { .. } => Copy::new(Some(callee), &mut self.builder),
            Which::CalledOnce => Copy::whole(callee, &mut self.builder),
        };
        for (param, arg) in callee.params.iter().zip(&call.args) {
            copy.name_is(*param, *arg);
        }
        for (param, place) in callee.cap_params.iter().zip(&call.places) {
            if let Some(place) = place {
                copy.cap_is(*param, place.clone());
            }
        }
        let Block { mut stmts, nl, .. } = copy.block(body);
        stmts.extend(pattern.iter().zip(nl).map(|(var, atom)| Stmt {
            nl: vec![*var],
            lin: Vec::new(),
            rhs: Rhs::Atom(atom),
            annotated: false,
            loc,
        }));
        stmts
    }
}

/// Levels of blocks inside a block.
fn levels(block: &Block) -> usize {
    block.stmts.iter().flat_map(|s| s.rhs.blocks()).map(|b| 1 + levels(b)).max().unwrap_or(0)
}

/// Whether a loop with stacked results stands in a block.
fn stacks(block: &Block) -> bool {
    block.stmts.iter().any(|s| match &s.rhs {
        Rhs::Scan(scan) => scan.body.nl.len() > scan.carry.len() || stacks(&scan.body),
        rhs => rhs.blocks().into_iter().any(stacks),
    })
}
