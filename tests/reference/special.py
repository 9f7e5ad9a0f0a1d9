#!/usr/bin/env python3
"""Reference values of the special functions, from 80 digits, for tests/kernels/special.rs.

    pip install mpmath && python3 tests/reference/special.py > tests/reference/special.csv

Every row is: function, arguments (exact doubles), value (20 digits). Arguments are fixed grids with tails included, and
points drawn with a fixed seed.
"""
import random
import sys

import mpmath as mp

mp.mp.dps = 80
rng = random.Random(20261115)
M = mp.mpf


def uniform(a, b, n):
    return [rng.uniform(a, b) for _ in range(n)]


def logspace(a, b, n):
    """n points log-uniform between 10^a and 10^b."""
    return [10.0 ** rng.uniform(a, b) for _ in range(n)]


def signed(points):
    return [x for p in points for x in (p, -p)]


def phi(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def density(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def erfcx(x):
    if x > 1000:
        # The asymptotic series, far below 50 digits here.
        s, t, k = M(1), M(1), 0
        while abs(t) > M(10) ** -60:
            k += 1
            t *= -(2 * k - 1) / (2 * x * x)
            s += t
        return s / (x * mp.sqrt(mp.pi))
    return mp.exp(x * x) * mp.erfc(x)


def log_phi(x):
    if x < -1:
        return mp.log(erfcx(-x / mp.sqrt(2)) / 2) - x * x / 2
    return mp.log1p(-phi(-x))


def root(f, guess):
    return mp.findroot(f, guess)


def inv_phi(p):
    """Newton on log phi in the lower half; symmetric above."""
    if p > M(1) / 2:
        return -inv_phi(1 - p)
    x = -mp.sqrt(-2 * mp.log(2 * p)) if p < M("0.4") else (p - M(1) / 2) * mp.sqrt(2 * mp.pi)
    target = mp.log(p)
    for _ in range(200):
        step = (log_phi(x) - target) * phi(x) / density(x)
        x -= step
        if abs(step) < abs(x) * M(10) ** -40 + M(10) ** -60:
            break
    return x


def gamma_p(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def gamma_q(a, x):
    return mp.gammainc(a, x, mp.inf, regularized=True)


def beta_inc(a, b, x):
    return mp.betainc(a, b, 0, x, regularized=True)


def beta_upper(a, b, x):
    return mp.betainc(b, a, 0, 1 - x, regularized=True)


def gradient(f, args, i):
    """Derivative in argument i by a central difference in 120 digits."""
    with mp.workdps(120):
        h = abs(args[i]) * M(10) ** -40
        up, down = list(args), list(args)
        up[i] += h
        down[i] -= h
        return (f(*up) - f(*down)) / (2 * h)


def log_gamma_1p(x):
    with mp.workdps(400):
        return mp.loggamma(1 + x)


def log_of(small, p):
    """log p, where small = 1 - p."""
    return mp.log1p(-small) if p > M(1) / 2 else mp.log(p)


def student(t, nu):
    tail = beta_inc(nu / 2, M(1) / 2, nu / (nu + t * t)) / 2
    return tail if t < 0 else 1 - tail


def log_student(t, nu):
    return log_of(student(-t, nu), student(t, nu))


def owens_t(h, a):
    f = lambda x: mp.exp(-h * h * (1 + x * x) / 2) / (1 + x * x)
    step = min(a, 1 / max(h, M(1)))
    end = min(a, 40 * step)
    cuts = [end * k / 40 for k in range(41)]
    cuts += [a] if end < a else []
    return mp.quad(f, cuts, method="gauss-legendre") / (2 * mp.pi)


def von_mises(theta, kappa):
    if theta > 0:
        return 1 - von_mises(-theta, kappa)
    width = 1 / mp.sqrt(max(kappa, 1))
    cuts = [-mp.pi] + [theta - k * width for k in (30, 12, 6, 3, 1) if theta - k * width > -mp.pi] + [theta]
    f = lambda t: mp.exp(kappa * (mp.cos(t) - mp.cos(theta)))
    return mp.exp(kappa * (mp.cos(theta) - 1)) * mp.quad(f, cuts) / (2 * mp.pi * mp.besseli(0, kappa) * mp.exp(-kappa))


SHAPES = logspace(-6, 4, 25) + [0.5, 1.0, 10.0, 49.0, 50.0, 51.0, 1000.0]
GAMMA = [(a, a * r) for a in SHAPES for r in (1e-3, 0.3, 0.69, 0.71, 0.98, 1.0, 1.03, 1.29, 1.31, 2.5)]
GAMMA += [(a, x) for a in (1e-9, 1e-3, 0.2, 0.9, 1.4) for x in (1e-12, 1e-4, 0.3, 0.99, 1.3, 1.49, 1.51, 4.0, 50.0)]
GAMMA += [(2.0, 500.0), (30.0, 600.0), (300.0, 30.0), (1e4, 7.5e3), (0.1, 600.0)]
BETA = [
    (a, b, x)
    for a, b in zip(logspace(-3, 3, 30), logspace(-3, 3, 30))
    for x in (1e-6, 0.05, 0.3, 0.5, 0.77, 0.99)
]
BETA += [(a, b, a / (a + b) * r) for a, b in ((5.0, 3.0), (50.0, 80.0), (900.0, 400.0)) for r in (0.5, 0.9, 1.0, 1.1, 1.3)]


def valid(value):
    return mp.isfinite(value) and (value == 0 or M(10) ** -290 < abs(value) < M(10) ** 300)


def emit(name, f, points):
    for point in points:
        point = point if isinstance(point, tuple) else (point,)
        try:
            value = f(*[M(x) for x in point])
        except Exception as problem:
            print(f"{name}{point}: {problem}", file=sys.stderr)
            continue
        if isinstance(value, mp.mpc):
            continue
        if name.endswith("_of") and value > 0.999:
            continue  # So near 1 a double cannot tell the quantile.
        if valid(value):
            print(",".join([name] + [repr(float(x)) for x in point] + [mp.nstr(value, 20)]))


print("function,arguments and value")
emit("exp", mp.exp, uniform(-660, 690, 300) + signed(logspace(-12, 1, 60)) + [0.0, 709.5])
emit("ln", mp.log, logspace(-320, 308, 300) + uniform(0.5, 2, 200) + [5e-324, 1.0, 1 + 2**-52, 1 - 2**-53])
emit("log1p", mp.log1p, logspace(-18, 300, 200) + uniform(-1, 2, 200) + [-x for x in logspace(-18, 0, 100)] + [1e-310])
emit("expm1", mp.expm1, uniform(-45, 690, 200) + uniform(-2, 2, 300) + signed(logspace(-18, 0, 100)) + [1e-310])
emit("tanh", mp.tanh, uniform(-25, 25, 100) + uniform(-1, 1, 200) + signed(logspace(-18, 0, 60)))
emit("inv_logit", lambda x: 1 / (1 + mp.exp(-x)), uniform(-660, 50, 200) + uniform(-5, 5, 200))
emit("log1p_exp", lambda x: mp.log1p(mp.exp(x)), uniform(-660, 800, 200) + uniform(-5, 5, 300))
emit("sin", mp.sin, uniform(-10, 10, 200) + uniform(-1e5, 1e5, 200) + signed(logspace(-300, 0, 40)))
emit("cos", mp.cos, uniform(-10, 10, 200) + uniform(-1e5, 1e5, 200) + signed(logspace(-300, 0, 40)))

emit("lgamma", lambda x: mp.log(abs(mp.gamma(x))) if x < 1e5 else mp.loggamma(x), logspace(-300, 300, 60) + uniform(0, 30, 100) + [1 + 1e-9, 2 - 1e-9, 1.5, 3.0])
emit("lgamma1p", log_gamma_1p, signed(logspace(-300, -0.31, 60)) + uniform(-0.99, 10, 60))
emit("digamma", mp.digamma, logspace(-300, 300, 60) + uniform(0, 30, 100) + uniform(1.46, 1.463, 30) + [-0.3, -2.7, -33.5])
emit("trigamma", lambda x: mp.polygamma(1, x), logspace(-100, 300, 60) + uniform(0, 30, 100) + [-0.3, -2.7, -33.5])
emit("tetragamma", lambda x: mp.polygamma(2, x), logspace(-80, 100, 60) + uniform(0, 30, 100) + [-0.3, -2.7, -33.4])
emit("pentagamma", lambda x: mp.polygamma(3, x), logspace(-60, 80, 60) + uniform(0, 30, 100) + [-0.3, -2.7, -33.4])
emit("lmultigamma", lambda p, a: sum((mp.loggamma(a - M(j) / 2) for j in range(int(p))), p * (p - 1) / 4 * mp.log(mp.pi)), [(p, p / 2 + d) for p in (1, 2, 5, 10) for d in (0.01, 0.7, 3.0, 50.0, 1e4)])

emit("erf", mp.erf, signed(logspace(-300, 0.7, 60)) + uniform(-6, 6, 60))
emit("erfc", mp.erfc, uniform(-6, 26, 150) + signed(logspace(-10, 0, 20)))
emit("erfcx", erfcx, uniform(-20, 30, 150) + logspace(-10, 200, 60) + [24.999, 25.0, 25.001])
emit("phi", phi, uniform(-37, 9, 150) + signed(logspace(-10, 0, 20)))
emit("log_phi", log_phi, uniform(-40, 37, 150) + [-x for x in logspace(0, 100, 40)] + [-1e10, -0.5, 0.0, -1.0])
emit("phi_ratio", lambda x: density(x) / phi(x) if x > -30 else mp.sqrt(2 / mp.pi) / erfcx(-x / mp.sqrt(2)), uniform(-40, 36, 150) + [-x for x in logspace(0, 100, 40)])
P = logspace(-290, -1, 60) + uniform(0.01, 0.99, 80) + [0.5 + 1e-10, 0.5 - 1e-13, 1 - 1e-10, 0.2, 0.4]
emit("inv_phi", inv_phi, P)
emit("inv_erfc", lambda q: -inv_phi(q / 2) / mp.sqrt(2), P + uniform(1, 2, 30))
emit("inv_erf", lambda p: mp.sign(p) * inv_phi((1 + abs(p)) / 2) / mp.sqrt(2), uniform(-1, 1, 60) + signed(logspace(-15, 0, 40)))

emit("log1m_exp", lambda x: mp.log(-mp.expm1(x)) if x > -1 else mp.log1p(-mp.exp(x)), [-x for x in logspace(-18, 2.8, 80)])
emit("log_inv_logit", lambda x: -mp.log1p(mp.exp(-x)), uniform(-700, 600, 80) + uniform(-4, 4, 40))
emit("logit", lambda p: mp.log(p) - mp.log1p(-p), P)
emit("log_diff_exp", lambda a, b: mp.log(mp.exp(a) - mp.exp(b)), [(a, a - d) for a in (-700.0, 0.0, 3.0) for d in logspace(-12, 2, 8)])
PAIRS = list(zip(logspace(-8, 8, 120), logspace(-8, 8, 120))) + [(1e10, 2e10), (3.0, 1e15), (1e-200, 4.0), (12.0, 9.5)]
emit("lbeta", lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b), PAIRS)
emit("lchoose", lambda n, k: mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1), [(n, k) for n in (5.0, 40.0, 1e5, 1e12) for k in (0.0, 1.0, 2.0, 5.0, round(n / 3), n)])

emit("gamma_p", gamma_p, GAMMA)
emit("gamma_q", gamma_q, GAMMA)
emit("log_gamma_p", lambda a, x: log_of(gamma_q(a, x), gamma_p(a, x)), GAMMA)
emit("log_gamma_q", lambda a, x: log_of(gamma_p(a, x), gamma_q(a, x)), GAMMA)
emit("gamma_p_da", lambda a, x: gradient(gamma_p, (a, x), 0), GAMMA[::3])
LEVELS = (1e-250, 1e-10, 1e-3, 0.1, 0.5, 0.9)
emit("inv_gamma_p_of", gamma_p, [(a, a * r) for a in SHAPES for r in (0.01, 0.5, 0.9, 1.0, 1.2)])
emit("inv_gamma_q_of", gamma_q, [(a, a * r) for a in SHAPES for r in (0.9, 1.0, 1.2, 2.0, 5.0)])

emit("beta_inc", beta_inc, BETA)
emit("beta_inc_upper", beta_upper, BETA)
emit("log_beta_inc", lambda a, b, x: log_of(beta_upper(a, b, x), beta_inc(a, b, x)), BETA)
emit("beta_inc_da", lambda a, b, x: gradient(beta_inc, (a, b, x), 0), BETA[::3])
emit("beta_inc_db", lambda a, b, x: gradient(beta_inc, (a, b, x), 1), BETA[::3])
emit("inv_beta_inc_of", beta_inc, BETA[::2])

T = [(t, nu) for nu in (0.3, 1.0, 2.5, 10.0, 300.0, 1e5) for t in (-1e6, -40.0, -3.0, -0.7, -1e-3, 1e-8, 0.5, 2.0, 10.0)]
emit("student_t_cdf", student, T)
emit("log_student_t_cdf", log_student, T)
emit("log_student_t_cdf_dnu", lambda t, nu: gradient(log_student, (t, nu), 1), T)
emit("inv_student_t_cdf_of", student, [(t, nu) for t, nu in T if t < 0])

emit("bessel_i0_scaled", lambda x: mp.besseli(0, x) * mp.exp(-x), logspace(-10, 6, 60) + uniform(0, 60, 60))
emit("bessel_i1_scaled", lambda x: mp.besseli(1, x) * mp.exp(-x), logspace(-10, 6, 60) + uniform(0, 60, 60))
emit("log_bessel_i0", lambda x: mp.log(mp.besseli(0, x)), logspace(-10, 6, 60) + uniform(0, 60, 60))
emit("log_bessel_i1", lambda x: mp.log(mp.besseli(1, x)), logspace(-10, 6, 60) + uniform(0, 60, 60))
emit("bessel_ratio", lambda x: mp.besseli(1, x) / mp.besseli(0, x), logspace(-10, 6, 60) + uniform(0, 60, 60))
emit("bessel_ratio_slope", lambda x: 1 - (r := mp.besseli(1, x) / mp.besseli(0, x)) / x - r * r, logspace(-8, 1.3, 60))
emit("von_mises_cdf", von_mises, [(t, k) for k in (0.0, 0.1, 1.0, 7.0, 60.0, 900.0, 1e5) for t in (-3.1, -2.0, -1.0, -0.3, -0.02, 0.2, 1.5)])
emit("owens_t", owens_t, [(h, a) for h in (0.0, 1e-3, 0.4, 1.0, 3.0, 9.0, 25.0) for a in (1e-6, 0.1, 0.6, 1.0, 1.4, 7.0, 300.0)])
