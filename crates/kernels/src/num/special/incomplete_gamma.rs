//! The incomplete gamma functions, regularised: P(a, x) = γ(a, x) / Γ(a) and Q = 1 - P.
//!
//! They are the cdf and its complement of the gamma law with shape a and rate 1, hence of the Poisson, the
//! χ², the inverse gamma and others. Each call computes the smaller tail directly, in logs, and the other
//! from it, so both keep their relative accuracy; derivatives in a come from the same formulas run on
//! [`Jet`]s.

use super::gamma::{digamma, digamma_rest, lgamma1p, stirling_rest};
use super::jet::{Jet, continued_fraction};
use super::normal::{erfcx, inv_phi};
use super::root::{Probe, increasing_root};
use std::f64::consts::{FRAC_2_SQRT_PI, PI};

/// Coefficients of the uniform expansion: the correction to the normal tail is
/// e^{-aη²/2} / √(2πa) · Σ_k a^-k Σ_n TEMME[k][n] η^n, good to 1e-17 for a ≥ 50 and |η| < 0.35.
const TEMME: [[f64; 16]; 9] = [
    [
        -0.3333333333333333,
        0.08333333333333333,
        -0.014814814814814815,
        0.0011574074074074073,
        0.0003527336860670194,
        -0.0001787551440329218,
        3.919263178522438e-05,
        -2.185448510679992e-06,
        -1.85406221071516e-06,
        8.296711340953087e-07,
        -1.7665952736826078e-07,
        6.707853543401498e-09,
        1.0261809784240309e-08,
        -4.382036018453353e-09,
        9.14769958223679e-10,
        -2.5514193994946248e-11,
    ],
    [
        -0.001851851851851852,
        -0.003472222222222222,
        0.0026455026455026454,
        -0.0009902263374485596,
        0.00020576131687242798,
        -4.018775720164609e-07,
        -1.8098550334489977e-05,
        7.64916091608111e-06,
        -1.6120900894563446e-06,
        4.647127802807434e-09,
        1.378633446915721e-07,
        -5.752545603517705e-08,
        1.1951628599778148e-08,
        -1.7543241719747647e-11,
        -1.0091543710600413e-09,
        4.162792991842583e-10,
    ],
    [
        0.004133597883597883,
        -0.0026813271604938273,
        0.0007716049382716049,
        2.0093878600823047e-06,
        -0.0001073665322636516,
        5.2923448829120125e-05,
        -1.2760635188618728e-05,
        3.423578734096138e-08,
        1.3721957309062934e-06,
        -6.298992138380055e-07,
        1.4280614206064242e-07,
        -2.0477098421990866e-10,
        -1.409252991086752e-08,
        6.228974084922022e-09,
        -1.3670488396617114e-09,
        9.428356159014678e-13,
    ],
    [
        0.0006494341563786008,
        0.00022947209362139917,
        -0.0004691894943952557,
        0.00026772063206283885,
        -7.561801671883977e-05,
        -2.396505113867297e-07,
        1.1082654115347302e-05,
        -5.6749528269915965e-06,
        1.4230900732435883e-06,
        -2.7861080291528143e-11,
        -1.6958404091930278e-07,
        8.099464905388083e-08,
        -1.9111168485973655e-08,
        2.3928620439808118e-12,
        2.0620131815488797e-09,
        -9.460496661855133e-10,
    ],
    [
        -0.0008618882909167117,
        0.0007840392217200666,
        -0.0002990724803031902,
        -1.4638452578843418e-06,
        6.641498215465122e-05,
        -3.968365047179435e-05,
        1.1375726970678419e-05,
        2.507497226237533e-10,
        -1.6954149536558305e-06,
        8.907507532205309e-07,
        -2.292934834000805e-07,
        2.956794137544049e-11,
        2.8865829742708783e-08,
        -1.4189739437803219e-08,
        3.4463580499464896e-09,
        -2.3024517174528067e-13,
    ],
    [
        -0.00033679855336635813,
        -6.972813758365857e-05,
        0.0002772753244959392,
        -0.00019932570516188847,
        6.797780477937208e-05,
        1.419062920643967e-07,
        -1.3594048189768693e-05,
        8.018470256334202e-06,
        -2.291481176508095e-06,
        -3.252473551298454e-10,
        3.4652846491085265e-07,
        -1.8447187191171344e-07,
        4.8240967037894184e-08,
        -1.7989466721743514e-14,
        -6.306194500013523e-09,
        3.162417628774568e-09,
    ],
    [
        0.0005313079364639922,
        -0.0005921664373536939,
        0.0002708782096718045,
        7.902353232660328e-07,
        -8.153969367561969e-05,
        5.61168275310625e-05,
        -1.8329116582843375e-05,
        -3.0796134506033047e-09,
        3.465155368803609e-06,
        -2.0291327396058603e-06,
        5.788792863149004e-07,
        2.338630673826657e-13,
        -8.828600746330484e-08,
        4.7435958880408125e-08,
        -1.2545415020710383e-08,
        8.649648858010293e-14,
    ],
    [
        0.00034436760689237765,
        5.171790908260592e-05,
        -0.00033493161081142234,
        0.0002812695154763237,
        -0.00010976582244684731,
        -1.2741009095484485e-07,
        2.7744451511563645e-05,
        -1.8263488805711332e-05,
        5.7876949497350525e-06,
        4.93875893393627e-10,
        -1.0595367014026043e-06,
        6.166714376110408e-07,
        -1.7562973359060463e-07,
        -1.297447328701544e-12,
        2.695423606288966e-08,
        -1.4578352908731272e-08,
    ],
    [
        -0.0006526239185953094,
        0.0008394987206720873,
        -0.000438297098541721,
        -6.969091458420552e-07,
        0.00016644846642067547,
        -0.00012783517679769218,
        4.629953263691304e-05,
        4.557909867922708e-09,
        -1.0595271125805195e-05,
        6.783342904865167e-06,
        -2.1075476666258803e-06,
        -1.7213731432817144e-11,
        3.773587741611098e-07,
        -2.1867506700122867e-07,
        6.220228804018927e-08,
        6.597703826733e-16,
    ],
];

