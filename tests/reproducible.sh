#!/usr/bin/env bash
# Two release builds of one commit, in folders of different names, without a compiler cache: everything that is
# installed must have the same bytes.
# reproducible.sh SOURCES [JOBS [TARGET …]]: with targets only these are built, and what they wrote is compared.
set -uo pipefail
sources=$(realpath "$1")
jobs=${2:-$(nproc)}
targets=("${@:3}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export CCACHE_DISABLE=1 CMAKE_CXX_COMPILER_LAUNCHER=
unset SOURCE_DATE_EPOCH

# built FOLDER: a copy of the sources, built there; what is compared is in FOLDER.made.
built() {
    mkdir -p "$1" "$1.made"
    git -C "$sources" archive HEAD | tar -x -C "$1" || return 1
    cmake -S "$1" -B "$1/build/release" -G Ninja -DCMAKE_BUILD_TYPE=Release -DEYEROOF_WARNINGS=OFF \
        "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG" -DEYEROOF_BUILD_TESTS=OFF -DEYEROOF_BUILD_GUI=OFF >"$1.log" 2>&1 &&
        cmake --build "$1/build/release" -j "$jobs" --target ${targets[@]:-all} >>"$1.log" 2>&1 || return 1
    if [ ${#targets[@]} -eq 0 ]; then
        for component in cli dev; do
            cmake --install "$1/build/release" --component "$component" --prefix "$1.made" >>"$1.log" 2>&1 || return 1
        done
    else
        find "$1/build/release" \( -name '*.a' -o -type f -perm -u+x ! -path '*/CMakeFiles/*' \) -exec cp {} "$1.made" \;
    fi
}

for name in one "another-folder-with-a-longer-name"; do
    built "$folder/$name" || {
        tail -n 5 "$folder/$name.log" >&2
        echo "0 passed, 1 failed, 0 skipped"
        exit 1
    }
done
different=$(diff -rq "$folder/one.made" "$folder/another-folder-with-a-longer-name.made" 2>&1)
files=$(find "$folder/one.made" -type f | wc -l)
echo "$files files, $(grep -c . <<<"$different") differ" >&2
[ -z "$different" ] || sed "s|$folder/||g" <<<"$different" | head -n 20 >&2
if [ -z "$different" ] && [ "$files" -gt 0 ]; then
    echo "1 passed, 0 failed, 0 skipped"
else
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
