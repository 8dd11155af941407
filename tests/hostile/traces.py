#!/usr/bin/env python3
"""Hostile traces of PyTorch through every command that takes one: crashes, hangs, memory, and half answers.

traces.py EYEROOF [RANDOM (40) [SEED (1) [WORD]]]: cases by name (all, or those with the word), then RANDOM traces in
which members of events are replaced by odd values and events are doubled or dropped. Wrong is: a signal, more than
10 s of processor time (`improve`: 5 ms an operator) or 512 MB, an exit code above 4, an error without a line that says
why, JSON with NaN or infinity, and a negative time. With fewer than 40 random traces the large cases have a twentieth of their size, and `improve`, which costs
every operator 240 times, is not asked of them.
"""
import copy
import json
import math
import os
import random
import subprocess
import sys
import tempfile

EYEROOF = os.path.realpath(sys.argv[1])
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 40
DICE = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
MANY = 100_000 if COUNT >= 40 else 5_000
LARGE = 500_000  # bytes of a trace
SAMPLE = os.path.realpath(os.path.join(os.path.dirname(__file__), "../profiles/samples/step.json"))
COMMANDS = ["exam FILE --format json", "exam FILE", "import FILE --format json", "net check FILE",
            "timeline FILE --format json", "roofline FILE --format json", "memory FILE --format json",
            "improve FILE --format json", "upgrade FILE --to l4 --format json", "diff FILE SAMPLE --format json",
            "exam FILE --format html", "exam FILE SAMPLE --format json"]
ODD = ["-1", "0", "1e308", "-1e308", "1e400", "NaN", "1e-308", "9223372036854775807", "18446744073709551615",
       "99999999999999999999999", "0.5", "null", "true", '""', '"x"', '"\\u0000"', '"\\ud800"', "[]", "{}", "[[]]",
       "[[0,8],[8,4]]", "[[-1,8],[8,4]]", "[[4611686018427387904,4611686018427387904],[8,8]]",
       "[[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],[1]]", "[[8,8.5],[8]]", '[["8",8],[8]]', "[[8,8],[8,8],[8,8],[8,8]]",
       '["float","float"]', '["c10::Half",""]', '["int4","complex<float>"]', '"aten::mm"', '"aten::convolution"',
       '"aten::_scaled_dot_product_flash_attention"', '"ProfilerStep#1"', '"nccl:all_reduce"', '"[unclosed"',
       '"' + "n" * 20000 + '"', '"=cmd|x"', '"</script><script>"', "[" * 500 + "]" * 500]


def cpu(name, ts, dur, number, dims=None, types=None, **more):
    args = {"External id": number, **more}
    if dims is not None:
        args |= {"Input Dims": dims, "Input type": types or ["float"] * len(dims)}
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, "args": args}


def launch(ts, number, owner=None):
    return {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts, "dur": 1,
            "args": {"correlation": number, "External id": owner if owner is not None else number}}


def kernel(name, ts, dur, number, owner=None, **more):
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur,
            "args": {"correlation": number, "External id": owner if owner is not None else number, "stream": 7,
                     "device": 0, "grid": [1, 1, 1], "block": [128, 1, 1], **more}}


def products(count, dims=lambda i: [[64, 8 + i % 64], [8 + i % 64, 4]], name=lambda i: "gemm", at=lambda i: 20 * i,
             dur=lambda i: 5):
    events = []
    for i in range(count):
        events += [cpu("aten::mm", at(i), 10, i, dims(i)), launch(at(i) + 2, i), kernel(name(i), at(i) + 4, dur(i), i)]
    return events


def nested(depth):
    """Operators within operators, each with the next one inside, and one kernel of the innermost."""
    events = [cpu("aten::linear", i, 4 * depth - 2 * i, i, [[8, 8], [8, 8]]) for i in range(depth)]
    return events + [launch(2 * depth, depth), kernel("k", 5 * depth, 3, depth)]


def modules(depth):
    events = [{"ph": "X", "cat": "python_function", "name": f"nn.Module: M{i}_0", "pid": 1, "tid": 1, "ts": i,
               "dur": 8 * depth - 2 * i, "args": {"Python id": i, "Python parent id": i - 1 if i else None,
                                                  "Python module id": 0}} for i in range(depth)]
    ring = {"ph": "X", "cat": "python_function", "name": "nn.Module: Ring_0", "pid": 1, "tid": 1, "ts": 0, "dur": 1,
            "args": {"Python id": 9, "Python parent id": 9}}
    return events + [ring, cpu("aten::mm", depth + 1, 5, 1, [[8, 8], [8, 8]]), launch(depth + 2, 1),
                     kernel("k", depth + 9, 3, 1)]