/// The tail that was computed directly, as the log of its probability.
enum Tail<const N: usize> {
    Lower(Jet<N>),
    Upper(Jet<N>),
}

impl<const N: usize> Tail<N> {
    fn log_lower(self) -> Jet<N> {
        match self {
            Tail::Lower(log) => log,
            Tail::Upper(log) => log.log1m_exp(),
        }
    }

    fn log_upper(self) -> Jet<N> {
        match self {
            Tail::Lower(log) => log.log1m_exp(),
            Tail::Upper(log) => log,
        }
    }
}

/// μ - log(1 + μ) for μ > -1, without cancellation near 0; `ratio` is 1 + μ, known better where μ is near -1.
pub(super) fn log1p_gap(mu: f64, ratio: f64) -> f64 {
    if mu.abs() > 0.4 {
        return mu - ratio.ln();
    }
    // With s = μ / (2 + μ): log(1 + μ) = 2 (s + s³/3 + s⁵/5 + …) and μ - 2s = μ s.
    let s = mu / (2.0 + mu);
    let z = s * s;
    let series = (1..=12).rev().fold(0.0, |sum, k| sum * z + 1.0 / f64::from(2 * k + 1));
    s * (mu - 2.0 * z * series)
}

/// log [x^a e^-x / Γ(a + 1)].
fn log_prefix<const N: usize>(a: f64, x: f64) -> Jet<N> {
    let parameter = Jet::<N>::parameter(a, 0);
    if a < 10.0 {
        return parameter.lift_with(a * x.ln() - x - lgamma1p(a), || x.ln() - digamma(1.0 + a));
    }
    let mu = (x - a) / a;
    let value = -a * log1p_gap(mu, x / a) - stirling_rest(a) - 0.5 * (2.0 * PI * a).ln();
    parameter.lift_with(value, || log_ratio(a, x) - (0.5 / a - digamma_rest(a)))
}

