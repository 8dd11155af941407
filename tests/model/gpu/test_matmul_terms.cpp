// Every term of a product's time, worked out by hand with all others neutral.
#include "tests/model/gpu/plain_gpu.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_model_gpu_matmul_terms {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;
using model::CtaTile;
using model::DataType;
using model::MatmulTerms;
using model::MatmulTime;
using model::Product;

namespace {

const Product kTwoTiles{1, 100, 128, 80, 4, 4}; // of 64 x 128
constexpr CtaTile kTile{64, 128, 1};
// 2 x 64 x 128 x 80 FLOP of one CTA at 100 GFLOP/s.
constexpr double kWork = 2.0 * 64 * 128 * 80 / 1e11;

MatmulTime time_of(const MatmulTerms& terms, const Product& product = kTwoTiles,
                   const CtaTile& tile = kTile, int splits = 1, DataType type = DataType::fp32,
                   const model::Gpu& gpu = test::plain_gpu(), bool early = false) {
    return model::matmul_time(gpu, type, terms, product, {tile}, {splits}, early);
}

} // namespace

TEST_CASE("a row more than a tile costs a whole tile, and SMs take turns") {
    // 100 rows are two tiles of 64, on two of ten SMs: the time of one.
    CHECK(time_of(test::plain_matmul()).compute_s == near(kWork));
    // 11 tiles on 10 SMs: two turns.
    CHECK(time_of(test::plain_matmul(), {1, 64 * 11, 128, 80, 4, 4}).compute_s == near(2 * kWork));
    const auto waves = model::waves_of({1, 64 * 11, 128, 80, 4, 4}, {kTile, 1}, 10);
    CHECK(waves.efficiency == near(11.0 / 20.0));
    CHECK(model::waves_of(kTwoTiles, {kTile, 1}, 10).tile_efficiency == near(100.0 / 128.0));
}

TEST_CASE(
    "a product that waits for DRAM longer than it computes is bound by DRAM, if not at its rate") {
    model::Gpu gpu = test::plain_gpu();
    gpu.calibration.linear = test::plain_matmul();
    model::Layer layer;
    layer.op = model::Op::gemm;
    layer.shape = model::GemmShape{1, 1024, 1024, 1024};
    layer.types = {DataType::fp32, DataType::fp32, DataType::fp32};
    const double compute_s = model::predict(gpu, layer)->time_s;
    // Half of the bandwidth is reached: at all of it the bytes would take half of the waiting time.
    gpu.calibration.linear.dram_share = 0.5;
    const auto limit = [&](double dram_s) {
        gpu.dram_bytes_per_s = 3.0 * 1024 * 1024 * 4 / (0.5 * dram_s);
        const auto p = model::predict(gpu, layer);
        REQUIRE(p.ok());
        CHECK(p->steps[5].macs_per_cycle == near(p->steps[4].macs_per_cycle));
        return p->steps[6].limit;
    };
    CHECK(limit(1.05 * compute_s) == "DRAM bandwidth");
    CHECK(limit(0.95 * compute_s) != "DRAM bandwidth");
}

TEST_CASE("k is walked in whole steps of 8, 32 on tensor cores, and once for each split") {
    CHECK(time_of(test::plain_matmul(), {1, 64, 128, 81, 4, 4}).compute_s ==
          near(kWork * 88.0 / 80.0));
    CHECK(
        time_of(test::plain_matmul(), {1, 64, 128, 80, 2, 2}, kTile, 1, DataType::fp16).compute_s ==
        near(kWork / 8.0 * 96.0 / 80.0));
    CHECK(time_of(test::plain_matmul(), {1, 64, 128, 80, 4, 4}, kTile, 2).compute_s ==
          near(kWork / 2.0));
}

TEST_CASE("ramps: k elements of work and cycles of the clock before it, each CTA") {
    MatmulTerms terms = test::plain_matmul();
    terms.ramp_k = 20.0;
    CHECK(time_of(terms).compute_s == near(kWork * 100.0 / 80.0));
    terms.ramp_k = 0.0;
    terms.ramp_cycles = 3000.0; // 3 us
    CHECK(time_of(terms).compute_s == near(kWork + 3e-6));
}

TEST_CASE("a tile's intensity and the share of the peak give its efficiency") {
    MatmulTerms terms = test::plain_matmul();
    terms.peak_share = 0.5;
    CHECK(time_of(terms).compute_s == near(kWork / 0.5));
    terms.half_intensity = 64.0 * 128.0 / (64.0 + 128.0); // the tile's own: half of the share
    CHECK(time_of(terms).compute_s == near(kWork / 0.25));
}

