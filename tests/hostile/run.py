#!/usr/bin/env python3
"""Every line of arguments.txt through the program: the exit code that stands there, no crash, no hang, words and a
hint on stderr where it refuses, none of them twice, nothing on stdout then, and no file left behind.

    run.py EYEROOF [JOBS]
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# As a shell reads them, all lines in one: their number of words, and the words.
READ = r'''source "$1" "$F"
while IFS= read -r line; do eval "words=($line)"; printf '%s\0' "${#words[@]}" "${words[@]}"; done'''
MISTAKE = re.compile(rb"internal|mistake of eyeroof|terminate called|Sanitizer")


def commands(program, folder):
    """(exit code, text, words) of each line; makes the files."""
    lines = [line for line in (HERE / "arguments.txt").read_bytes().splitlines() if line and not line.startswith(b"#")]
    codes, texts = zip(*((int(code), text) for code, _, text in (line.partition(b" ") for line in lines)))
    told = subprocess.run(["bash", "-c", READ, "read", HERE / "files.sh"], input=b"\n".join(texts) + b"\n",
                          env={**os.environ, "F": folder, "eyeroof": program}, stdout=subprocess.PIPE, check=True).stdout.split(b"\0")
    at = 0
    for code, text in zip(codes, texts):
        count = int(told[at])
        yield code, text, told[at + 1:at + 1 + count]
        at += 1 + count


def wrong_with(program, folder, code, words):
    try:
        answer = subprocess.run([program, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                                env={**os.environ, "F": folder, "XDG_DATA_HOME": folder + "/none"})
    except subprocess.TimeoutExpired:
        return ["it hangs"], b""
    err, wrong = answer.stderr, []
    if answer.returncode != code:
        wrong.append(f"exit code {answer.returncode}, not {code}")
    if code >= 2:
        errors = collections.Counter(line for line in err.splitlines() if b"error: " in line)
        wrong += [] if errors else ["no error is told"]
        wrong += [] if b"hint: " in err else ["no hint is given"]
        wrong += ["an error is told twice"] if any(count > 1 for count in errors.values()) else []
        wrong += ["something on stdout"] if answer.stdout else []
    return wrong + (["a mistake of the program"] if MISTAKE.search(err) else []), err


def files_in(folder):
    return {os.path.join(place, name) for place, _, names in os.walk(os.fsencode(folder)) for name in names}


def main():
    program, jobs = os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        asked = list(commands(program, folder))
        before, wrong = files_in(folder), 0
        answers = pool.map(lambda one: wrong_with(program, folder, one[0], one[2]), asked)
        for (_, text, _), (faults, err) in zip(asked, answers):
            if faults:
                wrong += 1
                said = err[:300].decode(errors="replace").replace("\n", " ")
                print(f"WRONG: eyeroof {text.decode(errors='replace')}: {'; '.join(faults)}: {said}", file=sys.stderr)
        left = files_in(folder) - before
        if left:
            wrong += 1
            print("WRONG: files are left:", *map(os.fsdecode, left), file=sys.stderr)
    print(f"{len(asked)} lines, {wrong} wrong", file=sys.stderr)
    print("0 passed, 1 failed, 0 skipped" if wrong else "1 passed, 0 failed, 0 skipped")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
