#include "analysis/exam/report_figures.hpp"
#include "analysis/what_if/sensitivity.hpp"
#include "base/text_file.hpp"
#include "formats/catalog.hpp"
#include "hwdb/accelerator_reader.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/gpu_reader.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"
#include "tests/question.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

using eyeroof::tests::near;

namespace eyeroof::analysis::test_parameters {

namespace {

namespace fs = std::filesystem;
const std::vector<fs::path> kMachines = {fs::path(tests::source_dir()) / "hwdb"};

model::Machine machine(const std::string& name) {
    return hwdb::load_machine(name, kMachines).value();
}

model::Network network(const std::string& name) {
    return formats::load_network(name, {fs::path(tests::source_dir()) / "examples/networks"})
        .value();
}

const Parameter& parameter(const std::vector<Parameter>& parameters, const std::string& key) {
    for (const Parameter& k : parameters) {
        if (k.key == key) {
            return k;
        }
    }
    FAIL("no parameter " << key);
    return parameters.front();
}

} // namespace

TEST_CASE(
    "every parameter of every machine has a key of its own and turns what it is named after") {
    for (const auto& entry : hwdb::list_machines(kMachines)) {
        CAPTURE(entry.id);
        const model::Machine original = machine(entry.id);
        std::set<std::string> keys;
        for (const Parameter& k : parameters_of(original)) {
            CAPTURE(k.key);
            CHECK(keys.insert(k.key).second);
            CHECK(*parse_value(k, value_text(k, k.value)) == near(k.value));
            model::Machine turned = original;
            k.set(turned, 2.0 * k.value);
            CHECK(parameter(parameters_of(turned), k.key).value == near(2.0 * k.value));
        }
        CHECK(keys.size() >= 3);
    }
}

TEST_CASE("changes are read with units, as factors, and refused with a hint") {
    const model::Machine v100 = machine("v100-sxm2-16gb");
    CHECK(parse_change(v100, "dram-bandwidth = 1.2 TB/s")->value == 1.2e12);
    CHECK(parse_change(v100, "dram-bandwidth=x2")->value == 1.8e12);
    CHECK(parse_change(v100, "sms=100")->value == 100.0);
    CHECK(change_text(v100, {"dram-bandwidth", 1.2e12}) == "dram-bandwidth=1.2 TB/s");
    const auto unknown = parse_change(v100, "dram-bandwith=1 TB/s");
    REQUIRE_FALSE(unknown);
    CHECK(unknown.diagnostics().items().front().hint == "did you mean 'dram-bandwidth'?");
    for (const char* bad :
         {"clock", "sms=1.5", "sms=0", "sms=-3", "sms=1e300", "sms=nan", "dram-bandwidth=3",
          "dram-bandwidth=x0", "dram-bandwidth=xx", "=", ""}) {
        CAPTURE(bad);
        CHECK_FALSE(parse_change(v100, bad));
    }
    const auto two = changed(v100, std::vector<std::string>{"nothing=1", "sms=none"});
    REQUIRE_FALSE(two);
    CHECK(two.diagnostics().size() == 2);
}

TEST_CASE("a negative value is refused as zero is: with the hint that it takes more") {
    for (const char* text : {"clock=-5 MHz", "clock=0 Hz", "dram-link-bandwidth=-1 B/cycle"}) {
        CAPTURE(text);
        const auto change = parse_change(machine("eyeriss-v1"), text);
        REQUIRE_FALSE(change);
        CHECK(change.diagnostics().items().front().hint == "it is more than zero and not endless");
    }
}

TEST_CASE("a power cap lowers the smaller limit, in any order and spelling") {
    const model::Machine a100 = machine("a100-sxm-80gb"); // 400 W, 1410 MHz
    for (const char* text : {"power-cap=200 W", "Power_Cap = 0.2 kW", "POWER CAP=x0.5"}) {
        CAPTURE(text);
        const auto change = parse_change(a100, text);
        REQUIRE(change);
        CHECK(change->key == "power-cap");
        CHECK(change->value == near(200.0));
        CHECK(change_text(a100, *change) == "power-cap=200 W");
    }
    using Texts = std::vector<std::string>;
    for (const auto& [texts, watts] :
         {std::pair{Texts{"power-cap=300 W", "power-limit=200 W"}, 200.0},
          {Texts{"power-limit=200 W", "power-cap=300 W"}, 200.0},
          {Texts{"power-cap=200 W", "power-limit=300 W"}, 200.0},
          {Texts{"power-cap=900 W"}, 400.0}}) {
        const auto capped = changed(a100, texts);
        REQUIRE(capped);
        const auto& gpu = std::get<model::Gpu>(capped->kind);
        CHECK(gpu.tdp_w == near(watts));
        if (watts < 400.0) {
            CHECK(gpu.base_hz == near(0.15 * 1.41e9));
        }
    }
}

TEST_CASE("a power cap below a tenth of the limit is refused, and any on hosts and accelerators") {
    const auto refusal = [](const char* name, const char* text) {
        const auto change = parse_change(machine(name), text);
        REQUIRE_FALSE(change);
        return change.diagnostics().items().front();
    };
    CHECK(parse_change(machine("a100-sxm-80gb"), "power-cap=40 W"));
    CHECK(refusal("a100-sxm-80gb", "power-cap=39 W").hint == "cap it at 40 W or more");
    CHECK_FALSE(parse_change(machine("a100-sxm-80gb"), "power-cap=none"));
    for (const char* name : {"server-2x64", "eyeriss-v1", "tpu-v6e"}) {
        CAPTURE(name);
        CHECK(refusal(name, "power-cap=200 W").code == "no-power-cap");
    }
}

TEST_CASE("a change takes every unit that a machine file takes there, in any case") {
    struct Row {
        const char *machine, *text, *as;
    };
    // Eyeriss runs at 200 MHz with words of 16 bit; an SM of a V100 does 1024 FLOP a cycle.
    for (const Row& row :
         {Row{"eyeriss-v1", "clock=250 mhz", "clock=250 MHz"},
          {"eyeriss-v1", "Clock=250 MHZ", "clock=250 MHz"},
          {"eyeriss-v1", "CLOCK=X2", "clock=400 MHz"},
          {"eyeriss-v1", "dram link bandwidth=960 MB/s", "dram-link-bandwidth=4.8 B/cycle"},
          {"eyeriss-v1", "dram_link_bandwidth=38.4 BIT/CYCLE", "dram-link-bandwidth=4.8 B/cycle"},
          {"eyeriss-v1", "filter-network-bandwidth=8 Words/Cycle",
           "filter-network-bandwidth=16 B/cycle"},
          {"eyeriss-v1", "glb-capacity=51200 words", "glb-capacity=100 KiB"},
          {"eyeriss-v1", "spad-weight-capacity=448 words", "spad-weight-capacity=896 B"},
          {"v100-sxm2-16gb", "DRAM-Bandwidth=1 tbyte/S", "dram-bandwidth=1 TB/s"},
          {"v100-sxm2-16gb", "fp16-peak=250 tflops", "fp16-peak=250 TFLOP/s"},
          {"v100-sxm2-16gb", "fp16-peak=2048 flop/cycle", "fp16-peak=250.6752 TFLOP/s"}}) {
        CAPTURE(row.text);
        const model::Machine origin = machine(row.machine);
        const auto change = parse_change(origin, row.text);
        if (!change) {
            FAIL(to_string(change.diagnostics().items().front()));
        }
        const auto exact = parse_change(origin, row.as);
        REQUIRE(exact);
        CHECK(change->key == exact->key);
        CHECK(change->value == near(exact->value, 1e-12));
    }
}

TEST_CASE(
    "a unit that may be two is refused with both, and words of two widths with their operands") {
    const auto said = [](const char* name, const char* text) {
        const auto change = parse_change(machine(name), text);
        REQUIRE_FALSE(change);
        return change.diagnostics().items().front();
    };
    const auto bits = said("v100-sxm2-16gb", "dram-bandwidth=1 tb/s");
    CHECK(bits.code == "ambiguous-unit");
    CHECK(bits.message.find("Tb/s or TB/s") != std::string::npos);
    // TPU v1: 8-bit inputs and 32-bit sums share the unified buffer.
    const auto words = said("tpu-v1", "unified-buffer-capacity=100 words");
    CHECK(words.code == "ambiguous-unit");
    CHECK(words.hint.find("input 8 bit, output 32 bit") != std::string::npos);
    CHECK(said("v100-sxm2-16gb", "dram-bandwidth=1 GB").code == "wrong-unit");
    CHECK(said("v100-sxm2-16gb", "l2-capacity=100 words").code == "wrong-unit");
    CHECK(said("eyeriss-v1", "clock=1 parsec").code == "wrong-unit");
}

TEST_CASE("stores of one level are told apart by what they hold") {
    std::set<std::string> keys;
    for (const Parameter& k : parameters_of(machine("eyeriss-v1"))) {
        keys.insert(k.key);
    }
    for (const char* key :
         {"spad-weight-capacity", "spad-input-capacity", "spad-output-capacity", "glb-capacity"}) {
        CHECK(keys.contains(key));
    }
}

TEST_CASE(
    "energies, buffers, and lanes are set by their keys, and what-if turns only what takes time") {
    const model::Machine npu = machine("npu-int8");
    const auto turned =
        changed(npu, std::vector<std::string>{"sram-input-output-energy=3 pJ", "mac-energy=0.5 pJ",
                                              "sram-weight-buffers=1", "vector-lanes=256"});
    REQUIRE(turned);
    const auto& a = std::get<model::Accelerator>(turned->kind);
    CHECK(a.levels[1].stores[0].read_pj == near(3.0));
    CHECK(a.levels[1].stores[0].write_pj == near(3.0));
    CHECK(a.levels[1].stores[1].read_pj == near(6.0));
    CHECK(a.mac_pj == near(0.5));
    CHECK(a.levels[1].stores[1].buffers == 1);
    CHECK(a.vector_unit->lanes == 256);
    for (const Parameter& k : tried_parameters(npu)) {
        CHECK(k.key.find("energy") == std::string::npos);
    }
    const auto rates = changed(machine("gaudi3"), std::vector<std::string>{});
    bool rate = false;
    for (const Parameter& k : tried_parameters(*rates)) {
        rate = rate || k.key.find("read-bandwidth") != std::string::npos;
    }
    CHECK(rate);
}

TEST_CASE("a faster clock leaves the outermost memory its bytes per second") {
    const auto fast = changed(machine("eyeriss-v1"), std::vector<Change>{{"clock", 400e6}});
    REQUIRE(fast);
    const auto& accelerator = std::get<model::Accelerator>(fast->kind);
    // 480 MB/s are 2.4 bytes a cycle of 200 MHz and 1.2 of 400 MHz.
    CHECK(accelerator.levels[0].channels[0].down_bytes_per_cycle == near(1.2));
}

// A machine file, as it stands or with another clock.
model::Machine read_with_clock(const std::string& text, const std::string& clock) {
    static const std::regex own("\\nclock: (\\{value: )?[0-9.]+ [kMG]?Hz");
    auto document = hwdb::parse_yaml(
        clock.empty() ? text : std::regex_replace(text, own, "\nclock: $01" + clock), "own.yaml");
    REQUIRE(document.ok());
    auto file = hwdb::read_accelerator(*document, "own");
    REQUIRE(file.ok());
    return file->machine;
}

std::vector<double> figures_of(model::Accelerator a) {
    std::vector<double> figures = {a.clock_hz, a.mac_pj};
    model::for_each_per_cycle(a, [&](double& figure, bool) { figures.push_back(figure); });
    return figures;
}

void check_clock(const std::string& text, const std::string& clock) {
    const auto set = changed(read_with_clock(text, ""), std::vector<std::string>{"clock=" + clock});
    REQUIRE(set.ok());
    const auto as_set = figures_of(std::get<model::Accelerator>(set->kind));
    const auto in_file =
        figures_of(std::get<model::Accelerator>(read_with_clock(text, clock).kind));
    REQUIRE(as_set.size() == in_file.size());
    for (std::size_t i = 0; i < as_set.size(); ++i) {
        CAPTURE(i);
        CHECK((as_set[i] == in_file[i] || as_set[i] == near(in_file[i], 1e-12)));
    }
}

constexpr const char* kEveryForm = R"(eyeroof: machine/1
kind: accelerator
name: every form
source: a design of no chip
confidence: user
clock: 500 MHz
clocks: {mem: 250 MHz}
words: {input: 8 bit, weight: 8 bit, output: 16 bit}
mac_energy: 0.5 pJ
mac_leakage: 1 mW
levels:
  - name: DRAM
    stores:
      - {operands: [input, output], capacity: unlimited, read: 1 GB/s, write: 4 B/cycle, energy: 100 pJ}
      - {operands: weight, capacity: unlimited, clock: mem, read: 16 bit/cycle, energy: 100 pJ}
    channels:
      - {name: bus, operands: [input, output], dram: {standard: ddr4-2400, run: 96 B}, cast: broadcast}
      - {name: port, operands: weight, clock: mem, down: 1 word/cycle, cast: multicast}
  - name: SRAM
    stores:
      - {operands: all, clock: mem, capacity: 64 KiB, read: 16 B/cycle, write: 1 GB/s, energy: 2 pJ, leakage: 2 mW}
    channels:
      - {name: mesh, operands: [input, weight], clock: mem, network: {topology: mesh, link: 8 B/cycle}, cast: multicast}
      - {name: sums, operands: output, down: unlimited, up: 2 GB/s, cast: unicast}
    fanout: {row: 4, col: 4}
  - name: PE
    stores:
      - {operands: weight, capacity: 4 word, energy: 0.1 pJ, leakage: 0.01 pJ/cycle}
dataflows:
  - {kind: ws, spatial: {row: C, col: K}}
vector_unit: {lanes: 8, level: SRAM, read: 1 GB/s, write: 8 B/cycle}
)";

