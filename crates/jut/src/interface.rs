//! How a compiled function looks from outside: its parameters and results by name, type and leaf,
//! and what a call does with them on either engine.
//!
//! A call binds the arguments ([`crate::bind`]), runs an engine, and puts the leaves of the results
//! where they shall go. All lists that this fills are kept in a [`Scratch`] for the next call, so
//! that calls of the same sizes allocate nothing.

use crate::bind::{Binder, Sizes};
use crate::border::Border;
use crate::engine::{self, Failure, Placement, Room, Runner, Sink};
use crate::error::{ArgumentError, Error, Result};
use crate::json::{self, Arguments, Given};
use crate::layout::{Columns, FLAT, Layout, Leaf, peel};
use crate::ports::{Input, Like, Output, Port, ResultLayout};
use crate::shown::show_type;
use crate::source::{RunError, Sources};
use crate::value::{Arg, Copied, Out, Value};
use jut_ad::compose::{Outcome, Parameter};
use jut_eval::{Interpreter, Value as EvalValue};
use jut_ir::{FuncId, NVar, Program, RuntimeError, RuntimeErrorKind, Span, Type};
use jut_native::Arg as Word;
use jut_runtime::Cancellation;
use serde_json::{Map, Value as Json};
use std::sync::Arc;

mod lists;
mod results;

use lists::InLists;
pub use results::Results;

/// A function as its callers see it.
pub(crate) struct Interface {
    sources: Arc<Sources>,
    pub program: Program,
    pub root: FuncId,
    pub binder: Binder,
    /// What its callers give, with their names.
    inputs: Vec<(String, Input)>,
    /// For each of these the type that its caller sees, also in words, if it is handed over in lists.
    packed: Vec<Option<(Type, String)>>,
    /// And the value that it is the tangent of.
    likes: Vec<Option<Like>>,
    pub outputs: Vec<ResultLayout>,
    /// The leaves of all results.
    pub leaves: Vec<Leaf>,
    /// Whether arguments and results are kept in [`Scratch`] for those whose tangents belong to them.
    pub keeps: bool,
}

/// Where the values come from that a function takes and gives.
#[derive(Default)]
pub(crate) struct Origin<'i> {
    /// How many of its first parameters are given by nobody.
    pub kept: usize,
    /// What callers hand over in lists.
    pub border: Border,
    /// The function at whose arguments and results it is the derivative, where these are kept of a run.
    pub of: Option<&'i Interface>,
}

