//! The border of a kept derivative: a function that leaves a tape, and two linear maps that read it.
//!
//! What is kept goes from one of them to the others and never to a caller, so nothing of it is handed over in lists. But an
//! argument that the maps read again is known to callers as lists, and to the maps as the value that the function has read
//! out of them: so such values are kept as well, in one record with the tape, and are read once.
//!
//! ```text
//! data f.linearize.kept = (n: i64, x: [n]Bag, tape: f.tape)
//! def f.linearize(n: i64, x: flat) -> (f64, f.linearize.kept) = { .. (y, f.linearize.kept(n, x, tape)) }
//! def f.apply(n: i64, kept: f.linearize.kept, x_t: flat) -> f64 = { .. }
//! ```

use super::code::{Code, field_type};
use super::{Around, Border, Given, declare, put_around};
use jut_ad::compose::{Composition, Linearized, Outcome, Parameter, Saved};
use jut_ir::entity::EntityRef;
use jut_ir::*;

/// What the function leaves for the linear maps in one record.
pub(super) struct Kept {
    data: DataId,
    /// The parameters of the function that say the sizes of its fields, which are its first fields.
    sizes: Vec<usize>,
    /// The parameters whose values are the next ones.
    values: Vec<usize>,
    /// The number of the result that is the last one, the tape, if there is one.
    tape: Option<usize>,
}

/// What one of the functions has to do with what is kept.
#[derive(Clone, Copy)]
pub(super) enum Hand<'k> {
    Nothing,
    /// Gives it, as its last result.
    Gives(&'k Kept),
    /// Takes it, as the last of what is saved.
    Takes(&'k Kept, &'k [Saved]),
}

impl Kept {
    /// The field in which something is that is saved.
    fn field(&self, saved: Saved) -> Option<usize> {
        let behind = |k| self.sizes.len() + k;
        match saved {
            Saved::Argument(k) => self.values.iter().position(|v| *v == k).map(behind),
            Saved::Result(k) => (self.tape == Some(k)).then(|| behind(self.values.len())),
        }
    }
}

impl Hand<'_> {
    /// How many parameters of the function inside are saved values, if it takes what is kept.
    pub fn saved(&self) -> usize {
        match self {
            Hand::Takes(_, saved) => saved.len(),
            _ => usize::MAX,
        }
    }

    /// The field that a parameter of the function inside is.
    pub fn field(&self, parameter: usize) -> Option<usize> {
        match self {
            Hand::Takes(kept, saved) => kept.field(*saved.get(parameter)?),
            _ => None,
        }
    }

    /// The parameter that takes what is kept.
    pub fn parameter(&self, c: &mut Code<'_>, border: &mut Border) -> Option<NVar> {
        let Hand::Takes(kept, _) = self else { return None };
        border.params.push(None);
        Some(c.param("kept", Type::Data(kept.data)))
    }

    /// The fields of what is kept, in order; sizes are the parameters that they are equal to.
    pub fn open(&self, c: &mut Code<'_>, value: NVar, given: &[Given]) -> Vec<NVar> {
        let Hand::Takes(kept, saved) = self else { return Vec::new() };
        let con = ConRef { data: kept.data, index: 0 };
        let parameter = |k: usize| {
            let position = saved.iter().position(|s| *s == Saved::Argument(k))?;
            match given.get(position)? {
                Given::Plain(v) => Some(*v),
                _ => None,
            }
        };
        let sizes: Vec<Option<NVar>> = kept.sizes.iter().map(|k| parameter(*k)).collect();
        let (mut all, mut bound, mut eqs) = (Vec::new(), Vec::new(), Vec::new());
        for (k, field) in c.program.constructor(con).fields.iter().enumerate() {
            let known = sizes.get(k).copied().flatten();
            let v = known.unwrap_or_else(|| {
                let atoms: Vec<Atom> = all.iter().map(|v: &NVar| Atom::Var(*v)).collect();
                let ty = field_type(&c.b.func, &atoms, &field.ty);
                let v = c.var(&field.name, ty);
                bound.push(v);
                v
            });
            all.push(v);
            eqs.push(known.map(Atom::Var));
        }
        c.push(bound, Rhs::Open { con, value, eqs, proved: true });
        all
    }

    /// Makes what is kept of the arguments and of the tape, and gives it in place of the tape.
    pub fn give(
        &self,
        c: &mut Code<'_>,
        args: &[Atom],
        (nl, declared): (&mut Vec<Atom>, &mut Vec<ResultDecl>),
    ) {
        let Hand::Gives(kept) = self else { return };
        let arg = |k: &usize| args.get(*k).copied();
        let mut fields: Vec<Atom> = kept.sizes.iter().chain(&kept.values).filter_map(arg).collect();
        if kept.tape.is_some() {
            fields.extend(nl.pop());
            declared.pop();
        }
        let (con, ty) = (ConRef { data: kept.data, index: 0 }, Type::Data(kept.data));
        nl.push(c.bind("kept", ty.clone(), Rhs::Con(con, fields)));
        declared.push(ResultDecl { name: None, ty });
    }
}

