//! Checks, and how a function ends when one does not hold.
//!
//! A check branches to a cold block that stores place and operands into the workspace, in a
//! function that is never inlined, and leaves with the status. A call that returns a status other
//! than 0 is passed on in the same way. Cold blocks are written after all others.

use crate::function::{Result, Translator, phi};
use crate::text::{Label, Operand, Scalar};
use jut_loop::form::{Check, Site};
use jut_runtime::workspace::layout;

/// Says to LLVM that the first way is the usual one.
pub(crate) const USUALLY: &str = "!prof !0";

impl Translator<'_> {
    pub(crate) fn check(&mut self, check: Check, site: Site) -> Result<()> {
        let operands = self.atoms(&check.atoms())?;
        let holds = self.holds(check, &operands)?;
        self.fail_unless(holds, site, &operands)
    }

    /// Fails if the call is cancelled: the byte whose address the workspace holds is not 0 then. Another
    /// thread writes it, so it is loaded each time.
    pub(crate) fn poll(&mut self, site: Site) -> Result<()> {
        let (ptr, byte) = (Scalar::Ptr.one(), Scalar::I64.one());
        let address = self.load_word("%ws", layout::STOP / 8, ptr).of(ptr);
        let flag = self.body.value(format_args!("load volatile i8, ptr {address}, align 1"));
        let goes_on = self.body.value(format_args!("icmp eq i8 {}, 0", flag.of(byte)));
        self.fail_unless(goes_on, site, &[])
    }

    /// Whether a check holds.
    pub(crate) fn holds(&mut self, check: Check, operands: &[Operand]) -> Result<Operand> {
        let int = Scalar::I64.one();
        let bool = Scalar::Bool.one();
        let body = &mut self.body;
        Ok(match (check, operands) {
            (Check::Below(..), [i, n]) => {
                let i = i.of(int).to_string();
                if let Operand::I64(0..) = n {
                    return Ok(body.value(format_args!("icmp ult i64 {i}, {}", n.of(int))));
                }
                let less = body.value(format_args!("icmp slt i64 {i}, {}", n.of(int)));
                let start = body.value(format_args!("icmp sge i64 {i}, 0"));
                let (less, start) = (less.of(bool), start.of(bool));
                body.value(format_args!("and i1 {less}, {start}"))
            }
            (Check::Within(..), [low, len, n]) => {
                let (low, len, n) = (low.of(int), len.of(int), n.of(int));
                let either = body.value(format_args!("or i64 {low}, {len}")).of(int);
                let any = body.value(format_args!("or i64 {either}, {n}")).of(int);
                let signs = body.value(format_args!("icmp sge i64 {any}, 0")).of(bool);
                // Neither is negative, so the unsigned sum is exact.
                let end = body.value(format_args!("add i64 {low}, {len}")).of(int);
                let fits = body.value(format_args!("icmp ule i64 {end}, {n}")).of(bool);
                body.value(format_args!("and i1 {signs}, {fits}"))
            }
            (Check::NonNegative(_), [n]) => {
                body.value(format_args!("icmp sge i64 {}, 0", n.of(int)))
            }
            (Check::Equal(..), [a, b]) => {
                body.value(format_args!("icmp eq i64 {}, {}", a.of(int), b.of(int)))
            }
            (Check::NonZero(_), [a]) => body.value(format_args!("icmp ne i64 {}, 0", a.of(int))),
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
        let (ok, failed) = (self.body.label(), self.body.label());
        let holds = holds.of(Scalar::Bool.one());
        self.body.line(format_args!("br i1 {holds}, label %{ok}, label %{failed}, {USUALLY}"));
        let mut args = format!("ptr %ws, i64 {}, i64 {}", site.as_u32(), *kind as i64);
        for k in 0..3 {
            let operand = match operands.get(k) {
                Some(operand) if k < kind.operand_count() => *operand,
                _ => Operand::I64(0),
            };
            args.push_str(&format!(", i64 {}", operand.of(Scalar::I64.one())));
        }
        let status = self.body.temp();
        let shown = status.of(Scalar::I64.one());
        self.body.cold(format_args!("{failed}:\n  {shown} = call i32 @jut.fail({args})"));
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
        let shown = status.of(Scalar::I64.one());
        let good = self.body.value(format_args!("icmp eq i32 {shown}, 0"));
        let good = good.of(Scalar::Bool.one());
        self.body.line(format_args!("br i1 {good}, label %{ok}, label %{leave}, {USUALLY}"));
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
        let line = phi(Scalar::I64.one(), &incoming).replacen("i64", "i32", 1);
        let status = self.body.value(line);
        let status = format!("i32 {}", status.of(Scalar::I64.one()));
        let nothing = self.nothing();
        self.return_parts(status, &nothing);
    }
}
