#!/usr/bin/env bash
# Searched mappings against the dataflow's own, in the times that exam prints, for every network and
# accelerator of the catalog: no layer may be slower. Prints a row of gains for each pair.
# usage: check_never_worse.sh EYEROOF "NETWORKS" "MACHINES" [EFFORT…]
#   EFFORT: options of exam, "--time-limit 8" by default
set -euo pipefail
eyeroof=$1
networks=$2
machines=$3
shift 3
effort=("$@")
[ ${#effort[@]} -gt 0 ] || effort=(--time-limit 8)

times() { # name,time_s of each layer
    "$eyeroof" exam "$1" --on "$2" --format csv "${@:3}" 2>/dev/null |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "time_s") t = i; next }
                 { print $1 "," $t }'
}

failed=0
echo "| network | machine | dataflow / ms | best / ms | gain | slower layers |"
echo "|---|---|---|---|---|---|"
for network in $networks; do
    for machine in $machines; do
        own=$(times "$network" "$machine" --mapping dataflow) || continue
        best=$(times "$network" "$machine" --mapping best --objective latency "${effort[@]}")
        row=$(paste -d, <(echo "$own") <(echo "$best") |
            awk -F, '{ a += $2; b += $4; if ($4 > $2 * (1 + 1e-9)) ++slower }
                     END { printf "%.4g | %.4g | %.3f | %d", a * 1e3, b * 1e3, a / b, slower }')
        echo "| $network | $machine | $row |"
        [ "${row##* }" = 0 ] || failed=1
    done
done
exit $failed
