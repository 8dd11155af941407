#include "formats/accelforge.hpp"
#include "formats/any_machine.hpp"
#include "formats/catalog.hpp"
#include "formats/maestro.hpp"
#include "formats/network_readers.hpp"
#include "formats/scalesim.hpp"
#include "formats/template.hpp"
#include "formats/timeloop.hpp"
#include "formats/zigzag_hardware.hpp"
#include "hwdb/accelerator_reader.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace test_formats_peer_machines {

using namespace eyeroof;
using namespace eyeroof::model;
using tests::near;
const Accelerator& array_of(const Result<Machine>& machine) {
    REQUIRE(machine.ok());
    return std::get<Accelerator>(machine->kind);
}

TEST_CASE("a SCALE-Sim cfg is a machine of its array, its buffers and its interfaces") {
    const std::string cfg = "[general]\nrun_name = \"mine\"\n[architecture_presets]\n"
                            "ArrayHeight: 32\nArrayWidth: 16\nIfmapSramSzkB: 64\n"
                            "FilterSramSzkB: 32\nOfmapSramSzkB: 8\nDataflow : is\n"
                            "Bandwidth : 10, 12\n[run_presets]\nInterfaceBandwidth: USER\n";
    CHECK(formats::is_scalesim_cfg(cfg));
    const auto machine = formats::parse_scalesim_machine(cfg, "s.cfg");
    const Accelerator& a = array_of(machine);
    CHECK(machine->name == "mine");
    CHECK(mac_units(a) == 512);
    CHECK(a.dataflows.size() == 1);
    CHECK(a.dataflows[0].kind == DataflowKind::is);
    CHECK(store_of(a.levels[1], Operand::weight)->capacity_bytes == 32 * 1024);
    CHECK(store_of(a.levels[1], Operand::weight)->buffers == 2);
    // each tensor has an interface of 10 words of one byte
    CHECK(channel_of(a.levels[0], Operand::input)->down_bytes_per_cycle == near(10.0));
    CHECK(channel_of(a.levels[0], Operand::input) != channel_of(a.levels[0], Operand::weight));

    // the first version's keys; its bandwidth is computed, so that nothing limits
    const std::string first = "[architecture_presets]\nArrayHeight: 8\nArrayWidth: 8\n"
                              "IfmapSramSz: 4\nFilterSramSz: 4\nOfmapSramSz: 4\nBandwidth: 10\n"
                              "[run_presets]\nInterfaceBandwidth: CALC\n";
    const auto old = formats::parse_scalesim_machine(first, "s.cfg");
    CHECK(array_of(old).levels[0].channels.empty());
    CHECK(old.diagnostics().items().front().code == "missing-key"); // the dataflow: a warning
    CHECK_FALSE(formats::parse_scalesim_machine("ArrayHeight: 8\nArrayWidth: 8\n", "s.cfg").ok());
}

TEST_CASE("a topology's rows of commas and headings are passed over, its batch is read") {
    const auto network = formats::parse_scalesim_topology(
        "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
        "Strides, Batch Size,\n,,,,,,,,\nAlexnet,\na,13,13,3,3,64,96,1,2,\nb,5,5,1,1,8,8,1,,\n",
        "t.csv");
    REQUIRE(network.ok());
    REQUIRE(network->layers.size() == 2);
    CHECK(std::get<ConvShape>(network->layers[0].shape).n == 2);
    CHECK(std::get<ConvShape>(network->layers[1].shape).n == 1);
    const auto tabs = formats::parse_scalesim_topology(
        "Layer name\tIFMAP Height\tIFMAP Width\tFilter Height\tFilter Width\tChannels\t"
        "Num Filter\tStrides\t\nb\t13\t13\t3\t3\t64\t96\t1\t\n",
        "t.csv");
    REQUIRE(tabs.ok());
    CHECK(std::get<ConvShape>(tabs->layers[0].shape).k == 96);
}

