//! Random programs in the surface language, well typed by construction, and inputs for them.
//!
//! The shapes are biased towards what is hard: captured arrays read in nested loops, a name that
//! is both initial carry and capture, carries that become active late, branches with and without
//! a tape, zero-trip and triangular loops, arrays of length 0 and 1, calls with rows and with the
//! same array twice, records, sums in arrays, slices, sizes computed inside, several results, unused
//! parameters. Now and then an index or a cast may be wrong: then everything derived must fail as the
//! program does. Values stay moderate, so that central differences mean something.

mod carries;
mod constructs;
mod elements;
mod expressions;
mod functions;
mod joined;
mod linear;
mod narrow;
mod nests;
mod policies;
mod primitives;
mod statements;
mod structured;
mod updates;
mod writer;

use crate::values;
use fastrand::Rng;
use jut_eval::Value;
use writer::Writer;

/// A program, and arguments for the definition that it is about.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The text.
    pub text: String,
    /// The definition, the last one: `main`, or `slope` if it has linear parameters.
    pub func: &'static str,
    /// The constructs that the writer chose, in order.
    pub constructs: Vec<&'static str>,
    /// Length of the arrays.
    pub n: usize,
    /// Rows of the matrix.
    pub m: usize,
    /// The scalar parameter.
    pub a: f64,
    /// The integer parameter.
    pub k: i64,
    /// The array parameter.
    pub x: Vec<f64>,
    /// The matrix parameter, m by n.
    pub w: Vec<f64>,
    /// Indices into x.
    pub ix: Vec<i64>,
}

impl Generated {
    /// The non-linear arguments of the definition, sizes left out.
    pub fn arguments(&self) -> Vec<Value> {
        let empty = || Value::floats(Vec::new());
        vec![
            Value::F64(self.a),
            Value::floats(self.x.clone()),
            Value::matrix(self.m, self.n, self.w.clone()).unwrap_or_else(empty),
            Value::I64(self.k),
            Value::ints(self.ix.clone()),
        ]
    }

    /// These arguments as users give them.
    pub fn values(&self) -> Vec<jut::Value> {
        let Generated { n, m, a, k, x, w, ix, .. } = self;
        vec![
            jut::Value::F64(*a),
            jut::Value::F64s(jut::Array { shape: vec![*n], data: x.clone() }),
            jut::Value::F64s(jut::Array { shape: vec![*m, *n], data: w.clone() }),
            jut::Value::I64(*k),
            jut::Value::I64s(jut::Array { shape: vec![*m], data: ix.clone() }),
        ]
    }

    /// The same program with arguments of other sizes: empty arrays, arrays of one element and of more
    /// than a vector has, each with indices that are none, just outside, far outside or negative.
    pub fn strange(&self, seed: u64) -> Vec<Generated> {
        let mut rng = Rng::with_seed(seed ^ 0x57a6e);
        let sizes = [(0, 0), (0, 2), (1, 3), (3, 1), (9, 3)];
        let other = |(n, m): (usize, usize)| {
            let mut inputs = Inputs::of_sizes(&mut rng, n, m);
            for index in &mut inputs.ix {
                if rng.u8(0..3) == 0 {
                    *index = values::hostile(&mut rng, n as i64);
                }
            }
            // It is the bound of loops.
            inputs.k = values::hostile(&mut rng, n as i64).min(4);
            let Inputs { n, m, a, k, x, w, ix } = inputs;
            Generated { n, m, a, k, x, w, ix, ..self.clone() }
        };
        sizes.map(other).to_vec()
    }

