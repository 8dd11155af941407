"""The package's functions: typed keywords, objects as answers, and what notebooks and other processes do with them."""

import builtins
import copy
import importlib.util
import inspect
import pathlib
import pickle
import subprocess
import sys
import textwrap

import pytest

import eyeroof as er

SOURCES = pathlib.Path(__file__).resolve().parents[2]

# A call of every function that answers with a document, and a key of its answer.
CALLS = {
    "find_mapping": (lambda: er.find_mapping("alexnet", on="eyeriss-v1", layers="CONV3"), "layers"),
    "timeline": (lambda: er.timeline("resnet18", on="t4"), "operators"),
    "memory": (lambda: er.memory("resnet18", on="t4", phase="training"), "holders"),
    "improve": (lambda: er.improve("resnet18", on="t4"), "front"),
    "bound": (lambda: er.bound("alexnet", on="t4"), "gap"),
    "fuse": (lambda: er.fuse("alexnet", on="npu-int8"), "groups"),
    "upgrade": (lambda: er.upgrade("resnet18", "t4", "a10"), "layers"),
    "scale": (lambda: er.scale("gpt2-xl", on="a100-sxm-80gb", fabric="dgx-a100-hdr", devices="8"),
              "network"),
    "serve": (lambda: er.serve("llama-3-8b", on="a100-sxm-80gb"), "points"),
    "collective": (lambda: er.collective("all-reduce", "dgx-a100-hdr", devices=8), "schema"),
    "chip": (lambda: er.chip("alexnet", on="eyeriss-v1", layers="CONV1"), "parts"),
    "roofline": (lambda: er.roofline("alexnet", on="eyeriss-v1"), "points"),
}
ANSWERS = {}


def answer(name):
    if name not in ANSWERS:
        ANSWERS[name] = CALLS[name][0]()
    return ANSWERS[name]


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_command_is_a_function_whose_answer_has_rows_and_a_view(name):
    found = answer(name)
    assert CALLS[name][1] in found
    assert found.rows and all(isinstance(row, dict) for row in found.rows)
    view = found._repr_html_()
    assert view.count("<div") == view.count("</div>")
    assert repr(found).startswith("<" + type(found).__name__)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_answers_can_be_pickled_and_copied(name):
    found = answer(name)
    for other in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert type(other) is type(found) and other == found


@pytest.mark.parametrize("name", sorted(CALLS))
def test_answers_have_tables_and_plots(name):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    found = answer(name)
    table = found.to_pandas()
    assert isinstance(table, pandas.DataFrame) and len(table) == len(found.rows)
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    if found.BARS[0] or name == "roofline":
        drawn = found.plot()
        assert drawn.get_xlabel() and (drawn.patches or drawn.collections)
        drawn.figure.savefig("/dev/null", format="png")
    else:
        with pytest.raises(er.Error, match="no-plot"):
            found.plot()


def test_every_command_line_answer_is_the_functions():
    import json

    printed = json.loads(er.command("timeline", "resnet18", "--on", "t4", "--launch", "graph",
                                    "--format", "json"))
    asked = er.timeline("resnet18", on="t4", launch="graph")
    assert asked.time_s == printed["time_s"]
    assert {k: v for k, v in asked.items() if k != "asked"} == \
        {k: v for k, v in printed.items() if k != "asked"}


def test_exams_iterate_over_layers_and_survive_another_process():
    exam = er.exam("alexnet", on="eyeriss-v1", set={"clock": "x2"}, threads=1)
    assert [layer["name"] for layer in exam] == [layer["name"] for layer in exam.layers]
    assert len(exam) == len(exam.layers)
    for other in (pickle.loads(pickle.dumps(exam)), copy.copy(exam)):
        assert other.data == exam.data
    net = er.network("bert-base", seq=64)
    assert pickle.loads(pickle.dumps(net)).totals() == net.totals()
    own = er.exam(net, on="t4")
    assert pickle.loads(pickle.dumps(own)).time_s == own.time_s
    code = f"import pickle; print(pickle.loads({pickle.dumps(exam)!r}).time_s)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert float(said.stdout) == exam.time_s


def test_a_network_shows_its_layers_in_a_notebook():
    view = er.network("alexnet")._repr_html_()
    assert "<table" in view and "CONV1" in view and "MACs" in view
    own = er._eyeroof.parse_network(er.network("alexnet").yaml(), "own.yaml")
    assert "CONV1" in own._repr_html_()