TEST_CASE(
    "a clock that is set is the clock of the file: every rate and leakage, of every machine") {
    std::size_t machines = 0;
    for (const auto& entry : hwdb::list_machines(kMachines)) {
        const auto text = read_text_file(entry.file);
        REQUIRE(text);
        if (text->find("\nkind: accelerator") != std::string::npos) {
            CAPTURE(entry.id);
            ++machines;
            check_clock(*text, "123 MHz");
            check_clock(*text, "3 GHz");
        }
    }
    CHECK(machines > 30);
    check_clock(kEveryForm, "123 MHz");
    check_clock(kEveryForm, "3 GHz");
    const model::Machine own = read_with_clock(kEveryForm, "");
    check_clock("\n" + hwdb::write_accelerator(own), "3 GHz"); // written, it keeps its forms
}

TEST_CASE("time and energy at a clock that is set are those of the file with it") {
    model::Network net = network("alexnet");
    std::erase_if(net.layers, [](const model::Layer& layer) { return layer.name != "CONV3"; });
    const auto total = [&](const model::Machine& machine) {
        const auto report = run(tests::question_of(net, machine));
        REQUIRE(report);
        return report->total;
    };
    const auto in_file = total(read_with_clock(kEveryForm, "1 GHz"));
    const auto set =
        total(*changed(read_with_clock(kEveryForm, ""), std::vector<std::string>{"clock=1 GHz"}));
    CHECK(set.time_s == near(in_file.time_s, 1e-9));
    CHECK(set.energy_j == near(in_file.energy_j, 1e-9));
}

