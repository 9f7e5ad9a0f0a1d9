//! Where else a log density may have a mode, seen from one: mirror images of it, and other tops on lines
//! through it.

use crate::infer::cost::spared;
use crate::infer::search::ascent::Place;
use crate::target::{Evaluator, Target};

/// Parameters whose signs are changed, alone and two at a time.
const MIRRORED: usize = 8;
/// A mirror image this many nats below a mode may lead to another; and how many are searched from, the
/// highest.
const IMAGE: f64 = 3.0;
const IMAGES: usize = 6;
/// A coordinate that is nearer to zero is its own mirror image.
const NEAR_ZERO: f64 = 1e-3;
/// Most coordinates whose lines are looked along.
const LINES: usize = 12;
/// How far apart the points on a line are, in standard deviations; how far they go, at least, and in standard
/// deviations; and how many at least and at most to each side: the density may have steps that its curvature
/// knows nothing of. Fewer where each takes long.
const APART: f64 = 1.5;
const REACH: f64 = 7.0;
const REACH_EACH: f64 = 30.0;
const EACH_SIDE: [usize; 2] = [96, 160];
const LEAST_EACH_SIDE: usize = 24;
/// Beyond, each point lies so much further out than the one before, so often: what is far away is wide where
/// tails are long, and the parts of a mixture are searched by themselves.
const FURTHER: f64 = 1.25;
const FAR_OUT: usize = 28;
/// A place on a line so many nats above the mode is where its coordinate should be.
const HIGHER: f64 = 2.0;
/// Most places on lines.
const MOST: usize = 128;

/// Points that may lead to another mode.
pub(in crate::infer) struct Starts {
    /// Those about as high as the mode.
    pub(in crate::infer) high: Vec<Vec<f64>>,
    /// Those on lines, with all else held: how high they are says little, for what else there is may have to
    /// move.
    pub(in crate::infer) on_lines: Vec<Vec<f64>>,
    /// Log densities evaluated.
    pub(in crate::infer) evaluations: usize,
}

/// Points to search from, found with about so many log densities.
pub(in crate::infer) fn starts(
    target: &dyn Target,
    evaluator: &mut dyn Evaluator,
    top: &Place,
    curvature: Option<&[f64]>,
    about: usize,
) -> Starts {
    let (mut high, mut evaluations) = images(target, evaluator, top);
    let d = top.z.len();
    let mut seen: Vec<(f64, Vec<f64>)> = Vec::new();
    let (mut together, mut risen) = (top.z.clone(), false);
    let [fewest, most] = EACH_SIDE.map(|n| spared(target, n, LEAST_EACH_SIDE));
    let side = (about / (2 * d.max(1))).clamp(fewest, most);
    if let Some(curvature) = curvature.filter(|_| d <= LINES && !target.solves_equations()) {
        let far_out = if target.searches() { 0 } else { FAR_OUT };
        for i in 0..d {
            let (found, count) = on_a_line(evaluator, top, i, curvature[i * d + i], [side, far_out]);
            let best = found.iter().reduce(|a, b| if b.0 > a.0 { b } else { a });
            if let Some((_, z)) = best.filter(|(value, _)| *value > top.value + HIGHER) {
                (together[i], risen) = (z[i], true);
            }
            seen.extend(found);
            evaluations += count;
        }
        seen.sort_by(|a, b| b.0.total_cmp(&a.0));
    }
    // Coordinates that are higher elsewhere each by itself may be so all together.
    high.extend(risen.then_some(together));
    Starts { high, on_lines: seen.into_iter().take(MOST).map(|(_, z)| z).collect(), evaluations }
}

/// Mirror images that are about as high as a mode, the highest first, and the log densities evaluated. What
/// hardly moves leads back, so that one alone may be no other mode.
fn images(target: &dyn Target, evaluator: &mut dyn Evaluator, top: &Place) -> (Vec<Vec<f64>>, usize) {
    let (signs, zeros) = (signs(target), target.zeros());
    let moves = |signs: &&Vec<usize>| signs.iter().any(|&i| (top.z[i] - zeros[i]).abs() > NEAR_ZERO);
    let images: Vec<Vec<f64>> =
        signs.iter().filter(moves).map(|signs| image(&top.z, &zeros, signs)).collect();
    let values = evaluate(evaluator, &images);
    let mut high: Vec<usize> = (0..images.len()).filter(|&k| values[k] > top.value - IMAGE).collect();
    high.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    (high.into_iter().take(IMAGES).map(|k| images[k].clone()).collect(), values.len())
}

