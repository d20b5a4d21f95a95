//! A picture of graphs as SVG, readable in light and dark surroundings alike (it has its own ground).

use super::graph::{Graph, LINE, MARGIN, Node, Shape, TITLE, Tone};
use std::fmt::Write;

/// Ground, line and text of each tone.
fn colours(tone: Tone) -> (&'static str, &'static str) {
    match tone {
        Tone::Value => ("#dbe9f6", "#2b5c8a"),
        Tone::Linear => ("#fde3c8", "#b3590a"),
        Tone::Both => ("#f4f4f2", "#6d6d68"),
        Tone::Tape => ("#f1e6f8", TAPE),
    }
}

/// The colour of the tape.
const TAPE: &str = "#7a3fa0";

/// A picture that is being drawn.
#[derive(Default)]
pub struct Picture {
    /// Boxes first, then edges, then the nodes above them.
    grounds: String,
    edges: String,
    nodes: String,
}

impl Picture {
    /// Draws a graph with its left upper corner at a point; upside down if `turned`, with the height
    /// of the whole.
    pub fn graph(&mut self, graph: &Graph, x: f64, y: f64, turned: bool) {
        let height = graph.layout.size.1;
        for (edge, route) in graph.edges.iter().zip(&graph.layout.routes) {
            let place =
                |(px, py): &(f64, f64)| (x + px, y + if turned { height - py } else { *py });
            let points: Vec<(f64, f64)> = route.iter().map(place).collect();
            self.edge(&points, colours(edge.tone).1);
        }
        for (node, (nx, ny)) in graph.nodes.iter().zip(&graph.layout.corners) {
            let top = if turned { height - ny - node.size.1 } else { *ny };
            self.node(node, x + nx, y + top, turned);
        }
    }

    fn edge(&mut self, points: &[(f64, f64)], colour: &str) {
        let _ = write!(
            self.edges,
            "<path class=\"e\" stroke=\"{colour}\" marker-end=\"url(#{})\" d=\"",
            marker(colour)
        );
        for (k, (x, y)) in points.iter().enumerate() {
            let _ = match k.checked_sub(1).and_then(|k| points.get(k)) {
                None => write!(self.edges, "M{x:.1} {y:.1}"),
                Some((u, v)) => {
                    let middle = (v + y) / 2.0;
                    write!(self.edges, "C{u:.1} {middle:.1} {x:.1} {middle:.1} {x:.1} {y:.1}")
                }
            };
        }
        self.edges.push_str("\"/>\n");
    }

    /// A value that goes from one frame to another, over the tape: from the side of a node to the end of
    /// a port that points away from the graph, which is below if `up`.
    pub fn tape(&mut self, from: (f64, f64), to: (f64, f64), up: bool, name: &str) {
        let ((x, y), (u, v)) = (from, to);
        let reach = ((u - x) / 2.0).max(40.0);
        let turn = if up { v + 60.0 } else { v - 60.0 };
        let _ = writeln!(
            self.edges,
            "<path class=\"e t\" stroke=\"{TAPE}\" marker-end=\"url(#{})\" \
             d=\"M{x:.1} {y:.1}C{:.1} {y:.1} {u:.1} {turn:.1} {u:.1} {v:.1}\"><title>{}</title></path>",
            marker(TAPE),
            x + reach,
            escape(name)
        );
    }

