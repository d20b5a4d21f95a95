//! Reading the report off the two halves.

use super::bytes::{Bytes, Sizes};
use super::{Avoided, Had, Need, Reason, Stored, TapeReport};
use crate::Unzipped;
use jut_ir::entity::{EntityRef, SecondaryMap};
use jut_ir::visit::Use;
use jut_ir::*;
use std::collections::HashMap;

/// The bytes of callees, with their names, by their `f.nonlin`.
type Callees = HashMap<FuncId, (Vec<Bytes>, Sizes)>;

/// How `f.nonlin` binds a name.
#[derive(Clone, Copy, Default)]
enum Binding<'a> {
    #[default]
    Parameter,
    Index,
    Carry,
    Slice,
    Field,
    /// The k-th name that a statement binds.
    Stmt(&'a Stmt, usize),
}

/// What `f.lin` does with names.
#[derive(Default)]
struct Reader {
    /// The names of the fields of a tape record, once opened.
    opened: HashMap<ConRef, Vec<Option<NVar>>>,
    /// The elements of an array that a loop slices.
    elements: SecondaryMap<NVar, Option<NVar>>,
    /// What comes off the tape.
    taped: SecondaryMap<NVar, bool>,
    /// What reads a name first.
    needs: SecondaryMap<NVar, Option<Need>>,
    avoided: Vec<Avoided>,
}

/// Something in the text of `f.lin` that reads names: a linear statement, or the computation of
/// other names.
struct Event {
    reads: Vec<NVar>,
    binds: Vec<NVar>,
    need: Option<Need>,
}

/// The names of `f.nonlin`, numbered in the order of the text.
#[derive(Default)]
struct Names<'a> {
    bindings: SecondaryMap<NVar, Binding<'a>>,
    numbers: SecondaryMap<NVar, u32>,
    /// For an index: the first number after its loop.
    ends: SecondaryMap<NVar, u32>,
    count: u32,
}

impl<'a> Names<'a> {
    fn bind(&mut self, v: NVar, how: Binding<'a>) {
        self.bindings[v] = how;
        self.count += 1;
        self.numbers[v] = self.count;
    }

    fn block(&mut self, block: &'a Block, sizes: &mut Sizes) {
        for stmt in &block.stmts {
            sizes.learn_stmt(stmt);
            match &stmt.rhs {
                Rhs::Scan(scan) => {
                    self.bind(scan.index, Binding::Index);
                    scan.carry.iter().for_each(|(v, _)| self.bind(*v, Binding::Carry));
                    scan.slices.iter().for_each(|(v, _)| self.bind(*v, Binding::Slice));
                    self.block(&scan.body, sizes);
                    self.ends[scan.index] = self.count + 1;
                }
                Rhs::Case(case) => {
                    for arm in &case.arms {
                        for field in &arm.fields {
                            if let FieldPattern::Bind(v) = field {
                                self.bind(*v, Binding::Field);
                            }
                        }
                        self.block(&arm.body, sizes);
                    }
                }
                rhs => rhs.blocks().into_iter().for_each(|b| self.block(b, sizes)),
            }
            for (k, v) in stmt.nl.iter().enumerate() {
                self.bind(*v, Binding::Stmt(stmt, k));
            }
        }
    }

    /// Whether a size depends on the iteration of a loop.
    fn is_local(&self, size: &Size, scan: &Scan) -> bool {
        let inside = self.numbers[scan.index]..self.ends[scan.index];
        size.names().iter().any(|v| inside.contains(&self.numbers[*v]))
    }
}

