#!/usr/bin/env bash
# SCALE-Sim 3 counts dense work over sparse cycles: a sparse layer's utilization exceeds 100 %.
#
# A GEMM of 128 x 128 x 128 with 2:4 weights on a 32 x 32 weight-stationary array: the cycles halve with the rows of
# weights that are left (1775 of 3551), but "Overall Util %" divides the dense MACs by them and prints 115.4. Compare
# utilizations of sparse layers only after dividing by the density; cycles agree with a hand count.
# A second trap: "Total cycles" of the console (3650) includes the prefetch, "Total Cycles" of COMPUTE_REPORT.csv
# (1775) does not; the column for the console's figure is "Total Cycles (incl. prefetch)".
#
# Versions: scalesim 3.0.0, numpy 1.26.4, pandas 2.2.3 (it declares no upper bound; with the newest numpy of November 2026 it stops with a TypeError).
# Fails (exit 1) when the figures change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q scalesim==3.0.0 numpy==1.26.4 pandas==2.2.3 || exit 77
cd "$folder"
printf 'Layer, M, N, K, Sparsity,\ng, 128, 128, 128, 2:4,\n' >topology.csv
printf 'Layer\n' >layout.csv
cat >sparse.cfg <<'CFG'
[general]
run_name = run
[architecture_presets]
ArrayHeight: 32
ArrayWidth: 32
IfmapSramSzkB: 64
FilterSramSzkB: 64
OfmapSramSzkB: 64
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Bandwidth: 10
Dataflow: ws
MemoryBanks: 1
ReadRequestBuffer: 32
WriteRequestBuffer: 32
[layout]
IfmapCustomLayout: False
IfmapSRAMBankBandwidth: 10
IfmapSRAMBankNum: 10
IfmapSRAMBankPort: 2
FilterCustomLayout: False
FilterSRAMBankBandwidth: 10
FilterSRAMBankNum: 10
FilterSRAMBankPort: 2
[sparsity]
SparsitySupport: true
SparseRep: ellpack_block
OptimizedMapping: false
BlockSize: 8
RandomNumberGeneratorSeed: 40
[run_presets]
InterfaceBandwidth: CALC
UseRamulatorTrace: False
CFG
sed 's/SparsitySupport: true/SparsitySupport: false/' sparse.cfg >dense.cfg
for kind in dense sparse; do
    venv/bin/python -m scalesim.scale -c $kind.cfg -t topology.csv -l layout.csv -i gemm -p $kind >$kind.log 2>"$folder/err" || { cat "$folder/err" >&2; exit 1; }
    grep -E '^(Total cycles|Compute cycles|Overall utilization)' $kind.log | sed "s/^/$kind: /"
    tail -n 1 $kind/run/COMPUTE_REPORT.csv
done
grep -q '^Compute cycles: 3551$' dense.log && grep -q '^Compute cycles: 1775$' sparse.log &&
    grep -q '^Overall utilization: 115.38%' sparse.log && grep -q '^Total cycles: 3650$' sparse.log &&
    tail -n 1 sparse/run/COMPUTE_REPORT.csv | grep -q '^0, 3650, 1775,'
