"""A torch.profiler result laid over an exam, module by module.

    with er.annotate(model), torch.profiler.profile() as prof:
        model(x)
    for row in er.from_profile(prof, er.exam(net, on="a100-sxm-40gb")):
        print(row["module"], row["measured_s"], row["predicted_s"])

`annotate` opens a range named "eyeroof:layer=MODULE" around every leaf module, which `eyeroof
import` and `exam --profile` understand in exported traces too.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Iterator, List, Optional

from . import Error, Exam

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
