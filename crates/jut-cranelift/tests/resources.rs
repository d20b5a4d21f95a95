//! What compiled code costs beside time: memory that is kept, memory that is given back, limits,
//! threads, and programs of unusual size.

mod support;

use jut_cranelift::{Arg, BACKEND, CallError, Compiled};
use jut_ir::RuntimeErrorKind as E;
use jut_ir::prim;
use jut_loop::form::*;
use jut_runtime::Workspace;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell as Counter;
use support::*;

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Counter<usize> = const { Counter::new(0) };
}

// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as required of the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as required of the caller.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn call(
    compiled: &Compiled,
    workspace: &mut Workspace,
    args: &mut [Arg<'_>],
) -> Result<u64, CallError> {
    let mut results = [0];
    // SAFETY: the tests pass slices as long as their programs index.
    unsafe { compiled.call(workspace, args, &mut results) }?;
    Ok(results[0])
}

/// Sum of k * k for k below n, by way of both arenas; fails if n is 1,000,000.
fn with_arenas() -> LoopProgram {
    let mut w = Writer::new("f");
    let n = w.input(Kind::I64);
    let tape = w.alloc(Cell::F64, n.into(), Arena::Tape, site(E::Memory));
    w.for_(Order::Up, (i(0), n.into()), &[], |w, k, _| {
        let mark = w.value(Kind::I64);
        w.stmt(Stmt::Mark { dst: mark, arena: Arena::Temp });
        let length = w.prim(prim::IADD, &[k.into(), i(1)]);
        let temp = w.alloc(Cell::F64, length.into(), Arena::Temp, site(E::Memory));
        let x = w.prim(prim::FLOAT, &[k.into()]);
        w.store(temp, k.into(), x.into());
        let x = w.load(Kind::F64, temp, k.into());
        w.store(tape, k.into(), x.into());
        w.stmt(Stmt::Release { mark, arena: Arena::Temp });
        vec![]
    });
    let wrong = w.prim(prim::IEQ, &[n.into(), i(100_000)]);
    w.if_(
        wrong.into(),
        &[],
        |w| {
            w.check(Check::NonZero(i(0)), site(E::DivisionByZero));
            vec![]
        },
        |_| vec![],
    );
    let sum = w.for_(Order::Down, (i(0), n.into()), &[(Kind::F64, f(0.0))], |w, k, sum| {
        let x = w.load(Kind::F64, tape, k.into());
        let x = w.prim(prim::MUL, &[x.into(), x.into()]);
        vec![w.prim(prim::ADD, &[sum[0].into(), x.into()]).into()]
    });
    with_sites(program(w.finish(&[sum[0].into()])))
}

fn squares(n: i64) -> f64 {
    (0..n).rev().fold(0.0, |sum, k| sum + k as f64 * k as f64)
}

#[test]
fn a_repeated_call_allocates_nothing_even_after_an_error() {
    let compiled = BACKEND.compile(&with_arenas()).unwrap();
    let mut workspace = Workspace::new();
    for _ in 0..2 {
        assert!(call(&compiled, &mut workspace, &mut [Arg::I64(100_000)]).is_err());
    }
    let before = ALLOCATIONS.get();
    for n in [30_000, 10, 0, 99_999] {
        let got = call(&compiled, &mut workspace, &mut [Arg::I64(n)]).unwrap();
        assert_eq!(f64::from_bits(got), squares(n));
    }
    assert_eq!(ALLOCATIONS.get(), before);
}

#[test]
fn reaching_the_memory_limit_is_an_error_and_the_workspace_goes_on() {
    let compiled = BACKEND.compile(&with_arenas()).unwrap();
    let mut workspace = Workspace::with_limit(1 << 20);
    for n in [1_000_000, i64::MAX, i64::MAX / 8, 1 << 40] {
        let Err(CallError::Run(error)) = call(&compiled, &mut workspace, &mut [Arg::I64(n)]) else {
            panic!("no error");
        };
        assert_eq!((error.kind, error.operands.len()), (E::Memory, 0));
        let got = call(&compiled, &mut workspace, &mut [Arg::I64(1000)]).unwrap();
        assert_eq!(f64::from_bits(got), squares(1000));
        assert!(workspace.held() <= 1 << 20);
    }
    // A negative length is an empty buffer.
    assert_eq!(call(&compiled, &mut workspace, &mut [Arg::I64(-5)]).unwrap(), 0);
}

