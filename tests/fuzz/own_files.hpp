// What must hold for any text that is given as a session, a scenario, a table of pairs or networks,
// or a condition. Used by the fuzz targets and by the test that replays their corpora.
#pragma once

#include "analysis/calibrate/clusters.hpp"
#include "analysis/calibrate/kernel_rows.hpp"
#include "analysis/calibrate/networks.hpp"
#include "analysis/calibrate/pairs.hpp"
#include "analysis/exam/gate.hpp"
#include "analysis/scale/request_file.hpp"
#include "analysis/scenario/fields.hpp"
#include "report/session/session.hpp"
#include "tests/fuzz/reader_files.hpp"

#include <string>

namespace eyeroof::tests {

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

inline std::string broken_promise_measured_tables(const std::string& text) {
    return badly_refused(analysis::parse_pairs(text, "fuzz.csv")) +
           badly_refused(analysis::parse_networks(text, "fuzz.csv")) +
           badly_refused(analysis::parse_clusters(text, "fuzz.csv")) +
           badly_refused(analysis::parse_evidence(text, "fuzz.csv")) +
           badly_refused(analysis::parse_kernel_rows(text, "fuzz.csv")) +
           badly_refused(analysis::parse_requests(text, "fuzz.csv"));
}

inline std::string broken_promise_condition(const std::string& text) {
    return badly_refused(analysis::parse_gate(text));
}

} // namespace eyeroof::tests
