//! Devices: notes and samples, bytes on a wire, gears, lenses, boards.

use jut::math::{exp, sin};
use jut::{Data, differentiable};

/// Notes as bytes, played one after the other.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Note {
    key: u8,
    velocity: u8,
    length: f64,
}

#[differentiable]
impl Note {
    fn frequency(&self, tuning: f64) -> f64 {
        tuning * 2f64.powf((self.key as f64 - 69.0) / 12.0)
    }
    fn loudness(&self) -> f64 {
        f64::from(self.velocity) / 127.0
    }
}

#[differentiable]
fn melody(x: &[f64]) -> f64 {
    let mut key = 60u8;
    let mut notes = Vec::with_capacity(x.len());
    for (i, &length) in x.iter().enumerate() {
        key = key.wrapping_add(if i % 2 == 0 { 7 } else { 251 });
        notes.push(Note { key, velocity: 100u8.saturating_sub(20 * i as u8), length });
    }
    notes.iter().map(|n| n.loudness() * sin(0.001 * n.frequency(440.0) * n.length) * n.length).sum()
}

/// Samples of sixteen bits with the error given on to the next one.
#[differentiable]
fn quantised(v: f64) -> i16 {
    let scaled = (v * 1000.0).round();
    if scaled > i16::MAX as f64 {
        i16::MAX
    } else if scaled < f64::from(i16::MIN) {
        i16::MIN
    } else {
        scaled as i16
    }
}

#[differentiable]
fn sampled(x: &[f64]) -> f64 {
    let mut error = 0.0;
    let mut peak: i16 = 0;
    let mut energy: i32 = 0;
    for v in x {
        let q = quantised(v + error);
        error = v + error - q as f64 / 1000.0;
        peak = peak.max(q.abs());
        energy += i32::from(q) * i32::from(q) / 1000;
    }
    error + x.iter().sum::<f64>() + peak as f64 / 1000.0 + energy as f64
}

/// A checksum of sixteen bits over what is sent.
#[differentiable]
fn fletcher(bytes: &[u8]) -> u16 {
    let (mut a, mut b) = (0u16, 0u16);
    for &byte in bytes {
        a = (a + u16::from(byte)) % 255;
        b = (b + a) % 255;
    }
    (b << 8) | a
}

#[differentiable]
fn crc8(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0xFFu8, |crc, b| {
        let mut crc = crc ^ b;
        for _ in 0..8 {
            crc = if crc & 0x80 != 0 { (crc << 1) ^ 0x31 } else { crc << 1 };
        }
        crc
    })
}

#[differentiable]
fn sent(x: &[f64]) -> f64 {
    let bytes: Vec<u8> = x.iter().map(|v| (v * 40.0) as u8).collect();
    let sum = fletcher(&bytes);
    let crc = crc8(&bytes);
    let weight = (sum >> 8) as f64 + f64::from(crc & 0x0F);
    x.iter().zip(&bytes).map(|(v, b)| v * (*b as f64 + weight)).sum::<f64>()
}

/// Trains of gears: what turns what, and how fast.
#[derive(Data, Clone, Debug, PartialEq)]
enum Drive {
    Belt { ratio: f64, slip: f64 },
    Mesh(u16, u16),
    Stage(Gearbox),
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Gearbox {
    Neutral,
    Gear(f64),
    Planetary { sun: f64, ring: f64, held: Held },
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Held {
    Sun,
    Ring,
    Nothing,
}

#[differentiable]
impl Gearbox {
    fn ratio(&self) -> Option<f64> {
        match self {
            Gearbox::Neutral => None,
            Gearbox::Gear(r) if *r <= 0.0 => None,
            Gearbox::Gear(r) => Some(*r),
            Gearbox::Planetary { sun, ring, held: Held::Ring } => Some(1.0 + ring / sun),
            Gearbox::Planetary { sun, ring, held: Held::Sun } => Some(1.0 + sun / ring),
            Gearbox::Planetary { held: Held::Nothing, .. } => None,
        }
    }
}

#[differentiable]
impl Drive {
    fn turned(&self, speed: f64) -> Option<f64> {
        let out = match self {
            Drive::Belt { ratio, slip } => speed * ratio * (1.0 - slip),
            Drive::Mesh(teeth, driven) => -speed * f64::from(*teeth) / f64::from(*driven),
            Drive::Stage(g) => speed / g.ratio()?,
        };
        Some(out)
    }
}

#[differentiable]
fn geared(x: &[f64]) -> f64 {
    let held = if x[3] > 0.0 { Held::Ring } else { Held::Nothing };
    let train = [
        Drive::Belt { ratio: x[0], slip: 0.02 },
        Drive::Mesh(20, 45),
        Drive::Stage(Gearbox::Planetary { sun: x[1], ring: 60.0, held }),
        Drive::Stage(Gearbox::Gear(x[2])),
    ];
    let end = train.iter().try_fold(10.0, |speed, d| d.turned(speed));
    match end {
        Some(speed) if speed < 0.0 => -speed,
        Some(speed) => speed,
        None => x[0] * 0.5,
    }
}

/// Rays through lenses by two by two matrices.
type Abcd = [[f64; 2]; 2];

#[differentiable]
fn times(a: &Abcd, b: &Abcd) -> Abcd {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..2).map(|k| a[i][k] * b[k][j]).sum()))
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Element {
    Gap(f64),
    Lens { focal: f64 },
    Surface { radius: f64, from: f64, to: f64 },
}

