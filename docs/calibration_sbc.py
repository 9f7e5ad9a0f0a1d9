"""Simulation-based calibration for calibration.py: parameters from their prior, data from them, and the place of the true
value among the draws of the fit, which is uniform if the fit is right (Talts et al., 2018; Cook, Gelman and Rubin, 2006).

Each of the kinds gives a model, and a function that draws the parameters and their data.
"""
import collections
import csv
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

DRAWS = 999         # of a fit; a rank among them is one of 1000
PLACES = 20         # of the chi-square test
DOUBTFUL_P = 1e-4   # of the least of two tests for each of some 70 parameters: one run in a hundred has one below by chance
LIMIT = 60          # seconds a fit


def known(**values):
    return {name: np.asarray(value, float) for name, value in values.items()}


def location_scale(r):
    m, s = r.normal(0, 2), abs(r.normal(0, 2))
    return known(m=m, s=s), {"y": r.normal(m, s, 8)}


def regression(r):
    x, b, s = r.normal(0, 1, (12, 3)), r.normal(0, 1, 3), r.exponential(1)
    return known(b=b, s=s), {"x": x, "y": r.normal(x @ b, s)}


def logistic(r):
    x, a, b = r.normal(0, 1, 15), r.normal(0, 1.5), r.normal(0, 1)
    return known(a=a, b=b), {"x": x, "y": r.binomial(1, expit(a + b * x))}


def poisson(r):
    x, a, b = r.normal(0, 1, 10), r.normal(0, 1), r.normal(0, 0.7)
    return known(a=a, b=b), {"x": x, "y": r.poisson(np.exp(a + b * x))}


def dispersed(r):
    m, phi = r.normal(1, 1), r.gamma(2, 2)
    return known(m=m, phi=phi), {"y": r.poisson(r.gamma(phi, 1 / phi, 20) * np.exp(m))}


def robust(r):
    nu, m, s = r.gamma(2, 10), r.normal(0, 2), abs(r.normal(0, 1))
    return known(nu=nu, m=m, s=s), {"y": m + s * r.standard_t(nu, 15)}


def groups(r):
    m, t = r.normal(0, 3), abs(r.normal(0, 2))
    a = r.normal(m, t, 6)
    return known(m=m, t=t, a=a), {"y": r.normal(a, 1)}


def groups_cauchy(r):
    m, t = r.normal(0, 3), abs(r.standard_cauchy())
    a = r.normal(m, t, 5)
    return known(m=m, t=t, a=a), {"y": r.normal(a, 1)}


def group_rows(r):
    m, t, s, g = r.normal(0, 2), abs(r.normal()), r.exponential(1), np.repeat(np.arange(1, 6), 4)
    a = r.normal(m, t, 5)
    return known(m=m, t=t, s=s, a=a), {"y": r.normal(a[g - 1], s), "g": g}


def group_counts(r):
    m, t = r.normal(0.5, 1), abs(r.normal(0, 1))
    a = r.normal(m, t, 6)
    return known(m=m, t=t, a=a), {"y": r.poisson(np.exp(np.minimum(a, 15)))}


def mixture(r):
    m, w = np.sort(r.normal(0, 3, 2)), r.beta(2, 2)
    return known(m=m, w=w), {"y": r.normal(np.where(r.random(12) < w, m[0], m[1]), 1)}


def two_sided(r):
    b = r.normal(0, 2)
    return known(b=b), {"y": r.normal(b * b, 1, 2)}


def spikes(r):
    a = r.normal(0, np.where(r.random(3) < 0.6, 0.1, 2))
    return known(a=a), {"y": r.normal(a, 0.7)}


def gamma_pair(r):
    a, b = r.gamma(2, 1), r.gamma(2, 1)
    return known(a=a, b=b), {"y": np.maximum(r.gamma(a, 1 / b, 10), 1e-12)}


def survival(r):
    k, s = r.gamma(4, 0.5), r.lognormal(0, 1)
    y = s * r.weibull(k, 12)
    return known(k=k, s=s), {"y": np.minimum(y, 1.5)}


def ordered(r):
    c, b, x = np.sort(r.normal(0, 2, 2)), r.normal(), r.normal(0, 1, 15)
    e = b * x + r.logistic(0, 1, 15)
    return known(c=c, b=b), {"x": x, "y": 1 + (e > c[0]) + (e > c[1])}


