// An exam on machines that skip zeros: --density.
#include "analysis/exam/run.hpp"
#include "analysis/exam/words.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/sparse/densities.hpp"
#include "analysis/sparse/levels_exam.hpp"
#include "analysis/sparse/machine.hpp"
#include "base/pattern.hpp"
#include "base/suggest.hpp"
#include "cli/exam_options.hpp"
#include "report/sparse/sparse_report.hpp"

#include <fmt/format.h>

#include <charconv>

namespace eyeroof::cli {

namespace {

using model::sparse::Densities;
using Shares = std::vector<Densities>;
constexpr const char* kCurve = "curve";

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

// "weights=0.4,inputs=0.6": outputs are as dense as inputs where they are not given.
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

Result<Shares> shares_of(Context& context, const std::string& density,
                         const model::Network& network) {
    if (density.find('=') != std::string::npos) {
        const auto one = named_shares(density);
        return one ? Result<Shares>(Shares(network.layers.size(), *one))
                   : Result<Shares>(one.diagnostics());
    }
    const auto file =
        analysis::find_sparse_file(density, context.machine_dirs(), "densities", "density table");
    if (!file) {
        return file.diagnostics();
    }
    const auto table = analysis::load_densities(*file);
    return table ? analysis::densities_of(*table, network) : Result<Shares>(table.diagnostics());
}

// Every layer as the network has it: what pools a layer's outputs is among them. Layers are chosen
// by the exam itself.
Result<model::Network> whole_network(const Context& context, const analysis::Scenario& scenario) {
    auto wired = analysis::load_workload(scenario.network, scenario.sizes, folders_of(context));
    if (!wired) {
        return wired.diagnostics();
    }
    analysis::Question question;
    question.scenario = scenario;
    question.scenario.layers.reset();
    question.scenario.density.clear();
    question.scenario.operators = analysis::Operators::all;
    question.network = std::move(wired->network);
    question.edges = std::move(wired->edges);
    return analysis::lowered_network(question);
}

std::string words_of(const analysis::Scenario& scenario, const model::Network& network,
                     const analysis::SparseMachine& machine) {
    analysis::Question question;
    question.scenario = scenario;
    question.scenario.operators = analysis::Operators::all;
    question.network = network;
    question.machine.name = machine.name;
    return analysis::scenario_words(question);
}

Exit write_curve(Context& context, const ExamOptions& options,
                 const analysis::SparseMachine& machine, const std::string& words,
                 const model::Network& network, const Pattern& only) {
    const auto points = analysis::density_curve(machine, network, only);
    if (!points) {
        return context.fail(points.diagnostics());
    }
    const std::string& format = options.output.format;
    return context.write(
        format == "json" ? report::density_curve_json(machine, network.id, *points)
        : format == "csv"
            ? report::density_curve_csv(*points)
            : with_words(words, report::density_curve_text(machine, network.id, *points), format),
        options.output.file);
}

Exit write_sparse(Context& context, const ExamOptions& options,
                  const analysis::SparseMachine& machine, const analysis::Scenario& scenario) {
    const auto network = whole_network(context, scenario);
    const auto only = Pattern::compile(scenario.layers.value_or(""));
    Diagnostics all = network.diagnostics();
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
    const auto exam = analysis::sparse_exam(machine, *network, *shares, *only, scenario,
                                            context.stop(), context.progress());
    if (!exam) {
        return context.fail(exam.diagnostics());
    }
    const std::string& format = options.output.format;
    return context.write(
        format == "json"  ? report::sparse_json(*exam)
        : format == "csv" ? report::sparse_csv(*exam)
                          : with_words(words, report::sparse_text(*exam, options.details), format),
        options.output.file);
}

} // namespace

std::optional<Exit> exam_zeros(Context& context, const ExamOptions& options,
                               const analysis::Scenario& scenario) {
    const auto machine = analysis::load_sparse_machine(scenario.machine, context.machine_dirs());
    if (!machine) {
        return std::nullopt; // as every exam, or refused by run_with_density()
    }
    const bool levels = std::holds_alternative<analysis::SparseLevels>(machine->kind);
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

Result<analysis::Report> run_with_density(Context& context, const analysis::Question& question) {
    auto sparse = analysis::load_sparse_machine(question.scenario.machine, context.machine_dirs());
    auto* levels = sparse ? std::get_if<analysis::SparseLevels>(&sparse->kind) : nullptr;
    if (levels == nullptr) {
        return Result<analysis::Report>::failure(
            "no-zeros-skipped",
            fmt::format("no file describes how {} skips zeros", question.machine.name),
            "machines with one: eyeriss-v2, scnn, eie, sparse-tensor-core; hwdb/sparse has the "
            "format");
    }
    levels->machine = question.machine; // as --set left it
    analysis::Question dense = question;
    dense.scenario.density.clear();
    const auto network = analysis::lowered_network(dense);
    if (!network) {
        return network.diagnostics();
    }
    const auto shares = shares_of(context, question.scenario.density, *network);
    if (!shares) {
        return shares.diagnostics();
    }
    Diagnostics said;
    for (const Diagnostic& one : shares.diagnostics()) {
        // of a layer that --layers excludes
        if (!question.scenario.layers || one.code != "unused-density") {
            said.add(one);
        }
    }
    context.report(said);
    return analysis::run_sparse(question, *levels, *shares, context.stop(), context.progress());
}

} // namespace eyeroof::cli
