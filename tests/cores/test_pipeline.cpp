// Layers on cores: pipelines against all divisions, and what scaling can never do.
#include "model/cores/pipeline.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace test_cores_pipeline {

using namespace eyeroof::model::cores;
using eyeroof::tests::near;

namespace {

LayerTimes layer(std::vector<double> seconds, double bytes_out = 0.0, double outer = 0.0) {
    return {std::move(seconds), bytes_out, outer};
}

// All divisions of the layers into neighbours, all numbers of cores of each: least interval, then
// least latency. Written from the definition.
std::pair<double, double> brute(const std::vector<LayerTimes>& layers, const Package& package) {
    double shared = 0.0;
    for (const LayerTimes& one : layers) {
        shared += package.outer_bytes_per_s > 0.0 ? one.outer_bytes / package.outer_bytes_per_s : 0;
    }
    std::pair<double, double> best{1e300, 1e300};
    const std::function<void(std::size_t, std::size_t, double, double)> walk =
        [&](std::size_t from, std::size_t left, double interval, double latency) {
            if (from == layers.size()) {
                best = std::min(best,
                                std::pair(std::max(interval, shared), std::max(latency, shared)));
                return;
            }
            for (std::size_t last = from; last < layers.size(); ++last) {
                for (std::size_t n = 0; n < package.counts.size(); ++n) {
                    if (package.counts[n] > left) {
                        continue;
                    }
                    double seconds = 0.0;
                    for (std::size_t i = from; i <= last; ++i) {
                        seconds += layers[i].seconds[n];
                    }
                    double passing = 0.0;
                    if (last + 1 < layers.size()) {
                        passing = package.link_s;
                        passing += package.link_bytes_per_s > 0.0
                                       ? layers[last].bytes_out / package.link_bytes_per_s
                                       : 0.0;
                    }
                    walk(last + 1, left - package.counts[n], std::max({interval, seconds, passing}),
                         latency + seconds + passing);
                }
            }
        };
    walk(0, package.cores, 0.0, 0.0);
    return best;
}

} // namespace

TEST_CASE("two equal layers on two cores give twice the images, one image no sooner") {
    const Package two{{1, 2}, 2, 0.0, 0.0, 0.0};
    const std::vector<LayerTimes> layers = {layer({4.0, 2.0}), layer({4.0, 2.0})};
    CHECK(parallel(layers, two).latency_s == 4.0);
    const auto pipeline = pipelined(layers, two);
    REQUIRE(pipeline);
    CHECK(pipeline->interval_s == 4.0);
    CHECK(pipeline->latency_s == 4.0); // both layers on both cores take as long: one stage
    // Layers that do not divide well are better dealt out.
    const auto uneven = pipelined({layer({4.0, 3.9}), layer({4.0, 3.9})}, two);
    CHECK(uneven->interval_s == 4.0);
    CHECK(uneven->latency_s == 8.0);
    CHECK(uneven->stages.size() == 2);
}

TEST_CASE("pipelines equal brute force over all divisions and numbers of cores") {
    std::mt19937_64 random(31);
    const auto draw = [&](int least, int most) {
        return std::uniform_int_distribution<int>(least, most)(random);
    };
    for (int i = 0; i < 300; ++i) {
        Package package{{1, 2, 4}, static_cast<std::size_t>(draw(1, 6)), 0.0, 0.0, 0.0};
        package.link_bytes_per_s = draw(0, 1) * 10.0;
        package.link_s = draw(0, 2) * 0.5;
        package.outer_bytes_per_s = draw(0, 1) * 5.0;
        std::vector<LayerTimes> layers;
        for (int n = draw(1, 5); n > 0; --n) {
            const double one = draw(1, 40);
            const double two = one * draw(50, 100) / 100.0;
            layers.push_back(layer({one, two, two * draw(50, 110) / 100.0},
                                   static_cast<double>(draw(0, 60)),
                                   static_cast<double>(draw(0, 40))));
        }
        const auto found = pipelined(layers, package);
        const auto [interval, latency] = brute(layers, package);
        CAPTURE(i);
        REQUIRE(found);
        CHECK(found->interval_s == near(interval, 1e-9));
        CHECK(found->latency_s == near(latency, 1e-9));
        std::size_t cores = 0;
        for (const Stage& stage : found->stages) {
            cores += stage.cores;
        }
        CHECK(cores <= package.cores);
    }
}

TEST_CASE("nothing leaves a pipeline faster than its shared memory, or its work on all cores") {
    const Package package{{1, 2, 4}, 4, 0.0, 0.0, 10.0};
    const std::vector<LayerTimes> layers = {layer({8.0, 4.0, 2.0}, 0.0, 100.0),
                                            layer({8.0, 4.0, 2.0})};
    const auto pipeline = pipelined(layers, package);
    CHECK(pipeline->interval_s == 10.0); // 100 bytes at 10 a second; the work alone takes 4
    CHECK(parallel(layers, package).interval_s == 10.0);
}

TEST_CASE("a layer that runs on no number of cores leaves no pipeline") {
    const Package package{{1}, 1, 0.0, 0.0, 0.0};
    CHECK(!pipelined({layer({std::numeric_limits<double>::infinity()})}, package));
}

} // namespace test_cores_pipeline
