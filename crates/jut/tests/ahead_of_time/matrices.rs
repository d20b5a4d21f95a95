//! Products of matrices in objects: with jut's runtime by its kernel, with the system's library by
//! loops of fused multiply-adds. Both have the bits of code in memory.

use super::{directory, run, write};
use jut::{BuildOptions, MathLibrary, Model, Product};

const TEXT: &str = "def loss[n, k, m](a: [n, k]f64, b: [k, m]f64) -> f64 = {
  c = matmul(a, b)
  d = matmul(transposed(c), a)
  sum (i < m) { sum (j < k) { d[i, j] * b[j, i] } }
}";

/// n, k, m, with more terms in a cell than are packed at a time.
const SIZES: [usize; 3] = [3, 300, 5];

fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|i| (i * 7 % 11) as f64 / 8.0 - 0.3).collect()
}

#[test]
fn gradients_of_products_have_the_bits_of_code_in_memory() {
    let function = Model::from_text(TEXT).and_then(|m| m.function("loss")).expect("it checks");
    let [n, k, m] = SIZES;
    let (a, b) = (numbers(n * k), numbers(k * m));
    let mut session = function.value_and_gradient().expect("it compiles").session();
    let results = session.call(&[(&a, &[n, k]).into(), (&b, &[k, m]).into()]).expect("it runs");
    let value = [results.f64("value").expect("a number")];
    let gradients = ["a", "b"].map(|name| results.f64s(name).expect("numbers"));
    let all = value.iter().chain(gradients[0]).chain(gradients[1]);
    let expected: String = all.map(|x| format!("{:016x}\n", x.to_bits())).collect();
    for math in [MathLibrary::Jut, MathLibrary::System] {
        let at = directory(&format!("matrices_{math:?}"));
        let options = BuildOptions { math, ..BuildOptions::default() };
        let object = function.build(&[Product::ValueAndGradient], &options).expect("it builds");
        write(&object, &at, "loss");
        let workspace = match math {
            MathLibrary::Jut => "jut_workspace_new()",
            MathLibrary::System => "memory, sizeof memory",
        };
        let main = format!(
            "#include \"loss.h\"\n#include <stdio.h>\n#include <string.h>\n\
             static double memory[1 << 20], r[1 + {n} * {k} + {k} * {m}];\n\
             int main(void) {{\n\
             static double a[{n} * {k}], b[{k} * {m}];\n\
             for (int i = 0; i < {n} * {k}; i++) a[i] = (i * 7 % 11) / 8.0 - 0.3;\n\
             for (int i = 0; i < {k} * {m}; i++) b[i] = (i * 7 % 11) / 8.0 - 0.3;\n\
             (void)memory; jut_error error;\n\
             if (loss_value_grad({n}, {k}, {m}, a, b, r, r + 1, r + 1 + {n} * {k}, {workspace}, &error)) {{\n\
             puts(error.message); return 1; }}\n\
             for (int i = 0; i < 1 + {n} * {k} + {k} * {m}; i++) {{ uint64_t w; memcpy(&w, r + i, 8);\n\
             printf(\"%016llx\\n\", (unsigned long long)w); }}\nreturn 0; }}\n"
        );
        std::fs::write(at.join("main.c"), main).expect("writable");
        let mut args = vec!["-std=c99", "main.c", "loss.o"];
        args.extend((math == MathLibrary::Jut).then_some("libjut_runtime.a"));
        args.extend(["-lm", "-o", "main"]);
        run("cc", &args, &at);
        assert_eq!(run("./main", &[], &at), expected, "{math:?}");
    }
}