TEST_CASE("MAESTRO's accelerator is PEs with an L1 each below one L2") {
    const std::string text = "NumPEs: 256\nL1Size: 128\nL2Size: 4096\nNoC_BW: 64\nNoC_NumHops: 1\n";
    CHECK(formats::is_maestro_hardware(text));
    const auto machine = formats::parse_maestro_hardware(text, "hw.m");
    const Accelerator& a = array_of(machine);
    CHECK(mac_units(a) == 256);
    CHECK(a.levels[2].stores[0].capacity_bytes == 128);
    CHECK(a.levels[1].channels[0].down_bytes_per_cycle == near(64.0));
    CHECK(array_of(formats::parse_maestro_hardware("num_pes: 4\nl1_size_cstr: 8\n", "hw.m"))
              .levels[1]
              .fanout[0]
              .size == 4);
    const auto wrong = formats::parse_maestro_hardware("NumPEs: 4\nL3Size: 8\n", "hw.m");
    REQUIRE_FALSE(wrong.ok());
    CHECK(wrong.diagnostics().items()[0].where.line == 2);
    CHECK_FALSE(formats::parse_maestro_hardware("L1Size: 8\n", "hw.m").ok());
}

TEST_CASE("a transposed convolution has a MAC for every input value, tap, and pair of channels") {
    const auto network = formats::parse_maestro(
        "Network U { Layer T { Type: TRCONV Stride { X: 2, Y: 2 } Dimensions { N: 1, N: 1, K: 8, "
        "C: 16, R: 2, S: 2, Y: 14, X: 14 } } }",
        "u.m");
    REQUIRE(network.ok());
    CHECK(network.diagnostics().items().front().code == "duplicate-key"); // equal: a warning
    const Layer& layer = network->layers[0];
    const Work work = work_of(layer).value();
    CHECK(work.macs == 14 * 14 * 2 * 2 * 8 * 16);
    // 28 x 28 outputs of 8 channels
    CHECK(std::get<ConvShape>(layer.shape).h == 28);
    CHECK(parameters_of(layer) == 8 * 16 * 2 * 2);
    Count written = 0;
    for (const TensorUse& tensor : work.tensors) {
        written += tensor.written ? tensor.elements : 0;
    }
    CHECK(written == 28 * 28 * 8);
    CHECK_FALSE(
        formats::parse_maestro("Network U { Layer T { Type: CONV Dimensions { N: 1, N: 2, K: "
                               "8, C: 16, R: 2, S: 2, Y: 14, X: 14 } } }",
                               "u.m")
            .ok());
}

TEST_CASE("a dataflow without layers is read as constraints") {
    const std::string text = "// row stationary\nDataflow { SpatialMap(1,1) Y'; TemporalMap(1,1) "
                             "X'; TemporalMap(16,16) K; TemporalMap(Sz(R),Sz(R)) R; "
                             "Cluster(Sz(R),P); SpatialMap(1,1) R; }";
    CHECK(formats::is_maestro_dataflow(text));
    CHECK_FALSE(formats::parse_maestro(text, "rs.m").ok()); // as a network it is refused
    const auto machine = formats::parse_maestro_hardware("NumPEs: 16\n", "hw.m");
    const auto rules = formats::parse_maestro_dataflow(text, "rs.m", array_of(machine));
    REQUIRE(rules.ok());
    REQUIRE(rules->levels[1].axis_dims);
    CHECK(rules->levels[1].axis_dims->front() == DimSet{Dim::P, Dim::R});
    CHECK(rules->levels[1].order == std::vector<Dim>{Dim::R, Dim::K, Dim::Q, Dim::P});
}

