//! One function of the loop form as text for LLVM.
//!
//! Both are in single assignment form with structured control, so a value becomes a value: carried
//! values and results of branches become phis, nothing needs to be looked up twice.
//!
//! **Signatures.** A function takes the workspace, then its parameters (bools as one bit), then, if
//! it has many results, memory for them; it returns a status, and its results with it if they are
//! few. Status 0 is success; another status is the number of the kind of error.
//!
//! **Aliasing.** An `out` buffer is used nowhere else in a call, so it is `noalias`. Buffers that are
//! read or added to may be the same in a call between functions of the program (`f(x, x)`), so
//! nothing is said of them; a caller from outside must keep all buffers that are written apart, so
//! the last function, which no other calls, has `noalias` on every buffer.
//!
//! *Requires*: every value is assigned before it is used. *Cost*: linear; recursion follows the
//! nesting of blocks.

use crate::imports::{Imports, params_of};
use crate::text::{Body, Label, Operand, Scalar, Type, scalar};
use cranelift_entity::{EntityRef, SecondaryMap};
use jut_ir::hash::HashMap;
use jut_ir::ir::Literal;
use jut_ir::prim::{Lowering, Opcode, Prim, SIN};
use jut_loop::analysis::{Beside, Step, sine_and_cosine};
use jut_loop::form::{Atom, Block, Kind, LoopFuncId, LoopFunction, LoopProgram, Role, Stmt, Value};
use jut_loop::kernel::Kernel;
use jut_native::frame::Frame;
use jut_native::object::MathLibrary;

/// Why a function could not be translated, for the reader of [`jut_native::CompileError`].
pub(crate) type Result<T> = std::result::Result<T, String>;

/// More results than this go through memory.
const RETURNED: usize = 8;

/// A function's name in the text: its number keeps names apart.
pub(crate) fn name(prefix: &str, id: LoopFuncId, function: &LoopFunction) -> String {
    let mut name = format!("@\"{prefix}{}.", id.index());
    for byte in function.name.bytes() {
        match byte {
            b'"' | b'\\' | 0..32 | 127.. => name.push_str(&format!("\\{byte:02X}")),
            other => name.push(char::from(other)),
        }
    }
    name.push('"');
    name
}

/// The names of a program's functions.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    /// What they begin with.
    pub prefix: &'a str,
    /// The last function, which no other calls.
    pub last: LoopFuncId,
}

/// How the results of a function are returned.
pub(crate) struct Returns {
    pub types: Vec<Type>,
}

impl Returns {
    pub(crate) fn of(function: &LoopFunction) -> Returns {
        Returns { types: function.result_kinds().map(|kind| scalar(kind).one()).collect() }
    }

    /// Whether the function takes a pointer to memory for its results; result k goes to word k.
    pub(crate) fn through_memory(&self) -> bool {
        self.types.len() > RETURNED
    }

    /// The type that the function returns.
    pub(crate) fn ty(&self) -> String {
        if self.types.is_empty() || self.through_memory() {
            return "i32".to_owned();
        }
        let types: Vec<String> = self.types.iter().map(Type::to_string).collect();
        format!("{{ i32, {} }}", types.join(", "))
    }
}

/// The state of translating one function.
pub(crate) struct Translator<'a> {
    pub(crate) program: &'a LoopProgram,
    pub(crate) source: &'a LoopFunction,
    pub(crate) names: Names<'a>,
    pub(crate) imports: &'a mut Imports,
    pub(crate) body: Body,
    values: SecondaryMap<Value, Option<Operand>>,
    /// What lies on the stack.
    pub(crate) frame: Frame<Operand>,
    /// Memory for [loops in vectors](crate::nested): eight vectors, and which of them.
    pub(crate) nested: Vec<(Operand, usize)>,
    /// What loads of several iterations find that these have stored.
    pub(crate) beside: Beside,
    /// The group of the accesses in a loop whose iterations are independent.
    pub(crate) group: Option<u32>,
    /// Where the function is left with a status that is not 0.
    pub(crate) failures: Vec<(Operand, Label)>,
    /// Where values of the iteration before are.
    pub(crate) before: HashMap<Value, Operand>,
    /// The partner of the first of a sine and a cosine of one value; none for the second.
    partners: HashMap<Value, Option<Value>>,
    /// Memory for results of called functions, and how many words of it.
    called: Option<(Operand, usize)>,
    returns: Returns,
}

