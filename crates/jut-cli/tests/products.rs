//! The products of a function on the command line: what is printed, what `--check` compares, and what
//! is refused.

use crate::support::{directory, jut, write};

const X: [&str; 3] = ["rosenbrock.jut", "--arg", "x=[1.0, 2.0, 3.0]"];
const ROTATE: &str = "def rotate(t: f64; x': f64, y': f64) -> (; u': f64, v': f64) = {
  u' = cos(t) * x' - sin(t) * y'
  v' = sin(t) * x' + cos(t) * y'
  (; u', v')
}
";

fn rosenbrock(command: &str, more: &[&str]) -> (i32, String, String) {
    jut(&[&[command], &X[..], more].concat())
}

#[test]
fn products_print_as_text_and_as_json() {
    let v = ["--tangent", "x=[1, 0, 0]"];
    let json = |command: &str, more: &[&str]| {
        rosenbrock(command, &[more, &["--format", "json"]].concat()).1
    };
    let (gradient, product) = ("[-400.0,1002.0,-200.0]", "[402.0,-400.0,0.0]");
    assert_eq!(
        rosenbrock("hvp", &v).1,
        format!("value      = 201.0\ngradient x = {gradient}\nproduct x  = {product}\n")
    );
    let (gradient, product) = (format!("{{\"x\":{gradient}}}"), format!("{{\"x\":{product}}}"));
    let all = format!("{{\"gradient\":{gradient},\"product\":{product},\"value\":201.0}}\n");
    assert_eq!(json("hvp", &v), all);
    let rows = "[[402.0,-400.0,0.0],[-400.0,3802.0,-800.0],[0.0,-800.0,200.0]]";
    assert_eq!(rosenbrock("hessian", &[]).1, format!("hessian x,x = {rows}\n"));
    assert_eq!(json("hessian", &[]), format!("{{\"hessian\":{{\"x,x\":{rows}}}}}\n"));
    for mode in ["auto", "forward", "reverse"] {
        assert_eq!(
            rosenbrock("jacobian", &["--mode", mode]).1,
            "value            = 201.0\njacobian value,x = [-400.0,1002.0,-200.0]\n"
        );
    }
    assert_eq!(
        json("jacobian", &[]),
        "{\"jacobian\":{\"value,x\":[-400.0,1002.0,-200.0]},\"value\":201.0}\n"
    );
    assert_eq!(rosenbrock("second", &v).1, "second value = 402.0\n");
    assert_eq!(json("second", &v), "{\"second\":{\"value\":402.0}}\n");
}

