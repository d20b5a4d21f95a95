//! The data flow of a definition as a graph: a node for every statement, an edge for every value.
//!
//! A statement with a block (a loop, a region, a branch) is a box around the graph of the block, with
//! small round nodes for what goes in and comes out. Arithmetic of sizes, and checks, are left out;
//! the text in the nodes says what they are about.

use super::layout::{self, Layout};
use jut_ir::print::print_statement;
use jut_ir::visit::Use;
use jut_ir::{Atom, Block, FuncId, Function, Mode, NVar, Operand, Program, Rhs, Stmt, Type};
use std::collections::{HashMap, HashSet};

/// Which part of the program something belongs to: the two colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tone {
    /// Values.
    Value,
    /// Tangents and cotangents.
    Linear,
    /// A box with both.
    Both,
    /// What comes over the tape.
    Tape,
}

/// What a node looks like.
#[derive(Clone, Debug)]
pub enum Shape {
    /// One operation.
    Operation,
    /// Something that goes in or comes out.
    Port,
    /// A box around other nodes, in one or more columns.
    Box(Vec<Graph>),
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    pub label: String,
    pub tone: Tone,
    pub shape: Shape,
    pub size: (f64, f64),
}

/// An edge, as the layout takes it, and its colour.
#[derive(Clone, Debug)]
pub struct Edge {
    pub tone: Tone,
    pub way: layout::Edge,
}

/// A graph with its layout.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    pub layout: Layout,
    /// The node that makes each name.
    pub makes: HashMap<Use, usize>,
    /// The nodes that read each name, the ports of results among them.
    pub reads: HashMap<Use, Vec<usize>>,
}

/// Width of a letter, height of a line, and the space round a text.
pub const LETTER: f64 = 7.25;
pub const LINE: f64 = 24.0;
const ROUND: f64 = 14.0;
/// The space round the graph in a box, and above it for the title.
pub const MARGIN: f64 = 14.0;
pub const TITLE: f64 = 24.0;

/// Makes the graphs of a function's blocks.
pub struct Builder<'p> {
    pub program: &'p Program,
    pub func: FuncId,
    /// The record of the tape: what makes or opens it is not drawn, and what comes out of it is a
    /// port.
    pub tape: Option<NVar>,
}

/// Something that goes into a block: its name inside, and the outer names that it comes from.
type Entry = (Use, Vec<Use>);

/// A name that a statement reads; for a box, the port in it that takes the name, and its place.
type Input = (Use, Option<(usize, f64)>);

