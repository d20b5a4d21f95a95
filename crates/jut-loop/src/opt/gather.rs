//! Loops that add to several neighbours, turned round: each element gathers what it is due.
//!
//! The derivative of `x[i] * x[i + 1]`, summed over i, adds to two elements per iteration. Every
//! iteration then waits for what the one before has stored, and no two can run together. Seen from
//! an element e the same additions are those of iteration e - 1, then those of iteration e:
//!
//! ```text
//! for up (i in low .. high) {        g[low] = g[low] + f(low)
//!   g[i] = g[i] + f(i)               for par (e in low + 1 .. high) {
//!   g[i + 1] = g[i + 1] + h(i)         g[e] = (g[e] + h(e - 1)) + f(e)
//! }                                  }
//!                                    g[high] = g[high] + h(high - 1)
//! ```
//!
//! Each element gets the same terms in the same order, so no bit changes; but now an iteration owns the
//! cell that it writes, and iterations can run in any order, several at once. What both terms need is
//! computed twice, so only small bodies of machine operations are turned round. A loop whose
//! iterations write to one cell each needs no turning: it only becomes `par`.
//!
//! Where there are sums by lanes over the same range, of the loop itself or of one before it, and the updates only add, nothing is computed twice: one loop gives
//! both ([`sweep`]). What else the loop carries, such as a sum in order, stays in a loop of its own before, without the updates. Where it
//! adds to several arrays, or to several rows of one (a cell of a grid and those above and below it), each
//! has a loop of its own.
//!
//! The derivative of `y[i] = f(x[i])`, where `y` is an array that changes, takes the cotangent of a cell and leaves zero there. Such
//! cells are loaded as if nobody wrote to them, and cleared in a loop of their own behind all others.
//!
//! Requires: nothing. A body qualifies if it consists of operations, of loads from memory that the
//! loop does not write, of updates, a load at index + constant, operations on it, a store there, and of cells that are taken: a load at
//! index + constant, the only one of its buffer, and behind it the only store to it, of what is known outside.
//! Ensures: the same cells, bit for bit; where the loop has too few iterations for both ends, it stands
//! beside as it was. Cost: linear; the text grows by a constant factor.

mod sweep;

use jut_ir::Literal;
use jut_ir::hash::HashMap;
use jut_ir::prim::{self, Lowering, Opcode, Prim};

use super::filler;
use super::join::{self, Behind};
use crate::analysis::{Distance, Distances, Reached, Roots};
use crate::form::{Atom, Block, For, Kind, Lanes, LoopFunction, Order, Stmt, Value};
use crate::values::Values;

/// Runs the walk; whether a loop is turned round. What is written costs at most so many quarters of the loop as it was.
pub(super) fn run(func: &mut LoopFunction, quarters: usize) -> bool {
    let (roots, rows) = (Roots::of(func), Distances::of(func));
    let named = join::named(&func.body);
    let walk = Gather::new(roots, rows, Values::new(&mut func.values));
    let mut walk = Gather { quarters, named, ..walk };
    func.body.rewrite(&mut |stmt, out| match stmt {
        Stmt::For(source) => walk.turn(source, false, out),
        Stmt::Lanes(source) => walk.turn(Box::new(in_order(*source)), true, out),
        stmt => out.push(stmt),
    });
    walk.turned
}

/// A loop of sums by lanes as one that carries them, which adds up the same terms.
pub(super) fn in_order(lanes: Lanes) -> For {
    let Lanes { dst, vector, index, low, high, carry, body } = lanes;
    let carry = carry.into_iter().map(|sum| (sum, Atom::Lit(Literal::F64(0.0)))).collect();
    For { dst, order: Order::Up, vector, index, low, high, carry, body }
}

/// A loop as it is: one that carries something, or the sums by lanes that [`in_order`] was given.
pub(super) fn as_it_is(source: For, by_lanes: bool) -> Stmt {
    if !by_lanes {
        return source.into();
    }
    let For { dst, order: _, vector, index, low, high, carry, body } = source;
    let carry = carry.into_iter().map(|(sum, _)| sum).collect();
    Stmt::Lanes(Box::new(Lanes { dst, vector, index, low, high, carry, body }))
}

