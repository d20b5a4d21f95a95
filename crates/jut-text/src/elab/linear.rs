//! Implicit `dup` and `drop`: in a `def`, a linear name may be used any number of times.
//!
//! The calculus uses every linear variable exactly once (the paper's Figure 2). This pass runs over
//! the elaborated body. Per block it counts the statements that use a variable; every use but the
//! last is preceded by a `dup`, and a variable without use is dropped where it is bound:
//!
//! ```text
//! def f(; x': f64) -> (; f64) = x' + x'
//! core def f(; x': f64) -> (; f64) = { (; x_1', x_2') = dup x'; t' = x_1' + x_2'; (; t') }
//! ```
//!
//! A region or an arm counts as one use of what it captures, and is treated the same way inside;
//! what only some arms of a `case` use, the others drop. A loop body captures nothing linear
//! (elaboration has refused that).
//!
//! Requires an elaborated `def`. Ensures: every linear variable is used exactly once on every way
//! through the body. Cost: linear in the body, times the depth of nesting for captured names.

use jut_ir::build::FunctionBuilder;
use jut_ir::map::Mapper;
use jut_ir::{Block, LVar, Loc, Rhs, Span, Stmt};
use std::collections::HashMap;

/// Makes the linear part of a body exact.
pub(crate) fn complete(b: &mut FunctionBuilder) {
    if b.func.lvars.is_empty() {
        return;
    }
    let mut body = std::mem::take(&mut b.func.body);
    let mut captured = Captured::default();
    captured.block(&body);
    let mut pass = Pass { b, captured: captured.blocks, next: 0 };
    let params = pass.b.func.lin_params.clone();
    let span = pass.b.func.span;
    pass.block(&mut body, &params, HashMap::new(), span);
    pass.b.func.body = body;
}

/// The linear variables that nested blocks use from outside, in the order in which blocks begin.
#[derive(Default)]
struct Captured {
    blocks: Vec<Vec<LVar>>,
}

impl Captured {
    /// The free linear variables of a block, each once.
    fn block(&mut self, block: &Block) -> Vec<LVar> {
        let number = self.blocks.len();
        self.blocks.push(Vec::new());
        let mut free: Vec<LVar> = Vec::new();
        let mut bound: Vec<LVar> = Vec::new();
        for stmt in &block.stmts {
            own_uses(&stmt.rhs, &mut |x| free.push(x));
            for inner in stmt.rhs.blocks() {
                free.extend(self.block(inner));
            }
            if let Rhs::Scan(scan) = &stmt.rhs {
                bound.extend(scan.lin_carry.iter().map(|(x, _)| *x));
                bound.extend(scan.lin_slices.iter().map(|(x, _)| *x));
            }
            bound.extend(&stmt.lin);
        }
        free.extend(&block.lin);
        free.sort();
        free.dedup();
        bound.sort();
        free.retain(|x| bound.binary_search(x).is_err());
        self.blocks[number].clone_from(&free);
        free
    }
}

/// The linear operands of an operation itself, in order.
fn own_uses(rhs: &Rhs, visit: &mut dyn FnMut(LVar)) {
    rhs.for_each_own_use(&mut |u| {
        if let jut_ir::visit::Use::L(x) = u {
            visit(x);
        }
    });
}

struct Pass<'b> {
    b: &'b mut FunctionBuilder,
    captured: Vec<Vec<LVar>>,
    /// The number of the next block to begin.
    next: usize,
}

/// One block being rewritten.
struct Uses {
    /// How many uses of a variable are still to come.
    left: HashMap<LVar, usize>,
    /// The copy that stands for a variable now.
    now: HashMap<LVar, LVar>,
    stmts: Vec<Stmt>,
}

