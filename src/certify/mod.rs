//! Constants and guarantees read off a model: is the log density concave, how strongly, how smooth, and if
//! not, where not.
//!
//! Soundness is absolute: every bound holds for all coordinates, by the facts that operations declare and the
//! rules of `ridge` and `shape`. What is not covered is not certified.

mod bowl;
mod counts;
mod like;
mod radial;
mod reason;
mod ridge;
mod shape;
mod sparse;
mod spectrum;
mod sums;
mod univariate;

pub use reason::Obstacle;

use crate::graph::NodeId;
use crate::lower::Lowered;
use crate::source::Span;
use crate::structure::Structure;
use ridge::{Findings, Reader, Ridges};
use spectrum::{End, Grams, Matrix, matrix};

/// What is certain about a log density on the unconstrained scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// It is quadratic: the posterior is Gaussian.
    Exact,
    /// Strongly log-concave and smooth.
    StronglyConcaveSmooth,
    /// Log-concave and smooth.
    ConcaveSmooth,
    /// Log-concave; no bound on the curvature.
    Concave,
    /// The curvature is bounded; not known to be log-concave.
    Smooth,
    /// Nothing is certain.
    None,
}

impl Tier {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Exact => "exact",
            Tier::StronglyConcaveSmooth => "strongly log-concave and smooth",
            Tier::ConcaveSmooth => "log-concave and smooth",
            Tier::Concave => "log-concave, not smooth",
            Tier::Smooth => "smooth, not log-concave",
            Tier::None => "none",
        }
    }

    /// What it means, in one sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Tier::Exact => "the log density is quadratic, so the posterior is Gaussian and is solved exactly",
            Tier::StronglyConcaveSmooth => {
                "the curvature of the log density lies between two positive constants everywhere"
            }
            Tier::ConcaveSmooth => "the log density is concave everywhere and its curvature is bounded",
            Tier::Concave => {
                "the log density is concave everywhere, but no constant is known to bound its curvature"
            }
            Tier::Smooth => "the curvature is bounded, but its sign is not known everywhere",
            Tier::None => "neither concavity nor a bound on the curvature could be established",
        }
    }
}

/// How much a statement contributes to a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The statement.
    pub span: Span,
    /// Its part of the constant: `vᵀ H v` of its own matrix along the direction `v` that attains the
    /// constant.
    pub part: f64,
}

/// What was found, with the reasons.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The tier.
    pub tier: Tier,
    /// Number of unconstrained coordinates.
    pub dimension: usize,
    /// No eigenvalue of minus the Hessian is below it anywhere; None if nothing is known.
    pub least: Option<f64>,
    /// No eigenvalue of minus the Hessian is above it anywhere; None if nothing is known.
    pub most: Option<f64>,
    /// Strong concavity in the coordinates in which the upper bound on the curvature is the identity.
    pub whitened: Option<f64>,
    /// The statements that contribute most to `most`.
    pub most_from: Vec<Share>,
    /// The statements that contribute most to `least`.
    pub least_from: Vec<Share>,
    /// What stands in the way of a better tier.
    pub obstacles: Vec<Obstacle>,
    /// Every bound behind the constants, by node.
    pub bounds: Vec<NodeBound>,
    /// The lower bound on minus the Hessian, [d, d], where it is certified and small enough to hold.
    pub least_matrix: Option<Vec<f64>>,
    /// The upper bound, likewise.
    pub most_matrix: Option<Vec<f64>>,
    /// The upper bound where it has many rows and few entries.
    pub most_sparse: Option<Sparse>,
}

/// A symmetric matrix with few entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Sparse {
    /// The places (row ≥ column) of the entries, every diagonal one among them.
    pub pairs: Vec<(u32, u32)>,
    /// The entries.
    pub values: Vec<f64>,
}

