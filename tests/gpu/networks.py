"""Times whole networks in PyTorch on this GPU, in both layouts, and traces one step of each.

    python3 tests/gpu/networks.py FOLDER [--seconds 120] [--modes]

Writes FOLDER/times.json (wall and device time of a step: medians) and one profiler trace per
network, phase, precision, and layout. --modes also times inference in fp16 weights: eager, as a
CUDA graph, and compiled (FOLDER/modes.json). Weights are random: only shapes matter here.
"""
import argparse
import gc
import json
import time

import torch
import torchvision
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile

DEVICE = "cuda"
LAYOUTS = {"nchw": torch.contiguous_format, "nhwc": torch.channels_last}


class Double(torch.nn.Sequential):
    def __init__(self, inputs, outputs):
        layers = []
        for channels in (inputs, outputs):
            layers += [torch.nn.Conv2d(channels, outputs, 3, padding=1, bias=False),
                       torch.nn.BatchNorm2d(outputs), torch.nn.ReLU(inplace=True)]
        super().__init__(*layers)


class UNet(torch.nn.Module):
    def __init__(self, inputs=3, classes=2, width=64):
        super().__init__()
        n = [width << i for i in range(5)]
        self.down = torch.nn.ModuleList([Double(inputs, n[0])] + [Double(n[i], n[i + 1]) for i in range(4)])
        self.pool = torch.nn.MaxPool2d(2)
        self.up = torch.nn.ModuleList([torch.nn.ConvTranspose2d(n[i + 1], n[i], 2, stride=2) for i in (3, 2, 1, 0)])
        self.merge = torch.nn.ModuleList([Double(2 * n[i], n[i]) for i in (3, 2, 1, 0)])
        self.head = torch.nn.Conv2d(n[0], classes, 1)

    def forward(self, x):
        skips = []
        for i, down in enumerate(self.down):
            x = down(x if i == 0 else self.pool(x))
            skips.append(x)
        for i, (up, merge) in enumerate(zip(self.up, self.merge)):
            x = merge(torch.cat([skips[3 - i], up(x)], 1))
        return self.head(x)


class SsdCore(torch.nn.Module):
    """Backbone and heads, without the matching of boxes, whose time depends on the labels."""

    def __init__(self):
        super().__init__()
        ssd = torchvision.models.detection.ssd300_vgg16(weights=None, weights_backbone=None, num_classes=91)
        self.backbone, self.head = ssd.backbone, ssd.head

    def forward(self, x):
        return self.head(list(self.backbone(x).values()))


def bert_large():
    from transformers import BertConfig, BertForMaskedLM
    return BertForMaskedLM(BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
                                      intermediate_size=4096))


def images(batch, size):
    return lambda: torch.randn(batch, 3, size, size, device=DEVICE)


def classify(batch):
    labels = torch.randint(0, 1000, (batch,))
    return lambda model, x: F.cross_entropy(model(x), labels.to(DEVICE))


def segment(model, x):
    return F.cross_entropy(model(x), torch.zeros(x.shape[0], *x.shape[2:], dtype=torch.long, device=DEVICE))


def detect(model, x):
    return sum(y.float().square().mean() for y in model(x).values())


def tokens():
    return torch.randint(0, 30522, (16, 384), device=DEVICE)


# name: model, input, loss, has layouts
NETWORKS = {
    "resnet50": (torchvision.models.resnet50, images(64, 224), classify(64), True),
    "unet": (UNet, images(8, 256), segment, True),
    "ssd300-vgg16": (SsdCore, images(32, 300), detect, True),
    "bert-large": (bert_large, tokens, lambda model, x: model(input_ids=x, labels=x).loss, False),
    "mobilenet-v2": (torchvision.models.mobilenet_v2, images(128, 224), classify(128), True),
    "vit-b-16": (torchvision.models.vit_b_16, images(64, 224), classify(64), False),
}


