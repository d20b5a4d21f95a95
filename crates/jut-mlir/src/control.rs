//! Loops, branches, calls, checks.
//!
//! Where nothing can fail: `scf.for`, `scf.parallel`, `scf.if`. Where something can, a status is
//! carried along, and what comes after a failure is left out by `cf.cond_br`:
//!
//! ```text
//! for up (i in 0 .. n) {         %1, %2 = scf.while (%3 = %c0, %4 = %ok) .. {   // goes on while %4 is ok
//!   check j < m                  } do {
//!   ..                           ^body(%i: index, %5: i32):
//! }                                %6 = scf.execute_region -> (i32) {
//!                                    cf.cond_br %below, ^ok1, ^failed1
//!                                  ^ok1:
//!                                    ..
//!                                    scf.yield %ok : i32
//!                                  ^failed1:
//!                                    %7 = func.call @jut.fail(..)
//!                                    cf.br ^end2(%7 : i32)
//!                                  ^end2(%8: i32):
//!                                    scf.yield %8 : i32
//!                                  } ..
//! ```
//!
//! The text grows by a constant per statement that can fail: nothing is nested for it.

use crate::function::{
    Constant, Emitter, Operand, Region, Result, Signature, Width, function_type,
};
use crate::prelude::{Cells, Helper};
use jut_ir::RuntimeErrorKind;
use jut_ir::ir::Literal;
use jut_loop::form::{Atom, Block, Cell, Check, For, LoopFuncId, Order, Site, Value};
use jut_loop::kernel::Kernel;

/// A loop with a step, carrying values.
pub(crate) struct Counted {
    pub low: Operand,
    pub high: Operand,
    pub step: i64,
    /// How the index is compared with the bound, if the loop can fail.
    pub predicate: &'static str,
    pub index: Operand,
    /// Name in the body, type, initial value.
    pub carried: Vec<(Operand, &'static str, Operand)>,
    pub fails: bool,
    /// Whether the first of what it carries says before every iteration if there is one.
    pub early: bool,
}

/// `a, b : f64, index` as the operands of an operation that ends a block.
fn with_types(operands: &[Operand], types: &[&str]) -> String {
    match operands {
        [] => String::new(),
        _ => format!(" {} : {}", operands.join(", "), types.join(", ")),
    }
}

/// `a, b = ` or nothing.
fn pattern(names: &[Operand]) -> String {
    if names.is_empty() { String::new() } else { format!("{} = ", names.join(", ")) }
}

impl Emitter<'_> {
    pub(crate) fn function_body(&mut self, signature: &Signature) -> Result<()> {
        let types = signature.result_types();
        if !signature.fact.fails {
            let results = self.block(&self.source.body)?;
            self.line(format_args!("return{}", with_types(&results, &types)));
            return Ok(());
        }
        self.region("return", types[1..].to_vec(), &mut |this| this.block(&this.source.body))
    }

    /// Writes a region that can be left in the middle: its statements, and how it ends.
    fn region(
        &mut self,
        end: &'static str,
        types: Vec<&'static str>,
        body: &mut dyn FnMut(&mut Self) -> Result<Vec<Operand>>,
    ) -> Result<()> {
        let number = self.number();
        self.regions.push(Region { types, end, number, pending: Vec::new(), left: false });
        let results = body(self);
        let Some(region) = self.regions.pop() else {
            return Err("a region ends that did not begin".to_owned());
        };
        let mut results = results?;
        if results.len() != region.types.len() {
            return Err("a block gives another number of results".to_owned());
        }
        let types: Vec<&str> = std::iter::once("i32").chain(region.types).collect();
        let ok = self.constant(Constant::I32(0));
        results.insert(0, ok);
        self.line(format_args!("{end}{}", with_types(&results, &types)));
        let left = region.left || !region.pending.is_empty();
        for (label, site, operands) in region.pending {
            self.label(format_args!("^failed{label}"));
            let status = self.fail(site, operands)?;
            self.line(format_args!("cf.br ^end{number}({status} : i32)"));
        }
        if left {
            let status = self.temporary();
            self.label(format_args!("^end{number}({status}: i32)"));
            let mut results = vec![status];
            for ty in types.iter().skip(1) {
                results.push(self.nothing(ty));
            }
            self.line(format_args!("{}{}", region.end, with_types(&results, &types)));
        }
        Ok(())
    }