pub(super) fn report(program: &Program, made: &Unzipped, callees: &Callees) -> TapeReport {
    let nonlin = &program.funcs[made.nonlin];
    let mut sizes = Sizes::of(nonlin);
    let mut names = Names::default();
    names.block(&nonlin.body, &mut sizes);
    let function = nonlin.name.strip_suffix(".nonlin").unwrap_or(&nonlin.name).to_string();
    let prefix = jut_ir::names::tape(&function);
    let reader = read(program, made, &prefix);
    let walk = Walk {
        program,
        nonlin,
        names,
        sizes: &sizes,
        callees,
        reader: &reader,
        prefix: &prefix,
        loops: Vec::new(),
        stored: Vec::new(),
    };
    let stored = match (made.tape, nonlin.body.nl.last()) {
        (Some(data), Some(Atom::Var(tape))) => walk.whole(*tape, data),
        _ => Vec::new(),
    };
    let total = total(stored.iter().map(|s| &s.bytes));
    TapeReport { function, stored, avoided: reader.avoided, total, sizes }
}

/// Polynomials are added up, other terms stand beside each other.
fn total<'a>(terms: impl Iterator<Item = &'a Bytes>) -> Vec<Bytes> {
    let mut exact = Size::default();
    let mut all = Vec::new();
    for term in terms {
        match term {
            Bytes::Exact(size) => exact = exact + size.clone(),
            other => all.push(other.clone()),
        }
    }
    if exact != Size::default() {
        all.insert(0, Bytes::Exact(exact));
    }
    all
}

// ---- f.nonlin

/// What a stored value is stored inside of, from the outside in.
enum Around<'a> {
    Loop(&'a Scan),
    Arm(&'a str),
}

struct Walk<'a> {
    program: &'a Program,
    nonlin: &'a Function,
    names: Names<'a>,
    sizes: &'a Sizes,
    callees: &'a Callees,
    reader: &'a Reader,
    /// What the names of this function's tape types start with.
    prefix: &'a str,
    loops: Vec<Around<'a>>,
    stored: Vec<Stored>,
}

impl<'a> Walk<'a> {
    fn whole(mut self, tape: NVar, data: DataId) -> Vec<Stored> {
        if let Binding::Stmt(stmt, _) = self.names.bindings[tape]
            && let Rhs::Con(con, values) = &stmt.rhs
            && con.data == data
        {
            self.record(*con, values);
        }
        self.stored
    }

    fn record(&mut self, con: ConRef, values: &'a [Atom]) {
        let program = self.program;
        let fields = &program.constructor(con).fields;
        let mut is_size = vec![false; fields.len()];
        for field in fields {
            for name in field.ty.size_names() {
                if let Some(is_size) = is_size.get_mut(name.index()) {
                    *is_size = true;
                }
            }
        }
        let opened = self.reader.opened.get(&con);
        for (k, value) in values.iter().enumerate() {
            let inside = opened.and_then(|names| names.get(k).copied().flatten());
            self.value(*value, inside, &program.datas[con.data].name, is_size[k]);
        }
    }

