"""What the functions return: the document of a command as a dictionary, with its main table, a plot, and a view in notebooks."""

from __future__ import annotations

import html
import json
from array import array
from typing import TYPE_CHECKING, Any, ClassVar, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from ._eyeroof import Error, Network

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

# Follows the notebook's own light or dark theme where it has one, else the system's.
STYLE = """<style>
.eyeroof{font:13px/1.4 system-ui,sans-serif;color:var(--jp-content-font-color1,CanvasText);overflow-x:auto}
.eyeroof table{border-collapse:collapse;font-variant-numeric:tabular-nums}
.eyeroof td,.eyeroof th{padding:2px 10px 2px 0;text-align:right;background:transparent;
  border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent);font-weight:normal}
.eyeroof th{opacity:.7} .eyeroof td:first-child,.eyeroof th:first-child{text-align:left}
</style>"""
MOST_ROWS = 40  # of a table in a notebook


def html_table(columns: Sequence[Tuple[str, str]], rows: Sequence[Mapping[str, Any]]) -> str:
    """A table of these (key, heading) columns; at most 40 rows, and a line that says how many more."""
    head = "".join(f"<th>{html.escape(title)}</th>" for _, title in columns)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell(row.get(key)))}</td>" for key, _ in columns)
                   + "</tr>" for row in rows[:MOST_ROWS])
    more = len(rows) - MOST_ROWS
    rest = f"<div>and {more} more rows: .to_pandas() has all</div>" if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def cell(value: Any) -> str:
    """A value as a table shows it: four significant digits, lists with commas."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(cell(v) for v in value)
    return str(value)


def typed_column(values: List[Any]) -> Any:
    """The values as an array of one type, where they have one."""
    known = [value for value in values if value is not None]
    if any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in known) or not known:
        return values
    if len(known) == len(values) and all(isinstance(value, int) and abs(value) < 2 ** 63 for value in known):
        return array("q", known)
    return array("d", [float("nan") if value is None else float(value) for value in values])


def network_view(net: Network) -> str:
    """What a notebook shows of a network: its work, and its layers."""
    from ._core import as_argument, command

    with as_argument(net) as name:
        shown = json.loads(command("net", "show", name, "--format", "json"))
    keys = [("name", "layer"), ("op", "operator"), ("count", "runs"), ("macs", "MACs"), ("read_bytes", "bytes read"),
            ("write_bytes", "bytes written")]
    totals = ", ".join(f"{value:,} {key}" for key, value in net.totals().items())
    table = html_table(keys, shown["layers"])
    return f"{STYLE}<div class=eyeroof><div>{html.escape(net.name)}: {len(net)} layers, {totals}</div>{table}</div>"


def axes(ax: Optional["Axes"]) -> "Axes":
    """The given axes, or new ones."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise Error("plots need matplotlib [no-matplotlib]\n"
                    "  hint: pip install 'eyeroof[plot]'") from None
    return pyplot.subplots(figsize=(7.0, 4.2), layout="constrained")[1]


class Answer(Dict[str, Any]):
    """The document that a command writes with `--format json`, as a dictionary; docs/json.md explains the keys."""

    TABLE: ClassVar[str] = ""  # key of the main table
    COLUMNS: ClassVar[Sequence[Tuple[str, str]]] = ()  # of the table in a notebook: key, heading
    BARS: ClassVar[Tuple[str, str]] = ("", "")  # of the plot: key of the names, key of the lengths
    AXIS: ClassVar[str] = ""  # what the lengths are

    def __init__(self, document: Union[str, Mapping[str, Any]] = "{}") -> None:
        super().__init__(json.loads(document) if isinstance(document, str) else document)

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """The main table: a dictionary for each row."""
        return list(self.get(self.TABLE) or [])

    def to_pandas(self) -> "pandas.DataFrame":
        """The main table as a DataFrame; values that are tables themselves are left out."""
        import pandas

        return pandas.DataFrame([{k: v for k, v in row.items() if not isinstance(v, dict)}
                                 for row in self.rows])

    def plot(self, ax: Optional["Axes"] = None) -> "Axes":
        """The main table as bars, largest first; needs matplotlib."""
        name, length = self.BARS
        if not name:
            raise Error(f"{type(self).__name__} has no plot [no-plot]\n"
                        "  hint: .rows and .to_pandas() have its table")
        drawn = axes(ax)
        longest = sorted(self.rows, key=lambda row: -float(row[length] or 0.0))[:20]
        drawn.barh([cell(row[name]) for row in longest], [float(row[length] or 0.0) for row in longest])
        drawn.invert_yaxis()
        drawn.set_xlabel(self.AXIS)
        drawn.set_title(self.title(), fontsize="medium")
        return drawn

    def title(self) -> str:
        """One line that says what this is."""
        parts = [str(self[key]) for key in ("network", "machine") if isinstance(self.get(key), str)]
        return " on ".join(parts) or type(self).__name__

    def __repr__(self) -> str:
        rows = f", {len(self.rows)} rows" if self.TABLE else ""
        return f"<{type(self).__name__}: {self.title()}{rows}>"

    def _repr_html_(self) -> str:
        rows = self.rows
        plain = [(key, key) for row in rows[:1] for key, value in row.items() if not isinstance(value, (dict, list))]
        table = html_table(self.COLUMNS or plain, rows) if rows else ""
        return f"{STYLE}<div class=eyeroof><div>{html.escape(repr(self)[1:-1])}</div>{table}</div>"


