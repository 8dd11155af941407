#include "formats/claim_yaml.hpp"

#include "base/text_file.hpp"
#include "formats/expression.hpp"
#include "hwdb/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

namespace eyeroof::formats {

namespace {

using hwdb::Node;

constexpr double kMost = 1e30;

constexpr std::pair<std::string_view, Confidence> kConfidences[] = {
    {"datasheet", Confidence::datasheet}, {"paper", Confidence::paper},
    {"measured", Confidence::measured},   {"derived", Confidence::derived},
    {"secondary", Confidence::secondary}, {"recalled", Confidence::recalled}};

// Commands that answer and change nothing: what a claim may run.
constexpr std::array<std::string_view, 17> kCommands = {
    "exam",    "map",   "roofline", "timeline",   "memory",   "improve", "bound", "fuse", "sweep",
    "upgrade", "scale", "serve",    "collective", "validate", "tune",    "hw",    "net"};
constexpr std::array<std::string_view, 7> kWriting = {"-o",     "--output", "--log",       "--save",
                                                      "--into", "--fit",    "--checkpoint"};

// Words as a shell takes them apart: blanks between, quotes around what has blanks.
std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    char quote = '\0';
    bool open = false;
    for (const char c : line) {
        if (quote != '\0' ? c == quote : c == '\'' || c == '"') {
            quote = quote != '\0' ? '\0' : c;
            open = true;
        } else if (quote == '\0' && (c == ' ' || c == '\n')) {
            if (open) {
                words.push_back(std::exchange(word, {}));
            }
            open = false;
        } else {
            word += c;
            open = true;
        }
    }
    if (open) {
        words.push_back(word);
    }
    return words;
}

class ClaimReader {
  public:
    Claim read(const Node& root) {
        constexpr std::pair<std::string_view, int> versions[] = {{"claim/1", 1}};
        root.need("eyeroof").choice(versions, "format of this file");
        claim_.topic = root.need("topic").text().value_or("");
        claim_.claim = root.need("claim").text().value_or("");
        claim_.source = root.need("source").text().value_or("");
        claim_.agrees = root["agrees"].text().value_or("");
        claim_.differs = root["differs"].text().value_or("");
        claim_.measures = root["measures_this_machine"].boolean().value_or(false);
        for (const auto& [name, node] : root.need("runs").entries()) {
            claim_.runs.push_back({name, command(node)});
        }
        for (const auto& [name, node] : root.need("values").entries()) {
            claim_.values.push_back(value(name, node));
            known_[name] = 1.0 + 0.37 * static_cast<double>(known_.size());
        }
        for (const Node& node : root.need("figures").items(1)) {
            claim_.figures.push_back(figure(node));
        }
        claim_.plot = plot(root["plot"]);
        return std::move(claim_);
    }

  private:
    static std::vector<std::string> command(const Node& node) {
        const std::string line = node.text().value_or("");
        std::vector<std::string> words = words_of(line);
        const bool named =
            words.size() > 1 && words[0] == "eyeroof" &&
            std::find(kCommands.begin(), kCommands.end(), words[1]) != kCommands.end();
        const bool writes = std::any_of(words.begin(), words.end(), [](const std::string& word) {
            const std::string_view name = std::string_view(word).substr(0, word.find('='));
            return std::find(kWriting.begin(), kWriting.end(), name) != kWriting.end() ||
                   (word.starts_with("-o") && word.size() > 2);
        });
        if (!line.empty() && (!named || writes)) {
            node.error("not-a-command", fmt::format("'{}' is not a command that answers", line),
                       "write `eyeroof exam …` or another command that answers, without a file "
                       "to write");
        }
        if (!words.empty()) {
            words.erase(words.begin());
        }
        return words;
    }

    bool is_run(const std::string& name) const {
        return std::any_of(claim_.runs.begin(), claim_.runs.end(),
                           [&](const ClaimRun& run) { return run.name == name; });
    }

    void check_run(const Node& node, const std::string& name) const {
        if (!is_run(name)) {
            node.error("unknown-run", fmt::format("no run is called '{}'", name),
                       "write the name of one under `runs`");
        }
    }

    std::string expression(const Node& node) const {
        const std::string text = node.text().value_or("");
        // The values are stand-ins here: names and form are checked, the numbers are not yet known.
        const auto value = evaluate(text, known_, Exponents::allowed);
        if (!text.empty() && !value) {
            for (const Diagnostic& found : value.diagnostics()) {
                node.error("expression", found.message, found.hint);
            }
        }
        return text;
    }

    // "run /path", "run /path is text", or an expression of values, with blanks around a "/".
    ClaimValue value(const std::string& name, const Node& node) const {
        ClaimValue value;
        value.name = name;
        const std::string text = node.text().value_or("");
        const std::size_t slash = text.find(" /");
        const bool path = slash != std::string::npos && text.substr(slash + 2, 1) != " ";
        if (!path) {
            value.expression = expression(node);
            return value;
        }
        value.run = text.substr(0, slash);
        value.path = text.substr(slash + 1);
        if (const std::size_t is = value.path.find(" is "); is != std::string::npos) {
            value.is = value.path.substr(is + 4);
            value.path.resize(is);
        }
        check_run(node, value.run);
        return value;
    }

