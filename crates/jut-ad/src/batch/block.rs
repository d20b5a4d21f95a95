//! A block over a batch: what stays, what is done as a whole, and loops over the batch for the rest.
//!
//! The statements of an element are read in order. One that reads nothing of the batch stays. One with a rule for the
//! whole batch needs its operands as wholes: if the open loop makes one of them, that loop is closed there, and gives what later
//! statements read. All others go into the open loop.
//!
//! ```text
//! u = a * x; s = dot(w, v); t = u + s      s reads nothing of the open loop, so both are in one:
//!                                          s* = matvec(v*, w);  t* = scan par (k < b) (x <- x*, s <- s*) { u = a * x; t = u + s; t }
//! ```
//!
//! *Requires*: names that are bound once. *Ensures*: every element's statements in their order. *Cost*: one walk.

use super::Known;
use crate::{Derivatives, Mask};
use jut_ir::build::FunctionBuilder;
use jut_ir::entity::SecondaryMap;
use jut_ir::visit::Use;
use jut_ir::*;
use std::collections::HashMap;

/// A function on its way to a batch.
pub(super) struct Batcher<'d> {
    pub d: &'d mut Derivatives,
    pub known: &'d Known,
    /// The function of an element; what stands for batches is added to it.
    pub b: FunctionBuilder,
    /// How many elements there are, and the number of one in a loop over the batch.
    pub count: NVar,
    pub index: NVar,
    /// What differs from element to element.
    pub varies: SecondaryMap<NVar, bool>,
    /// The batch of what does, where it has been made.
    pub whole: SecondaryMap<NVar, Option<NVar>>,
    lin_whole: SecondaryMap<LVar, Option<LVar>>,
    caps: SecondaryMap<Cap, Option<Cap>>,
    /// Names that types mention.
    pub sized: SecondaryMap<NVar, bool>,
    pub loc: Loc,
    /// Whether there may be more than one loop over the batch.
    pub apart: bool,
    /// How many statements are done for the batch as a whole.
    pub gains: usize,
}

/// What has become of a block so far.
pub(super) struct Part {
    /// What is done.
    pub out: Vec<Stmt>,
    /// The statements of the open loop.
    pub open: Vec<Stmt>,
    /// Whether something by element can fail.
    failed: bool,
    /// The last statement that reads a name, by its number; one more for results.
    last: HashMap<Use, usize>,
    /// The last statement that can fail.
    last_failing: Option<usize>,
}

