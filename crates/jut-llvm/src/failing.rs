//! Checks, and how a function ends when one does not hold.
//!
//! A check branches to a cold block that stores place and operands into the workspace, in a
//! function that is never inlined, and leaves with the status. A call that returns a status other
//! than 0 is passed on in the same way. Cold blocks are written after all others.

use crate::function::{Result, Translator};
use crate::text::{BOOL, Label, Operand, PTR, Scalar};
use jut_loop::form::{Check, Site};
use jut_runtime::workspace::layout;

impl Translator<'_> {
    pub(crate) fn check(&mut self, check: Check, site: Site) -> Result<()> {
        let operands = self.atoms(&check.atoms())?;
        let holds = self.holds(check, &operands)?;
        self.fail_unless(holds, site, &operands)
    }

    /// Fails if the call is cancelled: the byte whose address the workspace holds is not 0 then. Another
    /// thread writes it, so it is loaded each time.
    pub(crate) fn poll(&mut self, site: Site) -> Result<()> {
        let address = self.body.load_word("%ws", layout::STOP / 8, PTR);
        let flag = self.body.value(format_args!("load volatile i8, ptr {address}, align 1"));
        let goes_on = self.body.value(format_args!("icmp eq i8 {flag}, 0"));
        self.fail_unless(goes_on, site, &[])
    }

    /// Whether a check holds.
    pub(crate) fn holds(&mut self, check: Check, operands: &[Operand]) -> Result<Operand> {
        let body = &mut self.body;
        Ok(match (check, operands) {
            (Check::Below(..), [i, n @ Operand::I64(0..)]) => body.int("icmp ult", *i, *n),
            (Check::Below(..), [i, n]) => {
                let less = body.int("icmp slt", *i, *n);
                let start = body.int("icmp sge", *i, 0);
                body.two("and", BOOL, less, start)
            }
            (Check::Within(..), [low, len, n]) => {
                let either = body.int("or", *low, *len);
                let any = body.int("or", either, *n);
                let signs = body.int("icmp sge", any, 0);
                // Neither is negative, so the unsigned sum is exact.
                let end = body.int("add", *low, *len);
                let fits = body.int("icmp ule", end, *n);
                body.two("and", BOOL, signs, fits)
            }
            (Check::NonNegative(_), [n]) => body.int("icmp sge", *n, 0),
            (Check::Equal(..), [a, b]) => body.int("icmp eq", *a, *b),
            (Check::NonZero(_), [a]) => body.int("icmp ne", *a, 0),
            _ => return Err("a check has another number of operands".to_owned()),
        })
    }

    /// Goes on if a condition holds; fails at the site otherwise.
    pub(crate) fn fail_unless(
        &mut self,
        holds: Operand,
        site: Site,
        operands: &[Operand],
    ) -> Result<()> {
        let (kind, _) = self.program.sites.get(site).ok_or("a failing place is not listed")?;
        let [ok, failed] = self.body.labels();
        self.body.branch_usually(holds, ok, failed);
        let mut args = format!("ptr %ws, i64 {}, i64 {}", site.as_u32(), *kind as i64);
        for k in 0..3 {
            let operand = match operands.get(k) {
                Some(operand) if k < kind.operand_count() => *operand,
                _ => Operand::I64(0),
            };
            args.push_str(&format!(", i64 {operand}"));
        }
        let status = self.body.temp();
        self.body.cold(format_args!("{failed}:\n  {status} = call i32 @jut.fail({args})"));
        let leave = self.leave();
        self.body.cold(format_args!("  br label %{leave}"));
        self.failures.push((status, failed));
        self.body.begin(ok);
        Ok(())
    }

    /// Goes on if a status is 0; returns it otherwise.
    pub(crate) fn pass_on(&mut self, status: Operand) {
        let (ok, leave) = (self.body.label(), self.leave());
        let from = self.body.current();
        let good = self.body.value(format_args!("icmp eq i32 {status}, 0"));
        self.body.branch_usually(good, ok, leave);
        self.failures.push((status, from));
        self.body.begin(ok);
    }

    /// The block that returns a status.
    fn leave(&mut self) -> Label {
        self.body.leaving()
    }

    /// Writes the block that failing ones go to.
    pub(crate) fn finish_failing(&mut self) {
        if self.failures.is_empty() {
            return;
        }
        let leave = self.leave();
        self.body.append_cold();
        self.body.begin(leave);
        let incoming = std::mem::take(&mut self.failures);
        let status = self.body.join(Scalar::I32.one(), &incoming);
        let nothing = self.nothing();
        self.return_parts(format!("i32 {status}"), &nothing);
    }
}
