//! Mathematical functions: jut's have the same bits in objects as in memory, those of the system are
//! close to them.

use super::{directory, engines, run, sequence, write};
use jut::{BuildOptions, Engine, Function, MathLibrary, Model, Request};

#[test]
fn every_mathematical_function_has_the_same_bits_in_the_static_runtime() {
    let at = directory("mathematics");
    let unary = "exp exp2 expm1 log log2 log10 log1p cbrt sin cos tan asin acos atan sinh cosh tanh \
                 asinh acosh atanh erf erfc erfinv gamma lgamma digamma sigmoid \
                 sigmoid_slope gaussian softplus round sign floor ceil trunc sqrt abs";
    let terms: Vec<String> = unary.split_whitespace().map(|f| format!("{f}(x)")).collect();
    let all = terms.join(", ")
        + ", hypot(x, y), atan2(x, y), beta(x, y), logaddexp(x, y), polygamma(2, x), x^y, powi(x, n), fma(x, y, 1.5), (x % y)";
    let count = all.matches("(").count() + 1;
    let types = vec!["f64"; count].join(", ");
    let text = format!("def all(x: f64, y: f64, n: i64) -> ({types}) = ({all})");
    let model = Model::from_text(&text).unwrap_or_else(|e| panic!("{e}"));
    let function = model.function("all").expect("it is there");
    let places: Vec<String> = (0..count).map(|k| format!("&r[{k}]")).collect();
    let main = format!(
        "#include \"all.h\"\n#include <stdio.h>\n#include <string.h>\nint main(void) {{\n\
         double x[] = {{0.3, -2.5, 1e-9, 700.5, 1e22, -0.0}}, y[] = {{1.5, -3.0}}, r[{count}];\n\
         for (int i = 0; i < 6; i++) for (int j = 0; j < 2; j++) {{\n\
         if (all_value(x[i], y[j], 3 - 7 * j, {}, NULL, NULL)) return 1;\n\
         for (int k = 0; k < {count}; k++) {{ uint64_t b; memcpy(&b, &r[k], 8);\n\
         printf(\"%016llx\\n\", (unsigned long long)(r[k] == r[k] ? b : 0)); }} }} return 0; }}\n",
        places.join(", ")
    );
    std::fs::write(at.join("main.c"), main).expect("writable");
    let mut expected = String::new();
    let mut session = function.value().expect("it compiles").session();
    for x in [0.3, -2.5, 1e-9, 700.5, 1e22, -0.0f64] {
        for (y, n) in [(1.5f64, 3i64), (-3.0, -4)] {
            let results = session.call(&[x.into(), y.into(), n.into()]).expect("it runs");
            for value in results.values() {
                let jut::Value::F64(value) = value else { panic!("a float") };
                let bits = if value.is_nan() { 0 } else { value.to_bits() };
                expected += &format!("{bits:016x}\n");
            }
        }
    }
    for engine in engines() {
        let function = function.clone().engine(engine);
        let object = function.build(&[Request::Value], &BuildOptions::default());
        write(&object.expect("it builds"), &at, "all");
        run("cc", &["-std=c99", "main.c", "all.o", "libjut_runtime.a", "-o", "main"], &at);
        assert_eq!(run("./main", &[], &at), expected, "{engine:?}");
    }
}

#[test]
fn with_the_systems_mathematics_nothing_but_libm_is_linked_and_memory_is_the_callers() {
    for engine in engines() {
        with_the_systems_mathematics(engine);
    }
}