def step_of(model, x, loss, precision, phase):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda", enabled=precision == "fp16")

    def step():
        with torch.autocast("cuda", dtype=torch.float16, enabled=precision == "fp16"):
            if phase == "inference":
                with torch.no_grad():
                    return model(x)
            value = loss(model, x)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(value).backward()
        scaler.step(optimizer)
        scaler.update()
        return value

    return step


def timed(step):
    """Medians of at least 5 steps and 0.8 s: wall and device time in ms, and their number."""
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    wall, device, begin = [], [], time.time()
    while len(wall) < 5 or (time.time() - begin < 0.8 and len(wall) < 50):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        start = time.perf_counter()
        events[0].record()
        step()
        events[1].record()
        torch.cuda.synchronize()
        wall.append(1e3 * (time.perf_counter() - start))
        device.append(events[0].elapsed_time(events[1]))
    wall.sort()
    device.sort()
    return {"wall_ms": wall[len(wall) // 2], "device_ms": device[len(device) // 2], "fastest_ms": wall[0],
            "steps": len(wall)}


def measure(folder, name, precision, layout, phase):
    make, inputs, loss, _ = NETWORKS[name]
    model = make().to(DEVICE).train(phase == "training")
    x = inputs()
    if layout == "nhwc":
        model, x = model.to(memory_format=LAYOUTS[layout]), x.to(memory_format=LAYOUTS[layout])
    step = step_of(model, x, loss, precision, phase)
    row = {"network": name, "phase": phase, "precision": precision, "layout": layout, "batch": x.shape[0]}
    row.update(timed(step))
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as recorded:
        with torch.profiler.record_function("ProfilerStep#0"):
            step()
        torch.cuda.synchronize()
    recorded.export_chrome_trace(f"{folder}/{name}-{phase}-{precision}-{layout}.json.gz")
    row["peak_gb"] = torch.cuda.max_memory_allocated() / 1e9
    return row


def measure_mode(name, mode, layout):
    make, inputs, _, _ = NETWORKS[name]
    model, x = make().to(DEVICE).half().eval(), inputs()
    x = x.half() if x.is_floating_point() else x
    if layout == "nhwc":
        model, x = model.to(memory_format=LAYOUTS[layout]), x.to(memory_format=LAYOUTS[layout])
    with torch.no_grad():
        run = torch.compile(model) if mode == "compiled" else model
        step = lambda: run(x)
        if mode == "graph":
            with torch.cuda.stream(torch.cuda.Stream()):
                for _ in range(3):
                    model(x)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                model(x)
            step = graph.replay
        row = {"network": name, "phase": "inference", "precision": "fp16", "mode": mode, "layout": layout,
               "batch": x.shape[0]}
        return row | timed(step)


def layouts_of(name):
    return ("nchw", "nhwc") if NETWORKS[name][3] else ("nchw",)


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("folder")
    ask.add_argument("--seconds", type=float, default=120, help="begin nothing new after this time")
    ask.add_argument("--modes", action="store_true", help="inference as a CUDA graph and compiled, too")
    options = ask.parse_args()
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = True
    print(torch.cuda.get_device_name(), "torch", torch.__version__, "CUDA", torch.version.cuda, "cuDNN",
          torch.backends.cudnn.version(), flush=True)
    cases = [(name, precision, layout, phase) for precision in ("fp16", "tf32")
             for phase in ("training", "inference") for name in NETWORKS for layout in layouts_of(name)]
    modes = [(name, mode, layout) for mode in ("eager", "graph", "compiled") for name in NETWORKS
             for layout in layouts_of(name)] if options.modes else []
    end = time.time() + options.seconds
    for file, run, all_cases in (("times.json", lambda case: measure(options.folder, *case), cases),
                                 ("modes.json", lambda case: measure_mode(*case), modes)):
        rows = []
        for case in all_cases:
            if time.time() > end:
                print("left out, out of time:", *case)
                continue
            rows.append(run(case))
            print(json.dumps(rows[-1]), flush=True)
            with open(f"{options.folder}/{file}", "w") as out:
                json.dump(rows, out, indent=1)
            gc.collect()
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()


if __name__ == "__main__":
    main()
