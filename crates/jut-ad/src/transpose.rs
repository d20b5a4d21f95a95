//! T: transposition (Fig. 11 of the paper, extended to loops, branches and capabilities).
//!
//! A linear function of Linear B is, for fixed non-linear arguments, a matrix; T writes down the
//! transposed one. Each linear name `x'` has a cotangent `x''` of the same type. Where the
//! function *binds* `x'`, its transpose *consumes* `x''`; where the function uses `x'` up, the
//! transpose binds `x''`. So the linear statements of a block come out in reverse order, each
//! turned round, after the non-linear statements, which stay as they are (TLetNonlin):
//!
//! | from | to | from | to |
//! |---|---|---|---|
//! | `z' = x' + y'` | `(; x'', y'') = dup z''` | `(; a', b') = dup x'` | `x'' = a'' + b''` |
//! | `z' = zero t` | `drop z''` | `drop x'` | `x'' = zero t` |
//! | `y' = c * x'`, `-x'` | `x'' = c * y''`, `-y''` | `y' = cast x' : t` | `x'' = cast y'' : old type` |
//! | `t' = #(a', b')` | `#(a'', b'') = t''` | `#(a', b') = t'` | `t'' = #(a'', b'')` |
//! | `a' = rd p` | `p += a''` | `p += a'` | `a'' = rd p` |
//! | `rd r = x' { .. }` | `x'' = wr r: t { .. }` | `x' = wr r: t { .. }` | `rd r = x'' { .. }` |
//! | `scan up` | `scan down` | final carries, stacked results | initial carries, slices |
//! | `case` | the same `case`, arm by arm | `g.lin(v; x'; p)` | `g.linT(v; y''; p)` |
//! | `y' = x' with [i] = v'` | `(; x'', v'') = take y''[i]` | `(; y', v') = take x'[i]` | `x'' = y'' with [i] = v''` |
//! | `y' = matmul(a, x')` | `x'' = matmul_tn(a, y'')`, by the table of structured primitives | | |
//! | `z' = select(b, x', y')` | `case b`: `z''` to one side, zero to the other | | |
//!
//! A region, a loop and an arm return the cotangents of the linear names that they took from
//! outside, in the order of first use. A scalar region that is read in parallel loops and branches in them, and
//! perhaps beside them, becomes `wr lanes`, so that its sum has a fixed order that vector units can
//! follow.
//!
//! For example `g(c: f64; x': f64, y': f64) = { a' = c * x'; z' = a' + y'; (; z') }` becomes
//! `g.T(c: f64; z'': f64) = { (; a'', y'') = dup z''; x'' = c * a''; (; x'', y'') }`.
//!
//! *Requires*: a checked function with linear results only, every statement of which is linear or
//! non-linear (what U makes; a user's function without mixed statements). *Ensures*: linear
//! parameters and results change places, `rd` and `wr` too; the transpose law `<T e(y), x> =
//! <y, e(x)>`; `W[T e] + in <= W[e] + out` (Theorem 7.1); T of T is the function again, up to
//! names and order. *Cost*: linear in the text of the result.

use crate::linearity::{self, BlockInfo, StmtInfo};
use crate::relocate::{Relocator, Substitution};
use crate::{Derivatives, Fragment};
use jut_ir::build::Namer;
use jut_ir::calls::components;
use jut_ir::entity::SecondaryMap;
use jut_ir::structured::{self, Param};
use jut_ir::visit::Use;
use jut_ir::*;

/// Transposes a linear function and all linear functions that it calls.
///
/// # Errors
/// `J801` for a function that is not linear, or mixes both kinds of results in one statement.
pub fn transpose(derivatives: &mut Derivatives, func: FuncId) -> Result<FuncId, Diagnostic> {
    let known = |f: FuncId| derivatives.transposed.contains_key(&f);
    let program = &derivatives.program;
    let skip = |f: FuncId| known(f) || program.funcs[f].is_nonlinear();
    for component in components(program, (!known(func)).then_some(func), &skip) {
        let members = component.members;
        if let Some(other) =
            members.iter().find(|f| !Fragment::Linear.holds(&derivatives.program.funcs[**f]))
        {
            return Err(not_linear(&derivatives.program.funcs[*other]));
        }
        if component.is_recursive {
            for f in &members {
                let name = names::transpose(&derivatives.program.funcs[*f].name);
                let made = derivatives.reserve(&name);
                derivatives.transposed.insert(*f, made);
            }
        }
        for f in &members {
            let source = derivatives.take(*f)?;
            let made = transpose_one(derivatives, source).inspect_err(|_| {
                derivatives.transposed.retain(|f, _| !members.contains(f));
            })?;
            let made = match derivatives.transposed.get(f) {
                Some(id) => derivatives.complete(*id, made),
                None => derivatives.add_func(made),
            };
            derivatives.transposed.insert(*f, made);
        }
    }
    let made = derivatives.transposed.get(&func).copied();
    made.ok_or_else(|| not_linear(&derivatives.program.funcs[func]))
}

