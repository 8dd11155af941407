"""What limits my model: module by module, what binds it, and what would make it faster.

    python what_limits_my_model.py [MACHINE]

Needs PyTorch. The model runs on meta tensors: no GPU, no memory, no time.
"""

import sys

import eyeroof as er


def main(machine: str = "a100-sxm-40gb") -> None:
    import torch

    model = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True), num_layers=4).eval()
    inputs = torch.rand(8, 256, 512)

    # 1. Where does the time go? A row for each module.
    tree = er.profile(model, inputs, on=machine)
    print(tree, end="\n\n")
    longest = tree.leaves()[0]
    print(f"longest module: {longest['module']}, bound by {longest['bottleneck']}")

    # 2. Is it the kernels, or the CPU that launches them?
    net = er.from_torch(model, inputs)
    step = er.timeline(net, on=machine)
    print(f"the GPU is busy for {100 * step.busy_s / step.time_s:.0f} % of {1e3 * step.time_s:.3g} ms")

    # 3. What would help?
    better = er.improve(net, on=machine)
    print(f"best: {', '.join(better.best['remedies'])}: {better.best['gain']:.2f}x")

    # 4. How far is it from what the hardware allows?
    bound = er.bound(net, on=machine)
    print(f"lower bound: {100 * bound.speed_of_light:.0f} % of the predicted time; "
          f"largest part above it: {bound.largest_part['part']}")


if __name__ == "__main__":
    main(*sys.argv[1:])
