//! L of loops: linear carries, slices and stacked results stand behind those that are not linear.
//!
//! ```text
//! (s; s') = scan up (i < n) carry (a = s0; a' = s0') slice (; b' <- x') { .. }
//! (s, s_t) = scan up (i < n) carry (a = s0, a_t = s0_t) slice (b_t <- x_t) { .. }
//! ```
//!
//! Results that are stacked need a size that is not negative, which is checked where it is not known. Sums that are values
//! ([`super::totals`]) are carried too.

use super::Eraser;
use jut_ir::*;

impl Eraser<'_> {
    /// A loop; `tangents` are the linear results of its statement, `sums` what it adds to that is a value.
    pub(super) fn scan(
        &mut self,
        scan: Scan,
        tangents: &[NVar],
        sums: &[Cap],
        loc: Loc,
        out: &mut Vec<Stmt>,
    ) -> Result<Scan, Diagnostic> {
        let bound = self.size_of(scan.bound);
        let (carries, lin_carries) = (scan.carry.len(), scan.lin_carry.len());
        let stacks = scan.body.nl.len() > carries;
        // Linear stacks become non-linear ones, which need a bound known not to be negative.
        let counted = scan.dir != Dir::While;
        let new_stacks = !stacks && tangents.len() > lin_carries;
        if counted && new_stacks {
            self.show_size(bound.clone(), loc, out);
        }
        // So do the sizes of their elements.
        for stack in tangents.iter().skip(lin_carries) {
            if let Some(element) = self.func.nvars[*stack].ty.element().cloned() {
                self.show_sizes(&element, loc, out);
            }
        }
        let mut carry = scan.carry;
        for (x, init) in scan.lin_carry {
            let init = self.value(init)?;
            carry.push((self.variable(x), init));
        }
        // A sum that is a value is carried, so iterations are in order.
        let inside = self.sum_variables(sums);
        carry.extend(inside.iter().copied().zip(self.values_of(sums)));
        self.sums_are(sums, &inside);
        let dir = if scan.dir == Dir::Par && !sums.is_empty() { Dir::Up } else { scan.dir };
        let mut slices = scan.slices;
        for (x, array) in scan.lin_slices {
            let array = self.compound(array)?;
            slices.push((self.variable(x), array));
        }
        let mut cap_slices = Vec::new();
        for (cap, place) in scan.cap_slices {
            if self.func.caps[cap].mode == Mode::Rd {
                let (base, mut path) = self.resolve(&place)?;
                path.push(Step::Index { index: Atom::Var(scan.index), proved: false });
                self.places[cap] = Some((base, path));
            } else if self.is_sum(cap) {
                let index = Step::Index { index: Atom::Var(scan.index), proved: false };
                self.parts[cap] = Some(place.then(index));
            } else {
                self.func.caps[cap].mode = Mode::Acc;
                cap_slices.push((cap, place));
            }
        }
        self.enter();
        self.facts.add_range(scan.index, bound);
        carry.iter().for_each(|(v, _)| self.learn(*v));
        slices.iter().for_each(|(v, _)| self.learn(*v));
        let values = scan.body.nl.len();
        let body = self.nested(scan.body);
        self.leave();
        let mut body = body?;
        let mut lin = body.nl.split_off(values.min(body.nl.len()));
        let at = lin_carries.min(lin.len());
        lin.splice(at..at, self.values_of(sums));
        body.nl = interleave(&body.nl, carries, &lin, lin_carries + sums.len());
        Ok(Scan {
            dir,
            index: scan.index,
            bound: scan.bound,
            carry,
            lin_carry: Vec::new(),
            slices,
            lin_slices: Vec::new(),
            cap_slices,
            body,
        })
    }
}

/// Carries of both kinds, then stacked results of both kinds.
pub(super) fn interleave<T: Copy>(a: &[T], carries_a: usize, b: &[T], carries_b: usize) -> Vec<T> {
    let (a0, a1) = a.split_at(carries_a.min(a.len()));
    let (b0, b1) = b.split_at(carries_b.min(b.len()));
    [a0, b0, a1, b1].concat()
}
