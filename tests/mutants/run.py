#!/usr/bin/env python3
"""Mutation testing: does a wrong line of the model or the mapper make the named test fail?

    tests/mutants/run.py build/dev              # all of tests/mutants/list.txt, as a table
    tests/mutants/run.py build/dev conv.cpp     # those whose file or text contains a word
    tests/mutants/run.py build/dev --search     # which case kills it, whatever the list says

The build folder must hold the test programs, built from these very sources. Of each mutant only its
one source file is compiled, into a scratch folder, and linked before the libraries of the test
program; neither the sources nor the build folder change. Exit 1: a mutant that the list says is
killed survives, or one that it says survives is killed, or a line is not there to be changed.

A list entry names a file, the text that stands there once, what stands there instead, and the program
and case that notices:

    == model/gpu/matmul.cpp
    - std::ceil(p.m / tile.tm)
    + std::floor(p.m / tile.tm)
    ! test_model: a row more than a tile costs a whole tile

'! survives: why it makes no difference' stands where no test can tell.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.dirname(os.path.dirname(HERE))
PROGRAMS = {"model": "test_model", "mapper": "test_mapper"}  # by top folder, where none is named
LIMIT_S = 300  # a mutant that makes a search endless is killed by this


class Mutant:
    def __init__(self, file, old, new, verdict, line):
        self.file, self.old, self.new, self.line = file, old, new, line
        self.lives = verdict.startswith("survives")
        self.why = verdict.partition(":")[2].strip()
        self.program = verdict.partition(":")[0].strip()
        if self.lives or self.program == "?":
            self.program = PROGRAMS[file.split("/")[0]]


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
        said = subprocess.run(["ninja", "-C", folder, "-t", "compdb"], capture_output=True,
                              text=True, check=True).stdout
        self.commands = {}
        for entry in json.loads(said):
            path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), SOURCES)
            if entry["output"].endswith(".o"):
                self.commands[path] = entry["command"]
        self.links = {}

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
            said = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", "tests/" + program],
                                  capture_output=True, text=True, check=True).stdout
            steps = said.strip().split("\n")[-1].split(" && ")  # what comes before and after is ninja's
            self.links[program] = next(step for step in steps if f"-o tests/{program}" in step)
        words = shlex.split(self.links[program])
        output = os.path.join(scratch, program)
        words[words.index("-o") + 1] = output
        first = next(i for i, word in enumerate(words) if word.endswith(".a"))
        subprocess.run(words[:first] + [mutant] + words[first:], cwd=self.folder, check=True)
        return output


def run_tests(program, case, scratch):
    """Names of the cases that failed; a program that dies or does not end is a failure too."""
    report = os.path.join(scratch, "report.xml")
    words = [program, "-r=xml", "-o=" + report]
    if case:
        words.append("-tc=" + case.replace(",", "\\,"))
    else:  # those that know no model take longest
        words += ["-aa=1", "-tce=many writers*,closed-form counts equal those*"]
    try:
        done = subprocess.run(words, capture_output=True, timeout=LIMIT_S)
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
    line = text[:text.index(mutant.old)].count("\n") + 1
    return f'#line 1 "{path}"\n' + text.replace(mutant.old, mutant.new), line


def judge(mutant, build, search):
    """What happened, by which case, in how many seconds, and whether the list says so."""
    began = time.monotonic()
    changed = mutated(mutant)
    if changed is None:
        return "not there", "the text must stand there exactly once", 0.0, False
    with tempfile.TemporaryDirectory() as scratch:
        compiled = build.compile(mutant.file, changed[0], scratch)
        if compiled is None:
            return "no C++", "", time.monotonic() - began, False
        program = build.link(mutant.program, compiled, scratch)
        everything = search or mutant.lives
        failed = run_tests(program, "" if everything else mutant.why, scratch)
    seconds = time.monotonic() - began
    if failed:
        return "killed", "; ".join(failed[:3] if search else failed[:1]), seconds, not mutant.lives
    return "survives", mutant.why, seconds, mutant.lives


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", help="folder that was built, such as build/dev")
    parser.add_argument("word", nargs="?", default="", help="only mutants that contain it")
    parser.add_argument("--list", default=os.path.join(HERE, "list.txt"))
    parser.add_argument("--search", action="store_true", help="run all cases and name those that fail")
    options = parser.parse_args()
    build = Build(os.path.abspath(options.build))
    mutants = [m for m in read_list(options.list) if options.word in m.file + m.old + m.new]
    counts, wrong = {}, 0
    for mutant in mutants:
        what, by, seconds, as_told = judge(mutant, build, options.search)
        counts[what] = counts.get(what, 0) + 1
        wrong += not as_told
        mark = " " if as_told else "!"
        print(f"{mark} {what:9} {seconds:4.0f} s  {mutant.file}  {mutant.old.strip()}  ->  "
              f"{mutant.new.strip() or '(nothing)'}\n{'':18}{by}", flush=True)
    killed = counts.get("killed", 0)
    print(f"{len(mutants)} mutants: " + ", ".join(f"{n} {what}" for what, n in counts.items()) +
          f"; {100.0 * killed / max(len(mutants), 1):.0f} % killed, {wrong} not as the list says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
