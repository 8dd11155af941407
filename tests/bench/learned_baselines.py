"""Compare the analytic model with two learned ones on the same rows and the same leave-outs.

    eyeroof hw cross-validate measured.csv --rows-to rows.csv
    python3 learned_baselines.py measured.csv rows.csv

"trees" learns ln(measured) from the layer's and the GPU's features alone. "hybrid" learns
ln(measured / analytic) from the same features and the analytic time, which saw no row of the GPU's
architecture; its correction is held within a factor of `--bound`. Each architecture is left out in
turn. Prints mean |predicted / measured - 1| in %, each GPU counted once. Needs scikit-learn.
"""
import argparse
import csv
import math
import pathlib
import re
from collections import defaultdict

import numpy
from sklearn.ensemble import HistGradientBoostingRegressor

SIZES = ["batch", "m", "n", "k", "c", "h", "w", "r", "s", "stride", "pad", "dilation", "groups",
         "rows", "cols", "kv_heads", "window", "topk"]
NAMES = ["op", "dtype", "direction", "fn", "layout", "launch"]
UNITS = {"": 1.0, "G": 1e9, "M": 1e6, "T": 1e12, "K": 1e3, "Ki": 1024.0, "Mi": 1024.0 ** 2}


def figure(text, key):
    """The first number behind `key:` of a machine file, in base units; 0 where there is none."""
    found = re.search(rf"\b{key}: (?:\{{value: )?([0-9.]+) ?(Ki|Mi|[KMGT])?", text)
    return float(found.group(1)) * UNITS[found.group(2) or ""] if found else 0.0


def gpu_features(folder, gpu):
    text = (folder / f"{gpu}.yaml").read_text(encoding="utf-8")
    keys = ("sms", "fp32_lanes", "boost", "fp32", "fp16", "fp8", "int8", "bandwidth", "capacity",
            "shared_memory", "tdp")
    architecture = re.search(r"^architecture: (\S+)", text, re.M).group(1)
    capability = re.search(r"^compute_capability: \"?([^\s\"]+)", text, re.M)
    left = capability.group(1) if architecture == "amd" and capability else architecture
    return left, [math.log1p(figure(text, key)) for key in keys]


def number(text):
    return math.log1p(float(re.match(r"[0-9.]*", text).group(0) or 0.0))


def load(table, rows, folder):
    with open(table, newline="", encoding="utf-8") as stream:
        layers = list(csv.DictReader(stream))
    codes = {name: {} for name in NAMES}
    machines = {}
    data = []
    with open(rows, newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            layer, gpu = layers[int(row["line"]) - 2], row["gpu"]
            if float(row["left_out_s"]) <= 0.0:
                continue
            if gpu not in machines:
                machines[gpu] = gpu_features(folder, gpu)
            left, features = machines[gpu]
            named = [codes[name].setdefault(layer.get(name, ""), len(codes[name])) for name in NAMES]
            sizes = [number(layer.get(name) or "") for name in SIZES]
            way = "gradient" if layer["direction"] not in ("", "fwd") else "fwd"
            data.append((left, gpu, (layer["op"], layer["dtype"], way), float(row["measured_s"]),
                         float(row["left_out_s"]), named + sizes + features))
    return data


def fit_and_predict(inputs, targets, unseen):
    model = HistGradientBoostingRegressor(loss="absolute_error", max_iter=300, learning_rate=0.08,
                                          max_leaf_nodes=31, min_samples_leaf=20, random_state=1)
    return model.fit(inputs, targets).predict(unseen)


def predictions(data, bound):
    left = numpy.array([row[0] for row in data])
    features = numpy.array([row[5] for row in data])
    measured = numpy.log([row[3] for row in data])
    analytic = numpy.log([row[4] for row in data])
    both = numpy.column_stack([features, analytic])
    trees, hybrid = numpy.zeros(len(data)), numpy.zeros(len(data))
    for name in sorted(set(left)):
        out = left == name
        trees[out] = fit_and_predict(features[~out], measured[~out], features[out])
        residual = fit_and_predict(both[~out], (measured - analytic)[~out], both[out])
        limit = math.log(bound)
        hybrid[out] = analytic[out] + numpy.clip(residual, -limit, limit)
    return measured, {"analytic": analytic, "trees": trees, "hybrid": hybrid}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("rows")
    parser.add_argument("--gpus", default=pathlib.Path(__file__).parents[2] / "hwdb/gpus",
                        type=pathlib.Path, help="folder of machine files")
    parser.add_argument("--bound", default=1.5, type=float, help="most that a correction multiplies")
    options = parser.parse_args()
    data = load(options.table, options.rows, options.gpus)
    measured, models = predictions(data, options.bound)
    errors = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for i, row in enumerate(data):
        for name, predicted in models.items():
            errors[row[2]][name][row[1]].append(abs(math.exp(predicted[i] - measured[i]) - 1.0))
    print("| op | type | direction | rows | analytic | trees | hybrid |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: |")
    for kind in sorted(errors):
        means = [100.0 * numpy.mean([numpy.mean(of) for of in errors[kind][name].values()])
                 for name in ("analytic", "trees", "hybrid")]
        rows = sum(len(of) for of in errors[kind]["analytic"].values())
        print(f"| {' | '.join(kind)} | {rows} | " + " | ".join(f"{m:.1f}" for m in means) + " |")


if __name__ == "__main__":
    main()
