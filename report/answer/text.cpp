// Answers for a terminal: cells in columns as wide as their content, and what has no room below its
// row.
#include "base/lines.hpp"
#include "report/answer/write.hpp"

#include <algorithm>

namespace eyeroof::report {

namespace {

constexpr std::size_t kMaxTextCell = 30; // columns of a name where not all fit beside each other
constexpr std::size_t kBarCells = 30;
constexpr std::size_t kIndent = 2;

std::string cell_text(const Value& value, Unit unit) {
    if (unit == Unit::bar) {
        const auto* share = std::get_if<double>(&value);
        return share == nullptr ? std::string() : bar(*share, *share, kBarCells);
    }
    return masked_controls(value_text(value, unit));
}

bool is_number(const Head& head) {
    return head.unit != Unit::bar && head.kind != Kind::text && head.kind != Kind::list;
}

bool stands_below(const Head& head) {
    return head.unit == Unit::sentence || head.kind == Kind::table;
}

struct Layout {
    std::vector<std::size_t> columns, widths; // beside each other
    std::vector<std::size_t> below;           // behind each other, under the row
};

bool is_words(const Head& head) {
    return head.kind == Kind::text || head.kind == Kind::list;
}

// At most `cap` of a name.
std::size_t content_width(const AnswerTable& table, std::size_t column, std::size_t cap) {
    const Head& head = table.columns[column];
    std::size_t most = 0;
    for (const auto& row : table.rows) {
        most = std::max(most, display_width(cell_text(row[column], head.unit)));
    }
    const bool name = is_words(head) && (head.unit != Unit::line || column == 0);
    return std::max(name ? std::min(most, cap) : most, display_width(head.title));
}

constexpr std::size_t kLeastLine = 20; // columns of a text that ends its row

Layout layout_with(const AnswerTable& table, std::size_t indent, std::size_t width,
                   std::size_t cap) {
    Layout layout;
    std::size_t used = indent;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const Head& head = table.columns[c];
        if (!head.seen_by(kText)) {
            continue;
        }
        const std::size_t gap = used == indent ? 0 : 2;
        const std::size_t left = width - std::min(width, used + gap);
        std::size_t needed = content_width(table, c, cap);
        if (head.unit == Unit::line && left >= kLeastLine) {
            needed = std::min(needed, left);
        }
        if (stands_below(head) || needed > left) {
            layout.below.push_back(c);
            continue;
        }
        layout.columns.push_back(c);
        layout.widths.push_back(needed);
        used += needed + gap;
    }
    return layout;
}

// Names are whole where all columns fit beside each other.
Layout layout_of(const AnswerTable& table, std::size_t indent, std::size_t width) {
    Layout whole = layout_with(table, indent, width, width);
    const bool fits = std::ranges::all_of(
        whole.below, [&](std::size_t c) { return stands_below(table.columns[c]); });
    return fits ? whole : layout_with(table, indent, width, kMaxTextCell);
}

// Whether a name is longer than its cell.
bool is_cut(const AnswerTable& table, const Layout& layout, const std::vector<Value>& row,
            std::size_t i) {
    const std::size_t c = layout.columns[i];
    const Head& head = table.columns[c];
    return is_words(head) && (head.unit != Unit::line || c == 0) &&
           display_width(cell_text(row[c], head.unit)) > layout.widths[i];
}

std::string in_cells(const AnswerTable& table, const Layout& layout, std::size_t indent,
                     const std::function<std::string(std::size_t)>& text_of) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
        const std::string cell = text_of(layout.columns[i]);
        line += i == 0 ? "" : "  ";
        line += is_number(table.columns[layout.columns[i]]) ? right(cell, layout.widths[i])
                                                            : left(cell, layout.widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

std::string rows_text(const AnswerTable& table, std::size_t indent, std::size_t width);

std::string below_text(const AnswerTable& table, const Layout& layout,
                       const std::vector<Value>& row, std::size_t indent, std::size_t width) {
    std::vector<std::string> parts;
    std::string tables;
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
        const std::size_t c = layout.columns[i];
        if (c != 0 && is_cut(table, layout, row, i)) {
            parts.push_back(table.columns[c].title + " " +
                            cell_text(row[c], table.columns[c].unit));
        }
    }
    for (const std::size_t c : layout.below) {
        const Head& head = table.columns[c];
        if (const auto* inner = std::get_if<std::shared_ptr<const AnswerTable>>(&row[c])) {
            tables += (*inner)->rows.empty() ? std::string()
                                             : rows_text(**inner, indent + kIndent, width);
            continue;
        }
        const std::string cell = cell_text(row[c], head.unit);
        if (!cell.empty()) {
            parts.push_back(head.unit == Unit::sentence ? cell : head.title + " " + cell);
        }
    }
    std::string joined;
    for (const std::string& part : parts) {
        joined += (joined.empty() ? "" : "; ") + part;
    }
    return (joined.empty() ? "" : wrapped(joined, indent + kIndent, width)) + tables;
}

std::string rows_text(const AnswerTable& table, std::size_t indent, std::size_t width) {
    const Layout layout = layout_of(table, indent, width);
    std::string text =
        in_cells(table, layout, indent, [&](std::size_t c) { return table.columns[c].title; });
    for (std::size_t r = 0; r < std::min(table.rows.size(), table.most_for_people); ++r) {
        const auto& row = table.rows[r];
        const bool named =
            !layout.columns.empty() && layout.columns.front() == 0 && is_cut(table, layout, row, 0);
        text += named ? wrapped(cell_text(row[0], table.columns[0].unit), indent, width)
                      : std::string();
        text += in_cells(table, layout, indent, [&](std::size_t c) {
            return named && c == 0 ? std::string() : cell_text(row[c], table.columns[c].unit);
        });
        text += below_text(table, layout, row, indent, width);
    }
    return text + rest_text(table);
}

} // namespace

