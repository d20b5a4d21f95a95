//! Sweeping: a block without what [`Marks`] found dead.

use super::mark::Marks;
use jut_ir::TapePolicy;
use jut_ir::entity::NVar;
use jut_ir::ir::*;

/// The block without its dead parts. `on_call` is told every call that stays, with its pattern.
pub fn block(block: Block, marks: &Marks, on_call: &mut dyn FnMut(&Call, &[NVar])) -> Block {
    Sweep { marks, next: 0, on_call }.block(block, None)
}

struct Sweep<'a> {
    marks: &'a Marks,
    /// Number of the next statement, in the order in which the marks were made.
    next: usize,
    on_call: &'a mut dyn FnMut(&Call, &[NVar]),
}

impl Sweep<'_> {
    /// `keep` says which results of the block stay; `None`: all.
    fn block(&mut self, block: Block, keep: Option<&[bool]>) -> Block {
        let sweep = |stmt| {
            let number = self.next;
            self.next += 1;
            let swept = self.stmt(stmt);
            self.marks.stmt(number).then_some(swept)
        };
        // Collected in the memory of the list that it is made of.
        let stmts = block.stmts.into_iter().filter_map(sweep).collect();
        let mut nl = block.nl;
        if let Some(keep) = keep {
            super::retain(&mut nl, keep);
        }
        Block { stmts, nl, lin: block.lin }
    }

    /// Dead statements are walked too, to keep count.
    fn stmt(&mut self, stmt: Stmt) -> Stmt {
        let Stmt { mut nl, lin, rhs, annotated, mut loc } = stmt;
        let rhs = match rhs {
            Rhs::Scan(scan) => {
                let keep: Vec<bool> = nl.iter().map(|v| self.marks.var(*v)).collect();
                let mut scan = *scan;
                super::retain(&mut scan.carry, &keep);
                scan.slices.retain(|(v, _)| self.marks.var(*v));
                scan.cap_slices.retain(|(c, _)| self.marks.cap(*c));
                scan.body = self.block(scan.body, Some(&keep));
                super::retain(&mut nl, &keep);
                // A schedule is about what a loop carries.
                if loc.tape.is_schedule() && !scan.has_schedule(loc.tape) {
                    loc.tape = TapePolicy::Free;
                }
                Rhs::Scan(Box::new(scan))
            }
            Rhs::Case(case) => {
                let keep: Vec<bool> = nl.iter().map(|v| self.marks.var(*v)).collect();
                let mut case = *case;
                for arm in &mut case.arms {
                    arm.body = self.block(std::mem::take(&mut arm.body), Some(&keep));
                }
                super::retain(&mut nl, &keep);
                Rhs::Case(Box::new(case))
            }
            Rhs::Region(mut region) => {
                let inner = nl.len().saturating_sub(1);
                let keep: Vec<bool> = nl[..inner].iter().map(|v| self.marks.var(*v)).collect();
                region.body = self.block(region.body, Some(&keep));
                // A total that nobody reads has no start either.
                region.start = region.start.filter(|_| self.marks.cap(region.cap));
                super::retain(&mut nl, &keep);
                Rhs::Region(region)
            }
            Rhs::Call(call) => {
                (self.on_call)(&call, &nl);
                Rhs::Call(call)
            }
            rhs => rhs,
        };
        Stmt { nl, lin, rhs, annotated, loc }
    }
}
