// Drawings painted with QPainter, on screen and into pictures. Places nothing and computes nothing:
// what is where stands in the drawing.
#pragma once

#include "report/draw/drawing.hpp"

class QColor;
class QPainter;
class QWidget;

namespace eyeroof::gui {

// With its background.
void paint_scene(QPainter& painter, const report::Drawing& scene, report::Theme theme);

// Over what is painted already.
void paint_over(QPainter& painter, const report::ClippedLayer& layer, report::Theme theme);

// Dark when the window's background is darker than its text.
report::Theme theme_of(const QWidget& widget);
// A role's color in the widget's theme; ink: that can be read as text.
QColor colour_on(const QWidget& widget, report::ColourRole role);
QColor ink_on(const QWidget& widget, report::ColourRole role);
// A frame around the widget that has the keyboard.
void paint_focus(QPainter& painter, const QWidget& widget);

} // namespace eyeroof::gui
