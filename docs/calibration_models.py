"""Random small models whose posteriors are known, by class: what calibration.py tries stickler on.

A kind is a function of a random generator that gives a `Case`: the text of a model, its data, and its truth,
which is {parameter: summary} as calibration_truth.py makes them, or IMPROPER where there is no posterior.
"""
import itertools
from dataclasses import dataclass, field

import numpy as np
from scipy import special, stats
from scipy.special import expit, gammaln, log_ndtr, logsumexp, xlog1py, xlogy

import calibration_truth as truth_of
from calibration_truth import distribution, gaussian, of_normals, posterior, positive, real, within

IMPROPER = "no posterior"
KINDS = []  # (class, name, how many in each hundred models, function)


@dataclass
class Case:
    model: str
    data: dict = field(default_factory=dict)
    truth: object = None
    may_flag: bool = False  # a doubtful finding is right, too (labels that can be exchanged)


def kind(of_class, share=1.0):

    def enter(function):
        KINDS.append((of_class, function.__name__, share, function))
        return function

    return enter


def short(x):
    """Numbers as they stand in a model: four digits."""
    if np.ndim(x):
        return [short(v) for v in np.asarray(x)]
    return float(f"{float(x):.4g}")


def pick(rng, *values):
    return values[rng.integers(len(values))]


def power(rng, low, high):
    """Even on a log scale, of base ten."""
    return short(10**rng.uniform(low, high))


def column(x):
    return np.asarray(x)[:, None]


def normal(x, mean=0.0, sd=1.0):
    return -0.5 * ((x - mean) / sd)**2 - np.log(sd) - 0.9189385332046727


def student(x, nu, mean=0.0, sd=1.0):
    if np.isscalar(nu) and nu == np.inf:
        return normal(x, mean, sd)
    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)
    return constant - np.log(sd) - 0.5 * (nu + 1) * np.log1p(((x - mean) / sd)**2 / nu)


def gamma(x, shape, rate):
    return shape * np.log(rate) - gammaln(shape) + (shape - 1) * np.log(x) - rate * x


def lines(*parts):
    return "\n".join(part for part in parts if part) + "\n"


# Modes


def times_normal(log_weights, means, sds, y, s):
    """A mixture of normals times the likelihood of y about its value, with standard deviation s."""
    y = np.atleast_1d(y)
    means, sds = np.asarray(means, float), np.asarray(sds, float)
    precision = 1 / sds**2 + len(y) / s**2
    after = (means / sds**2 + y.sum() / s**2) / precision
    total = sds**2 + s**2 / len(y)
    logs = np.asarray(log_weights) - 0.5 * (y.mean() - means)**2 / total - 0.5 * np.log(total)
    return np.exp(logs - logsumexp(logs)), after, precision**-0.5


def components(rng, count):
    """Weights, centres and scales of a mixture, from overlapping to very far apart and very narrow."""
    weights = np.round(rng.dirichlet(np.ones(count) * 2) + 0.01, 3)
    weights = weights[:-1].tolist() + [short(1 - weights[:-1].sum())]
    if weights[-1] <= 0:
        return components(rng, count)
    unit = power(rng, -2, 2)
    scales = short(unit * 10**rng.uniform(-1.5, 0.3, count))
    apart = unit * 10**rng.uniform(-0.3, 1.8)
    centre = pick(rng, 0, 0, unit * 10 * rng.normal())
    means = short(centre + apart * (rng.permutation(count) + rng.uniform(-0.3, 0.3, count)))
    return weights, means, scales


def mixture_text(weights, means, scales):
    parts = [f"{w}: normal({m}, {s})" for w, m, s in zip(weights, means, scales)]
    return f"mixture({', '.join(parts)})"


@kind("modes", 3)
def mixture_prior(rng):
    count = pick(rng, 2, 2, 3)
    weights, means, scales = components(rng, count)
    s = short(max(scales) * 10**rng.uniform(-0.5, 2))
    where = pick(rng, np.mean(means), means[0], np.dot(weights, means))
    y = short(where + s * rng.normal(0, 1, pick(rng, 1, 1, 2, 4)))
    model = lines("data { y : real[N]; s : real }", f"param b ~ {mixture_text(weights, means, scales)}",
                  "y ~ normal(b, s)")
    after = times_normal(np.log(weights), means, scales, y, s)
    return Case(model, {"y": y, "s": s}, {"b": of_normals(*after)})


@kind("modes")
def mixture_alone(rng):
    weights, means, scales = components(rng, pick(rng, 2, 3, 4))
    if rng.random() < 0.5:
        model = f"param b ~ {mixture_text(weights, means, scales)}\n"
    else:
        terms = [f"log({w}) + normal_lpdf(b | {m}, {s})" for w, m, s in zip(weights, means, scales)]
        model = lines("param b ~ flat()", f"target += log_sum_exp([{', '.join(terms)}])")
    return Case(model, {}, {"b": of_normals(weights, means, scales)})


def wide_pair(rng, *dimensions):
    """Two normals in many dimensions: weight, centres [2, d], scales."""
    d = int(pick(rng, *(dimensions or (1, 2, 3, 4, 5, 6, 8, 10, 12))))
    w = short(rng.uniform(0.08, 0.92))
    unit = power(rng, -1.5, 1.5)
    scales = short(unit * 10**(rng.uniform(-0.3, 0.3, 2) if rng.random() < 0.7 else rng.uniform(-1.5, 0, 2)))
    apart = unit * 10**rng.uniform(0, 1.3) / (np.sqrt(d) if rng.random() < 0.5 else 1)
    return d, w, short(apart * rng.uniform(0.5, 1.5) * np.array([-1, 1]) + unit * rng.normal()), scales


def pair_spellings(w, m, s):
    one, two = [f"sum(normal_lpdf(a | {m[i]}, {s[i]}))" for i in (0, 1)]
    by_hand = [f"-0.5 * sum(((a - {m[i]}) / {s[i]})^2) - D * log({s[i]})" for i in (0, 1)]
    return [
        f"target += log_mix({w}, {one}, {two})",
        f"target += log_sum_exp([log({w}) + {one}, log1m({w}) + {two}])",
        f"target += log_sum_exp([log({w}) {by_hand[0]}, log(1 - {w}) {by_hand[1]}])",
        f"target += log_add_exp(log({w}) + {one}, log1m({w}) + {two})",
        f"let one = {one} + log({w})\nlet two = {two} + log1m({w})\ntarget += log_sum_exp([one, two])",
        f"target += log({w} * exp({one}) + (1 - {w}) * exp({two}))",
    ]


def of_pairs(w, means, scales, y=None, s=1.0):
    """Summaries of a[1..d]: two normals, centres [2, d] and scales [2], times a likelihood of y[d]."""
    means, scales = np.asarray(means, float), np.asarray(scales, float)[:, None] * np.ones_like(means)
    logs = np.log([w, 1 - w])
    if y is not None:
        total = scales**2 + s**2
        logs = logs + np.sum(-0.5 * (y - means)**2 / total - 0.5 * np.log(total), axis=1)
        precision = 1 / scales**2 + 1 / s**2
        means, scales = (means / scales**2 + np.asarray(y) / s**2) / precision, precision**-0.5
    weights = np.exp(logs - logsumexp(logs))
    return {f"a[{i + 1}]": of_normals(weights, means[:, i], scales[:, i]) for i in range(means.shape[1])}


@kind("modes", 4)
def log_mix(rng):
    d, w, m, s = wide_pair(rng)
    spelling = pick(rng, *pair_spellings(w, m, s)[:5])
    flat = rng.random() < 0.6
    means = np.outer(m, np.ones(d))
    if flat:
        model = lines(f"let D = {d}", f"param a[{d}] ~ flat()", spelling)
        return Case(model, {}, of_pairs(w, means, s))
    noise = short(np.mean(s) * 10**rng.uniform(0.3, 1.5))
    y = short(np.mean(m) + noise * rng.normal(0, 0.3, d))
    model = lines("data { y : real[D]; noise : real }", "param a[D] ~ flat()", spelling,
                  "y ~ normal(a, noise)")
    return Case(model, {"y": y, "noise": noise}, of_pairs(w, means, s, np.array(y), noise))


@kind("modes")
def log_mix_many(rng):
    """More dimensions; the scales alike, so that both normals have much of the weight."""
    d, w, m, _ = wide_pair(rng, 15, 20, 30)
    s = short([abs(m[1] - m[0]) * 10**rng.uniform(-1.5, 0)] * 2)
    spelling = pick(rng, *pair_spellings(w, m, s)[:5])
    model = lines(f"let D = {d}", f"param a[{d}] ~ flat()", spelling)
    return Case(model, {}, of_pairs(w, np.outer(m, np.ones(d)), s))


PARTS = [  # components that are not normal: spelling and scipy distribution, by centre and scale
    (lambda m, s: f"normal({m}, {s})", lambda m, s: stats.norm(m, s)),
    (lambda m, s: f"student_t(3, {m}, {s})", lambda m, s: stats.t(3, m, s)),
    (lambda m, s: f"double_exponential({m}, {s})", lambda m, s: stats.laplace(m, s)),
    (lambda m, s: f"logistic({m}, {s})", lambda m, s: stats.logistic(m, s)),
    (lambda m, s: f"gumbel({m}, {s})", lambda m, s: stats.gumbel_r(m, s)),
    (lambda m, s: f"skew_normal({m}, {s}, 3)", lambda m, s: stats.skewnorm(3, m, s)),
]
POSITIVE_PARTS = [  # by median, and scale of the logarithm
    (lambda m, s: f"lognormal({short(np.log(m))}, {s})",
     lambda m, s: stats.lognorm(s, 0, np.exp(short(np.log(m))))),
    (lambda m, s: f"gamma({short(s**-2)}, {short(s**-2 / m)})",
     lambda m, s: stats.gamma(short(s**-2), 0, 1 / short(s**-2 / m))),
    (lambda m, s: f"weibull({short(1 / s)}, {m})", lambda m, s: stats.weibull_min(short(1 / s), 0, m)),
    (lambda m, s: f"inv_gamma({short(2 + s**-2)}, {short(m * s**-2)})",
     lambda m, s: stats.invgamma(short(2 + s**-2), 0, short(m * s**-2))),
]


def mixed(rng, weights, centres, scales, table):
    """Text and log density of a mixture of parts from a table."""
    parts = [table[rng.integers(len(table))] for _ in weights]
    text = ", ".join(f"{w}: {part[0](m, s)}" for w, m, s, part in zip(weights, centres, scales, parts))
    frozen = [part[1](m, s) for m, s, part in zip(centres, scales, parts)]

    def log_density(x):
        return logsumexp([np.log(w) + dist.logpdf(x) for w, dist in zip(weights, frozen)], axis=0)

    return f"mixture({text})", log_density


@kind("modes", 1.5)
def mixture_of_others(rng):
    """A mixture of parts that are not all normal, with or without data."""
    weights, means, scales = components(rng, pick(rng, 2, 3))
    text, log_prior = mixed(rng, weights, means, scales, PARTS)
    hints = [(m, s / 2) for m, s in zip(means, scales)]
    if rng.random() < 0.4:
        return Case(f"param b ~ {text}\n", {}, posterior(log_prior, [real("b", *hints)]))
    s = short((max(means) - min(means)) * 10**rng.uniform(-0.5, 0.5))
    y = short(np.mean(means) + s * rng.normal(0, 0.3, int(rng.integers(1, 4))))
    model = lines("data { y : real[N] }", f"param b ~ {text}", f"y ~ normal(b, {s})")
    answer = posterior(lambda b: log_prior(b) + normal(np.array(y), column(b), s).sum(axis=1),
                       [real("b", *hints)])
    return Case(model, {"y": y}, answer)


@kind("modes", 1.5)
def mixture_on_positive(rng):
    """A mixture as the prior of a standard deviation or a rate."""
    weights = short([0.3, 0.7] if rng.random() < 0.5 else [0.6, 0.4])
    medians = short(10**(rng.uniform(-1, 1) + np.array([0, 1]) * rng.uniform(0.3, 2.5)))
    text, log_prior = mixed(rng, weights, medians, short(10**rng.uniform(-1.2, -0.2, 2)), POSITIVE_PARTS)
    between = np.sqrt(medians[0] * medians[1])
    if rng.random() < 0.5:
        y = np.array(short(rng.normal(0, between, int(rng.integers(1, 4)))))
        model = lines("data { y : real[N] }", f"param s ~ {text}", "y ~ normal(0, s)")
        log = lambda s: normal(y, 0, column(s)).sum(axis=1)
    else:
        y = np.array(short(rng.exponential(1 / between, int(rng.integers(1, 4)))))
        model = lines("data { y : real[N] }", f"param s ~ {text}", "y ~ exponential(s)")
        log = lambda s: len(y) * np.log(s) - s * y.sum()
    answer = posterior(lambda s: log_prior(s) + log(s), [positive("s", *[(m, 0.05) for m in medians])])
    return Case(model, {"y": y.tolist()}, answer)


