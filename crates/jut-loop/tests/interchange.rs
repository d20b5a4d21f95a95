//! Loops that go by columns go by rows: the same cells, bit for bit, or else they stay.

use cranelift_entity::EntityRef;
use jut_ir::Literal;
use jut_loop::form::{LoopFuncId, LoopProgram};
use jut_loop::opt::for_target;
use jut_loop::signature::{Cells, Flat};
use jut_loop::target::{Target, Vectors};
use jut_loop::{eval, print, read};

/// The gradient of a row times a matrix, of whose `n` rows `q` cells count, and of functions of the sums.
const COLUMNS: &str = "
loop def f(n: i64, m: i64, q: i64, size: i64, x: in f64[size], a: in f64[size], da: inout f64[size], dx: out f64[size], dy: out f64[size]) = {
  fill dx[size] = 0.5
  fill dy[size] = 0.25
  for up (j in 0 .. q) {
    u = x[j]
    v = exp(u)
    w = f64(j)
    z = v * w
    dy[j] = z
    t = sin(u)
    for par (i in 0 .. n) {
      row = i * m
      r = a[row ..]
      s = r[j]
      p = x[i]
      g = p * t
      d = da[row ..]
      d_1 = d[j]
      d_2 = d_1 + g
      d[j] = d_2
      b = s * z
      c = dx[i]
      h = c + b
      dx[i] = h
    }
  }
}";

fn program(text: &str) -> LoopProgram {
    read::read_program(0, text).unwrap_or_else(|e| panic!("{e} {:?}\n{text}", e.span))
}

fn arguments(n: i64, m: i64, q: i64) -> Vec<Flat> {
    // Every access is in range.
    let size = 8 + n * m.abs().max(1) + q.max(0) * n.max(1);
    let int = |k: i64| Flat::Scalar(Literal::I64(k));
    let floats = |by: i64| {
        let number = |k: i64| ((k * k % 61 * by) % 37) as f64 / 7.0 - 2.0;
        Flat::Buffer(Cells::F64((0..size).map(number).collect()))
    };
    let mut arguments: Vec<Flat> = [n, m, q, size].into_iter().map(int).collect();
    arguments.extend([3, 5, 7, 11, 13].map(floats));
    arguments
}

/// Whether the loops are turned; what comes out is compared.
fn is_turned(text: &str) -> bool {
    let plain = program(text);
    let vectors = Some(Vectors { together: 4, ..Vectors::EVERYTHING });
    let made = for_target(&plain, &Target { vectors, ..Target::default() });
    let made = print::print_program(&made);
    let again = program(&made);
    assert_eq!(print::print_program(&again), made, "it reads back");
    for q in [-3, 0, 1, 15, 16, 17, 127, 128, 129, 300] {
        // Rows that are as long as the loop along them, longer, and shorter, so that iterations meet.
        for m in [q, q + 5, q - 7, 1, 0] {
            for n in [0, 1, 3, 20] {
                let run =
                    |p| format!("{:?}", eval::run(p, LoopFuncId::new(0), &arguments(n, m, q)));
                // In a parallel loop each iteration has a row of its own.
                if m < 0 || m == 0 && text.contains("for par (i") {
                    continue;
                }
                assert_eq!(run(&plain), run(&again), "{n} {m} {q}\n{made}");
            }
        }
    }
    made.contains("turns")
}

#[test]
fn loops_by_columns_become_loops_by_rows() {
    assert!(is_turned(COLUMNS));
    for (outer, inner) in [("up", "down"), ("down", "up"), ("down", "par")] {
        let text = COLUMNS.replace("for up (j", &format!("for {outer} (j"));
        assert!(is_turned(&text.replace("for par (i", &format!("for {inner} (i"))), "{text}");
    }
    // From another row and column on; nothing before the inner loop; integers from there.
    assert!(is_turned(&COLUMNS.replace("i in 0", "i in 2").replace("j in 0", "j in 1")));
    let within =
        COLUMNS.replace("row = i * m", "row = m * i").replace("s = r[j]", "k = row + j\n s = a[k]");
    assert!(is_turned(&within));
    let integers = COLUMNS
        .replace("t = sin(u)", "t = sin(u)\n far = j * 3")
        .replace("g = p * t", "f = f64(far)\n g = f * t");
    assert!(is_turned(&integers));
}

