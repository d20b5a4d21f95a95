//! Functions that call themselves, and recursive data, in C: levels that fit the caller's stack, lists that are tested.

use super::{directory, engines, present, run, write};
use jut::{BuildOptions, MathLibrary, Model, Request};

const POWER: &str = "
def power(x: f64, n: i64) -> f64 = if n == 0 { 1.0 } else { x * power(x, n - 1) }
def steps[n](x: [n]f64, k: i64) -> f64 = {
  y = build (i < n) { sin(x[i]) }
  if k == 0 { sum (i < n) { y[i] } } else { steps(y, k - 1) * x[0] }
}
";

/// C: calls in a thread whose stack is what the header says, and a page for what is around.
const DEEP: &str = r#"
#include "power.h"
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
static jut_workspace *workspace;
static void *calls(void *unused) {
  (void)unused;
  int64_t depths[] = {0, 1, 7, LEVELS - 1, LEVELS, LEVELS + 1, 100 * (int64_t)LEVELS, INT64_MAX};
  for (int i = 0; i < 8; i++) {
    double value = -1, slope = -1;
    jut_error error;
    int status = power_value_grad(1.0000001, depths[i], &value, &slope, workspace, &error);
    if (status == JUT_OK) printf("%.17g %.17g\n", value, slope);
    else printf("%d %d:%d %s\n", status, error.line, error.column, jut_status_message(status));
  }
  return NULL;
}
int main(void) {
  workspace = jut_workspace_new();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  size_t stack = (STACK + PTHREAD_STACK_MIN + 65536) & ~(size_t)4095;
  if (pthread_attr_setstacksize(&attributes, stack)) return 1;
  pthread_t thread;
  if (pthread_create(&thread, &attributes, calls, NULL)) return 2;
  pthread_join(thread, NULL);
  jut_workspace_free(workspace);
  return 0;
}
"#;

#[test]
fn a_recursion_ends_where_the_callers_stack_does() {
    for engine in engines() {
        let model = Model::from_named_text("power.jut", POWER).expect("it checks");
        let function = model.function("power").expect("it is there").engine(engine);
        let mut last = 0;
        for most in [8 << 10, BuildOptions::STACK] {
            let at = directory(&format!("power-{engine:?}-{most}"));
            let options = BuildOptions { stack: Some(most), ..BuildOptions::default() };
            let object = function.build(&[Request::ValueAndGradient], &options).expect("it builds");
            let made = &object.functions()[0];
            let levels = made.levels().expect("it calls itself");
            assert!(made.stack() <= most, "{} of {most} bytes", made.stack());
            assert!(levels > last && 2 * made.stack() > most, "{levels} levels, {}", made.stack());
            last = levels;
            let said = format!("do so up to {levels} levels deep");
            assert!(object.header().contains(&said), "{}", object.header());
            write(&object, &at, "power");
            let [stack, levels] = [("STACK", made.stack() as i64), ("LEVELS", levels)]
                .map(|(name, value)| format!("-D{name}={value}"));
            std::fs::write(at.join("main.c"), DEEP).expect("writable");
            let files = ["main.c", "power.o", "libjut_runtime.a", "-lpthread", "-o", "main"];
            let options = ["-std=gnu99", "-g", &stack, &levels];
            run("cc", &[&options[..], &files[..]].concat(), &at);
            let printed = run("./main", &[], &at);
            let lines: Vec<&str> = printed.lines().collect();
            let gradient = function.value_and_gradient().expect("it compiles");
            let mut session = gradient.session();
            for (line, n) in lines.iter().zip([0, 1, 7, last - 1]) {
                let results = session.call(&[1.0000001.into(), n.into()]).expect("it runs");
                let [value, slope] =
                    ["value", "x"].map(|name| results.f64(name).expect("a number"));
                let bits = line.split(' ').map(|x| x.parse::<f64>().expect("a number").to_bits());
                assert_eq!(bits.collect::<Vec<_>>(), [value, slope].map(f64::to_bits), "n = {n}");
            }
            assert_eq!(lines.len(), 8, "{printed}");
            for line in &lines[5..] {
                assert!(line.starts_with("8 2:65 R08: recursion is too deep"), "{line}");
            }
            if present("valgrind") {
                let options = ["-q", "--error-exitcode=1", "--leak-check=full", "./main"];
                assert_eq!(run("valgrind", &options, &at), printed);
            }
        }
    }
}

