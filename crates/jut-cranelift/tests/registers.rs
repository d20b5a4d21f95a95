//! What loops without calls keep in registers: they read no name from before a call.

use jut_loop::read;
use std::collections::{HashMap, HashSet};

/// A loop that copies an array and adds up its products, and a sum that is alive across a call behind it.
const SUMS: &str = "loop def f(n: i64, x: in f64[n], k: f64, y: out f64[n]) -> (f64) = {
  (s) = for up (i in 0 .. n) carry (t = 0.0) {
    copy y[n] = x
    (u) = for up (j in 0 .. n) carry (v = t) {
      a = y[j]
      b = k * a
      c = v + b
      (c)
    }
    (u)
  }
  copy y[n] = x
  r = k + s
  (r)
}
";

/// A block of Cranelift's text: its number, and the lines in it.
struct Block<'a> {
    name: &'a str,
    params: HashSet<&'a str>,
    lines: Vec<&'a str>,
}

/// The names of values in a text.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|w| w.strip_prefix('v').is_some_and(|n| n.parse::<u32>().is_ok()))
}

fn blocks(clif: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for line in clif.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let (true, Some(head)) = (line.starts_with("block"), line.strip_suffix(':')) {
            let name = head.split('(').next().unwrap_or(head);
            blocks.push(Block { name, params: names(head).collect(), lines: Vec::new() });
        } else if let Some(block) = blocks.last_mut() {
            block.lines.push(line);
        }
    }
    blocks
}

#[test]
fn a_loop_without_calls_reads_nothing_from_before_a_call() {
    let program = read::read_program(0, SUMS).unwrap();
    let clif = jut_cranelift::clif(&program).unwrap();
    let function = clif.split("\n; ").next().unwrap();
    let blocks = blocks(function);
    let mut home = HashMap::new();
    for (k, block) in blocks.iter().enumerate() {
        let made = block.lines.iter().filter_map(|line| line.split_once(" = "));
        let made = made.flat_map(|(made, _)| names(made)).chain(block.params.iter().copied());
        made.for_each(|name| {
            home.insert(name, k);
        });
    }
    let has_call = |block: &Block<'_>| block.lines.iter().any(|line| line.contains("call "));
    let body = blocks.iter().position(|b| b.lines.iter().any(|l| l.contains("fmul"))).unwrap();
    let jumps = blocks[body].lines.last().unwrap();
    assert!(jumps.contains(blocks[body].name) && !has_call(&blocks[body]), "{function}");

    // What the body reads and does not bind is made behind the last call before it.
    let last_call = blocks[..body].iter().rposition(has_call).expect("a call before the loop");
    let read = blocks[body].lines.iter().flat_map(|line| names(line));
    let outside: Vec<&str> = read.filter(|name| home[name] != body).collect();
    assert!(outside.len() >= 2, "{function}");
    for name in outside {
        assert!(home[name] > last_call, "{name} is older than a call:\n{function}");
    }
    // The sum leaves the loop through a block of its own.
    let leaves = jumps.rsplit(", ").next().unwrap();
    let next = blocks.iter().find(|b| leaves.starts_with(b.name)).unwrap();
    assert!(next.params.is_empty() && next.lines.iter().any(|l| l.contains("load")), "{function}");
}