const char* const kZigzag = R"(name: small
memories:
  rf_w:
    size: 16
    r_cost: 0.5
    w_cost: 1
    operands: [I2]
    ports:
      - {name: r, type: read, bandwidth_min: 8, bandwidth_max: 8, allocation: [I2, tl]}
      - {name: w, type: write, bandwidth_min: 8, bandwidth_max: 8, allocation: [I2, fh]}
    served_dimensions: []
  acc:
    size: 64
    r_cost: 2
    w_cost: 2
    operands: [O]
    ports:
      - {name: rw, type: read_write, bandwidth_min: 16, bandwidth_max: 16, allocation: [O, tl]}
    served_dimensions: [D2]
  sram:
    size: 80000
    r_cost: 64
    w_cost: 128
    operands: [I1, O]
    ports:
      - {name: r, type: read, bandwidth_min: 64, bandwidth_max: 128, allocation: [I1, tl]}
      - {name: w, type: write, bandwidth_min: 64, bandwidth_max: 128, allocation: [O, fl]}
    served_dimensions: [D1, D2]
  dram:
    size: 10000000000
    r_cost: 640
    w_cost: 640
    operands: [I1, I2, O]
    ports:
      - {name: rw, type: read_write, bandwidth_min: 64, bandwidth_max: 64, allocation: [O, tl]}
    served_dimensions: [D1, D2]
operational_array:
  unit_energy: 0.25
  dimensions: [D1, D2]
  sizes: [4, 8]
)";

TEST_CASE("ZigZag's memories become levels by the dimensions that they serve") {
    CHECK(formats::is_zigzag_hardware(kZigzag));
    const auto machine = formats::parse_zigzag_hardware(kZigzag, "small.yaml");
    const Accelerator& a = array_of(machine);
    CHECK(mac_units(a) == 32);
    CHECK(a.mac_pj == near(0.25));
    REQUIRE(a.levels.size() == 4); // DRAM, SRAM, accumulators of each row, registers
    CHECK(a.levels[1].fanout == std::vector<Axis>{{"D1", 4}});
    CHECK(a.levels[2].fanout == std::vector<Axis>{{"D2", 8}});
    CHECK(instances_of(a, 2) == 4);
    const Store& sram = a.levels[1].stores[0];
    CHECK(sram.capacity_bytes == 10000);
    CHECK(sram.read_bytes_per_cycle == near(16.0));
    CHECK(sram.read_pj_of(Operand::input) == near(64.0 / 128 * 8));
    CHECK(sram.write_pj_of(Operand::output) == near(128.0 / 128 * 16)); // words of 16 bit
    CHECK(channel_of(a.levels[0], Operand::weight)->half_duplex);
}

TEST_CASE("a word, a key, or an axis that ZigZag's hardware does not have is an error") {
    constexpr std::pair<const char*, const char*> wrong[] = {
        {"type: read,", "type: teleport,"},
        {"{name: r, type", "{name: r, flavor: 3, type"},
        {"served_dimensions: [D2]", "served_dimensions: [D3]"},
        {"sizes: [4, 8]", "sizes: [4]"},
        {"sizes: [4, 8]", "sizes: [4, 8]\ndataflows: {D9: [\"K, 4\"]}"}};
    for (const auto& [old, other] : wrong) {
        CAPTURE(other);
        std::string text = kZigzag;
        text.replace(text.find(old), std::string_view(old).size(), other);
        CHECK_FALSE(formats::parse_zigzag_hardware(text, "small.yaml").ok());
    }
    CHECK_FALSE(formats::parse_maestro_hardware("NumPEs: 4\nL1Size: 8\nL1Size: 9\n", "h.m").ok());
}

TEST_CASE("ZigZag's sums are as wide as the innermost memory of outputs takes in at a time") {
    const auto bits = [](const std::string& width) {
        std::string text = kZigzag;
        const std::string own = "bandwidth_min: 16, bandwidth_max: 16";
        text.replace(text.find(own), own.size(),
                     "bandwidth_min: " + width + ", bandwidth_max: " + width);
        const auto machine = formats::parse_zigzag_hardware(text, "small.yaml");
        return array_of(machine).word_bits[index(Operand::output)];
    };
    CHECK(bits("16") == 16);
    CHECK(bits("32") == 32);
    CHECK(bits("24") == 24);
}

