#!/usr/bin/env python3
"""Mutation testing: does a wrong line make a test fail?

    tests/mutants/run.py build/dev              # all of tests/mutants/list.txt, as a table
    tests/mutants/run.py build/dev conv.cpp     # those whose file or text contains a word
    tests/mutants/run.py build/dev --search     # which case kills each, whatever the list says
    tests/mutants/run.py build/dev --random 300 --seed 7   # random lines instead of the list
    tests/mutants/run.py build/dev formats --random 30     # of the folders that contain a word
    tests/mutants/run.py build/dev --random 300 --seed 7 --only 4,17   # of those, these again

The build folder must be configured from these sources, on Linux and x86-64; the test programs that are
needed are built first. Neither the sources nor the programs change. What makes a mutant quick:

- The wrong lines of all files that the build compiles as one are compiled as one (selectable.py), and
  an environment variable chooses one when the program runs.
- Only this object is compiled, and linked before everything else of the test program (build.py).
- Only the cases that reach the mutant's function run, up to the first that fails. Each program runs
  once to record which cases reach which lines (reach.cpp), and again after it is built again.

A list entry names a file, the text that stands there once, what stands there instead, and the program
and case that notices:

    == model/gpu/matmul.cpp
    - std::ceil(p.m / tile.tm)
    + std::floor(p.m / tile.tm)
    ! test_model: a row more than a tile costs a whole tile

'! survives: why it makes no difference' stands where no test can tell, '! ?' where the run must find out
which case does. Exit 1: a mutant survives the
case that the list names, one that should survive is killed, or a text is not there.

Random mutants change one operator, comparison, constant, or condition, or drop one call, in a line
that is drawn with the seed, an equal number from each folder. A mutant is noticed when any case of
its folder's test programs fails, crashes, or takes more than ten times its CPU time. With --all, the
cases of all other programs try what those do not notice.
"""

import argparse
import os
import random
import re
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from build import HERE, Build, read, run_tests

sys.path.insert(0, os.path.dirname(HERE))
import affected  # which programs test a folder
from selectable import HEAD, Change, ends_statement, offset_of, together

RANDOM_FOLDERS = ["analysis/advice", "analysis/bound", "analysis/calibrate", "analysis/cores", "analysis/diff",
                  "analysis/exam", "analysis/fuse", "analysis/measured", "analysis/program", "analysis/scale",
                  "analysis/scenario", "analysis/chip", "analysis/sparse", "analysis/step", "analysis/sweep",
                  "analysis/trials", "analysis/tune", "analysis/upgrade", "analysis/what_if", "base", "cli", "formats",
                  "hwdb", "mapper", "model", "model/gpu", "profiles", "report"]


ALL_PROGRAMS = ["test_" + name for name in (
    "model", "hwdb", "profiles", "mapper", "formats", "catalog", "fuse", "sparse", "chip", "cores", "sweep",
    "step", "diff", "tune", "gpu", "report", "analysis", "scale", "scenario", "cli", "agreement")]


def programs_of(file):
    return ["test_" + name for name in affected.programs_of(file)]


class Mutant:
    """A change of a file; of the list, with the program and case that must notice, or why none can."""

    def __init__(self, file, change, program="", case="", lives=False, number=0):
        self.file, self.change, self.program, self.case = file, change, program, case
        self.lives, self.number = lives, number
        self.line = read(file).count("\n", 0, change.begin) + 1 if change else 0

    def __str__(self):
        old, new = self.change.old_statement, self.change.new_statement
        return f"{self.file}:{self.line}: {' '.join(old.split())}  ->  {' '.join(new.split()) or '(nothing)'}"


def read_list(path, word):
    mutants, file, old, new = [], None, None, None
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if line.startswith("== "):
                file = line[3:].strip()
            elif line.startswith("- "):
                old = line[2:]
            elif line.startswith("+ ") or line == "+":
                new = line[2:]
            elif line.startswith("! "):
                if word in file + old + new:
                    mutants.append(listed(file, old, new, line[2:], number))
            elif line and not line.startswith("#"):
                sys.exit(f"{path}:{number}: neither ==, -, +, ! nor a comment: {line}")
    return mutants


