//! `--check` where there is little to compare: values and derivatives that are not finite, and parameters
//! of sum types.

use crate::support::{directory, jut, write};
use serde_json::{Value as Json, json};

const SPECIAL: &str = "
def root(x: f64) -> f64 = sqrt(x)
def logarithm(x: f64) -> f64 = log(x)
def cube_root(x: f64) -> f64 = cbrt(x)
def difference(x: f64) -> f64 = cbrt(x) - cbrt(2.0 * x) / cbrt(2.0) + x
def ratio(x: f64) -> f64 = x * x / x
def edge(x: f64) -> f64 = log(1.0 - x) + 0.0 * sqrt(1.0 - x)
def huge(x: f64) -> f64 = exp(x)
";

/// The arguments of a command, and its exit code, text, and `check` in JSON.
fn checked(name: &str, program: &str, args: &[&str]) -> (i32, String, Json) {
    let program = write(&directory(name), "program.jut", program);
    let (command, rest) = args.split_first().expect("a command");
    let call = [&[*command, &program], rest, &["--check", "--engine", "cranelift"]].concat();
    let (code, out, err) = jut(&call);
    assert_eq!(err, "", "{args:?}: {out}");
    let (again, json, _) = jut(&[&call[..], &["--format", "json"]].concat());
    assert_eq!(code, again, "{args:?}");
    let json: Json = serde_json::from_str(&json).expect("JSON");
    (code, out, json["check"].clone())
}

/// Beside a tolerance of 1e-9 there are tolerances that no iteration reaches.
#[test]
fn a_loop_without_an_end_beside_the_point_is_left_out_of_the_differences() {
    let program = "
def root(a: f64, tolerance: f64) -> f64 = {
  var x = a
  while abs(x * x - a) > tolerance { x = 0.5 * (x + a / x) }
  x
}
";
    let call = ["grad", "root", "--arg", "a=2", "--arg", "tolerance=1e-9"];
    let (code, out, json) = checked("endless", program, &call);
    assert_eq!(code, 0, "{out}");
    assert!(json["central_differences"].as_f64().is_some_and(|apart| apart < 1e-5), "{json}");
}

#[test]
fn what_is_not_finite_is_said_to_be_so_and_is_no_disagreement() {
    let (dot, slope) = ("dot-product test of jvp and vjp", "central differences");
    let (nan, infinite) =
        ("not a number: nothing to compare with", "infinite: nothing to compare with");
    for (function, x, first, second) in [
        ("root", "-1", nan, nan),
        ("root", "\"NaN\"", nan, nan),
        ("logarithm", "0", infinite, infinite),
        ("ratio", "0", nan, nan),
        ("cube_root", "0", infinite, infinite),
        ("huge", "710", infinite, infinite),
        ("huge", "\"inf\"", infinite, infinite),
    ] {
        for (command, law) in [("grad", dot), ("jvp", dot), ("vjp", dot)] {
            let direction = match command {
                "jvp" => vec!["--tangent", "x=1"],
                "vjp" => vec!["--cotangent", "value=1"],
                _ => vec![],
            };
            let arg = format!("x={x}");
            let call = [&[command, function, "--arg", &arg], &direction[..]].concat();
            let (code, out, json) = checked("special", SPECIAL, &call);
            assert_eq!(code, 0, "{call:?}: {out}");
            assert!(!out.contains("TOO FAR"), "{call:?}: {out}");
            assert!(out.contains("interpreter and cranelift: the same bits"), "{call:?}: {out}");
            assert!(out.contains(&format!("check: {law}: {first}\n")), "{call:?}: {out}");
            assert!(out.contains(&format!("check: {slope}: {second}\n")), "{call:?}: {out}");
            assert_eq!(json["good"], true, "{json}");
            assert_eq!(
                (&json["dot_product"], &json["central_differences"]),
                (&Json::Null, &Json::Null)
            );
            let reason = |text: &str| text.split(':').next().map(String::from);
            let expected = json!({
                "dot_product": reason(first), "central_differences": reason(second),
            });
            assert_eq!(json["not_compared"], expected, "{call:?}");
        }
    }
    // All that is said of one that can be compared.
    let (code, _, json) = checked("special", SPECIAL, &["grad", "root", "--arg", "x=2"]);
    assert_eq!((code, &json["not_compared"]), (0, &json!({})));
}

#[test]
fn a_derivative_that_is_not_finite_where_the_function_has_a_slope_is_a_disagreement() {
    let (code, out, json) = checked("slope", SPECIAL, &["grad", "difference", "--arg", "x=0"]);
    assert_eq!(code, 4, "{out}");
    assert!(out.contains("dot-product test of jvp and vjp: not a number"), "{out}");
    assert!(
        out.contains("central differences: one is finite and the other is not, which is TOO FAR"),
        "{out}"
    );
    assert_eq!((&json["good"], &json["central_differences"]), (&json!(false), &json!("inf")));
    assert_eq!(json["not_compared"], json!({ "dot_product": "not a number" }));
}

