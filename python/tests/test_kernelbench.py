"""The script of examples/kernelbench on a folder of two programs; skipped where PyTorch is missing."""

import csv
import importlib.util
import os

import pytest

import eyeroof as er

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

PROGRAM = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return {body}

def get_inputs():
    return [torch.randn(16, 1024)]

def get_init_inputs():
    return []
"""


def script():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "../../examples/kernelbench/kernelbench.py")
    spec = importlib.util.spec_from_file_location("kernelbench", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_folder_of_programs_becomes_a_table_a_page_and_rows(tmp_path, monkeypatch, capsys):
    level = tmp_path / "programs" / "level1"
    level.mkdir(parents=True)
    (level / "19_ReLU.py").write_text(PROGRAM.format(body="torch.relu(x)"))
    (level / "30_Softsign.py").write_text(PROGRAM.format(body="x / (1 + torch.abs(x))"))
    (level / "2_Chain.py").write_text(PROGRAM.format(body="torch.relu(x).tanh().exp()"))
    (level / "3_Data.py").write_text(PROGRAM.format(body="x * x.sum().item()"))
    (level / "4_Unknown.py").write_text(PROGRAM.format(body="torch.linalg.inv(x @ x.t())"))
    rows = [("19_ReLU.py", 0.0116), ("30_Softsign.py", 0.0228), ("2_Chain.py", 0.023),
            ("3_Data.py", 0.02), ("4_Unknown.py", 1.0)]
    with open(tmp_path / "times.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["level", "program", "machine", "gpu", "mode", "mean_ms"])
        for program, ms in rows:
            writer.writerow(["level1", program, "mine", "h100-sxm-80gb", "eager", ms])
    page, table = tmp_path / "page.html", tmp_path / "rows.csv"
    monkeypatch.setattr("sys.argv", ["kernelbench", str(tmp_path), "--page", str(page), "--rows",
                                     str(table), "--probe", "level1/19_ReLU.py"])
    assert script().main() == 1  # one program has an operator without a cost
    said = capsys.readouterr()
    assert "5 of 5 programs captured" in said.out and "4 fully costed" in said.out
    assert "linalg_inv" in said.err
    with open(table, newline="") as file:
        written = {row["program"]: row for row in csv.DictReader(file)}
    assert written["level1/19_ReLU.py"]["probe"] == "True"
    chain = written["level1/2_Chain.py"]
    assert float(chain["predicted_ms"]) == pytest.approx(0.023, rel=0.35)
    assert all(0 < float(row["bound_ms"]) < float(row["measured_ms"]) for row in written.values())
    assert "2_Chain" in page.read_text()


def test_a_program_that_updates_statistics_is_not_captured_as_a_graph():
    kernelbench = script()
    with torch.device("meta"):
        norm, x = torch.nn.BatchNorm2d(8), torch.empty(4, 8, 16, 16)
    updating = er.from_torch(norm, x, evaluation=False)
    plain = er.from_torch(torch.nn.ReLU(), x)
    skipped = kernelbench.fields_of(updating, "compile_cudagraphs", 0.8)
    assert "launch" not in skipped and skipped["host_speed"] == 0.8 / kernelbench.INTERPRETED
    assert kernelbench.fields_of(plain, "compile_cudagraphs")["launch"] == "graph"
    reduced = kernelbench.fields_of(updating, "compile_inductor_reduce-overhead", 0.8)
    assert reduced["launch"] == "graph" and reduced["host_speed"] == 0.8


def test_programs_are_sorted_into_families_by_their_longest_kind_of_kernel():
    kernelbench = script()
    with torch.device("meta"):
        conv, x = torch.nn.Conv3d(4, 8, 3), torch.empty(2, 4, 8, 16, 16)
        up, y = torch.nn.ConvTranspose2d(8, 8, 3), torch.empty(2, 8, 16, 16)
    for model, inputs, family in ((conv, x, "convolution 3-D"), (up, y, "transposed convolution"),
                                  (torch.nn.Softmax(1), y, "softmax")):
        net = er.from_torch(model, inputs)
        assert kernelbench.family_in(net, er.exam(net, on="t4")) == family
