//! Memory of the caller: how much is enough, and that calls ask for no more.

use super::{directory, run, sequence, write};
use jut::{BuildOptions, MathLibrary, Model, Request};
use object::{Object as _, ObjectSymbol};

#[test]
fn a_function_that_needs_no_memory_needs_no_workspace_and_no_runtime() {
    let model = Model::from_text("def f[n](x: [n]f64) -> f64 = sum (i < n) { x[i] * x[i] }");
    let function = model.and_then(|m| m.function("f")).expect("it checks");
    let object = function.build(&[Request::Value], &BuildOptions::default()).expect("it builds");
    assert!(object.header().contains("may be NULL: this function needs none"));
    let file = object::File::parse(object.bytes()).expect("an object");
    let undefined: Vec<&str> =
        file.symbols().filter(|s| s.is_undefined()).filter_map(|s| s.name().ok()).collect();
    assert!(undefined.iter().all(|name| name.is_empty()), "{undefined:?}");
}

/// C: calls the gradient and the product with given memory, and counts what is asked of the system.
const MAIN: &str = r#"
#include "sequence.h"
#include <stdio.h>
#include <stdlib.h>
static int asked;
void *__real_malloc(size_t);
void *__wrap_malloc(size_t bytes) { asked++; return __real_malloc(bytes); }
enum { V = 5, N = 3, K = 600 };
static double table[V * N], target[N], value, grad[V * N], decay;
static int64_t words[K];
static int call(void *workspace, size_t bytes) {
  (void)bytes;
  return loss_value_grad(V, N, K, table, 0.5, words, target, &value, grad, &decay, MEMORY, NULL);
}
int main(void) {
  for (int i = 0; i < V * N; i++) table[i] = (i * 7 % 11) / 8.0 - 0.5;
  for (int i = 0; i < K; i++) words[i] = i % V;
  size_t enough = loss_value_grad_workspace_size(V, N, K);
  char *memory = malloc(enough + 8);
  asked = 0;
  /* Enough at any address; a line less than what is used is an error. */
  for (int skip = 0; skip < 8; skip += 7) {
    void *place = IN(memory + skip, enough);
    int status = call(place, enough);
    printf("%d %.17g\n", status, value);
  }
  void *place = IN(memory, enough - 128);
  printf("%d\n", call(place, enough - 128));
  printf("asked %d\n", asked);
  GROWING
  return 0;
}
"#;

#[test]
fn memory_of_the_stated_size_is_enough_and_no_call_asks_for_more() {
    let growing = "jut_workspace *workspace = jut_workspace_new();
      call(workspace, 0); call(workspace, 0); asked = 0;
      for (int k = 0; k < 10; k++) call(workspace, 0);
      printf(\"grown %d\\n\", asked); jut_workspace_free(workspace);";
    let variants = [
        (MathLibrary::Jut, "workspace", "jut_workspace_in(MEM, BYTES)", growing),
        (MathLibrary::System, "workspace, bytes", "((void *)(MEM))", ""),
    ];
    for (math, memory, place, growing) in variants {
        let at = directory(&format!("memory {math:?}"));
        let options = BuildOptions { math, ..BuildOptions::default() };
        let object = sequence().build(&[Request::ValueAndGradient], &options).expect("it builds");
        assert_eq!(object.functions()[0].unbounded(), None);
        write(&object, &at, "sequence");
        let main = MAIN
            .replace("MEMORY", memory)
            .replace(
                "IN(memory + skip, enough)",
                &place.replace("MEM", "memory + skip").replace("BYTES", "enough"),
            )
            .replace(
                "IN(memory, enough - 128)",
                &place.replace("MEM", "memory").replace("BYTES", "enough - 128"),
            )
            .replace("GROWING", growing);
        std::fs::write(at.join("main.c"), main).expect("writable");
        let mut args =
            vec!["-std=c99", "-Wall", "-Werror", "-Wl,--wrap=malloc", "main.c", "sequence.o"];
        args.extend((math == MathLibrary::Jut).then_some("libjut_runtime.a"));
        args.extend(["-lm", "-o", "main"]);
        run("cc", &args, &at);
        let printed = run("./main", &[], &at);
        let lines: Vec<&str> = printed.lines().collect();
        assert!(lines[0].starts_with("0 ") && lines[0] == lines[1], "{printed}");
        assert_eq!(lines[2..4], ["6", "asked 0"], "{printed}");
        assert_eq!(lines.get(4), (math == MathLibrary::Jut).then_some(&"grown 0"), "{printed}");
    }
}

#[test]
fn the_memory_of_every_example_has_a_bound() {
    let mut names = Vec::new();
    for file in std::fs::read_dir(super::examples()).expect("readable").flatten() {
        let path = file.path();
        if path.extension().is_none_or(|e| e != "jut") {
            continue;
        }
        let model = Model::from_file(&path).expect("it checks");
        let name = model.functions().last().expect("a function").to_owned();
        let function = model.function(&name).expect("it is there");
        let products = [Request::Value, Request::ValueAndGradient, Request::HessianProduct];
        let object = function.build(&products, &BuildOptions::default());
        let object = object.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for f in object.functions() {
            assert_eq!(f.unbounded(), None, "{}", f.name());
        }
        names.push(name);
    }
    assert!(names.len() >= 10, "{names:?}");
}

#[test]
fn where_the_data_decide_the_header_says_so_and_the_workspace_grows() {
    let text = "def f[n](x: [n]f64, at: [n]i64) -> f64 = sum (i < n) {
      y = build (j < at[i]) { sin(x[i] * 1.0) }
      sum (j < at[i]) { y[j] * y[at[i] - 1 - j] }
    }";
    let function = Model::from_text(text).and_then(|m| m.function("f")).expect("it checks");
    let object = function.build(&[Request::ValueAndGradient], &BuildOptions::default());
    let object = object.expect("it builds");
    let place = object.functions()[0].unbounded().expect("there is no bound");
    assert!(place.starts_with("program:2:"), "{place}");
    assert!(object.header().contains("depends on the data: program:2:"), "{}", object.header());
    assert!(!object.header().contains("f_value_grad_workspace_size"));
}

