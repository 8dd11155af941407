"""PyTorch models as networks; skipped where PyTorch is missing."""

import pytest

import eyeroof as er

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
nn = torch.nn


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(8, 8, 3, padding=1, groups=2, bias=False)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x):
        return nn.functional.silu(self.norm(self.conv(x)) + x)


def small():
    return nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), Residual(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(8 * 8 * 8, 10)).eval()


SMALL_MACS = 2 * (8 * 16 * 16 * 27 + 8 * 16 * 16 * 4 * 9 + 512 * 10)  # two images


def by_counter(model, *inputs):
    from torch.utils.flop_counter import FlopCounterMode

    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        model(*inputs)
    return counter.get_total_flops() // 2


def test_a_captured_model_has_its_products_and_its_modules_names():
    with torch.device("meta"):
        model, x = small(), torch.empty(2, 3, 32, 32)
    with er.capture() as c, torch.no_grad():
        model(x)
    net = c.network("small")
    assert net.totals()["macs"] == SMALL_MACS
    assert net.totals()["parameters"] == sum(p.numel() for p in model.parameters())
    assert [row["name"] for row in c.rows] == ["0", "0.bias", "1.conv", "1.norm", "1.add", "1.silu", "2", "4"]
    assert c.unknown == {}
    assert er.exam(net, on="a100-sxm-40gb").time_s > 0


def test_real_tensors_gradients_and_an_exported_graph_give_the_same_network():
    model = small()
    x = torch.rand(2, 3, 32, 32)
    with er.capture() as c:
        model(x)
    called = er.from_torch(model, x, name="captured")
    exported = er.from_torch(model, x, name="captured", export=True)
    assert c.network().yaml() == called.yaml()
    assert exported.totals() == called.totals()
    assert next(model.parameters()).device.type == "cpu"  # the caller's model is left alone


def test_nothing_is_recorded_outside_the_block():
    model, x = small(), torch.rand(1, 3, 32, 32)
    with er.capture() as c:
        pass
    model(x)
    assert c.rows == []
    with pytest.raises(er.Error, match="no-layers"):
        c.network()


def test_attention_is_one_layer_with_its_groups_and_mask():
    q, k = torch.empty(2, 8, 16, 32, device="meta"), torch.empty(2, 2, 16, 32, device="meta")
    with er.capture() as c:
        torch.nn.functional.scaled_dot_product_attention(q, k, k, is_causal=True, enable_gqa=True)
    (row,) = c.rows
    assert (row["op"], row["batch"], row["groups"], row["kv_heads"]) == ("attention", 2, 8, 2)
    assert (row["m"], row["n"], row["k"], row["causal"]) == (16, 16, 32, 1)
    # query i sees i + 1 keys: 16 x 17 / 2 pairs, two products of 32
    assert c.network().totals()["macs"] == 2 * 2 * 8 * 32 * 16 * 17 // 2


def test_weights_count_once_and_products_of_activations_have_none():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(100, 16)

        def forward(self, ids):
            x = self.table(ids)
            return (x @ x.transpose(-1, -2)) @ x @ self.table.weight.t()

    model = Tied()
    net = er.from_torch(model, torch.zeros(4, dtype=torch.int64))
    assert net.totals()["parameters"] == 1600
    assert net.totals()["macs"] == 4 * 4 * 16 + 4 * 4 * 16 + 4 * 16 * 100


def test_an_embedding_that_is_the_head_counts_once():
    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(100, 16)
            self.head = nn.Linear(16, 100, bias=False)
            self.head.weight = self.table.weight

        def forward(self, ids):
            return self.head(self.table(ids))

    model, ids = Decoder(), torch.zeros(4, dtype=torch.int64)
    for export in (False, True):
        assert er.from_torch(model, ids, export=export).totals()["parameters"] == 1600
    assert model.head.weight is model.table.weight


def test_a_tuple_holds_all_inputs_as_for_export():
    model, x = small(), torch.empty(2, 3, 32, 32)
    assert er.from_torch(model, (x,)).totals() == er.from_torch(model, x).totals()

    class Pair(nn.Module):  # takes a tuple itself
        def forward(self, pair):
            return pair[0] @ pair[1]

    a = torch.empty(4, 4)
    assert er.from_torch(Pair(), (a, a)).totals()["macs"] == 64
    assert er.from_torch(Pair(), (a, a)).totals()["parameters"] == 0
    assert er.from_torch(Pair(), ((a, a),)).totals()["macs"] == 64