TEST_CASE("results leave ZigZag's outermost memory with the energy of their own width") {
    const auto machine = formats::parse_zigzag_hardware(kZigzag, "small.yaml");
    const Level& dram = array_of(machine).levels[0];
    REQUIRE(dram.word_bits[index(Operand::output)] == 8); // sums have 16
    const Store& store = dram.stores[0];
    CHECK(store.write_pj_of(Operand::output) ==
          near(store.write_pj_of(Operand::input))); // of 8 bits each
}

TEST_CASE("a ZigZag memory that serves fewer axes than one within it stays outside") {
    const char* const two = R"(name: two
memories:
  sram: {size: 80000, r_cost: 1, w_cost: 1, area: 0, latency: 1, operands: [I1, I2, O],
    ports: [{name: a, type: read_write, bandwidth_min: 64, bandwidth_max: 64, allocation: []}],
    served_dimensions: [D1, D2]}
  dram: {size: 8000000, r_cost: 9, w_cost: 9, area: 0, latency: 1, operands: [I1, I2, O],
    ports: [{name: a, type: read_write, bandwidth_min: 64, bandwidth_max: 64, allocation: []}],
    served_dimensions: [D1]}
operational_array: {unit_energy: 1, dimensions: [D1, D2], sizes: [4, 8]}
)";
    const auto machine = formats::parse_zigzag_hardware(two, "two.yaml");
    const Accelerator& a = array_of(machine);
    REQUIRE(a.levels.size() == 2);
    CHECK(a.levels[0].name == "dram");
    CHECK(a.levels[1].name == "sram");
}

TEST_CASE("stores along two axes that cross are taken as one, with a warning") {
    std::string text = kZigzag;
    text.replace(text.find("    served_dimensions: []"), 25, "    served_dimensions: [D1]");
    const auto machine = formats::parse_zigzag_hardware(text, "small.yaml");
    REQUIRE(machine.ok());
    const auto found = std::count_if(machine.diagnostics().begin(), machine.diagnostics().end(),
                                     [](const Diagnostic& d) { return d.code == "shared-store"; });
    CHECK(found == 1);
}

TEST_CASE("a system whose cores are not beside it names each file that is missing") {
    const auto system = formats::parse_zigzag_hardware(
        "name: quad\ncores:\n  - a.yaml\n  - b.yaml\n  - off.yaml\nbus:\n  bandwidth: 32\n  "
        "offchip_core_id: 2\n",
        "quad.yaml");
    REQUIRE_FALSE(system.ok());
    REQUIRE(system.diagnostics().items().size() >= 2);
    CHECK(system.diagnostics().items()[0].code == "file-not-found");
    CHECK(system.diagnostics().items()[0].where.file == "a.yaml");
    CHECK(system.diagnostics().items()[1].where.file == "b.yaml");
}

TEST_CASE("a system of several cores that compute is refused by their number") {
    const auto folder = std::filesystem::temp_directory_path() / "eyeroof_test_dual_core";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "core.yaml") << kZigzag;
    const auto system = formats::parse_zigzag_hardware(
        "name: dual\ncores:\n  - core.yaml\n  - core.yaml\nbus:\n  bandwidth: 32\n",
        (folder / "dual.yaml").string());
    std::filesystem::remove_all(folder);
    REQUIRE_FALSE(system.ok());
    CHECK(system.diagnostics().items()[0].message ==
          "this system has 2 cores that compute products");
}

