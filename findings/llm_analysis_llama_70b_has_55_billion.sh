#!/usr/bin/env bash
# llm-analysis counts two matrices in a gated MLP: its Llama 2 70B has 55.3 billion parameters.
#
# The MLP of Llama has three matrices of 8,192 x 28,672. llm-analysis counts two of hidden size x ffn_embed_dim for every model, and
# its own configuration of Llama 2 70B sets ffn_embed_dim to 4 x 8,192 = 32,768. That hides the third matrix in the 7B
# model, whose width is 2.69 times its hidden size (134 of 135 million parameters a layer), and not in the 70B model,
# where it is 3.5 times: 537 of 705 million. Embedding and classifier count as one, though Llama 2 does not tie them.
# The total is 55,292,731,392 parameters; the model has 68,976,648,192. Weights, latency of decoding, and FLOPs are 20 % low:
# two GPUs of 64 GB seem to have 17 GB left for the KV cache, and are 10 GB short.
# An expert takes a model named 70B in a tool's own list as having 70 billion. Give ffn_embed_dim = 1.5 x the width.
#
# Versions: llm-analysis 0.2.2 with fire 0.7.1.
# Fails (exit 1) when the counts change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q fire==0.7.1 || exit 77
"$folder/venv/bin/pip" install -q --no-deps llm-analysis==0.2.2 || exit 77
cd "$folder"
venv/bin/python - <<'PY' 2>"$folder/err" || { cat "$folder/err" >&2; exit 1; }
import sys
from llm_analysis.analysis import LLMAnalysis
from llm_analysis.config import get_gpu_config_by_name, get_model_config_by_name


def parameters(name, width, key_value_heads):
    """Total and parameters of a layer's MLP, counted and by hand."""
    model = get_model_config_by_name(name)
    analysis = LLMAnalysis(model, get_gpu_config_by_name("a100-sxm-80gb"))
    hidden = model.hidden_dim
    attention = 2 * hidden * hidden + 2 * hidden * hidden * key_value_heads // model.n_head
    layer = attention + 3 * hidden * width + 2 * hidden
    right = model.num_layers * layer + 2 * model.vocab_size * hidden + hidden
    return int(analysis.total_num_params), right, int(analysis.get_num_params_per_layer_mlp()), 3 * hidden * width


small = parameters("NousResearch_Llama-2-7b-hf", 11008, 32)
large = parameters("upstage_Llama-2-70b-instruct-v2", 28672, 8)
for name, (total, right, mlp, right_mlp) in (("7B", small), ("70B", large)):
    print(f"Llama 2 {name}: {total:,} of {right:,} parameters, {mlp:,} of {right_mlp:,} in an MLP")
sys.exit(0 if large == (55292731392, 68976648192, 536870912, 704643072) and small[1] == 6738415616 else 1)
PY
