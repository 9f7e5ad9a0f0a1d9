//! Elementary functions against the standard library, and the same bits in registers of every width.

use super::*;
use crate::num::dispatch::{LaneWork, Level, View, lanes_at};
use crate::num::gaussian;
use crate::num::real::{F8, Real};
use crate::num::stream::Stream;

type Scalar = fn(f64) -> f64;

/// Name, our function, the standard one, and how far apart they may be.
const FUNCTIONS: [(&str, Scalar, Scalar, u64); 10] = [
    ("exp", exp, f64::exp, 2),
    ("expm1", expm1, f64::exp_m1, 2),
    ("ln", ln, f64::ln, 2),
    ("log1p", log1p, f64::ln_1p, 2),
    ("tanh", tanh, f64::tanh, 3),
    ("exp of a lane", Real::exp, f64::exp, 2),
    ("expm1 of a lane", Real::expm1, f64::exp_m1, 2),
    ("ln of a lane", Real::ln, f64::ln, 2),
    ("log1p of a lane", Real::log1p, f64::ln_1p, 2),
    ("tanh of a lane", Real::tanh, f64::tanh, 3),
];

/// Distance in representable numbers.
fn ulps(a: f64, b: f64) -> u64 {
    if a == b || (a.is_nan() && b.is_nan()) {
        return 0;
    }
    let order = |x: f64| if x < 0.0 { -((x.to_bits() & (u64::MAX >> 1)) as i64) } else { x.to_bits() as i64 };
    order(a).abs_diff(order(b))
}

/// The standard library is within 1 ulp of the truth, so we are within 1 more than what is asserted here; the
/// exact errors are held by `tests/kernels/special.rs`.
#[test]
fn close_to_the_standard_library_on_dense_grids() {
    let mut stream = Stream::new(7, 0, 0);
    for (name, ours, theirs, apart) in FUNCTIONS {
        for _ in 0..200_000 {
            let u = stream.uniform();
            let (wide, near, bits) = (2000.0 * u - 1000.0, 4.0 * u - 2.0, f64::from_bits(stream.bits()));
            for x in [wide, near, wide.abs().sqrt(), bits, near * 1e-8] {
                let (got, expected) = (ours(x), theirs(x));
                assert!(ulps(got, expected) <= apart, "{name}({x:e}) = {got:e} against {expected:e}");
            }
        }
    }
}

#[test]
fn powers_are_those_of_the_standard_library() {
    let mut stream = Stream::new(11, 0, 0);
    for _ in 0..200_000 {
        let (u, v) = (stream.uniform(), stream.normal());
        let bits = f64::from_bits(stream.bits());
        for (a, b) in [(u, 3.0 * v), (1.0 + 1e-4 * v, 1e5 * u), (100.0 * u, 60.0 * v), (bits, v), (u, bits)] {
            for got in [Real::pow(a, b), F8([a; 8]).pow(F8([b; 8])).0[5]] {
                let expected = a.powf(b);
                assert!(ulps(got, expected) <= 3, "{a:e}^{b:e} = {got:e} against {expected:e}");
            }
        }
    }
    let ends = [0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.5, 1e-310, 1e300, f64::INFINITY, -f64::INFINITY, f64::NAN];
    for a in ends {
        for b in ends {
            assert!(ulps(Real::pow(a, b), a.powf(b)) <= 1, "{a:e}^{b:e} = {:e}", Real::pow(a, b));
        }
    }
}

#[test]
fn special_values() {
    let inf = f64::INFINITY;
    let tiny = f64::from_bits(3);
    for (name, ours, theirs, _) in FUNCTIONS {
        for x in
            [0.0, -0.0, 1.0, -1.0, inf, -inf, f64::NAN, tiny, -tiny, f64::MAX, f64::MIN, f64::MIN_POSITIVE]
        {
            let (got, expected) = (ours(x), theirs(x));
            assert!(ulps(got, expected) <= 1, "{name}({x:e}) = {got:e} against {expected:e}");
            assert!(
                expected != 0.0 || got.is_sign_negative() == expected.is_sign_negative(),
                "{name}({x:e})"
            );
        }
    }
    assert_eq!(exp(-745.2), 0.0);
    assert!(exp(-745.1) > 0.0 && exp(709.78).is_finite() && exp(709.79) == inf);
    assert_eq!((inv_logit(inf), inv_logit(-inf), inv_logit(0.0)), (1.0, 0.0, 0.5));
    assert_eq!((log1p_exp(inf), log1p_exp(-inf), log1p_exp(1e300)), (inf, 0.0, 1e300));
    assert!(log1p_exp(f64::NAN).is_nan() && inv_logit(f64::NAN).is_nan());
}

