//! What stands for the runtime in an object that is linked with nothing but the system's library.
//!
//! Mathematical functions that every C library has are called by their C names. What is small is
//! written into the object itself: integer powers (the same multiplications in the same order as the
//! runtime's), formulas over `exp` and `log1p`, fills. Kernels have been lowered to loops. Memory is
//! what the caller gave: asking for more than that fails, which is the error `R06`. Functions that are
//! neither (`erfinv`, `digamma`, ..) are refused.

use crate::isa::Isa;
use crate::signature::Imports;
use crate::unit::{Unit, Writing};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::Module;
use jut_native::CompileError;
use jut_native::object::system_name;

/// Defines the functions that were used and that the C library does not have.
pub(crate) fn define(
    module: &mut dyn Module,
    imports: &mut Imports,
    isa: &Isa,
) -> Result<(), CompileError> {
    let used = imports.used();
    let mut unit = Unit::new(module, imports);
    for (symbol, place) in used {
        if system_name(symbol).is_some() {
            continue;
        }
        let refused =
            |reason: &str| CompileError::Codegen { function: symbol.into(), reason: reason.into() };
        let mut writing = unit.begin(place);
        let args = writing.params.clone();
        let result = Writer(&mut writing).body(symbol, &args).map_err(|reason| refused(&reason))?;
        writing.builder.ins().return_(result.as_slice());
        writing.end();
        unit.define(isa, place, symbol)?;
    }
    Ok(())
}

/// A function in the making.
struct Writer<'b, 'w>(&'b mut Writing<'w>);

impl Writer<'_, '_> {
    /// The body of a function; its result, if it has one.
    fn body(&mut self, symbol: &str, args: &[ir::Value]) -> Result<Option<ir::Value>, String> {
        let builder = &mut self.0.builder;
        Ok(match (symbol, args) {
            ("jut_powi", [x, n]) => Some(powi(builder, *x, *n)),
            ("jut_sigmoid", [x]) => Some(self.sigmoid(*x)?),
            ("jut_sigmoid_slope", [x]) => Some(self.sigmoid_slope(*x)?),
            ("jut_gaussian", [x]) => Some(self.gaussian(*x)?),
            ("jut_softplus", [x]) => {
                let zero = builder.ins().f64const(0.0);
                Some(self.soft_maximum(*x, zero, *x)?)
            }
            ("jut_logaddexp", [x, y]) => Some(self.log_add_exp(*x, *y)?),
            ("jut_alloc_temp" | "jut_alloc_tape", [_, _]) => {
                Some(builder.ins().iconst(types::I64, 0))
            }
            // There is one piece of memory: every mark lies in it, and compiled code goes back
            // itself.
            ("jut_release" | "jut_release_tape", [_, _]) => None,
            ("jut_fill_words", [cells, n, value]) => {
                fill(builder, *cells, *n, *value, 8);
                None
            }
            ("jut_fill_halves", [cells, n, value]) => {
                fill(builder, *cells, *n, *value, 4);
                None
            }
            ("jut_fill_bytes", [cells, n, value]) => {
                fill(builder, *cells, *n, *value, 1);
                None
            }
            _ => return Err("no C library has this function; jut's runtime has it".to_owned()),
        })
    }

    fn call(&mut self, symbol: &'static str, args: &[ir::Value]) -> Result<ir::Value, String> {
        let id = self.0.imports.get(&mut *self.0.module, symbol)?;
        self.0.call(id, args).first().copied().ok_or_else(|| "no result".to_owned())
    }

    /// exp(-|x|), which never overflows.
    fn decay(&mut self, x: ir::Value) -> Result<ir::Value, String> {
        let magnitude = self.0.builder.ins().fabs(x);
        let negative = self.0.builder.ins().fneg(magnitude);
        self.call("jut_exp", &[negative])
    }

    fn sigmoid(&mut self, x: ir::Value) -> Result<ir::Value, String> {
        let e = self.decay(x)?;
        let (one, zero) = (self.0.builder.ins().f64const(1.0), self.0.builder.ins().f64const(0.0));
        let upper = self.0.builder.ins().fcmp(FloatCC::GreaterThanOrEqual, x, zero);
        let above = self.0.builder.ins().select(upper, one, e);
        let below = self.0.builder.ins().fadd(one, e);
        Ok(self.0.builder.ins().fdiv(above, below))
    }

    /// The upper half of a number's digits, as in the runtime.
    fn upper_half(&mut self, x: ir::Value) -> ir::Value {
        let little = MemFlagsData::new().with_endianness(ir::Endianness::Little);
        let bits = self.0.builder.ins().bitcast(types::I64, little, x);
        let mask = self.0.builder.ins().iconst(types::I64, -1 << 27);
        let bits = self.0.builder.ins().band(bits, mask);
        self.0.builder.ins().bitcast(types::F64, little, bits)
    }

