#!/usr/bin/env bash
# Searched mappings against the dataflow's own, in the figures that exam prints, for every network and
# accelerator of the catalog: no layer may be worse. Prints a row of gains for each pair.
# usage: [OBJECTIVE=latency|energy|edp] [MAPPING=best|auto] \
#        check_never_worse.sh EYEROOF "NETWORKS" "MACHINES" [EFFORT…]
#   EFFORT: options of exam, "--time-limit 8" by default
#   Figures: ms, mJ, or their product of each layer.
set -euo pipefail
eyeroof=$1
networks=$2
machines=$3
shift 3
effort=("$@")
[ ${#effort[@]} -gt 0 ] || effort=(--time-limit 8)

objective=${OBJECTIVE:-latency}
mapping=${MAPPING:-best}

figures() { # name and figure of each layer, comma between
    "$eyeroof" exam "$1" --on "$2" --format json "${@:3}" 2>/dev/null | python3 -c '
import json, sys
for layer in json.load(sys.stdin)["layers"]:
    ms, mj = layer["time_s"] * 1e3, (layer["energy_j"] or 0) * 1e3
    print(layer["name"], {"latency": ms, "energy": mj, "edp": ms * mj}[sys.argv[1]], sep=",")
' "$objective"
}

failed=0
echo "| network | machine | $objective: dataflow | $mapping | gain | worse layers |"
echo "|---|---|---|---|---|---|"
for network in $networks; do
    for machine in $machines; do
        own=$(figures "$network" "$machine" --mapping dataflow) || continue
        best=$(figures "$network" "$machine" --mapping "$mapping" --objective "$objective" "${effort[@]}")
        row=$(paste -d, <(echo "$own") <(echo "$best") |
            awk -F, '{ a += $2; b += $4; if ($4 > $2 * (1 + 1e-9)) ++slower }
                     END { printf "%.4g | %.4g | %.3f | %d", a, b, a / b, slower }')
        echo "| $network | $machine | $row |"
        [ "${row##* }" = 0 ] || failed=1
    done
done
exit $failed
