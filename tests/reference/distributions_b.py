"""Reference values of discrete and multivariate log densities, by mpmath at 60 digits: writes distributions_b.json."""

import json
import os

from mpmath import mp, mpf, matrix

mp.dps = 60
log, gamma, pi = mp.log, mp.loggamma, mp.pi


def choose(n, k):
    return gamma(n + 1) - gamma(k + 1) - gamma(n - k + 1)


def beta(a, b):
    return gamma(a) + gamma(b) - gamma(a + b)


def xlogy(x, y):
    return mpf(0) if x == 0 else x * log(y)


def inv_logit(a):
    return 1 / (1 + mp.exp(-a))


def binomial(x, n, p):
    return choose(n, x) + xlogy(x, p) + xlogy(n - x, 1 - p)


def poisson(x, rate):
    return xlogy(x, rate) - rate - gamma(x + 1)


def neg_binomial(x, a, b):
    return gamma(x + a) - gamma(a) - gamma(x + 1) + a * log(b / (1 + b)) - x * log(1 + b)


def beta_binomial(x, n, a, b):
    return choose(n, x) + beta(x + a, n - x + b) - beta(a, b)


# Each name: the log probability as a function of x and the arguments, and points (x, arguments).
DISCRETE = {
    "bernoulli": (
        lambda x, p: log(p) if x == 1 else log(1 - p),
        [(1, "0.3"), (0, "0.3"), (0, "1e-12"), (1, "1e-12")],
    ),
    "bernoulli_logit": (
        lambda x, a: log(inv_logit(a if x == 1 else -a)),
        [(1, "0.3"), (0, "0.3"), (1, "40"), (0, "40"), (1, "-60"), (0, "-60")],
    ),
    "binomial": (
        binomial,
        [(2, 5, "0.3"), (0, 20, "1e-6"), (20, 20, "0.2"), (400, 1000, "0.7"), (3, 4, "0.999"), (100000, 1000000, "0.1")],
    ),
    "binomial_logit": (
        lambda x, n, a: binomial(x, n, inv_logit(a)),
        [(2, 5, "0.3"), (0, 20, "-30"), (20, 20, "-2"), (400, 1000, "0.7"), (3, 4, "50")],
    ),
    "beta_binomial": (
        beta_binomial,
        [(2, 5, "0.3", "0.7"), (0, 20, "5", "0.001"), (20, 20, "4", "30"), (40, 100, "1e4", "3e4"), (7, 20, "1e10", "3e10"),
         (18, 20, "0.3", "0.6")],
    ),
    "poisson": (poisson, [(2, "0.3"), (0, "1e-9"), (60, "3"), (10000, "9900"), (3, "400")]),
    "poisson_log": (
        lambda x, a: poisson(x, mp.exp(a)),
        [(2, "0.3"), (0, "-40"), (60, "1"), (10000, "9.2"), (3, "6")],
    ),
    "neg_binomial": (
        neg_binomial,
        [(2, "0.3", "0.7"), (0, "5", "0.001"), (60, "4", "3"), (40, "1e4", "3e2"), (7, "1e12", "2e11")],
    ),
    "neg_binomial_2": (
        lambda x, mu, phi: neg_binomial(x, phi, phi / mu),
        [(2, "0.3", "0.7"), (0, "5", "0.001"), (60, "4", "3"), (40, "30", "1e4"), (7, "5", "1e12"), (3000, "2500", "15")],
    ),
    "neg_binomial_2_log": (
        lambda x, eta, phi: neg_binomial(x, phi, phi / mp.exp(eta)),
        [(2, "-1.2", "0.7"), (0, "1.6", "0.001"), (60, "1.4", "3"), (40, "3.4", "1e4"), (7, "1.5", "1e12")],
    ),
    "geometric": (
        lambda x, p: log(p) + xlogy(x, 1 - p),
        [(2, "0.3"), (0, "0.9"), (10000, "1e-3")],
    ),
}


def discrete():
    for name, (pmf, points) in DISCRETE.items():
        for x, *args in points:
            values = [mpf(a) for a in args]
            # Terms from x downwards; the upper side is the rest, at 60 digits.
            low, k = mpf(0), x
            while k >= 0:
                term = mp.exp(pmf(mpf(k), *values))
                low += term
                if k < x - 5000 and term < low * mpf(10) ** -30:
                    break
                k -= 1
            case = {"dist": name, "x": [x], "args": [[float(v)] for v in values], "value": float(pmf(mpf(x), *values))}
            case["lcdf"] = float(log(low))
            # Below 1e-30 the subtraction at 60 digits is still good to 15.
            if mpf(10) ** -40 < 1 - low:
                case["lccdf"] = float(log(1 - low))
            yield case


def main():
    cases = list(discrete())
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "distributions_b.json")
    with open(path, "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


main()
