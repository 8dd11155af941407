"""The MCP server, spoken to over its stdin and stdout as clients do."""

import json
import subprocess
import sys

import eyeroof as er


def ask(*messages):
    lines = "".join((m if isinstance(m, str) else json.dumps(m)) + "\n" for m in messages)
    told = subprocess.run([sys.executable, "-m", "eyeroof.mcp"], input=lines, check=True,
                          capture_output=True, text=True, timeout=120)
    return [json.loads(line) for line in told.stdout.splitlines()]


def request(method, number=1, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(tool, **arguments):
    return request("tools/call", name=tool, arguments=arguments)


def test_a_client_greets_lists_the_tools_and_examines():
    greeting, tools, exam = ask(
        request("initialize", 1, protocolVersion="2025-03-26", capabilities={},
                clientInfo={"name": "test", "version": "0"}),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},  # has no answer
        request("tools/list", 2),
        {**call("exam", network="alexnet", on="eyeriss-v1", batch=4), "id": "three"})
    assert greeting["result"]["protocolVersion"] == "2025-03-26"
    assert greeting["result"]["serverInfo"] == {"name": "eyeroof", "version": er.__version__}
    names = [tool["name"] for tool in tools["result"]["tools"]]
    assert names == ["exam", "map", "roofline", "upgrade", "hw", "net"]
    assert exam["id"] == "three" and exam["result"]["isError"] is False
    report = exam["result"]["structuredContent"]
    assert json.loads(exam["result"]["content"][0]["text"]) == report
    assert report["total"]["time_s"] == er.exam("alexnet", on="eyeriss-v1", batch=4).time_s


def test_every_tool_answers():
    answers = ask(call("map", network="alexnet", on="eyeriss-v1", layers="CONV3"),
                  call("roofline", network="alexnet", on="eyeriss-v1"),
                  call("upgrade", **{"network": "resnet50", "from": "v100-sxm2-16gb",
                                     "to": "a100-sxm-40gb"}),
                  call("hw"), call("hw", name="eyeriss-v1"), call("net"), call("net", name="alexnet"),
                  call("exam", network="alexnet", on="eyeriss-v1", detail="full"))
    results = [answer["result"] for answer in answers]
    assert [result["isError"] for result in results] == [False] * 8
    assert "<svg" in results[1]["content"][0]["text"]
    assert results[2]["structuredContent"]["speedup"]["value"] > 1
    assert results[7]["structuredContent"]["layers"][0]["steps"][0]["step"] == 1


def test_what_a_model_gets_wrong_comes_back_as_a_result_it_can_read():
    near, missing, kind, option, word = ask(
        call("exam", network="alexnett", on="eyeriss-v1"), call("exam", network="alexnet"),
        call("exam", network="alexnet", on="eyeriss-v1", batch="four", colour="red"),
        call("exam", network="--version", on="eyeriss-v1"),
        call("exam", network="alexnet", on="eyeriss-v1", detail="everything"))
    assert all(answer["result"]["isError"] for answer in (near, missing, kind, option, word))
    text = [a["result"]["content"][0]["text"] for a in (near, missing, kind, option, word)]
    assert "did you mean 'alexnet'" in text[0] and "'on' is missing" in text[1]
    assert "'batch' is no integer" in text[2] and "there is no 'colour'" in text[2]
    assert "names no network" in text[3] and "summary, layers, full" in text[4]


def test_lines_that_are_no_requests_are_refused_and_the_server_goes_on():
    answers = ask("{", "[]", "3", json.dumps({"id": 1}), request("no/such"), "[" * 100000,
                  {"jsonrpc": "2.0", "id": 9, "method": "ping", "params": [1]},
                  request("tools/call", name="rm"), {"jsonrpc": "2.0", "id": 1, "result": {}},
                  request("ping", 7))
    codes = [answer["error"]["code"] for answer in answers[:-1]]
    assert codes == [-32700, -32600, -32600, -32600, -32601, -32700, -32602, -32602]
    assert answers[-1] == {"jsonrpc": "2.0", "id": 7, "result": {}}
