#!/usr/bin/env bash
# Every command that writes a file, killed before and after each call that changes one, on a full
# disk, on a failing one, and with short writes. After each fault the file is the old one or the new
# one, whole; nothing else stays in the folder but at most the one hidden file of a kill, and the
# next writing takes that away.
# run.sh EYEROOF SHIM SOURCES
set -uo pipefail
eyeroof=$1
shim=$2
sources=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
faults=0
lost=0

fail() {
    echo "LOST: $*" >&2
    lost=$((lost + 1))
}

# leftovers FILE: what lies beside the file.
leftovers() {
    find "$folder/out" -mindepth 1 ! -name "$1" -printf '%f\n'
}

# attempt NAME OLD|NONE COMMAND…: the command writes $folder/out/NAME.
attempt() {
    local name=$1 before=$2 kind at calls
    shift 2
    rm -rf "$folder/out" && mkdir "$folder/out"
    FAULT_COUNT="$folder/calls" LD_PRELOAD="$shim" "$@" >/dev/null 2>&1 || fail "$name: the command itself fails"
    calls=$(cat "$folder/calls")
    cp "$folder/out/$name" "$folder/new"
    for kind in before after ENOSPC EIO short; do
        for ((at = 1; at <= calls; at++)); do
            rm -rf "$folder/out" && mkdir "$folder/out"
            [ "$before" = OLD ] && echo old >"$folder/out/$name"
            FAULT_AT=$at FAULT_KIND=$kind LD_PRELOAD="$shim" "$@" >/dev/null 2>&1
            local status=$?
            faults=$((faults + 1))
            if [ -e "$folder/out/$name" ]; then
                cmp -s "$folder/out/$name" "$folder/new" ||
                    { [ "$before" = OLD ] && [ "$(cat "$folder/out/$name")" = old ]; } ||
                    fail "$name: neither old nor new after $kind at call $at"
            elif [ "$before" = OLD ]; then
                fail "$name: gone after $kind at call $at"
            fi
            if [ "$status" -eq 0 ] && ! cmp -s "$folder/out/$name" "$folder/new"; then
                fail "$name: exit 0 without the new file after $kind at call $at"
            fi
            [ "$(leftovers "$name" | wc -l)" -le 1 ] || fail "$name: files left after $kind at call $at"
            "$@" >/dev/null 2>&1 || fail "$name: the next writing fails after $kind at call $at"
            [ -z "$(leftovers "$name")" ] || fail "$name: $(leftovers "$name") stays after $kind at call $at"
            cmp -s "$folder/out/$name" "$folder/new" || fail "$name: not new after the next writing"
        done
    done
}

trace="$sources/tests/fuzz/corpus/profile_import/plain.csv"
out="$folder/out"
for before in OLD NONE; do
    attempt p.jsonl $before "$eyeroof" import "$trace" --save "$out/p.jsonl"
    attempt p.jsonl.gz $before "$eyeroof" import "$trace" --save "$out/p.jsonl.gz"
    attempt kernels.csv $before "$eyeroof" import "$trace" --format csv -o "$out/kernels.csv"
    attempt mine.yaml $before "$eyeroof" hw show eyeriss-v1 -o "$out/mine.yaml"
    attempt net.csv $before "$eyeroof" net show alexnet --format csv -o "$out/net.csv"
done
echo "$faults faults, $lost losses" >&2
[ "$lost" -eq 0 ] && echo "1 passed, 0 failed, 0 skipped" || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
