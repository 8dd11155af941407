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

TEST_CASE(
    "the product of a convolution's kernel has the MACs of the layer, whatever the direction") {
    for (const Count groups : {1, 4}) {
        for (const auto direction :
             {model::Direction::fwd, model::Direction::bwd_data, model::Direction::bwd_weight}) {
            CAPTURE(groups);
            CAPTURE(static_cast<int>(direction));
            model::Layer layer = test::conv(64, 96, 20, 7);
            std::get<model::ConvShape>(layer.shape).groups = groups;
            layer.direction = direction;
            const model::KernelForm f = form(layer);
            CHECK(f.algorithm == "implicit GEMM");
            REQUIRE(f.product);
            const auto& p = *f.product;
            CHECK(p.batch == near(static_cast<double>(groups)));
            CHECK(p.batch * p.m * p.n * p.k ==
                  near(16.0 * 20.0 * 20.0 * 64.0 * 96.0 * 49.0 / static_cast<double>(groups)));
            // Positions are rows of the result, or of a weight's gradient what is added up.
            const bool weight = direction == model::Direction::bwd_weight;
            CHECK((weight ? p.k : p.m) == near(16.0 * 20.0 * 20.0));
        }
    }
}

TEST_CASE("step 4 of a kernel is what its CTAs take one after the other on an SM") {
    const model::Gpu gpu = test::v100_sxm2();
    for (const model::Layer& layer :
         {test::conv(64, 96, 8, 7), test::conv(64, 96, 20, 7), test::conv(256, 256, 30, 1),
          test::gemm(300, 500, 700, model::DataType::fp32)}) {
        const auto p = model::predict(gpu, layer);
        REQUIRE(p.ok());
        const model::KernelForm& f = p->form;
        REQUIRE(f.waves);
        const double depth = std::ceil(f.product->k / f.mapping->splits);
        const double cta = f.mapping->tile.tm * f.mapping->tile.tn * depth; // MACs
        CHECK(p->steps[3].macs_per_cycle ==
              near(p->macs / (f.waves->full * cta / (p->units / gpu.sms))));
    }
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
