//! Texts to test with.

/// Programs that between them use every construct.
pub const SEEDS: &[&str] = &[
    "/// doc\ndata P = P(r: f64, a: f64)\ndata S = A(n: i64, w: [n]f64) | B\n\ndef polar(x: f64, y: f64) -> P = {\n  r = sqrt(x^2 + y^2)\n  P(r, y / r)\n}\ndef use_it(x: f64, s: S) -> f64 = {\n  p = polar(x, 2.0)\n  q = case s { A(n, w) -> sum (v <- w) v; _ -> -1.5e-3 }\n  p.r * p.a + q\n}\n",
    "def rnn[n, T](w: [n, n]f64, h0: [n]f64, x: [T, n]f64) -> f64 = {\n  h = for (t < T) carry (h = h0) {\n    build (i < n) { tanh(sum (j < n) { w[i, j] * h[j] } + x[t, i]) }\n  }\n  m = max (i < n) h[i]\n  y = x[1..T][0]\n  m + sum (1 <= i < n) { h[i] * h[i - 1] } + y[0]\n}\n",
    "def g(x: f64; y': f64) -> (f64; f64) = (x^2; x^2 * y')\ndef f[n](b: bool, x: [n]f64; y': [n]f64, z': f64) -> (; f64, [n]f64) = {\n  s' = rd r = y' { wr s: f64 { scan par (i < n) { s += x[i] * rd r[i] } } }\n  u' = if b { s' - z' / 2.0 } else { select(b, z', s') }\n  (a; v') = g(1.0; u' + u')\n  t' = #(v', zero f64)\n  #(c', d') = t'\n  (; c' + d', y')\n}\n",
    "data f.tape1 = f.tape1.true(i: i64, a_s: [i]f64) | f.tape1.false\ncore def f.linT(n: i64, k_s: [n]f.tape1; y'': f64; wr dx: [n]f64) -> () = {\n  rd ds = y'' {\n    scan par (i < n) slice (k <- k_s) {\n      t'' = rd ds\n      case k {\n        f.tape1.true(=i, a_s) -> {\n          z'' = scan down (q < i) carry (; c'' = t'') slice (a <- a_s) {\n            (; p'', q'') = dup c''\n            e'' = a * p''\n            dx[q] += q''\n            (; e'')\n          }\n          drop z''\n        }\n        f.tape1.false -> { dx[!i] += t'' }\n      }\n    }\n  }\n}\ncore def h{w,b}.jvp(n: i64, m: i64, x: [n]f64; ; rd dx: [n]f64) -> (k: i64, y: [k]f64) = {\n  check n ..+ m <= 3\n  check n >= 0\n  (s, t) = acc lanes r: f64 { y = proved cast x : [n]f64; r += 2.0; y }\n  (n, s)\n}\n",
    "def br[n](x: [n]f64, c: [n]i64) -> (m: i64, y: [m]f64) = {\n  (k: i64, z: [k]f64) = if n > 3 && x[0] != 0.5 || false { (n, x) } else { k = max(n % 2, 0); (k, build (i < k) { min(f64(c[i]), 1.0) }) }\n  t = #(1, [1.0, 2.0], true)\n  (k, z)\n}\n",
    "data P = P(x: f64, t: #(i64, f64))\ndef f[n](a: [n, n]f64, up: [n]f64, k: i64) -> (f64, [n, n]f64) = {\n  var b = a\n  var (s, p) = (0.0, P(1.0, #(2, pi)))\n  y = for (n > i >= 0) carry (c = 1.0) {\n    if up[i] > s { s = up[i]; b[i] = up } else if k == i { (b[i, 0], s) = (s, b[i][k]) }\n    for (i <= j <= n - 1, l < k) { b[i, j] -= s * up[j]; p.t.1 *= c }\n    p.x += b[i, i]\n    c + p.x\n  }\n  q = p with x = mean(up * 2.0 - exp(-up))\n  t = acc r: f64 { r += y; s /= 2.0 }\n  x = max(softmax(up))\n    * f64(k^3)\n  (s + t + q.x + x, b with [k] = up)\n}\n",
];

/// One of the words of a text, blanks included.
fn pieces(source: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let class = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut last = None;
    for (at, c) in source.char_indices() {
        if last.is_some_and(|l| l != class(c) || l == 2) {
            pieces.push(&source[start..at]);
            start = at;
        }
        last = Some(class(c));
    }
    pieces.push(&source[start..]);
    pieces
}

/// A text made from the seeds by a few random changes: words left out, doubled, swapped, taken from
/// elsewhere, or replaced by a token of the language.
pub fn mutated(random: &mut fastrand::Rng) -> String {
    const TOKENS: &[&str] = &[
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "#(",
        ",",
        ";",
        "'",
        "\n",
        "=",
        "->",
        "<-",
        "+=",
        "..",
        "..+",
        "-",
        "!",
        "^",
        "core ",
        "def ",
        "data ",
        " rd ",
        " wr ",
        " acc ",
        "scan up ",
        "carry ",
        "0",
        "-9223372036854775808",
        "1e308",
        "x'",
        "_",
        "é",
        "@",
        "true",
        "case ",
        "if ",
        "max ",
        "sum ",
    ];
    let mut words: Vec<&str> = pieces(SEEDS[random.usize(..SEEDS.len())]);
    for _ in 0..random.usize(1..5) {
        if words.is_empty() {
            break;
        }
        let at = random.usize(..words.len());
        match random.u8(..6) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, words[at]),
            2 => words.insert(at, TOKENS[random.usize(..TOKENS.len())]),
            3 => words[at] = TOKENS[random.usize(..TOKENS.len())],
            4 => {
                let other = random.usize(..words.len());
                words.swap(at, other);
            }
            _ => {
                let other = pieces(SEEDS[random.usize(..SEEDS.len())]);
                words[at] = other[random.usize(..other.len())];
            }
        }
    }
    words.concat()
}
