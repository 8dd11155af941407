// One scenario, one answer, whichever command is asked: the catalog, and scenarios at random.
#include "formats/catalog.hpp"
#include "tests/agreement/compare.hpp"
#include "tests/agreement/random_scenario.hpp"
#include "tests/scenario/fixture.hpp"

#include <algorithm>

namespace test_agreement_agreement {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::formats;
using tests::Compared;

namespace {

// A network of the catalog with few layers, where a parameter says how many.
std::string small(const formats::NetworkHead& head) {
    static const std::vector<std::pair<std::string, std::string>> sizes = {
        {"layers", "2"}, {"new", "64"},    {"seq", "64"},   {"source", "64"},
        {"batch", "8"},  {"frames", "64"}, {"latent", "32"}};
    std::string name = head.id;
    for (const auto& [parameter, value] : sizes) {
        const bool known = std::ranges::any_of(
            head.parameters, [&](const auto& one) { return one.name == parameter; });
        name += known ? (name.find(':') == std::string::npos ? ":" : ",") + parameter + "=" + value
                      : std::string();
    }
    return name;
}

Scenario of(const std::string& network, const std::string& machine, bool training) {
    Scenario scenario = tests::scenario_of(network, machine, training);
    scenario.policy = tests::is_accelerator(machine) ? MappingPolicy::dataflow : scenario.policy;
    scenario.launch = training ? model::Launch::graph : model::Launch::eager;
    if (tests::is_host(machine)) {
        scenario.data_type = model::DataType::fp32;
    }
    return scenario;
}

} // namespace

TEST_CASE("every command gives the exam's figures, for networks of the catalog") {
    const auto heads = formats::list_networks(tests::catalog_folders().networks);
    REQUIRE(heads.ok());
    const auto& machines = tests::twelve_machines();
    Compared compared;
    std::size_t turn = 0;
    for (const auto& head : *heads) {
        for (std::size_t m = 0; m < machines.size(); ++m) {
            // every third network on one machine, and each machine several times
            const bool usual = turn % 3 == 0 && m == turn / 3 % machines.size();
            if (tests::all_of_it() || usual) {
                compare(of(small(head), machines[m], (turn + m) % 2 == 1), false, compared);
            }
        }
        ++turn;
    }
    MESSAGE(compared.told());
    CHECK(compared.answered * 2 > compared.scenarios);
    CHECK(compared.commands.size() >= 9);
}

TEST_CASE("every command gives the exam's figures for scenarios at random, and again the same") {
    const auto [first, last] = tests::random_range(24);
    Compared compared;
    for (std::uint64_t i = first; i < last; ++i) {
        CAPTURE(i);
        compare(tests::random_scenario(i), true, compared);
    }
    MESSAGE(compared.told());
    CHECK((last - first < 24 || compared.answered * 4 > compared.scenarios));
}

} // namespace test_agreement_agreement
