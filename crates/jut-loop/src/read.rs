//! Reading the text of the loop form back ([`crate::print`] says what it looks like).
//!
//! A recursive descent over tokens. Kinds are checked on the way, since they decide what a name
//! means: `x[i]` of a buffer of buffers says what it loads, an infix operator is found by the kinds
//! of its operands, the results of a call are those of the function above it.
//!
//! Ensures: what [`crate::print::print_program`] writes reads back to the same functions, and
//! anything else is refused with a place in the text (`J001`, `J002`, `J010`, `J202`). Cost: linear.

mod lexer;

use cranelift_entity::EntityRef;
use jut_ir::prim::{Prim, Syntax};
use jut_ir::{Diagnostic, Literal, NVar, RuntimeErrorKind, Scalar, Size, Span};
use std::collections::HashMap;

use crate::analysis::{Sum, conjunction, sums_in_order};
use crate::form::{
    Arena, Atom, Block, Cell, Check, For, Kind, LANES, Lanes, LoopFuncId, LoopFunction,
    LoopProgram, Order, Param, Role, Site, Stmt, Value, ValueData, Vector,
};
use crate::kernel::Kernel;
use lexer::{Token, Word};

/// Reads a program.
///
/// # Errors
/// The first thing that is not the text of a loop program.
pub fn read_program(file: u32, text: &str) -> Result<LoopProgram, Diagnostic> {
    let mut reader = Reader {
        tokens: lexer::tokens(file, text)?,
        at: 0,
        out: LoopProgram::default(),
        func: LoopFunction::default(),
        names: HashMap::new(),
        funcs: HashMap::new(),
        sites: HashMap::new(),
        depth: 0,
        previous: 0,
    };
    reader.heads()?;
    reader.skip_ends();
    while !reader.is(&Word::End) {
        reader.function()?;
        reader.skip_ends();
    }
    Ok(reader.out)
}

/// Blocks nested deeper than this are refused: reading and running them recurses.
const MAX_DEPTH: usize = 400;

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    out: LoopProgram,
    func: LoopFunction,
    names: HashMap<String, Value>,
    funcs: HashMap<String, Head>,
    sites: HashMap<(RuntimeErrorKind, Span), Site>,
    depth: usize,
    /// How many statements with `previous` have been read that stand in no `lanes` loop yet.
    previous: usize,
}

/// What calls of a function must know of it.
#[derive(Clone)]
struct Head {
    id: LoopFuncId,
    params: Vec<Kind>,
    results: Vec<Kind>,
}

type Res<T> = Result<T, Diagnostic>;

impl Reader {
    // ---- tokens

    fn word(&self) -> &Word {
        self.tokens.get(self.at).map_or(&Word::End, |t| &t.word)
    }

    fn span(&self) -> Span {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens.get(self.at.min(last)).map_or(Span::NONE, |t| t.span)
    }

    fn is(&self, word: &Word) -> bool {
        self.word() == word
    }

    fn sign(&self, text: &str) -> bool {
        matches!(self.word(), Word::Sign(s) if *s == text)
    }

    fn next_is_name(&self, text: &str) -> bool {
        matches!(self.word(), Word::Name(n) if n == text)
    }

    fn take_sign(&mut self, text: &str) -> bool {
        let found = self.sign(text);
        self.at += found as usize;
        found
    }

    fn take_name(&mut self, text: &str) -> bool {
        let found = self.next_is_name(text);
        self.at += found as usize;
        found
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let found = match self.word() {
            Word::End => "the end of the text".to_string(),
            Word::Newline => "the end of the line".to_string(),
            Word::Name(n) | Word::Path(n) => format!("`{n}`"),
            Word::Sign(s) => format!("`{s}`"),
            Word::Literal(l) => format!("`{}`", jut_ir::print::print_literal(*l)),
        };
        Diagnostic::error("J002", self.span(), format!("expected {what}, found {found}"))
    }

