// Examinations in the background: the newest request wins, an old one is asked to stop.
#pragma once

#include "analysis/exam/run.hpp"
#include "base/result.hpp"
#include "gui/jobs/background.hpp"

#include <memory>
#include <vector>

namespace eyeroof::gui {

struct Answer {
    std::vector<analysis::Question> questions; // that could be answered: one for each machine
    std::vector<analysis::Report> reports;     // beside them; none without a network
    Diagnostics diagnostics;
};

class Examiner : public Background {
    Q_OBJECT

  public:
    using Background::Background;

    void examine(std::vector<analysis::Question> questions); // of one network

  signals:
    void answered(std::shared_ptr<eyeroof::gui::Answer> answer); // to be taken apart
};

} // namespace eyeroof::gui
