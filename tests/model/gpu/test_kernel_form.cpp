// What a prediction says of the kernel is data, and its words are made from the data.
#include "model/gpu/predict.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace test_model_gpu_kernel_form {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;

namespace {

model::KernelForm form(const model::Layer& layer) {
    const auto p = model::predict(test::v100_sxm2(), layer);
    REQUIRE(p.ok());
    return p->form;
}

} // namespace

TEST_CASE("the kernel of a product says its tiles, their grid and its waves") {
    model::Layer layer;
    layer.op = model::Op::gemm;
    layer.shape = model::GemmShape{4096, 4096, 1024};
    layer.types = {model::DataType::fp32, model::DataType::fp32, model::DataType::fp32};
    const model::KernelForm f = form(layer);
    CHECK(f.algorithm == "product");
    REQUIRE(f.mapping);
    REQUIRE(f.product);
    REQUIRE(f.waves);
    CHECK(f.product->m * f.product->n * f.product->k == near(4096.0 * 4096.0 * 1024.0));
    const double ctas = std::ceil(f.product->m / f.mapping->tile.tm) *
                        std::ceil(f.product->n / f.mapping->tile.tn) * f.mapping->splits;
    CHECK(f.waves->ctas == near(ctas));
    CHECK(f.waves->full == near(std::ceil(ctas / test::v100_sxm2().sms)));
    CHECK(f.text().starts_with("CTA "));
}

TEST_CASE("Winograd's tiles are not those of the result, so no product is told") {
    const model::KernelForm f = form(test::conv(256, 256, 56, 3));
    CHECK(f.algorithm.starts_with("Winograd"));
    CHECK(f.mapping);
    CHECK_FALSE(f.product);
    CHECK_FALSE(f.waves);
}

TEST_CASE("elements stream through all SMs: no tiles") {
    model::Layer layer;
    layer.op = model::Op::softmax;
    layer.shape = model::RowsShape{4096, 512};
    layer.types = {model::DataType::fp32, model::DataType::fp32, model::DataType::fp32};
    const model::KernelForm f = form(layer);
    CHECK(f.algorithm == "elements");
    CHECK_FALSE(f.mapping);
    CHECK(f.text().starts_with("streamed"));
}

} // namespace test_model_gpu_kernel_form
