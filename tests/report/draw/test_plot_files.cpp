#include "report/answer/write.hpp"
#include "report/draw/plot_html.hpp"
#include "report/roofline/roofline_answer.hpp"
#include "tests/report/draw/plots.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace eyeroof::report::test_plot_files {

TEST_CASE("the CSV holds exactly what is plotted, names quoted where they need it") {
    const PlotInput input = scattered(40);
    ViewState view;
    view.top = 3;
    const auto scene = make_scene(input, view);
    const std::string csv = to_csv(roofline_answer(*scene, input));
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 1 + 3 + 2); // header, points, roofs
    CHECK(csv.find("\"void kernel_9<float, 2>\"") != std::string::npos);
    const std::string header = csv.substr(0, csv.find('\n'));
    const std::string roof = csv.substr(csv.rfind('\n', csv.size() - 2) + 1);
    CHECK(std::count(roof.begin(), roof.end(), ',') ==
          std::count(header.begin(), header.end(), ','));
}

TEST_CASE("the JSON holds the same rows and says which schema it follows") {
    const PlotInput input = scattered(5);
    const auto json =
        nlohmann::json::parse(to_json(roofline_answer(*make_scene(input, {}), input)));
    CHECK(json.at("schema") == "eyeroof/roofline/1");
    CHECK(json.at("points").size() == 5);
    CHECK(json.at("roofs").at(1).at("bytes_per_s") == 10.0);
}

TEST_CASE("a name cannot leave its place in the page") {
    PlotInput input = scattered(2);
    input.points[0].name = "</script><img src=x>";
    const std::string html = to_html({{"", *make_scene(input, {})}}, input);
    CHECK(html.find("</script><img") == std::string::npos);
    CHECK(html.find("http://") == html.find("http://www.w3.org/2000/svg"));
    CHECK(html.rfind("http://") == html.find("http://www.w3.org/2000/svg"));
    CHECK(html.find("https://") == std::string::npos);
}

TEST_CASE("a page offers each memory level once, by its name") {
    const auto options = [](const std::string& html) {
        std::vector<std::string> found;
        const std::string begin = "<option>";
        for (auto at = html.find(begin); at != std::string::npos; at = html.find(begin, at + 1)) {
            const auto from = at + begin.size();
            found.push_back(html.substr(from, html.find('<', from) - from));
        }
        return found;
    };
    PlotInput input = scattered(2);
    for (PlotPoint& point : input.points) {
        point.bytes = {{"DRAM", 100.0}, {"buffer", 400.0}};
    }
    const auto page = [&] {
        const auto scene = make_scene(input, {});
        return to_html(level_scenes(*scene, input, {}, {}), input);
    };
    CHECK(options(page()) == std::vector<std::string>{"DRAM", "buffer", "all"});
    for (PlotPoint& point : input.points) {
        point.bytes = {{"DRAM", 100.0}};
    }
    CHECK(options(page()).empty()); // nothing to choose from
    for (PlotPoint& point : input.points) {
        point.bytes = {{"", 100.0}, {"buffer", 400.0}};
    }
    CHECK(options(page()) == std::vector<std::string>{"the outermost level", "buffer"});
}

} // namespace eyeroof::report::test_plot_files
