#!/usr/bin/env python3
"""Models of torchvision and transformers against three counts of their multiply-accumulates:
PyTorch's own FlopCounterMode, `er.from_torch`, and the ONNX file that torch.onnx.export writes.

    python zoo.py FOLDER [--only REGEX] [--door legacy|dynamo]

The models have no trained weights and the files hold none; FOLDER is made and keeps the files.
Prints a row a model; exits with 1 when one of them is more than 0.5 % off.
"""

import argparse
import contextlib
import io
import json
import pathlib
import re
import sys
import time
import warnings

import torch
from torch.utils.flop_counter import FlopCounterMode

import eyeroof as er

# GMACs as their authors or torchvision's documentation publish them.
PUBLISHED = {"resnet50": 4.089, "mobilenet_v2": 0.301, "efficientnet_b0": 0.386, "alexnet": 0.714,
             "vgg16": 15.47, "resnet18": 1.814, "inception_v3": 5.713, "vit_b_16": 17.565,
             "convnext_tiny": 4.456, "swin_t": 4.491, "densenet121": 2.834, "googlenet": 1.498}

VISION = ["alexnet", "vgg16", "resnet18", "resnet50", "resnext50_32x4d", "wide_resnet50_2",
          "densenet121", "googlenet", "inception_v3", "squeezenet1_1", "shufflenet_v2_x1_0",
          "mobilenet_v2", "mobilenet_v3_large", "mnasnet1_0", "efficientnet_b0", "efficientnet_v2_s",
          "regnet_y_400mf", "convnext_tiny", "vit_b_16", "swin_t", "maxvit_t", "fcn_resnet50",
          "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large", "r3d_18", "r2plus1d_18"]

# class, configuration class, changes to its defaults, inputs
WORDS = {"input_ids": (2, 48)}
IMAGE = {"pixel_values": (1, 3, 224, 224)}
SPOKEN = {"input_features": (1, 80, 3000)}
TRANSFORMERS = {
    "bert": ("BertModel", {"num_hidden_layers": 2}, WORDS),
    "distilbert": ("DistilBertModel", {"n_layers": 2}, WORDS),
    "roberta": ("RobertaModel", {"num_hidden_layers": 2}, WORDS),
    "albert": ("AlbertModel", {"num_hidden_layers": 2}, WORDS),
    "electra": ("ElectraModel", {"num_hidden_layers": 2}, WORDS),
    "mobilebert": ("MobileBertModel", {"num_hidden_layers": 2}, WORDS),
    "gpt2": ("GPT2Model", {"n_layer": 2}, WORDS),
    "gpt_neox": ("GPTNeoXModel", {"num_hidden_layers": 1, "hidden_size": 512,
                                  "num_attention_heads": 8, "intermediate_size": 2048}, WORDS),
    "opt": ("OPTModel", {"num_hidden_layers": 2}, WORDS),
    "llama": ("LlamaModel", {"num_hidden_layers": 2, "hidden_size": 512, "intermediate_size": 1376,
                             "num_attention_heads": 8, "num_key_value_heads": 2}, WORDS),
    "qwen2": ("Qwen2Model", {"num_hidden_layers": 2, "hidden_size": 512, "intermediate_size": 1376,
                             "num_attention_heads": 8, "num_key_value_heads": 2}, WORDS),
    "gemma": ("GemmaModel", {"num_hidden_layers": 2, "hidden_size": 512, "intermediate_size": 1376,
                             "num_attention_heads": 4, "num_key_value_heads": 1}, WORDS),
    "vit": ("ViTModel", {"num_hidden_layers": 2}, IMAGE),
    "deit": ("DeiTModel", {"num_hidden_layers": 2}, IMAGE),
    "beit": ("BeitModel", {"num_hidden_layers": 2}, IMAGE),
    "swin": ("SwinModel", {}, IMAGE),
    "convnextv2": ("ConvNextV2Model", {}, IMAGE),
    "segformer": ("SegformerModel", {}, IMAGE),
    "whisper": ("WhisperEncoder", {"encoder_layers": 2}, SPOKEN),
    "t5": ("T5EncoderModel", {"num_layers": 2}, WORDS),
}


def vision(name):
    import torchvision

    shape = {"inception_v3": (1, 3, 299, 299), "r3d_18": (1, 3, 8, 112, 112),
             "r2plus1d_18": (1, 3, 8, 112, 112)}.get(name, (1, 3, 224, 224))
    sizes = {"weights": None}
    if "fcn" in name or "deeplab" in name or "lraspp" in name:
        sizes["weights_backbone"] = None
    if name in ("googlenet", "inception_v3"):
        sizes.update(aux_logits=False, init_weights=False)
    if "regnet" in name:  # works out its widths with tensors
        model = torchvision.models.get_model(name, **sizes).eval().to("meta")
    else:
        with torch.device("meta"):
            model = torchvision.models.get_model(name, **sizes).eval()
    return model, {"x": torch.empty(shape, device="meta")}


