#!/usr/bin/env bash
# Fields of transformers' configurations that mean something else for some models: KV caches 2.5 to 71 times off.
#
# Calculators take KV values per token and layer as 2 x num_key_value_heads x head_dim, and the width of an expert from
# moe_intermediate_size or, for a dense layer, intermediate_size. Defaults of the classes, without any model file:
# 1. DeepseekV3Config: head_dim is 64, that of the rotary part alone, and num_key_value_heads 128. The product is 16,384
#    values. A cache of latents has kv_lora_rank + qk_rope_head_dim = 576, one of full heads
#    128 x (128 + 64 + 128) = 40,960; none has 16,384.
# 2. FalconConfig: num_kv_heads is 71, a copy of the attention heads, and the model has one, because multi_query is set;
#    modeling_falcon.py ignores the field. Its cache is 71 times smaller than the field suggests. There is no num_key_value_heads.
# 3. Llama4TextConfig: intermediate_size (8,192) is the width of an expert, and the dense layers have
#    intermediate_size_mlp (16,384). In DeepseekV3Config and Qwen3MoeConfig the same name is the width of a dense layer.
# A reader that takes the common fields for granted sizes a serving GPU wrongly. Read these fields per model type.
#
# Versions: transformers 5.24.0 (Python 3.11 or newer; without PyTorch).
# Fails (exit 1) when the fields change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q transformers==5.24.0 || exit 77
"$folder/venv/bin/python" - <<'PY' 2>"$folder/err" || { cat "$folder/err" >&2; exit 1; }
import pathlib
import sys
import transformers

deepseek = transformers.DeepseekV3Config()
common = 2 * deepseek.num_key_value_heads * deepseek.head_dim
latents = deepseek.kv_lora_rank + deepseek.qk_rope_head_dim
full = deepseek.num_attention_heads * (deepseek.qk_nope_head_dim + deepseek.qk_rope_head_dim + deepseek.v_head_dim)
print(f"DeepseekV3Config: head_dim {deepseek.head_dim}, {common} values by the common fields; latents {latents}, full heads {full}")
falcon = transformers.FalconConfig()
source = pathlib.Path(transformers.__file__).parent / "models/falcon/modeling_falcon.py"
ignored = "config.num_kv_heads if (self.new_decoder_architecture or not self.multi_query) else 1" in source.read_text()
print(f"FalconConfig: num_kv_heads {falcon.num_kv_heads}, multi_query {falcon.multi_query}, ignored by the model: {ignored}")
llama, qwen = transformers.Llama4TextConfig(), transformers.Qwen3MoeConfig()
print(f"Llama4TextConfig: intermediate_size {llama.intermediate_size}, intermediate_size_mlp {llama.intermediate_size_mlp}; "
      f"Qwen3MoeConfig: {qwen.intermediate_size}, experts {qwen.moe_intermediate_size}; "
      f"DeepseekV3Config: {deepseek.intermediate_size}, experts {deepseek.moe_intermediate_size}")
cache = (deepseek.head_dim, common, latents, full) == (64, 16384, 576, 40960)
heads = (falcon.num_kv_heads, falcon.multi_query, falcon.new_decoder_architecture) == (71, True, False) and ignored
widths = (llama.intermediate_size, llama.intermediate_size_mlp, qwen.moe_intermediate_size, deepseek.moe_intermediate_size)
sys.exit(0 if cache and heads and widths == (8192, 16384, 768, 2048) else 1)
PY
