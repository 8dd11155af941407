#!/usr/bin/env python3
"""Turn public measurements of servers and collectives into one table for `eyeroof validate --scale`.

    python3 cluster_rows.py --serving serving.csv --comm comm.csv > runs.csv
    python3 cluster_rows.py --apart servers.csv --configurations configs/*.yaml > runs.csv
    eyeroof validate runs.csv --scale

serving.csv: ai-dynamo/aiconfigurator@095f58a51c4c, silicon_sample.csv, with the columns gpu, network, backend,
precision, isl, osl, concurrency, tp, ttft_ms, tpot_ms. comm.csv: nccl-tests and frameworks' own all-reduces of the
same, with gpu, op, dtype, gpus, nodes, bytes, measured_ms, kernel. Files may be gzipped. Even rows settled constants
(docs/dev/scale-evidence.md), so that odd rows alone are held out; of frameworks' all-reduces all above 1 KiB are, and of servers on
GB200 all. What this program leaves out, it counts on stderr. Python's standard library only, but for --configurations (PyYAML).

servers.csv: disaggregated rows of aisimulate's silicon_sample.csv (mode, prefill and decode as workers x tp x pp x dp x moe_tp x
moe_ep). Rows of TensorRT-LLM there always have one worker of each kind and no attention data parallelism, and no row says
whether tokens are drafted (MTP), so that one question may have several answers: those are left out.
SemiAnalysisAI/InferenceX@843c6254, configs/nvidia-master.yaml and configs/deprecated, has what ran, by GPU, precision, prompt, concurrency, and degrees; what names no configuration, or several, is left out.
Rows of SGLang 0.5.5 all say attention replicas and one expert device, as its configurations did (c040b5cf2) until 2767db504 corrected
them: experts are spread over all devices of a worker. Its low-latency scripts, whose decode workers have four devices, have neither:
--tensor-parallel-size of all devices (ai-dynamo/dynamo@75b4a35f, examples/backends/sglang/slurm_jobs/scripts/gb200-fp4/disagg). Every
recipe of SGLang on B200 and GB200 has an fp8 cache, none on H200 (NVIDIA/srt-slurm@c88ef731, recipes).
"""
import argparse
import csv
import gzip
import re
import sys

COLUMNS = ("table metric published fabric network machine devices tensor dtype software engine prompt answer users "
           "operation bytes held_out source data expert prefill_groups decode_groups prefill_tensor prefill_data prefill_expert "
           "running draft_tokens cache_type").split()
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


APART = {"b300-sxm": "hgx-b200-cx8", "gb200": "gb200-nvl72", "h200-sxm-141gb": "hgx-h200-ndr", "b200-sxm": "hgx-b200-cx7"}
DECODERS = {"deepseek-ai/DeepSeek-R1": ("deepseek-v3", "dsr1"), "deepseek-ai/DeepSeek-V3": ("deepseek-v3", "dsr1"),
            "openai/gpt-oss-120b": ("gpt-oss-120b", "gptoss")}
ENGINES = {"trtllm": "trtllm-1.2", "sglang": "sglang-0.5"}  # Dynamo 0.7 and 0.8 have TensorRT-LLM 1.2
BACKENDS = {"trtllm": "dynamo-trt", "sglang": "dynamo-sglang"}


def configurations(paths):
    """What ran, by runner, model, precision, framework, prompt, and concurrency."""
    import yaml

    known = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            every = yaml.safe_load(file)
        for one in every.values():
            runs = one.get("scenarios") if isinstance(one, dict) else None
            for run in runs.get("fixed-seq-len", []) if isinstance(runs, dict) else []:
                for tried in run["search-space"]:
                    if "prefill" not in tried:
                        continue
                    named = " ".join(tried["prefill"].get("additional-settings") or [])
                    drafts, most = re.search(r"mtp(\d)", named), re.search(r"batch(\d+)", named)
                    parts = [tuple(tried[kind][key] for key in ("num-worker", "tp", "ep", "dp-attn"))
                             for kind in ("prefill", "decode")]
                    found = (*parts, tried.get("spec-decoding", "none"), int(drafts[1]) if drafts else 0,
                             int(most[1]) if most else 0)
                    for users in tried.get("conc-list", []):
                        key = (one["runner"], one["model-prefix"], one["precision"], one["framework"], run["isl"], users)
                        known.setdefault(key, set()).add(found)
    return known


