//! The laws notice: faults of the kinds that passes, optimiser and lowering could have, put into what
//! they make, one at a time; each is caught, and by the law that the table says.
//!
//! A fault is an edit of one statement of a stage: the first statement of the stage that it applies
//! to. No product code knows of them. That the same programs obey all laws without a fault is tested
//! first.

use jut_eval::Value;
use jut_ir::prim;
use jut_ir::*;
use jut_loop::form::{self, LoopProgram, Stmt as L};
use jut_tests::engines::{agree, agree_with};
use jut_tests::laws::{Options, Pass, verify, verify_with};
use std::cell::Cell;

/// Changes the k-th statement of a block if it can.
type Edit = fn(&mut Function, &mut Block, usize) -> bool;
/// The same in the loop form.
type LoopEdit = fn(&mut form::LoopFunction, &mut form::Block, usize) -> bool;

const PROGRAMS: &[(&str, &str)] = &[
    ("scalar", "def f(x: f64, y: f64) -> f64 = { z = x * y; sin(z) * x - z / y - cos(x) }"),
    ("branch", "def f(x: f64, y: f64) -> f64 = if x > 0.0 { sin(x) * y } else { cos(y) + x }"),
    (
        "power",
        "def f(x: f64, y: f64) -> f64 = for (i < 6) carry (a = y) { sin(a) * x + a * f64(i) }",
    ),
    ("start", "def f(x: f64, y: f64) -> f64 = for (i < 6) carry (a = 1.0) { a * x + y }"),
    ("gather", "def f[n, m](x: [n]f64, ix: [m]i64) -> f64 = sum (i < m) { x[ix[i]] * x[0] }"),
    (
        "scatter",
        "def f[n, m](x: [n]f64, ix: [m]i64) -> f64 = sum (i < m) { sin(x[ix[i]]) * f64(i) }",
    ),
    (
        "update",
        "def f[n, m](x: [n]f64, ix: [m]i64) -> f64 = {
  a = for (i < m) carry (a = x) { k = ix[i]; a with [k] = sin(a[k]) * a[0] }
  a[0] * a[3] + a[7]
}",
    ),
    ("wrong index", "def f[n, m](x: [n]f64, ix: [m]i64) -> f64 = sum (i < m) { x[ix[i]] }"),
    ("sum", "def f[n](x: [n]f64) -> f64 = sum (i < n - 1) { sin(x[i]) * x[i + 1] - x[i] }"),
    (
        "rnn",
        "def f[n](x: [n]f64, w: [n, n]f64) -> f64 = {
  h = for (t < 3) carry (h = x) { build (i < n) { tanh(x[i] + sum (j < n) { w[i, j] * h[j] }) } }
  sum (v <- h) { v * v }
}",
    ),
];

fn arguments(program: &str) -> Vec<Value> {
    let x: Vec<f64> = (0..11).map(|k| (k as f64 * 0.7 + 0.2).sin()).collect();
    match program {
        "gather" => vec![Value::floats(x), Value::ints(vec![3, 0, 3, 7])],
        "update" => vec![Value::floats(x), Value::ints(vec![3, 0, 3, 7])],
        "scatter" => vec![Value::floats(x), Value::ints(vec![3, 0, 3, 3, 7, 3, 3])],
        "wrong index" => vec![Value::floats(x), Value::ints(vec![3, 11])],
        "sum" => vec![Value::floats(x)],
        "rnn" => vec![
            Value::floats([0.3, -0.4]),
            Value::matrix(2, 2, [0.1, -0.7, 0.4, 0.9]).expect("a matrix"),
        ],
        _ => vec![Value::F64(0.7), Value::F64(-0.4)],
    }
}

fn text(program: &str) -> &'static str {
    PROGRAMS.iter().find(|(name, _)| *name == program).map(|(_, text)| *text).expect("a program")
}