const char* const kForge = R"(arch:
  nodes:
  - !Memory
    name: Main
    size: inf
    actions:
    - {name: read, energy: 7e-12, throughput: 8 * 32e9}
    - {name: write, energy: 8e-12, throughput: 8 * 32e9}
    tensors: {keep: ~Intermediates, may_keep: All}
  - !Memory
    name: Buffer
    size: 1024*64*8
    total_latency: max(a.n_calls / a.throughput for a in actions)
    actions:
    - {name: read, energy: 1e-12, throughput: 512e9}
    - {name: write, energy: 2e-12, throughput: 128e9}
    tensors: {keep: All}
  - !Container
    name: PE
    spatial:
    - {name: reuse_input, fanout: 4, reuse: input}
    - {name: reuse_output, fanout: 8, reuse: output}
  - !Memory
    name: Register
    size: weight.bits_per_value if weight else 1
    tensors: {keep: weight}
  - !Compute
    name: MAC
    actions:
    - {name: compute, energy: 0.5e-12, throughput: 2e9}
)";

TEST_CASE("an AccelForge architecture counts bits, joules and seconds") {
    CHECK(formats::is_accelforge_arch(kForge));
    const auto machine = formats::parse_accelforge_arch(kForge, "f.yaml");
    const Accelerator& a = array_of(machine);
    CHECK(a.clock_hz == near(2e9));
    CHECK(mac_units(a) == 32);
    CHECK(a.mac_pj == near(0.5));
    CHECK(a.levels[0].stores[0].read_pj_of(Operand::input) == near(7.0 * 8));
    CHECK(a.levels[0].stores[0].read_bytes_per_cycle == near(16.0));
    CHECK(a.levels[1].stores[0].capacity_bytes == 64 * 1024);
    CHECK(a.levels[1].stores[0].write_bytes_per_cycle == near(8.0));
    CHECK_FALSE(a.levels[1].stores[0].may_bypass);
    CHECK(a.levels[2].stores[0].operands == OperandSet{Operand::weight});
    CHECK(a.levels[2].stores[0].capacity_bytes == 1);
    // what reuses the input has the dimensions that the input has not
    CHECK(a.dataflows[0].spatial[0].dims == DimSet{Dim::K});
    CHECK(a.dataflows[0].spatial[1].dims == DimSet{Dim::C, Dim::R, Dim::S});
}

TEST_CASE("a machine of any other tool is written as a file that reads as the same machine") {
    const std::pair<const char*, Result<Machine>> machines[] = {
        {"SCALE-Sim", formats::parse_scalesim_machine("[architecture_presets]\nArrayHeight: 32\n"
                                                      "ArrayWidth: 16\nIfmapSramSzkB: 64\n"
                                                      "FilterSramSzkB: 32\nOfmapSramSzkB: 8\n"
                                                      "Dataflow : is\nBandwidth : 10\n",
                                                      "s.cfg")},
        {"MAESTRO", formats::parse_maestro_hardware(
                        "NumPEs: 256\nL1Size: 128\nL2Size: 4096\nNoC_BW: 64\n", "hw.m")},
        {"ZigZag", formats::parse_zigzag_hardware(kZigzag, "z.yaml")},
        {"AccelForge", formats::parse_accelforge_arch(kForge, "f.yaml")},
        {"Timeloop",
         formats::parse_timeloop_architecture(
             "arch:\n  arithmetic: {name: MACs, instances: 6, meshX: 3, word_bits: 16}\n"
             "  storage:\n"
             "  - {name: Spad, entries: 24, instances: 6, meshX: 3, word_bits: 16, "
             "read_bandwidth: 2, vector_access_energy: 1}\n"
             "  - {name: DRAM, technology: DRAM, instances: 1, word_bits: 16, "
             "vector_access_energy: 200}\n",
             "t.yaml")}};
    for (const auto& [tool, machine] : machines) {
        CAPTURE(tool);
        Accelerator original = array_of(machine);
        auto document = hwdb::parse_yaml(hwdb::write_accelerator(*machine), "again.yaml");
        REQUIRE(document.ok());
        const auto again = hwdb::read_accelerator(*document, "again");
        REQUIRE(again.ok());
        const auto& read = std::get<Accelerator>(again->machine.kind);
        if (original.dataflows.empty()) { // written as the rules that leave all open
            REQUIRE(read.dataflows.size() == 1);
            CHECK(read.dataflows[0].spatial.size() == 2);
            CHECK(read.dataflows[0].spatial[0].dims.size() == static_cast<int>(kDims));
            original.dataflows = read.dataflows;
        }
        CHECK(read == original);
        CHECK(again->machine.provenance == machine->provenance);
    }
}

