#!/usr/bin/env bash
# The whole validation on a machine with a GPU, as one command:
#   tests/gpu/validate.sh [BUILD_FOLDER] [OUTPUT_FOLDER]
# 1. three kernels with known operations, profiled by eyeroof and by Nsight Compute, compared within 2 %
# 2. a PyTorch ResNet-50 forward pass and training step, profiled unmodified, where PyTorch is there,
#    and prediction against measurement for every layer; six networks in both layouts
# 3. what this GPU reaches: measured ceilings, and products with and without copies (the classic
#    data-transfer experiment), beside the processor's and beside what is predicted
# 4. a roofline of each
# 5. kernels that are generated, compiled by NVRTC and timed here: none may be wrong
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
step() { echo; echo "== $1 (after $SECONDS s)"; }
# A step that hangs must not take the others with it.
limited() { timeout "${EYEROOF_STEP_LIMIT:-600}" "$@"; }

command -v nvidia-smi >/dev/null && nvidia-smi -L | grep -q GPU || skip "no GPU (nvidia-smi finds none)"
command -v nvcc >/dev/null || skip "no nvcc to build the kernels with"
[ -x "$eyeroof" ] && [ -x "$compare" ] || skip "build eyeroof first, with CUPTI found"
mkdir -p "$out"
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem,power.limit,mig.mode.current \
    --format=csv > "$out/gpu.csv"
cat "$out/gpu.csv"

# The catalog's machine: told by EYEROOF_MACHINE, or found by the GPU's name; empty when unknown.
gpu_name=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
case "$gpu_name" in
    *A100-SXM4-40GB*) found=a100-sxm-40gb ;; *A100-SXM4-80GB*) found=a100-sxm-80gb ;;
    *A100-PCIE-40GB*) found=a100-pcie-40gb ;; *A100*80GB*PCIe*) found=a100-pcie-80gb ;;
    *H200*) found=h200-sxm-141gb ;; *H100*PCIe*) found=h100-pcie-80gb ;; *H100*) found=h100-sxm-80gb ;;
    *V100-SXM2-16GB*) found=v100-sxm2-16gb ;; *V100-SXM2-32GB*) found=v100-sxm2-32gb ;;
    *L40S*) found=l40s ;; *L4*) found=l4 ;; *T4*) found=t4 ;; *A10*) found=a10 ;; *A40*) found=a40 ;;
    *B200*) found=b200-sxm ;; *4090*) found=rtx-4090 ;; *3090*) found=rtx-3090 ;; *) found= ;;
esac
machine=${EYEROOF_MACHINE-$found}
echo "machine of the catalog: ${machine:-none known; set EYEROOF_MACHINE}"

step "the tests that need no GPU, here with one"
limited "$build/tests/test_gpu" || failed=1

step "three kernels: times, then every counter"
nvcc -O3 -lineinfo -arch=native -o "$out/kernels" "$here/programs/kernels.cu" || skip "the kernels do not compile"
limited "$eyeroof" profile --metrics roofline-full --save "$out/kernels.jsonl" -- "$out/kernels" || failed=1
limited "$eyeroof" profile --timing-only --save "$out/kernels-times.jsonl" -- "$out/kernels" || failed=1

step "the same kernels with Nsight Compute, held against it within 2 %"
if command -v ncu >/dev/null; then
    counters=dram__bytes.sum,lts__t_bytes.sum,l1tex__t_bytes.sum
    for op in ffma fadd fmul dfma dadd dmul hfma hadd hmul; do
        counters+=,smsp__sass_thread_inst_executed_op_${op}_pred_on.sum
    done
    LC_ALL=C limited ncu --csv --page raw --print-units base --clock-control none --cache-control none \
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
        limited "$eyeroof" profile --save "$out/resnet50-$pass.jsonl" -- python3 "$out/resnet50.py" "$pass" || failed=1
    done
    # the same by PyTorch's own profiler, whose operators name the layers
    cat > "$out/trace.py" <<'PY'