class Mapped(Answer):
    """The best mapping of each layer."""

    TABLE, BARS, AXIS = "layers", ("name", "energy_pj"), "energy, pJ"
    COLUMNS = (("name", "layer"), ("count", "count"), ("energy_pj", "pJ"), ("cycles", "cycles"),
               ("utilization", "utilization"), ("gain_over_dataflow", "gain over dataflow"))

    @property
    def energy_j(self) -> float:
        """Energy of the whole network, J."""
        return float(self["energy_pj"]) * 1e-12

    @property
    def cycles(self) -> float:
        """Cycles of the whole network."""
        return float(self["cycles"])


class Timeline(Answer):
    """A step over time: when each kernel is launched, starts, and ends."""

    TABLE, BARS, AXIS = "layers", ("name", "kernels_s"), "kernel time, s"
    COLUMNS = (("name", "layer"), ("runs", "runs"), ("kernels_s", "kernels, s"),
               ("wait_host_s", "wait for the CPU, s"))

    @property
    def time_s(self) -> float:
        """Length of the step, s."""
        return float(self["time_s"])

    @property
    def busy_s(self) -> float:
        """Time in which a kernel runs, s."""
        return float(self["busy_s"])

    @property
    def kernels(self) -> List[Dict[str, Any]]:
        """Every launch: name, start and end."""
        return list(self["operators"])

    def __repr__(self) -> str:
        return f"<Timeline: {self.title()}, {self.time_s * 1e3:.4g} ms, busy {self.busy_s * 1e3:.4g} ms>"


class Memory(Answer):
    """A step's memory: its peak, what holds it, and the largest batch."""

    TABLE, BARS, AXIS = "holders", ("name", "bytes"), "bytes at the peak"
    COLUMNS = (("name", "tensor"), ("bytes", "bytes"))

    @property
    def peak_bytes(self) -> int:
        """Largest memory in use, bytes."""
        return int(self["peak_bytes"])

    @property
    def fits(self) -> bool:
        """Whether the device has that much."""
        return bool(self["fits"])

    @property
    def largest_batch(self) -> Optional[int]:
        """The largest batch that fits, where it is known."""
        batch = self.get("largest_batch")
        return None if batch is None else int(batch)

    def __repr__(self) -> str:
        fits = "fits" if self.fits else "does not fit"
        return f"<Memory: {self.title()}, peak {self.peak_bytes / 1e6:.4g} MB, {fits}>"


class Improvements(Answer):
    """What makes a step faster or smaller, alone and combined."""

    TABLE, BARS, AXIS = "front", ("remedies", "gain"), "gain"
    COLUMNS = (("remedies", "changes"), ("time_s", "s"), ("batch", "batch"), ("gain", "gain"),
               ("peak_bytes", "peak bytes"), ("fits", "fits"))

    @property
    def alone(self) -> List[Dict[str, Any]]:
        """Each change by itself."""
        return list(self["alone"])

    @property
    def best(self) -> Dict[str, Any]:
        """The combination with the largest gain that fits."""
        fitting = [row for row in self.rows if row["fits"]] or [self["now"]]
        return dict(max(fitting, key=lambda row: float(row["gain"])))

    def __repr__(self) -> str:
        return f"<Improvements: {self.title()}, up to {self.best['gain']:.2f}x>"


