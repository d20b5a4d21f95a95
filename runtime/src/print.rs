//! What programs print: lines of text, made piece by piece.
//!
//! Compiled code and the interpreter hand on pieces ([`Piece`]): text, a number, the end of the line. In a Rust program
//! the pieces of a line are collected by the thread that runs the call, and the whole line goes to the [`Printer`] of
//! the call ([`to`]), or to standard error if there is none. In the static library, which has no state, each piece goes
//! to standard error at once.
//!
//! Numbers are printed as in JSON: the shortest digits that read back to the number, with a point or an exponent; `NaN`,
//! `inf`, `-inf`.

use core::fmt::{self, Write};

/// A piece of what is printed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Piece {
    /// Up to 8 bytes of text; zeros at the end are not a part of it.
    Text([u8; 8]),
    /// A comma and a space, unless the number is 0: what stands before the element of this number.
    Before(i64),
    /// A float.
    F64(f64),
    /// A float of 32 bits.
    F32(f32),
    /// An integer.
    I64(i64),
    /// A truth value.
    Bool(bool),
    /// The end of the line.
    End,
}

/// The pieces that the function for compiled code tells apart by a number.
pub mod code {
    /// Up to 8 bytes of text, the first one the lowest byte of the word.
    pub const TEXT: i64 = 0;
    /// What stands before the element of a number.
    pub const BEFORE: i64 = 1;
    /// An integer.
    pub const I64: i64 = 2;
    /// A truth value, 0 or 1.
    pub const BOOL: i64 = 3;
    /// The end of the line.
    pub const END: i64 = 4;
    /// Of floats: one of 64 bits.
    pub const F64: i64 = 0;
    /// Of floats: one of 32 bits, given as one of 64.
    pub const F32: i64 = 1;
}

impl Piece {
    /// The piece of a number of [`code`].
    fn of(what: i64, word: i64) -> Piece {
        match what {
            code::TEXT => Piece::Text(word.to_le_bytes()),
            code::BEFORE => Piece::Before(word),
            code::I64 => Piece::I64(word),
            code::BOOL => Piece::Bool(word != 0),
            _ => Piece::End,
        }
    }

    /// Writes it.
    ///
    /// # Errors
    /// Those of what is written to.
    pub fn write(self, out: &mut impl Bytes) -> fmt::Result {
        match self {
            Piece::Text(bytes) => {
                let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
                out.bytes(&bytes[..end]);
                Ok(())
            }
            Piece::Before(0) => Ok(()),
            Piece::Before(_) => out.write_str(", "),
            Piece::F64(x) => number(x, format_args!("{x:e}"), out),
            Piece::F32(x) => number(f64::from(x), format_args!("{x:e}"), out),
            Piece::I64(k) => write!(out, "{k}"),
            Piece::Bool(b) => out.write_str(if b { "true" } else { "false" }),
            Piece::End => out.write_str("\n"),
        }
    }
}

/// What takes text, a character of which may come in two pieces.
pub trait Bytes: Write {
    /// Takes some bytes.
    fn bytes(&mut self, bytes: &[u8]);
}

/// A few bytes, for the digits of a number.
struct Short {
    bytes: [u8; 32],
    len: usize,
}

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let free = self.bytes.get_mut(self.len..self.len + text.len()).ok_or(fmt::Error)?;
        free.copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}

/// A number, given its shortest digits with an exponent: written out where it is neither small nor large.
fn number(x: f64, digits: fmt::Arguments<'_>, out: &mut impl Write) -> fmt::Result {
    if x.is_nan() {
        return out.write_str("NaN");
    }
    if x.is_infinite() {
        return out.write_str(if x > 0.0 { "inf" } else { "-inf" });
    }
    let mut short = Short { bytes: [0; 32], len: 0 };
    short.write_fmt(digits)?;
    let text = core::str::from_utf8(&short.bytes[..short.len]).map_err(|_| fmt::Error)?;
    let (mantissa, exponent) = text.split_once('e').ok_or(fmt::Error)?;
    let exponent: i32 = exponent.parse().map_err(|_| fmt::Error)?;
    if !(-5..16).contains(&exponent) {
        return out.write_str(text);
    }
    let mantissa = match mantissa.strip_prefix('-') {
        Some(rest) => {
            out.write_str("-")?;
            rest
        }
        None => mantissa,
    };
    if exponent < 0 {
        out.write_str("0.")?;
        for _ in exponent..-1 {
            out.write_str("0")?;
        }
    }
    // The digits without the point, which stands behind as many as the exponent says, and one more.
    let mut before = exponent + 1;
    for digit in mantissa.chars().filter(|c| *c != '.') {
        if before == 0 && exponent >= 0 {
            out.write_str(".")?;
        }
        out.write_char(digit)?;
        before -= 1;
    }
    if exponent >= 0 && before >= 0 {
        for _ in 0..before {
            out.write_str("0")?;
        }
        out.write_str(".0")?;
    }
    Ok(())
}

/// In a Rust program: lines, and who gets them.
#[cfg(not(jut_freestanding))]
mod lines {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::io::Write as _;
    use std::sync::Arc;

    /// Who gets the lines that programs print, from whichever thread runs them: each as a whole, without its end.
    #[derive(Clone)]
    pub struct Printer(Arc<dyn Fn(&str) + Send + Sync>);

    impl Printer {
        /// One that calls a function.
        pub fn new(print: impl Fn(&str) + Send + Sync + 'static) -> Printer {
            Printer(Arc::new(print))
        }
    }

