//! How often, and how, each block needs the tangents that it can see.
//!
//! Before J rewrites a function, one walk counts: for every block and every live variable that is
//! used in it, the number of statements and results that take its tangent (so that J knows without
//! looking ahead when a region is done with), and whether some use needs a
//! capability instead of a value. A statement with nested blocks counts once for each variable that
//! its blocks need from outside.
//!
//! A capability is needed by a variable that is indexed or projected, free in a loop body, passed
//! to a by-capability parameter, or an array that only some arms of a `case` use (the others would
//! have to `drop` all of it). Of numbers a parallel loop makes places of its own: it takes them as values.
//!
//! An array may also be *handed on* by the last that needs it: it is a result of the block, the start of a
//! loop's carry or of a sum, a component of a tuple, or what some arm hands on. Then it moves there as a
//! value, and a capability is needed only by what comes before. (An arm that does not hand on what another
//! one does drops it, which costs no more than it did to make it.)
//!
//! Cost: linear in the function, times the nesting depth at worst.

use crate::activity::Activity;
use crate::{Derivatives, Passing};
use jut_ir::entity::SecondaryMap;
use jut_ir::prim::Partial;
use jut_ir::{
    Atom, Block, Call, Dir, FieldPattern, Function, NVar, Operand, Rhs, Scan, Stmt, Type,
};
use std::collections::HashMap;

/// What a block needs of one variable's tangent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Need {
    /// How many statements and results take it.
    pub times: u32,
    /// Whether some of them needs a place.
    pub place: bool,
    /// Where the last of them hands it on, if it does: the position of a statement in the block, or of
    /// the block's results.
    pub handed: Option<Handed>,
}

/// Where a tangent is handed on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handed {
    /// The position.
    pub at: usize,
    /// Whether a place would be needed there if it were not the last.
    place: bool,
}

/// What a block needs, and what its nested blocks need.
#[derive(Debug, Default)]
pub(super) struct BlockNeeds {
    index: HashMap<NVar, usize>,
    list: Vec<(NVar, Need)>,
    /// Whether each statement has anything to do with tangents.
    pub live: Vec<bool>,
    /// The nested blocks in order; of statements that are not live, too.
    pub children: Vec<BlockNeeds>,
    /// Of the body of a parallel loop: the numbers of outside that are places of this loop's own in it.
    pub own: Vec<NVar>,
    /// Whether they are components of one place.
    pub together: bool,
}

/// So many numbers of outside have a place each in a parallel loop; more have one place together.
const OWN_PLACES: usize = 12;

/// In loops so deep in loops. (Each place is a region, and regions nest.)
const OWN_DEPTH: usize = 8;

impl BlockNeeds {
    /// What the block needs of a variable.
    pub fn of(&self, var: NVar) -> Need {
        self.index.get(&var).map_or(Need::default(), |k| self.list[*k].1)
    }

    /// One of the needs has been served.
    pub fn serve(&mut self, var: NVar) {
        if let Some(k) = self.index.get(&var) {
            let times = &mut self.list[*k].1.times;
            *times = times.saturating_sub(1);
        }
    }

    /// The variables needed, in the order of first use.
    pub fn vars(&self) -> impl Iterator<Item = NVar> + '_ {
        self.list.iter().map(|(v, _)| *v)
    }

    /// The variables with needs that have not been served.
    pub fn pending(&self) -> impl Iterator<Item = NVar> + '_ {
        self.list.iter().filter(|(_, need)| need.times > 0).map(|(v, _)| *v)
    }

    fn add(&mut self, var: NVar, place: bool) {
        let need = self.one_more(var);
        need.place |= place;
    }

    /// The statement at a position hands a tangent on; `place` is what it needs if it is not the last.
    fn hand_on(&mut self, var: NVar, at: usize, place: bool) {
        self.one_more(var).handed = Some(Handed { at, place });
    }

    /// What was thought to be the last need is not.
    fn one_more(&mut self, var: NVar) -> &mut Need {
        let next = self.list.len();
        let k = *self.index.entry(var).or_insert(next);
        if k == next {
            self.list.push((var, Need::default()));
        }
        let need = &mut self.list[k].1;
        need.times += 1;
        need.place |= need.handed.take().is_some_and(|handed| handed.place);
        need
    }
}

/// What the arms of a `case` need of one variable's tangent.
struct Used {
    var: NVar,
    place: bool,
    /// Whether some arm hands it on.
    handed: bool,
    /// How many arms use it.
    arms: usize,
}