TEST_CASE("an SM that holds a quarter of its accumulators hides part of the latency") {
    MatmulTerms terms = test::plain_matmul();
    terms.ramp_occupancy = 0.25;
    // 8192 of 32768 sums: 0.25 x 1.25 / (0.25 + 0.25)
    CHECK(time_of(terms).compute_s == near(kWork / 0.625));
    // Four in turn fill it.
    CHECK(time_of(terms, {1, 64 * 40, 128, 80, 4, 4}).compute_s == near(4 * kWork));
}

TEST_CASE("slices of k cost extra work and whole steps for each slice") {
    MatmulTerms terms = test::plain_matmul();
    terms.slice_cost = 0.5;
    // 32 x 32 in four slices: k of 80 becomes 96 in steps of 4 x 8.
    const double work = 2.0 * 32 * 32 * 96 / 1e11;
    CHECK(time_of(terms, {1, 32, 32, 80, 4, 4}, {32, 32, 4}).compute_s == near(1.5 * work));
}

TEST_CASE("FMAs that share their issue slots with loads run slower, except in early libraries") {
    MatmulTerms terms = test::plain_matmul();
    terms.issue_share = 0.8;
    model::Gpu gpu = test::plain_gpu();
    CHECK(time_of(terms, kTwoTiles, kTile, 1, DataType::fp32, gpu).compute_s == near(kWork));
    const CtaTile thin{64, 64};
    const double free = time_of(terms, kTwoTiles, thin, 1, DataType::fp32, gpu).compute_s;
    gpu.arch = model::GpuArch::pascal; // 64 x 64 and thinner only
    CHECK(time_of(terms, kTwoTiles, kTile, 1, DataType::fp32, gpu).compute_s == near(kWork));
    CHECK(time_of(terms, kTwoTiles, thin, 1, DataType::fp32, gpu).compute_s == near(free / 0.8));
    CHECK(time_of(terms, kTwoTiles, thin, 1, DataType::fp32, gpu, true).compute_s == near(free));
}

TEST_CASE("DRAM moves every word once, and the partial sums of a split twice") {
    model::Gpu gpu = test::plain_gpu();
    gpu.dram_bytes_per_s = 1e9;
    MatmulTerms terms = test::plain_matmul();
    terms.dram_share = 0.5;
    const double bytes = 4.0 * (100 * 80 + 128 * 80) + 4.0 * 100 * 128;
    const auto whole = time_of(terms, kTwoTiles, kTile, 1, DataType::fp32, gpu);
    CHECK(whole.dram_s == near(bytes / 0.5e9));
    terms.split_s = 7e-6;
    const auto split = time_of(terms, kTwoTiles, kTile, 2, DataType::fp32, gpu);
    CHECK(split.dram_s == near((bytes + 8.0 * 100 * 128 * 2) / 0.5e9)); // written and read in fp32
    CHECK(split.split_s == near(7e-6));
    CHECK(whole.split_s == 0.0);
}

TEST_CASE("operands that stay in L2 between calls are read at its pace") {
    model::Gpu gpu = test::plain_gpu();
    gpu.dram_bytes_per_s = 1e9;
    gpu.l2_bytes_per_s = 4e9;
    gpu.l2_bytes = 120000.0;
    MatmulTerms terms = test::plain_matmul();
    terms.resident_l2 = terms.resident_sharpness = 1.0;
    terms.resident_gain = 0.5; // 2 GB/s
    const Product p{1, 100, 100, 100, 4, 4};
    // Weights of 40 kB, five sets in turn, and 80 kB beside them: 280 kB in 120 kB keep 0.3 of the
    // weights; 120 kB in 120 kB keep half of the others.
    const double resident = (40.0 * 0.3 + 80.0 * 0.5) / 120.0;
    CHECK(model::resident_of(gpu, terms, p) == near(resident));
    CHECK(time_of(terms, p, {64, 64, 1}, 1, DataType::fp32, gpu).dram_s ==
          near(120e3 * ((1 - resident) / 1e9 + resident / 2e9)));
    gpu.compute_capability = "8.0"; // an L2 of two partitions: half of it within reach
    gpu.l2_bytes = 240000.0;
    CHECK(model::resident_of(gpu, terms, p) == near(resident));
}