/// The bounds that one operation of the graph contributes.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeBound {
    /// The node.
    pub node: NodeId,
    /// Its operation.
    pub operation: String,
    /// The statement.
    pub span: Span,
    /// Number of terms.
    pub terms: usize,
    /// Smallest and largest second derivative along an affine direction that any of them has, with the sign
    /// of minus the log density.
    pub least: f64,
    /// See `least`.
    pub most: f64,
}

impl Certificate {
    /// `M`: every eigenvalue of the Hessian lies between -M and M.
    pub fn smoothness(&self) -> Option<f64> {
        Some(self.most?.abs().max(self.least?.abs()))
    }

    /// `μ`, where the log density is certified concave.
    pub fn strong_concavity(&self) -> Option<f64> {
        self.least.filter(|m| *m >= 0.0)
    }
}

/// Most nodes of a recursion that is written out to be read; a longer one is a function that nothing is known
/// of.
const MOST_WRITTEN_OUT: usize = 100_000;

/// Certifies a lowered model.
pub fn certify(lowered: &Lowered) -> Certificate {
    match lowered.written_out(MOST_WRITTEN_OUT) {
        Some(written_out) => read(&written_out),
        None => read(lowered),
    }
}

fn read(lowered: &Lowered) -> Certificate {
    let roots: Vec<NodeId> = lowered.terms.iter().map(|t| t.node).collect();
    let structure = Structure::new(&lowered.graph, &roots, lowered.dimension);
    let mut reader = Reader::new(&structure);
    let mut findings = Findings::default();
    for (term, root) in roots.iter().enumerate() {
        let Some(expansion) = structure.expand(*root) else { continue };
        // Numbers that are not finite have no form of their own, so they stay as atoms.
        let stuck = expansion.atoms.iter().any(|a| lowered.graph.node(a.node).constant().is_some());
        if stuck || !expansion.is_finite() {
            return impossible(lowered, term);
        }
        expansion.atoms.iter().for_each(|atom| reader.read(term, atom, &mut findings));
    }
    let settled = like::settle(&findings.like);
    findings.ridges.extend(settled);
    conclude(lowered, &structure, &findings)
}

/// A certificate of nothing: the log density is not finite.
fn impossible(lowered: &Lowered, term: usize) -> Certificate {
    let reason = "this is minus infinity or not a number whatever the parameters are".to_string();
    let obstacle = Obstacle {
        span: lowered.terms[term].span,
        reason,
        help: "check the data against the support".into(),
    };
    Certificate { obstacles: vec![obstacle], ..blank(Tier::None, lowered.dimension) }
}

fn blank(tier: Tier, dimension: usize) -> Certificate {
    Certificate {
        tier,
        dimension,
        least: None,
        most: None,
        whitened: None,
        most_from: Vec::new(),
        least_from: Vec::new(),
        obstacles: Vec::new(),
        bounds: Vec::new(),
        least_matrix: None,
        most_matrix: None,
        most_sparse: None,
    }
}

