#include "analysis/upgrade/evidence.hpp"

#include "base/csv.hpp"
#include "base/text_file.hpp"
#include "hwdb/folders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

namespace eyeroof::analysis {

namespace {

// Standard deviations of the effects and of the noise, chosen by the likelihood of rows whose
// family or source was held out (docs/upgrade.md, "Evidence").
constexpr double kGpuOfFamily = 0.10;
constexpr double kArchitectureOfPhase = 0.04;
constexpr double kArchitectureOfFamily = 0.04;
constexpr double kPairNoise = 0.10; // shared by rows of one source, network and pair
constexpr double kSubmissionNoise = 0.05;
constexpr double kRecipeNoise = 0.28;
constexpr std::size_t kMostRows = 2000; // a covariance of so many is solved in a second

double square(double x) {
    return x * x;
}

// Covariance of f(a.to) - f(a.from) and f(b.to) - f(b.from) for effects that only equal names
// share.
double difference(const std::string& a_from, const std::string& a_to, const std::string& b_from,
                  const std::string& b_to) {
    const auto same = [](const std::string& x, const std::string& y) { return x == y ? 1.0 : 0.0; };
    return same(a_to, b_to) - same(a_to, b_from) - same(a_from, b_to) + same(a_from, b_from);
}

double covariance(const EvidenceKey& a, const EvidenceKey& b) {
    const double gpus = difference(a.from, a.to, b.from, b.to);
    const double architectures =
        difference(a.from_architecture, a.to_architecture, b.from_architecture, b.to_architecture);
    const bool phase = a.phase == b.phase;
    const bool family = a.family == b.family;
    return (family && phase ? square(kGpuOfFamily) * gpus : 0.0) +
           (phase ? square(kArchitectureOfPhase) * architectures : 0.0) +
           (family ? square(kArchitectureOfFamily) * architectures : 0.0);
}

bool same_pair(const EvidenceRow& a, const EvidenceRow& b) {
    return a.source == b.source && a.network == b.network && a.key == b.key;
}

double row_covariance(const EvidenceRow& a, const EvidenceRow& b, bool same_row, double scale) {
    const double noise = same_row ? square(a.recipe ? kRecipeNoise : kSubmissionNoise) : 0.0;
    return square(scale) * covariance(a.key, b.key) + noise +
           (same_pair(a, b) ? square(kPairNoise) : 0.0);
}

// Lower triangle of Cholesky's factor.
std::vector<std::vector<double>> factor_of(const std::vector<EvidenceRow>& rows,
                                           const std::vector<std::size_t>& chosen, double scale) {
    std::vector<std::vector<double>> l(chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        l[i].resize(i + 1);
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = row_covariance(rows[chosen[i]], rows[chosen[j]], i == j, scale);
            for (std::size_t k = 0; k < j; ++k) {
                sum -= l[i][k] * l[j][k];
            }
            l[i][j] = i == j ? std::sqrt(std::max(sum, 1e-9)) : sum / l[j][j];
        }
    }
    return l;
}

// x with L x = b.
std::vector<double> solved(const std::vector<std::vector<double>>& l, std::vector<double> b) {
    for (std::size_t i = 0; i < b.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            b[i] -= l[i][k] * b[k];
        }
        b[i] /= l[i][i];
    }
    return b;
}

// x with L^T x = b.
std::vector<double> solved_back(const std::vector<std::vector<double>>& l, std::vector<double> b) {
    for (std::size_t i = b.size(); i-- > 0;) {
        for (std::size_t k = i + 1; k < b.size(); ++k) {
            b[i] -= l[k][i] * b[k];
        }
        b[i] /= l[i][i];
    }
    return b;
}

using Columns = std::map<std::string, std::size_t>;

std::string cell(const CsvRecord& record, const Columns& columns, const char* name) {
    const auto at = columns.find(name);
    return at == columns.end() || at->second >= record.cells.size()
               ? ""
               : std::string(record.cells[at->second].text);
}

double positive(const CsvRecord& record, const Columns& columns, const char* name,
                const std::string& file, Diagnostics& found) {
    const std::string text = cell(record, columns, name);
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value > 0.0) ||
        !std::isfinite(value)) {
        found.error("bad-number", "'" + text + "' is not a positive number",
                    "the published figure, such as 2.41",
                    {file, record.line, record.cells.empty() ? 1 : record.cells.front().column},
                    name);
        return 1.0;
    }
    return value;
}

