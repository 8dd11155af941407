#!/usr/bin/env bash
# A layer table gives the same bytes as a file, on stdin, and through a pipe: with the columns that
# it had.
# pipes.sh EYEROOF
set -uo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
table=$folder/layers.csv
printf 'name,op,m,n,k,measured_s\nfc,gemm,8,16,32,1e-6\n' >"$table"
ask=("$1" exam --on t4 --format csv)
wrong=0
"${ask[@]}" "$table" >"$folder/file" || wrong=1
"${ask[@]}" - <"$table" | cmp - "$folder/file" || wrong=$((wrong + 1))
cat "$table" | "${ask[@]}" /dev/stdin | cmp - "$folder/file" || wrong=$((wrong + 1))
"${ask[@]}" <(cat "$table") | cmp - "$folder/file" || wrong=$((wrong + 1))
grep -q measured_s "$folder/file" || wrong=$((wrong + 1))
echo "$((wrong == 0)) passed, $wrong failed, 0 skipped"
[ "$wrong" -eq 0 ]
