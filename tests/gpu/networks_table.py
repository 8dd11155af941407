"""Prints what tests/gpu/networks.py measured beside eyeroof's predictions, as Markdown.

    python3 tests/gpu/networks_table.py EYEROOF FOLDER [MACHINE]

FOLDER holds times.json, modes.json, and traces. Networks of the catalog are predicted from their
names alone; the traced kernels are predicted from the shapes of the trace.
"""
import json
import pathlib
import statistics
import subprocess
import sys

CATALOG = {"resnet50": "resnet50", "mobilenet-v2": "mobilenet-v2", "vit-b-16": "vit-b-16",
           "bert-large": "bert-large:seq=384,pretraining=1,masked=384,dropout="}
LAYOUTS = {"nchw": "channels-first", "nhwc": "channels-last"}


def exam(eyeroof, *words):
    ran = subprocess.run([eyeroof, "exam", *words, "--format", "json"], capture_output=True, text=True)
    if not ran.stdout:
        sys.exit(ran.stderr)
    return json.loads(ran.stdout)


def predicted(eyeroof, machine, row, mode="eager"):
    name = CATALOG[row["network"]]
    if name.endswith("dropout="):
        name += "1" if row["phase"] == "training" else "0"
    words = [name, "--batch", str(row["batch"]), "--phase", row["phase"], "--dtype", row["precision"],
             "--layout", LAYOUTS[row["layout"]], "--on", machine]
    words += ["--optimizer", "sgd_momentum"] if row["phase"] == "training" else []
    words += {"eager": [], "graph": ["--launch", "graph"], "compiled": ["--compiled"]}[mode]
    return exam(eyeroof, *words)["total"]


def line(cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def compare(rows, total_of, cells_of):
    errors, inside = [], 0
    for row in rows:
        total = total_of(row)
        ms = 1e3 * total["time_s"]
        holds = 1e3 * total["low_s"] <= row["wall_ms"] <= 1e3 * total["high_s"]
        errors.append(abs(ms / row["wall_ms"] - 1))
        inside += holds
        line([*cells_of(row), f"{row['wall_ms']:.2f}", f"{ms:.2f}", f"{ms / row['wall_ms']:.2f}",
              "yes" if holds else "no"])
    print(f"\nMean error {100 * statistics.mean(errors):.0f} %, median {100 * statistics.median(errors):.0f} %, "
          f"inside {inside} of {len(errors)}.\n")


def main():
    eyeroof, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    machine = sys.argv[3] if len(sys.argv) > 3 else "h100-sxm-80gb"
    times = [row for row in json.loads((folder / "times.json").read_text()) if row["network"] in CATALOG]
    line(["network", "phase", "precision", "layout", "measured, ms", "predicted, ms", "ratio", "inside"])
    line(["---"] * 4 + ["--:"] * 3 + ["---"])
    compare(times, lambda row: predicted(eyeroof, machine, row),
            lambda row: [row[key] for key in ("network", "phase", "precision", "layout")])
    modes = [row for row in json.loads((folder / "modes.json").read_text()) if row["network"] in CATALOG]
    line(["network", "mode", "layout", "measured, ms", "predicted, ms", "ratio", "inside"])
    line(["---"] * 3 + ["--:"] * 3 + ["---"])
    compare(modes, lambda row: predicted(eyeroof, machine, row, row["mode"]),
            lambda row: [row[key] for key in ("network", "mode", "layout")])
    line(["trace", "kernels, ms", "compared, ms", "predicted, ms", "ratio", "median error of a shape", "inside"])
    line(["---"] + ["--:"] * 6)
    for trace in sorted(folder.glob("*.json.gz")):
        said = exam(eyeroof, str(trace))["trace"]
        every = said["comparisons"][0]
        line([trace.name[:-8], f"{1e3 * said['kernel_s']:.2f}", f"{1e3 * every['measured_s']:.2f}",
              f"{1e3 * every['predicted_s']:.2f}", f"{every['predicted_s'] / every['measured_s']:.2f}",
              f"{100 * every['median_error']:.0f} %", f"{100 * every['inside']:.0f} %"])


if __name__ == "__main__":
    main()
