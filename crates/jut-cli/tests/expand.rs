//! `jut expand`: the text of the annotated functions of a Rust file.

use crate::support::{directory, jut, write};

const FILE: &str = "
use jut::{Data, differentiable};
const WIDTH: f64 = 1.5;
const TABLE: [f64; 2] = [0.5, -2.0];

#[derive(Data, Clone)]
struct Line { slope: f64, at: [f64; 2] }
#[derive(jut::Data, Clone)]
enum Loss { Square, Huber(f64) }

#[differentiable]
impl Line {
    fn of(&self, x: f64) -> f64 { self.slope * x + self.at[0] * std::f64::consts::PI }
}

mod inner {
    #[jut::differentiable]
    pub fn scaled(x: &mut [f64], by: f64) { for v in x.iter_mut() { *v *= by; } }
}

#[differentiable]
fn fit(line: &Line, loss: Loss, x: &[f64], y: &[f64]) -> f64 {
    let mut s = 0.0;
    let mut z = x.to_vec();
    inner::scaled(&mut z, WIDTH);
    for i in 0..x.len() {
        let r = line.of(z[i]) - y[i] + TABLE[i % 2];
        s += match loss { Loss::Square => r * r, Loss::Huber(d) => d * r.abs() };
    }
    s
}

fn plain(x: f64) -> f64 { x }
";