#[differentiable]
impl Element {
    fn matrix(&self) -> Abcd {
        match *self {
            Element::Gap(d) => [[1.0, d], [0.0, 1.0]],
            Element::Lens { focal: f } => [[1.0, 0.0], [-1.0 / f, 1.0]],
            Element::Surface { radius: r, from: n1, to: n2 } => {
                [[1.0, 0.0], [(n1 - n2) / (r * n2), n1 / n2]]
            }
        }
    }
}

#[differentiable]
fn telescope(x: &[f64]) -> f64 {
    let elements = vec![
        Element::Lens { focal: x[0] },
        Element::Gap(x[1]),
        Element::Surface { radius: x[2], from: 1.0, to: 1.5 },
        Element::Gap(0.3),
        Element::Lens { focal: -x[0] * 0.5 },
    ];
    const IDENTITY: Abcd = [[1.0, 0.0], [0.0, 1.0]];
    let system = elements.iter().fold(IDENTITY, |m, e| times(&e.matrix(), &m));
    let [[a, b], [c, d]] = system;
    let stable = ((a + d) / 2.0).abs() < 1.0;
    let ray = |height: f64, angle: f64| (a * height + b * angle, c * height + d * angle);
    let (h, t) = ray(1.0, 0.1);
    h * h + t * t + if stable { a * d - b * c } else { 2.0 * (a * d - b * c) }
}

/// A board of pieces as bytes, valued by material and place.
const EMPTY: u8 = 0;
const PAWN: u8 = 1;
const KNIGHT: u8 = 2;
const ROOK: u8 = 4;
const WHITE: u8 = 0x10;

#[differentiable]
fn worth(piece: u8, x: &[f64]) -> f64 {
    let sign = if piece & WHITE != 0 { 1.0 } else { -1.0 };
    sign * match piece & 0x0F {
        EMPTY => 0.0,
        PAWN => x[0],
        KNIGHT | 3 => x[1],
        ROOK => x[2],
        5..=7 => 9.0,
        other => panic!("no piece {other}"),
    }
}

#[differentiable]
fn material(x: &[f64]) -> f64 {
    let board: [[u8; 4]; 2] =
        [[PAWN | WHITE, KNIGHT, EMPTY, ROOK | WHITE], [3, PAWN, 5 | WHITE, x[3] as u8]];
    let mut score = 0.0;
    for (rank, row) in board.iter().enumerate() {
        for (file, &piece) in row.iter().enumerate() {
            if piece == EMPTY {
                continue;
            }
            let centre = 1.0 - 0.1 * ((file as i8 - 2).abs() as f64 + rank as f64);
            score += worth(piece, x) * centre;
        }
    }
    score
}

/// A vacuum cleaner that goes by commands, in steps of eight bits.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Robot {
    x: i8,
    y: i8,
    heading: u8,
}

#[differentiable]
impl Robot {
    fn ahead(self) -> Option<Self> {
        let (dx, dy): (i8, i8) = match self.heading & 3 {
            0 => (0, 1),
            1 => (1, 0),
            2 => (0, -1),
            _ => (-1, 0),
        };
        let x = self.x.checked_add(dx).filter(|x| (0..3).contains(x))?;
        let y = self.y.checked_add(dy).filter(|y| (0..3).contains(y))?;
        Some(Robot { x, y, ..self })
    }
}

#[differentiable]
fn cleaned(x: &[f64]) -> f64 {
    let mut dirt = [[0.0; 3]; 3];
    for (k, v) in x.iter().enumerate().take(9) {
        dirt[k / 3][k % 3] = *v;
    }
    let mut robot = Robot { x: 0, y: 0, heading: 1 };
    let mut gathered = 0.0;
    for step in 0..8 {
        let here = &mut dirt[robot.y as usize][robot.x as usize];
        gathered += *here * exp(-0.1 * step as f64);
        *here *= 0.1;
        robot = match robot.ahead() {
            Some(next) => next,
            None => Robot { heading: robot.heading.wrapping_sub(1), ..robot },
        };
    }
    gathered
}

/// A tipping bucket: how often it tips, and what is left in it.
#[differentiable]
fn tipped(x: &[f64]) -> f64 {
    let mut tips = [0u16; 3];
    let mut held = 0.0;
    for (i, rain) in x.iter().enumerate() {
        held += rain;
        while held >= 0.5 {
            held -= 0.5;
            tips[i % 3] += 1;
        }
    }
    let most = tips.iter().max().copied().unwrap_or_default();
    let all: u16 = tips.iter().sum();
    held * f64::from(all) + most as f64 + tips.iter().map(|&t| t as f64 * held).sum::<f64>()
}

#[test]
fn notes_and_bytes() {
    everywhere! {
        melody at [0.5, 0.3, 1.1], [0.4, 0.2, 0.5, 0.9, 0.3, 0.7];
        sampled at [0.5301, 0.2203, -1.3302];
        sent at [0.51, 1.31, 2.21, 0.33];
        tipped at [0.3, 0.4, 1.2, 0.7];
    }
}

#[test]
fn gears_lenses_and_boards() {
    everywhere! {
        geared at [1.2, 20.0, 1.5, 1.0], [1.2, 20.0, 1.5, -1.0], [1.2, 20.0, -1.0, 1.0];
        telescope at [2.0, 0.5, 3.0];
        material at [1.0, 3.1, 5.2, 2.5], [1.0, 3.1, 5.2, 12.5];
        cleaned at [0.5, 0.2, 0.8, 0.4, 0.9, 0.3, 0.7, 0.6, 0.1];
    }
}
