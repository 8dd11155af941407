#!/usr/bin/env python3
"""Turn public GPU measurements into one table for `cross_validate.py` and `eyeroof validate`.

    git clone https://github.com/sitar-lab/NeuSight && git -C NeuSight checkout 6945927d9afc
    git clone https://github.com/microsoft/vidur && git -C vidur checkout 7d47513363ec
    python3 public_tables.py --neusight NeuSight --vidur vidur > measured.csv
    python3 cross_validate.py EYEROOF measured.csv

NeuSight and Vidur are read as they are published. aiconfigurator (095f58a51c4c) publishes parquet
files and DeepBench (da81ba782073) workbooks: save their sheets as CSV first, with the columns that
--help names. Python's standard library only; nothing is averaged, nothing is left out but what
this program says on stderr.
"""
import argparse
import csv
import pathlib
import sys

import operator_rows

COLUMNS = ("op dtype direction batch m n k c h w r s stride pad dilation groups rows cols fn kv_heads "
           "causal window topk layout gpu launch measured_s source library session").split()

GPUS = {  # as the sources name them, and as `eyeroof hw list` does
    "Tesla P4": "p4", "Tesla P100-PCIE-16GB": "p100-pcie-16gb", "Tesla T4": "t4",
    "Tesla V100-PCIE-32GB": "v100-pcie-32gb", "NVIDIA A100-PCIE-40GB": "a100-pcie-40gb",
    "NVIDIA A100 80GB PCIe": "a100-pcie-80gb", "NVIDIA H100 80GB HBM3": "h100-sxm-80gb",
    "AMD Instinct MI100": "mi100",
}
NEUSIGHT = "sitar-lab/NeuSight@6945927d9afc"
VIDUR = "microsoft/vidur@7d47513363ec"
AICONFIGURATOR = "ai-dynamo/aiconfigurator@095f58a51c4c"
DEEPBENCH = "baidu-research/DeepBench@da81ba782073"
CUDNN_FRONTEND = "NVIDIA/cudnn-frontend@3929da2ef4c1"
TRACELENS = "AMD-AGI/TraceLens@171dd74721ca"

# NeuSight's names of element-wise functions; those that end in u take a scalar.
FUNCTIONS = {"add", "addu", "mul", "mulu", "div", "divu", "pow", "powu", "tanh", "relu", "gelu"}
# Of a product: the columns of NeuSight name the reduced size N (see docs/dev/gpu-evidence.md).
PRODUCTS = {"linear": "gemm", "bmm": "bmm"}
ROWS = {"ln": "layernorm", "layernorm": "layernorm", "softmax": "softmax"}


def neusight_shape(row):
    """The layer's columns, or None for what is no layer of ours."""
    name = row["OPName"].lower()
    if name in PRODUCTS:
        return {"op": PRODUCTS[name], "batch": row["B"], "m": row["M"], "n": row["K"],
                "k": row["N"]}
    if name == "conv":
        size, kernel = row["Input_Size"], row["Kernel_Szie"]  # spelled so there
        return {"op": "conv2d", "n": row["B"], "c": row["Input_Channel"], "h": size, "w": size,
                "k": row["Output_Channel"], "r": kernel, "s": kernel, "stride": row["Stride"],
                "pad": row["Padding"]}
    if name in ROWS:
        return {"op": ROWS[name], "rows": row["B"], "cols": row["H"]}
    if name in FUNCTIONS:
        return {"op": "elementwise", "rows": row["B"], "cols": row["H"], "fn": name}
    return None


def neusight(folder):
    """Eager calls in fp32, milliseconds; one file an operator and GPU."""
    parts = "train", "test", "amd"  # H100 is in test, MI100 in amd
    found = [p for part in parts
             for p in pathlib.Path(folder).glob(f"**/dataset/{part}/collect/**/*.csv")]
    for path in sorted(found):
        if path.parent.name == "collect":  # the same rows of all GPUs once more
            continue
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                gpu = GPUS.get(row["Device"])
                shape = neusight_shape(row)
                if gpu is None or shape is None:
                    continue
                yield {**shape, "dtype": "fp32", "direction": "fwd", "gpu": gpu, "launch": "eager",
                       "measured_s": float(row["Latency"]) / 1e3, "source": NEUSIGHT,
                       "library": "pytorch 2.4 hipblas" if gpu == "mi100" else "pytorch 2.1"}


