#!/usr/bin/env bash
# XLA's cost analysis counts the body of a loop once: a model scanned over 10 layers has the FLOPs and bytes of one.
#
# jax.jit(f).lower(...).compile().cost_analysis() gives the FLOPs of the compiled program. JAX models are written with lax.scan
# over equal layers to compile faster, and lax.map, fori_loop, and recurrent networks become loops too. The number of passes is
# in the program (the compiler knows it), and yet the body counts once. Ten products of 256 x 256 x 256 are 335,544,320 FLOPs:
# - unrolled (scan with unroll=True, the same function): 335,544,320
# - lax.scan, lax.fori_loop, and lax.map: 33,554,432
# - the gradient of the scan, three products a layer: 100,663,296 instead of 939,524,096 to 1,006,632,960
# jax.experimental.roofline.roofline has 33,554,432 for the scan as well. An expert expects a count that does not depend on how the
# compiler was asked to write the loop. MFU and intensity of a scanned model come out low by the number of layers, and a
# mixture with work outside the loop (the classifier) cannot be corrected by one factor. Count an unrolled model.
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
from jax import lax
from jax.experimental import roofline
from jax.sharding import PartitionSpec

layers, size = 10, 256
weights = jax.ShapeDtypeStruct((layers, size, size), "float32")
state = jax.ShapeDtypeStruct((size, size), "float32")


def flops(function, *arguments):
    return int(jax.jit(function).lower(*arguments).compile().cost_analysis()["flops"])


def network(unroll):
    return lambda w, x: lax.scan(lambda state, layer: (state @ layer, None), x, w, unroll=unroll)[0]


_, roof = roofline.roofline(network(1), mesh=jax.make_mesh((1,), ("x",)), in_specs=(PartitionSpec(),) * 2,
                            out_specs=PartitionSpec())(weights, state)
seen = {"unrolled": flops(network(True), weights, state), "scan": flops(network(1), weights, state),
        "fori_loop": flops(lambda w, x: lax.fori_loop(0, layers, lambda _, y: y @ w, x), state, state),
        "map": flops(lambda w, x: lax.map(lambda y: y @ w, x), state, weights),
        "gradient of the scan": flops(jax.grad(lambda w, x: network(1)(w, x).sum()), weights, state),
        "roofline of the scan": int(roof.flops)}
one = 2 * size**3
for name, count in seen.items():
    print(f"{name}: {count:,} FLOPs, those of {count / one:g} products")
sys.exit(0 if list(seen.values()) == [layers * one, one, one, one, 3 * one, one] else 1)
PY
