#include "gui/panes/steps_pane.hpp"

#include "analysis/exam/report_figures.hpp"
#include "gui/panes/fields.hpp"
#include "gui/panes/totals_text.hpp"
#include "gui/views/qt_text.hpp"
#include "report/exam/answer.hpp"
#include "report/measured/measured_text.hpp"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QToolButton>
#include <algorithm>

namespace eyeroof::gui {

namespace {

constexpr const char* kLayerLink = "layer:";
constexpr const char* kParameterLink = "parameter:";
constexpr int kTextMargin = 6;
constexpr int kLadderHeight = 264; // of ten rows and their heading
constexpr int kRowHeight = 19;     // of each further one
constexpr int kTextHeight = 48;    // that the text gets in any case

QString link(const std::string& key) {
    return QString("<a href=\"%1\">%1</a>").arg(html(key));
}

// It quickens all that is on the chip and names nothing, here as in the headline.
bool is_clock(const std::string& key) {
    return key.find("clock") != std::string::npos;
}

} // namespace

StepsPane::StepsPane(QWidget* parent) : QWidget(parent) {
    ladder_ = new LadderView(this);
    make_choice();
    text_area_ = new QScrollArea(this);
    text_area_->setFrameShape(QFrame::NoFrame);
    text_area_->setWidgetResizable(true);
    text_area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    text_ = new QLabel(text_area_);
    text_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    text_->setWordWrap(true);
    text_->setMargin(kTextMargin);
    text_->setTextFormat(Qt::RichText);
    text_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    text_->setObjectName("step text");
    text_area_->setWidget(text_);
    setMinimumSize(360, kLadderHeight + kTextHeight);
    connect(ladder_, &LadderView::step_clicked, this, [this](std::size_t step) {
        choose(step);
        if (!shows_network() && help_ && help_->behind[step - 1]) {
            emit parameter_wanted(QString::fromStdString(*help_->behind[step - 1]));
        }
    });
    connect(ladder_, &LadderView::parameter_clicked, this, &StepsPane::parameter_wanted);
    connect(text_, &QLabel::linkActivated, this, [this](const QString& target) {
        if (target.startsWith(kLayerLink)) {
            show_network(false);
            emit layer_wanted(target.mid(QString(kLayerLink).size()).toULongLong());
        } else {
            emit parameter_wanted(QString(target).remove(kParameterLink));
        }
    });
    clear();
}

// Over the ladder's right upper corner, where its heading leaves room.
void StepsPane::make_choice() {
    choice_ = new QButtonGroup(this);
    auto* corner = new QHBoxLayout(ladder_);
    corner->setContentsMargins(0, 10, 12, 0);
    corner->setSpacing(0);
    corner->addStretch();
    const auto button = [&](const QString& label, const QString& tip, const char* name) {
        auto* tool = named(new QToolButton(ladder_), name, tip);
        tool->setText(label);
        tool->setCheckable(true);
        connect(tool, &QToolButton::toggled, tool, [tool, label](bool on) {
            tool->setText((on ? "✓ " : "") + label); // not by shade alone
        });
        tool->setCursor(Qt::ArrowCursor);
        choice_->addButton(tool);
        corner->addWidget(tool, 0, Qt::AlignTop);
        return tool;
    };
    of_layer_ = button(tr("Layer"), tr("The steps of the selected layer"), "steps of layer");
    of_network_ = button(tr("Network"), tr("The steps of the whole network"), "steps of network");
    of_layer_->setChecked(true);
    connect(of_network_, &QToolButton::toggled, this, [this] {
        step_ = 0;
        ladder_->mark_step(0);
        show_ladder();
    });
}

bool StepsPane::shows_network() const {
    return of_network_->isChecked();
}

void StepsPane::show_network(bool network) {
    (network ? of_network_ : of_layer_)->setChecked(true);
}

void StepsPane::set_layer(std::shared_ptr<const analysis::Report> report, std::size_t layer) {
    const bool other_machine = !report_ || report->machine.id != report_->machine.id;
    const bool other =
        other_machine || layer != layer_ || report->layers.at(layer).layer.name != layer_name_;
    report_ = std::move(report);
    layer_ = layer;
    layer_name_ = this->layer().layer.name;
    if (other) {
        help_.reset();
        step_ = 0;
        ladder_->mark_step(0);
    }
    if (other_machine) { // its parameters are worth something else
        gains_.clear();
    }
    show_ladder();
}

void StepsPane::show_ladder() {
    of_layer_->setVisible(report_ != nullptr);
    of_network_->setVisible(report_ != nullptr);
    if (report_) {
        ladder_->show_scene([report = report_, layer = layer_,
                             network = shows_network()](const report::Canvas& canvas) {
            return network ? report::make_network_waterfall(*report, canvas)
                           : report::make_waterfall(*report, layer, canvas);
        });
    }
    update_text();
}

void StepsPane::clear() {
    report_.reset();
    layer_ = 0;
    help_.reset();
    gains_.clear();
    step_ = 0;
    ladder_->clear();
    show_ladder();
}

void StepsPane::show_help(const analysis::LayerHelp& help) {
    help_ = help;
    update_text();
}

void StepsPane::show_gains(const std::vector<analysis::Sensitivity>& gains) {
    gains_ = gains;
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

QString StepsPane::help_text(std::vector<analysis::Sensitivity> gains,
                             const QString& nothing) const {
    std::erase_if(gains, [](const auto& gain) { return is_clock(gain.key); });
    const auto best =
        std::max_element(gains.begin(), gains.end(),
                         [](const auto& a, const auto& b) { return a.speedup < b.speedup; });
    const std::string words = analysis::best_help_text(gains);
    return words.empty() ? "<br>" + nothing
                         : tr("<br><b>What would help most</b>: %1 (%2)")
                               .arg(gui::text(words), link(best->key));
}

QString StepsPane::layer_text() const {
    const std::size_t saves = layer().limits.saves_most(); // that the ladder marks
    const std::size_t step = step_ > 0 ? step_ : saves > 0 ? saves : layer().limiter_step;
    QString html;
    if (step > 0) {
        const model::StepBound& bound = layer().steps[step - 1];
        const std::string stalls = step == model::kSteps
                                       ? analysis::stalls_text(report_->machine, layer())
                                       : std::string();
        html = tr("<b>Step %1</b>: %2")
                   .arg(step)
                   .arg(gui::text(!stalls.empty()        ? stalls
                                  : bound.reason.empty() ? bound.limit
                                                         : bound.reason));
        if (help_ && help_->behind[step - 1] && !is_clock(*help_->behind[step - 1])) {
            html += tr(" · behind it: %1").arg(link(*help_->behind[step - 1]));
        }
    }
    if (help_) {
        html += help_text(help_->gains, tr("No single parameter would help this layer."));
    }
    return html + measured_text();
}

QString StepsPane::network_text() const {
    QString html = bound_html(*report_, true);
    for (const report::WaterfallBar& bar : ladder_->scene()->bars) {
        const bool meant = step_ > 0 ? bar.step == step_ : bar.worst;
        if (meant && bar.step == 0) { // launches, copies, and other waits
            html += tr("<br><b>%1</b>: %2").arg(gui::text(bar.name), gui::text(bar.reason));
        } else if (meant) {
            html += tr("<br><b>Step %1</b>: %2").arg(bar.step).arg(gui::text(bar.reason));
            if (!bar.layer.empty()) {
                html += QString(" · <a href=\"%1%2\">%3</a>")
                            .arg(kLayerLink, QString::number(bar.layer_row),
                                 tr("show %1").arg(gui::text(bar.layer)));
            }
        }
    }
    if (!gains_.empty()) {
        html += help_text(gains_, tr("No single parameter would help this network."));
    }
    html += measured_text();
    return html.startsWith("<br>") ? html.mid(4) : html; // what bounds it may not be known yet
}

// The step below the seventh, in the words of the report.
QString StepsPane::measured_text() const {
    QStringList lines;
    if (shows_network() && report_->measured) {
        if (const std::string words = report::measured_line(*report_); !words.empty()) {
            lines << gui::html(words);
        }
    } else if (!shows_network() && layer().measured) {
        const analysis::LayerMeasurement& m = *layer().measured;
        QString line = tr("<b>Measured</b>: %1 (%2) unexplained")
                           .arg(gui::text(report::signed_time(m.unexplained_s)),
                                gui::text(report::signed_share(m.unexplained_s, m.predicted_s)));
        if (!m.disagreements.empty()) {
            line += "; " + gui::text(report::disagreement_text(m.disagreements.front()));
        }
        lines << line;
    }
    return lines.isEmpty() ? QString() : "<br>" + lines.join("<br>");
}

void StepsPane::update_text() {
    text_->setText(!report_ ? QString() : shows_network() ? network_text() : layer_text());
    arrange();
}

// The text takes what it needs, as long as the ladder keeps its rows; then it scrolls. No layout
// does that, since the height of wrapped text follows from its width.
void StepsPane::arrange() {
    const int needed = report_ ? text_->heightForWidth(width()) : 0;
    const auto& scene = ladder_->scene();
    const int more = scene ? std::max(0, static_cast<int>(scene->bars.size()) - 10) : 0;
    const int spare = std::max(height() - kLadderHeight - more * kRowHeight, kTextHeight);
    const int text_height = std::min(needed, spare);
    ladder_->setGeometry(0, 0, width(), height() - text_height);
    text_area_->setGeometry(0, height() - text_height, width(), text_height);
}

void StepsPane::resizeEvent(QResizeEvent*) {
    arrange();
}

} // namespace eyeroof::gui
