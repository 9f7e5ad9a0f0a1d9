//! Every fact of every elementwise row against derivatives sampled over wide ranges: what `certify` rests on.

mod common;
mod events;

use common::{slopes, value};
use stickler::dist::{self, Density};
use stickler::facts::{Interval, Jet};
use stickler::graph::{Builder, Op};
use stickler::num::real::Dual;
use stickler::ops::scalar::{self, JetOf, ScalarRow};
use stickler::transform;

/// A repeatable stream of numbers in (0, 1).
struct Stream(u64);

impl Stream {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Of either sign, with a size between 1e-3 and 1e3.
    fn wide(&mut self) -> f64 {
        let size = 10_f64.powf(6.0 * self.next() - 3.0);
        if self.next() < 0.5 { -size } else { size }
    }
}

/// Every row that has facts, listed once: functions, parts of densities, cumulative probabilities, and whatever the
/// densities of events and the transforms are built from.
fn rows() -> Vec<&'static ScalarRow> {
    let mut all: Vec<&'static ScalarRow> = scalar::TABLE.iter().copied().flatten().copied().collect();
    for d in dist::TABLE {
        all.extend([d.lcdf, d.lccdf].into_iter().flatten());
        match d.density {
            Density::Parts(parts) => all.extend(parts.iter().map(|p| p.row)),
            Density::Events(_) => all.extend(events::probes(d).flat_map(|p| in_density(&p))),
        }
    }
    all.extend(transform::TABLE.iter().flat_map(|t| in_transform(t)));
    let mut listed: Vec<&'static ScalarRow> = Vec::new();
    for row in all {
        if row.facts.is_some() && !listed.contains(&row) {
            listed.push(row);
        }
    }
    listed
}

fn in_graph(b: &Builder) -> Vec<&'static ScalarRow> {
    let row = |op: &Op| match op {
        Op::Map(row) | Op::MapSum { row, .. } => Some(*row),
        Op::Constant(_) | Op::Input { .. } | Op::Array(_) | Op::Ode(_) => None,
    };
    b.graph().iter().filter_map(|(_, node)| row(&node.op)).collect()
}

fn in_density(point: &events::Point) -> Vec<&'static ScalarRow> {
    let (mut b, mut next) = (Builder::new(), 0);
    let mut nodes = Vec::new();
    for (k, piece) in point.pieces.iter().enumerate() {
        if point.free().contains(&k) {
            nodes.push(b.input(next, piece.dims.clone()));
            next += piece.values.len();
        } else {
            nodes.push(b.constant(piece.values.clone(), piece.dims.clone()));
        }
    }
    dist::log_density(&mut b, point.dist, nodes[0], &nodes[1..]).unwrap();
    in_graph(&b)
}

fn in_transform(t: &transform::Transform) -> Vec<&'static ScalarRow> {
    let mut b = Builder::new();
    let dims = [4, 4][..t.event].to_vec();
    let input = b.input(0, if t.event == 0 { vec![] } else { vec![(t.free)(&dims)] });
    let bounds: Vec<_> = (0..t.bounds).map(|i| b.number(1.0 + i as f64)).collect();
    (t.build)(&mut b, input, &dims, &bounds).unwrap();
    in_graph(&b)
}

/// Points of argument k: a wide grid of both signs, and the neighbourhoods where special things happen.
fn grid(s: &mut Stream) -> Vec<f64> {
    let sizes = (-24..=24).map(|i| 10_f64.powf(f64::from(i) / 8.0));
    let mut all: Vec<f64> = sizes.flat_map(|x| [x, -x]).collect();
    all.extend((-40..=40).map(|i| 0.15 * f64::from(i) + 0.01));
    all.extend((0..40).map(|_| s.wide()));
    all.extend((0..20).map(|_| s.next()));
    all
}

/// Intervals of argument k: whole and half lines, the unit interval, and random ones.
fn intervals(s: &mut Stream) -> Vec<Interval> {
    let inf = f64::INFINITY;
    let mut all = vec![
        Interval::REAL,
        Interval::NONNEGATIVE,
        Interval::NONPOSITIVE,
        Interval::new(0.0, 1.0),
        Interval::new(-1.0, 1.0),
        Interval::new(1.0, inf),
        Interval::new(-inf, -1.0),
    ];
    for _ in 0..12 {
        let (a, b) = (s.wide(), s.wide());
        all.push(Interval::new(a.min(b), a.max(b)));
        all.push(Interval::new(a, inf));
        all.push(Interval::new(-inf, a));
        let (a, b) = (s.next(), s.next());
        all.push(Interval::new(a.min(b), a.max(b)));
    }
    all
}

