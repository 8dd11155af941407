#!/usr/bin/env python3
"""Mutation testing: does a wrong line make the named test fail?

    tests/mutants/run.py build/dev              # all of tests/mutants/list.txt, as a table
    tests/mutants/run.py build/dev conv.cpp     # those whose file or text contains a word
    tests/mutants/run.py build/dev --search     # which case kills it, whatever the list says
    tests/mutants/run.py build/dev --random 300 --seed 7   # random lines instead of the list
    tests/mutants/run.py build/dev formats --random 30     # of the folders that contain a word

Mutants of one file that are whole expressions are compiled together, once, each behind a number that
the environment chooses; the others one by one.

The build folder must be configured from these very sources; the test programs that are needed are
built first. Of each mutant only its one source file is compiled, into a scratch folder, and linked
before everything else of the test program, so that its definitions are the ones that count; neither
the sources nor the build folder change. Exit 1: a mutant that the list says is killed survives, or
one that it says survives is killed, or a line is not there to be changed.

A list entry names a file, the text that stands there once, what stands there instead, and the program
and case that notices:

    == model/gpu/matmul.cpp
    - std::ceil(p.m / tile.tm)
    + std::floor(p.m / tile.tm)
    ! test_model: a row more than a tile costs a whole tile

'! survives: why it makes no difference' stands where no test can tell.

Random mutants change one operator, comparison, constant, or condition, or drop one call, in a line
that is drawn with the seed, an equal number from each folder. A mutant is noticed when any case of
its folder's test programs fails, crashes, or runs longer than ten times the unchanged program.
"""

import argparse
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.dirname(os.path.dirname(HERE))
LIMIT_S = 300  # a mutant that makes a search endless is killed by this

# The test programs of a folder, the likeliest to notice first.
PROGRAMS = {
    "analysis/calibrate": ["analysis"], "analysis/cores": ["cores"], "analysis/diff": ["diff"],
    "analysis/exam": ["analysis", "report"], "analysis/fuse": ["fuse"],
    "analysis/measured": ["analysis"], "analysis/program": ["step", "scenario", "analysis"],
    "analysis/scale": ["scale"], "analysis/scenario": ["scenario"], "analysis/chip": ["chip"],
    "analysis/sparse": ["sparse"], "analysis/step": ["step"], "analysis/sweep": ["sweep"],
    "analysis/tune": ["tune"], "analysis/upgrade": ["analysis"],
    "analysis": ["analysis"], "base": ["model", "hwdb", "formats"], "formats": ["formats", "catalog"],
    "hwdb": ["hwdb"], "mapper": ["mapper"], "model": ["model", "analysis"], "profiles": ["profiles"],
    "report": ["report", "analysis"], "cli": ["cli"],
}
RANDOM_FOLDERS = ["analysis/program", "analysis/scale", "analysis/step", "analysis/sweep",
                  "analysis/upgrade", "analysis/exam", "formats", "hwdb", "mapper", "model",
                  "model/gpu", "profiles"]


def programs_of(file):
    folder = os.path.dirname(file)
    while folder and folder not in PROGRAMS:
        folder = os.path.dirname(folder)
    return ["test_" + name for name in PROGRAMS[folder or "analysis"]]


class Mutant:
    def __init__(self, file, old, new, verdict, line):
        self.file, self.old, self.new, self.line = file, old, new, line
        self.lives = verdict.startswith("survives")
        self.why = verdict.partition(":")[2].strip()
        self.program = verdict.partition(":")[0].strip()
        if self.lives or self.program == "?":
            self.program = programs_of(file)[0]


def read_list(path):
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
                mutants.append(Mutant(file, old, new, line[2:], number))
            elif line and not line.startswith("#"):
                sys.exit(f"{path}:{number}: neither ==, -, +, ! nor a comment: {line}")
    return mutants


