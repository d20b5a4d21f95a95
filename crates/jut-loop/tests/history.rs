//! States that all go on the tape are written to their rows of it, where nobody else has their buffers.

use jut_ir::Literal;
use jut_loop::form::{LoopFuncId, LoopProgram};
use jut_loop::opt::for_target;
use jut_loop::signature::{Cells, Flat};
use jut_loop::target::Target;
use jut_loop::{eval, print, read};

/// Elements and steps.
const SIZES: [(i64, i64); 7] = [(0, 0), (0, 3), (3, 0), (3, -1), (1, 1), (2, 5), (5, 2)];

fn program(text: &str) -> LoopProgram {
    read::read_program(0, text).unwrap_or_else(|e| panic!("{e} {:?}\n{text}", e.span))
}

/// What a program makes of these sizes.
fn outcome(program: &LoopProgram, (n, steps): (i64, i64)) -> String {
    let x = Flat::Buffer(Cells::F64((0..n).map(|k| k as f64 - 1.5).collect()));
    let [n, steps] = [n, steps].map(|k| Flat::Scalar(Literal::I64(k)));
    format!("{:?}", eval::run(program, LoopFuncId::from_u32(0), &[n, steps, x]))
}

/// The text for a backend that takes one iteration at a time, after having compared what comes out of it, also of no iterations and of fewer than none.
fn kept(text: &str) -> String {
    let plain = program(text);
    let text = print::print_program(&for_target(&plain, &Target::default()));
    let again = program(&text);
    for sizes in SIZES {
        assert_eq!(outcome(&plain, sizes), outcome(&again, sizes), "{sizes:?}: {text}");
    }
    text
}

/// Doubles a state in each step, keeps all of them, and gives the sum of the last one and of what was kept. `first` stands before the
/// loop, `body` in it, `last` behind it.
fn states(first: &str, body: &str, last: &str) -> String {
    format!(
        "loop def f(n: i64, steps: i64, x: in f64[n]) -> (f64) = {{
{first}  ran = max(steps, 0)
  u = alloc f64[n] @0:0..1
  copy u[n] = x
  v = alloc f64[n] @0:0..1
  size = n * ran
  tape = alloc f64[size] @0:0..1
  (u_3, v_3) = for up (t in 0 .. steps) carry (u_1 = u, v_1 = v) {{
    start = t * n
    row = tape[start ..]
{body}    for par (i in 0 .. n) {{
      a = u_1[i]
      b = a + a
      v_1[i] = b
    }}
    copy row[n] = u_1
    (v_1, u_1)
  }}
{last}  (s) = for up (i_1 in 0 .. n) carry (s_1 = 0.0) {{
    c = u_3[i_1]
    s_2 = s_1 + c
    (s_2)
  }}
  (all) = for up (i_2 in 0 .. size) carry (all_1 = s) {{
    d = tape[i_2]
    e = 0.5 * all_1
    all_2 = e + d
    (all_2)
  }}
  (all)
}}"
    )
    .replace(".. steps)", ".. ran)")
}

/// Whether the loop carries nothing any more and copies nothing.
fn stays(text: &str) -> bool {
    text.contains("for up (t in 0 .. ran) {") && text.matches("alloc").count() == 1
}

#[test]
fn a_state_is_written_to_its_row_and_read_there() {
    let text = kept(&states("", "", ""));
    assert!(stays(&text), "{text}");
    assert_eq!(text.matches("copy ").count(), 1, "{text}");
    assert!(text.contains("u_3 = tape["), "{text}");
}

#[test]
fn what_the_loop_began_with_is_copied_if_it_is_changed_meanwhile() {
    let text = states("", "", "")
        .replace("= x\n", "= w\n")
        .replace("  u = alloc", "  w = alloc f64[n] @0:0..1\n  fill w[n] = 1.25\n  u = alloc");
    assert!(stays(&kept(&text).replace("w = alloc", "w")), "{text}");
    let text = text.replace("  v = alloc", "  fill w[n] = 7.0\n  v = alloc");
    let text = kept(&text);
    assert!(text.contains("u = alloc") && text.contains("for up (t in 0 .. ran) {"), "{text}");
}

#[test]
fn states_that_somebody_else_has_or_writes_to_stay_where_they_are() {
    let cases = [
        // The loop writes to the state that it reads.
        states("", "    fill u_1[n] = 0.5\n", ""),
        // The memory of the second state is used behind the loop.
        states("", "", "  fill v_3[n] = 1.0\n"),
        states("", "", "  fill v[n] = 1.0\n"),
        // The tape is given back before the last state is read.
        states("  top = mark\n", "", "  release top\n  other = alloc f64[n] @0:0..1\n"),
        // Only a part of a state goes there.
        states("", "", "")
            .replace("copy row[n]", "copy row[m]")
            .replace("  ran =", "  m = min(n, 1)\n  ran ="),
        // The rows are longer than the states.
        states("", "", "")
            .replace("start = t * n", "start = t * m")
            .replace("size = n *", "size = m *")
            .replace("  ran =", "  m = n + 1\n  ran ="),
        // So do only these parts of states, whose rows are as long as they are.
        states("", "", "")
            .replace("copy row[n]", "copy row[m]")
            .replace("start = t * n", "start = t * m")
            .replace("size = n *", "size = m *")
            .replace("  ran =", "  m = min(n, 1)\n  ran ="),
        // The loop writes to the tape itself.
        states("", "    fill tape[n] = 1.5\n", ""),
        // A loop that goes down.
        states("", "", "").replace("for up (t", "for down (t"),
    ];
    for text in cases {
        let text = kept(&text);
        assert!(!stays(&text), "{text}");
        assert!(text.contains("copy row[") && text.contains("carry (u_1 = u, v_1 = v)"), "{text}");
    }
}

#[test]
fn a_number_of_steps_below_zero_has_one_state() {
    let text = kept(&states("", "", "").replace("max(steps, 0)", "steps + 0"));
    assert!(stays(&text), "{text}");
}

#[test]
fn each_fault_of_it_shows() {
    let text = kept(&states("", "", ""));
    let faults = [
        ("the next state is the state", "= start + n", "= start + 0"),
        ("the last state is the first one", "u_3 = tape[states ..]", "u_3 = tape[0 ..]"),
        ("the first state is not there", "copy row_1[n] = x", "fill row_1[n] = 0.0"),
    ];
    for (name, from, to) in faults {
        assert!(text.contains(from), "{name}: {text}");
        let faulty = program(&text.replace(from, to));
        let shows = |sizes| outcome(&program(&text), sizes) != outcome(&faulty, sizes);
        assert!(SIZES.into_iter().any(shows), "{name}: {text}");
    }
}
