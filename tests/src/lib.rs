//! What the tests share: random programs, and the laws that hold for every program.

pub mod attack;
pub mod border;
pub mod churn;
pub mod coverage;
pub mod engines;
pub mod files;
pub mod foreign;
pub mod generate;
pub mod guard;
pub mod laws;
pub mod lines;
pub mod memory;
pub mod objects;
pub mod pipeline;
pub mod products;
pub mod programs;
pub mod random;
pub mod rows;
pub mod shapes;
pub mod shrink;
pub mod values;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Applies a test to every item, on all processors. Gives the results in order, or the shortest
/// failure, with how many there were.
///
/// # Errors
/// As said.
pub fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    test: impl Fn(&T) -> Result<R, String> + Sync,
) -> Result<Vec<R>, String> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(k) else { break };
                    let result = test(item);
                    done.lock().unwrap_or_else(|e| e.into_inner()).push((k, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(|e| e.into_inner());
    done.sort_by_key(|(k, _)| *k);
    let (good, bad): (Vec<_>, Vec<_>) = done.into_iter().partition(|(_, r)| r.is_ok());
    match bad.iter().filter_map(|(_, r)| r.as_ref().err()).min_by_key(|e| e.len()) {
        Some(shortest) => {
            Err(format!("{} of {} fail; the shortest:\n{shortest}", bad.len(), items.len()))
        }
        None => Ok(good.into_iter().filter_map(|(_, r)| r.ok()).collect()),
    }
}