TEST_CASE("DRAM needs its start before it streams, not for what L2 keeps") {
    model::Gpu gpu = test::plain_gpu();
    gpu.dram_bytes_per_s = 1e9;
    MatmulTerms terms = test::plain_matmul();
    const Product p{1, 100, 100, 100, 4, 4}; // 120 kB
    terms.dram_start_s = 7e-6;
    CHECK(time_of(terms, p, {64, 64, 1}, 1, DataType::fp32, gpu).dram_s == near(120e-6 + 7e-6));
    gpu.l2_bytes_per_s = 4e9;
    gpu.l2_bytes = 120000.0;
    terms.resident_l2 = terms.resident_sharpness = 1.0;
    terms.resident_gain = 0.25; // as quick as DRAM
    const double resident = model::resident_of(gpu, terms, p);
    CHECK(time_of(terms, p, {64, 64, 1}, 1, DataType::fp32, gpu).dram_s ==
          near(120e-6 + 7e-6 * (1.0 - resident)));
}

TEST_CASE("a product reads its tiles from the chiplets' caches, not from the L2 behind them") {
    model::Gpu gpu = test::plain_gpu();
    gpu.l2_bytes_per_s = 1e9;
    const MatmulTerms terms = test::plain_matmul();
    const Product p{1, 128, 128, 64, 4, 4};
    const double far = time_of(terms, p, {64, 64, 1}, 1, DataType::fp32, gpu).l2_s;
    gpu.near_l2_bytes_per_s = 4e9; // 0.65 of it: 2.6 GB/s
    CHECK(time_of(terms, p, {64, 64, 1}, 1, DataType::fp32, gpu).l2_s == near(far / 2.6));
}

TEST_CASE("weights that left L2 before the next row of tiles come from DRAM again, scattered") {
    model::Gpu gpu = test::plain_gpu();
    gpu.dram_bytes_per_s = 1e9;
    MatmulTerms terms = test::plain_matmul();
    terms.reuse = 1.0;
    terms.scattered_dram = 0.25;
    // Two CTAs of 128 x 128 an SM, 20 at once: a twentieth of the columns and one tile's rows, each
    // of 100 x 4 bytes, pass between two uses. As much as L2 reaches: half is read again.
    gpu.l2_bytes = 400.0 * (128 * 0.05 + 128);
    const Product p{1, 128, 128, 100, 4, 4};
    CHECK(time_of(terms, p, {128, 128, 1}, 1, DataType::fp32, gpu).l2_s ==
          near(400.0 * 128 * 0.5 / 0.25e9));
}

TEST_CASE("tiles pass L2 at its share, slower where their rows lie beyond the TLB's reach") {
    model::Gpu gpu = test::plain_gpu();
    gpu.l2_bytes_per_s = 1e9;
    MatmulTerms terms = test::plain_matmul();
    terms.l2_share = 0.5;
    const Product p{1, 128, 128, 100, 4, 4};
    const double through = 400.0 * 256 / 0.5e9; // rows and columns of 100 x 4 bytes
    CHECK(time_of(terms, p, {128, 128, 1}, 1, DataType::fp32, gpu).l2_s == near(through));
    terms.tlb_cost = 3.0;
    terms.tlb_reach_mib = 256.0 * 400.0 / 1048576.0; // just what one CTA walks along: half misses
    CHECK(time_of(terms, p, {128, 128, 1}, 1, DataType::fp32, gpu).l2_s == near(through * 2.5));
}

TEST_CASE("clusters of Hopper read the longer side of a tile once for two CTAs") {
    model::Gpu gpu = test::plain_gpu();
    CHECK(model::tile_reads(gpu, {128, 256, 1}, true) == 384.0);
    gpu.arch = model::GpuArch::hopper;
    CHECK(model::tile_reads(gpu, {128, 256, 1}, true) == 256.0);
    CHECK(model::tile_reads(gpu, {128, 256, 1}, false) == 384.0);
}

TEST_CASE("the clock settles over the kernel's own time") {
    MatmulTerms terms = test::plain_matmul();
    terms.sustained_clock = 0.6;
    terms.settle_s = kWork; // half-way there: 0.6 + 0.4 / 2
    CHECK(time_of(terms).clock_share == near(0.8, 1e-6));
    CHECK(time_of(terms).compute_s == near(kWork / 0.8, 1e-6));
}

TEST_CASE("parts overlap by the exponent of their norm") {
    model::Gpu gpu = test::plain_gpu();
    gpu.dram_bytes_per_s = (4.0 * (100 * 80 + 128 * 80) + 4.0 * 100 * 128) / kWork; // as long
    MatmulTerms terms = test::plain_matmul();
    CHECK(time_of(terms, kTwoTiles, kTile, 1, DataType::fp32, gpu).body_s ==
          near(kWork * std::cbrt(2.0)));
    terms.overlap = 1.0;
    CHECK(time_of(terms, kTwoTiles, kTile, 1, DataType::fp32, gpu).body_s == near(2 * kWork));
}

