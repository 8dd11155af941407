#!/usr/bin/env python3
"""Malformed inputs, made from grammars, through the readers of four families.

grammars.py EYEROOF [EACH]: EACH inputs a family (500; CI takes 40). A grammar draws a valid
document; one mutation makes exactly one place wrong, in a way that the format forbids. The program
must refuse the document within 5 s, by an error with a hint or a place, and write no result. Valid
documents must pass, or the grammar is no grammar of the format.
"""
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile

EYEROOF = os.path.realpath(sys.argv[1])
EACH = int(sys.argv[2]) if len(sys.argv) > 2 else 500
LIMIT_S = 5


def number(r, least, most):
    return r.choice([r.randint(least, most), round(r.uniform(least, most), 2)])


# ---- documents: lists of lines; what a mutation may touch is marked by the kind of its value -------

def machine(r):
    words = r.choice([8, 16])
    return [
        ("top", "eyeroof: machine/1"), ("top", "kind: accelerator"), ("id", f"id: drawn-{r.randint(1, 99)}"),
        ("text", "name: Drawn"), ("text", "source: drawn"), ("list", "sources: {drawn: \"a drawn machine\"}"),
        ("word", "confidence: user"), ("unit", f"clock: {number(r, 1, 4)} GHz"),
        ("map", f"words: {{input: {words} bit, weight: {words} bit, output: 32 bit}}"),
        ("unit", f"mac_energy: {number(r, 1, 4)} pJ"), ("top", "levels:"),
        ("item", "  - name: DRAM"), ("key", "    stores:"), ("word", "      - operands: all"),
        ("unit", "        capacity: unlimited"), ("unit", f"        energy: {number(r, 1, 200)} pJ"),
        ("key", "    channels:"), ("item", "      - name: link"), ("word", "        operands: all"),
        ("unit", f"        down: {number(r, 1, 90)} GB/s"), ("flag", "        half_duplex: true"),
        ("word", "        cast: multicast"), ("flag", "        reduces: false"),
        ("item", "  - name: SRAM"), ("key", "    stores:"), ("word", "      - operands: all"),
        ("unit", f"        capacity: {2 ** r.randint(2, 11)} KiB"), ("count", f"        buffers: {r.randint(1, 2)}"),
        ("unit", f"        energy: {number(r, 1, 9)} pJ"),
        ("map", f"    fanout: {{x: {r.randint(1, 64)}, y: {r.randint(1, 64)}}}"),
        ("item", "  - name: PE"), ("key", "    stores:"), ("word", "      - operands: all"),
        ("unit", f"        capacity: {r.randint(16, 64)} B"), ("unit", "        energy: 1 pJ"),
        ("top", "dataflows:"), ("word", "  - kind: ws"), ("key", "    spatial:"), ("list", "      x: [K]"),
        ("list", "      y: [C]"), ("word", "    stationary: weight"),
    ]


def network_yaml(r):
    lines = [("text", "name: Drawn"), ("top", "layers:")]
    for i in range(r.randint(1, 4)):
        if r.random() < 0.5:
            lines.append(("layer", f"  - {{name: g{i}, op: gemm, m: {r.randint(1, 999)}, "
                                   f"n: {r.randint(1, 999)}, k: {r.randint(1, 999)}}}"))
        else:
            side = r.randint(7, 60)
            lines.append(("layer", f"  - {{name: c{i}, op: conv2d, n: 1, k: {r.randint(1, 99)}, c: {r.randint(1, 99)}, "
                                   f"h: {side}, w: {side}, r: 3, s: 3}}"))
    return lines


def layer_csv(r):
    rows = [["name", "op", "count", "dtype", "m", "n", "k"]]
    for i in range(r.randint(1, 6)):
        rows.append([f"l{i}", "gemm", str(r.randint(1, 9)), r.choice(["fp16", "int8", "bf16"])] +
                    [str(r.randint(1, 4096)) for _ in range(3)])
    return rows


