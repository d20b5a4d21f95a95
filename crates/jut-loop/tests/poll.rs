//! Where code asks if its call is cancelled: often enough, never in short loops, and without changing a
//! bit.

use jut_ir::prim;
use jut_loop::form::{Atom, Block, Cell, Kind, LoopFuncId, LoopProgram, Role, Stmt, Value};
use jut_loop::kernel::{KERNELS, KernelRow};
use jut_loop::signature::{Cells, Flat};
use jut_loop::{eval, poll, print, read};
use jut_runtime::Cancellation;
use jut_runtime::cancel::during;

fn program(text: &str) -> LoopProgram {
    read::read_program(0, text).unwrap_or_else(|e| panic!("{e} {:?}", e.span))
}

/// Loops of each kind: upwards, downwards, in any order, sums; in each other, and around a literal.
const LOOPS: &str = "
loop def f(n: i64, x: in f64[n], y: out f64[n]) -> (f64, f64, f64, f64, bool, f64) = {
  for par (p in 0 .. n) {
    a = x[p]
    b = exp(a)
    y[p] = b
  }
  (s) = lanes (q in 0 .. n) carry (s_1) {
    c = y[q]
    s_2 = s_1 + c
    (s_2)
  }
  (up) = for up (r in 0 .. n) carry (u = 0.0) {
    d = x[r]
    u_1 = u * 0.5
    u_2 = u_1 + d
    (u_2)
  }
  (down) = for down (e in 0 .. n) carry (w = 0.0) {
    d_1 = x[e]
    w_1 = w * 0.25
    w_2 = w_1 + d_1
    (w_2)
  }
  (all) = for up (i in 0 .. n) carry (v = 0.0) {
    (t) = lanes (j in i .. n) carry (t_1) {
      g = x[j]
      t_2 = t_1 + g
      (t_2)
    }
    (v_1) = for up (k in 0 .. 3) carry (v_2 = v) {
      v_3 = v_2 * 0.5
      (v_3)
    }
    v_4 = v_1 + t
    (v_4)
  }
  h = 0 < n
  (more, early) = for while (m in 0 .. n) carry (go = h, z = 0.0) {
    z_1 = x[m]
    z_2 = z + z_1
    go_1 = z_2 < 100.0
    (go_1, z_2)
  }
  (s, up, down, all, more, early)
}
";

fn arguments(n: i64) -> Vec<Flat> {
    let floats = |k: i64| ((k * k) % 37) as f64 / 7.0 - 2.0;
    let zeros = Flat::Buffer(Cells::F64(vec![0.0; n as usize]));
    let x = Flat::Buffer(Cells::F64((0..n).map(floats).collect()));
    vec![Flat::Scalar(jut_ir::Literal::I64(n)), x, zeros]
}

/// How often it asks in each loop, from outside to inside: 0 where it does not.
fn rounds(block: &Block, found: &mut Vec<u32>) {
    for stmt in &block.stmts {
        if stmt.is_loop() {
            let first = stmt.blocks()[0].stmts.first().cloned();
            found.push(match first {
                Some(Stmt::Poll { every, .. }) => every,
                _ => 0,
            });
        }
        stmt.blocks().into_iter().for_each(|block| rounds(block, found));
    }
}

#[test]
fn loops_ask_between_rounds_and_short_ones_never() {
    let placed = poll::place(&program(LOOPS));
    let mut found = Vec::new();
    rounds(&placed.funcs[LoopFuncId::from_u32(0)].body, &mut found);
    let [par, sum, up, down, outer, inner, literal, early] = found[..] else { panic!("{found:?}") };
    assert!(
        [par, up, down, early].iter().all(|every| (1024..=1 << 16).contains(every)),
        "{found:?}"
    );
    assert_eq!([sum, inner], [1024; 2], "a sum asks between its blocks: {found:?}");
    assert!((2..1024).contains(&outer), "loops around loops ask now and then: {found:?}");
    assert_eq!(literal, 0, "three iterations are over soon: {found:?}");
    let text = print::print_program(&placed);
    assert_eq!(print::print_program(&program(&text)), text, "it reads back");
}