    /// A value on the tape, and the name that `f.lin` has for it.
    fn value(&mut self, atom: Atom, inside: Option<NVar>, record: &'a str, is_size: bool) {
        let Atom::Var(v) = atom else {
            let ty = self.nonlin.type_of(atom);
            let name = "a constant".to_string();
            let bytes = self.value_bytes(&ty);
            return self.leaf(name, &ty, bytes, inside, record, (Reason::NoGain, Span::NONE));
        };
        if let Binding::Stmt(stmt, k) = self.names.bindings[v] {
            match &stmt.rhs {
                Rhs::Scan(scan) if k >= scan.carry.len() => {
                    if let Some(element) = scan.body.nl.get(k) {
                        let inside = inside.and_then(|v| self.reader.elements[v]);
                        self.loops.push(Around::Loop(scan));
                        self.value(*element, inside, record, is_size);
                        self.loops.pop();
                        return;
                    }
                }
                Rhs::Region(region) => {
                    if let Some(value) = region.body.nl.get(k) {
                        return self.value(*value, inside, record, is_size);
                    }
                }
                Rhs::Case(case) if self.is_tape(v) => {
                    for arm in &case.arms {
                        if let Some(Atom::Var(v)) = arm.body.nl.get(k)
                            && let Binding::Stmt(stmt, _) = self.names.bindings[*v]
                            && let Rhs::Con(con, values) = &stmt.rhs
                        {
                            self.loops.push(Around::Arm(&self.program.constructor(*con).name));
                            self.record(*con, values);
                            self.loops.pop();
                        }
                    }
                    return;
                }
                Rhs::Con(con, values) if self.is_tape(v) => return self.record(*con, values),
                _ => {}
            }
        }
        let data = &self.nonlin.nvars[v];
        let (name, ty) = (data.name.to_string(), data.ty.clone());
        let (reason, span) = self.reason(v);
        let reason = if is_size { Reason::Size } else { reason };
        let bytes = match (&reason, self.names.bindings[v]) {
            (Reason::Tape(callee), Binding::Stmt(Stmt { rhs: Rhs::Call(call), .. }, _)) => {
                self.callee_bytes(call, callee)
            }
            _ => self.value_bytes(&ty),
        };
        self.leaf(name, &ty, bytes, inside, record, (reason, span));
    }

    /// The bytes of what a callee stores.
    fn callee_bytes(&self, call: &Call, callee: &str) -> Bytes {
        let Some((terms, sizes)) = self.callees.get(&call.func) else {
            return Bytes::Words(format!("the tape of {callee}"));
        };
        let argument = |k: usize| call.args.get(k).map(|a| self.nonlin.size_of(*a));
        let closed = |term: &Bytes| match term {
            Bytes::Exact(size) => sizes.over_arguments(size, &argument),
            _ => None,
        };
        let sum = terms.iter().map(closed).try_fold(Size::default(), |a, b| Some(a + b?));
        sum.map_or_else(|| Bytes::Words(format!("the tape of {callee}")), Bytes::Exact)
    }

    fn value_bytes(&self, ty: &Type) -> Bytes {
        match type_bytes(self.program, ty, 0) {
            Some(size) => Bytes::Exact(size),
            None => Bytes::Words(format!("one {}", type_text(self.program, self.sizes, ty))),
        }
    }

    fn leaf(
        &mut self,
        name: String,
        ty: &Type,
        bytes: Bytes,
        inside: Option<NVar>,
        record: &str,
        (reason, span): (Reason, Span),
    ) {
        self.stored.push(Stored {
            name,
            ty: type_text(self.program, self.sizes, ty),
            bytes: self.repeated(bytes),
            record: record.to_string(),
            needed_by: inside.and_then(|v| self.reader.needs[v].clone()),
            reason,
            span,
        });
    }

    /// Bytes that are stored inside of loops and arms.
    fn repeated(&self, mut bytes: Bytes) -> Bytes {
        for around in self.loops.iter().rev() {
            bytes = match around {
                Around::Arm(arm) => Bytes::If { arm: arm.to_string(), each: Box::new(bytes) },
                Around::Loop(scan) => {
                    let count = self.nonlin.size_of(scan.bound);
                    match bytes {
                        Bytes::Exact(size) if !self.names.is_local(&size, scan) => {
                            Bytes::Exact(size * count)
                        }
                        each => Bytes::Sum { index: scan.index, count, each: Box::new(each) },
                    }
                }
            };
        }
        bytes
    }

    /// Whether U made the type of a value for this function.
    fn is_tape(&self, v: NVar) -> bool {
        match self.nonlin.nvars[v].ty {
            Type::Data(data) => self.program.datas[data].name.starts_with(self.prefix),
            _ => false,
        }
    }