/// Statements of a body that is looked at.
const LARGEST: usize = 64;

/// The distance between the first and the last neighbour.
const WIDEST: i64 = 4;

pub(super) struct Gather<'a> {
    roots: Roots,
    rows: Distances,
    values: Values<'a>,
    /// Whether a loop is turned round.
    turned: bool,
    /// What may be written costs so many quarters of a loop.
    quarters: usize,
    /// How often each buffer that the function allocates is named.
    named: HashMap<Value, usize>,
}

impl<'a> Gather<'a> {
    /// The walk over a function, of which this is known.
    pub(super) fn new(roots: Roots, rows: Distances, values: Values<'a>) -> Gather<'a> {
        Gather { roots, rows, values, turned: false, quarters: 0, named: HashMap::default() }
    }
}

/// What a value is to an iteration.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Class {
    /// The same in all iterations.
    #[default]
    Outside,
    /// The index plus a constant.
    Index(i64),
    /// Computed from the index and memory that the loop only reads.
    Pure,
    /// Computed from what an update has loaded.
    Update(usize),
    /// Computed from what the loop carries.
    Carried,
}

/// A load, operations on what was loaded, a store to the same cell; or just a store.
pub(super) struct Update {
    /// The buffer, or the first of those whose cells lie in one array and are apart by constants.
    pub buffer: Value,
    /// The cell is that of the index, times the step, plus this.
    pub offset: i64,
    /// By how many cells it moves from one iteration to the next.
    pub step: i64,
    pub loaded: Option<Value>,
    /// The operations, by position in the body.
    pub operations: Vec<usize>,
    stored: Option<Atom>,
    /// The store, by position in the body.
    pub store: usize,
}

/// A body that qualifies.
pub(super) struct Plan<'a> {
    body: &'a Block,
    /// Of the values that are not [`Class::Outside`]. Not a table by number: there is a plan for each
    /// loop, and a table would be as long as the function has values.
    classes: HashMap<Value, Class>,
    /// Where a value is defined in the body.
    pub definitions: HashMap<Value, usize>,
    pub updates: Vec<Update>,
    /// Buffers of which each iteration loads a cell before it stores there what is known outside, and comes to no other.
    taken: Vec<Value>,
    /// Whether cells may be several apart from one iteration to the next, in parts of arrays.
    spread: bool,
    /// Then the cells, and the buffers that stand for those a constant away.
    cells: Vec<(Reached, Value)>,
}

