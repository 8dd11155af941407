"""Exams: what a network takes on a machine, which limit binds each layer, and what removing it would save."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Tuple

from . import _eyeroof, _options
from ._core import (AnyNetwork, as_argument, check_names, command, flags_of, network, signature_of,
                    values_of)
from ._eyeroof import Error
from .results import STYLE, Roofline, html_table

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from typing_extensions import Unpack

    from ._options import Scenario


class Exam:
    """What was found out about a network on a machine. Figures are of the whole network.

    Iterates over the layers; can be copied and pickled (the exam is then asked again).
    """

    def __init__(self, inner: _eyeroof.Exam, net: AnyNetwork, on: str, fields: Mapping[str, Any]) -> None:
        self._inner = inner
        self._asked = (net, on, dict(fields))
        self._data: Optional[Dict[str, Any]] = None

    def __reduce__(self) -> Tuple[Any, ...]:
        return (_again, self._asked)

    @property
    def network(self) -> str:
        """The network's name."""
        return self._inner.network

    @property
    def machine(self) -> str:
        """The machine's name."""
        return self._inner.machine

    @property
    def words(self) -> str:
        """What was asked, in a sentence with all defaults."""
        return self._inner.words

    @property
    def time_s(self) -> float:
        """Time of the step, s."""
        return self._inner.time_s

    @property
    def interval_s(self) -> Optional[Tuple[float, float]]:
        """The 80 % interval of the time, s, where it is known."""
        return self._inner.interval_s

    @property
    def energy_j(self) -> float:
        """Energy of the step, J: counted on accelerators, an upper bound on GPUs."""
        return self._inner.energy_j

    @property
    def macs(self) -> float:
        """Multiply-accumulates of the step."""
        return self._inner.macs

    @property
    def outer_bytes(self) -> float:
        """Bytes that cross the outermost memory."""
        return self._inner.outer_bytes

    @property
    def utilization(self) -> float:
        """MACs done as a share of what the machine could do in the same time."""
        return self._inner.utilization

    @property
    def uncosted_share(self) -> float:
        """Share of the network's operators that have no cost and are not in the figures."""
        return self._inner.uncosted_share

    @property
    def warnings(self) -> List[str]:
        """What a reader must know before the figures are quoted."""
        return self._inner.warnings

    @property
    def data(self) -> Dict[str, Any]:
        """The document that `--format json` writes; see docs/json.md."""
        if self._data is None:
            self._data = json.loads(self._inner.json())
        return self._data

    @property
    def layers(self) -> List[Dict[str, Any]]:
        """A dictionary for each layer, one execution each."""
        return list(self.data["layers"])

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return iter(self.layers)

    def __len__(self) -> int:
        return len(self.layers)

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each layer, one execution each; needs pandas."""
        import pandas

        rows = []
        for layer in self.layers:
            row = {k: v for k, v in layer.items() if not isinstance(v, (dict, list))}
            row.update(layer["time_split"])
            row.update({f"step{s['step']}_macs_per_cycle": s["bound_macs_per_cycle"]
                        for s in layer["steps"]})
            rows.append(row)
        return pandas.DataFrame(rows)

    def roofline(self) -> Roofline:
        """The roofline of this exam: points, roofs, and the picture."""
        net, on, fields = self._asked
        with as_argument(net) as name:
            line = ["roofline", name, "--on", on, *flags_of(fields), "--format"]
            return Roofline(command(*line, "json"), command(*line, "svg"))

    def roofline_svg(self) -> str:
        """The roofline of this exam as SVG."""
        return self.roofline().svg

    def plot(self, ax: Optional["Axes"] = None) -> "Axes":
        """The roofline of this exam; needs matplotlib."""
        return self.roofline().plot(ax)

    def json(self) -> str:
        """The document of `--format json`."""
        return self._inner.json()

    def csv(self) -> str:
        """A row for each layer, and one for the total."""
        return self._inner.csv()

    def text(self) -> str:
        """What the command line prints."""
        return self._inner.text()

    def markdown(self) -> str:
        """A document with the table of layers."""
        return self._inner.markdown()

    def html(self) -> str:
        """A page of its own."""
        return self._inner.html()

    def __repr__(self) -> str:
        return (f"<Exam {self.network} on {self.machine}: {self.time_s * 1e3:.4g} ms, "
                f"{100 * self.utilization:.3g} % utilization>")

    def _repr_html_(self) -> str:
        columns = (("name", "layer"), ("count", "count"), ("ms", "ms"), ("percent", "utilization, %"),
                   ("limiter", "bound by"))
        rows = [{**layer, "ms": 1e3 * layer["time_s"], "percent": 100 * layer["utilization"]}
                for layer in self.layers]
        try:
            picture = self.roofline_svg()
        except Error as error:
            picture = f"<p>{html.escape(str(error))}</p>"
        share = self.uncosted_share
        missing = f"<div>{100 * share:.2g} % of the operators have no cost</div>" if share else ""
        return (f"{STYLE}<div class=eyeroof><div>{html.escape(repr(self)[1:-1])}</div>{missing}{picture}"
                f"{html_table(columns, rows)}</div>")


def exam(net: AnyNetwork, on: str, **fields: Unpack[Scenario]) -> Exam:
    """Examine a network on a machine.

    `net` is a name of the catalog (er.networks()), a file, or a Network. `on` is a machine's name
    (er.machines()) or file. `fields` are those of a scenario, as `eyeroof exam --help-all` explains
    them: batch (samples of a step), dtype, phase="training", launch, compiled=True,
    set={"clock": "x2"}, mapping, dataflow, layers …

    >>> er.exam("alexnet", on="eyeriss-v1", set={"clock": "x2"}).time_s > 0
    True
    >>> er.exam("alexnet", on="eyeris-v1")
    Traceback (most recent call last):
    ...
    eyeroof._eyeroof.Error: error: unknown machine "eyeris-v1" [unknown-machine]
      hint: did you mean 'eyeriss-v1'? (a file needs its path, such as ./mine.yaml)
    """
    check_names("exam", fields, [*_eyeroof.fields(), "threads"])
    given = {field: values_of(value) for field, value in fields.items() if field != "threads"}
    inner = _eyeroof.exam(network(net), {"machine": [on], **given}, fields.get("threads") or 0)
    return Exam(inner, net, on, fields)


def _again(net: AnyNetwork, on: str, fields: Scenario) -> Exam:
    return exam(net, on, **fields)


setattr(exam, "__signature__", signature_of(exam, _options.Scenario))
