//! Blocks of a composition: accumulators, and nests of loops over the entries of arrays.
//!
//! ```text
//! (dx) = acc dx: [n][m]f64 {                      // accumulate: one row per entry
//!   scan par (i < n) slice (; ; row <- dx) {      // nest: a place of its own for each entry
//!     e = acc e: [n]f64 { e[i] += 1.0 }           // unit
//!     f.linT.erased(n, m, tape, e; ; row)
//!   }
//! }
//! ```

use super::composer::{Active, Composer};
use jut_ir::*;

type Made = Result<Vec<Atom>, Diagnostic>;

impl Composer<'_> {
    /// What `make` makes, as a block of its own.
    pub fn block(&mut self, make: impl FnOnce(&mut Self) -> Made) -> Result<Block, Diagnostic> {
        let outer = std::mem::take(&mut self.stmts);
        let nl = make(self);
        let stmts = std::mem::replace(&mut self.stmts, outer);
        Ok(Block { stmts, nl: nl?, lin: Vec::new() })
    }

    /// A variable of the type of an operand.
    fn like(&mut self, atom: Atom) -> NVar {
        let hint = match atom {
            Atom::Var(v) => self.b.func.nvars[v].name.clone(),
            Atom::Lit(_) => "y".into(),
        };
        let ty = self.b.func.type_of(atom);
        self.b.nvar(&hint, ty, self.loc.span)
    }

    /// Accumulators around a block, which gets them: the results of the block, and the totals. No
    /// type of a result may mention a name of the block.
    pub fn accumulate(
        &mut self,
        sums: Vec<(String, Type)>,
        make: impl FnOnce(&mut Self, &[Cap]) -> Made,
    ) -> Result<(Vec<Atom>, Vec<Atom>), Diagnostic> {
        let span = self.loc.span;
        let cap = |(name, ty): (String, Type)| self.b.cap(&name, Mode::Acc, false, ty, span);
        let caps: Vec<Cap> = sums.into_iter().map(cap).collect();
        let mut block = self.block(|c| make(c, &caps))?;
        let values = block.nl.len();
        for cap in caps.into_iter().rev() {
            let mut bound: Vec<NVar> = block.nl.iter().map(|a| self.like(*a)).collect();
            let total = self.b.func.caps[cap].ty.clone();
            bound.push(self.b.nvar("g", total, span));
            let nl = bound.iter().map(|v| Atom::Var(*v)).collect();
            let rhs = Region::sum(Mode::Acc, cap, block);
            let stmt = Stmt { nl: bound, lin: Vec::new(), rhs, annotated: false, loc: self.loc };
            block = Block { stmts: vec![stmt], nl, lin: Vec::new() };
        }
        self.stmts.extend(block.stmts);
        // The total of the innermost region comes first.
        let mut totals = block.nl.split_off(values);
        totals.reverse();
        Ok((block.nl, totals))
    }

    /// The dimensions of an array as operands.
    pub fn dims(&mut self, ty: &Type) -> Vec<Atom> {
        ty.dimensions().into_iter().map(|size| self.size(&size)).collect()
    }

    /// A size, computed.
    pub fn size(&mut self, size: &Size) -> Atom {
        let (func, namer) = (&mut self.b.func, &mut self.b.namer);
        sizes::operand(func, namer, size, self.loc, &mut self.stmts)
    }

    /// Runs a function for its errors alone where none of the given arrays has an entry, so that loops
    /// over their entries fail where it does.
    pub fn run_where_empty(&mut self, f: FuncId, arrays: &[Active]) -> Result<(), Diagnostic> {
        let one = Atom::Lit(Literal::I64(1));
        let mut all: Option<Atom> = None;
        for array in arrays {
            let mut any: Option<Atom> = None;
            let sizes = array.ty.dimensions();
            for size in sizes.iter().filter(|size| size.as_constant().is_none_or(|n| n < 1)) {
                let size = self.size(size);
                let empty = self.truth(prim::ILT, size, one);
                any = Some(any.map_or(empty, |any| self.truth(prim::OR, any, empty)));
            }
            let Some(any) = any else { return Ok(()) };
            all = Some(all.map_or(any, |all| self.truth(prim::AND, all, any)));
        }
        let Some(scrutinee) = all else { return Ok(()) };
        let run = self.block(|c| {
            c.call(f, c.inputs.clone(), Vec::new());
            Ok(Vec::new())
        })?;
        let arms = vec![Arm::of_bool(true, run), Arm::of_bool(false, Block::default())];
        self.push(Vec::new(), Rhs::Case(Box::new(Case { scrutinee, arms })));
        Ok(())
    }

    fn truth(&mut self, prim: prim::Prim, a: Atom, b: Atom) -> Atom {
        let v = self.b.nvar("empty", Type::Bool, self.loc.span);
        self.push(vec![v], Rhs::Prim(prim, vec![a, b]));
        Atom::Var(v)
    }

    /// Parallel loops over all entries of an array with the given dimensions. `make` gets the
    /// indices of the entry, and for each accumulator in `rows` its part for that entry; what it
    /// returns is stacked.
    pub fn nest<F>(&mut self, dims: &[Atom], rows: &[Cap], make: &mut F) -> Made
    where
        F: FnMut(&mut Self, &[NVar], &[Cap]) -> Made,
    {
        self.nest_below(dims, &mut Vec::new(), rows, make)
    }

    fn nest_below<F>(
        &mut self,
        dims: &[Atom],
        indices: &mut Vec<NVar>,
        rows: &[Cap],
        make: &mut F,
    ) -> Made
    where
        F: FnMut(&mut Self, &[NVar], &[Cap]) -> Made,
    {
        let Some((bound, rest)) = dims.split_first() else { return make(self, indices, rows) };
        let span = self.loc.span;
        let index = self.b.nvar("i", Type::I64, span);
        let mut parts = Vec::new();
        for row in rows {
            let CapData { name, ty, .. } = self.b.func.caps[*row].clone();
            let part = ty.element().cloned().unwrap_or(ty);
            parts.push(self.b.cap(&name, Mode::Acc, false, part, span));
        }
        indices.push(index);
        let body = self.block(|c| c.nest_below(rest, indices, &parts, make))?;
        indices.pop();
        let size = self.b.func.size_of(*bound);
        let mut stacked = Vec::new();
        for entry in &body.nl {
            let ty = Type::array(size.clone(), self.b.func.type_of(*entry));
            stacked.push(self.b.nvar("s", ty, span));
        }
        let cap_slices = parts.into_iter().zip(rows.iter().map(|row| Place::root(*row))).collect();
        let scan = Scan { cap_slices, ..Scan::new(Dir::Par, index, *bound, body) };
        self.push(stacked.clone(), Rhs::Scan(Box::new(scan)));
        Ok(stacked.into_iter().map(Atom::Var).collect())
    }

    /// The unit vector of a number or an array of numbers: one at the entry with these indices,
    /// zero elsewhere.
    pub fn unit(&mut self, ty: &Type, indices: &[NVar]) -> Result<Atom, Diagnostic> {
        let one = Atom::Lit(ty.number(1.0));
        if indices.is_empty() {
            return Ok(one);
        }
        let (_, totals) = self.accumulate(vec![("e".to_string(), ty.clone())], |c, caps| {
            caps.iter().for_each(|cap| c.increment(*cap, indices, one));
            Ok(Vec::new())
        })?;
        Ok(totals.first().copied().unwrap_or(one))
    }

    /// Adds a number to the entry of an accumulator with these indices.
    fn increment(&mut self, cap: Cap, indices: &[NVar], value: Atom) {
        let step = |i: &NVar| Step::Index { index: Atom::Var(*i), proved: false };
        let place = Place { root: cap, path: indices.iter().map(step).collect() };
        self.push(Vec::new(), Rhs::Inc(place, Operand::N(value)));
    }

    /// Adds the entries of an array with the given dimensions to those entries of an accumulator
    /// whose last indices are `last`: a column.
    pub fn add_column(
        &mut self,
        cap: Cap,
        dims: &[Atom],
        column: Atom,
        last: &[NVar],
    ) -> Result<(), Diagnostic> {
        self.add_column_below(cap, dims, column, &mut Vec::new(), last)
    }

    fn add_column_below(
        &mut self,
        cap: Cap,
        dims: &[Atom],
        column: Atom,
        first: &mut Vec<NVar>,
        last: &[NVar],
    ) -> Result<(), Diagnostic> {
        let (Some((bound, rest)), Atom::Var(array)) = (dims.split_first(), column) else {
            self.increment(cap, &[first, last].concat(), column);
            return Ok(());
        };
        let ty = self.b.func.nvars[array].ty.clone();
        let index = self.b.nvar("j", Type::I64, self.loc.span);
        let part = self.b.nvar("c", ty.element().cloned().unwrap_or(ty), self.loc.span);
        first.push(index);
        let body = self.block(|c| {
            c.add_column_below(cap, rest, Atom::Var(part), first, last)?;
            Ok(Vec::new())
        })?;
        first.pop();
        let scan = Scan { slices: vec![(part, array)], ..Scan::new(Dir::Par, index, *bound, body) };
        self.push(Vec::new(), Rhs::Scan(Box::new(scan)));
        Ok(())
    }
}
