#!/usr/bin/env python3
"""The documents fit together: pages.py SOURCES.

Every page is in the contents of mkdocs.yml, every link leads to a file and to a heading of it, every page that sources
name exists, and users have at most 20 pages and 70,000 words (docs/*.md; docs/dev is for evidence and contributors).
"""
import pathlib
import re
import subprocess
import sys

MOST_PAGES, MOST_WORDS = 20, 70_000
ROOT_PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "THIRD-PARTY.md"]
# Names of pages in text that is not this project's own, or that a fuzzer made.
FOREIGN = ("tests/fuzz/", "tests/data/", "CHANGELOG.md", "docs/source/", "docs/SOL_GUIDE.md", "docs/performance-summary.md")


def outside_code(text):
    """(number, line) of the lines that are not in a fence."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r" *```", line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(text):
    """Of each heading, as GitHub names them."""
    found = {}
    for _, line in outside_code(text):
        heading = re.match(r"#+ (.*)$", line)
        if not heading:
            continue
        name = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).strip().lower()
        name = re.sub(r"[^\w\- ]", "", name).replace(" ", "-")
        found[name] = found.get(name, -1) + 1
        if found[name]:
            found[f"{name}-{found[name]}"] = 0
    return set(found)


def link_faults(root, page):
    for number, line in outside_code((root / page).read_text(encoding="utf-8")):
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, place = link.partition("#")
            target = (root / page).parent / path if path else root / page
            if not target.exists():
                yield f"{page}:{number}: there is no {path}"
            elif place and target.suffix == ".md" and place not in anchors(target.read_text(encoding="utf-8")):
                yield f"{page}:{number}: {path or page} has no heading for #{place}"


def named_faults(root):
    """Pages that sources, tests, and data name."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files"], capture_output=True, text=True)
    for name in listed.stdout.split("\n") if listed.returncode == 0 else []:
        if name.startswith(FOREIGN) or not (root / name).is_file():
            continue
        try:
            text = (root / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for page in set(re.findall(r"(?<![\w/.-])docs/[\w/-]+\.md", text)):
            if not (root / page).exists() and page not in FOREIGN and not page.startswith(FOREIGN):
                yield f"{name} names {page}, which does not exist"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    users = sorted(path.relative_to(root).as_posix() for path in (root / "docs").glob("*.md"))
    others = sorted(path.relative_to(root).as_posix() for path in (root / "docs").glob("*/*.md"))
    contents = (root / "mkdocs.yml").read_text(encoding="utf-8")
    faults = [f"{page} is not in the contents of mkdocs.yml" for page in users + others
              if f": {page.removeprefix('docs/')}\n" not in contents]
    for page in [*ROOT_PAGES, *users, *others]:
        faults += link_faults(root, page)
    faults += named_faults(root)
    words = sum(len((root / page).read_text(encoding="utf-8").split()) for page in users)
    if len(users) > MOST_PAGES or words > MOST_WORDS:
        faults.append(f"{len(users)} pages and {words:,} words for users; at most {MOST_PAGES} and {MOST_WORDS:,}")
    for fault in faults:
        print(fault)
    print(f"{len(users)} pages and {words:,} words for users, {len(others)} other pages, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
