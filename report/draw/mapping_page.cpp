#include "report/draw/mapping_page.hpp"

#include "report/draw/fitted_text.hpp"

#include <algorithm>

namespace eyeroof::report {

MappingPage::MappingPage(double width) : width_(std::max(width, 240.0)) {}

void MappingPage::heading(const std::string& text) {
    y += kLine;
    drawing.texts.push_back({{kRim, y}, text, ColourRole::text, kFontPx, 0.0, true});
    y += 6.0;
}

void MappingPage::line(const std::string& text, double indent, ColourRole role) {
    if (text.empty()) {
        return;
    }
    for (const std::string& part : wrapped_to_width(text, kSmallPx, inner() - indent)) {
        y += kLine - 2.0;
        drawing.texts.push_back({{kRim + indent, y}, part, role, kSmallPx});
    }
}

void MappingPage::box(const Box& box, ColourRole role, double opacity, const std::string& tip) {
    drawing.boxes.push_back({box, role, opacity, false, tip});
}

void MappingPage::figure(const std::string& part, const std::string& where, const std::string& what,
                         double value) {
    drawing.figures.rows.push_back({part, where, what, value});
}

void MappingPage::legend(const std::vector<Key>& keys) {
    double x = kRim;
    y += kLine;
    for (const Key& key : keys) {
        const double wide = 16.0 + text_width(key.text, kSmallPx) + 12.0;
        if (x > kRim && x + wide > width_ - kRim) {
            x = kRim;
            y += kLine;
        }
        box({x, y - 9.0, 10.0, 10.0}, key.role, key.opacity);
        drawing.texts.push_back({{x + 15.0, y}, key.text, ColourRole::text, kSmallPx});
        x += wide;
    }
}

Drawing MappingPage::finish(const std::string& title) {
    drawing.figures.columns = {"part", "where", "what", "value"};
    drawing.canvas = {width_, y + kRim};
    drawing.title = title;
    return std::move(drawing);
}

} // namespace eyeroof::report
