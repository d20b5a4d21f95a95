//! Several iterations at once, as machines take them: statement by statement, each for all of them.
//!
//! Nothing here knows whether that is right for a loop: it is as the loop says. So what is wrong with a
//! mark shows as other bits, or as a load or store that nobody may make. Both sides of a branch are
//! computed for every iteration; what they load and check counts for those that take them.

use super::{Execution, Fault, Frame, Val, broken, failing, fold, operation};
use crate::analysis::{Sum, conjunction, sums_in_order};
use crate::form::{Atom, BLOCK, Block, Check, For, Kind, LANES, Lanes, Order, Stmt, Value, Vector};
use std::collections::HashMap;

/// What is repeated: a body with its index, and what it is given of each lane.
#[derive(Clone, Copy)]
pub(super) struct Iterations<'a> {
    pub index: Value,
    pub carry: &'a [Value],
    pub body: &'a Block,
}

/// One value for each of some iterations.
type Each = Vec<Val>;

/// What some iterations have computed.
struct Group<'f, 'a> {
    frame: &'f Frame<'a>,
    values: HashMap<Value, Each>,
    count: usize,
    /// What is added to, and how far it has come.
    sums: HashMap<Value, (Sum, Val)>,
    /// Whether the last iteration is the first to add.
    down: bool,
    /// Which of them take the branch that is at hand; none if there is no branch.
    taking: Option<Vec<bool>>,
    /// Stores that wait: buffers, indices, values.
    waiting: Option<Vec<[Each; 3]>>,
    /// What values are in the last of them, by the names that they have in the iteration behind it.
    last: Vec<(Value, Val)>,
}

impl Group<'_, '_> {
    fn atom(&self, k: usize, a: Atom) -> Result<Val, Fault> {
        match a {
            Atom::Value(v) if let Some(each) = self.values.get(&v) => Ok(each[k]),
            other => self.frame.atom(other),
        }
    }

    /// A value for each iteration.
    fn each(&self, of: &mut dyn FnMut(usize) -> Result<Val, Fault>) -> Result<Each, Fault> {
        (0..self.count).map(of).collect()
    }

    /// Whether an iteration takes the branch that is at hand.
    fn takes(&self, k: usize) -> bool {
        self.taking.as_ref().is_none_or(|all| all[k])
    }

    fn atoms(&self, a: impl Into<Atom>) -> Result<Each, Fault> {
        let a = a.into();
        self.each(&mut |k| self.atom(k, a))
    }
}

/// The place of a cell.
fn place(buffer: Val, index: Val) -> Result<(usize, i64), Fault> {
    let Val::Buffer(block, at) = buffer else { return broken("a vector has no buffer") };
    Ok((block, at.wrapping_add(index.int()?)))
}

impl<'a> Execution<'a> {
    /// The iterations from `low` to `high`, of which the first belongs to the first lane.
    pub(super) fn one_by_one(
        &mut self,
        frame: &mut Frame<'a>,
        what: Iterations<'a>,
        (low, high): (i64, i64),
        lanes: &mut [[f64; LANES]],
    ) -> Result<(), Fault> {
        for (lane, i) in (0..LANES).cycle().zip(low..high) {
            frame.values[what.index] = Some(Val::I64(i));
            for (v, sum) in what.carry.iter().zip(&*lanes) {
                frame.values[*v] = Some(Val::F64(sum[lane]));
            }
            for (sum, next) in lanes.iter_mut().zip(self.block(frame, what.body)?) {
                let Val::F64(next) = next else { return broken("a lane is no f64") };
                sum[lane] = next;
            }
        }
        Ok(())
    }

    /// The same, several at once as long as that goes.
    pub(super) fn in_vectors(
        &mut self,
        frame: &mut Frame<'a>,
        what: Iterations<'a>,
        vector: Vector,
        (mut low, high): (i64, i64),
        lanes: &mut [[f64; LANES]],
    ) -> Result<(), Fault> {
        let width = i64::from(vector.width);
        while low < high {
            let count = high.saturating_sub(low).min(width);
            let at_once = count == width || vector.masked;
            if !at_once || !self.group(frame, what, vector, (low, count as usize), lanes)? {
                break;
            }
            low += count;
        }
        self.one_by_one(frame, what, (low, high), lanes)
    }

