#!/usr/bin/env python3
"""Commands that write a file, killed (SIGKILL) at random moments.

kills.py EYEROOF SOURCES [KILLS (1000) [SEED (1) [COLLECTOR STUBS]]]: imports, exams, sweeps, plans,
validations, searches of `tune`, and, with the collector and the folder of the stub driver, `profile`. After each kill:
- the file is the old one or the new one, whole; a sweep and a log of `tune` hold whole rows of the new one,
  and the next run ends with the same bytes as a run without a kill;
- no process of the run lives a second later;
- the next run leaves nothing but its file.
"""
import collections
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

EYEROOF, SOURCES = os.path.realpath(sys.argv[1]), sys.argv[2]
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
DICE = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
COLLECTOR, STUBS = (os.path.realpath(word) for word in sys.argv[5:7]) if len(sys.argv) > 6 else (None, None)
TRACE = f"{SOURCES}/tests/fuzz/corpus/profile_import/kineto.json"
STEP = f"{SOURCES}/tests/profiles/samples/step.json"

# Name, file, words with FILE in the place of the file, what must hold of it: "whole" (old or new), "rows" (goes
# on where it was), "profile" (old or complete: it holds times), "none" (writes no file), and the words that the
# next run has in addition.
Command = collections.namedtuple("Command", "name file words kind again")


def command(name, file, words, kind="whole", again=""):
    return Command(name, file, words.split(), kind, again.split())


def profiled(name, program):
    words = f"profile --no-device-check --collector {COLLECTOR} --cupti {STUBS} --save FILE"
    return command(f"profile {name}", "p.jsonl", f"{words} -- {STUBS}/stub_program {program}", "profile")


def commands(folder):
    small = os.path.join(folder, "small.csv")
    with open(small, "w") as file:
        file.write("name,op,dtype,m,n,k\nsmall,gemm,fp32,64,64,64\n")
    model = "tune resnet18-c1-c12 --layers C9 --target model --trials 64 --log FILE"
    sweep = "sweep resnet50 --on npu-int8 --vary axes.kernel=8:32:4 --vary batch=1,2,4 --mapping dataflow -o FILE"
    listed = [
        command("import", "p.jsonl", f"import {TRACE} --save FILE"),
        command("sweep", "sweep.csv", sweep, "rows", "--resume"),
        command("tune model", "model.jsonl", model, "rows"),
        command("import, packed", "p.jsonl.gz", f"import {TRACE} --save FILE"),
        command("import, table", "kernels.csv", f"import {TRACE} --format csv -o FILE"),
        command("sweep, lines", "sweep.jsonl", f"{sweep} --format jsonl", "rows", "--resume"),
        command("machine", "mine.yaml", "hw show eyeriss-v1 -o FILE"),
        command("network", "net.csv", "net show resnet50 --format csv -o FILE"),
        command("exam", "exam.json", "exam resnet50 --on a100-sxm-40gb --format json -o FILE"),
        command("plot", "roof.svg", "roofline alexnet --on a100-sxm-40gb -o FILE"),
        command("page of a trace", "trace.html", f"exam {STEP} --format html -o FILE"),
        command("plan of a server", "plan.txt", "serve llama-3-8b --on h100-sxm-80gb --requests 8 --plan-file FILE"),
        command("purchase", "upgrade.html", "upgrade resnet50 --from t4 --to l4 -o FILE"),
        command("validation", "rows.json", f"validate {SOURCES}/hwdb/evidence/scale.csv --scale --format json -o FILE"),
    ]
    if shutil.which("c++"):
        words = f"tune {small} --limit 20 --time-limit 20 --trials 4 --repeat-time 0.01 --again 0 --cpu 0"
        listed.insert(4, command("tune cpu", "", words, "none"))
    if COLLECTOR:
        for at, (name, program) in enumerate([("launches", "launch 2000"), ("of three processes", "processes 50"),
                                              ("of a program that hangs", "hang 2000"),
                                              ("of a program that crashes", "crash 50")]):
            listed.insert(3 * at + 2, profiled(name, program))
    return listed


