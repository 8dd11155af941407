#!/usr/bin/env python3
"""A real PyTorch CPU trace beside the predicted timeline of the same network on this host.

  cpu_trace.py EYEROOF [--ceilings FILE] [--keep DIR] [--order-only]

One thread. `eyeroof measure cpu` gives the machine (or FILE, which it wrote before). Operators must come
in the same order, and the measured total must lie within the predicted interval. Measured: the least of
many rounds, since other programs may run. Exit 77 without torch, 1 where either fails.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

NETWORK = """name: Small convolutional network
layers:
  - {name: conv1, op: conv2d, n: 4, c: 3, h: 64, w: 64, k: 32, r: 3, s: 3, pad: 1, bias: 1}
  - {name: relu1, op: elementwise, rows: 128, cols: 4096, fn: relu}
  - {name: pool1, op: maxpool, n: 4, c: 32, h: 64, w: 64, r: 2, s: 2, stride: 2}
  - {name: conv2, op: conv2d, n: 4, c: 32, h: 32, w: 32, k: 64, r: 3, s: 3, pad: 1, bias: 1}
  - {name: relu2, op: elementwise, rows: 256, cols: 1024, fn: relu}
  - {name: conv3, op: conv2d, n: 4, c: 64, h: 32, w: 32, k: 64, r: 3, s: 3, pad: 1, bias: 1}
  - {name: sum, op: elementwise, rows: 256, cols: 1024, fn: add}
  - {name: relu3, op: elementwise, rows: 256, cols: 1024, fn: relu}
  - {name: pool2, op: avgpool, n: 4, c: 64, h: 32, w: 32, r: 2, s: 2, stride: 2}
  - {name: fc1, op: gemm, m: 4, n: 512, k: 16384, bias: 1}
  - {name: relu4, op: elementwise, rows: 4, cols: 512, fn: relu}
  - {name: fc2, op: gemm, m: 4, n: 10, k: 512, bias: 1}
  - {name: softmax, op: softmax, rows: 4, cols: 10}
graph:
  - {run: [conv1, relu1, pool1, conv2, relu2], reads: input, as: x}
  - {run: conv3, reads: x, as: main}
  - {run: [sum, relu3], reads: [main, x], as: x}
  - {run: [pool2, fc1, relu4, fc2, softmax], reads: x, as: classes}
"""

# Predicted layers by the operator of PyTorch that they are.
ATEN = {
    "conv": "aten::conv2d",
    "relu": "aten::relu",
    "sum": "aten::add",
    "pool1": "aten::max_pool2d",
    "pool2": "aten::avg_pool2d",
    "fc": "aten::linear",
    "softmax": "aten::softmax",
}
NOT_WORK = ("aten::flatten", "aten::reshape", "aten::view")


def aten_of(layer):
    return next(name for start, name in ATEN.items() if layer.startswith(start))


def ceilings(eyeroof, given, folder):
    path = given
    if path is None:
        path = os.path.join(folder, "cpu.yaml")
        subprocess.run([eyeroof, "measure", "cpu", "--threads", "1", "--no-layers", "--overlay", path],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    text = open(path).read()
    found = {}
    for name, value, unit in re.findall(r'- name: "([^"]+)"\n(?:.*\n)*?    value: ([\d.e+]+) (\S+)', text):
        scale = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}.get(unit[0], 1.0)
        found[name] = float(value) * scale
    return found


def machine_file(found, folder):
    """A host of one core whose lanes and bandwidths are the measured ones."""
    lanes = 16
    clock = found["fma fp32"] / (2 * lanes)
    path = os.path.join(folder, "this-host.yaml")
    with open(path, "w") as file:
        file.write(f"""eyeroof: machine/1
kind: host
id: this-host
name: "This host, one thread"
vendor: unknown
source: "eyeroof measure cpu"
confidence: measured
sms: 1
fp32_lanes: {lanes}
clocks: {{boost: {clock / 1e9:.4f} GHz}}
peaks:
  fp64: {{value: {found["fma fp64"] / 1e9:.3f} GFLOP/s, pipe: vector}}
  fp32: {{value: {found["fma fp32"] / 1e9:.3f} GFLOP/s, pipe: vector}}
