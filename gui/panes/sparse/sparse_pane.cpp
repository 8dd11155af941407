#include "gui/panes/sparse/sparse_pane.hpp"

#include "analysis/sparse/task.hpp"
#include "gui/views/qt_text.hpp"
#include "report/sparse/sparse_answer.hpp"

#include <fmt/format.h>

#include <QComboBox>
#include <QSpinBox>

namespace eyeroof::gui {

namespace {

struct SparseQuestion {
    model::NetworkGraph network;
    analysis::Scenario scenario; // with machine and density
    std::vector<std::filesystem::path> folders;
};

// The layers, with what the curve says and its picture.
Result<report::Answer> answer_to(const SparseQuestion& question, const std::stop_token& stop,
                                 const ProgressCallback& progress) {
    const auto machine = analysis::load_sparse_machine(question.scenario.machine, question.folders);
    const auto task = machine ? analysis::sparse_task(*machine, question.scenario, question.network,
                                                      question.folders)
                              : Result<analysis::SparseTask>(machine.diagnostics());
    if (!task) {
        return task.diagnostics();
    }
    const auto exam = analysis::sparse_exam(*task, stop, progress);
    const auto curve = analysis::density_curve(*task);
    Diagnostics all = exam.diagnostics();
    all.append(curve.diagnostics());
    if (all.has_errors()) {
        return all;
    }
    report::Answer answer = report::sparse_answer(*exam);
    const report::Answer over = report::density_curve_answer(*machine, task->network.id, *curve);
    answer.sentences.insert(answer.sentences.end(), over.sentences.begin(), over.sentences.end());
    answer.picture = over.picture;
    return answer;
}

} // namespace

SparsePane::SparsePane(const PaneActions& actions, QWidget* parent) : AnswerPane(actions, parent) {
    machine_ = choice(tr("On"), "sparse machine");
    densities_ = choice(tr("Not zero"), "sparse densities");
    inputs_ = number(tr("Inputs"), "sparse inputs", 1, 100, 50);
    weights_ = number(tr("Weights"), "sparse weights", 1, 100, 35);
    for (QSpinBox* share : {inputs_, weights_}) {
        share->setSuffix(" %");
        share->setToolTip(tr("Share of values that are not zero, in every layer"));
    }
    add_views({tr("Layers with zeros"), tr("Speedup over the share of values that are not zero"),
               "sparse", tr("Nothing to skip.")});
    lead_to_layers(rows());
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
    const std::string table = densities_->currentData().toString().toStdString();
    inputs_->setEnabled(table.empty());
    weights_->setEnabled(table.empty());
    SparseQuestion question{*input.network, *input.scenario, input.folders->machines};
    question.scenario.training.reset();
    question.scenario.machine = machine_->currentData().toString().toStdString();
    question.scenario.density = table.empty()
                                    ? fmt::format("inputs={},weights={}", inputs_->value() / 100.0,
                                                  weights_->value() / 100.0)
                                    : table;
    return asking([question = std::move(question)](const std::stop_token& stop,
                                                   const ProgressCallback& progress) {
        return answer_to(question, stop, progress);
    });
}

} // namespace eyeroof::gui
