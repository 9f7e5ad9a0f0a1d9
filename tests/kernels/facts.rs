//! Every fact of every elementwise row against derivatives sampled over wide ranges: what `certify` rests on.

use crate::common;
use crate::events;
mod mistakes;

use common::{slopes_in, value};
use rayon::prelude::*;
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

/// Every row that has facts, listed once: functions, parts of densities, cumulative probabilities, and
/// whatever the densities of events and the transforms are built from.
fn rows() -> Vec<&'static ScalarRow> {
    let mut all: Vec<&'static ScalarRow> = scalar::TABLE.iter().copied().flatten().copied().collect();
    for d in dist::TABLE {
        all.extend([d.lcdf, d.lccdf].into_iter().flatten());
        let linked = d.links.iter().filter_map(|link| match link.to.density {
            Density::Parts(parts) => Some(parts),
            Density::Events(_) => None,
        });
        all.extend(linked.flatten().map(|p| p.row));
        match d.density {
            Density::Parts(parts) => all.extend(parts.iter().map(|p| p.row)),
            Density::Events(_) => all.extend(events::probes(d).flat_map(|p| in_density(&p))),
        }
    }
    all.extend(dist::BETWEEN_LIMITS);
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
        Op::Constant(_) | Op::Input { .. } | Op::Array(_) | Op::Ode(_) | Op::Recursion(_) => None,
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
        Interval::new(0.25, 3.0),
        Interval::new(-3.0, -0.25),
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

/// Where the facts of a row are tried: points, intervals, and the stream that they came from.
fn places(row: &ScalarRow) -> (Stream, Vec<f64>, Vec<Interval>) {
    let mut s = Stream(row.name.bytes().map(u64::from).sum());
    let (mut points, ranges) = (grid(&mut s), intervals(&mut s));
    // Just inside the ends: at the end of a domain itself a row may have no slope.
    points.extend(
        ranges.iter().flat_map(|r| [r.lo + 1e-6 * r.lo.abs().max(1.0), r.hi - 1e-6 * r.hi.abs().max(1.0)]),
    );
    (s, points, ranges)
}

