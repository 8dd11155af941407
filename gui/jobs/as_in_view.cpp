#include "gui/jobs/as_in_view.hpp"

namespace eyeroof::gui {

analysis::Examine as_in_view(std::vector<analysis::MappingEdit> edits) {
    return [edits = std::move(edits)](const analysis::Question& question,
                                      const std::stop_token& stop) {
        auto report = analysis::run(question, stop);
        if (report && !edits.empty()) {
            static_cast<void>(analysis::apply_edits(*report, question, edits));
        }
        return report;
    };
}

bool has_host(const model::Machine& machine) {
    const auto* gpu = std::get_if<model::Gpu>(&machine.kind);
    return gpu != nullptr && gpu->arch != model::GpuArch::host;
}

Result<std::vector<analysis::Sensitivity>> gains_of(const analysis::Question& question,
                                                    const std::stop_token& stop,
                                                    const ProgressCallback& progress,
                                                    const analysis::Examine& examine) {
    auto gains = analysis::sensitivities(question, stop, progress, examine);
    if (!gains || !has_host(question.machine) || question.scenario.launch == model::Launch::none) {
        return gains;
    }
    analysis::Question faster = question;
    faster.scenario.host_speed *= analysis::kSensitivityFactor;
    const auto now = examine(question, stop);
    const auto then = examine(faster, stop);
    if (now && then && then->total.time_s > 0.0) {
        gains->insert(gains->begin(),
                      {kHostSpeed, "host's launch speed", analysis::kSensitivityFactor,
                       now->total.time_s / then->total.time_s});
    }
    return gains;
}

std::vector<analysis::MappingEdit> edits_of(const std::vector<analysis::MappingEdit>& edits,
                                            const analysis::Report& report, std::size_t layer) {
    std::vector<analysis::MappingEdit> own;
    for (const analysis::MappingEdit& edit : edits) {
        if (analysis::row_of(report, edit) == layer) {
            own.push_back(edit);
            own.back().nth = 0;
        }
    }
    return own;
}

} // namespace eyeroof::gui
