#!/usr/bin/env bash
# Three counters of PyTorch models that leave work out or count it twice.
#
# torch.utils.flop_counter.FlopCounterMode gives 0 for an LSTM on a CPU (aten::lstm is one operator there, and has no
# formula). torchinfo's mult-adds of a Linear are those of one token, however many there are. ptflops counts a ReLU
# module's elements twice with its default backend (by its hook, and by the functional it patches).
#
# Versions: torch 2.15.0, torchinfo 1.8.0, ptflops 0.7.5.
# Fails (exit 1) when a figure changes. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.15.0 torchinfo==1.8.0 ptflops==0.7.5 || exit 77
"$folder/venv/bin/python" - <<'PY'
import ptflops
import torch
import torchinfo
from torch.utils.flop_counter import FlopCounterMode

with FlopCounterMode(display=False) as counter:
    torch.nn.LSTM(64, 64)(torch.zeros(100, 1, 64))
assert counter.get_total_flops() == 0, counter.get_total_flops()  # by hand 6,553,600

linear = torch.nn.Sequential(torch.nn.Linear(64, 64))
one, many = (torchinfo.summary(linear, input_data=torch.zeros(1, n, 64), verbose=0).total_mult_adds for n in (1, 128))
assert one == many == 4160, (one, many)  # by hand 4,160 and 532,480

def macs(*layers):
    return ptflops.get_model_complexity_info(torch.nn.Sequential(*layers), (3, 16, 16), as_strings=False,
                                             print_per_layer_stat=False, backend="pytorch")[0]

conv = torch.nn.Conv2d(3, 8, 3, padding=1, bias=False)
assert macs(conv, torch.nn.ReLU()) - macs(conv) == 2 * 8 * 16 * 16
PY
