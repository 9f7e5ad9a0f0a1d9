"""Reference values of discrete and multivariate log densities, by mpmath at 150 digits: writes distributions_b.json."""

import json
import os

from mpmath import mp, mpf, matrix

mp.dps = 150
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
            # Terms from x downwards; the upper side is the rest, at 150 digits.
            low, k = mpf(0), x
            while k >= 0:
                term = mp.exp(pmf(mpf(k), *values))
                low += term
                if k < x - 5000 and term < low * mpf(10) ** -30:
                    break
                k -= 1
            case = {"dist": name, "x": [x], "args": [[float(v)] for v in values], "value": float(pmf(mpf(x), *values))}
            # What is left above may be nothing but rounding.
            case["lcdf"] = float(log(low)) if mpf(10) ** -120 < 1 - low else 0.0
            # Above this the subtraction is still good to 30 digits.
            if mpf(10) ** -120 < 1 - low:
                case["lccdf"] = float(mp.log1p(-low))
            yield case


def vec(values):
    return [mpf(str(v)) for v in values]


def square(values):
    n = int(len(values) ** 0.5)
    return matrix([vec(values[i * n:(i + 1) * n]) for i in range(n)])


def column(values):
    return matrix(values)


def quadratic(a, v):
    return (v.T * mp.lu_solve(a, v))[0]


def multi_normal(x, mu, sigma):
    x, mu, sigma = column(vec(x)), column(vec(mu)), square(sigma)
    return -(quadratic(sigma, x - mu) + log(mp.det(sigma)) + len(x) * log(2 * pi)) / 2


def multi_normal_cholesky(x, mu, factor):
    l, x, mu = square(factor), column(vec(x)), column(vec(mu))
    sigma = l * l.T
    return -(quadratic(sigma, x - mu) + log(mp.det(sigma)) + len(x) * log(2 * pi)) / 2


def multi_normal_prec(x, mu, omega):
    x, mu, omega = column(vec(x)), column(vec(mu)), square(omega)
    d = x - mu
    return -((d.T * omega * d)[0] - log(mp.det(omega)) + len(x) * log(2 * pi)) / 2


def multi_student_t(x, nu, mu, sigma):
    x, nu, mu, sigma = column(vec(x)), vec(nu)[0], column(vec(mu)), square(sigma)
    k = len(x)
    head = gamma((nu + k) / 2) - gamma(nu / 2) - mpf(k) / 2 * log(nu * pi) - log(mp.det(sigma)) / 2
    return head - (nu + k) / 2 * log(1 + quadratic(sigma, x - mu) / nu)


def multigamma(k, a):
    return mpf(k * (k - 1)) / 4 * log(pi) + sum(gamma(a - mpf(j) / 2) for j in range(k))


def trace(a):
    return sum(a[i, i] for i in range(a.rows))


def wishart(x, nu, s):
    x, nu, s = square(x), vec(nu)[0], square(s)
    k = x.rows
    return ((nu - k - 1) / 2 * log(mp.det(x)) - trace(s ** -1 * x) / 2 - nu * k / 2 * log(2)
            - nu / 2 * log(mp.det(s)) - multigamma(k, nu / 2))


def inv_wishart(x, nu, s):
    x, nu, s = square(x), vec(nu)[0], square(s)
    k = x.rows
    return (-(nu + k + 1) / 2 * log(mp.det(x)) - trace(s * x ** -1) / 2 - nu * k / 2 * log(2)
            + nu / 2 * log(mp.det(s)) - multigamma(k, nu / 2))


def lkj_constant(k, eta):
    """-log of the integral, from theorem 5 of Lewandowski, Kurowicka & Joe (2009), as beta functions."""
    total = mpf(0)
    for j in range(1, k):
        b = eta + mpf(k - j - 1) / 2
        total -= (2 * eta - 2 + k - j) * (k - j) * log(2) + (k - j) * beta(b, b)
    return total


def lkj_corr(x, eta):
    x, eta = square(x), vec(eta)[0]
    return lkj_constant(x.rows, eta) + (eta - 1) * log(mp.det(x))


def lkj_corr_cholesky(x, eta):
    l, eta = square(x), vec(eta)[0]
    k = l.rows
    # The density of L Lᵀ times the Jacobian of L -> L Lᵀ, prod L_ii^(K - i).
    jacobian = sum((k - i) * log(l[i - 1, i - 1]) for i in range(2, k + 1))
    return lkj_constant(k, eta) + (eta - 1) * log(mp.det(l * l.T)) + jacobian