impl Gather<'_> {
    /// Writes a loop, turned round if it qualifies.
    fn turn(&mut self, mut source: Box<For>, by_lanes: bool, out: &mut Vec<Stmt>) {
        let mut beside = None;
        let turned = match Plan::of(&source, self, LARGEST, false) {
            Some(plan) if plan.owns_its_cells() => {
                if source.carry.is_empty() {
                    source.order = Order::Par;
                }
                None
            }
            Some(plan) => {
                let behind = Behind {
                    range: (source.low, source.high),
                    index: source.index,
                    body: &source.body,
                    initial: source.carry.iter().map(|(_, initial)| *initial).collect(),
                };
                let known = (&self.roots, self.values.table());
                let near =
                    join::sums_before(out, &behind, &plan.buffers(), join::Rules::GATHERED, known);
                let sums = near.as_ref().and_then(|near| match &out[near.sums] {
                    Stmt::Lanes(sums) => Some(&**sums),
                    _ => None,
                });
                match self.swept(&source, by_lanes, sums, &plan) {
                    Some(sweep) => {
                        beside = near;
                        Some((sweep.width, sweep.then))
                    }
                    None => self.gathered(&source, by_lanes, &plan),
                }
            }
            None => None,
        };
        let Some((width, then)) = turned else {
            out.push(as_it_is(*source, by_lanes));
            return;
        };
        let (low, high) = (source.low, source.high);
        if let (Atom::Lit(Literal::I64(low)), Atom::Lit(Literal::I64(high))) = (low, high)
            && (!(low < high && high.wrapping_sub(low) >= width)
                || beside.is_none() && !source.dst.is_empty())
        {
            out.push(as_it_is(*source, by_lanes));
            return;
        }
        self.turned = true;
        let mut behind = Vec::new();
        let beside = beside.map(|near| {
            behind.extend(near.needing.iter().map(|at| std::mem::replace(&mut out[*at], filler())));
            std::mem::replace(&mut out[near.sums], filler())
        });
        let dst = beside.iter().flat_map(|stmt| stmt.bound()).chain(&source.dst);
        let dst: Vec<Value> = dst.copied().collect();
        if let (Atom::Lit(_), Atom::Lit(_)) = (low, high) {
            out.extend(then.stmts);
            let ends = dst.into_iter().zip(then.results);
            out.extend(ends.map(|(dst, src)| Stmt::Copy { dst, src }));
            out.append(&mut behind);
            return;
        }
        // A loop that runs has fewer iterations than there are bytes.
        let runs = self.values.prim("runs", Kind::BOOL, prim::ILT, &[low, high], out);
        let trips = self.values.prim("trips", Kind::I64, prim::ISUB, &[high, low], out);
        let width = Atom::Lit(Literal::I64(width));
        let enough = self.values.prim("enough", Kind::BOOL, prim::ILE, &[width, trips], out);
        let cond = self.values.prim("gathers", Kind::BOOL, prim::AND, &[runs, enough], out);
        let mut others = Vec::new();
        if let Some(Stmt::Lanes(mut sums)) = beside {
            self.rename(&mut sums.dst);
            others.push(Stmt::Lanes(sums));
        }
        self.rename(&mut source.dst);
        others.push(as_it_is(*source, by_lanes));
        let results = others.iter().flat_map(|stmt| stmt.bound()).map(|v| Atom::Value(*v));
        let results = results.collect();
        let other = Block { stmts: others, results };
        out.push(Stmt::If { dst, cond, then, other });
        out.append(&mut behind);
    }

    /// Gives values new names.
    fn rename(&mut self, values: &mut [Value]) {
        values.iter_mut().for_each(|v| *v = self.values.like(*v));
    }

    /// The loop seen from the elements, and how many iterations it needs.
    fn gathered(&mut self, source: &For, by_lanes: bool, plan: &Plan) -> Option<(i64, Block)> {
        let (mut middles, mut total, mut most) = (Vec::new(), 0, 0);
        for buffer in plan.buffers() {
            let (first, last) = plan.reach(|u| u.buffer == buffer)?;
            let width = last.checked_sub(first)?;
            if width > WIDEST {
                return None;
            }
            let mut order: Vec<i64> = (first..=last).collect();
            if source.order == Order::Up {
                order.reverse();
            }
            let index = self.values.like(source.index);
            let mut middle = Writer::new(self, plan, index.into());
            middle.element(buffer, 0, &order)?;
            total += cost(&middle.out);
            most = most.max(width);
            middles.push((buffer, order, index, middle.out));
        }
        if 4 * total > self.quarters * cost(&source.body.stmts) {
            return None;
        }
        let mut stmts = Vec::new();
        let mut results = Vec::new();
        if !source.carry.is_empty() {
            let sums = self.sums(source, plan);
            results = sums.dst.iter().map(|v| Atom::Value(*v)).collect();
            stmts.push(as_it_is(sums, by_lanes));
        }
        for (buffer, order, index, body) in middles {
            let (first, last) = plan.reach(|u| u.buffer == buffer)?;
            let mut begin = Writer::new(self, plan, source.low);
            for element in first..last {
                let due: Vec<i64> = order.iter().copied().filter(|c| *c <= element).collect();
                begin.element(buffer, element, &due)?;
            }
            let low = begin.index(last);
            stmts.append(&mut begin.out);
            let mut end = Writer::new(self, plan, source.high);
            let high = end.index(first);
            for element in first..last {
                let due: Vec<i64> = order.iter().copied().filter(|c| *c > element).collect();
                end.element(buffer, element, &due)?;
            }
            stmts.append(&mut end.out);
            stmts.push(Stmt::from(For {
                dst: Vec::new(),
                order: Order::Par,
                vector: None,
                index,
                low,
                high,
                carry: Vec::new(),
                body: Block { stmts: body, results: Vec::new() },
            }));
        }
        Some((most, Block { stmts, results }))
    }

    /// The loop without its updates, under new names.
    fn sums(&mut self, source: &For, plan: &Plan) -> For {
        let index = self.values.like(source.index);
        let mut writer = Writer::new(self, plan, index.into());
        let mut carry = Vec::with_capacity(source.carry.len());
        for (carried, initial) in &source.carry {
            let inside = writer.walk.values.like(*carried);
            writer.known.insert((*carried, 0), inside.into());
            carry.push((inside, *initial));
        }
        let results = source.body.results.iter().map(|a| writer.atom(*a, 0)).collect();
        let body = Block { stmts: writer.out, results };
        let dst = source.dst.iter().map(|v| self.values.like(*v)).collect();
        For {
            dst,
            order: source.order,
            vector: None,
            index,
            low: source.low,
            high: source.high,
            carry,
            body,
        }
    }
}

