#!/usr/bin/env python3
"""Throughput of ResNet-50 and BERT-large on V100 and A100: predictions, beside published figures.

throughput_table.py EYEROOF [--data FOLDER] writes Markdown. Every prediction is one run of `eyeroof exam`.
FOLDER holds calib3_aitemplate_network.csv.gz (ResNet-50, facebookincubator/AITemplate),
calib_neusight_network.csv.gz (BERT-large, sitar-lab/NeuSight) and calib_dle_v100_a100_pairs.csv.gz (trainings of
SSD and U-Net, NVIDIA/DeepLearningExamples); without it there is only the first table.
"""
import argparse
import csv
import gzip
import json
import os
import re
import subprocess

MACHINES = {"V100": "v100-sxm2-32gb", "A100": "a100-sxm-40gb"}
NETWORKS = {"ResNet-50": ("resnet50", 64), "BERT-large": ("bert-large:seq=512", 8)}
PRECISIONS = {"fp32": "fp32", "TF32": "tf32", "mixed": "fp16"}
WAYS = {"eager": [], "graph": ["--launch", "graph"], "compiled": ["--compiled"]}
PHASES = {"inference": [], "training": ["--phase", "training"]}
LAYOUTS = ("channels-first", "channels-last")


def exam(eyeroof, network, machine, batch, options):
    """The JSON answer of one exam; None where the machine does not compute it.

    A batch of None is that of the network's own parameter ("ssd300-resnet50:batch=32")."""
    given = [] if batch is None else ["--batch", str(batch)]
    given += [] if "--compiled" in options else ["--attention", "written"]  # as the published runs
    answer = subprocess.run([eyeroof, "exam", network, "--on", machine, *given, *options, "--format", "json"],
                            capture_output=True, text=True, check=False)
    return json.loads(answer.stdout) if answer.stdout else None


def three_digits(value):
    return f"{float(f'{value:.3g}'):.15g}"


def rate(answer):
    """Samples a second, and whether the step does not fit into the GPU's memory."""
    if answer is None:
        return "-"
    memory = answer.get("memory", {})
    text = three_digits(answer["batch"] / answer["total"]["time_s"])
    return text if memory.get("fits", True) else f"{text} (does not fit)"


def predictions(eyeroof):
    columns = [f"{gpu} {way}" for gpu in MACHINES for way in WAYS]
    lines = ["| network | batch | phase | precision | layout | " + " | ".join(columns) + " |",
             "|---|--:|---|---|---|" + "--:|" * len(columns)]
    for name, (network, batch) in NETWORKS.items():
        layouts = LAYOUTS if name == "ResNet-50" else (None,)  # BERT has no convolution
        for phase, of_phase in PHASES.items():
            for precision, dtype in PRECISIONS.items():
                for layout in layouts:
                    given = [*of_phase, "--dtype", dtype, *(["--layout", layout] if layout else [])]
                    cells = [rate(exam(eyeroof, network, machine, batch, given + way))
                             for machine in MACHINES.values() for way in WAYS.values()]
                    lines.append(f"| {name} | {batch} | {phase} | {precision} | {layout or '-'} | "
                                 + " | ".join(cells) + " |")
    return lines


