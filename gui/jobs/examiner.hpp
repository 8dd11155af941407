// Examinations in the background, with the plot of what they find: the newest request wins, an old
// one is asked to stop.
#pragma once

#include "analysis/search/mapping_edit.hpp"
#include "base/result.hpp"
#include "formats/trace_network.hpp"
#include "gui/jobs/background.hpp"
#include "report/draw/plot_make.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace eyeroof::gui {

struct Answer {
    std::vector<analysis::Question> questions; // that could be answered: one for each machine
    std::vector<analysis::Report> reports;     // beside them; none without a network
    Diagnostics diagnostics;
    bool own_times = false; // the network is a trace that ran as is asked, on one of the machines
    std::map<std::size_t, analysis::LayerReport> originals; // of edited rows of the first report
    Result<report::PlotInput> plot = report::PlotInput{};
};

// The trace that the network is, with the folders of machines; or none.
struct OwnTrace {
    std::shared_ptr<const formats::TraceNetwork> trace;
    std::vector<std::filesystem::path> machines;
};

struct Asked {
    std::vector<analysis::Question> questions; // one for each machine
    bool network = true;                       // there is one to run; else roofs and measurements
    std::string title;                         // of the plot
    std::vector<analysis::MappingEdit> edits;  // of the first machine
    OwnTrace own;
    // Of the open files; `own`: with the times of the trace that is the network.
    std::function<report::Measured(bool own)> measured;
};

Answer answer_to(Asked asked, const std::stop_token& stop, const ProgressCallback& progress);
std::vector<model::Machine> machines_of(const std::vector<analysis::Question>& questions);

class Examiner : public Background {
    Q_OBJECT

  public:
    using Background::Background;

    void examine(Asked asked);

  signals:
    void answered(std::shared_ptr<eyeroof::gui::Answer> answer); // to be taken apart
};

} // namespace eyeroof::gui
