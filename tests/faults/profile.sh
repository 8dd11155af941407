#!/usr/bin/env bash
# `profile` and a signal: programs that end at once, that ignore signals, and that have started
# others, under SIGINT and SIGTERM. Exit 130 or 143, no process and no folder left; prints how long
# each took. No GPU is needed: the collector is a stand-in that collects nothing.
# profile.sh EYEROOF [RUNS (3) [MOST_MS (5000)]]: fails above MOST_MS
set -uo pipefail
/usr/bin/env python3 - "$(realpath "$1")" "${2:-3}" "${3:-5000}" <<'P2'
import os, signal, subprocess, sys, tempfile, time

eyeroof, runs, most = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
READY = "touch $READY; "
PROGRAMS = {
    "ends when told": READY + "exec sleep 60",
    "ignores SIGINT": "trap '' INT; " + READY + "sleep 60 & wait; sleep 60",
    "ignores both": "trap '' INT TERM; " + READY + "sleep 60; sleep 60",
    "has started others": "sleep 60 & sleep 60 & " + READY + "sleep 60",
    "others ignore both": "(trap '' INT TERM; sleep 60; sleep 60) & " + READY + "sleep 60",
}
wrong = tried = 0
for name, script in PROGRAMS.items():
    for sent, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        times = []
        for run in range(runs):
            with tempfile.TemporaryDirectory() as folder:
                os.mkdir(folder + "/tmp")
                ready, mark = folder + "/ready", f"mark-{os.getpid()}-{tried}"
                env = {**os.environ, "TMPDIR": folder + "/tmp", "READY": ready, "MARK": mark}
                child = subprocess.Popen(
                    [eyeroof, "profile", "--no-device-check", "--timing-only", "--collector", eyeroof,
                     "--save", folder + "/p.jsonl", "--", "/bin/sh", "-c", script],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
                for _ in range(1000):
                    if os.path.exists(ready) or child.poll() is not None:
                        break
                    time.sleep(0.005)
                begin = time.monotonic()
                child.send_signal(sent)
                said = child.communicate(timeout=60)[1].decode(errors="replace")
                times.append(1e3 * (time.monotonic() - begin))
                time.sleep(0.05)
                left = []
                for process in filter(str.isdigit, os.listdir("/proc")):
                    try:
                        if f"MARK={mark}\0".encode() in open(f"/proc/{process}/environ", "rb").read():
                            left.append(process)
                    except OSError:
                        pass
                tried += 1
                bad = [f"exit {child.returncode}: {said[:200]}"] if child.returncode != code else []
                bad += [f"processes {left} left"] if left else []
                bad += [f"{os.listdir(folder + '/tmp')} left"] if os.listdir(folder + "/tmp") else []
                bad += ["a profile was written"] if os.path.exists(folder + "/p.jsonl") else []
                bad += [f"{times[-1]:.0f} ms"] if times[-1] > most else []
                for what in bad:
                    wrong += 1
                    print(f"WRONG: {name}, {sent.name}: {what}", file=sys.stderr)
        print(f"{name:<20} {sent.name:<8} " + " ".join(f"{t:6.0f}" for t in times) + " ms")
print(f"{tried - wrong if wrong < tried else 0} passed, {wrong} failed, 0 skipped")
sys.exit(wrong > 0)
P2
