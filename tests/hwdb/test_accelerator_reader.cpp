#include "hwdb/accelerator_reader.hpp"
#include "tests/hwdb/small_machine.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace test_hwdb_accelerator_reader {

using namespace eyeroof;
using eyeroof::tests::near;
using hwdb::AcceleratorFile;
using model::Accelerator;
using model::Operand;
using tests::kSmall;

namespace {

Result<AcceleratorFile> read(std::string_view text) {
    auto document = hwdb::parse_yaml(std::string(text), "small.yaml");
    if (!document) {
        return document.diagnostics();
    }
    return hwdb::read_accelerator(*document, "small");
}

AcceleratorFile good(std::string_view text) {
    auto file = read(text);
    for (const auto& d : file.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(file.ok());
    return *file;
}

std::string with(std::string_view from, std::string_view to) {
    std::string text(kSmall);
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

// The first finding about a description in which `from` was replaced.
Diagnostic finding(std::string_view from, std::string_view to) {
    const auto file = read(with(from, to));
    REQUIRE_FALSE(file.ok());
    const auto& d = file.diagnostics().items().front();
    CHECK(d.where.file == "small.yaml");
    CHECK(d.where.line > 0);
    CHECK(d.where.column > 0);
    return d;
}

// Every number and every mapping around one: "levels[1].fanout.x", "levels[1].fanout", "levels[1]".
std::set<std::string> places_of(const std::vector<std::string>& numbers) {
    std::set<std::string> places;
    for (const std::string& number : numbers) {
        for (std::size_t end = number.size(); end != std::string::npos;
             end = end == 0 ? std::string::npos : number.rfind('.', end - 1)) {
            places.insert(number.substr(0, end));
        }
    }
    return places;
}

} // namespace

TEST_CASE("every part of a description arrives in the machine, in the model's units") {
    const AcceleratorFile file = good(kSmall);
    const auto& machine = std::get<Accelerator>(file.machine.kind);
    CHECK(file.machine.id == "small");
    CHECK(machine.clock_hz == 200e6);
    CHECK(*file.printed_peak_macs_per_s == 0.8e9);
    CHECK(machine.word_bits == model::PerOperand<int>{8, 8, 20});
    CHECK(machine.pipeline_stages == 3);
    CHECK(machine.max_filter_width == 32);
    CHECK(machine.mac_pj == 6.1);

    REQUIRE(machine.levels.size() == 2);
    const auto& dram = machine.levels[0];
    CHECK_FALSE(dram.stores[0].capacity_bytes.has_value());
    CHECK(dram.stores[0].read_pj == 200.0);
    CHECK(dram.stores[0].write_pj == 210.0);
    CHECK(dram.stores[0].update_pj == 190.0);
    // 64 bit = 8 B at 60 MHz is 480 MB/s, and 480e6 / 200e6 = 2.4 bytes a core cycle, shared.
    CHECK(dram.channels[0].down_bytes_per_cycle == near(2.4));
    CHECK(dram.channels[0].up_bytes_per_cycle == dram.channels[0].down_bytes_per_cycle);
    CHECK(dram.channels[0].half_duplex);
    CHECK(*dram.channels[0].bits_per_nonzero == near(64.0 / 3.0));

    const auto& glb = machine.levels[1];
    CHECK(glb.stores[0].capacity_bytes == 102400);
    CHECK(glb.stores[0].bank_bytes == 4096);
    CHECK(glb.stores[0].buffers == 2);
    CHECK(glb.stores[0].read_bytes_per_cycle == 2.4); // 480e6 / 200e6
    CHECK(glb.stores[0].write_bytes_per_cycle == 8.0);
    CHECK(glb.stores[0].write_pj == 6.0);
    CHECK(glb.stores[1].capacity_bytes == 224); // words of 8 bit
    CHECK_FALSE(glb.stores[1].may_bypass);
    CHECK(glb.channels[0].down_bytes_per_cycle == 4.0);
    CHECK(glb.channels[0].cast == model::Cast::hierarchical_mesh);
    CHECK(glb.channels[0].forwards);
    CHECK_FALSE(glb.channels[0].reduces);
    CHECK(glb.channels[1].down_bytes_per_cycle == 10.0); // 4 words of 20 bit
    CHECK(glb.channels[1].up_bytes_per_cycle == model::kUnlimited);
    CHECK(glb.fanout == std::vector<model::Axis>{{"y", 2}, {"x", 2}}); // in the order written
    CHECK(glb.keeps_between_layers);
    CHECK(glb.word_bits == model::PerOperand<int>{0, 0, 20});
    CHECK(glb.stores[0].prefetch);
    CHECK_FALSE(glb.stores[1].prefetch);

    REQUIRE(machine.dataflows.size() == 2);
    CHECK(machine.dataflows[0].spatial[0].dims == model::DimSet{model::Dim::P, model::Dim::K});
    CHECK(machine.dataflows[0].whole == model::DimSet{model::Dim::R});
    CHECK_FALSE(machine.dataflows[0].stationary.has_value());
    CHECK(machine.dataflows[1].stationary == Operand::weight); // what a ws dataflow means
    CHECK(machine.dataflows[1].image_channels == 4);
    CHECK(machine.dataflows[1].image_spatial[1].dims ==
          model::DimSet{model::Dim::C, model::Dim::S});
}

TEST_CASE("sources are inherited downwards and overridden one number at a time") {
    const AcceleratorFile file = good(kSmall);
    const auto source = [&](const std::string& field) {
        const auto* found = find_provenance(file.machine.provenance, field);
        REQUIRE(found != nullptr);
        return std::pair(found->source, found->confidence);
    };
    CHECK(source("clock") == std::pair(std::string("A paper"), Confidence::paper));
    CHECK(source("words.output") == std::pair(std::string("A paper"), Confidence::derived));
    CHECK(source("words.input").second == Confidence::paper);
    CHECK(source("levels[1].stores[1].capacity").second == Confidence::recalled);
    CHECK(source("levels[1].stores[0].capacity") ==
          std::pair(std::string("Somebody said so (once)"), Confidence::recalled));
    CHECK(source("levels[1].fanout.x").first == "Another one");
    CHECK(source("levels[0].stores[0].read_energy").second == Confidence::paper);
}

TEST_CASE("a machine that is written out and read again is the same machine") {
    const AcceleratorFile file = good(kSmall);
    const std::string text = hwdb::write_accelerator(file.machine);
    CAPTURE(text);
    const AcceleratorFile again = good(text);
    CHECK(again.machine.kind == file.machine.kind);
    CHECK(again.machine.name == file.machine.name);
    for (const std::string& field : again.numbers) {
        CAPTURE(field);
        CHECK(*find_provenance(again.machine.provenance, field) ==
              *find_provenance(file.machine.provenance, field));
    }
    CHECK(hwdb::write_accelerator(again.machine) == text);
}

TEST_CASE("a source of any block or number stays its own when the machine is written") {
    for (const std::string_view text : {tests::kSmall, tests::kSmallArray}) {
        const AcceleratorFile file = good(text);
        for (const std::string& place : places_of(file.numbers)) {
            CAPTURE(place);
            model::Machine sourced = file.machine;
            sourced.provenance[place] = {"A book about " + place, Confidence::secondary};
            const AcceleratorFile again = good(hwdb::write_accelerator(sourced));
            for (const std::string& field : again.numbers) {
                CAPTURE(field);
                CHECK(*find_provenance(again.machine.provenance, field) ==
                      *find_provenance(sourced.provenance, field));
            }
        }
    }
}

TEST_CASE("a number without a source is refused, and one without a confidence too") {
    CHECK(finding("source: paper\n", "").code == "missing-source");
    const auto d = finding("confidence: paper\n", "");
    CHECK(d.code == "missing-source");
    CHECK(d.message.find("clock") != std::string::npos);
    CHECK(finding("source: paper\n", "source: papr\n").hint == "did you mean 'paper'?");
    CHECK(finding("confidence: paper\n", "confidence: papper\n").code == "unknown-name");
}

TEST_CASE("bad machines are refused with a place and a hint") {
    CHECK(finding("clock: 200 MHz", "clock: 200").code == "missing-unit");
    CHECK(finding("clock: 200 MHz", "clock: 200 MB").code == "wrong-unit");
    CHECK(finding("clock: 200 MHz", "clock: nan Hz").code == "not-finite");
    CHECK(finding("clock: 200 MHz", "clock: 0 Hz").code == "zero");
    CHECK(finding("clock: 200 MHz", "clock: -1 Hz").code == "negative");
    CHECK(finding("clock: 200 MHz", "clokc: 200 MHz").code == "missing-key");
    CHECK(finding("clock: 200 MHz", "clock: 200 MHz\nclock: 1 Hz").code == "duplicate-key");
    CHECK(finding("capacity: 100 KiB", "capacity: 100 KB").code == "ambiguous-unit");
    CHECK(finding("capacity: 100 KiB", "capacity: 0.3 B").code == "bad-capacity");
    CHECK(finding("capacity: 100 KiB", "capacity: 100 words").code == "ambiguous-unit");
    CHECK(finding("capacity: 100 KiB", "capacity: 9e30 B").code == "bad-capacity");
    CHECK(finding("capacity: 224 words", "capacity: {value: 224 words, valu: 1}").code ==
          "unknown-key");
    CHECK(finding("read: 480 MB/s", "read: 480 MB").code == "wrong-unit");
    CHECK(finding("read: 480 MB/s", "read: 0 MB/s").code == "zero");
    CHECK(finding("read: 480 MB/s", "read: [1]").code == "wrong-type");
    CHECK(finding("fanout: {y: 2", "fanout: {y: 0").code == "out-of-range");
    CHECK(finding("fanout: {y: 2", "fanout: {y: -2").code == "out-of-range");
    CHECK(finding("fanout: {y: 2", "fanout: {y: 1000000000000").code == "out-of-range");
    CHECK(finding("fanout: {y: 2", "fanout: {y: 2.5").code == "not-an-integer");
    CHECK(finding("fanout: {y: 2", "fanout: {a: 1048576, b: 1048576, y: 2").code ==
          "too-many-units");
    CHECK(finding("input: 8 bit", "input: 8.5 bit").code == "bad-word");
    CHECK(finding("input: 8 bit", "input: 1 MB").code == "bad-word");
    CHECK(finding("clock: link, down", "clock: lnik, down").hint == "did you mean 'link'?");
    CHECK(finding("half_duplex: true", "half_duplex: true, up: 1 B/cycle").code == "conflict");
    CHECK(finding("up: unlimited, ", "").code == "missing-key");
    CHECK(finding("cast: unicast", "cast: unicats").hint == "did you mean 'unicast'?");
    CHECK(finding("energy: 6 pJ", "energy: 6 pJ, read_energy: 1 pJ").code == "conflict");
    CHECK(finding("energy: 6 pJ", "energy: -6 pJ").code == "negative");
    CHECK(finding("operands: weight", "operands: wieght").hint == "did you mean 'weight'?");
    CHECK(finding("operands: [input, output]", "operands: [input, input]").code ==
          "duplicate-operand");
    CHECK(finding("{kind: rs, spatial: {x:", "{kind: rs, spatial: {z:").code == "unknown-axis");
    CHECK(finding("kind: rs,", "kind: rss,").hint == "did you mean 'rs'?");
    CHECK(finding("free_banks: 1", "free_banks: -1").code == "out-of-range");
    CHECK(finding("{name: o,", "{name: \"o\\np\",").code == "bad-name");
    CHECK(finding("whole: R", "whole: T").code == "unknown-name");
    CHECK(finding("buffers: 2", "bufers: 2").hint == "did you mean 'buffers'?");
    CHECK(finding("eyeroof: machine/1", "eyeroof: machine/9").code == "unknown-name");
    CHECK(finding("peak: 0.8 GMAC/s", "peak: 0.8 GB/s").code == "wrong-unit");
    CHECK(finding("operands: weight,", "operands: [weight, input],").code == "operand-twice");
}

TEST_CASE("findings of the model's own validation stand at the place that they speak of") {
    const auto d = finding("operands: weight,", "operands: [weight, input],");
    CHECK(d.where.line == 26); // the second store of the buffer
    CHECK(d.field == "levels[1].stores[1]");
}

TEST_CASE("everything that is wrong is reported at once") {
    std::string text = with("clock: 200 MHz", "clock: fast");
    text.replace(text.find("cast: broadcast"), 15, "cast: narrowcast");
    text.replace(text.find("buffers: 2"), 10, "bufers: 2");
    const auto file = read(text);
    REQUIRE_FALSE(file.ok());
    std::vector<std::string> codes;
    for (const auto& d : file.diagnostics()) {
        codes.push_back(d.code);
    }
    CHECK(codes == std::vector<std::string>{"not-a-number", "unknown-key", "unknown-name"});
}

TEST_CASE("a document of another kind is told apart at once") {
    CHECK_FALSE(read("just text").ok());
    CHECK_FALSE(read("[1, 2]").ok());
    CHECK_FALSE(read("layers: []").ok());
    CHECK(finding("kind: accelerator", "kind: gpu").code == "unknown-name");
}

TEST_CASE("two levels cannot have an axis of one name, since dataflows speak of axes by name") {
    CHECK(finding("half_duplex: true, cast: unicast,\n         zero_coding: {packet: 64 bit, "
                  "nonzeros: 3}}\n",
                  "half_duplex: true, cast: unicast}\n    fanout: {x: 3}\n")
              .code == "duplicate-axis");
}

TEST_CASE("operands in one store may name energies of their own, and must all do so") {
    const auto file = good(with("energy: 6 pJ", "energy: {input: 6 pJ, output: 9 pJ}"));
    const auto& store = std::get<Accelerator>(file.machine.kind).levels[1].stores[0];
    CHECK(store.read_pj_of(Operand::input) == 6.0);
    CHECK(store.write_pj_of(Operand::output) == 9.0);
    CHECK(finding("energy: 6 pJ", "energy: {input: 6 pJ}").code == "missing-key");
    CHECK(finding("energy: 6 pJ", "energy: {input: 6 pJ, output: 9 pJ, weight: 1 pJ}").code ==
          "unknown-key");
}

TEST_CASE("leakage comes in watts or by the cycle, and is written back as it is") {
    const auto small = good(kSmall);
    const auto& machine = std::get<Accelerator>(small.machine.kind);
    CHECK(machine.levels[1].stores[1].leak_pj == 10.0); // 2 mW at 200 MHz
    CHECK(machine.mac_leak_pj == 0.25);
    CHECK(machine.gates_idle);
    CHECK(machine.levels[0].stores[0].leak_pj == 0.0);
    CHECK(finding("leakage: 2 mW", "leakage: 2").code == "missing-unit");
    CHECK(finding("leakage: 2 mW", "leakage: 2 pJ").code == "wrong-unit");
    CHECK(finding("leakage: 2 mW", "leakage: -2 mW").code == "negative");
    CHECK(finding("leakage: 2 mW", "leakage: nan W").code == "not-finite");
    CHECK(finding("leakage: 2 mW", "leakage: 1e300 W").code == "bad-energy");
    CHECK(finding("leakage: 2 mW", "leackage: 2 mW").hint == "did you mean 'leakage'?");
}

TEST_CASE("a machine may name its process, in nm, and is written back with it") {
    CHECK(good(kSmall).machine.process_nm == 65.0);
    CHECK(finding("process_nm: 65", "process_nm: 0").field == "process_nm");
    CHECK(finding("process_nm: 65", "process_nm: small").field == "process_nm");
}

TEST_CASE("a vector unit names its level, its ports, and functions that take another time") {
    const auto file = good(kSmall);
    const auto& unit = std::get<model::Accelerator>(file.machine.kind).vector_unit;
    REQUIRE(unit);
    CHECK(unit->lanes == 16);
    CHECK(unit->level == 1);
    CHECK(unit->read_bytes_per_cycle == 16.0);
    CHECK(unit->write_bytes_per_cycle == 4.8); // at 200 MHz
    CHECK(unit->operation_pj == 0.5);
    CHECK(unit->rates == std::vector<model::VectorRate>{{"softmax", 0.25}, {"gelu", 0.5}});
    CHECK_FALSE(unit->overlaps);
    std::string text(kSmall);
    text.replace(text.find("softmax: 0.25"), 7, "softmix");
    auto document = hwdb::parse_yaml(text, "small.yaml");
    const auto wrong = hwdb::read_accelerator(*document, "small");
    REQUIRE_FALSE(wrong.ok());
    CHECK(wrong.diagnostics().items()[0].hint == "did you mean 'softmax'?");
}

TEST_CASE("an array in memory becomes two levels, a slower clock, and the energy of a MAC") {
    const auto file = good(tests::kSmallArray);
    const auto& machine = std::get<model::Accelerator>(file.machine.kind);
    REQUIRE(machine.array);
    CHECK(machine.array->row_write_cycles == 28.0);
    REQUIRE(machine.levels.size() == 4);
    CHECK(machine.clock_hz == 1e6);                                    // 14 cycles a step
    CHECK(machine.levels[1].channels[0].down_bytes_per_cycle == 28.0); // still 28 MB/s
    CHECK(machine.levels[0].stores[0].leak_pj == near(9.8));           // 14 cycles of 0.7 pJ
    CHECK(machine.levels[2].name == "CIM");
    CHECK(machine.levels[3].name == "CIM cells");
}

TEST_CASE("a link may name a DRAM standard in place of a bandwidth") {
    const auto file = good(tests::kSmallArray);
    const auto& pins = std::get<model::Accelerator>(file.machine.kind).levels[0].channels.front();
    REQUIRE(pins.dram);
    CHECK(*pins.dram == model::DramLink{"ddr4-3200", 2, 64, true});
    CHECK(pins.half_duplex);
    CHECK(pins.down_bytes_per_cycle ==
          tests::near(model::rate_of(*pins.dram).bytes_per_s() / 1e6, 1e-12));
    const auto refused = [](const std::string& from, const std::string& to) {
        std::string text(tests::kSmallArray);
        text.replace(text.find(from), from.size(), to);
        auto document = hwdb::parse_yaml(text, "array.yaml");
        REQUIRE(document.ok());
        return *hwdb::read_accelerator(*document, "array").diagnostics().begin();
    };
    CHECK(refused("ddr4-3200", "ddr4-320").hint.find("ddr4-3200") != std::string::npos);
    CHECK(refused("channels: 2", "channels: 0").field == "levels[0].channels[0].dram.channels");
    CHECK(refused("one_bank_group: true}", "one_bank_group: true, down: 1 GB/s}").code ==
          "unknown-key");
    CHECK(
        refused("        cast: multicast", "        down: 1 GB/s\n        cast: multicast").code ==
        "conflict");
    CHECK(refused("down: 28 MB/s, half_duplex: true", "dram: {standard: hbm2-2000}").code ==
          "dram-inside");
}

TEST_CASE("a link may take its rate from each mapping, which at best is a stream's") {
    const std::string stated = "run: 64 B, one_bank_group: true";
    const auto with = [&](const std::string& to) {
        std::string text(tests::kSmallArray);
        text.replace(text.find(stated), stated.size(), to);
        return text;
    };
    const auto file = good(with("pattern: mapping, layout: channels_last"));
    const auto& pins = std::get<model::Accelerator>(file.machine.kind).levels[0].channels.front();
    REQUIRE(pins.dram);
    CHECK(*pins.dram ==
          model::DramLink{"ddr4-3200", 2, 0, false, true, model::TensorLayout::channels_last});
    CHECK(pins.down_bytes_per_cycle ==
          tests::near(2 * 25.6e9 * (1.0 - 360.0 / 7800.0) / 1e6, 1e-6));
    const auto first_error = [&](const std::string& to) {
        auto document = hwdb::parse_yaml(with(to), "array.yaml");
        REQUIRE(document.ok());
        const auto read = hwdb::read_accelerator(*document, "array");
        REQUIRE_FALSE(read.ok());
        return read.diagnostics().begin()->code;
    };
    CHECK(first_error("pattern: mapping, run: 64 B") == "conflict");
    CHECK(first_error("layout: channels_last") == "conflict");
}

TEST_CASE("a network's topology gives its rates and the energy of a word") {
    const auto file = good(tests::kSmallArray);
    const auto& sums = std::get<model::Accelerator>(file.machine.kind).levels[1].channels[1];
    REQUIRE(sums.wires);
    CHECK(sums.wires->topology == model::WireShape::ring);
    // Three receivers of a ring: two on one side, so that three words take two turns of a link.
    CHECK(sums.down_bytes_per_cycle == near(2.0 * 14.0 * 3.0 / 2.0));
    CHECK(sums.up_bytes_per_cycle == near(2.0 * 14.0)); // added on the way
    CHECK(sums.hop_pj == near(0.5 * 4.0 / 3.0));
    const auto refused = [](const std::string& to) {
        std::string text(tests::kSmallArray);
        const std::string from = "topology: ring";
        text.replace(text.find(from), from.size(), to);
        auto document = hwdb::parse_yaml(text, "array.yaml");
        REQUIRE(document.ok());
        return *hwdb::read_accelerator(*document, "array").diagnostics().begin();
    };
    CHECK(refused("topology: rings").hint == "did you mean 'ring'?");
    CHECK(refused("topology: ring, width: 3").code == "unknown-key");
}

TEST_CASE("an array that cannot be is refused at its own line") {
    const auto refused = [](const std::string& from, const std::string& to) {
        std::string text(tests::kSmallArray);
        text.replace(text.find(from), from.size(), to);
        auto document = hwdb::parse_yaml(text, "array.yaml");
        REQUIRE(document.ok());
        const auto read = hwdb::read_accelerator(*document, "array");
        REQUIRE_FALSE(read.ok());
        return *read.diagnostics().begin();
    };
    CHECK(refused("parallel_rows: 2", "parallel_rows: 5").code == "bad-parallel-rows");
    CHECK(refused("parallel_rows: 2", "parallel_rows: 5").field == "array.parallel_rows");
    CHECK(refused("parallel_rows: 2", "parallel_rows: 5").where.line == 27);
    CHECK(refused("columns_per_adc: 4", "columns_per_adc: 9").code == "bad-adc-share");
    CHECK(refused("columns: 8", "columns: 1").code == "no-weight-fits");
    CHECK(refused("adc_bits: 5", "adc_bits: 0").field == "array.adc_bits");
    CHECK(refused("evaluation_cycles: 3", "evaluation_cycles: 0").code == "bad-cycles");
    CHECK(refused("cell_energy: 0.5 pJ", "cell_energy: 0.5").code == "missing-unit");
    CHECK(refused("clock: 14 MHz", "clock: 14 MHz\nmac_energy: 1 pJ").code == "conflict");
    CHECK(refused("fanout: {macro: 3}", "fanout: {row: 3}").code == "duplicate-axis");
    CHECK(refused("dataflows:", "vector_unit: {lanes: 4, level: DRAM}\ndataflows:").code ==
          "array-vector-unit");
}

} // namespace test_hwdb_accelerator_reader
