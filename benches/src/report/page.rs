//! The page: one file without scripts and without anything from elsewhere.

use super::charts::{COLOURS, DotRow, Dots, curve};
use super::table::{COLUMNS, cells, digits, time};
use super::{Means, Report, goals};
use crate::run::Row;
use std::fmt::Write;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:1020px;margin:2em auto;\
padding:0 1em;color:#222;background:#fff}h1,h2{line-height:1.2}h2{margin-top:2em}\
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}\
td,th{padding:3px 8px;text-align:right;border-bottom:1px solid #ddd}\
td:first-child,th:first-child,.programs td:nth-child(2),.programs th:nth-child(2){text-align:left}\
.wide{overflow-x:auto}svg{max-width:100%;height:auto}dt{font-weight:600}dd{margin:0 0 .4em 0}";

/// The page of a report.
///
/// # Errors
/// A chart cannot be drawn.
pub fn page(report: &Report) -> Result<String> {
    let mut html = String::new();
    write!(
        html,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>jut: measurements</title><style>{STYLE}</style></head><body>\n\
         <h1>jut: measurements</h1>\n"
    )?;
    setting(&mut html, report)?;
    section(
        &mut html,
        "Compiled against hand-written",
        "The time of value and gradient as compiled by Cranelift, over the time of hand-written Rust \
         (blue): 1 is as fast as by hand, further left is faster. The orange dot is the fastest other \
         tool over the hand-written code of its own measurement, on another day on a Zen 5 machine: \
         that code is not the one here and often faster, so compare the dots with care. The line at \
         1.5 is the goal for the geometric mean of the programs that have an orange dot.",
        &dots(
            report,
            "time / time by hand",
            &[
                ("Cranelift", |r| Some(r.to_hand())),
                ("best other tool", Row::peer_to_hand),
                ("LLVM", |r| r.engine_to_hand("llvm")),
            ],
            &[(1.0, "by hand"), (goals::TO_HAND, "      goal")],
            factor,
        )?,
    )?;
    section(
        &mut html,
        "Gradient against value",
        "The time of value and gradient over the time of the value alone, both compiled by Cranelift. \
         Differentiation in reverse costs a small factor whatever the number of inputs; the goal is \
         at most 3.",
        &dots(
            report,
            "time / time of the value",
            &[("value and gradient", |r| Some(r.to_primal()))],
            &[(goals::TO_PRIMAL, "goal")],
            factor,
        )?,
    )?;
    section(
        &mut html,
        "Ways to a gradient",
        "The time of each way to the same value and gradient, over the time of hand-written code: the \
         interpreter pays for every operation, central differences and forward mode with dual numbers \
         pay for every input. Ways that would take absurdly long are left out.",
        &dots(
            report,
            "time / time by hand",
            &[
                ("Cranelift", |r| Some(r.to_hand())),
                ("interpreter", |r| Some(r.interpreter? / r.hand)),
                ("central differences", |r| Some(r.differences? / r.hand)),
                ("num-dual", |r| Some(r.num_dual? / r.hand)),
            ],
            &[(1.0, "by hand")],
            factor,
        )?,
    )?;
    section(
        &mut html,
        "From text to gradient",
        "The time from the text of a program to a gradient that can be called (blue), and to the \
         results of its first call (orange). The goal is 5 ms to compile, whatever the size of the \
         data.",
        &dots(
            report,
            "time",
            &[("compile", |r| Some(r.compile)), ("first gradient", |r| Some(r.first_gradient))],
            &[(goals::COMPILE, "goal")],
            time,
        )?,
    )?;
    let points: Vec<(f64, f64)> =
        report.lengths.iter().map(|l| (l.statements as f64, l.compile)).collect();
    section(
        &mut html,
        "Compile time and program length",
        "The time to compile the gradient of straight-line programs of growing length: where the blue \
         curve runs along the red line, compile time is linear in the text.",
        &curve(&points, ("statements", "compile time"), "measured", time)?,
    )?;
    lengths(&mut html, report)?;
    programs(&mut html, report)?;
    missed(&mut html, report)?;
    html.push_str("</body></html>\n");
    Ok(html)
}

/// A number of one series of a row, if it has one.
type Get = fn(&Row) -> Option<f64>;

fn dots(
    report: &Report,
    axis: &str,
    series: &[(&str, Get)],
    goals: &[(f64, &str)],
    show: fn(f64) -> String,
) -> Result<String> {
    let row = |row: &Row| DotRow {
        label: format!("{} {}", row.name, row.size),
        values: series.iter().map(|(_, get)| get(row)).collect(),
    };
    let rows: Vec<DotRow> = report.rows.iter().map(row).collect();
    let named = series.iter().zip(COLOURS).map(|((name, _), colour)| (*name, colour));
    let series: Vec<_> = named.collect();
    Dots { axis, series: &series, rows: &rows, goals, show }.svg()
}

fn factor(x: f64) -> String {
    format!("{x} x")
}

fn setting(html: &mut String, report: &Report) -> Result<()> {
    let s = &report.setting;
    write!(
        html,
        "<p>One run on one machine. All ways of a program take turns, so that whatever else the machine \
         does falls on all alike; a time is processor time, the least of several rounds. Times are not comparable between \
         machines, ratios nearly so. Hand-written code uses the widest vectors of the machine, as if \
         compiled for it.</p>\n<dl>"
    )?;
    for (what, value) in [
        ("Machine", &s.machine),
        ("Date", &s.date),
        ("jut", &s.jut),
        ("Cranelift", &s.cranelift),
        ("Hand-written code compiled by", &s.rustc),
        ("with", &s.flags),
    ] {
        writeln!(html, "<dt>{what}</dt><dd>{}</dd>", escape(value))?;
    }
    html.push_str("</dl>\n<ul>\n");
    for (what, means) in
        [("the programs that jut is tuned on", &report.tuned), ("other programs", &report.others)]
    {
        let Means { to_hand, engines, to_primal, interpreter } = means;
        write!(
            html,
            "<li>Geometric means over {what}: value and gradient take {} times as long as by hand and \
             {} times as long as the value alone",
            digits(*to_hand),
            digits(*to_primal),
        )?;
        for (name, mean) in engines {
            write!(html, "; with {name} {} times as long as by hand", digits(*mean))?;
        }
        if let Some(interpreter) = interpreter {
            write!(html, "; the interpreter takes {} times as long", digits(*interpreter))?;
        }
        html.push_str(".</li>\n");
    }
    html.push_str("</ul>\n");
    Ok(())
}

fn section(html: &mut String, title: &str, about: &str, svg: &str) -> Result<()> {
    writeln!(html, "<h2>{}</h2>\n<p>{}</p>\n{svg}", escape(title), escape(about))?;
    Ok(())
}

fn table(
    html: &mut String,
    class: &str,
    columns: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) -> Result<()> {
    write!(html, "<div class=\"wide\"><table class=\"{class}\"><tr>")?;
    for column in columns {
        write!(html, "<th>{}</th>", escape(column))?;
    }
    html.push_str("</tr>\n");
    for row in rows {
        html.push_str("<tr>");
        for cell in row {
            write!(html, "<td>{}</td>", escape(&cell))?;
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</table></div>\n");
    Ok(())
}

fn lengths(html: &mut String, report: &Report) -> Result<()> {
    let rows = report.lengths.iter().map(|l| {
        let each = time(l.compile / l.statements as f64);
        vec![l.statements.to_string(), time(l.compile), each]
    });
    table(html, "", &["statements", "compile", "per statement"], rows)?;
    html.push_str(
        "<p>The size of the data is not in the code: the same program, for arrays of different \
         lengths.</p>\n",
    );
    let rows =
        report.sizes.iter().map(|s| vec![s.n.to_string(), time(s.compile), time(s.first_call)]);
    table(html, "", &["elements", "compile", "first call"], rows)
}

fn programs(html: &mut String, report: &Report) -> Result<()> {
    html.push_str(
        "<h2>All numbers</h2>\n<p>Ratios: compiled by Cranelift over hand-written (/ hand) and over the \
         value alone (/ primal); interpreter, central differences and num-dual over Cranelift. Over the best peer (/ peer) is plain time, from another run. Tape: \
         what the forward half stores for the reverse half. Allocs: requests for memory of a call, \
         once the first calls are over.</p>\n",
    );
    table(html, "programs", &COLUMNS, report.rows.iter().map(|r| cells(r).to_vec()))
}

fn missed(html: &mut String, report: &Report) -> Result<()> {
    html.push_str("<h2>Not yet at their goals</h2>\n<ul>\n");
    for (name, what) in report.missed() {
        writeln!(html, "<li>{}: {}</li>", escape(&name), escape(&what))?;
    }
    html.push_str("</ul>\n");
    Ok(())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
