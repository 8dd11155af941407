#!/usr/bin/env python3
"""Files made at random, read by eyeroof and by another reader: what they say must be the same.

differential.py EYEROOF [FILES (10) [SEED (1)]]: FILES of each kind.
  CSV     layer tables and measurements, against Python's csv
  SQLite  exports of Nsight Systems, against sums that SQLite itself computes
  YAML    networks in every style, against PyYAML; networks that eyeroof wrote, read by PyYAML
  ONNX    graphs of convolutions, pooling, products, sums, against onnx's shape inference, and against the
          tensors that onnxruntime computes
What needs a Python package that is missing is skipped, with its name.
"""
import collections
import csv
import io
import json
import math
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

EYEROOF = os.path.realpath(sys.argv[1])
FILES = int(sys.argv[2]) if len(sys.argv) > 2 else 10
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1


class Different(Exception):
    pass


def printed(*words):
    end = subprocess.run([EYEROOF, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=300,
                         env={**os.environ, "XDG_DATA_HOME": "/nonexistent"})
    if end.returncode != 0:
        raise Different(f"exit {end.returncode}: {end.stderr[:300].decode(errors='replace')}")
    return end.stdout.decode()


def same(what, ours, theirs):
    if ours != theirs:
        raise Different(f"{what}: {ours!r}, the other reader says {theirs!r}")


def near(what, ours, theirs):
    if not math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-15):
        raise Different(f"{what}: {ours!r}, the other reader says {theirs!r}")


def layers_of(path):
    return json.loads(printed("net", "show", path, "--format", "json"))["layers"]


def name(rng, number):
    """A name that quoting and encodings matter to."""
    return f"L{number}" + rng.choice(["", "", " a, b", ' "quoted"', " #7", ": x", " ü→", " it's", " {a}", " [0]", " - b",
                                       "; c", " 100%", " &x", " *y", " !z", " null", " 0x10", " \\n"])


