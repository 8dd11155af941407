#!/usr/bin/env python3
"""What README.md and docs/*.md print and draw is what the program prints and draws.

printed.py EYEROOF SOURCES [--update] [PAGE…]

In a ```console fence each line that begins with "$ " is a command, and what stands below it, up to the
next, is its output. A fence that follows a line ending in "`NAME`:" is the content of that file. The
commands of a page run in one folder, in order; `samples` there is tests/profiles/samples, `profiles` is
profiles, and what they write into `images` is docs/images. --update writes what the program prints and draws. PAGE selects pages by
their path: README.md, docs/upgrade.md.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

program, sources = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
update = "--update" in sys.argv[3:]
chosen = [argument for argument in sys.argv[3:] if argument != "--update"]


def fences(lines):
    """(info, first line of the content, the line that closes it) of each fence."""
    start = None
    for number, line in enumerate(lines):
        if line.startswith("```"):
            if start is None:
                start, info = number + 1, line[3:].strip()
            else:
                yield info, start, number
                start = None


def parts(content):
    """[command, what is printed] of a fence."""
    found = []
    for line in content:
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif found:
            found[-1][1].append(line)
    return found


def printed(command, folder):
    environment = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}", LC_ALL="C.UTF-8")
    environment.pop("COLUMNS", None)
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.rstrip("\n").split("\n") if done.stdout.strip() else []


def same(drawn, kept):
    """Whether the picture is the document's; --update makes it so."""
    if kept.exists() and kept.read_bytes() == drawn.read_bytes():
        return True
    if update:
        kept.write_bytes(drawn.read_bytes())
    else:
        print(f"docs/images/{drawn.name}: not what the program draws")
    return update


def page(path):
    lines = path.read_text().split("\n")
    out, after, wrong, count = [], 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/bin")
        os.symlink(program, f"{folder}/bin/eyeroof")
        os.mkdir(f"{folder}/images")
        os.symlink(sources / "tests/profiles/samples", f"{folder}/samples")
        os.symlink(sources / "profiles", f"{folder}/profiles")
        for info, start, end in fences(lines):
            before = next((line for line in reversed(lines[:start - 1]) if line.strip()), "")
            content = lines[start:end]
            named = re.search(r"`([\w.-]+)`:$", before)
            if named:
                pathlib.Path(folder, named.group(1)).write_text("\n".join(content) + "\n")
            if info != "console" or not content or not content[0].startswith("$ "):
                continue
            out += lines[after:start]
            for command, says in parts(content):
                now = printed(command, folder)
                count += 1
                if now != [line for line in says] and not update:
                    wrong += 1
                    print(f"{path.relative_to(sources)}:{start + 1}: $ {command}")
                    for old, new in zip(says + [""] * len(now), now + [""] * len(says)):
                        if old != new:
                            print(f"  page:    {old}\n  program: {new}")
                            break
                out += ["$ " + command] + now
            after = end
        drawn = [picture for picture in sorted(pathlib.Path(folder, "images").iterdir())
                 if not same(picture, sources / "docs/images" / picture.name)]
        count += len(list(pathlib.Path(folder, "images").iterdir()))
    out += lines[after:]
    if update and out != lines:
        path.write_text("\n".join(out))
    return count, wrong + len(drawn)


def main():
    pages = [sources / name for name in chosen] or [sources / "README.md", *sorted(sources.glob("docs/**/*.md"))]
    counts = [page(path) for path in pages]
    count, wrong = map(sum, zip(*counts))
    print(f"{count} printed answers and pictures of the documents, {wrong} differ from the program's")
    return 1 if wrong or not count else 0


sys.exit(main())