dram: {{type: DDR5, capacity: 8 GB, bandwidth: {found["dram read"] / 1e9:.3f} GB/s}}
l2:
  capacity: 2 MiB
  bandwidth: {found["l2 read"] / 1e9:.3f} GB/s
links:
  pcie: 15.75 GB/s
tdp: 50 W
""")
    return path


def predicted(eyeroof, machine, folder, keep):
    network = os.path.join(folder, "network.yaml")
    with open(network, "w") as file:
        file.write(NETWORK)
    command = [eyeroof, "timeline", network, "--on", machine, "--dtype", "fp32", "--mode", "stream"]
    if keep:
        subprocess.run(command + ["--format", "trace", "-o", os.path.join(keep, "predicted.json")], check=True)
    out = subprocess.run(command + ["--format", "json"], check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def network(torch):
    F = torch.nn.functional
    conv = [torch.nn.Conv2d(a, b, 3, padding=1) for a, b in ((3, 32), (32, 64), (64, 64))]
    fc = [torch.nn.Linear(16384, 512), torch.nn.Linear(512, 10)]

    def run(x):
        x = F.relu(conv[1](F.max_pool2d(F.relu(conv[0](x)), 2)))
        x = F.avg_pool2d(F.relu(torch.add(conv[2](x), x)), 2)
        return F.softmax(fc[1](F.relu(fc[0](torch.flatten(x, 1)))), dim=1)

    return run


def measured(torch, rounds, keep):
    """Top-level operators in order, and the least total of their times, seconds."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    run = network(torch)
    x = torch.randn(4, 3, 64, 64)
    best, order = None, None
    with torch.inference_mode():
        for _ in range(5):
            run(x)
        for _ in range(rounds):
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
                run(x)
            events = [e for e in profile.events() if e.cpu_parent is None and e.name.startswith("aten::")]
            events = sorted((e for e in events if e.name not in NOT_WORK), key=lambda e: e.time_range.start)
            total = sum(e.time_range.elapsed_us() for e in events) * 1e-6
            if best is None or total < best:
                best, order = total, [(e.name, e.time_range.elapsed_us() * 1e-6) for e in events]
                if keep:
                    profile.export_chrome_trace(os.path.join(keep, "measured.json"))
    return best, order


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("eyeroof")
    parser.add_argument("--ceilings", help="what `eyeroof measure cpu --overlay` wrote")
    parser.add_argument("--keep", help="folder for both traces")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--order-only", action="store_true", help="measure and judge no time")
    arguments = parser.parse_args()
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    try:
        import torch
    except ImportError:
        print("no torch: skipped")
        return 77
    if arguments.keep:
        os.makedirs(arguments.keep, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        machine = "laptop-quad-3.1ghz"
        if not arguments.order_only:
            machine = machine_file(ceilings(arguments.eyeroof, arguments.ceilings, folder), folder)
        line = predicted(arguments.eyeroof, machine, folder, arguments.keep)
    total, order = measured(torch, 1 if arguments.order_only else arguments.rounds, arguments.keep)
    print(f"{'predicted':<12} {'us':>9}   {'measured':<18} {'us':>9}")
    for op, (name, seconds) in zip(line["operators"], order):
        print(f"{op['name']:<12} {(op['end_s'] - op['start_s']) * 1e6:9.1f}   {name:<18} {seconds * 1e6:9.1f}")
    print(f"total {line['time_s'] * 1e3:.2f} ms ({line['low_s'] * 1e3:.2f} to {line['high_s'] * 1e3:.2f}) "
          f"predicted, {total * 1e3:.2f} ms measured")
    same = [aten_of(op["name"]) for op in line["operators"]] == [name for name, _ in order]
    inside = arguments.order_only or line["low_s"] <= total <= line["high_s"]
    judged = "not judged" if arguments.order_only else inside
    print(f"operators in the same order: {same}; total within the interval: {judged}")
    return 0 if same and inside else 1


if __name__ == "__main__":
    sys.exit(main())
