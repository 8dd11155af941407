#!/usr/bin/env python3
"""`profile` against a stub driver and CUPTI: times, counters, windows, processes, fork, exec, threads,
crashes, faults of CUPTI, kills, and folders that others could write to. No GPU is needed.

stub_profile.py EYEROOF COLLECTOR STUBS [KILLS (20) [SEED]]
"""
import json
import os
import random
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time

EYEROOF, COLLECTOR, STUBS = (os.path.realpath(word) for word in sys.argv[1:4])
KILLS = int(sys.argv[4]) if len(sys.argv) > 4 else 20
DICE = random.Random(int(sys.argv[5]) if len(sys.argv) > 5 else 1)
PROGRAM = os.path.join(STUBS, "stub_program")
wrong = []
tried = 0


def check(name, condition, why=""):
    global tried
    tried += 1
    if not condition:
        wrong.append(f"{name}: {why}")


def command(profile, program, *options):
    return [EYEROOF, "profile", "--no-device-check", "--collector", COLLECTOR, "--cupti", STUBS, "--save",
            profile, *options, "--", PROGRAM, *program]


def environment(temporary, **more):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("EYEROOF_", "CUDA_INJ", "NVTX_INJ"))}
    return {**clean, "TMPDIR": temporary, "XDG_DATA_HOME": "/nonexistent", **more}


def profile(name, *program, options=(), status=0, **more):
    """The launches of a run as (kernel, duration_ns, counters), what it said, and nothing left."""
    with tempfile.TemporaryDirectory() as folder:
        temporary = os.path.join(folder, "tmp")
        os.mkdir(temporary)
        file = os.path.join(folder, "p.jsonl")
        end = subprocess.run(command(file, program, *options), stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, timeout=120, env=environment(temporary, **more))
        check(name, end.returncode == status, f"exit {end.returncode}: {end.stderr[:400]}")
        check(name, not os.listdir(temporary), f"left: {os.listdir(temporary)}")
        if not os.path.exists(file):
            return None, end.stderr
        kernels, launches = [], []
        for line in open(file):
            record = json.loads(line)
            if "kernel" in record:
                kernels.append(record["kernel"]["name"])
            if "launch" in record:
                one = record["launch"]
                launches.append((kernels[one["kernel"]], one.get("duration_ns"), one.get("counters", {})))
        print(f"{name:<28} {len(launches):>5} launches  {end.stderr.splitlines()[0][:80] if end.stderr else ''}")
        return launches, end.stderr


def expected(count, first=1):
    names = ["gemm(float*)", "gemm(float*)", "reduce(float*)"]
    return [(names[i % 3], 1000.0 * (first + i)) for i in range(count)]


def counter_is_right(counters, number):
    return bool(counters) and all(value == 100 * number + len(name) for name, value in counters.items())


def timed(launches):
    return [(kernel, duration) for kernel, duration, _ in launches or []]


launches, said = profile("times", "launch", "10", options=["--timing-only"])
check("times", timed(launches) == expected(10), launches)
launches, said = profile("times and counters", "launch", "10")
check("times and counters", timed(launches) == expected(10), launches)
check("times and counters", launches and all(counter_is_right(c, i + 1) for i, (_, _, c) in enumerate(launches)),
      launches and launches[:2])
launches, said = profile("windows", "launch", "50", options=["--window", "7"])
check("windows", launches and len(launches) == 50 and
      all(counter_is_right(c, i + 1) for i, (_, _, c) in enumerate(launches)), said[:300])