    /// The same program with arguments that are shorter than vectors, as long, and longer, of numbers that are often equal; some of
    /// them zeros with a sign, infinite, tiny or none; and of indices of which one may be wrong.
    pub fn of_vectors(&self, seed: u64) -> Vec<Generated> {
        let mut rng = Rng::with_seed(seed ^ 0x7ec7_0125);
        let lengths = [0, 1, 2, 7, 8, 9, 15, 16, 17, 24];
        let few = [0, 1, 2, 3, 7, 8, 9, 17];
        let equal = [0.5, -0.5, 0.25, 1.0, 0.0, -1.5];
        let strange =
            [-0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, -1e-310, 1e300, -0.5];
        let list = |k: usize| {
            let n = lengths[rng.usize(0..lengths.len())];
            let m = few[rng.usize(0..few.len())];
            let mut inputs = Inputs::of_sizes(&mut rng, n, m);
            for number in inputs.x.iter_mut().chain(&mut inputs.w) {
                match rng.u8(0..8) {
                    0..=2 => *number = equal[rng.usize(0..equal.len())],
                    3 if k % 3 == 2 => *number = strange[rng.usize(0..strange.len())],
                    _ => {}
                }
            }
            if k % 3 == 1 && m > 0 {
                let wrong = [-9, -1, n as i64, i64::MIN, i64::MAX - 8];
                inputs.ix[rng.usize(0..m)] = wrong[rng.usize(0..wrong.len())];
            }
            let Inputs { n, m, a, k, x, w, ix } = inputs;
            Generated { n, m, a, k, x, w, ix, ..self.clone() }
        };
        (0..LISTS).map(list).collect()
    }
}

/// How many lists of arguments a program about loops has.
const LISTS: usize = 6;

/// The signature that every generated `main` has.
pub const SIGNATURE: &str =
    "def main[m, n](a: f64, x: [n]f64, w: [m, n]f64, k: i64, ix: [m]i64) -> f64";

/// What [`Generated::constructs`] may have.
pub const CONSTRUCTS: &[&str] = &[
    "acc of an array, scattered",
    "acc of an array, in places",
    "acc of a scalar in nested loops",
    "acc parameter of an array",
    "acc parameter by lanes",
    "scan down",
    "scan down that collects",
    "scan up with a slice",
    "column of a matrix",
    "part of a row",
    "ragged array of records",
    "record with an array of floats",
    "structured primitive",
    "sum type with an array",
    "sum type with floats",
    "array of sums with floats",
    "record in a record",
    "function of records",
    "array of tuples",
    "case of a truth value",
    "computed index",
    "several ranges",
    "function that hides a primitive",
    "constant",
    "name bound again",
    "carry that becomes active late",
    "carried arrays handed on",
    "while",
    "while behind the head of a for",
    "while that collects",
    "array with another part",
    "carried array that changes",
    "array of records that changes",
    "loop with far bounds",
    "function as an argument",
    "derivative in the language",
    "gradient in the language",
    "function that calls itself",
    "recursive data",
    "recursive data with floats",
    "function with a rule",
    "functions given to one with a rule, or that calls itself",
    "histogram by an operator",
    "integers of 32 bits",
    "record with sizes as parameters",
    "sum with sizes as parameters",
    "assigned variable",
    "assigned array",
    "while over variables",
    "tape policy of a value",
    "tape policy of a loop",
    "tape policy of a loop along arrays",
    "tape policy in a function that calls itself",
    "array of its own elements",
    "carried array that is lent",
    "linear array with another part",
    "explicit check",
    "array of arrays by a call",
    "array of records",
    "cast of a size",
    "addition in a branch",
    "call of a mixed function",
    "cast beside linear code",
    "call that adds to a place",
    "call with a computed size",
    "call with a linear value and a place to read",
    "explicit dup and drop",
    "function of linear arrays",
    "linear cast",
    "linear sum by lanes",
    "linear sum in nested loops",
    "linear tuple",
    "loop that collects linear values",
    "loop with a linear carry",
    "loop with carries of both kinds",
    "rd region",
    "scattered linear addition",
    "slice of a linear array",
    "slices of places",
    "sum of linear arrays",
    "zero of an array",
];

/// The definition of which a rule states another derivative than it has, so that a rule that is not heard is noticed.
pub const OTHER_DERIVATIVE: &str = "swell";

