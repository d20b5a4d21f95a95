//! The process that is attacked.

use super::run::{self, Engines};
use super::said::{self, say, word};
use super::{Attack, End, Kind, Subject};
use crate::guard;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn begin() {
    said::listened();
    guard::arenas();
}

/// Does the attacks with these numbers.
pub(super) fn attacks(seeds: std::ops::Range<u64>, engines: &Engines) {
    begin();
    for seed in seeds {
        say(format_args!("{} {seed}", word::BEGIN));
        one(&Attack::new(seed), engines);
    }
}

/// Does one attack, without these lines of its text.
pub(super) fn without(seed: u64, lines: &[usize], engines: &Engines) {
    begin();
    let attack = reduced(Attack::new(seed), lines);
    say(format_args!("{} {seed}", word::BEGIN));
    one(&attack, engines);
}

/// An attack without these lines of its text.
pub(super) fn reduced(mut attack: Attack, lines: &[usize]) -> Attack {
    if let Some(Subject { text, .. }) = &mut attack.subject {
        let kept = text.lines().enumerate().filter(|(k, _)| !lines.contains(k));
        *text = kept.map(|(_, line)| format!("{line}\n")).collect();
    }
    attack
}

fn one(attack: &Attack, engines: &Engines) {
    let all = run::engines();
    let chosen: Vec<_> = all.into_iter().filter(|(name, _)| engines.has(name)).collect();
    let outcome = catch_unwind(AssertUnwindSafe(|| attack.run(&chosen)));
    let seed = attack.seed;
    match outcome {
        Ok(Ok(end)) => {
            let end = match end {
                End::Refused => "refused",
                End::Cancelled => "cancelled",
                End::Values => "values",
                End::Fails => "fails",
            };
            let kind = match attack.kind {
                Kind::Small => "small",
                Kind::Random => "random",
                Kind::Stage => "stage",
                Kind::Text => "text",
                Kind::Limit => "limit",
                Kind::Files => "files",
            };
            say(format_args!("{} {seed} {kind} {end}", word::DONE));
        }
        Ok(Err(reason)) => {
            say(format_args!("{} {seed} {}", word::FAILED, reason.replace('\n', "\\n")));
        }
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()));
            let text = text.unwrap_or_default().replace('\n', "\\n");
            say(format_args!("{} {seed} a panic: {text}", word::FAILED));
        }
    }
}
