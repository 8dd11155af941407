#include "report/exam/origin.hpp"

#include "base/figures.hpp"
#include "base/markup.hpp"
#include "report/exam/words.hpp"
#include "report/page/page.hpp"

#include <fmt/format.h>

#include <set>

namespace eyeroof::report {

namespace {

using model::ClassRecord;
using model::Machine;

std::string sheet_of(const Machine& machine) {
    const Provenance* root = find_provenance(machine.provenance, "");
    return root == nullptr || root->source.empty()
               ? "its description names no source"
               : fmt::format("{} ({})", root->source, confidence_words(root->confidence));
}

// Fields whose numbers have no source.
std::string recalled_of(const Machine& machine) {
    std::string fields;
    for (const auto& [field, from] : machine.provenance) {
        if (from.confidence == Confidence::recalled) {
            fields += (fields.empty() ? "" : ", ") + (field.empty() ? std::string("all") : field);
        }
    }
    return fields;
}

std::vector<std::string> machine_lines(const Machine& machine) {
    std::vector<std::string> lines = {
        fmt::format("Machine {} ({}): {}", machine.name, machine.id, sheet_of(machine))};
    if (const std::string fields = recalled_of(machine); !fields.empty()) {
        lines.push_back("Unsourced: " + fields);
    }
    if (!std::holds_alternative<model::Gpu>(machine.kind)) {
        lines.emplace_back(
            "Counted from this description by the rules of docs/accelerator-model.md, "
            "nothing is fitted; there too is how far published chips lie from it");
    }
    return lines;
}

struct ConstantsRow {
    std::string kernels, source, mean, median, band, rows, basis;
};

// Of the classes of kernels whose prediction was held against measurements.
std::vector<ConstantsRow> constants_of(const Machine& machine) {
    std::vector<ConstantsRow> rows;
    const auto* gpu = std::get_if<model::Gpu>(&machine.kind);
    for (std::size_t c = 0; gpu != nullptr && c < model::kKernelClasses; ++c) {
        const ClassRecord& record = gpu->calibration.records[c];
        if (record.provenance.source.empty()) {
            continue;
        }
        const model::ErrorBand& band = record.band;
        rows.push_back({std::string(model::kernel_class_name(static_cast<model::KernelClass>(c))),
                        fmt::format("{} ({})", record.provenance.source,
                                    confidence_words(record.provenance.confidence)),
                        percent(band.mape), percent(band.median),
                        fmt::format("{:.2f} … {:.2f}", band.low, band.high),
                        fmt::format("{}", band.rows), band.basis});
    }
    return rows;
}

constexpr std::string_view kConstants =
    "Constants of kernel time, and how far measurements that the fit had not seen lay from the "
    "prediction: mean and median error, and measured over predicted for eight rows in ten.";
constexpr std::string_view kSame = "The same command writes the same page.";

std::string constants_table(const Machine& machine) {
    const auto rows = constants_of(machine);
    if (rows.empty()) {
        return {};
    }
    std::string text =
        fmt::format("\n{}\n\n| kernels | constants from | mean | median | measured / "
                    "predicted | rows | which |\n|---|---|--:|--:|--:|--:|---|\n",
                    kConstants);
    for (const ConstantsRow& row : rows) {
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", markdown_cell(row.kernels),
                            markdown_cell(row.source), row.mean, row.median, row.band, row.rows,
                            markdown_cell(row.basis));
    }
    return text;
}

std::string constants_html(const Machine& machine) {
    const auto rows = constants_of(machine);
    if (rows.empty()) {
        return {};
    }
    PageTable table{{{"kernels", false},
                     {"constants from", false},
                     {"mean"},
                     {"median"},
                     {"measured / predicted"},
                     {"rows"},
                     {"which", false}},
                    {},
                    false};
    for (const ConstantsRow& row : rows) {
        table.rows.push_back({html_escaped(row.kernels), html_escaped(row.source), row.mean,
                              row.median, row.band, row.rows, html_escaped(row.basis)});
    }
    return fmt::format("<p>{}</p>\n", kConstants) + page_table(table);
}

// Each machine once, however often it was named.
std::vector<const Machine*> each_once(const Origin& origin) {
    std::vector<const Machine*> machines;
    std::set<std::string> seen;
    for (const Machine& machine : origin.machines) {
        if (seen.insert(machine.id + '\n' + machine.name).second) {
            machines.push_back(&machine);
        }
    }
    return machines;
}

// A line between backticks, however many stand in it.
std::string code(const std::string& line) {
    const std::string fence = line.find('`') == std::string::npos ? "`" : "```";
    return fence + line + fence;
}

} // namespace

std::string origin_markdown(const Origin& origin) {
    std::string text =
        fmt::format("\n## Where this comes from\n\nMade by eyeroof {} with\n{}\n{}\n",
                    origin.version, code(origin.command), kSame);
    for (const Machine* machine : each_once(origin)) {
        text += '\n';
        for (const std::string& line : machine_lines(*machine)) {
            text += "- " + markdown_cell(line) + "\n";
        }
        text += constants_table(*machine);
    }
    return text;
}

std::string with_origin_html(std::string page, const Origin& origin) {
    std::string text =
        fmt::format("<h2>Where this comes from</h2>\n<p>Made by eyeroof {} with</p>\n"
                    "<pre><code>{}</code></pre>\n<p>{}</p>\n",
                    html_escaped(origin.version), html_escaped(origin.command), kSame);
    for (const Machine* machine : each_once(origin)) {
        text += "<ul>\n";
        for (const std::string& line : machine_lines(*machine)) {
            text += "<li>" + html_escaped(line) + "</li>\n";
        }
        text += "</ul>\n" + constants_html(*machine);
    }
    return page_with(std::move(page), text);
}

} // namespace eyeroof::report
