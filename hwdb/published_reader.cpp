#include "hwdb/published_reader.hpp"

#include "hwdb/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace eyeroof::hwdb {

namespace {

struct Named {
    const char* key;
    const char* name;
    Figure figure;
};

constexpr std::array<Named, 13> kFigures = {
    {{"processing_ms", "processing ms", Figure::processing_ms},
     {"total_ms", "total ms", Figure::total_ms},
     {"frames_per_s", "frames/s", Figure::frames_per_s},
     {"tera_ops", "TOPS", Figure::tera_ops},
     {"processing_tera_ops", "TOPS computing", Figure::processing_tera_ops},
     {"active_pes", "active PEs", Figure::active_pes},
     {"dram_mb", "DRAM MB", Figure::dram_mb},
     {"processing_speedup", "speed-up", Figure::processing_speedup},
     {"energy_mj", "mJ", Figure::energy_mj},
     {"chip_mw", "chip mW", Figure::chip_mw},
     {"chip_giga_ops_per_w", "chip GOPS/W", Figure::chip_giga_ops_per_w},
     {"array_tera_ops_per_w", "TOPS/W", Figure::array_tera_ops_per_w},
     {"array_tera_ops_per_mm2", "TOPS/mm2", Figure::array_tera_ops_per_mm2}}};

constexpr std::pair<std::string_view, Confidence> kPublishedAs[] = {
    {"datasheet", Confidence::datasheet},
    {"paper", Confidence::paper},
    {"measured", Confidence::measured},
    {"derived", Confidence::derived},
    {"recalled", Confidence::recalled},
    {"secondary", Confidence::secondary},
    {"user", Confidence::user}};

// What the rows of a table have in common unless they say otherwise.
class PublishedReader {
  public:
    explicit PublishedReader(Document& document) : root_(document.root()) {}

    PublishedTable read(std::string id) {
        constexpr std::pair<std::string_view, int> versions[] = {{"published/1", 1}};
        root_.need("eyeroof").choice(versions, "format of this file");
        table_.id = std::move(id);
        table_.title = root_.need("title").text().value_or("");
        common_ = common(root_, PublishedRow{});
        if (common_.from.source.empty()) {
            root_.need("source");
        }
        for (const Node& row : root_.need("rows").items(1)) {
            table_.rows.push_back(read_row(row));
        }
        return std::move(table_);
    }

  private:
    static PublishedRow common(const Node& node, PublishedRow row) {
        row.machine = node["machine"].text().value_or(row.machine);
        row.over = node["over"].text().value_or(row.over);
        row.batch = node["batch"].integer().value_or(row.batch);
        row.network = node["network"].text().value_or(row.network);
        row.from.source = node["source"].text().value_or(row.from.source);
        row.from.confidence =
            node["confidence"].choice(kPublishedAs, "confidence").value_or(row.from.confidence);
        row.note = node["note"].text().value_or(row.note);
        row.seen = node["seen"].boolean().value_or(row.seen);
        row.searched = node["searched"].boolean().value_or(row.searched);
        if (const Node changes = node["set"]) {
            row.changes.clear();
            for (const Node& change : changes.one_or_more()) {
                row.changes.push_back(change.text().value_or(""));
            }
        }
        return row;
    }

    static std::vector<Explanation> explanations(const Node& node) {
        std::vector<Explanation> all;
        if (const Node list = node["explained"]) {
            for (const Node& item : list.items(1)) {
                Explanation one;
                one.step = static_cast<int>(item.need("step").integer({1, 7}).value_or(7));
                one.factor = item.need("factor").number(0.01, 100.0).value_or(1.0);
                one.why = item.need("why").text().value_or("");
                all.push_back(std::move(one));
            }
        }
        return all;
    }

    PublishedRow read_row(const Node& node) {
        PublishedRow row = common(node, common_);
        row.name = node.need("name").text().value_or("");
        row.layers = node["layers"].text().value_or("");
        row.explained = explanations(node);
        if (row.machine.empty()) {
            node.need("machine");
        }
        if (row.network.empty()) {
            node.need("network");
        }
        constexpr double most = 1e15;
        std::size_t given = 0;
        for (const Named& figure : kFigures) {
            if (const Node value = node[figure.key]) {
                row.figure = figure.figure;
                row.published = value.number(1e-15, most).value_or(1.0);
                ++given;
            }
        }
        if (given != 1) {
            node.error("one-figure", "a row has one published figure",
                       "such as `total_ms: 20.9`; write another row for another figure");
        }
        if (row.figure == Figure::processing_speedup && row.over.empty()) {
            node.need("over");
        }
        return row;
    }

    Node root_;
    PublishedTable table_;
    PublishedRow common_;
};

} // namespace

std::string_view figure_name(Figure figure) {
    for (const Named& known : kFigures) {
        if (known.figure == figure) {
            return known.name;
        }
    }
    return {};
}

Result<PublishedTable> load_published(const std::filesystem::path& file) {
    auto document = load_yaml(file);
    if (!document) {
        return Result<PublishedTable>(document.diagnostics());
    }
    PublishedTable table = PublishedReader(*document).read(file.stem().string());
    return document->conclude(std::move(table));
}

Result<std::vector<PublishedTable>>
load_all_published(const std::vector<std::filesystem::path>& folders) {
    std::vector<PublishedTable> tables;
    std::set<std::string> known; // the first folder with an id has it
    Diagnostics found;
    for (const std::filesystem::path& folder : folders) {
        std::vector<std::filesystem::path> files;
        std::error_code failed;
        for (std::filesystem::directory_iterator at(folder / "published", failed), end;
             !failed && at != end; at.increment(failed)) {
            if (at->path().extension() == ".yaml" && known.insert(at->path().stem()).second) {
                files.push_back(at->path());
            }
        }
        std::sort(files.begin(), files.end());
        for (const std::filesystem::path& file : files) {
            auto table = load_published(file);
            found.append(table.diagnostics());
            if (table) {
                tables.push_back(*std::move(table));
            }
        }
    }
    if (tables.empty() && !found.has_errors()) {
        found.error("no-tables", "no folder of machines has published figures",
                    "they are read from published/*.yaml");
    }
    return found.has_errors() ? Result<std::vector<PublishedTable>>(std::move(found))
                              : Result<std::vector<PublishedTable>>(std::move(tables));
}

} // namespace eyeroof::hwdb
