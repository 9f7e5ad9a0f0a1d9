//! Exchanges of labels and changes of sign that leave the log density as it is: the posterior then has images
//! of every mode, and a fit that found one of them says nothing of the others.

use crate::infer::diagnose::moves::{How, Move, exchange, moves, sets};
use crate::infer::finding::Finding;
use crate::infer::fit::Fit;
use crate::infer::importance::summary::Output;
use crate::infer::search::ascent;
use crate::lower::{Form, Parameter};
use crate::num::stream::Stream;
use crate::target::{ModelTarget, Target};
use std::ops::ControlFlow;

/// Who draws: points at which symmetries show.
const PURPOSE: u64 = 0x7379_6d6d;
/// Points, and how far from each other coordinates lie.
const POINTS: u64 = 2;
const SPREAD: f64 = 0.5;
/// Points around the answer.
const AROUND: u64 = 12;
/// Steps uphill.
const STEPS: usize = 40;
/// Most coordinates, most moves of which all are tried that are made together, and how many these are:
/// loadings, scores and the slopes of scores, say.
const MOST: usize = 3000;
/// Log densities are the same if they differ by less, relative to their size.
const SAME: f64 = 1e-9;
/// Means further from each other, or from where a change of sign would leave them, in standard deviations,
/// are those of one image alone.
const APART: f64 = 0.3;
/// Points evaluated together.
const BATCH: usize = 16;

/// The warning about images of what was fitted that it overlooks.
pub(in crate::infer) fn symmetry(target: &ModelTarget, fit: &Fit) -> Option<Finding> {
    if target.dimension() > MOST {
        return None;
    }
    let moves = moves(target);
    let known = symmetries(target, &moves);
    // All over where the answer is, a density that has steps is no longer the same on both sides.
    let known = (0..AROUND).fold(known, |known, k| match known.is_empty() {
        true => known,
        false => unchanged(target, &moves, known, &around(target, fit, k)),
    });
    let sets: Vec<Vec<&Move>> = known.iter().map(|set| set.iter().map(|&m| &moves[m]).collect()).collect();
    if let Some(overlooked) = sets.iter().find(|set| set.iter().any(|m| apart(m, &fit.outputs))) {
        return Some(told(overlooked));
    }
    // An answer of all images is right, and tells nothing of any component: what stands first in one stands
    // second in another.
    let several = fit.findings.iter().any(|f| matches!(f, Finding::SeveralModes { .. }));
    // The Gaussian is that of one image.
    let relabels = |m: &&Move| m.how != How::Mirror && apart(m, &fit.gaussian);
    let relabelled = sets.iter().find(|set| set.iter().any(relabels)).filter(|_| several)?;
    let exchanged = relabelled.iter().filter(|m| m.how != How::Mirror);
    Some(Finding::LabelsAveraged {
        exchanged: exchanged.map(|m| m.parameter.named.name.clone()).collect(),
        ordered: ordered(relabelled),
    })
}

/// A point around the answer: about where draws of it lie, and up to twice as far away. Coordinates of
/// parameters that are not any real number lie about zero where the answer is not known in these.
pub(in crate::infer) fn around(target: &ModelTarget, fit: &Fit, k: u64) -> Vec<f64> {
    let mut z = vec![0.0; target.dimension()];
    let mut stream = Stream::new(1, PURPOSE, POINTS + k);
    stream.fill_normal(&mut z);
    let reach = 2.0 * stream.uniform();
    z.iter_mut().for_each(|z| *z *= reach);
    if fit.as_declared && fit.mean.len() == z.len() {
        let mut away = vec![0.0; z.len()];
        fit.factor.apply(&z, [z.len(), 1], &mut away);
        return away.iter().zip(&fit.mean).map(|(x, m)| m + x).collect();
    }
    let reals = target.lowered().parameters.iter().filter(|p| p.form.transform_name() == "real");
    let names = target.coordinate_names();
    for i in reals.flat_map(|p| p.offset..p.offset + p.size) {
        if let Some(output) = fit.outputs.iter().find(|o| o.name == names[i]) {
            z[i] = output.mean + output.sd * z[i];
        }
    }
    z
}

/// Moves that, made together, leave the log density as it is at a few points, and so everywhere: some by
/// chance, and one near the mass, because a density may be simpler far from it (one that is linear beyond all
/// data, say).
fn symmetries(target: &ModelTarget, moves: &[Move]) -> Vec<Vec<usize>> {
    let mut same = sets(moves);
    for k in 0..POINTS {
        same = unchanged(target, moves, same, &point(target.dimension(), k));
    }
    if !same.is_empty() {
        same = unchanged(target, moves, same, &near_the_mass(target));
    }
    same
}

