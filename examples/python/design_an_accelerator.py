"""Design an accelerator: sizes of the array and the memory, the front of time and PEs, and the chip.

    python design_an_accelerator.py [NETWORK]
"""

import sys

import eyeroof as er


def main(network: str = "resnet18") -> None:
    machine = "npu-int8"

    # 1. What binds the machine as it is?
    exam = er.exam(network, on=machine, mapping="dataflow")
    print(exam)
    print("bound by", max(exam, key=lambda layer: layer["time_s"] * layer["count"])["limiter"])

    # 2. A grid of designs, each with its dataflow's own mapping.
    rows = er.sweep(network, on=machine, mapping="dataflow",
                    vary={"axes.kernel": [16, 32, 64], "axes.channel": [16, 32, 64],
                          "dram-link-bandwidth": ["x1", "x2"]})
    for row in rows:
        row["pes"] = row["axis_kernel"] * row["axis_channel"]
    front = rows.front("time_s", "pes")
    print(f"{len(rows)} designs, {len(front)} on the front of time and PEs:")
    for row in sorted(front, key=lambda row: int(row["pes"])):
        print(f"  {row['axis_kernel']:>2} x {row['axis_channel']:<2} PEs: {1e3 * row['time_s']:.3g} ms, "
              f"{1e3 * row['energy_j']:.3g} mJ, {100 * row['utilization']:.0f} % utilization")

    # 3. Are the dataflow's mappings good? The search proves what is best for one layer.
    layer = max(exam, key=lambda layer: layer["time_s"])["name"]
    found = er.find_mapping(network, on=machine, layers=f"^{layer}$")
    print(f"{layer}: {found.rows[0]['gain_over_dataflow']:.2f}x over the dataflow's own mapping")

    # 4. Area and power.
    chip = er.chip(network, on="eyeriss-v1", layers=f"^{layer}$")
    print(f"for comparison, Eyeriss v1: {chip.area_mm2:.3g} mm2")


if __name__ == "__main__":
    main(*sys.argv[1:])
