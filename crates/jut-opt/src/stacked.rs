//! What a loop stacks has a size, and something before the loop shows that it is not negative.
//!
//! ```text
//! xs = acc r: [n]f64 { .. }            check n >= 0
//! ys = scan par (i < n) { 1.0 }        ys = scan par (i < n) { 1.0 }
//! ```
//!
//! Often that is an array in scope that is so long. If nobody reads it any more, the passes before take it away, as `xs` here, and with
//! it what was known: then it is said by a `check`. It holds, and costs a comparison.
//!
//! *Requires*: a purely non-linear function, of which the checker accepts all but sizes of stacked results. *Ensures*: same
//! results, same errors; the checker accepts these too, if they are operands of the loop. *Cost*: linear in the text.

use crate::motion::learn;
use crate::unroll::has_loop;
use jut_ir::cover::Facts;
use jut_ir::entity::NVar;
use jut_ir::ir::*;

/// Puts a check before every loop that needs one.
pub fn show_sizes(func: &mut Function) {
    if !has_loop(&func.body) {
        return;
    }
    let mut body = std::mem::take(&mut func.body);
    let mut sizes = Sizes { func, facts: Facts::default() };
    sizes.bind(&func.params);
    sizes.block(&mut body);
    func.body = body;
}

struct Sizes<'a> {
    func: &'a Function,
    facts: Facts,
}

impl Sizes<'_> {
    fn bind(&mut self, names: &[NVar]) {
        names.iter().for_each(|v| self.facts.add_type(&self.func.nvars[*v].ty));
    }

    fn block(&mut self, block: &mut Block) {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            match &mut stmt.rhs {
                Rhs::Scan(scan) => {
                    let bound = self.func.size_of(scan.bound);
                    let stacks = scan.dir != Dir::While && scan.body.nl.len() > scan.carry.len();
                    if stacks && !self.facts.is_plainly_non_negative(&bound) {
                        let rhs = Rhs::Check(Check::NonNegative(scan.bound));
                        let (nl, lin, loc) = (Vec::new(), Vec::new(), stmt.loc);
                        stmts.push(Stmt { nl, lin, rhs, annotated: false, loc });
                        self.facts.add_non_negative(bound.clone());
                    }
                    self.facts.enter();
                    self.bind(&[scan.index]);
                    self.facts.add_range(scan.index, bound);
                    scan.carry.iter().for_each(|(v, _)| self.bind(&[*v]));
                    scan.slices.iter().for_each(|(v, _)| self.bind(&[*v]));
                    self.block(&mut scan.body);
                    self.facts.leave();
                }
                Rhs::Case(case) => {
                    for arm in &mut case.arms {
                        self.facts.enter();
                        for field in &arm.fields {
                            if let FieldPattern::Bind(v) = field {
                                self.bind(&[*v]);
                            }
                        }
                        self.block(&mut arm.body);
                        self.facts.leave();
                    }
                }
                rhs => {
                    for inner in rhs.blocks_mut() {
                        self.facts.enter();
                        self.block(inner);
                        self.facts.leave();
                    }
                }
            }
            learn(&mut self.facts, self.func, &stmt);
            self.bind(&stmt.nl);
            stmts.push(stmt);
        }
        block.stmts = stmts;
    }
}
