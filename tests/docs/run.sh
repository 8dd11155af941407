#!/usr/bin/env bash
# Every command that README.md and docs/*.md show (in ```sh fences, and lines indented by four) is
# run, with samples of the files that they name, or stands in marked.txt with what it needs. Those of
# ```console fences are printed.py's, which also compares what they print.
# run.sh EYEROOF SOURCES
set -uo pipefail
eyeroof=$(realpath "$1")
sources=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
ln -s "$sources/profiles" profiles # recordings that the documents name
corpus=$sources/tests/fuzz/corpus/timeloop
cp "$corpus/conv.yaml" prob.yaml
cp "$corpus/tree_v03.yaml" arch.yaml
printf 'mapspace_constraints:\n  - {target: GLB, type: bypass, bypass: [Weights], keep: [Inputs, Outputs]}\n' >cstr.yaml
printf 'name,op,dtype,m,n,k\nfc,gemm,fp32,64,256,256\n' | tee layers.csv products.csv >/dev/null
printf 'name,op,m,n,k,gpu,measured_s\nfc,gemm,512,512,512,t4,3e-5\n' >measured.csv
for run in monday.jsonl friday.jsonl base.jsonl head.jsonl v100.json a100.json; do
    cp "$sources/tests/profiles/samples/kineto.json" "$run"
done
for trace in trace.json.gz before.json.gz after.json.gz; do # put together for tests
    cp "$sources/tests/profiles/samples/step.json" "$trace"
done
printf 'network,from,to,speedup\nresnet50,v100-sxm2-16gb,a100-sxm-40gb,1.9\n' >pairs.csv

# The model that fits what the line says of it.
model_for() {
    case $1 in
    *seq=*) cp "$sources/tests/data/onnx/bert_layer.onnx" model.onnx ;;
    *) cp "$sources/tests/data/onnx/resnet50.onnx" model.onnx ;;
    esac
}

commands() {
    awk 'FNR == 1 { fenced = 0; shell = 0; begun = "" }
        /^ *```/ { fenced = !fenced; shell = fenced && ($0 ~ /```(sh|bash)? *$/); next }
        (fenced && shell) || begun != "" || /^    eyeroof / {
            line = $0
            sub(/^ +/, "", line); sub(/^\$ /, "", line); sub(/[ \t]+# .*/, "", line)
            line = begun line; begun = ""
            if (line ~ /\\$/) { begun = substr(line, 1, length(line) - 1); next }
            if (line ~ /^eyeroof /) { printf "%s:%d\t%s\n", FILENAME, FNR, line }
        }' "$sources/README.md" "$sources"/docs/*.md "$sources"/docs/dev/*.md
}

# A line of marked.txt stands for all commands that begin with it.
is_marked() {
    local mark
    while read -r mark; do
        [[ $1 == "$mark"* ]] && return 0
    done < <(sed 's/ *#.*//' "$sources/tests/docs/marked.txt")
    return 1
}

# What makes a search of mappings short; all words of the line are read all the same.
shorter() {
    [ "${EYEROOF_DOCUMENTED:-}" = all ] && return # as it stands
    case $1 in
    *--mapping*) ;;
    'eyeroof map alexnet '*) echo --layers CONV5 ;;
    *' --cores '*--layers*) ;;
    *' --cores '*) echo --layers CONV3 ;;
    'eyeroof exam '*' --on '* | 'eyeroof sweep '*' --on '*) echo --mapping dataflow ;;
    esac
}

ran=0
marked=0
wrong=0
while IFS=$'\t' read -r place line; do
    if is_marked "$line"; then
        marked=$((marked + 1))
        continue
    fi
    model_for "$line"
    words=()
    eval "words=(${line#* } $(shorter "$line"))"
    timeout 300 "$eyeroof" "${words[@]}" >out 2>err </dev/null
    status=$?
    ran=$((ran + 1))
    # a condition that holds is an answer
    [ "$status" -eq 0 ] || { [ "$status" -eq 1 ] && [[ $line == *--fail-if* ]]; } || {
        echo "WRONG: ${place#"$sources"/}: $line: exit code $status: $(head -c 300 err)" >&2
        wrong=$((wrong + 1))
    }
done < <(commands)
echo "$ran commands run, $marked marked, $wrong wrong" >&2
[ "$wrong" -eq 0 ] && [ "$ran" -gt 10 ] && echo "1 passed, 0 failed, 0 skipped" || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
