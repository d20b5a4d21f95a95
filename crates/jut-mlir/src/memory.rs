//! Loads, stores, and the two arenas.
//!
//! A buffer is a `memref`; one that begins in the middle of another is a `memref.subview`. Cells that
//! are buffers hold addresses, words the bits of any value. Truth values are bytes in memory and `i1` elsewhere.
//!
//! How many cells the memory at a loaded address has, nobody says here: the program never goes beyond
//! them, and its text has the checks.

use crate::function::{Emitter, Operand, Result, Width, kind_type};
use crate::prelude::{Cells, Helper, UNBOUNDED};
use jut_ir::Scalar;
use jut_ir::ir::Literal;
use jut_loop::form::{Arena, Atom, Cell, Kind, Site, Value};
use jut_runtime::workspace::layout;

/// An operation of `arith` that makes a value of one type one of another.
pub(crate) type Cast = (&'static str, &'static str, &'static str);

/// How a number comes out of a word, of which it is the lowest bits; a truth value is compared.
pub(crate) fn out_of_word(scalar: Scalar) -> &'static [Cast] {
    match scalar {
        Scalar::F64 => &[("index_cast", "index", "i64"), ("bitcast", "i64", "f64")],
        Scalar::F32 => &[("index_cast", "index", "i32"), ("bitcast", "i32", "f32")],
        Scalar::I32 => &[("index_cast", "index", "i32")],
        Scalar::I64 | Scalar::Bool => &[],
    }
}

/// How a number or truth value becomes a word.
pub(crate) fn into_word(scalar: Scalar) -> &'static [Cast] {
    match scalar {
        Scalar::F64 => &[("bitcast", "f64", "i64"), ("index_cast", "i64", "index")],
        Scalar::F32 => &[("bitcast", "f32", "i32"), ("index_castui", "i32", "index")],
        Scalar::I32 => &[("index_castui", "i32", "index")],
        Scalar::Bool => &[("index_castui", "i1", "index")],
        Scalar::I64 => &[],
    }
}