fn conclude(lowered: &Lowered, structure: &Structure, findings: &Findings) -> Certificate {
    let d = lowered.dimension;
    let all: Vec<&Ridges> = findings.ridges.iter().collect();
    let thetas = || all.iter().flat_map(|r| r.rows.iter().map(|(_, theta)| *theta));
    let bounded_below = thetas().all(|t| t.lo > f64::NEG_INFINITY) && findings.rest.iter().all(|r| r.concave);
    let bounded_above = thetas().all(|t| t.hi < f64::INFINITY) && findings.rest.is_empty();
    let nowhere_convex = bounded_below && thetas().all(|t| t.lo >= 0.0);
    let quadratic = bounded_below && bounded_above && thetas().all(|t| t.lo == t.hi);

    let mut certificate = blank(Tier::None, d);
    certificate.bounds = node_bounds(lowered, findings);
    let mut grams = Grams::default();
    let high = if bounded_above { matrix(d, &all, End::Most, &mut grams) } else { None };
    let low = if bounded_below { matrix(d, &all, End::Least, &mut grams) } else { None };
    certificate.least = low.as_ref().and_then(Matrix::least);
    if nowhere_convex {
        let least = certificate.least.unwrap_or_else(|| spectrum::separate_least(d, &all));
        certificate.least = Some(least.max(0.0));
    }
    certificate.most = match &high {
        Some(m) => m.most(),
        None => bounded_above.then(|| spectrum::size(d, &all, End::Most)).filter(|x| x.is_finite()),
    };
    if let (Some(low), Some(high)) = (&low, &high) {
        let floor = if nowhere_convex { 0.0 } else { f64::NEG_INFINITY };
        certificate.whitened = low.relative_to(high).map(|mu| mu.max(floor));
    }
    certificate.most_from =
        high.as_ref().map_or(Vec::new(), |m| shares(lowered, &all, m, End::Most, certificate.most));
    certificate.least_from =
        low.as_ref().map_or(Vec::new(), |m| shares(lowered, &all, m, End::Least, certificate.least));
    certificate.least_matrix = low.as_ref().and_then(|m| m.dense(End::Least));
    certificate.most_matrix = high.as_ref().and_then(|m| m.dense(End::Most));
    certificate.most_sparse = high.as_ref().and_then(|m| m.sparse(End::Most));

    let concave = certificate.least.is_some_and(|m| m >= 0.0);
    let strongly = certificate.least.is_some_and(|m| m > 0.0);
    certificate.tier = match (quadratic && strongly, concave, strongly, certificate.most.is_some()) {
        (true, ..) => Tier::Exact,
        (false, true, true, true) => Tier::StronglyConcaveSmooth,
        (false, true, false, true) => Tier::ConcaveSmooth,
        (false, true, _, false) => Tier::Concave,
        (false, false, _, true) if certificate.least.is_some() => Tier::Smooth,
        (false, false, ..) => Tier::None,
    };
    certificate.obstacles = reason::obstacles(lowered, structure, findings, concave);
    certificate
}

fn node_bounds(lowered: &Lowered, findings: &Findings) -> Vec<NodeBound> {
    findings
        .ridges
        .iter()
        .filter(|r| !r.rows.is_empty())
        .map(|r| NodeBound {
            node: r.node,
            operation: reason::operation(lowered, r.node),
            span: lowered.terms[r.term].span,
            terms: r.rows.len(),
            least: r.rows.iter().fold(f64::INFINITY, |m, (_, t)| m.min(t.lo)),
            most: r.rows.iter().fold(f64::NEG_INFINITY, |m, (_, t)| m.max(t.hi)),
        })
        .collect()
}

/// Parts shown of a constant.
const SHOWN: usize = 3;

/// `λ = vᵀ H v = Σ over statements of vᵀ H_s v`: the largest parts.
fn shares(lowered: &Lowered, ridges: &[&Ridges], whole: &Matrix, end: End, value: Option<f64>) -> Vec<Share> {
    let Some(v) = value.and_then(|value| whole.direction(end, value)) else { return Vec::new() };
    let mut parts: Vec<Share> = Vec::new();
    for ridge in ridges {
        let along = |r: usize| {
            let (columns, values) = ridge.affine.row(r);
            columns.iter().zip(values).map(|(&c, x)| v[c as usize] * x).sum::<f64>()
        };
        let bound = |theta: crate::facts::Interval| if end == End::Most { theta.hi } else { theta.lo };
        let bent = ridge.rows.iter().map(|&(r, theta)| (r, bound(theta))).filter(|(_, bound)| *bound != 0.0);
        let part: f64 = bent.map(|(r, bound)| bound * along(r).powi(2)).sum();
        let span = lowered.terms[ridge.term].span;
        match parts.iter_mut().find(|s| s.span == span) {
            Some(share) => share.part += part,
            None => parts.push(Share { span, part }),
        }
    }
    parts.retain(|share| share.part != 0.0);
    parts.sort_by(|a, b| b.part.abs().total_cmp(&a.part.abs()));
    parts.truncate(SHOWN);
    parts
}
