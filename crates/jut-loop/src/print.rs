//! The text of the loop form.
//!
//! ```text
//! loop def nb(n: i64, x: in f64[n]) -> (f64) = {
//!   m = n - 1
//!   (s_1) = lanes (i in 0 .. m) carry (s) {
//!     a = x[i]
//!     j = i + 1
//!     b = x[j]
//!     p = a * b
//!     s_2 = s + p
//!     (s_2)
//!   }
//!   (s_1)
//! }
//! ```
//!
//! | text | statement |
//! |---|---|
//! | `y = a + b`, `y = sin(a)`, `y = a` | primitive, copy |
//! | `y = x[i]`, `x[i] = a`, `y = x[i ..]` | load, store, offset |
//! | `y: f64[] = x[i]`, `y: bool = x[i]` | load of a buffer, or from a word, with what it holds |
//! | `y = alloc f64[n]`, `y = alloc tape buffer[n]` | allocation |
//! | `m = mark`, `release m`, `m = mark tape`, `release tape m`, `fill x[n] = a`, `copy x[n] = y` | |
//! | `(r) = for up (i in 0 .. n) carry (a = a0) { .. (b) }` | loop |
//! | `(r) = lanes (i in 0 .. n) carry (s) { .. (t) }` | fixed-order sums |
//! | `for par vector 8 (i in 0 .. n) { .. }` | eight iterations at once; `masked`: fewer at the end too; `stores last`: stores behind everything else |
//! | `(r) = if c { .. (a) } else { .. (b) }`, `(r) = call f(a, x)` | |
//! | `kernel matmul(c, a, b, t, m, n, k, 0)` | a function of the runtime on whole buffers |
//! | `check i < n`, `check lo ..+ m <= n`, `check n >= 0`, `check a == b`, `check a != 0` | checks |
//!
//! What can fail ends in the user's text, ` @file:start..end`, if there is one; a check that reports
//! another error than usual says so: `check R06 n < 281474976710656`.
//!
//! Ensures: [`crate::read`] gives back the same functions. Cost: linear.

use cranelift_entity::EntityRef;
use jut_ir::prim::Syntax;
use jut_ir::print::print_literal;
use jut_ir::{Size, Span};
use std::fmt::Write;

use crate::form::{
    Arena, Atom, Block, Cell, Check, Kind, LoopFuncId, LoopFunction, LoopProgram, Role, Site, Stmt,
    Value, Vector,
};

/// Prints a whole program, callees first, with empty lines between the functions.
pub fn print_program(program: &LoopProgram) -> String {
    let mut out = String::new();
    for (id, _) in program.funcs.iter() {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&print_function(program, id));
    }
    out
}

/// Prints one function, newline included.
pub fn print_function(program: &LoopProgram, func: LoopFuncId) -> String {
    let func = &program.funcs[func];
    let mut printer = Printer { program, func, out: String::new(), depth: 0 };
    printer.function();
    printer.out
}

/// The word for a kind of cell.
pub(crate) fn cell_word(cell: Cell) -> &'static str {
    match cell {
        Cell::Scalar(scalar) => scalar.name(),
        Cell::Buffer => "buffer",
        Cell::Word => "word",
    }
}

fn kind_text(kind: Kind) -> String {
    match kind {
        Kind::Scalar(scalar) => scalar.name().into(),
        Kind::Buffer(cell) => format!("{}[]", cell_word(cell)),
    }
}

struct Printer<'a> {
    program: &'a LoopProgram,
    func: &'a LoopFunction,
    out: String,
    depth: usize,
}