/// Applies an edit to the first statement that it fits, in the order of the text.
fn edit_first(func: &mut Function, edit: Edit) -> bool {
    fn walk(func: &mut Function, block: &mut Block, edit: Edit) -> bool {
        for k in 0..block.stmts.len() {
            if edit(func, block, k) {
                return true;
            }
            let mut rhs = std::mem::replace(&mut block.stmts[k].rhs, Rhs::Tuple(Vec::new()));
            let found = rhs.blocks_mut().into_iter().any(|inner| walk(func, inner, edit));
            block.stmts[k].rhs = rhs;
            if found {
                return true;
            }
        }
        false
    }
    let mut body = std::mem::take(&mut func.body);
    let found = walk(func, &mut body, edit);
    func.body = body;
    found
}

fn edit_first_loop(func: &mut form::LoopFunction, edit: LoopEdit) -> bool {
    fn walk(func: &mut form::LoopFunction, block: &mut form::Block, edit: LoopEdit) -> bool {
        for k in 0..block.stmts.len() {
            if edit(func, block, k) {
                return true;
            }
            let mut stmt = block.stmts[k].clone();
            let found = match &mut stmt {
                L::For(inner) => walk(func, &mut inner.body, edit),
                L::Lanes(inner) => walk(func, &mut inner.body, edit),
                L::If { then, other, .. } => walk(func, then, edit) || walk(func, other, edit),
                _ => false,
            };
            block.stmts[k] = stmt;
            if found {
                return true;
            }
        }
        false
    }
    let mut body = std::mem::take(&mut func.body);
    let found = walk(func, &mut body, edit);
    func.body = body;
    found
}

fn linear_stmt(like: &Stmt, lin: Vec<LVar>, rhs: Rhs) -> Stmt {
    Stmt { nl: Vec::new(), lin, rhs, annotated: false, loc: like.loc }
}

// ---- edits of linear code

/// `a' + b'` becomes `a'`; b' is dropped.
fn drop_a_term(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LAdd(a, b) = block.stmts[k].rhs else { return false };
    block.stmts[k].rhs = Rhs::LCopy(a);
    let drop = linear_stmt(&block.stmts[k], Vec::new(), Rhs::Drop(b));
    block.stmts.insert(k, drop);
    true
}

/// `-a'` becomes `a'`.
fn wrong_sign(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LNeg(a) = block.stmts[k].rhs else { return false };
    block.stmts[k].rhs = Rhs::LCopy(a);
    true
}

/// `c * a'` becomes `1.25 * a'`.
fn wrong_factor(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LScale(Atom::Var(_), a) = block.stmts[k].rhs else { return false };
    block.stmts[k].rhs = Rhs::LScale(Atom::Lit(Literal::F64(1.25)), a);
    true
}

/// `c * a'` becomes `zero`.
fn lost_tangent(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LScale(_, a) = block.stmts[k].rhs else { return false };
    block.stmts[k].rhs = Rhs::LZero(func.lvars[a].ty.clone());
    let drop = linear_stmt(&block.stmts[k], Vec::new(), Rhs::Drop(a));
    block.stmts.insert(k, drop);
    true
}

/// `(a', b') = dup x'` binds a' only.
fn half_a_dup(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Dup(x) = block.stmts[k].rhs else { return false };
    block.stmts[k].lin.truncate(1);
    block.stmts[k].rhs = Rhs::LCopy(x);
    true
}

/// Both operands are the first one.
fn used_twice(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LAdd(a, _) = block.stmts[k].rhs else { return false };
    block.stmts[k].rhs = Rhs::LAdd(a, a);
    true
}

/// `p += x'` is left out.
fn missing_accumulate(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Inc(_, Operand::L(x)) = block.stmts[k].rhs else { return false };
    block.stmts[k].rhs = Rhs::Drop(x);
    true
}

/// `p += x'` happens twice.
fn accumulated_twice(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Inc(place, Operand::L(x)) = block.stmts[k].rhs.clone() else { return false };
    let mut fresh = |name: &str| {
        let data = LinVarData { name: name.into(), ..func.lvars[x].clone() };
        func.lvars.push(data)
    };
    let (a, b) = (fresh("fault_a'"), fresh("fault_b'"));
    let like = block.stmts[k].clone();
    block.stmts[k].rhs = Rhs::Inc(place.clone(), Operand::L(a));
    block.stmts.insert(k, linear_stmt(&like, Vec::new(), Rhs::Inc(place, Operand::L(b))));
    block.stmts.insert(k, linear_stmt(&like, vec![a, b], Rhs::Dup(x)));
    true
}

