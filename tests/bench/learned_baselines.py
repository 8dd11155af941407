#!/usr/bin/env python3
"""Two learned models of GPU times beside the analytic one, on the same rows and leave-outs.

  examples/measurements/cross_validate.py EYEROOF measured.csv --rows-to rows.csv
  learned_baselines.py measured.csv rows.csv

Needs numpy and scikit-learn. *Trees*: boosted trees that predict ln(measured / naive roofline) from the
layer's shape and the GPU's data sheet. *Hybrid*: the same trees with the analytic time as a feature, that
predict ln(measured / analytic time), held within a factor of two. Both are fitted class by class.

Held out: fitted on half of a GPU's shapes with all other GPUs' rows, judged on the other half. Left out:
fitted without the architecture, whose data sheet alone is given. The hybrid then learns from analytic times
that were blind to their own architecture, as the time it corrects is. Prints Markdown, the mean over the
GPUs of mean |predicted / measured - 1| in %.
"""
import argparse
import csv
import math
from collections import defaultdict

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

SHAPE = ("batch", "m", "n", "k", "c", "h", "w", "r", "s", "stride", "pad", "dilation", "groups", "rows", "cols",
         "kv_heads", "causal", "window", "topk")
WORDS = ("op", "dtype", "direction", "fn", "layout", "launch", "library")  # of the table
SHEET = ("naive_s", "flops", "bytes", "peak_flops_per_s", "dram_bytes_per_s", "l2_bytes", "sms", "clock_hz")
EACH = 800      # rows of a GPU and class that the trees are given, evenly picked
BOUND = math.log(2.0)  # of what the hybrid may change
MISSING = -99.0


def number(text):
    try:
        value = float(text.split("x")[0])
    except ValueError:
        return MISSING
    return math.log(value) if value > 0 else -1.0


def read(table, rows_file):
    with open(table, encoding="utf-8", newline="") as file:
        lines = dict(enumerate(csv.DictReader(file), start=2))
    with open(rows_file, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    codes = {word: {} for word in WORDS}
    for row in rows:
        layer = lines[int(row["line"])]
        words = [float(codes[word].setdefault(layer.get(word) or "", len(codes[word]))) for word in WORDS]
        row["features"] = [number(layer.get(name) or "") for name in SHAPE] + words + [
            number(row[name]) for name in SHEET]
        for name in ("measured_s", "own_s", "left_out_s", "naive_s"):
            row[name] = float(row[name])
    return rows


def class_of(row):
    return row["op"], row["dtype"], row["direction"]


def some(rows, most=EACH):
    """At most so many rows of each GPU."""
    by_gpu = defaultdict(list)
    for row in rows:
        by_gpu[row["gpu"]].append(row)
    return [of[i * len(of) // min(most, len(of))] for of in by_gpu.values() for i in range(min(most, len(of)))]


def fitted(rows, base, extra):
    """Trees for ln(measured / base); every GPU weighs the same."""
    rows = [row for row in some(rows) if row[base] > 0]
    if len({row["gpu"] for row in rows}) == 0 or len(rows) < 40:
        return None
    counts = defaultdict(int)
    for row in rows:
        counts[row["gpu"]] += 1
    trees = HistGradientBoostingRegressor(loss="absolute_error", max_iter=150, learning_rate=0.08, max_leaf_nodes=24,
                                          min_samples_leaf=15, l2_regularization=1.0, random_state=0)
    x = np.array([row["features"] + [math.log(row[name]) for name in extra] for row in rows])
    y = np.array([math.log(row["measured_s"] / row[base]) for row in rows])
    trees.fit(x, y, sample_weight=np.array([1.0 / counts[row["gpu"]] for row in rows]))
    return trees


def predicted(trees, rows, base, extra, bound=None):
    if trees is None:
        return np.array([row[base] for row in rows])
    change = trees.predict(np.array([row["features"] + [math.log(row[name]) for name in extra] for row in rows]))
    if bound is not None:
        change = np.clip(change, -bound, bound)
    return np.array([row[base] for row in rows]) * np.exp(change)


def judge(found, key, rows, times):
    by_gpu = defaultdict(list)
    for row, time in zip(rows, times):
        by_gpu[row["gpu"]].append(abs(time / row["measured_s"] - 1.0))
    for gpu, errors in by_gpu.items():
        found[key][gpu] = sum(errors) / len(errors)


def study(rows):
    """Mean error over the GPUs by (figure, model)."""
    found = defaultdict(dict)
    held = [row for row in rows if row["held_out"] == "1"]
    seen = [row for row in rows if row["held_out"] == "0"]
    judge(found, ("held", "analytic"), held, [row["own_s"] for row in held])
    if held and seen:
        judge(found, ("held", "trees"), held, predicted(fitted(seen, "naive_s", ()), held, "naive_s", ()))
        judge(found, ("held", "hybrid"), held,
              predicted(fitted(seen, "own_s", ("own_s",)), held, "own_s", ("own_s",), BOUND))
    blind = [row for row in rows if row["left_out_s"] > 0]
    for name in sorted({row["left_with"] for row in blind}):
        left = [row for row in blind if row["left_with"] == name]
        others = [row for row in blind if row["left_with"] != name]
        judge(found, ("left", "analytic"), left, [row["left_out_s"] for row in left])
        if not others:
            continue
        judge(found, ("left", "trees"), left, predicted(fitted(others, "naive_s", ()), left, "naive_s", ()))
        judge(found, ("left", "hybrid"), left,
              predicted(fitted(others, "left_out_s", ("left_out_s",)), left, "left_out_s", ("left_out_s",), BOUND))
    return {key: 100.0 * sum(of.values()) / len(of) for key, of in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", help="the measured layers")
    parser.add_argument("rows", help="what cross_validate.py --rows-to wrote for them")
    options = parser.parse_args()
    classes = defaultdict(list)
    for row in read(options.table, options.rows):
        classes[class_of(row)].append(row)
    columns = [(figure, model) for figure in ("held", "left") for model in ("analytic", "trees", "hybrid")]
    print("| op | type | direction | rows | " + " | ".join(f"{figure} out, {model}" for figure, model in columns) + " |")
    print("| --- | --- | --- | ---: |" + " ---: |" * len(columns))
    every = defaultdict(list)
    for key, rows in sorted(classes.items()):
        errors = study(rows)
        if all(column in errors for column in columns):
            for column in columns:
                every[column].append(errors[column])
        cells = [f"{errors[column]:.1f}" if column in errors else "-" for column in columns]
        print(f"| {' | '.join(key)} | {len(rows)} | " + " | ".join(cells) + " |", flush=True)
    means = [f"{sum(every[column]) / len(every[column]):.1f}" for column in columns]
    print(f"| mean of the {len(every[columns[0]])} complete classes | | | | " + " | ".join(means) + " |")


if __name__ == "__main__":
    main()