import sys, torch, torchvision
from torch.profiler import profile, ProfilerActivity
torch.manual_seed(0)
model = torchvision.models.resnet50().cuda()
x = torch.randn(32, 3, 224, 224, device="cuda")
labels = torch.zeros(32, dtype=torch.long, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
def forward():
    with torch.no_grad():
        model.eval()(x)
def train():
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model.train()(x), labels).backward()
    optimizer.step()
run = forward if sys.argv[1] == "forward" else train
for _ in range(3):
    run()
torch.cuda.synchronize()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as prof:
    for _ in range(3):
        run()
    torch.cuda.synchronize()
prof.export_chrome_trace(sys.argv[2])
PY
    for pass in forward train; do
        limited python3 "$out/trace.py" "$pass" "$out/resnet50-$pass-trace.json" || failed=1
        phase=inference
        [ "$pass" = train ] && phase=training
        [ -z "$machine" ] && continue
        "$eyeroof" exam resnet50 --batch 32 --phase "$phase" --dtype tf32 --on "$machine" \
            --profile "$out/resnet50-$pass-trace.json" --format md -o "$out/resnet50-$pass-exam.md" || failed=1
        "$eyeroof" roofline resnet50 --batch 32 --phase "$phase" --dtype tf32 --on "$machine" \
            --profile "$out/resnet50-$pass-trace.json" -o "$out/resnet50-$pass.svg" || failed=1
    done
    step "whole networks in both layouts: eager; inference as CUDA graphs and compiled, too"
    mkdir -p "$out/networks"
    limited python3 "$here/networks.py" "$out/networks" --modes --seconds 240 || failed=1
else
    echo "no PyTorch with CUDA here: left out"
fi

step "what this GPU reaches"
limited "$eyeroof" measure gpu --save "$out/gpu.jsonl" --overlay "$out/gpu.yaml" || failed=1

step "what this processor reaches"
limited "$eyeroof" measure cpu --save "$out/cpu.jsonl" --overlay "$out/cpu.yaml" || failed=1

step "200x200 and 2000x2000 on the processor, on the GPU, and on the GPU with copies each time"
for file in "$out/cpu.jsonl" "$out/gpu.jsonl"; do
    "$eyeroof" import "$file" --kernel 'gemm (200x200x200|2000x2000x2000) fp32' --format csv || failed=1
done | awk '/^"?gemm/ { at = match($0, /,[0-9]+,/); name = substr($0, 1, at - 1); gsub(/"/, "", name)
    split(substr($0, at + 1), field, ","); printf "%-58s %12.3f us\n", name, 1e6 * field[2] }' | tee "$out/transfers.txt"

step "kernels tuned on this GPU: a convolution and a product, no candidate may be wrong"
rm -f "$out/tuned.jsonl"
limited "$eyeroof" tune "$here/../../examples/networks/resnet18-c1-c12.yaml" --layers 'C6$' --target gpu --trials 64 --log "$out/tuned.jsonl" || failed=1
limited "$eyeroof" tune "$here/../../examples/networks/six-products.yaml" --layers P1 --target gpu --trials 64 --log "$out/tuned.jsonl" || failed=1
if [ ! -s "$out/tuned.jsonl" ] || grep -qE '"error":"(wrong|crash|compile)"' "$out/tuned.jsonl"; then
    echo "a candidate of the GPU template failed: see $out/tuned.jsonl"
    failed=1
fi

if [ -n "$machine" ]; then
    step "predictions below the data sheet's and the measured roofs"
    "$eyeroof" exam resnet50 --batch 32 --on "$machine" --ceilings "$out/gpu.yaml" -o "$out/ceilings.txt" || failed=1
    "$eyeroof" roofline resnet50 --batch 32 --on "$machine" --ceilings "$out/gpu.yaml" -o "$out/ceilings.svg" || failed=1
fi

echo
[ "$failed" = 0 ] && echo "all agree; profiles in $out" || echo "NOT all well; see above and $out"
exit "$failed"
