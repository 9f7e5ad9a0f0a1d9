//! What can be chosen about a fit, and how it is told to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What can be chosen; the defaults are meant for everything.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Seed of everything random.
    pub seed: u64,
    /// The optimisation gap, in nats, at which the fit is done.
    pub tolerance: f64,
    /// Most gradients of the fit; by default from the dimension.
    pub gradients: Option<usize>,
    /// Draws for importance sampling; by default from the dimension.
    pub draws: Option<usize>,
    /// Dimension up to which the covariance is full; beyond, diagonal.
    pub dense: usize,
    /// Posterior draws of the outputs to keep, fewer where there are very many outputs.
    pub keep: usize,
    /// When to sample with NUTS.
    pub nuts: Nuts,
    /// Ends the fit from outside, with what it has.
    pub stop: Stop,
}

/// A request to stop, seen by all that share it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks whatever shares this to stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether someone asked.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Two are the same if a request to one is one to the other.
impl PartialEq for Stop {
    fn eq(&self, other: &Stop) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// When to sample with NUTS, in the coordinates of the fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nuts {
    /// Never.
    #[default]
    Never,
    /// Where importance weights cannot be relied on.
    WherePoor,
    /// Always.
    Always,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            seed: 1,
            tolerance: 0.005,
            gradients: None,
            draws: None,
            dense: 1200,
            keep: 0,
            nuts: Nuts::Never,
            stop: Stop::default(),
        }
    }
}