def layout(degree, experts, replicas):
    return (1, degree, experts) if replicas else (degree, 1, experts)


def of_apart(path, known, left):
    answers = {}
    for row in rows_of(path):
        if row["mode"] == "disagg":  # two dates have the same rows
            question = tuple(row[c] for c in ("gpu", "network", "precision", "isl", "concurrency", "prefill", "decode"))
            answers.setdefault(question, {})[row["tpot_ms"], row["ttft_ms"]] = row
    for several in answers.values():
        if len(several) > 1:
            left.extend(["disaggregated server, a question with several answers"] * len(several))
            continue
        row = next(iter(several.values()))
        network, prefix = DECODERS[row["network"]]
        prompts, tokens = (tuple(map(int, row[kind].split("x"))) for kind in ("prefill", "decode"))
        prompts, tokens = ((p[0], p[1], p[3], p[5]) for p in (prompts, tokens))
        drafted = running = 0
        cache = "fp8" if row["backend"] == "sglang" and row["gpu"] in ("b200-sxm", "gb200") else ""
        if row["backend_version"].startswith("0.5.5"):
            alone = tokens[2] == 4
            prompts, tokens = ((w, t * d, 1, 1) if alone or d == 1 else (w, t, d, t * d) for w, t, d, _ in (prompts, tokens))
        if row["backend"] == "trtllm":  # the row's own columns lack what the configurations say
            runs = [c for c in known.get((row["gpu"].split("-")[0], prefix, row["precision"], BACKENDS[row["backend"]],
                                          int(row["isl"]), int(row["concurrency"])), ())
                    if c[0][1] == prompts[1] and c[1][1] == tokens[1]]
            if len(runs) != 1:
                left.append(f"disaggregated server, {len(runs)} configurations")
                continue
            prompts, tokens = ((c[0], *layout(*c[1:])) for c in runs[0][:2])
            drafted, running = runs[0][3], runs[0][4] * tokens[2]
        for metric in ("tpot", "ttft"):
            yield {"table": f"{row['backend']} {network} {row['precision']}, {row['gpu']}, apart", "metric": metric + "_s",
                   "published": f"{float(row[metric + '_ms']) / 1e3:.6g}", "fabric": APART[row["gpu"]], "network": network,
                   "machine": row["gpu"], "tensor": tokens[1], "data": tokens[2], "expert": tokens[3],
                   "dtype": TYPES[row["precision"]], "engine": ENGINES[row["backend"]], "prompt": row["isl"],
                   "answer": row["osl"], "users": row["concurrency"], "prefill_groups": prompts[0], "decode_groups": tokens[0],
                   "prefill_tensor": prompts[1], "prefill_data": prompts[2], "prefill_expert": prompts[3],
                   "running": running or "", "draft_tokens": drafted or "", "cache_type": cache,
                   "source": f"{row['backend']} {row['backend_version']}"}


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
    parser.add_argument("--apart", help="whole servers with prompts on devices of their own, CSV")
    parser.add_argument("--configurations", nargs="*", default=[], help="what ran there, YAML")
    asked = parser.parse_args()
    left = []
    out = csv.DictWriter(sys.stdout, COLUMNS, restval="", lineterminator="\n")
    out.writeheader()
    for path, rows in ((asked.serving, of_servers), (asked.comm, of_collectives)):
        if path:
            out.writerows(rows(path, left))
    if asked.apart:
        out.writerows(of_apart(asked.apart, configurations(asked.configurations), left))
    for what in sorted(set(left)):
        print(f"left out: {left.count(what)} rows, {what}", file=sys.stderr)


if __name__ == "__main__":
    main()
