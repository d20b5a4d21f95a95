//! Scalars and literals: the one enumeration of them that types, primitives, the loop form, backends and headers
//! share.

/// How wide a float is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Width {
    /// IEEE 754 binary32.
    Single,
    /// IEEE 754 binary64.
    Double,
}

impl Width {
    /// The name of floats of this width in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Width::Single => "f32",
            Width::Double => "f64",
        }
    }

    /// Bytes of one float.
    pub fn bytes(self) -> usize {
        match self {
            Width::Single => 4,
            Width::Double => 8,
        }
    }

    /// The number in this width, or the nearest one.
    pub fn number(self, x: f64) -> Literal {
        match self {
            Width::Single => Literal::F32(x as f32),
            Width::Double => Literal::F64(x),
        }
    }
}

/// A number or truth value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scalar {
    /// An IEEE 754 binary float.
    Float(Width),
    /// A 64-bit two's complement integer, wrapping.
    I64,
    /// A 32-bit two's complement integer, wrapping.
    I32,
    /// A truth value.
    Bool,
}

impl Scalar {
    /// IEEE 754 binary32.
    pub const F32: Scalar = Scalar::Float(Width::Single);
    /// IEEE 754 binary64.
    pub const F64: Scalar = Scalar::Float(Width::Double);

    /// Its name in the text form.
    ///
    /// ```
    /// assert_eq!(jut_ir::Scalar::F64.name(), "f64");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Float(width) => width.name(),
            Scalar::I64 => "i64",
            Scalar::I32 => "i32",
            Scalar::Bool => "bool",
        }
    }

    /// The scalar of a name.
    pub fn named(name: &str) -> Option<Scalar> {
        let mut all =
            [Scalar::F64, Scalar::F32, Scalar::I64, Scalar::I32, Scalar::Bool].into_iter();
        all.find(|scalar| scalar.name() == name)
    }

    /// Zero, or false.
    pub fn zero(self) -> Literal {
        match self {
            Scalar::Float(width) => width.number(0.0),
            Scalar::I64 => Literal::I64(0),
            Scalar::I32 => Literal::I32(0),
            Scalar::Bool => Literal::Bool(false),
        }
    }

    /// Bytes of one in an array.
    pub fn bytes(self) -> usize {
        match self {
            Scalar::Float(width) => width.bytes(),
            Scalar::I64 => 8,
            Scalar::I32 => 4,
            Scalar::Bool => 1,
        }
    }

    /// Whether it is a float, of any width.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::Float(_))
    }
}

/// A literal.
#[derive(Clone, Copy, Debug)]
pub enum Literal {
    /// A float of 64 bits; equality is equality of bits.
    F64(f64),
    /// A float of 32 bits; equality is equality of bits.
    F32(f32),
    /// An integer of 64 bits.
    I64(i64),
    /// An integer of 32 bits.
    I32(i32),
    /// A truth value.
    Bool(bool),
}

impl Literal {
    /// Which scalar it is.
    pub fn scalar(self) -> Scalar {
        match self {
            Literal::F64(_) => Scalar::F64,
            Literal::F32(_) => Scalar::F32,
            Literal::I64(_) => Scalar::I64,
            Literal::I32(_) => Scalar::I32,
            Literal::Bool(_) => Scalar::Bool,
        }
    }

    /// Whether it is neither infinite nor NaN.
    pub fn is_finite(self) -> bool {
        match self {
            Literal::F64(x) => x.is_finite(),
            Literal::F32(x) => x.is_finite(),
            Literal::I64(_) | Literal::I32(_) | Literal::Bool(_) => true,
        }
    }

    fn key(self) -> (u8, u64) {
        match self {
            Literal::F64(x) => (0, x.to_bits()),
            Literal::F32(x) => (3, u64::from(x.to_bits())),
            Literal::I64(x) => (1, x as u64),
            Literal::I32(x) => (4, x as u64),
            Literal::Bool(x) => (2, x as u64),
        }
    }
}

impl PartialEq for Literal {
    fn eq(&self, other: &Literal) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Literal {}

impl std::hash::Hash for Literal {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
