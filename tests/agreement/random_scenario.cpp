#include "tests/agreement/random_scenario.hpp"

#include <algorithm>
#include <map>

namespace eyeroof::tests {

const std::vector<std::string>& twelve_machines() {
    static const std::vector<std::string> all = {"v100-sxm2-16gb",
                                                 "eyeriss-v1",
                                                 "a100-sxm-40gb",
                                                 "eyeriss-v2",
                                                 "h100-sxm-80gb",
                                                 "npu-int8",
                                                 "t4",
                                                 "tpu-v1",
                                                 "mi250x",
                                                 "simba",
                                                 "server-2x20",
                                                 "laptop-quad-3.1ghz"};
    return all;
}

bool is_accelerator(const std::string& machine) {
    static const std::vector<std::string> all = {"eyeriss-v1", "eyeriss-v2", "npu-int8", "tpu-v1",
                                                 "simba"};
    return std::ranges::find(all, machine) != all.end();
}

bool is_host(const std::string& machine) {
    return machine == "server-2x20" || machine == "laptop-quad-3.1ghz";
}

const std::vector<std::string>& quick_networks() {
    static const std::vector<std::string> all = {"alexnet",
                                                 "resnet18",
                                                 "mobilenet-v1-0.5-128",
                                                 "bert-base:layers=2",
                                                 "gpt2:layers=2,seq=64",
                                                 "mnist-cnn",
                                                 "mlp-2layer",
                                                 "llama-3.2-1b:layers=2,new=64",
                                                 "vit-b-16:layers=2",
                                                 "six-products",
                                                 "unet-medical",
                                                 "tpu-cnn0",
                                                 "ncf",
                                                 "googlenet",
                                                 "mobilenet-v2"};
    return all;
}

namespace {

// Networks of few different layers.
const std::vector<std::string>& networks_to_search() {
    static const std::vector<std::string> all = {"mnist-cnn", "mlp-2layer", "six-products"};
    return all;
}

// Of fields that are no choice and no flag.
const std::map<std::string, FieldValues>& table() {
    static const std::string by_file = "names a file of the caller";
    static const std::map<std::string, FieldValues> all = {
        {"network", {quick_networks(), 1.0, {}}},
        {"dim", {{}, 0.0, "stands in the networks' names, which are the same thing"}},
        {"batch", {{"1", "2", "8", "64", "128"}, 0.4, {}}},
        {"density", {{"weights=0.5,inputs=0.6", "weights=0.25"}, 0.08, {}}},
        {"layers", {{"1", "[Cc][Oo][Nn][Vv].*", "^(?!.*softmax).*$"}, 0.12, {}}},
        {"on", {twelve_machines(), 1.0, {}}},
        {"set", {{"clock=x2", "clock=x0.7", "dram-bandwidth=x2", "boost-clock=x0.7"}, 0.2, {}}},
        {"energies", {{}, 0.0, by_file}},
        {"host", {{"server-2x20", "server-2x64"}, 0.25, {}}},
        {"host-speed", {{"0.5", "4"}, 0.2, {}}},
        {"power-cap", {{"200W"}, 0.05, {}}},
        {"library", {{"cublas 10", "cublas 11", "TRTLLM 1.0"}, 0.2, {}}},
        {"streams", {{"2", "3", "8"}, 0.25, {}}},
        {"mapping", {{"dataflow", "dataflow", "dataflow", "auto", "best"}, 1.0, {}}},
        {"objective", {{"latency", "energy", "edp", "energy^2*latency"}, 0.2, {}}},
        {"constraints", {{}, 0.0, by_file}},
        {"search-nodes", {{"1", "20", "60"}, 1.0, {}}},
        {"time-limit", {{}, 0.0, "makes the answer depend on how busy the machine is"}},
    };
    return all;
}

double chance_of(const std::string& name) {
    static const std::map<std::string, double> rare = {
        {"phase", 0.5}, {"dtype", 0.35}, {"operators", 0.2}, {"dataflow", 0.1}};
    const auto at = rare.find(name);
    return at == rare.end() ? 0.3 : at->second;
}

} // namespace

FieldValues values_of(const analysis::ScenarioField& field) {
    if (const auto at = table().find(field.name); at != table().end()) {
        return at->second;
    }
    if (field.kind == analysis::FieldKind::flag) {
        return {{"1"}, 0.25, {}};
    }
    return {field.choices, chance_of(field.name), {}};
}

analysis::Scenario random_scenario(std::uint64_t number) {
    std::mt19937_64 rng(0x9e3779b97f4a7c15ULL + number);
    const auto share = [&] { return static_cast<double>(rng() >> 11U) * 0x1p-53; };
    analysis::Scenario scenario;
    for (const analysis::ScenarioField& field : analysis::scenario_fields()) {
        const FieldValues values = values_of(field);
        const bool drawn = share() < values.chance && !values.values.empty();
        const std::uint64_t which = rng();
        if (drawn && !(field.name == "optimizer" && !scenario.training)) {
            const auto wrong = field.set(scenario, {values.values[which % values.values.size()]});
            static_cast<void>(wrong); // refused: the default stays, as with every other number
        }
    }
    // A search's first guess takes a second a layer, however few nodes it may visit afterwards.
    const auto& few = networks_to_search();
    const bool searches = scenario.policy == analysis::MappingPolicy::best ||
                          scenario.policy == analysis::MappingPolicy::automatic;
    if (searches && is_accelerator(scenario.machine)) {
        scenario.network = few[rng() % few.size()];
    }
    return scenario;
}

} // namespace eyeroof::tests
