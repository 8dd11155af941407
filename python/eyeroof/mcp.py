"""eyeroof-mcp: the commands as tools of the Model Context Protocol, over stdin and stdout.

One JSON-RPC 2.0 message a line; nothing else is written to stdout. A client starts it as
`eyeroof-mcp` and needs no options. Tools answer with the documents of docs/json.md; errors carry
the hint that the command line gives. Networks and machines are names of the catalog or files that
this process can read; nothing is written.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Callable, Dict, List, Optional, TextIO

from . import Error, __version__, command

PROTOCOLS = ("2025-06-18", "2025-03-26", "2024-11-05")  # newest first

Json = Dict[str, Any]


def _text(meaning: str, **more: Any) -> Json:
    return {"type": "string", "description": meaning, **more}


_NETWORK = _text("Name in the catalog, with parameters behind it (bert-base:seq=512), or a file "
                 "(ONNX, YAML, CSV)")
_MACHINE = _text("Machine by name, or a file")
_BATCH = {"type": "integer", "minimum": 1, "description": "Multiplies the network's batch"}
_LAYERS = _text("Regular expression: only these layers")
_DTYPE = _text("Data type instead of the layers' own: fp32, fp16, bf16, int8 ...")
_SET = {"type": "object", "description": "Changes of the machine: {\"clock\": \"x2\"}",
        "additionalProperties": {"type": ["string", "number"]}}


def _tool(name: str, about: str, needs: List[str], /, **fields: Json) -> Json:
    return {"name": name, "description": about,
            "inputSchema": {"type": "object", "properties": fields, "required": needs,
                            "additionalProperties": False}}


TOOLS = [
    _tool("exam", "How fast a network runs on a machine, which of seven steps limits each layer, and "
          "by how much. `detail`: summary (totals and the ten layers that take longest), layers "
          "(all, without their steps) or full.", ["network", "on"],
          network=_NETWORK, on=_MACHINE, batch=_BATCH, layers=_LAYERS, dtype=_DTYPE, set=_SET,
          phase=_text("What is run", enum=["inference", "training"]),
          operators=_text("Which operators count", enum=["all", "fused", "products"]),
          advice={"type": "boolean", "description": "Also what would help"},
          detail=_text("How much", enum=["summary", "layers", "full"], default="summary")),
    _tool("map", "The best mapping of layers on an accelerator, with a proof of how far it can be "
          "from the optimum.", ["network", "on"],
          network=_NETWORK, on=_MACHINE, layers=_LAYERS,
          objective=_text("latency, energy, edp"),
          time_limit={"type": "number", "minimum": 0.001, "description": "Seconds a layer"}),
    _tool("roofline", "Layers below a machine's roofs, as SVG.", ["network", "on"],
          network=_NETWORK, on=_MACHINE, batch=_BATCH, layers=_LAYERS, dtype=_DTYPE, set=_SET),
    _tool("upgrade", "Whether another GPU pays off for a network, and why.",
          ["network", "from", "to"], **{"network": _NETWORK, "from": _MACHINE, "to": _MACHINE,
                                        "batch": _BATCH}),
    _tool("hw", "Machines: all of them, or what one is made of and where its numbers come from.", [],
          name=_MACHINE),
    _tool("net", "Networks: all of them, or the layers of one.", [], name=_NETWORK),
]
_BY_NAME = {tool["name"]: tool for tool in TOOLS}


class _Refused(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def _flags(arguments: Json, keys: List[str]) -> List[str]:
    flags: List[str] = []
    for key in keys:
        value = arguments.get(key)
        name = "--" + key.replace("_", "-")
        if isinstance(value, dict):
            flags += [part for k, v in value.items() for part in (name, f"{k}={v}")]
        elif value is True:
            flags.append(name)
        elif value is not None and value is not False:
            flags.append(f"{name}={value}")  # one word: a value cannot become an option
    return flags


def _positional(value: str) -> List[str]:
    if value.startswith("-"):
        raise Error(f"'{value}' names no network or machine [bad-value]")
    return [value]


def _document(*arguments: str) -> Json:
    return json.loads(command(*arguments, "--format", "json"))


def _exam(a: Json) -> Json:
    report = _document("exam", *_positional(a["network"]), f"--on={a['on']}",
                       *_flags(a, ["batch", "layers", "dtype", "set", "phase", "operators",
                                   "advice"]))
    detail = a.get("detail", "summary")
    if detail == "full":
        return report
    short = ("name", "op", "count", "macs", "time_s", "utilization", "limiter", "limiter_step",
             "low_s", "high_s")
    layers = [{k: layer[k] for k in short if k in layer} for layer in report["layers"]]
    if detail == "summary":
        report["layer_count"] = len(layers)
        layers = sorted(layers, key=lambda one: -one["time_s"] * one["count"])[:10]
    report["layers"] = layers
    return report


def _map(a: Json) -> Json:
    return _document("map", *_positional(a["network"]), f"--on={a['on']}",
                     *_flags(a, ["layers", "objective", "time_limit"]))


def _roofline(a: Json) -> str:
    return command("roofline", *_positional(a["network"]), f"--on={a['on']}",
                   *_flags(a, ["batch", "layers", "dtype", "set"]), "--format", "svg")


def _upgrade(a: Json) -> Json:
    return _document("upgrade", *_positional(a["network"]), *_flags(a, ["from", "to", "batch"]))


def _hw(a: Json) -> Json:
    return _listed("hw", a)


def _net(a: Json) -> Json:
    return _listed("net", a)


def _listed(what: str, a: Json) -> Json:
    if "name" in a:
        return _document(what, "show", *_positional(a["name"]))
    listed: Any = _document(what, "list")
    return listed if isinstance(listed, dict) else {"entries": listed}


_CALLS: Dict[str, Callable[[Json], Any]] = {"exam": _exam, "map": _map, "roofline": _roofline,
                                            "upgrade": _upgrade, "hw": _hw, "net": _net}
_KINDS: Dict[str, Any] = {"string": str, "integer": int, "number": (int, float), "object": dict,
                          "boolean": bool}


def _check(tool: Json, arguments: Any) -> None:
    """Everything that is wrong with a call's arguments, at once."""
    schema = tool["inputSchema"]
    if not isinstance(arguments, dict):
        raise Error("arguments are an object [bad-value]")
    wrong = [f"'{key}' is missing" for key in schema["required"] if key not in arguments]
    for key, value in arguments.items():
        field = schema["properties"].get(key)
        if field is None:
            wrong.append(f"there is no '{key}'; there are {', '.join(schema['properties'])}")
        elif not isinstance(value, _KINDS[field["type"]]) or (
                isinstance(value, bool) and field["type"] != "boolean"):
            wrong.append(f"'{key}' is no {field['type']}")
        elif "enum" in field and value not in field["enum"]:
            wrong.append(f"'{key}' is one of {', '.join(field['enum'])}")
    if wrong:
        raise Error("; ".join(wrong) + " [bad-value]")


