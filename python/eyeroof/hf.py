"""Networks of Hugging Face configurations, without a download: config.json says all that counts."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, List, Mapping, Tuple, Union

from . import _eyeroof
from ._core import AnyPath
from ._eyeroof import Error, Network

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


def _gemma3(config: Config) -> Sizes:
    layers = config["num_hidden_layers"]
    kinds = config.get("layer_types")
    every = config.get("sliding_window_pattern") or config.get("_sliding_window_pattern") or 6
    far = kinds.count("full_attention") if kinds else layers // every
    return {**_gemma({**config, "model_type": "gemma"}), "qk_norm": 1, "windowed": layers - far,
            "window": config["sliding_window"]}


# Layers that see a window only, and the window.
def _windows(config: Config, kind: str, window: int) -> Sizes:
    kinds = config.get("layer_types") or []
    return {"windowed": kinds.count(kind), "window": window or 1}


def _gpt_oss(config: Config) -> Sizes:
    layers = config["num_hidden_layers"]
    windows = _windows(config, "sliding_attention", config["sliding_window"])
    return {**_experts(config), "dense": 0, "inner": config["intermediate_size"],
            "expert_inner": config["intermediate_size"], "experts": config["num_local_experts"],
            "shared": 0, "biases": 2, "qk_norm": 0, "sinks": 1, "corrected": 0,
            **(windows if config.get("layer_types") else {**windows, "windowed": layers // 2})}


def _glm4_moe(config: Config) -> Sizes:
    return {**_experts(config), "dense": config["first_k_dense_replace"],
            "inner": config["intermediate_size"], "expert_inner": config["moe_intermediate_size"],
            "experts": config["n_routed_experts"], "shared": config.get("n_shared_experts") or 0,
            "biases": int(bool(config.get("attention_bias", False))),
            "qk_norm": int(bool(config.get("use_qk_norm", False))), "sinks": 0, "corrected": 1,
            "windowed": 0}


def _llama4(config: Config) -> Sizes:
    layers, step = config["num_hidden_layers"], config.get("interleave_moe_layer_step", 1)
    near = [n for n in range(layers) if (n + 1) % 4]  # the others see all tokens
    return {**_experts(config), "dense": layers - layers // step, "inner": config["intermediate_size_mlp"],
            "expert_inner": config["intermediate_size"], "experts": config["num_local_experts"],
            "shared": 1, "biases": 0, "qk_norm": 0, "sinks": 0, "corrected": 0,
            "windowed": len(near), "window": config.get("attention_chunk_size") or 8192}


def _experts(config: Config) -> Sizes:
    _equal(bool(config.get("tie_word_embeddings", False)), False, "tie_word_embeddings")
    heads = config["num_attention_heads"]
    return {"layers": config["num_hidden_layers"], "hidden": config["hidden_size"], "heads": heads,
            "kv": config["num_key_value_heads"],
            "size": config.get("head_dim") or config["hidden_size"] // heads,
            "active": config["num_experts_per_tok"], "vocabulary": config["vocab_size"]}


def _latent(config: Config) -> Sizes:
    if not config.get("q_lora_rank"):
        raise Error("queries that are not made from a latent are not known [unsupported]")
    return {"layers": config["num_hidden_layers"], "dense": config["first_k_dense_replace"],
            "hidden": config["hidden_size"], "heads": config["num_attention_heads"],
            "query_rank": config["q_lora_rank"], "latent": config["kv_lora_rank"],
            "plain": config["qk_nope_head_dim"], "rotary": config["qk_rope_head_dim"],
            "value": config["v_head_dim"], "inner": config["intermediate_size"],
            "expert_inner": config["moe_intermediate_size"], "experts": config["n_routed_experts"],
            "active": config["num_experts_per_tok"], "shared": config.get("n_shared_experts") or 0,
            "vocabulary": config["vocab_size"]}


def _mamba2(config: Config) -> Sizes:
    _equal(config.get("expand", 2), 2, "expand")
    _equal(bool(config.get("tie_word_embeddings", True)), True, "tie_word_embeddings")
    return {"layers": config["num_hidden_layers"], "hidden": config["hidden_size"],
            "size": config["head_dim"], "state": config["state_size"],
            "groups": config["n_groups"], "taps": config.get("conv_kernel", 4),
            "chunk": config.get("chunk_size", 256), "vocabulary": config["vocab_size"]}


def _qwen3_next(config: Config) -> Sizes:
    _equal(config["num_hidden_layers"] % 4, 0, "num_hidden_layers % 4")
    _equal(config["linear_value_head_dim"], config["linear_key_head_dim"], "linear_value_head_dim")
    _equal(config["shared_expert_intermediate_size"], config["moe_intermediate_size"],
           "shared_expert_intermediate_size")
    size = config["head_dim"]
    return {"blocks": config["num_hidden_layers"] // 4, "hidden": config["hidden_size"],
            "heads": config["num_attention_heads"], "kv": config["num_key_value_heads"], "size": size,
            "rotary": int(size * config.get("partial_rotary_factor", 0.25)),
            "keys": config["linear_num_key_heads"], "values": config["linear_num_value_heads"],
            "state": config["linear_key_head_dim"], "taps": config["linear_conv_kernel_dim"],
            "expert_inner": config["moe_intermediate_size"], "experts": config["num_experts"],
            "active": config["num_experts_per_tok"], "vocabulary": config["vocab_size"]}


def _vit(config: Config) -> Sizes:
    _equal(config["intermediate_size"], 4 * config["hidden_size"], "intermediate_size")
    return {"image": config["image_size"], "patch": config["patch_size"],
            "layers": config["num_hidden_layers"], "hidden": config["hidden_size"],
            "heads": config["num_attention_heads"]}


def _whisper(config: Config) -> Sizes:
    hidden = config["d_model"]
    for key in ("encoder_ffn_dim", "decoder_ffn_dim"):
        _equal(config[key], 4 * hidden, key)
    _equal(config["decoder_layers"], config["encoder_layers"], "decoder_layers")
    return {"layers": config["encoder_layers"], "hidden": hidden,
            "heads": config["encoder_attention_heads"], "mels": config["num_mel_bins"],
            "vocabulary": config["vocab_size"]}


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
    "gemma3_text": ("gemma", _gemma3),
    "gpt_oss": ("moe", _gpt_oss),
    "glm4_moe": ("moe", _glm4_moe),
    "llama4_text": ("moe", _llama4),
    "deepseek_v3": ("deepseek", _latent),
    "kimi_k2": ("deepseek", _latent),
    "mamba2": ("mamba2", _mamba2),
    "qwen3_next": ("qwen3-next", _qwen3_next),
    "bert": ("bert", _bert),
    "t5": ("t5", _t5),
    "vit": ("vit", _vit),
    "whisper": ("whisper", _whisper),
}

# What would make another network of it: refused, not passed over.
_REFUSED: Dict[str, Any] = {"use_sliding_window": True, "mlp_bias": True}


def from_hf(config: Union[AnyPath, Config], **sizes: int) -> Network:
    """A network with the sizes of a configuration; further sizes are the network's own parameters.

    >>> from eyeroof import from_hf
    >>> net = from_hf({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
    ...                "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
    ...                "intermediate_size": 14336}, new=1, context=2047)
    >>> net.totals()["parameters"]
    8030261248
    """
    if isinstance(config, Mapping):
        given_config: Config = config
    else:
        with open(config, encoding="utf-8") as file:
            given_config = json.load(file)
    inner = given_config.get("text_config")
    config = inner if isinstance(inner, Mapping) and "num_hidden_layers" not in given_config else given_config
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