impl<'a> Plan<'a> {
    /// The plan for a body, if it qualifies and has so many statements at most. What is `spread` need not be neighbours: `x[3 * i + 1]`.
    pub(super) fn of(
        source: &'a For,
        walk: &Gather,
        largest: usize,
        spread: bool,
    ) -> Option<Plan<'a>> {
        let body = &source.body;
        let counted = source.order != Order::Par && !source.may_end_early();
        if !counted || body.stmts.len() > largest {
            return None;
        }
        let mut written: Vec<Value> = Vec::new();
        for stmt in &body.stmts {
            if let Stmt::Store { buffer, .. } = stmt
                && !written.contains(buffer)
            {
                written.push(*buffer);
            }
        }
        let mut plan = Plan {
            body,
            classes: HashMap::default(),
            definitions: HashMap::default(),
            updates: Vec::new(),
            taken: if spread { Vec::new() } else { taken(source, &written) },
            spread,
            cells: Vec::new(),
        };
        plan.classes.insert(source.index, Class::Index(0));
        for (carried, _) in &source.carry {
            plan.classes.insert(*carried, Class::Carried);
        }
        for (at, stmt) in body.stmts.iter().enumerate() {
            plan.stmt(at, stmt, (source.index, &written), walk)?;
            for v in stmt.bound() {
                plan.definitions.insert(*v, at);
            }
        }
        let apart = body.results.iter().all(|a| !matches!(plan.class(*a), Class::Update(_)));
        let complete = plan.updates.iter().all(|u| u.stored.is_some());
        let disjoint = match spread {
            true => plan.cells.iter().enumerate().all(|(k, (a, own))| {
                // Cells of one array from its two ends meet in the middle.
                let mut others = plan.cells[..k]
                    .iter()
                    .filter(|(other, b)| !a.is_beside(other) && walk.roots.may_overlap(*own, *b));
                others.all(|(b, _)| walk.rows.between(a, b, source.index) == Distance::Apart)
            }),
            false => written.iter().enumerate().all(|(k, a)| {
                let others = written[..k].iter().filter(|b| walk.roots.may_overlap(*a, **b));
                others.copied().all(|b| plan.are_apart(source, walk, [*a, b]))
            }),
        };
        (apart && complete && disjoint && !plan.updates.is_empty()).then_some(plan)
    }

    /// Whether two buffers of one array are different rows of it.
    fn are_apart(&self, source: &For, walk: &Gather, [a, b]: [Value; 2]) -> bool {
        let reach = self.reach(|u| u.buffer == a || u.buffer == b);
        let width = reach.and_then(|(first, last)| last.checked_sub(first));
        width.is_some_and(|width| walk.rows.are_apart(a, b, source.index, width))
    }

    /// The buffers that it writes to: last those whose cells the others are made of.
    fn buffers(&self) -> Vec<Value> {
        let mut buffers = Vec::new();
        for update in &self.updates {
            if !buffers.contains(&update.buffer) {
                buffers.push(update.buffer);
            }
        }
        buffers.sort_by_key(|buffer| self.taken.contains(buffer));
        buffers
    }

    /// The least and the largest constant that some updates add to the index.
    fn reach(&self, of: impl Fn(&Update) -> bool) -> Option<(i64, i64)> {
        let offsets = || self.updates.iter().filter(|u| of(u)).map(|u| u.offset);
        Some((offsets().min()?, offsets().max()?))
    }

    fn stmt(
        &mut self,
        at: usize,
        stmt: &Stmt,
        (index, written): (Value, &[Value]),
        walk: &Gather,
    ) -> Option<()> {
        let own = index;
        match stmt {
            Stmt::Offset { dst, buffer, index } if self.spread => {
                let class = self.joined(at, &[(*buffer).into(), *index])?;
                if class != Class::Pure {
                    return None;
                }
                self.classes.insert(*dst, class);
            }
            Stmt::Prim { dst, prim, args } => {
                let Lowering::Opcode(op) = prim.row().lowering else { return None };
                if prim.can_fail_by(args.last().and_then(|a| a.integer())) {
                    return None;
                }
                let shift = match (op, args.as_slice()) {
                    (Opcode::IAdd, [a, Atom::Lit(Literal::I64(k))])
                    | (Opcode::IAdd, [Atom::Lit(Literal::I64(k)), a]) => Some((a, *k)),
                    (Opcode::ISub, [a, Atom::Lit(Literal::I64(k))]) => Some((a, k.wrapping_neg())),
                    _ => None,
                };
                let class = match shift.map(|(a, k)| (self.class(*a), k)) {
                    Some((Class::Index(offset), k)) => Class::Index(offset.checked_add(k)?),
                    _ => self.joined(at, args)?,
                };
                self.classes.insert(*dst, class);
            }
            Stmt::Copy { dst, src } => {
                let class = match self.class(*src) {
                    index @ Class::Index(_) => index,
                    _ => self.joined(at, &[*src])?,
                };
                self.classes.insert(*dst, class);
            }
            Stmt::Load { dst, buffer, index } => {
                if !self.is_there(*buffer) || matches!(walk.values.kind(*dst), Kind::Buffer(_)) {
                    return None;
                }
                let class = if self.taken.contains(buffer) {
                    let Class::Index(_) = self.class(*index) else { return None };
                    Class::Pure
                } else if written.contains(buffer) {
                    let cell = self.cell((*buffer, *index), own, walk)?;
                    self.begin(cell, Some(*dst))?
                } else if written.iter().any(|w| walk.roots.may_overlap(*w, *buffer)) {
                    return None;
                } else {
                    match self.class(*index) {
                        Class::Update(_) => return None,
                        Class::Carried => Class::Carried,
                        _ => Class::Pure,
                    }
                };
                self.classes.insert(*dst, class);
            }
            Stmt::Store { buffer, index, value } => {
                // What the loop carries may be other memory in the next iteration.
                if !self.is_there(*buffer) {
                    return None;
                }
                let cell = self.cell((*buffer, *index), own, walk)?;
                let update = match self.class(*value) {
                    Class::Update(update) => update,
                    Class::Carried => return None,
                    _ => match self.begin(cell, None)? {
                        Class::Update(update) => update,
                        _ => return None,
                    },
                };
                let update = &mut self.updates[update];
                let same = (update.buffer, update.offset, update.step) == cell;
                if !same || update.stored.replace(*value).is_some() {
                    return None;
                }
                update.store = at;
            }
            _ => return None,
        }
        Some(())
    }

    /// Whether a buffer is one of outside, or a part of one.
    fn is_there(&self, buffer: Value) -> bool {
        match self.class(buffer.into()) {
            Class::Outside => true,
            Class::Pure => self.spread,
            _ => false,
        }
    }

    /// The buffer, the constant and the step of a cell that is written.
    fn cell(
        &mut self,
        (buffer, index): (Value, Atom),
        own: Value,
        walk: &Gather,
    ) -> Option<(Value, i64, i64)> {
        if !self.spread {
            let Class::Index(offset) = self.class(index) else { return None };
            return Some((buffer, offset, 1));
        }
        let outside = |v: Value| self.class(v.into()) == Class::Outside;
        let cell = walk.rows.cell(buffer, index, own, &outside)?;
        let (step, offset) = (cell.step(), cell.offset());
        let known = self.cells.iter().find(|(first, _)| cell.is_beside(first));
        let buffer = known.map_or(buffer, |(_, first)| *first);
        self.cells.push((cell, buffer));
        (step != 0).then_some((buffer, offset, step))
    }

    fn class(&self, atom: Atom) -> Class {
        match atom {
            Atom::Value(v) => self.classes.get(&v).copied().unwrap_or_default(),
            Atom::Lit(_) => Class::Outside,
        }
    }

    /// A new update, if there is none under way to the same cell.
    fn begin(
        &mut self,
        (buffer, offset, step): (Value, i64, i64),
        loaded: Option<Value>,
    ) -> Option<Class> {
        let under_way = |u: &Update| u.buffer == buffer && u.offset == offset && u.stored.is_none();
        if self.updates.iter().any(under_way) {
            return None;
        }
        let operations = Vec::new();
        let (stored, store) = (None, 0);
        self.updates.push(Update { buffer, offset, step, loaded, operations, stored, store });
        Some(Class::Update(self.updates.len() - 1))
    }

    /// What an operation makes of its operands.
    fn joined(&mut self, at: usize, args: &[Atom]) -> Option<Class> {
        let mut update = None;
        let carried = args.iter().any(|a| self.class(*a) == Class::Carried);
        for arg in args {
            if let Class::Update(k) = self.class(*arg) {
                if update.is_some_and(|other| other != k) {
                    return None;
                }
                update = Some(k);
            }
        }
        let Some(k) = update else {
            return Some(if carried { Class::Carried } else { Class::Pure });
        };
        // What has been stored is nobody else's business.
        if carried || self.updates[k].stored.is_some() {
            return None;
        }
        self.updates[k].operations.push(at);
        Some(Class::Update(k))
    }

    /// Whether no two iterations touch one cell.
    pub(super) fn owns_its_cells(&self) -> bool {
        let apart = |u: &Update, v: &Update| {
            let between = u.offset.wrapping_sub(v.offset);
            u.buffer != v.buffer || between == 0 || between.wrapping_rem(u.step) != 0
        };
        self.updates.iter().all(|u| self.updates.iter().all(|v| apart(u, v)))
    }
}