impl Pass<'_> {
    /// Rewrites a block. `owned` are the variables it must use up, `now` the names that some of
    /// them have been given outside.
    fn block(&mut self, block: &mut Block, owned: &[LVar], now: HashMap<LVar, LVar>, span: Span) {
        self.next += 1;
        let mut left: HashMap<LVar, usize> = HashMap::new();
        // The numbers of the nested blocks follow from the walk.
        let mut number = self.next;
        for stmt in &block.stmts {
            own_uses(&stmt.rhs, &mut |x| *left.entry(x).or_default() += 1);
            for x in self.captured_by(&stmt.rhs, &mut number) {
                *left.entry(x).or_default() += 1;
            }
        }
        for x in &block.lin {
            *left.entry(*x).or_default() += 1;
        }
        let stmts = Vec::with_capacity(block.stmts.len());
        let mut uses = Uses { left, now, stmts };
        self.drop_unused(owned, &mut uses, span);
        for mut stmt in std::mem::take(&mut block.stmts) {
            let span = stmt.loc.span;
            each_lvar(&mut stmt.rhs, &mut |x| *x = self.take(*x, &mut uses, span));
            let mut number = self.next;
            let captured = self.captured_by(&stmt.rhs, &mut number);
            let inner: HashMap<LVar, LVar> =
                captured.iter().map(|x| (*x, self.take(*x, &mut uses, span))).collect();
            if let Rhs::Scan(scan) = &mut stmt.rhs {
                let carries = scan.lin_carry.iter().map(|(x, _)| *x);
                let owned: Vec<LVar> =
                    carries.chain(scan.lin_slices.iter().map(|(x, _)| *x)).collect();
                self.block(&mut scan.body, &owned, HashMap::new(), span);
            } else {
                for body in stmt.rhs.blocks_mut() {
                    self.block(body, &captured, inner.clone(), span);
                }
            }
            let bound = stmt.lin.clone();
            uses.stmts.push(stmt);
            self.drop_unused(&bound, &mut uses, span);
        }
        for x in &mut block.lin {
            *x = self.take(*x, &mut uses, span);
        }
        block.stmts = uses.stmts;
    }

    /// What the nested blocks of an operation capture, each once; `number` is the number of the
    /// first of them, and then of the block after the last.
    fn captured_by(&self, rhs: &Rhs, number: &mut usize) -> Vec<LVar> {
        let mut all: Vec<LVar> = Vec::new();
        for block in rhs.blocks() {
            if let Some(captured) = self.captured.get(*number) {
                all.extend(captured);
            }
            *number += count_blocks(block);
        }
        if let Rhs::Scan(scan) = rhs {
            all.retain(|x| {
                !scan.lin_carry.iter().any(|(y, _)| y == x)
                    && !scan.lin_slices.iter().any(|(y, _)| y == x)
            });
        }
        all.sort();
        all.dedup();
        all
    }

    /// The name for one use of a variable: a copy, if more uses follow.
    fn take(&mut self, x: LVar, uses: &mut Uses, span: Span) -> LVar {
        let current = uses.now.get(&x).copied().unwrap_or(x);
        let Some(left) = uses.left.get_mut(&x) else { return current };
        *left = left.saturating_sub(1);
        if *left == 0 {
            return current;
        }
        let data = self.b.func.lvars[x].clone();
        let first = self.b.lvar(&data.name, data.ty.clone(), span);
        let second = self.b.lvar(&data.name, data.ty, span);
        uses.now.insert(x, second);
        uses.stmts.push(statement(vec![first, second], Rhs::Dup(current), span));
        first
    }

    fn drop_unused(&mut self, bound: &[LVar], uses: &mut Uses, span: Span) {
        for x in bound {
            if uses.left.get(x).is_none_or(|n| *n == 0) {
                let current = uses.now.get(x).copied().unwrap_or(*x);
                uses.stmts.push(statement(Vec::new(), Rhs::Drop(current), span));
            }
        }
    }
}

fn statement(lin: Vec<LVar>, rhs: Rhs, span: Span) -> Stmt {
    Stmt { nl: Vec::new(), lin, rhs, annotated: false, loc: Loc::source(span) }
}

/// How many blocks there are in a block, itself included.
fn count_blocks(block: &Block) -> usize {
    1 + block
        .stmts
        .iter()
        .map(|s| s.rhs.blocks().into_iter().map(count_blocks).sum::<usize>())
        .sum::<usize>()
}

/// The linear operands of an operation, to be renamed, in the order of the text.
fn each_lvar(rhs: &mut Rhs, visit: &mut dyn FnMut(&mut LVar)) {
    struct Linear<'a>(&'a mut dyn FnMut(&mut LVar));
    impl Mapper for Linear<'_> {
        fn lvar(&mut self, x: &mut LVar) {
            (self.0)(x);
        }
    }
    rhs.map_own_uses(&mut Linear(visit));
}
