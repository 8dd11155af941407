"""Networks of Hugging Face configurations, without a download: config.json says all that counts."""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Dict, List, Mapping, Tuple, Union

from . import Error, Network, _eyeroof

Config = Mapping[str, Any]
Sizes = Dict[str, int]


def _gated(config: Config) -> Sizes:
    heads = config["num_attention_heads"]
    hidden = config["hidden_size"]
    kind = config["model_type"]
    experts = config.get("num_local_experts") or config.get("num_experts") or 1
    return {
        "layers": config["num_hidden_layers"],
        "hidden": hidden,
        "heads": heads,
        "kv": config.get("num_key_value_heads") or heads,
        "size": config.get("head_dim") or hidden // heads,
        "inner": config.get("moe_intermediate_size", config["intermediate_size"])
        if experts > 1 else config["intermediate_size"],
        "vocabulary": config["vocab_size"],
        "tied": int(bool(config.get("tie_word_embeddings", False))),
        "bias": int(kind == "qwen2" or bool(config.get("attention_bias", False))),
        "qk_norm": int(kind in ("qwen3", "qwen3_moe")),
        "experts": experts,
        "active": config.get("num_experts_per_tok", 1) if experts > 1 else 1,
    }


def _plain(config: Config) -> Sizes:
    positions = config.get("max_position_embeddings", config.get("n_positions", 2048))
    return {
        "layers": config["num_hidden_layers"],
        "hidden": config["hidden_size"],
        "heads": config["num_attention_heads"],
        "vocabulary": config["vocab_size"],
        "positions": positions + (2 if config["model_type"] == "opt" else 0),
    }


def _gpt2(config: Config) -> Sizes:
    hidden = config["n_embd"]
    _equal(config.get("n_inner") or 4 * hidden, 4 * hidden, "n_inner")
    return {"layers": config["n_layer"], "hidden": hidden, "heads": config["n_head"],
            "vocabulary": config["vocab_size"], "positions": config["n_positions"]}


def _gemma(config: Config) -> Sizes:
    second = config["model_type"] == "gemma2"
    sizes = {
        "layers": config["num_hidden_layers"],
        "hidden": config["hidden_size"],
        "heads": config["num_attention_heads"],
        "kv": config["num_key_value_heads"],
        "size": config["head_dim"],
        "inner": config["intermediate_size"],
        "vocabulary": config["vocab_size"],
    }
    if second:  # every other layer sees a window
        sizes.update(cap=1, windowed=config["num_hidden_layers"] // 2,
                     window=config["sliding_window"])
    return sizes


def _bert(config: Config) -> Sizes:
    hidden = config["hidden_size"]
    _equal(config["intermediate_size"], 4 * hidden, "intermediate_size")
    _equal(config["max_position_embeddings"], 512, "max_position_embeddings")
    _equal(config["type_vocab_size"], 2, "type_vocab_size")
    return {"layers": config["num_hidden_layers"], "hidden": hidden,
            "heads": config["num_attention_heads"], "vocabulary": config["vocab_size"]}


def _t5(config: Config) -> Sizes:
    _equal(config.get("feed_forward_proj", "relu"), "relu", "feed_forward_proj")
    _equal(config.get("num_decoder_layers") or config["num_layers"], config["num_layers"],
           "num_decoder_layers")
    return {"layers": config["num_layers"], "hidden": config["d_model"],
            "heads": config["num_heads"], "size": config["d_kv"], "inner": config["d_ff"],
            "vocabulary": config["vocab_size"]}


def _equal(value: Any, only: Any, key: str) -> None:
    if value != only:
        raise Error(f"{key} = {value} is not known, {only} is [unsupported]")


_KINDS: Dict[str, Tuple[str, Callable[[Config], Sizes]]] = {
    **{kind: ("llm", _gated)
       for kind in ("llama", "mistral", "mixtral", "phi3", "qwen2", "qwen3", "qwen3_moe")},
    "opt": ("gpt", _plain),
    "gpt2": ("gpt", _gpt2),
    "gemma": ("gemma", _gemma),
    "gemma2": ("gemma", _gemma),
    "bert": ("bert", _bert),
    "t5": ("t5", _t5),
}

# What would make another network of it: refused, not passed over.
_REFUSED: Dict[str, Any] = {"use_sliding_window": True, "mlp_bias": True}


def from_hf(config: Union[str, os.PathLike, Config], **sizes: int) -> Network:
    """A network with the sizes of a configuration; further sizes are the network's own parameters.

    >>> from eyeroof import from_hf
    >>> net = from_hf({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
    ...                "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
    ...                "intermediate_size": 14336}, new=1, context=2047)
    >>> net.totals()["parameters"]
    8030261248
    """
    if not isinstance(config, Mapping):
        with open(config, encoding="utf-8") as file:
            config = json.load(file)
    kind = config.get("model_type")
    if kind not in _KINDS:
        raise Error(f"configurations of model type {kind!r} are not known [unsupported]\n"
                    f"  hint: known: {', '.join(sorted(_KINDS))}")
    for key, value in _REFUSED.items():
        if config.get(key) == value:
            raise Error(f"{key} = {value} is not known [unsupported]")
    name, read = _KINDS[kind]
    try:
        given = read(config)
    except KeyError as missing:
        raise Error(f"the configuration has no {missing} [missing-key]") from None
    given.update(sizes)
    texts: List[str] = [f"{key}={value}" for key, value in given.items()]
    return _eyeroof.network(name, texts)
