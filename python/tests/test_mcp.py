"""The MCP server, spoken to over its stdin and stdout as clients do. What hostile clients send is in
tests/hostile/mcp.py."""

import json
import os
import subprocess
import sys
import time

import pytest

pytest.importorskip("mcp.server.lowlevel", reason="the MCP SDK is not installed")

import eyeroof as er  # noqa: E402

SERVER = [sys.executable, "-m", "eyeroof_mcp"]
HELLO = [{"jsonrpc": "2.0", "id": "hello", "method": "initialize",
          "params": {"protocolVersion": "2025-03-26", "capabilities": {},
                     "clientInfo": {"name": "test", "version": "0"}}},
         {"jsonrpc": "2.0", "method": "notifications/initialized"}]  # has no answer


def ask(*messages, options=()):
    """The answers by id; those to lines without an id under None, in order."""
    lines = "".join((m if isinstance(m, str) else json.dumps(m)) + "\n" for m in [*HELLO, *messages])
    told = subprocess.run([*SERVER, *options], input=lines, check=True, capture_output=True,
                          text=True, timeout=120)
    answers = {None: []}
    for line in told.stdout.splitlines():
        answer = json.loads(line)
        if answer["id"] is None:
            answers[None].append(answer)
        else:
            answers[answer["id"]] = answer
    return answers


