"""What the package promises: the command line's figures, and errors that help."""

import doctest
import json
import subprocess
import sys
import threading
import time

import pytest

import eyeroof as er


def test_examples_in_the_texts_hold():
    import eyeroof.searching

    for module in (er, eyeroof._core, eyeroof.commands, eyeroof.exams, eyeroof.searching):
        failed, tried = doctest.testmod(module, extraglobs={"er": er})
        assert tried > 0 and failed == 0


def test_figures_are_those_of_the_command_line_digit_for_digit():
    for net, on, options in [("alexnet", "eyeriss-v1", {"batch": 4}),
                             ("resnet50", "npu-int8", {"mapping": "dataflow"}),
                             ("bert-base", "a100-sxm-40gb", {"dtype": "fp16"})]:
        flags = [text for key, value in options.items() for text in (f"--{key}", str(value))]
        printed = json.loads(er.command("exam", net, "--on", on, *flags, "--format", "json"))
        printed.pop("asked", None)  # the command line's own options
        assert er.exam(net, on=on, **options).data == printed


# Values of fields, each with machines of its kind; what the figures depend on.
ON_GPUS = {"phase": ["inference", "training"], "dtype": ["fp32", "fp16"], "batch": [8, 64],
           "launch": ["eager", "stream", "graph", "none"], "compiled": [True, False],
           "layout": ["channels-last", "channels-first"], "operators": ["all", "products"],
           "attention": ["written", "fused"], "host_speed": [0.5, 4], "streams": [1, 3],
           "copies": ["none", "batch", "all", "staged"], "library": ["cublas 10", "TRTLLM 1.0"],
           "set": [{"boost-clock": "x0.7"}], "layers": ["1"], "clocks": ["settled", "burst"]}
ON_ACCELERATORS = {"mapping": ["dataflow"], "batch": [64], "operators": ["all", "fused", "products"],
                   "set": [{"clock": "x2"}], "objective": ["latency", "edp"], "factors": ["any"]}


def test_random_scenarios_have_the_command_lines_figures():
    import random

    dice = random.Random(7)
    for _ in range(40):
        on = dice.choice(["v100-sxm2-16gb", "a100-sxm-40gb", "t4", "eyeriss-v1", "npu-int8", "simba"])
        fields = ON_GPUS if on[0] in "vat" else {**ON_ACCELERATORS}
        options = {name: dice.choice(values) for name, values in fields.items() if dice.random() < 0.3}
        options.setdefault("mapping", "dataflow")
        net = dice.choice(["alexnet", "resnet18", "mnist-cnn", "bert-base:layers=2"])
        flags = er._flags(options)
        try:
            printed = json.loads(er.command("exam", net, "--on", on, *flags, "--format", "json"))
        except er.Error:
            with pytest.raises(er.Error):
                er.exam(net, on=on, **options)
            continue
        printed.pop("asked", None)
        assert er.exam(net, on=on, **options).data == printed, (net, on, options)


def test_every_field_of_a_scenario_is_an_argument():
    exam = er.exam("resnet18", on="v100-sxm2-16gb", batch=8, phase="training", optimizer="adam",
                   dtype="fp16", compiled=True, launch="graph", set={"boost-clock": "1.2 GHz"})
    asked = exam.data["scenario"]
    assert (asked["batch"], asked["optimizer"], asked["launch"]) == (8, "adam", "graph")
    assert "training step with adam, batch 8, fp16" in exam.words
    assert exam.time_s > er.exam("resnet18", on="v100-sxm2-16gb", batch=8, dtype="fp16").time_s


def test_errors_are_exceptions_with_the_hint():
    with pytest.raises(er.Error, match="did you mean 'alexnet'"):
        er.exam("alexnett", on="eyeriss-v1")
    with pytest.raises(er.Error, match="unknown-parameter"):
        er.exam("alexnet", on="eyeriss-v1", set={"clok": "x2"})
    with pytest.raises(er.Error, match="is not a data type"):
        er.exam("alexnet", on="eyeriss-v1", dtype="fp17")
    with pytest.raises(TypeError):
        er.exam("alexnet", on="eyeriss-v1", colour="red")
    with pytest.raises(er.Error, match=r"none\.onnx.*file-not-found"):
        er.exam("none.onnx", on="t4")


def test_errors_tell_file_line_and_column(tmp_path):
    machine = er.command("hw", "show", "t4").replace("clocks: ", "clokcs: ", 1)
    path = tmp_path / "mine.yaml"
    path.write_text(machine)
    with pytest.raises(er.Error, match=r"mine\.yaml:\d+:\d+: error: .*clokcs"):
        er.exam("alexnet", on=str(path))


