//! Loads and stores, and the two arenas.
//!
//! Every access is aligned and in range: checks stand before it where the types do not tell. A temporary
//! allocation of constant length lies on the stack, as long as a function has few of them. Any other
//! allocation is a call of a small function of the module that bumps a pointer and is never inlined,
//! so that LLVM knows its result for memory that nothing else points to.
//!
//! Memory that is released is allocated again, and LLVM must not move accesses of the old life
//! behind those of the new one. So each fresh pointer is shown to an empty piece of assembly, after
//! which it counts as known elsewhere, and a release counts as a use of all such memory.

use crate::function::{Result, Translator, scalar};
use crate::text::{Operand, Scalar, Type};
use jut_ir::ir::Literal;
use jut_loop::form::{Arena, Atom, Cell, Kind, Site, Value};
use jut_runtime::workspace::layout;

/// Fills and copies of at most so many cells are spelled out.
const UNROLLED: i64 = 8;

/// Bytes of a function's stack for allocations: what [`jut_loop::opt::for_target`] adds, which comes first, and
/// some more.
pub(crate) const ON_STACK: u32 = jut_loop::opt::ADDED + 4 * 1024;

/// What a cell holds; in a word, something of eight bytes.
pub(crate) fn cell_scalar(cell: Cell) -> Scalar {
    match cell {
        Cell::F64 => Scalar::F64,
        Cell::F32 => Scalar::F32,
        Cell::I64 => Scalar::I64,
        Cell::I32 => Scalar::I32,
        Cell::BOOL => Scalar::Bool,
        Cell::Buffer => Scalar::Ptr,
        Cell::Word => Scalar::I64,
    }
}

fn arena_name(arena: Arena) -> &'static str {
    match arena {
        Arena::Temp => "temp",
        Arena::Tape => "tape",
    }
}

