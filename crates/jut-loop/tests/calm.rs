//! Loops for a maximum look at eight numbers at once: the same numbers and indices, whatever the numbers are.

use jut_loop::form::{LoopFuncId, LoopProgram};
use jut_loop::opt::{self, for_target};
use jut_loop::signature::{Cells, Flat};
use jut_loop::target::{Target, Vectors};
use jut_loop::{eval, print, read};

const LARGEST: &str = "
loop def f(n: i64, from: i64, x: in f64[n]) -> (f64, i64) = {
  y = inf()
  z = -y
  (m, k) = for up (i in from .. n) carry (v = z, j = -1) {
    t = x[i]
    a = t > v
    b = t != t
    c = v == v
    d = b && c
    e = a || d
    v_2 = select(e, t, v)
    j_2 = select(e, i, j)
    (v_2, j_2)
  }
  (m, k)
}";

fn program(text: &str) -> LoopProgram {
    read::read_program(0, text).unwrap_or_else(|e| panic!("{e} {:?}\n{text}", e.span))
}

fn prepared(text: &str) -> String {
    for_backend(text, Some(Vectors::EVERYTHING))
}

fn for_backend(text: &str, vectors: Option<Vectors>) -> String {
    let mut program = program(text);
    program.funcs.values_mut().for_each(opt::optimise);
    print::print_program(&for_target(&program, &Target { vectors, ..Target::default() }))
}

/// What a program gives for numbers, from a place on.
fn outcome(program: &LoopProgram, from: i64, numbers: &[f64]) -> String {
    let int = |k: i64| Flat::Scalar(jut_ir::Literal::I64(k));
    let args = [int(numbers.len() as i64), int(from), Flat::Buffer(Cells::F64(numbers.to_vec()))];
    format!("{:?}", eval::run(program, LoopFuncId::from_u32(0), &args))
}

/// Numbers with some that are equal, larger, or none, at many places.
fn rows() -> Vec<Vec<f64>> {
    let mut rows = vec![Vec::new(), vec![0.0, -0.0, 0.0], vec![f64::NEG_INFINITY; 20]];
    for n in [1, 7, 8, 9, 16, 40] {
        rows.push((0..n).map(|k| f64::from(k * k % 11)).collect());
        rows.push((0..n).map(|k| f64::from(-k)).collect());
        for place in 0..n as usize {
            let mut row: Vec<f64> = (0..n).map(|k| f64::from(k % 3)).collect();
            row[place] = f64::NAN;
            rows.push(row.clone());
            row[place] = 5.0;
            rows.push(row);
        }
    }
    rows
}

#[test]
fn eight_comparisons_tell_that_nothing_changes() {
    let plain = program(LARGEST);
    let smallest = LARGEST.replace("t > v", "t < v").replace("z = -y", "z = y + 0.0");
    for text in [LARGEST, &smallest] {
        let plain = program(text);
        let made = prepared(text);
        assert!(made.contains("for up (block in 0 .. blocks)"), "{made}");
        let made = program(&made);
        for row in rows() {
            for from in [0, 1, 5, 50] {
                assert_eq!(outcome(&plain, from, &row), outcome(&made, from, &row), "{row:?}");
            }
        }
    }
    assert_eq!(for_backend(LARGEST, None).matches("for up").count(), 1, "for vectors only");
    // A block of which one number is left out.
    let made = prepared(LARGEST);
    let asked = made.lines().filter(|line| line.contains("&& calm")).nth(3).expect("questions");
    let (name, question) = asked.split_once(" = ").expect("a name");
    let (before, _) = question.split_once(" && ").expect("two parts");
    let wrong = program(&made.replace(asked, &format!("{name} = {before} && true")));
    assert!(rows().iter().any(|row| outcome(&plain, 0, row) != outcome(&wrong, 0, row)), "{made}");
}

#[test]
fn a_loop_that_does_more_before_it_asks_stays() {
    for (old, new) in [
        ("t = x[i]", "t_1 = x[i]\n t = exp(t_1)"),
        ("t = x[i]", "check i < n @0:1..2\n t = x[i]"),
        ("t = x[i]", "t_1 = f64(i)\n t = t_1 * 2.0"),
    ] {
        let text = LARGEST.replace(old, new);
        assert_eq!(prepared(&text).matches("for up").count(), 1, "{text}");
    }
}