@kind("modes", 1.5)
def branch_in_likelihood(rng):
    """Data from one of two means that a parameter has on either side."""
    w, s, wide = short(rng.uniform(0.2, 0.8)), power(rng, -0.7, 0.3), pick(rng, 2.0, 5.0)
    same = lambda b: b
    one, f, two, g = pick(rng, ("b", same, "-b", lambda b: -b), ("b", same, "b + 4", lambda b: b + 4),
                          ("b", same, "2 * b", lambda b: 2 * b), ("b", same, "0", lambda b: 0 * b),
                          ("exp(b)", np.exp, "-exp(b)", lambda b: -np.exp(b)))
    b0, n = rng.normal(0, wide), int(rng.integers(1, 8))
    y = np.array(short(np.clip(np.where(rng.random(n) < w, f(b0), g(b0)), -50, 50) + rng.normal(0, s, n)))
    spelling = pick(rng, f"y ~ mixture({w}: normal({one}, {s}), {short(1 - w)}: normal({two}, {s}))",
                    f"target += log_mix({w}, normal_lpdf(y | {one}, {s}), normal_lpdf(y | {two}, {s}))")
    model = lines("data { y : real[N] }", f"param b ~ normal(0, {wide})", spelling)

    def log_density(b):
        parts = np.log(w) + normal(y, column(f(b)), s), np.log1p(-w) + normal(y, column(g(b)), s)
        return normal(b, 0, wide) + np.logaddexp(*parts).sum(axis=1)

    hints = [(c * sign, s / 3) for v in y for sign in (1, -1) for c in (v, v - 4, v / 2)]
    hints += [(np.log(abs(v) + 1e-3), 0.05) for v in y]
    return Case(model, {"y": y.tolist()}, {"b": posterior(log_density, [real("b", *hints)])["b"]})


@kind("modes", 1.5)
def centres_as_data(rng):
    """Centres that differ from axis to axis, as vectors of data."""
    d, w, m, s = wide_pair(rng)
    unit = abs(m[1] - m[0])
    one, two = short(rng.normal(0, unit, d)), short(rng.normal(0, unit, d))
    model = lines(
        "data { m1 : real[D]; m2 : real[D] }", "param a[D] ~ flat()",
        pick(
            rng, f"target += log_mix({w}, sum(normal_lpdf(a | m1, {s[0]})), "
            f"sum(normal_lpdf(a | m2, {s[1]})))", f"let u = log({w}) + sum(normal_lpdf(a | m1, {s[0]}))\n"
            f"let v = log1m({w}) + sum(normal_lpdf(a | m2, {s[1]}))\ntarget += log_sum_exp([u, v])"))
    return Case(model, {"m1": one, "m2": two}, of_pairs(w, [one, two], s))


@kind("modes")
def correlated_pair(rng):
    """Two normals with correlations, in two dimensions."""
    w = short(rng.uniform(0.1, 0.9))
    means = [short(rng.normal(0, pick(rng, 2, 5, 20), 2)) for _ in range(2)]
    covariances = []
    for _ in range(2):
        s, r = 10**rng.uniform(-0.5, 0.5, 2), rng.uniform(-0.9, 0.9)
        covariances.append(short([[s[0]**2, r * s[0] * s[1]], [r * s[0] * s[1], s[1]**2]]))
    parts = [f"multi_normal({m}, {c})" for m, c in zip(means, covariances)]
    if rng.random() < 0.5:
        model = f"param a[2] ~ mixture({w}: {parts[0]}, {short(1 - w)}: {parts[1]})\n"
    else:
        parts = [f"multi_normal_lpdf(a | {m}, {c})" for m, c in zip(means, covariances)]
        model = lines("param a[2] ~ flat()", f"target += log_mix({w}, {parts[0]}, {parts[1]})")
    return Case(model, {}, gaussian(means, covariances, "a", [w, short(1 - w)]))


@kind("modes", 1.5)
def spike_and_slab(rng):
    """A mixture for each coefficient of a regression; all 2^d choices are summed."""
    d, n = int(rng.integers(1, 5)), int(rng.integers(2, 8))
    w, spike, slab = short(rng.uniform(0.2, 0.8)), power(rng, -2, -0.5), power(rng, -0.2, 1)
    at = pick(rng, 0.0, 0.0, short(3 * slab))
    x = np.eye(d) if rng.random() < 0.4 else rng.normal(0, 1, (n, d))
    x, s = np.array(short(x)), power(rng, -0.3, 0.5)
    y = short(x @ rng.normal(0, slab * rng.integers(0, 2, d)) + rng.normal(0, s, len(x)))
    prior = f"mixture({w}: normal(0, {spike}), {short(1 - w)}: normal({at}, {slab}))"
    model = lines("data { y : real[N]; x : real[N, D]; s : real }", f"param a[D] ~ {prior}",
                  "y ~ normal(x * a, s)")
    logs, means, covariances = [], [], []
    for choice in itertools.product([0, 1], repeat=d):
        sds, centre = np.array([[spike, slab][c] for c in choice]), np.array([[0.0, at][c] for c in choice])
        weight = np.sum(np.log([[w, 1 - w][c] for c in choice]))
        logs.append(weight + stats.multivariate_normal.logpdf(y, x @ centre,
                                                              s * s * np.eye(len(x)) + (x * sds**2) @ x.T))
        covariance = np.linalg.inv(np.diag(sds**-2.0) + x.T @ x / s**2)
        means.append(covariance @ (centre / sds**2 + x.T @ y / s**2))
        covariances.append(covariance)
    weights = np.exp(np.array(logs) - logsumexp(logs))
    return Case(model, {"y": y, "x": x.tolist(), "s": s}, gaussian(means, covariances, "a", weights))


@kind("modes", 2)
def free_labels(rng):
    """Two means of a mixture of data; all 2^n labellings are summed."""
    n, s, w = int(rng.integers(1, 10)), power(rng, -0.5, 0.5), short(rng.uniform(0.25, 0.75))
    same = rng.random() < 0.5
    if same and rng.random() < 0.5:
        w = 0.5
    centre = short([0.0, 0.0] if same else rng.normal(0, 3, 2))
    spread = short([5.0, 5.0] if same else 10**rng.uniform(0, 1, 2))
    shift = pick(rng, 0, 0, 60)
    centre = short(np.array(centre) + shift)
    y = np.array(short(shift + rng.choice(rng.normal(0, 4, 2), n) + rng.normal(0, s, n)))
    model = lines("data { y : real[N] }", f"param mu[2] ~ normal({centre}, {spread})",
                  f"y ~ mixture({w}: normal(mu[1], {s}), {short(1 - w)}: normal(mu[2], {s}))")
    logs, means, covariances = [], [], []
    for labels in itertools.product([0, 1], repeat=n):
        labels, log, mean, sd = np.array(labels), 0.0, [], []
        for k in (0, 1):
            mine = y[labels == k]
            log += len(mine) * np.log([w, 1 - w][k]) + stats.multivariate_normal.logpdf(
                mine, np.full(len(mine), centre[k]),
                s * s * np.eye(len(mine)) + spread[k]**2) if len(mine) else 0
            precision = 1 / spread[k]**2 + len(mine) / s**2
            mean.append((centre[k] / spread[k]**2 + mine.sum() / s**2) / precision)
            sd.append(precision**-0.5)
        logs.append(log), means.append(mean), covariances.append(np.diag(np.square(sd)))
    weights = np.exp(np.array(logs) - logsumexp(logs))
    return Case(model, {"y": y.tolist()}, gaussian(means, covariances, "mu", weights), may_flag=same)


BENT = [  # spelling, function, period or None
    ("b^2", lambda b: b**2),
    ("abs(b)", np.abs),
    ("sin(b)", np.sin),
    ("cos(2 * b)", lambda b: np.cos(2 * b)),
    ("b^3 - 3 * b", lambda b: b**3 - 3 * b),
    ("square(b - 1)", lambda b: (b - 1)**2),
    ("hypot(b, 1)", lambda b: np.hypot(b, 1)),
    ("b^4", lambda b: b**4),
    ("cosh(b)", np.cosh),
    ("sin(3 * b) + 0.3 * b", lambda b: np.sin(3 * b) + 0.3 * b),
    ("abs(b - 2) + abs(b + 2)", lambda b: abs(b - 2) + abs(b + 2)),
    ("exp(-b^2)", lambda b: np.exp(-b**2)),
    ("b / (1 + b^2)", lambda b: b / (1 + b**2)),
]


@kind("modes", 4)
def bent_mean(rng):
    """The mean of the data bends back: several values of b fit."""
    text, f = BENT[rng.integers(len(BENT))]
    m, wide = pick(rng, 0.0, 0.0, short(rng.normal())), pick(rng, 1.0, 2.0, 3.0, 5.0)
    s = power(rng, -1.7, 0.3)
    with np.errstate(over="ignore"):
        top = f(np.clip(rng.normal(m, wide), -4, 4))
    y = short(top + s * rng.normal(0, 1, pick(rng, 1, 1, 3)))
    if rng.random() < 0.3:
        prior, log_prior = f"student_t(3, {m}, {wide})", lambda b: student(b, 3, m, wide)
    else:
        prior, log_prior = f"normal({m}, {wide})", lambda b: normal(b, m, wide)
    model = lines("data { y : real[N] }", f"param b ~ {prior}", f"y ~ normal({text}, {s})")
    hints = [(c, 0.3) for c in np.arange(-30, 30.5, 1.5)]
    answer = posterior(lambda b: log_prior(b) + normal(y, column(f(b)), s).sum(axis=1), [real("b", *hints)])
    return Case(model, {"y": y}, answer)


@kind("modes", 2)
def conflict(rng):
    """Two groups of data that disagree, with a heavy-tailed likelihood."""
    apart, s = power(rng, 0.3, 1.7), power(rng, -0.7, 0.3)
    n = rng.integers(1, 5, 2) + rng.integers(0, 2)
    y = np.array(short(np.concatenate([rng.normal(0, s, n[0]), rng.normal(apart, s, n[1])])))
    nu = pick(rng, 1, 1, 2, 4)
    likelihood = f"cauchy(m, {s})" if nu == 1 else f"student_t({nu}, m, {s})"
    wide = pick(rng, None, 10, 100)
    if len(y) * (nu + 1) < 6:
        wide = wide or 10
    model = lines("data { y : real[N] }",
                  "param m ~ flat()" if wide is None else f"param m ~ normal(0, {wide})", f"y ~ {likelihood}")

    def log_density(m):
        return student(y, nu, column(m), s).sum(axis=1) + (normal(m, 0, wide) if wide else 0)

    return Case(model, {"y": y.tolist()}, posterior(log_density, [real("m", *[(v, s / 3) for v in y])]))


@kind("modes", 2)
def bent_plane(rng):
    """Two parameters, of which the data see a product, a length, or squares."""
    text, f = pick(rng, ("a * b", lambda a, b: a * b), ("hypot(a, b)", np.hypot),
                   ("a^2 + b", lambda a, b: a * a + b), ("a^2 + b^2", lambda a, b: a * a + b * b),
                   ("abs(a) - abs(b)", lambda a, b: abs(a) - abs(b)), ("max([a, b])", np.maximum),
                   ("a^2 - b^2", lambda a, b: a * a - b * b))
    sa, sb, s = pick(rng, 1.0, 2.0, 3.0), pick(rng, 1.0, 2.0), power(rng, -1, 0)
    y = short(f(rng.normal(0, sa), rng.normal(0, sb)) + s * rng.normal(0, 1, pick(rng, 1, 2)))
    model = lines("data { y : real[N] }", f"param a ~ normal(0, {sa})", f"param b ~ normal(0, {sb})",
                  f"y ~ normal({text}, {s})")

    def log_density(a, b):
        return normal(a, 0, sa) + normal(b, 0, sb) + normal(y, column(f(a, b)), s).sum(axis=1)

    even = [(c, 0.5) for c in np.linspace(-6, 6, 13)]
    return Case(model, {"y": y}, posterior(log_density, [real("a", *even), real("b", *even)]), may_flag=False)


@kind("modes")
def double_well(rng):
    c, s = power(rng, -0.5, 1.5), power(rng, -1, 1)
    tilt = pick(rng, 0.0, short(rng.normal(0, 0.3)))
    model = lines("param a ~ flat()", f"target += -(a^2 - {c})^2 / {s} + {tilt} * a")
    answer = posterior(lambda a: -(a * a - c)**2 / s + tilt * a, [real("a", (c**0.5, 0.2), (-c**0.5, 0.2))])
    return Case(model, {}, {"a": answer["a"]})


# Funnels and hierarchies


@kind("funnels", 2)
def funnel(rng):
    """v normal, x[d] with standard deviation exp(v / 2), with data on x or none."""
    d, wide = int(rng.integers(1, 9)), pick(rng, 0.3, 0.7, 1.0, 1.5, 2.0, 3.0)
    form = pick(rng, "", " noncentered")
    head = [f"param v ~ normal(0, {wide})", f"param x[{d}] ~ normal(0, exp(v / 2)){form}"]
    if rng.random() < 0.5:
        answer = posterior(lambda v: normal(v, 0, wide), [real("v", (0, wide))],
                           lambda v: {"x[1]": (0 * v, np.exp(v / 2))})
        return Case(lines(*head), {}, answer)
    s = power(rng, -0.5, 0.5)
    y = np.array(short(rng.normal(0, np.exp(rng.normal(0, wide) / 2), d) + rng.normal(0, s, d)))
    model = lines("data { y : real[D] }", *head, f"y ~ normal(x, {s})")

    def inner(v):
        t = np.exp(v)
        return {f"x[{i + 1}]": (y[i] * t / (t + s * s), s * np.sqrt(t / (t + s * s))) for i in range(d)}

    def log_density(v):
        return normal(v, 0, wide) + normal(y, 0, np.sqrt(s * s + np.exp(column(v)))).sum(axis=1)

    return Case(model, {"y": y.tolist()}, posterior(log_density, [real("v", (0, wide), (0, 1))], inner))


