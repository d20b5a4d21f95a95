//! Kernels of the runtime, called by compiled code and by the evaluator of the loop form: the same
//! function, so the same bits.

mod support;

use jut_cranelift::{Arg, compile};
use jut_loop::eval;
use jut_loop::form::LoopFuncId;
use jut_loop::kernel::{Kernel, MATMUL};
use jut_loop::signature::{Cells, Flat};
use jut_loop::{print, read};
use jut_runtime::Workspace;
use support::Numbers;

const PRODUCT: &str = "loop def f(c: inout f64[m*n], a: in f64[m*k], b: in f64[n*k], \
scratch: inout f64[s], s: i64, m: i64, n: i64, k: i64, flags: i64) = {
  kernel matmul(c, a, b, scratch, m, n, k, flags)
}
";

#[test]
fn compiled_products_have_the_bits_of_the_evaluator() {
    let program = read::read_program(0, PRODUCT).unwrap();
    let compiled = compile(&program).unwrap();
    let mut numbers = Numbers(5);
    for [m, n, k] in [[0, 3, 2], [3, 0, 2], [3, 2, 0], [1, 1, 1], [7, 30, 13], [20, 9, 300]] {
        for flags in 0..8 {
            let (m, n, k) = (m as i64, n as i64, k as i64);
            let lengths = (MATMUL.row().lengths)(&[m, n, k, flags]);
            let mut buffers: Vec<Vec<f64>> =
                lengths.iter().map(|len| numbers.floats(*len as usize)).collect();
            let mut args: Vec<Flat> =
                buffers.iter().map(|b| Flat::Buffer(Cells::F64(b.clone()))).collect();
            let integers = [lengths[3], m, n, k, flags];
            args.extend(integers.map(|x| Flat::Scalar(jut_ir::Literal::I64(x))));
            let expected = eval::run(&program, LoopFuncId::from_u32(0), &args).unwrap();
            let [c, a, b, scratch] = &mut buffers[..] else { unreachable!() };
            let mut args = vec![Arg::F64sMut(c), Arg::F64s(a), Arg::F64s(b), Arg::F64sMut(scratch)];
            args.extend(integers.map(Arg::I64));
            // SAFETY: the buffers are as long as the kernel says.
            unsafe { compiled.call(&mut Workspace::new(), &mut args, &mut []) }.unwrap();
            let Flat::Buffer(Cells::F64(expected)) = &expected.params[0] else { unreachable!() };
            let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&buffers[0]), bits(expected), "{m} {n} {k} {flags}");
        }
    }
}

#[test]
fn kernels_are_read_back_from_their_text() {
    let program = read::read_program(0, PRODUCT).unwrap();
    assert_eq!(print::print_program(&program), PRODUCT);
    for (wrong, code) in [("matmull(c", "J014"), ("matmul(a, c", "J210"), ("matmul(m", "J210")] {
        let text = PRODUCT.replace("matmul(c", wrong);
        assert_eq!(read::read_program(0, &text).unwrap_err().code, code, "{wrong}");
    }
}

#[test]
fn every_kernel_is_a_function_of_the_runtime() {
    for kernel in Kernel::all() {
        let row = kernel.row();
        assert!(jut_runtime::symbols::address(row.symbol).is_some(), "{}", row.symbol);
        assert_eq!(Kernel::find(row.name), Some(kernel));
    }
}
