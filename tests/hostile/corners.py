#!/usr/bin/env python3
"""Single cases that once went wrong: wide tables, errors without end, outputs over inputs, links in a circle, odd
databases, names that act, interrupts, and silence.

corners.py EYEROOF: prints the figure of each case.
"""
import csv
import io
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

EYEROOF = os.path.realpath(sys.argv[1])
wrong = []
tried = 0


def check(name, condition, why):
    global tried
    tried += 1
    if not condition:
        wrong.append(f"{name}: {why}")


def run(*words, cwd=None):
    """Exit code, stdout, stderr, processor seconds, and MB."""
    begin = os.times()
    end = subprocess.run([EYEROOF, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=300, cwd=cwd,
                         env={**os.environ, "XDG_DATA_HOME": "/nonexistent"})
    after = os.times()
    spent = after.children_user + after.children_system - begin.children_user - begin.children_system
    return end.returncode, end.stdout.decode(errors="replace"), end.stderr.decode(errors="replace"), spent


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path


def wide_tables(folder):
    for columns in (40_000, 200_000):
        path = write(f"{folder}/wide.csv", "name,op,m,n,k," + ",".join(f"c{i}" for i in range(columns)) +
                     "\na,gemm,8,8,8" + ",1" * columns + "\n")
        for words in (["exam", path, "--on", "eyeriss-v1"], ["net", "check", path], ["validate", path],
                      ["upgrade", path, "--from", "t4", "--to", "l4"]):
            spent = run(*words)[3]
            print(f"{columns} columns, {words[0]:<8} {spent:6.2f} s of processor time")
            check(f"{columns} columns, {words[0]}", spent < 8.0, f"{spent:.1f} s")


def endless_errors(folder):
    path = write(f"{folder}/keys.yaml", "name: x\n" + "".join(f"key{i}: 1\n" for i in range(200_000)))
    for words in (["hw", "check", path], ["net", "check", path], ["exam", "alexnet", "--on", path]):
        code, _, said, spent = run(*words)
        print(f"200,000 unknown keys, {words[0]} {words[1][:5]}: {said.count(chr(10))} lines, {spent:.2f} s")
        check(f"unknown keys, {words[0]}", code != 0 and 0 < said.count("\n") < 220 and spent < 8.0, said[:200])
    path = write(f"{folder}/rows.csv", "name,op,m,n,k\n" + "x,nothing,1,1,1\n" * 200_000)
    code, _, said, spent = run("net", "check", path)
    print(f"200,000 wrong rows: {said.count(chr(10))} lines, {spent:.2f} s; {said.splitlines()[-1][:90]}")
    check("wrong rows", code != 0 and said.count("\n") < 220 and spent < 8.0, said[-300:])


def outputs(folder):
    os.symlink("b", f"{folder}/a")
    os.symlink("a", f"{folder}/b")
    code, _, said, _ = run("net", "show", "alexnet", "--format", "csv", "-o", "a", cwd=folder)
    check("-o onto a circle of links", code == 3 and os.path.islink(f"{folder}/a") and "hint: " in said, said)
    text = "name,op,m,n,k\nx,gemm,8,8,8\n"
    write(f"{folder}/n.csv", text)
    os.symlink("n.csv", f"{folder}/link.csv")
    os.link(f"{folder}/n.csv", f"{folder}/hard.csv")
    for out in ("n.csv", "./n.csv", "link.csv", "hard.csv"):
        for words in (["net", "show", "n.csv", "--format", "csv"], ["exam", "n.csv", "--on", "t4", "--format", "csv"],
                      ["sweep", "n.csv", "--on", "t4", "--vary", "batch=1,2"]):
            code, _, said, _ = run(*words, "-o", out, cwd=folder)
            check(f"{words[0]} -o {out} over its input", code == 2 and "hint: " in said, f"exit {code}: {said}")
    check("an input that is named as output", open(f"{folder}/n.csv").read() == text, "was changed")
    print("outputs over inputs and links in a circle: refused")


def names(folder):
    path = write(f"{folder}/names.yaml", 'layers:\n  - {name: "a\\nb\\e[31m", op: gemm, m: 8, n: 8, k: 8}\n')
    for words in (["exam", path, "--on", "t4"], ["tune", path, "--target", "model", "--trials", "2"]):
        code, out, said, _ = run(*words)
        check(f"control characters in a name, {words[0]}", code == 3 and "\x1b" not in out + said, said)
    odd = ["\uff1dcmd", "\uff0b1x", "\uff0dx", "\uff20y", "=z", "@w"]
    path = write(f"{folder}/odd.csv", "name,op,m,n,k\n" + "".join(f"{name},gemm,8,8,8\n" for name in odd))
    for words in (["net", "show", path, "--format", "csv"], ["exam", path, "--on", "t4", "--format", "csv"]):
        rows = list(csv.DictReader(io.StringIO(run(*words)[1])))
        ours = [row["name"] for row in rows][:len(odd)]
        check(f"names that begin like formulas, {words[0]}", ours == ["'" + name for name in odd], ours)
    path = write(f"{folder}/quoted.yaml", '"name": "a, b"\n"layers":\n- {"name": x, "op": gemm, "m": 8, "n": 8, "k": 8}\n')
    code, _, said, _ = run("net", "check", path)
    check("a network whose keys are quoted", code == 0, said)
    print("names that act: refused or guarded")


def export(path, wal=False, view=False):
    base = sqlite3.connect(path)
    if wal:
        base.execute("PRAGMA journal_mode=WAL")
        base.execute("PRAGMA wal_autocheckpoint=0")
    names_table = "Kept" if view else "StringIds"
    base.executescript(f"""CREATE TABLE {names_table} (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
            correlationId INTEGER, demangledName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER,
            blockX INTEGER, blockY INTEGER, blockZ INTEGER);
        INSERT INTO {names_table} VALUES (1, 'gemm');
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 10, 0, 7, 1, 1, 1, 1, 1, 1, 1, 1);""")
    if view:
        base.execute("CREATE VIEW StringIds AS SELECT id, value FROM Kept")
    base.commit()
    return base


def databases(folder):
    export(f"{folder}/view.sqlite", view=True).close()
    _, out, said, _ = run("import", f"{folder}/view.sqlite")
    check("names that are a view", "StringIds is a view" in said and "unnamed" in out, said)
    base = export(f"{folder}/wal.sqlite", wal=True)  # open: its changes lie in the log
    os.mkdir(f"{folder}/copy")
    for end in ("", "-wal"):
        with open(f"{folder}/wal.sqlite{end}", "rb") as source, open(f"{folder}/copy/wal.sqlite{end}", "wb") as copy:
            copy.write(source.read())
    base.close()
    os.chmod(f"{folder}/copy", 0o555)
    _, _, said, _ = run("import", f"{folder}/copy/wal.sqlite")
    os.chmod(f"{folder}/copy", 0o755)
    check("a read-only database with a log", "(-wal)" in said and "hint: " in said and "cut off" not in said, said)
    print("databases with views and logs: said")


def interrupts():
    times = []
    for turn in range(2):
        child = subprocess.Popen([EYEROOF, "sweep", "resnet50", "--on", "simba", "--vary", "batch=1:200:1", "--mapping",
                                  "best", "--threads", "1"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        time.sleep(1.0 + 0.17 * turn)
        begin = time.monotonic()
        child.send_signal(signal.SIGINT)
        code = child.wait(timeout=60)
        times.append(1e3 * (time.monotonic() - begin))
        check("SIGINT of a sweep", code == 130, f"exit {code}")
    print("SIGINT of a sweep: " + " ".join(f"{ms:.0f}" for ms in times) + " ms")
    check("SIGINT of a sweep", min(times) < 241.0, f"{min(times):.0f} ms at best")


def silence():
    """The first line of progress, behind the notes that a sweep begins with."""
    child = subprocess.Popen([EYEROOF, "sweep", "resnet50", "--on", "simba", "--vary", "batch=1:400:1", "--mapping",
                              "best", "--threads", "1"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    begin = time.monotonic()
    os.set_blocking(child.stderr.fileno(), False)
    said, progress = b"", []
    while time.monotonic() - begin < 25.0 and not progress and child.poll() is None:
        time.sleep(0.2)
        said += child.stderr.read() or b""
        progress = [line for line in said.splitlines() if b" %  " in line]
    waited = time.monotonic() - begin
    ended = child.poll() is not None
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    print(f"first progress of a long sweep on a pipe: after {waited:.1f} s: {(progress or [b''])[0][:60]!r}")
    check("progress without a terminal", progress or ended, "silent for 25 s")


def side_by_side():
    _, out, _, spent = run("exam", "alexnet", *(["--on", "t4", "--on", "l4"] * 500), "--format", "csv")
    machines = len({row["machine"] for row in csv.DictReader(io.StringIO(out))})
    print(f"1,000 machines side by side: {spent:.1f} s of processor time, {len(out) >> 10} KiB")
    check("1,000 machines side by side", machines >= 2 and spent < 60.0, f"{machines} machines, {spent:.1f} s")


with tempfile.TemporaryDirectory() as scratch:
    wide_tables(scratch)
    endless_errors(scratch)
    outputs(scratch)
    names(scratch)
    databases(scratch)
    interrupts()
    silence()
    side_by_side()
for one in wrong:
    print("WRONG:", one, file=sys.stderr)
print(f"{tried - len(wrong)} passed, {len(wrong)} failed, 0 skipped")
sys.exit(bool(wrong))
