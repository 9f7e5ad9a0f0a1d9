//! The normal distribution, by mean and standard deviation.

use super::jets;
use super::row::{ArgSpec, Density, Distribution, Noncentered, Part, Probe, Sampler, Support};
use super::shared::{location_scale, shifted};
use super::std_normal;
use crate::facts::{Interval, Jet, known};
use crate::num::real::HALF_LN_2PI;
use crate::num::special as sf;
use crate::ops::scalar::{Facts, scalar_row};
use rand_distr::{Distribution as _, StandardNormal};

scalar_row! {
    JOINT = "normal"(x, mu, sigma), "-((x - mu) / sigma)² / 2";
    value ((x - mu) * sigma.recip()).square().scale(-0.5);
    slopes(_y) { let r = sigma.recip(); let z = (x - mu) * r; [-(z * r), z * r, z.square() * r] };
    probes [&[0.3, 1.0, 2.0], &[-30.0, 1.0, 0.5], &[1e3, 0.0, 1e4]];
    // Quadratic in x and in mu; in sigma -r²/2 · sigma^-2, and -r²/2 · e^(-2t) for sigma = e^t.
    facts Facts::difference_with_log(
        (0, 1),
        |a, k| {
            if k == 2 {
                let c: [f64; 3] = known::fixed(a, k)?;
                return if a[2].is_nonnegative() {
                    Some(known::power(a[2], -2.0)?.scaled(-0.5 * (c[0] - c[1]).powi(2)))
                } else {
                    None
                };
            }
            jets::location(a, k, [0, 1, 2], known::normal)
        },
        |a, k| jets::log_scale(a, k, [0, 1, 2], half_square)
    )
}

scalar_row! {
    SCALE = "normal.scale"(sigma), "-log sigma - log √(2π)";
    value -(sigma.ln()).shift(HALF_LN_2PI);
    slopes(_y) [-sigma.recip()];
    factored 1.0 (at, _need) {
        let [plain, factor] = at[0].ln_by_factor();
        (-plain.shift(HALF_LN_2PI), factor, [-at[0].recip()])
    };
    probes [&[0.3], &[1e-6], &[1e6]];
    facts Facts::with_log(
        |a, _| jets::minus_log(a[0], -HALF_LN_2PI),
        |t, _| jets::minus_log_of_exp(t[0], -HALF_LN_2PI),
    )
}

scalar_row! {
    /// Both parts of the log density, by the variance: plans use it where that is at hand.
    VARIANCE = "normal.variance"(x, mu, v), "-(x - mu)² / (2 v) - log(v) / 2 - log √(2π)";
    value {
        let (log, p) = v.ln_and_recip();
        ((x - mu).square() * p + log).scale(-0.5).shift(-HALF_LN_2PI)
    };
    slopes(_y) {
        let (d, p) = (x - mu, v.ln_and_recip().1);
        let z = d * p;
        [-z, z, ((d * z).shift(-1.0) * p).scale(0.5)]
    };
    both(at, _need) {
        let [x, mu, v] = at;
        let (d, (log, p)) = (x - mu, v.ln_and_recip());
        let z = d * p;
        let square = d * z;
        let value = (square + log).scale(-0.5).shift(-HALF_LN_2PI);
        (value, [-z, z, (square.shift(-1.0) * p).scale(0.5)])
    };
    factored 0.5 (at, _need) {
        let [x, mu, v] = at;
        let (d, p, [plain, factor]) = (x - mu, v.recip(), v.ln_by_factor());
        let z = d * p;
        let square = d * z;
        let value = (square + plain).scale(-0.5).shift(-HALF_LN_2PI);
        (value, factor, [-z, z, (square.shift(-1.0) * p).scale(0.5)])
    };
    probes [&[0.3, 1.0, 2.0], &[-30.0, 1.0, 0.5], &[1e3, 0.0, 1e4]]
}

scalar_row! {
    LCDF = "normal_lcdf"(x, mu, sigma), "log Φ((x - mu) / sigma)";
    value ((x - mu) / sigma).log_phi();
    slopes(_y) { let z = (x - mu) / sigma; location_scale(z.phi_ratio(), z, sigma) };
    probes [&[0.3, 1.0, 2.0], &[-30.0, 1.0, 0.9], &[9.0, 0.0, 2.0]];
    facts Facts::difference((0, 1), |a, k| jets::location(a, k, [0, 1, 2], known::log_phi))
}

scalar_row! {
    LCCDF = "normal_lccdf"(x, mu, sigma), "log Φ((mu - x) / sigma)";
    value ((mu - x) / sigma).log_phi();
    slopes(_y) { let z = (x - mu) / sigma; location_scale(-(-z).phi_ratio(), z, sigma) };
    probes [&[0.3, 1.0, 2.0], &[30.0, 1.0, 0.9], &[-9.0, 0.0, 2.0]];
    facts Facts::difference((0, 1), |a, k| {
        jets::location(a, k, [0, 1, 2], |z| Some(known::log_phi(-z)?.stretched(-1.0)))
    })
}

/// -z²/2 in t = log |z|.
pub(super) fn half_square(t: Interval) -> Option<Jet> {
    Some(known::exp(t.scale(2.0))?.stretched(2.0).scaled(-0.5))
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "normal",
    doc: "normal with mean mu and standard deviation sigma",
    formula: "-0.5 * ((x - mu) / sigma)^2 - log(sigma) - 0.5 * log(2 * pi())",
    args: &[ArgSpec::real("mu"), ArgSpec::positive("sigma")],
    support: Support::REAL,
    discrete: false,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1, 2] }, Part { row: &SCALE, of: &[2] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| a[0] + a[1] * sf::inv_phi(p)),
    sample: Sampler::Number(|rng, a| {
        let z: f64 = StandardNormal.sample(rng);
        a[0] + a[1] * z
    }),
    noncentered: Some(Noncentered {
        base: &std_normal::ROW,
        base_args: &[],
        build: |b, z, a| shifted(b, z, a[0], a[1]),
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[1.0], &[2.0]] },
        Probe { x: &[-30.0], args: &[&[1.0], &[0.5]] },
        Probe { x: &[2.0], args: &[&[1e3], &[1e2]] },
    ],
};
