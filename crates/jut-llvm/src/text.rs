//! LLVM's text form, a line at a time.
//!
//! A value is a numbered name or a constant. Every operation exists for one value and for eight at
//! once ([`Type::wide`]); a constant stands for eight equal ones where eight are wanted.
//!
//! The text of a function is a list of pieces, so that what is only known later (the next values of
//! what a loop carries) can be filled in where it stands, in constant time.

use jut_loop::form::{Kind, LANES};
use std::fmt::{self, Write};

/// What one lane of a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scalar {
    F64,
    F32,
    I64,
    I32,
    Bool,
    Ptr,
}

/// What one lane of a value of a kind is.
pub(crate) fn scalar(kind: Kind) -> Scalar {
    match kind {
        Kind::F64 => Scalar::F64,
        Kind::F32 => Scalar::F32,
        Kind::I64 => Scalar::I64,
        Kind::I32 => Scalar::I32,
        Kind::BOOL => Scalar::Bool,
        Kind::Buffer(_) => Scalar::Ptr,
    }
}

/// The type of a value: one lane, or eight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Type {
    pub scalar: Scalar,
    pub wide: bool,
}

/// The type of indices and lengths.
pub(crate) const INT: Type = Scalar::I64.one();
pub(crate) const FLOAT: Type = Scalar::F64.one();
pub(crate) const BOOL: Type = Scalar::Bool.one();
pub(crate) const PTR: Type = Scalar::Ptr.one();
/// Eight integers.
pub(crate) const INTS: Type = Scalar::I64.wide();
/// Eight floats.
pub(crate) const LANE: Type = Scalar::F64.wide();
/// Eight truth values.
pub(crate) const BOOLS: Type = Scalar::Bool.wide();

/// Iterations that are taken at once.
pub(crate) const EIGHT: i64 = LANES as i64;

/// Says to LLVM that the first way of a branch is the usual one.
const USUALLY: &str = "!prof !0";

impl Scalar {
    pub(crate) const fn one(self) -> Type {
        Type { scalar: self, wide: false }
    }

    pub(crate) const fn wide(self) -> Type {
        Type { scalar: self, wide: true }
    }

    /// As it stands in memory; bools are bytes there.
    pub(crate) fn in_memory(self) -> &'static str {
        match self {
            Scalar::F64 => "double",
            Scalar::F32 => "float",
            Scalar::I64 => "i64",
            Scalar::I32 => "i32",
            Scalar::Bool => "i8",
            Scalar::Ptr => "ptr",
        }
    }

    /// Bytes of one in memory, where it begins at a multiple of them.
    pub(crate) fn bytes(self) -> u32 {
        match self {
            Scalar::F64 | Scalar::I64 | Scalar::Ptr => 8,
            Scalar::F32 | Scalar::I32 => 4,
            Scalar::Bool => 1,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scalar = match self.scalar {
            Scalar::Bool => "i1",
            other => other.in_memory(),
        };
        if self.wide { write!(f, "<8 x {scalar}>") } else { f.write_str(scalar) }
    }
}

impl Type {
    /// The suffix of an intrinsic's name.
    pub(crate) fn suffix(self) -> &'static str {
        match (self.scalar, self.wide) {
            (Scalar::F64, false) => "f64",
            (Scalar::F64, true) => "v8f64",
            (Scalar::F32, false) => "f32",
            (Scalar::F32, true) => "v8f32",
            (Scalar::I64, false) => "i64",
            (Scalar::I64, true) => "v8i64",
            (Scalar::I32, false) => "i32",
            (Scalar::I32, true) => "v8i32",
            (Scalar::Bool, false) => "i1",
            (Scalar::Bool, true) => "v8i1",
            (Scalar::Ptr, false) => "p0",
            (Scalar::Ptr, true) => "v8p0",
        }
    }
}

/// A value that an instruction takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Operand {
    /// The value with this number.
    Temp(u32),
    /// A float, by its bits; one of 32 bits by those of the same number in 64.
    F64(u64),
    /// An integer.
    I64(i64),
    /// A truth value.
    Bool(bool),
    /// The pointer to nothing.
    Null,
}

