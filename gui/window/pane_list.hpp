// The panes that follow the pattern: one line each in pane_list.cpp.
#pragma once

#include "gui/panes/pane.hpp"

namespace eyeroof::gui {

using MakePane = Pane* (*)(const PaneActions&, QWidget*);

// In the order of their docks and tabs.
const std::vector<MakePane>& all_panes();

} // namespace eyeroof::gui
