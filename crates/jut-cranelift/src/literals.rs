//! Float literals of loops stand before them.
//!
//! No instruction holds a float, so each time that one is written costs an instruction that makes it. In
//! the outermost loop around it the first few become values before the loop, and stay in registers. That
//! is the machine's matter, so it is decided here; what else does not change in a loop has moved out
//! of it in the loop form.
//!
//! To negate is to change the sign bit. x86 has no instruction for that, and makes `-0.0`, whose other bits are 0, each time: so there that is a
//! literal of a loop that negates.
//!
//! *Cost*: a look at each statement of an outermost loop.

use cranelift_codegen::ir::{self, InstBuilder};
use cranelift_frontend::FunctionBuilder;
use jut_ir::hash::HashMap;
use jut_ir::ir::Literal;
use jut_ir::prim;
use jut_loop::form::{Atom, Block, Stmt};
use target_lexicon::Architecture;

/// The sign bit alone.
const SIGN: f64 = -0.0;

/// Literals that are kept in registers at once.
const MOST: usize = 8;

/// The literals that stand before the loops around the current statement.
pub(crate) struct Literals {
    /// Number of these loops.
    depth: u32,
    /// By their bits.
    values: HashMap<u64, ir::Value>,
    /// Whether the machine is an x86, which negates by a literal.
    pub(crate) x86: bool,
}

impl Literals {
    pub(crate) fn of(architecture: Architecture) -> Literals {
        let x86 = architecture == Architecture::X86_64;
        Literals { depth: 0, values: HashMap::default(), x86 }
    }

    /// What stands before the loop for that.
    pub(crate) fn negate(&self) -> Option<ir::Value> {
        if self.x86 { self.get(SIGN) } else { None }
    }

    /// The literal that a number of 64 bits is negated by.
    pub(crate) fn sign(&self) -> Option<Atom> {
        self.x86.then_some(Atom::Lit(Literal::F64(SIGN)))
    }

    pub(crate) fn get(&self, x: f64) -> Option<ir::Value> {
        if self.values.is_empty() { None } else { self.values.get(&x.to_bits()).copied() }
    }

    /// Writes the literals of a loop that begins after this.
    pub(crate) fn enter_loop(&mut self, body: &Block, builder: &mut FunctionBuilder<'_>) {
        if self.depth == 0 {
            let mut found = Vec::new();
            literals(body, self.sign(), &mut found);
            for bits in found {
                self.values.insert(bits, builder.ins().f64const(f64::from_bits(bits)));
            }
        }
        self.depth += 1;
    }

    /// Ends what [`Literals::enter_loop`] began.
    pub(crate) fn leave_loop(&mut self) {
        self.depth -= 1;
        if self.depth == 0 {
            self.values.clear();
        }
    }
}

/// The first float literals of a loop, as bits, those of its inner blocks behind its own; zero is as
/// cheap as a register.
fn literals(body: &Block, sign: Option<Atom>, found: &mut Vec<u64>) {
    let mut add = |atom: Atom| {
        if let Atom::Lit(Literal::F64(x)) = atom {
            let bits = x.to_bits();
            if bits != 0 && found.len() < MOST && !found.contains(&bits) {
                found.push(bits);
            }
        }
    };
    for stmt in &body.stmts {
        if let Stmt::Prim { .. } | Stmt::Store { .. } = stmt {
            stmt.operands(&mut add);
        }
        if let Stmt::Prim { prim: prim::NEG, .. } = stmt {
            sign.into_iter().for_each(&mut add);
        }
    }
    for stmt in &body.stmts {
        stmt.blocks().into_iter().for_each(|inner| literals(inner, sign, found));
    }
}
