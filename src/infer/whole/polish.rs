//! A Gaussian improved by second-order steps on fixed draws, where natural gradients no longer tell what is
//! left to gain.

use crate::infer::attempt::Rule;
use crate::infer::cost;
use crate::infer::gaussian::Fitted;
use crate::infer::importance::{budget, pilot};
use crate::infer::methods;
use crate::infer::options::Options;
use crate::infer::progress::Ending;
use crate::infer::transport::warped::Warped;
use crate::target::Target;

/// A tolerance above this, in nats, asks for a rough answer.
const FINE: f64 = 0.05;
/// Coordinates up to which an answer is polished.
const FEW: usize = 40;
/// Fewest draws that tell so, where each takes long.
const FEW_DRAWS: usize = 256;

/// The Gaussian polished, where the posterior is so far from Gaussian that natural gradients do not tell what
/// is left to gain.
pub(in crate::infer) fn polished(target: &dyn Target, fitted: Fitted, options: &Options) -> Fitted {
    let done = match fitted.ending {
        Ending::Exact | Ending::Stopped => true,
        Ending::Converged | Ending::Budget => false,
    };
    if done
        || !options.follows(Rule::Polishing)
        || options.tolerance > FINE
        || fitted.q.mean.len() > FEW
        || options.stop.requested()
    {
        return fitted;
    }
    let draws = cost::spared(target, budget::PILOT, FEW_DRAWS);
    let judged = pilot::judge(&Warped::flat(target), &fitted.q, draws, options);
    if !(judged.elbo.half_variance > options.policy.spread_polish) {
        return fitted;
    }
    let mut gradients = fitted.gradients;
    let better = methods::polish(target, &fitted, options, &mut gradients);
    let Some(better) = better else { return Fitted { gradients, ..fitted } };
    let ending = if better.gap <= options.tolerance { Ending::Converged } else { Ending::Budget };
    let methods::Polished { q, gap, elbo, elbo_se, draws } = better;
    Fitted { q, gap, elbo, elbo_se, draws, gradients, ending, ..fitted }
}
