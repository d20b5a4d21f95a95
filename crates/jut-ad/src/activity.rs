//! Activity: which values of a function have a tangent that matters.
//!
//! A value is *active* if it depends differentiably on an active parameter, *useful* if an active
//! result depends differentiably on it, and *live* if both. J gives a tangent to live values only;
//! every other tangent is a zero that is never written down.
//!
//! "Depends on" is a graph with one node per variable and per accumulator and one edge per operand:
//! in `y = sin(x)` there is `x -> y`, in a loop there are initial value `->` carry, next value `->`
//! carry, carry `->` result. Activity is what can be reached from the active parameters, usefulness
//! what reaches an active result, so loops need no iteration to a fixpoint and nested loops are not
//! analysed again and again: one walk builds the graph and two searches answer.
//!
//! At a call the edges come from the callee's [`Influence`]: which results depend on which parameters.
//! Reachability distributes over the set of active parameters, so one summary serves every mask.
//! Callees are summarised before callers, functions that call each other until nothing changes.
//!
//! Discrete values have no node: comparisons, indices, `floor`, `stop` (partials `Zero` in the
//! table of primitives) end every path.
//!
//! Cost: linear in the function, plus one search per result for the summary.

use crate::{Derivatives, Mask};
use jut_ir::entity::{EntityRef, SecondaryMap};
use jut_ir::graph::strongly_connected;
use jut_ir::prim::Partial;
use jut_ir::{
    Atom, Block, Call, Cap, DataId, FieldPattern, FuncId, Function, NVar, Operand, Place, Program,
    Rhs, Stmt, Type,
};
use std::collections::HashMap;

/// Which data types hold floats and which hold arrays that places step into: one entry per declaration, extended as
/// declarations are added. (A tape may hold two tapes of a function that holds two more; without
/// a table every question would walk the whole tree.)
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    float: Vec<bool>,
    array: Vec<bool>,
    /// Which declarations had constructors when they were taken in, and so had all that they use.
    known: Vec<bool>,
    declared: Vec<bool>,
}

impl Kinds {
    /// Takes in the declarations that are new, or were without constructors before: programs declare a name first.
    pub fn extend(&mut self, program: &Program) {
        let count = program.datas.len();
        for table in [&mut self.float, &mut self.array, &mut self.known] {
            table.resize(count, false);
        }
        self.declared.clear();
        self.declared.extend(program.datas.values().map(|data| data.tangent.is_some()));
        let new: Vec<usize> = (0..count).filter(|k| !self.known[*k]).collect();
        let uses = |k: usize, out: &mut Vec<usize>| {
            let data = &program.datas[DataId::new(k)];
            let fields = data.constructors.iter().flat_map(|c| &c.fields);
            fields.for_each(|f| f.ty.for_each_data(&mut |other| out.push(other.index())));
            out.retain(|other| !self.known[*other]);
        };
        for component in strongly_connected(count, new, uses) {
            let of = |k: usize| &program.datas[DataId::new(k)].constructors;
            let fields = || component.members.iter().flat_map(|k| of(*k)).flat_map(|c| &c.fields);
            let float = fields().any(|f| self.has_float(&f.ty));
            let array = fields().any(|f| self.has_array(&f.ty));
            let mut known = component.members.iter().all(|k| !of(*k).is_empty());
            for field in fields() {
                field.ty.for_each_data(&mut |other| {
                    let other = other.index();
                    known &= self.known[other] || component.members.contains(&other);
                });
            }
            for k in component.members {
                (self.float[k], self.array[k], self.known[k]) = (float, array, known);
            }
        }
    }

    /// Whether a float occurs anywhere in the type.
    pub fn has_float(&self, ty: &Type) -> bool {
        match ty {
            Type::Float(_) => true,
            Type::I64 | Type::I32 | Type::Bool => false,
            Type::Tuple(items) => items.iter().any(|t| self.has_float(t)),
            Type::Array(_, element) => self.has_float(element),
            Type::Data(d) => self.float.get(d.index()).copied().unwrap_or(false),
        }
    }

    /// Whether the tangent type is a declared one ([`jut_ir::tangent`]), hence handled as a whole.
    pub fn is_declared(&self, ty: &Type) -> bool {
        matches!(ty, Type::Data(d) if self.declared.get(d.index()).copied().unwrap_or(false))
    }

