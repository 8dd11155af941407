// Every reader of a file has a fuzz target: what others wrote reaches no code that was not tried
// with broken bytes. The readers are found by their names in the headers, so that a new one without
// a target fails here.
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace test_architecture_fuzzed_readers {

namespace fs = std::filesystem;

namespace {

// Of each function that turns text or a file into values: the target that drives it.
const std::map<std::string, std::string> kTargets = {{"convert_model", "onnx"},
                                                     {"parse_onnx", "onnx"},
                                                     {"load_onnx", "onnx"},
                                                     {"read_tensor", "onnx"},
                                                     {"read_graph", "onnx"},
                                                     {"import_file", "profile_import"},
                                                     {"import_profile", "profile_import"},
                                                     {"load_trace_network", "profile_import"},
                                                     {"read_trace_events", "profile_import"},
                                                     {"read_library_log", "profile_import"},
                                                     {"read_profile", "profile_file"},
                                                     {"read_accelerator", "machine_yaml"},
                                                     {"load_machine", "machine_yaml"},
                                                     {"load_machine_file", "machine_yaml"},
                                                     {"load_any_machine", "any_file"},
                                                     {"load_sparse_machine", "machine_yaml"},
                                                     {"load_host", "machine_yaml"},
                                                     {"read_gpu", "gpu_yaml"},
                                                     {"read_calibration", "calibration"},
                                                     {"load_calibration", "calibration"},
                                                     {"read_kernels", "calibration"},
                                                     {"load_kernels", "calibration"},
                                                     {"read_fabric", "fabric_yaml"},
                                                     {"load_fabric", "fabric_yaml"},
                                                     {"read_engine", "fabric_yaml"},
                                                     {"load_engine", "fabric_yaml"},
                                                     {"read_technology", "technology_yaml"},
                                                     {"load_technology", "technology_yaml"},
                                                     {"load_claim", "claim_yaml"},
                                                     {"read_claim", "claim_yaml"},
                                                     {"parse_claim", "claim_yaml"},
                                                     {"load_published", "published_yaml"},
                                                     {"load_all_published", "published_yaml"},
                                                     {"read_prices", "price_yaml"},
                                                     {"load_prices", "price_yaml"},
                                                     {"read_transfer", "transfer_yaml"},
                                                     {"load_transfer", "transfer_yaml"},
                                                     {"parse_timeloop_mapping", "timeloop"},
                                                     {"parse_timeloop_problem", "timeloop"},
                                                     {"read_component", "timeloop"},
                                                     {"parse_layer_csv", "layer_csv"},
                                                     {"load_layer_csv", "layer_csv"},
                                                     {"parse_network_yaml", "network_yaml"},
                                                     {"parse_network_head", "network_yaml"},
                                                     {"load_network_head", "network_yaml"},
                                                     {"load_network", "any_file"},
                                                     {"read_hf_config", "any_file"},
                                                     {"load_wired_network", "network_yaml"},
                                                     {"parse_maestro", "maestro"},
                                                     {"parse_zigzag", "zigzag"},
                                                     {"parse_zigzag_hardware", "peer_machines"},
                                                     {"load_zigzag_hardware", "peer_machines"},
                                                     {"read_zigzag_core", "peer_machines"},
                                                     {"parse_stream_system", "peer_machines"},
                                                     {"parse_accelforge_arch", "peer_machines"},
                                                     {"parse_accelforge_workload", "peer_machines"},
                                                     {"parse_scalesim_machine", "peer_machines"},
                                                     {"read_equation", "peer_machines"},
                                                     {"read_accesses", "peer_machines"},
                                                     {"parse_maestro_hardware", "peer_machines"},
                                                     {"parse_maestro_dataflow", "peer_machines"},
                                                     {"parse_scalesim_cfg", "scalesim"},
                                                     {"parse_scalesim_topology", "scalesim"},
                                                     {"load_scalesim_cfg", "scalesim"},
                                                     {"parse_mapping_yaml", "mapping_yaml"},
                                                     {"load_mapping", "mapping_yaml"},
                                                     {"parse_mapping", "mapping_yaml"},
                                                     {"parse_scenario", "scenario"},
                                                     {"parse_json", "scenario"},
                                                     {"parse_session", "session"},
                                                     {"load_session", "session"},
                                                     {"parse_ceilings", "ceilings"},
                                                     {"load_ceilings", "ceilings"},
                                                     {"parse_metric_family", "metric_family"},
                                                     {"read_metric_families", "metric_family"},
                                                     {"parse_assignments", "assignments"},
                                                     {"load_assignments", "assignments"},
                                                     {"parse_densities", "densities"},
                                                     {"load_densities", "densities"},
                                                     {"parse_package", "package_yaml"},
                                                     {"load_package", "package_yaml"},
                                                     {"parse_area_table", "area_table"},
                                                     {"read_area_table", "area_table"},
                                                     {"parse_pairs", "measured_tables"},
                                                     {"parse_requests", "measured_tables"},
                                                     {"load_pairs", "measured_tables"},
                                                     {"parse_networks", "measured_tables"},
                                                     {"parse_kernel_rows", "measured_tables"},
                                                     {"read_kernel_rows", "measured_tables"},
                                                     {"parse_clusters", "measured_tables"},
                                                     {"parse_evidence", "measured_tables"},
                                                     {"load_evidence", "measured_tables"},
                                                     {"read_fleet", "fleet_yaml"},
                                                     {"load_networks", "measured_tables"},
                                                     {"parse_trials", "trials"},
                                                     {"load_trials", "trials"},
                                                     {"load_logs", "trials"},
                                                     {"parse_gate", "condition"},
                                                     {"parse_note", "sweep_note"},
                                                     {"request_from_text", "collect_text"},
                                                     {"fault_from_text", "collect_text"}};

// Those that read a few words which the caller typed, give bytes to a reader above, or read nothing
// but what another of them made.
const std::map<std::string, std::string> kNoFiles = {
    {"parse_aims", "words of an option"},
    {"parse_days", "words of an option; in fleet files they are fuzzed"},
    {"parse_number", "words of an option; in fleet files they are fuzzed"},
    {"parse_co2", "words of an option; see parse_number"},
    {"parse_offer", "words of an option; in fleet files they are fuzzed"},
    {"parse_rate", "words of an option; in fleet files they are fuzzed"},
    {"parse_share", "words of an option; in fleet files they are fuzzed"},
    {"parse_usd", "words of an option; in fleet files they are fuzzed"},
    {"parse_watts", "words of an option; in fleet files they are fuzzed"},
    {"parse_usd_per", "words of an option; in fleet files they are fuzzed"},
    {"parse_years", "words of an option; in fleet files they are fuzzed"},
    {"parse_change", "words of an option"},
    {"parse_devices", "words of an option"},
    {"parse_objective", "words of an option"},
    {"parse_quantity", "a number with its unit; in the files of machines it is fuzzed with them"},
    {"parse_quantity_any_case", "a number with its unit"},
    {"parse_value", "words of an option"},
    {"parse_vary", "words of an option"},
    {"read_batches", "words of an option"},
    {"read_types", "words of an option"},
    {"types_from_text", "a cell of tables that are fuzzed"},
    {"read_text_file", "bytes as they are"},
    {"parse_rows", "the name of a format of rows"},
    {"load_workload", "calls the readers of networks"},
    {"load_issue", "calls the reader of machines"},
    {"load_constraints", "calls the readers of machines and Timeloop's files"},
    {"merge_sweep", "compares and copies rows; the notes that it trusts are fuzzed"}};

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Names of functions that take text, a path or bytes, with the header of each.
std::map<std::string, std::string> readers() {
    static const std::regex declared(
        "\\b((?:parse|read|load|import|merge)_[a-z_0-9]+|[a-z_]+_from_(?:text|yaml|csv|json))"
        "\\(([^;{]*?)\\)\\s*(?:const)?;");
    static const std::regex takes_text(
        "string_view|std::string\\b|path|ByteSource|istream|Document|Folders");
    std::map<std::string, std::string> found;
    const fs::path root = eyeroof::tests::source_dir();
    for (const char* module :
         {"base", "model", "hwdb", "profiles", "mapper", "formats", "analysis", "report", "cli"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / module)) {
            if (entry.path().extension() != ".hpp") {
                continue;
            }
            const std::string text = text_of(entry.path());
            for (std::sregex_iterator match(text.begin(), text.end(), declared), end; match != end;
                 ++match) {
                if (std::regex_search((*match)[2].str(), takes_text)) {
                    found.emplace((*match)[1], fs::relative(entry.path(), root).string());
                }
            }
        }
    }
    return found;
}

std::set<std::string> fuzz_targets() {
    std::set<std::string> names;
    for (const auto& entry :
         fs::directory_iterator(fs::path(eyeroof::tests::source_dir()) / "tests/fuzz")) {
        const std::string name = entry.path().stem().string();
        if (name.starts_with("fuzz_") && entry.path().extension() == ".cpp") {
            names.insert(name.substr(5));
        }
    }
    return names;
}

} // namespace

