#!/usr/bin/env bash
# JAX's roofline has no FLOPs and no bytes of convolutions in its main fields, nor of anything but matrix products.
#
# jax.experimental.roofline.roofline(f, ...) returns flops and hbm_bytes beside unfused_flops and unfused_hbm_bytes, which suggests the same
# work with and without fusion. The first two are those of dot_general alone:
# - a 3 x 3 convolution of 64 to 64 channels over 56 x 56: flops 0, hbm_bytes 0; unfused_flops 225,738,752
# - a matrix product of the same size, 3,136 x 576 x 64: flops 231,211,008, hbm_bytes 8,175,616
# - ReLU over 64 MiB, which moves 128 MiB with no neighbor to fuse with: hbm_bytes 0
# - 8 images through that convolution and a classifier of 64 x 10: flops 10,240 of 1.8 billion, those of the classifier
# An expert expects fusion to leave FLOPs as they are, and traffic of a lone operator to be counted: by these fields a network of
# convolutions takes no time on any roofline. Use the unfused fields for it, and take their bytes as an upper bound.
#
# Versions: jax and jaxlib 0.10.2 on a CPU, numpy 2.4.6, absl-py 2.3.1 (Python 3.11 or newer).
# Fails (exit 1) when the counts change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6 absl-py==2.3.1 || exit 77
JAX_PLATFORMS=cpu "$folder/venv/bin/python" - <<'PY'
import sys
import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import roofline
from jax.sharding import PartitionSpec


def fields(function, *shapes):
    arguments = [jax.ShapeDtypeStruct(shape, "float32") for shape in shapes]
    _, result = roofline.roofline(function, mesh=jax.make_mesh((1,), ("x",)), in_specs=(PartitionSpec(),) * len(shapes),
                                  out_specs=PartitionSpec())(*arguments)
    return result.flops, result.hbm_bytes, result.unfused_flops, result.unfused_hbm_bytes


def conv(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))


def network(x, w, v):
    return jnp.mean(conv(x, w), axis=(2, 3)) @ v


weights = (64, 64, 3, 3)
seen = {"convolution": fields(conv, (1, 64, 56, 56), weights),
        "product of its size": fields(lambda a, b: a @ b, (3136, 576), (576, 64)),
        "ReLU over 64 MiB": fields(lambda x: jnp.maximum(x, 0), (4096, 4096)),
        "8 images, convolution and classifier": fields(network, (8, 64, 56, 56), weights, (64, 10))}
for name, (flops, size, unfused, unfused_size) in seen.items():
    print(f"{name}: flops {flops:,}, hbm_bytes {size:,}; unfused {unfused:,}, {unfused_size:,}")
expected = [(0, 0, 225738752), (231211008, 8175616, 231211008), (0, 0, 16777216), (10240, 4928, 1807525888)]
sys.exit(0 if [result[:3] for result in seen.values()] == expected else 1)
PY
