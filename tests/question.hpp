// Questions about networks and machines in memory.
#pragma once

#include "study/scenario/question.hpp"

#include <string>
#include <utility>

namespace eyeroof::tests {

inline study::Question question_of(model::Network network, model::Machine machine,
                                   study::Scenario scenario = {}) {
    study::Question question;
    question.scenario = std::move(scenario);
    question.network = std::move(network);
    question.machine = std::move(machine);
    return question;
}

inline study::Question question_of(model::WiredNetwork wired, model::Machine machine,
                                   study::Scenario scenario = {}) {
    study::Question question =
        question_of(std::move(wired.network), std::move(machine), std::move(scenario));
    question.wiring = std::move(wired.wiring);
    return question;
}

inline model::Machine machine_with(model::Gpu gpu, const std::string& id = "gpu") {
    model::Machine machine;
    machine.id = machine.name = id;
    machine.kind = std::move(gpu);
    return machine;
}

inline study::Scenario training_with(const std::string& optimizer) {
    study::Scenario scenario;
    scenario.training = study::TrainingOptions{optimizer};
    return scenario;
}

} // namespace eyeroof::tests