    /// Some iterations at once; false if a check does not hold for all, and then nothing has happened.
    fn group(
        &mut self,
        frame: &mut Frame<'a>,
        what: Iterations<'a>,
        vector: Vector,
        (first, count): (i64, usize),
        lanes: &mut [[f64; LANES]],
    ) -> Result<bool, Fault> {
        let mut values = HashMap::new();
        values.insert(what.index, (0..count as i64).map(|k| Val::I64(first + k)).collect());
        for (v, sum) in what.carry.iter().zip(&*lanes) {
            values.insert(*v, sum[..count].iter().map(|x| Val::F64(*x)).collect());
        }
        let waiting = vector.stores_last.then(Vec::new);
        let sums = HashMap::new();
        let taking = None;
        let mut group = Group {
            frame: &*frame,
            values,
            count,
            sums,
            down: false,
            taking,
            waiting,
            last: Vec::new(),
        };
        let Some(results) = self.at_once(&mut group, what.body)? else { return Ok(false) };
        let Group { waiting, last, .. } = group;
        for store in waiting.into_iter().flatten() {
            self.store_each(&store)?;
        }
        last.into_iter().for_each(|(name, now)| frame.before[name] = Some(now));
        for (sum, results) in lanes.iter_mut().zip(results) {
            for (lane, next) in sum.iter_mut().zip(results) {
                let Val::F64(next) = next else { return broken("a lane is no f64") };
                *lane = next;
            }
        }
        Ok(true)
    }

    /// A loop of sums in order, or that asks if something holds for all: terms are computed together and taken one after the other.
    pub(super) fn sums_in_vectors(
        &mut self,
        frame: &mut Frame<'a>,
        f: &'a For,
        vector: Vector,
        (mut low, mut high): (i64, i64),
    ) -> Result<(), Fault> {
        let sums = sums_in_order(f).or_else(|| Some(vec![conjunction(f)?]));
        let Some(sums) = sums else {
            return broken("a loop in vectors carries more than sums, or a conjunction");
        };
        let mut carry = Vec::with_capacity(f.carry.len());
        for (value, initial) in &f.carry {
            let initial = frame.atom(*initial)?;
            frame.values[*value] = Some(initial);
            carry.push(initial);
        }
        let (width, down) = (i64::from(vector.width), f.order == Order::Down);
        while low < high {
            // The first of them is the first of all, or, if the loop runs down, the last is the last.
            let count = high.saturating_sub(low).min(width);
            let first = if down { high - count } else { low };
            if count == width || vector.masked {
                let mut values = HashMap::new();
                values.insert(f.index, (0..count).map(|k| Val::I64(first + k)).collect());
                let started = |sum: &Sum| (sum.next, (*sum, carry[sum.number]));
                let (count, sums) = (count as usize, sums.iter().map(started).collect());
                let waiting = vector.stores_last.then(Vec::new);
                let taking = None;
                let mut group =
                    Group { frame, values, count, sums, down, taking, waiting, last: Vec::new() };
                if self.at_once(&mut group, &f.body)?.is_none() {
                    return broken("a loop of sums that is taken in vectors has a check");
                }
                for (sum, now) in group.sums.values() {
                    carry[sum.number] = *now;
                }
                for store in group.waiting.into_iter().flatten() {
                    self.store_each(&store)?;
                }
            } else {
                let names: Vec<Value> = f.carry.iter().map(|(value, _)| *value).collect();
                let mut each: Vec<i64> = (first..first + count).collect();
                if down {
                    each.reverse();
                }
                for i in each {
                    frame.values[f.index] = Some(Val::I64(i));
                    frame.set_all(&names, std::mem::take(&mut carry));
                    carry = self.block(frame, &f.body)?;
                }
            }
            (low, high) = if down { (low, first) } else { (first + count, high) };
        }
        frame.set_all(&f.dst, carry);
        Ok(())
    }

    fn store_each(&mut self, [buffers, indices, values]: &[Each; 3]) -> Result<(), Fault> {
        for ((buffer, index), value) in buffers.iter().zip(indices).zip(values) {
            self.cells(place(*buffer, *index)?, 1)?.fill(*value);
        }
        Ok(())
    }

