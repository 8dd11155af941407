"""Every Python example in the documentation runs, and says what it says."""

import pathlib
import re

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2]


def examples():
    for path in sorted([DOCS / "README.md", *DOCS.glob("docs/**/*.md")]):
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"^```python\n(.*?)^```", text, re.M | re.S):
            line = text.count("\n", 0, match.start()) + 2
            yield pytest.param(match.group(1), id=f"{path.name}:{line}")


def reader_has(code):
    """What an example takes as the reader's own: a model with its inputs, and a loop that trains it."""
    if "torch" not in code:
        return {}
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    return {"model": model, "inputs": torch.rand(2, 8), "loader": [torch.rand(2, 8)] * 7,
            "train_step": lambda batch: model(batch).sum().backward()}


@pytest.mark.parametrize("code", list(examples()))
def test_an_example_runs(code, capsys, tmp_path, monkeypatch):
    own = reader_has(code)
    if "to_pandas" in code:
        pytest.importorskip("pandas", reason="pandas is not installed")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "example", "exec"), {"__name__": "__main__", **own})
    if "print(" in code:
        assert capsys.readouterr().out.strip()


def test_there_are_examples():
    assert len(list(examples())) >= 2


def test_the_page_of_networks_has_their_parameters_and_work():
    import eyeroof as er

    text = (DOCS / "docs/dev/networks.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(.*?)` \| ([\d,]+) \| ([\d,]+) \|", text, re.M)
    assert len(rows) > 50
    language = text.index("## Image networks")
    for name, parameters, macs in rows:
        token = {"new": 1} if text.index(f"| `{name}` |") < language else {}
        totals = er.network(name, **token).totals()
        assert (totals["parameters"], totals["macs"]) == \
            (int(parameters.replace(",", "")), int(macs.replace(",", ""))), name