SCALES = [  # spelling, log density, how it is drawn
    (lambda u: f"half_normal({u})", lambda t, u: normal(t, 0, u)),
    (lambda u: f"half_cauchy({u})", lambda t, u: student(t, 1, 0, u)),
    (lambda u: f"half_student_t(3, {u})", lambda t, u: student(t, 3, 0, u)),
    (lambda u: f"exponential({short(1 / u)})", lambda t, u: -short(1 / u) * t),
    (lambda u: f"uniform(0, {short(5 * u)})", lambda t, u: np.where(t < short(5 * u), 0, -np.inf)),
    (lambda u: f"lognormal({short(np.log(u))}, 1)",
     lambda t, u: normal(np.log(t), short(np.log(u))) - np.log(t)),
    (lambda u: f"gamma(2, {short(2 / u)})", lambda t, u: gamma(t, 2, short(2 / u))),
    (lambda u: f"inv_gamma(2, {u})", lambda t, u: -3 * np.log(t) - u / t),
]


def scale_prior(rng, unit, choices=None):
    text, log_density = SCALES[rng.integers(len(SCALES))] if choices is None else SCALES[pick(rng, *choices)]
    return text(unit), lambda t: log_density(t, unit)


def given_groups(t, y, s, wide):
    """Effects m + t z of groups, seen as y with errors s: log evidence, and (mean, sd) of m and effects."""
    t, y, s = column(t), np.asarray(y), np.asarray(s)
    variance = s**2 + t**2
    precision = (1 / variance).sum(axis=1) + wide**-2
    centre = (y / variance).sum(axis=1) / precision
    log = (-0.5 * np.log(variance) -
           0.5 * y**2 / variance).sum(axis=1) - 0.5 * np.log(precision) + 0.5 * centre**2 * precision
    shrink = s**2 / variance
    means = y + shrink * (column(centre) - y)
    sds = np.sqrt(s**2 * t**2 / variance + shrink**2 / column(precision))
    effects = {f"a[{j + 1}]": (means[:, j], sds[:, j]) for j in range(len(y))}
    return log, {"m": (centre, precision**-0.5), **effects}


@kind("funnels", 3)
def groups(rng):
    """A group sd with few groups whose errors are known."""
    count = int(rng.integers(2, 9))
    s = np.array(short(10**rng.uniform(-0.3, 0.7, count)))
    unit = power(rng, -0.3, 1)
    y = short(rng.normal(0, pick(rng, 0, 1, 3) * unit, count) + rng.normal(0, s) + rng.normal(0, 3))
    prior, log_prior = scale_prior(rng, unit)
    wide = pick(rng, 5.0, 20.0, None)
    form = pick(rng, "", " noncentered", " centered")
    centre = "flat()" if wide is None else f"normal(0, {wide})"
    model = lines("data { y : real[J]; s : real[J] }", f"param m ~ {centre}", f"param t ~ {prior}",
                  f"param a[J] ~ normal(m, t){form.replace(' centered', '')}", "y ~ normal(a, s)")
    answer = posterior(lambda t: log_prior(t) + given_groups(t, y, s, wide or np.inf)[0],
                       [positive("t", (unit, 1))], lambda t: given_groups(t, y, s, wide or np.inf)[1])
    return Case(model, {"y": y, "s": s.tolist()}, answer)


@kind("funnels", 2)
def groups_with_noise(rng):
    """Rows in groups, with both standard deviations unknown."""
    count, each = int(rng.integers(2, 7)), int(rng.integers(2, 6))
    t0, s0 = power(rng, -1, 0.7), power(rng, -0.5, 0.5)
    a = rng.normal(0, t0, count)
    y = np.array([short(v + rng.normal(0, s0, each)) for v in a])
    prior, log_prior = scale_prior(rng, 1.0, (0, 1, 3, 2))
    noise, log_noise = scale_prior(rng, 2.0, (0, 1, 3))
    form = pick(rng, "", " noncentered")
    model = lines("data { y : real[N]; g : category[N] of J }", "param m ~ normal(0, 5)",
                  f"param t ~ {prior}", f"param s ~ {noise}", f"param a[J] ~ normal(m, t){form}",
                  "y ~ normal(a[g], s)")
    within_ss = ((y - y.mean(axis=1, keepdims=True))**2).sum()

    def given(t, s):
        error = column(s / np.sqrt(each)) * np.ones(count)
        return given_groups(t, y.mean(axis=1), error, 5.0)

    def log_density(t, s):
        inside = -count * (each - 1) * np.log(s) - 0.5 * within_ss / s**2
        return log_prior(t) + log_noise(s) + inside + given(t, s)[0]

    answer = posterior(log_density, [positive("t", (1, 1)), positive("s", (s0, 0.5))],
                       lambda t, s: given(t, s)[1])
    data = {"y": y.ravel().tolist(), "g": np.repeat(np.arange(1, count + 1), each).tolist()}
    return Case(model, data, answer)


LAMBDA = np.linspace(-1, 1, 81)  # points of an even rule for a log mixing scale, in units below


def mixing(nu):
    """Log variances' factors and log weights that make a Student-t of nu degrees of freedom from normals."""
    centre = np.log(np.maximum(nu, 0.05))
    span = 4 + 30 / np.sqrt(np.maximum(nu, 0.05))**1.0
    log_l = column(np.minimum(span, 40)) * LAMBDA - 0 * column(centre)
    half = column(nu) / 2
    logs = half * np.log(half) - gammaln(half) + half * log_l - half * np.exp(log_l)
    return -log_l, logs + np.log(column(np.minimum(span, 40)) * (LAMBDA[1] - LAMBDA[0]))


def robust_log(m, s, nu, y, error):
    """Log evidence of y about student_t(nu, m, s) effects, seen with normal errors."""
    factor, logs = mixing(nu)
    total = 0.0
    for v in y:
        variance = column(s**2) * np.exp(factor) + error**2
        total = total + logsumexp(logs - 0.5 * (v - column(m))**2 / variance - 0.5 * np.log(variance), axis=1)
    return total


@kind("funnels", 1.5)
def robust_groups(rng):
    """Student-t effects; the degrees of freedom are known or not."""
    count = int(rng.integers(4, 9))
    y = np.array(
        short(rng.standard_t(pick(rng, 1.5, 3, 30), count) * pick(rng, 0.3, 1, 4) + rng.normal(0, 1, count)))
    wide, unit, error = pick(rng, 5.0, 10.0), pick(rng, 1.0, 3.0), pick(rng, 1.0, 0.5)
    prior, log_prior = scale_prior(rng, unit, (0, 1, 3))
    known = rng.random() < 0.5
    nu = pick(rng, 3.0, 4.0, 7.0)
    form = pick(rng, "", "", " noncentered")
    model = lines("data { y : real[J] }", "" if known else "param nu ~ gamma(2, 0.5)",
                  f"param m ~ normal(0, {wide})", f"param s ~ {prior}",
                  f"param t[J] ~ student_t({nu if known else 'nu'}, m, s){form}", f"y ~ normal(t, {error})")

    def log_density(m, s, nu=nu):
        nu = nu + 0 * m
        return normal(m, 0, wide) + log_prior(s) + robust_log(m, s, nu, y, error)

    axes = [real("m", (np.median(y), 1)), positive("s", (unit, 1))]
    if known:
        return Case(model, {"y": y.tolist()}, posterior(log_density, axes))
    axes.append(positive("nu", (3, 1)))
    answer = posterior(lambda m, s, nu: log_density(m, s, nu) + gamma(nu, 2, 0.5), axes)
    return Case(model, {"y": y.tolist()}, answer)


def count_evidence(log_likelihood, slope, m, t, y):
    """Log integral of a count's likelihood times normal(m, t), by an even rule about the mode."""
    e = m + 0.0
    for _ in range(30):
        first, second = slope(e, y)
        step = (first - (e - m) / t**2) / (t**-2.0 - second)
        e = e + np.clip(step, -2, 2)
    sd = (t**-2.0 - slope(e, y)[1])**-0.5
    z = np.linspace(-9, 9, 61)
    points = column(e) + column(sd) * z
    logs = log_likelihood(points, y) - 0.5 * ((points - column(m)) / column(t))**2 - np.log(column(t))
    return logsumexp(logs, axis=1) + np.log(sd)


@kind("funnels", 1.5)
def groups_of_counts(rng):
    count = int(rng.integers(3, 8))
    a = rng.normal(rng.normal(0, 1), pick(rng, 0.1, 0.5, 1.5), count)
    prior, log_prior = scale_prior(rng, 1.0, (0, 1, 3))
    form = pick(rng, "", " noncentered")
    if rng.random() < 0.5:
        k = rng.poisson(np.exp(np.minimum(a, 4)))
        data, head, like = {"k": k.tolist()}, "data { k : count[J] }", "k ~ poisson_log(a)"
        log_likelihood, slope = (lambda e, y: y * e - np.exp(e)), (lambda e, y: (y - np.exp(e), -np.exp(e)))
    else:
        n = int(pick(rng, 1, 5, 20))
        k = rng.binomial(n, expit(a))
        data, head = {"k": k.tolist(), "n": n}, "data { k : count[J]; n : count }"
        like = "k ~ binomial_logit(n, a)"
        log_likelihood = lambda e, y: y * e - n * np.logaddexp(0, e)
        slope = lambda e, y: (y - n * expit(e), -n * expit(e) * expit(-e))
    model = lines(head, "param m ~ normal(0, 3)", f"param t ~ {prior}", f"param a[J] ~ normal(m, t){form}",
                  like)

    def log_density(m, t):
        t = np.clip(t, 1e-6, 1e6)
        return normal(m, 0, 3) + log_prior(t) + sum(count_evidence(log_likelihood, slope, m, t, v) for v in k)

    return Case(model, data, posterior(log_density, [real("m", (0, 1)), positive("t", (0.5, 1))]))


@kind("funnels")
def half_cauchy_shrinkage(rng):
    """Horseshoes: each coefficient with a half-Cauchy scale of its own."""
    d, tau, s = int(rng.integers(1, 4)), power(rng, -0.7, 0.3), 1.0
    y = short(rng.normal(0, s, d) + pick(rng, 0, 3, 8) * (np.arange(d) == 0))
    form = pick(rng, "", " noncentered")
    model = lines("data { y : real[D] }", "param l[D] ~ half_cauchy(1)",
                  f"param b[D] ~ normal(0, {tau} * l){form}", f"y ~ normal(b, {s})")
    answer = {}
    for i in range(d):

        def inner(l, y=y[i], i=i):
            t = (tau * l)**2
            return {f"b[{i + 1}]": (y * t / (t + s * s), s * np.sqrt(t / (t + s * s)))}

        answer.update(
            posterior(lambda l: student(l, 1) + normal(y[i], 0, np.sqrt((tau * l)**2 + s * s)),
                      [positive(f"l[{i + 1}]", (1, 1))], inner))
    return Case(model, {"y": y}, answer)


# Heavy tails


@kind("tails", 3)
def heavy_location(rng):
    """Prior and likelihood of a location, one or both with heavy tails."""
    n, s, wide = int(pick(rng, 1, 1, 2, 3, 6)), power(rng, -0.5, 0.7), power(rng, -0.5, 0.7)
    far = pick(rng, 0, 0, 5, 20)
    y = np.array(short(far + rng.standard_t(2, n) * s))
    nu0, nu1 = pick(rng, (1, np.inf), (2, np.inf), (3, 3), (1, 1), (np.inf, 1), (4, 2), (np.inf, 3),
                    (3, np.inf))

    def text(nu, m, s):
        return f"normal({m}, {s})" if nu == np.inf else (
            f"cauchy({m}, {s})" if nu == 1 else f"student_t({nu}, {m}, {s})")

    model = lines("data { y : real[N] }", f"param m ~ {text(nu0, 0, wide)}", f"y ~ {text(nu1, 'm', s)}")
    answer = posterior(lambda m: student(m, nu0, 0, wide) + student(y, nu1, column(m), s).sum(axis=1),
                       [real("m", (0, wide / 3), (y[0], s / 3))])
    return Case(model, {"y": y.tolist()}, answer)


@kind("tails", 2)
def heavy_scale(rng):
    """A scale of few data, with a half-Cauchy or flat prior."""
    n = int(rng.integers(1, 6))
    y = np.array(short(rng.normal(0, power(rng, -1, 2), n)))
    unit = power(rng, -0.3, 1)
    prior, log_prior = scale_prior(rng, unit, (1, 2, 5, 7))
    if n >= 3 and rng.random() < 0.3:
        prior, log_prior = "flat()", lambda s: 0.0
    bound = " : real > 0" if prior == "flat()" else ""
    nu = pick(rng, np.inf, 3)
    model = lines("data { y : real[N] }", f"param s{bound} ~ {prior}",
                  f"y ~ {'normal(' if nu == np.inf else 'student_t(3, '}0, s)")
    answer = posterior(lambda s: log_prior(s) + student(y, nu, 0, column(s)).sum(axis=1),
                       [positive("s", (unit, 0.5))])
    return Case(model, {"y": y.tolist()}, answer)


