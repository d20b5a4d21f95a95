//! Robots: chains of links, rotations.

use super::{close, differences, near};
use jut::{Data, differentiable};

const LINKS: [f64; 3] = [1.0, 0.8, 0.5];

type Matrix = [[f64; 4]; 4];

#[differentiable]
fn planar(q: &[f64]) -> (f64, f64) {
    let mut angle = 0.0;
    let mut x = 0.0;
    let mut y = 0.0;
    for (qi, l) in q.iter().zip(LINKS.iter()) {
        angle += qi;
        x += l * angle.cos();
        y += l * angle.sin();
    }
    (x, y)
}

#[differentiable]
fn reach(q: &[f64], target: (f64, f64)) -> f64 {
    let (x, y) = planar(q);
    (x - target.0).hypot(y - target.1)
}

#[differentiable]
fn matmul(a: &Matrix, b: &Matrix) -> Matrix {
    let mut c = [[0.0; 4]; 4];
    for i in 0..4 {
        for j in 0..4 {
            for k in 0..4 {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    c
}

#[differentiable]
fn dh(theta: f64, d: f64, a: f64, alpha: f64) -> Matrix {
    let (st, ct) = theta.sin_cos();
    let (sa, ca) = alpha.sin_cos();
    [
        [ct, -st * ca, st * sa, a * ct],
        [st, ct * ca, -ct * sa, a * st],
        [0.0, sa, ca, d],
        [0.0, 0.0, 0.0, 1.0],
    ]
}

#[differentiable]
fn tool_height(q: &[f64; 6], table: &[[f64; 3]; 6]) -> f64 {
    let mut t = identity();
    for (theta, [d, a, alpha]) in q.iter().zip(table) {
        t = matmul(&t, &dh(*theta, *d, *a, *alpha));
    }
    t[2][3]
}

#[differentiable]
fn identity() -> Matrix {
    let mut m = [[0.0; 4]; 4];
    for i in 0..4 {
        m[i][i] = 1.0;
    }
    m
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Quaternion {
    w: f64,
    v: [f64; 3],
}

#[differentiable]
impl Quaternion {
    fn from_axis_angle(axis: [f64; 3], angle: f64) -> Self {
        let (s, c) = (0.5 * angle).sin_cos();
        Quaternion { w: c, v: axis.map(|a| a * s) }
    }
    fn rotate(&self, p: [f64; 3]) -> [f64; 3] {
        let t = cross(self.v, p).map(|x| 2.0 * x);
        let u = cross(self.v, t);
        let mut out = p;
        for i in 0..3 {
            out[i] += self.w * t[i] + u[i];
        }
        out
    }
    fn normalized(self) -> Self {
        let n = (self.w.powi(2) + self.v.iter().map(|x| x * x).sum::<f64>()).sqrt();
        Self { w: self.w / n, v: [self.v[0] / n, self.v[1] / n, self.v[2] / n] }
    }
}

#[differentiable]
fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[differentiable]
fn alignment(axis: &[f64; 3], angle: f64, from: &[f64; 3], to: &[f64; 3]) -> f64 {
    let n = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
    let unit = [axis[0] / n, axis[1] / n, axis[2] / n];
    let q = Quaternion::from_axis_angle(unit, angle);
    let r = q.rotate(*from);
    r.iter().zip(to).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
}

#[test]
fn a_planar_arm() {
    let (q, target) = ([0.5, -0.75, 1.25], (1.5, 0.5));
    let (value, (by_q, by_target)) = reach::value_and_gradient(&q, target).unwrap();
    near(value, reach(&q, target), "reach");
    close(&by_q, &differences(|q| reach(q, target), &q), "reach");
    let by = differences(|t| reach(&q, (t[0], t[1])), &[1.5, 0.5]);
    close(&[by_target.0, by_target.1], &by, "target");
    let ((x, y), by_q) = planar::vjp(&q, &(1.0, 0.0)).unwrap();
    assert_eq!(by_q.len(), 3);
    near(by_q[0], -y, "x by the first angle");
    near(x, planar(&q).0, "planar");
}

#[test]
fn six_axes() {
    let q = [0.1, -0.4, 0.8, 0.3, -0.9, 1.2];
    let table = [
        [0.4, 0.025, 1.5],
        [0.0, 0.455, 0.0],
        [0.0, 0.035, 1.5],
        [0.42, 0.0, -1.5],
        [0.0, 0.0, 1.5],
        [0.08, 0.0, 0.0],
    ];
    let (value, (by_q, by_table)) = tool_height::value_and_gradient(&q, &table).unwrap();
    near(value, tool_height(&q, &table), "tool_height");
    close(&by_q, &differences(|q| tool_height(q.try_into().unwrap(), &table), &q), "angles");
    let flat = table.concat();
    let plain = |t: &[f64]| {
        let rows: Vec<[f64; 3]> = t.chunks(3).map(|r| [r[0], r[1], r[2]]).collect();
        tool_height(&q, &rows.try_into().unwrap())
    };
    close(&by_table.concat(), &differences(plain, &flat), "table");
    assert_eq!(identity::value().unwrap(), identity());
}

#[test]
fn rotations() {
    let (axis, from, to) = ([1.0, -0.5, 2.0], [0.25, 1.0, -1.0], [1.0, 0.5, 0.25]);
    let (value, (by_axis, by_angle, ..)) =
        alignment::value_and_gradient(&axis, 0.75, &from, &to).unwrap();
    near(value, alignment(&axis, 0.75, &from, &to), "alignment");
    let plain = |x: &[f64]| alignment(&[x[0], x[1], x[2]], x[3], &from, &to);
    let by = differences(plain, &[axis[0], axis[1], axis[2], 0.75]);
    close(&[by_axis[0], by_axis[1], by_axis[2], by_angle], &by, "alignment");
    let q = Quaternion { w: 1.0, v: [0.5, -2.0, 0.25] };
    assert_eq!(Quaternion_normalized::value(q).unwrap(), q.normalized());
}
