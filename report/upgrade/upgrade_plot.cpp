// The upgrade as a chart (SVG) and as a part of a page.
#include "analysis/upgrade/upgrade.hpp"
#include "base/markup.hpp"
#include "base/units.hpp"
#include "report/draw/svg.hpp"
#include "report/upgrade/upgrade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace eyeroof::report {

namespace {

constexpr std::size_t kBars = 14;
constexpr int kPlotWidth = 860;
constexpr int kLabel = 230; // left of the bars
constexpr int kRow = 30;
constexpr int kTop = 64;

struct Bar {
    std::string label;
    double from_s = 0.0, to_s = 0.0; // of the whole network, or an old hour
    std::string note;
};

std::vector<Bar> bars_of(const analysis::Upgrade& u) {
    std::vector<Bar> bars;
    for (std::size_t i = 0; i < u.members.size(); ++i) {
        const double from = u.from_s * u.weights[i];
        bars.push_back({u.members[i].network, from, from / u.members[i].speedup.value,
                        fmt::format("{:.2f}x", u.members[i].speedup.value)});
    }
    if (bars.empty()) {
        for (const analysis::UpgradeLayer& l : u.layers) {
            const auto count = static_cast<double>(l.count);
            bars.push_back({l.name, count * l.from_s, count * l.to_s,
                            fmt::format("{:.2f}x, {}", l.speedup, l.to_limiter)});
        }
    }
    std::stable_sort(bars.begin(), bars.end(),
                     [](const Bar& a, const Bar& b) { return a.from_s > b.from_s; });
    bars.resize(std::min(bars.size(), kBars));
    return bars;
}

std::string title_of(const analysis::Upgrade& u) {
    return fmt::format("{}, {} to {}: {:.2f}x as fast ({:.2f}x to {:.2f}x), {}", u.network, u.from,
                       u.to, u.speedup.value, u.speedup.low, u.speedup.high,
                       analysis::verdict_name(u.verdict));
}

std::string bar_svg(const Bar& bar, double longest, int y) {
    const double room = kPlotWidth - kLabel - 190;
    const double old_width = room * bar.from_s / longest;
    const double new_width = room * bar.to_s / longest;
    const std::string tip =
        svg_escape(fmt::format("{}: {} before, {} after, {}", bar.label, format_si(bar.from_s, "s"),
                               format_si(bar.to_s, "s"), bar.note));
    const auto box = [&](int top, double width, std::string_view fill) {
        return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"10\" "
                           "fill=\"{}\"><title>{}</title></rect>\n",
                           kLabel, top, width, fill, tip);
    };
    return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kLabel - 8,
                       y + 15, svg_escape(bar.label.substr(0, 32))) +
           box(y + 1, old_width, "#9aa5b1") + box(y + 12, new_width, "#1f6feb") +
           fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>\n",
                       kLabel + std::max(old_width, new_width) + 6.0, y + 15, svg_escape(bar.note));
}

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
    const std::vector<Bar> bars = bars_of(u);
    const double longest = bars.empty() ? 1.0 : std::max(bars.front().from_s, 1e-12);
    const int height = kTop + kRow * static_cast<int>(bars.size()) + 16;
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n"
        "<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n"
        "<text x=\"12\" y=\"22\" font-size=\"14\" font-weight=\"bold\">{2}</text>\n",
        kPlotWidth, height, svg_escape(title_of(u)));
    svg += fmt::format("<rect x=\"{0}\" y=\"36\" width=\"10\" height=\"10\" fill=\"#9aa5b1\"/>"
                       "<text x=\"{1}\" y=\"45\">{2} ({3})</text>\n"
                       "<rect x=\"{4}\" y=\"36\" width=\"10\" height=\"10\" fill=\"#1f6feb\"/>"
                       "<text x=\"{5}\" y=\"45\">{6} ({7})</text>\n",
                       kLabel, kLabel + 14, svg_escape(u.from), format_si(u.from_s, "s"),
                       kLabel + 260, kLabel + 274, svg_escape(u.to), format_si(u.to_s, "s"));
    int y = kTop;
    for (const Bar& bar : bars) {
        svg += bar_svg(bar, longest, y);
        y += kRow;
    }
    return svg + "</svg>\n";
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
