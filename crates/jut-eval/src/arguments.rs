//! Arguments of a call from outside: tested against the parameters' types, because nothing else
//! guarantees that they fit; and sizes found from the arrays that have them.

use crate::code::Code;
use crate::frame::Frame;
use crate::region::checked_dim;
use crate::scalar::LinearScalar;
use crate::value::{Value, View};
use crate::{EvalError, Interpreter};
use jut_ir::Size;
use jut_ir::entity::FuncId;
use jut_ir::ir::Mode;
use jut_ir::types::Type;

impl Interpreter {
    /// The whole list of non-linear arguments from one without the size parameters: every size is
    /// a dimension of one of the arrays.
    ///
    /// Fails if a size is the dimension of no array, or there are too few arguments.
    pub fn with_sizes(&self, func: FuncId, args: &[Value]) -> Result<Vec<Value>, EvalError> {
        let Some(code) = self.code(func) else {
            return argument("there is no such function".into());
        };
        let (sizes, rest) = code.params.split_at(code.size_params.min(code.params.len()));
        let mut all = Vec::with_capacity(code.params.len());
        for ((slot, _), size) in sizes.iter().zip(&code.names) {
            let found =
                rest.iter().zip(args).find_map(|((_, ty), value)| dimension(ty, value, *slot));
            match found {
                Some(n) => all.push(Value::I64(n as i64)),
                None => {
                    let message = format!("{}: no argument has the size `{size}`", code.name);
                    return argument(message);
                }
            }
        }
        all.extend_from_slice(args);
        Ok(all)
    }

    /// Puts arguments into the slots of the parameters after testing their types.
    pub(crate) fn bind(
        &self,
        code: &Code,
        frame: &mut Frame,
        args: &[Value],
        linear: &[Value],
        caps: &[Value],
    ) -> Result<(), EvalError> {
        let sections = [
            ("non-linear", code.params.len(), args.len()),
            ("linear", code.lin_params.len(), linear.len()),
            ("capability", code.cap_params.len(), caps.len()),
        ];
        for (section, expected, found) in sections {
            if expected != found {
                let name = &code.name;
                return argument(format!(
                    "{name} takes {expected} {section} arguments, not {found}"
                ));
            }
        }
        let mut names = code.names.iter();
        let mut test = |frame: &Frame, ty: &Type, value: &Value, linear: LinearScalar| {
            let name = names.next().map(String::as_str).unwrap_or_default();
            if self.has_type(value, ty, linear, &mut |s| frame.size(s)) {
                return Ok(());
            }
            let what = &code.name;
            argument(format!("{what}: the argument for `{name}` does not have its type"))
        };
        for ((slot, ty), value) in code.params.iter().zip(args) {
            test(frame, ty, value, LinearScalar::F64)?;
            frame.set(*slot, value.clone());
        }
        for ((slot, ty), value) in code.lin_params.iter().zip(linear) {
            test(frame, ty, value, self.linear)?;
            frame.set(*slot, value.clone());
        }
        for (param, value) in code.cap_params.iter().zip(caps) {
            let scalar = if param.mode == Mode::Acc { LinearScalar::F64 } else { self.linear };
            test(frame, &param.ty, value, scalar)?;
        }
        Ok(())
    }

    /// Whether a value has a type under an assignment of its size names.
    fn has_type(
        &self,
        value: &Value,
        ty: &Type,
        linear: LinearScalar,
        size: &mut dyn FnMut(&Size) -> i64,
    ) -> bool {
        match (ty, value) {
            (&Type::F64, Value::F64(_)) | (&Type::F32, Value::F32(_)) => {
                linear == LinearScalar::F64
            }
            (Type::Float(_), Value::I64(_)) => linear == LinearScalar::Field,
            (Type::I64, Value::I64(_))
            | (Type::I32, Value::I32(_))
            | (Type::Bool, Value::Bool(_)) => true,
            (Type::Tuple(types), Value::Tuple(items)) => {
                types.len() == items.len()
                    && types
                        .iter()
                        .zip(items.iter())
                        .all(|(t, v)| self.has_type(v, t, linear, size))
            }
            (Type::Data(data), Value::Data(con, fields)) => {
                let Some(constructor) = self
                    .datas
                    .get(*data)
                    .filter(|_| con.data == *data)
                    .and_then(|d| d.constructors.get(con.index as usize))
                else {
                    return false;
                };
                // The k-th field is the size name with number k.
                let mut field = |s: &Size| {
                    s.eval(&mut |v| match fields.get(v.as_u32() as usize) {
                        Some(Value::I64(n)) => *n,
                        _ => 0,
                    })
                };
                constructor.fields.len() == fields.len()
                    && constructor
                        .fields
                        .iter()
                        .zip(fields.iter())
                        .all(|(f, v)| self.has_type(v, &f.ty, linear, &mut field))
            }
            (Type::Array(..), Value::Array(array)) => {
                let mut inner = ty;
                let mut dims = Vec::new();
                while let Type::Array(n, element) = inner {
                    let Ok(dim) = checked_dim(size(n), &dims) else { return false };
                    match array.dim(dims.len()) {
                        Some(found) if found == dim || dims.contains(&0) => dims.push(found),
                        _ => return false,
                    }
                    inner = element;
                }
                if array.rank() != dims.len() {
                    return false;
                }
                match (array.view(), inner) {
                    (View::F64(_), &Type::F64) | (View::F32(_), &Type::F32) => {
                        linear == LinearScalar::F64
                    }
                    (View::I64(_), Type::Float(_)) => linear == LinearScalar::Field,
                    (View::I64(_), Type::I64)
                    | (View::I32(_), Type::I32)
                    | (View::Bool(_), Type::Bool) => true,
                    (View::Items(items), Type::Tuple(_) | Type::Data(_)) => {
                        items.iter().all(|v| self.has_type(v, inner, linear, size))
                    }
                    // Without elements there is nothing that could have another type.
                    _ => array.view().is_empty(),
                }
            }
            _ => false,
        }
    }
}

fn argument<T>(message: String) -> Result<T, EvalError> {
    Err(EvalError::Argument { message })
}

/// The dimension of a value where its type has just the size name with the given slot.
fn dimension(ty: &Type, value: &Value, slot: u32) -> Option<usize> {
    match (ty, value) {
        (Type::Tuple(types), Value::Tuple(items)) => {
            types.iter().zip(items.iter()).find_map(|(t, v)| dimension(t, v, slot))
        }
        (Type::Array(..), Value::Array(array)) => {
            let mut inner = ty;
            let mut k = 0;
            while let Type::Array(n, element) = inner {
                if n.as_var().is_some_and(|v| v.as_u32() == slot) {
                    return array.dim(k);
                }
                k += 1;
                inner = element;
            }
            None
        }
        _ => None,
    }
}
