//! What crosses the borders of pieces, and the pieces as functions.
//!
//! Every value has a *home*, the piece that binds it (or the function itself). A value that is read
//! away from its home has a word in the frame: it is stored right after it is bound, and loaded, at
//! most once per piece, before the first statement of the piece that reads it. Parameters go to every
//! piece as parameters, if they are few.

use cranelift_entity::{EntityRef, SecondaryMap};
use jut_ir::Literal;
use jut_ir::Size;
use jut_ir::hash::HashMap;

use crate::form::{
    Arena, Atom, Block, Cell, Kind, LoopFunction, Param, Role, Site, Stmt, Value, ValueData,
};

/// Parameters that are handed on as they are.
const FEW: usize = 16;

/// Names that lowering gives to nothing.
pub(crate) const FRAME: &str = "frame";
pub(crate) const FRAME_TOP: &str = "frame_top";

/// A function that is being cut.
pub(super) struct Pieces<'a> {
    func: &'a mut LoopFunction,
    /// The number of the first piece.
    base: usize,
    /// The piece of which a piece's call is a part; `None` is the function.
    around: Vec<Option<usize>>,
    home: SecondaryMap<Value, Option<usize>>,
    slots: SecondaryMap<Value, Option<u32>>,
    count: u32,
    /// Whether pieces have the function's parameters.
    direct: bool,
    is_param: SecondaryMap<Value, bool>,
}

fn word(slot: u32) -> Atom {
    Atom::Lit(Literal::I64(i64::from(slot)))
}

impl<'a> Pieces<'a> {
    pub fn new(func: &'a mut LoopFunction, base: usize, pieces: usize) -> Pieces<'a> {
        let mut is_param = SecondaryMap::new();
        func.params.iter().for_each(|p| is_param[p.value] = true);
        Pieces {
            direct: func.params.len() <= FEW,
            func,
            base,
            around: vec![None; pieces],
            home: SecondaryMap::new(),
            slots: SecondaryMap::new(),
            count: 0,
            is_param,
        }
    }

    /// The piece that a statement calls.
    fn called(&self, stmt: &Stmt) -> Option<usize> {
        match stmt {
            Stmt::Call { func, .. } => {
                func.index().checked_sub(self.base).filter(|k| *k < self.around.len())
            }
            _ => None,
        }
    }

    /// Notes which values the statements of a piece bind.
    pub fn note_definitions(&mut self, piece: Option<usize>, stmts: &[Stmt]) {
        for stmt in stmts {
            if let Some(inner) = self.called(stmt) {
                self.around[inner] = piece;
            }
            stmt.bound().iter().chain(&stmt.entered()).for_each(|v| self.home[*v] = piece);
            for block in stmt.blocks() {
                self.note_definitions(piece, &block.stmts);
            }
        }
    }

    /// Gives words to what the statements of a piece read from elsewhere.
    pub fn note_uses(&mut self, piece: Option<usize>, stmts: &[Stmt], results: &[Atom]) {
        for stmt in stmts {
            stmt.atoms(&mut |a| self.note(piece, a));
        }
        results.iter().for_each(|a| self.note(piece, *a));
    }

    fn note(&mut self, piece: Option<usize>, a: Atom) {
        if let Some(v) = self.foreign(piece, a)
            && self.slots[v].is_none()
        {
            self.slots[v] = Some(self.count);
            self.count += 1;
        }
    }

    /// The value, if it has to be loaded from the frame in this piece.
    fn foreign(&self, piece: Option<usize>, a: Atom) -> Option<Value> {
        match a {
            Atom::Value(v) if self.is_param[v] && self.direct => None,
            Atom::Value(v) if self.home[v] != piece => Some(v),
            _ => None,
        }
    }

    /// Whether a value comes from a piece that this piece calls, directly or not.
    fn is_from_inside(&self, piece: Option<usize>, v: Value) -> bool {
        let mut home = self.home[v];
        while let Some(inner) = home {
            home = self.around[inner];
            if home == piece {
                return true;
            }
        }
        false
    }

    /// Piece `k` as a function.
    pub fn part(&mut self, k: usize, stmts: Vec<Stmt>) -> LoopFunction {
        let mut out =
            LoopFunction { name: format!("{}.part{k}", self.func.name), ..LoopFunction::default() };
        let mut names = HashMap::default();
        let handed = if self.direct { self.func.params.as_slice() } else { &[] };
        let mut hand_on = Vec::with_capacity(handed.len() + 1);
        for p in handed {
            let value = out.values.push(self.func.values[p.value].clone());
            names.insert(p.value, value);
            // What one piece has written another may read.
            let role = if p.role == Role::Out { Role::InOut } else { p.role };
            out.params.push(Param { value, role, len: p.len.clone() });
            hand_on.push(value.into());
        }
        let data = ValueData { name: FRAME.into(), kind: Kind::Buffer(Cell::Word) };
        let frame = out.values.push(data);
        let len = Some(Size::constant(i64::from(self.count)));
        out.params.push(Param { value: frame, role: Role::InOut, len });
        hand_on.push(frame.into());
        let mut writer = Writer { pieces: self, piece: Some(k), out, names, frame, hand_on };
        let stmts = writer.top(stmts);
        let mut out = writer.out;
        out.body = Block { stmts, results: Vec::new() };
        out
    }

    /// What is left of the function: calls of pieces. Gives the words of the frame.
    pub fn whole(mut self, mut body: Block, is_entry: bool, site: Site) -> u32 {
        let data = ValueData { name: FRAME.into(), kind: Kind::Buffer(Cell::Word) };
        let mut out = std::mem::take(self.func);
        let frame = out.values.push(data);
        let mut stmts = Vec::new();
        // The entry's arenas are reset before its next call.
        let mark = (!is_entry)
            .then(|| out.values.push(ValueData { name: FRAME_TOP.into(), kind: Kind::I64 }));
        if let Some(dst) = mark {
            stmts.push(Stmt::Mark { dst, arena: Arena::Temp });
        }
        let len = Atom::Lit(Literal::I64(i64::from(self.count)));
        stmts.push(Stmt::Alloc { dst: frame, cell: Cell::Word, len, arena: Arena::Temp, site });
        for p in &out.params {
            if let Some(slot) = self.slots[p.value] {
                let (index, value) = (word(slot), p.value.into());
                stmts.push(Stmt::Store { buffer: frame, index, value });
            }
        }
        let handed = if self.direct { out.params.as_slice() } else { &[] };
        let mut hand_on: Vec<Atom> = handed.iter().map(|p| p.value.into()).collect();
        hand_on.push(frame.into());
        let names = HashMap::default();
        let mut writer = Writer { pieces: &mut self, piece: None, out, names, frame, hand_on };
        writer.block(&mut body);
        let mut out = writer.out;
        stmts.extend(body.stmts);
        if let Some(mark) = mark {
            stmts.push(Stmt::Release { mark, arena: Arena::Temp });
        }
        out.body = Block { stmts, results: body.results };
        *self.func = out;
        self.count
    }
}

/// Writes the statements of one piece over the values of its own function.
struct Writer<'p, 'a> {
    pieces: &'p mut Pieces<'a>,
    piece: Option<usize>,
    out: LoopFunction,
    /// What the values of the function that is cut are here.
    names: HashMap<Value, Value>,
    frame: Value,
    /// What every piece is given.
    hand_on: Vec<Atom>,
}

impl Writer<'_, '_> {
    /// The statements of a piece, with loads of what they need.
    fn top(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(stmts.len() + stmts.len() / 4);
        for stmt in stmts {
            // What it and its blocks read from elsewhere and what is there before it.
            stmt.atoms(&mut |a| self.load(a, false, &mut out));
            self.stmt(stmt, &mut out);
        }
        out
    }

