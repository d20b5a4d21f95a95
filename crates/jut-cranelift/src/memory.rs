//! Addresses, loads and stores, and the two arenas.
//!
//! A cell's address is the buffer plus the index times the size of a cell; a constant part of the
//! index goes into the instruction's offset.
//!
//! A temporary allocation of constant length lies on the stack, as long as a function has few of them. Any
//! other is a compare and an addition on the arena's bump pointer; only a full chunk calls
//! the runtime, on a cold path, and a null pointer from there is the error `R06`.

use crate::signature::cranelift_type;
use crate::translate::{Place, Result, Translator, stack_slot};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use jut_ir::ir::Literal;
use jut_loop::form::{Arena, Atom, Cell, Kind, Site, Value};
use jut_native::frame::spelled_out;
use jut_runtime::arena::ALIGN;
use jut_runtime::workspace::layout;

/// Every access is aligned and in range: checks stand before it where the types do not tell.
fn flags() -> MemFlagsData {
    MemFlagsData::trusted()
}

impl Translator<'_> {
    /// What the cells of a buffer are.
    pub(crate) fn cell(&self, buffer: Value) -> Result<Cell> {
        match self.kind(buffer) {
            Kind::Buffer(cell) => Ok(cell),
            _ => Err("a scalar is used as a buffer".to_owned()),
        }
    }

    fn place(&self, buffer: Value, index: Atom) -> Result<Place> {
        let cell = self.cell(buffer)?;
        Ok(Place { cell, buffer: self.value(buffer)?, index: self.index(index)? })
    }

    /// Address and offset of a cell.
    pub(crate) fn address(&mut self, place: &Place) -> (ir::Value, i32) {
        let (variable, constant) = place.index;
        let size = place.cell.bytes();
        let mut address = place.buffer;
        if let Some(index) = variable {
            let bytes = self.bytes(place.cell, index);
            address = self.builder.ins().iadd(address, bytes);
        }
        let constant = constant.wrapping_mul(size);
        let offset = i32::try_from(constant).unwrap_or_default();
        if i64::from(offset) != constant {
            address = self.builder.ins().iadd_imm_s(address, constant);
        }
        (address, offset)
    }

    pub(crate) fn load(&mut self, dst: Value, buffer: Value, index: Atom) -> Result<()> {
        let place = self.place(buffer, index)?;
        let ty = cranelift_type(self.kind(dst));
        let stored = self.stored.filter(|(stored, _)| *stored == place).map(|(_, value)| value);
        let value = match stored.filter(|v| self.builder.func.dfg.value_type(*v) == ty) {
            Some(value) => value,
            None => {
                let (address, offset) = self.address(&place);
                self.builder.ins().load(ty, flags(), address, offset)
            }
        };
        self.bind(dst, value);
        Ok(())
    }

    pub(crate) fn store(&mut self, buffer: Value, index: Atom, value: Atom) -> Result<()> {
        let place = self.place(buffer, index)?;
        let (address, offset) = self.address(&place);
        let value = self.atom(value)?;
        self.builder.ins().store(flags(), value, address, offset);
        if self.repeating {
            self.stored = Some((place, value));
        }
        Ok(())
    }

    pub(crate) fn offset(&mut self, dst: Value, buffer: Value, index: Atom) -> Result<()> {
        let place = self.place(buffer, index)?;
        let (mut address, offset) = self.address(&place);
        if offset != 0 {
            address = self.builder.ins().iadd_imm_s(address, i64::from(offset));
        }
        self.bind(dst, address);
        Ok(())
    }

    fn load_workspace(&mut self, place: usize) -> ir::Value {
        self.builder.ins().load(types::I64, flags(), self.workspace, place as i32)
    }

    pub(crate) fn store_workspace(&mut self, place: usize, value: ir::Value) {
        self.builder.ins().store(flags(), value, self.workspace, place as i32);
    }

    /// A number of cells, not negative.
    fn count(&mut self, len: Atom) -> Result<ir::Value> {
        if let Atom::Lit(Literal::I64(n)) = len {
            return Ok(self.int(n.max(0)));
        }
        let (len, zero) = (self.atom(len)?, self.int(0));
        Ok(self.builder.ins().smax(len, zero))
    }

    /// Bytes of so many cells.
    fn bytes(&mut self, cell: Cell, count: ir::Value) -> ir::Value {
        match cell.bytes() {
            1 => count,
            // A power of two.
            bytes => self.builder.ins().ishl_imm_u(count, i64::from(bytes.trailing_zeros())),
        }
    }

    pub(crate) fn alloc(
        &mut self,
        dst: Value,
        cell: Cell,
        len: Atom,
        arena: Arena,
        site: Site,
    ) -> Result<()> {
        let builder = &mut self.builder;
        let reserve = |bytes| stack_slot(builder, bytes);
        if let Some(slot) = self.frame.allocation((dst, arena), cell, len, reserve) {
            let address = self.builder.ins().stack_addr(types::I64, slot, 0);
            self.bind(dst, address);
            return Ok(());
        }
        let (top_place, end_place, symbol) = match arena {
            Arena::Temp => (layout::TEMP_TOP, layout::TEMP_END, "jut_alloc_temp"),
            Arena::Tape => (layout::TAPE_TOP, layout::TAPE_END, "jut_alloc_tape"),
        };
        let count = self.count(len)?;
        let top = self.load_workspace(top_place);
        let end = self.load_workspace(end_place);
        let room = self.builder.ins().isub(end, top);
        let cells = match cell.bytes() {
            1 => room,
            size => self.builder.ins().ushr_imm_u(room, i64::from(size.trailing_zeros())),
        };
        let fits = self.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, count, cells);
        let [fast, slow] = [self.builder.create_block(), self.builder.create_block()];
        self.builder.set_cold_block(slow);
        let done = self.block_for(&[dst]);
        self.builder.ins().brif(fits, fast, &[], slow, &[]);

        self.builder.switch_to_block(fast);
        let bytes = self.bytes(cell, count);
        // The room is a multiple of the alignment: what fits still fits when it is rounded up.
        let align = ALIGN as i64;
        let up = self.builder.ins().iadd_imm_s(bytes, align - 1);
        let rounded = self.builder.ins().band_imm_s(up, -align);
        let new_top = self.builder.ins().iadd(top, rounded);
        self.store_workspace(top_place, new_top);
        self.builder.ins().jump(done, &[top.into()]);

        self.builder.switch_to_block(slow);
        let bytes = self.bytes(cell, count);
        // More cells than there can be bytes: asked for as the most, which is refused.
        let huge = self.int(i64::MAX >> 3);
        let most = self.int(i64::MAX);
        let over = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, count, huge);
        let bytes = self.builder.ins().select(over, most, bytes);
        let workspace = self.workspace;
        let place = self.runtime(symbol, &[workspace, bytes])?;
        let place = place.ok_or("an allocation has no result")?;
        let failed = self.failed(site, &[]);
        self.builder.ins().brif(place, done, &[place.into()], failed, &[]);

        self.enter(done, &[dst]);
        Ok(())
    }

    pub(crate) fn mark(&mut self, dst: Value, arena: Arena) {
        let top = self.load_workspace(match arena {
            Arena::Temp => layout::TEMP_TOP,
            Arena::Tape => layout::TAPE_TOP,
        });
        self.bind(dst, top);
    }

    pub(crate) fn release(&mut self, mark: Value, arena: Arena) -> Result<()> {
        let mark = self.value(mark)?;
        let (base, top, end, release) = match arena {
            Arena::Temp => (layout::TEMP_BASE, layout::TEMP_TOP, layout::TEMP_END, "jut_release"),
            Arena::Tape => {
                (layout::TAPE_BASE, layout::TAPE_TOP, layout::TAPE_END, "jut_release_tape")
            }
        };
        let base = self.load_workspace(base);
        let end = self.load_workspace(end);
        let offset = self.builder.ins().isub(mark, base);
        let size = self.builder.ins().isub(end, base);
        let inside = self.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, offset, size);
        let blocks: [ir::Block; 3] = std::array::from_fn(|_| self.builder.create_block());
        let [fast, slow, done] = blocks;
        self.builder.set_cold_block(slow);
        self.builder.ins().brif(inside, fast, &[], slow, &[]);

        self.builder.switch_to_block(fast);
        self.store_workspace(top, mark);
        self.builder.ins().jump(done, &[]);

        self.builder.switch_to_block(slow);
        let workspace = self.workspace;
        self.runtime(release, &[workspace, mark])?;
        self.builder.ins().jump(done, &[]);

        self.builder.switch_to_block(done);
        Ok(())
    }

    pub(crate) fn fill(&mut self, buffer: Value, len: Atom, value: Atom) -> Result<()> {
        let cell = self.cell(buffer)?;
        let target = self.value(buffer)?;
        let value = self.atom(value)?;
        if let Some(n) = spelled_out(len) {
            for k in 0..n {
                self.builder.ins().store(flags(), value, target, (k * cell.bytes()) as i32);
            }
            return Ok(());
        }
        let count = self.count(len)?;
        let (symbol, value) = match cell {
            Cell::BOOL => ("jut_fill_bytes", value),
            Cell::F64 => {
                let bits = MemFlagsData::new();
                ("jut_fill_words", self.builder.ins().bitcast(types::I64, bits, value))
            }
            Cell::F32 => {
                let bits = MemFlagsData::new();
                ("jut_fill_halves", self.builder.ins().bitcast(types::I32, bits, value))
            }
            Cell::I32 => ("jut_fill_halves", value),
            Cell::I64 | Cell::Buffer | Cell::Word => ("jut_fill_words", value),
        };
        self.runtime(symbol, &[target, count, value])?;
        Ok(())
    }

    pub(crate) fn copy_cells(
        &mut self,
        dst: Value,
        src: Value,
        len: Atom,
        cell: Cell,
    ) -> Result<()> {
        let (to, from) = (self.value(dst)?, self.value(src)?);
        if let Some(n) = spelled_out(len) {
            let ty = match cell {
                Cell::Scalar(scalar) => cranelift_type(Kind::Scalar(scalar)),
                Cell::Buffer | Cell::Word => types::I64,
            };
            for k in 0..n {
                let offset = (k * cell.bytes()) as i32;
                let moved = self.builder.ins().load(ty, flags(), from, offset);
                self.builder.ins().store(flags(), moved, to, offset);
            }
            return Ok(());
        }
        let count = self.count(len)?;
        let bytes = self.bytes(cell, count);
        self.runtime("jut_copy", &[to, from, bytes])?;
        Ok(())
    }
}
