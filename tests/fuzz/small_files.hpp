// What must hold for any text that is given as one of the smaller files: assignments, densities,
// tables of areas, fabrics, technologies, published figures, notes of sweeps, and what a profiled
// program and its collector tell each other.
// Used by the fuzz targets and by the test that replays their corpora.
#pragma once

#include "analysis/claims/claims.hpp"
#include "analysis/cores/package.hpp"
#include "analysis/silicon/area_table.hpp"
#include "analysis/sparse/densities.hpp"
#include "analysis/sweep/sweep_file.hpp"
#include "analysis/upgrade/fleet_file.hpp"
#include "formats/assignments.hpp"
#include "hwdb/fabric_reader.hpp"
#include "hwdb/published_reader.hpp"
#include "hwdb/technology_reader.hpp"
#include "hwdb/transfer_reader.hpp"
#include "profiles/collect/fault.hpp"
#include "profiles/collect/request.hpp"
#include "tests/fuzz/own_files.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace eyeroof::tests {

// A text that readers of files can open; nothing lies on a disk.
class TextAsFile {
  public:
    explicit TextAsFile(const std::string& text) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
        whole_ = file_ >= 0 &&
                 ::write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    }
    TextAsFile(const TextAsFile&) = delete;
    TextAsFile& operator=(const TextAsFile&) = delete;
    ~TextAsFile() {
        if (file_ >= 0) {
            ::close(file_);
        }
    }
    bool whole() const { return whole_; }
    std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

  private:
    int file_;
    bool whole_ = false;
};

inline std::string broken_promise_assignments(const std::string& text) {
    return badly_refused(formats::parse_assignments(text, "fuzz.yaml"));
}

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

inline std::string broken_promise_fabric_yaml(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "fuzz.yaml");
    return document ? badly_refused(hwdb::read_fabric(*document, "fuzz")) : badly_refused(document);
}

inline std::string broken_promise_technology_yaml(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "fuzz.yaml");
    return document ? badly_refused(hwdb::read_technology(*document)) : badly_refused(document);
}

inline std::string broken_promise_transfer_yaml(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "fuzz.yaml");
    if (!document) {
        return badly_refused(document);
    }
    const auto transfer = hwdb::read_transfer(*document);
    if (!transfer) {
        return badly_refused(transfer);
    }
    auto again = hwdb::parse_yaml(hwdb::write_transfer(*transfer), "again.yaml");
    return again && hwdb::read_transfer(*again).ok() ? "" : "what was written is not read";
}

inline std::string broken_promise_published_yaml(const std::string& text) {
    const TextAsFile file(text);
    return file.whole() ? badly_refused(hwdb::load_published(file.path())) : "";
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

inline std::string broken_promise_collect_text(const std::string& text) {
    const auto fault = profiles::fault_from_text(text);
    if (fault && !(profiles::fault_from_text(profiles::fault_text(*fault)) == fault)) {
        return "a fault that is written and read again differs";
    }
    const auto request = profiles::request_from_text(text);
    if (!request) {
        return badly_refused(request);
    }
    return profiles::request_from_text(profiles::request_text(*request)).ok()
               ? ""
               : "a request that is written is not read";
}

} // namespace eyeroof::tests
