//! Structured primitives in objects: with jut's runtime by its kernels, with the bits of code in memory;
//! with the system's library by loops, within the error bound of a sum.

use super::{directory, engines, run, write};
use jut::{BuildOptions, Function, MathLibrary, Model, Request, Value};

/// Functions of two arrays of three dimensions that use every kernel and give one number.
const TEXT: &str = "
def products[n, k, m](a: [n, k]f64, b: [k, m]f64) -> f64 = {
  c = matmul(a, b)
  d = matmul(transposed(c), a)
  e = matmul(transposed(b), transposed(a))
  f = matmul(c, e)
  sum (i < m) { sum (j < k) { d[i, j] * b[j, i] } } + sum (i < n) { f[i, i] }
}

def vectors[n, k, m](a: [n, k]f64, b: [k, m]f64) -> f64 = {
  x = matvec(b, matvec(transposed(b), a[0]))
  y = matvec(a, x)
  c = outer(y, x)
  dot(matvec(transposed(c), y), x) + dot(c[0], a[0])
}

def batches[n, k, m](a: [n, k]f64, b: [k, m]f64) -> f64 = {
  x = unflatten3(flatten(a), 1, n, k)
  y = unflatten3(flatten(b), 1, k, m)
  c = batch_matmul(x, y)
  d = batch_matmul(permute_021(c), x)
  e = batch_matmul(permute_021(y), permute_021(x))
  f = batch_matmul(c, permute_021(permute_021(e)))
  dot(flatten3(d), flatten3(permute_021(y))) + sum (i < n) { f[0, i, i] }
}

def convolutions[n, k, m](a: [n, k]f64, b: [k, m]f64) -> f64 = {
  w = unflatten3(flatten(b)[0 ..+ n * m * 2], m, n, 2)
  y = conv1d(a, w)
  z = conv1d_input(y, w)
  g = conv1d_kernel(z, y)
  image = unflatten3(flatten(a), 1, n, k)
  filter = unflatten4(flatten(b)[0 ..+ 8], 2, 1, 2, 2)
  r = conv2d(image, filter)
  s = conv2d_input(r, filter)
  t = conv2d_kernel(s, r)
  dot(flatten3(w), flatten3(g)) + dot(flatten4(filter), flatten4(t))
}
";

/// What triangular matrices have, of a square that is positive definite.
const TRIANGLES: &str = "
def triangles[n, k, m](a: [n, k]f64, b: [k, m]f64) -> f64 = {
  s = build (i < k, j < k) { select(i == j, 4.0, 0.01) + 0.01 * b[i, 0] * b[j, 0] }
  l = cholesky(s)
  x = triangular_solve(l, b)
  y = triangular_solve_t(l, transposed(a))
  t = cholesky_cotangent(l, cholesky_tangent(l, outer(transposed(x)[0], transposed(y)[1])))
  sum (i < k) { log(l[i, i]) * x[i, 0] + y[i, 2] + t[i, 0] }
}
";

/// n, k, m, with more terms in a cell than are packed at a time.
const SIZES: [usize; 3] = [3, 300, 5];

fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|i| (i * 7 % 11) as f64 / 8.0 - 0.3).collect()
}

/// Value and gradient in memory.
fn in_memory(function: &Function, change: fn(f64) -> f64) -> Vec<f64> {
    let [n, k, m] = SIZES;
    let [a, b] = [n * k, k * m]
        .map(|count| -> Vec<f64> { numbers(count).into_iter().map(change).collect() });
    let mut session = function.value_and_gradient().expect("it compiles").session();
    let results = session.call(&[(&a, &[n, k]).into(), (&b, &[k, m]).into()]).expect("it runs");
    results.values().iter().flat_map(Value::floats).collect()
}

