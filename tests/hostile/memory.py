#!/usr/bin/env python3
"""Memory against input size for every reader: a table, a plot, and a verdict.

memory.py EYEROOF [LARGEST_MB (64) [PLOT.svg [READER …]]]: each reader gets files of 1, 4, 16 … MB. Wrong is
what takes more than 512 MB, and what takes more than a tenth (and 32 MB) above its need at 64 MB for a larger
file. Readers that refuse a file by its size are measured up to there.
memory.py --draw PRINTED PLOT.svg draws what earlier runs printed.
"""
import gzip
import math
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

EYEROOF = os.path.realpath(sys.argv[1])
LARGEST = int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[1] != "--draw" else 64
PLOT = sys.argv[3] if len(sys.argv) > 3 else None
CHOSEN = sys.argv[4:]
MOST_MB = 512
DICE = random.Random(1)
NAMES = [f"void kernel_{i}<float, {i}>(float*, int)" for i in range(50)]


def repeated(path, head, block, tail, size, opener=open):
    """A file of this many bytes: a head, blocks of the number that they are given, and a tail."""
    with opener(path, "wb") as file:
        written = file.write(head)
        number = 0
        while written < size:
            text = b"".join(block(number + i) for i in range(1000))
            number += 1000
            written += file.write(text)
        file.write(tail)


def plain(path, size, name=lambda i: NAMES[i % 50], opener=open):
    repeated(path, b"kernel,layer,time_us,flops_fp16,bytes_dram\n",
             lambda i: f'"{name(i)}",l{i % 30},{1 + i % 7}.5,{i % 1000},{i % 4096}\n'.encode(), b"", size, opener)


def packed(path, size):  # eight times as much comes out, from one block of rows again and again
    rows = b"".join(f'"k",l{i % 30},{1 + i % 7}.5,{i % 1000},{i % 4096}\n'.encode() for i in range(1 << 16))
    repeated(path, b"kernel,layer,time_us,flops_fp16,bytes_dram\n",
             lambda i: rows if i % 1000 == 0 else b"", b"", 8 * size, lambda p, m: gzip.open(p, m, compresslevel=1))


def kineto(path, size, kernels=True, shape=lambda i: 1 + i % 64):
    def block(i):
        at = 10 * i
        text = (f'{{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":{at},"dur":9,"args":'
                f'{{"External id":{i},"Input Dims":[[{shape(i)},8],[8,4]],"Input type":["float","float"]}}}},\n')
        if kernels:
            text += (f'{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{at + 2},'
                     f'"dur":1,"args":{{"correlation":{i}}}}},\n'
                     f'{{"ph":"X","cat":"kernel","name":"{NAMES[i % 50]}","pid":0,"tid":7,"ts":{at + 4},"dur":3,'
                     f'"args":{{"correlation":{i},"External id":{i},"stream":7,"device":0,"grid":[{1 + i % 9},1,1],'
                     f'"block":[128,1,1]}}}},\n')
        return text.encode()
    repeated(path, b'{"schemaVersion":1,"deviceProperties":[],"traceEvents":[\n', block,
             b'{"ph":"M","name":"end"}]}\n', size)


def ncu(path, size):
    metrics = [f"sm__metric_{i}.sum" for i in range(20)]
    head = '"ID","Process ID","Kernel Name","Block Size","Grid Size",' + ",".join(f'"{m}"' for m in metrics) + "\n"
    repeated(path, head.encode(), lambda i: (f'"{i}","1","{NAMES[i % 50]}","(128, 1, 1)","({1 + i % 9}, 1, 1)",' +
                                             ",".join(f'"{i * m % 977}"' for m in range(20)) + "\n").encode(),
             b"", size)


def ncu_long(path, size):
    repeated(path, b'"ID","Process ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"\n',
             lambda i: "".join(f'"{i}","1","{NAMES[i % 50]}","S","sm__m_{m}.sum","byte","{i % 977}"\n'
                               for m in range(4)).encode(), b"", size)


def rocprof(path, size):
    repeated(path, b"Kernel_Name,Start_Timestamp,End_Timestamp,Agent_Id,Queue_Id,Dispatch_Id\n",
             lambda i: f'"{NAMES[i % 50]}",{1000 * i},{1000 * i + 700},4,1,{i}\n'.encode(), b"", size)


def rocprof_counters(path, size):
    repeated(path, b"Dispatch_Id,Agent_Id,Kernel_Name,Counter_Name,Counter_Value\n",
             lambda i: "".join(f'{i},4,"{NAMES[i % 50]}",C{c},{i % 99}\n' for c in range(4)).encode(), b"", size)