@kind("tails", 2)
def heavy_pair(rng):
    """Location and scale of few data."""
    n = int(rng.integers(2, 6))
    y = np.array(short(rng.normal(0, 3) + rng.normal(0, 1, n) * power(rng, -0.5, 0.5)))
    prior, log_prior = scale_prior(rng, pick(rng, 1.0, 5.0), (1, 2, 7, 0))
    centre, log_centre = pick(rng, ("flat()", lambda m: 0.0), ("normal(0, 10)", lambda m: normal(m, 0, 10)),
                              ("cauchy(0, 2.5)", lambda m: student(m, 1, 0, 2.5)))
    model = lines("data { y : real[N] }", f"param m ~ {centre}", f"param s ~ {prior}", "y ~ normal(m, s)")
    answer = posterior(
        lambda m, s: log_centre(m) + log_prior(s) + normal(y, column(m), column(s)).sum(axis=1),
        [real("m", (np.mean(y), 0.5)), positive("s", (1, 1))])
    return Case(model, {"y": y.tolist()}, answer)


PRIORS = [  # text, scipy distribution
    ("student_t(3, 1, 2)", stats.t(3, 1, 2)),
    ("student_t(2.5, 0, 1)", stats.t(2.5)),
    ("student_t(1.5, 0, 1)", stats.t(1.5)),
    ("cauchy(0, 1)", stats.cauchy()),
    ("cauchy(5, 0.1)", stats.cauchy(5, 0.1)),
    ("half_cauchy(2)", stats.halfcauchy(0, 2)),
    ("lognormal(0, 1)", stats.lognorm(1)),
    ("lognormal(0, 2)", stats.lognorm(2)),
    ("lognormal(2, 0.3)", stats.lognorm(0.3, 0, np.exp(2))),
    ("gamma(0.1, 1)", stats.gamma(0.1)),
    ("gamma(0.5, 2)", stats.gamma(0.5, 0, 0.5)),
    ("gamma(40, 2)", stats.gamma(40, 0, 0.5)),
    ("inv_gamma(3, 2)", stats.invgamma(3, 0, 2)),
    ("inv_gamma(1, 1)", stats.invgamma(1)),
    ("inv_gamma(0.5, 1)", stats.invgamma(0.5)),
    ("beta(0.1, 0.1)", stats.beta(0.1, 0.1)),
    ("beta(0.5, 0.5)", stats.beta(0.5, 0.5)),
    ("beta(0.2, 3)", stats.beta(0.2, 3)),
    ("exponential(3)", stats.expon(0, 1 / 3)),
    ("weibull(0.5, 1)", stats.weibull_min(0.5)),
    ("weibull(3, 2)", stats.weibull_min(3, 0, 2)),
    ("pareto(1, 3)", stats.pareto(3)),
    ("pareto(1, 1)", stats.pareto(1)),
    ("frechet(2.5, 1)", stats.invweibull(2.5)),
    ("gumbel(1, 2)", stats.gumbel_r(1, 2)),
    ("logistic(0, 3)", stats.logistic(0, 3)),
    ("double_exponential(1, 2)", stats.laplace(1, 2)),
    ("uniform(-2, 5)", stats.uniform(-2, 7)),
    ("half_normal(4)", stats.halfnorm(0, 4)),
    ("chi_square(1)", stats.chi2(1)),
    ("rayleigh(2)", stats.rayleigh(0, 2)),
    ("loglogistic(1, 3)", stats.fisk(3)),
    ("skew_normal(0, 1, 8)", stats.skewnorm(8)),
    ("exp_mod_normal(0, 1, 0.5)", stats.exponnorm(2, 0, 1)),
    ("pareto_type_2(0, 2, 2.5)", stats.lomax(2.5, 0, 2)),
    ("von_mises(0, 0.5)", None),
    ("half_student_t(2, 1)", None),
    ("normal(1e6, 1)", stats.norm(1e6, 1)),
    ("normal(0, 1e-6)", stats.norm(0, 1e-6)),
    ("inv_gaussian(1, 0.3)", stats.invgauss(1 / 0.3, 0, 0.3)),
    ("student_t(4, 1e4, 3)", stats.t(4, 1e4, 3)),
]


@kind("tails", 3)
def priors_alone(rng):
    """One to three parameters with no data."""
    model, answer = [], {}
    for name in "abc"[:rng.integers(1, 4)]:
        text, dist = PRIORS[rng.integers(len(PRIORS))]
        model.append(f"param {name} ~ {text}")
        if dist is not None:
            answer[name] = distribution(dist)
        elif text.startswith("von"):
            answer.update(posterior(lambda x: 0.5 * np.cos(x), [within(name, -np.pi, np.pi)]))
        else:
            answer.update(posterior(lambda x: student(x, 2), [positive(name)]))
    return Case(lines(*model), {}, answer)


@kind("tails")
def ratio(rng):
    """A ratio whose denominator may be 0: Fieller's problem."""
    d = short(rng.normal(0, 2))
    y = short([rng.normal(d * rng.normal(0, 2)), rng.normal(d)])
    prior, log_prior = pick(rng, ("cauchy(0, 2)", lambda r: student(r, 1, 0, 2)),
                            ("normal(0, 5)", lambda r: normal(r, 0, 5)),
                            ("student_t(3, 0, 2)", lambda r: student(r, 3, 0, 2)))
    model = lines("data { y : real[2] }", f"param r ~ {prior}", "param d ~ normal(0, 10)",
                  "y[1] ~ normal(r * d, 1)", "y[2] ~ normal(d, 1)")

    def given(r):
        precision = r * r + 1 + 0.01
        mean = (r * y[0] + y[1]) / precision
        return 0.5 * mean**2 * precision - 0.5 * np.log(precision), {"d": (mean, precision**-0.5)}

    answer = posterior(lambda r: log_prior(r) + given(r)[0], [real("r", (0, 1))], lambda r: given(r)[1])
    return Case(model, {"y": y}, answer)


# Conjugate


@kind("conjugate")
def normal_mean(rng):
    n, s, wide = int(rng.integers(1, 30)), power(rng, -2, 2), power(rng, -1, 2)
    m = pick(rng, 0.0, short(rng.normal(0, 100)))
    y = short(rng.normal(m + wide * rng.normal(0, pick(rng, 1, 1, 10)), s, n))
    model = lines("data { y : real[N] }", f"param m ~ normal({m}, {wide})", f"y ~ normal(m, {s})")
    return Case(model, {"y": y}, {"m": of_normals(*times_normal([0.0], [m], [wide], y, s))})


@kind("conjugate", 2)
def linear_model(rng):
    """Coefficients with a known scale, or with an inverse-gamma variance that scales their prior too."""
    n, d = int(rng.integers(1, 25)), int(rng.integers(1, 7))
    x = np.array(short(rng.normal(0, 10**rng.uniform(-1, 1.5, d), (n, d)))).reshape(n, d)
    wide, s = power(rng, -0.5, 1), power(rng, -1, 1)
    y = np.array(short(x @ rng.normal(0, wide, d) + rng.normal(0, s, n)))
    data = {"y": y.tolist(), "x": x.tolist()}
    precision = x.T @ x + np.eye(d) / wide**2
    if rng.random() < 0.5:
        precision = x.T @ x / s**2 + np.eye(d) / wide**2
        covariance = np.linalg.inv(precision)
        model = lines("data { y : real[N]; x : real[N, D] }", f"param b[D] ~ normal(0, {wide})",
                      f"y ~ normal(x * b, {s})")
        return Case(model, data, gaussian(covariance @ x.T @ y / s**2, covariance, "b"))
    model = lines("data { y : real[N]; x : real[N, D] }", "param v ~ inv_gamma(3, 2)",
                  f"param b[D] ~ normal(0, {wide} * sqrt(v))", "y ~ normal(x * b, sqrt(v))")
    mean = np.linalg.solve(precision, x.T @ y)
    shape, rate = 3 + n / 2, 2 + 0.5 * (y @ y - mean @ precision @ mean)
    answer = {"v": distribution(stats.invgamma(shape, 0, rate))}
    sds = np.sqrt(np.diag(np.linalg.inv(precision)) * rate / shape)
    answer.update({f"b[{i + 1}]": distribution(stats.t(2 * shape, mean[i], sds[i])) for i in range(d)})
    return Case(model, data, answer)


@kind("conjugate", 1.5)
def proportion(rng):
    a, b = pick(rng, (1.0, 1.0), (0.5, 0.5), (2.0, 8.0), (0.1, 0.1), (30.0, 30.0))
    n = int(pick(rng, 1, 5, 20, 300, 100000))
    k = int(pick(rng, 0, n, rng.binomial(n, rng.uniform()), rng.binomial(n, rng.uniform())))
    like = pick(rng, "k ~ binomial(n, p)", "target += binomial_lpmf(k | n, p)")
    model = lines("data { k : count; n : count }", f"param p ~ beta({a}, {b})", like)
    return Case(model, {"k": k, "n": n}, {"p": distribution(stats.beta(a + k, b + n - k))})


@kind("conjugate")
def yes_or_no(rng):
    n = int(rng.integers(1, 30))
    y = rng.binomial(1, pick(rng, 0, 1, 0.3, 0.5), n)
    model = lines("data { y : binary[N] }", "param p ~ beta(1, 1)",
                  pick(rng, "y ~ bernoulli(p)", "y ~ binomial(1, p)"))
    return Case(model, {"y": y.tolist()}, {"p": distribution(stats.beta(1 + y.sum(), 1 + n - y.sum()))})


@kind("conjugate", 1.5)
def rate(rng):
    a, b = pick(rng, (1.0, 1.0), (0.5, 0.01), (2.0, 0.1), (0.1, 0.1), (50.0, 5.0))
    n = int(rng.integers(1, 20))
    k = rng.poisson(pick(rng, 0, 0.2, 3, 400), n)
    model = lines("data { k : count[N] }", f"param l ~ gamma({a}, {b})", "k ~ poisson(l)")
    return Case(model, {"k": k.tolist()}, {"l": distribution(stats.gamma(a + k.sum(), 0, 1 / (b + n)))})


@kind("conjugate")
def waiting(rng):
    a, b, n = power(rng, -0.5, 1), power(rng, -1, 1), int(rng.integers(1, 20))
    y = np.array(short(rng.exponential(power(rng, -2, 2), n)))
    shape = pick(rng, 1.0, 2.5)
    model = lines("data { y : real[N] }", f"param l ~ gamma({a}, {b})",
                  "y ~ exponential(l)" if shape == 1 else f"y ~ gamma({shape}, l)")
    return Case(model, {"y": y.tolist()},
                {"l": distribution(stats.gamma(a + n * shape, 0, 1 / (b + y.sum())))})


@kind("conjugate")
def shares(rng):
    count = int(rng.integers(2, 6))
    alpha = np.array(short(10**rng.uniform(-0.5, 0.7, count)))
    k = rng.multinomial(int(pick(rng, 1, 10, 200)), rng.dirichlet(np.ones(count) * 0.7))
    model = lines("data { k : count[K] }", f"param p : simplex[K] ~ dirichlet({alpha.tolist()})",
                  "k ~ multinomial(p)")
    after = alpha + k
    return Case(
        model, {"k": k.tolist()},
        {f"p[{i + 1}]": distribution(stats.beta(after[i],
                                                after.sum() - after[i])) for i in range(count)})


@kind("conjugate")
def variance(rng):
    n, a, b = int(rng.integers(1, 20)), power(rng, -0.3, 1), power(rng, -1, 1)
    y = np.array(short(rng.normal(0, power(rng, -2, 2), n)))
    model = lines("data { y : real[N] }", f"param v ~ inv_gamma({a}, {b})", "y ~ normal(0, sqrt(v))")
    return Case(model, {"y": y.tolist()},
                {"v": distribution(stats.invgamma(a + n / 2, 0, b + 0.5 * (y**2).sum()))})


@kind("conjugate")
def precise(rng):
    n = int(rng.integers(1, 20))
    y = np.array(short(rng.normal(0, power(rng, -2, 2), n)))
    model = lines("data { y : real[N] }", "param p ~ gamma(0.5, 0.5)", "y ~ normal(0, inv_sqrt(p))")
    return Case(model, {"y": y.tolist()},
                {"p": distribution(stats.gamma(0.5 + n / 2, 0, 1 / (0.5 + 0.5 * (y**2).sum())))})


# Where there is no posterior, and siblings that look alike and have one


def small_sample(rng, n, mean=0.0, sd=1.0):
    return np.array(short(rng.normal(mean, sd, n)))


def counts(rng, n, mean=4.0, over=False):
    return rng.negative_binomial(3, 3 / (3 + mean), n) if over else rng.poisson(mean, n)


@kind("improper", 2)
def flat_log_dispersion(rng):
    """As the dispersion goes to infinity the likelihood goes to Poisson's, and not to 0."""
    n, over = int(rng.integers(3, 30)), rng.random() < 0.5
    k = counts(rng, n, pick(rng, 2.0, 10.0), over)
    model = pick(
        rng,
        lines("param m ~ normal(1, 2)", "param lp ~ flat()", "k ~ neg_binomial_2(exp(m), exp(lp))"),
        lines("param m ~ normal(1, 2)", "param lp ~ flat()", "k ~ neg_binomial_2_log(m, exp(lp))"),
        lines("param m ~ normal(1, 2)", "param phi : real > 0 ~ flat()", "target += -log(phi)",
              "k ~ neg_binomial_2_log(m, phi)"),
        lines("param m ~ normal(1, 2)", "param phi : real > 0 ~ flat()", "k ~ neg_binomial_2_log(m, phi)"),
        lines("param m ~ normal(1, 2)", "param a ~ flat()", "k ~ neg_binomial_2_log(m, exp(-a))"),
        lines("param m ~ gamma(2, 0.5)", "param lp ~ flat()", "k ~ neg_binomial_2(m, exp(lp))"),
    )
    return Case("data { k : count[N] }\n" + model, {"k": k.tolist()}, IMPROPER)