    fn require(&mut self, text: &str) -> Res<()> {
        if self.take_sign(text) || self.take_name(text) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{text}`")))
        }
    }

    fn name(&mut self) -> Res<String> {
        match self.word().clone() {
            Word::Name(name) => {
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.expected("a name")),
        }
    }

    fn path(&mut self) -> Res<String> {
        match self.word().clone() {
            Word::Path(name) => {
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.expected("the name of a function")),
        }
    }

    fn skip_ends(&mut self) {
        while self.is(&Word::Newline) || self.sign(";") {
            self.at += 1;
        }
    }

    fn skip_newlines(&mut self) {
        while self.is(&Word::Newline) {
            self.at += 1;
        }
    }

    /// `( item, .. )`
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Res<T>) -> Res<Vec<T>> {
        self.require("(")?;
        let mut items = Vec::new();
        while !self.take_sign(")") {
            if !items.is_empty() {
                self.require(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    // ---- names and kinds

    fn define(&mut self, name: String, kind: Kind) -> Res<Value> {
        let value = self.func.values.push(ValueData { name: name.as_str().into(), kind });
        if self.names.insert(name.clone(), value).is_some() {
            let message = format!("`{name}` is bound twice");
            return Err(Diagnostic::error("J011", self.span(), message));
        }
        Ok(value)
    }

    fn define_all(&mut self, names: Vec<String>, kinds: &[Kind]) -> Res<Vec<Value>> {
        if names.len() != kinds.len() {
            let message = format!("{} names for {} results", names.len(), kinds.len());
            return Err(Diagnostic::error("J213", self.span(), message));
        }
        names.into_iter().zip(kinds).map(|(name, kind)| self.define(name, *kind)).collect()
    }

    fn value(&mut self) -> Res<Value> {
        let span = self.span();
        let name = self.name()?;
        self.names
            .get(&name)
            .copied()
            .ok_or_else(|| Diagnostic::error("J010", span, format!("`{name}` is not defined")))
    }

    fn buffer(&mut self) -> Res<(Value, Cell)> {
        let span = self.span();
        let value = self.value()?;
        match self.func.values[value].kind {
            Kind::Buffer(cell) => Ok((value, cell)),
            _ => Err(Diagnostic::error("J205", span, "a buffer is expected")),
        }
    }

    fn literal(&mut self) -> Option<Literal> {
        let negative = self.sign("-");
        let word = self.tokens.get(self.at + negative as usize).map(|t| t.word.clone());
        let constant = match &word {
            Some(Word::Name(n)) if n == "inf" => Some(f64::INFINITY),
            Some(Word::Name(n)) if n == "nan" => Some(f64::NAN),
            _ => None,
        };
        if let Some(x) = constant {
            // `inf()`, `nan()`: the printer writes them so, and they are no names.
            self.at += 3 + negative as usize;
            return Some(Literal::F64(if negative { -x } else { x }));
        }
        let literal = match (word, negative) {
            (Some(Word::Literal(Literal::F64(x))), true) => Literal::F64(-x),
            (Some(Word::Literal(Literal::F32(x))), true) => Literal::F32(-x),
            (Some(Word::Literal(Literal::I64(x))), true) => Literal::I64(x.wrapping_neg()),
            (Some(Word::Literal(Literal::I32(x))), true) => Literal::I32(x.wrapping_neg()),
            (Some(Word::Literal(l)), false) => l,
            _ => return None,
        };
        self.at += 1 + negative as usize;
        Some(literal)
    }

    fn atom(&mut self) -> Res<Atom> {
        match self.literal() {
            Some(l) => Ok(Atom::Lit(l)),
            None => self.value().map(Atom::Value),
        }
    }

    fn atom_of(&mut self, kind: Kind) -> Res<Atom> {
        let span = self.span();
        let atom = self.atom()?;
        if self.func.kind_of(atom) != kind {
            let message = format!("{kind:?} is expected");
            return Err(Diagnostic::error("J202", span, message));
        }
        Ok(atom)
    }

    fn index(&mut self) -> Res<Atom> {
        self.atom_of(Kind::I64)
    }

    fn cell(&mut self) -> Res<Cell> {
        let cell = match self.word() {
            Word::Name(n) if n == "buffer" => Cell::Buffer,
            Word::Name(n) if n == "word" => Cell::Word,
            Word::Name(n) if let Some(scalar) = Scalar::named(n) => Cell::Scalar(scalar),
            _ => return Err(self.expected("`f64`, `i64`, `bool`, `buffer` or `word`")),
        };
        self.at += 1;
        Ok(cell)
    }

    fn kind(&mut self) -> Res<Kind> {
        let cell = self.cell()?;
        if self.take_sign("[") {
            self.require("]")?;
            return Ok(Kind::Buffer(cell));
        }
        match cell {
            Cell::Scalar(scalar) => Ok(Kind::Scalar(scalar)),
            Cell::Buffer | Cell::Word => Err(self.expected("`[`")),
        }
    }

    // ---- functions

    /// Reads the heads of all functions: calls may stand before what they call.
    fn heads(&mut self) -> Res<()> {
        let is = |at: usize, text: &str, tokens: &[Token]| matches!(tokens.get(at).map(|t| &t.word), Some(Word::Name(n)) if n == text);
        for at in 0..self.tokens.len() {
            if is(at, "loop", &self.tokens) && is(at + 1, "def", &self.tokens) {
                self.at = at;
                let (_, results) = self.head()?;
                let kind = |p: &Param| self.func.values[p.value].kind;
                let params = self.func.params.iter().map(kind).collect();
                let head = Head { id: LoopFuncId::new(self.funcs.len()), params, results };
                self.funcs.insert(self.func.name.clone(), head);
            }
        }
        self.at = 0;
        Ok(())
    }

    /// `loop def f(..) -> (..) =`; gives where the name stands, and the results.
    fn head(&mut self) -> Res<(Span, Vec<Kind>)> {
        self.require("loop")?;
        self.require("def")?;
        let span = self.span();
        let name = self.path()?;
        self.func = LoopFunction { name: name.clone(), ..LoopFunction::default() };
        self.names.clear();
        // Lengths may name any parameter, so they are read when all are known.
        let mut lengths: Vec<(usize, usize)> = Vec::new();
        let params = self.list(|r| r.param(&mut lengths))?;
        self.func.params = params;
        let end = self.at;
        for (k, at) in lengths {
            self.at = at;
            self.func.params[k].len = Some(self.size()?);
        }
        self.at = end;
        let kinds = if self.take_sign("->") { self.list(Self::kind)? } else { Vec::new() };
        self.require("=")?;
        Ok((span, kinds))
    }

    fn function(&mut self) -> Res<()> {
        let (span, kinds) = self.head()?;
        self.func.body = self.block()?;
        if std::mem::take(&mut self.previous) > 0 {
            let message = "`previous` stands in the body of a `lanes` loop itself";
            return Err(Diagnostic::error("J213", span, message));
        }
        let results: Vec<Kind> =
            self.func.body.results.iter().map(|a| self.func.kind_of(*a)).collect();
        if results != kinds {
            let message = format!("`{}` does not return what its head says", self.func.name);
            return Err(Diagnostic::error("J214", span, message));
        }
        self.out.funcs.push(std::mem::take(&mut self.func));
        Ok(())
    }

    fn param(&mut self, lengths: &mut Vec<(usize, usize)>) -> Res<Param> {
        let name = self.name()?;
        self.require(":")?;
        let role = match self.word() {
            Word::Name(n) if n == "in" => Some(Role::In),
            Word::Name(n) if n == "inout" => Some(Role::InOut),
            Word::Name(n) if n == "out" => Some(Role::Out),
            _ => None,
        };
        let Some(role) = role else {
            let kind = self.kind()?;
            return Ok(Param { value: self.define(name, kind)?, role: Role::In, len: None });
        };
        self.at += 1;
        let cell = self.cell()?;
        self.require("[")?;
        let value = self.define(name, Kind::Buffer(cell))?;
        if !self.sign("]") {
            // Every value so far is a parameter.
            lengths.push((value.index(), self.at));
            while !self.sign("]") && !self.is(&Word::End) {
                self.at += 1;
            }
        }
        self.require("]")?;
        Ok(Param { value, role, len: None })
    }

    /// A polynomial over parameters: `2*n*d - n + 1`.
    fn size(&mut self) -> Res<Size> {
        let mut sum = Size::default();
        let mut negative = self.take_sign("-");
        loop {
            let mut product = Size::constant(1);
            loop {
                product = product
                    * match self.word().clone() {
                        Word::Literal(Literal::I64(k)) => {
                            self.at += 1;
                            Size::constant(k)
                        }
                        _ => Size::var(NVar::new(self.value()?.index())),
                    };
                if !self.take_sign("*") {
                    break;
                }
            }
            sum = if negative { sum - product } else { sum + product };
            negative = self.take_sign("-");
            if !negative && !self.take_sign("+") {
                return Ok(sum);
            }
        }
    }

    // ---- blocks

    fn block(&mut self) -> Res<Block> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error("J002", self.span(), "blocks are nested too deeply"));
        }
        self.require("{")?;
        let mut block = Block::default();
        self.skip_ends();
        while !self.take_sign("}") {
            if self.sign("(") && !self.is_pattern() {
                block.results = self.list(Self::atom)?;
                self.skip_ends();
                self.require("}")?;
                break;
            }
            let stmt = self.stmt()?;
            block.stmts.push(stmt);
            if !self.sign("}") && !self.sign(";") && !self.is(&Word::Newline) {
                return Err(self.expected("the end of the statement"));
            }
            self.skip_ends();
        }
        self.depth -= 1;
        Ok(block)
    }

    /// Whether the parenthesis here closes before a `=`.
    fn is_pattern(&self) -> bool {
        let rest = self.tokens.get(self.at..).unwrap_or_default();
        let close = rest.iter().position(|t| t.word == Word::Sign(")"));
        let after = close.and_then(|k| rest.get(k + 1));
        after.is_some_and(|t| t.word == Word::Sign("="))
    }

    fn kinds(&self, atoms: &[Atom]) -> Vec<Kind> {
        atoms.iter().map(|a| self.func.kind_of(*a)).collect()
    }

    fn stmt(&mut self) -> Res<Stmt> {
        if self.sign("(") {
            let names = self.list(Self::name)?;
            self.require("=")?;
            return self.compound(names);
        }
        if ["for", "lanes", "if", "call"].iter().any(|w| self.next_is_name(w)) {
            return self.compound(Vec::new());
        }
        if self.take_name("check") {
            return self.check();
        }
        if self.take_name("poll") {
            let every = if matches!(self.word(), Word::Literal(_)) { self.number()? } else { 1 };
            let site = self.site(RuntimeErrorKind::Cancelled)?;
            return Ok(Stmt::Poll { every, site });
        }
        if self.take_name("release") {
            let arena = self.arena();
            return Ok(Stmt::Release { mark: self.value()?, arena });
        }
        if self.take_name("fill") {
            let (buffer, cell) = self.buffer()?;
            let len = self.bracketed()?;
            self.require("=")?;
            return Ok(Stmt::Fill { buffer, len, value: self.cell_atom(cell)? });
        }
        if self.take_name("copy") {
            let (dst, cell) = self.buffer()?;
            let len = self.bracketed()?;
            self.require("=")?;
            return Ok(Stmt::CopyCells { dst, src: self.buffer()?.0, len, cell });
        }
        if self.take_name("kernel") {
            return self.kernel();
        }
        let name = self.name()?;
        if self.sign("[") {
            self.at -= 1;
            let (buffer, cell) = self.buffer()?;
            let index = self.bracketed()?;
            self.require("=")?;
            return Ok(Stmt::Store { buffer, index, value: self.cell_atom(cell)? });
        }
        let kind = if self.take_sign(":") { Some(self.kind()?) } else { None };
        self.require("=")?;
        self.simple(name, kind)
    }

    fn arena(&mut self) -> Arena {
        if self.take_name("tape") { Arena::Tape } else { Arena::Temp }
    }

    fn bracketed(&mut self) -> Res<Atom> {
        self.require("[")?;
        let index = self.index()?;
        self.require("]")?;
        Ok(index)
    }

    /// What may be stored in a cell.
    fn cell_atom(&mut self, cell: Cell) -> Res<Atom> {
        let span = self.span();
        let atom = self.atom()?;
        if !cell.holds(self.func.kind_of(atom)) {
            return Err(Diagnostic::error("J202", span, format!("{cell:?} is expected")));
        }
        Ok(atom)
    }

    /// `name = ..` with one result.
    fn simple(&mut self, name: String, kind: Option<Kind>) -> Res<Stmt> {
        if self.take_name("mark") {
            let arena = self.arena();
            return Ok(Stmt::Mark { dst: self.define(name, Kind::I64)?, arena });
        }
        if self.take_name("alloc") {
            let arena = self.arena();
            let cell = self.cell()?;
            let len = self.bracketed()?;
            let site = self.site(RuntimeErrorKind::Memory)?;
            let dst = self.define(name, Kind::Buffer(cell))?;
            return Ok(Stmt::Alloc { dst, cell, len, arena, site });
        }
        if self.take_name("previous") {
            let src = self.atom_of(Kind::F64)?;
            self.require("else")?;
            let Some(first @ Literal::F64(_)) = self.literal() else {
                return Err(self.expected("a float that is written down"));
            };
            self.previous += 1;
            return Ok(Stmt::Previous { dst: self.define(name, Kind::F64)?, src, first });
        }
        let call = matches!(self.tokens.get(self.at + 1), Some(t) if t.word == Word::Sign("("));
        if let (Word::Name(prim), true) = (self.word().clone(), call) {
            self.at += 1;
            let args = self.list(Self::atom)?;
            return self.prim(name, &prim, Syntax::Call, args);
        }
        for prefix in ["-", "!"] {
            if self.sign(prefix) && (prefix == "!" || self.literal_after_sign().is_none()) {
                self.at += 1;
                let arg = self.atom()?;
                return self.prim(name, prefix, Syntax::Prefix, vec![arg]);
            }
        }
        let first = self.atom()?;
        if self.take_sign("[") {
            self.at -= 2;
            let (buffer, cell) = self.buffer()?;
            self.require("[")?;
            let index = self.index()?;
            if self.take_sign("..") {
                self.require("]")?;
                let dst = self.define(name, Kind::Buffer(cell))?;
                return Ok(Stmt::Offset { dst, buffer, index });
            }
            self.require("]")?;
            let kind = match (cell, kind) {
                (Cell::Scalar(scalar), None) => Kind::Scalar(scalar),
                (Cell::Buffer, Some(kind @ Kind::Buffer(_))) | (Cell::Word, Some(kind)) => kind,
                _ => return Err(self.expected("the loaded kind, of a buffer or from a word only")),
            };
            return Ok(Stmt::Load { dst: self.define(name, kind)?, buffer, index });
        }
        if let Word::Sign(operator) = *self.word()
            && !matches!(operator, ";" | "}")
        {
            self.at += 1;
            let second = self.atom()?;
            return self.prim(name, operator, Syntax::Infix, vec![first, second]);
        }
        let kind = self.func.kind_of(first);
        Ok(Stmt::Copy { dst: self.define(name, kind)?, src: first })
    }

    fn literal_after_sign(&self) -> Option<Literal> {
        match self.tokens.get(self.at + 1).map(|t| &t.word) {
            Some(Word::Literal(l)) => Some(*l),
            _ => None,
        }
    }

    fn prim(&mut self, dst: String, text: &str, syntax: Syntax, args: Vec<Atom>) -> Res<Stmt> {
        let mut types = Vec::with_capacity(args.len());
        for a in &args {
            types.push(match self.func.kind_of(*a) {
                Kind::Scalar(scalar) => scalar.ty(),
                Kind::Buffer(_) => return Err(self.expected("scalars")),
            });
        }
        let Some(prim) = Prim::resolve(text, syntax, &types) else {
            let message = format!("there is no primitive `{text}` for these operands");
            return Err(Diagnostic::error("J012", self.span(), message));
        };
        let kind = Kind::Scalar(prim.row().result);
        Ok(Stmt::Prim { dst: self.define(dst, kind)?, prim, args })
    }

    /// How many iterations of a loop are taken at once.
    fn vector(&mut self) -> Res<Option<Vector>> {
        if !self.take_name("vector") {
            return Ok(None);
        }
        let width = self.number()?;
        if ![2, 4, LANES as u32].contains(&width) {
            return Err(self.expected("`vector 2`, `vector 4` or `vector 8` before it"));
        }
        let masked = self.take_name("masked");
        let stores_last = self.take_name("stores");
        if stores_last && !self.take_name("last") {
            return Err(self.expected("`stores last`"));
        }
        Ok(Some(Vector { width, masked, stores_last }))
    }

    /// From which length on a range may be cut.
    fn shares(&mut self) -> Res<Option<u32>> {
        self.take_name("shares").then(|| self.number()).transpose()
    }

    /// A loop, branch or call, with the names of its results.
    fn compound(&mut self, names: Vec<String>) -> Res<Stmt> {
        if self.take_name("for") {
            let word = self.name()?;
            let Some(order) = Order::ALL.into_iter().find(|order| order.keyword() == word) else {
                return Err(self.expected("`up`, `down`, `par` or `while` before it"));
            };
            let vector = self.vector()?;
            let (index, low, high) = self.range()?;
            let carry = if self.take_name("carry") {
                self.list(|r| {
                    let name = r.name()?;
                    r.require("=")?;
                    let init = r.atom()?;
                    let kind = r.func.kind_of(init);
                    Ok((r.define(name, kind)?, init))
                })?
            } else {
                Vec::new()
            };
            let body = self.block()?;
            let kinds: Vec<Kind> = carry.iter().map(|(v, _)| self.func.values[*v].kind).collect();
            self.same_kinds(&body, &kinds)?;
            let dst = self.define_all(names, &kinds)?;
            if order == Order::While && kinds.first() != Some(&Kind::BOOL) {
                return Err(self.expected("a first carry that is true or false, before it"));
            }
            let carries = !carry.is_empty();
            let read = For { dst, order, vector, index, low, high, carry, body };
            if vector.is_some() && (carries || order == Order::Down) {
                let sums = sums_in_order(&read);
                let of_floats = |sums: Vec<Sum>| sums.iter().all(|s| kinds[s.number] == Kind::F64);
                if !sums.is_some_and(of_floats) && conjunction(&read).is_none() {
                    let what = "a loop without carries, of sums, or of a conjunction, before it";
                    return Err(self.expected(what));
                }
            }
            return Ok(Stmt::from(read));
        }
        if self.take_name("lanes") {
            let vector = self.vector()?;
            if vector.is_some_and(|v| v.width as usize != LANES) {
                return Err(self.expected("`vector 8` before it"));
            }
            let (index, low, high) = self.range()?;
            self.require("carry")?;
            let carry = self.list(|r| {
                let name = r.name()?;
                r.define(name, Kind::F64)
            })?;
            let body = self.block()?;
            self.previous -= body.previous().count();
            let kinds = vec![Kind::F64; carry.len()];
            self.same_kinds(&body, &kinds)?;
            let dst = self.define_all(names, &kinds)?;
            return Ok(Stmt::from(Lanes { dst, vector, index, low, high, carry, body }));
        }
        if self.take_name("if") {
            let cond = self.atom_of(Kind::BOOL)?;
            let then = self.block()?;
            self.skip_newlines();
            self.require("else")?;
            let other = self.block()?;
            let kinds = self.kinds(&then.results);
            self.same_kinds(&other, &kinds)?;
            let dst = self.define_all(names, &kinds)?;
            return Ok(Stmt::If { dst, cond, then, other });
        }
        self.require("call")?;
        let span = self.span();
        let name = self.path()?;
        let args = self.list(Self::atom)?;
        let Some(Head { id: func, params, results }) = self.funcs.get(&name).cloned() else {
            return Err(Diagnostic::error("J014", span, format!("`{name}` is not defined")));
        };
        if self.kinds(&args) != params {
            let message = format!("these are not the arguments of `{name}`");
            return Err(Diagnostic::error("J210", span, message));
        }
        let shares = self.shares()?;
        let is_range = params.ends_with(&[Kind::I64; 2]) && results.is_empty();
        if shares.is_some() && !is_range {
            let message = format!("`{name}` takes no range, or gives results");
            return Err(Diagnostic::error("J210", span, message));
        }
        let dst = self.define_all(names, &results)?;
        Ok(Stmt::Call { dst, func, args, shares })
    }

    fn kernel(&mut self) -> Res<Stmt> {
        let span = self.span();
        let name = self.name()?;
        let Some(kernel) = Kernel::find(&name) else {
            return Err(Diagnostic::error("J014", span, format!("there is no kernel `{name}`")));
        };
        let args = self.list(Self::atom)?;
        let wanted: Vec<Kind> = kernel.row().params.iter().map(|p| p.kind).collect();
        if self.kinds(&args) != wanted {
            let message = format!("these are not the arguments of the kernel `{name}`");
            return Err(Diagnostic::error("J210", span, message));
        }
        Ok(Stmt::Kernel { kernel, args })
    }

    fn same_kinds(&self, block: &Block, kinds: &[Kind]) -> Res<()> {
        if self.kinds(&block.results) == kinds {
            return Ok(());
        }
        Err(Diagnostic::error("J213", self.span(), "the block's results are of other kinds"))
    }

    fn range(&mut self) -> Res<(Value, Atom, Atom)> {
        self.require("(")?;
        let name = self.name()?;
        self.require("in")?;
        let low = self.index()?;
        self.require("..")?;
        let high = self.index()?;
        self.require(")")?;
        Ok((self.define(name, Kind::I64)?, low, high))
    }

    fn check(&mut self) -> Res<Stmt> {
        let kind = match self.word() {
            Word::Name(n) => RuntimeErrorKind::ALL.into_iter().find(|k| k.code() == n),
            _ => None,
        };
        self.at += kind.is_some() as usize;
        let a = self.index()?;
        let check = if self.take_sign("<") {
            Check::Below(a, self.index()?)
        } else if self.take_sign("..+") {
            let len = self.index()?;
            self.require("<=")?;
            Check::Within(a, len, self.index()?)
        } else if self.take_sign(">=") {
            self.zero()?;
            Check::NonNegative(a)
        } else if self.take_sign("==") {
            Check::Equal(a, self.index()?)
        } else if self.take_sign("!=") {
            self.zero()?;
            Check::NonZero(a)
        } else {
            return Err(self.expected("`<`, `..+`, `>=`, `==` or `!=`"));
        };
        let site = self.site(kind.unwrap_or(check.usual_kind()))?;
        Ok(Stmt::Check { check, site })
    }

    fn zero(&mut self) -> Res<()> {
        match self.literal() {
            Some(Literal::I64(0)) => Ok(()),
            _ => Err(self.expected("`0`")),
        }
    }

    /// ` @file:start..end`, or nothing.
    fn site(&mut self, kind: RuntimeErrorKind) -> Res<Site> {
        let mut span = Span::NONE;
        if self.take_sign("@") {
            let file = self.number()?;
            self.require(":")?;
            let start = self.number()?;
            self.require("..")?;
            span = Span { file, start, end: self.number()? };
        }
        let out = &mut self.out;
        Ok(*self.sites.entry((kind, span)).or_insert_with(|| out.sites.push((kind, span))))
    }

    fn number(&mut self) -> Res<u32> {
        match self.literal() {
            Some(Literal::I64(k)) => u32::try_from(k).map_err(|_| self.expected("a number")),
            _ => Err(self.expected("a number")),
        }
    }
}
