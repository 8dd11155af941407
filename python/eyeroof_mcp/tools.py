"""The tools: their schemas, and how each becomes a command of eyeroof.

Answers are the documents of docs/json.md; errors carry the hint that the command line gives.
"""

from __future__ import annotations

import json
import math
from typing import Any, Callable, Dict, List

from .limits import Limits

Json = Dict[str, Any]
FILES = ("network", "on", "from", "to", "name")  # arguments that may name a file


class Wrong(ValueError):
    """A call that a client can correct; its text says how."""


def _text(meaning: str, **more: Any) -> Json:
    return {"type": "string", "description": meaning, **more}


_NETWORK = _text("Name in the catalog, with parameters behind it (bert-base:seq=512), or a file in a "
                 "folder of the server (ONNX, YAML, CSV)")
_MACHINE = _text("Machine by name, or a file in a folder of the server")
_BATCH = {"type": "integer", "minimum": 1, "description": "Samples of a step"}
_LAYERS = _text("Regular expression: only these layers")
_DTYPE = _text("Data type instead of the layers' own: fp32, fp16, bf16, int8 ...")
_PHASE = _text("What is run", enum=["inference", "training"])
_LAUNCH = _text("How kernels are launched", enum=["eager", "stream", "graph", "none"])
_COMPILED = {"type": "boolean", "description": "Pointwise operators and reductions fused"}
_LIBRARY = _text("Library or framework with its version, such as 'cublas 10'")
_LAYOUT = _text("Order of a convolution's tensors", enum=["channels-last", "channels-first"])
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
          phase=_PHASE, launch=_LAUNCH, compiled=_COMPILED, library=_LIBRARY, layout=_LAYOUT,
          operators=_text("Which operators count", enum=["all", "fused", "products"]),
          advice={"type": "boolean", "description": "Also what would help"},
          detail=_text("How much", enum=["summary", "layers", "full"], default="summary")),
    _tool("map", "The best mapping of layers on an accelerator, with a proof of how far it can be "
          "from the optimum.", ["network", "on"],
          network=_NETWORK, on=_MACHINE, layers=_LAYERS,
          objective=_text("latency, energy, edp"),
          time_limit={"type": "number", "minimum": 0.001, "description": "Seconds for all searches together"}),
    _tool("roofline", "Layers below a machine's roofs, as SVG.", ["network", "on"],
          network=_NETWORK, on=_MACHINE, batch=_BATCH, layers=_LAYERS, dtype=_DTYPE, set=_SET),
    _tool("bound", "How far a program is from what the machine can do: lower bounds (fused, cached, "
          "unfused), the prediction, and what stands between; with a measured time also what of it "
          "is unexplained. `changes` says which way to run it gains most. Ask after each attempt.",
          ["network", "on"],
          network=_NETWORK, on=_MACHINE, batch=_BATCH, layers=_LAYERS, dtype=_DTYPE, set=_SET,
          phase=_PHASE, launch=_LAUNCH, compiled=_COMPILED, library=_LIBRARY, layout=_LAYOUT,
          host_speed={"type": "number", "minimum": 0.001, "maximum": 1000, "description": "How many "
                      "times faster the host launches kernels than the catalog's"},
          measured=_text("Measured time of a step, such as 1.26ms")),
    _tool("upgrade", "Whether another GPU pays off for a network, and why.",
          ["network", "from", "to"], **{"network": _NETWORK, "from": _MACHINE, "to": _MACHINE,
                                        "batch": _BATCH, "dtype": _DTYPE, "phase": _PHASE,
                                        "launch": _LAUNCH, "compiled": _COMPILED,
                                        "library": _LIBRARY, "layout": _LAYOUT}),
    _tool("hw", "Machines: all of them, or what one is made of and where its numbers come from.", [],
          name=_MACHINE),
    _tool("net", "Networks: all of them, or the layers of one.", [], name=_NETWORK),
]
BY_NAME = {tool["name"]: tool for tool in TOOLS}


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
        raise Wrong(f"'{value[:40]}' names no network or machine [bad-value]")
    return [value]


