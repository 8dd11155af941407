"""Searches against the whole grid, tables for others, and sweeps on a cluster."""

import random

import pytest

import eyeroof as er
from eyeroof import parts, searching

SPACE = {"axes.kernel": [16, 32, 48, 64], "axes.channel": [16, 32, 64],
         "dram-link-bandwidth": ["x1", "x2", "x4"]}


def keys(rows):
    return sorted((row["time_s"], row["energy_j"]) for row in rows)


def test_the_front_is_that_of_its_definition():
    rng = random.Random(7)
    for _ in range(200):
        rows = [{"a": rng.randrange(6), "b": rng.randrange(6), "c": rng.randrange(3)}
                for _ in range(rng.randrange(1, 25))]
        beaten = lambda r: any(all(o[k] <= r[k] for k in "ab") and o["c"] >= r["c"]
                               and (o["a"], o["b"], o["c"]) != (r["a"], r["b"], r["c"])
                               for o in rows)
        assert searching.front(rows, ["a", "b", "max:c"]) == [r for r in rows if not beaten(r)]


def test_halving_finds_the_front_of_the_grid_with_fewer_whole_points():
    grid = er.search("alexnet", "npu-int8", SPACE, mapping="dataflow", strategy="grid")
    assert (grid.evaluated, grid.points) == (36, 36)
    found = er.search("alexnet", "npu-int8", SPACE, mapping="dataflow", cheap=[{"layers": "CONV[12]"}])
    assert found.points == 36 and found.evaluated < 2 * 36
    true = set(keys(grid))
    assert len(true & set(keys(found))) >= 0.8 * len(true)
    nothing = er.search("alexnet", "npu-int8", SPACE, mapping="dataflow")  # no cheaper question: the grid
    assert keys(nothing) == keys(grid)


def test_a_bayesian_search_stays_in_the_space():
    pytest.importorskip("optuna", reason="the package optuna is not installed")
    grid = er.search("alexnet", "npu-int8", SPACE, strategy="grid", objectives=["time_s"])
    found = er.search("alexnet", "npu-int8", SPACE, strategy="bayesian", trials=30,
                      objectives=["time_s"])
    assert found.evaluated <= 30
    assert found[0]["time_s"] <= 1.1 * grid[0]["time_s"]


def test_words_that_are_no_strategy_or_list_are_refused():
    with pytest.raises(er.Error, match="halving, bayesian or grid"):
        er.search("alexnet", "npu-int8", SPACE, strategy="magic")
    with pytest.raises(er.Error, match="are a list"):
        er.search("alexnet", "npu-int8", {"batch": "1:8"})
    with pytest.raises(er.Error, match="unknown-field"):
        er.search("alexnet", "npu-int8", {"axes.kernal": [8]})


def test_rows_become_tables_of_others(tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = er.sweep("alexnet", on="eyeriss-v1", vary={"clock": ["x1", "x2"], "batch": [1, 4]})
    rows.save(tmp_path / "all.csv")
    assert len(pandas.read_csv(tmp_path / "all.csv")) == 4
    with pytest.raises(er.Error, match="no ending of a table"):
        rows.save(tmp_path / "all.xlsx")
    pytest.importorskip("pyarrow")
    rows.save(tmp_path / "all.parquet")
    back = pandas.read_parquet(tmp_path / "all.parquet")
    assert back["time_s"].tolist() == [row["time_s"] for row in rows]


def test_a_folder_of_parts_keeps_the_files_of_others(tmp_path):
    theirs = tmp_path / "part-00003.jsonl"
    theirs.write_text("theirs", encoding="utf-8")
    with pytest.raises(er.Error, match="has part-00003.jsonl, which is not of this sweep"):
        parts._Folder(tmp_path, ("net", ["--x"])).read(4)
    assert parts._Folder(tmp_path, ("net", ["--x"])).read(2) == {}
    mine = parts._Folder(tmp_path, ("net", ["--x"]))
    assert mine.parts == 2
    mine.write(1, "rows")
    assert mine.read(2) == {1: "rows"}
    assert mine.read(1) == {}  # other parts: those of two are gone
    assert theirs.read_text(encoding="utf-8") == "theirs" and not (tmp_path / "part-00002.jsonl").exists()
    for head in ("[]", "{", '{"asked": []}'):
        (tmp_path / "sweep.json").write_text(head, encoding="utf-8")
        with pytest.raises(er.Error, match="has the parts of another sweep"):
            parts._Folder(tmp_path, ("net", ["--x"]))


def test_parts_of_a_second_do_not_count_the_time_of_reading(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(parts.time, "monotonic", lambda: now[0])

    class Client:  # a part takes 0.8 s to read the network, and a sweep 64 s besides
        def scheduler_info(self):
            return {"workers": [1, 2]}

        def submit(self, work, part, pure):
            first, count = map(int, part.split("/"))
            now[0] += 0.8 + (64.0 / count if first == 1 else 0.0)
            return self

        def result(self):
            return ""

    assert parts._parts_of_a_second(Client(), None, ()) == 64


def test_two_processes_of_a_cluster_write_the_file_of_the_command_line(tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    vary = {"axes.kernel": "8:64:8", "axes.channel": "8:64:8", "batch": "1,2,4"}
    alone = tmp_path / "alone.jsonl"
    flags = [text for key, value in vary.items() for text in ("--vary", f"{key}={value}")]
    flags += ["--mapping", "dataflow"]
    er.command("sweep", "alexnet", "--on", "npu-int8", *flags, "--format", "jsonl", "-o", str(alone))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            rows = er.sweep("alexnet", on="npu-int8", vary=vary, mapping="dataflow", client=client)
            asked = dict(on="npu-int8", vary=vary, mapping="dataflow", client=client, folder=tmp_path / "parts")
            done = []
            kept = er.sweep("alexnet", parts=6, progress=lambda n, of: done.append((n, of)), **asked)
            assert done == [(n, 6) for n in range(1, 7)] and list(kept) == list(rows)
            (tmp_path / "parts/part-00002.jsonl").unlink()
            (tmp_path / "parts/part-00005.jsonl").unlink()
            done.clear()
            again = er.sweep("alexnet", progress=lambda n, of: done.append((n, of)), **asked)
            assert done == [(5, 6), (6, 6)] and list(again) == list(rows)  # two parts were missing
            with pytest.raises(er.Error, match="has the parts of another sweep"):
                er.sweep("vgg16", **asked)
    together = tmp_path / "together.jsonl"
    rows.save(together)
    assert len(rows) == 192
    assert together.read_bytes() == alone.read_bytes()
