#include "tests/cli/program.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace test_cli_hw {

using namespace eyeroof;
using tests::run;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

const std::set<std::string>& ids() {
    static const std::set<std::string> all = [] {
        std::set<std::string> names;
        const auto json = nlohmann::json::parse(run({"hw", "list", "--format", "json"}).out);
        for (const auto& machine : json["machines"]) {
            names.insert(machine["id"]);
        }
        return names;
    }();
    return all;
}

} // namespace

TEST_CASE("hw list shows every machine of the catalog within 100 columns") {
    const auto outcome = run({"hw", "list"});
    CHECK(outcome.exit == 0);
    CHECK(outcome.err.empty());
    CHECK(contains(outcome.out, "eyeriss-v1 "));
    CHECK(contains(outcome.out, "33.6 GMAC/s"));
    CHECK(contains(outcome.out, "systolic:"));
    CHECK(tests::width_of(outcome.out) <= 100);
    std::istringstream lines(outcome.out);
    std::size_t machines = 0;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream in(line);
        std::string id;
        in >> id;
        machines += ids().contains(id) ? 1 : 0;
        CHECK(id.find("…") == std::string::npos); // no id is cut
        CHECK(line.find(" 0 FLOP/s") == std::string::npos);
        if (id == "k80-die") { // it has no rate of its own in fp16
            std::string fp32, unit, fp16;
            in >> fp32 >> unit >> fp16;
            CHECK(unit == "TFLOP/s");
            CHECK(fp16 == "-");
        }
    }
    CHECK(machines == ids().size());
}

TEST_CASE("hw show names the fields without a source, and each source once") {
    std::string text = run({"hw", "show", "coral-edge-tpu", "--format", "text"}).out;
    std::replace(text.begin(), text.end(), '\n', ' ');
    CHECK_FALSE(contains(text, "no public source"));
    const auto json =
        nlohmann::json::parse(run({"hw", "show", "coral-edge-tpu", "--format", "json"}).out);
    const std::size_t at = text.find("Unsourced: ");
    REQUIRE(at != std::string::npos);
    for (const auto& source : json["sources"]) {
        const std::string field = source["field"];
        CAPTURE(field);
        if (source["source"].get<std::string>().starts_with("no public source")) {
            CHECK((source["confidence"] == "derived" || contains(text.substr(at), field)));
        } else if (source["confidence"] == "recalled") {
            CHECK(contains(text.substr(at), field.empty() ? "what has no source" : field));
        } else {
            const std::string name = source["source"];
            const std::size_t first =
                text.find("Source: " + name.substr(0, std::min<std::size_t>(40, name.find(" ("))));
            CHECK(first != std::string::npos);
        }
    }
}

TEST_CASE("integer rates are operations, not floating-point operations") {
    const std::string text = run({"hw", "show", "a100-sxm-80gb", "--format", "text"}).out;
    CHECK(contains(text, "624 TOP/s"));
    CHECK(contains(text, "312 TFLOP/s"));
    CHECK_FALSE(contains(text, "624 TFLOP/s"));
    const auto json =
        nlohmann::json::parse(run({"hw", "show", "a100-sxm-80gb", "--format", "json"}).out);
    for (const auto& peak : json["peaks"]) {
        CHECK(peak["flops_per_s"].get<double>() > 1e12);
    }
}

TEST_CASE("hw list as JSON carries units in its keys") {
    const auto json = nlohmann::json::parse(run({"hw", "list", "--format", "json"}).out);
    CHECK(json["schema"] == "eyeroof/machines/1");
    bool found = false;
    for (const auto& machine : json["machines"]) {
        if (machine["id"] == "tpu-v1") {
            found = true;
            CHECK(machine["macs_per_cycle"] == 65536);
            CHECK(machine["clock_hz"] == 700e6);
            CHECK(machine["trust"] == "recalled"); // the host link and the FIFO
        }
    }
    CHECK(found);
}

TEST_CASE("hw show gives a description that is a machine of one's own when saved") {
    const tests::Scratch scratch;
    const std::string mine = (scratch / "mine.yaml").string();
    for (const char* name : {"eyeriss-v1", "systolic:4x6:os"}) {
        CAPTURE(name);
        CHECK(run({"hw", "show", name, "-o", mine}).exit == 0);
        const auto check = run({"hw", "check", mine});
        CHECK(check.exit == 0);
        CHECK(contains(check.out, "ok"));
        CHECK(contains(run({"hw", "show", mine, "--format", "text"}).out, "MAC/cycle"));
    }
}

