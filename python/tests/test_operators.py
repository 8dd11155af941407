"""Programs of every kind of operator in torch.nn and torch.nn.functional: each is captured and costed
in full. What has no cost is refused by its name."""

import warnings

import pytest

import eyeroof as er

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

from eyeroof.torch import from_torch  # noqa: E402

torch.manual_seed(43)


class Fn(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, *a):
        return self.f(*a)


PROGRAMS = {}
signal = torch.randn(4, 8, 64)
images = torch.randn(4, 8, 32, 32)
volume = torch.randn(2, 8, 16, 16, 16)
v = torch.randn(64, 128)
w = torch.randn(64, 128)
labels = torch.randint(0, 128, (64,))
signs = torch.randint(0, 2, (64, 128)).float() * 2 - 1
sides = torch.sign(torch.randn(64))
for n in (
    "ELU Hardshrink Hardsigmoid Hardtanh Hardswish LeakyReLU LogSigmoid PReLU ReLU "
    "ReLU6 RReLU SELU CELU GELU Sigmoid SiLU Mish Softplus "
    "Softshrink Softsign Tanh Tanhshrink GLU Softmin Softmax LogSoftmax "
).split():
    PROGRAMS[n] = (
        getattr(nn, n)(dim=1) if n in ("Softmin", "Softmax", "LogSoftmax") else getattr(nn, n)(),
        v,
    )
PROGRAMS["Threshold"] = (nn.Threshold(0.1, 20), v)
PROGRAMS["Softmax2d"] = (nn.Softmax2d(), images)
for d, x in ((1, signal), (2, images), (3, volume)):
    for n, k in (
        ("Conv", dict(in_channels=8, out_channels=16, kernel_size=3, padding=1)),
        (
            "ConvTranspose",
            dict(
                in_channels=8, out_channels=16, kernel_size=3, stride=2, padding=1, output_padding=1
            ),
        ),
        ("MaxPool", dict(kernel_size=3, stride=2, padding=1)),
        ("AvgPool", dict(kernel_size=3, stride=2)),
        ("LPPool", dict(norm_type=2, kernel_size=3, stride=2)),
        ("AdaptiveMaxPool", dict(output_size=5)),
        ("AdaptiveAvgPool", dict(output_size=5)),
        ("ReflectionPad", dict(padding=2)),
        ("ReplicationPad", dict(padding=2)),
        ("ZeroPad", dict(padding=2)),
        ("ConstantPad", dict(padding=2, value=1.0)),
        ("CircularPad", dict(padding=2)),
        ("BatchNorm", dict(num_features=8)),
        ("InstanceNorm", dict(num_features=8)),
        ("Dropout", {}),
    ):
        nm = f"{n}{d}d"
        if hasattr(nn, nm):
            PROGRAMS[nm] = (getattr(nn, nm)(**k), x)
    for ps in ("dilation", "groups", "same", "circular", "reflect"):
        kk = dict(in_channels=8, out_channels=16, kernel_size=3, padding=1)
        if ps == "dilation":
            kk.update(dilation=2, padding=2)
        if ps == "groups":
            kk.update(groups=4)
        if ps == "same":
            kk.update(padding="same")
        if ps in ("circular", "reflect"):
            if d == 3 and ps == "reflect":
                continue
            kk.update(padding_mode=ps)
        PROGRAMS[f"Conv{d}d-{ps}"] = (getattr(nn, f"Conv{d}d")(**kk), x)
    PROGRAMS[f"ConvT{d}d-groups"] = (
        getattr(nn, f"ConvTranspose{d}d")(8, 16, 3, groups=4, dilation=2, stride=2),
        x,
    )
    PROGRAMS[f"MaxPool{d}d-idx-ceil-dil"] = (
        getattr(nn, f"MaxPool{d}d")(3, 2, 1, dilation=2, return_indices=True, ceil_mode=True),
        x,
    )