    /// A value of a type, for a result that nobody reads.
    fn nothing(&mut self, ty: &str) -> Operand {
        let cells = match ty {
            "f64" => return self.float(0.0, Width::One),
            "vector<8xf64>" => return self.float(0.0, Width::Eight),
            "f32" => return self.constant(Constant::F32(0)),
            "i32" => return self.constant(Constant::I32(0)),
            "index" => return self.int(0),
            "i1" => return self.constant(Constant::Bool(false, Width::One)),
            "!f64s" => Cells::F64,
            "!f32s" => Cells::F32,
            "!i32s" => Cells::I32,
            "!bools" => Cells::Bool,
            _ => Cells::I64,
        };
        let helper = self.prelude.helper(Helper::View(cells));
        let zero = self.int(0);
        self.define(format_args!("func.call @{helper}({zero}, {zero}) : (index, index) -> {ty}"))
    }

    /// Writes down an error; gives the status.
    fn fail(&mut self, site: Site, operands: Vec<Operand>) -> Result<Operand> {
        let (kind, _) = self.program.sites.get(site).ok_or("a failing place is not listed")?;
        let kind: RuntimeErrorKind = *kind;
        let mut args = vec![
            "%workspace".into(),
            self.int(i64::from(site.as_u32())),
            self.constant(Constant::I32(kind as i32)),
        ];
        args.extend(operands);
        while args.len() < 6 {
            args.push(self.int(0));
        }
        let helper = self.prelude.helper(Helper::Fail);
        Ok(self.define(format_args!(
            "func.call @{helper}({}) : (!workspace, index, i32, index, index, index) -> i32",
            args.join(", ")
        )))
    }

    /// Goes on only if something holds; else fails at the site.
    pub(crate) fn guard(
        &mut self,
        holds: &Operand,
        site: Site,
        operands: Vec<Operand>,
    ) -> Result<()> {
        let label = self.number();
        let region = self.regions.last_mut().ok_or("a check stands where nothing can fail")?;
        region.pending.push((label, site, operands));
        self.line(format_args!("cf.cond_br {holds}, ^ok{label}, ^failed{label}"));
        self.label(format_args!("^ok{label}"));
        Ok(())
    }

    /// Goes on only if a status is 0; else it is the status of the region.
    fn guard_status(&mut self, status: &Operand) -> Result<()> {
        let label = self.number();
        let region = self.regions.last_mut().ok_or("a status stands where nothing can fail")?;
        region.left = true;
        let end = region.number;
        let ok = self.constant(Constant::I32(0));
        let fine = self.define(format_args!("arith.cmpi eq, {status}, {ok} : i32"));
        self.line(format_args!("cf.cond_br {fine}, ^ok{label}, ^end{end}({status} : i32)"));
        self.label(format_args!("^ok{label}"));
        Ok(())
    }

