#!/usr/bin/env bash
# Lightning's MFU divides by the vector peak on an A40, by an L4's peak on an L40S, and by two GPUs' on an H100 NVL.
#
# get_available_flops(device, dtype) finds a GPU's peak by its name; Fabric's and the trainer's throughput monitors divide by it for MFU.
# bf16, in TFLOP/s, and the dense peak of the tensor cores by NVIDIA's data sheets:
# - NVIDIA A40 and RTX A6000: 37.4 and 38.7, below their own entries for tf32 (74.8 and 77.4); 149.7 and 154.8. MFU is 4 times too high.
# - GeForce RTX 4090 and 3090: 82.6 and 35.6, half of 165.2 and 71. MFU is twice too high.
# - NVIDIA L40S and L40: 121, as "l4" is looked for first; 362 and 181. The entry "l40" exists and is never used.
# - NVIDIA H100 NVL: 1,979, that of a pair of boards, where a device is one: 835. MFU is 42 % of what it is.
# A100, H100 SXM and PCIe, and L4 are right. An expert expects one convention in one table, and takes an MFU of 120 % for wrong but one of 45 % on
# an A40 for a fact. Divide the reported FLOP/s by a peak of the data sheet.
#
# Versions: lightning-fabric 2.6.6, torch 2.15.0, numpy 2.4.6. Needs no GPU: the names that a driver reports stand below.
# Fails (exit 1) when the peaks change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q lightning-fabric==2.6.6 torch==2.15.0 numpy==2.4.6 || exit 77
"$folder/venv/bin/python" - <<'PY' 2>"$folder/err" || { cat "$folder/err" >&2; exit 1; }
import sys
from unittest import mock
import torch
from lightning_fabric.utilities.throughput import get_available_flops

sheets = {"NVIDIA A100-SXM4-80GB": 312, "NVIDIA H100 80GB HBM3": 989.4, "NVIDIA H100 PCIe": 756, "NVIDIA L4": 121,
          "NVIDIA A40": 149.7, "NVIDIA RTX A6000": 154.8, "NVIDIA GeForce RTX 4090": 165.2, "NVIDIA GeForce RTX 3090": 71,
          "NVIDIA L40S": 362, "NVIDIA L40": 181, "NVIDIA H100 NVL": 835}
seen = {}
for name, sheet in sheets.items():
    with mock.patch("torch.cuda.get_device_name", return_value=name):
        seen[name] = get_available_flops(torch.device("cuda"), torch.bfloat16) / 1e12
    print(f"{name}: {seen[name]:,.1f} TFLOP/s in bf16, by the data sheet {sheet}: MFU x {sheet / seen[name]:.2f}")
expected = [312, 989.4, 756, 121, 37.4, 38.7, 82.6, 35.6, 121, 121, 1978.8]
sys.exit(0 if [round(rate, 1) for rate in seen.values()] == expected else 1)
PY
