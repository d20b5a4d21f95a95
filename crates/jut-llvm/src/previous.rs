//! What a value was in the iteration before.
//!
//! A loop keeps what its last eight iterations had in memory of its own, which LLVM makes a register; single iterations keep only the
//! last number. Of eight iterations the first one asks for that, and each of the others for what the one beside it has.
//!
//! ```text
//! in memory        . . . . . . . h
//! x of the eight   a b c d e f g i
//! result           h a b c d e f g      then x is in memory
//! ```

use crate::function::{Result, Translator};
use crate::text::{EIGHT, FLOAT, LANE, Operand};
use jut_loop::form::{Atom, Block, Value};

impl Translator<'_> {
    /// Before a loop: what is asked for in its first iteration.
    pub(crate) fn begin_before(&mut self, body: &Block) -> Result<()> {
        for (dst, first) in body.previous() {
            let place = self.body.alloca(LANE, 64);
            let first = self.atom(first)?;
            self.before.insert(dst, place);
            let last = self.last(place);
            self.body.line(format_args!("store double {first}, ptr {last}, align 8"));
        }
        Ok(())
    }

    fn held_before(&self, dst: Value) -> Result<Operand> {
        let place = self.before.get(&dst).copied();
        place.ok_or_else(|| "`previous` outside of a loop of sums".to_owned())
    }

    /// The last of eight numbers in memory.
    fn last(&mut self, place: Operand) -> Operand {
        self.body.element("inbounds nuw ", FLOAT, place, EIGHT - 1)
    }

    /// A single iteration asks.
    pub(crate) fn before(&mut self, dst: Value, src: Atom) -> Result<()> {
        let (place, now) = (self.held_before(dst)?, self.atom(src)?);
        let last = self.last(place);
        let before = self.body.value(format_args!("load double, ptr {last}, align 8"));
        self.body.line(format_args!("store double {now}, ptr {last}, align 8"));
        self.bind(dst, before);
        Ok(())
    }

    /// Eight iterations ask, whose own values are these.
    pub(crate) fn before_eight(&mut self, dst: Value, now: Operand) -> Result<Operand> {
        let place = self.held_before(dst)?;
        let before = self.load_lane(place);
        self.store_lane(place, now);
        let numbers: Vec<String> = (EIGHT - 1..2 * EIGHT - 1).map(|k| format!("i32 {k}")).collect();
        let (before, now) = (before.of(LANE), now.of(LANE));
        Ok(self.body.value(format_args!(
            "shufflevector {LANE} {before}, {LANE} {now}, <{EIGHT} x i32> <{}>",
            numbers.join(", ")
        )))
    }
}
