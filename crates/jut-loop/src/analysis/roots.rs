//! Alias roots: which buffers may share memory.
//!
//! Every buffer has a **root**: a parameter, an allocation, or neither (a carried buffer, the result
//! of a branch or call, a pointer that was loaded). What lowering guarantees:
//!
//! - `in` buffers are never stored to, and nothing that is stored to overlaps them;
//! - `inout` buffers are accumulators of the caller: they may overlap each other (one function may
//!   be given the same accumulator twice) and nothing else;
//! - an `out` buffer overlaps no other parameter;
//! - different allocations do not overlap;
//! - a box is written where it is allocated, and then neither it nor what it points to changes.
//!
//! So a buffer without a root, such as one that was loaded from an array of buffers, is not an `out` buffer or an
//! allocation that the function never hands on: to memory, a call, the results of a branch, or the carries of a loop.
//!
//! **Carried buffers.** A buffer that every iteration of a loop hands on unchanged is the one that the loop
//! began with. Two buffers that change places, as those of a state and of the next one do, are different memory
//! in each iteration, though over all iterations either is both:
//!
//! ```text
//! (u_3, v_3) = for up (t in 0 .. steps) carry (u_1 = u, v_1 = v) {
//!   ..                                      stores to v_1 leave what u_1 holds
//!   (v_1, u_1)
//! }
//! ```
//!
//! So [`Roots::may_overlap`] is about the values of one iteration. A pass that moves an access into another
//! iteration of a loop may ask it only about buffers that are bound outside of that loop.
//!
//! A piece of a long function ([`crate::split`]) has the results of the whole one as `inout` buffers,
//! and finds pointers into them in its frame: such buffers have no root.

use cranelift_entity::SecondaryMap;
use jut_ir::hash::HashSet;

use crate::form::{Atom, Cell, For, Kind, LoopFunction, Role, Stmt, Value};

/// Where a buffer's memory comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Root {
    /// Some value that was made elsewhere: any allocation or `out` buffer.
    #[default]
    Unknown,
    /// A parameter that is only read.
    In,
    /// A caller's accumulator.
    InOut,
    /// The `out` buffer or allocation that this value is.
    Own(Value),
    /// One of some buffers that change places in a loop: which exchange, and which of them.
    Exchanged(usize, usize),
}

/// The roots of a function's buffers.
pub struct Roots {
    of: SecondaryMap<Value, Root>,
    /// For each exchange the `out` buffers and allocations that change places.
    exchanges: Vec<Vec<Value>>,
    /// The `out` buffers and allocations of which a pointer may be found again: in memory, as the result
    /// of a call or branch, or carried by a loop.
    shown: SecondaryMap<Value, bool>,
}

impl Roots {
    /// Finds them.
    pub fn of(func: &LoopFunction) -> Roots {
        let of = SecondaryMap::with_capacity(func.values.len());
        let shown = SecondaryMap::new();
        let mut roots = Roots { of, exchanges: Vec::new(), shown };
        // A box is written before anybody else has a pointer to it, and so is what it points to.
        for (v, data) in func.values.iter() {
            if data.kind == Kind::Buffer(Cell::Word) {
                roots.of[v] = Root::In;
            }
        }
        for p in &func.params {
            if let Kind::Buffer(_) = func.values[p.value].kind {
                roots.of[p.value] = match p.role {
                    Role::In => Root::In,
                    Role::InOut if func.is_piece() => Root::Unknown,
                    Role::InOut => Root::InOut,
                    Role::Out => Root::Own(p.value),
                };
            }
        }
        func.body.for_each(&mut |stmt| roots.bind(stmt));
        // The frame of a piece may hold anything.
        for p in func.params.iter().filter(|_| func.is_piece()) {
            roots.shown[p.value] = true;
        }
        func.body.for_each(&mut |stmt| roots.show(stmt));
        roots
    }