    /// Whether an array occurs in the tangent type as it is written out.
    pub fn has_array(&self, ty: &Type) -> bool {
        match ty {
            Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => false,
            Type::Tuple(items) => items.iter().any(|t| self.has_array(t)),
            Type::Array(..) => true,
            Type::Data(_) if self.is_declared(ty) => false,
            Type::Data(d) => self.array.get(d.index()).copied().unwrap_or(false),
        }
    }
}

/// What the results of a function depend on: one entry per non-linear parameter in each row.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Influence {
    /// One row per result.
    pub results: Vec<Vec<bool>>,
    /// One row per `acc` parameter.
    pub accs: Vec<Vec<bool>>,
}

impl Influence {
    /// What is known of a function before anything is: nothing depends on anything.
    pub fn none(func: &Function) -> Influence {
        let row = vec![false; func.params.len()];
        Influence {
            results: vec![row.clone(); func.results.len()],
            accs: vec![row; func.cap_params.len()],
        }
    }

    /// Which results and which `acc` parameters are active under a mask.
    pub fn under(&self, mask: &Mask) -> (Vec<bool>, Vec<bool>) {
        let any = |row: &Vec<bool>| mask.positions().any(|k| row[k]);
        (self.results.iter().map(any).collect(), self.accs.iter().map(any).collect())
    }
}

/// The live values of a function under a mask.
#[derive(Clone, Debug)]
pub struct Activity {
    active: Vec<bool>,
    live: Vec<bool>,
    live_caps: SecondaryMap<Cap, bool>,
}

impl Activity {
    /// Whether a variable depends on an active parameter.
    pub fn is_active(&self, var: NVar) -> bool {
        self.active[var.index()]
    }

    /// Whether an operand depends on an active parameter.
    pub fn is_active_atom(&self, atom: Atom) -> bool {
        atom.var().is_some_and(|v| self.is_active(v))
    }

    /// Whether a variable has a tangent that matters. Variables that a pass adds later have none.
    pub fn is_live(&self, var: NVar) -> bool {
        self.live.get(var.index()).copied().unwrap_or(false)
    }

    /// Whether an operand has a tangent that matters.
    pub fn is_live_atom(&self, atom: Atom) -> bool {
        atom.var().is_some_and(|v| self.is_live(v))
    }

    /// Whether a reference has a tangent that matters.
    pub fn is_live_cap(&self, cap: Cap) -> bool {
        self.live_caps[cap]
    }

    /// The mask of a call: the arguments that are active.
    pub fn call_mask(&self, call: &Call) -> Mask {
        Mask(call.args.iter().map(|a| self.is_active_atom(*a)).collect())
    }
}

/// Summarises a function, by the summaries of what it calls.
pub fn influence(derivatives: &Derivatives, func: FuncId) -> Influence {
    let f = &derivatives.program.funcs[func];
    let graph = Graph::of(derivatives, f);
    let back = Adjacency::new(graph.nodes, graph.edges.iter().map(|(a, b)| (*b, *a)));
    let row = |root: Option<usize>| {
        let mut seen = vec![false; graph.nodes];
        if let Some(root) = root {
            back.reach(&[root], &mut seen, |_| true);
        }
        f.params.iter().map(|p| seen[p.index()]).collect()
    };
    let result = |a: &Atom| row(a.var().map(|v| v.index()).filter(|v| graph.floats[*v]));
    let acc = |c: &Cap| row(Some(graph.cap(*c)).filter(|c| graph.floats[*c]));
    Influence {
        results: f.body.nl.iter().map(result).collect(),
        accs: f.cap_params.iter().map(acc).collect(),
    }
}