@kind("improper", 1)
def flat_log_nu(rng):
    """The same for the degrees of freedom of a Student-t, whose limit is a normal."""
    y = small_sample(rng, int(rng.integers(3, 20)))
    prior = pick(rng, "param ln ~ flat()\nlet nu = exp(ln)", "param nu : real > 0 ~ flat()",
                 "param nu : real > 1 ~ flat()", "param nu : real > 0 ~ flat()\ntarget += -log(nu)",
                 "param nu : real > 2 ~ flat()\ntarget += -log(nu)")
    model = lines("data { y : real[N] }", prior, "param m ~ normal(0, 3)", "param s ~ half_normal(2)",
                  "y ~ student_t(nu, m, s)")
    return Case(model, {"y": y.tolist()}, IMPROPER)


FLAT_SCALES = [  # spellings of a group sd with the prior 1 / t, or flat in the log
    "param t : real > 0 ~ flat()\ntarget += -log(t)",
    "param lt ~ flat()\nlet t = exp(lt)",
    "param v : real > 0 ~ flat()\ntarget += -log(v)\nlet t = sqrt(v)",
    "param p : real > 0 ~ flat()\ntarget += -log(p)\nlet t = inv_sqrt(p)",
    "param t : real > 0 ~ flat()\ntarget += log(1 / t)",
    "fn inverse_lpdf(x) = -log(x)\nparam t : real > 0 ~ inverse()",
    "param lt ~ flat()\nlet t = exp(0.5 * lt)",
    "param t : real > 0 ~ flat()\nlog(t) ~ flat()\ntarget += -log(t)",
]


@kind("improper", 4)
def flat_log_group_sd(rng):
    """At a group sd of 0 the likelihood is not 0, and 1 / t has no finite integral there."""
    count = int(rng.integers(3, 9))
    form = pick(rng, "", " noncentered")
    spelling = FLAT_SCALES[rng.integers(len(FLAT_SCALES))]
    centre = pick(rng, "normal(0, 5)", "flat()")
    if rng.random() < 0.6:
        y, s = small_sample(rng, count, 0, pick(rng, 1, 4)), short(10**rng.uniform(-0.3, 0.5, count))
        model = lines("data { y : real[J]; s : real[J] }", f"param m ~ {centre}", spelling,
                      f"param a[J] ~ normal(m, t){form}", "y ~ normal(a, s)")
        return Case(model, {"y": y.tolist(), "s": s}, IMPROPER)
    if rng.random() < 0.5:
        k = counts(rng, count)
        model = lines("data { k : count[J] }", "param m ~ normal(0, 3)", spelling,
                      f"param a[J] ~ normal(m, t){form}", "k ~ poisson_log(a)")
        return Case(model, {"k": k.tolist()}, IMPROPER)
    each = int(rng.integers(2, 5))
    y = np.array([small_sample(rng, each, rng.normal(0, 1)) for _ in range(count)])
    model = lines("data { y : real[N]; g : category[N] of J }", f"param m ~ {centre}", spelling,
                  "param s ~ half_normal(3)", f"param a[J] ~ normal(m, t){form}", "y ~ normal(a[g], s)")
    return Case(model, {"y": y.ravel().tolist(), "g": np.repeat(np.arange(1, count + 1), each).tolist()},
                IMPROPER)


@kind("improper", 1.5)
def flat_group_sd_few(rng):
    """A flat prior on the group sd of one or two groups: 1 / t far out."""
    count = int(rng.integers(1, 3))
    y, s = small_sample(rng, count, 0, 2), short(10**rng.uniform(-0.3, 0.3, count))
    form = pick(rng, "", " noncentered")
    model = lines("data { y : real[J]; s : real[J] }", "param m ~ flat()", "param t : real > 0 ~ flat()",
                  f"param a[J] ~ normal(m, t){form}", "y ~ normal(a, s)")
    return Case(model, {"y": y.tolist(), "s": s}, IMPROPER)


@kind("improper", 2)
def separated(rng):
    """Flat priors, and a line (or nothing) that tells all zeros from all ones."""
    n, gap = int(rng.integers(4, 20)), short(rng.uniform(0, 1))
    x = np.sort(small_sample(rng, n, 0, pick(rng, 1, 10)))
    y = (x > gap).astype(int)
    if y.min() == y.max() or rng.random() < 0.2:
        y[:] = rng.integers(0, 2)
    mean = pick(rng, "a + b * x", "b * (x - a0)")
    if "a0" in mean:
        # A line through a0 with ones on both sides holds its slope: there the ends must differ.
        y = (x > gap).astype(int)
    head = ["data { x : real[N]; y : binary[N] }"
            ] + (["let a0 = " + str(gap)] if "a0" in mean else ["param a ~ flat()"])
    like = pick(rng, f"y ~ bernoulli_logit({mean})", f"y ~ bernoulli(Phi({mean}))",
                f"y ~ binomial_logit(1, {mean})", f"y ~ bernoulli(inv_logit({mean}))",
                f"y ~ bernoulli(inv_cloglog({mean}))")
    return Case(lines(*head, "param b ~ flat()", like), {"x": x.tolist(), "y": y.tolist()}, IMPROPER)


@kind("improper", 1)
def events_none(rng):
    """Counts that are all 0, or successes none or all, with a flat prior on the log or logit."""
    n = int(rng.integers(1, 10))
    zero = [0] * n
    model, data = pick(
        rng,
        ("data { k : count[N] }\nparam a ~ flat()\nk ~ poisson_log(a)\n", {"k": zero}),
        ("data { k : count[N] }\nparam a ~ flat()\nk ~ poisson(exp(a))\n", {"k": zero}),
        ("data { k : count[N] }\nparam a ~ flat()\nk ~ binomial_logit(5, a)\n", {"k": zero}),
        ("data { k : count[N] }\nparam a ~ flat()\nk ~ binomial_logit(5, a)\n", {"k": [5] * n}),
        ("data { k : count[N] }\nparam a ~ flat()\nparam f ~ gamma(2, 0.5)\nk ~ neg_binomial_2_log(a, f)\n",
         {"k": zero}),
        ("data { k : count[N]; g : category[N] of J }\nparam a[J] ~ flat()\nk ~ poisson_log(a[g])\n",
         {"k": [0, 0, 3, 4, 2], "g": [1, 1, 2, 2, 2]}),
        ("data { k : count[N] }\nparam p : real in (0, 1) ~ flat()\n"
         "target += -log(p) - log1m(p)\nk ~ binomial(5, p)\n",
         {"k": zero}),
        ("data { t : real[N]; dead : binary[N] }\nparam a ~ flat()\n"
         "t ~ censored(exponential(exp(a)), right = 1 - dead)\n",
         {"t": short(rng.exponential(1, n)), "dead": zero}),
    )
    return Case(model, data, IMPROPER)


@kind("improper", 3)
def plateau(rng):
    """A likelihood that goes to a constant far out along a flat coordinate, above or below its mode."""
    s, y = power(rng, -1, 0.3), small_sample(rng, int(rng.integers(1, 6)), pick(rng, 0.2, 0.8, 0.0, 1.0), 0.2)
    mean = pick(rng, "exp(-a)", "inv_logit(a)", "tanh(a)", "exp(-a^2)", "1 / (1 + a^2)", "Phi(a)", "atan(a)",
                "a / (1 + abs(a))", "inv_logit(-2 * a)", "1 - exp(-exp(a))", "a^2 / (1 + a^2)", "erf(a)",
                "where(a > 0, exp(-a), 1)")
    like = pick(rng, f"y ~ normal({mean}, {s})", f"y ~ student_t(4, {mean}, {s})",
                f"y ~ double_exponential({mean}, {s})")
    return Case(lines("data { y : real[N] }", "param a ~ flat()", like), {"y": y.tolist()}, IMPROPER)


@kind("improper", 2)
def nothing_holds(rng):
    """Directions that neither prior nor data hold."""
    n = int(rng.integers(2, 8))
    y, x = small_sample(rng, n, 1), small_sample(rng, n)
    data = {"y": y.tolist(), "x": x.tolist()}
    head = "data { y : real[N]; x : real[N] }"
    model = pick(
        rng,
        ["param a ~ flat()", "param b ~ flat()", "y ~ normal(a * b, 1)"],
        ["param a ~ flat()", "param b ~ flat()", "y ~ normal(a + b, 1)"],
        ["param a ~ flat()", "param b ~ flat()", "y ~ normal(a * b * x, 1)"],
        ["param a ~ flat()", "param b ~ normal(0, 1)", "y ~ normal(a * b * x, 1)"],
        ["param a ~ flat()", "target += a", "param m ~ normal(0, 1)", "y ~ normal(m, 1)"],
        ["param a ~ flat()", "target += a"],
        ["param a : real > 0 ~ flat()", "target += 2 * log(a)"],
        ["param a ~ flat()", "param m ~ normal(0, 1)", "y ~ normal(m + 0 * a, 1)"],
        ["param a ~ flat()", "target += -abs(a) + a"],
        ["param a ~ flat()", "target += -log1p(a^2) / 2"],
        ["param a ~ flat()", "target += -sqrt(abs(a)) * 0 + sin(a)", "y ~ normal(sin(a), 1)"],
        ["param a ~ flat()", "y ~ normal(cos(a), 0.5)"],
        ["param a ~ flat()", "param s : real > 0 ~ flat()", "target += -log(s)", "y[1] ~ normal(a, s)"],
        ["param s : real > 0 ~ flat()", "y[1] ~ normal(0, s)"],
        ["param m ~ flat()", "param s : real > 0 ~ flat()", "y[1..2] ~ normal(m, s)"],
        ["param a ~ flat()", "param b ~ flat()", "y ~ normal(a * x[1] + b * x[1], 1)"],
        [
            "param a ~ flat()", "param b ~ flat()", "param c ~ flat()",
            "y ~ normal(a + b * x + c * (2 * x - 1), 1)"
        ],
        ["param a ~ flat()", "y ~ normal(0, exp(a))", "target += sum(y^2) * 0.5 * exp(-2 * a)"],
        ["param a ~ flat()", "param b ~ flat()", "y ~ normal(exp(a - b), 1)"],
        ["param a : real > 0 ~ flat()", "param b : real > 0 ~ flat()", "y ~ normal(a / (a + b), 1)"],
        ["param a ~ flat()", "param b ~ flat()", "target += -0.5 * (a - b)^2"],
        ["param a ~ flat()", "param b ~ flat()", "target += -(a * b)^2 - a^2"],
        ["param w : real > 0 ~ flat()", "target += -1.5 * log(w)"],
        ["param m1 ~ flat()", "param m2 ~ flat()", "y ~ mixture(0.5: normal(m1, 1), 0.5: normal(m2, 1))"],
        [
            "param m ~ normal(0, 1)", "param s : real > 0 ~ flat()",
            "y ~ mixture(0.9: normal(m, 1), 0.1: normal(m, s))"
        ],
        ["param a ~ flat()", "param u ~ normal(0, 1)", "y ~ cauchy(exp(a) * 0 + u, 1)"],
        ["param a ~ flat()", "y[1] ~ truncated(exponential(exp(a)), upper = 100)"]
        if min(y[:1]) > 0 else ["param a ~ flat()", "target += 0 * a"],
    )
    return Case(lines(head, *model), data, IMPROPER)


@kind("improper", 1)
def exact_fit(rng):
    """A free standard deviation, and data that the mean can match exactly: no bound as it goes to 0."""
    v = short(rng.normal())
    n = int(rng.integers(2, 6))
    x = small_sample(rng, n)
    model, data = pick(
        rng,
        (["data { y : real[N] }", "param m ~ flat()", "param s : real > 0 ~ flat()", "y ~ normal(m, s)"
          ], {"y": [v] * n}),
        ([
            "data { y : real[N] }", "param m ~ normal(0, 5)", "param s : real > 0 ~ flat()",
            "target += -log(s)", "y ~ normal(m, s)"
        ], {"y": [v] * n}),
        (["data { y : real[N] }", "param m ~ normal(0, 5)", "param ls ~ flat()", "y ~ normal(m, exp(ls))"
          ], {"y": [v] * n}),
        ([
            "data { y : real[N]; x : real[N] }", "param a ~ normal(0, 5)", "param b ~ normal(0, 5)",
            "param ls ~ flat()", "y ~ normal(a + b * x, exp(ls))"
        ], {"x": x.tolist()[:2], "y": short(rng.normal(0, 1, 2))}),
        ([
            "data { y : real[N] }", "param m1 ~ normal(0, 5)", "param m2 ~ normal(0, 5)",
            "param s : real > 0 ~ flat()", "target += -log(s)",
            "y ~ mixture(0.5: normal(m1, 1), 0.5: normal(m2, s))"
        ], {"y": x.tolist()}),
    )
    return Case(lines(*model), data, IMPROPER)


