#!/usr/bin/env python3
"""Errors of the GPU time model on rows that its constants have not seen, and the constants themselves.

    cross_validate.py EYEROOF measured.csv                              # a page of errors, Markdown
    cross_validate.py EYEROOF measured.csv --also library,source,session
    cross_validate.py EYEROOF measured.csv --class linear --off ramp_k  # without a term: is it worth something?
    cross_validate.py EYEROOF measured.csv --constants hwdb/calibration --leaderboard docs/leaderboard.csv

Every class of kernels is fitted by `eyeroof hw calibrate carried-over`, and every row is predicted by
`eyeroof validate --never-seen`; this program chooses the rows of each fit and compares. Python's standard library
only. Shapes, not rows, are split in two halves. Fits start from round values that no data chose (start.yaml). The
clock of a GPU that is left out follows from its power limit. Minutes for 40,000 rows; equal digits when repeated.
"""
import argparse
import bisect
import collections
import concurrent.futures
import csv
import datetime
import itertools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import bands

TIMINGS = ["eager", "stream", "kernel", "graph"]  # as constants name them; options and tables say "none" for "kernel"
CLASSES = ["linear", "batched", "tensor_gemm", "conv", "tensor_conv", "memory", "attention", "grouped"]
BY = ["die", "architecture", "library", "source", "session"]
FEWEST = 20  # rows of a GPU and class that a fit needs
COMMON_ROWS, OWN_ROWS = 300, 1200  # of a GPU that a fit of several, or its own, looks at
COMMON_PULL, OWN_PULL = 0.05, 0.03
ROUNDS = 30
# Gradients were measured on few of the GPUs that convolutions were: half of what those lie off the others counts
# as theirs, so that the gradients' constants do not take it up.
OWN_OFFSET = {"conv": 0.5, "tensor_conv": 0.5}
NOTHING = "-"  # the name of rows that every fit sees


# Constants: {class: {"terms": {name: value}, "launch": {timing: seconds}}} and what else a file says of a class.

def read_constants(text):
    found = {}
    for name, body in re.findall(r"^  (\w+):\n((?:    .*\n)+)", text, re.M):
        terms = re.findall(r"^      (\w+): ([-+.\de]+)$", body, re.M)
        launch = re.search(r"launch: \{(.*)\}", body).group(1)
        found[name] = {"terms": {key: float(value) for key, value in terms},
                       "launch": {key: float(value) / 1e6 for key, value in re.findall(r"(\w+): (\S+) us", launch)}}
    return found


def write_constants(constants, name, digits=17):
    """A calibration file; what a class does not say is neutral."""
    text = f"eyeroof: gpu-calibration/1\nid: {name}\nclasses:\n"
    for kernels in CLASSES:
        if kernels not in constants:
            continue
        c = constants[kernels]
        if "text" in c:  # as another file has it
            text += c["text"]
            continue
        text += f"  {kernels}:\n    source: {json.dumps(c.get('source', 'round values, not fitted'), ensure_ascii=False)}\n"
        text += f"    confidence: {c.get('confidence', 'recalled')}\n"
        text += f"    date: {c['date']}\n" if "date" in c else ""
        text += f"    measured_here: {str(c.get('measured', False)).lower()}\n"
        text += "    sustained_clock_given: true\n" if c.get("clock") else ""
        text += "    terms:\n" + "".join(f"      {key}: {value:.{min(digits, 17)}g}\n"
                                         for key, value in sorted(c["terms"].items()))
        launch = ", ".join(f"{key}: {c['launch'][key] * 1e6:.{min(digits - 2, 15)}g} us" for key in TIMINGS)
        text += f"    launch: {{{launch}}}\n"
        nothing = {"low": 0.7, "high": 1.45, "mape": 0.25, "median": 0.2, "rows": 0, "basis": "nothing"}
        text += "    " + error_text("error", c.get("error", nothing))
        kinds = c.get("kinds", {})
        text += "    error_by_kind:\n" if kinds else ""
        text += "".join("      " + error_text(kind if re.fullmatch(r"[\w-]+", kind) else json.dumps(kind), kinds[kind])
                        for kind in sorted(kinds))
        binds = ", ".join(f"{part}: {share:.4g}" for part, share in sorted(c.get("binds", {}).items()))
        text += f"    binds: {{{binds}}}\n" if binds else ""
        domain = c.get("domain", [0, 1e18, 0, 1e18])
        text += ("    domain: {{flops_low: {:.3g}, flops_high: {:.3g}, bytes_low: {:.3g}, bytes_high: {:.3g}}}\n"
                 .format(*(min(value, 1e18) for value in domain)))
    return text


def error_text(key, error):
    return ("{}: {{low: {:.4g}, high: {:.4g}, mape: {:.4g}, median: {:.4g}, rows: {}, basis: {}}}\n"
            .format(key, error["low"], error["high"], error["mape"], error["median"], error["rows"],
                    json.dumps(error["basis"])))


