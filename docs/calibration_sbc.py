"""Simulation-based calibration for calibration.py: parameters from their prior, data from them, and the
place of the true value among the draws of the fit, which is uniform if the fit is right (Talts et al.,
2018; Cook, Gelman and Rubin, 2006).

Each kind is a function that draws the parameters and their data; its text is the model.
"""
import collections
import csv
import inspect
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
import zlib

import numpy as np
from scipy import stats
from scipy.special import expit

DRAWS = 999  # of a fit; a rank among them is one of 1000
PLACES = 20  # of the chi-square test
DOUBTFUL_P = 1e-4  # the lesser of two tests, for some 80 parameters: by chance in one run of a hundred
LIMIT = 60  # seconds a fit


KINDS = {}


def kind(function):
    KINDS[function.__name__] = function
    return function


def known(**values):
    return {name: np.asarray(value, float) for name, value in values.items()}


@kind
def location_scale(r):
    """data { y : real[N] }
    param m ~ normal(0, 2)
    param s ~ half_normal(2)
    y ~ normal(m, s)
    """
    m, s = r.normal(0, 2), abs(r.normal(0, 2))
    return known(m=m, s=s), {"y": r.normal(m, s, 8)}


@kind
def regression(r):
    """data { y : real[N]; x : real[N, D] }
    param b[D] ~ normal(0, 1)
    param s ~ exponential(1)
    y ~ normal(x * b, s)
    """
    x, b, s = r.normal(0, 1, (12, 3)), r.normal(0, 1, 3), r.exponential(1)
    return known(b=b, s=s), {"x": x, "y": r.normal(x @ b, s)}


@kind
def logistic(r):
    """data { y : binary[N]; x : real[N] }
    param a ~ normal(0, 1.5)
    param b ~ normal(0, 1)
    y ~ bernoulli_logit(a + b * x)
    """
    x, a, b = r.normal(0, 1, 15), r.normal(0, 1.5), r.normal(0, 1)
    return known(a=a, b=b), {"x": x, "y": r.binomial(1, expit(a + b * x))}


@kind
def poisson(r):
    """data { y : count[N]; x : real[N] }
    param a ~ normal(0, 1)
    param b ~ normal(0, 0.7)
    y ~ poisson_log(a + b * x)
    """
    x, a, b = r.normal(0, 1, 10), r.normal(0, 1), r.normal(0, 0.7)
    return known(a=a, b=b), {"x": x, "y": r.poisson(np.exp(a + b * x))}


@kind
def dispersed(r):
    """data { y : count[N] }
    param m ~ normal(1, 1)
    param phi ~ gamma(2, 0.5)
    y ~ neg_binomial_2_log(m, phi)
    """
    m, phi = r.normal(1, 1), r.gamma(2, 2)
    return known(m=m, phi=phi), {"y": r.poisson(r.gamma(phi, 1 / phi, 20) * np.exp(m))}


@kind
def robust(r):
    """data { y : real[N] }
    param nu ~ gamma(2, 0.1)
    param m ~ normal(0, 2)
    param s ~ half_normal(1)
    y ~ student_t(nu, m, s)
    """
    nu, m, s = r.gamma(2, 10), r.normal(0, 2), abs(r.normal(0, 1))
    return known(nu=nu, m=m, s=s), {"y": m + s * r.standard_t(nu, 15)}


@kind
def groups(r):
    """data { y : real[J] }
    param m ~ normal(0, 3)
    param t ~ half_normal(2)
    param a[J] ~ normal(m, t)
    y ~ normal(a, 1)
    """
    m, t = r.normal(0, 3), abs(r.normal(0, 2))
    a = r.normal(m, t, 6)
    return known(m=m, t=t, a=a), {"y": r.normal(a, 1)}


@kind
def groups_cauchy(r):
    """data { y : real[J] }
    param m ~ normal(0, 3)
    param t ~ half_cauchy(1)
    param a[J] ~ normal(m, t) noncentered
    y ~ normal(a, 1)
    """
    m, t = r.normal(0, 3), abs(r.standard_cauchy())
    a = r.normal(m, t, 5)
    return known(m=m, t=t, a=a), {"y": r.normal(a, 1)}


@kind
def group_rows(r):
    """data { y : real[N]; g : category[N] of J }
    param m ~ normal(0, 2)
    param t ~ half_normal(1)
    param s ~ exponential(1)
    param a[J] ~ normal(m, t)
    y ~ normal(a[g], s)
    """
    m, t, s, g = r.normal(0, 2), abs(r.normal()), r.exponential(1), np.repeat(np.arange(1, 6), 4)
    a = r.normal(m, t, 5)
    return known(m=m, t=t, s=s, a=a), {"y": r.normal(a[g - 1], s), "g": g}


