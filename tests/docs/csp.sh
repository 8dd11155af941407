#!/usr/bin/env bash
# The pages that eyeroof writes: each names a content security policy, and each inline script is
# allowed by its own hash there, so that a browser runs it and nothing else.
# csp.sh EYEROOF
set -uo pipefail
eyeroof=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$eyeroof" exam alexnet --on t4 --format html -o "$folder/exam.html"
"$eyeroof" roofline alexnet --on t4 -o "$folder/roofline.html"
"$eyeroof" upgrade resnet50 --from t4 --to l4 --format html -o "$folder/upgrade.html"
"$eyeroof" exam alexnet --on t4 --on l4 --format html -o "$folder/exams.html"
"$eyeroof" timeline alexnet --on t4 --format html -o "$folder/timeline.html"
"$eyeroof" scale resnet50 --on a100-sxm-80gb --fabric dgx-a100-hdr --devices 8,16 --format html \
    -o "$folder/scale.html"
"$eyeroof" bound alexnet --on t4 --format html -o "$folder/bound.html"
"$eyeroof" sweep alexnet --on npu-int8 --vary batch=1,2 -o "$folder/sweep.html"
"$eyeroof" validate --machines --on eyeriss-v1 -o "$folder/validate.html"
cat > "$folder/trace.json" <<'JSON'
{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H100 80GB HBM3","computeMajor":9,"computeMinor":0,
"numSms":132,"totalGlobalMem":85018279936}],"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::relu","pid":1,"tid":1,"ts":1000,"dur":10,
"args":{"Input Dims":[[4096,4096]],"Input type":["float"],"Concrete Inputs":[]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1005,"dur":2,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"relu</script><b>","pid":0,"tid":7,"ts":2000,"dur":50,
"args":{"correlation":1,"stream":7,"device":0,"grid":[8,1,1],"block":[128,1,1]}}]}
JSON
"$eyeroof" exam "$folder/trace.json" --format html -o "$folder/trace.html"
python3 - "$folder"/*.html <<'PY'
import base64, hashlib, re, sys

wrong = scripts = 0
for path in sys.argv[1:]:
    page = open(path, encoding="utf-8").read()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    if not policy or "default-src 'none'" not in policy[1]:
        wrong += 1
        print("WRONG:", path, "has no policy that forbids all else", file=sys.stderr)
        continue
    for script in re.findall(r"<script>(.*?)</script>", page, re.S):
        scripts += 1
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        if f"'sha256-{digest}'" not in policy[1]:
            wrong += 1
            print("WRONG:", path, "has a script that its policy does not allow:", digest, file=sys.stderr)
    if re.search(r"<[^>]*\son[a-z]+=", page) or "javascript:" in page:
        wrong += 1
        print("WRONG:", path, "has code outside of its script", file=sys.stderr)
if not scripts:
    wrong += 1
    print("WRONG: no page has a script", file=sys.stderr)
print(f"{len(sys.argv) - 1} pages, {scripts} scripts, {wrong} wrong", file=sys.stderr)
sys.exit(wrong != 0)
PY
if [ $? -eq 0 ]; then echo "1 passed, 0 failed, 0 skipped"; else echo "0 passed, 1 failed, 0 skipped"; exit 1; fi