TEST_CASE("rates that are set beside a clock are of that clock, in any order") {
    const auto down = [](const std::vector<std::string>& changes) {
        const auto set = changed(machine("eyeriss-v1"), changes);
        REQUIRE(set.ok());
        return std::get<model::Accelerator>(set->kind).levels[0].channels[0].down_bytes_per_cycle;
    };
    CHECK(down({"clock=400 MHz", "dram-link-bandwidth=800 MB/s"}) == near(2.0));
    CHECK(down({"dram-link-bandwidth=800 MB/s", "clock=400 MHz"}) == near(2.0));
    CHECK(down({"dram-link-bandwidth=4 B/cycle", "clock=400 MHz"}) == near(4.0));
    CHECK(down({"dram-link-bandwidth=x2", "clock=400 MHz"}) == near(2.4)); // 960 MB/s
}

TEST_CASE("a changed machine keeps its id, so that its plots and its constants stay its own") {
    const model::Machine eyeriss = machine("eyeriss-v1");
    const auto twice = changed(eyeriss, std::vector<Change>{{"dram-link-bandwidth", 4.8}});
    REQUIRE(twice);
    CHECK(twice->id == "eyeriss-v1");
    CHECK(twice->name == "Eyeriss v1 (changed)");
    CHECK(std::get<model::Accelerator>(twice->kind).levels[0].channels[0].down_bytes_per_cycle ==
          4.8);
    CHECK(*changed(eyeriss, std::vector<Change>{}) == eyeriss);
}

