//! The process that attacks: it starts children, watches them, and says what went wrong.

use super::run::{self, Engines};
use super::said::word;
use super::{Attack, child};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// What the command line asks for.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many attacks.
    pub runs: Option<u64>,
    /// For how long.
    pub seconds: Option<u64>,
    /// The number of the first.
    pub seed: u64,
    /// How many children at once.
    jobs: usize,
    /// How long an attack may take.
    patience: u64,
    /// How much address space a child may have, in megabytes.
    memory: u64,
    engines: Engines,
    replay: Option<u64>,
    child: Option<(u64, u64)>,
    without: Option<Vec<usize>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            runs: None,
            seconds: None,
            seed: 1,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            patience: 60,
            memory: 6000,
            engines: Engines::default(),
            replay: None,
            child: None,
            without: None,
        }
    }
}

impl Options {
    fn read(words: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut all = Options::default();
        let mut words = words;
        while let Some(word) = words.next() {
            let mut next = || words.next().ok_or_else(|| format!("{word} needs a value"));
            let number = |text: String| {
                text.parse::<u64>().map_err(|_| format!("{word} needs a number, not {text}"))
            };
            match word.as_str() {
                "--runs" => all.runs = Some(number(next()?)?),
                "--seconds" => all.seconds = Some(number(next()?)?),
                "--seed" => all.seed = number(next()?)?,
                "--jobs" => all.jobs = number(next()?)?.max(1) as usize,
                "--patience" => all.patience = number(next()?)?,
                "--memory" => all.memory = number(next()?)?,
                "--replay" => all.replay = Some(number(next()?)?),
                "--engines" => {
                    let names = next()?.split(',').map(String::from).collect();
                    all.engines = Engines(Some(names));
                }
                "--child" => all.child = Some((number(next()?)?, number(next()?)?)),
                "--without" => {
                    let lines = next()?;
                    let lines = lines.split(',').filter_map(|n| n.parse().ok());
                    all.without = Some(lines.collect());
                }
                other => {
                    return Err(format!("{other} is not understood; see the head of the file"));
                }
            }
        }
        Ok(all)
    }
}

/// What the example and the test do: attacks as the words ask for, or, in a child, what the parent asks for.
pub fn main(words: impl Iterator<Item = String>) -> ExitCode {
    let options = match Options::read(words) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let Options { child, without, replay, engines, .. } = &options;
    match (child, without, replay) {
        (Some((from, _)), Some(lines), _) => child::without(*from, lines, engines),
        (Some((from, to)), ..) => child::attacks(*from..*to, engines),
        (.., Some(seed)) => return again(*seed, &options),
        _ => return all(&options),
    }
    ExitCode::SUCCESS
}