def test_names_of_no_network_are_value_errors():
    with pytest.raises(ValueError):  # what callers catch without knowing us
        er.network("no such network")


def test_a_notebook_shows_picture_and_table():
    html = er.exam("alexnet", on="eyeriss-v1")._repr_html_()
    assert "<svg" in html and "<td>CONV1</td>" in html
    assert er.roofline("alexnet", on="eyeriss-v1")._repr_svg_().startswith(("<svg", "<?xml"))


def test_a_table_for_pandas():
    pandas = pytest.importorskip("pandas")
    exam = er.exam("alexnet", on="eyeriss-v1")
    table = exam.to_pandas()
    assert isinstance(table, pandas.DataFrame) and len(table) == len(exam.layers)
    assert (table["time_s"] * table["count"]).sum() == pytest.approx(exam.time_s)


def test_map_upgrade_and_sweep_answer():
    mapped = er.map("alexnet", on="eyeriss-v1", layers="CONV3")
    assert mapped["layers"][0]["name"] == "CONV3"
    better = er.upgrade("resnet50", "v100-sxm2-16gb", "a100-sxm-40gb")
    assert better["speedup"]["value"] > 1
    rows = er.sweep("alexnet", on="eyeriss-v1", vary={"clock": "x1,x2", "batch": [1, 2]})
    assert len(rows) == 4
    assert rows[3]["time_s"] == er.exam("alexnet", on="eyeriss-v1", batch=2, set={"clock": "x2"},
                                        mapping="dataflow").time_s


def test_an_upgrade_of_a_service_has_the_digits_of_serve():
    asked = dict(prompt=2000, answer=300, tpot="50 ms", dtype="fp16")
    answer = er.upgrade("llama-3.1-8b", "a100-sxm-80gb", "h100-sxm-80gb", phase="serving",
                        from_per_hour=1.79, to_per_hour=3.99, **asked)
    now, then = answer["purchase"]["now"], answer["purchase"]["candidates"][0]
    for side, gpu, usd, watts in ((now, "a100-sxm-80gb", 1.79, 400), (then, "h100-sxm-80gb", 3.99, 700)):
        served = er.serve("llama-3.1-8b", on=gpu, tensor="1,2,4,8", **asked)
        rate = served["points"][served["best"]]["tokens_per_s_device"]
        assert side["server"]["tokens_per_s_device"] == rate
        assert side["usd_per_million_tokens"] == pytest.approx(usd / 3600 / rate * 1e6)
        assert side["joules_per_million_tokens"] == pytest.approx(watts * 1.4 / rate * 1e6)


def test_hugging_face_configurations_have_the_published_parameters(tmp_path):
    mixtral = {"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32,
               "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
               "vocab_size": 32000, "num_local_experts": 8, "num_experts_per_tok": 2}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(mixtral))
    assert er.from_hf(path).totals()["parameters"] == 46_702_792_704
    qwen = {"model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28,
            "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944,
            "vocab_size": 152064, "tie_word_embeddings": False}
    assert er.from_hf(qwen).totals()["parameters"] == 7_615_616_512
    bert = {"model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12,
            "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 30522,
            "max_position_embeddings": 512, "type_vocab_size": 2}
    assert er.from_hf(bert).totals()["parameters"] == 109_482_240
    wider = er.from_hf({**bert, "intermediate_size": 4096}).totals()["parameters"]
    assert wider == 109_482_240 + 12 * 1024 * (2 * 768 + 1)  # two matrices and a bias of each layer
    with pytest.raises(er.Error, match="known: "):
        er.from_hf({"model_type": "rwkv7"})
    with pytest.raises(er.Error, match="vocab_size"):
        er.from_hf({k: v for k, v in qwen.items() if k != "vocab_size"})