def layer(rng, number):
    """A layer as its columns; the work that follows from them."""
    made = {"name": name(rng, number), "op": rng.choice(["gemm", "bmm", "conv2d", "layernorm"])}
    if rng.random() < 0.3:
        made["count"] = rng.randint(1, 50)
    size = lambda: rng.choice([1, 7, 64, rng.randint(1, 5000)])
    count = made.get("count", 1)
    if made["op"] in ("gemm", "bmm"):
        made.update(m=size(), n=size(), k=size(), batch=rng.randint(1, 9))
        macs = made["batch"] * made["m"] * made["n"] * made["k"]
    elif made["op"] == "conv2d":
        window, groups = rng.choice([1, 3, 5]), rng.choice([1, 1, 2])
        made.update(n=rng.randint(1, 4), c=2 * rng.randint(1, 60), h=rng.randint(8, 60), w=rng.randint(8, 60),
                    k=2 * rng.randint(1, 60), r=window, s=window, stride=rng.randint(1, 3),
                    pad=rng.randint(0, window // 2), groups=groups)
        p, q = ((made[side] + 2 * made["pad"] - window) // made["stride"] + 1 for side in "hw")
        macs = made["n"] * made["k"] * p * q * made["c"] // groups * window * window
    else:
        made.update(rows=size(), cols=size())
        macs = 0
    return made, macs, count


COLUMNS = ["name", "op", "count", "batch", "m", "n", "k", "c", "h", "w", "r", "s", "stride", "pad", "groups", "rows",
           "cols"]


def check_layers(ours, theirs):
    """Layers of eyeroof against those that another reader took from the file: name, work, counts."""
    same("layers", len(ours), len(theirs))
    for one, (made, macs, count) in zip(ours, theirs):
        same("name", one["name"], made["name"])
        same(f"op of {made['name']}", one["op"], made["op"])
        same(f"count of {made['name']}", one["count"], count)
        same(f"MACs of {made['name']}", one["macs"], macs)
    return len(ours)


def differ_layer_csv(rng, folder):
    made = [layer(rng, i) for i in range(rng.randint(1, 30))]
    extra = [f"note{i}" for i in range(rng.randint(0, 4))]
    columns = COLUMNS + extra
    rng.shuffle(columns)
    notes = [{key: rng.choice(["", "x", "a,b", 'say "hi"', "two\nlines", "ü", "3.5", "a  b"]) for key in extra}
             for _ in made]
    text = io.StringIO()
    table = csv.writer(text, quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
                       lineterminator=rng.choice(["\n", "\r\n"]))
    table.writerow(columns)
    for (one, _, _), note in zip(made, notes):
        table.writerow([{**one, **note}.get(key, "") for key in columns])
    path = os.path.join(folder, "t.csv")
    with open(path, "w", newline="", encoding=rng.choice(["utf-8", "utf-8-sig"])) as file:
        file.write(text.getvalue())
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    # What Python's reader says, not what was meant.
    theirs = []
    for row, (_, macs, _) in zip(rows, made):
        theirs.append((row, macs, int(row["count"] or 1)))
    compared = check_layers(layers_of(path), theirs)
    kept = list(csv.DictReader(io.StringIO(printed("exam", path, "--on", "t4", "--format", "csv"), newline="")))
    for ours, row in zip(kept, rows):
        for key in extra:
            same(f"{key} of {row['name']}", ours[key], row[key])
    return compared


def check_sums(path, theirs):
    """Calls and times of each kernel against another reader's: {name: (calls, ns, least, most)}."""
    ours = {row["kernel"]: row for row in csv.DictReader(io.StringIO(printed("import", path, "--format", "csv")))}
    same("kernels", sorted(ours), sorted(theirs))
    for kernel, (calls, total, least, most) in theirs.items():
        same(f"calls of {kernel}", int(ours[kernel]["calls"]), calls)
        near(f"time of {kernel}", float(ours[kernel]["time_s"]), total * 1e-9)
        near(f"minimum of {kernel}", float(ours[kernel]["min_s"]), least * 1e-9)
        near(f"maximum of {kernel}", float(ours[kernel]["max_s"]), most * 1e-9)
    return len(theirs)


def differ_measured_csv(rng, folder):
    path = os.path.join(folder, "m.csv")
    names = [f"void k{i}<float, {i}>(float*)" + rng.choice(["", ' "x"', "; y"]) for i in range(rng.randint(1, 40))]
    with open(path, "w", newline="") as file:
        table = csv.writer(file, quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
                           lineterminator=rng.choice(["\n", "\r\n"]))
        table.writerow(["kernel", "layer", "time_us"])
        for _ in range(rng.randint(1, 3000)):
            table.writerow([rng.choice(names), f"l{rng.randint(0, 9)}", rng.choice([1, 2.5, 0.125, 1e3])])
    sums = collections.defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            sums[row["kernel"]].append(1000.0 * float(row["time_us"]))
    return check_sums(path, {one: (len(ns), sum(ns), min(ns), max(ns)) for one, ns in sums.items()})


def differ_sqlite(rng, folder):
    path = os.path.join(folder, "n.sqlite")
    if os.path.exists(path):
        os.remove(path)
    base = sqlite3.connect(path)
    base.execute(f"PRAGMA page_size={rng.choice([512, 4096, 65536])}")
    base.execute(f"PRAGMA encoding='{rng.choice(['UTF-8', 'UTF-16le', 'UTF-16be'])}'")
    base.execute(f"PRAGMA auto_vacuum={rng.choice(['NONE', 'FULL', 'INCREMENTAL'])}")
    more = ["contextId INTEGER", "registersPerThread INTEGER", "note TEXT"]
    columns = ["start INTEGER", "end INTEGER", "deviceId INTEGER", "streamId INTEGER", "correlationId INTEGER",
               "globalPid INTEGER", "demangledName INTEGER", "gridX INTEGER", "gridY INTEGER", "gridZ INTEGER",
               "blockX INTEGER", "blockY INTEGER", "blockZ INTEGER"] + rng.sample(more, rng.randint(0, 3))
    rng.shuffle(columns)
    base.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
    base.execute(f"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ({', '.join(columns)})")
    names = [f"void k{i}<{'float, ' * rng.choice([0, 1, 300])}{i}>(ü*)" for i in range(rng.randint(1, 50))]
    base.executemany("INSERT INTO StringIds VALUES (?, ?)", [(7 * i + 1, one) for i, one in enumerate(names)])
    keys = [column.split()[0] for column in columns]
    rows, at = [], rng.choice([0, 1 << 40, 1_700_000_000_000_000_000])
    for i in range(rng.randint(1, 4000)):
        at += rng.randint(1, 1000)
        duration = rng.choice([0, 1, 255, 70000, 1 << 33])
        row = {"start": at, "end": at + duration, "deviceId": 0, "streamId": 7,
               "correlationId": i, "globalPid": 5 << 24, "demangledName": 7 * rng.randrange(len(names)) + 1,
               "gridX": rng.randint(1, 1 << 20), "gridY": 1, "gridZ": 1, "blockX": 128, "blockY": 1, "blockZ": 1}
        at += duration  # the work of one stream is serial
        rows.append([row.get(key) for key in keys])
    base.executemany(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({', '.join('?' * len(keys))})", rows)
    if rng.random() < 0.5:  # pages that are free
        base.execute("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId % 3 = 1")
    base.commit()
    theirs = {row[0]: row[1:] for row in base.execute(
        "SELECT s.value, COUNT(*), SUM(k.end - k.start), MIN(k.end - k.start), MAX(k.end - k.start) "
        "FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName GROUP BY s.value")}
    base.close()
    return check_sums(path, theirs) if theirs else 0


def differ_yaml(rng, folder):
    import yaml

    made = [layer(rng, i) for i in range(rng.randint(1, 30))]
    document = {"name": name(rng, 0), "layers": [one for one, _, _ in made]}
    text = yaml.safe_dump(document, default_flow_style=rng.choice([True, False, None]), width=rng.choice([20, 80, 999]),
                          allow_unicode=rng.choice([True, False]), default_style=rng.choice([None, None, "'", '"']),
                          sort_keys=rng.choice([True, False]), indent=rng.choice([2, 4]),
                          explicit_start=rng.choice([True, False]), explicit_end=rng.choice([True, False]))
    text = text.replace('!!int "', '"').replace("!!int '", "'")  # a quoted number is one, too
    path = os.path.join(folder, "n.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    read = yaml.safe_load(text)
    theirs = [(one, macs, int(one.get("count", 1))) for one, (_, macs, _) in zip(read["layers"], made)]
    compared = check_layers(layers_of(path), theirs)
    written = yaml.safe_load(printed("net", "show", path, "--format", "yaml"))
    same("name written", written["name"], read["name"])
    same("layers written", [one["name"] for one in written["layers"]], [one["name"] for one in read["layers"]])
    return compared


def onnx_graph(rng):
    """A random network of images, its nodes by name."""
    from onnx import TensorProto, helper

    batch, channels, side = rng.randint(1, 4), rng.choice([3, 8, 16]), rng.choice([17, 32, 56])
    nodes, weights = [], []
    value, number, shape = "x", 0, [batch, channels, side, side]

    def weight(*dims):
        weights.append(helper.make_tensor(f"w{len(weights)}", TensorProto.FLOAT, dims, bytes(4 * math.prod(dims)), True))
        return weights[-1].name

    def add(op, inputs, **attributes):
        nonlocal number
        number += 1
        nodes.append(helper.make_node(op, inputs, [f"v{number}"], f"{op}_{number}", **attributes))
        return f"v{number}"

    for _ in range(rng.randint(2, 12)):
        kind = rng.choice(["Conv", "Conv", "Conv", "depthwise", "Relu", "MaxPool", "Add", "Concat"])
        if kind in ("Conv", "depthwise"):
            window = rng.choice([1, 3, 5])
            groups = channels if kind == "depthwise" else rng.choice([1, 1, 2]) if channels % 2 == 0 else 1
            out = channels if kind == "depthwise" else groups * rng.randint(1, 24)
            value = add("Conv", [value, weight(out, channels // groups, window, window)], group=groups,
                        kernel_shape=[window, window], pads=[rng.randint(0, 2), rng.randint(0, 2)] * 2,
                        strides=[1, rng.choice([1, 1, 2])], dilations=[1, 1])
            channels = out
        elif kind == "Relu":
            value = add("Relu", [value])
        elif kind == "MaxPool":
            value = add("MaxPool", [value], kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
        elif kind == "Add":
            value = add("Add", [value, add("Relu", [value])])
        elif channels < 200:
            value = add("Concat", [value, value], axis=1)
            channels *= 2
    value = add("GlobalAveragePool", [value])
    value = add("Flatten", [value], axis=1)
    value = add("Gemm", [value, weight(10, channels)], transB=1)
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(value, TensorProto.FLOAT, [batch, 10])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def inferred_shapes(model):
    """Of every tensor, by onnx's shape inference."""
    import onnx

    graph = onnx.shape_inference.infer_shapes(model, strict_mode=True, check_type=True).graph
    return {one.name: [dim.dim_value for dim in one.type.tensor_type.shape.dim]
            for one in [*graph.value_info, *graph.input, *graph.output]}


def windows_fit(model, shapes):
    """No window is larger than its padded image; onnx's inference lets some of these pass."""
    for node in model.graph.node:
        given = {one.name: list(one.ints) for one in node.attribute}
        if "kernel_shape" in given:
            low, high = given["pads"][:2], given["pads"][2:]
            image = [side + a + b for side, a, b in zip(shapes[node.input[0]][2:], low, high)]
            if any(window > side for window, side in zip(given["kernel_shape"], image)):
                return False
    return True


def computed_shapes(model):
    """Of every tensor, as onnxruntime computes it."""
    import numpy
    import onnxruntime
    from onnx import TensorProto, helper

    whole = type(model).FromString(model.SerializeToString())
    known = {one.name for one in whole.graph.output}
    whole.graph.output.extend(helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, None)
                              for node in whole.graph.node if node.output[0] not in known)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(whole.SerializeToString(), options, ["CPUExecutionProvider"])
    given = [dim.dim_value for dim in whole.graph.input[0].type.tensor_type.shape.dim]
    names = [one.name for one in session.get_outputs()]
    tensors = session.run(names, {"x": numpy.zeros(given, numpy.float32)})
    return {"x": given, **{one: list(tensor.shape) for one, tensor in zip(names, tensors)}}


def differ_onnx(rng, folder, shapes_of):
    import onnx

    while True:
        model = onnx_graph(rng)
        inferred = inferred_shapes(model)
        if min(min(shape) for shape in inferred.values()) >= 1 and windows_fit(model, inferred):
            break
    onnx.checker.check_model(model)
    shapes = shapes_of(model)
    shapes.update({one.name: list(one.dims) for one in model.graph.initializer})
    path = os.path.join(folder, "m.onnx")
    onnx.save(model, path)
    ours = {one["name"]: one for one in layers_of(path)}
    compared = 0
    for node in model.graph.node:
        out = math.prod(shapes[node.output[0]])
        if node.op_type in ("Conv", "Gemm", "MaxPool", "Relu", "Add") and node.name not in ours:
            raise Different(f"{node.name} is no layer")
        if node.name not in ours:
            continue
        one = ours[node.name]
        written = sum(tensor["elements"] for tensor in one["tensors"] if tensor["written"])
        same(f"elements that {node.name} writes", written, out)
        if node.op_type == "Conv":
            same(f"MACs of {node.name}", one["macs"], out * math.prod(shapes[node.input[1]][1:]))
        elif node.op_type == "Gemm":
            same(f"MACs of {node.name}", one["macs"], out * shapes[node.input[1]][1])
        compared += 1
    return compared


KINDS = [("layer CSV against Python's csv", differ_layer_csv, None),
         ("measured CSV against Python's csv", differ_measured_csv, None),
         ("SQLite exports against SQLite's sums", differ_sqlite, None),
         ("YAML against PyYAML", differ_yaml, "yaml"),
         ("ONNX against onnx's shape inference", lambda d, f: differ_onnx(d, f, inferred_shapes), "onnx"),
         ("ONNX against onnxruntime's tensors", lambda d, f: differ_onnx(d, f, computed_shapes), "onnxruntime")]

passed = failed = skipped = 0
with tempfile.TemporaryDirectory() as scratch:
    for title, differ, package in KINDS:
        try:
            if package:
                __import__(package)
        except ImportError:
            print(f"{title}: skipped, Python has no {package}")
            skipped += 1
            continue
        compared, wrong = 0, []
        for at in range(FILES):
            seed = SEED * 1_000_003 + at
            try:
                compared += differ(random.Random(seed), scratch)
            except Different as what:
                wrong.append(f"{title}, file {at}: {what}")
        print(f"{title}: {FILES} files, {compared} rows compared, {len(wrong)} differ")
        for one in wrong[:5]:
            print("WRONG:", one, file=sys.stderr)
        failed += bool(wrong) or compared == 0
        passed += not wrong and compared > 0
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed > 0)
