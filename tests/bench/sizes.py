#!/usr/bin/env python3
"""Time and memory of eyeroof's readers and writers against the size of what they read or write.

sizes.py EYEROOF [--most N] [-o sizes.svg]: inputs of 10^3, 10^4 … N rows (10^6) are made in a scratch
folder; each command runs once; processor seconds and peak memory stand in a table, with the exponent
between the last two sizes (1: linear), and as a plot.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile


def layers(path, rows):
    with open(path, "w") as out:
        out.write("name,op,m,n,k\n")
        for i in range(rows):
            out.write(f"layer{i},gemm,{1 + i % 4096},{1 + i % 512},64\n")


def profile(path, rows):
    with open(path, "w") as out:
        out.write('{"eyeroof_profile":1,"run":{"tool":"sizes","gpu":"none"}}\n')
        out.write('{"source":"sizes"}\n{"kernel":{"name":"k"}}\n')
        for i in range(rows):
            out.write(json.dumps({"launch": {"kernel": 0, "start_ns": 10 * i, "duration_ns": 5}}) + "\n")
        out.write('{"end":{"launches":%d}}\n' % rows)


def kernels(path, rows):
    with open(path, "w") as out:
        out.write('"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n')
        for i in range(rows):
            out.write(f'"{i}","k{i % 7}","gpu__time_duration.sum","nsecond","{1000 + i % 50}"\n')


def kineto(path, rows):
    with open(path, "w") as out:
        out.write('{"traceEvents":[\n')
        for i in range(rows):
            event = {"ph": "X", "cat": "kernel", "name": f"k{i % 9}", "pid": 0, "tid": 7, "ts": i, "dur": 1,
                     "args": {"grid": [1, 1, 1], "block": [64, 1, 1]}}
            out.write(json.dumps(event) + (",\n" if i + 1 < rows else "\n"))
        out.write("]}\n")


CASES = {
    "layers.csv, to CSV": (layers, "csv", ["exam", "{in}", "--on", "t4", "--format", "csv", "-o", "{out}"]),
    "layers.csv, to JSON": (layers, "csv", ["exam", "{in}", "--on", "t4", "--format", "json", "-o", "{out}"]),
    "layers.csv, listed": (layers, "csv", ["net", "show", "{in}", "--format", "json", "-o", "{out}"]),
    "own profile": (profile, "jsonl", ["import", "{in}", "--format", "csv", "-o", "{out}"]),
    "Nsight Compute CSV": (kernels, "csv", ["import", "{in}", "--save", "{out}.jsonl"]),
    "Kineto JSON": (kineto, "json", ["import", "{in}", "--save", "{out}.jsonl"]),
}


def measured(eyeroof, words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = subprocess.Popen([eyeroof, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, err = child.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return child.returncode, seconds, err.decode(errors="replace")[:200]


def peak_mb(eyeroof, words):
    code = ("import resource,subprocess,sys;subprocess.run(sys.argv[1:],stdout=-3,stderr=-3);"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    out = subprocess.run([sys.executable, "-c", code, eyeroof, *words], capture_output=True, text=True)
    return int(out.stdout) / 1024


def plot(rows, path):
    import math
    colours = ["#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#555555"]
    points = [(n, s) for _, results in rows for n, _, s, _ in results if s > 0]
    x0, x1 = math.log10(min(n for n, _ in points)), math.log10(max(n for n, _ in points))
    y0, y1 = math.floor(math.log10(min(s for _, s in points))), math.ceil(math.log10(max(s for _, s in points)))
    x = lambda n: 60 + 460 * (math.log10(n) - x0) / max(x1 - x0, 1e-9)
    y = lambda s: 330 - 300 * (math.log10(s) - y0) / max(y1 - y0, 1e-9)
    svg = ['<svg xmlns="http://www.w3.org/2000/svg" width="760" height="380" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>',
           '<text x="60" y="18">Processor seconds against rows; both logarithmic</text>']
    for e in range(y0, y1 + 1):
        svg.append(f'<path d="M60 {y(10**e):.1f}H520" stroke="#ddd"/><text x="8" y="{y(10**e) + 4:.1f}">1e{e} s</text>')
    for e in range(math.ceil(x0), math.floor(x1) + 1):
        svg.append(f'<text x="{x(10**e) - 10:.1f}" y="350">1e{e}</text>')
    for i, (name, results) in enumerate(rows):
        line = " ".join(f"{x(n):.1f},{y(max(s, 10**y0)):.1f}" for n, _, s, _ in results)
        c = colours[i % len(colours)]
        svg.append(f'<polyline points="{line}" fill="none" stroke="{c}" stroke-width="2"/>'
                   f'<text x="540" y="{50 + 20 * i}" fill="{c}">{name}</text>')
    open(path, "w").write("\n".join(svg + ["</svg>\n"]))


def main():
    import math
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("eyeroof")
    ask.add_argument("--most", type=float, default=1e6)
    ask.add_argument("-o", dest="plot")
    given = ask.parse_args()
    sizes = [10**e for e in range(3, 1 + int(round(math.log10(given.most))))]
    rows = []
    print(f"{'what':<22}{'rows':>9}{'input':>10}{'seconds':>9}{'MB/s':>8}{'memory':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for name, (make, ending, command) in CASES.items():
            results = []
            for size in sizes:
                file, out = f"{folder}/in.{ending}", f"{folder}/out"
                make(file, size)
                words = [w.replace("{in}", file).replace("{out}", out) for w in command]
                code, seconds, err = measured(given.eyeroof, words)
                if code != 0:
                    print(f"{name:<22}{size:>9}  exit code {code}: {err}")
                    break
                memory = peak_mb(given.eyeroof, words)
                mb = os.path.getsize(file) / 1e6
                results.append((size, mb, seconds, memory))
                print(f"{name:<22}{size:>9}{mb:>8.2f}MB{seconds:>9.2f}{mb / max(seconds, 1e-6):>8.1f}{memory:>8.0f}MB",
                      flush=True)
            if len(results) > 1:
                (n0, _, s0, _), (n1, _, s1, _) = results[-2:]
                print(f"{'':<22}exponent {math.log(s1 / s0) / math.log(n1 / n0):.2f}")
            rows.append((name, results))
    if given.plot:
        plot([r for r in rows if r[1]], given.plot)


if __name__ == "__main__":
    main()