PROGRAMS["Conv2d-asym"] = (
    nn.Conv2d(8, 16, (3, 5), stride=(2, 1), padding=(1, 2), dilation=(1, 2)),
    images,
)
PROGRAMS["Conv3d-asym"] = (nn.Conv3d(8, 16, (3, 5, 7), stride=(2, 1, 1), padding=(1, 2, 3)), volume)
PROGRAMS["ConvT3d-asym"] = (
    nn.ConvTranspose3d(
        8, 16, (3, 5, 7), stride=(1, 2, 2), padding=(1, 2, 3), output_padding=(0, 1, 1)
    ),
    volume,
)
PROGRAMS["ConvT2d-asym"] = (
    nn.ConvTranspose2d(8, 16, (3, 7), stride=(2, 1), padding=(1, 0)),
    images,
)
PROGRAMS["depthwise+point"] = (
    nn.Sequential(nn.Conv2d(8, 8, 3, groups=8, padding=1), nn.Conv2d(8, 16, 1)),
    images,
)
PROGRAMS["FracPool2"] = (nn.FractionalMaxPool2d(3, output_size=12), images)
PROGRAMS["FracPool3"] = (nn.FractionalMaxPool3d(3, output_size=6), volume)
for d, x in ((1, signal), (2, images), (3, volume)):
    PROGRAMS[f"MaxUnpool{d}d"] = (
        Fn(
            lambda x, d=d: getattr(F, f"max_unpool{d}d")(
                *getattr(F, f"max_pool{d}d")(x, 2, return_indices=True), 2
            )
        ),
        x,
    )
PROGRAMS["GroupNorm"] = (nn.GroupNorm(4, 8), images)
PROGRAMS["LayerNorm"] = (nn.LayerNorm([8, 32, 32]), images)
PROGRAMS["RMSNorm"] = (nn.RMSNorm(128), v)
PROGRAMS["LocalResponseNorm"] = (nn.LocalResponseNorm(5), images)
PROGRAMS["BN eval"] = (nn.BatchNorm2d(8).eval(), images)
PROGRAMS["InstanceNorm affine"] = (
    nn.InstanceNorm2d(8, affine=True, track_running_stats=True),
    images,
)
PROGRAMS["RNN"] = (nn.RNN(64, 32, 2), torch.randn(10, 4, 64))
PROGRAMS["LSTM"] = (
    nn.LSTM(64, 32, 2, batch_first=True, bidirectional=True),
    torch.randn(4, 10, 64),
)
PROGRAMS["GRU"] = (nn.GRU(64, 32, 2), torch.randn(10, 4, 64))
PROGRAMS["LSTM proj"] = (nn.LSTM(64, 32, 1, proj_size=16), torch.randn(10, 4, 64))
PROGRAMS["LSTM nobias"] = (nn.LSTM(64, 32, 1, bias=False), torch.randn(10, 4, 64))


class _States(nn.Module):
    def __init__(s):
        super().__init__()
        s.g = nn.GRU(64, 32, 2)
        s.l = nn.LSTM(64, 32, 2)

    def forward(s, x, h):
        a, _ = s.g(x, h)
        b, (c, _) = s.l(x, (h, h))
        return a + b, c


PROGRAMS["GRU h0"] = (_States(), torch.randn(10, 4, 64), torch.randn(2, 4, 32))


class _Cells(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.RNNCell(64, 32)
        s.b = nn.LSTMCell(64, 32)
        s.c = nn.GRUCell(64, 32)

    def forward(s, x):
        h = s.a(x)
        h, c = s.b(x, (h, h))
        return s.c(x, h)


PROGRAMS["Cells"] = (_Cells(), torch.randn(4, 64))


class _Heads(nn.Module):
    def __init__(s, **k):
        super().__init__()
        s.a = nn.MultiheadAttention(64, 4, batch_first=True)
        s.k = k

    def forward(s, x):
        return s.a(x, x, x, **s.k)[0]


PROGRAMS["MHA"] = (_Heads(), torch.randn(4, 16, 64))
PROGRAMS["MHA without weights"] = (_Heads(need_weights=False), torch.randn(4, 16, 64))
PROGRAMS["TransformerEncoder"] = (
    nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, batch_first=True), 2),
    torch.randn(4, 16, 64),
)
PROGRAMS["TransformerDecoder"] = (
    nn.TransformerDecoder(nn.TransformerDecoderLayer(64, 4), 2),
    torch.randn(16, 4, 64),
    torch.randn(16, 4, 64),
)
PROGRAMS["Transformer"] = (
    nn.Transformer(64, 4, 1, 1),
    torch.randn(16, 4, 64),
    torch.randn(16, 4, 64),
)
PROGRAMS["Linear"] = (nn.Linear(128, 64), v)
PROGRAMS["Bilinear"] = (nn.Bilinear(128, 128, 32), v, w)
PROGRAMS["LazyLinear"] = (nn.Linear(128, 64, bias=False), v)
PROGRAMS["Embedding"] = (nn.Embedding(100, 64), torch.randint(0, 100, (4, 16)))
PROGRAMS["EmbeddingBag"] = (nn.EmbeddingBag(100, 64), torch.randint(0, 100, (4, 16)))
PROGRAMS["EmbeddingBag max"] = (
    nn.EmbeddingBag(100, 64, mode="max"),
    torch.randint(0, 100, (4, 16)),
)
PROGRAMS["CosineSimilarity"] = (nn.CosineSimilarity(), v, w)
PROGRAMS["PairwiseDistance"] = (nn.PairwiseDistance(), v, w)
for n in (
    "L1Loss MSELoss SmoothL1Loss HuberLoss PoissonNLLLoss SoftMarginLoss HingeEmbeddingLoss MultiLabelSoftMarginLoss "
).split():
    PROGRAMS[n] = (getattr(nn, n)(), v, signs)
