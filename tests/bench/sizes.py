#!/usr/bin/env python3
"""Time and memory of eyeroof's readers and writers against the size of what they read or write.

sizes.py EYEROOF [--most N] [-o sizes.svg]: inputs of 10^3, 10^4 … N rows (10^6) are made in a scratch
folder; each command runs once; processor seconds and peak memory stand in a table, with the exponent
between the last two sizes (1: linear), and as a plot.
"""

import argparse
import json
import os
import sqlite3
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


def network(path, rows):
    with open(path, "w") as out:
        out.write("name: Many\nlayers:\n")
        for i in range(rows):
            out.write(f"  - {{name: layer{i}, op: gemm, m: {1 + i % 4096}, n: {1 + i % 512}, k: 64}}\n")


def plain(path, rows):
    with open(path, "w") as out:
        out.write("kernel,time_us,layer,flops_fp16,bytes_dram,occupancy,stalls\n")
        for i in range(rows):
            out.write(f"kernel{i % 9},{10 + i % 77}.25,layer{i % 50},{i * 1000},{i * 64},0.75,{i % 13}\n")


def rocprof(path, rows):
    with open(path, "w") as out:
        out.write('"Kind","Agent_Id","Queue_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp",'
                  '"Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n')
        for i in range(rows):
            out.write(f'"KERNEL_DISPATCH","Agent 4","1","gemm_{i % 7}","{i}",{1000 * i},{1000 * i + 500},'
                      "256,1,1,65536,1,1\n")


def wide(path, rows):
    metrics = [f"sm__metric_{chr(97 + i % 26)}{i}.sum" for i in range(20)]
    with open(path, "w") as out:
        names = ["ID", "Process ID", "Kernel Name", "Stream", "Block Size", "Grid Size", "Device", "CC",
                 "gpu__time_duration.sum", *metrics]
        out.write(",".join(f'"{n}"' for n in names) + "\n")
        out.write(",".join('""' for _ in range(8)) + ',"ns"' + ',"inst"' * 20 + "\n")
        for i in range(rows):
            out.write(f'"{i}","7","kernel{i % 9}(float*)","7","(256, 1, 1)","(128, 1, 1)","0","9.0","{1000 + i % 50}"'
                      + "".join(f',"{i * 31 + m}"' for m in range(20)) + "\n")


def nsys(path, rows):
    if os.path.exists(path):
        os.remove(path)
    base = sqlite3.connect(path)
    base.execute("create table StringIds (id integer primary key, value text)")
    base.executemany("insert into StringIds values (?, ?)", [(i, f"kernel{i}") for i in range(9)])
    base.execute("create table CUPTI_ACTIVITY_KIND_KERNEL (start integer, end integer, deviceId integer, contextId integer,"
                 " streamId integer, correlationId integer, gridX integer, gridY integer, gridZ integer, blockX integer,"
                 " blockY integer, blockZ integer, demangledName integer, shortName integer, mangledName integer)")
    base.executemany("insert into CUPTI_ACTIVITY_KIND_KERNEL values (?,?,0,1,7,?,128,1,1,256,1,1,?,?,?)",
                     ((10 * i, 10 * i + 5, i, i % 9, i % 9, i % 9) for i in range(rows)))
    base.commit()
    base.close()


def scalesim(path, rows):
    with open(path, "w") as out:
        out.write("Layer, M, N, K,\n")
        for i in range(rows):
            out.write(f"layer{i}, {1 + i % 4096}, {1 + i % 512}, 64,\n")


def maestro(path, rows):
    with open(path, "w") as out:
        out.write("Network many {\n")
        for i in range(rows):
            out.write(f"Layer L{i} {{\nType: CONV\nStride {{ X: 1, Y: 1 }}\n"
                      f"Dimensions {{ K: {1 + i % 512}, C: 64, R: 3, S: 3, Y: 58, X: 58 }}\n}}\n")
        out.write("}\n")


def zigzag(path, rows):
    with open(path, "w") as out:
        for i in range(rows):
            out.write(f"- id: {i}\n  operator_type: Gemm\n  equation: O[b][k]+=W[k][c]*I[b][c]\n"
                      f"  loop_dims: [B, K, C]\n  loop_sizes: [{1 + i % 64}, {1 + i % 512}, 64]\n"
                      "  operand_precision: {W: 8, I: 8, O: 16, O_final: 8}\n")


