#!/usr/bin/env python3
"""Equal runs give equal bytes: every command several times, with 1, 2 and 7 threads where it takes them.

repeat.py EYEROOF [RUNS (1)]: runs of each command with each number of threads; output and files are
compared byte by byte. Commands that measure (`measure`, `profile`, `tune` on a processor) are not among them.
With fewer than 10 runs, 2 threads are left out, the searches of whole networks are of one or two layers, and the text of
a search is left out whose JSON is asked, too.
"""
import os
import subprocess
import sys
import tempfile

EYEROOF = os.path.realpath(sys.argv[1])
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 1
SAMPLES = os.path.realpath(os.path.join(os.path.dirname(__file__), "../profiles/samples"))
MODELS = os.path.realpath(os.path.join(os.path.dirname(__file__), "../data/onnx"))
EVIDENCE = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../hwdb/evidence"))
THREADS = (1, 2, 7) if RUNS >= 10 else (1, 7)
# Lines that take seconds, and what makes them shorter.
SHORTER = {"exam alexnet --on simba --mapping best": "--layers CONV3", "exam alexnet --on eyeriss-v2": "--layers CONV3",
           "sweep alexnet": "--layers CONV[12]"} if RUNS < 10 else {}
# Left out: lines with the figures of another one.
SAME = {"map alexnet --on nvdla-small --layers CONV[35]", "exam alexnet --on simba --mapping best --search-nodes 500",
        "serve llama-3-8b --on h100-sxm-80gb --format json"} if RUNS < 10 else {}
# With --threads of each number.
THREADED = """map alexnet --on nvdla-small --layers CONV5 --format json
map alexnet --on nvdla-small --layers CONV[35]
map alexnet --on simba --layers CONV5 --format csv
exam alexnet --on simba --mapping best --search-nodes 500 --format json
exam alexnet --on simba --mapping best --search-nodes 500
exam resnet50 --on t4 --format json
exam alexnet --on eyeriss-v2 --density alexnet-pruned --format json
exam alexnet --on simba --cores --layers CONV3 --search-nodes 200 --format json
sweep alexnet --on npu-int8 --vary batch=1,2,4
sweep resnet50 --vary machine=t4,l4 --vary batch=1,8 --format jsonl
roofline alexnet --on t4 --format json
roofline alexnet --on t4 -o OUT.svg
timeline resnet50 --on t4 --phase training --format json
memory resnet50 --on t4 --phase training --format json
improve resnet50 --on t4 --phase training --batch 4
bound resnet18 --on a100-sxm-40gb --dtype tf32 --format json
fuse alexnet --on eyeriss-v1 --format json
upgrade resnet50 --from t4 --to l4
scale resnet50 --on t4 --fabric pcie4-100g --devices 8 --format json
serve llama-3-8b --on h100-sxm-80gb --format json
serve llama-3-8b --on h100-sxm-80gb --requests 1,8 --plan-file OUT.txt
exam STEP --format json
exam STEP --format html -o OUT.html
timeline STEP --format json
upgrade STEP --to l4 --format json
import KINETO --format json
import KINETO --save OUT.jsonl""".splitlines()
PLAIN = """tune resnet18-c1-c12 --layers C9 --target model --trials 16 --log OUT
tune resnet18-c1-c12 --layers C9 --target model --trials 16 --details --format json
collective all-reduce --fabric dgx-h100-ndr --devices 8
diff resnet50@v100-sxm2-16gb resnet50@a100-sxm-40gb
validate --evidence
validate SCALE --scale --format json
net list
net show alexnet
net check KINETO
net convert ONNX --dim batch=1 -o OUT.yaml
claims --only ops-per-byte --format json
claims --only seven-steps
hw calibrate l4 --sustained 14TFLOP/s --dtype fp32
hw list
hw show eyeriss-v1
hw check eyeriss-v1
completion bash
manual""".splitlines()


def answer(words, folder):
    """What a run prints and writes."""
    out = os.path.join(folder, next((word for word in words if word.startswith("OUT")), "OUT"))
    if os.path.exists(out):
        os.remove(out)
    places = {os.path.basename(out): out, "KINETO": f"{SAMPLES}/kineto.json", "ONNX": f"{MODELS}/resnet50.onnx",
              "STEP": f"{SAMPLES}/step.json", "SCALE": f"{EVIDENCE}/scale.csv"}
    end = subprocess.run([EYEROOF, *(places.get(word, word) for word in words)], stdin=subprocess.DEVNULL,
                         capture_output=True, timeout=1800, env={**os.environ, "XDG_DATA_HOME": "/nonexistent"})
    file = open(out, "rb").read() if os.path.exists(out) else b""
    return end.returncode, end.stdout, file, end.stderr


runs, failed = 0, set()


def differs(line, what):
    failed.add(line)
    print(f"WRONG: {line}: {what}", file=sys.stderr, flush=True)


with tempfile.TemporaryDirectory() as folder:
    for line, threads in [(line, THREADS) for line in THREADED if line not in SAME] + [(line, (0, 0)) for line in PLAIN]:
        answers = []
        for count in threads:
            for _ in range(RUNS):
                words = line.split() + (["--threads", str(count)] if count else [])
                words += next((more.split() for begin, more in SHORTER.items() if line.startswith(begin)), [])
                code, printed, file, said = answer(words, folder)
                runs += 1
                if code != 0 or not printed + file:
                    differs(line, f"exit {code}: {said[:200]!r}")
                answers.append((printed, file))
        if any(one != answers[0] for one in answers):
            differs(line, f"{len(set(answers))} answers in {len(answers)} runs")
        print(f"{runs} runs, last of {line}", file=sys.stderr, flush=True)
print(f"{len(THREADED) + len(PLAIN) - len(SAME) - len(failed)} passed, {len(failed)} failed, 0 skipped")
sys.exit(bool(failed))