impl<'a> Translator<'a> {
    /// The text of a function.
    pub(crate) fn function(
        program: &'a LoopProgram,
        id: LoopFuncId,
        names: Names<'a>,
        imports: &'a mut Imports,
    ) -> Result<String> {
        let source = program.funcs.get(id).ok_or("no such function")?;
        let returns = Returns::of(source);
        let mut values = SecondaryMap::with_capacity(source.values.len());
        let mut params = vec!["ptr noalias noundef nonnull align 8 %ws".to_owned()];
        for (k, param) in source.params.iter().enumerate() {
            let (operand, ty) = (Operand::Temp(k as u32), scalar(source.values[param.value].kind));
            values[param.value] = Some(operand);
            let mut attributes = "noundef";
            if ty == Scalar::Ptr && (id == names.last || param.role == Role::Out) {
                attributes = "noalias noundef";
            }
            params.push(format!("{} {attributes} {operand}", ty.one()));
        }
        if returns.through_memory() {
            params.push("ptr noalias noundef nonnull align 8 %results".to_owned());
        }
        let head =
            format!("{} {}({})", returns.ty(), name(names.prefix, id, source), params.join(", "));
        let mut translator = Translator {
            program,
            source,
            names,
            imports,
            body: Body::new(source.params.len() as u32),
            values,
            frame: Frame::of(source),
            nested: Vec::new(),
            beside: Beside::of(source),
            group: None,
            failures: Vec::new(),
            before: HashMap::default(),
            partners: HashMap::default(),
            called: None,
            returns,
        };
        let results = translator.block(&source.body)?;
        translator.return_results(&results)?;
        translator.finish_failing();
        let body = translator.body.finish();
        // Each piece of a long function is called once, so LLVM would put all of them together again.
        let inline = if source.is_piece() { " noinline" } else { "" };
        Ok(format!("define internal {head}{inline} #0 {{\n{body}}}\n"))
    }

    fn return_results(&mut self, results: &[Operand]) -> Result<()> {
        if results.len() != self.returns.types.len() {
            return Err("the function returns another number of results".to_owned());
        }
        if self.returns.through_memory() {
            for (k, (result, ty)) in results.iter().zip(&self.returns.types).enumerate() {
                self.body.store_word("%results", k, *result, *ty);
            }
            self.body.line("ret i32 0");
            return Ok(());
        }
        let status = "i32 0".to_owned();
        let parts: Vec<(Type, Operand)> =
            self.returns.types.iter().copied().zip(results.iter().copied()).collect();
        self.return_parts(status, &parts);
        Ok(())
    }

    /// Returns a status (with its type), and results if they are returned with it.
    pub(crate) fn return_parts(&mut self, status: String, parts: &[(Type, Operand)]) {
        if parts.is_empty() {
            return self.body.line(format_args!("ret {status}"));
        }
        let ty = self.returns.ty();
        let mut whole = self.body.value(format_args!("insertvalue {ty} poison, {status}, 0"));
        for (k, (part, operand)) in (1..).zip(parts) {
            let line = format_args!("insertvalue {ty} {whole}, {part} {operand}, {k}");
            whole = self.body.value(line);
        }
        self.body.line(format_args!("ret {ty} {whole}"));
    }

    /// What a failing function returns beside its status.
    pub(crate) fn nothing(&self) -> Vec<(Type, Operand)> {
        if self.returns.through_memory() {
            return Vec::new();
        }
        let blank = |ty: &Type| match ty.scalar {
            Scalar::F64 | Scalar::F32 => Operand::ZERO,
            Scalar::I64 | Scalar::I32 => Operand::I64(0),
            Scalar::Bool => Operand::Bool(false),
            Scalar::Ptr => Operand::Null,
        };
        self.returns.types.iter().map(|ty| (*ty, blank(ty))).collect()
    }

    /// Translates statements into the current block and those that follow; gives the results.
    pub(crate) fn block(&mut self, block: &Block) -> Result<Vec<Operand>> {
        if self.imports.math == MathLibrary::Jut {
            self.partners.extend(sine_and_cosine(block));
        }
        for step in Step::of(block, |v| self.kind(v)) {
            match step {
                Step::Go(stmt) => self.stmt(stmt)?,
                Step::Wait(stmt) => self.compute_single(stmt, true)?,
                Step::Look(look) => self.look_at_singles(&look)?,
            }
        }
        self.atoms(&block.results)
    }