class Build:
    """How the build folder compiles a file and links a program."""

    def __init__(self, folder):
        self.folder = folder
        output = subprocess.run(["ninja", "-C", folder, "-t", "compdb"], capture_output=True,
                                text=True, check=True).stdout
        self.commands = {}
        for entry in json.loads(output):
            if not entry["output"].endswith(".o"):
                continue
            path = os.path.join(entry["directory"], entry["file"])
            for part in self.parts_of(path):
                self.commands[os.path.relpath(part, SOURCES)] = entry["command"]
        self.links = {}

    @staticmethod
    def parts_of(path):
        """The sources that a unity file holds, or the source itself."""
        if not os.path.basename(path).startswith("unity_"):
            return [path]
        try:
            with open(path, encoding="utf-8") as unity:
                return re.findall(r'^#include "([^"]+)"', unity.read(), re.M)
        except FileNotFoundError:
            return []

    def make(self, programs):
        subprocess.run(["ninja", "-C", self.folder] + ["tests/" + p for p in sorted(programs)],
                       check=True, stdout=sys.stderr)

    def compile(self, file, text, scratch):
        words = shlex.split(self.commands[file])
        source = os.path.join(scratch, os.path.basename(file))
        with open(source, "w", encoding="utf-8") as out:
            out.write(text)
        wanted, skip = [], False
        for word in words:
            if skip:
                skip = False
            elif word in ("-MT", "-MF", "-o", "-c"):
                skip = True
            elif word not in ("-MD", "-Werror") and not word.endswith("ccache"):
                wanted.append(word)
        output = os.path.join(scratch, "mutant.o")
        done = subprocess.run(wanted + ["-O0", "-g0", "-w", "-c", source, "-o", output], cwd=self.folder,
                              capture_output=True, text=True)
        return output if done.returncode == 0 else None

    def link(self, program, mutant, scratch):
        if program not in self.links:
            output = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", "tests/" + program],
                                    capture_output=True, text=True, check=True).stdout
            steps = output.strip().split("\n")[-1].split(" && ")  # what is around it is ninja's
            self.links[program] = next(step for step in steps if f"-o tests/{program}" in step)
        words = shlex.split(self.links[program])
        output = os.path.join(scratch, program)
        words[words.index("-o") + 1] = output
        first = next(i for i, word in enumerate(words) if word.endswith((".a", ".o")))
        # The library's file holds the unchanged functions, too: of two definitions the first counts,
        # since position-independent code calls every function by its symbol.
        done = subprocess.run(words[:first] + ["-Wl,--allow-multiple-definition", mutant] + words[first:],
                              cwd=self.folder, capture_output=True)
        return output if done.returncode == 0 else None  # what one file alone does not define


def run_tests(program, case, scratch, limit_s=LIMIT_S):
    """Names of the cases that failed; a program that dies or does not end is a failure too."""
    report = os.path.join(scratch, "report.xml")
    words = [program, "-r=xml", "-o=" + report]
    if case:
        words.append("-tc=" + case.replace(",", "\\,"))
    else:  # the longest cases
        words += ["-aa=1", "-tce=many writers*,closed-form counts equal those*"]
    try:
        done = subprocess.run(words, capture_output=True, timeout=limit_s)
    except subprocess.TimeoutExpired:
        return ["(did not end)"]
    try:
        cases = ElementTree.parse(report).getroot().iter("TestCase")
        failed = [c.get("name") for c in cases
                  if any(r.get("test_case_success") == "false" or int(r.get("failures", 0)) > 0
                         for r in c.iter("OverallResultsAsserts")) or c.find("Exception") is not None]
    except ElementTree.ParseError:
        failed = []
    return failed or (["(died)"] if done.returncode != 0 else [])


def mutated(mutant):
    path = os.path.join(SOURCES, mutant.file)
    with open(path, encoding="utf-8") as source:
        text = source.read()
    if text.count(mutant.old) != 1:
        return None
    return f'#line 1 "{path}"\n' + text.replace(mutant.old, mutant.new)


NOT_FIRST = ("return", "if", "for", "while", "case", "const", "constexpr", "auto", "double", "bool", "static",
             "}", "?", ":", "&&", "||", "+", "*", "/", "<", ">", "=", ",", ".", ")")


def is_expression(text):
    """Whether parentheses around the text leave its meaning: balanced, and no part of a statement."""
    text = text.strip()
    depth = 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return False
    return (bool(text) and depth == 0 and ";" not in text and not text.startswith(NOT_FIRST)
            and not text.endswith((",", "(", "&&", "||", "+", "-", "*", "/", "=", "?", ":", "<", ">", "{"))
            and " = " not in text and " += " not in text and '"' not in text)