    fn node(&mut self, node: &Node, x: f64, y: f64, turned: bool) {
        let (ground, line) = colours(node.tone);
        let (w, h) = node.size;
        let label = escape(&node.label);
        match &node.shape {
            Shape::Box(columns) => {
                let _ = writeln!(
                    self.grounds,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" rx=\"8\" \
                     fill=\"{ground}\" fill-opacity=\"0.55\" stroke=\"{line}\"/>"
                );
                let _ = writeln!(
                    self.nodes,
                    "<text class=\"b\" x=\"{:.1}\" y=\"{:.1}\" fill=\"{line}\">{label}</text>",
                    x + 8.0,
                    y + 16.0
                );
                let mut left = x + MARGIN;
                for column in columns {
                    let rest = h - TITLE - 2.0 * MARGIN - column.layout.size.1;
                    let above = if turned { rest } else { 0.0 };
                    self.graph(column, left, y + TITLE + MARGIN + above, turned);
                    left += column.layout.size.0 + MARGIN;
                }
            }
            shape => {
                let port = matches!(shape, Shape::Port);
                let (radius, ground) = match (port, node.tone) {
                    (true, Tone::Tape) => (h / 2.0, ground),
                    (true, _) => (h / 2.0, "#ffffff"),
                    _ => (4.0, ground),
                };
                let _ = writeln!(
                    self.nodes,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" \
                     rx=\"{radius:.1}\" fill=\"{ground}\" stroke=\"{line}\"/>\
                     <text x=\"{:.1}\" y=\"{:.1}\" fill=\"#1c1c1c\">{label}</text>",
                    x + w / 2.0,
                    y + h / 2.0 + 4.0
                );
            }
        }
    }

    /// A frame round a definition.
    pub fn frame(&mut self, title: &str, x: f64, y: f64, w: f64, h: f64) {
        let _ = writeln!(
            self.grounds,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" rx=\"10\" \
             fill=\"#fbfbfa\" stroke=\"#b9b9b2\"/>\
             <text class=\"b\" x=\"{:.1}\" y=\"{:.1}\" fill=\"#1c1c1c\">{}</text>",
            x + 10.0,
            y + 18.0,
            escape(title)
        );
    }

    /// The finished picture, with a legend below.
    pub fn finish(mut self, width: f64, height: f64) -> String {
        let entries = [
            (Tone::Value, "values (non-linear)"),
            (Tone::Linear, "tangents and cotangents (linear)"),
            (Tone::Both, "both"),
        ];
        let mut x = MARGIN;
        let y = height + LINE / 2.0;
        for (tone, text) in entries {
            let (ground, line) = colours(tone);
            let _ = writeln!(
                self.nodes,
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"14\" height=\"14\" rx=\"3\" fill=\"{ground}\" \
                 stroke=\"{line}\"/><text class=\"l\" x=\"{:.1}\" y=\"{y:.1}\">{text}</text>",
                y - 11.0,
                x + 20.0
            );
            x += 40.0 + text.len() as f64 * 6.2;
        }
        let _ = writeln!(
            self.nodes,
            "<path class=\"e t\" stroke=\"{TAPE}\" d=\"M{x:.1} {:.1}h24\"/>\
             <text class=\"l\" x=\"{:.1}\" y=\"{y:.1}\">tape</text>",
            y - 4.0,
            x + 30.0
        );
        let (width, height) = (width.max(x + 70.0), height + 1.5 * LINE);
        let markers: String = [colours(Tone::Value).1, colours(Tone::Linear).1, colours(Tone::Both).1, TAPE]
            .map(|colour| {
                format!(
                    "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
                     markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"{colour}\"/>\
                     </marker>",
                    marker(colour)
                )
            })
            .concat();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\">\n<style>text{{font:12px monospace;\
             text-anchor:middle}}.b{{font-weight:bold;text-anchor:start}}.l{{font-family:sans-serif;\
             text-anchor:start;fill:#1c1c1c}}.e{{fill:none;stroke-width:1.3}}.t{{stroke-width:1.6;\
             stroke-dasharray:5 4}}</style>\n<defs>{markers}</defs>\n<rect width=\"100%\" \
             height=\"100%\" fill=\"#ffffff\"/>\n{}{}{}</svg>\n",
            self.grounds, self.edges, self.nodes
        )
    }
}

/// The name of the arrow head of a colour.
fn marker(colour: &str) -> String {
    format!("a{}", &colour[1..])
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
