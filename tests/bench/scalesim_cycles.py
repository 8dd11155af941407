#!/usr/bin/env python3
"""Compute cycles of eyeroof's closed form beside those that SCALE-Sim simulates.

scalesim_cycles.py EYEROOF [--layers 8] [--seed 331]: random convolutions on arrays of 8 x 8 and 16 x 32 in the three
dataflows, from the same files for both. Needs the package scalesim (3.0.0; with numpy < 2) in the Python that runs
this. Prints how many rows differ, and exits with 1 where one does.
"""

import argparse
import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile

TOPOLOGY = "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\n"
CONFIGURATION = """[general]
run_name = run
[architecture_presets]
ArrayHeight: {rows}
ArrayWidth: {columns}
IfmapSramSzkB: 256
FilterSramSzkB: 256
OfmapSramSzkB: 256
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Dataflow : {dataflow}
Bandwidth : 10
ReadRequestBuffer: 64
WriteRequestBuffer: 64
[layout]
IfmapCustomLayout: False
IfmapSRAMBankBandwidth: 10
IfmapSRAMBankNum: 10
IfmapSRAMBankPort: 2
FilterCustomLayout: False
FilterSRAMBankBandwidth: 10
FilterSRAMBankNum: 10
FilterSRAMBankPort: 2
[sparsity]
SparsitySupport : false
[run_presets]
InterfaceBandwidth: CALC
UseRamulatorTrace: False
"""


def random_layers(count, dice):
    for i in range(count):
        window = dice.choice([1, 3, 5])
        size = dice.randint(window, 20)
        yield (f"L{i}", size, size, window, window, dice.choice([3, 8, 17, 32, 64]), dice.choice([5, 16, 33, 64]),
               dice.choice([1, 1, 2]))


def simulated(folder, name):
    command = [sys.executable, "-m", "scalesim.scale", "-c", name, "-t", "topology.csv", "-l", "layout.csv", "-p", name + ".d",
               "-s", "Y"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    with open(next((folder / (name + ".d")).rglob("COMPUTE_REPORT.csv"))) as report:
        head, *rows = csv.reader(report)
    at = [title.strip() for title in head].index("Total Cycles")
    return [float(row[at]) for row in rows]


def in_closed_form(eyeroof, folder, name):
    command = [eyeroof, "exam", "topology.csv", "--on", name, "--compat", "scalesim", "--mapping", "dataflow", "--format", "json"]
    run = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return [layer["scalesim_cycles"] for layer in json.loads(run.stdout)["layers"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("eyeroof", type=pathlib.Path)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--seed", type=int, default=331)
    args = parser.parse_args()
    layers = list(random_layers(args.layers, random.Random(args.seed)))
    rows, differ = 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "topology.csv").write_text(TOPOLOGY + "".join(", ".join(map(str, layer)) + ",\n" for layer in layers))
        (folder / "layout.csv").write_text("," * 21 + "\n" + "".join(f"{layer[0]}," + "1," * 20 + "\n" for layer in layers))
        for (height, width) in ((8, 8), (16, 32)):
            for dataflow in ("ws", "os", "is"):
                name = f"{height}x{width}{dataflow}.cfg"
                (folder / name).write_text(CONFIGURATION.format(rows=height, columns=width, dataflow=dataflow))
                ours = in_closed_form(args.eyeroof.resolve(), folder, name)
                for layer, one, other in zip(layers, ours, simulated(folder, name), strict=True):
                    rows += 1
                    if one != other:
                        differ += 1
                        print(f"{height} x {width} {dataflow} {layer}: {one:.0f}, SCALE-Sim {other:.0f}")
    print(f"{rows} rows, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
