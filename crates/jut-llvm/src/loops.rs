//! Counted loops and sums in the fixed order.
//!
//! A `for` tests its condition at the end: one test before the first iteration, one branch per
//! iteration. In a `for par` without inner loops, calls and allocations every access belongs to a
//! group that says to LLVM that iterations are independent, so that it may take several at once
//! without asking which buffers overlap.
//!
//! A `lanes` loop keeps eight partial sums per sum, as a vector of eight. Iteration i, counted from
//! the first, belongs to lane i mod 8, and blocks of 1024 iterations are summed in order. Three parts
//! stand inside the loop over blocks:
//!
//! 1. if [the body allows it](crate::vector), a main loop of eight iterations at a time;
//! 2. a loop over what is left (all of it, if the body does not), whose lanes are in memory: a load,
//!    the body, a store;
//! 3. the tree: lane k plus lane k + 4, k plus k + 2, k plus k + 1, and the sum plus that.

use crate::function::{Result, Translator, phi, scalar};
use crate::text::{Label, Operand, Scalar};
use jut_loop::form::{BLOCK, Block, For, LANES, Lanes, Order, Stmt};

/// Memory of eight floats, used again by loops of the same depth.
#[derive(Default)]
pub(crate) struct LaneSlots {
    depth: usize,
    by_depth: Vec<Vec<Operand>>,
}

/// The index type.
const INT: crate::text::Type = crate::text::Type { scalar: Scalar::I64, wide: false };
const FLOAT: crate::text::Type = crate::text::Type { scalar: Scalar::F64, wide: false };
/// Eight floats.
pub(crate) const LANE: crate::text::Type = crate::text::Type { scalar: Scalar::F64, wide: true };