impl<'p> Builder<'p> {
    fn function(&self) -> &'p Function {
        &self.program.funcs[self.func]
    }

    /// The graph of the whole definition.
    pub fn definition(&self) -> Graph {
        let f = self.function();
        let params =
            f.params.iter().map(|v| Use::N(*v)).chain(f.lin_params.iter().map(|x| Use::L(*x)));
        let caps = f.cap_params.iter().map(|c| Use::C(*c));
        let opened = f
            .body
            .stmts
            .iter()
            .filter(|stmt| self.is_tape(stmt))
            .filter(|stmt| matches!(stmt.rhs, Rhs::Open { .. }));
        let opened = opened.flat_map(|stmt| stmt.nl.iter().map(|v| Use::N(*v)));
        let entries = params.chain(caps.clone()).chain(opened);
        let entries = entries.filter(|name| !self.is_left_out(*name) && !self.adds(*name));
        let entries = entries.map(|name| (name, Vec::new())).collect();
        let totals: Vec<Use> = caps.filter(|c| self.adds(*c)).collect();
        self.block(&f.body, entries, &totals).0
    }

    /// Whether a statement makes or opens the record of the tape.
    fn is_tape(&self, stmt: &Stmt) -> bool {
        self.tape.is_some_and(|tape| match &stmt.rhs {
            Rhs::Con(..) => stmt.nl == [tape],
            Rhs::Open { value, .. } => *value == tape,
            _ => false,
        })
    }

    /// Sizes, and the record of the tape.
    fn is_left_out(&self, name: Use) -> bool {
        self.is_size(name) || self.tape.is_some_and(|tape| name == Use::N(tape))
    }

    fn name(&self, name: Use) -> &'p str {
        let f = self.function();
        match name {
            Use::N(v) => &f.nvars[v].name,
            Use::L(x) => &f.lvars[x].name,
            Use::C(c) => &f.caps[c].name,
        }
    }

    fn tone(&self, name: Use) -> Tone {
        match name {
            Use::N(_) => Tone::Value,
            Use::L(_) => Tone::Linear,
            Use::C(c) if self.function().caps[c].mode == jut_ir::Mode::Acc => Tone::Value,
            Use::C(_) => Tone::Linear,
        }
    }

    fn is_size(&self, name: Use) -> bool {
        matches!(name, Use::N(v) if self.function().nvars[v].ty == Type::I64)
    }

    /// Whether a capability is one that is added to.
    fn adds(&self, name: Use) -> bool {
        matches!(name, Use::C(c) if self.function().caps[c].mode != jut_ir::Mode::Rd)
    }

    /// Whether a statement is arithmetic of sizes, or a check.
    fn is_about_sizes(&self, stmt: &Stmt) -> bool {
        let mut sizes = true;
        stmt.for_each_use(self.function(), &mut |name| sizes &= self.is_size(name));
        let made = stmt.nl.iter().all(|v| self.is_size(Use::N(*v))) && stmt.lin.is_empty();
        matches!(stmt.rhs, Rhs::Check(_)) || sizes && made && stmt.rhs.blocks().is_empty()
    }

    /// The graph of a block, and which of its ports take which outer names. `totals` are the
    /// capabilities that the block adds to and that leave with it.
    fn block(
        &self,
        block: &Block,
        entries: Vec<Entry>,
        totals: &[Use],
    ) -> (Graph, Vec<(Use, usize)>) {
        let mut graph = Graph::default();
        let mut ports = Vec::new();
        for (name, from) in entries {
            let port = graph.port(self.name(name), self.tone(name));
            graph.makes.insert(name, port);
            ports.extend(from.into_iter().map(|outer| (outer, port)));
        }
        for stmt in &block.stmts {
            if self.is_tape(stmt) {
                let made = stmt.nl.iter().filter_map(|v| graph.makes.get(&Use::N(*v)));
                let ports: Vec<usize> = made.copied().collect();
                ports.into_iter().for_each(|k| graph.nodes[k].tone = Tone::Tape);
            } else if !self.is_about_sizes(stmt) {
                self.statement(&mut graph, stmt);
            }
        }
        let nl = block.nl.iter().filter_map(|a| a.var()).map(Use::N);
        let results = nl.chain(block.lin.iter().map(|x| Use::L(*x)));
        let mut seen = HashSet::new();
        for name in results.chain(totals.iter().copied()) {
            if self.is_left_out(name) || !seen.insert(name) {
                continue;
            }
            let readers = match name {
                Use::C(_) => graph.reads.get(&name).cloned().unwrap_or_default(),
                _ => Vec::new(),
            };
            let port = graph.port(self.name(name), self.tone(name));
            for node in readers {
                graph.edge(node, port, self.tone(name), None);
            }
            if !matches!(name, Use::C(_)) {
                graph.read(name, port, self.tone(name), None);
            }
        }
        graph.lay_out();
        (graph, ports)
    }

    fn statement(&self, graph: &mut Graph, stmt: &Stmt) {
        let text = print_statement(self.program, self.func, stmt);
        let text = text.split(" {").next().unwrap_or_default().to_string();
        let blocks = stmt.rhs.blocks();
        let (node, inputs) = if blocks.is_empty() {
            let tone = self.tone_of(stmt);
            let width = text.chars().count() as f64 * LETTER + ROUND;
            let size = (width, LINE);
            let mut inputs = Vec::new();
            stmt.rhs.for_each_own_use(&mut |name| inputs.push((name, None)));
            (graph.push(Node { label: text, tone, shape: Shape::Operation, size }), inputs)
        } else {
            self.nested(graph, stmt, text, &blocks)
        };
        let mut seen = HashSet::new();
        for (name, at) in inputs {
            // A statement adds to an accumulator: what it makes goes out, nothing comes in.
            if self.adds(name) {
                graph.reads.entry(name).or_default().push(node);
            } else if seen.insert((name, at.map(|(port, _)| port))) {
                graph.read(name, node, self.tone(name), at.map(|(_, x)| x));
            }
        }
        graph.makes.extend(stmt.nl.iter().map(|v| (Use::N(*v), node)));
        graph.makes.extend(stmt.lin.iter().map(|x| (Use::L(*x), node)));
    }

    /// A statement with blocks: a box, and where in it each outer name goes in.
    fn nested(
        &self,
        graph: &mut Graph,
        stmt: &Stmt,
        title: String,
        blocks: &[&Block],
    ) -> (usize, Vec<Input>) {
        let mut columns = Vec::new();
        let mut inputs = Vec::new();
        let (mut x, mut height) = (MARGIN, 0.0f64);
        let mut port_number = 0;
        for block in blocks {
            let (inner, ports) = self.inner(stmt, block, &graph.makes);
            for (outer, port) in ports {
                let place = x + inner.layout.corners[port].0 + inner.nodes[port].size.0 / 2.0;
                inputs.push((outer, Some((port_number + port, place))));
            }
            port_number += inner.nodes.len();
            x += inner.layout.size.0 + MARGIN;
            height = height.max(inner.layout.size.1);
            columns.push(inner);
        }
        stmt.rhs.for_each_own_use(&mut |name| {
            if !self.adds(name) && !inputs.iter().any(|(known, _)| *known == name) {
                inputs.push((name, None));
            }
        });
        // What is only added to goes out, without a port inside.
        stmt.for_each_use(self.function(), &mut |name| {
            if self.adds(name) {
                inputs.push((name, None));
            }
        });
        let width = x.max(title.chars().count() as f64 * LETTER + 2.0 * ROUND);
        let tones: HashSet<bool> = columns
            .iter()
            .flat_map(|g| &g.nodes)
            .flat_map(|n| match n.tone {
                Tone::Value | Tone::Tape => vec![false],
                Tone::Linear => vec![true],
                Tone::Both => vec![false, true],
            })
            .collect();
        let tone = match (tones.contains(&false), tones.contains(&true)) {
            (true, true) => Tone::Both,
            (false, true) => Tone::Linear,
            _ => Tone::Value,
        };
        let size = (width, height + TITLE + 2.0 * MARGIN);
        (graph.push(Node { label: title, tone, shape: Shape::Box(columns), size }), inputs)
    }

    /// The graph of a block in a statement: ports for what it reads from outside, and for what the
    /// statement binds in it.
    fn inner(
        &self,
        stmt: &Stmt,
        block: &Block,
        known: &HashMap<Use, usize>,
    ) -> (Graph, Vec<(Use, usize)>) {
        let mut entries: Vec<Entry> = Vec::new();
        let mut totals = Vec::new();
        let own = |name: Use, from: Option<Use>| (name, from.into_iter().collect());
        match &stmt.rhs {
            Rhs::Region(region) => {
                if let Some(start) = region.start {
                    let from = match start {
                        Operand::N(a) => a.var().map(Use::N),
                        Operand::L(x) => Some(Use::L(x)),
                    };
                    entries.push(own(Use::C(region.cap), from));
                }
                if region.mode != Mode::Rd {
                    totals.push(Use::C(region.cap));
                }
            }
            Rhs::Scan(scan) => {
                let var = |a: &Atom| a.var().map(Use::N);
                entries.extend(scan.carry.iter().map(|(v, a)| own(Use::N(*v), var(a))));
                entries
                    .extend(scan.lin_carry.iter().map(|(x, i)| own(Use::L(*x), Some(Use::L(*i)))));
                entries.extend(scan.slices.iter().map(|(v, a)| own(Use::N(*v), Some(Use::N(*a)))));
                entries
                    .extend(scan.lin_slices.iter().map(|(x, a)| own(Use::L(*x), Some(Use::L(*a)))));
                for (c, place) in &scan.cap_slices {
                    match self.adds(Use::C(*c)) {
                        true => totals.push(Use::C(*c)),
                        false => entries.push(own(Use::C(*c), Some(Use::C(place.root)))),
                    }
                }
            }
            Rhs::Case(case) => {
                let arm = case.arms.iter().find(|arm| std::ptr::eq(&arm.body, block));
                let fields = arm.map(|arm| arm.fields.as_slice()).unwrap_or_default();
                for field in fields {
                    if let jut_ir::FieldPattern::Bind(v) = field {
                        entries.push(own(Use::N(*v), case.scrutinee.var().map(Use::N)));
                    }
                }
            }
            _ => {}
        }
        let mut seen: HashSet<Use> = entries.iter().map(|(name, _)| *name).collect();
        block.for_each_use(self.function(), &mut |name| {
            let outer = known.contains_key(&name) && !self.adds(name);
            if outer && !self.is_size(name) && seen.insert(name) {
                entries.push((name, vec![name]));
            }
        });
        entries.retain(|(name, _)| !self.is_size(*name));
        self.block(block, entries, &totals)
    }

    fn tone_of(&self, stmt: &Stmt) -> Tone {
        let mut linear = !stmt.lin.is_empty();
        match &stmt.rhs {
            Rhs::Inc(_, Operand::L(_)) | Rhs::Drop(_) | Rhs::Rd(_) => linear = true,
            Rhs::Call(call) => {
                linear |=
                    call.places.iter().flatten().any(|p| self.tone(Use::C(p.root)) == Tone::Linear)
            }
            _ => {}
        }
        match (stmt.nl.is_empty(), linear) {
            (false, true) => Tone::Both,
            (_, true) => Tone::Linear,
            _ => Tone::Value,
        }
    }
}

