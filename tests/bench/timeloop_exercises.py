#!/usr/bin/env python3
"""Cycles and energy of Timeloop's published exercises, beside the statistics that Timeloop printed for them.

timeloop_exercises.py EYEROOF CHECKOUT [--within 0.01]: CHECKOUT is a copy of the repository
Accelergy-Project/timeloop-accelergy-exercises. Each folder with Timeloop's statistics (*.stats.txt) is one
exercise. Its input is `inputs/input.yaml` or `parsed-processed-input.yaml` beside the statistics; older
exercises have one folder each for `arch`, `prob`, `map`, and `constraints` above them. Energies of actions come
from the `*.ERT.yaml` or `*.ERT_summary.yaml` beside the statistics. A mapping is examined as it is; without one,
eyeroof searches the mapping itself, so that its energy may be less than the published one, not more.

Prints a Markdown table. Exits with 1 where a read exercise has other cycles, where energies of the same mapping
differ by more than --within, or where a search ends above the published energy.
"""

import argparse
import csv
import io
import json
import pathlib
import re
import subprocess
import sys


def published(text):
    """Cycles, computes, and pJ a compute, as the summary at the end states them."""
    summary = text[text.rfind("Summary Stats"):]
    numbers = [re.search(pattern, summary) for pattern in
               (r"Cycles: (\d+)", r"(?:Computes|MACCs) = (\d+)", r"\n\s+Total\s+= ([\d.]+)")]
    if not all(numbers):
        return None
    cycles, computes, energy = [float(found.group(1)) for found in numbers]
    return cycles, computes, energy / (1000 if "\nfJ/" in summary else 1)


def first(folder, *patterns):
    for pattern in patterns:
        for path in sorted(folder.glob(pattern)):
            return path
    return None


def files_of(stats, checkout):
    """Input files of the exercise: problem and machine, mapping (None: to be searched), constraints, energies."""
    folder = stats.parent
    energies = first(folder, "*.ERT.yaml", "*ERT.yaml", "*ERT_summary.yaml")
    one = first(folder, "inputs/input.yaml", "parsed-processed-input.yaml")
    if one:
        text = one.read_text()
        own = re.search(r"^mapping:[ \t]*\n(?=\s*- )", text, re.M)
        return one, one, one if own else first(folder, "*.map.yaml"), one, energies
    while folder != checkout and not (folder / "arch").is_dir():
        folder = folder.parent
    name = stats.parent.name
    maps = sorted(folder.glob("map/*.yaml"))
    named = [path for path in maps if name in path.name]
    mapping = maps[0] if len(maps) == 1 else named[0] if len(named) == 1 else None
    return (first(folder, "prob/*.yaml"), first(folder, "arch/*.yaml"), mapping,
            first(folder, f"constraints/*{name}*.yaml"), energies)


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith("error")] or ["error: no message"]
        raise ValueError(re.sub(r"\S*/", "", errors[0].removeprefix("error: ")))
    return done.stdout


def predicted(eyeroof, problem, machine, mapping, constraints, energies):
    """Cycles and pJ, and how the mapping came about."""
    table = ["--energies", energies] if energies else []
    common = [problem, "--on", machine, "--counting", "timeloop", *table]
    if mapping:
        layer = json.loads(run([eyeroof, "exam", *common, "--mapping", mapping, "--format", "json"]))["layers"][0]
        return layer["cycles"], layer["energy_j"] * 1e12, "given"
    rules = ["--constraints", constraints] if constraints else []
    rows = run([eyeroof, "map", *common, *rules, "--objective", "edp", "--format", "csv"])
    row = next(csv.DictReader(io.StringIO(rows)))
    return float(row["cycles"]), float(row["energy_pj"]), "proved" if row["proved"] == "true" else "searched"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("eyeroof")
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--within", type=float, default=0.01, help="share by which energies may differ")
    args = parser.parse_args()
    found = read = equal = close = failed = 0
    print("| exercise | mapping | cycles | published | pJ a MAC | published | difference |\n|---|---|---|---|---|---|---|")
    for stats in sorted(args.checkout.rglob("*.stats.txt")):
        figures = published(stats.read_text())
        name = "/".join(part for part in stats.parent.relative_to(args.checkout).parts
                        if part not in ("workspace", "exercises", "example_designs", "ref-output", "ref_outputs"))
        found += 1
        if not figures:
            print(f"| {name} | | | no summary | | | |")
            continue
        cycles, computes, pj = figures
        problem, machine, *others = files_of(stats, args.checkout)
        try:
            if not problem or not machine:
                raise ValueError("input files not found")
            mine, energy, way = predicted(args.eyeroof, problem, machine, *others)
        except ValueError as reason:
            print(f"| {name} | not read: {reason} | | {cycles:.0f} | | {pj:.2f} | |", flush=True)
            continue
        each = energy / computes
        off = 0.0 if abs(each - pj) <= 0.005001 else each / pj - 1.0  # published to two decimals
        near = off <= args.within and (way != "given" or off >= -args.within)
        read += 1
        equal += mine == cycles
        close += near
        failed += mine != cycles or not near
        print(f"| {name} | {way} | {mine:.0f} | {cycles:.0f} | {each:.2f} | {pj:.2f} | {100 * off:+.1f} % |", flush=True)
    print(f"\n{read} of {found} exercises read; {equal} with equal cycles, {close} within {100 * args.within:g} % "
          "in energy or below it after a search.")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
