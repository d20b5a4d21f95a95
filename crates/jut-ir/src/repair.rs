//! Implicit `dup` and `drop`: makes a body use every linear name exactly once, as the calculus does (the
//! paper's Fig. 2).
//!
//! Whoever writes linear code, a user in a `def` or J in its rules, may use a linear name any number of
//! times. Per block this pass counts the statements that use a name; every use but the last is preceded by
//! a `dup`, and a name without use is dropped where it is bound:
//!
//! ```text
//! def f(; x': f64) -> (; f64) = x' + x'
//! core def f(; x': f64) -> (; f64) = { (; x_1', x_2') = dup x'; t' = x_1' + x_2'; (; t') }
//! ```
//!
//! A region or an arm counts as one use of what it captures, and is treated the same way inside;
//! what only some arms of a `case` use, the others drop.
//!
//! *Requires*: loop bodies that capture nothing linear; no name bound twice. *Ensures*: every linear name is
//! used exactly once on every way through the body. *Cost*: linear in the body, times the depth of
//! nesting for captured names.

use crate::build::FunctionBuilder;
use crate::hash::HashMap;
use crate::map::Mapper;
use crate::visit::Use;
use crate::{Block, LVar, Loc, Origin, Rhs, Stmt};

/// Makes the linear part of a body exact; `origin` is who has written it.
pub fn repair(b: &mut FunctionBuilder, origin: Origin) {
    if b.func.lvars.is_empty() {
        return;
    }
    let mut body = std::mem::take(&mut b.func.body);
    let (captured, owned) = (Captured::of(&body), b.func.lin_params.clone());
    let loc = Loc::source(b.func.span);
    Repair { b, origin }.block(&mut body, captured, &owned, HashMap::default(), loc);
    b.func.body = body;
}

/// The linear names that a block uses from outside, and the same of the blocks in it, in order.
struct Captured {
    /// Each once.
    names: Vec<LVar>,
    nested: Vec<Captured>,
}

impl Captured {
    fn of(block: &Block) -> Captured {
        let (mut names, mut bound, mut nested) = (block.lin.clone(), Vec::new(), Vec::new());
        for stmt in &block.stmts {
            own_uses(&stmt.rhs, &mut |x| names.push(x));
            for inner in stmt.rhs.blocks() {
                let inner = Captured::of(inner);
                names.extend(&inner.names);
                nested.push(inner);
            }
            if let Rhs::Scan(scan) = &stmt.rhs {
                bound.extend(scan.lin_carry.iter().chain(&scan.lin_slices).map(|(x, _)| *x));
            }
            bound.extend(&stmt.lin);
        }
        names.sort();
        names.dedup();
        bound.sort();
        names.retain(|x| bound.binary_search(x).is_err());
        Captured { names, nested }
    }
}

/// The linear operands of an operation itself, in order.
fn own_uses(rhs: &Rhs, visit: &mut dyn FnMut(LVar)) {
    rhs.for_each_own_use(&mut |name| {
        if let Use::L(x) = name {
            visit(x);
        }
    });
}

struct Repair<'b> {
    b: &'b mut FunctionBuilder,
    origin: Origin,
}

/// The copies that stand for names now.
type Copies = HashMap<LVar, LVar>;

/// One block being rewritten.
struct Uses {
    /// How many uses of a name are still to come.
    left: HashMap<LVar, usize>,
    now: Copies,
    stmts: Vec<Stmt>,
}

impl Repair<'_> {
    /// Rewrites a block. `owned` are the names it must use up, `now` the copies of some of them.
    fn block(&mut self, block: &mut Block, own: Captured, owned: &[LVar], now: Copies, loc: Loc) {
        let mut left: HashMap<LVar, usize> = HashMap::default();
        let mut count = |x: LVar| *left.entry(x).or_default() += 1;
        let mut nested = own.nested.into_iter();
        let mut inside: Vec<(Vec<LVar>, Vec<Captured>)> = Vec::with_capacity(block.stmts.len());
        for stmt in &block.stmts {
            own_uses(&stmt.rhs, &mut count);
            let blocks: Vec<Captured> = nested.by_ref().take(stmt.rhs.blocks().len()).collect();
            let mut captured = Vec::new();
            if !matches!(stmt.rhs, Rhs::Scan(_)) {
                captured.extend(blocks.iter().flat_map(|inner| &inner.names));
                captured.sort();
                captured.dedup();
            }
            captured.iter().for_each(|x| count(*x));
            inside.push((captured, blocks));
        }
        block.lin.iter().for_each(|x| count(*x));
        let mut uses = Uses { left, now, stmts: Vec::with_capacity(block.stmts.len()) };
        self.drop_unused(owned, &mut uses, loc);
        for (mut stmt, (captured, blocks)) in
            std::mem::take(&mut block.stmts).into_iter().zip(inside)
        {
            let loc = stmt.loc;
            each_lvar(&mut stmt.rhs, &mut |x| *x = self.take(*x, &mut uses, loc));
            let copies: Copies =
                captured.iter().map(|x| (*x, self.take(*x, &mut uses, loc))).collect();
            let owned = match &stmt.rhs {
                Rhs::Scan(scan) => {
                    scan.lin_carry.iter().chain(&scan.lin_slices).map(|(x, _)| *x).collect()
                }
                _ => captured,
            };
            for (body, own) in stmt.rhs.blocks_mut().into_iter().zip(blocks) {
                self.block(body, own, &owned, copies.clone(), loc);
            }
            let bound = stmt.lin.clone();
            uses.stmts.push(stmt);
            self.drop_unused(&bound, &mut uses, loc);
        }
        for x in &mut block.lin {
            *x = self.take(*x, &mut uses, loc);
        }
        block.stmts = uses.stmts;
    }

    /// The name for one use of a name: a copy, if more uses follow.
    fn take(&mut self, x: LVar, uses: &mut Uses, loc: Loc) -> LVar {
        let current = uses.now.get(&x).copied().unwrap_or(x);
        let Some(left) = uses.left.get_mut(&x) else { return current };
        *left = left.saturating_sub(1);
        if *left == 0 {
            return current;
        }
        let data = self.b.func.lvars[x].clone();
        let first = self.b.lvar(&data.name, data.ty.clone(), loc.span);
        let second = self.b.lvar(&data.name, data.ty, loc.span);
        uses.now.insert(x, second);
        uses.stmts.push(self.stmt(vec![first, second], Rhs::Dup(current), loc));
        first
    }

    fn drop_unused(&mut self, bound: &[LVar], uses: &mut Uses, loc: Loc) {
        for x in bound {
            if uses.left.get(x).is_none_or(|n| *n == 0) {
                let current = uses.now.get(x).copied().unwrap_or(*x);
                uses.stmts.push(self.stmt(Vec::new(), Rhs::Drop(current), loc));
            }
        }
    }

    fn stmt(&self, lin: Vec<LVar>, rhs: Rhs, loc: Loc) -> Stmt {
        Stmt { nl: Vec::new(), lin, rhs, annotated: false, loc: loc.by(self.origin) }
    }
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