@kind("siblings", 1.5)
def weak_dispersion(rng):
    n = int(rng.integers(3, 30))
    k = counts(rng, n, 4.0, rng.random() < 0.5)
    m0 = short(np.log(k.mean() + 0.5))
    text, log_prior, hint = pick(rng, ("param lp ~ normal(0, 5)", lambda l: normal(l, 0, 5), (0, 3)),
                                 ("param lp ~ normal(2, 2)", lambda l: normal(l, 2, 2), (2, 1)),
                                 ("param lp ~ student_t(4, 0, 3)", lambda l: student(l, 4, 0, 3), (0, 2)))
    model = lines("data { k : count[N] }", "param m ~ normal(1, 2)", text,
                  "k ~ neg_binomial_2_log(m, exp(lp))")

    def log_density(m, l):
        phi = column(np.exp(np.clip(l, -200, 25)))
        inside = gammaln(k + phi) - gammaln(phi) + k * (column(m) - np.log(phi)) - (k + phi) * np.log1p(
            np.exp(column(m)) / phi)
        limit = k * column(m) - np.exp(column(m))
        return normal(m, 1, 2) + log_prior(l) + np.where(phi > 1e7, limit, inside).sum(axis=1)

    return Case(model, {"k": k.tolist()}, posterior(log_density, [real("m", (m0, 0.3)), real("lp", hint)]))


@kind("siblings", 2)
def weak_group_sd(rng):
    """As flat_log_group_sd, with a prior that has an integral."""
    count = int(rng.integers(3, 9))
    y, s = small_sample(rng, count, 0, pick(rng, 1, 4)), short(10**rng.uniform(-0.3, 0.5, count))
    form = pick(rng, "", " noncentered")
    spelling, log_prior, name, axis, scale = pick(
        rng,
        ("param lt ~ normal(0, 2)\nlet t = exp(lt)", lambda u: normal(u, 0, 2), "lt", real("lt",
                                                                                           (0, 1)), np.exp),
        ("param lt ~ normal(-1, 1)\nlet t = exp(lt)", lambda u: normal(u, -1, 1), "lt", real(
            "lt", (-1, 1)), np.exp),
        ("param t : real > 0 ~ flat()", lambda u: 0.0, "t", positive("t", (1, 1)), lambda u: u),
        ("param v ~ inv_gamma(1, 1)\nlet t = sqrt(v)", lambda u: -2 * np.log(u) - 1 / u, "v",
         positive("v", (1, 1)), np.sqrt),
        ("param p ~ gamma(1, 1)\nlet t = inv_sqrt(p)", lambda u: -u, "p", positive(
            "p", (1, 1)), lambda u: u**-0.5),
    )
    model = lines("data { y : real[J]; s : real[J] }", "param m ~ flat()", spelling,
                  f"param a[J] ~ normal(m, t){form}", "y ~ normal(a, s)")
    if count == 3 and name == "t":
        return weak_group_sd(rng)

    def given(u):
        return given_groups(np.clip(scale(u), 1e-150, 1e150), y, s, np.inf)

    answer = posterior(lambda u: log_prior(u) + given(u)[0], [axis], lambda u: given(u)[1])
    return Case(model, {"y": y.tolist(), "s": s}, answer)


@kind("siblings", 1.5)
def separated_with_prior(rng):
    n = int(rng.integers(3, 15))
    x = np.sort(small_sample(rng, n))
    y = (x > 0.2).astype(int)
    wide = pick(rng, 1.0, 2.5, 10.0)
    text, log_prior = pick(
        rng, (f"normal(0, {wide})", lambda b: normal(b, 0, wide)),
        (f"student_t(7, 0, {wide})", lambda b: student(b, 7, 0, wide)),
        (f"logistic(0, {wide})", lambda b: -abs(b) / wide - 2 * np.log1p(np.exp(-abs(b) / wide))))
    model = lines("data { x : real[N]; y : binary[N] }", f"param a ~ {text}", f"param b ~ {text}",
                  "y ~ bernoulli_logit(a + b * x)")

    def log_density(a, b):
        e = column(a) + column(b) * x
        return log_prior(a) + log_prior(b) - np.logaddexp(0, np.where(y == 1, -e, e)).sum(axis=1)

    return Case(model, {"x": x.tolist(), "y": y.tolist()},
                posterior(log_density, [real("a", (0, wide)), real("b", (wide, wide))]))


@kind("siblings", 2)
def plateau_with_prior(rng):
    s, y = power(rng, -1, 0.3), small_sample(rng, int(rng.integers(1, 6)), pick(rng, 0.2, 0.8), 0.2)
    text, f = pick(rng, ("exp(-a)", lambda a: np.exp(-a)), ("inv_logit(a)", expit), ("tanh(a)", np.tanh),
                   ("exp(-a^2)", lambda a: np.exp(-a * a)), ("1 / (1 + a^2)", lambda a: 1 / (1 + a * a)),
                   ("a / (1 + abs(a))", lambda a: a / (1 + abs(a))))
    wide = pick(rng, 1.0, 3.0, 10.0, 100.0)
    prior, log_prior = pick(rng, (f"normal(0, {wide})", lambda a: normal(a, 0, wide)),
                            (f"student_t(5, 0, {wide})", lambda a: student(a, 5, 0, wide)),
                            (f"uniform(-{wide}, {wide})", lambda a: np.where(abs(a) < wide, 0, -np.inf)))
    model = lines("data { y : real[N] }", f"param a ~ {prior}", f"y ~ normal({text}, {s})")
    answer = posterior(lambda a: log_prior(a) + normal(y, column(f(a)), s).sum(axis=1),
                       [real("a", (0, 0.5), (0, wide), (wide, 1), (-wide, 1))])
    return Case(model, {"y": y.tolist()}, answer)


@kind("siblings", 1.5)
def flat_and_held(rng):
    """Flat priors that the data hold."""
    n, d = int(rng.integers(6, 20)), int(rng.integers(1, 4))
    x = np.column_stack([np.ones(n)] + [small_sample(rng, n) for _ in range(d - 1)])
    y = np.array(short(x @ rng.normal(0, 2, d) + rng.normal(0, 1, n)))
    head = ["data { y : real[N]; x : real[N, D] }", "param b[D] ~ flat()"]
    data = {"y": y.tolist(), "x": x.tolist()}
    inverse = np.linalg.inv(x.T @ x)
    mean = inverse @ x.T @ y
    if rng.random() < 0.4:
        return Case(lines(*head, "y ~ normal(x * b, 1)"), data, gaussian(mean, inverse, "b"))
    rest = y @ y - mean @ x.T @ y
    spelling, df, name = pick(rng, ("param s : real > 0 ~ flat()\ntarget += -log(s)", n - d, "s"),
                              ("param ls ~ flat()\nlet s = exp(ls)", n - d, None),
                              ("param s : real > 0 ~ flat()", n - d - 1, "s"))
    answer = {
        f"b[{i + 1}]": distribution(stats.t(df, mean[i], np.sqrt(inverse[i, i] * rest / df)))
        for i in range(d)
    }
    if name:
        guess = np.sqrt(rest / df)
        answer.update(
            posterior(lambda s: -(df + 1) * np.log(s) - 0.5 * rest / s**2, [positive("s", (guess, 0.3))]))
    return Case(lines(head[0], head[1], spelling, "y ~ normal(x * b, s)"), data, answer)


@kind("siblings", 1)
def product_with_priors(rng):
    """a times b, both with normal priors, one of them bounded below or not."""
    n = int(rng.integers(1, 6))
    y, s = small_sample(rng, n, pick(rng, 0.5, 3)), pick(rng, 0.5, 1.0)
    wide = pick(rng, 1.0, 3.0)
    model = lines("data { y : real[N] }", f"param a ~ half_normal({wide})", "param b ~ normal(0, 2)",
                  f"y ~ normal(a * b, {s})")

    def given(a):
        precision = 0.25 + n * a * a / s**2
        mean = a * y.sum() / s**2 / precision
        return 0.5 * mean**2 * precision - 0.5 * np.log(precision), {"b": (mean, precision**-0.5)}

    answer = posterior(lambda a: normal(a, 0, wide) + given(a)[0], [positive("a", (1, 1))],
                       lambda a: given(a)[1])
    return Case(model, {"y": y.tolist()}, answer)


# Common likelihoods


def log1p_exp(x):
    return np.logaddexp(0, x)


REGRESSIONS = [  # text with {e}, draw (rng, e), log density (y, e), declared type of y
    ("bernoulli_logit({e})", lambda r, e: r.binomial(1, expit(e)),
     lambda y, e: -log1p_exp(np.where(y == 1, -e, e)), "binary"),
    ("bernoulli(Phi({e}))", lambda r, e: r.binomial(1, special.ndtr(e)),
     lambda y, e: log_ndtr(np.where(y == 1, e, -e)), "binary"),
    ("bernoulli(inv_cloglog({e}))", lambda r, e: r.binomial(1, -np.expm1(-np.exp(e))), lambda y, e: np.where(
        y == 1, np.log(-np.expm1(-np.exp(np.minimum(e, 300)))), -np.exp(np.minimum(e, 300))), "binary"),
    ("binomial_logit(12, {e})", lambda r, e: r.binomial(12, expit(e)), lambda y, e: y * e - 12 * log1p_exp(e),
     "count"),
    ("binomial(12, inv_logit({e}))", lambda r, e: r.binomial(12, expit(e)),
     lambda y, e: y * e - 12 * log1p_exp(e), "count"),
    ("poisson_log({e})", lambda r, e: r.poisson(np.exp(np.minimum(e, 8))), lambda y, e: y * e - np.exp(e),
     "count"),
    ("poisson(log1p_exp({e}))", lambda r, e: r.poisson(log1p_exp(e)),
     lambda y, e: xlogy(y, log1p_exp(e)) - log1p_exp(e), "count"),
    ("neg_binomial_2_log({e}, 1.5)",
     lambda r, e: r.poisson(r.gamma(1.5, 1 / 1.5, e.shape) * np.exp(np.minimum(e, 8))), lambda y, e: y * e -
     (y + 1.5) * np.logaddexp(np.log(1.5), e), "count"),
    ("geometric(inv_logit({e}))", lambda r, e: r.geometric(np.maximum(expit(e), 1e-3)) - 1,
     lambda y, e: -log1p_exp(-e) - y * log1p_exp(e), "count"),
    ("student_t(4, {e}, 0.7)", lambda r, e: e + 0.7 * r.standard_t(4, e.shape),
     lambda y, e: student(y, 4, e, 0.7), "real"),
    ("cauchy({e}, 0.5)", lambda r, e: e + 0.5 * r.standard_cauchy(e.shape),
     lambda y, e: student(y, 1, e, 0.5), "real"),
    ("double_exponential({e}, 0.8)", lambda r, e: r.laplace(e, 0.8), lambda y, e: -abs(y - e) / 0.8, "real"),
    ("logistic({e}, 0.6)", lambda r, e: r.logistic(e, 0.6),
     lambda y, e: -(y - e) / 0.6 - 2 * log1p_exp(-(y - e) / 0.6), "real"),
    ("gumbel({e}, 0.9)", lambda r, e: r.gumbel(e, 0.9), lambda y, e: -(y - e) / 0.9 - np.exp(-(y - e) / 0.9),
     "real"),
    ("gamma(2, 2 * exp(-{e}))", lambda r, e: r.gamma(2,
                                                     np.exp(e) / 2), lambda y, e: -2 * e - 2 * y * np.exp(-e),
     "positive"),
    ("exponential(exp({e}))", lambda r, e: r.exponential(np.exp(-e)), lambda y, e: e - y * np.exp(e),
     "positive"),
    ("weibull(1.7, exp({e}))", lambda r, e: np.exp(e) * r.weibull(1.7, e.shape), lambda y, e: -1.7 * e -
     (y * np.exp(-e))**1.7, "positive"),
    ("lognormal({e}, 0.4)", lambda r, e: r.lognormal(e, 0.4), lambda y, e: normal(np.log(y), e, 0.4),
     "positive"),
    ("normal(exp({e}), 1)", lambda r, e: r.normal(np.exp(np.minimum(e, 5)), 1),
     lambda y, e: normal(y, np.exp(np.minimum(e, 300))), "real"),
    ("normal(0, exp({e}))", lambda r, e: r.normal(0, np.exp(e)), lambda y, e: normal(y * np.exp(-e)) - e,
     "real"),
    ("truncated(poisson_log({e}), lower = 1)",
     lambda r, e: np.maximum(r.poisson(np.exp(np.minimum(e, 6))), 1),
     lambda y, e: y * e - np.where(e > 0.1,
                                   np.exp(e) + np.log(-np.expm1(-np.exp(np.maximum(e, 0.1)))),
                                   np.log(np.expm1(np.exp(np.minimum(e, 0.1))))), "count"),
    ("truncated(normal({e}, 1), lower = 0)", lambda r, e: abs(r.normal(e, 1)),
     lambda y, e: normal(y, e) - log_ndtr(e), "positive"),
    ("truncated(normal({e}, 1.2), lower = -1, upper = 2)",
     lambda r, e: np.clip(r.normal(e, 1.2), -0.99, 1.99), lambda y, e: normal(y, e, 1.2) - log_between(
         (-1 - e) / 1.2, (2 - e) / 1.2), "real"),
    ("censored(normal({e}, 1), upper = 1)", lambda r, e: np.minimum(r.normal(e, 1), 1),
     lambda y, e: np.where(y >= 1, log_ndtr(e - 1), normal(y, e)), "real"),
    ("censored(weibull(1.3, exp({e})), upper = 2)",
     lambda r, e: np.minimum(np.exp(e) * r.weibull(1.3, e.shape), 2),
     lambda y, e: np.where(y >= 2, 0, -1.3 * e) - (y * np.exp(-e))**1.3, "positive"),
    ("censored(poisson_log({e}), upper = 4)",
     lambda r, e: np.minimum(r.poisson(np.exp(np.minimum(e, 5))), 4), lambda y, e: np.where(
         y >= 4, np.log(np.maximum(special.gammainc(4, np.exp(e)), 1e-300)), y * e - np.exp(e)), "count"),
    ("zero_inflated(0.3, poisson_log({e}))",
     lambda r, e: r.binomial(1, 0.7, e.shape) * r.poisson(np.exp(np.minimum(e, 5))),
     lambda y, e: np.where(y == 0, np.log(0.3 + 0.7 * np.exp(-np.exp(e))), y * e - np.exp(e)), "count"),
    ("beta_proportion(inv_logit({e}), 6)",
     lambda r, e: np.clip(r.beta(6 * expit(e), 6 * expit(-e)), 1e-3, 0.999),
     lambda y, e: beta_log(y, 6 * expit(e), 6 * expit(-e)), "share"),
    ("ordered_logistic({e}, [-1.0, 1.0])", lambda r, e: 1 + (e + r.logistic(0, 1, e.shape) > -1) +
     (e + r.logistic(0, 1, e.shape) > 5), lambda y, e: np.where(
         y == 1, -log1p_exp(e + 1), np.where(y == 3, -log1p_exp(1 - e), log_between_logistic(-1 - e, 1 - e))),
     "int"),
    ("skew_normal({e}, 1, 4)", lambda r, e: e + stats.skewnorm.rvs(4, size=e.shape, random_state=r),
     lambda y, e: normal(y, e) + log_ndtr(4 * (y - e)), "real"),
    ("inv_gaussian(exp({e}), 2)", lambda r, e: r.wald(np.exp(np.clip(e, -3, 5)), 2), lambda y, e: -2 *
     (y * np.exp(-e) - 1)**2 / (2 * y), "positive"),
    ("von_mises({e}, 2)", lambda r, e: r.vonmises(0, 2, e.shape) + 0 * e, lambda y, e: 2 * np.cos(y - e),
     "angle"),
    ("mixture(0.9: normal({e}, 0.5), 0.1: normal({e}, 5))",
     lambda r, e: r.normal(e, r.choice([0.5, 5], e.shape, p=[0.9, 0.1])),
     lambda y, e: np.logaddexp(np.log(0.9) + normal(y, e, 0.5),
                               np.log(0.1) + normal(y, e, 5)), "real"),
    ("frechet(2, exp({e}))", lambda r, e: np.exp(e) / r.weibull(2, e.shape), lambda y, e: 2 * e -
     (y * np.exp(-e))**-2.0, "positive"),
    ("pareto(1, exp({e}))", lambda r, e: 1 + r.pareto(np.clip(np.exp(e), 0.2, 1e6)), lambda y, e: e -
     (np.exp(e) + 1) * np.log(y), "positive"),
]
DECLARED = {"positive": "real[N] > 0", "share": "real[N] in (0, 1)", "angle": "real[N]"}


