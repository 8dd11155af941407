#!/usr/bin/env python3
"""Names that act, through every command and every format that it writes.

names.py EYEROOF: layers, a network, and a machine have names that are markup, or formulas. JSON
and CSV must parse, with rows of one width; tables of Markdown must have rows of one width, and no markup of a name;
pages and pictures no element of a name; text no control sequence.
"""
import concurrent.futures
import csv
import html.parser
import io
import json
import os
import re
import subprocess
import sys
import tempfile

EYEROOF = os.path.realpath(sys.argv[1])
NAMES = ["<img src=x onerror=mark()>", "</script><script>mark()</script>", "a|b|c", "`code` **bold** _it_",
         "[link](javascript:mark)", "![](http://mark)", '"quoted", and', "=HYPERLINK(\"mark\")", "+1-1@SUM(1)", "%s%n{0}",
         "]]>&amp;<!-- ", "\\n\\t\\\\", "'; drop table", "$(mark)", "../../mark", "é漢ع",
         "# heading", "- item", "&lt;b&gt;", "a" * 90]
FORMATS = {"text", "json", "csv", "md", "html", "svg", "jsonl"}
COMMANDS = [["exam", "NET", "--on", "t4"], ["exam", "NET", "--on", "MACHINE", "--mapping", "dataflow"],
            ["exam", "NET", "--on", "t4", "--on", "l4"], ["net", "show", "NET"], 
            ["map", "NET", "--on", "MACHINE", "--search-nodes", "20"], ["memory", "NET", "--on", "t4"],
            ["upgrade", "NET", "--from", "t4", "--to", "l4"], ["scale", "NET", "--on", "a100-sxm-40gb", "--devices", "8"],
            ["timeline", "NET", "--on", "t4"], ["roofline", "NET", "--on", "t4"], ["fuse", "NET", "--on", "MACHINE"],
            ["bound", "NET", "--on", "t4"], ["improve", "NET", "--on", "t4"],
            ["sweep", "NET", "--on", "t4", "--vary", "batch=1,2"], ["hw", "show", "MACHINE"]]


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.wrong = []

    def handle_starttag(self, tag, attrs):
        acts = [name for name, value in attrs if name.startswith("on") and "mark" in (value or "")]
        if acts or any("javascript:" in (value or "") for _, value in attrs):
            self.wrong.append(f"an element <{tag}> of a name")

    def handle_data(self, data):
        if self.cdata_elem == "script" and data.strip() == "mark()":
            self.wrong.append("a script of a name")


def cells(line):
    return len(re.findall(r"(?<!\\)\|", line))


def wrong_in(form, out):
    if "\x1b" in out or "\x07" in out:
        return ["a control sequence"]
    if form in ("json", "jsonl"):
        for line in [out] if form == "json" else out.splitlines():
            json.loads(line)
    elif form == "csv":
        widths = {len(row) for row in csv.reader(io.StringIO(out), strict=True) if row}
        return [f"rows of {sorted(widths)} cells"] if len(widths) > 1 else []
    elif form == "md":
        wrong = ["markup of a name"] if re.search(r"(?<!\\)<(?:img|/?script)|(?<!\\)!\[\]\(http://mark", out) else []
        for table in re.findall(r"(?:^\|.*\n)+", out, re.M):
            if len({cells(line) for line in table.splitlines()}) > 1:
                wrong.append("a row of another width")
        return wrong
    elif form in ("html", "svg"):
        page = Page()
        page.feed(out)
        return page.wrong
    return []


def formats_of(command):
    help_text = subprocess.run([EYEROOF] + [word for word in command[:2] if word.islower()] + ["--help-all"],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    said = re.search(r"--format.*?(?=\n\s*-)", help_text, re.S)
    return sorted(FORMATS & set(re.findall(r"[a-z]+", said.group() if said else ""))) or ["text"]


def inputs(folder):
    net = os.path.join(folder, "<b>net|`x`.csv")
    with open(net, "w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["name", "op", "count", "dtype", "m", "n", "k"])
        for i, name in enumerate(NAMES):
            rows.writerow([name, "gemm", 1, "fp16", 64 + 8 * i, 64, 128])
    machine = os.path.join(folder, "machine.yaml")
    shown = subprocess.run([EYEROOF, "hw", "show", "npu-int8"], capture_output=True, text=True).stdout
    with open(machine, "w", encoding="utf-8") as out:
        out.write(re.sub("^name:.*", "name: '<img src=x onerror=mark()>|`x`'", shown, flags=re.M))
    return {"NET": net, "MACHINE": machine}


def one(words, form):
    done = subprocess.run([EYEROOF] + words + ["--format", form], capture_output=True, stdin=subprocess.DEVNULL,
                          timeout=120)
    out = done.stdout.decode(errors="replace")
    if done.returncode not in (0, 1):
        return done.returncode, []
    try:
        return done.returncode, wrong_in(form, out)
    except ValueError as error:
        return done.returncode, [f"does not parse: {error}"]


def main():
    tried = refused = wrong = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        paths = inputs(folder)
        jobs = [([paths.get(word, word) for word in command], form, command) for command in COMMANDS
                for form in formats_of(command)]
        for (_, form, command), (code, found) in zip(jobs, pool.map(lambda job: one(*job[:2]), jobs)):
            tried += 1
            refused += code not in (0, 1)
            for what in found:
                wrong += 1
                print(f"WRONG: {' '.join(command)} --format {form}: {what}")
            if code not in (0, 1):
                print(f"{' '.join(command)} --format {form}: exit {code}")
    print(f"{tried} outputs, {refused} refused, {wrong} wrong")
    return 1 if wrong or refused * 4 > tried else 0


if __name__ == "__main__":
    sys.exit(main())
