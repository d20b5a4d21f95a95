//! Kernels of the runtime, called by compiled code and by the evaluator of the loop form: the same
//! function, so the same bits.

use crate::support::Numbers;
use jut_cranelift::{Arg, BACKEND};
use jut_loop::eval;
use jut_loop::form::{Kind, LoopFuncId, Role};
use jut_loop::kernel::{FOREIGN, Kernel, MATMUL};
use jut_loop::signature::{Cells, Flat};
use jut_loop::{print, read};
use jut_runtime::Workspace;
use jut_runtime::foreign::{self, Function, Functions};

const PRODUCT: &str = "loop def f(c: inout f64[m*n], a: in f64[m*k], b: in f64[n*k], \
scratch: inout f64[s], s: i64, m: i64, n: i64, k: i64, flags: i64) = {
  kernel matmul(c, a, b, scratch, m, n, k, flags)
}
";

#[test]
fn compiled_products_have_the_bits_of_the_evaluator() {
    let program = read::read_program(0, PRODUCT).unwrap();
    let compiled = BACKEND.compile(&program).unwrap();
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

#[test]
fn every_kernel_has_the_bits_of_the_evaluator_in_compiled_code() {
    let mut numbers = Numbers(7);
    for kernel in Kernel::all() {
        let row = kernel.row();
        if row.params.iter().all(|p| p.role == Role::In) {
            // What prints has no result; lines are compared wherever engines are (`jut_tests::engines`).
            assert!(row.name.starts_with("print"), "{}", row.name);
            continue;
        }
        if kernel == FOREIGN {
            // What it computes is the host's: see the next test.
            continue;
        }
        let is_buffer = |p: &&jut_loop::kernel::KernelParam| p.kind != Kind::I64;
        let buffers: Vec<_> = row.params.iter().filter(is_buffer).collect();
        let integers = row.params.len() - buffers.len();
        let names = |what: &str, n: usize| (0..n).map(|k| format!("{what}{k}")).collect::<Vec<_>>();
        let (b, len, int) =
            (names("b", buffers.len()), names("len", buffers.len()), names("size", integers));
        let role = |role: Role| if role == Role::In { "in" } else { "inout" };
        let declared =
            buffers.iter().enumerate().map(|(k, p)| format!("b{k}: {} f64[len{k}]", role(p.role)));
        let scalars = len.iter().chain(&int).map(|name| format!("{name}: i64"));
        let declared: Vec<String> = declared.chain(scalars).collect();
        let text = format!(
            "loop def f({}) = {{\n  kernel {}({})\n}}\n",
            declared.join(", "),
            row.name,
            [b, int].concat().join(", ")
        );
        let program = read::read_program(0, &text).unwrap();
        let compiled = BACKEND.compile(&program).unwrap();
        for seed in 0..6i64 {
            let mut sizes: Vec<i64> = (1..integers as i64).map(|k| (k * 5 + seed) % 11).collect();
            sizes.push(4 * (seed % 2));
            let lengths = (row.lengths)(&sizes);
            let mut cells: Vec<Vec<f64>> =
                lengths.iter().map(|len| numbers.floats(*len as usize)).collect();
            let mut args: Vec<Flat> =
                cells.iter().map(|c| Flat::Buffer(Cells::F64(c.clone()))).collect();
            let scalars: Vec<i64> = lengths.iter().chain(&sizes).copied().collect();
            args.extend(scalars.iter().map(|x| Flat::Scalar(jut_ir::Literal::I64(*x))));
            let expected = eval::run(&program, LoopFuncId::from_u32(0), &args).unwrap();
            let mut args: Vec<Arg> = cells
                .iter_mut()
                .zip(&buffers)
                .map(|(cells, p)| match p.role {
                    Role::In => Arg::F64s(cells),
                    _ => Arg::F64sMut(cells),
                })
                .collect();
            args.extend(scalars.iter().map(|x| Arg::I64(*x)));
            // SAFETY: the buffers are as long as the kernel says.
            unsafe { compiled.call(&mut Workspace::new(), &mut args, &mut []) }.unwrap();
            let Flat::Buffer(Cells::F64(expected)) = &expected.params[0] else { unreachable!() };
            let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&cells[0]), bits(expected), "{} {sizes:?}", row.name);
        }
    }
}

#[test]
fn functions_of_other_languages_are_those_of_the_thread() {
    let text = "loop def f(y: inout f64[2], x: in f64[2], k: in i64[1], failed: inout f64[1], number: i64) = {
  kernel foreign(y, x, k, failed, 2, 2, 1, number)
}
";
    let program = read::read_program(0, text).unwrap();
    let compiled = BACKEND.compile(&program).unwrap();
    let scaled = Function::new("scaled", |k, x, y| {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = k[0] as f64 * x);
        Ok(())
    });
    let functions: Functions = [scaled].into_iter().collect();
    for (number, expected) in [(0, [3.0, -1.5]), (1, [0.0, 0.0])] {
        let failed = if number == 0 { 0.0 } else { 1.0 };
        let buffers =
            [vec![0.0, 0.0], vec![1.0, -0.5], vec![7.0]].map(Cells::F64).map(Flat::Buffer);
        let [y, x, cell] = buffers;
        let integers = Flat::Buffer(Cells::I64(vec![3]));
        let args = [y, x, integers, cell, Flat::Scalar(jut_ir::Literal::I64(number))];
        let run = || eval::run(&program, LoopFuncId::from_u32(0), &args).unwrap();
        let evaluated = foreign::with(&functions, run);
        let found = [&evaluated.params[0], &evaluated.params[3]];
        let wanted = [expected.to_vec(), vec![failed]].map(Cells::F64).map(Flat::Buffer);
        assert_eq!(found, [&wanted[0], &wanted[1]]);
        let (mut y, mut cell) = ([0.0, 0.0], [7.0]);
        let mut args = [
            Arg::F64sMut(&mut y),
            Arg::F64s(&[1.0, -0.5]),
            Arg::I64s(&[3]),
            Arg::F64sMut(&mut cell),
            Arg::I64(number),
        ];
        foreign::with(&functions, || {
            // SAFETY: the buffers are as long as the kernel says.
            unsafe { compiled.call(&mut Workspace::new(), &mut args, &mut []) }.unwrap();
        });
        assert_eq!((y, cell), (expected, [failed]));
    }
}
