#!/usr/bin/env python3
"""`tune` and its children: every one of them is under the limit, and none lives on after a SIGKILL.

tune.py EYEROOF [KILLS (10) [SEED]]: a compiler that hangs, a reference result that takes minutes, few
descriptors, a full disk; then kills at random moments. A second after each no process of the run is
left, and the next run takes away its folder.
"""
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

EYEROOF = os.path.realpath(sys.argv[1])
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 10
DICE = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
wrong = []
tried = 0


def living(mark):
    """Processes that run with this mark in their environment, by their commands."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                marked = f"MARK={mark}\0".encode() in file.read()
            with open(f"/proc/{process}/stat") as file:
                dead = file.read().rpartition(")")[2].split()[0] in "ZX"
            if marked and not dead:
                with open(f"/proc/{process}/cmdline", "rb") as file:
                    found.append(file.read().replace(b"\0", b" ").decode(errors="replace")[:80])
        except OSError:
            pass
    return found


def left(mark):
    """Of these, the ones that are there after a second: what is killed ends a moment later."""
    end = time.monotonic() + 1.0
    while living(mark) and time.monotonic() < end:
        time.sleep(0.01)
    return living(mark)


def started(folder, words, mark, **more):
    return subprocess.Popen([EYEROOF, "tune", *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "TMPDIR": folder, "MARK": mark,
                                 "XDG_DATA_HOME": "/nonexistent"}, **more)


def check(name, condition, why):
    global tried
    tried += 1
    if not condition:
        wrong.append(f"{name}: {why}")


def limited(name, words, most_s, expected, **more):
    """Ends in time with the expected word on stderr, and leaves nothing."""
    with tempfile.TemporaryDirectory() as folder:
        mark = f"limit-{os.getpid()}-{tried}"
        begin = time.monotonic()
        child = started(folder, words, mark, **more)
        said = child.communicate(timeout=300)[1]
        spent = time.monotonic() - begin
        print(f"{name:<34} {spent:6.1f} s  {said.splitlines()[0][:90] if said else ''}")
        check(name, spent <= most_s, f"took {spent:.1f} s")
        check(name, expected in said, said[:300])
        found = left(mark)
        check(name, not found, found)
        check(name, not os.listdir(folder), os.listdir(folder))


def script(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


with tempfile.TemporaryDirectory() as own:
    big = os.path.join(own, "big.csv")
    with open(big, "w") as file:
        file.write("name,op,dtype,m,n,k\nbig,gemm,fp32,8192,8192,8192\n")
    small = os.path.join(own, "small.csv")
    with open(small, "w") as file:
        file.write("name,op,dtype,m,n,k\nsmall,gemm,fp32,64,64,64\n")
    compilers = {
        "hangs": script(own, "hangs", "sleep 61 & sleep 62\n"),
        "hangs when it compiles": script(own, "later", 'case "$1" in --version) echo fake 1;; '
                                                       "*) sleep 61 & sleep 62;; esac\n"),
        "ignores SIGTERM": script(own, "stubborn", "trap '' TERM INT HUP\nsleep 61; sleep 62\n"),
        "leaves its group": script(own, "leaves", "setsid sleep 7 >/dev/null 2>&1 &\nsleep 62\n"),
    }
    limits = ["--limit", "1", "--time-limit", "1", "--trials", "2", "--again", "0"]
    for name in ("hangs", "hangs when it compiles", "ignores SIGTERM"):
        limited(f"compiler {name}", [small, "--compiler", compilers[name], *limits], 5, "took too long")
    if shutil.which("c++"):
        limited("8192-cubed reference", [big, "--limit", "10", "--time-limit", "10", "--trials", "2"], 30,
                "longer than")
        patient = ["--limit", "30", "--time-limit", "30", "--trials", "2", "--again", "0"]
        for descriptors in (4, 5, 6, 8):
            limited(f"{descriptors} descriptors", [small, *patient], 60, "Too many open files",
                    preexec_fn=lambda n=descriptors: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)))
        disk = os.path.join(own, "disk")
        os.mkdir(disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk],
                          stderr=subprocess.DEVNULL).returncode == 0:
            try:
                child = started(disk, [small, *patient], "disk")
                said = child.communicate(timeout=300)[1]
                check("full disk", "no C++ compiler works" not in said and "disk full" in said, said[:300])
            finally:
                subprocess.run(["umount", disk], check=True)
        else:
            print("full disk: skipped, nothing can be mounted here")
        with tempfile.TemporaryDirectory() as folder:
            for kill in range(KILLS):
                words = [[small, "--trials", "50"], [big, "--trials", "2"],
                         [small, "--compiler", compilers["hangs when it compiles"]]][kill % 3]
                mark = f"kill-{os.getpid()}-{kill}"
                child = started(folder, words, mark)
                time.sleep(DICE.random() * (0.5 if kill % 3 == 2 else 5.0))
                child.send_signal(signal.SIGKILL)
                child.wait()
                child.stderr.close()
                time.sleep(1.0)
                check(f"kill {kill}", not living(mark), living(mark))
            child = started(folder, [small, "--compiler", "/nonexistent"], "last")
            child.communicate(timeout=60)
            check("folders of killed runs", not os.listdir(folder), os.listdir(folder))
    else:
        print("no compiler: the rest is skipped")
for one in wrong:
    print("WRONG:", one, file=sys.stderr)
print(f"{KILLS} kills", file=sys.stderr)
print(f"{tried - len(wrong)} passed, {len(wrong)} failed, 0 skipped")
sys.exit(bool(wrong))
