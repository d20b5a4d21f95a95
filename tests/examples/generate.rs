//! Prints the generated program with the given number; with `nests` behind it, the one about loops in loops.

use jut_tests::generate::{generate, generate_nests};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let seed = words.first().and_then(|s| s.parse().ok()).unwrap_or(0);
    let make = if words.iter().any(|word| word == "nests") { generate_nests } else { generate };
    print!("{}", make(seed).text);
}
