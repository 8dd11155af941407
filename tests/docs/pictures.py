#!/usr/bin/env python3
"""The pictures of README.md: predicted beside published, drawn from what the program prints.

pictures.py EYEROOF SOURCES [--update]

docs/images/serving.svg   Llama 3 70B on two H100: published and predicted tokens per second, and what limits them
docs/images/accuracy.svg  errors by class of operator, and predicted over published of whole runs, the worst named
"""
import csv
import html
import json
import math
import pathlib
import subprocess
import sys

program, sources = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
TABLE = "TensorRT-LLM 70B H100"
INK, PALE, MARK, BAD = "#1f2933", "#c9d1d9", "#0b6bcb", "#c0392b"


def answer(*words):
    done = subprocess.run([program, *words, "--format", "json"], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


class Picture:
    def __init__(self, width, height, title):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
                      f'height="{height}" role="img" font-family="sans-serif" font-size="13" fill="{INK}">',
                      f"<title>{html.escape(title)}</title>",
                      f'<rect width="{width}" height="{height}" fill="#ffffff"/>']

    def text(self, x, y, words, anchor="start", color=INK, size=13, weight="normal"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}" font-size="{size}" '
                          f'font-weight="{weight}">{html.escape(words)}</text>')

    def line(self, x1, y1, x2, y2, color=INK, width=1.0, dash=""):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" '
                          f'stroke-width="{width}"' + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")

    def box(self, x, y, width, height, color):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{color}"/>')

    def dot(self, x, y, color, radius=4.0, hollow=False):
        fill = "#ffffff" if hollow else color
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}" stroke="{color}" '
                          'stroke-width="1.5"/>')

    def done(self):
        return "\n".join(self.parts + ["</svg>"]) + "\n"


def best_rate(row, *changes):
    words = ["serve", row["network"], "--on", row["machine"], "--fabric", row["fabric"], "--tensor", row["tensor"],
             "--engine", row["engine"], "--dtype", row["dtype"], "--prompt", row["prompt"], "--answer", row["answer"],
             "--memory-share", row["memory_share"], "--chunk", row["chunk"]]
    for change in changes:
        words += ["--set", change]
    found = answer(*words)
    return found["points"][found["best"]]["tokens_per_s"]


def limit(row):
    """The part whose doubling gains most, and that gain."""
    now = best_rate(row)
    gains = [(best_rate(row, f"{key}=x2") / now, words)
             for key, words in (("sms", "compute (SMs)"), ("dram-bandwidth", "DRAM bandwidth"))]
    return max(gains)