def together(file, mutants):
    """The file with all these mutants, of which EYEROOF_MUTANT chooses one; None if they overlap."""
    path = os.path.join(SOURCES, file)
    with open(path, encoding="utf-8") as source:
        text = source.read()
    changes = {}
    for number, mutant in enumerate(mutants, 1):
        changes.setdefault(mutant.old, []).append((number, mutant.new))
    places = []
    for old, choices in changes.items():
        at = text.index(old)
        instead = f"({old.strip()})"
        for number, new in choices:
            instead = f"(eyeroof_mutant() == {number} ? ({new.strip()}) : {instead})"
        places.append((at, at + len(old), old[:len(old) - len(old.lstrip())] + instead))
    places.sort(reverse=True)
    for (begin, _, _), (_, end, _) in zip(places, places[1:]):
        if begin < end:
            return None
    for begin, end, instead in places:
        text = text[:begin] + instead + text[end:]
    return ('#include <cstdlib>\nstatic int eyeroof_mutant() {\n'
            '    static const int number = std::atoi(std::getenv("EYEROOF_MUTANT"));\n'
            f'    return number;\n}}\n#line 1 "{path}"\n{text}')


def verdict_of(mutant, failed, seconds, search):
    if failed:
        return "killed", "; ".join(failed[:3] if search else failed[:1]), seconds, not mutant.lives
    return "survives", mutant.why, seconds, mutant.lives


def judge(mutant, build, search):
    """What happened, by which case, in how many seconds, and whether the list says so."""
    began = time.monotonic()
    changed = mutated(mutant)
    if changed is None:
        return "not there", "the text must stand there exactly once", 0.0, False
    with tempfile.TemporaryDirectory() as scratch:
        compiled = build.compile(mutant.file, changed, scratch)
        if compiled is None:
            return "no C++", "", time.monotonic() - began, False
        program = build.link(mutant.program, compiled, scratch)
        if program is None:
            return "no link", "", time.monotonic() - began, False
        everything = search or mutant.lives
        failed = run_tests(program, "" if everything else mutant.why, scratch)
    return verdict_of(mutant, failed, time.monotonic() - began, search)


def judge_file(file, mutants, build, search):
    """Each mutant with its verdict."""
    group = [m for m in mutants if mutated(m) and is_expression(m.old) and is_expression(m.new)]
    text = together(file, group) if len(group) > 1 else None
    verdicts = {}
    with tempfile.TemporaryDirectory() as scratch:
        compiled = build.compile(file, text, scratch) if text else None
        if compiled:
            linked = {}
            for number, mutant in enumerate(group, 1):
                began = time.monotonic()
                if mutant.program not in linked:
                    linked[mutant.program] = build.link(mutant.program, compiled, scratch)
                program = linked[mutant.program]
                if program is None:
                    continue
                case = "" if search or mutant.lives else mutant.why
                os.environ["EYEROOF_MUTANT"] = "0"
                if case and run_tests(program, case, scratch):
                    continue  # the parentheses change something: alone, below
                os.environ["EYEROOF_MUTANT"] = str(number)
                failed = run_tests(program, case, scratch)
                verdicts[id(mutant)] = verdict_of(mutant, failed, time.monotonic() - began, search)
    for mutant in mutants:
        yield mutant, verdicts.get(id(mutant)) or judge(mutant, build, search)


# ---- random lines --------------------------------------------------------------------------------