    /// One side of a branch: computed for every iteration, but what it loads and checks counts for those that take it.
    fn arm(
        &mut self,
        group: &mut Group<'_, 'a>,
        block: &'a Block,
        conds: &[Val],
        on: bool,
    ) -> Result<Option<Vec<Each>>, Fault> {
        let outside = group.taking.take();
        let takes = |(k, cond): (usize, &Val)| {
            *cond == Val::Bool(on) && outside.as_ref().is_none_or(|all| all[k])
        };
        group.taking = Some(conds.iter().enumerate().map(takes).collect());
        let results = self.at_once(group, block);
        group.taking = outside;
        results
    }

    /// A loop of sums in the fixed order, as long for each iteration around it, of which each has sums of its own. False if a check
    /// does not hold for all.
    fn lanes_at_once(&mut self, group: &mut Group<'_, 'a>, l: &'a Lanes) -> Result<bool, Fault> {
        let [low, high] = together(group, [l.low, l.high])?;
        if l.body.any(&mut |stmt| matches!(stmt, Stmt::Previous { .. })) {
            return broken("a loop in a vector asks for the iteration before");
        }
        // For each sum, and each iteration around it.
        let mut sums = vec![vec![0.0; group.count]; l.carry.len()];
        let mut start = low;
        while start < high {
            let end = high.min(start.saturating_add(BLOCK));
            let mut lanes = vec![vec![[0.0; LANES]; group.count]; sums.len()];
            for (lane, i) in (0..LANES).cycle().zip(start..end) {
                group.values.insert(l.index, vec![Val::I64(i); group.count]);
                for (carry, each) in l.carry.iter().zip(&lanes) {
                    let now = each.iter().map(|sum| Val::F64(sum[lane])).collect();
                    group.values.insert(*carry, now);
                }
                let Some(next) = self.at_once(group, &l.body)? else { return Ok(false) };
                for (each, next) in lanes.iter_mut().zip(next) {
                    for (sum, next) in each.iter_mut().zip(next) {
                        let Val::F64(next) = next else { return broken("a lane is no f64") };
                        sum[lane] = next;
                    }
                }
            }
            for (sum, each) in sums.iter_mut().zip(&lanes) {
                sum.iter_mut().zip(each).for_each(|(sum, lane)| *sum += fold(*lane));
            }
            start = end;
        }
        for (dst, sum) in l.dst.iter().zip(sums) {
            group.values.insert(*dst, sum.into_iter().map(Val::F64).collect());
        }
        Ok(true)
    }

    /// A loop that carries something in order, as long for each iteration around it; as above.
    fn for_at_once(&mut self, group: &mut Group<'_, 'a>, f: &'a For) -> Result<bool, Fault> {
        let [low, high] = together(group, [f.low, f.high])?;
        let initial = f.carry.iter().map(|(_, initial)| group.atoms(*initial));
        let mut carried: Vec<Each> = initial.collect::<Result<_, Fault>>()?;
        for at in 0..high.saturating_sub(low) {
            let i = if f.order == Order::Down { high - 1 - at } else { low + at };
            group.values.insert(f.index, vec![Val::I64(i); group.count]);
            for ((carry, _), now) in f.carry.iter().zip(carried) {
                group.values.insert(*carry, now);
            }
            let Some(next) = self.at_once(group, &f.body)? else { return Ok(false) };
            carried = next;
        }
        for (dst, each) in f.dst.iter().zip(carried) {
            group.values.insert(*dst, each);
        }
        Ok(true)
    }

