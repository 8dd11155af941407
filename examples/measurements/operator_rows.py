"""Read tables of measured operators that one format holds for every source (public_tables.py --operators).

A table is a CSV, gzipped or not, with a row a measurement: source, gpu, op, dtype, direction (fwd, infer,
bwd_data, bwd_weight), measured_ms, kernel, note, and the sizes of the operator:

    gemm, bmm            b m n k
    conv2d               cn ci h w co r s stride pad [layout dilation groups]
    elementwise, layernorm, rmsnorm, softmax, gelu, embedding, rope, quantize      rows cols
    attention_context, attention_generation, attention_encoder, attention_training
                         batch q_len kv_len heads kv_heads head_dim window causal
    moe                  tokens hidden inter topk experts tp ep distribution

`gpu` is the name that the source uses; GPUS translates it. Rows whose kernels the model does not have
(weights-only and 4-bit types, experts with block scales, fp16 storage for fp32 arithmetic, latent
attention, bf16 without units for it) are left out, and counted.
"""
import csv
import functools
import gzip
import pathlib
import random
import re

GPUS = {
    "Tesla P4": "p4", "Tesla P100-PCIE-16GB": "p100-pcie-16gb", "Tesla P100": "p100-pcie-16gb",
    "Tesla T4": "t4", "Tesla V100-PCIE-32GB": "v100-pcie-32gb",
    "Tesla V100-SXM2 (DGX-1)": "v100-sxm2-16gb", "NVIDIA A100-PCIE-40GB": "a100-pcie-40gb",
    "NVIDIA A100 80GB PCIe": "a100-pcie-80gb", "NVIDIA A100-SXM4-80GB": "a100-sxm-80gb",
    "A100-80GB-SXM(vidur a100)": "a100-sxm-80gb", "A100-SXM4-80GB(LLMCompass)": "a100-sxm-80gb",
    "NVIDIA H100 80GB HBM3": "h100-sxm-80gb", "H100-80GB-SXM(vidur h100)": "h100-sxm-80gb",
    "H100(TraceLens)": "h100-sxm-80gb", "NVIDIA GB200": "gb200", "NVIDIA L40S": "l40s",
    "M40": "m40-12gb", "1080Ti": "gtx-1080-ti", "AMD Instinct MI100": "mi100", "MI25": "mi25",
    "gfx908-120cu": "mi100", "arcturus": "mi100", "gfx906-60cu": "mi50", "gfx906-64cu": "mi60",
    "gfx90a-110cu": "mi250x-die",
}
TYPES = {"fp32": "fp32", "fp16": "fp16", "fp16_mixed_tc": "fp16", "bf16": "bf16",
         "bfloat16": "bf16", "fp8": "fp8", "fp8_block": "fp8", "int8": "int8",
         "int8_w8a8": "int8", "bf16_to_fp8": "bf16/bf16/fp8"}
LAUNCHES = {"NeuSight": "eager", "LLMCompass": "eager", "DeepBench": "stream", "MIOpen": "stream", "rocBLAS": "stream"}
ROWS = {"layernorm": "layernorm", "rmsnorm": "layernorm", "softmax": "softmax",
        "embedding": "embedding", "rope": "rope"}
# rocBLAS tells the type of the arithmetic too: HB computes in halves, 4xi8II and I8II in integers.
HALF_ARITHMETIC = "HB"


def source_of(row):
    """owner/name@commit, from "Name(owner/name@commit)"."""
    inside = re.search(r"\(([^)]+@[^)]+)\)", row["source"])
    return inside.group(1) if inside else row["source"]


def library_of(row):
    source, note = row["source"], row.get("note", "")
    if source.startswith("NeuSight"):
        return "pytorch 2.4 hipblas" if row["gpu"].startswith("AMD") else "pytorch 2.1"
    if source.startswith("aiconfigurator"):
        return note + (" fp8_block" if row["dtype"] == "fp8_block" else "")
    if source.startswith("cudnn-frontend"):
        return row["kernel"]
    if source.startswith("MIOpen"):
        return "miopen"
    if source.startswith("rocBLAS"):
        return "rocblas"
    if source.startswith("DeepBench"):
        return {"Tesla P100": "cublas 8 cudnn 6", "M40": "cublas 7 cudnn 5",
                "MI25": "rocblas miopen"}.get(row["gpu"], "cublas 10 cudnn 7")
    return "vidur" if source.startswith("Vidur") else ""


# NeuSight's test shapes on these GPUs were measured on another day than its training shapes.
SECOND_SESSIONS = {"Tesla P4", "Tesla T4", "NVIDIA A100-PCIE-40GB"}


def session_of(row):
    if row["source"].startswith("NeuSight") and row["gpu"] in SECOND_SESSIONS:
        return "test" if row["note"].startswith("test") else "train"
    return ""


def rows_function(row):
    """The element-wise function: NeuSight names it, Vidur names the layer."""
    note = row.get("note", "")
    if "fn=" in note:
        return note.split("fn=")[1].split(";")[0]
    if row["op"] in ("gelu", "quantize"):
        return {"gelu": "gelu", "quantize": "cast"}[row["op"]]
    gated = "phi-2" not in note
    if " mlp_act" in note:
        return "swiglu" if gated else "gelu"
    return "add" if gated else "add3"


def product(row):
    return {"op": row["op"], "batch": row.get("b") or 1, "m": row["m"], "n": row["n"], "k": row["k"]}