fn not_linear(func: &Function) -> Diagnostic {
    Diagnostic::error(
        "J801",
        func.span,
        format!("`{}` has no transpose: it is not linear", func.name),
    )
    .help("only functions with linear results alone are transposed; unzip first")
}

fn transpose_one(derivatives: &Derivatives, mut func: Function) -> Result<Function, Diagnostic> {
    let info = linearity::of_body(&derivatives.program, &func);
    let body = std::mem::take(&mut func.body);
    let mut cap_uses = SecondaryMap::new();
    body.for_each_use(&func, &mut |name| {
        if let Use::C(cap) = name {
            cap_uses[cap] += 1;
        }
    });
    for cap in func.caps.values_mut() {
        cap.mode = match cap.mode {
            Mode::Rd => Mode::Wr,
            Mode::Wr => Mode::Rd,
            // Non-linear code keeps its accumulators.
            Mode::Acc => continue,
        };
        cap.lanes = false;
    }
    let mut pass = Transposer { derivatives, func, cap_uses, cotangents: SecondaryMap::new() };
    let results = body.lin.clone();
    let inputs = pass.func.lin_params.clone();
    let cotangents: Vec<LVar> = results.iter().map(|x| pass.bind(*x)).collect();
    let body = pass.block(body, info, &inputs)?;

    let func = pass.func;
    let (subst, namer) = (Substitution::default(), Namer::of(&func));
    let mut new = Relocator::new(&func, &subst, &namer, names::transpose(&func.name));
    new.params(&func.params, &cotangents, &func.cap_params);
    new.body(body);
    for x in &inputs {
        let ty = new.ty(&func.lvars[*x].ty);
        new.to.lin_results.push(LinResultDecl { name: None, ty });
    }
    Ok(new.to)
}

struct Transposer<'a> {
    derivatives: &'a Derivatives,
    /// The function, its linear variables growing by their cotangents.
    func: Function,
    /// How often each capability occurs.
    cap_uses: SecondaryMap<Cap, u32>,
    /// The cotangent of a linear name, from where it is bound (where the name was used up).
    cotangents: SecondaryMap<LVar, Option<LVar>>,
}

