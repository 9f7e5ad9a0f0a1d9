#!/usr/bin/env python3
"""How often `stickler fit` is wrong without saying so, and how often it doubts what is right.

Makes random small models of many kinds whose posteriors are known by quadrature or in closed form
(calibration_models.py, calibration_truth.py), fits each, and counts wrong and right answers with and
without a doubtful finding: by class, by severity, by k-hat and by code of finding. Needs numpy and scipy.

    cargo build --release
    python3 docs/calibration.py                            # some 600 models, the tables of docs/accuracy.md
    python3 docs/calibration.py --seed 2 --n 1200 --list   # others; lists what was wrong, or flagged in vain
    python3 docs/calibration.py --class modes --keep DIR   # one class; models, data and truths are kept
    python3 docs/calibration.py --only log_mix-3 --list    # one case
    python3 docs/calibration.py --sbc                      # simulation-based calibration: 20 kinds, 200 sets

An answer is wrong if for any parameter the mean is off by 0.1 posterior standard deviations, the log
standard deviation by 0.15, or the 5 % or 95 % quantile by 0.15 standard deviations. Means and standard
deviations that do not exist are not judged, and a doubt is right beside them. Where there is no posterior
any answer is wrong, and an error is right.
"""
import argparse
import collections
import json
import math
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
import zlib

import numpy as np

import calibration_models as models
import calibration_truth as truths

BINARY = os.environ.get("STICKLER", os.path.join("target", "release", "stickler"))
LIMIT = 60          # seconds a fit
ATTEMPTS = 8        # data sets that are tried where a truth cannot be known
MEAN_OFF, LOG_SD_OFF, QUANTILE_OFF = 0.1, 0.15, 0.15
BINS = (-math.inf, 0.0, 0.3, 0.5, 0.7, math.inf)
OUTCOMES = ("wrong, unflagged", "wrong, flagged", "right, unflagged", "right, flagged", "refused", "error",
            "timeout")


def make(name, index, seed):
    """The case, or None where no truth is known."""
    function = next(f for _, kind, _, f in models.KINDS if kind == name)
    for attempt in range(ATTEMPTS):
        rng = np.random.default_rng([seed, zlib.crc32(name.encode()), index, attempt])
        try:
            case = function(rng)
        except truths.Unsure:
            continue
        if case.truth == models.IMPROPER or all(np.isfinite(t["q5"] + t["q95"]) for t in case.truth.values()):
            return case
    return None


def number(x):
    """A number of the JSON: those that are not finite are texts or null."""
    return math.nan if x is None else float(str(x).replace("Inf", "inf"))


def off(name, answer, truth):
    """What is wrong with the summary of one parameter, as texts."""
    scale, found = truths.scale_of(truth), []
    mean, sd = number(answer["mean"]), number(answer["sd"])
    if truth["mean"] is not None and not abs(mean - truth["mean"]) <= MEAN_OFF * scale:
        found.append(f"{name} mean {mean:.4g}, truth {truth['mean']:.4g}")
    if truth["sd"] is not None and not (sd > 0 and abs(math.log(sd / truth["sd"])) <= LOG_SD_OFF):
        found.append(f"{name} sd {sd:.4g}, truth {truth['sd']:.4g}")
    for q in ("q5", "q95"):
        said, (low, high) = number(answer[q]), truth[q + "_range"]
        if not (abs(said - truth[q]) <= QUANTILE_OFF * scale or low <= said <= high):
            found.append(f"{name} {q} {said:.4g}, truth {truth[q]:.4g} (sd {scale:.3g})")
    return found


def errors(case, answer):
    if case.truth == models.IMPROPER:
        means = [(name, number(p["mean"]), number(p["sd"])) for name, p in answer["parameters"].items()]
        said = [f"{name} {mean:.3g} ± {sd:.3g}" for name, mean, sd in means]
        return ["no posterior, but says " + ", ".join(said[:4])]
    missing = [name for name in case.truth if name not in answer["parameters"]]
    assert not missing, f"{missing} not in {list(answer['parameters'])}"
    said = answer["parameters"]
    return [text for name, truth in case.truth.items() for text in off(name, said[name], truth)]


