//! Tape policies: `@store e`, `@recompute e`, `@segment(k)` and `@levels(d)` before a loop.
//!
//! A policy is put on the statements that the expression becomes, which carry it to U ([`TapePolicy`]): `@store` and
//! `@recompute` on each that has none of its own, a schedule on the loop.

use super::Res;
use super::body::Body;
use super::made::Made;
use jut_ir::{Rhs, Span, TapePolicy};

impl Body<'_, '_> {
    /// Puts a policy on what an expression has become: `made`, and the statements behind the first `before`.
    pub fn with_policy(
        &mut self,
        tape: TapePolicy,
        made: &mut Made,
        before: usize,
        span: Span,
    ) -> Res<()> {
        let (mut any, mut early) = (false, false);
        let mut put = |rhs: &Rhs, on: &mut TapePolicy| {
            let fits = match tape.is_schedule() {
                true => matches!(rhs, Rhs::Scan(_)),
                false => !matches!(rhs, Rhs::Check(_)),
            };
            if fits && *on == TapePolicy::Free && !(any && tape.is_schedule()) {
                (*on, any) = (tape, true);
                early |= matches!(rhs, Rhs::Scan(scan) if scan.has_schedule(TapePolicy::Online(1)));
                return matches!(rhs, Rhs::Scan(scan) if tape.is_schedule() && !scan.has_schedule(tape));
            }
            false
        };
        let mut refused = false;
        if let Made::Op(out) = made {
            refused |= put(&out.rhs, &mut out.tape);
        }
        for stmt in self.stmts.iter_mut().skip(before).rev() {
            refused |= put(&stmt.rhs, &mut stmt.loc.tape);
        }
        if any && !refused {
            return Ok(());
        }
        let (message, help) = match tape.is_schedule() {
            true if early => (
                format!(
                    "`{tape}` is for a loop with a number of iterations that is known before it runs"
                ),
                "put `@online(c)` before a `while`, with the number of states that may be kept at a time",
            ),
            true => (
                format!("`{tape}` is for a loop that carries values from iteration to iteration"),
                "put it before `for (i < n) carry (a = a0) { .. }`, or before a loop that assigns variables",
            ),
            false => (
                format!("`{tape}` stands before nothing that is computed"),
                "put it before the expression whose values it is about, behind the `=`",
            ),
        };
        self.error("J407", span, message, help)
    }
}
