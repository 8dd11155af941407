#!/usr/bin/env python3
"""Files that are none of eyeroof's, through every reader: nothing of their content may be printed.

foreign.py EYEROOF: each file holds a marker in every place; a command that prints it is wrong.
"""
import concurrent.futures
import gzip
import os
import sqlite3
import subprocess
import sys
import tempfile

EYEROOF = os.path.realpath(sys.argv[1])
MARK = "s3cr3t"
PEM = "-----BEGIN PRIVATE KEY-----\n" + "\n".join([MARK + "Zm9vYmFyYmF6cXV4" * 3] * 8) + \
      "\n-----END PRIVATE KEY-----\n"
FILES = {
    "shadow": f"{MARK}:*:20228:0:99999:7:::\n{MARK}2:$6${MARK}$abcdef:20228:0:99999:7:::\n",
    "key.pem": PEM,
    "dot.env": f"{MARK}_TOKEN={MARK}value\nexport {MARK}=\"{MARK} {MARK}\"\n",
    "conf.ini": f"[{MARK}]\n{MARK}key = {MARK}value\n[general]\n{MARK}=1\n",
    "object.json": f'{{"{MARK}key": "{MARK}value", "{MARK}": [1, "{MARK}"], "user": {{"{MARK}": null}}}}\n',
    "list.json": f'["{MARK}", {{"{MARK}": 1}}, 3]\n',
    "broken.json": f'{{"{MARK}": {MARK}, "a": "{MARK}\n',
    "lines.jsonl": f'{{"{MARK}": 1}}\n{{"{MARK}": "{MARK}"}}\n{MARK}\n',
    "secret.yaml": f"apiVersion: v1\nkind: {MARK}\nmetadata:\n  name: {MARK}\ndata:\n  {MARK}: {MARK}\n",
    "plain.yaml": f"{MARK}: {MARK}\n{MARK}2: [{MARK}]\n",
    "twice.yaml": f"{MARK}: 1\n{MARK}: 2\n",
    "tags.yaml": f"a: !{MARK} {MARK}\nb: &{MARK} 1\nc: *{MARK}\nd: *{MARK}none\n",
    "many.yaml": f"{MARK}: 1\n---\n{MARK}: 2\n",
    "list.yaml": f"- {MARK}\n- {MARK}: {MARK}\n",
    "scalar.yaml": f"{MARK} {MARK}\n",
    "tabs.yaml": f"{MARK}:\n\t{MARK}: [{MARK}\n",
    "users.csv": f"user,password\n{MARK},{MARK}\n",
    "head.csv": f"{MARK},{MARK}2,{MARK}3\n1,2,3\n",
    "names.csv": f"name,password,{MARK}\n{MARK},{MARK},1\n",
    "twice.csv": f"{MARK},{MARK}\n1,{MARK}\n",
    "quotes.csv": f'"{MARK},"{MARK}"\n"{MARK}\n',
    "semicolons.csv": f"{MARK};password\n{MARK};{MARK}\n",
    "tabs.csv": f"{MARK}\tpassword\n{MARK}\t{MARK}\n",
    "page.xml": f'<?xml version="1.0"?>\n<{MARK} {MARK}="{MARK}">{MARK}</{MARK}>\n',
    "code.py": f"import {MARK}\ndef {MARK}({MARK}):\n    return '{MARK}'\n",
    "code.c": f"#include <{MARK}.h>\nint {MARK}(int {MARK}) {{ return {MARK}; }}\n",
    "dump.sql": f"CREATE TABLE {MARK} ({MARK} text);\nINSERT INTO {MARK} VALUES ('{MARK}');\n",
    "line": MARK * 2000,
    "words": f"{MARK} {MARK}\n" * 50,
    "binary": b"\x7fELF\x02\x01\x01\0" + MARK.encode() * 40 + b"\xff\xfe\0\1",
    "proto": b"\x0a" + bytes([len(MARK) * 3]) + MARK.encode() * 3 + b"\x12\x06" + MARK.encode() + b"\xff" * 12,
}
READERS = """exam FILE --on eyeriss-v1
exam FILE --on t4
exam FILE:batch=2 --on t4
exam FILE --on t4 --compat scalesim
exam alexnet --on FILE
exam alexnet --on FILE --compat scalesim
exam alexnet --on eyeriss-v1 --energies FILE
exam alexnet --on eyeriss-v1 --constraints FILE
exam alexnet --on eyeriss-v1 --mapping FILE
exam alexnet --on eyeriss-v1 --density FILE
exam alexnet --on t4 --ceilings FILE
exam alexnet --on t4 --profile FILE
exam alexnet --on t4 --tuned FILE
exam alexnet --on t4 --host FILE
net check FILE
net show FILE
hw check FILE
hw show FILE
hw validate FILE
hw calibrate FILE --gpu t4
import FILE
import FILE --match alexnet
roofline FILE --on t4
roofline --session FILE
upgrade FILE --from t4 --to l4
validate FILE
validate FILE --pairs
validate FILE --networks
validate --machines FILE
diff FILE FILE
diff FILE alexnet@eyeriss-v1
diff FILE FILE --by kernel
sparse FILE --on scnn
sparse alexnet --on FILE
sparse alexnet --on scnn --densities FILE
scale resnet50 --on t4 --fabric FILE --devices 8
cores alexnet --package FILE
cores alexnet --on FILE
chip FILE
chip eyeriss-v1 --technology FILE
fuse FILE --on eyeriss-v1
map FILE --on eyeriss-v1
map alexnet --on FILE
timeline FILE --on t4
memory FILE --on t4
improve FILE --on t4
split FILE --on t4
serve FILE --on t4
sweep FILE --on eyeriss-v1 --vary batch=1,2
sweep merge FILE FILE -o OUT
tune FILE --target model
tune alexnet --target model --transfer FILE
hw calibrate carried-over FILE
profile --metrics FILE --save OUT -- /bin/true""".splitlines()


def run(words):
    return subprocess.run([EYEROOF, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                          env={**os.environ, "XDG_DATA_HOME": "/nonexistent"})


def leaked(folder, reader, name):
    words = [word.replace("FILE", os.path.join(folder, name)).replace("OUT", os.path.join(folder, "out"))
             for word in reader.split()]
    answer = run(words)
    said = answer.stdout + answer.stderr
    if MARK.encode() in said:
        line = next(line for line in said.splitlines() if MARK.encode() in line)
        return f"{reader} ({name}): {line[:200].decode(errors='replace').replace(folder + '/', '')}"
    if answer.returncode < 0 or b"internal" in said:
        return f"{reader} ({name}): exit {answer.returncode}: {said[:200]!r}"
    return None


with tempfile.TemporaryDirectory() as folder:
    for name, text in FILES.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
    with gzip.open(os.path.join(folder, "packed.gz"), "wb") as file:
        file.write(FILES["dot.env"].encode())
    with sqlite3.connect(os.path.join(folder, "base.sqlite")) as base:
        base.execute(f"CREATE TABLE {MARK} ({MARK} text)")
        base.execute(f"INSERT INTO {MARK} VALUES ('{MARK}')")
    names = [*FILES, "packed.gz", "base.sqlite"]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(leaked, folder, reader, name) for reader in READERS for name in names]
        wrong = [job.result() for job in jobs if job.result()]
for one in wrong:
    print("WRONG:", one, file=sys.stderr)
print(f"{len(READERS)} readers, {len(names)} files, {len(wrong)} tell of a file's content", file=sys.stderr)
print(f"{int(not wrong)} passed, {int(bool(wrong))} failed, 0 skipped")
sys.exit(bool(wrong))