/// The same by a C program.
fn in_an_object(function: &Function, options: &BuildOptions, at: &str) -> Vec<f64> {
    let at = directory(at);
    let object = function.build(&[Request::ValueAndGradient], options).expect("it builds");
    write(&object, &at, "object");
    let jut = options.math == MathLibrary::Jut;
    let workspace = if jut { "jut_workspace_new()" } else { "memory, sizeof memory" };
    let ([n, k, m], name) = (SIZES, function.name());
    let main = format!(
        "#include \"object.h\"\n#include <stdio.h>\n#include <string.h>\n\
         static double memory[1 << 22], r[1 + {n} * {k} + {k} * {m}];\n\
         int main(void) {{\n\
         static double a[{n} * {k}], b[{k} * {m}];\n\
         for (int i = 0; i < {n} * {k}; i++) a[i] = (i * 7 % 11) / 8.0 - 0.3;\n\
         for (int i = 0; i < {k} * {m}; i++) b[i] = (i * 7 % 11) / 8.0 - 0.3;\n\
         (void)memory; jut_error error;\n\
         if ({name}_value_grad({n}, {k}, {m}, a, b, r, r + 1, r + 1 + {n} * {k}, {workspace}, &error)) {{\n\
         puts(error.message); return 1; }}\n\
         for (int i = 0; i < 1 + {n} * {k} + {k} * {m}; i++) {{ uint64_t w; memcpy(&w, r + i, 8);\n\
         printf(\"%016llx\\n\", (unsigned long long)w); }}\nreturn 0; }}\n"
    );
    std::fs::write(at.join("main.c"), main).expect("writable");
    let mut args = vec!["-std=c99", "main.c", "object.o"];
    args.extend(jut.then_some("libjut_runtime.a"));
    args.extend(["-lm", "-o", "main"]);
    run("cc", &args, &at);
    let printed = run("./main", &[], &at);
    let bits = printed.lines().map(|line| u64::from_str_radix(line, 16).expect("bits"));
    bits.map(f64::from_bits).collect()
}

#[test]
fn kernels_in_objects_have_the_bits_of_code_in_memory_and_loops_are_close() {
    let model = Model::from_text(TEXT).unwrap_or_else(|e| panic!("{e}"));
    for name in ["products", "vectors", "batches", "convolutions"] {
        let function = model.function(name).expect("it is there");
        let expected = in_memory(&function, |x| x);
        // Everything is a sum of products: with positive numbers, of their absolute values.
        let absolute = in_memory(&function, f64::abs);
        let [n, k, m] = SIZES;
        let terms = 8 * (n + k + m);
        for engine in engines() {
            let function = function.clone().engine(engine);
            for math in [MathLibrary::Jut, MathLibrary::System] {
                let options = BuildOptions { math, ..BuildOptions::default() };
                let at = format!("matrices_{name}_{engine:?}_{math:?}");
                let found = in_an_object(&function, &options, &at);
                assert_eq!(found.len(), expected.len());
                for (k, (x, y)) in found.iter().zip(&expected).enumerate() {
                    let bound = match math {
                        MathLibrary::Jut => 0.0,
                        // Each chain is off by at most as many roundings as it has terms.
                        MathLibrary::System => terms as f64 * f64::EPSILON * absolute[k],
                    };
                    let close = x.to_bits() == y.to_bits() || (x - y).abs() <= bound;
                    assert!(close, "{name}, {engine:?}, {math:?}: {k}: {x:e} {y:e}");
                }
            }
        }
    }
}

#[test]
fn triangular_kernels_in_objects_have_the_bits_of_code_in_memory_and_loops_are_close() {
    let model = Model::from_text(TRIANGLES).unwrap_or_else(|e| panic!("{e}"));
    let function = model.function("triangles").expect("it is there");
    let expected = in_memory(&function, |x| x);
    let largest = expected.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    for engine in engines() {
        let function = function.clone().engine(engine);
        for math in [MathLibrary::Jut, MathLibrary::System] {
            let options = BuildOptions { math, ..BuildOptions::default() };
            let found =
                in_an_object(&function, &options, &format!("triangles_{engine:?}_{math:?}"));
            assert_eq!(found.len(), expected.len());
            let bound = if math == MathLibrary::Jut { 0.0 } else { 1e-11 * largest };
            for (k, (x, y)) in found.iter().zip(&expected).enumerate() {
                let close = x.to_bits() == y.to_bits() || (x - y).abs() <= bound;
                assert!(close, "{engine:?}, {math:?}: {k}: {x:e} {y:e}");
            }
        }
    }
}