impl Translator<'_> {
    /// What the cells of a buffer are.
    pub(crate) fn cell(&self, buffer: Value) -> Result<Cell> {
        match self.kind(buffer) {
            Kind::Buffer(cell) => Ok(cell),
            _ => Err("a scalar is used as a buffer".to_owned()),
        }
    }

    /// The address of a cell that is in range.
    pub(crate) fn address(&mut self, buffer: Value, index: Operand) -> Result<Operand> {
        let cell = cell_scalar(self.cell(buffer)?).in_memory();
        let buffer = self.value(buffer)?.of(Scalar::Ptr.one());
        let index = index.of(Scalar::I64.one());
        Ok(self
            .body
            .value(format_args!("getelementptr inbounds nuw {cell}, ptr {buffer}, i64 {index}")))
    }

    /// Where a cell would be that may be out of range; nothing is loaded from there then.
    pub(crate) fn address_anywhere(&mut self, buffer: Value, index: Operand) -> Result<Operand> {
        let cell = cell_scalar(self.cell(buffer)?).in_memory();
        let buffer = self.value(buffer)?.of(Scalar::Ptr.one());
        let index = index.of(Scalar::I64.one());
        Ok(self.body.value(format_args!("getelementptr {cell}, ptr {buffer}, i64 {index}")))
    }

    /// What follows every access: its group, in a loop whose iterations are independent.
    pub(crate) fn access(&self) -> String {
        match self.group {
            Some(group) => format!(", !llvm.access.group !{group}"),
            None => String::new(),
        }
    }

    /// Loads from an address one value, or eight that lie side by side.
    pub(crate) fn load_from(&mut self, at: Operand, ty: Type) -> Operand {
        let (at, access) = (at.of(Scalar::Ptr.one()), self.access());
        if ty.scalar == Scalar::Bool {
            let (bytes, bits) = if ty.wide { ("<8 x i8>", "<8 x i1>") } else { ("i8", "i1") };
            let byte = self.body.value(format_args!("load {bytes}, ptr {at}, align 1{access}"));
            let byte = byte.of(ty);
            return self.body.value(format_args!("trunc {bytes} {byte} to {bits}"));
        }
        let align = ty.scalar.bytes();
        self.body.value(format_args!("load {ty}, ptr {at}, align {align}{access}"))
    }

    /// Stores one value to an address, or eight side by side.
    pub(crate) fn store_to(&mut self, at: Operand, value: Operand, ty: Type) {
        let (at, access) = (at.of(Scalar::Ptr.one()), self.access());
        let shown = value.of(ty);
        if ty.scalar == Scalar::Bool {
            let (bytes, bits) = if ty.wide { ("<8 x i8>", "<8 x i1>") } else { ("i8", "i1") };
            let byte = self.body.value(format_args!("zext {bits} {shown} to {bytes}"));
            let byte = byte.of(ty);
            return self.body.line(format_args!("store {bytes} {byte}, ptr {at}, align 1{access}"));
        }
        let align = ty.scalar.bytes();
        self.body.line(format_args!("store {ty} {shown}, ptr {at}, align {align}{access}"));
    }

    pub(crate) fn load(&mut self, dst: Value, buffer: Value, index: Atom) -> Result<()> {
        let index = self.atom(index)?;
        let at = self.address(buffer, index)?;
        let value = self.load_from(at, scalar(self.kind(dst)).one());
        self.bind(dst, value);
        Ok(())
    }

    pub(crate) fn store(&mut self, buffer: Value, index: Atom, value: Atom) -> Result<()> {
        let ty = scalar(self.source.kind_of(value)).one();
        let (index, value) = (self.atom(index)?, self.atom(value)?);
        let at = self.address(buffer, index)?;
        self.store_to(at, value, ty);
        Ok(())
    }

    pub(crate) fn offset(&mut self, dst: Value, buffer: Value, index: Atom) -> Result<()> {
        let cell = cell_scalar(self.cell(buffer)?).in_memory();
        let index = self.atom(index)?.of(Scalar::I64.one());
        let from = self.value(buffer)?.of(Scalar::Ptr.one());
        // Not `inbounds`: it may have been moved out of a loop that does not run.
        let at = self.body.value(format_args!("getelementptr {cell}, ptr {from}, i64 {index}"));
        self.bind(dst, at);
        Ok(())
    }

    /// A number of cells, not negative.
    fn count(&mut self, len: Atom) -> Result<Operand> {
        Ok(match self.atom(len)? {
            Operand::I64(n) => Operand::I64(n.max(0)),
            len => {
                let len = len.of(Scalar::I64.one());
                self.body.value(format_args!("call i64 @llvm.smax.i64(i64 {len}, i64 0)"))
            }
        })
    }

    pub(crate) fn alloc(
        &mut self,
        dst: Value,
        cell: Cell,
        len: Atom,
        arena: Arena,
        site: Site,
    ) -> Result<()> {
        if let (Arena::Temp, Atom::Lit(Literal::I64(n)), false) =
            (arena, len, self.left.contains(&dst))
            && let Some(place) = self.on_stack(dst, cell, n)
        {
            self.bind(dst, place);
            return Ok(());
        }
        let (int, ptr) = (Scalar::I64.one(), Scalar::Ptr.one());
        let count = self.count(len)?;
        let bytes = match cell.bytes() {
            1 => count,
            // More cells than there can be bytes are asked for as the most, which is refused.
            size => {
                let most = format!("i64 {}", i64::MAX >> 3);
                let count = count.of(int);
                let line = format_args!("call i64 @llvm.umin.i64(i64 {count}, {most})");
                let count = self.body.value(line).of(int);
                let shift = size.trailing_zeros();
                self.body.value(format_args!("shl nuw nsw i64 {count}, {shift}"))
            }
        };
        let (arena, bytes) = (arena_name(arena), bytes.of(int));
        let line = format_args!("call noalias ptr @jut.alloc.{arena}(ptr %ws, i64 {bytes})");
        let place = self.body.value(line);
        let shown = place.of(ptr);
        let got = self.body.value(format_args!("icmp ne ptr {shown}, null"));
        self.fail_unless(got, site, &[])?;
        self.body.line(format_args!("call void asm sideeffect \"\", \"r\"(ptr {shown}) #3"));
        self.bind(dst, place);
        Ok(())
    }

    /// A place on the stack for an allocation of constant length, if there is room. It ends with the
    /// function, or before; a body that is translated twice has one place.
    fn on_stack(&mut self, dst: Value, cell: Cell, len: i64) -> Option<Operand> {
        if let Some(place) = self.on_stack.get(&dst) {
            return Some(*place);
        }
        let len = u32::try_from(len.max(1)).ok()?;
        let bytes = len.checked_mul(cell.bytes() as u32)?;
        self.stack_room = self.stack_room.checked_sub(bytes)?;
        let place = self.body.alloca(&format!("[{bytes} x i8]"), 64);
        self.on_stack.insert(dst, place);
        Some(place)
    }

    pub(crate) fn mark(&mut self, dst: Value, arena: Arena) {
        let top = match arena {
            Arena::Temp => layout::TEMP_TOP,
            Arena::Tape => layout::TAPE_TOP,
        };
        let top = self.load_word("%ws", top / 8, Scalar::I64.one());
        self.bind(dst, top);
    }

    pub(crate) fn release(&mut self, mark: Value, arena: Arena) -> Result<()> {
        let mark = self.value(mark)?.of(Scalar::I64.one());
        let arena = arena_name(arena);
        self.body.line(format_args!("call void @jut.release.{arena}(ptr %ws, i64 {mark})"));
        Ok(())
    }

    /// The cells with numbers 0, 1, .. n - 1, for a small constant n.
    fn few(len: Atom) -> Option<i64> {
        match len {
            Atom::Lit(Literal::I64(n)) if n <= UNROLLED => Some(n.max(0)),
            _ => None,
        }
    }

    pub(crate) fn fill(&mut self, buffer: Value, len: Atom, value: Atom) -> Result<()> {
        let ty = scalar(self.source.kind_of(value)).one();
        let value = self.atom(value)?;
        if let Some(n) = Self::few(len) {
            for k in 0..n {
                let at = self.address(buffer, Operand::I64(k))?;
                self.store_to(at, value, ty);
            }
            return Ok(());
        }
        let count = self.count(len)?.of(Scalar::I64.one());
        let place = self.value(buffer)?.of(Scalar::Ptr.one());
        let value = value.of(ty);
        let line = match ty.scalar {
            Scalar::Bool => format!("@jut.fill.bool(ptr {place}, i64 {count}, i1 {value})"),
            Scalar::F64 => format!("@jut.fill.f64(ptr {place}, i64 {count}, double {value})"),
            Scalar::F32 => format!("@jut.fill.f32(ptr {place}, i64 {count}, float {value})"),
            Scalar::I64 => format!("@jut.fill.i64(ptr {place}, i64 {count}, i64 {value})"),
            Scalar::I32 => format!("@jut.fill.i32(ptr {place}, i64 {count}, i32 {value})"),
            Scalar::Ptr => format!("@jut.fill.ptr(ptr {place}, i64 {count}, ptr {value})"),
        };
        self.body.line(format_args!("call void {line}"));
        Ok(())
    }

    pub(crate) fn copy_cells(
        &mut self,
        dst: Value,
        src: Value,
        len: Atom,
        cell: Cell,
    ) -> Result<()> {
        let (int, ptr) = (Scalar::I64.one(), Scalar::Ptr.one());
        let bytes = match Self::few(len) {
            Some(n) => Operand::I64(n * cell.bytes()),
            None => {
                let count = self.count(len)?;
                match cell.bytes() {
                    1 => count,
                    size => {
                        let (count, shift) = (count.of(int), size.trailing_zeros());
                        self.body.value(format_args!("shl nuw nsw i64 {count}, {shift}"))
                    }
                }
            }
        };
        let (to, from) = (self.value(dst)?.of(ptr), self.value(src)?.of(ptr));
        let (bytes, align) = (bytes.of(int), cell.bytes());
        self.body.line(format_args!(
            "call void @llvm.memmove.p0.p0.i64(ptr align {align} {to}, ptr align {align} {from}, \
             i64 {bytes}, i1 false)"
        ));
        Ok(())
    }
}