/// log(x / a), without cancellation where they are close.
fn log_ratio(a: f64, x: f64) -> f64 {
    let mu = (x - a) / a;
    if mu.abs() < 0.5 { mu.ln_1p() } else { (x / a).ln() }
}

/// P / prefix = Σ x^n / ((a + 1) … (a + n)).
fn series<const N: usize>(a: f64, x: f64) -> Jet<N> {
    let a = Jet::<N>::parameter(a, 0);
    let mut term = Jet::new(1.0);
    let mut sum = term;
    for n in 1..1_000_000 {
        term = term * (Jet::new(x) / a.shift(f64::from(n)));
        sum = sum + term;
        if term.negligible(sum, 1e-17) {
            break;
        }
    }
    sum
}

/// Q / (a · prefix) = 1 / (x + 1 - a - 1·(1 - a) / (x + 3 - a - 2·(2 - a) / (x + 5 - a - …))).
fn fraction<const N: usize>(a: f64, x: f64) -> Jet<N> {
    let a = Jet::<N>::parameter(a, 0);
    continued_fraction(|n| (a.shift(-n).scale(n), (-a).shift(x + 2.0 * n + 1.0)))
}

/// Q for small x and a, where P is near 1:
/// Q = 1 - x^a / Γ(1 + a) · (1 + a Σ_{n ≥ 1} (-x)^n / ((a + n) n!)).
fn small_upper<const N: usize>(a: f64, x: f64) -> Jet<N> {
    let parameter = Jet::<N>::parameter(a, 0);
    let log_power = parameter.lift_with(a * x.ln() - lgamma1p(a), || x.ln() - digamma(1.0 + a));
    let mut power = 1.0;
    let mut sum = Jet::new(0.0);
    for n in 1..40 {
        let n = f64::from(n);
        power *= -x / n;
        let term = Jet::new(power) / parameter.shift(n);
        sum = sum + term;
        if term.negligible(sum, 1e-17) {
            break;
        }
    }
    let one_minus_power = log_power.lift(-log_power.v.exp_m1(), -log_power.v.exp());
    one_minus_power - log_power.exp() * parameter * sum
}

/// Temme's uniform expansion for large a and x near a.
fn uniform<const N: usize>(a: f64, x: f64) -> Tail<N> {
    let parameter = Jet::<N>::parameter(a, 0);
    let mu = (x - a) / a;
    let gap = log1p_gap(mu, x / a);
    // z² = a η²/2 = a (μ - log(1 + μ)); η and z carry the sign of μ.
    let eta_value = (2.0 * gap).sqrt().copysign(mu);
    let ratio = if eta_value == 0.0 { 1.0 } else { mu / eta_value };
    let eta = parameter.lift(eta_value, -ratio / a);
    let exponent = parameter.lift(-a * gap, mu.ln_1p());
    let z_value = eta_value * (0.5 * a).sqrt();
    let z_slope = eta_value * (0.125 / a).sqrt() - ratio / (2.0 * a).sqrt();
    let z = parameter.lift(z_value, z_slope);

    let inverse = Jet::new(1.0) / parameter;
    let mut sum = Jet::new(0.0);
    for row in TEMME.iter().rev() {
        let inner = row.iter().rev().fold(Jet::<N>::new(0.0), |s, c| (s * eta).shift(*c));
        sum = sum * inverse + inner;
    }
    let root = parameter.lift((2.0 * PI * a).sqrt(), (0.5 * PI / a).sqrt());
    let correction = sum / root;
    let scaled = |z: Jet<N>| {
        let e = erfcx(z.v);
        z.lift(0.5 * e, z.v * e - 0.5 * FRAC_2_SQRT_PI)
    };
    if mu < 0.0 {
        Tail::Lower(exponent + (scaled(-z) - correction).ln())
    } else {
        Tail::Upper(exponent + (scaled(z) + correction).ln())
    }
}

