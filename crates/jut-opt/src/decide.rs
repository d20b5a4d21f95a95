//! Tests of one value's constructor, one after the other, are one `case` of it.
//!
//! ```text
//! t = case v { Leaf(_) -> true; Node(_, _) -> false }          case v {
//! y = case t {                                                   Leaf(x) -> a
//!   true -> a                                                    Node(l, r) -> b
//!   false -> b                                                 }
//! }
//! ```
//!
//! That is what a `match` of Rust on a type that holds itself comes as, with functions that ask for a variant and for a field of it; a program may be
//! written so too. [`crate::simplify`] then knows in every arm which constructor the value has, and what its fields are: the other tests
//! and the functions for fields have no work left, and the tape holds no part of the value beside the value.
//!
//! *Rule*: `false` stands for several constructors if it goes on with such a test of the same value, and so on until one constructor
//! is left; before a test stand a few operations that cannot fail. Then each constructor gets a copy, of which only its own way stays.
//! *Requires*: a purely non-linear function. *Ensures*: same results, same errors, no more work.
//! *Cost*: linear in the text, times the number of constructors, of which there are at most [`MOST`].

use crate::copy::Copy;
use crate::rewrite::Rewriter;
use jut_ir::build::FunctionBuilder;
use jut_ir::entity::NVar;
use jut_ir::hash::HashMap;
use jut_ir::ir::*;

/// Types of more constructors are tested as it is written.
pub const MOST: usize = 16;
/// As many operations beside reads of fields may stand before a test.
const BEFORE: usize = 8;

/// Makes a `case` of tests; says whether there were any.
pub fn decide(func: &mut Function) -> bool {
    // Fresh names cost a look at all names.
    if !has_test(&func.body) {
        return false;
    }
    let mut pass = Decide {
        builder: FunctionBuilder::from_function(std::mem::take(func)),
        tests: HashMap::default(),
        decided: Vec::new(),
        changed: false,
    };
    let body = std::mem::take(&mut pass.builder.func.body);
    pass.builder.func.body = pass.block(body);
    *func = pass.builder.func;
    pass.changed
}

fn has_test(block: &Block) -> bool {
    let here = |s: &Stmt| Test::of(s).is_some() || s.rhs.blocks().into_iter().any(has_test);
    block.stmts.iter().any(here)
}

/// A truth value that says which constructor a value has.
#[derive(Clone)]
struct Test {
    value: NVar,
    /// The arms that bind the fields of the constructors.
    arms: Vec<Arm>,
    /// For each whether it is the one that was asked for.
    holds: Vec<bool>,
}

impl Test {
    /// The test that a statement is.
    fn of(stmt: &Stmt) -> Option<(NVar, Test)> {
        let (Rhs::Case(case), [name]) = (&stmt.rhs, &stmt.nl[..]) else { return None };
        let value = case.scrutinee.var()?;
        let holds = case.arms.iter().map(|arm| match (&arm.body.stmts[..], &arm.body.nl[..]) {
            ([], [Atom::Lit(Literal::Bool(holds))]) if !arm.is_tested() => Some(*holds),
            _ => None,
        });
        let holds: Vec<bool> = holds.collect::<Option<_>>()?;
        let of_data = case.arms.iter().all(|arm| matches!(arm.pattern, ArmPattern::Con(_)));
        let one = holds.iter().filter(|holds| **holds).count() == 1;
        (of_data && one && (2..=MOST).contains(&holds.len()))
            .then(|| (*name, Test { value, arms: case.arms.clone(), holds }))
    }
}

struct Decide {
    builder: FunctionBuilder,
    tests: HashMap<NVar, Test>,
    /// The values whose constructors are known where the pass is.
    decided: Vec<NVar>,
    changed: bool,
}

impl Decide {
    fn block(&mut self, block: Block) -> Block {
        let stmts = block.stmts.into_iter().map(|stmt| self.stmt(stmt)).collect();
        Block { stmts, ..block }
    }

