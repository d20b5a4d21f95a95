//! The text form of a program: `core def`s that read back.
//!
//! One statement per line, blocks indented by two spaces, every list split
//! `(non-linear; linear; capabilities)` with empty trailing sections left out:
//!
//! ```text
//! core def power.nonlin(x: f64, n: i64) -> (f64, power.tape) = {
//!   n_1 = max(n, 0)
//!   (t_1, a_s) = scan up (i < n_1) carry (a = 1.0) {
//!     t = a * x
//!     (t, a)
//!   }
//!   tape = power.tape(n_1, a_s)
//!   (t_1, tape)
//! }
//! ```
//!
//! *Requires*: names that are unique in scope, and finite literals: the checker refuses others,
//! since `inf()` and `nan()` are operations, not operands (they are printed as such all the same).
//! *Ensures*: the text reads back to the same program, and prints the same again; a float is
//! written in the shortest form with the same bits. *Cost*: linear in the program.

mod types;
use types::{name_of, unknown, write_type};
pub use types::{print_literal, print_size, print_type};

use crate::entity::{Cap, DataId, FuncId, LVar, NVar};
use crate::hash::HashSet;
use crate::ir::*;
use crate::prim::{Prim, Syntax};
use crate::size::Size;
use crate::structured::Structured;
use crate::tape::TapePolicy;
use crate::types::Type;

/// Prints a whole program in the order of its declarations, with empty lines between them.
pub fn print_program(program: &Program) -> String {
    let mut out = String::new();
    let hidden = hidden_primitives(program);
    for decl in &program.order {
        // The value of a function of another language is declared with it.
        if matches!(decl, Decl::Func(id) if program.declared(*id).is_some_and(|d| d.value == *id)) {
            continue;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        match decl {
            Decl::Data(data) => out.push_str(&print_data(program, *data)),
            Decl::Func(func) => function(&mut out, program, *func, &hidden),
        }
    }
    for (func, rule) in program.rules() {
        let (name, by) = (&program.funcs[func].name, &program.funcs[rule.func()].name);
        out.push_str(&format!("\nrule {} {name} = {by}\n", rule.word()));
    }
    out
}

/// Prints one definition, newline included.
pub fn print_function(program: &Program, func: FuncId) -> String {
    let mut out = String::new();
    function(&mut out, program, func, &hidden_primitives(program));
    out
}

fn function(out: &mut String, program: &Program, func: FuncId, hidden: &HashSet<&str>) {
    let func = program.declared(func).map_or(func, |declared| declared.linear);
    let func = &program.funcs[func];
    let out_so_far = std::mem::take(out);
    let mut printer = Printer { program, func, hidden, out: out_so_far, depth: 0, heads: false };
    printer.function();
    *out = printer.out;
}

/// Prints one statement of a definition on one line, with `{ .. }` in the place of blocks.
pub fn print_statement(program: &Program, func: FuncId, stmt: &Stmt) -> String {
    let (func, hidden) = (&program.funcs[func], &HashSet::default());
    let mut printer = Printer { program, func, hidden, out: String::new(), depth: 0, heads: true };
    printer.stmt(stmt);
    printer.out
}

/// The primitives whose names the program uses for definitions or constructors of its own: they are
/// written `prim.tanh(x)`.
fn hidden_primitives(program: &Program) -> HashSet<&str> {
    let structured = Structured::all().map(|s| s.row().name);
    let primitives: HashSet<&str> = Prim::all().map(|p| p.row().text).chain(structured).collect();
    let datas = program.datas.values().flat_map(|d| &d.constructors).map(|c| c.name.as_str());
    let funcs = program.funcs.values().map(|f| f.name.as_str());
    funcs.chain(datas).filter(|name| primitives.contains(name)).collect()
}

/// Prints one data type, newline included.
pub fn print_data(program: &Program, id: DataId) -> String {
    let data = &program.datas[id];
    let mut out = doc_lines(&data.doc);
    out.push_str("data ");
    out.push_str(&data.name);
    if let Some(of) = program.tangent_of(id) {
        out.push_str(" of ");
        out.push_str(&program.datas[of].name);
    }
    if let Some(record) = &data.record {
        let params: Vec<&str> = record.params.iter().map(|name| name.as_str()).collect();
        out.push_str(&format!("[{}]", params.join(", ")));
    }
    for (k, constructor) in data.constructors.iter().enumerate() {
        out.push_str(if k == 0 { " = " } else { " | " });
        out.push_str(&constructor.name);
        let fields = data.record.as_ref().map(|record| record.fields_of(k));
        let fields = fields.unwrap_or(&constructor.fields);
        let name = &|v: NVar| match (&data.record, v.as_u32() as usize) {
            (Some(record), k) if k < record.params.len() => record.params[k].to_string(),
            (None, k) if k < fields.len() => fields[k].name.to_string(),
            _ => unknown(v),
        };
        for (k, field) in fields.iter().enumerate() {
            out.push_str(if k == 0 { "(" } else { ", " });
            out.push_str(&field.name);
            out.push_str(": ");
            write_type(&mut out, program, &field.ty, name);
        }
        if !fields.is_empty() {
            out.push(')');
        }
    }
    out.push('\n');
    out
}

fn doc_lines(doc: &str) -> String {
    doc.lines().map(|l| if l.is_empty() { "///\n".into() } else { format!("/// {l}\n") }).collect()
}

/// Sections of a list, without the empty ones at the end.
fn sections(lists: [Vec<String>; 3]) -> String {
    let used = lists.iter().rposition(|list| !list.is_empty()).map_or(0, |k| k + 1);
    let lists: Vec<String> = lists[..used].iter().map(|list| list.join(", ")).collect();
    lists.join("; ")
}

struct Printer<'a> {
    program: &'a Program,
    func: &'a Function,
    hidden: &'a HashSet<&'a str>,
    out: String,
    depth: usize,
    /// Blocks are left out.
    heads: bool,
}