/// Functions around a function and its linear maps that callers can call: in place of those that they cannot call. Gives
/// what is handed over in lists of the function, of the map and of its transpose.
pub(crate) fn wrap_kept(program: &mut Program, made: &mut Linearized) -> [Border; 3] {
    let saved = made.saved.clone();
    let tape = made.primal.results.iter().position(|what| *what == Outcome::Tape);
    let around =
        |made: &Composition, saved: usize, tape: bool| Around::new(program, made.func, saved, tape);
    let all = [
        around(&made.primal, 0, tape.is_some()),
        around(&made.apply, saved.len(), false),
        around(&made.apply_transposed, saved.len(), false),
    ];
    if !all.iter().any(Around::is_needed) {
        return Default::default();
    }
    let (mut read, mut written) = (Vec::new(), Vec::new());
    all.iter().for_each(|around| around.reached(program, &mut read, &mut written));
    let lists = declare(program, &all[0].inner.name, &read, &written);
    let kept = keep(program, &all[0], &saved, tape);
    let [hand_out, take] = match &kept {
        Some(kept) => [Hand::Gives(kept), Hand::Takes(kept, &saved)],
        None => [Hand::Nothing, Hand::Nothing],
    };
    if let Some(kept) = &kept {
        made.saved.retain(|saved| kept.field(*saved).is_none());
        let values = made.primal.results.iter().filter(|what| **what != Outcome::Tape).count();
        made.saved.push(Saved::Result(values));
    }
    let compositions = [&mut made.primal, &mut made.apply, &mut made.apply_transposed];
    let mut borders: [Border; 3] = Default::default();
    for (k, made_of) in compositions.into_iter().enumerate() {
        let hand = if k == 0 { hand_out } else { take };
        if !all[k].is_needed() && kept.is_none() {
            continue;
        }
        (made_of.func, borders[k]) = put_around(program, &lists, &all[k], hand);
        if k > 0 && kept.is_some() {
            made_of.parameters.retain(|what| !matches!(what, Parameter::Saved(_)));
            let now = made.saved.iter().map(|saved| Parameter::Saved(*saved));
            made_of.parameters.splice(0..0, now);
        }
    }
    borders
}

/// Declares what is kept, if some of the arguments that are saved are known to callers as lists.
fn keep(
    program: &mut Program,
    primal: &Around,
    saved: &[Saved],
    tape: Option<usize>,
) -> Option<Kept> {
    let Around { inner, params, results: _, root: _ } = primal;
    let packed = |saved: &Saved| match *saved {
        Saved::Argument(k) => params.get(k).copied().unwrap_or(false).then_some(k),
        Saved::Result(_) => None,
    };
    let values: Vec<usize> = saved.iter().filter_map(packed).collect();
    if values.is_empty() {
        return None;
    }
    let ty = |k: usize| &inner.nvars[inner.params[k]].ty;
    let names: Vec<NVar> = values.iter().flat_map(|k| ty(*k).size_names()).collect();
    let sizes = (0..inner.params.len()).filter(|k| names.contains(&inner.params[*k]));
    let sizes: Vec<usize> = sizes.collect();
    let field = |k: &usize| {
        let place = |v: NVar| sizes.iter().position(|size| inner.params[*size] == v);
        Field {
            name: inner.nvars[inner.params[*k]].name.clone(),
            ty: ty(*k).subst(&mut |v| place(v).map(|at| Size::var(NVar::new(at)))),
        }
    };
    let mut fields: Vec<Field> = sizes.iter().chain(&values).map(field).collect();
    fields.extend(tape.map(|k| Field { name: "tape".into(), ty: inner.results[k].ty.clone() }));
    let name = format!("{}.kept", inner.name);
    let constructors = vec![Constructor { name: name.clone(), fields }];
    let data = program.add_data(Data { name, constructors, ..Data::default() });
    Some(Kept { data, sizes, values, tape })
}