impl Operand {
    pub(crate) const ZERO: Operand = Operand::F64(0);

    pub(crate) fn float(x: f64) -> Operand {
        Operand::F64(x.to_bits())
    }

    /// As it is written where a value of the type is wanted.
    pub(crate) fn of(self, ty: Type) -> Shown {
        Shown(self, ty)
    }
}

impl From<i64> for Operand {
    fn from(x: i64) -> Operand {
        Operand::I64(x)
    }
}

/// As it is written where one value is wanted; a name is written in one way, whatever it stands for.
impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Temp(k) => write!(f, "%t{k}"),
            Operand::F64(bits) => write!(f, "0x{bits:016X}"),
            Operand::I64(x) => write!(f, "{x}"),
            Operand::Bool(x) => write!(f, "{x}"),
            Operand::Null => f.write_str("null"),
        }
    }
}

/// An operand as it is written where a value of the type is wanted.
pub(crate) struct Shown(Operand, Type);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shown(name @ Operand::Temp(_), _) => write!(f, "{name}"),
            Shown(constant, ty) if ty.wide => write!(f, "splat ({} {constant})", ty.scalar.one()),
            Shown(constant, _) => write!(f, "{constant}"),
        }
    }
}

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Label(u32);

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0)
    }
}

/// A loop, while its body is being written.
pub(crate) struct Looping {
    pub(crate) index: Operand,
    /// What it carries beside the index: name, type, and what it is before the loop.
    carried: Vec<(Operand, Type, Operand)>,
    /// The index before the loop, and where that is entered from.
    before: (Operand, Label),
    /// The piece of the text that is filled in at the end.
    hole: usize,
}

impl Looping {
    pub(crate) fn carried(&self) -> Vec<Operand> {
        self.carried.iter().map(|(value, _, _)| *value).collect()
    }
}

/// The text of a function in the making.
pub(crate) struct Body {
    pieces: Vec<String>,
    /// Stands before everything else.
    begin: String,
    /// Stands after everything else.
    end: String,
    temps: u32,
    labels: u32,
    /// The block that is being written.
    current: Label,
    /// The block that returns a status that is not 0, if there is one.
    leaving: Option<Label>,
    /// Whether lines belong to the cold part.
    in_cold: bool,
    /// For each loop around what is written, outer ones first, the first name that was given in it.
    loops: Vec<u32>,
}

impl Body {
    /// An empty function; its first values have the given number of names.
    pub(crate) fn new(params: u32) -> Body {
        Body {
            pieces: vec![String::new()],
            begin: "b0:\n".to_owned(),
            end: String::new(),
            temps: params,
            labels: 1,
            current: Label(0),
            leaving: None,
            in_cold: false,
            loops: Vec::new(),
        }
    }

    /// The whole text.
    pub(crate) fn finish(self) -> String {
        let mut text = self.begin;
        self.pieces.iter().for_each(|piece| text.push_str(piece));
        text.push_str(&self.end);
        text
    }

    pub(crate) fn current(&self) -> Label {
        self.current
    }

    pub(crate) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    pub(crate) fn labels<const N: usize>(&mut self) -> [Label; N] {
        std::array::from_fn(|_| self.label())
    }

    pub(crate) fn temp(&mut self) -> Operand {
        self.temps += 1;
        Operand::Temp(self.temps - 1)
    }

    fn last(&mut self) -> &mut String {
        if self.in_cold {
            return &mut self.end;
        }
        if self.pieces.is_empty() {
            self.pieces.push(String::new());
        }
        let last = self.pieces.len() - 1;
        &mut self.pieces[last]
    }

    /// An instruction without a value.
    pub(crate) fn line(&mut self, line: impl fmt::Display) {
        // Writing to a string does not fail.
        let _ = writeln!(self.last(), "  {line}");
    }

    /// An instruction with a value.
    pub(crate) fn value(&mut self, line: impl fmt::Display) -> Operand {
        let temp = self.temp();
        self.define(temp, line);
        temp
    }