class Fused(Answer):
    """Which layers to run together, and what that keeps off the outermost memory."""

    TABLE = "groups"
    COLUMNS = (("layers", "layers"), ("count", "count"), ("how", "how"), ("fits", "fits"),
               ("buffer_bytes", "buffer bytes"))


class Scaling(Answer):
    """A training step on many devices: the plans that were tried, best first."""

    TABLE = "points"
    COLUMNS = (("devices", "devices"), ("batch", "batch"), ("step_s", "step, s"), ("samples_per_s", "samples/s"),
               ("efficiency", "efficiency"))

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """The main table of this kind of answer: plans or numbers of devices."""
        for key in ("points", "plans", "steps", "rows"):
            if isinstance(self.get(key), list):
                return list(self[key])
        return []


class Serving(Answer):
    """A served decoder: time to the first token, time per token, and throughput."""

    TABLE, BARS, AXIS = "points", ("requests", "tokens_per_s_device"), "tokens/s of a device"
    COLUMNS = (("tensor", "tensor"), ("devices", "devices"), ("requests", "requests"),
               ("ttft_s", "TTFT, s"), ("tpot_s", "TPOT, s"), ("tokens_per_s", "tokens/s"),
               ("tokens_per_s_device", "tokens/s of a device"))

    @property
    def best(self) -> Dict[str, Any]:
        """The point that the command recommends."""
        return dict(self.rows[int(self["best"])])


class Collectives(Answer):
    """A collective over message sizes."""

    COLUMNS = (("bytes", "bytes"), ("time_s", "s"), ("bus_bytes_per_s", "bus, B/s"), ("algorithm", "by"))

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """A row for each message size."""
        return next((list(v) for v in self.values() if isinstance(v, list) and v
                     and isinstance(v[0], dict)), [])


class Upgrade(Answer):
    """Whether another GPU pays off, and why."""

    TABLE, BARS, AXIS = "layers", ("name", "from_s"), "time on the old GPU, s"
    COLUMNS = (("name", "layer"), ("count", "count"), ("from_s", "old, s"), ("to_s", "new, s"),
               ("speedup", "speedup"), ("why_not_more", "limiting factor"))

    @property
    def speedup(self) -> float:
        """How much faster the new GPU runs the network."""
        return float(self["speedup"]["value"])

    @property
    def interval(self) -> Tuple[float, float]:
        """The 80 % interval of the speed-up."""
        return float(self["speedup"]["low"]), float(self["speedup"]["high"])

    @property
    def verdict(self) -> str:
        """pays off, does not pay off, undecided, equal, or does not fit."""
        return str(self["verdict"])

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        return str((self.get("purchase") or {}).get("sentence") or self.verdict)

    def title(self) -> str:
        return f"{self['network']}, {self['from']} to {self['to']}"

    def __repr__(self) -> str:
        return f"<Upgrade: {self.title()}: {self.speedup:.2f}x, {self.verdict}>"


class Validation(Answer):
    """How far predictions lie from measured layers."""

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """A row for each layer or group that was compared."""
        return next((list(v) for v in self.values() if isinstance(v, list) and v
                     and isinstance(v[0], dict)), [])


class Chip(Answer):
    """Area and power of an accelerator's chip by component."""

    TABLE, BARS, AXIS = "parts", ("name", "area_mm2"), "area, mm²"
    COLUMNS = (("name", "part"), ("kind", "kind"), ("instances", "instances"), ("bits", "bits"),
               ("area_mm2", "mm²"), ("power_w", "W"))

    @property
    def area_mm2(self) -> float:
        """Area of the chip, mm²."""
        return float(self["area_mm2"])

    @property
    def power_w(self) -> Optional[float]:
        """Power while the network runs, W."""
        power = self.get("power_w")
        return None if power is None else float(power)

    def title(self) -> str:
        return str(self["machine"])


class Bound(Answer):
    """Lower bounds of a program's time, and what stands between them and its time."""

    TABLE, BARS, AXIS = "gap", ("part", "seconds"), "time, s"
    COLUMNS = (("part", "part"), ("seconds", "s"), ("reason", "meaning"))

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
        changes = html_table((("change", "change"), ("time_s", "s"), ("gain", "gain")), self["changes"])
        return super()._repr_html_().replace("</table></div>", f"</table>{changes}</div>", 1)


