#include "model/gpu/matmul.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_model_gpu_matmul {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;
using model::KernelMapping;
using model::Product;

TEST_CASE("108 tiles fill an A100 once, 117 take a second wave for nine tiles") {
    const KernelMapping map{{256, 128, 1}, 1};
    // 2304/256 x 1536/128 = 9 x 12 = 108 tiles on 108 SMs
    const auto full = model::waves_of(Product{1, 2304, 1536, 4096}, map, 108);
    CHECK(full.ctas == 108.0);
    CHECK(full.full == 1.0);
    CHECK(full.efficiency == 1.0);
    // one column more: 9 x 13 = 117 tiles, 117 / 216 = 54.2 %
    const auto over = model::waves_of(Product{1, 2304, 1537, 4096}, map, 108);
    CHECK(over.ctas == 117.0);
    CHECK(over.full == 2.0);
    CHECK(over.efficiency == near(0.5417, 0.001));
    // 1792 x 1792: 7 x 14 = 98; 1793 x 1793: 8 x 15 = 120
    CHECK(model::waves_of(Product{1, 1792, 1792, 64}, map, 108).ctas == 98.0);
    CHECK(model::waves_of(Product{1, 1793, 1793, 64}, map, 108).ctas == 120.0);
}

TEST_CASE("one row too many costs half as many tiles again") {
    const KernelMapping map{{128, 128, 1}, 1};
    CHECK(model::waves_of(Product{1, 256, 256, 64}, map, 80).ctas == 4.0);
    const auto over = model::waves_of(Product{1, 257, 256, 64}, map, 80);
    CHECK(over.ctas == 6.0);
    CHECK(over.tile_efficiency == near(257.0 / 384.0));
}

TEST_CASE("the compute term is tile work over the rate of an SM, in turn") {
    model::Gpu gpu = test::v100_sxm2();
    gpu.sms = 1;
    gpu.rate(model::DataType::fp32) = {1e12, model::Pipe::vector};
    model::MatmulTerms terms;
    terms.peak_share = 0.5;
    terms.half_intensity = 0.0;
    terms.ramp_k = 16.0;
    terms.ramp_occupancy = 0.0;
    // 256 x 128 outputs on 128 x 128 tiles: two CTAs in turn, each 2 x 128 x 128 x (64 + 16) FLOP
    // at half of 1 TFLOP/s: 2 x 2621440 / 0.5e12 = 10.486 us
    const auto t = model::matmul_compute(gpu, model::DataType::fp32, terms,
                                         Product{1, 256, 128, 64}, {{128, 128, 1}}, {1}, 8.0);
    CHECK(t.compute_s == near(10.486e-6, 0.001));
}

TEST_CASE("registers hold 32 Ki accumulators of an SM") {
    CHECK(model::resident_ctas({128, 128, 1}, false) == 2);
    CHECK(model::resident_ctas({256, 128, 1}, true) == 1);
    CHECK(model::resident_ctas({32, 32, 1}, true) == 8);
}

TEST_CASE("short kernels run at the boost clock, long ones at the sustained clock") {
    model::MatmulTerms terms;
    terms.sustained_clock = 0.5;
    terms.settle_s = 1e-3;
    CHECK(model::clock_share(terms, 0.0) == 1.0);
    CHECK(model::clock_share(terms, 1e-3) == near(0.75));
    CHECK(model::clock_share(terms, 10.0) == near(0.5, 0.01));
}

TEST_CASE("long k with few outputs is split among CTAs") {
    const auto gpu = test::v100_sxm2();
    const auto few = model::matmul_time(
        gpu, model::DataType::fp16, gpu.calibration.tensor_gemm, Product{1, 64, 64, 65536},
        model::library_tiles(gpu, false, true, false), model::library_splits(false));
    CHECK(few.mapping.splits > 1);
    const auto many = model::matmul_time(
        gpu, model::DataType::fp16, gpu.calibration.tensor_gemm, Product{1, 8192, 8192, 1024},
        model::library_tiles(gpu, false, true, false), model::library_splits(false));
    CHECK(many.mapping.splits == 1);
}

