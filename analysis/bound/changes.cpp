#include "analysis/bound/changes.hpp"

#include "analysis/exam/run.hpp"
#include "analysis/program/lower.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis::bound {

namespace {

// Kernels that a compiler made of several operators, the largest few by name.
std::string fused_words(const Report& report) {
    constexpr std::size_t kShown = 3;
    std::vector<std::pair<std::size_t, std::string>> groups;
    for (const auto& [layer, fused] : report.program.fused) {
        if (fused.members.size() > 1) {
            groups.emplace_back(fused.members.size(), report.program.layers[layer].name);
        }
    }
    if (groups.empty()) {
        return {};
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string words = fmt::format("{} kernel{} of several operators: ", groups.size(),
                                    groups.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < std::min(kShown, groups.size()); ++i) {
        words += (i == 0 ? "" : ", ") + groups[i].second;
    }
    return words;
}

} // namespace

std::vector<Change> changes_of(const Question& question, const std::stop_token& stop) {
    std::vector<Change> changes;
    const auto* gpu = std::get_if<model::Gpu>(&question.machine.kind);
    if (gpu == nullptr || gpu->arch == model::GpuArch::host) {
        return changes;
    }
    const auto with = [&](std::string name, const auto& change) {
        Question other = question;
        change(other.scenario);
        if (other.scenario == question.scenario) {
            return;
        }
        if (const auto report = run(other, stop)) {
            changes.push_back({std::move(name), report->total.time_s, fused_words(*report)});
        }
    };
    with("compiled", [](Scenario& s) { s.compiled = true; });
    with("captured graph", [](Scenario& s) { s.launch = model::Launch::graph; });
    with("compiled, captured graph", [](Scenario& s) {
        s.compiled = true;
        s.launch = model::Launch::graph;
    });
    const bool convolves =
        std::any_of(question.network.layers.begin(), question.network.layers.end(),
                    [](const model::Layer& l) { return l.op == model::Op::conv2d; });
    if (convolves && layout_of(question) == model::Layout::channels_first) {
        with("channels last", [](Scenario& s) { s.layout = model::Layout::channels_last; });
    }
    for (const model::DataType type : {model::DataType::tf32, model::DataType::fp16}) {
        const bool narrower = std::any_of(
            question.network.layers.begin(), question.network.layers.end(),
            [&](const model::Layer& l) {
                return model::multiplies(l.op) &&
                       gpu->rate(type).flops_per_s > gpu->rate(l.types.input).flops_per_s;
            });
        if (narrower && !question.scenario.data_type) {
            with(std::string(model::data_type_name(type)),
                 [&](Scenario& s) { s.data_type = type; });
        }
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Change& a, const Change& b) { return a.time_s < b.time_s; });
    return changes;
}

} // namespace eyeroof::analysis::bound
