#!/usr/bin/env bash
# Installs the library from a build folder, and builds and runs a program against it.
set -euo pipefail
build=$1 sources=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --component dev --prefix "$scratch/usr" >"$scratch/log" ||
    { cat "$scratch/log"; exit 1; }
# the archives of a development build call the checks of UndefinedBehaviorSanitizer
cmake -S "$sources/tests/outside" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/usr" \
    -DCMAKE_EXE_LINKER_FLAGS=-fsanitize=undefined >"$scratch/log" 2>&1 &&
    cmake --build "$scratch/build" >>"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
"$scratch/build/outside" "$sources/hwdb" "$sources/examples/networks"