    /// Translates a statement.
    pub(crate) fn stmt(&mut self, stmt: &Stmt) -> Result<()> {
        match stmt {
            Stmt::Prim { dst, prim, args } => self.prim(*dst, *prim, args),
            Stmt::Copy { dst, src } => self.copy(*dst, *src),
            Stmt::Previous { dst, src, .. } => self.before(*dst, *src),
            Stmt::Load { dst, buffer, index } => self.load(*dst, *buffer, *index),
            Stmt::Store { buffer, index, value } => self.store(*buffer, *index, *value),
            Stmt::Offset { dst, buffer, index } => self.offset(*dst, *buffer, *index),
            Stmt::Alloc { dst, cell, len, arena, site } => {
                self.alloc(*dst, *cell, *len, *arena, *site)
            }
            Stmt::Mark { dst, arena } => {
                self.mark(*dst, *arena);
                Ok(())
            }
            Stmt::Release { mark, arena } => self.release(*mark, *arena),
            Stmt::Fill { buffer, len, value } => self.fill(*buffer, *len, *value),
            Stmt::CopyCells { dst, src, len, cell } => self.copy_cells(*dst, *src, *len, *cell),
            Stmt::For(inner) => self.for_loop(inner),
            Stmt::Lanes(inner) => self.lanes_loop(inner),
            Stmt::If { dst, cond, then, other } => self.branch(dst, *cond, then, other),
            Stmt::Call { func, args, shares: Some(least), .. } => self.shares(*func, args, *least),
            Stmt::Call { dst, func, args, shares: None } => self.call(dst, *func, args),
            Stmt::Kernel { kernel, args } => self.kernel(*kernel, args),
            Stmt::Poll { site, .. } => self.poll(*site),
            Stmt::Check { check, site } => self.check(*check, *site),
        }
    }

    // Values.

    /// The operand of a value.
    pub(crate) fn value(&self, value: Value) -> Result<Operand> {
        self.values[value].ok_or_else(|| {
            let name = self.source.values.get(value).map_or("?", |data| &data.name);
            format!("`{name}` is used before it is assigned")
        })
    }

    /// The kind of a value.
    pub(crate) fn kind(&self, value: Value) -> Kind {
        self.source.values[value].kind
    }

    /// The operand of a value or literal.
    pub(crate) fn atom(&self, atom: Atom) -> Result<Operand> {
        Ok(match atom {
            Atom::Value(value) => self.value(value)?,
            Atom::Lit(Literal::F64(x)) => Operand::float(x),
            Atom::Lit(Literal::F32(x)) => Operand::float(f64::from(x)),
            Atom::Lit(Literal::I64(x)) => Operand::I64(x),
            Atom::Lit(Literal::I32(x)) => Operand::I64(i64::from(x)),
            Atom::Lit(Literal::Bool(x)) => Operand::Bool(x),
        })
    }

    pub(crate) fn atoms(&self, atoms: &[Atom]) -> Result<Vec<Operand>> {
        atoms.iter().map(|atom| self.atom(*atom)).collect()
    }

    /// Assigns a value.
    pub(crate) fn bind(&mut self, value: Value, operand: Operand) {
        self.values[value] = Some(operand);
    }

    pub(crate) fn copy(&mut self, dst: Value, src: Atom) -> Result<()> {
        let operand = self.atom(src)?;
        self.bind(dst, operand);
        Ok(())
    }

    // Operations and calls.

    pub(crate) fn prim(&mut self, dst: Value, prim: Prim, args: &[Atom]) -> Result<()> {
        let row = prim.row();
        if row.params.len() != args.len() {
            return Err(format!("`{}` has {} operands", row.id, args.len()));
        }
        let operands = self.atoms(args)?;
        match (self.partners.get(&dst).copied(), operands.as_slice()) {
            (Some(Some(partner)), [x]) => {
                self.sine_and_cosine(dst, prim, partner, *x);
                return Ok(());
            }
            // Computed with its partner.
            (Some(None), _) => return Ok(()),
            _ => {}
        }
        let result = match row.lowering {
            Lowering::Opcode(op) if let Some(symbol) = self.imports.called(op) => {
                let operand = match (op, operands.as_slice()) {
                    (Opcode::FRound, [a]) => crate::operation::past_half(&mut self.body, *a, false),
                    (_, [a]) => *a,
                    _ => return Err(format!("{op:?} takes one operand")),
                };
                self.mathematics(symbol, &[operand])?
            }
            Lowering::Opcode(op) => {
                let selected = scalar(self.kind(dst));
                crate::operation::operation(&mut self.body, op, &operands, false, selected)?
            }
            Lowering::Runtime(symbol) => self.mathematics(symbol, &operands)?,
        };
        self.bind(dst, result);
        Ok(())
    }

