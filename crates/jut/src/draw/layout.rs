//! A layered layout: where the nodes of an acyclic graph stand, and which way its edges go.
//!
//! The method of Sugiyama, Tagawa and Toda in its simplest form. Every node stands below all that it
//! reads (the layer is the longest way from the top); an edge over several layers goes through an
//! invisible node in each; in a layer, nodes are ordered by the mean position of their neighbours,
//! a few times down and up; then the places along a layer are those that are nearest to the
//! neighbours' without changing the order, which is a least-squares problem with an exact solution by
//! pooling (isotonic regression).
//!
//! *Requires*: edges go from smaller to larger numbers. *Ensures*: boxes do not overlap; the same
//! graph has the same layout on every machine. *Cost*: nodes, edges and invisible nodes, a fixed number of
//! times; there are at most edges times layers of the last.

use std::collections::HashMap;

/// An edge between nodes by number.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Where it begins: at the bottom of this node, in the middle.
    pub from: usize,
    /// Where it ends: at the top of this node.
    pub to: usize,
    /// How far from the left side of that node; without it, in the middle.
    pub at: Option<f64>,
    /// Edges of one node and one bundle share their way through further layers.
    pub bundle: u8,
}

/// Where everything is.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The left upper corner of each node.
    pub corners: Vec<(f64, f64)>,
    /// The points that each edge goes through.
    pub routes: Vec<Vec<(f64, f64)>>,
    /// The size of the whole.
    pub size: (f64, f64),
}

/// Between neighbours in a layer.
const ASIDE: f64 = 18.0;
/// Between layers.
const BELOW: f64 = 30.0;
/// The width that an edge takes on its way through a layer.
const LANE: f64 = 6.0;

/// A node, or an edge on its way through a layer.
struct Slot {
    width: f64,
    height: f64,
    layer: usize,
    /// Neighbours above and below.
    above: Vec<usize>,
    below: Vec<usize>,
    centre: f64,
}

/// Lays a graph out. `sizes` are the sizes of the nodes; a `late` node stands right above what reads
/// it.
pub fn layered(sizes: &[(f64, f64)], late: &[bool], edges: &[Edge]) -> Layout {
    let layers = layers(sizes.len(), late, edges);
    let slot = |(k, (width, height)): (usize, &(f64, f64))| Slot {
        width: *width,
        height: *height,
        layer: layers[k],
        above: Vec::new(),
        below: Vec::new(),
        centre: 0.0,
    };
    let mut slots: Vec<Slot> = sizes.iter().enumerate().map(slot).collect();
    let ways = route(&mut slots, edges);
    let mut rows = order(&slots);
    align(&mut slots, &mut rows);

    let mut corners = vec![(0.0, 0.0); slots.len()];
    let left = slots.iter().map(|s| s.centre - s.width / 2.0).fold(f64::INFINITY, f64::min);
    let left = if left.is_finite() { left } else { 0.0 };
    let (mut y, mut right) = (0.0, 0.0f64);
    let mut middle = Vec::new();
    for row in &rows {
        let height = row.iter().map(|k| slots[*k].height).fold(0.0, f64::max);
        for k in row {
            let slot = &slots[*k];
            corners[*k] = (slot.centre - slot.width / 2.0 - left, y + (height - slot.height) / 2.0);
            right = right.max(corners[*k].0 + slot.width);
        }
        middle.push((y, y + height));
        y += height + BELOW;
    }
    let point = |edge: &Edge, way: &[usize]| {
        let bottom =
            |k: usize| (corners[k].0 + slots[k].width / 2.0, corners[k].1 + slots[k].height);
        let top = |k: usize, at: Option<f64>| {
            (corners[k].0 + at.unwrap_or(slots[k].width / 2.0), corners[k].1)
        };
        let mut points = vec![bottom(edge.from)];
        for k in way {
            let x = corners[*k].0 + slots[*k].width / 2.0;
            let (from, to) = middle[slots[*k].layer];
            points.extend([(x, from), (x, to)]);
        }
        points.push(top(edge.to, edge.at));
        points
    };
    let routes = edges.iter().zip(&ways).map(|(edge, way)| point(edge, way)).collect();
    corners.truncate(sizes.len());
    Layout { corners, routes, size: (right, (y - BELOW).max(0.0)) }
}

