//! One name per expression, and loop-invariant code motion.
//!
//! Every value has a *level*: the number of loops around its definition. An operation whose operands
//! all have a lower level than the loop it stands in is invariant.
//!
//! - **Total operations** (arithmetic that cannot fail, addresses) move before the outermost loop
//!   in which they are invariant. From an arm of a branch only what costs next to nothing moves,
//!   because the arm may not run.
//! - **Loads** from a parameter at the index of a loop over its whole length move likewise.
//! - **Other loads of constant buffers, and checks,** may not run when the loop does not: they move before
//!   the loop under `if low < high`, a check only if nothing before it in the body can fail, a
//!   load only if nothing before it that stays in the body may be what says that it is in range: a
//!   check, in whatever block, or a call, which may have checks.
//!
//! The same operation on the same operands is done once in a block and the blocks inside it, and so are integers that are
//! [the same sum](crate::analysis::linear) of others: `(k + 1) + j` and `(k + j) + 1` have one name.

use cranelift_entity::{EntityRef, SecondaryMap};
use jut_ir::Literal;
use jut_ir::hash::{HashMap, HashSet};
use jut_ir::in_place::InPlace;
use jut_ir::prim::{self, Lowering, Opcode, Prim};

use crate::analysis::Roots;
use crate::analysis::effects;
use crate::analysis::linear::{Linear, Linears};
use crate::form::{Atom, Block, Kind, LoopFunction, Stmt, Value};
use crate::values::Values;
use crate::visit::Counted;

/// Runs the walk.
pub(super) fn run(func: &mut LoopFunction) {
    let mut lengths = SecondaryMap::new();
    for p in &func.params {
        let len = p.len.as_ref().and_then(|len| len.as_var());
        if let Some(of) = len.and_then(|k| func.params.get(k.index())) {
            lengths[p.value] = Some(of.value);
        }
    }
    let mut walk = Motion {
        below: SecondaryMap::new(),
        lengths,
        roots: Roots::of(func),
        values: Values::new(&mut func.values),
        level: SecondaryMap::new(),
        subst: SecondaryMap::new(),
        sums: Linears::default(),
        known: HashMap::default(),
        logs: Vec::new(),
        log_of_level: vec![0],
        moved: vec![Vec::new()],
        body: Body::default(),
    };
    let body = std::mem::take(&mut func.body);
    func.body = walk.block(body);
}

/// A pure operation.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    /// With at most three operands, as all primitives have.
    Prim(Prim, [Option<Atom>; 3]),
    /// A sum of integers, in whatever order.
    Sum(Linear),
    Offset(Value, Atom),
    /// The words of a box hold values of different kinds in different constructors.
    Load(Value, Atom, Kind),
}

/// What moves before a loop.
enum Moved {
    /// Anyhow.
    Always(Stmt),
    /// If the loop runs.
    IfRuns(Stmt),
}

/// Where in a loop body the walk is.
#[derive(Clone, Copy, Default)]
struct Body {
    /// Number of branches between the body and here.
    arms: usize,
    /// Whether something that can fail stays in the body before here.
    fails: bool,
    /// Whether something does that may guard what stands behind it.
    guards: bool,
}

struct Motion<'a> {
    roots: Roots,
    values: Values<'a>,
    level: SecondaryMap<Value, usize>,
    /// Of the index of a loop that begins at 0: where it ends.
    below: SecondaryMap<Value, Option<Atom>>,
    /// Of a parameter whose length is another parameter: that one.
    lengths: SecondaryMap<Value, Option<Value>>,
    subst: SecondaryMap<Value, Option<Atom>>,
    sums: Linears,
    known: HashMap<Key, Value>,
    /// Per block around here, what it has made known.
    logs: Vec<Vec<Key>>,
    /// Per level, the number of the innermost block of that level.
    log_of_level: Vec<usize>,
    /// Per level, what has moved there and waits for the statement that it left.
    moved: Vec<Vec<Moved>>,
    body: Body,
}

impl Body {
    /// A statement stays in the body.
    fn note(&mut self, stmt: &Stmt) {
        self.fails |= effects::can_fail(stmt);
        self.guards |= effects::is_guard(stmt);
    }
}