/// `p[i] += x'` goes to element 0.
fn wrong_place(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Inc(place, Operand::L(_)) = &mut block.stmts[k].rhs else { return false };
    let Some(Step::Index { index: index @ Atom::Var(_), proved }) = place.path.first_mut() else {
        return false;
    };
    *index = Atom::Lit(Literal::I64(0));
    *proved = true;
    true
}

/// `rd p[i]` reads element 0.
fn wrong_read(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Rd(place) = &mut block.stmts[k].rhs else { return false };
    let Some(Step::Index { index: index @ Atom::Var(_), proved }) = place.path.first_mut() else {
        return false;
    };
    *index = Atom::Lit(Literal::I64(0));
    *proved = true;
    true
}

/// A loop with carries runs the other way.
fn wrong_direction(_: &mut Function, block: &mut Block, k: usize) -> bool {
    match &mut block.stmts[k].rhs {
        Rhs::Scan(scan) if scan.dir != Dir::Par => match scan.dir.reversed() {
            Some(dir) => {
                scan.dir = dir;
                true
            }
            None => false,
        },
        _ => false,
    }
}

/// The arms of a `case` change places.
fn swapped_arms(_: &mut Function, block: &mut Block, k: usize) -> bool {
    match &mut block.stmts[k].rhs {
        Rhs::Case(case) if matches!(case.arms[0].pattern, ArmPattern::Bool(_)) => {
            let (first, second) = (case.arms[0].pattern, case.arms[1].pattern);
            case.arms[0].pattern = second;
            case.arms[1].pattern = first;
            true
        }
        _ => false,
    }
}

/// The first two linear results change places.
fn swapped_results(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let same = |block: &Block| match block.lin[..] {
        [a, b, ..] => func.lvars[a].ty == func.lvars[b].ty,
        _ => false,
    };
    if k + 1 != block.stmts.len() || !same(block) {
        return false;
    }
    block.lin.swap(0, 1);
    true
}

/// `y' = c * a'` becomes `y' = c * a' + zero`.
fn needless_addition(func: &mut Function, block: &mut Block, k: usize) -> bool {
    if !matches!(block.stmts[k].rhs, Rhs::LScale(..)) {
        return false;
    }
    let result = block.stmts[k].lin[0];
    let mut fresh = |name: &str| {
        let data = LinVarData { name: name.into(), ..func.lvars[result].clone() };
        func.lvars.push(data)
    };
    let (a, z) = (fresh("fault_a'"), fresh("fault_z'"));
    let like = block.stmts[k].clone();
    block.stmts[k].lin[0] = a;
    let zero = Rhs::LZero(func.lvars[result].ty.clone());
    block.stmts.insert(k + 1, linear_stmt(&like, vec![z], zero));
    block.stmts.insert(k + 2, linear_stmt(&like, vec![result], Rhs::LAdd(a, z)));
    true
}

/// A `drop` is left out.
fn missing_drop(_: &mut Function, block: &mut Block, k: usize) -> bool {
    if !matches!(block.stmts[k].rhs, Rhs::Drop(_)) {
        return false;
    }
    block.stmts.remove(k);
    true
}

/// `(b', v') = take a'[i]` leaves the part in b'.
fn part_not_zero(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LTake { path, .. } = block.stmts[k].rhs.clone() else { return false };
    let [rest, part] = block.stmts[k].lin[..] else { return false };
    let mut fresh = |name: &str, of: LVar| {
        let data = LinVarData { name: name.into(), ..func.lvars[of].clone() };
        func.lvars.push(data)
    };
    let (left, a, b) = (fresh("fault_x'", rest), fresh("fault_a'", part), fresh("fault_b'", part));
    let like = block.stmts[k].clone();
    block.stmts[k].lin = vec![left, a];
    let back = Rhs::LUpdate { x: left, path, value: b };
    block.stmts.insert(k + 1, linear_stmt(&like, vec![part, b], Rhs::Dup(a)));
    block.stmts.insert(k + 2, linear_stmt(&like, vec![rest], back));
    true
}

