"""The examples in examples/python run, and print what they promise."""

import importlib.util
import pathlib

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/python"
SAID = {"what_limits_my_model": ["whole model (TransformerEncoder)", "the GPU is busy for", "lower bound:"],
        "which_gpu": ["h100-sxm-80gb", "A100 to H100:"],
        "design_an_accelerator": ["18 designs", "on the front of time and PEs", "mm2"]}


def test_every_example_is_run():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SAID)


@pytest.mark.parametrize("name", sorted(SAID))
def test_an_example_prints_its_answers(name, capsys):
    if name == "what_limits_my_model":
        pytest.importorskip("torch", reason="PyTorch is not installed")
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main()
    printed = capsys.readouterr().out
    assert all(text in printed for text in SAID[name]), printed