def dirichlet(x, alpha):
    x, alpha = vec(x), vec(alpha)
    return gamma(sum(alpha)) - sum(map(gamma, alpha)) + sum(xlogy(a - 1, v) for a, v in zip(alpha, x))


def coefficient(x):
    return gamma(sum(x) + 1) - sum(gamma(v + 1) for v in x)


def multinomial(x, theta, _):
    x, theta = vec(x), vec(theta)
    return coefficient(x) + sum(xlogy(v, p) for v, p in zip(x, theta))


def multinomial_logit(x, eta, _):
    x, eta = vec(x), vec(eta)
    all_ = log(sum(map(mp.exp, eta)))
    return coefficient(x) + sum(v * (e - all_) for v, e in zip(x, eta))


def dirichlet_multinomial(x, alpha, _):
    x, alpha = vec(x), vec(alpha)
    head = coefficient(x) + gamma(sum(alpha)) - gamma(sum(x) + sum(alpha))
    return head + sum(gamma(v + a) - gamma(a) for v, a in zip(x, alpha))


def categorical(x, theta):
    return log(vec(theta)[x[0] - 1])


def categorical_logit(x, eta):
    eta = vec(eta)
    return eta[x[0] - 1] - log(sum(map(mp.exp, eta)))


def ordered(cdf):
    def density(x, eta, c):
        k, eta, c = x[0], vec(eta)[0], vec(c)
        above = mpf(1) if k == 1 else cdf(eta - c[k - 2])
        below = mpf(0) if k == len(c) + 1 else cdf(eta - c[k - 1])
        return log(above - below)
    return density


def gaussian_random_walk(x, sigma, init):
    x, sigma, init = vec(x), vec(sigma)[0], vec(init)[0]
    def normal(d, s):
        return -(d / s) ** 2 / 2 - log(s) - log(2 * pi) / 2
    first = normal(x[0], init if init != 0 else sigma)
    return first + sum(normal(b - a, sigma) for a, b in zip(x, x[1:]))


def gp(kernel):
    def density(f, x, *args):
        *args, jitter = [vec(a)[0] for a in args]
        points, n = vec(x), len(f)
        width = len(points) // n
        rows = [points[i * width:(i + 1) * width] for i in range(n)]
        k = mp.matrix(n, n)
        for i in range(n):
            for j in range(n):
                d = mp.sqrt(sum((a - b) ** 2 for a, b in zip(rows[i], rows[j])))
                k[i, j] = kernel(d, *args) + (jitter if i == j else 0)
        f = column(vec(f))
        return -(quadratic(k, f) + log(mp.det(k)) + n * log(2 * pi)) / 2
    return density


def matern32(d, a, r):
    s = mp.sqrt(3) * d / r
    return a ** 2 * (1 + s) * mp.exp(-s)


def matern52(d, a, r):
    s = mp.sqrt(5) * d / r
    return a ** 2 * (1 + s + s ** 2 / 3) * mp.exp(-s)


KERNELS = {
    "gp_exp_quad": lambda d, a, r: a ** 2 * mp.exp(-d ** 2 / (2 * r ** 2)),
    "gp_matern32": matern32,
    "gp_matern52": matern52,
    "gp_exponential": lambda d, a, r: a ** 2 * mp.exp(-d / r),
    "gp_periodic": lambda d, a, r, p: a ** 2 * mp.exp(-2 * mp.sin(pi * d / p) ** 2 / r ** 2),
}

S2 = [0.7, 0.4, 0.4, 1.3]
S3 = [1.0, -0.5, 0.2, -0.5, 0.8, 0.0, 0.2, 0.0, 3.0]
L3 = [1.0, 0.0, 0.0, -0.5, 0.8, 0.0, 2.0, 0.1, 3.0]
C3 = [1.0, 0.6, -0.48, 0.6, 1.0, 0.1, -0.48, 0.1, 1.0]
X3 = [2.0, 0.3, -0.1, 0.3, 1.0, 0.2, -0.1, 0.2, 0.5]
F4, P4, P8 = [0.3, -1.0, 0.2, 0.9], [0.0, 0.4, 1.1, 2.0], [0.0, 0.4, 1.1, 2.0, -0.3, 0.8, 0.5, 0.5]