/// The layer of each node.
fn layers(count: usize, late: &[bool], edges: &[Edge]) -> Vec<usize> {
    let mut sorted: Vec<&Edge> = edges.iter().collect();
    sorted.sort_by_key(|edge| edge.from);
    let mut layers = vec![0usize; count];
    for edge in &sorted {
        layers[edge.to] = layers[edge.to].max(layers[edge.from] + 1);
    }
    for group in sorted.chunk_by(|a, b| a.from == b.from).rev() {
        let lowest = group.iter().map(|edge| layers[edge.to]).min().unwrap_or(0);
        let from = group[0].from;
        if late.get(from) == Some(&true) {
            layers[from] = layers[from].max(lowest.saturating_sub(1));
        }
    }
    layers
}

/// Puts a slot into every layer between the ends of an edge; gives those of each edge.
fn route(slots: &mut Vec<Slot>, edges: &[Edge]) -> Vec<Vec<usize>> {
    let mut shared: HashMap<(usize, u8, usize), usize> = HashMap::new();
    let mut ways = Vec::new();
    for edge in edges {
        let (first, last) = (slots[edge.from].layer + 1, slots[edge.to].layer);
        let (mut way, mut from) = (Vec::new(), edge.from);
        for layer in first..last {
            let k = *shared.entry((edge.from, edge.bundle, layer)).or_insert_with(|| {
                let (above, below) = (vec![from], Vec::new());
                slots.push(Slot { width: LANE, height: 0.0, layer, above, below, centre: 0.0 });
                let k = slots.len() - 1;
                slots[from].below.push(k);
                k
            });
            way.push(k);
            from = k;
        }
        slots[from].below.push(edge.to);
        slots[edge.to].above.push(from);
        ways.push(way);
    }
    ways
}

/// The slots of each layer in order.
fn order(slots: &[Slot]) -> Vec<Vec<usize>> {
    let count = slots.iter().map(|s| s.layer + 1).max().unwrap_or(0);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); count];
    slots.iter().enumerate().for_each(|(k, slot)| rows[slot.layer].push(k));
    let mut place = vec![0.0; slots.len()];
    let number = |row: &[usize], place: &mut Vec<f64>| {
        row.iter().enumerate().for_each(|(at, k)| place[*k] = at as f64);
    };
    rows.iter().for_each(|row| number(row, &mut place));
    for sweep in 0..8 {
        let down = sweep % 2 == 0;
        for step in 0..count {
            let row = if down { &mut rows[step] } else { &mut rows[count - 1 - step] };
            let mut keyed: Vec<(f64, usize)> = row
                .iter()
                .map(|k| {
                    let near = if down { &slots[*k].above } else { &slots[*k].below };
                    let sum: f64 = near.iter().map(|n| place[*n]).sum();
                    (if near.is_empty() { place[*k] } else { sum / near.len() as f64 }, *k)
                })
                .collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            *row = keyed.into_iter().map(|(_, k)| k).collect();
            number(row, &mut place);
        }
    }
    rows
}

/// Gives every slot its centre.
fn align(slots: &mut [Slot], rows: &mut [Vec<usize>]) {
    for row in rows.iter() {
        let mut x = 0.0;
        for k in row {
            slots[*k].centre = x + slots[*k].width / 2.0;
            x += slots[*k].width + ASIDE;
        }
    }
    let count = rows.len();
    for sweep in 0..12 {
        let down = sweep % 2 == 0;
        for step in 0..count {
            let row = if down { &rows[step] } else { &rows[count - 1 - step] };
            let wish = |k: usize| {
                let near = if down { &slots[k].above } else { &slots[k].below };
                let sum: f64 = near.iter().map(|n| slots[*n].centre).sum();
                if near.is_empty() { slots[k].centre } else { sum / near.len() as f64 }
            };
            let wishes: Vec<f64> = row.iter().map(|k| wish(*k)).collect();
            let centres = nearest(row, slots, &wishes);
            row.iter().zip(centres).for_each(|(k, x)| slots[*k].centre = x);
        }
    }
}

