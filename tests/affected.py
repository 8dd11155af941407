#!/usr/bin/env python3
"""The test programs that a change can break, by the table of dependencies that a build folder writes.

    tests/affected.py BUILD             # names of ctest, for ./bootstrap check
    tests/affected.py BUILD --readers   # for ./bootstrap sanitize: the readers' tests, and what the change touches
    tests/affected.py BUILD … --targets # what must be built for these
    tests/affected.py BUILD --readers --within S # what of them S seconds suffice for; the rest on the error output
    tests/affected.py --base            # the commit that the change is compared with

The change is what differs from the merge base with the remote's main branch (or from EYEROOF_BASE), files that are
not committed included. Where HEAD is that branch, the change is the last day's commits. Where neither is known,
everything is tested.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# The test programs of a folder, the likeliest to notice an error first.
PROGRAMS = {
    "analysis/bound": ["step", "analysis"], "analysis/calibrate": ["analysis"], "analysis/cores": ["cores"],
    "analysis/diff": ["diff"], "analysis/exam": ["analysis", "report"], "analysis/fuse": ["fuse"],
    "analysis/measured": ["analysis"], "analysis/program": ["step", "scenario", "analysis"],
    "analysis/scale": ["scale"], "analysis/scenario": ["scenario"], "analysis/chip": ["chip"],
    "analysis/sparse": ["sparse"], "analysis/step": ["step"], "analysis/sweep": ["sweep"],
    "analysis/trials": ["tune"], "analysis/tune": ["tune"], "analysis/upgrade": ["analysis"],
    "analysis": ["analysis"], "base": ["model", "hwdb", "formats", "report", "profiles"], "formats": ["formats", "catalog"],
    "hwdb": ["hwdb"], "mapper": ["mapper"], "model": ["model", "analysis"],
    "model/cores": ["model", "cores"], "model/fuse": ["model", "fuse"],
    "model/sparse": ["model", "sparse"], "model/technology": ["model", "chip"], "profiles": ["profiles"],
    "profiles/collect": ["profiles", "gpu"], "profiles/cupti": ["gpu"], "profiles/gpu": ["gpu"],
    "report": ["report", "analysis"], "cli": ["cli"],
}
# The folders' own programs. The others (agreement, hostile …) run lines that these run, too.
OWN = {names[0] for names in PROGRAMS.values()}
READERS = ["model", "hwdb", "profiles", "formats", "catalog"]  # where bytes of strangers enter
# Tests of files that are not code: documents, catalogs, networks.
SCRIPTS = {"docs": ["printed", "documented", "folders"], "README.md": ["printed", "documented"],
           "hwdb": ["hwdb", "catalog", "machine_format"], "examples": ["catalog", "formats"], "tests/hostile": ["hostile"],
           "examples/measurements": ["scripts"], "tests/bench": ["scripts"],
           "tests/faults": ["faults", "kills"], "CONTRIBUTING.md": ["worked_examples"]}
EVERYTHING = re.compile(r"^(CMakeLists\.txt|CMakePresets\.json|cmake/|bootstrap|tests/[^/]+\.(hpp|cpp|txt)$)")
DAY = 24 * 3600  # seconds


def programs_of(file):
    """The test programs of a source, without the prefix test_."""
    folder = os.path.dirname(file)
    while folder and folder not in PROGRAMS:
        folder = os.path.dirname(folder)
    return PROGRAMS[folder or "analysis"]


def git(*words):
    answer = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return answer.stdout.strip() if answer.returncode == 0 else ""


def base():
    """The commit before the change, or "" where it is unknown."""
    if os.environ.get("EYEROOF_BASE"):
        return git("rev-parse", "--verify", "-q", os.environ["EYEROOF_BASE"])
    head = git("rev-parse", "HEAD")
    for branch in ("origin/HEAD", "origin/main", "origin/master"):
        common = git("merge-base", "HEAD", branch)
        if common and (common != head or git("status", "--porcelain")):
            return common
    newest = git("log", "-1", "--format=%ct")
    return git("rev-list", "-1", f"--before={int(newest) - DAY}", "HEAD") if newest else ""


def changed():
    """Paths that the change touches, or None where that is unknown."""
    before = base()
    if not before:
        return None
    files = git("diff", "--name-only", before).splitlines()
    return files + git("ls-files", "--others", "--exclude-standard").splitlines()


def modules(build):
    """folder -> the folders that it links, of the table that the build folder writes."""
    lines = [line.split(": ", 1) for line in (build / "modules.txt").read_text().splitlines() if ": " in line]
    target = {text.split()[0].replace("eyeroof_", "eyeroof::", 1): folder.removesuffix("/*") for folder, text in lines}
    return {folder.removesuffix("/*"): {target[word] for word in text.split()[1:] if word in target}
            for folder, text in lines}


def tests_of(build):
    """Names of ctest in a build folder; those of the window apart."""
    def names(*words):
        text = subprocess.run(["ctest", "--test-dir", build, "-N", *words], capture_output=True, text=True).stdout
        return re.findall(r"Test +#\d+: (\S+)", text)
    return names("-LE", "gui"), names("-L", "gui")


def affected(build, readers=False):
    """The test programs that can notice the change: those of its folders, and of what links them directly. For a
    sanitizer (`readers`), which looks at the lines that run, the folder's own program is enough, and files of the build
    bring no lines."""
    plain, window = tests_of(build)
    files = changed()
    if files is None or not readers and any(EVERYTHING.match(file) for file in files):
        return plain + window
    links, found = modules(build), []
    for file in files:
        parts = file.split("/")
        if parts[0] == "tests" and len(parts) > 2 and parts[1] in (OWN if readers else plain):
            found.append(parts[1])
        if parts[0] == "gui" or file.startswith("tests/gui/"):
            found += window
        for prefix, names in SCRIPTS.items():
            if file.startswith(prefix) and not file.endswith((".cpp", ".hpp")):
                found += names
        if file.endswith((".cpp", ".hpp")) and parts[0] not in ("tests", "gui", "python"):
            folder = max((name for name in links if file.startswith(name + "/")), key=len, default=parts[0])
            found += programs_of(file)[:1] if readers else programs_of(file)
            found += [programs_of(user + "/x")[0] for user, used in links.items() if folder in used and not readers]
    found += ["architecture", "folders"] if found else []
    return [name for name in plain + window if name in found]


# Under AddressSanitizer a test takes three to five times as long as in `dev`; `scale` 13 times, of which none was longer.
SLOWER = 4
SLOWEST = {"scale": 13}


def within(names, seconds):
    """The names that `seconds` suffice for, the readers first and then the quickest, by the times of the last run of
    all tests in build/dev (a test that did not run there counts as no time)."""
    file, took = ROOT / "build/dev/Testing/Temporary/CTestCostData.txt", {}
    for line in file.read_text().splitlines() if file.exists() else []:
        name, *figures = line.split()
        if len(figures) == 2:
            took[name] = float(figures[1]) * SLOWEST.get(name, SLOWER)
    chosen, busy, jobs = [], 0.0, os.cpu_count() or 1
    for name in sorted(names, key=lambda name: (name not in READERS, took.get(name, 0.0))):
        busy += took.get(name, 0.0)
        if max(busy / jobs, took.get(name, 0.0)) <= seconds or name in READERS:
            chosen.append(name)
    left = [name for name in names if name not in chosen]
    if left:
        print(f"affected.py: no time for {' '.join(left)}: `./bootstrap nightly` runs them", file=sys.stderr)
    return chosen


def main():
    if sys.argv[1:] == ["--base"]:
        print(base() or "nothing: the commit before the change is unknown")
        return
    build = pathlib.Path(sys.argv[1])
    names = affected(build, "--readers" in sys.argv)
    programs = set(re.findall(r"eyeroof_tests\((\w+)", (ROOT / "tests/CMakeLists.txt").read_text()))
    if "--readers" in sys.argv:
        names = [name for name in tests_of(build)[0] if name in programs - {"architecture"} and
                 (name in READERS or name in names)]
    if "--within" in sys.argv:
        names = within(names, float(sys.argv[sys.argv.index("--within") + 1]))
    if "--targets" in sys.argv:
        targets = {"test_" + name if name in programs else "eyeroof eyeroof-tune" for name in names
                   if name not in tests_of(build)[1]}
        targets |= {"test_windows", "monkey"} if set(names) & set(tests_of(build)[1]) else set()
        names = sorted(targets) + (["fuzzers"] if "--readers" in sys.argv else [])
    print(" ".join(names))


if __name__ == "__main__":
    main()