PROGRAMS["KLDivLoss"] = (nn.KLDivLoss(reduction="batchmean"), v.log_softmax(1), w.softmax(1))
PROGRAMS["KLDiv log"] = (nn.KLDivLoss(log_target=True), v, w)
PROGRAMS["BCELoss"] = (nn.BCELoss(), v.sigmoid(), w.sigmoid())
PROGRAMS["BCEWithLogits"] = (nn.BCEWithLogitsLoss(pos_weight=torch.ones(128)), v, w.sigmoid())
PROGRAMS["BCEw"] = (
    Fn(lambda a, b: F.binary_cross_entropy(a, b, weight=b)),
    v.sigmoid(),
    w.sigmoid(),
)
PROGRAMS["CrossEntropy"] = (nn.CrossEntropyLoss(), v, labels)
PROGRAMS["CE smooth"] = (nn.CrossEntropyLoss(label_smoothing=0.1), v, labels)
PROGRAMS["CE prob"] = (nn.CrossEntropyLoss(), v, w.softmax(1))
PROGRAMS["CE 2d"] = (nn.CrossEntropyLoss(), images, torch.randint(0, 8, (4, 32, 32)))
PROGRAMS["CE weight"] = (nn.CrossEntropyLoss(weight=torch.ones(128), ignore_index=3), v, labels)
PROGRAMS["NLL"] = (nn.NLLLoss(), v, labels)
PROGRAMS["NLL2d"] = (nn.NLLLoss(), images, torch.randint(0, 8, (4, 32, 32)))
PROGRAMS["GaussianNLL"] = (nn.GaussianNLLLoss(), v, w, v.abs() + 1)
PROGRAMS["MarginRanking"] = (nn.MarginRankingLoss(), v[:, 0], w[:, 0], sides)
PROGRAMS["CosineEmbedding"] = (nn.CosineEmbeddingLoss(), v, w, sides)
PROGRAMS["Triplet"] = (nn.TripletMarginLoss(), v, w, v + w)
PROGRAMS["TripletDist"] = (
    nn.TripletMarginWithDistanceLoss(distance_function=nn.PairwiseDistance()),
    v,
    w,
    v + w,
)
PROGRAMS["MultiMargin"] = (nn.MultiMarginLoss(), v, labels)
PROGRAMS["MultiLabelMargin"] = (nn.MultiLabelMarginLoss(), v, torch.randint(0, 128, (64, 128)))
PROGRAMS["CTC"] = (
    Fn(lambda a, t: F.ctc_loss(a.log_softmax(2), t, torch.full((4,), 50), torch.full((4,), 10))),
    torch.randn(50, 4, 20),
    torch.randint(1, 20, (4, 10)),
)
PROGRAMS["PixelShuffle"] = (nn.PixelShuffle(2), images)
PROGRAMS["PixelUnshuffle"] = (nn.PixelUnshuffle(2), images)
PROGRAMS["ChannelShuffle"] = (nn.ChannelShuffle(2), images)
for m, x in (
    ("nearest", images),
    ("bilinear", images),
    ("bicubic", images),
    ("area", images),
    ("nearest", signal),
    ("linear", signal),
    ("nearest", volume),
    ("trilinear", volume),
    ("nearest-exact", images),
):
    PROGRAMS[f"Upsample {m} {x.dim()}"] = (nn.Upsample(scale_factor=2, mode=m), x)
