#!/usr/bin/env python3
"""Writes eyeroof/_options.py: the options of every command as typed keywords, from docs/dev/options.md.

    python python/make_options.py FILE     # docs/dev/options.md is what `eyeroof manual --options` prints

The build makes the file beside the extension.
"""

import pathlib
import re
import sys
from typing import Dict, List, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROW = re.compile(r"^\| `(.*?)` \| (.*) \| (.*?) \|$")
# What the functions set themselves.
SET = {"format", "output", "on", "help-all", "version"}
NUMBERS = {"NUMBER", "S", "YEARS", "NM", "KG", "USD", "RATIO"}
QUANTITIES = {"SHARE", "PERCENT", "RATE", "SIZE", "TIME", "TIMES", "AMOUNT", "POWER"}  # with a unit, too
LISTS = {"N,M,…", "R,S,…", "LIST", "COLUMN,COLUMN"}
PATHS = {"FILE", "DIR", "FOLDER", "PROGRAM"}
# Parameters of the functions by themselves.
PARAMETERS = {"collective": {"fabric"}, "sweep": {"vary"}, "upgrade": {"from", "to"}}
SHARED = ("exam", "roofline", "timeline", "memory")  # commands whose common options are a scenario
HEAD = '''"""Options of the commands as typed keywords; python/make_options.py writes this file."""

from __future__ import annotations

import os
from typing import Any, Literal, Mapping, Sequence, TypedDict, Union

Path = Union[str, "os.PathLike[str]"]
Number = Union[int, float]
Quantity = Union[int, float, str]  # a number, or a text with its unit: "1.26 ms"
Several = Union[str, int, float, Sequence[Union[str, int, float]]]
Changes = Union[str, Sequence[str], Mapping[str, Any]]
DataType = {datatype}

'''
Option = Tuple[str, str]  # type, meaning


def literal(kind: str) -> str:
    return "Literal[" + ", ".join(f'"{c}"' for c in kind[1:kind.index("}")].split(",")) + "]"


def type_of(kind: str) -> str:
    """The Python type of an option's value; an option without a value is a flag."""
    if not kind or kind.startswith("--"):
        return "bool"
    if kind.startswith("{"):
        return "DataType" if "nvfp4" in kind else literal(kind)
    if "=" in kind:
        return "Changes"
    if kind == "N":
        return "int"
    if kind in LISTS:
        return "Several"
    if kind in NUMBERS | QUANTITIES:
        return "Number" if kind in NUMBERS else "Quantity"
    return "Path" if set(kind.split("|")) & PATHS else "str"


def commands_of(text: str) -> Dict[str, Dict[str, Option]]:
    found: Dict[str, Dict[str, Option]] = {}
    for line in text.splitlines():
        row = ROW.match(line)
        if row is None:
            continue
        name, meaning, places = (part.replace("\\|", "|").replace("&lt;", "<") for part in row.groups())
        spelled, _, kind = re.sub(r"^-\w, ", "", name).partition(" ")
        long = spelled.rstrip(",").lstrip("-")
        if long in SET or places == "every command":
            continue
        for place in re.split(r", (?![^(]*\))", places):
            command = re.sub(r" \(.*\)$", "", place)
            of = type_of(kind.strip())
            if "(repeatable)" in meaning and of not in ("Changes", "Several"):
                of = f"Union[{of}, Sequence[{of}]]"
            if long not in PARAMETERS.get(command, ()):
                found.setdefault(command, {})[long] = (of, meaning)
    return found


def keyword(option: str) -> str:
    name = option.replace("-", "_")
    return name + "_" if name in ("from", "import", "in", "is", "global") else name


def wrapped(text: str, width: int) -> List[str]:
    lines = [""]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) + 1 > width and lines[-1]:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def class_text(name: str, base: str, options: Dict[str, Option]) -> str:
    text = f"\nclass {name}({base}, total=False):\n"
    for option, (of, meaning) in options.items():
        text += "".join(f"    # {part}\n" for part in wrapped(meaning, 92))
        text += f"    {keyword(option)}: {of}\n"
    return text + ("" if options else "    pass\n") + "\n"


def options_text() -> str:
    page = (ROOT / "docs/dev/options.md").read_text(encoding="utf-8")
    types = re.search(r"`--dtype (\{.*?\})`", page)
    assert types is not None
    text = HEAD.replace("{datatype}", literal(types.group(1)).replace(", ", ",\n                   "))
    commands = commands_of(page)
    common = set.intersection(*(set(commands[c]) for c in SHARED))
    scenario = {k: v for k, v in sorted(commands["exam"].items())
                if k in common and all(commands[c][k][0] == v[0] for c in SHARED)}
    text += class_text("Scenario", "TypedDict", scenario)
    for command, options in sorted(commands.items()):
        whole = all(k in options and options[k][0] == v[0] for k, v in scenario.items())
        own = {k: v for k, v in sorted(options.items()) if not whole or k not in scenario}
        name = "".join(part.capitalize() for part in re.split(r"[ -]", command)) + "Options"
        text += class_text(name, "Scenario" if whole else "TypedDict", own)
    return text.rstrip("\n") + "\n"


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(options_text(), encoding="utf-8")
