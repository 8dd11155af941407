#include "report/draw/geometry.hpp"

#include <doctest/doctest.h>

namespace eyeroof::report::test_geometry {

TEST_CASE("boxes that only touch do not overlap") {
    CHECK(overlap({0, 0, 10, 10}, {9, 9, 5, 5}));
    CHECK_FALSE(overlap({0, 0, 10, 10}, {10, 0, 5, 5}));
}

TEST_CASE("a taken place is not free, its neighbour is, and nothing outside is") {
    Occupancy occupancy({0, 0, 200, 100});
    occupancy.take(Box{40, 40, 60, 12});
    CHECK_FALSE(occupancy.is_free(Box{90, 45, 20, 5}));
    CHECK(occupancy.is_free(Box{100, 40, 20, 12}));
    CHECK_FALSE(occupancy.is_free(Box{190, 40, 20, 12}));
    occupancy.take_line({0, 0}, {200, 100}, 2);
    CHECK_FALSE(occupancy.is_free(Box{145, 70, 20, 10}));
}

TEST_CASE("long names lose their middle, short ones nothing, and no letter is cut") {
    CHECK(shortened("conv1", 10) == "conv1");
    CHECK(shortened("0123456789", 7) == "012…789");
    CHECK(shortened("äöüäöüäöü", 5) == "äö…öü");
}

TEST_CASE("text turned by forty-five degrees is covered along its slope only") {
    // 100 px up to the right from 0,100: it ends near 70.7,29.3.
    const auto boxes = turned_boxes({0, 100}, 100, 10, -45);
    const auto covers = [&](double x, double y) {
        for (const Box& box : boxes) {
            if (overlap(box, {x, y, 0.1, 0.1})) {
                return true;
            }
        }
        return false;
    };
    CHECK(covers(33, 62));       // on the text: just left of and above the baseline's middle
    CHECK_FALSE(covers(60, 95)); // below the slope
    CHECK_FALSE(covers(5, 40));  // above it
}

} // namespace eyeroof::report::test_geometry