launches, said = profile("one kernel", "launch", "12", options=["--kernel", "reduce", "--skip", "1", "--count", "2"])
check("one kernel", [kernel for kernel, _, _ in launches or []] == ["reduce(float*)"] * 2, launches)
launches, said = profile("many", "launch", "30000", options=["--timing-only"])
check("many", launches and len(launches) == 30000 and launches[-1][1] == 30000 * 1000.0, said[:300])
launches, said = profile("threads", "threads", "400")
check("threads", launches and len(launches) >= 400, said[:300])
launches, said = profile("three processes", "processes", "6", options=["--timing-only"])
check("three processes", sorted(timed(launches)) == sorted(3 * expected(6)), launches)
launches, said = profile("a fork", "fork", "6", options=["--timing-only"])
check("a fork", timed(launches) == expected(6), launches)
launches, said = profile("exec first", "exec", "6", options=["--timing-only"])
check("exec first", timed(launches) == expected(6), launches)
launches, said = profile("exec after launches", "late-exec", "6", options=["--timing-only"])
check("exec after launches", launches is not None and set(expected(6)) <= set(timed(launches)), said[:300])
launches, said = profile("the program's status", "status", "3", options=["--timing-only"], status=7)
check("the program's status", timed(launches) == expected(3), said[:300])
for mode, status in (("crash", 128 + signal.SIGSEGV), ("abort", 128 + signal.SIGABRT), ("quick-exit", None)):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "p.jsonl")
        end = subprocess.run(command(file, [mode, "5"]), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=60, env=environment(folder),
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
        print(f"{mode:<28} exit {end.returncode}  {end.stderr.splitlines()[0][:90] if end.stderr else ''}")
        check(mode, end.returncode >= 0 and "internal" not in end.stderr, end.stderr[:300])
        check(mode, status is None or end.returncode in (status, 3, 4), f"exit {end.returncode}")
        check(mode, "error: " in end.stderr or os.path.exists(file), "neither a profile nor an error")
launches, said = profile("without injection", "launch", "0", options=["--timing-only"], status=4)
check("without injection", launches is None and "error: " in said and "hint: " in said, said[:300])
for call in ("cuptiSubscribe", "cuptiActivityEnable", "cuptiDeviceGetChipName", "cuptiProfilerDeviceSupported",
             "cuptiProfilerHostInitialize", "cuptiProfilerHostConfigAddMetrics", "cuptiRangeProfilerEnable",
             "cuptiRangeProfilerSetConfig", "cuptiRangeProfilerStart", "cuptiRangeProfilerStop",
             "cuptiRangeProfilerDecodeData", "cuptiProfilerHostEvaluateToGpuValues"):
    for code in ("35", "999"):
        with tempfile.TemporaryDirectory() as folder:
            end = subprocess.run(command(os.path.join(folder, "p.jsonl"), ["launch", "5"]), capture_output=True,
                                 stdin=subprocess.DEVNULL, text=True, timeout=60,
                                 env=environment(folder, EYEROOF_STUB_FAULT=call, EYEROOF_STUB_CODE=code))
            named = "hint: " in end.stderr or "note: collecting stopped: " in end.stdout and call in end.stdout
            check(f"{call} gives {code}", end.returncode in (0, 4) and named and
                  end.stderr.count("error: ") <= 1, f"exit {end.returncode}: {end.stderr[:300]}")

# A request that others wrote, or could have written, is not followed.
with tempfile.TemporaryDirectory() as folder:
    os.chmod(folder, 0o777 | stat.S_ISVTX)
    request = os.path.join(folder, "timing-0.request")
    with open(request, "w") as file:
        file.write("{}")
    os.chmod(request, 0o666)
    end = subprocess.run([PROGRAM, "launch", "5"], capture_output=True, text=True, timeout=60,
                         env=environment(folder, CUDA_INJECTION64_PATH=COLLECTOR, EYEROOF_COLLECT=request))
    check("a request of others", end.returncode == 0 and os.listdir(folder) == ["timing-0.request"],
          os.listdir(folder))
for name, mode in (("TMPDIR that is read-only", 0o555), ("TMPDIR that is missing", None)):
    with tempfile.TemporaryDirectory() as folder:
        temporary = os.path.join(folder, "tmp")
        if mode is not None:
            os.mkdir(temporary)
            os.chmod(temporary, mode)
        end = subprocess.run(command(os.path.join(folder, "p.jsonl"), ["launch", "5"]), capture_output=True,
                             stdin=subprocess.DEVNULL, text=True, timeout=60, env=environment(temporary))
        allowed = os.getuid() == 0 and mode is not None  # root may write everywhere
        check(name, allowed or (end.returncode == 3 and "TMPDIR" in end.stderr), end.stderr[:300])


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


with tempfile.TemporaryDirectory() as folder:
    for kill in range(KILLS):
        file, mark = os.path.join(folder, "p.jsonl"), f"stub-{os.getpid()}-{kill}"
        with open(file, "w") as old:
            old.write("old")
        temporary = os.path.join(folder, "tmp")
        os.makedirs(temporary, exist_ok=True)
        mode = ["hang", "processes", "launch", "crash"][kill % 4]
        child = subprocess.Popen(command(file, [mode, "2000"]), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, env=environment(temporary, MARK=mark))
        time.sleep(DICE.random() * 0.4)
        child.kill()
        child.wait()
        time.sleep(0.3)
        check(f"kill {kill} ({mode})", not living(mark), f"living: {living(mark)}")
        text = open(file).read()
        check(f"kill {kill} ({mode})", text == "old" or text.rstrip().endswith("}}"), "the file is cut")
for one in wrong:
    print("WRONG:", one, file=sys.stderr)
print(f"{KILLS} kills", file=sys.stderr)
print(f"{tried - len(wrong)} passed, {len(wrong)} failed, 0 skipped")
sys.exit(bool(wrong))
