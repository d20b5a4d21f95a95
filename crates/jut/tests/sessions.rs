//! What sessions promise: no allocation in the steady state, the same bits on every thread, errors
//! that name what is wrong, and code memory that comes back.
//!
//! These tests and those of `tapes.rs` share a compiled function, and a tape, among eight threads. What
//! ThreadSanitizer says of that (it needs `rustup component add rust-src`; machine code made in
//! memory is not instrumented, everything around it is):
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=thread cargo test -Zbuild-std \
//!   --target x86_64-unknown-linux-gnu -p jut --test all -- sessions:: tapes::
//! ```

use jut::{Arg, Array, Engine, Error, Model, Out, Value};

/// How often the work asks the system's allocator for memory.
fn allocations(work: impl FnOnce()) -> u64 {
    allocation_counter::measure(work).count_total
}

/// A program with a tape, temporary arrays, an index that can be out of range, and a result whose
/// size is computed.
const PROGRAM: &str = "
def f[n, m](x: [n]f64, ix: [m]i64, k: i64) -> f64 = {
  y = for (t < k) carry (y = x) { build (i < n) { sin(y[i]) + 0.5 * y[i] } }
  sum (i < m) { y[ix[i]] * exp(x[ix[i]]) }
}
def half[n](x: [n]f64) -> (m: i64, y: [m]f64) = {
  m = n / 2
  y = build (i < m) { x[2 * i] * x[2 * i] }
  (m, y)
}
";

#[test]
fn repeated_calls_allocate_nothing_also_after_an_error() {
    let model = Model::from_text(PROGRAM).expect("a program");
    let gradient = model.function("f").and_then(|f| f.value_and_gradient()).expect("a gradient");
    let mut session = gradient.session();
    let x: Vec<f64> = (0..100).map(|i| 0.01 * i as f64).collect();
    let good: Vec<i64> = vec![0, 5, 99, 5];
    let bad: Vec<i64> = vec![0, 5, 100, 5];
    let shape = [100];
    let call = |session: &mut jut::Session, ix: &Vec<i64>| {
        let args: [Arg<'_>; 3] = [(&x, &shape).into(), ix.into(), 7.into()];
        session.call(&args).map(|r| r.f64("value").expect("a value").to_bits())
    };
    let first = call(&mut session, &good).expect("good");
    let mut value = [0.0];
    let mut dx = vec![0.0; 100];
    for _ in 0..3 {
        call(&mut session, &good).expect("good");
    }
    let steady = allocations(|| {
        for _ in 0..10 {
            assert_eq!(call(&mut session, &good).ok(), Some(first));
        }
    });
    assert_eq!(steady, 0);
    let error = call(&mut session, &bad).expect_err("index 100 of 100");
    assert!(error.to_string().starts_with("R01: index 100 is out of range for length 100"));
    let after = allocations(|| assert_eq!(call(&mut session, &good).ok(), Some(first)));
    assert_eq!(after, 0);
    let mut into = || {
        let args: [Arg<'_>; 3] = [(&x).into(), (&good).into(), 7.into()];
        let [value] = &mut value;
        session.call_into(&args, &mut [value.into(), (&mut dx).into()]).expect("it fits");
    };
    into();
    assert_eq!(allocations(into), 0);
    assert_eq!(value[0].to_bits(), first);
}

#[test]
fn results_of_computed_size_allocate_nothing_either() {
    let model = Model::from_text(PROGRAM).expect("a program");
    let half = model.function("half").and_then(|f| f.value()).expect("half");
    let mut session = half.session();
    let x: Vec<f64> = (0..9).map(f64::from).collect();
    let mut run = || {
        let results = session.call(&[(&x).into()]).expect("it runs");
        assert_eq!(results.f64s("y").ok(), Some(&[0.0, 4.0, 16.0, 36.0][..]));
    };
    run();
    assert_eq!(allocations(run), 0);
    let values = half.call(&[(&x).into()]).expect("it runs");
    assert_eq!(values[0], Value::I64(4));
    let y = Array { shape: vec![4], data: vec![0.0, 4.0, 16.0, 36.0] };
    assert_eq!(values[1], Value::F64s(y));
}

#[test]
fn eight_threads_get_the_same_bits() {
    let model = Model::from_text(PROGRAM).expect("a program");
    let gradient = model.function("f").and_then(|f| f.gradient()).expect("a gradient");
    let x: Vec<f64> = (0..1000).map(|i| (i as f64).sin()).collect();
    let ix: Vec<i64> = (0..1000).map(|i| (i * 7) % 1000).collect();
    let run = || -> Vec<u64> {
        let mut session = gradient.session();
        let mut bits = Vec::new();
        for k in 1..20 {
            let results = session.call(&[(&x).into(), (&ix).into(), k.into()]).expect("it runs");
            bits.extend(results.f64s("x").expect("a gradient").iter().map(|g| g.to_bits()));
        }
        bits
    };
    let alone = run();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
        for thread in threads {
            assert!(thread.join().is_ok_and(|bits| bits == alone));
        }
    });
}

