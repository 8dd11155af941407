#!/usr/bin/env python3
"""Processor seconds of eyeroof's searches in two builds, in one table.

search_speed.py EYEROOF OTHER [--cut 120]: runs every search of SEARCHES with both programs, one thread, one
after the other, and prints a Markdown table: processor seconds of the whole command, layers proved, and the
total of the objective. Both must be built with the same options; each runs in its own source folder, so that it
reads its own machines. A run that is past --cut processor seconds is ended. Exits with 1 where a search of EYEROOF
takes more than --slower times that of OTHER, and more than a second longer.
"""

import argparse
import csv
import io
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

NETWORKS = ("alexnet", "vgg16", "resnet50", "mobilenet-v1", "bert-large")
MACHINES = ("eyeriss-v1", "simba", "nvdla-large", "tpu-v1")
LAYER = ["alexnet", "--on", "eyeriss-v1", "--layers", "CONV3"]
SEARCHES = {f"{n} on {m}": [n, "--on", m, "--objective", "edp"] for n, m in itertools.product(NETWORKS, MACHINES)}
SEARCHES |= {
    "CONV3, latency": [*LAYER, "--objective", "latency"],
    "CONV3, energy": [*LAYER, "--objective", "energy"],
    "CONV3, any factors": [*LAYER, "--objective", "edp", "--factors", "any"],
    "CONV3, Timeloop's counting": [*LAYER, "--objective", "edp", "--counting", "timeloop"],
    "CONV3, free dataflow": [*LAYER, "--objective", "edp", "--dataflow", "free"],
    "CONV3, Pareto front": [*LAYER, "--pareto"],
    "CONV3, capacity curve": [*LAYER, "--capacity-curve", "GLB"],
}


def source_of(program):
    return next((folder for folder in program.resolve().parents if (folder / "CMakePresets.json").exists()), None)


def searched(program, options, cut):
    """Processor seconds, layers proved and searched, total of the objective; Nones where it did not end."""

    def limit():
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (cut, cut))

    command = [str(program.resolve()), "map", *options, "--threads", "1", "--format", "csv"]
    with tempfile.TemporaryFile("w+") as out:
        run = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, preexec_fn=limit, cwd=source_of(program))
        _, status, used = os.wait4(run.pid, 0)
        out.seek(0)
        seconds = used.ru_utime + used.ru_stime
        if os.WIFSIGNALED(status):
            return seconds, None, None
        if os.waitstatus_to_exitcode(status) != 0:
            return None, None, None
        rows = list(csv.DictReader(io.StringIO(out.read())))
    rows = [row for row in rows if row.get("proved") in ("true", "false") and not row.get("same_as")]
    total = sum(float(row.get("value") or 0) for row in rows)  # 0: a front, a curve
    return seconds, sum(row["proved"] == "true" for row in rows), total


def text(answer):
    seconds, proved, _ = answer
    if seconds is None:
        return "not offered", ""
    return (f"{seconds:.1f}" if proved is not None else f"over {seconds:.0f}"), "" if proved is None else str(proved)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("eyeroof", type=pathlib.Path)
    parser.add_argument("other", type=pathlib.Path)
    parser.add_argument("--cut", type=int, default=120, help="processor seconds after which a run is ended")
    parser.add_argument("--slower", type=float, default=1.5)
    parser.add_argument("--only", default="", help="searches whose names contain this")
    args = parser.parse_args()
    slow = False
    print("| search | CPU s | proved | CPU s, other | proved, other | value / other's |\n|---|---|---|---|---|---|")
    for name, options in SEARCHES.items():
        if args.only not in name:
            continue
        own, other = searched(args.eyeroof, options, args.cut), searched(args.other, options, args.cut)
        both = own[2] and other[2]
        if own[0] is not None and other[0] is not None:
            slow |= own[0] > args.slower * other[0] and own[0] > other[0] + 1
        print(f"| {name} | {' | '.join(text(own))} | {' | '.join(text(other))} "
              f"| {f'{own[2] / other[2]:.4f}' if both else ''} |", flush=True)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