def serving(validated):
    with (sources / "hwdb/evidence/scale.csv").open(encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    asked = [row for row in csv.DictReader(lines) if row["table"] == TABLE]
    rows = [row for row in validated["rows"] if row["table"] == TABLE]
    errors = [abs(row["predicted"] / row["published"] - 1) for row in rows]
    inside = sum(row["low"] <= row["published"] <= row["high"] for row in rows)
    picture = Picture(860, 400, "Llama 3 70B on two H100, tokens per second, published and predicted")
    picture.text(20, 28, "Llama 3 70B in fp8 on two H100, TensorRT-LLM: tokens per second", size=16, weight="bold")
    picture.text(20, 50, f"mean error {100 * sum(errors) / len(errors):.1f} %; {inside} of {len(rows)} published rates are "
                 "inside the 80 % interval, whose width comes from such tables", size=13)
    left, right, top, step = 180, 620, 92, 29
    most = max(row["high"] for row in rows)

    def at(value):
        return left + (right - left) * value / most
    picture.text(left - 12, top - 14, "prompt → output tokens", "end")
    picture.box(left, top - 24, 12, 12, PALE)
    picture.text(left + 18, top - 14, "published")
    picture.line(left + 100, top - 18, left + 130, top - 18, MARK, 2)
    picture.dot(left + 115, top - 18, MARK)
    picture.text(left + 138, top - 14, "predicted, 80 % interval")
    picture.text(right + 20, top - 14, "limited by (gain if doubled)")
    for at_row, (row, question) in enumerate(zip(rows, asked)):
        y = top + step * at_row + 12
        picture.text(left - 12, y + 4, f"{int(question['prompt']):,} → {int(question['answer']):,}", "end")
        picture.box(left, y - 8, at(row["published"]) - left, 16, PALE)
        picture.line(at(row["low"]), y, at(row["high"]), y, MARK, 2)
        picture.dot(at(row["predicted"]), y, MARK)
        gain, words = limit(question)
        picture.text(right + 20, y + 4, f"{words} ({gain:.2f}x)")
    bottom = top + step * len(rows) + 6
    picture.line(left, bottom, right, bottom)
    for tick in range(0, int(most) + 1, 2000):
        picture.line(at(tick), bottom, at(tick), bottom + 4)
        picture.text(at(tick), bottom + 18, f"{tick:,}", "middle")
    picture.text(20, 392, "published: NVIDIA/TensorRT-LLM performance overview v1.0; predicted: eyeroof validate --scale", size=11)
    return picture.done()


def classes():
    """(error on other shapes, on other architectures, class, GPUs) of the table of means."""
    text = (sources / "docs/dev/errors.md").read_text(encoding="utf-8").split("## Means over the GPUs")[1].split("\n## ")[0]
    found = []
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 12 and cells[8].replace(".", "").isdigit() and cells[9].replace(".", "").isdigit():
            found.append((float(cells[8]), float(cells[9]), f"{cells[1]} {cells[2]}, "
                          f"{'forward' if cells[3] == 'fwd' else cells[3]}", f"{cells[4]}, {int(cells[5]):,} rows"))
    return sorted(found, key=lambda row: row[1])


def accuracy(validated):
    operators, groups = classes(), validated["groups"]
    step, top = 17, 96
    height = top + step * max(len(operators), len(groups)) + 60
    picture = Picture(1000, height, "Errors of predictions by class, held out")
    picture.text(20, 28, "How far predictions are off, on rows that no constant was fitted to", size=16, weight="bold")
    picture.text(20, 52, "One operator on a GPU: mean error in %", weight="bold")
    picture.dot(26, 70, MARK)
    picture.text(36, 74, "other shapes")
    picture.dot(140, 70, MARK, hollow=True)
    picture.text(150, 74, "other architectures")
    left, right, most = 190, 470, 90

    def at(value):
        return left + (right - left) * value / most
    for tick in range(0, most + 1, 10):
        picture.line(at(tick), top, at(tick), top + step * len(operators), PALE, 0.5)
        picture.text(at(tick), top + step * len(operators) + 16, f"{tick}", "middle", size=11)
    for number, (held, out, words, rows) in enumerate(operators):
        y, worst = top + step * number + step / 2, number == len(operators) - 1
        color = BAD if worst else MARK
        picture.text(left - 8, y + 4, words, "end", color if worst else INK, 11)
        picture.line(at(held), y, at(out), y, color)
        picture.dot(at(held), y, color, 3.5)
        picture.dot(at(out), y, color, 3.5, hollow=True)
        if worst:
            picture.text(at(out) - 8, y - 8, f"worst: {out:.0f} % ({rows})", "end", BAD, 11)
    published_runs(picture, validated, groups, step, top)
    return picture.done()


def published_runs(picture, validated, groups, step, top):
    """Predicted over published of each run, a line for each table."""
    left, right = 730, 980
    picture.text(520, 52, "Whole runs on many GPUs: predicted / published", weight="bold")
    picture.text(520, 74, "a dot for each published run (mechanisms were chosen with them in view)", size=12)

    def at(ratio):
        return left + (right - left) * (math.log2(ratio) + 0.6) / 1.2
    off = {group["table"]: abs(math.log(group["median_ratio"])) for group in groups}
    order = sorted(off, key=off.get)
    for ratio in (0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4):
        picture.line(at(ratio), top, at(ratio), top + step * len(order), INK if ratio == 1.0 else PALE, 0.5)
        picture.text(at(ratio), top + step * len(order) + 16, f"{ratio:g}", "middle", size=11)
    for number, table in enumerate(order):
        y, worst = top + step * number + step / 2, number == len(order) - 1
        rows = [row for row in validated["rows"] if row["table"] == table]
        picture.text(left - 8, y + 4, f"{table} ({len(rows)})", "end", BAD if worst else INK, 11)
        for row in rows:
            picture.dot(at(min(1.5, max(0.67, row["predicted"] / row["published"]))), y, BAD if worst else MARK, 2.5)
    worst = next(group for group in groups if group["table"] == order[-1])
    picture.text(right, top + step * len(order) + 40, f"worst: {worst['table']}, {100 * worst['error']:.0f} % off", "end", BAD, 12)


def main():
    validated = answer("validate", "--scale")
    wrong = 0
    for name, drawn in (("serving.svg", serving(validated)), ("accuracy.svg", accuracy(validated))):
        kept = sources / "docs/images" / name
        if kept.exists() and kept.read_text(encoding="utf-8") == drawn:
            continue
        if "--update" in sys.argv[3:]:
            kept.write_text(drawn, encoding="utf-8")
        else:
            wrong += 1
            print(f"docs/images/{name}: not what the program's figures draw: ./bootstrap docs")
    print(f"2 pictures, {wrong} differ from the program's figures")
    return 1 if wrong else 0


sys.exit(main())
