#include "analysis/sparse/levels_exam.hpp"

#include "analysis/exam/examine.hpp"
#include "analysis/exam/totals.hpp"
#include "analysis/exam/word_types.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/sparse/lay_zeros_over.hpp"
#include "base/parallel.hpp"
#include "model/sparse/dense_equivalent.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

namespace eyeroof::analysis {

using model::Layer;
using model::sparse::DenseEquivalent;
using model::sparse::Densities;

namespace {

// Attention's second operand is no weight, and its zeros are unknown.
Densities densities_for(const Layer& layer, const Densities& densities) {
    return model::multiplies(layer.op) && layer.op != model::Op::attention ? densities
                                                                           : Densities{};
}

// Layers with the same shape and shares of zeros, which cost the same: one is examined for all.
struct LayerKind {
    Layer layer;
    Densities densities;
    std::vector<std::size_t> members;

    bool takes(Layer other, const Densities& shares) const {
        other.name = layer.name;
        other.count = layer.count;
        return other == layer && shares == densities;
    }
};

std::vector<LayerKind> kinds_of(const std::vector<Layer>& layers,
                                const std::vector<Densities>& densities) {
    std::vector<LayerKind> kinds;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const Densities here = densities_for(layers[i], densities[i]);
        auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](const LayerKind& k) { return k.takes(layers[i], here); });
        if (kind == kinds.end()) {
            kind = kinds.insert(kinds.end(), {layers[i], here, {}});
        }
        kind->members.push_back(i);
    }
    return kinds;
}

// What each kind of a network takes, side by side on the threads that there are.
class Examiner {
  public:
    Examiner(const Question& layers, const SparseLevels& machine, std::stop_token stop,
             const ProgressCallback& progress)
        : layers_(layers), machine_(machine), stop_(std::move(stop)), progress_(progress) {}

    std::vector<Result<Report>> run(const std::vector<LayerKind>& kinds) {
        Scenario options = layers_.scenario;
        std::vector<std::optional<Result<Report>>> found(kinds.size());
        const int threads = thread_count(options.threads);
        const int at_once = std::clamp(static_cast<int>(kinds.size()), 1, threads);
        options.threads = threads / at_once;
        // Seconds are for all searches together.
        options.search_limit_s *= static_cast<double>(at_once) / static_cast<double>(kinds.size());
        in_parallel(at_once, kinds.size(), [&](std::size_t i) {
            found[i] = one(kinds[i], options);
            tell(kinds[i].layer.name, kinds.size());
        });
        std::vector<Result<Report>> reports;
        for (auto& report : found) {
            reports.push_back(*std::move(report));
        }
        return reports;
    }

  private:
    Result<Report> one(const LayerKind& kind, const Scenario& options) {
        const DenseEquivalent dense =
            dense_equivalent_of(machine_.accelerator(), machine_.rules, kind.densities);
        Question question = layers_;
        question.scenario = options;
        question.network.layers = {kind.layer};
        question.machine = machine_.machine;
        question.machine.kind = dense.machine;
        auto report = analysis::run(question, stop_);
        if (report && !dense.plain()) {
            Diagnostics wrong =
                lay_zeros_over(report->layers.front(), machine_, dense, kind.densities);
            if (wrong.has_errors()) {
                return wrong;
            }
        }
        return report;
    }

    void tell(const std::string& name, std::size_t kinds) {
        const std::lock_guard lock(mutex_);
        ++done_;
        if (progress_) {
            progress_({static_cast<double>(done_) / static_cast<double>(kinds), name});
        }
    }

    const Question& layers_;
    const SparseLevels& machine_;
    std::stop_token stop_;
    const ProgressCallback& progress_;
    std::mutex mutex_;
    std::size_t done_ = 0;
};

// Of the whole network: a part's own would count its layers alone.
void add_apart(Diagnostics& all, const Diagnostics& of_part) {
    for (const Diagnostic& d : of_part) {
        if (d.code != "other-words" && d.code != "max-filter") {
            all.add(d);
        }
    }
}

} // namespace

Result<Report> run_sparse(const Question& question, const SparseLevels& machine,
                          const std::vector<Densities>& densities, std::stop_token stop,
                          const ProgressCallback& progress) {
    Question dense = question; // zeros are laid over the layers, one by one
    dense.scenario.density.clear();
    const auto wanted = lowered_network(dense);
    if (!wanted) {
        return Result<Report>(wanted.diagnostics());
    }
    const Question own = question_of_lowered(dense, *wanted);
    const std::vector<LayerKind> kinds = kinds_of(wanted->layers, densities);
    const auto examined = Examiner(own, machine, std::move(stop), progress).run(kinds);
    Report report;
    Diagnostics found =
        check_types(*wanted, machine.machine, machine.accelerator(), question.scenario.data_type);
    for (const auto& one : examined) {
        add_apart(found, one.diagnostics());
    }
    if (found.has_errors()) {
        return Result<Report>(std::move(found));
    }
    report = *examined.front();
    const auto context = accelerator_context(own, machine.accelerator());
    report.machine = context ? summarise(machine.machine, *context) : report.machine;
    report.layers.resize(wanted->layers.size());
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        for (const std::size_t member : kinds[k].members) {
            report.layers[member] = examined[k]->layers.front();
            report.layers[member].layer = wanted->layers[member];
        }
    }
    report.total = {};
    report.worst.clear();
    add_totals(report);
    describe(question, report);
    return Result<Report>(std::move(report), std::move(found));
}

} // namespace eyeroof::analysis