#[test]
fn value_and_slope_together_are_those_by_themselves() {
    let mut stream = Stream::new(9, 0, 0);
    for round in 0..200_000 {
        let x = stream.normal() * [0.001, 1.0, 10.0, 300.0][round % 4];
        let (value, slope) = log1p_exp_and_slope(x);
        assert!(ulps(value, log1p_exp(x)) <= 3, "log1p_exp({x:e})");
        assert!(ulps(slope, inv_logit(x)) <= 3, "inv_logit({x:e})");
    }
    let inf = f64::INFINITY;
    for (x, expected) in [(inf, (inf, 1.0)), (-inf, (0.0, 0.0)), (0.0, (std::f64::consts::LN_2, 0.5))] {
        assert_eq!(log1p_exp_and_slope(x), expected);
    }
    let (value, slope) = log1p_exp_and_slope(f64::NAN);
    assert!(value.is_nan() && slope.is_nan());
}

#[test]
fn logarithm_and_reciprocal_together_are_those_by_themselves() {
    let mut stream = Stream::new(10, 0, 0);
    for _ in 0..200_000 {
        let (bits, near) = (f64::from_bits(stream.bits() >> 1), 3.0 * stream.uniform());
        for x in [bits, near, 1.0 + 1e-3 * stream.normal(), near * 1e-9] {
            let (log, recip) = ln_and_recip(x);
            assert!(ulps(log, ln(x)) <= 2, "ln({x:e}) = {log:e} against {:e}", ln(x));
            assert!(ulps(recip, 1.0 / x) <= 2, "1 / {x:e} = {recip:e} against {:e}", 1.0 / x);
            let (log, recip) = log1p_and_recip(x);
            assert!(ulps(log, log1p(x)) <= 2, "log1p({x:e}) = {log:e} against {:e}", log1p(x));
            assert!(ulps(recip, 1.0 / (1.0 + x)) <= 2, "1 / (1 + {x:e}) = {recip:e}");
        }
    }
    let inf = f64::INFINITY;
    assert_eq!((ln_and_recip(0.0), ln_and_recip(inf)), ((-inf, inf), (inf, 0.0)));
    assert_eq!((log1p_and_recip(0.0), log1p_and_recip(inf)), ((0.0, 1.0), (inf, 0.0)));
    for x in [-1.0, f64::NAN] {
        assert!(ln_and_recip(x).0.is_nan() && ln_and_recip(x).1.is_nan());
        assert!(log1p_and_recip(x).0.is_nan() && log1p_and_recip(x).1.is_nan());
    }
}

struct ByFactor(F8);

impl LaneWork<F8> for ByFactor {
    type Out = [F8; 5];
    #[inline(always)]
    fn run<U: Real>(self, view: View<F8, U>) -> [F8; 5] {
        let x = view.value(self.0);
        let ([a, b], [c, d, e]) = (x.ln_by_factor(), x.log1p_exp_by_factor());
        [a, b, c, d, e].map(|x| view.back(x))
    }
}

#[test]
fn a_number_and_the_logarithm_of_a_factor_are_the_logarithm_and_come_with_the_slope() {
    let mut stream = Stream::new(11, 0, 0);
    let near = |got: f64, want: f64| {
        got == want || (got - want).abs() <= 1e-15 * want.abs().max(1.0) || got.is_nan() && want.is_nan()
    };
    for round in 0..20_000 {
        let x = F8(std::array::from_fn(|lane| match (round + lane / 4) % 4 {
            0 => stream.normal() * 30.0,
            1 => stream.exponential(),
            2 => f64::from_bits(stream.bits() >> 1),
            _ => [0.0, f64::INFINITY, 2.0_f64.next_down(), f64::MIN_POSITIVE / 8.0][lane % 4],
        }));
        for level in [Level::Baseline, Level::Avx2, Level::Avx512] {
            let [plain, factor, value, rest, slope] = lanes_at(level, ByFactor(x)).map(|y| y.0);
            for (lane, x) in x.0.into_iter().enumerate() {
                assert!(x < 0.0 || near(plain[lane] + ln(factor[lane]), ln(x)), "{level:?}: ln({x:e})");
                assert!(near(value[lane] + ln(rest[lane]), log1p_exp(x)), "{level:?}: log1p_exp({x:e})");
                assert!(
                    ulps(slope[lane], inv_logit(x)) <= 4,
                    "{level:?}: inv_logit({x:e}) = {:e}",
                    slope[lane]
                );
            }
        }
    }
}

