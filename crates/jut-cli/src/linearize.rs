//! `jut linearize`: the derivative at a point, recorded once and applied to any number of tangents and
//! cotangents.

use crate::input;
use crate::interrupt::ending_calls;
use crate::options::{Format, Linearize};
use crate::output::{Tree, print, print_columns, print_tree, results_json_of};
use crate::subject::{borrowed, function, time_passes};
use crate::verify::verify_linearized;
use jut::json::Arguments;
use jut::{Error, Linearized, Port, Request, Result, Value};

/// Does what the command line asks for; gives the exit code.
pub fn linearize(options: &Linearize) -> Result<u8> {
    let Linearize { call, tangents, cotangents } = options;
    if !call.outputs.out.is_empty() || call.outputs.out_dir.is_some() {
        let reason = "jut linearize has results of several applications and prints them all; use \
                      --format json instead of --out";
        return Err(Error::Request(reason.to_string()));
    }
    let mut function = function(&call.subject)?.engine(call.engine()).parallel(!call.sequential);
    if let Some(bytes) = call.memory_limit {
        function = function.memory_limit(bytes);
    }
    time_passes(&call.subject, &function, &[Request::Vjp])?;
    let linearized = function.linearize()?;
    let ports: Vec<Port<'_>> = linearized.inputs().collect();
    let mut given =
        input::arguments(call.given.file_args.as_deref(), &call.given.args, "", &rank(&ports))?;
    if call.given.file_args.is_some() {
        // One file of arguments serves all requests and directions.
        given.retain(|key, _| !key.ends_with('\''));
    }
    let args = linearized.read(given)?;
    let mut seeds = Vec::new();
    for (transposed, texts) in [(false, tangents), (true, cotangents)] {
        for group in groups(&linearized, transposed, texts)? {
            seeds.push((transposed, linearized.read_seeds(transposed, group)?));
        }
    }
    let mut tape = linearized.tape();
    let mut derivatives: [Vec<Vec<Value>>; 2] = Default::default();
    ending_calls(|cancellation| -> Result<()> {
        tape.set_cancellation(cancellation);
        tape.record(&borrowed(&args))?;
        let mut session = linearized.session();
        session.set_cancellation(cancellation);
        for (transposed, seeds) in &seeds {
            let made = match transposed {
                false => session.apply(&tape, &borrowed(seeds))?,
                true => session.apply_transposed(&tape, &borrowed(seeds))?,
            };
            derivatives[usize::from(*transposed)].push(made.values());
        }
        Ok(())
    })?;
    let checks = match call.check {
        true => Some(verify_linearized(&function, &call.compared(), &args, &seeds)?),
        false => None,
    };
    let results = tape.results()?.values();
    match call.subject.format {
        Format::Text => {
            let mut lines = Vec::new();
            for (k, (output, value)) in linearized.outputs().zip(&results).enumerate() {
                let tree = Tree::View(linearized.view_json(k, value)?);
                lines.push((output.name.to_string(), tree));
            }
            lines.push(("tape".into(), Tree::Text(format!("{} bytes", tape.bytes()))));
            for (transposed, all) in [false, true].into_iter().zip(&derivatives) {
                for (n, values) in all.iter().enumerate() {
                    for (k, (port, value)) in
                        results_of(&linearized, transposed).zip(values).enumerate()
                    {
                        let what = if transposed { "cotangent" } else { "tangent" };
                        let view = linearized.view_derivative_json(transposed, k, value)?;
                        lines.push((format!("{what} {} {port}", n + 1), Tree::View(view)));
                    }
                }
            }
            print_columns(&lines)?;
            if let Some(checks) = &checks {
                print(&checks.text());
            }
        }
        Format::Json => {
            let own = linearized.outputs().zip(&results).enumerate();
            let own = own.map(|(k, (output, value))| {
                Ok((output.name.to_string(), Tree::View(linearized.view_json(k, value)?)))
            });
            let mut all = results_json_of(own.collect::<Result<_>>()?);
            all.insert("tape_bytes".into(), Tree::Json(tape.bytes().into()));
            for (transposed, key) in [(false, "tangents"), (true, "cotangents")] {
                let one = |values| -> Result<Tree<'_>> {
                    let named = results_of(&linearized, transposed).zip(values).enumerate();
                    let named = named.map(|(k, (port, value))| {
                        let view = linearized.view_derivative_json(transposed, k, value)?;
                        Ok((port, Tree::View(view)))
                    });
                    Ok(Tree::Map(named.collect::<Result<_>>()?))
                };
                let list = derivatives[usize::from(transposed)].iter().map(one);
                all.insert(key.into(), Tree::List(list.collect::<Result<_>>()?));
            }
            if let Some(checks) = &checks {
                all.insert("check".into(), Tree::Json(checks.json()));
            }
            print_tree(&Tree::Map(all))?;
        }
    }
    Ok(if checks.is_some_and(|c| !c.good()) { 4 } else { 0 })
}

/// The names of what the map, or its transpose, gives.
fn results_of(linearized: &Linearized, transposed: bool) -> impl Iterator<Item = String> {
    let ports: Vec<String> = match transposed {
        false => linearized.cotangents().map(|p| p.of.to_string()).collect(),
        true => linearized.tangents().map(|p| p.of.to_string()).collect(),
    };
    ports.into_iter()
}

/// How many dimensions a port has.
fn rank<'p>(ports: &'p [Port<'p>]) -> impl Fn(&str) -> Option<usize> + 'p {
    |name| Some(ports.iter().find(|p| p.name == name)?.rank)
}

/// Directions by application: the k-th one that names a port belongs to the k-th application.
fn groups(linearized: &Linearized, transposed: bool, texts: &[String]) -> Result<Vec<Arguments>> {
    let ports: Vec<Port<'_>> = match transposed {
        false => linearized.tangents().collect(),
        true => linearized.cotangents().collect(),
    };
    let suffix = if transposed { "''" } else { "'" };
    let mut groups: Vec<Arguments> = Vec::new();
    for text in texts {
        let one = input::arguments(None, std::slice::from_ref(text), suffix, &rank(&ports))?;
        for (name, value) in one {
            match groups.iter_mut().find(|group| !group.contains_key(&name)) {
                Some(group) => group.insert(name, value),
                None => {
                    groups.push(Arguments::from([(name, value)]));
                    None
                }
            };
        }
    }
    Ok(groups)
}
