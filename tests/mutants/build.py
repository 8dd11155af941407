"""Compiles wrong lines into test programs of a build folder, and knows which cases reach a line.

Of a mutant's file, what else the build compiles with it, and the test programs, nothing is built again:
the wrong lines of all files that the build compiles as one are compiled as one, and the result is linked
before everything else of a test program, so that its definitions are the ones that count.
"""

import json
import os
import re
import resource
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.dirname(os.path.dirname(HERE))
# Code that runs with all signals blocked, where a breakpoint would end the process: no breakpoints.
UNRECORDED = {"base/group_guard.cpp"}
LEFT_OUT = "-tce=many writers*,closed-form counts equal those*"  # the longest cases


def read(file):
    with open(os.path.join(SOURCES, file), encoding="utf-8") as source:
        return source.read()


class Build:
    """How the build folder compiles a file and links a program."""

    def __init__(self, folder):
        self.folder = folder
        output = subprocess.run(["ninja", "-C", folder, "-t", "compdb"], capture_output=True,
                                text=True, check=True).stdout
        self.commands, self.units = {}, {}
        for entry in json.loads(output):
            if not entry["output"].endswith(".o"):
                continue
            path = os.path.join(entry["directory"], entry["file"])
            for part in self.parts_of(path):
                file = os.path.relpath(part, SOURCES)
                self.commands[file], self.units[file] = entry["command"], path
        targets = subprocess.run(["ninja", "-C", folder, "-t", "targets", "all"], capture_output=True,
                                 text=True, check=True).stdout
        self.programs = set(re.findall(r"^tests/(test_\w+):", targets, re.M))
        self.links, self.reaches = {}, {}
        self.linker = [f"-fuse-ld={name}" for name in ("lld", "gold") if shutil.which("ld." + name)][:1]

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

    def command_of(self, file):
        """The file's compiler with its options, without its input and outputs."""
        wanted, skip = [], False
        for word in shlex.split(self.commands[file]):
            if skip:
                skip = False
            elif word in ("-MT", "-MF", "-o", "-c"):
                skip = True
            elif word not in ("-MD", "-Werror") and not word.endswith("ccache"):
                wanted.append(word)
        return wanted

    def compile(self, file, text, scratch):
        """The object of a text with the file's options, or None and what the compiler says."""
        source = os.path.join(scratch, "mutant.cpp")
        with open(source, "w", encoding="utf-8") as out:
            out.write(text)
        output = os.path.join(scratch, "mutant.o")
        done = subprocess.run(self.command_of(file) + ["-g0", "-w", "-c", source, "-o", output], cwd=self.folder,
                              capture_output=True, text=True)
        return (output if done.returncode == 0 else None), done.stderr

    def link(self, program, first_object, scratch):
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
        done = subprocess.run(words[:first] + self.linker +
                              ["-Wl,--allow-multiple-definition", first_object] + words[first:],
                              cwd=self.folder, capture_output=True)
        return output if done.returncode == 0 else None  # what one file alone does not define

    def reach(self, program):
        """Which cases of the program reach which lines; kept beside the program until it is built again."""
        if program not in self.reaches:
            path = os.path.join(self.folder, "tests", program)
            kept = path + ".reach.json"
            if not os.path.exists(kept) or os.path.getmtime(kept) < os.path.getmtime(path):
                record_reach(self, program, kept)
            with open(kept, encoding="utf-8") as found:
                self.reaches[program] = Reach(json.load(found))
        return self.reaches[program]


class Reach:
    """The cases of a program, the CPU seconds each takes, and the lines each reaches."""

    def __init__(self, found):
        self.names = [name for name, _ in found["cases"]]
        self.seconds = [seconds for _, seconds in found["cases"]]
        self.lines = {file: {int(line): int(cases, 16) for line, cases in lines.items()}
                      for file, lines in found["lines"].items()}

    def cases(self, file, line, text):
        """Numbers of the cases that reach the function around the line, the quickest first: of a file
        that is not recorded, all."""
        if file in UNRECORDED:
            return sorted(range(len(self.names)), key=lambda i: self.seconds[i])
        first, last = function_around(text, line)
        mask = 0
        for at, cases in self.lines.get(file, {}).items():
            if first <= at <= last:
                mask |= cases
        return sorted((i for i in range(len(self.names)) if mask >> i & 1), key=lambda i: self.seconds[i])