impl Emitter<'_> {
    pub(crate) fn load(&mut self, dst: Value, buffer: Value, index: Atom) -> Result<()> {
        let ty = self.type_of(buffer);
        let cell = self.cell(buffer)?;
        let (buffer, index) = (self.value(buffer)?, self.atom(index)?);
        let load = format!("memref.load {buffer}[{index}] : {ty}");
        match (self.kind(dst), cell) {
            (Kind::BOOL, Cell::Word) => {
                let (word, zero) = (self.define(load), self.int(0));
                let name = self.bind(dst);
                self.line(format_args!("{name} = arith.cmpi ne, {word}, {zero} : index"));
            }
            (Kind::Scalar(scalar), Cell::Word) if !out_of_word(scalar).is_empty() => {
                let word = self.define(load);
                let cast = self.cast(out_of_word(scalar), word);
                let name = self.bind(dst);
                self.line(format_args!("{name} = {cast}"));
            }
            (Kind::BOOL, _) => {
                let byte = self.define(load);
                let name = self.bind(dst);
                self.line(format_args!("{name} = arith.trunci {byte} : i8 to i1"));
            }
            (Kind::Buffer(inner), _) => {
                let address = self.define(load);
                let cells = self.int(UNBOUNDED);
                self.view(dst, inner, &address, &cells);
            }
            _ => {
                let name = self.bind(dst);
                self.line(format_args!("{name} = {load}"));
            }
        }
        Ok(())
    }

    /// Writes all steps of a conversion but the last; gives that.
    fn cast(&mut self, steps: &[Cast], from: Operand) -> String {
        let step =
            |(name, ty, to): &Cast, from: &Operand| format!("arith.{name} {from} : {ty} to {to}");
        match steps {
            [first, last] => {
                let between = self.define(step(first, &from));
                step(last, &between)
            }
            steps => steps.iter().map(|last| step(last, &from)).collect(),
        }
    }

    /// Makes the memory at an address an array.
    fn view(&mut self, dst: Value, cell: Cell, address: &Operand, cells: &Operand) {
        let helper = self.prelude.helper(Helper::View(Cells::of(cell)));
        let ty = self.type_of(dst);
        let name = self.bind(dst);
        self.line(format_args!(
            "{name} = func.call @{helper}({address}, {cells}) : (index, index) -> {ty}"
        ));
    }

    /// A value as it stands in a cell.
    pub(crate) fn stored(&mut self, cell: Cell, value: Atom) -> Result<Operand> {
        let kind = self.source.kind_of(value);
        let operand = self.atom(value)?;
        Ok(match kind {
            Kind::Scalar(scalar) if cell == Cell::Word && !into_word(scalar).is_empty() => {
                let cast = self.cast(into_word(scalar), operand);
                self.define(cast)
            }
            Kind::F64 | Kind::F32 | Kind::I64 | Kind::I32 => operand,
            Kind::BOOL => self.define(format_args!("arith.extui {operand} : i1 to i8")),
            Kind::Buffer(cell) => {
                let helper = self.prelude.helper(Helper::Address(Cells::of(cell)));
                let ty = kind_type(kind, Width::One);
                self.define(format_args!("func.call @{helper}({operand}) : ({ty}) -> index"))
            }
        })
    }

    pub(crate) fn store(&mut self, buffer: Value, index: Atom, value: Atom) -> Result<()> {
        let ty = self.type_of(buffer);
        let value = self.stored(self.cell(buffer)?, value)?;
        let (buffer, index) = (self.value(buffer)?, self.atom(index)?);
        self.line(format_args!("memref.store {value}, {buffer}[{index}] : {ty}"));
        Ok(())
    }

    pub(crate) fn offset(&mut self, dst: Value, buffer: Value, index: Atom) -> Result<()> {
        let ty = self.type_of(buffer);
        let (buffer, index) = (self.value(buffer)?, self.atom(index)?);
        let zero = self.int(0);
        let all = self.define_as("cells", format_args!("memref.dim {buffer}, {zero} : {ty}"));
        let rest = self.define_as("rest", format_args!("arith.subi {all}, {index} : index"));
        let name = self.bind(dst);
        self.line(format_args!(
            "{name} = memref.subview {buffer}[{index}] [{rest}] [1] : {ty} to {ty}"
        ));
        Ok(())
    }

    /// A number of cells, not negative.
    fn count(&mut self, len: Atom) -> Result<Operand> {
        if let Atom::Lit(Literal::I64(n)) = len {
            return Ok(self.int(n.max(0)));
        }
        let (len, zero) = (self.atom(len)?, self.int(0));
        Ok(self.define_as("count", format_args!("arith.maxsi {len}, {zero} : index")))
    }

    pub(crate) fn alloc(
        &mut self,
        dst: Value,
        cell: Cell,
        len: Atom,
        arena: Arena,
        site: Site,
    ) -> Result<()> {
        let count = self.count(len)?;
        let bytes = self.int(cell.bytes());
        let helper = self.prelude.helper(match arena {
            Arena::Temp => Helper::AllocTemp,
            Arena::Tape => Helper::AllocTape,
        });
        let address = self.define_as("address", format_args!(
            "func.call @{helper}(%workspace, {count}, {bytes}) : (!workspace, index, index) -> index"
        ));
        let zero = self.int(0);
        let given = self.define(format_args!("arith.cmpi ne, {address}, {zero} : index"));
        self.guard(&given, site, Vec::new())?;
        self.view(dst, cell, &address, &count);
        Ok(())
    }

    pub(crate) fn mark(&mut self, dst: Value, arena: Arena) {
        let place = self.int(match arena {
            Arena::Temp => layout::TEMP_TOP as i64 / 8,
            Arena::Tape => layout::TAPE_TOP as i64 / 8,
        });
        let name = self.bind(dst);
        self.line(format_args!("{name} = memref.load %workspace[{place}] : !workspace"));
    }

    pub(crate) fn release(&mut self, mark: Value, arena: Arena) -> Result<()> {
        let mark = self.value(mark)?;
        let helper = self.prelude.helper(match arena {
            Arena::Temp => Helper::ReleaseTemp,
            Arena::Tape => Helper::ReleaseTape,
        });
        self.line(format_args!(
            "func.call @{helper}(%workspace, {mark}) : (!workspace, index) -> ()"
        ));
        Ok(())
    }

    /// The first cells of a buffer as a buffer of this size.
    fn first(&mut self, buffer: Value, count: &Operand) -> Result<Operand> {
        let ty = self.type_of(buffer);
        let buffer = self.value(buffer)?;
        Ok(self.define_as(
            "cells",
            format_args!("memref.subview {buffer}[0] [{count}] [1] : {ty} to {ty}"),
        ))
    }

    pub(crate) fn fill(&mut self, buffer: Value, len: Atom, value: Atom) -> Result<()> {
        let ty = self.type_of(buffer);
        let cell_type = Cells::of(self.cell(buffer)?).cell();
        let value = self.stored(self.cell(buffer)?, value)?;
        let count = self.count(len)?;
        let cells = self.first(buffer, &count)?;
        self.line(format_args!("linalg.fill ins({value} : {cell_type}) outs({cells} : {ty})"));
        Ok(())
    }

    pub(crate) fn copy_cells(&mut self, dst: Value, src: Value, len: Atom) -> Result<()> {
        let (to_type, from_type) = (self.type_of(dst), self.type_of(src));
        let count = self.count(len)?;
        let to = self.first(dst, &count)?;
        let from = self.first(src, &count)?;
        self.line(format_args!("linalg.copy ins({from} : {from_type}) outs({to} : {to_type})"));
        Ok(())
    }
}
