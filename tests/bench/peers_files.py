#!/usr/bin/env python3
"""Which files of other tools eyeroof reads.

peers_files.py EYEROOF FOLDER...: each FOLDER is a copy of a tool's repository or package. Every machine,
network, and mapping file in it is tried; a file that declares none of these is passed over. Prints a Markdown
table by folder: files read, and the reasons for which the others are refused, most frequent first.
"""

import argparse
import collections
import pathlib
import re
import subprocess

SUFFIXES = (".yaml", ".yml", ".csv", ".cfg", ".m", ".onnx")


def answer(eyeroof, path, *command):
    done = subprocess.run([eyeroof, *command], capture_output=True, text=True, timeout=120)
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    reason = errors[0].split("error:", 1)[1].strip() if errors else "no message"
    reason = re.sub(r"\s*\(at .*\)$", "", reason.replace(str(path.parent) + "/", ""))
    return done.returncode == 0, re.sub(r"\S+\.yaml\S*|'[^']*'|\"[^\"]*\"", "…", reason)


def kind_of(text):
    """Machine or network, as the words of the file say; None where it is neither."""
    if re.search(r"^(architecture|arch|architecture_description)\s*:|^(memories|operational_array|core_ids|cores)\s*:|"
                 r"^\[architecture_presets\]|^\s*num_pes\s*:", text, re.M):
        return "machine"
    if re.search(r"^(problem|workload|renames_and_workload)\s*:|^- id\s*:|^\s*operator_type\s*:|^Layer name|^Network\s|"
                 r"^\s*equation\s*:", text, re.M):
        return "network"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("eyeroof")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="one line for each file")
    args = parser.parse_args()
    print("| folder | kind | files | read | refused because |\n|---|---|---|---|---|")
    for folder in args.folders:
        counts = collections.defaultdict(lambda: [0, 0, collections.Counter()])
        for path in sorted(folder.rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            kind = "network" if path.suffix == ".onnx" else kind_of(path.read_text(errors="replace"))
            if kind is None:
                continue
            command = ("hw", "show", str(path)) if kind == "machine" else ("net", "show", str(path))
            read, reason = answer(args.eyeroof, path, *command)
            row = counts[kind]
            row[0] += 1
            row[1] += read
            if not read:
                row[2][reason] += 1
            if args.list:
                print(f"<!-- {path.relative_to(folder)}: {'read' if read else reason} -->", flush=True)
        for kind, (files, read, reasons) in sorted(counts.items()):
            why = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(6))
            print(f"| {folder.name} | {kind} | {files} | {read} | {why} |", flush=True)


if __name__ == "__main__":
    main()
