#!/usr/bin/env bash
# PyTorch's FlopCounterMode has 0 FLOPs of an nn.TransformerEncoder in evaluation, and all of them in training.
#
# Without gradients and after eval(), nn.TransformerEncoderLayer and nn.MultiheadAttention run one fused operator
# (aten::_transformer_encoder_layer_fwd, aten::_native_multi_head_attention), which has no formula. A layer of 64 features, 4 heads, and 256 inner
# features over 2 x 128 tokens has by hand 2 x (256 x (4 x 64 x 64 + 2 x 64 x 256) + 2 x 2 x 4 x 128 x 128 x 16) = 33,554,432 FLOPs:
# - train(): 33,554,432. eval() with gradients enabled: 33,554,432
# - eval() under no_grad() or inference_mode(), as a model is served: 0, without a warning
# - an attention layer with a classifier behind it: only the classifier
# An expert uses this counter because it sees operators and not modules, and expects that inference costs the forward pass of training. A count
# for inference taken the way a benchmark runs it is missing every encoder layer. Count with gradients enabled, or set
# torch.backends.mha.set_fastpath_enabled(False).
#
# Versions: torch 2.15.0, numpy 2.4.6 on a CPU.
# Fails (exit 1) when the counts change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.15.0 numpy==2.4.6 || exit 77
"$folder/venv/bin/python" - <<'PY' 2>"$folder/err" || { cat "$folder/err" >&2; exit 1; }
import sys
import torch
from torch.utils.flop_counter import FlopCounterMode


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.head = torch.nn.MultiheadAttention(64, 4, batch_first=True), torch.nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.attention(x, x, x, need_weights=False)[0])


def flops(model, guard):
    with guard(), FlopCounterMode(display=False) as counter:
        model(torch.zeros(2, 128, 64))
    return counter.get_total_flops()


layer, classifier = torch.nn.TransformerEncoderLayer(64, 4, 256, batch_first=True), Classifier()
seen = {}
for name, model in (("encoder layer", layer), ("attention and classifier", classifier)):
    seen[name, "train()"] = flops(model.train(), torch.enable_grad)
    seen[name, "eval() with gradients"] = flops(model.eval(), torch.enable_grad)
    seen[name, "eval(), no_grad()"] = flops(model, torch.no_grad)
    seen[name, "eval(), inference_mode()"] = flops(model, torch.inference_mode)
torch.backends.mha.set_fastpath_enabled(False)
seen["encoder layer", "eval(), no_grad(), without the fast path"] = flops(layer, torch.no_grad)
for (name, mode), count in seen.items():
    print(f"{name}, {mode}: {count:,}")
full, head = 33554432, 2 * 256 * 64 * 10
both = full - 2 * 256 * 2 * 64 * 256 + head
sys.exit(0 if list(seen.values()) == [full, full, 0, 0, both, both, head, head, full] else 1)
PY