impl Motion<'_> {
    fn depth(&self) -> usize {
        self.moved.len() - 1
    }

    fn atom(&self, a: &mut Atom) {
        if let Atom::Value(v) = *a
            && let Some(Some(new)) = self.subst.get(v)
        {
            *a = *new;
        }
    }

    fn level_of(&self, a: Atom) -> usize {
        match a {
            Atom::Value(v) => self.level[v],
            Atom::Lit(_) => 0,
        }
    }

    fn block(&mut self, mut block: Block) -> Block {
        let depth = self.depth();
        self.logs.push(Vec::new());
        let outer = std::mem::replace(&mut self.log_of_level[depth], self.logs.len() - 1);
        let mut out = InPlace::new(block.stmts, super::filler);
        while let Some(stmt) = out.take_next() {
            let stmt = self.stmt(stmt);
            let moved = std::mem::take(&mut self.moved[depth]);
            if let (Some(stmt), false) = (&stmt, moved.is_empty()) {
                self.place(moved, stmt, &mut out);
            }
            out.extend(stmt);
        }
        block.results.iter_mut().for_each(|a| self.atom(a));
        let made_known = self.logs.pop().unwrap_or_default();
        if self.logs.is_empty() {
            self.known.clear();
        }
        for key in made_known.iter().filter(|_| !self.logs.is_empty()) {
            self.known.remove(key);
        }
        self.log_of_level[depth] = outer;
        Block { stmts: out.finish(), results: block.results }
    }

    /// A loop body.
    fn loop_body(&mut self, body: Block, bound: &[Value]) -> Block {
        self.moved.push(Vec::new());
        self.log_of_level.push(0);
        let depth = self.depth();
        bound.iter().for_each(|v| self.level[*v] = depth);
        let outer = std::mem::take(&mut self.body);
        let body = self.block(body);
        self.body = outer;
        self.moved.pop();
        self.log_of_level.pop();
        body
    }

    fn arm(&mut self, block: Block) -> Block {
        self.body.arms += 1;
        let block = self.block(block);
        self.body.arms -= 1;
        block
    }

    /// A statement with its operands renamed, unless it is known or has moved.
    fn stmt(&mut self, mut stmt: Stmt) -> Option<Stmt> {
        stmt.operands_mut(&mut |a| self.atom(a));
        let depth = self.depth();
        match stmt {
            Stmt::Copy { dst, src } => {
                self.subst[dst] = Some(src);
                None
            }
            Stmt::Prim { dst, prim, ref args } if args.len() <= 3 => {
                let key = match self.sums.sum(&stmt) {
                    Some(sum) => {
                        if let Some(atom) = sum.as_atom() {
                            self.subst[dst] = Some(atom);
                            return None;
                        }
                        self.sums.learn(&stmt);
                        Key::Sum(sum)
                    }
                    None => Key::Prim(prim, [0, 1, 2].map(|k| args.get(k).copied())),
                };
                let level = args.iter().map(|a| self.level_of(*a)).max().unwrap_or(0);
                let fails = prim.can_fail_by(args.last().and_then(|a| a.integer()));
                let free = !fails && (self.body.arms == 0 || is_cheap(prim));
                self.pure(dst, key, stmt, if free { level } else { depth })
            }
            Stmt::Offset { dst, buffer, index } => {
                let level = self.level[buffer].max(self.level_of(index));
                self.pure(dst, Key::Offset(buffer, index), stmt, level)
            }
            Stmt::Load { dst, buffer, index } if self.roots.is_constant(buffer) => {
                let key = Key::Load(buffer, index, self.values.kind(dst));
                let level = self.level[buffer].max(self.level_of(index));
                let scalar = !matches!(self.values.kind(dst), Kind::Buffer(_));
                if self.is_in_range(buffer, index) {
                    return self.pure(dst, key, stmt, level);
                }
                let reached = self.body.arms == 0 && !self.body.guards;
                if level >= depth || !scalar || !reached || self.known.contains_key(&key) {
                    return self.pure(dst, key, stmt, depth);
                }
                // Known in the body only: where the loop does not run, nothing is loaded.
                self.learn(key, dst, depth);
                self.level[dst] = depth - 1;
                self.moved[depth - 1].push(Moved::IfRuns(stmt));
                None
            }
            Stmt::Check { check, .. } => {
                let level = check.atoms().into_iter().map(|a| self.level_of(a)).max().unwrap_or(0);
                if level < depth && self.body.arms == 0 && !self.body.fails {
                    self.moved[depth - 1].push(Moved::IfRuns(stmt));
                    return None;
                }
                self.body.note(&stmt);
                Some(stmt)
            }
            mut stmt => {
                let names = stmt.entered();
                let is_loop = stmt.is_loop();
                if let Some(range) = stmt.counted() {
                    self.note_range(range);
                }
                for block in stmt.blocks_mut() {
                    let inner = std::mem::take(block);
                    *block = if is_loop { self.loop_body(inner, &names) } else { self.arm(inner) };
                }
                self.keep(stmt)
            }
        }
    }

    fn note_range(&mut self, range: Counted) {
        if range.low == Atom::Lit(Literal::I64(0)) {
            self.below[range.index] = Some(range.high);
        }
    }

    /// Whether a cell is in range wherever its index is bound: the index of a loop over the length
    /// of a parameter.
    fn is_in_range(&self, buffer: Value, index: Atom) -> bool {
        let Atom::Value(index) = index else { return false };
        match (self.below.get(index), self.lengths.get(buffer)) {
            (Some(Some(high)), Some(Some(len))) => *high == Atom::Value(*len),
            _ => false,
        }
    }

    /// A statement that stays where it is.
    fn keep(&mut self, stmt: Stmt) -> Option<Stmt> {
        let depth = self.depth();
        stmt.bound().iter().for_each(|v| self.level[*v] = depth);
        self.body.note(&stmt);
        Some(stmt)
    }

    fn learn(&mut self, key: Key, dst: Value, level: usize) {
        self.level[dst] = level;
        let log = self.log_of_level[level];
        if let Some(log) = self.logs.get_mut(log) {
            log.push(key.clone());
            self.known.insert(key, dst);
        }
    }

    /// A pure statement that may stand at a level.
    fn pure(&mut self, dst: Value, key: Key, stmt: Stmt, level: usize) -> Option<Stmt> {
        if let Some(known) = self.known.get(&key) {
            self.subst[dst] = Some(Atom::Value(*known));
            return None;
        }
        self.learn(key, dst, level);
        if level == self.depth() {
            return Some(stmt);
        }
        self.moved[level].push(Moved::Always(stmt));
        None
    }

    /// Writes what has moved out of a statement before it.
    fn place(&mut self, moved: Vec<Moved>, stmt: &Stmt, out: &mut InPlace<Stmt>) {
        let mut guarded: Vec<Stmt> = Vec::new();
        let mut loaded: HashSet<Value> = HashSet::default();
        let range = stmt.counted();
        for m in moved {
            match m {
                Moved::Always(s) => {
                    let mut depends = false;
                    s.operands(&mut |a| {
                        depends |= matches!(a, Atom::Value(v) if loaded.contains(&v));
                    });
                    if depends {
                        loaded.clear();
                        self.guard(std::mem::take(&mut guarded), range, out);
                    }
                    out.push(s);
                }
                Moved::IfRuns(s) => {
                    loaded.extend(s.bound());
                    guarded.push(s);
                }
            }
        }
        self.guard(guarded, range, out);
    }

    /// What says whether a loop runs at all; `None` if it does in any case.
    fn runs(
        &mut self,
        Counted { low, high, go, .. }: Counted,
        out: &mut InPlace<Stmt>,
    ) -> Option<Atom> {
        if let (Atom::Lit(Literal::I64(low)), Atom::Lit(Literal::I64(high))) = (low, high)
            && low < high
        {
            return go;
        }
        let mut prim = |prim, args| {
            let dst = self.values.fresh("runs", Kind::BOOL);
            self.level[dst] = self.moved.len() - 1;
            out.push(Stmt::Prim { dst, prim, args });
            Atom::Value(dst)
        };
        let any = prim(prim::ILT, vec![low, high]);
        Some(match go {
            Some(go) => prim(prim::AND, vec![any, go]),
            None => any,
        })
    }

    /// `(a, ..) = if low < high { .. (a', ..) } else { (0, ..) }`.
    fn guard(&mut self, mut stmts: Vec<Stmt>, range: Option<Counted>, out: &mut InPlace<Stmt>) {
        // They stay in this body: what comes behind them must not pass them.
        stmts.iter().for_each(|stmt| self.body.note(stmt));
        let Some(range) = range.filter(|_| !stmts.is_empty()) else {
            out.extend(stmts);
            return;
        };
        let Some(runs) = self.runs(range, out) else {
            out.extend(stmts);
            return;
        };
        let (mut dst, mut then, mut other) = (Vec::new(), Vec::new(), Vec::new());
        let mut inside: HashMap<Value, Value> = HashMap::default();
        for stmt in &mut stmts {
            stmt.operands_mut(&mut |a| {
                if let Atom::Value(v) = *a
                    && let Some(inner) = inside.get(&v)
                {
                    *a = Atom::Value(*inner);
                }
            });
            if let Stmt::Load { dst: loaded, .. } = stmt {
                let (inner, kind) = (self.values.like(*loaded), self.values.kind(*loaded));
                self.level[inner] = self.depth();
                inside.insert(*loaded, inner);
                dst.push(std::mem::replace(loaded, inner));
                then.push(Atom::Value(inner));
                other.push(Atom::Lit(match kind {
                    Kind::Scalar(scalar) => scalar.zero(),
                    Kind::Buffer(_) => Literal::I64(0),
                }));
            }
        }
        out.push(Stmt::If {
            dst,
            cond: runs,
            then: Block { stmts, results: then },
            other: Block { stmts: Vec::new(), results: other },
        });
    }
}

/// Whether doing an operation in vain costs next to nothing.
fn is_cheap(prim: Prim) -> bool {
    match prim.row().lowering {
        Lowering::Opcode(op) => !matches!(op, Opcode::FDiv | Opcode::FSqrt),
        Lowering::Runtime(_) => false,
    }
}
