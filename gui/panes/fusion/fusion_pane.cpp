#include "gui/panes/fusion/fusion_pane.hpp"

#include "analysis/fuse/task.hpp"
#include "base/units.hpp"
#include "report/fuse/fuse_answer.hpp"

#include <QComboBox>
#include <QLineEdit>

namespace eyeroof::gui {

namespace {

// The groups, with the picture of the curve.
Result<report::Answer> answer_to(const analysis::Question& question,
                                 const analysis::FuseOptions& options, const std::stop_token& stop,
                                 const ProgressCallback& progress) {
    const auto task = analysis::fuse_task(question, options);
    if (!task) {
        return task.diagnostics();
    }
    const auto groups = analysis::fuse_network(*task, stop, progress);
    if (!groups) {
        return groups.diagnostics();
    }
    const auto curve = analysis::fuse_curve(*task, stop, progress);
    if (!curve) {
        return curve.diagnostics();
    }
    report::Answer answer = report::fuse_answer(*groups);
    answer.picture = report::fuse_curve_answer(task->network.id, task->chip, *curve).picture;
    return answer;
}

} // namespace

FusionPane::FusionPane(const PaneActions& actions, QWidget* parent) : AnswerPane(actions, parent) {
    aim_ = choice(tr("Least"), "fusion aim", {{tr("traffic"), "traffic"}, {tr("time"), "latency"}});
    buffer_ = text_field(tr("Buffer"), "fusion buffer", {});
    buffer_->setPlaceholderText(tr("the machine's"));
    add_views({tr("Groups of layers"), tr("Least traffic over the size of the buffer"), "fusion",
               tr("Nothing to fuse.")});
}

Background::Job FusionPane::job(const PaneInput& input) {
    if (input.question() == nullptr) {
        say(tr("Choose a network and a machine."));
        return {};
    }
    analysis::FuseOptions options;
    options.aim =
        aim_->currentIndex() == 0 ? analysis::FuseAim::traffic : analysis::FuseAim::latency;
    if (const QString size = buffer_->text().trimmed(); !size.isEmpty()) {
        const auto given = parse<Bytes>(size.toStdString());
        if (!given) {
            say(given.diagnostics());
            return {};
        }
        options.buffer_bytes = given->value;
    }
    return asking([question = *input.question(), options](const std::stop_token& stop,
                                                          const ProgressCallback& progress) {
        return answer_to(question, options, stop, progress);
    });
}

} // namespace eyeroof::gui
