//! Pictures: every stage of every example has one, well-formed, with the right colours and tape.

use jut::{Error, Function, Model, Policy, Stage};
use std::path::Path;

const STAGES: [Stage; 6] = [
    Stage::Core,
    Stage::Forward,
    Stage::Unzip,
    Stage::Transpose,
    Stage::Gradient,
    Stage::Optimised,
];

fn function(text: &str) -> Function {
    let model = Model::from_text(text).unwrap_or_else(|e| panic!("{e}"));
    let name = model.functions().last().expect("a function").to_string();
    model.function(&name).expect("it exists").policy(Policy::StoreAll)
}

/// The texts of the picture, each with the fill and the line of its box.
fn boxes(svg: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in svg.lines().filter(|line| line.starts_with("<rect") && line.contains("<text x")) {
        let text = line.rsplit_once("</text>").map_or("", |(before, _)| before);
        let text = text.rsplit_once('>').map_or("", |(_, text)| text);
        let fill = line.split("stroke=\"").nth(1).and_then(|rest| rest.split('"').next());
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        found.push((text, fill.unwrap_or_default().to_string()));
    }
    found
}

/// Every tag is closed, in order.
fn well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap_or_else(|| panic!("no end: {part}"));
        assert!(!text.contains('"') || open.last() == Some(&"style"), "{part}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.split([' ', '/']).find(|w| !w.is_empty()).unwrap_or_default();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{part}");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn every_stage_of_every_example_has_a_well_formed_picture() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut drawn = 0;
    for entry in std::fs::read_dir(folder).expect("examples").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|e| e != "jut") {
            continue;
        }
        let model = Model::from_file(&path).unwrap_or_else(|e| panic!("{e}"));
        for name in model.functions() {
            let function = model.function(name).expect("it exists");
            for stage in STAGES {
                match function.draw(stage) {
                    Ok(svg) => {
                        well_formed(&svg);
                        for odd in ["\"NaN", "\"inf", "MNaN", "CNaN", "\"-inf"] {
                            assert!(!svg.contains(odd), "{name} {stage:?}");
                        }
                        drawn += 1;
                    }
                    // A helper may have no gradient of its own, and then no picture of it.
                    Err(Error::Program(_)) => {}
                    Err(error) => panic!("{name} {stage:?}: {error}"),
                }
            }
        }
    }
    assert!(drawn > 50, "{drawn}");
}

#[test]
fn values_and_tangents_have_two_colours_and_the_tape_a_third() {
    let f = function("def f(u: f64) -> f64 = {\n  v = sin(u)\n  t = -v\n  t\n}");
    let colour = |stage: Stage, text: &str| {
        let svg = f.draw(stage).expect("a picture");
        let found = boxes(&svg).into_iter().find(|(t, _)| t == text);
        found.unwrap_or_else(|| panic!("no {text} in\n{svg}")).1
    };
    let value = colour(Stage::Forward, "v = sin(u)");
    let linear = colour(Stage::Forward, "v' = c * u'");
    assert_ne!(value, linear);
    assert_eq!(colour(Stage::Forward, "c = cos(u)"), value);
    for (stage, text) in [(Stage::Unzip, "t' = -v'"), (Stage::Transpose, "u'' = c * v''")] {
        assert_eq!(colour(stage, text), linear);
        assert_eq!(colour(stage, "c = cos(u)"), value);
        let tape = colour(stage, "c");
        assert!(tape != value && tape != linear, "what comes over the tape");
    }
    // One dashed line in the legend; after U and T one more for the cosine.
    let dashed = |stage: Stage| f.draw(stage).expect("a picture").matches("class=\"e t\"").count();
    assert_eq!(STAGES.map(dashed), [1, 1, 2, 2, 1, 1]);
}

#[test]
fn after_t_the_arrows_of_the_linear_half_go_up() {
    let f = function("def f(u: f64) -> f64 = -sin(u)");
    // (from, to) of every solid edge, vertically.
    let edges = |stage: Stage| -> Vec<(f64, f64)> {
        let svg = f.draw(stage).expect("a picture");
        let solid = svg.lines().filter(|line| line.starts_with("<path class=\"e\" stroke=\"#b3"));
        solid
            .map(|line| {
                let d =
                    line.split("d=\"M").nth(1).and_then(|d| d.split('"').next()).expect("a path");
                let numbers: Vec<f64> =
                    d.split([' ', 'C']).filter_map(|word| word.parse().ok()).collect();
                (numbers[1], numbers[numbers.len() - 1])
            })
            .collect()
    };
    let (lin, transposed) = (edges(Stage::Unzip), edges(Stage::Transpose));
    assert_eq!(lin.len(), 3, "u' to v' to t' to the result");
    assert_eq!(transposed.len(), 3);
    assert!(lin.iter().all(|(from, to)| from < to), "{lin:?}");
    assert!(transposed.iter().all(|(from, to)| from > to), "{transposed:?}");
}

#[test]
fn loops_branches_and_regions_are_boxes_round_their_blocks() {
    let f = function(
        "def f[n](x: [n]f64) -> f64 = sum (v <- x) { if v > 0.0 { exp(v) } else { v * v } }",
    );
    let svg = f.draw(Stage::Core).expect("a picture");
    well_formed(&svg);
    for text in ["scan par (i &lt; n)", "acc lanes s: f64", "case t", "t_1 = exp(v)"] {
        assert!(svg.contains(text), "{text} is missing in\n{svg}");
    }
}

#[test]
fn what_cannot_be_drawn_is_refused_with_a_reason() {
    let f = function("def f(x: f64) -> f64 = sin(x)");
    for stage in [Stage::Loop, Stage::Text(jut::Engine::Cranelift), Stage::Assembly] {
        let error = f.draw(stage).expect_err("no picture").to_string();
        assert!(error.contains(stage.name()) && error.contains("unzip"), "{error}");
    }
    let lines: String = (0..3000).map(|_| "  x = sin(x)\n").collect();
    let f = function(&format!("def f(x: f64) -> f64 = {{\n{lines}  x\n}}"));
    let error = f.draw(Stage::Core).expect_err("too large").to_string();
    assert!(error.contains("3000 operations"), "{error}");
}
