//! One function: values, constants, statements.
//!
//! Both forms assign every value once and have structured control, so a value becomes a value of the
//! same name, and a statement one operation, or few. A copy becomes nothing. Constants stand together
//! at the begin of the function, where MLIR's own printer has them.
//!
//! *Requires*: every value is assigned before it is used. *Cost*: linear; recursion follows the
//! nesting of blocks.

use crate::facts::{Fact, Facts};
use crate::names::{Names, readable};
use crate::prelude::{Cells, Prelude};
use cranelift_entity::SecondaryMap;
use jut_ir::ir::Literal;
use jut_loop::form::{
    Atom, Block, Cell, Kind, LoopFuncId, LoopFunction, LoopProgram, Site, Stmt, Value,
};
use std::collections::HashMap;
use std::fmt::Write;
use std::rc::Rc;

/// Why a function could not be translated, for the reader of [`jut_native::CompileError`].
pub(crate) type Result<T> = std::result::Result<T, String>;

/// How MLIR text names a value: `%x`.
pub(crate) type Operand = Rc<str>;

/// One value, or eight at once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Width {
    One,
    Eight,
}

/// The type of a kind; buffers are never eight at once.
pub(crate) fn kind_type(kind: Kind, width: Width) -> &'static str {
    match (kind, width) {
        (Kind::F64, Width::One) => "f64",
        (Kind::F64, Width::Eight) => "vector<8xf64>",
        (Kind::F32, Width::One) => "f32",
        (Kind::F32, Width::Eight) => "vector<8xf32>",
        (Kind::I64, Width::One) => "index",
        (Kind::I64, Width::Eight) => "vector<8xindex>",
        (Kind::I32, Width::One) => "i32",
        (Kind::I32, Width::Eight) => "vector<8xi32>",
        (Kind::BOOL, Width::One) => "i1",
        (Kind::BOOL, Width::Eight) => "vector<8xi1>",
        (Kind::Buffer(cell), _) => Cells::of(cell).array(),
    }
}

/// How a function is called.
pub(crate) struct Signature {
    pub fact: Fact,
    pub params: Vec<Kind>,
    pub results: Vec<Kind>,
}

impl Signature {
    pub fn of(function: &LoopFunction, fact: Fact) -> Signature {
        Signature {
            fact,
            params: function.params.iter().map(|p| function.values[p.value].kind).collect(),
            results: function.body.results.iter().map(|a| function.kind_of(*a)).collect(),
        }
    }

    /// The types of the results, the status first if there is one.
    pub fn result_types(&self) -> Vec<&'static str> {
        let status = self.fact.fails.then_some("i32");
        status.into_iter().chain(self.results.iter().map(|k| kind_type(*k, Width::One))).collect()
    }
}

/// The type of a function as a call spells it.
pub(crate) fn function_type(signature: &Signature) -> String {
    let workspace = signature.fact.workspace.then_some("!workspace");
    let params = signature.params.iter().map(|k| kind_type(*k, Width::One));
    let params: Vec<&str> = workspace.into_iter().chain(params).collect();
    format!("({}) -> ({})", params.join(", "), signature.result_types().join(", "))
}

/// A constant of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Constant {
    /// Bits.
    F64(u64, Width),
    /// Bits.
    F32(u32),
    I64(i64),
    Bool(bool, Width),
    /// An integer of 32 bits, such as a status.
    I32(i32),
}

/// What can be left in the middle: a function, or the region of a loop or branch that can fail.
pub(crate) struct Region {
    /// The types of its results after the status.
    pub types: Vec<&'static str>,
    /// How it ends: `return` or `scf.yield`.
    pub end: &'static str,
    /// The number of its last block, which gives the status.
    pub number: usize,
    /// Blocks that are still to be written: where they fail, and with which operands.
    pub pending: Vec<(usize, Site, Vec<Operand>)>,
    /// Whether anything leads to the last block.
    pub left: bool,
}

