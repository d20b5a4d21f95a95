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
//! A piece of a long function ([`crate::split`]) has the results of the whole one as `inout` buffers,
//! and finds pointers into them in its frame: such buffers have no root.

use cranelift_entity::SecondaryMap;

use crate::form::{Atom, Cell, Kind, LoopFunction, Role, Stmt, Value};

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
}

/// The roots of a function's buffers.
pub struct Roots(SecondaryMap<Value, Root>);

impl Roots {
    /// Finds them.
    pub fn of(func: &LoopFunction) -> Roots {
        let mut roots = Roots(SecondaryMap::with_capacity(func.values.len()));
        // A box is written before anybody else has a pointer to it, and so is what it points to.
        for (v, data) in func.values.iter() {
            if data.kind == Kind::Buffer(Cell::Word) {
                roots.0[v] = Root::In;
            }
        }
        for p in &func.params {
            if let Kind::Buffer(_) = func.values[p.value].kind {
                roots.0[p.value] = match p.role {
                    Role::In => Root::In,
                    Role::InOut if func.is_piece() => Root::Unknown,
                    Role::InOut => Root::InOut,
                    Role::Out => Root::Own(p.value),
                };
            }
        }
        func.body.for_each(&mut |stmt| roots.bind(stmt));
        roots
    }

    fn bind(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Alloc { dst, .. } => self.0[*dst] = Root::Own(*dst),
            Stmt::Offset { dst, buffer, .. } => self.0[*dst] = self.0[*buffer],
            Stmt::Copy { dst, src: Atom::Value(src) } => self.0[*dst] = self.0[*src],
            // What is loaded from an argument was there before the function began.
            Stmt::Load { dst, buffer, .. } if self.0[*buffer] == Root::In => {
                self.0[*dst] = Root::In
            }
            _ => {}
        }
    }

    /// Whether nothing in the function changes what the buffer holds.
    pub fn is_constant(&self, buffer: Value) -> bool {
        self.0[buffer] == Root::In
    }

    /// Whether a store to `written` may change what is loaded from `read`.
    pub fn may_overlap(&self, written: Value, read: Value) -> bool {
        match (self.0[written], self.0[read]) {
            (Root::In, _) | (_, Root::In) => false,
            (Root::InOut, Root::InOut) => true,
            (Root::InOut, _) | (_, Root::InOut) => false,
            (Root::Own(a), Root::Own(b)) => a == b,
            (Root::Unknown, _) | (_, Root::Unknown) => true,
        }
    }
}
