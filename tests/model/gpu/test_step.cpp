// A step: what the host issues and the device works off.
#include "model/gpu/step.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_model_gpu_step {

using namespace eyeroof;        // NOLINT
using namespace eyeroof::model; // NOLINT
using eyeroof::tests::near;

namespace {

constexpr double kUs = 1e-6;

} // namespace

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
