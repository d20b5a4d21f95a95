//! Prints the generated program with the given number.

fn main() {
    let seed = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    print!("{}", jut_tests::generate::generate(seed).text);
}
