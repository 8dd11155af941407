#include "gui/panes/steps_pane.hpp"

#include <QLabel>
#include <QVBoxLayout>

namespace eyeroof::gui {

namespace {
QString text(const std::string& string) {
    return QString::fromStdString(string).toHtmlEscaped();
}
} // namespace

StepsPane::StepsPane(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    ladder_ = new LadderView(this);
    text_ = new QLabel(this);
    text_->setWordWrap(true);
    text_->setMargin(6);
    text_->setTextFormat(Qt::RichText);
    text_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    column->addWidget(ladder_, 1);
    column->addWidget(text_);
    connect(ladder_, &LadderView::step_clicked, this, [this](std::size_t step) {
        choose(step);
        if (help_ && help_->behind[step - 1]) {
            emit parameter_wanted(QString::fromStdString(*help_->behind[step - 1]));
        }
    });
    connect(text_, &QLabel::linkActivated, this, &StepsPane::parameter_wanted);
}

void StepsPane::set_layer(const study::Report& report, std::size_t layer,
                          std::optional<double> measured_s) {
    const bool other = !layer_ || layer_->layer.name != report.layers.at(layer).layer.name;
    layer_ = report.layers.at(layer);
    ladder_->set_layer(report, layer, measured_s);
    if (other) {
        help_.reset();
        step_ = 0;
    }
    choose(step_ > 0 ? step_ : 0);
}

void StepsPane::clear() {
    layer_.reset();
    help_.reset();
    step_ = 0;
    ladder_->clear();
    update_text();
}

void StepsPane::show_help(const study::LayerHelp& help) {
    help_ = help;
    update_text();
}

void StepsPane::choose(std::size_t step) {
    step_ = step;
    ladder_->mark_step(step);
    update_text();
}

QString StepsPane::text() const {
    return text_->text();
}

void StepsPane::update_text() {
    text_->setVisible(layer_.has_value());
    if (!layer_) {
        return;
    }
    const std::size_t step = step_ > 0 ? step_ : layer_->limiter_step;
    if (step == 0) {
        return text_->clear();
    }
    const model::StepBound& bound = layer_->steps[step - 1];
    QString html = tr("<b>Step %1</b>: %2")
                       .arg(step)
                       .arg(gui::text(bound.reason.empty() ? bound.limit : bound.reason));
    const auto link = [](const std::string& key) {
        return QString("<a href=\"%1\">%1</a>").arg(gui::text(key));
    };
    if (help_ && help_->behind[step - 1]) {
        html += tr(" · behind it: %1").arg(link(*help_->behind[step - 1]));
    }
    if (help_) {
        const std::string best = study::best_help_text(help_->gains);
        html += best.empty() ? tr("<br>No single parameter would help this layer.")
                             : tr("<br><b>What would help most</b>: %1 (%2)")
                                   .arg(gui::text(best), link(help_->gains.front().key));
    }
    text_->setText(html);
}

} // namespace eyeroof::gui
