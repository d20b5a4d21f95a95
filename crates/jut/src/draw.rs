//! Pictures of programs: the data flow of a stage, as SVG.
//!
//! Values are blue, tangents and cotangents orange, as non-linear and linear code are told apart in the
//! figures of the paper. After J the two are mixed; after U they stand in two frames, and what goes
//! from one to the other is the tape, drawn dashed; after T the linear frame is turned upside down, so
//! that the arrows go up: the same picture as before with every linear arrow reversed.
//!
//! | module | what |
//! |---|---|
//! | `graph` | a definition as a graph of statements |
//! | `layout` | where its nodes stand |
//! | `svg` | the text of the picture |
//!
//! *Requires*: a stage in Linear A. *Cost*: linear in the definition, up to the invisible nodes of the
//! layout; more than [`LARGEST`] nodes are refused, since nobody could read them.

mod graph;
mod layout;
mod svg;

use crate::error::{Error, Result};
use crate::load::with_large_stack;
use crate::model::Function;
use crate::pipeline::{self, Stage};
use graph::{Builder, Graph, MARGIN, TITLE};
use jut_ir::visit::Use;
use jut_ir::{Atom, FuncId, NVar, Program, Rhs};
use svg::Picture;

/// The most nodes of a picture.
pub const LARGEST: usize = 2000;

impl Function {
    /// A picture of the data flow of a stage, as SVG: values in one colour, tangents and cotangents in
    /// another, and the tape between the halves after U and T. This is what `jut show --draw` writes.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def f(u: f64) -> f64 = -sin(u)")?;
    /// let picture = model.function("f")?.draw(jut::Stage::Unzip)?;
    /// assert!(picture.starts_with("<svg") && picture.contains("f.nonlin"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Function::compile`], and [`Error::Request`] for a stage that is not in Linear A, or a
    /// definition that is too large for a picture.
    pub fn draw(&self, stage: Stage) -> Result<String> {
        self::draw(self, stage)
    }
}

/// Draws a stage.
fn draw(function: &Function, stage: Stage) -> Result<String> {
    if stage.is_lowered() {
        return Err(Error::Request(format!(
            "there is no picture of the stage {}; draw core, forward, unzip, transpose, gradient or \
             optimised",
            stage.name()
        )));
    }
    with_large_stack(|| {
        let made = pipeline::made(function, stage)?;
        match (made.nonlin, made.funcs.as_slice()) {
            (Some(nonlin), [linear]) => two(&made.program, nonlin, *linear, true),
            (None, [nonlin, linear]) => two(&made.program, *nonlin, *linear, false),
            (_, funcs) => one(&made.program, funcs.last().copied().unwrap_or(function.id())),
        }
    })
}

fn too_large(count: usize) -> Result<()> {
    match count > LARGEST {
        true => Err(Error::Request(format!(
            "a picture of {count} operations cannot be read; draw a smaller function"
        ))),
        false => Ok(()),
    }
}

/// One definition.
fn one(program: &Program, func: FuncId) -> Result<String> {
    too_large(crate::watch::own_statements(program, func))?;
    let graph = Builder { program, func, tape: None }.definition();
    let mut picture = Picture::default();
    let (w, h) = framed(&mut picture, &program.funcs[func].name, &graph, MARGIN, 0.0, false);
    Ok(picture.finish(w + 2.0 * MARGIN, h + 2.0 * MARGIN))
}

/// Draws a graph in a frame, at least as high as given; gives the size of the frame.
fn framed(
    picture: &mut Picture,
    title: &str,
    graph: &Graph,
    x: f64,
    height: f64,
    turned: bool,
) -> (f64, f64) {
    let (gw, gh) = graph.layout.size;
    let w = gw.max(title.chars().count() as f64 * graph::LETTER) + 2.0 * MARGIN;
    let h = (gh + TITLE + 2.0 * MARGIN).max(height);
    picture.frame(title, x, MARGIN, w, h);
    picture.graph(graph, x + MARGIN, 2.0 * MARGIN + TITLE, turned);
    (w, h)
}

/// The two halves, and the tape between them.
fn two(program: &Program, nonlin: FuncId, linear: FuncId, turned: bool) -> Result<String> {
    let own = |func| crate::watch::own_statements(program, func);
    too_large(own(nonlin) + own(linear))?;
    let tape = Tape::between(program, nonlin, linear);
    let draw = |func, tape| Builder { program, func, tape }.definition();
    let left = draw(nonlin, tape.as_ref().map(|tape| tape.made));
    let right = draw(linear, tape.as_ref().map(|tape| tape.opened));
    let mut picture = Picture::default();
    let highest = left.layout.size.1.max(right.layout.size.1) + TITLE + 2.0 * MARGIN;
    let (w, h) = framed(&mut picture, &program.funcs[nonlin].name, &left, MARGIN, highest, false);
    let x = MARGIN + w + 5.0 * MARGIN;
    let (v, _) = framed(&mut picture, &program.funcs[linear].name, &right, x, highest, turned);
    let below = 2.0 * MARGIN + TITLE;
    for (stored, read) in tape.map(|tape| tape.fields).unwrap_or_default() {
        let ends = (left.makes.get(&Use::N(stored)), right.makes.get(&Use::N(read)));
        if let (Some(maker), Some(port)) = ends {
            let ((mx, my), (mw, mh)) = (left.layout.corners[*maker], left.nodes[*maker].size);
            let ((px, py), (pw, _)) = (right.layout.corners[*port], right.nodes[*port].size);
            let py = if turned { right.layout.size.1 - py } else { py };
            let name = &program.funcs[nonlin].nvars[stored].name;
            let from = (2.0 * MARGIN + mx + mw, below + my + mh / 2.0);
            picture.tape(from, (x + MARGIN + px + pw / 2.0, below + py), turned, name);
        }
    }
    Ok(picture.finish(x + v + MARGIN, h + 2.0 * MARGIN))
}

/// What goes over the tape.
struct Tape {
    /// The record, the last result of the non-linear half.
    made: NVar,
    /// The record, a parameter of the linear half.
    opened: NVar,
    /// What is stored, and what it is called when it is read.
    fields: Vec<(NVar, NVar)>,
}

impl Tape {
    fn between(program: &Program, nonlin: FuncId, linear: FuncId) -> Option<Tape> {
        let (from, to) = (&program.funcs[nonlin], &program.funcs[linear]);
        let made = from.body.nl.last()?.var()?;
        let (con, values) = from.body.stmts.iter().rev().find_map(|stmt| match &stmt.rhs {
            Rhs::Con(con, values) if stmt.nl == [made] => Some((*con, values)),
            _ => None,
        })?;
        let (opened, eqs, names) = to.body.stmts.iter().find_map(|stmt| match &stmt.rhs {
            Rhs::Open { con: c, value, eqs, .. } if *c == con && to.params.contains(value) => {
                Some((*value, eqs, &stmt.nl))
            }
            _ => None,
        })?;
        let mut names = names.iter().copied();
        let field = |(stored, eq): (&Atom, &Option<Atom>)| {
            // A size that is known is not bound.
            let name = if eq.is_none() { names.next() } else { None };
            Some((stored.var()?, name?))
        };
        let fields = values.iter().zip(eqs).filter_map(field).collect();
        Some(Tape { made, opened, fields })
    }
}