/// Declarations that every program has.
const PRELUDE: &str = "data Pair = Pair(left: f64, right: f64)
data Deep = Deep(pair: Pair, tag: i64)
data Kind = Low | Mid(place: i64) | High(place: i64, odd: bool)
data Steps = Skip | Turn(m: i64, ix: [m]i64)
data Bag = Bag(m: i64, w: [m]i64, last: i64)
data Row = Row(m: i64, w: [m]f64)
data Form = Flat | Disc(radius: f64) | Slab(width: f64, height: f64)
def half[d](v: [d]f64) -> (m: i64, y: [m]f64) = {
  m = d / 2
  y = build (i < m) { sin(v[i]) * 1.5 }
  (m, y)
}
def both[d](s: f64, v: [d]f64) -> (f64, f64) = {
  t = sum (i < d) { v[i] * s }
  (tanh(t), cos(s))
}
def pack[d](v: [d]f64, s: f64) -> Bag = {
  w = build (i < d) { i64(3.0 * v[i] + s) }
  Bag(d, w, d - 1)
}
";

/// Declarations that a program has if it uses them.
const LIBRARY: &[(&str, &str)] = &[
    ("quarter", "def quarter() -> f64 = 0.25\n"),
    ("turned", "def turned(p: Pair, s: f64) -> Pair = Pair(p.left * cos(s), p.right - s)\n"),
    (
        "cut",
        "def cut[d](v: [d]f64, s: f64) -> Row = {
  m = (d + 1) / 2
  y = build (i < m) { v[i] * s }
  Row(m, y)
}
",
    ),
    (
        "scatter",
        "def scatter[d](v: [d]f64, s: f64; ; acc r: [d]f64) -> () = {
  scan par (i < d) { r[i] += v[i] * s }
}
",
    ),
    (
        "tally",
        "def tally[d](v: [d]f64; ; acc lanes r: f64) -> () = {
  scan par (i < d) { r += sin(v[i]) }
}
",
    ),
    ("twice", "def twice(f: fn(f64) -> f64, x: f64) -> f64 = f(0.5 * f(x))\n"),
    (
        "folded",
        "def folded[d](f: fn(f64, f64) -> f64, s: f64, v: [d]f64) -> f64 =
  for (e <- v) carry (s = s) { f(s, e) }
",
    ),
    (
        "mapped",
        "def mapped[d](f: fn(f64) -> f64, v: [d]f64) -> [d]f64 = build (i < d) { f(v[i]) }\n",
    ),
    (
        "power",
        "def power(x: f64, n: i64) -> f64 =
  if n == 0 { 1.0 }
  else if n % 2 == 0 { h = power(x, n / 2); h * h }
  else { x * power(x, n - 1) }
",
    ),
    (
        "climb",
        "def climb[d](v: [d]f64, k: i64, s: f64) -> f64 =
  if k >= d { s } else { tanh(v[k]) * climb(v, k + 1, sin(s) + v[k]) + s }
",
    ),
    (
        "winding",
        "def winding[d](v: [d]f64, k: i64, x: f64) -> f64 = {
  y = @revolve(2) for (e <- v) carry (y = x) { tanh(y - e) }
  s = @recompute sum (e <- v) { sin(e * x) }
  if k == 0 { y + s } else { sin(s) * winding(v, k - 1, y) - y }
}
",
    ),
    (
        "evenly",
        "def evenly(n: i64, x: f64) -> f64 = if n == 0 { x } else { oddly(n - 1, sin(x)) }
def oddly(n: i64, x: f64) -> f64 = if n == 0 { 1.0 } else { x * evenly(n - 1, x) }
",
    ),
    (
        "grown",
        "data Tree = Leaf(weight: i64) | Node(left: Tree, right: Tree)
def grown(depth: i64, k: i64) -> Tree =
  if depth == 0 { Leaf(k) } else { Node(grown(depth - 1, 2 * k), grown(k % depth, k + 1)) }
def energy(t: Tree, x: f64) -> f64 = case t {
  Leaf(w) -> x * f64(w)
  Node(l, r) -> { a = energy(l, sin(x)); b = energy(r, x * x); tanh(a) * b + x }
}
",
    ),
    (
        "listed",
        "data List = Nil | Cons(head: f64, tag: i64, tail: List)
def listed[d](v: [d]f64, k: i64, s: f64) -> List =
  if k >= d { Nil() } else { Cons(v[k] * s, k, listed(v, k + 1, sin(s))) }
def squashed(l: List, x: f64) -> List = case l {
  Nil -> Nil()
  Cons(h, k, rest) -> if k % 2 == 0 { Cons(tanh(h + x), k, squashed(rest, x)) } else { squashed(rest, h) }
}
def total(l: List, x: f64) -> f64 = case l {
  Nil -> x
  Cons(h, k, rest) -> sin(h) * f64(k) - tanh(total(rest, h * x))
}
",
    ),
    (
        OTHER_DERIVATIVE,
        "def swell(x: f64) -> f64 = sin(x)
def swell_tangent(x: f64, dx: f64) -> f64 = dx * (0.5 + cos(x))
rule jvp swell = swell_tangent
",
    ),
    (
        "length",
        "def length[d](v: [d]f64) -> f64 = sqrt(0.25 + sum (e <- v) { e * e })
def length_pullback[d](v: [d]f64, dy: f64) -> [d]f64 = {
  r = length(v)
  for (e <- v) { dy * e / r }
}
rule vjp length = length_pullback
",
    ),
    (
        "lifted",
        "def lifted[d](v: [d]f64, s: f64) -> [d]f64 = for (e <- v) { sin(e) * s }
def lifted_tangent[d](v: [d]f64, s: f64, dv: [d]f64, ds: f64) -> [d]f64 =
  build (i < d) { cos(v[i]) * s * dv[i] + sin(v[i]) * ds }
rule jvp lifted = lifted_tangent
",
    ),
    (
        "extent",
        "data Either[d] = Ball(c: [d]f64, r: f64) | Box(low: [d]f64, on: [d]bool) | Far
def widened[d](s: Either[d], by: f64) -> Either[d] = case s {
  Ball(c, r) -> if r > by { Box(c, build (i < d) { c[i] > r }) } else { Ball(by * c, r + by) }
  Box(low, on) -> if by > 0.5 { Far[d] } else { Box(build (i < d) { if on[i] { sin(low[i]) } else { low[i] } }, on) }
  Far -> Far[d]
}
def extent[d](s: Either[d]) -> f64 = case s {
  Ball(c, r) -> r * sum (i < d) { sin(c[i]) }
  Box(low, on) -> sum (i < d) { if on[i] { low[i] * low[i] } else { 0.3 } }
  Far -> 0.7
}
",
    ),
    (
        "Sized",
        "data Sized[d] = Sized(w: [d]f64, mark: [d]i32, s: f64)
def shrunk[d](r: Sized[d], c: f64) -> Sized[d] = {
  Sized(w, mark, s) = r
  Sized(c * w, mark, s - c)
}
def weighed[d](r: Sized[d]) -> f64 = sum (i < d) { f64(r.mark[i]) * sin(r.w[i] * r.s) }
",
    ),
    (
        "settled",
        "def settled(f: fn(f64) -> f64, x0: f64) -> f64 = for (k < 2) carry (x = x0) { 0.5 * f(x) + 0.25 }
def settled_tangent(f: fn(f64) -> f64, x0: f64, df: fn(f64) -> f64, dx0: f64) -> f64 = {
  (x, dx) = for (k < 2) carry (x = x0, dx = dx0) { (0.5 * f(x) + 0.25, 0.5 * (df(x) + grad(f)(x) * dx)) }
  dx
}
rule jvp settled = settled_tangent
",
    ),
    (
        "crossed",
        "def crossed(f: fn(f64) -> f64, g: fn(f64) -> f64, x: f64) -> f64 = { u = f(x); u * g(u) }
def crossed_tangent(f: fn(f64) -> f64, g: fn(f64) -> f64, x: f64, df: fn(f64) -> f64, dg: fn(f64) -> f64, dx: f64) -> f64 = {
  u = f(x)
  du = df(x) + grad(f)(x) * dx
  du * g(u) + u * (dg(u) + grad(g)(u) * du)
}
rule jvp crossed = crossed_tangent
",
    ),
    (
        "descended",
        "def descended(f: fn(f64) -> f64, x: f64, n: i64) -> f64 =
  if n == 0 { f(x) } else { descended(f, x - 0.1 * grad(f)(x), n - 1) + grad(fn (t) -> t * f(t * x))(0.5) }
",
    ),
    (
        "joint",
        "def joint(a: f64, b: f64) -> f64 = {
  top = max(a, b)
  top + log(exp(a - top) + exp(b - top))
}
",
    ),
    ("softplus", "def softplus(z: f64) -> f64 = max(z, 0.0) + log1p(exp(-abs(z)))\n"),
    ("sign", "def sign(z: f64, w: f64) -> f64 = z * tanh(w)\n"),
];