namespace {

// Body of an fp32 product with two terms changed, seconds.
double vector_body(const Product& product, double reuse, double tlb_cost) {
    const auto gpu = test::v100_sxm2();
    model::MatmulTerms terms;
    terms.reuse = reuse;
    terms.tlb_cost = tlb_cost;
    return model::matmul_time(gpu, model::DataType::fp32, terms, product, {{64, 64, 1}}, {1})
        .body_s;
}

} // namespace

TEST_CASE("weights stay in L2 while five sets of them fit, activations while the operands do") {
    auto gpu = test::v100_sxm2();
    gpu.l2_bytes = 96.0 * 1024 * 1024;
    model::MatmulTerms terms;
    terms.resident_l2 = 1.0;
    terms.resident_sharpness = 16.0;
    // 2048 x 2048 weights of 2 bytes: 8.4 MB, five of them 42 MB; 8 MB of activations are 0.3 %
    // more
    CHECK(model::resident_of(gpu, terms, Product{1, 4, 2048, 2048}) > 0.99);
    // 4096 x 4096: 33.6 MB, five of them 168 MB
    CHECK(model::resident_of(gpu, terms, Product{1, 4, 4096, 4096}) < 0.01);
    // the same bytes as activations
    CHECK(model::resident_of(gpu, terms, Product{1, 4096, 4, 4096}) > 0.99);
    terms.resident_l2 = 0.0;
    CHECK(model::resident_of(gpu, terms, Product{1, 4, 2048, 2048}) == 0.0);
}

TEST_CASE("data-centre parts since the A100 reach half of their L2 without crossing over") {
    auto gpu = test::v100_sxm2();
    for (const auto& [capability, share] :
         {std::pair{"7.0", 1.0}, {"8.0", 0.5}, {"8.9", 1.0}, {"9.0", 0.5}, {"10.0", 0.5}}) {
        gpu.compute_capability = capability;
        CHECK(model::l2_reach_bytes(gpu) == share * gpu.l2_bytes);
    }
}

TEST_CASE("rows of k beyond the TLB's reach slow a product down, short ones do not feel it") {
    const Product longer{1, 8192, 8192, 60000, 4.0, 4.0};
    CHECK(vector_body(longer, 0.0, 20.0) > 2.0 * vector_body(longer, 0.0, 0.0));
    const Product shorter{1, 8192, 8192, 512, 4.0, 4.0};
    CHECK(vector_body(shorter, 0.0, 20.0) == near(vector_body(shorter, 0.0, 0.0), 0.001));
}

TEST_CASE("weights wider than L2 are read again for every row of tiles, narrow ones are not") {
    // 60,000 columns of 512 x 4 bytes are 123 MB between two uses; 512 columns on 8 tiles of 1280
    // in flight 1.05 MB x 8/1280 and the 64 rows of a tile, 0.13 MB, against 6 MB of L2
    const Product wide{1, 8192, 60000, 512, 4.0, 4.0};
    CHECK(vector_body(wide, 4.0, 0.0) > 1.02 * vector_body(wide, 0.0, 0.0));
    const Product narrow{1, 60000, 512, 512, 4.0, 4.0};
    CHECK(vector_body(narrow, 1.0, 0.0) == near(vector_body(narrow, 0.0, 0.0), 0.005));
}

TEST_CASE(
    "an early library has cuBLAS 8's tiles on a Pascal card, a current one three small ones") {
    auto gpu = test::v100_sxm2();
    gpu.arch = model::GpuArch::pascal;
    CHECK(model::library_tiles(gpu, false, false, true).size() == 8);
    CHECK(model::library_tiles(gpu, false, false, false).size() == 3);
    const auto tile = [&](model::Library library) {
        const auto layer = test::gemm(7680, 16, 2560, model::DataType::fp32);
        const auto kernel = model::kernel_of(gpu, layer, *model::work_of(layer), {library});
        REQUIRE(kernel.ok());
        return kernel->matmul->mapping.tile;
    };
    const auto offers = [&](bool early, const model::CtaTile& one) {
        const auto& tiles = model::library_tiles(gpu, false, false, early);
        return std::find(tiles.begin(), tiles.end(), one) != tiles.end();
    };
    CHECK(offers(true, tile(model::Library::until_10)));
    CHECK(offers(false, tile(model::Library::current)));
    CHECK(tile(model::Library::until_10) != tile(model::Library::current));
}