impl Printer<'_> {
    fn function(&mut self) {
        let func = self.func;
        let mut params = Vec::new();
        for p in &func.params {
            let data = &func.values[p.value];
            let role = match p.role {
                Role::In => "in",
                Role::InOut => "inout",
                Role::Out => "out",
            };
            params.push(match data.kind {
                Kind::Buffer(cell) => {
                    let len = p.len.as_ref().map(|s| self.size(s)).unwrap_or_default();
                    format!("{}: {role} {}[{len}]", data.name, cell_word(cell))
                }
                kind => format!("{}: {}", data.name, kind_text(kind)),
            });
        }
        let _ = write!(self.out, "loop def {}({})", func.name, params.join(", "));
        if !func.body.results.is_empty() {
            let kinds: Vec<String> =
                func.body.results.iter().map(|a| kind_text(func.kind_of(*a))).collect();
            let _ = write!(self.out, " -> ({})", kinds.join(", "));
        }
        self.out.push_str(" = ");
        self.block(&func.body);
        self.out.push('\n');
    }

    /// A size over parameter numbers: `n*d - 1`.
    fn size(&self, size: &Size) -> String {
        let mut text = String::new();
        for (names, c) in size.terms() {
            let mut factors: Vec<String> = Vec::new();
            if c.unsigned_abs() != 1 || names.is_empty() {
                factors.push(c.unsigned_abs().to_string());
            }
            for v in names {
                let param = self.func.params.get(v.index());
                factors.push(param.map_or("?".into(), |p| self.name(p.value).to_string()));
            }
            let sign = match (text.is_empty(), *c < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            text.push_str(sign);
            text.push_str(&factors.join("*"));
        }
        if text.is_empty() { "0".into() } else { text }
    }

    fn name(&self, v: Value) -> &str {
        &self.func.values[v].name
    }

    fn atom(&self, a: Atom) -> String {
        match a {
            Atom::Value(v) => self.name(v).to_string(),
            Atom::Lit(l) => print_literal(l),
        }
    }

    fn atoms(&self, atoms: &[Atom]) -> String {
        let texts: Vec<String> = atoms.iter().map(|a| self.atom(*a)).collect();
        texts.join(", ")
    }

    fn names(&self, values: &[Value]) -> String {
        let texts: Vec<&str> = values.iter().map(|v| self.name(*v)).collect();
        texts.join(", ")
    }

    fn pattern(&self, values: &[Value]) -> String {
        if values.is_empty() { String::new() } else { format!("({}) = ", self.names(values)) }
    }

    fn line(&mut self) {
        self.out.push('\n');
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
    }

    fn block(&mut self, block: &Block) {
        self.out.push('{');
        self.depth += 1;
        for stmt in &block.stmts {
            self.line();
            self.stmt(stmt);
        }
        if !block.results.is_empty() {
            self.line();
            let results = self.atoms(&block.results);
            let _ = write!(self.out, "({results})");
        }
        self.depth -= 1;
        self.line();
        self.out.push('}');
    }

    fn at(&self, site: Site) -> String {
        match self.program.sites.get(site) {
            Some((_, span)) if *span != Span::NONE => {
                format!(" @{}:{}..{}", span.file, span.start, span.end)
            }
            _ => String::new(),
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let text = match stmt {
            Stmt::Prim { dst, prim, args } => {
                let row = prim.row();
                let operands = match (row.syntax, args.as_slice()) {
                    (Syntax::Infix, [a, b]) => {
                        format!("{} {} {}", self.atom(*a), row.text, self.atom(*b))
                    }
                    (Syntax::Prefix, [a]) => format!("{}{}", row.text, self.atom(*a)),
                    _ => format!("{}({})", row.text, self.atoms(args)),
                };
                format!("{} = {operands}", self.name(*dst))
            }
            Stmt::Copy { dst, src } => format!("{} = {}", self.name(*dst), self.atom(*src)),
            Stmt::Previous { dst, src, first } => {
                let (src, first) = (self.atom(*src), self.atom(Atom::Lit(*first)));
                format!("{} = previous {src} else {first}", self.name(*dst))
            }
            Stmt::Load { dst, buffer, index } => {
                let kind = match (self.func.values[*dst].kind, self.func.values[*buffer].kind) {
                    (kind @ Kind::Buffer(_), _) | (kind, Kind::Buffer(Cell::Word)) => {
                        format!(": {}", kind_text(kind))
                    }
                    _ => String::new(),
                };
                let (dst, buffer) = (self.name(*dst), self.name(*buffer));
                format!("{dst}{kind} = {buffer}[{}]", self.atom(*index))
            }
            Stmt::Store { buffer, index, value } => {
                format!("{}[{}] = {}", self.name(*buffer), self.atom(*index), self.atom(*value))
            }
            Stmt::Offset { dst, buffer, index } => {
                format!("{} = {}[{} ..]", self.name(*dst), self.name(*buffer), self.atom(*index))
            }
            Stmt::Alloc { dst, cell, len, arena, site } => {
                let arena = if *arena == Arena::Tape { "tape " } else { "" };
                let (len, at) = (self.atom(*len), self.at(*site));
                format!("{} = alloc {arena}{}[{len}]{at}", self.name(*dst), cell_word(*cell))
            }
            Stmt::Mark { dst, arena: Arena::Temp } => format!("{} = mark", self.name(*dst)),
            Stmt::Mark { dst, arena: Arena::Tape } => format!("{} = mark tape", self.name(*dst)),
            Stmt::Release { mark, arena: Arena::Temp } => format!("release {}", self.name(*mark)),
            Stmt::Release { mark, arena: Arena::Tape } => {
                format!("release tape {}", self.name(*mark))
            }
            Stmt::Fill { buffer, len, value } => {
                format!("fill {}[{}] = {}", self.name(*buffer), self.atom(*len), self.atom(*value))
            }
            Stmt::CopyCells { dst, src, len, .. } => {
                format!("copy {}[{}] = {}", self.name(*dst), self.atom(*len), self.name(*src))
            }
            Stmt::For(f) => {
                let order = f.order.keyword();
                let range = self.range(f.index, f.low, f.high);
                let carry = if f.carry.is_empty() {
                    String::new()
                } else {
                    let texts: Vec<String> = f
                        .carry
                        .iter()
                        .map(|(v, a)| format!("{} = {}", self.name(*v), self.atom(*a)))
                        .collect();
                    format!(" carry ({})", texts.join(", "))
                };
                let (dst, vector) = (self.pattern(&f.dst), vector(f.vector));
                let head = format!("{dst}for {order}{vector} {range}{carry} ");
                self.out.push_str(&head);
                self.block(&f.body);
                return;
            }
            Stmt::Lanes(l) => {
                let range = self.range(l.index, l.low, l.high);
                let carry = self.names(&l.carry);
                let (dst, vector) = (self.pattern(&l.dst), vector(l.vector));
                let head = format!("{dst}lanes{vector} {range} carry ({carry}) ");
                self.out.push_str(&head);
                self.block(&l.body);
                return;
            }
            Stmt::If { dst, cond, then, other } => {
                let head = format!("{}if {} ", self.pattern(dst), self.atom(*cond));
                self.out.push_str(&head);
                self.block(then);
                self.out.push_str(" else ");
                self.block(other);
                return;
            }
            Stmt::Call { dst, func, args, shares } => {
                let name = self.program.funcs.get(*func).map_or("?", |f| &f.name);
                let shares = shares.map_or_else(String::new, |least| format!(" shares {least}"));
                format!("{}call {name}({}){shares}", self.pattern(dst), self.atoms(args))
            }
            Stmt::Kernel { kernel, args } => {
                format!("kernel {}({})", kernel.row().name, self.atoms(args))
            }
            Stmt::Poll { every: 1, site } => format!("poll{}", self.at(*site)),
            Stmt::Poll { every, site } => format!("poll {every}{}", self.at(*site)),
            Stmt::Check { check, site } => {
                let kind = match self.program.sites.get(*site) {
                    Some((kind, _)) if *kind != check.usual_kind() => format!("{} ", kind.code()),
                    _ => String::new(),
                };
                let text = match *check {
                    Check::Below(i, n) => format!("{} < {}", self.atom(i), self.atom(n)),
                    Check::Within(lo, len, n) => {
                        let (lo, len) = (self.atom(lo), self.atom(len));
                        format!("{lo} ..+ {len} <= {}", self.atom(n))
                    }
                    Check::NonNegative(n) => format!("{} >= 0", self.atom(n)),
                    Check::Equal(a, b) => format!("{} == {}", self.atom(a), self.atom(b)),
                    Check::NonZero(a) => format!("{} != 0", self.atom(a)),
                };
                format!("check {kind}{text}{}", self.at(*site))
            }
        };
        self.out.push_str(&text);
    }

    fn range(&self, index: Value, low: Atom, high: Atom) -> String {
        format!("({} in {} .. {})", self.name(index), self.atom(low), self.atom(high))
    }
}

/// What stands between the word of a loop and its range.
fn vector(vector: Option<Vector>) -> String {
    let Some(Vector { width, masked, stores_last }) = vector else { return String::new() };
    let masked = if masked { " masked" } else { "" };
    let last = if stores_last { " stores last" } else { "" };
    format!(" vector {width}{masked}{last}")
}