/// Where some steps uphill from the first point lead.
fn near_the_mass(target: &ModelTarget) -> Vec<f64> {
    let mut top = point(target.dimension(), 0);
    ascent::follow(target.evaluator().as_mut(), top.clone(), STEPS, &mut |place| {
        top.clone_from(&place.z);
        ControlFlow::Continue(())
    });
    top
}

fn point(d: usize, k: u64) -> Vec<f64> {
    let mut z = vec![0.0; d];
    Stream::new(1, PURPOSE, k).fill_normal(&mut z);
    z.iter().map(|x| SPREAD * x).collect()
}

/// The sets that leave the log density at a point as it is, and move its gradient as they move the point:
/// where the log density is so large that its digits tell nothing, its slopes do.
fn unchanged(target: &ModelTarget, moves: &[Move], sets: Vec<Vec<usize>>, z: &[f64]) -> Vec<Vec<usize>> {
    let made: Vec<(Vec<usize>, Vec<f64>)> = sets
        .into_iter()
        .filter_map(|set| {
            let mut moved = z.to_vec();
            set.iter().try_for_each(|&m| make(target, &moves[m], z, &mut moved))?;
            Some((set, moved))
        })
        .collect();
    let mut evaluator = target.evaluator();
    let mut evaluate = |points: &[&[f64]]| {
        let n = points.len();
        let batch: Vec<f64> = (0..z.len() * n).map(|p| points[p % n][p / n]).collect();
        let (mut values, mut slopes) = (vec![0.0; n], vec![0.0; batch.len()]);
        evaluator.evaluate(&batch, n, &mut values, &mut slopes);
        (values, slopes)
    };
    let (here, slopes) = evaluate(&[z]);
    let same = |there: f64| (there - here[0]).abs() <= SAME * (1.0 + here[0].abs());
    let mut kept = Vec::new();
    for some in made.chunks(BATCH) {
        let points: Vec<&[f64]> = some.iter().map(|(_, z)| z.as_slice()).collect();
        let (values, there) = evaluate(&points);
        for (k, (set, _)) in some.iter().enumerate() {
            let slope = |i: usize| there[i * some.len() + k];
            let set = set.clone();
            if same(values[k]) && set.iter().all(|&m| moves[m].moves_slopes(&slopes, slope)) {
                kept.push(set);
            }
        }
    }
    kept
}

/// Makes a move of one parameter; None where that is not possible.
fn make(target: &ModelTarget, of: &Move, z: &[f64], moved: &mut [f64]) -> Option<()> {
    let Parameter { offset, size, form, .. } = of.parameter;
    let range = *offset..offset + size;
    let How::Exchange { axes, .. } = &of.how else {
        moved[range].iter_mut().for_each(|u| *u = -*u);
        return Some(());
    };
    let (Form::Transformed { transform, .. }, Some(&last)) =
        (form, axes.iter().find(|axis| **axis >= of.batch_axes()))
    else {
        axes.iter().for_each(|&axis| exchange(&mut moved[range.clone()], of.dims, axis));
        return Some(());
    };
    // The labels are those of the entries of a simplex.
    let mut values = target.values(&[of.parameter.named.node], z).pop()?;
    axes.iter().for_each(|&axis| exchange(&mut values, of.dims, axis));
    let entries = of.dims[last];
    for (u, x) in moved[range].chunks_exact_mut(entries - 1).zip(values.chunks_exact(entries)) {
        u.copy_from_slice(&(transform.inverse)(x, &[])?);
    }
    Some(())
}

/// Whether the means of a parameter are those of one image alone.
fn apart(of: &Move, outputs: &[Output]) -> bool {
    let name = &of.parameter.named.name;
    let own =
        |o: &&Output| o.name == *name || o.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('['));
    let mut means: Vec<f64> = outputs.iter().filter(own).map(|o| o.mean).collect();
    let spreads: Vec<f64> = outputs.iter().filter(own).map(|o| o.sd).collect();
    if means.len() != of.dims.iter().product::<usize>() {
        return false;
    }
    let here = means.clone();
    match (&of.how, &of.parameter.form) {
        (How::Exchange { axes, .. }, _) => axes.iter().for_each(|&axis| exchange(&mut means, of.dims, axis)),
        (How::Mirror, Form::Transformed { transform, .. }) if transform.name == "real" => {
            means.iter_mut().for_each(|mean| *mean = -*mean);
        }
        // Where the middle is, others say.
        (How::Mirror, _) => return false,
    }
    here.iter().zip(&means).zip(&spreads).any(|((a, b), sd)| (a - b).abs() > 2.0 * APART * sd)
}

