#!/usr/bin/env python3
"""Milliseconds from Ctrl-C to the end of commands that take long.

cancel.py EYEROOF [RUNS (30) [MOST_MS (100)]]: each command is interrupted RUNS times, at moments spread over
its first seconds. A line for each: median and largest of the milliseconds, and how many runs the command ended by
itself before it was forced to. The verdict is on the largest.
"""
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

EYEROOF = os.path.realpath(sys.argv[1])
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 30
MOST_MS = float(sys.argv[3]) if len(sys.argv) > 3 else 100.0
COMMANDS = """sweep resnet50 --on simba --vary batch=1:64:1 --mapping best -o OUT.csv
sweep resnet50 --on npu-int8 --vary axes.kernel=8:64:1 --vary batch=1:64:1 --mapping dataflow -o OUT.csv
sweep resnet50 --vary machine=t4,l4,a100-sxm-40gb --vary batch=1:400:1 --vary dtype=fp32,fp16 --threads 7 -o OUT.csv
map alexnet --on simba --time-limit 100
exam resnet50 --on simba --mapping best
tune resnet18-c1-c12 --target model --trials 100000 --log OUT.jsonl
claims""".splitlines()
FORCED = b"stopped by a signal"


def interrupted(words, delay):
    """Milliseconds to the end, whether the end was forced, and the exit code; None where it ended before."""
    child = subprocess.Popen([EYEROOF, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, env={**os.environ, "XDG_DATA_HOME": "/nonexistent"})
    time.sleep(delay)
    if child.poll() is not None:
        child.communicate()
        return None
    begin = time.monotonic()
    child.send_signal(signal.SIGINT)
    child.wait()
    took = 1e3 * (time.monotonic() - begin)
    return took, FORCED in child.communicate()[1], child.returncode


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for line in COMMANDS:
            runs = []
            for number in range(RUNS):
                for name in os.listdir(folder):
                    os.remove(os.path.join(folder, name))
                words = [word.replace("OUT", f"{folder}/out") for word in line.split()]
                runs.append(interrupted(words, 0.2 + 2.0 * number / max(1, RUNS - 1)))
            hit = [one for one in runs if one]
            times = [took for took, _, _ in hit] or [0.0]
            print(f"{line[:60]:<60} median {statistics.median(times):>4.0f} ms, most {max(times):>4.0f} ms, "
                  f"{sum(not forced for _, forced, _ in hit)} of {len(hit)} by themselves", flush=True)
            codes = {code for _, _, code in hit} - {130}
            if not hit:
                wrong.append(f"{line}: ended before it was interrupted")
            if max(times) > MOST_MS or codes:
                wrong.append(f"{line}: {max(times):.0f} ms, exit codes other than 130: {sorted(codes)}")
    for one in wrong:
        print("WRONG:", one, file=sys.stderr)
    failed = len(wrong)
    print(f"{max(0, len(COMMANDS) - failed)} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