impl<'d> Batcher<'d> {
    pub fn new(
        d: &'d mut Derivatives,
        known: &'d Known,
        id: FuncId,
        loc: Loc,
        apart: bool,
    ) -> Batcher<'d> {
        let mut b = FunctionBuilder::from_function(d.program.funcs[id].clone());
        let mut sized = SecondaryMap::new();
        let types = (b.func.nvars.values().map(|v| &v.ty))
            .chain(b.func.lvars.values().map(|x| &x.ty))
            .chain(b.func.caps.values().map(|c| &c.ty));
        let defs = b.func.nvars.values().filter_map(|v| v.def.as_ref()).flat_map(Size::names);
        for name in types.flat_map(Type::size_names).chain(defs) {
            sized[name] = true;
        }
        let count = b.nvar("b", Type::I64, loc.span);
        let index = b.nvar("k", Type::I64, loc.span);
        Batcher {
            d,
            known,
            b,
            count,
            index,
            varies: SecondaryMap::new(),
            whole: SecondaryMap::new(),
            lin_whole: SecondaryMap::new(),
            caps: SecondaryMap::new(),
            sized,
            loc,
            apart,
            gains: 0,
        }
    }

    /// A call of the function itself, as its body.
    pub fn call_of(&mut self, id: FuncId) -> Block {
        let f = &self.b.func;
        let args = f.params.iter().map(|v| Atom::Var(*v)).collect();
        let places = f.cap_params.iter().map(|c| Some(Place::root(*c))).collect();
        let call = Call { func: id, args, lin_args: f.lin_params.clone(), places };
        let types: Vec<Type> = f.results.iter().map(|r| r.ty.clone()).collect();
        let linear: Vec<Type> = f.lin_results.iter().map(|r| r.ty.clone()).collect();
        let span = self.loc.span;
        let nl: Vec<NVar> = types.into_iter().map(|ty| self.b.nvar("y", ty, span)).collect();
        let lin: Vec<LVar> = linear.into_iter().map(|ty| self.b.lvar("y", ty, span)).collect();
        let results = nl.iter().map(|v| Atom::Var(*v)).collect();
        let rhs = Rhs::Call(Box::new(call));
        let stmt = Stmt { nl, lin: lin.clone(), rhs, annotated: false, loc: self.loc };
        Block { stmts: vec![stmt], nl: results, lin }
    }

    /// The type of a batch.
    pub fn batch_of(&self, ty: Type) -> Type {
        Type::array(Size::var(self.count), ty)
    }

    /// Makes the signature that of the batch: what is mapped keeps its name, and elements get another.
    pub fn signature(&mut self, mapped: &Mask) {
        let size = Size::var(self.count);
        for k in mapped.positions() {
            let v = self.b.func.params[k];
            let name = self.b.namer.fresh(&self.b.func.nvars[v].name);
            let element = &mut self.b.func.nvars[v];
            let name = std::mem::replace(&mut element.name, name);
            let ty = Type::array(size.clone(), element.ty.clone());
            let whole = VarData { name, ty, def: None, span: element.span };
            let whole = self.b.func.nvars.push(whole);
            self.varies[v] = true;
            self.whole[v] = Some(whole);
            self.b.func.params[k] = whole;
        }
        for k in 0..self.b.func.lin_params.len() {
            let x = self.b.func.lin_params[k];
            let name = self.b.namer.fresh(&self.b.func.lvars[x].name);
            let element = &mut self.b.func.lvars[x];
            let name = std::mem::replace(&mut element.name, name);
            let ty = Type::array(size.clone(), element.ty.clone());
            let whole = LinVarData { name, ty, span: element.span };
            let whole = self.b.func.lvars.push(whole);
            self.lin_whole[x] = Some(whole);
            self.b.func.lin_params[k] = whole;
        }
        for k in 0..self.b.func.cap_params.len() {
            let c = self.b.func.cap_params[k];
            let name = self.b.namer.fresh(&self.b.func.caps[c].name);
            let element = &mut self.b.func.caps[c];
            let name = std::mem::replace(&mut element.name, name);
            let ty = Type::array(size.clone(), element.ty.clone());
            let whole = CapData { name, ty, lanes: false, ..element.clone() };
            let whole = self.b.func.caps.push(whole);
            self.caps[c] = Some(whole);
            self.b.func.cap_params[k] = whole;
        }
        let count = self.count;
        let func = &mut self.b.func;
        func.params.insert(0, count);
        func.size_params += 1;
        for result in &mut func.results {
            result.ty = Type::array(size.clone(), result.ty.clone());
            if let Some(name) = result.name {
                let data = VarData { ty: result.ty.clone(), ..func.nvars[name].clone() };
                result.name = Some(func.nvars.push(data));
            }
        }
        for result in &mut func.lin_results {
            result.ty = Type::array(size.clone(), result.ty.clone());
        }
    }

    /// A block over a batch. A result is a batch if it varies, or if `forced` says so for its position.
    pub fn block(&mut self, block: Block, forced: &dyn Fn(usize) -> bool) -> Block {
        let mut part = self.part(&block);
        let Block { stmts, nl, lin } = block;
        let end = stmts.len();
        for (p, stmt) in stmts.into_iter().enumerate() {
            if let Some(stmt) = self.once(stmt, &mut part)
                && let Some(stmt) = self.as_a_whole(stmt, p, &mut part)
            {
                part.failed |= self.known.fails(&stmt);
                stmt.nl.iter().for_each(|v| self.varies[*v] = true);
                part.open.push(stmt);
            }
        }
        let wanted: Vec<Option<Atom>> = nl
            .iter()
            .enumerate()
            .map(|(k, atom)| {
                let varies = atom.var().is_some_and(|v| self.varies[v]);
                let made = atom.var().is_some_and(|v| varies && self.whole[v].is_some());
                let open = atom.var().is_some_and(|v| varies && self.whole[v].is_none());
                (!open && !made && forced(k)).then_some(*atom)
            })
            .collect();
        let repeated: Vec<Atom> = wanted.iter().flatten().copied().collect();
        let mut repeated = self.close(&mut part, end, &repeated).into_iter();
        let nl = nl.into_iter().zip(&wanted).map(|(atom, wanted)| match (wanted, atom) {
            (Some(_), _) => repeated.next().map_or(atom, Atom::Var),
            (None, Atom::Var(v)) if self.varies[v] => self.whole[v].map_or(atom, Atom::Var),
            _ => atom,
        });
        let nl = nl.collect();
        let lin = lin.into_iter().map(|x| self.lin_whole[x].unwrap_or(x)).collect();
        Block { stmts: part.out, nl, lin }
    }

    fn part(&self, block: &Block) -> Part {
        let mut last = HashMap::new();
        let mut last_failing = None;
        for (p, stmt) in block.stmts.iter().enumerate() {
            stmt.for_each_use(&self.b.func, &mut |name| {
                last.insert(name, p);
            });
            if self.known.fails(stmt) {
                last_failing = Some(p);
            }
        }
        for atom in &block.nl {
            last.extend(atom.var().map(|v| (Use::N(v), block.stmts.len())));
        }
        last.extend(block.lin.iter().map(|x| (Use::L(*x), block.stmts.len())));
        Part { out: Vec::new(), open: Vec::new(), failed: false, last, last_failing }
    }

    /// Whether a statement reads what differs from element to element, or is linear.
    pub fn reads_the_batch(&self, stmt: &Stmt) -> bool {
        let mut found = !stmt.lin.is_empty();
        stmt.for_each_use(&self.b.func, &mut |name| {
            found |= match name {
                Use::N(v) => self.varies[v],
                Use::L(_) => true,
                Use::C(c) => self.caps[c].is_some(),
            }
        });
        found
    }

    /// Leaves a statement as it is, if it is the same for all elements; gives it back if it is not.
    fn once(&mut self, stmt: Stmt, part: &mut Part) -> Option<Stmt> {
        if self.reads_the_batch(&stmt) {
            return self.size_of_all(stmt, part);
        }
        let stays = match (&stmt.rhs, self.known.fails(&stmt)) {
            (Rhs::Check(Check::NonNegative(_) | Check::Exact(..)), true) => !part.failed,
            (_, true) => false,
            // Accesses and stacked results stay behind the checks that cover them.
            (Rhs::Atom(_) | Rhs::Prim(..) | Rhs::Size(..) | Rhs::Tuple(_) | Rhs::Proj(..), _) => {
                true
            }
            _ => !part.failed,
        };
        if stays {
            part.out.push(stmt);
            return None;
        }
        Some(stmt)
    }

    /// A size that all elements have, although it is measured of one.
    fn size_of_all(&mut self, stmt: Stmt, part: &mut Part) -> Option<Stmt> {
        let [v] = stmt.nl[..] else { return Some(stmt) };
        let def = self.b.func.nvars[v].def.clone();
        let Some(def) = def.filter(|def| !def.names().into_iter().any(|name| self.varies[name]))
        else {
            return Some(stmt);
        };
        if self.known.fails(&stmt) {
            return Some(stmt);
        }
        let FunctionBuilder { func, namer } = &mut self.b;
        let size = sizes::operand(func, namer, &def, stmt.loc, &mut part.out);
        part.out.push(Stmt { rhs: Rhs::Atom(size), ..stmt });
        None
    }

    /// Whether a statement has to stand behind the open loop: that makes one of its operands, or checks what it may access.
    pub fn needs_what_is_open(&self, stmt: &Stmt, part: &Part) -> bool {
        let mut found = part.failed && !part.open.is_empty() && !stmt.rhs.blocks().is_empty();
        stmt.for_each_use(&self.b.func, &mut |name| {
            if let Use::N(v) = name {
                found |= self.varies[v] && self.whole[v].is_none();
            }
        });
        found
    }

    /// Whether the open loop can be closed before the statement with a number: not between two that can fail, and not
    /// if sizes would have to be handed on.
    pub fn can_close(&self, p: usize, part: &Part) -> bool {
        let apart = !(part.failed && part.last_failing.is_some_and(|last| last >= p));
        let read_later = |name: Use| part.last.get(&name).is_some_and(|last| *last >= p);
        apart
            && part.open.iter().all(|stmt| {
                let mut nl = stmt.nl.iter().filter(|v| read_later(Use::N(**v)));
                let mut lin = stmt.lin.iter().filter(|x| read_later(Use::L(**x)));
                nl.all(|v| self.can_be_stacked(*v))
                    && lin.all(|x| self.has_one_size(&self.b.func.lvars[*x].ty))
            })
    }

    /// Whether all elements have one type.
    pub fn has_one_size(&self, ty: &Type) -> bool {
        !ty.size_names().into_iter().any(|name| self.varies[name])
    }

    fn can_be_stacked(&self, v: NVar) -> bool {
        let data = &self.b.func.nvars[v];
        self.has_one_size(&data.ty)
            && !(data.ty == Type::I64 && (data.def.is_some() || self.sized[v]))
    }

    /// Closes the open loop before the statement with a number: what is read from there on is made a batch, and so
    /// are some operands, whose batches it gives.
    pub fn close(&mut self, part: &mut Part, p: usize, repeated: &[Atom]) -> Vec<NVar> {
        let stmts = std::mem::take(&mut part.open);
        if stmts.is_empty() && repeated.is_empty() {
            return Vec::new();
        }
        let read_later = |name: Use| part.last.get(&name).is_some_and(|last| *last >= p);
        let nl = stmts.iter().flat_map(|stmt| &stmt.nl).copied();
        let nl: Vec<NVar> = nl.filter(|v| read_later(Use::N(*v))).collect();
        let lin = stmts.iter().flat_map(|stmt| &stmt.lin).copied();
        let lin: Vec<LVar> = lin.filter(|x| read_later(Use::L(*x))).collect();
        let results = nl.iter().map(|v| Atom::Var(*v)).chain(repeated.iter().copied()).collect();
        let body = Block { stmts, nl: results, lin: lin.clone() };
        let mut made = Scan::new(Dir::Par, self.index, Atom::Var(self.count), Block::default());
        self.slice(&body, &mut made);
        made.body = body;
        let wholes: Vec<NVar> = nl.iter().map(|v| self.new_whole(*v)).collect();
        let repeated: Vec<NVar> = repeated.iter().map(|atom| self.new_batch(*atom)).collect();
        let lin_wholes: Vec<LVar> = lin
            .iter()
            .map(|x| {
                let LinVarData { name, ty, span } = self.b.func.lvars[*x].clone();
                let ty = self.batch_of(ty);
                let whole = self.b.lvar(&name, ty, span);
                self.lin_whole[*x] = Some(whole);
                whole
            })
            .collect();
        part.out.push(Stmt {
            nl: wholes.into_iter().chain(repeated.iter().copied()).collect(),
            lin: lin_wholes,
            rhs: Rhs::Scan(Box::new(made)),
            annotated: false,
            loc: self.loc,
        });
        repeated
    }

    /// What a loop over the batch goes along.
    fn slice(&mut self, body: &Block, scan: &mut Scan) {
        let mut seen: std::collections::HashSet<Use> = Default::default();
        let mut names = Vec::new();
        body.for_each_use(&self.b.func, &mut |name| {
            if seen.insert(name) {
                names.push(name);
            }
        });
        for name in names {
            match name {
                Use::N(v) => scan.slices.extend(self.whole[v].map(|whole| (v, whole))),
                Use::L(x) => scan.lin_slices.extend(self.lin_whole[x].map(|whole| (x, whole))),
                Use::C(c) => {
                    let root = self.caps[c].map(|whole| (c, Place::root(whole)));
                    scan.cap_slices.extend(root);
                }
            }
        }
    }

    /// A name for the batch of something that varies.
    pub fn new_whole(&mut self, v: NVar) -> NVar {
        let whole = self.new_batch(Atom::Var(v));
        self.varies[v] = true;
        self.whole[v] = Some(whole);
        whole
    }

    fn new_batch(&mut self, atom: Atom) -> NVar {
        let ty = self.batch_of(self.b.func.type_of(atom));
        let name = atom.var().map_or("y".into(), |v| self.b.func.nvars[v].name.clone());
        self.b.nvar(&name, ty, self.loc.span)
    }
}
