//! Faults, as edits of a statement of a stage.

use jut_ir::prim;
use jut_ir::*;
use jut_loop::form::{self, Stmt as L};

/// Changes the k-th statement of a block if it can.
pub type Edit = fn(&mut Function, &mut Block, usize) -> bool;
/// The same in the loop form.
pub type LoopEdit = fn(&mut form::LoopFunction, &mut form::Block, usize) -> bool;

/// Applies an edit to the first statement that it fits, in the order of the text.
pub fn edit_first(func: &mut Function, edit: Edit) -> bool {
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

pub fn edit_first_loop(func: &mut form::LoopFunction, edit: LoopEdit) -> bool {
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

pub fn linear_stmt(like: &Stmt, lin: Vec<LVar>, rhs: Rhs) -> Stmt {
    Stmt { nl: Vec::new(), lin, rhs, annotated: false, loc: like.loc }
}

// ---- edits of linear code

/// `a' + b'` becomes `a'`; b' is dropped.
pub fn drop_a_term(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LAdd(a, b) = block.stmts[k].rhs else { return false };
    block.stmts[k].rhs = Rhs::LCopy(a);
    let drop = linear_stmt(&block.stmts[k], Vec::new(), Rhs::Drop(b));
    block.stmts.insert(k, drop);
    true
}

/// `-a'` becomes `a'`.
pub fn wrong_sign(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LNeg(a) = block.stmts[k].rhs else { return false };
    block.stmts[k].rhs = Rhs::LCopy(a);
    true
}

/// `c * a'` becomes `1.25 * a'`.
pub fn wrong_factor(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LScale(Atom::Var(_), a) = block.stmts[k].rhs else { return false };
    block.stmts[k].rhs = Rhs::LScale(Atom::Lit(Literal::F64(1.25)), a);
    true
}

/// `c * a'` becomes `zero`.
pub fn lost_tangent(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LScale(_, a) = block.stmts[k].rhs else { return false };
    block.stmts[k].rhs = Rhs::LZero(func.lvars[a].ty.clone());
    let drop = linear_stmt(&block.stmts[k], Vec::new(), Rhs::Drop(a));
    block.stmts.insert(k, drop);
    true
}

/// `(a', b') = dup x'` binds a' only.
pub fn half_a_dup(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Dup(x) = block.stmts[k].rhs else { return false };
    block.stmts[k].lin.truncate(1);
    block.stmts[k].rhs = Rhs::LCopy(x);
    true
}

/// Both operands are the first one.
pub fn used_twice(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LAdd(a, _) = block.stmts[k].rhs else { return false };
    block.stmts[k].rhs = Rhs::LAdd(a, a);
    true
}

/// `p += x'` is left out.
pub fn missing_accumulate(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Inc(_, Operand::L(x)) = block.stmts[k].rhs else { return false };
    block.stmts[k].rhs = Rhs::Drop(x);
    true
}

/// `p += x'` happens twice.
pub fn accumulated_twice(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Inc(place, Operand::L(x)) = block.stmts[k].rhs.clone() else { return false };
    let mut fresh = |name: &str| fresh_like(func, name, x);
    let (a, b) = (fresh("fault_a'"), fresh("fault_b'"));
    let like = block.stmts[k].clone();
    block.stmts[k].rhs = Rhs::Inc(place.clone(), Operand::L(a));
    block.stmts.insert(k, linear_stmt(&like, Vec::new(), Rhs::Inc(place, Operand::L(b))));
    block.stmts.insert(k, linear_stmt(&like, vec![a, b], Rhs::Dup(x)));
    true
}

/// `p[i] += x'` goes to element 0.
pub fn wrong_place(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Inc(place, Operand::L(_)) = &mut block.stmts[k].rhs else { return false };
    let Some(Step::Index { index: index @ Atom::Var(_), proved }) = place.path.first_mut() else {
        return false;
    };
    *index = Atom::Lit(Literal::I64(0));
    *proved = true;
    true
}

/// `rd p[i]` reads element 0.
pub fn wrong_read(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Rd(place) = &mut block.stmts[k].rhs else { return false };
    let Some(Step::Index { index: index @ Atom::Var(_), proved }) = place.path.first_mut() else {
        return false;
    };
    *index = Atom::Lit(Literal::I64(0));
    *proved = true;
    true
}

/// A loop with carries runs the other way.
pub fn wrong_direction(_: &mut Function, block: &mut Block, k: usize) -> bool {
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
pub fn swapped_arms(_: &mut Function, block: &mut Block, k: usize) -> bool {
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

/// Tangents of two fields of one type change places, where they are made or where they are opened.
pub fn swapped_subtrees(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let stmt = &mut block.stmts[k];
    let fields = match &mut stmt.rhs {
        Rhs::LCon { fields, .. } => fields,
        Rhs::LOpen { .. } => &mut stmt.lin,
        _ => return false,
    };
    let alike = match fields[..] {
        [a, b] => func.lvars[a].ty == func.lvars[b].ty,
        _ => false,
    };
    if alike {
        fields.swap(0, 1);
    }
    alike
}

/// `K(a, b)` becomes `K(b, a)`.
pub fn swapped_fields(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Con(_, args) = &mut block.stmts[k].rhs else { return false };
    let alike = match args[..] {
        [a, b] => func.type_of(a) == func.type_of(b),
        _ => false,
    };
    if alike {
        args.swap(0, 1);
    }
    alike
}

/// The first two linear results change places.
pub fn swapped_results(func: &mut Function, block: &mut Block, k: usize) -> bool {
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
pub fn needless_addition(func: &mut Function, block: &mut Block, k: usize) -> bool {
    if !matches!(block.stmts[k].rhs, Rhs::LScale(..)) {
        return false;
    }
    let result = block.stmts[k].lin[0];
    let mut fresh = |name: &str| fresh_like(func, name, result);
    let (a, z) = (fresh("fault_a'"), fresh("fault_z'"));
    let like = block.stmts[k].clone();
    block.stmts[k].lin[0] = a;
    let zero = Rhs::LZero(func.lvars[result].ty.clone());
    block.stmts.insert(k + 1, linear_stmt(&like, vec![z], zero));
    block.stmts.insert(k + 2, linear_stmt(&like, vec![result], Rhs::LAdd(a, z)));
    true
}

/// Another linear name of the same type.
fn fresh_like(func: &mut Function, name: &str, of: LVar) -> LVar {
    let data = LinVarData { name: name.into(), ..func.lvars[of].clone() };
    func.lvars.push(data)
}

/// A statement of a kind is left out.
fn left_out<T>(stmts: &mut Vec<T>, k: usize, is: impl Fn(&T) -> bool) -> bool {
    let found = is(&stmts[k]);
    if found {
        stmts.remove(k);
    }
    found
}

/// A `drop` is left out.
pub fn missing_drop(_: &mut Function, block: &mut Block, k: usize) -> bool {
    left_out(&mut block.stmts, k, |stmt| matches!(stmt.rhs, Rhs::Drop(_)))
}

/// `(b', v') = take a'[i]` leaves the part in b'.
pub fn part_not_zero(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LTake { path, .. } = block.stmts[k].rhs.clone() else { return false };
    let [rest, part] = block.stmts[k].lin[..] else { return false };
    let mut fresh = |name: &str, of: LVar| fresh_like(func, name, of);
    let (left, a, b) = (fresh("fault_x'", rest), fresh("fault_a'", part), fresh("fault_b'", part));
    let like = block.stmts[k].clone();
    block.stmts[k].lin = vec![left, a];
    let back = Rhs::LUpdate { x: left, path, value: b };
    block.stmts.insert(k + 1, linear_stmt(&like, vec![part, b], Rhs::Dup(a)));
    block.stmts.insert(k + 2, linear_stmt(&like, vec![rest], back));
    true
}

/// `a' with [i] = v'` is `a' with [i] = zero`.
pub fn lost_part(func: &mut Function, block: &mut Block, k: usize) -> bool {
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
pub fn no_update(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LUpdate { x, value, .. } = block.stmts[k].rhs else { return false };
    block.stmts[k].rhs = Rhs::LCopy(x);
    let drop = linear_stmt(&block.stmts[k], Vec::new(), Rhs::Drop(value));
    block.stmts.insert(k, drop);
    true
}

/// `a with [i] = v` changes element 0.
pub fn wrong_part(_: &mut Function, block: &mut Block, k: usize) -> bool {
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
pub fn swapped_operands(_: &mut Function, block: &mut Block, k: usize) -> bool {
    match &mut block.stmts[k].rhs {
        Rhs::Prim(prim::SUB, args) => {
            args.swap(0, 1);
            true
        }
        _ => false,
    }
}

/// `sin` becomes `cos`.
pub fn wrong_function(_: &mut Function, block: &mut Block, k: usize) -> bool {
    match &mut block.stmts[k].rhs {
        Rhs::Prim(p @ prim::SIN, _) => {
            *p = prim::COS;
            true
        }
        _ => false,
    }
}

/// The first float of the tape is 1.
pub fn stale_tape(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Con(_, args) = &mut block.stmts[k].rhs else { return false };
    let Some(arg) = args.iter_mut().find(|a| func.type_of(**a).is_float()) else { return false };
    *arg = Atom::Lit(Literal::F64(1.0));
    true
}

/// Two floats of the tape change places.
pub fn swapped_tape(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Con(_, args) = &mut block.stmts[k].rhs else { return false };
    let floats: Vec<usize> =
        (0..args.len()).filter(|k| func.type_of(args[*k]).is_float()).collect();
    let [a, b, ..] = floats[..] else { return false };
    args.swap(a, b);
    true
}

/// A `check` is left out.
pub fn missing_check(_: &mut Function, block: &mut Block, k: usize) -> bool {
    left_out(&mut block.stmts, k, |stmt| matches!(stmt.rhs, Rhs::Check(_)))
}

/// `x[i]` reads element 0.
pub fn wrong_element(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Index(_, path) = &mut block.stmts[k].rhs else { return false };
    let Some(Step::Index { index: index @ Atom::Var(_), proved }) = path.first_mut() else {
        return false;
    };
    *index = Atom::Lit(Literal::I64(0));
    *proved = true;
    true
}

/// `s += a` is left out.
pub fn missing_term(_: &mut Function, block: &mut Block, k: usize) -> bool {
    left_out(&mut block.stmts, k, |stmt| matches!(stmt.rhs, Rhs::Inc(_, Operand::N(_))))
}

/// A sum by lanes is made in sequence.
pub fn wrong_order(func: &mut Function, block: &mut Block, k: usize) -> bool {
    match &block.stmts[k].rhs {
        Rhs::Region(region) if func.caps[region.cap].lanes => {
            func.caps[region.cap].lanes = false;
            true
        }
        _ => false,
    }
}

/// Of two sums in regions, one in the other, each gets what the other is due.
pub fn swapped_sums(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Region(outer) = &mut block.stmts[k].rhs else { return false };
    for stmt in &mut outer.body.stmts {
        if let Rhs::Region(inner) = &mut stmt.rhs
            && func.caps[inner.cap].ty == func.caps[outer.cap].ty
            && func.caps[inner.cap].lanes == func.caps[outer.cap].lanes
        {
            std::mem::swap(&mut inner.cap, &mut outer.cap);
            return true;
        }
    }
    false
}

/// A loop goes along the first of its arrays for the second, and the other way round.
pub fn swapped_slices(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Scan(scan) = &mut block.stmts[k].rhs else { return false };
    let [(_, first), (_, second), ..] = &mut scan.slices[..] else { return false };
    if func.nvars[*first].ty != func.nvars[*second].ty {
        return false;
    }
    std::mem::swap(first, second);
    true
}

/// Products of a matrix and a vector are added up as those of two matrices are.
pub fn another_order(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Stmt { nl, rhs: Rhs::Structured(structured::MATVEC, args, _), .. } = &block.stmts[k] else {
        return false;
    };
    let ([a, Atom::Var(x)], [y]) = (&args[..], &nl[..]) else { return false };
    let (a, x, y) = (*a, *x, *y);
    let of = |v: NVar| func.nvars[v].ty.size().cloned().unwrap_or_default();
    let (n, b) = (of(x), of(y));
    let column = |size: Size| Type::array(size, Type::array(Size::constant(1), Type::F64));
    let mut name = |name: &str, ty: Type| {
        let data = VarData { name: name.into(), ty, ..func.nvars[y].clone() };
        func.nvars.push(data)
    };
    let (from, to) = (name("fault_x", column(n.clone())), name("fault_y", column(b)));
    let like = block.stmts[k].clone();
    let view = Rhs::Structured(structured::UNFLATTEN, vec![x.into()], vec![n, Size::constant(1)]);
    let product = Rhs::Structured(structured::MATMUL, vec![a, from.into()], Vec::new());
    let made = [(from, view), (to, product)];
    let made = made.map(|(v, rhs)| Stmt { nl: vec![v], rhs, ..like.clone() });
    block.stmts[k].rhs = Rhs::Structured(structured::FLATTEN, vec![to.into()], Vec::new());
    block.stmts.splice(k..k, made);
    true
}

/// The body of the first loop computes a value 40 times that nobody uses.
pub fn needless_work(func: &mut Function, block: &mut Block, k: usize) -> bool {
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

pub fn loop_direction(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    match &mut block.stmts[k] {
        L::For(inner) if inner.order == form::Order::Down => {
            inner.order = form::Order::Up;
            true
        }
        _ => false,
    }
}

pub fn loop_without_store(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    left_out(&mut block.stmts, k, |stmt| matches!(stmt, L::Store { .. }))
}

pub fn loop_without_check(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    left_out(&mut block.stmts, k, |stmt| matches!(stmt, L::Check { .. }))
}

pub fn loop_without_fill(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    left_out(&mut block.stmts, k, |stmt| matches!(stmt, L::Fill { .. }))
}

/// A sum by lanes is made with one lane.
pub fn loop_with_one_lane(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
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

pub fn loop_one_trip_short(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    let one = form::Atom::Lit(Literal::I64(1));
    match &mut block.stmts[k] {
        L::For(inner) if inner.low == form::Atom::Lit(Literal::I64(0)) => inner.low = one,
        L::Lanes(inner) if inner.low == form::Atom::Lit(Literal::I64(0)) => inner.low = one,
        _ => return false,
    }
    true
}

pub fn loop_cell_zero(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    match &mut block.stmts[k] {
        L::Load { index: index @ form::Atom::Value(_), .. } => {
            *index = form::Atom::Lit(Literal::I64(0));
            true
        }
        _ => false,
    }
}

pub fn loop_operands(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    match &mut block.stmts[k] {
        L::Prim { prim: prim::SUB, args, .. } => {
            args.swap(0, 1);
            true
        }
        _ => false,
    }
}

pub fn loop_arms(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    match &mut block.stmts[k] {
        L::If { then, other, .. } if then != other => {
            std::mem::swap(then, other);
            true
        }
        _ => false,
    }
}

/// A loop whose iterations have to run one after the other is given to any order.
pub fn loop_made_parallel(_: &mut form::LoopFunction, block: &mut form::Block, k: usize) -> bool {
    match &mut block.stmts[k] {
        L::For(f) if f.order != form::Order::Par => {
            f.order = form::Order::Par;
            true
        }
        _ => false,
    }
}

/// Two buffers of a loop that should change places keep them.
pub fn loop_without_exchange(
    _: &mut form::LoopFunction,
    block: &mut form::Block,
    k: usize,
) -> bool {
    let L::For(f) = &mut block.stmts[k] else { return false };
    let carried: Vec<form::Atom> = f.carry.iter().map(|(inside, _)| (*inside).into()).collect();
    let exchanged = carried.len() == 2 && f.body.results.iter().rev().eq(&carried);
    if exchanged {
        f.body.results = carried;
    }
    exchanged
}

/// `c * a'` becomes `sin(c) * a'` with the partial computed beside it, 40 times over.
pub fn needless_partials(func: &mut Function, block: &mut Block, k: usize) -> bool {
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
pub fn primal_work(func: &mut Function, block: &mut Block, k: usize) -> bool {
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

// ---- edits for functions that call themselves, `while`, rules and derivatives in the language

/// A call of a function with several arguments of one type: the first two change places.
pub fn swapped_arguments(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Call(call) = &mut block.stmts[k].rhs else { return false };
    match call.args[..] {
        [a, b, ..] if a != b && func.type_of(a) == func.type_of(b) => {
            call.args.swap(0, 1);
            true
        }
        _ => false,
    }
}

/// The first two linear arguments of a call change places.
pub fn swapped_tangents(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Call(call) = &mut block.stmts[k].rhs else { return false };
    match call.lin_args[..] {
        [a, b, ..] if func.lvars[a].ty == func.lvars[b].ty => {
            call.lin_args.swap(0, 1);
            true
        }
        _ => false,
    }
}

/// A call is given zero in place of its first linear argument.
pub fn call_without_tangent(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Call(call) = &mut block.stmts[k].rhs else { return false };
    let Some(first) = call.lin_args.first_mut() else { return false };
    let data = LinVarData { name: "fault_z'".into(), ..func.lvars[*first].clone() };
    let ty = data.ty.clone();
    let zero = func.lvars.push(data);
    let lost = std::mem::replace(first, zero);
    let like = block.stmts[k].clone();
    block.stmts.insert(k, linear_stmt(&like, vec![zero], Rhs::LZero(ty)));
    block.stmts.insert(k, linear_stmt(&like, Vec::new(), Rhs::Drop(lost)));
    true
}

/// The linear result of a call is its negative.
pub fn call_turned_round(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Call(_) = &block.stmts[k].rhs else { return false };
    let Some(result) = block.stmts[k].lin.first().copied() else { return false };
    if !func.lvars[result].ty.is_float() {
        return false;
    }
    let data = LinVarData { name: "fault_a'".into(), ..func.lvars[result].clone() };
    let a = func.lvars.push(data);
    let like = block.stmts[k].clone();
    block.stmts[k].lin[0] = a;
    block.stmts.insert(k + 1, linear_stmt(&like, vec![result], Rhs::LNeg(a)));
    true
}

/// A `while` ends behind its first iteration.
pub fn one_round_only(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Scan(scan) = &mut block.stmts[k].rhs else { return false };
    if scan.dir != Dir::While {
        return false;
    }
    scan.body.nl[0] = Atom::Lit(Literal::Bool(false));
    true
}

/// A loop with carries has one iteration.
pub fn one_iteration(_: &mut Function, block: &mut Block, k: usize) -> bool {
    match &mut block.stmts[k].rhs {
        Rhs::Scan(scan) if scan.dir != Dir::Par && scan.lin_carry.len() + scan.carry.len() > 0 => {
            scan.bound = Atom::Lit(Literal::I64(1));
            true
        }
        _ => false,
    }
}
