#!/usr/bin/env python3
"""Where the seconds of a build or a test run went, as a table.

    tests/stages.py STAGES [KEEP]   # prints the table; with KEEP, a folder, leaves it there beside the last nine

STAGES is a file: its first line is the time of the start in seconds since 1970, each further line
"seconds<tab>stage". Build folders (build/*) that were used since the start add the seconds that compilers and
linkers were busy, their longest objects, and their longest test programs.
"""
import pathlib
import re
import sys
import time

KEPT = 10     # tables in KEEP
LONGEST = 12  # objects and test programs of a build folder


def steps(log, start):
    """(seconds, output) of the steps of a ninja log that ended after `start`."""
    found = {}
    for line in log.read_text(errors="replace").splitlines()[1:]:
        begin, end, mtime, output = line.split("\t")[:4]
        if int(mtime) / 1e9 >= start and not output.startswith("/"):
            found[output] = (int(end) - int(begin)) / 1000.0
    return [(seconds, output) for output, seconds in found.items()]


def programs(log):
    """(seconds, name) of the test programs in ctest's log."""
    text = log.read_text(errors="replace")
    return [(float(seconds), name)
            for name, seconds in re.findall(r"^\d+/\d+ Test: (\S+)$.*?^Test time = +([\d.]+) sec$", text, re.M | re.S)]


def table(stages, root):
    start, *lines = stages.read_text().splitlines()
    rows = [(float(line.split("\t")[0]), line.split("\t")[1]) for line in lines if "\t" in line]
    out = ["  seconds  stage"] + [f"{seconds:9.1f}  {name}" for seconds, name in rows]
    for log in sorted((root / "build").glob("*/.ninja_log")):
        done = steps(log, float(start))
        compiled = [step for step in done if step[1].endswith(".o")]
        linked = [step for step in done if not step[1].endswith(".o")]
        folder = log.parent.name
        if done:
            out.append(f"{sum(s for s, _ in compiled):9.1f}  {folder}: compilers busy, {len(compiled)} objects")
            out.append(f"{sum(s for s, _ in linked):9.1f}  {folder}: linkers and generators busy, {len(linked)} outputs")
            out += [f"{s:9.1f}    {name}" for s, name in sorted(compiled, reverse=True)[:LONGEST]]
        tests = log.parent / "Testing" / "Temporary" / "LastTest.log"
        if tests.exists() and tests.stat().st_mtime >= float(start):
            ran = programs(tests)
            out.append(f"{sum(s for s, _ in ran):9.1f}  {folder}: test programs busy, {len(ran)} programs")
            out += [f"{s:9.1f}    {name}" for s, name in sorted(ran, reverse=True)[:LONGEST]]
    out.append(f"{time.time() - float(start):9.1f}  in all")
    return "\n".join(out) + "\n"


def main():
    text = table(pathlib.Path(sys.argv[1]), pathlib.Path(__file__).resolve().parent.parent)
    print(text, end="")
    if len(sys.argv) > 2:
        keep = pathlib.Path(sys.argv[2])
        keep.mkdir(parents=True, exist_ok=True)
        (keep / time.strftime("%Y%m%d-%H%M%S.txt")).write_text(text)
        for old in sorted(keep.glob("*.txt"))[:-KEPT]:
            old.unlink()


if __name__ == "__main__":
    main()
