//! Sums in the fixed order of the language.
//!
//! Iteration i, counted from the first, belongs to lane i mod 8, and blocks of 1024 iterations are
//! summed in order. A loop over the blocks holds three parts:
//!
//! 1. if [it is marked](crate::vector), a loop over eight iterations at a time, whose lanes are
//!    one `vector<8xf64>`;
//! 2. a loop over what is left (else all of it), which takes the lane of an iteration out of the
//!    vector and puts it back;
//! 3. the tree: lane k plus lane k + 4, k plus k + 2, k plus k + 1, and the sum plus that.
//!
//! What [values were in the iteration before](crate::previous) is carried through all of them.

use crate::control::Counted;
use crate::function::{Emitter, Operand, Result, Width};
use crate::prelude::Helper;
use jut_loop::form::{BLOCK, LANES, Lanes, Stmt};

/// The type of the lanes of a sum.
const WIDE: &str = "vector<8xf64>";

impl Emitter<'_> {
    pub(crate) fn lanes_loop(&mut self, source: &Lanes, fails: bool) -> Result<()> {
        let sums = source.dst.len();
        if source.carry.len() != sums || source.body.results.len() != sums {
            return Err("a lanes loop has another number of sums".to_owned());
        }
        let [low, high] = [self.atom(source.low)?, self.atom(source.high)?];
        let (nothing, zero) = (self.int(0), self.float(0.0, Width::One));
        let mut all = self.difference("all", &high, &low);
        if fails {
            // The number of iterations without a sign: none, or as many as there are.
            let any = self.define_as("any", format_args!("arith.cmpi slt, {low}, {high} : index"));
            all =
                self.define_as("all", format_args!("arith.select {any}, {all}, {nothing} : index"));
        }
        let mut totals: Vec<_> =
            (0..sums).map(|_| (self.fresh_name("total"), "f64", zero.clone())).collect();
        totals.extend(self.first_before(&source.body)?);
        let asks = match source.body.stmts.first() {
            Some(Stmt::Poll { every: 2.., site }) => Some(*site),
            _ => None,
        };
        let blocks = Counted {
            low: nothing,
            high: all.clone(),
            step: BLOCK,
            predicate: "ult",
            index: self.fresh_name("block"),
            carried: totals,
            fails,
            early: false,
        };
        let mut dst = self.bind_all(&source.dst);
        dst.extend(blocks.carried[sums..].iter().map(|_| self.fresh_name("last")));
        self.counted(&dst, &blocks, &mut |this| {
            let (block, (totals, before)) = (&blocks.index, blocks.carried.split_at(sums));
            if let Some(site) = asks {
                this.poll(site)?;
            }
            let most = this.int(BLOCK);
            let left = this.difference("left", &all, block);
            let count = this.define_as("count", format_args!("arith.minui {left}, {most} : index"));
            let start = this.sum("start", &low, block);
            let before = before.iter().map(|(name, _, _)| name.clone()).collect();
            let mut lanes = this.one_block(source, [&start, &count], before, fails)?;
            let before = lanes.split_off(sums);
            let fold = this.prelude.helper(Helper::Fold);
            let mut next = Vec::with_capacity(sums);
            for ((total, _, _), lanes) in totals.iter().zip(&lanes) {
                let sum = this
                    .define_as("sum", format_args!("func.call @{fold}({lanes}) : ({WIDE}) -> f64"));
                next.push(this.define_as("total", format_args!("arith.addf {total}, {sum} : f64")));
            }
            next.extend(before);
            Ok(next)
        })
    }

    /// The lanes of `count` iterations, at most a block, from the index `start`, and then what is asked for in the iteration
    /// behind them, given the same of that before them.
    fn one_block(
        &mut self,
        source: &Lanes,
        [start, count]: [&Operand; 2],
        before: Vec<Operand>,
        fails: bool,
    ) -> Result<Vec<Operand>> {
        let sums = source.dst.len();
        let zeros = self.float(0.0, Width::Eight);
        let mut done = self.int(0);
        let mut lanes = vec![zeros; sums];
        lanes.extend(before);
        if source.vector.is_some() {
            let mask = self.int(-(LANES as i64));
            let whole = self.define_as("whole", format_args!("arith.andi {count}, {mask} : index"));
            let main = self.over_lanes(&done, &whole, LANES as i64, (&lanes, sums), false);
            let names: Vec<Operand> = lanes.iter().map(|_| self.fresh_name("most")).collect();
            self.counted(&names, &main, &mut |this| {
                let at = &main.index;
                let index = this.sum("at", start, at);
                let mut carried: Vec<Operand> =
                    main.carried.iter().map(|(name, _, _)| name.clone()).collect();
                this.begin_before(&source.body, carried.split_off(sums));
                let mut next = this.eight(source, &index, &carried)?;
                next.extend(this.end_before(&source.body));
                Ok(next)
            })?;
            (done, lanes) = (whole, names);
        }
        let rest = self.over_lanes(&done, count, 1, (&lanes, sums), fails);
        let names: Vec<Operand> = lanes.iter().map(|_| self.fresh_name("lanes")).collect();
        self.counted(&names, &rest, &mut |this| {
            let at = &rest.index;
            let index = this.bind(source.index);
            this.line(format_args!("{index} = arith.addi {start}, {at} : index"));
            let mask = this.int(LANES as i64 - 1);
            let lane = this.define_as("lane", format_args!("arith.andi {at}, {mask} : index"));
            let before = rest.carried[sums..].iter().map(|(name, _, _)| name.clone());
            this.begin_before(&source.body, before.collect());
            for ((lanes, _, _), carry) in rest.carried.iter().zip(&source.carry) {
                let name = this.bind(*carry);
                this.line(format_args!(
                    "{name} = vector.extract {lanes}[{lane}] : f64 from {WIDE}"
                ));
            }
            let results = this.block(&source.body)?;
            let mut next = Vec::with_capacity(results.len());
            for ((lanes, _, _), result) in rest.carried.iter().zip(results) {
                next.push(this.define_as(
                    "put",
                    format_args!("vector.insert {result}, {lanes}[{lane}] : f64 into {WIDE}"),
                ));
            }
            next.extend(this.end_before(&source.body));
            Ok(next)
        })?;
        Ok(names)
    }

    /// A loop that carries lanes of so many sums, and floats.
    fn over_lanes(
        &mut self,
        low: &Operand,
        high: &Operand,
        step: i64,
        (lanes, sums): (&[Operand], usize),
        fails: bool,
    ) -> Counted {
        let ty = |k: usize| if k < sums { WIDE } else { "f64" };
        Counted {
            low: low.clone(),
            high: high.clone(),
            step,
            predicate: "ult",
            index: self.fresh_name("k"),
            carried: lanes
                .iter()
                .enumerate()
                .map(|(k, lanes)| (self.fresh_name("lanes"), ty(k), lanes.clone()))
                .collect(),
            fails,
            early: false,
        }
    }
}
