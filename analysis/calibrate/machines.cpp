#include "analysis/calibrate/machines.hpp"

#include "analysis/what_if/knobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace eyeroof::analysis {

using hwdb::Figure;
using hwdb::PublishedRow;

namespace {

// Runs each network on each machine once: several rows speak of one run.
class Runs {
  public:
    Runs(const NetworkSource& networks, const MachineSource& machines, const Scenario& options,
         std::stop_token stop)
        : networks_(networks), machines_(machines), options_(options), stop_(std::move(stop)) {}

    const Result<Report>& of(const PublishedRow& row, const std::string& machine) {
        std::string key =
            fmt::format("{}\n{}\n{}\n{}", machine, row.network, row.batch, row.layers);
        for (const std::string& change : row.changes) {
            key += "\n" + change;
        }
        const auto known = reports_.find(key);
        return known != reports_.end() ? known->second
                                       : reports_.emplace(key, fresh(row, machine)).first->second;
    }

  private:
    Result<Report> fresh(const PublishedRow& row, const std::string& id) const {
        const auto network = networks_(row.network);
        auto machine = machines_(id);
        if (!network || !machine) {
            Diagnostics found = network.diagnostics();
            found.append(machine.diagnostics());
            return Result<Report>(std::move(found));
        }
        if (!row.changes.empty()) {
            machine = changed(*machine, row.changes);
        }
        if (!machine) {
            return Result<Report>(machine.diagnostics());
        }
        Scenario options = options_;
        if (row.batch > 0) {
            options.batch = row.batch;
        }
        if (!row.layers.empty()) {
            options.layers = row.layers;
        }
        Question question;
        question.scenario = options;
        question.network = network->network;
        question.wiring = network->wiring;
        question.machine = *machine;
        return run(question, stop_);
    }

    const NetworkSource& networks_;
    const MachineSource& machines_;
    const Scenario& options_;
    std::stop_token stop_;
    std::map<std::string, Result<Report>> reports_;
};

// Images that go through at a time: the batch of the first layer with one.
double frames_of(const Report& report) {
    for (const LayerReport& layer : report.layers) {
        if (const auto* conv = std::get_if<model::ConvShape>(&layer.layer.shape)) {
            return static_cast<double>(conv->n);
        }
    }
    return 1.0;
}

double moved_mb(const Report& report) {
    double bytes = 0.0;
    for (const LayerReport& layer : report.layers) {
        bytes += layer.outer_bytes * static_cast<double>(layer.layer.count);
    }
    return bytes * 1e-6;
}

double predicted(Figure figure, const Report& report, const Report* over) {
    switch (figure) {
    case Figure::processing_ms:
        return report.total.processing_time_s * 1e3;
    case Figure::total_ms:
        return report.total.time_s * 1e3;
    case Figure::frames_per_s:
        return frames_of(report) / report.total.time_s;
    case Figure::tera_ops:
        return 2.0 * report.total.macs / report.total.time_s * 1e-12;
    case Figure::active_pes:
        return report.layers.front().active.allocated;
    case Figure::dram_mb:
        return moved_mb(report);
    case Figure::processing_speedup:
        break;
    }
    return over->total.processing_time_s / report.total.processing_time_s;
}

std::string limit_of(const Report& report) {
    const auto longest = std::max_element(report.layers.begin(), report.layers.end(),
                                          [](const LayerReport& a, const LayerReport& b) {
                                              return a.time_s * static_cast<double>(a.layer.count) <
                                                     b.time_s * static_cast<double>(b.layer.count);
                                          });
    return fmt::format("{} {}", longest->limiter_step, longest->limiter);
}

std::optional<double> mean_error(const std::vector<PublishedResult>& rows, bool unseen) {
    double sum = 0.0;
    std::size_t count = 0;
    for (const PublishedResult& result : rows) {
        const bool trusted = result.row.from.confidence != Confidence::recalled;
        if (trusted && !(unseen && result.row.seen)) {
            sum += std::abs(result.error());
            ++count;
        }
    }
    return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

Result<PublishedResult> result_of(const PublishedRow& row, Runs& runs) {
    const Result<Report>& report = runs.of(row, row.machine);
    const bool two = row.figure == Figure::processing_speedup;
    const Result<Report>& other = two ? runs.of(row, row.over) : report;
    if (!report || !other) {
        Diagnostics found = report ? other.diagnostics() : report.diagnostics();
        found.place({}, row.name);
        return Result<PublishedResult>(std::move(found));
    }
    return Result<PublishedResult>(
        PublishedResult{row, predicted(row.figure, *report, &*other), limit_of(*report)});
}

} // namespace

double PublishedResult::unexplained() const {
    double factor = 1.0;
    for (const hwdb::Explanation& one : row.explained) {
        factor *= one.factor;
    }
    return predicted / factor / row.published - 1.0;
}

Result<std::vector<MachineTable>> validate_machines(const std::vector<hwdb::PublishedTable>& tables,
                                                    const NetworkSource& networks,
                                                    const MachineSource& machines,
                                                    const Scenario& options, std::stop_token stop,
                                                    const ProgressCallback& progress) {
    Runs runs(networks, machines, options, stop);
    std::vector<MachineTable> results;
    Diagnostics found;
    for (std::size_t t = 0; t < tables.size(); ++t) {
        MachineTable table{tables[t].id, tables[t].title, {}, {}, {}};
        for (const PublishedRow& row : tables[t].rows) {
            if (progress) {
                const double done = static_cast<double>(t) / static_cast<double>(tables.size());
                progress({done, fmt::format("{}: {}", table.title, row.name), 0.0, -1.0});
            }
            if (stop.stop_requested()) {
                return Result<std::vector<MachineTable>>::failure("cancelled", "cancelled");
            }
            auto result = result_of(row, runs);
            if (result) {
                table.rows.push_back(*std::move(result));
            } else {
                found.append(result.diagnostics());
            }
        }
        table.mape = mean_error(table.rows, false);
        table.unseen_mape = mean_error(table.rows, true);
        results.push_back(std::move(table));
    }
    return found.has_errors() ? Result<std::vector<MachineTable>>(std::move(found))
                              : Result<std::vector<MachineTable>>(std::move(results));
}

} // namespace eyeroof::analysis
