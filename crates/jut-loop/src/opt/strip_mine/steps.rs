//! What the stages of a loop that is taken apart do, and which buffers they need for that.

use std::collections::{HashMap, HashSet};

use super::plan::{LATE, Plan, Work};
use super::{Source, Walk, reads, value_of};
use crate::form::{Kind, Stmt, Value};

/// A step of a stage.
pub(super) enum Step {
    /// The statement with this number.
    Run(usize),
    /// Its operand goes to a buffer.
    Argument(usize),
    /// This value comes from its buffer.
    Reload(Value),
    /// This carried number is kept, if a later stage needs it.
    Keep(Value),
}

/// Which buffers there are for what.
#[derive(Default)]
pub(super) struct Places {
    /// That of a value; that of a call has its argument first.
    pub of: HashMap<Value, usize>,
    /// That of the second argument of a call, by its result.
    pub second: HashMap<Value, usize>,
    /// Calls whose argument is that of another, which one kernel makes with them: it is stored once.
    pub with_another: HashSet<Value>,
    /// The stage from which on each serves again.
    free_from: Vec<usize>,
}

impl Places {
    /// One that is free in a stage, and then taken until another.
    fn free(&mut self, stage: usize, until: usize) -> usize {
        match self.free_from.iter().position(|from| *from <= stage) {
            Some(place) => {
                self.free_from[place] = until;
                place
            }
            None => {
                self.free_from.push(until);
                self.free_from.len() - 1
            }
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.free_from.len()
    }

    /// Those of the arguments of a call.
    pub fn of_call(&self, result: Value) -> impl Iterator<Item = usize> {
        self.of.get(&result).into_iter().chain(self.second.get(&result)).copied()
    }
}

impl Walk<'_> {
    /// A buffer for each call, a second one where that has two arguments, and one for each value that a later stage reloads. A buffer serves again
    /// from the stage on in which it is read last.
    pub(super) fn places(
        &self,
        plan: &Plan,
        source: &Source<'_>,
        stages: &[Vec<Step>],
    ) -> Option<Places> {
        let body = source.body;
        let mut read_last: HashMap<Value, usize> = HashMap::new();
        for (s, steps) in stages.iter().enumerate() {
            for step in steps {
                if let Step::Reload(v) = step {
                    if self.values[*v].kind != Kind::F64 {
                        return None;
                    }
                    read_last.insert(*v, s);
                }
            }
        }
        // By stage and place in the body, so in the order of the stores.
        let mut order: Vec<(usize, usize, Value)> = Vec::new();
        for (k, stmt) in body.stmts.iter().enumerate() {
            let call = matches!(plan.work[k], Work::Call);
            for v in stmt.bound() {
                if call || read_last.contains_key(v) {
                    order.push((plan.stages[k], k, *v));
                }
            }
        }
        for (v, stage) in source.carried.iter().zip(&plan.carried) {
            if read_last.contains_key(v) {
                order.push((*stage, 0, *v));
            }
        }
        order.sort_unstable();
        let mut places = Places::default();
        for (stage, k, v) in order {
            let until = read_last.get(&v).copied().unwrap_or(stage + 1);
            let place = places.free(stage, until);
            places.of.insert(v, place);
            if let (Work::Call, Stmt::Prim { args, .. }) = (plan.work[k], &body.stmts[k])
                && args.len() == 2
            {
                let place = places.free(stage, stage + 1);
                places.second.insert(v, place);
            }
        }
        Some(places)
    }
}

/// What stage s does, in the order of the body; what is reloaded comes first.
pub(super) fn steps(plan: &Plan, source: &Source<'_>, s: usize) -> Vec<Step> {
    let body = source.body;
    let is_here = |stage: usize| stage == s || s == plan.last && stage == LATE;
    let mut wanted: HashSet<Value> = HashSet::new();
    let results = body.results.iter().enumerate();
    // Sums go round the last stage.
    let here = results.filter(|(k, _)| is_here(plan.carried.get(*k).copied().unwrap_or(LATE)));
    wanted.extend(here.filter_map(|(_, next)| value_of(next)));
    let mut steps = Vec::new();
    for (k, stmt) in body.stmts.iter().enumerate().rev() {
        let here = is_here(plan.stages[k]);
        let is_wanted = stmt.bound().iter().any(|v| wanted.contains(v));
        match plan.work[k] {
            Work::Again if is_wanted => {}
            Work::Once | Work::Last if here => {}
            Work::Call if here => {
                steps.push(Step::Argument(k));
                reads(stmt, &mut |v| {
                    wanted.insert(v);
                });
                continue;
            }
            Work::Once | Work::Call if is_wanted => {
                let reloaded = stmt.bound().iter().filter(|v| wanted.contains(v));
                steps.extend(reloaded.map(|v| Step::Reload(*v)));
                continue;
            }
            _ => continue,
        }
        steps.push(Step::Run(k));
        reads(stmt, &mut |v| {
            wanted.insert(v);
        });
    }
    for (v, stage) in source.carried.iter().zip(&plan.carried) {
        if *stage == s {
            steps.push(Step::Keep(*v));
        } else if *stage < s && wanted.contains(v) {
            steps.push(Step::Reload(*v));
        }
    }
    steps.reverse();
    // First, because a buffer may serve again in the same stage.
    steps.sort_by_key(|step| match step {
        Step::Reload(_) => 0,
        Step::Keep(_) => 1,
        Step::Run(_) | Step::Argument(_) => 2,
    });
    steps
}

/// Whether something goes round an early stage and a division or another operation that takes long is done again for a later one:
/// the iterations wait for each other anyway, and calls have that time.
pub(super) fn repeat(plan: &Plan, source: &Source<'_>, stages: &[Vec<Step>]) -> bool {
    let early = !source.sums && plan.carried.iter().any(|stage| *stage < plan.last);
    let takes_long = |stmt: &Stmt| matches!(stmt, Stmt::Prim { prim, .. } if !prim.row().cheap);
    let runs =
        |steps: &[Step], k| steps.iter().any(|step| matches!(step, Step::Run(at) if *at == k));
    let often = |k: usize| stages.iter().filter(|steps| runs(steps, k)).count() > 1;
    early && source.body.stmts.iter().enumerate().any(|(k, stmt)| takes_long(stmt) && often(k))
}
