// Every machine of the catalog, with every type that it computes with, in the questions on
// machines: each is answered, or refused for a reason that is listed. One question for each type in
// turn; EYEROOF_AGREEMENT=all asks them all, and -s prints the table of what is refused and why.
#include "analysis/exam/word_types.hpp"
#include "formats/any_machine.hpp"
#include "hwdb/catalog.hpp"
#include "tests/agreement/compare.hpp"
#include "tests/cli/program.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <fstream>
#include <map>
#include <set>

namespace test_agreement_every_machine {

using namespace eyeroof;
using tests::run;

namespace {

// A decoder of two layers, as Hugging Face configures it.
std::string small_decoder() {
    const auto path = std::filesystem::temp_directory_path() /
                      fmt::format("every_machine_{}/config.json", getpid());
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << R"({"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 1000,
        "intermediate_size": 512})";
    return path;
}

std::vector<std::string> question(const std::string& command, const std::string& network,
                                  const std::string& machine, const std::string& type,
                                  bool accelerator) {
    std::vector<std::string> words = {command, network, "--dtype", type};
    const auto add = [&](std::initializer_list<std::string> more) {
        words.insert(words.end(), more);
    };
    if (command == "upgrade") {
        add({"--from", machine, "--to", machine, "--phase", "inference", "--batch", "4",
             "--from-per-hour", "1", "--to-per-hour", "1"});
        return words;
    }
    add({"--on", machine});
    if (command == "serve") {
        add({"--prompt", "64", "--answer", "16", "--requests", "2"});
    }
    if (command == "scale") {
        add({"--devices", "1", "--batch", "4"});
    }
    if (command == "exam" || command == "scale") {
        add({"--dim", "context=64"});
        if (accelerator && command == "exam") {
            add({"--mapping", "dataflow"});
        }
    }
    return words;
}

// "no-memory" of "error: … [no-memory]".
std::string code_of(const std::string& text) {
    const auto open = text.rfind('[');
    return open == std::string::npos ? "?" : text.substr(open + 1, text.find(']', open) - open - 1);
}

struct Refusals {
    std::map<std::string, std::set<std::string>> machines; // by "serve: no-memory"
    std::size_t asked = 0;
};

} // namespace

TEST_CASE("every machine answers exam, scale, serve, and upgrade in every type that it has") {
    const std::vector<std::filesystem::path> folders = {tests::share_dir() / "hwdb"};
    const std::string network = small_decoder();
    Refusals refused;
    std::size_t machines = 0;
    for (const hwdb::CatalogEntry& entry : hwdb::list_machines(folders)) {
        const std::string& name = entry.id;
        const auto machine = formats::load_any_machine(name, folders, {});
        REQUIRE(machine.ok());
        const bool accelerator = std::holds_alternative<model::Accelerator>(machine->kind);
        ++machines;
        for (std::size_t i = 0; i < model::kDataTypes; ++i) {
            const auto type = static_cast<model::DataType>(i);
            if (!analysis::computes_with(*machine, type)) {
                continue;
            }
            constexpr std::array commands = {"exam", "scale", "serve", "upgrade"};
            for (std::size_t c = 0; c < commands.size(); ++c) {
                if (!tests::all_of_it() && (machines + i) % commands.size() != c) {
                    continue;
                }
                const std::string command = commands[c];
                auto words = question(command, network, name,
                                      std::string(model::data_type_name(type)), accelerator);
                auto outcome = run(words);
                if (outcome.err.find("--density") != std::string::npos) { // it skips zeros
                    words.insert(words.end(), {"--density", "weights=1,inputs=1"});
                    outcome = run(words);
                }
                ++refused.asked;
                if (outcome.exit != 0) {
                    refused.machines[fmt::format("{}: {}", command, code_of(outcome.err))].insert(
                        fmt::format("{} {}", name, model::data_type_name(type)));
                }
            }
        }
    }
    std::string table =
        fmt::format("{} machines, {} questions; refused:\n", machines, refused.asked);
    for (const auto& [why, which] : refused.machines) {
        table += fmt::format("  {} ({}):", why, which.size());
        for (const std::string& one : which) {
            table += " " + one + ";";
        }
        table += "\n";
    }
    MESSAGE(table);
    CHECK(machines > 100);
    CHECK(refused.asked > machines);
    // Weights and a cache stay in a device's own memory: machines that describe none serve nothing.
    // From a host processor `upgrade` asks which layers to send to a GPU, so a host is no
    // candidate.
    const std::set<std::string> listed = {"serve: no-memory", "upgrade: not-a-gpu"};
    for (const auto& [why, which] : refused.machines) {
        CAPTURE(why);
        CAPTURE(*which.begin());
        CHECK(listed.contains(why));
    }
    for (const std::string& one : refused.machines["serve: no-memory"]) {
        const auto machine = formats::load_any_machine(one.substr(0, one.find(' ')), folders, {});
        CAPTURE(one);
        CHECK(std::holds_alternative<model::Accelerator>(machine->kind));
    }
    for (const std::string& one : refused.machines["upgrade: not-a-gpu"]) {
        const auto machine = formats::load_any_machine(one.substr(0, one.find(' ')), folders, {});
        const auto* gpu = std::get_if<model::Gpu>(&machine->kind);
        CAPTURE(one);
        CHECK((gpu != nullptr && gpu->arch == model::GpuArch::host));
    }
}

TEST_CASE("weights rest while rows stream into the accumulators of a Trainium") {
    // 2,048 rows of 4,096 by 28,672: before, 0.8 % of the units worked, as each row had weights
    // anew
    const auto exam = [](const std::string& mapping) {
        auto words = std::vector<std::string>{"exam",     "llama-3-8b", "--on",     "trainium2",
                                              "--layers", "gate_up",    "--format", "json"};
        if (!mapping.empty()) {
            words.insert(words.end(), {"--mapping", mapping});
        }
        const auto outcome = run(words);
        REQUIRE(outcome.exit == 0);
        return nlohmann::json::parse(outcome.out).at("total");
    };
    const auto rules = exam("dataflow");
    CHECK(rules.at("utilization").get<double>() > 0.5);
    const auto searched = exam(""); // begins with that mapping, and keeps the least energy x time
    CHECK(searched.at("energy_j").get<double>() * searched.at("time_s").get<double>() <=
          1.0001 * rules.at("energy_j").get<double>() * rules.at("time_s").get<double>());
}

} // namespace test_agreement_every_machine