TEST_CASE("a name without a value in an AccelForge node is named, whatever else the file holds") {
    std::string text = kForge;
    text.replace(text.find("    size: weight"), 0, "    actions_scale: n_slices\n");
    for (char key = 'a'; key < 'k'; ++key) {
        text += std::string("included_") + key + ": 1\n";
    }
    const auto machine = formats::parse_accelforge_arch(text, "f.yaml");
    REQUIRE_FALSE(machine.ok());
    CHECK(machine.diagnostics().items()[0].message ==
          "this value is not read: in 'n_slices': 'n_slices' has no value");
    CHECK(machine.diagnostics().items()[0].where.line > 20);
}

TEST_CASE("AccelForge's einsums become layers that know who reads whom") {
    const std::string text = R"(workload:
  rank_sizes:
    {% set TOKENS = TOKENS | default(16) %}
    B: 2
    M: {{TOKENS}}
    P: {{TOKENS}}
    H: 4
    E: 8
    D: 32
  bits_per_value: {All: 8}
  einsums:
  - {einsum: "I[b, m, d] = I_in[b, m, d]", is_copy_operation: True}
  - "Q[b, m, h, e] = I[b, m, d] * WQ[h, e, d]"
  - "K[b, m, h, e] = I[b, m, d] * WK[h, e, d]"
  - "QK[b, m, p, h] = Q[b, m, h, e] * K[b, M: p, h, e]"
  - "QK_softmax[b, m, p, h] = QK[b, m, p, h]"
)";
    CHECK(formats::is_accelforge_workload(text));
    CHECK(formats::network_reader_of(text)->name == "accelforge");
    const auto made = formats::parse_accelforge_workload(text, "w.yaml");
    REQUIRE(made.ok());
    const auto& layers = made->network.layers;
    REQUIRE(layers.size() == 4); // the copy runs nothing
    CHECK(work_of(layers[0])->macs == 2 * 16 * 4 * 8 * 32);
    CHECK(work_of(layers[2])->macs == 2 * 16 * 16 * 4 * 8);
    CHECK(layers[3].op == Op::softmax);
    CHECK(made->edges->steps[2].reads == std::vector<std::size_t>{0, 1});
    CHECK(made->edges->steps[3].output);
    const auto more = formats::parse_accelforge_workload(text, "w.yaml", {{"TOKENS", 32.0}});
    CHECK(work_of(more->network.layers[2])->macs == 2 * 32 * 32 * 4 * 8);

    const auto conv = formats::parse_accelforge_workload(
        "workload:\n  einsums:\n  - einsum: \"T[p, q, m] = I[c, H: p * 2 + r, W: q * 2 + s] * "
        "W[r, s, c, m]\"\n    iteration_space_shape: [0 <= p < 7, 0 <= q < 7, 0 <= m < 8, 0 <= c "
        "< 3, 0 <= r < 3, 0 <= s < 3]\n",
        "w.yaml");
    REQUIRE(conv.ok());
    const auto& shape = std::get<ConvShape>(conv->network.layers[0].shape);
    CHECK(shape.stride == Extent2{2, 2});
    CHECK(shape.h == 15);
    const auto lost = formats::parse_accelforge_workload(
        "workload:\n  einsums:\n  - \"T[m] = I[m, k] * W[k]\"\n", "w.yaml");
    REQUIRE_FALSE(lost.ok());
    CHECK(lost.diagnostics().items()[0].message == "variable m of T has no size");
}

