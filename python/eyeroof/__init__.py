"""Predict how fast a network runs on a machine, what bounds it, and what would make it faster.

>>> import eyeroof as er
>>> exam = er.exam("resnet50", on="eyeriss-v1", batch=4)
>>> exam.macs == 4 * 4089184256
True
>>> exam.layers[0]["name"]
'conv1'

Figures are those of the command line, digit for digit: both ask the same library.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, Union

from . import _eyeroof
from ._core import AnyNetwork, AnyPath, _folders, command, flags_of as _flags, network
from ._eyeroof import Error, Network, __version__
from .commands import (bound, chip, collective, diff, find_mapping, fuse, improve, machine, machines, memory, networks,
                       roofline, scale, serve, sweep, timeline, upgrade, validate)
from .exams import Exam, exam
from .results import Answer, Bound, Modules, Rows, network_view

if TYPE_CHECKING:
    from .profiling import Annotate, Laid
    from .torch import Capture

__all__ = [
    "AnyNetwork", "AnyPath", "Answer", "Bound", "Error", "Exam", "Modules", "Network", "Rows", "annotate", "bound", "capture", "chip",
    "collective", "command", "diff", "exam", "find_mapping", "from_hf", "from_profile", "from_torch", "fuse",
    "improve", "machine", "machines", "memory", "network", "networks", "profile", "roofline", "scale", "search",
    "serve", "sweep", "timeline", "upgrade", "validate", "__version__",
]


Network._repr_html_ = network_view  # type: ignore[method-assign]  # in notebooks
Network.__repr__ = lambda net: f"<Network {net.name}: {len(net)} layers>"  # type: ignore[method-assign]


def __getattr__(name: str) -> Any:
    if name == "map":  # its name before; find_mapping leaves the builtin alone
        return find_mapping
    raise AttributeError(f"module 'eyeroof' has no attribute '{name}'")


def from_hf(config: Union[AnyPath, Mapping[str, Any]], **sizes: int) -> Network:
    """A network with the sizes of a Hugging Face config.json; no weights are read.

    `config`: a path, or the configuration itself, as `transformers` objects give it with to_dict().
    `sizes` are the network's own parameters: new, context, and batch of a decoder.

    >>> import eyeroof as er
    >>> net = er.from_hf({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
    ...                   "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
    ...                   "intermediate_size": 14336}, new=1, context=2047)
    >>> net.totals()["parameters"]
    8030261248
    """
    texts = [f"{key}={value}" for key, value in sizes.items()]
    if not isinstance(config, Mapping):
        return _eyeroof.network(os.fspath(config), texts)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"{config.get('model_type', 'config')}.json".replace("/", "-"))
        with open(path, "w", encoding="utf-8") as file:
            json.dump(dict(config), file, default=str)
        return _eyeroof.network(path, texts)


def _with_torch(module: str) -> Any:
    if importlib.util.find_spec("torch") is None:
        raise Error("this needs PyTorch [no-torch]\n  hint: pip install 'eyeroof[torch]'")
    return importlib.import_module(f"{__name__}.{module}")


def from_torch(model: Any, *inputs: Any, **options: Any) -> Network:
    """The network of a PyTorch model, without memory or time; see eyeroof.torch."""
    read: Network = _with_torch("torch").from_torch(model, *inputs, **options)
    return read


def profile(model: Any, inputs: Any, on: str, **fields: Any) -> Modules:
    """Predict a PyTorch model's time on a machine, module by module; see eyeroof.profiling.

    `inputs`: a tensor, a list of them, or a dictionary of keywords. `fields` are those of er.exam.
    print() shows the tree; `.to_pandas()` and `.plot()` give its table and picture.
    """
    laid: Modules = _with_torch("profiling").profile(model, inputs, on, **fields)
    return laid


def search(net: AnyNetwork, on: str, vary: Mapping[str, Sequence[Any]], **options: Any) -> Any:
    """The best designs of a space without running all of it; see eyeroof.searching."""
    from .searching import search as run

    return run(net, on, vary, **options)


def annotate(model: Any) -> "Annotate":
    """Ranges with the modules' names for torch.profiler; see eyeroof.profiling."""
    made: "Annotate" = _with_torch("profiling").Annotate(model)
    return made


def from_profile(prof: Any, exam: Optional[Exam] = None) -> "Laid":
    """A torch.profiler result by module, beside an exam; see eyeroof.profiling."""
    laid: "Laid" = _with_torch("profiling").from_profile(prof, exam)
    return laid


def capture(dtype: Optional[str] = None) -> "Capture":
    """Records what a PyTorch model runs; see eyeroof.torch."""
    made: "Capture" = _with_torch("torch").Capture(dtype)
    return made


def __dir__() -> List[str]:
    return sorted(__all__)