def listed(file, old, new, verdict, number):
    text = read(file)
    at = text.find(old)
    there = text.count(old) == 1
    program, _, case = verdict.partition(":")
    lives = program == "survives"
    if program == "?":
        program, case = programs_of(file)[0], ""
    if not there:
        print(f"! not there: list.txt:{number}: {file}: {old}")
    return Mutant(file, Change(text, at, at + len(old), new) if there else None,
                  programs_of(file)[0] if lives else program, case.strip(), lives, number)


def groups_of(mutants, build):
    """Mutants of files that the build compiles as one."""
    groups = {}
    for mutant in mutants:
        groups.setdefault(build.units.get(mutant.file), []).append(mutant)
    return groups.values()


class Object:
    """A compiled text, linked into each program once."""

    def __init__(self, build, path, scratch):
        self.build, self.path, self.scratch = build, path, scratch
        self.linked, self.sound = {}, {}

    def program(self, name):
        if name not in self.linked:
            self.linked[name] = self.build.link(name, self.path, self.scratch)
        return self.linked[name]

    def failing(self, program, names, cpu_s, number):
        """Cases that fail with the mutant and pass without it; None if one fails without it."""
        linked = self.program(program)
        failed = run_tests(linked, names, self.scratch, cpu_s, number)
        if failed:
            again = tuple(names if failed[0].startswith("(") else failed)
            unchanged = linked if number else os.path.join(self.build.folder, "tests", program)
            if (program, again) not in self.sound:
                self.sound[program, again] = not run_tests(unchanged, again, self.scratch, cpu_s)
            if not self.sound[program, again]:
                return None
        return failed


def compiled_together(mutants, build, scratch):
    """One object with all mutants that can be selected, and their numbers."""
    texts = {m.file: read(m.file) for m in mutants}
    left = dict(enumerate(mutants, 1))
    for _ in range(4):
        unit, places = HEAD, {}
        for file, text in texts.items():
            chosen, of_file = together(text, [(n, m.change) for n, m in left.items() if m.file == file])
            path = os.path.join(os.path.dirname(os.path.dirname(HERE)), file)
            unit += f'#line 1 "{path}"\n{chosen}\n'
            places.update({(path, lines): numbers for lines, numbers in of_file.items()})
        numbers = [n for of_lines in places.values() for n in of_lines]
        if len(numbers) < 2:
            return None, {}
        output, errors = build.compile(mutants[0].file, unit, scratch)
        if output:
            return output, {left[n]: n for n in numbers}
        wrong = {(path, int(line)) for path, line in re.findall(r"^(\S+?):(\d+):", errors, re.M)}
        drop = {n for (path, (first, last)), of_lines in places.items() for n in of_lines
                if any(p == path and first <= line <= last for p, line in wrong)}
        drop |= {n for n in numbers if "constexpr" in left[n].change.old_statement}
        if not drop:
            return None, {}
        left = {n: m for n, m in left.items() if n not in drop}
    return None, {}