#[test]
fn one_program_runs_on_many_threads_at_once() {
    let compiled = BACKEND.compile(&with_arenas()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let compiled = &compiled;
            scope.spawn(move || {
                let mut workspace = Workspace::new();
                for n in 0..200 {
                    let n = n * 7 + thread;
                    let got = call(compiled, &mut workspace, &mut [Arg::I64(n)]).unwrap();
                    assert_eq!(f64::from_bits(got), squares(n));
                }
            });
        }
    });
}

/// `n` statements after one another whose values all live until the end, as a gradient without
/// loops has them.
fn straight(n: usize) -> LoopProgram {
    let mut w = Writer::new("f");
    let x = w.input(Kind::F64);
    let mut values = vec![x];
    for k in 0..n / 2 {
        let last = values[k];
        let other = values[k * 7 / 11];
        let op = [prim::MUL, prim::ADD, prim::SUB][k % 3];
        values.push(w.prim(op, &[last.into(), other.into()]));
    }
    let mut sum = Atom::from(x);
    for value in values.iter().rev() {
        sum = w.prim(prim::MUL, &[sum, f(0.5)]).into();
        sum = w.prim(prim::ADD, &[sum, (*value).into()]).into();
    }
    program(w.finish(&[sum]))
}

fn straight_value(n: usize, x: f64) -> f64 {
    let mut values = vec![x];
    for k in 0..n / 2 {
        let (a, b) = (values[k], values[k * 7 / 11]);
        values.push([a * b, a + b, a - b][k % 3]);
    }
    values.iter().rev().fold(x, |sum, value| sum * 0.5 + value)
}

#[test]
fn long_straight_programs_compile() {
    for n in [10, 1000, 5000, 10_000, 100_000] {
        let source = straight(n);
        let compiled = BACKEND.compile(&source).unwrap();
        let x = 0.37;
        let got = call(&compiled, &mut Workspace::new(), &mut [Arg::F64(x)]).unwrap();
        let expected = straight_value(n, x);
        assert!(f64::from_bits(got).to_bits() == expected.to_bits() || expected.is_nan());
    }
}

#[test]
fn a_program_with_many_checks_compiles() {
    let mut w = Writer::new("f");
    let (xs, n) = (w.input(F64S), w.input(Kind::I64));
    let mut sum = f(0.0);
    for k in 0..10_000 {
        w.check(Check::Below(i(k), n.into()), site(E::Index));
        let x = w.load(Kind::F64, xs, i(k));
        sum = w.prim(prim::ADD, &[sum, x.into()]).into();
    }
    let compiled = BACKEND.compile(&with_sites(program(w.finish(&[sum])))).unwrap();
    let xs = Numbers(5).floats(10_000);
    let mut workspace = Workspace::new();
    let mut run = |n| call(&compiled, &mut workspace, &mut [Arg::F64s(&xs), Arg::I64(n)]);
    assert_eq!(run(10_000).unwrap(), xs.iter().fold(0.0, |a, b| a + b).to_bits());
    let Err(CallError::Run(error)) = run(9_000) else { panic!("no error") };
    assert_eq!(error.operands, [9_000, 9_000]);
}

#[test]
fn a_program_with_many_functions_compiles() {
    let mut source = LoopProgram::default();
    let mut callee = None;
    for _ in 0..500 {
        let mut w = Writer::new("f");
        let x = w.input(Kind::F64);
        let y = match callee {
            Some(callee) => w.call(callee, &[Kind::F64], &[x.into()])[0],
            None => x,
        };
        let z = w.prim(prim::ADD, &[y.into(), f(1.0)]);
        callee = Some(source.funcs.push(w.finish(&[z.into()])));
    }
    let compiled = BACKEND.compile(&source).unwrap();
    let got = call(&compiled, &mut Workspace::new(), &mut [Arg::F64(0.0)]).unwrap();
    assert_eq!(f64::from_bits(got), 500.0);
}
