//! Where searches for modes begin: where a model expects its parameters, and as far apart as its prior
//! allows.

use crate::infer::options::Stop;
use crate::infer::search::ascent::Search;
use crate::infer::search::whiten;
use crate::num::stream::Stream;
use crate::target::Target;

/// Who draws: starting points.
pub(super) const PURPOSE: u64 = 0x6d6f_6465;
/// Steps to the mode of what is known before data, and where its log density is no steeper, it has one.
const EXPECTING: usize = 60;
const LEVEL: f64 = 1e-2;
/// The first stream of random points as far apart as the prior allows.
const DISPERSED: u64 = 1 << 32;

/// Where a model expects its parameters before it sees data: the mode of what it says then, with the origin
/// for those that have none.
pub(super) fn expected(target: &dyn Target, stop: &Stop) -> Option<Vec<f64>> {
    let prior = target.prior()?;
    let mut evaluator = prior.evaluator();
    let mut search = Search { evaluator: evaluator.as_mut(), gradients: 0, stop };
    let origin = search.place(vec![0.0; target.dimension()])?;
    let top = search.climb(origin, EXPECTING);
    let at = |(z, slope): (&f64, &f64)| if slope.abs() < LEVEL { *z } else { 0.0 };
    Some(top.z.iter().zip(&top.slope).map(at).collect())
}

/// So many points about as far apart as the prior allows: modes may lie farther from the origin than a few
/// units.
pub(super) fn dispersed(target: &dyn Target, centre: Option<&[f64]>, count: u64, seed: u64) -> Vec<Vec<f64>> {
    let (Some(centre), Some(prior)) = (centre, target.prior()) else { return Vec::new() };
    let scales = whiten::scales(&mut *prior.evaluator(), centre);
    let point = |k: u64| {
        let mut stream = Stream::new(seed, PURPOSE, DISPERSED + k);
        let coordinate = |(c, s): (&f64, &f64)| c + s * (4.0 * stream.uniform() - 2.0);
        centre.iter().zip(&scales).map(coordinate).collect()
    };
    (0..count).map(point).collect()
}
