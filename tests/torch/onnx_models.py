#!/usr/bin/env python3
"""MACs of exported ONNX files beside PyTorch's own count of the same models.

onnx_models.py EYEROOF [--only NAME,…] [--keep FOLDER] [--table FILE.md]

Models of torchvision and transformers with random weights, and small ones of torch.nn (recurrent, quantized, control
flow), each exported by one of PyTorch's two exporters at an opset from 7 to 21. The count beside them is
torch.utils.flop_counter's over an eager run (two FLOP a MAC), or written here as a formula where that counter does not
see the operator (recurrent layers, quantized products). Attention runs as plain products, which the counter sees.
Exits 1 where a count differs by more than 0.1 %, or where operators have no cost. Needs torch, torchvision,
transformers, onnx, onnxscript.
"""
import argparse
import contextlib
import gc
import io
import json
import math
import os
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
import torch
import torchvision
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

V = torchvision.models


def image(make, size=224, **options):
    return lambda: (make(weights=None, **options), (torch.rand(1, 3, size, size),))


def detector(make, size=320):
    return lambda: (make(weights=None, weights_backbone=None), ([torch.rand(3, size, size)],))


def video(make):
    return lambda: (make(weights=None), (torch.rand(1, 3, 8, 112, 112),))


class Logits(nn.Module):
    """The first tensor of what a transformers model answers."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *inputs):
        return self.model(*inputs, return_dict=False)[0]


def tokens(kind, config, length=64, vision=None, **sizes):
    def make():
        import transformers
        settings = getattr(transformers, config)(**sizes)
        settings._attn_implementation = "eager"
        settings.use_cache = False
        model = Logits(getattr(transformers, kind)(settings))
        if vision:
            return model, (torch.rand(1, 3, vision, vision),)
        return model, (torch.randint(0, 100, (1, length)),)
    return make


class Recurrent(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.layer = kind(256, 512, 2, **options)
        self.out = nn.Linear(512 * (2 if options.get("bidirectional") else 1), 100)

    def forward(self, x):
        return self.out(self.layer(x)[0])


def recurrent(kind, gates, **options):
    ways = 2 if options.get("bidirectional") else 1
    per_step = sum(ways * gates * 512 * (before + 512) for before in (256, 512 * ways)) + 512 * ways * 100
    return lambda: (Recurrent(kind, **options), (torch.rand(64, 1, 256),), 64 * per_step)


class Repeated(nn.Module):
    """A loop with a known trip count, which the exporter writes as Loop."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)

    def forward(self, x):
        for _ in range(5):
            x = torch.relu(self.layer(x))
        return x