impl Printer<'_> {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn line(&mut self) {
        self.out.push('\n');
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
    }

    // ---- names

    fn nvar(&self, v: NVar) -> String {
        name_of(self.func, v)
    }

    fn lvar(&self, x: LVar) -> String {
        self.func.lvars[x].name.to_string()
    }

    fn cap(&self, c: Cap) -> String {
        self.func.caps[c].name.to_string()
    }

    fn atom(&self, atom: Atom) -> String {
        match atom {
            Atom::Var(v) => self.nvar(v),
            Atom::Lit(l) => print_literal(l),
        }
    }

    fn atoms(&self, atoms: &[Atom]) -> String {
        let atoms: Vec<String> = atoms.iter().map(|a| self.atom(*a)).collect();
        atoms.join(", ")
    }

    fn nvars(&self, vars: &[NVar]) -> Vec<String> {
        vars.iter().map(|v| self.nvar(*v)).collect()
    }

    fn lvars(&self, vars: &[LVar]) -> Vec<String> {
        vars.iter().map(|x| self.lvar(*x)).collect()
    }

    fn ty(&self, ty: &Type) -> String {
        print_type(self.program, self.func, ty)
    }

    /// `lanes s: f64` of a region, `rd dx: [n]f64` of a parameter when the mode comes along.
    fn cap_decl(&self, c: Cap) -> String {
        let cap = &self.func.caps[c];
        let lanes = if cap.lanes { "lanes " } else { "" };
        format!("{} {lanes}{}: {}", cap.mode.keyword(), cap.name, self.ty(&cap.ty))
    }

    // ---- places

    /// `x[i, j].0[lo ..+ m][k]`: index steps next to each other share their brackets; a step after
    /// a slice is a step into the slice.
    fn path(&self, root: String, path: &[Step]) -> String {
        let mut text = root;
        let mut inside = false;
        for step in path {
            if let Step::Field(k) = step {
                text.push_str(if inside { "]." } else { "." });
                text.push_str(&k.to_string());
                inside = false;
                continue;
            }
            text.push_str(if inside { ", " } else { "[" });
            inside = matches!(step, Step::Index { .. });
            match step {
                Step::Index { index, proved } => {
                    text.push_str(if *proved { "!" } else { "" });
                    text.push_str(&self.atom(*index));
                }
                Step::Slice { lo, len, proved } => {
                    text.push_str(if *proved { "!" } else { "" });
                    text.push_str(&format!("{} ..+ {}]", self.atom(*lo), self.atom(*len)));
                }
                Step::Field(_) => {}
            }
        }
        if inside {
            text.push(']');
        }
        text
    }

    fn place(&self, place: &Place) -> String {
        self.path(self.cap(place.root), &place.path)
    }

    // ---- definitions

    fn function(&mut self) {
        let func = self.func;
        let typed = |name: String, ty: &Type| format!("{name}: {}", self.ty(ty));
        let params = sections([
            func.params.iter().map(|v| typed(self.nvar(*v), &func.nvars[*v].ty)).collect(),
            func.lin_params.iter().map(|x| typed(self.lvar(*x), &func.lvars[*x].ty)).collect(),
            func.cap_params.iter().map(|c| self.cap_decl(*c)).collect(),
        ]);
        let results: Vec<String> = func
            .results
            .iter()
            .map(|r| match r.name {
                Some(name) => typed(self.nvar(name), &r.ty),
                None => self.ty(&r.ty),
            })
            .collect();
        let lin_results: Vec<String> = func
            .lin_results
            .iter()
            .map(|r| match &r.name {
                Some(name) => typed(name.to_string(), &r.ty),
                None => self.ty(&r.ty),
            })
            .collect();
        let results = match (func.results.as_slice(), func.lin_results.as_slice()) {
            ([ResultDecl { name: None, ty }], []) => self.ty(ty),
            _ => format!("({})", sections([results, lin_results, Vec::new()])),
        };
        let doc = doc_lines(&func.doc);
        if let Some(Foreign { form: Form::Linear { transpose, derivative, .. }, .. }) = func.foreign
        {
            let name = |id: FuncId| {
                let id = self.program.declared(id).map_or(id, |declared| declared.linear);
                self.program.funcs[id].name.clone()
            };
            let mut text = format!("{doc}extern def {}({params}) -> {results}", func.name);
            text += &format!(" transpose {}", name(transpose));
            if let Some(derivative) = derivative {
                text += &format!(" derivative {}", name(derivative));
            }
            self.put(&text);
            return self.put("\n");
        }
        let head = format!("{doc}core def {}({params}) -> {results} = ", func.name);
        self.put(&head);
        self.block(&func.body);
        self.put("\n");
    }

    fn block(&mut self, block: &Block) {
        if self.heads {
            return self.put("{ .. }");
        }
        if block.stmts.is_empty() && block.nl.is_empty() && block.lin.is_empty() {
            return self.put("{ }");
        }
        self.put("{");
        self.depth += 1;
        for stmt in &block.stmts {
            self.line();
            self.stmt(stmt);
        }
        match (block.nl.as_slice(), block.lin.as_slice()) {
            ([], []) => {}
            ([atom], []) => {
                self.line();
                let atom = self.atom(*atom);
                self.put(&atom);
            }
            (nl, lin) => {
                self.line();
                let nl = nl.iter().map(|a| self.atom(*a)).collect();
                let list = format!("({})", sections([nl, self.lvars(lin), Vec::new()]));
                self.put(&list);
            }
        }
        self.depth -= 1;
        self.line();
        self.put("}");
    }

    // ---- statements

    fn stmt(&mut self, stmt: &Stmt) {
        let pattern = self.pattern(stmt);
        if !pattern.is_empty() {
            self.put(&pattern);
            self.put(" = ");
        }
        if stmt.loc.tape != TapePolicy::Free {
            self.put(&format!("{} ", stmt.loc.tape));
        }
        self.rhs(&stmt.rhs);
    }

    fn pattern(&self, stmt: &Stmt) -> String {
        match &stmt.rhs {
            Rhs::Open { con, eqs, .. } => {
                let mut bound = stmt.nl.iter();
                let fields: Vec<String> = eqs
                    .iter()
                    .map(|eq| match eq {
                        Some(atom) => format!("={}", self.atom(*atom)),
                        None => bound.next().map_or_else(String::new, |v| self.nvar(*v)),
                    })
                    .collect();
                format!("{}({})", self.program.constructor(*con).name, fields.join(", "))
            }
            Rhs::LOpen { con, sizes, .. } => {
                let sizes = sizes.iter().map(|a| format!("={}", self.atom(*a)));
                self.tangent_fields(*con, sizes.collect(), self.lvars(&stmt.lin))
            }
            Rhs::Untuple(_) => format!("#({})", self.nvars(&stmt.nl).join(", ")),
            Rhs::LUntuple(_) => format!("#({})", self.lvars(&stmt.lin).join(", ")),
            _ if stmt.annotated => {
                let typed = |name: String, ty: &Type| format!("{name}: {}", self.ty(ty));
                let nl = &stmt.nl;
                let nl = nl.iter().map(|v| typed(self.nvar(*v), &self.func.nvars[*v].ty)).collect();
                let lin = &stmt.lin;
                let lin =
                    lin.iter().map(|x| typed(self.lvar(*x), &self.func.lvars[*x].ty)).collect();
                format!("({})", sections([nl, lin, Vec::new()]))
            }
            _ => match (stmt.nl.as_slice(), stmt.lin.as_slice()) {
                ([], []) => String::new(),
                ([v], []) => self.nvar(*v),
                ([], [x]) => self.lvar(*x),
                (nl, lin) => {
                    format!("({})", sections([self.nvars(nl), self.lvars(lin), Vec::new()]))
                }
            },
        }
    }

    fn prim(&self, prim: Prim, args: &[Atom]) -> String {
        let row = prim.row();
        match (row.syntax, args) {
            (Syntax::Infix, [a, b]) => {
                format!("{} {} {}", self.atom(*a), row.text, self.atom(*b))
            }
            (Syntax::Prefix, [a]) => format!("{}{}", row.text, self.atom(*a)),
            _ => {
                let path = if self.hidden.contains(row.text) { "prim." } else { "" };
                format!("{path}{}({})", row.text, self.atoms(args))
            }
        }
    }

    fn structured(&self, op: Structured, arrays: Vec<String>, sizes: &[Size]) -> String {
        let name = op.row().name;
        let path = if self.hidden.contains(name) { "prim." } else { "" };
        let sizes = sizes.iter().map(|s| print_size(self.func, s));
        format!("{path}{name}({})", op.operands(arrays, sizes).join(", "))
    }

    fn rhs(&mut self, rhs: &Rhs) {
        let text = match rhs {
            Rhs::Region(region) => {
                let head = match (region.mode, region.end) {
                    (Mode::Rd, false) => format!("rd {}", self.cap(region.cap)),
                    (Mode::Rd, true) => format!("lend {}", self.cap(region.cap)),
                    (Mode::Wr | Mode::Acc, _) => self.cap_decl(region.cap),
                };
                self.put(&head);
                let start = match region.start {
                    Some(Operand::N(a)) => format!(" = {} ", self.atom(a)),
                    Some(Operand::L(x)) => format!(" = {} ", self.lvar(x)),
                    None => " ".to_string(),
                };
                self.put(&start);
                return self.block(&region.body);
            }
            Rhs::Scan(scan) => return self.scan(scan),
            Rhs::Case(case) => return self.case(case),
            leaf => self.leaf(leaf),
        };
        self.put(&text);
    }

    fn leaf(&self, rhs: &Rhs) -> String {
        let cast = |proved: bool, name: String, ty: &Type| {
            format!("{}cast {name} : {}", if proved { "proved " } else { "" }, self.ty(ty))
        };
        match rhs {
            Rhs::Atom(a) => self.atom(*a),
            Rhs::Prim(prim, args) => self.prim(*prim, args),
            Rhs::Structured(op, args, sizes) => {
                self.structured(*op, args.iter().map(|a| self.atom(*a)).collect(), sizes)
            }
            Rhs::Tuple(items) => format!("#({})", self.atoms(items)),
            Rhs::Untuple(v) => self.nvar(*v),
            Rhs::Proj(v, k) => format!("{}.{}", self.nvar(*v), self.component(*v, *k)),
            Rhs::Con(con, args) => {
                format!("{}({})", self.program.constructor(*con).name, self.atoms(args))
            }
            Rhs::Open { value, .. } => self.nvar(*value),
            Rhs::ArrayLit(items) => format!("[{}]", self.atoms(items)),
            Rhs::Size(v, 0) => format!("size({})", self.nvar(*v)),
            Rhs::Size(v, k) => format!("size({}, {k})", self.nvar(*v)),
            Rhs::Index(v, path) => self.path(self.nvar(*v), path),
            Rhs::Update { array, path, value } => {
                self.path(format!("{} with ", self.nvar(*array)), path)
                    + &format!(" = {}", self.atom(*value))
            }
            Rhs::Cast { value, ty, proved } => cast(*proved, self.nvar(*value), ty),
            Rhs::Check(check) => self.check(check),
            Rhs::LCopy(x) | Rhs::LUntuple(x) | Rhs::LOpen { value: x, .. } => self.lvar(*x),
            Rhs::LAdd(x, y) => format!("{} + {}", self.lvar(*x), self.lvar(*y)),
            Rhs::LNeg(x) => format!("-{}", self.lvar(*x)),
            Rhs::LScale(c, x) => format!("{} * {}", self.atom(*c), self.lvar(*x)),
            Rhs::LSelect(b, x, y) => {
                format!("select({}, {}, {})", self.atom(*b), self.lvar(*x), self.lvar(*y))
            }
            Rhs::LApply { op, operand, args, sizes, x } => {
                let others = args.iter().map(|a| self.atom(*a)).collect();
                let arrays = op.with_linear(*operand, self.lvar(*x), others);
                self.structured(*op, arrays, sizes)
            }
            Rhs::LZero(ty) => format!("zero {}", self.ty(ty)),
            Rhs::Dup(x) => format!("dup {}", self.lvar(*x)),
            Rhs::Drop(x) => format!("drop {}", self.lvar(*x)),
            Rhs::LTuple(items) => format!("#({})", self.lvars(items).join(", ")),
            Rhs::LCon { con, sizes, fields } => {
                let sizes = sizes.iter().map(|a| self.atom(*a)).collect();
                self.tangent_fields(*con, sizes, self.lvars(fields))
            }
            Rhs::LCast { value, ty, proved } => cast(*proved, self.lvar(*value), ty),
            Rhs::LUpdate { x, path, value } => {
                self.path(format!("{} with ", self.lvar(*x)), path)
                    + &format!(" = {}", self.lvar(*value))
            }
            Rhs::LTake { x, path } => self.path(format!("take {}", self.lvar(*x)), path),
            Rhs::Rd(place) => format!("rd {}", self.place(place)),
            Rhs::Inc(place, Operand::N(a)) => format!("{} += {}", self.place(place), self.atom(*a)),
            Rhs::Inc(place, Operand::L(x)) => format!("{} += {}", self.place(place), self.lvar(*x)),
            Rhs::Call(call) => {
                let places = call.places.iter().map(|place| match place {
                    Some(place) => self.place(place),
                    None => "null".to_string(),
                });
                let args = call.args.iter().map(|a| self.atom(*a)).collect();
                let args = sections([args, self.lvars(&call.lin_args), places.collect()]);
                format!("{}({args})", self.program.funcs[call.func].name)
            }
            // Handled by `rhs`, since they hold blocks.
            Rhs::Region(_) | Rhs::Scan(_) | Rhs::Case(_) => String::new(),
        }
    }

    /// A constructor of tangents, with sizes and linear values where the fields are.
    fn tangent_fields(&self, con: ConRef, sizes: Vec<String>, fields: Vec<String>) -> String {
        let (mut sizes, mut fields) = (sizes.into_iter(), fields.into_iter());
        let constructor = self.program.constructor(con);
        let all = constructor.fields.iter().map(|field| match field.ty {
            Type::I64 => sizes.next().unwrap_or_default(),
            _ => fields.next().unwrap_or_default(),
        });
        let all: Vec<String> = all.collect();
        format!("{}({})", constructor.name, all.join(", "))
    }

    fn component(&self, v: NVar, k: u32) -> String {
        if let Some(Type::Tuple(items)) = self.func.nvars.get(v).map(|data| &data.ty)
            && let Some((.., record)) = self.program.record(items)
            && !record.is_sum()
            && let Some(field) = record.fields.get(k as usize)
        {
            return field.name.to_string();
        }
        if let Some(Type::Data(data)) = self.func.nvars.get(v).map(|data| &data.ty)
            && let Some(constructor) = self.program.datas[*data].constructors.first()
            && let Some(field) = constructor.fields.get(k as usize)
        {
            return field.name.to_string();
        }
        k.to_string()
    }

    fn check(&self, check: &Check) -> String {
        match check {
            Check::Below(i, n) => format!("check {} < {}", self.atom(*i), self.atom(*n)),
            Check::Within { lo, len, size } => {
                let (lo, len, size) = (self.atom(*lo), self.atom(*len), self.atom(*size));
                format!("check {lo} ..+ {len} <= {size}")
            }
            Check::NonNegative(n) => format!("check {} >= 0", self.atom(*n)),
            Check::Exact(p, a, b) => {
                format!("check {} {} {}", self.atom(*a), p.row().text, self.atom(*b))
            }
            Check::Show(Shown::Value(a)) => format!("show \"\" {}", self.atom(*a)),
            Check::Show(Shown::Before(i)) => format!("show \",\" {}", self.atom(*i)),
            Check::Show(Shown::End) => "show \"\"".to_string(),
            Check::Show(Shown::Text(bytes)) => {
                let text = String::from_utf8_lossy(bytes);
                format!("show \"{}\"", text.trim_end_matches('\0'))
            }
        }
    }

    fn scan(&mut self, scan: &Scan) {
        let carry = sections([
            scan.carry
                .iter()
                .map(|(v, a)| format!("{} = {}", self.nvar(*v), self.atom(*a)))
                .collect(),
            scan.lin_carry
                .iter()
                .map(|(x, i)| format!("{} = {}", self.lvar(*x), self.lvar(*i)))
                .collect(),
            Vec::new(),
        ]);
        let slices = sections([
            scan.slices
                .iter()
                .map(|(v, a)| format!("{} <- {}", self.nvar(*v), self.nvar(*a)))
                .collect(),
            scan.lin_slices
                .iter()
                .map(|(x, a)| format!("{} <- {}", self.lvar(*x), self.lvar(*a)))
                .collect(),
            scan.cap_slices
                .iter()
                .map(|(c, p)| format!("{} <- {}", self.cap(*c), self.place(p)))
                .collect(),
        ]);
        let (index, bound) = (self.nvar(scan.index), self.atom(scan.bound));
        let mut head = format!("scan {} ({index} < {bound}) ", scan.dir.keyword());
        if !carry.is_empty() {
            head.push_str(&format!("carry ({carry}) "));
        }
        if !slices.is_empty() {
            head.push_str(&format!("slice ({slices}) "));
        }
        self.put(&head);
        self.block(&scan.body);
    }

    fn case(&mut self, case: &Case) {
        let head = format!("case {} {{", self.atom(case.scrutinee));
        self.put(&head);
        if self.heads {
            return self.put(" .. }");
        }
        self.depth += 1;
        for arm in &case.arms {
            self.line();
            let mut pattern = match arm.pattern {
                ArmPattern::Bool(b) => b.to_string(),
                ArmPattern::Con(con) => self.program.constructor(con).name.clone(),
            };
            if !arm.fields.is_empty() {
                let fields: Vec<String> = arm
                    .fields
                    .iter()
                    .map(|field| match field {
                        FieldPattern::Bind(v) => self.nvar(*v),
                        FieldPattern::Eq(a) => format!("={}", self.atom(*a)),
                    })
                    .collect();
                pattern.push_str(&format!("({})", fields.join(", ")));
            }
            pattern.push_str(" -> ");
            self.put(&pattern);
            self.block(&arm.body);
        }
        self.depth -= 1;
        self.line();
        self.put("}");
    }
}