impl Translator<'_> {
    pub(crate) fn for_loop(&mut self, source: &For) -> Result<()> {
        let (low, high) = (self.atom(source.low)?, self.atom(source.high)?);
        let mut initial = Vec::with_capacity(source.carry.len());
        for (_, atom) in &source.carry {
            initial.push(self.atom(*atom)?);
        }
        let outside = self.group;
        let group = is_independent(source).then(|| self.imports.metadata("distinct !{}"));
        let before = self.body.current();
        let [start, body, done] = [self.body.label(), self.body.label(), self.body.label()];
        let (low_shown, high_shown) = (low.of(INT).to_string(), high.of(INT).to_string());
        let any = self.body.value(format_args!("icmp slt i64 {low_shown}, {high_shown}"));
        let any = any.of(Scalar::Bool.one());
        self.body.line(format_args!("br i1 {any}, label %{start}, label %{done}"));

        self.body.begin(start);
        let down = source.order == Order::Down;
        let first = match down {
            true => self.body.value(format_args!("add nsw i64 {high_shown}, -1")),
            false => low,
        };
        self.body.jump(body);

        self.body.begin(body);
        let hole = self.body.hole();
        let index = self.body.temp();
        self.bind(source.index, index);
        let mut carried = Vec::new();
        for (value, _) in &source.carry {
            let temp = self.body.temp();
            carried.push((temp, scalar(self.kind(*value)).one()));
            self.bind(*value, temp);
        }
        self.group = group;
        let next = self.block(&source.body);
        self.group = outside;
        let next = next?;
        if next.len() != source.carry.len() || next.len() != source.dst.len() {
            return Err("a loop carries another number of values".to_owned());
        }
        let shown = index.of(INT).to_string();
        let (more, following) = match down {
            true => {
                let more = self.body.value(format_args!("icmp sgt i64 {shown}, {low_shown}"));
                (more, self.body.value(format_args!("add nsw i64 {shown}, -1")))
            }
            false => {
                let following = self.body.value(format_args!("add nsw i64 {shown}, 1"));
                let next = following.of(INT);
                let more = self.body.value(format_args!("icmp slt i64 {next}, {high_shown}"));
                (more, following)
            }
        };
        let (latch, more) = (self.body.current(), more.of(Scalar::Bool.one()));
        let name = match group {
            Some(group) => {
                let independent = format!("!{{!\"llvm.loop.parallel_accesses\", !{group}}}");
                let independent = self.imports.metadata(&independent);
                let this = self.imports.next_metadata();
                let name = self.imports.metadata(&format!("distinct !{{!{this}, !{independent}}}"));
                format!(", !llvm.loop !{name}")
            }
            None => String::new(),
        };
        self.body.line(format_args!("br i1 {more}, label %{body}, label %{done}{name}"));
        let line = |value: Operand, ty, incoming: &[(Operand, Label)]| {
            format!("{} = {}", value.of(ty), phi(ty, incoming))
        };
        let index_line = line(index, INT, &[(first, start), (following, latch)]);
        self.body.fill(&hole, index_line);
        for (k, (temp, ty)) in carried.iter().enumerate() {
            let carry_line = line(*temp, *ty, &[(initial[k], start), (next[k], latch)]);
            self.body.fill(&hole, carry_line);
        }

        self.body.begin(done);
        for (k, value) in source.dst.iter().enumerate() {
            let ty = scalar(self.kind(*value)).one();
            let result = self.body.value(phi(ty, &[(initial[k], before), (next[k], latch)]));
            self.bind(*value, result);
        }
        Ok(())
    }

    pub(crate) fn lanes_loop(&mut self, source: &Lanes) -> Result<()> {
        let sums = source.dst.len();
        if source.carry.len() != sums || source.body.results.len() != sums {
            return Err("a lanes loop has another number of sums".to_owned());
        }
        let (low, high) = (self.atom(source.low)?, self.atom(source.high)?);
        let slots = self.lane_slots(sums);
        let outside = self.group.take();
        let before = self.body.current();
        let [start, outer, done] = [self.body.label(), self.body.label(), self.body.label()];
        let (low_shown, high_shown) = (low.of(INT).to_string(), high.of(INT).to_string());
        let any = self.body.value(format_args!("icmp slt i64 {low_shown}, {high_shown}"));
        let any = any.of(Scalar::Bool.one());
        self.body.line(format_args!("br i1 {any}, label %{start}, label %{done}"));

        self.body.begin(start);
        // The distance from low to high as an unsigned number is always right.
        let total = self.body.value(format_args!("sub i64 {high_shown}, {low_shown}"));
        self.body.jump(outer);

        self.body.begin(outer);
        let hole = self.body.hole();
        let [from, left] = [self.body.temp(), self.body.temp()];
        let totals: Vec<Operand> = (0..sums).map(|_| self.body.temp()).collect();
        let left_shown = left.of(INT).to_string();
        let taken =
            self.body.value(format_args!("call i64 @llvm.umin.i64(i64 {left_shown}, i64 {BLOCK})"));
        let taken = taken.of(INT).to_string();
        let end = self.body.value(format_args!("add nsw i64 {}, {taken}", from.of(INT)));
        let lanes = self.lanes_of_block(source, from, end, &slots)?;
        let mut next = Vec::with_capacity(sums);
        for (sum, lanes) in totals.iter().zip(lanes) {
            let lane = self.tree(lanes).of(FLOAT);
            next.push(self.body.value(format_args!("fadd double {}, {lane}", sum.of(FLOAT))));
        }
        let rest = self.body.value(format_args!("sub i64 {left_shown}, {taken}"));
        let more = self.body.value(format_args!("icmp ne i64 {}, 0", rest.of(INT)));
        let (latch, more) = (self.body.current(), more.of(Scalar::Bool.one()));
        self.body.line(format_args!("br i1 {more}, label %{outer}, label %{done}"));
        let mut fill = |value: Operand, ty, first: Operand, next: Operand| {
            let line = phi(ty, &[(first, start), (next, latch)]);
            self.body.fill(&hole, format_args!("{} = {line}", value.of(ty)));
        };
        fill(from, INT, low, end);
        fill(left, INT, total, rest);
        for (sum, next) in totals.iter().zip(&next) {
            fill(*sum, FLOAT, Operand::ZERO, *next);
        }

        self.body.begin(done);
        for (value, next) in source.dst.iter().zip(&next) {
            let line = phi(FLOAT, &[(Operand::ZERO, before), (*next, latch)]);
            let result = self.body.value(line);
            self.bind(*value, result);
        }
        self.group = outside;
        Ok(())
    }

    /// The iterations from `from` to `end`, which are at least one; gives the lanes of each sum.
    fn lanes_of_block(
        &mut self,
        source: &Lanes,
        from: Operand,
        end: Operand,
        slots: &[Operand],
    ) -> Result<Vec<Operand>> {
        let ptr = Scalar::Ptr.one();
        for slot in slots {
            let slot = slot.of(ptr);
            self.body.line(format_args!("store {LANE} zeroinitializer, ptr {slot}, align 64"));
        }
        let from_shown = from.of(INT).to_string();
        let before = self.body.current();
        let [body, after] = [self.body.label(), self.body.label()];
        self.body.jump(body);

        self.body.begin(body);
        let hole = self.body.hole();
        let index = self.body.temp();
        self.bind(source.index, index);
        let shown = index.of(INT).to_string();
        let lane = self.body.value(format_args!("sub i64 {shown}, {from_shown}")).of(INT);
        let lane = self.body.value(format_args!("and i64 {lane}, {}", LANES - 1)).of(INT);
        let mut places = Vec::new();
        for (slot, carry) in slots.iter().zip(&source.carry) {
            let slot = slot.of(ptr);
            let line = format_args!("getelementptr inbounds nuw double, ptr {slot}, i64 {lane}");
            let place = self.body.value(line).of(ptr).to_string();
            let value = self.body.value(format_args!("load double, ptr {place}, align 8"));
            self.bind(*carry, value);
            places.push(place);
        }
        self.lanes.depth += 1;
        let results = self.block(&source.body);
        self.lanes.depth -= 1;
        for (place, result) in places.iter().zip(results?) {
            let result = result.of(FLOAT);
            self.body.line(format_args!("store double {result}, ptr {place}, align 8"));
        }
        let next = self.body.value(format_args!("add nsw i64 {shown}, 1"));
        let more = self.body.value(format_args!("icmp slt i64 {}, {}", next.of(INT), end.of(INT)));
        let (latch, more) = (self.body.current(), more.of(Scalar::Bool.one()));
        self.body.line(format_args!("br i1 {more}, label %{body}, label %{after}"));
        let line = phi(INT, &[(from, before), (next, latch)]);
        self.body.fill(&hole, format_args!("{shown} = {line}"));

        self.body.begin(after);
        let mut lanes = Vec::with_capacity(slots.len());
        for slot in slots {
            let slot = slot.of(ptr);
            lanes.push(self.body.value(format_args!("load {LANE}, ptr {slot}, align 64")));
        }
        Ok(lanes)
    }

    /// The lanes of one sum, added in the fixed tree.
    fn tree(&mut self, lanes: Operand) -> Operand {
        let mut width = LANES;
        let mut all = lanes.of(LANE).to_string();
        while let half @ 1.. = width / 2 {
            let numbers = |from: usize| {
                let list: Vec<String> = (from..from + half).map(|k| format!("i32 {k}")).collect();
                format!("<{half} x i32> <{}>", list.join(", "))
            };
            let ty = format!("<{width} x double>");
            let [low, high] = [numbers(0), numbers(half)].map(|mask| {
                let line = format_args!("shufflevector {ty} {all}, {ty} poison, {mask}");
                self.body.value(line).of(LANE).to_string()
            });
            all = self
                .body
                .value(format_args!("fadd <{half} x double> {low}, {high}"))
                .of(LANE)
                .to_string();
            width = half;
        }
        self.body.value(format_args!("extractelement <1 x double> {all}, i64 0"))
    }

    /// Memory for each sum's lanes, for the loops of the current depth.
    fn lane_slots(&mut self, sums: usize) -> Vec<Operand> {
        let depth = self.lanes.depth;
        if self.lanes.by_depth.len() <= depth {
            self.lanes.by_depth.resize(depth + 1, Vec::new());
        }
        while self.lanes.by_depth[depth].len() < sums {
            let slot = self.body.alloca(&LANE.to_string(), 64);
            self.lanes.by_depth[depth].push(slot);
        }
        self.lanes.by_depth[depth][..sums].to_vec()
    }
}

/// Whether iterations of a loop are independent of each other, memory that each allocates for itself
/// included, and there is something in it for LLVM to take several at once.
fn is_independent(source: &For) -> bool {
    fn simple(block: &Block) -> bool {
        block.stmts.iter().all(|stmt| match stmt {
            Stmt::If { then, other, .. } => simple(then) && simple(other),
            Stmt::Prim { .. }
            | Stmt::Copy { .. }
            | Stmt::Load { .. }
            | Stmt::Store { .. }
            | Stmt::Offset { .. }
            | Stmt::Check { .. } => true,
            _ => false,
        })
    }
    source.order == Order::Par && simple(&source.body)
}