    /// Calls what computes a sine and a cosine of one value: assigns the given one and its partner.
    fn sine_and_cosine(&mut self, dst: Value, prim: Prim, partner: Value, x: Operand) {
        self.imports.sine_and_cosine();
        let place = self.called_area(1);
        let sine =
            self.body.value(format_args!("call double @jut_sin_cos(double {x}, ptr {place})"));
        let cosine = self.body.value(format_args!("load double, ptr {place}, align 8"));
        let (own, other) = if prim == SIN { (sine, cosine) } else { (cosine, sine) };
        self.bind(dst, own);
        self.bind(partner, other);
    }

    /// Calls a mathematical function of the runtime.
    pub(crate) fn mathematics(
        &mut self,
        symbol: &'static str,
        args: &[Operand],
    ) -> Result<Operand> {
        let params = params_of(symbol)?;
        let args: Vec<String> = args
            .iter()
            .zip(params)
            .map(|(arg, scalar)| format!("{} {arg}", scalar.one()))
            .collect();
        self.imports.mathematics(symbol);
        let args = args.join(", ");
        Ok(self.body.value(format_args!("call double @{symbol}({args})")))
    }

    /// Calls a kernel: its arguments by the C convention, no result.
    fn kernel(&mut self, kernel: Kernel, args: &[Atom]) -> Result<()> {
        let row = kernel.row();
        if row.params.len() != args.len() {
            return Err(format!("the kernel `{}` has {} arguments", row.name, args.len()));
        }
        let symbol = self.program.symbol_of(kernel, args);
        let args: Vec<String> = self
            .atoms(args)?
            .iter()
            .zip(row.params)
            .map(|(arg, param)| format!("{} {arg}", scalar(param.kind).one()))
            .collect();
        let symbol = match symbol {
            Some(symbol) => {
                self.imports.foreign(symbol);
                symbol
            }
            None => {
                self.imports.kernel(kernel);
                row.symbol
            }
        };
        self.body.line(format_args!("call void @{symbol}({})", args.join(", ")));
        Ok(())
    }

    fn call(&mut self, dst: &[Value], func: LoopFuncId, args: &[Atom]) -> Result<()> {
        let program = self.program;
        let callee = program.funcs.get(func).ok_or("a call of no function")?;
        let returns = Returns::of(callee);
        if returns.types.len() != dst.len() || callee.params.len() != args.len() {
            return Err("a call has another number of arguments or results".to_owned());
        }
        let mut given = vec!["ptr %ws".to_owned()];
        for (arg, param) in self.atoms(args)?.into_iter().zip(&callee.params) {
            given.push(format!("{} {arg}", scalar(callee.values[param.value].kind).one()));
        }
        let area = returns.through_memory().then(|| self.called_area(returns.types.len()));
        if let Some(area) = &area {
            given.push(format!("ptr {area}"));
        }
        let (ty, name, given) =
            (returns.ty(), name(self.names.prefix, func, callee), given.join(", "));
        let call = self.body.value(format_args!("call {ty} {name}({given})"));
        let status = match ty.as_str() {
            "i32" => call,
            _ => self.body.part(&ty, call, 0),
        };
        self.pass_on(status);
        for (k, (value, part)) in dst.iter().zip(&returns.types).enumerate() {
            let operand = match &area {
                Some(area) => self.body.load_word(area, k, *part),
                None => self.body.part(&ty, call, k + 1),
            };
            self.bind(*value, operand);
        }
        Ok(())
    }

    /// Memory for the results of a called function; they are loaded at once after the call.
    pub(crate) fn called_area(&mut self, words: usize) -> Operand {
        match self.called {
            Some((area, room)) if words <= room => area,
            _ => {
                let area = self.body.alloca(format_args!("[{words} x i64]"), 8);
                self.called = Some((area, words));
                area
            }
        }
    }

    // Control.

    fn branch(&mut self, dst: &[Value], cond: Atom, then: &Block, other: &Block) -> Result<()> {
        let cond = self.atom(cond)?;
        let [yes, no, join] = self.body.labels();
        self.body.branch(cond, yes, no);
        let mut sides = Vec::new();
        for (side, block) in [(yes, then), (no, other)] {
            self.body.begin(side);
            let results = self.block(block)?;
            if results.len() != dst.len() {
                return Err("a branch gives another number of results".to_owned());
            }
            sides.push((self.body.current(), results));
            self.body.jump(join);
        }
        self.body.begin(join);
        for (k, value) in dst.iter().enumerate() {
            let ty = scalar(self.kind(*value)).one();
            let incoming: Vec<(Operand, Label)> =
                sides.iter().map(|(label, results)| (results[k], *label)).collect();
            let operand = self.body.join(ty, &incoming);
            self.bind(*value, operand);
        }
        Ok(())
    }
}
