// Pictures and tables of what is on screen, by the ending of the file's name.
#pragma once

#include "base/result.hpp"
#include "report/draw/svg.hpp"
#include "report/draw/theme.hpp"

#include <QImage>
#include <QSize>
#include <QString>
#include <functional>

class QPainter;

namespace eyeroof::gui {

class DrawingView;
class RooflineView;

// What a view shows, at the time that it was asked: ready to be painted or written anywhere.
struct Picture {
    QString name; // for file names: "roofline"
    QSize size;   // pixels; empty: there is nothing to show
    report::Theme theme = report::Theme::light;
    double ratio = 1.0; // of the screen
    std::function<void(QPainter&, report::Theme)> paint;
    std::function<std::string(report::SvgTheme)> svg;
    std::function<std::string()> csv, json, tsv;
    std::function<std::string()> html = {}; // where there is such a writer
};

Picture picture_of(const RooflineView& view);
Picture picture_of(const DrawingView& view, const QString& name);

QImage image_of(const Picture& picture);

// .png, .pdf, .svg, .csv, .json, .tsv; .html of plots. Errors: "unknown-format", "cannot-write",
// "nothing" when the view is empty.
Result<Done> export_picture(const Picture& picture, const QString& file);

} // namespace eyeroof::gui
