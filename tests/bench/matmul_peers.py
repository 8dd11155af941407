"""Median errors of eyeroof and of nvMatmulHeuristics on the same measured products, cell by cell.

    pip install nvidia-matmul-heuristics==0.1.0.27
    python tests/bench/matmul_peers.py calib4_gemm.csv.gz build/dev/cli

Half of the shapes (n, k) fits eyeroof's constants, the other half is predicted.
nvMatmulHeuristics gives the time of the kernel that it would choose in CUTLASS 3, without the cast of the input
that fp8 products of serving libraries include; its median is therefore also given for products of 100 us and more.
"""

import collections
import csv
import gzip
import os
import statistics
import subprocess
import sys
import tempfile
import zlib

from nvMatmulHeuristics import (NvMatmulHeuristicsFlags as Flags, NvMatmulHeuristicsInterfaceEx as Interface,
                                NvMatmulHeuristicsMatmulLayout as Layout, NvMatmulHeuristicsNvidiaGpu as Gpu,
                                NvMatmulHeuristicsTarget as Target)

GPUS = {"a100-sxm-80gb": Gpu.A100_SXM_80GB, "h100-sxm-80gb": Gpu.H100_SXM, "h200-sxm-141gb": Gpu.H200_SXM,
        "b200-sxm": Gpu.B200, "gb200": Gpu.GB200_NVL, "l40s": Gpu.L40S,
        "rtx-pro-6000-blackwell-server": Gpu.RTX_PRO_6000}
PRECISIONS = {"bfloat16": "TST", "fp8": "QST"}  # inputs, sums, results
MOST = 400  # rows of a cell
LONG_S = 1e-4


def halves(table, folder):
    """The rows of each half of the shapes, in two files; those without a graph are left out."""
    paths = [os.path.join(folder, f"half{i}.csv") for i in (0, 1)]
    with gzip.open(table, "rt") as file:
        rows = csv.DictReader(file)
        files = [open(path, "w", newline="", encoding="utf-8") for path in paths]
        writers = [csv.DictWriter(f, rows.fieldnames) for f in files]
        for writer in writers:
            writer.writeheader()
        for row in rows:
            if row["op"] == "gemm" and "eager" not in row["note"]:
                writers[zlib.crc32(f"{row['n']},{row['k']}".encode()) % 97 % 2].writerow(row)
        for file_of_half in files:
            file_of_half.close()
    return paths


def ours(seen, asked, programs, folder):
    """Predicted seconds of each line of `asked`."""
    subprocess.run([os.path.join(programs, "eyeroof-dev"), "fit-kernels", seen, "--constants",
                    os.path.join(folder, "kernels"), "--source", "half"], check=True)
    shipped = os.path.join(os.path.dirname(__file__), "../../hwdb")
    out = subprocess.run([os.path.join(programs, "eyeroof"), "validate", asked, "--kernels", "--format", "csv",
                          "--hwdb", folder, "--hwdb", shipped], check=True, capture_output=True, text=True).stdout
    return {int(r["line"]): float(r["predicted_s"]) for r in csv.DictReader(out.splitlines())}


def theirs(interface, row, precision):
    problem = interface.makeNvMatmulHeuristicsProblem(int(row["m"]), int(row["n"]), int(row["k"]),
                                                      Layout.TN_ROW_MAJOR)
    chosen = interface.get(problem, 1, precision=precision)
    return chosen[0]["runtime"] if chosen else None


def main():
    table, programs = sys.argv[1:3]
    cells = collections.defaultdict(list)  # errors of both, and whether the product is long
    with tempfile.TemporaryDirectory() as folder:
        seen, asked = halves(table, folder)
        predicted = ours(seen, asked, programs, folder)
        interfaces = {}
        with open(asked, encoding="utf-8") as file:
            for line, row in enumerate(csv.DictReader(file), start=2):
                key = (row["gpu"], row["dtype"], row["library"])
                if row["gpu"] not in GPUS or row["dtype"] not in PRECISIONS or line not in predicted \
                        or zlib.crc32(str(line).encode()) % 4 or len(cells[key]) >= MOST:
                    continue
                if row["gpu"] not in interfaces:
                    interfaces[row["gpu"]] = Interface(backend=Target.CUTLASS3, gpu=GPUS[row["gpu"]],
                                                       flags=Flags.PERF_MODEL_BASED_AUTO_TUNING)
                time_s = theirs(interfaces[row["gpu"]], row, PRECISIONS[row["dtype"]])
                measured = float(row["measured_ms"]) * 1e-3
                if time_s:
                    cells[key].append((abs(predicted[line] / measured - 1), abs(time_s / measured - 1),
                                       measured >= LONG_S))
    print(f"{'gpu':<30} {'type':<9} {'library':<8} {'rows':>5} {'eyeroof':>8} {'theirs':>7} {'long: eyeroof':>14} "
          f"{'theirs':>7}   medians, %")
    for (gpu, dtype, library), errors in sorted(cells.items()):
        long = [e for e in errors if e[2]]
        text = "".join(f"{100 * statistics.median(e[i] for e in chosen):{width}.1f}" if chosen else " " * width
                       for chosen, widths in ((errors, (9, 8)), (long, (15, 8)))
                       for i, width in enumerate(widths))
        print(f"{gpu:<30} {dtype:<9} {library:<8} {len(errors):>5}{text}")


if __name__ == "__main__":
    main()