/// The state of translating one function.
pub(crate) struct Emitter<'a> {
    pub program: &'a LoopProgram,
    id: LoopFuncId,
    pub source: &'a LoopFunction,
    pub facts: &'a Facts,
    pub function_names: &'a SecondaryMap<LoopFuncId, String>,
    pub prelude: &'a mut Prelude,
    /// How values are called that have been assigned.
    pub values: SecondaryMap<Value, Option<Operand>>,
    /// How values are called when they are assigned.
    names: SecondaryMap<Value, Option<Operand>>,
    taken: Names,
    constants: HashMap<Constant, Operand>,
    /// The constants in the order of their first use, as text.
    head: String,
    body: String,
    depth: usize,
    counter: usize,
    /// What surrounds the current statement and can be left in the middle, innermost last.
    pub regions: Vec<Region>,
    /// What values were in the iteration before, by the names that they have in the one behind it.
    pub before: HashMap<Value, Operand>,
}

impl<'a> Emitter<'a> {
    pub fn new(
        program: &'a LoopProgram,
        id: LoopFuncId,
        facts: &'a Facts,
        function_names: &'a SecondaryMap<LoopFuncId, String>,
        prelude: &'a mut Prelude,
    ) -> Emitter<'a> {
        let source = &program.funcs[id];
        let mut taken = Names::default();
        taken.fresh("workspace");
        let mut names = SecondaryMap::with_capacity(source.values.len());
        for (value, data) in source.values.iter() {
            let name = taken.fresh(&readable(&data.name, ""));
            names[value] = Some(format!("%{name}").into());
        }
        Emitter {
            program,
            id,
            source,
            facts,
            function_names,
            prelude,
            values: SecondaryMap::with_capacity(source.values.len()),
            names,
            taken,
            constants: HashMap::new(),
            head: String::new(),
            body: String::new(),
            depth: 1,
            counter: 0,
            regions: Vec::new(),
            before: HashMap::new(),
        }
    }

    /// Translates the whole function.
    pub fn function(mut self) -> Result<String> {
        let signature = Signature::of(self.source, self.facts.functions[self.id]);
        let mut params = Vec::new();
        if signature.fact.workspace {
            params.push("%workspace: !workspace".to_owned());
        }
        for (param, kind) in self.source.params.iter().zip(&signature.params) {
            let operand = self.bind(param.value);
            params.push(format!("{operand}: {}", kind_type(*kind, Width::One)));
        }
        self.function_body(&signature)?;
        let types = signature.result_types();
        let results =
            if types.is_empty() { String::new() } else { format!(" -> ({})", types.join(", ")) };
        let name = &self.function_names[self.id];
        let mut out = format!("func.func private @{name}({}){results} {{\n", params.join(", "));
        out.push_str(&self.head);
        out.push_str(&self.body);
        out.push_str("}\n");
        Ok(out)
    }

    // Text.

    /// Writes a line.
    pub fn line(&mut self, text: impl std::fmt::Display) {
        let indent = 2 * self.depth;
        let _ = writeln!(self.body, "{:indent$}{text}", "");
    }

    /// Writes the label of a block, which stands further left than its operations.
    pub fn label(&mut self, text: impl std::fmt::Display) {
        let indent = 2 * (self.depth - 1);
        let _ = writeln!(self.body, "{:indent$}{text}:", "");
    }

    /// Writes a line that opens a region.
    pub fn open(&mut self, text: impl std::fmt::Display) {
        self.line(text);
        self.depth += 1;
    }

    /// Writes a line that closes a region, and perhaps opens another.
    pub fn close(&mut self, text: impl std::fmt::Display) {
        self.depth -= 1;
        self.line(text);
    }

    /// Goes on inside of the region that the last line has opened.
    pub fn inside(&mut self) {
        self.depth += 1;
    }

    /// A number that no label and no temporary has.
    pub fn number(&mut self) -> usize {
        self.counter += 1;
        self.counter
    }

    /// A name for a value that the program has no name for.
    pub fn temporary(&mut self) -> Operand {
        format!("%{}", self.number()).into()
    }

    /// A name for a value that stands for one of the program.
    pub fn fresh_name(&mut self, name: &str) -> Operand {
        format!("%{}", self.taken.fresh(name)).into()
    }

    /// Writes an operation with one result that the program has no name for.
    pub fn define(&mut self, operation: impl std::fmt::Display) -> Operand {
        let name = self.temporary();
        self.line(format_args!("{name} = {operation}"));
        name
    }

    /// The same, with a name that says what it is.
    pub fn define_as(&mut self, name: &str, operation: impl std::fmt::Display) -> Operand {
        let name = self.fresh_name(name);
        self.line(format_args!("{name} = {operation}"));
        name
    }

    /// The sum of two integers.
    pub fn sum(&mut self, name: &str, a: &Operand, b: &Operand) -> Operand {
        if self.is_zero(a) {
            return b.clone();
        }
        self.define_as(name, format_args!("arith.addi {a}, {b} : index"))
    }

    /// The difference of two integers.
    pub fn difference(&mut self, name: &str, a: &Operand, b: &Operand) -> Operand {
        if self.is_zero(b) {
            return a.clone();
        }
        self.define_as(name, format_args!("arith.subi {a}, {b} : index"))
    }

    fn is_zero(&self, operand: &Operand) -> bool {
        self.constants.get(&Constant::I64(0)) == Some(operand)
    }

    // Values.

    /// Assigns a value; gives its name.
    pub fn bind(&mut self, value: Value) -> Operand {
        let name = self.names.get(value).cloned().flatten().unwrap_or_else(|| "%?".into());
        self.values[value] = Some(name.clone());
        name
    }

    /// Makes a value another name of something assigned.
    pub fn alias(&mut self, value: Value, operand: Operand) {
        self.values[value] = Some(operand);
    }

    /// The names of values to be assigned, as the left side of an operation.
    pub fn bind_all(&mut self, values: &[Value]) -> Vec<Operand> {
        values.iter().map(|value| self.bind(*value)).collect()
    }

    /// A value that has been assigned.
    pub fn value(&self, value: Value) -> Result<Operand> {
        self.values.get(value).cloned().flatten().ok_or_else(|| {
            let name = self.source.values.get(value).map_or("?", |data| &data.name);
            format!("`{name}` is used before it is assigned")
        })
    }

    /// A value or literal.
    pub fn atom(&mut self, atom: Atom) -> Result<Operand> {
        Ok(match atom {
            Atom::Value(value) => self.value(value)?,
            Atom::Lit(Literal::F64(x)) => self.float(x, Width::One),
            Atom::Lit(Literal::F32(x)) => self.constant(Constant::F32(x.to_bits())),
            Atom::Lit(Literal::I64(x)) => self.int(x),
            Atom::Lit(Literal::I32(x)) => self.constant(Constant::I32(x)),
            Atom::Lit(Literal::Bool(x)) => self.constant(Constant::Bool(x, Width::One)),
        })
    }

    pub fn atoms(&mut self, atoms: &[Atom]) -> Result<Vec<Operand>> {
        atoms.iter().map(|atom| self.atom(*atom)).collect()
    }

    /// The kind of a value.
    pub fn kind(&self, value: Value) -> Kind {
        self.source.values[value].kind
    }

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> &'static str {
        kind_type(self.kind(value), Width::One)
    }

    /// What the cells of a buffer are.
    pub fn cell(&self, buffer: Value) -> Result<Cell> {
        match self.kind(buffer) {
            Kind::Buffer(cell) => Ok(cell),
            _ => Err("a scalar is used as a buffer".to_owned()),
        }
    }

    // Constants.

    pub fn int(&mut self, x: i64) -> Operand {
        self.constant(Constant::I64(x))
    }

    pub fn float(&mut self, x: f64, width: Width) -> Operand {
        self.constant(Constant::F64(x.to_bits(), width))
    }

    pub fn constant(&mut self, constant: Constant) -> Operand {
        if let Some(name) = self.constants.get(&constant) {
            return name.clone();
        }
        let (name, text) = match constant {
            Constant::I64(x) => (format!("c{x}"), format!("{x} : index")),
            Constant::Bool(x, Width::One) => (x.to_string(), x.to_string()),
            Constant::Bool(x, Width::Eight) => {
                (format!("{x}.8"), format!("dense<{x}> : vector<8xi1>"))
            }
            Constant::I32(x) => (format!("c{x}_i32"), format!("{x} : i32")),
            Constant::F64(bits, Width::One) => {
                let text = float_text(f64::from_bits(bits));
                (float_name(f64::from_bits(bits)), format!("{text} : f64"))
            }
            Constant::F32(bits) => {
                let text = match f32::from_bits(bits) {
                    x if x.is_finite() => float_text(f64::from(x)),
                    _ => format!("0x{bits:08X}"),
                };
                let name = float_name(f64::from(f32::from_bits(bits)));
                (format!("{name}.f32"), format!("{text} : f32"))
            }
            Constant::F64(bits, Width::Eight) => {
                let text = float_text(f64::from_bits(bits));
                let name = float_name(f64::from_bits(bits));
                (format!("{name}.8"), format!("dense<{text}> : vector<8xf64>"))
            }
        };
        let name: Operand = self.fresh_name(&name);
        let _ = writeln!(self.head, "  {name} = arith.constant {text}");
        self.constants.insert(constant, name.clone());
        name
    }

    // Statements.

    /// Translates the statements of a block; gives its results.
    pub fn block(&mut self, block: &Block) -> Result<Vec<Operand>> {
        for stmt in &block.stmts {
            self.stmt(stmt)?;
        }
        self.atoms(&block.results)
    }

    pub(crate) fn stmt(&mut self, stmt: &Stmt) -> Result<()> {
        match stmt {
            Stmt::Prim { dst, prim, args } => self.prim(*dst, *prim, args),
            Stmt::Copy { dst, src } => {
                let operand = self.atom(*src)?;
                self.alias(*dst, operand);
                Ok(())
            }
            Stmt::Previous { dst, src, .. } => self.before(*dst, *src),
            Stmt::Load { dst, buffer, index } => self.load(*dst, *buffer, *index),
            Stmt::Store { buffer, index, value } => self.store(*buffer, *index, *value),
            Stmt::Offset { dst, buffer, index } => self.offset(*dst, *buffer, *index),
            Stmt::Alloc { dst, cell, len, arena, site } => {
                self.alloc(*dst, *cell, *len, *arena, *site)
            }
            Stmt::Mark { dst, arena } => {
                self.mark(*dst, *arena);
                Ok(())
            }
            Stmt::Release { mark, arena } => self.release(*mark, *arena),
            Stmt::Fill { buffer, len, value } => self.fill(*buffer, *len, *value),
            Stmt::CopyCells { dst, src, len, .. } => self.copy_cells(*dst, *src, *len),
            Stmt::For(inner) => self.for_loop(inner, self.facts.fails(stmt)),
            Stmt::Lanes(inner) => self.lanes_loop(inner, self.facts.fails(stmt)),
            Stmt::If { dst, cond, then, other } => {
                self.branch(dst, *cond, [then, other], self.facts.fails(stmt))
            }
            Stmt::Call { dst, func, args, .. } => self.call(dst, *func, args),
            Stmt::Kernel { kernel, args } => self.kernel(*kernel, args),
            // The loop around asks, between its blocks.
            Stmt::Poll { every: 2.., .. } => Ok(()),
            Stmt::Poll { site, .. } => self.poll(*site),
            Stmt::Check { check, site } => self.check(*check, *site),
        }
    }
}

/// A float as MLIR reads it, to the last bit.
fn float_text(x: f64) -> String {
    if !x.is_finite() {
        return format!("0x{:016X}", x.to_bits());
    }
    let text = format!("{x:?}");
    // The digits of a float have a point.
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

/// A name for a constant.
fn float_name(x: f64) -> String {
    match x {
        x if x.is_nan() => "nan".to_owned(),
        f64::INFINITY => "inf".to_owned(),
        f64::NEG_INFINITY => "-inf".replace('-', "minus_"),
        x => format!("f{}", format!("{x:?}").replace('+', "")),
    }
}
