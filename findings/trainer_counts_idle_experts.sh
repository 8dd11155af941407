#!/usr/bin/env bash
# The Trainer of transformers counts experts that do not run: total_flos of Mixtral 8x7B is 3.7 times the work.
#
# total_flos of trainer_state.json and of the log is the sum of floating_point_ops: 6 x tokens x all parameters outside the input embedding. A mixture
# of experts runs few of them for a token, as its configuration says (num_experts_per_tok), which is not read. Billions of parameters:
# - MixtralConfig(), 8x7B: 46.6 counted, 12.7 run: 3.7 times
# - Qwen3MoeConfig() with 128 experts of 768, 8 run, 48 layers (30B-A3B): 30.2 counted, 3.0 run: 10 times
# Frozen parameters count like others too: a step of LoRA on 8x7B has the same total_flos as a full one, where no gradients of
# weights are needed. An expert reads a total stated by the trainer of the model's own library as the model's FLOPs, and would report an MFU
# of 150 % for a run at 40 %. Multiply by active over all parameters.
#
# Versions: transformers 5.24.0, torch 2.15.0, numpy 2.4.6 (Python 3.11 or newer).
# Fails (exit 1) when the counts change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.15.0 transformers==5.24.0 numpy==2.4.6 || exit 77
"$folder/venv/bin/python" - <<'PY' 2>"$folder/err" || { cat "$folder/err" >&2; exit 1; }
import sys
import types
import torch
import transformers


def parameters(kind, config, experts, inner, frozen=False):
    """Billions of parameters that the trainer counts for each token, and those that run."""
    with torch.device("meta"):
        model = kind(config)
    for weight in model.parameters() if frozen else ():
        weight.requires_grad = False
    text = {"input_ids": torch.zeros(1, 4, dtype=torch.long)}
    count = transformers.Trainer.floating_point_ops(types.SimpleNamespace(model=model), text) / 6 / 4
    idle = config.num_hidden_layers * (experts - config.num_experts_per_tok) * 3 * config.hidden_size * inner
    return round(count / 1e9, 1), round((count - idle) / 1e9, 1)


mixtral = transformers.MixtralConfig()
qwen = transformers.Qwen3MoeConfig(hidden_size=2048, num_hidden_layers=48, num_attention_heads=32, num_key_value_heads=4, head_dim=128,
                                   num_experts=128, num_experts_per_tok=8, moe_intermediate_size=768)
seen = {"Mixtral 8x7B": parameters(transformers.MixtralForCausalLM, mixtral, 8, mixtral.intermediate_size),
        "Mixtral 8x7B, frozen": parameters(transformers.MixtralForCausalLM, mixtral, 8, mixtral.intermediate_size, True),
        "Qwen3 30B-A3B": parameters(transformers.Qwen3MoeForCausalLM, qwen, 128, 768)}
for name, (counted, run) in seen.items():
    print(f"{name}: {counted} billion counted, {run} run: {counted / run:.1f}")
sys.exit(0 if list(seen.values()) == [(46.6, 12.7), (46.6, 12.7), (30.2, 3.0)] else 1)
PY
