//! Loops in segments: `@segment(k)` and `@levels(d)`, before anything is planned. Also `@revolve(c)` and `@online(c)`, for which
//! the whole loop is one segment, without a loop round it, whose linear half [`super::revolve`] divides.
//!
//! A loop that carries a state becomes a loop over segments of k iterations, with the iterations of one segment as a loop
//! in it that is computed again as a whole ([`super::replay`]):
//!
//! ```text
//! (a; a') = @segment(k) scan up (i < n) carry (a = a0; a' = a0') { B(i) }
//! ```
//! becomes
//! ```text
//! n_1 = max(n, 0); m = n_1 / k, rounded up
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
//! *Requires*: a loop up or down that collects nothing and slices nothing ([`super::along`] makes such ones of others). *Ensures*:
//! the same results. *Cost*: constant.

use super::along::no_loop;
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
    /// The statements in the place of a loop with a schedule; the last one binds what it bound. Of one that has run for its values
    /// (`ran`) nobody reads these.
    pub fn segments(
        &mut self,
        stmt: Stmt,
        ran: bool,
        known: &[NVar],
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let Stmt { nl, lin, rhs, annotated, loc } = stmt;
        let tape = loc.tape;
        let loc = loc.by(Origin::Unzip);
        let Rhs::Scan(mut scan) = rhs else { return Err(no_loop(loc)) };
        let levels = match tape {
            TapePolicy::Levels(d) => d,
            _ => 2,
        };
        let count = self.prim("n", prim::IMAX, vec![scan.bound, int(0)], loc, out);
        if let TapePolicy::Revolve(c) | TapePolicy::Online(c) = tape {
            let stmt = Stmt { nl, lin, rhs: Rhs::Scan(scan), annotated, loc };
            return self.one_segment(stmt, (count, c, ran), known, out);
        }
        let k = match tape {
            TapePolicy::Segment(k) => int(i64::from(k)),
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
        // Rounded up, and without a sum that wraps.
        let whole = self.prim("t", prim::IDIV, vec![count, k], loc, out);
        let covered = self.prim("t", prim::IMUL, vec![whole, k], loc, out);
        let rest = self.prim("t", prim::ISUB, vec![count, covered], loc, out);
        let rest = self.prim("t", prim::IMIN, vec![rest, int(1)], loc, out);
        let bound = self.prim("m", prim::IADD, vec![whole, rest], loc, out);

        // The loop over segments has names of its own for what it carries.
        let index = self.builder.nvar("j", Type::I64, loc.span);
        let mut outer = Scan::new(scan.dir, index, bound, Block::default());
        for (v, start) in &mut scan.carry {
            let own = self.like(*v);
            outer.carry.push((own, std::mem::replace(start, Atom::Var(own))));
        }
        for (x, start) in &mut scan.lin_carry {
            let own = self.like_linear(*x);
            outer.lin_carry.push((own, std::mem::replace(start, own)));
        }
        let mut body = Vec::new();
        let low = self.prim("t", prim::IMUL, vec![Atom::Var(index), k], loc, &mut body);
        let low = self.prim("lo", prim::IMAX, vec![low, int(0)], loc, &mut body);
        let rest = self.prim("t", prim::ISUB, vec![count, low], loc, &mut body);
        let len = self.prim("len", prim::IMIN, vec![k, rest], loc, &mut body);

        self.from(&mut scan, low, len, loc);
        let inner = match levels {
            3.. => TapePolicy::Levels(levels - 1),
            _ => TapePolicy::Free,
        };
        let results: (Vec<NVar>, Vec<LVar>) = (
            nl.iter().map(|v| self.like(*v)).collect(),
            lin.iter().map(|x| self.like_linear(*x)).collect(),
        );
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
        body.push(again);
        let values = results.0.into_iter().map(Atom::Var).collect();
        outer.body = Block { stmts: body, nl: values, lin: results.1 };
        out.push(Stmt { nl, lin, rhs: Rhs::Scan(Box::new(outer)), annotated, loc });
        Ok(())
    }

    /// The statements in the place of a loop with checkpoints in binomial order: the loop as one segment, which begins at 0.
    fn one_segment(
        &mut self,
        stmt: Stmt,
        (count, checkpoints, ran): (Atom, u32, bool),
        known: &[NVar],
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let loc = Loc { tape: TapePolicy::Free, ..stmt.loc };
        let Rhs::Scan(mut scan) = stmt.rhs else { return Err(no_loop(loc)) };
        let down = scan.dir == Dir::Down;
        let low = self.prim("lo", prim::IMAX, vec![int(0), int(0)], loc, out);
        self.from(&mut scan, low, count, loc);
        // Each start has a name of its own, by which the part takes it. Linear ones have.
        let mut carry = Vec::new();
        for (v, start) in &mut scan.carry {
            let own = self.like(*v);
            let value = std::mem::replace(start, Atom::Var(own));
            let rhs = match self.builder.func.nvars[own].ty {
                // A copy of an integer is transparent, so the part would compute it again. This is one that is not.
                Type::I64 => Rhs::Prim(prim::IMIN, vec![value, value]),
                _ => Rhs::Atom(value),
            };
            out.push(Stmt { nl: vec![own], lin: Vec::new(), rhs, annotated: false, loc });
            carry.push(own);
        }
        let lin_carry: Vec<LVar> = scan.lin_carry.iter().map(|(_, start)| *start).collect();
        let mut known = known.to_vec();
        known.extend([low, count].into_iter().filter_map(Atom::var));
        let again = self.again(Stmt { rhs: Rhs::Scan(scan), loc, ..stmt }, &known)?;
        if let Rhs::Call(call) = &again.rhs
            && let Some(places) = places(call, [low, count], &carry, &lin_carry, down)
        {
            self.revolve(call.func, &places, checkpoints, ran);
        }
        out.push(again);
        Ok(())
    }

    /// Makes of a loop that of some of its iterations.
    fn from(&mut self, scan: &mut Scan, low: Atom, len: Atom, loc: Loc) {
        let (inside, i) = (self.builder.nvar("q", Type::I64, loc.span), scan.index);
        let mut first = Vec::new();
        let at = self.prim("t", prim::IADD, vec![low, Atom::Var(inside)], loc, &mut first);
        let rhs = Rhs::Prim(prim::IMAX, vec![at, int(0)]);
        first.push(Stmt { nl: vec![i], lin: Vec::new(), rhs, annotated: false, loc });
        first.append(&mut scan.body.stmts);
        scan.body.stmts = first;
        (scan.index, scan.bound) = (inside, len);
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

fn int(k: i64) -> Atom {
    Atom::Lit(Literal::I64(k))
}

/// Where the part of a loop that is one segment has what the segment is about; `None` if something is not among its
/// parameters.
fn places(
    call: &Call,
    [low, len]: [Atom; 2],
    carry: &[NVar],
    lin_carry: &[LVar],
    down: bool,
) -> Option<Places> {
    let place = |atom: Atom| call.args.iter().position(|a| *a == atom);
    let linear = |x: &LVar| call.lin_args.iter().position(|y| y == x);
    Some(Places {
        low: place(low)?,
        len: place(len)?,
        carry: carry.iter().map(|v| place(Atom::Var(*v))).collect::<Option<_>>()?,
        lin_carry: lin_carry.iter().map(linear).collect::<Option<_>>()?,
        down,
    })
}
