//! LLVM's text form, a line at a time.
//!
//! A value is a numbered name or a constant. Every operation exists for one value and for eight at
//! once ([`Type::wide`]); a constant stands for eight equal ones where eight are wanted.
//!
//! The text of a function is a list of pieces, so that what is only known later (the next values of
//! a loop's carries) can be filled in where it stands, in constant time.

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

/// The type of a value: one lane, or eight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Type {
    pub scalar: Scalar,
    pub wide: bool,
}

impl Scalar {
    pub(crate) fn one(self) -> Type {
        Type { scalar: self, wide: false }
    }

    pub(crate) fn wide(self) -> Type {
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

    /// A constant as such, or a name.
    pub(crate) fn of(self, ty: Type) -> Shown {
        Shown(self, ty)
    }
}

/// An operand as it is written where a value of the type is wanted.
pub(crate) struct Shown(Operand, Type);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown(operand, ty) = self;
        if let Operand::Temp(k) = operand {
            return write!(f, "%t{k}");
        }
        if ty.wide {
            return write!(f, "splat ({} {})", ty.scalar.one(), operand.of(ty.scalar.one()));
        }
        match operand {
            Operand::Temp(_) => Ok(()),
            Operand::F64(bits) => write!(f, "0x{bits:016X}"),
            Operand::I64(x) => write!(f, "{x}"),
            Operand::Bool(x) => write!(f, "{x}"),
            Operand::Null => f.write_str("null"),
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

/// A place in the text that is filled in later.
pub(crate) struct Hole(usize);

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

    pub(crate) fn temp(&mut self) -> Operand {
        self.temps += 1;
        Operand::Temp(self.temps - 1)
    }

    fn last(&mut self) -> &mut String {
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
        let name = temp.of(Scalar::F64.one());
        let _ = writeln!(self.last(), "  {name} = {line}");
    }

    /// Eight times the same.
    pub(crate) fn splat(&mut self, one: Operand, ty: Type) -> Operand {
        let Operand::Temp(_) = one else { return one };
        let first = one.of(ty.scalar.one());
        let line = format_args!("insertelement {ty} poison, {} {first}, i64 0", ty.scalar.one());
        let first = self.value(line).of(ty);
        self.value(format_args!(
            "shufflevector {ty} {first}, {ty} poison, <8 x i32> zeroinitializer"
        ))
    }

    /// Memory of the whole function's life.
    pub(crate) fn alloca(&mut self, ty: &str, align: u32) -> Operand {
        let temp = self.temp();
        let name = temp.of(Scalar::Ptr.one());
        let _ = writeln!(self.begin, "  {name} = alloca {ty}, align {align}");
        temp
    }

    /// Begins a block.
    pub(crate) fn begin(&mut self, label: Label) {
        let _ = writeln!(self.last(), "{label}:");
        self.current = label;
    }

    pub(crate) fn jump(&mut self, to: Label) {
        self.line(format_args!("br label %{to}"));
    }

    /// A place for lines that are known later.
    pub(crate) fn hole(&mut self) -> Hole {
        self.pieces.push(String::new());
        self.pieces.push(String::new());
        Hole(self.pieces.len() - 2)
    }

    /// A line where there was a hole.
    pub(crate) fn fill(&mut self, hole: &Hole, line: impl fmt::Display) {
        let _ = writeln!(self.pieces[hole.0], "  {line}");
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

    /// A line of the cold part.
    pub(crate) fn cold(&mut self, line: impl fmt::Display) {
        let _ = writeln!(self.end, "{line}");
    }
}
