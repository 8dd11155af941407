"""torchvision's detectors, exported with a fixed image and captured by real tensors, against PyTorch's own count."""

import warnings

import pytest

import eyeroof as er

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
torchvision = pytest.importorskip("torchvision", reason="torchvision is not installed")
pytest.importorskip("onnx", reason="onnx is not installed")
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402


def detector(name):
    make = getattr(torchvision.models.detection, name)
    return make(weights=None, weights_backbone=None).eval(), ([torch.rand(3, 320, 320)],)


@pytest.mark.parametrize("name", ["ssdlite320_mobilenet_v3_large", "fasterrcnn_mobilenet_v3_large_320_fpn"])
def test_a_detector_costs_what_pytorch_counts(name, tmp_path):
    torch.manual_seed(0)
    model, inputs = detector(name)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(*inputs)
    macs = counter.get_total_flops() // 2
    path = tmp_path / "model.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, inputs, str(path), opset_version=18, dynamo=False)
        captured = er.from_torch(model, *inputs)
    net = er.network(path)
    # Proposals that are kept are counted at their upper bound: never fewer products than ran.
    assert macs <= net.totals()["macs"] <= 1.02 * macs
    assert captured.totals()["macs"] == macs
    # What selects by value (nonzero, nms) multiplies nothing; a capture holds it once for each class.
    for one, most in ((net, 0.02), (captured, 0.15)):
        exam = er.exam(one, on="a100-sxm-40gb")
        assert exam.macs >= macs and exam.time_s > 1e-3
        assert exam.uncosted_share < most
