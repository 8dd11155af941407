"""A trace's operators beside TraceLens's answer for it: what is equal, what differs, and why.

    eyeroof exam trace.json.gz --format json -o exam.json
    python examples/measurements/tracelens.py exam.json unified_perf_summary.csv.gz [gpu_timeline.csv.gz]

Rows are paired by operator and dimensions; rows that TraceLens tells apart by strides or types are
summed. Kernel times are equal within 0.01 %, FLOP and bytes to the last digit that TraceLens prints.
"""

import ast
import collections
import csv
import gzip
import json
import sys

MIB = 2 ** 20
# What TraceLens counts otherwise, by operator: kernel time, FLOP, bytes.
WHY = {
    "aten::addmm": ("the fill that clears the workspace counts as its own operator here",
                    "TraceLens counts the bias, one operation a result", "TraceLens counts the bias"),
    "aten::convolution": ("passes between layouts and the bias are rows of their own here",
                          "TraceLens counts the bias", "the same"),
    "aten::layer_norm": ("", "5 an element there; 7 and 4 a row here", "statistics"),
    "aten::copy_": ("", "one operation an element there; none here", ""),
    "aten::mean": ("", "", "one result there; all results of the operator here"),
    "aten::add": ("", "", "a broadcast operand below an eighth of the result is cached here"),
    "aten::add_": ("", "", "a broadcast operand below an eighth of the result is cached here"),
    "aten::mul": ("", "", "TraceLens counts the scalar"),
    "aten::upsample_nearest1d": ("the copies that it makes first are rows of their own here",) * 3,
    "aten::cat": ("", "", "lists of tensors have no figure there"),
}


def opened(path):
    return gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8")


def dims_of(text):
    """'((8, 12), ())' and '[[8,12],[]]' alike: ((8, 12),)."""
    value = ast.literal_eval(text.replace("null", "None")) if text else ()

    return tuple(tuple(part) for part in value
                 if len(part) > 1 and all(isinstance(size, int) for size in part))


def key_of(operator, dims):
    """Tensors of two dimensions and more; what is called of an operator by its name: a library's
    convolution, a native norm. Lists of tensors are not distinguished."""
    name = operator.split("::")[-1]
    for prefix in ("native_", "cudnn_", "miopen_"):
        name = name.removeprefix(prefix)
    return "aten::" + name, dims_of(dims)


def sums(rows):
    """Seconds, FLOP, and bytes by operator and dimensions; None where a row has none."""
    made = collections.OrderedDict()
    for key, values in rows:
        if key[0].startswith("aten::copy::") or key[0] in ("aten::from_host", "aten::to_host", "aten::fill"):
            continue  # the driver's
        old = made.get(key, (0.0, 0.0, 0.0))
        made[key] = tuple(None if a is None or b is None else a + b for a, b in zip(old, values))
    return made


def theirs(path):
    def number(text, factor):
        return float(text) * factor if text not in ("", "nan") else None

    with opened(path) as file:
        for row in csv.DictReader(file):
            runs = int(row["operation_count"])
            yield key_of(row["name"], row["Input Dims"]), (
                number(row["Kernel Time (µs)_sum"], 1e-6), number(row["GFLOPS"], 1e9 * runs),
                number(row["Data Moved (MB)"], MIB * runs))


def ours(document):
    for row in document["rows"]:
        yield key_of(row["operator"], row["input_dims"]), (
            row["measured_s"], row["flops"], row["bytes"])


def compared(mine, other):
    """Per figure: pairs that are equal, that differ, and that TraceLens has no figure for."""
    counts = [collections.Counter() for _ in range(3)]
    lines = []
    for key, values in mine.items():
        if key not in other:
            continue
        for at, (a, b) in enumerate(zip(values, other[key])):
            near = b is not None and abs(a - b) <= (1e-4 if at == 0 else 1e-9) * max(abs(a), abs(b))
            counts[at]["no figure" if b is None else "equal" if near else "different"] += 1
            if b is not None and not near:
                why = WHY.get(key[0], ("", "", ""))[at]
                lines.append((key, at, a, b, why or "not explained"))
    return counts, lines


def timeline(path, device):
    """TraceLens's busy, idle, and exposed times beside ours, in ms."""
    with opened(path) as file:
        listed = {row["type"]: float(row["time ms"]) for row in csv.DictReader(file)}
    mine = {"computation_time": device["computation_s"], "exposed_comm_time":
            device["exposed_communication_s"], "exposed_memcpy_time": device["exposed_copies_s"],
            "idle_time": device["idle_s"], "total_time": device["total_s"],
            "busy_time": device["total_s"] - device["idle_s"],
            "total_memcpy_time": device["copies_s"], "total_comm_time": device["communication_s"]}
    wrong = 0
    for name, value in listed.items():
        a = 1e3 * mine[name]
        near = abs(a - value) <= 1e-5 * max(1.0, value)
        wrong += not near
        print(f"{name:<22}{a:14.6f}{value:14.6f}  {'equal' if near else 'different'}")
    return wrong


def main(arguments):
    with open(arguments[0], encoding="utf-8") as file:
        document = json.load(file)["trace"]
    mine, other = sums(ours(document)), sums(theirs(arguments[1]))
    counts, lines = compared(mine, other)
    paired = sum(counts[0].values())
    print(f"{len(mine)} operators and shapes here, {len(other)} there, {paired} paired")
    for name, count in zip(("kernel time", "FLOP", "bytes"), counts):
        print(f"{name:<12} {count['equal']:3} equal, {count['different']:3} different, "
              f"{count['no figure']:3} without a figure there")
    for (op, dims), at, a, b, why in sorted(lines, key=lambda line: line[4]):
        unit = ("s", "FLOP", "B")[at]
        print(f"  {op} {str(dims)[:48]}: {a:.6g} here, {b:.6g} {unit} there: {why}")
    wrong = timeline(arguments[2], document["device"]) if len(arguments) > 2 else 0
    return 1 if wrong or any(line[4] == "not explained" for line in lines) else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
