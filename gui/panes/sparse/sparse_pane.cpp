#include "gui/panes/sparse/sparse_pane.hpp"

#include "analysis/program/lower.hpp"
#include "analysis/sparse/densities.hpp"
#include "base/units.hpp"
#include "gui/panes/number_table.hpp"
#include "gui/panes/table_html.hpp"
#include "gui/views/qt_text.hpp"
#include "report/draw/chart_scene.hpp"
#include "report/draw/svg.hpp"

#include <QComboBox>
#include <QSpinBox>
#include <QSplitter>
#include <QTableWidget>
#include <QVBoxLayout>

namespace eyeroof::gui {

namespace {

struct SparseQuestion {
    analysis::Question dense;       // its network at the batch that is asked for
    std::string layers;             // regular expression; empty: all
    std::string machine, densities; // densities empty: one share for all layers
    double input = 1.0, weight = 1.0;
    Folders folders;
};

using Shares = std::vector<model::sparse::Densities>;

Result<Shares> shares_of(const SparseQuestion& question, const model::Network& network) {
    if (question.densities.empty()) {
        return Shares(network.layers.size(), {question.input, question.weight, question.input});
    }
    const auto file = analysis::find_sparse_file(question.densities, question.folders.machines,
                                                 "densities", "density table");
    if (!file) {
        return file.diagnostics();
    }
    const auto table = analysis::load_densities(*file);
    return table ? analysis::densities_of(*table, network) : Result<Shares>(table.diagnostics());
}

Result<SparseAnswer> answer_to(const SparseQuestion& question, const std::stop_token& stop,
                               const ProgressCallback& progress) {
    const auto machine = analysis::load_sparse_machine(question.machine, question.folders.machines);
    const auto network = analysis::lowered_network(question.dense);
    const auto only = Pattern::compile(question.layers);
    Diagnostics all = machine.diagnostics();
    all.append(only.diagnostics());
    all.append(network.diagnostics());
    if (all.has_errors()) {
        return all;
    }
    const auto shares = shares_of(question, *network);
    if (!shares) {
        return shares.diagnostics();
    }
    auto exam = analysis::sparse_exam(*machine, *network, *shares, *only, question.dense.scenario,
                                      stop, progress);
    if (!exam) {
        return exam.diagnostics();
    }
    auto curve = analysis::density_curve(*machine, *network, *only);
    if (!curve) {
        return curve.diagnostics();
    }
    return SparseAnswer{*std::move(exam), *std::move(curve)};
}

QString headline(const SparseAnswer& answer) {
    const analysis::SparseExam& e = answer.exam;
    QString html = SparsePane::tr("%1: ").arg(text(e.machine).toHtmlEscaped());
    html += SparsePane::tr("<b>%1 times</b> as fast as the same multipliers on dense "
                           "tensors: %2 of %3 MACs have no zero, %4 in all.")
                .arg(e.speed_up(), 0, 'g', 3)
                .arg(text(format_si(e.effectual, "", 4)), text(format_si(e.macs, "", 4)),
                     text(format_si(e.cycles / e.clock_hz, "s", 4)));
    if (const auto even = analysis::break_even(answer.curve)) {
        html += SparsePane::tr(" With one share everywhere it pays below %1 %.")
                    .arg(100.0 * *even, 0, 'f', 0);
    }
    if (!e.left_out.empty()) {
        html +=
            SparsePane::tr(" %1 layers are not counted: they do not multiply, or the machine does "
                           "not run them.")
                .arg(e.left_out.size());
    }
    return html;
}

} // namespace

report::Chart sparse_chart(const SparseAnswer& answer) {
    report::Chart chart;
    chart.title = answer.exam.network + " on " + answer.exam.machine + ": gain of zeros";
    chart.x_title = "share of words that are not zero";
    chart.y_title = "times as fast as dense";
    report::ChartLine line{"one share for all tensors", {}, false, true};
    for (const analysis::DensityPoint& point : answer.curve) {
        line.points.emplace_back(point.density, point.speed_up);
    }
    chart.lines = {line};
    chart.marks = {{1.0, "as fast as dense", false}};
    chart.x_ticks = report::TickText::plain;
    chart.y_ticks = report::TickText::plain;
    return chart;
}

SparsePane::SparsePane(const PaneActions& actions, QWidget* parent) : AskingPane(actions, parent) {
    machine_ = choice(tr("On"), "sparse machine");
    densities_ = choice(tr("Not zero"), "sparse densities");
    inputs_ = number(tr("Inputs"), "sparse inputs", 1, 100, 50);
    weights_ = number(tr("Weights"), "sparse weights", 1, 100, 35);
    for (QSpinBox* share : {inputs_, weights_}) {
        share->setSuffix(" %");
        share->setToolTip(tr("Share of words that are not zero, in every layer"));
    }
    auto* both = new QSplitter(Qt::Horizontal, this);
    rows_ = number_table(tr("Layers with zeros"), both);
    rows_->setObjectName("sparse rows");
    picture_ = new DrawingView(both);
    picture_->setObjectName("sparse picture");
    picture_->setAccessibleName(tr("Speed-up over the share of words that are not zero"));
    picture_->setMinimumSize(240, 150);
    column()->addWidget(both, 1);
    connect(rows_, &QTableWidget::itemSelectionChanged, this, [this] {
        const PaneInput input = actions_.look();
        if (!answer_ || rows_->selectedItems().isEmpty() || input.reports->empty()) {
            return;
        }
        const std::string name = rows_->item(rows_->currentRow(), 0)->text().toStdString();
        const auto& layers = input.reports->front().layers;
        for (std::size_t row = 0; row < layers.size(); ++row) {
            if (layers[row].layer.name == name) {
                return actions_.select_layer(0, row);
            }
        }
    });
    clear();
}

// The toolbar's machine where it skips zeros; else none, until one is chosen.
void SparsePane::fill(const PaneInput& input) {
    fill_lists(input);
    if (chosen_for_ != input.scenario->machine) {
        chosen_for_ = input.scenario->machine;
        machine_->setCurrentIndex(machine_->findData(text(chosen_for_)));
    }
}

void SparsePane::fill_lists(const PaneInput& input) {
    if (machine_->count() > 0) {
        return;
    }
    machine_->setPlaceholderText(tr("choose"));
    for (const auto& file : analysis::sparse_files(input.folders->machines, "sparse")) {
        machine_->addItem(text(file.stem().string()), text(file.stem().string()));
    }
    machine_->setCurrentIndex(-1);
    densities_->addItem(tr("one share for all"), QString());
    for (const auto& file : analysis::sparse_files(input.folders->machines, "densities")) {
        densities_->addItem(text(file.stem().string()), text(file.stem().string()));
    }
}

Background::Job SparsePane::job(const PaneInput& input) {
    if (input.network == nullptr) {
        say(tr("Choose a network."));
        return {};
    }
    if (machine_->currentIndex() < 0) {
        const analysis::Question* asked = input.question();
        const std::string name = asked == nullptr ? input.scenario->machine : asked->machine.name;
        say(tr("%1 has no description of how it skips zeros. Choose a machine that has one.")
                .arg(name.empty() ? tr("The window") : text(name).toHtmlEscaped()));
        return {};
    }
    const bool own = densities_->currentData().toString().isEmpty();
    inputs_->setEnabled(own);
    weights_->setEnabled(own);
    // Every layer as the network has it: what pools a layer's outputs is among them.
    analysis::Question dense;
    dense.scenario = *input.scenario;
    dense.scenario.layers.reset();
    dense.scenario.training.reset();
    dense.scenario.operators = analysis::Operators::all;
    dense.network = input.network->network;
    dense.edges = input.network->edges;
    const SparseQuestion question{std::move(dense),
                                  input.scenario->layers.value_or(""),
                                  machine_->currentData().toString().toStdString(),
                                  densities_->currentData().toString().toStdString(),
                                  inputs_->value() / 100.0,
                                  weights_->value() / 100.0,
                                  *input.folders};
    return [this, question](const std::stop_token& stop,
                            const ProgressCallback& progress) -> Background::Show {
        const auto found = answer_to(question, stop, progress);
        auto answer = found ? std::make_shared<const SparseAnswer>(*found) : nullptr;
        return [this, answer, problems = found.diagnostics()] {
            if (answer) {
                return show_answer_of(answer);
            }
            clear();
            say(problems);
        };
    };
}

void SparsePane::clear() {
    answer_.reset();
    rows_->setRowCount(0);
    rows_->hide();
    picture_->clear(tr("Nothing to skip."));
}

void SparsePane::show_answer_of(std::shared_ptr<const SparseAnswer> answer) {
    answer_ = std::move(answer);
    say(headline(*answer_));
    fill_rows();
    picture_->show_drawing(
        [chart = sparse_chart(*answer_)](const report::Canvas& canvas) {
            return report::draw_chart(chart, canvas);
        },
        false);
}

void SparsePane::fill_rows() {
    const QSignalBlocker quiet(rows_);
    const auto& layers = answer_->exam.layers;
    rows_->setColumnCount(6);
    rows_->setHorizontalHeaderLabels(
        {tr("Layer"), tr("Inputs"), tr("Weights"), tr("Cycles"), tr("As fast"), tr("Costs most")});
    rows_->setRowCount(static_cast<int>(layers.size()));
    for (int i = 0; i < rows_->rowCount(); ++i) {
        const analysis::SparseLayer& layer = layers[static_cast<std::size_t>(i)];
        const double gain = layer.cost.dense_cycles / layer.cost.cycles();
        const auto share = [](double density) {
            return cell(tr("%1 %").arg(100.0 * density, 0, 'f', 0), density);
        };
        rows_->setItem(i, 0, cell(text(layer.name)));
        rows_->setItem(i, 1, share(layer.densities.input));
        rows_->setItem(i, 2, share(layer.densities.weight));
        rows_->setItem(i, 3,
                       cell(QString::number(layer.cost.cycles(), 'g', 6), layer.cost.cycles()));
        rows_->setItem(i, 4, cell(QString::number(gain, 'f', 2) + "×", gain));
        const std::size_t worst = layer.costliest_link();
        auto* costs = cell(worst == 0 ? tr("nothing") : text(layer.cost.chain[worst].name));
        QStringList chain;
        for (const model::sparse::Link& link : layer.cost.chain) {
            chain << QString("%1 %2: %3 cycles, %4")
                         .arg(link.step)
                         .arg(text(link.name))
                         .arg(link.cycles, 0, 'g', 6)
                         .arg(text(link.why));
        }
        costs->setToolTip(chain.join("\n"));
        rows_->setItem(i, 5, costs);
    }
    fit_columns(*rows_);
    rows_->show();
}

QString SparsePane::html() const {
    return answer_
               ? "<p>" + headline(*answer_) + "</p>" +
                     text(report::to_svg(report::draw_chart(sparse_chart(*answer_), {700.0, 360.0}),
                                         report::SvgTheme::automatic)) +
                     table_html(*rows_)
               : QString();
}

} // namespace eyeroof::gui
