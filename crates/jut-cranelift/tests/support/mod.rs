//! Writing loop programs by hand, for tests.
#![allow(dead_code)] // every test binary uses its own part

use jut_ir::ir::Literal;
use jut_ir::prim::Prim;
use jut_ir::{RuntimeErrorKind, Span};
use jut_loop::form::*;

pub fn f(x: f64) -> Atom {
    Atom::Lit(Literal::F64(x))
}

pub fn i(x: i64) -> Atom {
    Atom::Lit(Literal::I64(x))
}

pub fn b(x: bool) -> Atom {
    Atom::Lit(Literal::Bool(x))
}

pub const F64S: Kind = Kind::Buffer(Cell::F64);
pub const I64S: Kind = Kind::Buffer(Cell::I64);
pub const BOOLS: Kind = Kind::Buffer(Cell::BOOL);

/// A function that is being written; statements go to the innermost open block.
#[derive(Default)]
pub struct Writer {
    function: LoopFunction,
    open: Vec<Vec<Stmt>>,
}

impl Writer {
    pub fn new(name: &str) -> Writer {
        let function = LoopFunction { name: name.to_owned(), ..Default::default() };
        Writer { function, open: vec![Vec::new()] }
    }

    pub fn value(&mut self, kind: Kind) -> Value {
        let name = format!("v{}", self.function.values.len()).into();
        self.function.values.push(ValueData { name, kind })
    }

    pub fn param(&mut self, kind: Kind, role: Role) -> Value {
        let value = self.value(kind);
        self.function.params.push(Param { value, role, len: None });
        value
    }

    pub fn input(&mut self, kind: Kind) -> Value {
        self.param(kind, Role::In)
    }

    pub fn stmt(&mut self, stmt: Stmt) {
        self.open.last_mut().unwrap().push(stmt);
    }

    pub fn prim(&mut self, prim: Prim, args: &[Atom]) -> Value {
        let dst = self.value(Kind::Scalar(prim.row().result));
        self.stmt(Stmt::Prim { dst, prim, args: args.to_vec() });
        dst
    }

    pub fn load(&mut self, kind: Kind, buffer: Value, index: Atom) -> Value {
        let dst = self.value(kind);
        self.stmt(Stmt::Load { dst, buffer, index });
        dst
    }

    pub fn store(&mut self, buffer: Value, index: Atom, value: Atom) {
        self.stmt(Stmt::Store { buffer, index, value });
    }

    pub fn alloc(&mut self, cell: Cell, len: Atom, arena: Arena, site: Site) -> Value {
        let dst = self.value(Kind::Buffer(cell));
        self.stmt(Stmt::Alloc { dst, cell, len, arena, site });
        dst
    }

    pub fn block(&mut self, write: impl FnOnce(&mut Writer) -> Vec<Atom>) -> Block {
        self.open.push(Vec::new());
        let results = write(self);
        Block { stmts: self.open.pop().unwrap(), results }
    }

    pub fn for_(
        &mut self,
        order: Order,
        (low, high): (Atom, Atom),
        carry: &[(Kind, Atom)],
        body: impl FnOnce(&mut Writer, Value, &[Value]) -> Vec<Atom>,
    ) -> Vec<Value> {
        let index = self.value(Kind::I64);
        let dst: Vec<Value> = carry.iter().map(|(kind, _)| self.value(*kind)).collect();
        let names: Vec<Value> = carry.iter().map(|(kind, _)| self.value(*kind)).collect();
        let body = self.block(|w| body(w, index, &names));
        let carry = names.into_iter().zip(carry.iter().map(|(_, atom)| *atom)).collect();
        self.stmt(Stmt::from(For {
            dst: dst.clone(),
            vector: None,
            order,
            index,
            low,
            high,
            carry,
            body,
        }));
        dst
    }

    pub fn lanes(
        &mut self,
        (low, high): (Atom, Atom),
        sums: usize,
        body: impl FnOnce(&mut Writer, Value, &[Value]) -> Vec<Atom>,
    ) -> Vec<Value> {
        let index = self.value(Kind::I64);
        let dst: Vec<Value> = (0..sums).map(|_| self.value(Kind::F64)).collect();
        let carry: Vec<Value> = (0..sums).map(|_| self.value(Kind::F64)).collect();
        let body = self.block(|w| body(w, index, &carry));
        let lanes = Lanes { dst: dst.clone(), vector: None, index, low, high, carry, body };
        self.stmt(Stmt::from(lanes));
        dst
    }

    pub fn if_(
        &mut self,
        cond: Atom,
        kinds: &[Kind],
        then: impl FnOnce(&mut Writer) -> Vec<Atom>,
        other: impl FnOnce(&mut Writer) -> Vec<Atom>,
    ) -> Vec<Value> {
        let dst: Vec<Value> = kinds.iter().map(|kind| self.value(*kind)).collect();
        let then = self.block(then);
        let other = self.block(other);
        self.stmt(Stmt::If { dst: dst.clone(), cond, then, other });
        dst
    }

    pub fn call(&mut self, func: LoopFuncId, kinds: &[Kind], args: &[Atom]) -> Vec<Value> {
        let dst: Vec<Value> = kinds.iter().map(|kind| self.value(*kind)).collect();
        self.stmt(Stmt::Call { dst: dst.clone(), func, args: args.to_vec(), shares: None });
        dst
    }

    pub fn check(&mut self, check: Check, site: Site) {
        self.stmt(Stmt::Check { check, site });
    }

    pub fn finish(mut self, results: &[Atom]) -> LoopFunction {
        let stmts = self.open.pop().unwrap();
        assert!(self.open.is_empty());
        self.function.body = Block { stmts, results: results.to_vec() };
        self.function
    }
}

/// A program of one function.
pub fn program(function: LoopFunction) -> LoopProgram {
    let mut program = LoopProgram::default();
    program.funcs.push(function);
    program
}

/// A program with one place per kind of error, in the order of their codes.
pub fn with_sites(mut program: LoopProgram) -> LoopProgram {
    for kind in RuntimeErrorKind::ALL {
        program.sites.push((kind, Span::default()));
    }
    program
}

/// The place of [`with_sites`] for a kind of error.
pub fn site(kind: RuntimeErrorKind) -> Site {
    use cranelift_entity::EntityRef;
    Site::new(kind as usize - 1)
}

/// Sums in the fixed order, as the loop form defines them.
pub fn lanes_sum(terms: &[f64]) -> f64 {
    let mut sum = 0.0;
    for block in terms.chunks(BLOCK as usize) {
        let mut lanes = [0.0; LANES];
        for (k, term) in block.iter().enumerate() {
            lanes[k % LANES] += term;
        }
        let mut half = LANES / 2;
        while half > 0 {
            for k in 0..half {
                lanes[k] += lanes[k + half];
            }
            half /= 2;
        }
        sum += lanes[0];
    }
    sum
}

/// Numbers that look random and are the same in every run.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn word(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn float(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    }

    pub fn floats(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.float()).collect()
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.word() % n
    }
}