    /// e / (1 + e)^2 with e = exp(-|x|), as in the runtime.
    fn sigmoid_slope(&mut self, x: ir::Value) -> Result<ir::Value, String> {
        let e = self.decay(x)?;
        let one = self.0.builder.ins().f64const(1.0);
        let sum = self.0.builder.ins().fadd(one, e);
        let high = self.upper_half(sum);
        let low = self.0.builder.ins().fsub(one, high);
        let low = self.0.builder.ins().fadd(low, e);
        let square = self.0.builder.ins().fmul(high, high);
        let twice = self.0.builder.ins().fadd(high, high);
        let twice = self.0.builder.ins().fadd(twice, low);
        let rest = self.0.builder.ins().fmul(low, twice);
        let below = self.0.builder.ins().fadd(square, rest);
        Ok(self.0.builder.ins().fdiv(e, below))
    }

    /// exp(-x^2), as in the runtime; beyond 30 that is zero.
    fn gaussian(&mut self, x: ir::Value) -> Result<ir::Value, String> {
        let [low_end, high_end] = [-30.0, 30.0].map(|end| self.0.builder.ins().f64const(end));
        let x = self.0.builder.ins().fmax(x, low_end);
        let x = self.0.builder.ins().fmin(x, high_end);
        let high = self.upper_half(x);
        let square = self.0.builder.ins().fmul(high, high);
        let exponent = self.0.builder.ins().fneg(square);
        let e = self.call("jut_exp", &[exponent])?;
        let low = self.0.builder.ins().fsub(x, high);
        let sum = self.0.builder.ins().fadd(x, high);
        let t = self.0.builder.ins().fmul(low, sum);
        let [one, half, sixth] = [1.0, 0.5, 1.0 / 6.0].map(|c| self.0.builder.ins().f64const(c));
        let series = self.0.builder.ins().fmul(t, sixth);
        let series = self.0.builder.ins().fsub(half, series);
        let series = self.0.builder.ins().fmul(t, series);
        let series = self.0.builder.ins().fsub(one, series);
        let rest = self.0.builder.ins().fmul(e, t);
        let rest = self.0.builder.ins().fmul(rest, series);
        Ok(self.0.builder.ins().fsub(e, rest))
    }

    /// max(x, y) + log1p(exp(-|d|)), where d is the difference of x and y.
    fn soft_maximum(
        &mut self,
        x: ir::Value,
        y: ir::Value,
        difference: ir::Value,
    ) -> Result<ir::Value, String> {
        let e = self.decay(difference)?;
        let excess = self.call("jut_log1p", &[e])?;
        let larger = self.0.builder.ins().fmax(x, y);
        Ok(self.0.builder.ins().fadd(larger, excess))
    }

    fn log_add_exp(&mut self, x: ir::Value, y: ir::Value) -> Result<ir::Value, String> {
        let difference = self.0.builder.ins().fsub(x, y);
        let usual = self.soft_maximum(x, y, difference)?;
        // Also where both are the same infinity.
        let log_two = self.0.builder.ins().f64const(core::f64::consts::LN_2);
        let doubled = self.0.builder.ins().fadd(x, log_two);
        let same = self.0.builder.ins().fcmp(FloatCC::Equal, x, y);
        Ok(self.0.builder.ins().select(same, doubled, usual))
    }
}

/// Repeated squaring from the lowest bit up, as the runtime's.
fn powi(builder: &mut FunctionBuilder<'_>, x: ir::Value, n: ir::Value) -> ir::Value {
    let [head, body, done] = [(); 3].map(|()| builder.create_block());
    let [base, k, product] =
        [types::F64, types::I64, types::F64].map(|ty| builder.append_block_param(head, ty));
    let one = builder.ins().f64const(1.0);
    let magnitude = builder.ins().iabs(n);
    builder.ins().jump(head, &[x.into(), magnitude.into(), one.into()]);

    builder.switch_to_block(head);
    builder.ins().brif(k, body, &[], done, &[]);

    builder.switch_to_block(body);
    let low = builder.ins().band_imm_u(k, 1);
    let longer = builder.ins().fmul(product, base);
    let next = builder.ins().select(low, longer, product);
    let squared = builder.ins().fmul(base, base);
    let rest = builder.ins().ushr_imm_u(k, 1);
    builder.ins().jump(head, &[squared.into(), rest.into(), next.into()]);

    builder.switch_to_block(done);
    let one = builder.ins().f64const(1.0);
    let reciprocal = builder.ins().fdiv(one, product);
    let negative = builder.ins().icmp_imm_s(IntCC::SignedLessThan, n, 0);
    builder.ins().select(negative, reciprocal, product)
}

fn fill(
    builder: &mut FunctionBuilder<'_>,
    cells: ir::Value,
    n: ir::Value,
    value: ir::Value,
    size: i64,
) {
    let [head, body, done] = [(); 3].map(|()| builder.create_block());
    let [cell, left] = [(); 2].map(|()| builder.append_block_param(head, types::I64));
    builder.ins().jump(head, &[cells.into(), n.into()]);

    builder.switch_to_block(head);
    builder.ins().brif(left, body, &[], done, &[]);

    builder.switch_to_block(body);
    builder.ins().store(MemFlagsData::trusted(), value, cell, 0);
    let next = builder.ins().iadd_imm_s(cell, size);
    let rest = builder.ins().iadd_imm_s(left, -1);
    builder.ins().jump(head, &[next.into(), rest.into()]);

    builder.switch_to_block(done);
}