class Run:
    """One command in a folder of its own for its file, and one for what it needs meanwhile."""

    def __init__(self, folder, one):
        self.one = one
        self.out, self.temporary = os.path.join(folder, "out"), os.path.join(folder, "tmp")
        self.path = os.path.join(self.out, one.file) if one.file else None
        self.clear()

    def clear(self):
        for path in (self.out, self.temporary):
            shutil.rmtree(path, ignore_errors=True)
            os.mkdir(path)

    def start(self, mark="", more=(), ends=False):
        words = [self.path if word == "FILE" else word for word in self.one.words]
        if ends and "hang" in words:
            words[-2:] = ["launch", "5"]
        at = words.index("--") if "--" in words else len(words)
        words[at:at] = more
        return subprocess.Popen([EYEROOF, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": self.temporary,
                                                                "MARK": mark, "XDG_DATA_HOME": "/nonexistent"})

    def end(self, more=()):
        try:
            return self.start(more=more, ends=True).wait(timeout=300)
        except subprocess.TimeoutExpired:
            return "no"

    def text(self):
        try:
            with open(self.path, "rb") as file:
                return file.read()
        except OSError:
            return None

    def left(self):
        """What lies beside the file."""
        beside = [name for name in os.listdir(self.out) if name != self.one.file]
        return beside + [f"TMPDIR/{name}" for name in os.listdir(self.temporary)]


def living(mark):
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                marked = f"MARK={mark}\0".encode() in file.read()
            with open(f"/proc/{process}/stat") as file:
                if marked and file.read().rpartition(")")[2].split()[0] not in "ZX":
                    found.append(process)
        except OSError:
            pass
    return found


def wrong_file(one, text, new):
    """What is wrong with the file after a kill."""
    if one.kind == "whole" and text not in (b"old\n", new):
        return "neither old nor new"
    if one.kind == "profile" and text != b"old\n" and b'{"end":' not in (text or b"").splitlines()[-1]:
        return "neither old nor complete"
    if one.kind == "rows" and text is not None:
        whole = text[:text.rfind(b"\n") + 1]
        if not new.startswith(whole):
            return "rows that a run without a kill does not have"
    return None


def killed(run, new, longest, name):
    """One kill: what was lost, who is left."""
    one, lost = run.one, []
    run.clear()
    if one.kind in ("whole", "profile"):
        with open(run.path, "w") as file:
            file.write("old\n")
    child = run.start(name)
    time.sleep(DICE.random() * longest)
    hit = child.poll() is None
    child.send_signal(signal.SIGKILL)
    child.wait()
    end = time.monotonic() + 1.0
    while living(name) and time.monotonic() < end:
        time.sleep(0.02)
    orphans = len(living(name))
    if one.kind != "none":
        what = wrong_file(one, run.text(), new)
        lost += [what] if what else []
    if one.kind == "rows" or run.left():
        for process in living(name):
            os.kill(int(process), signal.SIGKILL)
        resumed = one.again if one.kind == "rows" and os.path.exists(run.path) else ()
        status = run.end(resumed)
        if one.kind == "rows" and (status != 0 or run.text() != new):
            lost.append(f"the next run ends with {status} and {'other' if status == 0 else 'no whole'} rows")
        if run.left():
            lost.append(f"left behind: {run.left()}")
    return hit, lost, orphans


def main():
    hits = losses = orphans = 0
    by_name = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for one in commands(folder):
            run = Run(folder, one)
            begin = time.monotonic()
            status = run.end()
            longest = 1.0 if "hang" in one.words else time.monotonic() - begin
            text = run.text() if one.file else b""
            if "crash" not in one.words and (status != 0 or text is None or run.left()):
                losses += 1
                print(f"LOST: {one.name}: the command itself ends with {status}, left {run.left()}", file=sys.stderr)
            runs.append((run, text, longest))
        for kill in range(KILLS):
            run, new, longest = runs[kill % len(runs)]
            hit, lost, left = killed(run, new, longest, f"kill-{os.getpid()}-{kill}")
            hits += hit
            by_name[run.one.name] += hit
            losses += bool(lost)
            orphans += left
            for what in lost:
                print(f"LOST: {run.one.name}, kill {kill}: {what}", file=sys.stderr)
            if left:
                print(f"ORPHANS: {run.one.name}, kill {kill}: {left}", file=sys.stderr)
    print(", ".join(f"{name} {count}" for name, count in by_name.items()), file=sys.stderr)
    print(f"{KILLS} kills, {hits} of a running command, {losses} losses, {orphans} orphans", file=sys.stderr)
    bad = losses + orphans > 0 or hits == 0
    print(f"{int(not bad)} passed, {int(bad)} failed, 0 skipped")
    return bad


if __name__ == "__main__":
    sys.exit(main())
