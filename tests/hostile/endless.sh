#!/usr/bin/env bash
# One line without an end through every reader: exit code, seconds, peak memory and the first line
# that is said. Each must refuse, and none may hold what it read.
# endless.sh EYEROOF [BYTES (2147483648) [MOST_MB (600)]]
set -uo pipefail
eyeroof=$(realpath "$1")
bytes=${2:-2147483648}
most=${3:-600}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
wrong=0
row='{"eyeroof_profile":1,"run":{"tool":"t"}}\n'
seeds='name,op,m,n,k\n'
# one NAME BEGINNING ARGUMENTS…: IN among the words is the file, BEGINNING and x without an end.
one() {
    local name=$1 file=$folder/$1 words=() said status
    { printf '%b' "$2"; head -c "$bytes" /dev/zero | tr '\0' x; } >"$file"
    shift 2
    for word in "$@"; do words+=("${word//IN/$file}"); done
    /usr/bin/env python3 - "$folder/told" "$eyeroof" "${words[@]}" <<'P'
import os, subprocess, sys
with open(sys.argv[1], "wb") as told:
    child = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=told)
    _, status, used = os.wait4(child.pid, 0)
print(os.waitstatus_to_exitcode(status), f"{used.ru_utime + used.ru_stime:.2f}", used.ru_maxrss // 1024,
      file=open(sys.argv[1] + ".figures", "w"))
P
    read -r status seconds memory <"$folder/told.figures"
    said=$(head -n 1 "$folder/told" | sed "s|$folder/||g" | cut -c1-110)
    printf '%-14s exit %s %7s s %6s MB  %s\n' "$name" "$status" "$seconds" "$memory" "$said"
    if [ -z "$said" ] || [ "$status" -ge 128 ] || [ "$memory" -gt "$most" ]; then
        echo "WRONG: $name" >&2
        wrong=$((wrong + 1))
    fi
    rm -f "$file"
}
one plain.csv 'kernel,time_us\n' import IN
one ncu.csv '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n"' import IN
one saved.jsonl "$row" import IN
one kineto.json '{"traceEvents":[{"ph":"X","cat":"kernel","name":"' import IN
one list.json '{"traceEvents":[' import IN
one layers.csv "$seeds" exam IN --on eyeriss-v1
one quoted.csv "$seeds\"" exam IN --on eyeriss-v1
one network.yaml 'name: ' exam IN --on eyeriss-v1
one machine.yaml 'name: ' exam alexnet --on IN
one network.onnx '' exam IN --on eyeriss-v1
one scalesim.cfg "[general]\n" exam alexnet --on IN --compat scalesim
one topology.csv 'Layer, M, N, K,\na, 1, 2, 3,\n' net check IN
one net.m 'Network n { Layer ' net check IN
note='{"schema":"eyeroof/sweep/1","fingerprint":"0123456789abcdef","points":1,"from":0,"to":1,"format":"csv"}'
echo "$note" >"$folder/merge.csv.sweep" # else the file is no part, and is not looked at
one merge.csv 'point,' sweep merge IN -o "$folder/merged.csv"
echo point, >"$folder/noted.csv"
one noted.csv.sweep '{"schema":"' sweep merge "$folder/noted.csv" -o "$folder/merged.csv"
rm -f "$folder"/merge.csv.sweep "$folder/noted.csv"
echo "$wrong wrong" >&2
[ "$wrong" -eq 0 ] && echo "1 passed, 0 failed, 0 skipped" || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
