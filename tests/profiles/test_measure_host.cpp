#include "profiles/host/host_gemm.hpp"
#include "profiles/host/host_loops.hpp"
#include "profiles/host/host_team.hpp"
#include "profiles/host/measure_host.hpp"
#include "profiles/points.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <numeric>

namespace test_profiles_measure_host {

using namespace eyeroof;
using namespace eyeroof::profiles;
using eyeroof::tests::near;

namespace {

std::vector<const HostLoops*> all_loops() {
    std::vector<const HostLoops*> loops = {&host_loops_base()};
    if (&host_loops() != loops[0]) {
        loops.push_back(&host_loops());
    }
    return loops;
}

const Ceiling* find(const Profile& profile, const std::string& name) {
    const auto it = std::ranges::find(profile.ceilings, name, &Ceiling::name);
    return it == profile.ceilings.end() ? nullptr : &*it;
}

} // namespace

TEST_CASE("the loops do the work that they are counted for") {
    for (const HostLoops* loops : all_loops()) {
        CAPTURE(std::string(loops->name));
        std::vector<double> a(256), b(256), c(256);
        std::iota(b.begin(), b.end(), 1.0);
        std::iota(c.begin(), c.end(), 0.5);
        CHECK(loops->read(b.data(), 256) == 256.0 * 257.0 / 2.0);
        loops->triad(a.data(), b.data(), c.data(), 2.0, 256);
        CHECK(a[0] == 2.0); // 1 + 2 x 0.5
        CHECK(a[255] == 256.0 + 511.0);
        // x <- 0.999 x + 0.001 goes to 1 on every lane of 12 chains.
        const double lanes = 12.0 * static_cast<double>(loops->vector_bytes) / 8.0;
        CHECK(loops->fma_fp64(100'000, 5.0) == near(lanes));
        CHECK(loops->fma_fp32(100'000, 5.0) == near(2.0 * lanes, 1e-3));
        CHECK(loops->fp64_flops_per_round == 2.0 * lanes);
    }
}

TEST_CASE("both matrix products agree with three nested loops") {
    constexpr std::ptrdiff_t m = 13, n = 9, k = 17;
    std::vector<float> a(m * k), b(k * n), c(m * n, -1.0F);
    std::iota(a.begin(), a.end(), -20.0F);
    std::iota(b.begin(), b.end(), -5.0F);
    for (const HostGemm* gemm : {&host_gemm_base(), &host_gemm()}) {
        gemm->fp32(a.data(), b.data(), c.data(), m, n, k, 0, 4);
        gemm->fp32(a.data(), b.data(), c.data(), m, n, k, 4, n);
        for (std::ptrdiff_t i = 0; i < m; ++i) {
            for (std::ptrdiff_t j = 0; j < n; ++j) {
                float sum = 0.0F;
                for (std::ptrdiff_t l = 0; l < k; ++l) {
                    sum += a[static_cast<std::size_t>(i + l * m)] *
                           b[static_cast<std::size_t>(l + j * k)];
                }
                CHECK(c[static_cast<std::size_t>(i + j * m)] == near(sum));
            }
        }
    }
}

TEST_CASE("im2col times the weights is the convolution") {
    model::ConvShape shape{2, 3, 5, 6, 4, 3, 2};
    shape.stride = {2, 1};
    shape.pad = {1, 1};
    const std::ptrdiff_t depth = shape.c * shape.r * shape.s;
    const std::ptrdiff_t columns = shape.n * shape.p() * shape.q();
    std::vector<float> input(static_cast<std::size_t>(shape.n * shape.c * shape.h * shape.w));
    std::iota(input.begin(), input.end(), 1.0F);
    std::vector<float> patches(static_cast<std::size_t>(depth * columns));
    im2col(shape, input.data(), patches.data(), 0, columns / 2);
    im2col(shape, input.data(), patches.data(), columns / 2, columns);
    for (std::ptrdiff_t column = 0; column < columns; ++column) {
        const auto image = column / (shape.p() * shape.q());
        const auto p = column % (shape.p() * shape.q()) / shape.q();
        const auto q = column % shape.q();
        for (std::ptrdiff_t row = 0; row < depth; ++row) {
            const auto ch = row / (shape.r * shape.s);
            const auto y = p * 2 - 1 + row % (shape.r * shape.s) / shape.s;
            const auto x = q - 1 + row % shape.s;
            const bool inside = y >= 0 && y < shape.h && x >= 0 && x < shape.w;
            const float expected = inside
                                       ? input[static_cast<std::size_t>(
                                             ((image * shape.c + ch) * shape.h + y) * shape.w + x)]
                                       : 0.0F;
            REQUIRE(patches[static_cast<std::size_t>(column * depth + row)] == expected);
        }
    }
}

TEST_CASE("the team runs every thread as often as it is told, and stops when asked") {
    std::atomic<std::size_t> calls{0};
    const TrialTimes times =
        time_team(3, 4, 1e-4, [&](int, std::size_t repeats) { calls += repeats; }, {});
    CHECK(times.seconds.size() >= 4);
    CHECK(times.seconds.size() <= 16); // four times as many while the best is not confirmed
    CHECK(calls >= 3 * 4 * times.repeats);
    CHECK(calls % 3 == 0);
    CHECK(times.best() <= times.median());
    CHECK(times.median() <= times.worst());
    std::stop_source stop;
    stop.request_stop();
    CHECK(time_team(
              2, 4, 1.0, [](int, std::size_t) {}, stop.get_token())
              .seconds.empty());
}

TEST_CASE("a single fast trial is no evidence, two that agree are") {
    TrialTimes times;
    times.seconds = {1.00, 1.50, 1.51, 2.00};
    CHECK(times.confirmed() == near(1.50)); // 1.51 comes within 5 % of it
    CHECK_FALSE(times.is_confirmed());
    times.seconds.push_back(1.01);
    CHECK(times.confirmed() == near(1.00));
    CHECK(times.is_confirmed());
    times.seconds = {1.0, 2.0, 4.0}; // nothing is confirmed: the best has to do
    CHECK(times.confirmed() == near(1.0));
    times.seconds = {3.0};
    CHECK(times.is_confirmed());
}

TEST_CASE("the walk lies inside its level and outside the one below") {
    const std::vector<CacheSize> caches = {
        {"l1", 32 << 10, 1}, {"l2", 1 << 20, 1}, {"l3", 32 << 20, 8}};
    CHECK(walk_bytes(caches, "l1", 8) == 16 << 10);
    CHECK(walk_bytes(caches, "l2", 8) == 512 << 10);
    CHECK(walk_bytes(caches, "l3", 8) == 2 << 20); // a share of 4 MiB; half of it is twice the L2
    CHECK(walk_bytes(caches, "dram", 8) == 16 << 20);  // 4 x 32 MiB over 8 threads
    CHECK(walk_bytes(caches, "dram", 16) == 16 << 20); // two L3 of 32 MiB
    CHECK(walk_bytes(caches, "dram", 1) == 128 << 20);
    CHECK(level_holding(caches, 20e3, 1) == "l1");
    CHECK(level_holding(caches, 60e3, 1) == "l2");
    CHECK(level_holding(caches, 60e3, 2) == "l1");
    CHECK(level_holding(caches, 20e6, 1) == "l3");
    CHECK(level_holding(caches, 40e6, 8) == "dram");
}

TEST_CASE("a measurement gives a ceiling per level and precision, and no layer above them") {
    HostOptions options;
    options.trials = 3;
    options.trial_s = 0.003;
    options.threads = 1;
    options.most_bytes = 192 << 20;
    const auto profile = measure_host(options);
    REQUIRE(profile.ok());
    for (const char* name : {"l1 read", "dram read", "dram triad", "fma fp32", "fma fp64"}) {
        CAPTURE(std::string(name));
        const Ceiling* ceiling = find(*profile, name);
        REQUIRE(ceiling != nullptr);
        CHECK(ceiling->spread >= 0.0);       // of trials, however they scatter while others run: no
        CHECK(ceiling->spread < 1.0);        // slower than the worst of them
        CHECK(ceiling->trials >= 2 * 3);     // before the layers and behind them
        CHECK(ceiling->trials <= 2 * 4 * 3); // more only while the best is not confirmed
        CHECK(ceiling->value > 1e8);
    }
    const Ceiling* triad = find(*profile, "dram triad");
    CHECK(triad->how.find("3 x 65536 KiB") != std::string::npos); // a third of the most each
    const auto points = points_of(*profile, nullptr);
    REQUIRE(points.ok());
    CHECK(points->size() == 9);
    for (const MeasuredPoint& point : *points) {
        CAPTURE(point.name);
        CHECK(point.main_work() != nullptr);
        CHECK(point.traffic.size() == 1);
    }
    CHECK(ceilings_yaml(*profile).find("eyeroof_ceilings: 1\n") == 0);
}

TEST_CASE("measuring can be cancelled, and refuses senseless options") {
    std::stop_source stop;
    stop.request_stop();
    const auto cancelled = measure_host({}, stop.get_token());
    REQUIRE_FALSE(cancelled.ok());
    CHECK(cancelled.diagnostics().items()[0].code == "cancelled");
    CHECK_FALSE(measure_host({.threads = -1}).ok());
    CHECK_FALSE(measure_host({.trials = 0}).ok());
}

} // namespace test_profiles_measure_host
