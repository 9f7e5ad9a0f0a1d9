"""Posterior summaries of small models, by quadrature and closed forms: the truths of calibration.py.

Nothing here knows of stickler. A density of one to three parameters is integrated by Gauss-Legendre rules
on cells that are cut in two until cutting them changes nothing. This is done twice, with other rules on
other cells that reach further out: where quantiles differ the case is given up (`Unsure`), where only a
mean or standard deviation differs it is taken not to exist.
"""
import itertools

import numpy as np
from scipy.special import expit, logsumexp, ndtr

LEVELS = (0.05, 0.95)
SLACK = 0.004      # a quantile may be that of a probability so far off: between two modes it is anywhere
CHUNK = 20_000     # points evaluated at once, to bound memory
SPLIT = {1: 1e-8, 2: 2e-6, 3: 1e-5}  # by dimensions: a cell is cut again if a cut changed the whole by more
SMALL = {1: 1e-10, 2: 1e-7, 3: 1e-6}  # a cell with less of the whole is left as it is
LARGE = {1: 0.01, 2: 0.02, 3: 0.05}   # a cell with more is cut in any case
MOST = 60_000      # cells, beyond which a density is given up
AGREE = 0.02       # two grids agree if they differ by less, in standard deviations


class Unsure(Exception):
    """The two grids differ: this truth is not known."""


class Axis:
    """A parameter and the coordinate u on which it is integrated; hints are (centre, scale) of u."""

    def __init__(self, name, kind, hints, lower=0.0, upper=1.0):
        self.name, self.kind, self.hints, self.lower, self.upper = name, kind, hints, lower, upper

    def value(self, u):
        if self.kind == "real":
            return u
        if self.kind == "above":
            return self.lower + np.exp(u)
        if self.kind == "below":
            return self.upper - np.exp(u)
        return self.lower + (self.upper - self.lower) * expit(u)

    def log_jacobian(self, u):
        if self.kind == "real":
            return 0.0
        if self.kind in ("above", "below"):
            return u
        return np.log(self.upper - self.lower) - np.logaddexp(0, u) - np.logaddexp(0, -u)

    def edges(self, first, growth, reach, limit):
        """Ends of cells: finer near the centres of hints, and out to reach times their scales.

        Coordinates that are logarithms end at the limit.
        """
        count = int(np.ceil(np.log(reach / first) / np.log(growth)))
        steps = first * growth ** np.arange(count + 1)
        out = np.concatenate([-steps[::-1], [0], steps])
        points = np.concatenate([centre + scale * out for centre, scale in self.hints])
        if self.kind != "real":
            points = np.clip(points, -limit, limit)
        points = np.unique(points)
        centres, scales = np.array(self.hints).T
        away = np.min(np.abs(points - centres[:, None]), axis=0)
        kept = [points[0]]
        for point, gap in zip(points[1:], np.maximum(0.05 * scales.min(), 0.2 * away[1:])):
            if point > kept[-1] + gap:
                kept.append(point)
        return np.array(kept)


def real(name, *hints):
    return Axis(name, "real", hints or [(0.0, 1.0)])


def positive(name, *hints, lower=0.0):
    """Hints are (value, scale of its logarithm)."""
    hints = [(np.log(c), s) for c, s in hints] or [(0.0, 1.0)]
    return Axis(name, "above", hints, lower=lower)


def within(name, lower, upper, *hints):
    """Hints are (share of the interval, scale of its logit)."""
    hints = [(np.log(c / (1 - c)), s) for c, s in hints] or [(0.0, 1.0)]
    return Axis(name, "interval", hints, lower, upper)


class Grid:
    """Normalised weights of a density on boxes of its coordinates, and the parameters' values in each box."""

    def __init__(self, axes, points, low, high, logs):
        total = logsumexp(logs)
        if not np.isfinite(total):
            raise Unsure("nothing, or no end, is found")
        weights = np.exp(logs - total)
        keep = weights > 0
        self.weights = weights[keep] / weights[keep].sum()
        self.points = [axis.value(points[keep, i]) for i, axis in enumerate(axes)]
        self.axes, self.low, self.high = axes, low[keep], high[keep]

    def summary(self, i):
        """Of the parameter on axis i; its weight is even within each box."""
        steps = self.weights / (self.high[:, i] - self.low[:, i])
        ends = np.concatenate([self.low[:, i], self.high[:, i]])
        order = np.argsort(ends)
        ends, slope = ends[order], np.cumsum(np.concatenate([steps, -steps])[order])
        cumulative = np.concatenate([[0], np.cumsum(slope[:-1] * np.diff(ends))])
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.sum(self.weights * self.points[i])
            variance = np.sum(self.weights * (self.points[i] - mean) ** 2)
        turn = self.axes[i].kind == "below"

        def read(p):
            return float(self.axes[i].value(np.interp(1 - p if turn else p, cumulative, ends)))

        return summary(read, mean, variance)