#[test]
fn rounds_as_loops_of_their_own_give_the_same_bits() {
    let plain = program(LOOPS);
    let mut rounds_of = poll::place(&plain);
    poll::spell_out(&mut rounds_of);
    let text = print::print_program(&rounds_of);
    assert_eq!(print::print_program(&program(&text)), text, "it reads back");
    assert!(!text.contains("poll 1024"), "{text}");
    // Rounds of a power of two: sizes around some of them.
    for n in [0, 1, 2, 15, 16, 17, 1023, 1024, 1025, 2049] {
        let run = |program| {
            let outcome = eval::run(program, LoopFuncId::from_u32(0), &arguments(n));
            format!("{:?}", outcome.map_err(|_| "failed"))
        };
        assert_eq!(run(&plain), run(&rounds_of), "{n}\n{text}");
    }
}

#[test]
fn bounds_of_any_size_make_right_rounds() {
    let text = "
loop def f(low: i64, high: i64) -> (f64, f64, i64, i64) = {
  (s) = lanes (i0 in low .. high) carry (s_1) {
    s_2 = s_1 + 1.0
    (s_2)
  }
  (u) = for up (i1 in low .. high) carry (u_1 = 0.0) {
    u_2 = u_1 + 1.0
    (u_2)
  }
  (last) = for up (i2 in low .. high) carry (l = 7) {
    (i2)
  }
  (first) = for down (i3 in low .. high) carry (m = 7) {
    (i3)
  }
  (s, u, last, first)
}
";
    let plain = program(text);
    let mut rounds_of = poll::place(&plain);
    poll::spell_out(&mut rounds_of);
    let (min, max) = (i64::MIN, i64::MAX);
    let ranges = [
        (max - 40_000, max),
        (max, min),
        (max - 1, max),
        (min, min + 40_000),
        (min, min),
        (5, -5),
        (-20_000, 20_000),
        (3, 65_539),
    ];
    for (low, high) in ranges {
        let args = [low, high].map(|n| Flat::Scalar(jut_ir::Literal::I64(n)));
        let run = |program| {
            let outcome = eval::run(program, LoopFuncId::from_u32(0), &args);
            format!("{:?}", outcome.map_err(|_| "failed"))
        };
        assert_eq!(run(&plain), run(&rounds_of), "{low} .. {high}");
    }
}

#[test]
fn long_straight_code_and_kernels_ask_too() {
    let mut text = String::from("loop def f0(x: f64) -> (f64) = {\n  a = exp(x)\n  (a)\n}\n");
    for k in 1..30 {
        let below = k - 1;
        text.push_str(&format!(
            "loop def f{k}(x: f64) -> (f64) = {{
  (a) = call f{below}(x)
  (b) = call f{below}(a)
  (b)
}}
"
        ));
    }
    let placed = poll::place(&program(&text));
    let asks = |k: usize| {
        let function = &placed.funcs[LoopFuncId::from_u32(k as u32)];
        function.body.stmts.iter().any(|stmt| matches!(stmt, Stmt::Poll { .. }))
    };
    assert!(!asks(3), "eight exponentials are over soon");
    assert!((20..30).all(asks), "a million are not");
    let kernel = "
loop def f(n: i64, a: in f64[n], x: in f64[n], y: inout f64[1]) = {
  kernel dot(y, a, x, n, 0)
}
";
    let placed = poll::place(&program(kernel));
    let body = &placed.funcs[LoopFuncId::from_u32(0)].body;
    assert!(matches!(body.stmts.as_slice(), [Stmt::Kernel { .. }, Stmt::Poll { .. }]));
}

