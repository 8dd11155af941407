#include "report/draw/theme.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <set>

using eyeroof::tests::near;

namespace eyeroof::report::test_theme {

TEST_CASE("black on white has the greatest contrast there is") {
    CHECK(contrast({0, 0, 0}, {255, 255, 255}) == near(21.0)); // (1 + 0.05) / 0.05
}

TEST_CASE("text can be read and markers can be seen in both themes") {
    for (const Theme theme : {Theme::light, Theme::dark}) {
        const Rgb plot = colour_of(ColourRole::plot, theme);
        CHECK(contrast(colour_of(ColourRole::text, theme), plot) > 7.0);
        CHECK(contrast(colour_of(ColourRole::faint, theme), plot) > 4.5);
        CHECK(contrast(colour_of(ColourRole::warning, theme), plot) > 4.5);
        for (std::size_t i = 0; i < kSeriesRoles; ++i) {
            CAPTURE(role_name(series_role(i)));
            CHECK(contrast(colour_of(series_role(i), theme), plot) > 2.0);
        }
    }
}

TEST_CASE("no two series share a shape or a colour") {
    for (const Theme theme : {Theme::light, Theme::dark}) {
        std::set<std::string> colours;
        std::set<Marker> shapes;
        for (std::size_t i = 0; i < kSeriesRoles; ++i) {
            colours.insert(hex(colour_of(series_role(i), theme)));
            shapes.insert(series_marker(i));
        }
        CHECK(colours.size() == kSeriesRoles);
        CHECK(shapes.size() == kSeriesRoles);
    }
}

} // namespace eyeroof::report::test_theme