TEST_CASE("a changed machine is saved as YAML that predicts the same") {
    const model::Network alexnet = network("alexnet");
    for (const char* name : {"v100-sxm2-16gb", "eyeriss-v1", "l4"}) {
        CAPTURE(name);
        const model::Machine origin = machine(name);
        const std::vector<Change> changes = {
            {parameters_of(origin)[2].key, 2.0 * parameters_of(origin)[2].value}};
        const fs::path folder = fs::temp_directory_path() / "eyeroof_what_if";
        fs::create_directories(folder);
        const fs::path file = folder / "mine.yaml";
        std::ofstream(file) << changed_machine_yaml(origin, changes, "mine");
        const auto back = hwdb::load_machine(file.string(), kMachines);
        if (!back) {
            FAIL(to_string(back.diagnostics().items().front()));
        }
        CHECK(back->id == "mine");
        CHECK(back->summary.find(changes[0].key) != std::string::npos);
        const Parameter parameter = parameters_of(origin)[2];
        for (const std::string& field : parameter.fields) { // not the paper's any more
            const auto* source = find_provenance(back->provenance, field);
            REQUIRE(source != nullptr);
            CHECK(source->confidence == Confidence::user);
            CHECK(source->source.find("changed by the user") == 0);
        }
        const auto saved = run(alexnet, *back);
        const auto direct = run(alexnet, *changed(origin, changes));
        REQUIRE(saved);
        CHECK(saved->total.time_s == near(direct->total.time_s, 1e-12));
        fs::remove_all(folder);
    }
}