#[test]
fn where_every_step_leaves_the_domain_the_differences_say_so() {
    let (code, out, json) =
        checked("domain", SPECIAL, &["grad", "edge", "--arg", "x=0.9999999999"]);
    assert_eq!(code, 0, "{out}");
    assert!(
        out.contains("central differences: no step gives finite values: nothing to compare with"),
        "{out}"
    );
    assert!(json["dot_product"].is_number(), "{json}");
    assert_eq!(json["not_compared"], json!({ "central_differences": "no step" }));
}

#[test]
fn other_products_say_so_as_well() {
    for (command, direction) in [
        ("hessian", &[][..]),
        ("jacobian", &[]),
        ("hvp", &["--tangent", "x=1"]),
        ("second", &["--tangent", "x=1"]),
        ("linearize", &["--tangent", "x=1"]),
    ] {
        let call = [&[command, "root", "--arg", "x=-1"], direction].concat();
        let (code, out, json) = checked("others", SPECIAL, &call);
        assert_eq!(code, 0, "{call:?}: {out}");
        assert!(out.contains("not a number: nothing to compare with"), "{call:?}: {out}");
        assert!(!out.contains("TOO FAR"), "{call:?}: {out}");
        assert_eq!(json["good"], true, "{call:?}: {json}");
    }
}

const SCALES: &str = "
def product[n](x: [n]f64) -> f64 = for (i < n) carry (p = 1.0) { p * x[i] }
def identity(x: f64) -> f64 = x
def vector[n](x: [n]f64) -> [n]f64 = map (a <- x) { a }
def square(x: f64) -> f64 = x * x
def squares[n](x: [n]f64) -> f64 = sum (a <- x) { a * a }
def bowl[n](x: [n]f64) -> f64 = sum (a <- x) { a * a * a + a * a }
def root(x: f64) -> f64 = sqrt(x)
def both(x: f64, y: f64) -> f64 = log(x) + exp(y)
def far(x: f64) -> f64 = 1e10 + x
def rounded(x: f64) -> f64 = (x + 1e10) - x
def mean[n](x: [n]f64) -> f64 = sum (a <- x) { a } / f64(n)
def power(x: f64, y: f64) -> f64 = pow(x, y)
def polynomial(x: f64) -> f64 = { c = [5.0, 4.0, 3.0]; sum (i < 3) { c[i] * x^i } }
def guarded(x: f64) -> f64 = select(x > 0.0, sqrt(x), 2.0 * x)
";

/// Points where derivatives are zero, very large or very small, and where some partial is infinite.
const POINTS: &[(&str, &[&str])] = &[
    ("product", &["x=[0, 0, 3]"]),
    ("product", &["x=[0, 1.5, 0, -2, 0.25]"]),
    ("product", &["x=[0, 0, 0, 0]"]),
    ("product", &["x=[0, 0, 0, 0, 7]"]),
    ("product", &["x=[]"]),
    ("identity", &["x=1e308"]),
    ("identity", &["x=-1e300"]),
    ("identity", &["x=5e-324"]),
    ("vector", &["x=[1e308, -1e307]"]),
    ("vector", &["x=[1e-310, 0, 1e-320]"]),
    ("vector", &["x=[]"]),
    ("square", &["x=1e-310"]),
    ("square", &["x=-1e150"]),
    ("squares", &["x=[1e-310, -3e-312, 0]"]),
    ("squares", &["x=[1e10, 1e-10]"]),
    ("squares", &["x=[]"]),
    ("bowl", &["x=[1e-310]"]),
    ("bowl", &["x=[0, 0]"]),
    ("root", &["x=1e-310"]),
    ("root", &["x=1e300"]),
    ("both", &["x=1e-310", "y=1"]),
    ("both", &["x=1e300", "y=-1"]),
    ("far", &["x=1"]),
    ("rounded", &["x=1"]),
    ("mean", &["x=[]"]),
    ("mean", &["x=[1e-310, 1e-311]"]),
    ("power", &["x=0", "y=2"]),
    ("power", &["x=0", "y=0.5"]),
    ("power", &["x=-2", "y=2"]),
    ("polynomial", &["x=0"]),
    ("guarded", &["x=-1"]),
];

