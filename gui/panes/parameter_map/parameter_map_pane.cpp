#include "gui/panes/parameter_map/parameter_map_pane.hpp"

#include "gui/jobs/as_in_view.hpp"
#include "gui/views/qt_text.hpp"
#include "report/draw/parameter_map_scene.hpp"

#include <QComboBox>
#include <algorithm>

namespace eyeroof::gui {

namespace {

report::Answer answer_of(const analysis::ParameterMap& map) {
    report::Answer answer;
    answer.sentences = {"Each cell is an examination; the framed one is now. Lines join equal "
                        "speedups"};
    answer.picture = [map](const report::Canvas& canvas) {
        return report::draw_parameter_map(map, canvas);
    };
    return answer;
}

} // namespace

ParameterMapPane::ParameterMapPane(const PaneActions& actions, QWidget* parent)
    : AnswerPane(actions, parent) {
    x_ = choice(tr("Parameter across"), "parameter across");
    y_ = choice(tr("Parameter upwards"), "parameter upwards");
    add_views({{}, tr("Map of two parameters"), "parameters", tr("No map to show.")});
}

// The two that stand first in the machine's order, unless chosen.
void ParameterMapPane::fill(const PaneInput& input) {
    const auto parameters = input.questions->empty()
                                ? std::vector<analysis::Parameter>{}
                                : analysis::tried_parameters(input.questions->front().machine);
    int other = 0;
    for (QComboBox* box : {x_, y_}) {
        const QString chosen = box->currentData().toString();
        box->clear();
        for (const analysis::Parameter& parameter : parameters) {
            box->addItem(text(parameter.name), text(parameter.key));
        }
        const int known = box->findData(chosen);
        box->setCurrentIndex(known >= 0 ? known : std::min(other, box->count() - 1));
        ++other;
    }
}

void ParameterMapPane::clear() {
    map_.reset();
    AnswerPane::clear();
}

Background::Job ParameterMapPane::job(const PaneInput& input) {
    map_.reset(); // it is of another question
    const std::string x = x_->currentData().toString().toStdString();
    const std::string y = y_->currentData().toString().toStdString();
    if (input.question() == nullptr || x.empty()) {
        say(tr("Choose a network and a machine."));
        return {};
    }
    if (x == y) {
        say(tr("Choose two different parameters."));
        return {};
    }
    const bool searched =
        std::holds_alternative<model::Accelerator>(input.question()->machine.kind) &&
        input.scenario->policy != analysis::MappingPolicy::dataflow;
    const std::size_t side = searched ? 5 : 9; // a search takes long
    const auto found = std::make_shared<std::optional<analysis::ParameterMap>>();
    const auto ask = [found, x, y, side, question = *input.question(),
                      as_shown = as_in_view(*input.edits)](
                         const std::stop_token& stop,
                         const ProgressCallback& progress) -> Result<report::Answer> {
        auto map = analysis::parameter_map(question, x, y, side, stop, progress, as_shown);
        if (!map) {
            return map.diagnostics();
        }
        *found = *std::move(map);
        return answer_of(**found);
    };
    return asking(ask, [this, found] { map_ = *found; });
}

} // namespace eyeroof::gui