/// One attack once more, with its program.
fn again(seed: u64, options: &Options) -> ExitCode {
    if let Some(subject) = &Attack::new(seed).subject {
        println!("{}arguments: {:?}", subject.text, subject.args);
    }
    let watched = Watched::start(options, seed, seed + 1, None);
    match watched.and_then(|mut watched| watched.next(options)) {
        Ok(Some(Event::Done { how, .. })) => {
            println!("no harm done: {how}");
            ExitCode::SUCCESS
        }
        Ok(Some(Event::Failed { reason, .. })) => {
            println!("{reason}");
            println!("{}", smaller(seed, &reason, options));
            ExitCode::FAILURE
        }
        Ok(None) => ExitCode::FAILURE,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Attacks until enough are done.
fn all(options: &Options) -> ExitCode {
    // A child is started for so many attacks.
    const BATCH: u64 = 40;
    let names: Vec<&str> = run::engines().iter().map(|(name, _)| *name).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| options.engines.has(name)).collect();
    println!("attacks from number {} on, engines {}", options.seed, names.join(", "));
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let failures = Mutex::new(Vec::new());
    let ends = Mutex::new(BTreeMap::<String, u64>::new());
    let start = Instant::now();
    let end = options.seconds.map(Duration::from_secs);
    let late = || end.is_some_and(|end| start.elapsed() >= end);
    let count = options.runs.unwrap_or(u64::MAX - options.seed);
    let work = || {
        while !late() {
            let first = next.fetch_add(BATCH, Ordering::Relaxed);
            if first >= count {
                break;
            }
            let (mut from, to) = (options.seed + first, options.seed + (first + BATCH).min(count));
            // One that died is followed by another child, behind the attack by which it died.
            while from < to && !late() {
                let mut watched = match Watched::start(options, from, to, None) {
                    Ok(watched) => watched,
                    Err(error) => return fail(&failures, error),
                };
                while !late() {
                    match watched.next(options) {
                        Ok(Some(Event::Done { seed, how })) => {
                            done.fetch_add(1, Ordering::Relaxed);
                            *lock(&ends).entry(how).or_default() += 1;
                            from = seed + 1;
                        }
                        Ok(Some(Event::Failed { seed, reason })) => {
                            done.fetch_add(1, Ordering::Relaxed);
                            from = seed + 1;
                            let small = smaller(seed, &reason, options);
                            let text =
                                format!("attack {seed}: {reason}\nagain: --replay {seed}\n{small}");
                            println!("{text}");
                            fail(&failures, text);
                            if watched.is_dead() {
                                break;
                            }
                        }
                        Ok(None) => break,
                        Err(error) => {
                            println!("{error}");
                            return fail(&failures, error);
                        }
                    }
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(work);
        }
    });
    for (how, count) in lock(&ends).iter() {
        println!("{count:8} {how}");
    }
    let failures = lock(&failures);
    let (done, seconds) = (done.into_inner(), start.elapsed().as_secs());
    println!("{done} attacks in {seconds} s, {} went wrong", failures.len());
    if failures.is_empty() && done > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

fn fail(failures: &Mutex<Vec<String>>, text: String) {
    lock(failures).push(text);
}

/// What a child reports of an attack.
enum Event {
    /// No harm.
    Done { seed: u64, how: String },
    /// It went wrong.
    Failed { seed: u64, reason: String },
}

/// A child and its words.
struct Watched {
    child: Child,
    lines: Receiver<String>,
    /// The attack that it is at.
    at: Option<u64>,
    /// What it runs there.
    running: String,
    /// What it said on standard error; complete once it has ended.
    said: Option<std::thread::JoinHandle<String>>,
}

impl Watched {
    fn start(
        options: &Options,
        from: u64,
        to: u64,
        without: Option<&[usize]>,
    ) -> Result<Watched, String> {
        let itself =
            std::env::current_exe().map_err(|e| format!("no path of this program: {e}"))?;
        let mut command = if cfg!(unix) {
            let mut shell = Command::new("sh");
            let limits =
                format!("ulimit -c 0; ulimit -v {}; exec \"$0\" \"$@\"", options.memory * 1024);
            shell.args(["-c", &limits]).arg(itself);
            shell
        } else {
            Command::new(itself)
        };
        command.args(["--child", &from.to_string(), &to.to_string()]);
        if let Engines(Some(names)) = &options.engines {
            command.args(["--engines", &names.join(",")]);
        }
        if let Some(lines) = without {
            let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
            command.args(["--without", &lines.join(",")]);
        }
        command.env("RUST_BACKTRACE", "0").stdin(Stdio::null());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| format!("no child: {e}"))?;
        let (to, lines) = mpsc::channel();
        if let Some(out) = child.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(out).split(b'\n').map_while(Result::ok) {
                    if to.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                        break;
                    }
                }
            });
        }
        let said = child.stderr.take().map(|mut err| {
            std::thread::spawn(move || {
                let mut text = Vec::new();
                // What could be read is enough.
                let _ = err.read_to_end(&mut text);
                String::from_utf8_lossy(&text).into_owned()
            })
        });
        Ok(Watched { child, lines, at: None, running: String::new(), said })
    }

    /// What the child says next; nothing if it has done all.
    fn next(&mut self, options: &Options) -> Result<Option<Event>, String> {
        loop {
            match self.lines.recv_timeout(Duration::from_secs(options.patience)) {
                Ok(line) => {
                    let Some((what, rest)) = line.split_once(' ') else { continue };
                    let (number, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                    let Ok(seed) = number.parse() else { continue };
                    match what {
                        word::BEGIN => {
                            self.at = Some(seed);
                            self.running.clear();
                        }
                        word::AT => self.running = rest.to_string(),
                        word::DONE => {
                            self.at = None;
                            return Ok(Some(Event::Done { seed, how: rest.to_string() }));
                        }
                        word::FAILED => {
                            self.at = None;
                            let reason = rest.replace("\\n", "\n");
                            return Ok(Some(Event::Failed { seed, reason }));
                        }
                        _ => {}
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    let seed = self.at.take().ok_or("a child said nothing")?;
                    let reason = format!(
                        "hangs: it takes more than {} s ({})",
                        options.patience, self.running
                    );
                    return Ok(Some(Event::Failed { seed, reason }));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait().map_err(|e| format!("a child is lost: {e}"))?;
                    let said = self.said.take().and_then(|said| said.join().ok());
                    let said = said.unwrap_or_default();
                    return match (self.at.take(), status.success()) {
                        (None, true) => Ok(None),
                        (Some(seed), _) => {
                            let running = &self.running;
                            let reason = format!("{} in {running}: {}", death(status), tail(&said));
                            Ok(Some(Event::Failed { seed, reason }))
                        }
                        (None, false) => Err(format!("a child ended: {status}\n{}", tail(&said))),
                    };
                }
            }
        }
    }
}

impl Watched {
    /// Whether the child has ended, or will say nothing any more.
    fn is_dead(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and need not.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a process ended.
fn death(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let name = match signal {
            4 => " (illegal instruction)",
            6 => " (abort)",
            7 => " (bus error)",
            9 => " (killed)",
            11 => " (access outside memory)",
            _ => "",
        };
        return format!("signal {signal}{name}");
    }
    format!("ended, {status}")
}

/// The last lines of a text.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let last: Vec<String> = lines[lines.len().saturating_sub(4)..]
        .iter()
        .map(|l| l.chars().take(300).collect())
        .collect();
    last.join("\n")
}

/// The words of a reason that do not depend on the program.
fn class(reason: &str) -> String {
    let line = reason.lines().next().unwrap_or_default();
    line.split(": it").next().unwrap_or(line).chars().take(60).collect()
}

/// The text of an attack, with as few lines as go wrong in the same way, and its arguments.
fn smaller(seed: u64, reason: &str, options: &Options) -> String {
    let attack = Attack::new(seed);
    let Some(subject) = &attack.subject else { return String::new() };
    let wanted = class(reason);
    let deadline = Instant::now() + Duration::from_secs(60);
    let options = Options { patience: options.patience.min(20), ..options.clone() };
    let fails = |lines: &[usize]| {
        let watched = Watched::start(&options, seed, seed + 1, Some(lines));
        match watched.and_then(|mut watched| watched.next(&options)) {
            Ok(Some(Event::Failed { reason, .. })) => class(&reason) == wanted,
            _ => false,
        }
    };
    let count = subject.text.lines().count();
    let mut out: Vec<usize> = Vec::new();
    if fails(&out) {
        let mut length = count / 2;
        while length > 0 {
            let mut at = 0;
            while at < count && Instant::now() < deadline {
                let more: Vec<usize> =
                    (at..(at + length).min(count)).filter(|k| !out.contains(k)).collect();
                if !more.is_empty() {
                    let tried = [&out[..], &more].concat();
                    if fails(&tried) {
                        out = tried;
                    }
                }
                at += length;
            }
            length /= 2;
        }
    }
    let args = format!("{:?}", subject.args);
    let text = child::reduced(attack, &out).subject.map(|s| s.text).unwrap_or_default();
    format!("smaller:\n{text}arguments: {args}")
}
