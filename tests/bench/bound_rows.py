#!/usr/bin/env python3
"""Recorded kernels against the lower bound of `eyeroof bound`, by a program of its own.

    bound_rows.py HWDB_GPUS FILE.csv.gz...

Reads the machines' YAML and the rows of products, attention, and memory operators, computes

    start + max(multiplications / peak at boost clock,
                (bytes - what the last-level cache may hold) / memory bandwidth,
                bytes / (64 bytes a clock and SM))

and prints, for each file, operator, and GPU, the rows, those below the bound, the median bound over measured time
from a warm cache, the same from a cold one (no bound where a loop's data stay in the cache), and which term binds
most rows. Exits 1 where a row is below its warm bound.

Some rows of products also contain the conversion of their input from 16 bits (README.md of the data says which):
the input is counted in 16 bits. "apart" is the bound of the kernels that ran there, one after the other: the
conversion, before it the search for the largest value where one scale is for all of the input, and the product.
vLLM's rows go around six copies of the weights, of which the cache holds its capacity at most from the round before.
What a source says of its rows beyond their columns, and which rows it copied, is in three constants below (VALUES, KEYS_ONLY,
COPIED); the number of rows that are left out is printed.
The last line of a file has both halves of the shapes, by a hash.
"""
import collections
import csv
import gzip
import hashlib
import os
import re
import statistics
import sys

# Of a kernel of products, at a clock in Hz, by architecture: below the shortest of each in calib4_gemm (A100 2.45 us,
# H200 2.37, L40S 1.65, B300 1.48). Others, at any clock: START_S.
STARTS = {"ampere": (2.2e-6, 1.41e9), "hopper": (2.2e-6, 1.98e9), "ada": (1.5e-6, 2.52e9), "blackwell": (1.35e-6, 1.92e9)}
START_S = 1.2e-6
# Of a pass over a matrix: the shortest of 14,217 conversions from bf16 to fp8 (calib4_quantize) takes 1.14 us.
PASS_START_S = 1.0e-6
# Of devices whose boards clock above the boost clock of their data sheet, and whose rows have no clock: the largest that
# nvidia-smi states for a board of the usual design (NVIDIA/nvidia-docker issue 821, NVIDIA/k8s-device-plugin issue 331).
MOST_HZ = {"gtx-1080-ti": 1911e6}
# Width of the values, by library and width of the keys. SGLang's heads of 192 are those of MiMo-V2 (ai-dynamo/aiconfigurator
# issue 1257), whose values are 128 wide (huggingface/transformers pull request 45144). With values of 192, its kernels would
# read 1.06 (H100) and 1.07 (RTX PRO 6000) of the memory's bandwidth, with 128 they read 0.88 and 0.89, as the other libraries'.
VALUES = {("sglang", 192): 128}
# Attention of a token in a cache of keys alone, whose values are the same bytes: TensorRT-LLM before 1.3.0rc20
# (ai-dynamo/aiconfigurator issue 1379; pull request 1356 ends it).
KEYS_ONLY = [("trtllm", "1.0.0")]
# Rows of 80 compute units with the times, to all digits, of a GPU of 256: ROCm/aiter, aiter/configs/model_configs/
# a8w8_blockscale_bpreshuffle_tuned_gemm_qwen3.5_397b.csv, has each under gfx950 and under gfx942. By columns and depth: rows.
COPIED = {("mi308x", "fp8_block"): {(4608, 4096): None, (5120, 4096): None,
                                    (4096, 2048): {1, 2, 4, 8, 16, 1024, 4096, 32768}}}
UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
BITS = {"bfloat16": (16, 16, 16), "float16": (16, 16, 16), "fp16": (16, 16, 16), "bf16": (16, 16, 16),
        "fp8": (8, 8, 16), "fp8_block": (8, 8, 16), "nvfp4": (4, 4, 16), "int8_w8a8": (8, 8, 16),
        "int8_wo": (16, 8, 16), "int4_wo": (16, 4, 16), "fp32": (32, 32, 32), "int8": (8, 8, 8),
        "fp16_mixed_tc": (16, 16, 16)}
PEAK = {"fp8_block": "fp8", "int8_w8a8": "int8", "nvfp4": "nvfp4", "fp8": "fp8", "fp32": "fp32", "fp16": "fp16",
        "fp16_mixed_tc": "fp16", "int8": "int8"}