def onnx(path, rows):
    def number(value):
        parts = []
        while value > 127:
            parts.append(value & 127 | 128)
            value >>= 7
        return bytes([*parts, value])

    def part(field, content):
        content = content if isinstance(content, bytes) else content.encode()
        return number(field << 3 | 2) + number(len(content)) + content

    shape = part(2, part(1, number(8) + number(1)) + part(1, number(8) + number(64)))  # 1 x 64
    graph = [part(11, part(1, "x0") + part(2, part(1, number(8) + number(1) + shape)))]
    graph += [part(1, part(1, f"x{i}") + part(2, f"x{i + 1}") + part(3, f"node{i}") + part(4, "Relu"))
              for i in range(rows)]
    graph.append(part(12, part(1, f"x{rows}")))
    with open(path, "wb") as out:
        out.write(number(8) + number(8) + part(8, number(16) + number(17)) + part(7, b"".join(graph)))


SHOW = ["net", "show", "{in}", "--format", "csv", "-o", "{out}"]
EXAM = ["exam", "{in}", "--on", "t4", "-o", "{out}", "--format"]
SAVE = ["import", "{in}", "--save", "{out}.jsonl"]
# name: what makes the input, its ending, the command, and the most rows that it is asked for
CASES = {
    "layer table": (layers, "csv", SHOW, 1e6),
    "network file": (network, "yaml", SHOW, 1e4),
    "network file, written": (layers, "csv", ["net", "show", "{in}", "--format", "yaml", "-o", "{out}"], 1e6),
    "ONNX model": (onnx, "onnx", SHOW, 1e5),
    "SCALE-Sim topology": (scalesim, "csv", SHOW, 1e6),
    "MAESTRO network": (maestro, "m", SHOW, 1e4),
    "ZigZag workload": (zigzag, "yaml", SHOW, 1e4),
    "own profile": (profile, "jsonl", ["import", "{in}", "--format", "csv", "-o", "{out}"], 1e6),
    "own profile, saved": (profile, "jsonl", SAVE, 1e6),
    "own profile, gz": (profile, "jsonl", ["import", "{in}", "--save", "{out}.jsonl.gz"], 1e6),
    "plain CSV": (plain, "csv", ["import", "{in}", "--format", "csv", "-o", "{out}"], 1e6),
    "Nsight Compute, long": (kernels, "csv", ["import", "{in}", "--format", "csv", "-o", "{out}"], 1e6),
    "Nsight Compute, wide": (wide, "csv", ["import", "{in}", "--format", "csv", "-o", "{out}"], 1e5),
    "rocprofv3 CSV": (rocprof, "csv", ["import", "{in}", "--format", "csv", "-o", "{out}"], 1e6),
    "Nsight Systems": (nsys, "sqlite", ["import", "{in}", "--format", "csv", "-o", "{out}"], 1e6),
    "Kineto trace": (kineto, "json", ["import", "{in}", "--format", "csv", "-o", "{out}"], 1e6),
    "Kineto trace, saved": (kineto, "json", SAVE, 1e6),
    "exam to CSV": (layers, "csv", [*EXAM, "csv"], 1e5),
    "exam to JSON": (layers, "csv", [*EXAM, "json"], 1e5),
    "exam to Markdown": (layers, "csv", [*EXAM, "md"], 1e5),
    "exam to HTML": (layers, "csv", [*EXAM, "html"], 1e5),
    "exam to text": (layers, "csv", [*EXAM, "text"], 1e5),
    "roofline to SVG": (layers, "csv", ["roofline", "{in}", "--on", "t4", "--format", "svg", "-o", "{out}"], 1e5),
}