#[test]
fn a_recursion_asks_on_its_way_down_and_where_levels_are_long_on_its_way_back() {
    let level = |terms: i64| {
        let text = format!(
            "loop def f(n: i64, levels: i64) -> (f64) = {{
  b = 0 < n
  (y) = if b {{
    check R08 0 < levels @0:0..1
    rest = levels - 1
    m = n - 1
    (z) = call f(m, rest)
    (z)
  }} else {{
    (0.5)
  }}
  (s) = for up (i in 0 .. {terms}) carry (t = y) {{
    u = t * 0.5
    (u)
  }}
  (s)
}}
"
        );
        let placed = poll::place(&program(&text));
        let mut before = Vec::new();
        let mut is_behind_call = false;
        placed.funcs[LoopFuncId::from_u32(0)].body.for_each(&mut |stmt| {
            if matches!(stmt, Stmt::Poll { .. }) {
                before.push(is_behind_call);
            }
            is_behind_call = matches!(stmt, Stmt::Call { .. });
        });
        before
    };
    assert_eq!(level(3), [false], "as it begins");
    assert_eq!(level(1000), [false, true], "as it begins, and behind the call");
}

/// Fills and copies of a length that nobody knows, of literal lengths, in a loop, of two kinds of cells.
const WHOLE: &str = "
loop def f(n: i64, m: i64, x: in f64[n], y: out f64[n], z: out bool[m], w: out f64[100000]) = {
  fill y[n] = 1.5
  copy y[n] = x
  fill z[m] = true
  fill w[100000] = 0.5
  fill w[20] = 0.25
  for up (i in 0 .. m) {
    copy w[n] = y
  }
}
";

/// The literal that stands for the most cells of a fill or copy that cannot be interrupted.
fn literal(atom: Atom) -> Option<i64> {
    match atom {
        Atom::Lit(jut_ir::Literal::I64(n)) => Some(n),
        _ => None,
    }
}

