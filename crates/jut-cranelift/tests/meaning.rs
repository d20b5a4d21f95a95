//! Compiled code means what the loop form says: operation by operation, statement by statement,
//! bit by bit; for every backend that is built in, of which this crate is the first.

use crate::support::*;
use jut_ir::RuntimeErrorKind as E;
use jut_ir::Scalar;
use jut_ir::ir::Literal;
use jut_ir::prim::{self, Prim};
use jut_loop::form::*;
use jut_native::{Arg, CallError, CompileError, Compiled};
use jut_runtime::{Workspace, math};
use jut_tests::engines::backends;

/// A program, compiled by every backend.
struct Engines(Vec<(&'static str, Compiled)>);

fn compile(program: &LoopProgram) -> Result<Engines, CompileError> {
    let all = backends().map(|(name, backend)| Ok((name, backend.compile(program)?)));
    all.collect::<Result<_, _>>().map(Engines)
}

/// The cells of arguments that are written, by the type of cell.
type Written = (Vec<Vec<f64>>, Vec<Vec<i64>>, Vec<Vec<bool>>);

/// Arguments with memory of their own for what is written: the first call must not be seen by the
/// second.
fn copies(args: &[Arg<'_>]) -> Written {
    let (mut floats, mut integers, mut bools) = (Vec::new(), Vec::new(), Vec::new());
    for arg in args {
        match arg {
            Arg::F64sMut(x) => floats.push(x.to_vec()),
            Arg::I64sMut(x) => integers.push(x.to_vec()),
            Arg::BoolsMut(x) => bools.push(x.to_vec()),
            _ => {}
        }
    }
    (floats, integers, bools)
}

/// What the first backend gives; all others have to give the same.
fn run(engines: &Engines, args: &mut [Arg<'_>]) -> Result<Vec<u64>, CallError> {
    let mut other = Vec::new();
    for (name, compiled) in &engines.0[1..] {
        let (mut floats, mut integers, mut bools) = copies(args);
        let mut written = (floats.iter_mut(), integers.iter_mut(), bools.iter_mut());
        let mut own: Vec<Arg<'_>> = Vec::new();
        for arg in args.iter() {
            own.push(match arg {
                Arg::F64(x) => Arg::F64(*x),
                Arg::F32(x) => Arg::F32(*x),
                Arg::I32(x) => Arg::I32(*x),
                Arg::I64(x) => Arg::I64(*x),
                Arg::Bool(x) => Arg::Bool(*x),
                Arg::F64s(x) => Arg::F64s(x),
                Arg::F32s(x) => Arg::F32s(x),
                Arg::I32s(x) => Arg::I32s(x),
                Arg::I64s(x) => Arg::I64s(x),
                Arg::Bools(x) => Arg::Bools(x),
                Arg::F64sMut(_) => Arg::F64sMut(written.0.next().unwrap()),
                Arg::I64sMut(_) => Arg::I64sMut(written.1.next().unwrap()),
                Arg::BoolsMut(_) => Arg::BoolsMut(written.2.next().unwrap()),
                Arg::F32sMut(_) | Arg::I32sMut(_) => {
                    unreachable!("no test writes numbers of 32 bits")
                }
            });
        }
        let results = call(compiled, &mut own);
        drop(own);
        other.push((name, results, (floats, integers, bools)));
    }
    let (first, compiled) = &engines.0[0];
    let results = call(compiled, args);
    let written = copies(args);
    for (name, others, (floats, integers, bools)) in other {
        let same_results = match (&results, &others) {
            (Ok(a), Ok(b)) => a.iter().zip(b).zip(compiled.results()).all(|((a, b), kind)| {
                a == b || (*kind == Kind::F64 && math::same(float(*a), float(*b)))
            }),
            // What is wrong with arguments is said in the same words.
            (a, b) => a == b,
        };
        assert!(same_results, "{first}: {results:?}\n{name}: {others:?}");
        let bits = |all: &[Vec<f64>]| -> Vec<u64> {
            all.iter().flatten().map(|x| math::bits(*x)).collect()
        };
        assert_eq!(bits(&floats), bits(&written.0), "{first} and {name}");
        assert_eq!((integers, bools), (written.1.clone(), written.2.clone()), "{first} and {name}");
    }
    results
}

fn call(compiled: &Compiled, args: &mut [Arg<'_>]) -> Result<Vec<u64>, CallError> {
    let mut results = vec![0; compiled.results().len()];
    // SAFETY: the tests pass slices as long as their programs index.
    unsafe { compiled.call(&mut Workspace::new(), args, &mut results) }?;
    Ok(results)
}

fn float(word: u64) -> f64 {
    f64::from_bits(word)
}

fn samples(scalar: Scalar) -> Vec<Literal> {
    let mut numbers = Numbers(7);
    match scalar {
        Scalar::Bool => vec![Literal::Bool(false), Literal::Bool(true)],
        Scalar::I64 => {
            let mut all = vec![0, 1, -1, 2, -2, 3, 7, -7, 63, 64, i64::MAX, i64::MIN, i64::MIN + 1];
            all.extend((0..8).map(|_| numbers.word() as i64));
            all.into_iter().map(Literal::I64).collect()
        }
        Scalar::I32 => [0, 1, -1, 2, 7, -7, 65_536, i32::MAX, i32::MIN].map(Literal::I32).to_vec(),
        Scalar::F32 => {
            let all = [0.0, -0.0, 1.5, 0.1, 1e-45, 3e38, f32::INFINITY, f32::NAN, -7.25];
            all.map(Literal::F32).to_vec()
        }
        Scalar::F64 => {
            let mut all = vec![0.0, 1.0, 0.5, 1.5, 2.5, 1e300, 1e-310, f64::MIN_POSITIVE, 9.3e18];
            all.extend([4.503599627370497e15, f64::INFINITY, f64::NAN, 0.49999999999999994]);
            all.extend(numbers.floats(4));
            let negative: Vec<f64> = all.iter().map(|x| -x).collect();
            all.extend(negative);
            all.into_iter().map(Literal::F64).collect()
        }
    }
}

fn same(a: Literal, b: Literal) -> bool {
    match (a, b) {
        (Literal::F64(a), Literal::F64(b)) => math::same(a, b),
        (Literal::F32(a), Literal::F32(b)) => math::same(f64::from(a), f64::from(b)),
        _ => a == b,
    }
}

fn arg(literal: Literal) -> Arg<'static> {
    match literal {
        Literal::F64(x) => Arg::F64(x),
        Literal::F32(x) => Arg::F32(x),
        Literal::I32(x) => Arg::I32(x),
        Literal::I64(x) => Arg::I64(x),
        Literal::Bool(x) => Arg::Bool(x),
    }
}

/// All combinations of the operands' samples, less zero divisors.
fn operands(prim: Prim) -> Vec<Vec<Literal>> {
    let mut all = vec![Vec::new()];
    for scalar in prim.row().params {
        let longer = |args: &Vec<Literal>| {
            let extend = |x: Literal| args.iter().copied().chain([x]).collect::<Vec<_>>();
            samples(*scalar).into_iter().map(extend).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    if prim.can_fail() {
        all.retain(|args| args[1] != Literal::I64(0));
    }
    all
}

fn kind(scalar: Scalar) -> Kind {
    Kind::Scalar(scalar)
}

fn literal(scalar: Scalar, word: u64) -> Literal {
    match scalar {
        Scalar::F64 => Literal::F64(float(word)),
        Scalar::F32 => Literal::F32(f32::from_bits(word as u32)),
        Scalar::I64 => Literal::I64(word as i64),
        Scalar::I32 => Literal::I32(word as i32),
        Scalar::Bool => Literal::Bool(word == 1),
    }
}

#[test]
fn every_primitive_computes_what_its_row_says() {
    for prim in Prim::all() {
        let row = prim.row();
        let mut w = Writer::new("f");
        let params: Vec<Atom> = row.params.iter().map(|s| w.input(kind(*s)).into()).collect();
        let dst = w.prim(prim, &params);
        let compiled = compile(&program(w.finish(&[dst.into()]))).unwrap();
        for args in operands(prim) {
            let mut given: Vec<Arg<'_>> = args.iter().map(|x| arg(*x)).collect();
            let got = literal(row.result, run(&compiled, &mut given).unwrap()[0]);
            let expected = (row.eval)(&args);
            assert!(same(got, expected), "{}{args:?} = {got:?}, not {expected:?}", row.id);
        }
    }
}

#[test]
fn every_primitive_computes_the_same_with_literal_operands() {
    for prim in Prim::all() {
        let row = prim.row();
        let mut w = Writer::new("f");
        let all = operands(prim);
        // At most 100 of them; what is left out differs from primitive to primitive.
        let step = all.len() / 100 + 1;
        let chosen: Vec<_> = all.into_iter().step_by(step).collect();
        let mut results = Vec::new();
        for args in &chosen {
            let args: Vec<Atom> = args.iter().map(|x| Atom::Lit(*x)).collect();
            results.push(w.prim(prim, &args).into());
        }
        let compiled = compile(&program(w.finish(&results))).unwrap();
        let words = run(&compiled, &mut []).unwrap();
        for (args, word) in chosen.iter().zip(words) {
            let got = literal(row.result, word);
            let expected = (row.eval)(args);
            assert!(same(got, expected), "{}{args:?} = {got:?}, not {expected:?}", row.id);
        }
    }
}

#[test]
fn loops_run_in_their_order_and_not_at_all_when_empty() {
    for (order, low, high) in [
        (Order::Up, 0, 5),
        (Order::Down, 0, 5),
        (Order::Up, -3, 4),
        (Order::Down, -3, 4),
        (Order::Up, 2, 2),
        (Order::Down, 2, 2),
        (Order::Up, 5, -5),
        (Order::Down, i64::MAX, i64::MIN),
        (Order::Up, i64::MAX - 2, i64::MAX),
        (Order::Down, i64::MIN, i64::MIN + 2),
    ] {
        let mut w = Writer::new("f");
        let bounds = [w.input(Kind::I64), w.input(Kind::I64)];
        let bounds = (bounds[0].into(), bounds[1].into());
        let result = w.for_(order, bounds, &[(Kind::I64, i(17))], |w, index, carry| {
            let product = w.prim(prim::IMUL, &[carry[0].into(), i(31)]);
            vec![w.prim(prim::IADD, &[product.into(), index.into()]).into()]
        });
        let compiled = compile(&program(w.finish(&[result[0].into()]))).unwrap();
        let step = |h: i64, k: i64| h.wrapping_mul(31).wrapping_add(k);
        let expected = match order {
            Order::Down => (low..high).rev().fold(17, step),
            _ => (low..high).fold(17, step),
        };
        let got = run(&compiled, &mut [Arg::I64(low), Arg::I64(high)]).unwrap();
        assert_eq!(got[0] as i64, expected, "{order:?} {low} {high}");
    }
}

#[test]
fn loops_that_may_end_early_end_where_their_first_carry_says() {
    // Odd numbers make it go on.
    for (low, high, go) in [
        (0, 9, 1),
        (0, 9, 0),
        (1, 2, 1),
        (2, 2, 1),
        (5, -5, 1),
        (i64::MAX - 2, i64::MAX, 1),
        (i64::MIN, i64::MIN + 3, 1),
    ] {
        let mut w = Writer::new("f");
        let [low_in, high_in, go_in] = [(); 3].map(|()| w.input(Kind::I64));
        let first = w.prim(prim::IEQ, &[go_in.into(), i(1)]);
        let carries = [(Kind::BOOL, first.into()), (Kind::I64, i(17))];
        let bounds = (low_in.into(), high_in.into());
        let result = w.for_(Order::While, bounds, &carries, |w, index, carry| {
            let product = w.prim(prim::IMUL, &[carry[1].into(), i(5)]);
            let sum = w.prim(prim::IADD, &[product.into(), index.into()]);
            let last = w.prim(prim::BITAND, &[sum.into(), i(1)]);
            vec![w.prim(prim::IEQ, &[last.into(), i(1)]).into(), sum.into()]
        });
        let compiled = compile(&program(w.finish(&[result[0].into(), result[1].into()]))).unwrap();
        let (mut on, mut sum) = (go == 1, 17i64);
        for k in low..high {
            if !on {
                break;
            }
            sum = sum.wrapping_mul(5).wrapping_add(k);
            on = sum & 1 == 1;
        }
        let got = run(&compiled, &mut [Arg::I64(low), Arg::I64(high), Arg::I64(go)]).unwrap();
        assert_eq!((got[0] as i64, got[1] as i64), (on.into(), sum), "{low} {high} {go}");
    }
}

/// A sum with a body that is repeated for every lane, one that is too large for that, and one that
/// holds another loop of sums.
fn sums(shape: usize) -> LoopProgram {
    let mut w = Writer::new("f");
    let xs = w.input(F64S);
    let n = w.input(Kind::I64);
    let out = w.lanes((i(0), n.into()), 2, |w, k, sums| {
        let x = w.load(Kind::F64, xs, k.into());
        let mut square = w.prim(prim::MUL, &[x.into(), x.into()]);
        for _ in 0..[0, 50, 0][shape] {
            square = w.prim(prim::NEG, &[square.into()]);
        }
        if shape == 2 {
            let inner = w.lanes((i(0), n.into()), 1, |w, k, sum| {
                let x = w.load(Kind::F64, xs, k.into());
                vec![w.prim(prim::ADD, &[sum[0].into(), x.into()]).into()]
            });
            square = w.prim(prim::MUL, &[square.into(), inner[0].into()]);
        }
        let a = w.prim(prim::ADD, &[sums[0].into(), x.into()]);
        let b = w.prim(prim::ADD, &[sums[1].into(), square.into()]);
        vec![a.into(), b.into()]
    });
    program(w.finish(&[out[0].into(), out[1].into()]))
}

#[test]
fn sums_are_made_in_the_fixed_order_whatever_the_length() {
    let xs = Numbers(3).floats(3100);
    for shape in 0..3 {
        let compiled = compile(&sums(shape)).unwrap();
        let lengths: Vec<usize> = match shape {
            2 => (0..20).chain([100, 1025]).collect(),
            _ => (0..40).chain([1016, 1023, 1024, 1025, 1032, 1033, 2048, 2051, 3100]).collect(),
        };
        for n in lengths {
            let xs = &xs[..n];
            let got = run(&compiled, &mut [Arg::F64s(xs), Arg::I64(n as i64)]).unwrap();
            let factor = if shape == 2 { lanes_sum(xs) } else { 1.0 };
            let squares: Vec<f64> = xs.iter().map(|x| x * x * factor).collect();
            assert_eq!(got[0], lanes_sum(xs).to_bits(), "{shape} {n}");
            assert_eq!(got[1], lanes_sum(&squares).to_bits(), "{shape} {n}");
        }
    }
}

#[test]
fn sums_start_anywhere_and_may_store() {
    let mut w = Writer::new("f");
    let out = w.param(I64S, Role::Out);
    let sum = w.lanes((i(-5), i(30)), 1, |w, k, sum| {
        let place = w.prim(prim::IADD, &[i(5), k.into()]);
        w.store(out, place.into(), k.into());
        let x = w.prim(prim::FLOAT, &[k.into()]);
        vec![w.prim(prim::ADD, &[sum[0].into(), x.into()]).into()]
    });
    let compiled = compile(&program(w.finish(&[sum[0].into()]))).unwrap();
    let mut stored = [99; 36];
    let got = run(&compiled, &mut [Arg::I64sMut(&mut stored)]).unwrap();
    let terms: Vec<f64> = (-5..30).map(|k| k as f64).collect();
    assert_eq!(got[0], lanes_sum(&terms).to_bits());
    assert!(stored[..35].iter().copied().eq(-5..30) && stored[35] == 99);
}

#[test]
fn sums_compute_with_pairs_what_they_compute_with_floats() {
    let ops = [
        (prim::ADD, 2),
        (prim::SUB, 2),
        (prim::MUL, 2),
        (prim::TIMES, 2),
        (prim::DIV, 2),
        (prim::MIN, 2),
        (prim::MAX, 2),
        (prim::NEG, 1),
        (prim::ABS, 1),
        (prim::SQRT, 1),
    ];
    let mut xs: Vec<f64> = Vec::new();
    for sample in samples(Scalar::F64).into_iter().chain(samples(Scalar::F64).into_iter().rev()) {
        if let Literal::F64(x) = sample {
            xs.extend([x, 1.0, x]);
        }
    }
    for (op, operands) in ops {
        // out[i] = op(x[i], x[i + 1]) on the tape, and back from there.
        let mut w = Writer::new("f");
        let (from, n) = (w.input(F64S), w.input(Kind::I64));
        let out = w.param(F64S, Role::Out);
        let tape = w.alloc(Cell::F64, n.into(), Arena::Tape, site(E::Memory));
        let sum = w.lanes((i(0), n.into()), 1, |w, k, sum| {
            let next = w.prim(prim::IADD, &[k.into(), i(1)]);
            let x = w.load(Kind::F64, from, k.into());
            let y = w.load(Kind::F64, from, next.into());
            let z = w.prim(op, &[x.into(), y.into()][..operands]);
            w.store(tape, k.into(), z.into());
            let z = w.prim(prim::SUB, &[z.into(), f(0.75)]);
            vec![w.prim(prim::ADD, &[sum[0].into(), z.into()]).into()]
        });
        w.stmt(Stmt::CopyCells { dst: out, src: tape, len: n.into(), cell: Cell::F64 });
        let compiled = compile(&with_sites(program(w.finish(&[sum[0].into()])))).unwrap();
        for n in [0, 1, 7, 8, 9, 33, xs.len() - 1] {
            let mut out = vec![0.0; n];
            let args = &mut [Arg::F64s(&xs), Arg::I64(n as i64), Arg::F64sMut(&mut out)];
            let got = run(&compiled, args).unwrap();
            let eval = |k: usize| {
                let args = [Literal::F64(xs[k]), Literal::F64(xs[k + 1])];
                match (op.row().eval)(&args[..operands]) {
                    Literal::F64(z) => z,
                    other => panic!("{other:?}"),
                }
            };
            let expected: Vec<f64> = (0..n).map(eval).collect();
            for k in 0..n {
                assert!(same(Literal::F64(out[k]), Literal::F64(expected[k])), "{op:?} {k}");
            }
            let terms: Vec<f64> = expected.iter().map(|z| z - 0.75).collect();
            assert!(same(Literal::F64(float(got[0])), Literal::F64(lanes_sum(&terms))));
        }
    }
}

#[test]
fn sums_that_read_what_they_wrote_run_in_order() {
    // t[i + shift] = x[i] + t[i], where t is allocated here or a parameter, or reached by a view.
    for shift in [-1, 0, 1, 2] {
        for shape in 0..3 {
            let mut w = Writer::new("f");
            let (xs, n) = (w.input(F64S), w.input(Kind::I64));
            let out = w.param(F64S, Role::InOut);
            let size = w.prim(prim::IADD, &[n.into(), i(4)]);
            let fresh = w.alloc(Cell::F64, size.into(), Arena::Temp, site(E::Memory));
            w.stmt(Stmt::CopyCells { dst: fresh, src: out, len: size.into(), cell: Cell::F64 });
            let t = if shape == 0 { out } else { fresh };
            let view = w.value(F64S);
            w.stmt(Stmt::Offset { dst: view, buffer: t, index: i(1) });
            let scale = w.prim(prim::MUL, &[f(0.5), f(3.0)]);
            let sum = w.lanes((i(0), n.into()), 2, |w, k, sums| {
                let x = w.load(Kind::F64, xs, k.into());
                let x = w.prim(prim::MUL, &[x.into(), scale.into()]);
                let y = match shape {
                    2 => w.load(Kind::F64, view, k.into()),
                    _ => {
                        let at = w.prim(prim::IADD, &[k.into(), i(1)]);
                        w.load(Kind::F64, t, at.into())
                    }
                };
                let z = w.prim(prim::ADD, &[x.into(), y.into()]);
                let at = w.prim(prim::IADD, &[k.into(), i(1 + shift)]);
                w.store(t, at.into(), z.into());
                let a = w.prim(prim::ADD, &[sums[0].into(), z.into()]);
                let b = w.prim(prim::SUB, &[sums[1].into(), y.into()]);
                vec![a.into(), b.into()]
            });
            w.stmt(Stmt::CopyCells { dst: out, src: t, len: size.into(), cell: Cell::F64 });
            let results = [sum[0].into(), sum[1].into()];
            let compiled = compile(&with_sites(program(w.finish(&results)))).unwrap();
            for n in [0usize, 1, 8, 21, 40] {
                let mut numbers = Numbers(17);
                let (xs, start) = (numbers.floats(n), numbers.floats(n + 4));
                let mut got = start.clone();
                let args = &mut [Arg::F64s(&xs), Arg::I64(n as i64), Arg::F64sMut(&mut got)];
                let sums = run(&compiled, args).unwrap();
                let (mut t, mut zs, mut ys) = (start, Vec::new(), Vec::new());
                for k in 0..n {
                    let y = t[k + 1];
                    let z = xs[k] * 1.5 + y;
                    t[(k as i64 + 1 + shift) as usize] = z;
                    zs.push(z);
                    ys.push(-y);
                }
                assert_eq!(got, t, "{shift} {shape} {n}");
                assert_eq!(sums, [lanes_sum(&zs).to_bits(), lanes_sum(&ys).to_bits()]);
            }
        }
    }
}

#[test]
fn branches_compute_one_side() {
    let mut w = Writer::new("f");
    let c = w.input(Kind::BOOL);
    let x = w.input(Kind::F64);
    let n = w.input(Kind::I64);
    let out = w.if_(
        c.into(),
        &[Kind::F64, Kind::I64, Kind::BOOL],
        |w| vec![w.prim(prim::EXP, &[x.into()]).into(), n.into(), b(true)],
        |w| {
            let never = Check::NonZero(n.into());
            w.check(never, site(E::DivisionByZero));
            vec![x.into(), w.prim(prim::IDIV, &[i(100), n.into()]).into(), b(false)]
        },
    );
    let results: Vec<Atom> = out.into_iter().map(Atom::from).collect();
    let compiled = compile(&with_sites(program(w.finish(&results)))).unwrap();
    let call = |c, n| run(&compiled, &mut [Arg::Bool(c), Arg::F64(0.25), Arg::I64(n)]);
    assert_eq!(call(true, 0).unwrap(), [libm::exp(0.25).to_bits(), 0, 1]);
    assert_eq!(call(false, 7).unwrap(), [0.25f64.to_bits(), 14, 0]);
    assert!(call(false, 0).is_err());
}

#[test]
fn calls_pass_and_return_any_number_of_scalars_and_buffers() {
    let mut inner = Writer::new("inner");
    let floats: Vec<Value> = (0..12).map(|_| inner.input(Kind::F64)).collect();
    let ints: Vec<Value> = (0..12).map(|_| inner.input(Kind::I64)).collect();
    let flag = inner.input(Kind::BOOL);
    let buffer = inner.param(F64S, Role::InOut);
    inner.store(buffer, i(1), floats[11].into());
    let mut results: Vec<Atom> = Vec::new();
    for k in (0..12).rev() {
        results.push(inner.prim(prim::NEG, &[floats[k].into()]).into());
        results.push(inner.prim(prim::INEG, &[ints[k].into()]).into());
    }
    results.push(inner.prim(prim::NOT, &[flag.into()]).into());
    let fresh = inner.alloc(Cell::I64, i(3), Arena::Tape, site(E::Memory));
    for k in 0..3 {
        inner.store(fresh, i(k), i(k * k));
    }
    results.push(fresh.into());
    let inner = inner.finish(&results);

    let mut program = LoopProgram::default();
    let callee = program.funcs.push(inner);
    let mut outer = Writer::new("outer");
    let buffer = outer.param(F64S, Role::InOut);
    let shifted = outer.value(F64S);
    outer.stmt(Stmt::Offset { dst: shifted, buffer, index: i(2) });
    let mut args: Vec<Atom> = (0..12).map(|k| f(k as f64 + 0.5)).collect();
    args.extend((0..12).map(i));
    args.extend([b(false), shifted.into()]);
    let mut kinds = Vec::new();
    for _ in 0..12 {
        kinds.extend([Kind::F64, Kind::I64]);
    }
    kinds.extend([Kind::BOOL, I64S]);
    let results = outer.call(callee, &kinds, &args);
    let results: Vec<Atom> = results.into_iter().map(Atom::from).collect();
    program.funcs.push(outer.finish(&results));
    for (name, compiled) in compile(&with_sites(program)).unwrap().0 {
        let mut cells = [0.0; 5];
        let mut workspace = Workspace::new();
        let mut words = vec![0; 26];
        let args = &mut [Arg::F64sMut(&mut cells)];
        // SAFETY: the program writes cell 3.
        unsafe { compiled.call(&mut workspace, args, &mut words) }.unwrap();
        assert_eq!(cells, [0.0, 0.0, 0.0, 11.5, 0.0], "{name}");
        for k in 0..12 {
            assert_eq!(float(words[2 * k]), -(11 - k as i64) as f64 - 0.5, "{name}");
            assert_eq!(words[2 * k + 1] as i64, -(11 - k as i64), "{name}");
        }
        assert_eq!(words[24], 1, "{name}");
        // SAFETY: the returned buffer has three cells and lies in the workspace.
        let returned = unsafe { std::slice::from_raw_parts(words[25] as *const i64, 3) };
        assert_eq!(returned, [0, 1, 4], "{name}");
    }
}

/// As many parameters as a tape of a long function has parts.
#[test]
fn calls_pass_thousands_of_parameters() {
    passes(9000, |program| {
        Ok(Engines(vec![("Cranelift", jut_cranelift::BACKEND.compile(program)?)]))
    });
    // The compile time of others grows faster than the number of parameters.
    passes(300, compile);
}

fn passes(n: usize, compile: impl Fn(&LoopProgram) -> Result<Engines, CompileError>) {
    let mut inner = Writer::new("inner");
    let mut results: Vec<Atom> = Vec::new();
    for k in 0..n {
        let param = inner.input([Kind::F64, Kind::I64, Kind::BOOL][k % 3]);
        results.push(match k % 3 {
            0 => inner.prim(prim::NEG, &[param.into()]).into(),
            1 => inner.prim(prim::INEG, &[param.into()]).into(),
            _ => inner.prim(prim::NOT, &[param.into()]).into(),
        });
    }
    let inner = inner.finish(&results);
    let mut program = LoopProgram::default();
    let callee = program.funcs.push(inner);
    let mut outer = Writer::new("outer");
    let kinds: Vec<Kind> = (0..n).map(|k| [Kind::F64, Kind::I64, Kind::BOOL][k % 3]).collect();
    let args: Vec<Atom> = kinds.iter().map(|kind| outer.input(*kind).into()).collect();
    let results = outer.call(callee, &kinds, &args);
    let results: Vec<Atom> = results.into_iter().map(Atom::from).collect();
    program.funcs.push(outer.finish(&results));
    let compiled = compile(&with_sites(program)).unwrap();

    let mut given: Vec<Arg<'_>> = (0..n)
        .map(|k| match k % 3 {
            0 => Arg::F64(k as f64),
            1 => Arg::I64(k as i64),
            _ => Arg::Bool(k % 2 == 0),
        })
        .collect();
    let words = run(&compiled, &mut given).unwrap();
    for (k, word) in words.iter().enumerate() {
        match k % 3 {
            0 => assert_eq!(float(*word), -(k as f64)),
            1 => assert_eq!(*word as i64, -(k as i64)),
            _ => assert_eq!(*word, u64::from(k % 2 == 1)),
        }
    }
}

#[test]
fn cells_of_every_kind_are_stored_loaded_filled_and_copied() {
    for n in [0i64, 1, 5, 8, 9, 100] {
        for literal_length in [true, false] {
            let mut w = Writer::new("f");
            let length = w.input(Kind::I64);
            let n_atom = if literal_length { i(n) } else { length.into() };
            let [fs, is, bs] = [F64S, I64S, BOOLS].map(|kind| w.param(kind, Role::Out));
            let to = [F64S, I64S, BOOLS].map(|kind| w.param(kind, Role::Out));
            let values = [f(-0.0), i(-7), b(true)];
            for (buffer, value) in [fs, is, bs].into_iter().zip(values) {
                w.stmt(Stmt::Fill { buffer, len: n_atom, value });
            }
            w.for_(Order::Par, (i(1), n_atom), &[], |w, k, _| {
                let x = w.load(Kind::I64, is, k.into());
                let y = w.prim(prim::IADD, &[x.into(), k.into()]);
                w.store(is, k.into(), y.into());
                let odd = w.prim(prim::IREM, &[k.into(), i(2)]);
                let odd = w.prim(prim::IEQ, &[odd.into(), i(1)]);
                w.store(bs, k.into(), odd.into());
                vec![]
            });
            w.for_(Order::Up, (i(1), n_atom), &[], |w, k, _| {
                let before = w.prim(prim::ISUB, &[k.into(), i(1)]);
                let x = w.load(Kind::F64, fs, before.into());
                let x = w.prim(prim::SUB, &[x.into(), f(1.0)]);
                w.store(fs, k.into(), x.into());
                vec![]
            });
            for ((dst, src), cell) in
                to.into_iter().zip([fs, is, bs]).zip([Cell::F64, Cell::I64, Cell::BOOL])
            {
                w.stmt(Stmt::CopyCells { dst, src, len: n_atom, cell });
            }
            let compiled = compile(&program(w.finish(&[]))).unwrap();
            let size = n as usize + 1;
            let (mut fs, mut is, mut bs) = (vec![9.0; size], vec![9; size], vec![true; size]);
            let (mut tf, mut ti, mut tb) = (vec![9.0; size], vec![9; size], vec![true; size]);
            run(
                &compiled,
                &mut [
                    Arg::I64(n),
                    Arg::F64sMut(&mut fs),
                    Arg::I64sMut(&mut is),
                    Arg::BoolsMut(&mut bs),
                    Arg::F64sMut(&mut tf),
                    Arg::I64sMut(&mut ti),
                    Arg::BoolsMut(&mut tb),
                ],
            )
            .unwrap();
            for k in 0..n as usize {
                assert_eq!(tf[k].to_bits(), (-0.0 - k as f64).to_bits());
                assert_eq!(ti[k], -7 + k as i64);
                assert_eq!(tb[k], k == 0 || k % 2 == 1);
            }
            assert_eq!((&fs, &is, &bs), (&tf, &ti, &tb));
            assert_eq!((tf[n as usize], ti[n as usize], tb[n as usize]), (9.0, 9, true));
        }
    }
}

#[test]
fn buffers_of_buffers_hold_pointers() {
    let mut w = Writer::new("f");
    let n = w.input(Kind::I64);
    let rows = w.alloc(Cell::Buffer, n.into(), Arena::Temp, site(E::Memory));
    w.for_(Order::Up, (i(0), n.into()), &[], |w, k, _| {
        let row = w.alloc(Cell::F64, k.into(), Arena::Temp, site(E::Memory));
        let x = w.prim(prim::FLOAT, &[k.into()]);
        w.stmt(Stmt::Fill { buffer: row, len: k.into(), value: x.into() });
        w.store(rows, k.into(), row.into());
        vec![]
    });
    let sum = w.for_(Order::Down, (i(0), n.into()), &[(Kind::F64, f(0.0))], |w, k, carry| {
        let row = w.load(F64S, rows, k.into());
        let inner =
            w.for_(Order::Up, (i(0), k.into()), &[(Kind::F64, carry[0].into())], |w, j, carry| {
                let x = w.load(Kind::F64, row, j.into());
                vec![w.prim(prim::ADD, &[carry[0].into(), x.into()]).into()]
            });
        vec![inner[0].into()]
    });
    let compiled = compile(&with_sites(program(w.finish(&[sum[0].into()])))).unwrap();
    for n in [0, 1, 10, 1000] {
        let got = run(&compiled, &mut [Arg::I64(n)]).unwrap();
        let expected: i64 = (0..n).map(|k| k * k).sum();
        assert_eq!(float(got[0]), expected as f64);
    }
}

#[test]
fn every_check_fails_exactly_when_it_does_not_hold() {
    let numbers = [0, 1, 2, 3, -1, -2, i64::MAX, i64::MAX - 1, i64::MIN];
    type Holds = fn(i128, i128, i128) -> bool;
    type Make = fn([Atom; 3]) -> Check;
    let checks: [(E, usize, Make, Holds); 5] = [
        (E::Index, 2, |a| Check::Below(a[0], a[1]), |i, n, _| 0 <= i && i < n),
        (
            E::Slice,
            3,
            |a| Check::Within(a[0], a[1], a[2]),
            |low, len, n| 0 <= low && 0 <= len && low + len <= n,
        ),
        (E::NegativeSize, 1, |a| Check::NonNegative(a[0]), |n, _, _| 0 <= n),
        (E::SizeMismatch, 2, |a| Check::Equal(a[0], a[1]), |a, b, _| a == b),
        (E::DivisionByZero, 0, |a| Check::NonZero(a[0]), |a, _, _| a != 0),
    ];
    for (kind, count, make, holds) in checks {
        let mut w = Writer::new("f");
        let args = [Kind::I64; 3].map(|kind| Atom::from(w.input(kind)));
        w.check(make(args), site(kind));
        let compiled = compile(&with_sites(program(w.finish(&[i(42)])))).unwrap();
        for a in numbers {
            for b in numbers {
                for c in numbers {
                    let got = run(&compiled, &mut [Arg::I64(a), Arg::I64(b), Arg::I64(c)]);
                    if holds(a.into(), b.into(), c.into()) {
                        assert_eq!(got.unwrap(), [42]);
                    } else {
                        let Err(CallError::Run(error)) = got else { panic!("{kind:?} held") };
                        assert_eq!(error.kind, kind);
                        assert_eq!(error.operands, [a, b, c][..count]);
                    }
                }
            }
        }
    }
}

#[test]
fn checks_against_literal_lengths_hold_below_them() {
    let mut w = Writer::new("f");
    let k = w.input(Kind::I64);
    w.check(Check::Below(k.into(), i(10)), site(E::Index));
    let compiled = compile(&with_sites(program(w.finish(&[k.into()])))).unwrap();
    for k in [-1, 0, 9, 10, i64::MIN, i64::MAX] {
        assert_eq!(run(&compiled, &mut [Arg::I64(k)]).is_ok(), (0..10).contains(&k));
    }
}

#[test]
fn an_error_leaves_through_all_calls_and_loops() {
    let mut program = LoopProgram::default();
    let mut w = Writer::new("inner");
    let k = w.input(Kind::I64);
    w.check(Check::Below(k.into(), i(100)), site(E::Index));
    let x = w.prim(prim::FLOAT, &[k.into()]);
    let mut callee = program.funcs.push(w.finish(&[x.into()]));
    for _ in 0..3 {
        let mut w = Writer::new("middle");
        let n = w.input(Kind::I64);
        let sum = w.lanes((i(0), n.into()), 1, |w, k, sum| {
            let next = w.prim(prim::IADD, &[k.into(), i(1)]);
            let x = w.call(callee, &[Kind::F64], &[next.into()]);
            vec![w.prim(prim::ADD, &[sum[0].into(), x[0].into()]).into()]
        });
        callee = program.funcs.push(w.finish(&[sum[0].into()]));
    }
    let compiled = compile(&with_sites(program)).unwrap();
    assert!(run(&compiled, &mut [Arg::I64(20)]).is_ok());
    let Err(CallError::Run(error)) = run(&compiled, &mut [Arg::I64(200)]) else {
        panic!("no error");
    };
    assert_eq!((error.kind, &error.operands[..]), (E::Index, &[100, 100][..]));
}

#[test]
fn arguments_are_checked_before_the_call() {
    let mut w = Writer::new("f");
    let xs = w.param(F64S, Role::Out);
    w.store(xs, i(0), f(1.0));
    let compiled = compile(&program(w.finish(&[]))).unwrap();
    let mut cells = [0.0];
    for wrong in [&mut [][..], &mut [Arg::F64s(&cells)], &mut [Arg::I64sMut(&mut [0])]] {
        assert!(matches!(run(&compiled, wrong), Err(CallError::Arguments(_))));
    }
    run(&compiled, &mut [Arg::F64sMut(&mut cells)]).unwrap();
    assert_eq!(cells, [1.0]);
}

#[test]
fn malformed_programs_are_errors() {
    let mut w = Writer::new("f");
    let never = w.value(Kind::F64);
    let unset = program(w.finish(&[never.into()]));
    let mut w = Writer::new("f");
    w.check(Check::NonNegative(i(1)), site(E::Index));
    let placeless = program(w.finish(&[]));
    for (name, backend) in backends() {
        assert!(backend.compile(&LoopProgram::default()).is_err(), "{name}");
        assert!(backend.compile(&unset).is_err(), "{name}");
        assert!(backend.compile(&placeless).is_err(), "{name}");
    }
}

#[test]
fn a_program_shows_as_text() {
    let source = sums(0);
    let clif = jut_cranelift::clif(&source).unwrap();
    assert!(clif.starts_with("; f\nfunction") && clif.contains("fmul") && clif.contains("; entry"));
    let assembly = jut_cranelift::assembly(&source).unwrap();
    assert!(assembly.starts_with("; f\n") && assembly.contains("block0"));
}
