#!/bin/bash
# Tries a wheel in bare Debian systems: try_wheel.sh WHEEL SUITE[=FOLDER]… (as root, with debootstrap)
# A system has Python and nothing else of what ./bootstrap installs; FOLDER is one that debootstrap made already.
# Prints the wheel's size, the seconds from pip install to the first answer, and libraries that are not in the wheel.
set -euo pipefail
wheel=$(realpath "$1")
shift
echo "$(basename "$wheel"): $(du -h --apparent-size "$wheel" | cut -f1)"
for system in "$@"; do
    suite=${system%%=*}
    root=${system#*=}
    if [ "$root" = "$suite" ]; then
        root=$(mktemp -d)
        debootstrap --variant=minbase --include=python3,python3-venv "$suite" "$root" >&2
    fi
    cp "$wheel" "$root/tmp"
    chroot "$root" /bin/bash -euc '
        wheel=/tmp/$1
        rm -rf /tmp/bare
        python3 -m venv /tmp/bare
        begin=$(date +%s.%N)
        /tmp/bare/bin/pip install -q --no-index --no-deps "$wheel"
        /tmp/bare/bin/eyeroof exam llama-3-8b:new=1,context=2048 --on h100-sxm-80gb --batch 16 >/tmp/answer
        end=$(date +%s.%N)
        grep -m 1 utilization /tmp/answer
        /tmp/bare/bin/eyeroof validate --evidence | head -n 1
        . /etc/os-release
        awk -v a="$begin" -v b="$end" -v n="$PRETTY_NAME" \
            "BEGIN { printf \"%s: %.1f s from pip install to the first answer\\n\", n, b - a }"
        python3 --version
        ldd /tmp/bare/lib/python3*/site-packages/eyeroof/_eyeroof*.so | grep -v eyeroof.libs
        if ldd /tmp/bare/lib/python3*/site-packages/eyeroof/_eyeroof*.so | grep "not found"; then exit 1; fi
    ' try "$(basename "$wheel")"
done
