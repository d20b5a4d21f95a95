//! Random programs without end: `cargo run --release -p jut-tests --example soak -- SECONDS [SEED]`.
//!
//! Every program obeys every law, and every engine agrees on everything made of it. A failure prints
//! its number, which gives the program again: `JUT_SEED=number JUT_PROGRAMS=1 cargo test -p jut-tests`.

use jut_tests::generate::generate;
use jut_tests::random;
use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let number = |k: usize| std::env::args().nth(k).and_then(|n| n.parse::<u64>().ok());
    let seconds = number(1).unwrap_or(60);
    let first = number(2).unwrap_or(1_000_000);
    let (next, done, failed) = (AtomicU64::new(first), AtomicU64::new(0), AtomicU64::new(0));
    let start = Instant::now();
    let end = Duration::from_secs(seconds);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while start.elapsed() < end {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let test = || random::laws(seed).and_then(|()| random::engines(seed));
                    let outcome = std::panic::catch_unwind(test)
                        .unwrap_or_else(|_| Err("a panic, see above".into()));
                    done.fetch_add(1, Ordering::Relaxed);
                    if let Err(reason) = outcome {
                        failed.fetch_add(1, Ordering::Relaxed);
                        let short: String = reason.chars().take(300).collect();
                        println!("\rprogram {seed}: {short}");
                        if std::env::var_os("JUT_SHOW").is_some() {
                            println!("{}", generate(seed).text);
                        }
                    }
                }
            });
        }
        while start.elapsed() < end {
            std::thread::sleep(Duration::from_millis(500).min(end.saturating_sub(start.elapsed())));
            print!(
                "\r{:4} s of {seconds}: {} programs, {} failures",
                start.elapsed().as_secs(),
                done.load(Ordering::Relaxed),
                failed.load(Ordering::Relaxed)
            );
            std::io::stdout().flush().ok();
        }
    });
    let (done, failed) = (done.into_inner(), failed.into_inner());
    println!("\r{done} programs from number {first}, {failed} failures");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
