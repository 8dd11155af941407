#!/usr/bin/env bash
# XProf's roofline gives an RTX 5090 3,352 TFLOP/s, 8 to 16 times what it has, and an RTX 4090 twice its rate in bf16.
#
# The roofline takes the peak of a GPU from compute capability, SMs, and clock of the profile. Dense peaks with 16-bit inputs, in TFLOP/s:
# - RTX 5090 (12.0, 170 SMs, 2.407 GHz): 3,352; the GPU has 209.5 with fp32 sums and 419 with fp16 sums. XProf counts 8,192 FLOPs a
#   cycle and SM, as B200 (10.0) has; an SM of capability 12.0 has 1,024, and GeForce half of them with fp32 sums.
# - RTX PRO 6000 (12.0, 188 SMs, 2.617 GHz): 4,030 instead of 504
# - RTX 4090 (8.9) and 3090 (8.6): 330 and 142, those of fp16 sums; bf16, and fp16 with the fp32 sums of JAX, have half: 165 and 71
# A100, H100, B200, A40, and L4 are right. "FLOP Rate / Peak" and the ridge point of an RTX 5090 are then off by 16 and nearly every
# operation is bound by memory. An expert expects a GPU that the tool does not know to have no peak, not that of another GPU.
#
# Versions: xprof 2.24.2. Needs no GPU: the profiles are written below in XSpace's format.
# Fails (exit 1) when the peaks change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --no-deps xprof==2.24.2 || exit 77
cd "$folder"
venv/bin/python - <<'PY' 2>"$folder/err" || { cat "$folder/err" >&2; exit 1; }
import json
import pathlib
import sys
from xprof.convert import _pywrap_profiler_plugin as xprof


def varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def field(number, value):
    """A field of a protocol buffer: a whole number, text, or a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def named(number, key, name):
    return field(number, field(1, key) + field(2, field(1, key) + field(2, name)))


def peak(name, major, minor, multiprocessors, megahertz, gigabytes):
    """TFLOP/s that the roofline has for a GPU with one kernel of 0.1 ms, and what it calls the GPU."""
    facts = {"compute_cap_major": major, "compute_cap_minor": minor, "clock_rate": megahertz * 1000,
             "core_count": multiprocessors, "memory_bandwidth": gigabytes * 10**9, "device_vendor": "Nvidia"}
    plane = field(2, "/device:GPU:0") + named(4, 1, "kernel")
    plane += field(3, field(2, "Stream #7(Compute)") + field(4, field(1, 1) + field(2, 0) + field(3, 10**8)))
    for key, (fact, value) in enumerate(facts.items(), 1):
        plane += named(5, key, fact) + field(6, field(1, key) + field(5 if isinstance(value, str) else 3, value))
    path = pathlib.Path(name) / "host.xplane.pb"
    path.parent.mkdir()
    path.write_bytes(field(1, plane) + field(4, "host"))
    facts = json.loads(xprof.xspace_to_tools_data([str(path)], "roofline_model")[0])[0]["p"]
    return round(float(facts["peak_flop_rate"]) / 1000), facts["device_type"]


gpus = {"A100": (8, 0, 108, 1410, 1555), "A40": (8, 6, 84, 1740, 696), "L4": (8, 9, 58, 2040, 300), "H100": (9, 0, 132, 1830, 3350),
        "B200": (10, 0, 148, 1850, 8000), "RTX 3090": (8, 6, 82, 1695, 936), "RTX 4090": (8, 9, 128, 2520, 1008),
        "RTX 5090": (12, 0, 170, 2407, 1792), "RTX PRO 6000": (12, 0, 188, 2617, 1792)}
sheets = {"A100": 312, "A40": 150, "L4": 121, "H100": 989, "B200": 2250, "RTX 3090": 71, "RTX 4090": 165, "RTX 5090": 210,
          "RTX PRO 6000": 504}
seen = {name: peak(name, *gpu) for name, gpu in gpus.items()}
for name, (rate, kind) in seen.items():
    print(f"{name} ({kind}): {rate:,} TFLOP/s, by the data sheet {sheets[name]:,}")
right = all(abs(seen[name][0] / sheets[name] - 1) < 0.01 for name in ("A100", "A40", "L4", "H100", "B200"))
wrong = [seen[name][0] for name in ("RTX 3090", "RTX 4090", "RTX 5090", "RTX PRO 6000")]
sys.exit(0 if right and wrong == [142, 330, 3352, 4030] else 1)
PY