# As devices call themselves, or as a table calls them; of several the fastest.
DEVICES = {"NVIDIA GB200": "gb200", "NVIDIA H100 80GB HBM3": "h100-sxm-80gb", "H100-80GB-SXM(vidur h100)": "h100-sxm-80gb",
           "NVIDIA A100-SXM4-80GB": "a100-sxm-80gb", "A100-80GB-SXM(vidur a100)": "a100-sxm-80gb",
           "NVIDIA A100-PCIE-40GB": "a100-pcie-40gb", "NVIDIA L40S": "l40s", "Tesla T4": "t4", "Tesla P4": "p4",
           "Tesla P100-PCIE-16GB": "p100-pcie-16gb", "Tesla P100": "p100-sxm2-16gb", "M40": "m40-12gb",
           "Tesla V100-PCIE-32GB": "v100-pcie-32gb", "Tesla V100-SXM2 (DGX-1)": "v100-sxm2-16gb",
           "AMD Instinct MI100": "mi100", "arcturus": "mi100", "vega20": "mi60", "aldebaran-110cu": "mi250x-die",
           "1080Ti": "gtx-1080-ti", "MI25": "mi25"}


def number(text, unit):
    found = re.search(r"([0-9.]+) *([kMGT]i?|)" + unit, text)
    return float(found[1]) * UNITS[found[2]] if found else 0.0


class Gpu:
    def __init__(self, path, name=""):
        text = open(path, encoding="utf-8").read()
        self.sms = int(re.search(r"^sms: *(?:\{value: *)?(\d+)", text, re.M)[1])
        clocks = re.search(r"^clocks: *\{(.*)\}", text, re.M)[1]
        self.boost = number(re.search(r"boost: *(.*)", clocks)[1], "Hz")
        seconds, clock = STARTS.get(re.search(r"^architecture: *(\w+)", text, re.M)[1], (START_S, self.boost))
        self.start = seconds * min(1.0, clock / self.boost)
        tensor = re.search(r"tensor: *(.*)", clocks)
        self.tensor = number(tensor[1], "Hz") if tensor else self.boost
        self.dram = number(re.search(r"^dram:.*bandwidth: *(.*)", text, re.M)[1], "B/s")
        self.l2 = number(re.search(r"^l2:.*?capacity: *(.*?)$", text, re.M | re.S)[1], "B")
        faster = max(1.0, MOST_HZ.get(name, 0.0) / self.boost)
        self.port = 64.0 * self.sms * self.boost * faster
        self.peaks = {}
        for kind, rest in re.findall(r"^  (\w+): *(\{value: .*pipe: .*)$", text, re.M):
            per_cycle = re.search(r"value: *([0-9.]+) FLOP/cycle", rest)
            self.peaks[kind] = faster * (float(per_cycle[1]) * self.sms * self.tensor if per_cycle
                                         else number(rest, "FLOP/s"))

    def bound(self, flops, peak, moved, product, warm, weights=0.0, copies=1):
        """weights: bytes of the operand of which a loop has so many copies."""
        missed = max(moved - self.l2, weights - self.l2 / copies) if warm else moved
        terms = {"arithmetic": flops / (peak * max(self.boost / self.tensor, 1.0)) if flops else 0.0,
                 "memory": max(missed, 0.0) / self.dram,
                 "on-chip": moved / self.port}
        start = self.start if product else 0.0
        terms["start"] = start
        return start + max(v for k, v in terms.items() if k != "start"), max(terms, key=terms.get)


def library_of(row):
    """Name and version: of columns of their own, or of the note."""
    name, _, version = row.get("note", "").partition(" ")
    return (row.get("library") or name).lower(), row.get("library_version") or version


def converts(row):
    """Passes over the input before the product, inside the recorded time."""
    framework = row["source"].startswith(("aisimulate", "aiconfigurator"))
    library = library_of(row)[0]
    kind = row["dtype"]
    if not framework or row["op"] != "gemm":
        return 0
    if kind == "fp8":  # one scale for the input, but in SGLang one for each row
        return 1 if library.startswith("sglang") else 2
    return 1 if kind in ("fp8_block", "nvfp4") or (kind == "int8_w8a8" and library.startswith("sglang")) else 0


def copies_of(row):
    """Of the weights in a loop: six in vLLM, but one of blocks and 4 bits."""
    vllm = row.get("library") == "vllm" and row["source"].startswith("aisimulate")
    return 6 if vllm and row["op"] == "gemm" and row["dtype"] in ("bfloat16", "fp8") else 1


def is_copied(row, name):
    """Of another GPU's table."""
    shapes = COPIED.get((name, row.get("dtype", "")), {})
    shape = (int(row.get("n") or 0), int(row.get("k") or 0)) if shapes else None
    return shape in shapes and (shapes[shape] is None or int(row["m"]) in shapes[shape])


