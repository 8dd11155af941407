#!/usr/bin/env python3
"""Files that are almost right, through the commands that compute with them: one to three values replaced by odd ones.

cells.py EYEROOF [RUNS (10) [SEED (1) [WORD]]]: RUNS files for each command, or for those with the word. The fuzz
targets end at the readers; this is what lies behind. Wrong is: a signal, more than 10 s of processor time or 512 MB,
an exit code above 4, an error without a line that says why, and nan or inf in an answer.
"""
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile

EYEROOF = os.path.realpath(sys.argv[1])
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 10
DICE = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
WORD = sys.argv[4] if len(sys.argv) > 4 else ""
ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
ODD = ["0", "-0", "-1", "1", "0.5", "1e308", "-1e308", "1e-308", "1e400", "nan", "inf", "9223372036854775807",
       "99999999999999999999", "1e18", "1e12", "1000000", "", " ", "x", "true", "=1+1", "1,5", "1 GB", "-3 GB/s", "0 %",
       "1e9 %", "100 y", "t4", "a100-sxm-40gb", "eyeriss-v1", "resnet50:batch=0", "gpt-2:layers=999999999", "fp4", "int8",
       "x" * 5000, "\x1b[31m", "\u00e9", "[", "{", "*a", "../../etc/passwd", "/dev/zero", "-", "2:1", "1..4"]


def line_of(text, words):
    """A file of comment-free rows: the head and some rows that hold one of the words."""
    rows = [row for row in text.splitlines() if row and not row.startswith("#")]
    return "\n".join([rows[0], *[row for row in rows[1:] if any(word in row for word in words)][:3]]) + "\n"


