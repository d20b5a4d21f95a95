//! A table of wrong programs: for each the codes of its messages, the places (marked `«..»` in the text),
//! and words that the first message or its help has. No program gives more messages than marks.

mod blocks;

use self::blocks::BLOCKS;
use jut_ir::Diagnostic;
use std::collections::BTreeSet;

/// Codes in the order of the marks, the marked text, words of the first message with its help.
type Row = (&'static str, &'static str, &'static str);

const TEXT: &[Row] = &[
    ("J001", "def f(x: f64) -> f64 = x «$» 2.0", "not allowed here"),
    ("J001", "def f(x: f64) -> f64 = sin(x)«)»", "closes no open bracket"),
    ("J001", "def f(b: bool) -> bool = b «&» b", "write `&&`"),
    ("J001", "def f(x: f64) -> f64 = x «?» 1.0 : 2.0", "if c { a } else { b }"),
    ("J001", "«#» a note\ndef f(x: f64) -> f64 = x", "begins with `//`"),
    ("J001", "def f(x: f64) -> f64 = «3.0x»", "cannot follow a number"),
    ("J001", "def f() -> i64 = «9223372036854775808»", "too large"),
    ("J002", "def f(x: f64«»", "expected `)`, found the end of the file"),
    ("J002", "def f(«x») -> f64 = x", "`x` has no type"),
    ("J002", "def f(x: f64) «=» x", "say what the definition gives"),
    ("J002", "def f(x: f64) -> f64 «{» x }", "the body stands behind `=`"),
    ("J002", "«fn» f(x: f64) -> f64 = x", "`def f(x: f64)"),
    ("J002", "«import» stats\ndef f(x: f64) -> f64 = x", "`use stats`"),
    ("J002", "«x» = 1.0", "list of declarations"),
    ("J002", "def f(x: f64) -> f64 = {\n  «let» y = x\n  y\n}", "bound by `x = ..` alone"),
    (
        "J002",
        "def f(x: f64) -> f64 = {\n  y = x\n  «return» y\n}",
        "the last expression of a block",
    ),
    ("J002", "def f(x: f64) -> f64 = {\n  y :«=» x\n  y\n}", "`x: f64 = ..`"),
    ("J002", "def f(x: f64) -> f64 = x *«*» 2", "`x^2`"),
    ("J002", "def f(x: f64) -> f64 = x+«»", "the end of the file"),
    ("J002", "def f(a: bool, b: bool) -> bool = { a «and» b }", "`&&`"),
    ("J002", "def f(x: f64) -> bool = 0.0 < x «<» 1.0", "join two comparisons with `&&`"),
    ("J002", "def f(x: f64) -> f64 = if x > 0.0 «x» else { 0.0 }", "are blocks"),
    (
        "J002",
        "def f(x: f64) -> f64 = if x > 0.0 { x } «elif» x < 0.0 { -x } else { x }",
        "`else if",
    ),
    ("J002", "def f(n: i64) -> f64 = for «i» in n { 1.0 }", "stands in brackets"),
    ("J002 J002", "def f(x: f64) -> f64 = {\n  a = (x «b»)\n  c = x +\n  d «=» sin(x)\n  d\n}", ""),
    ("J002", "def f[n](x: [n]f64) -> f64 = x.map(fn (v) -> v^2).sum«(»)", "values have no methods"),
    ("J002", "data P = P(x: f64, «y»)", "`y` has no type"),
    (
        "J002",
        "def f(n: i64) -> i64 = { var s = 0; for (i < n) { if i > 3 { break; «s += 1» }; s += 1 }; s }",
        "never done: it stands behind `break`",
    ),
    ("J010", "def f(n: i64) -> i64 = { «break»; n }", "there is no name `break`"),
    (
        "J010",
        "def f[n](x: [n]f64) -> [n]f64 = for (i < n) { if x[i] > 1.0 { «break» }; x[i] }",
        "there is no name `break`",
    ),
    (
        "J010",
        "def f(n: i64) -> i64 = { var s = 0; for (i < n) { s += if i > 2 { «continue» } else { 1 } }; s }",
        "there is no name `continue`",
    ),
    ("J002", "data T = L(«f64») | N(l: T, r: T)", "this field has no name"),
    ("J002", "data T = L(x: f64) | N(«T», T)", "this field has no name"),
    ("J002", "data R = R(«[»3]f64)", "this field has no name"),
    ("J002", "def f(x: «(»f64, f64)) -> f64 = 1.0", "`#(f64, f64)`"),
    ("J002", "def f(x: f64) -> f64 = { y = «@keep» sin(x); y }", "`@store`"),
    (
        "J002",
        "def f(n: i64, x: f64) -> f64 = «@segment(0)» for (i < n) carry (a = x) { a }",
        "`@segment(k)`",
    ),
    ("J002", "def f(n: i64) -> f64 = sum («i <- 0..n») { 1.0 }", "write `i < n`"),
    ("J002", "def f(n: i64) -> f64 = sum («i <- 1..=n») { 1.0 }", "write `1 <= i < n + 1`"),
    ("J002", "def f[n](x: [n]f64) -> f64 = prod (i < n) «{» x[i] }", "carry (p = 1.0)"),
    ("J002", "def f[n](x: [n]f64) -> f64 = { y = prod (v <- x) «v»; y }", "carry (p = 1.0)"),
    ("J002", "def g(x: f64) -> f64 = x\ndef f(x: f64) -> f64 = «grad(g + 1.0)»(x)", "`grad(f)(x)`"),
    ("J014", "def g(x: f64) -> f64 = x\ndef f(x: f64) -> f64 = «grad»(g)", "`grad(f)(x)`"),
    ("J810", "def f(x: f64) -> f64 = «grad(f)(x)»", "from another one"),
    ("J002", "extern def p(; x': f64) -> (; f64)«»", "`transpose q`"),
    ("J811", "«extern def p(b: bool; x': f64) -> (; f64)» transpose p", "a truth value as 0 or 1"),
    ("J811", "«extern def p(x: f64) -> f64» transpose p", "extern def p"),
    ("J811", "«extern def p(; x': f32) -> (; f32)» transpose p", "f64(x)"),
    ("J812", "extern def p(; x': f64) -> (; f64) transpose «q»", "declare it beside `p`"),
    (
        "J812",
        "extern def p(n: i64; x': [n]f64) -> (; f64) transpose q\n«extern def q(n: i64; y': f64) -> (; f64)» transpose p",
        "write `extern def q(n: i64; y': f64) -> (; [n]f64) transpose p`",
    ),
    (
        "J812",
        "«extern def p(; x': f64) -> (; f64)» transpose q\nextern def q(; x': f64) -> (; f64) transpose q",
        "`transpose p`",
    ),
    (
        "J813",
        "«extern def p(v: f64; x': f64) -> (; f64)» transpose p",
        "def r(v: f64, x: f64, dv: f64) -> f64 = ..",
    ),
    (
        "J813",
        "extern def p(v: f64; x': f64) -> (; f64) transpose p derivative r\n«def r(v: f64, dv: f64) -> f64» = dv",
        "def r(v: f64, x: f64, dv: f64) -> f64 = ..",
    ),
    (
        "J813",
        "«extern def p(; x': f64) -> (; f64)» transpose p derivative r\ndef r(x: f64) -> f64 = x",
        "leave `derivative` and the name out",
    ),
    (
        "J010",
        "extern def p(v: f64; x': f64) -> (; f64) transpose p derivative «r»",
        "name a definition of this file",
    ),
    (
        "J807",
        "extern def p(v: f64; x': f64) -> (; f64) transpose p derivative r\ndef r(v: f64, x: f64, dv: f64) -> f64 = «p(dv, x)»",
        "depend on no tangent",
    ),
    (
        "J901",
        "def f(x: f64) -> f64 = acc s: f64 { «grad(fn (t) -> { s += t; t * t })(x)» }",
        "make it a definition",
    ),
    ("J002", "def f(; ; «mut» r: f64) -> () = {}", "`rd`, `wr` or `acc`"),
    ("J002", "def f(x: f64) -> f64 = { r = «st» x; 2.0 }", "`var s = ..`"),
    (
        "J807",
        "def f(x: f64) -> f64 = x * x\ndef g(x: f64, dx: f64) -> f64 = «2.0 * x + x + dx»\nrule jvp f = g",
        "depend on no tangent",
    ),
    (
        "J807",
        "def f(x: f64) -> f64 = x\ndef g(x: f64, dx: f64) -> f64 = «sin(dx)»\nrule jvp f = g",
        "linear",
    ),
    ("J010", "def g(x: f64) -> f64 = x\ndef f(x: f64) -> f64 = «grad(g, y)(x)»", "`x`"),
    (
        "J208",
        "def g(x: f64, y: f64) -> f64 = x * y\ndef f(x: f64) -> f64 = «grad(g, x)(x)»",
        "give all of them",
    ),
    ("J002", "def g(x: f64) -> f64 = x\ndef f(x: f64) -> f64 = g(x)«(»x)", "are not called"),
];

const NAMES: &[Row] = &[
    ("J010", "def f(x: f64) -> f64 = x + «z»", "no name `z`"),
    ("J010", "def f(x: «float») -> f64 = x", "floats are `f64`"),
    ("J010", "data D = A(x: f64) | B\ndef f() -> D = «A»", "`A(x)`"),
    ("J014", "def f[n](x: [n]f64) -> f64 = «fold»(x)", "`fold (v <- xs) carry"),
    ("J014", "def f[n](x: [n]f64) -> [n]f64 = «map»(x, x)", "`map (v <- xs)"),
    ("J014", "def g(x: f64) -> f64 = x\ndef f(x: f64) -> f64 = «g.gradient»(x)", "`grad(f)(x)`"),
    ("J011", "def «prim»(x: f64) -> f64 = x", "a name of the language"),
    ("J301", "def f[n](x: [n]f64) -> f64 = «x[-1]»", "`n - 1`"),
    ("J301", "def f(x: [3]f64) -> f64 = { i = 1 - 2; «x[i]» }", "`2`"),
    ("J301", "def f[n](x: [n]f64) -> [2]f64 = «x[-2 ..+ 2]»", "`n - 2`"),
    ("J010", "def f() -> bool = «True»", "write `true`"),
    ("J011", "def f(x: f64) -> f64 = { (a, «a») = (x, x); a }", "twice"),
    ("J011", "def f(x: f64) -> f64 = x\ndef «f»(y: f64) -> f64 = y", "already defined"),
    ("J011", "data P = P(x: f64, «x»: f64)", "declared twice"),
    ("J002", "def f(a: bool, b: bool) -> bool = { a «or» b }", "written `||`"),
    ("J001", "def f(x: f64) -> bool = x «≤» 1.0", "`<=`"),
    ("J010", "def f(n: «int») -> i64 = n", "`i64`"),
    ("J014", "def f(x: f64) -> f64 = «fabs»(x)", "`abs(x)`"),
    ("J011", "core def f(x: f64) -> f64 = {\n  «x» = sin(x)\n  x\n}", "another name"),
    ("J012", "def f(x: f64) -> f64 = «prim.sinn»(x)", "`prim.sin`"),
    (
        "J013",
        "data D = A | B\ndef f(d: D) -> f64 = case d { «C» -> 1.0; _ -> 2.0 }",
        "no constructor",
    ),
    ("J010", "def f(x: f64) -> «D» = D(x)\ndata D = D(x: f64)", "move the definition up"),
    (
        "J014",
        "def f(x: f64) -> f64 = { d = «D»(x); d.x }\ndata D = D(x: f64)",
        "move the definition up",
    ),
    ("J014", "def f(x: f64) -> f64 = «ln»(x)", "`log(x)`"),
    ("J014", "def f[n](x: [n]f64) -> i64 = «len»(x)", "`size(x)`"),
    ("J014", "def f[n](x: [n]f64) -> i64 = «x.len»()", "no methods"),
    ("J014", "def f[n](x: [n]f64) -> f64 = «reduce»(x)", "carry (a = ..)"),
    ("J014", "def f[n](x: [n]f64) -> [n]f64 = «vmap»(x, x)", "`map (v <- xs)"),
    (
        "J809",
        "def f(n: i64, x: [n]f64) -> f64 = sum (v <- x) { v }\ndef g(n: i64, x: [n]f64) -> f64 = { y = «vmap(f, n)(n, x)»; 1.0 }",
        "map `x`",
    ),
    ("J002", "def f(n: i64) -> [n]f64 = map («i» < n) { 1.0 }", "`build (i < n)"),
    (
        "J213",
        "def f[n](x: [n]f64) -> f64 = fold (v <- x) carry (a = 0.0) { «(a + v, v)» }",
        "collects",
    ),
    ("J002", "const «pi» = 3.0", "no type"),
    ("J010", "const a: f64 = «b»\nconst b: f64 = a", "move it up"),
    ("J205", "const a: f64 = 1.0\ndef f() -> f64 = «a»[0]", ""),
    ("J015", "use «stats»\ndef f(x: f64) -> f64 = stats.mean(x)", "stands alone"),
];

const LINEAR: &[Row] = &[
    ("J101", "def f(; x': f64) -> (; f64) = {\n  «y» = x'\n  x'\n}", "ends in `'`"),
    ("J101", "def f[n](; x': [n]f64) -> (; f64) = «x'»[0]", "rd r = x'"),
    ("J102", "def f(x: f64) -> (; f64) = { «y'» = x; y' }", "leave it out"),
    ("J213", "def f(x: f64) -> (; f64) = «x»", "behind the `;`"),
    (
        "J103",
        "core def f(; x': f64) -> (; f64) = {\n  z' = «x' + x'»\n  (; z')\n}",
        "copy it with `dup`",
    ),
    (
        "J103",
        "def f(n: i64; x': f64) -> (; f64) = wr s: f64 { scan par (i < n) { s += «x'» } }",
        "rd r = x'",
    ),
    ("J104", "def f(; x': f64) -> (; f64) = sin(«x'»)", "not a linear function"),
    ("J104", "def f(; x': f64) -> (; f64) = «x' * x'»", "four times"),
    ("J104", "def f(; x': f64) -> (; f64) = «x' + 1.0»", "not zero where"),
    ("J104", "def f[n](; x': [n, n]f64) -> (; [n, n]f64) = matmul(x', «x'»)", "four times"),
    (
        "J104",
        "def f[n](b: [n, n]f64; l': [n, n]f64) -> (; [n, n]f64) = triangular_solve(«l'», b)",
        "is not linear in argument 1",
    ),
    (
        "J104",
        "core def f[n](b: [n, n]f64; l': [n, n]f64) -> (; [n, n]f64) = { x' = triangular_solve(«l'», b); (; x') }",
        "is not linear in argument 1",
    ),
    (
        "J104",
        "def f[n](; a': [n, n]f64) -> (; [n, n]f64) = cholesky(«a'»)",
        "is not linear in argument 1",
    ),
    ("J105", "core def f(x: f64; «x'»: f64) -> f64 = { x }", "drop"),
    ("J110", "def f(; x': f64) -> () = { «r» += x' }", "capability"),
    ("J607", "def f(x: f64) -> f64 = {\n  y = 0.0\n  «y» += x\n  y\n}", "acc"),
    ("J111", "def f(; x': f64; rd r: f64) -> () = { «r» += x' }", "this is a `rd`"),
    ("J111", "def f(; ; rd r: f64) -> (; f64) = 2.0 * «r»", "rd r"),
    (
        "J114",
        "core def f(n: i64; ; rd r: [n]f64) -> () = {\n  check n >= 0\n  y' = scan par (i < n) slice (; ; s <- r) {\n    a' = «rd r[i]»\n    (; a')\n  }\n  drop y'\n  ()\n}",
        "slice",
    ),
    (
        "J115",
        "def g(; ; rd r: [2]f64) -> (; f64) = rd r[0]\ndef f() -> (; f64) = «g(; ; null)»",
        "scalar",
    ),
];

const TYPES: &[Row] = &[
    ("J201", "def f(x: [2]f64) -> f64 = x[«1.0»]", "i64"),
    ("J201", "def f(x: f64) -> f64 = sum (i < «x») { 1.0 }", "i64"),
    ("J202", "def f(x: f64) -> f64 = «x * 2»", "`2.0`"),
    (
        "J202",
        "def f[n, m](a: [n, m]f64, b: [n, m]f64) -> [n, m]f64 = matmul(a, «b»)",
        "the size n of the second has to be m",
    ),
    (
        "J202",
        "def f[n, m](a: [n, m]f64, b: [n, m]f64) -> [n, n]f64 = matmul(a, «b»)",
        "this fits: `matmul(transposed(a), b)`",
    ),
    ("J202", "def f[n](a: [n, n]f64, x: [n]f64) -> [n]f64 = matmul(a, «x»)", "`matvec(a, x)`"),
    ("J202", "def f[n](x: [n]f64, n1: i64) -> [n]f64 = scale(«n1», x)", "`f64(n)`"),
    ("J202", "def f[n, m](a: [n, m]f64) -> [m]f64 = cumsum(«a»)", "it works on ([i]f64)"),
    (
        "J202",
        "def f[n, m](x: [n]f64) -> [m, m]f64 = unflatten(«x», m, m)",
        "of n elements: there have to be",
    ),
    ("J202", "def f[n, m](a: [n, m]f64) -> [n, m]f64 = cholesky(«a»)", "takes a square matrix"),
    (
        "J202",
        "def f[n, m](l: [n, n]f64, b: [m, n]f64) -> [n, n]f64 = triangular_solve(l, «b»)",
        "the size m of the second has to be n",
    ),
    (
        "J807",
        "def g[n](a: [n, n]f64, b: [n, n]f64) -> [n, n]f64 = matmul(a, b)\ndef h[n](a: [n, n]f64, b: [n, n]f64, da: [n, n]f64, db: [n, n]f64) -> [n, n]f64 = «triangular_solve(da, db)»\nrule jvp g = h",
        "not linear in the tangents",
    ),
    ("J208", "def f[n](a: [n, n]f64) -> [n, n]f64 = «matmul(a)»", "takes 2 arguments, not 1"),
    ("J201", "def f[n](x: [n]f64) -> [n, n]f64 = repeat_row(x, «1.5»)", "i64"),
    ("J014", "def f[n](a: [n, n]f64) -> [n, n]f64 = «matmull»(a, a)", "`matmul`"),
    ("J208", "def f() -> [0]f64 = «concat()»", "at least one array"),
    (
        "J202",
        "def f[n](x: [n]f64, y: f64) -> f64 = sum (v <- concat(x, «y»)) v",
        "one element is `[x]`",
    ),
    (
        "J202",
        "def f[n, m](a: [n, n]f64, b: [n, m]f64) -> f64 = sum_all(flatten(concat(a, «b»)))",
        "along their first dimension",
    ),
    ("J208", "def f[n](x: [n]f64) -> f64 = sum_all(«pad(x, 1)»)", "how many zeros"),
    (
        "J202",
        "def f[c, d, p](x: [c, p]f64, k: [1, d, 3]f64) -> f64 = sum_all(flatten(conv1d(x, «k»)))",
        "the size d of the second has to be c",
    ),
    (
        "J601",
        "core def f(n: i64, x: [n]f64) -> [n + n]f64 = {\n  y = «concat(x, x)»\n  y\n}",
        "acc s",
    ),
    ("J202", "def f(x: f64, n: i64) -> f64 = «x * n»", "`f64(n)`"),
    ("J202", "def f(x: f64) -> f64 = if «x» { 1.0 } else { 2.0 }", "a condition is a bool"),
    ("J202", "data P = P(x: f64)\ndef f() -> P = P(«1»)", "`1.0`"),
    ("J202", "def f[n](x: [n]f64) -> [n]f64 = «x + 1»", "`2.0` for `2`"),
    ("J202", "def f[n](x: [n]f64) -> f64 = sum(«x > 1.0»)", "`sum(select(b, 1, 0))`"),
    ("J202", "def f[n](x: [n]f64) -> bool = any(«x»)", "`x > 0.0`"),
    ("J205", "def f(x: f64) -> f64 = sum(«x»)", "`sum` takes an array"),
    ("J205", "def f[n](x: [n, n]f64) -> i64 = argmax(«x»)", "`argmax(flatten(x))`"),
    ("J208", "def f[n](x: [n]f64) -> f64 = «mean(x, x)»", "`mean(x)`"),
    ("J202", "data P = P(x: f64)\ndef f(p: P) -> P = p with x = «1»", "`f64(n)`"),
    ("J204", "data P = P(x: f64)\ndef f(p: P) -> P = p with «y» = 1.0", "`.x`"),
    ("J207", "data K = K(m: i64, w: [m]f64)\ndef f(k: K) -> K = «k with m = 2»", "`K(..)`"),
    ("J209", "def f[n, m](x: [n]f64, y: [n, m]f64) -> [n, m]f64 = x * «y»", "`repeat_row(x, n)`"),
    (
        "J202 J202",
        "def f(x: f64) -> f64 = {\n  a = «x + 1»\n  b = a * 2.0\n  c = «x + true»\n  b + c\n}",
        "`1.0`",
    ),
    ("J203", "def f[n](x: [«m»]f64) -> f64 = 1.0", "name it in brackets"),
    (
        "J203",
        "def f(b: bool, n: i64) -> f64 = {\n  y = if b { k = max(n, 0); «build (i < k) 1.0» } else { [1.0] }\n  1.0\n}",
        "(m: i64, y: [m]f64)",
    ),
    ("J204", "data P = P(width: f64)\ndef f(p: P) -> f64 = p.«widht»", "`width`"),
    ("J204", "def f(x: f64) -> f64 = { t = #(x, x); t.«2» }", "2 components"),
    ("J205", "def f(x: [2]f64) -> f64 = «x[0, 0]»", "1 dimension"),
    ("J205", "def f(x: f64) -> f64 = sum (v <- «x») v", "no elements"),
    ("J010", "def f(v: «V») -> f64 = v[0]\ntype V = [3]f64", "declared further down"),
    ("J010", "def f(p: «P») -> f64 = p.x\ndata P = P(x: f64)", "move the definition up"),
    ("J010", "type T = #(f64, «T»)\ndef f(x: f64) -> f64 = x", "declared with `data`"),
    ("J011", "data V = V(x: f64)\ntype «V» = [3]f64\ndef f(x: f64) -> f64 = x", "another name"),
    ("J011", "type «V» = [3]f64\ndata V = V(x: f64)\ndef f(x: f64) -> f64 = x", "another name"),
    ("J011", "type V[n, «n»] = [n, n]f64\ndef f(x: f64) -> f64 = x", "`n2`"),
    ("J208", "type M[m, n] = [m, n]f64\ndef f(a: «M[2]») -> f64 = a[0, 0]", "`M[n, m]`"),
    ("J208", "type V = [3]f64\ndef f(a: «V[2]») -> f64 = a[0]", "write `V`"),
    ("J208", "type V[n] = [n]f64\ndef f(a: «V») -> f64 = 1.0", "`V[n]`"),
    ("J608", "type F = «fn(f64) -> f64»\ndef f(x: f64) -> f64 = x", "no functions"),
    (
        "J810",
        "def t(g: fn(f64) -> f64, x: f64) -> f64 = g(x)\n\
         def f(x: f64) -> f64 = if x > 1.0 { t(«f.grad», 0.5 * x) } else { x }",
        "from another one",
    ),
    ("J206", "data D = A(x: f64) | B\ndef f(d: D) -> f64 = d.«x»", "open it with `case`"),
    (
        "J207",
        "data D = D(n: i64, w: [n]f64)\ndef f(d: D) -> D = d with «w» = [1.0]",
        "`D(n, w) = ..`",
    ),
    ("J208", "data P = P(x: f64, y: f64)\ndef f() -> P = «P(1.0)»", "2 fields, and 1 is given"),
    ("J208", "def g(x: f64, y: f64) -> f64 = x\ndef f(x: f64) -> f64 = «g(x)»", "argument"),
    ("J208", "def f(x: f64) -> f64 = «pow(x)»", ""),
    ("J209", "def f[n, m](x: [n]f64, y: [m]f64) -> f64 = sum (a <- x, b <- «y») a * b", "cast"),
    (
        "J210",
        "def g[n](x: [n]f64, y: [n]f64) -> f64 = 1.0\ndef f[n, m](x: [n]f64, y: [m]f64) -> f64 = g(x, «y»)",
        "cast x",
    ),
    ("J210", "def g(x: f64) -> f64 = x\ndef f(n: i64) -> f64 = g(«n»)", "`f64(n)`"),
    ("J211", "data P = P(x: f64)\ndef f(p: P, n: i64) -> f64 = { P(=«n») = p; 1.0 }", "not a size"),
    ("J212", "def f[n](x: [n]f64) -> f64 = cast x : «f64»", "size"),
    ("J213", "def f(x: f64) -> (f64, f64) = «x»", "2"),
    (
        "J213",
        "def g(x: f64) -> (f64, f64) = (x, x)\ndef f(x: f64) -> f64 = { «a» = g(x); a }",
        "has 2",
    ),
    ("J214", "def f[n](x: [n]f64) -> f64 = «x»", "[n]f64"),
    ("J214", "def f(x: f64) -> f64 = { «y: i64» = sin(x); 1.0 }", "f64"),
    ("J215", "def f(n: i64, x: [n «/» 2]f64) -> f64 = 1.0", "bind the value to a name"),
    (
        "J301",
        "core def f(n: i64, x: [n]f64, k: i64) -> f64 = {\n  y = «x[k]»\n  y\n}",
        "check k < n",
    ),
    ("J302", "def f(n: i64) -> i64 = { check n «==» 0; n }", "`check i < n`"),
    (
        "J303",
        "core def f(n: i64) -> f64 = {\n  y = «scan par (i < n) { (1.0) }»\n  (2.0)\n}",
        "check n >= 0",
    ),
];

/// The text without marks, and the marked places.
fn unmark(marked: &str) -> (String, Vec<(usize, usize)>) {
    let (mut text, mut places) = (String::new(), Vec::new());
    for c in marked.chars() {
        match c {
            '«' => places.push((text.len(), 0)),
            '»' => places.last_mut().expect("a mark is open").1 = text.len(),
            c => text.push(c),
        }
    }
    (text, places)
}

/// Line and column, from 1.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    (before.matches('\n').count() + 1, before.rsplit('\n').next().unwrap_or("").chars().count() + 1)
}