TEST_CASE("batched products on vector lanes have Volta's tiles until Turing, others since") {
    auto gpu = test::v100_sxm2();
    const auto tiles = [&](model::GpuArch arch, bool early = false) {
        gpu.arch = arch;
        return model::library_tiles(gpu, true, false, early);
    };
    CHECK(tiles(model::GpuArch::pascal).size() == 1);
    CHECK(tiles(model::GpuArch::volta).size() == 4);
    CHECK(tiles(model::GpuArch::turing) == tiles(model::GpuArch::volta));
    CHECK(tiles(model::GpuArch::pascal, true) == tiles(model::GpuArch::volta));
    CHECK(tiles(model::GpuArch::ampere) == std::vector<model::CtaTile>{{128, 128}});
    CHECK(tiles(model::GpuArch::ada).size() == 11);
    CHECK(tiles(model::GpuArch::hopper) == tiles(model::GpuArch::ada));
}

TEST_CASE("int8 of an early library runs on DP4A: four MACs a lane and cycle") {
    auto gpu = test::v100_sxm2();
    gpu.arch = model::GpuArch::turing;
    gpu.rate(model::DataType::int8) = {250e12, model::Pipe::tensor};
    const Product large{1, 8192, 8192, 8192, 1.0, 4.0};
    const auto time = [&](bool early) {
        return model::matmul_time(gpu, model::DataType::int8, model::MatmulTerms{}, large,
                                  {{128, 128, 1}}, {1}, early)
            .compute_s;
    };
    // 4 x 15.7 = 62.8 TOP/s against 250
    CHECK(time(true) / time(false) == near(250.0 / 62.8, 0.1));
}

TEST_CASE("128 lanes on four schedulers leave no slot for loads, 64 lanes and dual issue do") {
    auto gpu = test::v100_sxm2();
    CHECK_FALSE(model::lanes_fill_issue(gpu)); // 64 lanes
    gpu.fp32_lanes = 128;
    gpu.arch = model::GpuArch::maxwell;
    CHECK_FALSE(model::lanes_fill_issue(gpu)); // dual issue
    for (const auto arch : {model::GpuArch::ampere, model::GpuArch::ada, model::GpuArch::hopper,
                            model::GpuArch::blackwell}) {
        gpu.arch = arch;
        CHECK(model::lanes_fill_issue(gpu));
    }
    gpu.fp32_lanes = 64; // A100
    gpu.arch = model::GpuArch::ampere;
    CHECK_FALSE(model::lanes_fill_issue(gpu));
}

TEST_CASE("two CTAs of a cluster read the longer side of their tiles once, since Hopper") {
    auto gpu = test::a100_sxm_40();
    CHECK(model::tile_reads(gpu, {256, 128, 1}, true) == 384.0);
    gpu.arch = model::GpuArch::hopper;
    CHECK(model::tile_reads(gpu, {256, 128, 1}, true) == 256.0);
    CHECK(model::tile_reads(gpu, {256, 128, 1}, false) == 384.0); // vector lanes have none
}

TEST_CASE("a library's name tells its generation, other names leave it open") {
    using model::Library;
    CHECK(model::library_from_name("cublas 8") == Library::until_10);
    CHECK(model::library_from_name("pytorch 2.1 cuBLAS 12.1") == Library::current);
    CHECK(model::library_from_name("cudnn 7.6") == Library::until_10);
    CHECK(model::library_from_name("cudnn 8") == Library::current);
    for (const char* name : {"", "cublas", "cublas x", "VLLM 0.14.0", "cublas 99999999999999"}) {
        CHECK_FALSE(model::library_from_name(name));
    }
}

} // namespace test_model_gpu_matmul