fn with_the_systems_mathematics(engine: Engine) {
    let at = directory(&format!("system-{engine:?}"));
    let options = BuildOptions { math: MathLibrary::System, ..BuildOptions::default() };
    let object =
        sequence().engine(engine).build(&[Request::ValueAndGradient], &options).expect("it builds");
    assert_eq!(object.runtime().expect("none is needed"), None);
    write(&object, &at, "sequence");
    let main = "#include \"sequence.h\"\n#include <stdio.h>\n\
        static double memory[4096];\n\
        int main(void) {\n\
        double table[15], target[3] = {0, 0.25, 0.5}, value, grad[15], decay;\n\
        int64_t words[6] = {0, 3, 1, 4, 3, 2};\n\
        for (int i = 0; i < 15; i++) table[i] = (i * 7 % 11) / 8.0 - 0.5;\n\
        jut_error error;\n\
        int few = loss_value_grad(5, 3, 6, table, 0.5, words, target, &value, grad, &decay,\n\
            memory, 100, &error);\n\
        printf(\"%d %s\\n\", few, error.message);\n\
        int status = loss_value_grad(5, 3, 6, table, 0.5, words, target, &value, grad, &decay,\n\
            memory, sizeof memory, &error);\n\
        printf(\"%d %.15g %.15g\\n\", status, value, decay);\n\
        return 0; }\n";
    std::fs::write(at.join("main.c"), main).expect("writable");
    run("cc", &["-std=c99", "main.c", "sequence.o", "-lm", "-o", "main"], &at);
    let printed = run("./main", &[], &at);
    let (few, enough) = printed.split_once('\n').expect("two lines");
    assert!(few.starts_with("6 sequence.jut:") && few.contains("R06: not enough memory"), "{few}");
    let numbers: Vec<f64> =
        enough.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    let table: Vec<f64> = (0..15).map(|i| f64::from(i * 7 % 11) / 8.0 - 0.5).collect();
    let words = [0i64, 3, 1, 4, 3, 2];
    let mut session = sequence().value_and_gradient().expect("it compiles").session();
    let args = [(&table, &[5, 3]).into(), 0.5.into(), (&words).into(), (&[0.0, 0.25, 0.5]).into()];
    let results = session.call(&args).expect("it runs");
    let exact = [0.0, results.f64("value").expect("."), results.f64("decay").expect(".")];
    for (number, exact) in numbers.iter().zip(exact) {
        assert!((number - exact).abs() <= 1e-13 * exact.abs(), "{number} {exact}");
    }
}

/// Functions of one number that the system has, and how many units in the last place its may be away
/// from jut's. This is what docs/ahead-of-time.md states.
const SYSTEM: [(&str, u64); 26] = [
    ("exp", 2),
    ("exp2", 2),
    ("expm1", 2),
    ("log", 2),
    ("log2", 2),
    ("log10", 2),
    ("log1p", 2),
    ("cbrt", 3),
    ("sin", 2),
    ("cos", 2),
    ("tan", 2),
    ("asin", 2),
    ("acos", 2),
    ("atan", 2),
    ("sinh", 3),
    ("cosh", 3),
    ("tanh", 3),
    ("asinh", 3),
    ("acosh", 3),
    ("atanh", 3),
    ("erf", 3),
    ("sigmoid_slope", 3),
    ("gaussian", 3),
    ("erfc", 4),
    ("gamma", 10),
    ("lgamma", 10),
];

/// A function of one number that gives all of the functions, called in C with the system's library
/// and in memory.
fn both(calls: &[String], at: &str, points: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let at = directory(at);
    let types = vec!["f64"; calls.len()].join(", ");
    let text = format!("def all(x: f64) -> ({types}) = ({})", calls.join(", "));
    let function: Function =
        Model::from_text(&text).and_then(|m| m.function("all")).expect("it checks");
    let options = BuildOptions { math: MathLibrary::System, ..BuildOptions::default() };
    let object = function.build(&[Request::Value], &options).expect("it builds");
    write(&object, &at, "all");
    let places: Vec<String> = (0..calls.len()).map(|k| format!("&r[{k}]")).collect();
    let list: Vec<String> = points.iter().map(|x| format!("{x:e}")).collect();
    let main = format!(
        "#include \"all.h\"\n#include <stdio.h>\n#include <string.h>\nint main(void) {{\n\
         double x[] = {{{}}}, r[{}];\nfor (int i = 0; i < {}; i++) {{\n\
         if (all_value(x[i], {}, NULL, 0, NULL)) return 1;\n\
         for (int k = 0; k < {}; k++) {{ uint64_t b; memcpy(&b, &r[k], 8);\n\
         printf(\"%llu\\n\", (unsigned long long)b); }} }} return 0; }}\n",
        list.join(", "),
        calls.len(),
        points.len(),
        places.join(", "),
        calls.len()
    );
    std::fs::write(at.join("main.c"), main).expect("writable");
    run("cc", &["-std=c99", "main.c", "all.o", "-lm", "-o", "main"], &at);
    let printed = run("./main", &[], &at);
    let system = printed.lines().map(|l| f64::from_bits(l.parse().expect("bits"))).collect();
    let mut session = function.value().expect("it compiles").session();
    let mut ours = Vec::new();
    for x in points {
        let results = session.call(&[(*x).into()]).expect("it runs");
        for value in results.values() {
            let jut::Value::F64(value) = value else { panic!("a float") };
            ours.push(value);
        }
    }
    (system, ours)
}