TEST_CASE("every reader of a file has a fuzz target") {
    const auto found = readers();
    const auto targets = fuzz_targets();
    CHECK(found.size() > 50); // else they are called otherwise now
    for (const auto& [name, header] : found) {
        CAPTURE(name);
        CAPTURE(header);
        const auto target = kTargets.find(name);
        const bool known = target != kTargets.end() || kNoFiles.contains(name);
        CHECK_MESSAGE(known, "write tests/fuzz/fuzz_*.cpp for it, and name it above");
        if (target != kTargets.end()) {
            CHECK(targets.contains(target->second));
        }
    }
}

TEST_CASE("every fuzz target drives a reader, from seeds, with the words of its format") {
    const fs::path fuzz = fs::path(eyeroof::tests::source_dir()) / "tests/fuzz";
    std::set<std::string> driven;
    for (const auto& [name, target] : kTargets) {
        driven.insert(target);
    }
    for (const std::string& target : fuzz_targets()) {
        CAPTURE(target);
        CHECK(driven.contains(target));
        const auto seeds = fs::directory_iterator(fuzz / "corpus" / target);
        CHECK(std::distance(begin(seeds), end(seeds)) >= 3);
        CHECK(text_of(fuzz / "dictionaries" / (target + ".dict")).find('"') != std::string::npos);
    }
}

} // namespace test_architecture_fuzzed_readers