def function_around(text, line):
    """Lines of the definition that holds the line; of a constant, all lines of the file."""
    lines = text.split("\n")
    first = line - 1
    while first > 0 and (not lines[first][:1].strip() or lines[first].startswith(("}", "#", "//"))):
        first -= 1
    if re.match(r"^(static |inline |const |constexpr )*(const|constexpr)\b.*=", lines[first]):
        return 1, len(lines)
    last = line - 1
    while last + 1 < len(lines) and not lines[last].startswith("}"):
        last += 1
    return first + 1, last + 1


def record_reach(build, program, kept):
    with tempfile.TemporaryDirectory() as scratch:
        recorder = os.path.join(scratch, "reach.o")
        subprocess.run(build.command_of("tests/doctest_main.cpp") +
                       ["-g0", "-w", "-c", os.path.join(HERE, "reach.cpp"), "-o", recorder],
                       cwd=build.folder, check=True)
        linked = build.link(program, recorder, scratch)
        points = lines_of(build, linked)
        addresses = sorted(points)
        with open(os.path.join(scratch, "points"), "wb") as out:
            out.write(struct.pack(f"<{len(addresses)}Q", *addresses))
        reached = os.path.join(scratch, "reached")
        done = subprocess.run([linked, "-m", LEFT_OUT], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=dict(os.environ, EYEROOF_REACH_POINTS=os.path.join(scratch, "points"),
                                       EYEROOF_REACH_OUT=reached))
        if done.returncode != 0:
            print(f"{program} fails without a mutant", file=sys.stderr)
        with open(reached, encoding="utf-8") as found, open(kept, "w", encoding="utf-8") as out:
            json.dump(parsed(found, [points[address] for address in addresses]), out)


def parsed(rows, places):
    """What reach.cpp wrote, as Reach reads it: of each line, a number with a bit for each case."""
    cases, lines = [], {}
    for row in rows:
        row = row.rstrip("\n")
        if row.startswith("="):
            cases.append([row[1:], 0.0])
        elif row.startswith("+"):
            cases[-1][1] = float(row[1:])
        else:
            for file, line in places[int(row)]:
                of_file = lines.setdefault(file, {})
                of_file[line] = of_file.get(line, 0) | 1 << (len(cases) - 1)
    return {"cases": cases, "lines": {file: {line: f"{mask:x}" for line, mask in of_file.items()}
                                      for file, of_file in lines.items()}}


def product_file(build, path):
    """The source that a path of the line table names, wherever a compiler cache compiled it."""
    parts = path.split("/")
    found = next((f for f in ("/".join(parts[i:]) for i in range(len(parts))) if f in build.commands), None)
    return found if found and not found.startswith("tests/") else None


def lines_of(build, program):
    """Addresses of the product's lines in the program: (file, line) of each."""
    output = subprocess.run(["objdump", "-w", "--dwarf=decodedline", program], capture_output=True,
                            text=True, check=True).stdout
    points, file, known = {}, None, {}
    for row in output.split("\n"):
        header = re.match(r"^(?:CU: )?(\S*/\S+\.[ch]pp):(?:\[\+\+\])?$", row)
        if header:
            name = header[1]
            if name not in known:
                known[name] = product_file(build, name)
                if known[name] in UNRECORDED:
                    known[name] = None
            file = known[name]
        elif file:
            line = re.match(r"^\S+\s+(\d+)\s+0x([0-9a-f]+)(?:\s.*)?\bx$", row)
            if line:
                points.setdefault(int(line[2], 16), set()).add((file, int(line[1])))
    return points


def limit_cpu(seconds):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    return limit


def run_tests(program, names, scratch, cpu_s, mutant=0):
    """Names of the cases that fail, up to the first; a program that dies or does not end is a failure, too.
    Without names all cases run."""
    report = os.path.join(scratch, "report.xml")
    words = [program, "-r=xml", "-o=" + report, "-aa=1"]
    words.append("-tc=" + ",".join(n.replace("\\", "\\\\").replace(",", "\\,") for n in names) if names else LEFT_OUT)
    if os.path.exists(report):
        os.remove(report)
    try:
        done = subprocess.run(words, capture_output=True, timeout=60 + 20 * cpu_s, preexec_fn=limit_cpu(cpu_s),
                              env=dict(os.environ, EYEROOF_MUTANT=str(mutant)))
    except subprocess.TimeoutExpired:
        return ["(did not end)"]
    try:
        cases = list(ElementTree.parse(report).getroot().iter("TestCase"))
        failed = [c.get("name") for c in cases
                  if any(r.get("test_case_success") == "false" or int(r.get("failures", 0)) > 0
                         for r in c.iter("OverallResultsAsserts")) or c.find("Exception") is not None]
    except (ElementTree.ParseError, FileNotFoundError):
        failed = []
    return failed or (["(died)"] if done.returncode != 0 else [])