/// `a' with [i] = v'` is `a' with [i] = zero`.
fn lost_part(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LUpdate { value, .. } = &mut block.stmts[k].rhs else { return false };
    let data = LinVarData { name: "fault_z'".into(), ..func.lvars[*value].clone() };
    let ty = data.ty.clone();
    let zero = func.lvars.push(data);
    let lost = std::mem::replace(value, zero);
    let like = block.stmts[k].clone();
    block.stmts.insert(k, linear_stmt(&like, vec![zero], Rhs::LZero(ty)));
    block.stmts.insert(k, linear_stmt(&like, Vec::new(), Rhs::Drop(lost)));
    true
}

/// `a' with [i] = v'` is a', and v' is dropped.
fn no_update(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LUpdate { x, value, .. } = block.stmts[k].rhs else { return false };
    block.stmts[k].rhs = Rhs::LCopy(x);
    let drop = linear_stmt(&block.stmts[k], Vec::new(), Rhs::Drop(value));
    block.stmts.insert(k, drop);
    true
}

/// `a with [i] = v` changes element 0.
fn wrong_part(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Update { path, .. } = &mut block.stmts[k].rhs else { return false };
    let Some(Step::Index { index: index @ Atom::Var(_), proved }) = path.first_mut() else {
        return false;
    };
    *index = Atom::Lit(Literal::I64(0));
    *proved = true;
    true
}

// ---- edits of non-linear code

/// `a - b` becomes `b - a`.
fn swapped_operands(_: &mut Function, block: &mut Block, k: usize) -> bool {
    match &mut block.stmts[k].rhs {
        Rhs::Prim(prim::SUB, args) => {
            args.swap(0, 1);
            true
        }
        _ => false,
    }
}

/// `sin` becomes `cos`.
fn wrong_function(_: &mut Function, block: &mut Block, k: usize) -> bool {
    match &mut block.stmts[k].rhs {
        Rhs::Prim(p @ prim::SIN, _) => {
            *p = prim::COS;
            true
        }
        _ => false,
    }
}

/// The first float of the tape is 1.
fn stale_tape(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Con(_, args) = &mut block.stmts[k].rhs else { return false };
    let Some(arg) = args.iter_mut().find(|a| func.type_of(**a).is_float()) else { return false };
    *arg = Atom::Lit(Literal::F64(1.0));
    true
}

/// Two floats of the tape change places.
fn swapped_tape(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Con(_, args) = &mut block.stmts[k].rhs else { return false };
    let floats: Vec<usize> =
        (0..args.len()).filter(|k| func.type_of(args[*k]).is_float()).collect();
    let [a, b, ..] = floats[..] else { return false };
    args.swap(a, b);
    true
}

/// A `check` is left out.
fn missing_check(_: &mut Function, block: &mut Block, k: usize) -> bool {
    if !matches!(block.stmts[k].rhs, Rhs::Check(_)) {
        return false;
    }
    block.stmts.remove(k);
    true
}

/// `x[i]` reads element 0.
fn wrong_element(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Index(_, path) = &mut block.stmts[k].rhs else { return false };
    let Some(Step::Index { index: index @ Atom::Var(_), proved }) = path.first_mut() else {
        return false;
    };
    *index = Atom::Lit(Literal::I64(0));
    *proved = true;
    true
}

/// `s += a` is left out.
fn missing_term(_: &mut Function, block: &mut Block, k: usize) -> bool {
    if !matches!(block.stmts[k].rhs, Rhs::Inc(_, Operand::N(_))) {
        return false;
    }
    block.stmts.remove(k);
    true
}

/// A sum by lanes is made in sequence.
fn wrong_order(func: &mut Function, block: &mut Block, k: usize) -> bool {
    match &block.stmts[k].rhs {
        Rhs::Region(region) if func.caps[region.cap].lanes => {
            func.caps[region.cap].lanes = false;
            true
        }
        _ => false,
    }
}