def extent(text):
    return text.split("(")[0]


def convolution(row):
    shape = {"op": "conv2d", "n": row["cn"], "c": row["ci"], "h": row["h"], "w": row["w"],
             "k": row["co"], "r": row["r"], "s": row["s"], "stride": extent(row["stride"]),
             "pad": extent(row["pad"]), "layout": row.get("layout") or ("nchw" if row["gpu"] == "MI25" else "")}
    for column in ("dilation", "groups"):
        if row.get(column) not in (None, "", "1"):
            shape[column] = extent(row[column])
    return shape


def attention(row):
    # Values of another width than keys: as long as heads of the mean of the two.
    values = re.search(r"head_dim_v=(\d+)", row["note"])
    head = (int(row["head_dim"]) + int(values.group(1) if values else row["head_dim"])) // 2
    return {"op": "attention", "batch": row["batch"], "m": row["q_len"], "n": row["kv_len"],
            "k": head, "groups": row["heads"], "kv_heads": row["kv_heads"],
            "window": row["window"], "causal": row["causal"]}


@functools.lru_cache(maxsize=None)
def busiest_share(alpha, tokens, topk, experts, ranks):
    """Share of all routed tokens that go to the busiest of the ranks, where aiconfigurator draws each
    expert's load from a power law and times that rank: its expectation over seeded draws."""
    least, most = (1.0, 0.8 * tokens) if tokens * topk > experts else (0.01, 2.0)
    ends = least ** (1.0 - alpha), most ** (1.0 - alpha)
    draw, draws, share = random.Random(1), 64, 0.0
    for _ in range(draws):
        loads = [(ends[0] + (ends[1] - ends[0]) * draw.random()) ** (1.0 / (1.0 - alpha))
                 for _ in range(experts)]
        each = experts // ranks
        share += max(sum(loads[i * each:(i + 1) * each]) for i in range(ranks)) / sum(loads) / draws
    return share


def experts(row):
    """What one GPU holds: experts over ep, width over tp, its experts' share of the tokens: an even
    one, or the busiest rank's where loads follow a power law. Experts without a gate have two
    products instead of three: two thirds of the inner width."""
    held = int(row["experts"]) // int(row["ep"])
    share = 1.0 / int(row["ep"])
    if row["distribution"].startswith("power_law_") and int(row["ep"]) > 1:
        share = busiest_share(float(row["distribution"][len("power_law_"):]), int(row["tokens"]),
                              int(row["topk"]), int(row["experts"]), int(row["ep"]))
    routed = int(row["tokens"]) * int(row["topk"]) * share
    topk = min(int(row["topk"]), held)
    inner = int(row["inter"]) // int(row["tp"])
    if "nongated" in row["kernel"]:
        inner = max(1, inner * 2 // 3)
    return {"op": "moe", "m": max(1, round(routed / topk)), "n": row["hidden"], "k": inner,
            "topk": topk, "groups": held}


def shape_of(row):
    op = row["op"]
    if op in ("gemm", "bmm"):
        return product(row)
    if op == "conv2d":
        return convolution(row)
    if op in ("elementwise", "gelu", "quantize"):
        shape = {"op": "elementwise", "rows": row["rows"], "cols": row.get("cols") or 1}
        return {**shape, "fn": rows_function(row)}
    if op in ROWS:
        return {"op": ROWS[op], "rows": row["rows"], "cols": row["cols"]}
    if op in ("attention_context", "attention_generation", "attention_encoder"):
        return attention(row)
    if op == "attention_training" and row["kernel"] == "cudnn":
        return attention(row)
    return experts(row) if op == "moe" and row["dtype"] != "fp8_block" else None


DIRECTIONS = {"fwd": "fwd", "infer": "fwd", "": "fwd", None: "fwd", "bwd": "bwd_data",
              "bwd_data": "bwd_data", "bwd_weight": "bwd_weight"}


def read(path):
    """Rows as dictionaries of the table's columns; None for a row that is left out."""
    file = pathlib.Path(path)
    with (gzip.open if file.suffix == ".gz" else open)(file, "rt", newline="") as stream:
        for row in csv.DictReader(stream):
            gpu, dtype = GPUS.get(row["gpu"]), TYPES.get(row["dtype"])
            time_ms = row.get("measured_ms") or "0"
            tensile = row.get("note", "").split(";")[0]
            shape = shape_of(row) if gpu and dtype and float(time_ms) > 0.0 else None
            no_units = dtype == "bf16" and row["gpu"].startswith("gfx906")
            if shape is None or no_units or tensile == HALF_ARITHMETIC:
                yield None
                continue
            name = row["source"].split("(")[0]
            kind = (row["gpu"], row["op"], row["dtype"], row.get("layout", ""))
            yield {**shape, "dtype": dtype, "direction": DIRECTIONS[row.get("direction")], "gpu": gpu,
                   "launch": LAUNCHES.get(name, "kernel"), "measured_s": float(time_ms) / 1e3,
                   "source": source_of(row), "library": library_of(row), "session": session_of(row),
                   "kind": kind}


def sampled(rows, most):
    """At most `most` rows of each GPU, operator, type and layout of the table, evenly picked."""
    kinds = {}
    for row in rows:
        if row is not None:
            kinds.setdefault(row.pop("kind"), []).append(row)
    for kind in kinds.values():
        taken = min(most, len(kind))
        for i in range(taken):
            yield kind[i * len(kind) // taken]
