//! Products of derivatives of eight iterations, several of which are looked at together.
//!
//! `times` is a product, but for one that is NaN and has a factor of zero. A branch at each product costs more than
//! the product. So products are computed as plain ones, and so is what is computed from them; before something else reads that,
//! one branch asks if [what shows it](jut_loop::analysis::shown_by) is NaN: then, which is hardly ever, all of it is computed
//! once more, with zeros where there are some.
//!
//! ```text
//!   %p = fmul a, b                         cold:
//!   %q = fadd c, %p                          %p' = select .., 0.0, %p
//!   %d = fcmp ord %q, %q                     %q' = fadd c, %p'
//!   br %d (of all eight), done, cold         br done
//! done:
//!   %r = phi [ %q, .. ], [ %q', %cold ]
//! ```
//!
//! Where [stores may stand last](jut_loop::form::Vector) they wait for the end of the body, so that there is one branch in it.

use crate::function::{Result, Translator};
use crate::operation;
use crate::text::{self, BOOLS, EIGHT, LANE, Label, Operand, Scalar};
use crate::vector::EightPlan;
use jut_ir::prim::{Lowering, Opcode};
use jut_loop::analysis::{Class, Look};
use jut_loop::form::{Stmt, Value};

impl Translator<'_> {
    /// Translates a statement if it is a product of derivatives, is computed from one, or is a store that waits; whether it
    /// was. If it reads what is computed from products in another way, they are looked at.
    pub(crate) fn waits(&mut self, plan: &mut EightPlan, stmt: &Stmt) -> Result<bool> {
        let reads = plan.pending.is_read_by(stmt);
        let wide = |dst: &Value| plan.classes.class(*dst) == Class::Wide;
        let waits = match stmt {
            Stmt::Prim { dst, prim, .. } if wide(dst) => match prim.row().lowering {
                Lowering::Opcode(op) => reads || op == Opcode::FTimes,
                Lowering::Runtime(_) => false,
            },
            Stmt::Copy { dst, .. } => reads && wide(dst),
            Stmt::Store { .. } if plan.pending.stores_last => {
                plan.pending.stores.push(stmt.clone());
                return Ok(true);
            }
            _ => false,
        };
        if waits {
            self.compute(plan, stmt, true)?;
            plan.pending.wait(stmt);
        } else if reads {
            self.look(plan)?;
        }
        Ok(waits)
    }

    /// An operation on eight values; a product of derivatives as a plain one, or as it is defined.
    fn compute(&mut self, plan: &mut EightPlan, stmt: &Stmt, plain: bool) -> Result<()> {
        let (dst, result) = match stmt {
            Stmt::Prim { dst, prim, args } => {
                let Lowering::Opcode(op) = prim.row().lowering else {
                    return Err("a call among products".to_owned());
                };
                let mut operands = Vec::with_capacity(args.len());
                for atom in args {
                    operands.push(self.spread(plan, *atom)?);
                }
                let selected = text::scalar(self.kind(*dst));
                let result = match (op, operands.as_slice()) {
                    (Opcode::FTimes, [a, b]) if plain => self.body.two("fmul", LANE, *a, *b),
                    (Opcode::FTimes, [a, b]) => {
                        operation::times_at_once(&mut self.body, *a, *b, true)
                    }
                    _ => operation::operation(&mut self.body, op, &operands, true, selected)?,
                };
                (dst, result)
            }
            Stmt::Copy { dst, src } => (dst, self.spread(plan, *src)?),
            _ => return Err("something else among products".to_owned()),
        };
        plan.set(*dst, result);
        Ok(())
    }

    /// Looks at the products that wait, and makes what is computed from them what it should be.
    pub(crate) fn look(&mut self, plan: &mut EightPlan) -> Result<()> {
        let Some(look) = plan.pending.look() else { return Ok(()) };
        let mut defined = Vec::new();
        for scalar in [Scalar::F64, Scalar::F32] {
            let of_these = look.shown.iter().filter(|v| text::scalar(self.kind(**v)) == scalar);
            let of_these: Vec<Value> = of_these.copied().collect();
            // One comparison is enough for two.
            for two in of_these.chunks(2) {
                let a = self.spread(plan, two[0].into())?;
                let b = self.spread(plan, two[two.len() - 1].into())?;
                defined.push(self.body.two("fcmp ord", scalar.wide(), a, b));
            }
        }
        let all = defined.into_iter().reduce(|a, b| self.body.two("and", BOOLS, a, b));
        let mut all = all.ok_or("products that show nowhere")?;
        if plan.is_masked() {
            // What does not count is computed from numbers that mean nothing.
            all = plan.counted(&mut self.body, BOOLS, all, Operand::Bool(true));
        }
        let all = all.of(BOOLS);
        let line = format_args!("call i1 @llvm.vector.reduce.and.v{EIGHT}i1({BOOLS} {all})");
        let all = self.body.value(line);
        let (from, [cold, done]) = (self.body.current(), self.body.labels());
        self.body.branch_usually(all, done, cold);

        let mut plain = Vec::with_capacity(look.outside.len());
        for v in &look.outside {
            plain.push(self.spread(plan, (*v).into())?);
        }
        self.body.write_cold(true);
        let made = self.again(plan, &look, [cold, done]);
        self.body.write_cold(false);
        self.body.begin(done);
        for ((v, plain), made) in look.outside.into_iter().zip(plain).zip(made?) {
            let ty = text::scalar(self.kind(v)).wide();
            let joined = self.body.join(ty, &[(plain, from), (made, cold)]);
            plan.set(v, joined);
        }
        Ok(())
    }

    /// What has waited, as it should be; gives what is read outside.
    fn again(
        &mut self,
        plan: &mut EightPlan,
        look: &Look,
        [cold, done]: [Label; 2],
    ) -> Result<Vec<Operand>> {
        self.body.begin(cold);
        // LLVM would find the plain products again, and keep all of them in registers until then.
        let mut known = Vec::new();
        for v in &look.read {
            let one = text::scalar(self.kind(*v));
            let float = matches!(one, Scalar::F64 | Scalar::F32);
            if let Some(wide) = plan.wide(*v).filter(|_| float) {
                known.push((*v, wide));
                let fenced = self.body.fence(wide, one.wide());
                plan.set(*v, fenced);
            }
        }
        for stmt in &look.again {
            self.compute(plan, stmt, false)?;
        }
        let made = look.outside.iter().map(|v| self.spread(plan, (*v).into())).collect();
        self.body.jump(done);
        known.into_iter().for_each(|(v, wide)| plan.set(v, wide));
        made
    }
}
