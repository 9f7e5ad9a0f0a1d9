//! Leaves out what priors rule out before an equation is solved for it: far from where an equation is tame, a
//! draw may cost as much as thousands elsewhere.

use crate::infer::gaussian::Gaussian;
use crate::infer::proposal::placement::Placement;
use crate::target::{Evaluator, Target};

/// A draw at which the priors say so many nats less than at the centre of the posterior is left out: data
/// would have to speak for it by as much, and the posterior was searched for places where they do.
const RULED_OUT: f64 = 100.0;

/// What a model says without its data, and from where on that rules a point out.
pub(super) struct Screen<'t> {
    prior: Box<dyn Target + 't>,
    least: f64,
}

impl<'t> Screen<'t> {
    /// For a model that solves equations, from the centre of a Gaussian; None for others, whose densities
    /// cost the same everywhere.
    pub(super) fn new(flow: &'t dyn Placement, q: &Gaussian) -> Option<Screen<'t>> {
        if !flow.places_cheaply() || !flow.model().solves_equations() {
            return None;
        }
        let prior = flow.model().prior()?;
        let mut centre = [0.0];
        prior.evaluator().log_density(&flow.glance(q.mean.clone(), 1), 1, &mut centre);
        centre[0].is_finite().then(|| Screen { prior, least: centre[0] - RULED_OUT })
    }

    /// An evaluator whose log density is minus infinity where priors rule a point out.
    pub(super) fn before<'e>(&'e self, inner: Box<dyn Evaluator + 'e>) -> Box<dyn Evaluator + 'e> {
        Box::new(Screened { inner, prior: self.prior.evaluator(), least: self.least })
    }
}

struct Screened<'e> {
    inner: Box<dyn Evaluator + 'e>,
    prior: Box<dyn Evaluator + 'e>,
    least: f64,
}

impl Evaluator for Screened<'_> {
    fn evaluate(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        self.inner.evaluate(z, draws, log_density, gradient);
    }

    fn log_density(&mut self, z: &[f64], draws: usize, log_density: &mut [f64]) {
        let mut prior = vec![0.0; draws];
        self.prior.log_density(z, draws, &mut prior);
        let kept: Vec<usize> = (0..draws).filter(|&b| !(prior[b] < self.least)).collect();
        let points: Vec<f64> =
            z.chunks_exact(draws).flat_map(|row| kept.iter().map(move |&b| row[b])).collect();
        let mut values = vec![0.0; kept.len()];
        if !kept.is_empty() {
            self.inner.log_density(&points, kept.len(), &mut values);
        }
        log_density[..draws].fill(f64::NEG_INFINITY);
        kept.iter().zip(values).for_each(|(&b, value)| log_density[b] = value);
    }

    fn hessian_vectors(&mut self, z: &[f64], v: &[f64], count: usize, out: &mut [f64]) {
        self.inner.hessian_vectors(z, v, count, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::from_fn;

    /// What is kept has the density of the model, whatever stands beside it; what is ruled out is never asked
    /// for.
    #[test]
    fn points_that_priors_rule_out_are_not_evaluated() {
        let prior = from_fn(2, |z: &[f64], _: &mut [f64]| -0.5 * z[0] * z[0]);
        let model = from_fn(2, |z: &[f64], _: &mut [f64]| {
            assert!(z[0].abs() < 15.0, "{z:?} is ruled out");
            10.0 * z[0] + z[1]
        });
        let (inner, prior) = (model.evaluator(), prior.evaluator());
        let mut screened = Screened { inner, prior, least: -100.0 };
        let mut value = [f64::NAN; 3];
        screened.log_density(&[1.0, 20.0, -2.0, 0.5, 0.0, 3.0], 3, &mut value);
        assert_eq!(value, [10.5, f64::NEG_INFINITY, -17.0]);
        screened.log_density(&[30.0, 40.0, 1.0, 1.0], 2, &mut value);
        assert_eq!(value[..2], [f64::NEG_INFINITY; 2]);
    }
}
