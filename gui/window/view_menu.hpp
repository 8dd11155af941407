// What every view can do with what it shows: be copied as a picture or as figures, be exported.
#pragma once

#include "gui/jobs/export.hpp"

#include <QPoint>
#include <functional>

class QMenu;
class QWidget;

namespace eyeroof::gui {

using TakePicture = std::function<Picture()>;
using TellProblems = std::function<void(const Diagnostics&)>;

void copy_image(const Picture& picture);
void copy_figures(const Picture& picture);
// Asks for a file's name and writes it.
void export_with_dialog(QWidget& parent, const Picture& picture, const TellProblems& tell);

// Copy picture, copy figures, export: for the view's own menu.
void fill_view_menu(QMenu& menu, QWidget& parent, const TakePicture& take,
                    const TellProblems& tell);
// From now on a right click on the view opens a menu that is filled then; or that of its picture.
void give_menu(QWidget& view, const std::function<void(QMenu&)>& fill);
void give_menu(QWidget& view, const TakePicture& take, const TellProblems& tell);

} // namespace eyeroof::gui
