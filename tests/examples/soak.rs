//! Random programs without end: every program obeys every law, and every engine agrees on everything
//! made of it.
//!
//! ```text
//! cargo run --release -p jut-tests --example soak                       until interrupted
//! cargo run --release -p jut-tests --example soak -- --seconds 600      for ten minutes
//! cargo run --release -p jut-tests --example soak -- --programs 1000000 --seed 7
//! cargo run --release -p jut-tests --example soak -- --large            longer programs
//! cargo run --release -p jut-tests --example soak -- --replay 1234      one program again, in full
//! cargo run --release -p jut-tests --example soak -- --replay 1234 --linear
//! cargo run --release -p jut-tests --example soak -- --nests            programs about loops in loops; also with --replay
//! ```
//!
//! A failure prints its number, the law and the smallest program with a failure of that law that was
//! found: lines and blocks are taken out as long as the program still loads and still breaks the
//! law. The number gives the program again, whatever machine it is on.

use indicatif::{ProgressBar, ProgressStyle};
use jut_tests::engines::backends;
use jut_tests::generate::{Extent, Generated, generate_nests};
use jut_tests::random::{self, Subject};
use jut_tests::shrink::{shrink, smaller};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What the command line asks for.
struct Options {
    seconds: Option<u64>,
    programs: Option<u64>,
    seed: u64,
    extent: Extent,
    replay: Option<u64>,
    linear: bool,
    nests: bool,
}

fn options() -> Result<Options, String> {
    let mut all = Options {
        seconds: None,
        programs: None,
        seed: 1_000_000,
        extent: Extent::DEFAULT,
        replay: None,
        linear: false,
        nests: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || {
            let next = words.next().and_then(|n| n.parse::<u64>().ok());
            next.ok_or_else(|| format!("{word} needs a number"))
        };
        match word.as_str() {
            "--seconds" => all.seconds = Some(number()?),
            "--programs" => all.programs = Some(number()?),
            "--seed" => all.seed = number()?,
            "--replay" => all.replay = Some(number()?),
            "--large" => all.extent = Extent::LARGE,
            "--linear" => all.linear = true,
            "--nests" => all.nests = true,
            other => return Err(format!("{other} is not understood; see the head of the file")),
        }
    }
    Ok(all)
}

/// Both kinds of tests on one program; a panic is a failure as well.
fn test(subject: Subject) -> Result<(), String> {
    let both = || random::laws(subject).and_then(|()| random::engines(subject)).map(drop);
    std::panic::catch_unwind(both).unwrap_or_else(|_| Err("a panic".into()))
}

/// The same for a program about loops in loops, with what is to be said of a failure.
fn test_nests(seed: u64) -> Result<(), String> {
    let all: Vec<_> = backends().collect();
    let fails = |text: &str| random::nests_of(text, seed, &all).map(drop);
    let Generated { text, func, .. } = generate_nests(seed);
    let test = || fails(&text);
    let outcome = std::panic::catch_unwind(test).unwrap_or_else(|_| Err("a panic".into()));
    outcome.map_err(|reason| {
        let reason: String = reason.lines().take(4).collect::<Vec<_>>().join("\n");
        let reason: String = reason.chars().take(900).collect();
        let small = smaller(text.clone(), func, &fails).unwrap_or_else(|| text.clone());
        format!("{reason}\nagain: --nests --replay {seed}\nsmaller:\n{small}")
    })
}

fn report(subject: Subject, reason: &str) -> String {
    let reason: String = reason.lines().next().unwrap_or_default().chars().take(300).collect();
    let linear = if subject.linear { " --linear" } else { "" };
    let large = if subject.extent == Extent::LARGE { " --large" } else { "" };
    let small = shrink(subject).unwrap_or_else(|| subject.generate().text);
    format!("{reason}\nagain: --replay {}{linear}{large}\nsmaller:\n{small}", subject.seed)
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let Options { extent, linear, nests, .. } = options;
    if let Some(seed) = options.replay.filter(|_| nests) {
        println!("{}", generate_nests(seed).text);
        return match test_nests(seed) {
            Ok(()) => {
                println!("every law holds, and the engines agree");
                ExitCode::SUCCESS
            }
            Err(reason) => {
                println!("{reason}");
                ExitCode::FAILURE
            }
        };
    }
    if let Some(seed) = options.replay {
        let subject = Subject { seed, extent, linear };
        println!("{}", subject.generate().text);
        return match test(subject) {
            Ok(()) => {
                println!("every law holds, and the engines agree");
                ExitCode::SUCCESS
            }
            Err(reason) => {
                println!("{reason}\n{}", report(subject, &reason));
                ExitCode::FAILURE
            }
        };
    }
    let (next, failed) = (AtomicU64::new(0), AtomicU64::new(0));
    let bar = match options.programs {
        Some(count) => ProgressBar::new(count),
        None => ProgressBar::no_length(),
    };
    let template = "{elapsed_precise} {wide_bar} {pos} programs, {per_sec}, {msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message("no failure");
    let say = |text: String| bar.suspend(|| println!("{text}"));
    say(format!("programs from number {} on", options.seed));
    let start = Instant::now();
    let end = options.seconds.map(Duration::from_secs);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    let enough = options.programs.is_some_and(|count| k >= count);
                    if enough || end.is_some_and(|end| start.elapsed() >= end) {
                        break;
                    }
                    // Every third one is about linear code.
                    let linear = linear || k % 3 == 2;
                    let subject = Subject { seed: options.seed + k, extent, linear };
                    let outcome = match nests {
                        true => test_nests(subject.seed),
                        false => test(subject).map_err(|reason| report(subject, &reason)),
                    };
                    if let Err(report) = outcome {
                        let count = 1 + failed.fetch_add(1, Ordering::Relaxed);
                        say(report);
                        bar.set_message(format!("{count} failures"));
                    }
                    bar.inc(1);
                }
            });
        }
    });
    bar.abandon();
    let (done, failed) = (bar.position(), failed.into_inner());
    println!("{done} programs from number {}, {failed} failures", options.seed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