/// The body of the first loop computes a value 40 times that nobody uses.
fn needless_work(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Scan(scan) = &mut block.stmts[k].rhs else { return false };
    let Some(at) = scan.body.stmts.iter().position(|s| matches!(s.rhs, Rhs::Prim(prim::MUL, _)))
    else {
        return false;
    };
    for copy in 0..40 {
        let mut stmt = scan.body.stmts[at].clone();
        let name = format!("fault_{copy}").into();
        let data = VarData { name, ..func.nvars[stmt.nl[0]].clone() };
        stmt.nl[0] = func.nvars.push(data);
        scan.body.stmts.insert(at + 1, stmt);
    }
    true
}

// ---- edits of the loop form

fn loop_direction(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    match &mut block.stmts[k] {
        L::For(inner) if inner.order == form::Order::Down => {
            inner.order = form::Order::Up;
            true
        }
        _ => false,
    }
}

fn loop_without_store(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    if !matches!(block.stmts[k], L::Store { .. }) {
        return false;
    }
    block.stmts.remove(k);
    true
}

fn loop_without_check(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    if !matches!(block.stmts[k], L::Check { .. }) {
        return false;
    }
    block.stmts.remove(k);
    true
}

fn loop_without_fill(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    if !matches!(block.stmts[k], L::Fill { .. }) {
        return false;
    }
    block.stmts.remove(k);
    true
}

/// A sum by lanes is made with one lane.
fn loop_with_one_lane(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    let L::Lanes(lanes) = &block.stmts[k] else { return false };
    let zero = form::Atom::Lit(Literal::F64(0.0));
    block.stmts[k] = L::For(Box::new(form::For {
        vector: None,
        dst: lanes.dst.clone(),
        order: form::Order::Up,
        index: lanes.index,
        low: lanes.low,
        high: lanes.high,
        carry: lanes.carry.iter().map(|v| (*v, zero)).collect(),
        body: lanes.body.clone(),
    }));
    true
}

fn loop_one_trip_short(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    let one = form::Atom::Lit(Literal::I64(1));
    match &mut block.stmts[k] {
        L::For(inner) if inner.low == form::Atom::Lit(Literal::I64(0)) => inner.low = one,
        L::Lanes(inner) if inner.low == form::Atom::Lit(Literal::I64(0)) => inner.low = one,
        _ => return false,
    }
    true
}

fn loop_cell_zero(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    match &mut block.stmts[k] {
        L::Load { index: index @ form::Atom::Value(_), .. } => {
            *index = form::Atom::Lit(Literal::I64(0));
            true
        }
        _ => false,
    }
}

fn loop_operands(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    match &mut block.stmts[k] {
        L::Prim { prim: prim::SUB, args, .. } => {
            args.swap(0, 1);
            true
        }
        _ => false,
    }
}

fn loop_arms(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    match &mut block.stmts[k] {
        L::If { then, other, .. } if then != other => {
            std::mem::swap(then, other);
            true
        }
        _ => false,
    }
}

/// A loop whose iterations have to run one after the other is given to any order.
fn loop_made_parallel(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    match &mut block.stmts[k] {
        L::For(f) if f.order != form::Order::Par => {
            f.order = form::Order::Par;
            true
        }
        _ => false,
    }
}

/// `c * a'` becomes `sin(c) * a'` with the partial computed beside it, 40 times over.
fn needless_partials(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LScale(Atom::Var(c), _) = block.stmts[k].rhs else { return false };
    for copy in 0..80 {
        let data = VarData { name: format!("fault_{copy}").into(), ..func.nvars[c].clone() };
        let v = func.nvars.push(data);
        let mut stmt = block.stmts[k].clone();
        (stmt.nl, stmt.lin) = (vec![v], Vec::new());
        stmt.rhs = Rhs::Prim(prim::SIN, vec![Atom::Var(c)]);
        block.stmts.insert(k, stmt);
    }
    true
}

