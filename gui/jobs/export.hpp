// Pictures and tables of what is on screen, by the ending of the file's name.
// Called by the main window, by the views' menus and by --screenshot.
// Knows no dialog.
#pragma once

#include "model/base/result.hpp"
#include "study/draw/svg.hpp"
#include "study/draw/theme.hpp"

#include <QImage>
#include <QSize>
#include <QString>
#include <functional>

class QPainter;

namespace eyeroof::gui {

class DrawingView;
class LadderView;
class RooflineView;

// What a view shows, at the time that it was asked: ready to be painted or written anywhere.
struct Picture {
    QString name; // for file names: "roofline"
    QSize size;   // pixels; empty: there is nothing to show
    study::Theme theme = study::Theme::light;
    double ratio = 1.0; // of the screen
    std::function<void(QPainter&, study::Theme)> paint;
    std::function<std::string(study::SvgTheme)> svg;
    std::function<std::string()> csv, json, tsv;
    std::function<std::string()> html = {}; // where there is such a writer
};

Picture picture_of(const RooflineView& view);
Picture picture_of(const LadderView& view);
Picture picture_of(const DrawingView& view, const QString& name);

QImage image_of(const Picture& picture);

// .png, .pdf, .svg, .csv, .json, .tsv; .html of plots. Errors: "unknown-format", "cannot-write",
// "nothing" when the view is empty.
model::Result<model::Done> export_picture(const Picture& picture, const QString& file);
model::Result<model::Done> export_plot(const RooflineView& view, const QString& file);

} // namespace eyeroof::gui
