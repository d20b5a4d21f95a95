//! `jut explain`: what a gradient stores, and what it costs.

use crate::options::{Format, Given, Subject};
use crate::output::{place_json, print, print_json};
use crate::subject::{function, read, time_passes};
use jut::{Arg, Function, Request, Result, Span, StageCost};
use serde_json::{Value as Json, json};

/// Prints what is on the tape.
pub fn tape(subject: &Subject) -> Result<u8> {
    let function = function(subject)?;
    time_passes(subject, &function, &[Request::ValueAndGradient])?;
    if subject.format == Format::Text {
        let report = function.explain_tape()?;
        let (title, rest) = report.split_once('\n').unwrap_or((&report, ""));
        print(&format!("{title}\n{}{rest}", doc(&function)));
        return Ok(0);
    }
    let report = function.tape_report()?;
    let sources = function.sources();
    let place = |span: Span| (span != Span::NONE).then(|| place_json(sources, span));
    let stored = report.stored.iter().map(|value| {
        json!({
            "name": value.name,
            "type": value.ty,
            "bytes": report.sizes.text(&value.bytes),
            "tape": value.record,
            "reason": value.reason.to_string(),
            "place": place(value.span),
            "needed_by": value.needed_by.as_ref()
                .map(|need| json!({ "tangent": need.tangent, "place": place(need.span) })),
        })
    });
    let avoided = report.avoided.iter().map(|value| {
        json!({ "name": value.name, "how": value.how.to_string(), "place": place(value.span) })
    });
    let others = function.tape_alternatives()?.into_iter();
    let others =
        others.map(|(policy, report)| (policy.name().to_string(), report.formula().into()));
    print_json(&json!({
        "function": report.function,
        "doc": function.doc(),
        "bytes": report.formula(),
        "stored": stored.collect::<Vec<_>>(),
        "not_stored": avoided.collect::<Vec<_>>(),
        "other_policies": others.collect::<serde_json::Map<String, Json>>(),
    }));
    Ok(0)
}

/// The doc comment of a function, as it stands in the text.
fn doc(function: &Function) -> String {
    function.doc().lines().map(|line| format!("/// {line}").trim_end().to_string() + "\n").collect()
}

/// Prints what the stages cost.
pub fn cost(subject: &Subject, given: &Given) -> Result<u8> {
    let function = function(subject)?;
    time_passes(subject, &function, &[Request::ValueAndGradient])?;
    let value = function.value()?;
    let args = read(given, &function, &value, "", &[])?;
    let args: Vec<Arg<'_>> = args.iter().map(Arg::from).collect();
    let report = function.explain_cost(&args)?;
    if subject.format == Format::Text {
        print(&format!("{}{report}", doc(&function)));
        return Ok(0);
    }
    let stage = |stage: &StageCost| -> Json {
        let c = &stage.counters;
        json!({
            "name": stage.name,
            "work": c.work, "integers": c.integers, "copied": c.copied,
            "moved": c.moved, "tape": c.tape,
            "linear_inputs": stage.inputs, "linear_outputs": stage.outputs,
        })
    };
    let bounds = report.bounds().map(|bound| {
        json!({
            "theorem": bound.theorem, "says": bound.says, "left": bound.left, "right": bound.right,
            "holds": bound.holds(), "equality": bound.equality,
        })
    });
    print_json(&json!({
        "stages": report.stages.iter().chain(&report.gradient).map(stage).collect::<Vec<_>>(),
        "bounds": bounds,
        "factor": { "value": report.factor.value(), "text": report.factor.to_string() },
        "tape": report.tape,
        "gradient_factor": report.gradient_factor(),
    }));
    Ok(0)
}
