//! What a value was in the iteration before.
//!
//! A loop of sums carries it, as a float. Of eight iterations the first one asks for that, and each of the others for what the one
//! beside it has: `[a, b, .., i]` in the iterations behind `h` gives `[h, a, b, ..]`, and `i` is carried on.

use crate::function::{Emitter, Operand, Result};
use jut_loop::form::{Atom, Block, Value};

impl Emitter<'_> {
    /// What a loop carries for its body: name, type and what it is in the first iteration.
    pub(crate) fn first_before(
        &mut self,
        body: &Block,
    ) -> Result<Vec<(Operand, &'static str, Operand)>> {
        let of = |(_, first): (Value, Atom)| {
            let first = self.atom(first)?;
            Ok((self.fresh_name("before"), "f64", first))
        };
        body.previous().map(of).collect()
    }

    /// A body begins that is given this.
    pub(crate) fn begin_before(&mut self, body: &Block, before: Vec<Operand>) {
        self.before.extend(body.previous().map(|(dst, _)| dst).zip(before));
    }

    /// What the next iteration asks for.
    pub(crate) fn end_before(&self, body: &Block) -> Vec<Operand> {
        body.previous().filter_map(|(dst, _)| self.before.get(&dst).cloned()).collect()
    }

    fn exchange(&mut self, dst: Value, now: Operand) -> Result<Operand> {
        let before = self.before.insert(dst, now);
        before.ok_or_else(|| "`previous` outside of a loop of sums".to_owned())
    }

    /// A single iteration asks.
    pub(crate) fn before(&mut self, dst: Value, src: Atom) -> Result<()> {
        let now = self.atom(src)?;
        let before = self.exchange(dst, now)?;
        self.alias(dst, before);
        Ok(())
    }

    /// Eight iterations ask, whose own values are these.
    pub(crate) fn before_eight(&mut self, dst: Value, now: &Operand) -> Result<Operand> {
        const WIDE: &str = "vector<8xf64>";
        let last =
            self.define_as("last", format_args!("vector.extract {now}[7] : f64 from {WIDE}"));
        let before = self.exchange(dst, last)?;
        let beside = self.define_as(
            "beside",
            format_args!("vector.shuffle {now}, {now} [0, 0, 1, 2, 3, 4, 5, 6] : {WIDE}, {WIDE}"),
        );
        let all = format_args!("vector.insert {before}, {beside}[0] : f64 into {WIDE}");
        Ok(self.define_as("before", all))
    }
}
