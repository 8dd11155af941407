#!/usr/bin/env bash
# Is `eyeroof measure cpu` within 10 % of another tool's DRAM bandwidth, measured in the same run?
#   tests/bench/check_dram_bandwidth.sh [EYEROOF]
# The other tool is likwid-bench where it is installed, and a STREAM triad compiled here with OpenMP
# where a compiler is; each is run before and after eyeroof, and its better figure counts.
# Exit 0: within 10 %. 1: not. 77: there is nothing to compare with.
set -uo pipefail
eyeroof=${1:-build/dev/cli/eyeroof}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cpus=$(nproc)
# four times the last cache, as eyeroof takes
cache_kib=$(cat /sys/devices/system/cpu/cpu0/cache/index*/size 2>/dev/null | sed 's/K$//' | sort -n | tail -1)
elements=$(( (${cache_kib:-32768} * 4 > 65536 ? ${cache_kib:-32768} * 4 : 65536) * 1024 / 8 ))

cat > "$work/triad.c" <<'C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
    const size_t n = (size_t)atol(argv[1]);
    double *a = malloc(8 * n), *b = malloc(8 * n), *c = malloc(8 * n), best = 1e9;
    (void)argc;
#pragma omp parallel for
    for (size_t i = 0; i < n; i++) { a[i] = 1.0; b[i] = 2.0; c[i] = 3.0; }
    for (int trial = 0; trial < 20; trial++) {
        const double begin = omp_get_wtime();
#pragma omp parallel for
        for (size_t i = 0; i < n; i++) a[i] = b[i] + 3.0 * c[i];
        const double time = omp_get_wtime() - begin;
        best = time < best ? time : best;
    }
    printf("%.3f\n", 24e-9 * (double)n / best * (a[n / 2] == 11.0));
}
C
stream() { [ -x "$work/triad" ] && OMP_PROC_BIND=true "$work/triad" "$elements"; }
likwid() {
    command -v likwid-bench >/dev/null &&
        timeout 120 likwid-bench -t triad -w "N:$((elements * 4 / 1048576 * 8))MB:$cpus" 2>/dev/null |
        awk '/^MByte\/s:/ { printf "%.3f\n", $2 / 1000 }'
}
better() { printf '%s\n%s\n' "$1" "$2" | sort -g | tail -1; }

"${CC:-cc}" -O3 -march=native -fopenmp -o "$work/triad" "$work/triad.c" 2>/dev/null
echo "load before: $(cut -d' ' -f1-3 /proc/loadavg) on $cpus processors"
stream_gb=$(stream) likwid_gb=$(likwid)
"$eyeroof" measure cpu --no-layers --format yaml -o "$work/cpu.yaml" || exit 1
stream_gb=$(better "$stream_gb" "$(stream)") likwid_gb=$(better "$likwid_gb" "$(likwid)")
own_gb=$(awk '/name: "dram triad"/ { hit = 1 } hit && /value:/ { print $2; exit }' "$work/cpu.yaml")
read_gb=$(awk '/name: "dram read"/ { hit = 1 } hit && /value:/ { print $2; exit }' "$work/cpu.yaml")
echo "eyeroof: triad $own_gb GB/s, read $read_gb GB/s"
[ -n "$stream_gb$likwid_gb" ] || { echo "skipped: neither a compiler with OpenMP nor likwid-bench"; exit 77; }
failed=0
for pair in "STREAM triad:$stream_gb" "likwid-bench triad:$likwid_gb"; do
    [ -n "${pair#*:}" ] || continue
    awk -v own="$own_gb" -v other="${pair#*:}" -v name="${pair%%:*}" 'BEGIN {
        off = 100 * (own / other - 1); printf "%s: %.1f GB/s, eyeroof %+.1f %%\n", name, other, off
        exit off < -10 || off > 10 }' || failed=1
done
exit $failed