std::string rest_text(const AnswerTable& table) {
    return table.rows.size() <= table.most_for_people
               ? std::string()
               : "and " + counted(table.rows.size() - table.most_for_people, "more row") +
                     ": --format json has all\n";
}

std::string tables_text(const std::vector<AnswerTable>& tables, std::size_t width) {
    std::string text;
    for (const AnswerTable& table : tables) {
        if (!table.rows.empty() && std::ranges::any_of(table.columns, [](const Head& head) {
                return head.seen_by(kText);
            })) {
            text += "\n";
            text += table.title.empty() ? std::string()
                                        : wrapped(masked_controls(table.title + ":"), 0, width);
            text += rows_text(table, 0, width);
        }
    }
    return text;
}

std::string to_text(const Answer& answer, std::size_t width) {
    const auto line = [width](const std::string& sentence) {
        return sentence.empty() ? std::string() : wrapped(masked_controls(sentence), 0, width);
    };
    std::string text = line(answer.question);
    for (const std::string& sentence : answer.sentences) {
        text += line(sentence);
    }
    for (const std::string& warning : answer.warnings) {
        text += line("warning: " + warning);
    }
    std::vector<std::string> facts;
    for (const Figure& figure : answer.figures) {
        if (figure.head.seen_by(kText)) {
            facts.push_back(figure.head.title + " " + cell_text(figure.value, figure.head.unit));
        }
    }
    text += facts.empty() ? std::string() : wrapped_parts(facts, 0, width);
    text += answer.plot_text ? "\n" + answer.plot_text(width) : std::string();
    text += answer.commands.empty() ? "" : "\n";
    for (const std::string& command : answer.commands) {
        text += "  $ " + masked_controls(command) + "\n";
    }
    text += tables_text(answer.tables, width);
    for (const Answer& part : answer.parts) {
        text += "\n" + line(part.title) + to_text(part, width);
    }
    text += answer.notes.empty() ? "" : "\n";
    for (const std::string& note : answer.notes) {
        text += line(note);
    }
    return text;
}

} // namespace eyeroof::report