    /// Writes a body that can fail as an operation with a status and results.
    fn failing(
        &mut self,
        types: &[&'static str],
        body: &mut dyn FnMut(&mut Self) -> Result<Vec<Operand>>,
    ) -> Result<Vec<Operand>> {
        let names: Vec<Operand> = (0..=types.len()).map(|_| self.temporary()).collect();
        let all: Vec<&str> = std::iter::once("i32").chain(types.iter().copied()).collect();
        self.open(format_args!("{}scf.execute_region -> ({}) {{", pattern(&names), all.join(", ")));
        self.region("scf.yield", types.to_vec(), body)?;
        self.close("}");
        Ok(names)
    }

    /// Writes a loop; `dst` names its final values.
    pub(crate) fn counted(
        &mut self,
        dst: &[Operand],
        counted: &Counted,
        body: &mut dyn FnMut(&mut Self) -> Result<Vec<Operand>>,
    ) -> Result<()> {
        let Counted { low, high, index, carried, .. } = counted;
        if carried.len() != dst.len() {
            return Err("a loop carries another number of values".to_owned());
        }
        let types: Vec<&'static str> = carried.iter().map(|(_, ty, _)| *ty).collect();
        let step = self.int(counted.step);
        if counted.fails || counted.early {
            return self.open_loop(dst, counted, &types, &step, body);
        }
        let mut head = format!("{}scf.for {index} = {low} to {high} step {step}", pattern(dst));
        if !carried.is_empty() {
            let carries: Vec<String> =
                carried.iter().map(|(name, _, first)| format!("{name} = {first}")).collect();
            let (carries, types) = (carries.join(", "), types.join(", "));
            head.push_str(&format!(" iter_args({carries}) -> ({types})"));
        }
        self.open(format_args!("{head} {{"));
        let next = body(self)?;
        if next.len() != carried.len() {
            return Err("a loop carries another number of values".to_owned());
        }
        if !next.is_empty() {
            self.line(format_args!("scf.yield{}", with_types(&next, &types)));
        }
        self.close("}");
        Ok(())
    }

    /// Writes a loop that goes on while its status is 0, if it can fail, and while the first of what it carries is true, if it
    /// may end early.
    fn open_loop(
        &mut self,
        dst: &[Operand],
        counted: &Counted,
        types: &[&'static str],
        step: &Operand,
        body: &mut dyn FnMut(&mut Self) -> Result<Vec<Operand>>,
    ) -> Result<()> {
        let Counted { low, high, index, carried, predicate, fails, early, .. } = counted;
        let status = fails.then(|| (self.constant(Constant::I32(0)), self.temporary()));
        let mut results = vec![self.temporary()];
        results.extend(status.iter().map(|(_, status)| status.clone()));
        results.extend_from_slice(dst);
        let before: Vec<Operand> = results.iter().map(|_| self.temporary()).collect();
        let firsts = std::iter::once(low).chain(status.iter().map(|(ok, _)| ok));
        let firsts = firsts.chain(carried.iter().map(|(_, _, first)| first));
        let pairs: Vec<String> =
            before.iter().zip(firsts).map(|(name, first)| format!("{name} = {first}")).collect();
        let all = std::iter::once("index").chain(status.iter().map(|_| "i32"));
        let all: Vec<&str> = all.chain(types.iter().copied()).collect();
        let (pairs, list, left) = (pairs.join(", "), all.join(", "), pattern(&results));
        self.open(format_args!("{left}scf.while ({pairs}) : ({list}) -> ({list}) {{"));
        let mut go =
            self.define(format_args!("arith.cmpi {predicate}, {}, {high} : index", before[0]));
        if let Some((ok, _)) = &status {
            let fine = self.define(format_args!("arith.cmpi eq, {}, {ok} : i32", before[1]));
            go = self.define(format_args!("arith.andi {go}, {fine} : i1"));
        }
        if *early {
            let first = before.get(1 + usize::from(*fails));
            let first = first.ok_or("a loop that may end early carries nothing")?;
            go = self.define(format_args!("arith.andi {go}, {first} : i1"));
        }
        self.line(format_args!("scf.condition({go}){}", with_types(&before, &all)));
        self.close("} do {");
        self.inside();
        let mut params = vec![format!("{index}: index")];
        if *fails {
            params.push(format!("{}: i32", self.temporary()));
        }
        params.extend(carried.iter().map(|(name, ty, _)| format!("{name}: {ty}")));
        let block = match &status {
            Some((_, status)) => status.trim_start_matches('%').to_owned(),
            None => self.number().to_string(),
        };
        self.label(format_args!("^body{block}({})", params.join(", ")));
        let mut next = if *fails { self.failing(types, body)? } else { body(self)? };
        let following = self.define(format_args!("arith.addi {index}, {step} : index"));
        next.insert(0, following);
        if next.len() != all.len() {
            return Err("a loop carries another number of values".to_owned());
        }
        self.line(format_args!("scf.yield{}", with_types(&next, &all)));
        self.close("}");
        status.map_or(Ok(()), |(_, status)| self.guard_status(&status))
    }

    pub(crate) fn for_loop(&mut self, source: &For, fails: bool) -> Result<()> {
        let [low, high] = [self.atom(source.low)?, self.atom(source.high)?];
        let mut carried = Vec::with_capacity(source.carry.len());
        for (value, atom) in &source.carry {
            let first = self.atom(*atom)?;
            carried.push((self.bind(*value), self.type_of(*value), first));
        }
        let index = self.bind(source.index);
        if source.order == Order::Par && !fails {
            if !carried.is_empty() {
                return Err("a loop in any order carries values".to_owned());
            }
            let one = self.int(1);
            self.open(format_args!("scf.parallel ({index}) = ({low}) to ({high}) step ({one}) {{"));
            self.block(&source.body)?;
            self.line("scf.reduce");
            self.close("}");
            return Ok(());
        }
        let dst: Vec<Operand> = self.bind_all(&source.dst);
        let down = source.order == Order::Down;
        // Downwards: the last index less how far the loop has come.
        let turned = match down {
            true => {
                let one = self.int(1);
                let sum = self.define(format_args!("arith.addi {low}, {high} : index"));
                let turn = self.define(format_args!("arith.subi {sum}, {one} : index"));
                Some((turn, self.temporary()))
            }
            false => None,
        };
        let counter = turned.as_ref().map_or(&index, |(_, counter)| counter).clone();
        let (early, predicate) = (source.may_end_early(), "slt");
        let counted =
            Counted { low, high, step: 1, predicate, index: counter, carried, fails, early };
        self.counted(&dst, &counted, &mut |this| {
            if let Some((turn, counter)) = &turned {
                this.line(format_args!("{index} = arith.subi {turn}, {counter} : index"));
            }
            this.block(&source.body)
        })
    }

    pub(crate) fn branch(
        &mut self,
        dst: &[Value],
        cond: Atom,
        sides: [&Block; 2],
        fails: bool,
    ) -> Result<()> {
        let cond = self.atom(cond)?;
        let types: Vec<&'static str> = dst.iter().map(|value| self.type_of(*value)).collect();
        let mut names = self.bind_all(dst);
        let mut all = types.clone();
        if fails {
            names.insert(0, self.temporary());
            all.insert(0, "i32");
        }
        let arrow =
            if all.is_empty() { String::new() } else { format!(" -> ({})", all.join(", ")) };
        self.open(format_args!("{}scf.if {cond}{arrow} {{", pattern(&names)));
        for (k, block) in sides.into_iter().enumerate() {
            if k == 1 {
                if block.stmts.is_empty() && all.is_empty() {
                    break;
                }
                self.close("} else {");
                self.inside();
            }
            let results = match (fails, self.facts.block_fails(block)) {
                (true, true) => self.failing(&types, &mut |this| this.block(block))?,
                (true, false) => {
                    let ok = self.constant(Constant::I32(0));
                    let mut results = self.block(block)?;
                    results.insert(0, ok);
                    results
                }
                (false, _) => self.block(block)?,
            };
            if results.len() != all.len() {
                return Err("a branch gives another number of results".to_owned());
            }
            if !all.is_empty() {
                self.line(format_args!("scf.yield{}", with_types(&results, &all)));
            }
        }
        self.close("}");
        match names.first() {
            Some(status) if fails => self.guard_status(&status.clone()),
            _ => Ok(()),
        }
    }

    pub(crate) fn call(&mut self, dst: &[Value], func: LoopFuncId, args: &[Atom]) -> Result<()> {
        let callee = self.program.funcs.get(func).ok_or("a function is called that is missing")?;
        let signature = Signature::of(callee, self.facts.functions[func]);
        if signature.results.len() != dst.len() || signature.params.len() != args.len() {
            return Err("a call has another number of arguments or results".to_owned());
        }
        let mut given = self.atoms(args)?;
        if signature.fact.workspace {
            given.insert(0, "%workspace".into());
        }
        let mut names = self.bind_all(dst);
        if signature.fact.fails {
            names.insert(0, self.temporary());
        }
        let name = &self.function_names[func];
        let text = format!(
            "{}func.call @{name}({}) : {}",
            pattern(&names),
            given.join(", "),
            function_type(&signature)
        );
        self.line(text);
        match names.first() {
            Some(status) if signature.fact.fails => self.guard_status(&status.clone()),
            _ => Ok(()),
        }
    }

    /// Calls a kernel of the runtime, which takes addresses.
    pub(crate) fn kernel(&mut self, kernel: Kernel, args: &[Atom]) -> Result<()> {
        let row = kernel.row();
        if row.params.len() != args.len() {
            return Err(format!("the kernel `{}` has {} arguments", row.name, args.len()));
        }
        let mut given = Vec::with_capacity(args.len());
        for atom in args {
            given.push(self.stored(Cell::Buffer, *atom)?);
        }
        let types = vec!["index"; given.len()].join(", ");
        self.prelude.kernel(row.symbol, given.len());
        self.line(format_args!(
            "func.call @{}({}) : ({types}) -> ()",
            row.symbol,
            given.join(", ")
        ));
        Ok(())
    }

    /// Fails if the call is cancelled.
    pub(crate) fn poll(&mut self, site: Site) -> Result<()> {
        let helper = self.prelude.helper(Helper::GoesOn);
        let goes_on =
            self.define(format_args!("func.call @{helper}(%workspace) : (!workspace) -> i1"));
        self.guard(&goes_on, site, Vec::new())
    }

    pub(crate) fn check(&mut self, check: Check, site: Site) -> Result<()> {
        let zero = self.int(0);
        let (holds, operands) = match check {
            Check::Below(i, n) => {
                let known = matches!(n, Atom::Lit(Literal::I64(0..)));
                let (i, n) = (self.atom(i)?, self.atom(n)?);
                let holds = if known {
                    self.define(format_args!("arith.cmpi ult, {i}, {n} : index"))
                } else {
                    let less = self.define(format_args!("arith.cmpi slt, {i}, {n} : index"));
                    let start = self.define(format_args!("arith.cmpi sge, {i}, {zero} : index"));
                    self.define(format_args!("arith.andi {less}, {start} : i1"))
                };
                (holds, vec![i, n])
            }
            Check::Within(low, len, n) => {
                let [low, len, n] = [self.atom(low)?, self.atom(len)?, self.atom(n)?];
                let either = self.define(format_args!("arith.ori {low}, {len} : index"));
                let any = self.define(format_args!("arith.ori {either}, {n} : index"));
                let signs = self.define(format_args!("arith.cmpi sge, {any}, {zero} : index"));
                // Neither is negative, so the unsigned sum is exact.
                let end = self.define(format_args!("arith.addi {low}, {len} : index"));
                let fits = self.define(format_args!("arith.cmpi ule, {end}, {n} : index"));
                let holds = self.define(format_args!("arith.andi {signs}, {fits} : i1"));
                (holds, vec![low, len, n])
            }
            Check::NonNegative(n) => {
                let n = self.atom(n)?;
                (self.define(format_args!("arith.cmpi sge, {n}, {zero} : index")), vec![n])
            }
            Check::Equal(a, b) => {
                let (a, b) = (self.atom(a)?, self.atom(b)?);
                (self.define(format_args!("arith.cmpi eq, {a}, {b} : index")), vec![a, b])
            }
            Check::NonZero(a) => {
                let a = self.atom(a)?;
                (self.define(format_args!("arith.cmpi ne, {a}, {zero} : index")), vec![])
            }
        };
        self.guard(&holds, site, operands)
    }
}
