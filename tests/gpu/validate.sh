#!/usr/bin/env bash
# The whole validation on a machine with a GPU, as one command:
#   tests/gpu/validate.sh [BUILD_FOLDER] [OUTPUT_FOLDER]
# 1. three kernels with known operations, profiled by eyeroof and by Nsight Compute, compared within 2 %
# 2. a PyTorch ResNet-50 forward pass and training step, profiled unmodified, where PyTorch is there
# 3. a roofline of each
# Leaves the profiles, with provenance, in OUTPUT_FOLDER: what profiles/recorded/ is filled from.
# Exit 0: all agree. 1: something does not. 77: nothing could be done (no GPU, no toolkit).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-build/dev}
out=${2:-validation}
eyeroof=$build/cli/eyeroof
compare=$build/tests/compare_counters
failed=0

skip() { echo "skipped: $1"; exit 77; }
step() { echo; echo "== $1"; }

command -v nvidia-smi >/dev/null && nvidia-smi -L | grep -q GPU || skip "no GPU (nvidia-smi finds none)"
command -v nvcc >/dev/null || skip "no nvcc to build the kernels with"
[ -x "$eyeroof" ] && [ -x "$compare" ] || skip "build eyeroof first, with CUPTI found"
mkdir -p "$out"
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem,power.limit,mig.mode.current \
    --format=csv > "$out/gpu.csv"
cat "$out/gpu.csv"

step "the tests that need no GPU, here with one"
"$build/tests/test_gpu" || failed=1

step "three kernels: times, then every counter"
nvcc -O3 -lineinfo -arch=native -o "$out/kernels" "$here/programs/kernels.cu" || skip "the kernels do not compile"
"$eyeroof" profile --metrics roofline-full --save "$out/kernels.jsonl" -- "$out/kernels" || failed=1
"$eyeroof" profile --timing-only --save "$out/kernels-times.jsonl" -- "$out/kernels" || failed=1

step "the same kernels with Nsight Compute, held against it within 2 %"
if command -v ncu >/dev/null; then
    counters=dram__bytes.sum,lts__t_bytes.sum,l1tex__t_bytes.sum
    for op in ffma fadd fmul dfma dadd dmul hfma hadd hmul; do
        counters+=,smsp__sass_thread_inst_executed_op_${op}_pred_on.sum
    done
    LC_ALL=C ncu --csv --page raw --print-units base --clock-control none --cache-control none \
        --metrics "$counters" "$out/kernels" > "$out/kernels-ncu.csv" || failed=1
    "$compare" "$out/kernels.jsonl" "$out/kernels-ncu.csv" 2 | tee "$out/compare.txt" || failed=1
else
    echo "Nsight Compute is not here: not compared"
    failed=1
fi

step "PyTorch ResNet-50, unmodified"
if python3 -c 'import torch, torchvision; assert torch.cuda.is_available()' 2>/dev/null; then
    cat > "$out/resnet50.py" <<'PY'
import sys, torch, torchvision
torch.manual_seed(0)
model = torchvision.models.resnet50().cuda()
x = torch.randn(32, 3, 224, 224, device="cuda")
if sys.argv[1] == "forward":
    with torch.no_grad():
        model.eval()(x)
else:
    torch.nn.functional.cross_entropy(model(x), torch.zeros(32, dtype=torch.long, device="cuda")).backward()
torch.cuda.synchronize()
PY
    for pass in forward train; do
        "$eyeroof" profile --save "$out/resnet50-$pass.jsonl" -- python3 "$out/resnet50.py" "$pass" || failed=1
    done
else
    echo "no PyTorch with CUDA here: left out"
fi

step "this machine's processor, for comparison"
"$eyeroof" measure cpu --save "$out/cpu.jsonl" --overlay "$out/cpu.yaml" || failed=1

echo
[ "$failed" = 0 ] && echo "all agree; profiles in $out" || echo "NOT all well; see above and $out"
exit "$failed"