def test_sweeps_have_typed_columns():
    rows = er.sweep("alexnet", on="eyeriss-v1", vary={"clock": ["x1", "x2"], "batch": [1, 4]})
    columns = rows.columns
    assert columns["batch"].typecode == "q" and list(columns["batch"]) == [1, 4, 1, 4]
    assert columns["time_s"].typecode == "d" and len(columns["time_s"]) == 4
    assert set(columns) == set(rows[0])


def test_sweeps_are_tables_that_can_be_drawn():
    rows = er.sweep("alexnet", on="eyeriss-v1", vary={"clock": ["x1", "x2"], "batch": [1, 4]})
    assert pickle.loads(pickle.dumps(rows)) == rows
    pytest.importorskip("pandas", reason="pandas is not installed")
    assert list(rows.to_pandas()["batch"]) == [1, 4, 1, 4]
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    assert rows.plot().get_xlabel() == "time_s"
    assert "<table" in rows._repr_html_()


def test_the_catalog_is_listed_with_names_that_other_functions_take():
    networks, machines = er.networks(), er.machines()
    assert "resnet50" in networks and "a100-sxm-40gb" in machines
    assert len(networks) > 100 and len(machines) > 100
    assert er.machine(machines.names[0])["id"] == machines.names[0]
    assert er.network(networks.names[0]).totals()["macs"] == networks[0]["macs"]
    assert "eyeriss-v1" in machines._repr_html_() or len(machines) > 40


def test_a_wrong_keyword_is_a_type_error_with_the_nearest():
    for call in (lambda: er.exam("alexnet", on="t4", btach=2), lambda: er.timeline("alexnet", on="t4", lauch="graph"),
                 lambda: er.sweep("alexnet", on="t4", vary={"batch": [1]}, mappign="best"),
                 lambda: er.upgrade("alexnet", "t4", "a10", powerprice=1)):
        with pytest.raises(TypeError, match="did you mean"):
            call()


def test_keywords_show_in_signatures_with_their_types():
    for name in [*CALLS, "exam", "sweep", "diff", "validate"]:
        function = getattr(er, name)
        parameters = inspect.signature(function).parameters
        assert not any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()), name
        assert function.__doc__ and function.__doc__.split("\n")[0].rstrip(".`")
    assert "Literal['eager'" in str(inspect.signature(er.timeline).parameters["launch"].annotation).replace('"', "'")


def test_answers_show_a_table_in_notebooks():
    answers = [er.collective("all-reduce", fabric="dgx-h100-ndr", devices=8),
               er.scale("resnet50", on="a100-sxm-40gb", devices="1,8", fabric="dgx-a100-hdr"),
               er.diff("alexnet@t4", "alexnet@a100-sxm-40gb"),
               er.sweep("alexnet", on="eyeriss-v1", vary={"dtype": ["int8", "int16"]})]
    for answer in answers:
        assert answer._repr_html_().count("<tr") > 1, type(answer)
    assert "AlexNet" in repr(answers[2])


def test_what_is_asked_wrong_is_said():
    with pytest.raises(er.Error, match="'time' is no figure of a sweep"):
        er.search("alexnet", "eyeriss-v1", {"batch": [1, 2]}, objectives=["time"])
    with pytest.raises(er.Error, match="the values of 'batch' are a list"):
        er.sweep("alexnet", on="eyeriss-v1", vary={"batch": 4})
    with pytest.raises(er.Error) as found:
        er.from_hf({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 32, "num_attention_heads": 4,
                    "vocab_size": 128})
    assert str(found.value).count("intermediate_size") <= 2


def test_no_public_name_shadows_a_builtin():
    assert not [name for name in er.__all__ if hasattr(builtins, name) and not name.startswith("_")]
    assert er.map is er.find_mapping  # the name before


def test_the_typed_options_have_every_field_of_a_scenario():
    fields = set(er._eyeroof.fields())
    assert fields <= set(er._options.Scenario.__annotations__) | {"sizes"}


