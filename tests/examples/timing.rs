//! How long each stage of the compiler takes for long programs of several shapes, at one length and
//! at twice that: `cargo run --release -p jut-tests --example timing -- 10000`.

use jut_ad::Policy;
use jut_tests::pipeline::stages;
use jut_tests::shapes::SHAPES;

fn main() {
    let n = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(10_000);
    for (name, shape) in SHAPES {
        if std::env::args().nth(2).is_some_and(|only| only != *name) {
            continue;
        }
        let (one, two) =
            match (stages(&shape(n), Policy::Default), stages(&shape(2 * n), Policy::Default)) {
                (Ok(one), Ok(two)) => (one, two),
                (one, two) => {
                    println!("{name}: {:?} {:?}", one.err(), two.err());
                    continue;
                }
            };
        println!("{name}: {n} and {} parts", 2 * n);
        for (a, b) in one.iter().zip(&two) {
            println!(
                "  {:<13}{:>9}{:>9}  {:>9.1} ms {:>9.1} ms",
                a.name,
                a.statements,
                b.statements,
                a.time.as_secs_f64() * 1e3,
                b.time.as_secs_f64() * 1e3
            );
        }
    }
}
