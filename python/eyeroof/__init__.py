"""How fast can a network run on a machine, which limit stops it, and what would help?

>>> import eyeroof as er
>>> exam = er.exam("resnet50", on="eyeriss-v1", batch=4)
>>> exam.macs == 4 * 4089184256
True
>>> exam.layers[0]["name"]
'conv1'

Figures are those of the command line, digit for digit: both ask the same library.
"""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _eyeroof
from ._eyeroof import Error, Network, __version__

__all__ = [
    "Answer", "Error", "Exam", "Network", "Rows", "annotate", "bound", "capture", "command", "diff", "exam",
    "from_hf", "from_profile", "from_torch", "map", "network", "roofline", "search", "sweep", "upgrade",
    "validate", "__version__",
]

AnyNetwork = Union[str, os.PathLike, Network]


def _folders() -> List[str]:
    here = os.path.dirname(os.path.abspath(__file__))
    xdg = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    own = os.environ.get("EYEROOF_DATA")
    beside = os.path.join(here, "share", "eyeroof")
    return [p for p in (own, os.path.join(xdg, "eyeroof"), beside) if p and os.path.isdir(p)]


_eyeroof.set_folders(_folders())


def _run_main(arguments: Sequence[str]) -> int:
    import sys

    code, out, err = _eyeroof.command(list(arguments))
    sys.stderr.write(err)
    sys.stdout.write(out)
    return code


def command(*arguments: str) -> str:
    """A whole command line in this process; its output. Error carries what it says on stderr.

    >>> er.command("hw", "list").startswith("accelerator")
    True
    """
    code, out, err = _eyeroof.command([str(a) for a in arguments])
    if code not in (0, 1):
        raise Error(err.strip())
    return out


def network(name: AnyNetwork, **sizes: int) -> Network:
    """A network of the catalog or a file (YAML, CSV, ONNX …); sizes are its parameters.

    >>> er.network("bert-base", seq=128).totals()["macs"] > 0
    True
    """
    if isinstance(name, Network):
        return name
    return _eyeroof.network(os.fspath(name), [f"{k}={v}" for k, v in sizes.items()])


class Exam:
    """What was found out about a network on a machine. Figures are of the whole network."""

    def __init__(self, inner: _eyeroof.Exam, arguments: Tuple[AnyNetwork, List[str]]) -> None:
        self._inner = inner
        self._arguments = arguments
        self._data: Optional[Dict[str, Any]] = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._inner, name)

    def __dir__(self) -> List[str]:
        return sorted(set(super().__dir__()) | {n for n in dir(self._inner) if n[0] != "_"})

    @property
    def data(self) -> Dict[str, Any]:
        """The document that `--format json` writes; see docs/json.md."""
        if self._data is None:
            import json

            self._data = json.loads(self._inner.json())
        return self._data

    @property
    def layers(self) -> List[Dict[str, Any]]:
        return self.data["layers"]

    def to_pandas(self) -> Any:
        """A row a layer, one execution each; needs pandas."""
        import pandas

        rows = []
        for layer in self.layers:
            row = {k: v for k, v in layer.items() if not isinstance(v, (dict, list))}
            row.update(layer["time_split"])
            row.update({f"step{s['step']}_macs_per_cycle": s["bound_macs_per_cycle"]
                        for s in layer["steps"]})
            rows.append(row)
        return pandas.DataFrame(rows)

    def roofline_svg(self) -> str:
        """The roofline of this exam as SVG."""
        net, arguments = self._arguments
        with _as_argument(net) as name:
            return command("roofline", name, *arguments, "--format", "svg")

    def __repr__(self) -> str:
        return (f"<Exam {self.network} on {self.machine}: {self.time_s * 1e3:.4g} ms, "
                f"{100 * self.utilization:.3g} % of peak>")

    def _repr_html_(self) -> str:
        import html

        rows = "".join(
            "<tr><td>{}</td><td>{}</td><td>{:.4g}</td><td>{:.3g}</td><td>{}</td></tr>".format(
                html.escape(layer["name"]), layer["count"], layer["time_s"] * 1e3,
                100 * layer["utilization"], html.escape(layer.get("limiter", "")))
            for layer in self.layers)
        try:
            picture = self.roofline_svg()
        except Error as error:
            picture = f"<p>{html.escape(str(error))}</p>"
        return (f"<div>{html.escape(repr(self)[1:-1])}</div>{picture}<table><thead><tr>"
                "<th>layer</th><th>count</th><th>ms</th><th>% of peak</th><th>limited by</th>"
                f"</tr></thead><tbody>{rows}</tbody></table>")