/// `c * a'` becomes `d * a'`, where `d = c * 1.0` is computed in `f.lin`.
fn primal_work(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LScale(Atom::Var(c), a) = block.stmts[k].rhs else { return false };
    let data = VarData { name: "fault".into(), ..func.nvars[c].clone() };
    let v = func.nvars.push(data);
    let mut stmt = block.stmts[k].clone();
    (stmt.nl, stmt.lin) = (vec![v], Vec::new());
    stmt.rhs = Rhs::Prim(prim::MUL, vec![Atom::Var(c), Atom::Lit(Literal::F64(1.0))]);
    block.stmts[k].rhs = Rhs::LScale(Atom::Var(v), a);
    block.stmts.insert(k, stmt);
    true
}

/// Pass, fault, program, and the law that notices first.
const FAULTS: &[(Pass, Edit, &str, &str)] = &[
    (Pass::Forward, drop_a_term, "scalar", "P4"),
    (Pass::Forward, wrong_sign, "scalar", "P4"),
    (Pass::Forward, wrong_factor, "scalar", "P4"),
    (Pass::Forward, lost_tangent, "scalar", "P4"),
    (Pass::Forward, wrong_read, "sum", "P4"),
    (Pass::Forward, lost_part, "update", "P4"),
    (Pass::Forward, no_update, "update", "P4"),
    (Pass::Forward, wrong_part, "update", "P2"),
    (Pass::Forward, half_a_dup, "scalar", "P1"),
    (Pass::Forward, used_twice, "scalar", "P1"),
    (Pass::Forward, missing_check, "gather", "P1"),
    (Pass::Forward, swapped_operands, "scalar", "P2"),
    (Pass::Forward, wrong_function, "scalar", "P2"),
    (Pass::Forward, swapped_arms, "branch", "P2"),
    (Pass::Forward, wrong_direction, "power", "P2"),
    (Pass::Forward, needless_partials, "scalar", "P5"),
    (Pass::Linear, primal_work, "scalar", "P7"),
    (Pass::Twice, lost_tangent, "scalar", "P11"),
    (Pass::Twice, wrong_sign, "scalar", "P11"),
    (Pass::Twice, wrong_direction, "power", "P11"),
    (Pass::NonLinear, stale_tape, "scalar", "P6"),
    (Pass::NonLinear, swapped_tape, "scalar", "P6"),
    (Pass::NonLinear, wrong_function, "scalar", "P6"),
    (Pass::NonLinear, wrong_direction, "power", "P6"),
    (Pass::NonLinear, wrong_element, "gather", "P6"),
    (Pass::NonLinear, missing_check, "gather", "P1"),
    (Pass::NonLinear, wrong_element, "wrong index", "errors"),
    (Pass::NonLinear, wrong_part, "update", "P6"),
    (Pass::Linear, lost_part, "update", "P6"),
    (Pass::Linear, drop_a_term, "scalar", "P6"),
    (Pass::Linear, wrong_sign, "scalar", "P6"),
    (Pass::Linear, wrong_direction, "power", "P6"),
    (Pass::Linear, wrong_read, "rnn", "P6"),
    (Pass::Linear, needless_addition, "scalar", "P6"),
    (Pass::Linear, used_twice, "scalar", "P1"),
    (Pass::Transpose, drop_a_term, "scalar", "P9"),
    (Pass::Transpose, wrong_sign, "scalar", "P9"),
    (Pass::Transpose, wrong_factor, "scalar", "P9"),
    (Pass::Transpose, lost_tangent, "scalar", "P9"),
    (Pass::Transpose, part_not_zero, "update", "P9"),
    (Pass::Transpose, missing_accumulate, "sum", "P9"),
    (Pass::Transpose, accumulated_twice, "sum", "P9"),
    (Pass::Transpose, wrong_place, "sum", "P9"),
    (Pass::Transpose, wrong_direction, "power", "P9"),
    (Pass::Transpose, swapped_results, "scalar", "P9"),
    (Pass::Transpose, needless_addition, "scalar", "P10"),
    (Pass::Transpose, missing_drop, "start", "P1"),
    (Pass::Transpose, half_a_dup, "scalar", "P1"),
    (Pass::Erase, wrong_direction, "power", "P12"),
    (Pass::Erase, wrong_part, "update", "P12"),
    (Pass::Erase, missing_term, "sum", "P12"),
    (Pass::Erase, swapped_operands, "scalar", "P12"),
    (Pass::Erase, wrong_element, "sum", "P12"),
    (Pass::Optimise, wrong_order, "sum", "P15"),
    (Pass::Optimise, wrong_part, "update", "P15"),
    (Pass::Optimise, missing_term, "sum", "P15"),
    (Pass::Optimise, wrong_direction, "power", "P15"),
    (Pass::Optimise, swapped_operands, "scalar", "P15"),
    (Pass::Optimise, needless_work, "sum", "P15"),
];