#[test]
fn a_right_derivative_is_never_called_wrong() {
    let mut wrong = String::new();
    for (function, point) in POINTS {
        let args: Vec<&str> = point.iter().flat_map(|arg| ["--arg", arg]).collect();
        for command in ["grad", "hessian", "jacobian", "jvp", "linearize"] {
            if *function == "vector" && ["grad", "hessian"].contains(&command) {
                continue;
            }
            let tangents: Vec<String> = point
                .iter()
                .map(|arg| {
                    let (name, value) = arg.split_once('=').expect("an argument");
                    let value: Json = serde_json::from_str(value).expect("JSON");
                    let ones = value.as_array().map(|items| vec![1.0; items.len()]);
                    let ones = ones.map_or(json!(1.0), |ones| json!(ones));
                    format!("{name}={ones}")
                })
                .collect();
            let directed = ["jvp", "linearize"].contains(&command);
            let tangents = tangents.iter().flat_map(|t| ["--tangent", t]).filter(|_| directed);
            let call: Vec<&str> = [command, function]
                .into_iter()
                .chain(args.iter().copied())
                .chain(tangents)
                .collect();
            let (code, out, json) = checked("scales", SCALES, &call);
            if code != 0 || json["good"] != true {
                wrong += &format!("{call:?}: {code}\n{out}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_derivative_that_is_zero_but_should_not_be_is_found() {
    // At a kink, and where the chain rule has a factor of zero and one that is infinite.
    let program = "
def steep(x: f64) -> f64 = 3.0 * relu(x)
def cubic(x: f64) -> f64 = { r = cbrt(x); r * r * r }
";
    for function in ["steep", "cubic"] {
        let (code, out, _) = checked("zero", program, &["grad", function, "--arg", "x=0"]);
        assert!(code == 4 && out.contains("TOO FAR"), "{function}: {out}");
    }
}

#[test]
fn a_nan_is_like_any_other_on_every_engine() {
    let program = "
def undefined(x: f64) -> f64 = -((x - x) / (x - x)) * sqrt(-1.0 - x * x)
def many[n](x: [n]f64) -> [n]f64 = map (a <- x) { -(0.0 / a) - sqrt(a - 1.0) }
";
    let ways =
        [["run", "undefined", "x=2"], ["grad", "undefined", "x=2"], ["run", "many", "x=[0, 0.5]"]];
    for [command, function, arg] in ways {
        let (code, out, _) = checked("nan", program, &[command, function, "--arg", arg]);
        assert!(code == 0 && out.contains("the same bits"), "{command} {function}: {out}");
    }
}

#[test]
fn numbers_of_32_bits_are_checked_to_their_own_precision() {
    let program = "
def inside(x: f64) -> f64 = { y = f32(x); f64(y * y * y) }
def short(x: f32) -> f32 = sin(x) * x
def cells[n](x: [n]f32, k: f64) -> f64 = sum (v <- x) { f64(v) * k * f64(v) }
def flat(x: f32) -> f32 = x + 3.0 * relu(x)
";
    for command in ["grad", "hessian"] {
        for (function, args) in [
            ("inside", &["--arg", "x=0.7"][..]),
            ("short", &["--arg", "x=0.7"]),
            ("cells", &["--arg", "x=[0.7, 0.1]", "--arg", "k=2"]),
        ] {
            let call = [&[command, function], args].concat();
            let (code, out, _) = checked("single", program, &call);
            assert!(code == 0 && !out.contains("nothing to compare"), "{call:?}: {out}");
        }
    }
    let (code, out, _) = checked("single", program, &["grad", "flat", "--arg", "x=0"]);
    assert!(code == 4 && out.contains("TOO FAR"), "{out}");
}

const SHAPES: &str = "
data Point = Point(x: f64, k: i64, y: f64)
data Figure = Disc(r: f64) | Box(w: f64, tag: i64, h: f64) | At(p: Point, q: [2]f64) | Empty

def weight(f: Figure, s: f64) -> f64 = case f {
  Disc(r) -> 3.0 * r * r * s
  Box(w, t, h) -> w * sin(h) * s * f64(t)
  At(p, q) -> p.x * p.y + q[0] * q[1] * s * s
  Empty -> s
}

def grow(f: Figure, s: f64) -> Figure = case f {
  Disc(r) -> Disc(r * s)
  Box(w, t, h) -> Box(h * s, t, w * w)
  At(p, q) -> Disc(p.x * q[1] + s)
  Empty -> At(Point(s, 1, s * s), [sin(s), 2.0])
}
";

const FIGURES: [&str; 4] = [
    "f={\"Disc\": [1.5]}",
    "f={\"Box\": {\"w\": 2, \"tag\": 3, \"h\": 0.5}}",
    "f={\"At\": [[1.5, 7, -2], [0.25, 3]]}",
    "f=\"Empty\"",
];

#[test]
fn parameters_and_results_of_sum_types_are_checked() {
    for figure in FIGURES {
        let arg = ["--arg", figure, "--arg", "s=0.7"];
        for (command, function) in
            [("grad", "weight"), ("linearize", "weight"), ("linearize", "grow"), ("run", "grow")]
        {
            let (code, out, json) =
                checked("sums", SHAPES, &[&[command, function], &arg[..]].concat());
            assert_eq!(code, 0, "{command} {function} {figure}: {out}");
            assert!(out.contains("central differences: ") && out.contains(" apart"), "{out}");
            assert_eq!(json["not_compared"], json!({}), "{command} {function} {figure}");
        }
        let tangent = "f=[0.5, 1, -1, [0.25, 2], [3, -4]]";
        let more = ["--tangent", tangent, "--tangent", "s=1"];
        for (command, function) in
            [("jvp", "weight"), ("jvp", "grow"), ("hvp", "weight"), ("second", "grow")]
        {
            let call = [&[command, function], &arg[..], &more].concat();
            let (code, out, _) = checked("sums", SHAPES, &call);
            assert_eq!(code, 0, "{command} {function} {figure}: {out}");
            assert!(out.contains("central differences: "), "{out}");
        }
        let call =
            [&["vjp", "grow"], &arg[..], &["--cotangent", "value=[1, 2, 3, [4, 5], [6, 7]]"]];
        let (code, out, _) = checked("sums", SHAPES, &call.concat());
        assert_eq!(code, 0, "vjp grow {figure}: {out}");
    }
}

#[test]
fn a_wrong_branch_of_a_sum_is_found() {
    // The slope on both sides of zero differs, in the field of the constructor that is there.
    let program = "
data Figure = Disc(r: f64) | Box(w: f64, h: f64)
def weight(f: Figure) -> f64 = case f {
  Disc(r) -> r
  Box(w, h) -> if h > 0.0 { w * h } else { 3.0 * w * h }
}
";
    let at_a_kink = ["grad", "weight", "--arg", "f={\"Box\": [2, 0]}"];
    let (code, out, _) = checked("kink_of_a_sum", program, &at_a_kink);
    assert!(code == 4 && out.contains("central differences: ") && out.contains("TOO FAR"), "{out}");
}

#[test]
fn arrays_of_sums_are_checked() {
    let program = "
data Figure = Disc(r: f64, k: i64) | Box(w: f64, h: f64)
data Item = Item(f: Figure, weight: f64)
def area(f: Figure) -> f64 = case f { Disc(r, k) -> r * r * f64(k); Box(w, h) -> w * sin(h) }
def list[n](figures: [n]Figure) -> f64 = sum (f <- figures) { area(f) }
def grid[n, m](figures: [n, m]Figure) -> f64 = sum (i < n, j < m) { area(figures[i, j]) * f64(i + 2 * j + 1) }
def items[n](items: [n]Item) -> f64 = sum (i <- items) { area(i.f) * i.weight }
def turned[n](figures: [n]Figure) -> [n]Figure = map (f <- figures) {
  case f { Disc(r, k) -> Box(r * r, sin(r)); Box(w, h) -> Disc(w * h, 3) }
}
";
    let (disc, rectangle) = ("{\"Disc\": [1.5, 2]}", "{\"Box\": {\"w\": 0.5, \"h\": -1}}");
    let row = format!("[{disc}, {rectangle}, {disc}]");
    let items = format!("[[{disc}, 2], [{rectangle}, 0.5]]");
    for (function, argument) in [
        ("list", format!("figures={row}")),
        ("grid", format!("figures=[{row}, {row}]")),
        ("items", format!("items={items}")),
        ("turned", format!("figures={row}")),
    ] {
        let command = if function == "turned" { "linearize" } else { "grad" };
        let (code, out, json) = checked("lists", program, &[command, function, "--arg", &argument]);
        assert_eq!(code, 0, "{function}: {out}");
        assert!(json["central_differences"].is_number(), "{function}: {json}");
        assert_eq!(json["not_compared"], json!({}), "{function}");
    }
    let npy = directory("lists_npy").join("x.npy");
    jut::npy::write(std::fs::File::create(&npy).expect("made"), &jut::Value::F64(1.0))
        .expect("written");
    let path = write(&directory("lists_program"), "program.jut", program);
    let argument = format!("figures=@{}", npy.display());
    let (code, _, err) = jut(&["grad", &path, "list", "--arg", &argument]);
    assert!(code == 2 && err.contains("rank 0, the parameter has rank 1"), "{err}");
    let out = format!("value={}", npy.display());
    let call = ["run", &path, "turned", "--arg", &format!("figures={row}"), "--out", &out];
    let (code, _, err) = jut(&call);
    assert!(code == 2 && err.contains("JSON"), "{err}");
}
