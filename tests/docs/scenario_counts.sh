#!/usr/bin/env bash
# What one scenario removed, counted in the history: the table of docs/dev/scenario.md.
# scenario_counts.sh [REVISION…]; without any, the three of the document.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
revisions=("$@")
[ $# -gt 0 ] || revisions=(451c145 d3fb26e~1 HEAD)

sources=(cli gui python study analysis report)
declared='add_(option|choice|flag)\('

# Lines that match an expression in sources without tests; of cli alone with a second argument.
matches() { git grep -hE "$2" "$1" -- "${@:3}" ':!tests' 2>/dev/null | wc -l; }
types() { matches "$1" "^(enum class|struct) ($2) ?(: |\{)" '*.hpp' '*.cpp'; }
lines() { git ls-tree -r --name-only "$1" "${@:2}" | grep -E '\.[ch]pp$' | while read -r f; do git show "$1:$f"; done | wc -l; }

row() {
    printf '| %s |' "$1"
    for revision in "${revisions[@]}"; do printf ' %s |' "$("$2" "$revision" "${@:3}")"; done
    printf '\n'
}
commands() { git show "$1:cli/commands.def" | grep -c '^EYEROOF_COMMAND'; }
option() { matches "$1" "\"--($2)[\",]" cli ':!cli/usage.cpp'; }
options() { matches "$1" "$declared" cli; }
casts() { matches "$1" 'static_cast<(model::|study::|step::)?(Launch|LaunchMode|Mode)>' '*.cpp' '*.hpp'; }
conversions() { matches "$1" '[^a-z_](with_batch|training_step)\(' "${sources[@]/%//*.cpp}"; }
askers() { types "$1" 'StudyOptions|StepOptions|StepInputs|OffloadOptions|SplitOptions'; }
launches() { matches "$1" '^enum class (Launch|LaunchMode|Mode) ?(: |\{)' '*.hpp' '*.cpp'; }
engines() { matches "$1" '(= |\? )run(_on)?\(' 'study/what_if/*.cpp' 'analysis/what_if/*.cpp'; }
each() { awk -v l="$(lines "$1" cli)" -v c="$(commands "$1")" 'BEGIN { printf "%.0f", l / c }'; }

printf '| counted |'
for revision in "${revisions[@]}"; do printf ' %s |' "${revision/HEAD/now}"; done
printf '\n|---|'
for _ in "${revisions[@]}"; do printf '%s' '--:|'; done
printf '\n'
row 'commands of `eyeroof`' commands
row 'options declared by commands' options
row '... of these `--batch`' option 'batch'
row '... `--launch`, `--mode`' option 'launch|mode'
row '... `--mapping`' option 'mapping'
row '... `--nodes`, `--search-nodes`' option 'nodes|search-nodes'
row '... `--layers`' option 'layers'
row '... `--phase`, `--optimizer`' option 'phase|optimizer'
row 'enums of how kernels are launched' launches
row 'conversions between them by ordinal' casts
row 'types that say what is asked, beside a scenario' askers
row 'places that set the batch of a network or add its gradients' conversions
row 'examinations of a changed machine, each written out' engines
row 'lines of the command line' lines cli
row '... for each command' each