def log_between(a, b):
    """Log of the standard normal probability of (a, b), where both may lie far out."""
    a, b = np.where(a > 0, -b, a), np.where(a > 0, -a, b)
    return log_ndtr(b) + np.log1p(-np.exp(log_ndtr(a) - log_ndtr(b)))


def log_between_logistic(a, b):
    return np.log(-np.expm1(a - b)) - log1p_exp(-b) - log1p_exp(a)


def beta_log(y, a, b):
    return (a - 1) * np.log(y) + (b - 1) * np.log1p(-y) - special.betaln(a, b)


LOCATIONS = [  # a prior's spelling and log density, by its scale
    (lambda w: f"normal(0, {w})", lambda x, w: normal(x, 0, w)),
    (lambda w: f"normal(0, {w})", lambda x, w: normal(x, 0, w)),
    (lambda w: f"student_t(4, 0, {w})", lambda x, w: student(x, 4, 0, w)),
    (lambda w: f"double_exponential(0, {w})", lambda x, w: -abs(x) / w),
    (lambda w: f"uniform({-3 * w}, {3 * w})", lambda x, w: np.where(abs(x) < 3 * w, 0.0, -np.inf)),
]


@kind("likelihoods", 7)
def one_predictor(rng):
    """A regression with intercept, or intercept and slope."""
    text, draw, log, declared = REGRESSIONS[rng.integers(len(REGRESSIONS))]
    n, slope = int(pick(rng, 1, 3, 8, 25)), rng.random() < 0.5
    wide = pick(rng, 0.5, 1.0, 2.5, 5.0)
    prior, log_prior = LOCATIONS[rng.integers(len(LOCATIONS))]
    x = small_sample(rng, n, pick(rng, 0, 0, 3))
    y = draw(rng, np.asarray(rng.normal(0, min(wide, 1)) + slope * rng.normal(0, 0.7) * x))
    y = np.array(short(y)) if y.dtype.kind == "f" else y
    model = lines(f"data {{ y : {DECLARED.get(declared, declared + '[N]')}; x : real[N] }}",
                  f"param a ~ {prior(wide)}", f"param b ~ {prior(1.0)}" if slope else "",
                  f"y ~ {text.format(e='a + b * x' if slope else 'a')}".replace("-a + b * x", "-(a + b * x)"))
    data = {"y": y.tolist(), "x": x.tolist()}
    if not slope:
        return Case(
            model, data,
            posterior(lambda a: log_prior(a, wide) + log(y,
                                                         column(a) + 0 * x).sum(axis=1),
                      [real("a", (0, wide / 2), (0, wide / 10))]))
    answer = posterior(
        lambda a, b: log_prior(a, wide) + log_prior(b, 1.0) + log(y,
                                                                  column(a) + column(b) * x).sum(axis=1),
        [real("a", (0, wide / 2)), real("b", (0, 0.5))])
    return Case(model, data, answer)


PAIRS = [  # text with m and s, draw (rng, n), log density (y, m, s), whether m is positive
    ("normal(m, s)", lambda r, n: r.normal(1, 2, n), lambda y, m, s: normal(y, m, s), False),
    ("student_t(3, m, s)", lambda r, n: r.standard_t(3, n), lambda y, m, s: student(y, 3, m, s), False),
    ("logistic(m, s)", lambda r, n: r.logistic(1, 2, n),
     lambda y, m, s: -(y - m) / s - np.log(s) - 2 * log1p_exp(-(y - m) / s), False),
    ("double_exponential(m, s)", lambda r, n: r.laplace(0, 1, n), lambda y, m, s: -abs(y - m) / s - np.log(s),
     False),
    ("gumbel(m, s)", lambda r, n: r.gumbel(0, 1, n),
     lambda y, m, s: -(y - m) / s - np.exp(-(y - m) / s) - np.log(s), False),
    ("lognormal(m, s)", lambda r, n: r.lognormal(0, 1, n), lambda y, m, s: normal(np.log(y), m, s), False),
    ("gamma(m, s)", lambda r, n: r.gamma(2, 0.5, n), lambda y, m, s: gamma(y, m, s), True),
    ("weibull(m, s)", lambda r, n: r.weibull(2, n) * 1.5, lambda y, m, s: np.log(m / s) +
     (m - 1) * np.log(y / s) - (y / s)**m, True),
    ("inv_gamma(m, s)", lambda r, n: 1 / r.gamma(3, 0.5, n), lambda y, m, s: m * np.log(s) - gammaln(m) -
     (m + 1) * np.log(y) - s / y, True),
    ("beta(m, s)", lambda r, n: np.clip(r.beta(2, 3, n), 0.001, 0.999), lambda y, m, s: beta_log(y, m, s),
     True),
    ("loglogistic(m, s)", lambda r, n: np.exp(r.logistic(0, 0.5, n)),
     lambda y, m, s: np.log(s) + s * np.log(y / m) - 2 * log1p_exp(s * np.log(y / m)), True),
    ("neg_binomial_2(m, s)", lambda r, n: r.poisson(r.gamma(2, 2, n)),
     lambda y, m, s: gammaln(y + s) - gammaln(s) + xlogy(y, m / (m + s)) - s * np.log1p(m / s), True),
    ("neg_binomial(m, s)", lambda r, n: r.poisson(r.gamma(2, 2, n)),
     lambda y, m, s: gammaln(y + m) - gammaln(m) - m * np.log1p(1 / s) - y * np.log1p(s), True),
    ("beta_binomial(10, m, s)", lambda r, n: r.binomial(10, r.beta(2, 2, n)),
     lambda y, m, s: special.betaln(y + m, 10 - y + s) - special.betaln(m, s), True),
    ("zero_inflated(s / (1 + s), poisson(m))", lambda r, n: r.poisson(3, n) * r.binomial(1, 0.6, n),
     lambda y, m, s: np.where(y == 0, np.log(s + np.exp(-m)),
                              xlogy(y, m) - m) - np.log1p(s), True),
    ("truncated(normal(m, s), lower = 0)", lambda r, n: abs(r.normal(1, 1, n)),
     lambda y, m, s: normal(y, m, s) - log_ndtr(m / s), False),
    ("censored(normal(m, s), lower = 0)", lambda r, n: np.maximum(r.normal(0.5, 1, n), 0),
     lambda y, m, s: np.where(y <= 0, log_ndtr(-m / s), normal(y, m, s)), False),
    ("exponential(m * s)", lambda r, n: r.exponential(1, n), lambda y, m, s: np.log(m * s) - m * s * y, True),
    ("inv_gaussian(m, s)", lambda r, n: r.wald(1, 2, n), lambda y, m, s: 0.5 * np.log(s) - s * (y - m)**2 /
     (2 * m * m * y), True),
    ("von_mises(m - 1, s)", lambda r, n: r.vonmises(0, 2, n),
     lambda y, m, s: s * np.cos(y - m + 1) - np.log(special.i0e(s)) - s, False),
]


@kind("likelihoods", 5)
def two_parameters(rng):
    """A distribution with both of its parameters unknown."""
    text, draw, log, above = PAIRS[rng.integers(len(PAIRS))]
    n = int(pick(rng, 1, 2, 5, 15, 40))
    y = draw(rng, n)
    declared = "real[N]" if y.dtype.kind == "f" else "count[N]"
    y = np.array(short(y)) if y.dtype.kind == "f" else y
    scale, log_scale = scale_prior(rng, pick(rng, 1.0, 3.0), (0, 3, 5, 6))
    if above:
        prior, log_prior = scale_prior(rng, pick(rng, 1.0, 3.0), (0, 3, 5, 6))
        axis = positive("m", (1, 0.5))
    else:
        w = pick(rng, 1.0, 5.0)
        prior, log_prior, axis = f"normal(0, {w})", lambda m: normal(m, 0, w), real("m", (0, 0.5))
    model = lines(f"data {{ y : {declared} }}", f"param m ~ {prior}", f"param s ~ {scale}", f"y ~ {text}")
    answer = posterior(lambda m, s: log_prior(m) + log_scale(s) + log(y, column(m), column(s)).sum(axis=1),
                       [axis, positive("s", (1, 0.5))])
    return Case(model, {"y": y.tolist()}, answer)


def counts_between(log_pmf, low, high, e):
    """Log probability that a count lies between low and high, ends included."""
    k = np.arange(low, high + 1)
    return logsumexp(log_pmf(k, column(e)), axis=1)


@kind("likelihoods", 2)
def truncated_counts(rng):
    """Counts at the end of what a truncation leaves, whose likelihood goes to a constant."""
    n, wide = int(rng.integers(1, 4)), pick(rng, 1.0, 3.0, 10.0, 50.0)
    low, high = int(rng.integers(0, 3)), int(rng.integers(4, 21))
    k = rng.choice([low, high, int(rng.integers(low, high + 1))], 1 if n == 1 else n)
    text, log_pmf = pick(
        rng,
        ("binomial(30, Phi(e))",
         lambda k, e: gammaln(31) - gammaln(k + 1) - gammaln(31 - k) + k * log_ndtr(e) +
         (30 - k) * log_ndtr(-e)),
        ("binomial_logit(30, e)",
         lambda k, e: gammaln(31) - gammaln(k + 1) - gammaln(31 - k) + k * e - 30 * log1p_exp(e)),
        ("poisson_log(e)", lambda k, e: k * e - gammaln(k + 1)),
        ("poisson(exp(e))", lambda k, e: k * e - gammaln(k + 1)),
        ("geometric(inv_logit(e))", lambda k, e: -k * log1p_exp(e)),
        ("neg_binomial_2_log(e, 2)",
         lambda k, e: gammaln(k + 2) - gammaln(k + 1) - k * log1p_exp(np.log(2) - e)),
        ("binomial(30, inv_logit(e))",
         lambda k, e: gammaln(31) - gammaln(k + 1) - gammaln(31 - k) + k * e - 30 * log1p_exp(e)),
    )
    model = lines("data { k : count[N] }", f"param e ~ normal(0, {wide})",
                  f"k ~ truncated({text}, lower = {low}, upper = {high})")

    def log_density(e):
        return normal(e, 0, wide) + sum(log_pmf(v, e)
                                        for v in k) - len(k) * counts_between(log_pmf, low, high, e)

    return Case(model, {"k": k.tolist()}, posterior(log_density, [real("e", (0, wide / 4), (0, 0.5))]))


