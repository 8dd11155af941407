#include "model/workload/elementwise.hpp"
#include "model/workload/input_footprint.hpp"
#include "model/workload/layer.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <set>

namespace test_model_layer {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using eyeroof::tests::near;

namespace {

Layer gemm(Count m, Count n, Count k, Direction direction = Direction::fwd, Count batch = 1) {
    return {"gemm", Op::gemm, GemmShape{batch, m, n, k}, {}, direction, 1};
}

Layer rows(Op op, Count r, Count c, Direction direction = Direction::fwd) {
    return {"rows", op, RowsShape{r, c}, {}, direction, 1};
}

Layer elementwise(const std::string& fn, Direction direction = Direction::fwd) {
    return {fn, Op::elementwise, ElementwiseShape{100, 10, fn}, {}, direction, 1};
}

ConvShape square_conv(Count n, Count c, Count size, Count k, Count window, Count stride,
                      Count groups = 1) {
    ConvShape s;
    s.n = n, s.c = c, s.h = s.w = size, s.k = k, s.r = s.s = window;
    s.stride = {stride, stride};
    s.groups = groups;
    return s;
}

Layer conv(const ConvShape& shape, Direction direction = Direction::fwd) {
    return {"conv", Op::conv2d, shape, {}, direction, 1};
}

double flops_per_byte(const Layer& layer) {
    const Work work = work_of(layer).value();
    return static_cast<double>(work.flops) / static_cast<double>(work.bytes());
}

bool has_code(const Diagnostics& found, const std::string& code, const std::string& field) {
    return std::any_of(found.begin(), found.end(), [&](const Diagnostic& d) {
        return d.code == code && (field.empty() || d.field == field);
    });
}

Count footprint_rows_by_listing(const SlidingWindow& w) {
    std::set<Count> rows;
    for (Count p = 0; p < w.outputs; ++p) {
        for (Count r = 0; r < w.taps; ++r) {
            const Count row = p * w.stride + r * w.dilation - w.pad;
            if (row >= 0 && row < w.size) {
                rows.insert(row);
            }
        }
    }
    return static_cast<Count>(rows.size());
}

} // namespace

TEST_CASE("the first convolution of ResNet-50 has 118013952 MACs with its padding") {
    ConvShape s = square_conv(1, 3, 224, 64, 7, 2);
    s.pad = {3, 3};
    CHECK(s.p() == 112); // (224 + 6 - 7) / 2 + 1 = 112.5
    CHECK(s.q() == 112);
    const Work work = work_of(conv(s)).value();
    CHECK(work.macs == 118'013'952); // 64 * 112 * 112 * 3 * 49
    CHECK(work.flops == 2 * work.macs);
    s.pad = {0, 0}; // the count of tools that ignore padding: 64 * 109^2 * 147
    CHECK(work_of(conv(s))->macs == 111'776'448);
}

TEST_CASE("AlexNet's grouped convolutions at batch 4 have the published MACs") {
    // Chen et al., IEEE JSSC 2017, Table III: inputs already padded, channels per group.
    const auto macs = [](Count c, Count size, Count k, Count window, Count stride, Count groups) {
        return work_of(conv(square_conv(4, c, size, k, window, stride, groups)))->macs;
    };
    CHECK(macs(3, 227, 96, 11, 4, 1) == 421'660'800);
    CHECK(macs(96, 31, 256, 5, 1, 2) == 895'795'200);
    CHECK(macs(256, 15, 384, 3, 1, 1) == 598'081'536);
    CHECK(macs(384, 15, 384, 3, 1, 2) == 448'561'152);
    CHECK(macs(384, 15, 256, 3, 1, 2) == 299'040'768);
}

TEST_CASE("depthwise convolution does one filter a channel") {
    ConvShape s = square_conv(2, 32, 10, 32, 3, 1, 32);
    const Work work = work_of(conv(s)).value();
    CHECK(work.macs == 2 * 32 * 8 * 8 * 9);
    CHECK(work.tensors[1].elements == 32 * 9);
}

TEST_CASE("arithmetic intensities of the deep-learning performance guide come out") {
    // NVIDIA Deep Learning Performance Guide, fp16: 2 m n k / (2 (m k + k n + m n)).
    CHECK(flops_per_byte(gemm(512, 4096, 1024)) == near(315.08, 1e-5));
    CHECK(flops_per_byte(gemm(1, 4096, 1024)) == near(0.9988, 1e-4));
    CHECK(flops_per_byte(gemm(8192, 128, 8192)) == near(124.12, 1e-4));
    CHECK(flops_per_byte(gemm(8192, 8192, 8192)) == near(2730.67, 1e-5));
    CHECK(flops_per_byte(gemm(8192, 1, 8192)) < 1.0); // matrix times vector
    PoolShape pool{1, 64, 56, 56, 3, 3, {1, 1}, {1, 1}};
    CHECK(flops_per_byte({"pool", Op::maxpool, pool, {}, Direction::fwd, 1}) ==
          near(2.25)); // 9 operations, 2 bytes in and 2 out
    CHECK(flops_per_byte(elementwise("relu")) == near(0.25));
    CHECK(flops_per_byte(rows(Op::layernorm, 1024, 1024)) < 10.0);
    CHECK(flops_per_byte(rows(Op::layernorm, 1024, 1024)) > 1.0);
}

TEST_CASE("gradients of a product have its MACs and read the other operand") {
    const Work forward = work_of(gemm(8, 16, 32)).value();
    const Work data = work_of(gemm(8, 16, 32, Direction::bwd_data)).value();
    const Work weight = work_of(gemm(8, 16, 32, Direction::bwd_weight)).value();
    CHECK(forward.macs == 8 * 16 * 32);
    CHECK(data.macs == forward.macs);
    CHECK(weight.macs == forward.macs);
    REQUIRE(data.tensors.size() == 3);
    CHECK(data.tensors[0] == TensorUse{"grad_output", 8 * 16, 256, false});
    CHECK(data.tensors[1] == TensorUse{"weight", 32 * 16, 1024, false});
    CHECK(data.tensors[2] == TensorUse{"grad_input", 8 * 32, 512, true});
    CHECK(weight.tensors[2] == TensorUse{"grad_weight", 32 * 16, 1024, true});
    CHECK(forward.bytes() == data.bytes());
}

TEST_CASE("weights are shared over the batch of gemm and not of bmm") {
    const Work shared = work_of(gemm(8, 16, 32, Direction::fwd, 4)).value();
    Layer layer = gemm(8, 16, 32, Direction::fwd, 4);
    layer.op = Op::bmm;
    const Work apart = work_of(layer).value();
    CHECK(shared.macs == apart.macs);
    CHECK(shared.tensors[1] == TensorUse{"weight", 512, 1024, false});
    CHECK(apart.tensors[1] == TensorUse{"input2", 4 * 512, 4 * 1024, false});
}

TEST_CASE("a tensor's bytes follow its own data type, and four bits are packed") {
    Layer layer = gemm(3, 5, 7);
    layer.types = {DataType::int8, DataType::int4, DataType::int32};
    const Work work = work_of(layer).value();
    CHECK(work.tensors[0].bytes == 21);
    CHECK(work.tensors[1].bytes == 18); // 35 * 4 bit = 17.5 byte
    CHECK(work.tensors[2].bytes == 60);
    CHECK(storage_bits(DataType::tf32) == 32);
}

TEST_CASE("block-scaled tensors carry a scale of 8 bits for every 32 or 16 elements") {
    // 40 elements: two blocks of 32 or three of 16, the last one short
    CHECK(stored_bytes(DataType::mxfp8, 40) == 40 + 2);
    CHECK(stored_bytes(DataType::mxfp6, 40) == 30 + 2);
    CHECK(stored_bytes(DataType::mxfp4, 40) == 20 + 2);
    CHECK(stored_bytes(DataType::nvfp4, 40) == 20 + 3);
    CHECK(stored_bytes(DataType::fp4, 40) == 20);
    CHECK(stored_bytes(DataType::mxfp4, kMaxDimension * kMaxDimension * 9) == std::nullopt);
    CHECK(bytes_per_element(DataType::mxfp4) == 4.25 / 8.0);
    CHECK(bytes_per_element(DataType::nvfp4) == 4.5 / 8.0);
    CHECK(bytes_per_element(DataType::tf32) == 4.0);

    Layer layer = gemm(3, 5, 7);
    layer.types = {DataType::bf16, DataType::mxfp4, DataType::bf16}; // weights alone
    CHECK(work_of(layer)->tensors[1].bytes == 18 + 2); // 35 elements: 17.5 bytes, two blocks
}

TEST_CASE("narrow floats are those that activations are quantized to") {
    for (const std::string_view name : data_type_names()) {
        const DataType type = *data_type_from_name(name);
        const bool floating = name.find("fp") != std::string_view::npos;
        CHECK(is_narrow_float(type) == (floating && storage_bits(type) <= 8));
        CHECK((block_scale(type).elements > 0) == (name.starts_with("mx") || name == "nvfp4"));
    }
    CHECK(data_type_names().size() == kDataTypes);
    CHECK(data_type_from_name("e2m1") == DataType::fp4);
}

TEST_CASE("attention counts two products forward and four backward, without its scores") {
    const AttentionShape shape{2, 3, 5, 7, 11};
    Layer layer{"attention", Op::attention, shape, {}, Direction::fwd, 1};
    const Work forward = work_of(layer).value();
    const Count product = 2 * 3 * 5 * 7 * 11;
    CHECK(forward.macs == 2 * product);
    CHECK(forward.flops == 4 * product + 6 * 2 * 3 * 5 * 7);
    CHECK(forward.bytes() == 2 * (2 * 6 * 5 * 11 + 2 * 6 * 7 * 11)); // q, output; k, v
    layer.direction = Direction::bwd_data;
    CHECK(work_of(layer)->macs == 4 * product);
}

TEST_CASE("an elementwise function moves as many tensors as it has operands") {
    CHECK(tensors_read("add") == 2);
    CHECK(tensors_read("addu") == 1);
    CHECK(tensors_read("gelu") == 1);
    CHECK(tensors_read("swiglu") == 2);
    CHECK_FALSE(tensors_read("frobnicate"));
    CHECK(work_of(elementwise("add"))->bytes() == 3 * 2000);
    CHECK(work_of(elementwise("powu"))->bytes() == 2 * 2000);
    CHECK(work_of(elementwise("adam"))->bytes() == 7 * 2000);
    for (const std::string_view fn : elementwise_functions()) {
        CAPTURE(fn);
        const Work work = work_of(elementwise(std::string(fn))).value();
        CHECK(static_cast<int>(work.tensors.size()) ==
              find_elementwise(fn)->reads + find_elementwise(fn)->writes);
    }
}

TEST_CASE("every operator does some work in every direction that it has") {
    const std::vector<Layer> layers = {
        conv(square_conv(2, 4, 9, 6, 3, 2)),
        gemm(3, 4, 5),
        {"bmm", Op::bmm, GemmShape{2, 3, 4, 5}, {}, Direction::fwd, 1},
        {"max", Op::maxpool, PoolShape{1, 2, 8, 8, 2, 2, {2, 2}, {0, 0}}, {}, Direction::fwd, 1},
        {"avg", Op::avgpool, PoolShape{1, 2, 8, 8, 2, 2, {2, 2}, {0, 0}}, {}, Direction::fwd, 1},
        elementwise("relu"),
        rows(Op::softmax, 4, 5),
        rows(Op::layernorm, 4, 5),
        rows(Op::batchnorm, 4, 5),
        rows(Op::embedding, 4, 5),
        rows(Op::rope, 4, 5),
        {"att", Op::attention, AttentionShape{1, 2, 3, 4, 5}, {}, Direction::fwd, 1}};
    for (Layer layer : layers) {
        CAPTURE(op_name(layer.op));
        int gradients = 0;
        for (const Direction d : {Direction::bwd_data, Direction::bwd_weight}) {
            layer.direction = d;
            const auto work = work_of(layer);
            gradients += work.ok() ? 1 : 0;
            CHECK((work.ok() || has_code(work.diagnostics(), "no-gradient", "direction")));
        }
        CHECK(gradients >= 1);
        layer.direction = Direction::fwd;
        const Work work = work_of(layer).value();
        CHECK(work.bytes_read() > 0);
        CHECK(work.bytes_written() > 0);
        CHECK((work.flops > 0 || layer.op == Op::embedding));
    }
}

TEST_CASE("compulsory input traffic leaves out rows that no window touches") {
    // A 1 x 1 filter with stride 2 over 56 x 56 reads 28 x 28.
    const Work work = work_of(conv(square_conv(1, 64, 56, 128, 1, 2))).value();
    CHECK(work.tensors[0].elements == 64 * 28 * 28);
    const Work back = work_of(conv(square_conv(1, 64, 56, 128, 1, 2), Direction::bwd_data)).value();
    CHECK(back.tensors[2].elements == 64 * 56 * 56); // its gradient is zero there, and written
}

TEST_CASE("the number of touched rows equals that of listing them") {
    for (Count taps = 1; taps <= 5; ++taps) {
        for (Count stride = 1; stride <= 6; ++stride) {
            for (Count dilation = 1; dilation <= 4; ++dilation) {
                for (Count pad = 0; pad <= 7; ++pad) {
                    for (const Count size : {1, 2, 9, 24}) {
                        const Count slack = size + 2 * pad - dilation * (taps - 1);
                        if (slack < 1) {
                            continue;
                        }
                        const SlidingWindow w{size, taps,     stride,
                                              pad,  dilation, (slack - 1) / stride + 1};
                        REQUIRE(input_footprint_rows(w) == footprint_rows_by_listing(w));
                    }
                }
            }
        }
    }
    // 4 taps, 2 apart, at 300 million positions, 3 apart, span 900000004 rows: rows 0, 2, 4, 6,
    // then 3, 5, 7, 9, then 6, 8, …: only row 1 and, by symmetry, the last but one stay untouched.
    const SlidingWindow large{900'000'004, 4, 3, 0, 2, 300'000'000};
    CHECK(input_footprint_rows(large) == 900'000'004 - 2);
}

TEST_CASE("all violations of a layer are reported together, each with its field") {
    ConvShape s = square_conv(0, -3, 224, 1'000'000'000'000, 3, 0);
    s.pad = {-1, 0};
    Layer layer = conv(s);
    layer.count = 0;
    const Diagnostics found = validate(layer);
    CHECK(found.size() == 6);
    for (const char* field : {"n", "c", "k", "stride", "pad", "count"}) {
        CAPTURE(field);
        CHECK(has_code(found, "bad-dimension", field));
    }
    CHECK_FALSE(work_of(layer).ok());
}

TEST_CASE("a filter larger than the padded input is refused") {
    ConvShape s = square_conv(1, 3, 5, 8, 7, 1);
    CHECK(has_code(validate(conv(s)), "window-too-large", "r"));
    CHECK(has_code(validate(conv(s)), "window-too-large", "s"));
    s.pad = {1, 1};
    CHECK_FALSE(validate(conv(s)).has_errors());
    s.dilation = {2, 1}; // 13 rows over 7
    CHECK(has_code(validate(conv(s)), "window-too-large", "r"));
    CHECK_FALSE(has_code(validate(conv(s)), "window-too-large", "s"));
    CHECK(s.p() == 0);
}

TEST_CASE("channels that groups do not divide are refused") {
    CHECK(has_code(validate(conv(square_conv(1, 3, 8, 8, 3, 1, 2))), "groups", "groups"));
    CHECK(has_code(validate(conv(square_conv(1, 4, 8, 7, 3, 1, 2))), "groups", "groups"));
    CHECK_FALSE(validate(conv(square_conv(1, 4, 8, 8, 3, 1, 2))).has_errors());
}

TEST_CASE("work that does not fit 63 bits is refused and not wrapped") {
    const Count big = kMaxDimension;
    CHECK(has_code(validate(gemm(big, big, big)), "overflow", ""));
    CHECK(work_of(gemm(big, big, 1)).ok() == false); // 2e18 operations fit, 1.6e19 bits do not
    CHECK(work_of(gemm(big, 1000, 1000)).ok());
    const Count top = std::numeric_limits<Count>::max();
    ConvShape s = square_conv(top, top, top, top, top, top, top);
    s.dilation = {top, top};
    CHECK(s.p() == 0);
    CHECK(validate(conv(s)).has_errors());
}

TEST_CASE("an unknown elementwise function is refused with the nearest name") {
    const Diagnostics found = validate(elementwise("rellu"));
    REQUIRE(found.size() == 1);
    CHECK(found.items()[0].field == "fn");
    CHECK(found.items()[0].hint == "did you mean 'relu'?");
}

TEST_CASE("a shape that is not the operator's is refused") {
    Layer layer = gemm(1, 1, 1);
    layer.op = Op::conv2d;
    CHECK(has_code(validate(layer), "wrong-shape", "op"));
}

TEST_CASE("names go there and back") {
    for (const std::string_view name : op_names()) {
        CHECK(op_name(op_from_name(name).value()) == name);
    }
    for (const std::string_view name : data_type_names()) {
        CHECK(data_type_name(data_type_from_name(name).value()) == name);
    }
    for (const Direction d : {Direction::fwd, Direction::bwd_data, Direction::bwd_weight}) {
        CHECK(direction_from_name(direction_name(d)) == d);
    }
    CHECK(data_type_from_name("bfloat16") == DataType::bf16);
    CHECK(data_type_from_name("half") == DataType::fp16);
    CHECK_FALSE(op_from_name("conv3d"));
}

} // namespace test_model_layer
