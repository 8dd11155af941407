#!/usr/bin/env python3
"""Bounds of `eyeroof bound`, recomputed from the machine's file and the layer's shape alone.

certificate.py EYEROOF SOURCES

Shares no code with the program: it reads a few numbers of a machine's file as text, counts the work of a GEMM, a convolution,
and attention from their definitions, and compares every term that `eyeroof bound --format json` prints, which of them binds,
and their combination. It then checks that fused <= cached <= predicted, and that the bound of a GEMM on the whole chip is what
the argument of Smith et al. (2019) gives.
"""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

program, sources = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
GPUS = ["t4", "v100-sxm2-16gb", "a100-sxm-80gb", "l40s", "h100-sxm-80gb", "b200-sxm", "mi300x"]
SCALE = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}
BYTES = {"fp32": 4, "fp16": 2, "bf16": 2}
# Of a kernel of products, at a clock in Hz, by architecture; docs/step.md says from which measurements.
STARTS = {"ampere": (2.2e-6, 1.41e9), "hopper": (2.2e-6, 1.98e9), "ada": (1.5e-6, 2.52e9), "blackwell": (1.35e-6, 1.92e9)}
START_S = 1.2e-6      # of others, at any clock
LINK_BYTES = 64       # of a cycle between the last-level cache and an SM
GEMMS = [("square", "fp16", 4096, 4096, 4096), ("thin", "fp16", 16, 4096, 4096), ("deep", "fp16", 64, 64, 1 << 20),
         ("odd", "fp32", 1000, 777, 513), ("large", "fp16", 65536, 65536, 65536), ("one", "fp16", 1, 1, 1)]
CONVOLUTIONS = [("three", "fp16", 32, 64, 56, 64, 3, 1, 1), ("first", "fp32", 32, 3, 224, 64, 7, 2, 3),
                ("point", "fp16", 32, 256, 28, 512, 1, 1, 0), ("pointed", "fp16", 8, 256, 28, 512, 1, 2, 0)]
ATTENTIONS = [("prefill", "fp16", 4, 32, 2048, 2048, 128, 0), ("causal", "fp16", 2, 16, 4096, 4096, 64, 1),
              ("token", "fp16", 16, 32, 1, 8192, 128, 1), ("chunk", "fp16", 1, 8, 512, 8192, 128, 1)]


def quantity(text):
    number, unit = re.match(r"\s*([\d.]+)\s*(\S*)", text).groups()
    prefix = re.match(r"(Ki|Mi|Gi|k|M|G|T)?", re.sub(r"(FLOP/s|B/s|Hz|B)$", "", unit)).group(0)
    return float(number) * SCALE[prefix]


class Machine:
    def __init__(self, name):
        text = (sources / f"hwdb/gpus/{name}.yaml").read_text(encoding="utf-8")
        text = re.sub(r"(?<!\S)#.*", "", text)

        def fact(key, section=""):
            within = re.search(section + r"[^\n]*(?:\n +[^\n]*)*", text, re.M).group(0) if section else text
            found = re.search(rf"\b{key}: *(?:\{{value: *)?([^,}}\n]+)", within)
            return quantity(found.group(1)) if found else None
        self.name, self.sms = name, fact("sms")
        self.boost, self.tensor = fact("boost", "^clocks:"), fact("tensor", "^clocks:")
        self.memory, self.cache = fact("bandwidth", "^dram:"), fact("capacity", "^l2:")
        seconds, clock = STARTS.get(re.search(r"^architecture: *(\w+)", text, re.M)[1], (START_S, self.boost))
        self.start = seconds * min(1.0, clock / self.boost)
        self.registers, self.shared = fact("registers", "^sm:"), fact("shared_memory", "^sm:")
        self.peak, self.pipe = {}, {}
        for kind in BYTES:
            row = re.search(rf"^ +{kind}: *\{{value: *([\d.]+ \S+),.*?pipe: (\w+)", text, re.M)
            if row:
                self.peak[kind], self.pipe[kind] = quantity(row.group(1)), row.group(2)

    def flops(self, kind):
        """Operations per second at the boost clock; tensor peaks are quoted at the tensor clock."""
        clock = self.tensor if self.pipe[kind] == "tensor" and self.tensor else self.boost
        return self.peak[kind] * max(self.boost / clock, 1.0)

    def chip_bytes(self):
        return self.cache + self.sms * (max(self.registers, 2**18) + max(self.shared, 2**18))


def gemm(row):
    name, kind, m, n, k = row
    return f"{name},gemm,{kind},{m},{n},{k}", 2.0 * m * n * k, [BYTES[kind] * (m * k + k * n + m * n)] * 2