# Each name: the log density of flat x and flat arguments, and points.
ARRAYS = {
    "categorical": (categorical, [([2], [0.2, 0.5, 0.3]), ([1], [1e-9, 0.5, 0.499999999])]),
    "categorical_logit": (categorical_logit, [([2], [0.2, -0.5, 0.3]), ([1], [-300, 20, 700]), ([3], [-300, 20, 700])]),
    "ordered_logistic": (ordered(inv_logit), [([k], [e], [-1.0, 0.5, 2.0]) for k in range(1, 5) for e in (0.3, 35.0, -35.0)]),
    "ordered_probit": (ordered(mp.ncdf), [([k], [e], [-1.0, 0.5, 2.0]) for k in range(1, 5) for e in (0.3, 6.0, -6.0)]),
    "multinomial": (multinomial, [([2, 0, 5], [0.2, 0.5, 0.3], [7]), ([200, 10], [0.3, 0.7], [210])]),
    "multinomial_logit": (multinomial_logit, [([2, 0, 5], [0.2, -0.5, 0.3], [7]), ([200, 10], [-30, 70], [210])]),
    "dirichlet": (dirichlet, [([0.2, 0.5, 0.3], [2.0, 0.5, 4.0]), ([1e-9, 0.999999999], [0.1, 30.0])]),
    "dirichlet_multinomial": (
        dirichlet_multinomial,
        [([2, 0, 5], [2.0, 0.5, 4.0], [7]), ([20, 10], [0.1, 3e3], [30]), ([3, 2], [3e9, 2e9], [5])],
    ),
    "multi_normal": (multi_normal, [([0.3, -1.0], [1.0, 0.5], S2), ([30.0, 1.0, 2.0], [0.0, 0.0, 1.0], S3)]),
    "multi_normal_cholesky": (
        multi_normal_cholesky,
        [([0.3, -1.0], [1.0, 0.5], [0.7, 0.0, 0.4, 1.3]), ([30.0, 1.0, 2.0], [0.0, 0.0, 1.0], L3)],
    ),
    "multi_normal_prec": (multi_normal_prec, [([0.3, -1.0], [1.0, 0.5], S2), ([3.0, 1.0, 2.0], [0.0, 0.0, 1.0], S3)]),
    "multi_student_t": (
        multi_student_t,
        [([0.3, -1.0], [3.5], [1.0, 0.5], S2), ([30.0, 1.0, 2.0], [30.0], [0.0, 0.0, 1.0], S3),
         ([0.3, -1.0], [1e9], [1.0, 0.5], S2), ([1e4, -1.0], [0.5], [1.0, 0.5], S2)],
    ),
    "lkj_corr": (lkj_corr, [([1.0, 0.6, 0.6, 1.0], [2.0]), (C3, [0.7]), (C3, [40.0])]),
    "lkj_corr_cholesky": (
        lkj_corr_cholesky,
        [([1.0, 0.0, 0.6, 0.8], [2.0]), ([1.0, 0.0, 0.0, 0.6, 0.8, 0.0, -0.48, 0.6, 0.64], [0.7]),
         ([1.0, 0.0, 0.0, 0.6, 0.8, 0.0, -0.48, 0.6, 0.64], [40.0])],
    ),
    "wishart": (wishart, [([1.3, 0.4, 0.4, 0.9], [3.5], [0.7, 0.1, 0.1, 1.3]), (X3, [12.0], S3)]),
    "inv_wishart": (inv_wishart, [([1.3, 0.4, 0.4, 0.9], [3.5], [0.7, 0.1, 0.1, 1.3]), (X3, [12.0], S3)]),
    "gaussian_random_walk": (gaussian_random_walk, [(F4, [0.7], [0.0]), ([10.0, 11.0, 9.5], [0.7], [5.0]), ([2.0], [3.0], [0.0])]),
} | {
    name: (gp(kernel), [(F4, P4, [1.3], [0.7], *([[2.2]] if name == "gp_periodic" else []), [0.001]),
                        (F4, P8, [1.3], [0.7], *([[2.2]] if name == "gp_periodic" else []), [0.1])])
    for name, kernel in KERNELS.items()
}


def arrays():
    for name, (density, points) in ARRAYS.items():
        for x, *args in points:
            yield {"dist": name, "x": x, "args": args, "value": float(density(x, *args))}


def main():
    cases = list(discrete()) + list(arrays())
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "distributions_b.json")
    with open(path, "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


main()