/// The centres with the least sum of squared distances from the wishes, in the given order and
/// without overlap.
fn nearest(row: &[usize], slots: &[Slot], wishes: &[f64]) -> Vec<f64> {
    let mut offset = 0.0;
    let mut offsets = Vec::new();
    for (at, k) in row.iter().enumerate() {
        if at > 0 {
            offset += (slots[row[at - 1]].width + slots[*k].width) / 2.0 + ASIDE;
        }
        offsets.push(offset);
    }
    // Without the offsets the centres must not decrease: pool what does, to its mean.
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for (wish, offset) in wishes.iter().zip(&offsets) {
        let (mut sum, mut count) = (wish - offset, 1);
        while let Some((s, c)) = pools.last().copied()
            && s / c as f64 > sum / count as f64
        {
            pools.pop();
            sum += s;
            count += c;
        }
        pools.push((sum, count));
    }
    let spread =
        pools.iter().flat_map(|(sum, count)| std::iter::repeat_n(sum / *count as f64, *count));
    spread.zip(offsets).map(|(x, offset)| x + offset).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: usize, to: usize) -> Edge {
        Edge { from, to, at: None, bundle: 0 }
    }

    #[test]
    fn nodes_stand_below_what_they_read_and_do_not_overlap() {
        let mut random = fastrand::Rng::with_seed(7);
        for count in [0, 1, 2, 10, 60] {
            let sizes: Vec<(f64, f64)> = (0..count)
                .map(|_| (20.0 + random.f64() * 100.0, 10.0 + random.f64() * 40.0))
                .collect();
            let mut edges = Vec::new();
            for to in 1..count {
                for _ in 0..random.usize(0..3) {
                    edges.push(edge(random.usize(0..to), to));
                }
            }
            let late: Vec<bool> = (0..count).map(|k| k % 3 == 0).collect();
            let layout = layered(&sizes, &late, &edges);
            assert_eq!((layout.corners.len(), layout.routes.len()), (count, edges.len()));
            for (edge, route) in edges.iter().zip(&layout.routes) {
                assert!(route.windows(2).all(|w| w[0].1 <= w[1].1), "down: {route:?}");
                assert!(
                    layout.corners[edge.from].1 + sizes[edge.from].1 < layout.corners[edge.to].1
                );
            }
            for a in 0..count {
                let ((x, y), (w, h)) = (layout.corners[a], sizes[a]);
                assert!(x >= -1e-9 && y >= 0.0);
                assert!(x + w <= layout.size.0 + 1e-9 && y + h <= layout.size.1 + 1e-9);
                for (b, (corner, size)) in layout.corners.iter().zip(&sizes).enumerate().take(a) {
                    let ((u, v), (p, q)) = (*corner, *size);
                    let apart = x + w <= u + 1e-9 || u + p <= x + 1e-9 || y + h <= v || v + q <= y;
                    assert!(apart, "{a} and {b} overlap");
                }
            }
        }
    }

    #[test]
    fn a_straight_chain_is_drawn_as_a_straight_line() {
        let layout =
            layered(&[(40.0, 20.0), (80.0, 20.0), (20.0, 20.0)], &[], &[edge(0, 1), edge(1, 2)]);
        let centres: Vec<f64> = vec![
            layout.corners[0].0 + 20.0,
            layout.corners[1].0 + 40.0,
            layout.corners[2].0 + 10.0,
        ];
        assert!(centres.iter().all(|x| (x - centres[0]).abs() < 0.5), "{centres:?}");
    }
}
