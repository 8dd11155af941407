#include "model/gpu/predict.hpp"
#include "model/gpu/supported.hpp"

#include <doctest/doctest.h>

namespace test_model_gpu_supported {

using namespace eyeroof;        // NOLINT
using namespace eyeroof::model; // NOLINT

namespace {

// fp32 on vectors, int8 on tensor units; no fp16.
Gpu old_gpu() {
    Gpu gpu;
    gpu.rate(DataType::fp32) = {4e12, Pipe::vector};
    gpu.rate(DataType::int8) = {8e12, Pipe::tensor};
    return gpu;
}

Layer layer(const char* name, Op op, DataType type) {
    Layer made;
    made.name = name;
    made.op = op;
    made.types = {type, type, type};
    if (op == Op::gemm) {
        made.shape = GemmShape{1, 64, 64, 64};
    } else {
        made.shape = ElementwiseShape{1, 64, "relu"};
    }
    return made;
}

} // namespace

TEST_CASE("a type without units is told once, with the GPU's name and its types") {
    Network network;
    network.layers = {
        layer("fc1", Op::gemm, DataType::fp16), layer("act", Op::elementwise, DataType::fp16),
        layer("fc2", Op::gemm, DataType::fp16), layer("fc3", Op::gemm, DataType::bf16),
        layer("fc4", Op::gemm, DataType::fp32)};
    const Diagnostics found = check_supported(network, "Old One", old_gpu());
    REQUIRE(found.size() == 2);
    CHECK(found.items()[0].code == "unsupported-type");
    CHECK(found.items()[0].message == "Old One has no units for fp16, of which fc1 and 1 more are");
    CHECK(found.items()[0].hint.find("it has fp32, int8") == 0);
    CHECK(found.items()[1].message == "Old One has no units for bf16, of which fc3 is");
}

TEST_CASE("exactly the layers that the prediction refuses are found before it") {
    for (const Op op : {Op::gemm, Op::elementwise}) {
        for (const DataType type : {DataType::fp32, DataType::fp16, DataType::int8}) {
            Network network;
            network.layers = {layer("l", op, type)};
            CAPTURE(data_type_name(type));
            CHECK(check_supported(network, "g", old_gpu()).has_errors() ==
                  !predict(old_gpu(), network.layers[0]).ok());
        }
    }
}

} // namespace test_model_gpu_supported