def autoregression(r):
    phi, s, y = r.uniform(-1, 1), abs(r.normal()), [0.0]
    for _ in range(25):
        y.append(r.normal(phi * y[-1], s))
    return known(phi=phi, s=s), {"y": y}


def walk(r):
    t, s = abs(r.normal()), abs(r.normal())
    z = np.cumsum(r.normal(0, t, 12))
    return known(t=t, s=s, z=z), {"y": r.normal(z, s)}


def change(r):
    c, a, b, x = r.uniform(1, 15), r.normal(0, 2), r.normal(0, 2), np.arange(1.0, 16)
    return known(c=c, a=a, b=b), {"x": x, "y": r.normal(np.where(x > c, b, a), 1)}


def no_counts(r):
    p, a = r.uniform(), r.normal(1, 1)
    return known(p=p, a=a), {"y": r.binomial(1, 1 - p, 15) * r.poisson(np.exp(a), 15)}


KINDS = [  # name, model, draw
    ("location_scale", "data { y : real[N] }\nparam m ~ normal(0, 2)\nparam s ~ half_normal(2)\ny ~ normal(m, s)\n", location_scale),
    ("regression", "data { y : real[N]; x : real[N, D] }\nparam b[D] ~ normal(0, 1)\nparam s ~ exponential(1)\ny ~ normal(x * b, s)\n", regression),
    ("logistic", "data { y : binary[N]; x : real[N] }\nparam a ~ normal(0, 1.5)\nparam b ~ normal(0, 1)\ny ~ bernoulli_logit(a + b * x)\n", logistic),
    ("poisson", "data { y : count[N]; x : real[N] }\nparam a ~ normal(0, 1)\nparam b ~ normal(0, 0.7)\ny ~ poisson_log(a + b * x)\n", poisson),
    ("dispersed", "data { y : count[N] }\nparam m ~ normal(1, 1)\nparam phi ~ gamma(2, 0.5)\ny ~ neg_binomial_2_log(m, phi)\n", dispersed),
    ("robust", "data { y : real[N] }\nparam nu ~ gamma(2, 0.1)\nparam m ~ normal(0, 2)\nparam s ~ half_normal(1)\ny ~ student_t(nu, m, s)\n", robust),
    ("groups", "data { y : real[J] }\nparam m ~ normal(0, 3)\nparam t ~ half_normal(2)\nparam a[J] ~ normal(m, t)\ny ~ normal(a, 1)\n", groups),
    ("groups_cauchy", "data { y : real[J] }\nparam m ~ normal(0, 3)\nparam t ~ half_cauchy(1)\nparam a[J] ~ normal(m, t) noncentered\ny ~ normal(a, 1)\n", groups_cauchy),
    ("group_rows", "data { y : real[N]; g : category[N] of J }\nparam m ~ normal(0, 2)\nparam t ~ half_normal(1)\nparam s ~ exponential(1)\nparam a[J] ~ normal(m, t)\ny ~ normal(a[g], s)\n", group_rows),
    ("group_counts", "data { y : count[J] }\nparam m ~ normal(0.5, 1)\nparam t ~ half_normal(1)\nparam a[J] ~ normal(m, t) noncentered\ny ~ poisson_log(a)\n", group_counts),
    ("mixture", "data { y : real[N] }\nparam m : ordered[2] ~ normal(0, 3)\nparam w ~ beta(2, 2)\ny ~ mixture(w: normal(m[1], 1), 1 - w: normal(m[2], 1))\n", mixture),
    ("two_sided", "data { y : real[N] }\nparam b ~ normal(0, 2)\ny ~ normal(b^2, 1)\n", two_sided),
    ("spikes", "data { y : real[D] }\nparam a[D] ~ mixture(0.6: normal(0, 0.1), 0.4: normal(0, 2))\ny ~ normal(a, 0.7)\n", spikes),
    ("gamma_pair", "data { y : real[N] > 0 }\nparam a ~ gamma(2, 1)\nparam b ~ gamma(2, 1)\ny ~ gamma(a, b)\n", gamma_pair),
    ("survival", "data { y : real[N] > 0 }\nparam k ~ gamma(4, 2)\nparam s ~ lognormal(0, 1)\ny ~ censored(weibull(k, s), upper = 1.5)\n", survival),
    ("ordered", "data { y : category[N] levels(1, 2, 3) of K; x : real[N] }\nparam c : ordered[2] ~ normal(0, 2)\nparam b ~ normal(0, 1)\ny ~ ordered_logistic(b * x, c)\n", ordered),
    ("autoregression", "data { y : real[T] }\nparam phi ~ uniform(-1, 1)\nparam s ~ half_normal(1)\ny[2..T] ~ normal(phi * y[1..T-1], s)\n", autoregression),
    ("walk", "data { y : real[T] }\nparam t ~ half_normal(1)\nparam s ~ half_normal(1)\nparam z[T] ~ gaussian_random_walk(t)\ny ~ normal(z, s)\n", walk),
    ("change", "data { y : real[N]; x : real[N] }\nparam c ~ uniform(1, 15)\nparam a ~ normal(0, 2)\nparam b ~ normal(0, 2)\ny ~ normal(where(x > c, b, a), 1)\n", change),
    ("no_counts", "data { y : count[N] }\nparam p ~ uniform(0, 1)\nparam a ~ normal(1, 1)\ny ~ zero_inflated(p, poisson_log(a))\n", no_counts),
]


