//! Products of derivatives of a single iteration, or outside of all loops, several of which are looked at together.
//!
//! As [for eight](crate::products): `times` is a plain product, and so is what is computed from it, until something else than an operation
//! that gives a float or a truth value reads that. Then one branch asks if [what shows it](jut_loop::analysis::shown_by) is NaN, and if so all of it is computed
//! once more, with zeros where there are some. With a branch at each product what lies between two is a block of its own, in which LLVM finds
//! nothing to move, to combine or to put into a vector.
//!
//! ```text
//!   %p = fmul double %a, %b                    cold:
//!   %q = fmul double %c, %p                      %p' = select .., 0.0, ..
//!   %r = fadd double %s, %q                      %q' = select .., 0.0, ..
//!   %d = fcmp ord double %r, %r                  %r' = fadd double %s, %q'
//!   br i1 %d, done, cold                         br done
//! done:
//!   %t = phi double [ %r, .. ], [ %r', %cold ]
//! ```

use crate::function::{Result, Translator};
use crate::operation;
use crate::text::{BOOL, FLOAT, Label, Operand, scalar};
use jut_loop::analysis::{Look, is_product};
use jut_loop::form::{Kind, Stmt, Value};

impl Translator<'_> {
    /// An operation; a product of derivatives as a plain one, or as it is defined.
    pub(crate) fn compute_single(&mut self, stmt: &Stmt, plain: bool) -> Result<()> {
        let Stmt::Prim { dst, args, .. } = stmt else { return self.stmt(stmt) };
        if !is_product(stmt) {
            return self.stmt(stmt);
        }
        let operands = self.atoms(args)?;
        let [a, b] = operands[..] else { return Err("a product of two".to_owned()) };
        let product = match plain {
            true => self.body.two("fmul", FLOAT, a, b),
            false => operation::times_at_once(&mut self.body, a, b, false),
        };
        self.bind(*dst, product);
        Ok(())
    }

    /// Looks at the products that have waited, and makes what is computed from them what it should be.
    pub(crate) fn look_at_singles(&mut self, look: &Look) -> Result<()> {
        let shown = self.values(&look.shown)?;
        // One comparison is enough for two.
        let defined = shown.chunks(2).map(|two| {
            let (a, b) = (two[0], two[two.len() - 1]);
            self.body.two("fcmp ord", FLOAT, a, b)
        });
        let defined: Vec<Operand> = defined.collect();
        let all = defined.into_iter().reduce(|a, b| self.body.two("and", BOOL, a, b));
        let all = all.ok_or("products that show nowhere")?;
        let (from, [cold, done]) = (self.body.current(), self.body.labels());
        self.body.branch_usually(all, done, cold);

        let plain = self.values(&look.outside)?;
        self.body.write_cold(true);
        let made = self.singles_again(look, [cold, done]);
        self.body.write_cold(false);
        self.body.begin(done);
        for ((v, plain), made) in look.outside.iter().zip(plain).zip(made?) {
            let ty = scalar(self.kind(*v)).one();
            let joined = self.body.join(ty, &[(plain, from), (made, cold)]);
            self.bind(*v, joined);
        }
        Ok(())
    }

    /// What has waited, as it should be; gives what is read outside. What it is computed from is computed
    /// once more, too, and LLVM does not see that: it would keep all of it in registers until then.
    fn singles_again(&mut self, look: &Look, [cold, done]: [Label; 2]) -> Result<Vec<Operand>> {
        self.body.begin(cold);
        let mut known = Vec::new();
        for v in &look.passing {
            known.push((*v, self.value(*v)?));
        }
        for v in &look.read {
            if self.kind(*v) != Kind::F64 {
                continue;
            }
            let operand = self.value(*v)?;
            known.push((*v, operand));
            let fenced = self.body.fence(operand, FLOAT);
            self.bind(*v, fenced);
        }
        for stmt in &look.again {
            self.compute_single(stmt, false)?;
        }
        let made = self.values(&look.outside);
        self.body.jump(done);
        known.into_iter().for_each(|(v, operand)| self.bind(v, operand));
        made
    }

    fn values(&self, values: &[Value]) -> Result<Vec<Operand>> {
        values.iter().map(|v| self.value(*v)).collect()
    }
}