def of_row(row, gpu):
    """Operations, peak, bytes, whether it is a product, and bytes of weights; None for what is not compared."""
    kind = row.get("op", "")
    bits = BITS.get(row.get("dtype", ""))
    peak = gpu.peaks.get(PEAK.get(row.get("dtype", ""), "bf16"))
    if kind in ("gemm", "bmm") and bits and peak:
        b, m, n, k = (int(row[x] or 1) for x in "bmnk")
        read = 16 if converts(row) else bits[0]
        return (2.0 * b * m * n * k, peak, b * (m * k * read + n * k * bits[1] + m * n * bits[2]) / 8, True,
                b * n * k * bits[1] / 8)
    if kind.startswith("attention") and row.get("kv_dtype") and row.get("head_dim"):
        b, q, kv, h, g, d = (int(float(row[x] or 0)) for x in
                             ("batch", "q_len", "kv_len", "heads", "kv_heads", "head_dim"))
        window = int(float(row.get("window") or 0))
        causal = row.get("causal") == "1"
        seen = [min(kv - q + i + 1 if causal else kv, window or kv) for i in range(q)] if q <= 64 else None
        pairs = sum(seen) if seen else (q * min(window or kv, kv) if not causal else
                                        q * kv - q * (q - 1) / 2 if not window else
                                        q * min(window, kv) - min(window, q) ** 2 / 2)
        keys = min(kv, (window or kv) + q - 1)
        wide = 1 if row["kv_dtype"] == "fp8" else 2
        fastest = max(gpu.peaks.get("fp8", 0.0), gpu.peaks.get("bf16", 0.0)) if wide == 1 else peak
        v = VALUES.get((library_of(row)[0], d), d)
        cached = d if kind == "attention_generation" and library_of(row) in KEYS_ONLY else d + v
        own = 1 if row["dtype"] == "fp8" else 2
        return (2.0 * b * h * (d + v) * max(pairs, 0), fastest or peak,
                b * (q * h * (d + v) * own + keys * g * cached * wide), True)
    return None


def apart(row, gpu, what):
    """The bound of the kernels that ran one after the other, s, from a warm cache."""
    passes = converts(row)
    flops, peak, moved, product, weights = what if len(what) == 5 else (*what, 0.0)
    if not passes:
        return gpu.bound(flops, peak, moved, product, True, weights, copies_of(row))[0]
    wide = 2.0 * int(row["m"]) * int(row["k"])
    narrow = wide * BITS[row["dtype"]][0] / 16
    seconds = passes * PASS_START_S + (passes * wide + narrow) / gpu.port
    return seconds + gpu.bound(flops, peak, moved - wide + narrow, product, True, weights, copies_of(row))[0]


def half(row):
    """Of two halves of the shapes."""
    shape = ",".join(row.get(x) or "" for x in ("b", "m", "n", "k", "batch", "q_len", "kv_len", "heads", "head_dim"))
    return hashlib.sha256(shape.encode()).digest()[0] % 2


def main():
    machines, broken = {}, 0
    for path in sys.argv[2:]:
        found, types, copied = collections.defaultdict(list), collections.defaultdict(list), 0
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                name = DEVICES.get(row.get("gpu", ""), row.get("gpu", ""))
                where = os.path.join(sys.argv[1], name + ".yaml")
                if name not in machines:
                    machines[name] = Gpu(where, name) if os.path.exists(where) else None
                gpu = machines[name]
                copied += is_copied(row, name)
                what = of_row(row, gpu) if gpu and not is_copied(row, name) else None
                measured = float(row.get("measured_ms") or 0) * 1e-3
                if what and measured > 0:
                    warm, wall = gpu.bound(*what[:4], True, *what[4:], copies_of(row))
                    cold, _ = gpu.bound(*what[:4], False)
                    separate = apart(row, gpu, what)
                    found[row["op"], name].append(
                        (warm / measured, cold / measured, wall, max(separate, warm) / measured, half(row)))
                    types[row["dtype"]].append(found[row["op"], name][-1])
        everything = [r for rows in found.values() for r in rows]
        print(os.path.basename(path), len(everything), "rows;", copied, "left out, copied from another GPU's")
        if not everything:
            continue
        for key in [("all", "")] + sorted(found) + [("type", kind) for kind in sorted(types)]:
            rows = everything if key[0] == "all" else types[key[1]] if key[0] == "type" else found[key]
            below = sum(max(r[0], r[3]) > 1.0 for r in rows)
            broken += below if key[0] == "all" else 0
            wall, count = collections.Counter(r[2] for r in rows).most_common(1)[0]
            print(f"  {key[0]:<22} {key[1]:<30} {len(rows):>7} {below:>5} below; "
                  f"warm {statistics.median(r[0] for r in rows):.3f} (most {max(r[0] for r in rows):.3f}), "
                  f"apart {statistics.median(r[3] for r in rows):.3f} (most {max(r[3] for r in rows):.3f}), "
                  f"cold {statistics.median(r[1] for r in rows):.3f}; {wall} binds {100.0 * count / len(rows):.0f} %")
        halves = [[r for r in everything if r[4] == side] for side in (0, 1)]
        print("  halves of the shapes: " + "; ".join(
            f"{len(rows)} rows, {sum(max(r[0], r[3]) > 1.0 for r in rows)} below, "
            f"warm {statistics.median(r[0] for r in rows):.3f}, apart {statistics.median(r[3] for r in rows):.3f}"
            for rows in halves if rows))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
