//! Loops in segments: `@segment(k)` and `@levels(d)`, before anything is planned. Also `@revolve(c)` and `@online(c)`, for which
//! the loop is one segment whose linear half [`super::revolve`] divides.
//!
//! A loop that carries a state becomes a loop over segments of k iterations, with the iterations of one segment as a loop
//! in it that is computed again as a whole ([`super::replay`]):
//!
//! ```text
//! (a; a') = @segment(k) scan up (i < n) carry (a = a0; a' = a0') { B(i) }
//! ```
//! becomes
//! ```text
//! n_1 = max(n, 0); m = (n_1 + k - 1) / k
//! (a; a') = scan up (j < m) carry (a = a0; a' = a0') {
//!   lo = max(j * k, 0); len = min(k, n_1 - lo)
//!   (a; a') = @recompute scan up (q < len) carry (a = a; a' = a') { i = max(lo + q, 0); B(i) }
//!   (a; a')
//! }
//! ```
//!
//! So the tape holds the state at the start of each segment, and the linear half runs a segment again before it goes
//! through it. Every iteration does what it did, in the same order, on the same capabilities: values and derivatives keep
//! their bits. Under `@levels(d)` the loop in the loop is one of `@levels(d - 1)`, and k is n to the power (d - 1)/d, rounded
//! up; so d = 1 is the loop as it was, and d = 2 has segments of the square root of n iterations.
//!
//! `max` makes of i what a loop index is: a name of its own, not negative, which types may mention.
//!
//! *Requires*: a loop up or down that collects nothing and slices nothing (elaboration refuses others). *Ensures*: the
//! same results. *Cost*: constant.

use super::replay::Prepare;
use super::revolve::Places;
use jut_ir::prim::Prim;
use jut_ir::*;

/// Gives the outermost loops of a program that carry a state, and have no policy, a schedule: `@levels(d)` or `@revolve(c)`, which
/// is `@online(c)` for loops that may end early.
pub fn schedule(program: &mut Program, tape: TapePolicy) {
    fn on(block: &mut Block, tape: TapePolicy) {
        for stmt in block.stmts.iter_mut().filter(|stmt| stmt.loc.tape == TapePolicy::Free) {
            let early = match tape {
                TapePolicy::Revolve(c) => TapePolicy::Online(c),
                other => other,
            };
            match &mut stmt.rhs {
                Rhs::Scan(scan) if scan.has_schedule(tape) => stmt.loc.tape = tape,
                Rhs::Scan(scan) if scan.has_schedule(early) => stmt.loc.tape = early,
                rhs => rhs.blocks_mut().into_iter().for_each(|inner| on(inner, tape)),
            }
        }
    }
    for func in program.funcs.values_mut() {
        on(&mut func.body, tape);
    }
}