def trace(r):
    events = []
    at = 1.0
    for i in range(r.randint(1, 6)):
        took = round(r.uniform(1, 900), 3)
        events.append(['"ph": "X"', '"cat": "kernel"', f'"name": "kernel_{i}"', f'"ts": {at}', f'"dur": {took}',
                       f'"args": {{"stream": 7, "correlation": {i + 1}}}'])
        at = round(at + took, 3)
    return events


def times_csv(r):
    rows = [["name", "duration_ns"]]
    for i in range(r.randint(1, 6)):
        rows.append([f"kernel_{i}", str(r.randint(100, 10 ** 7))])
    return rows


def constraints(r):
    lines = [("top", "mapspace_constraints:")]
    for level, trips in (("DRAM", f"N=1 K={r.choice([1, 2, 5])}"), ("SRAM", "N=1 G=1")):
        lines += [("item", f"  - target: {level}"), ("word", "    type: temporal"), ("map", f"    factors: {trips}")]
    return lines


# ---- mutations: (kind, document) -> text, or None where there is no such place -----------------------

UNITS = ["parsecs", "GB//s", "%", "Ω"]
WRONG = ["-3", "nan", "inf", "1e400", "0x1z", "[]", "{}", "''", "1,5", "NaN GB/s", "--1"]


def set_value(line, value):
    head, _, _ = line.partition(": ")
    return f"{head}: {value}"


def at_kind(r, lines, kinds):
    places = [i for i, (kind, _) in enumerate(lines) if kind in kinds]
    return r.choice(places) if places else None


def text_of(lines):
    return "\n".join(line for _, line in lines) + "\n"


def constraint_mutations():
    def change(old, *new):
        def apply(r, lines):
            place = r.choice([i for i, (_, line) in enumerate(lines) if old in line])
            head = lines[place][1][:lines[place][1].find(old)]
            lines[place] = ("", head + r.choice(new))
            return text_of(lines)
        return apply

    return {
        "trips of no number": change("K=", "K=two", "K=1.5", "K=-2", "K=1e3", "K=99999999999999999999"),
        "unknown dimension": change("K=", "X=3", "Kernel=2"), "no trips": change("K=", "K", "=3", "K=="),
        "unknown level": change("SRAM", "SRAMM", "''", "[SRAM]", "{a: 1}"),
        "unknown word": change("type: ", "type: sideways", "type: [temporal]", "type: 3"),
        "unknown key": change("factors: ", "factorz: K=2"), "key twice": change("type: ", "type: temporal\n    type: spatial"),
        "tab as indent": change("    factors", "\tfactors: K=1"), "cut off": change("factors: ", "factors: [K=", "factors: {"),
        "a map of trips": change("factors: ", "factors: {K: {C: 1}}"),
        "a scalar for a list": change("mapspace_constraints:", "mapspace_constraints: 3\nx:"),
    }


def yaml_mutations():
    def change(kinds, make):
        def apply(r, lines):
            place = at_kind(r, lines, kinds)
            lines[place] = (lines[place][0], make(r, lines[place][1]))
            return text_of(lines)
        return apply

    def cut(r, lines):
        text = text_of(lines)
        return text[:text.rfind("{") + 1] if "{" in text else None

    def twice(r, lines):
        place = at_kind(r, lines, ["unit", "flag", "map", "top"])
        if place is None or lines[place][1].lstrip().startswith("-"):
            return None
        lines.insert(place, lines[place])
        return text_of(lines)

    def unknown(r, lines):
        place = at_kind(r, lines, ["unit", "flag", "map"])
        if place is None:
            return None
        indent = re.match(" *", lines[place][1]).group()
        lines.insert(place, ("", f"{indent}{r.choice(['flavor', 'capacitty', 'xx', 'Names'])}: 3"))
        return text_of(lines)

    found = {
        "value of no number": change(["unit", "count"], lambda r, line: set_value(line, r.choice(WRONG))),
        "cut off": cut, "key twice": twice, "unknown key": unknown,
        "tab as indent": change(["map", "unit"], lambda r, line: "\t" + line.strip()),
        "list for a map": change(["map"], lambda r, line: set_value(line, "[1, 2]")),
        "number for a word in a map": change(["map"], lambda r, line: line.replace(": ", ": {3: 4, ", 1)),
    }
    found["unknown unit"] = change(["unit"], lambda r, line: set_value(line, f"3 {r.choice(UNITS)}"))
    found["unknown word"] = change(["word"], lambda r, line: set_value(line, "sideways"))
    found["no flag"] = change(["flag"], lambda r, line: set_value(line, r.choice(["maybe", "2", "[true]"])))
    found["below one"] = change(["count"], lambda r, line: set_value(line, r.choice(["0", "-1", "1.5"])))
    found["axis of no size"] = change(["map"], lambda r, line: re.sub(r"(x|input): [^,]+", r"\1: 0", line))
    return found


