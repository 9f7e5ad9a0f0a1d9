//! The normal distribution, by mean and standard deviation.

use super::row::{ArgSpec, Density, Distribution, Noncentered, Part, Probe, Sampler, Support};
use super::shared::{location_scale, log_phi, phi_ratio, shifted};
use super::std_normal;
use crate::facts::{Interval, Jet};
use crate::num::real::HALF_LN_2PI;
use crate::num::special as sf;
use crate::ops::scalar::{Facts, scalar_row};
use rand_distr::{Distribution as _, StandardNormal};

scalar_row! {
    JOINT = "normal"(x, mu, sigma), "-((x - mu) / sigma)² / 2";
    value ((x - mu) * sigma.recip()).square().scale(-0.5);
    slopes(_y) { let r = sigma.recip(); let z = (x - mu) * r; [-(z * r), z * r, z.square() * r] };
    probes [&[0.3, 1.0, 2.0], &[-30.0, 1.0, 0.5], &[1e3, 0.0, 1e4]];
    // Quadratic in x and in mu: the second derivative is -1/sigma² exactly.
    facts Facts::difference((0, 1), |a, k| {
        let precision = Interval::point(a[2].lo.powi(-2));
        let residual = a[0] - a[1];
        let pull = if k == 0 { -residual } else { residual };
        (k < 2).then(|| Jet::new((residual.square() * precision).scale(-0.5), pull * precision, -precision))
    })
}

scalar_row! {
    SCALE = "normal.scale"(sigma), "-log sigma - log √(2π)";
    value -(sigma.ln()).shift(HALF_LN_2PI);
    slopes(_y) [-sigma.recip()];
    probes [&[0.3], &[1e-6], &[1e6]]
}

scalar_row! {
    LCDF = "normal_lcdf"(x, mu, sigma), "log Φ((x - mu) / sigma)";
    value log_phi((x - mu) / sigma);
    slopes(_y) { let z = (x - mu) / sigma; location_scale(phi_ratio(z), z, sigma) };
    probes [&[0.3, 1.0, 2.0], &[-30.0, 1.0, 0.9], &[9.0, 0.0, 2.0]]
}

scalar_row! {
    LCCDF = "normal_lccdf"(x, mu, sigma), "log Φ((mu - x) / sigma)";
    value log_phi((mu - x) / sigma);
    slopes(_y) { let z = (x - mu) / sigma; location_scale(-phi_ratio(-z), z, sigma) };
    probes [&[0.3, 1.0, 2.0], &[30.0, 1.0, 0.9], &[-9.0, 0.0, 2.0]]
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
    probes: &[
        Probe { x: &[0.3], args: &[&[1.0], &[2.0]] },
        Probe { x: &[-30.0], args: &[&[1.0], &[0.5]] },
        Probe { x: &[2.0], args: &[&[1e3], &[1e2]] },
    ],
};