PROGRAMS["aa"] = (
    Fn(lambda x: F.interpolate(x, scale_factor=0.5, mode="bilinear", antialias=True)),
    images,
)
PROGRAMS["Fold"] = (nn.Fold((32, 32), 3, padding=1), torch.randn(4, 72, 1024))
PROGRAMS["Unfold"] = (nn.Unfold(3, padding=1), images)
PROGRAMS["Flatten"] = (nn.Sequential(nn.Flatten(), nn.Linear(8192, 10)), images)
PROGRAMS["AlphaDropout"] = (nn.AlphaDropout(), v)
PROGRAMS["FeatureAlpha"] = (nn.FeatureAlphaDropout(), v)
PROGRAMS["AdaptiveLogSoftmax"] = (
    nn.AdaptiveLogSoftmaxWithLoss(128, 200, [20, 100]),
    v,
    torch.randint(0, 200, (64,)),
)


def add(name, function, *given):
    PROGRAMS[name] = (Fn(function), *given)


for n in (
    "cumsum cumprod logcumsumexp cummax cummin logsumexp sort argsort max "
    "min argmax argmin mean sum prod var std amax "
    "amin median mode norm nanmedian any all count_nonzero softmax "
    "log_softmax  std_mean var_mean "
).split():
    add(
        n,
        (
            lambda n: (
                lambda x: (lambda o: o if isinstance(o, torch.Tensor) else o[0])(
                    getattr(torch, n)(x, **({"dim": 1}))
                )
            )
        )(n),
        v,
    )