impl Interface {
    /// The interface of a function that takes some values from elsewhere, then what `inputs` says,
    /// and gives what `outputs` says; further results are nobody's business.
    ///
    /// # Errors
    /// A parameter or result whose values cannot cross the border.
    pub fn new(
        sources: Arc<Sources>,
        program: Program,
        root: FuncId,
        Origin { kept, border, of }: Origin<'_>,
        inputs: Vec<Input>,
        outputs: Vec<Output>,
    ) -> Result<Interface> {
        let func = &program.funcs[root];
        let params = func.params.get(kept..).unwrap_or_default();
        let placed = |e: ArgumentError| e.within(sources.clone(), func.span);
        let binder = Binder::new(&program, func, params, &inputs).map_err(placed)?;
        let shown = |ty: Type| (show_type(&program, func, &ty), ty);
        let border = border.renamed(func);
        let mut given = border.params.into_iter().skip(kept);
        let packed = inputs.iter().map(|_| given.next().flatten().map(shown));
        let packed = packed.map(|packed| packed.map(|(shown, ty)| (ty, shown)));
        let visible = packed.zip(&inputs).filter(|(_, i)| !i.hidden);
        let packed = visible.map(|(packed, _)| packed).collect();
        let likes = inputs.iter().filter(|i| !i.hidden);
        let likes = likes.map(|i| {
            let like = Like::of_input(i.what, &inputs, &outputs);
            like.or_else(|| match i.what {
                Parameter::Tangent(k) => of?.kept_argument(k),
                Parameter::Cotangent(k) => of?.kept_result(k),
                _ => None,
            })
        });
        let likes = likes.collect();
        let of_outputs = outputs.iter().map(|o| {
            let like = Like::of_output(o.what, &inputs, &outputs);
            like.or_else(|| match o.what {
                Outcome::Gradient(k) => of?.kept_argument(k),
                Outcome::Tangent(k) => of?.kept_result(k),
                _ => None,
            })
        });
        let of_outputs: Vec<Option<Like>> = of_outputs.collect();
        let visible = inputs.into_iter().filter(|i| !i.hidden);
        let mut lists = border.results.into_iter();
        let mut all = Vec::new();
        let mut results = Vec::new();
        for ((output, like), result) in outputs.into_iter().zip(of_outputs).zip(&func.results) {
            let start = all.len();
            let layout = Layout::labelled(&program, &result.ty, &output.labels).map_err(|e| {
                let reason = format!("not built yet as a result: {e}");
                placed(ArgumentError::new("A06", &output.name.marked, reason, FLAT))
            })?;
            all.extend_from_slice(&layout.leaves);
            let packed = lists.next().flatten();
            results.push(ResultLayout {
                like,
                shown: show_type(&program, func, packed.as_ref().unwrap_or(&result.ty)),
                packed,
                name: output.name.marked,
                role: output.role,
                labels: output.labels,
                ty: result.ty.clone(),
                layout,
                leaves: start..all.len(),
                var: result.name,
            });
        }
        Ok(Interface {
            sources,
            inputs: visible.map(|i| (i.name(), i)).collect(),
            packed,
            likes,
            binder,
            outputs: results,
            leaves: all,
            root,
            program,
            keeps: false,
        })
    }

    /// The argument for the k-th parameter, kept of a run.
    fn kept_argument(&self, k: usize) -> Option<Like> {
        let position = self.inputs.iter().position(|(_, i)| i.what == Parameter::Argument(k))?;
        let (ty, _) = self.params().nth(position)?;
        Some(Like::Kept(position, ty.clone()))
    }

    /// The k-th result, kept of a run.
    fn kept_result(&self, k: usize) -> Option<Like> {
        let output = self.outputs.get(k)?;
        let ty = output.packed.as_ref().unwrap_or(&output.ty);
        Some(Like::Kept(self.inputs.len() + k, ty.clone()))
    }

    /// The name of what is called.
    pub fn name(&self) -> &str {
        &self.program.funcs[self.root].name
    }

    /// Types, and types in words, of what the user gives.
    pub fn params(&self) -> impl Iterator<Item = (&Type, &str)> {
        self.binder.params().zip(&self.packed).map(|(own, packed)| match packed {
            Some((ty, shown)) => (ty, shown.as_str()),
            None => own,
        })
    }

