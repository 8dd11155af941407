// Questions about networks and machines in memory.
#pragma once

#include "analysis/scenario/question.hpp"

#include <string>
#include <utility>

namespace eyeroof::tests {

inline analysis::Question question_of(model::Network network, model::Machine machine,
                                      analysis::Scenario scenario = {}) {
    analysis::Question question;
    question.scenario = std::move(scenario);
    question.network = std::move(network);
    question.machine = std::move(machine);
    return question;
}

inline analysis::Question question_of(model::NetworkGraph wired, model::Machine machine,
                                      analysis::Scenario scenario = {}) {
    analysis::Question question =
        question_of(std::move(wired.network), std::move(machine), std::move(scenario));
    question.edges = std::move(wired.edges);
    return question;
}

inline model::Machine machine_with(model::Gpu gpu, const std::string& id = "gpu") {
    model::Machine machine;
    machine.id = machine.name = id;
    machine.kind = std::move(gpu);
    return machine;
}

inline analysis::Scenario training_with(const std::string& optimizer) {
    analysis::Scenario scenario;
    scenario.training = analysis::TrainingOptions{optimizer};
    return scenario;
}

} // namespace eyeroof::tests