/// What is found of moves that leave the log density as it is.
fn told(set: &[&Move]) -> Finding {
    let names = |how: fn(&How) -> bool| {
        let names = set.iter().filter(|m| how(&m.how)).map(|m| m.parameter.named.name.clone());
        names.collect::<Vec<String>>()
    };
    Finding::Images {
        exchanged: names(|how| *how != How::Mirror),
        mirrored: names(|how| *how == How::Mirror),
        ordered: ordered(set),
    }
}

/// A vector whose places are labels that an order would tell apart.
fn ordered(set: &[&Move]) -> Option<(String, usize, bool)> {
    let of = set.iter().find(|m| m.dims.len() == 1 && m.parameter.support != "simplex")?;
    let positive = of.parameter.form.transform_name() == "lower";
    Some((of.parameter.named.name.clone(), of.dims[0], positive))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;

    /// What may be done to the posterior of a model without changing it: names, with ~ where the sign
    /// changes.
    fn found(text: &str, data: &str) -> Vec<String> {
        let data = Dataset::from_texts(&[("data.json", data)]).unwrap();
        let target = ModelTarget::new(text, &data).unwrap();
        let moves = moves(&target);
        let shown = |m: &&Move| {
            let sign = if m.how == How::Mirror { "~" } else { "" };
            format!("{sign}{}", m.parameter.named.name)
        };
        symmetries(&target, &moves)
            .iter()
            .map(|set| set.iter().map(|&m| shown(&&moves[m])).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn signs_of_factors_and_labels_of_mixtures_are_free_until_they_are_fixed() {
        let factors = |prior: &str| {
            format!(
                "data {{ y : binary[N, 3] }}\nparam d[3] ~ normal(0, 1.5)\nparam a[3] {prior}\nparam f[N] ~ normal(0, 1)\n\
                 y ~ bernoulli_logit(outer(f, a) + d)"
            )
        };
        let answers = "{\"y\": [[0, 1, 1], [1, 0, 1], [0, 0, 1], [1, 1, 0]]}";
        assert_eq!(found(&factors("~ normal(0, 1.5)"), answers), ["~a ~f"]);
        assert!(found(&factors(": real > 0 ~ half_normal(1.5)"), answers).is_empty());
        let mixture = |means: &str| {
            format!(
                "data {{ y : real[N] }}\nparam w : simplex[3] ~ dirichlet([2, 2, 2])\nparam mu{means} ~ normal(0, 3)\n\
                 param s[3] ~ half_normal(1)\n\
                 y ~ mixture(w[1]: normal(mu[1], s[1]), w[2]: normal(mu[2], s[2]), w[3]: normal(mu[3], s[3]))"
            )
        };
        let numbers = "{\"y\": [0.3, -1.2, 2.5]}";
        assert_eq!(found(&mixture("[3]"), numbers), ["w mu s"]);
        assert!(found(&mixture(" : ordered[3]"), numbers).is_empty());
        // Below all data a Laplace density is linear, and covariates without a mean cancel there.
        let far = "data { x : real[N], y : real[N] }\nparam a ~ normal(0, 100)\nparam b ~ normal(0, 10)\nparam s ~ half_normal(5)\n\
                   y ~ double_exponential(a + b * x, s)";
        assert!(found(far, "{\"x\": [-1, 0, 1], \"y\": [50, 60, 75]}").is_empty());
        let two = "data { y : real[N] }\nparam w ~ beta(2, 2)\nparam mu[2] ~ normal(0, 3)\n\
                   y ~ mixture(w: normal(mu[1], 1), 1 - w: normal(mu[2], 1))";
        assert_eq!(found(two, numbers), ["~w mu"]);
    }

    /// The states of a hidden Markov model: every parameter has them, and the transitions twice.
    #[test]
    fn labels_change_places_in_many_parameters_at_once() {
        let text = "data { x : real[T]; u : real[T] }\nparam first : simplex[2] ~ flat()\nparam move[2] : simplex[2] ~ flat()\n\
                    param mu[2] ~ normal(0, 5)\nparam slope[2] ~ normal(0, 5)\nparam s[2] ~ half_normal(3)\n\
                    target += hmm_marginal(normal_lpdf(as_column(x) | outer(u, slope) + mu, s), move, first)";
        let data = "{\"x\": [0.3, -1.2, 2.5, 0.7], \"u\": [0.1, 0.4, -0.3, 1.0]}";
        assert_eq!(found(text, data), ["first move mu slope s"]);
    }
}