class Row:
    """A measured row of a class, and what the folds predict for it."""
    fitted_s = left_s = one_s = 0.0

    def __init__(self, fact, cells, timing):
        self.line, self.gpu, self.op = fact["line"], fact["gpu"], fact["op"]
        self.kernels, self.kind, self.tested = fact["class"], fact["kind"], fact["held_out"]
        self.flops, self.bytes = fact["flops"], fact["bytes"]
        self.measured_s, self.naive_s = fact["measured_s"], fact["naive_s"]
        self.key = (self.op, fact["dtype"], fact["direction"])
        self.timing = TIMINGS.index((cells.get("launch") or timing).replace("none", "kernel"))
        self.source, self.library, self.session = (cells.get(name) or "" for name in ("source", "library", "session"))
        self.left_with = ""


class Gpu:
    """What tells GPUs apart."""

    def __init__(self, program, name):
        shown = json.loads(program.run("hw", "show", name, "--format", "json"))
        self.arch, self.sms, self.lanes = shown["architecture"], shown["units"], shown["fp32_lanes_per_unit"]
        self.peaks = {peak["data_type"]: peak for peak in shown["peaks"]}
        self.sheet = shown
        self.file = program.run("hw", "show", name)  # a machine's constants are those beside its file
        capability = re.search(r'^compute_capability: "?([\w.]+)', self.file, re.M)
        self.capability = capability.group(1) if capability else ""

    def die(self):
        return f"{self.arch} {self.sms} {self.lanes}"

    def family(self):
        """AMD's kernels are its own, with matrix cores and without; constants of a family start from the others'."""
        if self.arch != "amd":
            return "others"
        return "matrix" if self.peaks.get("fp16", {}).get("units") == "tensor" else "lanes"

    def runs(self):
        """What its kernels are built for: since Blackwell one major version (CUDA Programming Guide)."""
        return "amd" if self.arch == "amd" else \
            self.capability.split(".")[0] if self.arch == "blackwell" else self.capability

    def name(self, row, by):
        """What the row is left out with."""
        if by == "die":
            return self.die()
        if by == "architecture":
            return self.capability if self.arch == "amd" else self.arch
        if by == "session":
            return f"{row.gpu} {row.session}" if row.session else NOTHING
        return getattr(row, by) or NOTHING


class Refused(Exception):
    """What eyeroof says of its input."""