add("masked cumsum", lambda x, m: torch.cumsum(x * m, 1), v, signs > 0)
add("reverse cumsum", lambda x: torch.cumsum(x.flip(1), 1).flip(1), v)
add(
    "excl cumsum",
    lambda x: torch.cumsum(
        torch.cat((torch.zeros_like(x.select(1, 0).unsqueeze(1)), x), 1)[:, :-1], 1
    ),
    v,
)
add("topk", lambda x: x.topk(5, 1)[0], v)
add("kthvalue", lambda x: x.kthvalue(3, 1)[0], v)
add("gather", lambda x, i: x.gather(1, i), v, torch.randint(0, 128, (64, 10)))
add(
    "scatter",
    lambda x, i: torch.zeros(64, 200, device=x.device).scatter_(1, i, x),
    v,
    torch.randint(0, 200, (64, 128)),
)
add(
    "scatter_add",
    lambda x, i: torch.zeros(64, 200, device=x.device).scatter_add_(1, i, x),
    v,
    torch.randint(0, 200, (64, 128)),
)
add(
    "scatter_reduce",
    lambda x, i: torch.zeros(64, 200, device=x.device).scatter_reduce_(1, i, x, "amax"),
    v,
    torch.randint(0, 200, (64, 128)),
)
add("index_select", lambda x, i: x.index_select(0, i), v, labels % 64)
add(
    "index_add",
    lambda x, i: torch.zeros(64, 128, device=x.device).index_add_(0, i, x),
    v,
    labels % 64,
)
add(
    "index_put",
    lambda x, i: torch.zeros(64, 128, device=x.device).index_put_((i,), x, accumulate=True),
    v,
    labels % 64,
)
add("take_along", lambda x, i: torch.take_along_dim(x, i, 1), v, torch.randint(0, 128, (64, 10)))
add("masked_select", lambda x: x[x > 0], v)
add("nonzero", lambda x: x.nonzero(), v)
add("where1", lambda x: torch.where(x > 0)[0], v)
add("masked_fill", lambda x: x.masked_fill(x > 0, 0.0), v)
add("bincount", lambda i: torch.bincount(i), labels)
add("unique", lambda i: i.unique(), labels)
add("searchsorted", lambda s, x: torch.searchsorted(s, x), torch.arange(100.0), v)
add("bucketize", lambda x: torch.bucketize(x, torch.arange(10.0, device=x.device)), v)
add("histc", lambda x: x.histc(10), v)
add(
    "triu mm",
    lambda a, b: torch.triu(torch.matmul(torch.triu(a), torch.triu(b))),
    torch.randn(64, 64),
    torch.randn(64, 64),
)
add("diag mm", lambda d, b: torch.diag(d) @ b, torch.randn(64), v)
add(
    "einsum 4",
    lambda a, b: torch.einsum("bijl,lk->bijk", a, b),
    torch.randn(2, 8, 8, 16),
    torch.randn(16, 32),
)
add(
    "einsum bh",
    lambda a, b: torch.einsum("bhid,bhjd->bhij", a, b),
    torch.randn(2, 4, 16, 32),
    torch.randn(2, 4, 16, 32),
)
add("mv", lambda a, b: a @ b, v, torch.randn(128))
add("mv1", lambda a, b: a @ b, v, torch.randn(128, 1))
add("dot", lambda a, b: torch.dot(a, b), v[0], w[0])
add("outer", lambda a, b: torch.outer(a, b), v[0], w[0])
add("scalar", lambda a: a * 3.1, v)
add("A.T", lambda a, b: a.T @ b, v, w)
add("A.T B.T", lambda a, b: a.T @ b.T, v.T.contiguous().T, torch.randn(32, 64))
add("matmul 3d", lambda a, b: a @ b, torch.randn(4, 8, 16), torch.randn(16, 32))
add("matmul 4d bcast", lambda a, b: a @ b, torch.randn(4, 1, 8, 16), torch.randn(3, 16, 32))
add(
    "baddbmm",
    lambda a, b, c: torch.baddbmm(c, a, b),
    torch.randn(4, 8, 16),
    torch.randn(4, 16, 8),
    torch.randn(4, 8, 8),
)
add("kron", lambda a, b: torch.kron(a, b), torch.randn(8, 8), torch.randn(8, 8))
add("cross", lambda a, b: torch.cross(a, b, dim=1), torch.randn(64, 3), torch.randn(64, 3))
add(
    "chain",
    lambda a, b: torch.linalg.multi_dot([a, b, a]),
    torch.randn(64, 128),
    torch.randn(128, 64),
)
add("matrix_power", lambda a: torch.matrix_power(a, 3), torch.randn(64, 64))
add("tensordot", lambda a, b: torch.tensordot(a, b, 1), v, torch.randn(128, 8))
add("cdist", lambda a, b: torch.cdist(a, b), v, w)
add("pdist", lambda a: F.pdist(a), v)
add("normalize", lambda a: F.normalize(a, p=2, dim=1), v)
add("l1norm", lambda x: x / torch.sum(torch.abs(x), 1, keepdim=True), v)
add("Frobenius", lambda x: x / torch.norm(x, p="fro"), images)
add("rms", lambda x: x / torch.sqrt(torch.mean(x**2, 1, keepdim=True) + 1e-5), images)
add("inv", lambda a: torch.linalg.inv(a), torch.randn(64, 64))
add("solve", lambda a, b: torch.linalg.solve(a, b), torch.randn(64, 64), v)
add(
    "cholesky",
    lambda a: torch.linalg.cholesky(a @ a.T + torch.eye(64, device=a.device)),
    torch.randn(64, 64),
)
add("svd", lambda a: torch.linalg.svdvals(a), torch.randn(64, 64))
add("qr", lambda a: torch.linalg.qr(a)[0], torch.randn(64, 64))
add("eigh", lambda a: torch.linalg.eigh(a)[0], torch.randn(64, 64))
add("det", lambda a: torch.linalg.det(a), torch.randn(64, 64))
add(
    "triangular",
    lambda a, b: torch.linalg.solve_triangular(a, b, upper=True),
    torch.randn(64, 64),
    v,
)
add("fft", lambda a: torch.fft.fft(a), v)
add("rfft", lambda a: torch.fft.irfft(torch.fft.rfft(a)), v)
add("fft2", lambda a: torch.fft.fft2(a).abs(), images)
add(
    "stft",
    lambda a: torch.stft(
        a, 64, return_complex=True, window=torch.hann_window(64, device=a.device)
    ).abs(),
    torch.randn(4, 1024),
)
add("grid_sample", lambda x, g: F.grid_sample(x, g), images, torch.rand(4, 16, 16, 2))
add(
    "affine_grid",
    lambda x, t: F.grid_sample(x, F.affine_grid(t, [4, 8, 16, 16])),
    images,
    torch.randn(4, 2, 3),
)
add("one_hot", lambda i: F.one_hot(i, 128).float(), labels)
add("pad", lambda x: F.pad(x, (1, 2, 3, 4)), images)
add("roll", lambda x: torch.roll(x, (1, 2), (2, 3)), images)
add("repeat_interleave", lambda x: x.repeat_interleave(2, 1), v)
add("tile", lambda x: x.tile(2, 2), v)
add("stack", lambda x, y: torch.stack([x, y]), v, w)
add(
    "complex",
    lambda x, y: torch.view_as_real(
        torch.view_as_complex(x.reshape(64, 64, 2).contiguous())
        * torch.polar(torch.ones_like(y[:, :64]), y[:, :64])
    ),
    v,
    w,
)
add("rope", lambda x: torch.cat((-x[..., 64:], x[..., :64]), -1) * x.cos() + x * x.sin(), v)
add("clamp2", lambda x: torch.clamp(x, -1, 1), v)
add("minmax", lambda x, y: torch.min(x, torch.max(x, y)), v, w)
add("gumbel", lambda x: F.gumbel_softmax(x), v)
add("multinomial", lambda x: torch.multinomial(x.softmax(1), 2), v)
add("renorm", lambda x: torch.renorm(x, 2, 0, 1.0), v)
add("bernoulli", lambda x: torch.bernoulli(x.sigmoid()), v)
add("randn add", lambda x: x + torch.randn_like(x), v)
add("trapezoid", lambda x: torch.trapezoid(x, dim=1), v)
add("diff", lambda x: torch.diff(x, dim=1), v)
add("logdet", lambda x: torch.logdet(x @ x.T + torch.eye(64, device=x.device)), v)
add("erf etc", lambda x: torch.special.erfcx(x) + torch.lgamma(x.abs()) + torch.digamma(x.abs()), v)
add("heaviside", lambda x: torch.heaviside(x, x), v)
add("hypot", lambda x, y: torch.hypot(x, y) + torch.atan2(x, y), v, w)
add("bit", lambda i: (i << 1) ^ (i & 3), labels)
add("quantile", lambda x: torch.quantile(x, 0.5, dim=1), v)
add("aminmax", lambda x: torch.aminmax(x)[0], v)
add("movedim", lambda x: x.movedim(1, -1).contiguous(), images)
add("unflatten", lambda x: x.unflatten(1, (2, 64)).transpose(1, 2).reshape(64, -1), v)
add("bf16", lambda x: (x.bfloat16() @ x.bfloat16().T).float(), v)
add(
    "sdpa",
    lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True),
    torch.randn(2, 4, 32, 16),
)
add(
    "sdpa mask",
    lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m),
    torch.randn(2, 4, 32, 16),
    torch.randn(32, 32),
)
add(
    "sdpa wide v",
    lambda q, v: F.scaled_dot_product_attention(q, q, v),
    torch.randn(2, 4, 32, 16),
    torch.randn(2, 4, 32, 24),
)
add("item", lambda x: x * x.max().item(), v)
add(
    "embed bag offsets",
    lambda i, t, o: F.embedding_bag(i, t, o),
    torch.randint(0, 100, (64,)),
    torch.randn(100, 16),
    torch.arange(0, 64, 8),
)
add("loop", lambda x: [x := torch.tanh(x) for _ in range(3)][-1], v)
add(
    "conv_tbc",
    lambda x, w_, b: torch.conv_tbc(x, w_, b, 1),
    torch.randn(10, 4, 8),
    torch.randn(3, 8, 16),
    torch.randn(16),
)
add("func conv1d", lambda x, k: F.conv1d(x, k, dilation=3, stride=2), signal, torch.randn(16, 8, 3))
add("layer_norm nd", lambda x: F.layer_norm(x, x.shape[1:]), volume)
add("gn3", lambda x: F.group_norm(x, 4), volume)
add(
    "rnn loop",
    lambda x, h, u: [h := torch.tanh(x[t] @ u + h) for t in range(4)][-1],
    torch.randn(4, 8, 32),
    torch.randn(8, 32),
    torch.randn(32, 32),
)
add("unique_dim", lambda x: torch.unique(x, dim=0), labels.reshape(32, 2))
add("vmap", lambda x: torch.func.vmap(lambda r: r.softmax(0))(x), v)
add("cosine matrix", lambda x, y: F.cosine_similarity(x[:, None], y[None], dim=-1), v, w)
add("addr", lambda a, b, c: torch.addr(c, a, b), v[:, 0], v[0], w)
add("sparse mm", lambda a, b: torch.sparse.mm(a.to_sparse(), b), torch.randn(64, 64), v)
add(
    "lerp",
    lambda a, b: torch.lerp(a, b, 0.3) + torch.addcmul(a, a, b) + torch.addcdiv(a, a, b.abs() + 1),
    v,
    w,
)
add("cov", lambda a: torch.cov(a), v)
add("corrcoef", lambda a: torch.corrcoef(a), v)
add("vander", lambda a: torch.vander(a[0], 4), v)
add("polyval", lambda a: torch.nan_to_num(a.frac() + a.trunc() + a.sgn()), v)
add("block_diag", lambda a, b: torch.block_diag(a, b), torch.randn(8, 8), torch.randn(4, 4))
add("cartesian", lambda a, b: torch.cartesian_prod(a, b), v[0], w[0])
add("combinations", lambda a: torch.combinations(a), v[0, :16])
add(
    "tril idx",
    lambda x: x[
        torch.tril_indices(64, 64, device=x.device)[0],
        torch.tril_indices(64, 64, device=x.device)[1],
    ],
    torch.randn(64, 64),
)
add(
    "dropout f",
    lambda x: (
        F.dropout(x, 0.5, True) + F.feature_dropout(x, 0.5, True)
        if hasattr(F, "feature_dropout")
        else F.dropout(x, 0.5, True)
    ),
    v,
)
add(
    "conv channels_last",
    lambda x, k: F.conv2d(x, k),
    images.contiguous(memory_format=torch.channels_last),
    torch.randn(16, 8, 3, 3),
)
add("isin", lambda i: torch.isin(i, i[:4]).float(), labels)
add("argwhere", lambda x: torch.argwhere(x > 0), v)
add("put", lambda x, i: x.clone().put_(i, torch.ones(64, device=x.device)), v, labels)
add(
    "select_scatter",
    lambda x: torch.select_scatter(x, x[0], 0, 1) + torch.slice_scatter(x, x[:8], 0, 0, 8),
    v,
)
add("matrix exponential", lambda a: torch.linalg.matrix_exp(a), torch.randn(32, 32))
add("pinv", lambda a: torch.linalg.pinv(a), torch.randn(32, 32))
add("lstsq", lambda a, b: torch.linalg.lstsq(a, b)[0], torch.randn(64, 32), torch.randn(64, 4))
add("nuclear norm", lambda a: torch.linalg.norm(a, "nuc"), torch.randn(32, 32))
add("spectral norm", lambda a: torch.linalg.norm(a, 2), torch.randn(32, 32))
add("matrix_rank", lambda a: torch.linalg.matrix_rank(a), torch.randn(32, 32))


