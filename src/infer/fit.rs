//! The answer of a fit, with what is known of its quality; assembled in one place.

use crate::infer::finding::{Finding, Severity};
use crate::infer::gaussian::Gaussian;
use crate::infer::importance::estimate::Estimates;
use crate::infer::importance::summary::Output;
use crate::infer::progress::Ending;
use crate::infer::proposal;
use crate::infer::sampling::chains::{Chains, Sampled};
use crate::infer::trace::Tried;
use crate::vi::Scale;
use std::time::Instant;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// The posterior is Gaussian: mode and curvature are the answer.
    Gaussian,
    /// The log density is a sum of functions of affine forms: the best Gaussian was found by quadrature,
    /// without sampling.
    Quadrature,
    /// A Gaussian was fitted by variational inference to the coordinates that others depend on, with the
    /// others integrated out given them.
    Nested,
    /// A Gaussian was fitted by variational inference.
    Variational,
    /// The posterior was sampled with NUTS, because importance weights could not be relied on.
    Nuts,
}

impl Path {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Path::Gaussian => "gaussian",
            Path::Quadrature => "quadrature",
            Path::Nested => "nested",
            Path::Variational => "variational",
            Path::Nuts => "nuts",
        }
    }
}

/// An answer, with what is known of its quality.
#[derive(Clone, Debug)]
pub struct Fit {
    /// How the optimisation ended.
    pub status: Ending,
    /// What was done.
    pub path: Path,
    /// Mean of the Gaussian on the unconstrained scale.
    pub(crate) mean: Vec<f64>,
    /// Its factor.
    pub(crate) factor: Scale,
    /// ELBO of the Gaussian.
    pub elbo: f64,
    /// Its standard error.
    pub elbo_se: f64,
    /// Estimate of log p(x) from the importance weights.
    pub log_evidence: f64,
    /// Upper estimate (two standard errors) of the ELBO still to gain.
    pub gap_nats: f64,
    /// `½ Var_q[log p - log q]`, an estimate of the distance of the Gaussian from the posterior in nats.
    pub half_variance: f64,
    /// Tail shape of the importance weights behind `outputs`, or of the weighted squares of the output that
    /// is known worst, if that is heavier.
    pub khat: f64,
    /// What the importance draws came from.
    pub proposal: proposal::Kind,
    /// Importance draws.
    pub draws: usize,
    /// Gradients evaluated.
    pub gradients: usize,
    /// Time taken.
    pub seconds: f64,
    /// Whether `mean` and `factor` are in the coordinates of the target as given.
    pub(crate) as_declared: bool,
    /// Summaries: of the weighted draws if k̂ < 0.7, of the Gaussian if not (or of NUTS draws, where that was
    /// the path).
    pub outputs: Vec<Output>,
    /// Summaries of the Gaussian.
    pub gaussian: Vec<Output>,
    /// Posterior draws of each output, as many as were to be kept: the weighted draws resampled, or those of
    /// the Gaussian where the weights are not trusted.
    pub kept: Vec<Vec<f64>>,
    /// The chains of NUTS, where that was the path.
    pub chains: Option<Chains>,
    /// What it found out about its own answer.
    pub findings: Vec<Finding>,
    /// What was tried on the way, in order; the last attempt that was preferred is this answer.
    pub trace: Vec<Tried>,
}

impl Fit {
    /// The findings that make the answer doubtful.
    pub fn doubts(&self) -> Vec<&Finding> {
        self.findings.iter().filter(|finding| finding.severity() == Severity::Doubtful).collect()
    }

    /// Whether there is any.
    pub fn is_doubtful(&self) -> bool {
        !self.doubts().is_empty()
    }

    /// Whether there is a finding of this code.
    pub fn has(&self, code: &str) -> bool {
        self.findings.iter().any(|finding| finding.code() == code)
    }

    /// Puts together what was found, what weighted draws say of it, and what chains say, if any were asked
    /// for: then the summaries and findings are theirs.
    pub(in crate::infer) fn assemble(
        q: &Gaussian,
        estimates: Estimates,
        sampled: Option<Sampled>,
        origin: Origin,
    ) -> Fit {
        let Estimates { elbo, mass, khat, proposal, draws, outputs, gaussian, kept, findings, .. } =
            estimates;
        let (path, gradients) = (origin.path, origin.gradients);
        let fit = Fit {
            status: origin.ending,
            path,
            mean: q.mean.clone(),
            factor: q.factor.clone(),
            elbo: elbo.mean,
            elbo_se: elbo.error,
            log_evidence: mass.log,
            gap_nats: origin.gap,
            half_variance: elbo.half_variance,
            khat,
            proposal,
            draws,
            gradients,
            seconds: origin.clock.elapsed().as_secs_f64(),
            as_declared: origin.as_declared,
            outputs,
            gaussian,
            kept,
            chains: None,
            findings,
            trace: Vec::new(),
        };
        let fit = match sampled {
            Some(sampled) => fit.sampled(sampled),
            None => fit,
        };
        fit.noting(origin.findings)
    }

    /// With what chains found in the place of what weighted draws did.
    fn sampled(self, sampled: Sampled) -> Fit {
        let told = sampled.chains.finding();
        Fit {
            path: Path::Nuts,
            gradients: self.gradients + sampled.gradients,
            outputs: sampled.outputs,
            kept: sampled.kept,
            findings: sampled.findings,
            chains: Some(sampled.chains),
            ..self
        }
        .noting([told])
    }

    /// With more findings.
    pub fn noting(mut self, findings: impl IntoIterator<Item = Finding>) -> Fit {
        self.findings.extend(findings);
        self
    }
}

/// How an approximation was found: what a fit says beside what its draws do.
#[derive(Clone, Debug)]
pub struct Origin {
    /// How the search for it ended.
    pub ending: Ending,
    /// What was done.
    pub path: Path,
    /// What is left to gain, in nats; not a number where nobody says.
    pub gap: f64,
    /// Gradients evaluated.
    pub gradients: usize,
    /// Whether it is in the coordinates of the target as given.
    pub as_declared: bool,
    /// What was found out on the way.
    pub findings: Vec<Finding>,
    /// When the search for it began.
    pub clock: Instant,
}

impl Origin {
    /// Of a Gaussian in the coordinates of the target as given, by variational inference of some kind.
    pub fn new(ending: Ending, gap: f64, gradients: usize, clock: Instant) -> Origin {
        let (path, findings) = (Path::Variational, Vec::new());
        Origin { ending, path, gap, gradients, as_declared: true, findings, clock }
    }
}
