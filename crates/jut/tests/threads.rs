//! Loops on several threads: the bits of one thread, its errors, and its limits.

use jut::{Cancellation, Engine, Error, Model};
use std::time::Duration;

/// Sums in lanes and in order, rows of results, cells that are added to, memory of an iteration, branches.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "rows",
        "def f[n, m](x: [n, m]f64, w: [m]f64) -> f64 = sum (i < n) {
        s = sum (j < m) { sin(x[i, j] * w[j]) }
        s * s + s
    }",
    ),
    (
        "in_order",
        "def f[n, m](x: [n, m]f64, w: [m]f64) -> f64 = {
        s = for (i < n) carry (s = 0.0) { s + sum (j < m) { exp(0.01 * x[i, j] * w[j]) } }
        s * s
    }",
    ),
    (
        "paths",
        "def f[n, m](x: [n, m]f64, w: [m]f64) -> f64 = sum (i < n) {
        (p, a) = for (j < m) carry (p = w[0], a = 0.0) { q = p * exp(0.1 * x[i, j]); (q, a + q) }
        max(a - 1.5 * w[1] * f64(m), 0.0)
    }",
    ),
    (
        "temporary",
        "def f[n, m](x: [n, m]f64, w: [m]f64) -> f64 = sum (i < n) {
        y = for (j < m) { tanh(x[i, j]) * w[j] }
        z = for (j < m) { y[j] * y[m - 1 - j] }
        if (x[i, 0] > 0.0) { sum (j < m) { z[j] } } else { sum (j < m) { z[j] * z[j] } }
    }",
    ),
    (
        "rows_of_results",
        "def f[n, m](x: [n, m]f64, w: [m]f64) -> [n, m]f64 = for (i < n) {
        s = sum (j < m) { exp(x[i, j]) }
        for (j < m) { exp(x[i, j]) / s * w[j] }
    }",
    ),
    (
        "triangle",
        "def f[n, m](x: [n, m]f64, w: [m]f64) -> f64 =
        sum (i < n) { sum (j < min(i, 40)) { cos(x[i, 0] - x[j, 1]) } } * w[0]",
    ),
];

fn arguments(n: usize, m: usize) -> (Vec<f64>, Vec<f64>) {
    let x = (0..n * m).map(|k| ((k * 7919 % 1000) as f64 - 500.0) / 400.0).collect();
    (x, (0..m).map(|k| 1.0 + 0.1 * k as f64).collect())
}

fn engines() -> impl Iterator<Item = Engine> {
    Engine::all().filter(|engine| engine.is_built_in() && *engine != Engine::Interpreter)
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")
}

#[test]
fn as_many_threads_as_there_are_give_the_same_bits() {
    for (name, text) in PROGRAMS {
        let model = Model::from_text(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        // The others add to one array for all samples: their values are cut, and not their gradients, which the stage shows.
        if ["in_order", "paths"].contains(name) {
            let loops = jut::Stage::all().find(|stage| stage.name() == "loop").expect("a stage");
            let stage = model.function("f").and_then(|f| f.stage(loops)).expect("a stage");
            assert!(stage.contains(" shares "), "{name} is not cut");
        }
        // The second has more iterations than a round of sums.
        for (n, m) in [(3000, 12), (70_000, 3)] {
            let (x, w) = arguments(n, m);
            let shape = [n, m];
            let args = [(&x[..], &shape).into(), (&w[..]).into()];
            for engine in engines() {
                let f = model.function("f").expect("f").engine(engine);
                let compile = |f: jut::Function| match *name {
                    "rows_of_results" => f.value().expect(name),
                    _ => f.value_and_gradient().expect(name),
                };
                let one = compile(f.clone().parallel(false)).call(&args).expect(name);
                let many = compile(f);
                for threads in [1, 2, 16] {
                    let all = pool(threads).install(|| many.call(&args)).expect(name);
                    assert_eq!(
                        format!("{all:?}"),
                        format!("{one:?}"),
                        "{name} {engine:?} {threads}"
                    );
                }
            }
        }
    }
}

/// Each element of `k` is an index; at -1 there is a division by zero.
const FAILING: &str = "def f[n, m](x: [m]f64, k: [n]i64) -> f64 = sum (i < n) {
    s = sum (j < m) { sin(x[j] + f64(i)) }
    s * x[k[i]] / f64(10 / (k[i] + 1))
}";

#[test]
fn the_error_is_that_of_the_first_iteration_that_fails() {
    let model = Model::from_text(FAILING).expect("a program");
    let (x, _) = arguments(1, 40);
    for engine in engines() {
        let f = model.function("f").expect("f").engine(engine);
        let [one, many] = [false, true]
            .map(|parallel| f.clone().parallel(parallel).value_and_gradient().expect("a gradient"));
        for places in [[19_000, 7_000], [12_000, 12_001], [15, 19_999], [19_999, 19_998]] {
            let mut k = vec![3_i64; 20_000];
            // An index that is too large, and a division by zero.
            (k[places[0]], k[places[1]]) = (40, -1);
            let fails = |compiled: &jut::Compiled| {
                compiled
                    .call(&[(&x[..]).into(), (&k[..]).into()])
                    .expect_err("it fails")
                    .to_string()
            };
            let expected = fails(&one);
            for threads in [2, 4] {
                assert_eq!(pool(threads).install(|| fails(&many)), expected, "{places:?}");
            }
        }
    }
}