/// The longest array of an argument.
const LONGEST: u64 = 9;

/// The parameters that arguments are made for.
struct Inputs {
    n: usize,
    m: usize,
    a: f64,
    k: i64,
    x: Vec<f64>,
    w: Vec<f64>,
    ix: Vec<i64>,
}

impl Inputs {
    fn random(rng: &mut Rng) -> Inputs {
        let n = [0, 1, 2, 3, 5, LONGEST as usize][rng.usize(0..6)];
        let m = if n == 0 { 0 } else { rng.usize(0..4) };
        Inputs::of_sizes(rng, n, m)
    }

    fn of_sizes(rng: &mut Rng, n: usize, m: usize) -> Inputs {
        let float = |rng: &mut Rng| (rng.f64() - 0.5) * 3.0;
        let a = float(rng);
        let x = (0..n).map(|_| float(rng)).collect();
        let w = (0..m * n).map(|_| float(rng)).collect();
        let ix = (0..m).map(|_| rng.i64(0..n.max(1) as i64)).collect();
        Inputs { n, m, a, k: rng.i64(-1..4), x, w, ix }
    }

    fn generated(self, func: &'static str, writer: Writer) -> Generated {
        let Inputs { n, m, a, k, x, w, ix } = self;
        let (text, constructs) = writer.finish(func);
        Generated { text, func, constructs, n, m, a, k, x, w, ix }
    }
}

