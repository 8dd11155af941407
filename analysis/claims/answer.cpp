#include "analysis/claims/answer.hpp"

#include "base/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>

namespace eyeroof::analysis::claims {

namespace {

using Json = nlohmann::ordered_json;
using Found = std::vector<const Json*>;

bool matches(const Json& element, std::string_view key, std::string_view text, bool begins) {
    const auto member = element.is_object() ? element.find(std::string(key)) : element.end();
    if (!element.is_object() || member == element.end()) {
        return false;
    }
    const std::string value = member->is_string() ? member->get<std::string>() : json_line(*member);
    return begins ? value.starts_with(text) : value == text;
}

// The elements that a part of a path leads to.
void step(const Json& from, std::string_view part, Found& found) {
    if (part == "*") {
        for (const Json& element : from) {
            found.push_back(&element);
        }
        return;
    }
    const std::size_t at = part.find_first_of("=^");
    if (at != std::string_view::npos) {
        const auto keep = [&](const Json& element) {
            if (matches(element, part.substr(0, at), part.substr(at + 1), part[at] == '^')) {
                found.push_back(&element);
            }
        };
        if (from.is_array()) {
            std::for_each(from.begin(), from.end(), keep);
        } else {
            keep(from); // a second condition: "/level=buffer/tensor=weight"
        }
        return;
    }
    std::size_t index = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), index);
    if (from.is_array() && read.ptr == part.data() + part.size() && index < from.size()) {
        found.push_back(&from[index]);
    } else if (from.is_object() && from.contains(std::string(part))) {
        found.push_back(&from.at(std::string(part)));
    }
}

Result<Found> follow(const Json& root, const std::string& run, std::string_view path) {
    Found now = {&root};
    std::size_t begin = 1;
    while (begin <= path.size()) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        Found next;
        for (const Json* from : now) {
            step(*from, path.substr(begin, end - begin), next);
        }
        if (next.empty()) {
            return Result<Found>::failure(
                "no-such-path",
                fmt::format("the answer of '{}' has nothing at {}", run, path.substr(0, end)),
                "--format json shows what it has");
        }
        now = std::move(next);
        begin = end + 1;
    }
    return now;
}

} // namespace

struct Answers::State {
    std::map<std::string, Json> by_run;
};

Answers::Answers() : state_(std::make_unique<State>()) {}
Answers::Answers(Answers&&) noexcept = default;
Answers& Answers::operator=(Answers&&) noexcept = default;
Answers::~Answers() = default;

Result<Done> Answers::add(const std::string& run, std::string_view text) {
    Json json = parse_json(text);
    if (json.is_discarded()) {
        return Result<Done>::failure("not-json",
                                     fmt::format("the answer of '{}' is not JSON", run));
    }
    state_->by_run[run] = std::move(json);
    return Done{};
}

Result<std::vector<double>> Answers::numbers(const std::string& run, std::string_view path) const {
    using Numbers = Result<std::vector<double>>;
    const auto answer = state_->by_run.find(run);
    if (answer == state_->by_run.end()) {
        return Numbers::failure("no-answer", fmt::format("'{}' has no answer", run));
    }
    const auto found = follow(answer->second, run, path);
    if (!found) {
        return found.diagnostics();
    }
    std::vector<double> numbers;
    for (const Json* value : *found) {
        if (!value->is_number() && !value->is_boolean()) {
            return Numbers::failure("not-a-number", fmt::format("{} of the answer of '{}' is {}",
                                                                path, run, value->type_name()));
        }
        numbers.push_back(value->is_boolean() ? (value->get<bool>() ? 1.0 : 0.0)
                                              : value->get<double>());
    }
    return numbers;
}

Result<double> Answers::number(const std::string& run, std::string_view path) const {
    const auto all = numbers(run, path);
    return all ? Result<double>(std::accumulate(all->begin(), all->end(), 0.0))
               : Result<double>(all.diagnostics());
}

Result<double> Answers::is(const std::string& run, std::string_view path,
                           std::string_view text) const {
    const auto answer = state_->by_run.find(run);
    if (answer == state_->by_run.end()) {
        return Result<double>::failure("no-answer", fmt::format("'{}' has no answer", run));
    }
    const auto found = follow(answer->second, run, path);
    if (!found) {
        return found.diagnostics();
    }
    const Json& value = *found->front();
    return (value.is_string() ? value.get<std::string>() : json_line(value)) == text ? 1.0 : 0.0;
}

} // namespace eyeroof::analysis::claims