fn show(text: &str, found: &[Diagnostic]) -> String {
    let line = |d: &Diagnostic| {
        let (start, end) = (d.span.start as usize, d.span.end as usize);
        format!("{} at {:?} `{}`: {d}\n", d.code, position(text, start), &text[start..end])
    };
    found.iter().map(line).collect()
}

fn table() -> impl Iterator<Item = &'static Row> {
    [TEXT, NAMES, LINEAR, TYPES, BLOCKS].into_iter().flatten()
}

#[test]
fn every_wrong_program_gets_its_messages_in_their_places_and_no_others() {
    let mut wrong = String::new();
    for (codes, marked, words) in table() {
        let (text, places) = unmark(marked);
        let found = jut_text::load(&text, 0).diagnostics;
        let codes: Vec<&str> = codes.split(' ').collect();
        let expected: Vec<_> = codes.iter().zip(&places).map(|(c, p)| (*c, p.0, p.1)).collect();
        let got: Vec<_> =
            found.iter().map(|d| (d.code, d.span.start as usize, d.span.end as usize)).collect();
        let says =
            found.first().is_some_and(|d| format!("{} {}", d.message, d.help).contains(words));
        if expected != got || codes.len() != places.len() || !says {
            wrong.push_str(&format!("{codes:?} {words:?}\n{marked}\n{}\n", show(&text, &found)));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Whether the changes that a message proposes make it go away.
fn edits_mend(text: &str, message: &Diagnostic) -> bool {
    let mut edits: Vec<_> = message.edits.iter().collect();
    edits.sort_by_key(|edit| edit.span.start);
    let mut mended = text.to_string();
    for edit in edits.into_iter().rev() {
        mended.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
    }
    let left = jut_text::load(&mended, 0).diagnostics;
    !left.iter().any(|d| (d.code, &d.message) == (message.code, &message.message))
}

#[test]
fn every_message_says_what_to_do_about_this_program_and_its_edits_do_it() {
    let (mut wrong, mut edited) = (String::new(), 0);
    for (_, marked, _) in table() {
        let text = unmark(marked).0;
        let found = jut_text::load(&text, 0).diagnostics;
        for d in &found {
            // Codes with one remedy: what is said in general is as much as there is to say.
            let general = matches!(d.code, "J302" | "J303" | "J401") && !d.help.is_empty();
            edited += usize::from(!d.edits.is_empty());
            if !(general || d.has_own_help()) {
                wrong.push_str(&format!("general help only\n{marked}\n{}\n", show(&text, &found)));
            } else if !d.edits.is_empty() && !edits_mend(&text, d) {
                wrong.push_str(&format!("{:?}\n{marked}\n{}\n", d.edits, show(&text, &found)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(edited >= 20, "{edited}");
}

#[test]
fn the_table_has_every_code_of_text_and_checker() {
    let mut found: BTreeSet<&str> = table().flat_map(|row| row.0.split(' ')).collect();
    // In tests of their own: deep nesting; many messages; modules of several files.
    found.extend(["J003", "J004", "J016"]);
    let documented: BTreeSet<&str> = include_str!("../../../docs/language.md")
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|w| {
            w.len() == 4 && w.starts_with('J') && w[1..].bytes().all(|b| b.is_ascii_digit())
        })
        // J8xx and J999 are of the derivatives, but for what rules and `extern`s state and batches are over.
        .filter(|code| {
            !code.starts_with("J8") && *code != "J999"
                || ["J801", "J807", "J809", "J810", "J811", "J812", "J813"].contains(code)
        })
        .collect();
    assert_eq!(found, documented);
    assert!(table().count() >= 60);
}

#[test]
fn too_deep_a_nesting_is_refused_once_and_where_it_begins() {
    let text = format!("def f(x: f64) -> f64 = {}x{}", "(".repeat(300), ")".repeat(300));
    let found = jut_text::load(&text, 0).diagnostics;
    assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), ["J003"]);
    let blocks =
        format!("def f(x: f64) -> f64 = {}x{}", "{ y = ".repeat(300), "\n y }".repeat(300));
    let found = jut_text::load(&blocks, 0).diagnostics;
    assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), ["J003"]);
}

#[test]
fn a_file_has_at_most_fifty_messages_and_their_number() {
    for (text, count) in [(")".repeat(50), 0), (")".repeat(51), 1), (")".repeat(20_000), 19_950)] {
        let found = jut_text::load(&text, 0).diagnostics;
        assert_eq!(found.len(), jut_text::MAX_MESSAGES + usize::from(count > 0));
        if count > 0 {
            let last = &found[jut_text::MAX_MESSAGES];
            assert_eq!((last.code, last.span.start as usize), ("J004", jut_text::MAX_MESSAGES));
            assert!(last.message.starts_with(&format!("{count} more message")), "{last}");
        }
        let formatted = jut_text::format(&text).expect_err("no program");
        assert_eq!(formatted.len(), found.len());
    }
}

#[test]
fn errors_come_before_warnings_and_every_file_has_its_own_messages() {
    let many: String = (0..80).map(|k| format!("def w{k}(x: f64) -> i64 = i64(x)\n")).collect();
    let found = jut_text::load(&many, 0);
    assert!(found.program.is_some());
    assert_eq!(found.diagnostics.len(), jut_text::MAX_MESSAGES + 1);
    assert!(found.diagnostics.iter().all(|d| d.severity == jut_ir::Severity::Warning));
    let found = jut_text::load_with("use a\nuse b\n$", 0, &mut |name| {
        let file = if name == "a" { 1 } else { 2 };
        Ok(Some(jut_text::ModuleSource { text: "$ ".repeat(70), file }))
    });
    let of = |file| found.diagnostics.iter().filter(|d| d.span.file == file).count();
    assert_eq!([of(0), of(1), of(2)], [1, 51, 51]);
}

#[test]
fn a_cast_that_is_proposed_is_taken() {
    let programs = [
        "def f[n, m](x: [n]f64, y: [m]f64) -> f64 = dot(x, HERE(y))",
        "def f[n, m, k](x: [n, m]f64, y: [k]f64) -> [n]f64 = matvec(x, HERE(y))",
        "def f[n, m, k, l](x: [n, m]f64, y: [k, l]f64) -> [n, l]f64 = matmul(x, HERE(y))",
        "def f[n, m](x: [n]f64, y: [m]f64) -> f64 = sum (a <- x, b <- HERE(y)) { a * b }",
        "def f[n, m](x: [n]f64, y: [m, 2]f64) -> f64 = sum (a <- x, b <- HERE(y)) { a * b[0] }",
        "def g[n](x: [n, n]f64, y: [n]i64) -> f64 = 1.0\ndef f[n, m](x: [n, n]f64, y: [m]i64) -> f64 = g(x, HERE(y))",
    ];
    for program in programs {
        let found = jut_text::load(&program.replace("HERE(y)", "y"), 0).diagnostics;
        let help = &found[0].help;
        let cast = help.split("`cast x : ").nth(1).and_then(|rest| rest.split('`').next());
        let ty = cast.unwrap_or_else(|| panic!("{program}: {help}"));
        let mended = program.replace("HERE(y)", "z");
        let mended =
            mended.replace("f64 = ", &format!("f64 = {{ z: {ty} = cast y : {ty}; ")) + " }";
        // Only the definition at hand gets the statement.
        let mended = mended.replace(&format!("{{ z: {ty} = cast y : {ty}; 1.0"), "1.0");
        let left = jut_text::load(&mended, 0).diagnostics;
        assert!(left.is_empty(), "{mended}\n{}", left[0]);
    }
}