    /// An instruction whose value has a name already.
    pub(crate) fn define(&mut self, temp: Operand, line: impl fmt::Display) {
        let _ = writeln!(self.last(), "  {temp} = {line}");
    }

    /// An operation on two values of a type, such as `add nsw` or `icmp slt`.
    pub(crate) fn two(
        &mut self,
        name: &str,
        ty: Type,
        a: Operand,
        b: impl Into<Operand>,
    ) -> Operand {
        self.value(format_args!("{name} {ty} {}, {}", a.of(ty), b.into().of(ty)))
    }

    /// The same of integers.
    pub(crate) fn int(&mut self, name: &str, a: Operand, b: impl Into<Operand>) -> Operand {
        self.two(name, INT, a, b)
    }

    /// The smaller of two integers without a sign.
    pub(crate) fn smaller(&mut self, a: Operand, b: i64) -> Operand {
        self.value(format_args!("call i64 @llvm.umin.i64(i64 {a}, i64 {b})"))
    }

    /// Eight times the same.
    pub(crate) fn splat(&mut self, one: Operand, ty: Type) -> Operand {
        let Operand::Temp(_) = one else { return one };
        let first = format_args!("insertelement {ty} poison, {} {one}, i64 0", ty.scalar.one());
        let first = self.value(first);
        self.value(format_args!(
            "shufflevector {ty} {first}, {ty} poison, <8 x i32> zeroinitializer"
        ))
    }

    /// One of eight.
    pub(crate) fn lane(&mut self, all: Operand, ty: Type, k: i64) -> Operand {
        match all {
            Operand::Temp(_) => self.value(format_args!("extractelement {ty} {all}, i64 {k}")),
            constant => constant,
        }
    }

    /// Eight values of which one is another; without any, the others are still to come.
    pub(crate) fn with_lane(
        &mut self,
        all: Option<Operand>,
        ty: Type,
        k: i64,
        one: Operand,
    ) -> Operand {
        let all = all.map_or("poison".to_owned(), |all| all.of(ty).to_string());
        let scalar = ty.scalar.one();
        self.value(format_args!("insertelement {ty} {all}, {scalar} {one}, i64 {k}"))
    }

    /// Memory of the whole function's life.
    pub(crate) fn alloca(&mut self, ty: impl fmt::Display, align: u32) -> Operand {
        let temp = self.temp();
        let _ = writeln!(self.begin, "  {temp} = alloca {ty}, align {align}");
        temp
    }

    /// The address of a cell. How says what is known of the arithmetic: `inbounds nuw`, for instance.
    pub(crate) fn element(
        &mut self,
        how: &str,
        cell: impl fmt::Display,
        from: impl fmt::Display,
        index: impl fmt::Display,
    ) -> Operand {
        self.value(format_args!("getelementptr {how}{cell}, ptr {from}, i64 {index}"))
    }

    /// The k-th part of a value that has several.
    pub(crate) fn part(&mut self, ty: &str, whole: Operand, k: usize) -> Operand {
        self.value(format_args!("extractvalue {ty} {whole}, {k}"))
    }

    /// Loads the k-th word after a place.
    pub(crate) fn load_word(&mut self, from: impl fmt::Display, k: usize, ty: Type) -> Operand {
        let at = self.element("inbounds ", "i64", from, k);
        match ty.scalar {
            Scalar::Bool => {
                let word = self.value(format_args!("load i64, ptr {at}, align 8"));
                self.value(format_args!("trunc i64 {word} to i1"))
            }
            _ => self.value(format_args!("load {ty}, ptr {at}, align 8")),
        }
    }

    /// Stores a value into the k-th word after a place.
    pub(crate) fn store_word(
        &mut self,
        place: impl fmt::Display,
        k: usize,
        value: Operand,
        ty: Type,
    ) {
        let at = self.element("inbounds ", "i64", place, k);
        match ty.scalar {
            Scalar::Bool => {
                let word = self.value(format_args!("zext i1 {value} to i64"));
                self.line(format_args!("store i64 {word}, ptr {at}, align 8"));
            }
            _ => self.line(format_args!("store {ty} {value}, ptr {at}, align 8")),
        }
    }