/// What the other arguments are: each probe, and probes with some of their numbers changed.
fn settings(row: &ScalarRow, s: &mut Stream) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = row.probes.iter().map(|p| p.to_vec()).collect();
    let n = all.len();
    for i in 0..12 {
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

/// Value, slope and second derivative in argument k, by the row's own slopes; in t with x_k = exp(t) if
/// `log`. The last number is the size of what cancels in the second derivative.
fn derivatives(row: &'static ScalarRow, x: &[f64], k: usize, log: bool) -> [f64; 4] {
    let mut at = x.to_vec();
    if log {
        at[k] = x[k].exp();
    }
    let duals: Vec<Dual> = at.iter().enumerate().map(|(i, &v)| Dual { v, d: f64::from(i == k) }).collect();
    let (y, slope) = (value(row, &at), slopes_in(row, &duals, |i| i == k)[k]);
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

/// Checks one jet at one point, where the derivatives are given.
fn check(
    at: &Place,
    p: f64,
    [y, slope, curvature, size]: [f64; 4],
    range: Interval,
    jet: Jet,
) -> Option<String> {
    let name = format!("{} in {}{}", at.row.name, if at.log { "log " } else { "" }, at.row.args[at.k]);
    // At the very ends of a domain, or where numbers overflow, there are no finite derivatives to compare.
    if y.is_infinite() || !slope.is_finite() || !curvature.is_finite() {
        return y
            .is_nan()
            .then(|| format!("{name} at {p} of {:?} is no number, yet bounded on {range:?}", at.setting));
    }
    let length = if at.log { 1.0 } else { p.abs() };
    // Inputs are rounded; and a density over a probability, exp(.. - y), has as many wrong units as |y|.
    let tail = 0.01 * (1.0 + y.abs()) * slope.abs();
    let scale = [
        y.abs() + length * slope.abs(),
        slope.abs() + length * size + tail,
        size + slope.abs() / length.max(1e-6) + tail * slope.abs(),
    ];
    let wrong = [(y, jet.value), (slope, jet.slope), (curvature, jet.curvature)];
    for (i, (x, bound)) in wrong.into_iter().enumerate() {
        if outside(x, bound) > 1e-9 * x.abs() + 1e-12 * scale[i] + 1e-15 {
            let what = ["value", "slope", "second derivative"][i];
            return Some(format!(
                "{name} at {p} of {:?}: {what} {x} outside {bound:?} on {range:?}",
                at.setting
            ));
        }
    }
    None
}

/// Neighbouring points with what the slope rises by between them, and how far rounding may have moved that:
/// by the mean value theorem the quotient is a second derivative in between, and across a kink it is as large
/// as the points are near.
fn chords(at: &Place, points: &[f64]) -> Vec<([f64; 2], f64, f64)> {
    let mut all: Vec<(f64, [f64; 4])> = Vec::new();
    let mut sorted = points.to_vec();
    sorted.sort_by(f64::total_cmp);
    for p in sorted {
        let mut x = at.setting.to_vec();
        x[at.k] = p;
        let found = derivatives(at.row, &x, at.k, at.log);
        let apart =
            all.last().is_none_or(|(before, _)| p - before > 1e-4 * p.abs().max(before.abs()).max(1e-2));
        if apart && found.iter().all(|x| x.is_finite()) {
            all.push((p, found));
        }
    }
    let chord = |pair: &[(f64, [f64; 4])]| {
        let [(p, a), (q, b)] = [pair[0], pair[1]];
        // A slope is off by its own rounding, by that of the point, and by that of a probability in its
        // denominator.
        let size = |x: f64, f: [f64; 4]| f[1].abs() * (1.0 + f[0].abs()) + x.abs() * f[3];
        ([p, q], (b[1] - a[1]) / (q - p), 1e-12 * (size(p, a) + size(q, b)) / (q - p))
    };
    all.windows(2).map(chord).collect()
}

/// Whether a chord contradicts the bounds on a range.
fn chord_lies(&([p, q], rise, error): &([f64; 2], f64, f64), range: Interval, jet: Jet) -> bool {
    range.lo < p && q < range.hi && outside(rise, jet.curvature) > 1e-9 * rise.abs() + error + 1e-15
}

/// A row as a function of one argument, when the others are as in a setting.
struct Place<'a> {
    row: &'static ScalarRow,
    setting: &'a [f64],
    k: usize,
    log: bool,
}

/// Checks all intervals at all points; the number of comparisons.
fn check_place(
    at: &Place,
    jet: JetOf,
    points: &[f64],
    ranges: &[Interval],
    wrong: &mut Vec<String>,
) -> usize {
    let known: Vec<(Interval, Jet)> =
        ranges.iter().filter_map(|&r| jet_at(jet, at.setting, at.k, r).map(|j| (r, j))).collect();
    if known.is_empty() {
        return 0;
    }
    let mut checked = 0;
    for &p in points {
        let here: Vec<_> = known.iter().filter(|(range, _)| range.lo < p && p < range.hi).collect();
        if here.is_empty() {
            continue;
        }
        let mut x = at.setting.to_vec();
        x[at.k] = p;
        let found = derivatives(at.row, &x, at.k, at.log);
        checked += here.len();
        wrong.extend(here.iter().filter_map(|(range, jet)| check(at, p, found, *range, *jet)));
    }
    for chord in chords(at, points) {
        let lie = known.iter().find(|(range, jet)| chord_lies(&chord, *range, *jet));
        wrong.extend(lie.map(|(range, jet)| {
            let ([p, q], rise, _) = chord;
            let name = at.row.name;
            format!(
                "{name} between {p} and {q} of {:?}: {rise} outside {:?} on {range:?}",
                at.setting, jet.curvature
            )
        }));
    }
    checked
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

/// The largest argument at which a row can be looked at. Beyond exp(±100) the powers in the row's own
/// derivatives leave the range of numbers; probabilities of counts are sums of as many terms as the count is
/// large.
fn most(row: &ScalarRow, log: bool) -> f64 {
    match (log, row.name.ends_with("cdf")) {
        (false, false) => f64::MAX,
        (false, true) => 40.0,
        (true, false) => 100.0,
        (true, true) => 6.0,
    }
}

#[test]
fn derivatives_lie_within_the_facts() {
    let of_row = |row: &&'static ScalarRow| {
        let row = *row;
        let (mut s, points, ranges) = places(row);
        let (mut checked, mut found) = (0, Vec::new());
        for setting in settings(row, &mut s) {
            for k in 0..row.args.len() {
                for (jet, log) in jets(row) {
                    let near: Vec<f64> =
                        points.iter().copied().filter(|p| p.abs() <= most(row, log)).collect();
                    let at = Place { row, setting: &setting, k, log };
                    checked += check_place(&at, jet, &near, &ranges, &mut found);
                }
            }
        }
        assert!(checked > 0, "{}: no fact was ever given", row.name);
        found.truncate(4);
        found
    };
    let wrong: Vec<String> = rows().par_iter().flat_map(of_row).collect();
    assert!(wrong.is_empty(), "{} wrong, among them\n{}", wrong.len(), wrong.join("\n"));
}

/// Rows that depend on two arguments through their difference do: moving both leaves the value, and the
/// slopes are opposite.
#[test]
fn differences_are_all_that_matters() {
    for row in rows() {
        let Some((i, j)) = row.facts.as_ref().and_then(|f| f.difference) else { continue };
        let mut s = Stream(7);
        for setting in settings(row, &mut s) {
            // A whole number of units moves both exactly, or nearly so.
            let mut moved = setting.clone();
            let shift = (16.0 * s.next()).floor() - 8.0;
            moved[i] += shift;
            moved[j] += shift;
            let (y, z) = (value(row, &setting), value(row, &moved));
            if !y.is_finite() || !z.is_finite() {
                continue;
            }
            let slopes = common::slopes(row, &setting);
            let reach = slopes[i].abs() * (shift.abs() + setting[i].abs() + setting[j].abs());
            assert!(
                (y - z).abs() <= 1e-12 * (y.abs() + reach) + 1e-300,
                "{} at {setting:?}: {y}, and {z} when both move by {shift}",
                row.name
            );
            assert!(
                (slopes[i] + slopes[j]).abs() <= 1e-12 * slopes[i].abs(),
                "{} at {setting:?}: slopes {slopes:?}",
                row.name
            );
        }
    }
}

/// Rows that stay the same when one number is added to all their arguments do; their slopes add up to
/// nothing.
#[test]
fn shifts_leave_values_alone() {
    let mut seen = 0;
    for row in rows().into_iter().filter(|row| row.facts.as_ref().is_some_and(|f| f.shifts)) {
        let mut s = Stream(13);
        for setting in settings(row, &mut s) {
            // Numbers that are as good as infinite stay where they are.
            let near = |x: f64| x.abs() < 1e50;
            for shift in [-3.0, 0.5, 8.0] {
                let moved: Vec<f64> = setting.iter().map(|&x| if near(x) { x + shift } else { x }).collect();
                let (y, z) = (value(row, &setting), value(row, &moved));
                if !y.is_finite() || !z.is_finite() {
                    continue;
                }
                let slopes = common::slopes(row, &setting);
                let reach: f64 = slopes
                    .iter()
                    .zip(&setting)
                    .filter(|(_, x)| near(**x))
                    .map(|(g, x)| g.abs() * (x.abs() + 8.0))
                    .sum();
                assert!(
                    (y - z).abs() <= 1e-11 * (y.abs() + reach),
                    "{} at {setting:?}: {y}, and {z} moved by {shift}",
                    row.name
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "only {seen} values were looked at");
}

/// Rows that say what log x and x are multiplied by are that.
#[test]
fn functions_of_a_rate_are_sums_of_it_and_its_log() {
    let mut seen = 0;
    for row in rows() {
        let Some(rate) = row.facts.as_ref().and_then(|f| f.rate) else { continue };
        let mut s = Stream(12);
        for setting in settings(row, &mut s) {
            for k in 0..row.args.len() {
                let args: Vec<Interval> = setting.iter().map(|&v| Interval::point(v)).collect();
                let Some([a, b]) = rate(&args, k) else { continue };
                for x in [1e-9_f64, 0.01, 1.0, 3.7, 4000.0] {
                    let mut at = setting.clone();
                    at[k] = x;
                    let off = (value(row, &at) - a * x.ln() - b * x).abs();
                    let size = 1.0 + (a * x.ln()).abs() + (b * x).abs();
                    assert!(off <= 1e-12 * size, "{} at {setting:?}: off by {off} at {x}", row.name);
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 20, "only {seen} values were looked at");
}

/// Rows that say what log θ and log(1 - θ) are multiplied by are that; weights are not negative.
#[test]
fn functions_of_a_probability_are_sums_of_its_logs() {
    let mut seen = 0;
    for row in rows() {
        let Some(odds) = row.facts.as_ref().and_then(|f| f.odds) else { continue };
        let mut s = Stream(11);
        for setting in settings(row, &mut s) {
            for k in 0..row.args.len() {
                let args: Vec<Interval> = setting.iter().map(|&v| Interval::point(v)).collect();
                let Some([a, b]) = odds(&args, k) else { continue };
                let at = |p: f64| {
                    let mut x = setting.clone();
                    x[k] = p;
                    value(row, &x) - a * p.ln() - b * (-p).ln_1p()
                };
                let size = 1.0 + a.abs() + b.abs();
                assert!(a >= 0.0 && b >= 0.0, "{} at {setting:?}: {a}, {b}", row.name);
                for p in [1e-9, 0.01, 0.3, 0.8, 0.999_999] {
                    let off = at(p).abs();
                    assert!(off <= 1e-11 * size, "{} at {setting:?}: off by {off} at {p}", row.name);
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 50, "only {seen} values were looked at");
}

/// Finite bounds on the second derivative over the whole line are attained to a tenth at probes: a fact that
/// is wrong by more is caught here if it is too wide and above if it is too narrow.
#[test]
fn curvature_bounds_are_attained() {
    let mut seen = 0;
    let is_tight = |row: &&ScalarRow| mistakes::LOOSE.iter().all(|(loose, _)| *loose != row.name);
    for row in rows().into_iter().filter(is_tight) {
        for setting in row.probes {
            for k in 0..row.args.len() {
                for (jet, log) in jets(row) {
                    let Some(jet) = jet_at(jet, setting, k, Interval::REAL) else { continue };
                    for (end, sign) in [(jet.curvature.lo, -1.0), (jet.curvature.hi, 1.0)] {
                        if end.is_finite() && end.abs() > 1e-12 {
                            let found = most_curved(row, setting, k, log, sign);
                            seen += 1;
                            assert!(
                                found >= sign * end - 0.1 * end.abs(),
                                "{} in {} of {setting:?} (log: {log}): curvature reaches {found}, not {end}",
                                row.name,
                                row.args[k]
                            );
                        }
                    }
                }
            }
        }
    }
    assert!(seen > 60, "only {seen} bounds were looked at");
}

/// The largest second derivative, times `sign`, on a fine grid about the other arguments and their scale.
fn most_curved(row: &'static ScalarRow, setting: &[f64], k: usize, log: bool, sign: f64) -> f64 {
    let others = || setting.iter().enumerate().filter(|(i, _)| *i != k).map(|(_, v)| *v);
    let logs = |v: f64| [v.abs().ln(), -v.abs().ln()];
    let centres = others().chain(others().flat_map(logs)).chain([0.0]).filter(|c| c.is_finite());
    let scales: Vec<f64> =
        others().flat_map(|v| [v.abs(), v.abs().sqrt(), v.abs().recip()]).chain([1.0]).collect();
    let mut most = f64::NEG_INFINITY;
    for centre in centres {
        for &scale in scales.iter().filter(|s| s.is_finite()) {
            for i in -120..=120 {
                let mut x = setting.to_vec();
                x[k] = centre + 0.05 * f64::from(i) * scale;
                let curvature = derivatives(row, &x, k, log)[2];
                if curvature.is_finite() && curvature.abs() < 1e100 {
                    most = most.max(sign * curvature);
                }
            }
        }
    }
    most
}