class Rule:
    """Gauss-Legendre points of a unit cell, their log weights, and boxes as large as the weights."""

    def __init__(self, order, dimensions):
        nodes, weights = np.polynomial.legendre.leggauss(order)
        ends = np.concatenate([[0], np.cumsum(weights / 2)])

        def product(one):
            return np.array(list(itertools.product(one, repeat=dimensions)))

        self.points, self.low, self.high = product((nodes + 1) / 2), product(ends[:-1]), product(ends[1:])
        self.log_weights = np.log(product(weights / 2)).sum(axis=1)


class Cells:
    """Cells of a density and the logs of its integral at the points of a rule in each."""

    def __init__(self, log_density, axes, rule, low, high):
        self.rule, self.low, self.high = rule, low, high
        flat = self.at(rule.points).reshape(-1, len(axes))
        logs = np.empty(len(flat))
        for start in range(0, len(flat), CHUNK):
            part = flat[start:start + CHUNK]
            with np.errstate(all="ignore"):
                value = log_density(*[axis.value(part[:, i]) for i, axis in enumerate(axes)])
                value = value + sum(axis.log_jacobian(part[:, i]) for i, axis in enumerate(axes))
            logs[start:start + CHUNK] = np.where(np.isnan(value), -np.inf, value)
        volume = np.log(high - low).sum(axis=1)
        self.logs = logs.reshape(len(low), -1) + rule.log_weights + volume[:, None]
        self.mass = logsumexp(self.logs, axis=1)

    def at(self, places):
        return self.low[:, None, :] + (self.high - self.low)[:, None, :] * places

    def boxes(self, keep):
        """Points, boxes and logs of the cells to be kept."""
        shape = (-1, self.low.shape[1])
        parts = [self.at(p)[keep].reshape(shape) for p in (self.rule.points, self.rule.low, self.rule.high)]
        return parts + [self.logs[keep].ravel()]


def halves(low, high):
    """All cells cut in two along each axis; the parts of one cell stand together."""
    middle = (low + high) / 2
    parts = list(itertools.product([0, 1], repeat=low.shape[1]))
    lows = [np.where(part, middle, low) for part in parts]
    highs = [np.where(part, high, middle) for part in parts]
    return np.stack(lows, 1).reshape(-1, low.shape[1]), np.stack(highs, 1).reshape(-1, low.shape[1])


def integrate(log_density, axes, order, *where):
    rule, d = Rule(order, len(axes)), len(axes)
    edges = [axis.edges(*where) for axis in axes]
    low = np.array(list(itertools.product(*[e[:-1] for e in edges])))
    high = np.array(list(itertools.product(*[e[1:] for e in edges])))
    cells = Cells(log_density, axes, rule, low, high)
    done, open_cells = [], np.full(len(low), True)
    while open_cells.any():
        total = logsumexp(np.concatenate([cells.mass] + [part[-1] for part in done]))
        split = open_cells & (cells.mass > total + np.log(SMALL[d]))
        done.append(cells.boxes(~split))
        parents = cells.mass[split]
        low, high = halves(cells.low[split], cells.high[split])
        if len(low) > MOST:
            raise Unsure("too many cells")
        if len(low) == 0:
            break
        cells = Cells(log_density, axes, rule, low, high)
        sums = logsumexp(cells.mass.reshape(len(parents), -1), axis=1)
        with np.errstate(over="ignore"):
            change = np.abs(np.exp(sums - total) - np.exp(parents - total))
        settled = (change < SPLIT[d]) & (sums < total + np.log(LARGE[d]))
        open_cells = np.repeat(~settled, 2 ** d)
        if not open_cells.any():
            done.append(cells.boxes(~open_cells))
    return Grid(axes, *[np.concatenate(parts) for parts in zip(*done)])


