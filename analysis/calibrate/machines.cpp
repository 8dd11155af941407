#include "analysis/calibrate/machines.hpp"

#include "analysis/chip/chip_figures.hpp"
#include "analysis/what_if/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace eyeroof::analysis {

using hwdb::Figure;
using hwdb::PublishedRow;

namespace {

// A network on a machine, and the machine as the row has it.
struct MachineRun {
    Report report;
    model::Machine machine;
};

// Runs each network on each machine once: several rows speak of one run.
class Runs {
  public:
    Runs(const NetworkSource& networks, const MachineSource& machines,
         const model::Technology* technology, const Scenario& options, std::stop_token stop)
        : networks_(networks), machines_(machines), technology_(technology), options_(options),
          stop_(std::move(stop)) {}

    const Result<MachineRun>& of(const PublishedRow& row, const std::string& machine) {
        std::string key = fmt::format("{}\n{}\n{}\n{}\n{}", machine, row.network, row.batch,
                                      row.layers, row.searched);
        for (const std::string& change : row.changes) {
            key += "\n" + change;
        }
        const auto known = reports_.find(key);
        return known != reports_.end() ? known->second
                                       : reports_.emplace(key, fresh(row, machine)).first->second;
    }

  private:
    Result<MachineRun> fresh(const PublishedRow& row, const std::string& id) const {
        const auto network = networks_(row.network);
        auto machine = machines_(id);
        if (!network || !machine) {
            Diagnostics found = network.diagnostics();
            found.append(machine.diagnostics());
            return Result<MachineRun>(std::move(found));
        }
        if (!row.changes.empty()) {
            machine = changed(*machine, row.changes);
        }
        if (!machine) {
            return Result<MachineRun>(machine.diagnostics());
        }
        Scenario options = options_;
        if (row.searched) {
            options.policy = MappingPolicy::best;
        }
        if (row.batch > 0) {
            options.batch = row.batch;
        }
        if (!row.layers.empty()) {
            options.layers = row.layers;
        }
        Question question;
        question.scenario = options;
        question.network = network->network;
        question.edges = network->edges;
        question.machine = *machine;
        auto report = run(question, stop_);
        if (!report) {
            return Result<MachineRun>(report.diagnostics());
        }
        if (technology_ != nullptr) {
            add_chip(*machine, *technology_, *report);
        }
        return Result<MachineRun>(MachineRun{*std::move(report), *machine});
    }

    const NetworkSource& networks_;
    const MachineSource& machines_;
    const model::Technology* technology_; // nullptr: no figures of chips
    const Scenario& options_;
    std::stop_token stop_;
    std::map<std::string, Result<MachineRun>> reports_;
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

// Of an array in memory: cells, row drivers, and conversions, without accumulators and memories.
double mac_hardware_j(const Report& report, const model::ComputeInMemory& array, double mac_pj) {
    const double conversion = array.adc_pj + array.sum_pj;
    double joules = report.total.macs * mac_pj * 1e-12;
    for (const LayerReport& layer : report.layers) {
        for (const TrafficRow& row : layer.traffic) {
            const double share = row.level != array.name  ? 0.0
                                 : row.tensor != "output" ? 1.0
                                 : conversion > 0.0       ? array.adc_pj / conversion
                                                          : 0.0;
            joules += share * row.energy_j * static_cast<double>(layer.layer.count);
        }
    }
    return joules;
}

double tera_ops(const Report& report, double time_s) {
    return 2.0 * report.total.macs / time_s * 1e-12;
}

// Errors: "no-figure" where the machine or the run has none.
Result<double> of_array_or_chip(Figure figure, const MachineRun& run) {
    const auto* accelerator = std::get_if<model::Accelerator>(&run.machine.kind);
    const Report& report = run.report;
    if (figure == Figure::chip_mw || figure == Figure::chip_giga_ops_per_w) {
        if (!report.chip) {
            return Result<double>::failure("no-figure", "the process is unknown",
                                           "give the machine a `process_nm`");
        }
        return Result<double>(figure == Figure::chip_mw
                                  ? report.chip->power_w * 1e3
                                  : 2.0 * report.total.macs / report.chip->energy_j * 1e-9);
    }
    if (accelerator == nullptr || !accelerator->array) {
        return Result<double>::failure("no-figure", run.machine.id + " has no array in memory",
                                       "this figure is of a machine with `array`");
    }
    const model::ComputeInMemory& array = *accelerator->array;
    const auto area = model::area_of(array);
    if (figure == Figure::array_tera_ops_per_w) {
        const double joules = mac_hardware_j(report, array, accelerator->mac_pj);
        return Result<double>(2.0 * report.total.macs / joules * 1e-12);
    }
    const double arrays =
        static_cast<double>(model::instances_of(*accelerator, accelerator->levels.size() - 2));
    return area ? Result<double>(tera_ops(report, report.total.processing_time_s) /
                                 (arrays * (area->cells_um2 + area->adcs_um2) * 1e-6))
                : Result<double>::failure("no-figure", "the area of the array is unknown",
                                          "give it `cell_um2` and `adc_um2`");
}

Result<double> predicted(Figure figure, const MachineRun& of, const MachineRun* over) {
    const Report& report = of.report;
    switch (figure) {
    case Figure::processing_ms:
        return Result<double>(report.total.processing_time_s * 1e3);
    case Figure::total_ms:
        return Result<double>(report.total.time_s * 1e3);
    case Figure::frames_per_s:
        return Result<double>(frames_of(report) / report.total.time_s);
    case Figure::tera_ops:
        return Result<double>(tera_ops(report, report.total.time_s));
    case Figure::processing_tera_ops:
        return Result<double>(tera_ops(report, report.total.processing_time_s));
    case Figure::active_pes:
        return Result<double>(report.layers.front().active.allocated);
    case Figure::dram_mb:
        return Result<double>(moved_mb(report));
    case Figure::energy_mj:
        return Result<double>(report.total.energy_j * 1e3);
    case Figure::processing_speedup:
        return Result<double>(over->report.total.processing_time_s /
                              report.total.processing_time_s);
    case Figure::chip_mw:
    case Figure::chip_giga_ops_per_w:
    case Figure::array_tera_ops_per_w:
    case Figure::array_tera_ops_per_mm2:
        break;
    }
    return of_array_or_chip(figure, of);
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
    const Result<MachineRun>& own = runs.of(row, row.machine);
    const bool two = row.figure == Figure::processing_speedup;
    const Result<MachineRun>& other = two ? runs.of(row, row.over) : own;
    const auto figure = own && other
                            ? predicted(row.figure, *own, &*other)
                            : Result<double>(own ? other.diagnostics() : own.diagnostics());
    if (!figure) {
        Diagnostics found = figure.diagnostics();
        found.place({}, row.name);
        return Result<PublishedResult>(std::move(found));
    }
    return Result<PublishedResult>(PublishedResult{row, *figure, limit_of(own->report)});
}

} // namespace

double PublishedResult::unexplained() const {
    double factor = 1.0;
    for (const hwdb::Explanation& one : row.explained) {
        factor *= one.factor;
    }
    return predicted / factor / row.published - 1.0;
}

Result<std::vector<MachineTable>>
validate_machines(const std::vector<hwdb::PublishedTable>& tables, const NetworkSource& networks,
                  const MachineSource& machines, const model::Technology* technology,
                  const Scenario& options, std::stop_token stop, const ProgressCallback& progress) {
    Runs runs(networks, machines, technology, options, stop);
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
