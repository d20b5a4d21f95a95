//! `--check` where there is little to compare: values and derivatives that are not finite, and parameters
//! of sum types.

mod support;

use serde_json::{Value as Json, json};
use support::{directory, jut, write};

const SPECIAL: &str = "
def root(x: f64) -> f64 = sqrt(x)
def logarithm(x: f64) -> f64 = log(x)
def cube_root(x: f64) -> f64 = cbrt(x)
def magnitude(x: f64) -> f64 = sqrt(x * x)
def ratio(x: f64) -> f64 = x * x / x
def tiny(x: f64) -> f64 = log(x) + 0.0 * sqrt(x)
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
    let (code, out, json) = checked("slope", SPECIAL, &["grad", "magnitude", "--arg", "x=0"]);
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
    let (code, out, json) = checked("domain", SPECIAL, &["grad", "tiny", "--arg", "x=1e-10"]);
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
