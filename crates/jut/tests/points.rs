//! Loops over points whose coordinates lie side by side, so that neighbouring iterations are some cells apart: the bits of the
//! interpreter for every number of points.

use jut::{Engine, Model};

/// Pairs of points, every third number, rows turned round, a matrix times each point; each with more to compute than to load.
const PROGRAMS: [&str; 5] = [
    "def f[n](x: [n, 3]f64, s: f64) -> f64 = sum (i < n) { sum (j < i) {
       a = x[i, 0] - x[j, 0]
       b = x[i, 1] - x[j, 1]
       c = x[i, 2] - x[j, 2]
       r = a * a + b * b + c * c + s
       u = 1.0 / (r * r * r)
       4.0 * (u * u - u)
     } }",
    "def f[n](x: [n, 3]f64, s: f64) -> f64 = sum (i < n) { ((x[i, 1] * s + 1.0) * x[i, 1] + s)^2 * x[i, 1] }",
    "def f[n](x: [n, 3]f64, s: f64) -> f64 = {
       y = build (i < n, c < 3) { (x[i, 2 - c] * s + x[i, c])^2 - s * x[i, c] }
       sum (i < n) { (y[i, 0] * y[i, 1] - s)^2 * y[i, 2] }
     }",
    "def f[n](x: [n, 3]f64, s: f64) -> f64 = {
       y = build (i < n) { sqrt(x[i, 0] * x[i, 0] + x[i, 1] * x[i, 1]) * (x[i, 2] + s * x[i, 0]) }
       sum (i < n) { y[i]^2 * s }
     }",
    "def f[n](x: [n, 3]f64, s: f64) -> f64 = {
       y = for (i < n) carry (y = x) {
         (y with [i, 0] = y[i, 1] * s + y[i, 2]^2 * y[i, 0]) with [i, 2] = y[i, 0] * y[i, 1] * s - s
       }
       sum (i < n) { y[i, 0] * y[i, 2] + y[i, 1]^3 }
     }",
];

#[test]
fn points_have_the_bits_of_the_interpreter_however_many_there_are() {
    let engines = || Engine::all().filter(|e| e.is_built_in() && *e != Engine::Interpreter);
    for text in PROGRAMS {
        let f = Model::from_text(text).unwrap().function("f").unwrap();
        let gradient = |engine: Engine| f.clone().engine(engine).value_and_gradient().unwrap();
        let right = gradient(Engine::Interpreter);
        let others: Vec<_> = engines().map(|engine| (engine, gradient(engine))).collect();
        for n in (0..20).chain([33, 64]) {
            // Points at zero: square roots whose derivatives are infinite, and products of these with zero.
            let number =
                |k: usize| if k % 21 < 3 { 0.0 } else { (k * 37 % 101) as f64 / 50.0 - 1.0 };
            let x: Vec<f64> = (0..3 * n).map(number).collect();
            let shape = [n, 3];
            let args = [jut::Arg::from((&x, &shape)), 0.75.into()];
            let bits = |compiled: &jut::Compiled| -> Vec<u64> {
                let results = compiled.call(&args).unwrap();
                results
                    .iter()
                    .flat_map(|r| r.floats())
                    .map(|x| if x.is_nan() { u64::MAX } else { x.to_bits() })
                    .collect()
            };
            let expected = bits(&right);
            for (engine, compiled) in &others {
                assert_eq!(bits(compiled), expected, "{n} points, {engine:?}:\n{text}");
            }
        }
    }
}