#[test]
fn what_calls_itself_needs_a_stack_and_memory() {
    let model = Model::from_text(POWER).expect("it checks");
    let build = |name: &str, options: &BuildOptions| {
        let function = model.function(name).expect("it is there");
        function.build(&[Request::Gradient], options)
    };
    let little = BuildOptions { stack: Some(16), ..BuildOptions::default() };
    let error = build("power", &little).expect_err("there is no room for a level").to_string();
    assert!(error.contains("calls itself") && error.contains("--stack"), "{error}");
    // Its tape is as deep as it goes: without the runtime no memory can be given.
    let system = BuildOptions { math: MathLibrary::System, ..BuildOptions::default() };
    let error = build("steps", &system).expect_err("no bound").to_string();
    assert!(error.contains("depends on the data"), "{error}");
    let object = build("steps", &BuildOptions::default()).expect("it builds");
    assert!(object.functions()[0].unbounded().is_some());
}

const TREES: &str = "
data Tree = Leaf(x: f64) | Node(l: Tree, r: Tree) | Bag(m: i64, k: i64, w: [m, k]f64)
data Row = Row(m: i64, w: [m]f64)
def total(t: Tree, y: f64) -> f64 = case t {
  Leaf(x) -> sin(x) * y
  Node(l, r) -> total(l, y) * 0.5 + total(r, y * y)
  Bag(m, k, w) -> sum (i < m, j < k) { w[i, j] * w[i, j] * y }
}
def grown(t: Tree, n: i64) -> Tree = if n == 0 { t } else { Node(grown(t, n - 1), Leaf(f64(n))) }
def ragged[n](rows: [n]Row) -> f64 = sum (row <- rows) { case row { Row(m, w) -> sum (i < m) { w[i] * w[i] } } }
";

/// C: a gradient with respect to a tree, a tree as a result, and the same tree with every number in it changed.
const LISTS: &str = r#"
#include "trees.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static jut_workspace *workspace;
static int call(int64_t m, const int64_t *ints, int64_t k, const double *floats, int print) {
  /* Copies of their exact size: what reads beyond them is found. */
  int64_t *i = malloc(m > 0 ? m * sizeof *i : 1), gm, hm;
  double *f = malloc(k > 0 ? k * sizeof *f : 1), value, slope;
  if (m > 0) memcpy(i, ints, m * sizeof *i);
  if (k > 0) memcpy(f, floats, k * sizeof *f);
  const int64_t *gi;
  const double *gf;
  jut_error error;
  int status = trees_total_value_grad(m, i, k, f, 1.5, &value, &gm, &gi, &hm, &gf, &slope, workspace, &error);
  if (print && status == JUT_OK) {
    printf("%.17g %.17g:", value, slope);
    for (int64_t n = 0; n < gm; n++) printf(" %d", (int)gi[n]);
    printf(",");
    for (int64_t n = 0; n < hm; n++) printf(" %.17g", gf[n]);
    printf("\n");
  }
  if (print && status != JUT_OK) printf("%d %s\n", status, error.message);
  free(i);
  free(f);
  return status;
}
int main(void) {
  workspace = jut_workspace_new();
  jut_workspace_limit(workspace, 1 << 24);
  /* Node(Node(Leaf(0.5), Leaf(2.0)), Bag(2, 2, [[1, 2], [3, 4]])) */
  int64_t ints[] = {1, 1, 0, 0, 2, 2, 2, 2, 2};
  double floats[] = {0.5, 2.0, 1.0, 2.0, 3.0, 4.0};
  call(9, ints, 6, floats, 1);
  call(8, ints, 6, floats, 1);
  call(9, ints, 5, floats, 1);
  call(9, ints, 7, (double[]){0.5, 2.0, 1.0, 2.0, 3.0, 4.0, 5.0}, 1);
  call(-1, ints, 6, floats, 1);
  call(0, NULL, 0, NULL, 1);
  int64_t seen[16] = {0}, wild[] = {-1, 0, 1, 2, 3, 7, 1 << 20, INT64_C(1) << 32, INT64_C(1) << 40, INT64_MIN, INT64_MAX};
  for (int at = 0; at < 9; at++)
    for (int other = -1; other < 9; other++)
      for (int k = 0; k < 11; k++)
        for (int l = 0; l < 11; l++) {
          if (other < 0 && l > 0) break;
          int64_t changed[9];
          memcpy(changed, ints, sizeof ints);
          changed[at] = wild[k];
          if (other >= 0) changed[other] = wild[l];
          int status = call(9, changed, 6, floats, 0);
          seen[status > 15 ? 15 : status]++;
        }
  printf("%d others\n", seen[0] > 0 && seen[1] > 0 && seen[3] > 0 && seen[15] == 0);
  /* As deep as it says, and deeper. */
  for (int64_t depth = 3; depth < 3000000; depth *= 100) {
    int64_t *deep = malloc((2 * depth + 1) * sizeof *deep);
    double *x = malloc((depth + 1) * sizeof *x);
    for (int64_t n = 0; n < depth; n++) deep[n] = 1, x[n] = 0.25;
    for (int64_t n = depth; n <= 2 * depth; n++) deep[n] = 0;
    x[depth] = 0.25;
    printf("%d\n", call(2 * depth + 1, deep, depth + 1, x, 0));
    free(deep);
    free(x);
  }
  int64_t m, k;
  const int64_t *i;
  const double *f;
  int status = trees_grown_value(9, ints, 6, floats, 2, &m, &i, &k, &f, workspace, NULL);
  printf("%d:", status);
  for (int64_t n = 0; n < m; n++) printf(" %d", (int)i[n]);
  printf(",");
  for (int64_t n = 0; n < k; n++) printf(" %g", f[n]);
  double value;
  int64_t rows[] = {2, 1, 1, 2, 2};
  status = trees_ragged_value(2, 5, rows, 3, (double[]){1, 2, 3}, &value, workspace, NULL);
  printf("\n%d %g\n", status, value);
  jut_workspace_free(workspace);
  return 0;
}
"#;

