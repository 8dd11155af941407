#!/usr/bin/env bash
# The worked examples of CONTRIBUTING apply to these sources; run.py also builds and tests them.
# applies.sh SOURCES
cd "$1" || exit 1
command -v git >/dev/null || { echo "skipped: no git"; exit 77; }
failed=0
for patch in tests/contributing/*.patch; do
    git apply --check "$patch" || { echo "WRONG: $patch does not apply"; failed=$((failed + 1)); }
done
echo "$(($(ls tests/contributing/*.patch | wc -l) - failed)) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