TEST_CASE("eight bits: shares of the peak, a cast of the activations, DP4A in early libraries") {
    const Product p{1, 64, 128, 96, 1, 1};
    const double work = 2.0 * 64 * 128 * 96 / 1.6e12;
    MatmulTerms terms = test::plain_matmul();
    terms.int8_share = 0.5;
    terms.int8_s = 4e-6;
    const auto int8 = time_of(terms, p, kTile, 1, DataType::int8);
    CHECK(int8.compute_s == near(work / 0.5));
    CHECK(int8.body_s == near(work / 0.5 + 4e-6));
    // Four MACs a lane and cycle: 400 GFLOP/s of an SM, in steps of 8.
    CHECK(time_of(terms, p, kTile, 1, DataType::int8, test::plain_gpu(), true).compute_s ==
          near(2.0 * 64 * 128 * 96 / 4e11));
    model::Gpu gpu = test::plain_gpu();
    gpu.dram_bytes_per_s = 1e9;
    terms.fp8_share = 0.8;
    terms.quantise_s = terms.fused_cast_s = 3e-6;
    terms.quantise_pass = 2.0;
    const auto fp8 = time_of(terms, p, kTile, 1, DataType::fp8, gpu);
    CHECK(fp8.compute_s == near(work / 0.8));
    // Read at 2 bytes, written at 1, two passes: kernels of its own, where no library is named.
    const double pass = 3.0 * 64 * 96 / 1e9;
    const double cast = 3e-6 + 2.0 * pass;
    CHECK(fp8.body_s ==
          near(std::cbrt(std::pow(fp8.compute_s, 3) + std::pow(fp8.dram_s, 3)) + cast));
}

TEST_CASE("rows of k that are no whole 16 bytes slow the loads of tensor cores alone") {
    const double whole = 2.0 * 64 * 128 * 96 / 8e11;
    const auto odd =
        time_of(test::plain_matmul(), {1, 64, 128, 92, 2, 2}, kTile, 1, DataType::fp16);
    CHECK(odd.compute_s == near(whole / std::pow(0.5, 0.25))); // 184 bytes: loads of 8
    CHECK(time_of(test::plain_matmul(), {1, 64, 128, 79, 4, 4}).compute_s == near(kWork));
}

TEST_CASE("an SM holds so many CTAs as its accumulators and slots allow") {
    CHECK(model::resident_ctas({256, 128, 1}, true) == 1);
    CHECK(model::resident_ctas({128, 128, 1}, false) == 2);
    CHECK(model::resident_ctas({32, 32, 1}, true) == 8); // 32 fit
    CHECK(model::resident_ctas({32, 32, 1}, false) == 16);
    CHECK(model::resident_ctas({32, 32, 4}, false) == 8); // each slice has sums of its own
}

TEST_CASE("a product within a convolution pays for its split sums by DRAM and a short kernel") {
    model::Gpu gpu = test::plain_gpu();
    gpu.dram_bytes_per_s = 1e9;
    MatmulTerms terms = test::plain_matmul();
    terms.dram_share = 0.5;
    const auto t = model::matmul_compute(gpu, DataType::fp32, terms, {1, 64, 128, 80, 4, 4},
                                         {kTile}, {4}, 8.0);
    CHECK(t.split_s == near(8.0 * 64 * 128 * 4 / 0.5e9 + 2e-6));
    CHECK(t.body_s == near(2.0 * 64 * 128 * 24 / 1e11 + t.split_s)); // 20 of k in steps of 8
}

TEST_CASE("tensor cores load and store rows that are not aligned one element after the other") {
    model::Gpu gpu = test::plain_gpu();
    gpu.rate(DataType::fp16).flops_per_s = 8e14; // arithmetic takes next to nothing
    const auto in_fp16 = [&](double n, double k) {
        return time_of(test::plain_matmul(), {1, 64000, n, k, 2, 2}, kTile, 1, DataType::fp16, gpu)
            .body_s;
    };
    // 0.46 cycles of 10 SMs at 1 GHz: rows of the result, and of the first operand, once.
    const double cycle = 0.46 * 64000.0 / 1e10;
    CHECK(in_fp16(129, 8) == near(129.0 * cycle));
    CHECK(in_fp16(256, 9) == near(9.0 * cycle));
    CHECK(in_fp16(136, 8) < 129.0 * cycle);
}

} // namespace test_model_gpu_matmul_terms
