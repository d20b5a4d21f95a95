//! Threads against time: loops and batches on one thread, on two, and on as many as there are cores, by the clock on the wall.

use jut::Batched::Each;
use jut::{Arg, Batched, Compiled, Function, Model};
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::Serialize;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// Seconds of a call, by threads.
#[derive(Clone, Debug, Serialize)]
pub struct Threads {
    /// What is called.
    pub name: String,
    /// The engine.
    pub engine: &'static str,
    /// How many threads there are, and the seconds of a call.
    pub times: Vec<(usize, f64)>,
}

impl Threads {
    /// How many times faster than one thread the most threads are.
    pub fn speed_up(&self) -> f64 {
        match (self.times.first(), self.times.last()) {
            (Some((_, one)), Some((_, all))) => one / all,
            _ => 1.0,
        }
    }
}

const ATTENTION: &str = "
def attention[n, d](q: [n, d]f64, k: [n, d]f64, v: [n, d]f64) -> f64 = sum (i < n) {
  s = for (j < n) { sum (c < d) { q[i, c] * k[j, c] } / sqrt(f64(d)) }
  top = max(s)
  e = for (j < n) { exp(s[j] - top) }
  total = sum(e)
  sum (c < d) { (sum (j < n) { e[j] * v[j, c] } / total)^2 }
}
";

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A way to call on a number of threads.
type Call<'c> = Box<dyn FnMut(usize) -> jut::Result<()> + Send + 'c>;

/// Calls on one number of threads before the next one's turn: a program that optimises calls again and again, too.
const CALLS: usize = 5;

/// Seconds of the fastest of some calls on each number of threads, in turns.
fn times(pools: &[ThreadPool], call: &mut Call<'_>, budget: Duration) -> Result<Vec<(usize, f64)>> {
    let mut times: Vec<(usize, f64)> =
        pools.iter().map(|pool| (pool.current_num_threads(), f64::INFINITY)).collect();
    let begin = Instant::now();
    let mut rounds = 0;
    // The first round shows how much memory there has to be.
    while rounds < 2 || begin.elapsed() < budget {
        for (pool, (threads, least)) in pools.iter().zip(&mut times) {
            let fastest = pool.install(|| {
                (0..CALLS).try_fold(f64::INFINITY, |fastest, _| {
                    let watch = Instant::now();
                    call(*threads)?;
                    jut::Result::Ok(watch.elapsed().as_secs_f64().min(fastest))
                })
            })?;
            if rounds > 0 {
                *least = least.min(fastest);
            }
        }
        rounds += 1;
    }
    Ok(times)
}

/// Measures programs whose loops run in shares, and a batch, with all engines that compile. With little effort they are small.
///
/// # Errors
/// A program is refused, or a call fails.
pub fn measure(budget: Duration, small: bool) -> Result<Vec<Threads>> {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut counts = vec![1, 2, cores];
    counts.dedup();
    let pools: std::result::Result<Vec<_>, _> = counts
        .into_iter()
        .filter(|threads| *threads <= cores)
        .map(|threads| ThreadPoolBuilder::new().num_threads(threads).build())
        .collect();
    let pools = pools?;
    let scale = if small { 20 } else { 1 };
    let numbers = |count: usize| -> Vec<f64> {
        (0..count).map(|k| ((k * 7919 % 1009) as f64 - 504.0) / 300.0).collect()
    };
    let (paths, steps) = (100_000 / scale, 16);
    let shocks = numbers(paths * steps);
    let (words, width) = (400 / scale, 32);
    let [q, k, v] = [1, 2, 3]
        .map(|by| numbers(words * width * by).into_iter().step_by(by).collect::<Vec<f64>>());
    let particles = 512 / scale;
    let places = numbers(3 * particles);
    let (elements, length) = (1000 / scale, 100);
    let starts = numbers(elements * length);

    let shapes = [[paths, steps], [words, width], [particles, 3], [elements, length]];
    let [of_paths, of_words, of_particles, of_elements] = &shapes;

    let mut found = Vec::new();
    for engine in jut::BACKENDS.iter().map(|(engine, _)| *engine) {
        if !engine.is_built_in() {
            continue;
        }
        let function = |text: &str, name: &str| -> jut::Result<Function> {
            Ok(Model::from_text(text)?.function(name)?.engine(engine))
        };
        let session = |compiled: Compiled, args| -> Call<'_> {
            let mut session = compiled.session();
            let args: Vec<Arg<'_>> = args;
            Box::new(move |_| {
                black_box(session.call(&args)?);
                Ok(())
            })
        };
        let asian = function(include_str!("../programs/asian.jut"), "asian")?;
        let numbers = [100.0, 0.2, 0.05, 100.0].map(Arg::from);
        let args = [Arg::from((&shocks[..], of_paths))].into_iter().chain(numbers).collect();
        let name = format!("asian {paths}x{steps}, gradient");
        let mut rows = vec![(name, session(asian.value_and_gradient()?, args))];
        let args = [&q, &k, &v].map(|x| Arg::from((&x[..], of_words))).to_vec();
        let name = format!("attention {words}x{width}, gradient");
        let attention = function(ATTENTION, "attention")?.value_and_gradient()?;
        rows.push((name, session(attention, args)));
        let energy = include_str!("../programs/examples/lennard_jones.jut");
        let args = vec![Arg::from((&places[..], of_particles))];
        let name = format!("lennard_jones {particles}, value");
        rows.push((name, session(function(energy, "energy")?.value()?, args)));
        let valley = include_str!("../programs/examples/rosenbrock.jut");
        let valley = function(valley, "rosenbrock")?.value_and_gradient()?;
        let starts = Arg::from((&starts[..], of_elements));
        let name = format!("rosenbrock {length}, a batch of {elements} gradients");
        let (into, made) = (valley.clone(), valley);
        let (mut values, mut gradients) = (vec![0.0; elements], vec![0.0; elements * length]);
        let batch: Call<'_> = Box::new(move |threads| {
            let args: [Batched<'_>; 1] = [Each(starts)];
            let outs = &mut [(&mut values).into(), (&mut gradients).into()];
            into.call_batch_into(&args, NonZeroUsize::new(threads), outs)
        });
        rows.push((name.clone(), batch));
        let batch: Call<'_> = Box::new(move |threads| {
            let args: [Batched<'_>; 1] = [Each(starts)];
            made.call_batch(&args, NonZeroUsize::new(threads)).map(|all| drop(black_box(all)))
        });
        rows.push((format!("{name}, and memory for them"), batch));
        for (name, mut call) in rows {
            let times = times(&pools, &mut call, budget)?;
            found.push(Threads { name, engine: engine.name(), times });
        }
    }
    Ok(found)
}