def vidur_layers(row):
    """Layer columns by the name of the time: one rank of a tensor-parallel transformer block."""
    tokens, hidden = int(row["num_tokens"]), int(row["n_embd"])
    ranks = int(row["num_tensor_parallel_workers"])
    head = hidden // int(row["n_head"])
    queries = int(row["n_head"]) * head // ranks
    keys = int(row["n_kv_head"]) * head // ranks
    inner = int(row["n_expanded_embd"]) // ranks
    gated = row["use_gated_mlp"] == "True"

    def product(n, k):
        return {"op": "gemm", "batch": 1, "m": tokens, "n": n, "k": k}

    def rows(op, cols, fn=""):
        return {"op": op, "rows": tokens, "cols": cols, "fn": fn}

    return {
        "attn_pre_proj": product(queries + 2 * keys, hidden),
        "attn_post_proj": product(hidden, queries),
        "mlp_up_proj": product(inner * (2 if gated else 1), hidden),
        "mlp_down_proj": product(hidden, inner),
        "emb": rows("embedding", hidden),
        "input_layernorm": rows("layernorm", hidden),
        "post_attention_layernorm": rows("layernorm", hidden),
        "attn_rope": rows("rope", queries + keys),
        "mlp_act": rows("elementwise", inner, "swiglu" if gated else "gelu"),
        "add": rows("elementwise", hidden, "add" if gated else "add3"),
    }


def vidur(folder):
    """Kernel times in fp16, medians in milliseconds, on an A100 SXM and an H100 SXM of 80 GB."""
    compute = pathlib.Path(folder) / "data/profiling/compute"
    for name, gpu in (("a100", "a100-sxm-80gb"), ("h100", "h100-sxm-80gb")):
        for path in sorted(compute.glob(f"{name}/**/mlp.csv")):
            with path.open(newline="") as file:
                for row in csv.DictReader(file):
                    yield from vidur_row(row, gpu)


def vidur_row(row, gpu):
    for name, shape in vidur_layers(row).items():
        time = row.get(f"time_stats.{name}.median", "")
        if time and float(time) > 0.0:
            yield {**shape, "dtype": "fp16", "direction": "fwd", "gpu": gpu, "launch": "kernel",
                   "measured_s": float(time) / 1e3, "source": VIDUR, "library": "vidur"}


def framework_of(row):
    return " ".join(row.get(c, "") for c in ("framework", "version")).strip()


def aiconfigurator(path, gpu):
    """Kernel times of products, milliseconds: columns gemm_dtype, m, n, k, latency; framework and
    version become the library. Weights-only and 4-bit products are left out."""
    types = {"bfloat16": "bf16", "float16": "fp16", "fp8": "fp8", "fp8_block": "fp8",
             "int8_w8a8": "int8", "sq": "int8"}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            kind = row["gemm_dtype"]
            if kind in types:
                library = framework_of(row) + (" fp8_block" if kind == "fp8_block" else "")
                yield {"op": "gemm", "batch": 1, "m": row["m"], "n": row["n"], "k": row["k"],
                       "dtype": types[kind], "direction": "fwd", "gpu": gpu, "launch": "kernel",
                       "measured_s": float(row["latency"]) / 1e3, "source": AICONFIGURATOR,
                       "library": library.strip()}


def quantise(path, gpu):
    """Casts of bf16 to fp8: columns rows, cols, latency (ms), framework, version."""
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            yield {"op": "elementwise", "fn": "cast", "rows": row["rows"], "cols": row["cols"],
                   "dtype": "bf16/bf16/fp8", "direction": "fwd", "gpu": gpu, "launch": "kernel",
                   "measured_s": float(row["latency"]) / 1e3, "source": AICONFIGURATOR,
                   "library": framework_of(row)}


def norms(path, gpu):
    """RMS norms of cudnn-frontend: columns rows, cols, direction (fwd or bwd), backend, ms."""
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            yield {"op": "layernorm", "rows": row["rows"], "cols": row["cols"], "dtype": "bf16",
                   "direction": "bwd_data" if row["direction"] == "bwd" else "fwd", "gpu": gpu,
                   "launch": "kernel", "measured_s": float(row["ms"]) / 1e3,
                   "source": CUDNN_FRONTEND, "library": row["backend"]}