class Diff(Answer):
    """What is different between two exams or two runs."""

    COLUMNS = (("name", "name"), ("adds_s", "adds, s"))

    def title(self) -> str:
        return f"{self['a']} and {self['b']}"

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """Layers or kernels, a row each."""
        return list(self.get("layers") or self.get("rows") or [])


class Roofline(Answer):
    """Layers and measured kernels below the roofs of machines."""

    TABLE = "points"
    COLUMNS = (("name", "layer"), ("machine", "machine"), ("level", "bytes of"),
               ("intensity_flop_per_byte", "FLOP/byte"), ("rate_flops_per_s", "FLOP/s"),
               ("of_roof", "of the roof"), ("limiter", "bound by"))

    def __init__(self, document: Union[str, Mapping[str, Any]] = "{}", svg: str = "") -> None:
        super().__init__(document)
        self.svg = svg  # the picture that the command line draws

    @property
    def roofs(self) -> List[Dict[str, Any]]:
        """Arithmetic and bandwidths, each with its source."""
        return list(self["roofs"])

    def title(self) -> str:
        return str(self.get("title") or "Roofline")

    def plot(self, ax: Optional["Axes"] = None) -> "Axes":
        """Points by intensity and rate below their roofs, both axes logarithmic; needs matplotlib."""
        drawn = axes(ax)
        points = [p for p in self.rows if p["intensity_flop_per_byte"]]
        x = [float(p["intensity_flop_per_byte"]) for p in points]
        ridge = [float(r["flops_per_s"]) for r in self.roofs if r.get("flops_per_s")]
        low, high = min(x, default=1.0) / 2, 2 * max([*x, 1.0])
        for roof in self.roofs:
            if roof.get("flops_per_s"):
                drawn.plot([low, high], 2 * [roof["flops_per_s"]], color="0.5", lw=1)
            elif roof.get("bytes_per_s"):
                top = min(high, max(ridge, default=high * roof["bytes_per_s"]) / roof["bytes_per_s"])
                drawn.plot([low, top], [low * roof["bytes_per_s"], top * roof["bytes_per_s"]],
                           color="0.5", lw=1)
        size = [20 + 400 * float(p.get("share_of_time") or 0.0) for p in points]
        drawn.scatter(x, [float(p["rate_flops_per_s"]) for p in points], s=size, alpha=0.7)
        drawn.set(xscale="log", yscale="log", xlabel="operational intensity, FLOP/byte",
                  ylabel="FLOP/s")
        drawn.set_title(self.title(), fontsize="medium")
        return drawn

    def _repr_html_(self) -> str:
        return f"{self.svg}{super()._repr_html_()}"

    def _repr_svg_(self) -> str:
        return self.svg


class Rows(List[Dict[str, Any]]):
    """Points of a sweep, a dictionary each."""

    def __init__(self, text: str = "") -> None:
        super().__init__(json.loads(line) for line in text.splitlines())
        self._text = text

    def __reduce__(self) -> Tuple[Any, ...]:
        return (Rows, (self._text,))

    @property
    def columns(self) -> Dict[str, Any]:
        """A column for each key, with a type: array("q") or array("d"), which NumPy and Arrow take without a copy.

        Numbers are NaN where a point has none; a column of other values is a list.

        >>> import eyeroof as er
        >>> er.sweep("alexnet", on="t4", vary={"batch": [1, 2]}).columns["batch"]
        array('q', [1, 2])
        """
        keys = {key: None for row in self for key in row}
        return {key: typed_column([row.get(key) for row in self]) for key in keys}

    def front(self, *objectives: str) -> List[Dict[str, Any]]:
        """What no other point beats: .front("time_s", "energy_j"); "max:KEY" where more is better."""
        from .searching import front as of

        return of(self, objectives or ("time_s", "energy_j"))

    def to_pandas(self) -> "pandas.DataFrame":
        """A row a point."""
        import pandas

        return pandas.DataFrame(self)

    def plot(self, x: str = "time_s", y: str = "energy_j", ax: Optional["Axes"] = None) -> "Axes":
        """Two figures of the points against each other, and the front of both; needs matplotlib."""
        drawn = axes(ax)
        good = [row for row in self if not row.get("error")]
        best = sorted(self.front(x, y), key=lambda row: float(row[x]))
        drawn.scatter([row[x] for row in good], [row[y] for row in good], s=12, alpha=0.5)
        drawn.plot([row[x] for row in best], [row[y] for row in best], marker="o", ms=4, color="C3")
        drawn.set(xlabel=x, ylabel=y)
        return drawn

    def save(self, path: Union[str, Any]) -> None:
        """By the ending: .jsonl as the command line writes it, .csv, or .parquet (needs pyarrow)."""
        import os

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

    def _repr_html_(self) -> str:
        keys = {key: None for row in self for key in row}  # of all points: those that failed have fewer
        columns = tuple((key, key) for key in sorted(keys, key="error".__eq__))
        return f"{STYLE}<div class=eyeroof>{html_table(columns, self)}</div>"


