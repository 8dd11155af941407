#include "base/statistics.hpp"

#include <doctest/doctest.h>

namespace test_model_statistics {

using eyeroof::median;

TEST_CASE("the median is the middle value, or the mean of the two in the middle") {
    CHECK(median({3.0, 1.0, 2.0}) == 2.0);
    CHECK(median({4.0, 1.0, 3.0, 2.0}) == 2.5);
    CHECK(median({7.0}) == 7.0);
    CHECK(median({1.0, 5.0}) == 3.0);
    CHECK(median({}) == 0.0);
    CHECK(median({}, 1.0) == 1.0);
}

} // namespace test_model_statistics
