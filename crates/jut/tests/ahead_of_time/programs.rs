//! Programs of many statements and of several files, as objects.

use jut::{BuildOptions, Model, Request};

/// The sum of sines of neighbours' products: a Hessian of n scalars has n^2 results.
fn neighbours(n: usize) -> Model {
    let params: Vec<String> = (0..n).map(|i| format!("x{i}: f64")).collect();
    let terms: Vec<String> = (0..n).map(|i| format!("sin(x{i} * x{})", (i + 1) % n)).collect();
    let text = format!("def f({}) -> f64 = {}\n", params.join(", "), terms.join(" + "));
    Model::from_text(&text).unwrap()
}

/// Bytes of the Hessian of n scalars: of an object, and of code in memory.
fn bytes_of(n: usize) -> [usize; 2] {
    let model = neighbours(n);
    let f = model.function("f").unwrap();
    let object = f.build(&[Request::Hessian], &BuildOptions::default()).unwrap();
    let (_, times) = f.compile_timed(Request::Hessian).unwrap();
    [object.bytes().len(), times.last().expect("machine code").size]
}

#[test]
fn an_object_with_thousands_of_results_grows_as_code_in_memory_does() {
    let [[small_object, small_code], [object, code]] = [30, 60].map(bytes_of);
    assert!(small_code > 10_000, "{small_code}");
    assert!(object < 2 * code, "{object} for an object, {code} for code");
    // Four times as many results.
    assert!(object < 5 * small_object, "{object}, {small_object} for an object");
    assert!(code < 5 * small_code, "{code}, {small_code} for code");
}

#[test]
fn an_object_names_the_module_in_which_it_fails() {
    let texts = [
        ("main.jut", "use pick\n\ndef loss[n](x: [n]f64) -> f64 = pick.at(x, n)^2\n"),
        ("pick.jut", "def at[n](x: [n]f64, i: i64) -> f64 =\n  x[i * 2]\n"),
    ];
    let loss = Model::from_sources(&texts).and_then(|m| m.function("loss")).expect("loads");
    let object = loss.build(&[Request::Gradient], &BuildOptions::default()).expect("builds");
    let needle = b"pick.jut:2:3: R01";
    assert!(object.bytes().windows(needle.len()).any(|w| w == needle), "the object says where");
}
