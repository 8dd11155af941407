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


_KINDS: Dict[str, Tuple[str, Callable[[Config], Sizes]]] = {
    **{kind: ("llm", _gated)
       for kind in ("llama", "mistral", "mixtral", "phi3", "qwen2", "qwen3", "qwen3_moe")},
    "opt": ("gpt", _plain),
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