    fn stmt(&mut self, mut stmt: Stmt) -> Stmt {
        if let Some((name, test)) = Test::of(&stmt) {
            self.tests.insert(name, test);
            return stmt;
        }
        let mut of = None;
        if let Rhs::Case(case) = &mut stmt.rhs {
            if let Some(made) = self.decided(case) {
                (**case, self.changed) = (made, true);
            }
            of = case.scrutinee.var();
        }
        let depth = self.decided.len();
        self.decided.extend(of);
        for nested in stmt.rhs.blocks_mut() {
            *nested = self.block(std::mem::take(nested));
        }
        self.decided.truncate(depth);
        stmt
    }

    /// The `case` of the value of which a test decides.
    fn decided(&mut self, case: &mut Case) -> Option<Case> {
        let test = self.tests.get(&case.scrutinee.var()?)?.clone();
        if self.decided.contains(&test.value) {
            return None;
        }
        let way = |holds: bool| case.arms.iter().position(|a| a.pattern == ArmPattern::Bool(holds));
        let (yes, no) = (way(true)?, way(false)?);
        let others = test.arms.iter().zip(&test.holds).filter(|(_, holds)| !**holds);
        let mut left: Vec<ArmPattern> = others.map(|(arm, _)| arm.pattern).collect();
        let mut copies = left.len();
        if copies > 1 && !self.goes_on(&case.arms[no].body, test.value, &mut left) {
            return None;
        }
        let [mut yes, mut no] = [yes, no].map(|k| std::mem::take(&mut case.arms[k].body));
        let mut arms = Vec::with_capacity(test.arms.len());
        for (arm, holds) in test.arms.into_iter().zip(test.holds) {
            copies -= usize::from(!holds);
            let mut copy = Copy::new(None, &mut self.builder);
            let fields = arm.fields.into_iter().map(|field| match field {
                FieldPattern::Bind(v) => FieldPattern::Bind(copy.bind(v)),
                FieldPattern::Eq(a) => FieldPattern::Eq(copy.atom(a)),
            });
            let fields = fields.collect();
            let body = match holds {
                true => std::mem::take(&mut yes),
                false if copies == 0 => std::mem::take(&mut no),
                false => copy.block(no.clone()),
            };
            arms.push(Arm { pattern: arm.pattern, fields, proved: arm.proved, body });
        }
        Some(Case { scrutinee: Atom::Var(test.value), arms })
    }

    /// Whether a block ends in another test of the value, with little before it, until one of the constructors is left that may get there.
    fn goes_on(&self, block: &Block, value: NVar, left: &mut Vec<ArmPattern>) -> bool {
        let Some((last, before)) = block.stmts.split_last() else { return false };
        let mut tests = Vec::new();
        let mut count = 0;
        for stmt in before {
            match &stmt.rhs {
                Rhs::Case(case) if case.scrutinee == Atom::Var(value) && is_read(case) => {
                    tests.extend(Test::of(stmt));
                }
                rhs if rhs.is_total_prim() || matches!(rhs, Rhs::Atom(_)) => count += 1,
                _ => return false,
            }
        }
        let Rhs::Case(case) = &last.rhs else { return false };
        let Some((_, test)) = tests.iter().find(|(name, _)| case.scrutinee == Atom::Var(*name))
        else {
            return false;
        };
        let asked = test.arms.iter().zip(&test.holds).find(|(_, holds)| **holds);
        left.retain(|pattern| asked.is_none_or(|(arm, _)| arm.pattern != *pattern));
        let no = case.arms.iter().find(|arm| arm.pattern == ArmPattern::Bool(false));
        count <= BEFORE
            && (left.len() <= 1 || no.is_some_and(|no| self.goes_on(&no.body, value, left)))
    }
}

/// Whether a `case` gives a field, or some value that is soon made, and cannot fail.
fn is_read(case: &Case) -> bool {
    let is_made =
        |stmt: &Stmt| matches!(stmt.rhs, Rhs::Con(..) | Rhs::Atom(_)) || stmt.rhs.is_total_prim();
    case.arms.iter().all(|arm| {
        !arm.is_tested() && arm.body.stmts.len() <= 2 && arm.body.stmts.iter().all(is_made)
    })
}
