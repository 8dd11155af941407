#!/usr/bin/env bash
# PyTorch's FlopCounterMode has no FLOPs of experts in models of transformers 5: it sees 12 % of Mixtral 8x7B.
#
# transformers 5 runs experts by default through torch._grouped_mm, one operator for all experts, and FlopCounterMode has no formula
# for it (aten::mm, bmm, and _scaled_mm have one). It counts nothing, without a warning:
# - MixtralConfig(), the 8x7B model, 512 tokens on the meta device: 1.65 TFLOP; the experts add 11.5 by hand
# - 2 layers of 8 experts of 64 x 128, 2 for each of 128 tokens: 21,233,664; with experts_implementation "eager" or "batched_mm", for the
#   same model and input, 46,399,488
# A count of the same model by transformers 4, which ran experts one by one, has them. A counter of operators is expected to see every matrix
# product. MFU of a mixture of experts comes out about 8 times too low. Call model.set_experts_implementation("batched_mm") to count.
#
# Versions: torch 2.15.0, transformers 5.24.0, numpy 2.4.6 (Python 3.11 or newer).
# Fails (exit 1) when the counts change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.15.0 transformers==5.24.0 numpy==2.4.6 || exit 77
"$folder/venv/bin/python" - <<'PY' 2>"$folder/err" || { cat "$folder/err" >&2; exit 1; }
import sys
import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode


def flops(config, tokens, device, implementation=None):
    """FLOPs of one pass over a text, and those of its experts by hand."""
    with torch.device(device):
        model = transformers.MixtralForCausalLM(config).eval()
        text = torch.zeros(1, tokens, dtype=torch.long)
    if implementation:
        model.set_experts_implementation(implementation)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(text)
    expert = 3 * config.hidden_size * config.intermediate_size
    return counter.get_total_flops(), 2 * tokens * config.num_hidden_layers * config.num_experts_per_tok * expert


small = transformers.MixtralConfig(vocab_size=256, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                                   num_key_value_heads=4, num_local_experts=8, num_experts_per_tok=2)
seen = {name: flops(small, 128, "cpu", name)[0] for name in (None, "grouped_mm", "eager", "batched_mm")}
for name, count in seen.items():
    print(f"experts_implementation {name or 'by default'}: {count:,}, experts by hand {flops(small, 128, 'cpu')[1]:,}")
large, experts = flops(transformers.MixtralConfig(), 512, "meta")
print(f"Mixtral 8x7B, 512 tokens: {large:,}, experts by hand {experts:,}: {large / (large + experts):.1%} of both")
sys.exit(0 if list(seen.values()) == [21233664, 21233664, 46399488, 46399488] and large == 1647119958016 else 1)
PY
