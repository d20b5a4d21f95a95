//! Pairs of iterations together, whose products of derivatives are looked at once.
//!
//! `times` is a product, but for one that is NaN and has a factor of zero. To ask for that at each
//! product costs more than the product. So some pairs are computed with plain products, and before
//! anything is stored one branch asks if [what shows it](jut_loop::analysis::shown_by) is NaN: then, which is hardly ever, all of it is
//! computed once more, product by product.
//!
//! ```text
//!   p = a b; q = p + c; r = d e           products of all pairs
//!   if any of the q, r is NaN: cold       cold: p, q, r again, with zeros
//!   store q, r                            of all pairs
//! ```
//!
//! What is loaded is loaded again there: nothing has been stored. So it is done where
//! [stores may stand last](jut_loop::form::Vector).

use crate::operation;
use crate::translate::{Result, Translator, block_args};
use crate::vector::{Carried, PairPlan, Waiting, Way};
use cranelift_codegen::ir::{self, InstBuilder};
use jut_loop::form::Block;

impl Translator<'_> {
    /// Translates the body for neighbouring pairs of iterations from `index` on, given what is carried
    /// into each; gives the results of each.
    pub(crate) fn pairs(
        &mut self,
        body: &Block,
        plan: &PairPlan,
        index: ir::Value,
        carried: &[Carried],
    ) -> Result<Vec<Vec<ir::Value>>> {
        let Some(together) = plan.together else {
            return self.each(body, plan, (index, 0), carried, &mut Way::Direct);
        };
        let mut all = Vec::with_capacity(carried.len());
        for (k, group) in carried.chunks(together).enumerate() {
            all.extend(self.group(body, plan, (index, (2 * together * k) as i64), group)?);
        }
        Ok(all)
    }

    /// The same for one pair, `k` iterations behind.
    pub(crate) fn one_pair(
        &mut self,
        body: &Block,
        plan: &PairPlan,
        place: (ir::Value, i64),
        carried: &Carried,
    ) -> Result<Vec<ir::Value>> {
        let carried = std::slice::from_ref(carried);
        let mut results = match plan.together {
            None => self.each(body, plan, place, carried, &mut Way::Direct)?,
            Some(_) => self.group(body, plan, place, carried)?,
        };
        results.pop().ok_or_else(|| "a pair without results".to_owned())
    }

    fn each(
        &mut self,
        body: &Block,
        plan: &PairPlan,
        (index, first): (ir::Value, i64),
        carried: &[Carried],
        way: &mut Way,
    ) -> Result<Vec<Vec<ir::Value>>> {
        let mut all = Vec::with_capacity(carried.len());
        for (k, carried) in (first..).step_by(2).zip(carried) {
            all.push(self.pair(body, plan, (index, k), carried, way)?);
        }
        Ok(all)
    }

    fn group(
        &mut self,
        body: &Block,
        plan: &PairPlan,
        place: (ir::Value, i64),
        carried: &[Carried],
    ) -> Result<Vec<Vec<ir::Value>>> {
        let waiting = |results: &[Vec<ir::Value>], stores: &[Waiting]| -> Vec<ir::Value> {
            let stored = stores.iter().map(|store| store.value);
            results.iter().flatten().copied().chain(stored).collect()
        };
        let last = self.held_pairs(body)?;
        let mut plain = Way::Plain { shown: Vec::new(), stores: Vec::new() };
        let mut results = self.each(body, plan, place, carried, &mut plain)?;
        let some = match &plain {
            Way::Plain { shown, .. } => operation::some_undefined(&mut self.builder, shown),
            Way::Direct | Way::Again { .. } => None,
        };
        let some = some.ok_or("a group without products")?;
        let mut stores = plain.stores();
        let usual = waiting(&results, &stores);
        let [cold, done] = [self.builder.create_block(), self.builder.create_block()];
        self.builder.set_cold_block(cold);
        for value in &usual {
            let ty = self.builder.func.dfg.value_type(*value);
            self.builder.append_block_param(done, ty);
        }
        self.builder.ins().brif(some, cold, &[], done, &block_args(&usual));

        self.builder.switch_to_block(cold);
        for (variable, value) in last {
            self.builder.def_var(variable, value);
        }
        let mut again = Way::Again { stores: Vec::new() };
        let made = self.each(body, plan, place, carried, &mut again)?;
        let made = waiting(&made, &again.stores());
        self.builder.ins().jump(done, &block_args(&made));

        self.builder.switch_to_block(done);
        let params = self.builder.block_params(done).to_vec();
        let values = results.iter_mut().flatten();
        let values = values.chain(stores.iter_mut().map(|store| &mut store.value));
        values.zip(params).for_each(|(value, param)| *value = param);
        stores.iter().for_each(|store| self.store_pair(store));
        Ok(results)
    }
}
