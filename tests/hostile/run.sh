#!/usr/bin/env bash
# Every line of arguments.txt through the program: the exit code that stands there, no crash, no
# hang, words and a hint on stderr where it refuses, none of them twice, nothing on stdout then, and
# no file left behind.
# run.sh EYEROOF [JOBS]
set -uo pipefail
eyeroof=$(realpath "$1")
jobs=${2:-2}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export F
F=$(mktemp -d)
trap 'rm -rf "$F"' EXIT
mkdir "$F/told"
# shellcheck source=files.sh
source "$here/files.sh" "$F"
before=$(find "$F" -path "$F/told" -prune -o -type f -print | sort)

# one NUMBER CODE ARGUMENTS…: a line; says what is wrong with its answer.
one() {
    local out=$F/told/$1.out err=$F/told/$1.err wrong=
    local -a words=()
    eval "words=($3)"
    XDG_DATA_HOME=$F/none timeout 60 "$eyeroof" "${words[@]}" >"$out" 2>"$err" </dev/null
    local status=$?
    [ "$status" -eq "$2" ] || wrong="exit code $status, not $2"
    if [ "$2" -ge 2 ]; then
        grep -q 'error: ' "$err" || wrong+="; no error is told"
        grep -q 'hint: ' "$err" || wrong+="; no hint is given"
        [ -z "$(grep 'error: ' "$err" | sort | uniq -d)" ] || wrong+="; an error is told twice"
        [ ! -s "$out" ] || wrong+="; something on stdout"
    fi
    ! grep -qE 'internal|mistake of eyeroof|terminate called|Sanitizer' "$err" || wrong+="; a mistake of the program"
    if [ -n "$wrong" ]; then
        echo "WRONG: eyeroof $3: ${wrong#; }: $(head -c 300 "$err" | tr '\n' ' ')"
        return 1
    fi
}
export -f one
export eyeroof

grep -v '^#' "$here/arguments.txt" | grep -v '^$' |
    awk '{ code = $1; sub(/^[0-9]+ ?/, ""); printf "%d%c%s%c%s%c", NR, 0, code, 0, $0, 0 }' |
    xargs -0 -n 3 -P "$jobs" bash -c 'one "$@"' one >"$F/told/all"
lines=$(grep -cv '^#\|^$' "$here/arguments.txt")
cat "$F/told/all" >&2
wrong=$(wc -l <"$F/told/all")
left=$(find "$F" -path "$F/told" -prune -o -type f -print | sort | comm -13 <(echo "$before") -)
if [ -n "$left" ]; then
    echo "WRONG: files are left: $left" >&2
    wrong=$((wrong + 1))
fi
echo "$lines lines, $wrong wrong" >&2
[ "$wrong" -eq 0 ] && echo "1 passed, 0 failed, 0 skipped" || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