    /// What the user gives.
    pub fn inputs(&self) -> impl Iterator<Item = Port<'_>> {
        self.inputs.iter().zip(self.params()).map(|((name, input), (ty, shown))| Port {
            name,
            ty: shown,
            role: input.role(),
            of: &input.of.marked,
            rank: peel(ty).0,
        })
    }

    /// What the user gets.
    pub fn outputs(&self) -> impl Iterator<Item = Port<'_>> {
        self.outputs.iter().map(|o| Port {
            name: &o.name,
            ty: &o.shown,
            role: o.role,
            of: &o.name,
            rank: peel(o.packed.as_ref().unwrap_or(&o.ty)).0,
        })
    }

    /// The arguments as values that own what they are made of, arrays of numbers with the shapes that they have in a call.
    pub fn owned(&self, args: &[Arg<'_>]) -> Result<Vec<Value>> {
        let mut copies: Vec<Copied> = args.iter().map(|_| Copied::default()).collect();
        copies.iter_mut().zip(args).for_each(|(copy, arg)| copy.take(arg));
        let plain =
            copies.iter().zip(args).map(|(copy, arg)| crate::border::owned(copy.plain(*arg)));
        let mut owned: Vec<Value> = plain.flatten().collect();
        let mut scratch = Scratch::default();
        self.bound(&mut scratch, std::iter::empty(), args, |scratch, parts| {
            let all = self.binder.typed_parts(&scratch.sizes, parts).zip(self.binder.hidden());
            let visible = all.filter(|(_, hidden)| !hidden).zip(&self.packed).zip(&mut owned);
            for ((((_, _, _, shapes), _), packed), value) in visible {
                if packed.is_none() {
                    value.reshape(&mut shapes.into_iter());
                }
            }
            Ok(())
        })?;
        Ok(owned)
    }

    /// See [`crate::Compiled::read_json`].
    pub fn read_json(&self, arguments: &Map<String, Json>) -> Result<Vec<Value>> {
        let given = arguments.iter().map(|(name, json)| (name.clone(), Given::Json(json.clone())));
        self.read(given.collect())
    }

    /// See [`crate::Compiled::read`].
    pub fn read(&self, mut arguments: Arguments) -> Result<Vec<Value>> {
        let is_known = |key: &String| self.inputs.iter().any(|(name, _)| name == key);
        if let Some(extra) = arguments.keys().find(|key| !is_known(key)) {
            let names: Vec<&str> = self.inputs.iter().map(|(name, _)| name.as_str()).collect();
            let reason = format!("there is no parameter `{extra}`, only {}", names.join(", "));
            let help = "give one argument for each parameter, by its name";
            return Err(self.placed(ArgumentError::new("A01", extra, reason, help)));
        }
        let mut values = Vec::new();
        for (k, ((name, input), (ty, shown))) in self.inputs.iter().zip(self.params()).enumerate() {
            let value = match arguments.remove(name) {
                Some(Given::Value(value)) => Ok(json::fitted(ty, value)),
                Some(Given::Json(json)) => {
                    json::read_named(&self.program, (ty, &input.labels), &json).map_err(|reason| {
                        let reason = format!("does not fit `{name}: {shown}`: {reason}");
                        ArgumentError::new(
                            "A02",
                            name,
                            reason,
                            json::how_to_write(&self.program, ty),
                        )
                    })
                }
                None => Err(missing(name, input, shown)),
            };
            values.push(value.map_err(|error| self.placed(error.at(self.binder.span_of(k))))?);
        }
        Ok(values)
    }

    /// See [`crate::Compiled::view_json`].
    pub fn view_json<'a>(&'a self, output: usize, value: &'a Value) -> Result<json::View<'a>> {
        match self.outputs.get(output) {
            Some(output) => {
                let ty = output.packed.as_ref().unwrap_or(&output.ty);
                Ok(json::View::named(&self.program, (ty, &output.labels), value))
            }
            None => Err(Error::Request(format!("there is no result with the number {output}"))),
        }
    }

    /// See [`crate::Compiled::write_json`].
    pub fn write_json(&self, output: usize, value: &Value) -> Result<Json> {
        let view = self.view_json(output, value)?;
        serde_json::to_value(view).map_err(|reason| {
            let name = &self.outputs[output].name;
            Error::Request(format!("`{name}` cannot be written as JSON: {reason}"))
        })
    }

    /// Empty values for the leaves of all results.
    pub fn blank(&self) -> Vec<Value> {
        self.leaves.iter().map(Leaf::blank).collect()
    }

    /// An error of an engine in the words of the user.
    #[cold]
    pub fn failed(&self, failure: Failure) -> Error {
        match failure {
            Failure::Run(mut error) => {
                let made = error.span == Span::NONE;
                if made {
                    error.span = self.program.funcs[self.root].span;
                }
                // L alone writes such a check, of the number of a constructor: no index is less than 0. Where it has a place, that is no access but a
                // call.
                let above = error.operands.first().is_some_and(|k| *k > 0);
                let index = error.kind == RuntimeErrorKind::Index && above;
                let text = &self.sources.of(error.span).text;
                let range = error.span.start as usize..error.span.end as usize;
                let called = text.get(range).is_some_and(|text| text.ends_with(')'));
                let tangents = (made || called) && index && error.operands.get(1) == Some(&0);
                RunError::new(self.sources.clone(), error).of_tangents(tangents).into()
            }
            Failure::Output(leaf, reason) => {
                let output = self.outputs.iter().find(|o| o.leaves.contains(&leaf));
                let name = output.map_or("", |o| o.name.as_str());
                let reason = format!("memory for this result does not fit: {reason}");
                let shown = output.map_or("its type", |o| o.shown.as_str());
                let help =
                    format!("give as much as {shown} has, of the same type; `call` makes it");
                self.placed(ArgumentError::new("A05", name, reason, help))
            }
            Failure::Internal(reason) => Error::Backend(format!("internal error: {reason}")),
        }
    }

    /// Whether results can be written into `outs`, one for each.
    pub fn check_outs(&self, outs: &[Out<'_>]) -> Result<()> {
        if outs.len() == self.leaves.len() && self.outputs.len() == self.leaves.len() {
            return Ok(());
        }
        let names: Vec<&str> = self.outputs.iter().map(|o| o.name.as_str()).collect();
        let missing = names.get(outs.len()).copied().unwrap_or("(one too many)");
        let reason = if self.outputs.len() == self.leaves.len() {
            format!("memory for {} results given; they are {}", outs.len(), names.join(", "))
        } else {
            "tuples and records are not written into memory of the caller; use `call`".into()
        };
        let call = "`call` gives all results as values of jut's own";
        Err(self.placed(ArgumentError::new("A01", missing, reason, call)))
    }

    /// Binds the arguments and does some work with them; `kept` are the values of those names that do
    /// not come from them.
    pub fn bound<T>(
        &self,
        scratch: &mut Scratch,
        kept: impl Iterator<Item = (NVar, i64)>,
        args: &[Arg<'_>],
        work: impl FnOnce(&mut Scratch, &[Arg<'_>]) -> Result<T>,
    ) -> Result<T> {
        // The memory of the last call, for references of this one's life time.
        let mut copied = std::mem::take(&mut scratch.copied);
        if copied.len() < args.len() {
            copied.resize_with(args.len(), Copied::default);
        }
        copied.iter_mut().zip(args).for_each(|(copy, arg)| copy.take(arg));
        let mut plain = recycled(std::mem::take(&mut scratch.plain));
        plain.extend(copied.iter().zip(args).map(|(copy, arg)| copy.plain(*arg)));
        let mut lists = std::mem::take(&mut scratch.lists);
        scratch.points.clear();
        if self.has_lists() || self.keeps {
            let Scratch { points, kept, .. } = scratch;
            lists = self.pack(&plain, kept, points).map_err(|error| self.placed(error))?;
            for (arg, packed) in plain.iter_mut().zip(&lists.values) {
                if let Some(packed) = packed {
                    *arg = packed.into();
                }
            }
        }
        // What is known of a run goes before what lists say, and is held against them.
        let kept = lists.names().chain(kept);
        let mut parts = recycled(std::mem::take(&mut scratch.parts));
        let columns = self.binder.columns(&plain);
        let sizes = &mut scratch.sizes;
        let bound = self.binder.bind(kept, &plain, &columns, sizes, &mut parts);
        let outcome = match bound {
            Ok(()) => match self.wrong_size(&lists, sizes) {
                None => work(scratch, &parts),
                Some(error) => Err(self.placed(error)),
            },
            Err(error) => Err(self.placed(error)),
        };
        scratch.parts = recycled(parts);
        scratch.plain = recycled(plain);
        scratch.lists = lists;
        scratch.copied = copied;
        outcome
    }

    /// Of each parameter, hidden ones included, whether the size of an argument or result is said by it.
    pub fn say_sizes(&self) -> impl Iterator<Item = bool> {
        let leaves = self.leaves.iter().filter(|leaf| leaf.fields.is_none());
        let terms = leaves.flat_map(|leaf| &leaf.dims).flat_map(|dim| dim.terms());
        let names: Vec<NVar> = terms.flat_map(|(names, _)| names.iter().copied()).collect();
        self.binder.say_sizes(names)
    }

    /// Puts arguments with names in the order of the parameters: there is a place for each.
    ///
    /// # Errors
    /// A name that is no parameter, or is there twice; a parameter that no name is (A01).
    pub fn in_order<'a>(&self, args: &[(&str, Arg<'a>)], ordered: &mut [Arg<'a>]) -> Result<()> {
        let refuse = |name: &str, k: Option<usize>, reason: String| {
            let names: Vec<&str> = self.inputs().map(|port| port.name).collect();
            let help = format!("give each of {} once", names.join(", "));
            let span = k.map_or(Span::NONE, |k| self.binder.span_of(k));
            Err(self.placed(ArgumentError::new("A01", name, reason, help).at(span)))
        };
        for (name, _) in args {
            if !self.inputs().any(|port| port.name == *name) {
                return refuse(name, None, format!("the function has no parameter `{name}`"));
            }
        }
        for (k, (port, place)) in self.inputs().zip(ordered).enumerate() {
            let mut given = args.iter().filter(|(name, _)| *name == port.name);
            let Some((_, arg)) = given.next() else {
                return refuse(port.name, Some(k), format!("no argument for `{}`", port.name));
            };
            if given.next().is_some() {
                return refuse(port.name, Some(k), format!("`{}` is given twice", port.name));
            }
            *place = *arg;
        }
        Ok(())
    }

    /// The error of a result that is not finite, with what made it.
    pub fn not_finite(&self, span: Span, what: String) -> Error {
        let kind = RuntimeErrorKind::NotFinite;
        let span = if span == Span::NONE { self.program.funcs[self.root].span } else { span };
        let error = RuntimeError { kind, span, operands: Vec::new() };
        RunError::new(self.sources.clone(), error).saying(what).into()
    }

    /// An error about an argument, with its place in the program.
    pub fn placed(&self, error: ArgumentError) -> Error {
        error.within(self.sources.clone(), self.program.funcs[self.root].span).into()
    }

    /// Runs machine code on bound arguments; the results go to their destination.
    pub fn run(
        &self,
        scratch: &mut Scratch,
        parts: &[Arg<'_>],
        to: &mut Destination<'_, '_>,
        placements: &[Placement],
        runner: &mut impl Runner,
    ) -> Result<()> {
        let limit = runner.limit();
        let mut room = Room::new(to.held(), limit);
        let mut words = recycled_words(std::mem::take(&mut scratch.words));
        let mut prepared =
            engine::prepare(placements, runner, parts, to.sinks(), &mut room, &mut words);
        if room.is_wasted() || (prepared.is_err() && room.taken > 0) {
            // What results of earlier calls hold may be what is missing now.
            words = recycled_words(words);
            to.release();
            room = Room::new(0, limit);
            prepared =
                engine::prepare(placements, runner, parts, to.sinks(), &mut room, &mut words);
        }
        runner.set_aside(room.taken);
        let Scratch { call, returned, .. } = scratch;
        let called = prepared.and_then(|()| runner.call(&mut words, call, returned));
        scratch.words = recycled_words(words);
        called
            .and_then(|results| {
                room.limit = limit.saturating_sub(results.held());
                engine::collect(placements, results, to.sinks(), &mut room)
            })
            .map_err(|failure| self.failed(failure))
    }

    /// `before` and the bound arguments as the interpreter has them.
    pub fn entered(
        &self,
        before: &[EvalValue],
        sizes: &Sizes,
        parts: &[Arg<'_>],
    ) -> Result<Vec<EvalValue>> {
        let mut args = before.to_vec();
        engine::enter_all(&self.program, self.binder.typed_parts(sizes, parts), &mut args)
            .map_err(|failure| self.failed(failure))?;
        Ok(args)
    }

    /// Runs the interpreter on `before` and bound arguments; the results go to the leaves. Gives all
    /// arguments and results as the interpreter has them.
    pub fn interpret(
        &self,
        (interpreter, cancellation): (&Interpreter, Option<&Cancellation>),
        before: &[EvalValue],
        sizes: &Sizes,
        parts: &[Arg<'_>],
        to: &mut Destination<'_, '_>,
    ) -> Result<(Vec<EvalValue>, Vec<EvalValue>)> {
        let failed = |failure| self.failed(failure);
        // Results of earlier calls are not needed any more: every result is made anew.
        to.release();
        let args = self.entered(before, sizes, parts)?;
        let bytes = |values: &[EvalValue]| -> u64 { values.iter().map(EvalValue::bytes).sum() };
        let copied = bytes(&args);
        let limited = interpreter
            .clone()
            .memory_limit(interpreter.limit().saturating_sub(copied))
            .cancelled_by(cancellation.cloned());
        let results = engine::interpret(&limited, self.root, &args).map_err(failed)?;
        // A result is there three times for a moment: as the interpreter has it, taken apart, and
        // where it goes.
        let limit = usize::try_from(interpreter.limit()).unwrap_or(usize::MAX);
        let mut room = Room::new(0, limit);
        let made = copied.saturating_add(bytes(&results));
        room.take(usize::try_from(made).unwrap_or(usize::MAX)).map_err(failed)?;
        let wrong = || self.failed(Failure::Internal("a result has another type".into()));
        let mut sinks = to.sinks();
        let mut k = 0;
        for (output, value) in self.outputs.iter().zip(&results) {
            let bytes = usize::try_from(value.bytes()).unwrap_or(usize::MAX);
            room.take(bytes).map_err(failed)?;
            let value = engine::leave(&self.program, &output.ty, value).ok_or_else(wrong)?;
            let columns = Columns::of(&output.layout, (&value).into());
            let (mut made, mut given) = (columns.made(), Vec::new());
            let apart = output.layout.take_apart((&value).into(), &mut made, &mut given);
            apart.map_err(|_| wrong())?;
            for part in given {
                let sink = sinks.next().ok_or_else(wrong)?;
                engine::store(part, sink, &mut room, k).map_err(failed)?;
                k += 1;
            }
            room.taken -= bytes;
        }
        Ok((args, results))
    }

    /// Gives every array among the results the shape that its type says.
    pub fn shape(&self, sizes: &mut Sizes, results: &mut [Value]) {
        for output in &self.outputs {
            if let (Some(var), Some(Value::I64(n))) = (output.var, results.get(output.leaves.start))
            {
                sizes.set(var, *n);
            }
        }
        for output in &self.outputs {
            for k in output.leaves.clone() {
                let Some(leaf) = self.leaves.get(k) else { continue };
                let Some(shape) = results.get_mut(k).and_then(Value::shape_mut) else { continue };
                let mut shape = std::mem::take(shape);
                let field = |f: usize| match results.get(output.leaves.start + f) {
                    Some(Value::I64(n)) => Some(*n),
                    _ => None,
                };
                let size = |dim| leaf.eval(dim, &|v| sizes.get(v), &field).unwrap_or(0);
                shape.clear();
                shape.extend(leaf.dims.iter().map(|d| usize::try_from(size(d)).unwrap_or(0)));
                if let Some(to) = results.get_mut(k).and_then(Value::shape_mut) {
                    *to = shape;
                }
            }
        }
    }
}

/// Where the leaves of the results go: into values that grow as needed, or into memory of the user,
/// which must fit. One of the two lists is empty.
pub(crate) struct Destination<'d, 'o> {
    own: &'d mut [Value],
    outs: &'d mut [Out<'o>],
}

impl<'d, 'o> Destination<'d, 'o> {
    pub fn own(own: &'d mut [Value]) -> Destination<'d, 'o> {
        Destination { own, outs: &mut [] }
    }

    pub fn outs(outs: &'d mut [Out<'o>]) -> Destination<'d, 'o> {
        Destination { own: &mut [], outs }
    }

    /// Bytes that its values hold.
    pub fn held(&self) -> usize {
        self.own.iter().map(Value::held).sum()
    }

    /// Whether they are values that grow as needed.
    pub fn is_own(&self) -> bool {
        self.outs.is_empty()
    }

    /// Gives the memory of its values back to the system.
    pub fn release(&mut self) {
        self.own.iter_mut().for_each(Value::release);
    }

    /// Its values, or the memory of the caller; one of them is empty.
    pub fn parts(&mut self) -> (&mut [Value], &mut [Out<'o>]) {
        (self.own, self.outs)
    }

    /// Each leaf's, in order.
    pub fn sinks(&mut self) -> impl Iterator<Item = Sink<'_, 'o>> {
        let outs = self.outs.iter_mut().map(Sink::Out);
        self.own.iter_mut().map(Sink::Own).chain(outs)
    }
}

/// Lists that a call fills and the next one uses again.
#[derive(Default)]
pub(crate) struct Scratch {
    pub sizes: Sizes,
    /// What is kept of views of other libraries, one for each argument.
    copied: Vec<Copied>,
    plain: Vec<Arg<'static>>,
    parts: Vec<Arg<'static>>,
    words: Vec<Word<'static>>,
    /// Arguments that are handed over in lists.
    lists: InLists,
    /// Arguments that results are tangents of, where these are handed over in lists.
    points: Vec<Option<Value>>,
    /// The same of a run before: its arguments, then its results.
    pub kept: Arc<Vec<Option<Value>>>,
    /// All results, if any of them, or of the arguments, is handed over in lists.
    pub unpacked: Vec<Option<Value>>,
    call: Vec<u64>,
    returned: Vec<u64>,
}

/// The same list, empty, for references of another life time. The memory stays.
pub(crate) fn recycled<'b>(mut list: Vec<Arg<'_>>) -> Vec<Arg<'b>> {
    list.clear();
    list.into_iter().map(|_| Arg::Bool(false)).collect()
}

fn recycled_words<'b>(mut list: Vec<Word<'_>>) -> Vec<Word<'b>> {
    list.clear();
    list.into_iter().map(|_| Word::Bool(false)).collect()
}

/// An argument, tangent or cotangent that was not given, and how it is.
fn missing(name: &str, input: &Input, shown: &str) -> ArgumentError {
    let own = &input.of.bare;
    let (reason, option) = match input.what {
        Parameter::Tangent(_) => {
            (format!("no tangent for the parameter `{own}: {shown}`"), "--tangent")
        }
        Parameter::Cotangent(_) | Parameter::LinearCotangent(_) => {
            (format!("no cotangent for the result `{own}: {shown}`"), "--cotangent")
        }
        Parameter::Argument(_) | Parameter::Saved(_) | Parameter::Size | Parameter::Count => {
            let reason = format!("no argument for the parameter `{name}: {shown}`");
            let help =
                format!("on the command line, `--arg \"{name}=..\"`; in JSON, the key `{name}`");
            return ArgumentError::new("A01", name, reason, help);
        }
    };
    let help = format!("on the command line, `{option} {own}=..`; in JSON, the key `{name}`");
    ArgumentError::new("A01", name, reason, help)
}