def run(folder, identifier, case, seed):
    """One fit: (seconds, exit code, answer or None, what was said on standard error)."""
    model, data = os.path.join(folder, identifier + ".ppl"), os.path.join(folder, identifier + ".json")
    with open(model, "w") as file:
        file.write(case.model)
    with open(data, "w") as file:
        json.dump(case.data, file)
    start = time.time()
    try:
        command = [BINARY, "fit", model] + ([data] if case.data else []) + ["--json", "--seed", str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return LIMIT, None, None, ""
    answer = json.loads(done.stdout) if done.stdout.strip().startswith("{") else None
    return time.time() - start, done.returncode, answer, done.stderr


def may_flag(case):
    """Whether a doubt is no false alarm: labels can be exchanged, or there is no standard deviation."""
    return case.may_flag or any(truth["sd"] is None for truth in case.truth.values())


def outcome(case, code, wrong):
    if code is None:
        return "timeout"
    if code not in (0, 3):
        return "refused" if code == 1 and case.truth == models.IMPROPER else "error"
    flagged = code == 3 and (wrong or not may_flag(case))
    return f"{'wrong' if wrong else 'right'}, {'flagged' if flagged else 'unflagged'}"


def judge(job):
    """All about one case, as a record for a line of JSON."""
    of_class, name, index, seed, fit_seed, folder = job
    identifier = f"{name}-{index}"
    record = {"id": identifier, "class": of_class, "kind": name}
    start = time.time()
    case = make(name, index, seed)
    if case is None:
        return dict(record, outcome="unknown")
    record["truth_seconds"] = round(time.time() - start, 2)
    seconds, code, answer, said = run(folder, identifier, case, fit_seed)
    with open(os.path.join(folder, identifier + ".truth.json"), "w") as file:
        json.dump(case.truth, file, indent=1)
    record.update(exit=code, seconds=round(seconds, 3), wrong=[], findings=[], stderr="")
    if answer is None:
        record["stderr"] = said.strip()[:400]
    else:
        findings = [[f["code"], f["severity"], f["text"]] for f in answer["findings"]]
        record.update(status=answer["status"], path=answer["path"], khat=answer["khat"], findings=findings)
        record["wrong"] = errors(case, answer)
    return dict(record, outcome=outcome(case, code, record["wrong"]))


def chosen(options):
    """(class, kind, index) of the cases to be run."""
    total = sum(share for _, _, share, _ in models.KINDS)
    for of_class, name, share, _ in models.KINDS:
        for index in range(max(1, round(share * options.n / total))):
            if options.only:
                if not any(re.fullmatch(pattern, f"{name}-{index}") for pattern in options.only):
                    continue
            if not options.classes or of_class in options.classes or name in options.classes:
                yield of_class, name, index


def severity(record):
    found = {f[1] for f in record["findings"]}
    return next((s for s in ("doubtful", "caution", "note") if s in found), "none")


def bin_of(khat):
    if khat is None:
        return "none"
    i = next(i for i in range(len(BINS) - 1) if khat < BINS[i + 1])
    return f"{BINS[i]:g} to {BINS[i + 1]:g}".replace("-inf to", "below").replace("0.7 to inf", "0.7 and more")


def percent(count, total):
    return f"{100 * count / total:.1f} %" if total else "-"


def table(title, groups):
    """Rows of (name, records), by outcome."""
    print(f"\n| {title} | models | " + " | ".join(OUTCOMES) + " | seconds, median | largest |")
    print("|---" * (len(OUTCOMES) + 4) + "|")
    for name, records in groups:
        counts = collections.Counter(r["outcome"] for r in records)
        seconds = sorted(r["seconds"] for r in records)
        cells = [name, len(records)] + [counts[o] for o in OUTCOMES]
        cells += [f"{seconds[len(seconds) // 2]:.2f}", f"{seconds[-1]:.1f}"]
        print("| " + " | ".join(map(str, cells)) + " |")


def grouped(records, key):
    groups = collections.defaultdict(list)
    for record in records:
        groups[key(record)].append(record)
    return groups


def print_codes(records):
    print("\n| finding | severity | beside a right answer | beside a wrong one |\n|---|---|---:|---:|")
    counts = collections.defaultdict(lambda: [0, 0])
    for record in records:
        if not record["outcome"].startswith(("wrong", "right")):
            continue
        for code in {(f[0], f[1]) for f in record["findings"]}:
            counts[code][bool(record["wrong"])] += 1
    for (code, level), (right, wrong) in sorted(counts.items()):
        print(f"| `{code}` | {level} | {right} | {wrong} |")


def print_tables(records):
    unknown = sum(r["outcome"] == "unknown" for r in records)
    records = [r for r in records if r["outcome"] != "unknown"]
    if not records:
        sys.exit("no case is called that")
    classes = list(grouped(records, lambda r: r["class"]).items())
    table("class", classes + [("all", records)])
    kinds = grouped(records, lambda r: r["severity"])
    order = ("none", "note", "caution", "doubtful", "refused")
    table("most severe finding", [(s, kinds[s]) for s in order if s in kinds])
    bins = grouped([r for r in records if "khat" in r], lambda r: bin_of(r["khat"]))
    order = [bin_of(x) for x in (-1, 0, 0.3, 0.5, 0.7)] + ["none"]
    table("k-hat", [(b, bins[b]) for b in order if b in bins])
    print_codes(records)
    counts = collections.Counter(r["outcome"] for r in records)
    vain = counts["right, flagged"] + counts["error"]
    print(f"\nWrong without a flag: {percent(counts['wrong, unflagged'], len(records))} of {len(records)}. "
          f"Flagged or refused although right: {percent(vain, len(records))}. "
          f"{unknown} whose truth is not known to two grids are left out.")


def print_list(records):
    for record in sorted(records, key=lambda r: (r["outcome"], r["class"], r["id"])):
        if record["outcome"] not in ("wrong, unflagged", "right, flagged", "error", "timeout"):
            continue
        khat = record.get("khat")
        khat = "-" if khat is None else f"{khat:.2f}"
        about = f"{record.get('status', '')} {record.get('path', '')} k-hat {khat}"
        print(f"\n{record['outcome']}: {record['class']} {record['id']} ({about}, {record['seconds']:.1f} s)")
        for text in record["wrong"][:6]:
            print("   ", text)
        for code, level, text in record["findings"]:
            if level != "note":
                print(f"    {level} {code}: {text[:220]}")
        if record["outcome"] == "error":
            print("   ", record["stderr"][:300].replace("\n", "\n    "))


def parse():
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    parser.add_argument("--n", type=int, default=600, help="models, about")
    parser.add_argument("--seed", type=int, default=1, help="seed of the models")
    parser.add_argument("--fit-seed", type=int, default=1, help="seed of the fits")
    parser.add_argument("--class", dest="classes", action="append", help="a class or kind; may be repeated")
    parser.add_argument("--only", action="append", help="a regular expression of ids; may be repeated")
    parser.add_argument("--keep", help="folder for models, data, truths and results.jsonl")
    parser.add_argument("--list", action="store_true", help="print what is wrong, or flagged in vain")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sbc", action="store_true", help="simulation-based calibration")
    parser.add_argument("--sets", type=int, default=200, help="with --sbc: data sets of each kind")
    return parser.parse_args()


def start_worker():
    os.nice(10)


def run_all(jobs, options, folder):
    """Records in the order of jobs; results.jsonl grows with them."""
    records = []
    path = os.path.join(folder, "results.jsonl")
    with multiprocessing.Pool(options.jobs, start_worker) as pool, open(path, "w") as file:
        for record in pool.imap(judge, jobs):
            record["severity"] = severity(record) if record.get("exit") in (0, 3) else "refused"
            records.append(record)
            print(json.dumps(record), file=file, flush=True)
            if sys.stderr.isatty():
                print(f"\r{len(records)} of {len(jobs)}  {record['id']:40}", end="", file=sys.stderr)
    return records


def main():
    options = parse()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    if options.sbc:
        import calibration_sbc
        return calibration_sbc.main(options, BINARY)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        os.makedirs(folder, exist_ok=True)
        jobs = [case + (options.seed, options.fit_seed, folder) for case in chosen(options)]
        records = run_all(jobs, options, folder)
    if options.list:
        print_list([r for r in records if r["outcome"] != "unknown"])
    print_tables(records)


if __name__ == "__main__":
    main()