/// Of the buffers that a loop writes to those that an iteration loads from once and then stores to once, at one index, what is known outside.
fn taken(source: &For, written: &[Value]) -> Vec<Value> {
    let stmts = &source.body.stmts;
    let is_bound = |v: Value| {
        let carried = source.carry.iter().any(|(carried, _)| *carried == v);
        carried || v == source.index || stmts.iter().any(|stmt| stmt.bound().contains(&v))
    };
    let is_outside = |a: Atom| !matches!(a, Atom::Value(v) if is_bound(v));
    let is_taken = |buffer: &Value| {
        let mut accesses = stmts.iter().filter_map(|stmt| match stmt {
            Stmt::Load { buffer: b, index, .. } if b == buffer => Some((*index, None)),
            Stmt::Store { buffer: b, index, value } if b == buffer => Some((*index, Some(*value))),
            _ => None,
        });
        match [accesses.next(), accesses.next(), accesses.next()] {
            [Some((a, None)), Some((b, Some(value))), None] => a == b && is_outside(value),
            _ => false,
        }
    };
    written.iter().copied().filter(is_taken).collect()
}

/// Writes what elements are due, each a constant away from a base.
struct Writer<'w, 'a, 'p> {
    walk: &'w mut Gather<'a>,
    plan: &'p Plan<'p>,
    base: Atom,
    out: Vec<Stmt>,
    /// What stands in `out` already.
    operations: HashMap<(Prim, Vec<Atom>), Atom>,
    loads: HashMap<(Value, Atom), Atom>,
    /// Values of the body in the iteration that is so far from the base.
    known: HashMap<(Value, i64), Atom>,
}