/// Faults of lowering; P16 notices all of them.
const LOOP_FAULTS: &[(&str, LoopEdit, &str)] = &[
    ("wrong direction", loop_direction, "power"),
    ("missing store", loop_without_store, "rnn"),
    ("missing update", loop_without_store, "update"),
    ("updates in any order", loop_made_parallel, "update"),
    ("missing check", loop_without_check, "wrong index"),
    ("missing zeros", loop_without_fill, "sum"),
    ("one lane", loop_with_one_lane, "sum"),
    ("one trip short", loop_one_trip_short, "sum"),
    ("wrong cell", loop_cell_zero, "sum"),
    ("swapped operands", loop_operands, "scalar"),
    ("swapped arms", loop_arms, "branch"),
    ("made parallel", loop_made_parallel, "scatter"),
];

const OPTIONS: Options = Options { smooth: Some(1e-6) };

#[test]
fn the_programs_obey_all_laws_without_a_fault() {
    for (name, text) in PROGRAMS {
        let verified = verify(text, "f", &arguments(name), OPTIONS);
        let verified = verified.unwrap_or_else(|e| panic!("{name}: {e}"));
        let fast = jut_opt::optimise(&verified.program, verified.value_and_grad, true);
        let run = agree(&fast, verified.value_and_grad, &verified.args);
        run.unwrap_or_else(|e| panic!("{name}: {e}")).ok();
    }
}

#[test]
fn each_fault_of_a_pass_is_caught_by_its_law() {
    let mut wrong = Vec::new();
    for (k, (pass, edit, program, law)) in FAULTS.iter().enumerate() {
        let applied = Cell::new(false);
        let fault = |at: Pass, program: &mut Program, func: FuncId| {
            if at == *pass {
                let found = edit_first(&mut program.funcs[func], *edit);
                applied.set(applied.get() | found);
            }
        };
        let outcome = verify_with(text(program), "f", &arguments(program), OPTIONS, &fault);
        let what = format!("fault {k} ({pass:?}, {program}, {law})");
        match outcome {
            _ if !applied.get() => wrong.push(format!("{what}: nothing to change")),
            Ok(_) => wrong.push(format!("{what}: not noticed")),
            Err(message) => {
                let said = message.split_once(": ").map_or("", |(_, rest)| rest);
                if !said.starts_with(&format!("{law}:")) {
                    let short: String = message.chars().take(160).collect();
                    wrong.push(format!("{what}: {short}"));
                }
            }
        }
    }
    assert!(FAULTS.len() + LOOP_FAULTS.len() >= 25);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_fault_of_lowering_is_caught_by_the_comparison_of_engines() {
    let mut wrong = Vec::new();
    for (name, edit, program) in LOOP_FAULTS {
        let verified = verify(text(program), "f", &arguments(program), OPTIONS);
        let verified = verified.unwrap_or_else(|e| panic!("{program}: {e}"));
        let fast = jut_opt::optimise(&verified.program, verified.value_and_grad, true);
        let applied = Cell::new(false);
        let fault = |program: &mut LoopProgram| {
            for func in program.funcs.values_mut() {
                if !applied.get() {
                    applied.set(edit_first_loop(func, *edit));
                }
            }
        };
        let outcome = agree_with(&fast, verified.value_and_grad, &verified.args, &fault);
        match outcome {
            _ if !applied.get() => wrong.push(format!("{name}: nothing to change")),
            Ok(_) => wrong.push(format!("{name}: not noticed")),
            Err(message) if message.starts_with("P16") => {}
            Err(message) => {
                wrong.push(format!("{name}: {}", message.chars().take(160).collect::<String>()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
