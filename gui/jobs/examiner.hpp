// Examinations in the background: the newest request wins, an old one is told to stop.
// Used by the main window, which hears of results in its own thread.
// Knows no widget.
#pragma once

#include "gui/jobs/background.hpp"
#include "model/base/result.hpp"
#include "model/machine/machine.hpp"
#include "model/network.hpp"
#include "study/exam/report.hpp"
#include "study/exam/run.hpp"

#include <memory>
#include <vector>

namespace eyeroof::gui {

struct Request {
    model::Network network;
    std::vector<model::Machine> machines;
    std::vector<model::HostIssue> hosts; // beside the machines: what issues their kernels
    study::StudyOptions options;
};

struct Answer {
    std::vector<model::Machine> machines;
    std::vector<study::Report> reports; // one a machine
    model::Diagnostics diagnostics;
};

class Examiner : public Background {
    Q_OBJECT

  public:
    using Background::Background;

    void examine(Request request);

  signals:
    void answered(std::shared_ptr<eyeroof::gui::Answer> answer); // to be taken apart
};

} // namespace eyeroof::gui