# Factorizations and sparse formats: their kernels are not in the model.
NOT_COSTED = {
    "inv",
    "solve",
    "cholesky",
    "svd",
    "qr",
    "eigh",
    "det",
    "triangular",
    "logdet",
    "pinv",
    "lstsq",
    "nuclear norm",
    "spectral norm",
    "matrix_rank",
    "matrix exponential",
    "sparse mm",
}


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - NOT_COSTED))
def test_a_program_is_captured_and_costed_in_full(name):
    model, *given = PROGRAMS[name]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="not costed")
        net = from_torch(model, *given, evaluation=False)
    for compiled in (False, True):
        assert er.exam(net, on="h100-sxm-80gb", compiled=compiled).time_s > 0
    bound = er.bound(net, on="h100-sxm-80gb")
    assert 0 < bound["fused"]["time_s"] <= bound["cached"]["time_s"] <= bound["unfused"]["time_s"]


@pytest.mark.filterwarnings("ignore:not costed")
@pytest.mark.parametrize("name", sorted(NOT_COSTED))
def test_what_has_no_cost_is_refused_by_its_name(name):
    model, *given = PROGRAMS[name]
    with pytest.raises(er.Error, match=r"aten\."):
        er.exam(from_torch(model, *given, evaluation=False), on="h100-sxm-80gb")