    /// Loads a value, unless it is known; one that a piece inside computes only if `inside`.
    fn load(&mut self, a: Atom, inside: bool, out: &mut Vec<Stmt>) {
        let Some(v) = self.pieces.foreign(self.piece, a) else { return };
        let (Some(slot), false) = (self.pieces.slots[v], self.names.contains_key(&v)) else {
            return;
        };
        if self.pieces.is_from_inside(self.piece, v) != inside {
            return;
        }
        let dst = self.name(v);
        out.push(Stmt::Load { dst, buffer: self.frame, index: word(slot) });
    }

    /// What a value is called here.
    fn name(&mut self, v: Value) -> Value {
        // The function itself keeps its values.
        if self.piece.is_none() && self.pieces.home[v].is_none() {
            return v;
        }
        if let Some(known) = self.names.get(&v) {
            return *known;
        }
        let new = if self.piece.is_none() {
            // It has the name already, among values that are bound elsewhere now.
            v
        } else {
            self.out.values.push(self.pieces.func.values[v].clone())
        };
        self.names.insert(v, new);
        new
    }

    /// A block inside a piece. What pieces inside compute is loaded at its end.
    fn block(&mut self, block: &mut Block) {
        let mut out = Vec::with_capacity(block.stmts.len());
        for stmt in std::mem::take(&mut block.stmts) {
            self.stmt(stmt, &mut out);
        }
        let mut loaded = Vec::new();
        for a in &mut block.results {
            let before = out.len();
            self.load(*a, true, &mut out);
            if let (Atom::Value(v), true) = (*a, out.len() > before) {
                loaded.push(v);
            }
            self.atom(a);
        }
        for v in loaded {
            self.names.remove(&v);
        }
        block.stmts = out;
    }

    fn atom(&mut self, a: &mut Atom) {
        if let Atom::Value(v) = a {
            *v = self.name(*v);
        }
    }

    /// A statement over the values of this function, and stores of what it binds for others.
    fn stmt(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) {
        if self.pieces.called(&stmt).is_some() {
            if let Stmt::Call { args, .. } = &mut stmt {
                args.clone_from(&self.hand_on);
            }
            out.push(stmt);
            return;
        }
        stmt.operands_mut(&mut |a| self.atom(a));
        let after = self.stores(stmt.bound());
        let mut entering = self.stores(&stmt.entered());
        stmt.binders_mut(&mut |v| *v = self.name(*v));
        for inner in stmt.blocks_mut() {
            self.block(inner);
            if !entering.is_empty() {
                inner.stmts.splice(0..0, std::mem::take(&mut entering));
            }
        }
        out.push(stmt);
        out.extend(after);
    }

    /// Stores of values, which have their old names, into their words.
    fn stores(&mut self, bound: &[Value]) -> Vec<Stmt> {
        let mut stores = Vec::new();
        for v in bound {
            if let Some(slot) = self.pieces.slots[*v] {
                let (buffer, value) = (self.frame, self.name(*v).into());
                stores.push(Stmt::Store { buffer, index: word(slot), value });
            }
        }
        stores
    }
}
