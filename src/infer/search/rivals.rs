//! Other modes than the one that was fitted: which of them matter, and what is said of them.

use crate::infer::finding::Finding;
use crate::infer::gaussian::Fitted;
use crate::infer::gaussian::Gaussian;
use crate::infer::policy::Policy;
use crate::num::linalg::{dot, solve_lower};
use crate::target::Target;
use crate::vi::Scale;

/// A mode with less mass than so many nats say moves no variance, however far away it is.
const FARTHEST_BEHIND: f64 = 20.0;
/// Most dimensions in which the distance is taken in the parameters themselves, too.
const FEW: usize = 24;
/// Short fits that ended this near to the end, in nats, can be compared; as can two that ended as far from it
/// as each other.
const ENDED: f64 = 1.0;
const UNFINISHED: f64 = 10.0;

/// Short fits that ended nearer to each other, in standard deviations of both, found the same mode: their
/// means are off by about the root of twice their gaps, of half a nat each.
const SAME: f64 = 2.0;

/// One about the same place that is so much wider, or narrower, is another: a slab about a spike.
const WIDER: f64 = 4.0;

/// Another mode.
#[derive(Clone, Debug)]
pub(in crate::infer) struct Rival {
    /// How far its ELBO is behind that of the best, in nats.
    behind: f64,
    /// Its mass times the square of its distance, in standard deviations of the best.
    pub(in crate::infer) importance: f64,
    /// Its Gaussian, in the coordinates of the one that was fitted; None if these are others.
    pub(in crate::infer) q: Option<Gaussian>,
}

impl Rival {
    /// What a short fit found, beside the best of all, if it matters.
    pub(in crate::infer) fn new(
        target: &dyn Target,
        best: &Fitted,
        other: Fitted,
        policy: &Policy,
    ) -> Option<Rival> {
        let near = (2.0 * best.gap).clamp(ENDED, UNFINISHED);
        let is_near = other.gap < near;
        // Short fits of one mode may differ in width.
        let far = apart(&best.q, &other.q)?;
        Rival::reaching(target, &best.q, other.q, best.elbo - other.elbo, far, policy).filter(|_| is_near)
    }

    /// A part of a mixture with so many nats less mass than the best, if it is another and matters.
    pub(in crate::infer) fn of_part(
        target: &dyn Target,
        best: &Gaussian,
        q: Gaussian,
        behind: f64,
        policy: &Policy,
    ) -> Option<Rival> {
        let far = distance(best, &q)?;
        Rival::reaching(target, best, q, behind, far, policy)
    }

    /// One that reaches so far from the best, if it matters.
    fn reaching(
        target: &dyn Target,
        best: &Gaussian,
        q: Gaussian,
        behind: f64,
        far: f64,
        policy: &Policy,
    ) -> Option<Rival> {
        let far = far.max(distance_outside(target, best, &q));
        let importance = (-behind).exp() * far * far;
        let moves = behind < policy.mode_behind
            || behind < FARTHEST_BEHIND && importance > policy.mode_share_of_variance;
        moves.then_some(Rival { behind, importance, q: Some(q) })
    }

    /// Whether another lies elsewhere.
    pub(in crate::infer) fn differs(&self, other: &Rival) -> bool {
        match (&self.q, &other.q) {
            (Some(a), Some(b)) => distance(a, b).is_some(),
            _ => true,
        }
    }

    /// The same where the Gaussian was fitted in other coordinates.
    pub(in crate::infer) fn elsewhere(self) -> Rival {
        Rival { q: None, ..self }
    }

    /// Its mass beside that of the best.
    pub(in crate::infer) fn mass(&self) -> f64 {
        (-self.behind).exp()
    }
}

/// How far from the first Gaussian the second reaches, in standard deviations of the first; None if they may
/// be the same one.
fn distance(a: &Gaussian, b: &Gaussian) -> Option<f64> {
    let wider = widest(a, b);
    match apart(a, b) {
        Some(far) => Some(far.max(wider)),
        None => (wider > WIDER || widest(b, a) > WIDER).then_some(wider),
    }
}

/// The largest standard deviation of the second along an axis of its own, in units of the first.
fn widest(a: &Gaussian, b: &Gaussian) -> f64 {
    let d = a.mean.len();
    match (&a.factor, &b.factor) {
        (Scale::Diagonal(a), Scale::Diagonal(b)) => b.iter().zip(a).map(|(b, a)| b / a).fold(0.0, f64::max),
        (a, b) => {
            let (a, b) = (a.dense(d), b.dense(d));
            let length = |k: usize| {
                let mut axis: Vec<f64> = (0..d).map(|i| b[i * d + k]).collect();
                solve_lower(&a, d, &mut axis);
                dot(&axis, &axis).sqrt()
            };
            (0..d).map(length).fold(0.0, f64::max)
        }
    }
}

/// How far from the first Gaussian the second lies, in standard deviations of the first along the way there;
/// None if these are no more than short fits leave.
fn apart(a: &Gaussian, b: &Gaussian) -> Option<f64> {
    let d = a.mean.len();
    let between: Vec<f64> = a.mean.iter().zip(&b.mean).map(|(a, b)| a - b).collect();
    let in_units_of = |q: &Gaussian| match &q.factor {
        Scale::Dense(factor) => {
            let mut x = between.clone();
            solve_lower(factor, d, &mut x);
            dot(&x, &x).sqrt()
        }
        Scale::Diagonal(s) => between.iter().zip(s).map(|(x, s)| (x / s).powi(2)).sum::<f64>().sqrt(),
    };
    let [of_a, of_b] = [a, b].map(in_units_of);
    (of_a.min(of_b) > SAME).then_some(of_a)
}

/// The same in the parameters themselves, the farthest of them: a scale that is near on a logarithmic scale
/// may be far.
fn distance_outside(target: &dyn Target, a: &Gaussian, b: &Gaussian) -> f64 {
    let d = a.mean.len();
    if d > FEW || target.solves_equations() {
        return 0.0;
    }
    let parameters = |z: &[f64]| {
        let mut all = target.constrain(z);
        all.truncate(all.len().saturating_sub(target.beside()));
        all
    };
    let (centre, factor) = (parameters(&a.mean), a.factor.dense(d));
    let mut variances = vec![0.0; centre.len()];
    for k in 0..d {
        let along: Vec<f64> = (0..d).map(|i| a.mean[i] + factor[i * d + k]).collect();
        let moved = parameters(&along);
        variances.iter_mut().zip(moved.iter().zip(&centre)).for_each(|(v, (m, c))| *v += (m - c).powi(2));
    }
    let away = parameters(&b.mean);
    let far = away.iter().zip(&centre).zip(&variances).map(|((b, a), v)| (b - a).abs() / v.sqrt());
    far.filter(|x| x.is_finite()).fold(0.0, f64::max)
}

/// What became of other modes, where the answer is of draws from a proposal that began at so many.
pub(in crate::infer) fn told(rivals: &[Rival], modes: usize) -> Option<Finding> {
    let mass = rivals.iter().map(Rival::mass).reduce(f64::max)?;
    let count = rivals.len();
    Some(match modes > count {
        true => Finding::SeveralModes { count: count + 1 },
        false => Finding::OtherModes { count, mass },
    })
}
