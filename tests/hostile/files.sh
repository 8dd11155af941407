# Makes the hostile files that arguments.txt names in the folder $1; sourced by run.py.
F=$1
put() { printf '%b' "$2" >"$F/$1"; }
conv='name,op,n,c,h,w,k,r,s,pad\n'

# tables of layers
put one.csv 'name,op,m,n,k\na,gemm,64,64,64\n'
put semicolons.csv 'name;op;m;n;k\na;gemm;64;64;64\n'
put tabs.csv 'name\top\tm\tn\tk\na\tgemm\t64\t64\t64\n'
put mixed.csv 'name,op;m,n,k\na;gemm,64,64;64\n'
put rows.csv 'name,op,m,n,k,gpu,measured_s\na,gemm,64,64,64,t4,1e-5\n'
put empty.csv ''
put blank.csv '\n\n   \n'
head -c 4096 /dev/zero >"$F/zeros.csv"
printf '\x7fELF\x01\x02\x03\xff\xfe' >"$F/binary.csv"
put latin.csv 'name,op,m,n,k\n\xe9,gemm,1,1,1\n'
put head.csv 'name,op,m,n,k\n'
put short.csv "${conv}a,conv2d,1\n"
put long.csv 'name,op,m,n,k\na,gemm,1,1,1,1,1,1\n'
put twice.csv 'name,op,m,m,k\na,gemm,1,1,1\n'
put nan.csv 'name,op,m,n,k\na,gemm,nan,1,1\n'
put negative.csv 'name,op,m,n,k\na,gemm,-1,1,1\n'
put huge.csv 'name,op,m,n,k\na,gemm,99999999999999999999,1,1\n'
put quote.csv 'name,op,m,n,k\n"a,gemm,1,1,1\n'
put op.csv 'name,op,m,n,k\na,gem,1,1,1\n'
put type.csv 'name,op,dtype,m,n,k\na,gemm,float99,1,1,1\n'
put groups.csv 'name,op,n,c,h,w,k,r,s,pad,groups\na,conv2d,1,3,8,8,4,3,3,1,2\n'
put filter.csv "${conv}a,conv2d,1,3,8,8,4,9,9,0\n"
put name.csv 'op,m,n,k\nbogus\n'

# descriptions
put list.yaml '[1, 2]\n'
put scalar.yaml 'word\n'
printf '%*s' 20000 '' | tr ' ' '[' >"$F/deep.yaml"
put alias.yaml 'a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c, *c]\n'
put cycle.yaml 'a: &a\n  b: *a\n'
put tab.yaml 'a:\n\tb: 1\n'
put twice.yaml 'name: a\nname: b\n'
put tag.yaml '!!python/object:os.system {}\n'
put kind.yaml 'kind: toaster\n'
put clock.yaml 'kind: gpu\nname: x\nsms: 1\nboost_clock: 1e300 GHz\n'
put open.yaml 'levels: {a: [b\n'
put net_loop.yaml 'eyeroof: network/1\nparameters: {a: $b, b: $a}\nlayers: [{name: x, op: gemm, m: $a, n: 1, k: 1}]\n'
put net_expr.yaml 'eyeroof: network/1\nlayers: [{name: x, op: gemm, m: 1/0, n: ((((, k: 1}]\n'
put net_zero.yaml 'eyeroof: network/1\nlayers: []\n'
put net_big.yaml 'eyeroof: network/1\nlayers: [{name: x, op: gemm, count: 9223372036854775807, m: 9, n: 9, k: 9}]\n'
lay='layers:\n  - {name: a, op: gemm, m: 8, n: 8, k: 8}\n  - {name: b, op: gemm, m: 8, n: 8, k: 8}\n'
put step_cycle.yaml "${lay}graph:\n  - {run: a, reads: y, as: x}\n  - {run: b, reads: x, as: y}\n"
put step_dangling.yaml "${lay}graph:\n  - {run: a, reads: input, as: x}\n  - {run: b, reads: input, as: y}\n"
put step_unknown.yaml "${lay}graph:\n  - {run: a, reads: inptu, as: x}\n  - {run: b, reads: x}\n"
put step_late.yaml "${lay}graph:\n  - {run: b, reads: x, as: y}\n  - {run: a, reads: input, as: x}\n"
put step_shape.yaml "${lay}  - {name: c, op: gemm, m: 8, n: 8, k: 9}\ngraph:\n  - {run: [a, b, c], reads: input}\n"
put step_count.yaml "${lay}graph:\n  - {run: a, reads: input}\n"
put step_layer.yaml "${lay}graph:\n  - {run: [a, bb], reads: input}\n"
put step_repeat.yaml "${lay}graph:\n  - {repeat: -3, steps: [{run: [a, b], reads: input}]}\n"
put step_empty.yaml "${lay}graph: []\n"
put session_bad.yaml 'eyeroof: session/1\nmachines: 7\n'