SWAPS = [(r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" / ", " * "), (r" < ", " <= "),
         (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
         (r" && ", " || "), (r" \|\| ", " && "), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
         (r"std::max\b", "std::min"), (r"std::min\b", "std::max"), (r"\+= ", "-= "),
         (r"\b0\.0\b", "1.0"), (r"\b1\.0\b", "2.0"), (r"(?<![\w.])1(?![\w.])", "2"),
         (r"(?<![\w.])0(?![\w.])", "1")]


def mutations_of(line):
    """Every way to change the line: (text before, text after)."""
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
    if re.match(r"^\s+[\w.\->\[\]]+( [-+*/]?= .*|\(.*\));$", code.rstrip()):
        found.append(code[:len(code) - len(code.lstrip())] + ";")
    return found


class RandomMutant(Mutant):
    def __init__(self, file, number, old, new):
        super().__init__(file, old, new, "?: ", number)

    def text(self):
        path = os.path.join(SOURCES, self.file)
        with open(path, encoding="utf-8") as source:
            lines = source.read().split("\n")
        lines[self.line - 1] = self.new
        return f'#line 1 "{path}"\n' + "\n".join(lines)


def draw_mutants(count, seed, build, word):
    """The same ones for a seed and a state of the sources, an equal number from each folder with the word."""
    drawn, generator = [], random.Random(seed)
    files = {folder: sorted(f for f in build.commands if f.startswith(folder + "/") and
                            not (folder == "model" and f.startswith("model/gpu")))
             for folder in RANDOM_FOLDERS}
    lines = {}
    for folder, members in files.items():
        for file in members:
            with open(os.path.join(SOURCES, file), encoding="utf-8") as source:
                for number, line in enumerate(source.read().split("\n"), 1):
                    if mutations_of(line):
                        lines.setdefault(folder, []).append((file, number, line))
    folders = [folder for folder in RANDOM_FOLDERS if word in folder]
    if not folders:
        sys.exit(f"no folder contains '{word}': {', '.join(RANDOM_FOLDERS)}")
    for n in range(count):
        file, number, line = generator.choice(lines[folders[n % len(folders)]])
        drawn.append(RandomMutant(file, number, line, generator.choice(mutations_of(line))))
    return drawn


def run_random(count, seed, build, word):
    mutants = draw_mutants(count, seed, build, word)
    programs = {p for m in mutants for p in programs_of(m.file)}
    build.make(programs)
    usual = {}
    for program in sorted(programs):
        with tempfile.TemporaryDirectory() as scratch:
            began = time.monotonic()
            if run_tests(os.path.join(build.folder, "tests", program), "", scratch, 3600):
                sys.exit(f"{program} fails without a mutant")
            usual[program] = time.monotonic() - began
    counts = {}
    for mutant in mutants:
        what, by = "survives", ""
        with tempfile.TemporaryDirectory() as scratch:
            compiled = build.compile(mutant.file, mutant.text(), scratch)
            if compiled is None:
                what = "no C++"
            else:
                for program in programs_of(mutant.file):
                    linked = build.link(program, compiled, scratch)
                    if linked is None:
                        what = "no link"
                        break
                    failed = run_tests(linked, "", scratch, 10 * usual[program] + 10)
                    if failed:
                        what, by = "noticed", f"{program}: {failed[0]}"
                        break
        counts[what] = counts.get(what, 0) + 1
        print(f"{what:9} {mutant.file}:{mutant.line}: {mutant.old.strip()}  ->  {mutant.new.strip()}\n"
              f"{'':10}{by}", flush=True)
    valid = counts.get("noticed", 0) + counts.get("survives", 0)
    print(f"{count} random mutants, seed {seed}: {valid} compile, {counts.get('noticed', 0)} of them are "
          f"noticed ({100.0 * counts.get('noticed', 0) / max(valid, 1):.0f} %)")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", help="folder that was built, such as build/dev")
    parser.add_argument("word", nargs="?", default="", help="only mutants that contain it; of random ones, only folders")
    parser.add_argument("--list", default=os.path.join(HERE, "list.txt"))
    parser.add_argument("--search", action="store_true", help="run all cases and name those that fail")
    parser.add_argument("--random", type=int, metavar="N", help="N random lines instead of the list")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    build = Build(os.path.abspath(options.build))
    if options.random:
        return run_random(options.random, options.seed, build, options.word)
    mutants = [m for m in read_list(options.list) if options.word in m.file + m.old + m.new]
    build.make({m.program for m in mutants})
    counts, wrong = {}, 0
    judged = (one for file in dict.fromkeys(m.file for m in mutants)
              for one in judge_file(file, [m for m in mutants if m.file == file], build, options.search))
    for mutant, (what, by, seconds, as_listed) in judged:
        counts[what] = counts.get(what, 0) + 1
        wrong += not as_listed
        mark = " " if as_listed else "!"
        print(f"{mark} {what:9} {seconds:4.0f} s  {mutant.file}  {mutant.old.strip()}  ->  "
              f"{mutant.new.strip() or '(nothing)'}\n{'':18}{by}", flush=True)
    killed = counts.get("killed", 0)
    print(f"{len(mutants)} mutants: " + ", ".join(f"{n} {what}" for what, n in counts.items()) +
          f"; {100.0 * killed / max(len(mutants), 1):.0f} % killed, {wrong} not as the list says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
