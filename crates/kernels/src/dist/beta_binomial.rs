//! The beta-binomial distribution: a binomial whose probability is beta(alpha, beta).

use super::count::{CHOOSE, RISE};
use super::row::{ArgSpec, Density, Distribution, Domain, End, Part, Probe, Sampler, Support};
use super::tails::{self, Counts};
use super::{count, draw};
use crate::num::real::Real;
use crate::num::rising;
use crate::ops::scalar::scalar_row;

scalar_row! {
    SHARE = "beta_binomial.share"(x, n, alpha, beta), "x log(alpha / (alpha + beta)) + (n - x) log(beta / (alpha + beta))";
    value -(x * (beta / alpha).log1p() + (n - x) * (alpha / beta).log1p());
    slopes(_y, need) {
        let total = (alpha + beta).recip();
        [
            if need[0] { (alpha / beta).log1p() - (beta / alpha).log1p() } else { T::zero() },
            if need[1] { -((alpha / beta).log1p()) } else { T::zero() },
            (x * beta / alpha - (n - x)) * total,
            ((n - x) * alpha / beta - x) * total
        ]
    };
    probes [&[2.0, 5.0, 0.7, 3.0], &[0.0, 5.0, 30.0, 0.2], &[5.0, 5.0, 1e6, 1e5]]
}

scalar_row! {
    FAILURES = "beta_binomial.failures"(x, n, beta), "the rising factorial of beta with n - x factors";
    value (n - x).lrise(beta);
    slopes(_y, need) {
        let in_n = if need[0] || need[1] { rising::lrise_x(n - x, beta) } else { T::zero() };
        [-in_n, in_n, (n - x).lrise_a(beta)]
    };
    probes [&[2.0, 5.0, 0.7], &[0.0, 5.0, 30.0], &[5.0, 5.0, 2.0]]
}

scalar_row! {
    TRIALS = "beta_binomial.trials"(n, alpha, beta), "minus the rising factorial of alpha + beta with n factors";
    value -(n.lrise(alpha + beta));
    slopes(_y, need) {
        let in_n = if need[0] { rising::lrise_x(n, alpha + beta) } else { T::zero() };
        let slope = n.lrise_a(alpha + beta);
        [-in_n, -slope, -slope]
    };
    probes [&[5.0, 0.7, 3.0], &[0.0, 5.0, 30.0], &[50.0, 5.0, 2.0]]
}

scalar_row! {
    LCDF = "beta_binomial_lcdf"(x, n, alpha, beta), "log P(X ≤ x)";
    opaque(at) tails::lcdf_with_slopes::<Sum, T, 3, 4>(at);
    probes [&[2.0, 9.0, 1.3, 0.7], &[0.0, 25.0, 5.0, 3.0], &[18.0, 20.0, 0.3, 0.6]]
}

scalar_row! {
    LCCDF = "beta_binomial_lccdf"(x, n, alpha, beta), "log P(X > x)";
    opaque(at) tails::lccdf_with_slopes::<Sum, T, 3, 4>(at);
    probes [&[2.0, 9.0, 1.3, 0.7], &[0.0, 25.0, 5.0, 3.0], &[18.0, 20.0, 0.3, 0.6]]
}

/// The sums behind the cumulative probabilities. The number of trials is data: it has no slope.
struct Sum;

impl Counts<3> for Sum {
    fn log_pmf<T: Real>(k: T, [n, alpha, beta]: [T; 3]) -> T {
        let share = -(k * (beta / alpha).log1p() + (n - k) * (alpha / beta).log1p());
        let rise = k.lrise(alpha) + (n - k).lrise(beta) - n.lrise(alpha + beta);
        count::lchoose(n, k) + share + rise
    }
    fn ratio<T: Real>(k: T, [n, alpha, beta]: [T; 3]) -> (T, T) {
        ((n - k) * (alpha + k), k.shift(1.0) * (beta + n - k).shift(-1.0))
    }
    fn score<T: Real>(k: T, [n, alpha, beta]: [T; 3]) -> [T; 3] {
        let rest = n - k;
        let total = alpha + beta;
        let all = n.lrise_a(total);
        let in_alpha = k.lrise_a(alpha) - all + (k * beta / alpha - rest) / total;
        let in_beta = rest.lrise_a(beta) - all + (rest * alpha / beta - k) / total;
        [T::zero(), in_alpha, in_beta]
    }
    fn score_step<T: Real>(k: T, [n, alpha, beta]: [T; 3]) -> [T; 3] {
        [T::zero(), (alpha + k).recip(), -((beta + n - k).shift(-1.0).recip())]
    }
    fn mean([n, alpha, beta]: [f64; 3]) -> f64 {
        n * alpha / (alpha + beta)
    }
    fn last([n, _, _]: [f64; 3]) -> f64 {
        n
    }
    fn one_peak([_, alpha, beta]: [f64; 3]) -> bool {
        alpha >= 1.0 || beta >= 1.0
    }
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "beta_binomial",
    doc: "number of successes in N trials whose common probability is beta(alpha, beta)",
    formula: "lchoose(N, x) + lbeta(x + alpha, N - x + beta) - lbeta(alpha, beta)",
    args: &[
        ArgSpec { name: "N", domain: Domain::Count, rank: 0, default: None },
        ArgSpec { name: "alpha", domain: Domain::Positive, rank: 0, default: None },
        ArgSpec { name: "beta", domain: Domain::Positive, rank: 0, default: None },
    ],
    support: Support::Integers(End::At(0.0), End::Arg(0)),
    discrete: true,
    event: 0,
    density: Density::Parts(&[
        Part { row: &SHARE, of: &[0, 1, 2, 3] },
        Part { row: &RISE, of: &[0, 2] },
        Part { row: &FAILURES, of: &[0, 1, 3] },
        Part { row: &TRIALS, of: &[1, 2, 3] },
        Part { row: &CHOOSE, of: &[0, 1] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| tails::quantile(p, a[0] * a[1] / (a[1] + a[2]), a, &LCDF, &LCCDF)),
    sample: Sampler::Number(|rng, a| {
        let mut p = [0.0; 2];
        draw::dirichlet(rng, &a[1..], &mut p);
        draw::binomial(rng, a[0], p[0])
    }),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[2.0], args: &[&[5.0], &[0.3], &[0.7]] },
        Probe { x: &[0.0], args: &[&[20.0], &[5.0], &[1e-3]] },
        Probe { x: &[20.0], args: &[&[20.0], &[4.0], &[30.0]] },
        Probe { x: &[40.0], args: &[&[100.0], &[1e4], &[3e4]] },
    ],
};
