#!/usr/bin/env bash
# GenZ counts an embedding as a product with the vocabulary, and the experts of DeepSeek V3 at the dense width.
#
# 1. The prefill of a decoder begins with a GEMM of tokens x vocabulary x hidden size, as if tokens were one-hot rows. An
#    embedding is a look-up without a multiplication. Of GPT-2's prefill of 2,048 tokens these are 79.0 of 409 GMAC,
#    and the classifier, counted for every token where a server needs the last one, is as much again.
# 2. `moe_intermediate_size` of DeepSeek-V3-Base is known (2,048), and its experts are counted with the width of the three
#    dense layers (18,432): 193,536 MiB of 16-bit experts in a layer where 256 x 3 x 7,168 x 2,048 words are 21,504 MiB. All 61
#    layers have experts, where the first three have none. The weights are 11.3 TiB; the model has 671 billion
#    parameters, 1.2 TiB.
# Take its time to first token, and what fits on how many devices, with these two in mind.
#
# Versions: genz-llm 0.0.16, pandas 2.2.3, numpy 1.26.4.
# Fails (exit 1) when the counts change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q genz-llm==0.0.16 pandas==2.2.3 numpy==1.26.4 || exit 77
cd "$folder"
venv/bin/python - <<'PY' 2>"$folder/err" || { cat "$folder/err" >&2; exit 1; }
import sys
from GenZ import get_configs, prefill_moddeling


def layers(model):
    table, totals = prefill_moddeling(model=model, batch_size=1, input_tokens=2048, system_name="H100_GPU", bits="bf16",
                                      model_profilling=True)
    return {row["Layer Name"]: row for _, row in table.iterrows()}, totals.iloc[0]


gpt, total = layers("gpt-2")
lookup = 50257 * 768 * 2048  # as a product
print("GPT-2, 2,048 tokens: embeddings", gpt["embeddings"]["Op Type"], gpt["embeddings"]["Dimension"],
      f"{lookup / 1e6:,.0f} of {total['MACs (MFLOP)']:,.0f} MMAC")
blocks = 12 * (2048 * (768 * 2304 + 768 * 768 + 2 * 768 * 3072) + 2 * 12 * 2048 * 2048 * 64)
seen = abs(total["MACs (MFLOP)"] * 1e6 - (blocks + 2 * lookup)) < 1e-3 * lookup
deepseek, weights = layers("deepseek-ai/DeepSeek-V3-Base")
config = get_configs("deepseek-ai/DeepSeek-V3-Base")
experts = deepseek["up+gate"]["Input_w (MB)"] + deepseek["down"]["Input_w (MB)"]
right = 256 * 3 * 7168 * config.moe_intermediate_size * 2 / 2**20
print(f"DeepSeek V3: experts of a layer {experts:,.0f} MiB, {right:,.0f} MiB at moe_intermediate_size {config.moe_intermediate_size}; "
      f"weights {weights['Total Weights (MB)'] / 2**20:.2f} TiB")
wide = config.moe_intermediate_size == 2048 and abs(experts / right - 9.0) < 0.01
sys.exit(0 if seen and wide and weights["Total Weights (MB)"] > 11e6 else 1)
PY
