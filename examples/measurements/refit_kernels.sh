#!/bin/sh
# Fits hwdb/kernels again from the tables of release 4 of the measurements:
#   examples/measurements/refit_kernels.sh TABLES FOLDER [eyeroof-dev]
# TABLES has calib4_gemm.csv.gz and the ten others named below; FOLDER gets one file for each family of machines.
# The same program gives the same digits. Builds by other compilers differ in the last one. Three processor minutes.
set -eu
tables=$1 folder=$2 program=${3:-build/dev/cli/eyeroof-dev}
set --
for kind in gemm attention mla moe modules recurrent mhc quantize a2a aiter_gemm aiter_moe; do
    set -- "$@" "$tables/calib4_$kind.csv.gz"
done
exec "$program" fit-kernels "$@" --constants "$folder" \
    --source "aisimulate 0.13.0.dev20261027 (NVIDIA, Apache-2.0); ROCm/aiter@e4048607 (MIT)"
