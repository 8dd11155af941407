#include "tests/step/answer_checks.hpp"

#include "analysis/exam/run.hpp"
#include "analysis/what_if/headline.hpp"
#include "analysis/what_if/parameters.hpp"
#include "analysis/what_if/trials.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace eyeroof::tests {

namespace {

constexpr double kRounding = 1.0 + 1e-9;

void check_split(const analysis::LayerReport& l) {
    CHECK(l.split.compute_s >= -1e-9 * l.time_s);
    CHECK(l.split.on_chip_stall_s >= -1e-9 * l.time_s);
    CHECK(l.split.dram_stall_s >= -1e-9 * l.time_s);
    CHECK(l.split.overhead_s >= -1e-9 * l.time_s);
    CHECK(l.split.compute_s + l.split.on_chip_stall_s + l.split.dram_stall_s + l.split.overhead_s ==
          near(l.time_s));
}

} // namespace

void check_layers(const analysis::Report& report) {
    for (const analysis::LayerReport& l : report.layers) {
        CAPTURE(l.layer.name);
        CHECK(model::check_chain(l.steps, "mapping").empty());
        CHECK(model::check_chain(l.machine_steps, "machine").empty());
        CHECK(static_cast<double>(l.bytes) <= l.outer_bytes * kRounding + 1.0);
        double shares = l.limits.at_work;
        for (std::size_t k = 0; k < model::kSteps; ++k) {
            CHECK(l.limits.share[k] >= -1e-9 * l.time_s);
            CHECK(l.limits.without[k] <= l.time_s * kRounding);
            CHECK(l.machine_steps[k].macs_per_cycle * kRounding >= l.steps[k].macs_per_cycle);
            shares += l.limits.share[k];
        }
        CHECK(shares == near(l.time_s));
        // Fast convolutions multiply less than the layer does, and the report says so.
        const bool multiplies_less = std::ranges::any_of(l.notes, [](const std::string& note) {
            return note.find("times less than the direct count") != std::string::npos;
        });
        CHECK((l.utilization <= kRounding || multiplies_less));
        CHECK(l.processing_time_s <= l.time_s * kRounding);
        CHECK(l.leakage_j <= l.energy_j * kRounding);
        if (l.low_s && l.high_s) {
            CHECK(*l.low_s <= l.time_s * kRounding);
            CHECK(l.time_s <= *l.high_s * kRounding);
        }
        check_split(l);
    }
}

void check_total(const analysis::Report& report) {
    const analysis::Total& total = report.total;
    const bool fast = std::ranges::any_of(
        report.layers, [](const analysis::LayerReport& l) { return l.utilization > 1.0; });
    CHECK((fast || total.utilization <= kRounding));
    CHECK(total.processing_time_s <= total.time_s * kRounding);
    CHECK(total.leakage_j <= total.energy_j * kRounding);
    if (total.low_s && total.high_s) {
        CHECK(*total.low_s <= total.time_s * kRounding);
        CHECK(total.time_s <= *total.high_s * kRounding);
    }
    const analysis::step::Timeline& t = report.timeline;
    if (!t.spans.empty()) {
        CHECK(t.time_s == near(total.time_s));
        CHECK(t.host_s <= t.time_s * kRounding);
        CHECK(t.busy_s + t.wait_host_s + t.wait_copy_s + t.end_s <= t.time_s * kRounding);
        for (const auto& span : t.spans) {
            CHECK(span.start_s >= 0.0);
            CHECK(span.end_s <= t.time_s * kRounding);
        }
    }
    if (report.memory) {
        CHECK(report.memory->peak >= 0);
    }
}

void check_bound(const analysis::bound::BoundReport& bound) {
    CHECK(bound.fused.time_s <= bound.cached.time_s);
    CHECK(bound.cached.time_s <= bound.unfused.time_s);
    CHECK(bound.unfused.time_s <= bound.predicted_s * kRounding);
    for (const auto& op : bound.operators) {
        CAPTURE(op.name);
        CHECK(op.bound.time_s <= op.predicted_s * kRounding);
    }
    double sum = 0.0;
    for (const auto& part : bound.gap) {
        CAPTURE(part.name);
        CHECK(part.seconds >= 0.0);
        CHECK(part.seconds <= bound.time_s() * kRounding);
        sum += part.seconds;
    }
    CHECK(sum == near(bound.time_s()));
    for (const auto& change : bound.changes) { // of the same types: fused at will
        CAPTURE(change.name);
        const bool types = change.name == "tf32" || change.name == "fp16";
        CHECK((types || bound.fused.time_s <= change.time_s * kRounding));
    }
}

void check_headline(const analysis::Question& question, const analysis::Report& report) {
    const auto all = analysis::doubled_resources(question, report);
    const double now_s = report.total.time_s;
    const double named_s = all.empty() ? 0.0 : all.front().saved_s;
    // every other change, as a caller would examine it
    double most_s = 0.0;
    std::string most = "nothing";
    const auto examine = [&](const std::string& option, const analysis::Question& other) {
        const auto again = analysis::run(other);
        const double saved_s = again ? now_s - again->total.time_s : 0.0;
        if (saved_s > most_s) {
            most_s = saved_s;
            most = option;
        }
        if (!all.empty() && all.front().option.starts_with(option)) {
            CHECK_MESSAGE(std::abs(saved_s - named_s) <= 0.05 * named_s,
                          all.front().resource << ": named " << named_s << ", again " << saved_s
                                               << " of " << now_s);
        }
    };
    for (const auto& parameter : analysis::tried_parameters(question.machine)) {
        if (parameter.name.find("clock") != std::string::npos) {
            continue;
        }
        auto machine = analysis::changed(
            question.machine,
            std::vector<analysis::Change>{{parameter.key, analysis::turned_value(parameter, 2.0)}});
        if (machine) {
            analysis::Question other = question;
            other.machine = *std::move(machine);
            examine("--set " + parameter.key + "=", other);
        }
    }
    analysis::Question other = question;
    other.scenario.host_speed *= 2.0;
    examine("--host-speed", other);
    if (question.uncapped) {
        other = question;
        other.machine = *question.uncapped;
        other.scenario.changes.clear(); // the cap alone
        examine("without --power-cap", other);
    }
    CHECK_MESSAGE(most_s <= named_s * 1.0102 + 1.001e-3 * now_s,
                  most << " saves " << most_s << " of " << now_s << ", the headline "
                       << (all.empty() ? "none" : all.front().resource) << " " << named_s);
}

} // namespace eyeroof::tests