/// C: calls the gradient of a long function with just enough memory, and with a line less.
const LONG: &str = r#"
#include "long.h"
#include <stdio.h>
#include <stdlib.h>
enum { N = 9 };
int main(void) {
  double x[N], value, grad[N];
  for (int i = 0; i < N; i++) x[i] = 0.25 * i - 0.5;
  size_t enough = chain_value_grad_workspace_size(N);
  char *memory = malloc(enough);
  size_t sizes[2] = {enough, 128};
  for (int k = 0; k < 2; k++) {
    void *workspace = jut_workspace_in(memory, sizes[k]);
    printf("%d\n", chain_value_grad(N, x, &value, grad, workspace, NULL));
  }
  free(memory);
  return 0;
}
"#;

#[test]
fn a_function_that_is_cut_into_pieces_has_a_bound_that_is_enough() {
    let mut text = "def f[n](x: [n]f64) -> f64 = {\n  t0 = x[0]\n  m0 = n\n".to_string();
    for k in 1..=600 {
        let p = k - 1;
        // Sizes, arrays and marks go from piece to piece.
        text += &format!("  m{k} = m{p} / 2 + n / 2\n");
        text += &match k % 100 {
            0 => format!(
                "  y{k} = build (i < m{k}) {{ sin(x[i] * t{p}) }}\n  \
                 t{k} = sum (v <- y{k}) {{ v * v }} * sum (i < m{k}) {{ y{k}[m{k} - 1 - i] }}\n"
            ),
            _ => format!("  t{k} = sin(t{p} * 0.5) * cos(t{p}) + x[1] * t{p}\n"),
        };
    }
    text += "  t600\n}\n";
    let function = Model::from_text(&text).and_then(|m| m.function("f")).expect("it checks");
    let form = function.stage(jut::Stage::Loop).expect("it is lowered");
    assert!(form.contains(".part1("), "it is long enough to be cut");
    let options = BuildOptions { prefix: Some("chain".to_string()), ..BuildOptions::default() };
    let object = function.build(&[Request::ValueAndGradient], &options).expect("it builds");
    assert_eq!(object.functions()[0].unbounded(), None);
    let at = directory("memory of pieces");
    write(&object, &at, "long");
    std::fs::write(at.join("main.c"), LONG).expect("writable");
    let args = ["-std=c99", "main.c", "long.o", "libjut_runtime.a", "-lm", "-o", "main"];
    run("cc", &args, &at);
    assert_eq!(run("./main", &[], &at), "0\n6\n");
}