/// Finds the live values of a function under a mask.
pub fn analyse(derivatives: &Derivatives, func: FuncId, mask: &Mask) -> Activity {
    let f = &derivatives.program.funcs[func];
    let graph = Graph::of(derivatives, f);
    let mut active = vec![false; graph.nodes];
    let sources: Vec<usize> = mask.positions().map(|k| f.params[k].index()).collect();
    Adjacency::new(graph.nodes, graph.edges.iter().copied()).reach(&sources, &mut active, |_| true);
    // A call whose tangent is wanted takes the tangents of all its active arguments.
    for (call, args, outputs) in &graph.calls {
        active[*call] = outputs.iter().any(|o| active[*o]) && args.iter().any(|a| active[*a]);
    }
    let mut live = vec![false; graph.nodes];
    let sinks: Vec<usize> = f
        .body
        .nl
        .iter()
        .filter_map(|a| a.var())
        .map(|v| v.index())
        .chain(f.cap_params.iter().map(|c| graph.cap(*c)))
        .filter(|n| active[*n])
        .collect();
    let through_calls = graph.calls.iter().flat_map(|(call, args, outputs)| {
        let into = args.iter().map(|a| (*call, *a));
        into.chain(outputs.iter().map(|o| (*o, *call)))
    });
    let back = graph.edges.iter().map(|(a, b)| (*b, *a)).chain(through_calls);
    Adjacency::new(graph.nodes, back).reach(&sinks, &mut live, |n| active[n]);
    let mut live_caps = SecondaryMap::new();
    for cap in f.caps.keys() {
        live_caps[cap] = live[graph.cap(cap)];
    }
    active.truncate(f.nvars.len());
    live.truncate(f.nvars.len());
    Activity { active, live, live_caps }
}

/// The dependence graph of a function: variables, then capabilities, then one node per call.
struct Graph<'a> {
    influences: &'a HashMap<FuncId, Influence>,
    func: &'a Function,
    /// How many nodes there are.
    nodes: usize,
    /// Whether the node's type has a float.
    floats: Vec<bool>,
    edges: Vec<(usize, usize)>,
    /// Calls: node, arguments, results and accumulators.
    calls: Vec<(usize, Vec<usize>, Vec<usize>)>,
}

