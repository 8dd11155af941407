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


@pytest.mark.parametrize("code", list(examples()))
def test_an_example_runs(code, capsys, tmp_path, monkeypatch):
    if "torch" in code:
        pytest.importorskip("torch", reason="PyTorch is not installed")
    if "to_pandas" in code:
        pytest.importorskip("pandas", reason="pandas is not installed")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "example", "exec"), {"__name__": "__main__"})
    if "print(" in code:
        assert capsys.readouterr().out.strip()


def test_there_are_examples():
    assert len(list(examples())) >= 2