def _command(*arguments: str) -> str:
    from eyeroof import command

    return command(*arguments)


def _document(*arguments: str) -> Json:
    return json.loads(_command(*arguments, "--format", "json"))


def _exam(a: Json) -> Json:
    report = _document("exam", *_positional(a["network"]), f"--on={a['on']}",
                       *_flags(a, ["batch", "layers", "dtype", "set", "phase", "launch", "compiled",
                                   "library", "layout", "operators", "advice"]))
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
    return _command("roofline", *_positional(a["network"]), f"--on={a['on']}",
                   *_flags(a, ["batch", "layers", "dtype", "set"]), "--format", "svg")


def _upgrade(a: Json) -> Json:
    return _document("upgrade", *_positional(a["network"]), *_flags(a, ["from", "to", "batch", "dtype", "phase", "launch", "compiled",
                               "library", "layout"]))


def _bound(a: Json) -> Json:
    report = _document("bound", *_positional(a["network"]), f"--on={a['on']}",
                       *_flags(a, ["batch", "layers", "dtype", "set", "phase", "launch", "compiled",
                                   "library", "layout", "host_speed", "measured"]))
    report["operators"] = report["operators"][:10]
    return report


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
                                            "bound": _bound, "upgrade": _upgrade, "hw": _hw,
                                            "net": _net}
_KINDS: Dict[str, Any] = {"string": str, "integer": int, "number": (int, float), "object": dict,
                          "boolean": bool}


def answer_of(tool: str, arguments: Json) -> Any:
    """A document, or the text of a picture; eyeroof.Error where the command refuses."""
    return _CALLS[tool](arguments)


def check(name: str, arguments: Any, limits: Limits) -> None:
    """Everything that is wrong with a call, at once."""
    if name not in BY_NAME:
        raise Wrong(f"no tool is called '{name[:40]}'; there are {', '.join(BY_NAME)} [unknown-tool]")
    schema = BY_NAME[name]["inputSchema"]
    wrong = [f"'{key}' is missing" for key in schema["required"] if key not in arguments]
    for key, value in arguments.items():
        field = schema["properties"].get(key)
        if field is None:
            wrong.append(f"there is no '{key[:40]}'; there are {', '.join(schema['properties'])}")
        elif not _is_kind(value, field["type"]):
            wrong.append(f"'{key}' is no {field['type']}")
        elif "enum" in field and value not in field["enum"]:
            wrong.append(f"'{key}' is one of {', '.join(field['enum'])}")
        else:
            wrong += _beyond(key, value, field, limits)
    if wrong:
        raise Wrong("; ".join(wrong) + " [bad-value]")


def _is_kind(value: Any, kind: str) -> bool:
    return isinstance(value, _KINDS[kind]) and isinstance(value, bool) == (kind == "boolean")


def _beyond(key: str, value: Any, field: Json, limits: Limits) -> List[str]:
    """What no argument may be: long, full of control characters, below its minimum, deep."""
    if isinstance(value, str):
        if len(value) > limits.text_length:
            return [f"'{key}' is longer than {limits.text_length} characters"]
        if not value or not value.isprintable():
            return [f"'{key}' is no text"]
        if "/" in value and key not in FILES + ("layers",):
            return [f"'{key}' is no file"]
    elif isinstance(value, dict):
        if len(value) > limits.changes:
            return [f"'{key}' has more than {limits.changes} members"]
        return [problem for name, one in value.items()
                for problem in ([f"'{key}' has members of text and numbers"]
                                if isinstance(one, bool) or not isinstance(one, (str, int, float))
                                else _beyond(key, name, {}, limits)
                                + (_beyond(key, one, {}, limits) if isinstance(one, str) else []))]
    elif isinstance(value, float) and not math.isfinite(value):
        return [f"'{key}' is no number"]
    elif "minimum" in field and value < field["minimum"]:
        return [f"'{key}' is at least {field['minimum']}"]
    return []