#[test]
fn trees_are_lists_that_are_tested() {
    for engine in engines() {
        let at = directory(&format!("trees-{engine:?}"));
        let model = Model::from_named_text("trees.jut", TREES).expect("it checks");
        let [total, grown, ragged] = ["total", "grown", "ragged"]
            .map(|name| model.function(name).expect("it is there").engine(engine));
        let options = BuildOptions { prefix: Some("trees".into()), ..BuildOptions::default() };
        let all = [
            (&total, &[Request::ValueAndGradient][..]),
            (&grown, &[Request::Value][..]),
            (&ragged, &[Request::Value][..]),
        ];
        let object = jut::build(&all, &options).expect("it builds");
        let header = object.header();
        for part in ["t_int_count", "const double **grad_t_floats", "0 Leaf(x: f64) | 1 Node("] {
            assert!(header.contains(part), "{part} is missing in\n{header}");
        }
        write(&object, &at, "trees");
        std::fs::write(at.join("main.c"), LISTS).expect("writable");
        let files = ["main.c", "trees.o", "libjut_runtime.a", "-lpthread", "-o", "main"];
        run("cc", &[&["-std=gnu99", "-g"][..], &files[..]].concat(), &at);
        let printed = run("./main", &[], &at);
        let lines: Vec<&str> = printed.lines().collect();

        let bag = jut::Value::Data(
            "Bag".into(),
            vec![
                jut::Value::I64(2),
                jut::Value::I64(2),
                jut::Value::F64s(jut::Array { shape: vec![2, 2], data: vec![1.0, 2.0, 3.0, 4.0] }),
            ],
        );
        let leaf = |x: f64| jut::Value::Data("Leaf".into(), vec![jut::Value::F64(x)]);
        let node = |l, r| jut::Value::Data("Node".into(), vec![l, r]);
        let tree = node(node(leaf(0.5), leaf(2.0)), bag);
        let gradient = total.value_and_gradient().expect("it compiles");
        let mut session = gradient.session();
        let results = session.call(&[(&tree).into(), 1.5.into()]).expect("it runs");
        let [value, slope] = ["value", "y"].map(|name| results.f64(name).expect("a number"));
        let floats = results.part("t").expect("a tree").floats();
        let (scalars, lists) = lines[0].split_once(": ").expect("numbers");
        let bits = |text: &str| -> Vec<u64> {
            let words = text.split_whitespace();
            words.map(|x| x.parse::<f64>().expect("a number").to_bits()).collect()
        };
        assert_eq!(bits(scalars), [value, slope].map(f64::to_bits));
        let (ints, listed) = lists.split_once(',').expect("two lists");
        // Tangents have a constructor that is zero before the others.
        assert_eq!(ints, "2 2 1 1 3 2 2 2 2");
        assert_eq!(bits(listed), floats.iter().map(|x| x.to_bits()).collect::<Vec<_>>());

        let codes = ["1 "; 5];
        for (line, code) in lines[1..].iter().zip(codes) {
            assert!(line.starts_with(code), "{printed}");
        }
        let rest =
            ["1 others", "0", "0", "8", "0: 1 1 1 1 0 0 2 2 2 2 2 0 0, 0.5 2 1 2 3 4 1 2", "0 14"];
        assert_eq!(lines[6..], rest, "{printed}");
        if present("valgrind") {
            let options = ["-q", "--error-exitcode=1", "--leak-check=full", "./main"];
            assert_eq!(run("valgrind", &options, &at), printed);
        }
    }
}