class Program:
    """eyeroof, on parts of one table."""

    def __init__(self, path, table, timing, rounds):
        self.path, self.timing, self.rounds = os.path.abspath(path), timing, rounds
        self.gpus = {}
        with open(table, newline="") as file:
            reader = csv.reader(file)
            self.header = next(reader)
            self.cells = {}
            line = reader.line_num + 1
            for cells in reader:
                self.cells[line] = cells
                line = reader.line_num + 1
        self.table = table

    def run(self, *words):
        done = subprocess.run([self.path, *words], capture_output=True, text=True)
        if done.returncode:
            raise Refused(done.stderr or f"{self.path} {' '.join(words)}: exit {done.returncode}")
        return done.stdout

    def gpu(self, name):
        if name not in self.gpus:
            self.gpus[name] = Gpu(self, name)
        return self.gpus[name]

    def rows(self):
        """Every row of the table, in its order."""
        answer = json.loads(self.run("validate", self.table, "--timing", self.timing, "--never-seen", "--worst",
                                     str(len(self.cells) + 1), "--format", "json"))
        return [Row(fact, dict(zip(self.header, self.cells[fact["line"]])), self.timing)
                for fact in sorted(answer["worst"], key=lambda fact: fact["line"])]

    def folder(self, place, rows, constants, weights=None):
        """A machine folder with each GPU's constants, and a table of these rows."""
        for folder in ("gpus", "calibration/left-out"):
            os.makedirs(os.path.join(place, folder))
        for name in {row.gpu for row in rows}:
            pathlib.Path(place, "gpus", name + ".yaml").write_text(self.gpu(name).file)
            for folder in ("calibration", "calibration/left-out"):
                pathlib.Path(place, folder, name + ".yaml").write_text(write_constants(constants(name), name))
        table = os.path.join(place, "rows.csv")
        with open(table, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(self.header + (["weight"] if weights else []))
            for i, row in enumerate(rows):
                writer.writerow(self.cells[row.line] + ([repr(weights[i])] if weights else []))
        return table

    def predict(self, rows, constants):
        """Seconds of each row, by the constants that constants(gpu) gives; and what is longest in its kernel."""
        if not rows:
            return [], []
        with tempfile.TemporaryDirectory() as place:
            table = self.folder(place, rows, constants)
            answer = json.loads(self.run("validate", table, "--timing", self.timing, "--never-seen", "--worst",
                                         str(len(rows)), "--format", "json", "--hwdb", place))
        facts = sorted(answer["worst"], key=lambda fact: fact["line"])
        return [fact["predicted_s"] for fact in facts], [fact["part"] for fact in facts]

    def fit(self, kernels, picked, start, *options):
        """The class's constants on picked rows [(row, weight)], from `start`."""
        rows, weights = [row for row, _ in picked], [weight for _, weight in picked]
        with tempfile.TemporaryDirectory() as place:
            table = self.folder(place, rows, lambda name: start, weights)
            text = self.run("hw", "calibrate", "carried-over", table, "--timing", self.timing, "--rounds",
                            str(self.rounds), "--hwdb", place, *options)
        return dict(start, **{kernels: read_constants(text)[kernels]})


# Which rows a fit looks at.

def spread_over(rows, taken):
    """One of each of `taken` equal stretches, at a place in it that varies by the golden ratio: evenly spaced rows
    would meet one of two libraries that measured the same shapes."""
    rows = sorted(rows, key=lambda row: (row.flops, row.bytes, row.source, row.measured_s))
    some = []
    for j in range(taken):
        place = j * 0.6180339887498949
        at = j + place - math.floor(place)
        some.append(rows[min(len(rows) - 1, int(at * (len(rows) / taken)))])
    return some


def picked(rows, most):
    """At most `most` rows, of each kind, timing, and library as many as of any other, of every size; with weights."""
    kinds = collections.defaultdict(list)
    for row in rows:
        kinds[row.kind, row.timing, row.library].append(row)
    rarest = sorted((kinds[key] for key in sorted(kinds)), key=len)
    some = []
    for i, of in enumerate(rarest):
        taken = min(len(of), (most - len(some)) // (len(rarest) - i))
        some += [(row, math.sqrt(len(of)) / taken) for row in spread_over(of, taken)]
    return some


def quick_sessions(rows):
    """Rows of the session in which each operator runs fastest, and of those at most 1.25 times slower: a card may be
    throttled on one day, but not sped up."""
    ratios = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        if row.left_s > 0:
            ratios[row.op][row.session].append(row.measured_s / row.left_s)
    slow = set()
    for op, sessions in ratios.items():
        medians = {session: bands.median(of) for session, of in sessions.items()}
        quickest = min((medians[s] for s, of in sessions.items() if len(of) >= FEWEST), default=math.inf)
        slow |= {(op, session) for session, median in medians.items() if median > 1.25 * quickest}
    return [row for row in rows if (row.op, row.session) not in slow]


class Folds:
    """The rows of one class by GPU, and the constants of its fits."""

    def __init__(self, program, kernels, start, by):
        self.program, self.kernels, self.start, self.by = program, kernels, start, by
        self.of = {}  # GPU -> rows, in the table's order
        self.together, self.half = {}, {}  # family -> constants
        self.held, self.left = {}, {}  # GPU -> constants
        self.has_held, self.has_left = set(), set()
        self.bands = {}

    def add(self, row):
        row.left_with = self.program.gpu(row.gpu).name(row, self.by)
        self.of.setdefault(row.gpu, []).append(row)

    def family(self, gpu):
        return self.program.gpu(gpu).family()

    def names(self):
        return sorted({row.left_with for rows in self.of.values() for row in rows} - {NOTHING})

    def fit_family(self, start, families, sees):
        rows = [one for gpu, of in self.of.items() if self.family(gpu) in families for one in picked(sees(of), COMMON_ROWS)]
        if len(rows) < FEWEST:
            return start
        return self.program.fit(self.kernels, rows, start, "--pull", str(COMMON_PULL), "--own-offset",
                                str(OWN_OFFSET.get(self.kernels, 0.0)))

    def fit_amd(self, start, sees):
        """Of all of AMD's GPUs first, then of those without matrix cores and of those with them."""
        if not any(self.family(gpu) != "others" for gpu in self.of):
            return {"lanes": start, "matrix": start}
        both = self.fit_family(start, {"lanes", "matrix"}, sees)
        return {family: self.fit_family(both, {family}, sees) for family in ("lanes", "matrix")}

    def fit_all(self):
        self.together["others"] = self.fit_family(self.start, {"others"}, lambda rows: rows)
        self.together.update(self.fit_amd(self.together["others"], lambda rows: rows))

    def fit_half(self):
        seen = lambda rows: [row for row in rows if not row.tested]  # noqa: E731
        self.half["others"] = self.fit_family(self.start, {"others"}, seen)
        self.half.update(self.fit_amd(self.half["others"], seen))

    def own_fit(self, rows, start):
        """One GPU's own constants, from `start`, whose kernels' starts stay; fewer rows pull less."""
        if len(rows) < FEWEST:
            return start
        fitted = self.program.fit(self.kernels, rows, start, "--pull", repr(OWN_PULL * (COMMON_ROWS / len(rows))), "--keep-starts")
        fitted[self.kernels]["measured"] = True  # its clock is its own
        return fitted

    def leave_out(self, name):
        """Fits the class without the rows of one name, and predicts those."""
        others = lambda rows: [row for row in rows if row.left_with != name]  # noqa: E731
        has = {family for gpu, rows in self.of.items() for family in [self.family(gpu)]
               if any(row.left_with == name for row in rows)}
        # Where nothing of theirs is left out, the others' constants are those of all rows.
        left = {"others": self.fit_family(self.start, {"others"}, others) if "others" in has else self.together["others"]}
        left.update(self.fit_amd(left["others"], others) if has - {"others"} else {"lanes": self.start, "matrix": self.start})
        for gpu, rows in self.of.items():
            blind = left[self.family(gpu)]
            self.predict_left(gpu, [row for row in rows if row.left_with == name], others(rows), blind,
                              blind != self.start)

    def predict_left(self, gpu, rows, kept, blind, fitted):
        if not rows:
            return
        whole = self.by in ("die", "architecture")
        if whole:
            self.left[gpu] = blind
            if fitted:
                self.has_left.add(gpu)
        elif not fitted:
            return
        seconds, _ = self.program.predict(rows, lambda name: blind)
        one = self.with_one_figure(gpu, blind)
        ones, _ = self.program.predict(rows, lambda name: one)
        if not whole and kept:  # it was measured, though never like those
            own = self.own_fit(picked(kept, OWN_ROWS), blind)
            seen = collections.Counter((row.kind, row.timing) for row in kept)
            owns, _ = self.program.predict(rows, lambda name: own)
            seconds = [o if seen[row.kind, row.timing] >= FEWEST else s for row, o, s in zip(rows, owns, seconds)]
        for row, row.left_s, row.one_s in zip(rows, seconds, ones):
            pass

    def with_one_figure(self, gpu, blind):
        """Constants that have not seen the GPU, with one figure of its own: the rate that its longest kernels sustain,
        or for memory operators what its host takes for a call, by a tenth of the smallest."""
        rows = self.of[gpu]
        one = dict(blind, **{self.kernels: dict(blind[self.kernels], terms=dict(blind[self.kernels]["terms"]))})
        terms = one[self.kernels]["terms"]
        if self.kernels == "memory":
            eager = [row for row in rows if TIMINGS[row.timing] == "eager"]
            seconds, _ = self.program.predict(eager, lambda name: blind)
            beyond = sorted((row.bytes, row.measured_s - s) for row, s in zip(eager, seconds))
            beyond = sorted(s for _, s in beyond[:(len(beyond) + 9) // 10])
            terms["host_s"] = max(1e-6, terms["host_s"] + (beyond[len(beyond) // 2] if beyond else 0.0))
            return one
        rates = sorted(row.flops / row.measured_s for row in rows if row.measured_s >= 5e-4)
        peak = self.program.gpu(gpu).peaks.get(rows[0].key[1])
        share = min(rates[int(0.99 * (len(rates) - 1))], peak["flops_per_s"]) / peak["flops_per_s"] if rates and peak else 0
        tensor = peak and peak["units"] == "tensor"
        served = ("tensor_gemm", "tensor_conv") if tensor else ("linear", "batched", "conv")
        if 0.01 <= share <= 1 and self.kernels in served:
            of = "tensor_gemm" if tensor else "batched" if self.kernels == "batched" else "linear"
            terms["sustained_clock"] = min(1.0, max(0.01, share / blind[of]["terms"]["peak_share"]))
            one[self.kernels]["clock"] = True
        return one

    def hold_out(self, gpu):
        """The GPU's own constants on the half of its shapes that is not tested, from those of half of all shapes with
        the starts of all; and what they predict for every row."""
        rows = self.of[gpu]
        seen = picked([row for row in quick_sessions(rows) if not row.tested], OWN_ROWS)
        if len(seen) >= FEWEST and any(row.tested for row in rows):
            self.has_held.add(gpu)
        start = self.half[self.family(gpu)]
        terms = dict(start[self.kernels]["terms"])
        for name in terms:  # the kernels' starts are one for every GPU, measured or not
            if self.kernels == "tensor_conv" and (name == "layout_s" or name.startswith("ramp_")) and terms[name] > 0:
                terms[name] = self.together[self.family(gpu)][self.kernels]["terms"][name]
        start = dict(start, **{self.kernels: dict(start[self.kernels], terms=terms)})
        self.held[gpu] = self.own_fit(seen if gpu in self.has_held else [], start)
        seconds, parts = self.program.predict(rows, lambda name: self.held[gpu])
        for row, row.fitted_s, row.part in zip(rows, seconds, parts):
            pass

    def note_left(self):
        """Where several fits share a GPU, none of them says that rows of it were left out."""
        self.has_left = {gpu for gpu, rows in self.of.items() if any(row.left_s > 0 for row in rows)}

    # Intervals of rows that are left out.

    def ratios_of_others(self, but, kind, family):
        groups = []
        if not hasattr(self, "seen"):
            self.seen = collections.defaultdict(set)
            for row in itertools.chain(*self.of.values()):
                self.seen[row.kind, row.timing].add(row.left_with)
        for gpu, rows in self.of.items():
            if gpu not in self.has_left or self.family(gpu) != family:
                continue
            names = collections.defaultdict(list)
            for row in rows:
                if row.left_s > 0 and row.left_with != but and kind in ("", row.kind):
                    names[row.left_with].append(row)
            for name in sorted(names):
                of, taken = names[name], min(500, len(names[name]))
                ratios = [row.measured_s / row.left_s for row in (of[i * len(of) // taken] for i in range(taken))
                          if self.seen[row.kind, row.timing] - {name}]
                groups += [ratios] if ratios else []
        return groups

    def band_of_others(self, name, kind, family):
        """For rows of a kind that are left out as `name`; of another vendor's kernels, or of no kind like it, wider."""
        key = (name, kind, family)
        if key not in self.bands:
            self.bands[key] = None
            for of, which, doubled in ((kind, family, 0), (kind, "others", 1), ("", family, 1), ("", "others", 2)):
                if groups := self.ratios_of_others(name, of, which):
                    band = bands.of_gpus(groups)
                    for _ in range(doubled):
                        band = bands.doubled(band)
                    self.bands[key] = band
                    break
        return self.bands[key]


# Errors by operator, type, direction, and GPU.

FIGURES = ["naive", "fitted", "held_out", "left_out", "one_figure", "held_out_inside", "left_out_inside"]


def judge_held(tested):
    """Held-out rows of each kind in two halves: each is judged by the other's quantiles."""
    kinds = collections.defaultdict(list)
    for row in tested:
        kinds[row.kind].append(row.measured_s / row.fitted_s)
    inside = judged = 0
    for ratios in kinds.values():
        if len(ratios) >= 16:
            halves = ratios[::2], ratios[1::2]
            for one, other in (halves, halves[::-1]):
                low, high = bands.another_day(other)
                inside += sum(low <= ratio <= high for ratio in one)
            judged += len(ratios)
    return inside / judged if judged else None


def group(folds, gpu, key, rows):
    error = lambda seconds, row: abs(seconds / row.measured_s - 1)  # noqa: E731
    tested, left = [row for row in rows if row.tested], [row for row in rows if row.left_s > 0]
    fitted = [error(row.fitted_s, row) for row in rows if not row.tested]
    g = dict.fromkeys(FIGURES, None)
    g.update(gpu=gpu, op=key[0], dtype=key[1], direction=key[2], rows=len(rows),
             naive=sum(error(row.naive_s, row) for row in rows) / len(rows))
    if gpu in folds.has_held and tested and fitted:
        g["held_out"] = sum(error(row.fitted_s, row) for row in tested) / len(tested)
        g["fitted"] = sum(fitted) / len(fitted)
        g["held_out_inside"] = judge_held(tested)
    if gpu in folds.has_left and left:
        g["left_out"] = sum(error(row.left_s, row) for row in left) / len(left)
        g["one_figure"] = sum(error(row.one_s, row) for row in left) / len(left)
        judged = [(row, folds.band_of_others(row.left_with, row.kind, folds.family(gpu))) for row in left]
        held = [band[0] <= row.measured_s / row.left_s <= band[1] for row, band in judged if band]
        g["left_out_inside"] = sum(held) / len(held) if held else None
    return g


def groups_of(every, by_source=False):
    found = []
    for folds in every:
        for gpu, rows in folds.of.items():
            keys = collections.defaultdict(list)
            for row in rows:
                keys[(row.source if by_source else "", row.key)].append(row)
            for (source, key), of in sorted(keys.items()):
                found.append(dict(group(folds, gpu, key, of), source=source))
    return found if by_source else sorted(found, key=lambda g: (g["op"], g["dtype"], g["direction"], g["gpu"]))


def means_of(groups):
    means = []
    for key, of in itertools.groupby(groups, key=lambda g: (g["op"], g["dtype"], g["direction"])):
        of = list(of)
        mean = dict(zip(("op", "dtype", "direction"), key), gpu=f"{len(of)} GPU{'s' * (len(of) > 1)}",
                    rows=sum(g["rows"] for g in of))
        for figure in FIGURES:
            known = [g[figure] for g in of if g[figure] is not None]
            mean[figure] = sum(known) / len(known) if known else None
        means.append(mean)
    return means


# What is written.

def cells(g, figures, digits={"held_out_inside": 0, "left_out_inside": 0}):
    return ["-" if g[name] is None else f"{100 * g[name]:.{digits.get(name, 1)}f}" for name in figures]


def table(heads, rows, right):
    line = lambda words: "| " + " | ".join(words) + " |\n"  # noqa: E731
    return line(heads) + line(["---:" if head in right else "---" for head in heads]) + "".join(map(line, rows))


def page(groups, also, by):
    key = lambda g: [g["op"], g["dtype"], g["direction"]]  # noqa: E731
    heads = ["op", "type", "direction", "GPU", "rows", "naive", "fitted", "held out", "left out", "+1",
             "held out in 80 %", "left out in 80 %"]
    whole = lambda of: table(heads, [key(g) + [g["gpu"], str(g["rows"])] + cells(g, FIGURES) for g in of],  # noqa: E731
                             heads[4:])
    text = ("# Errors of predicted GPU times\n\nPrinted by `examples/measurements/cross_validate.py`; what the columns "
            "mean is in\n[gpu-evidence.md](gpu-evidence.md#errors). Figures in %.\n")
    means = means_of(groups)
    text += "\n## Means over the GPUs\n\n" + whole(means)
    also_means = {name: means_of(of) for name, of in also.items()}
    short = ["naive", "left_out", "left_out_inside"]
    rows = []
    for mean in means:
        for name, of in [(by, [mean])] + list(also_means.items()):
            rows += [key(g) + [name, g["gpu"].split()[0], str(g["rows"])] + cells(g, short) for g in of if key(g) == key(mean)]
    heads = ["op", "type", "direction", "left out", "GPUs", "rows", "naive", "error", "in 80 %"]
    text += "\n## Every class by what is left out\n\n" + table(heads, rows, heads[4:])
    text += "\n## By GPU\n\n" + whole(groups)
    heads[3:5] = ["GPU"]
    for name, of in also.items():
        text += f"\n## By GPU, each {name} left out\n\n" + table(
            heads, [key(g) + [g["gpu"], str(g["rows"])] + cells(g, short) for g in of], heads[4:])
    return text


def leaderboard(every, by, version):
    out = [["source", "gpu", "class", "rows", "figure", "error", "interval_coverage", "version"]]
    for g in groups_of(every, by_source=True):
        for figure, error, inside in (("held out", "held_out", "held_out_inside"),
                                      (by + " left out", "left_out", "left_out_inside")):
            if g[error] is not None:
                out.append([g["source"], g["gpu"], f"{g['op']} {g['dtype']} {g['direction']}", g["rows"], figure,
                            f"{g[error]:.3f}", "" if g[inside] is None else f"{g[inside]:.2f}", version])
    return out


def rows_of(every):
    """Every row with its predictions, for tests/bench/learned_baselines.py."""
    out = [("line gpu op dtype direction kind left_with measured_s held_out own_s left_out_s naive_s flops bytes "
            "peak_flops_per_s dram_bytes_per_s l2_bytes sms clock_hz").split()]
    number = lambda value: f"{value or 0:.6g}"  # noqa: E731
    for folds in every:
        for gpu, rows in folds.of.items():
            g = folds.program.gpu(gpu)
            facts = [g.peaks[rows[0].key[1]]["flops_per_s"], g.sheet["dram_bytes_per_s"], g.sheet["l2_bytes"], g.sms,
                     g.sheet["boost_clock_hz"]]
            for row in rows:
                facts[0] = g.peaks.get(row.key[1], {}).get("flops_per_s", 0)
                out.append([row.line, gpu, *row.key, row.kind, row.left_with, number(row.measured_s), int(row.tested),
                            number(row.fitted_s), number(row.left_s if gpu in folds.has_left else 0)] +
                           [number(value) for value in (row.naive_s, row.flops, row.bytes, *facts)])
    return out


# The constants that are kept, with their intervals, ranges, and sources.

def error_band(band, ratios, basis):
    errors = [abs(1 / ratio - 1) for ratio in ratios]
    return {"low": min(band[0], 0.999), "high": max(band[1], 1.001), "mape": sum(errors) / len(errors),
            "median": bands.median(errors), "rows": len(errors), "basis": basis}


def order_launches(modes, launch):
    """A mode without a measurement costs no more than the modes that hold more, and no less than the kernel's."""
    if "stream" not in modes and "eager" in modes and launch["eager"] > 0:
        launch["stream"] = min(launch["stream"], launch["eager"])
    if "kernel" not in modes:
        launch["kernel"] = min(launch["kernel"], launch["stream"])
    launch["graph"] = min(launch["kernel"] + 1e-6, max(launch["stream"], launch["kernel"]))
    return launch


def ranges(rows):
    if not rows:
        return [1e30, 0, 1e30, 0]
    return [of(getattr(row, name) for row in rows) for name in ("flops", "bytes") for of in (min, max)]


def sources(rows):
    return "; ".join(sorted({row.source or "a table of measured layers" for row in rows}))


def shares_of_parts(rows):
    return {part: count / len(rows) for part, count in collections.Counter(row.part for row in rows).items()}


def modes_of(rows):
    return {TIMINGS[row.timing] for row in rows}


def copied(constants, kernels):
    c = constants[kernels]
    return {"terms": dict(c["terms"]), "launch": dict(c["launch"]), "measured": c.get("measured", False)}


def is_seen(folds, rows, constants, name):
    """Do the times of the rows, which these constants gave, depend on a term?"""
    times = [row.fitted_s for row in rows]
    for factor in (0.9, 1.1):
        c = constants[folds.kernels]
        moved = dict(constants, **{folds.kernels: dict(c, terms=dict(c["terms"], **{name: factor * c["terms"][name]}))})
        try:
            return folds.program.predict(rows, lambda gpu: moved)[0] != times
        except Refused:  # beyond what its name allows
            continue
    return True


def own_constants(folds, gpu):
    """Constants of one GPU that saw half of its shapes. What its rows do not tell is as on all GPUs together."""
    rows, held = folds.of[gpu], folds.held[gpu]
    c, common = copied(held, folds.kernels), folds.together[folds.family(gpu)][folds.kernels]["terms"]
    for name, value in held[folds.kernels]["terms"].items():
        if value == 0 or not is_seen(folds, rows, held, name):
            c["terms"][name] = common[name]
    kinds = collections.defaultdict(list)
    for row in rows:
        if row.tested:
            kinds[row.kind].append(row.measured_s / row.fitted_s)
    every = list(itertools.chain(*(kinds[kind] for kind in sorted(kinds))))
    c["kinds"] = {kind: error_band(bands.another_day(of), of, f"held-out {kind} of {gpu}") for kind, of in kinds.items()}
    c.update(error=error_band(bands.another_day(every), every, f"held-out shapes of {gpu}"), measured=True,
             binds=shares_of_parts(rows), domain=ranges(rows), source=f"{sources(rows)}, {gpu}", confidence="fitted",
             launch=order_launches(modes_of(rows), c["launch"]))
    return c


def others_constants(folds, constants, but, family):
    """Constants for a GPU that was not measured, or is taken as if it was not (`but`)."""
    c = copied(constants, folds.kernels)
    blind = folds.of[but][0].left_with if but else ""
    flat = lambda kind, which: list(itertools.chain(*folds.ratios_of_others(blind, kind, which)))  # noqa: E731
    told = lambda kind: flat(kind, family) or flat(kind, "others")  # noqa: E731
    basis = "GPUs left out of the fit, data sheet only"
    if band := folds.band_of_others(blind, "", family):
        c["error"] = error_band(band, told(""), basis)
    c["kinds"] = {kind: error_band(folds.band_of_others(blind, kind, family), told(kind), basis)
                  for kind in {row.kind for rows in folds.of.values() for row in rows} if told(kind)}
    rows, binds = [], collections.defaultdict(float)
    for gpu, of in folds.of.items():
        if (but and of[0].left_with == blind) or (family == "others" and folds.family(gpu) != "others"):
            continue
        rows += of
        for part, share in shares_of_parts(of).items():
            binds[part] = max(binds[part], share)
    c.update(measured=False, binds=dict(binds), domain=ranges(rows) if rows else [0, 1e18, 0, 1e18],
             source=f"{sources(rows)}, all GPUs {'but ' + but if but else 'together'}" if rows else "round values, not fitted",
             confidence="fitted" if rows else "recalled", launch=order_launches(modes_of(rows), c["launch"]))
    return c


def half_way(c, other, gpu):
    """Half of the way, in ln, to the constants of a GPU that runs the same kernels."""
    c = dict(c, terms=dict(c["terms"]), launch=dict(c["launch"]))
    for part in ("terms", "launch"):
        for name, value in c[part].items():
            both = value * other[part][name]
            c[part][name] = math.sqrt(both) if both > 0 else value
    return dict(c, source=f"{c['source']}, half of the way to {gpu} (the same kernels)")


def constants_of(folds, catalog, date):
    """{file: the class's constants}: common ones, each GPU's own, and those that are blind to one."""
    carried = {family: others_constants(folds, folds.together[family], None, family) for family in folds.together}
    held, left = {}, {}
    for gpu in folds.of:
        family = folds.family(gpu)
        left[gpu] = others_constants(folds, folds.left[gpu], gpu, family)
        held[gpu] = own_constants(folds, gpu) if gpu in folds.has_held else carried[family]
    measured, files = sorted(gpu for gpu in held if held[gpu]["measured"]), {"carried-over": carried["others"]}
    for name, gpu in catalog.items():
        common, die = carried[gpu.family()], [other for other in measured if catalog[other].die() == gpu.die()]
        near = lambda other: (2 if catalog[other].capability == gpu.capability else  # noqa: E731
                              int(catalog[other].peaks.get("fp16", {}).get("units") == gpu.peaks.get("fp16", {}).get("units")))
        kin = [other for other in measured if gpu.runs() and catalog[other].runs() == gpu.runs()]
        like = name if name in die else die[0] if die else max(kin, key=near) if kin else ""
        own = held[like] if like == name else common
        if like and like != name:  # another board with this die, or (AMD) the nearest: errors of one never measured
            own = dict(held[like], measured=False, source=held[like]["source"] + " (the same die)", kinds=common["kinds"],
                       **({"error": common["error"]} if "error" in common else {})) \
                if die or gpu.arch == "amd" else half_way(common, held[like], like)
        files[name], files["left-out/" + name] = own, left[like] if like else common
        if not like:
            files[name] = files["left-out/" + name] = dict(common, others=True)
    return {file: dict(c, date=date) for file, c in files.items()}


def texts(file):
    """Each class of a calibration file as it stands there."""
    return {name: body for body, name in re.findall(r"^(  (\w+):\n(?:    .*\n)+)", file.read_text(), re.M)}


def keep_constants(every, start, folder, shipped, date, catalog):
    """Calibration files; classes that the table does not measure stay as the folder's, or else the shipped, file has
    them, and are the start's where neither has any."""
    files = collections.defaultdict(dict)
    for folds in every:
        for name, c in constants_of(folds, catalog, date).items():
            files[name][folds.kernels] = c
    for name, classes in files.items():
        known = next((path for path in (folder / f"{name}.yaml", shipped / f"{name}.yaml") if path.exists()), None)
        if all(c.get("others") for c in classes.values()) and not (folder / f"{name}.yaml").exists():
            continue  # nothing was measured for it: carried-over.yaml serves it
        whole = {kernels: {"text": text} for kernels, text in texts(known).items()} if known else \
            {kernels: dict(start[kernels]) for kernels in CLASSES}
        whole.update(classes)
        path = folder / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(write_constants(whole, path.stem, digits=6))


def fitted(program, kernels, rows, start, by, jobs):
    """Folds of each class: first all together; then what is left out; then each GPU's own, from what all say."""
    every = {}
    for row in rows:
        if kernels in (None, row.kernels):
            every.setdefault(row.kernels, Folds(program, row.kernels, start, by)).add(row)
    every = list(every.values())

    def side_by_side(tasks):
        for task in [jobs.submit(*words) for words in tasks]:
            task.result()

    side_by_side([(folds.fit_all,) for folds in every])
    side_by_side([(folds.fit_half,) for folds in every] +
                 [(folds.leave_out, name) for folds in every for name in folds.names()])
    return every, side_by_side


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("eyeroof")
    parser.add_argument("table", help="layer CSV with gpu, measured_s, and perhaps launch, library, source, session")
    parser.add_argument("--class", dest="kernels", choices=CLASSES, help="only this class of kernels")
    parser.add_argument("--timing", choices=["eager", "stream", "none", "graph"], default="none", help="of rows that name none")
    parser.add_argument("--leave-out", choices=BY, default="architecture")
    parser.add_argument("--also", default="", help="also errors of rows left out by these, with commas between")
    parser.add_argument("--off", action="append", default=[], metavar="TERM", help="a term that is switched off")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of a fit's search")
    parser.add_argument("--constants", type=pathlib.Path, help="folder: also write calibration files")
    parser.add_argument("--leaderboard", help="also write errors by source, GPU, and class, CSV")
    parser.add_argument("--rows-to", help="also write every row with its predictions, CSV")
    parser.add_argument("--json", action="store_true", help="print the groups as JSON")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    also_by = [by for by in options.also.split(",") if by]
    if unknown := sorted(set(also_by) - set(BY)):
        parser.error(f"--also: {', '.join(unknown)} is none of {', '.join(BY)}")
    if options.constants and options.leave_out not in ("die", "architecture"):
        parser.error("--constants needs constants that are blind to a GPU: leave out a die or an architecture")
    program = Program(options.eyeroof, options.table, options.timing, options.rounds)
    start = read_constants(pathlib.Path(__file__).with_name("start.yaml").read_text())
    for term, c in itertools.product(options.off, start.values()):
        c["terms"].update({term: 0.0} if term in c["terms"] else {})
    rows = program.rows()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as jobs:
        every, side_by_side = fitted(program, options.kernels, rows, start, options.leave_out, jobs)
        side_by_side([(folds.hold_out, gpu) for folds in every for gpu in folds.of])
        if options.leave_out not in ("die", "architecture"):
            for folds in every:
                folds.note_left()
        groups, boards, all_rows = groups_of(every), None, rows_of(every) if options.rows_to else None
        if options.leaderboard:
            version = program.run("--version").split()[1]
            boards = leaderboard(every, options.leave_out, version)
        if options.constants:
            shipped = pathlib.Path(__file__).resolve().parents[2] / "hwdb/calibration"
            catalog = {name: program.gpu(name) for name in gpus_of(program)}
            keep_constants(every, start, options.constants, shipped, datetime.date.today().isoformat(), catalog)
        also = {by: left_out_by(by, every, program, start, side_by_side) for by in also_by}
    for rows, path in ((boards, options.leaderboard), (all_rows, options.rows_to)):
        if rows:
            with open(path, "w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)
    if options.json:
        print(json.dumps({"groups": groups, "means": means_of(groups), "also": also}, indent=1))
    else:
        print(page(groups, also, options.leave_out), end="")


def gpus_of(program):
    return sorted(machine["id"] for machine in json.loads(program.run("hw", "list", "--format", "json"))["machines"]
                  if machine["family"] == "gpus")


def left_out_by(by, fitted_on_all, program, start, side_by_side):
    """Errors of rows that another column leaves out, with the constants that all rows gave."""
    every = []
    for known in fitted_on_all:
        folds = Folds(program, known.kernels, start, by)
        folds.together = known.together
        for row in itertools.chain(*known.of.values()):
            row.left_s = row.one_s = 0.0
            folds.add(row)
        every.append(folds)
    side_by_side([(folds.leave_out, name) for folds in every for name in folds.names()])
    for folds in every:
        folds.note_left()
        folds.of = {gpu: [row for row in rows if row.left_s > 0] for gpu, rows in folds.of.items()}
        folds.has_held = set()
    return groups_of(every)


if __name__ == "__main__":
    try:
        main()
    except Refused as refused:
        sys.exit(str(refused))
