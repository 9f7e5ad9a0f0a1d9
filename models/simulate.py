#!/usr/bin/env python3
"""Writes the tables of the models in this folder: `python3 models/simulate.py`.

Each table has its own seed, made of its name, so that adding one changes no other. Simulated ones come from the model they belong to,
with the values given here; three are published figures (eight_schools, bioassay, predator_prey). Standard library only.
"""

import csv
import json
import math
import random
from pathlib import Path

HERE = Path(__file__).resolve().parent


def table(name, header, rows):
    with open(HERE / f"{name}.csv", "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(header)
        out.writerows(rows)


def inv_logit(x):
    return 1 / (1 + math.exp(-x))


def poisson(r, mean):
    """Counts the arrivals in a unit of time."""
    k, t = 0, r.expovariate(1)
    while t < mean:
        k, t = k + 1, t + r.expovariate(1)
    return k


def student_t(r, nu):
    return r.gauss(0, 1) / math.sqrt(r.gammavariate(nu / 2, 2 / nu))


def cholesky(k):
    n = len(k)
    low = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            s = k[i][j] - sum(low[i][m] * low[j][m] for m in range(j))
            low[i][j] = math.sqrt(s) if i == j else s / low[j][j]
    return low


def gp(r, x, alpha, rho):
    """One function with a squared-exponential kernel, at points x."""
    k = [[alpha**2 * math.exp(-0.5 * math.dist(a, b) ** 2 / rho**2) + (a is b) * 1e-9 for b in x] for a in x]
    z = [r.gauss(0, 1) for _ in x]
    return [sum(c * u for c, u in zip(row, z)) for row in cholesky(k)]


# ---- Published figures ----


def eight_schools():
    y, sigma = [28, 8, -3, 7, -1, 1, 18, 12], [15, 10, 16, 11, 9, 11, 10, 18]
    table("eight_schools", ["school", "y", "sigma"], zip("ABCDEFGH", y, sigma))


def bioassay():
    table("bioassay", ["log_dose", "animals", "deaths"], zip([-0.86, -0.30, -0.05, 0.73], [5] * 4, [0, 1, 3, 5]))


def predator_prey():
    hare = [30, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22, 25.4, 27.1, 40.3, 57, 76.6, 52.3, 19.5, 11.2, 7.6, 14.6, 16.2, 24.7]
    lynx = [4, 6.1, 9.8, 35.2, 59.4, 41.7, 19, 13, 8.3, 9.1, 7.4, 8, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6]
    table("predator_prey", ["year", "hare", "lynx"], zip(range(1900, 1921), hare, lynx))


# ---- Simulated ----


def linear(r):
    rows = []
    for _ in range(60):
        area, age, garden = round(r.uniform(40, 180)), round(r.uniform(0, 60)), int(r.random() < 0.4)
        price = 60 + 2.4 * area - 0.8 * age + 25 * garden + r.gauss(0, 30)
        rows.append([area, age, garden, round(price, 1)])
    table("linear", ["area", "age", "garden", "price"], rows)


def logistic(r):
    rows = []
    for _ in range(100):
        hours, rest = round(r.uniform(0, 20), 1), round(r.gauss(7, 1), 1)
        rows.append([hours, rest, int(r.random() < inv_logit(-2 + 0.25 * hours + 0.5 * (rest - 7)))])
    table("logistic", ["hours", "sleep", "passed"], rows)


def poisson_(r):
    rows = []
    for _ in range(50):
        flow, km = round(r.uniform(2, 20), 1), round(r.uniform(0.5, 8), 1)
        rows.append([km, flow, poisson(r, km * math.exp(-1.0 + 0.1 * flow))])
    table("poisson", ["length_km", "flow", "accidents"], rows)


def negative_binomial(r):
    rows = []
    for _ in range(60):
        treated, traps = int(r.random() < 0.5), r.randint(2, 6)
        mean = traps * math.exp(1.5 - 0.7 * treated)
        rows.append([treated, traps, poisson(r, mean * r.gammavariate(1.5, 1 / 1.5))])
    table("negative_binomial", ["treated", "traps", "insects"], rows)


def zero_inflated(r):
    rows = []
    for _ in range(80):
        bait, hours = int(r.random() < 0.5), round(r.uniform(0.5, 6), 1)
        fishes = r.random() < 0.6
        rows.append([bait, hours, poisson(r, hours * math.exp(-0.5 + 0.9 * bait)) if fishes else 0])
    table("zero_inflated", ["bait", "hours", "fish"], rows)


def ordinal(r):
    words, cuts = ["bad", "fair", "good", "excellent"], [-1.5, 0.3, 2.0]
    rows = []
    for _ in range(90):
        taste, wait = round(r.gauss(0, 1), 2), round(r.expovariate(0.1), 1)
        u = r.random()
        score = 0.8 * taste - 0.1 * (wait - 10) + math.log(u / (1 - u))
        rows.append([taste, wait, words[sum(score > c for c in cuts)]])
    table("ordinal", ["taste", "wait", "rating"], rows)


def hierarchy(r, name, groups, per_group, sd):
    rows = []
    for g in range(groups):
        effect = r.gauss(50, sd)
        rows += [[f"{name[0]}{g + 1}", round(r.gauss(effect, 5), 2)] for _ in range(per_group(r))]
    return rows


def hierarchical_centered(r):
    table("hierarchical_centered", ["machine", "output"], hierarchy(r, "machine", 6, lambda r: 18, 4))


def hierarchical_noncentered(r):
    rows = hierarchy(r, "ward", 20, lambda r: r.randint(2, 4), 1.5)
    table("hierarchical_noncentered", ["ward", "score"], rows)


COUNTIES = "Aitkin Anoka Becker Carlton Cass Dakota Hennepin Isanti Lake Mower Pine Ramsey Scott Stearns Wright".split()


def varying_intercepts(r):
    rows = []
    for c in COUNTIES:
        uranium = r.gauss(0, 0.4)
        level = r.gauss(1.4 + 0.7 * uranium, 0.3)
        for _ in range(r.choice([2, 3, 5, 8, 14])):
            floor = int(r.random() < 0.25)
            rows.append([c, floor, round(uranium, 3), round(r.gauss(level - 0.6 * floor, 0.7), 2)])
    table("varying_intercepts", ["county", "floor", "uranium", "log_radon"], rows)


def varying_slopes(r):
    rows = []
    for i in range(12):
        z1, z2 = r.gauss(0, 1), r.gauss(0, 1)
        start, slope = 250 + 25 * z1, 10 + 6 * (0.6 * z1 + 0.8 * z2)
        rows += [[f"S{i + 1:02}", day, round(r.gauss(start + slope * day, 20), 1)] for day in range(8)]
    table("varying_slopes", ["subject", "days", "reaction"], rows)


def irt(r):
    ability = [r.gauss(0, 1) for _ in range(15)]
    rows = []
    items = [(f"Q{i + 1}", math.exp(r.gauss(0, 0.4)), r.gauss(0, 1)) for i in range(8)]
    for p, theta in enumerate(ability):
        rows += [[f"P{p + 1:02}", q, int(r.random() < inv_logit(a * (theta - b)))] for q, a, b in items]
    table("irt", ["person", "item", "correct"], rows)


def mixture(r):
    rows = [[round(r.gauss(54, 6) if r.random() < 0.35 else r.gauss(80, 6), 1)] for _ in range(120)]
    table("mixture", ["waiting"], rows)


def hmm(r):
    rows, state = [], 0
    for day in range(120):
        if day and r.random() < [0.1, 0.2][state]:
            state = 1 - state
        rows.append([day + 1, poisson(r, [2, 9][state])])
    table("hmm", ["day", "calls"], rows)


def ar(r):
    y = [10.0, 10.0]
    for _ in range(98):
        y.append(10 + 0.6 * (y[-1] - 10) + 0.25 * (y[-2] - 10) + r.gauss(0, 1))
    table("ar", ["month", "y"], [[t + 1, round(v, 2)] for t, v in enumerate(y)])


def garch(r):
    rows, s, last = [], 1.0, 0.0
    for day in range(120):
        s = math.sqrt(0.15 + 0.3 * last**2 + 0.6 * s**2) if day else 1.0
        last = r.gauss(0, s)
        rows.append([day + 1, round(0.1 + last, 3)])
    table("garch", ["day", "r"], rows)


def local_level(r):
    rows, level = [], 20.0
    for year in range(1960, 2020):
        level += r.gauss(0, 0.6)
        rows.append([year, round(r.gauss(level, 1.5), 2)])
    table("local_level", ["year", "depth"], rows)


def gaussian_process(r):
    x = [[round(i * 0.5, 1)] for i in range(30)]
    f = gp(r, x, 1.0, 2.5)
    table("gp", ["x", "count"], [[p[0], poisson(r, math.exp(1 + v))] for p, v in zip(x, f)])


def spatial_gp(r):
    places = [[round(r.uniform(0, 10), 2), round(r.uniform(0, 10), 2)] for _ in range(40)]
    f = gp(r, places, 1.2, 2.0)
    rows = [[*p, round(6 - 0.1 * p[0] + v + r.gauss(0, 0.4), 2)] for p, v in zip(places, f)]
    table("spatial_gp", ["east", "north", "ph"], rows)


def spatial_icar(r):
    """A 6 by 6 map of areas; neighbours share a side."""
    side = 6
    f = gp(r, [[i, j] for i in range(side) for j in range(side)], 0.5, 2.0)
    area = lambda i, j: i * side + j + 1
    edges = [(area(i, j), area(i + 1, j)) for i in range(side - 1) for j in range(side)]
    edges += [(area(i, j), area(i, j + 1)) for i in range(side) for j in range(side - 1)]
    poor = [round(r.gauss(0, 1), 2) for _ in f]
    expected = [round(r.uniform(3, 20), 1) for _ in f]
    cases = [poisson(r, e * math.exp(0.1 + 0.3 * p + v)) for e, p, v in zip(expected, poor, f)]
    data = {"cases": cases, "expected": expected, "poor": poor, "from": [a for a, _ in edges], "to": [b for _, b in edges]}
    with open(HERE / "spatial_icar.json", "w") as out:
        out.write("{\n" + ",\n".join(f'  "{k}": {json.dumps(v)}' for k, v in data.items()) + "\n}\n")


def survival(r):
    rows = []
    for _ in range(70):
        treated, age = int(r.random() < 0.5), round(r.gauss(60, 9))
        scale = math.exp(2.5 + 0.6 * treated - 0.03 * (age - 60))
        death, end = r.weibullvariate(scale, 1.4), r.uniform(6, 30)
        rows.append([treated, age, round(min(death, end), 2), int(death > end)])
    table("survival", ["treated", "age", "months", "alive"], rows)


def robust(r):
    rows = []
    for _ in range(50):
        x = round(r.uniform(0, 10), 2)
        rows.append([x, round(3 + 1.5 * x + student_t(r, 2), 2)])
    table("robust", ["x", "y"], rows)


def horseshoe(r):
    true = [2.0, 0, 0, -1.5] + [0] * 8
    rows = []
    for _ in range(50):
        x = [round(r.gauss(0, 1), 3) for _ in true]
        rows.append([*x, round(1 + sum(a * b for a, b in zip(x, true)) + r.gauss(0, 1), 3)])
    table("horseshoe", [f"gene{k + 1}" for k in range(len(true))] + ["y"], rows)


def capture_recapture(r):
    p, seen = [0.3, 0.45, 0.2, 0.35], []
    for _ in range(60):
        history = [int(r.random() < q) for q in p]
        if any(history):
            seen.append(history)
    seen += [[0] * len(p) for _ in range(110 - len(seen))]
    table("capture_recapture", ["night1", "night2", "night3", "night4"], seen)


def missing_data(r):
    rows = []
    for _ in range(60):
        x = r.gauss(27, 4)
        y = 120 + 1.5 * (x - 27) + r.gauss(0, 6)
        rows.append(["NA" if r.random() < 0.2 else round(x, 1), round(y, 1)])
    table("missing_data", ["bmi", "pressure"], rows)


def measurement_error(r):
    rows = []
    for _ in range(40):
        true, sd = r.gauss(5, 1.5), round(r.uniform(0.3, 1), 2)
        rows.append([round(r.gauss(true, sd), 2), sd, round(2 + 0.9 * true + r.gauss(0, 0.5), 2)])
    table("measurement_error", ["dose", "dose_sd", "response"], rows)


def main():
    eight_schools()
    bioassay()
    predator_prey()
    for make in [
        linear, logistic, poisson_, negative_binomial, zero_inflated, ordinal, hierarchical_centered, hierarchical_noncentered,
        varying_intercepts, varying_slopes, irt, mixture, hmm, ar, garch, local_level, gaussian_process, spatial_gp, spatial_icar,
        survival, robust, horseshoe, capture_recapture, missing_data, measurement_error,
    ]:
        make(random.Random(f"table {make.__name__}"))


if __name__ == "__main__":
    main()