def convolution(row):
    """A tap of a row counts min(taps, stride) multiplications for each output: Winograd's bound, rounded down."""
    name, kind, n, c, size, k, r, stride, pad = row
    out = (size + 2 * pad - r) // stride + 1
    touched = size if r >= stride else out  # a smaller window passes over rows and columns
    words = n * c * touched * touched + k * c * r * r + n * k * out * out
    least = n * c * out * out + k * c * r * r + n * k * out * out
    flops = 2.0 * n * k * c * out * out * min(r, stride) ** 2
    line = f"{name},conv2d,{kind},{n},{c},{size},{size},{k},{r},{r},{stride},{pad}"
    return line, flops, [BYTES[kind] * min(words, least), BYTES[kind] * (n * c * size * size + k * c * r * r + n * k * out * out)]


def attention(row):
    """Queries are the last m of n tokens; a causal one sees what is before it. Queries and results are
    counted at least, keys and values at most once: a list of layers does not say where they come from."""
    name, kind, batch, heads, m, n, k, causal = row
    pairs = m * n - (m * (m - 1) // 2 if causal else 0)
    ends, keys = 2 * batch * heads * m * k, 2 * batch * heads * n * k
    line = f"{name},attention,{kind},{batch},{heads},{m},{n},{k},{causal}"
    return line, 4.0 * batch * heads * pairs * k, [BYTES[kind] * ends, BYTES[kind] * (ends + keys)]


TABLES = [("name,op,dtype,m,n,k", gemm, GEMMS), ("name,op,dtype,n,c,h,w,k,r,s,stride,pad", convolution, CONVOLUTIONS),
          ("name,op,dtype,batch,groups,m,n,k,causal", attention, ATTENTIONS)]


def near(found, wanted):
    return math.isclose(found, wanted, rel_tol=1e-6, abs_tol=1e-15)


def check(machine, kind, flops, limits, answer, square):
    """What is wrong with the terms of one layer's bound."""
    faults = []
    found = next(o for o in answer["operators"] if ".to_channels" not in o["name"])["bound"]
    fused, cached = answer["fused"], answer["cached"]

    def wants(what, number, wanted):
        if not near(number, wanted):
            faults.append(f"{what} is {number:.9g}, and {wanted:.9g} by the file and the shape")
    wants("arithmetic_s", fused["arithmetic_s"], flops / machine.flops(kind))
    if not limits[0] * (1 - 1e-9) <= fused["bytes"] <= limits[1] * (1 + 1e-9):
        faults.append(f"bytes are {fused['bytes']:.9g}, and {limits[0]:.9g} to {limits[1]:.9g} by the shape")
    for what, bound in (("fused", fused), ("cached", cached)):
        if what == "fused" or square:
            wants(f"memory_s of {what}", bound["memory_s"], max(bound["bytes"] - machine.cache, 0.0) / machine.memory)
            wants(f"on_chip_s of {what}", bound["on_chip_s"], bound["bytes"] / (LINK_BYTES * machine.sms * machine.boost))
        wants(f"start_s of {what}", bound["start_s"], machine.start)
        terms = {"arithmetic": bound["arithmetic_s"], "memory": bound["memory_s"], "on-chip": bound["on_chip_s"]}
        wants(f"time_s of {what}", bound["time_s"], max(terms.values()) + bound["start_s"])
        wall = "start" if bound["start_s"] > max(terms.values()) else max(terms, key=terms.get)
        if bound["wall"] != wall and terms.get(bound["wall"], bound["start_s"]) < max(terms.values()):
            faults.append(f"{what} names {bound['wall']}, and {wall} is the longest")
    if square:
        m, n, k = square
        words = machine.chip_bytes() / BYTES[kind]
        least = max(2.0 * m * n * k / math.sqrt(words) - 2.0 * words, 0.0) * BYTES[kind]
        wants("bytes of cached", cached["bytes"], max(least, fused["bytes"]))
    if not fused["time_s"] <= cached["time_s"] * (1 + 1e-9) or not cached["time_s"] <= answer["predicted_s"] * (1 + 1e-9):
        faults.append("fused <= cached <= predicted does not hold")
    if found["arithmetic_s"] > fused["arithmetic_s"] * (1 + 1e-9):
        faults.append("an operator's arithmetic is above its program's")
    return faults


def main():
    checked, wrong = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for machine in map(Machine, GPUS):
            for head, work, rows in TABLES:
                for row in rows:
                    line, flops, limits = work(row)
                    path = pathlib.Path(folder, "layer.csv")
                    path.write_text(f"{head}\n{line}\n", encoding="utf-8")
                    said = subprocess.run([program, "bound", path, "--on", machine.name, "--format", "json"],
                                          capture_output=True, text=True)
                    faults = [said.stderr.strip()] if said.returncode else \
                        check(machine, row[1], flops, limits, json.loads(said.stdout), row[2:5] if work is gemm else None)
                    checked += 1
                    wrong += bool(faults)
                    for fault in faults:
                        print(f"{line} on {machine.name}: {fault}")
    print(f"{checked} bounds recomputed, {wrong} differ")
    return 1 if wrong or not checked else 0


sys.exit(main())
