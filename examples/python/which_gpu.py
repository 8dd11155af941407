"""Which GPU: one model on several, in time, energy, and whether a newer one pays off.

    python which_gpu.py [NETWORK]
"""

import sys

import eyeroof as er

CANDIDATES = ["t4", "l4", "a10", "a100-sxm-40gb", "h100-sxm-80gb"]


def main(network: str = "bert-base") -> None:
    # 1. The same question of each GPU.
    print(f"{'GPU':<16}{'ms':>9}{'mJ':>9}{'fits':>6}  bound by")
    for gpu in CANDIDATES:
        exam = er.exam(network, on=gpu, batch=8, launch="graph")
        slowest = max(exam, key=lambda layer: layer["time_s"] * layer["count"])
        fits = er.memory(network, on=gpu, batch=8).fits
        print(f"{gpu:<16}{1e3 * exam.time_s:>9.3g}{1e3 * exam.energy_j:>9.3g}{'yes' if fits else 'no':>6}"
              f"  {slowest['limiter']}")

    # 2. Which of them are new enough to have the types of today?
    for gpu in CANDIDATES:
        types = [peak["data_type"] for peak in er.machine(gpu)["peaks"]]
        print(f"{gpu:<16}{' '.join(types)}")

    # 3. Does the newer one pay off?
    answer = er.upgrade(network, "a100-sxm-40gb", "h100-sxm-80gb")
    low, high = answer.interval
    print(f"A100 to H100: {answer.speedup:.2f}x ({low:.2f}x to {high:.2f}x): {answer.verdict}")


if __name__ == "__main__":
    main(*sys.argv[1:])
