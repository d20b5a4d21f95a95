//! Products of derivatives of a single iteration, or outside of all loops, several of which are looked at together.
//!
//! As for [pairs of iterations](crate::group): `times` is a plain product, and so is what is computed from it, until something else than
//! an operation that gives a float or a truth value reads that. Then one branch asks if [what shows it](jut_loop::analysis::shown_by) is NaN, and if so all of it is
//! computed once more, product by product, with what it is computed from, so that nothing has to be kept until then.
//!
//! ```text
//!   p = a b; q = p + c; r = d e
//!   if q or r is NaN: cold                cold: p, q, r again, with zeros
//!   use q, r
//! ```

use crate::operation;
use crate::signature::cranelift_type;
use crate::translate::{Result, Translator, block_args};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{self, InstBuilder};
use jut_loop::analysis::{Look, is_product};
use jut_loop::form::{Stmt, Value};

impl Translator<'_> {
    /// An operation; a product of derivatives as a plain one, or as it is defined.
    pub(crate) fn compute_single(&mut self, stmt: &Stmt, plain: bool) -> Result<()> {
        match stmt {
            Stmt::Prim { dst, args, .. } if is_product(stmt) => {
                let operands = self.atoms(args)?;
                let [a, b] = operands[..] else { return Err("a product of two".to_owned()) };
                let product = match plain {
                    true => self.builder.ins().fmul(a, b),
                    false => operation::times_at_once(&mut self.builder, a, b),
                };
                self.bind(*dst, product);
                Ok(())
            }
            _ => self.stmt(stmt),
        }
    }

    /// Looks at the products that have waited, and makes what is computed from them what it should be.
    pub(crate) fn look_at_singles(&mut self, look: &Look) -> Result<()> {
        let shown = self.values_of(&look.shown)?;
        // One comparison is enough for two.
        let mut undefined = Vec::with_capacity(shown.len().div_ceil(2));
        for two in shown.chunks(2) {
            let (a, b) = (two[0], two[two.len() - 1]);
            undefined.push(self.builder.ins().fcmp(FloatCC::Unordered, a, b));
        }
        let some = undefined.into_iter().reduce(|a, b| self.builder.ins().bor(a, b));
        let some = some.ok_or("products that show nowhere")?;
        let usual = self.values_of(&look.outside)?;
        let [cold, done] = [self.builder.create_block(), self.builder.create_block()];
        self.builder.set_cold_block(cold);
        let mut params = Vec::with_capacity(look.outside.len());
        for v in &look.outside {
            let ty = cranelift_type(self.kind(*v));
            params.push(self.builder.append_block_param(done, ty));
        }
        self.builder.ins().brif(some, cold, &[], done, &block_args(&usual));

        self.builder.switch_to_block(cold);
        self.builder.seal_block(cold);
        let known = self.values_of(&look.passing)?;
        for stmt in &look.again {
            self.compute_single(stmt, false)?;
        }
        let made = self.values_of(&look.outside)?;
        self.builder.ins().jump(done, &block_args(&made));
        look.passing.iter().zip(known).for_each(|(v, value)| self.bind(*v, value));

        self.builder.switch_to_block(done);
        self.builder.seal_block(done);
        look.outside.iter().zip(params).for_each(|(v, param)| self.bind(*v, param));
        Ok(())
    }

    fn values_of(&self, values: &[Value]) -> Result<Vec<ir::Value>> {
        values.iter().map(|v| self.value(*v)).collect()
    }
}
