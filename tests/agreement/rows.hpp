// What each command says about a step: where its answer has the figures that an exam has.
#pragma once

#include "analysis/scenario/scenario.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace eyeroof::tests {

using Json = nlohmann::json;
using Figures = std::map<std::string, Json>; // by the exam's names: "time_s", "layer conv1.time_s"

// What a row is asked about; the exam of it is known.
struct Asked {
    analysis::Scenario scenario;
    std::string document; // a file with the scenario
    std::string answer;   // a file with the exam
    Json exam;            // null: it was refused
};

struct Row {
    std::string command; // of cli/commands.def
    std::string what;    // of it: "from a host"
    std::function<bool(const Asked&)> applies;
    std::function<std::vector<std::string>(const Asked&)> arguments;
    std::function<Figures(const Json&, const Asked&)> figures;
    bool lines = false;  // the answer is a line of JSON, and repeats no question
    double within = 0.0; // share that figures may differ by
};

const std::vector<Row>& rows();
// Commands without a step, each with its reason.
const std::map<std::string, std::string>& without_step();

Figures exam_figures(const Json& exam);

} // namespace eyeroof::tests
