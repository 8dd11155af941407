#!/usr/bin/env bash
# SCALE-Sim 3 rounds the size of outputs up: strided layers of ResNet-50 get up to 31 % more MACs.
#
# It takes rows of outputs as ceil((input - filter + stride) / stride), where every framework takes the floor: a last window that
# does not fit is no output. SCALE-Sim has no padding, so its users enter padded inputs, and those of stride 2 do not divide:
# - ResNet-50's first layer, 230 x 230 padded, 7 x 7, stride 2: 113 x 113 outputs and 120,130,752 MACs, instead of
#   112 x 112 and 118,013,952
# - its 3 x 3 layer from 14 x 14 to 7 x 7, 16 x 16 padded, stride 2: 8 x 8 outputs and 150,994,944 MACs, instead of 7 x 7 and
#   115,605,504; the windows of the extra row and column reach past the padded input
# The authors stated the ceiling as intended (issue 39 of the first version), which an expert in convolutions would not guess.
# Leave out the padding that no window reads, 229 x 229 and 15 x 15, to simulate the layers that networks have.
#
# Versions: scalesim 3.0.0, numpy 1.26.4, pandas 2.2.3.
# Fails (exit 1) when the figures change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q scalesim==3.0.0 numpy==1.26.4 pandas==2.2.3 || exit 77
cd "$folder"
cat >topology.csv <<'CSV'
Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,
first, 230, 230, 7, 7, 3, 64, 2,
first trimmed, 229, 229, 7, 7, 3, 64, 2,
to 7 x 7, 16, 16, 3, 3, 512, 512, 2,
to 7 x 7 trimmed, 15, 15, 3, 3, 512, 512, 2,
CSV
venv/bin/python - <<'PY'
import sys
from scalesim.topology_utils import topologies

network = topologies()
network.load_arrays("topology.csv")
seen = [(network.get_layer_ofmap_dims(layer)[0], network.get_layer_mac_ops(layer)) for layer in range(4)]
for layer, (rows, macs) in enumerate(seen):
    print(f"{network.get_layer_name(layer)}: {rows} x {rows} outputs, {macs:,} MACs")
sys.exit(0 if seen == [(113, 120130752), (112, 118013952), (8, 150994944), (7, 115605504)] else 1)
PY