    fn reason(&self, v: NVar) -> (Reason, Span) {
        let own = self.nonlin.nvars[v].span;
        let (stmt, k) = match self.names.bindings[v] {
            Binding::Parameter => return (Reason::Input, own),
            Binding::Carry => return (Reason::Carry, own),
            Binding::Field => return (Reason::Field, own),
            Binding::Index | Binding::Slice => return (Reason::NoGain, own),
            Binding::Stmt(stmt, k) => (stmt, k),
        };
        let reason = match &stmt.rhs {
            Rhs::Prim(prim, _) if prim.row().cheap => Reason::NoGain,
            Rhs::Prim(prim, _) => Reason::Expensive(prim.row().text),
            Rhs::Structured(op, ..) => Reason::Expensive(op.row().name),
            Rhs::Scan(_) => Reason::Loop,
            Rhs::Region(_) => Reason::Sum,
            Rhs::Case(_) => Reason::Branch,
            Rhs::Call(call) => {
                let callee = &self.program.funcs[call.func];
                let name = callee.name.strip_suffix(".nonlin").unwrap_or(&callee.name).to_string();
                let is_tape = callee.name.len() > name.len() && k + 1 == stmt.nl.len();
                match &self.nonlin.nvars[v].ty {
                    Type::Data(_) if is_tape => Reason::Tape(name),
                    _ => Reason::Call(name),
                }
            }
            Rhs::Tuple(_) | Rhs::Con(..) | Rhs::ArrayLit(_) => Reason::Built,
            Rhs::Cast { value, .. } if stmt.loc.origin == Origin::Unzip => {
                return self.reason(*value);
            }
            _ => Reason::NoGain,
        };
        (reason, stmt.loc.span)
    }
}

/// The bytes of a value of a type: 8 per number, 1 per truth value.
fn type_bytes(program: &Program, ty: &Type, depth: usize) -> Option<Size> {
    Some(match ty {
        Type::Float(_) | Type::I64 => Size::constant(8),
        Type::Bool => Size::constant(1),
        Type::Tuple(items) => {
            let mut sum = Size::default();
            for item in items {
                sum = sum + type_bytes(program, item, depth)?;
            }
            sum
        }
        Type::Array(size, element) => size.clone() * type_bytes(program, element, depth)?,
        Type::Data(data) => {
            // Where the data value was made, its bytes have been counted; here it is kept.
            let [constructor] = &program.datas[*data].constructors[..] else { return None };
            let mut sum = Size::default();
            for field in &constructor.fields {
                if depth > 8 || !field.ty.size_names().is_empty() {
                    return None;
                }
                sum = sum + type_bytes(program, &field.ty, depth + 1)?;
            }
            sum
        }
    })
}

fn type_text(program: &Program, sizes: &Sizes, ty: &Type) -> String {
    match ty {
        Type::Float(_) => "f64".into(),
        Type::I64 => "i64".into(),
        Type::Bool => "bool".into(),
        Type::Data(data) => program.datas[*data].name.clone(),
        Type::Tuple(items) => {
            let items: Vec<String> = items.iter().map(|t| type_text(program, sizes, t)).collect();
            format!("#({})", items.join(", "))
        }
        Type::Array(size, element) => {
            let size = sizes.text(&Bytes::Exact(size.clone()));
            format!("[{size}]{}", type_text(program, sizes, element))
        }
    }
}

// ---- f.lin

impl Reader {
    fn open(&mut self, con: ConRef, names: Vec<Option<NVar>>) {
        names.iter().flatten().for_each(|v| self.taped[*v] = true);
        self.opened.insert(con, names);
    }
}

