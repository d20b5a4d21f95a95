//! Ctrl-C: the first one ends the call that runs, with the error R07; the next one, and one when no call
//! runs, ends the command, as does one where signals cannot be caught.

use jut::Cancellation;
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// What a shell expects of a command that was ended by Ctrl-C.
const INTERRUPTED: i32 = 130;

struct Interrupt {
    cancellation: Cancellation,
    /// Whether a signal ends the command.
    ends: Arc<AtomicBool>,
}

impl Interrupt {
    /// Handlers run in the order in which they are registered.
    fn install() -> Option<Interrupt> {
        let (cancellation, ends) = (Cancellation::new(), Arc::new(AtomicBool::new(true)));
        flag::register_conditional_shutdown(SIGINT, INTERRUPTED, ends.clone()).ok()?;
        flag::register(SIGINT, cancellation.flag().clone()).ok()?;
        flag::register(SIGINT, ends.clone()).ok()?;
        Some(Interrupt { cancellation, ends })
    }
}

/// Runs a part of the command whose calls the first Ctrl-C ends.
pub fn ending_calls<T>(work: impl FnOnce(&Cancellation) -> T) -> T {
    static INTERRUPT: OnceLock<Option<Interrupt>> = OnceLock::new();
    let Some(interrupt) = INTERRUPT.get_or_init(Interrupt::install) else {
        return work(&Cancellation::new());
    };
    interrupt.ends.store(false, Ordering::SeqCst);
    let done = work(&interrupt.cancellation);
    interrupt.ends.store(true, Ordering::SeqCst);
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use signal_hook::low_level::raise;
    use std::process::Command;

    const CHILD: &str = "JUT_TEST_INTERRUPT";

    /// In a process of its own, because signals are for all of one.
    fn in_child(test: &str, part: &str) -> Option<i32> {
        let this = std::env::current_exe().expect("this test");
        let name = format!("{}::{test}", module_path!().split_once("::").expect("a path").1);
        let mut child = Command::new(this);
        child.args(["--exact", &name, "--nocapture"]).env(CHILD, part);
        child.status().expect("it starts").code()
    }

    #[test]
    fn the_first_one_cancels_and_the_second_ends_the_command() {
        let signal = || raise(SIGINT).expect("a signal");
        let Ok(part) = std::env::var(CHILD) else {
            let test = "the_first_one_cancels_and_the_second_ends_the_command";
            for (part, code) in [("one", 41), ("two", INTERRUPTED), ("behind", INTERRUPTED)] {
                assert_eq!(in_child(test, part), Some(code), "{part}");
            }
            return;
        };
        ending_calls(|cancellation| {
            assert!(!cancellation.is_cancelled());
            signal();
            // A call would end here; this one does not look.
            assert!(cancellation.is_cancelled());
            if part == "two" {
                signal();
            }
        });
        if part == "behind" {
            signal();
        }
        std::process::exit(41);
    }
}
