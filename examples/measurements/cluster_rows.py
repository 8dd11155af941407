#!/usr/bin/env python3
"""Turn public measurements of servers and collectives into one table for `eyeroof validate --scale`.

    python3 cluster_rows.py --serving serving.csv --comm comm.csv > runs.csv
    eyeroof validate runs.csv --scale

serving.csv: ai-dynamo/aiconfigurator@095f58a51c4c, silicon_sample.csv, with the columns gpu, network, backend,
precision, isl, osl, concurrency, tp, ttft_ms, tpot_ms. comm.csv: nccl-tests and frameworks' own all-reduces of the
same, with gpu, op, dtype, gpus, nodes, bytes, measured_ms, kernel. Files may be gzipped. Even rows settled constants
(docs/dev/scale-evidence.md), so that odd rows alone are held out; of frameworks' all-reduces all above 1 KiB are, and of servers on
GB200 all. What this program leaves out, it counts on stderr. Python's standard library only.
"""
import argparse
import csv
import gzip
import sys

COLUMNS = ("table metric published fabric network machine devices tensor dtype software engine prompt answer users "
           "operation bytes held_out source").split()
SERVERS = {"NVIDIA H100 80GB HBM3": ("h100-sxm-80gb", "dgx-h100-ndr"), "NVIDIA GB200": ("gb200", "gb200-nvl72")}
FITTED = "NVIDIA H100 80GB HBM3"
TYPES = {"fp8": "fp8", "fp4": "nvfp4"}
NETWORKS = {"Qwen/Qwen3-32B": "qwen3-32b", "meta-llama/Llama-3.1-70B": "llama-3.1-70b",
            "nvidia/Qwen3-32B-NVFP4": "qwen3-32b"}
FABRICS = {"NVIDIA A100-SXM4-80GB": "dgx-a100-hdr", "NVIDIA H100 80GB HBM3": "dgx-h100-ndr",
           "NVIDIA GB200": "gb200-nvl72"}
OPERATIONS = {"all_reduce": "all-reduce", "all_gather": "all-gather", "reduce_scatter": "reduce-scatter",
              "alltoall": "all-to-all"}
FRAMEWORKS = {"TRTLLM": "trtllm", "vLLM_custom_graph": "vllm"}


def rows_of(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8")
    with opened as file:
        return list(csv.DictReader(file))


def of_servers(path, left):
    index = 0
    for row in rows_of(path):
        if row["gpu"] not in SERVERS or row["network"] not in NETWORKS:
            left.append(f"server of {row['network']} on {row['gpu']}")
            continue
        fitted = row["gpu"] == FITTED
        machine, fabric = SERVERS[row["gpu"]]
        network = NETWORKS[row["network"]]
        for metric in ("tpot", "ttft"):
            yield {"table": f"{row['backend']} {network}" + ("" if fitted else f", {machine}"), "metric": metric + "_s",
                   "published": f"{float(row[metric + '_ms']) / 1e3:.6g}", "fabric": fabric, "network": network,
                   "machine": machine, "tensor": row["tp"], "dtype": TYPES.get(row["precision"], "bf16"),
                   "engine": row["backend"], "prompt": row["isl"], "answer": row["osl"],
                   "users": row["concurrency"], "held_out": "yes" if index % 2 or not fitted else "no",
                   "source": f"{row['backend']} {row['backend_version']}".strip()}
        index += fitted


def of_collectives(path, left):
    index = 0
    for row in rows_of(path):
        nccl = row["kernel"].startswith("NCCL") and row["dtype"] == "fp16"
        own = row["kernel"] in FRAMEWORKS
        if row["gpu"] not in FABRICS or row["nodes"] != "1" or not (nccl or own):
            left.append("collective on " + row["gpu"])
            continue
        held = float(row["bytes"]) > 1024 if own else index % 2 == 1
        index += 0 if own else 1
        small = ", below 64 KiB" if nccl and float(row["bytes"]) < 65536 else ""
        what = FRAMEWORKS[row["kernel"]] if own else "nccl-tests " + OPERATIONS[row["op"]] + small
        yield {"table": f"{what}, {FABRICS[row['gpu']]}", "metric": "time_s",
               "published": f"{float(row['measured_ms']) / 1e3:.6g}", "fabric": FABRICS[row["gpu"]],
               "devices": row["gpus"], "operation": OPERATIONS[row["op"]], "bytes": row["bytes"],
               "software": FRAMEWORKS.get(row["kernel"], ""), "held_out": "yes" if held else "no"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--serving", help="whole servers, CSV")
    parser.add_argument("--comm", help="collectives, CSV")
    asked = parser.parse_args()
    left = []
    out = csv.DictWriter(sys.stdout, COLUMNS, restval="", lineterminator="\n")
    out.writeheader()
    for path, rows in ((asked.serving, of_servers), (asked.comm, of_collectives)):
        if path:
            out.writerows(rows(path, left))
    for what in sorted(set(left)):
        print(f"left out: {left.count(what)} rows, {what}", file=sys.stderr)


if __name__ == "__main__":
    main()