/// Floats between two.
fn apart(a: f64, b: f64) -> u64 {
    let order = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN - bits } else { bits }
    };
    if a.is_nan() && b.is_nan() { 0 } else { order(a).abs_diff(order(b)) }
}

#[test]
fn the_systems_functions_are_as_close_to_jut_s_as_the_documentation_says() {
    let mut points: Vec<f64> = (0..400).map(|k| f64::from(k) * 0.0371 - 7.4).collect();
    points.extend([1e-12, -3e-9, 25.5, 300.25, -700.0, 1e5, 0.0, 1.0, -1.0]);
    // The logarithm of the gamma function has zeros, at which nothing is near in this sense.
    let argument = |name: &str| if name.ends_with("gamma") { "abs(x) + 2.5" } else { "x" };
    let calls: Vec<String> =
        SYSTEM.iter().map(|(name, _)| format!("{name}({})", argument(name))).collect();
    let (system, ours) = both(&calls, "ulp", &points);
    assert_eq!((system.len(), ours.len()), (points.len() * calls.len(), system.len()));
    let mut worst = vec![0; calls.len()];
    for (k, (a, b)) in system.iter().zip(&ours).enumerate() {
        let worst = &mut worst[k % calls.len()];
        *worst = (*worst).max(apart(*a, *b));
    }
    let table: Vec<_> = SYSTEM.iter().zip(&worst).collect();
    assert!(table.iter().all(|((_, stated), found)| *found <= stated), "{table:?}");
    let docs = include_str!("../../../../docs/ahead-of-time.md");
    for (name, stated) in SYSTEM {
        let row = docs.lines().find(|l| l.starts_with('|') && l.contains(&format!("`{name}`")));
        let row = row.unwrap_or_else(|| panic!("{name} is not in the documentation"));
        assert!(row.trim_end().ends_with(&format!("| {stated} |")), "{name}: {row}");
    }
}

#[test]
fn what_the_systems_library_does_not_have_and_memory_without_a_bound_are_refused() {
    let refused = |text: &str, request: Request| {
        let function = Model::from_text(text).and_then(|m| m.function("f")).expect("it checks");
        let options = BuildOptions { math: MathLibrary::System, ..BuildOptions::default() };
        let error = function.build(&[request], &options).err().unwrap_or_else(|| panic!("{text}"));
        function.build(&[request], &BuildOptions::default()).expect("jut's functions can");
        error.to_string()
    };
    let error = refused("def f(x: f64) -> f64 = erfinv(x)", Request::Value);
    assert!(error.contains("jut's runtime has it"), "{error}");
    let text = "def f[n](x: [n]f64, at: [n]i64) -> f64 = sum (i < n) {
      y = build (j < at[i]) { sin(x[i] * 1.0) }
      sum (j < at[i]) { y[j] * y[at[i] - 1 - j] }
    }";
    let error = refused(text, Request::ValueAndGradient);
    assert!(error.contains("depends on the data (program:2:"), "{error}");
}
