#!/usr/bin/env python3
"""What each attempt and each threshold of the default fit is worth: switches each off, or moves it to its
neighbours, over the whole collection, and tables what changes.

The collection is every posterior of ../shared/posteriordb that has a reference and takes less than a second,
and the models of the calibration that `docs/calibration.py --keep CASES` has left with their truths.

    cargo build --release
    python3 docs/calibration.py --n 150 --seed 11 --keep CASES
    python3 docs/ablation.py CASES                            # the tables of docs/internals/ablation.md
    python3 docs/ablation.py CASES --only khat_light     # one threshold
    python3 docs/ablation.py CASES --set khat_light=0.4 --set khat_adapted=0.45    # several at once

A fit counts as changed if it is no longer the same to the digit. Errors are the largest of a mean, in
standard deviations, and of a log standard deviation; right and wrong are those of docs/calibration.py.
"""
import argparse
import glob
import json
import math
import os
import re
import resource
import subprocess
import sys

import calibration

FOLDER = os.path.join("..", "shared", "posteriordb")
LIMIT = 60          # seconds a fit
QUICK = 1.0         # processor seconds up to which a posterior of posteriordb belongs to the collection
ATTEMPTS = ("quadrature", "nested", "variational", "other-nested", "free-coordinates")
RULES = ("other-modes", "polishing", "blending", "bending", "grid", "mixture", "other-places", "tuning", "stretching",
         "anchors", "common-hessians")
FACTORS = (0.5, 2.0)            # neighbours of a threshold
STEPS = {"khat": (-0.15, 0.15)}  # of those whose name begins so

sys.path.insert(0, FOLDER)


def thresholds():
    """Name and default of each threshold, as the documentation has them."""
    page = open("docs/internals/inference.md").read().split("## Policy")[1]
    return [(name, float(value)) for name, value in re.findall(r"^\| `(\w+)` \| ([\d.e+-]+) \|", page, re.M)]


def neighbours(name, value):
    for prefix, steps in STEPS.items():
        if name.startswith(prefix):
            return [round(value + step, 3) for step in steps]
    return [value * factor for factor in FACTORS]


def posteriors():
    """(name, command, truth) of posteriordb: means and standard deviations of the reference."""
    for path in sorted(glob.glob(f"{FOLDER}/*/reference.json")):
        name = os.path.basename(os.path.dirname(path))
        model = f"models/posteriordb/{name}.ppl"
        if os.path.exists(model):
            yield name, [model, f"{FOLDER}/{name}/data.json"], ("reference", path)


def calibrated(folder):
    for path in sorted(glob.glob(f"{folder}/*.truth.json")):
        stem = path[:-len(".truth.json")]
        truth = json.load(open(path))
        if truth != calibration.models.IMPROPER:
            data = [stem + ".json"] if os.path.getsize(stem + ".json") > 3 else []
            yield os.path.basename(stem), [stem + ".ppl"] + data, ("truth", truth)


def fit(case, changes):
    """The answer of a fit and the processor seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["timeout", str(LIMIT), calibration.BINARY, "fit"] + case[1] + ["--json"] + changes
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = json.loads(done.stdout) if done.stdout.startswith("{") else None
    return answer, done.returncode, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def error_of_reference(path, answer):
    """The largest error of a mean and of a log standard deviation against a reference."""
    import compare
    parameters = {compare.norm(name): of for name, of in answer["parameters"].items()}
    reference = json.load(open(path))
    reference = reference.get("parameters", reference)
    worst = 0.0
    for name, of in reference.items():
        said = compare.lookup(parameters, compare.norm(name))
        if said is None or not isinstance(of, dict) or not of.get("sd"):
            continue
        mean, sd = calibration.number(said["mean"]), calibration.number(said["sd"])
        log_sd = abs(math.log(sd / of["sd"])) if sd > 0 else math.inf
        worst = max(worst, abs(mean - of["mean"]) / of["sd"], log_sd)
    return worst


def judged(case, changes):
    """What came of one case: outcome, error, k-hat, codes, seconds, and the answer as a text."""
    answer, code, seconds = fit(case, changes)
    if answer is None:
        return dict(outcome="none", error=math.inf, khat=math.inf, seconds=seconds, said="")
    kind, truth = case[2]
    if kind == "reference":
        error = error_of_reference(truth, answer)
        wrong = error > 0.15
    else:
        wrong = any(calibration.off(name, answer["parameters"][name], of) for name, of in truth.items())
        error = 0.0
    doubtful = any(f["severity"] == "doubtful" for f in answer["findings"])
    outcome = f"{'wrong' if wrong else 'right'}, {'flagged' if doubtful else 'unflagged'}"
    said = json.dumps([answer["parameters"], sorted(f["code"] for f in answer["findings"])])
    return dict(outcome=outcome, error=error, khat=calibration.number(answer["khat"]), seconds=seconds, said=said)


def row(name, base, now):
    count = {o: sum(r["outcome"] == o for r in now)
             for o in ("wrong, unflagged", "wrong, flagged", "right, flagged", "none")}
    changed = sum(a["said"] != b["said"] for a, b in zip(base, now))
    seconds = math.exp(sum(math.log(max(b["seconds"], 0.01) / max(a["seconds"], 0.01))
                           for a, b in zip(base, now)) / len(now))
    error = max((r["error"] for r in now if r["error"] < math.inf), default=0.0)
    heavy = sum(r["khat"] >= 0.7 for r in now)
    cells = [name, changed, *count.values(), heavy, f"{error:.3f}", f"{sum(r['seconds'] for r in now):.0f}",
             f"{seconds:.2f}"]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases")
    parser.add_argument("--only", action="append", help="a threshold, an attempt or a rule; may be repeated")
    parser.add_argument("--set", action="append", help="NAME=VALUE: all of these at once, and nothing else")
    options = parser.parse_args()
    cases = list(posteriors()) + list(calibrated(options.cases))

    def all_of(changes):
        # One at a time: what a fit costs is told by the processor time of the children that have ended.
        return [judged(case, changes) for case in cases]

    base = all_of([])
    kept = [k for k, r in enumerate(base) if cases[k][2][0] != "reference" or r["seconds"] < QUICK]
    cases, base = [cases[k] for k in kept], [base[k] for k in kept]
    print(f"{len(cases)} models\n")
    print("| switched | changed | wrong, unflagged | wrong, flagged | right, flagged | no answer | k-hat from 0.7 "
          "on | largest error | seconds | times as long |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    row("nothing", base, base)
    if options.set:
        row(", ".join(options.set), base, all_of([x for change in options.set for x in ("--policy", change)]))
        return
    for name in ATTEMPTS + RULES:
        if not options.only or name in options.only:
            row(f"without {name}", base, all_of(["--without", name]))
    for name, value in thresholds():
        if not options.only or name in options.only:
            for other in neighbours(name, value):
                row(f"{name} {value:g} -> {other:g}", base, all_of(["--policy", f"{name}={other}"]))


if __name__ == "__main__":
    main()
