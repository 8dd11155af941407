#!/usr/bin/env bash
# Commands that write a file, killed (SIGKILL) at random moments over an old file: afterwards the
# file is the old one or the new one, whole, and the next writing leaves nothing else behind.
# kills.sh EYEROOF SOURCES [KILLS [SEED]]
set -uo pipefail
eyeroof=$1
sources=$2
kills=${3:-1000}
RANDOM=${4:-1}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/out"
trace="$sources/tests/fuzz/corpus/profile_import/kineto.json"
names=(p.jsonl p.jsonl.gz kernels.csv mine.yaml net.csv exam.json roof.svg)
declare -A lines=(
    [p.jsonl]="import $trace --save" [p.jsonl.gz]="import $trace --save"
    [kernels.csv]="import $trace --format csv -o" [mine.yaml]="hw show eyeriss-v1 -o"
    [net.csv]="net show resnet50 --format csv -o"
    [exam.json]="exam resnet50 --on a100-sxm-40gb --format json -o"
    [roof.svg]="roofline alexnet --on a100-sxm-40gb -o")
declare -A longest=()
lost=0
fail() {
    echo "LOST: $*" >&2
    lost=$((lost + 1))
}

# The new file of each command, and how long it takes: kills fall into that time.
for name in "${names[@]}"; do
    begin=$(date +%s%N)
    # shellcheck disable=SC2086 # words of a command line
    "$eyeroof" ${lines[$name]} "$folder/out/$name" >/dev/null 2>&1 || fail "$name: the command itself fails"
    longest[$name]=$((($(date +%s%N) - begin) / 1000))
    mv "$folder/out/$name" "$folder/new.$name"
done

hit=0
for ((i = 0; i < kills; i++)); do
    name=${names[i % ${#names[@]}]}
    file=$folder/out/$name
    echo old >"$file"
    after=$(((RANDOM * 32768 + RANDOM) % (longest[$name] * 5 / 4 + 1)))
    # shellcheck disable=SC2086
    "$eyeroof" ${lines[$name]} "$file" >/dev/null 2>&1 &
    child=$!
    sleep "$(printf '%d.%06d' $((after / 1000000)) $((after % 1000000)))"
    kill -KILL "$child" 2>/dev/null && hit=$((hit + 1))
    wait "$child" 2>/dev/null
    if [ ! -e "$file" ]; then
        fail "$name: gone after a kill at $after us"
    elif ! cmp -s "$file" "$folder/new.$name" && [ "$(cat "$file")" != old ]; then
        fail "$name: neither old nor new after a kill at $after us"
    fi
    if [ "$(find "$folder/out" -type f ! -name "$name" | wc -l)" -gt 0 ]; then
        # shellcheck disable=SC2086
        "$eyeroof" ${lines[$name]} "$file" >/dev/null 2>&1
        [ "$(find "$folder/out" -type f ! -name "$name" | wc -l)" -eq 0 ] || fail "$name: files stay after a kill"
    fi
    rm -rf "$folder/out" && mkdir "$folder/out"
done
echo "$kills kills, $hit of a running command, $lost losses" >&2
[ "$lost" -eq 0 ] && echo "1 passed, 0 failed, 0 skipped" || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