    impl fmt::Debug for Printer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Printer")
        }
    }

    thread_local! {
        static CURRENT: RefCell<Option<Printer>> = const { RefCell::new(None) };
        static LINE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    }

    impl Write for Line<'_> {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.extend_from_slice(text.as_bytes());
            Ok(())
        }
    }

    impl Bytes for Line<'_> {
        fn bytes(&mut self, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }
    }

    struct Line<'a>(&'a mut Vec<u8>);

    /// Runs calls on this thread whose lines a printer gets; without one, standard error. A line that a call began and
    /// did not end is forgotten.
    ///
    /// ```
    /// use jut_runtime::print::{self, Piece, Printer};
    /// use std::sync::{Arc, Mutex};
    /// let lines = Arc::new(Mutex::new(Vec::new()));
    /// let taken = lines.clone();
    /// let printer = Printer::new(move |line| taken.lock().unwrap().push(line.to_string()));
    /// print::to(Some(printer), || {
    ///     print::piece(Piece::Text(*b"x =\0\0\0\0\0"));
    ///     print::piece(Piece::F64(-0.25));
    ///     print::piece(Piece::End);
    /// });
    /// assert_eq!(*lines.lock().unwrap(), ["x =-0.25"]);
    /// ```
    pub fn to<T>(printer: Option<Printer>, work: impl FnOnce() -> T) -> T {
        /// Puts back what was there before, also on the way out of a panic.
        struct Before(Option<Printer>, Vec<u8>);
        impl Drop for Before {
            fn drop(&mut self) {
                CURRENT.replace(self.0.take());
                LINE.set(std::mem::take(&mut self.1));
            }
        }
        let _before = Before(CURRENT.replace(printer), LINE.take());
        work()
    }

    /// Who gets the lines of this thread, for threads that go on with its work.
    pub fn current() -> Option<Printer> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Prints a piece.
    pub fn piece(piece: Piece) {
        let mut line = LINE.take();
        if piece != Piece::End {
            // What is collected takes everything.
            let _ = piece.write(&mut Line(&mut line));
            return LINE.set(line);
        }
        match current() {
            Some(Printer(print)) => print(&String::from_utf8_lossy(&line)),
            None => {
                line.push(b'\n');
                // Nobody hears of it if standard error is closed.
                let _ = std::io::stderr().lock().write_all(&line);
            }
        }
        line.clear();
        LINE.set(line);
    }
}

#[cfg(not(jut_freestanding))]
pub use lines::{Printer, current, piece, to};

/// Prints a piece: to standard error, at once.
#[cfg(jut_freestanding)]
pub fn piece(piece: Piece) {
    unsafe extern "C" {
        #[cfg_attr(windows, link_name = "_write")]
        fn write(file: core::ffi::c_int, bytes: *const core::ffi::c_void, len: usize) -> isize;
    }
    struct StandardError;
    impl Write for StandardError {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.bytes(text.as_bytes());
            Ok(())
        }
    }
    impl Bytes for StandardError {
        fn bytes(&mut self, bytes: &[u8]) {
            // SAFETY: the bytes are there. Nobody hears of it if standard error is closed.
            let _ = unsafe { write(2, bytes.as_ptr().cast(), bytes.len()) };
        }
    }
    let _ = piece.write(&mut StandardError);
}

/// Prints a piece that is no float: what it is ([`code`]), and its word.
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub extern "C" fn jut_print(what: i64, word: i64) {
    piece(Piece::of(what, word));
}

/// Prints a float; its code says of how many bits.
///
/// # Safety
/// The memory is that of a float.
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub unsafe extern "C" fn jut_print_float(x: *const f64, what: i64) {
    // SAFETY: as required of the caller.
    float(unsafe { *x }, what);
}

/// Prints a float.
pub fn float(x: f64, what: i64) {
    piece(if what == code::F32 { Piece::F32(x as f32) } else { Piece::F64(x) });
}

/// Prints a piece that is no float.
pub fn word(what: i64, word: i64) {
    piece(Piece::of(what, word));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    fn printed(pieces: &[Piece]) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let taken = lines.clone();
        let printer = Printer::new(move |line| taken.lock().unwrap().push(line.to_string()));
        to(Some(printer), || pieces.iter().for_each(|p| piece(*p)));
        lines.lock().unwrap().clone()
    }

    fn shown(x: f64) -> String {
        printed(&[Piece::F64(x), Piece::End]).remove(0)
    }

    #[test]
    fn floats_are_printed_as_json_has_them() {
        for (x, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-12.5, "-12.5"),
            (100.0, "100.0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (0.001, "0.001"),
            (1.5e-5, "0.000015"),
            (1e-5, "0.00001"),
            (9.9e-6, "9.9e-6"),
            (1234567890123456.0, "1234567890123456.0"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e16"),
            (1.25e300, "1.25e300"),
            (5e-324, "5e-324"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(shown(x), text);
            assert!(x.is_nan() || shown(x).parse::<f64>().unwrap().to_bits() == x.to_bits());
        }
        assert_eq!(printed(&[Piece::F32(0.1), Piece::End]), ["0.1"]);
    }

    #[test]
    fn lines_are_whole_and_those_without_an_end_are_forgotten() {
        let text = |text: &str| {
            let mut bytes = [0; 8];
            bytes[..text.len()].copy_from_slice(text.as_bytes());
            Piece::Text(bytes)
        };
        let pieces = [
            text("12345678"),
            text("é"),
            Piece::Before(0),
            Piece::I64(-3),
            Piece::Before(1),
            Piece::Bool(true),
            Piece::End,
            Piece::End,
            text("lost"),
        ];
        assert_eq!(printed(&pieces), ["12345678é-3, true", ""]);
        assert_eq!(printed(&[Piece::End]), [""]);
    }
}
