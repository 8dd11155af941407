// Pictures and tables of what is on screen, by the ending of the file's name.
// Called by the main window and by --screenshot.
// Knows no dialog.
#pragma once

#include "gui/views/roofline_view.hpp"
#include "model/base/result.hpp"

#include <QString>

namespace eyeroof::gui {

// .png, .pdf, .svg, .csv, .json, .html. Errors: "unknown-format", "cannot-write".
model::Result<model::Done> export_plot(const RooflineView& view, const QString& file);

} // namespace eyeroof::gui