def profile(path, size):
    head = '{"eyeroof_profile":1,"run":{"tool":"t"}}\n{"source":"s"}\n' + "".join(
        f'{{"kernel":{{"name":"{name}"}}}}\n' for name in NAMES)
    repeated(path, head.encode(),
             lambda i: (f'{{"launch":{{"block":[128,1,1],"counters":{{"bytes.dram":{i % 99}.0}},"duration_ns":'
                        f'{1 + i % 9}.0,"grid":[{1 + i % 9},1,1],"kernel":{i % 50},"start_ns":{10 * i}}}}}\n').encode(),
             b"", size)


def nsys(path, size):
    if os.path.exists(path):
        os.remove(path)
    base = sqlite3.connect(path)
    base.executescript("""PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
            correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, gridX INTEGER, gridY INTEGER,
            gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER,
            correlationId INTEGER, nameId INTEGER);
        CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);""")
    base.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(NAMES))
    i = 0
    while os.path.getsize(path) < size:
        rows = range(i, i + 5000)
        base.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?,?,0,7,?,?,?,?,1,1,128,1,1)",
                         ((100 * n, 100 * n + 60, n, 1 << 24, n % 50, 1 + n % 9) for n in rows))
        base.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,?,?,0)",
                         ((100 * n - 20, 100 * n - 10, (1 << 24) + 1, n) for n in rows))
        base.executemany("INSERT INTO NVTX_EVENTS VALUES (?,?,59,?,?)",
                         ((100 * n - 30, 100 * n - 5, f"layer{n % 40}", (1 << 24) + 1) for n in rows))
        base.commit()
        i += 5000
    base.close()


def layers(path, size):
    repeated(path, b"name,op,m,n,k,note\n", lambda i: f"layer{i},gemm,64,{1 + i % 64},64,x\n".encode(), b"", size)


def network(path, size):
    repeated(path, b"name: n\nlayers:\n",
             lambda i: f"  - {{name: layer{i}, op: gemm, m: 64, n: {1 + i % 64}, k: 64}}\n".encode(), b"", size)


def field(number, payload):
    """A length-delimited field of a protocol buffer."""
    size, length = len(payload), b""
    while True:
        size, low = size >> 7, size & 127
        length += bytes([low | (128 if size else 0)])
        if not size:
            return bytes([number << 3 | 2]) + length + payload


def onnx(path, size):
    shape = field(2, b"".join(field(1, b"\x08\x08") for _ in range(2)))  # dimensions of 8
    value = lambda name: field(1, name) + field(2, field(1, b"\x08\x01" + shape))
    body, total, i = [], 0, 0
    while total < size:
        node = field(1, field(1, b"x%d" % i) + field(2, b"x%d" % (i + 1)) + field(3, b"n%d" % i) + field(4, b"Relu"))
        body.append(node)
        total += len(node)
        i += 1
    graph = b"".join(body) + field(2, b"g") + field(11, value(b"x0")) + field(12, value(b"x%d" % i))
    with open(path, "wb") as file:
        file.write(b"\x08\x08" + field(7, graph) + field(8, b"\x10\x11"))


READERS = {
    "plain CSV": (plain, "import FILE", "plain.csv"),
    "plain CSV, all names differ": (lambda p, s: plain(p, s, lambda i: f"kernel number {i}"), "import FILE", "names.csv"),
    "plain CSV, packed": (packed, "import FILE", "plain.csv.gz"),
    "PyTorch trace": (kineto, "import FILE", "trace.json"),
    "PyTorch trace, all shapes differ": (lambda p, s: kineto(p, s, True, lambda i: 1 + i), "import FILE", "shapes.json"),
    "PyTorch CPU trace": (lambda p, s: kineto(p, s, False), "import FILE", "cpu.json"),
    "PyTorch CPU trace, all shapes differ": (lambda p, s: kineto(p, s, False, lambda i: 1 + i), "import FILE",
                                                     "cpu_shapes.json"),
    "Nsight Compute, wide": (ncu, "import FILE", "ncu.csv"),
    "Nsight Compute, long": (ncu_long, "import FILE", "ncu_long.csv"),
    "Nsight Systems": (nsys, "import FILE", "nsys.sqlite"),
    "rocprof trace": (rocprof, "import FILE", "rocprof.csv"),
    "rocprof counters": (rocprof_counters, "import FILE", "counters.csv"),
    "profile": (profile, "import FILE", "profile.jsonl"),
    "profile, filtered": (profile, "import FILE --kernel kernel_7", "profile.jsonl"),
    "profile, laid over a network": (profile, "import FILE --match alexnet", "profile.jsonl"),
    "layer CSV": (layers, "net check FILE", "layers.csv"),
    "layer CSV, examined": (layers, "exam FILE --on h100-sxm-80gb", "layers.csv"),
    "layer CSV, compared": (layers, "diff FILE@t4 FILE@l4", "layers.csv"),
    "layer CSV, upgraded": (layers, "upgrade FILE --from t4 --to l4", "layers.csv"),
    "network YAML": (network, "net check FILE", "network.yaml"),
    "ONNX": (onnx, "net check FILE", "model.onnx"),
}