class _as_argument:
    """A network as something a command line takes: its name, or a file that lives as long."""

    def __init__(self, net: AnyNetwork) -> None:
        self._net = net
        self._folder: Any = None

    def __enter__(self) -> str:
        if not isinstance(self._net, Network):
            return os.fspath(self._net)
        import tempfile

        self._folder = tempfile.TemporaryDirectory()
        path = os.path.join(self._folder.name, (self._net.id or "network") + ".yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._net.yaml())
        return path

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def _changes(set: Optional[Mapping[str, Any]]) -> List[str]:
    return [f"{key}={value}" for key, value in (set or {}).items()]


def _flags(options: Mapping[str, Any]) -> List[str]:
    """Options of a command line: time_limit=3 is --time-limit 3, True a flag, lists repeat."""
    flags: List[str] = []
    for key, value in options.items():
        name = "--" + key.rstrip("_").replace("_", "-")
        if isinstance(value, Mapping):
            value = _changes(value)
        values = value if isinstance(value, (list, tuple)) else [value]
        for one in values:
            if one is True:
                flags.append(name)
            elif one is not None and one is not False:
                flags += [name, str(one)]
    return flags


def _values(value: Any) -> List[str]:
    """As the command line takes them: True is a flag, None and False are nothing."""
    if isinstance(value, Mapping):
        return _changes(value)
    values = value if isinstance(value, (list, tuple)) else [value]
    return ["1" if one is True else str(one) for one in values if one is not None and one is not False]


def exam(net: AnyNetwork, on: str, *, threads: int = 0, **fields: Any) -> Exam:
    """Examines a network on a machine. Fields are those of a scenario, as `eyeroof exam` names them:
    batch (samples of a step), dtype, phase="training", launch, compiled=True, set={"clock": "x2"},
    mapping, dataflow, layers …

    >>> er.exam("alexnet", on="eyeriss-v1", set={"clock": "x2"}).time_s > 0
    True
    >>> er.exam("alexnet", on="eyeris-v1")
    Traceback (most recent call last):
    ...
    eyeroof._eyeroof.Error: error: no machine is called "eyeris-v1" [unknown-machine]
      hint: did you mean 'eyeriss-v1'? (a file needs its path, such as ./mine.yaml)
    """
    known = _eyeroof.fields()
    for field in fields:
        if field not in known:
            raise TypeError(f"exam() has no field '{field}'; it has {', '.join(known)}")
    given = {field: _values(value) for field, value in fields.items()}
    inner = _eyeroof.exam(network(net), {"machine": [on], **given}, threads)
    return Exam(inner, (net, ["--on", on] + _flags(fields)))


class Answer(dict):
    """What a command says, as `--format json` writes it."""

    def __init__(self, text: str) -> None:
        import json

        super().__init__(json.loads(text))


class Bound(Answer):
    """What `bound` says: the document's keys, and the figures that are asked for most."""

    @property
    def time_s(self) -> float:
        """The measured time, else the predicted one."""
        measured = self["measured_s"]
        return float(self["predicted_s"] if measured is None else measured)

    @property
    def speed_of_light(self) -> float:
        """The bound `fused` as a share of the time."""
        return float(self["fused"]["time_s"]) / self.time_s

    @property
    def largest_part(self) -> Dict[str, Any]:
        """What takes most of the time above the bound: part, seconds, and reason."""
        return dict(max(self["gap"][1:], key=lambda part: part["seconds"]))

    @property
    def best_change(self) -> Optional[Dict[str, Any]]:
        """The change of largest potential, or None where none is faster than the program as it is."""
        best = self["changes"][0] if self["changes"] else None
        return dict(best) if best and best["gain"] > 1.0 else None

    def __repr__(self) -> str:
        return (f"<Bound of {self['network']} on {self['machine']}: {self.time_s * 1e3:.4g} ms, "
                f"{100 * self.speed_of_light:.3g} % of it the bound, "
                f"{self.largest_part['part']} {self.largest_part['seconds'] * 1e3:.4g} ms>")

    def _repr_html_(self) -> str:
        import html

        rows = "".join(f"<tr><td>{html.escape(p['part'])}</td><td>{p['seconds'] * 1e3:.4g}</td>"
                       f"<td>{100 * p['seconds'] / self.time_s:.1f}</td>"
                       f"<td>{html.escape(p['reason'])}</td></tr>" for p in self["gap"])
        changes = "".join(f"<tr><td>{html.escape(c['change'])}</td><td>{c['time_s'] * 1e3:.4g}</td>"
                          f"<td>{c['gain']:.2f}x</td></tr>" for c in self["changes"])
        return (f"<div>{html.escape(repr(self)[1:-1])}</div><table><tr><th>part</th><th>ms</th>"
                f"<th>%</th><th>what it is</th></tr>{rows}</table><table><tr><th>change</th>"
                f"<th>ms</th><th>gain</th></tr>{changes}</table>")


def map(net: AnyNetwork, on: str, **options: Any) -> Answer:
    """The best mapping of every layer: `eyeroof map`. layers="CONV3", factors="any" …"""
    with _as_argument(net) as name:
        return Answer(command("map", name, "--on", on, *_flags(options), "--format", "json"))


def bound(model: Any, inputs: Any = None, *, on: str, measured: Any = None,
          **options: Any) -> Bound:
    """Lower bounds of a program's time, and what stands between them and its time: `eyeroof bound`.

    `model` is a network, or a PyTorch module with its `inputs` (a tensor, or a list of them), which
    is captured first. `measured`: a time to explain, seconds or a text such as "1.26 ms".

    >>> answer = er.bound("alexnet", on="a100-sxm-40gb", measured="5 ms")
    >>> answer["fused"]["time_s"] <= answer["cached"]["time_s"] <= answer["unfused"]["time_s"]
    True
    """
    if inputs is not None:
        from .torch import from_torch as read

        given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        model = read(model, *given, evaluation=not model.training)
    if isinstance(measured, (int, float)):
        measured = f"{measured!r} s"
    with _as_argument(model) as name:
        return Bound(command("bound", name, "--on", on, *_flags({"measured": measured, **options}),
                             "--format", "json"))


def upgrade(net: AnyNetwork, old: str, new: str, **options: Any) -> Answer:
    """Does another GPU pay: `eyeroof upgrade NETWORK --from OLD --to NEW`."""
    with _as_argument(net) as name:
        return Answer(command("upgrade", name, "--from", old, "--to", new, *_flags(options),
                              "--format", "json"))


def roofline(net: AnyNetwork, on: str, **options: Any) -> "Picture":
    """The roofline as SVG, shown as a picture in notebooks."""
    with _as_argument(net) as name:
        return Picture(command("roofline", name, "--on", on, *_flags(options), "--format", "svg"))


class Picture(str):
    """SVG text that notebooks draw."""

    def _repr_svg_(self) -> str:
        return str(self)


def validate(table: Union[str, os.PathLike], **options: Any) -> Answer:
    """How far predictions lie off measured layers: `eyeroof validate TABLE`."""
    return Answer(command("validate", os.fspath(table), *_flags(options), "--format", "json"))


def diff(a: Any, b: Any, **options: Any) -> Answer:
    """What is different between two exams, step by step, or between two measured runs:
    `eyeroof diff`. Exams, their JSON files, or profiles and traces (`by="operator"`)."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, one in (("a", a), ("b", b)):
            path = one
            if isinstance(one, Exam):
                path = os.path.join(folder, name + ".json")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(one._inner.json())
            paths.append(os.fspath(path))
        return Answer(command("diff", *paths, *_flags(options), "--format", "json"))


def sweep(net: AnyNetwork, on: str, vary: Mapping[str, Any], *,
          set: Optional[Mapping[str, Any]] = None, client: Any = None, parts: int = 0,
          **options: Any) -> "Rows":
    """Every combination of values: rows as `eyeroof sweep` writes them. Lists or "8:32:4".

    With `client` (a Dask client) the sweep runs in `parts` parts on its workers; the rows are the
    same. `.save("all.jsonl")` writes the file of the command line, `.parquet` needs pyarrow.

    >>> rows = er.sweep("alexnet", on="eyeriss-v1", vary={"clock": ["x1", "x2"], "batch": [1, 4]})
    >>> [row["batch"] for row in rows]
    [1, 4, 1, 4]
    """
    flags: List[str] = []
    for field, values in vary.items():
        text = values if isinstance(values, str) else ",".join(str(v) for v in values)
        flags += ["--vary", f"{field}={text}"]
    flags += _flags({"set": _changes(set), **options})
    if client is None:
        with _as_argument(net) as name:
            return Rows(command("sweep", name, "--on", on, *flags, "--format", "jsonl"))
    count = parts or 4 * max(1, len(client.scheduler_info()["workers"]))
    text = network(net).yaml() if isinstance(net, Network) else None
    jobs = [client.submit(_part, os.fspath(net) if text is None else None, text, on, flags,
                          f"{i + 1}/{count}", pure=False) for i in range(count)]
    return Rows("".join(client.gather(jobs)))


def _part(name: Optional[str], text: Optional[str], on: str, flags: List[str], shard: str) -> str:
    net: AnyNetwork = name if text is None else _eyeroof.parse_network(text, "network.yaml")
    with _as_argument(net) as argument:
        return command("sweep", argument, "--on", on, *flags, "--shard", shard, "--threads", "1",
                       "--format", "jsonl")


class Rows(List[Dict[str, Any]]):
    """Points of a sweep."""

    def __init__(self, text: str) -> None:
        import json

        super().__init__(json.loads(line) for line in text.splitlines())
        self._text = text

    def front(self, *objectives: str) -> List[Dict[str, Any]]:
        """What no other point beats: .front("time_s", "energy_j"); "max:KEY" where more is better."""
        from .searching import front as of

        return of(self, objectives or ("time_s", "energy_j"))

    def to_pandas(self) -> Any:
        import pandas

        return pandas.DataFrame(self)

    def save(self, path: Union[str, os.PathLike]) -> None:
        """By the ending: .jsonl as the command line writes it, .csv, or .parquet (needs pyarrow)."""
        ending = os.path.splitext(os.fspath(path))[1]
        if ending == ".jsonl":
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(self._text)
        elif ending == ".parquet":
            self.to_pandas().to_parquet(path, index=False)
        elif ending == ".csv":
            self.to_pandas().to_csv(path, index=False)
        else:
            raise Error(f"'{ending}' is no ending of a table [bad-value]\n"
                        "  hint: .jsonl, .csv or .parquet")


def from_hf(config: Union[str, os.PathLike, Mapping[str, Any]], **sizes: int) -> Network:
    """The network of a Hugging Face config.json; see eyeroof.hf."""
    from .hf import from_hf as read

    return read(config, **sizes)


def from_torch(model: Any, *inputs: Any, **options: Any) -> Network:
    """The network of a PyTorch model, without memory or time; see eyeroof.torch."""
    from .torch import from_torch as read

    return read(model, *inputs, **options)


def search(net: AnyNetwork, on: str, vary: Mapping[str, Sequence[Any]], **options: Any) -> Any:
    """The best designs of a space without running all of it; see eyeroof.searching."""
    from .searching import search as run

    return run(net, on, vary, **options)


def annotate(model: Any) -> Any:
    """Ranges with the modules' names for torch.profiler; see eyeroof.profile."""
    from .profile import Annotate

    return Annotate(model)


def from_profile(prof: Any, exam: Optional[Exam] = None) -> Any:
    """A torch.profiler result by module, beside an exam; see eyeroof.profile."""
    from .profile import from_profile as read

    return read(prof, exam)


def capture(dtype: Optional[str] = None) -> Any:
    """Records what a PyTorch model runs; see eyeroof.torch."""
    from .torch import Capture

    return Capture(dtype)