/// One tail of the law at x, for 0 < a, x < ∞.
fn tail<const N: usize>(a: f64, x: f64) -> Tail<N> {
    if a >= 50.0 && (x - a).abs() < 0.3 * a {
        return uniform(a, x);
    }
    if a < 1.0 && x < 1.5 && -a * x.ln() < 0.7 {
        return Tail::Upper(small_upper(a, x).ln());
    }
    if x < a || x < 1.5 {
        return Tail::Lower(log_prefix(a, x) + series(a, x).ln());
    }
    Tail::Upper(log_prefix::<N>(a, x) + Jet::parameter(a, 0).ln() + fraction(a, x).ln())
}

/// (log P, log Q) at the edges of the domain, or None inside it.
fn edges(a: f64, x: f64) -> Option<(f64, f64)> {
    if a.is_nan() || x.is_nan() || a < 0.0 || x < 0.0 || (a.is_infinite() && x.is_infinite()) {
        Some((f64::NAN, f64::NAN))
    } else if a == 0.0 || x.is_infinite() {
        Some((0.0, f64::NEG_INFINITY))
    } else if x == 0.0 || a.is_infinite() {
        Some((f64::NEG_INFINITY, 0.0))
    } else {
        None
    }
}

/// log P(a, x) for a ≥ 0, x ≥ 0; to 3e-15 (1 + |log P|), both tails included.
pub fn log_gamma_p(a: f64, x: f64) -> f64 {
    edges(a, x).map_or_else(|| tail::<0>(a, x).log_lower().v, |e| e.0)
}

/// log Q(a, x), as accurate as [`log_gamma_p`].
pub fn log_gamma_q(a: f64, x: f64) -> f64 {
    edges(a, x).map_or_else(|| tail::<0>(a, x).log_upper().v, |e| e.1)
}

/// P(a, x) = γ(a, x) / Γ(a), to 3e-15 (1 + |log P|) relative.
pub fn gamma_p(a: f64, x: f64) -> f64 {
    if let Some((log_p, _)) = edges(a, x) {
        return log_p.exp();
    }
    match tail::<0>(a, x) {
        Tail::Lower(log) => log.v.exp(),
        Tail::Upper(log) => -log.v.exp_m1(),
    }
}

/// Q(a, x) = 1 - P(a, x), to 3e-15 (1 + |log Q|) relative.
pub fn gamma_q(a: f64, x: f64) -> f64 {
    if let Some((_, log_q)) = edges(a, x) {
        return log_q.exp();
    }
    match tail::<0>(a, x) {
        Tail::Lower(log) => -log.v.exp_m1(),
        Tail::Upper(log) => log.v.exp(),
    }
}

/// ∂P(a, x)/∂a for a > 0, to 1e-11 relative; 0 at the ends of x.
pub fn gamma_p_da(a: f64, x: f64) -> f64 {
    if let Some((log_p, _)) = edges(a, x) {
        return if log_p.is_nan() || a == 0.0 { f64::NAN } else { 0.0 };
    }
    match tail::<1>(a, x) {
        Tail::Lower(log) => log.v.exp() * log.d[0],
        Tail::Upper(log) => -log.v.exp() * log.d[0],
    }
}

/// ∂ log P/∂a and ∂ log Q/∂a at (a, x): what log cdf and log complementary cdf need in their shape.
pub fn log_gamma_pq_da(a: f64, x: f64) -> (f64, f64) {
    if let Some((log_p, _)) = edges(a, x) {
        return if log_p.is_nan() || a == 0.0 { (f64::NAN, f64::NAN) } else { (0.0, 0.0) };
    }
    match tail::<1>(a, x) {
        Tail::Lower(log) => (log.d[0], log.log1m_exp().d[0]),
        Tail::Upper(log) => (log.log1m_exp().d[0], log.d[0]),
    }
}

