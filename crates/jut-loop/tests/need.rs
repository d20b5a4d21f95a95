//! How much memory a call needs: exact where lengths are polynomials, a bound where branches and
//! indices decide, refused where the data do; and as long to compute as the program's text.

use jut_ir::Literal;
use jut_loop::form::LoopProgram;
use jut_loop::signature::Flat;
use jut_loop::{eval, need, read, split};

fn read(text: &str) -> LoopProgram {
    read::read_program(0, text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Bytes for temporary values and for the tape.
fn bytes(text: &str, integers: &[i64]) -> [f64; 2] {
    let query = need::query(&read(text)).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let integers: Vec<Flat> = integers.iter().map(|n| Flat::Scalar(Literal::I64(*n))).collect();
    let (entry, _) = query.funcs.last().expect("it has an entry");
    let results = eval::run(&query, entry, &integers).expect("it cannot fail").results;
    match results.as_slice() {
        [Flat::Scalar(Literal::F64(temp)), Flat::Scalar(Literal::F64(tape))] => [*temp, *tape],
        other => panic!("{other:?}"),
    }
}

#[test]
fn lines_of_64_bytes_are_counted_per_arena_and_given_back_at_releases() {
    let text = "loop def f(n: i64, m: i64) -> () = {
      a = alloc f64[n] @0:0..1
      k = mark
      b = alloc bool[m] @0:0..1
      c = alloc f64[m] @0:0..1
      release k
      d = alloc i64[m] @0:0..1
      size = n * m
      e = alloc tape f64[size] @0:0..1
    }";
    // a, then b and c at once.
    assert_eq!(bytes(text, &[9, 3]), [128.0 + 64.0 + 64.0, 256.0]);
    assert_eq!(bytes(text, &[0, 3]), [128.0, 0.0]);
    assert_eq!(bytes(text, &[-5, 64]), [64.0 + 512.0, 0.0], "a negative size is none");
    let [temp, tape] = bytes(text, &[i64::MAX, 1]);
    assert!(temp > 1e15 && tape > 1e15, "more than there is, and no overflow: {temp} {tape}");
}

#[test]
fn loops_count_their_trips_and_what_the_last_iteration_has_on_top() {
    let text = "loop def f(n: i64, m: i64) -> () = {
      for up (i in 0 .. n) {
        a = alloc tape f64[m] @0:0..1
        k = mark tape
        b = alloc tape f64[m] @0:0..1
        release tape k
      }
    }";
    assert_eq!(bytes(text, &[10, 8]), [0.0, 11.0 * 64.0]);
    assert_eq!(bytes(text, &[0, 8]), [0.0, 0.0]);
    let triangle = "loop def f(n: i64) -> () = {
      for up (i in 0 .. n) {
        a = alloc f64[i] @0:0..1
      }
    }";
    assert_eq!(bytes(triangle, &[16]), [16.0 * 128.0, 0.0], "as if each were the longest");
}

#[test]
fn branches_need_the_larger_side_or_the_right_one_if_the_condition_is_known() {
    let text = |cond: &str| {
        format!(
            "loop def f(n: i64, x: f64) -> () = {{
              known = n < 100
              unknown = x < 1.0
              if {cond} {{
                a = alloc f64[n] @0:0..1
              }} else {{
                size = n * n
                b = alloc f64[size] @0:0..1
              }}
            }}"
        )
    };
    assert_eq!(bytes(&text("known"), &[8]), [64.0, 0.0]);
    assert_eq!(bytes(&text("unknown"), &[8]), [512.0, 0.0]);
}

#[test]
fn calls_ask_the_query_of_their_callee() {
    let text = "loop def g(k: i64, x: in f64[1], j: i64) -> (i64) = {
      c = x[j]
      a = alloc tape f64[k] @0:0..1
      m = k + 8
      (m)
    }
    loop def f(n: i64, x: in f64[1], at: in i64[1]) -> () = {
      j = at[0]
      (m) = call g(n, x, j)
      (l) = call g(m, x, j)
    }";
    assert_eq!(
        bytes(text, &[8]),
        [0.0, 64.0 + 128.0],
        "what only indices depend on may be unknown"
    );
    let wrong = text.replace("call g(n, x, j)", "call g(j, x, n)");
    assert!(need::query(&read(&wrong)).is_err());
}

#[test]
fn data_decide_nothing_unless_a_check_bounds_them() {
    let text = |check: &str| {
        format!(
            "loop def f(n: i64, at: in i64[n]) -> () = {{
              k = at[0]
              {check}
              r = k % n
              a = alloc f64[r] @0:0..1
              b = alloc f64[k] @0:7..9
            }}"
        )
    };
    let unbounded = need::query(&read(&text(""))).expect_err("the data decide");
    assert_eq!(read(&text("")).sites[unbounded.site].1.start, 7);
    // k is at most 16, the remainder at most 16, too.
    assert_eq!(bytes(&text("check R01 k < n @0:0..1"), &[17]), [256.0, 0.0]);
}

#[test]
fn a_chain_of_functions_that_call_twice_has_a_query_that_grows_by_the_same_with_each() {
    let size = |k: usize| {
        let mut text = "loop def f0(n: i64) -> (i64) = {
          a = alloc tape f64[n] @0:0..1
          m = n + 1
          (m)
        }\n"
        .to_owned();
        for k in 1..=k {
            text += &format!(
                "loop def f{k}(n: i64) -> (i64) = {{
                  (m) = call f{0}(n)
                  (l) = call f{0}(m)
                  (l)
                }}\n",
                k - 1
            );
        }
        let query = need::query(&read(&text)).expect("bounded");
        query.funcs.values().map(|f| f.body.stmts.len()).sum::<usize>()
    };
    assert_eq!(size(40) - size(30), size(30) - size(20));
}

#[test]
fn a_function_in_pieces_needs_what_it_needed_before_and_its_frame() {
    let text = "loop def g(n: i64) -> () = {
      k = mark
      m = n * 3
      a = alloc f64[m] @0:0..1
      l = m + 1
      b = alloc f64[l] @0:0..1
      release k
    }
    loop def f(n: i64) -> () = {
      m = n + 1
      for up (i in 0 .. m) {
        k = mark
        a = alloc f64[m] @0:0..1
        c = m * 2
        b = alloc tape f64[c] @0:0..1
        release k
      }
      () = call g(m)
    }";
    let whole = read(text);
    let mut pieces = whole.clone();
    let frames = split::run_with(&mut pieces, 2, 1);
    assert!(pieces.funcs.len() > whole.funcs.len(), "it is cut");
    let answer = |query: &LoopProgram| {
        let (entry, _) = query.funcs.last().expect("it has an entry");
        eval::run(query, entry, &[Flat::Scalar(Literal::I64(15))]).expect("it cannot fail").results
    };
    let [before, after] = [
        answer(&need::query(&whole).expect("bounded")),
        answer(&need::query_with_frames(&whole, &frames).expect("bounded")),
    ];
    let float = |flat: &Flat| match flat {
        Flat::Scalar(Literal::F64(bytes)) => *bytes,
        other => panic!("{other:?}"),
    };
    // f keeps its frame of a few words while g, which has one too, is called.
    assert_eq!(float(&after[0]) - float(&before[0]), 128.0);
    assert_eq!(after[1], before[1]);
}
