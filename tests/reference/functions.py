"""Reference values of the elementwise functions, by mpmath at 50 digits: writes functions.json.

    python3 tests/reference/functions.py        (needs mpmath)
"""

import json
import os

from mpmath import mp, mpf

mp.dps = 50
one = mpf(1)

ANY = (-30.0, -2.5, -0.3, 1e-7, 0.5, 3.0, 17.0)
POSITIVE = (1e-8, 0.02, 0.5, 1.0, 1.7, 9.0, 1e6)
UNIT = (1e-9, 0.1, 0.5, 0.75, 0.999)
PAIRS = ((1.5, -2.0), (-7.25, 3.0), (1e-5, 40.0), (2.0, 2.5))
TRIPLES = ((1.5, -2.0, 0.25), (0.0, 3.0, -4.0), (1.0, 2.0, 3.0))


def log_phi(x):
    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)


def inv_phi(p):
    with mp.workdps(60):
        return mp.findroot(lambda x: mp.log(mp.ncdf(x)) - mp.log(p), -mp.sqrt(max(-2 * mp.log(p) - 2, 0)) if p < 0.2 else (p - one / 2) * 2.5)


def lbeta(a, b):
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def truth(condition):
    return one if condition else mpf(0)


ONE_ARGUMENT = {
    "neg": (lambda x: -x, ANY),
    "square": (lambda x: x * x, ANY),
    "inv": (lambda x: 1 / x, ANY),
    "abs": (abs, ANY),
    "floor": (mp.floor, (-2.5, -2.0, 0.3, 7.9)),
    "ceil": (mp.ceil, (-2.5, -2.0, 0.3, 7.9)),
    "round": (lambda x: mp.sign(x) * mp.floor(abs(x) + one / 2), (-2.5, -2.0, 0.3, 0.5, 7.9)),
    "exp": (mp.exp, (-700.0, *ANY, 600.0)),
    "log": (mp.log, POSITIVE),
    "exp2": (lambda x: mpf(2) ** x, ANY),
    "log2": (lambda x: mp.log(x, 2), POSITIVE),
    "log10": (mp.log10, POSITIVE),
    "sqrt": (mp.sqrt, POSITIVE),
    "inv_sqrt": (lambda x: 1 / mp.sqrt(x), POSITIVE),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), ANY),
    "log1p": (mp.log1p, (-0.999, -0.5, 1e-12, -1e-9, 0.3, 1e5)),
    "log1m": (lambda x: mp.log1p(-x), (0.999, 0.5, 1e-12, -1e-9, -0.3, -1e5)),
    "expm1": (mp.expm1, (-40.0, -0.7, 1e-12, -1e-9, 0.3, 50.0)),
    "log1p_exp": (lambda x: mp.log1p(mp.exp(x)), (-700.0, *ANY, 800.0)),
    "log1m_exp": (lambda x: mp.log(-mp.expm1(x)), (-1e-10, -0.01, -0.6931, -0.7, -3.0, -50.0)),
    "inv_logit": (lambda x: 1 / (1 + mp.exp(-x)), (-700.0, *ANY, 50.0)),
    "log_inv_logit": (lambda x: -mp.log1p(mp.exp(-x)), (-700.0, *ANY, 50.0)),
    "log1m_inv_logit": (lambda x: -mp.log1p(mp.exp(x)), (-50.0, *ANY, 700.0)),
    "logit": (lambda p: mp.log(p) - mp.log1p(-p), UNIT),
    "cloglog": (lambda p: mp.log(-mp.log1p(-p)), UNIT),
    "inv_cloglog": (lambda x: -mp.expm1(-mp.exp(x)), (-30.0, -2.5, -0.3, 0.5, 2.0)),
    "sin": (mp.sin, ANY),
    "cos": (mp.cos, ANY),
    "tan": (mp.tan, ANY),
    "asin": (mp.asin, (-0.999, -0.3, 1e-9, 0.7)),
    "acos": (mp.acos, (-0.999, -0.3, 1e-9, 0.7)),
    "atan": (mp.atan, ANY),
    "sinh": (mp.sinh, ANY),
    "cosh": (mp.cosh, ANY),
    "tanh": (mp.tanh, ANY),
    "asinh": (mp.asinh, (-1e5, *ANY)),
    "acosh": (mp.acosh, (1.0625, 1.5, 9.0, 1e6)),
    "atanh": (mp.atanh, (-0.999, -0.3, 1e-9, 0.7)),
    "lgamma": (mp.loggamma, POSITIVE),
    "tgamma": (mp.gamma, (0.02, 0.5, 1.0, 1.7, 9.0, 40.5)),
    "digamma": (mp.digamma, POSITIVE),
    "trigamma": (lambda x: mp.psi(1, x), POSITIVE),
    "lfactorial": (lambda n: mp.loggamma(n + 1), (1e-10, 0.3, 4.0, 170.0, 1e7)),
    "erf": (mp.erf, (-3.0, -0.3, 1e-9, 0.5, 2.0)),
    "erfc": (mp.erfc, (-3.0, -0.3, 1e-9, 0.5, 2.0, 9.0, 20.0)),
    "Phi": (mp.ncdf, (-30.0, -9.0, -2.0, -0.3, 1e-9, 0.5, 2.0, 6.0)),
    "inv_Phi": (inv_phi, (1e-200, 1e-9, 0.02, 0.3, 0.5, 0.7, 0.999)),
    "log_Phi": (log_phi, (-1e4, -30.0, -9.0, -2.0, -0.3, 1e-9, 0.5, 2.0, 6.0, 9.0)),
    "log_bessel_i0": (lambda x: mp.log(mp.besseli(0, x)), (1e-5, 0.5, 3.0, 17.0, 300.0)),
    "not": (lambda a: truth(a == 0), (0.0, 1.0)),
}