#[test]
fn a_gradient_fails_exactly_where_its_function_does() {
    let model = Model::from_text(PROGRAM).expect("a program");
    for engine in [Engine::Cranelift, Engine::Interpreter] {
        let f = model.function("f").expect("f").engine(engine);
        for compiled in [f.value(), f.gradient(), f.value_and_gradient()] {
            let compiled = compiled.expect("it compiles");
            let error = compiled
                .call(&[(&[1.0, 2.0]).into(), (&[0i64, -1]).into(), 0.into()])
                .expect_err("index -1");
            let Error::Run(error) = error else { panic!("{error}") };
            assert_eq!((error.code(), error.error().operands.as_slice()), ("R01", &[-1, 2][..]));
            assert_eq!(error.position().0, 4, "{error}");
        }
    }
}

#[test]
fn the_memory_limit_is_an_error_value() {
    let model = Model::from_text(PROGRAM).expect("a program");
    let x = vec![0.5; 1000];
    for engine in [Engine::Cranelift, Engine::Interpreter] {
        let f = model.function("f").expect("f").engine(engine).memory_limit(1 << 20);
        let gradient = f.gradient().expect("a gradient");
        let mut session = gradient.session();
        let mut call =
            |k: i64| session.call(&[(&x).into(), (&[3i64]).into(), k.into()]).map(|_| ());
        call(3).expect("a small tape fits");
        let Err(Error::Run(error)) = call(100_000) else { panic!("800 MB fit into 1 MB") };
        assert_eq!(error.code(), "R06");
        call(3).expect("and again");
    }
    // A result larger than all memory is an error too, not an abort.
    let model = Model::from_text("def f(n: i64) -> (m: i64, y: [m]f64) = {\n  m = n * n\n  check m >= 0\n  y = build (i < m) { f64(i) }\n  (m, y)\n}").expect("a program");
    let f = model.function("f").and_then(|f| f.value()).expect("it compiles");
    let Err(Error::Run(error)) = f.call(&[1_000_000_000.into()]) else { panic!("8e18 bytes") };
    assert_eq!(error.code(), "R06");
}

#[test]
fn wrong_requests_say_what_there_is() {
    let model = Model::from_text(PROGRAM).expect("a program");
    let text = |e: Error| e.to_string();
    assert!(model.function("g").map(|_| ()).map_err(text).unwrap_err().contains("f, half"));
    let f = model.function("f").expect("f");
    let wrong = |names: &[&str]| f.clone().wrt(names).map(|_| ()).map_err(text).unwrap_err();
    assert!(wrong(&["z"]).contains("`z` is not a parameter"));
    assert!(wrong(&["ix"]).contains("`ix` has no float"));
    let half = model.function("half").expect("half");
    assert!(half.gradient().map(|_| ()).map_err(text).unwrap_err().contains("J802"));
    let value = half.value().expect("half");
    let mut session = value.session();
    let results = session.call(&[(&[1.0, 2.0]).into()]).expect("it runs");
    assert!(results.f64("y").map_err(text).unwrap_err().contains("y: [m]f64"));
}