def _call(params: Json) -> Json:
    tool = _BY_NAME.get(params.get("name", ""))
    if tool is None:
        raise _Refused(-32602, f"no tool is called {params.get('name')!r}; there are "
                               f"{', '.join(_BY_NAME)}")
    try:
        _check(tool, params.get("arguments", {}))
        answer = _CALLS[tool["name"]](params.get("arguments", {}))
    except Error as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    if isinstance(answer, str):
        return {"content": [{"type": "text", "text": answer}], "isError": False}
    return {"content": [{"type": "text", "text": json.dumps(answer)}],
            "structuredContent": answer, "isError": False}


def _initialize(params: Json) -> Json:
    asked = params.get("protocolVersion")
    return {"protocolVersion": asked if asked in PROTOCOLS else PROTOCOLS[0],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": "eyeroof", "version": __version__},
            "instructions": "Start with `net` and `hw` for names, then `exam`."}


_METHODS: Dict[str, Callable[[Json], Json]] = {
    "initialize": _initialize,
    "ping": lambda params: {},
    "tools/list": lambda params: {"tools": TOOLS},
    "tools/call": _call,
}


def answer_to(message: Any) -> Optional[Json]:
    """The answer to one message; None for notifications."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return _error(None, -32600, "this is no JSON-RPC 2.0 request")
    if "method" not in message:  # an answer to a request; none was made
        return None
    number, method, params = message.get("id"), message["method"], message.get("params", {})
    if "id" not in message:
        return None
    if method not in _METHODS:
        return _error(number, -32601, f"there is no method {method!r}")
    if not isinstance(params, dict):
        return _error(number, -32602, "params are an object")
    try:
        return {"jsonrpc": "2.0", "id": number, "result": _METHODS[method](params)}
    except _Refused as refused:
        return _error(number, refused.code, str(refused))
    except Exception as error:  # the server goes on; what happened is told
        return _error(number, -32603, f"{type(error).__name__}: {error}")


def _error(number: Any, code: int, message: str) -> Json:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


def serve(lines: TextIO, out: TextIO) -> None:
    for line in lines:
        if not line.strip():
            continue
        try:
            answer = answer_to(json.loads(line))
        except (json.JSONDecodeError, RecursionError):
            answer = _error(None, -32700, "the line is no JSON")
        if answer is not None:
            out.write(json.dumps(answer, separators=(",", ":")) + "\n")
            out.flush()


def main() -> int:
    if len(sys.argv) > 1:
        print(__doc__, file=sys.stderr)
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    try:
        serve(sys.stdin, sys.stdout)
    except (BrokenPipeError, KeyboardInterrupt):
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