TEST_CASE("a copied machine of levels that skips zeros is examined, and checked, as its original") {
    const tests::Scratch scratch;
    const std::string mine = (scratch / "mine.yaml").string();
    std::filesystem::copy_file(
        std::filesystem::path(tests::source_dir()) / "hwdb/sparse/eyeriss-v2.yaml", mine);
    const auto layers = [](const std::string& machine) {
        const auto outcome =
            run({"exam", "alexnet", "--layers", "CONV3", "--on", machine, "--density",
                 "weights=0.5,inputs=1", "--search-nodes", "300", "--format", "json"});
        REQUIRE(outcome.exit == 0);
        const auto layer = nlohmann::json::parse(outcome.out)["layers"][0];
        return std::pair(layer["time_s"].get<double>(), layer["energy_j"].get<double>());
    };
    CHECK(layers(mine) == layers("eyeriss-v2"));
    const auto check = run({"hw", "check", mine});
    CHECK(check.exit == 0);
    CHECK(contains(check.out, "1 machine: ok"));
    std::ofstream(mine, std::ios::app) << "unit: {how: skip}\n";
    const auto wrong = run({"exam", "alexnet", "--on", mine, "--density", "weights=0.5,inputs=1"});
    CHECK(wrong.exit != 0);
    CHECK(contains(wrong.err, "unknown key \"unit\""));
    CHECK(run({"hw", "check", mine}).exit != 0);
}

TEST_CASE("hw show summarises a machine as text and as JSON") {
    const auto text = run({"hw", "show", "eyeriss-v2", "--format", "text"});
    CHECK(text.exit == 0);
    CHECK(contains(text.out, "384 MAC/cycle at 200 MHz: 76.8 GMAC/s"));
    CHECK(tests::width_of(text.out) <= 100);
    const auto json =
        nlohmann::json::parse(run({"hw", "show", "eyeriss-v1", "--format", "json"}).out);
    CHECK(json["schema"] == "eyeroof/machine/1");
    CHECK(json["levels"][1]["stores"][0]["capacity_bytes"] == 102400);
    CHECK(json["levels"][0]["stores"][0]["capacity_bytes"].is_null()); // unlimited
    CHECK(json["sources"][0]["confidence"] == "paper");
}

TEST_CASE("hw show summarises a GPU with its peaks and its memory") {
    const auto text = run({"hw", "show", "v100-sxm2-16gb", "--format", "text"});
    CHECK(text.exit == 0);
    CHECK(contains(text.out, "80 SMs with 64 fp32 lanes each"));
    const auto row = [&](const std::string& type) {
        const std::size_t at = text.out.find("\n" + type + " ") + 1;
        return text.out.substr(at, text.out.find('\n', at) - at);
    };
    CHECK((contains(row("fp16"), " 125 TFLOP/s ") && contains(row("fp16"), " tensor ")));
    CHECK((contains(row("fp32"), " 15.7 TFLOP/s ") && contains(row("fp32"), " vector ")));
    CHECK((contains(row("int8"), " 62.7 TOP/s ") && contains(row("int8"), " vector ")));
    CHECK(tests::width_of(text.out) <= 100);
    const auto json =
        nlohmann::json::parse(run({"hw", "show", "v100-sxm2-16gb", "--format", "json"}).out);
    CHECK(json["kind"] == "gpu");
    CHECK(json["units"] == 80);
    CHECK(json["peaks"].size() > 2);
    const auto yaml = run({"hw", "show", "v100-sxm2-16gb"});
    CHECK(contains(yaml.out, "kind: gpu"));
}

TEST_CASE("an unknown machine is bad input with the nearest name, and nothing on stdout") {
    for (const char* verb : {"show", "check"}) {
        const auto outcome = run({"hw", verb, "eyeris-v1"});
        CHECK(outcome.exit == 3);
        CHECK(outcome.out.empty());
        CHECK(contains(outcome.err, "did you mean 'eyeriss-v1'?"));
    }
}

TEST_CASE("hw check says no to a broken file, with its places, and goes on with the others") {
    const tests::Scratch scratch;
    const std::string bad = (scratch / "bad.yaml").string();
    std::string text = run({"hw", "show", "systolic:4x4"}).out;
    text.replace(text.find("clock: 1 GHz"), 12, "clock: 1 GB");
    tests::write_text(bad, text);
    const auto outcome = run({"hw", "check", bad, "eyeriss-v1"});
    CHECK(outcome.exit == 1);
    CHECK(contains(outcome.out, "failed"));
    CHECK(contains(outcome.out, "eyeriss-v1"));
    CHECK(contains(outcome.err, "bad.yaml:"));
    CHECK(contains(outcome.err, "[wrong-unit]"));
    CHECK(run({"hw", "show", bad}).exit == 3);
    const auto json = nlohmann::json::parse(run({"hw", "check", bad, "--format", "json"}).out);
    CHECK(json["machines"][0]["ok"] == false);
    CHECK(json["machines"][0]["findings"][0]["code"] == "wrong-unit");
}

TEST_CASE("hw check passes the whole catalog") {
    const auto outcome = run({"hw", "check"});
    CHECK(outcome.exit == 0);
    CHECK_FALSE(contains(outcome.out, "failed"));
    CHECK_FALSE(contains(outcome.err, "error:"));
}

} // namespace test_cli_hw
