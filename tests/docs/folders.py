#!/usr/bin/env python3
"""The table of folders in docs/dev/design.md: files, lines of C++, and their share.

    tests/docs/folders.py SOURCES            # exit 1 where a limit is passed or the table is old
    tests/docs/folders.py SOURCES --update   # writes the table

A folder of the top level has at most 30 % of the lines, a folder inside it at most 8 %, both rounded. The table is old
where a share differs by more than one percentage point.
"""
import pathlib
import re
import sys

TOP = ["base", "model", "hwdb", "profiles", "mapper", "formats", "analysis", "report", "cli", "gui", "python"]
MOST_TOP, MOST_INSIDE = 30, 8  # percent, in whole numbers
BEGIN, END = "<!-- folders: made by tests/docs/folders.py -->\n", "<!-- end of folders -->\n"


def counted(folder, deep):
    """Files and lines of the C++ in a folder; only those directly in it unless `deep`."""
    paths = folder.rglob("*") if deep else folder.glob("*")
    sources = [path for path in paths if path.suffix in (".cpp", ".hpp", ".cu", ".h")]
    return len(sources), sum(path.read_bytes().count(b"\n") for path in sources)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    tops = {name: counted(root / name, True) for name in TOP if (root / name).is_dir()}
    total = sum(lines for _, lines in tops.values())
    table = ["| folder | files | lines | share | largest folder inside |\n", "|---|---|---|---|---|\n"]
    shares, faults = {}, []
    for name, (files, lines) in tops.items():
        shares[name] = 100.0 * lines / total
        inside = {path.name: counted(path, True)[1] for path in (root / name).iterdir() if path.is_dir()}
        largest = max(inside, key=inside.get, default="")
        share = 100.0 * inside.get(largest, 0) / total
        table.append(f"| {name} | {files} | {lines:,} | {shares[name]:.1f} % | " +
                     (f"{largest}, {share:.1f} % |\n" if largest and inside[largest] else "|\n"))
        if round(shares[name]) > MOST_TOP:
            faults.append(f"{name} has {shares[name]:.1f} % of the lines; at most {MOST_TOP} %")
        if round(share) > MOST_INSIDE:
            faults.append(f"{name}/{largest} has {share:.1f} % of the lines; at most {MOST_INSIDE} %")
    files, lines = counted(root / "tests", True)
    table.append(f"| all | {sum(n for n, _ in tops.values())} | {total:,} | 100 % | |\n")
    table.append(f"| tests | {files} | {lines:,} | | |\n")
    page = root / "docs" / "dev" / "design.md"
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    old, _, after = rest.partition(END)
    if "--update" in sys.argv[2:]:
        page.write_text(before + BEGIN + "".join(table) + END + after, encoding="utf-8")
    else:
        stated = {name: float(share) for name, share in re.findall(r"^\| (\w+) \|.*?\| ([\d.]+) % \|", old, re.M)}
        for name, share in shares.items():
            if abs(stated.get(name, 0.0) - share) > 1.0:
                faults.append(f"docs/dev/design.md states {stated.get(name, 0.0):.1f} % for {name}; "
                              f"{share:.1f} % now: ./bootstrap docs")
    for fault in faults:
        print(fault)
    print(f"{len(tops)} folders, {total:,} lines, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