    /// The results of a block for each iteration; none if a check does not hold.
    fn at_once(
        &mut self,
        group: &mut Group<'_, 'a>,
        block: &'a Block,
    ) -> Result<Option<Vec<Each>>, Fault> {
        for stmt in &block.stmts {
            self.work += group.count as u64;
            if let Stmt::Prim { dst, prim, .. } = stmt
                && let Some((sum, mut now)) = group.sums.get(dst).copied()
            {
                let terms = group.atoms(sum.term)?;
                let mut each = vec![now; group.count];
                for k in 0..group.count {
                    let k = if group.down { group.count - 1 - k } else { k };
                    // Whatever is read is the sum or the term.
                    let args = [Atom::Value(sum.carry), sum.term];
                    let read = |a: Atom| Ok(if a == args[0] { now } else { terms[k] });
                    now = operation(*prim, &args, &read)?;
                    each[k] = now;
                }
                group.sums.insert(*dst, (sum, now));
                group.values.insert(*dst, each);
                continue;
            }
            let (dst, each) = match stmt {
                Stmt::Prim { dst, prim, args } => {
                    let value = &mut |k| operation(*prim, args, &|a| group.atom(k, a));
                    (dst, group.each(value)?)
                }
                Stmt::Copy { dst, src } => (dst, group.atoms(*src)?),
                Stmt::Previous { dst, src, first } => {
                    let mut each = group.atoms(*src)?;
                    let before = match group.frame.before[*dst] {
                        Some(before) => before,
                        None => group.frame.atom(Atom::Lit(*first))?,
                    };
                    each.insert(0, before);
                    group.last.extend(each.pop().map(|now| (*dst, now)));
                    (dst, each)
                }
                Stmt::Load { dst, buffer, index } => {
                    let (buffers, indices) = (group.atoms(*buffer)?, group.atoms(*index)?);
                    let load = &mut |k: usize| {
                        if !group.takes(k) {
                            return Ok(nothing(group.frame.func.values[*dst].kind));
                        }
                        let cells = self.cells(place(buffers[k], indices[k])?, 1)?;
                        Ok(cells.first().copied().unwrap_or(Val::Nothing))
                    };
                    (dst, group.each(load)?)
                }
                Stmt::Offset { dst, buffer, index } => {
                    let (buffers, indices) = (group.atoms(*buffer)?, group.atoms(*index)?);
                    let offset = &mut |k: usize| {
                        let (block, at) = place(buffers[k], indices[k])?;
                        Ok(Val::Buffer(block, at))
                    };
                    (dst, group.each(offset)?)
                }
                Stmt::Store { buffer, index, value } => {
                    let (buffers, indices) = (group.atoms(*buffer)?, group.atoms(*index)?);
                    let store = [buffers, indices, group.atoms(*value)?];
                    match &mut group.waiting {
                        Some(waiting) => waiting.push(store),
                        None => self.store_each(&store)?,
                    }
                    continue;
                }
                Stmt::Check { check, .. } => {
                    if !holds(group, *check)? {
                        return Ok(None);
                    }
                    continue;
                }
                Stmt::If { dst, cond, then, other } => {
                    let conds = group.atoms(*cond)?;
                    let Some(then) = self.arm(group, then, &conds, true)? else { return Ok(None) };
                    let Some(other) = self.arm(group, other, &conds, false)? else {
                        return Ok(None);
                    };
                    for ((dst, then), other) in dst.iter().zip(then).zip(other) {
                        let select = &mut |k: usize| match conds[k] {
                            Val::Bool(true) => Ok(then[k]),
                            Val::Bool(false) => Ok(other[k]),
                            _ => broken("a condition is no bool"),
                        };
                        let each = group.each(select)?;
                        group.values.insert(*dst, each);
                    }
                    continue;
                }
                Stmt::Lanes(l) => {
                    if !self.lanes_at_once(group, l)? {
                        return Ok(None);
                    }
                    continue;
                }
                Stmt::For(f) if matches!(f.order, Order::Up | Order::Down) => {
                    if !self.for_at_once(group, f)? {
                        return Ok(None);
                    }
                    continue;
                }
                _ => return broken("a statement that several iterations cannot take at once"),
            };
            group.values.insert(*dst, each);
        }
        let results: Result<_, Fault> = block.results.iter().map(|a| group.atoms(*a)).collect();
        results.map(Some)
    }
}

/// What stands for a number that is not loaded.
fn nothing(kind: Kind) -> Val {
    match kind {
        Kind::F64 => Val::F64(0.0),
        Kind::F32 => Val::F32(0.0),
        Kind::I64 => Val::I64(0),
        Kind::I32 => Val::I32(0),
        Kind::BOOL => Val::Bool(false),
        _ => Val::Nothing,
    }
}

/// Bounds of a loop, which must be the same for each iteration.
fn together(group: &Group<'_, '_>, bounds: [Atom; 2]) -> Result<[i64; 2], Fault> {
    let mut ends = [0; 2];
    for (end, bound) in ends.iter_mut().zip(bounds) {
        let each = group.atoms(bound)?;
        *end = each.first().copied().unwrap_or(Val::Nothing).int()?;
        for other in each {
            if other.int()? != *end {
                return broken("a loop in a vector has another length in each iteration");
            }
        }
    }
    Ok(ends)
}

/// Whether a check holds for each iteration.
fn holds(group: &Group<'_, '_>, check: Check) -> Result<bool, Fault> {
    for k in (0..group.count).filter(|k| group.takes(*k)) {
        if failing(check, &|a| group.atom(k, a))?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}
