"""examples/measurements/tracelens.py on rows by hand: what is equal, what differs with a reason, and
what differs without one."""

import importlib.util
import json
import pathlib

import pytest

PATH = pathlib.Path(__file__).resolve().parents[2] / "examples/measurements/tracelens.py"
HEAD = "name,Input Dims,operation_count,Kernel Time (µs)_sum,GFLOPS,Data Moved (MB)\n"


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("tracelens", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(script, folder, rows, table, timeline=""):
    document = {"trace": {"rows": rows, "device": {
        "computation_s": 2e-3, "exposed_communication_s": 0.0, "exposed_copies_s": 0.0, "idle_s": 1e-3,
        "total_s": 3e-3, "copies_s": 0.0, "communication_s": 0.0}}}
    (folder / "exam.json").write_text(json.dumps(document))
    (folder / "summary.csv").write_text(HEAD + table)
    given = [str(folder / "exam.json"), str(folder / "summary.csv")]
    if timeline:
        (folder / "timeline.csv").write_text("type,time ms\n" + timeline)
        given.append(str(folder / "timeline.csv"))
    return script.main(given)


def row(operator, dims, seconds, flops, moved):
    return {"operator": operator, "input_dims": dims, "measured_s": seconds, "flops": flops,
            "bytes": moved}


def test_equal_rows_pair_whatever_their_library_is_called(script, tmp_path, capsys):
    rows = [row("aten::cudnn_convolution", "[[2,3],[4,5],[]]", 2e-6, 6e9, 2 * 2 ** 20),
            row("copy::fill", "[[4]]", 1e-6, 0.0, 4.0)]
    table = 'aten::convolution,"((2, 3), (4, 5), (7,))",2,2.0,3.0,1.0\n'
    assert run(script, tmp_path, rows, table, "idle_time,1.0\nbusy_time,2.0\n") == 0
    said = capsys.readouterr().out
    assert "1 operators and shapes here, 1 there, 1 paired" in said
    assert said.count("1 equal") == 3 and said.count("  equal") == 2


def test_a_difference_has_its_reason_or_fails(script, tmp_path, capsys):
    rows = [row("aten::copy_", "[[8,8]]", 1e-6, 0.0, 2 ** 20)]
    table = 'aten::copy_,"((8, 8),)",1,1.0,1.0,1.0\n'
    assert run(script, tmp_path, rows, table) == 0
    assert "one operation an element there" in capsys.readouterr().out
    assert run(script, tmp_path, [{**rows[0], "measured_s": 2e-6}], table) == 1
    assert "not explained" in capsys.readouterr().out


def test_another_idle_time_fails(script, tmp_path, capsys):
    rows = [row("aten::mm", "[[8,8],[8,8]]", 1e-6, 1e9, 2 ** 20)]
    table = 'aten::mm,"((8, 8), (8, 8))",1,1.0,1.0,1.0\n'
    assert run(script, tmp_path, rows, table, "idle_time,1.5\n") == 1
    assert "different" in capsys.readouterr().out
