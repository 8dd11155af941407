// A step: what the host issues and the device works off.
#include "model/gpu/step.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <random>

namespace test_model_gpu_step {

using namespace eyeroof;        // NOLINT
using namespace eyeroof::model; // NOLINT
using eyeroof::tests::near;

namespace {

constexpr double kUs = 1e-6;

// Every kernel by itself, as step.hpp's recurrence says.
double one_by_one(const std::vector<StepPart>& parts) {
    double issued = 0.0;
    double end = 0.0;
    for (const StepPart& part : parts) {
        for (int i = 0; i < static_cast<int>(part.count); ++i) {
            issued += part.host_s;
            end = std::max(issued, end) + part.device_s;
        }
    }
    return end;
}

} // namespace

TEST_CASE("a long kernel hides the issues of the short ones behind it") {
    // Issued at 10, 20, 30 us; the first runs from 10 to 110, the others 5 us each right behind it.
    const std::vector<StepPart> parts = {
        {10 * kUs, 100 * kUs}, {10 * kUs, 5 * kUs}, {10 * kUs, 5 * kUs}};
    const StepTime step = step_time(parts);
    CHECK(step.time_s == near(120 * kUs));
    CHECK(step.host_s == near(30 * kUs));
    CHECK(step.device_s == near(110 * kUs));
    CHECK(step.gap_s() == near(10 * kUs)); // the first issue
    CHECK(step.wait_s[1] == near(0.0));
}

TEST_CASE("the same kernels in the other order wait for the host") {
    // Short ones first: ends at 15, 25, then issued at 30, ends at 130. A sum of maxima says 120.
    const std::vector<StepPart> parts = {
        {10 * kUs, 5 * kUs}, {10 * kUs, 5 * kUs}, {10 * kUs, 100 * kUs}};
    CHECK(step_time(parts).time_s == near(130 * kUs));
}

TEST_CASE("repeated blocks are max(host in sum, device in sum), not a sum of maxima") {
    // 24 blocks of a long and a short kernel, 10 us an issue: host 480, device 24 x (18 + 1) = 456.
    // A sum of maxima would say 24 x (18 + 10) = 672.
    const std::vector<StepPart> parts = {{10 * kUs, 18 * kUs, 24.0}, {10 * kUs, 1 * kUs, 24.0}};
    const StepTime step = step_time(parts);
    CHECK(step.time_s == near(481 * kUs));
    CHECK(step.wait_s[0] == near(0.0)); // only the short ones are waited for
    CHECK(24.0 * step.wait_s[1] == near(step.gap_s()));
}

TEST_CASE("waits and kernels add up to the step, and a step is never below host or device") {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> us(0.5, 60.0);
    for (int round = 0; round < 2000; ++round) {
        std::vector<StepPart> parts;
        for (int i = 0; i < 12; ++i) {
            const double count = random() % 3 == 0 ? 1.0 + static_cast<double>(random() % 30) : 1.0;
            parts.push_back({us(random) * kUs, us(random) * kUs, count,
                             i < 6 ? Issued::forward : Issued::gradient});
        }
        const StepTime step = step_time(parts);
        double sum = 0.0;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            sum += parts[i].count * (parts[i].device_s + step.wait_s[i]);
        }
        CHECK(sum == near(step.time_s));
        CHECK(step.time_s >= step.host_s);
        CHECK(step.time_s >= step.device_s);
        CHECK(step.time_s <= step.host_s + step.device_s);
    }
}

TEST_CASE("without repetitions a step is exactly the queue, kernel by kernel") {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> us(0.5, 60.0);
    for (int round = 0; round < 500; ++round) {
        std::vector<StepPart> parts;
        for (int i = 0; i < 20; ++i) {
            parts.push_back({us(random) * kUs, us(random) * kUs});
        }
        CHECK(step_time(parts).time_s == near(one_by_one(parts)));
    }
}

TEST_CASE("what an issue costs follows the launch mode and what is issued") {
    const HostIssue host{40 * kUs, 15 * kUs, 3 * kUs, 1 * kUs};
    CHECK(issue_seconds(host, Launch::eager, Issued::forward) == near(40 * kUs));
    CHECK(issue_seconds(host, Launch::eager, Issued::gradient) == near(15 * kUs));
    CHECK(issue_seconds(host, Launch::eager, Issued::update) == near(3 * kUs));
    CHECK(issue_seconds(host, Launch::stream, Issued::forward) == near(3 * kUs));
    CHECK(issue_seconds(host, Launch::graph, Issued::gradient) == near(1 * kUs));
    CHECK(issue_seconds(host, Launch::none, Issued::forward) == 0.0);
}

} // namespace test_model_gpu_step