class Catalog(List[Dict[str, Any]]):
    """Entries of the catalog, a dictionary each; `.names` has their ids."""

    COLUMNS: ClassVar[Sequence[Tuple[str, str]]] = ()

    @property
    def names(self) -> List[str]:
        """What other functions take."""
        return [str(entry["id"]) for entry in self]

    def to_pandas(self) -> "pandas.DataFrame":
        """A row an entry."""
        import pandas

        return pandas.DataFrame([{k: v for k, v in entry.items() if not isinstance(v, (dict, list))}
                                 for entry in self])

    def __contains__(self, name: object) -> bool:
        return name in self.names if isinstance(name, str) else super().__contains__(name)

    def _repr_html_(self) -> str:
        return f"{STYLE}<div class=eyeroof>{html_table(self.COLUMNS, self)}</div>"


class Machines(Catalog):
    """Machines of the catalog."""

    COLUMNS = (("id", "machine"), ("family", "family"), ("trust", "confidence"), ("summary", "description"))


class Networks(Catalog):
    """Networks of the catalog, with their work and parameters."""

    COLUMNS = (("id", "network"), ("name", "name"), ("macs", "MACs"), ("parameters", "parameters"))


class Modules(List[Dict[str, Any]]):
    """A module tree with time, bytes, and what bounds each module; print() shows it as text."""

    COLUMNS: ClassVar[Sequence[Tuple[str, str]]] = (
        ("module", "module"), ("kind", "type"), ("ms", "ms"), ("share", "share of kernels"),
        ("bytes", "bytes"), ("macs", "MACs"), ("parameters", "parameters"),
        ("utilization", "utilization"), ("bottleneck", "bound by"))

    def __init__(self, rows: Sequence[Dict[str, Any]] = (), title: str = "") -> None:
        super().__init__(rows)
        self.heading = title

    def __reduce__(self) -> Tuple[Any, ...]:
        return (Modules, (list(self), self.heading))

    def to_pandas(self) -> "pandas.DataFrame":
        """A row a module."""
        import pandas

        return pandas.DataFrame(self)

    def leaves(self) -> List[Dict[str, Any]]:
        """Modules without modules of their own, longest first."""
        inner = {str(row["module"]).rpartition(".")[0] for row in self if row["module"]}
        return sorted((row for row in self if row["module"] and row["module"] not in inner),
                      key=lambda row: -float(row["time_s"]))

    def plot(self, ax: Optional["Axes"] = None) -> "Axes":
        """Kernel time of the twenty longest modules; needs matplotlib."""
        drawn = axes(ax)
        longest = self.leaves()[:20]
        drawn.barh([row["module"] for row in longest], [1e3 * row["time_s"] for row in longest])
        drawn.invert_yaxis()
        drawn.set_xlabel("kernel time, ms")
        drawn.set_title(self.heading, fontsize="medium")
        return drawn

    def __str__(self) -> str:
        lines = [self.heading, f"{'module':<44}{'ms':>9}{'share':>8}{'MB':>9}{'util.':>8}  bound by"]
        for row in self:
            depth = str(row["module"]).count(".") + 1 if row["module"] else 0
            name = "  " * depth + (str(row["module"]).rpartition(".")[2] or "whole model") + f" ({row['kind']})"
            lines.append(f"{name[:43]:<44}{1e3 * row['time_s']:>9.4g}{100 * row['share']:>6.1f} %"
                         f"{row['bytes'] / 1e6:>9.4g}{100 * row['utilization']:>6.1f} %  {row['bottleneck']}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [{**row, "module": row["module"] or "whole model", "ms": 1e3 * row["time_s"]} for row in self]
        return (f"{STYLE}<div class=eyeroof><div>{html.escape(self.heading)}</div>"
                f"{html_table(self.COLUMNS, rows)}</div>")


def entries(document: str, key: str) -> Iterator[Dict[str, Any]]:
    """The list at a key of a document."""
    yield from json.loads(document)[key]