impl Transposer<'_> {
    /// A new variable for the cotangent of `x`.
    fn bind(&mut self, x: LVar) -> LVar {
        let mut data = self.func.lvars[x].clone();
        data.name.push('\'');
        let cotangent = self.func.lvars.push(data);
        self.cotangents[x] = Some(cotangent);
        cotangent
    }

    fn bind_all(&mut self, names: &[LVar]) -> Vec<LVar> {
        names.iter().map(|x| self.bind(*x)).collect()
    }

    /// The cotangent of `x`.
    fn of(&self, x: LVar) -> Result<LVar, Diagnostic> {
        self.cotangents[x].ok_or_else(|| {
            let data = &self.func.lvars[x];
            Diagnostic::error("J105", data.span, format!("`{}` is never used", data.name))
                .help(format!("say `drop {}`", data.name))
        })
    }

    fn all_of(&self, names: &[LVar]) -> Result<Vec<LVar>, Diagnostic> {
        names.iter().map(|x| self.of(*x)).collect()
    }

    /// The block that takes the cotangents of `block`'s linear results, already bound, and returns
    /// those of `inputs`.
    fn block(
        &mut self,
        block: Block,
        info: BlockInfo,
        inputs: &[LVar],
    ) -> Result<Block, Diagnostic> {
        let mut nested = info.nested.into_iter();
        let mut out = Vec::with_capacity(block.stmts.len());
        let mut linear = Vec::new();
        for stmt in block.stmts {
            let info = match stmt.rhs.blocks().is_empty() {
                true => StmtInfo {
                    linear: linearity::is_linear_leaf(&self.derivatives.program, &self.func, &stmt),
                    blocks: Vec::new(),
                },
                false => nested.next().ok_or_else(|| linearity::unknown(stmt.loc.span))?,
            };
            match info.linear {
                true => linear.push((stmt, info)),
                false => out.push(stmt),
            }
        }
        for (stmt, info) in linear.into_iter().rev() {
            let loc = stmt.loc.by(Origin::Transpose);
            if let Some((lin, rhs)) = self.stmt(stmt, info)? {
                out.push(Stmt { nl: Vec::new(), lin, rhs, annotated: false, loc });
            }
        }
        Ok(Block { stmts: out, nl: Vec::new(), lin: self.all_of(inputs)? })
    }

    /// A linear statement turned round: what it binds, and the operation. A copy leaves nothing.
    fn stmt(&mut self, stmt: Stmt, info: StmtInfo) -> Result<Option<(Vec<LVar>, Rhs)>, Diagnostic> {
        if !stmt.nl.is_empty() {
            let message = "this statement has both non-linear and linear results";
            return Err(Diagnostic::error("J801", stmt.loc.span, message).help(
                "only functions whose statements are all of one kind are transposed; unzip first",
            ));
        }
        let results = self.all_of(&stmt.lin)?;
        // Most linear operations have exactly one result.
        let result = || results.first().copied().ok_or_else(|| not_linear(&self.func));
        Ok(Some(match stmt.rhs {
            Rhs::LCopy(x) => {
                self.cotangents[x] = Some(result()?);
                return Ok(None);
            }
            Rhs::LAdd(x, y) => {
                let result = result()?;
                (vec![self.bind(x), self.bind(y)], Rhs::Dup(result))
            }
            Rhs::LNeg(x) => {
                let result = result()?;
                (vec![self.bind(x)], Rhs::LNeg(result))
            }
            Rhs::LScale(c, x) => {
                let result = result()?;
                (vec![self.bind(x)], Rhs::LScale(c, result))
            }
            Rhs::LApply { op, operand, args, x, .. } => {
                let result = result()?;
                let Some(transpose) = op.transpose(operand) else {
                    return Err(not_linear(&self.func));
                };
                let structured::Transpose { op, operand } = transpose;
                let sizes = self.sizes_of(op, x);
                (vec![self.bind(x)], Rhs::LApply { op, operand, args, sizes, x: result })
            }
            Rhs::LSelect(b, x, y) => {
                let result = result()?;
                self.select(b, x, y, result, stmt.loc.by(Origin::Transpose))
            }
            Rhs::LZero(_) => (Vec::new(), Rhs::Drop(result()?)),
            Rhs::Drop(x) => {
                let ty = self.func.lvars[x].ty.clone();
                (vec![self.bind(x)], Rhs::LZero(ty))
            }
            Rhs::Dup(x) => match results[..] {
                [a, b] => (vec![self.bind(x)], Rhs::LAdd(a, b)),
                _ => return Err(not_linear(&self.func)),
            },
            Rhs::LTuple(items) => {
                let result = result()?;
                (self.bind_all(&items), Rhs::LUntuple(result))
            }
            Rhs::LUntuple(x) => (vec![self.bind(x)], Rhs::LTuple(results)),
            Rhs::LCon { con, sizes, fields } => {
                let value = result()?;
                (self.bind_all(&fields), Rhs::LOpen { con, sizes, value })
            }
            Rhs::LOpen { con, sizes, value } => {
                (vec![self.bind(value)], Rhs::LCon { con, sizes, fields: results })
            }
            Rhs::LCast { value, proved, .. } => {
                let ty = self.func.lvars[value].ty.clone();
                let result = result()?;
                (vec![self.bind(value)], Rhs::LCast { value: result, ty, proved })
            }
            Rhs::LUpdate { x, path, value } => {
                let result = result()?;
                (vec![self.bind(x), self.bind(value)], Rhs::LTake { x: result, path })
            }
            Rhs::LTake { x, path } => match results[..] {
                [rest, part] => (vec![self.bind(x)], Rhs::LUpdate { x: rest, path, value: part }),
                _ => return Err(not_linear(&self.func)),
            },
            Rhs::Rd(place) => (Vec::new(), Rhs::Inc(place, Operand::L(result()?))),
            Rhs::Inc(place, Operand::L(x)) => (vec![self.bind(x)], Rhs::Rd(place)),
            Rhs::Region(region) => self.region(*region, results, info)?,
            Rhs::Scan(scan) => self.scan(*scan, &results, info)?,
            Rhs::Case(case) => self.case(*case, &results, info)?,
            Rhs::Call(call) => {
                let Some(func) = self.derivatives.transposed.get(&call.func) else {
                    return Err(not_linear(&self.derivatives.program.funcs[call.func]));
                };
                let inputs = self.bind_all(&call.lin_args);
                (inputs, Rhs::Call(Box::new(Call { func: *func, lin_args: results, ..*call })))
            }
            _ => return Err(not_linear(&self.func)),
        }))
    }

    /// The sizes that the transpose of a structured operation takes: those of its linear operand `x`,
    /// which is the result of the transpose.
    fn sizes_of(&self, transpose: Structured, x: LVar) -> Vec<Size> {
        let row = transpose.row();
        let mut dims = Vec::new();
        let mut ty = &self.func.lvars[x].ty;
        while let Type::Array(size, element) = ty {
            dims.push(size.clone());
            ty = element;
        }
        let size = |name: &char| row.result.chars().zip(&dims).find(|(n, _)| n == name);
        let sizes = row.params.iter().filter_map(|param| match param {
            Param::Size(name) => size(name).map(|(_, size)| size.clone()),
            Param::Array(_) => None,
        });
        sizes.collect()
    }

    /// What a body returns has the cotangents of what the statement binds.
    fn results_are(&mut self, inside: &[LVar], cotangents: &[LVar]) {
        for (x, cotangent) in inside.iter().zip(cotangents) {
            self.cotangents[*x] = Some(*cotangent);
        }
    }

    /// A region's body, and what its transpose binds outside: the cotangents of the names that it
    /// took from outside.
    fn nested(&mut self, body: Block, info: StmtInfo) -> Result<(Vec<LVar>, Block), Diagnostic> {
        let info = info.into_only(self.func.span)?;
        let free = info.free.clone();
        let body = self.block(body, info, &free)?;
        Ok((self.bind_all(&free), body))
    }

    /// `rd` and `wr` are exchanged, and so are start and end.
    fn region(
        &mut self,
        region: Region,
        mut results: Vec<LVar>,
        info: StmtInfo,
    ) -> Result<(Vec<LVar>, Rhs), Diagnostic> {
        let Region { mode, cap, start, end, body } = region;
        let mode = match mode {
            Mode::Rd => Mode::Wr,
            Mode::Wr => Mode::Rd,
            Mode::Acc => return Err(not_linear(&self.func)),
        };
        if mode == Mode::Wr && !end {
            self.func.caps[cap].lanes = self.by_lanes(cap, &body);
        }
        let new_start = if end { results.pop() } else { None };
        self.results_are(&body.lin, &results);
        let (mut outside, body) = self.nested(body, info)?;
        let new_end = match start {
            Some(Operand::L(x)) => {
                outside.push(self.bind(x));
                true
            }
            Some(Operand::N(_)) => return Err(not_linear(&self.func)),
            None => false,
        };
        let start = new_start.map(Operand::L);
        let region = Region { mode, cap, start, end: new_end, body };
        Ok((outside, Rhs::Region(Box::new(region))))
    }

    fn scan(
        &mut self,
        scan: Scan,
        results: &[LVar],
        info: StmtInfo,
    ) -> Result<(Vec<LVar>, Rhs), Diagnostic> {
        let dir = scan.dir.reversed().filter(|_| scan.carry.is_empty());
        let Some(dir) = dir.filter(|_| results.len() == scan.body.lin.len()) else {
            return Err(not_linear(&self.func));
        };
        let carries = scan.lin_carry.len();
        let inside = self.bind_all(&scan.body.lin);
        let mut pairs = inside.into_iter().zip(results.iter().copied());
        let lin_carry = pairs.by_ref().take(carries).collect();
        let lin_slices = pairs.collect();
        let inputs = scan.lin_carry.iter().chain(&scan.lin_slices);
        let (inputs, outside): (Vec<LVar>, Vec<LVar>) = inputs.copied().unzip();
        let info = info.into_only(self.func.span)?;
        let body = self.block(scan.body, info, &inputs)?;
        let scan = Scan { dir, lin_carry, lin_slices, body, ..scan };
        Ok((self.bind_all(&outside), Rhs::Scan(Box::new(scan))))
    }

    fn case(
        &mut self,
        case: Case,
        results: &[LVar],
        info: StmtInfo,
    ) -> Result<(Vec<LVar>, Rhs), Diagnostic> {
        // All arms use the same names; each returns their cotangents in the order of the first.
        if info.blocks.len() != case.arms.len() {
            return Err(linearity::unknown(self.func.span));
        }
        let free = info.only(self.func.span)?.free.clone();
        let mut arms = Vec::with_capacity(case.arms.len());
        for (arm, info) in case.arms.into_iter().zip(info.blocks) {
            self.results_are(&arm.body.lin, results);
            let body = self.block(arm.body, info, &free)?;
            arms.push(Arm { body, ..arm });
        }
        let scrutinee = case.scrutinee;
        Ok((self.bind_all(&free), Rhs::Case(Box::new(Case { scrutinee, arms }))))
    }

    /// `z' = select(b, x', y')`: the cotangent of z is that of x or of y, the other one's is zero.
    /// As a branch this costs nothing, as the law `W[T e] + in <= W[e] + out` wants it.
    fn select(&mut self, b: Atom, x: LVar, y: LVar, result: LVar, loc: Loc) -> (Vec<LVar>, Rhs) {
        let arm = |pass: &mut Self, value: bool| {
            let none = if value { y } else { x };
            let ty = pass.func.lvars[none].ty.clone();
            let zero = pass.bind(none);
            let lin = if value { vec![result, zero] } else { vec![zero, result] };
            let stmt = Stmt {
                nl: Vec::new(),
                lin: vec![zero],
                rhs: Rhs::LZero(ty),
                annotated: false,
                loc,
            };
            let body = Block { stmts: vec![stmt], nl: Vec::new(), lin };
            Arm::of_bool(value, body)
        };
        let arms = vec![arm(self, true), arm(self, false)];
        (vec![self.bind(x), self.bind(y)], Rhs::Case(Box::new(Case { scrutinee: b, arms })))
    }

    /// Whether additions into what was `rd cap = x' { body }` go by lanes: a scalar, all reads of
    /// which stand in the region or in parallel loops that stand in it, with nothing round them but linear regions and branches. L makes a
    /// loop one in order that adds to what is of a data type, so additions there are in order from here on.
    fn by_lanes(&self, cap: Cap, body: &Block) -> bool {
        if self.func.caps[cap].ty != Type::F64 {
            return false;
        }
        let (beside, in_loops) = reads(&self.func, body, &Rhs::Rd(Place::root(cap)));
        in_loops > 0 && in_loops + beside == self.cap_uses[cap] as usize
    }
}