impl<'w, 'a, 'p> Writer<'w, 'a, 'p> {
    fn new(walk: &'w mut Gather<'a>, plan: &'p Plan<'p>, base: Atom) -> Writer<'w, 'a, 'p> {
        Writer {
            walk,
            plan,
            base,
            out: Vec::new(),
            operations: HashMap::default(),
            loads: HashMap::default(),
            known: HashMap::default(),
        }
    }

    /// The element at `base + element` of a buffer gets what it is due from the iterations that reach it
    /// by the given offsets, in this order.
    fn element(&mut self, buffer: Value, element: i64, offsets: &[i64]) -> Option<()> {
        let plan = self.plan;
        let at = self.index(element);
        let mut content = None;
        for offset in offsets {
            let iteration = element.checked_sub(*offset)?;
            for update in plan.updates.iter().filter(|u| u.buffer == buffer && u.offset == *offset)
            {
                if let Some(loaded) = update.loaded {
                    let before = match content {
                        Some(before) => before,
                        None => self.load(loaded, buffer, at),
                    };
                    self.known.insert((loaded, iteration), before);
                }
                for operation in &update.operations {
                    self.copy(*operation, iteration);
                }
                content = Some(self.atom(update.stored?, iteration));
            }
        }
        if let Some(value) = content {
            self.out.push(Stmt::Store { buffer, index: at, value });
        }
        Some(())
    }

    /// `base + k`.
    fn index(&mut self, k: i64) -> Atom {
        match (self.base, k) {
            (base, 0) => base,
            (Atom::Lit(Literal::I64(base)), k) => Atom::Lit(Literal::I64(base.wrapping_add(k))),
            (base, k) => {
                let args = vec![base, Atom::Lit(Literal::I64(k))];
                self.operation(|values| values.fresh("j", Kind::I64), prim::IADD, args)
            }
        }
    }

    /// What an atom of the body is in the iteration at `base + iteration`.
    fn atom(&mut self, atom: Atom, iteration: i64) -> Atom {
        let Atom::Value(v) = atom else { return atom };
        match self.plan.class(atom) {
            Class::Outside => atom,
            Class::Index(offset) => self.index(offset.wrapping_add(iteration)),
            Class::Pure | Class::Update(_) | Class::Carried => {
                if let Some(known) = self.known.get(&(v, iteration)) {
                    return *known;
                }
                if let Some(at) = self.plan.definitions.get(&v) {
                    self.copy(*at, iteration);
                }
                self.known.get(&(v, iteration)).copied().unwrap_or(atom)
            }
        }
    }

    /// Copies a statement of the body, and what it needs. (A body is short, so the recursion is not
    /// deep.)
    fn copy(&mut self, at: usize, iteration: i64) {
        let plan = self.plan;
        let (dst, copied) = match &plan.body.stmts[at] {
            Stmt::Prim { dst, prim, args } => {
                let args = args.iter().map(|a| self.atom(*a, iteration)).collect();
                (*dst, self.operation(|values| values.like(*dst), *prim, args))
            }
            Stmt::Copy { dst, src } => (*dst, self.atom(*src, iteration)),
            Stmt::Load { dst, buffer, index } => {
                let index = self.atom(*index, iteration);
                (*dst, self.load(*dst, *buffer, index))
            }
            _ => return,
        };
        self.known.insert((dst, iteration), copied);
    }

    /// An operation, unless it stands in `out` already; `name` makes its result.
    fn operation(
        &mut self,
        name: impl FnOnce(&mut Values) -> Value,
        prim: Prim,
        args: Vec<Atom>,
    ) -> Atom {
        if let Some(known) = self.operations.get(&(prim, args.clone())) {
            return *known;
        }
        let dst = name(&mut self.walk.values);
        self.out.push(Stmt::Prim { dst, prim, args: args.clone() });
        self.operations.insert((prim, args), dst.into());
        dst.into()
    }

    fn load(&mut self, like: Value, buffer: Value, index: Atom) -> Atom {
        if let Some(known) = self.loads.get(&(buffer, index)) {
            return *known;
        }
        let dst = self.walk.values.like(like);
        self.out.push(Stmt::Load { dst, buffer, index });
        self.loads.insert((buffer, index), dst.into());
        dst.into()
    }
}

/// Roughly what statements cost.
fn cost(stmts: &[Stmt]) -> usize {
    let of = |stmt: &Stmt| match stmt {
        Stmt::Prim { prim, .. } => match prim.row().lowering {
            Lowering::Opcode(Opcode::FDiv | Opcode::FSqrt) => 8,
            _ => 1,
        },
        _ => 1,
    };
    stmts.iter().map(of).sum()
}