def measured(eyeroof, words):
    """Exit code, processor seconds, peak MB and what it said, of one run."""
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen([eyeroof, *words], stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        err = said.read(200).decode(errors="replace")
    return child.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, err


def plot(rows, path):
    import math
    colours = ["#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#555555", "#0b8f8f", "#b5651d"]
    points = [(n, s) for _, results in rows for n, _, s, _ in results if s > 0]
    x0, x1 = math.log10(min(n for n, _ in points)), math.log10(max(n for n, _ in points))
    y0, y1 = math.floor(math.log10(min(s for _, s in points))), math.ceil(math.log10(max(s for _, s in points)))
    x = lambda n: 60 + 460 * (math.log10(n) - x0) / max(x1 - x0, 1e-9)
    y = lambda s: 330 - 300 * (math.log10(s) - y0) / max(y1 - y0, 1e-9)
    svg = ['<svg xmlns="http://www.w3.org/2000/svg" width="760" height="560" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>',
           '<text x="60" y="18">Processor seconds against rows; both logarithmic</text>']
    for e in range(y0, y1 + 1):
        svg.append(f'<path d="M60 {y(10**e):.1f}H520" stroke="#ddd"/><text x="8" y="{y(10**e) + 4:.1f}">1e{e} s</text>')
    for e in range(math.ceil(x0), math.floor(x1) + 1):
        svg.append(f'<text x="{x(10**e) - 10:.1f}" y="350">1e{e}</text>')
    for i, (name, results) in enumerate(rows):
        dash = ' stroke-dasharray="5 3"' if i >= len(colours) else ''
        line = " ".join(f"{x(n):.1f},{y(max(s, 10**y0)):.1f}" for n, _, s, _ in results)
        c = colours[i % len(colours)]
        svg.append(f'<polyline points="{line}" fill="none" stroke="{c}" stroke-width="2"{dash}/>'
                   f'<text x="540" y="{50 + 20 * i}" fill="{c}">{name}</text>')
    open(path, "w").write("\n".join(svg + ["</svg>\n"]))


def write_markdown(rows, path):
    import math
    with open(path, "w") as out:
        out.write("| what | rows | input MB | seconds | peak MB | exponent |\n|---|---:|---:|---:|---:|---:|\n")
        for name, results in rows:
            for i, (n, mb, seconds, memory) in enumerate(results):
                last = i > 0 and i + 1 == len(results)
                n0, _, s0, _ = results[i - 1]
                exponent = f"{math.log(seconds / s0) / math.log(n / n0):.2f}" if last else ""
                out.write(f"| {name if i == 0 else ''} | 10^{round(math.log10(n))} | {mb:.2f} | {seconds:.2f} | "
                          f"{memory:.0f} | {exponent} |\n")


def main():
    import math
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("eyeroof")
    ask.add_argument("--most", type=float, default=1e6)
    ask.add_argument("--only", default="", metavar="TEXT", help="rows whose name holds this text")
    ask.add_argument("--markdown", metavar="FILE", help="the table for docs/dev/format-evidence.md")
    ask.add_argument("-o", dest="plot")
    given = ask.parse_args()
    sizes = [10**e for e in range(3, 1 + int(round(math.log10(given.most))))]
    rows = []
    print(f"{'what':<22}{'rows':>9}{'input':>10}{'seconds':>9}{'MB/s':>8}{'memory':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for name, (make, ending, command, most) in CASES.items():
            if given.only not in name:
                continue
            results = []
            for size in (n for n in sizes if n <= most):
                file, out = f"{folder}/in.{ending}", f"{folder}/out"
                make(file, size)
                words = [w.replace("{in}", file).replace("{out}", out) for w in command]
                code, seconds, memory, err = measured(given.eyeroof, words)
                if code != 0:
                    print(f"{name:<22}{size:>9}  exit code {code}: {err}")
                    break
                mb = os.path.getsize(file) / 1e6
                results.append((size, mb, seconds, memory))
                print(f"{name:<22}{size:>9}{mb:>8.2f}MB{seconds:>9.2f}{mb / max(seconds, 1e-6):>8.1f}{memory:>8.0f}MB",
                      flush=True)
            if len(results) > 1:
                (n0, _, s0, _), (n1, _, s1, _) = results[-2:]
                print(f"{'':<22}exponent {math.log(s1 / s0) / math.log(n1 / n0):.2f}")
            rows.append((name, results))
    if given.markdown:
        write_markdown(rows, given.markdown)
    if given.plot:
        plot([r for r in rows if r[1]], given.plot)


if __name__ == "__main__":
    main()