#[test]
fn a_linearization_is_applied_to_every_direction_given() {
    let more = ["--tangent", "x=[1, 0, 0]", "--tangent", "x=[0, 1, 0]", "--cotangent", "value=2"];
    let (code, out, err) = rosenbrock("linearize", &more);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(
        out,
        "value           = 201.0
tape            = 24 bytes
tangent 1 value = -400.0
tangent 2 value = 1002.0
cotangent 1 x   = [-800.0,2004.0,-400.0]
"
    );
    let (_, out, _) = rosenbrock("linearize", &[&more[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(json["value"], 201.0);
    assert_eq!(json["tangents"][1]["value"], 1002.0);
    assert_eq!(json["cotangents"][0]["x"][2], -400.0);
    assert_eq!(json["tape_bytes"], 24);
    // Without a direction it says what the tape comes to.
    let (code, out, _) = rosenbrock("linearize", &["--engine", "interp"]);
    assert_eq!((code, out.as_str()), (0, "value = 201.0\ntape  = 0 bytes\n"));
}

/// Parts of derivatives have the names of the fields that they belong to, in what is given, printed and built.
#[test]
fn derivatives_of_records_have_the_names_of_their_fields() {
    let at = directory("named");
    let program = write(&at, "named.jut", NAMED);
    let net = r#"net={"first":{"w":[1,2],"b":3},"shape":{"Box":{"w":2,"h":5}},"k":7}"#;
    let all =
        ["--arg", net, "--arg", "ps=[{\"n\":1,\"x\":4},{\"n\":2,\"x\":6}]", "--arg", "t=[1,2.5]"];
    let with =
        |command: &str, more: &[&str]| jut(&[&[command, &program, "f"][..], &all, more].concat());
    let (code, out, err) = with("grad", &["--check"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let expected = r#"value        = 41.0
gradient net = {"first":{"b":2.0,"w":[3.0,1.5]},"shape":{"Box.h":2.0,"Box.w":5.0,"Circle.r":0.0}}
gradient ps  = [{"x":2.5},{"x":2.5}]
gradient t   = [10.0]
"#;
    assert!(out.starts_with(expected), "{out}");
    let tangents = [
        "--tangent",
        r#"net={"shape":{"Circle.r":9,"Box.w":1,"Box.h":0},"first":{"w":[0,1],"b":2}}"#,
        "--tangent",
        "ps=[{\"x\":1},{\"x\":0}]",
        "--tangent",
        "t=[1]",
    ];
    let (code, out, err) = with("jvp", &tangents);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.ends_with("tangent value = 23.0\n"), "{out}");
    let wrong = [&tangents[..1], &[r#"net={"first":{"w":[0,1],"c":2}}"#], &tangents[2..]].concat();
    let (code, _, err) = with("jvp", &wrong);
    assert!(code == 2 && err.contains("there is no component `c`"), "{err}");
    let object = at.join("named.o").display().to_string();
    let (code, out, err) = jut(&["build", &program, "f", "--derivative", "grad", "-o", &object]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let header = std::fs::read_to_string(at.join("named.h")).expect("a header");
    for name in
        ["grad_net_first_w", "grad_net_first_b", "grad_net_shape_Box_h", "grad_ps_x", "grad_t_1"]
    {
        assert!(header.contains(&format!("double *{name},")), "{name} is not in\n{header}");
    }
}

const NAMED: &str = "data Layer = Layer(w: [2]f64, b: f64)
data Shape = Circle(r: f64) | Box(w: f64, h: f64)
data Net = Net(first: Layer, k: i64, shape: Shape)
data P = P(n: i64, x: f64)
def f(net: Net, ps: [2]P, t: #(i64, f64)) -> f64 = {
  area = case net.shape {
    Circle(r) -> r * r
    Box(w, h) -> w * h
  }
  net.first.w[0] * net.first.b + net.first.b * net.first.w[1] / 2.0 + area + t.1 * sum (p <- ps) { p.x }
}
";

#[test]
fn a_linear_function_is_transposed() {
    let program = write(&directory("rotate"), "rotate.jut", ROTATE);
    let call = ["transpose", &program, "--arg", "t=0.5"];
    let (code, out, err) =
        jut(&[&call[..], &["--cotangent", "u=1", "--cotangent", "v=0", "--check"]].concat());
    assert_eq!((code, err.as_str()), (0, ""));
    let (cos, sin) = (0.5f64.cos(), 0.5f64.sin());
    assert!(out.starts_with(&format!("cotangent x = {cos}\ncotangent y = {}\n", -sin)), "{out}");
    assert!(out.contains("dot-product test with the function: 0.0e0 apart"), "{out}");
    assert!(!out.contains("central differences"), "{out}");
    let (code, _, err) = rosenbrock("transpose", &["--cotangent", "value=1"]);
    assert!(code == 1 && err.contains("J801"), "{err}");
}

#[test]
fn every_product_of_the_examples_passes_its_checks() {
    for stem in ["sin", "rosenbrock", "neighbours", "logsumexp", "lennard_jones", "rnn"] {
        let program = format!("{stem}.jut");
        let args = format!("data/{stem}.json");
        for (command, laws) in [
            ("hessian", &["symmetry of the Hessian", "product with the Hessian"][..]),
            ("jacobian", &["columns (forward) against rows (reverse)"]),
            ("linearize", &["the map against jvp", "dot-product test of the map"]),
        ] {
            let (code, out, err) = jut(&[command, &program, "--args", &args, "--check"]);
            assert_eq!((code, err.as_str()), (0, ""), "{command} {stem}: {out}");
            for law in laws.iter().chain(&["the same bits", "central differences"]) {
                assert!(out.contains(law), "{command} {stem}: `{law}` is missing in\n{out}");
            }
        }
    }
    let v = ["--tangent", "x=[0.3, -1, 0.2]", "--check"];
    for (command, law) in [
        ("hvp", "check: symmetry of the Hessian: "),
        ("second", "check: reverse over forward: "),
        ("jvp", "check: dot-product test of jvp and vjp: "),
    ] {
        let (code, out, _) = rosenbrock(command, &v);
        assert!(code == 0 && out.contains(law), "{command}: {out}");
        let (code, out, _) = rosenbrock(command, &[&v[..], &["--format", "json"]].concat());
        let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!((code, json["check"]["good"].as_bool()), (0, Some(true)), "{out}");
    }
}

#[test]
fn a_check_names_the_engines_that_it_compared() {
    let call = ["grad", "sin.jut", "--args", "data/sin.json", "--check"];
    let line = |engine: &str| format!("check: interpreter and {engine}: the same bits");
    let (code, out, err) = jut(&call);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for (_, backend) in jut::BACKENDS {
        assert_eq!(out.contains(&line(backend.name)), backend.is_built_in(), "{out}");
    }
    let (code, out, _) = jut(&[&call[..], &["--engine", "cranelift"]].concat());
    assert!(code == 0 && out.contains(&line("cranelift")), "{out}");
    assert_eq!(out.matches("check: interpreter").count(), 1, "{out}");
    let (code, out, _) = jut(&[&call[..], &["--engine", "interp", "--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &json["check"]["engines"]), (0, &serde_json::json!([])), "{out}");
    let (code, out, _) = jut(&[&call[..], &["--engine", "interp"]].concat());
    assert!(code == 0 && out.contains("interpreter alone"), "{out}");
}

#[test]
fn a_gradient_may_be_of_one_of_several_results() {
    let at = directory("several");
    let text = "def f(x: f64, n: i64) -> (f64, i64, f64) = (x * x, n, sin(x) * f64(n))\n";
    let program = write(&at, "several.jut", text);
    let call = ["grad", &program, "--arg", "x=3", "--arg", "n=2"];
    let (code, _, err) = jut(&call);
    assert!(code == 1 && err.contains("J802") && err.contains("say which result"), "{err}");
    let (code, out, err) = jut(&[&call[..], &["--of", "0", "--check"]].concat());
    assert!(code == 0 && out.contains("gradient x = 6.0"), "{out}{err}");
    let (code, out, _) = jut(&[&call[..], &["--of", "2", "--engine", "interp"]].concat());
    assert!(code == 0 && out.contains("gradient x = -1.97998"), "{out}");
    let (code, _, err) = jut(&[&call[..], &["--of", "1"]].concat());
    assert!(code == 2 && err.contains("there is `0`, `2`"), "{err}");
    let product = ["hessian", &program, "--arg", "x=3", "--arg", "n=2", "--of", "0"];
    let (code, _, err) = jut(&product);
    assert!(code == 2 && err.contains("second derivatives"), "{err}");
}

#[test]
fn a_kink_between_the_steps_is_found_by_the_differences() {
    let at = directory("kinks");
    let program = write(&at, "kink.jut", "def f(x: f64) -> f64 = max(x, 0.0) * exp(x)\n");
    let (code, out, _) = jut(&["jacobian", &program, "--arg", "x=0", "--check"]);
    assert_eq!(code, 0, "a tie shares the derivative, as differences do: {out}");
    let program =
        write(&at, "kinks.jut", "def f(x: f64) -> f64 = if x > 0.0 { x } else { 3.0 * x }\n");
    let (code, out, _) = jut(&["jacobian", &program, "--arg", "x=0", "--check"]);
    assert!(code == 4 && out.contains("TOO FAR"), "{out}");
    // Its second derivative is zero on both sides, and the gradient jumps.
    let (code, out, _) = jut(&["hessian", &program, "--arg", "x=0", "--check"]);
    assert!(code == 4 && out.contains("central differences: "), "{out}");
}

#[test]
fn wrong_directions_say_what_is_wrong_and_exit_with_2() {
    let at = directory("vector");
    let vector = write(&at, "vector.jut", "def f[n](x: [n]f64) -> [n]f64 = x\n");
    let refused: [(&[&str], i32, &str); 9] = [
        (&["hvp", "rosenbrock.jut", "--arg", "x=[1, 2]"], 2, "`--tangent x=..`"),
        (
            &["hvp", "rosenbrock.jut", "--arg", "x=[1, 2]", "--tangent", "x=[1]"],
            2,
            "argument `x'`: expected [n]f64, got an array [1]f64: dimension 1 must be 2",
        ),
        (
            &["second", "rosenbrock.jut", "--arg", "x=[1, 2]", "--tangent", "y=[1, 2]"],
            2,
            "there is no parameter `y'`",
        ),
        (
            &["linearize", "rosenbrock.jut", "--arg", "x=[1, 2]", "--tangent", "x=[1]"],
            2,
            "argument `x'`",
        ),
        (
            &["linearize", "rosenbrock.jut", "--arg", "x=[1, 2]", "--cotangent", "x=[1, 2]"],
            2,
            "there is no parameter `x''`, only value''",
        ),
        (&["hessian", &vector, "--arg", "x=[1]"], 1, "J802"),
        (&["hvp", &vector, "--arg", "x=[1]", "--tangent", "x=[1]"], 1, "J802"),
        (&["jacobian", "rosenbrock.jut", "--arg", "x=[1]", "--mode", "sideways"], 2, "sideways"),
        (&["linearize", "rosenbrock.jut", "--arg", "x=1"], 2, "`x: [n]f64`"),
    ];
    for (args, expected, part) in refused {
        let (code, out, err) = jut(args);
        assert_eq!((code, out.as_str()), (expected, ""), "{args:?}: {err}");
        assert!(err.contains(part), "{args:?}: `{part}` is missing in\n{err}");
    }
}