impl Prepare<'_> {
    /// The statements in the place of a loop with a schedule; the last one binds what it bound.
    pub fn segments(
        &mut self,
        stmt: Stmt,
        known: &[NVar],
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let Stmt { nl, lin, rhs, annotated, loc } = stmt;
        let tape = loc.tape;
        let loc = loc.by(Origin::Unzip);
        let Rhs::Scan(mut scan) = rhs else { return Ok(()) };
        let levels = match tape {
            TapePolicy::Levels(d) => d,
            _ => 2,
        };
        if levels < 2 || scan.carry.len() != nl.len() || scan.lin_carry.len() != lin.len() {
            let stmt = Stmt { nl, lin, rhs: Rhs::Scan(scan), annotated, loc };
            out.push(stmt);
            return Ok(());
        }

        let int = |k: i64| Atom::Lit(Literal::I64(k));
        let count = self.prim("n", prim::IMAX, vec![scan.bound, int(0)], loc, out);
        let k = match tape {
            TapePolicy::Segment(k) => int(i64::from(k)),
            TapePolicy::Revolve(_) | TapePolicy::Online(_) => {
                self.prim("k", prim::IMAX, vec![count, int(1)], loc, out)
            }
            _ => {
                let power = f64::from(levels - 1) / f64::from(levels);
                let real = self.prim("t", prim::FLOAT, vec![count], loc, out);
                let power = Atom::Lit(Literal::F64(power));
                let root = self.prim("t", prim::POW, vec![real, power], loc, out);
                let root = self.prim("t", prim::CEIL, vec![root], loc, out);
                let root = self.prim("t", prim::INT, vec![root], loc, out);
                self.prim("k", prim::IMAX, vec![root, int(1)], loc, out)
            }
        };
        let more = self.prim("t", prim::IADD, vec![count, k], loc, out);
        let more = self.prim("t", prim::ISUB, vec![more, int(1)], loc, out);
        let bound = self.prim("m", prim::IDIV, vec![more, k], loc, out);

        // The loop over segments has names of its own for what it carries.
        let index = self.builder.nvar("j", Type::I64, loc.span);
        let mut outer = Scan::new(scan.dir, index, bound, Block::default());
        for (v, start) in &mut scan.carry {
            let VarData { name, ty, span, .. } = self.builder.func.nvars[*v].clone();
            let own = self.builder.nvar(&name, ty, span);
            outer.carry.push((own, std::mem::replace(start, Atom::Var(own))));
        }
        for (x, start) in &mut scan.lin_carry {
            let LinVarData { name, ty, span } = self.builder.func.lvars[*x].clone();
            let own = self.builder.lvar(&name, ty, span);
            outer.lin_carry.push((own, std::mem::replace(start, own)));
        }
        let mut body = Vec::new();
        let low = self.prim("t", prim::IMUL, vec![Atom::Var(index), k], loc, &mut body);
        let low = self.prim("lo", prim::IMAX, vec![low, int(0)], loc, &mut body);
        let rest = self.prim("t", prim::ISUB, vec![count, low], loc, &mut body);
        let len = self.prim("len", prim::IMIN, vec![k, rest], loc, &mut body);

        let (inside, i) = (self.builder.nvar("q", Type::I64, loc.span), scan.index);
        let mut first = Vec::new();
        let at = self.prim("t", prim::IADD, vec![low, Atom::Var(inside)], loc, &mut first);
        let rhs = Rhs::Prim(prim::IMAX, vec![at, int(0)]);
        first.push(Stmt { nl: vec![i], lin: Vec::new(), rhs, annotated: false, loc });
        first.append(&mut scan.body.stmts);
        scan.body.stmts = first;
        (scan.index, scan.bound) = (inside, len);
        let inner = match levels {
            3.. => TapePolicy::Levels(levels - 1),
            _ => TapePolicy::Free,
        };
        let results: (Vec<NVar>, Vec<LVar>) = {
            let func = &self.builder.func;
            let values: Vec<VarData> = nl.iter().map(|v| func.nvars[*v].clone()).collect();
            let tangents: Vec<LinVarData> = lin.iter().map(|x| func.lvars[*x].clone()).collect();
            let values = values.into_iter().map(|d| self.builder.nvar(&d.name, d.ty, d.span));
            let values = values.collect();
            let tangents = tangents.into_iter().map(|d| self.builder.lvar(&d.name, d.ty, d.span));
            (values, tangents.collect())
        };
        let again = Stmt {
            nl: results.0.clone(),
            lin: results.1.clone(),
            rhs: Rhs::Scan(scan),
            annotated: false,
            loc: Loc { tape: inner, ..loc },
        };
        let mut known = known.to_vec();
        known.extend([low, count].into_iter().filter_map(Atom::var));
        let again = self.again(again, &known)?;
        if let (TapePolicy::Revolve(c) | TapePolicy::Online(c), Rhs::Call(call)) =
            (tape, &again.rhs)
            && let Some(places) = places(call, &outer, low, len)
        {
            self.revolve(call.func, &places, c);
        }
        body.push(again);
        let values = results.0.into_iter().map(Atom::Var).collect();
        outer.body = Block { stmts: body, nl: values, lin: results.1 };
        out.push(Stmt { nl, lin, rhs: Rhs::Scan(Box::new(outer)), annotated, loc });
        Ok(())
    }

    /// A loop that may end early, with checkpoints: its values are found by running it once, for how often it runs. Behind
    /// that stands a loop of so many iterations, for the tangents, with checkpoints in binomial order.
    pub fn online(
        &mut self,
        stmt: Stmt,
        checkpoints: u32,
        known: &[NVar],
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let free = Loc { tape: TapePolicy::Free, ..stmt.loc };
        let counted = Loc { tape: TapePolicy::Revolve(checkpoints), ..stmt.loc };
        let whole = self.again(Stmt { loc: free, ..stmt.clone() }, known)?;
        let (Rhs::Scan(scan), Rhs::Call(call), Some(trips)) =
            (&stmt.rhs, &whole.rhs, stmt.nl.first())
        else {
            return Ok(());
        };
        let halves = self.derivatives.unzipped.get(&(call.func, self.policy)).cloned();
        let values = halves.map(|halves| halves.nonlin);
        let program = &self.derivatives.program;
        let adds = values.is_none_or(|f| {
            let values = &program.funcs[f];
            !values.cap_params.is_empty() || super::silent::prints(program, &values.body)
        });
        let (Some(values), false) = (values, adds) else {
            // It adds to sums of outside, or prints, which it must do once: it is left as it is.
            out.push(Stmt { loc: free, ..stmt });
            return Ok(());
        };
        let args = call.args.clone();
        let (lin_args, places) = (Vec::new(), Vec::new());
        let rhs = Rhs::Call(Box::new(Call { func: values, args, lin_args, places }));
        let loc = free.by(Origin::Unzip);
        out.push(Stmt { nl: stmt.nl.clone(), lin: Vec::new(), rhs, annotated: false, loc });
        let rhs = Scan { dir: Dir::Up, bound: Atom::Var(*trips), ..(**scan).clone() };
        let types = scan.carry.iter().map(|(v, _)| self.builder.func.nvars[*v].clone());
        let types: Vec<VarData> = types.collect();
        let nl = types.into_iter().map(|d| self.builder.nvar(&d.name, d.ty, d.span)).collect();
        let rhs = Rhs::Scan(Box::new(rhs));
        let again = Stmt { nl, lin: stmt.lin.clone(), rhs, annotated: false, loc: counted };
        let mut known = known.to_vec();
        known.push(*trips);
        self.segments(again, &known, out)
    }

    /// A primitive of some operands, bound to a new name.
    fn prim(
        &mut self,
        hint: &str,
        prim: Prim,
        args: Vec<Atom>,
        loc: Loc,
        out: &mut Vec<Stmt>,
    ) -> Atom {
        let var = sizes::prim_var(&mut self.builder, hint, prim, &args, loc.span);
        let (nl, rhs) = (vec![var], Rhs::Prim(prim, args));
        out.push(Stmt { nl, lin: Vec::new(), rhs, annotated: false, loc });
        Atom::Var(var)
    }
}

/// Where the part of a loop that is one segment has what the segment is about; `None` if something is not among its
/// parameters.
fn places(call: &Call, outer: &Scan, low: Atom, len: Atom) -> Option<Places> {
    let place = |atom: Atom| call.args.iter().position(|a| *a == atom);
    let carry =
        outer.carry.iter().map(|(v, _)| place(Atom::Var(*v))).collect::<Option<Vec<_>>>()?;
    let linear = |x: LVar| call.lin_args.iter().position(|y| *y == x);
    let lin_carry = outer.lin_carry.iter().map(|(x, _)| linear(*x)).collect::<Option<Vec<_>>>()?;
    let (low, len, down) = (place(low)?, place(len)?, outer.dir == Dir::Down);
    Some(Places { low, len, carry, lin_carry, down })
}