def test_values_have_a_size_of_their_own():
    q, v = torch.empty(1, 4, 8, 24, device="meta"), torch.empty(1, 4, 8, 16, device="meta")
    with er.capture() as c:
        torch.nn.functional.scaled_dot_product_attention(q, q, v)
    (row,) = c.rows
    assert (row["k"], row["v"]) == (24, 16)
    assert c.network().totals()["macs"] == 4 * 8 * 8 * (24 + 16)


@pytest.mark.skipif(not hasattr(torch.backends.cuda.matmul, "fp32_precision"),
                    reason="this PyTorch has the older switch alone")
def test_tf32_is_read_from_either_switch():
    model, x = nn.Linear(8, 8), torch.empty(4, 8)
    before = torch.backends.cuda.matmul.fp32_precision
    try:
        for precision, kind in (("tf32", "tf32"), ("ieee", "fp32")):
            torch.backends.cuda.matmul.fp32_precision = precision
            with er.capture() as c, torch.no_grad():
                model(x)
            assert c.rows[0]["dtype"] == kind
    finally:
        torch.backends.cuda.matmul.fp32_precision = before


@pytest.mark.parametrize("kind, gates", [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
def test_recurrent_layers_are_their_products_and_cells(kind, gates):
    model = getattr(nn, kind)(12, 20, num_layers=2, bidirectional=True)
    net = er.from_torch(model, torch.empty(5, 3, 12))  # five words of three sequences
    first, second = 12 + 20, 40 + 20
    assert net.totals()["macs"] == 2 * 5 * 3 * gates * 20 * (first + second)
    assert net.totals()["parameters"] == sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("model, shape", [
    (nn.Conv1d(4, 8, 5, stride=2, padding=2), (2, 4, 50)),
    (nn.Conv3d(4, 8, (3, 5, 5), padding=(1, 2, 2)), (1, 4, 6, 12, 12)),
    (nn.ConvTranspose2d(8, 4, 4, stride=2, padding=1), (1, 8, 10, 10)),
    (nn.Conv2d(8, 8, 3, groups=8, dilation=2), (1, 8, 20, 24)),
    (nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), (2, 9, 32)),
])
def test_macs_are_those_of_pytorchs_own_counter(model, shape):
    model, inputs = model.eval(), [torch.empty(shape)]
    torch.backends.mha.set_fastpath_enabled(False)  # its one operator is unknown to the counter
    try:
        counted = by_counter(model, *inputs)
    finally:
        torch.backends.mha.set_fastpath_enabled(True)
    assert counted > 0
    assert er.from_torch(model, *inputs).totals()["macs"] == counted


def test_a_model_that_looks_at_its_numbers_runs_as_it_is():
    class Looks(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 3)

        def forward(self, x):
            return self.fc(x) if x.sum().item() >= 0 else x

    model = Looks().train()
    net = er.from_torch(model, torch.ones(2, 4))
    assert net.totals()["macs"] == 2 * 4 * 3 and model.training


def test_what_is_not_known_is_told_and_left_out():
    class Odd(nn.Module):
        def forward(self, x):
            return torch.linalg.inv(x @ x)

    with pytest.warns(UserWarning, match="linalg_inv"):
        net = er.from_torch(Odd(), torch.empty(4, 4))
    assert net.totals()["macs"] == 64


def test_operators_without_a_cost_are_listed_in_the_network():
    with er.capture() as c:
        x = torch.empty(4, 4, device="meta")
        torch.linalg.inv(x @ x)
        torch.randperm(8, device="meta")
    text = c.network().yaml()
    assert f"operators: {1 + sum(c.unknown.values())}" in text
    assert "may_multiply: true" in text
    with er.capture() as only:
        torch.linalg.inv(x)
    with pytest.raises(er.Error, match="linalg_inv.*not-costed"):
        only.network()


def test_a_profile_is_laid_over_the_exam_by_module():
    model, x = small(), torch.rand(2, 3, 32, 32)
    with er.annotate(model), torch.profiler.profile() as prof, torch.no_grad():
        model(x)
        model(x)
    exam = er.exam(er.from_torch(model, x), on="a100-sxm-40gb")
    rows = er.from_profile(prof, exam)
    taken = {row["module"]: row for row in rows}
    assert set(taken) == {"0", "1.conv", "1.norm", "2", "3", "4"}
    assert all(row["calls"] == 2 and row["measured_s"] > 0 for row in rows)
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    times = [row["measured_s"] for row in rows]
    assert times == sorted(times, reverse=True)
    parts = [one for one in exam.layers if one["name"].split(".")[0] == "0"]  # its bias too
    assert len(parts) >= 2
    assert taken["0"]["predicted_s"] == pytest.approx(sum(one["time_s"] for one in parts))
    assert taken["3"]["predicted_s"] is None  # flattening moves nothing
    with torch.profiler.profile() as bare, torch.no_grad():
        model(x)
    with pytest.raises(er.Error, match="er.annotate"):
        er.from_profile(bare)


def test_an_onnx_export_gives_the_same_exam(tmp_path):
    pytest.importorskip("onnx", reason="the exporter needs the package onnx")
    model, x = small(), torch.rand(2, 3, 32, 32)
    path = tmp_path / "small.onnx"
    try:
        torch.onnx.export(model, (x,), str(path), dynamo=False, export_params=False,
                          training=torch.onnx.TrainingMode.PRESERVE)
    except (TypeError, RuntimeError) as gone:
        pytest.skip(f"this PyTorch has no exporter that keeps normalisations: {gone}")
    graph, captured = er.network(path), er.from_torch(model, x)
    assert {k: graph.totals()[k] for k in ("macs", "parameters")} == \
        {k: captured.totals()[k] for k in ("macs", "parameters")}
    assert er.exam(graph, on="eyeriss-v1").macs == er.exam(captured, on="eyeriss-v1").macs


def test_a_transformer_has_the_same_layers_through_both_doors(tmp_path):
    pytest.importorskip("onnx", reason="the exporter needs the package onnx")

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.k, self.v, self.out = (nn.Linear(64, 64) for _ in range(4))
            self.norm = nn.LayerNorm(64)

        def forward(self, x):
            q, k, v = (f(x).view(x.shape[0], -1, 4, 16).transpose(1, 2)
                       for f in (self.q, self.k, self.v))
            mixed = (q @ k.transpose(2, 3)).softmax(-1) @ v
            return self.norm(x + self.out(mixed.transpose(1, 2).reshape(x.shape)))

    for images in (1, 2):  # of one sequence the heads are read in place; of two they are copied
        model, x = Block().eval(), torch.rand(images, 10, 64)
        path = tmp_path / f"block{images}.onnx"
        try:
            torch.onnx.export(model, (x,), str(path), dynamo=False, opset_version=17)
        except (TypeError, RuntimeError) as gone:
            pytest.skip(f"this PyTorch has no exporter of this kind: {gone}")
        graph, captured = er.network(path), er.from_torch(model, x)
        assert graph.totals() == captured.totals()
        first, second = (er.exam(net, on="a100-sxm-40gb") for net in (graph, captured))
        assert len(first.layers) == len(second.layers) == (10 if images == 1 else 13)
        assert first.time_s == pytest.approx(second.time_s, rel=1e-12)


def rows_of(run, *args):
    with er.capture() as c, torch.no_grad():
        run(*args)
    assert c.unknown == {}
    return c


@pytest.mark.parametrize("run, shapes", [
    (lambda x: torch.nn.functional.max_pool3d(x, 2), [(2, 3, 8, 8, 8)]),
    (lambda x: torch.nn.functional.max_pool3d(x, 3, stride=2, padding=1), [(2, 3, 9, 16, 15)]),
    (lambda x: torch.nn.functional.avg_pool3d(x, (2, 3, 3)), [(2, 3, 8, 9, 9)]),
    (lambda x: x.cumprod(1), [(4, 100)]),
    (lambda x: torch.diag_embed(x), [(4, 10)]),
    (lambda x, y: torch.nn.functional.smooth_l1_loss(x, y), [(8, 16), (8, 16)]),
    (lambda x, y: torch.nn.functional.kl_div(x, y, reduction="batchmean"), [(8, 16), (8, 16)]),
    (lambda x, y: torch.xlogy(x, y), [(8, 16), (8, 16)]),
    (lambda x, y, z: torch.nn.functional.triplet_margin_loss(x, y, z), [(8, 16)] * 3),
    (lambda x: torch.nn.functional.group_norm(x, 2), [(2, 4, 8, 8)]),
    (lambda x: x.logsumexp(1), [(8, 16)]),
    (lambda x: torch.sort(x, 1), [(8, 16)]),
    (lambda x: x.mean(), [(1 << 30,)]),
    (lambda x: torch.relu(x), [(1 << 30,)]),
])
def test_operators_are_costed(run, shapes):
    c = rows_of(run, *[torch.empty(shape, device="meta") for shape in shapes])
    net = c.network("one")
    assert er.exam(net, on="h100-sxm-80gb").time_s > 0
    bound = er.bound(net, on="h100-sxm-80gb")
    assert 0 < bound["fused"]["time_s"] <= bound["cached"]["time_s"] <= bound["unfused"]["time_s"]


def test_a_pool_of_volumes_reads_and_writes_what_it_does():
    from eyeroof.torch_ops import operands_of

    x = torch.empty(2, 3, 9, 16, 15, device="meta")
    c = rows_of(lambda x: torch.nn.functional.max_pool3d(x, 3, stride=2, padding=1), x)
    (row,) = c.rows
    out = torch.nn.functional.max_pool3d(x, 3, stride=2, padding=1)
    assert operands_of(row) == ([x.numel()], out.numel())


def test_a_bias_of_a_convolution_is_a_pass_of_its_own_within_the_call():
    model = nn.Conv2d(4, 8, 3, padding=1).to("meta")
    c = rows_of(model, torch.empty(2, 4, 10, 10, device="meta"))
    assert [row["name"] for row in c.rows] == ["Conv2d", "Conv2d.bias"] or \
        [row["name"].split(".")[-1] for row in c.rows][-1] == "bias"
    assert "in_call: true" in c.network().yaml()
    assert c.network().totals()["parameters"] == 4 * 8 * 9 + 8


def test_convolutions_multiply_in_tf32_where_the_framework_allows_it():
    model, x = nn.Conv2d(4, 8, 3).to("meta"), torch.empty(1, 4, 9, 9, device="meta")
    before = torch.backends.cudnn.allow_tf32
    try:
        for allowed, dtype in ((True, "tf32"), (False, "fp32")):
            torch.backends.cudnn.allow_tf32 = allowed
            assert rows_of(model, x).rows[0]["dtype"] == dtype
        torch.backends.cudnn.allow_tf32 = True
        net = rows_of(model, x).network()
        assert er.exam(net, on="t4").time_s > 0  # without TF32: multiplied in fp32
    finally:
        torch.backends.cudnn.allow_tf32 = before


def test_who_reads_whom_is_recorded_and_a_residual_stays_until_it_is_added():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(64, 64), nn.Linear(64, 64)

        def forward(self, x):
            return x + self.b(torch.relu(self.a(x)))

    with torch.device("meta"):
        net = er.from_torch(Block(), torch.empty(32, 64))
    text = net.yaml()
    assert "graph:" in text
    bound = er.bound(net, on="a100-sxm-40gb")
    assert bound["fused"]["bytes"] == 4 * (2 * 32 * 64 + 2 * (64 * 64 + 64))


def test_a_bound_of_a_module_and_the_parts_of_a_measured_time():
    with torch.device("meta"):
        model, x = small(), torch.empty(2, 3, 32, 32)
    answer = er.bound(model, [x], on="a100-sxm-40gb", measured=1e-3)
    assert answer["fused"]["time_s"] <= answer["cached"]["time_s"] <= answer["unfused"]["time_s"]
    assert sum(part["seconds"] for part in answer["gap"]) == pytest.approx(1e-3)
    assert answer["gap"][-1]["part"] == "unexplained"
    assert answer.time_s == 1e-3
    assert answer.speed_of_light == pytest.approx(answer["fused"]["time_s"] / 1e-3)
    assert answer.largest_part["seconds"] == max(p["seconds"] for p in answer["gap"][1:])
    assert answer.best_change["gain"] == max(c["gain"] for c in answer["changes"]) > 1.0
    assert "1 ms" in repr(answer) and "unexplained" in answer._repr_html_()


def test_steps_of_a_recurrent_layer_are_launched_within_its_call():
    model = nn.LSTM(12, 20, num_layers=2).to("meta")
    net = er.from_torch(model, torch.empty(50, 3, 12, device="meta"))
    fast = er.exam(net, on="h100-sxm-80gb", host_speed=100)
    slow = er.exam(net, on="h100-sxm-80gb", host_speed=0.2)
    launches = 2 * 50 * 2  # two layers, a product and a cell a step
    assert slow.time_s < launches * 25e-6  # less than a framework's call each
    assert fast.time_s < slow.time_s



def captured_rows(run, *shapes):
    with torch.device("meta"):
        inputs = [torch.empty(shape) for shape in shapes]
        with er.capture() as c:
            run(*inputs)
    return c.rows


def test_batch_norm_in_training_mode_takes_the_statistics_of_its_images():
    with torch.device("meta"):
        norm = nn.BatchNorm2d(8)
    rows = [row for row in captured_rows(norm, (4, 8, 16, 16)) if row["op"] == "batchnorm"]
    assert [(r["rows"], r["cols"], r["n"]) for r in rows] == [(8, 4 * 256, 4)]
    rows = captured_rows(norm.eval(), (4, 8, 16, 16))
    assert [row.get("n") for row in rows if row["op"] == "batchnorm"] == [None]


def test_copies_of_strided_elements_and_concatenations_are_told_from_plain_copies():
    def functions(run, *shapes):
        return [row["fn"] for row in captured_rows(run, *shapes) if row["op"] == "elementwise"]

    assert functions(lambda x: x.transpose(1, 2).contiguous(), (4, 8, 16)) == ["permute"]
    assert functions(lambda x: x.clone(), (4, 8, 16)) == ["copy"]
    assert functions(lambda x, y: torch.cat([x, y], 1), (4, 8), (4, 6)) == ["concat"]
    assert functions(lambda x, y: x.copy_(y.t()), (8, 4), (4, 8)) == ["permute"]


def test_the_documented_operators_are_those_of_the_code():
    import pathlib

    from eyeroof.torch_ops import page

    path = pathlib.Path(__file__).parents[2] / "docs" / "dev" / "torch-operators.md"
    if not path.exists():
        pytest.skip("the documents are not beside the tests")
    assert path.read_text() == page()  # python -m eyeroof.torch_ops > docs/dev/torch-operators.md


def test_an_operator_within_another_costs_a_call_where_it_makes_a_tensor():
    x = torch.empty(8, 16, 4, 4, device="meta")
    norm = rows_of(lambda x: torch.nn.functional.group_norm(x, 4), x)
    assert [inside for inside, _ in norm._edges] == [False, False, False]
    sums = rows_of(lambda x: x.logsumexp(1), x)  # masked_fill_, exp_, log_, and add_ are in place
    assert [inside for inside, _ in sums._edges] == [i in (3, 5, 7, 8) for i in range(9)]
    assert all("own_call" not in row for c in (norm, sums) for row in c.rows)
    text = sums.network("one").yaml()
    assert text.count("in_call: true") == 4


def test_a_sum_along_an_outer_axis_is_a_column_of_a_plane():
    x = torch.empty(16, 256, 128, device="meta")
    shape = lambda run: [{k: v for k, v in row.items() if k in "ncrshw"} for row in rows_of(run, x).rows]
    outer = {"n": 16, "c": 1, "h": 256, "w": 128, "r": 256, "s": 1}
    for run in (lambda x: x.sum(1), lambda x: torch.max(x, 1)[0], lambda x: x.argmax(1),
                lambda x: torch.linalg.vector_norm(x, 2, 1)):
        assert shape(run) == [outer]
    rows = {"n": 4096, "c": 1, "h": 1, "w": 128, "r": 1, "s": 128}
    assert shape(lambda x: x.sum(2)) == [rows] == shape(lambda x: x.mean(-1, keepdim=True))
    assert shape(lambda x: x.sum((0, 1))) == [{**outer, "n": 1, "h": 4096, "r": 4096}]
    pooled = rows_of(lambda x: torch.nn.functional.adaptive_avg_pool2d(x, 1), x).rows
    assert pooled[0]["s"] > 1  # [1, 1] are its results, no axes
    beside = er.exam(rows_of(lambda x: x.sum(2), x).network("a"), on="a100-sxm-80gb", launch="none")
    along = er.exam(rows_of(lambda x: x.sum(1), x).network("a"), on="a100-sxm-80gb", launch="none")
    assert along.time_s > beside.time_s
