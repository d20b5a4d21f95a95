//! No pass makes something up: where what it needs is missing, which no program that the checker accepts brings about,
//! it says so (`J999`, or that its input is not linear) and gives no derivative, or one that the checker refuses.

use crate::common::parse;
use jut_ad::{Derivatives, Mask, Policy, erase, forward, transpose, unzip};
use jut_ir::check::check_program;
use jut_ir::{Block, Diagnostic, FuncId, Program, Rhs, Type};
use std::collections::BTreeMap;

const PROGRAMS: &[&str] = &[
    "def f(x: f64, k: i64) -> f64 = { a = x * x; b = select(k < 0, a, x); pow(b, a) }",
    "def f[n](x: [n]f64) -> f64 = { y = map (a <- x) { sin(a) }; sum (a <- y) { a * a } }",
    "def f[n](x: [n]f64, p: #(f64, f64)) -> [n]f64 = {
       #(a, b) = p
       var y = x
       for (i < n) { if a > b { y[i] = y[i] * b } else { y[i] += a } }
       y }",
    "data Tree = Leaf(x: f64) | Pair(l: Tree, r: Tree)
     def f(t: Tree) -> f64 = case t { Leaf(x) -> x * x; Pair(l, r) -> f(l) * f(r) }",
    "data Shape = Flat | Box(w: f64, h: f64)
     def g(s: Shape) -> f64 = case s { Flat -> 0.0; Box(w, h) -> w * h }
     def f(x: f64) -> f64 = g(if x > 0.0 { Box(x, x * x) } else { Flat() })",
];

/// What is damaged: a statement is lost, the last operand of a primitive is, or what is bound has no float any more.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Statement,
    Operand,
    Type,
}

/// The block with damage at its statement number `at`, counted through all blocks in it; whether there is such a one.
fn damage(block: &mut Block, at: &mut usize, what: Damage, types: &mut Vec<jut_ir::NVar>) -> bool {
    for k in 0..block.stmts.len() {
        if *at == 0 {
            match (what, &mut block.stmts[k].rhs) {
                (Damage::Statement, _) => {
                    block.stmts.remove(k);
                }
                (Damage::Operand, Rhs::Prim(_, args)) => {
                    args.pop();
                }
                (Damage::Operand, _) => {}
                (Damage::Type, _) => types.extend(&block.stmts[k].nl),
            }
            return true;
        }
        *at -= 1;
        for inner in block.stmts[k].rhs.blocks_mut() {
            if damage(inner, at, what, types) {
                return true;
            }
        }
    }
    false
}

/// The program with that damage to its function, or nothing if there is no such statement.
fn damaged(program: &Program, func: FuncId, at: usize, what: Damage) -> Option<Program> {
    let mut program = program.clone();
    let (mut at, mut types) = (at, Vec::new());
    let function = &mut program.funcs[func];
    let found = damage(&mut function.body, &mut at, what, &mut types);
    types.into_iter().for_each(|v| function.nvars[v].ty = Type::Bool);
    found.then_some(program)
}

#[test]
fn what_is_missing_is_an_error_and_not_made_up() {
    let mut said = BTreeMap::<String, usize>::new();
    for text in PROGRAMS {
        let whole = parse(text);
        let func = whole.find_func("f").expect("f");
        for what in [Damage::Statement, Damage::Operand, Damage::Type] {
            for at in 0.. {
                let Some(program) = damaged(&whole, func, at, what) else { break };
                let is_right = check_program(&program).is_ok();
                let mask = Mask::full(&whole, func);
                let mut derivatives = Derivatives::new(program);
                let Err(error) = forward::forward(&mut derivatives, func, &mask) else {
                    let is_accepted = check_program(&derivatives.program).is_ok();
                    assert_eq!(is_right, is_accepted, "{what:?} at {at}\n{text}");
                    continue;
                };
                assert!(!is_right, "{what:?} at {at}: {error}\n{text}");
                assert_eq!(error.code, "J999", "{what:?} at {at}: {error}\n{text}");
                let kind = error.message.split('`').next().unwrap_or_default();
                *said.entry(kind.to_string()).or_default() += 1;
            }
        }
    }
    for what in ["operand 1 of a primitive", "operand 2 of a primitive", "the type of a tangent"] {
        let found = said.keys().any(|kind| kind.contains(what));
        assert!(found, "nothing lacks {what}: {said:#?}");
    }
}

/// What a pass makes of a function.
type Pass = fn(&mut Derivatives, FuncId) -> Result<(), Diagnostic>;

/// Damages a function that a pass takes, everywhere, and looks at what the pass says of it.
fn pass_on_damaged(name: &str, derivatives: &Derivatives, func: FuncId, pass: Pass) {
    for what in [Damage::Statement, Damage::Operand, Damage::Type] {
        for at in 0.. {
            let Some(program) = damaged(&derivatives.program, func, at, what) else { break };
            let is_right = check_program(&program).is_ok();
            let mut damaged = derivatives.clone();
            damaged.program = program;
            match pass(&mut damaged, func) {
                Ok(()) => {
                    let is_accepted = check_program(&damaged.program).is_ok();
                    assert_eq!(is_right, is_accepted, "{name}, {what:?} at {at}");
                }
                Err(error) => assert!(!is_right, "{name}, {what:?} at {at}: {error}"),
            }
        }
    }
}

#[test]
fn neither_do_unzipping_transposition_and_erasure() {
    for text in PROGRAMS {
        let whole = parse(text);
        let func = whole.find_func("f").expect("f");
        let mask = Mask::full(&whole, func);
        let mut derivatives = Derivatives::new(whole);
        let jvp = forward::forward(&mut derivatives, func, &mask).expect("a derivative");
        pass_on_damaged("U", &derivatives, jvp, |derivatives, func| {
            unzip::unzip(derivatives, func, Policy::default()).map(|_| ())
        });
        let halves = unzip::unzip(&mut derivatives, jvp, Policy::default()).expect("halves");
        let lin = halves.lin;
        pass_on_damaged("T", &derivatives, lin, |derivatives, func| {
            transpose::transpose(derivatives, func).map(|_| ())
        });
        pass_on_damaged("L", &derivatives, lin, |derivatives, func| {
            erase::erase(derivatives, func).map(|_| ())
        });
    }
}