class Branched(nn.Module):
    """A branch on data, both ways equally long, which the exporter writes as If."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)

    def forward(self, x):
        if bool(x.sum() > 0):
            y = self.layer(x)
        else:
            y = self.layer(-x)
        return y


def scripted(kind, macs):
    return lambda: (torch.jit.script(kind().eval()), (torch.rand(8, 64),), macs)


class Transposed(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Sequential(nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 3, 4, 2, 1))

    def forward(self, x):
        return self.up(x)


class Einsum(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(128, 128) for _ in range(3))

    def forward(self, x):
        q, k, v = (part(x).reshape(1, 64, 4, 32) for part in (self.q, self.k, self.v))
        weights = torch.softmax(torch.einsum("blhd,bmhd->bhlm", q, k) / 32**0.5, -1)
        return torch.einsum("bhlm,bmhd->blhd", weights, v)


def einsum_macs():
    return 3 * 64 * 128 * 128 + 2 * 4 * 64 * 64 * 32


D, S, O = V.detection, V.segmentation, V.optical_flow
SMALL = dict(hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=4, vocab_size=1000)
MODELS = {
    "alexnet": image(V.alexnet), "vgg16": image(V.vgg16), "resnet18": image(V.resnet18),
    "resnet50": image(V.resnet50), "resnext50": image(V.resnext50_32x4d), "wide_resnet50": image(V.wide_resnet50_2),
    "densenet121": image(V.densenet121), "googlenet": image(V.googlenet, aux_logits=False, init_weights=False),
    "inception_v3": image(V.inception_v3, 299, aux_logits=False, init_weights=False),
    "squeezenet1_1": image(V.squeezenet1_1), "mobilenet_v2": image(V.mobilenet_v2),
    "mobilenet_v3": image(V.mobilenet_v3_small), "mnasnet1_0": image(V.mnasnet1_0),
    "shufflenet_v2": image(V.shufflenet_v2_x1_0), "efficientnet_b0": image(V.efficientnet_b0),
    "efficientnet_v2_s": image(V.efficientnet_v2_s), "regnet_y_400mf": image(V.regnet_y_400mf),
    "convnext_tiny": image(V.convnext_tiny), "vit_b_16": image(V.vit_b_16), "swin_t": image(V.swin_t),
    "swin_v2_t": image(V.swin_v2_t), "maxvit_t": image(V.maxvit_t),
    "fcn_resnet50": image(S.fcn_resnet50, weights_backbone=None),
    "deeplabv3": image(S.deeplabv3_mobilenet_v3_large, weights_backbone=None),
    "lraspp": image(S.lraspp_mobilenet_v3_large, weights_backbone=None),
    "r3d_18": video(V.video.r3d_18), "r2plus1d_18": video(V.video.r2plus1d_18),
    "raft_small": lambda: (O.raft_small(weights=None), tuple(torch.rand(2, 1, 3, 224, 224) * 2 - 1)),
    "retinanet": detector(D.retinanet_resnet50_fpn), "ssd300": detector(D.ssd300_vgg16, 300),
    "ssdlite": detector(D.ssdlite320_mobilenet_v3_large), "fcos": detector(D.fcos_resnet50_fpn),
    "bert": tokens("BertModel", "BertConfig", **SMALL), "distilbert": tokens(
        "DistilBertModel", "DistilBertConfig", dim=256, hidden_dim=512, n_layers=2, n_heads=4, vocab_size=1000),
    "albert": tokens("AlbertModel", "AlbertConfig", embedding_size=64, **SMALL),
    "gpt2": tokens("GPT2LMHeadModel", "GPT2Config", n_embd=256, n_layer=2, n_head=4, vocab_size=1000),
    "opt": tokens("OPTForCausalLM", "OPTConfig", ffn_dim=512, word_embed_proj_dim=256, hidden_size=256,
                  num_hidden_layers=2, num_attention_heads=4, vocab_size=1000),
    "llama": tokens("LlamaForCausalLM", "LlamaConfig", num_key_value_heads=2, **SMALL),
    "qwen2": tokens("Qwen2ForCausalLM", "Qwen2Config", num_key_value_heads=2, **SMALL),
    "gemma": tokens("GemmaForCausalLM", "GemmaConfig", num_key_value_heads=1, head_dim=64, **SMALL),
    "t5_encoder": tokens("T5EncoderModel", "T5Config", d_model=256, d_ff=512, d_kv=64, num_layers=2, num_heads=4,
                         vocab_size=1000),
    "vit_hf": tokens("ViTModel", "ViTConfig", vision=224, hidden_size=192, num_hidden_layers=4, num_attention_heads=3,
                     intermediate_size=768),
    "segformer": tokens("SegformerForSemanticSegmentation", "SegformerConfig", vision=128),
    "mobilevit": tokens("MobileViTModel", "MobileViTConfig", vision=256),
    "lstm": recurrent(nn.LSTM, 4), "bilstm": recurrent(nn.LSTM, 4, bidirectional=True), "gru": recurrent(nn.GRU, 3),
    "loop": scripted(Repeated, 5 * 8 * 64 * 64), "if": scripted(Branched, 8 * 64 * 64),
    "transposed": lambda: (Transposed(), (torch.rand(1, 32, 16, 16),)),
    "einsum": lambda: (Einsum(), (torch.rand(1, 64, 128),), einsum_macs()),
}
# name, exporter, opset; "int8" quantizes the exported file's products dynamically
FILES = [
    ("alexnet", "script", 7), ("vgg16", "script", 8), ("resnet18", "script", 9), ("resnet18", "dynamo", 18),
    ("resnet18", "dynamo", 21), ("resnet50", "script", 10), ("resnet50", "dynamo", 18), ("resnext50", "script", 11),
    ("wide_resnet50", "script", 12), ("densenet121", "script", 11), ("googlenet", "script", 13),
    ("inception_v3", "script", 14), ("squeezenet1_1", "script", 9), ("squeezenet1_1", "dynamo", 20),
    ("mobilenet_v2", "script", 10), ("mobilenet_v2", "dynamo", 19), ("mobilenet_v3", "script", 14),
    ("mobilenet_v3", "dynamo", 18), ("mnasnet1_0", "script", 15), ("shufflenet_v2", "script", 16),
    ("shufflenet_v2", "dynamo", 18), ("efficientnet_b0", "script", 17), ("efficientnet_b0", "dynamo", 21),
    ("efficientnet_v2_s", "script", 17), ("regnet_y_400mf", "script", 18), ("convnext_tiny", "script", 17),
    ("convnext_tiny", "dynamo", 18), ("vit_b_16", "script", 17), ("swin_t", "script", 17), ("swin_v2_t", "script", 18),
    ("maxvit_t", "script", 18), ("fcn_resnet50", "script", 13), ("deeplabv3", "script", 16), ("lraspp", "script", 16),
    ("lraspp", "dynamo", 18), ("r3d_18", "script", 13), ("r2plus1d_18", "script", 13), ("raft_small", "script", 16),
    ("retinanet", "script", 18), ("ssd300", "script", 16), ("ssdlite", "script", 16), ("fcos", "script", 18),
    ("bert", "script", 18), ("bert", "dynamo", 18), ("distilbert", "script", 18), ("distilbert", "dynamo", 20),
    ("albert", "script", 18), ("gpt2", "dynamo", 18), ("opt", "dynamo", 18), ("llama", "dynamo", 18),
    ("llama", "dynamo", 21), ("qwen2", "dynamo", 18), ("gemma", "dynamo", 18), ("t5_encoder", "script", 18),
    ("t5_encoder", "dynamo", 18), ("vit_hf", "script", 18), ("vit_hf", "dynamo", 18), ("segformer", "script", 18),
    ("mobilevit", "script", 18), ("lstm", "script", 12), ("lstm", "script", 18), ("lstm", "script-int8", 18),
    ("bilstm", "script", 14), ("gru", "script", 17), ("loop", "script", 15), ("if", "script", 15),
    ("transposed", "script", 11), ("transposed", "dynamo", 18), ("einsum", "script", 17), ("einsum", "dynamo", 18),
]


def counted(model, inputs):
    """MACs of an eager run: products and convolutions, as PyTorch counts them."""
    with torch.no_grad(), FlopCounterMode(display=False) as count:
        model(*inputs)
    return count.get_total_flops() // 2


def export(model, inputs, exporter, opset, path):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), torch.no_grad():
        if exporter == "dynamo":
            torch.onnx.export(model, inputs, path, opset_version=opset, dynamo=True)
        else:
            torch.onnx.export(model, inputs, path, opset_version=opset, dynamo=False)
    if exporter == "script-int8":
        from onnxruntime.quantization import quantize_dynamic
        quantize_dynamic(path, path)


PRODUCTS = ("Conv", "ConvTranspose", "Gemm", "MatMul")
OTHER_PRODUCTS = ("Loop", "If", "Scan", "LSTM", "GRU", "RNN", "Einsum", "MatMulInteger", "DynamicQuantizeLSTM")


def counted_in_file(path, inputs):
    """MACs of the file's products and convolutions, by the sizes of the tensors that ONNX Runtime computes from the
    inputs; None where the file has products of other operators."""
    import onnx
    import onnxruntime
    model = onnx.load(path)
    if any(node.op_type in OTHER_PRODUCTS for node in model.graph.node):
        return None
    open_names = {value.name for value in model.graph.input}  # tensors that depend on the input, with what runs on them
    for node in model.graph.node:
        if open_names.intersection(node.input):
            open_names.update(node.output)
    nodes = [node for node in model.graph.node if node.op_type in PRODUCTS and open_names.intersection(node.input)]
    sizes = {tensor.name: list(tensor.dims) for tensor in model.graph.initializer}
    asked = sorted({name for node in nodes for name in (*node.input[:2], node.output[0]) if name not in sizes} -
                   {value.name for value in model.graph.input})
    known = {value.name for value in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in asked if name not in known)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    flat = [t for part in inputs for t in (part if isinstance(part, list) else [part])]
    feeds = {value.name: tensor.numpy() for value, tensor in zip(session.get_inputs(), flat)}
    sizes |= {name: list(tensor.shape) for name, tensor in feeds.items()}
    sizes |= dict(zip(asked, (list(tensor.shape) for tensor in session.run(asked, feeds))))
    macs = 0
    for node in nodes:
        a, b, out = sizes[node.input[0]], sizes[node.input[1]], sizes[node.output[0]]
        transposed = any(entry.name == "transA" and entry.i for entry in node.attribute)
        macs += (math.prod(out) * math.prod(b[1:]) if node.op_type == "Conv" else
                 math.prod(a) * math.prod(b[1:]) if node.op_type == "ConvTranspose" else
                 math.prod(out) * a[-2 if transposed else -1])
    return macs


def read(eyeroof, path):
    end = subprocess.run([eyeroof, "net", "show", path, "--format", "json"], capture_output=True, text=True, timeout=300)
    if end.returncode != 0:
        return None, (end.stderr.strip().splitlines() or ["no message"])[0]
    document = json.loads(end.stdout)
    return document["total"]["macs"], document["uncosted"]


def row(eyeroof, name, exporter, opset, folder):
    torch.manual_seed(0)
    model, inputs, *formula = MODELS[name]()
    model = model.eval()
    torch.backends.mha.set_fastpath_enabled(False)  # the counter sees plain products
    expected = formula[0] if formula else counted(model, inputs)
    path = os.path.join(folder, f"{name}-{exporter}-{opset}.onnx")
    try:
        export(model, inputs, exporter, opset, path)
    except Exception as error:  # the exporter's own limit: said, not judged
        return {"exported": str(error).strip().splitlines()[0][:100], "expected": expected}
    found, uncosted = read(eyeroof, path)
    return {"expected": expected, "found": found, "uncosted": uncosted, "in_file": counted_in_file(path, inputs)}


def verdict(result):
    if "exported" in result:
        return "not exported: " + result["exported"]
    if result["found"] is None:
        return "refused: " + result["uncosted"]
    if result["uncosted"]:
        return f"{len(result['uncosted'])} kinds of operators without cost"
    if result["found"] == result["expected"]:
        return "equal"
    if result["found"] == result["in_file"]:
        return "equal to the file's"
    return f"{100 * (result['found'] / result['expected'] - 1.0):+.3f} %"


def right(result):
    return verdict(result).startswith(("equal", "not exported"))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("eyeroof")
    arguments.add_argument("--only", help="names of models, comma-separated")
    arguments.add_argument("--keep", help="keep the files in this folder")
    arguments.add_argument("--table", help="write the table as Markdown")
    asked = arguments.parse_args()
    only = set(asked.only.split(",")) if asked.only else set(MODELS)
    lines = ["| Model | Exporter | Opset | MACs by PyTorch | in the file | by eyeroof | |", "|---|---|--:|--:|--:|--:|---|"]
    print(*lines, sep="\n", flush=True)
    wrong = files = missing = 0
    for name, exporter, opset in FILES:
        if name not in only:
            continue
        with tempfile.TemporaryDirectory() as temporary:
            result = row(asked.eyeroof, name, exporter, opset, asked.keep or temporary)
        counts = ["" if result.get(key) is None else format(result[key], ",") for key in ("expected", "in_file", "found")]
        lines.append(f"| {name} | {exporter} | {opset} | {' | '.join(counts)} | {verdict(result)} |")
        print(lines[-1], flush=True)
        missing += "exported" in result
        files += "exported" not in result
        wrong += not right(result)
        gc.collect()
    last = f"{files} files of {len({name for name, _, _ in FILES if name in only})} models, {wrong} wrong, " \
           f"{missing} that PyTorch does not export"
    print(last)
    if asked.table:
        with open(asked.table, "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n\n" + last + "\n")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