/// What the other arguments are: each probe, and probes with some of their numbers changed.
fn settings(row: &ScalarRow, s: &mut Stream) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = row.probes.iter().map(|p| p.to_vec()).collect();
    let n = all.len();
    for i in 0..24 {
        let change = |&x: &f64| match (s.next() * 6.0) as u32 {
            0 | 1 => x,
            2 => x * 10_f64.powf(2.0 * s.next() - 1.0),
            3 => s.wide(),
            4 => (s.next() * 4.0).floor(),
            _ => s.next(),
        };
        let changed = all[i % n].iter().map(change).collect();
        all.push(changed);
    }
    all
}

/// Value, slope and second derivative in argument k, by the row's own slopes; in t with x_k = exp(t) if `log`. The last
/// number is the size of what cancels in the second derivative.
fn derivatives(row: &'static ScalarRow, x: &[f64], k: usize, log: bool) -> [f64; 4] {
    let mut at = x.to_vec();
    if log {
        at[k] = x[k].exp();
    }
    let duals: Vec<Dual> = at.iter().enumerate().map(|(i, &v)| Dual { v, d: f64::from(i == k) }).collect();
    let (y, slope) = (value(row, &at), slopes(row, &duals)[k]);
    if log {
        let x = at[k];
        let (bend, tilt) = (x * x * slope.d, x * slope.v);
        return [y, tilt, bend + tilt, bend.abs() + tilt.abs()];
    }
    [y, slope.v, slope.d, slope.d.abs()]
}

/// How far outside the interval a number is; infinite if it is not a number.
fn outside(x: f64, i: Interval) -> f64 {
    if x.is_nan() { f64::INFINITY } else { (i.lo - x).max(x - i.hi).max(0.0) }
}

/// Checks one jet at one point.
fn check(
    row: &'static ScalarRow,
    x: &[f64],
    k: usize,
    log: bool,
    range: Interval,
    jet: Jet,
) -> Option<String> {
    let [y, slope, curvature, size] = derivatives(row, x, k, log);
    // At the very ends of a domain, or where numbers overflow, there are no finite derivatives to compare.
    if y.is_infinite() || !slope.is_finite() || !curvature.is_finite() {
        let nan = y.is_nan() && x[k] != range.lo && x[k] != range.hi;
        return nan.then(|| {
            format!("{} at {x:?} ({}, {log}) is no number, yet bounded on {range:?}", row.name, row.args[k])
        });
    }
    let length = if log { 1.0 } else { x[k].abs() };
    let slack = 1e-9;
    let scale =
        [y.abs() + length * slope.abs(), slope.abs() + length * size, size + slope.abs() / length.max(1e-3)];
    let wrong = [(y, jet.value), (slope, jet.slope), (curvature, jet.curvature)];
    for (i, (x_i, bound)) in wrong.into_iter().enumerate() {
        let rounding = slack * x_i.abs() + 1e-12 * scale[i] + 1e-15;
        if outside(x_i, bound) > rounding {
            let what = ["value", "slope", "second derivative"][i];
            let of = if log { "log " } else { "" };
            return Some(format!(
                "{}: {what} in {of}{} at {x:?} is {x_i}, outside {bound:?} (on {range:?})",
                row.name, row.args[k]
            ));
        }
    }
    None
}

fn jets(row: &ScalarRow) -> Vec<(JetOf, bool)> {
    row.facts
        .iter()
        .flat_map(|f| std::iter::once((f.jet, false)).chain(f.log_jet.map(|j| (j, true))))
        .collect()
}

/// The jet over a range of argument k when the others are as in `x`.
fn jet_at(jet: JetOf, x: &[f64], k: usize, range: Interval) -> Option<Jet> {
    let mut args: Vec<Interval> = x.iter().map(|&v| Interval::point(v)).collect();
    args[k] = range;
    jet(&args, k)
}

#[test]
fn derivatives_lie_within_the_facts() {
    let mut wrong = Vec::new();
    for row in rows() {
        let mut s = Stream(row.name.bytes().map(u64::from).sum());
        let (points, mut checked, mut found) = (grid(&mut s), 0, Vec::new());
        for setting in settings(row, &mut s) {
            for k in 0..row.args.len() {
                for (jet_of, log) in jets(row) {
                    for range in intervals(&mut s) {
                        let Some(jet) = jet_at(jet_of, &setting, k, range) else { continue };
                        // Beyond exp(±100) the powers in the row's own derivatives leave the range of numbers.
                        let most = if log { 100.0 } else { f64::MAX };
                        let inside = points.iter().chain([&range.lo, &range.hi]).copied();
                        for p in inside.filter(|p| range.contains(*p) && p.abs() <= most) {
                            let mut x = setting.clone();
                            x[k] = p;
                            checked += 1;
                            found.extend(check(row, &x, k, log, range, jet));
                        }
                    }
                }
            }
        }
        assert!(checked > 0, "{}: no fact was ever given", row.name);
        wrong.extend(found.into_iter().take(4));
    }
    assert!(wrong.is_empty(), "{} wrong, among them\n{}", wrong.len(), wrong.join("\n"));
}
