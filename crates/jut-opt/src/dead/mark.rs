//! Marking: which names, statements and capabilities of a function are needed.

use jut_ir::entity::{Cap, EntityRef, FuncId, NVar, SecondaryMap};
use jut_ir::ir::*;
use jut_ir::types::Type;
use jut_ir::visit::Use;

/// Every non-linear name that a function mentions: in its body, and in the types of its results,
/// capabilities and other mentioned parameters.
pub fn mentioned(func: &Function) -> SecondaryMap<NVar, bool> {
    let mut used = SecondaryMap::new();
    func.body.for_each_use(func, &mut |u| {
        if let Use::N(v) = u {
            used[v] = true;
        }
    });
    let mut types: Vec<&Type> = func.results.iter().map(|r| &r.ty).collect();
    types.extend(func.caps.values().map(|c| &c.ty));
    types.extend(func.nvars.iter().filter(|(v, _)| used[*v]).map(|(_, d)| &d.ty));
    let sizes = func.nvars.values().filter_map(|d| d.def.as_ref()).flat_map(|d| d.names());
    let names: Vec<NVar> = types.into_iter().flat_map(|t| t.size_names()).chain(sizes).collect();
    for name in names {
        used[name] = true;
    }
    used
}

/// The needed nodes of a function's graph.
pub struct Marks {
    vars: SecondaryMap<NVar, bool>,
    caps: SecondaryMap<Cap, bool>,
    /// Statements in the order of the walk; [`crate::dead::sweep`] walks in the same order.
    stmts: Vec<bool>,
}

impl Marks {
    /// Whether a name is needed.
    pub fn var(&self, var: NVar) -> bool {
        self.vars[var]
    }

    /// Whether the sum of a capability is needed.
    pub fn cap(&self, cap: Cap) -> bool {
        self.caps[cap]
    }

    /// Whether the n-th statement of the walk is needed.
    pub fn stmt(&self, number: usize) -> bool {
        self.stmts[number]
    }

    /// Marks a function.
    pub fn of(func: &Function, fallible: &SecondaryMap<FuncId, bool>) -> Marks {
        let mut graph = Graph {
            func,
            fallible,
            vars: func.nvars.len(),
            caps: func.caps.len(),
            nodes: func.nvars.len() + func.caps.len(),
            edges: Vec::new(),
            roots: Vec::new(),
        };
        for (var, data) in func.nvars.iter() {
            for name in data.ty.size_names() {
                graph.edge(graph.var(var), graph.var(name));
            }
        }
        for cap in &func.cap_params {
            graph.roots.push(graph.cap(*cap));
        }
        graph.block(&func.body, None);
        for atom in &func.body.nl {
            if let Some(v) = atom.var() {
                graph.roots.push(graph.var(v));
            }
        }
        for result in &func.results {
            for name in result.ty.size_names() {
                graph.roots.push(graph.var(name));
            }
        }
        graph.reach()
    }
}

/// Node numbers: names, then capabilities, then statements.
struct Graph<'a> {
    func: &'a Function,
    fallible: &'a SecondaryMap<FuncId, bool>,
    vars: usize,
    caps: usize,
    nodes: usize,
    /// Who needs what, in one list: a list per node would be as many allocations.
    edges: Vec<(u32, u32)>,
    roots: Vec<usize>,
}