# What transformers counts without weights.
TODAY = {
    "gpt_oss": ({"num_hidden_layers": 24, "hidden_size": 2880, "intermediate_size": 2880, "head_dim": 64,
                 "num_attention_heads": 64, "num_key_value_heads": 8, "num_local_experts": 32,
                 "num_experts_per_tok": 4, "vocab_size": 201088, "sliding_window": 128}, 20_914_757_184),
    "glm4_moe": ({"num_hidden_layers": 46, "hidden_size": 4096, "intermediate_size": 10944,
                  "moe_intermediate_size": 1408, "head_dim": 128, "num_attention_heads": 96,
                  "num_key_value_heads": 8, "n_routed_experts": 128, "num_experts_per_tok": 8,
                  "n_shared_experts": 1, "first_k_dense_replace": 1, "vocab_size": 151552,
                  "attention_bias": True, "use_qk_norm": False}, 106_852_245_504),
    "deepseek_v3": ({"num_hidden_layers": 61, "hidden_size": 7168, "intermediate_size": 18432,
                     "moe_intermediate_size": 2048, "num_attention_heads": 64, "n_routed_experts": 384,
                     "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 1,
                     "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
                     "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 163840},
                    1_026_408_209_408),
    "gemma3_text": ({"num_hidden_layers": 62, "hidden_size": 5376, "intermediate_size": 21504,
                     "head_dim": 128, "num_attention_heads": 32, "num_key_value_heads": 16,
                     "vocab_size": 262208, "sliding_window": 1024}, 27_009_346_304),
    "llama4_text": ({"num_hidden_layers": 48, "hidden_size": 5120, "intermediate_size": 8192,
                     "intermediate_size_mlp": 16384, "head_dim": 128, "num_attention_heads": 40,
                     "num_key_value_heads": 8, "num_local_experts": 128, "num_experts_per_tok": 1,
                     "interleave_moe_layer_step": 2, "vocab_size": 202048}, 400_711_848_960),
    "mamba2": ({"num_hidden_layers": 64, "hidden_size": 2560, "num_heads": 80, "head_dim": 64, "state_size": 128,
                "n_groups": 1, "vocab_size": 50288, "tie_word_embeddings": True}, 2_702_599_680),
    "qwen3_next": ({"num_hidden_layers": 48, "hidden_size": 2048, "head_dim": 256,
                    "num_attention_heads": 16, "num_key_value_heads": 2, "linear_num_key_heads": 16,
                    "linear_num_value_heads": 32, "linear_key_head_dim": 128,
                    "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
                    "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
                    "num_experts": 512, "num_experts_per_tok": 10, "vocab_size": 151936},
                   79_674_391_296),
}


@pytest.mark.parametrize("kind", sorted(TODAY))
def test_configurations_of_today_have_the_parameters_that_their_library_counts(kind):
    config, parameters = TODAY[kind]
    net = er.from_hf({"model_type": kind, **config}, new=1)
    assert net.totals()["parameters"] == parameters
    wrapped = {"model_type": "outer", "text_config": {"model_type": kind, **config}}
    assert er.from_hf(wrapped, new=1).totals() == net.totals()  # as image models keep theirs


@pytest.mark.parametrize("kind", sorted(TODAY))
def test_configurations_of_today_agree_with_transformers(kind):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    config, parameters = TODAY[kind]
    made = transformers.AutoConfig.for_model(kind, **config)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(made)
    assert sum(p.numel() for p in model.parameters()) == parameters
    assert er.from_hf(made.to_dict()).totals() == er.from_hf({"model_type": kind, **config}).totals()


def test_torch_and_pandas_are_loaded_by_those_who_ask_alone():
    code = "import sys, eyeroof; print([m for m in ('torch', 'pandas', 'numpy') if m in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert told.stdout.strip() == "[]"


def test_other_threads_go_on_meanwhile():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    er.command("sweep", "alexnet", "--on", "npu-int8", "--vary", "axes.kernel=8:64:4",
               "--vary", "clock=100 MHz:1 GHz:10 MHz", "--threads", "1", "--mapping", "dataflow")
    done.set()
    thread.join()
    assert len(ticks) >= 3  # with the lock held there would be one at the begin and one at the end


def test_exams_and_measured_runs_are_compared(tmp_path):
    before = er.exam("alexnet", on="eyeriss-v1", batch=1)
    after = er.exam("alexnet", on="npu-int8", batch=1)
    exams = er.diff(before, after)
    assert exams["total"]["time_s"] == {
        "a": before.data["total"]["time_s"], "b": after.data["total"]["time_s"],
        "change": exams["total"]["time_s"]["change"]}
    for name, time_us in (("a.csv", 3), ("b.csv", 4)):
        (tmp_path / name).write_text(f"kernel,layer,time_us\ngemm,fc,{time_us}\n")
    runs = er.diff(tmp_path / "a.csv", tmp_path / "b.csv", by="kernel")
    assert runs["schema"] == "eyeroof/run-diff/1"
    assert runs["rows"][0]["time_s"]["change"] == pytest.approx(1 / 3)
