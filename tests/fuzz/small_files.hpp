// What must hold for any text that is given as densities, a package, a fleet, a table of areas, a
// claim, or a note of a sweep.
// Used by the fuzz targets and by the test that replays their corpora.
#pragma once

#include "analysis/chip/area_table.hpp"
#include "analysis/claims/claims.hpp"
#include "analysis/cores/package.hpp"
#include "analysis/sparse/densities.hpp"
#include "analysis/sweep/sweep_file.hpp"
#include "analysis/upgrade/fleet_file.hpp"
#include "tests/fuzz/own_files.hpp"

#include <string>

namespace eyeroof::tests {

inline std::string broken_promise_densities(const std::string& text) {
    const auto table = analysis::parse_densities(text, "fuzz.yaml");
    if (!table) {
        return badly_refused(table);
    }
    for (const analysis::LayerDensity& layer : table->layers) {
        if (!(layer.weight >= 0.0 && layer.weight <= 1.0 && layer.output >= 0.0 &&
              layer.output <= 1.0)) {
            return "a density outside 0 to 1";
        }
    }
    return "";
}

// Without folders: parametric machines alone are found.
inline std::string broken_promise_package_yaml(const std::string& text) {
    const auto package = analysis::parse_package(text, "fuzz.yaml", {});
    if (!package) {
        return badly_refused(package);
    }
    std::size_t cores = 0;
    for (const analysis::CoreKind& kind : package->kinds) {
        cores += kind.count;
    }
    return cores >= 1 && cores <= analysis::kMostCores ? "" : "no cores, or more than there may be";
}

inline std::string broken_promise_fleet_yaml(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "fuzz.yaml");
    if (!document) {
        return badly_refused(document);
    }
    const auto fleet = analysis::read_fleet(*document);
    return fleet && (fleet->runs.empty() || fleet->offers.empty()) ? "runs or candidates are none"
                                                                   : badly_refused(fleet);
}

inline std::string broken_promise_area_table(const std::string& text) {
    const auto areas = analysis::parse_area_table(text, "fuzz.yaml");
    if (!areas) {
        return badly_refused(areas);
    }
    for (const analysis::NamedArea& area : *areas) {
        if (!(area.um2 >= 0.0 && area.instances >= 1.0)) {
            return "an area below nothing, or of no instance";
        }
    }
    return areas->empty() ? "a table without areas" : "";
}

// A claim that is read is judged or refused, whatever its commands would answer.
inline std::string broken_promise_claim_yaml(const std::string& text) {
    const auto claim = formats::parse_claim(text, "t.yaml");
    if (!claim) {
        return badly_refused(claim);
    }
    analysis::claims::Answers answers;
    for (const formats::ClaimRun& run : claim->runs) {
        const auto added =
            answers.add(run.name, R"({"a": [{"b": 1, "c": "x"}, {"b": 0}], "d": 2})");
        if (!added) {
            return "an answer is not read";
        }
    }
    const auto found = analysis::claims::judge(*claim, answers);
    return found ? "" : badly_refused(found);
}

inline std::string broken_promise_sweep_note(const std::string& text) {
    const auto note = analysis::parse_note(text, "fuzz.sweep");
    if (!note) {
        return badly_refused(note);
    }
    const auto again = analysis::parse_note(analysis::note_text(*note), "again");
    return again && *again == *note ? "" : "written and read again, it differs";
}

} // namespace eyeroof::tests
