#!/usr/bin/env python3
"""The worked examples of CONTRIBUTING.md, as a new contributor would try them.

    tests/contributing/run.py build/dev            # all of them, applied together and built once
    tests/contributing/run.py build/dev gpu_term   # one

Each NAME.patch is applied to the sources, the program is built, its command run and its output
compared with what it must hold; then the patches are taken out again. Exit 1: a patch does not
apply, build, or print what it should.
"""

import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.dirname(os.path.dirname(HERE))

TABLE = "name,op,rows,cols\nsums,cumsum,4096,1024\n"
GEMMS = "gemm-list\n512 1024 768\n"
TIMES = "time-list\n12.5 gemm_kernel\n7.5 relu_kernel\n"

# Name: the file that the command reads, the command (or several), and what each output holds.
FUSE = ["fuse", "alexnet", "--on", "eyeriss-v1", "--format"]
EXAMPLES = {
    "answer_figure": ("", [FUSE + [form] for form in ("text", "csv", "json", "md", "html")]
                      + [["manual", "--schema", "fuse"]], ["members"]),
    # 4096 x 1024 additions
    "layer_type": (TABLE, ["exam", "FILE", "--on", "a100-sxm-80gb", "--format", "json"],
                   ["cumsum", "4194304"]),
    "network_reader": (GEMMS, ["net", "show", "FILE"], ["gemm1"]),
    "profile_importer": (TIMES, ["import", "FILE", "-o", "OUT"], []),
    "subcommand": ("", ["count", "alexnet"], ["MACs"]),
    "gpu_term": ("", ["hw", "list"], ["a100-sxm-80gb"]),
}
TESTS = {"gpu_term": ("test_model", "gates\\, functions\\, rotations*"),
         "layer_type": ("test_model", "operators stand*,every operator is*,an operator of one*")}


def git(*words):
    return subprocess.run(["git", *words], cwd=SOURCES, capture_output=True, text=True)


def check(name, program):
    text, words, wanted = EXAMPLES[name]
    with tempfile.TemporaryDirectory() as scratch:
        path, out = os.path.join(scratch, "input.csv"), os.path.join(scratch, "out.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        commands = words if isinstance(words[0], list) else [words]
        outputs = []
        for one in commands:
            command = [program] + [{"FILE": path, "OUT": out}.get(word, word) for word in one]
            done = subprocess.run(command, capture_output=True, text=True)
            outputs.append(done.stdout)
            if done.returncode != 0:
                break
        output = outputs[0]
        if os.path.exists(out):
            with open(out, encoding="utf-8") as file:
                output += file.read()
            wanted = ["gemm_kernel", "relu_kernel"]
    missing = [text for text in wanted if text not in output or any(text not in one for one in outputs[1:])]
    if done.returncode != 0 or missing:
        return f"exit {done.returncode}, without {missing}: {done.stderr[:400]}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", help="folder that was built, such as build/dev")
    parser.add_argument("names", nargs="*", help="examples; all where none is named")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    names = options.names or sorted(EXAMPLES)
    applied, failed = [], []
    try:
        for name in names:
            done = git("apply", os.path.join(HERE, name + ".patch"))
            if done.returncode != 0:
                failed.append(f"{name} does not apply: {done.stderr[:400]}")
            else:
                applied.append(name)
        programs = sorted({"tests/" + TESTS[name][0] for name in applied if name in TESTS})
        done = subprocess.run(["ninja", "-C", build, "eyeroof"] + programs, stdout=sys.stderr)
        if done.returncode != 0:
            failed.append("the examples do not build")
        else:
            for name in applied:
                fault = check(name, os.path.join(build, "cli", "eyeroof"))
                if not fault and name in TESTS:
                    program, cases = TESTS[name]
                    ran = subprocess.run([os.path.join(build, "tests", program), "-tc=" + cases],
                                         capture_output=True, text=True)
                    fault = "" if ran.returncode == 0 else ran.stdout[-600:]
                print(f"{name}: {fault or 'applied, built, run'}")
                failed += [name] if fault else []
    finally:
        for name in reversed(applied):
            git("apply", "-R", os.path.join(HERE, name + ".patch"))
    for fault in failed:
        print(fault, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