#[test]
fn a_limit_on_memory_holds_and_a_call_in_parts_can_be_cancelled() {
    let text = "def f[n](x: [n]f64, m: i64) -> f64 = sum (i < n) {
        y = for (j < m) { sin(x[i] * f64(j)) }
        sum (j < m) { y[j] * y[m - 1 - j] }
    }";
    let model = Model::from_text(text).expect("a program");
    let x = vec![0.5; 4000];
    for engine in engines() {
        let f = model.function("f").expect("f").engine(engine).memory_limit(4 << 20);
        let mut session = f.value().expect("a value").session();
        pool(3).install(|| {
            session.call(&[(&x[..]).into(), 100.into()]).expect("it fits");
            // Each thread would take 8 MB for an iteration.
            let error = session
                .call(&[(&x[..]).into(), 1_000_000.into()])
                .map(|_| ())
                .expect_err("too much");
            let Error::Run(error) = error else { panic!("{error}") };
            assert_eq!(error.code(), "R06");
            session.call(&[(&x[..]).into(), 100.into()]).expect("and again");
            let cancellation = Cancellation::new();
            session.set_cancellation(&cancellation);
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    std::thread::sleep(Duration::from_millis(30));
                    cancellation.cancel();
                });
                let x = vec![0.5; 40_000_000];
                let error = session
                    .call(&[(&x[..]).into(), 200.into()])
                    .map(|_| ())
                    .expect_err("cancelled");
                let Error::Run(error) = error else { panic!("{error}") };
                assert_eq!(error.code(), "R07");
            });
        });
    }
}

#[test]
fn calls_from_a_pool_of_the_caller_share_its_threads() {
    let (_, text) = PROGRAMS[0];
    let model = Model::from_text(text).expect("a program");
    let gradient = model.function("f").and_then(|f| f.gradient()).expect("a gradient");
    let (n, m) = (2000, 12);
    let (x, w) = arguments(n, m);
    let run = || gradient.call(&[(&x[..], &[n, m]).into(), (&w[..]).into()]).expect("it runs");
    let expected = format!("{:?}", run());
    pool(3).install(|| {
        rayon::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|_| assert_eq!(format!("{:?}", run()), expected));
            }
        });
    });
}

#[test]
fn products_of_large_matrices_are_cut_too() {
    let text = "def f[m, k, n](a: [m, k]f64, b: [k, n]f64) -> f64 = {
        c = matmul(a, b)
        sum (i < m, j < n) { c[i, j] * c[i, j] }
    }";
    let model = Model::from_text(text).expect("a program");
    let [m, k, n] = [301, 130, 97];
    let (of_a, of_b) = ([m, k], [k, n]);
    let (a, _) = arguments(m, k);
    let (b, _) = arguments(k, n);
    for engine in engines() {
        let f = model.function("f").expect("f").engine(engine);
        let args = [(&a[..], &of_a).into(), (&b[..], &of_b).into()];
        let one =
            f.clone().parallel(false).value_and_gradient().expect("f").call(&args).expect("f");
        let many = f.value_and_gradient().expect("f");
        for threads in [1, 2, 16] {
            let all = pool(threads).install(|| many.call(&args)).expect("f");
            assert_eq!(format!("{all:?}"), format!("{one:?}"), "{engine:?} {threads}");
        }
    }
}

/// A cell is read before the loop that adds to it. Without iterations, or where a check comes first, it need not be there.
#[test]
fn cells_that_are_not_there_are_not_read() {
    let text = "def f[n](y: [n]f64, k: i64) -> f64 = {
  var z = y
  for (i < k) {
    list = z
    for (j < (size(list) + 2) / 3) {
      part = list[j * 3 .. prim.min(j * 3 + 3, size(list))]
      check 0 >= 0
    }
    z[2] += 3.25
  }
  sum(z)
}
def g[n](y: [n]f64, x: f64, k: i64) -> f64 = {
  var z = y
  s = for (i < k) carry (s = x) {
    t = sum (j < 40) { sin(x * f64(i * j)) }
    z[2] += t
    s + t
  }
  s + sum(z)
}";
    let model = Model::from_text(text).expect("a program");
    let compiled = |engine: Engine| {
        ["f", "g"].map(|name| {
            let function = model.function(name).expect(name).engine(engine);
            function.value_and_gradient().expect(name)
        })
    };
    let ([f, g], long) = (compiled(Engine::Interpreter), [1.0, 2.0, 4.0]);
    for engine in engines() {
        let [own_f, own_g] = compiled(engine);
        for (k, n) in (0..3).flat_map(|k| (0..4).map(move |n| (k, n))) {
            let y = &long[..n];
            let (two, three) = ([y.into(), k.into()], [y.into(), 0.5.into(), k.into()]);
            let pairs = [(f.call(&two), own_f.call(&two)), (g.call(&three), own_g.call(&three))];
            for (expected, found) in pairs {
                let said = |values: jut::Result<_>| values.map_err(|error| error.to_string());
                let (expected, found) = (said(expected), said(found));
                assert_eq!(expected.is_err(), k > 0 && n < 3);
                assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{engine:?} {n} {k}");
            }
        }
    }
}
