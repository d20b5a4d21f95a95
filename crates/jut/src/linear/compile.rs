//! From a function to its linearization: J and U once, the linear half and its transpose beside each
//! other, all three optimised and compiled for one tape.

use super::{LinearCode, LinearMap, Linearized, SavedSize, SharedLinear};
use crate::border;
use crate::engine::{self, Placement};
use crate::error::{Error, Result};
use crate::foreign;
use crate::interface::{Interface, Origin};
use crate::load::with_large_stack;
use crate::model::Function;
use crate::pipeline::{interpreter, mask, refusal, start_optimised};
use crate::ports;
use jut_ad::compose::{self, Saved};
use jut_ir::{Diagnostic, FuncId, Program, Type};
use jut_loop::Lowered;
use jut_loop::flatten::Seen;
use jut_loop::form::Foreign;
use jut_native::{Backend, Recorder};

/// Linearizes a function: itself with a tape, the linear map and its transpose, ready to run.
pub(crate) fn linearize(function: &Function) -> Result<Linearized> {
    let refused = |d: Diagnostic| refusal(function, d);
    with_large_stack(|| {
        let (mut derivatives, func) = start_optimised(function);
        let wrt = mask(function, &derivatives.program, func);
        let policy = function.tape_policy();
        let mut made = compose::linearize(&mut derivatives, func, &wrt, policy).map_err(refused)?;
        let borders = border::wrap_kept(&mut derivatives.program, &mut made);
        let all = [&made.primal, &made.apply, &made.apply_transposed];
        let roots = all.map(|composition| composition.func);
        let programs = roots.map(|root| jut_opt::optimise(&derivatives.program, root, true));
        let ports =
            |k: usize| ports::ports(function.definition(), all[k], &programs[k].funcs[roots[k]]);
        let [ports, forward_ports, reverse_ports] = [0, 1, 2].map(ports);
        let results = ports.1.len();
        let (code, placements) = match function.chosen_engine().backend() {
            None => {
                let [primal, apply, transposed] = &programs;
                let made = [
                    interpreter(function, primal, roots[0])?,
                    interpreter(function, apply, roots[1])?,
                    interpreter(function, transposed, roots[2])?,
                ];
                (LinearCode::Interpreted(Box::new(made)), [Vec::new(), Vec::new()])
            }
            Some(backend) => {
                let [primal, apply, transposed] = &programs;
                let f = &primal.funcs[roots[0]];
                let entries = [f, &apply.funcs[roots[1]], &transposed.funcs[roots[2]]];
                // All three lay out the tape in the same way, and nobody else looks into it.
                let seen = match f.results.get(results).map(|r| &r.ty) {
                    Some(Type::Data(tape)) => Seen::but_for_tape(primal, &entries, *tape),
                    _ => Seen::by_callers(primal, &entries),
                };
                let lower = |program: &Program, root| {
                    let functions = foreign::functions(function.model(), program, &[root])?;
                    let lowered = jut_loop::lower_seen(program, root, &seen);
                    let mut lowered = lowered.map_err(refused)?;
                    lowered.program.foreign = functions.map(Foreign::Functions).unwrap_or_default();
                    Ok::<_, Error>(lowered.finish())
                };
                let primal = lower(primal, roots[0])?;
                let apply = lower(apply, roots[1])?;
                let transposed = lower(transposed, roots[2])?;
                native(backend, &primal, &made.saved, [&apply, &transposed], results)?
            }
        };
        let sources = || function.model().shared_sources();
        let [primal, apply, transposed] = programs;
        let [border, forward_border, reverse_border] = borders;
        let origin = Origin { border, ..Origin::default() };
        let mut primal = Interface::new(sources(), primal, roots[0], origin, ports.0, ports.1)?;
        let is_size = |saved: &Saved| {
            let f = &primal.program.funcs[roots[0]];
            let ty = match *saved {
                Saved::Argument(k) => f.params.get(k).map(|p| &f.nvars[*p].ty),
                Saved::Result(k) => f.results.get(k).map(|r| &r.ty),
            };
            ty == Some(&Type::I64)
        };
        let sizes: Vec<usize> =
            (0..made.saved.len()).filter(|k| is_size(&made.saved[*k])).collect();
        let map = |program: Program, root: FuncId, border, (inputs, outputs), placements| {
            let params = &program.funcs[root].params;
            let names = sizes.iter().filter_map(|k| params.get(*k).copied()).collect();
            let kept = made.saved.len();
            let origin = Origin { kept, border, of: Some(&primal) };
            let interface = Interface::new(sources(), program, root, origin, inputs, outputs)?;
            Ok::<_, Error>(LinearMap { interface, sizes: names, placements })
        };
        let [forward, reverse] = placements;
        let maps = [
            map(apply, roots[1], forward_border, forward_ports, forward)?,
            map(transposed, roots[2], reverse_border, reverse_ports, reverse)?,
        ];
        let keeps = maps.iter().any(|map| map.interface.has_lists());
        let sizes = sizes.iter().map(|k| match made.saved[*k] {
            Saved::Argument(k) => SavedSize::Argument(primal.binder.start_of(k)),
            Saved::Result(k) => {
                SavedSize::Result(primal.outputs.get(k).map_or(0, |o| o.leaves.start))
            }
        });
        let sizes = sizes.collect();
        primal.keeps = keeps;
        let (limit, parallel) = (function.limit(), function.is_parallel());
        let (engine, saved) = (function.chosen_engine(), made.saved);
        let shared = SharedLinear { primal, maps, saved, sizes, code, engine, limit, parallel };
        Ok(Linearized::new(shared))
    })
}

/// Machine code for a function and the maps that continue from it.
fn native(
    backend: &Backend,
    primal: &Lowered,
    saved: &[Saved],
    maps: [&Lowered; 2],
    results: usize,
) -> Result<(LinearCode, [Vec<Placement>; 2])> {
    let saved: Vec<jut_native::Saved> = saved
        .iter()
        .map(|saved| match *saved {
            Saved::Argument(k) => jut_native::Saved::Argument(k),
            Saved::Result(k) => jut_native::Saved::Result(k),
        })
        .collect();
    let recorder = Recorder::compile(primal, &saved, &maps, backend)
        .map_err(|e| Error::Backend(e.to_string()))?;
    let placements = maps.map(|map| engine::placements(map, map.signature.results.len()));
    let code = LinearCode::Native(Box::new(recorder), engine::placements(primal, results));
    Ok((code, placements))
}
