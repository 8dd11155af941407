#include "gui/panes/parameter_map/parameter_map_pane.hpp"

#include "gui/jobs/as_in_view.hpp"
#include "gui/panes/parameter_map/parameter_map_drawing.hpp"
#include "gui/views/qt_text.hpp"
#include "report/draw/svg.hpp"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

namespace eyeroof::gui {

ParameterMapPane::ParameterMapPane(const PaneActions& actions, QWidget* parent)
    : Pane(actions, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(4, 4, 4, 4);
    auto* row = new QHBoxLayout;
    const auto chooser = [&](const QString& label, const char* name) {
        auto* box = new QComboBox(this);
        box->setObjectName(name);
        box->setAccessibleName(label);
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        box->setMinimumContentsLength(8);
        row->addWidget(box, 1);
        connect(box, &QComboBox::activated, this, [this] { ask(actions_.look()); });
        return box;
    };
    x_ = chooser(tr("Parameter across"), "parameter across");
    y_ = chooser(tr("Parameter upwards"), "parameter upwards");
    column->addLayout(row);
    head_ = new QLabel(this);
    head_->setWordWrap(true);
    column->addWidget(head_);
    picture_ = new DrawingView(this);
    picture_->setAccessibleName(tr("Map of two parameters"));
    picture_->setMinimumSize(240, 100);
    column->addWidget(picture_, 1);
    picture_->clear(tr("Choose a network and a machine."));
    connect(&worker_, &Background::progressed, this, [this](const Progress& progress) {
        head_->setText(tr("%1 %").arg(100.0 * progress.fraction, 0, 'f', 0));
    });
}

void ParameterMapPane::show_answer(const PaneInput& input) {
    due_ = !isVisible();
    if (due_) { // and the answer under way is to a question that is gone
        worker_.cancel();
    } else {
        fill_choices(input);
        ask(input);
    }
}

// The two that stand first in the machine's order, unless chosen.
void ParameterMapPane::fill_choices(const PaneInput& input) {
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

void ParameterMapPane::showEvent(QShowEvent* event) {
    Pane::showEvent(event);
    if (due_) {
        due_ = false;
        const PaneInput input = actions_.look();
        fill_choices(input);
        ask(input);
    }
}

void ParameterMapPane::ask(const PaneInput& input) {
    map_.reset();
    const std::string x = x_->currentData().toString().toStdString();
    const std::string y = y_->currentData().toString().toStdString();
    if (input.question() == nullptr || x.empty() || x == y) {
        worker_.cancel();
        head_->clear();
        return picture_->clear(x == y && !x.empty() ? tr("Choose two different parameters.")
                                                    : tr("Choose a network and a machine."));
    }
    if (picture_->drawing().texts.empty()) { // nothing that could stay until the answer
        picture_->clear(tr("Being worked out…"));
    }
    const bool searched =
        std::holds_alternative<model::Accelerator>(input.question()->machine.kind) &&
        input.scenario->policy != analysis::MappingPolicy::dataflow;
    const std::size_t side = searched ? 5 : 9; // a search takes long
    worker_.run(
        [this, question = *input.question(), x, y, side, as_shown = as_in_view(*input.edits)](
            const std::stop_token& stop, const ProgressCallback& progress) -> Background::Show {
            auto map = std::make_shared<Result<analysis::ParameterMap>>(
                analysis::parameter_map(question, x, y, side, stop, progress, as_shown));
            return [this, map] {
                if (*map) {
                    map_ = **map;
                    head_->setText(
                        tr("Each cell is an examination; the framed one is now. Lines join "
                           "equal speedups."));
                    picture_->show_drawing(
                        [shown = *map_](const report::Canvas& c) {
                            return draw_parameter_map(shown, c);
                        },
                        false);
                } else {
                    head_->setText(text(map->diagnostics().items().front().message));
                }
                emit mapped();
            };
        });
}

QString ParameterMapPane::html() const {
    return map_ ? text(report::to_svg(picture_->drawing(), report::SvgTheme::automatic))
                : QString();
}

} // namespace eyeroof::gui
