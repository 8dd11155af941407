#!/usr/bin/env bash
# check_physical.sh BUILD [LAYERS]: what must hold of any predicted time, on 10^5 random layers of
# every GPU of the catalog (the unit tests take a sample of them).
set -euo pipefail
build=${1:?"the build folder"}
EYEROOF_RANDOM_LAYERS=${2:-100000} "$build/tests/test_hwdb" -tc="random layers*"
