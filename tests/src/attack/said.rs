//! What the process that is attacked says to the one that watches it.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a child says, one line each; everything else that a line may be is not for the parent.
pub(super) mod word {
    /// An attack begins: `BEGIN seed`.
    pub const BEGIN: &str = "attack-begin";
    /// It is at a product and an engine: `AT seed what`.
    pub const AT: &str = "attack-at";
    /// It did no harm: `DONE seed how`.
    pub const DONE: &str = "attack-done";
    /// It did: `FAILED seed reason`, the reason with its line ends written as `\n`.
    pub const FAILED: &str = "attack-failed";
}

pub(super) fn say(line: std::fmt::Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    // A parent that is gone needs no answer.
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}

/// Whether this process is attacked: otherwise nobody listens.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// From now on somebody listens.
pub(super) fn listened() {
    IS_CHILD.store(true, Ordering::Relaxed);
}

/// Says what is run next, for the case that it ends the process.
pub(super) fn at(seed: u64, what: std::fmt::Arguments<'_>) {
    if !IS_CHILD.load(Ordering::Relaxed) {
        return;
    }
    say(format_args!("{} {seed} {what}", word::AT));
}
