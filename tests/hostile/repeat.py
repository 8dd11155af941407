#!/usr/bin/env python3
"""Equal runs give equal bytes: every command several times, with 1, 2 and 7 threads where it takes them.

repeat.py EYEROOF [RUNS (1)]: runs of each command with each number of threads; output and files are
compared byte by byte.
"""
import os
import subprocess
import sys
import tempfile

EYEROOF = os.path.realpath(sys.argv[1])
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 1
THREADED = """map alexnet --on nvdla-small --layers CONV5 --format json
map alexnet --on nvdla-small --layers CONV[35]
map alexnet --on simba --layers CONV5 --format csv
exam alexnet --on simba --mapping best --search-nodes 500 --format json
exam alexnet --on simba --mapping best --search-nodes 500
exam resnet50 --on t4 --format json
sweep alexnet --on npu-int8 --vary batch=1,2,4""".splitlines()
PLAIN = """tune resnet18-c1-c12 --layers C9 --target model --trials 16 --log OUT
tune resnet18-c1-c12 --layers C9 --target model --trials 16 --details --format json
upgrade resnet50 --from t4 --to l4
roofline alexnet --on t4 --format json
scale resnet50 --on t4 --fabric pcie4-100g --devices 8 --format json
net show alexnet
hw show eyeriss-v1""".splitlines()


def answer(words, folder):
    """What a run prints and writes."""
    out = os.path.join(folder, "out")
    if os.path.exists(out):
        os.remove(out)
    end = subprocess.run([EYEROOF, *(out if word == "OUT" else word for word in words)], stdin=subprocess.DEVNULL,
                         capture_output=True, timeout=300, env={**os.environ, "XDG_DATA_HOME": "/nonexistent"})
    file = open(out, "rb").read() if os.path.exists(out) else b""
    return end.returncode, end.stdout, file, end.stderr


wrong, runs, failed = [], 0, set()
with tempfile.TemporaryDirectory() as folder:
    for line, threads in [(line, (1, 2, 7)) for line in THREADED] + [(line, (0, 0)) for line in PLAIN]:
        answers = []
        for count in threads:
            for _ in range(RUNS):
                words = line.split() + (["--threads", str(count)] if count else [])
                code, printed, file, said = answer(words, folder)
                runs += 1
                if code != 0 or not printed + file:
                    failed.add(line)
                    wrong.append(f"{line}: exit {code}: {said[:200]!r}")
                answers.append((printed, file))
        if any(one != answers[0] for one in answers):
            failed.add(line)
            wrong.append(f"{line}: {len(set(answers))} answers in {len(answers)} runs")
for one in wrong:
    print("WRONG:", one, file=sys.stderr)
print(f"{runs} runs", file=sys.stderr)
print(f"{len(THREADED) + len(PLAIN) - len(failed)} passed, {len(failed)} failed, 0 skipped")
sys.exit(bool(wrong))
