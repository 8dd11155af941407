// Examinations in the background: the newest request wins, an old one is told to stop.
// Used by the main window, which hears of results in its own thread.
// Knows no widget.
#pragma once

#include "gui/jobs/background.hpp"
#include "model/base/result.hpp"
#include "study/exam/run.hpp"

#include <memory>
#include <vector>

namespace eyeroof::gui {

struct Answer {
    std::vector<study::Question> questions; // that could be answered: one for each machine
    std::vector<study::Report> reports;     // beside them; none without a network
    model::Diagnostics diagnostics;
};

class Examiner : public Background {
    Q_OBJECT

  public:
    using Background::Background;

    void examine(std::vector<study::Question> questions); // of one network

  signals:
    void answered(std::shared_ptr<eyeroof::gui::Answer> answer); // to be taken apart
};

} // namespace eyeroof::gui
