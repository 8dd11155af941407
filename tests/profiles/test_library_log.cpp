// Shapes from the logs of cuBLAS, cuBLASLt and cuDNN.
#include "profiles/library_log.hpp"
#include "profiles/matching.hpp"
#include "profiles/operator_work.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

namespace test_profiles_library_log {

using namespace eyeroof;
using namespace eyeroof::profiles;

namespace {

Result<std::vector<Operator>> sample(const std::string& name) {
    auto source =
        ByteSource::open(eyeroof::tests::source_dir() + "/tests/profiles/samples/" + name);
    REQUIRE(source.ok());
    return read_library_log(**source);
}

Profile kernels(const std::vector<std::string>& names) {
    ProfileBuilder built;
    built.source("test");
    for (const std::string& name : names) {
        Launch launch;
        launch.kernel = built.kernel(name);
        launch.duration_ns = 1000.0;
        built.profile.launches.push_back(launch);
    }
    return built.profile;
}

} // namespace

TEST_CASE("a line of cuBLASLt gives M, N, K and the batch of a product") {
    const auto calls = sample("cublaslt.log");
    REQUIRE(calls.ok());
    REQUIRE(calls->size() == 2);
    // A is 512 x 1024 and transposed: M 1024, K 512
    CHECK((*calls)[0].input_dims ==
          std::vector<std::vector<std::int64_t>>{{1024, 512}, {512, 256}});
    CHECK((*calls)[0].input_types.front() == "c10::Half");
    CHECK((*calls)[1].name == "cublasLt::bmm");
    const auto layer = layer_of((*calls)[1]);
    REQUIRE(layer);
    CHECK(std::get<model::GemmShape>(layer->layer.shape) == model::GemmShape{8, 64, 16, 32});
}

TEST_CASE("blocks of cuBLAS and cuDNN give products and convolutions, in order") {
    const auto calls = sample("cublas_cudnn.log");
    REQUIRE(calls.ok());
    CHECK(calls.diagnostics().empty());
    REQUIRE(calls->size() == 3);
    CHECK((*calls)[0].input_dims ==
          std::vector<std::vector<std::int64_t>>{{1000, 2048}, {2048, 16}});
    CHECK((*calls)[0].input_types.front() == "float");
    CHECK((*calls)[1].input_types.front() == "c10::Half");
    const auto conv = layer_of((*calls)[2]);
    REQUIRE(conv);
    CHECK_FALSE(conv->approximate);
    const auto& shape = std::get<model::ConvShape>(conv->layer.shape);
    CHECK(shape.k == 128);
    CHECK(shape.stride == model::Extent2{2, 2});
    CHECK(shape.pad == model::Extent2{1, 1});
    CHECK(conv->layer.types.input == model::DataType::fp16);
}

TEST_CASE("logged calls go to kernels in order and name their layers, by that method") {
    const auto calls = sample("cublas_cudnn.log");
    REQUIRE(calls.ok());
    const Profile profile =
        kernels({"ampere_sgemm_32x32_tn", "cublasLt::splitKreduce_kernel<32>", "elementwise_kernel",
                 "sm80_xmma_fprop_implicit_gemm_f16", "ampere_h16816gemm_64x64"});
    const auto given = give_logged_calls(profile, *calls);
    REQUIRE(given.ok());
    std::vector<model::Layer> layers(2);
    layers[0].name = "fc";
    layers[0].op = model::Op::gemm;
    layers[0].shape = model::GemmShape{1, 16, 1000, 2048};
    layers[1].name = "conv";
    layers[1].op = model::Op::conv2d;
    layers[1].shape = model::ConvShape{8, 64, 56, 56, 128, 3, 3, {2, 2}, {1, 1}, {1, 1}, 1};
    const auto found = match(*given, layers);
    REQUIRE(found.ok());
    CHECK(found->of_launch[0].method == MatchMethod::library_log);
    CHECK(found->of_launch[0].layer == 0);
    CHECK(found->of_launch[1].layer == 0); // what the split left is added up by the next kernel
    CHECK(given->launches[0].op_call == given->launches[1].op_call);
    CHECK(found->of_launch[2].method == MatchMethod::none);
    CHECK(found->of_launch[3].method == MatchMethod::library_log);
    CHECK(found->of_launch[3].layer == 1);
    CHECK(found->of_launch[3].confidence < 0.95); // order is weaker evidence than an operator
}

TEST_CASE("a log of another run is refused as a whole") {
    const auto calls = sample("cublas_cudnn.log");
    REQUIRE(calls.ok());
    const auto given = give_logged_calls(kernels({"ampere_sgemm_32x32_tn", "fprop"}), *calls);
    REQUIRE_FALSE(given.ok());
    CHECK(given.diagnostics().items()[0].code == "runs-differ");
    CHECK(given.diagnostics().items()[0].message ==
          "the log has 2 products, the profile 1 kernels for them");
}

TEST_CASE("text that is no log, and calls that are not understood") {
    const auto none = read_library_log(*ByteSource::of_text("hello\nI! what\n", "x.log"));
    REQUIRE_FALSE(none.ok());
    CHECK(none.diagnostics().items()[0].code == "no-calls");
    const auto some = read_library_log(*ByteSource::of_text(
        "I! cuBLAS (v12.3) function cublasStatus_t cublasSgemm_v2(int) called:\n"
        "i!  m: type=int; val=2\ni!  n: type=int; val=3\ni!  k: type=int; val=4\n"
        "I! cuBLAS (v12.3) function cublasStatus_t cublasSgemm_v2(int) called:\n"
        "i!  m: type=int; val=lots\n",
        "x.log"));
    REQUIRE(some.ok());
    CHECK(some->size() == 1);
    CHECK(some.diagnostics().items()[0].code == "not-understood");
}

} // namespace test_profiles_library_log