def measured(words):
    child = subprocess.Popen([EYEROOF, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, env={**os.environ, "XDG_DATA_HOME": "/nonexistent"})
    said = child.stderr.read().decode(errors="replace")
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, used.ru_maxrss / 1024, used.ru_utime + used.ru_stime, said


def plot(results, path):
    """A panel for each reader: peak memory over the input's size, both axes logarithmic, the limit in red."""
    columns, width, height, left, top = 4, 180, 110, 46, 34
    sizes = sorted({size for points in results.values() for size, _ in points})
    rows = -(-len(results) // columns)
    high = top + rows * (height + 44)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns * (width + 54) + 10} {high}" '
             'font-family="sans-serif" font-size="10"><rect width="100%" height="100%" fill="white"/>'
             f'<text x="{left}" y="16" font-size="12">Peak memory against the size of the input (MB); '
             f'red: the limit of {MOST_MB} MB</text>']
    for number, (name, points) in enumerate(results.items()):
        x0, y0 = left + number % columns * (width + 54), top + number // columns * (height + 44) + 14
        x = lambda size: x0 + math.log2(size / sizes[0]) / max(1, math.log2(sizes[-1] / sizes[0])) * width
        y = lambda mb: y0 + (math.log2(1024) - math.log2(max(8, mb))) / 7 * height
        parts.append(f'<text x="{x0}" y="{y0 - 5}" font-weight="bold">{name}</text>')
        for mb in (8, 64, 512):
            parts.append(f'<path d="M{x0} {y(mb):.1f}h{width}" stroke="{"#c00" if mb == MOST_MB else "#ddd"}"/>'
                         f'<text x="{x0 - 5}" y="{y(mb) + 3:.1f}" text-anchor="end">{mb}</text>')
        for size in sizes:
            parts.append(f'<text x="{x(size):.1f}" y="{y0 + height + 13}" text-anchor="middle">{size}</text>')
        line = " ".join(f"{x(size):.1f},{y(mb):.1f}" for size, mb in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="#06c" stroke-width="1.5"/>')
        parts += [f'<circle cx="{x(size):.1f}" cy="{y(mb):.1f}" r="2.5" fill="#06c"><title>{size} MB: {mb:.0f} MB'
                  '</title></circle>' for size, mb in points]
    with open(path, "w") as file:
        file.write("\n".join(parts) + "\n</svg>\n")


def printed(path):
    """The results that earlier runs printed; of a reader that stands there twice, the last."""
    results = {}
    for line in open(path):
        found = re.match(r"(.+?) +(\d+) MB +(\d+) MB +[\d.]+ s  exit", line)
        if found and found[1] in READERS:
            points = results.setdefault(found[1], {})
            points[int(found[2])] = float(found[3])
    return {name: sorted(results[name].items()) for name in READERS if name in results}


if sys.argv[1] == "--draw":
    plot(printed(sys.argv[2]), sys.argv[3])
    sys.exit()
results, wrong = {}, []
with tempfile.TemporaryDirectory() as folder:
    for name, (make, command, file) in READERS.items():
        if CHOSEN and not any(word in name for word in CHOSEN):
            continue
        points, size = [], 1
        while size <= LARGEST:
            path = os.path.join(folder, file)
            make(path, size << 20)
            status, mb, seconds, said = measured([word.replace("FILE", path) for word in command.split()])
            os.remove(path)
            first = said.splitlines()[0].replace(folder + "/", "")[:70] if said else ""
            print(f"{name:<30} {size:>5} MB  {mb:>6.0f} MB  {seconds:>6.1f} s  exit {status}  {first}", flush=True)
            if status < 0 or mb > MOST_MB or "internal" in said:
                wrong.append(f"{name}: {mb:.0f} MB for {size} MB, exit {status}")
            points.append((size, mb))
            if "file-too-large" in said or "too-large" in said or "too-many" in said:
                break
            size *= 4
        results[name] = points
        at_64 = max((mb for size, mb in points if size <= 64), default=0)
        wrong += [f"{name}: grows to {mb:.0f} MB at {size} MB" for size, mb in points
                  if size > 64 and mb > max(1.1 * at_64, at_64 + 32)]
if PLOT:
    plot(results, PLOT)
for one in wrong:
    print("WRONG:", one, file=sys.stderr)
print(f"{len(results) - len(wrong) if len(wrong) < len(results) else 0} passed, {len(wrong)} failed, 0 skipped")
sys.exit(bool(wrong))
