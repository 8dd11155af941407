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