    /// Begins a block.
    pub(crate) fn begin(&mut self, label: Label) {
        let _ = writeln!(self.last(), "{label}:");
        self.current = label;
    }

    pub(crate) fn jump(&mut self, to: Label) {
        self.line(format_args!("br label %{to}"));
    }

    /// Goes one of two ways.
    pub(crate) fn branch(&mut self, first: Operand, yes: Label, no: Label) {
        self.line(format_args!("br i1 {first}, label %{yes}, label %{no}"));
    }

    /// Goes one of two ways, the first of which is the usual one.
    pub(crate) fn branch_usually(&mut self, first: Operand, yes: Label, no: Label) {
        self.line(format_args!("br i1 {first}, label %{yes}, label %{no}, {USUALLY}"));
    }

    /// A value that depends on where the block is entered from.
    pub(crate) fn join(&mut self, ty: Type, incoming: &[(Operand, Label)]) -> Operand {
        self.value(phi(ty, incoming))
    }

    /// Begins the body of a loop, given its index before it and where it is entered from, and what it carries, each
    /// with its type.
    pub(crate) fn begin_loop(
        &mut self,
        body: Label,
        before: (Operand, Label),
        carried: impl IntoIterator<Item = (Type, Operand)>,
    ) -> Looping {
        self.begin(body);
        self.loops.push(self.temps);
        self.pieces.extend([String::new(), String::new()]);
        let hole = self.pieces.len() - 2;
        let index = self.temp();
        let carried = carried.into_iter().map(|(ty, first)| (self.temp(), ty, first)).collect();
        Looping { index, carried, before, hole }
    }

    /// Says what the next iteration begins with, and where that comes from.
    pub(crate) fn end_loop(
        &mut self,
        looping: Looping,
        (next, latch): (Operand, Label),
        carried: &[Operand],
    ) {
        self.loops.pop();
        let (first, before) = looping.before;
        let hole = &mut self.pieces[looping.hole];
        let index = phi(INT, &[(first, before), (next, latch)]);
        let _ = writeln!(hole, "  {} = {index}", looping.index);
        for ((value, ty, first), next) in looping.carried.iter().zip(carried) {
            let line = phi(*ty, &[(*first, before), (*next, latch)]);
            let _ = writeln!(hole, "  {value} = {line}");
        }
    }

    /// The block that returns a status that is not 0.
    pub(crate) fn leaving(&mut self) -> Label {
        match self.leaving {
            Some(label) => label,
            None => {
                let label = self.label();
                self.leaving = Some(label);
                label
            }
        }
    }

    /// What is written from now on stands after the cold part.
    pub(crate) fn append_cold(&mut self) {
        let end = std::mem::take(&mut self.end);
        self.pieces.push(end);
    }

    /// Whether what is written from now on, blocks without loops, stands in the cold part.
    pub(crate) fn write_cold(&mut self, on: bool) {
        self.in_cold = on;
    }

    /// A float that LLVM takes for another one than it is, so that it does not find what is computed from it elsewhere; one that is the
    /// same in all iterations of the loop stays as it is.
    pub(crate) fn fence(&mut self, float: Operand, ty: Type) -> Operand {
        match float {
            Operand::Temp(temp) if temp >= self.loops.last().copied().unwrap_or(0) => {
                let suffix = ty.suffix();
                self.value(format_args!("call {ty} @llvm.arithmetic.fence.{suffix}({ty} {float})"))
            }
            _ => float,
        }
    }

    /// A line of the cold part.
    pub(crate) fn cold(&mut self, line: impl fmt::Display) {
        let _ = writeln!(self.end, "{line}");
    }
}

/// The text of a phi.
fn phi(ty: Type, incoming: &[(Operand, Label)]) -> String {
    let incoming: Vec<String> =
        incoming.iter().map(|(value, from)| format!("[ {}, %{from} ]", value.of(ty))).collect();
    format!("phi {ty} {}", incoming.join(", "))
}