SEVERAL = {
    "add": (lambda a, b: a + b, PAIRS),
    "sub": (lambda a, b: a - b, PAIRS),
    "mul": (lambda a, b: a * b, PAIRS),
    "div": (lambda a, b: a / b, PAIRS),
    "pow": (lambda a, b: a**b, ((1.5, -2.0), (0.3, 0.7), (7.0, 3.0), (1e-5, 2.5))),
    "fmax": (max, PAIRS),
    "fmin": (min, PAIRS),
    "idiv": (lambda a, b: mp.floor(a / b), PAIRS),
    "mod": (lambda a, b: a - b * mp.floor(a / b), PAIRS),
    "hypot": (mp.hypot, PAIRS),
    "atan2": (mp.atan2, (*PAIRS, (-1.0, -2.0), (1e-9, -1.0), (0.0, 3.0))),
    "lbeta": (lbeta, ((0.5, 2.0), (30.0, 0.1), (1e6, 3.0), (1e5, 2e5), (1e-3, 1e-3), (1e8, 1e-4))),
    "lchoose": (
        lambda n, k: mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1),
        ((5.0, 2.0), (30.5, 0.125), (1e6, 3.0), (1e6, 5e5)),
    ),
    "log_diff_exp": (lambda a, b: a + mp.log(-mp.expm1(b - a)), ((0.5, -1.0), (300.0, 299.0), (1.0, 1.0 - 2.0**-30))),
    "log_add_exp": (lambda a, b: max(a, b) + mp.log1p(mp.exp(-abs(a - b))), ((0.5, -1.0), (-900.0, -899.0), (1.0, 40.0))),
    "multiply_log": (lambda a, b: mpf(0) if a == 0 else a * mp.log(b), ((0.5, 1.5), (0.0, 0.0), (3.0, 1e-8))),
    "lt": (lambda a, b: truth(a < b), PAIRS),
    "le": (lambda a, b: truth(a <= b), (*PAIRS, (2.0, 2.0))),
    "gt": (lambda a, b: truth(a > b), PAIRS),
    "ge": (lambda a, b: truth(a >= b), (*PAIRS, (2.0, 2.0))),
    "eq": (lambda a, b: truth(a == b), (*PAIRS, (2.0, 2.0))),
    "ne": (lambda a, b: truth(a != b), (*PAIRS, (2.0, 2.0))),
    "and": (lambda a, b: truth(a != 0 and b != 0), ((0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0))),
    "or": (lambda a, b: truth(a != 0 or b != 0), ((0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0))),
    "fma": (lambda a, b, c: a * b + c, TRIPLES),
    "where": (lambda c, a, b: a if c != 0 else b, TRIPLES),
    "log_mix": (
        lambda w, a, b: mp.log(w * mp.exp(a) + (1 - w) * mp.exp(b)),
        ((0.3, 0.5, -1.0), (0.9, -900.0, -899.0), (1e-9, 3.0, 2.0)),
    ),
}


def main():
    rows = []
    for name, (f, points) in ONE_ARGUMENT.items():
        rows += [(name, (x,), f(mpf(x))) for x in points]
    for name, (f, points) in SEVERAL.items():
        rows += [(name, x, f(*map(mpf, x))) for x in points]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "functions.json")
    lines = [json.dumps({"function": n, "args": list(x), "value": float(mp.re(v))}) for n, x, v in rows]
    with open(path, "w") as out:
        out.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