struct All(F8);

impl LaneWork<F8> for All {
    type Out = [F8; 25];
    #[inline(always)]
    fn run<U: Real>(self, view: View<F8, U>) -> [F8; 25] {
        let x = view.value(self.0);
        let both = x.log1p_exp_and_slope();
        let (logs, shifted) = (x.ln_and_recip(), x.log1p_and_recip());
        [
            view.back(x.exp()),
            view.back(x.expm1()),
            view.back(x.ln()),
            view.back(x.log1p()),
            view.back(x.tanh()),
            view.back(x.inv_logit()),
            view.back(x.log1p_exp()),
            view.back(x.log1m_exp()),
            view.back(x.sin()),
            view.back(x.cos()),
            view.back(x.lgamma()),
            view.back(x.digamma()),
            view.back(x.erf()),
            view.back(x.erfc()),
            view.back(x.phi()),
            view.back(x.log_phi()),
            view.back(x.phi_ratio()),
            view.back(both.0),
            view.back(both.1),
            view.back(logs.0),
            view.back(logs.1),
            view.back(shifted.0),
            view.back(shifted.1),
            view.back(x.inv_phi()),
            view.back(x.pow(U::splat(1.7) - x)),
        ]
    }
}

/// The formulas for one number without fused multiply-add, and where they stand in what [`All`] gives.
const PLAIN: [(Scalar, usize); 14] = [
    (exp, 0),
    (expm1, 1),
    (ln, 2),
    (log1p, 3),
    (tanh, 4),
    (inv_logit, 5),
    (log1p_exp, 6),
    (gaussian::erf, 12),
    (gaussian::phi, 14),
    (gaussian::log_phi, 15),
    (|x| log1p_exp_and_slope(x).0, 17),
    (|x| log1p_exp_and_slope(x).1, 18),
    (|x| ln_and_recip(x).0, 19),
    (|x| log1p_and_recip(x).1, 22),
];

fn assert_same_bits(f: Scalar, x: F8, got: F8, level: Level) {
    for (x, got) in x.0.into_iter().zip(got.0) {
        let one = f(x);
        let same = one.to_bits() == got.to_bits() || (one.is_nan() && got.is_nan());
        assert!(same, "{level:?}, x = {x:e}: {one:e} against {got:e}");
    }
}

#[test]
fn every_instruction_set_gives_the_bits_of_one_number() {
    let scalars: [Scalar; 25] = [
        Real::exp,
        Real::expm1,
        Real::ln,
        Real::log1p,
        Real::tanh,
        Real::inv_logit,
        Real::log1p_exp,
        Real::log1m_exp,
        Real::sin,
        Real::cos,
        Real::lgamma,
        Real::digamma,
        Real::erf,
        Real::erfc,
        Real::phi,
        Real::log_phi,
        Real::phi_ratio,
        |x| x.log1p_exp_and_slope().0,
        |x| x.log1p_exp_and_slope().1,
        |x| x.ln_and_recip().0,
        |x| x.ln_and_recip().1,
        |x| x.log1p_and_recip().0,
        |x| x.log1p_and_recip().1,
        Real::inv_phi,
        |x| x.pow(1.7 - x),
    ];
    let mut stream = Stream::new(8, 0, 0);
    for round in 0..5000 {
        let x = F8(std::array::from_fn(|_| match round % 5 {
            0 => stream.normal() * 300.0,
            1 => stream.normal(),
            2 => stream.exponential() * 8.0,
            3 => stream.uniform(),
            _ => f64::from_bits(stream.bits()),
        }));
        for level in [Level::Avx2, Level::Avx512] {
            let found = lanes_at(level, All(x));
            scalars.iter().zip(found).for_each(|(f, got)| assert_same_bits(*f, x, got, level));
        }
        // Registers without fused multiply-add, which this processor may have as well: as the plain formula
        // for one number.
        let found = lanes_at(Level::Baseline, All(x));
        for (f, k) in PLAIN {
            assert_same_bits(f, x, found[k], Level::Baseline);
        }
    }
}