def steps(count, begin, length, stride):
    return [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 1, "tid": 1,
             "ts": begin + stride * i, "dur": length, "args": {}} for i in range(count)]


# `improve` costs every operator for each of 240 combinations of changes: 2.6 ms an operator on a quiet processor
MOST_S = {"improve": max(10.0, min(MANY, 25_000) * 5e-3)}
CASES = {
    "100,000 kernels of different names": lambda: products(MANY, name=lambda i: f"kernel {i}"),
    "100,000 operators of different shapes": lambda: products(MANY, lambda i: [[1 + i, 8], [8, 1 + i // 3]]),
    "25,000 operators of different shapes": lambda: products(MANY // 4, lambda i: [[1 + i, 8], [8, 1 + i // 3]]),
    "operators 20,000 deep": lambda: nested(MANY // 5),
    "modules 20,000 deep, and one its own parent": lambda: modules(MANY // 5),
    "durations of 1e308": lambda: products(5, dur=lambda i: 1e308),
    "durations below zero": lambda: products(5, dur=lambda i: -5),
    "durations of zero": lambda: products(5, dur=lambda i: 0),
    "times of 1e308": lambda: products(5, at=lambda i: 1e308),
    "times of 1e18 us": lambda: products(5, at=lambda i: 1e18 + i),
    "times before 1970": lambda: products(5, at=lambda i: -1e15 + 20 * i),
    "all at one time": lambda: products(2000, at=lambda i: 7),
    "sizes of zero": lambda: products(5, lambda i: [[0, 8], [8, 0]]),
    "sizes below zero": lambda: products(5, lambda i: [[-4, 8], [8, -2]]),
    "sizes that overflow": lambda: products(5, lambda i: [[1 << 40, 1 << 40], [1 << 40, 1 << 40]]),
    "sizes of 2^62": lambda: products(5, lambda i: [[1 << 62, 4], [4, 1 << 62]]),
    "shapes of 1,000 dimensions": lambda: products(5, lambda i: [[1] * 1000, [1] * 1000]),
    "1,000 inputs": lambda: products(5, lambda i: [[8, 8]] * 1000),
    "one correlation for all": lambda: [{**e, "args": {**e["args"], "correlation": 1, "External id": 1}}
                                        for e in products(3000)],
    "kernels before their launches": lambda: list(reversed(products(3000))),
    "a step within a step": lambda: steps(200, 0, 100000, 1) + products(100),
    "10,000 steps": lambda: steps(MANY // 10, 0, 20, 20) + products(MANY // 10),
    "steps without kernels": lambda: steps(5, -1e6, 5, 10) + products(20),
    "10,000 streams": lambda: [{**e, "tid": i, "args": {**e["args"], "stream": i}} if e["cat"] == "kernel" else e
                               for i, e in enumerate(products(MANY // 10))],
    "10,000 devices": lambda: [{**e, "pid": i, "args": {**e["args"], "device": i}} if e["cat"] == "kernel" else e
                               for i, e in enumerate(products(MANY // 10))],
    "equal names in all cases": lambda: [{**e, "name": "Aten::MM" if i % 2 else "aten::mm"}
                                         for i, e in enumerate(products(200))],
    "beginnings without ends": lambda: [{"ph": "B", "name": "x", "pid": 1, "tid": 1, "ts": i} for i in range(5000)] +
    products(5),
    "flows to nowhere": lambda: [{"ph": "s", "id": i, "cat": "fwdbwd", "name": "fwdbwd", "pid": 1, "tid": 1, "ts": i}
                                 for i in range(5000)] + products(5),
    "no events": lambda: [],
    "events that are no objects": lambda: [1, None, "x", [], [[]], True] + products(3),
    "nothing but kernels": lambda: [e for e in products(50) if e["cat"] == "kernel"],
    "nothing but launches": lambda: [e for e in products(50) if e["cat"] == "cuda_runtime"],
    "operators that hold the same kernel": lambda: products(5) + [cpu("aten::addmm", 0, 500, 0, [[8, 8], [8, 8]])],
    "convolutions of odd arguments": lambda: [
        e for i, concrete in enumerate([["", "", "", "[0, 0]", "[-1]", "[0]", "False", "[]", "0"],
                                        ["", "", "", "[9223372036854775807]", "[1e9]", "[1]", "?", "", "-1"],
                                        ["", "", "", "[[[", "]", ",", "True", "[1,1]", "4294967296"]])
        for e in (cpu("aten::convolution", 30 * i, 10, i, [[1, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], [], [], []],
                      **{"Concrete Inputs": concrete}), launch(30 * i + 1, i), kernel("c", 30 * i + 3, 2, i))],
}


def odd_trace():
    """The sample with a few members replaced; replaced values stand as marks and are put in as text."""
    trace = json.load(open(SAMPLE))
    events = trace["traceEvents"]
    marks = []
    for _ in range(DICE.randrange(1, 12)):
        event = DICE.choice(events)
        kind = DICE.randrange(6)
        if kind == 0:
            events.insert(DICE.randrange(len(events)), copy.deepcopy(event))
        elif kind == 1:
            events.remove(event)
        else:
            place = event.get("args") if kind > 3 and isinstance(event.get("args"), dict) else event
            if place:
                marks.append(DICE.choice(ODD))
                place[DICE.choice(list(place))] = f"@@{len(marks) - 1}@@"
    if DICE.random() < 0.2:
        marks.append(DICE.choice(ODD))
        properties = trace["deviceProperties"][0]
        properties[DICE.choice(list(properties))] = f"@@{len(marks) - 1}@@"
    text = json.dumps(trace)
    for number, mark in enumerate(marks):
        text = text.replace(f'"@@{number}@@"', mark)
    return text[:DICE.randrange(len(text))] if DICE.random() < 0.05 else text


def no_number(word):
    raise ValueError(f"{word} in JSON")


def negative_time(value, path=""):
    """The first member that is a time and below zero."""
    if isinstance(value, dict):
        for key, one in value.items():
            if (key.endswith(("time_s", "duration_ns", "duration_s")) and isinstance(one, (int, float)) and
                    (one < 0 or not math.isfinite(one))):
                return f"{path}/{key} = {one}"
            found = negative_time(one, f"{path}/{key}")
            if found:
                return found
    if isinstance(value, list):
        for number, one in enumerate(value):
            found = negative_time(one, f"{path}/{number}")
            if found:
                return found
    return None


def judged(words, folder):
    """What is wrong with one run, and its seconds and MB."""
    with open(f"{folder}/out", "wb") as out, open(f"{folder}/err", "wb") as err:
        child = subprocess.Popen([EYEROOF, *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                 env={**os.environ, "XDG_DATA_HOME": "/nonexistent"}, preexec_fn=limited)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    code, seconds, mb = child.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    said = open(f"{folder}/err", errors="replace").read()
    printed = open(f"{folder}/out", errors="replace").read()
    wrong = []
    if code < 0 or code > 4 or "internal" in said:
        wrong.append(f"exit {code}: {said[:300]}")
    if seconds > MOST_S.get(words[0], 10.0) or mb > 512:
        wrong.append(f"{seconds:.1f} s, {mb:.0f} MB")
    if code > 0 and "error" not in said and code != 1:
        wrong.append(f"exit {code} without a reason: {said[:200]}")
    if code == 0 and "json" in words:
        try:
            texts = printed.splitlines() if words[0] == "import" else [printed]
            found = [negative_time(json.loads(text, parse_constant=no_number)) for text in texts]
            wrong += [one for one in found if one][:1]
        except ValueError as error:
            wrong.append(f"no JSON: {error}")
    if code == 0 and "json" not in words and any(word in printed.split() for word in ("nan", "inf", "-nan", "-inf")):
        wrong.append("nan or inf in the answer")
    return wrong, seconds, mb


def limited():
    import resource
    most = int(max(MOST_S.values())) + 10
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))


def main():
    failed, tried, slowest, largest = 0, 0, (0.0, ""), (0.0, "")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/trace.json"
        named = [(name, json.dumps({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
                                    "traceEvents": make()})) for name, make in CASES.items()
                 if len(sys.argv) <= 4 or sys.argv[4] in name]
        for name, text in named + [(f"random {i}", None) for i in range(COUNT)]:
            text = text if text is not None else odd_trace()
            with open(path, "w") as file:
                file.write(text)
            bad = []
            for line in COMMANDS:
                if line.startswith("improve") and COUNT < 40 and len(text) > LARGE:
                    continue
                words = [{"FILE": path, "SAMPLE": SAMPLE}.get(word, word) for word in line.split()]
                wrong, seconds, mb = judged(words, folder)
                slowest, largest = max(slowest, (seconds, f"{name}, {line}")), max(largest, (mb, f"{name}, {line}"))
                bad += [f"{line}: {one}" for one in wrong]
                tried += 1
            failed += bool(bad)
            for one in bad:
                print(f"WRONG: {name}: {one}".replace(folder, ""), file=sys.stderr, flush=True)
            if bad and os.environ.get("KEEP"):
                with open(os.path.join(os.environ["KEEP"], name.replace(" ", "_") + ".json"), "w") as kept:
                    kept.write(text)
        print(f"{tried} runs; slowest {slowest[0]:.1f} s ({slowest[1]}), largest {largest[0]:.0f} MB ({largest[1]})",
              file=sys.stderr)
        print(f"{len(named) + COUNT - failed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
