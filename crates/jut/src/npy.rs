//! NumPy's file format `.npy`: arrays in and out.
//!
//! | in the file | becomes |
//! |---|---|
//! | `f8`; `f4`, widened | floats |
//! | `i8`; `i4`, `i2`, `i1`, `u4`, `u2`, `u1`, widened | integers |
//! | `b1` | truth values |
//!
//! in either byte order, row by row (`C`) or column by column (`Fortran`), of any rank; rank 0 is a
//! scalar. Widening is exact. Written are `f8`, `i8` and `b1`, little-endian, row by row.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! use jut::{Array, Value, npy};
//! let value = Value::F64s(Array { shape: vec![2, 2], data: vec![1.0, 2.0, 3.0, 4.0] });
//! let mut bytes = Vec::new();
//! npy::write(&mut bytes, &value).expect("memory takes it");
//! assert_eq!(npy::read(&bytes[..])?, value);
//! # Ok(())
//! # }
//! ```
//!
//! *Requires*: nothing of the bytes. *Ensures*: a file that is not of this form, or ends early, is an
//! error that says why; memory grows with what is read, not with what the header claims. *Cost*: one
//! pass over the file in pieces, and one over the array where its order is changed.

use crate::error::{Error, Result};
use crate::value::{Array, Value, cells};
use std::io::{self, Read, Write};

/// The longest header that is read. NumPy's own are below 200 bytes for these types.
const LONGEST: usize = 1 << 16;

/// The scalar types that are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Float,
    Signed,
    Unsigned,
    Bool,
}

/// What the header says.
#[derive(Debug)]
struct Header {
    kind: Kind,
    /// Bytes of a scalar.
    width: usize,
    big_endian: bool,
    fortran: bool,
    shape: Vec<usize>,
}

fn wrong<T>(text: impl Into<String>) -> Result<T> {
    Err(Error::Input(text.into()))
}

/// Reads an array, or a scalar, in whole.
///
/// # Errors
/// [`Error::Input`] with what is wrong with the file.
pub fn read(mut reader: impl Read) -> Result<Value> {
    let header = header(&mut reader)?;
    let Some(count) = cells(&header.shape) else {
        return wrong("the shape has more elements than memory can hold");
    };
    let shape = header.shape.clone();
    Ok(match header.kind {
        Kind::Float => {
            let data = scalars(
                &mut reader,
                &header,
                count,
                match header.width {
                    4 => |b: [u8; 8]| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
                    _ => f64::from_le_bytes,
                },
            )?;
            one(shape, data, Value::F64, Value::F64s)
        }
        Kind::Signed | Kind::Unsigned => {
            let unused = 64 - 8 * header.width as u32;
            let data = match header.kind {
                Kind::Signed => scalars(&mut reader, &header, count, |b| {
                    // The sign comes from the highest bit that there is.
                    (i64::from_le_bytes(b) << unused) >> unused
                })?,
                _ => scalars(&mut reader, &header, count, i64::from_le_bytes)?,
            };
            one(shape, data, Value::I64, Value::I64s)
        }
        Kind::Bool => {
            let data = scalars(&mut reader, &header, count, |b| b[0] != 0)?;
            one(shape, data, Value::Bool, Value::Bools)
        }
    })
}

/// A scalar for rank 0, else an array.
fn one<T: Copy>(
    shape: Vec<usize>,
    data: Vec<T>,
    scalar: impl FnOnce(T) -> Value,
    array: impl FnOnce(Array<T>) -> Value,
) -> Value {
    match (shape.as_slice(), data.as_slice()) {
        ([], [value]) => scalar(*value),
        _ => array(Array { shape, data }),
    }
}

