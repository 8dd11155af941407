// Examinations in the background: the newest request wins, an old one is asked to stop.
#pragma once

#include "analysis/exam/run.hpp"
#include "base/result.hpp"
#include "formats/trace_network.hpp"
#include "gui/jobs/background.hpp"

#include <filesystem>
#include <memory>
#include <vector>

namespace eyeroof::gui {

struct Answer {
    std::vector<analysis::Question> questions; // that could be answered: one for each machine
    std::vector<analysis::Report> reports;     // beside them; none without a network
    Diagnostics diagnostics;
    bool own_times = false; // the network is a trace that ran as is asked, on one of the machines
};

// The trace that the network is, with the folders of machines; or none.
struct OwnTrace {
    std::shared_ptr<const formats::TraceNetwork> trace;
    std::vector<std::filesystem::path> machines;
};

class Examiner : public Background {
    Q_OBJECT

  public:
    using Background::Background;

    void examine(std::vector<analysis::Question> questions, OwnTrace own = {}); // of one network

  signals:
    void answered(std::shared_ptr<eyeroof::gui::Answer> answer); // to be taken apart
};

} // namespace eyeroof::gui
