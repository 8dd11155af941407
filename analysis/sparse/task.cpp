#include "analysis/sparse/task.hpp"

#include "analysis/program/lower.hpp"
#include "analysis/sparse/densities.hpp"
#include "base/suggest.hpp"

#include <fmt/format.h>

#include <charconv>

namespace eyeroof::analysis {

namespace {

using model::sparse::Densities;
using Shares = std::vector<Densities>;

Result<double> share_of(const std::string& part, std::string_view text) {
    double value = -1.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() ||
        !(value >= 0.0 && value <= 1.0)) {
        return Result<double>::failure(
            "density", fmt::format("--density: '{}' is not a share", part),
            "a density is the share of nonzero values, 0 to 1, as in weights=0.4");
    }
    return value;
}

Result<Densities> named_shares(const std::string& text) {
    static const std::vector<std::string> names = {"inputs", "weights", "outputs"};
    Densities shares;
    std::optional<double> outputs;
    Diagnostics found;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find(',', from), text.size());
        const std::string part = text.substr(from, to - from);
        from = to + 1;
        const std::size_t equals = std::min(part.find('='), part.size());
        const std::string name = part.substr(0, equals);
        const auto value = share_of(part, equals < part.size() ? part.substr(equals + 1) : "");
        found.append(value.diagnostics());
        if (name == "inputs") {
            shares.input = value ? *value : 1.0;
        } else if (name == "weights") {
            shares.weight = value ? *value : 1.0;
        } else if (name == "outputs") {
            outputs = value ? *value : 1.0;
        } else {
            found.error("density", fmt::format("--density: there are no '{}'", name),
                        suggestion(name, names));
        }
    }
    shares.output = outputs.value_or(shares.input);
    return found.has_errors() ? Result<Densities>(std::move(found)) : Result<Densities>(shares);
}

} // namespace

Result<Shares> shares_of(const std::string& density, const model::Network& network,
                         std::span<const std::filesystem::path> folders) {
    if (density.find('=') != std::string::npos) {
        const auto one = named_shares(density);
        return one ? Result<Shares>(Shares(network.layers.size(), *one))
                   : Result<Shares>(one.diagnostics());
    }
    const auto file = find_sparse_file(density, folders, "densities", "density table");
    if (!file) {
        return file.diagnostics();
    }
    const auto table = load_densities(*file);
    return table ? densities_of(*table, network) : Result<Shares>(table.diagnostics());
}

Result<SparseTask> sparse_task(const SparseMachine& machine, const Scenario& scenario,
                               const model::NetworkGraph& loaded,
                               std::span<const std::filesystem::path> folders) {
    Question dense;
    dense.scenario = scenario;
    dense.scenario.layers.reset();
    dense.scenario.density.clear();
    dense.scenario.operators = Operators::all;
    dense.network = loaded.network;
    dense.edges = loaded.edges;
    auto network = lowered_network(dense);
    auto only = Pattern::compile(scenario.layers.value_or(""));
    Diagnostics all = network.diagnostics();
    all.append(only.diagnostics());
    if (all.has_errors()) {
        return all;
    }
    SparseTask task{machine, *std::move(network), *std::move(only), scenario, {}};
    if (scenario.density != kDensityCurve) {
        auto shares = shares_of(scenario.density, task.network, folders);
        all.append(shares.diagnostics());
        if (!shares) {
            return all;
        }
        task.densities = *std::move(shares);
    }
    return Result<SparseTask>(std::move(task), std::move(all));
}

Result<SparseExam> sparse_exam(const SparseTask& task, std::stop_token stop,
                               const ProgressCallback& progress) {
    return sparse_exam(task.machine, task.network, task.densities, task.only, task.scenario,
                       std::move(stop), progress);
}

Result<std::vector<DensityPoint>> density_curve(const SparseTask& task) {
    return density_curve(task.machine, task.network, task.only);
}

} // namespace eyeroof::analysis
