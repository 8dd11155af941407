#!/usr/bin/env bash
# Vidur takes a tera as 2^40, and a model without its embedding and classifier: MFU too low, KV cache too large.
#
# 1. Peak FLOP/s are fp16_tflops x 2^40: an A100 of 312 TFLOP/s has 343. MFU, which Vidur reports for each batch, comes out at 91 %
#    of what the same time gives by the data sheet.
# 2. ParamCounter has 6,979,321,856 parameters of Llama 3 8B. Attention, MLPs, the embedding, and the classifier, each of
#    128,256 x 4,096, are 8,029,995,008 (without norms). What is missing takes 2.0 GiB of every device's memory: an A40
#    gets room for 225,280 tokens of KV cache where 209,248 fit. MFU leaves out the classifier's work too, 7 % of each
#    decoded token. A simulator of schedulers is expected to have the cache's size right, since that limits the batch.
# Compare its MFU only with itself, and add the embeddings to the memory margin for models of large vocabularies.
#
# Versions: vidur 0.0.26 with numpy 2.4.6.
# Fails (exit 1) when the figures change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q numpy==2.4.6 || exit 77
"$folder/venv/bin/pip" install -q --no-deps vidur==0.0.26 || exit 77
cd "$folder"
venv/bin/python - <<'PY'
import sys
from vidur.config import CacheConfig, ReplicaConfig
from vidur.utils.memory_planner import MemoryPlanner
from vidur.utils.mfu_calculator import MFUCalculator
from vidur.utils.param_counter import ParamCounter


def replica(device):
    return ReplicaConfig(model_name="meta-llama/Llama-3-8B", device=device, network_device=device + "_pairwise_nvlink",
                         num_pipeline_stages=1, tensor_parallel_size=1)


model = replica("a40").model_config
head = model.embedding_dim // model.num_q_heads
layer = model.embedding_dim * (head * (2 * model.num_q_heads + 2 * model.num_kv_heads) + 3 * model.mlp_hidden_dim)
ends = 2 * model.vocab_size * model.embedding_dim
counted = ParamCounter(replica("a40")).get_num_parameters_per_device()
print(f"parameters: {counted:,} of {model.num_layers * layer + ends:,}")
cache = CacheConfig()
room = int(MemoryPlanner(replica("a40"), cache).get_max_kv_cache_size_in_tokens())
token = 2 * 2 * head * model.num_kv_heads * model.num_layers
memory = replica("a40").device_config.total_memory_gb * 2**30 * (1 - cache.memory_margin_fraction)
fits = int((memory - 2 * (counted + ends)) // token)
print(f"tokens of KV cache on an A40: {room:,}, with embedding and classifier {fits:,}")
peak = MFUCalculator(replica("a100"))._device_flops
print(f"peak of an A100: {peak:.4g} FLOP/s")
sys.exit(0 if (counted, room, peak) == (6979321856, 225280, 312 * 2**40) and counted == model.num_layers * layer else 1)
PY
