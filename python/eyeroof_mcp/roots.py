"""The folders that clients may read files in.

A client names a file by its root ("models/net.yaml"), by a path relative to a root, or by its absolute
path. Links are resolved before a path is judged; what lies outside, is no regular file, or does not
exist is refused in the same words, so an answer says nothing about files outside.
"""

from __future__ import annotations

import json
import os
import stat
from typing import Dict, List, Optional, Sequence, Tuple

from .limits import Limits


class Outside(ValueError):
    """The name leads to no file that the server may read."""


def parse_root(text: str) -> Tuple[str, str]:
    """"models=/srv/models", or a folder that is called as its last part."""
    name, equals, folder = text.partition("=")
    if not equals:
        name, folder = os.path.basename(os.path.realpath(text)), text
    real = os.path.realpath(folder)
    if not os.path.isdir(real):
        raise ValueError(f"'{folder}' is no folder")
    if not name or "/" in name:
        raise ValueError(f"'{text}' gives the folder no name; write NAME=FOLDER")
    return name, real


def is_file_name(name: str) -> bool:
    """Whether a network or machine is given by a file rather than by a name of the catalog."""
    ending = os.path.splitext(name.partition(":")[0])[1][1:2]
    return "/" in name or name.startswith(".") or (ending != "" and not ending.isdigit())


class Roots:
    def __init__(self, roots: Sequence[Tuple[str, str]], limits: Limits) -> None:
        self._roots = list(roots)
        self._limits = limits

    @property
    def names(self) -> List[str]:
        return [name for name, _ in self._roots]

    @property
    def folders(self) -> List[str]:
        return [folder for _, folder in self._roots]

    def path_of(self, name: str) -> Tuple[str, str, str]:
        """The real path of a file inside a root, its name, and what stands behind that, as in
        "net.yaml:batch=4"."""
        if not self._roots:
            raise Outside("this server was started without --root: it takes names of the catalog only")
        head, colon, parameters = name.rpartition(":")
        for file, rest in ((name, ""), (head, colon + parameters)):
            real = self._inside(file)
            if real is not None:
                return real, file, rest
        raise Outside(f"'{name[:40]}' is no file in the folders of this server "
                      f"({', '.join(self.names)})")

    def _candidates(self, name: str) -> List[str]:
        if os.path.isabs(name):
            return [name]
        first, _, rest = name.partition("/")
        named = [os.path.join(folder, rest) for root, folder in self._roots if root == first and rest]
        return named + [os.path.join(folder, name) for _, folder in self._roots]

    def _inside(self, name: str) -> Optional[str]:
        for candidate in self._candidates(name) if name else []:
            try:
                real = os.path.realpath(candidate)
                if not any(real.startswith(folder.rstrip("/") + "/") for folder in self.folders):
                    continue
                found = os.stat(real, follow_symlinks=False)
            except (OSError, ValueError):
                continue
            if stat.S_ISREG(found.st_mode) and found.st_size <= self._limits.file_bytes:
                return real
        return None


def shown(text: str, names: Dict[str, str]) -> str:
    """A text, or a document as JSON, with every real path as the client wrote it."""
    for real, name in names.items():
        text = text.replace(real, name).replace(json.dumps(real)[1:-1], json.dumps(name)[1:-1])
    return text