def simulate(name, index, seed):
    """Model, true values and data. What is written to the data file is what was drawn: doubles in full."""
    model, draw = next((m, d) for n, m, d in KINDS if n == name)
    rng = np.random.default_rng([seed, zlib.crc32(name.encode()), index])
    values, data = draw(rng)
    return model, values, {k: np.asarray(v).tolist() for k, v in data.items()}, rng


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
        done = subprocess.run([binary, "fit", base + ".ppl", base + ".json", "--out", base + ".csv", "--draws", str(DRAWS)],
                              capture_output=True, text=True, timeout=LIMIT)
        record.update(exit=done.returncode, stderr=done.stderr[-300:])
    except subprocess.TimeoutExpired:
        record.update(exit=None, stderr="")
    record["seconds"] = time.time() - start
    if record["exit"] in (0, 3):
        record["places"] = places(values, base + ".csv", rng)
        os.remove(base + ".csv")
    return record


def p_values(found):
    """For each parameter the smaller p of two tests of uniformity, times two: chi-square in bins, Kolmogorov's."""
    answer = {}
    for name, all_places in found.items():
        bins = np.histogram(all_places, PLACES, (0, 1))[0]
        answer[name] = min(1.0, 2 * min(stats.chisquare(bins).pvalue, stats.kstest(all_places, "uniform").pvalue))
    return answer


def print_table(records):
    print("| model | data sets | flagged | failed | least p | of | smallest | seconds, median |\n|---|---:|---:|---:|---:|---:|---|---:|")
    by_kind, bad = collections.defaultdict(list), []
    for record in records:
        by_kind[record["kind"]].append(record)
    for kind, group in by_kind.items():
        found = collections.defaultdict(list)
        for record in group:
            for name, place in record["places"].items():
                found[name].append(place)
        p = p_values(found)
        least = min(p, key=p.get) if p else "-"
        bad += [f"{kind} {name} {value:.1e}" for name, value in p.items() if value < DOUBTFUL_P]
        failed = sum(r["exit"] not in (0, 3) for r in group)
        seconds = sorted(r["seconds"] for r in group)[len(group) // 2]
        print(f"| {kind} | {len(group)} | {sum(r['exit'] == 3 for r in group)} | {failed} | {p.get(least, float('nan')):.2g} | {len(p)} | {least} | {seconds:.2f} |")
    print(f"\nNot uniform (p below {DOUBTFUL_P}): {', '.join(bad) or 'none'}.")


def start_worker():
    os.nice(10)


def main(options, binary):
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        os.makedirs(folder, exist_ok=True)
        jobs = [(name, i, options.seed, folder, binary) for name, _, _ in KINDS for i in range(options.sets)
                if not options.classes or name in options.classes]
        with multiprocessing.Pool(options.jobs, start_worker) as pool, open(os.path.join(folder, "sbc.jsonl"), "w") as file:
            records = []
            for record in pool.imap(one, jobs):
                records.append(record)
                print(json.dumps(record), file=file, flush=True)
                if sys.stderr.isatty():
                    print(f"\r{len(records)} of {len(jobs)}", end="", file=sys.stderr)
    print_table(records)