/// How large programs are: compound expressions in `main` and in each helper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// In the definition that the program is about.
    pub main: usize,
    /// In each function that it calls.
    pub helper: usize,
}

impl Extent {
    /// Programs of about 50 lines.
    pub const DEFAULT: Extent = Extent { main: 60, helper: 16 };
    /// Programs several times as long.
    pub const LARGE: Extent = Extent { main: 300, helper: 60 };
}

/// Makes the program with the given number: a non-linear `main`.
pub fn generate(seed: u64) -> Generated {
    generate_of(seed, Extent::DEFAULT)
}

/// [`generate`], as large as said.
pub fn generate_of(seed: u64, extent: Extent) -> Generated {
    let mut rng = Rng::with_seed(seed);
    let inputs = Inputs::random(&mut rng);
    let mut writer = Writer::new(rng);
    for _ in 0..writer.rng.usize(0..3) {
        writer.helper(extent.helper);
    }
    writer.fuel = extent.main;
    writer.main(seed);
    inputs.generated("main", writer)
}

/// Makes the program with the given number about loops in loops, for [arguments](Generated::of_vectors) as long as vectors.
pub fn generate_nests(seed: u64) -> Generated {
    let mut rng = Rng::with_seed(seed ^ 0x9e57_0000_0000);
    let inputs = Inputs::random(&mut rng);
    let mut writer = Writer::new(rng);
    writer.text = nests::main(&mut writer);
    inputs.generated("main", writer)
}

/// Makes the program with the given number about linear code written by hand: `slope` has linear
/// parameters and capabilities, and calls functions that have.
pub fn generate_linear(seed: u64) -> Generated {
    generate_linear_of(seed, Extent::DEFAULT)
}

/// [`generate_linear`], as large as said.
pub fn generate_linear_of(seed: u64, extent: Extent) -> Generated {
    let mut rng = Rng::with_seed(seed ^ 0x5eed_0000_0000);
    let inputs = Inputs::random(&mut rng);
    let mut writer = Writer::new(rng);
    writer.fuel = extent.main;
    writer.slope();
    inputs.generated("slope", writer)
}
