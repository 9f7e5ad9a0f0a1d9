//! Student's t distribution, by degrees of freedom, location and scale.

use super::incomplete::{log_student, log_student_dnu, student_density, student_norm, student_norm_slope};
use super::jets;
use super::row::{ArgSpec, BaseArg, Density, Distribution, Noncentered, Part, Probe, Sampler, Support};
use super::shared::{MINUS_LOG, shifted};
use crate::facts::known;
use crate::num::real::Real;
use crate::num::special as sf;
use crate::ops::scalar::{Facts, scalar_row};
use rand_distr::{Distribution as _, StudentT};

scalar_row! {
    JOINT = "student_t"(x, nu, mu, sigma), "-(nu + 1) / 2 · log(1 + ((x - mu) / sigma)² / nu)";
    value nu.shift(1.0).scale(-0.5) * (((x - mu) / sigma).square() / nu).log1p();
    slopes(y) {
        let z = (x - mu) / sigma;
        let (pull, in_nu) = joint_slopes(z, nu, y);
        let g = pull / sigma;
        [g, in_nu, -g, -(g * z)]
    };
    probes [&[0.3, 4.0, 1.0, 2.0], &[-300.0, 1.5, 1.0, 0.5], &[9.0, 1e3, 0.0, 2.0]];
    facts Facts::difference_with_log(
        (0, 2),
        |a, k| {
            let nu = a[1].is_point().then_some(a[1].lo)?;
            jets::location(a, k, [0, 2, 3], |z| known::student(z, nu))
        },
        |a, k| {
            let nu = a[1].is_point().then_some(a[1].lo)?;
            jets::log_scale(a, k, [0, 2, 3], |t| known::student_log(t, nu))
        }
    )
}

scalar_row! {
    SHAPE = "student_t.shape"(nu), "-log B(nu / 2, 1/2) - log(nu) / 2";
    value student_norm(nu);
    slopes(_y) [student_norm_slope(nu)];
    probes [&[0.3], &[4.0], &[200.0]]
}

scalar_row! {
    LCDF = "student_t_lcdf"(x, nu, mu, sigma), "log P(X ≤ x), through the incomplete beta function";
    value log_student((x - mu) / sigma, nu);
    slopes(y, need) {
        let z = (x - mu) / sigma;
        let g = (student_density(z, nu) - y).exp() / sigma;
        [g, if need[1] { log_student_dnu(z, nu) } else { T::zero() }, -g, -(g * z)]
    };
    probes [&[0.3, 4.0, 1.0, 2.0], &[-300.0, 1.5, 1.0, 0.5], &[9.0, 30.0, 0.0, 2.0], &[-1.0, 0.6, 1.0, 2.0]]
}

scalar_row! {
    LCCDF = "student_t_lccdf"(x, nu, mu, sigma), "log P(X > x), through the incomplete beta function";
    value log_student((mu - x) / sigma, nu);
    slopes(y, need) {
        let z = (x - mu) / sigma;
        let g = -((student_density(z, nu) - y).exp() / sigma);
        [g, if need[1] { log_student_dnu(-z, nu) } else { T::zero() }, -g, -(g * z)]
    };
    probes [&[0.3, 4.0, 1.0, 2.0], &[300.0, 1.5, 1.0, 0.5], &[-9.0, 30.0, 0.0, 2.0], &[3.0, 0.6, 1.0, 2.0]]
}

/// Slopes in z and nu of -(nu + 1) / 2 · log(1 + z² / nu), whose value is y.
#[inline(always)]
pub(super) fn joint_slopes<T: Real>(z: T, nu: T, y: T) -> (T, T) {
    let more = nu.shift(1.0);
    let pull = -(more * z / (nu + z.square()));
    (pull, y / more - (pull * z / nu).scale(0.5))
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "student_t",
    doc: "Student's t with nu degrees of freedom, location mu and scale sigma",
    formula: "-0.5 * (nu + 1) * log1p(((x - mu) / sigma)^2 / nu) - lbeta(0.5 * nu, 0.5) - 0.5 * log(nu) - log(sigma)",
    args: &[ArgSpec::positive("nu"), ArgSpec::real("mu"), ArgSpec::positive("sigma")],
    support: Support::REAL,
    discrete: false,
    event: 0,
    density: Density::Parts(&[
        Part { row: &JOINT, of: &[0, 1, 2, 3] },
        Part { row: &SHAPE, of: &[1] },
        Part { row: &MINUS_LOG, of: &[3] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| a[1] + a[2] * sf::inv_student_t_cdf(p, a[0])),
    sample: Sampler::Number(|rng, a| {
        let t: f64 = StudentT::new(a[0]).map_or(f64::NAN, |t| t.sample(rng));
        a[1] + a[2] * t
    }),
    noncentered: Some(Noncentered {
        base: &ROW,
        base_args: &[BaseArg::Arg(0), BaseArg::Number(0.0), BaseArg::Number(1.0)],
        build: |b, z, a| shifted(b, z, a[1], a[2]),
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[4.0], &[1.0], &[2.0]] },
        Probe { x: &[-300.0], args: &[&[1.5], &[1.0], &[0.5]] },
        Probe { x: &[12.0], args: &[&[40.0], &[1.0], &[1.5]] },
    ],
};
