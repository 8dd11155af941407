// What must hold for any text that is given as one of eyeroof's own smaller files: constants,
// sessions, scenarios, ceilings, counters, assignments, tables of pairs and networks, conditions,
// profiles. Used by the fuzz targets and by the test that replays their corpora.
#pragma once

#include "analysis/calibrate/networks.hpp"
#include "analysis/calibrate/pairs.hpp"
#include "analysis/exam/gate.hpp"
#include "analysis/scenario/fields.hpp"
#include "formats/ceilings.hpp"
#include "formats/metric_family.hpp"
#include "hwdb/calibration_reader.hpp"
#include "hwdb/gpu_reader.hpp"
#include "profiles/profile_file.hpp"
#include "report/session/session.hpp"

#include <string>

namespace eyeroof::tests {

// Whatever is refused is refused with an error that has code and words.
template <class T> std::string badly_refused(const Result<T>& read) {
    if (!read && !read.diagnostics().has_errors()) {
        return "refused without an error";
    }
    for (const Diagnostic& d : read.diagnostics()) {
        if (d.code.empty() || d.message.empty() || d.where.line < 0 || d.where.column < 0) {
            return "a diagnostic lacks code, words or place: " + to_string(d);
        }
    }
    return "";
}

inline std::string broken_promise_gpu_yaml(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "fuzz.yaml");
    return document ? badly_refused(hwdb::read_gpu(*document, "fuzz")) : badly_refused(document);
}

inline std::string broken_promise_calibration(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "fuzz.yaml");
    if (!document) {
        return badly_refused(document);
    }
    const auto file = hwdb::read_calibration(*document, "fuzz");
    if (!file) {
        return badly_refused(file);
    }
    auto again = hwdb::parse_yaml(hwdb::write_calibration(*file), "again.yaml");
    return again && hwdb::read_calibration(*again, "fuzz").ok() ? ""
                                                                : "what was written is not read";
}

inline std::string broken_promise_scenario(const std::string& text) {
    const auto scenario = analysis::parse_scenario(text, "fuzz.json");
    if (!scenario) {
        return badly_refused(scenario);
    }
    const auto again = analysis::parse_scenario(analysis::scenario_json(*scenario), "again.json");
    return again && *again == *scenario ? "" : "written and read again, it differs";
}

inline std::string broken_promise_session(const std::string& text) {
    const auto session = report::parse_session(text, "fuzz.yaml");
    if (!session) {
        return badly_refused(session);
    }
    const auto again = report::parse_session(report::write_session(*session), "again.yaml");
    return again && again->scenario == session->scenario && again->machines == session->machines
               ? ""
               : "written and read again, it differs";
}

inline std::string broken_promise_ceilings(const std::string& text) {
    return badly_refused(formats::parse_ceilings(text, "fuzz.yaml"));
}

inline std::string broken_promise_metric_family(const std::string& text) {
    return badly_refused(formats::parse_metric_family(text, "fuzz.yaml"));
}

inline std::string broken_promise_measured_tables(const std::string& text) {
    return badly_refused(analysis::parse_pairs(text, "fuzz.csv")) +
           badly_refused(analysis::parse_networks(text, "fuzz.csv")) +
           badly_refused(analysis::parse_evidence(text, "fuzz.csv"));
}

inline std::string broken_promise_condition(const std::string& text) {
    return badly_refused(analysis::parse_gate(text));
}

inline std::string broken_promise_profile_file(const std::string& text) {
    const auto source = profiles::ByteSource::of_text(text, "fuzz.jsonl");
    const auto profile = profiles::read_profile(*source);
    if (!profile) {
        return badly_refused(profile);
    }
    const auto written = profiles::ByteSource::of_text(profiles::profile_text(*profile), "again");
    const auto again = profiles::read_profile(*written);
    return again && again->launches.size() == profile->launches.size()
               ? ""
               : "written and read again, it differs";
}

} // namespace eyeroof::tests