def test_the_reference_is_what_the_package_says():
    spec = importlib.util.spec_from_file_location("make_reference", SOURCES / "python/make_reference.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    written = (SOURCES / "docs/python.md").read_text(encoding="utf-8")
    assert written.endswith("\n" + made.reference_text()), "run python python/make_reference.py"
    missing = [name for name in er.__all__ if inspect.isfunction(getattr(er, name)) and not getattr(er, name).__doc__]
    assert not missing


def checked(tmp_path, code):
    pytest.importorskip("mypy", reason="mypy is not installed")
    path = tmp_path / "uses.py"
    path.write_text(textwrap.dedent(code), encoding="utf-8")
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"),
                           str(path)], capture_output=True, text=True,
                          env={**__import__("os").environ, "MYPYPATH": str(pathlib.Path(er.__file__).parents[1])})


def test_mypy_accepts_right_calls_and_finds_wrong_names(tmp_path):
    good = checked(tmp_path, """
        import eyeroof as er

        exam: er.Exam = er.exam("resnet50", on="t4", batch=8, dtype="fp16", launch="graph", set={"clock": "x2"})
        seconds: float = exam.time_s + er.timeline("resnet50", on="t4").busy_s
        fits: bool = er.memory("resnet50", on="t4", phase="training").fits
        rows: er.Rows = er.sweep("alexnet", on="t4", vary={"batch": [1, 2]})
        sentence: str = er.upgrade("resnet50", "t4", ["a10", "l4"], buy=2000).sentence
        print(seconds, fits, rows.front("time_s"), sentence)
        """)
    assert good.returncode == 0, good.stdout
    for wrong, said in (("er.exam('a', on='t4').tim_s", 'has no attribute "tim_s"'),
                        ("er.exam('a', on='t4', bach=2)", 'Unexpected keyword argument "bach"'),
                        ("er.exam('a', on='t4', launch='fast')", 'has incompatible type'),
                        ("er.timeline('a', on='t4', batch='8')", 'has incompatible type'),
                        ("er.memory('a', on='t4').peak", 'has no attribute "peak"')):
        found = checked(tmp_path, f"import eyeroof as er\n{wrong}\n")
        assert found.returncode == 1 and said in found.stdout, (wrong, found.stdout)


def test_mypy_accepts_the_package_and_its_examples(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    files = [str(pathlib.Path(er.__file__).parent), *map(str, (SOURCES / "examples/python").glob("*.py"))]
    found = subprocess.run([sys.executable, "-m", "mypy", "--config-file", str(SOURCES / "pyproject.toml"),
                            "--cache-dir", str(tmp_path), *files], capture_output=True, text=True,
                           env={**__import__("os").environ, "MYPYPATH": str(pathlib.Path(er.__file__).parents[1])})
    assert found.returncode == 0, found.stdout


def test_a_profile_adds_modules_up_to_the_model():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = torch.nn.Linear(64, 256), torch.nn.Linear(256, 64)

        def forward(self, x):
            return x + self.down(torch.relu(self.up(x)))

    model = torch.nn.Sequential(Block(), Block(), torch.nn.Linear(64, 10)).eval()
    tree = er.profile(model, torch.rand(32, 64), on="t4")
    rows = {row["module"]: row for row in tree}
    assert list(rows) == ["", "0", "0.up", "0.down", "1", "1.up", "1.down", "2"]
    whole = rows[""]
    assert whole["share"] == pytest.approx(1.0)
    assert whole["time_s"] == pytest.approx(rows["0"]["time_s"] + rows["1"]["time_s"] + rows["2"]["time_s"])
    assert rows["0"]["time_s"] > rows["0.up"]["time_s"] + rows["0.down"]["time_s"]  # the relu and the sum
    assert whole["macs"] == 32 * (4 * 64 * 256 + 640)
    assert whole["parameters"] == sum(p.numel() for p in model.parameters())
    assert [row["kind"] for row in tree][:2] == ["Sequential", "Block"]
    assert all(row["bottleneck"] for row in tree)
    assert "0.up" not in str(tree) and "up (Linear)" in str(tree)
    assert "<table" in tree._repr_html_() and pickle.loads(pickle.dumps(tree)) == tree
    by_name = er.profile(model, {"input": torch.rand(32, 64)}, on="t4")
    assert by_name[0]["time_s"] == whole["time_s"]
    training = er.profile(model, torch.rand(32, 64), on="t4", phase="training")
    assert training[0]["time_s"] > whole["time_s"]


def test_a_captured_network_has_the_models_name():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    net = er.from_torch(torch.nn.Linear(4, 4), torch.rand(1, 4), name="mine")
    assert net.name == "mine" and net.id == "mine"