def request(method, number=1, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(tool, number=1, /, **arguments):
    return request("tools/call", number, name=tool, arguments=arguments)


def text_of(answer):
    return answer["result"]["content"][0]["text"]


class Session:
    """A server that stays, for requests that overlap."""

    def __init__(self, *options):
        self.process = subprocess.Popen([*SERVER, *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)
        for message in HELLO:
            self.send(message)
        assert self.receive()["id"] == "hello"

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


# Runs for minutes: the best mapping of every layer of a large network, each for a minute.
ENDLESS = {"network": "resnet50", "on": "eyeriss-v1", "objective": "edp", "time_limit": 59}


def test_a_client_greets_lists_the_tools_and_examines():
    answers = ask(request("tools/list", 2), call("exam", "three", network="alexnet", on="eyeriss-v1", batch=4))
    greeting = answers["hello"]["result"]
    assert greeting["protocolVersion"] == "2025-03-26"
    assert (greeting["serverInfo"]["name"], greeting["serverInfo"]["version"]) == ("eyeroof", er.__version__)
    names = [tool["name"] for tool in answers[2]["result"]["tools"]]
    assert names == ["exam", "map", "roofline", "bound", "upgrade", "hw", "net"]
    assert answers["three"]["result"]["isError"] is False
    report = answers["three"]["result"]["structuredContent"]
    assert json.loads(text_of(answers["three"])) == report
    assert report["total"]["time_s"] == er.exam("alexnet", on="eyeriss-v1", batch=4).time_s


def test_every_tool_answers():
    answers = ask(call("map", 0, network="alexnet", on="eyeriss-v1", layers="CONV3"),
                  call("roofline", 1, network="alexnet", on="eyeriss-v1"),
                  call("upgrade", 2, **{"network": "resnet50", "from": "v100-sxm2-16gb",
                                        "to": "a100-sxm-40gb"}),
                  call("hw", 3), call("hw", 4, name="eyeriss-v1"), call("net", 5),
                  call("net", 6, name="alexnet"),
                  call("exam", 7, network="alexnet", on="eyeriss-v1", detail="full"))
    results = [answers[number]["result"] for number in range(8)]
    assert [result["isError"] for result in results] == [False] * 8
    assert "<svg" in results[1]["content"][0]["text"]
    assert results[2]["structuredContent"]["speedup"]["value"] > 1
    assert results[7]["structuredContent"]["layers"][0]["steps"][0]["step"] == 1


def test_what_a_model_gets_wrong_comes_back_as_a_result_it_can_read():
    answers = ask(
        call("exam", 0, network="alexnett", on="eyeriss-v1"), call("exam", 1, network="alexnet"),
        call("exam", 2, network="alexnet", on="eyeriss-v1", batch="four", colour="red"),
        call("exam", 3, network="--version", on="eyeriss-v1"),
        call("exam", 4, network="alexnet", on="eyeriss-v1", detail="everything"),
        call("rm", 5), call("exam", 6, network="alexnet", on="eyeriss-v1", dtype="x" * 10000))
    assert all(answers[number]["result"]["isError"] for number in range(7))
    text = [text_of(answers[number]) for number in range(7)]
    assert "did you mean 'alexnet'" in text[0] and "'on' is missing" in text[1]
    assert "'batch' is no integer" in text[2] and "there is no 'colour'" in text[2]
    assert "names no network" in text[3] and "summary, layers, full" in text[4]
    assert "no tool is called 'rm'" in text[5] and "longer than 512 characters" in text[6]


def test_lines_that_are_no_requests_are_refused_and_the_server_goes_on():
    answers = ask("{", "[]", "3", json.dumps({"id": 1}), "[" * 100000, "x" * (2 << 20),
                  '{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
                  '{"jsonrpc":"2.0","id":' + "9" * 5000 + ',"method":"ping"}',
                  '{"jsonrpc":"2.0","id":true,"method":"ping"}',
                  '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
                  '{"jsonrpc":"2.0","id":2,"method":[]}', '{"jsonrpc":"2.0","id":3,"method":{}}',
                  '{"jsonrpc":"2.0","id":4,"method":"ping","params":{"a":1e999}}',
                  '{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
                  {"jsonrpc": "2.0", "id": 9, "method": "ping", "params": [1]},
                  request("no/such", 10), {"jsonrpc": "2.0", "id": 1, "result": {}},
                  request("ping", 7))
    codes = [answer["error"]["code"] for answer in answers[None]]
    assert codes == [-32700, -32600, -32600, -32600, -32700, -32600, -32700, -32700, -32600, -32600,
                     -32700, -32700]
    assert [answers[n]["error"]["code"] for n in (2, 3, 9, 10)] == [-32600, -32600, -32602, -32601]
    assert answers[7]["result"] == {}


def test_without_a_root_no_file_is_opened_and_none_outside_with_one(tmp_path):
    secret = tmp_path / "secret.yaml"
    secret.write_text("password: hunter2\n")
    root = tmp_path / "models"
    root.mkdir()
    (root / "net.csv").write_text("name,op,m,n,k\na,gemm,64,64,64\n")
    (root / "inside").symlink_to("net.csv")
    (root / "link.yaml").symlink_to(secret)
    os.mkfifo(root / "pipe.yaml")
    outside = [str(secret), "models/../secret.yaml", "models/link.yaml", "/etc/shadow", "models/pipe.yaml",
               "models/none.yaml", "-", "/proc/self/environ", "etc", ".", "/dev/stdin", "\u0000"]
    calls = [call(tool, f"{tool}{i}", name=name) for tool in ("net", "hw") for i, name in enumerate(outside)]
    for options in ((), ("--root", str(root))):
        answers = ask(*calls, options=options)
        for one in calls:
            answer = answers[one["id"]]
            assert answer["result"]["isError"], one
            assert "hunter2" not in text_of(answer) and "root:*" not in text_of(answer)
    answers = ask(call("net", 1, name="models/net.csv"), call("net", 2, name="net.csv"),
                  call("net", 3, name=str(root / "net.csv")), call("net", 4, name="models/inside"),
                  call("net", 5, name="models/net.csv:m=3"), options=("--root", str(root)))
    assert [answers[n]["result"]["isError"] for n in (1, 2, 3, 4, 5)] == [False] * 4 + [True]
    assert str(tmp_path) not in text_of(answers[1]) + text_of(answers[5])
    assert text_of(ask(call("net", name="mine/net.csv"), options=("--root", f"mine={root}"))[1]).startswith("{")


def test_a_call_that_is_cancelled_or_too_long_ends_and_others_run_meanwhile():
    with Session("--time-limit", "5") as server:
        begin = time.monotonic()
        server.send(call("map", 1, **ENDLESS))
        server.send(call("map", 2, **ENDLESS))
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        server.send(call("net", 3, name="alexnet"))
        assert server.receive()["id"] == 3  # while 2 runs; 1 is never answered
        assert time.monotonic() - begin < 4.0
        late = server.receive()
        assert late["id"] == 2 and "stopped after 5 s" in text_of(late)
        assert time.monotonic() - begin < 8.0


def test_of_more_requests_than_can_wait_the_last_are_refused():
    with Session("--workers", "1", "--time-limit", "20") as server:
        for number in range(66):
            server.send(call("map", number, **ENDLESS))
        server.send(call("map", 3, **ENDLESS))
        refused = [server.receive() for _ in range(3)]
        assert [(r["id"], r["error"]["code"]) for r in refused] == [(64, -32000), (65, -32000), (3, -32600)]


def _runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_process_of_a_call_ends_with_the_server():
    with Session() as server:
        server.send(call("map", 1, **ENDLESS))
        children = []
        while not children:
            with open(f"/proc/{server.process.pid}/task/{server.process.pid}/children") as file:
                children = file.read().split()
        time.sleep(1.0)
        server.process.kill()
        server.process.wait()
        time.sleep(0.5)
        assert [pid for pid in children if _runs(pid)] == []


def test_a_process_of_a_call_can_open_the_roots_and_nothing_else(tmp_path):
    from eyeroof_mcp.worker import confine

    (tmp_path / "in").mkdir()
    for name in ("in/file", "out"):
        (tmp_path / name).write_text("text")
    child = os.fork()
    if child == 0:
        if not confine([str(tmp_path / "in")]):
            os._exit(77)
        with open(tmp_path / "in/file") as file:
            file.read()
        try:
            open(tmp_path / "out")
        except PermissionError:
            os._exit(0)
        os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == 77:
        pytest.skip("this kernel has no Landlock")
    assert code == 0