def language(name):
    import transformers

    cls, changes, inputs = TRANSFORMERS[name]
    kind = getattr(transformers, cls, None)
    if kind is None:
        from transformers.models.whisper import modeling_whisper as module

        kind = getattr(module, cls)
    config = kind.config_class(**changes)
    config._attn_implementation = "eager"
    config.use_cache = False
    # Decoders look at numbers of their masks: they are made real, and small.
    where = "cpu" if name in ("gpt2", "gpt_neox", "llama", "qwen2", "gemma") else "meta"
    with torch.device(where):
        model = kind(config).eval()
    tensors = {key: torch.zeros(shape, device=where, dtype=torch.int64 if "ids" in key
                                else torch.float32) for key, shape in inputs.items()}
    return model, tensors


class Plain(torch.nn.Module):
    """Tensors in, all tensors out: what exporters want, and nothing is left out as unused."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *tensors):
        positional = self.names == ["x"]
        out = self.model(*tensors) if positional else self.model(
            **dict(zip(self.names, tensors)), return_dict=False)
        return tuple(flat(out))


def flat(out):
    if isinstance(out, torch.Tensor):
        return [out]
    parts = out.values() if isinstance(out, dict) else out if isinstance(out, (list, tuple)) else []
    return [tensor for part in parts for tensor in flat(part)]


def counted(model, tensors):
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        model(*tensors)
    return counter.get_total_flops() // 2


def exported(model, tensors, path, door):
    real = model.to_empty(device="cpu")
    for weights in real.parameters():  # no two alike: exporters would make one of them
        torch.nn.init.uniform_(weights)
    for buffer in real.buffers():  # positions and tables: any numbers will do
        buffer.zero_()
    given = tuple(torch.zeros(t.shape, dtype=t.dtype) for t in tensors)
    torch.backends.mha.set_fastpath_enabled(False)  # has no form in ONNX
    with warnings.catch_warnings(), torch.no_grad(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        if door == "legacy":
            # As it is, with its normalisations: folded into weights they would be another network.
            torch.onnx.export(real, given, str(path), dynamo=False, export_params=False,
                              opset_version=20, training=torch.onnx.TrainingMode.PRESERVE)
        else:
            program = torch.onnx.export(real, given, dynamo=True, verbose=False)
            program.save(str(path), external_data=True)
            path.with_name(path.name + ".data").unlink(missing_ok=True)


def row(name, door, folder):
    model, inputs = (vision if name in VISION else language)(name)
    plain, tensors = Plain(model, list(inputs)).eval(), list(inputs.values())
    answer = {"model": name, "door": door, "counter": counted(plain, tensors)}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        captured = er.from_torch(plain, *tensors, name=name)
    answer["not captured"] = [str(w.message) for w in told if "not costed" in str(w.message)]
    answer["captured"] = captured.totals()["macs"]
    path = folder / f"{name}.{door}.onnx"
    begin = time.time()
    exported(plain, tensors, path, door)
    answer["export_s"] = round(time.time() - begin, 1)
    code, _, warned = er._eyeroof.command(["net", "check", str(path)])
    answer["onnx says"] = warned.strip()
    graph = er.network(path)
    answer["onnx"] = graph.totals()["macs"]
    # The same exam: all operators' time on a GPU, and products alone on an accelerator.
    for key, machine, options in (("gpu", "a100-sxm-40gb", {}),
                                  ("chip", "npu-int8", {"operators": "products"})):
        times = [er.exam(net, on=machine, **options).time_s for net in (graph, captured)]
        answer[key + "_time_onnx_over_captured"] = times[0] / times[1]
    answer["steps"] = "ok" if not er._eyeroof.command(
        ["memory", str(path), "--on", "a100-sxm-40gb"])[0] in (2, 3) else "refused"
    return answer


def far(answer):
    whole = answer["counter"]
    known = PUBLISHED.get(answer["model"])
    return (abs(answer["onnx"] / whole - 1) > 0.005 or abs(answer["captured"] / whole - 1) > 0.005
            or (known is not None and abs(answer["onnx"] / (known * 1e9) - 1) > 0.005))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--door", choices=["legacy", "dynamo"], default="legacy")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    wrong = tried = 0
    for name in [*VISION, *TRANSFORMERS]:
        if not re.search(options.only, name):
            continue
        tried += 1
        try:
            answer = row(name, options.door, options.folder)
        except Exception as error:  # a model that cannot be exported is told and counts as wrong
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:200]}", flush=True)
            wrong += 1
            continue
        bad = far(answer)
        wrong += bad
        if options.json:
            print(json.dumps(answer), flush=True)
            continue
        print(f"{name:30} counter {answer['counter']:>15,} onnx {answer['onnx']:>15,} captured "
              f"{answer['captured']:>15,}  exam gpu x{answer['gpu_time_onnx_over_captured']:.4f} "
              f"chip x{answer['chip_time_onnx_over_captured']:.4f} steps {answer['steps']}"
              f"{'  FAR' if bad else ''}", flush=True)
        for text in (*answer["not captured"], answer["onnx says"]):
            if text:
                print("    " + text.replace("\n", "\n    "), flush=True)
    print(f"{tried - wrong} passed, {wrong} failed")
    return 1 if wrong or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
