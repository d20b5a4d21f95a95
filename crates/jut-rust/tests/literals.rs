//! Integers that are taken for `i32` are written so where the meaning depends on it; others stay as they are.

/// The function as the attribute leaves it.
fn left(source: &str) -> String {
    let tokens = source.parse().expect("Rust");
    let all = jut_rust::differentiable(Default::default(), tokens);
    let file: syn::File = syn::parse2(all).expect("Rust");
    quote::ToTokens::to_token_stream(&file.items[0]).to_string()
}

fn becomes(source: &str, wanted: &str) {
    let wanted: proc_macro2::TokenStream = wanted.parse().expect("Rust");
    assert_eq!(left(source), wanted.to_string());
}

fn stays(source: &str) {
    becomes(source, source);
}

#[test]
fn what_nothing_says_is_written_as_an_i32() {
    becomes(
        "fn f(x: f64) -> f64 { let mut k = 3; k -= 0x2; x * k as f64 + (1 + 1) as f64 }",
        "fn f(x: f64) -> f64 { let mut k = 3i32; k -= 0x2i32; x * k as f64 + (1i32 + 1i32) as f64 }",
    );
    becomes(
        "impl P { fn f(&self) -> f64 { let k; k = 1; let n = -k; self.x * f64::from(n) } }",
        "impl P { fn f(&self) -> f64 { let k; k = 1i32; let n = -k; self.x * f64::from(n) } }",
    );
    becomes(
        "fn f(x: f64) -> f64 { fn g(x: f64) -> f64 { (0..3).map(|k| (k * k) as f64 * x).sum() } g(x) }",
        "fn f(x: f64) -> f64 { fn g(x: f64) -> f64 { (0i32..3i32).map(|k| (k * k) as f64 * x).sum() } g(x) }",
    );
}

#[test]
fn what_is_known_or_makes_no_difference_stays() {
    stays("fn f(x: &[f64]) -> f64 { let mut k = 3; k -= 1; x[k] + x[0] }");
    stays(
        "fn f(x: &[f64], n: i64) -> f64 { let mut k = 3; k -= 1; if k < n { x[0] } else { 1.0 } }",
    );
    stays("fn f(x: f64) -> f64 { let mut k = 3; k -= 1; g(x, k) }");
    stays("fn f(p: P) -> f64 { let mut k = 3; k -= 1; p.at(k) }");
    stays("fn f(p: P) -> f64 { let mut k = 3; k -= 1; if k == p.n { 1.0 } else { p.x } }");
    stays("fn f(x: f64) -> f64 { match x > 0.0 { true => 2.0 * x, false => x.powi(3) } }");
    stays("fn f(x: f64, n: usize) -> f64 { x * n.pow(2) as f64 * (n >> 1) as f64 }");
    stays("fn f(x: f64) -> f64 { let mut s = 0.0; for _ in 0..10 { s += x; } s }");
}