/// Counts the needs of a function's body.
pub(super) fn count(derivatives: &Derivatives, func: &Function, activity: &Activity) -> BlockNeeds {
    let mut counter =
        Counter { derivatives, func, activity, owner: SecondaryMap::new(), blocks: 0, loops: 0 };
    let wanted: Vec<bool> = func.body.nl.iter().map(|a| activity.is_live_atom(*a)).collect();
    counter.block(&func.body, &wanted, &[])
}

struct Counter<'a> {
    derivatives: &'a Derivatives,
    func: &'a Function,
    activity: &'a Activity,
    /// The number of the block that binds a variable; parameters belong to block 0, none.
    owner: SecondaryMap<NVar, u32>,
    blocks: u32,
    /// How many parallel loops are around.
    loops: usize,
}

impl Counter<'_> {
    fn live(&self, var: NVar) -> bool {
        self.activity.is_live(var)
    }

    fn need(&self, needs: &mut BlockNeeds, atom: Atom) {
        if let Atom::Var(v) = atom
            && self.live(v)
        {
            needs.add(v, false);
        }
    }

    /// What the statement at a position makes a part of its results, as it is.
    fn hand_on(&self, needs: &mut BlockNeeds, at: usize, atom: Atom) {
        match atom {
            Atom::Var(v) if self.live(v) && self.has_array(v) => needs.hand_on(v, at, false),
            _ => self.need(needs, atom),
        }
    }

    fn has_array(&self, v: NVar) -> bool {
        self.derivatives.kinds.has_array(&self.func.nvars[v].ty)
    }

    fn block(&mut self, block: &Block, wanted: &[bool], binders: &[NVar]) -> BlockNeeds {
        self.blocks += 1;
        let number = self.blocks;
        for v in binders {
            self.owner[*v] = number;
        }
        let mut needs = BlockNeeds::default();
        for (at, stmt) in block.stmts.iter().enumerate() {
            let live = self.stmt(stmt, at, &mut needs);
            needs.live.push(live);
            for v in &stmt.nl {
                self.owner[*v] = number;
            }
        }
        for (a, wanted) in block.nl.iter().zip(wanted) {
            if *wanted {
                self.hand_on(&mut needs, block.stmts.len(), *a);
            }
        }
        needs
    }

    /// The variables that a nested block needs from outside.
    fn free<'b>(
        &'b self,
        child: &'b BlockNeeds,
        number: u32,
    ) -> impl Iterator<Item = (NVar, Need)> + 'b {
        child.list.iter().copied().filter(move |(v, _)| self.owner[*v] < number)
    }

    fn stmt(&mut self, stmt: &Stmt, at: usize, needs: &mut BlockNeeds) -> bool {
        let live = stmt.nl.iter().any(|v| self.live(*v));
        match &stmt.rhs {
            Rhs::Inc(place, Operand::N(a)) => {
                let live = self.activity.is_live_cap(place.root) && self.activity.is_live_atom(*a);
                if live {
                    self.need(needs, *a);
                }
                live
            }
            Rhs::Region(region) => {
                if let (true, Some(Operand::N(start))) =
                    (self.activity.is_live_cap(region.cap), region.start)
                {
                    self.hand_on(needs, at, start);
                }
                let wanted: Vec<bool> = stmt.nl.iter().map(|v| self.live(*v)).collect();
                let number = self.blocks + 1;
                let child = self.block(&region.body, &wanted, &[]);
                let free: Vec<_> = self.free(&child, number).collect();
                for (v, need) in free {
                    match need.handed {
                        Some(handed) => needs.hand_on(v, at, need.place || handed.place),
                        None => needs.add(v, need.place),
                    }
                }
                let inner = child.live.contains(&true);
                needs.children.push(child);
                live || inner || self.activity.is_live_cap(region.cap)
            }
            Rhs::Scan(scan) => self.scan(scan, stmt, at, needs) || live,
            Rhs::Case(case) => {
                let wanted: Vec<bool> = stmt.nl.iter().map(|v| self.live(*v)).collect();
                let mut used: Vec<Used> = Vec::new();
                let mut position: HashMap<NVar, usize> = HashMap::new();
                let (mut inner, mut opened) = (false, false);
                for arm in &case.arms {
                    let fields: Vec<NVar> = arm
                        .fields
                        .iter()
                        .filter_map(|f| match f {
                            FieldPattern::Bind(v) => Some(*v),
                            FieldPattern::Eq(_) => None,
                        })
                        .collect();
                    opened |= fields.iter().any(|v| self.live(*v));
                    let number = self.blocks + 1;
                    let child = self.block(&arm.body, &wanted, &fields);
                    for (v, need) in self.free(&child, number) {
                        let k = *position.entry(v).or_insert(used.len());
                        if k == used.len() {
                            used.push(Used { var: v, place: false, handed: false, arms: 0 });
                        }
                        used[k].place |= need.place;
                        used[k].handed |= need.handed.is_some();
                        used[k].arms += 1;
                    }
                    inner |= child.live.contains(&true);
                    needs.children.push(child);
                }
                if opened {
                    self.need(needs, case.scrutinee);
                }
                for Used { var, place, handed, arms } in used {
                    let place = place || self.has_array(var) && arms < case.arms.len();
                    match handed {
                        true => needs.hand_on(var, at, place),
                        false => needs.add(var, place),
                    }
                }
                live || inner || opened
            }
            Rhs::Call(call) => self.call(call, live, needs),
            _ if !live => false,
            Rhs::Prim(p, args) => {
                for (a, partial) in args.iter().zip(p.row().partials) {
                    if !matches!(partial, Partial::Zero) {
                        self.need(needs, *a);
                    }
                }
                true
            }
            Rhs::Proj(v, _) | Rhs::Index(v, _) => {
                // What is opened as a whole is no place.
                let ty = &self.func.nvars[*v].ty;
                needs.add(*v, !self.derivatives.kinds.is_declared(ty));
                true
            }
            Rhs::Atom(a) => {
                self.need(needs, *a);
                true
            }
            Rhs::Update { array, value, .. } => {
                self.hand_on(needs, at, Atom::Var(*array));
                self.need(needs, *value);
                true
            }
            Rhs::Structured(_, args, _) | Rhs::ArrayLit(args) => {
                args.iter().for_each(|a| self.need(needs, *a));
                true
            }
            Rhs::Tuple(args) | Rhs::Con(_, args) => {
                args.iter().for_each(|a| self.hand_on(needs, at, *a));
                true
            }
            Rhs::Untuple(v) | Rhs::Open { value: v, .. } | Rhs::Cast { value: v, .. } => {
                self.need(needs, Atom::Var(*v));
                true
            }
            _ => true,
        }
    }

    fn scan(&mut self, scan: &Scan, stmt: &Stmt, at: usize, needs: &mut BlockNeeds) -> bool {
        for (carry, init) in &scan.carry {
            if self.live(*carry) {
                self.hand_on(needs, at, *init);
            }
        }
        for (element, array) in &scan.slices {
            if self.live(*element) {
                self.need(needs, Atom::Var(*array));
            }
        }
        let carries = scan.carry.iter().map(|(v, _)| self.live(*v));
        let stacked = stmt.nl.iter().skip(scan.carry.len()).map(|v| self.live(*v));
        let wanted: Vec<bool> = carries.chain(stacked).collect();
        let binders = scan.carry.iter().map(|(v, _)| *v).chain(scan.slices.iter().map(|(v, _)| *v));
        let binders: Vec<NVar> = binders.chain([scan.index]).collect();
        let number = self.blocks + 1;
        let parallel = usize::from(scan.dir == Dir::Par);
        self.loops += parallel;
        let mut child = self.block(&scan.body, &wanted, &binders);
        let free: Vec<NVar> = self.free(&child, number).map(|(v, _)| v).collect();
        let is_own = |v: &NVar| parallel == 1 && self.func.nvars[*v].ty == Type::F64;
        child.own = free.iter().copied().filter(is_own).collect();
        child.together = child.own.len() > OWN_PLACES || self.loops > OWN_DEPTH;
        free.iter().for_each(|v| needs.add(*v, !is_own(v)));
        self.loops -= parallel;
        let inner = child.live.contains(&true) || wanted.contains(&true);
        needs.children.push(child);
        inner
    }

    fn call(&self, call: &Call, live: bool, needs: &mut BlockNeeds) -> bool {
        let mask = self.activity.call_mask(call);
        let accs = self.derivatives.influences.get(&call.func).map(|i| i.under(&mask).1);
        let live_acc = call.places.iter().zip(accs.iter().flatten()).any(|(place, active)| {
            *active && place.as_ref().is_some_and(|p| self.activity.is_live_cap(p.root))
        });
        if !live && !live_acc {
            return false;
        }
        for (k, a) in call.args.iter().enumerate() {
            if let (true, Atom::Var(v)) = (mask.is_active(k), a) {
                let ty = &self.func.nvars[*v].ty;
                let place = Passing::of(&self.derivatives.kinds, ty) == Passing::Capability;
                needs.add(*v, place);
            }
        }
        true
    }
}
