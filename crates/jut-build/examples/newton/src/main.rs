//! Newton's method on a function, its gradient and products with its Hessian, all of them machine code
//! that was compiled along with this program.

mod valley {
    include!(concat!(env!("OUT_DIR"), "/valley.rs"));
}

use valley::{Error, Workspace, height_hvp, height_value_grad};

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves H d = -g by conjugate gradients, until a direction of negative curvature or the residual is
/// small.
fn direction(x: &[f64], g: &[f64], workspace: &mut Workspace) -> Result<Vec<f64>, Error> {
    let mut d = vec![0.0; x.len()];
    let mut r: Vec<f64> = g.iter().map(|g| -g).collect();
    let mut p = r.clone();
    let mut hp = vec![0.0; x.len()];
    for step in 0..2 * x.len() {
        height_hvp(x, &p, &mut hp, workspace)?;
        let (rr, curvature) = (dot(&r, &r), dot(&p, &hp));
        if rr <= 1e-20 * dot(g, g) || curvature <= 0.0 {
            return Ok(if step == 0 { r } else { d });
        }
        let a = rr / curvature;
        for i in 0..x.len() {
            d[i] += a * p[i];
            r[i] -= a * hp[i];
        }
        let b = dot(&r, &r) / rr;
        for i in 0..x.len() {
            p[i] = r[i] + b * p[i];
        }
    }
    Ok(d)
}

fn main() -> Result<(), Error> {
    let mut x = vec![1.2, 1.0, 0.5, 0.8, 1.1];
    let mut g = vec![0.0; x.len()];
    let mut workspace = Workspace::new();
    let mut value = height_value_grad(&x, &mut g, &mut workspace)?;
    let mut steps = 0;
    while dot(&g, &g).sqrt() > 1e-10 && steps < 100 {
        let d = direction(&x, &g, &mut workspace)?;
        let (slope, mut length) = (dot(&g, &d), 1.0);
        loop {
            let next: Vec<f64> = x.iter().zip(&d).map(|(x, d)| x + length * d).collect();
            let lower = height_value_grad(&next, &mut g, &mut workspace)?;
            if lower <= value + 1e-4 * length * slope || length < 1e-10 {
                (x, value) = (next, lower);
                break;
            }
            length /= 2.0;
        }
        steps += 1;
    }
    println!(
        "height {value:.3e} where the gradient is below 1e-10: {}",
        dot(&g, &g).sqrt() <= 1e-10
    );
    println!("x = {x:.6?}");

    // Lengths are checked, so nothing that safe code does can go wrong.
    match height_value_grad(&x, &mut [0.0; 3], &mut workspace) {
        Ok(_) => println!("a gradient of another length was accepted"),
        Err(error) => println!("{error}"),
    }
    Ok(())
}