EvidenceRow row_of(const CsvRecord& record, const Columns& columns, const std::string& file,
                   Diagnostics& found) {
    const auto text = [&](const char* name) { return cell(record, columns, name); };
    EvidenceRow row;
    row.source = text("source");
    row.network = text("network");
    row.key = {family_of(row.network), text("phase"), text("precision"),
               text("from"),           text("to"),    text("from_architecture"),
               text("to_architecture")};
    row.gpus = static_cast<int>(std::min(positive(record, columns, "gpus", file, found), 1e6));
    row.speedup = positive(record, columns, "speedup", file, found);
    row.predicted =
        text("predicted").empty() ? 0.0 : positive(record, columns, "predicted", file, found);
    row.recipe = text("kind") == "recipe";
    return row;
}

} // namespace

std::string family_of(const std::string& network) {
    std::size_t end = 0;
    while (end < network.size() && std::isalpha(static_cast<unsigned char>(network[end])) != 0) {
        ++end;
    }
    return network.substr(0, end);
}

Evidence::Evidence(std::vector<EvidenceRow> rows, double share, double scale)
    : rows_(std::move(rows)), scale_(scale) {
    std::vector<double> residuals;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (rows_[i].predicted > 0.0) {
            predicted_.push_back(i);
            residuals.push_back(std::log(rows_[i].speedup) - share * std::log(rows_[i].predicted));
        }
    }
    factor_ = factor_of(rows_, predicted_, scale_);
    weights_ = solved_back(factor_, solved(factor_, std::move(residuals)));
}

EvidenceShift Evidence::shift(const EvidenceKey& key) const {
    std::vector<double> common;
    EvidenceShift shift;
    for (std::size_t i = 0; i < predicted_.size(); ++i) {
        common.push_back(square(scale_) * covariance(key, rows_[predicted_[i]].key));
        shift.ln += common.back() * weights_[i];
    }
    for (const double part : solved(factor_, std::move(common))) {
        shift.explained += part * part;
    }
    return shift;
}

std::vector<Resemblance> Evidence::nearest(const EvidenceKey& key, std::size_t most) const {
    const double own = covariance(key, key);
    std::vector<Resemblance> all;
    std::set<std::string> seen;
    for (const EvidenceRow& row : rows_) {
        const double theirs = covariance(row.key, row.key);
        const double share =
            own > 0.0 && theirs > 0.0 ? covariance(key, row.key) / std::sqrt(own * theirs) : 0.0;
        if (share > 0.0 &&
            seen.insert(row.source + "|" + row.network + "|" + row.key.from + "|" + row.key.to)
                .second) {
            all.push_back({&row, share});
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.share > b.share; });
    all.resize(std::min(all.size(), most));
    return all;
}

Result<std::vector<EvidenceRow>> parse_evidence(const std::string& text, const std::string& file) {
    Diagnostics found;
    CsvReader reader(text, file);
    CsvRecord record;
    Columns columns;
    std::vector<EvidenceRow> rows;
    if (reader.next(record, found)) {
        for (std::size_t i = 0; i < record.cells.size(); ++i) {
            columns.emplace(record.cells[i].text, i);
        }
    }
    for (const char* name :
         {"source", "network", "from", "to", "from_architecture", "to_architecture", "phase",
          "precision", "gpus", "speedup", "predicted", "kind"}) {
        if (!columns.contains(name)) {
            found.error("missing-column", std::string("the column '") + name + "' is missing",
                        "see hwdb/evidence/published.csv", {file, 1, 1});
        }
    }
    while (!found.has_errors() && reader.next(record, found)) {
        rows.push_back(row_of(record, columns, file, found));
        if (rows.size() > kMostRows) {
            found.error("too-many-rows", fmt::format("more than {} published speedups", kMostRows),
                        "split the table", {file, record.line, 1});
        }
    }
    if (found.has_errors()) {
        return found;
    }
    return rows;
}

Result<std::shared_ptr<const Evidence>> load_evidence(hwdb::Folders folders, double share) {
    using Answer = Result<std::shared_ptr<const Evidence>>;
    const auto path = hwdb::nearest_file(folders, "evidence/published.csv");
    if (!path) {
        return Answer(std::shared_ptr<const Evidence>{});
    }
    const auto text = read_text_file(*path);
    if (!text) {
        return Answer(text.diagnostics());
    }
    auto rows = parse_evidence(*text, path->string());
    return rows ? Answer(std::make_shared<const Evidence>(*std::move(rows), share))
                : Answer(rows.diagnostics());
}

} // namespace eyeroof::analysis