/// How often a block reads a place: outside of its parallel loops, and in them. What stands in arms stands where their branch does.
fn reads(func: &Function, block: &Block, place: &Rhs) -> (usize, usize) {
    let mut found = (0, 0);
    for stmt in &block.stmts {
        let (beside, in_loops) = match &stmt.rhs {
            Rhs::Scan(scan) if scan.dir == Dir::Par && !reads_data(func, scan) => {
                (0, own_reads(&scan.body, place))
            }
            Rhs::Region(region) if region.is_linear() => reads(func, &region.body, place),
            Rhs::Case(case) => {
                let arms = case.arms.iter().map(|arm| reads(func, &arm.body, place));
                arms.fold((0, 0), |all, arm| (all.0 + arm.0, all.1 + arm.1))
            }
            rhs => (usize::from(rhs == place), 0),
        };
        found = (found.0 + beside, found.1 + in_loops);
    }
    found
}

/// How often a block and the arms of its branches read a place.
fn own_reads(block: &Block, place: &Rhs) -> usize {
    let own = block.stmts.iter().map(|stmt| match &stmt.rhs {
        Rhs::Case(case) => case.arms.iter().map(|arm| own_reads(&arm.body, place)).sum(),
        rhs => usize::from(rhs == place),
    });
    own.sum()
}

/// Whether a loop reads a place of outside that holds a value of a data type: what T adds up there, L carries.
fn reads_data(func: &Function, scan: &Scan) -> bool {
    let mut own: SecondaryMap<Cap, bool> = SecondaryMap::new();
    scan.body.for_each_binder(&mut |binder| {
        if let Use::C(cap) = binder {
            own[cap] = true;
        }
    });
    scan.cap_slices.iter().for_each(|(cap, _)| own[*cap] = true);
    let has_data = |cap: Cap| {
        let mut found = false;
        func.caps[cap].ty.for_each_data(&mut |_| found = true);
        found
    };
    let mut found = scan.cap_slices.iter().any(|(_, place)| has_data(place.root));
    scan.body.for_each_use(func, &mut |name| {
        if let Use::C(cap) = name {
            found |= !own[cap] && has_data(cap);
        }
    });
    found
}
