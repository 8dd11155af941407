#include "analysis/upgrade/assumptions.hpp"

#include "analysis/program/fusion.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/upgrade/price_views.hpp"
#include "analysis/upgrade/verdict.hpp"
#include "base/date.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

namespace {

std::string type_text(const std::optional<model::DataType>& type, model::DataType own) {
    return type ? std::string(model::data_type_name(*type))
                : fmt::format("the layers' types ({})", model::data_type_name(own));
}

// What a run works on.
std::string size_text(const model::Network& network, std::optional<Count> batch) {
    return fmt::format("batch {}", batch.value_or(own_batch(network)));
}

std::string launch_text(const Scenario& scenario) {
    return std::string(model::launch_name(scenario.launch)) +
           (scenario.compiled ? ", compiled" : "");
}

// Nothing where it cannot run or does not fit.
std::optional<double> speedup_with(const model::Network& network, const model::Machine& from,
                                   const model::Machine& to, UpgradeOptions options) {
    options.assumptions = false;
    const auto other = upgrade(network, from, to, options);
    return other && other->unfit.empty() ? std::optional(other->speedup.value) : std::nullopt;
}

} // namespace

std::string run_text(const model::Network& network, const UpgradeOptions& options) {
    const model::DataType own = main_type(network);
    const std::string types = options.from.data_type == options.to.data_type
                                  ? type_text(options.from.data_type, own)
                                  : fmt::format("{} and {}", type_text(options.from.data_type, own),
                                                type_text(options.to.data_type, own));
    std::string size = size_text(network, options.from.batch);
    if (options.to.batch != options.from.batch) {
        size += " and " + size_text(network, options.to.batch);
    }
    return fmt::format("{} in {}, {}, {}{}", options.from.training ? "training step" : "inference",
                       types, size,
                       options.from.training ? options.from.training->optimizer + ", " : "",
                       launch_text(options.from));
}

std::vector<Assumption> assumptions_of(const model::Network& network, const model::Machine& from,
                                       const model::Machine& to, const UpgradeOptions& options) {
    std::vector<Assumption> all;
    const auto add = [&](const char* topic, std::string what, std::string instead,
                         const UpgradeOptions& other) {
        if (const auto speedup = speedup_with(network, from, to, other)) {
            all.push_back({topic, std::move(what), std::move(instead), *speedup});
        }
    };
    const bool hosted =
        options.from.launch == model::Launch::eager || options.from.launch == model::Launch::stream;
    if (hosted && !options.from_host.empty() && options.from_host != options.to_host) {
        UpgradeOptions other = options;
        other.to_issue = options.from_issue;
        add("host",
            fmt::format("host: {} before, {} after, the servers of the GPUs' years",
                        options.from_host, options.to_host),
            "on the old host", other);
    } else if (hosted) {
        UpgradeOptions other = options;
        for (double* part :
             {&other.to_issue.call_s, &other.to_issue.gradient_s, &other.to_issue.launch_s}) {
            *part /= 1.5;
        }
        if (other.to_issue.known()) {
            add("host",
                fmt::format("host: {} on both sides",
                            options.to_host.empty() ? "the same" : options.to_host),
                "on a host 1.5 times as fast with the new GPU", other);
        }
    }
    const std::string now = fmt::format("framework: {}, on both sides", launch_text(options.from));
    if (options.from.launch != model::Launch::graph) {
        UpgradeOptions graph = options;
        graph.from.launch = graph.to.launch = model::Launch::graph;
        add("launch", now, "replayed as graphs", graph);
    }
    if (!options.from.compiled) {
        UpgradeOptions compiler = options;
        compiler.from.compiled = compiler.to.compiled = true;
        add("software", now, "compiled, pointwise operators fused", compiler);
    }
    if (options.from.attention == AttentionForm::written &&
        step::with_attention(network, options.edges).replaced > 0) {
        UpgradeOptions fused = options;
        fused.from.attention = fused.to.attention = AttentionForm::fused;
        add("attention", "attention: operators of its own each, on both sides",
            "as one fused kernel", fused);
    }
    UpgradeOptions larger = options;
    larger.to.batch = 2 * options.to.batch.value_or(own_batch(network));
    add("batch", "batch: the same on both GPUs", "twice as large on the new one", larger);
    return all;
}

void add_price_warnings(const UpgradeOptions& options, Upgrade& u) {
    const UpgradeMoney& money = u.money;
    const auto warn = [&](const std::string& what, const std::string& source) {
        const auto day = date_in(source);
        const auto age = options.today.value_or(std::chrono::sys_days()) -
                         day.value_or(std::chrono::sys_days::max());
        if (source.empty() || source == "given") {
            return;
        }
        if (!day) {
            u.notes.push_back(fmt::format("the price of {} has no date: give today's", what));
        } else if (options.today && age > std::chrono::days(kOldPriceDays)) {
            u.notes.push_back(fmt::format("the price of {} is {} days old ({}): give today's", what,
                                          age.count(), source));
        }
    };
    if (options.prices.from_source.empty() && !money.from_owned) {
        warn(u.from, money.from_price_source);
    }
    if (options.prices.to_source.empty() && !money.to_bought) {
        warn(u.to, money.to_price_source);
    }
    warn("the purchase", money.to_bought ? money.buy_source : "");
}

} // namespace eyeroof::analysis
