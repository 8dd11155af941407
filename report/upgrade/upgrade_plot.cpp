// The upgrade as a chart (SVG) and as a part of a page.
#include "analysis/upgrade/upgrade.hpp"
#include "base/markup.hpp"
#include "report/draw/svg.hpp"
#include "report/page/page.hpp"
#include "report/upgrade/upgrade.hpp"
#include "report/upgrade/upgrade_scene.hpp"

#include <fmt/format.h>

#include <sstream>

namespace eyeroof::report {

namespace {

std::vector<std::string> cells_of(const analysis::UpgradeLayer& l) {
    const std::string name = l.network.empty() ? l.name : l.network + "/" + l.name;
    return {svg_escape(name),
            fmt::format("{:.1f} %", 100.0 * l.share_of_from),
            fmt::format("{:.2f}", l.speedup),
            svg_escape(l.from_limiter),
            svg_escape(l.to_limiter),
            svg_escape(l.why)};
}

} // namespace

std::string upgrade_svg(const analysis::Upgrade& u) {
    constexpr Canvas canvas{860.0, 520.0};
    return to_svg(make_upgrade_bars({u}, canvas));
}

std::string upgrade_page_body(const analysis::Upgrade& u) {
    std::string text = upgrade_text(u);
    text = text.substr(0, text.find("\n\nlayer "));
    std::string html = "<figure>" + upgrade_svg(u) + "</figure>\n<ul>\n";
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        html += "<li>" + html_escaped(line) + "</li>\n";
    }
    PageTable table{{{"layer", false},
                     {"share"},
                     {"speedup"},
                     {"old limit", false},
                     {"new limit", false},
                     {"limiting factor", false}},
                    {}};
    for (const analysis::UpgradeLayer& layer : u.layers) {
        table.rows.push_back(cells_of(layer));
    }
    fold_equal(table);
    return html + "</ul>\n" + page_table(table);
}

} // namespace eyeroof::report