RULES = {  # by dimensions: order of the rule, then what `edges` takes
    1: ((8, 0.25, 1.4, 1e6, 200), (7, 0.2, 1.3, 1e9, 700)),
    2: ((5, 0.25, 2.0, 1e6, 200), (4, 0.2, 2.2, 1e9, 700)),
    3: ((3, 0.25, 4.0, 1e4, 200), (3, 0.2, 3.7, 1e6, 700)),
}


def grids(log_density, axes):
    """Two grids that have nothing in common but the density; the second reaches further out."""
    return [integrate(log_density, axes, *numbers) for numbers in RULES[len(axes)]]


def summary(read_quantile, mean, variance):
    answer = {"mean": float(mean), "sd": float(np.sqrt(np.maximum(variance, 0.0)))}
    for p in LEVELS:
        name = f"q{int(round(100 * p))}"
        answer[name] = read_quantile(p)
        answer[name + "_range"] = [read_quantile(p - SLACK), read_quantile(p + SLACK)]
    return answer


def of_normals(weights, means, sds):
    """Summary of a mixture of normals."""
    weights, means, sds = [np.broadcast_to(a, np.shape(weights)).astype(float) for a in (weights, means, sds)]
    keep = weights > 1e-10 * weights.max()
    weights, means, sds = weights[keep] / weights[keep].sum(), means[keep], sds[keep]
    mean = np.sum(weights * means)
    variance = np.sum(weights * (sds ** 2 + (means - mean) ** 2))

    def read(p):
        low, high = np.min(means - 9 * sds), np.max(means + 9 * sds)
        for _ in range(70):
            middle = (low + high) / 2
            below = np.sum(weights * ndtr((middle - means) / sds)) < p
            low, high = (middle, high) if below else (low, middle)
        return float((low + high) / 2)

    return summary(read, mean, variance)


def scale_of(truth):
    return truth["sd"] if truth["sd"] is not None else (truth["q95"] - truth["q5"]) / 3.29


def agree(first, second):
    """What both grids say: quantiles must agree; a mean or standard deviation that does not is left out."""
    spread = (first["q95"] - first["q5"]) / 3.29
    for p in ("q5", "q95"):
        low, high = first[p + "_range"]
        inside = low - AGREE * spread <= second[p] <= high + AGREE * spread
        if abs(first[p] - second[p]) > AGREE * spread and not inside:
            raise Unsure(f"{p}: {first[p]} and {second[p]}")
    answer = dict(first)
    with np.errstate(all="ignore"):
        ratio = np.log(np.float64(first["sd"]) / second["sd"])
    if not abs(ratio) < AGREE:
        answer["sd"] = None
    if not abs(first["mean"] - second["mean"]) < AGREE * min(spread, scale_of(first)):
        answer["mean"] = answer["sd"] = None
    return answer


def posterior(log_density, axes, inner=None):
    """Summaries of the parameters of a density; `inner` tells (mean, sd) of others, normal given these."""
    answers = []
    for grid in grids(log_density, axes):
        answer = {axis.name: grid.summary(i) for i, axis in enumerate(axes)}
        if inner is not None:
            keep = grid.weights > 1e-9
            for name, (mean, sd) in inner(*[x[keep] for x in grid.points]).items():
                answer[name] = of_normals(grid.weights[keep], mean, sd)
        answers.append(answer)
    return {name: agree(answers[0][name], answers[1][name]) for name in answers[0]}


def distribution(dist):
    """Summary of a frozen scipy distribution; moments that are infinite or not there are left out."""
    mean, variance = dist.stats("mv")
    answer = summary(lambda p: float(dist.ppf(p)), mean, variance)
    if not np.isfinite(variance):
        answer["sd"] = None
    if not np.isfinite(mean):
        answer["mean"] = answer["sd"] = None
    return answer


def gaussian(mean, covariance, name, weights=None):
    """Summaries of NAME[1], ... of a normal vector, or of a mixture: means [k, d], covariances [k, d, d]."""
    if weights is None:
        weights, mean, covariance = [1.0], [mean], [covariance]
    means, covariances = np.array(mean, float), np.array(covariance, float)
    sds = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    weights = np.array(weights)
    return {f"{name}[{i + 1}]": of_normals(weights, means[:, i], sds[:, i]) for i in range(means.shape[1])}
