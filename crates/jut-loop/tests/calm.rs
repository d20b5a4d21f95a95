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

/// A backend that asks one number after the other.
const ONE_BY_ONE: Vectors = Vectors { conjunctions: false, ..Vectors::EVERYTHING };

#[test]
fn some_comparisons_tell_that_nothing_changes() {
    let plain = program(LARGEST);
    let smallest = LARGEST.replace("t > v", "t < v").replace("z = -y", "z = y + 0.0");
    let asks = [(Vectors::EVERYTHING, "first + 16"), (ONE_BY_ONE, "first + 8")];
    for (text, (vectors, behind)) in
        [LARGEST, &smallest].into_iter().flat_map(|text| asks.map(|asks| (text, asks)))
    {
        let plain = program(text);
        let made = for_backend(text, Some(vectors));
        assert!(made.contains("for up (block in 0 .. blocks)") && made.contains(behind), "{made}");
        let made = program(&made);
        for row in rows() {
            for from in [0, 1, 5, 50] {
                assert_eq!(outcome(&plain, from, &row), outcome(&made, from, &row), "{row:?}");
            }
        }
    }
    assert_eq!(for_backend(LARGEST, None).matches("for up").count(), 1, "for vectors only");
    // A block of which one number is left out.
    let made = for_backend(LARGEST, Some(ONE_BY_ONE));
    let asked = made.lines().filter(|line| line.contains("&& calm")).nth(3).expect("questions");
    let (name, question) = asked.split_once(" = ").expect("a name");
    let (before, _) = question.split_once(" && ").expect("two parts");
    let wrong = made.replace(asked, &format!("{name} = {before} && true"));
    let made = prepared(LARGEST);
    let shorter = made.replace("in first .. behind) carry (calm", "in first .. start) carry (calm");
    for wrong in [wrong, shorter] {
        assert_ne!(wrong, made);
        let wrong = program(&wrong);
        assert!(
            rows().iter().any(|row| outcome(&plain, 0, row) != outcome(&wrong, 0, row)),
            "{made}"
        );
    }
}

/// Whether something holds for all numbers of a row.
const ALL: &str = "
loop def f(n: i64, from: i64, x: in f64[n]) -> (bool) = {
  (all) = for ORDER (i in from .. n) carry (before = true) {
    t = x[i]
    own = t < 4.0
    after = before && own
    (after)
  }
  (all)
}";

#[test]
fn whether_something_holds_for_all_is_asked_of_several() {
    for (order, turned) in [("up", false), ("down", false), ("up", true)] {
        let mut text = ALL.replace("ORDER", order);
        if turned {
            text = text.replace("before && own", "own && before");
        }
        let (plain, made) = (program(&text), prepared(&text));
        assert!(made.contains(&format!("for {order} vector 8")), "{made}");
        let made = program(&made);
        for row in rows() {
            for from in [0, 1, 5, 50] {
                assert_eq!(outcome(&plain, from, &row), outcome(&made, from, &row), "{row:?}");
            }
        }
        assert!(!for_backend(&text, Some(ONE_BY_ONE)).contains("vector"));
    }
    for (old, new) in [
        // What is asked depends on what was true before, or is the same for all.
        ("t < 4.0", "select(before, false, true)"),
        ("t < 4.0", "n < 4"),
        // It is not only asked if all hold.
        ("before && own", "before || own"),
        ("(after)\n  }", "(own)\n  }"),
        // An iteration may fail.
        ("t = x[i]", "check i < n @0:1..2\n    t = x[i]"),
    ] {
        let all = ALL.replace("ORDER", "up");
        let text = all.replace(old, new);
        assert_ne!(text, all, "{old}");
        assert!(!prepared(&text).contains("vector"), "{new}: {}", prepared(&text));
    }
    // A text may say so of no other loop.
    let text = ALL.replace("ORDER", "up vector 8").replace("&&", "||");
    let error = read::read_program(0, &text).expect_err("a disjunction");
    assert!(error.to_string().contains("of a conjunction"), "{error}");
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
