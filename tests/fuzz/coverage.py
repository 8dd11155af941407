#!/usr/bin/env python3
"""The share of the readers' lines that the fuzz targets reached.

coverage.py BUILD: BUILD/coverage/*.profraw of BUILD/tests/fuzz/fuzz_*, compiled by clang with
-fprofile-instr-generate -fcoverage-mapping. One line a reader, the least covered first, and the files below the
aim with the lines that they lack. Writers and the lookup of files by name are no readers.
"""
import collections
import glob
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
AIM = 85.0
NO_READERS = re.compile(r"write|catalog|network_names|folders|lint|usual_host|hwdb/systolic|load_onnx")
MEASUREMENTS = ("profile_file", "byte_source", "launch_sums", "library_log", "launch_line", "measurement",
                "kernel_names", "operator_")
READERS = [  # the first that fits
    ("ONNX", r"formats/onnx/"),
    ("Timeloop", r"formats/(timeloop|level_stack)"),
    ("MAESTRO", r"formats/maestro"),
    ("ZigZag", r"formats/zigzag"),
    ("AccelForge and templates", r"formats/(accelforge|template)"),
    ("SCALE-Sim", r"formats/scalesim"),
    ("layer CSV", r"formats/(layer_csv|layer_text)|base/csv"),
    ("network YAML", r"formats/(network_|expression)"),
    ("mapping YAML", r"formats/mapping_yaml"),
    ("claim YAML", r"formats/claim_yaml"),
    ("traces as networks", r"formats/trace_"),
    ("other files of formats/", r"formats/"),
    ("YAML", r"hwdb/yaml_"),
    ("machines and constants", r"hwdb/"),
    ("importers of measurements", r"profiles/import/"),
    ("profiles and logs", r"profiles/(" + "|".join(MEASUREMENTS) + ")"),
]


def reader_of(path):
    """The reader that a source belongs to, by its path below the root; None of what reads nothing."""
    if NO_READERS.search(path) or not path.endswith(".cpp"):
        return None
    return next((name for name, pattern in READERS if re.match(pattern, path)), None)


def table(files):
    """Prints lines reached by reader from {path: (lines, reached)}; the share of all."""
    sums = collections.defaultdict(lambda: [0, 0])
    for path, (lines, reached) in files.items():
        reader = reader_of(path)
        if reader:
            sums[reader][0] += lines
            sums[reader][1] += reached
    share = lambda lines, reached: 100.0 * reached / max(1, lines)
    print(f"{'reader':<28} {'lines':>6} {'reached':>7}  share")
    for reader, (lines, reached) in sorted(sums.items(), key=lambda one: share(*one[1])):
        print(f"{reader:<28} {lines:>6} {reached:>7}  {share(lines, reached):>4.0f} %")
    lines, reached = (sum(one[i] for one in sums.values()) for i in (0, 1))
    print(f"{'all':<28} {lines:>6} {reached:>7}  {share(lines, reached):>4.1f} %, the aim is {AIM:.0f} %")
    low = sorted((reached - lines, path) for path, (lines, reached) in files.items()
                 if reader_of(path) and share(lines, reached) < AIM)
    for missing, path in low[:15]:
        print(f"  {path}: {-missing} lines not reached")
    return share(lines, reached)


def tool(name):
    found = shutil.which(name) or next(iter(sorted(glob.glob(f"/usr/bin/{name}-[0-9]*"))), None)
    if not found:
        sys.exit(f"coverage: {name} is missing (Debian: llvm)")
    return found


def lines_of(build, profile, lines, reached):
    """Adds the lines that one target has, and those that it reached. One target at a time: functions of one name
    differ between programs, and their counts are dropped where profiles are merged."""
    name = os.path.basename(profile).removesuffix(".profraw")
    merged = profile.removesuffix(".profraw") + ".profdata"
    subprocess.run([tool("llvm-profdata"), "merge", "-sparse", profile, "-o", merged], check=True)
    export = subprocess.run([tool("llvm-cov"), "export", "-format=lcov", f"-instr-profile={merged}",
                             os.path.join(build, "tests/fuzz", f"fuzz_{name}")], check=True, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True)
    path = ""
    for line in export.stdout.splitlines():
        if line.startswith("SF:"):
            path = os.path.relpath(os.path.join(build, line[3:]), ROOT)
        elif line.startswith("DA:") and reader_of(path):
            number, count = line[3:].split(",")[:2]
            lines[path].add(int(number))
            if count != "0":
                reached[path].add(int(number))


def covered(build, profiles):
    lines, reached = collections.defaultdict(set), collections.defaultdict(set)
    for profile in profiles:
        lines_of(build, profile, lines, reached)
    return {path: (len(lines[path]), len(reached[path])) for path in lines}


def main():
    build = os.path.realpath(sys.argv[1])
    profiles = sorted(glob.glob(os.path.join(build, "coverage", "*.profraw")))
    if not profiles:
        print("coverage: none, the targets were not compiled by clang")
        return 0
    table(covered(build, profiles))
    return 0


if __name__ == "__main__":
    sys.exit(main())
