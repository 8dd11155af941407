#include "study/exam/run.hpp"

#include "model/base/pattern.hpp"
#include "model/gpu/served.hpp"
#include "study/exam/compiled.hpp"
#include "study/exam/examine.hpp"
#include "study/exam/network_step.hpp"
#include "study/exam/totals.hpp"
#include "study/exam/word_types.hpp"

#include <fmt/format.h>

#include <type_traits>

namespace eyeroof::study {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

Result<Network> matching_layers(const Network& network, const std::string& expression) {
    const auto pattern = Pattern::compile(expression);
    if (!pattern) {
        return Result<Network>(pattern.diagnostics());
    }
    Network kept = network;
    kept.layers.clear();
    for (const Layer& layer : network.layers) {
        if (pattern->found_in(layer.name)) {
            kept.layers.push_back(layer);
        }
    }
    if (kept.layers.empty()) {
        constexpr std::size_t kShownName = 60;
        return Result<Network>::failure(
            "no-layers", fmt::format("no layer of {} matches '{}'", network.name, expression),
            network.layers.empty()
                ? "the network has no layers"
                : "the first one is named " + network.layers.front().name.substr(0, kShownName));
    }
    return Result<Network>(std::move(kept));
}

} // namespace

Result<Network> prepared(const Network& network, const StudyOptions& options) {
    Result<Network> current(with_operators(network, options.operators.value_or(Operators::all)));
    if (options.batch) {
        current = with_batch(*current, *options.batch);
    }
    if (current && options.data_type) {
        for (Layer& layer : current->layers) {
            layer.types = {*options.data_type, *options.data_type, *options.data_type};
        }
    }
    if (current && options.training) { // after the types: an update keeps its own
        current = training_step(*current, *options.training);
    }
    if (current && options.launch == LaunchMode::compiled) {
        current = compiled(*current);
    }
    if (current && options.layers) {
        current = matching_layers(*current, *options.layers);
    }
    if (current && current->layers.empty()) {
        return Result<Network>::failure("no-layers", fmt::format("{} has no layers", network.name),
                                        "give it at least one layer");
    }
    return current;
}

namespace {

// Layers that differ in nothing but their names and counts cost the same. Diagnostics name their
// layer, so only layers without any stand for others.
class Twins {
  public:
    const LayerReport* of(const Layer& layer) const {
        for (const auto& known : known_) {
            if (same(known.layer, layer)) {
                return &known;
            }
        }
        return nullptr;
    }
    // A table of many layers is not searched for each: the first kMost shapes are kept.
    void keep(const LayerReport& report) {
        if (known_.size() < kMost) {
            known_.push_back(report);
        }
    }

  private:
    static constexpr std::size_t kMost = 256;
    static bool same(Layer a, const Layer& b) {
        a.name = b.name;
        a.count = b.count;
        return a == b;
    }
    std::vector<LayerReport> known_;
};

template <class Context>
Result<Report> examine_all(const Network& network, const Machine& machine, const Context& context,
                           const StudyOptions& options, const std::stop_token& stop,
                           const ProgressCallback& progress) {
    Report report;
    report.machine = summarise(machine, context);
    report.network_id = network.id;
    report.network_name = network.name;
    Diagnostics problems;
    Twins twins;
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
        const Layer& layer = network.layers[i];
        if (progress) {
            const double done = static_cast<double>(i) / static_cast<double>(network.layers.size());
            progress({done, fmt::format("{} ({} of {})", layer.name, i + 1, network.layers.size()),
                      0.0, -1.0});
        }
        if (const LayerReport* twin = twins.of(layer)) {
            report.layers.push_back(*twin);
            report.layers.back().layer = layer;
            continue;
        }
        auto exam = examine(layer, context, options, stop);
        if (stop.stop_requested()) {
            return Result<Report>::failure("cancelled", "the examination was cancelled");
        }
        problems.append(exam.diagnostics());
        if (exam) {
            // A GPU's prediction costs less than the search for its twin.
            constexpr bool on_gpu = std::is_same_v<Context, GpuContext>;
            if (!on_gpu && exam.diagnostics().empty()) {
                twins.keep(*exam);
            }
            report.layers.push_back(*std::move(exam));
        }
    }
    if (problems.has_errors()) {
        return Result<Report>(std::move(problems));
    }
    add_totals(report);
    return Result<Report>(std::move(report), std::move(problems));
}

} // namespace

StudyOptions settled(const StudyOptions& options, const Machine& machine) {
    StudyOptions chosen = options;
    if (std::holds_alternative<Accelerator>(machine.kind) && !options.operators) {
        chosen.operators = options.training ? Operators::all : Operators::fused;
    }
    return chosen;
}

Result<Report> run(const Network& network, const Machine& machine, const StudyOptions& options,
                   std::stop_token stop, const ProgressCallback& progress) {
    const auto wanted = prepared(network, settled(options, machine));
    if (!wanted) {
        return Result<Report>(wanted.diagnostics());
    }
    if (const auto* gpu = std::get_if<Gpu>(&machine.kind)) {
        if (Diagnostics types = check_served(*wanted, machine.name, *gpu); types.has_errors()) {
            return types;
        }
        auto report =
            examine_all(*wanted, machine, gpu_context(*gpu, *wanted), options, stop, progress);
        if (report && gpu->arch != GpuArch::host) {
            add_step(options, *report);
        }
        return report;
    }
    const auto& accelerator = std::get<Accelerator>(machine.kind);
    Diagnostics types = check_types(*wanted, machine, accelerator, options);
    auto context = accelerator_context(machine, accelerator, options);
    if (types.has_errors() || !context) {
        types.append(context.diagnostics());
        return Result<Report>(std::move(types));
    }
    if (context->policy == MappingPolicy::best) {
        context->best =
            search_best(*wanted, accelerator, context->dataflow, options, stop, progress);
    }
    auto report = examine_all(*wanted, machine, *context, options, stop, progress);
    if (!report) {
        return report;
    }
    types.append(report.diagnostics());
    return Result<Report>(*std::move(report), std::move(types));
}

} // namespace eyeroof::study