    /// Notes what a statement hands on.
    fn show(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Store { value, .. } => self.hand_on(*value),
            Stmt::Call { args, .. } => args.iter().for_each(|atom| self.hand_on(*atom)),
            Stmt::For(f) => f.carry.iter().for_each(|(_, initial)| self.hand_on(*initial)),
            _ => {}
        }
        for block in stmt.blocks() {
            block.results.iter().for_each(|atom| self.hand_on(*atom));
        }
    }

    fn hand_on(&mut self, atom: Atom) {
        if let Atom::Value(v) = atom {
            for place in self.places(v) {
                self.shown[place] = true;
            }
        }
    }

    fn bind(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Alloc { dst, .. } => self.of[*dst] = Root::Own(*dst),
            Stmt::Offset { dst, buffer, .. } => self.of[*dst] = self.of[*buffer],
            Stmt::Copy { dst, src: Atom::Value(src) } => self.of[*dst] = self.of[*src],
            // What is loaded from an argument was there before the function began.
            Stmt::Load { dst, buffer, .. } if self.of[*buffer] == Root::In => {
                self.of[*dst] = Root::In
            }
            Stmt::For(f) => self.carried(f),
            _ => {}
        }
    }

    /// The roots of what a loop carries, in it and behind it.
    fn carried(&mut self, f: &For) {
        let place =
            |result: &Atom| f.carry.iter().position(|(inside, _)| *result == (*inside).into());
        let next: Vec<Option<usize>> = f.body.results.iter().map(place).collect();
        let mut exchanged = Vec::new();
        for (k, (inside, initial)) in f.carry.iter().enumerate() {
            let Atom::Value(initial) = *initial else { continue };
            if next.get(k) == Some(&Some(k)) {
                self.of[*inside] = self.of[initial];
                if let Some(last) = f.dst.get(k) {
                    self.of[*last] = self.of[initial];
                }
            } else if next.iter().filter(|from| **from == Some(k)).count() == 1
                && matches!(self.of[initial], Root::Own(_) | Root::Exchanged(..))
            {
                exchanged.push((k, initial));
            }
        }
        let among = |k: usize| exchanged.iter().any(|(other, _)| *other == k);
        let closed =
            exchanged.iter().all(|(k, _)| next.get(*k).copied().flatten().is_some_and(among));
        let apart = exchanged.iter().enumerate().all(|(at, (_, initial))| {
            exchanged[..at].iter().all(|(_, other)| !self.may_overlap(*initial, *other))
        });
        if exchanged.is_empty() || !closed || !apart {
            return;
        }
        let places = exchanged.iter().flat_map(|(_, initial)| self.places(*initial)).collect();
        self.exchanges.push(places);
        for (member, (k, _)) in exchanged.iter().enumerate() {
            let root = Root::Exchanged(self.exchanges.len() - 1, member);
            self.of[f.carry[*k].0] = root;
            if let Some(last) = f.dst.get(*k) {
                self.of[*last] = root;
            }
        }
    }

    /// The `out` buffers and allocations that a buffer may be, if it is one of those that are known.
    pub fn places(&self, buffer: Value) -> Vec<Value> {
        match self.of[buffer] {
            Root::Own(place) => vec![place],
            Root::Exchanged(exchange, _) => self.exchanges[exchange].clone(),
            _ => Vec::new(),
        }
    }

    /// The allocations to which the function may store a pointer.
    pub fn stored(&self, func: &LoopFunction) -> HashSet<Value> {
        let (mut stored, mut any) = (HashSet::default(), false);
        func.body.for_each(&mut |stmt| {
            let Stmt::Store { value: Atom::Value(v), .. } = stmt else { return };
            if matches!(func.values[*v].kind, Kind::Buffer(_)) {
                let places = self.places(*v);
                any |= places.is_empty();
                stored.extend(places);
            }
        });
        if any {
            stored.extend(self.shown.iter().filter(|(_, shown)| **shown).map(|(v, _)| v));
        }
        stored
    }

    /// Whether nothing in the function changes what the buffer holds.
    pub fn is_constant(&self, buffer: Value) -> bool {
        self.of[buffer] == Root::In
    }

    /// Whether it is an accumulator of the caller's.
    pub fn is_accumulator(&self, buffer: Value) -> bool {
        self.of[buffer] == Root::InOut
    }

    /// Whether a store to `written` may change what is loaded from `read`, where both are what they are
    /// in one iteration of the loops round them.
    pub fn may_overlap(&self, written: Value, read: Value) -> bool {
        match (self.of[written], self.of[read]) {
            (Root::In, _) | (_, Root::In) => false,
            (Root::InOut, Root::InOut) => true,
            (Root::InOut, _) | (_, Root::InOut) => false,
            (Root::Own(a), Root::Own(b)) => a == b,
            (Root::Exchanged(e, a), Root::Exchanged(f, b)) if e == f => a == b,
            (Root::Exchanged(..), Root::Own(_) | Root::Exchanged(..))
            | (Root::Own(_), Root::Exchanged(..)) => {
                let others = self.places(read);
                self.places(written).iter().any(|place| others.contains(place))
            }
            (Root::Unknown, Root::Unknown) => true,
            (Root::Unknown, _) => self.places(read).iter().any(|place| self.shown[*place]),
            (_, Root::Unknown) => self.places(written).iter().any(|place| self.shown[*place]),
        }
    }
}
