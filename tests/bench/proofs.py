#!/usr/bin/env python3
"""Which mappings eyeroof proves optimal, and what the proofs cost.

proofs.py EYEROOF [--objective edp] [--most SECONDS] [--only MACHINE]: maps each network of NETWORKS on each
machine of PROMISED and prints a Markdown table: different layers proved, the widest optimality gap,
processor seconds of the whole command on one thread, peak memory. Exits with 1 where a promise of
docs/dev/mapper-evidence.md is broken: a gap above the machine's, or more processor seconds than --most.
"""

import argparse
import csv
import io
import os
import subprocess
import sys
import tempfile

NETWORKS = {
    "ResNet-50": "resnet50",
    "ViT-B/16": "vit-b-16",
    "Llama 3 8B, a token after 2,047": "llama-3-8b:new=1,context=2047",
}
# Widest gap that is promised, as a share; 0: all are proved.
PROMISED = {"npu-int8": 0, "simba": 0, "nvdla-large": 0, "tpu-v1": 0, "eyeriss-v1": 0.01, "eyeriss-v2": 0.01}


def mapped(eyeroof, network, machine, objective, limit):
    """Rows of `map` as CSV, processor seconds, peak bytes; no rows where it ran past the limit."""
    command = [eyeroof, "map", network, "--on", machine, "--objective", objective, "--threads", "1", "--format", "csv"]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        run = subprocess.Popen(command, stdout=out, stderr=err, preexec_fn=lambda: limit_cpu(limit))
        _, status, used = os.wait4(run.pid, 0)
        out.seek(0)
        err.seek(0)
        if os.WIFSIGNALED(status):
            return [], used
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit(f"{' '.join(command)}: {err.read()}")
        return [row for row in csv.DictReader(io.StringIO(out.read())) if not row["same_as"]], used


def limit_cpu(seconds):
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("eyeroof")
    parser.add_argument("--objective", default="edp")
    parser.add_argument("--most", type=float, default=60, help="processor seconds for a network on a machine")
    parser.add_argument("--only", choices=list(PROMISED), help="one machine")
    parser.add_argument("--cut", type=int, default=1800, help="processor seconds after which a run is ended")
    args = parser.parse_args()
    broken = False
    print("| network | machine | proved | widest gap | CPU s | MB |\n|---|---|---|---|---|---|")
    for name, network in NETWORKS.items():
        for machine, promised in PROMISED.items():
            if args.only not in (None, machine):
                continue
            rows, used = mapped(args.eyeroof, network, machine, args.objective, args.cut)
            seconds = used.ru_utime + used.ru_stime
            mapped_rows = [row for row in rows if row["gap"]]
            proved = sum(row["proved"] == "true" for row in mapped_rows)
            gap = max((float(row["gap"]) for row in mapped_rows if row["proved"] != "true"), default=0.0)
            broken |= gap > promised or seconds > args.most or not mapped_rows
            widest = f"{100 * gap:.2g} %" if mapped_rows else "not within the limit"
            print(f"| {name} | {machine} | {proved} of {len(mapped_rows)} | {widest} "
                  f"| {seconds:.1f} | {used.ru_maxrss / 1000:.0f} |", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
