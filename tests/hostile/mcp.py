#!/usr/bin/env python3
"""Malformed lines to eyeroof-mcp: deaths, hangs, and bytes that are no answer.

mcp.py [LINES (1000) [SEED (1)]], with the packages eyeroof and eyeroof_mcp on PYTHONPATH. A batch of
lines, then a ping that must be answered within ten seconds. What comes back must be JSON-RPC, one
message a line, without NaN, and without a byte of the secret file that the lines ask for.
"""
import json
import os
import queue
import random
import subprocess
import sys
import tempfile
import threading

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
DICE = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
SECRET = "h7Kq-secret-marker"
HELLO = {"jsonrpc": "2.0", "id": "hello", "method": "initialize",
         "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                    "clientInfo": {"name": "hostile", "version": "0"}}}


class Server:
    def __init__(self, root):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "eyeroof_mcp", "--root", root, "--time-limit", "5"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.lines = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.send(json.dumps(HELLO).encode())
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def _listen(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def send(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def answers_until(self, number, seconds):
        """The lines up to the answer of this id; None where it does not come."""
        got = []
        while True:
            try:
                line = self.lines.get(timeout=seconds)
            except queue.Empty:
                return got, False
            got.append(line)
            try:
                if json.loads(line).get("id") == number:
                    return got, True
            except (ValueError, AttributeError):
                pass


def odd_value():
    return DICE.choice([
        "NaN", "Infinity", "-1e999", "9" * 5000, "true", "null", "[]", "{}", '"\\ud800"', "1.5", '""',
        '"' + "x" * 3000 + '"', "[" * 200 + "]" * 200, '{"a":' * 60 + "1" + "}" * 60, "-0", '"\\u0000"',
        json.dumps(SECRET_FILE), '"/etc/shadow"', '"/dev/stdin"', '"models/link.yaml"', '"--help"', '"-"',
        '"systolic:999999999x999999999"', '"alexnet:batch=99999999999999999999"', '"../secret.yaml"'])


def request():
    tool = DICE.choice(["exam", "map", "roofline", "bound", "upgrade", "hw", "net", "rm", "__class__"])
    arguments = {"network": "alexnet", "on": "eyeriss-v1", "name": "models/net.csv", "from": "t4",
                 "to": "l4", "set": {"clock": "x2"}, "batch": 1, "layers": "(a*)*b"}
    for key in list(arguments):
        if DICE.random() < 0.5:
            del arguments[key]
    return {"jsonrpc": "2.0", "id": DICE.randrange(10000), "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}}


def replaced(value, marks):
    """The value with one member somewhere in it replaced by a mark, which becomes an odd value."""
    if isinstance(value, dict) and value and DICE.random() < 0.8:
        key = DICE.choice(list(value))
        return {**value, key: replaced(value[key], marks)}
    marks.append(odd_value())
    return f"@@{len(marks) - 1}@@"


def malformed():
    kind = DICE.randrange(6)
    if kind == 0:
        return bytes(DICE.randrange(256) for _ in range(DICE.randrange(1, 200))).replace(b"\n", b"")
    if kind == 1:
        return odd_value().encode()
    marks = []
    text = json.dumps(replaced(request(), marks))
    for index, mark in enumerate(marks):
        text = text.replace(f'"@@{index}@@"', mark)
    line = bytearray(text.encode())
    if kind == 2:
        for _ in range(DICE.randrange(1, 4)):
            line[DICE.randrange(len(line))] = DICE.randrange(256)
    elif kind == 3:
        del line[DICE.randrange(len(line)):]
    return bytes(line).replace(b"\n", b" ")


def foreign(line):
    """What is wrong with a line from the server."""
    try:
        text = line.decode("utf-8")
        value = json.loads(text, parse_constant=lambda word: 1 / 0)
    except (ValueError, ZeroDivisionError):
        return "no JSON"
    if SECRET in text or "root:*" in text or "root:x" in text:
        return "content of a file"
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0" or not line.endswith(b"\n"):
        return "no message"
    return None


with tempfile.TemporaryDirectory() as folder:
    SECRET_FILE = os.path.join(folder, "secret.yaml")
    with open(SECRET_FILE, "w") as file:
        file.write(f"{SECRET}: {SECRET}\n")
    root = os.path.join(folder, "models")
    os.mkdir(root)
    with open(os.path.join(root, "net.csv"), "w") as file:
        file.write("name,op,m,n,k\na,gemm,64,64,64\n")
    os.symlink(SECRET_FILE, os.path.join(root, "link.yaml"))
    deaths = hangs = answered = 0
    wrong = []
    server = Server(root)
    for sent in range(COUNT):
        try:
            server.send(malformed())
        except BrokenPipeError:
            pass
        if sent % 20 == 19 or sent == COUNT - 1:
            number = 1_000_000 + sent
            try:
                server.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode())
            except BrokenPipeError:
                pass
            lines, came = server.answers_until(number, 10)
            answered += len(lines)
            wrong += [f"{reason}: {line[:200]!r}" for line in lines for reason in [foreign(line)] if reason]
            if not came:
                dead = server.process.poll() is not None
                deaths += dead
                hangs += not dead
                server.process.kill()
                server = Server(root)
    server.process.stdin.close()
    server.process.wait(timeout=60)
    while not server.lines.empty():
        line = server.lines.get()
        answered += 1
        wrong += [f"{foreign(line)}: {line[:200]!r}"] if foreign(line) else []
for one in wrong[:10]:
    print("WRONG:", one, file=sys.stderr)
print(f"{COUNT} lines, {answered} answers, {deaths} deaths, {hangs} hangs, {len(wrong)} foreign lines",
      file=sys.stderr)
bad = deaths + hangs + len(wrong)
print(f"{int(bad == 0)} passed, {int(bad > 0)} failed, 0 skipped")
sys.exit(bad > 0)
