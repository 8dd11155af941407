#include "report/draw/plot_csv.hpp"
#include "report/draw/plot_html.hpp"
#include "tests/report/draw/plots.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::report::test_plot_files {

TEST_CASE("the CSV holds exactly what is plotted, names quoted where they need it") {
    const PlotInput input = scattered(40);
    ViewState view;
    view.top = 3;
    const auto scene = make_scene(input, view);
    const std::string csv = to_csv(*scene, input);
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 1 + 3 + 2); // header, points, roofs
    CHECK(csv.find("\"void kernel_9<float, 2>\"") != std::string::npos);
    const std::string header = csv.substr(0, csv.find('\n'));
    const std::string roof = csv.substr(csv.rfind('\n', csv.size() - 2) + 1);
    CHECK(std::count(roof.begin(), roof.end(), ',') ==
          std::count(header.begin(), header.end(), ','));
}

TEST_CASE("the JSON holds the same rows and says which schema it follows") {
    const PlotInput input = scattered(5);
    const auto json = nlohmann::json::parse(to_json(*make_scene(input, {}), input));
    CHECK(json.at("schema") == "eyeroof/roofline/1");
    CHECK(json.at("points").size() == 5);
    CHECK(json.at("roofs").at(1).at("bytes_per_s") == 10.0);
}

TEST_CASE("a name cannot leave its place in the page") {
    PlotInput input = scattered(2);
    input.points[0].name = "</script><img src=x>";
    const std::string html = to_html(*make_scene(input, {}), input);
    CHECK(html.find("</script><img") == std::string::npos);
    CHECK(html.find("http://") == html.find("http://www.w3.org/2000/svg"));
    CHECK(html.rfind("http://") == html.find("http://www.w3.org/2000/svg"));
    CHECK(html.find("https://") == std::string::npos);
}

} // namespace eyeroof::report::test_plot_files
