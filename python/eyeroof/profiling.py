"""A PyTorch model's time on a machine, module by module, predicted or measured.

    print(er.profile(model, x, on="h100-sxm-80gb"))      # the module tree, predicted

A torch.profiler result laid over an exam:

    with er.annotate(model), torch.profiler.profile() as prof:
        model(x)
    for row in er.from_profile(prof, er.exam(net, on="a100-sxm-40gb")):
        print(row["module"], row["measured_s"], row["predicted_s"])

`annotate` opens a range named "eyeroof:layer=MODULE" around every leaf module, which `eyeroof
import` and `exam --profile` understand in exported traces too.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ._core import split_inputs
from ._eyeroof import Error
from .exams import Exam, exam as examined
from .results import Modules

PREFIX = "eyeroof:layer="


class Annotate:
    """Ranges around the leaf modules of a model while it is entered."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._hooks: List[Any] = []
        self._open: List[Any] = []

    def __enter__(self) -> "Annotate":
        for name, module in self._model.named_modules():
            if name and next(module.children(), None) is None:
                self._hooks.append(module.register_forward_pre_hook(self._begin(name)))
                self._hooks.append(module.register_forward_hook(self._end, always_call=True))
        return self

    def __exit__(self, *_: Any) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()

    def _begin(self, name: str) -> Any:
        import torch

        def begin(*_: Any) -> None:
            ranged = torch.profiler.record_function(PREFIX + name)
            ranged.__enter__()
            self._open.append(ranged)

        return begin

    def _end(self, *_: Any) -> None:
        if self._open:
            self._open.pop().__exit__(None, None, None)


class Laid(List[Dict[str, Any]]):
    """Rows: module, calls, measured_s (all calls), on ("device" or "cpu"), share, and with an exam
    predicted_s and ratio (measured over predicted)."""

    def to_pandas(self) -> Any:
        import pandas

        return pandas.DataFrame(self)


def _device_us(event: Any) -> float:
    for name in ("device_time_total", "cuda_time_total"):
        value = getattr(event, name, None)
        if value is not None:
            return float(value)
    return 0.0


def _of_module(layers: List[Dict[str, Any]], module: str) -> Iterator[Dict[str, Any]]:
    own = re.compile(re.escape(module) + r"(_\d+|\..*)?")
    return (layer for layer in layers if own.fullmatch(layer["name"]))


def from_profile(prof: Any, exam: Optional[Exam] = None) -> Laid:
    """What each module took, longest first, beside what the exam of the captured model predicts."""
    events = [e for e in prof.key_averages() if e.key.startswith(PREFIX)]
    if not events:
        raise Error("the profile has no ranges of modules [no-ranges]\n"
                    "  hint: run the model inside `with er.annotate(model), profile() as prof:`")
    on_device = any(_device_us(event) > 0 for event in events)
    taken: Dict[str, List[float]] = {}
    for event in events:  # a range shows up once for the host and once for the device
        microseconds = _device_us(event) if on_device else float(event.cpu_time_total)
        entry = taken.setdefault(event.key[len(PREFIX):], [0.0, 0.0])
        entry[0] = max(entry[0], float(event.count))
        entry[1] = max(entry[1], microseconds)
    whole = sum(us for _, us in taken.values())
    rows = Laid()
    for module, (calls, us) in sorted(taken.items(), key=lambda item: -item[1][1]):
        row: Dict[str, Any] = {"module": module, "calls": int(calls), "measured_s": us * 1e-6,
                               "on": "device" if on_device else "cpu",
                               "share": us / whole if whole else 0.0}
        if exam is not None:
            predicted = sum(layer["time_s"] * layer["count"]
                            for layer in _of_module(exam.layers, module))
            row["predicted_s"] = predicted or None
            row["ratio"] = row["measured_s"] / predicted if predicted else None
        rows.append(row)
    return rows


def profile(model: Any, inputs: Any, on: str, **fields: Any) -> Modules:
    """Predict a PyTorch model's time on a machine, module by module.

    Rows follow the model's own tree: a module holds the kernels of all modules below it. `time_s`
    is kernel time, `share` its part of all kernels, `bytes` what crosses the device's memory,
    `utilization` the MACs done as a share of the peak in that time, and `bottleneck` the limit that
    binds most of it. The step itself may take longer: launches and waits belong to no module.
    """
    from .torch import from_torch

    given, named = split_inputs(inputs)
    net = from_torch(model, *given, evaluation=fields.get("phase") != "training", **named)
    report = examined(net, on, **fields)
    modules = {name: module for name, module in model.named_modules()}
    sums: Dict[str, Dict[str, float]] = {}
    limits: Dict[str, Dict[str, float]] = {}
    for layer in report.layers:
        count = float(layer["count"])
        time_s = count * float(layer["time_s"])
        for name in _path(_owner(str(layer["name"]), modules)):
            row = sums.setdefault(name, dict.fromkeys(("time_s", "bytes", "macs", "peak_s"), 0.0))
            row["time_s"] += time_s
            row["bytes"] += count * float(layer["outer_bytes"])
            row["macs"] += count * float(layer["macs"])
            row["peak_s"] += time_s * float(layer["utilization"])
            held = limits.setdefault(name, {})
            held[str(layer["limiter"])] = held.get(str(layer["limiter"]), 0.0) + time_s
    whole = sums[""]["time_s"] if "" in sums else 0.0
    rows = []
    for name, module in modules.items():
        if name in sums:
            row = sums[name]
            bottleneck = max(limits[name].items(), key=lambda item: item[1])[0]
            rows.append({"module": name, "kind": type(module).__name__, "time_s": row["time_s"],
                         "share": row["time_s"] / whole if whole else 0.0, "bytes": row["bytes"],
                         "macs": row["macs"],
                         "parameters": sum(int(p.numel()) for p in module.parameters()),
                         "utilization": row["peak_s"] / row["time_s"] if row["time_s"] else 0.0,
                         "bottleneck": bottleneck})
    return Modules(rows, f"{report.words}: step {report.time_s * 1e3:.4g} ms, kernels {whole * 1e3:.4g} ms")


# The module that a captured layer belongs to: "layer1.0.add_2" is of layer1.0.
def _owner(layer: str, modules: Dict[str, Any]) -> str:
    name = layer
    while name and name not in modules:
        plain = re.sub(r"_\d+$", "", name)
        name = plain if plain in modules else name.rpartition(".")[0]
    return name


# A module and all that hold it, the whole model last: "a.b" is ("a.b", "a", "").
def _path(module: str) -> Tuple[str, ...]:
    parts = module.split(".") if module else []
    return tuple(".".join(parts[:n]) for n in range(len(parts), -1, -1))