@kind
def group_counts(r):
    """data { y : count[J] }
    param m ~ normal(0.5, 1)
    param t ~ half_normal(1)
    param a[J] ~ normal(m, t) noncentered
    y ~ poisson_log(a)
    """
    m, t = r.normal(0.5, 1), abs(r.normal(0, 1))
    a = r.normal(m, t, 6)
    return known(m=m, t=t, a=a), {"y": r.poisson(np.exp(np.minimum(a, 15)))}


@kind
def mixture(r):
    """data { y : real[N] }
    param m : ordered[2] ~ normal(0, 3)
    param w ~ beta(2, 2)
    y ~ mixture(w: normal(m[1], 1), 1 - w: normal(m[2], 1))
    """
    m, w = np.sort(r.normal(0, 3, 2)), r.beta(2, 2)
    return known(m=m, w=w), {"y": r.normal(np.where(r.random(12) < w, m[0], m[1]), 1)}


@kind
def two_sided(r):
    """data { y : real[N] }
    param b ~ normal(0, 2)
    y ~ normal(b^2, 1)
    """
    b = r.normal(0, 2)
    return known(b=b), {"y": r.normal(b * b, 1, 2)}


@kind
def spikes(r):
    """data { y : real[D] }
    param a[D] ~ mixture(0.6: normal(0, 0.1), 0.4: normal(0, 2))
    y ~ normal(a, 0.7)
    """
    a = r.normal(0, np.where(r.random(3) < 0.6, 0.1, 2))
    return known(a=a), {"y": r.normal(a, 0.7)}


@kind
def gamma_pair(r):
    """data { y : real[N] > 0 }
    param a ~ gamma(2, 1)
    param b ~ gamma(2, 1)
    y ~ gamma(a, b)
    """
    a, b = r.gamma(2, 1), r.gamma(2, 1)
    return known(a=a, b=b), {"y": np.maximum(r.gamma(a, 1 / b, 10), 1e-12)}


@kind
def survival(r):
    """data { y : real[N] > 0 }
    param k ~ gamma(4, 2)
    param s ~ lognormal(0, 1)
    y ~ censored(weibull(k, s), upper = 1.5)
    """
    k, s = r.gamma(4, 0.5), r.lognormal(0, 1)
    y = s * r.weibull(k, 12)
    return known(k=k, s=s), {"y": np.minimum(y, 1.5)}


@kind
def ordered(r):
    """data { y : category[N] levels(1, 2, 3) of K; x : real[N] }
    param c : ordered[2] ~ normal(0, 2)
    param b ~ normal(0, 1)
    y ~ ordered_logistic(b * x, c)
    """
    c, b, x = np.sort(r.normal(0, 2, 2)), r.normal(), r.normal(0, 1, 15)
    e = b * x + r.logistic(0, 1, 15)
    return known(c=c, b=b), {"x": x, "y": 1 + (e > c[0]) + (e > c[1])}


@kind
def autoregression(r):
    """data { y : real[T] }
    param phi ~ uniform(-1, 1)
    param s ~ half_normal(1)
    y[2..T] ~ normal(phi * y[1..T-1], s)
    """
    phi, s, y = r.uniform(-1, 1), abs(r.normal()), [0.0]
    for _ in range(25):
        y.append(r.normal(phi * y[-1], s))
    return known(phi=phi, s=s), {"y": y}


@kind
def walk(r):
    """data { y : real[T] }
    param t ~ half_normal(1)
    param s ~ half_normal(1)
    param z[T] ~ gaussian_random_walk(t)
    y ~ normal(z, s)
    """
    t, s = abs(r.normal()), abs(r.normal())
    z = np.cumsum(r.normal(0, t, 12))
    return known(t=t, s=s, z=z), {"y": r.normal(z, s)}


@kind
def change(r):
    """data { y : real[N]; x : real[N] }
    param c ~ uniform(1, 15)
    param a ~ normal(0, 2)
    param b ~ normal(0, 2)
    y ~ normal(where(x > c, b, a), 1)
    """
    c, a, b, x = r.uniform(1, 15), r.normal(0, 2), r.normal(0, 2), np.arange(1.0, 16)
    return known(c=c, a=a, b=b), {"x": x, "y": r.normal(np.where(x > c, b, a), 1)}