def rows(folder, name):
    with gzip.open(os.path.join(folder, name), "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def published(folder):
    """(network, machine, batch, options, what was run, samples a second, source)."""
    for row in rows(folder, "calib3_aitemplate_network.csv.gz"):
        batch = re.fullmatch(r"Batch size=(\d+)", row["key"])
        if batch and "A100-40GB" in row["heading"] and row["metric"] == "PT QPS (im/s)":
            yield ("resnet50", "a100-sxm-40gb", int(batch[1]), ["--dtype", "fp16"],
                   "ResNet-50, fp16, PyTorch eager", float(row["value"]), row["source"])
    gpus = {"NVIDIA_A100-PCIE-40GB": "a100-pcie-40gb", "Tesla_V100-PCIE-32GB": "v100-pcie-32gb"}
    for row in rows(folder, "calib_neusight_network.csv.gz"):
        if row["network"] == "bert_large" and row["gpu"] in gpus:
            batch = int(row["batch"])
            yield (f"bert-large:seq={row['seqlen']}", gpus[row["gpu"]], batch, ["--dtype", "fp32"],
                   f"BERT-large, {row['seqlen']} tokens, fp32, PyTorch eager",
                   1e3 * batch / float(row["e2e_ms"]), row["source"])


def comparisons(eyeroof, folder):
    lines = ["| published run (inference) | GPU | batch | published, 1/s | predicted, 1/s | 80 % interval | error "
             "| source |", "|---|---|--:|--:|--:|---|--:|---|"]
    errors, within = [], 0
    for network, machine, batch, options, what, value, source in published(folder):
        total = exam(eyeroof, network, machine, batch, options)["total"]
        now, low, high = (batch / total[key] for key in ("time_s", "high_s", "low_s"))
        errors.append(abs(now / value - 1))
        within += low <= value <= high
        lines.append(f"| {what} | {machine} | {batch} | {three_digits(value)} | {three_digits(now)} | "
                     f"{three_digits(low)} to {three_digits(high)} | {100 * (now / value - 1):+.0f} % | {source} |")
    mean = 100 * sum(errors) / len(errors)
    return lines + ["", f"Mean absolute error {mean:.0f} %; {within} of {len(errors)} within the interval."]


TRAINED = {"PyTorch/Detection/SSD/README.md": ("SSD300, PyTorch", "ssd300-resnet50"),
           "TensorFlow/Segmentation/UNet_Industrial/README.md": ("U-Net industrial, TensorFlow", "unet-industrial"),
           "TensorFlow2/Segmentation/UNet_Medical/README.md": ("U-Net medical, TensorFlow 2", "unet-medical")}
SIDES = {"V100-16GB": "v100-sxm2-16gb", "V100-32GB": "v100-sxm2-32gb", "A100-40GB": "a100-sxm-40gb",
         "A100-80GB": "a100-sxm-80gb"}


def trainings(folder, evidence):
    """(what was run, network, machine, samples a GPU, type, samples a second and GPU, source), each once."""
    found = {}
    for row in rows(folder, "calib_dle_v100_a100_pairs.csv.gz"):
        if row["phase"] != "train" or row["gpus"] != "1" or row["file"] not in TRAINED:
            continue
        name, network = TRAINED[row["file"]]
        for side in ("v100", "a100"):
            machine = SIDES[row[f"{side}_gpu"]]
            dtype = "fp16" if row["precision"] == "mixed" else "tf32" if side == "a100" else "fp32"
            key = (name, network, machine, int(row[f"{side}_batch"]), dtype)
            found[key] = (float(row[f"{side}_throughput"]), "NVIDIA/DeepLearningExamples")
    if evidence:
        for row in rows(evidence, "published_pairs.csv.gz"):
            if row["network"] == "resnet" and row["phase"] == "train" and row["old"].startswith("a100"):
                gpus = int(row["gpus"])
                key = ("ResNet-50, MXNet, one of several GPUs", "resnet50", row["old"],
                       int(row["old_batch"]) // gpus, "fp16")
                found[key] = (float(row["old_value"]) / gpus, row["source"])
    return [(*key, *value) for key, value in sorted(found.items())]


def trained(eyeroof, folder, evidence):
    lines = ["| training, eager | GPU | batch | type | published, 1/s | channels-first, 1/s | 80 % interval | "
             "channels-last, 1/s | 80 % interval | source |", "|---|---|--:|---|--:|--:|---|--:|---|---|"]
    errors, within, count = {layout: [] for layout in LAYOUTS}, dict.fromkeys(LAYOUTS, 0), 0
    for what, network, machine, batch, dtype, value, source in trainings(folder, evidence):
        cells = []
        for layout in LAYOUTS:
            sized = network == "resnet50"
            answer = exam(eyeroof, network if sized else f"{network}:batch={batch}", machine,
                          batch if sized else None, [*PHASES["training"], "--dtype", dtype, "--layout", layout])
            if answer is None:
                raise SystemExit(f"no answer for {network} on {machine} in {dtype}, batch {batch}")
            now, low, high = (batch / answer["total"][key] for key in ("time_s", "high_s", "low_s"))
            errors[layout].append(now / value - 1)
            within[layout] += low <= value <= high
            cells += [f"{three_digits(now)} ({100 * (now / value - 1):+.0f} %)",
                      f"{three_digits(low)} to {three_digits(high)}"]
        count += 1
        lines.append(f"| {what} | {machine} | {batch} | {dtype} | {three_digits(value)} | {' | '.join(cells)} | "
                     f"{source} |")
    for layout in LAYOUTS:
        mean = 100 * sum(abs(error) for error in errors[layout]) / count
        lines += ["", f"With {layout}: mean absolute error {mean:.0f} %; {within[layout]} of {count} within the "
                  "interval."]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("eyeroof", help="the program")
    parser.add_argument("--data", help="folder with the published tables")
    parser.add_argument("--evidence", help="folder with published_pairs.csv.gz (MLPerf's submissions)")
    parser.add_argument("--only-training", action="store_true", help="print the table of trainings alone")
    options = parser.parse_args()
    if options.only_training:
        print("\n".join(trained(options.eyeroof, options.data, options.evidence)))
        return
    print("Samples a second, predicted:\n")
    print("\n".join(predictions(options.eyeroof)))
    if options.data:
        print("\nBeside published throughput:\n")
        print("\n".join(comparisons(options.eyeroof, options.data)))
        print("\nTraining beside published throughput:\n")
        print("\n".join(trained(options.eyeroof, options.data, options.evidence)))


if __name__ == "__main__":
    main()
