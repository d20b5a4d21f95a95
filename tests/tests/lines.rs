//! What random programs print, with a line behind every third number that they compute: every engine prints the same
//! lines, optimised and not, and every derivative prints what the function prints, once and in its order.

use jut_ad::{Mask, Policy};
use jut_eval::{Interpreter, Value};
use jut_ir::{Atom, Block, Check, FuncId, Function, Program, Rhs, Shown, Stmt};
use jut_tests::generate::Extent;
use jut_tests::in_parallel;
use jut_tests::laws::load;
use jut_tests::lines::printed;
use jut_tests::products::products;
use jut_tests::random::{Subject, all_products};

/// Puts lines into a block and those in it; gives how many.
fn print_numbers(func: &Function, block: &mut Block, count: &mut usize) {
    let mut out = Vec::new();
    for mut stmt in std::mem::take(&mut block.stmts) {
        for inner in stmt.rhs.blocks_mut() {
            print_numbers(func, inner, count);
        }
        let number = match stmt.nl[..] {
            [v] if func.nvars[v].ty.is_scalar() => Some(v),
            _ => None,
        };
        let loc = stmt.loc;
        out.push(stmt);
        let Some(v) = number else { continue };
        *count += 1;
        if *count % 3 == 1 {
            let value = Shown::Value(Atom::Var(v));
            let mut pieces = Shown::pieces(&format!("{} = ", func.nvars[v].name));
            pieces.extend([value, Shown::End]);
            out.extend(pieces.into_iter().map(|piece| {
                let rhs = Rhs::Check(Check::Show(piece));
                Stmt { nl: Vec::new(), lin: Vec::new(), rhs, annotated: false, loc }
            }));
        }
    }
    block.stmts = out;
}

/// The lines of a run, also of one that fails.
fn run(program: &Program, func: FuncId, args: &[Value]) -> Vec<String> {
    printed(|| Interpreter::new(program).call(func, args, &[], &[]).map(drop)).1
}

/// How many lines a program printed.
fn one(seed: u64) -> Result<usize, String> {
    let extent = Extent { main: 12, helper: 5 };
    let generated = Subject { seed, extent, linear: false }.generate();
    let named = |e: String| format!("program {seed}: {e}\n{}", generated.text);
    let mut program = load(&generated.text)?;
    let mut count = 0;
    for func in program.funcs.values_mut() {
        let mut body = std::mem::take(&mut func.body);
        print_numbers(func, &mut body, &mut count);
        func.body = body;
    }
    jut_ir::check::check_program(&program).map_err(|e| named(format!("{e:?}")))?;
    let func = program.find_func(generated.func).ok_or("no such definition")?;
    let args = Interpreter::new(&program).with_sizes(func, &generated.arguments());
    let args = args.map_err(|e| e.to_string())?;
    let mask = Mask::full(&program, func);
    all_products(&program, func, std::slice::from_ref(&args), &mask).map_err(named)?;
    let expected = run(&program, func, &args);
    // Where a rule states a derivative, the function is not what runs.
    if program.funcs.values().all(|func| func.rule.is_none()) {
        for product in products(&program, func, &args, &mask, &[Policy::StoreAll, Policy::Default])?
        {
            let lines = run(&product.program, product.func, &product.args);
            if lines != expected {
                let name = product.name;
                return Err(named(format!(
                    "{name} prints\n{lines:#?}\nthe function\n{expected:#?}"
                )));
            }
        }
    }
    Ok(expected.len())
}

#[test]
fn every_derivative_of_random_programs_prints_what_the_function_prints_on_every_engine() {
    let given = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let first = given("JUT_SEED").unwrap_or(0);
    let seeds: Vec<u64> = (first..first + given("JUT_PROGRAMS").unwrap_or(24)).collect();
    let lines = in_parallel(&seeds, |seed| one(*seed)).unwrap_or_else(|e| panic!("{e}"));
    let all: usize = lines.iter().sum();
    assert!(all > 10 * seeds.len(), "{lines:?}");
}