impl Graph {
    fn push(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn port(&mut self, name: &str, tone: Tone) -> usize {
        let size = (name.chars().count() as f64 * LETTER + ROUND, LINE - 4.0);
        self.push(Node { label: name.to_string(), tone, shape: Shape::Port, size })
    }

    fn edge(&mut self, from: usize, to: usize, tone: Tone, at: Option<f64>) {
        let bundle = tone as u8;
        self.edges.push(Edge { tone, way: layout::Edge { from, to, at, bundle } });
    }

    /// A node reads a name.
    fn read(&mut self, name: Use, node: usize, tone: Tone, at: Option<f64>) {
        self.reads.entry(name).or_default().push(node);
        if let Some(from) = self.makes.get(&name).copied() {
            self.edge(from, node, tone, at);
        }
    }

    fn lay_out(&mut self) {
        let sizes: Vec<(f64, f64)> = self.nodes.iter().map(|n| n.size).collect();
        let read: HashSet<usize> = self.edges.iter().map(|e| e.way.to).collect();
        let late: Vec<bool> = (0..sizes.len()).map(|k| !read.contains(&k)).collect();
        let edges: Vec<layout::Edge> = self.edges.iter().map(|e| e.way).collect();
        self.layout = layout::layered(&sizes, &late, &edges);
    }
}