impl<'a> Graph<'a> {
    fn of(derivatives: &'a Derivatives, func: &'a Function) -> Graph<'a> {
        let kinds = &derivatives.kinds;
        let mut floats: Vec<bool> = func.nvars.values().map(|v| kinds.has_float(&v.ty)).collect();
        floats.extend(func.caps.values().map(|c| kinds.has_float(&c.ty)));
        let mut graph = Graph {
            influences: &derivatives.influences,
            func,
            nodes: floats.len(),
            floats,
            edges: Vec::new(),
            calls: Vec::new(),
        };
        graph.block(&func.body);
        graph
    }

    fn cap(&self, cap: Cap) -> usize {
        self.func.nvars.len() + cap.index()
    }

    fn edge(&mut self, from: usize, to: usize) {
        if self.floats[from] && self.floats[to] {
            self.edges.push((from, to));
        }
    }

    fn flow(&mut self, from: Atom, to: NVar) {
        if let Atom::Var(v) = from {
            self.edge(v.index(), to.index());
        }
    }

    fn flow_all(&mut self, from: &[Atom], to: &[NVar]) {
        for (a, v) in from.iter().zip(to) {
            self.flow(*a, *v);
        }
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let results = &stmt.nl;
        match &stmt.rhs {
            Rhs::Atom(a) => self.flow_all(&[*a], results),
            Rhs::Prim(p, args) => {
                for (a, partial) in args.iter().zip(p.row().partials) {
                    if !matches!(partial, Partial::Zero) {
                        self.flow_all(&[*a], results);
                    }
                }
            }
            Rhs::Structured(_, args, _)
            | Rhs::Tuple(args)
            | Rhs::Con(_, args)
            | Rhs::ArrayLit(args) => {
                for a in args {
                    self.flow_all(&[*a], results);
                }
            }
            Rhs::Untuple(v)
            | Rhs::Proj(v, _)
            | Rhs::Open { value: v, .. }
            | Rhs::Index(v, _)
            | Rhs::Cast { value: v, .. } => {
                for y in results {
                    self.flow(Atom::Var(*v), *y);
                }
            }
            Rhs::Update { array, value, .. } => {
                self.flow_all(&[Atom::Var(*array)], results);
                self.flow_all(&[*value], results);
            }
            Rhs::Inc(place, Operand::N(Atom::Var(v))) => {
                let cap = self.cap(place.root);
                self.edge(v.index(), cap);
            }
            Rhs::Region(region) => {
                self.block(&region.body);
                self.flow_all(&region.body.nl, results);
                let cap = self.cap(region.cap);
                if let Some(Operand::N(Atom::Var(start))) = region.start {
                    self.edge(start.index(), cap);
                }
                if let Some(total) = results.last() {
                    self.edge(cap, total.index());
                }
            }
            Rhs::Scan(scan) => {
                self.block(&scan.body);
                for (k, (carry, init)) in scan.carry.iter().enumerate() {
                    self.flow(*init, *carry);
                    if let Some(next) = scan.body.nl.get(k) {
                        self.flow(*next, *carry);
                    }
                    if let Some(result) = results.get(k) {
                        self.flow(Atom::Var(*carry), *result);
                    }
                }
                for (element, array) in &scan.slices {
                    self.flow(Atom::Var(*array), *element);
                }
                for (element, place) in &scan.cap_slices {
                    let (element, whole) = (self.cap(*element), self.cap(place.root));
                    self.edge(element, whole);
                }
                for (next, result) in scan.body.nl.iter().zip(results).skip(scan.carry.len()) {
                    self.flow(*next, *result);
                }
            }
            Rhs::Case(case) => {
                for arm in &case.arms {
                    for field in &arm.fields {
                        if let FieldPattern::Bind(v) = field {
                            self.flow(case.scrutinee, *v);
                        }
                    }
                    self.block(&arm.body);
                    self.flow_all(&arm.body.nl, results);
                }
            }
            Rhs::Call(call) => self.call(call, results),
            // Discrete, or linear: J's domain has none of the latter.
            _ => {}
        }
    }

    fn call(&mut self, call: &Call, results: &[NVar]) {
        let Some(influence) = self.influences.get(&call.func) else { return };
        let accs: Vec<Option<&Place>> = call.places.iter().map(Option::as_ref).collect();
        let mut outputs = Vec::new();
        let rows = influence.results.iter().zip(results).map(|(row, y)| (row, y.index()));
        let acc_rows = influence.accs.iter().zip(&accs);
        let acc_rows = acc_rows.filter_map(|(row, p)| p.map(|p| (row, self.cap(p.root))));
        let rows: Vec<(&Vec<bool>, usize)> = rows.chain(acc_rows).collect();
        for (row, output) in rows {
            outputs.push(output);
            for (a, depends) in call.args.iter().zip(row) {
                if let (Atom::Var(v), true) = (a, *depends) {
                    self.edge(v.index(), output);
                }
            }
        }
        let args = call.args.iter().filter_map(|a| a.var()).map(|v| v.index());
        let args = args.filter(|v| self.floats[*v]).collect();
        let node = self.nodes;
        self.nodes += 1;
        self.floats.push(true);
        self.calls.push((node, args, outputs));
    }
}

/// Successors of every node, in one array.
struct Adjacency {
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Adjacency {
    fn new(nodes: usize, edges: impl Iterator<Item = (usize, usize)> + Clone) -> Adjacency {
        let mut starts = vec![0u32; nodes + 1];
        for (from, _) in edges.clone() {
            starts[from + 1] += 1;
        }
        for k in 0..nodes {
            starts[k + 1] += starts[k];
        }
        let mut targets = vec![0u32; starts[nodes] as usize];
        let mut next = starts.clone();
        for (from, to) in edges {
            targets[next[from] as usize] = to as u32;
            next[from] += 1;
        }
        Adjacency { starts, targets }
    }

    /// Marks what can be reached from `roots` through nodes that `enter` allows.
    fn reach(&self, roots: &[usize], seen: &mut [bool], enter: impl Fn(usize) -> bool) {
        let mut work: Vec<usize> = Vec::new();
        for root in roots {
            if !seen[*root] {
                seen[*root] = true;
                work.push(*root);
            }
        }
        while let Some(node) = work.pop() {
            let range = self.starts[node] as usize..self.starts[node + 1] as usize;
            for target in &self.targets[range] {
                let target = *target as usize;
                if !seen[target] && enter(target) {
                    seen[target] = true;
                    work.push(target);
                }
            }
        }
    }
}