def layer_mutations():
    def change(make):
        def apply(r, lines):
            place = at_kind(r, lines, ["layer"])
            changed = make(r, lines[place][1])
            if changed is None or changed == lines[place][1]:
                return None
            lines[place] = ("layer", changed)
            return text_of(lines)
        return apply

    return {
        "unknown operator": change(lambda r, line: re.sub("op: [a-z0-9]+", "op: teleport", line)),
        "size below one": change(lambda r, line: re.sub(r"\b([knc]): \d+", rf"\1: {r.choice(['0', '-4', '2.5'])}", line, count=1)),
        "size too large": change(lambda r, line: re.sub(r"\bk: \d+", "k: 99999999999999999999", line)),
        "unknown key": change(lambda r, line: line.replace("}", ", flavor: 3}")),
        "key twice": change(lambda r, line: line.replace("}", ", name: again}")),
        "size is missing": change(lambda r, line: re.sub(r", k: \d+", "", line)),
        "window larger than input": change(lambda r, line: re.sub(r"r: 3", "r: 300", line) if "conv2d" in line else None),
        "cut off": change(lambda r, line: line[:line.find("op") + 3]),
        "no map": change(lambda r, line: "  - teleport"),
    }


def csv_mutations(size, needed):
    def cell(make):
        def apply(r, rows):
            row = r.randint(1, len(rows) - 1)
            column = rows[0].index(r.choice(size))
            rows[row][column] = make(r)
            return rows
        return apply

    def header(make):
        def apply(r, rows):
            rows[0] = make(r, list(rows[0]))
            return rows
        return apply

    def short(r, rows):
        rows[r.randint(1, len(rows) - 1)].pop()
        return rows

    def long(r, rows):
        rows[r.randint(1, len(rows) - 1)].append("7")
        return rows

    return {
        "cell of no number": cell(lambda r: r.choice(["long", "1.2.3", "nan", "0x10", "five", "1e999", "--1"])),
        "negative cell": cell(lambda r: f"-{r.randint(1, 99)}"),
        "column twice": header(lambda r, head: [head[0]] + head[:-1]),
        "column is missing": header(lambda r, head: ["other" if name == needed else name for name in head]),
        "row too short": short, "row too long": long,
    }


def csv_text(rows):
    return "\n".join(",".join(row) for row in rows) + "\n"


def trace_text(events):
    return '{"traceEvents": [' + ", ".join("{" + ", ".join(event) + "}" for event in events) + "]}\n"


