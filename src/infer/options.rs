//! What can be chosen about a fit, and how it is told to stop.

use crate::infer::attempt::{Attempt, Rule};
use crate::infer::policy::Policy;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

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
    /// The thresholds of quality.
    pub policy: Policy,
    /// Attempts to leave out.
    pub without: Vec<Attempt>,
    /// Rules to do without.
    pub without_rules: Vec<Rule>,
    /// Ends the fit from outside, with what it has.
    pub stop: Stop,
}

/// A request to stop, by someone or by the clock, seen by all that share it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Request>);

#[derive(Debug, Default)]
struct Request {
    made: AtomicBool,
    deadline: OnceLock<Instant>,
}

impl Stop {
    /// Asks whatever shares this to stop.
    pub fn request(&self) {
        self.0.made.store(true, Ordering::SeqCst);
    }

    /// Asks for it once so much time has passed from now on. Only the first deadline counts; one beyond what
    /// a clock can tell is none.
    pub fn request_after(&self, time: Duration) {
        if let Some(deadline) = Instant::now().checked_add(time) {
            self.0.deadline.get_or_init(|| deadline);
        }
    }

    /// Whether there is a request; that the time is up is noted for [`Stop::obeyed`].
    pub fn requested(&self) -> bool {
        if self.obeyed() {
            return true;
        }
        let is_up = self.0.deadline.get().is_some_and(|deadline| Instant::now() >= *deadline);
        if is_up {
            self.request();
        }
        is_up
    }

    /// Whether something that could end early was told to: time that is up after the last of the work has
    /// stopped nothing.
    pub fn obeyed(&self) -> bool {
        self.0.made.load(Ordering::Relaxed)
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

impl Options {
    /// Whether a rule is followed.
    pub(in crate::infer) fn follows(&self, rule: Rule) -> bool {
        !self.without_rules.contains(&rule)
    }
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
            policy: Policy::default(),
            without: Vec::new(),
            without_rules: Vec::new(),
            stop: Stop::default(),
        }
    }
}
