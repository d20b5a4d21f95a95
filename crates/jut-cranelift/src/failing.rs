//! Checks, and how a function ends when one does not hold.
//!
//! A check branches to a cold block that hands its place and operands to the one failing block of the
//! function; that stores them into the workspace and returns the status. A call that returns a
//! status other than 0 is passed on in the same way. Cold blocks are written after all others, so
//! that the usual path has no jumps over them.

use crate::translate::{Result, Translator, block_args};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use jut_ir::ir::Literal;
use jut_loop::form::{Atom, Check, Site};
use jut_runtime::workspace::layout;

impl Translator<'_> {
    pub(crate) fn check(&mut self, check: Check, site: Site) -> Result<()> {
        let (holds, operands) = match check {
            Check::Below(i, n) => {
                let (i, limit) = (self.atom(i)?, self.atom(n)?);
                (self.below(i, n, limit), vec![i, limit])
            }
            Check::Within(low, len, n) => {
                let [low, len, n] = [self.atom(low)?, self.atom(len)?, self.atom(n)?];
                let ins = self.builder.ins();
                let either = ins.bor(low, len);
                let any = self.builder.ins().bor(either, n);
                let signs = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, any, 0);
                // Neither is negative, so the unsigned sum is exact.
                let end = self.builder.ins().iadd(low, len);
                let fits = self.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, n);
                (self.builder.ins().band(signs, fits), vec![low, len, n])
            }
            Check::NonNegative(n) => {
                let n = self.atom(n)?;
                let ins = self.builder.ins();
                (ins.icmp_imm_s(IntCC::SignedGreaterThanOrEqual, n, 0), vec![n])
            }
            Check::Equal(a, b) => {
                let (a, b) = (self.atom(a)?, self.atom(b)?);
                (self.builder.ins().icmp(IntCC::Equal, a, b), vec![a, b])
            }
            Check::NonZero(a) => {
                let a = self.atom(a)?;
                (self.builder.ins().icmp_imm_s(IntCC::NotEqual, a, 0), vec![])
            }
        };
        let failed = self.failed(site, &operands);
        let ok = self.builder.create_block();
        self.builder.ins().brif(holds, ok, &[], failed, &[]);
        self.builder.switch_to_block(ok);
        Ok(())
    }

    /// Fails if the call is cancelled: the byte whose address the workspace holds is not 0 then. Another
    /// thread writes it, so it is loaded each time.
    pub(crate) fn poll(&mut self, site: Site) {
        let place = layout::STOP as i32;
        let flags = MemFlagsData::trusted();
        let address = self.builder.ins().load(types::I64, flags, self.workspace, place);
        let flag = self.builder.ins().atomic_load(types::I8, flags, address);
        let failed = self.failed(site, &[]);
        let go_on = self.builder.create_block();
        self.builder.ins().brif(flag, failed, &[], go_on, &[]);
        self.builder.switch_to_block(go_on);
    }

    /// Whether 0 <= i < n.
    fn below(&mut self, i: ir::Value, n: Atom, limit: ir::Value) -> ir::Value {
        let ins = self.builder.ins();
        if let Atom::Lit(Literal::I64(0..)) = n {
            return ins.icmp(IntCC::UnsignedLessThan, i, limit);
        }
        let less = ins.icmp(IntCC::SignedLessThan, i, limit);
        let start = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, i, 0);
        self.builder.ins().band(less, start)
    }

    /// A cold block that fails at the site; it is written when all others are.
    pub(crate) fn failed(&mut self, site: Site, operands: &[ir::Value]) -> ir::Block {
        let cold = self.builder.create_block();
        self.builder.set_cold_block(cold);
        self.failures.pending.push((cold, site, operands.to_vec()));
        cold
    }

    fn failing(&mut self) -> ir::Block {
        if let Some(block) = self.failures.failing {
            return block;
        }
        let block = self.builder.create_block();
        self.builder.set_cold_block(block);
        for _ in 0..FAILING_PARAMS {
            self.builder.append_block_param(block, types::I64);
        }
        self.failures.failing = Some(block);
        block
    }

    pub(crate) fn returning(&mut self) -> ir::Block {
        if let Some(block) = self.failures.returning {
            return block;
        }
        let block = self.builder.create_block();
        self.builder.set_cold_block(block);
        self.builder.append_block_param(block, types::I32);
        self.failures.returning = Some(block);
        block
    }

    /// Writes the blocks that [`Translator::failing`] and [`Translator::returning`] promised.
    pub(crate) fn finish_failing(&mut self) -> Result<()> {
        for (cold, site, operands) in std::mem::take(&mut self.failures.pending) {
            let (kind, _) = self.program.sites.get(site).ok_or("a failing place is not listed")?;
            let failing = self.failing();
            self.builder.switch_to_block(cold);
            let mut args = vec![self.int(i64::from(site.as_u32())), self.int(*kind as i64)];
            args.extend(operands);
            while args.len() < FAILING_PARAMS {
                args.push(self.int(0));
            }
            self.builder.ins().jump(failing, &block_args(&args));
        }
        if let Some(block) = self.failures.failing {
            let returning = self.returning();
            self.builder.switch_to_block(block);
            let params = self.builder.block_params(block).to_vec();
            let places = [
                layout::FAILURE_SITE,
                layout::FAILURE_KIND,
                layout::FAILURE_OPERANDS,
                layout::FAILURE_OPERANDS + 8,
                layout::FAILURE_OPERANDS + 16,
            ];
            for (param, place) in params.iter().zip(places) {
                self.store_workspace(place, *param);
            }
            let status = self.builder.ins().ireduce(types::I32, params[1]);
            self.builder.ins().jump(returning, &[status.into()]);
        }
        if let Some(block) = self.failures.returning {
            self.builder.switch_to_block(block);
            let mut returned = vec![self.builder.block_params(block)[0]];
            let results: Vec<ir::Type> =
                self.builder.func.signature.returns.iter().skip(1).map(|r| r.value_type).collect();
            for ty in results {
                returned.push(match ty {
                    types::F64 => self.float(0.0),
                    types::F32 => self.builder.ins().f32const(0.0),
                    ty => self.builder.ins().iconst(ty, 0),
                });
            }
            self.builder.ins().return_(&returned);
        }
        Ok(())
    }
}

/// Site, kind of error, three operands.
const FAILING_PARAMS: usize = 5;