def trace_mutations():
    def field(name, make):
        def apply(r, events):
            event = r.choice(events)
            place = next(i for i, text in enumerate(event) if text.startswith(f'"{name}"'))
            event[place] = f'"{name}": {make(r)}'
            return trace_text(events)
        return apply

    def text(make):
        return lambda r, events: make(r, trace_text(events))

    return {
        "time of no number": field("dur", lambda r: r.choice(['"long"', "null", "[]", "{}", "true"])),
        "negative time": field("dur", lambda r: f"-{r.randint(1, 99)}"),
        "start of no number": field("ts", lambda r: r.choice(['"soon"', "[]", "false"])),
        "no JSON number": field("dur", lambda r: r.choice(["1.2.3", "0x10", "--3", "NaN", "1e"])),
        "comma at the end": text(lambda r, all: all.replace("]}", ",]}")),
        "cut off": text(lambda r, all: all[:r.randint(len(all) // 2, len(all) - 4)]),
        "text after the end": text(lambda r, all: all.strip() + r.choice(["}", "]", "{}", "x"])),
        "no kernel": lambda r, events: '{"traceEvents": []}\n',
    }


def rows_of(mutations):
    def change(mutate):
        def apply(r, rows):
            changed = mutate(r, rows)
            return None if changed is None else csv_text(changed)
        return apply
    return {kind: change(mutate) for kind, mutate in mutations.items()}


# family: (command, suffix, document, its text, mutations)
FAMILIES = {
    "machines": [(["hw", "check", "FILE"], ".yaml", machine, text_of, yaml_mutations())],
    "networks": [(["net", "check", "FILE"], ".yaml", network_yaml, text_of, layer_mutations()),
                 (["net", "check", "FILE"], ".csv", layer_csv, csv_text, rows_of(csv_mutations(["m", "n", "k"], "op")))],
    "profiles": [(["import", "FILE"], ".json", trace, trace_text, trace_mutations()),
                 (["import", "FILE"], ".csv", times_csv, csv_text,
                  rows_of(csv_mutations(["duration_ns"], "duration_ns")))],
    "constraints": [(["map", "alexnet", "--on", "npu-int8", "--layers", "FC8", "--search-nodes", "50",
                      "--constraints", "FILE"], ".yaml", constraints, text_of, constraint_mutations())],
}


def run(folder, number, command, suffix, text):
    path = os.path.join(folder, f"input{number}{suffix}")
    with open(path, "w", encoding="utf-8", errors="surrogatepass") as out:
        out.write(text)
    words = [EYEROOF] + [path if word == "FILE" else word for word in command]
    try:
        done = subprocess.run(words, capture_output=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def verdict(code, said):
    if code is None:
        return "hangs"
    if code < 0 or code > 128 or "internal" in said:
        return "crashes"
    if code == 0:
        return "accepts"
    if "error:" not in said:
        return "says no error"
    if "hint:" not in said and not re.search(r"input\d+\.\w+:\d+", said):
        return "no hint"
    return ""


def drawn(family, each):
    r = random.Random(f"eyeroof {family}")
    kinds = [(form, kind) for form in FAMILIES[family] for kind in form[4]]
    made = 0
    while made < each:
        (command, suffix, document, as_text, mutations), kind = kinds[made % len(kinds)]
        text = None
        for _ in range(50):
            text = mutations[kind](r, document(r))
            if text is not None:
                break
        yield command, suffix, kind, text
        made += 1


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for family, forms in FAMILIES.items():
            for command, suffix, document, as_text, _ in forms:
                code, said = run(folder, "valid", command, suffix, as_text(document(random.Random(family))))
                if code != 0:
                    wrong += 1
                    print(f"{family}{suffix}: a valid document is refused\n{said}")
            cases = list(drawn(family, EACH))
            results = pool.map(lambda n: run(folder, n, cases[n][0], cases[n][1], cases[n][3]), range(len(cases)))
            kinds = {}
            shown = 0
            for (command, suffix, kind, text), (code, said) in zip(cases, results):
                failed = verdict(code, said)
                counts = kinds.setdefault(f"{suffix[1:]}: {kind}", [0, 0])
                counts[0] += 1
                counts[1] += failed != ""
                wrong += failed != ""
                if failed and shown < 12:
                    shown += 1
                    print(f"{family}: {kind}: {failed} (exit {code})\n{text[:1500]}\n{said[:600]}")
            print(f"{family}: " + ", ".join(f"{kind} {n}" + (f" ({bad} wrong)" if bad else "")
                                            for kind, (n, bad) in sorted(kinds.items())))
    print(f"{wrong} of {EACH * len(FAMILIES)} malformed inputs are not refused as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
