// Searches that were really run, from their logs; and what one saves against another.
#include "analysis/tune_compare/compare.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace eyeroof::analysis::tune {

namespace {

using Run = std::map<Count, double>; // cost by the number of the trial

struct Shape { // on one machine
    std::string name;
    double best = kNoCost;
    // by contender; by seed and what it was taught with
    std::map<std::string, std::map<std::pair<std::uint64_t, std::string>, Run>> searches;
};

// The same sum on the same machine, for every caller.
std::string shape_key(const TrialLine& line) {
    TrialLine key;
    key.template_name = line.template_name;
    key.work = line.work;
    key.work.name.clear();
    key.origin.target = line.origin.target;
    key.origin.machine = line.origin.machine;
    key.outcome.cost = 1.0;
    return trial_text(key);
}

std::vector<std::string> parts_of(const std::string& text) {
    constexpr std::string_view kBetween = ", ";
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(kBetween, at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + kBetween.size();
    }
    return parts;
}

// "learned, batch 8, features all" beside "learned, batch 8, features knobs": what all learned ones
// share is left out.
std::map<std::string, std::string> short_names(const std::vector<std::string>& commands) {
    std::map<std::string, std::map<std::string, std::size_t>> seen; // by strategy, by part
    std::map<std::string, std::size_t> searches;
    for (const std::string& command : commands) {
        const auto parts = parts_of(command);
        ++searches[parts.front()];
        for (const std::string& part : parts) {
            ++seen[parts.front()][part];
        }
    }
    std::map<std::string, std::string> names;
    for (const std::string& command : commands) {
        const auto parts = parts_of(command);
        std::string name = parts.front();
        for (std::size_t i = 1; i < parts.size(); ++i) {
            if (seen[parts.front()][parts[i]] < searches[parts.front()]) {
                name += ", " + parts[i];
            }
        }
        names[command] = name;
    }
    return names;
}

// Searches that differ in nothing but what was transferred are one contender.
std::string contender_of(const std::string& command) {
    std::string text;
    for (const std::string& part : parts_of(command)) {
        text += text.empty() ? "" : ", ";
        text += part.starts_with("transfer of ") ? "transfer" : part;
    }
    return text;
}

std::vector<double> costs_of(const Run& run, std::size_t trials) {
    std::vector<double> costs;
    for (const auto& [number, cost] : run) {
        if (costs.size() < trials && static_cast<std::size_t>(number) < trials) {
            costs.push_back(cost);
        }
    }
    return costs;
}

double trials_needed(const Comparison& all, std::size_t contender, std::size_t layer,
                     std::size_t share) {
    return all.scores[contender][layer].trials[share].value_or(static_cast<double>(all.trials));
}

} // namespace

Comparison compare_recorded(const std::vector<TrialLine>& lines, std::size_t trials) {
    std::vector<std::string> order, commands;
    std::map<std::string, Shape> shapes;
    std::size_t longest = 0;
    for (const TrialLine& line : lines) {
        const std::string key = shape_key(line);
        if (!shapes.contains(key)) {
            order.push_back(key);
            shapes[key].name = line.work.name;
        }
        const std::string command = contender_of(line.origin.command);
        if (std::find(commands.begin(), commands.end(), command) == commands.end()) {
            commands.push_back(command);
        }
        const double cost = line.outcome.ok() ? line.outcome.cost : kNoCost;
        Shape& shape = shapes[key];
        shape.best = std::min(shape.best, cost);
        shape.searches[command][{line.origin.seed, line.origin.command}][line.trial] = cost;
        longest = std::max(longest, static_cast<std::size_t>(line.trial) + 1);
    }
    Comparison made;
    made.recorded = true;
    made.trials = std::min(trials, longest);
    for (const std::string& key : order) {
        made.layers.push_back(shapes[key].name);
        made.proved.push_back(false);
    }
    const auto names = short_names(commands);
    for (const std::string& command : commands) {
        made.contenders.push_back(names.at(command));
        made.scores.emplace_back();
        for (const std::string& key : order) {
            std::vector<std::vector<double>> runs;
            for (const auto& [search, run] : shapes[key].searches[command]) {
                runs.push_back(costs_of(run, made.trials));
            }
            made.seeds = std::max(made.seeds, static_cast<int>(runs.size()));
            made.scores.back().push_back(scored(runs, shapes[key].best, made.trials));
        }
    }
    return made;
}

Saving saving(const Comparison& all, std::size_t base, std::size_t contender, std::size_t share) {
    std::vector<double> logs;
    for (std::size_t layer = 0; layer < all.layers.size(); ++layer) {
        if (all.scores[base][layer].runs > 0 && all.scores[contender][layer].runs > 0) {
            logs.push_back(std::log(trials_needed(all, base, layer, share) /
                                    trials_needed(all, contender, layer, share)));
        }
    }
    Saving found;
    found.layers = logs.size();
    if (logs.empty()) {
        return found;
    }
    const auto mean_of = [&](auto&& pick) {
        double sum = 0.0;
        for (std::size_t i = 0; i < logs.size(); ++i) {
            sum += logs[pick(i)];
        }
        return std::exp(sum / static_cast<double>(logs.size()));
    };
    found.ratio = mean_of([](std::size_t i) { return i; });
    Rng rng(1);
    std::vector<double> drawn(1000);
    for (double& one : drawn) {
        one =
            mean_of([&](std::size_t) { return static_cast<std::size_t>(rng.below(logs.size())); });
    }
    std::sort(drawn.begin(), drawn.end());
    found.low = drawn[drawn.size() / 20];
    found.high = drawn[drawn.size() - 1 - drawn.size() / 20];
    return found;
}

} // namespace eyeroof::analysis::tune