#[test]
fn memory_for_results_must_fit() {
    let model = Model::from_text(PROGRAM).expect("a program");
    let f = model.function("f").expect("f");
    for engine in [Engine::Cranelift, Engine::Interpreter] {
        let gradient = f.clone().engine(engine).value_and_gradient().expect("a gradient");
        let mut session = gradient.session();
        let args: [Arg<'_>; 3] = [(&[1.0, 2.0]).into(), (&[0i64]).into(), 1.into()];
        let (mut value, mut short, mut long) = (0.0, [0.0], [0.0; 2]);
        let mut outs = [Out::from(&mut value), Out::from(&mut short)];
        let Err(Error::Argument(e)) = session.call_into(&args, &mut outs) else { panic!("short") };
        assert_eq!(e.parameter(), "x");
        assert!(session.call_into(&args, &mut [Out::from(&mut long)]).is_err());
        session.call_into(&args, &mut [(&mut value).into(), (&mut long).into()]).expect("fits");
        let expected = (1.0f64.sin() + 0.5) * 1.0f64.exp();
        assert!((value - expected).abs() < 1e-14, "{value} {expected}");
    }
}

/// What a call gives does not depend on the calls before it, also where these had the same sizes.
#[test]
fn a_session_finds_the_sizes_of_every_call() {
    let text = "
def rows[n, m](a: [n, m]f64) -> (s: [n]f64, t: [m, n]f64) =
  (build (i < n) { sum (j < m) { a[i, j] } }, build (j < m) { build (i < n) { a[i, j] } })
def line(n: i64, a: f64) -> [n]f64 = build (i < n) { a * f64(i) }
";
    let model = Model::from_text(text).expect("a program");
    let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    for engine in [Engine::Cranelift, Engine::Interpreter] {
        let value = |name| model.function(name).and_then(|f| f.engine(engine).value());
        let mut session = value("rows").expect("rows").session();
        let call = |session: &mut jut::Session, shape: &[usize; 2]| {
            let results = session.call(&[(&a[..], shape).into()]).expect("it fits");
            let (shape, t) = results.array::<f64>("t").expect("an array");
            (results.f64s("s").expect("sums").to_vec(), shape.to_vec(), t[1])
        };
        let wide = (vec![6.0, 15.0], vec![3, 2], 4.0);
        let tall = (vec![3.0, 7.0, 11.0], vec![2, 3], 3.0);
        let (mut s, mut t) = ([0.0; 3], [0.0; 6]);
        for _ in 0..3 {
            assert_eq!(call(&mut session, &[2, 3]), wide);
            assert_eq!(call(&mut session, &[2, 3]), wide);
            assert_eq!(call(&mut session, &[3, 2]), tall);
            // Without its shape nobody knows what the matrix is, whatever the last one was.
            assert!(session.call(&[(&a).into()]).is_err_and(|e| e.code() == Some("A04")));
            for _ in 0..2 {
                let args = [(&a[..], &[3, 2]).into()];
                session.call_into(&args, &mut [(&mut s).into(), (&mut t).into()]).expect("it fits");
                assert_eq!((s, t[1]), ([3.0, 7.0, 11.0], 3.0));
            }
            assert_eq!(call(&mut session, &[3, 2]), tall);
            let args = [(&a[..4], &[2, 2]).into()];
            let outs = &mut [(&mut s[..2]).into(), (&mut t[..4]).into()];
            session.call_into(&args, outs).expect("it fits");
            assert_eq!(call(&mut session, &[2, 3]), wide);
            session.release_memory();
        }
        let mut session = value("line").expect("line").session();
        for n in [3, 3, 5, 0, 0, 3] {
            let results = session.call(&[n.into(), 2.0.into()]).expect("it runs");
            let expected: Vec<f64> = (0..n).map(|i| 2.0 * i as f64).collect();
            assert_eq!(results.f64s("value").ok(), Some(&expected[..]));
        }
        assert!(session.call(&[1.5.into(), 2.0.into()]).is_err_and(|e| e.code() == Some("A02")));
    }
}

#[test]
fn calls_of_two_sizes_in_turns_allocate_nothing() {
    let model = Model::from_text(PROGRAM).expect("a program");
    let gradient = model.function("f").and_then(|f| f.value_and_gradient()).expect("a gradient");
    let mut session = gradient.session();
    let x = [0.5; 100];
    let mut both = || {
        for n in [100, 60] {
            let args: [Arg<'_>; 3] = [(&x[..n]).into(), (&[3i64, 5]).into(), 7.into()];
            let results = session.call(&args).expect("it runs");
            assert_eq!(results.f64s("x").map(<[f64]>::len).ok(), Some(n));
        }
    };
    for _ in 0..4 {
        both();
    }
    assert_eq!(allocations(both), 0);
}

/// Single calls, and the same elements as a batch on one and on several threads: the same bits, in order.
#[test]
fn batches_have_the_bits_of_single_calls() {
    use jut::Batched::{Each, Same};
    let text = "
def f[n](x: [n]f64, k: i64, p: #(f64, [2]f64)) -> (f64, [n]f64, #(i64, f64)) = {
  check 6 < size(x) + k
  y = build (i < n) { sin(x[i]) * p.0 + p.1[0] * f64(k) }
  (sum (i < n) { y[i] * y[i] }, y, #(k * k, p.1[1] / x[0]))
}
def half(m: i64) -> (n: i64, y: [n]f64) = { n = m / 2; y = build (i < n) { 1.0 }; (n, y) }
";
    let model = Model::from_text(text).expect("a program");
    let f = model.function("f").and_then(|f| f.value()).expect("a function");
    let count = 7;
    let x: Vec<f64> = (0..count * 3).map(|i| 0.3 * i as f64 - 1.0).collect();
    let k: Vec<i64> = (4..4 + count as i64).collect();
    let array =
        |shape: &[usize], data: Vec<f64>| Value::F64s(Array { shape: shape.to_vec(), data });
    let p = [
        array(&[count], (0..count).map(|i| i as f64).collect()),
        array(&[count, 2], (0..2 * count).map(|i| 1.0 / (1.0 + i as f64)).collect()),
    ];
    let single: Vec<Vec<Value>> = (0..count)
        .map(|i| {
            let p: Vec<Value> = p.iter().filter_map(|p| p.element(i)).collect();
            f.call(&[(&x[3 * i..3 * i + 3]).into(), k[i].into(), Arg::Values(&p)]).expect("a value")
        })
        .collect();
    let shape = [count, 3];
    let args = [Each((&x[..], &shape).into()), Each((&k).into()), Each(Arg::Values(&p))];
    for threads in [1, 2, 3, 20] {
        let all = f.call_batch(&args, std::num::NonZeroUsize::new(threads)).expect("values");
        for (i, single) in single.iter().enumerate() {
            for (one, all) in single.iter().zip(&all) {
                assert!(all.element(i).is_some_and(|e| e.same_bits(one)), "{i}: {all:?}");
            }
        }
    }
    assert!(f.call_batch(&args, None).is_ok());
    // The first element that fails says why, whatever the others do.
    let low: Vec<i64> = (0..count as i64).map(|i| 9 - 2 * i).collect();
    let args = [Each((&x[..], &shape).into()), Each((&low).into()), Each(Arg::Values(&p))];
    for threads in [1, 4] {
        let error =
            f.call_batch(&args, std::num::NonZeroUsize::new(threads)).expect_err("it fails");
        assert_eq!(error.code(), Some("R01"));
    }
    let code = |args: &[jut::Batched<'_>]| f.call_batch(args, None).expect_err("refused").code();
    assert_eq!(
        code(&[Each((&x[..], &shape).into()), Each((&k[1..]).into()), args[2]]),
        Some("A03")
    );
    assert_eq!(code(&[Same((&x).into()), Same(1.into()), Same(Arg::Values(&p))]), Some("A02"));
    assert_eq!(
        code(&[Each((&x[..0], &[0, 3]).into()), Same(1.into()), Same(1.0.into())]),
        Some("A02")
    );
    assert_eq!(code(&[Each(1.0.into()), args[1], args[2]]), Some("A02"));
    // Results of different sizes have no array of their own.
    let half = model.function("half").and_then(|f| f.value()).expect("a function");
    assert_eq!(half.call_batch(&[Each((&k).into())], None).expect_err("sizes").code(), Some("A03"));
    assert!(half.call_batch(&[Each((&[4, 5, 4]).into())], None).is_ok());
}

/// Batches that are worth several threads, the second one with what is known from the first: the same bits, and the first error.
#[test]
fn batches_on_several_threads_have_the_bits_of_single_calls() {
    use jut::Batched::{Each, Same};
    let text =
        "def f[n](x: [n]f64, k: i64, m: i64, y: [7]f64) -> (f64, i64, [n]f64, #([2]f64, i64)) = {
      s = for (j < m) carry (s = 0.0) { sin(s + f64(j)) }
      q = 10 / k
      (s * x[0] + y[k % 10], q, build (i < n) { x[i] * s }, #([s, f64(k)], k))
    }";
    let model = Model::from_text(text).expect("a program");
    let f = model.function("f").and_then(|f| f.value()).expect("a function");
    let y = [1.5; 7];
    // Some milliseconds each; a few microseconds, of which many are worth it.
    for (count, m) in [(12, 100_000), (300, 200)] {
        let x: Vec<f64> = (0..3 * count).map(|i| 0.01 * i as f64 - 1.0).collect();
        let shape = [count, 3];
        let mut k: Vec<i64> = (0..count as i64).map(|k| 1 + k % 7).collect();
        k.iter_mut().for_each(|k| *k = (*k).min(6));
        let all = |k: &[i64], threads| {
            let args =
                [Each((&x[..], &shape).into()), Each(k.into()), Same(m.into()), Same((&y).into())];
            f.call_batch(&args, std::num::NonZeroUsize::new(threads))
        };
        let single: Vec<Vec<Value>> = (0..count)
            .map(|i| {
                let x = &x[3 * i..3 * i + 3];
                f.call(&[x.into(), k[i].into(), m.into(), (&y).into()]).expect("a value")
            })
            .collect();
        for threads in [2, 3, 2, 16, 1] {
            let all = all(&k, threads).expect("values");
            for (i, single) in single.iter().enumerate() {
                for (one, all) in single.iter().zip(&all) {
                    assert!(all.element(i).is_some_and(|e| e.same_bits(one)), "{i}: {one:?}");
                }
            }
        }
        // An index that is too large, and a division by zero.
        for (large, zero) in [(count - 1, 7), (5, 9), (0, count / 2), (count - 1, 0)] {
            let (mut k, first) = (k.clone(), if large < zero { "R01" } else { "R05" });
            (k[large], k[zero]) = (8, 0);
            for threads in [2, 5, 1] {
                let error = all(&k, threads).expect_err("it fails");
                assert_eq!(error.code(), Some(first), "{large}, {zero}, {threads}");
            }
        }
        assert!(all(&k, 2).is_ok());
    }
}

/// Memory of the caller gets what `call_batch` gives, on one and on several threads; what does not fit is refused, and so is what
/// has no array of its own.
#[test]
fn batches_go_into_memory_of_the_caller() {
    use jut::Batched::{Each, Same};
    let text = "
def f[n](x: [n]f64, k: i64, m: i64) -> (f64, i64, bool, [n, 2]f64, [n]f32) = {
  s = for (j < m) carry (s = 0.0) { sin(s + f64(j)) }
  check 0 < k
  (s * x[0], k * k, 3 < k, build (i < n) { [x[i] * s, f64(k)] }, build (i < n) { f32(x[i]) })
}
def pair(x: f64) -> #(f64, f64) = #(x, x)
";
    let model = Model::from_text(text).expect("a program");
    let f = model.function("f").and_then(|f| f.value()).expect("a function");
    // One element, some, and so many that they are worth several threads.
    for (count, m) in [(1, 3), (7, 3), (300, 200), (12, 100_000)] {
        let x: Vec<f64> = (0..3 * count).map(|i| 0.01 * i as f64 - 1.0).collect();
        let mut k: Vec<i64> = (0..count as i64).map(|k| 1 + k % 7).collect();
        let shape = [count, 3];
        let x = Arg::from((&x[..], &shape));
        let all = f.call_batch(&[Each(x), Each((&k).into()), Same(m.into())], None);
        let all = all.expect("values");
        for threads in [1, 2, 3, 16] {
            let threads = std::num::NonZeroUsize::new(threads);
            let (mut a, mut b, mut c) = (vec![7.0; count], vec![7; count], vec![false; count]);
            let (mut d, mut e) = (vec![7.0; 6 * count], vec![7.0_f32; 3 * count]);
            let args = [Each(x), Each((&k).into()), Same(m.into())];
            let outs = &mut [
                (&mut a).into(),
                (&mut b).into(),
                (&mut c).into(),
                (&mut d).into(),
                Out::F32s(&mut e),
            ];
            f.call_batch_into(&args, threads, outs).expect("values");
            let array = |shape: &[usize], data| Value::F64s(Array { shape: shape.to_vec(), data });
            assert!(all[0].same_bits(&array(&[count], a)), "{threads:?}");
            assert_eq!(all[1], Value::I64s(Array { shape: vec![count], data: b }));
            assert_eq!(all[2], Value::Bools(Array { shape: vec![count], data: c }));
            assert!(all[3].same_bits(&array(&[count, 3, 2], d)), "{threads:?}");
            assert_eq!(all[4], Value::F32s(Array { shape: vec![count, 3], data: e }));
        }
        // One element that fails.
        k[count / 2] = 0;
        let (mut a, mut b, mut c) = (vec![0.0; count], vec![0; count], vec![false; count]);
        let (mut d, mut e) = (vec![0.0; 6 * count], vec![0.0_f32; 3 * count]);
        let outs = &mut [
            (&mut a).into(),
            (&mut b).into(),
            (&mut c).into(),
            (&mut d).into(),
            Out::F32s(&mut e),
        ];
        let error = f.call_batch_into(&[Each(x), Each((&k).into()), Same(m.into())], None, outs);
        assert_eq!(error.expect_err("it fails").code(), Some("R01"));
    }
    let args = [Each((&[1.0; 6][..], &[2, 3]).into()), Same(1.into()), Same(1.into())];
    let code = |sizes: [usize; 4], floats: bool, last: bool| {
        let [mut a, mut d] = [sizes[0], sizes[3]].map(|size| vec![0.0; size]);
        let (mut b, mut c) = (vec![0; sizes[1]], vec![false; sizes[2]]);
        let (mut e, mut wrong) = ([0.0_f32; 6], [0.0; 6]);
        let mut outs: Vec<Out<'_>> =
            vec![(&mut a).into(), (&mut b).into(), (&mut c).into(), (&mut d).into()];
        let narrow = if floats { Out::from(&mut wrong) } else { Out::F32s(&mut e) };
        outs.extend(last.then_some(narrow));
        f.call_batch_into(&args, None, &mut outs).err().and_then(|e| e.code())
    };
    assert_eq!(code([2, 2, 2, 12], false, true), None);
    for sizes in [[1, 2, 2, 12], [2, 3, 2, 12], [2, 2, 0, 12], [2, 2, 2, 6], [2, 2, 2, 13]] {
        assert_eq!(code(sizes, false, true), Some("A05"), "{sizes:?}");
    }
    assert_eq!(code([2, 2, 2, 12], true, true), Some("A05"));
    assert_eq!(code([2, 2, 2, 12], false, false), Some("A01"));
    let pair = model.function("pair").and_then(|f| f.value()).expect("a function");
    let (mut x, mut y) = ([0.0; 2], [0.0; 2]);
    let outs = &mut [(&mut x).into(), (&mut y).into()];
    let error = pair.call_batch_into(&[Each((&[1.0, 2.0]).into())], None, outs);
    assert_eq!(error.expect_err("a tuple").code(), Some("A01"));
}