TEST_CASE("templates are expanded, and what they hold is placed in the file it stands in") {
    const auto folder = std::filesystem::temp_directory_path() / "eyeroof_test_templates";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "base.yaml")
        << "base_ignore: &base\n  instance: {N: BATCH_SIZE, C: 1, M: 1, X: BITS}\n  shape:\n"
           "    dimensions: [N, C, M, X]\n    data_spaces:\n"
           "    - {name: Weights, projection: [[[C]], [[M]]]}\n"
           "    - {name: Inputs, projection: [[[N]], [[C]], [[X]]]}\n"
           "    - {name: Outputs, projection: [[[N]], [[M]]], read_write: true}\n";
    const std::string file = (folder / "layer.yaml").string();
    const std::string text = "# {{ what stands in a comment stays }}\n"
                             "{{include_text('base.yaml')}}\nproblem:\n  <<<: *base\n"
                             "  instance: {C: {{16 * 2}}, M: 8}\n  name: fc\n  histograms: {}\n";
    CHECK(formats::timeloop_has(text, formats::TimeloopKind::problem));
    const auto problem = formats::parse_timeloop_problem(text, file);
    REQUIRE(problem.ok());
    CHECK(work_of(problem->network.layers[0])->macs == 32 * 8);
    bool placed = false;
    for (const Diagnostic& d : problem.diagnostics()) {
        placed = placed || (d.where.file.ends_with("base.yaml") && d.where.line == 2);
    }
    CHECK(placed);
    std::filesystem::remove_all(folder);

    const auto lost =
        formats::parse_timeloop_problem("{{include_text('gone.yaml')}}\nproblem: {}\n", "x.yaml");
    REQUIRE_FALSE(lost.ok());
    CHECK(lost.diagnostics().items()[0].code == "file-not-found");
}

TEST_CASE("loops, conditions and defaults of templates are those of Jinja") {
    const auto made = formats::expand_template(
        "{% set N = N | default(3) %}{% for i in range(N) %}{% if i == 1 %}b{% else %}a{{i}}"
        "{% endif %}{% endfor %}{# gone #}{% if X is defined %}x{% endif %}\n",
        "t.yaml");
    REQUIRE(made.ok());
    CHECK(made->text == "a0ba2\n");
    CHECK(formats::expand_template("{% for i in range(2) %}\n{{N + i}}{% endfor %}", "t",
                                   {{"N", 5.0}})
              ->text == "\n5\n6");
    for (const char* wrong :
         {"{{ N }}", "{% for i in range(3) %}", "{% macro x() %}", "{{ a | b }}", "{% endfor %}",
          "{{ 'x' + }}", "{{include_text('/etc/passwd')}}"}) {
        CAPTURE(wrong);
        const auto read = formats::expand_template(std::string(wrong) + "{{1}}", "t.yaml");
        CHECK_FALSE(read.ok());
        CHECK(read.diagnostics().items()[0].where.line == 1);
    }
    const auto endless = formats::expand_template(
        "{% for i in range(99999) %}{% for j in range(99999) %}x{% endfor %}{% endfor %}", "t");
    REQUIRE_FALSE(endless.ok());
    CHECK(endless.diagnostics().items()[0].code == "too-large");
}

TEST_CASE("a dot product is read, a dimension of one tensor alone only with a size of 1") {
    const std::string head = "problem:\n  shape:\n    dimensions: [K, M]\n    data_spaces:\n"
                             "      - {name: A, projection: [[[K]]]}\n"
                             "      - {name: B, projection: [[[K]]]}\n"
                             "      - {name: Z, projection: [[[M]]], read_write: True}\n"
                             "  instance: {K: 16, M: ";
    const auto dot = formats::parse_timeloop_problem(head + "1}\n", "dot.yaml");
    REQUIRE(dot.ok());
    CHECK(work_of(dot->network.layers[0])->macs == 16);
    CHECK_FALSE(formats::parse_timeloop_problem(head + "2}\n", "dot.yaml").ok());
}

} // namespace test_formats_peer_machines
