#include "study/report/drawing_write.hpp"

#include "study/text/csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <iterator>

namespace eyeroof::study {

namespace {

using Out = std::back_insert_iterator<std::string>;

void write_box(std::string& svg, const DrawnBox& box) {
    const std::string role = role_name(box.role);
    const std::string look =
        box.outline ? fmt::format("class=\"s-{}\" fill=\"none\"", role)
                    : fmt::format("class=\"f-{}\" opacity=\"{:.2f}\"", role, box.opacity);
    fmt::format_to(
        Out(svg), "<rect {} x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"", look,
        box.box.left, box.box.top, std::max(0.0, box.box.width), std::max(0.0, box.box.height));
    svg += box.tip.empty() ? "/>\n" : "><title>" + svg_escape(box.tip) + "</title></rect>\n";
}

void write_line(std::string& svg, const DrawnLine& line) {
    std::string points;
    for (const Place& place : line.through) {
        fmt::format_to(Out(points), "{}{:.1f},{:.1f}", points.empty() ? "" : " ", place.x, place.y);
    }
    fmt::format_to(
        Out(svg), "<polyline class=\"s-{}\" fill=\"none\" stroke-width=\"{}\"{} points=\"{}\"/>\n",
        role_name(line.role), line.width, line.dashed ? " stroke-dasharray=\"4 3\"" : "", points);
}

void write_text(std::string& svg, const DrawnText& text) {
    const char* anchor = text.anchor >= 1.0  ? " text-anchor=\"end\""
                         : text.anchor > 0.0 ? " text-anchor=\"middle\""
                                             : "";
    fmt::format_to(Out(svg),
                   "<text class=\"{}f-{}\" x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\"{}{}{}>{}"
                   "</text>\n",
                   text.over ? "halo " : "", role_name(text.role), text.at.x, text.at.y, text.px,
                   anchor, text.bold ? " font-weight=\"bold\"" : "", text.over ? kHalo : "",
                   svg_escape(text.text));
}

std::string cell_text(const DrawnTable::Cell& cell) {
    const auto* number = std::get_if<double>(&cell);
    if (number == nullptr) {
        return std::get<std::string>(cell);
    }
    return std::isfinite(*number) ? fmt::format("{:.10g}", *number) : std::string{};
}

std::string blank_for_tabs(std::string text) {
    for (char& c : text) {
        c = c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
    }
    return text;
}

template <class Quote> std::string separated(const DrawnTable& table, char separator, Quote quote) {
    std::string text;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        text += (i == 0 ? "" : std::string(1, separator)) + quote(table.columns[i]);
    }
    text += '\n';
    for (const auto& row : table.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += (i == 0 ? "" : std::string(1, separator)) + quote(cell_text(row[i]));
        }
        text += '\n';
    }
    return text;
}

} // namespace

std::string to_svg(const Drawing& drawing, SvgTheme theme) {
    std::string svg = svg_open(drawing.canvas, drawing.title, "", theme);
    for (const DrawnBox& box : drawing.boxes) {
        write_box(svg, box);
    }
    for (const DrawnLine& line : drawing.lines) {
        write_line(svg, line);
    }
    for (const DrawnText& text : drawing.texts) {
        write_text(svg, text);
    }
    return svg + "</svg>\n";
}

std::string to_csv(const DrawnTable& table) {
    return separated(table, ',', read::csv_quoted);
}

std::string to_tsv(const DrawnTable& table) {
    return separated(table, '\t', blank_for_tabs);
}

std::string to_json(const DrawnTable& table, const std::string& title) {
    nlohmann::ordered_json json = {{"schema", "eyeroof/figures/1"}, {"title", title}};
    json["rows"] = nlohmann::ordered_json::array();
    for (const auto& row : table.rows) {
        nlohmann::ordered_json entry;
        for (std::size_t i = 0; i < row.size() && i < table.columns.size(); ++i) {
            const auto* number = std::get_if<double>(&row[i]);
            if (number == nullptr) {
                entry[table.columns[i]] = std::get<std::string>(row[i]);
            } else if (std::isfinite(*number)) {
                entry[table.columns[i]] = *number;
            } else {
                entry[table.columns[i]] = nullptr;
            }
        }
        json["rows"].push_back(std::move(entry));
    }
    return json.dump(2) + "\n";
}

} // namespace eyeroof::study
