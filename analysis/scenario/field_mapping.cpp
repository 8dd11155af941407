#include "analysis/scenario/field_forms.hpp"
#include "base/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace eyeroof::analysis::fields {

namespace {

constexpr std::int64_t kMostNodes = 1'000'000'000'000;

ScenarioField mapping_field() {
    return field(
        "mapping", FieldGroup::mapping, FieldKind::text, "{auto,dataflow,best}|FILE",
        "Mapping policy or mapping file: auto (published rules on row-stationary machines, the "
        "search elsewhere), dataflow (rules, no search), best (search with proof), or a mapping "
        "file of eyeroof or Timeloop [auto]",
        [](const Scenario& s) {
            return Texts{s.policy == MappingPolicy::given ? s.mapping_file
                                                          : std::string(policy_name(s.policy))};
        },
        [](Scenario& s, const Texts& texts) {
            const std::string word = texts.empty() ? "auto" : texts.front();
            s.policy = word == "auto"       ? MappingPolicy::automatic
                       : word == "best"     ? MappingPolicy::best
                       : word == "dataflow" ? MappingPolicy::dataflow
                                            : MappingPolicy::given;
            s.mapping_file = s.policy == MappingPolicy::given ? word : std::string();
            return Diagnostics{};
        });
}

Texts dataflow_words() {
    using Kind = model::DataflowKind;
    Texts words;
    for (const Kind kind : {Kind::ws, Kind::os, Kind::is, Kind::nlr, Kind::rs, Kind::rs_plus}) {
        words.emplace_back(model::dataflow_name(kind));
    }
    words.emplace_back("free");
    return words;
}

ScenarioField dataflow_field() {
    ScenarioField made =
        choice_field("dataflow", FieldGroup::mapping, dataflow_words(),
                     "Dataflow that the mapping follows; free: none [the machine's first]",
                     [](const Scenario& s) {
                         return s.free_dataflow ? Texts{"free"}
                                : s.dataflow ? Texts{std::string(model::dataflow_name(*s.dataflow))}
                                             : Texts{};
                     },
                     {});
    made.set = [](Scenario& s, const Texts& texts) {
        const std::string word = texts.empty()            ? ""
                                 : texts.front() == "rs+" ? "rs-plus"
                                                          : texts.front();
        s.free_dataflow = word == "free" || word == "any";
        s.dataflow =
            word.empty() || s.free_dataflow ? std::nullopt : model::dataflow_from_name(word);
        if (!word.empty() && !s.free_dataflow && !s.dataflow) {
            return refused("dataflow", fmt::format("'{}' is not a dataflow", word),
                           suggestion(word, dataflow_words()));
        }
        return Diagnostics{};
    };
    return made;
}

ScenarioField objective_field() {
    return field(
        "objective", FieldGroup::mapping, FieldKind::text, "latency|energy|edp|…",
        "Objective of the search: latency, energy, edp (their product), or powers such as "
        "energy^2*latency [edp; latency where the machine names no energies]",
        [](const Scenario& s) { return s.objective ? Texts{s.objective->name()} : Texts{}; },
        [](Scenario& s, const Texts& texts) {
            s.objective.reset();
            if (texts.empty()) {
                return Diagnostics{};
            }
            const auto parsed = parse_objective(texts.front());
            if (parsed) {
                s.objective = *parsed;
            }
            return parsed.diagnostics();
        });
}

ScenarioField seconds_field() {
    return number_field(
        "time-limit", FieldGroup::mapping, "S",
        "Most seconds for all searches together; results then depend on the load of this computer "
        "[none; 60 with --capacity-curve]",
        &Scenario::search_limit_s,
        {0.0, 0.001, 1e6, "a number of seconds", "from 0.001 to 1,000,000"});
}

} // namespace

void add_mapping(std::vector<ScenarioField>& all) {
    all.push_back(mapping_field());
    all.push_back(dataflow_field());
    all.push_back(objective_field());
    all.push_back(choice_field(
        "factors", FieldGroup::mapping, {"perfect", "any"},
        "Loop bounds of searched mappings: perfect (divisors only), or any with a partial last "
        "trip [perfect]",
        [](const Scenario& s) {
            return Texts{s.factors == mapper::Factors::any ? "any" : "perfect"};
        },
        [](Scenario& s, const std::string* word) {
            s.factors =
                word != nullptr && *word == "any" ? mapper::Factors::any : mapper::Factors::perfect;
        }));
    all.push_back(choice_field(
        "counting", FieldGroup::mapping, {"eyeroof", "timeloop"},
        "Access counting: eyeroof's, or Timeloop's [eyeroof]",
        [](const Scenario& s) {
            return Texts{s.counting == model::Counting::timeloop ? "timeloop" : "eyeroof"};
        },
        [](Scenario& s, const std::string* word) {
            s.counting = word != nullptr && *word == "timeloop" ? model::Counting::timeloop
                                                                : model::Counting::eyeroof;
        }));
    all.push_back(text_field("constraints", FieldGroup::mapping, "FILE",
                             "Timeloop constraints that searched mappings satisfy",
                             &Scenario::constraints_file));
    all.push_back(count_field(
        "search-nodes", FieldGroup::mapping,
        "Most nodes that the search of a layer visits; 0: no limit. A search that ends there "
        "reports its optimality gap [200000; 1500000 with --mapping best; none with --time-limit]",
        0, kMostNodes,
        [](const Scenario& s) {
            return s.search_nodes ? Texts{fmt::format("{}", *s.search_nodes)} : Texts{};
        },
        [](Scenario& s, std::optional<std::int64_t> value) {
            s.search_nodes = value ? std::optional(static_cast<std::uint64_t>(*value))
                                   : std::optional<std::uint64_t>{};
        }));
    all.push_back(seconds_field());
}

} // namespace eyeroof::analysis::fields