impl Graph<'_> {
    fn var(&self, v: NVar) -> usize {
        v.index()
    }

    fn cap(&self, c: Cap) -> usize {
        self.vars + c.index()
    }

    /// `from` needs `to`. Names from outside the function's tables (there are none in a checked
    /// program) are ignored.
    fn edge(&mut self, from: usize, to: usize) {
        if to < self.nodes {
            self.edges.push((from as u32, to as u32));
        }
    }

    fn edge_atom(&mut self, from: usize, to: Atom) {
        if let Atom::Var(v) = to {
            self.edge(from, v.index());
        }
    }

    fn block(&mut self, block: &Block, parent: Option<usize>) {
        for stmt in &block.stmts {
            let node = self.nodes;
            self.nodes += 1;
            if let Some(parent) = parent {
                self.edge(node, parent);
            }
            self.stmt(stmt, node);
            for nested in stmt.rhs.blocks() {
                self.block(nested, Some(node));
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt, node: usize) {
        for v in &stmt.nl {
            self.edge(self.var(*v), node);
        }
        if stmt.rhs.can_fail(&|callee| self.fallible[callee]) {
            self.roots.push(node);
        }
        match &stmt.rhs {
            Rhs::Scan(scan) => self.scan(stmt, scan, node),
            Rhs::Case(case) => {
                self.edge_atom(node, case.scrutinee);
                for arm in &case.arms {
                    for field in &arm.fields {
                        match field {
                            FieldPattern::Bind(v) => self.edge(self.var(*v), node),
                            FieldPattern::Eq(a) => self.edge_atom(node, *a),
                        }
                    }
                    for (v, a) in stmt.nl.iter().zip(&arm.body.nl) {
                        self.edge_atom(self.var(*v), *a);
                    }
                }
            }
            Rhs::Region(region) => {
                let names = self.func.caps[region.cap].ty.size_names();
                let cap = self.cap(region.cap);
                self.edge(cap, node);
                for name in names {
                    self.edge(node, self.var(name));
                }
                if let Some(Operand::N(start)) = region.start {
                    self.edge_atom(cap, start);
                }
                for (v, a) in stmt.nl.iter().zip(&region.body.nl) {
                    self.edge_atom(self.var(*v), *a);
                }
                if let Some(total) = stmt.nl.last() {
                    self.edge(self.var(*total), cap);
                }
            }
            rhs => {
                let mut uses = Vec::new();
                rhs.for_each_own_use(&mut |u| uses.push(u));
                for u in uses {
                    match u {
                        Use::N(v) => self.edge(node, self.var(v)),
                        // What a statement adds to needs the statement. A statement that runs for
                        // another reason adds into its capability all the same.
                        Use::C(c) => {
                            self.edge(self.cap(c), node);
                            self.edge(node, self.cap(c));
                        }
                        Use::L(_) => {}
                    }
                }
            }
        }
    }

    fn scan(&mut self, stmt: &Stmt, scan: &Scan, node: usize) {
        self.edge_atom(node, scan.bound);
        self.edge(self.var(scan.index), node);
        for (v, array) in &scan.slices {
            self.edge(self.var(*v), node);
            self.edge(self.var(*v), self.var(*array));
        }
        for (c, place) in &scan.cap_slices {
            self.edge(self.cap(*c), self.cap(place.root));
            self.edge(self.cap(place.root), self.cap(*c));
            self.edge(self.cap(*c), node);
        }
        for (k, (v, init)) in scan.carry.iter().enumerate() {
            self.edge(self.var(*v), node);
            self.edge_atom(self.var(*v), *init);
            if let Some(result) = stmt.nl.get(k) {
                self.edge(self.var(*v), self.var(*result));
                self.edge(self.var(*result), self.var(*v));
            }
        }
        for (result, a) in stmt.nl.iter().zip(&scan.body.nl) {
            self.edge_atom(self.var(*result), *a);
        }
        // Whether there is another iteration is part of the loop.
        if let Some(trips) = stmt.rhs.trips(&stmt.nl) {
            self.edge(node, self.var(trips));
        }
    }

    fn reach(self) -> Marks {
        // The targets of each node, one node after the other.
        let mut ends = vec![0u32; self.nodes + 1];
        self.edges.iter().for_each(|(from, _)| ends[*from as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let mut targets = vec![0; self.edges.len()];
        let mut starts = ends;
        for (from, to) in &self.edges {
            let start = &mut starts[*from as usize];
            *start -= 1;
            targets[*start as usize] = *to;
        }
        let mut seen = vec![false; self.nodes];
        let mut work = self.roots;
        while let Some(node) = work.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                let range = starts[node] as usize..starts[node + 1] as usize;
                work.extend(targets[range].iter().map(|to| *to as usize));
            }
        }
        let mut vars = SecondaryMap::new();
        let mut caps = SecondaryMap::new();
        for k in 0..self.vars {
            vars[NVar::new(k)] = seen[k];
        }
        for k in 0..self.caps {
            caps[Cap::new(k)] = seen[self.vars + k];
        }
        Marks { vars, caps, stmts: seen.split_off(self.vars + self.caps) }
    }
}
