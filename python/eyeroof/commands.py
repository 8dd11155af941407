"""The commands as functions: options are keywords with types, answers are objects."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Type, Union

from . import _eyeroof, _options
from ._core import (AnyNetwork, AnyPath, answered, as_argument, check_names, command, flags_of, names_of, signature_of,
                    split_inputs)
from ._eyeroof import Error, Network
from .exams import Exam
from .results import (Bound, Catalog, Chip, Collectives, Diff, Fused, Improvements, Machines, Mapped, Memory, Networks,
                      Roofline, Rows, Scaling, Serving, Timeline, Upgrade, Validation, entries)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import (BoundOptions, CollectiveOptions, DiffOptions, ExamOptions, FuseOptions, ImproveOptions,
                           MapOptions, MemoryOptions, RooflineOptions, ScaleOptions, ServeOptions, SweepOptions,
                           TimelineOptions, UpgradeOptions, ValidateOptions)


def _asked(name: str, net: AnyNetwork, on: Union[None, str, Sequence[str]], options: Mapping[str, Any],
           kind: Type[Any]) -> str:
    check_names(name, options, names_of(kind))
    with as_argument(net) as argument:
        return answered(name, [argument], on, options)


def find_mapping(net: AnyNetwork, on: str, **options: Unpack[MapOptions]) -> Mapped:
    """Find the best mapping of every layer on an accelerator, with a certificate: `eyeroof map`.

    >>> found = er.find_mapping("alexnet", on="eyeriss-v1", layers="CONV3")
    >>> found.rows[0]["certificate"]["proved"]
    True
    """
    return Mapped(_asked("map", net, on, options, _options.MapOptions))


def roofline(net: AnyNetwork, on: Union[str, Sequence[str]], **options: Unpack[RooflineOptions]) -> Roofline:
    """Place layers below the roofs of one machine or several: `eyeroof roofline`."""
    check_names("roofline", options, names_of(_options.RooflineOptions))
    with as_argument(net) as name:
        document = answered("roofline", [name], on, options)
        machines = [on] if isinstance(on, str) else list(on)
        flags = [text for machine in machines for text in ("--on", machine)]
        return Roofline(document, command("roofline", name, *flags, *flags_of(options), "--format", "svg"))


def timeline(net: AnyNetwork, on: str, **options: Unpack[TimelineOptions]) -> Timeline:
    """Show a whole step over time: launches, kernels, and copies: `eyeroof timeline`.

    >>> step = er.timeline("resnet18", on="t4", launch="graph")
    >>> step.busy_s <= step.time_s
    True
    """
    return Timeline(_asked("timeline", net, on, options, _options.TimelineOptions))


def memory(net: AnyNetwork, on: str, **options: Unpack[MemoryOptions]) -> Memory:
    """Show a step's memory: its peak, what holds it, the largest batch: `eyeroof memory`.

    >>> er.memory("resnet18", on="t4", phase="training").fits
    True
    """
    return Memory(_asked("memory", net, on, options, _options.MemoryOptions))


def improve(net: AnyNetwork, on: str, **options: Unpack[ImproveOptions]) -> Improvements:
    """Find what makes a step faster or smaller, alone and combined: `eyeroof improve`.

    >>> er.improve("resnet18", on="t4").best["gain"] > 1
    True
    """
    return Improvements(_asked("improve", net, on, options, _options.ImproveOptions))


def bound(model: Any, inputs: Any = None, *, on: str, **options: Unpack[BoundOptions]) -> Bound:
    """Lower bounds of a program's time, and what stands between them and its time: `eyeroof bound`.

    `model` is a network, or a PyTorch module with its `inputs` (a tensor, or a list of them), which
    is captured first. `measured`: a time to explain, seconds or a text such as "1.26 ms".

    >>> answer = er.bound("alexnet", on="a100-sxm-40gb", measured="5 ms")
    >>> answer["fused"]["time_s"] <= answer["cached"]["time_s"] <= answer["unfused"]["time_s"]
    True
    """
    net = _captured(model, inputs, evaluation=None) if inputs is not None else model
    measured = options.get("measured")
    if isinstance(measured, (int, float)):
        options["measured"] = f"{measured!r} s"
    return Bound(_asked("bound", net, on, options, _options.BoundOptions))


def fuse(net: AnyNetwork, on: str, **options: Unpack[FuseOptions]) -> Fused:
    """Find which layers to run together, so that what is between them stays on the chip: `eyeroof fuse`."""
    return Fused(_asked("fuse", net, on, options, _options.FuseOptions))


def upgrade(net: AnyNetwork, old: str, new: Union[str, Sequence[str]],
            **options: Unpack[UpgradeOptions]) -> Upgrade:
    """Say whether another GPU pays off: `eyeroof upgrade NETWORK --from OLD --to NEW`.

    >>> answer = er.upgrade("resnet50", "v100-sxm2-16gb", "a100-sxm-40gb")
    >>> answer.interval[0] < answer.speedup < answer.interval[1]
    True
    """
    check_names("upgrade", options, names_of(_options.UpgradeOptions))
    given = {"from": old, "to": [new] if isinstance(new, str) else list(new), **options}
    with as_argument(net) as name:
        return Upgrade(answered("upgrade", [name], None, given))


def scale(net: AnyNetwork, on: str, **options: Unpack[ScaleOptions]) -> Scaling:
    """Predict a training step on many devices: `eyeroof scale`.

    >>> len(er.scale("gpt2-xl", on="a100-sxm-80gb", fabric="dgx-a100-hdr", devices="8,16").rows) > 0
    True
    """
    return Scaling(_asked("scale", net, on, options, _options.ScaleOptions))


def serve(net: AnyNetwork, on: str, **options: Unpack[ServeOptions]) -> Serving:
    """Serve a decoder: time to the first token, time per token, and throughput: `eyeroof serve`.

    >>> er.serve("llama-3-8b", on="a100-sxm-80gb").best["tpot_s"] > 0
    True
    """
    return Serving(_asked("serve", net, on, options, _options.ServeOptions))


def collective(operation: str, fabric: str, **options: Unpack[CollectiveOptions]) -> Collectives:
    """Predict a collective over message sizes on a fabric: `eyeroof collective`.

    >>> len(er.collective("all-reduce", "dgx-a100-hdr", devices=8).rows) > 10
    True
    """
    check_names("collective", options, names_of(_options.CollectiveOptions))
    return Collectives(answered("collective", [operation], None, {"fabric": fabric, **options}))


def chip(net: AnyNetwork, on: str, **options: Unpack[ExamOptions]) -> Chip:
    """Area and power of an accelerator's chip while a network runs: `eyeroof exam --chip`.

    >>> er.chip("alexnet", on="eyeriss-v1", layers="CONV1").area_mm2 > 1
    True
    """
    return Chip(_asked("exam", net, on, {**options, "chip": True}, _options.ExamOptions))


def validate(table: AnyPath, **options: Unpack[ValidateOptions]) -> Validation:
    """Say how far predictions lie from measured layers: `eyeroof validate TABLE`."""
    check_names("validate", options, names_of(_options.ValidateOptions))
    return Validation(answered("validate", [os.fspath(table)], None, options))


def diff(a: Union[Exam, AnyPath], b: Union[Exam, AnyPath], **options: Unpack[DiffOptions]) -> Diff:
    """Say what is different between two exams, step by step, or between two measured runs: `eyeroof diff`.

    Takes exams, their JSON files, or profiles and traces (`by="operator"`).
    """
    check_names("diff", options, names_of(_options.DiffOptions))
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, one in (("a", a), ("b", b)):
            if isinstance(one, Exam):
                path = os.path.join(folder, name + ".json")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(one.json())
                paths.append(path)
            else:
                paths.append(os.fspath(one))
        return Diff(answered("diff", paths, None, options))


def sweep(net: AnyNetwork, on: str, vary: Mapping[str, Any], *, client: Any = None, parts: int = 0,
          folder: Optional[AnyPath] = None, progress: Optional[Callable[[int, int], None]] = None,
          **options: Unpack[SweepOptions]) -> Rows:
    """Run every combination of values: rows as `eyeroof sweep` writes them. Lists or "8:32:4".

    With `client` (a Dask client) the sweep runs on its workers, in `parts` parts, or as many as take about a second
    each; the rows are the same. `folder` keeps each part as it is done: the same call goes on where one stopped.
    `progress(done, parts)` is called after each. `.save("all.jsonl")` writes the file of the command line, `.parquet`
    needs pyarrow.

    >>> rows = er.sweep("alexnet", on="eyeriss-v1", vary={"clock": ["x1", "x2"], "batch": [1, 4]})
    >>> [row["batch"] for row in rows]
    [1, 4, 1, 4]
    """
    flags: List[str] = []
    for field, values in vary.items():
        if not isinstance(values, (str, Iterable)):
            raise Error(f"the values of '{field}' are a list, or a text as \"8:32:4\" [bad-value]")
        text = values if isinstance(values, str) else ",".join(str(v) for v in values)
        flags += ["--vary", f"{field}={text}"]
    check_names("sweep", options, names_of(_options.SweepOptions))
    flags += flags_of(options)
    if client is None:
        if parts or folder is not None or progress is not None:
            raise Error("parts, folder, and progress are of a sweep with a client [usage]")
        with as_argument(net) as name:
            return Rows(command("sweep", name, "--on", on, *flags, "--format", "jsonl"))
    yaml = net.yaml() if isinstance(net, Network) else None
    asked = (None if isinstance(net, Network) else os.fspath(net), yaml, on, flags)
    from .parts import run_parts

    return Rows(run_parts(client, _part, asked, parts, folder, progress))


def _part(name: Optional[str], text: Optional[str], on: str, flags: List[str], shard: str) -> str:
    net: AnyNetwork = name or "" if text is None else _eyeroof.parse_network(text, "network.yaml")
    with as_argument(net) as argument:
        return command("sweep", argument, "--on", on, *flags, "--shard", shard, "--threads", "1",
                       "--format", "jsonl")


def machines() -> Machines:
    """The machines of the catalog: `eyeroof hw list`.

    >>> "eyeriss-v1" in er.machines()
    True
    """
    return Machines(entries(command("hw", "list", "--format", "json"), "machines"))


def machine(name: str) -> Dict[str, Any]:
    """What a machine is made of, each number with its source: `eyeroof hw show NAME`.

    >>> er.machine("t4")["units"]
    40
    """
    return dict(Catalog([_parsed(command("hw", "show", name, "--format", "json"))])[0])


def networks() -> Networks:
    """The networks of the catalog, with their work and parameters: `eyeroof net list`.

    >>> "resnet50" in er.networks()
    True
    """
    found = entries(command("net", "list", "--format", "json"), "networks")
    return Networks({**entry, "sizes": entry["parameters"], **entry["total"]} for entry in found)


def _parsed(document: str) -> Dict[str, Any]:
    import json

    parsed: Dict[str, Any] = json.loads(document)
    return parsed


def _captured(model: Any, inputs: Any, evaluation: Optional[bool]) -> Network:
    from .torch import from_torch

    given, named = split_inputs(inputs)
    return from_torch(model, *given, evaluation=not model.training if evaluation is None else evaluation, **named)


# Keywords at run time as for type checkers: help() shows them, and a wrong one is a TypeError that
# names the nearest.

for _function, _kind, _but in (
        (find_mapping, _options.MapOptions, ()), (roofline, _options.RooflineOptions, ()),
        (timeline, _options.TimelineOptions, ()), (memory, _options.MemoryOptions, ()),
        (improve, _options.ImproveOptions, ()), (bound, _options.BoundOptions, ()),
        (fuse, _options.FuseOptions, ()), (upgrade, _options.UpgradeOptions, ()),
        (scale, _options.ScaleOptions, ()), (serve, _options.ServeOptions, ()),
        (collective, _options.CollectiveOptions, ()), (chip, _options.ExamOptions, ("chip",)),
        (validate, _options.ValidateOptions, ()), (diff, _options.DiffOptions, ()),
        (sweep, _options.SweepOptions, ())):
    setattr(_function, "__signature__", signature_of(_function, _kind, _but))