/// Coordinates whose signs may belong together: those of each parameter, and of each two, where there are
/// few. Factors and their loadings can change theirs together, and a search from the origin sees one side
/// alone.
fn signs(target: &dyn Target) -> Vec<Vec<usize>> {
    let names = target.coordinate_names();
    let mut parameters: Vec<(&str, Vec<usize>)> = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let name = name.split('[').next().unwrap_or(name);
        match parameters.iter_mut().find(|(known, _)| *known == name) {
            Some((_, places)) => places.push(i),
            None => parameters.push((name, vec![i])),
        }
    }
    parameters.truncate(MIRRORED);
    let single = parameters.iter().map(|(_, places)| places.clone());
    let pairs = (0..parameters.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    single.chain(pairs.map(|(a, b)| [&parameters[a].1[..], &parameters[b].1].concat())).collect()
}

fn image(z: &[f64], zeros: &[f64], signs: &[usize]) -> Vec<f64> {
    let mut image = z.to_vec();
    signs.iter().for_each(|&i| image[i] = 2.0 * zeros[i] - image[i]);
    image
}

/// Other tops along one coordinate, all else held, with their values; and the log densities evaluated, so
/// many on each side.
fn on_a_line(
    evaluator: &mut dyn Evaluator,
    top: &Place,
    i: usize,
    curvature: f64,
    [side, far_out]: [usize; 2],
) -> (Vec<(f64, Vec<f64>)>, usize) {
    let sd = curvature.sqrt().recip();
    let reach = if sd.is_finite() { REACH.max(REACH_EACH * sd) } else { REACH };
    let sides = if sd.is_finite() { reach / (APART * sd) } else { 0.0 };
    let apart = reach / sides.max(side as f64);
    let point = |away: f64| {
        let mut z = top.z.clone();
        z[i] += away;
        z
    };
    let near = (1..=side).map(|k| k as f64 * apart);
    let side: Vec<f64> =
        near.chain((1..=far_out).map(|k| side as f64 * apart * FURTHER.powi(k as i32))).collect();
    let before = side.iter().rev().map(|x| -x);
    let points: Vec<Vec<f64>> = before.chain([0.0]).chain(side.iter().copied()).map(point).collect();
    let values = evaluate(evaluator, &points);
    let side = side.len();
    let beyond = |k: usize| k + 2 <= side || k >= side + 2;
    let is_top = |&k: &usize| {
        beyond(k) && values[k].is_finite() && values[k] > values[k - 1] && values[k] >= values[k + 1]
    };
    let tops = (1..2 * side).filter(is_top).map(|k| (values[k], points[k].clone())).collect();
    (tops, values.len())
}

/// The log density at points; minus infinity where it is not a number.
pub(in crate::infer) fn evaluate(evaluator: &mut dyn Evaluator, points: &[Vec<f64>]) -> Vec<f64> {
    let (n, d) = (points.len(), points.first().map_or(0, Vec::len));
    let z: Vec<f64> = (0..d).flat_map(|i| points.iter().map(move |p| p[i])).collect();
    let mut values = vec![0.0; n];
    if n > 0 {
        evaluator.log_density(&z, n, &mut values);
    }
    values.iter().map(|x| if x.is_nan() { f64::NEG_INFINITY } else { *x }).collect()
}

#[cfg(test)]
mod tests {
    use crate::infer::Options;
    use crate::infer::search::modes;
    use crate::num::special::log_sum_exp;
    use crate::target::from_fn;

    /// A density of two heaps, far from each other and one on each side of the origin, and one of many waves.
    #[test]
    fn other_modes_are_found() {
        let heaps = |z: &[f64], g: &mut [f64]| {
            let logs = [-2.0 * (z[0] - 2.0).powi(2), -2.0 * (z[0] + 2.0).powi(2)];
            let total = log_sum_exp(&logs);
            g[0] = -4.0 * z[0] + 8.0 * ((logs[0] - total).exp() - (logs[1] - total).exp());
            total
        };
        let found = modes::find(&from_fn(1, heaps), &Options::default(), true, 1).unwrap().modes;
        assert_eq!(found.iter().filter(|mode| (mode.point[0].abs() - 2.0).abs() < 0.1).count(), 2);
        let waves = |z: &[f64], g: &mut [f64]| {
            g[0] = -(z[0] - 0.3) - 60.0 * (20.0 * z[0]).sin();
            -0.5 * (z[0] - 0.3).powi(2) + 3.0 * (20.0 * z[0]).cos()
        };
        assert!(modes::find(&from_fn(1, waves), &Options::default(), true, 1).unwrap().modes.len() >= 3);
    }
}
