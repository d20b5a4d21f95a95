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
use jut_loop::analysis::{Pending, Turn, is_product, shown_by};
use jut_loop::form::{Kind, Stmt, Value};

impl Translator<'_> {
    /// Translates a statement of a block in which products wait.
    pub(crate) fn single(&mut self, pending: &mut Pending, stmt: &Stmt) -> Result<()> {
        match pending.turn(stmt, |v| self.kind(v)) {
            Turn::Wait => {
                self.compute_single(stmt, true)?;
                pending.wait(stmt);
                Ok(())
            }
            Turn::Look => {
                self.look_at_singles(pending)?;
                self.single(pending, stmt)
            }
            Turn::Go => self.stmt(stmt),
        }
    }

    /// An operation; a product of derivatives as a plain one, or as it is defined.
    fn compute_single(&mut self, stmt: &Stmt, plain: bool) -> Result<()> {
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

    /// Looks at the products that wait, and makes what is computed from them what it should be.
    pub(crate) fn look_at_singles(&mut self, pending: &mut Pending) -> Result<()> {
        let products = pending.take();
        if products.is_empty() {
            return Ok(());
        }
        let shown = shown_by(&products);
        let shown: Vec<Operand> =
            shown.into_iter().map(|v| self.value(v)).collect::<Result<_>>()?;
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

        let outside = pending.read_outside(&products);
        let plain: Vec<Operand> = outside.iter().map(|v| self.value(*v)).collect::<Result<_>>()?;
        self.body.write_cold(true);
        let made = self.singles_again(pending, &products, [cold, done], &outside);
        self.body.write_cold(false);
        self.body.begin(done);
        for ((v, plain), made) in outside.into_iter().zip(plain).zip(made?) {
            let ty = scalar(self.kind(v)).one();
            let joined = self.body.join(ty, &[(plain, from), (made, cold)]);
            self.bind(v, joined);
        }
        Ok(())
    }

    /// Products, and what is computed from them, as they should be; gives some of the values. What they are computed from is computed
    /// once more, too, and LLVM does not see that: it would keep all of it in registers until then.
    fn singles_again(
        &mut self,
        pending: &mut Pending,
        products: &[Stmt],
        [cold, done]: [Label; 2],
        outside: &[Value],
    ) -> Result<Vec<Operand>> {
        self.body.begin(cold);
        let (needed, read) = pending.slice(products);
        let mut known = Vec::new();
        for v in needed.iter().flat_map(|stmt| stmt.bound()) {
            known.push((*v, self.value(*v)?));
        }
        for v in read {
            if self.kind(v) != Kind::F64 {
                continue;
            }
            let operand = self.value(v)?;
            known.push((v, operand));
            let fenced = self.body.fence(operand, FLOAT);
            self.bind(v, fenced);
        }
        for stmt in needed.iter().chain(products) {
            self.compute_single(stmt, false)?;
        }
        let made = outside.iter().map(|v| self.value(*v)).collect();
        self.body.jump(done);
        known.into_iter().for_each(|(v, operand)| self.bind(v, operand));
        made
    }
}