    ClaimFigure figure(const Node& node) const {
        ClaimFigure figure;
        figure.name = node.need("name").text().value_or("");
        figure.unit = node["unit"].text().value_or("");
        figure.confidence =
            node["confidence"].choice(kConfidences, "confidence").value_or(Confidence::paper);
        figure.statement = node.has("holds");
        figure.ours = expression(figure.statement ? node["holds"] : node.need("ours"));
        read_published(node, figure);
        if (const Node why = node["why"]) {
            for (const Node& item : why.items(1)) {
                figure.why.push_back(reason(item, figure.unit));
            }
        }
        return figure;
    }

    // "gives" is the figure itself, in its unit; "value" any other number.
    ClaimReason reason(const Node& item, const std::string& figure_unit) const {
        ClaimReason reason;
        reason.text = item.need("text").text().value_or("");
        const Node gives = item["gives"], value = item["value"], unit = item["unit"];
        reason.counterfactual = static_cast<bool>(gives);
        reason.unit = gives ? figure_unit : unit.text().value_or("");
        reason.value = expression(gives ? gives : item.need("value"));
        if (gives && (value || unit)) {
            (value ? value : unit)
                .error("two-numbers",
                       "a reason with `gives` has the figure's unit and no other value",
                       "write `gives`, or `value` and `unit`");
        }
        return reason;
    }

    static void read_published(const Node& node, ClaimFigure& figure) {
        const Node published = node["published"];
        if (published.is_list()) {
            const std::vector<Node> ends = published.items(2);
            if (ends.size() == 2) {
                figure.low = ends[0].number(-kMost, kMost);
                figure.high = ends[1].number(-kMost, kMost);
            }
        } else if (published) {
            figure.low = figure.high = published.number(-kMost, kMost);
        }
        if (const Node least = node["at_least"]) {
            figure.low = least.number(-kMost, kMost);
        }
        if (const Node most = node["at_most"]) {
            figure.high = most.number(-kMost, kMost);
        }
        if (figure.low && figure.high && *figure.low > *figure.high) {
            published.error("range", "the range ends before it begins", "write [LEAST, MOST]");
        }
        if (!figure.statement && !figure.low && !figure.high) {
            node.error("no-figure", "the figure has no published value",
                       "write `published: 139`, `published: [2, 10]`, `at_least: 1.5`, or a "
                       "statement as `holds: EXPRESSION` in place of `ours`");
        }
    }

    ClaimPlot plot(const Node& node) const {
        ClaimPlot plot;
        if (!node) {
            return plot;
        }
        if (const Node drawn = node["command"]) {
            plot.command = command(drawn);
        }
        plot.x_title = node["x"].text().value_or("");
        plot.y_title = node["y"].text().value_or("");
        if (const Node lines = node["lines"]) {
            for (const Node& item : lines.items(1)) {
                ClaimLine line;
                line.label = item.need("label").text().value_or("");
                line.run = item.need("run").text().value_or("");
                line.x = item.need("x").text().value_or("");
                line.y = item.need("y").text().value_or("");
                line.over = item["over"].text().value_or("");
                check_run(item, line.run);
                if (!line.over.empty()) {
                    check_run(item, line.over);
                }
                plot.lines.push_back(std::move(line));
            }
        }
        return plot;
    }

    Claim claim_;
    Variables known_;
};

} // namespace

Result<Claim> read_claim(const hwdb::Document& document) {
    return document.conclude(ClaimReader().read(document.root()));
}

Result<Claim> parse_claim(std::string text, const std::string& file) {
    const auto document = hwdb::parse_yaml(std::move(text), file);
    return document ? read_claim(*document) : Result<Claim>(document.diagnostics());
}

Result<Claim> load_claim(const std::filesystem::path& folder) {
    const std::filesystem::path file = folder / "claim.yaml";
    auto text = read_text_file(file.string());
    if (!text) {
        return Result<Claim>(text.diagnostics());
    }
    auto claim = parse_claim(*std::move(text), file.string());
    if (claim) {
        claim->name = folder.filename().string();
        claim->folder = folder;
    }
    return claim;
}

std::vector<std::filesystem::path>
claim_folders(const std::vector<std::filesystem::path>& folders) {
    std::map<std::string, std::filesystem::path> found;
    for (const std::filesystem::path& folder : folders) {
        std::error_code failed;
        for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end;
             at.increment(failed)) {
            std::error_code ignored;
            if (std::filesystem::is_regular_file(at->path() / "claim.yaml", ignored)) {
                found.emplace(at->path().filename().string(), at->path());
            }
        }
    }
    std::vector<std::filesystem::path> all;
    for (const auto& [name, path] : found) {
        all.push_back(path);
    }
    return all;
}

} // namespace eyeroof::formats