@kind
def no_counts(r):
    """data { y : count[N] }
    param p ~ uniform(0, 1)
    param a ~ normal(1, 1)
    y ~ zero_inflated(p, poisson_log(a))
    """
    p, a = r.uniform(), r.normal(1, 1)
    return known(p=p, a=a), {"y": r.binomial(1, 1 - p, 15) * r.poisson(np.exp(a), 15)}


def simulate(name, index, seed):
    """Model, true values and data. What is written to the data file is what was drawn: doubles in full."""
    draw = KINDS[name]
    rng = np.random.default_rng([seed, zlib.crc32(name.encode()), index])
    values, data = draw(rng)
    data = {k: np.asarray(v).tolist() for k, v in data.items()}
    return inspect.cleandoc(draw.__doc__) + "\n", values, data, rng


def places(values, path, rng):
    """The share of draws below each true value, ties broken at random."""
    with open(path) as file:
        rows = list(csv.reader(file))
    draws, found = np.array(rows[1:], float), {}
    for name, value in values.items():
        for i, v in enumerate(value.ravel()):
            column = draws[:, rows[0].index(name if value.ndim == 0 else f"{name}[{i + 1}]")]
            below = np.sum(column < v) + rng.uniform() * (1 + np.sum(column == v))
            found[name if value.ndim == 0 else f"{name}[{i + 1}]"] = below / (len(column) + 1)
    return found


def one(job):
    name, index, seed, folder, binary = job
    model, values, data, rng = simulate(name, index, seed)
    base = os.path.join(folder, f"{name}-{index}")
    for text, ending in ((model, ".ppl"), (json.dumps(data), ".json")):
        with open(base + ending, "w") as file:
            file.write(text)
    record, start = {"kind": name, "index": index, "places": {}}, time.time()
    try:
        done = subprocess.run(
            [binary, "fit", base + ".ppl", base + ".json", "--out", base + ".csv", "--draws",
             str(DRAWS)],
            capture_output=True,
            text=True,
            timeout=LIMIT)
        record.update(exit=done.returncode, stderr=done.stderr[-300:])
    except subprocess.TimeoutExpired:
        record.update(exit=None, stderr="")
    record["seconds"] = time.time() - start
    if record["exit"] in (0, 3):
        record["places"] = places(values, base + ".csv", rng)
        os.remove(base + ".csv")
    return record


def p_values(found):
    """For each parameter twice the smaller p of two tests of uniformity, chi-square and Kolmogorov's."""
    answer = {}
    for name, all_places in found.items():
        bins = np.histogram(all_places, PLACES, (0, 1))[0]
        answer[name] = min(1.0,
                           2 * min(stats.chisquare(bins).pvalue,
                                   stats.kstest(all_places, "uniform").pvalue))
    return answer


def row(kind, group):
    """A row of the table, and the parameters whose places are not uniform."""
    found = collections.defaultdict(list)
    for record in group:
        for name, place in record["places"].items():
            found[name].append(place)
    p = p_values(found)
    least = min(p, key=p.get) if p else None
    flagged, failed = sum(r["exit"] == 3 for r in group), sum(r["exit"] not in (0, 3) for r in group)
    seconds = sorted(r["seconds"] for r in group)[len(group) // 2]
    cells = [kind, len(group), flagged, failed, len(p), least, f"{p.get(least, 1):.2g}", f"{seconds:.2f}"]
    return cells, [f"{kind} {name} {value:.1e}" for name, value in p.items() if value < DOUBTFUL_P]


def print_table(records):
    heads = ["model", "data sets", "flagged", "failed", "parameters", "least uniform", "p", "seconds, median"]
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    groups, bad = collections.defaultdict(list), []
    for record in records:
        groups[record["kind"]].append(record)
    for kind_name, group in groups.items():
        cells, off = row(kind_name, group)
        print(f"| {' | '.join(map(str, cells))} |")
        bad += off
    print(f"\nNot uniform (p below {DOUBTFUL_P}): {', '.join(bad) or 'none'}.")


def start_worker():
    os.nice(10)


def main(options, binary):
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        os.makedirs(folder, exist_ok=True)
        jobs = [(name, i, options.seed, folder, binary) for name in KINDS for i in range(options.sets)
                if not options.classes or name in options.classes]
        with multiprocessing.Pool(options.jobs, start_worker) as pool, open(os.path.join(folder, "sbc.jsonl"),
                                                                            "w") as file:
            records = []
            for record in pool.imap(one, jobs):
                records.append(record)
                print(json.dumps(record), file=file, flush=True)
                if sys.stderr.isatty():
                    print(f"\r{len(records)} of {len(jobs)}", end="", file=sys.stderr)
    print_table(records)