def deepbench(path, gpu):
    """Averages of a loop: columns of the layer CSV, precision (fp32, fp16, int8), milliseconds and
    perhaps library. The benchmark pads fp16 products to multiples of 8 (PAD_KERNELS)."""
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            shape = {c: row[c] for c in COLUMNS if row.get(c)}
            half = row["precision"] == "fp16"
            if half and shape["op"] == "gemm":
                shape.update({c: -(-int(shape[c]) // 8) * 8 for c in "mnk"})
            yield {**shape, "dtype": row["precision"], "gpu": gpu, "launch": "stream",
                   "measured_s": float(row["milliseconds"]) / 1e3, "source": DEEPBENCH,
                   "library": row.get("library", "")}


def traces(path, gpu):
    """Kernel times of operators inside networks, layout changes included, as TraceLens sums them:
    columns of the layer CSV, dtype, milliseconds and perhaps library. A convolution over frames
    whose filter spans one frame is one over so many more images; 3 x 1 x 1 one of (frames, pixels)."""
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            shape = {c: row[c] for c in COLUMNS if row.get(c)}
            yield {**shape, "direction": "fwd", "gpu": gpu, "launch": "kernel",
                   "measured_s": float(row["milliseconds"]) / 1e3, "source": TRACELENS,
                   "library": row.get("library", "")}


def operators(path, most):
    """Tables of any source in the one format of operator_rows.py; see there."""
    left_out = 0
    rows = []
    for row in operator_rows.read(path):
        left_out += row is None
        rows.append(row)
    print(f"{path}: {left_out} rows left out", file=sys.stderr)
    yield from operator_rows.sampled(rows, int(most))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--neusight", metavar="FOLDER", help="a checkout")
    parser.add_argument("--vidur", metavar="FOLDER", help="a checkout")
    parser.add_argument("--aiconfigurator", metavar="CSV:GPU", action="append", default=[],
                        help="gemm_dtype, m, n, k, latency (ms); GPU as `eyeroof hw list` says")
    parser.add_argument("--deepbench", metavar="CSV:GPU", action="append", default=[],
                        help="op, direction, the layer CSV's sizes, precision, milliseconds")
    parser.add_argument("--quantise", metavar="CSV:GPU", action="append", default=[],
                        help="rows, cols, latency (ms), framework, version")
    parser.add_argument("--norms", metavar="CSV:GPU", action="append", default=[],
                        help="rows, cols, direction, backend, ms")
    parser.add_argument("--traces", metavar="CSV:GPU", action="append", default=[],
                        help="op, the layer CSV's sizes, dtype, milliseconds")
    parser.add_argument("--operators", metavar="CSV:MOST", action="append", default=[],
                        help="tables of operator_rows.py's format, gzipped or not; at most MOST rows of "
                        "each GPU, operator, type and layout")
    given = parser.parse_args()
    tables = []
    if given.neusight:
        tables.append((NEUSIGHT, neusight(given.neusight)))
    if given.vidur:
        tables.append((VIDUR, vidur(given.vidur)))
    for read, source, files in ((aiconfigurator, AICONFIGURATOR, given.aiconfigurator),
                                (deepbench, DEEPBENCH, given.deepbench),
                                (quantise, AICONFIGURATOR, given.quantise),
                                (norms, CUDNN_FRONTEND, given.norms),
                                (traces, TRACELENS, given.traces),
                                (operators, "operators", given.operators)):
        tables += [(source, read(*file.rsplit(":", 1))) for file in files]
    if not tables:
        parser.error("name at least one source")
    writer = csv.DictWriter(sys.stdout, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for source, rows in tables:
        count = 0
        for row in rows:
            row["measured_s"] = f"{row['measured_s']:.9g}"
            writer.writerow(row)
            count += 1
        print(f"{source}: {count} rows", file=sys.stderr)
        if count == 0:
            sys.exit(f"no row found of {source}: is the folder a checkout of that commit?")


if __name__ == "__main__":
    main()
