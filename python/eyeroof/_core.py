"""What the package's modules share: where data lies, networks as arguments, and the command line in this process."""

from __future__ import annotations

import copyreg
import difflib
import inspect
import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Iterable, List, Mapping, Optional, Sequence, Tuple, Type, Union

from . import _eyeroof
from ._eyeroof import Error, Network

if TYPE_CHECKING:
    AnyNetwork = Union[str, os.PathLike[str], Network]
    AnyPath = Union[str, os.PathLike[str]]
else:  # Python 3.8 has no os.PathLike[str] to look at
    AnyNetwork = Union[str, os.PathLike, Network]
    AnyPath = Union[str, os.PathLike]


def _folders() -> List[str]:
    here = os.path.dirname(os.path.abspath(__file__))
    xdg = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    own = os.environ.get("EYEROOF_DATA")
    beside = os.path.join(here, "share", "eyeroof")
    return [p for p in (own, os.path.join(xdg, "eyeroof"), beside) if p and os.path.isdir(p)]


_eyeroof.set_folders(_folders())


def _restored(text: str, file: str) -> Network:
    return _eyeroof.parse_network(text, file)


# A network is pickled and copied as the YAML that it can be written as.
copyreg.pickle(Network, lambda net: (_restored, (net.yaml(), (net.id or "network") + ".yaml")))


def command(*arguments: str) -> str:
    """Run a whole command line in this process and return its output.

    Raises Error with what the command line says on stderr.

    >>> "eyeriss-v1" in er.command("hw", "list")
    True
    """
    code, out, err = _eyeroof.command([str(a) for a in arguments])
    if code not in (0, 1) or (code == 1 and not out):
        raise Error(err.strip())
    return out


def network(name: AnyNetwork, **sizes: int) -> Network:
    """Read a network of the catalog or of a file (YAML, CSV, ONNX …); sizes are its parameters.

    >>> er.network("bert-base", seq=128).totals()["macs"] > 0
    True
    """
    if isinstance(name, Network):
        return name
    return _eyeroof.network(os.fspath(name), [f"{k}={v}" for k, v in sizes.items()])


class as_argument:
    """A network as something a command line takes: its name, or a file that lives as long."""

    def __init__(self, net: AnyNetwork) -> None:
        self._net = net
        self._folder: Optional["tempfile.TemporaryDirectory[str]"] = None

    def __enter__(self) -> str:
        if not isinstance(self._net, Network):
            return os.fspath(self._net)
        self._folder = tempfile.TemporaryDirectory()
        path = os.path.join(self._folder.name, (self._net.id or "network") + ".yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._net.yaml())
        return path

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def changes_of(changes: Optional[Mapping[str, Any]]) -> List[str]:
    return [f"{key}={value}" for key, value in (changes or {}).items()]


def flags_of(options: Mapping[str, Any]) -> List[str]:
    """Options of a command line: time_limit=3 is --time-limit 3, True a flag, lists repeat."""
    flags: List[str] = []
    for key, value in options.items():
        name = "--" + key.rstrip("_").replace("_", "-")
        for one in values_of(value, flag=""):
            flags += [name, one] if one else [name]
    return flags


def values_of(value: Any, flag: str = "1") -> List[str]:
    """As the command line takes them: True is a flag, None and False are nothing."""
    if isinstance(value, Mapping):
        return changes_of(value)
    values = value if isinstance(value, (list, tuple)) else [value]
    return [flag if one is True else str(one)
            for one in values if one is not None and one is not False]


def check_names(function: str, given: Iterable[str], known: Sequence[str]) -> None:
    """TypeError for a keyword that the function does not have, with the nearest one."""
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; it has {', '.join(sorted(known))}"
            raise TypeError(f"{function}() has no option '{name}'{hint}")


def answered(name: str, positional: Sequence[str], on: Union[None, str, Sequence[str]],
             options: Mapping[str, Any]) -> str:
    """The JSON document of a command."""
    machines = [] if on is None else [on] if isinstance(on, str) else list(on)
    flags = [text for machine in machines for text in ("--on", machine)]
    return command(*name.split(), *positional, *flags, *flags_of(options), "--format", "json")


def split_inputs(inputs: Any) -> Tuple[Tuple[Any, ...], Mapping[str, Any]]:
    """A tensor, a list or tuple of them, or keywords by name, as a call's arguments."""
    if isinstance(inputs, Mapping):
        return (), inputs
    return (tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)), {}


def names_of(options: Type[Any], but: Sequence[str] = ()) -> List[str]:
    """The keywords of a TypedDict of options."""
    return [name for name in options.__annotations__ if name not in but]


def signature_of(function: Callable[..., Any], options: Type[Any],
                 but: Sequence[str] = ()) -> inspect.Signature:
    """The function's own parameters and one for each option, as help() shows them."""
    own = inspect.signature(function)
    parameters = [p for p in own.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    taken = {p.name for p in parameters}
    for name in names_of(options, but):
        if name not in taken:
            kind = options.__annotations__[name]
            parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None,
                                                annotation=getattr(kind, "__forward_arg__", kind)))
    return own.replace(parameters=parameters)