@kind("likelihoods")
def ordinal(rng):
    """Free cut-points; two levels of three, and no predictor."""
    k = rng.choice(3, int(rng.integers(2, 20)), p=rng.dirichlet([2, 2, 2])) + 1
    wide, logit = pick(rng, 2.0, 5.0), rng.random() < 0.5
    n = [int((k == j).sum()) for j in (1, 2, 3)]
    model = lines("data { k : category[N] levels(1, 2, 3) of K }",
                  f"param c : ordered[K - 1] ~ normal(0, {wide})",
                  f"k ~ ordered_{'logistic' if logit else 'probit'}(0, c)")

    def log_density(c, gap):
        b = c + gap
        ends = (-log1p_exp(-c), -log1p_exp(b),
                log_between_logistic(c, b)) if logit else (log_ndtr(c), log_ndtr(-b), log_between(c, b))
        return normal(c, 0, wide) + normal(b, 0, wide) + n[0] * ends[0] + n[2] * ends[1] + n[1] * ends[2]

    def second(b, gap):
        return log_density(b - gap, gap)

    first = posterior(log_density, [real("c[1]", (0, 0.5)), positive("gap", (1, 0.5))])
    other = posterior(second, [real("c[2]", (0, 0.5)), positive("gap", (1, 0.5))])
    return Case(model, {"k": k.tolist()}, {"c[1]": first["c[1]"], "c[2]": other["c[2]"]})


@kind("likelihoods", 1.5)
def bounded(rng):
    """Bounds, with data that push against them."""
    s, y = power(rng, -1, 0.5), short(rng.normal(pick(rng, 0, 3, -3, 10), 1, int(rng.integers(1, 5))))
    low, high = -1.0, 2.0
    text, log_prior, axis = pick(
        rng,
        ("b : real > 0 ~ normal(-3, 1)", lambda b: normal(b, -3), positive("b")),
        ("b ~ uniform(-1, 2)", lambda b: 0.0, within("b", low, high)),
        ("b : real in (-1, 2) ~ normal(0, 1)", lambda b: normal(b), within("b", low, high)),
        ("b : real in (-1, 2) ~ flat()", lambda b: 0.0, within("b", low, high)),
        ("b ~ truncated(normal(0, 1), lower = 1.5)", lambda b: normal(b), positive("b", lower=1.5)),
        ("b ~ exponential(2)", lambda b: -2 * b, positive("b")),
        ("b : real < 2 ~ normal(0, 3)", lambda b: normal(b, 0, 3),
         truth_of.Axis("b", "below", [(0.0, 1.0)], upper=2.0)),
        ("b : real > 0 ~ flat()", lambda b: 0.0, positive("b")),
    )
    model = lines("data { y : real[N] }", f"param {text}", f"y ~ normal(b, {s})")
    return Case(
        model, {"y": y},
        {"b": posterior(lambda b: log_prior(b) + normal(np.array(y), column(b), s).sum(axis=1), [axis])["b"]})


@kind("likelihoods")
def weights(rng):
    """Weights of rows; some are 0, and their rows would have no density."""
    n = int(rng.integers(3, 15))
    x, w = small_sample(rng, n), np.array(short(rng.uniform(0.2, 2, n)))
    out = rng.random(n) < 0.3
    w[out] = 0
    w[0] = 1.0
    text, draw, log, declared = REGRESSIONS[pick(rng, 0, 5, 14, 15, 17, 9)]
    y = draw(rng, np.asarray(0.3 + 0.5 * x))
    y = np.array(short(y)) if y.dtype.kind == "f" else y
    kept = w > 0
    if rng.random() < 0.5:
        x = np.where(kept, x, 999.0)
    model = lines(
        f"data {{ y : {declared if declared != 'positive' else 'real'}[N]; x : real[N]; w : real[N] }}",
        "param a ~ normal(0, 2)", "param b ~ normal(0, 1)", f"y ~ {text.format(e='(a + b * x)')} weight w")

    def log_density(a, b):
        return normal(a, 0, 2) + normal(b) + (w[kept] * log(y[kept],
                                                            column(a) + column(b) * x[kept])).sum(axis=1)

    return Case(model, {"y": y.tolist(), "x": x.tolist(), "w": w.tolist()},
                posterior(log_density, [real("a", (0, 0.5)), real("b", (0, 0.5))]))


# Jumps and kinks


@kind("jumps", 4)
def step_along(rng):
    """A density with a jump or a kink in one parameter."""
    wide, s = pick(rng, 1.0, 2.0, 5.0), power(rng, -0.7, 0.5)
    c, h = short(rng.normal(0, wide)), short(rng.normal(0, 4))
    text, f = pick(
        rng,
        (f"where(b > {c}, {h}, 0)", lambda b: np.where(b > c, h, 0.0)),
        (f"{h} * (b > {c})", lambda b: h * (b > c)),
        ("fmax(b, 0)", lambda b: np.maximum(b, 0)),
        (f"abs(b - {c})", lambda b: abs(b - c)),
        ("floor(b)", np.floor),
        ("round(b)", lambda b: np.sign(b) * np.floor(abs(b) + 0.5)),
        (f"fmin(b, {c})", lambda b: np.minimum(b, c)),
        (f"b + {h} * (b < {c})", lambda b: b + h * (b < c)),
        (f"where(abs(b) < 1, b, {h})", lambda b: np.where(abs(b) < 1, b, h)),
        (f"where(b > {c}, b, -b)", lambda b: np.where(b > c, b, -b)),
        (f"(b > {c}) * (b - {c})^2", lambda b: (b > c) * (b - c)**2),
    )
    y = short(rng.normal(f(np.array(rng.normal(0, wide))), s, int(rng.integers(1, 5))))
    if rng.random() < 0.3:
        model, inside = lines(f"param b ~ normal(0, {wide})",
                              f"target += {text}"), lambda b: f(b) if "^2" not in text else f(b) * 0
        if "^2" in text or "abs" in text:
            return step_along(rng)
        y = None
    else:
        model, inside = lines(
            "data { y : real[N] }", f"param b ~ normal(0, {wide})",
            f"y ~ normal({text}, {s})"), lambda b: normal(np.array(y), column(f(b)), s).sum(axis=1)
    hints = [(0, wide / 4), (c, 0.1)] + [(v, 0.3) for v in range(-12, 13)]
    return Case(model, {"y": y} if y else {},
                posterior(lambda b: normal(b, 0, wide) + inside(b), [real("b", *hints)]))


def segments(y, x, s, spread):
    """Change points: weight, ends, and the means and sds of the two levels for each place between data."""
    rows = []
    for j in range(len(x) - 1):
        log, levels = np.log(x[j + 1] - x[j]), []
        for part in (y[:j + 1], y[j + 1:]):
            precision = 1 / spread**2 + len(part) / s**2
            mean = part.sum() / s**2 / precision
            log += 0.5 * mean**2 * precision - 0.5 * np.log(precision)
            levels.append((mean, precision**-0.5))
        rows.append((log, x[j], x[j + 1], *levels[0], *levels[1]))
    rows = np.array(rows)
    rows[:, 0] = np.exp(rows[:, 0] - logsumexp(rows[:, 0]))
    return rows


@kind("jumps", 3)
def change_point(rng):
    """Two levels, known or not, on either side of an unknown time."""
    n, s, spread = int(rng.integers(4, 25)), power(rng, -0.5, 0.5), pick(rng, 2.0, 5.0)
    x = np.arange(1.0, n + 1)
    at = rng.integers(1, n)
    y = np.array(
        short(np.where(x <= at, rng.normal(0, 1), rng.normal(0, pick(rng, 1, 3))) + rng.normal(0, s, n)))
    spelling = pick(rng, "where(x > c, b, a)", "a + (b - a) * (x > c)", "a * (x <= c) + b * (x > c)")
    model = lines("data { y : real[N]; x : real[N] }", f"param c ~ uniform(1, {n})",
                  f"param a ~ normal(0, {spread})", f"param b ~ normal(0, {spread})",
                  f"y ~ normal({spelling}, {s})")
    rows = segments(y, x, s, spread)
    cumulative = np.concatenate([[0], np.cumsum(rows[:, 0])])
    middle = (rows[:, 1] + rows[:, 2]) / 2
    mean = np.sum(rows[:, 0] * middle)
    answer = {
        "c":
        truth_of.summary(lambda p: float(np.interp(p, cumulative, x)), mean,
                         np.sum(rows[:, 0] * ((middle - mean)**2 + 1 / 12))), "a":
        of_normals(rows[:, 0], rows[:, 3], rows[:, 4]), "b":
        of_normals(rows[:, 0], rows[:, 5], rows[:, 6])
    }
    return Case(model, {"y": y.tolist(), "x": x.tolist()}, answer)


@kind("jumps", 2)
def threshold_pair(rng):
    """A threshold and a level, with counts or yes and no."""
    n = int(rng.integers(3, 20))
    x = np.sort(small_sample(rng, n, 0, 1.5))
    c0, h0 = rng.normal(), rng.normal(0, 2)
    if rng.random() < 0.5:
        y = rng.poisson(np.exp(0.5 + np.clip(h0, -2, 2) * (x > c0)))
        model = lines("data { y : count[N]; x : real[N] }", "param c ~ normal(0, 1)",
                      "param h ~ normal(0, 2)", "y ~ poisson_log(0.5 + where(x > c, h, 0))")
        log = lambda e: y * e - np.exp(e)
        base = 0.5
    else:
        y = rng.binomial(1, expit(h0 * (x > c0)))
        model = lines("data { y : binary[N]; x : real[N] }", "param c ~ normal(0, 1)",
                      "param h ~ normal(0, 2)", "y ~ bernoulli_logit(h * (x > c))")
        log = lambda e: -log1p_exp(np.where(y == 1, -e, e))
        base = 0.0

    def log_density(h, inside):
        return normal(h, 0, 2) + log(base + column(h) * inside).sum(axis=1)

    ends = np.concatenate([[-np.inf], x, [np.inf]])
    h = np.linspace(-12, 12, 4801)
    logs = np.array([
        log_density(h, (x > (ends[j] + ends[j + 1]) / 2 if 0 < j < n else x > (x[0] - 1 if j == 0 else x[-1] +
                                                                               1)).astype(float))
        for j in range(n + 1)
    ])
    mass = special.ndtr(ends[1:]) - special.ndtr(ends[:-1])
    joint = np.exp(logs - logs.max()) * mass[:, None]
    joint /= joint.sum()
    by_h, by_place = joint.sum(axis=0), joint.sum(axis=1)
    mean = np.sum(by_h * h)
    answer = {
        "h":
        truth_of.summary(lambda p: float(np.interp(p,
                                                   np.cumsum(by_h) - by_h / 2, h)), mean,
                         np.sum(by_h * (h - mean)**2))
    }
    answer["c"] = cut_normal(ends, by_place)
    return Case(model, {"y": y.tolist(), "x": x.tolist()}, answer)


def cut_normal(ends, shares):
    """Summary of a standard normal whose pieces between ends have been given other shares."""
    low, high = special.ndtr(ends[:-1]), special.ndtr(ends[1:])
    first, last = normal(ends[:-1]), normal(ends[1:])
    pdf = [np.exp(v) for v in (first, last)]
    mass = np.maximum(high - low, 1e-30)
    means = (pdf[0] - pdf[1]) / mass
    edge = [np.where(np.isfinite(e), e, 0) * p for e, p in zip((ends[:-1], ends[1:]), pdf)]
    squares = 1 + (edge[0] - edge[1]) / mass
    mean = np.sum(shares * means)
    cumulative = np.concatenate([[0], np.cumsum(shares)])

    def read(p):
        j = min(np.searchsorted(cumulative, p) - 1, len(shares) - 1)
        return float(special.ndtri(low[j] + (p - cumulative[j]) / shares[j] * (high[j] - low[j])))

    return truth_of.summary(read, mean, np.sum(shares * squares) - mean**2)


@kind("jumps", 1.5)
def broken_stick(rng):
    """A line with a knee, or a plateau, at an unknown place, and a known or unknown slope."""
    n, s = int(rng.integers(3, 15)), power(rng, -0.7, 0.3)
    x = np.array(short(np.linspace(0, 3, n)))
    text, f = pick(rng, ("b * where(x > k, x - k, 0)", lambda b, k: b * np.maximum(x - k, 0)),
                   ("b * fmin(x, k)", lambda b, k: b * np.minimum(x, k)),
                   ("b * abs(x - k)", lambda b, k: b * abs(x - k)), ("b * (x > k)", lambda b, k: b * (x > k)))
    y = np.array(short(f(rng.normal(0, 2), rng.uniform(0, 3)) + rng.normal(0, s, n)))
    model = lines("data { y : real[N]; x : real[N] }", "param k ~ uniform(0, 3)", "param b ~ normal(0, 3)",
                  f"y ~ normal({text}, {s})")

    def given(k):
        g = f(1.0, column(k))
        precision = (g**2).sum(axis=1) / s**2 + 1 / 9
        mean = (g * y).sum(axis=1) / s**2 / precision
        return 0.5 * mean**2 * precision - 0.5 * np.log(precision), {"b": (mean, precision**-0.5)}

    answer = posterior(lambda k: given(k)[0], [within("k", 0, 3)], lambda k: given(k)[1])
    return Case(model, {"y": y.tolist(), "x": x.tolist()}, answer)