fn read(program: &Program, made: &Unzipped, prefix: &str) -> Reader {
    let lin = &program.funcs[made.lin];
    let mut reader = Reader::default();
    let forwarded = made.forwarded.len();
    let given = forwarded + made.result_sizes.len();
    for (k, p) in lin.params.iter().take(given).enumerate() {
        let data = &lin.nvars[*p];
        let how = if k < forwarded { Had::Input } else { Had::Result };
        reader.avoided.push(Avoided { name: data.name.to_string(), how, span: data.span });
    }
    let mut events = Vec::new();
    let is_tape = |con: ConRef| program.datas[con.data].name.starts_with(prefix);
    read_block(lin, &lin.body, &is_tape, &mut reader, &mut events);
    // What a computed name is for is known before what it is computed from is asked for.
    for event in events.into_iter().rev() {
        let need = event.need.or_else(|| event.binds.iter().find_map(|v| reader.needs[*v].clone()));
        if need.is_some() {
            event.reads.into_iter().for_each(|v| reader.needs[v] = need.clone());
        }
    }
    reader
}

fn read_block(
    func: &Function,
    block: &Block,
    is_tape: &dyn Fn(ConRef) -> bool,
    reader: &mut Reader,
    events: &mut Vec<Event>,
) {
    for stmt in &block.stmts {
        let mut reads = Vec::new();
        stmt.rhs.for_each_own_use(&mut |name| {
            if let Use::N(v) = name {
                reads.push(v);
            }
        });
        let computes = !stmt.nl.is_empty();
        let tangent =
            || stmt.lin.first().map_or(String::new(), |x| func.lvars[*x].name.to_string());
        let need = (!computes).then(|| Need { tangent: tangent(), span: stmt.loc.span });
        if let Rhs::Scan(scan) = &stmt.rhs {
            // Reading an array in slices is for what the slices are for.
            reads.retain(|v| scan.slices.iter().all(|(_, array)| array != v));
        }
        events.push(Event { reads, binds: stmt.nl.clone(), need });
        match &stmt.rhs {
            Rhs::Scan(scan) => {
                for (element, array) in &scan.slices {
                    reader.elements[*array] = Some(*element);
                    events.push(Event { reads: vec![*array], binds: vec![*element], need: None });
                    if reader.taped[*array] {
                        reader.taped[*element] = true;
                    } else {
                        let data = &func.nvars[*element];
                        let how = Had::Sliced(func.nvars[*array].name.to_string());
                        let name = data.name.to_string();
                        reader.avoided.push(Avoided { name, how, span: data.span });
                    }
                }
            }
            Rhs::Case(case) => {
                for arm in &case.arms {
                    if let ArmPattern::Con(con) = arm.pattern
                        && is_tape(con)
                    {
                        let bound = |field: &FieldPattern| match field {
                            FieldPattern::Bind(v) => Some(*v),
                            FieldPattern::Eq(a) => a.var(),
                        };
                        reader.open(con, arm.fields.iter().map(bound).collect());
                    }
                }
            }
            Rhs::Open { con, eqs, .. } if is_tape(*con) => {
                let mut names = stmt.nl.iter().copied();
                let field = |eq: &Option<Atom>| match eq {
                    Some(a) => a.var(),
                    None => names.next(),
                };
                reader.open(*con, eqs.iter().map(field).collect());
            }
            // Casts join the names of what comes off the tape.
            Rhs::Cast { value, .. } if computes && reader.taped[*value] => {
                stmt.nl.iter().for_each(|v| reader.taped[*v] = true);
            }
            _ if computes => {
                let how = match &stmt.rhs {
                    Rhs::Prim(prim, _) => format!("`{}`", prim.row().text),
                    Rhs::Index(v, _) => format!("an index of {}", func.nvars[*v].name),
                    Rhs::Size(..) => "a size".to_string(),
                    Rhs::Structured(op, ..) => format!("`{}`", op.row().name),
                    Rhs::Cast { .. } => "a cast".to_string(),
                    _ => "a projection".to_string(),
                };
                for v in &stmt.nl {
                    let name = func.nvars[*v].name.to_string();
                    let how = Had::Again(how.clone());
                    reader.avoided.push(Avoided { name, how, span: stmt.loc.span });
                }
            }
            _ => {}
        }
        stmt.rhs.blocks().into_iter().for_each(|b| read_block(func, b, is_tape, reader, events));
    }
}
