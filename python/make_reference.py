#!/usr/bin/env python3
"""Writes the reference at the end of docs/python.md from the package's own texts: every function and class with its parameters.

    python python/make_reference.py        # with the package installed, or on PYTHONPATH
"""

import inspect
import pathlib
import sys
from typing import Any, List

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEAD = """## Python reference

Written by `python python/make_reference.py` from the package's own texts.
Functions that stand for a command take its options as keywords: `help(er.timeline)` lists them with their types.
"""


def text_of(thing: Any) -> str:
    """The docstring, with its examples as code."""
    lines: List[str] = []
    inside = False
    for line in (inspect.getdoc(thing) or "").split("\n"):
        example = line.startswith((">>>", "...")) or (inside and line.strip() != "")
        if example != inside:
            lines.append("```" if inside else "```pycon")
        inside = example
        lines.append(line)
    return "\n".join(lines + (["```"] if inside else [])).strip()


def parameters_of(function: Any) -> str:
    """The function's own parameters; options of a command as `**options`."""
    code = inspect.unwrap(function).__code__
    own = list(code.co_varnames[:code.co_argcount])
    keywords = list(code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount])
    found = inspect.signature(function).parameters
    shown = [f"{name}={found[name].default!r}" if name in found and
             found[name].default is not inspect.Parameter.empty else name for name in own]
    shown += (["*"] if keywords and not code.co_flags & inspect.CO_VARARGS else [])
    shown += ["*" + code.co_varnames[len(own) + len(keywords)]] if code.co_flags & inspect.CO_VARARGS else []
    shown += [f"{name}={found[name].default!r}" if found[name].default is not inspect.Parameter.empty
              else name for name in keywords]
    others = code.co_varnames[len(own) + len(keywords) + bool(code.co_flags & inspect.CO_VARARGS)
                              :][:bool(code.co_flags & inspect.CO_VARKEYWORDS)]
    return ", ".join(shown + ["**" + name for name in others])


def members_of(kind: type) -> List[str]:
    """A line for each property and method of its own that has a text."""
    lines = []
    for name, member in vars(kind).items():
        if name.startswith("_") or not inspect.getdoc(member):
            continue
        first = (inspect.getdoc(member) or "").split("\n")[0]
        if isinstance(member, property):
            lines.append(f"- `.{name}`: {first}")
        elif inspect.isfunction(member):
            lines.append(f"- `.{name}({', '.join(p for p in inspect.signature(member).parameters if p != 'self')})`: {first}")
    return lines


def reference_text() -> str:
    import eyeroof as er
    from eyeroof import results

    functions = [n for n in er.__all__ if inspect.isfunction(getattr(er, n))]
    own = [n for n in er.__all__ if inspect.isclass(getattr(er, n)) and n not in ("Error", "Network")]
    parts = [HEAD, "### Functions\n"]
    for name in sorted(functions):
        function = getattr(er, name)
        parts.append(f"#### `er.{name}({parameters_of(function)})`\n\n{text_of(function)}\n")
    parts.append("### Answers\n")
    kinds = [getattr(er, n) for n in own]
    kinds += [k for k in vars(results).values() if inspect.isclass(k) and k.__module__ == results.__name__ and k not in kinds]
    for kind in sorted(kinds, key=lambda k: k.__name__):
        members = "\n".join(members_of(kind))
        parts.append(f"#### `{kind.__name__}`\n\n{text_of(kind)}\n" + (f"\n{members}\n" if members else ""))
    return "\n".join(parts)


if __name__ == "__main__":
    sys.path[:] = [p for p in sys.path if pathlib.Path(p).resolve() != ROOT / "python"]  # not the sources
    path = ROOT / "docs/python.md"
    own = path.read_text(encoding="utf-8").partition(HEAD)[0]
    path.write_text(own + reference_text(), encoding="utf-8")
    print(path, file=sys.stderr)