# profiles, traces, tables of measurements
head='{"eyeroof_profile":1,"run":{"tool":"t"}}\n'
put half.jsonl '{"eyeroof_profile":1,"ru'
put version.jsonl '{"eyeroof_profile":99}\n'
put index.jsonl "${head}{\"launch\":{\"kernel\":7}}\n{\"end\":true}\n"
put nan.jsonl "${head}{\"launch\":{\"ns\":NaN}}\n"
put broken.json '{"traceEvents":[{"ph":"X",}]}'
put open.json '{"traceEvents":['
printf '%*s' 100000 '' | tr ' ' '[' >"$F/bomb.json"
put text.csv 'some text\nand more\n'
put ncu_short.csv '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value","Host Name"\n"0","k"\n'
put not.sqlite 'SQLite format 3\0and then nothing'
printf '\x1f\x8b\x08\0\0\0\0\0\0\0garbage' >"$F/broken.gz"
put pairs_bad.csv 'network,from,to,speedup\nresnet50,t4,l4,-1\n'
put broken.onnx '\x08\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01'
put empty.onnx ''

# a step, densities, sparse machines, answers
net='eyeroof: network/1\nlayers: [{name: a, op: gemm, m: 4, n: 4, k: 4}, {name: b, op: gemm, m: 4, n: 4, k: 4}]\n'
put graph_cycle.yaml "${net}graph: [{run: a, reads: y, as: x}, {run: b, reads: x, as: y}]\n"
put graph_unknown.yaml "${net}graph: [{run: a, reads: input, as: x}, {run: b, reads: nobody}]\n"
put graph_self.yaml "${net}graph: [{run: a, reads: x, as: x}]\n"
put graph_repeat.yaml "${net}graph: [{repeat: 999999999999, steps: [{run: [a, b], reads: input, as: x}]}]\n"
put densities_bad.yaml 'eyeroof: densities/1\nname: x\nlayers: [{name: CONV1, weight: 2, output: nan}]\n'
put densities_twice.yaml 'eyeroof: densities/1\nname: x\nlayers: [{name: CONV1, weight: 1}, {name: CONV1, weight: 1}]\n'
put sparse_bad.yaml 'eyeroof: sparse-machine/1\nkind: none\nname: x\n'
put sparse_zero.yaml 'eyeroof: sparse-machine/1\nkind: columns\nname: x\nclock: 0\npes: -1\nweights_at_once: 1e99\nqueue: 0\n'
put exam_bad.json '{"schema":"eyeroof/exam/1","layers":[{}]}'
put exam_nan.json '{"schema":"eyeroof/exam/1","total":{"time_s":1e999},"layers":[{"name":7}]}'

# machines deeper than any that was built
deep() { # NAME LEVELS
    "$eyeroof" hw show systolic:32x32 --format yaml | awk -v levels="$2" '
        /^id:/ {print "id: deep"; next}
        /^  - name: buffer/ {for (i = 0; i < levels; i++)
            printf "  - name: L%d\n    stores:\n      - operands: all\n        capacity: %d KiB\n        energy: 6 pJ\n", i, 4096 - i}
        {print}' >"$F/$1"
}
deep deep12.yaml 12
deep deep60.yaml 60
deep deep2000.yaml 2000

# pipes that nobody writes, named by a session
mkfifo "$F/pipe"
put session_pipes.yaml 'eyeroof: session/1\nnetwork: alexnet\nmachines: [t4, ./pipe]\nprofiles: [pipe]\nceilings: [pipe]\n'
# a name that is not UTF-8, which every document repeats
put $'gemm\xff.csv' 'name,op,m,n,k\nfc,gemm,8,64,64\n'