def judge_group(mutants, build, judge):
    """Each mutant, what judge says of it, and its share of the seconds."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        output, numbers = compiled_together(mutants, build, scratch) if len(mutants) > 1 else (None, {})
        together_s = (time.monotonic() - began) / len(mutants)
        common = Object(build, output, scratch) if output else None
        for mutant in mutants:
            began = time.monotonic()
            verdict = None
            if mutant in numbers and common.program(mutant.program or programs_of(mutant.file)[0]):
                verdict = judge(mutant, common, numbers[mutant])
            if verdict is None:
                verdict = judge_alone(mutant, build, judge) or ("unsure", "its cases fail without it, too")
            yield mutant, verdict, together_s + time.monotonic() - began


def judge_alone(mutant, build, judge):
    path = os.path.join(os.path.dirname(os.path.dirname(HERE)), mutant.file)
    with tempfile.TemporaryDirectory() as scratch:
        text = f'#line 1 "{path}"\n' + mutant.change.applied(read(mutant.file))
        output, _ = build.compile(mutant.file, text, scratch)
        if output is None:
            return "no C++", ""
        alone = Object(build, output, scratch)
        if alone.program(mutant.program or programs_of(mutant.file)[0]) is None:
            return "no link", ""
        return judge(mutant, alone, 0)


def noticed_by(mutant, build, compiled, number, programs):
    """Program and case that notice the mutant, "" if none does, None if its object cannot say."""
    for program in programs:
        reach = build.reach(program)
        cases = reach.cases(mutant.file, mutant.line, read(mutant.file))
        if not cases or compiled.program(program) is None:
            continue
        names = [reach.names[i] for i in cases]
        failed = compiled.failing(program, names, 10 * sum(reach.seconds[i] for i in cases) + 10, number)
        if failed is None:
            return None
        if failed:
            return f"{program}: {failed[0]}"
    return ""


def all_groups(mutants, build, judge, jobs):
    """What judge_group yields for each group, several groups at once."""
    lock, results = threading.Lock(), []

    def one(group):
        for found in judge_group(group, build, judge):
            with lock:
                results.append(found)
                show(*found)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, groups_of(mutants, build)))
    return results


def show(mutant, verdict, seconds):
    what, by = verdict
    print(f"{what:11} {seconds:5.1f} s  [{mutant.number}] {mutant}\n{'':20}{by}", flush=True)


def run_list(options, build):
    mutants = read_list(options.list, options.word)
    there = [m for m in mutants if m.change]
    build.make({p for m in there for p in ([m.program] if not options.search else programs_of(m.file))})

    def judge(mutant, compiled, number):
        if options.search or not (mutant.lives or mutant.case):
            by = noticed_by(mutant, build, compiled, number, programs_of(mutant.file))
            return None if by is None else ("killed" if by else "! survives", by)
        if not mutant.lives:
            failed = compiled.failing(mutant.program, [mutant.case], 300, number)
            if failed is None:
                return None
            if failed:
                return "killed", f"{mutant.program}: {failed[0]}"
        by = noticed_by(mutant, build, compiled, number, [mutant.program])
        if by is None:
            return None
        if mutant.lives:
            return ("! killed", by) if by else ("survives", mutant.case)
        return "! survives", f"not noticed by the case of the list, but by {by}" if by else "not noticed"

    results = all_groups(there, build, judge, options.jobs)
    counts = {}
    for _, (what, _), _ in results:
        counts[what] = counts.get(what, 0) + 1
    wrong = len(mutants) - counts.get("killed", 0) - counts.get("survives", 0)
    print(f"{len(mutants)} mutants: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())) +
          f"; {wrong} not as the list says; {mean_s(results):.1f} s each")
    return 1 if wrong else 0


def mean_s(results):
    return sum(seconds for *_, seconds in results) / max(len(results), 1)


# ---- random lines --------------------------------------------------------------------------------

SWAPS = [(r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" / ", " * "), (r" < ", " <= "),
         (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
         (r" && ", " || "), (r" \|\| ", " && "), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
         (r"std::max\b", "std::min"), (r"std::min\b", "std::max"), (r"\+= ", "-= "),
         (r"\b0\.0\b", "1.0"), (r"\b1\.0\b", "2.0"), (r"(?<![\w.])1(?![\w.])", "2"),
         (r"(?<![\w.])0(?![\w.])", "1")]


def mutations_of(line, begins):
    """Every way to change the line, and to drop it if a statement begins there."""
    code = line.partition("//")[0]
    stripped = code.strip()
    if not stripped or stripped.startswith(("#", "*", "using ", "namespace", "template", "}")):
        return []
    if '"' in code:  # words of a message are no logic
        return []
    found = []
    for pattern, instead in SWAPS:
        for match in re.finditer(pattern, code):
            found.append(code[:match.start()] + instead + code[match.end():])
    condition = re.match(r"^(\s*(?:\} else )?if \()(.*)(\) \{)$", code.rstrip())
    if condition and " = " not in condition[2]:
        found.append(condition[1] + "!(" + condition[2] + ")" + condition[3])
    if begins and re.match(r"^\s+[\w.\->\[\]]+( [-+*/]?= .*|\(.*\));$", code.rstrip()):
        found.append(code[:len(code) - len(code.lstrip())] + ";")
    return found



def draw_mutants(count, seed, build, word):
    """The same ones for a seed and a state of the sources, an equal number from each folder with the word."""
    drawn, generator = [], random.Random(seed)
    files = {folder: sorted(f for f in build.commands if f.startswith(folder + "/") and f.endswith(".cpp") and
                            not (folder == "model" and f.startswith("model/gpu")))
             for folder in RANDOM_FOLDERS}
    lines = {}
    for folder, members in files.items():
        for file in members:
            before = ""
            for number, line in enumerate(read(file).split("\n"), 1):
                changed = mutations_of(line, ends_statement(before))
                before = line
                if changed:
                    lines.setdefault(folder, []).append((file, number, line, changed))
    folders = [word] if word in RANDOM_FOLDERS else [folder for folder in RANDOM_FOLDERS if word in folder]
    if not folders:
        sys.exit(f"no folder contains '{word}': {', '.join(RANDOM_FOLDERS)}")
    for n in range(count):
        folder = folders[n % len(folders)]
        file, line, old, changed = generator.choice(lines[folder])
        text = read(file)
        begin = offset_of(text, line - 1)
        change = Change(text, begin, begin + len(old), generator.choice(changed))
        drawn.append(Mutant(file, change, number=n + 1))
        drawn[-1].folder = folder
    return drawn


def run_random(options, build):
    mutants = draw_mutants(options.random, options.seed, build, options.word)
    if options.only:
        mutants = [m for m in mutants if m.number in options.only]
    own = {p for m in mutants for p in programs_of(m.file)}
    programs = sorted(own) + [p for p in ALL_PROGRAMS if options.all and p not in own]
    build.make(programs)
    for program in programs:
        build.reach(program)

    def judge(mutant, compiled, number):
        mine = programs_of(mutant.file)
        by = noticed_by(mutant, build, compiled, number, mine)
        if by:
            return "noticed", by
        others = [p for p in ALL_PROGRAMS if p not in mine] if options.all else []
        elsewhere = noticed_by(mutant, build, compiled, number, others)
        if by is None or elsewhere is None:
            return None
        if elsewhere:
            return "elsewhere", elsewhere
        reached = [p for p in mine + others if build.reach(p).cases(mutant.file, mutant.line, read(mutant.file))]
        return "survives", f"although reached by {', '.join(reached)}" if reached else "no case reaches it"

    print_shares(all_groups(mutants, build, judge, options.jobs), options)
    return 0


def print_shares(results, options):
    """A row a folder: how many compile, how many are noticed, and by whom."""
    def row(name, of):
        counts = [sum(what == w for _, (what, _), _ in of) for w in ("noticed", "elsewhere", "survives")]
        share = 100.0 * counts[0] / max(sum(counts), 1)
        print(f"| {name} | {sum(counts)} | {counts[0]} ({share:.0f} %) | {counts[1]} | {counts[2]} |")

    print("\n| folder | compile | noticed by its own tests | by others | survive |\n|---|---|---|---|---|")
    for folder in RANDOM_FOLDERS:
        of = [r for r in results if r[0].folder == folder]
        if of:
            row(folder, of)
    row("all", results)
    print(f"\n{options.random} random mutants, seed {options.seed}, {mean_s(results):.1f} s each")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", help="folder that was built, such as build/dev")
    parser.add_argument("word", nargs="?", default="", help="only mutants with this text; of random ones, folders")
    parser.add_argument("--list", default=os.path.join(HERE, "list.txt"))
    parser.add_argument("--search", action="store_true", help="say which case kills each, whatever the list says")
    parser.add_argument("--random", type=int, metavar="N", help="N random lines instead of the list")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="try the other test programs on random mutants, too")
    parser.add_argument("--only", type=lambda text: {int(n) for n in text.split(",")}, help="numbers of random mutants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    build = Build(os.path.abspath(options.build))
    for names in affected.PROGRAMS.values():  # test_gpu needs CUPTI's headers
        names[:] = [name for name in names if "test_" + name in build.programs]
    ALL_PROGRAMS[:] = [program for program in ALL_PROGRAMS if program in build.programs]
    return run_random(options, build) if options.random else run_list(options, build)


if __name__ == "__main__":
    sys.exit(main())