/// ∂P/∂x = x^{a-1} e^-x / Γ(a), the density of the gamma law.
pub fn gamma_p_dx(a: f64, x: f64) -> f64 {
    if a.is_nan() || x.is_nan() || a <= 0.0 || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return if a < 1.0 { f64::INFINITY } else { f64::from(a == 1.0) };
    }
    if x.is_infinite() {
        return 0.0;
    }
    (log_prefix::<0>(a, x).v + a.ln() - x.ln()).exp()
}

/// The x with P(a, x) = p, to 1e-13 relative wherever p determines it; NaN unless a > 0 and 0 ≤ p ≤ 1.
pub fn inv_gamma_p(a: f64, p: f64) -> f64 {
    quantile(a, log1m_ln(p), p.ln())
}

/// The x with Q(a, x) = q, to 1e-13 relative: the quantile from the upper tail.
pub fn inv_gamma_q(a: f64, q: f64) -> f64 {
    quantile(a, q.ln(), log1m_ln(q))
}

/// log(1 - p)
fn log1m_ln(p: f64) -> f64 {
    (-p).ln_1p()
}

/// The quantile from the logs of both tail probabilities.
fn quantile(a: f64, log_q: f64, log_p: f64) -> f64 {
    if a.is_nan() || a <= 0.0 || a.is_infinite() || log_q.is_nan() || log_p.is_nan() {
        return f64::NAN;
    }
    if log_p == f64::NEG_INFINITY {
        return 0.0;
    }
    if log_q == f64::NEG_INFINITY {
        return f64::INFINITY;
    }
    // Newton in log x on the log of the smaller tail.
    let lower = log_p < log_q;
    let probe = |u: f64| {
        let x = u.exp();
        if x == 0.0 {
            return Probe { value: f64::NEG_INFINITY, slope: a };
        }
        let log_density = log_prefix::<0>(a, x).v + a.ln();
        if lower {
            let at = tail::<0>(a, x).log_lower().v;
            Probe { value: at - log_p, slope: (log_density - at).exp() }
        } else {
            let at = tail::<0>(a, x).log_upper().v;
            Probe { value: log_q - at, slope: (log_density - at).exp() }
        }
    };
    increasing_root(start(a, log_p, log_q), probe).exp()
}

/// A first guess of the log of the quantile: Wilson and Hilferty's cube, or the first term of the series.
fn start(a: f64, log_p: f64, log_q: f64) -> f64 {
    let first_term = (log_p + lgamma1p(a)) / a;
    let z = if log_p < log_q { inv_phi(log_p.exp()) } else { -inv_phi(log_q.exp()) };
    let cube = 1.0 - 1.0 / (9.0 * a) + z.clamp(-40.0, 40.0) / (3.0 * a.sqrt());
    if a < 0.5 || cube < 0.2 || first_term < (0.2 * a).ln() {
        first_term.min((a + 1.0 - log_q).ln())
    } else {
        a.ln() + 3.0 * cube.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_sum_to_one_and_methods_agree_where_they_meet() {
        for a in [0.01, 0.3, 0.999, 1.0, 3.0, 9.99, 10.0, 49.9, 50.1, 400.0, 1e5] {
            for r in [0.2, 0.699, 0.701, 0.99, 1.0, 1.01, 1.299, 1.301, 3.0] {
                let x = a * r;
                assert!((gamma_p(a, x) + gamma_q(a, x) - 1.0).abs() < 1e-14);
                let step = 1e-9;
                let slope = (gamma_p(a, x * (1.0 + step)) - gamma_p(a, x * (1.0 - step))) / (2.0 * step * x);
                let expected = gamma_p_dx(a, x);
                assert!(
                    (slope - expected).abs() < 2e-6 * expected + 1e-7 / x,
                    "a = {a}, x = {x}: {slope} {expected}"
                );
            }
        }
    }
}
