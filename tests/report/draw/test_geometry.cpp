#include "report/draw/fitted_text.hpp"
#include "report/draw/geometry.hpp"

#include <doctest/doctest.h>

#include <random>

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

// Up to 300 letters: accented, combining, right-to-left, wide, beyond the first plane, and bytes
// that are no UTF-8.
std::string random_text(std::mt19937& engine) {
    static const std::vector<std::string> letters = {
        "a",  "W", " ",           "é",      "e\u0301", "ש", "ع", "漢",
        "ｗ", "👩", "👩‍💻", "\u200b", "\xff",    "ß", "…"};
    std::string text;
    for (std::size_t left = engine() % 301; left > 0; --left) {
        text += letters[engine() % letters.size()];
    }
    return text;
}

TEST_CASE(
    "any text is shortened, padded, and fitted to its columns, and a fitting one stays as it is") {
    std::mt19937 engine(7);
    for (int i = 0; i < 400; ++i) {
        const std::string text = random_text(engine);
        const std::size_t columns = 3 + engine() % 60;
        CHECK(display_width(shortened(text, columns)) <= columns);
        CHECK(display_width(left(text, columns)) == columns);
        CHECK(display_width(right(text, columns)) == columns);
        if (display_width(text) <= columns) {
            CHECK(shortened(text, columns) == text);
        }
        CHECK(text_width(fitted(text, 12.0, 300.0), 12.0) <= 300.0);
    }
}

TEST_CASE("a combining mark stays with its letter, and a wide letter takes two columns") {
    CHECK(display_width("e\u0301") == 1);
    CHECK(display_width("漢字") == 4);
    CHECK(left("漢字x", 4) == "漢… "); // half of a letter is left over
    CHECK(shortened("xe\u0301e\u0301e\u0301e\u0301y", 5) == "xe\u0301…e\u0301y");
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