/// Reads the scalars row by row. `decode` is given the bytes of a scalar, the lowest first, and
/// zeros.
fn scalars<T: Copy>(
    reader: &mut impl Read,
    header: &Header,
    count: usize,
    decode: impl Fn([u8; 8]) -> T,
) -> Result<Vec<T>> {
    let width = header.width;
    let mut piece = vec![0u8; 1 << 16];
    let mut data: Vec<T> = Vec::new();
    while data.len() < count {
        let bytes = (count - data.len()).saturating_mul(width).min(piece.len());
        let Some(part) = piece.get_mut(..bytes) else { break };
        let filled = fill(reader, part)?;
        let whole = filled / width;
        if data.try_reserve(whole).is_err() {
            return wrong("the array does not fit into memory");
        }
        for scalar in part[..whole * width].chunks_exact(width) {
            let mut low_first = [0u8; 8];
            low_first[..width].copy_from_slice(scalar);
            if header.big_endian {
                low_first[..width].reverse();
            }
            data.push(decode(low_first));
        }
        if filled < bytes {
            let found = data.len();
            return wrong(format!("the file ends early: {found} of {count} elements are there"));
        }
    }
    Ok(if header.fortran { by_rows(&data, &header.shape) } else { data })
}

/// Reads until the piece is full or the file ends; gives the number of bytes.
fn fill(reader: &mut impl Read, piece: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < piece.len() {
        match reader.read(&mut piece[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return wrong(error.to_string()),
        }
    }
    Ok(filled)
}

/// An array that was given column by column, row by row.
fn by_rows<T: Copy>(data: &[T], shape: &[usize]) -> Vec<T> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1;
    for size in shape {
        strides.push(stride);
        stride *= size;
    }
    let mut index = vec![0; shape.len()];
    let mut at = 0;
    let mut rows = Vec::with_capacity(data.len());
    for _ in 0..data.len() {
        rows.extend(data.get(at).copied());
        for k in (0..shape.len()).rev() {
            index[k] += 1;
            at += strides[k];
            if index[k] < shape[k] {
                break;
            }
            at -= strides[k] * shape[k];
            index[k] = 0;
        }
    }
    rows
}