TEST_CASE("ten percent more bandwidth is worth ten percent where bandwidth is all that counts") {
    model::Network net;
    model::Layer copy; // 64 M elements read and written: DRAM and nothing else
    copy.name = "copy";
    copy.op = model::Op::elementwise;
    copy.shape = model::ElementwiseShape{8192, 8192, "relu"};
    net.layers = {copy};
    const auto all = sensitivities(tests::question_of(net, machine("a100-sxm-40gb")));
    REQUIRE(all);
    for (const Sensitivity& s : *all) {
        if (s.key == "dram-bandwidth") {
            CHECK(s.speedup > 1.07); // launch and ramp take a little
            CHECK(s.speedup < 1.101);
        }
        if (s.key == "fp16-peak") {
            CHECK(s.speedup == near(1.0));
        }
        CHECK(s.speedup > 0.999);
    }
    CHECK(best_help_text(*all).find("DRAM bandwidth") != std::string::npos);
}

TEST_CASE("behind stalls for the outermost memory stands its bandwidth, not the clock") {
    const Question question = tests::question_of(network("alexnet"), machine("eyeriss-v1"));
    const auto report = run(question);
    REQUIRE(report);
    const LayerReport& conv1 = report->layers.front();
    REQUIRE(conv1.split.dram_stall_s > conv1.split.on_chip_stall_s); // most of step 7
    CHECK(conv1.limits.saves_most() == 7);
    const auto help = help_for(conv1.layer, question);
    REQUIRE(help);
    CHECK(help->behind[6] == "dram-link-bandwidth"); // the clock alone leaves DRAM as slow as it is
    CHECK(stalls_text(report->machine, conv1) ==
          "77 % of the stall cycles wait for the outermost memory (334.4 k of 436.7 k)");
}

TEST_CASE("gains follow what made the report that they stand beside") {
    Question question = tests::question_of(network("mnist-cnn"), machine("nvdla-small"));
    question.scenario.search_nodes = 2000;
    const Examine searched = [](const Question& variant, const std::stop_token& stop) {
        return run(variant, stop);
    };
    const auto before = run(question);
    const auto gains = sensitivities(question, {}, {}, searched);
    REQUIRE((before && gains));
    for (const Sensitivity& gain : *gains) {
        const auto parameters = tried_parameters(question.machine);
        const auto parameter = std::find_if(parameters.begin(), parameters.end(),
                                            [&](const Parameter& k) { return k.key == gain.key; });
        REQUIRE(parameter != parameters.end());
        Question turned = question;
        turned.machine =
            changed(question.machine, {Change{gain.key, parameter->value * gain.factor}}).value();
        CHECK(run(turned)->total.time_s * gain.speedup == near(before->total.time_s));
    }
}

TEST_CASE("the parameter behind a step is the one that its limit names") {
    const model::Machine eyeriss = machine("eyeriss-v1");
    const Question question = tests::question_of(network("alexnet"), eyeriss);
    const auto report = run(question);
    REQUIRE(report);
    const auto at = std::find_if(report->layers.begin(), report->layers.end(),
                                 [](const auto& l) { return l.layer.name == "FC6"; });
    REQUIRE(at != report->layers.end());
    const LayerReport& fc6 = *at; // a matrix-vector product
    const auto help = help_for(fc6.layer, question);
    REQUIRE(help);
    CHECK(fc6.steps[5].limit.find("DRAM") != std::string::npos);
    CHECK(help->behind[5] == "dram-link-bandwidth");
    CHECK_FALSE(help->behind[0].has_value()); // the layer's own size is no parameter of the machine
    for (std::size_t i = 1; i < help->gains.size(); ++i) {
        CHECK(help->gains[i - 1].speedup >= help->gains[i].speedup);
    }
    std::stop_source stop;
    stop.request_stop();
    CHECK_FALSE(help_for(fc6.layer, question, stop.get_token()));
}