def shared(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def answer(*words):
    return subprocess.run([EYEROOF, *words], stdin=subprocess.DEVNULL, capture_output=True, check=True, text=True,
                          env={**os.environ, "XDG_DATA_HOME": "/nonexistent"}).stdout


LAYERS = """name,op,dtype,batch,m,n,k,gpu,measured_s
a,gemm,fp16,1,512,512,512,t4,2e-5
b,gemm,fp32,2,64,64,4096,t4,3e-5
"""
NETWORK = """name: n
layers:
  - {name: c, op: conv2d, n: 2, c: 3, k: 8, h: 32, w: 32, r: 3, s: 3, stride: 2, pad: 1}
  - {name: g, op: gemm, m: 64, n: 32, k: 2048, count: 3}
  - {name: s, op: softmax, rows: 64, cols: 32}
"""
OPTIONS = [word for word in ODD if "/" not in word or " " in word] + ["1,4", "1000000", "16384", "100", "0.01", "x1e9",
                                                                     "1..1048576", "1:1000000:1", "1:1e18:x2"]
CASES = {  # name: (text, file, commands with FILE)
    "layers": (lambda: LAYERS, "l.csv", ["exam FILE --on t4", "validate FILE", "exam FILE --on eyeriss-v1 --format json",
                                         "map FILE --on eyeriss-v1 --time-limit 2", "bound FILE --on t4"]),
    "network": (lambda: NETWORK, "n.yaml", ["exam FILE --on t4 --format json", "timeline FILE --on l4 --phase training",
                                            "fuse FILE --on eyeriss-v1", "improve FILE --on t4", "memory FILE --on t4"]),
    "pairs": (lambda: line_of(shared("hwdb/evidence/published.csv"), ["resnet50"]), "p.csv", ["validate FILE --pairs"]),
    "networks": (lambda: shared("tests/fuzz/corpus/measured_tables/networks.csv"), "n.csv", ["validate FILE --networks"]),
    "clusters": (lambda: line_of(shared("hwdb/evidence/scale.csv"), ["PTD-P", "all-reduce", "TTFT"]), "s.csv",
                 ["validate FILE --scale"]),
    "scenario": (lambda: json.dumps(json.loads(answer("exam", "alexnet", "--on", "t4", "--format", "json"))["scenario"],
                                    indent=0), "q.json",
                 ["exam --scenario FILE", "timeline --scenario FILE", "sweep --scenario FILE --vary batch=1,2"]),
    "answers": (lambda: answer("exam", "alexnet", "--on", "t4", "--layers", "CONV1", "--format", "json"), "a.json",
                ["diff FILE alexnet@t4", "exam --scenario FILE"]),
    "fleet": (lambda: shared("tests/fuzz/corpus/fleet_yaml/seed1"), "f.yaml",
              ["upgrade --fleet FILE", "upgrade --fleet FILE --format json"]),
    "fabric": (lambda: shared("hwdb/fabrics/dgx-h100-ndr.yaml"), "f.yaml",
               ["collective all-reduce --fabric FILE --devices 64",
                "scale resnet50 --on h100-sxm-80gb --fabric FILE --devices 8,64"]),
    "accelerator": (lambda: shared("hwdb/accelerators/nvdla-small.yaml"), "m.yaml",
                    ["exam alexnet --on FILE", "map alexnet --on FILE --layers CONV2 --time-limit 2",
                     "sweep alexnet --on FILE --vary batch=1,2 --mapping dataflow"]),
    "gpu": (lambda: shared("hwdb/gpus/t4.yaml"), "g.yaml",
            ["exam alexnet --on FILE", "timeline resnet50 --on FILE --phase training", "bound alexnet --on FILE",
             "upgrade alexnet --from FILE --to l4", "serve gpt-2 --on FILE --dtype fp16 --requests 1,4"]),
    "profile": (lambda: shared("tests/profiles/samples/plain.csv"), "p.csv",
                ["roofline --on t4 --profile FILE", "import FILE --format json"]),
    "options": (lambda: "1 2 128", "o", ["serve llama-3-8b --on h100-sxm-80gb --requests VALUE",
                                         "serve llama-3-8b --on h100-sxm-80gb --rate VALUE",
                                         "scale resnet50 --on t4 --fabric pcie4-100g --devices VALUE",
                                         "exam alexnet --on t4 --batch VALUE", "exam alexnet --on t4 --set boost-clock=xVALUE",
                                         "sweep alexnet --on t4 --vary batch=VALUE", "serve llama-3-8b --on h100-sxm-80gb --ttft VALUEms",
                                         "collective all-reduce --fabric dgx-h100-ndr --devices VALUE"]),
}
NUMBER = re.compile(r"(?<![\w.-])\d+(\.\d+)?(e-?\d+)?(?![\w.])")
TOKEN = re.compile(r'"[^"\n]*"|[^\s,:{}\[\]"]+')


def scaled(number):
    """A number of the same kind and another size, which a reader may well accept."""
    factor = DICE.choice([0, 1e-9, 1e-3, 0.1, 3, 1e2, 1e4, 1e6, 1e9])
    value = float(number) * factor
    return str(int(value)) if number.isdigit() else repr(value)


def odd(text):
    """The text with one to three values replaced: two of three times numbers by numbers, else any token, quoted
    where it was."""
    for _ in range(DICE.randrange(1, 4)):
        numbers = list(NUMBER.finditer(text))
        if numbers and DICE.random() < 0.67:
            place = DICE.choice(numbers)
            text = text[:place.start()] + scaled(place[0]) + text[place.end():]
            continue
        places = list(TOKEN.finditer(text))
        if not places:
            return text
        place = DICE.choice(places)
        value = DICE.choice(ODD)
        value = f'"{value}"' if place[0].startswith('"') else value
        text = text[:place.start()] + value + text[place.end():]
    return text


def limited():
    resource.setrlimit(resource.RLIMIT_CPU, (25, 26))


def judged(words, folder):
    with open(f"{folder}/out", "wb") as out, open(f"{folder}/err", "wb") as err:
        child = subprocess.Popen([EYEROOF, *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                 env={**os.environ, "XDG_DATA_HOME": "/nonexistent"}, preexec_fn=limited)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    code, seconds, mb = child.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    said, printed = (open(f"{folder}/{name}", errors="replace").read() for name in ("err", "out"))
    if code == -signal.SIGXCPU and "points/s" in said:
        return [], code, 0.0, mb  # a sweep of a million points goes on for as long as it says
    wrong = []
    if code < 0 or code > 4 or "internal" in said:
        wrong.append(f"exit {code}: {said[:300]}")
    if seconds > 10.0 or mb > 512:
        wrong.append(f"{seconds:.1f} s, {mb:.0f} MB")
    if code > 1 and "error" not in said:
        wrong.append(f"exit {code} without a reason: {said[:200]}")
    # names, which may be any word, stand at the beginning of a line or before a colon
    figure = re.search(r"(?<=[^\w./\"'=@\n-])-?(nan|inf|NaN|Infinity)(?![\w/\"':-])", printed)
    if code == 0 and figure:
        wrong.append(f"{figure[0]} in the answer: {printed[max(0, figure.start() - 80):figure.end() + 20]!r}")
    return wrong, code, seconds, mb


def main():
    tried = accepted = failed = 0
    slowest, largest = (0.0, ""), (0.0, "")
    with tempfile.TemporaryDirectory() as folder:
        for name, (make, file, commands) in CASES.items():
            if WORD not in name:
                continue
            text, path = make(), f"{folder}/{file}"
            for line in commands:
                for number in range(-1, RUNS):
                    mutant = text if number < 0 else odd(text)
                    with open(path, "w", encoding="utf-8") as out:
                        out.write(mutant)
                    value = DICE.choice(OPTIONS) if number >= 0 and "VALUE" in line else "4"
                    words = [word.replace("FILE", path).replace("VALUE", value) for word in line.split()]
                    wrong, code, seconds, mb = judged(words, folder)
                    if number < 0 and code > 1:
                        wrong.append(f"the file as it is: {open(f'{folder}/err').read()[:300]}")
                    tried, accepted, failed = tried + 1, accepted + (code == 0), failed + bool(wrong)
                    slowest, largest = max(slowest, (seconds, line)), max(largest, (mb, line))
                    for one in wrong:
                        print(f"WRONG: {line}, run {number}, {value if 'VALUE' in line else ''}: {one}".replace(folder, ""),
                              file=sys.stderr, flush=True)
                    if wrong and os.environ.get("KEEP"):
                        with open(os.path.join(os.environ["KEEP"], f"{name}{number}-{line.split()[0]}-{file}"), "w") as kept:
                            kept.write(mutant)
    print(f"{tried} runs, {accepted} answered; slowest {slowest[0]:.1f} s ({slowest[1]}), largest {largest[0]:.0f} MB "
          f"({largest[1]})", file=sys.stderr)
    print(f"{tried - failed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
