//! Linearity is watertight: in the stages of the worked examples, no statement that uses up or
//! binds a linear name can be left out or said twice, no linear operand be exchanged for another,
//! and no recorded type be changed, without the checker refusing the result. And whatever is done
//! to a definition, the checker answers; it never panics.

use jut_ir::check::{check_function, check_linear_b, lint_program};
use jut_ir::visit::Use;
use jut_ir::{Block, FuncId, Function, Program, Rhs, Stmt, Type};
use std::path::Path;

/// The stages of all worked examples, one program each.
fn stages() -> Vec<Program> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("worked");
    let files = std::fs::read_dir(dir).expect("worked examples").map(|file| file.unwrap().path());
    let mut files: Vec<_> = files.filter(|f| f.to_string_lossy().contains(".stages.")).collect();
    files.sort();
    let load = |file: &std::path::PathBuf| {
        let text = std::fs::read_to_string(file).unwrap();
        jut_text::load(&text, 0).program.expect("well-typed")
    };
    files.iter().map(load).collect()
}

/// Calls `visit` with every block of a definition and the path to it.
fn for_each_block(block: &Block, path: &[usize], visit: &mut dyn FnMut(&Block, &[usize])) {
    visit(block, path);
    for (k, stmt) in block.stmts.iter().enumerate() {
        for (b, inner) in stmt.rhs.blocks().into_iter().enumerate() {
            let path = [path, &[k, b]].concat();
            for_each_block(inner, &path, visit);
        }
    }
}

fn block_at<'a>(func: &'a mut Function, path: &[usize]) -> &'a mut Block {
    let mut block = &mut func.body;
    for step in path.chunks(2) {
        block = block.stmts[step[0]].rhs.blocks_mut().swap_remove(step[1]);
    }
    block
}

/// Every statement of every definition: the program, the definition, its block, its position.
fn for_each_stmt(mut visit: impl FnMut(&Program, FuncId, &[usize], usize, &Stmt)) -> usize {
    let mut count = 0;
    for program in stages() {
        for func in program.funcs.keys() {
            for_each_block(&program.funcs[func].body, &[], &mut |block, path| {
                for (k, stmt) in block.stmts.iter().enumerate() {
                    visit(&program, func, path, k, stmt);
                    count += 1;
                }
            });
        }
    }
    count
}

/// Whether a statement uses up or binds a linear name itself.
fn is_linear(stmt: &Stmt) -> bool {
    let mut uses = false;
    stmt.rhs.for_each_own_use(&mut |name| uses |= matches!(name, Use::L(_)));
    uses || !stmt.lin.is_empty()
}

/// The definition with one block changed.
fn changed(
    program: &Program,
    func: FuncId,
    path: &[usize],
    change: impl FnOnce(&mut Block),
) -> Program {
    let mut program = program.clone();
    change(block_at(&mut program.funcs[func], path));
    program
}

fn is_refused(program: &Program, func: FuncId) -> bool {
    // Neither of these may panic, whatever they are given.
    let _ = check_linear_b(program, func);
    let _ = lint_program(program);
    check_function(program, func).is_err()
}

#[test]
fn a_linear_statement_cannot_be_left_out_or_said_twice() {
    let mut linear = 0;
    let all = for_each_stmt(|program, func, path, k, stmt| {
        let without = changed(program, func, path, |block| drop(block.stmts.remove(k)));
        let twice = changed(program, func, path, |block| block.stmts.insert(k, stmt.clone()));
        let name = &program.funcs[func].name;
        let (without, twice) = (is_refused(&without, func), is_refused(&twice, func));
        if is_linear(stmt) {
            linear += 1;
            assert!(without, "{name}, block {path:?}: statement {k} can be left out");
            assert!(twice, "{name}, block {path:?}: statement {k} can be said twice");
        }
        assert!(twice || stmt.nl.is_empty(), "{name}: statement {k} of {path:?} can bind twice");
    });
    assert!(linear > 100 && all > linear, "{linear} of {all} statements are linear");
}

#[test]
fn a_linear_statement_cannot_move_after_its_block() {
    for_each_stmt(|program, func, path, k, stmt| {
        let last = changed(program, func, path, |block| {
            let stmt = block.stmts.remove(k);
            block.stmts.push(stmt);
        });
        let refused = is_refused(&last, func);
        // A linear result that a later statement of the block uses up must come before it.
        let block = &mut program.funcs[func].clone();
        let block = block_at(block, path);
        let mut used_later = false;
        for later in &block.stmts[k + 1..] {
            later.rhs.for_each_own_use(&mut |name| {
                used_later |= matches!(name, Use::L(x) if stmt.lin.contains(&x));
            });
        }
        assert!(refused || !used_later, "{}: {path:?} {k}", program.funcs[func].name);
    });
}

#[test]
fn a_linear_operand_cannot_be_exchanged_for_another() {
    let mut exchanged = 0;
    for_each_stmt(|program, func, path, k, stmt| {
        let (Rhs::LScale(_, x) | Rhs::LCopy(x) | Rhs::LNeg(x) | Rhs::Dup(x)) = &stmt.rhs else {
            return;
        };
        for y in program.funcs[func].lvars.keys().filter(|y| y != x) {
            let other = changed(program, func, path, |block| match &mut block.stmts[k].rhs {
                Rhs::LScale(_, x) | Rhs::LCopy(x) | Rhs::LNeg(x) | Rhs::Dup(x) => *x = y,
                _ => {}
            });
            exchanged += 1;
            assert!(is_refused(&other, func), "{}: {path:?} {k}", program.funcs[func].name);
        }
    });
    assert!(exchanged > 100);
}

#[test]
fn a_recorded_type_cannot_be_changed() {
    for program in stages() {
        for func in program.funcs.keys() {
            // A variable that is the name of a result has its type from the declaration.
            let f = &program.funcs[func];
            let results: Vec<_> = f.results.iter().filter_map(|r| r.name).collect();
            for v in f.nvars.keys().filter(|v| !results.contains(v)) {
                let mut other = program.clone();
                let ty = &mut other.funcs[func].nvars[v].ty;
                *ty = if *ty == Type::Bool { Type::F64 } else { Type::Bool };
                // A parameter that is not used may have any type.
                let unused = f.params.contains(&v) && !is_used(f, v);
                assert!(unused || is_refused(&other, func), "{}: {}", f.name, f.nvars[v].name);
            }
            for x in f.lvars.keys() {
                let mut other = program.clone();
                let ty = &mut other.funcs[func].lvars[x].ty;
                *ty = Type::Tuple(vec![ty.clone()]);
                assert!(is_refused(&other, func), "{}: {}", f.name, f.lvars[x].name);
            }
        }
    }
}

fn is_used(func: &Function, v: jut_ir::NVar) -> bool {
    let mut used = false;
    func.body.for_each_use(func, &mut |name| used |= name == Use::N(v));
    let mut types = func.params.iter().map(|v| &func.nvars[*v].ty).collect::<Vec<_>>();
    types.extend(func.caps.values().map(|c| &c.ty));
    types.extend(func.lvars.values().map(|x| &x.ty));
    types.extend(func.nvars.values().map(|x| &x.ty));
    used || types.iter().any(|ty| ty.size_names().contains(&v))
}