/// The most cells that fills and copies of a block may touch between two questions: `known` are the
/// values that are known to be at most so many. Gives how many fills and copies there are.
fn bounded(block: &Block, known: &mut Vec<(Value, i64)>, rounds: i64) -> usize {
    let mut found = 0;
    for stmt in &block.stmts {
        match stmt {
            Stmt::Prim { dst, prim: p, args } if *p == prim::IMIN => {
                known.extend(args.iter().filter_map(|a| literal(*a)).map(|n| (*dst, n)));
            }
            Stmt::Fill { len, .. } | Stmt::CopyCells { len, .. } => {
                let of = |v| known.iter().find(|(k, _)| *k == v).map(|(_, n)| *n);
                let most = match len {
                    Atom::Value(v) => of(*v),
                    len => literal(*len),
                };
                assert!(most.is_some_and(|n| n * rounds <= 1 << 20), "{stmt:?}: {known:?}");
                found += 1;
            }
            // if p < n { .. } else { n is at most p }
            Stmt::If { cond: Atom::Value(cond), then, other, .. } => {
                found += bounded(then, known, rounds);
                let length = |s: &Stmt| match s {
                    Stmt::Prim { dst, prim: p, args } if dst == cond && *p == prim::ILT => {
                        match args[..] {
                            [p, Atom::Value(n)] => literal(p).map(|p| (n, p)),
                            _ => None,
                        }
                    }
                    _ => None,
                };
                let before = known.len();
                known.extend(block.stmts.iter().find_map(length));
                found += bounded(other, known, rounds);
                known.truncate(before);
            }
            Stmt::For(inner) => {
                let Some(Stmt::Poll { every, .. }) = inner.body.stmts.first() else {
                    panic!("a loop that does not ask")
                };
                found += bounded(&inner.body, known, i64::from(*every));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn long_fills_and_copies_go_by_pieces_between_which_they_ask() {
    let placed = poll::place(&program(WHOLE));
    let body = &placed.funcs[LoopFuncId::from_u32(0)].body;
    let found = bounded(body, &mut Vec::new(), 1);
    assert_eq!(found, 4 * 2 + 1 + 1, "those of unknown length are there twice");
    let text = print::print_program(&placed);
    assert_eq!(print::print_program(&program(&text)), text, "it reads back");
    assert!(text.contains("fill w[20] = 0.25"), "{text}");
}

#[test]
fn pieces_touch_the_cells_that_the_whole_does() {
    let text = "
loop def f(n: i64, room: i64, x: in f64[room], y: inout f64[room], z: inout bool[room], w: inout f64[room]) = {
  fill y[n] = 1.5
  fill z[n] = true
  copy w[n] = x
  copy w[n] = w
}
";
    let plain = program(text);
    let placed = poll::place(&plain);
    let mut rounds_of = placed.clone();
    poll::spell_out(&mut rounds_of);
    let piece = poll::PIECE;
    for n in [-piece, -1, 0, 1, piece - 1, piece, piece + 1, 2 * piece, 70 * piece + 3] {
        let room = n.max(0) + 2;
        let x = (0..room).map(|k| k as f64).collect();
        let zeros = || Flat::Buffer(Cells::F64(vec![0.0; room as usize]));
        let int = |k| Flat::Scalar(jut_ir::Literal::I64(k));
        let args = [
            int(n),
            int(room),
            Flat::Buffer(Cells::F64(x)),
            zeros(),
            Flat::Buffer(Cells::Bool(vec![0; room as usize])),
            zeros(),
        ];
        let run = |program| {
            let outcome = eval::run(program, LoopFuncId::from_u32(0), &args);
            outcome.unwrap_or_else(|_| panic!("it fails for {n}"))
        };
        let whole = run(&plain);
        assert!(whole == run(&placed), "{n}");
        assert!(whole == run(&rounds_of), "{n}");
    }
}

/// Integers with which a kernel does more than it may without asking.
fn much(row: &KernelRow) -> Vec<i64> {
    let integers = row.params.iter().filter(|p| matches!(p.kind, Kind::I64));
    let size = |name: &str| match (row.name, name) {
        (_, "flags") => 0,
        ("dot", _) => 1 << 20,
        ("matvec" | "outer", _) => 1500,
        (_, "o" | "c") => 8,
        (_, "u" | "v") => 5,
        _ => 96,
    };
    integers.map(|p| size(p.name)).collect()
}

#[test]
fn the_table_of_kernels_says_which_of_them_stop_early() {
    // Those that print are told apart by having no result.
    let computes = |row: &&KernelRow| row.params.iter().any(|p| p.role == Role::InOut);
    for row in KERNELS.iter().filter(computes) {
        let sizes = much(row);
        let lengths = (row.lengths)(&sizes);
        let results = |cancelled: bool| {
            let mut buffers: Vec<Vec<f64>> =
                lengths.iter().map(|n| vec![1.0 / 64.0; usize::try_from(*n).unwrap()]).collect();
            let cancellation = Cancellation::new();
            if cancelled {
                cancellation.cancel();
            }
            during(&cancellation, || (row.run)(&mut buffers, &sizes));
            // As bits: not every function has a number where this is called.
            buffers.swap_remove(0).into_iter().map(f64::to_bits).collect::<Vec<_>>()
        };
        assert_eq!(results(false) != results(true), row.stops_early, "{}", row.name);
    }
}

#[test]
fn behind_every_kernel_that_stops_early_it_asks() {
    for row in KERNELS {
        let (mut params, mut args) = (String::new(), Vec::new());
        for (k, param) in row.params.iter().enumerate() {
            let role = if param.role == Role::InOut { "inout" } else { "in" };
            match param.kind {
                Kind::I64 => args.push("n".to_string()),
                kind => {
                    let cell = if kind == Kind::Buffer(Cell::I64) { "i64" } else { "f64" };
                    params.push_str(&format!(", b{k}: {role} {cell}[n]"));
                    args.push(format!("b{k}"));
                }
            }
        }
        let call = format!("kernel {}({})", row.name, args.join(", "));
        let placed =
            poll::place(&program(&format!("\nloop def f(n: i64{params}) = {{\n  {call}\n}}\n")));
        let body = &placed.funcs[LoopFuncId::from_u32(0)].body;
        let asks = matches!(body.stmts.as_slice(), [Stmt::Kernel { .. }, Stmt::Poll { .. }]);
        assert_eq!(asks, row.stops_early, "{}", row.name);
    }
}