TEST_CASE("an array in memory is turned by what it is described with, and its step follows") {
    const model::Machine array = machine("cimu-65nm");
    const auto of = [](const model::Machine& m) { return std::get<model::Accelerator>(m.kind); };
    CHECK(of(array).clock_hz == near(40e6 / (4 * 54)));
    const auto shared = changed(array, std::vector<std::string>{"array-columns-per-adc=4"});
    REQUIRE(shared.ok());
    CHECK(of(*shared).clock_hz == near(40e6 / (4 * 54))); // conversions are within the evaluation
    const auto narrow =
        changed(array, std::vector<std::string>{"input-bits=1", "weight-bits=1", "clock=100 MHz"});
    REQUIRE(narrow.ok());
    CHECK(of(*narrow).clock_hz == near(100e6 / 54));
    CHECK(model::mac_units(of(*narrow)) == 2304 * 256);
    // The bus moves 4 B in each of 54 cycles of the array's clock.
    CHECK(of(*narrow).levels[0].channels[0].down_bytes_per_cycle == near(4.0 * 54));
    const auto fewer = changed(array, std::vector<std::string>{"array-rows=576"});
    REQUIRE(fewer.ok());
    CHECK(of(*fewer).array->parallel_rows == 576);
    const auto apart = changed(array, std::vector<std::string>{"array-parallel-rows=4608"});
    REQUIRE_FALSE(apart.ok());
    CHECK(apart.diagnostics().begin()->code == "bad-parallel-rows");
}

TEST_CASE("a link of a DRAM standard is turned by channels and runs") {
    model::Machine own = machine("npu-int8");
    model::Channel& link = std::get<model::Accelerator>(own.kind).levels[0].channels[0];
    link.dram = model::DramLink{"lpddr5-6400", 4, 0, false};
    const auto rate = [](const Result<model::Machine>& m) {
        const auto& a = std::get<model::Accelerator>(m->kind);
        return a.levels[0].channels[0].down_bytes_per_cycle * a.clock_hz;
    };
    const auto runs = changed(own, std::vector<std::string>{"dram-link-run=32 B"});
    REQUIRE(runs.ok());
    CHECK(rate(runs) == near(model::rate_of({"lpddr5-6400", 4, 32, false}).bytes_per_s()));
    const auto wide = changed(own, std::vector<std::string>{"dram-link-channels=x2"});
    REQUIRE(wide.ok());
    CHECK(rate(wide) == near(model::rate_of({"lpddr5-6400", 8, 0, false}).bytes_per_s()));
    const auto plain = changed(own, std::vector<std::string>{"dram-link-bandwidth=10 GB/s"});
    REQUIRE(plain.ok());
    CHECK_FALSE(std::get<model::Accelerator>(plain->kind).levels[0].channels[0].dram);
}

TEST_CASE("an axis takes the network along whose topology the machine names") {
    model::Machine own = machine("npu-int8");
    model::Level& sram = std::get<model::Accelerator>(own.kind).levels[1];
    sram.channels[0].cast = model::Cast::unicast;
    sram.channels[0].wires = model::Wires{model::WireShape::mesh, 64.0, 1.0};
    model::follow_wires(sram, sram.channels[0]);
    CHECK(sram.channels[0].hop_pj == near(1.0 + 63.0 / 2.0 + 63.0 / 2.0));
    const auto wide = changed(own, std::vector<std::string>{"axis-channel=128"});
    REQUIRE(wide.ok());
    const model::Level& turned = std::get<model::Accelerator>(wide->kind).levels[1];
    CHECK(turned.channels[0].hop_pj == near(1.0 + 63.0 / 2.0 + 127.0 / 2.0));
    const auto fast = changed(own, std::vector<std::string>{"row-inputs-bandwidth=128 B/cycle"});
    REQUIRE(fast.ok());
    const model::Level& faster = std::get<model::Accelerator>(fast->kind).levels[1];
    CHECK(faster.channels[0].wires->link_bytes_per_cycle == 128.0);
}

} // namespace eyeroof::analysis::test_parameters
