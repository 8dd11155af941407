#!/usr/bin/env bash
# compare_exams.sh OLD NEW [NETWORK…]: does `exam` say the same with two builds of the program?
# Every catalog network (or those named) on every catalog machine, mapped by the dataflow's own rules
# so that no search's clock decides. Prints each difference of the JSON by its path, then counts;
# exits 1 when there are any. OLD and NEW find their own data in ../share/eyeroof.
set -euo pipefail
old=$1 new=$2
shift 2
if [ $# -gt 0 ]; then networks=("$@"); else
    mapfile -t networks < <("$new" net list --format csv | tail -n +2 | cut -d, -f1)
fi
mapfile -t machines < <("$new" hw list --format json | sed -nE "s/^ *\"id\": \"([^\"]+)\".*/\1/p")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
same=0 differ=0
for network in "${networks[@]}"; do
    for machine in "${machines[@]}"; do
        for side in old new; do
            "${!side}" exam "$network" --on "$machine" --mapping dataflow --threads 1 \
                --format json >"$work/$side" 2>"$work/$side.err" || cat "$work/$side.err" >>"$work/$side"
        done
        if cmp -s "$work/old" "$work/new"; then
            same=$((same + 1))
        else
            differ=$((differ + 1))
            echo "== $network on $machine"
            diff --unified=0 "$work/old" "$work/new" | grep '^[-+] ' | head -n "${EYEROOF_LINES:-12}" || true
        fi
    done
done
echo "$same the same, $differ different"
[ "$differ" -eq 0 ]
