//! Compiled functions give their memory back. Alone in its process, because it looks at the whole
//! process.

use jut::Model;

fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split_whitespace().nth(1).and_then(|n| n.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}

#[test]
fn compiling_and_dropping_many_functions_gives_the_memory_back() {
    let model = Model::from_text(
        "def f[n](x: [n]f64, k: i64) -> f64 = {
           y = for (t < k) carry (y = x) { build (i < n) { sin(y[i]) } }
           sum (i < n) { y[i] * exp(x[i]) }
         }",
    )
    .expect("a program");
    let f = model.function("f").expect("f");
    let compile = |count: usize| {
        for _ in 0..count {
            let gradient = f.gradient().expect("a gradient");
            gradient.call(&[(&[1.0, 2.0]).into(), 2.into()]).expect("it runs");
        }
    };
    compile(200);
    let before = resident();
    compile(800);
    let grown = resident().saturating_sub(before);
    assert!(grown < 4 << 20, "{grown} bytes more after 800 further functions");
}
