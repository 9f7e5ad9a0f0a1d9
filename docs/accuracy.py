#!/usr/bin/env python3
"""Fits every posterior of ../shared/posteriordb that has a reference and prints the table of docs/accuracy.md.

Run from the top of the repository, after `cargo build --release`:  python3 docs/accuracy.py > table.md
"""
import json
import os
import subprocess
import sys
import tempfile

FOLDER = os.path.join("..", "shared", "posteriordb")
BINARY = os.environ.get("STICKLER", os.path.join("target", "release", "stickler"))
LIMIT = 120  # seconds a posterior


def fit(name):
    run = subprocess.run(
        [BINARY, "fit", f"models/posteriordb/{name}.ppl", f"{FOLDER}/{name}/data.json", "--json"],
        capture_output=True, text=True, timeout=LIMIT)
    return json.loads(run.stdout) if run.stdout.strip() else None


def compare(name, answer):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(answer, file)
        file.flush()
        run = subprocess.run([sys.executable, f"{FOLDER}/compare.py", name, file.name, "--json"],
                             capture_output=True, text=True)
    return json.loads(run.stdout)


def main():
    names = sorted(n for n in os.listdir(FOLDER) if os.path.exists(f"{FOLDER}/{n}/reference.json"))
    print("| posterior | k-hat | mean error | log sd error | status |\n|---|---|---|---|---|")
    for name in names:
        try:
            answer = fit(name)
        except subprocess.TimeoutExpired:
            print(f"| {name} | - | - | - | over {LIMIT} s |", flush=True)
            continue
        if answer is None:
            print(f"| {name} | - | - | - | failed |")
            continue
        errors = compare(name, answer)
        print(f"| {name} | {answer['khat']:.2f} | {errors['mean_error']['max']:.3f} | "
              f"{errors['log_sd_error']['max']:.3f} | {answer['status']} |", flush=True)


if __name__ == "__main__":
    main()
