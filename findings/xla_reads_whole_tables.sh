#!/usr/bin/env bash
# XLA's cost analysis counts the whole table for a look-up of two rows: 153.6 MB, where 12 kB are read and written.
#
# "bytes accessed" of a compiled JAX function, for rows of an embedding of 50,000 x 768 in fp32:
# - 1 row: 6,148 bytes, as by hand (3,072 read, 3,072 written, and the index). The compiler turns one row into a slice.
# - 2 and 16 rows: 153,606,144 and 153,649,216 bytes. The gather is fused with the check of its indices, and a fusion reads its inputs whole.
# - 16 rows into a product with 768 x 768: 156,106,816, by hand 2,457,664 (rows, indices, weights, and results once)
# lower(...).cost_analysis(), the same analysis of the program before it is compiled, has 12,404 bytes for 2 rows. An expert expects the
# compiled program to be the better source, and bytes of a look-up to grow with its rows. The intensity of a small batch of a decoder
# (a vocabulary of 128,000 x 4,096 is 1 GB in 16 bit) is dominated by a table of which kilobytes are read. Subtract the tables.
#
# Versions: jax and jaxlib 0.10.2 on a CPU, numpy 2.4.6 (Python 3.11 or newer).
# Fails (exit 1) when the bytes change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6 || exit 77
JAX_PLATFORMS=cpu "$folder/venv/bin/python" - <<'PY'
import sys
import jax

table, weights = (jax.ShapeDtypeStruct(shape, "float32") for shape in ((50000, 768), (768, 768)))


def moved(function, rows, *arguments):
    """Bytes of the program as compiled, and before."""
    lowered = jax.jit(function).lower(table, jax.ShapeDtypeStruct((rows,), "int32"), *arguments)
    return tuple(int(stage.cost_analysis()["bytes accessed"]) for stage in (lowered.compile(), lowered))


def look_up(table, rows):
    return table[rows]


def project(table, rows, weights):
    return table[rows] @ weights


seen = {"1 row": moved(look_up, 1), "2 rows": moved(look_up, 2), "16 rows": moved(look_up, 16),
        "16 rows and a product": moved(project, 16, weights)}
for name, (compiled, lowered) in seen.items():
    print(f"{name}: {compiled:,} bytes compiled, {lowered:,} before; the table has {50000 * 768 * 4:,}")
sys.exit(0 if [compiled for compiled, _ in seen.values()] == [6148, 153606144, 153649216, 156106816] and seen["2 rows"][1] < 13000 else 1)
PY
