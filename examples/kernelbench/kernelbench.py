"""KernelBench in, a table out: what of its programs is covered, the bounds, the predictions, and the
measured times, by level and machine.

    python examples/kernelbench/kernelbench.py FOLDER                     # every machine of FOLDER/times.csv.gz
    python examples/kernelbench/kernelbench.py FOLDER --on h100-sxm-80gb  # without measurements
    python examples/kernelbench/kernelbench.py FOLDER --page kernelbench.html --rows rows.csv

FOLDER holds programs/levelN/*.py (or KernelBench/levelN/*.py) and, where there are measurements,
times.csv or times.csv.gz with the columns level, program, machine, gpu, mode, and mean_ms. Needs
PyTorch, on any device: the programs run on meta tensors. The host's speed of each machine is
inferred from the eager times of two small programs (--probe), whose rows are left out of the errors.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import html
import importlib.util
import math
import os
import statistics
import sys
import time
from typing import Any, Dict, Iterable, List, Optional, Tuple

import eyeroof as er

# How each published mode runs a program, in the words of a scenario.
MODES: Dict[str, Dict[str, Any]] = {
    "eager": {},
    "compile_cudagraphs": {"launch": "graph", "copies": "staged-all"},
    "compile_inductor_default": {"compiled": True},
    "compile_inductor_max-autotune-no-cudagraphs": {"compiled": True},
    "compile_inductor_reduce-overhead": {"compiled": True, "launch": "graph", "copies": "staged"},
    "compile_inductor_max-autotune": {"compiled": True, "launch": "graph", "copies": "staged"},
}
GROUPS = {"eager": "eager", "compile_inductor_default": "compiled",
          "compile_inductor_max-autotune-no-cudagraphs": "compiled",
          "compile_cudagraphs": "graph", "compile_inductor_reduce-overhead": "graph",
          "compile_inductor_max-autotune": "graph"}
HOST = "server-2x48"  # whose calls are weighted by operator
INTERPRETED = 1.6  # eager calls that a call by a graph's interpreter takes; of one half of the programs
# Pointwise operators alone, several calls each: no product's time is mistaken for the host's.
PROBES = ("level1/30_Softsign.py", "level1/100_HingeLoss.py")
Key = Tuple[str, str]


def programs_of(folder: str) -> List[str]:
    """level/program.py of every program, in the order of their numbers."""
    base = next((b for b in (os.path.join(folder, "programs"), os.path.join(folder, "KernelBench"),
                             folder) if os.path.isdir(os.path.join(b, "level1"))), folder)
    found = []
    for level in sorted(os.listdir(base)):
        path = os.path.join(base, level)
        if level.startswith("level") and os.path.isdir(path):
            names = [n for n in os.listdir(path) if n.endswith(".py")]
            found += [os.path.join(path, n) for n in
                      sorted(names, key=lambda n: (int(n.split("_")[0]) if n[0].isdigit() else 0, n))]
    return found


def key_of(path: str) -> str:
    return "/".join(path.split(os.sep)[-2:])


def network_of(path: str) -> er.Network:
    """The program's network: Model(*get_init_inputs()) on get_inputs(), in training mode."""
    import torch

    spec = importlib.util.spec_from_file_location("program", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        with torch.device("meta"):
            model, inputs = module.Model(*module.get_init_inputs()), module.get_inputs()
            return er.from_torch(model, *inputs, name="program", evaluation=False)
    except (RuntimeError, NotImplementedError):  # sizes that depend on numbers: real tensors
        model, inputs = module.Model(*module.get_init_inputs()), module.get_inputs()
        return er.from_torch(model, *inputs, name="program", evaluation=False)


def captured(paths: Iterable[str], keep: Optional[str]) -> Tuple[Dict[str, er.Network], Dict[str, str]]:
    """Networks by program, and what went wrong with the others."""
    import warnings

    networks, wrong = {}, {}
    for path in paths:
        key = key_of(path)
        kept = os.path.join(keep, key.replace("/", "-")[:-3] + ".yaml") if keep else ""
        if kept and os.path.exists(kept):
            networks[key] = er.network(kept)
            continue
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                networks[key] = network_of(path)
            except Exception as error:  # noqa: BLE001: any program's own
                wrong[key] = f"not captured: {type(error).__name__}: {str(error)[:200]}"
                continue
        missing = [str(w.message) for w in seen if "not costed" in str(w.message)]
        if missing:
            wrong[key] = missing[0]
        if kept:
            os.makedirs(keep or ".", exist_ok=True)
            with open(kept, "w", encoding="utf-8") as file:
                file.write(networks[key].yaml())
    return networks, wrong


def times_of(path: str) -> List[Dict[str, str]]:
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8")
    with opened as file:
        return list(csv.DictReader(file))


def fields_of(net: er.Network, mode: str, host: Optional[float] = None) -> Dict[str, Any]:
    """The scenario of a mode. The cudagraphs backend runs what writes over its inputs, such as the
    running statistics of a batch norm, operator by operator from Python (PyTorch 2.5,
    torch/_dynamo/backends/cudagraphs.py, check_for_skip)."""
    updates = any(shape["op"] == "batchnorm" and shape.get("n", 0) for shape in shapes_of(net).values())
    skips = mode == "compile_cudagraphs" and updates
    speed = {} if host is None else {"host_speed": host / INTERPRETED if skips else host}
    return {"host": HOST, **({} if skips else MODES[mode]), **speed}


def predicted(net: er.Network, gpu: str, mode: str, host: Optional[float]) -> Any:
    return er.exam(net, on=gpu, **fields_of(net, mode, host))


def host_speed_of(networks: Dict[str, er.Network], gpu: str, times: Dict[str, float]) -> Optional[float]:
    """The host's speed that the probes' eager times say: bisection, as times fall with it."""
    probes = {p: times[p] for p in times if p in networks}
    if not probes:
        return None
    low, high = 0.05, 50.0
    for _ in range(30):
        middle = math.sqrt(low * high)
        slower = sum(math.log(predicted(networks[p], gpu, "eager", middle).time_s * 1e3 / t)
                     for p, t in probes.items())
        low, high = (middle, high) if slower > 0 else (low, middle)
    return math.sqrt(low * high)


def family_of(layer: Dict[str, Any]) -> str:
    """The kind of kernel that a layer is, by its operator and shape."""
    op, text = layer["op"], layer.get("shape", {})
    if op == "conv2d":
        kind = "transposed convolution" if layer["direction"] == "bwd_data" else "convolution"
        if text.get("depth", 1) > 1:
            return kind + " 3-D"
        return ("depthwise " if text.get("groups", 1) == text.get("c") != 1 else "") + kind
    if op == "elementwise":
        return "scan or loss" if text.get("fn") in ("scan", "pick") else "pointwise or copy"
    if op in ("maxpool", "avgpool"):
        sides = [(text.get("r"), text.get("h")), (text.get("s"), text.get("w"))]
        whole = all(a == b for a, b in sides) or (sides[0][0] == sides[0][1] != 1 == sides[1][0])
        return "reduction" if whole else "pooling"
    return {"gemm": "GEMM", "bmm": "batched GEMM"}.get(op, op)


def shapes_of(net: er.Network) -> Dict[str, Dict[str, Any]]:
    """Dimensions and function of each layer by its name."""
    shapes = {}
    for line in net.yaml().splitlines():
        if line.startswith("  - {name: "):
            pairs = [part.split(": ", 1) for part in line[5:-1].split(", ") if ": " in part]
            fields = {key: int(value) if value.isdigit() else value for key, value in pairs}
            shapes[str(fields["name"]).strip('"')] = fields
    return shapes


def family_in(net: er.Network, exam: Any) -> str:
    """The kind of kernel that takes the largest share of the kernels' predicted time."""
    shapes, shares = shapes_of(net), {}
    for layer in exam.layers:
        kind = family_of({**layer, "shape": shapes.get(layer["name"], {})})
        shares[kind] = shares.get(kind, 0.0) + layer["time_s"] * layer["count"]
    return max(shares, key=lambda kind: shares[kind])


def figures(rows: List[Dict[str, Any]]) -> str:
    errors = [abs(r["predicted_ms"] / r["measured_ms"] - 1.0) for r in rows]
    bias = math.exp(statistics.mean(math.log(r["predicted_ms"] / r["measured_ms"]) for r in rows))
    held = sum(r["low_ms"] <= r["measured_ms"] <= r["high_ms"] for r in rows) / len(rows)
    below = sum(r["bound_ms"] is not None and r["measured_ms"] < r["bound_ms"] for r in rows)
    bounded = [r for r in rows if r["bound_ms"] is not None]
    over = sum(r["measured_ms"] < r["roofline_ms"] for r in bounded)
    tight = [r["unfused_ms"] / r["measured_ms"] for r in bounded]
    return (f"{len(rows):6} {100 * statistics.median(errors):8.1f} {100 * statistics.mean(errors):8.1f}"
            f" {bias:7.2f} {100 * held:8.0f} {below:9} {over:9}"
            f" {100 * statistics.median(tight) if tight else 0.0:10.1f}")


# below: measured times under the bound; roofline: under the sums that are usually called speed of light
HEAD = (f"{'rows':>6} {'median %':>8} {'mean %':>8} {'bias':>7} {'held %':>8} {'below':>9} "
        f"{'roofline':>9} {'unfused %':>10}")


def by_family_and_machine(rows: List[Dict[str, Any]]) -> str:
    """Bias and median error, in %, of each machine's rows; the number of programs in front."""
    machines = sorted({r["machine"] for r in rows})
    text = []
    for group in ("eager", "compiled", "graph"):
        text.append(f"\n{group + ', bias and median %':<32}"
                    + "".join(f"{m:>16}" for m in machines))
        for family in sorted({r["family"] for r in rows}):
            cells = []
            for machine in machines:
                ratios = [r["predicted_ms"] / r["measured_ms"] for r in rows if r["machine"] == machine
                          and r["group"] == group and r["family"] == family]
                cells.append(f"{math.exp(statistics.mean(map(math.log, ratios))):9.2f}"
                             f"{100 * statistics.median(abs(r - 1) for r in ratios):7.1f}"
                             if ratios else " " * 16)
            programs = len({r["program"] for r in rows if r["family"] == family})
            if any(cell.strip() for cell in cells):
                text.append(f"{programs:4} {family:<27}" + "".join(cells))
    return "\n".join(text)


def tables(rows: List[Dict[str, Any]]) -> str:
    text = []
    judged = [r for r in rows if not r["probe"]]
    for title, field in (("by mode", "group"), ("by level", "level"), ("by machine", "machine"),
                         ("by half", "half"), ("by family", "family")):
        text.append(f"\n{title:<26}{'mode':<10}{HEAD}")
        for name in sorted({r[field] for r in judged}):
            for group in ("eager", "compiled", "graph"):
                chosen = [r for r in judged if r[field] == name and r["group"] == group]
                if chosen:
                    text.append(f"{name:<26}{group:<10}{figures(chosen)}")
    return "\n".join(text + [by_family_and_machine(judged), tightness(rows)])


def tightness(rows: List[Dict[str, Any]]) -> str:
    """Each bound as a share of the measured time, and how often it is violated."""
    text = [f"\n{'bound, % of measured time':<34}{'rows':>6} {'10 %':>7} {'median':>7} {'90 %':>7}"
            f" {'violated':>9}"]
    bounded = [r for r in rows if r["bound_ms"] is not None and r["measured_ms"] > 0]
    long = [r for r in bounded if r["measured_ms"] > 1.0]
    for title, chosen in (("all", bounded), ("over 1 ms", long),
                          ("eager", [r for r in bounded if r["group"] == "eager"]),
                          ("eager over 1 ms", [r for r in long if r["group"] == "eager"])):
        for kind in ("bound", "cached", "unfused", "roofline"):
            shares = sorted(100 * r[f"{kind}_ms"] / r["measured_ms"] for r in chosen)
            if shares:
                at = [shares[min(len(shares) - 1, int(q * len(shares)))] for q in (0.1, 0.5, 0.9)]
                text.append(f"{title + ', ' + ('fused' if kind == 'bound' else kind):<34}{len(shares):6}"
                            + "".join(f" {a:7.1f}" for a in at)
                            + f" {sum(s > 100 for s in shares):9}")
    pairs = {(r["program"], r["gpu"]): r for r in bounded}.values()
    tighter = [r for r in pairs if r["cached_ms"] > 1.0001 * r["bound_ms"]]
    text.append(f"cached is above fused for {len(tighter)} of {len(pairs)} programs and machines"
                + ("" if not tighter else ", most for " + max(
                    tighter, key=lambda r: r["cached_ms"] / r["bound_ms"])["program"]))
    return "\n".join(text)


def page(rows: List[Dict[str, Any]], wrong: Dict[str, str], words: str) -> str:
    def cells(values: Iterable[Any]) -> str:
        return "".join(f"<td>{html.escape(str(v))}</td>" for v in values)

    body = "".join("<tr>" + cells([r["program"], r["machine"], r["mode"], f"{r['bound_ms']:.4g}" if
                                   r["bound_ms"] else "", f"{r['predicted_ms']:.4g}",
                                   f"{r['measured_ms']:.4g}" if r["measured_ms"] else "",
                                   f"{r['gap']:.2f}"]) + "</tr>" for r in rows)
    failed = "".join(f"<li>{html.escape(k)}: {html.escape(v)}</li>" for k, v in wrong.items())
    return ("<!doctype html><meta charset=utf-8><title>KernelBench</title><style>body{font:14px "
            "sans-serif}td,th{padding:2px 8px;text-align:right}td:first-child{text-align:left}"
            f"</style><h1>KernelBench</h1><pre>{html.escape(words)}</pre><ul>{failed}</ul><table><tr>"
            "<th>program</th><th>machine</th><th>mode</th><th>bound, ms</th><th>predicted, ms</th>"
            f"<th>measured, ms</th><th>gap</th></tr>{body}</table>\n")


def rows_of(networks: Dict[str, er.Network], asked: List[Dict[str, Any]],
            hosts: Dict[str, Optional[float]], probes: List[str],
            wrong: Dict[str, str]) -> List[Dict[str, Any]]:
    memo: Dict[Any, Any] = {}
    bounds: Dict[Key, Any] = {}
    families: Dict[str, str] = {}  # on the first machine that is asked for
    halves = {program: "ab"[i % 2] for i, program in enumerate(networks)}
    rows = []
    for one in asked:
        program, gpu = one["program"], one["gpu"]
        fields = fields_of(networks[program], one["mode"], hosts.get(one["machine"]))
        at = (program, gpu, tuple(sorted(fields.items())))
        try:
            if at not in memo:
                memo[at] = predicted(networks[program], gpu, one["mode"], hosts.get(one["machine"]))
            if (program, gpu) not in bounds and hasattr(er, "bound"):
                bounds[(program, gpu)] = er.bound(networks[program], on=gpu)
        except er.Error as error:
            wrong.setdefault(program, f"not costed on {gpu}: {str(error)[:200]}")
            continue
        exam, bound = memo[at], bounds.get((program, gpu))
        if program not in families:
            families[program] = family_in(networks[program], exam)
        bound_ms = 1e3 * bound["fused"]["time_s"] if bound else None
        low_s, high_s = exam.interval_s or (exam.time_s, exam.time_s)
        base = one["measured_ms"] or exam.time_s * 1e3
        rows.append({**one, "group": GROUPS[one["mode"]], "level": program.split("/")[0],
                     "half": halves[program], "family": families[program],
                     "probe": program in probes, "bound_ms": bound_ms,
                     **{f"{kind}_ms": 1e3 * bound[kind]["time_s"] if bound else None
                        for kind in ("cached", "unfused", "roofline")},
                     "predicted_ms": exam.time_s * 1e3, "low_ms": low_s * 1e3,
                     "high_ms": high_s * 1e3, "gap": base / bound_ms if bound_ms else 0.0})
    return sorted(rows, key=lambda r: -r["gap"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", help="KernelBench's folder")
    parser.add_argument("--times", help="measured times [FOLDER/times.csv.gz]")
    parser.add_argument("--on", action="append", default=[], help="machines, where nothing is measured")
    parser.add_argument("--only", default="", help="programs whose path contains this")
    parser.add_argument("--networks", help="keep captured networks in this folder")
    parser.add_argument("--host-speed", type=float, help="of every machine, instead of the probes'")
    parser.add_argument("--probe", action="append", help="program whose eager time tells the host's "
                        "speed, level/program.py (repeatable)")
    parser.add_argument("--page", help="write an HTML page")
    parser.add_argument("--rows", help="write all rows as CSV")
    options = parser.parse_args()

    began = time.perf_counter()
    paths = [p for p in programs_of(options.folder) if options.only in key_of(p)]
    networks, wrong = captured(paths, options.networks)
    took = time.perf_counter() - began
    found = options.times or next((p for p in (os.path.join(options.folder, "times.csv.gz"),
                                               os.path.join(options.folder, "times.csv"))
                                   if os.path.exists(p)), "")
    asked = [{"program": f"{r['level']}/{r['program']}", "machine": r["machine"], "gpu": r["gpu"],
              "mode": r["mode"], "measured_ms": float(r["mean_ms"])}
             for r in (times_of(found) if found and not options.on else [])
             if f"{r['level']}/{r['program']}" in networks and r["mode"] in MODES]
    asked += [{"program": p, "machine": gpu, "gpu": gpu, "mode": mode, "measured_ms": 0.0}
              for gpu in options.on for p in networks
              for mode in ("eager", "compile_inductor_default", "compile_inductor_reduce-overhead")]
    hosts: Dict[str, Optional[float]] = {}
    chosen = options.probe or list(PROBES)
    for machine, gpu in sorted({(r["machine"], r["gpu"]) for r in asked}):
        probes = {r["program"]: r["measured_ms"] for r in asked if r["machine"] == machine
                  and r["mode"] == "eager" and r["program"] in chosen and r["measured_ms"] > 0}
        hosts[machine] = options.host_speed or host_speed_of(networks, gpu, probes)
    began = time.perf_counter()
    rows = rows_of(networks, asked, hosts, chosen, wrong)
    words = (f"{len(networks)} of {len(paths)} programs captured in {took:.1f} s, "
             f"{len(networks) - sum(k in networks for k in wrong)} fully costed; {len(rows)} predictions "
             f"in {time.perf_counter() - began:.1f} s\nhost speed: "
             + ", ".join(f"{m} {s:.2f}" if s else f"{m} unknown" for m, s in hosts.items()))
    measured = [r for r in rows if r["measured_ms"] > 0]
    words += "\n" + (tables(measured) if measured else "")
    print(words)
    for key, why in wrong.items():
        print(f"{key}: {why}", file=sys.stderr)
    if options.page:
        with open(options.page, "w", encoding="utf-8") as file:
            file.write(page(rows, wrong, words))
    if options.rows and rows:
        with open(options.rows, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
