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

use crate::function::{Result, Translator};
use crate::text::{INT, Operand, PTR, Scalar, Type, scalar};
use jut_loop::form::{Arena, Atom, Cell, Kind, Site, Value};
use jut_native::frame::spelled_out;
use jut_runtime::workspace::layout;

/// What a cell holds; in a word, something of eight bytes.
pub(crate) fn cell_scalar(cell: Cell) -> Scalar {
    match cell {
        Cell::Scalar(one) => scalar(Kind::Scalar(one)),
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
        self.place("inbounds nuw ", buffer, index)
    }

    /// Where a cell would be that may be out of range; nothing is loaded from there then.
    pub(crate) fn address_anywhere(&mut self, buffer: Value, index: Operand) -> Result<Operand> {
        self.place("", buffer, index)
    }

    fn place(&mut self, how: &str, buffer: Value, index: Operand) -> Result<Operand> {
        let (cell, from) = (cell_scalar(self.cell(buffer)?).in_memory(), self.value(buffer)?);
        Ok(self.body.element(how, cell, from, index))
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
        let access = self.access();
        if ty.scalar == Scalar::Bool {
            let (bytes, bits) = if ty.wide { ("<8 x i8>", "<8 x i1>") } else { ("i8", "i1") };
            let byte = self.body.value(format_args!("load {bytes}, ptr {at}, align 1{access}"));
            return self.body.value(format_args!("trunc {bytes} {byte} to {bits}"));
        }
        let align = ty.scalar.bytes();
        self.body.value(format_args!("load {ty}, ptr {at}, align {align}{access}"))
    }

    /// Stores one value to an address, or eight side by side.
    pub(crate) fn store_to(&mut self, at: Operand, value: Operand, ty: Type) {
        let (access, shown) = (self.access(), value.of(ty));
        if ty.scalar == Scalar::Bool {
            let (bytes, bits) = if ty.wide { ("<8 x i8>", "<8 x i1>") } else { ("i8", "i1") };
            let byte = self.body.value(format_args!("zext {bits} {shown} to {bytes}"));
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
        let index = self.atom(index)?;
        // It may have been moved out of a loop that does not run.
        let at = self.address_anywhere(buffer, index)?;
        self.bind(dst, at);
        Ok(())
    }

    /// A number of cells, not negative.
    fn count(&mut self, len: Atom) -> Result<Operand> {
        Ok(match self.atom(len)? {
            Operand::I64(n) => Operand::I64(n.max(0)),
            len => self.body.value(format_args!("call i64 @llvm.smax.i64(i64 {len}, i64 0)")),
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
        let body = &mut self.body;
        let reserve = |bytes| body.alloca(format_args!("[{bytes} x i8]"), 64);
        if let Some(place) = self.frame.allocation((dst, arena), cell, len, reserve) {
            self.bind(dst, place);
            return Ok(());
        }
        let count = self.count(len)?;
        let bytes = match cell.bytes() {
            1 => count,
            // More cells than there can be bytes are asked for as the most, which is refused.
            size => {
                let count = self.body.smaller(count, i64::MAX >> 3);
                self.body.int("shl nuw nsw", count, i64::from(size.trailing_zeros()))
            }
        };
        let arena = arena_name(arena);
        let line = format_args!("call noalias ptr @jut.alloc.{arena}(ptr %ws, i64 {bytes})");
        let place = self.body.value(line);
        let got = self.body.two("icmp ne", PTR, place, Operand::Null);
        self.fail_unless(got, site, &[])?;
        self.body.line(format_args!("call void asm sideeffect \"\", \"r\"(ptr {place}) #3"));
        self.bind(dst, place);
        Ok(())
    }

    pub(crate) fn mark(&mut self, dst: Value, arena: Arena) {
        let top = match arena {
            Arena::Temp => layout::TEMP_TOP,
            Arena::Tape => layout::TAPE_TOP,
        };
        let top = self.body.load_word("%ws", top / 8, INT);
        self.bind(dst, top);
    }

    pub(crate) fn release(&mut self, mark: Value, arena: Arena) -> Result<()> {
        let (mark, arena) = (self.value(mark)?, arena_name(arena));
        self.body.line(format_args!("call void @jut.release.{arena}(ptr %ws, i64 {mark})"));
        Ok(())
    }

    pub(crate) fn fill(&mut self, buffer: Value, len: Atom, value: Atom) -> Result<()> {
        let ty = scalar(self.source.kind_of(value)).one();
        let value = self.atom(value)?;
        if let Some(n) = spelled_out(len) {
            for k in 0..n {
                let at = self.address(buffer, Operand::I64(k))?;
                self.store_to(at, value, ty);
            }
            return Ok(());
        }
        let (count, place) = (self.count(len)?, self.value(buffer)?);
        let name = match ty.scalar {
            Scalar::Bool => "bool",
            Scalar::Ptr => "ptr",
            _ => ty.suffix(),
        };
        self.body.line(format_args!(
            "call void @jut.fill.{name}(ptr {place}, i64 {count}, {ty} {value})"
        ));
        Ok(())
    }

    pub(crate) fn copy_cells(
        &mut self,
        dst: Value,
        src: Value,
        len: Atom,
        cell: Cell,
    ) -> Result<()> {
        let bytes = match spelled_out(len) {
            Some(n) => Operand::I64(n * cell.bytes()),
            None => {
                let count = self.count(len)?;
                match cell.bytes() {
                    1 => count,
                    size => self.body.int("shl nuw nsw", count, i64::from(size.trailing_zeros())),
                }
            }
        };
        let (to, from, align) = (self.value(dst)?, self.value(src)?, cell.bytes());
        self.body.line(format_args!(
            "call void @llvm.memmove.p0.p0.i64(ptr align {align} {to}, ptr align {align} {from}, \
             i64 {bytes}, i1 false)"
        ));
        Ok(())
    }
}