#[test]
fn a_file_becomes_a_program() {
    let here = directory("expand");
    let file = write(&here, "fit.rs", FILE);
    let (code, out, err) = jut(&["expand", &file]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for part in [
        "def Line_of(self: #(f64, [2]f64), x: f64) -> f64 = {",
        "def scaled",
        "def fit",
        "const TABLE: [2]f64 = [0.5, -2.0]",
        "Line_of(line, ",
        "3.141592653589793",
        "1.5",
        "loss.0 == 0",
    ] {
        assert!(out.contains(part), "{part} is missing in\n{out}");
    }
    assert!(!out.contains('$') && !out.contains("plain"), "{out}");
    // It is a program, whose values are those of the functions.
    let program = write(&here, "fit.jut", &out);
    let (code, out, err) = jut(&[
        "run",
        &program,
        "fit",
        "--arg",
        "line=[2, [1, 0]]",
        "--arg",
        "loss=[1, 0.5]",
        "--arg",
        "x=[1, 2]",
        "--arg",
        "y=[0, 0]",
    ]);
    let pi = std::f64::consts::PI;
    let expected = 0.5 * (3.0 + pi + 0.5) + 0.5 * (6.0 + pi - 2.0);
    assert!(code == 0 && out.contains(&format!("{expected}")), "{expected}: {out}{err}");
}

#[test]
fn modules_and_options_are_expanded() {
    let here = directory("expand-modules");
    let text = "
#[jut::differentiable]
mod model {
    pub fn capped(x: f64, most: Option<f64>) -> f64 { x.min(most.unwrap_or(10.0)) }
    pub fn first(x: &[f64]) -> Option<f64> { x.first().copied() }
    pub fn total(x: &[f64]) -> f64 {
        let mut v: Vec<f64> = x.iter().copied().filter(|v| *v > 0.0).collect();
        v.sort_by(f64::total_cmp);
        capped(v[0], None) + capped(v[1], Some(2.5)) + first(x).unwrap_or(0.0)
    }
}
";
    let file = write(&here, "model.rs", text);
    let (code, out, err) = jut(&["expand", &file]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("def rust_order[n]") && !out.contains('$'), "{out}");
    let program = write(&here, "model.jut", &out);
    let (code, out, err) = jut(&["run", &program, "total", "--arg", "x=[-1, 4, 2]"]);
    assert!(code == 0 && out.contains("3.5"), "{out}{err}");
}

#[test]
fn operators_of_structs_and_defaults_are_expanded() {
    let here = directory("expand-operators");
    let text = "
#[derive(jut::Data, Clone, Copy)]
struct V2 { x: f64, y: f64 }
#[jut::differentiable]
impl std::ops::Add for V2 {
    type Output = V2;
    fn add(self, b: V2) -> V2 { V2 { x: self.x + b.x, y: self.y + b.y } }
}
#[jut::differentiable]
impl Default for V2 {
    fn default() -> V2 { V2 { x: 1.0, y: 0.5 } }
}
#[jut::differentiable]
fn total(a: V2, b: V2) -> f64 {
    let c = a + b + V2::default();
    c.x * c.y
}
";
    let file = write(&here, "total.rs", text);
    let (code, out, err) = jut(&["expand", &file]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("V2_add(a, b)") && !out.contains('$'), "{out}");
    let program = write(&here, "total.jut", &out);
    let run = ["run", &program, "total", "--arg", "a=[1, 2]", "--arg", "b=[3, 4]"];
    let (code, out, err) = jut(&run);
    assert!(code == 0 && out.contains("32.5"), "{out}{err}");
}

#[test]
fn what_is_refused_has_its_place() {
    let here = directory("expand-refused");
    let file = write(
        &here,
        "wrong.rs",
        "#[jut::differentiable]\nfn f(x: u128) -> f64 { 1.0 }\n#[jut::differentiable]\nfn g(x: f64) -> f64 { x }\n",
    );
    let (code, out, err) = jut(&["expand", &file]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("wrong.rs:2:9: ") && err.contains("write `i64`"), "{err}");
    assert!(out.contains("def g(x: f64) -> f64"), "{out}");
    let broken = write(&here, "broken.rs", "fn f( {\n");
    let (code, _, err) = jut(&["expand", &broken]);
    assert!(code == 1 && err.contains("broken.rs:"), "{code} {err}");
    let empty = write(&here, "empty.rs", "fn f() {}\n");
    let (code, _, err) = jut(&["expand", &empty]);
    assert!(code == 2 && err.contains("no function of this file"), "{code} {err}");
    assert_eq!(jut(&["expand", "no such file.rs"]).0, 2);
    // A struct that holds itself.
    let own = write(
        &here,
        "own.rs",
        "#[derive(jut::Data)]\nstruct T { x: f64, c: Vec<T> }\n#[jut::differentiable]\nfn f(t: &T) -> f64 { t.x }\n",
    );
    assert_eq!(jut(&["expand", &own]).0, 0);
}

#[test]
fn types_that_hold_themselves_are_declared() {
    let here = directory("expand-recursive");
    let file = write(
        &here,
        "trees.rs",
        "use jut::{Data, differentiable};\n\
         #[derive(Data)] enum Tree { Leaf(f64), Node { left: Box<Tree>, right: Box<Tree> } }\n\
         #[derive(Data)] struct List { x: f64, next: Option<Box<List>> }\n\
         #[differentiable] fn product(t: &Tree) -> f64 {\n\
             match t { Tree::Leaf(x) => *x, Tree::Node { left, right } => product(left) * product(right) }\n\
         }\n\
         #[differentiable] fn total(l: &List) -> f64 {\n\
             l.x * l.x + match &l.next { Some(next) => total(next), None => 0.0 }\n\
         }\n",
    );
    let (code, out, err) = jut(&["expand", &file]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let program = write(&here, "trees.jut", &out);
    let tree = "t={\"Tree__Node\": [{\"Tree__Leaf\": [2]}, {\"Tree__Leaf\": [3]}]}";
    let (code, out, err) = jut(&["grad", &program, "product", "--arg", tree]);
    assert!(code == 0 && out.contains("3.0") && out.contains("2.0"), "{out}{err}");
    let list = "l=[2, {\"List__option__Some\": [[3, \"List__option__None\"]]}]";
    let (code, out, err) = jut(&["run", &program, "total", "--arg", list]);
    assert!(code == 0 && out.contains("13.0"), "{out}{err}");
}

/// What stands in another file is a name there, and what only rustc knows is taken for a number: the text can be read.
#[test]
fn what_is_printed_of_every_file_of_functions_can_be_read() {
    let tests = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../jut/tests");
    let listed = std::fs::read_dir(tests.join("rust_users")).expect("the functions of users");
    let mut files: Vec<_> = listed.flatten().map(|entry| entry.path()).collect();
    files.extend(["rust_habits.rs", "rust_users.rs"].map(|name| tests.join(name)));
    assert!(files.len() > 70, "{}", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let source = file.to_string_lossy().to_string();
        let (code, out, err) = jut(&["expand", &source]);
        if !out.contains("def ") {
            wrong.push(format!("{source}: {code} {err}"));
        } else if let Err(error) = jut::format(&source, &out) {
            wrong.push(format!("{source}: {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_literal_beside_what_another_function_gives_is_printed() {
    let here = directory("expand-literals");
    let text = "
#[jut::differentiable]
fn slope(s: [f64; 2], k: f64) -> [f64; 2] { [s[1], -k * s[0]] }
#[jut::differentiable]
fn moved(s: [f64; 2], k: f64, h: f64) -> f64 {
    let (a, b) = (slope(s, k), slope([s[0], s[1] + h], k));
    s[0] + h / 2.0 * (a[0] + 2.0 * b[0]) - b[1] / 3.0
}
";
    let (code, out, err) = jut(&["expand", &write(&here, "steps.rs", text)]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let program = write(&here, "steps.jut", &out);
    let (code, out, err) =
        jut(&["run", &program, "moved", "--arg", "s=[1, 2]", "--arg", "k=3", "--arg", "h=0.5"]);
    let expected = 1.0 + 0.5 / 2.0 * (2.0 + 2.0 * 2.5) + 3.0 / 3.0;
    assert!(code == 0 && out.contains(&format!("{expected}")), "{expected}: {out}{err}");
}