#[test]
fn loops_whose_iterations_could_tell_stay() {
    for (old, new) in [
        // A cell that many iterations come to, one that is written at one place and read at another.
        ("dx[i] = h", "dx[0] = h"),
        ("c = dx[i]", "c = dx[j]"),
        ("d_1 = d[j]", "d_1 = da[i]"),
        ("row = i * m", "row = i * i"),
        // What is before the inner loop reads what that writes, or writes what it reads.
        ("u = x[j]", "u = dx[j]"),
        ("dy[j] = z", "da[j] = z"),
        ("p = x[i]", "p = dy[i]"),
        // As many accesses by rows, more numbers than are kept, a check.
        ("row = i * m", "row = j * m"),
        ("g = p * t", "g_1 = u + v\n g_2 = g_1 + w\n g_3 = g_2 + z\n g = g_3 * t"),
        ("p = x[i]", "check i < size @0:1..2\n p = x[i]"),
        // Something behind the inner loop.
        ("dx[i] = h\n    }", "dx[i] = h\n    }\n    dy[j] = t"),
    ] {
        // In order: some would be no parallel loop.
        let text = COLUMNS.replace("for par (i", "for up (i").replace(old, new);
        assert_ne!(text, COLUMNS.replace("for par (i", "for up (i"), "{old}");
        assert!(!is_turned(&text), "{text}");
    }
}

/// A sum that the outer loop carries, in order or by lanes.
#[test]
fn what_the_outer_loop_carries_stays_in_a_loop_of_its_own() {
    let sum = |outer: &str| {
        COLUMNS
            .replace("  for up (j in 0 .. q) {", &format!("  (z_1) = {outer} {{"))
            .replace("    dy[j] = z\n", "    z_3 = z_2 + z\n")
            .replace(
                "      dx[i] = h\n    }\n  }",
                "      dx[i] = h\n    }\n    (z_3)\n  }\n  dy[0] = z_1",
            )
    };
    for outer in ["lanes (j in 0 .. q) carry (z_2)", "for up (j in 0 .. q) carry (z_2 = 0.5)"] {
        let text = sum(outer);
        assert!(is_turned(&text), "{text}");
        // The inner loop needs the sum, or what comes from it.
        for (old, new) in [("g = p * t", "g = p * z_2"), ("t = sin(u)", "t = sin(z_3)")] {
            let other = text.replace(old, new);
            assert_ne!(other, text);
            assert!(!is_turned(&other), "{other}");
        }
        // Something is stored before it.
        let stores = text.replace("t = sin(u)", "t = sin(u)\n    dy[j] = t");
        assert!(!is_turned(&stores), "{stores}");
    }
}

#[test]
fn sums_over_the_outer_loop_have_loops_of_their_own_where_they_can_be_vectors() {
    let made = |text: &str, nested: bool| {
        let vectors = Some(Vectors { nested, ..Vectors::EVERYTHING });
        let made = for_target(&program(text), &Target { vectors, ..Target::default() });
        print::print_program(&made)
    };
    let alone = "for par vector 8 masked (i_1 in 0 .. n) {\n        c_1 = dx[i_1]";
    let text = made(COLUMNS, true);
    assert!(text.contains(alone) && is_turned(COLUMNS), "{text}");
    assert!(!made(COLUMNS, false).contains(alone));
    // What is stored by columns reads the sum, or the other way round: they stay together.
    let reads_the_sum = COLUMNS
        .replace("g = p * t", "t_1 = dx[i]\n      g = p * t_1")
        .replace("c = dx[i]", "c = t_1 + 0.0");
    for other in [reads_the_sum, COLUMNS.replace("b = s * z", "b = d_1 * z")] {
        let text = made(&other, true);
        assert!(!text.contains(alone) && is_turned(&other), "{text}");
    }
}
