"""Reference values of the continuous distributions, by mpmath at 60 digits: writes distributions.json.

    python3 tests/reference/distributions.py        (needs mpmath)

One point a line: the log density, log P(X <= x) and log P(X > x) at x, and the quantile of p, the double nearest to
P(X <= x): the exact inverse at that double, x + (p - F(x)) / f(x), whose second-order term is below 1e-30.
"""

import json
import os

from mpmath import mp, mpf

mp.dps = 60
log, exp, sqrt, pi, inf = mp.log, mp.exp, mp.sqrt, mp.pi, mp.inf
gamma, phi = mp.loggamma, mp.ncdf


def lbeta(a, b):
    return gamma(a) + gamma(b) - gamma(a + b)


def upper_gamma(a, x):
    return mp.gammainc(a, x, inf, regularized=True)


def lower_gamma(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def reg_beta(a, b, x, rest):
    """I_x(a, b) for x + rest = 1, by the series in the smaller of the two, with digits to lose in 1 - I."""
    with mp.workdps(400):
        if x > mpf(1) / 2:
            return 1 - reg_beta(b, a, rest, x)
        series = mp.hyp2f1(a + b, 1, a + 1, x)
        return exp(a * log(x) + b * log(rest) - lbeta(a, b)) / a * series


def student_tail(z, nu):
    """P(T > z) for z > 0."""
    with mp.workdps(400):
        return reg_beta(nu / 2, mpf(1) / 2, nu / (nu + z * z), z * z / (nu + z * z)) / 2


def student_density(z, nu):
    return -lbeta(nu / 2, mpf(1) / 2) - log(nu) / 2 - (nu + 1) / 2 * log(1 + z * z / nu)


def student_cdf(z, nu):
    tail = student_tail(abs(z), nu)
    return (1 - tail, tail) if z > 0 else (tail, 1 - tail)


def cauchy_cdf(z):
    return mp.atan2(1, -z) / pi, mp.atan2(1, z) / pi


def laplace_cdf(z):
    low = exp(-abs(z)) / 2
    return (low, 1 - low) if z < 0 else (1 - low, low)


def outwards(f, start, end, scale):
    """The integral of f from start, where it is largest, to end, in pieces that double from the length of its fall."""
    sign = mp.sign(end - start)
    points, step = [start], scale / 4
    while abs(end - points[-1]) > step and len(points) < 200:
        points.append(points[-1] + sign * step)
        step *= mpf(3) / 2
    return abs(mp.quad(f, points + [end]))


def skew_cdf(z, a):
    """The smaller side by integrating 2 phi(t) Phi(a t) outwards from z, or from 0 where the density falls on both sides."""
    f = lambda t: 2 * mp.npdf(t) * phi(a * t)
    fall = lambda t: 1 / (1 + abs(t) + abs(a) * (1 + abs(a * t)))
    with mp.workdps(40):
        low, high = outwards(f, z, -mpf(45), fall(z)), outwards(f, z, mpf(45), fall(z))
        return (low, 1 - low) if low < high else (1 - high, high)


def emg_cdf(z, k):
    with mp.workdps(400):
        taken = exp(k * (k / 2 - z)) * phi(z - k)
        return phi(z) - taken, phi(-z) + taken


def inv_gaussian_cdf(x, m, l):
    with mp.workdps(900):
        a, b = sqrt(l / x) * (x / m - 1), sqrt(l / x) * (x / m + 1)
        second = exp(2 * l / m) * phi(-b)
        return phi(a) + second, phi(-a) - second


def von_mises_cdf(x, mu, kappa):
    """Each arc outwards from its ends and from the peaks of the cosine inside it."""
    f = lambda t: exp(kappa * (mp.cos(t - mu) - 1))

    def arc(a, b):
        cuts = [a] + [c for c in (mu + pi * n for n in range(-4, 5)) if a < c < b] + [b]
        total = mpf(0)
        for left, right in zip(cuts, cuts[1:]):
            start, end = (left, right) if f(left) > f(right) else (right, left)
            total += outwards(f, start, end, 1 / (kappa * abs(mp.sin(start - mu)) + sqrt(kappa) + 1))
        return total

    with mp.workdps(40):
        low, high = arc(-pi, x), arc(x, pi)
        whole = 2 * pi * mp.besseli(0, kappa) * exp(-kappa)
        return (low / whole, 1 - low / whole) if low < high else (1 - high / whole, high / whole)


def scaled(density, cdf):
    """A distribution of z = (x - location) / scale; the arguments after them go to the standard one."""
    return (
        lambda x, m, s, *a: density((x - m) / s, *a) - log(s),
        lambda x, m, s, *a: cdf((x - m) / s, *a),
    )


def half(density, cdf):
    """The positive half of a distribution about 0: twice the density, with the scale last."""
    return (
        lambda x, *a: log(2) + density(x / a[-1], *a[:-1]) - log(a[-1]),
        lambda x, *a: (cdf(x / a[-1], *a[:-1])[0] - cdf(-x / a[-1], *a[:-1])[0], 2 * cdf(x / a[-1], *a[:-1])[1]),
    )


NORMAL = (lambda z: -z * z / 2 - log(2 * pi) / 2, lambda z: (phi(z), phi(-z)))
CAUCHY = (lambda z: -log(1 + z * z) - log(pi), cauchy_cdf)
STUDENT = (student_density, student_cdf)

WIDE = (-1e3, -30.0, -4.5, -1.0, 0.3, 2.0, 9.0, 100.0)
POSITIVE = (1e-6, 0.02, 0.3, 1.0, 2.5, 9.0, 40.0, 1e3)
LOCATIONS = ((0.0, 1.0), (1.0, 2.0), (-3.0, 0.4), (1e3, 50.0))
SCALES = ((1.0,), (0.3,), (12.0,))


def near(xs):
    return lambda m, s, *_: [m + s * z for z in xs]


MODERATE = near((-12.0, -5.0, -1.5, -0.25, 0.0, 0.4, 2.0, 6.0, 25.0))
FIXED = lambda xs: lambda *_: xs


def with_shape(density, cdf):
    """Densities and probabilities of (x, shape) with the scale handled here: x / scale."""
    return (
        lambda x, a, s: density(x / s, a) - log(s),
        lambda x, a, s: cdf(x / s, a),
    )


GAMMA = (lambda x, a: (a - 1) * log(x) - x - gamma(a), lambda x, a: (lower_gamma(a, x), upper_gamma(a, x)))
INV_GAMMA = (lambda x, a: -(a + 1) * log(x) - 1 / x - gamma(a), lambda x, a: (upper_gamma(a, 1 / x), lower_gamma(a, 1 / x)))
WEIBULL = (
    lambda x, a: log(a) + (a - 1) * log(x) - x**a,
    lambda x, a: (-mp.expm1(-(x**a)), exp(-(x**a))),
)
FRECHET = (
    lambda x, a: log(a) - (a + 1) * log(x) - x**-a,
    lambda x, a: (exp(-(x**-a)), -mp.expm1(-(x**-a))),
)
LOGLOGISTIC = (
    lambda x, b: log(b) + (b - 1) * log(x) - 2 * log(1 + x**b),
    lambda x, b: (1 / (1 + x**-b), 1 / (1 + x**b)),
)


def rescaled(pair, shape, scale):
    """A distribution written as another one's shape and scale."""
    density, cdf = with_shape(*pair)
    return (
        lambda x, *a: density(x, shape(*a), scale(*a)),
        lambda x, *a: cdf(x, shape(*a), scale(*a)),
    )


def beta_pair(shapes):
    def density(x, *args):
        a, b = shapes(*args)
        return (a - 1) * log(x) + (b - 1) * log(1 - x) - lbeta(a, b)

    def cdf(x, *args):
        a, b = shapes(*args)
        with mp.workdps(400):
            return reg_beta(a, b, x, 1 - x), reg_beta(b, a, 1 - x, x)

    return density, cdf


SHAPES = ((0.2, 1.0), (1.0, 0.5), (2.5, 3.0), (30.0, 0.1), (400.0, 40.0))
TWO = mpf(2)


def around_gamma(shape, scale):
    """x values about the bulk and in the tails of gamma(shape, scale)."""
    return lambda *a: [scale(*a) * shape(*a) * f for f in (1e-4, 0.05, 0.5, 0.9, 1.0, 1.3, 2.0, 6.0)]


# Each name: (log density, (P(X <= x), P(X > x))), lists of arguments, and x values as a function of the arguments.
CATALOGUE = {
    "std_normal": ((lambda x: NORMAL[0](x), lambda x: NORMAL[1](x)), [()], FIXED((-37.0, -9.0, -1.0, 0.0, 0.3, 2.0, 8.0, 30.0))),
    "normal": (scaled(*NORMAL), LOCATIONS, MODERATE),
    "student_t": (
        (lambda x, nu, m, s: student_density((x - m) / s, nu) - log(s), lambda x, nu, m, s: student_cdf((x - m) / s, nu)),
        [(nu, *ms) for nu in (0.5, 1.0, 4.0, 30.0, 1e4) for ms in LOCATIONS[:2]],
        lambda nu, m, s: [m + s * z for z in (-1e3, -12.0, -1.5, -0.01, 0.4, 3.0, 40.0)],
    ),
    "cauchy": (scaled(*CAUCHY), LOCATIONS, near((-1e8, -1e3, -1.5, -0.5, 0.01, 0.9, 30.0, 1e6))),
    "double_exponential": (scaled(lambda z: -abs(z) - log(2), laplace_cdf), LOCATIONS, MODERATE),
    "logistic": (
        scaled(lambda z: -z - 2 * log(1 + exp(-z)), lambda z: (1 / (1 + exp(-z)), 1 / (1 + exp(z)))),
        LOCATIONS,
        near((-200.0, -5.0, -0.25, 0.4, 6.0, 60.0)),
    ),
    "gumbel": (
        scaled(lambda z: -z - exp(-z), lambda z: (exp(-exp(-z)), -mp.expm1(-exp(-z)))),
        LOCATIONS,
        near((-5.0, -2.0, -0.25, 0.0, 0.4, 6.0, 12.5, 60.0)),
    ),
    "skew_normal": (
        scaled(lambda z, a: log(2) + NORMAL[0](z) + log(phi(a * z)), skew_cdf),
        [(0.0, 1.0, 0.0), (1.0, 2.0, 1.5), (0.0, 1.0, -6.0), (-2.0, 0.5, 40.0)],
        near((-6.0, -1.5, -0.2, 0.0, 0.05, 0.7, 3.0)),
    ),
    "exp_mod_normal": (
        (
            lambda x, m, s, l: log(l) + l * (m - x + l * s * s / 2) + log(phi((x - m) / s - l * s)),
            lambda x, m, s, l: emg_cdf((x - m) / s, l * s),
        ),
        [(0.0, 1.0, 1.0), (1.0, 2.0, 0.05), (0.0, 1.0, 8.0), (-2.0, 0.5, 1e-4)],
        near((-9.0, -3.0, -0.5, 0.0, 0.3, 2.0, 8.0, 30.0)),
    ),
    "half_normal": (half(*NORMAL), SCALES, lambda s: [s * z for z in (1e-6, 0.1, 0.7, 1.5, 8.0, 30.0)]),
    "half_cauchy": (half(*CAUCHY), SCALES, lambda s: [s * z for z in (1e-6, 0.1, 0.9, 1.5, 80.0, 1e6)]),
    "half_student_t": (
        half(lambda z, nu: student_density(z, nu), lambda z, nu: student_cdf(z, nu)),
        [(nu, *s) for nu in (0.5, 3.0, 50.0) for s in SCALES[:2]],
        lambda nu, s: [s * z for z in (1e-6, 0.1, 0.9, 1.5, 9.0, 300.0)],
    ),
    "lognormal": (
        (lambda x, m, s: NORMAL[0]((log(x) - m) / s) - log(s * x), lambda x, m, s: NORMAL[1]((log(x) - m) / s)),
        [(0.0, 1.0), (1.0, 2.0), (-3.0, 0.4)],
        FIXED(POSITIVE),
    ),
    "loglogistic": (
        (lambda x, a, b: LOGLOGISTIC[0](x / a, b) - log(a), lambda x, a, b: LOGLOGISTIC[1](x / a, b)),
        [(1.0, 1.0), (0.5, 3.0), (7.0, 0.6)],
        FIXED(POSITIVE),
    ),
    "gamma": (
        rescaled(GAMMA, lambda a, b: a, lambda a, b: 1 / b),
        SHAPES,
        around_gamma(lambda a, b: a, lambda a, b: 1 / b),
    ),
    "inv_gamma": (
        rescaled(INV_GAMMA, lambda a, b: a, lambda a, b: b),
        SHAPES,
        lambda a, b: [b / a / f for f in (1e-4, 0.05, 0.5, 0.9, 1.0, 1.3, 2.0, 6.0)],
    ),
    "inv_gaussian": (
        (lambda x, m, l: (log(l) - log(2 * pi * x**3) - l * (x - m) ** 2 / (m * m * x)) / 2, inv_gaussian_cdf),
        [(1.0, 1.0), (0.5, 3.0), (7.0, 0.02), (2.0, 900.0)],
        lambda m, l: [m * f for f in (0.01, 0.3, 0.9, 1.0, 1.07, 1.5, 4.0, 60.0)],
    ),
    "exponential": ((lambda x, b: log(b) - b * x, lambda x, b: (-mp.expm1(-b * x), exp(-b * x))), SCALES, FIXED(POSITIVE)),
    "chi_square": (
        rescaled(GAMMA, lambda nu: nu / 2, lambda nu: TWO),
        [(0.5,), (1.0,), (7.0,), (300.0,)],
        around_gamma(lambda nu: nu / 2, lambda nu: 2.0),
    ),
    "inv_chi_square": (
        rescaled(INV_GAMMA, lambda nu: nu / 2, lambda nu: 1 / TWO),
        [(0.5,), (1.0,), (7.0,), (300.0,)],
        lambda nu: [1 / nu / f for f in (1e-4, 0.05, 0.5, 0.9, 1.0, 1.3, 2.0, 6.0)],
    ),
    "scaled_inv_chi_square": (
        rescaled(INV_GAMMA, lambda nu, s: nu / 2, lambda nu, s: nu * s * s / 2),
        [(0.5, 1.0), (1.0, 0.3), (7.0, 2.0), (300.0, 1.5)],
        lambda nu, s: [s * s / f for f in (1e-4, 0.05, 0.5, 0.9, 1.0, 1.3, 2.0, 6.0)],
    ),
    "weibull": (with_shape(*WEIBULL), [(1.0, 1.0), (0.5, 2.0), (3.0, 0.7), (20.0, 5.0)], lambda a, s: [s * z ** (1 / a) for z in (1e-8, 0.01, 0.3, 0.8, 1.0, 2.0, 9.0, 60.0)]),
    "frechet": (with_shape(*FRECHET), [(1.0, 1.0), (0.5, 2.0), (3.0, 0.7), (20.0, 5.0)], lambda a, s: [s * z ** (-1 / a) for z in (1e-8, 0.01, 0.3, 0.8, 1.0, 2.0, 9.0, 60.0)]),
    "rayleigh": (
        (lambda x, s: log(x) - 2 * log(s) - (x / s) ** 2 / 2, lambda x, s: (-mp.expm1(-((x / s) ** 2) / 2), exp(-((x / s) ** 2) / 2))),
        SCALES,
        lambda s: [s * z for z in (1e-6, 0.1, 0.7, 1.5, 8.0, 30.0)],
    ),
    "pareto": (
        (lambda x, m, a: log(a) + a * log(m) - (a + 1) * log(x), lambda x, m, a: (-mp.expm1(a * log(m / x)), (m / x) ** a)),
        [(1.0, 1.0), (0.3, 2.5), (20.0, 0.4)],
        lambda m, a: [m * f for f in (1.0 + 2.0**-20, 1.25, 2.0, 10.0, 1e4, 1e10)],
    ),
    "pareto_type_2": (
        (
            lambda x, m, l, a: log(a) - log(l) - (a + 1) * log(1 + (x - m) / l),
            lambda x, m, l, a: (-mp.expm1(-a * mp.log1p((x - m) / l)), (1 + (x - m) / l) ** -a),
        ),
        [(0.0, 1.0, 1.0), (1.0, 0.3, 2.5), (-5.0, 20.0, 0.4)],
        lambda m, l, a: [m + l * f for f in (2.0**-20, 0.25, 1.0, 10.0, 1e4, 1e10)],
    ),
    "uniform": (
        (lambda x, a, b: -log(b - a), lambda x, a, b: ((x - a) / (b - a), (b - x) / (b - a))),
        [(0.0, 1.0), (-1.0, 2.0), (5.0, 2000.0)],
        lambda a, b: [a + (b - a) * f for f in (2.0**-30, 0.125, 0.5, 0.75, 1.0 - 2.0**-30)],
    ),
    "beta": (
        beta_pair(lambda a, b: (a, b)),
        [(1.0, 1.0), (0.2, 0.3), (2.0, 5.0), (40.0, 0.5), (300.0, 700.0)],
        FIXED((1e-8, 0.03, 0.3, 0.5, 0.8, 0.999)),
    ),
    "beta_proportion": (
        beta_pair(lambda m, k: (m * k, (1 - m) * k)),
        [(0.5, 2.0), (0.2, 0.5), (0.9, 30.0), (0.3, 1e3)],
        FIXED((1e-8, 0.03, 0.3, 0.5, 0.8, 0.999)),
    ),
    "von_mises": (
        (lambda x, m, k: k * mp.cos(x - m) - log(2 * pi * mp.besseli(0, k)), von_mises_cdf),
        [(0.0, 1.0), (1.0, 0.01), (-2.0, 30.0), (0.5, 1e3)],
        FIXED((-3.0, -1.8, -0.4, 0.3, 0.52, 1.1, 2.9)),
    ),
    "flat": ((lambda x: mpf(0), None), [()], FIXED((-1e5, 0.0, 3.0))),
}


def finite_log(p):
    """log p as a double, or None where p is 0 or lost to rounding."""
    return float(log(p)) if p > mpf(10) ** -350 else None


def point(name, density, cdf, x, args):
    row = {"dist": name, "x": [x], "args": [[a] for a in args]}
    xm, am = mpf(x), [mpf(a) for a in args]
    value = density(xm, *am)
    row["value"] = float(value)
    if cdf:
        low, high = cdf(xm, *am)
        for key, p in (("lcdf", low), ("lccdf", high)):
            if (v := finite_log(p)) is not None:
                row[key] = v
        p = float(low)
        if 1e-290 < p and high > mpf(10) ** -10:
            row["p"], row["quantile"] = p, float(xm + (mpf(p) - low) / exp(value))
    return row


def main():
    rows = []
    for name, ((density, cdf), argument_lists, xs) in CATALOGUE.items():
        for args in argument_lists:
            rows += [point(name, density, cdf, float(x), args) for x in xs(*args)]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "distributions.json")
    with open(path, "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")


if __name__ == "__main__":
    main()
