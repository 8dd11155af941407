// An exam on machines that skip zeros: --density.
#include "cli/exam_options.hpp"
#include "model/base/pattern.hpp"
#include "model/base/suggest.hpp"
#include "study/exam/run.hpp"
#include "study/exam/words.hpp"
#include "study/program/lower.hpp"
#include "study/sparse/densities.hpp"
#include "study/sparse/levels_exam.hpp"
#include "study/sparse/machine.hpp"
#include "study/sparse/sparse_report.hpp"

#include <fmt/format.h>

#include <charconv>

namespace eyeroof::cli {

namespace {

using model::sparse::Densities;
using Shares = std::vector<Densities>;
constexpr const char* kCurve = "curve";

model::Result<double> share_of(const std::string& part, std::string_view text) {
    double value = -1.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() ||
        !(value >= 0.0 && value <= 1.0)) {
        return model::Result<double>::failure(
            "density", fmt::format("--density: '{}' gives no share", part),
            "a density is the share of nonzero values, 0 to 1, as in weights=0.4");
    }
    return value;
}

// "weights=0.4,inputs=0.6": outputs are as dense as inputs where they are not given.
model::Result<Densities> named_shares(const std::string& text) {
    static const std::vector<std::string> names = {"inputs", "weights", "outputs"};
    Densities shares;
    std::optional<double> outputs;
    model::Diagnostics found;
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
                        model::suggestion(name, names));
        }
    }
    shares.output = outputs.value_or(shares.input);
    return found.has_errors() ? model::Result<Densities>(std::move(found))
                              : model::Result<Densities>(shares);
}

model::Result<Shares> shares_of(Context& context, const std::string& density,
                                const model::Network& network) {
    if (density.find('=') != std::string::npos) {
        const auto one = named_shares(density);
        return one ? model::Result<Shares>(Shares(network.layers.size(), *one))
                   : model::Result<Shares>(one.diagnostics());
    }
    const auto file =
        study::find_sparse_file(density, context.machine_dirs(), "densities", "density table");
    if (!file) {
        return file.diagnostics();
    }
    const auto table = study::load_densities(*file);
    return table ? study::densities_of(*table, network)
                 : model::Result<Shares>(table.diagnostics());
}

// Every layer as the network has it: what pools a layer's outputs is among them. Layers are chosen
// by the exam itself.
model::Result<model::Network> whole_network(const Context& context,
                                            const study::Scenario& scenario) {
    auto wired = study::load_workload(scenario.network, scenario.sizes, folders_of(context));
    if (!wired) {
        return wired.diagnostics();
    }
    study::Question question;
    question.scenario = scenario;
    question.scenario.layers.reset();
    question.scenario.density.clear();
    question.scenario.operators = study::Operators::all;
    question.network = std::move(wired->network);
    question.wiring = std::move(wired->wiring);
    return study::lowered_network(question);
}

std::string words_of(const study::Scenario& scenario, const model::Network& network,
                     const study::SparseMachine& machine) {
    study::Question question;
    question.scenario = scenario;
    question.scenario.operators = study::Operators::all;
    question.network = network;
    question.machine.name = machine.name;
    return study::scenario_words(question);
}

Exit write_curve(Context& context, const ExamOptions& options, const study::SparseMachine& machine,
                 const std::string& words, const model::Network& network,
                 const model::Pattern& only) {
    const auto points = study::density_curve(machine, network, only);
    if (!points) {
        return context.fail(points.diagnostics());
    }
    const std::string& format = options.output.format;
    return context.write(
        format == "json" ? study::density_curve_json(machine, network.id, *points)
        : format == "csv"
            ? study::density_curve_csv(*points)
            : with_words(words, study::density_curve_text(machine, network.id, *points), format),
        options.output.file);
}

Exit write_sparse(Context& context, const ExamOptions& options, const study::SparseMachine& machine,
                  const study::Scenario& scenario) {
    const auto network = whole_network(context, scenario);
    const auto only = model::Pattern::compile(scenario.layers.value_or(""));
    model::Diagnostics all = network.diagnostics();
    all.append(only.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    const std::string words = words_of(scenario, *network, machine);
    if (scenario.density == kCurve) {
        return write_curve(context, options, machine, words, *network, *only);
    }
    const auto shares = shares_of(context, scenario.density, *network);
    if (!shares) {
        return context.fail(shares.diagnostics());
    }
    context.report(shares.diagnostics());
    const auto exam = study::sparse_exam(machine, *network, *shares, *only, scenario,
                                         context.stop(), context.progress());
    if (!exam) {
        return context.fail(exam.diagnostics());
    }
    const std::string& format = options.output.format;
    return context.write(
        format == "json"  ? study::sparse_json(*exam)
        : format == "csv" ? study::sparse_csv(*exam)
                          : with_words(words, study::sparse_text(*exam, options.details), format),
        options.output.file);
}

} // namespace

std::optional<Exit> exam_zeros(Context& context, const ExamOptions& options,
                               const study::Scenario& scenario) {
    const auto machine = study::load_sparse_machine(scenario.machine, context.machine_dirs());
    if (!machine) {
        return std::nullopt; // as every exam, or refused by run_with_density()
    }
    const bool levels = std::holds_alternative<study::SparseLevels>(machine->kind);
    if (levels && scenario.density != kCurve) {
        return std::nullopt;
    }
    if (scenario.density.empty()) {
        return context.fail_usage(
            fmt::format("{} skips zeros: how many values are not zero?", machine->name),
            "--density weights=0.4,inputs=0.6, a table such as alexnet-pruned, or curve");
    }
    const std::string& format = options.output.format;
    if (format == "md" || format == "html") {
        return context.fail_usage(
            fmt::format("an exam on {} is written as text, json and csv", machine->name),
            "choose one of these formats");
    }
    return write_sparse(context, options, *machine, scenario);
}

model::Result<study::Report> run_with_density(Context& context, const study::Question& question) {
    auto sparse = study::load_sparse_machine(question.scenario.machine, context.machine_dirs());
    auto* levels = sparse ? std::get_if<study::SparseLevels>(&sparse->kind) : nullptr;
    if (levels == nullptr) {
        return model::Result<study::Report>::failure(
            "no-zeros-skipped",
            fmt::format("no file says what {} does about zeros", question.machine.name),
            "machines with one: eyeriss-v2, scnn, eie, sparse-tensor-core; hwdb/sparse has the "
            "format");
    }
    levels->machine = question.machine; // as --set left it
    study::Question dense = question;
    dense.scenario.density.clear();
    const auto network = study::lowered_network(dense);
    if (!network) {
        return network.diagnostics();
    }
    const auto shares = shares_of(context, question.scenario.density, *network);
    if (!shares) {
        return shares.diagnostics();
    }
    context.report(shares.diagnostics());
    return study::run_sparse(question, *levels, *shares, context.stop(), context.progress());
}

} // namespace eyeroof::cli