/// Reads the header: a magic word, a version, a length, and a dictionary in Python's notation.
fn header(reader: &mut impl Read) -> Result<Header> {
    let mut start = [0u8; 8];
    if fill(reader, &mut start)? < 8 || start[..6] != *b"\x93NUMPY" {
        return wrong("this is not an .npy file: it does not begin with NumPy's magic word");
    }
    let mut length = [0u8; 4];
    let digits = match start[6] {
        1 => 2,
        2 | 3 => 4,
        version => return wrong(format!("the .npy version {version} is not known")),
    };
    if fill(reader, &mut length[..digits])? < digits {
        return wrong("the file ends in its header");
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST {
        return wrong(format!("the header has {length} bytes, more than any of these types needs"));
    }
    let mut text = vec![0; length];
    if fill(reader, &mut text)? < length {
        return wrong("the file ends in its header");
    }
    let text = String::from_utf8_lossy(&text).into_owned();
    parse(&text)
}

/// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`: what follows each of the keys.
fn parse(text: &str) -> Result<Header> {
    let after = |key: &str| -> Result<&str> {
        let quoted = [format!("'{key}'"), format!("\"{key}\"")];
        let found = quoted.iter().find_map(|q| text.split_once(q.as_str()));
        let value = found.and_then(|(_, rest)| rest.trim_start().strip_prefix(':'));
        value.map(str::trim_start).map_or_else(|| wrong(format!("the header has no `{key}`")), Ok)
    };
    let descr = after("descr")?;
    let quote = descr.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let descr = quote.and_then(|q| descr[1..].split(q).next());
    let Some(descr) = descr else {
        return wrong("records and lists of fields are not read; save an array of one type");
    };
    let (order, code) = match descr.chars().next() {
        Some(order @ ('<' | '>' | '|' | '=')) => (order, &descr[1..]),
        _ => ('=', descr),
    };
    let (kind, width) = match code {
        "f8" => (Kind::Float, 8),
        "f4" => (Kind::Float, 4),
        "i8" => (Kind::Signed, 8),
        "i4" => (Kind::Signed, 4),
        "i2" => (Kind::Signed, 2),
        "i1" => (Kind::Signed, 1),
        "u4" => (Kind::Unsigned, 4),
        "u2" => (Kind::Unsigned, 2),
        "u1" => (Kind::Unsigned, 1),
        "b1" => (Kind::Bool, 1),
        _ => {
            return wrong(format!(
                "the type `{descr}` is not read; use f8, f4, i8, i4, i2, i1, u4, u2, u1 or b1 \
                 (`x.astype('f8')`)"
            ));
        }
    };
    let fortran = after("fortran_order")?;
    let fortran = match (fortran.starts_with("True"), fortran.starts_with("False")) {
        (true, _) => true,
        (_, true) => false,
        _ => return wrong("`fortran_order` in the header is neither True nor False"),
    };
    let shape = after("shape")?;
    let inside = shape.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let Some((inside, _)) = inside else {
        return wrong("`shape` in the header is not a list of numbers in parentheses");
    };
    let sizes = inside.split(',').map(str::trim).filter(|size| !size.is_empty());
    let sizes: std::result::Result<Vec<usize>, _> =
        sizes.map(|size| size.trim_end_matches('L').parse()).collect();
    let Ok(shape) = sizes else {
        return wrong(format!("`({inside})` in the header is not a shape"));
    };
    let big_endian = order == '>' || order == '=' && cfg!(target_endian = "big");
    Ok(Header { kind, width, big_endian, fortran, shape })
}

/// Writes a number, a truth value or an array of them.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for a tuple or record, else what the writer says.
pub fn write(mut writer: impl Write, value: &Value) -> io::Result<()> {
    match value {
        Value::F64(x) => put(&mut writer, "<f8", &[], &[*x], f64::to_le_bytes),
        Value::F32(x) => put(&mut writer, "<f4", &[], &[*x], f32::to_le_bytes),
        Value::I32(x) => put(&mut writer, "<i4", &[], &[*x], i32::to_le_bytes),
        Value::I64(x) => put(&mut writer, "<i8", &[], &[*x], i64::to_le_bytes),
        Value::Bool(x) => put(&mut writer, "|b1", &[], &[*x], |b| [u8::from(b)]),
        Value::F64s(a) => put(&mut writer, "<f8", &a.shape, &a.data, f64::to_le_bytes),
        Value::F32s(a) => put(&mut writer, "<f4", &a.shape, &a.data, f32::to_le_bytes),
        Value::I32s(a) => put(&mut writer, "<i4", &a.shape, &a.data, i32::to_le_bytes),
        Value::I64s(a) => put(&mut writer, "<i8", &a.shape, &a.data, i64::to_le_bytes),
        Value::Bools(a) => put(&mut writer, "|b1", &a.shape, &a.data, |b| [u8::from(b)]),
        Value::Tuple(_) | Value::Data(..) | Value::List(_) => {
            let reason = "a tuple, record or sum, or an array of these, is not one array of numbers: write it as JSON";
            Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
        }
    }
}

fn put<T: Copy, const N: usize>(
    writer: &mut impl Write,
    descr: &str,
    shape: &[usize],
    data: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> io::Result<()> {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let shape = format!("({}{comma})", sizes.join(", "));
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // The data begin at a multiple of 64, behind a newline.
    let start = (10 + header.len() + 1).next_multiple_of(64);
    header.extend(std::iter::repeat_n(' ', start - 11 - header.len()));
    header.push('\n');
    let Ok(length) = u16::try_from(header.len()) else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the array has too many dimensions",
        ));
    };
    writer.write_all(b"\x93NUMPY\x01\x00")?;
    writer.write_all(&length.to_le_bytes())?;
    writer.write_all(header.as_bytes())?;
    let mut piece = Vec::with_capacity(1 << 16);
    for part in data.chunks((1 << 16) / N.max(1)) {
        piece.clear();
        part.iter().for_each(|x| piece.extend_from_slice(&bytes(*x)));
        writer.write_all(&piece)?;
    }
    writer.flush()
}
