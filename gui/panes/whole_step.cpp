#include "gui/panes/whole_step.hpp"

#include "hwdb/usual_host.hpp"
#include "study/exam/network_step.hpp"

namespace eyeroof::gui {

std::optional<StepQuestion> step_question(const PaneInput& input) {
    if (input.network == nullptr || input.machines->empty() ||
        !std::holds_alternative<model::Gpu>(input.machines->front().kind)) {
        return std::nullopt;
    }
    return StepQuestion{*input.network, *input.wiring, input.machines->front(), input.options,
                        *input.folders};
}

model::Result<WholeStep> whole_step(const StepQuestion& question) {
    study::StudyOptions wanted;
    wanted.batch = question.options.batch;
    wanted.data_type = question.options.data_type;
    auto network = study::prepared(question.network, wanted);
    if (!network) {
        return network.diagnostics();
    }
    WholeStep step;
    step.network = *std::move(network);
    step.wiring = question.wiring;
    step.machine = question.machine;
    step.graph.training = question.options.training;
    step.graph.batch = question.options.batch.value_or(1);
    if (step.gpu().arch == model::GpuArch::host) {
        step.host = step.gpu().issue;
    } else {
        const hwdb::NamedHost usual = hwdb::usual_host(step.gpu(), question.folders.machines);
        step.host = usual.issue.known() ? usual.issue : study::textbook_host();
        step.host_id = usual.id;
    }
    return step;
}

std::optional<std::size_t> row_of(const study::Report& report, const model::Layer& layer) {
    std::optional<std::size_t> named;
    for (std::size_t row = 0; row < report.layers.size(); ++row) {
        const model::Layer& candidate = report.layers[row].layer;
        if (candidate == layer) {
            return row;
        }
        if (candidate.name == layer.name && !named) {
            named = row;
        }
    }
    return named;
}

} // namespace eyeroof::gui
